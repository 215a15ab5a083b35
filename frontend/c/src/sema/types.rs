//! C's conversions on scalar types: integer promotion and the usual arithmetic conversions (C17 6.3.1).
//! `long` and `long long` are both 64 bits wide; `char` is signed.

use crate::ast;
use crate::ast::{Binary, ExprKind, Unary};
use scop::literal::{int, BF16, F16, F32, F64};
use scop::{HostFunction, ScalarType};

/// Integer promotion: types narrower than `int` become `int`.
pub fn promote(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::Int { bits, .. } if bits < 32 => ScalarType::I32,
        _ => ty,
    }
}

/// The common type of two operands; `None` for `_Float16` with `__bf16`, because neither contains the other.
pub fn usual(a: ScalarType, b: ScalarType) -> Option<ScalarType> {
    match (a, b) {
        (ScalarType::Float { .. }, ScalarType::Float { .. }) => {
            if (a, b) == (F16, BF16) || (a, b) == (BF16, F16) {
                None
            } else {
                Some(if a.bits() >= b.bits() { a } else { b })
            }
        }
        (ScalarType::Float { .. }, _) => Some(a),
        (_, ScalarType::Float { .. }) => Some(b),
        _ => {
            let (a, b) = (promote(a), promote(b));
            let bits = a.bits().max(b.bits());
            let unsigned = [a, b].iter().any(|t| t.bits() == bits && !t.signed());
            Some(int(bits, !unsigned))
        }
    }
}

/// Functions of <math.h> and <stdlib.h>: number of arguments, type of arguments and result.
pub(super) fn function(name: &str) -> Option<(usize, ScalarType)> {
    if let Some((f, ty)) = HostFunction::named(name) {
        return Some((f.arguments(), ty));
    }
    Some(match name {
        "sqrtf" | "fabsf" => (1, F32),
        "fminf" | "fmaxf" => (2, F32),
        "fmaf" => (3, F32),
        "sqrt" | "fabs" => (1, F64),
        "fmin" | "fmax" => (2, F64),
        "fma" => (3, F64),
        "abs" => (1, ScalarType::I32),
        "labs" | "llabs" => (1, ScalarType::Int { bits: 64, signed: true }),
        _ => return None,
    })
}

/// The C type of an expression, given those of its names, elements and calls.
pub(crate) fn type_of(e: &ast::Expr, leaf: &dyn Fn(&ast::Expr) -> Option<ScalarType>) -> Option<ScalarType> {
    let of = |e| type_of(e, leaf);
    match &e.kind {
        ExprKind::Literal(_, ty) | ExprKind::Cast(ty, _) => Some(*ty),
        ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Call(..) => leaf(e),
        ExprKind::Unary(Unary::LogicalNot, _) => Some(ScalarType::I32),
        ExprKind::Unary(_, a) | ExprKind::Binary(Binary::Shl | Binary::Shr, a, _) => of(a).map(promote),
        ExprKind::Binary(op, ..) if op.is_comparison() || matches!(op, Binary::LogicalAnd | Binary::LogicalOr) => {
            Some(ScalarType::I32)
        }
        ExprKind::Binary(_, a, b) | ExprKind::Conditional(_, a, b) => usual(of(a)?, of(b)?),
        _ => None,
    }
}

/// C's spelling of a type, for messages and generated names.
pub fn spelling(ty: ScalarType) -> String {
    match ty {
        ScalarType::BOOL => "_Bool".into(),
        ScalarType::Int { bits, signed } => format!("{}int{bits}_t", if signed { "" } else { "u" }),
        F16 => "_Float16".into(),
        BF16 => "__bf16".into(),
        ScalarType::Float { exponent: 8, fraction: 23 } => "float".into(),
        ScalarType::Float { exponent: 11, fraction: 52 } => "double".into(),
        ScalarType::Float { exponent, fraction } => format!("float{exponent}_{fraction}"),
    }
}
