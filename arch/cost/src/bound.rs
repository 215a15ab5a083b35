//! Lower bounds on the cycles of designs that nobody has assembled: of a run in tiles, in closed form, and of a sketch,
//! walked visit by visit with whole transfers. The exact walk ([`crate::predict()`]) is a maximum of sums that
//! only grow with each wait, so leaving waits out gives a bound; tests hold both against it.

use array::contract::timing;
use array::contract::walk::{MemoryTiming, Walk, WalkGroup};
use array::vsa::Vsa;
use uniform::affine::{gcd, step};

/// From the start to the first beat of a load, and from the last beat of a drain to the end.
pub const BEFORE: i64 = 20;
const BEHIND: i64 = 16;
/// Of a writer: from a wave's value in the PE to a word on the bus, and from the memory's answer to its pulse, beside
/// the words. Of a reader that has waited for it: from the pulse to an address, and from the first beat to the load's
/// pulse, beside the beats.
const ANSWERED: i64 = 5;
const FETCHED: i64 = 5;
/// Ports a bound tells apart; what lies behind further ones is not counted.
pub const PORTS: usize = 16;

/// What an array moves in one tile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfer {
    pub port: usize,
    pub beats: i64,
    /// Loops that move the box, as bits.
    pub mask: u32,
    /// Stores: loops of a sum whose partial results may go to DRAM and back, as bits.
    pub sum: u32,
    /// Beats in which they come back.
    pub back: i64,
}

/// A run in tiles, as far as the order of its loops does not matter.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<'a> {
    /// Per loop.
    pub trips: &'a [i64],
    /// Loops with more than one tile, as bits.
    pub tiled: u32,
    /// Waves per tile.
    pub waves: i64,
    /// Cycles in which the last wave reaches the last PE that emits, at least.
    pub cross: i64,
    /// Waves beyond which partial results may leave the array. Where they never do, as sizes tell how long they wait,
    /// any visit may be the last one of its sums, and collectors have two buffers.
    pub spill: Option<i64>,
    /// Loops over several PEs, as bits.
    pub spread: u32,
}

/// What a tile moves.
#[derive(Clone, Copy, Debug)]
pub struct Moved<'a> {
    loads: &'a [Transfer],
    stores: &'a [Transfer],
    /// Beats of the port that takes longest to load it, and to store it.
    first: i64,
    last: i64,
}

impl Moved<'_> {
    pub fn new<'a>(loads: &'a [Transfer], stores: &'a [Transfer]) -> Moved<'a> {
        Moved { loads, stores, first: busiest(loads), last: busiest(stores) }
    }
}

/// The order of the tile loops, as far as transfers see it.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// Cycles between two waves, at least.
    pub interval: i64,
    /// Per load: loops around it, as bits.
    pub loads: &'a [u32],
    /// Per store.
    pub sums: &'a [Sums],
}

/// Where the tile loops of a store's sums stand, as bits; nothing where no sum is tiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Loops from the outermost sum's inwards.
    pub inside: u32,
    /// The outermost sum's.
    pub head: u32,
    /// Those outside of loops that move the cells, if partial results may go to DRAM and back over them.
    pub outer: u32,
}

/// So many waves and nothing else: the first phases may load nothing, the last ones store nothing.
pub fn waves_alone(waves: i64) -> i64 {
    timing::START_TO_LAUNCH + waves
}

