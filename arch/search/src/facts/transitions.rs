//! Phases that follow one another, the later of which loads what the earlier one has stored. It begins when that is in
//! memory, so each such transition takes cycles in which nothing is computed.

use super::access::Access;
use crate::tuning;
use scop::flow;
use scop::Constraint;
use std::collections::BTreeMap;
use uniform::case::Case;
use uniform::system::System;

/// All transitions from phases of one class to phases of another (or the same).
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    pub from: usize,
    pub to: usize,
    /// How often it occurs.
    pub count: i64,
    pub values: Vec<Passed>,
}

/// A value that passes through memory in every such transition: which write stores it, which read loads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    pub write: usize,
    pub read: usize,
}

/// Some instance of the set is executed in every phase of the class.
pub(super) fn in_every_phase(set: &[Constraint], case: &Case, system: &System) -> bool {
    let (phases, depth) = (system.frame().outer, system.dims.len());
    let within = &case.bounds[..phases];
    let wide: Vec<usize> = (0..phases).filter(|&p| within[p].0 < within[p].1).collect();
    if wide.len() > tuning::MOST_CORNERS {
        return false;
    }
    let inside: Vec<usize> = (phases..depth).collect();
    let over = flow::projection(set, &inside, depth);
    // The projection is convex: what holds at the corners of a box holds in all of it.
    let corner = |n: usize| -> Vec<i64> {
        let at = |p: usize| match wide.iter().position(|&w| w == p) {
            Some(bit) if n >> bit & 1 == 1 => within[p].1,
            _ => within[p].0,
        };
        (0..phases).map(at).collect()
    };
    let mut corners = (0..1usize << wide.len()).map(corner);
    let holds = |phase: Vec<i64>| over.pieces.iter().all(|piece| piece.iter().all(|c| c.holds(&phase)));
    over.is_convex() && !over.pieces.is_empty() && corners.all(holds)
}

/// All transitions in which values pass. `passed`: arrays through which values pass from phase to phase.
pub(super) fn transitions(system: &System, reads: &[Access], writes: &[Access], passed: &[bool]) -> Vec<Transition> {
    let phases = &system.dims[..system.frame().outer];
    let all = phases.iter().map(|d| d.hi - d.lo + 1).fold(1i64, i64::saturating_mul);
    if system.cases.is_empty() || all > tuning::MOST_PHASES {
        return vec![];
    }
    let class_of = |phase: &[i64]| {
        system.cases.iter().position(|c| c.bounds.iter().zip(phase).all(|(b, x)| (b.0..=b.1).contains(x)))
    };
    let mut counts: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    let mut phase: Vec<i64> = phases.iter().map(|d| d.lo).collect();
    let mut before = class_of(&phase);
    while let Some(p) = (0..phase.len()).rev().find(|&p| phase[p] < phases[p].hi) {
        phase[p] += 1;
        phase.iter_mut().zip(phases).skip(p + 1).for_each(|(x, d)| *x = d.lo);
        let now = class_of(&phase);
        if let (Some(from), Some(to)) = (before, now) {
            *counts.entry((from, to)).or_default() += 1;
        }
        before = now;
    }
    let values = |from: usize, to: usize| -> Vec<Passed> {
        let stored = writes.iter().enumerate().filter(|(_, w)| w.in_every_phase[from] && passed[w.array]);
        let loaded = |(write, w): (usize, &Access)| {
            let same = |r: &Access| r.array == w.array && r.in_every_phase[to];
            reads
                .iter()
                .enumerate()
                .filter(|(_, r)| same(r))
                .map(|(read, _)| Passed { write, read })
                .collect::<Vec<_>>()
        };
        stored.flat_map(loaded).collect()
    };
    let found = counts.into_iter().map(|((from, to), count)| Transition { from, to, count, values: values(from, to) });
    found.filter(|t| !t.values.is_empty()).collect()
}
