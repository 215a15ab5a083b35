//! Phases of a system of recurrences that are executed alike, and how far their loops go.

use crate::affine::map::{between, coordinate, minus};
use scop::flow;
use scop::{Affine, Constraint};
use std::ops::Range;

/// Pieces into which phases are cut whose loops go further in some than in others, at most: with 16 a triangle takes 53
/// % of its square.
pub const PIECES: i64 = 16;

/// Phases that are executed alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Least and greatest coordinates of the instances.
    pub bounds: Vec<(i64, i64)>,
    /// What is executed in some of these phases.
    pub statements: Vec<usize>,
    /// With sizes, per coordinate, what [`greatest`] says of it in these phases.
    pub ends: Vec<Greatest>,
}

/// What bounds a coordinate from above at given sizes: the greatest, over the parts of a domain, of the least of
/// functions over the sizes, each divided and rounded down. Empty where a part has no such bound.
pub type Greatest = Vec<Vec<(Affine, i64)>>;

impl Case {
    fn new(bounds: Bounds, statements: Vec<usize>) -> Case {
        Case { bounds, statements, ends: vec![] }
    }

    /// What is executed in these phases.
    pub fn parts<'a>(
        &'a self,
        phases: Range<usize>,
        depth: usize,
        domain: impl Fn(usize) -> &'a Domain + 'a,
    ) -> impl Iterator<Item = Vec<Constraint>> + 'a {
        let here: Vec<Constraint> = phases.flat_map(|p| between(p, self.bounds[p].into(), depth)).collect();
        let all = self.statements.iter().flat_map(move |&s| domain(s));
        all.map(move |part| [part.as_slice(), &here].concat()).filter(move |part| !flow::is_empty(part, depth))
    }
}

type Bounds = Vec<(i64, i64)>;
/// Of one statement, over the coordinates.
pub type Domain = Vec<Vec<Constraint>>;

/// The boxes around what statements with these domains do in some phases, so that no phase is in two of them. Phases
/// are told by the coordinates from the one to the other; those in front are sizes up to these maxima.
pub(super) fn cases(maxima: &[i64], phases: Range<usize>, depth: usize, statements: &[&Domain]) -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    for (s, domain) in statements.iter().enumerate() {
        let Some(bounds) = flow::domain_bounds(domain, depth) else { continue };
        let apart = |a: &[(i64, i64)], b: &[(i64, i64)]| {
            a[phases.clone()].iter().zip(&b[phases.clone()]).any(|(x, y)| x.1 < y.0 || y.1 < x.0)
        };
        let mut one = Case::new(bounds, vec![s]);
        while let Some(k) = cases.iter().position(|other| !apart(&other.bounds, &one.bounds)) {
            let other = cases.swap_remove(k);
            one = Case::new(around(&one.bounds, &other.bounds), [one.statements, other.statements].concat());
        }
        cases.push(one);
    }
    let mut cases: Vec<Case> = cases.into_iter().flat_map(|case| pieces(case, phases.clone(), statements)).collect();
    cases.sort_by(|a, b| a.bounds.cmp(&b.bounds));
    for case in cases.iter_mut().filter(|_| !maxima.is_empty()) {
        let parts: Vec<Vec<Constraint>> = case.parts(phases.clone(), depth, |s| statements[s]).collect();
        case.ends = (0..depth).map(|d| greatest(parts.iter(), maxima, &coordinate(d, depth).coeffs)).collect();
    }
    cases
}

