//! The timing of the memory behind an AXI port.
//!
//! One deterministic model, which the prediction computes (`cost::reader`, `cost::writer`) and every simulation engine
//! follows (`templates::axi::memory`, `axi_memory.v`): a latency, and for each way of the port a *pace*.
//!
//! Terms: a *way* is one direction of a port, reads or writes. The memory serves the bursts of a way one after the
//! other; a burst *occupies* the memory for [`Pace::burst`] cycles.
//!
//! - Reads: a burst is served once its address is as old as the latency and the burst before is served. Its beats
//!   come back to back, the last one in the last cycle that the burst occupies the memory.
//! - Writes: beats are accepted in every cycle (a write buffer holds them). A burst is in memory once it was served; its
//!   response follows after the latency.
//!
//! Example: words of 16 bytes, 13 bytes a cycle. A read of 8 beats occupies ⌈8 · 16 / 13⌉ = 10 cycles:
//!
//! ```text
//! cycle    0   1 … L   L+1 L+2 L+3 …  L+9  L+10
//! address  *
//! beats                    0   1  …   7    (next burst is served)
//! ```

use super::away;
use crate::vsa::Vsa;

/// How fast a memory serves the bursts of one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Cycles for a beat, in parts of [`Pace::ONE`]; at least one cycle.
    pub beat: i64,
    /// Cycles for the shortest burst.
    pub least: i64,
}

impl Pace {
    pub const ONE: i64 = 1 << 16;
    /// A beat in every cycle.
    pub const FULL: Pace = Pace { beat: Pace::ONE, least: 1 };

    /// Cycles for which a burst of so many beats occupies the memory.
    pub fn burst(self, beats: i64) -> i64 {
        ((beats * self.beat + Pace::ONE - 1) / Pace::ONE).max(self.least)
    }
}

/// What a memory costs, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryTiming {
    /// From the address handshake to the earliest cycle in which the burst is served.
    pub read_latency: i64,
    /// From the cycle in which a burst is in memory to its response.
    pub write_latency: i64,
    pub read: Pace,
    pub write: Pace,
}

impl MemoryTiming {
    /// Always ready, 16 cycles of latency, one beat per cycle.
    pub const IDEAL: MemoryTiming = MemoryTiming::both(16);
    /// Timing of a memory in the IP: `templates::axi::on_chip`.
    pub const ON_CHIP: MemoryTiming = MemoryTiming { read_latency: 4, write_latency: 2, ..MemoryTiming::both(0) };

    /// One beat per cycle; reads and writes are answered after as many cycles.
    pub const fn both(latency: i64) -> MemoryTiming {
        MemoryTiming { read_latency: latency, write_latency: latency, read: Pace::FULL, write: Pace::FULL }
    }
}

/// The memories behind the AXI ports of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memories(Vec<MemoryTiming>);

impl Memories {
    /// The same behind every port.
    pub fn all(timing: MemoryTiming) -> Memories {
        Memories(vec![timing])
    }
    /// [`MemoryTiming::IDEAL`] behind every port.
    pub fn ideal() -> Memories {
        Memories::all(MemoryTiming::IDEAL)
    }
    /// One for each AXI port.
    pub fn of_ports(timings: Vec<MemoryTiming>) -> Memories {
        Memories(timings)
    }
    /// The memory behind an AXI port.
    pub fn of(&self, port: usize) -> MemoryTiming {
        self.0.get(port).or(self.0.last()).copied().unwrap_or(MemoryTiming::IDEAL)
    }
    /// What the engines of a port see: the memory, on chip or not, across the borders of dies.
    pub fn behind(&self, vsa: &Vsa, port: usize) -> MemoryTiming {
        if vsa.on_chip(port).is_some() {
            return MemoryTiming::ON_CHIP;
        }
        let (memory, later) = (self.of(port), away::latency(vsa.borders(port)));
        MemoryTiming {
            read_latency: memory.read_latency + later,
            write_latency: memory.write_latency + later,
            ..memory
        }
    }
}
