//! Which PEs need a node. All PEs are one module, but a guard that can never hold at a place is a constant there, so
//! synthesis removes what only that guard selects: a triangular array divides on its diagonal only.

use crate::affine::Ranges;
use crate::affine::Condition;
use crate::ir::vsa::{NodeId, Op, Vsa};
use frontend::scop::BinaryOp;
use std::cell::RefCell;
use std::collections::HashMap;

/// Whether a condition holds at one place: in some waves, in all that matter, or in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Never,
    Sometimes,
    Always,
}

/// Where the array needs each node.
pub struct Needed {
    /// Per node, the number of PEs in which something stored depends on it.
    pub count: Vec<i64>,
    /// Per node, registers (as wide as the node) of all PEs that give an input on to their neighbours: those need it, or the
    /// ones behind them, though the PE itself may not.
    pub passed: Vec<i64>,
}

pub fn needed(vsa: &Vsa) -> Needed {
    let search = Search { vsa, ranges: Ranges { counters: vsa.counters.iter().map(|c| c.trip).collect(), extent: [1, 1] }, known: RefCell::default() };
    let same_everywhere = |all: &[Condition]| all.iter().all(|c| c.form.is_time_only()) || search.sometimes_everywhere(all);
    let pes = vsa.extent[0] * vsa.extent[1];
    if vsa.nodes.iter().all(|n| !matches!(&n.op, Op::Guard(all) if !same_everywhere(all))) {
        let seen = search.needed([[0, 0]].into_iter(), |_, _| Some([0, 0]));
        let there = |n: usize| seen[n].contains(&true);
        let count = (0..vsa.nodes.len()).map(|n| if there(n) { pes } else { 0 }).collect();
        return Needed { count, passed: (0..vsa.nodes.len()).map(|n| if there(n) { passed_everywhere(vsa, n) } else { 0 }).collect() };
    }
    let all = (0..vsa.extent[0]).flat_map(|p0| (0..vsa.extent[1]).map(move |p1| [p0, p1]));
    let inside = |p: [i64; 2]| (0..2).all(|a| (0..vsa.extent[a]).contains(&p[a]));
    let seen = search.needed(all, |p, hop| Some([p[0] - hop[0], p[1] - hop[1]]).filter(|&p| inside(p)));
    let there = |n: usize, p: [i64; 2]| seen[n].get(index(vsa, p)).is_some_and(|&x| x);
    let count = seen.iter().map(|s| s.iter().filter(|&&x| x).count() as i64).collect();
    Needed { count, passed: (0..vsa.nodes.len()).map(|n| passed(vsa, n, |p| there(n, p))).collect() }
}

fn index(vsa: &Vsa, p: [i64; 2]) -> usize {
    (p[0] * vsa.extent[1] + p[1]) as usize
}

/// Registers by which an input reaches all PEs that need it: along axis 1 from PE to PE, along axis 0 where waves enter.
fn passed(vsa: &Vsa, node: usize, needed: impl Fn([i64; 2]) -> bool) -> i64 {
    let Op::Input { group, .. } = vsa.nodes[node].op else { return 0 };
    let group = &vsa.inputs[group as usize];
    let (forward, away, readers) = (group.forward, group.away(vsa), group.readers());
    let [e0, e1] = vsa.extent;
    let hops = vsa.schedule.skew.map(i64::abs);
    let place = |at: [i64; 2]| [0, 1].map(|a| if vsa.schedule.skew[a] >= 0 { at[a] } else { vsa.extent[a] - 1 - at[a] });
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
    registers.iter().sum()
}

/// [`passed`] where all PEs need the node.
fn passed_everywhere(vsa: &Vsa, node: usize) -> i64 {
    let Op::Input { group, .. } = vsa.nodes[node].op else { return 0 };
    let (forward, [e0, e1]) = (vsa.inputs[group as usize].forward, vsa.inputs[group as usize].readers());
    let [h0, h1] = vsa.schedule.skew.map(i64::abs);
    match forward {
        [_, true] if e1 > 1 => {
            // From the first column on along the rows; where the column passes on, too, its PEs serve both ways.
            let both = if forward[0] { (e0 - 1) * (h0 - h1).max(0) } else { 0 };
            e0 * (e1 - 1) * h1 + both
        }
        [true, along] => (e0 - 1) * h0 * if along { 1 } else { e1 },
        _ => 0,
    }
}

