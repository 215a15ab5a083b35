//! Cheaper expressions have the same bits.

use array::pe::cheaper;
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

/// Integers of fewer bits, as the front end and programs write them.
#[test]
fn low_bits_are_conversions() {
    for signed in [false, true] {
        for bits in [8u32, 32, 64] {
            let ty = ScalarType::Int { bits, signed };
            let number = |n: u64| Box::new(expr(ExprKind::Const(n), ty));
            for from in [ty, ScalarType::Int { bits: 8, signed: true }, ScalarType::Int { bits: 8, signed: false }] {
                let read = expr(ExprKind::Read(0), from);
                let x = if from == ty { read } else { expr(ExprKind::Cast(Box::new(read)), ty) };
                for k in 2..bits {
                    let masked = expr(ExprKind::Binary(BinaryOp::And, Box::new(x.clone()), number((1 << k) - 1)), ty);
                    let by = || number(u64::from(bits - k));
                    let left = expr(ExprKind::Binary(BinaryOp::Shl, Box::new(x.clone()), by()), ty);
                    let back = expr(ExprKind::Binary(BinaryOp::Shr, Box::new(left), by()), ty);
                    for x in (0..256u64).flat_map(|x| [x, x.wrapping_neg(), x << (bits - 8), (1 << (k - 1)) + x]) {
                        [&masked, &back].into_iter().for_each(|e| same(e, x & mask(from.bits())));
                    }
                }
            }
            let x = Box::new(expr(ExprKind::Read(0), ty));
            for mask in [1, 2, 6, 5] {
                assert!(cheaper(&expr(ExprKind::Binary(BinaryOp::And, x.clone(), number(mask)), ty)).is_none());
            }
            let left = expr(ExprKind::Binary(BinaryOp::Shl, x, number(3)), ty);
            assert!(cheaper(&expr(ExprKind::Binary(BinaryOp::Shr, Box::new(left), number(4)), ty)).is_none());
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
