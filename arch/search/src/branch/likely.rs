//! Roughly the cycles of a shape, for heuristics that choose among shapes of nearly one bound.
//!
//! Behind a slow memory thousands of shapes have the same bound: the bytes that it moves. What they take beyond that is
//! what bounds cannot count: each port has a share of the memory, which counts short bursts as longer ones, and a tile
//! waits until the last wave of the one before the last has passed all PEs and left its buffers. This model counts
//! both, with rough latencies. It proves nothing.
//!
//! Example: `mv` of 100×60 on a memory of 13.4 bytes a cycle. 60 lanes of one PE take one row in each wave, and the sum
//! passes 60 adders. In tiles of one row a row waits for the sum of the row before the last: 100 · (60 + 13) / 2 cycles.
//! In tiles of 50 rows the same lanes wait once.

use super::frontier::Node;
use super::model::Model;
use super::task::Proposal;
use super::widths::Widths;
use crate::facts::Access;
use crate::space::{Shape, Sizes};
use cost::bound::PORTS;
use cost::memory::Most;

/// From a wave's launch to a value that a collector holds, beside the lanes and PEs in between.
const LATENCY: i64 = 8;
/// From a result that has left to the launch of a wave that needs its place, and from a free buffer to the next load.
const TURN: i64 = 5;

/// What a load or a store moves.
struct Service {
    port: usize,
    /// Words each time.
    words: f64,
    /// Bytes that the memory counts for them.
    bytes: f64,
    times: i64,
}

/// Cycles of a shape, roughly; over the widest words if the node does not name any. `None` for grids, and for a program
/// in phases.
pub(super) fn of_node(model: &Model, node: &Node) -> Option<i64> {
    match node {
        Node::Design(Proposal { shape, widths }) | Node::Widest(Proposal { shape, widths }) => {
            cycles(model, shape, widths)
        }
        Node::Shape(shape) => cycles(model, shape, &model.ports_of(&shape.grid).widest()),
        Node::Grid(_) => None,
    }
}

fn cycles(model: &Model, shape: &Shape, widths: &Widths) -> Option<i64> {
    let (grid, facts, order) = (&shape.grid, model.facts_of(&shape.grid), model.order(shape));
    if !facts.classes.is_empty() {
        return None;
    }
    let sizes = model.sizes(shape);
    let (tile, in_lanes) = (&sizes.tile[..facts.extent.len()], grid.in_lanes(&facts.extent, &shape.inner));
    let widths = widths.bytes();
    let tiles = sizes.over(sizes.tiled);
    let waves = sizes.waves * order.interval(facts, grid, &shape.inner);
    let of = |a: &Access, times: i64| {
        let shortest = facts.most.ports.get(a.port).map_or(1, |port| port.shortest);
        let (words, bytes) = a.likely_words(tile, widths[a.port], shortest);
        Service { port: a.port, words, bytes, times }
    };

    let mut loads: Vec<Service> = facts
        .loads(tile, in_lanes)
        .map(|(k, a)| of(a, sizes.over(order.reload[k])))
        .filter(|s| s.port < PORTS)
        .collect();
    let mut stores: Vec<(Service, i64)> = vec![];
    for (a, sums) in facts.writes.iter().zip(&order.sums).filter(|(a, _)| a.port < PORTS) {
        let is_short = model.spill.is_some_and(|most| sizes.waits(sums) <= most);
        // Partial results that wait for long are stored in every tile and come back.
        let leaves = sums.outer != 0 && !is_short;
        let times = sizes.over(a.mask & sizes.tiled) * if leaves { sizes.over(sums.outer) } else { 1 };
        loads.extend(leaves.then(|| of(a, times)));
        stores.push((of(a, times), if sums.inside != 0 && is_short { 1 } else { 2 }));
    }
    let reads = paces(&facts.most, loads.iter(), &widths);
    let writes = paces(&facts.most, stores.iter().map(|s| &s.0), &widths);
    let across = across(model, shape, &sizes);
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
fn paces<'s>(most: &Most, all: impl Iterator<Item = &'s Service>, widths: &[i64]) -> [f64; PORTS] {
    let (mut words, mut bytes) = ([0.0; PORTS], [0.0; PORTS]);
    all.for_each(|s| {
        words[s.port] += s.words * s.times as f64;
        bytes[s.port] += s.bytes * s.times as f64;
    });
    let cycles = most.apart(&bytes.map(|n| n as i64), widths);
    std::array::from_fn(|port| if words[port] > 0.0 { (cycles[port] as f64 / words[port]).max(1.0) } else { 1.0 })
}

/// From a wave's launch at the first PE to its launch at the last one.
fn across(model: &Model, shape: &Shape, sizes: &Sizes) -> i64 {
    let grid = &shape.grid;
    (0..model.facts_of(grid).extent.len()).map(|d| (grid.along(d).0 - 1) * passed(model, shape, sizes, d)).sum()
}

/// From a wave's launch to a result that a collector holds: a sum passes all its lanes and PEs.
fn latency(model: &Model, shape: &Shape, sizes: &Sizes) -> i64 {
    let of = |d: usize| shape.grid.along(d).0 * passed(model, shape, sizes, d);
    let depth = model.facts_of(&shape.grid).extent.len();
    LATENCY + (0..depth).map(of).filter(|&n| n > 1).sum::<i64>()
}

/// Cycles from one PE to the next along a dimension: a value that moves along it, such as a sum, passes all lanes.
fn passed(model: &Model, shape: &Shape, sizes: &Sizes, d: usize) -> i64 {
    let carried = &model.facts_of(&shape.grid).carried;
    if carried.alone[d] {
        shape.grid.along(d).1.min(sizes.tile[d]) * carried.latency[d].max(1)
    } else {
        1
    }
}
