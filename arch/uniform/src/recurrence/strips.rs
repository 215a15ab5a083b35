//! Loops that end where an outer one says, in strips: iterations of it that follow one another. In each, the other
//! loops begin at its first iteration and end with its last one. So a triangle is walked in steps, and not as the
//! square around it.
//!
//! Along a dimension that nothing is carried over, strips are phases. Else a value that comes over the dimension is one
//! of the strip before where it begins ([`handed_on`]), and all strips are one phase.

use crate::affine::map::{between, coordinate, fixed, minus};
use crate::recurrence::change::Change;
use crate::system::{Dim, Feed, Frame, Kind, Piece, Placed, System, Variable};
use scop::flow;
use scop::{Affine, Constraint, Scop};
use std::cmp::Ordering;

/// Of what was walked, the share that has to remain at most for another way to be worth it.
const WORTH: f64 = 0.85;
/// The same where values are handed on from strip to strip, which costs next to nothing.
const HANDED_ON: f64 = 0.95;

/// Dimensions that can be cut, and whose strips are not all alike; and over how many iterations values come at most.
pub fn dimensions(system: &System) -> Vec<(usize, i64)> {
    let feeds = || system.statements.iter().flat_map(|p| &p.variables).flat_map(|v| &v.pieces).map(|p| &p.feed);
    let far = |d: usize| -> Option<i64> {
        let each = |feed: &Feed| match feed {
            Feed::Input { .. } => Some(0),
            Feed::Value { distance, .. } | Feed::Carry { distance, .. } => Some(distance[d]).filter(|&e| e >= 0),
            Feed::Partial { .. } => None,
        };
        feeds().map(each).try_fold(0, |most, e| Some(most.max(e?)))
    };
    let bends = |d: usize| {
        let couples = |c: &Constraint| {
            c.expr.coeffs[d] != 0 && c.expr.coeffs[system.parameters().end..].iter().filter(|c| **c != 0).count() > 1
        };
        system.statements.iter().flat_map(|p| p.domain.iter().flatten()).any(couples)
    };
    let cut = |d: usize| Some((d, far(d)?)).filter(|_| bends(d));
    if system.has_phases() || !system.strips().is_empty() {
        vec![]
    } else {
        system.loops().filter_map(cut).collect()
    }
}

/// Dimensions, and by how much later they begin from strip to strip.
pub type Slopes = Vec<(usize, i64)>;

/// The system in strips of `size` iterations of dimension `d`; `None` if hardly less would be walked. They are phases,
/// unless values are handed on from one to the next. `slant` makes of the steepest slopes those that the other
/// dimensions get, which are returned.
pub fn strips(
    scop: &Scop,
    system: &System,
    d: usize,
    size: i64,
    slant: &dyn Fn(Slopes) -> Slopes,
) -> Option<(System, Slopes)> {
    let (depth, lo, sizes) = (system.dims.len() + 1, system.dims[d].lo, system.parameters().end);
    let dims: Vec<usize> = (0..sizes).chain(sizes + 1..depth).collect();
    let mut over: Vec<Affine> = dims.iter().map(|&e| coordinate(e, depth)).collect();
    over[d].coeffs[sizes] = size;
    let within = between(d + 1, [lo, lo + size - 1], depth).into();
    let hands_on = hands_on(system, d);
    if hands_on && sizes > 0 {
        return None;
    }
    let frame = Frame { outer: if hands_on { 0 } else { sizes + 1 }, depth };
    let kind = |d: usize| match d.cmp(&sizes) {
        Ordering::Less => Kind::Parameter,
        Ordering::Equal if hands_on => Kind::Strip,
        Ordering::Equal => Kind::Sequence,
        Ordering::Greater => Kind::Loop,
    };
    let change = Change { over, dims, within, first: 0, frame };
    let placed = |(s, placed): (usize, &Placed)| {
        let placed = change.placed(scop, s, placed);
        if hands_on {
            handed_on(scop, s, placed, [d + 1, depth], [lo, size])
        } else {
            placed
        }
    };
    let statements: Vec<Placed> = system.statements.iter().enumerate().map(placed).collect();
    let mut names: Vec<String> = names(system).collect();
    names.insert(sizes, format!("{}.strip", system.dims[d].name));
    let whole = around(&system.dims[..sizes], names, kind, statements);
    let moved = |slopes: Slopes, by: i64| -> Slopes {
        slopes.into_iter().map(|(d, slope)| ((d as i64 + by) as usize, slope)).collect()
    };
    let (slanted, slopes) = slanted(scop, &whole, &|found| moved(slant(moved(found, -1)), 1));
    let cut = slanted.unwrap_or(whole);
    is_worth(&cut, system).then(|| (cut, moved(slopes, -1)))
}

