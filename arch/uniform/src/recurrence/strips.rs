//! Strip-mining with skewing: loops that begin and end by strip of another loop.
//!
//! **Problem.** The loops of an array are rectangular. `for (i < 16) for (j <= i)` walks the 256 iterations of a square
//! for the 136 of its triangle.
//!
//! **Terms.** *Strip-mining* cuts a loop into *strips* of `size` iterations: `i = size * strip + i'`. *Skewing* lets
//! another loop begin later from strip to strip. Iterations are *walked* if the rectangular loops execute them, with or
//! without work.
//!
//! **Method.**
//! 1. [`dimensions`] finds the loops by which others end and over which no value is carried backwards.
//! 2. The number of the strip becomes a dimension in front of all loops. In each strip, a loop ends with its last
//!    iteration there ([`crate::case`]).
//! 3. A loop that begins later from strip to strip is skewed, so that it begins with the same coordinate everywhere.
//! 4. The result is taken if few enough iterations remain ([`WORTH`]).
//!
//! ```text
//! strip   i       j
//!   0     0..3    0..3     ####
//!   1     4..7    0..7     ########
//!   2     8..11   0..11    ############
//!   3    12..15   0..15    ################      4 * (4 + 8 + 12 + 16) = 160 iterations walked
//!
//! for (j = i; j < 16; j++) is skewed by 4:       j' = j - 4 * strip runs over 0..15, 0..11, 0..7, 0..3
//! ```
//!
//! Strips over which no value is carried are phases. Else all strips are one phase ([`Kind::Strip`]), and a value that
//! comes over the loop is one of this strip or, where the strip begins, of the one before: for strips of 4, distance 1
//! in `i` becomes (0, 1) for `i' >= 1` and (1, -3) for `i' = 0`, in (strip, i').
//!
//! **Invariant.** A strip is at least as long as the greatest distance over its loop; so no value comes from two strips
//! before.
//!
//! **Source.** Wolfe, "More Iteration Space Tiling" (1989), strip-mining; Wolfe, "Loop Skewing: The Wavefront Method
//! Revisited" (1986).

use crate::affine::map::{between, coordinate, fixed, minus};
use crate::recurrence::change::Change;
use crate::system::{Dim, Feed, Frame, Kind, Piece, Place, Placed, System, Variable};
use scop::flow;
use scop::{Affine, Constraint, Scop};
use std::cmp::Ordering;

/// Strip-mining must leave at most this share of the iterations.
const WORTH: f64 = 0.85;
/// The same if values are carried from strip to strip, which costs next to nothing.
const WORTH_CARRIED: f64 = 0.95;

/// The dimensions that can be strip-mined so that other loops end by strip, each with the greatest distance over it.
pub fn dimensions(system: &System) -> Vec<(usize, i64)> {
    let feeds = || system.statements.iter().flat_map(|p| &p.variables).flat_map(|v| &v.pieces).map(|p| &p.feed);
    let greatest = |d: usize| -> Option<i64> {
        let each = |feed: &Feed| match feed {
            Feed::Input { .. } => Some(0),
            Feed::Value { distance, .. } | Feed::Carry { distance, .. } => Some(distance[d]).filter(|&e| e >= 0),
            Feed::Partial { .. } => None,
        };
        feeds().map(each).try_fold(0, |most, e| Some(most.max(e?)))
    };
    let ends_others = |d: usize| {
        let couples = |c: &Constraint| {
            c.expr.coeffs[d] != 0 && c.expr.coeffs[system.parameters().end..].iter().filter(|c| **c != 0).count() > 1
        };
        system.statements.iter().flat_map(|p| p.domain.iter().flatten()).any(couples)
    };
    let dimension = |d: usize| Some((d, greatest(d)?)).filter(|_| ends_others(d));
    if system.has_phases() || !system.strips().is_empty() {
        vec![]
    } else {
        system.loops().filter_map(dimension).collect()
    }
}

/// A dimension that begins `by` iterations later from strip to strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    pub dim: usize,
    pub by: i64,
}

