//! Operations on expressions: conversion, elements through pointers, replacement of names.

use crate::ast::{Binary, Expr, ExprKind, TypeName};
use scop::diag::Span;

/// C's conversion of `e` to a scalar type; a structure is not converted.
pub(super) fn converted(ty: &TypeName, e: Expr) -> Expr {
    if let (Some(width), Some(scalar)) = (ty.width, ty.scalar) {
        let span = e.span;
        return Expr { kind: ExprKind::Call(width.name(scalar.signed()).into(), vec![e]), span };
    }
    match ty.scalar.filter(|_| ty.members.is_none()) {
        Some(scalar) if !matches!(e.kind, ExprKind::Cast(ty, _) | ExprKind::Literal(_, ty) if ty == scalar) => {
            let span = e.span;
            Expr { kind: ExprKind::Cast(scalar, Box::new(e)), span }
        }
        _ => e,
    }
}

/// `base[subscript]`, where `base` may be an address or an array plus an offset.
pub(crate) fn element(base: Expr, subscript: Expr, span: Span) -> Expr {
    let index = |base: Expr, subscript: Expr| Expr { kind: ExprKind::Index(Box::new(base), Box::new(subscript)), span };
    if matches!(subscript.kind, ExprKind::Member(_)) {
        return index(base, subscript);
    }
    match base.kind {
        ExprKind::Address(inner) => match inner.kind {
            ExprKind::Index(array, first) if !matches!(first.kind, ExprKind::Member(_)) => {
                element(*array, sum(Binary::Add, *first, subscript), span)
            }
            _ if matches!(subscript.kind, ExprKind::Literal(0, _)) => Expr { span, ..*inner },
            kind => index(
                Expr { kind: ExprKind::Address(Box::new(Expr { kind, span: inner.span })), span: base.span },
                subscript,
            ),
        },
        ExprKind::Binary(op @ (Binary::Add | Binary::Sub), array, first)
            if !matches!(array.kind, ExprKind::Literal(..)) =>
        {
            let zero = matches!(subscript.kind, ExprKind::Literal(0, _));
            let offset = if op == Binary::Add && zero { *first } else { sum(op, subscript, *first) };
            element(*array, offset, span)
        }
        kind => index(Expr { kind, span: base.span }, subscript),
    }
}

fn sum(op: Binary, a: Expr, b: Expr) -> Expr {
    let zero = |e: &Expr| matches!(e.kind, ExprKind::Literal(0, _));
    match op {
        Binary::Add if zero(&a) => b,
        _ if zero(&b) => a,
        _ => {
            let span = a.span;
            Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
        }
    }
}

/// `e` with names replaced by their `value`, if they have one; it is given the place of the use.
pub(super) fn replaced(e: &Expr, value: &dyn Fn(&str, Span) -> Option<Expr>) -> Expr {
    match &e.kind {
        ExprKind::Name(name) => value(name, e.span).unwrap_or_else(|| e.clone()),
        ExprKind::Call(name, all) => {
            Expr { kind: ExprKind::Call(name.clone(), all.iter().map(|a| replaced(a, value)).collect()), span: e.span }
        }
        _ => with_operands(e, &mut |x| replaced(x, value)),
    }
}

/// `e` with `f` applied to its operands.
pub(crate) fn with_operands(e: &Expr, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    use ExprKind::*;
    let kind = match &e.kind {
        Literal(..) | Name(_) | Member(_) | Poison => e.kind.clone(),
        Index(a, b) => Index(Box::new(f(a)), Box::new(f(b))),
        Call(name, all) => Call(name.clone(), all.iter().map(f).collect()),
        Unary(op, a) => Unary(*op, Box::new(f(a))),
        Binary(op, a, b) => Binary(*op, Box::new(f(a)), Box::new(f(b))),
        Conditional(a, b, c) => Conditional(Box::new(f(a)), Box::new(f(b)), Box::new(f(c))),
        Cast(ty, a) => Cast(*ty, Box::new(f(a))),
        Assign(op, a, b) => Assign(*op, Box::new(f(a)), Box::new(f(b))),
        Step(op, a) => Step(*op, Box::new(f(a))),
        Comma(a, b) => Comma(Box::new(f(a)), Box::new(f(b))),
        Address(a) => Address(Box::new(f(a))),
        SizeOf(a) => SizeOf(Box::new(f(a))),
    };
    Expr { kind, span: e.span }
}
