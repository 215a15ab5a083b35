//! Which units are one operator.
//!
//! **Problem.** Units of one class with disjoint regions may be one operator. Each port then takes its values through a
//! multiplexer. Wanted is the partition of the units with the least sum of operators and multiplexer inputs, in which
//! no node is ready later than without sharing ([`super::timing`]; a circle within a wave would be too late, too).
//!
//! **Method.** Depth first over the units in the order of the schedule, so that operands are placed before their
//! readers. A unit joins an operator or gets one of its own; the cheapest way is tried first. Units of a class that
//! pairwise meet need as many operators: that bounds what the rest costs at least. Graph merging is NP-hard (Moreano et
//! al., 2005): the search stops after [`STEPS`] and tells the gap between its answer and the bound.
//!
//! **Example.** Phase 0 computes `a * b + c * d`, phase 1 `e * f`: two multipliers, since the products of phase 0 meet.

use super::needed::{are_apart, Region};
use super::timing::{Joined, Timing};
use super::units::{Leaf, Units};
use crate::draft::Lowered;
use crate::vsa::{NodeId, Op};
use std::collections::BTreeMap;
use uniform::affine::Ranges;
use uniform::sizes::Formula;

/// Units that are placed anew at most.
const STEPS: usize = 100;
/// Operators that a unit is compared with, and units from which a bound starts.
const NEAR: usize = 24;
/// The last units, for which all ways are tried.
const LAST: usize = 64;
/// A unit in an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub unit: usize,
    /// Its first two ports change places.
    pub swapped: bool,
}

/// Units that are one operator.
pub type Slot = Vec<Member>;

/// Operators, with their cost in LUTs.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub slots: Vec<Slot>,
    pub cost: i64,
    /// No choice costs less.
    pub bound: i64,
}

/// The best choice that is found; `None` if no two units may be one.
pub fn choose(lowered: &Lowered, units: &Units, ranges: &Ranges, regions: &[Region], timing: Timing) -> Option<Choice> {
    let mut search = Search::new(lowered, units, ranges, regions, timing)?;
    search.begin();
    let bound = search.bound.min(search.best.as_ref()?.cost);
    search.best.filter(|best| best.slots.iter().any(|slot| slot.len() > 1)).map(|best| Choice { bound, ..best })
}

/// What a port takes, once operands are placed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Value {
    node: NodeId,
    /// It is the node's value of another wave or PE.
    past: Option<([i64; 2], Formula)>,
    negated: bool,
}

struct Search<'a> {
    lowered: &'a Lowered,
    units: &'a Units,
    timing: Timing,
    /// Per unit, those that it may be one with, as bits.
    apart: Vec<Vec<u64>>,
    /// Per class, operators at least.
    least: Vec<usize>,
    /// Per class, LUTs that an operator is worth.
    weights: Vec<i64>,
    /// Per node, its unit.
    of: BTreeMap<NodeId, usize>,
    slots: Vec<Slot>,
    /// Per unit that is placed, its operator.
    placed: Vec<Option<usize>>,
    /// Per class, operators.
    open: Vec<usize>,
    steps: usize,
    bound: i64,
    best: Option<Choice>,
}

