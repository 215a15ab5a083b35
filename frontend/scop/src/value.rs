//! Scalar semantics: the result of every operator of a [`crate::Expr`], bit for bit.
//!
//! A value is a `u64` that holds the bits of its [`ScalarType`], zero-extended. Every function is total: cases that C
//! leaves undefined have one fixed result, and the hardware operators compute the same.
//!
//! - Integers wrap around. `x / 0` is all ones, `x % 0` is `x`, `MIN / -1` is `MIN`, `MIN % -1` is 0.
//! - A shift amount is read as unsigned; from the width on, `<<` and unsigned `>>` give 0, signed `>>` the sign.
//! - Floats round to nearest, ties to even, with subnormals. Every NaN that an operation *computes* is the
//!   canonical one (sign 0, only the top fraction bit set); `Neg` and `Abs` only touch the sign bit.
//! - `Min`/`Max` of floats are `fminf`/`fmaxf`: a NaN loses against a number; of two equal operands
//!   (such as +0 and -0) the first is taken, as the GNU C library does.
//! - Float to integer truncates and saturates; NaN gives 0. A conversion to the 1-bit unsigned type is C's
//!   conversion to `_Bool` (not equal to zero), not a truncation.
//!
//! Method: formats of up to 25 significant bits and 9 exponent bits are computed in binary64 and rounded again. The
//! second rounding is harmless for + - * / and square root because 53 >= 2p + 2 for p significant bits (Figueroa, "When
//! is double rounding innocuous?", 1995). Fused multiply–add rounds to odd in between (Boldo and Melquiond, "Emulation
//! of FMA and correctly rounded sums", 2008): its exact sum may need more than 53 bits. Example in fp32: the binary64
//! sum of a 48-bit product and a tiny addend may lie exactly between two fp32 numbers only because the addend was
//! rounded away; an odd last bit records that it was there. Binary64 itself is the host's arithmetic. [`eval_dot`]
//! describes the rounding of the fused dot product, which has no C operator.

mod dot;
pub mod narrow;
mod packed;

use crate::{BinaryOp, HostFunction, ScalarType, UnaryOp};
pub use dot::{eval_dot, window as dot_window};
use num_traits::Float;
pub use packed::{eval_field, eval_join, eval_spread, Field, Spread};

/// The low `bits` bits set; `bits` may be 0 to 64.
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// The number encoded by `value` of the integer type `ty`. A float's bits are read as unsigned.
pub fn to_integer(value: u64, ty: ScalarType) -> i128 {
    let bits = ty.bits();
    let value = value & mask(bits);
    if ty.signed() && bits > 0 && bits <= 64 && value >> (bits - 1) & 1 == 1 {
        value as i128 - (1i128 << bits)
    } else {
        value as i128
    }
}

/// Least and greatest number of the integer type `ty`.
pub fn range(ty: ScalarType) -> (i128, i128) {
    let bits = ty.bits().min(64);
    if ty.signed() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    }
}

/// `number` modulo 2^width: C's conversion to the integer type `ty` (`_Bool` excepted, see [`cast`]).
pub fn from_integer(number: i128, ty: ScalarType) -> u64 {
    number as u64 & mask(ty.bits())
}

/// Exponent and fraction widths; an integer type counts as a format without exponent.
fn format(ty: ScalarType) -> (u32, u32) {
    match ty {
        ScalarType::Float { exponent, fraction } => (exponent, fraction),
        ScalarType::Int { bits, .. } => (0, bits.saturating_sub(1)),
    }
}

fn infinity(ty: ScalarType) -> u64 {
    let (exponent, fraction) = format(ty);
    mask(exponent) << fraction
}

/// The quiet NaN with sign 0 and an otherwise empty payload: `0x7fc00000` for fp32.
pub fn canonical_nan(ty: ScalarType) -> u64 {
    let (_, fraction) = format(ty);
    infinity(ty) | 1 << fraction.saturating_sub(1)
}

pub fn is_nan(value: u64, ty: ScalarType) -> bool {
    ty.is_float() && value & mask(ty.bits() - 1) > infinity(ty)
}

/// Replaces any NaN by the canonical one; leaves other values and integers unchanged.
pub fn canonical(value: u64, ty: ScalarType) -> u64 {
    if is_nan(value, ty) {
        canonical_nan(ty)
    } else {
        value & mask(ty.bits())
    }
}

/// The exact value of a float of at most 11 exponent and 52 fraction bits.
pub fn to_f64(value: u64, ty: ScalarType) -> f64 {
    let (exponent, fraction) = format(ty);
    if (exponent, fraction) == (11, 52) {
        return f64::from_bits(value);
    }
    if (exponent, fraction) == (8, 23) {
        return f32::from_bits(value as u32) as f64;
    }
    let negative = value >> (exponent + fraction) & 1 == 1;
    let biased = value >> fraction & mask(exponent);
    let significand = value & mask(fraction);
    let bias = mask(exponent.saturating_sub(1)) as i32;
    let magnitude = if biased == mask(exponent) {
        if significand == 0 {
            f64::INFINITY
        } else {
            f64::NAN
        }
    } else if biased == 0 {
        significand as f64 * exp2(1 - bias - fraction as i32)
    } else {
        (significand | 1 << fraction) as f64 * exp2(biased as i32 - bias - fraction as i32)
    };
    if negative {
        -magnitude
    } else {
        magnitude
    }
}

