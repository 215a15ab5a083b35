//! Roughly the cycles of a shape, for heuristics that choose among shapes of nearly one bound.
//!
//! Behind a slow memory thousands of shapes have the same bound: the bytes that it moves. What they take beyond that is
//! what bounds cannot count: each port has a share of the memory, and a tile waits until the one before the last has
//! left its buffers. This model counts both, with rough latencies. It proves nothing.
//!
//! Example: `mv` of 100×60 on a memory of 13.4 bytes a cycle. 60 lanes of one PE take one row in each wave, and the sum
//! passes 60 adders. In tiles of one row a row waits for the sum of the row before the last: 100 · (60 + 13) / 2 cycles.
//! In tiles of 50 rows the same lanes wait once.

use super::model::Model;
use crate::facts::Access;
use crate::space::{Shape, Sizes};
use cost::bound::PORTS;

/// From a wave's launch to a value that a collector holds, beside the lanes and PEs in between.
const LATENCY: i64 = 8;
/// From a result that has left to the launch of a wave that needs its place, and from a free buffer to the next load.
const TURN: i64 = 5;

/// What a load or a store moves.
struct Service {
    port: usize,
    /// Words each time.
    words: f64,
    times: i64,
}

/// Cycles of a shape over the widest words, roughly. `None` for a program in phases.
pub(super) fn cycles(model: &Model, shape: &Shape) -> Option<i64> {
    let (grid, facts, order) = (&shape.grid, model.facts_of(&shape.grid), model.order(shape));
    if !facts.classes.is_empty() {
        return None;
    }
    let sizes = model.sizes(shape);
    let (tile, in_lanes) = (&sizes.tile[..facts.extent.len()], grid.in_lanes(&facts.extent, &shape.inner));
    let widths = model.ports_of(grid).widest().bytes();
    let tiles = sizes.over(sizes.tiled);
    let waves = sizes.waves * order.interval(facts, grid, &shape.inner);
    let of = |a: &Access, times: i64| Service { port: a.port, words: a.likely_words(tile, widths[a.port]), times };

    let mut loads: Vec<Service> = facts
        .loads(tile, in_lanes)
        .map(|(k, a)| of(a, sizes.over(order.reload[k])))
        .filter(|s| s.port < PORTS)
        .collect();
    let mut stores: Vec<(Service, i64)> = vec![];
    for (a, sums) in facts.writes.iter().zip(&order.sums).filter(|(a, _)| a.port < PORTS) {
        let is_short = model.spill.is_some_and(|most| sizes.waits(sums) <= most);
        // Partial results that wait for long are stored in every tile and come back, and so do those that pass PEs.
        let leaves = sums.outer != 0 && !is_short;
        let times = sizes.over(a.mask & sizes.tiled) * if leaves { sizes.over(sums.outer) } else { 1 };
        loads.extend(leaves.then(|| of(a, times)));
        stores.push((of(a, times), if sums.inside != 0 && is_short { 1 } else { 2 }));
    }
    let reads = paces(model, shape, &widths, loads.iter(), 0);
    let writes = paces(model, shape, &widths, stores.iter().map(|s| &s.0), 1);
    let across: i64 = grid.pes.iter().map(|n| n - 1).sum();
    let latency = latency(model, shape, &sizes);

    let (mut busy, mut first, mut last) = ((tiles * waves) as f64, [0.0; PORTS], 0.0f64);
    let (mut loaded, mut stored) = ([0.0; PORTS], [0.0; PORTS]);
    for s in &loads {
        let (cycles, times) = (s.words * reads[s.port], s.times as f64);
        first[s.port] += cycles;
        loaded[s.port] += cycles * times;
        // Two buffers: one is loaded while waves need the other.
        if s.times > 1 {
            busy = busy.max((times * (cycles + (across + TURN) as f64) + (tiles * waves) as f64) / 2.0);
        }
    }
    for (s, slots) in &stores {
        let (cycles, times) = (s.words * writes[s.port], s.times as f64);
        last = last.max(cycles);
        stored[s.port] += cycles * times;
        busy = busy.max(times * (cycles + (waves + latency + TURN) as f64) / *slots as f64);
    }
    let most = |all: [f64; PORTS]| all.into_iter().fold(0.0, f64::max);
    let (first, waves, latency) = (most(first), waves as f64, latency as f64);
    let begins = (first + busy).max(most(loaded) + waves) + latency;
    let ends = (begins + last).max(first + waves + latency + most(stored));
    Some(model.before(facts) + ends as i64 + model.behind(facts, last as i64))
}

/// Cycles for a word of each port in one way, with its share of the memory.
fn paces<'s>(
    model: &Model,
    shape: &Shape,
    widths: &[i64],
    all: impl Iterator<Item = &'s Service>,
    way: usize,
) -> [f64; PORTS] {
    let most = &model.facts_of(&shape.grid).most;
    let mut words = [0.0; PORTS];
    all.for_each(|s| words[s.port] += s.words * s.times as f64);
    let width = |port: usize| widths.get(port).copied().unwrap_or(0) as f64;
    let bytes: [i64; PORTS] = std::array::from_fn(|port| (words[port] * width(port)) as i64);
    let cycles = |bytes: [i64; PORTS]| {
        let both = [bytes, [0; PORTS]];
        most.cycles(&both[way], &both[1 - way]) as f64
    };
    let together = cycles(bytes);
    std::array::from_fn(|port| {
        let alone = std::array::from_fn(|other| if other == port { bytes[port] } else { 0 });
        let cycles = if most.all.is_some() { together } else { cycles(alone) };
        if words[port] > 0.0 {
            (cycles / words[port]).max(1.0)
        } else {
            1.0
        }
    })
}

/// From a wave's launch to a result that a collector holds: a sum passes all its lanes and PEs.
fn latency(model: &Model, shape: &Shape, sizes: &Sizes) -> i64 {
    let (grid, facts) = (&shape.grid, model.facts_of(&shape.grid));
    let sum = facts.writes.iter().fold(0, |all, w| all | w.ends | w.sum);
    let passed = |d: usize| {
        let (pes, lanes) = grid.along(d);
        let is_sum = sum >> d & 1 == 1;
        if is_sum {
            pes * lanes.min(sizes.tile[d]) * facts.carried.latency[d].max(1)
        } else {
            pes
        }
    };
    LATENCY + (0..facts.extent.len()).map(passed).filter(|&n| n > 1).sum::<i64>()
}
