//! Static schedule of a PE's nodes, the hop delays of the array, and the initiation interval.
//!
//! Problem: in which cycle after a wave's arrival is each node ready, by how many cycles does a PE start behind its
//! neighbour (hop delay, `step`), and how many cycles lie between two waves (initiation interval)? Hardware has no
//! handshakes inside the array, so all three are constants.
//!
//! Method: each dependence is a difference constraint, `ready[to] >= ready[from] + weight - step · hop`. A dependence
//! over `waves` launches gains `waves * interval` cycles. Longest paths give the schedule; there is one iff no cycle of
//! dependences has a positive weight. A positive cycle is a linear cut on the hop delays: the cheapest ones that
//! satisfy all cuts so far are tried next. If none do, light operators on the cycle give up their register (at most
//! [`MAX_CHAIN`] in a row), and then the interval grows.
//!
//! Nodes outside of recurrences, and links of joined integers, then move as late as their consumers allow. Values wait in the narrow operands (and
//! inputs in the feeders) rather than behind the multipliers.
//!
//! Example: `acc = past(acc, 1 wave) + a * b` with an integer adder of 1 cycle. The cycle is `acc -> past -> acc` with
//! weight 1 (adder) - 1 * interval, so interval 1 suffices. A float adder of 7 cycles needs interval 7, or 8
//! interleaved sums.
//!
//! Source: Rau, Iterative Modulo Scheduling, sections 2 and 3; the hop delay is the part of PolySA's schedule vector
//! along the array (section 4.1).

use crate::contract::bands::CROSSING;
use crate::contract::{delay, timing};
use crate::draft::Lowered;
use crate::operators;
use crate::vsa::{AxisStart, Node, NodeId, Op, Schedule};
use petgraph::graph::DiGraph;
use scop::BinaryOp;
use uniform::refusal::Illegal;
use uniform::sizes::Formula;

/// Light operators between two registers of a recurrence.
pub const MAX_CHAIN: usize = 4;
const MAX_INTERVAL: i64 = 256;
const MAX_HOP_DELAY: i64 = 128;

/// An axis that is cut into bands, and the direction of the waves along it. A value that hops against them waits
/// [`RETURN`] cycles more: as long as it takes where it crosses a cut ([`AxisStart::back`]).
#[derive(Clone, Copy, Debug)]
pub struct Across {
    pub axis: usize,
    pub forward: bool,
}

const RETURN: i64 = 2 * CROSSING;

impl Across {
    fn back(&self, hop: [i64; 2]) -> i64 {
        let hops = if self.forward { hop[self.axis] } else { -hop[self.axis] };
        i64::from(hops < 0) * RETURN
    }

    /// The hop delay along the axis has this sign.
    fn direction(&self) -> Cut {
        let mut hop = [0; 2];
        hop[self.axis] = if self.forward { 1 } else { -1 };
        (hop, 1)
    }
}

struct Edge {
    from: usize,
    to: usize,
    weight: i64,
    hop: [i64; 2],
}

fn edges(lowered: &Lowered, latency: &[i64], interval: i64, across: Option<Across>) -> Vec<Edge> {
    let mut all = Vec::new();
    for (to, node) in lowered.nodes.iter().enumerate() {
        if let Op::Past { source, hop, waves } = &node.op {
            let weight = match waves {
                Formula::Const(waves) => delay::earliest(*waves, 0, latency[source.index()], interval),
                waves => delay::earliest_lagging(waves.fewest(&lowered.maxima), 0, interval),
            };
            let way = (*hop != [0, 0]) as i64 + across.map_or(0, |across| across.back(*hop));
            all.push(Edge { from: source.index(), to, weight: weight + way, hop: *hop });
        }
        for from in node.op.operands() {
            all.push(Edge { from: from.index(), to, weight: latency[to], hop: [0, 0] });
        }
    }
    all
}

enum Outcome {
    Ready(Vec<i64>),
    /// Indices of the edges of a positive cycle.
    Cycle(Vec<usize>),
}