/// 2^e for e in the range of binary64, subnormals included.
fn exp2(e: i32) -> f64 {
    if e >= -1022 {
        f64::from_bits(((e.min(1023) + 1023) as u64) << 52)
    } else {
        f64::from_bits(1u64.checked_shl((e + 1074).max(0) as u32).unwrap_or(0))
    }
}

/// `x` rounded to nearest even in the format `ty`; NaN becomes canonical.
pub fn from_f64(x: f64, ty: ScalarType) -> u64 {
    let (exponent, fraction) = format(ty);
    if x.is_nan() {
        return canonical_nan(ty);
    }
    let sign = (x.is_sign_negative() as u64) << (exponent + fraction);
    if x.is_infinite() {
        return sign | infinity(ty);
    }
    let bits = x.to_bits() & mask(63);
    if bits == 0 {
        return sign;
    }
    let (biased, low) = ((bits >> 52) as i32, bits & mask(52));
    // |x| = significand * 2^scale
    let (significand, scale) = if biased == 0 { (low, -1074) } else { (low | 1 << 52, biased - 1075) };
    let magnitude = scale + 63 - significand.leading_zeros() as i32;
    let least_normal = 1 - mask(exponent.saturating_sub(1)) as i32;
    let top = magnitude.max(least_normal);
    let shift = top - fraction as i32 - scale;
    let units = if shift <= 0 { significand << (-shift).min(63) } else { shift_right_even(significand, shift as u32) };
    let encoded = (((top - least_normal) as u64) << fraction) + units;
    sign | encoded.min(infinity(ty))
}

/// `x / 2^shift`, rounded to nearest, ties to even.
fn shift_right_even(x: u64, shift: u32) -> u64 {
    if shift > 63 {
        return 0; // x has at most 53 bits, so this is below one half
    }
    let (quotient, remainder) = (x >> shift, x & mask(shift));
    let half = 1u64 << (shift - 1);
    quotient + (remainder > half || (remainder == half && quotient & 1 == 1)) as u64
}

/// An integer of up to 64 bits as binary64, rounded to odd where inexact, so that a second rounding to a format of
/// at most 51 significant bits is exact.
fn integer_to_f64_odd(number: i128) -> f64 {
    let magnitude = number.unsigned_abs();
    let excess = (128 - magnitude.leading_zeros()).saturating_sub(53);
    let significand = magnitude >> excess | (magnitude & ((1u128 << excess) - 1) != 0) as u128;
    let x = significand as f64 * exp2(excess as i32);
    if number < 0 {
        -x
    } else {
        x
    }
}

/// C's conversion of `value` from type `from` to type `to`.
pub fn cast(value: u64, from: ScalarType, to: ScalarType) -> u64 {
    match (from.is_float(), to) {
        (false, ScalarType::BOOL) => (value & mask(from.bits()) != 0) as u64,
        (false, ScalarType::Int { .. }) => from_integer(to_integer(value, from), to),
        (false, ScalarType::Float { exponent: 11, fraction: 52 }) => (to_integer(value, from) as f64).to_bits(),
        (false, ScalarType::Float { .. }) => from_f64(integer_to_f64_odd(to_integer(value, from)), to),
        (true, ScalarType::BOOL) => (value & mask(from.bits() - 1) != 0) as u64,
        (true, ScalarType::Int { bits, signed }) => {
            let x = to_f64(value, from);
            let (low, high) =
                if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, mask(bits) as i128) };
            from_integer((x as i128).clamp(low, high), to)
        }
        (true, ScalarType::Float { .. }) if from == to => value,
        (true, ScalarType::Float { .. }) => from_f64(to_f64(value, from), to),
    }
}

/// `op a`, with `a` and the result of type `ty`. `Sqrt` of an integer is its integer square root.
pub fn eval_unary(op: UnaryOp, a: u64, ty: ScalarType) -> u64 {
    let a = a & mask(ty.bits());
    if ty.is_float() {
        let sign = 1u64 << (ty.bits() - 1);
        return match op {
            UnaryOp::Neg => a ^ sign,
            UnaryOp::Abs => a & !sign,
            UnaryOp::Not => !a & mask(ty.bits()),
            UnaryOp::Sqrt if ty.bits() == 32 && format(ty).0 == 8 => {
                canonical(f32::from_bits(a as u32).sqrt().to_bits() as u64, ty)
            }
            UnaryOp::Sqrt => from_f64(to_f64(a, ty).sqrt(), ty),
        };
    }
    let x = to_integer(a, ty);
    match op {
        UnaryOp::Neg => from_integer(-x, ty),
        UnaryOp::Not => from_integer(!x, ty),
        UnaryOp::Abs => from_integer(x.abs(), ty),
        UnaryOp::Sqrt => from_integer(x.max(0).isqrt(), ty),
    }
}

