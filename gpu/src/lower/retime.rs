//! Sums wait instead of the values that they are made of.
//!
//! **Problem.** A stencil reads three rows of the sweep before. If rows wait in registers, each of them is moved to its
//! neighbours again in every step. If the sum that a row goes into is computed when the row comes, and waits in its place, a
//! row is moved once:
//!
//! ```text
//! y[i] = w0 x[i-1] + w1 hop x[i-1] + w2 x[i]           x[i-1] waits, and is moved when x[i] comes
//! s[i] = w0 x[i] + w1 hop x[i];  y[i] = s[i-1] + w2 x[i]    s waits; hop x is there for other sums of this step, too
//! ```
//!
//! **Method.** Retiming (C. Leiserson and J. Saxe, "Retiming synchronous circuitry"). Each node `v` may be computed `r(v)` steps
//! earlier: as many as the shortest wait on any path to it from what changes with the step. A use of `u` some steps later,
//! `w`, is one of `w + r(u) - r(v)` steps then, and none of these is negative.
//!
//! **Borders.** Where a cell keeps its value at a border, the value of the step before waits only for that:
//!
//! ```text
//! y = at border ? past x : f(past s)        becomes     y = at border ? past s' : f(past s')   with  s' = at border ? x : s
//! ```
//!
//! The interior has no guards, so `s'` is `s` there, and `x` waits nowhere.

use super::tidy;
use crate::form::Cond;
use crate::ir::{Guard, Node, NodeId, Op, ScalarId, Warp};
use rustc_hash::FxHashMap;

/// Does it if fewer registers wait and fewer rows are moved, together.
pub fn retime(warp: &mut Warp, time: ScalarId) {
    let mut other = warp.clone();
    let earlier = earlier(&other, time);
    move_earlier(&mut other, time, &earlier);
    join_equal(&mut other);
    tidy::order(&mut other);
    keep_in_sums(&mut other, time);
    tidy::order(&mut other);
    if cost(&other) < cost(warp) {
        *warp = other;
    }
}

/// Registers of a lane that wait, and shuffles of a step.
fn cost(warp: &Warp) -> i64 {
    let shuffles = warp.nodes.iter().map(|n| if let Op::Hop { by, .. } = n.op { by.abs().min(warp.width) } else { 0 });
    shuffles.sum::<i64>() + warp.waits().values().sum::<i64>() * warp.width
}

/// A node, and how many steps ago: a wait is no node of its own here.
fn waited(warp: &Warp, mut id: NodeId) -> (NodeId, i64) {
    let mut all = 0;
    while let Op::Past { of, steps, start: None } = warp.node(id).op {
        (id, all) = (of, all + steps);
    }
    (id, all)
}

/// Whether a node changes with the step by itself, not by its operands.
fn is_source(op: &Op, time: ScalarId) -> bool {
    match op {
        Op::Load { at, .. } => at.iter().any(|f| f.of(time) != 0),
        Op::Index(f) => f.of(time) != 0,
        Op::Holds(all) => all.iter().any(|c| c.form.of(time) != 0),
        Op::Past { start, .. } => start.is_some(),
        Op::Last { .. } | Op::Fed { .. } => true,
        _ => false,
    }
}

/// By node, the steps by which it is computed earlier; `None`: it is the same in all steps.
fn earlier(warp: &Warp, time: ScalarId) -> Vec<Option<i64>> {
    let mut steps: Vec<Option<i64>> = warp.nodes.iter().map(|n| is_source(&n.op, time).then_some(0)).collect();
    // What is there before the first step, or behind the last one, stays where it is.
    for node in &warp.nodes {
        if let Op::Past { of, start: Some(_), .. } | Op::Last { of } = node.op {
            steps[waited(warp, of).0.index()] = Some(0);
        }
    }
    let relax = |steps: &mut Vec<Option<i64>>| loop {
        let mut changed = false;
        for (k, node) in warp.nodes.iter().enumerate() {
            let all = node.op.operands().into_iter().chain(match node.op {
                Op::Past { of, start: None, .. } => Some(of),
                _ => None,
            });
            let wait = if let Op::Past { steps, start: None, .. } = node.op { steps } else { 0 };
            // A guard may select what never changes in the first step: there is no step before.
            let still = matches!(node.op, Op::Guard(_)).then_some(0);
            let least = all.filter_map(|o| steps[o.index()].map(|s| s + wait).or(still)).min();
            if let Some(least) = least.filter(|l| steps[k].is_none_or(|s| *l < s)) {
                (steps[k], changed) = (Some(least), true);
            }
        }
        if !changed {
            return;
        }
    };
    relax(&mut steps);
    // Values that wait for themselves alone.
    let recurrent: Vec<usize> = (0..steps.len())
        .filter(|&k| steps[k].is_none() && matches!(warp.nodes[k].op, Op::Past { .. } | Op::Guard(_)))
        .collect();
    recurrent.into_iter().for_each(|k| steps[k] = Some(0));
    relax(&mut steps);
    steps
}

/// The condition as it is some steps later.
fn later(all: &[Cond], time: ScalarId, steps: i64) -> Vec<Cond> {
    let moved = |c: &Cond| Cond { form: c.form.plus(steps * c.form.of(time)), ..c.clone() };
    all.iter().map(moved).collect()
}

