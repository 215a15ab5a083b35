//! What hardware and models share, so that they cannot drift apart: cycles ([`timing`]), how values of earlier waves
//! are kept ([`delay`], [`memory`]), what operators are joined to ([`operand`]), what the DMA engines walk ([`walk`]),
//! which elements feeders store ([`pick`]), how results are gathered ([`relay`]), whether visits store apart from one
//! another ([`visits`]).

pub mod delay;
pub mod memory;
pub mod operand;
pub mod pick;
pub mod program;
mod reach;
pub mod relay;
pub mod steps;
mod table;
pub mod timing;
pub mod visits;
pub mod walk;