/// A `Past` is read at its source's PE no earlier than one cycle after the wave has arrived there.
fn least_ready(node: &Node, step: [i64; 2], across: Option<Across>) -> i64 {
    match &node.op {
        op @ Op::Past { hop, .. } => {
            let way = (*hop != [0, 0]) as i64 + across.map_or(0, |across| across.back(*hop));
            let at_source = way - step[0] * hop[0] - step[1] * hop[1] + op.is_delayed() as i64;
            at_source.max(0)
        }
        op => timing::least_ready(op),
    }
}

fn longest_paths(nodes: &[Node], edges: &[Edge], step: [i64; 2], across: Option<Across>) -> Outcome {
    let mut ready: Vec<i64> = nodes.iter().map(|n| least_ready(n, step, across)).collect();
    let mut parent = vec![usize::MAX; nodes.len()];
    for _round in 0..=nodes.len() {
        let mut changed = None;
        for (k, e) in edges.iter().enumerate() {
            let least = ready[e.from] + e.weight - step[0] * e.hop[0] - step[1] * e.hop[1];
            if least > ready[e.to] {
                ready[e.to] = least;
                parent[e.to] = k;
                changed = Some(e.to);
            }
        }
        let Some(node) = changed else { return Outcome::Ready(ready) };
        if let Some(cycle) = cycle_through(&parent, edges, node, nodes.len()) {
            return Outcome::Cycle(cycle);
        }
    }
    unreachable!("a change in every round means a cycle of parents")
}

fn cycle_through(parent: &[usize], edges: &[Edge], start: usize, n: usize) -> Option<Vec<usize>> {
    let mut node = start;
    for _ in 0..n {
        if parent[node] == usize::MAX {
            return None;
        }
        node = edges[parent[node]].from;
    }
    let (first, mut cycle) = (node, Vec::new());
    loop {
        cycle.push(parent[node]);
        node = edges[parent[node]].from;
        if node == first {
            return Some(cycle);
        }
    }
}

/// `hop · step >= weight`.
type Cut = ([i64; 2], i64);

/// The signed hop delays that satisfy the cuts and in which a wave crosses the array in the fewest cycles.
fn cheapest_steps(extent: [i64; 2], cuts: &[Cut]) -> Option<[i64; 2]> {
    // Nearest to zero first, positive before negative.
    let most = if extent[0] == 1 { 1 } else { 2 * MAX_HOP_DELAY };
    let mut best: Option<(i64, [i64; 2])> = None;
    for s0 in (1..=MAX_HOP_DELAY).flat_map(|s| [s, -s]).take(most as usize) {
        let cross = s0.abs() * (extent[0] - 1);
        if best.is_some_and(|(least, _)| cross >= least) {
            break;
        }
        let Some(s1) = second_step(s0, extent[1], cuts) else { continue };
        let cost = cross + s1.abs() * (extent[1] - 1);
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, [s0, s1]));
        }
    }
    best.map(|(_, step)| step)
}

/// The hop delay nearest to zero along the second axis that satisfies the cuts, given the first one.
fn second_step(s0: i64, extent: i64, cuts: &[Cut]) -> Option<i64> {
    let most = if extent == 1 { 1 } else { MAX_HOP_DELAY };
    let (mut lo, mut hi) = (if extent == 1 { 1 } else { -most }, most);
    for (h, w) in cuts {
        let rest = w - h[0] * s0;
        match h[1] {
            0 if rest > 0 => return None,
            0 => {}
            h1 if h1 > 0 => lo = lo.max(-(-rest).div_euclid(h1)),
            h1 => hi = hi.min((-rest).div_euclid(-h1)),
        }
    }
    let (up, down) = (lo.max(1), hi.min(-1));
    let options = [(up <= hi).then_some(up), (down >= lo).then_some(down)];
    options.into_iter().flatten().min_by_key(|s| s.abs())
}

/// The earliest times of the nodes under a schedule's interval and hop delays, and by how much each reader is ready
/// later than what it reads, at least: `(read, reader, cycles)`.
pub(super) fn earliest(lowered: &Lowered, schedule: &Schedule) -> (Vec<i64>, Vec<(usize, usize, i64)>) {
    let (edges, step) = (edges(lowered, &schedule.latency, schedule.interval, None), schedule.steps());
    let ready = match longest_paths(&lowered.nodes, &edges, step, None) {
        Outcome::Ready(ready) => ready,
        Outcome::Cycle(_) => schedule.ready.clone(),
    };
    let later = |e: &Edge| (e.from, e.to, e.weight - step[0] * e.hop[0] - step[1] * e.hop[1]);
    (ready, edges.iter().map(later).collect())
}

