//! Timing and size of the hardware, computed from the VSA that is emitted.

pub mod board;
pub mod bank;
mod engines;
mod control;
mod multiplexers;
pub mod needed;
mod network;
mod pes;
pub mod resources;
pub mod ip;
pub mod steady;
mod buffer;
pub mod address;
pub mod reader;
pub mod writer;
pub mod predict;
pub mod bound;

pub use predict::{predict, predict_at, predict_below, Prediction};
