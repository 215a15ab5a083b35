//! Parametric hardware on `rtl`: from a virtual systolic array to an AXI IP.
//!
//! [`ip`] is the only entry: it joins the [`array`] (PEs, feeders, collectors, relays), the [`sequencer`] and the engines of
//! [`axi`] to one top module named like the array.

pub mod array;
pub mod axi;
pub mod collector;
pub mod feeder;
pub mod fp;
pub mod interface;
mod ip;
pub mod operators;
pub mod pe;
pub mod plan;
pub mod relay;
mod retime;
pub mod sequencer;

pub use interface::Interface;
pub use ip::ip;
