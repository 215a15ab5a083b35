//! Parametric hardware templates on `rtl`: from a virtual systolic array to an AXI IP.
//!
//! ```text
//! Top (ip)  control registers (axi::control), reset
//! └─ Core (core)
//!    ├─ sequencer (control)         launches waves
//!    ├─ array (array)               PEs (pe, operators), feeders, collectors, relays (io)
//!    └─ readers, writers (axi)      DMA engines, one of each per AXI port
//! ```
//! [`ip()`] is the only entry. A template is a struct of parameters that implements `rtl::Template`. It contains what
//! the hardware depends on and nothing else, so equal hardware has equal parameters and becomes one module. Its
//! interface is a struct of [`port::Port`]s.

mod naming;

pub mod array;
pub mod axi;
mod border;
mod cases;
pub mod control;
mod core;
mod cores;
mod faults;
mod floorplan;
pub mod interface;
pub mod io;
mod ip;
pub mod operators;
pub mod pe;
mod phases;
pub mod port;
pub mod stream;

pub use floorplan::{floorplan, Cells, Floorplan};
pub use interface::Interface;
pub use ip::ip;
pub use naming::stem;
pub use operators::fp;
