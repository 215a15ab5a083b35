//! The typed netlist, data only: elaboration writes it; checks, simulator and printer read it.

pub mod bits;
mod fault;
mod module;
mod modules;
pub mod names;
mod ty;

pub use bits::Bits;
pub use fault::{Fault, FaultKind};
pub use module::*;
pub use modules::Netlist;
pub use ty::{clog2, s, u, Ty};
