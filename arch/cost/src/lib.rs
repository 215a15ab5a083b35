//! Cycles and resources of the hardware, computed from the virtual systolic array that is emitted.
//!
//! Cycles: [`predict()`] is exact for the board's memory ([`memory`]) and the ideal one; [`bound`] is cheap and never too high. Resources:
//! [`resources::parts`], part by part. Boards and what fits them: [`board`], [`bank`].

pub mod bank;
pub mod board;
mod engines;
mod stations;
mod fabric;
mod control;
mod multiplexers;
pub mod needed;
mod network;
mod pes;
pub mod steady;
pub mod repeat;
mod places;
mod buffer;
pub mod address;
pub mod reader;
pub mod writer;
pub mod predict;
pub mod overlap;
pub mod memory;
mod converters;
pub mod resources;
pub mod bands;
pub mod ip;
pub mod bound;
pub mod coarse;

pub use predict::{predict, predict_at, predict_below, predict_tile_by_tile, Allowed, End, Prediction, Predictor};
