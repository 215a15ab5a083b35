//! Which PEs need a node.
//!
//! Problem: all PEs are one module, but a guard that can never hold in a PE is a constant there, and synthesis removes
//! what only that guard selects. A triangular array divides on its diagonal only. The cost model has to count dividers
//! on the diagonal only.
//!
//! Terms:
//! - *place*: the coordinates of a PE. A set of places is a bit set, in row-major order.
//! - *outcome* of a condition: the places where it holds in some waves, and those where it fails in some waves.
//! - a PE *needs* a node if a stored value depends on it there: backwards from the outputs over operands, over hops to
//!   the places where the values come from, and over a multiplexer only to the operands that it can select.
//!
//! Method: data-flow analysis over the nodes, backwards, with sets of places ([`Search::needed`]). A set only grows,
//! and a node is walked again for the words of its set that grew. If no guard depends on the place, one place stands
//! for all PEs ([`Needed::alike`]), which is most designs and the fast path.
//!
//! Example: in a 3 × 3 array `x = select(p0 == p1, a / b, c)` needs the division on the diagonal, where the guard
//! holds, and `c` elsewhere. The multiplexer chooses nowhere: where a guard holds in all waves or in none, it is a
//! wire.
//!
//! ```text
//! guard p0 == p1   holds 100   fails 011      division needed 100   c needed 011
//!                        010         101                      010            101
//!                        001         110                      001            110
//! ```
//!
//! Invariant: the sets are upper bounds. A place is in the set unless the node is certainly useless there.

use array::vsa::{Delay, NodeId, Op, Vsa};
use rustc_hash::FxHashMap;
use scop::{BinaryOp, ScalarType};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use uniform::affine::Condition;
use uniform::affine::Ranges;
use uniform::sizes::Formula;

/// The PEs that need each node.
pub struct Needed {
    /// Per node, the number of PEs that need it.
    pub count: Vec<i64>,
    /// Per node, the number of PEs in which a memory has a read port for it. Values that are read in the same cycle
    /// share the port of the first one.
    pub ports: Vec<i64>,
    /// Per node, PEs that pass an input on to a neighbour, by the delay of that hop. They need not use the input
    /// themselves.
    pub passed: Vec<Passed>,
    places: Table,
    /// Per node, the PEs that compute its operands: a hop brings them from other PEs.
    sources: Vec<Places>,
    /// Outcomes of the conditions of multiplexers.
    outcomes: FxHashMap<NodeId, Outcome>,
    /// PEs for each place: one, or all PEs of the array if one place stands for all.
    alike: i64,
}

impl Needed {
    /// PEs along each axis that need a node, if these PEs are a box.
    pub fn extent(&self, vsa: &Vsa, node: usize) -> Option<[i64; 2]> {
        if self.alike > 1 {
            return (self.count[node] > 0).then_some(vsa.extent);
        }
        let inside =
            || places(vsa.extent).enumerate().filter(|(k, _)| contains(self.places.of(node), *k)).map(|(_, p)| p);
        let along = |a: usize| Some(inside().map(|p| p[a]).max()? - inside().map(|p| p[a]).min()? + 1);
        let extent = [along(0)?, along(1)?];
        (extent[0] * extent[1] == self.count[node]).then_some(extent)
    }

    /// PEs that need a node.
    pub fn at(&self, node: NodeId) -> &[u64] {
        self.places.of(node.index())
    }

    /// PEs that compute the node's operands.
    pub fn source_at(&self, node: NodeId) -> &[u64] {
        &self.sources[node.index()]
    }

