//! Loops that end where an outer one says, in strips. Along a dimension that nothing is carried over, iterations that follow one
//! another are a phase; in each, the other loops begin at its first iteration and end with its last one. So a triangle is
//! walked in steps, and not as the square around it.
//!
//! A program that has phases already can begin there, too ([`slanted`]).

use super::frame::Frame;
use crate::affine::map::{between, coordinate, fixed};
use crate::ir::ure::{Dim, Feed, Placed, System};
use frontend::flow;
use frontend::scop::{Affine, Constraint, Scop};

/// Of what was walked, the share that has to remain at most for another way to be worth it.
const WORTH: f64 = 0.85;

/// Dimensions that can be cut, and whose strips are not all alike.
pub fn dimensions(system: &System) -> Vec<usize> {
    let feeds = || system.statements.iter().flat_map(|p| &p.variables).flat_map(|v| &v.pieces).map(|p| &p.feed);
    let stays = |d: usize| feeds().all(|feed| match feed {
        Feed::Input { .. } => true,
        Feed::Value { distance, .. } | Feed::Carry { distance, .. } => distance[d] == 0,
        Feed::Partial { .. } => false,
    });
    let bends = |d: usize| {
        let couples = |c: &Constraint| c.expr.coeffs[d] != 0 && c.expr.coeffs.iter().filter(|c| **c != 0).count() > 1;
        system.statements.iter().flat_map(|p| p.domain.iter().flatten()).any(couples)
    };
    if system.phases > 0 { vec![] } else { (0..system.dims.len()).filter(|&d| stays(d) && bends(d)).collect() }
}

/// The system with strips of `size` iterations of dimension `d` as phases; `None` if hardly less would be walked.
pub fn strips(scop: &Scop, system: &System, d: usize, size: i64) -> Option<System> {
    let (depth, lo) = (system.dims.len() + 1, system.dims[d].lo);
    let mut over: Vec<Affine> = (1..depth).map(|e| coordinate(e, depth)).collect();
    over[d].coeffs[0] = size;
    let within = between(d + 1, [lo, lo + size - 1], depth).into();
    let frame = Frame { over, dims: (1..depth).collect(), within, first: 0, phases: 1, depth };
    let statements: Vec<Placed> = system.statements.iter().enumerate().map(|(s, placed)| frame.placed(scop, s, placed)).collect();
    let names = [format!("{}.strip", system.dims[d].name)].into_iter().chain(names(system)).collect();
    let cut = System::new(Dim::around(names, &statements), 0, 1, statements);
    let cut = slanted(scop, &cut).unwrap_or(cut);
    (cut.walked() <= WORTH * system.walked()).then_some(cut)
}

/// The system with loops that begin where their phase says; `None` if hardly less would be walked.
pub fn slanted(scop: &Scop, system: &System) -> Option<System> {
    let (phases, depth) = (system.phases, system.dims.len());
    let mut statements = system.statements.clone();
    for group in groups(system) {
        for p in 0..phases {
            let Some(slopes) = slopes(&statements, &group, p, phases) else { continue };
            let mut over: Vec<Affine> = (0..depth).map(|e| coordinate(e, depth)).collect();
            slopes.iter().for_each(|&(e, slope)| over[e].coeffs[p] = slope);
            let frame = Frame { over, dims: (0..depth).collect(), within: vec![], first: 0, phases, depth };
            for &s in &group {
                statements[s] = frame.placed(scop, s, &statements[s]);
            }
        }
    }
    let slanted = System::new(Dim::around(names(system).collect(), &statements), 0, phases, statements);
    (slanted.walked() <= WORTH * system.walked()).then_some(slanted)
}

fn names(system: &System) -> impl Iterator<Item = String> + '_ {
    system.dims.iter().map(|d| d.name.clone())
}

/// Statements that are executed in the same phases.
pub(super) fn groups(system: &System) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![];
    for case in &system.cases {
        let mut one = case.statements.clone();
        while let Some(k) = groups.iter().position(|g| g.iter().any(|s| one.contains(s))) {
            one.extend(groups.swap_remove(k));
        }
        one.sort_unstable();
        one.dedup();
        groups.push(one);
    }
    groups
}

/// Where loops begin later from one value of phase loop `p` to the next, and by how much.
fn slopes(statements: &[Placed], group: &[usize], p: usize, phases: usize) -> Option<Vec<(usize, i64)>> {
    let all: Vec<Vec<Constraint>> = group.iter().flat_map(|&s| statements[s].domain.clone()).collect();
    let depth = all.first()?.first()?.expr.coeffs.len();
    let (first, last) = flow::domain_bounds(&all, depth)?[p];
    let begins = |value: i64| {
        let here = fixed(p, value, depth);
        flow::domain_bounds(&all.iter().map(|c| [c.as_slice(), std::slice::from_ref(&here)].concat()).collect::<Vec<_>>(), depth)
    };
    let (from, to) = (begins(first)?, begins(last)?);
    let slope = |e: usize| (to[e].0 - from[e].0).div_euclid((last - first).max(1));
    let found: Vec<(usize, i64)> = (phases..depth).map(|e| (e, slope(e))).filter(|x| x.1 != 0).collect();
    (!found.is_empty()).then_some(found)
}
