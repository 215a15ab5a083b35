//! Lower bounds on the cycles of designs that nobody has assembled: of a grid, of a shape in closed form, of a shape walked
//! visit by visit with whole transfers. The exact walk ([`crate::cost::predict()`]) is a maximum of sums that only grow with
//! each wait, so leaving waits out gives a bound; tests hold all three against it.

use super::facts::Facts;
use super::space::{Grid, Order, Sizes};
use crate::contract::timing;
use crate::contract::walk::MemoryTiming;
use crate::ir::vsa::Vsa;

/// From the start to the first beat of a load, and from the last beat of a drain to the end.
const BEFORE: i64 = 20;
const BEHIND: i64 = 16;
/// Ports a bound tells apart; what lies behind further ones is not counted.
const PORTS: usize = 16;
const WIDEST: i64 = 64;

/// Cycles in which the busiest port moves what must be moved once.
pub fn floor(facts: &Facts) -> i64 {
    let (mut loads, mut stores) = ([0; PORTS], [0; PORTS]);
    for a in facts.reads.iter().filter(|a| a.port < PORTS) {
        loads[a.port] += a.load_beats(&facts.extent, WIDEST);
    }
    for a in facts.writes.iter().filter(|a| a.port < PORTS) {
        stores[a.port] += a.store_beats(&facts.extent, WIDEST);
    }
    loads.into_iter().chain(stores).max().unwrap_or(0)
}

/// Beats per tile, which do not depend on the order.
pub struct Transfers {
    loads: Vec<i64>,
    stores: Vec<i64>,
    /// Of the port that takes longest for one load each.
    first: i64,
    last: i64,
}

impl Transfers {
    /// `widths`: bytes per word, by port.
    pub fn new(facts: &Facts, sizes: &Sizes, widths: &[i64]) -> Transfers {
        let tile = &sizes.tile[..facts.extent.len()];
        let loads: Vec<i64> = facts.reads.iter().map(|a| a.load_beats(tile, widths[a.port])).collect();
        let stores: Vec<i64> = facts.writes.iter().map(|a| a.store_beats(tile, widths[a.port])).collect();
        let busiest = |of: &[super::facts::Access], beats: &[i64]| {
            let mut sum = [0; PORTS];
            of.iter().zip(beats).filter(|(a, _)| a.port < PORTS).for_each(|(a, b)| sum[a.port] += b);
            sum.into_iter().max().unwrap_or(0)
        };
        let (first, last) = (busiest(&facts.reads, &loads), busiest(&facts.writes, &stores));
        Transfers { loads, stores, first, last }
    }
}

/// A shape's cycles, at least, by the largest of three: waves behind the first loads, all loads of a port, all drains.
/// `spill`: waves beyond which partial results may leave the array.
pub fn shape(facts: &Facts, grid: &Grid, sizes: &Sizes, order: &Order, t: &Transfers, spill: i64) -> i64 {
    let depth = facts.extent.len();
    let over = |mask: u32| (0..depth).filter(|d| mask >> d & 1 == 1).map(|d| sizes.tiles[d]).product::<i64>();
    let visits = over(sizes.tiled);
    let cross = cross(facts, grid);
    let behind = cross + t.last + BEHIND;
    let mut path = BEFORE + t.first + sizes.waves * visits + behind;
    let (mut loads, mut stores) = ([0; PORTS], [0; PORTS]);
    for ((a, beats), reload) in facts.reads.iter().zip(&t.loads).zip(&order.reload).filter(|((a, _), _)| a.port < PORTS) {
        loads[a.port] += beats * over(*reload);
    }
    path = path.max(BEFORE + loads.into_iter().max().unwrap_or(0) + sizes.waves + behind);
    for ((a, beats), (inset, head)) in facts.writes.iter().zip(&t.stores).zip(&order.inset).filter(|((a, _), _)| a.port < PORTS) {
        stores[a.port] += beats * over(a.mask & sizes.tiled);
        let first = BEFORE + t.first;
        if *inset == 0 {
            path = path.max(first + sizes.waves + stores[a.port] + cross + BEHIND);
        } else if sizes.waves * over(inset & !head) <= spill {
            // One buffer per collector: a visit that stores waits for the drain of the one before.
            let (inside, cells) = (over(*inset), over(inset & a.mask));
            let (outer, before) = (visits / inside, inside - over(inset & !head));
            let waits = (cells - 1) * (sizes.waves + beats) + sizes.waves;
            path = path.max(first + before * sizes.waves + outer * waits + (outer - 1) * (*beats).max(before * sizes.waves) + beats + cross + BEHIND);
        }
    }
    path
}

