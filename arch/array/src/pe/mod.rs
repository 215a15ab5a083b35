//! The PE: its nodes ([`lower`](mod@lower)) and when their values are on the wire ([`schedule`](mod@schedule)).

mod cheaper;
mod conditions;
mod ends;
mod io;
mod joints;
mod lanes;
mod lower;
mod nodes;
mod options;
mod pack;
mod pasts;
mod reduce;
pub mod retime;
mod schedule;
mod select;
mod share;
mod sharing;
pub mod spill;
mod sums;
mod waits;
mod zeroing;

pub use cheaper::cheaper;
pub use lower::lower;
pub use options::Options;
pub use pack::{largest, pack, Packs, LEAST_TERMS};
pub use schedule::{longest_chain, schedule, with_latencies, Across};
pub use sharing::{share, May};
