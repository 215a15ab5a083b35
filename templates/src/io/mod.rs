//! Buffers between the streams of the DMA engines and the PEs: feeders for inputs, collectors with relays and turns for results.
//! They are the L1 and L2 I/O modules of AutoSA.

pub mod buffer;
pub mod collector;
pub mod feeder;
pub mod relay;
pub mod turn;
pub mod words;
