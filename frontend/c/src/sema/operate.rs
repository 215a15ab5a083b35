//! Construction of typed expressions: conversions, operators with C's operand types, constant folding, recognition of
//! min and max. It knows no names and reports no faults.

use super::types::{promote, usual};
use scop::diag::Span;
use scop::literal::F64;
use scop::value;
use scop::{Affine, BinaryOp, Expr, ExprKind, ScalarType, UnaryOp};

pub(super) fn node(kind: ExprKind, ty: ScalarType, span: Span) -> Expr {
    Expr { kind, ty, span }
}

pub(super) fn constant(bits: u64, ty: ScalarType, span: Span) -> Expr {
    node(ExprKind::Const(bits), ty, span)
}

pub(super) fn truth(value: bool, span: Span) -> Expr {
    constant(value as u64, ScalarType::BOOL, span)
}

/// C's conversion of `e` to `to`.
pub(super) fn convert(e: Expr, to: ScalarType) -> Expr {
    if e.ty == to {
        return e;
    }
    if let ExprKind::Const(bits) = e.kind {
        return constant(value::cast(bits, e.ty, to), to, e.span);
    }
    if to == ScalarType::BOOL {
        return to_bool(e);
    }
    if e.ty == F64 && to.is_float() {
        if let Some(narrow) = narrowed(&e, to) {
            return narrow;
        }
    }
    if let Some(direct) = shortened(&e, to) {
        return direct;
    }
    let span = e.span;
    node(ExprKind::Cast(Box::new(e)), to, span)
}

/// An integer that is widened and narrowed again, converted directly; `None` if that may change its value.
fn shortened(e: &Expr, to: ScalarType) -> Option<Expr> {
    if e.ty.is_float() || to.is_float() {
        return None;
    }
    match &e.kind {
        ExprKind::Cast(inner) if !inner.ty.is_float() && (to.bits() <= e.ty.bits() || contains(inner.ty, e.ty)) => {
            Some(convert((**inner).clone(), to))
        }
        ExprKind::Select(c, a, b)
            if [a, b].iter().all(|x| shortened(x, to).is_some() || matches!(x.kind, ExprKind::Const(_))) =>
        {
            let (a, b) = (convert((**a).clone(), to), convert((**b).clone(), to));
            Some(select((**c).clone(), a, b, e.span))
        }
        ExprKind::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b)
            if [a, b].iter().all(|x| bare(x).is_some_and(|y| y.ty == to)) =>
        {
            Some(binary(*op, bare(a)?.clone(), bare(b)?.clone(), e.span))
        }
        _ => None,
    }
}

/// Whether the integer type `to` contains every value of `from`.
fn contains(from: ScalarType, to: ScalarType) -> bool {
    from.bits() < to.bits() && (to.signed() || !from.signed()) || from == to
}

/// `e != 0`; for a comparison that was converted to `int`, the comparison itself.
pub(super) fn to_bool(e: Expr) -> Expr {
    if e.ty == ScalarType::BOOL {
        return e;
    }
    let span = e.span;
    match e.kind {
        ExprKind::Cast(inner) if inner.ty == ScalarType::BOOL => *inner,
        ExprKind::Const(bits) => truth(value::cast(bits, e.ty, ScalarType::BOOL) != 0, span),
        _ => {
            let zero = constant(0, e.ty, span);
            binary(BinaryOp::Ne, e, zero, span)
        }
    }
}

/// `e` of type double in the narrower float type `to`, if no rounding can occur.
fn exactly(e: &Expr, to: ScalarType) -> Option<Expr> {
    let significant = |ty: ScalarType| match ty {
        ScalarType::Float { fraction, .. } => fraction + 1,
        ScalarType::Int { bits, signed } => bits - signed as u32,
    };
    match &e.kind {
        ExprKind::Const(bits) => {
            let narrow = value::cast(*bits, e.ty, to);
            (value::cast(narrow, to, e.ty) == *bits).then(|| constant(narrow, to, e.span))
        }
        ExprKind::Cast(inner) => {
            let fits = match (inner.ty, to) {
                (ScalarType::Float { exponent: a, .. }, ScalarType::Float { exponent: b, .. }) => {
                    a <= b && significant(inner.ty) <= significant(to)
                }
                (_, ScalarType::Float { exponent, .. }) => exponent >= 8 && significant(inner.ty) <= significant(to),
                _ => false,
            };
            fits.then(|| convert((**inner).clone(), to))
        }
        _ => None,
    }
}

