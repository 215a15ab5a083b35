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
//! 2. [`walk`] of a sketch, tile by tile: each transfer takes its whole port time, each tile waits for its loads and
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
use array::contract::walk::{Walk, WalkGroup};
use array::vsa::Vsa;
use uniform::affine::{gcd, step};

/// From the start to the first beat of a load, beside the memory's latency.
pub const BEFORE: i64 = 4;
/// Writer: from a wave's value in the PE to a word on the bus, and from the memory's response to the `written` pulse.
const ANSWERED: i64 = 5;
/// Reader that waits for that pulse: from the pulse to an address, and from the first beat to the `loaded` pulse.
const FETCHED: i64 = 5;
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
    /// From the start to the first beat of a load, and from the last beat of a drain to the end: the memory's latency.
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
    pub fn new<'a>(loads: &'a [Transfer], stores: &'a [Transfer]) -> Moved<'a> {
        Moved { loads, stores, first: busiest(loads), last: busiest(stores) }
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

/// From the launch of a phase's last wave to the first launch of a phase that loads what it stores, at least. `stored`:
/// cycles in which the value is computed, crosses the array and passes the port. `loaded`: beats of the load.
pub fn handed_over(memory: &MemoryTiming, stored: i64, loaded: i64) -> i64 {
    stored + memory.write_latency + ANSWERED + memory.read_latency + loaded + FETCHED + timing::LOADED_TO_LAUNCH
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
            if sums.inside == 0 || leaves {
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
        path.max(self.before.min(self.behind) + self.most.cycles(&loaded, &stored))
    }
}

/// Beats of the port that takes longest.
fn busiest(all: &[Transfer]) -> i64 {
    let (mut beats, mut most) = ([0; PORTS], 0);
    for t in all.iter().filter(|t| t.port < PORTS) {
        beats[t.port] += t.beats;
        most = most.max(beats[t.port]);
    }
    most
}

/// An I/O group in the walk of a sketch.
struct Service {
    port: usize,
    words: i64,
    /// Cycles in which the port moves them.
    beats: i64,
    /// Result buffers per collector; 0 for loads.
    slots: usize,
}

/// Beats of a service on a port of `word` bytes, at least: the words of each row, and one more for each row that begins
/// so late within a word that it ends in one more word. Rows begin at multiples of `between` within a word, in turn, so
/// the share of rows that begin early enough is known.
fn least_beats(group: &WalkGroup, bytes: i64, word: i64) -> i64 {
    let (lengths, rows, form) = (group.lengths(), group.total_rows(), &group.address);
    let words = (group.elements * bytes + word - 1) / word;
    let slack = words * word - group.elements * bytes;
    let grain = form.start.coeffs.iter().chain(&form.rows).fold(word, |g, c| gcd(g, *c));
    if form.start.constant.rem_euclid(grain) > slack {
        return rows * (words + 1);
    }
    let early = |(n, step): (&i64, &i64)| {
        let between = gcd(word, *step);
        let period = word / between;
        rows / n * (((n + period - 1) / period) * (slack / between + 1)).min(*n)
    };
    rows * (words + 1) - lengths.iter().zip(&form.rows).map(early).min().unwrap_or(rows)
}

/// Lower bound on the cycles of a sketch (`search::sketch`) whose ports walk like `walks`, over memories as near as those
/// of `most`. A load takes its port for
/// all its beats; a drain does so once the last wave has crossed the array (`cross`); a tile waits for its loads and
/// for free result buffers. Stops at `limit`.
pub fn walk(vsa: &Vsa, walks: &[[Option<Walk>; 2]], most: &Most, cross: i64, limit: i64) -> i64 {
    let mut beats = [vec![0; vsa.inputs.len()], vec![0; vsa.outputs.len()]];
    for walks in walks {
        for (beats, walk) in beats.iter_mut().zip(walks) {
            walk.iter().for_each(|walk| {
                walk.groups
                    .iter()
                    .for_each(|g| beats[g.group] = least_beats(g, walk.bytes.into(), walk.bus_bytes().into()))
            });
        }
    }
    let service = |array: u32, words: i64, beats: i64| {
        let port = vsa.port_of(array);
        Service { port, words, beats, slots: 0 }
    };
    let loads: Vec<Service> =
        vsa.inputs.iter().zip(&beats[0]).map(|(g, b)| service(g.array, g.footprint.total_words(), *b)).collect();
    let drains: Vec<Service> = vsa
        .outputs
        .iter()
        .zip(&beats[1])
        .map(|(g, b)| Service { slots: g.slots as usize, ..service(g.array, g.footprint.total_words(), *b) })
        .collect();
    let latency: Vec<MemoryTiming> = most.ports.iter().map(|p| p.timing).collect();

    // Readers request ahead: only the first load waits for the memory. Writers request one word a cycle from the
    // collectors, ahead of what they send.
    let mut reading: Vec<i64> = latency.iter().map(|m| m.read_latency).collect();
    let (mut asking, mut writing) = (vec![0i64; vsa.ports()], vec![0i64; vsa.ports()]);
    // Per group: releases of the last two loads; ends of the last two drains.
    let mut released = vec![[0i64; 2]; loads.len()];
    let mut count = vec![0usize; loads.len()];
    let mut drained = vec![[0i64; 2]; drains.len()];
    // When the last drain so far is in memory, and when the last drain of an earlier phase is.
    let (mut written, mut passed) = (vec![0i64; drains.len()], vec![0i64; drains.len()]);
    let (depth, interval) = (vsa.tile_depth, vsa.schedule.interval);
    let (mut tile, mut left) = (vec![0i64; depth], vsa.waves() - vsa.waves_behind());
    let (mut trips, mut case) = (vsa.trips_at(&tile), vsa.case_at(&tile));
    let (mut free, mut done) = (timing::START_TO_LAUNCH, 0);
    loop {
        if free + left * interval >= limit {
            return free + left * interval;
        }
        let waves = vsa.waves_of(&trips);
        left = (left - waves).max(0);
        let mut first = free;
        for (k, g) in loads.iter().enumerate().filter(|(k, _)| vsa.inputs[*k].loads(&tile, case)) {
            let earliest = if count[k] >= 2 { released[k][1] } else { 0 };
            let handed_over = vsa.inputs[k].after.iter().map(|after| passed[after.output as usize]).max().unwrap_or(0);
            let asked = if handed_over > 0 { handed_over + latency[g.port].read_latency + FETCHED } else { 0 };
            reading[g.port] = reading[g.port].max(earliest).max(asked) + g.beats;
            count[k] += 1;
            first = first.max(reading[g.port] + timing::LOADED_TO_LAUNCH);
        }
        let emits = |k: usize| vsa.outputs[k].emit.holds(&tile, case);
        for (k, g) in drains.iter().enumerate().filter(|(k, _)| emits(*k)) {
            first = first.max(drained[k][g.slots.clamp(1, 2) - 1]);
        }
        let last = first + (waves - 1) * interval;
        free = last + interval;
        for (k, g) in drains.iter().enumerate().filter(|(k, _)| emits(*k)) {
            // The last wave travels to the last PE, and the last word travels back.
            let collected = last + 1 + cross;
            asking[g.port] = asking[g.port].max(collected) + g.words;
            writing[g.port] = writing[g.port].max(collected) + g.beats;
            drained[k] = [asking[g.port] + timing::DRAINED_TO_LAUNCH, drained[k][0]];
            done = done.max(writing[g.port] + latency[g.port].write_latency);
            written[k] = writing[g.port] + latency[g.port].write_latency + ANSWERED - 1;
        }
        for (k, _) in vsa.inputs.iter().enumerate().filter(|(_, g)| g.releases(&tile, case, &trips)) {
            released[k] = [last + timing::FEED_LATENCY, released[k][0]];
        }
        let Some(changed) = step(&mut tile, trips[..depth].iter().copied()) else {
            // The last phases may store nothing.
            return done.max(free);
        };
        if changed < vsa.phases() {
            passed.clone_from(&written);
            (trips, case) = (vsa.trips_at(&tile), vsa.case_at(&tile));
        }
    }
}