/// The system in strips of `size` iterations of dimension `d`, and its skews; `None` if too many iterations would
/// remain. `choose` picks the skews, given the greatest ones with which the loops still cover all iterations.
pub fn strips(
    scop: &Scop,
    system: &System,
    d: usize,
    size: i64,
    choose: &dyn Fn(Vec<Skew>) -> Vec<Skew>,
) -> Option<(System, Vec<Skew>)> {
    let (depth, lo, sizes) = (system.dims.len() + 1, system.dims[d].lo, system.parameters().end);
    let dims: Vec<usize> = (0..sizes).chain(sizes + 1..depth).collect();
    let mut over: Vec<Affine> = dims.iter().map(|&e| coordinate(e, depth)).collect();
    over[d].coeffs[sizes] = size;
    let within = between(d + 1, [lo, lo + size - 1], depth).into();
    let carried = system.dependences().iter().any(|e| e.distance[d] != 0);
    if carried && sizes > 0 {
        return None;
    }
    let frame = Frame { outer: if carried { 0 } else { sizes + 1 }, depth };
    let kind = |d: usize| match d.cmp(&sizes) {
        Ordering::Less => Kind::Parameter,
        Ordering::Equal if carried => Kind::Strip,
        Ordering::Equal => Kind::Sequence,
        Ordering::Greater => Kind::Loop,
    };
    let change = Change { over, dims, within, first: 0, frame };
    let placed = |(s, placed): (usize, &Placed)| {
        let placed = change.placed(scop, s, placed);
        if carried {
            carried_over(scop, s, placed, [d + 1, depth], [lo, size])
        } else {
            placed
        }
    };
    let statements: Vec<Placed> = system.statements.iter().enumerate().map(placed).collect();
    let mut names: Vec<String> = names(system).collect();
    names.insert(sizes, format!("{}.strip", system.dims[d].name));
    let whole = around(&system.dims[..sizes], names, kind, statements);
    let (skewed, skews) = skewed(scop, &whole, &|greatest| moved(choose(moved(greatest, -1)), 1));
    let mined = skewed.unwrap_or(whole);
    is_worth(&mined, system).then(|| (mined, moved(skews, -1)))
}

/// The skews over an iteration space with so many more dimensions in front.
fn moved(skews: Vec<Skew>, dims: isize) -> Vec<Skew> {
    skews.into_iter().map(|s| Skew { dim: s.dim.wrapping_add_signed(dims), ..s }).collect()
}

/// The system of these statements at these sizes.
fn around(sizes: &[Dim], names: Vec<String>, kind: impl Fn(usize) -> Kind, statements: Vec<Placed>) -> System {
    let rest = Dim::around(names, kind, &statements).into_iter().skip(sizes.len());
    System::new(sizes.iter().cloned().chain(rest).collect(), statements)
}

/// Few enough iterations remain.
fn is_worth(mined: &System, system: &System) -> bool {
    mined.walked() <= if mined.strips().is_empty() { WORTH } else { WORTH_CARRIED } * system.walked()
}

/// The statement with each value that comes over dimension `d` split: into one of this strip, and one of the strip
/// before.
fn carried_over(scop: &Scop, s: usize, placed: Placed, [d, depth]: [usize; 2], [lo, size]: [i64; 2]) -> Placed {
    let split = |piece: &Piece| -> Vec<Piece> {
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
        placed.variables.iter().map(|v| Variable { pieces: v.pieces.iter().flat_map(split).collect() }).collect();
    Placed::new(scop, s, Place { variables, ..placed.place() }, Frame { outer: 0, depth })
}

/// The system with skewed loops, `None` if no loop is or too many iterations would remain; and the skews that `choose`
/// has picked.
fn skewed(scop: &Scop, system: &System, choose: &dyn Fn(Vec<Skew>) -> Vec<Skew>) -> (Option<System>, Vec<Skew>) {
    let (frame, loops) = (system.frame(), system.loops());
    let depth = frame.depth;
    let (mut statements, mut chosen) = (system.statements.clone(), vec![]);
    for group in groups(system) {
        for p in system.parameters().end..loops.start {
            let skews = choose(greatest_skews(&statements, &group, p, loops.start).unwrap_or_default());
            if skews.is_empty() {
                continue;
            }
            let mut over: Vec<Affine> = (0..depth).map(|e| coordinate(e, depth)).collect();
            skews.iter().for_each(|s| over[s.dim].coeffs[p] = s.by);
            let change = Change { over, dims: (0..depth).collect(), within: vec![], first: 0, frame };
            for &s in &group {
                statements[s] = change.placed(scop, s, &statements[s]);
            }
            chosen.extend(skews);
        }
    }
    if chosen.is_empty() {
        return (None, chosen);
    }
    let skewed =
        around(&system.dims[system.parameters()], names(system).collect(), |d| system.dims[d].kind, statements);
    (Some(skewed).filter(|skewed| is_worth(skewed, system)), chosen)
}

fn names(system: &System) -> impl Iterator<Item = String> + '_ {
    system.dims.iter().map(|d| d.name.clone())
}

/// The statements by the phases, or strips, in which they are executed.
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

/// The loops that begin later from one value of dimension `p` to the next, and by how many iterations.
fn greatest_skews(statements: &[Placed], group: &[usize], p: usize, cased: usize) -> Option<Vec<Skew>> {
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
    let skew = |e: usize| (to[e].0 - from[e].0).div_euclid((last - first).max(1));
    let found: Vec<Skew> = (cased..depth).map(|e| Skew { dim: e, by: skew(e) }).filter(|s| s.by != 0).collect();
    (!found.is_empty()).then_some(found)
}