    /// A field that travels with the waves and is read at these times by these PEs. For each kind of PE: the cycles,
    /// from the first read on, after which it reads the field or passes it on, and the number of such PEs.
    pub fn along(&self, vsa: &Vsa, reads: &BTreeMap<i64, Places>) -> Vec<(Vec<i64>, i64)> {
        let ([down, along], all) = if self.alike > 1 { everywhere(vsa) } else { going_on(vsa, reads.values()) };
        let hops = vsa.schedule.hop_delays();
        let first = reads.keys().next().copied().unwrap_or(0);
        let reads = reads.iter().map(|(time, at)| (time - first, at));
        let mut alike = vec![(vec![], all)];
        for (cycles, here) in [(hops[0], &down), (hops[1], &along)].into_iter().chain(reads) {
            let split = |(taps, pes): (Vec<i64>, Places)| {
                let with = taps.iter().copied().chain([cycles]).collect();
                [(with, each(&pes, here, |a, b| a & b)), (taps, each(&pes, here, |a, b| a & !b))]
            };
            alike = alike.into_iter().flat_map(split).filter(|(_, pes)| count(pes) > 0).collect();
        }
        alike.into_iter().map(|(taps, pes)| (taps, self.alike * count(&pes))).collect()
    }

    /// PEs in which a multiplexer selects both of its values, and none of the `others` does. Elsewhere it is a wire or
    /// part of another multiplexer.
    pub fn choosing(&self, vsa: &Vsa, node: NodeId, others: impl Iterator<Item = NodeId>) -> i64 {
        let Some(all) = self.chooses(vsa, node) else { return 0 };
        let apart =
            others.filter_map(|n| self.chooses(vsa, n)).fold(all, |apart, other| each(&apart, &other, |a, b| a & !b));
        self.alike * count(&apart)
    }

    fn chooses(&self, vsa: &Vsa, node: NodeId) -> Option<Places> {
        let Op::Select(c, ..) = vsa.node(node).op else { return None };
        let Outcome { holds, fails } = self.outcomes.get(&c)?;
        Some(each(&each(self.places.of(node.index()), holds, |x, y| x & y), fails, |x, y| x & y))
    }
}

/// PEs by the delay of their hop to a neighbour.
pub type Passed = BTreeMap<i64, i64>;

pub fn needed(vsa: &Vsa) -> Needed {
    let search = Search {
        vsa,
        ranges: Ranges { counters: vsa.counters.iter().map(|c| c.trip).collect(), extent: [1, 1] },
        extent: vsa.extent,
        inside: RefCell::default(),
    };
    let same_everywhere =
        |all: &[Condition]| all.iter().all(|c| c.form.is_time_only()) || search.sometimes_everywhere(all);
    let pes = vsa.extent[0] * vsa.extent[1];
    if vsa.nodes.iter().all(|n| !matches!(&n.op, Op::Guard(all) if !same_everywhere(all))) {
        // No guard depends on the place.
        let (seen, outcomes) = Search { extent: [1, 1], ..search }.needed();
        let there = |n: usize| count(seen.of(n)) > 0;
        let count = (0..vsa.nodes.len()).map(|n| if there(n) { pes } else { 0 }).collect();
        let ports = ports(vsa, |n| seen.of(n).to_vec());
        let within = |n: usize| match vsa.nodes[n].op {
            Op::Past { hop, .. } => (0..2).map(|a| (vsa.extent[a] - hop[a].abs()).max(0)).product(),
            _ => pes,
        };
        let ports = ports.into_iter().enumerate().map(|(n, there)| there * within(n)).collect();
        let passed =
            (0..vsa.nodes.len()).map(|n| if there(n) { passed_everywhere(vsa, n) } else { Passed::new() }).collect();
        return Needed {
            count,
            ports,
            passed,
            sources: (0..vsa.nodes.len()).map(|n| seen.of(n).to_vec()).collect(),
            places: seen,
            outcomes,
            alike: pes,
        };
    }
    let (seen, outcomes) = search.needed();
    let count = (0..vsa.nodes.len()).map(|n| count(seen.of(n))).collect();
    let sources: Vec<Places> = (0..vsa.nodes.len()).map(|n| search.sources(n, seen.of(n))).collect();
    let ports = ports(vsa, |n| sources[n].clone());
    let passed = (0..vsa.nodes.len()).map(|n| passed(vsa, n, |p| contains(seen.of(n), index(vsa, p)))).collect();
    Needed { count, ports, passed, sources, places: seen, outcomes, alike: 1 }
}

