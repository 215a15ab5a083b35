//! Lower bounds on the cycles of designs that are not assembled.
//!
//! Problem: the search compares millions of designs. The exact prediction ([`crate::predict()`]) needs an assembled
//! design and walks its transfers row by row. A bound that is cheap and never too high lets the search drop most
//! designs.
//!
//! Terms: a *tile* is one point of the tile loops; its *waves* are the points of the time loops. A tile *loads* boxes
//! of arrays before its first wave and *drains* results after its last wave. A *port* moves one bus word (a *beat*) per
//! cycle, or fewer if its memory carries less. A *sketch* is a design with its I/O groups but without nodes. `cross` is the number of cycles in which the
//! last wave crosses the array.
//!
//! Method, two bounds:
//! 1. [`Tiles::cycles`] in closed form, from trip counts alone: the maximum over critical paths (all waves behind the
//!    first loads; all loads of a port, then one tile; one tile, then all drains of a port).
//! 2. [`crate::coarse::walk`] of a sketch, tile by tile: each transfer takes its whole port time, each tile waits for its loads and
//!    for free result buffers. No rows, no memory latency within a transfer.
//!
//! Example: 8 tiles of 100 waves each; a tile loads 40 beats on one port and drains 20 beats; the wave crosses in 7.
//!
//! ```text
//! waves behind the first load    20 + 40 + 8 · 100 + 7 + 20 + 16 = 903
//! loads, then the last tile      20 + 8 · 40 + 100 + 7 + 20 + 16 = 483       bound: 903 cycles
//! first tile, then drains        20 + 40 + 100 + 8 · 20 + 7 + 16 = 343
//! ```
//!
//! Invariant: the exact prediction is a maximum of sums that only grow with each wait. The bounds leave waits out, so
//! they are never higher. Tests compare them with the exact prediction (`arch/search/tests/suite/explore.rs`).

use crate::memory::Most;
use array::contract::dram::MemoryTiming;
use array::contract::timing;

/// From the start to the first beat of a load, beside the memory's latency.
pub const BEFORE: i64 = 4;
/// Writer: from a wave's value in the PE to a word on the bus, and from the memory's response to the `written` pulse.
pub(crate) const ANSWERED: i64 = 5;
/// Reader that waits for that pulse: from the pulse to an address, and from the first beat to the `loaded` pulse.
pub(crate) const FETCHED: i64 = 5;
/// Ports that a bound looks at. Transfers of further ports are not counted.
pub const PORTS: usize = 16;

/// Transfer of an array in one tile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub port: usize,
    pub beats: i64,
    /// Bytes that the memory moves, on average over the tiles, at least: those at the end of a loop move less.
    pub bytes: i64,
    /// Loops that move the array's box, as bits.
    pub mask: u32,
    /// Stores: loops of a sum whose partial results may be stored to DRAM and loaded again, as bits.
    pub sum: u32,
    /// Beats that load them again.
    pub back: i64,
    /// Stores: loops in which the box leaves before the last iteration, as bits. If one is tiled, it leaves before the
    /// last tile.
    pub early: u32,
}

/// A run in tiles, without the order of its loops.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<'a> {
    /// Per loop.
    pub trips: &'a [i64],
    /// Loops with more than one tile, as bits.
    pub tiled: u32,
    /// Waves per tile.
    pub waves: i64,
    /// Cycles in which the last wave reaches the last PE that stores, at least.
    pub cross: i64,
    /// Partial results that wait for more waves than this are stored to DRAM. `None`: they never are, because sizes at
    /// run time say how long they wait. Then any tile may be the last one of its sums, and collectors have two buffers.
    pub spill: Option<i64>,
    /// Loops over several PEs, as bits.
    pub spread: u32,
    /// From the start to the first beat of a load, and from the last beat of a drain to the end, at least. A load that
    /// begins, or a drain that ends, with words beyond the array passes these during the memory's latency.
    pub before: i64,
    pub behind: i64,
    /// What the ports can carry.
    pub most: &'a Most,
}

/// The transfers of a tile.
#[derive(Clone, Copy, Debug)]
pub struct Moved<'a> {
    loads: &'a [Transfer],
    stores: &'a [Transfer],
    /// Beats of the port that takes longest to load, and of the one that takes longest to store.
    first: i64,
    last: i64,
}

impl Moved<'_> {
    /// Beats of the port that takes longest to store the results of a tile.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// `tiled`: see [`Tiles::tiled`].
    pub fn new<'a>(loads: &'a [Transfer], stores: &'a [Transfer], tiled: u32) -> Moved<'a> {
        let at_the_end = |t: &&Transfer| t.early & tiled == 0;
        Moved { loads, stores, first: busiest(loads.iter()), last: busiest(stores.iter().filter(at_the_end)) }
    }
}

/// What transfers depend on in the order of the tile loops.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// Cycles between two waves, at least.
    pub interval: i64,
    /// Per load: loops around it, as bits.
    pub loads: &'a [u32],
    /// Per store.
    pub sums: &'a [Sums],
}

