//! Scalar semantics against an independent soft-float library, and integer corner cases.

use crate::common::Random;
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round, StatusAnd};
use scop::literal::{int, BF16, F16, F32, F64};
use scop::value::{
    canonical, cast, eval_binary, eval_fma, eval_unary, from_f64, from_integer, is_nan, mask, to_f64, to_integer,
};
use scop::{BinaryOp, ScalarType, UnaryOp};

const CORNERS_16: &[u64] =
    &[0, 1, 2, 0x3ff, 0x400, 0x401, 0x7bff, 0x7c00, 0x7e00, 0x3c00, 0x3c01, 0x3bff, 0x7f, 0x80, 0x7f7f, 0x7f80, 0x3f80];

fn operand(random: &mut Random, ty: ScalarType) -> u64 {
    let sign = (random.bits() & 1) << (ty.bits() - 1);
    let bits = match random.below(4) {
        0 if ty.bits() == 16 => *random.pick(CORNERS_16) | sign,
        0 => {
            *random.pick(&[0, 1, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0x7f80_0000, 0x3f80_0000, 0x3f80_0001, 0x7fc0_0000])
                | sign
        }
        // Operands of similar size: cancellation and ties.
        1 => from_f64((random.below(2048) as f64 - 1024.0) / 64.0, ty),
        _ => random.bits() & mask(ty.bits()),
    };
    canonical(bits, ty)
}

fn check_format<F: Float>(ty: ScalarType, seed: u64) {
    let random = &mut Random::new(seed);
    for _ in 0..60_000 {
        let (a, b, c) = (operand(random, ty), operand(random, ty), operand(random, ty));
        let (x, y, z) = (F::from_bits(a as u128), F::from_bits(b as u128), F::from_bits(c as u128));
        let same = |name: &str, ours: u64, theirs: F| {
            let theirs = canonical(theirs.to_bits() as u64, ty);
            assert_eq!(ours, theirs, "{name} of {a:#x}, {b:#x}, {c:#x} in {ty}");
        };
        let ours = |op| eval_binary(op, a, b, ty, ty);
        same("add", ours(BinaryOp::Add), (x + y).value);
        same("sub", ours(BinaryOp::Sub), (x - y).value);
        same("mul", ours(BinaryOp::Mul), (x * y).value);
        same("div", ours(BinaryOp::Div), (x / y).value);
        same("fma", eval_fma(a, b, c, ty), x.mul_add(y, z).value);
        assert_eq!(ours(BinaryOp::Lt), (x < y) as u64);
        assert_eq!(ours(BinaryOp::Le), (x <= y) as u64);
        assert_eq!(ours(BinaryOp::Eq), (x == y) as u64);
        assert_eq!(ours(BinaryOp::Ne), (x != y) as u64);
        let number = random.bits() as i64 >> random.below(64);
        let i64_ty = int(64, true);
        same("from i64", cast(number as u64, i64_ty, ty), F::from_i128(number as i128).value);
        same("from u64", cast(number as u64, int(64, false), ty), F::from_u128(number as u64 as u128).value);
        // C leaves NaN and numbers out of range undefined; compare the rest.
        let StatusAnd { value, .. } = x.to_i128_r(64, Round::TowardZero, &mut false);
        if !is_nan(a, ty) {
            assert_eq!(
                to_integer(cast(a, ty, i64_ty), i64_ty),
                value.clamp(i64::MIN as i128, i64::MAX as i128),
                "{a:#x} in {ty} as an integer"
            );
        }
    }
}

#[test]
fn arithmetic_agrees_with_soft_float() {
    check_format::<Half>(F16, 1);
    check_format::<BFloat>(BF16, 2);
    check_format::<Single>(F32, 3);
    check_format::<Double>(F64, 4);
}

#[test]
fn conversions_between_formats_agree_with_soft_float() {
    let random = &mut Random::new(5);
    for k in 0..200_000u64 {
        let half = k & 0xffff;
        if !is_nan(half, F16) {
            let wide: Single = Half::from_bits(half as u128).convert(&mut false).value;
            assert_eq!(cast(half, F16, F32), wide.to_bits() as u64);
        }
        let single = operand(random, F32);
        let narrow: StatusAnd<Half> = Single::from_bits(single as u128).convert(&mut false);
        assert_eq!(cast(single, F32, F16), canonical(narrow.value.to_bits() as u64, F16), "{single:#x}");
        let brain: StatusAnd<BFloat> = Single::from_bits(single as u128).convert(&mut false);
        assert_eq!(cast(single, F32, BF16), canonical(brain.value.to_bits() as u64, BF16), "{single:#x}");
        let double = from_f64(f64::from_bits(random.bits()), F64);
        let single: StatusAnd<Single> = Double::from_bits(double as u128).convert(&mut false);
        assert_eq!(cast(double, F64, F32), canonical(single.value.to_bits() as u64, F32), "{double:#x}");
    }
}

