//! Loops that end where an outer one says, in strips. Along a dimension that nothing is carried over, iterations that follow one
//! another are a phase; in each, the other loops begin at its first iteration and end with its last one. So a triangle is
//! walked in steps, and not as the square around it.
//!
//! Phases that a program has already begin there, too ([`slanted`]).

use crate::affine::map::{compose, coordinate};
use crate::ir::ure::{Dim, Feed, Piece, Placed, System, Variable};
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
    let mut old: Vec<Affine> = (0..depth - 1).map(|e| coordinate(e + 1, depth)).collect();
    old[d].coeffs[0] = size;
    // Where a strip begins and ends.
    let within = [(1, -lo), (-1, lo + size - 1)].map(|(c, constant)| {
        let mut expr = Affine::constant(depth, constant);
        expr.coeffs[d + 1] = c;
        Constraint { expr, equality: false }
    });
    let change = Change { old: &old, within: &within, in_front: 1, phases: 1, depth };
    let statements = (0..system.statements.len()).map(|s| change.placed(scop, s, &system.statements[s])).collect();
    let names = [format!("{}.strip", system.dims[d].name)].into_iter().chain(system.dims.iter().map(|d| d.name.clone())).collect();
    let cut = bounded(names, 1, statements);
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
            let mut old: Vec<Affine> = (0..depth).map(|e| coordinate(e, depth)).collect();
            slopes.iter().for_each(|&(e, slope)| old[e].coeffs[p] = slope);
            let change = Change { old: &old, within: &[], in_front: 0, phases, depth };
            for &s in &group {
                statements[s] = change.placed(scop, s, &statements[s]);
            }
        }
    }
    let slanted = bounded(system.dims.iter().map(|d| d.name.clone()).collect(), phases, statements);
    (slanted.walked() <= WORTH * system.walked()).then_some(slanted)
}

/// Statements that are executed in the same phases.
fn groups(system: &System) -> Vec<Vec<usize>> {
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
        let here = Constraint { expr: Affine { constant: -value, ..coordinate(p, depth) }, equality: true };
        flow::domain_bounds(&all.iter().map(|c| [c.as_slice(), std::slice::from_ref(&here)].concat()).collect::<Vec<_>>(), depth)
    };
    let (from, to) = (begins(first)?, begins(last)?);
    let slope = |e: usize| (to[e].0 - from[e].0).div_euclid((last - first).max(1));
    let found: Vec<(usize, i64)> = (phases..depth).map(|e| (e, slope(e))).filter(|x| x.1 != 0).collect();
    (!found.is_empty()).then_some(found)
}

fn bounded(names: Vec<String>, phases: usize, statements: Vec<Placed>) -> System {
    let union: Vec<Vec<Constraint>> = statements.iter().flat_map(|p| p.domain.clone()).collect();
    let bounds = flow::domain_bounds(&union, names.len()).unwrap_or_else(|| vec![(0, 0); names.len()]);
    let dims = names.into_iter().zip(bounds).map(|(name, (lo, hi))| Dim { name, lo, hi }).collect();
    System::new(dims, 0, phases, statements)
}

/// Other band coordinates.
struct Change<'a> {
    /// The old ones over the new ones.
    old: &'a [Affine],
    /// What holds of the new ones besides.
    within: &'a [Constraint],
    /// New dimensions in front.
    in_front: usize,
    phases: usize,
    depth: usize,
}

impl Change<'_> {
    fn affine(&self, a: &Affine) -> Affine {
        compose(a, self.old, self.depth)
    }

    fn part(&self, all: &[Constraint]) -> Vec<Constraint> {
        all.iter().map(|c| Constraint { expr: self.affine(&c.expr), ..c.clone() }).chain(self.within.iter().cloned()).collect()
    }

    fn union(&self, all: &[Vec<Constraint>]) -> Vec<Vec<Constraint>> {
        all.iter().map(|c| self.part(c)).collect()
    }

    fn distance(&self, d: &[i64]) -> Vec<i64> {
        [&vec![0; self.in_front][..], d].concat()
    }

    fn feed(&self, feed: &Feed) -> Feed {
        match feed {
            Feed::Input { subscripts } => Feed::Input { subscripts: subscripts.iter().map(|a| self.affine(a)).collect() },
            Feed::Value { statement, distance } => Feed::Value { statement: *statement, distance: self.distance(distance) },
            Feed::Carry { statement, read, distance } => Feed::Carry { statement: *statement, read: *read, distance: self.distance(distance) },
            Feed::Partial { .. } => unreachable!("a system without sizes"),
        }
    }

    fn placed(&self, scop: &Scop, s: usize, placed: &Placed) -> Placed {
        let piece = |p: &Piece| Piece { domain: self.part(&p.domain), when: vec![], feed: self.feed(&p.feed) };
        let variables = placed.variables.iter().map(|v| Variable { pieces: v.pieces.iter().map(piece).collect() }).collect();
        let dims = placed.dims.iter().map(|d| d + self.in_front).collect();
        let iterators = placed.iterators.iter().map(|a| self.affine(a)).collect();
        Placed::new(scop, s, dims, iterators, self.union(&placed.domain), variables, self.union(&placed.live_out), [self.phases, self.depth])
    }
}
