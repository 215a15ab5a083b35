//! A hardware description language embedded in Rust: a typed netlist whose widths and sizes are
//! run-time values, with checks, a Verilog-2005 printer and a cycle simulator, all from the one
//! description.
//!
//! A `Template` writes a module with a `ModuleBuilder`; `Design::module` elaborates it once per
//! distinct content; `Design::verify` must succeed before printing or simulation.

pub mod bits;
mod builder;
mod check;
mod design;
mod fault;
mod handles;
pub mod ir;
pub mod names;
mod sig;
pub mod sim;
mod ty;
mod verilog;

pub use bits::Bits;
pub use builder::ModuleBuilder;
pub use design::{Design, Template};
pub use fault::{Fault, FaultKind};
pub use handles::{Instance, Memory, Reg, Wire};
pub use ir::{MemStyle, Module, ModuleName};
pub use sig::Sig;
pub use ty::{clog2, s, u, Ty};