/// Cycles in which the last wave reaches the last PE that emits, at least.
pub fn cross(facts: &Facts, grid: &Grid) -> i64 {
    let emits = |a: usize| facts.writes.iter().all(|w| w.mask >> grid.flow.axes[a].min(31) & 1 == 1);
    (0..2).filter(|&a| emits(a)).map(|a| grid.pes[a] - 1).sum()
}

/// What the coarse walk needs of an I/O group.
struct Service {
    port: usize,
    beats: i64,
    /// Loads: reload when one of the first tile counters changes.
    reload: usize,
    /// Drains: values of the tile counters at which they happen.
    emit: Vec<Option<i64>>,
    slots: usize,
}

/// The walk of a sketch (`super::sketch`) with whole transfers: a load takes its words' beats, a drain too, nothing else
/// waits. Stops at `limit`.
pub fn walk(vsa: &Vsa, cross: i64, limit: i64) -> i64 {
    let trips: Vec<i64> = vsa.counters[..vsa.tile_depth].iter().map(|c| c.trip).collect();
    let service = |array: u32, words: i64| Service { port: vsa.port_of(array), beats: words, reload: 0, emit: vec![], slots: 0 };
    let loads: Vec<Service> = vsa.inputs.iter().map(|g| Service { reload: g.reload, ..service(g.array, g.hull.total_words()) }).collect();
    let drains: Vec<Service> = vsa.outputs.iter().map(|g| Service { emit: g.emit.clone(), slots: g.slots as usize, ..service(g.array, g.hull.total_words()) }).collect();
    let latency = MemoryTiming::IDEAL;
    let (mut reading, mut writing) = (vec![0i64; vsa.ports()], vec![0i64; vsa.ports()]);
    // Per group: releases of the last two loads; ends of the last two drains.
    let mut released = vec![[0i64; 2]; loads.len()];
    let mut count = vec![0usize; loads.len()];
    let mut drained = vec![[0i64; 2]; drains.len()];
    let (waves, visits) = (vsa.waves_per_visit(), vsa.visits());
    let mut tile = vec![0i64; trips.len()];
    let (mut free, mut done, mut changed) = (timing::START_TO_LAUNCH, 0, 0);
    for visit in 0..visits {
        if free + (visits - visit) * waves >= limit {
            return free + (visits - visit) * waves;
        }
        let mut first = free;
        for (k, g) in loads.iter().enumerate().filter(|(_, g)| visit == 0 || changed < g.reload) {
            let earliest = if count[k] >= 2 { released[k][1] } else { 0 };
            reading[g.port] = (reading[g.port].max(earliest + latency.read_latency)) + g.beats;
            count[k] += 1;
            first = first.max(reading[g.port] + timing::LOADED_TO_LAUNCH);
        }
        let emits = |g: &Service| g.emit.iter().zip(&tile).all(|(e, c)| e.is_none_or(|v| v == *c));
        for (k, g) in drains.iter().enumerate().filter(|(_, g)| emits(g)) {
            first = first.max(drained[k][g.slots.clamp(1, 2) - 1]);
        }
        let last = first + waves - 1;
        free = last + 1;
        for (k, g) in drains.iter().enumerate().filter(|(_, g)| emits(g)) {
            writing[g.port] = writing[g.port].max(last + 1) + g.beats;
            drained[k] = [writing[g.port], drained[k][0]];
            done = done.max(writing[g.port].max(last + 1 + cross + g.beats) + latency.write_latency);
        }
        changed = (0..trips.len()).rev().find(|&j| tile[j] + 1 < trips[j]).unwrap_or(usize::MAX);
        if changed < trips.len() {
            tile[changed] += 1;
            tile[changed + 1..].fill(0);
        }
        for (k, _) in loads.iter().enumerate().filter(|(_, g)| changed == usize::MAX || changed < g.reload) {
            released[k] = [last + timing::FEED_LATENCY, released[k][0]];
        }
    }
    done
}
