//! The PE: its nodes ([`lower`](mod@lower)) and when their values are on the wire ([`schedule`](mod@schedule)).

mod distance;
mod ends;
mod io;
mod lanes;
mod lower;
mod options;
mod reduce;
pub mod retime;
mod schedule;
mod share;
pub mod spill;
mod waits;

pub use lower::lower;
pub use options::Options;
pub use schedule::schedule;
