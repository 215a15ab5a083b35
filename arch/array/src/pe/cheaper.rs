//! Expressions with the same bits by cheaper operators.
//!
//! | expression | becomes | because |
//! | --- | --- | --- |
//! | integer `x / 2^k`, `x % 2^k` | shifts and masks | a divider has a stage for each bit |
//! | integer `(x << k) >> k`, `x & (2^k - 1)` | conversions to the low bits | wires, and multipliers are built for so many bits |
//! | float `x / ±2^k` | `x * ±2^-k` | both round the same number once |
//! | `(T)(c ? 1 : 0)` | `c ? (T)1 : (T)0` | constants are converted here |
//! | `(half)sqrtf(h)` | the square root of a half | a root that is rounded to 2 p + 2 bits first, then to p bits, is the same |
//!
//! The last line is Figueroa, "When is double rounding innocuous?" (1995); a root is never subnormal.

use scop::value::{cast, mask};
use scop::{BinaryOp, Expr, ExprKind, ScalarType, UnaryOp};

/// The cheaper expression, if there is one; its operands may have one, too.
pub fn cheaper(e: &Expr) -> Option<Expr> {
    match &e.kind {
        ExprKind::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), x, by) => {
            let ExprKind::Const(by) = by.kind else { return None };
            match e.ty {
                ScalarType::Int { bits, signed } if x.ty == e.ty => integer(*op, x, by & mask(bits), bits, signed),
                ScalarType::Float { exponent, fraction } if *op == BinaryOp::Div => {
                    reciprocal(by, exponent, fraction).map(|by| binary(BinaryOp::Mul, x, &constant(by, x)))
                }
                _ => None,
            }
        }
        ExprKind::Binary(BinaryOp::Shr, x, by) => shifted_back(x, known(by)?, e),
        ExprKind::Binary(BinaryOp::And, x, mask) => {
            known(mask).and_then(|mask| masked(x, mask, e)).or_else(|| masked(mask, known(x)?, e))
        }
        ExprKind::Cast(inner) => converted(inner, e),
        _ => None,
    }
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())), ..a.clone() }
}

fn constant(bits: u64, like: &Expr) -> Expr {
    Expr { kind: ExprKind::Const(bits), ..like.clone() }
}

/// C rounds quotients towards zero: a negative number is raised by one less than the divisor before it is shifted.
fn integer(op: BinaryOp, x: &Expr, by: u64, bits: u32, signed: bool) -> Option<Expr> {
    let k = by.trailing_zeros();
    let most = if signed { bits.saturating_sub(1) } else { bits };
    if !by.is_power_of_two() || k == 0 || k >= most {
        return None;
    }
    let (below, number) = (by - 1, |n: u64| constant(n & mask(bits), x));
    let raised = if signed {
        let sign = binary(BinaryOp::Shr, x, &number(u64::from(bits) - 1));
        binary(BinaryOp::Add, x, &binary(BinaryOp::And, &sign, &number(below)))
    } else {
        x.clone()
    };
    Some(match (op, signed) {
        (BinaryOp::Div, _) => binary(BinaryOp::Shr, &raised, &number(k.into())),
        (_, false) => binary(BinaryOp::And, x, &number(below)),
        (_, true) => binary(BinaryOp::Sub, x, &binary(BinaryOp::And, &raised, &number(!below))),
    })
}

/// The bits of a constant, also behind conversions.
fn known(e: &Expr) -> Option<u64> {
    match &e.kind {
        ExprKind::Const(bits) => Some(*bits),
        ExprKind::Cast(inner) => Some(cast(known(inner)?, inner.ty, e.ty)),
        _ => None,
    }
}

/// The low bits of a value, extended to the type of `e`. One bit alone would be a truth value.
fn low_bits(x: &Expr, bits: u32, signed: bool, e: &Expr) -> Option<Expr> {
    (bits > 1 && bits < e.ty.bits()).then(|| {
        let mut x = x;
        while let ExprKind::Cast(inner) = &x.kind {
            if inner.ty.is_float() || inner.ty.bits() < bits || x.ty.bits() < bits {
                break;
            }
            x = inner;
        }
        let low = Expr { kind: ExprKind::Cast(Box::new(x.clone())), ty: ScalarType::Int { bits, signed }, ..e.clone() };
        Expr { kind: ExprKind::Cast(Box::new(low)), ..e.clone() }
    })
}

/// A value that was shifted to the left before.
fn shifted_back(shifted: &Expr, by: u64, e: &Expr) -> Option<Expr> {
    let ExprKind::Binary(BinaryOp::Shl, x, before) = &shifted.kind else { return None };
    let ScalarType::Int { bits, signed } = e.ty else { return None };
    let by = (known(before)? == by && x.ty == e.ty).then_some(u32::try_from(by).ok()?)?;
    low_bits(x, bits.checked_sub(by)?, signed, e)
}

fn masked(x: &Expr, mask: u64, e: &Expr) -> Option<Expr> {
    let is_low = (mask & (mask.wrapping_add(1))) == 0 && x.ty == e.ty && !e.ty.is_float();
    low_bits(x, 64 - mask.leading_zeros(), false, e).filter(|_| is_low)
}

/// One divided by a power of two, if both are normal numbers.
fn reciprocal(by: u64, exponent: u32, fraction: u32) -> Option<u64> {
    let bias = (1u64 << (exponent - 1)) - 1;
    let (sign, power) = (by >> (exponent + fraction) & 1, by >> fraction & mask(exponent));
    let normal = |power: u64| (1..=2 * bias).contains(&power);
    (by & mask(fraction) == 0 && normal(power) && power < 2 * bias)
        .then(|| sign << (exponent + fraction) | (2 * bias - power) << fraction)
}

/// A conversion to the type of `e`.
fn converted(inner: &Expr, e: &Expr) -> Option<Expr> {
    match &inner.kind {
        ExprKind::Select(c, a, b) => {
            let number = |x: &Expr| match x.kind {
                ExprKind::Const(bits) => Some(Box::new(constant(cast(bits, x.ty, e.ty), e))),
                _ => None,
            };
            Some(Expr { kind: ExprKind::Select(c.clone(), number(a)?, number(b)?), ..e.clone() })
        }
        ExprKind::Unary(UnaryOp::Sqrt, wide) => {
            let ExprKind::Cast(x) = &wide.kind else { return None };
            let enough = match (e.ty, inner.ty) {
                (ScalarType::Float { exponent, fraction }, ScalarType::Float { exponent: wider, fraction: longer }) => {
                    wider >= exponent && longer + 1 >= 2 * (fraction + 1) + 2
                }
                _ => false,
            };
            (enough && x.ty == e.ty).then(|| Expr { kind: ExprKind::Unary(UnaryOp::Sqrt, x.clone()), ..e.clone() })
        }
        _ => None,
    }
}
