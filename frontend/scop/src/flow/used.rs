//! Where the value of a read affects the statement's result. `i > 0 ? a[i - 1] : 0` uses `a[i - 1]` for `i > 0` only.
//!
//! A read outside this region may be undefined without harm. The answer is a superset of the exact region: a condition
//! on data counts as possible.

use crate::{Affine, BinaryOp, Constraint, Expr, ExprKind};

/// A union of conjunctions over a statement's iterators.
type Union = Vec<Vec<Constraint>>;

/// Where the value of read `k` affects an expression; `None` for everywhere.
pub(super) fn used_where(e: &Expr, k: usize) -> Option<Union> {
    match &e.kind {
        ExprKind::Read(read) if *read == k => None,
        ExprKind::Select(c, a, b) => {
            let branches =
                [(a, holds(c)), (b, fails(c))].into_iter().map(|(branch, when)| both(used_where(branch, k), when));
            branches.chain([used_where(c, k)]).try_fold(vec![], either)
        }
        _ => e.operands().into_iter().map(|operand| used_where(operand, k)).try_fold(vec![], either),
    }
}

fn either(mut all: Union, more: Option<Union>) -> Option<Union> {
    all.extend(more?);
    Some(all)
}

/// Where both hold; `None` for everywhere.
fn both(a: Option<Union>, b: Option<Union>) -> Option<Union> {
    let (Some(a), Some(b)) = (&a, &b) else { return a.or(b) };
    Some(a.iter().flat_map(|x| b.iter().map(move |y| [x.as_slice(), y].concat())).collect())
}

/// Where a condition over the iterators holds; `None` for one over other values.
fn holds(c: &Expr) -> Option<Union> {
    match &c.kind {
        ExprKind::Holds(all) => Some(vec![all.clone()]),
        ExprKind::Binary(BinaryOp::Or, a, b) => either(holds(a)?, holds(b)),
        ExprKind::Binary(BinaryOp::And, a, b) => both(Some(holds(a)?), Some(holds(b)?)),
        _ => None,
    }
}

/// Where a condition over the iterators fails; `None` for one over other values.
fn fails(c: &Expr) -> Option<Union> {
    match &c.kind {
        ExprKind::Holds(all) => Some(all.iter().flat_map(beyond).collect()),
        ExprKind::Binary(BinaryOp::Or, a, b) => both(Some(fails(a)?), Some(fails(b)?)),
        ExprKind::Binary(BinaryOp::And, a, b) => either(fails(a)?, fails(b)),
        _ => None,
    }
}

/// Where a constraint does not hold.
fn beyond(c: &Constraint) -> Union {
    let below = Affine { coeffs: c.expr.coeffs.iter().map(|x| -x).collect(), constant: -c.expr.constant - 1 };
    let above = Affine { constant: c.expr.constant - 1, ..c.expr.clone() };
    let sides = [Some(below), c.equality.then_some(above)];
    sides.into_iter().flatten().map(|expr| vec![Constraint { expr, equality: false }]).collect()
}