/// What bounds `row · n` from above in the parts of a domain.
pub fn greatest<'a>(parts: impl Iterator<Item = &'a Vec<Constraint>>, maxima: &[i64], row: &[i64]) -> Greatest {
    let depth = row.len();
    let coordinates: Vec<Affine> =
        (0..maxima.len()).map(|d| coordinate(d, depth)).chain([Affine { coeffs: row.to_vec(), constant: 0 }]).collect();
    let mut all: Greatest = vec![];
    for part in parts {
        for piece in flow::image(std::slice::from_ref(part), &coordinates, depth).pieces {
            let upper = |c: &Constraint| {
                let (own, rest) = c.expr.coeffs.split_last()?;
                let sign = if c.equality { -own.signum() } else { 1 };
                let (own, form) = (
                    own * sign,
                    Affine { coeffs: rest.iter().map(|x| x * sign).collect(), constant: c.expr.constant * sign },
                );
                (own < 0).then_some((form, -own))
            };
            let bounds: Vec<(Affine, i64)> = piece.iter().filter_map(upper).collect();
            if bounds.is_empty() {
                return vec![];
            }
            if !all.contains(&bounds) {
                all.push(bounds);
            }
        }
    }
    // A part that another one always reaches beyond says nothing.
    let beyond = |a: &[(Affine, i64)], b: &[(Affine, i64)]| match (a, b) {
        ([(a, 1)], [(b, 1)]) => minus(b, a).over_sizes(maxima).0 >= 0,
        _ => false,
    };
    let kept = (0..all.len()).filter(|&k| {
        !(0..all.len()).any(|j| j != k && beyond(&all[k], &all[j]) && (j < k || !beyond(&all[j], &all[k])))
    });
    kept.map(|k| all[k].clone()).collect()
}

fn around(a: &[(i64, i64)], b: &[(i64, i64)]) -> Bounds {
    a.iter().zip(b).map(|(x, y)| (x.0.min(y.0), x.1.max(y.1))).collect()
}

/// A case in pieces along one loop of phases, if less is walked then.
fn pieces(case: Case, phases: Range<usize>, statements: &[&Domain]) -> Vec<Case> {
    // Loops begin where the first of all iterations does.
    let walked = |d: usize, b: (i64, i64)| i128::from(b.1 - if d < phases.end { b.0 } else { case.bounds[d].0 } + 1);
    let volume = |bounds: &[(i64, i64)]| {
        bounds.iter().enumerate().skip(phases.start).map(|(d, b)| walked(d, *b)).product::<i128>()
    };
    let total = |all: &[Case]| all.iter().map(|c| volume(&c.bounds)).sum::<i128>();
    let couples =
        |p: usize| move |c: &Constraint| c.expr.coeffs[p] != 0 && c.expr.coeffs[phases.end..].iter().any(|&x| x != 0);
    let bends = |p: usize| case.statements.iter().flat_map(|&s| statements[s].iter().flatten()).any(couples(p));
    let along = phases.clone().filter(|&p| case.bounds[p].1 > case.bounds[p].0 && bends(p));
    let cut = along.map(|p| cut(&case, p, phases.end, statements)).min_by_key(|all| total(all));
    match cut {
        Some(all) if total(&all) < volume(&case.bounds) => all,
        _ => vec![case],
    }
}

/// Cut along loop `p` of phases; neighbours between which nothing changes are one.
fn cut(case: &Case, p: usize, phases: usize, statements: &[&Domain]) -> Vec<Case> {
    let depth = case.bounds.len();
    let (lo, hi) = case.bounds[p];
    let size = (hi - lo + PIECES) / PIECES;
    let mut all: Vec<Case> = vec![];
    for first in (lo..=hi).step_by(size as usize) {
        let within = between(p, [first, (first + size - 1).min(hi)], depth);
        let mut piece: Option<Case> = None;
        for &s in &case.statements {
            let here: Vec<Vec<Constraint>> =
                statements[s].iter().map(|all| [all.as_slice(), &within].concat()).collect();
            let Some(bounds) = flow::domain_bounds(&here, depth) else { continue };
            piece = Some(match piece {
                None => Case::new(bounds, vec![s]),
                Some(mut known) => {
                    known.statements.push(s);
                    Case { bounds: around(&known.bounds, &bounds), ..known }
                }
            });
        }
        let Some(piece) = piece else { continue };
        let same = |(d, (a, b)): (usize, (&(i64, i64), &(i64, i64)))| {
            if d == p {
                a.1 + 1 == b.0
            } else {
                a.1 == b.1 && (d >= phases || a.0 == b.0)
            }
        };
        match all.last_mut() {
            Some(last) if last.bounds.iter().zip(&piece.bounds).enumerate().all(same) => {
                last.bounds = around(&last.bounds, &piece.bounds);
                last.statements.extend(
                    piece.statements.iter().filter(|s| !last.statements.contains(s)).copied().collect::<Vec<_>>(),
                );
            }
            _ => all.push(piece),
        }
    }
    all
}