/// The positions of the tile loops of a store's sums, as bits; 0 if no sum is tiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Loops from the outermost sum's inwards.
    pub inside: u32,
    /// The outermost sum's.
    pub head: u32,
    /// Sum loops outside of loops that move the cells, if partial results may be stored to DRAM over them.
    pub outer: u32,
}

/// Waves and nothing else: the first phases may load nothing, the last ones may store nothing.
pub fn waves_alone(waves: i64) -> i64 {
    timing::START_TO_LAUNCH + waves
}

/// From the launch of a phase's last wave to the first launch of a phase that loads what it stores, at least.
/// `cross`: cycles in which the wave crosses the array; the store begins behind them. `computed`: cycles in which the
/// value is computed besides; its word is the last of the store, at the latest. `stored`: beats of the store, of which
/// one is transferred. `loaded`: beats of the load, and the memory's latency if the first one is transferred.
pub fn handed_over(memory: &MemoryTiming, cross: i64, computed: i64, stored: i64, loaded: i64) -> i64 {
    let passed = stored.max(1 + memory.write_latency).max(1 + computed);
    cross + passed + ANSWERED + loaded + FETCHED + timing::LOADED_TO_LAUNCH
}

impl Tiles<'_> {
    fn over(&self, mut mask: u32) -> i64 {
        let mut all = 1;
        while mask != 0 {
            all *= self.trips[mask.trailing_zeros() as usize];
            mask &= mask - 1;
        }
        all
    }

    /// Waves behind the first loads, in any order of the loops.
    pub fn compute(&self, moved: &Moved) -> i64 {
        self.before + moved.first + self.waves * self.over(self.tiled) + self.cross + moved.last + self.behind
    }

    /// Lower bound for an order of the loops: the longest of three paths, as in the header.
    pub fn cycles(&self, moved: &Moved, around: &Around) -> i64 {
        let tiles = self.over(self.tiled);
        let first = self.before + moved.first;
        let behind = self.cross + moved.last + self.behind;
        let mut path = first + (self.waves * tiles - 1) * around.interval + 1 + behind;
        // Partial results that are stored in every tile are loaded in every tile.
        let drains = |t: &Transfer, sums: &Sums| {
            let waits = self.waves * self.over(sums.inside & !sums.head);
            let leaves = sums.outer != 0 && t.sum & self.spread == 0 && self.spill.is_some_and(|most| waits > most);
            (leaves, self.over(t.mask & self.tiled) * if leaves { self.over(sums.outer) } else { 1 })
        };
        let (mut beats, mut most, mut loaded, mut stored) = ([0; PORTS], 0, [0; PORTS], [0; PORTS]);
        let mut take = |port: usize, n: i64| {
            beats[port] += n;
            most = most.max(beats[port]);
        };
        for (t, sums) in moved.stores.iter().zip(around.sums).filter(|(t, _)| t.port < PORTS) {
            if let (true, drains) = drains(t, sums) {
                take(t.port, t.back * drains);
                loaded[t.port] += if t.back > 0 { t.bytes * drains } else { 0 };
            }
        }
        for (t, reload) in moved.loads.iter().zip(around.loads).filter(|(t, _)| t.port < PORTS) {
            let loads = self.over(*reload);
            take(t.port, t.beats * loads);
            loaded[t.port] += t.bytes * loads;
        }
        path = path.max(self.before + most + self.waves + behind);
        beats = [0; PORTS];
        for (t, sums) in moved.stores.iter().zip(around.sums).filter(|(t, _)| t.port < PORTS) {
            let (leaves, drains) = drains(t, sums);
            beats[t.port] += t.beats * drains;
            stored[t.port] += t.bytes * drains;
            if sums.inside == 0 || leaves || t.early & self.tiled != 0 {
                path = path.max(first + self.waves + beats[t.port] + self.cross + self.behind);
                continue;
            }
            // Tiles that store follow one another at the end of every sum's outermost loop.
            let (inside, cells, below) =
                (self.over(sums.inside), self.over(sums.inside & t.mask), self.over(sums.inside & !sums.head));
            let (outer, before) = (tiles / inside, inside - below);
            if self.spill.is_some_and(|most| self.waves * below <= most) {
                // One buffer per collector: a tile that stores waits for the drain of the tile before.
                let waits = (cells - 1) * (self.waves + t.beats) + self.waves;
                path = path.max(
                    first
                        + before * self.waves
                        + outer * waits
                        + (outer - 1) * t.beats.max(before * self.waves)
                        + t.beats
                        + self.cross
                        + self.behind,
                );
            } else if cells > 1 {
                // Two buffers: it waits for the drain of the tile before that.
                let stores = (below * self.waves).max(2 * self.waves + (cells - 2) * t.beats);
                path = path.max(first + outer * (before * self.waves + stores) + t.beats + self.cross + self.behind);
            }
        }
        // Shares of a memory follow from whole runs, so nothing comes on top.
        path.max(self.most.cycles(&loaded, &stored))
    }
}

/// Beats of the port that takes longest.
fn busiest<'t>(all: impl Iterator<Item = &'t Transfer>) -> i64 {
    let (mut beats, mut most) = ([0; PORTS], 0);
    for t in all.filter(|t| t.port < PORTS) {
        beats[t.port] += t.beats;
        most = most.max(beats[t.port]);
    }
    most
}
