//! Phases that follow one another, the later of which loads what the earlier one has stored: it begins when that is in
//! memory.

use scop::flow;
use scop::Constraint;
use std::collections::BTreeMap;
use uniform::case::Case;
use uniform::system::System;

/// Phases that are looked at one by one.
const PHASES: i64 = 1 << 18;
/// Coordinates of phases of which all corners of a box are looked at.
const CORNERS: usize = 8;

/// Phases of two cases, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover {
    pub from: usize,
    pub to: usize,
    /// How often.
    pub count: i64,
    /// What is stored in each of the earlier ones and loaded in each of the later, by its number among writes and among
    /// reads.
    pub values: Vec<(usize, usize)>,
}

/// Something of the set is executed in every phase of the case.
pub fn in_every_phase(set: &[Constraint], case: &Case, system: &System) -> bool {
    let (phases, depth) = (system.phases, system.dims.len());
    let within = &case.bounds[..phases];
    let wide: Vec<usize> = (0..phases).filter(|&p| within[p].0 < within[p].1).collect();
    if wide.len() > CORNERS {
        return false;
    }
    let inside: Vec<usize> = (phases..depth).collect();
    let over = flow::projection(set, &inside, depth);
    // Without holes: what holds at the corners of a box holds in all of it.
    let corner = |n: usize| -> Vec<i64> {
        (0..phases)
            .map(|p| {
                wide.iter().position(|&w| w == p).map_or(within[p].0, |bit| {
                    if n >> bit & 1 == 1 {
                        within[p].1
                    } else {
                        within[p].0
                    }
                })
            })
            .collect()
    };
    over.is_convex()
        && over
            .pieces
            .iter()
            .all(|piece| (0..1usize << wide.len()).map(corner).all(|phase| piece.iter().all(|c| c.holds(&phase))))
        && !over.pieces.is_empty()
}

/// An array that is loaded or stored, and per case, whether that is so in each of its phases.
pub type Moved = (usize, Vec<bool>);

/// All of them. `passed`: arrays through which values pass from phase to phase.
pub fn handovers(system: &System, reads: &[Moved], writes: &[Moved], passed: &[bool]) -> Vec<Handover> {
    let phases = &system.dims[..system.phases];
    let all = phases.iter().map(|d| d.hi - d.lo + 1).fold(1i64, i64::saturating_mul);
    if system.cases.is_empty() || all > PHASES {
        return vec![];
    }
    let case_of = |phase: &[i64]| {
        system.cases.iter().position(|c| c.bounds.iter().zip(phase).all(|(b, x)| (b.0..=b.1).contains(x)))
    };
    let mut counts: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    let mut phase: Vec<i64> = phases.iter().map(|d| d.lo).collect();
    let mut before = case_of(&phase);
    while let Some(p) = (0..phase.len()).rev().find(|&p| phase[p] < phases[p].hi) {
        phase[p] += 1;
        phase.iter_mut().zip(phases).skip(p + 1).for_each(|(x, d)| *x = d.lo);
        let now = case_of(&phase);
        if let (Some(from), Some(to)) = (before, now) {
            *counts.entry((from, to)).or_default() += 1;
        }
        before = now;
    }
    let values = |from: usize, to: usize| -> Vec<(usize, usize)> {
        let stored = writes.iter().enumerate().filter(|(_, (array, sure))| sure[from] && passed[*array]);
        stored
            .flat_map(|(w, (array, _))| {
                reads
                    .iter()
                    .enumerate()
                    .filter(move |(_, (other, sure))| other == array && sure[to])
                    .map(move |(r, _)| (w, r))
            })
            .collect()
    };
    let found = counts.into_iter().map(|((from, to), count)| Handover { from, to, count, values: values(from, to) });
    found.filter(|h| !h.values.is_empty()).collect()
}
