//! The DMA engines between the array and DRAM, and the control registers.
//!
//! An AXI4 port has at most one [`reader`] (DRAM to feeders) and one [`writer`] (collectors to DRAM), which all arrays
//! behind the port share. Both execute a table, [`array::contract::walk::Walk`]: the loads or drains (*services*) of
//! the port in a fixed order, so no arbiter is needed. The timing models in `cost` walk the same table; under the ideal
//! memory their prediction is exact.
//!
//! | file | hardware |
//! | --- | --- |
//! | `services`, `address` | address generation: services, rows, bursts |
//! | `reader`, `writer` | the engines: address generation, data path, credits |
//! | `rotate`, `steps` | alignment of data: barrel shifter, rows with a stride |
//! | `bursts` | count of open bursts, error reports, behaviour at reset |
//! | `elastic` | register slice, skid buffer, FIFOs |
//! | `control`, `command`, `register`, `status` | AXI4-Lite register file, command queue |
//! | `program` | registers with numbers that the host computes from the sizes |
//! | `station` | registers on the way to a memory on another die |
//! | `on_chip` | memory with AXI4 ports for an array that stays in the IP |
//! | `bundle` | names of the AXI signals |
//! | `memory` | no hardware: model of DRAM for simulation |

mod address;
pub mod bundle;
mod bursts;
mod clients;
mod command;
pub mod control;
pub(crate) mod elastic;
pub mod memory;
pub mod on_chip;
pub(crate) mod program;
pub mod reader;
mod register;
mod rotate;
mod services;
pub mod station;
pub mod status;
mod steps;
pub mod writer;

use array::contract::walk::Walk;
pub use bursts::{Guard, Report};
pub use services::EnginePorts;

/// The arrays behind an engine, for the header of its module: `A, B (4 byte elements, 16 per word)`.
fn arrays(walk: &Walk) -> String {
    let names: Vec<_> = walk.arrays.iter().map(|a| a.1.as_str()).collect();
    format!("{} ({} byte elements, {} per word)", names.join(", "), walk.bytes, walk.word)
}
