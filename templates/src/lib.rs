//! Parametric hardware on `rtl`: from a virtual systolic array to an AXI IP.
//!
//! [`ip`] is the only entry: it joins the [`array`] (PEs, feeders, collectors, relays), the [`sequencer`] and the engines of
//! [`axi`] to one top module named like the array.

mod naming;

pub mod array;
pub mod axi;
pub mod control;
pub mod interface;
pub mod io;
mod ip;
pub mod operators;
pub mod pe;
pub mod stream;

pub use interface::Interface;
pub use ip::ip;
pub use naming::{pass_port, stem};
pub use operators::fp;
