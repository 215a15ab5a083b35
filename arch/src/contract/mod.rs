//! What hardware and models share, so that they cannot drift apart: cycles ([`timing`]), what the DMA engines walk
//! ([`walk`]), how results are gathered ([`relay`]).

pub mod relay;
pub mod timing;
pub mod walk;
