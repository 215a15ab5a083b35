//! AXI ports whose memory is on another die than their engine ([`Vsa::away`]).
//!
//! Problem: the engines of an array that is cut stand beside its first band ([`super::bands`]), memories on other dies, too.
//! A handshake between them would take both ways, to the memory and back, in one clock cycle.
//!
//! Method: such a port has a *station* on each die from its engine's to its memory's. All that leads from station to station goes
//! through [`CROSSING`] registers, one at the border of each die, with nothing between them. The last station has a FIFO
//! for each channel to the memory. The first one counts the places in it, and takes what the engine offers while one
//! is free (credits), so nothing is held on the way. Answers need no FIFO: engines take each in the cycle in which it comes.
//!
//! ```text
//!   station 0                    station 1                    station 2
//!   AR, AW, W ─► count ─►[tx]──►[rx]─────►[tx]──►[rx]─► FIFO ─► AR, AW, W
//!                  ▲─────[rx]◄──[tx]◄─────[rx]◄──[tx]◄──┘ taken
//!   R, B ◄───────────────[rx]◄──[tx]◄─────[rx]◄──[tx]◄───────── R, B
//! ```
//!
//! The places cover the round trip. So, where the memory is ready, each channel is late by the same number of
//! cycles, and the memory looks as if its latency were longer by [`latency`]: the models of engines need nothing else.
//!
//! Source: register slices for buses that cross dies (AutoBridge; UG949).

use super::bands::CROSSING;
use crate::vsa::Vsa;

/// Cycles through the FIFO of a channel.
const THROUGH_FIFO: i64 = 2;

/// More dies than any package has.
pub const MOST_DIES: i64 = 16;

impl Vsa {
    /// Borders of dies between a port's engine and its memory.
    pub fn borders(&self, port: usize) -> i64 {
        self.away.get(port).map_or(0, |dies| dies.abs())
    }
}

/// Cycles by which an answer comes later across so many borders.
pub fn latency(borders: i64) -> i64 {
    if borders == 0 {
        0
    } else {
        2 * CROSSING * borders + THROUGH_FIFO
    }
}

/// Places of the FIFO of a channel: a power of two. A place is free again one cycle after the round trip.
pub fn places(borders: i64) -> i64 {
    (latency(borders) as u64 + 1).next_power_of_two() as i64
}
