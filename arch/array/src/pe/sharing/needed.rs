//! In which waves and PEs each node is needed.
//!
//! Problem: two nodes of one operation may be one operator if no wave in any PE needs the values of both.
//!
//! Terms: a *conjunction* is a list of conditions on the counters and the PE, a [`Region`] the waves and PEs in which
//! one of its conjunctions holds.
//!
//! Method: data-flow analysis, backwards from the outputs, which need their value where their enable holds. A
//! multiplexer needs each of its values where its condition selects it. A value of an earlier wave is needed where its
//! reader is, some waves and hops before. What of a conjunction may be different there is left out. Phases and sizes
//! are the same there: values pass from phase to phase through memory ([`uniform::system::Kind`]).
//!
//! Invariant: the regions are upper bounds. A node's value has no effect outside of its region.

use crate::draft::Lowered;
use crate::vsa::{NodeId, Op};
use scop::{BinaryOp, ScalarType};
use std::collections::BTreeMap;
use uniform::affine::{Condition, Form, Ranges};
use uniform::counters::Loops;
use uniform::sizes::Formula;

/// Conditions that hold together, sorted.
pub type Conjunction = Vec<Condition>;

/// Waves and PEs in which one of these holds; empty for none.
pub type Region = Vec<Conjunction>;

/// Conjunctions of one region at most; beyond that they are joined, and the region grows.
const MOST: usize = 32;
/// Conjunctions that the outcome of one condition is split into.
const MOST_OUTCOMES: usize = 6;

/// Where a condition holds, and where it fails.
#[derive(Clone)]
pub struct Outcome {
    pub holds: Region,
    pub fails: Region,
    /// The regions are no larger than that.
    pub exact: bool,
}

/// The region of every node.
pub fn regions(lowered: &Lowered, loops: Loops, ranges: &Ranges) -> Vec<Region> {
    let mut search = Search::new(lowered, loops, ranges);
    for port in lowered.outputs.iter().flat_map(|group| &group.ports) {
        for holds in search.outcome(port.enable).holds {
            search.want(port.value, holds.clone());
            search.want(port.enable, holds);
        }
    }
    while let Some((id, all)) = search.open.pop() {
        search.visit(id, &all);
    }
    search.regions
}

struct Search<'a> {
    lowered: &'a Lowered,
    ranges: &'a Ranges,
    /// Counters of phases, parameters included.
    phases: usize,
    /// Per counter, the waves in one of its iterations, at least.
    strides: Vec<i64>,
    regions: Vec<Region>,
    outcomes: BTreeMap<NodeId, Outcome>,
    /// Conjunctions that were added to a region and not yet to those of the node's operands.
    open: Vec<(NodeId, Conjunction)>,
}

