//! A hardware description language embedded in Rust: a typed netlist whose widths and sizes are
//! run-time values, with checks, a Verilog-2005 printer and a cycle simulator, all from the one
//! description.
//!
//! ```text
//! Template ─► build::Design ─► netlist::Netlist ─► check::Verified ─┬─► sim
//!             (elaboration)    (data only)         (no faults)      └─► verilog
//! ```
//! A `Template` writes a module with a `ModuleBuilder`; `Design::module` elaborates equal templates
//! once; `Design::verify` turns the result into the only thing that is printed or simulated.
//! `hierarchy` is what `check` and `sim` share: the modules below a top, with identical instances
//! side by side. Each folder imports only from those named before it.

pub mod netlist;
mod build;
mod hierarchy;
mod check;
pub mod sim;
pub mod verilog;

pub use build::{Design, Instance, Memory, ModuleBuilder, Reg, Sig, Template, Wire};
pub use check::Verified;
pub use netlist::bits::{self, Bits};
pub use netlist::names;
pub use netlist::{clog2, s, u, Fault, FaultKind, MemStyle, Module, ModuleName, Netlist, Ty};