/// The constant at a position of a table. The position wraps around at the next power of two, as the address of a
/// memory does; positions between the table's length and that power read zero.
pub fn eval_lookup(table: &[u64], position: u64) -> u64 {
    let wrapped = position & (table.len().next_power_of_two() as u64 - 1);
    table.get(wrapped as usize).copied().unwrap_or(0)
}

/// A function of the C library, computed by the library of this machine, which also runs the C program. `ty` is
/// `float` or `double`.
pub fn eval_host(function: HostFunction, arguments: &[u64], ty: ScalarType) -> u64 {
    let argument = |k: usize| arguments.get(k).copied().unwrap_or(0);
    let (x, y) = (argument(0), argument(1));
    let result = match ty.bits() {
        32 => host(function, f32::from_bits(x as u32), f32::from_bits(y as u32)).to_bits().into(),
        _ => host(function, f64::from_bits(x), f64::from_bits(y)).to_bits(),
    };
    canonical(result, ty)
}

fn host<F: Float>(function: HostFunction, x: F, y: F) -> F {
    match function {
        HostFunction::Exp => x.exp(),
        HostFunction::Log => x.ln(),
        HostFunction::Pow => x.powf(y),
        HostFunction::Sin => x.sin(),
        HostFunction::Cos => x.cos(),
        HostFunction::Tan => x.tan(),
        HostFunction::Tanh => x.tanh(),
    }
}

/// `a op b`, both of type `ty`; in a shift `b` is of the integer type `right`. Comparisons give 0 or 1.
pub fn eval_binary(op: BinaryOp, a: u64, b: u64, ty: ScalarType, right: ScalarType) -> u64 {
    let a = a & mask(ty.bits());
    match op {
        BinaryOp::Shl | BinaryOp::Shr => return shift(op == BinaryOp::Shl, a, b & mask(right.bits()), ty),
        BinaryOp::And => return a & b,
        BinaryOp::Or => return (a | b) & mask(ty.bits()),
        BinaryOp::Xor => return (a ^ b) & mask(ty.bits()),
        _ => {}
    }
    if ty.is_float() {
        return float_binary(op, a, b & mask(ty.bits()), ty);
    }
    let (x, y) = (to_integer(a, ty), to_integer(b, ty));
    let number = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x.wrapping_mul(y),
        BinaryOp::Div => x.checked_div(y).unwrap_or(-1),
        BinaryOp::Rem => x.checked_rem(y).unwrap_or(x),
        BinaryOp::Eq => (x == y) as i128,
        BinaryOp::Ne => (x != y) as i128,
        BinaryOp::Lt => (x < y) as i128,
        BinaryOp::Le => (x <= y) as i128,
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => 0,
    };
    from_integer(number, ty)
}

fn shift(left: bool, a: u64, amount: u64, ty: ScalarType) -> u64 {
    let amount = amount.min(127) as u32;
    let wide = amount >= ty.bits();
    match (left, wide) {
        (true, true) => 0,
        (true, false) => a << amount & mask(ty.bits()),
        (false, _) => from_integer(to_integer(a, ty) >> amount, ty),
    }
}

fn float_binary(op: BinaryOp, a: u64, b: u64, ty: ScalarType) -> u64 {
    let (x, y) = (to_f64(a, ty), to_f64(b, ty));
    match op {
        BinaryOp::Eq => (x == y) as u64,
        BinaryOp::Ne => (x != y) as u64,
        BinaryOp::Lt => (x < y) as u64,
        BinaryOp::Le => (x <= y) as u64,
        BinaryOp::Min | BinaryOp::Max => {
            let first = if op == BinaryOp::Min { x <= y } else { x >= y };
            canonical(if y.is_nan() || first { a } else { b }, ty)
        }
        BinaryOp::Add => from_f64(x + y, ty),
        BinaryOp::Sub => from_f64(x - y, ty),
        BinaryOp::Mul => from_f64(x * y, ty),
        BinaryOp::Div => from_f64(x / y, ty),
        BinaryOp::Rem => from_f64(x % y, ty),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => 0,
    }
}

/// `a * b + c` of type `ty`, rounded once.
pub fn eval_fma(a: u64, b: u64, c: u64, ty: ScalarType) -> u64 {
    if !ty.is_float() {
        let product = eval_binary(BinaryOp::Mul, a, b, ty, ty);
        return eval_binary(BinaryOp::Add, product, c, ty, ty);
    }
    let (x, y, z) = (to_f64(a, ty), to_f64(b, ty), to_f64(c, ty));
    if format(ty).1 > 24 {
        return from_f64(x.mul_add(y, z), ty);
    }
    let product = x * y; // exact: at most 50 significant bits
    let sum = product + z;
    if !sum.is_finite() {
        return from_f64(sum, ty);
    }
    // Knuth's TwoSum: sum + error == product + z exactly; then round to odd.
    let back = sum - product;
    let error = (product - (sum - back)) + (z - back);
    let mut bits = sum.to_bits();
    if error != 0.0 && bits & 1 == 0 {
        bits = if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 };
    }
    from_f64(f64::from_bits(bits), ty)
}