impl<'a> Search<'a> {
    fn new(
        lowered: &'a Lowered,
        units: &'a Units,
        ranges: &Ranges,
        regions: &[Region],
        timing: Timing,
    ) -> Option<Search<'a>> {
        let n = units.list.len();
        let (apart, any) = apart(units, ranges, regions);
        if !any {
            return None;
        }
        let meets = |a: usize, b: usize| apart[a][b / 64] >> (b % 64) & 1 == 0;
        let class = |c: usize| (0..n).filter(move |&u| units.list[u].class == c);
        // Units that pairwise meet, from each unit on.
        let clique = |c: usize, from: usize| {
            let mut all = vec![from];
            for u in class(c).filter(|&u| u != from) {
                if all.iter().all(|&v| meets(u, v)) {
                    all.push(u);
                }
            }
            all.len()
        };
        let least: Vec<usize> =
            (0..units.classes.len()).map(|c| class(c).take(NEAR).map(|u| clique(c, u)).max().unwrap_or(0)).collect();
        let weights: Vec<i64> =
            (0..least.len()).map(|c| class(c).map(|u| units.list[u].weight).max().unwrap_or(0)).collect();
        let of = units.list.iter().enumerate().flat_map(|(u, unit)| unit.nodes.iter().map(move |&n| (n, u))).collect();
        Some(Search {
            lowered,
            units,
            timing,
            apart,
            bound: least.iter().zip(&weights).map(|(&k, w)| k as i64 * w).sum(),
            open: vec![0; least.len()],
            least,
            weights,
            of,
            slots: vec![],
            placed: vec![None; n],
            steps: n.min(LAST) + STEPS,
            best: None,
        })
    }

    /// Places all units: the first ones where they cost least, the [`LAST`] ones in all ways.
    fn begin(&mut self) {
        let first = self.units.list.len().saturating_sub(LAST);
        let mut cost = 0;
        for u in 0..first {
            let ways = self.ways(u);
            let joins = ways.into_iter().find_map(|(more, k, swapped)| {
                self.join(self.slots[k][0].unit, u)?;
                Some((more, k, swapped))
            });
            match joins {
                Some((more, k, swapped)) => {
                    self.slots[k].push(Member { unit: u, swapped });
                    self.placed[u] = Some(k);
                    cost += more;
                }
                None => cost += self.alone(u),
            }
        }
        self.place(first, cost);
    }

    /// Gives unit `u` an operator of its own; its cost.
    fn alone(&mut self, u: usize) -> i64 {
        let (member, class) = (Member { unit: u, swapped: false }, self.units.list[u].class);
        self.placed[u] = Some(self.slots.len());
        self.slots.push(vec![member]);
        self.open[class] += 1;
        self.weights[class] + self.muxes(&[member], class).unwrap_or(0)
    }

    /// The operators that unit `u` may join, each with what it costs more, and whether its ports change places; the
    /// cheapest first.
    fn ways(&self, u: usize) -> Vec<(i64, usize, bool)> {
        let class = self.units.list[u].class;
        let alone = self.muxes(&[Member { unit: u, swapped: false }], class).unwrap_or(0);
        let fits = |slot: &Slot| {
            self.units.list[slot[0].unit].class == class && slot.iter().all(|m| self.are_apart(m.unit, u))
        };
        let swaps: &[bool] = if self.units.classes[class].commutes { &[false, true] } else { &[false] };
        let mut ways: Vec<(i64, usize, bool)> = vec![];
        for (k, slot) in self.slots.iter().enumerate().filter(|(_, slot)| fits(slot)).take(NEAR) {
            let before = self.muxes(slot, class).unwrap_or(0);
            let with = |swapped: bool| {
                let all: Slot = slot.iter().copied().chain([Member { unit: u, swapped }]).collect();
                Some((self.muxes(&all, class)? - before, k, swapped))
            };
            ways.extend(swaps.iter().filter_map(|&s| with(s)).min());
        }
        ways.retain(|way| way.0 < self.weights[class] + alone);
        ways.sort();
        ways
    }

    /// Places unit `u` and all behind it. `cost`: of those in front.
    fn place(&mut self, u: usize, cost: i64) {
        let rest = |c: usize| self.least[c].saturating_sub(self.open[c]) as i64 * self.weights[c];
        let least = cost + (0..self.least.len()).map(rest).sum::<i64>();
        if self.best.as_ref().is_some_and(|best| self.steps == 0 || least >= best.cost) {
            return;
        }
        if u == self.units.list.len() {
            let cost = self.cost();
            if self.best.as_ref().is_none_or(|best| cost < best.cost) {
                self.best = Some(Choice { slots: self.slots.clone(), cost, bound: 0 });
            }
            return;
        }
        self.steps = self.steps.saturating_sub(1);
        for (more, k, swapped) in self.ways(u) {
            let Some(joined) = self.join(self.slots[k][0].unit, u) else { continue };
            self.slots[k].push(Member { unit: u, swapped });
            self.placed[u] = Some(k);
            self.place(u + 1, cost + more);
            self.placed[u] = None;
            self.slots[k].pop();
            joined.into_iter().rev().for_each(|j| self.timing.part(j));
        }
        let more = self.alone(u);
        self.place(u + 1, cost + more);
        self.open[self.units.list[u].class] -= 1;
        self.slots.pop();
        self.placed[u] = None;
    }

    fn are_apart(&self, a: usize, b: usize) -> bool {
        self.apart[a][b / 64] >> (b % 64) & 1 == 1
    }

    /// Makes the nodes of two units one; `None` if some node would be too late.
    fn join(&mut self, into: usize, unit: usize) -> Option<Vec<Joined>> {
        let units = self.units;
        let mut joined = vec![];
        for (a, b) in units.list[into].nodes.iter().zip(&units.list[unit].nodes) {
            match self.timing.join(a.index(), b.index()) {
                Some(j) => joined.push(j),
                None => {
                    joined.into_iter().rev().for_each(|j| self.timing.part(j));
                    return None;
                }
            }
        }
        Some(joined)
    }

    fn cost(&self) -> i64 {
        let slot = |slot: &Slot| {
            let class = self.units.list[slot[0].unit].class;
            self.weights[class] + self.muxes(slot, class).unwrap_or(0)
        };
        self.slots.iter().map(slot).sum()
    }

    /// LUTs of the multiplexers in front of an operator; `None` if one has too many inputs.
    fn muxes(&self, slot: &[Member], class: usize) -> Option<i64> {
        let types = &self.units.classes[class].types;
        let mut luts = 0;
        for (port, ty) in types.iter().enumerate() {
            let from = |m: &Member| if m.swapped && port < 2 { 1 - port } else { port };
            let taken = slot.iter().map(|m| self.units.list[m.unit].taken[from(m)]).min().unwrap_or(0);
            // Whether each value is there a cycle earlier.
            let mut values: BTreeMap<Value, bool> = BTreeMap::new();
            for member in slot {
                for leaf in &self.units.list[member.unit].ports[from(member)] {
                    let early = self.units.is_early(self.lowered, member.unit, leaf, taken);
                    // Early for each that takes it.
                    *values.entry(self.value(leaf)).or_insert(early) &= early;
                }
            }
            let constant =
                |v: &&Value| v.past.is_none() && matches!(self.lowered.nodes[v.node.index()].op, Op::Const(_));
            let constants = values.keys().filter(constant).count();
            let others = values.len() - constants;
            if slot.len() > 1 {
                self.units.mux(values.len(), constants, values.values().filter(|early| **early).count())?;
            }
            // A LUT selects one of two or three values, and zeroes them.
            let levels = (others as i64) / 2 + i64::from(others > 0 && constants > 1);
            luts += levels * i64::from(ty.bits());
        }
        Some(luts)
    }

    fn value(&self, leaf: &Leaf) -> Value {
        let (node, past) = match &self.lowered.nodes[leaf.node.index()].op {
            Op::Past { source, hop, waves } => (*source, Some((*hop, waves.clone()))),
            _ => (leaf.node, None),
        };
        let placed = self.of.get(&node).and_then(|&u| self.placed[u]);
        let stands = placed.map_or(node, |k| self.units.list[self.slots[k][0].unit].value());
        Value { node: stands, past, negated: leaf.negated }
    }
}

