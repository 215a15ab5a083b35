//! Parametric hardware on `rtl`: from a virtual systolic array to an AXI IP.
//!
//! [`ip`] is the only entry: a core joins the [`array`] (PEs, feeders, collectors, relays), the sequencer and the
//! engines of [`axi`]; the top module around it, named like the array, has the registers, the reset and the ports.
//!
//! A template's fields are what it needs and nothing else, so equal hardware has equal parameters and is one module.
//! Its interface is a struct of [`port::Port`]s.

mod naming;

pub mod array;
pub mod axi;
mod cases;
pub mod control;
mod core;
mod cores;
mod faults;
pub mod interface;
pub mod io;
mod ip;
pub mod operators;
pub mod pe;
pub mod port;
pub mod stream;

pub use interface::Interface;
pub use ip::ip;
pub use naming::stem;
pub use operators::fp;