fn move_earlier(warp: &mut Warp, time: ScalarId, earlier: &[Option<i64>]) {
    let old = warp.clone();
    let mut pasts: FxHashMap<(NodeId, i64), NodeId> = FxHashMap::default();
    // The value of an old node, for a user that is computed `by` steps earlier.
    let mut operand = |nodes: &mut Vec<Node>, id: NodeId, by: i64| {
        let (of, wait) = waited(&old, id);
        let Some(own) = earlier[of.index()] else { return of };
        match wait + own - by {
            0 => of,
            steps => *pasts.entry((of, steps)).or_insert_with(|| {
                let node =
                    Node { op: Op::Past { of, steps, start: None }, row: true, note: None, ..old.node(of).clone() };
                nodes.push(node);
                NodeId(nodes.len() as u32 - 1)
            }),
        }
    };
    for (k, node) in old.nodes.iter().enumerate() {
        if matches!(node.op, Op::Past { start: None, .. }) {
            continue;
        }
        let by = earlier[k].unwrap_or(0);
        let mut new = FxHashMap::default();
        for o in node.op.operands() {
            new.insert(o, operand(&mut warp.nodes, o, by));
        }
        let mut op = node.op.map(|o| new.get(&o).copied().unwrap_or(o));
        if let Op::Guard(g) = &mut op {
            g.when = later(&g.when, time, by);
        }
        warp.nodes[k].op = op;
    }
    for store in &mut warp.stores {
        store.value = operand(&mut warp.nodes, store.value, 0);
    }
}

/// Makes equal nodes one.
fn join_equal(warp: &mut Warp) {
    loop {
        let mut known = FxHashMap::default();
        let same: Vec<NodeId> = (warp.nodes.iter().enumerate())
            .map(|(k, n)| *known.entry((n.op.clone(), n.ty)).or_insert(NodeId(k as u32)))
            .collect();
        if known.len() == warp.nodes.len() {
            return;
        }
        let mut changed = false;
        for node in &mut warp.nodes {
            let op = node.op.map(|o| same[o.index()]);
            changed |= op != node.op;
            node.op = op;
        }
        warp.stores.iter_mut().for_each(|s| s.value = same[s.value.index()]);
        if !changed {
            return;
        }
    }
}

/// See the head of the file: borders.
fn keep_in_sums(warp: &mut Warp, time: ScalarId) {
    let mut uses = warp.uses();
    for k in 0..warp.nodes.len() {
        if let Some(kept) = Kept::find(warp, NodeId(k as u32), &uses) {
            kept.join(warp, time);
            uses = warp.uses();
        }
    }
}

/// Guards that select a value of an earlier step, and the sum of that step.
struct Kept {
    guards: Vec<NodeId>,
    /// The value that waits for the guards, and how many steps.
    value: NodeId,
    steps: i64,
    /// The wait of the sum.
    past: NodeId,
    sum: NodeId,
}

impl Kept {
    /// Those that begin with this node. `uses`: of each node.
    fn find(warp: &Warp, first: NodeId, uses: &[usize]) -> Option<Kept> {
        let guard = |id: NodeId| match &warp.node(id).op {
            Op::Guard(g) if !g.inside => Some((g.then, g.otherwise)),
            _ => None,
        };
        let (then, mut rest) = guard(first)?;
        let Op::Past { of: value, steps, start: None } = warp.node(then).op else { return None };
        let mut guards = vec![first];
        while let Some((_, next)) = guard(rest).filter(|g| g.0 == then && uses[rest.index()] == 1) {
            guards.push(rest);
            rest = next;
        }
        if uses[then.index()] != guards.len() {
            return None;
        }
        // The sum that the last one selects otherwise, as far as nothing else uses it.
        let mut open = vec![rest];
        while let Some(id) = open.pop().filter(|id| uses[id.index()] == 1) {
            match warp.node(id).op {
                Op::Past { of: sum, steps: own, start: None } => {
                    let alike = warp.node(sum).ty == warp.node(value).ty && own == steps && sum != value;
                    if alike && uses[sum.index()] == 1 {
                        return Some(Kept { guards, value, steps, past: id, sum });
                    }
                }
                ref op => open.extend(op.operands()),
            }
        }
        None
    }

    fn join(&self, warp: &mut Warp, time: ScalarId) {
        let mut joined = self.sum;
        for &id in self.guards.iter().rev() {
            let Op::Guard(g) = &warp.node(id).op else { continue };
            let when = later(&g.when, time, self.steps);
            let guard = Guard { when, then: self.value, otherwise: joined, inside: false, side: None };
            let node = Node { op: Op::Guard(guard), row: true, note: None, ..warp.node(self.sum).clone() };
            warp.nodes.push(node);
            joined = NodeId(warp.nodes.len() as u32 - 1);
        }
        for &id in &self.guards {
            if let Op::Guard(g) = &mut warp.nodes[id.index()].op {
                g.then = self.past;
            }
        }
        if let Op::Past { of, .. } = &mut warp.nodes[self.past.index()].op {
            *of = joined;
        }
    }
}
