//! Timing and size of the hardware, computed from the VSA that is emitted.

pub mod address;
pub mod bank;
pub mod blocks;
pub mod board;
pub mod bound;
mod buffer;
mod control;
mod engines;
mod floats;
pub mod ip;
mod multiplexers;
pub mod needed;
mod network;
mod pes;
pub mod predict;
pub mod reader;
pub mod resources;
pub mod steady;
pub mod writer;

pub use predict::{predict, predict_at, predict_below, Prediction};
