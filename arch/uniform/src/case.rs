//! Phase classes: phases, or strips, in which every loop runs equally long, and how far their loops go.
//!
//! **Problem.** The loops of an array are rectangular, but statements of different phases go differently far, and a
//! loop may get shorter from phase to phase.
//!
//! **Terms.** A [`Case`] is a *phase class*: a box of phases, with the box of all iterations in them. The *greatest*
//! value of a coordinate is a maximum of minima of functions over the sizes ([`Greatest`]).
//!
//! **Method.** Statements whose phases overlap share a class. A class whose loops change from phase to phase is cut
//! into at most [`PIECES`] pieces along one phase loop, if fewer iterations are walked then; neighbours with equal ends
//! stay one.
//!
//! ```text
//! for (t < 64) for (i <= t): cut along t in 16 pieces of 4, i ends at 3, 7, 11, ... 63: 53 % of the square
//! ```
//!
//! **Invariant.** No phase is in two classes; every instance is in the box of its class.

use crate::affine::map::{between, coordinate, minus};
use scop::flow;
use scop::{Affine, Constraint};
use std::ops::Range;

/// The most pieces of a class: with 16 a triangle takes 53 % of its square.
pub const PIECES: i64 = 16;

/// A class of phases.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Least and greatest coordinates of the instances.
    pub bounds: Vec<(i64, i64)>,
    /// The statements that some of these phases execute.
    pub statements: Vec<usize>,
    /// By coordinate, its greatest value in these phases; only with sizes.
    pub ends: Vec<Greatest>,
}

/// A function over the sizes, divided and rounded down.
#[derive(Clone, Debug, PartialEq)]
pub struct Quotient {
    pub form: Affine,
    pub divisor: i64,
}

/// The greatest value of a coordinate at given sizes: the maximum, over the parts of a domain, of the minimum of
/// quotients. Empty if a part has no such bound.
pub type Greatest = Vec<Vec<Quotient>>;

impl Case {
    fn new(bounds: Bounds, statements: Vec<usize>) -> Case {
        Case { bounds, statements, ends: vec![] }
    }

    /// The parts of the statements' domains in these phases.
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
/// The domain of one statement.
pub type Domain = Vec<Vec<Constraint>>;

/// The classes of the phases of statements with these domains. `phases` are the dimensions of phases or of strips;
/// those in front are sizes up to these maxima.
pub(super) fn cases(maxima: &[i64], phases: Range<usize>, depth: usize, statements: &[&Domain]) -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    for (s, domain) in statements.iter().enumerate() {
        let Some(bounds) = flow::domain_bounds(domain, depth) else { continue };
        let are_disjoint = |a: &[(i64, i64)], b: &[(i64, i64)]| {
            a[phases.clone()].iter().zip(&b[phases.clone()]).any(|(x, y)| x.1 < y.0 || y.1 < x.0)
        };
        let mut one = Case::new(bounds, vec![s]);
        while let Some(k) = cases.iter().position(|other| !are_disjoint(&other.bounds, &one.bounds)) {
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

/// The greatest value if it is one function of the sizes.
pub fn single(greatest: &Greatest) -> Option<&Affine> {
    let [part] = greatest.as_slice() else { return None };
    let [Quotient { form, divisor: 1 }] = part.as_slice() else { return None };
    Some(form)
}

/// The greatest value of `row · n` in the parts of a domain.
pub fn greatest<'a>(parts: impl Iterator<Item = &'a Vec<Constraint>>, maxima: &[i64], row: &[i64]) -> Greatest {
    let depth = row.len();
    let coordinates: Vec<Affine> =
        (0..maxima.len()).map(|d| coordinate(d, depth)).chain([Affine { coeffs: row.to_vec(), constant: 0 }]).collect();
    let mut all: Greatest = vec![];
    for part in parts {
        for piece in flow::image(std::slice::from_ref(part), &coordinates, depth).pieces {
            let upper = |c: &Constraint| {
                let (last, rest) = c.expr.coeffs.split_last()?;
                let sign = if c.equality { -last.signum() } else { 1 };
                let coeffs = rest.iter().map(|x| x * sign).collect();
                let form = Affine { coeffs, constant: c.expr.constant * sign };
                (last * sign < 0).then_some(Quotient { form, divisor: -last * sign })
            };
            let bounds: Vec<Quotient> = piece.iter().filter_map(upper).collect();
            if bounds.is_empty() {
                return vec![];
            }
            if !all.contains(&bounds) {
                all.push(bounds);
            }
        }
    }
    // Drops a part if another one always reaches as far.
    let reaches = |a: &[Quotient], b: &[Quotient]| match (a, b) {
        ([Quotient { form: a, divisor: 1 }], [Quotient { form: b, divisor: 1 }]) => {
            minus(b, a).over_sizes(maxima).0 >= 0
        }
        _ => false,
    };
    let needed = (0..all.len()).filter(|&k| {
        !(0..all.len()).any(|j| j != k && reaches(&all[k], &all[j]) && (j < k || !reaches(&all[j], &all[k])))
    });
    needed.map(|k| all[k].clone()).collect()
}

fn around(a: &[(i64, i64)], b: &[(i64, i64)]) -> Bounds {
    a.iter().zip(b).map(|(x, y)| (x.0.min(y.0), x.1.max(y.1))).collect()
}

/// A class in pieces along one phase loop, if fewer iterations are walked then.
fn pieces(case: Case, phases: Range<usize>, statements: &[&Domain]) -> Vec<Case> {
    // Loops begin with the first of all iterations.
    let walked = |d: usize, b: (i64, i64)| i128::from(b.1 - if d < phases.end { b.0 } else { case.bounds[d].0 } + 1);
    let volume = |bounds: &[(i64, i64)]| {
        bounds.iter().enumerate().skip(phases.start).map(|(d, b)| walked(d, *b)).product::<i128>()
    };
    let total = |all: &[Case]| all.iter().map(|c| volume(&c.bounds)).sum::<i128>();
    let couples =
        |p: usize| move |c: &Constraint| c.expr.coeffs[p] != 0 && c.expr.coeffs[phases.end..].iter().any(|&x| x != 0);
    let ends_others = |p: usize| case.statements.iter().flat_map(|&s| statements[s].iter().flatten()).any(couples(p));
    let along = phases.clone().filter(|&p| case.bounds[p].1 > case.bounds[p].0 && ends_others(p));
    let cut = along.map(|p| cut(&case, p, phases.end, statements)).min_by_key(|all| total(all));
    match cut {
        Some(all) if total(&all) < volume(&case.bounds) => all,
        _ => vec![case],
    }
}

/// The class cut along phase loop `p`; neighbours with equal ends are one.
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
                Some(mut piece) => {
                    piece.statements.push(s);
                    Case { bounds: around(&piece.bounds, &bounds), ..piece }
                }
            });
        }
        let Some(piece) = piece else { continue };
        let continues = |last: &Case| {
            (0..depth).all(|d| match (last.bounds[d], piece.bounds[d]) {
                (a, b) if d == p => a.1 + 1 == b.0,
                (a, b) => a.1 == b.1 && (d >= phases || a.0 == b.0),
            })
        };
        match all.last_mut() {
            Some(last) if continues(last) => {
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
