//! What hardware and models share, so that they cannot drift apart: cycles ([`timing`]), delay elements ([`delay`]) memories
//! on chip ([`memory`]) and behind AXI ports ([`dram`]), operands of operators ([`operand`]), walks of the DMA engines ([`walk`]), the elements that
//! feeders store ([`pick`]) and what their banks share ([`feed`]), what the buffers of several groups are ([`common`]), how results are gathered ([`relay`], [`turn`]), whether
//! tiles store disjoint cells ([`tiles`]), sums of products that are side by side in one number ([`packed`]), the parts of an
//! array that lie on dies of their own ([`bands`]), ports whose memory is on another die ([`away`]), and when a run
//! begins while others are under way ([`overlap`]).

pub mod away;
pub mod bands;
pub mod common;
pub mod delay;
pub mod dram;
mod elements;
pub mod feed;
pub mod handover;
pub mod memory;
pub mod operand;
pub mod overlap;
pub mod packed;
pub mod pick;
pub mod program;
mod reach;
pub mod relay;
pub mod steps;
mod table;
pub mod tiles;
pub mod timing;
pub mod turn;
pub mod walk;