/// # Errors
/// When no interval up to 256 cycles suffices.
pub fn schedule(lowered: &Lowered, extent: [i64; 2]) -> Result<Schedule, Illegal> {
    let nodes = &lowered.nodes;
    let own = |n| operators::node_latency(nodes, NodeId(n as u32), lowered.fabric);
    let mut latency: Vec<i64> = (0..nodes.len()).map(own).collect();
    for mux in &lowered.muxes {
        latency[mux.index()] = 0;
    }
    with_latencies(lowered, extent, latency, None)
}

/// The schedule with these registers of the nodes, or fewer, for an array that is cut or not.
///
/// # Errors
/// When no interval up to 256 cycles suffices.
pub fn with_latencies(
    lowered: &Lowered,
    extent: [i64; 2],
    mut latency: Vec<i64>,
    across: Option<Across>,
) -> Result<Schedule, Illegal> {
    let nodes = &lowered.nodes;
    let mut interval = 1;
    let mut cuts: Vec<Cut> = across.iter().map(Across::direction).collect();
    while interval <= MAX_INTERVAL {
        let edges = edges(lowered, &latency, interval, across);
        let mut failed: Option<Vec<usize>> = None;
        while let Some(step) = cheapest_steps(extent, &cuts) {
            match longest_paths(nodes, &edges, step, across) {
                Outcome::Ready(ready) => return Ok(finish(lowered, latency, interval, step, ready, &edges)),
                Outcome::Cycle(cycle) => {
                    let hop = cycle.iter().fold([0, 0], |h, &e| [h[0] + edges[e].hop[0], h[1] + edges[e].hop[1]]);
                    cuts.push((hop, cycle.iter().map(|&e| edges[e].weight).sum()));
                    failed = Some(cycle);
                    if hop == [0, 0] {
                        break;
                    }
                }
            }
        }
        cuts.truncate(usize::from(across.is_some()));
        if !failed.as_ref().is_some_and(|cycle| chain(lowered, &mut latency, &edges, cycle)) {
            interval += least_step(lowered, &edges, failed.as_deref());
        }
    }
    Err(Illegal::SlowRecurrence)
}

/// By how much the interval must grow at least: no hop delay helps a cycle that ends in its own PE.
fn least_step(lowered: &Lowered, edges: &[Edge], cycle: Option<&[usize]>) -> i64 {
    let cycle = cycle.unwrap_or(&[]);
    let waves: i64 = cycle
        .iter()
        .map(|&e| {
            if let Op::Past { waves, .. } = &lowered.nodes[edges[e].to].op {
                waves.fewest(&lowered.maxima)
            } else {
                0
            }
        })
        .sum();
    let hop = cycle.iter().fold([0, 0], |h, &e| [h[0] + edges[e].hop[0], h[1] + edges[e].hop[1]]);
    let weight: i64 = cycle.iter().map(|&e| edges[e].weight).sum();
    // An interval more takes at most one cycle per wave off the weight.
    if hop == [0, 0] && waves > 0 {
        ((weight + waves - 1) / waves).max(1)
    } else {
        1
    }
}

/// Takes the register of one light operator on the cycle; false when there is none left to take.
fn chain(lowered: &Lowered, latency: &mut [i64], edges: &[Edge], cycle: &[usize]) -> bool {
    let nodes = &lowered.nodes;
    let on_cycle: Vec<usize> = cycle.iter().map(|&e| edges[e].to).collect();
    let is_light = |n: usize| {
        let plain = matches!(
            nodes[n].op,
            Op::Select(..)
                | Op::Unary(..)
                | Op::Binary(
                    BinaryOp::Add
                        | BinaryOp::Sub
                        | BinaryOp::And
                        | BinaryOp::Or
                        | BinaryOp::Xor
                        | BinaryOp::Min
                        | BinaryOp::Max
                        | BinaryOp::Eq
                        | BinaryOp::Ne
                        | BinaryOp::Lt
                        | BinaryOp::Le,
                    ..
                )
        );
        plain && !nodes[n].ty.is_float() && nodes[n].ty.bits() <= 32
    };
    let float_operand = |n: usize| nodes[n].op.operands().iter().any(|o| nodes[o.index()].ty.is_float());
    let is_mux = |n: usize| lowered.muxes.iter().any(|m| m.index() == n);
    let light: Vec<usize> = on_cycle.into_iter().filter(|&n| is_light(n) && !float_operand(n) && !is_mux(n)).collect();
    if light.len() > MAX_CHAIN {
        return false;
    }
    match light.into_iter().find(|&n| latency[n] == 1) {
        Some(n) => {
            latency[n] = 0;
            true
        }
        None => false,
    }
}