impl<'a> Search<'a> {
    fn new(lowered: &'a Lowered, loops: Loops, ranges: &'a Ranges) -> Search<'a> {
        let least = |last: &Formula| match last {
            Formula::Const(last) => last + 1,
            Formula::ByCase(all) => {
                let last = |f: &Formula| if let Formula::Const(last) = f { *last } else { 0 };
                all.iter().map(last).min().unwrap_or(0) + 1
            }
            _ => 1,
        };
        let trips: Vec<i64> = loops.counters.iter().map(|c| least(&c.last)).collect();
        let strides = (0..trips.len()).map(|j| trips[j + 1..].iter().fold(1, |n: i64, t| n.saturating_mul(*t)));
        Search {
            lowered,
            ranges,
            phases: loops.phases(),
            strides: strides.collect(),
            regions: vec![vec![]; lowered.nodes.len()],
            outcomes: BTreeMap::new(),
            open: vec![],
        }
    }

    /// The node is needed where all of these conditions hold, too.
    fn want(&mut self, id: NodeId, all: Conjunction) {
        let region = &mut self.regions[id.index()];
        if region.iter().any(|other| contains(&all, other)) {
            return;
        }
        region.retain(|other| !contains(other, &all));
        let all = if region.len() < MOST {
            all
        } else {
            // With the one that has most in common.
            let common = |other: &Conjunction| all.iter().filter(|c| other.contains(c)).count();
            let near = (0..region.len()).max_by_key(|&k| common(&region[k])).unwrap_or(0);
            let other = region.swap_remove(near);
            let joined: Conjunction = all.into_iter().filter(|c| other.contains(c)).collect();
            region.retain(|other| !contains(other, &joined));
            joined
        };
        region.push(all.clone());
        self.open.push((id, all));
    }

    fn visit(&mut self, id: NodeId, all: &Conjunction) {
        let lowered = self.lowered;
        match &lowered.nodes[id.index()].op {
            Op::Past { source, hop, waves } => {
                let before = self.before(all, *hop, waves);
                self.want(*source, before);
            }
            Op::Select(c, a, b) => {
                self.want(*c, all.clone());
                let Outcome { holds, fails, .. } = self.outcome(*c);
                for (value, region) in [(*a, holds), (*b, fails)] {
                    for more in region {
                        if let Some(both) = both(self.ranges, all, &more) {
                            self.want(value, both);
                        }
                    }
                }
            }
            op => op.operands().into_iter().for_each(|operand| self.want(operand, all.clone())),
        }
    }

    /// The conditions that hold in the wave and PE that a value comes from, too.
    fn before(&self, all: &Conjunction, hop: [i64; 2], waves: &Formula) -> Conjunction {
        let same = self.same(all, waves);
        let holds = |c: &&Condition| {
            let time = c.form.counters.iter().skip(same).all(|x| *x == 0);
            time && (0..2).all(|a| hop[a] == 0 || c.form.space[a] == 0)
        };
        all.iter().filter(holds).cloned().collect()
    }

    /// How many counters, from the outside, are the same so many waves before.
    fn same(&self, all: &Conjunction, waves: &Formula) -> usize {
        let most = match waves {
            Formula::Const(0) => return self.strides.len(),
            Formula::Const(waves) => i128::from(*waves),
            waves => waves.range(&self.lowered.maxima).1,
        };
        let Some(bounds) = self.ranges.narrowed(all) else { return self.strides.len() };
        let mut inner = 0;
        for j in (self.phases..self.strides.len()).rev() {
            // Enough waves of this iteration of the next outer counter lie before.
            inner += i128::from(self.strides[j]) * i128::from(bounds[j].0);
            if inner >= most {
                return j;
            }
        }
        self.phases
    }

    fn outcome(&mut self, id: NodeId) -> Outcome {
        if let Some(outcome) = self.outcomes.get(&id) {
            return outcome.clone();
        }
        let outcome = outcome(self.ranges, self.lowered, id);
        self.outcomes.insert(id, outcome.clone());
        outcome
    }
}

/// Where a condition holds, and where it fails, as far as guards tell: upper bounds of both.
pub fn outcome(ranges: &Ranges, lowered: &Lowered, id: NodeId) -> Outcome {
    let anywhere = || vec![vec![]];
    match &lowered.nodes[id.index()].op {
        Op::Const(0) => Outcome { holds: vec![], fails: anywhere(), exact: true },
        Op::Const(_) => Outcome { holds: anywhere(), fails: vec![], exact: true },
        Op::Guard(all) => {
            let mut sorted = all.clone();
            sorted.sort();
            Outcome { holds: vec![sorted], fails: all.iter().flat_map(opposite).collect(), exact: true }
        }
        Op::Binary(BinaryOp::Or, a, b) => {
            let [a, b] = [*a, *b].map(|n| outcome(ranges, lowered, n));
            let fails: Region =
                a.fails.iter().flat_map(|x| b.fails.iter().filter_map(|y| both(ranges, x, y))).collect();
            let few = fails.len() <= MOST_OUTCOMES;
            let exact = a.exact && b.exact && few;
            Outcome { holds: [a.holds, b.holds].concat(), fails: if few { fails } else { anywhere() }, exact }
        }
        Op::Binary(BinaryOp::And, a, b) if lowered.nodes[id.index()].ty == ScalarType::BOOL => {
            let [a, b] = [*a, *b].map(|n| outcome(ranges, lowered, n));
            let holds: Region =
                a.holds.iter().flat_map(|x| b.holds.iter().filter_map(|y| both(ranges, x, y))).collect();
            let few = holds.len() <= MOST_OUTCOMES;
            let exact = a.exact && b.exact && few;
            Outcome { holds: if few { holds } else { anywhere() }, fails: [a.fails, b.fails].concat(), exact }
        }
        Op::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le), a, b) => {
            compared(ranges, lowered, *op, [*a, *b]).unwrap_or(Outcome {
                holds: anywhere(),
                fails: anywhere(),
                exact: false,
            })
        }
        _ => Outcome { holds: anywhere(), fails: anywhere(), exact: false },
    }
}

