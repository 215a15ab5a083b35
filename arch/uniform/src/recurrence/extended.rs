//! Extended sums: a sum in any order that covers the whole array.
//!
//! **Problem.** Such a sum runs along its loops from one end of the array to the other. If other statements reach
//! further, as the border of a matrix does around the cells whose maximum is sought, it ends too early and has to keep
//! its order.
//!
//! **Method.** Extend the sum to where the others are. Beyond its own iterations the neutral value takes the place of
//! its term: `m = max(m, a[i])` for `1 <= i < 7` becomes `m = max(m, 1 <= i < 7 ? a[i] : NaN)` for `0 <= i < 8`.
//!
//! **Invariant.** Taken only if no sum loses its freedom and the iteration space stays the same ([`is_better`]).

use crate::recurrence::reduction;
use crate::system::{Kind, System};
use scop::flow;
use scop::{Affine, Constraint, Expr, ExprKind, ScalarType, Scop, Statement};

/// The program with extended sums; `None` if there are none.
pub(super) fn extended(scop: &Scop, system: &System, reassociate: Option<bool>) -> Option<Scop> {
    let mut out = scop.clone();
    let mut any = false;
    for (s, statement) in out.statements.iter_mut().enumerate() {
        if reduction::find(scop, system, s, reassociate).is_some() {
            continue;
        }
        if let Some(full) = extend(scop, system, s, reassociate) {
            *statement = full;
            any = true;
        }
    }
    any.then_some(out)
}

/// Whether more sums may have any order, over the same iteration space.
pub(super) fn is_better(new: (&Scop, &System), old: (&Scop, &System), reassociate: Option<bool>) -> bool {
    let found = |(scop, system): (&Scop, &System)| -> Vec<bool> {
        (0..scop.statements.len()).map(|s| reduction::find(scop, system, s, reassociate).is_some()).collect()
    };
    let (free, before) = (found(new), found(old));
    let box_of = |system: &System| -> Vec<(i64, i64)> { system.dims.iter().map(|d| (d.lo, d.hi)).collect() };
    box_of(new.1) == box_of(old.1) && free != before && free.iter().zip(before).all(|(new, old)| *new || !old)
}

/// The statement over all coordinates of the loops that it sums over, if no other constraint of its domain depends on
/// them.
fn extend(scop: &Scop, system: &System, s: usize, reassociate: Option<bool>) -> Option<Statement> {
    let (statement, placed) = (&scop.statements[s], &system.statements[s]);
    let depth = statement.loops.len();
    let old = reduction::accumulator(scop, s, reassociate)?;
    let [domain] = statement.domain.as_slice() else { return None };
    let bounds = flow::domain_bounds(&placed.domain, system.dims.len())?;
    let mut ends = vec![];
    let mut extends = vec![false; depth];
    for (k, at) in placed.iterators.iter().enumerate() {
        let mut used = (0..at.coeffs.len()).filter(|&d| at.coeffs[d] != 0);
        let (Some(d), None) = (used.next(), used.next()) else { continue };
        let (sign, dim) = (at.coeffs[d], &system.dims[d]);
        let summed = statement.write.subscripts.iter().all(|a| a.coeffs[k] == 0);
        if dim.kind <= Kind::Sequence || sign.abs() != 1 || !summed || (dim.lo, dim.hi) == bounds[d] {
            continue;
        }
        let coupled = |c: &Constraint| {
            c.expr.coeffs[k] != 0 && (c.equality || (0..depth).any(|e| e != k && c.expr.coeffs[e] != 0))
        };
        if domain.iter().any(coupled) {
            return None;
        }
        let (a, b) = (sign * dim.lo + at.constant, sign * dim.hi + at.constant);
        let bound = |sign: i64, constant: i64| {
            let mut expr = Affine::constant(depth, constant);
            expr.coeffs[k] = sign;
            Constraint { expr, equality: false }
        };
        ends.extend([bound(1, -a.min(b)), bound(-1, a.max(b))]);
        extends[k] = true;
    }
    if ends.is_empty() {
        return None;
    }
    let (condition, rest): (Vec<Constraint>, Vec<Constraint>) =
        domain.iter().cloned().partition(|c| (0..depth).any(|k| extends[k] && c.expr.coeffs[k] != 0));
    let holds = Expr { kind: ExprKind::Holds(condition), ty: ScalarType::BOOL, span: statement.span };
    let domain = vec![[rest, ends].concat()];
    Some(Statement {
        rhs: reduction::masked(scop, statement, old, &holds),
        around: domain.clone(),
        domain,
        ..statement.clone()
    })
}