/// The most operators in a row that gave up their register for a recurrence.
pub fn longest_chain(lowered: &Lowered, schedule: &Schedule) -> usize {
    let nodes = &lowered.nodes;
    let mut chains = vec![0; nodes.len()];
    for (n, node) in nodes.iter().enumerate().filter(|(n, _)| schedule.latency[*n] == 0) {
        let id = NodeId(n as u32);
        let gave_up = operators::node_latency(nodes, id, lowered.fabric) > 0 && !lowered.muxes.contains(&id);
        let before = node.op.operands().iter().map(|o| chains[o.index()]).max().unwrap_or(0);
        chains[n] = before + usize::from(gave_up);
    }
    chains.into_iter().max().unwrap_or(0)
}

/// The nodes hand joined integers on from PE to PE: such a link starts when its values are needed.
fn hands_on_joined(lowered: &Lowered, component: &[usize]) -> bool {
    let op = |id: &NodeId| &lowered.nodes[id.index()].op;
    component.iter().all(|&v| match &lowered.nodes[v].op {
        Op::Past { waves, .. } => *waves == Formula::Const(0),
        Op::Select(when, a, b) => {
            let enters = |n: &NodeId| component.contains(&n.index()) || matches!(op(n), Op::Join { .. });
            matches!(op(when), Op::Guard(_)) && enters(a) && enters(b)
        }
        _ => false,
    })
}

fn finish(
    lowered: &Lowered,
    latency: Vec<i64>,
    interval: i64,
    step: [i64; 2],
    mut ready: Vec<i64>,
    edges: &[Edge],
) -> Schedule {
    let n = lowered.nodes.len();
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let ids: Vec<_> = (0..n).map(|_| graph.add_node(())).collect();
    edges.iter().for_each(|e| {
        graph.add_edge(ids[e.from], ids[e.to], ());
    });
    let mut consumers: Vec<Vec<&Edge>> = vec![vec![]; n];
    edges.iter().for_each(|e| consumers[e.from].push(e));
    let mut latest = vec![i64::MAX; n];
    for group in &lowered.outputs {
        let time = group.ports.iter().map(|p| ready[p.value.index()].max(ready[p.enable.index()])).max().unwrap_or(0);
        for port in &group.ports {
            latest[port.value.index()] = ready[port.value.index()];
            latest[port.enable.index()] = latest[port.enable.index()].min(time);
        }
    }
    // tarjan_scc gives consumers before producers.
    for component in petgraph::algo::tarjan_scc(&graph) {
        let component: Vec<usize> = component.iter().map(|id| id.index()).collect();
        let alone = component.len() == 1 && consumers[component[0]].iter().all(|e| e.to != component[0]);
        if !alone && !hands_on_joined(lowered, &component) {
            continue;
        }
        // The least time from a node of the component to what reads it.
        let wait = |&v: &usize| {
            let outside = consumers[v].iter().filter(|e| !component.contains(&e.to));
            let limits = outside.map(|e| ready[e.to] - e.weight + step[0] * e.hop[0] + step[1] * e.hop[1]);
            limits.chain([latest[v]]).filter(|limit| *limit != i64::MAX).map(|limit| limit - ready[v]).min()
        };
        let wait = component.iter().filter_map(wait).min().unwrap_or(0).max(0);
        component.iter().for_each(|&v| ready[v] += wait);
    }
    Schedule { start: step.map(AxisStart::even), interval, ready, latency, ..Schedule::default() }
}
