//! Addresses as an array and an offset.

use crate::ast::{Binary, Expr, ExprKind};
use scop::ScalarType;

/// The array and the offset of an address.
pub(super) fn split(e: &Expr) -> Option<(Expr, Expr)> {
    let zero = || Expr { kind: ExprKind::Literal(0, ScalarType::I32), span: e.span };
    match &e.kind {
        ExprKind::Name(_) | ExprKind::Index(..) => Some((e.clone(), zero())),
        ExprKind::Address(inner) => match &inner.kind {
            ExprKind::Index(array, at) if !matches!(at.kind, ExprKind::Member(_)) => {
                let (base, offset) = split(array)?;
                // A row's address is no element's address.
                matches!(offset.kind, ExprKind::Literal(0, _)).then(|| (base, (**at).clone()))
            }
            _ => None,
        },
        ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
            let (base, first) = split(a)?;
            let kind = match (op, &first.kind) {
                (Binary::Add, ExprKind::Literal(0, _)) => return Some((base, (**b).clone())),
                _ => ExprKind::Binary(*op, Box::new(first), b.clone()),
            };
            Some((base, Expr { kind, span: e.span }))
        }
        _ => None,
    }
}

/// The address of an element.
pub(super) fn joined(base: Expr, offset: Expr) -> Expr {
    let span = base.span;
    let element = Expr { kind: ExprKind::Index(Box::new(base), Box::new(offset)), span };
    Expr { kind: ExprKind::Address(Box::new(element)), span }
}