/// See [`Needed::ports`]; `at`: PEs that compute a node's source.
fn ports(vsa: &Vsa, at: impl Fn(usize) -> Places) -> Vec<i64> {
    /// A port of a memory: source, waves, cycle of the read, and whether the read is registered.
    type Port<'a> = (NodeId, &'a Formula, (i64, bool));
    let mut shared: BTreeMap<Port, (usize, Places)> = BTreeMap::new();
    for (&id, &delay) in &vsa.schedule.delays {
        if let (Delay::Memory { read, synchronous }, Op::Past { source, waves, .. }) = (delay, &vsa.node(id).op) {
            let here = at(id.index());
            shared
                .entry((*source, waves, (read, synchronous)))
                .and_modify(|(_, all)| join(all, &here))
                .or_insert((id.index(), here));
        }
    }
    let mut ports = vec![0; vsa.nodes.len()];
    shared.into_values().for_each(|(first, at)| ports[first] = count(&at));
    ports
}

fn index(vsa: &Vsa, p: [i64; 2]) -> usize {
    (p[0] * vsa.extent[1] + p[1]) as usize
}

/// PEs over which an input reaches all PEs that need it: along axis 1 in every row, along axis 0 in the first column.
fn passed(vsa: &Vsa, node: usize, needed: impl Fn([i64; 2]) -> bool) -> Passed {
    let Op::Input { group, .. } = vsa.nodes[node].op else { return Passed::new() };
    let group = &vsa.inputs[group as usize];
    let (forward, away, readers) = (group.forward, group.away(vsa), group.readers());
    if forward == [false, false] {
        return Passed::new();
    }
    let [e0, e1] = vsa.extent;
    let hops = vsa.schedule.hop_delays();
    let place =
        |at: [i64; 2]| [0, 1].map(|a| if vsa.schedule.start[a].forward() { at[a] } else { vsa.extent[a] - 1 - at[a] });
    let mut wanted = vec![false; (e0 * e1) as usize];
    let mut registers = vec![0; (e0 * e1) as usize];
    for at in (0..e0).rev().flat_map(|i| (0..e1).rev().map(move |j| [i, j])) {
        if !wanted[index(vsa, at)] && !needed(place(at)) {
            continue;
        }
        let inside = (0..2).all(|a| (0..readers[a]).contains(&(at[a] - away[a])));
        let before = match at {
            _ if !inside => None,
            [i, j] if forward[1] && j > away[1] => Some((index(vsa, [i, j - 1]), hops[1])),
            [i, j] if forward[0] && i > away[0] => Some((index(vsa, [i - 1, j]), hops[0])),
            _ => None,
        };
        if let Some((k, hop)) = before {
            wanted[k] = true;
            registers[k] = hop.max(registers[k]);
        }
    }
    let mut all = Passed::new();
    registers.into_iter().filter(|&cycles| cycles > 0).for_each(|cycles| *all.entry(cycles).or_default() += 1);
    all
}

/// [`passed`] where all PEs need the node.
fn passed_everywhere(vsa: &Vsa, node: usize) -> Passed {
    let Op::Input { group, .. } = vsa.nodes[node].op else { return Passed::new() };
    let (forward, [e0, e1]) = (vsa.inputs[group as usize].forward, vsa.inputs[group as usize].readers());
    let [h0, h1] = vsa.schedule.hop_delays();
    let mut all = Passed::new();
    let mut pass = |cycles: i64, pes: i64| {
        if cycles > 0 && pes > 0 {
            *all.entry(cycles).or_default() += pes
        }
    };
    match forward {
        [_, true] if e1 > 1 => {
            // Along the rows. The PEs of the first column may pass on along both axes.
            let both = if forward[0] { e0 - 1 } else { 0 };
            pass(h1, e0 * (e1 - 1) - both);
            pass(h0.max(h1), both);
        }
        [true, along] => pass(h0, (e0 - 1) * if along { 1 } else { e1 }),
        _ => {}
    }
    all
}