/// From the launch of a phase's last wave to that of the first one of a phase that loads what it stores, at least:
/// cycles in which that is made, crosses the array and passes the port, and beats of the load.
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

    /// Waves behind the first loads, whatever the order.
    pub fn compute(&self, moved: &Moved) -> i64 {
        BEFORE + moved.first + self.waves * self.over(self.tiled) + self.cross + moved.last + BEHIND
    }

    /// The cycles of an order, at least, by the largest of three: waves behind the first loads, all loads of a port,
    /// all drains.
    pub fn cycles(&self, moved: &Moved, around: &Around) -> i64 {
        let visits = self.over(self.tiled);
        let first = BEFORE + moved.first;
        let behind = self.cross + moved.last + BEHIND;
        let mut path = first + (self.waves * visits - 1) * around.interval + 1 + behind;
        // Partial results that leave the array in every visit come back in every visit.
        let drains = |t: &Transfer, sums: &Sums| {
            let waits = self.waves * self.over(sums.inside & !sums.head);
            let leaves = sums.outer != 0 && t.sum & self.spread == 0 && self.spill.is_some_and(|most| waits > most);
            (leaves, self.over(t.mask & self.tiled) * if leaves { self.over(sums.outer) } else { 1 })
        };
        let (mut beats, mut most) = ([0; PORTS], 0);
        let mut take = |port: usize, n: i64| {
            beats[port] += n;
            most = most.max(beats[port]);
        };
        for (t, sums) in moved.stores.iter().zip(around.sums).filter(|(t, _)| t.port < PORTS) {
            if let (true, drains) = drains(t, sums) {
                take(t.port, t.back * drains);
            }
        }
        for (t, reload) in moved.loads.iter().zip(around.loads).filter(|(t, _)| t.port < PORTS) {
            take(t.port, t.beats * self.over(*reload));
        }
        path = path.max(BEFORE + most + self.waves + behind);
        beats = [0; PORTS];
        for (t, sums) in moved.stores.iter().zip(around.sums).filter(|(t, _)| t.port < PORTS) {
            let (leaves, drains) = drains(t, sums);
            beats[t.port] += t.beats * drains;
            if sums.inside == 0 || leaves {
                path = path.max(first + self.waves + beats[t.port] + self.cross + BEHIND);
                continue;
            }
            // Visits that store follow one another at the end of every sum's outermost loop.
            let (inside, cells, below) =
                (self.over(sums.inside), self.over(sums.inside & t.mask), self.over(sums.inside & !sums.head));
            let (outer, before) = (visits / inside, inside - below);
            if self.spill.is_some_and(|most| self.waves * below <= most) {
                // One buffer per collector: a visit that stores waits for the drain of the one before.
                let waits = (cells - 1) * (self.waves + t.beats) + self.waves;
                path = path.max(
                    first
                        + before * self.waves
                        + outer * waits
                        + (outer - 1) * t.beats.max(before * self.waves)
                        + t.beats
                        + self.cross
                        + BEHIND,
                );
            } else if cells > 1 {
                // Two: it waits for the drain of the one before that.
                let stores = (below * self.waves).max(2 * self.waves + (cells - 2) * t.beats);
                path = path.max(first + outer * (before * self.waves + stores) + t.beats + self.cross + BEHIND);
            }
        }
        path
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

/// What the coarse walk needs of an I/O group.
struct Service {
    port: usize,
    words: i64,
    /// Cycles in which the port moves them.
    beats: i64,
    /// Of drains.
    slots: usize,
}

/// Cycles that a service takes its port of `word` bytes: its words, and one more for every row that begins so far
/// within a word that its end does not fit either. Of rows that follow one another by some bytes, only so many of each
/// few begin early enough.
fn least_beats(group: &WalkGroup, bytes: i64, word: i64) -> i64 {
    let (lengths, rows, form) = (group.lengths(), group.total_rows(), &group.address);
    let words = (group.elements * bytes + word - 1) / word;
    let slack = words * word - group.elements * bytes;
    let grain = form.start.coeffs.iter().chain(&form.rows).fold(word, |g, c| gcd(g, *c));
    if form.start.constant.rem_euclid(grain) > slack {
        return rows * (words + 1);
    }
    // Begins within a word are multiples of this, one after the other, before they come again.
    let early = |(n, step): (&i64, &i64)| {
        let between = gcd(word, *step);
        let period = word / between;
        rows / n * (((n + period - 1) / period) * (slack / between + 1)).min(*n)
    };
    rows * (words + 1) - lengths.iter().zip(&form.rows).map(early).min().unwrap_or(rows)
}

/// The walk of a sketch (`search::sketch`), whose ports walk like `walks`, with whole transfers: a load takes
/// its port's beats; a drain, too, when the last wave has crossed the array (`cross`); a visit waits for its loads and
/// for the buffers of its results. Stops at `limit`.
pub fn walk(vsa: &Vsa, walks: &[[Option<Walk>; 2]], cross: i64, limit: i64) -> i64 {
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
    let service = |array: u32, words: i64, beats: i64| Service { port: vsa.port_of(array), words, beats, slots: 0 };
    let loads: Vec<Service> =
        vsa.inputs.iter().zip(&beats[0]).map(|(g, b)| service(g.array, g.hull.total_words(), *b)).collect();
    let drains: Vec<Service> = vsa
        .outputs
        .iter()
        .zip(&beats[1])
        .map(|(g, b)| Service { slots: g.slots as usize, ..service(g.array, g.hull.total_words(), *b) })
        .collect();
    let latency: Vec<MemoryTiming> = (0..vsa.ports()).map(|p| MemoryTiming::IDEAL.behind(vsa, p)).collect();
    // Readers ask ahead: only the first load waits for the memory. Writers ask collectors for one word a cycle, and may
    // be that far ahead of what they send.
    let mut reading: Vec<i64> = latency.iter().map(|m| m.read_latency).collect();
    let (mut asking, mut writing) = (vec![0i64; vsa.ports()], vec![0i64; vsa.ports()]);
    // Per group: releases of the last two loads; ends of the last two drains.
    let mut released = vec![[0i64; 2]; loads.len()];
    let mut count = vec![0usize; loads.len()];
    let mut drained = vec![[0i64; 2]; drains.len()];
    // In memory, of the last drain so far, and of the last one in an earlier phase.
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
            // The last wave's way to the last PE, and the last word's way back, take as long as the array is wide.
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
            // Nothing may be stored behind the last phase that does anything.
            return done.max(free);
        };
        if changed < vsa.phases() {
            passed.clone_from(&written);
            (trips, case) = (vsa.trips_at(&tile), vsa.case_at(&tile));
        }
    }
}