/// A comparison of iterators and constants.
fn compared(ranges: &Ranges, lowered: &Lowered, op: BinaryOp, sides: [NodeId; 2]) -> Option<Outcome> {
    let side = |id: NodeId| {
        let node = &lowered.nodes[id.index()];
        let ScalarType::Int { bits, signed } = node.ty else { return None };
        let most = 1i128 << (bits - u32::from(signed));
        let form = match &node.op {
            Op::Iter(form) => form.clone(),
            Op::Const(c) => Form { constant: scop::value::to_integer(*c, node.ty).try_into().ok()?, ..Form::default() },
            _ => return None,
        };
        // The iterator does not wrap around.
        let (low, high) = ranges.bounds(&form);
        let fits = (if signed { -most } else { 0 }) <= i128::from(low) && i128::from(high) < most;
        fits.then_some(form)
    };
    let [a, b] = sides.map(side);
    let (a, b) = (a?, b?);
    let counter = |f: &Form, j: usize| f.counters.get(j).copied().unwrap_or(0);
    let less = |by: i64| Form {
        constant: b.constant - a.constant - by,
        counters: (0..ranges.counters.len()).map(|j| counter(&b, j) - counter(&a, j)).collect(),
        space: [0, 1].map(|x| b.space[x] - a.space[x]),
    };
    let condition = match op {
        BinaryOp::Eq | BinaryOp::Ne => Condition { form: less(0), equality: true },
        BinaryOp::Lt => Condition { form: less(1), equality: false },
        _ => Condition { form: less(0), equality: false },
    };
    let (holds, fails) = (vec![vec![condition.clone()]], opposite(&condition));
    let (holds, fails) = if op == BinaryOp::Ne { (fails, holds) } else { (holds, fails) };
    Some(Outcome { holds, fails, exact: true })
}

/// The conjunctions that hold where the condition does not.
fn opposite(c: &Condition) -> Region {
    let less = |sign: i64| Condition {
        form: Form {
            constant: sign * c.form.constant - 1,
            counters: c.form.counters.iter().map(|x| sign * x).collect(),
            space: c.form.space.map(|x| sign * x),
        },
        equality: false,
    };
    if c.equality {
        vec![vec![less(1)], vec![less(-1)]]
    } else {
        vec![vec![less(-1)]]
    }
}

/// Both conjunctions together; `None` where they never hold together.
pub fn both(ranges: &Ranges, a: &Conjunction, b: &Conjunction) -> Option<Conjunction> {
    let mut all = [a.as_slice(), b.as_slice()].concat();
    all.sort();
    all.dedup();
    ranges.feasible(&all).then_some(all)
}

/// No wave in any PE is in both regions.
pub fn are_apart(ranges: &Ranges, a: &Region, b: &Region) -> bool {
    a.iter().all(|x| b.iter().all(|y| !ranges.feasible(x.iter().chain(y))))
}

/// All conditions of `some` are among `all`.
fn contains(all: &Conjunction, some: &Conjunction) -> bool {
    some.iter().all(|c| all.binary_search(c).is_ok())
}
