//! A hardware description language in Rust: a typed netlist, its checks, a Verilog-2005 printer and a cycle simulator.
//! Widths and sizes are run-time values.
//!
//! ```text
//! Template ─► build::Design ─► netlist::Netlist ─► check::Verified ─┬─► sim
//!             (elaboration)    (data only)         (no faults)      ├─► verilog
//!                                                                   └─► timing
//! ```
//! A `Template` writes a module with a `ModuleBuilder`. `Design::module` elaborates equal templates once.
//! `Design::verify` returns a `Verified`, the only thing that is printed, simulated, or timed. `check` and `sim` share
//! `hierarchy`, which flattens the modules below a top. Each folder imports only from folders to its left, and
//! `hierarchy` only from `netlist`.

pub mod netlist;
mod build;
mod hierarchy;
mod check;
pub mod timing;
pub mod sim;
pub mod verilog;

pub use build::{Design, Instance, Memory, ModuleBuilder, Reg, Sig, Template, Wire};
pub use check::Verified;
pub use netlist::bits::{self, Bits};
pub use netlist::names;
pub use netlist::{clog2, s, u, Fault, FaultKind, MemStyle, Module, ModuleName, Netlist, Ty};
