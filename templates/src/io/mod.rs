//! Between the engines' streams and the PEs: buffers of inputs (feeders) and of results (collectors with their relays).

pub mod buffer;
pub mod collector;
pub mod feeder;
pub mod relay;
pub mod words;