/// The system of these statements at these sizes.
fn around(sizes: &[Dim], names: Vec<String>, kind: impl Fn(usize) -> Kind, statements: Vec<Placed>) -> System {
    let rest = Dim::around(names, kind, &statements).into_iter().skip(sizes.len());
    System::new(sizes.iter().cloned().chain(rest).collect(), statements)
}

/// So much less is walked.
fn is_worth(cut: &System, system: &System) -> bool {
    cut.walked() <= if cut.strips().is_empty() { WORTH } else { HANDED_ON } * system.walked()
}

/// A statement of which values that come over dimension `d` are those of the strip before where they begin.
fn handed_on(scop: &Scop, s: usize, placed: Placed, [d, depth]: [usize; 2], [lo, size]: [i64; 2]) -> Placed {
    let handed = |piece: &Piece| -> Vec<Piece> {
        let mut before = piece.clone();
        let far = match &mut before.feed {
            Feed::Value { distance, .. } | Feed::Carry { distance, .. } if distance[d] != 0 => {
                let far = distance[d];
                (distance[0], distance[d]) = (1, far - size);
                far
            }
            _ => return vec![before],
        };
        let mut within = piece.clone();
        let from = coordinate(d, depth);
        within.domain.push(Constraint { expr: Affine { constant: -lo - far, ..from.clone() }, equality: false });
        before.domain.push(Constraint { expr: minus(&Affine::constant(depth, lo + far - 1), &from), equality: false });
        vec![within, before]
    };
    let variables =
        placed.variables.iter().map(|v| Variable { pieces: v.pieces.iter().flat_map(handed).collect() }).collect();
    let Placed { dims, iterators, domain, live_out, .. } = placed;
    Placed::new(scop, s, dims, iterators, domain, variables, live_out, Frame { outer: 0, depth })
}

/// Values come over the dimension.
fn hands_on(system: &System, d: usize) -> bool {
    system.dependences().iter().any(|e| e.distance[d] != 0)
}

/// The system with loops that begin where their phase or strip says; `None` if hardly less would be walked. And what
/// `slant` made of the steepest slopes.
fn slanted(scop: &Scop, system: &System, slant: &dyn Fn(Slopes) -> Slopes) -> (Option<System>, Slopes) {
    let (frame, loops) = (system.frame(), system.loops());
    let depth = frame.depth;
    let (mut statements, mut taken) = (system.statements.clone(), vec![]);
    for group in groups(system) {
        for p in system.parameters().end..loops.start {
            let slopes = slant(slopes(&statements, &group, p, loops.start).unwrap_or_default());
            if slopes.is_empty() {
                continue;
            }
            let mut over: Vec<Affine> = (0..depth).map(|e| coordinate(e, depth)).collect();
            slopes.iter().for_each(|&(e, slope)| over[e].coeffs[p] = slope);
            let change = Change { over, dims: (0..depth).collect(), within: vec![], first: 0, frame };
            for &s in &group {
                statements[s] = change.placed(scop, s, &statements[s]);
            }
            taken.extend(slopes);
        }
    }
    let slanted =
        around(&system.dims[system.parameters()], names(system).collect(), |d| system.dims[d].kind, statements);
    (Some(slanted).filter(|slanted| is_worth(slanted, system)), taken)
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
fn slopes(statements: &[Placed], group: &[usize], p: usize, cased: usize) -> Option<Slopes> {
    let all: Vec<Vec<Constraint>> = group.iter().flat_map(|&s| statements[s].domain.clone()).collect();
    let depth = all.first()?.first()?.expr.coeffs.len();
    let (first, last) = flow::domain_bounds(&all, depth)?[p];
    let begins = |value: i64| {
        let here = fixed(p, value, depth);
        flow::domain_bounds(
            &all.iter().map(|c| [c.as_slice(), std::slice::from_ref(&here)].concat()).collect::<Vec<_>>(),
            depth,
        )
    };
    let (from, to) = (begins(first)?, begins(last)?);
    let slope = |e: usize| (to[e].0 - from[e].0).div_euclid((last - first).max(1));
    let found: Slopes = (cased..depth).map(|e| (e, slope(e))).filter(|x| x.1 != 0).collect();
    (!found.is_empty()).then_some(found)
}
