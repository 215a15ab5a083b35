//! The values that the first and the last steps of a strip need.
//!
//! Problem: a warp has a part of the time loop, and its first [`Time::before`](crate::ir::Time) steps compute values for
//! results of the steps behind them. Not all of these values reach a result that the warp stores, nor do all those of the
//! last steps. In a window of 11 rows every step adds to 11 rows of results, but the first step of a warp to one.
//!
//! Terms: the *delay* of a value is the number of steps from it to the store of a result that uses it. A *ramp* is a number
//! of steps, at the start or at the end, that do without some values.
//!
//! Method: a value of step `t` reaches the stores of the steps from `t + least` to `t + most`, by the least and the most
//! delay. So the first steps need it from `before - most` on, and the last `least` steps do not need it. Each ramp gets one
//! more body of the step, without the values that none of its steps needs; its length saves most operations.
//!
//! ```text
//! 4 rows of a window: what step t adds to      most = least
//!   row p = 0    from step 0 on                     3        last 3 steps: not needed
//!   row p = 1    from step 1 on                     2        last 2 steps
//!   row p = 2    from step 2 on                     1
//!   row p = 3    from step 3 on                     0
//! a ramp of 2 steps: rows 2 and 3 at the start, rows 0 and 1 at the end
//! ```

use crate::ir::{Node, NodeId, Op, Warp};
use crate::model;

/// Steps at the start and at the end of a strip that have bodies of their own; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ramps {
    pub start: i64,
    pub end: i64,
}

/// Which values a ramp leaves out.
pub struct Needs {
    pub ramps: Ramps,
    /// By node.
    start: Vec<bool>,
    end: Vec<bool>,
}

/// The part of a strip's steps that the ramps have to save, at least, to be worth their text.
const WORTH: f64 = 0.01;

/// The least and the most steps from a value to a store.
type Delay = (i64, i64);

impl Needs {
    pub fn of(warp: &Warp) -> Needs {
        let none = || Needs { ramps: Ramps::default(), start: vec![], end: vec![] };
        let Some(time) = warp.time.as_ref().filter(|t| t.height.is_some() && !t.skewed) else { return none() };
        // The bodies of the ramps are those of the interior.
        if warp.has_no_interior()
            || warp.block.is_some()
            || warp.pairs.is_some()
            || warp.stores.iter().any(|s| warp.is_after(s))
        {
            return none();
        }
        let Some(delays) = delays(warp, time.before) else { return none() };
        // By node: the steps at the start, and those at the end, that do without it.
        let without = |of: &dyn Fn(Delay) -> i64| -> Vec<i64> {
            (0..delays.len()).map(|k| delays[k].filter(|_| may_miss(&warp.nodes[k])).map_or(0, of)).collect()
        };
        let (start, end) = (without(&|(_, most)| time.before - most), without(&|(least, _)| least));
        let work = |k: usize| if warp.nodes[k].row { warp.width } else { 0 };
        let all: i64 = (0..delays.len()).filter(|&k| may_miss(&warp.nodes[k])).map(work).sum();
        let saved = |of: &[i64], ramp: i64| ramp * (0..of.len()).filter(|&k| of[k] >= ramp).map(work).sum::<i64>();
        let best = |of: &[i64]| (1..=time.before).max_by_key(|&r| (saved(of, r), -r)).unwrap_or(0);
        let ramps = Ramps { start: best(&start), end: best(&end) };
        let steps = (saved(&start, ramps.start) + saved(&end, ramps.end)) as f64 / all.max(1) as f64;
        if !model::is_busy(warp) || steps < WORTH * model::likely_height(warp) {
            return none();
        }
        let marked = |of: &[i64], ramp: i64| of.iter().map(|&s| ramp > 0 && s >= ramp).collect();
        Needs { ramps, start: marked(&start, ramps.start), end: marked(&end, ramps.end) }
    }

    /// Whether the steps at the start, and those at the end, do without a value.
    pub fn without(&self, id: NodeId) -> (bool, bool) {
        let of = |marks: &[bool]| marks.get(id.index()).copied().unwrap_or(false);
        (of(&self.start), of(&self.end))
    }
}

/// Whether a node is an operation in a step, and not a value that is there anyhow or was asked for before.
fn may_miss(node: &Node) -> bool {
    let is_operation = !matches!(
        node.op,
        Op::Const(_)
            | Op::Argument { .. }
            | Op::Load { .. }
            | Op::Index(_)
            | Op::Holds(_)
            | Op::Past { .. }
            | Op::Last { .. }
            | Op::Fed { .. }
    );
    is_operation && !node.border && !node.invariant && !node.after
}

/// By node, its delays; `None` for a node that no store needs. `None` in all if a delay is beyond `most`.
fn delays(warp: &Warp, most: i64) -> Option<Vec<Option<Delay>>> {
    let mut found: Vec<Option<Delay>> = vec![None; warp.nodes.len()];
    warp.stores.iter().for_each(|s| found[s.value.index()] = Some((0, 0)));
    // Users stand behind, but for those of later steps: once more for each time that a value crosses steps.
    loop {
        let mut changed = false;
        for k in (0..warp.nodes.len()).rev() {
            let Some((least, longest)) = found[k] else { continue };
            let op = &warp.nodes[k].op;
            let past = match op {
                Op::Past { of, steps, .. } => Some((*of, *steps)),
                _ => None,
            };
            for (of, steps) in op.operands().into_iter().map(|o| (o, 0)).chain(past) {
                let new = (least + steps, longest + steps);
                let old = found[of.index()];
                let joined = old.map_or(new, |(a, b)| (a.min(new.0), b.max(new.1)));
                if joined.1 > most {
                    return None;
                }
                changed |= old != Some(joined);
                found[of.index()] = Some(joined);
            }
        }
        if !changed {
            return Some(found);
        }
    }
}
