//! Expressions with the same bits by cheaper operators.
//!
//! | expression | becomes | because |
//! | --- | --- | --- |
//! | integer `x / 2^k`, `x % 2^k` | shifts and masks | a divider has a stage for each bit |
//! | float `x / ±2^k` | `x * ±2^-k` | both round the same number once |
//! | `(T)(c ? 1 : 0)` | `c ? (T)1 : (T)0` | constants are converted here |
//! | `(half)sqrtf(h)` | the square root of a half | a root that is rounded to 2 p + 2 bits first, then to p bits, is the same |
//!
//! The last line is Figueroa, "When is double rounding innocuous?" (1995); a root is never subnormal.

use scop::value::{cast, mask};
use scop::{BinaryOp, Expr, ExprKind, ScalarType, UnaryOp};

/// The cheaper expression, if there is one; its operands may have one, too.
pub(super) fn cheaper(e: &Expr) -> Option<Expr> {
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

#[cfg(test)]
mod tests {
    use super::cheaper;
    use scop::diag::Span;
    use scop::value::{cast, eval_binary, eval_unary, mask};
    use scop::{BinaryOp, Expr, ExprKind, ScalarType, UnaryOp};

    const HALF: ScalarType = ScalarType::Float { exponent: 5, fraction: 10 };
    const SINGLE: ScalarType = ScalarType::Float { exponent: 8, fraction: 23 };

    fn expr(kind: ExprKind, ty: ScalarType) -> Expr {
        Expr { kind, ty, span: Span::default() }
    }

    /// The value of an expression over one read.
    fn eval(e: &Expr, x: u64) -> u64 {
        match &e.kind {
            ExprKind::Const(c) => *c,
            ExprKind::Read(_) => x,
            ExprKind::Unary(op, a) => eval_unary(*op, eval(a, x), e.ty),
            ExprKind::Binary(op, a, b) => eval_binary(*op, eval(a, x), eval(b, x), a.ty, b.ty),
            ExprKind::Cast(a) => cast(eval(a, x), a.ty, e.ty),
            ExprKind::Select(c, a, b) => eval(if eval(c, x) & 1 == 1 { a } else { b }, x),
            other => panic!("{other:?}"),
        }
    }

    fn same(e: &Expr, x: u64) {
        let better = cheaper(e).expect("a cheaper expression");
        assert_eq!(eval(&better, x), eval(e, x), "{e:?} at {x:#x}");
    }

    #[test]
    fn quotients_by_powers_of_two() {
        for signed in [false, true] {
            for bits in [8u32, 16, 32] {
                let ty = ScalarType::Int { bits, signed };
                for k in 1..bits - 1 {
                    for op in [BinaryOp::Div, BinaryOp::Rem] {
                        let by = expr(ExprKind::Const(1 << k), ty);
                        let e = expr(ExprKind::Binary(op, Box::new(expr(ExprKind::Read(0), ty)), Box::new(by)), ty);
                        for x in (0..256u64).flat_map(|x| [x, x.wrapping_neg(), x << (bits - 8), (1 << k) + x]) {
                            same(&e, x & mask(bits));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn floats_by_powers_of_two() {
        for power in 1..30u64 {
            for sign in [0, 1 << 15] {
                let by = expr(ExprKind::Const(sign | power << 10), HALF);
                let x = expr(ExprKind::Read(0), HALF);
                let e = expr(ExprKind::Binary(BinaryOp::Div, Box::new(x), Box::new(by)), HALF);
                if cheaper(&e).is_some() {
                    (0..1 << 16).step_by(7).for_each(|x| same(&e, x));
                }
            }
        }
        let third = expr(ExprKind::Const(0x4200), HALF);
        let x = expr(ExprKind::Read(0), HALF);
        assert!(cheaper(&expr(ExprKind::Binary(BinaryOp::Div, Box::new(x), Box::new(third)), HALF)).is_none());
    }

    #[test]
    fn roots_of_halves() {
        let wide = expr(ExprKind::Cast(Box::new(expr(ExprKind::Read(0), HALF))), SINGLE);
        let root = expr(ExprKind::Unary(UnaryOp::Sqrt, Box::new(wide)), SINGLE);
        let e = expr(ExprKind::Cast(Box::new(root)), HALF);
        (0..1 << 16).for_each(|x| same(&e, x));
    }
}
