//! The typed netlist: data only. What a design elaborates to, and what checks, simulator and printer read.

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
