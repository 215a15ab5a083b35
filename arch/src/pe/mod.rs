//! The PE: its nodes ([`lower`](mod@lower)) and when their values are on the wire ([`schedule`](mod@schedule)).

mod io;
mod lower;
mod options;
mod reduce;
mod schedule;

pub use lower::lower;
pub use options::Options;
pub use schedule::schedule;
