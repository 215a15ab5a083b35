//! Phases of a system of recurrences that are executed alike, and how far their loops go.

use crate::affine::map::between;
use frontend::flow;
use frontend::scop::Constraint;

/// Pieces into which phases are cut whose loops go further in some than in others, at most: with 16 a triangle takes 53 % of
/// its square.
pub const PIECES: i64 = 16;

/// Phases that are executed alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Least and greatest band coordinates of the instances.
    pub bounds: Vec<(i64, i64)>,
    /// What is executed in some of these phases.
    pub statements: Vec<usize>,
}

type Bounds = Vec<(i64, i64)>;
/// Of one statement, over band coordinates.
type Domain = Vec<Vec<Constraint>>;

/// The boxes around what statements with these domains do in some phases, so that no phase is in two of them.
pub(super) fn cases(phases: usize, depth: usize, statements: &[&Domain]) -> Vec<Case> {
    let mut cases: Vec<Case> = vec![];
    for (s, domain) in statements.iter().enumerate() {
        let Some(bounds) = flow::domain_bounds(domain, depth) else { continue };
        let apart = |a: &[(i64, i64)], b: &[(i64, i64)]| a.iter().zip(b).take(phases).any(|(x, y)| x.1 < y.0 || y.1 < x.0);
        let mut one = Case { bounds, statements: vec![s] };
        while let Some(k) = cases.iter().position(|other| !apart(&other.bounds, &one.bounds)) {
            let other = cases.swap_remove(k);
            one = Case { bounds: around(&one.bounds, &other.bounds), statements: [one.statements, other.statements].concat() };
        }
        cases.push(one);
    }
    let mut cases: Vec<Case> = cases.into_iter().flat_map(|case| pieces(case, phases, statements)).collect();
    cases.sort_by(|a, b| a.bounds.cmp(&b.bounds));
    cases
}

fn around(a: &[(i64, i64)], b: &[(i64, i64)]) -> Bounds {
    a.iter().zip(b).map(|(x, y)| (x.0.min(y.0), x.1.max(y.1))).collect()
}

/// A case in pieces along one loop of phases, if less is walked then.
fn pieces(case: Case, phases: usize, statements: &[&Domain]) -> Vec<Case> {
    // Loops begin where the first of all iterations does.
    let walked = |d: usize, b: (i64, i64)| i128::from(b.1 - if d < phases { b.0 } else { case.bounds[d].0 } + 1);
    let volume = |bounds: &[(i64, i64)]| bounds.iter().enumerate().map(|(d, b)| walked(d, *b)).product::<i128>();
    let total = |all: &[Case]| all.iter().map(|c| volume(&c.bounds)).sum::<i128>();
    let couples = |p: usize| move |c: &Constraint| c.expr.coeffs[p] != 0 && c.expr.coeffs[phases..].iter().any(|&x| x != 0);
    let bends = |p: usize| case.statements.iter().flat_map(|&s| statements[s].iter().flatten()).any(couples(p));
    let along = (0..phases).filter(|&p| case.bounds[p].1 > case.bounds[p].0 && bends(p));
    let cut = along.map(|p| cut(&case, p, phases, statements)).min_by_key(|all| total(all));
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
            let here: Vec<Vec<Constraint>> = statements[s].iter().map(|all| [all.as_slice(), &within].concat()).collect();
            let Some(bounds) = flow::domain_bounds(&here, depth) else { continue };
            piece = Some(match piece {
                None => Case { bounds, statements: vec![s] },
                Some(mut known) => {
                    known.statements.push(s);
                    Case { bounds: around(&known.bounds, &bounds), ..known }
                }
            });
        }
        let Some(piece) = piece else { continue };
        let same = |(d, (a, b)): (usize, (&(i64, i64), &(i64, i64)))| if d == p { a.1 + 1 == b.0 } else { a.1 == b.1 && (d >= phases || a.0 == b.0) };
        match all.last_mut() {
            Some(last) if last.bounds.iter().zip(&piece.bounds).enumerate().all(same) => {
                last.bounds = around(&last.bounds, &piece.bounds);
                last.statements.extend(piece.statements.iter().filter(|s| !last.statements.contains(s)).copied().collect::<Vec<_>>());
            }
            _ => all.push(piece),
        }
    }
    all
}
