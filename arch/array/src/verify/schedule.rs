//! When values are on their wires: the constraints under which the PE's delay elements can be built.
//!
//! An operand is ready when its consumer samples it, `ready[operand] <= ready[node] - latency[node]`. A `Past` takes
//! its value no earlier than its delay element has it ([`crate::contract::delay`]).

use crate::contract::bands::Bands;
use crate::contract::delay::{earliest, earliest_lagging, Wait};
use crate::contract::timing::least_ready;
use crate::vsa::{NodeId, Op, Vsa};

/// Limit on the launch interval. The longest cycle of operators in a PE takes a few thousand cycles.
const LONGEST_INTERVAL: i64 = 1 << 16;

/// Limit on the waves that a value is kept in a PE. No device has a memory for more.
const LONGEST_DELAY: i64 = 1 << 24;

pub(super) fn check(vsa: &Vsa, faults: &mut Vec<String>) {
    let s = &vsa.schedule;
    for a in 0..2 {
        if vsa.extent[a] > 1 && s.start[a].hop_delay() == 0 {
            faults.push(format!("axis {a} has {} PEs, but no hop delay", vsa.extent[a]));
        }
    }
    faults.extend(Bands::of(vsa).err());
    if !(1..LONGEST_INTERVAL).contains(&s.interval) {
        faults.push(format!("launch interval {}", s.interval));
    }
    if s.ready.len() != vsa.nodes.len() || s.latency.len() != vsa.nodes.len() {
        faults.push(format!(
            "{} nodes, but {} ready cycles and {} latencies",
            vsa.nodes.len(),
            s.ready.len(),
            s.latency.len()
        ));
        return;
    }
    let small = |x: &i64| (0..1 << 40).contains(x);
    if !s.ready.iter().chain(&s.latency).all(small) || s.start.iter().any(|x| x.latest() >= 1 << 31) {
        faults.push("negative or enormous cycle numbers".into());
        return;
    }
    for id in s.delays.keys() {
        if !vsa.nodes.get(id.index()).is_some_and(|n| matches!(n.op, Op::Past { .. })) {
            faults.push(format!("%{} has a delay element, but is no past", id.0));
        }
    }
    for (n, node) in vsa.nodes.iter().enumerate() {
        let (ready, latency) = (s.ready[n], s.latency[n]);
        if ready < latency {
            faults.push(format!("node %{n} is ready in cycle {ready}, but takes {latency}"));
        }
        if let Op::Past { source, .. } = node.op {
            past(vsa, n, source.index(), faults);
            continue;
        }
        if ready < least_ready(&node.op) {
            faults.push(format!("node %{n} is ready in cycle {ready}, but cannot be before {}", least_ready(&node.op)));
        }
        for source in node.op.sources() {
            if s.ready[source.index()] > ready - latency {
                faults.push(format!(
                    "node %{n} samples %{} in cycle {}, but it is ready in {}",
                    source.0,
                    ready - latency,
                    s.ready[source.index()]
                ));
            }
        }
    }
}

fn past(vsa: &Vsa, n: usize, source: usize, faults: &mut Vec<String>) {
    let id = NodeId(n as u32);
    let Some(wait) = Wait::of(vsa, id) else { return };
    let Wait { waves, varies, ready, latency, interval, taken } = wait;
    if waves > LONGEST_DELAY {
        faults.push(format!("past %{n} keeps %{source} for {waves} waves, at most {LONGEST_DELAY}"));
        return;
    }
    let earliest =
        if varies { earliest_lagging(waves, ready, interval) } else { earliest(waves, ready, latency, interval) };
    if taken < earliest {
        faults
            .push(format!("past %{n} takes %{source} in cycle {taken}, {waves} waves later it is there in {earliest}"));
    }
    match vsa.schedule.delays.get(&id) {
        None if waves > 0 => faults.push(format!("past %{n} has no delay element for its {waves} waves")),
        Some(_) if waves == 0 => faults.push(format!("past %{n} has a delay element, but is a wire")),
        Some(&delay) if !wait.allows(delay) => faults.push(format!(
            "past %{n} is taken in cycle {taken}, {waves} waves after cycle {ready}: {delay:?} does not have it then"
        )),
        _ => {}
    }
}