/// PEs that pass a field on along axis 0 and along axis 1 if it is read in these places, and all PEs that have it. A
/// field travels along axis 0 in the first column and from there along axis 1.
fn going_on<'a>(vsa: &Vsa, reads: impl Iterator<Item = &'a Places>) -> ([Places; 2], Places) {
    let [mut down, mut along, mut all] = [(); 3].map(|_| vec![0; words(vsa.extent)]);
    reads.for_each(|at| join(&mut all, at));
    let [e0, e1] = vsa.extent;
    let place = |at: [i64; 2]| {
        index(vsa, [0, 1].map(|a| if vsa.schedule.start[a].forward() { at[a] } else { vsa.extent[a] - 1 - at[a] }))
    };
    for (i, j) in (0..e0).rev().flat_map(|i| (0..e1).rev().map(move |j| (i, j))) {
        let here = place([i, j]);
        for (on, next) in [
            (&mut along, (j + 1 < e1).then_some([i, j + 1])),
            (&mut down, (j == 0 && i + 1 < e0).then_some([i + 1, j])),
        ] {
            if next.is_some_and(|next| contains(&all, place(next))) {
                insert(on, here);
                insert(&mut all, here);
            }
        }
    }
    ([down, along], all)
}

/// [`going_on`] if one place stands for all.
fn everywhere(vsa: &Vsa) -> ([Places; 2], Places) {
    let one = |there: bool| of([1, 1], |_| there);
    (vsa.extent.map(|e| one(e > 1)), one(true))
}

fn places(extent: [i64; 2]) -> impl Iterator<Item = [i64; 2]> {
    (0..extent[0]).flat_map(move |p0| (0..extent[1]).map(move |p1| [p0, p1]))
}

/// A set of PEs, by [`index`].
pub type Places = Vec<u64>;

/// Words of a set: 64 places each.
fn words(extent: [i64; 2]) -> usize {
    (extent[0] * extent[1]) as usize / 64 + 1
}

fn of(extent: [i64; 2], holds: impl Fn([i64; 2]) -> bool) -> Places {
    let mut set = vec![0; words(extent)];
    places(extent).enumerate().for_each(|(k, p)| set[k / 64] |= u64::from(holds(p)) << (k % 64));
    set
}

fn all_of(extent: [i64; 2]) -> Places {
    let all = (extent[0] * extent[1]) as usize;
    (0..words(extent)).map(|k| if all >= 64 * (k + 1) { u64::MAX } else { (1 << (all - 64 * k)) - 1 }).collect()
}

fn contains(set: &[u64], place: usize) -> bool {
    set[place / 64] >> (place % 64) & 1 == 1
}

fn insert(set: &mut [u64], place: usize) {
    set[place / 64] |= 1 << (place % 64);
}