/// Per unit, those of its class that some PE has, too, and that no wave needs together with it, as bits; and whether
/// there are any.
fn apart(units: &Units, ranges: &Ranges, regions: &[Region]) -> (Vec<Vec<u64>>, bool) {
    let n = units.list.len();
    // Equal regions are asked once.
    let mut distinct: Vec<&Region> = vec![];
    let region: Vec<usize> = units
        .list
        .iter()
        .map(|unit| {
            let region = &regions[unit.value().index()];
            distinct.iter().position(|other| *other == region).unwrap_or_else(|| {
                distinct.push(region);
                distinct.len() - 1
            })
        })
        .collect();
    let mut answers: BTreeMap<(usize, usize), bool> = BTreeMap::new();
    let mut all = vec![vec![0u64; n / 64 + 1]; n];
    let mut any = false;
    for a in 0..n {
        for b in a + 1..n {
            // Where no PE has both, one operator for both saves nothing.
            let (here, there) = (&units.list[a].pes, &units.list[b].pes);
            let meet = (0..2).all(|x| here[x].0 <= there[x].1 && there[x].0 <= here[x].1);
            if units.list[a].class != units.list[b].class || region[a] == region[b] || !meet {
                continue;
            }
            let key = (region[a].min(region[b]), region[a].max(region[b]));
            let apart = *answers.entry(key).or_insert_with(|| are_apart(ranges, distinct[key.0], distinct[key.1]));
            if apart {
                any = true;
                all[a][b / 64] |= 1 << (b % 64);
                all[b][a / 64] |= 1 << (a % 64);
            }
        }
    }
    (all, any)
}