/// A double operation rounded to `to`, as the operation in `to`: equal if `to` represents the operands exactly, because
/// double has at least 2p + 2 significant bits (see `scop::value`).
fn narrowed(e: &Expr, to: ScalarType) -> Option<Expr> {
    if to.bits() >= 64 {
        return None;
    }
    match &e.kind {
        ExprKind::Binary(
            op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Min | BinaryOp::Max),
            a,
            b,
        ) => Some(binary(*op, exactly(a, to)?, exactly(b, to)?, e.span)),
        ExprKind::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sqrt), a) => {
            Some(unary(*op, exactly(a, to)?, e.span))
        }
        ExprKind::Select(c, a, b) => {
            let part = |x: &Expr| exactly(x, to).or_else(|| narrowed(x, to));
            let (a, b) = (part(a)?, part(b)?);
            Some(node(ExprKind::Select(c.clone(), Box::new(a), Box::new(b)), to, e.span))
        }
        _ => exactly(e, to),
    }
}

pub(super) fn unary(op: UnaryOp, a: Expr, span: Span) -> Expr {
    let ty = a.ty;
    match (&a.kind, op) {
        (ExprKind::Const(bits), _) => constant(value::eval_unary(op, *bits, ty), ty, span),
        (ExprKind::Iter(form), UnaryOp::Neg) => {
            match super::form::add_scaled(&Affine::constant(form.coeffs.len(), 0), form, -1) {
                Some(form) => node(ExprKind::Iter(form), ty, span),
                None => node(ExprKind::Unary(op, Box::new(a)), ty, span),
            }
        }
        _ => node(ExprKind::Unary(op, Box::new(a)), ty, span),
    }
}

/// Logical negation of a condition.
pub(super) fn not(condition: Expr, span: Span) -> Expr {
    match condition.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => *inner,
        ExprKind::Binary(BinaryOp::Eq, a, b) => node(ExprKind::Binary(BinaryOp::Ne, a, b), ScalarType::BOOL, span),
        ExprKind::Binary(BinaryOp::Ne, a, b) => node(ExprKind::Binary(BinaryOp::Eq, a, b), ScalarType::BOOL, span),
        // Floats are not totally ordered.
        ExprKind::Binary(BinaryOp::Lt, a, b) if !a.ty.is_float() => {
            node(ExprKind::Binary(BinaryOp::Le, b, a), ScalarType::BOOL, span)
        }
        ExprKind::Binary(BinaryOp::Le, a, b) if !a.ty.is_float() => {
            node(ExprKind::Binary(BinaryOp::Lt, b, a), ScalarType::BOOL, span)
        }
        _ => unary(UnaryOp::Not, condition, span),
    }
}

/// `a op b` on operands of one type (of any integer types for shifts).
pub(super) fn binary(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    let comparison = matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le);
    let ty = if comparison { ScalarType::BOOL } else { a.ty };
    if let (ExprKind::Const(x), ExprKind::Const(y)) = (&a.kind, &b.kind) {
        return constant(value::eval_binary(op, *x, *y, a.ty, b.ty), ty, span);
    }
    if let Some(form) = affine(op, &a, &b) {
        return node(ExprKind::Iter(form), ty, span);
    }
    if let Some(plain) = neutral(op, &a, &b) {
        return plain;
    }
    node(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span)
}

/// An iterator's affine form, or an integer constant as one.
fn form(e: &Expr) -> Option<Affine> {
    match &e.kind {
        ExprKind::Iter(form) => Some(form.clone()),
        ExprKind::Const(bits) if !e.ty.is_float() => {
            i64::try_from(value::to_integer(*bits, e.ty)).ok().map(|c| Affine::constant(0, c))
        }
        _ => None,
    }
}

/// The affine form of a sum or multiple of forms (both sides wrap around in the same type).
fn affine(op: BinaryOp, a: &Expr, b: &Expr) -> Option<Affine> {
    if a.ty.is_float() || a.ty.bits() < 32 {
        return None;
    }
    let (x, y) = (form(a)?, form(b)?);
    match op {
        BinaryOp::Add => super::form::add_scaled(&x, &y, 1),
        BinaryOp::Sub => super::form::add_scaled(&x, &y, -1),
        BinaryOp::Mul if y.is_constant() => {
            super::form::add_scaled(&Affine::constant(x.coeffs.len(), 0), &x, y.constant)
        }
        BinaryOp::Mul if x.is_constant() => {
            super::form::add_scaled(&Affine::constant(y.coeffs.len(), 0), &y, x.constant)
        }
        _ => None,
    }
}

