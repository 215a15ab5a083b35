//! Chains of multiplexers: one value from several sources, each under its conditions.
//!
//! Example: the accumulator of a matrix product is `select(k == 0, 0, past)`. Its two sources are the initial value and
//! the sum of the wave before.
//!
//! Invariant: the sources of one chain cover all waves and PEs in which the value is used, and the last one needs no
//! condition. Elsewhere the chain's value is arbitrary, and nobody uses it.

use crate::pe::nodes::Nodes;
use crate::vsa::{NodeId, Op};
use scop::ScalarType;
use uniform::affine::{Condition, Ranges, Within};

/// A source of a value: it is taken where all conditions hold.
pub(super) struct Source {
    pub when: Vec<Condition>,
    pub node: NodeId,
}

/// A source that is taken where one of the conjunctions holds.
struct Merged {
    any: Vec<Vec<Condition>>,
    node: NodeId,
}

/// The value of sources of which one at most applies in a wave and PE.
pub(super) fn select(
    nodes: &mut Nodes,
    ranges: &Ranges,
    mut sources: Vec<Source>,
    ty: ScalarType,
    name: &str,
) -> NodeId {
    if sources.is_empty() {
        // Never executed in this lane: any value does.
        return nodes.add(Op::Const(0), ty, "unused");
    }
    if let Some(k) = sources.iter().position(|source| source.when.is_empty()) {
        sources = vec![sources.swap_remove(k)];
    }
    // The most expensive condition is left to the default.
    sources.sort_by_key(|s| (s.when.iter().filter(|c| !c.form.is_time_only()).count(), s.when.len()));
    let mut merged: Vec<Merged> = Vec::new();
    for Source { when, node } in sources {
        match merged.iter_mut().find(|m| m.node == node) {
            Some(same) => same.any.push(when),
            None => merged.push(Merged { any: vec![when], node }),
        }
    }
    // Conditions fixed in a PE stay if they keep a delayed value out of it: that PE needs no memory then.
    shorten(ranges, &mut merged, |node, c| cost(c) == 2 && nodes.op(node).is_delayed());
    let mut value = merged.pop().expect("not empty").node;
    for Merged { any, node } in merged.into_iter().rev() {
        let when = nodes.guard_any(&any);
        value = nodes.mux(when, node, value, ty, name);
    }
    value
}

/// As [`select`], for sources that only some PEs need: a source is taken in no PE that does not need it. What it is
/// computed from is not needed there either.
pub(super) fn select_in_place(
    nodes: &mut Nodes,
    ranges: &Ranges,
    sources: Vec<Source>,
    ty: ScalarType,
    name: &str,
) -> NodeId {
    if sources.is_empty() || sources.iter().any(|source| source.when.is_empty()) {
        return select(nodes, ranges, sources, ty, name);
    }
    let mut merged: Vec<Merged> = Vec::new();
    for Source { when, node } in sources {
        match merged.iter_mut().find(|m| m.node == node) {
            Some(same) => include(&mut same.any, when),
            None => merged.push(Merged { any: vec![when], node }),
        }
    }
    // The one that most PEs need is the default.
    merged.sort_by_key(|m| (pes(ranges, &m.any), m.any.len()));
    shorten(ranges, &mut merged, |_, c| cost(c) == 2);
    let mut value = merged.pop().expect("not empty").node;
    for Merged { mut any, node } in merged.into_iter().rev() {
        any.sort();
        any.dedup();
        let when = nodes.guard_any(&any);
        value = nodes.mux(when, node, value, ty, name);
    }
    value
}

/// PEs in a box around those in which one of the conjunctions holds in some wave.
fn pes(ranges: &Ranges, any: &[Vec<Condition>]) -> i64 {
    let time = ranges.counters.len();
    let around = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
    let boxes = any.iter().filter_map(|all| ranges.narrowed(all)).map(|b| [b[time], b[time + 1]]);
    let whole = boxes.reduce(|a, b| [around(a[0], b[0]), around(a[1], b[1])]);
    whole.map_or(0, |b| b.iter().map(|(low, high)| high - low + 1).product())
}

/// `initial` where its conditions hold, else the first of `steps` that applies; the last step is the default.
pub(super) fn select_step(
    nodes: &mut Nodes,
    ranges: &Ranges,
    initial: Vec<Source>,
    mut steps: Vec<Source>,
    ty: ScalarType,
    name: &str,
) -> NodeId {
    if initial.iter().any(|source| source.when.is_empty()) || steps.is_empty() {
        return select(nodes, ranges, initial, ty, name);
    }
    let default = steps.pop().expect("checked").node;
    // From the least priority to the highest. Neighbours of one node are one multiplexer.
    let mut merged: Vec<Merged> = Vec::new();
    for Source { when, node } in steps.into_iter().rev().chain(initial) {
        match merged.last_mut() {
            Some(last) if last.node == node => include(&mut last.any, when),
            None if node == default => {}
            _ => merged.push(Merged { any: vec![when], node }),
        }
    }
    merged.into_iter().fold(default, |value, Merged { any, node }| {
        let when = nodes.guard_any(&any);
        nodes.mux(when, node, value, ty, name)
    })
}

/// Adds a conjunction to a disjunction. A conjunction that contains all conditions of another one adds nothing.
fn include(any: &mut Vec<Vec<Condition>>, when: Vec<Condition>) {
    let contains = |all: &[Condition], some: &[Condition]| some.iter().all(|c| all.contains(c));
    if any.iter().any(|other| contains(&when, other)) {
        return;
    }
    any.retain(|other| !contains(other, &when));
    any.push(when);
}

/// Leaves out conditions that are not needed to tell a source from those behind it, but those that stay. Conditions that
/// compare the wave with the PE go first: one that is fixed in a PE costs less.
fn shorten(ranges: &Ranges, sources: &mut [Merged], stays: impl Fn(NodeId, &Condition) -> bool) {
    let within = |all: &Vec<Condition>| all.iter().map(|c| ranges.within(c)).collect::<Vec<Within>>();
    let of_source = |source: &Merged| source.any.iter().map(within).collect::<Vec<_>>();
    let before: Vec<Vec<Vec<Within>>> = sources.iter().map(of_source).collect();
    for (at, Merged { any, node }) in sources.iter_mut().enumerate() {
        for all in any {
            all.sort_by_key(cost);
            let mut own = within(all);
            let mut k = 0;
            while k < all.len() && !stays(*node, &all[k]) {
                let left_out = own.remove(k);
                let mut behind = before[at + 1..].iter().flatten();
                if behind.all(|other| ranges.agreed(own.iter().chain(other)).is_none()) {
                    all.remove(k);
                } else {
                    own.insert(k, left_out);
                    k += 1;
                }
            }
            all.sort();
        }
    }
}

/// Whether a condition compares the wave with the PE (0), is about the wave alone (1), or about the PE alone (2).
fn cost(c: &Condition) -> i64 {
    match (c.form.is_time_only(), c.form.counters.iter().any(|&c| c != 0)) {
        (false, true) => 0,
        (true, _) => 1,
        (false, false) => 2,
    }
}
