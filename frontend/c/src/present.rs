//! Comparisons of arrays with the null pointer: `if (bias) sum += bias[i];`.
//!
//! Each array of the region has a place in memory when the hardware runs. So an array parameter is never null, and such
//! a condition is known.

use crate::ast::{Binary, Expr, ExprKind, Unary, Unit};
use crate::effects::{declared, rewrite};
use crate::inline::with_operands;
use scop::ScalarType;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Replaces the comparisons in the region. Called after inlining.
pub(crate) fn arrays(unit: &mut Unit) {
    let Some(function) = &unit.function else { return };
    let mut hidden = BTreeSet::new();
    unit.region.iter().for_each(|s| declared(s, &mut hidden));
    hidden.extend(function.locals.iter().map(|d| d.name.clone()));
    let arrays = function.params.iter().filter(|d| !d.is_scalar() && !d.reference && !hidden.contains(&d.name));
    let arrays: BTreeSet<Rc<str>> = arrays.map(|d| d.name.clone()).collect();
    unit.region.iter_mut().for_each(|s| {
        conditions(s, &mut |c| *c = truth(c, &arrays));
        rewrite(s, &mut |e| value(e, &arrays));
    });
}

/// Calls `visit` on the condition of each `if`.
fn conditions(s: &mut crate::ast::Stmt, visit: &mut dyn FnMut(&mut Expr)) {
    use crate::ast::StmtKind::*;
    match &mut s.kind {
        If(c, then, otherwise) => {
            visit(c);
            conditions(then, visit);
            otherwise.iter_mut().for_each(|s| conditions(s, visit));
        }
        For(f) => conditions(&mut f.body, visit),
        Block(all) => all.iter_mut().for_each(|s| conditions(s, visit)),
        _ => {}
    }
}

/// An expression that is a condition.
fn truth(e: &Expr, arrays: &BTreeSet<Rc<str>>) -> Expr {
    match &e.kind {
        ExprKind::Name(name) if arrays.contains(name) => number(1, e),
        ExprKind::Name(_) if is_null(e) => number(0, e),
        _ => value(e, arrays),
    }
}

/// An expression with the conditions in it.
fn value(e: &Expr, arrays: &BTreeSet<Rc<str>>) -> Expr {
    let is_array = |x: &Expr| matches!(&x.kind, ExprKind::Name(name) if arrays.contains(name));
    let kind = match &e.kind {
        ExprKind::Unary(Unary::LogicalNot, a) => ExprKind::Unary(Unary::LogicalNot, Box::new(truth(a, arrays))),
        ExprKind::Binary(op @ (Binary::LogicalAnd | Binary::LogicalOr), a, b) => {
            ExprKind::Binary(*op, Box::new(truth(a, arrays)), Box::new(truth(b, arrays)))
        }
        ExprKind::Binary(op @ (Binary::Eq | Binary::Ne), a, b)
            if is_array(a) && is_null(b) || is_null(a) && is_array(b) =>
        {
            return number(u64::from(*op == Binary::Ne), e);
        }
        ExprKind::Conditional(c, a, b) => {
            ExprKind::Conditional(Box::new(truth(c, arrays)), Box::new(value(a, arrays)), Box::new(value(b, arrays)))
        }
        _ => return with_operands(e, &mut |x| value(x, arrays)),
    };
    Expr { kind, span: e.span }
}

fn is_null(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(0, ty) => !ty.is_float(),
        ExprKind::Name(name) => &**name == "NULL" || &**name == "nullptr",
        _ => false,
    }
}

fn number(n: u64, e: &Expr) -> Expr {
    Expr { kind: ExprKind::Literal(n, ScalarType::I32), span: e.span }
}
