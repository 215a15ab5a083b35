//! The I/O network: ports ([`port`], [`bus`]), layouts of input groups ([`footprint`]) and output groups ([`collect`]),
//! the arrays' dimensions as it sees them ([`reshape`]), order through DRAM ([`hazard`]).

pub mod bus;
pub mod collect;
pub mod hazard;
pub mod footprint;
pub mod port;
pub mod reshape;