/// The root's neighbours, halfway, squared: exact in binary64 for 11 significant bits.
#[test]
fn square_roots_are_correctly_rounded() {
    for ty in [F16, BF16] {
        for bits in 1..0x7c00u64 {
            let x = to_f64(bits, ty);
            if !x.is_finite() {
                continue;
            }
            let root = eval_unary(UnaryOp::Sqrt, bits, ty);
            let (below, here, above) = (to_f64(root - 1, ty), to_f64(root, ty), to_f64(root + 1, ty));
            let (low, high) = ((below + here) / 2.0, (here + above) / 2.0);
            assert!(low * low <= x && x <= high * high, "sqrt of {bits:#x} in {ty}");
        }
        assert!(is_nan(eval_unary(UnaryOp::Sqrt, from_f64(-1.0, ty), ty), ty));
    }
}

#[test]
fn integers_wrap_and_never_trap() {
    let i8_ty = int(8, true);
    let run = |op, a: i128, b: i128, ty: ScalarType| {
        to_integer(eval_binary(op, from_integer(a, ty), from_integer(b, ty), ty, ty), ty)
    };
    assert_eq!(run(BinaryOp::Add, 127, 1, i8_ty), -128);
    assert_eq!(run(BinaryOp::Mul, -128, -128, i8_ty), 0);
    assert_eq!(run(BinaryOp::Div, -128, -1, i8_ty), -128);
    assert_eq!(run(BinaryOp::Rem, -128, -1, i8_ty), 0);
    assert_eq!(run(BinaryOp::Div, -7, 2, i8_ty), -3);
    assert_eq!(run(BinaryOp::Rem, -7, 2, i8_ty), -1);
    assert_eq!(run(BinaryOp::Div, 5, 0, i8_ty), -1);
    assert_eq!(run(BinaryOp::Rem, 5, 0, i8_ty), 5);
    assert_eq!(run(BinaryOp::Div, 5, 0, int(16, false)), 0xffff);
    assert_eq!(run(BinaryOp::Shr, -8, 100, i8_ty), -1);
    assert_eq!(run(BinaryOp::Shr, -8, 1, i8_ty), -4);
    assert_eq!(run(BinaryOp::Shl, 1, 8, i8_ty), 0);
    assert_eq!(run(BinaryOp::Mul, u64::MAX as i128, u64::MAX as i128, int(64, false)), 1);
    assert_eq!(eval_unary(UnaryOp::Neg, 0x80, i8_ty), 0x80);
    assert_eq!(eval_unary(UnaryOp::Abs, 0x80, i8_ty), 0x80);
    assert_eq!(cast(0x80, i8_ty, ScalarType::I32), 0xffff_ff80);
    assert_eq!(cast(0x100, ScalarType::I32, ScalarType::BOOL), 1);
    assert_eq!(cast(0x8000_0000, F32, ScalarType::BOOL), 0);
}

#[test]
fn float_extremes_follow_fminf_and_fmaxf() {
    let (nan, one, zero, minus) = (0x7fc0_0000, 0x3f80_0000, 0, 0x8000_0000);
    let run = |op, a, b| eval_binary(op, a, b, F32, F32);
    assert_eq!((run(BinaryOp::Min, nan, one), run(BinaryOp::Max, one, nan)), (one, one));
    assert_eq!((run(BinaryOp::Min, zero, minus), run(BinaryOp::Max, minus, zero)), (zero, minus));
    assert_eq!(run(BinaryOp::Max, 0xffc0_0001, nan), nan);
}

#[test]
fn types_are_found_by_the_name_they_print() {
    let ints = (1..=64).flat_map(|bits| [false, true].map(|signed| ScalarType::Int { bits, signed }));
    let floats = [(5, 10), (8, 7), (8, 23), (11, 52), (6, 9), (4, 3)]
        .map(|(exponent, fraction)| ScalarType::Float { exponent, fraction });
    for ty in ints.chain(floats) {
        assert_eq!(scop::text::type_named(&ty.to_string()), Some(ty));
    }
}
