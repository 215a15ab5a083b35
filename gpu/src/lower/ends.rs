//! What only the first or the last step does stands before or behind the time loop.
//!
//! ```text
//! C = k == 0 ? C_in : (C of the step before)         the C before the first step is C_in
//! if (k == 99) store C                               behind the loop: store the last C
//! ```
//!
//! So no step of the loop is at a border, and registers do not hold `C_in` until its end.

use super::tidy;
use crate::form::{Cond, Form};
use crate::ir::{NodeId, Op, ScalarId, Warp};

/// Does it where one warp runs all steps, and all lanes run them together.
pub fn ends(warp: &mut Warp) {
    let Some(time) = warp.time.clone().filter(|t| t.height.is_none() && !t.skewed) else { return };
    let by_sizes = |f: &Form| f.unit == 0 && f.scalars.keys().all(|id| id.index() < warp.sizes);
    if !time.first.is_constant() || !by_sizes(&time.last) {
        return;
    }
    let steps = (time.first.clone(), time.last.clone());
    let before = before(warp, time.scalar, &steps);
    let behind = behind(warp, time.scalar, &steps);
    if before || behind {
        tidy::order(warp);
        tidy::mark(warp, Some(time.scalar));
    }
}

/// First and last step; the last one may follow from sizes.
type Steps = (Form, Form);

/// The steps in which all of these conditions hold; `None`: something else than the step and the sizes decides.
fn when(warp: &Warp, all: &[Cond], time: ScalarId, steps: &Steps) -> Option<Steps> {
    let (mut low, mut high) = steps.clone();
    for cond in all {
        let factor = cond.form.of(time);
        let known = |id: &ScalarId| *id == time || id.index() < warp.sizes;
        if cond.form.unit != 0 || !cond.form.scalars.keys().all(known) || factor.abs() != 1 {
            return None;
        }
        // factor t + rest >= 0, or == 0.
        let mut bound = Form::default();
        bound.add(-factor, &cond.form);
        bound.scalars.remove(&time);
        if cond.equality || factor > 0 {
            low = greater(warp, low, bound.clone())?;
        }
        if cond.equality || factor < 0 {
            high = greater(warp, high.negated(), bound.negated())?.negated();
        }
    }
    Some((low, high))
}

/// The greater one of two forms over sizes, if it is one of them at all sizes.
fn greater(warp: &Warp, a: Form, b: Form) -> Option<Form> {
    let mut by = a.clone();
    by.add(-1, &b);
    match by.range(&warp.scalars, 1) {
        (low, _) if low >= 0 => Some(a),
        (_, high) if high <= 0 => Some(b),
        _ => None,
    }
}

/// A guard that selects a value of the step before but in the first step becomes that value, with a start.
fn before(warp: &mut Warp, time: ScalarId, steps: &Steps) -> bool {
    let mut changed = false;
    for k in 0..warp.nodes.len() {
        let Op::Guard(g) = &warp.nodes[k].op else { continue };
        let (start, past) = match when(warp, &g.when, time, steps) {
            Some(at) if at == (steps.0.clone(), steps.0.clone()) => (g.then, g.otherwise),
            Some(at) if at == (steps.0.plus(1), steps.1.clone()) => (g.otherwise, g.then),
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
fn behind(warp: &mut Warp, time: ScalarId, steps: &Steps) -> bool {
    let waits = warp.waits();
    let mut changed = false;
    for s in 0..warp.stores.len() {
        let store = &warp.stores[s];
        let (of, node) = (store.value, warp.node(store.value).clone());
        let (timed, others): (Vec<Cond>, Vec<Cond>) = store.when.iter().cloned().partition(|c| c.form.of(time) != 0);
        let last = when(warp, &timed, time, steps) == Some((steps.1.clone(), steps.1.clone()));
        if timed.is_empty() || !last || node.after || node.invariant || !waits.contains_key(&of) {
            continue;
        }
        let value = NodeId(warp.nodes.len() as u32);
        warp.nodes.push(crate::ir::Node { op: Op::Last { of }, row: true, note: None, ..node });
        let store = &mut warp.stores[s];
        (store.value, store.when) = (value, others);
        for form in &mut store.at {
            let factor = form.of(time);
            form.scalars.remove(&time);
            form.add(factor, &steps.1);
        }
        changed = true;
    }
    changed
}
