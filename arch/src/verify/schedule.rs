//! When values are on their wires: the constraints under which the PE's delay elements can be built.

use super::sources;
use crate::contract::timing::least_ready;
use crate::ir::vsa::{Op, Vsa};

/// Earliest cycle, relative to a wave's arrival at the *source's* PE, in which the value from `waves` waves ago can be
/// taken from a delay element, given that the source is ready in cycle `ready` after `latency` registers.
///
/// No wave between: from the wire. One: a register that holds the value since the previous wave, at least `interval`
/// cycles ago. More: registers that shift with each wave (the first of them is the source's own last register, if it has
/// one) or a memory that is written at `ready` and read, in the cycle before, at the earliest one cycle after the write.
pub fn earliest_arrival(waves: i64, ready: i64, latency: i64, interval: i64) -> i64 {
    let unregistered = (latency == 0) as i64;
    match waves {
        0 => ready,
        1 => ready + unregistered - interval,
        _ => ready + (unregistered - 1).min(2 - waves * interval),
    }
}

pub(super) fn check(vsa: &Vsa, faults: &mut Vec<String>) {
    let s = &vsa.schedule;
    for a in 0..2 {
        if vsa.extent[a] > 1 && s.skew[a] == 0 {
            faults.push(format!("axis {a} has {} PEs, but no skew", vsa.extent[a]));
        }
    }
    if s.interval < 1 {
        faults.push(format!("launch interval {}", s.interval));
    }
    if s.ready.len() != vsa.nodes.len() || s.latency.len() != vsa.nodes.len() {
        faults.push(format!("{} nodes, but {} ready cycles and {} latencies", vsa.nodes.len(), s.ready.len(), s.latency.len()));
        return;
    }
    let small = |x: &i64| (0..1 << 40).contains(x);
    if !s.ready.iter().chain(&s.latency).all(small) || s.skew.iter().any(|x| x.unsigned_abs() >= 1 << 31) || s.interval >= 1 << 40 {
        faults.push("negative or enormous cycle numbers".into());
        return;
    }
    for (n, node) in vsa.nodes.iter().enumerate() {
        let (ready, latency) = (s.ready[n], s.latency[n]);
        if let Op::Past { source, hop, waves } = node.op {
            past(vsa, n, source.index(), hop, waves, faults);
            continue;
        }
        if ready < latency {
            faults.push(format!("node %{n} is ready in cycle {ready}, but takes {latency}"));
        }
        if ready < least_ready(&node.op) {
            faults.push(format!("node %{n} is ready in cycle {ready}, but cannot be before {}", least_ready(&node.op)));
        }
        for source in sources(&node.op) {
            if s.ready[source.index()] > ready - latency {
                faults.push(format!("node %{n} samples %{} in cycle {}, but it is ready in {}", source.0, ready - latency, s.ready[source.index()]));
            }
        }
    }
}

fn past(vsa: &Vsa, n: usize, source: usize, hop: [i64; 2], waves: i64, faults: &mut Vec<String>) {
    let s = &vsa.schedule;
    let travel = s.skew[0] * hop[0] + s.skew[1] * hop[1];
    let arrival = s.ready[n] + travel - (hop != [0, 0]) as i64;
    let earliest = earliest_arrival(waves, s.ready[source], s.latency[source], s.interval);
    if arrival < earliest {
        faults.push(format!("past %{n} takes %{source} in cycle {arrival}, {waves} waves later it is there in {earliest}"));
    }
    if waves >= 2 && arrival < s.ready[source] - 1 && arrival < 1 {
        faults.push(format!("past %{n} reads its memory before the wave arrives (cycle {arrival})"));
    }
}
