//! Between the array and DRAM: a [`reader`] and a [`writer`] per AXI port, for the arrays behind it that are read and
//! written; the [`control`] registers, and a [`memory`] model for simulation.
//!
//! Both engines walk the services of [`array::contract::walk::Walk`], which the timing models in `cost` walk as
//! well; under the ideal memory the prediction is exact.

mod address;
pub mod bundle;
mod bursts;
mod command;
pub mod control;
mod elastic;
pub mod memory;
pub mod on_chip;
pub(crate) mod program;
pub mod reader;
mod register;
mod rotate;
mod services;
pub mod status;
mod steps;
pub mod writer;

use array::contract::walk::Walk;
pub use bursts::{Guard, Report};
pub use services::EnginePorts;

/// The arrays an engine serves, for its header: `A, B`.
fn served(walk: &Walk) -> String {
    walk.arrays.iter().map(|a| a.1.as_str()).collect::<Vec<_>>().join(", ")
}