/// Adds the places of another set.
pub fn join(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

fn count(set: &[u64]) -> i64 {
    set.iter().map(|w| i64::from(w.count_ones())).sum()
}

fn each(a: &[u64], b: &[u64], f: impl Fn(u64, u64) -> u64) -> Places {
    a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
}

/// A set of PEs per node.
struct Table {
    words: usize,
    bits: Vec<u64>,
}

impl Table {
    fn none(nodes: usize, words: usize) -> Table {
        Table { words, bits: vec![0; nodes * words] }
    }
    fn of(&self, node: usize) -> &[u64] {
        &self.bits[node * self.words..][..self.words]
    }
    fn of_mut(&mut self, node: usize) -> &mut [u64] {
        &mut self.bits[node * self.words..][..self.words]
    }
}

/// The places where a condition holds in some waves, and those where it fails in some.
struct Outcome {
    holds: Places,
    fails: Places,
}

/// The places where a conjunction holds in some waves. An axis that it does not depend on has extent 1.
struct Feasible {
    extent: [i64; 2],
    answers: Vec<bool>,
}

impl Feasible {
    fn at(&self, [p0, p1]: [i64; 2]) -> bool {
        self.answers[(p0.min(self.extent[0] - 1) * self.extent[1] + p1.min(self.extent[1] - 1)) as usize]
    }
}

/// The places where all parts hold.
fn both(parts: &[Feasible], extent: [i64; 2]) -> Places {
    let (rows, others): (Vec<&Feasible>, Vec<&Feasible>) = parts.iter().partition(|part| part.extent[1] == 1);
    let (columns, others): (Vec<&Feasible>, Vec<&Feasible>) = others.into_iter().partition(|part| part.extent[0] == 1);
    let columns: Vec<i64> = (0..extent[1]).filter(|&p1| columns.iter().all(|part| part.at([0, p1]))).collect();
    let mut set = vec![0; words(extent)];
    for p0 in (0..extent[0]).filter(|&p0| rows.iter().all(|part| part.at([p0, 0]))) {
        columns
            .iter()
            .filter(|&&p1| others.iter().all(|part| part.at([p0, p1])))
            .for_each(|p1| insert(&mut set, (p0 * extent[1] + p1) as usize));
    }
    set
}

/// The conditions in parts that have no counter in common: the parts hold and fail independently.
fn independent(all: &[Condition]) -> Vec<Vec<&Condition>> {
    let meet =
        |a: &Condition, b: &Condition| a.form.counters.iter().zip(&b.form.counters).any(|(x, y)| *x != 0 && *y != 0);
    let mut parts: Vec<Vec<&Condition>> = vec![];
    for c in all {
        let (with, without): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|part| part.iter().any(|other| meet(other, c)));
        parts = without;
        parts.push(with.into_iter().flatten().chain([c]).collect());
    }
    parts
}

/// The work list of the analysis: places that need each node, and those of them not yet propagated to its operands.
struct Wanted {
    seen: Table,
    fresh: Table,
    /// Nodes with fresh places.
    open: Vec<NodeId>,
    /// Per node, the words that hold fresh places.
    within: Vec<Range<usize>>,
}

impl Wanted {
    /// Adds places that need a node: `at` gives each of these words of the set.
    fn want(&mut self, id: NodeId, words: &Range<usize>, at: impl Fn(usize) -> u64) {
        let (seen, fresh) =
            (&mut self.seen.of_mut(id.index())[words.clone()], &mut self.fresh.of_mut(id.index())[words.clone()]);
        let mut new = 0;
        for (k, (seen, fresh)) in seen.iter_mut().zip(fresh).enumerate() {
            let more = at(words.start + k) & !*seen;
            new |= more;
            *fresh |= more;
            *seen |= more;
        }
        if new != 0 {
            let within = &mut self.within[id.index()];
            if within.start == within.end {
                self.open.push(id);
                within.clone_from(words);
            } else {
                *within = within.start.min(words.start)..within.end.max(words.end);
            }
        }
    }

    /// Takes a node from the list. Its fresh places go to `places`, in these words.
    fn next(&mut self, places: &mut [u64]) -> Option<(NodeId, Range<usize>)> {
        let id = self.open.pop()?;
        let words = std::mem::take(&mut self.within[id.index()]);
        let fresh = &mut self.fresh.of_mut(id.index())[words.clone()];
        places[words.clone()].copy_from_slice(fresh);
        fresh.fill(0);
        let zeros = places[words.clone()].iter().take_while(|w| **w == 0).count();
        Some((id, words.start + zeros..words.end))
    }
}

struct Search<'a> {
    vsa: &'a Vsa,
    ranges: Ranges,
    /// Places along each axis: those of the array, or one for all.
    extent: [i64; 2],
    /// Per hop, the places that have a PE at its other end.
    inside: RefCell<FxHashMap<[i64; 2], Places>>,
}

