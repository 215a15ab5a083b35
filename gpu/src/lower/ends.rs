//! What only the first or the last step does stands before or behind the time loop.
//!
//! ```text
//! C = k == 0 ? C_in : (C of the step before)         the C before the first step is C_in
//! if (k == 99) store C                               behind the loop: store the last C
//! ```
//!
//! So no step of the loop is at a border, and registers do not hold `C_in` until its end.

use super::tidy;
use crate::form::Cond;
use crate::ir::{NodeId, Op, ScalarId, Warp};

/// Does it where one warp runs all steps, and all lanes run them together.
pub fn ends(warp: &mut Warp) {
    let Some(time) = warp.time.clone().filter(|t| t.height.is_none() && !t.skewed) else { return };
    if !time.first.is_constant() || !time.last.is_constant() {
        return;
    }
    let steps = (time.first.constant, time.last.constant);
    let before = before(warp, time.scalar, steps);
    let behind = behind(warp, time.scalar, steps);
    if before || behind {
        tidy::order(warp);
        tidy::mark(warp, Some(time.scalar));
    }
}

/// The steps in which all of these conditions hold; `None`: something else than the step decides.
fn when(all: &[Cond], time: ScalarId, (first, last): (i64, i64)) -> Option<(i64, i64)> {
    let (mut low, mut high) = (first, last);
    for cond in all {
        let factor = cond.form.of(time);
        if cond.form.unit != 0 || cond.form.scalars.len() != 1 || factor.abs() != 1 {
            return None;
        }
        // factor t + constant >= 0, or == 0.
        let bound = -factor * cond.form.constant;
        if cond.equality || factor > 0 {
            low = low.max(bound);
        }
        if cond.equality || factor < 0 {
            high = high.min(bound);
        }
    }
    Some((low, high))
}

/// A guard that selects a value of the step before but in the first step becomes that value, with a start.
fn before(warp: &mut Warp, time: ScalarId, steps: (i64, i64)) -> bool {
    let mut changed = false;
    for k in 0..warp.nodes.len() {
        let Op::Guard(g) = &warp.nodes[k].op else { continue };
        let (start, past) = match when(&g.when, time, steps) {
            Some(at) if at == (steps.0, steps.0) => (g.then, g.otherwise),
            Some(at) if at == (steps.0 + 1, steps.1) => (g.otherwise, g.then),
            _ => continue,
        };
        let Op::Past { of, steps: 1, start: None } = warp.node(past).op else { continue };
        let other =
            |n: &crate::ir::Node| matches!(n.op, Op::Past { of: o, start: Some(s), .. } if o == of && s != start);
        if !warp.node(start).invariant || warp.nodes.iter().any(other) {
            continue;
        }
        let node = &mut warp.nodes[k];
        (node.op, node.row) = (Op::Past { of, steps: 1, start: Some(start) }, true);
        changed = true;
    }
    changed
}

/// A store in the last step alone becomes one behind the loop.
fn behind(warp: &mut Warp, time: ScalarId, steps: (i64, i64)) -> bool {
    let waits = warp.waits();
    let mut changed = false;
    for s in 0..warp.stores.len() {
        let store = &warp.stores[s];
        let (of, node) = (store.value, warp.node(store.value).clone());
        let (timed, others): (Vec<Cond>, Vec<Cond>) = store.when.iter().cloned().partition(|c| c.form.of(time) != 0);
        let last = when(&timed, time, steps) == Some((steps.1, steps.1));
        if timed.is_empty() || !last || node.after || node.invariant || !waits.contains_key(&of) {
            continue;
        }
        let value = NodeId(warp.nodes.len() as u32);
        warp.nodes.push(crate::ir::Node { op: Op::Last { of }, row: true, note: None, ..node });
        let store = &mut warp.stores[s];
        (store.value, store.when) = (value, others);
        for form in &mut store.at {
            form.constant += steps.1 * form.of(time);
            form.scalars.remove(&time);
        }
        changed = true;
    }
    changed
}
