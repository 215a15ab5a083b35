//! Contraction (C17 6.5 p8): `a * b + c` within one expression becomes a fused multiply–add, which rounds once.
//!
//! C leaves open which sums are contracted. Here every floating-point sum or difference is, if an operand is a product
//! of the same type; if both are, the left one. Negation is exact, so `a * b - c` becomes `fma(a, b, -c)` and
//! `c - a * b` becomes `fma(-a, b, c)`. A product that is converted or stored first is rounded there and is not
//! contracted.

use crate::{BinaryOp, Expr, ExprKind, ScalarType, Scop, UnaryOp};

/// The program with contracted expressions. Contracting twice changes nothing.
pub fn contracted(scop: &Scop) -> Scop {
    let mut scop = scop.clone();
    scop.statements.iter_mut().for_each(|s| s.rhs = expression(&s.rhs));
    scop
}

fn expression(e: &Expr) -> Expr {
    let e = e.with_operands(expression);
    match &e.kind {
        ExprKind::Binary(op, a, b) => fused(*op, a, b, e.ty).map_or(e.clone(), |kind| Expr { kind, ..e.clone() }),
        _ => e,
    }
}

fn fused(op: BinaryOp, a: &Expr, b: &Expr, ty: ScalarType) -> Option<ExprKind> {
    let subtract = match op {
        BinaryOp::Add => false,
        BinaryOp::Sub => true,
        _ => return None,
    };
    let signed = |x: &Expr, negate: bool| Box::new(if negate { negated(x) } else { x.clone() });
    match (factors(a, ty), factors(b, ty)) {
        (Some([x, y]), _) => Some(ExprKind::Fma(Box::new(x.clone()), Box::new(y.clone()), signed(b, subtract))),
        (None, Some([x, y])) => Some(ExprKind::Fma(signed(x, subtract), Box::new(y.clone()), Box::new(a.clone()))),
        (None, None) => None,
    }
}

/// The factors of a product that is a float of type `ty`.
fn factors(e: &Expr, ty: ScalarType) -> Option<[&Expr; 2]> {
    match &e.kind {
        ExprKind::Binary(BinaryOp::Mul, x, y) if ty.is_float() && e.ty == ty => Some([x, y]),
        _ => None,
    }
}

fn negated(e: &Expr) -> Expr {
    Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(e.clone())), ..e.clone() }
}