impl Search<'_> {
    /// The places that need each node, and the outcomes of the multiplexers' conditions.
    fn needed(&self) -> (Table, FxHashMap<NodeId, Outcome>) {
        let vsa = self.vsa;
        let none = || Table::none(vsa.nodes.len(), words(self.extent));
        let mut wanted = Wanted { seen: none(), fresh: none(), open: vec![], within: vec![0..0; vsa.nodes.len()] };
        let everywhere = 0..words(self.extent);
        let operands: Vec<Vec<NodeId>> = vsa.nodes.iter().map(|node| node.op.operands()).collect();
        let mut outcomes: FxHashMap<NodeId, Outcome> = FxHashMap::default();
        for port in vsa.outputs.iter().flat_map(|g| &g.ports) {
            let at = &self.outcome(&mut outcomes, port.enable).holds;
            wanted.want(port.value, &everywhere, |k| at[k]);
            wanted.want(port.enable, &everywhere, |k| at[k]);
        }
        let [mut here, mut from] = [(); 2].map(|_| vec![0; words(self.extent)]);
        while let Some((id, within)) = wanted.next(&mut here) {
            match &vsa.node(id).op {
                Op::Past { source, hop, .. } => {
                    let within = self.behind(&here, &within, *hop, &mut from);
                    wanted.want(*source, &within, |k| from[k]);
                }
                Op::Select(c, a, b) => {
                    let Outcome { holds, fails } = self.outcome(&mut outcomes, *c);
                    wanted.want(*c, &within, |k| here[k] & holds[k] & fails[k]);
                    wanted.want(*a, &within, |k| here[k] & holds[k]);
                    wanted.want(*b, &within, |k| here[k] & fails[k]);
                }
                _ => operands[id.index()].iter().for_each(|&n| wanted.want(n, &within, |k| here[k])),
            }
        }
        (wanted.seen, outcomes)
    }

    /// The places where the operands of a node are that is needed at `at`.
    fn sources(&self, node: usize, at: &[u64]) -> Places {
        let mut all = at.to_vec();
        if let Op::Past { hop, .. } = self.vsa.nodes[node].op {
            let words = self.behind(at, &(0..at.len()), hop, &mut all);
            all[..words.start].fill(0);
            all[words.end..].fill(0);
        }
        all
    }

    /// Writes to `from` the places at the other end of a hop to `places`, which are in these words. Returns the words
    /// of `from`.
    fn behind(&self, places: &[u64], words: &Range<usize>, hop: [i64; 2], from: &mut [u64]) -> Range<usize> {
        if hop == [0, 0] || self.extent != self.vsa.extent {
            from[words.clone()].copy_from_slice(&places[words.clone()]);
            return words.clone();
        }
        let mut hops = self.inside.borrow_mut();
        let inside = hops
            .entry(hop)
            .or_insert_with(|| of(self.extent, |p| (0..2).all(|a| (0..self.extent[a]).contains(&(p[a] - hop[a])))));
        let by = hop[0] * self.extent[1] + hop[1];
        let all = from.len() as i64;
        let to = |k: usize, more: i64| (k as i64 - by.div_euclid(64) + more).clamp(0, all) as usize;
        let within = to(words.start, -1)..to(words.end, 0);
        let at = |k: i64| usize::try_from(k).ok().filter(|k| words.contains(k)).map_or(0, |k| places[k] & inside[k]);
        let (apart, bits) = (by.div_euclid(64), by.rem_euclid(64) as u32);
        for k in within.clone() {
            let first = k as i64 + apart;
            from[k] = at(first) >> bits | if bits > 0 { at(first + 1) << (64 - bits) } else { 0 };
        }
        within
    }

    fn outcome<'k>(&self, outcomes: &'k mut FxHashMap<NodeId, Outcome>, id: NodeId) -> &'k Outcome {
        if !outcomes.contains_key(&id) {
            let (none, all) = (|| vec![0; words(self.extent)], || all_of(self.extent));
            let outcome = match &self.vsa.node(id).op {
                Op::Guard(conditions) => self.guards(conditions),
                Op::Const(0) => Outcome { holds: none(), fails: all() },
                Op::Const(_) => Outcome { holds: all(), fails: none() },
                &Op::Binary(op @ (BinaryOp::Or | BinaryOp::And), a, b) if self.vsa.node(id).ty == ScalarType::BOOL => {
                    let [a, b] = [a, b].map(|n| {
                        let Outcome { holds, fails } = self.outcome(outcomes, n);
                        [holds.clone(), fails.clone()]
                    });
                    let (either, both) =
                        (|k: usize| each(&a[k], &b[k], |x, y| x | y), |k: usize| each(&a[k], &b[k], |x, y| x & y));
                    match op {
                        BinaryOp::Or => Outcome { holds: either(0), fails: both(1) },
                        _ => Outcome { holds: both(0), fails: either(1) },
                    }
                }
                _ => Outcome { holds: all(), fails: all() },
            };
            outcomes.insert(id, outcome);
        }
        &outcomes[&id]
    }

    fn guards(&self, all: &[Condition]) -> Outcome {
        let parts: Vec<Feasible> = independent(all).iter().map(|part| self.feasible(part)).collect();
        let holds = both(&parts, self.extent);
        let everywhere = all_of(self.extent);
        let fails = if all.iter().all(|c| self.is_fixed(c)) {
            each(&everywhere, &holds, |all, holds| all & !holds)
        } else {
            everywhere
        };
        Outcome { holds, fails }
    }

    /// The condition holds in all waves of a place or in none.
    fn is_fixed(&self, condition: &Condition) -> bool {
        let (least, greatest) = self.ranges.bounds(&condition.form);
        least == greatest
    }

    /// The places where the conditions hold together in some wave. Places with the same constants share an answer.
    fn feasible(&self, all: &[&Condition]) -> Feasible {
        // One place stands for all along an axis that no condition reads.
        let extent = [0, 1].map(|a| if all.iter().any(|c| c.form.space[a] != 0) { self.extent[a] } else { 1 });
        let mut answers: FxHashMap<Vec<i64>, bool> = FxHashMap::default();
        let mut answer = |p: [i64; 2]| {
            let constants = all.iter().map(|c| c.form.space[0] * p[0] + c.form.space[1] * p[1]).collect();
            *answers
                .entry(constants)
                .or_insert_with(|| self.ranges.feasible(&all.iter().map(|c| c.at(p)).collect::<Vec<_>>()))
        };
        Feasible { extent, answers: places(extent).map(&mut answer).collect() }
    }

    /// The guard holds in some waves of every PE and fails in others. It suffices to look at the corners of the array
    /// if each counter is bounded by one condition.
    fn sometimes_everywhere(&self, all: &[Condition]) -> bool {
        let uses = |c: &Condition, j: usize| c.form.counters.get(j).is_some_and(|&x| x != 0);
        let apart = (0..self.ranges.counters.len()).all(|j| all.iter().filter(|c| uses(c, j)).count() <= 1);
        let [rows, columns] = [0, 1].map(|a| [0, self.vsa.extent[a] - 1]);
        let mut corners = rows.into_iter().flat_map(|p0| columns.map(|p1| [p0, p1]));
        apart && all.iter().all(|c| !c.equality) && corners.all(|p| self.sometimes(all, p))
    }

    /// The guard holds in some waves of this place and fails in others.
    fn sometimes(&self, all: &[Condition], p: [i64; 2]) -> bool {
        let here: Vec<Condition> = all.iter().map(|c| c.at(p)).collect();
        self.ranges.feasible(&here) && !here.iter().all(|c| self.is_fixed(c))
    }
}