struct Search<'a> {
    vsa: &'a Vsa,
    ranges: Ranges,
    /// Per node and place: what is known of guards, which many nodes ask for.
    known: RefCell<HashMap<(NodeId, [i64; 2]), Holds>>,
}

impl Search<'_> {
    /// Per node, in which of `places` (by index) it is needed; `from` is the place that a hop comes from, if there is one.
    fn needed(&self, places: impl Iterator<Item = [i64; 2]>, from: impl Fn([i64; 2], [i64; 2]) -> Option<[i64; 2]>) -> Vec<Vec<bool>> {
        let vsa = self.vsa;
        let mut seen = vec![vec![]; vsa.nodes.len()];
        let mut open: Vec<(NodeId, [i64; 2])> = Vec::new();
        for p in places {
            for port in vsa.outputs.iter().flat_map(|g| &g.ports) {
                if self.holds(port.enable, p) != Holds::Never {
                    open.extend([(port.value, p), (port.enable, p)]);
                }
            }
        }
        while let Some((id, p)) = open.pop() {
            let here: &mut Vec<bool> = &mut seen[id.index()];
            here.resize(here.len().max(index(vsa, p) + 1), false);
            if std::mem::replace(&mut here[index(vsa, p)], true) {
                continue;
            }
            match &vsa.node(id).op {
                Op::Past { source, hop, .. } => open.extend(from(p, *hop).map(|q| (*source, q))),
                Op::Select(c, a, b) => match self.holds(*c, p) {
                    Holds::Never => open.push((*b, p)),
                    Holds::Always => open.push((*a, p)),
                    Holds::Sometimes => open.extend([*c, *a, *b].map(|n| (n, p))),
                },
                op => open.extend(op.operands().into_iter().map(|n| (n, p))),
            }
        }
        seen
    }

    fn holds(&self, id: NodeId, p: [i64; 2]) -> Holds {
        match &self.vsa.node(id).op {
            Op::Guard(all) => {
                let known = self.known.borrow().get(&(id, p)).copied();
                known.unwrap_or_else(|| {
                    let holds = self.guard(all, p);
                    self.known.borrow_mut().insert((id, p), holds);
                    holds
                })
            }
            Op::Const(bits) => if *bits == 0 { Holds::Never } else { Holds::Always },
            Op::Binary(BinaryOp::Or, a, b) => match (self.holds(*a, p), self.holds(*b, p)) {
                (Holds::Always, _) | (_, Holds::Always) => Holds::Always,
                (Holds::Never, Holds::Never) => Holds::Never,
                _ => Holds::Sometimes,
            },
            _ => Holds::Sometimes,
        }
    }

    /// The guard holds in some waves of every PE: at the corners of the array, where conditions over different counters are
    /// bounds whose reach moves with the place.
    fn sometimes_everywhere(&self, all: &[Condition]) -> bool {
        let uses = |c: &Condition, j: usize| c.form.counters.get(j).is_some_and(|&x| x != 0);
        let apart = (0..self.ranges.counters.len()).all(|j| all.iter().filter(|c| uses(c, j)).count() <= 1);
        let [rows, columns] = [0, 1].map(|a| [0, self.vsa.extent[a] - 1]);
        let mut corners = rows.into_iter().flat_map(|p0| columns.map(|p1| [p0, p1]));
        apart && all.iter().all(|c| !c.equality) && corners.all(|p| self.guard(all, p) == Holds::Sometimes)
    }

    fn guard(&self, all: &[Condition], p: [i64; 2]) -> Holds {
        let here: Vec<Condition> = all.iter().map(|c| c.at(p)).collect();
        let fixed = |c: &Condition| self.ranges.bounds(&c.form).0 == self.ranges.bounds(&c.form).1;
        match (self.ranges.feasible(&here), here.iter().all(fixed)) {
            (false, _) => Holds::Never,
            (true, true) => Holds::Always,
            (true, false) => Holds::Sometimes,
        }
    }
}