/// Simplifies `x + 0`, `x - 0`, `x * 1`, and bitwise operators with all zeros or all ones. Integers only.
fn neutral(op: BinaryOp, a: &Expr, b: &Expr) -> Option<Expr> {
    if a.ty.is_float() {
        return None;
    }
    let is = |e: &Expr, bits: u64| e.kind == ExprKind::Const(bits);
    let all = value::mask(a.ty.bits());
    match op {
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if is(b, 0) => Some(a.clone()),
        BinaryOp::Sub | BinaryOp::Shl | BinaryOp::Shr if is(b, 0) => Some(a.clone()),
        BinaryOp::Add | BinaryOp::Or | BinaryOp::Xor if is(a, 0) => Some(b.clone()),
        BinaryOp::Mul | BinaryOp::Div if is(b, 1) => Some(a.clone()),
        BinaryOp::Mul if is(a, 1) => Some(b.clone()),
        BinaryOp::And if is(b, all) => Some(a.clone()),
        BinaryOp::And if is(a, all) => Some(b.clone()),
        BinaryOp::And if is(a, 0) || is(b, 0) => Some(constant(0, a.ty, a.span)),
        BinaryOp::Or if is(a, all) || is(b, all) => Some(constant(all, a.ty, a.span)),
        _ => None,
    }
}

/// An arithmetic or bitwise operator of C with its conversions; the error says why the types do not fit.
pub(super) fn arithmetic(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Result<Expr, String> {
    let integral =
        matches!(op, BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr);
    if integral && (a.ty.is_float() || b.ty.is_float()) {
        return Err("this operator needs integers".into());
    }
    if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
        let (left, right) = (promote(a.ty), promote(b.ty));
        return Ok(binary(op, convert(a, left), convert(b, right), span));
    }
    let ty = usual(a.ty, b.ty).ok_or("_Float16 and __bf16 have no common type")?;
    Ok(binary(op, convert(a, ty), convert(b, ty), span))
}

/// A comparison `Eq`, `Ne`, `Lt` or `Le`, of type BOOL.
pub(super) fn compare(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Result<Expr, String> {
    let ty = usual(a.ty, b.ty).ok_or("_Float16 and __bf16 have no common type")?;
    let (a, b) = (convert(a, ty), convert(b, ty));
    if ty == F64 {
        // Both sides were converted from one narrower type: compare in that type.
        for narrow in [scop::literal::F16, scop::literal::BF16, scop::literal::F32] {
            if let (Some(a), Some(b)) = (exactly(&a, narrow), exactly(&b, narrow)) {
                return Ok(binary(op, a, b, span));
            }
        }
    }
    Ok(binary(op, a, b, span))
}

/// `condition ? a : b` on operands of one type.
pub(super) fn select(condition: Expr, a: Expr, b: Expr, span: Span) -> Expr {
    if let ExprKind::Const(bits) = condition.kind {
        return if bits != 0 { a } else { b };
    }
    if equal(&a, &b) {
        return a;
    }
    if let Some(op) = extremum(&condition, &a, &b) {
        return binary(op, a, b, span);
    }
    let ty = a.ty;
    if let ExprKind::Unary(UnaryOp::Not, inner) = condition.kind {
        return select(*inner, b, a, span);
    }
    node(ExprKind::Select(Box::new(condition), Box::new(a), Box::new(b)), ty, span)
}

/// `Min` or `Max`, if the integer selection picks the lesser or greater of `a` and `b`.
fn extremum(condition: &Expr, a: &Expr, b: &Expr) -> Option<BinaryOp> {
    let ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le, p, q) = &condition.kind else { return None };
    if p.ty.is_float() || a.ty.is_float() {
        return None;
    }
    let (p, q, a, b) = (bare(p)?, bare(q)?, bare(a)?, bare(b)?);
    if equal(p, a) && equal(q, b) {
        Some(BinaryOp::Min)
    } else if equal(p, b) && equal(q, a) {
        Some(BinaryOp::Max)
    } else {
        None
    }
}

/// The operand under value-preserving integer conversions; `None` if a conversion may change the value.
pub(super) fn bare(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Cast(inner) if !inner.ty.is_float() => {
            if contains(inner.ty, e.ty) {
                bare(inner)
            } else {
                None
            }
        }
        _ => Some(e),
    }
}

/// Structural equality, ignoring spans; integer constants are compared by value.
pub(super) fn equal(a: &Expr, b: &Expr) -> bool {
    use ExprKind::*;
    match (&a.kind, &b.kind) {
        (Const(x), Const(y)) if !a.ty.is_float() && !b.ty.is_float() => {
            value::to_integer(*x, a.ty) == value::to_integer(*y, b.ty)
        }
        _ if a.ty != b.ty => false,
        (Const(x), Const(y)) => x == y,
        (Iter(x), Iter(y)) => x == y,
        (Read(x), Read(y)) => x == y,
        (Unary(o, x), Unary(p, y)) => o == p && equal(x, y),
        (Binary(o, x, z), Binary(p, y, w)) => o == p && equal(x, y) && equal(z, w),
        (Select(x, z, u), Select(y, w, v)) | (Fma(x, z, u), Fma(y, w, v)) => equal(x, y) && equal(z, w) && equal(u, v),
        (Cast(x), Cast(y)) => equal(x, y),
        _ => false,
    }
}
