//! The fused dot product: `c + Σ a[k] * b[k]` with one alignment and one rounding.
//!
//! Terms: the *leading place* of a term is the weight of its first significand bit according to its exponents. A
//! subnormal number counts as if its leading bit were set; a zero product has no leading place; a zero addend has that
//! of the least normal number. The *window* holds [`window`] bits, from the greatest leading place of all terms down.
//!
//! Method:
//! 1. Align all terms to the window. Products are rounded to its last place (halves away from zero); the addend is
//!    truncated.
//! 2. Add exactly.
//! 3. Round the sum to nearest even.
//!
//! Error: let the greatest leading place be `2^place` and the format have `fraction` bits. For `n` products, alignment
//! loses less than `(n / 2 + 1) * 2^(place - fraction - 2)`. For normal numbers this is at most `(n + 2) / 4` units in
//! the last place of the largest term; a chain of `n` multiplications and additions may lose `n` and more. Long sums do
//! not drift, because products are rounded, not truncated. A sum of values that fit the window is exact before its
//! final rounding.
//!
//! The order of the lanes has no effect. NaN and infinities follow the sum in any order; a sum of zero is -0 only if
//! all terms are negative.

use super::{canonical_nan, format, infinity, is_nan, mask};
use crate::ScalarType;

/// Width of the window, in bits, for a format of `fraction` bits.
pub fn window(fraction: u32) -> u32 {
    fraction + 3
}

/// A term before alignment: `significand` has `width` bits; the first is at the leading place.
struct Term {
    negative: bool,
    place: u64,
    significand: u128,
    width: u32,
}

/// `c` plus the products of the pairs, all of the float type `ty`; see the head of this file for the rounding.
pub fn eval_dot(pairs: &[[u64; 2]], c: u64, ty: ScalarType) -> u64 {
    let (exponent, fraction) = format(ty);
    let bias = mask(exponent - 1);
    let (top, sign) = (infinity(ty), ty.bits() - 1);
    let field = |x: u64| x >> fraction & mask(exponent);
    let magnitude = |x: u64| x & mask(sign);
    let significand = |x: u64| u128::from(x & mask(fraction) | u64::from(field(x) != 0) << fraction);
    let negative = |x: u64| x >> sign & 1 == 1;

    let mut infinities = [false; 2];
    let mut invalid = is_nan(c, ty);
    if magnitude(c) == top {
        infinities[usize::from(negative(c))] = true;
    }
    let addend = Term {
        negative: negative(c),
        place: field(c).max(1) + bias - 1,
        significand: significand(c),
        width: fraction + 1,
    };
    let mut terms = vec![addend];
    for &[a, b] in pairs {
        let negative = negative(a) ^ negative(b);
        let infinite = magnitude(a) == top || magnitude(b) == top;
        let zero = magnitude(a) == 0 || magnitude(b) == 0;
        invalid |= is_nan(a, ty) || is_nan(b, ty) || (infinite && zero);
        infinities[usize::from(negative)] |= infinite;
        let place = if zero { 0 } else { field(a).max(1) + field(b).max(1) };
        terms.push(Term { negative, place, significand: significand(a) * significand(b), width: 2 * fraction + 2 });
    }
    match infinities {
        _ if invalid => return canonical_nan(ty),
        [true, true] => return canonical_nan(ty),
        [true, false] => return top,
        [false, true] => return top | 1 << sign,
        [false, false] => {}
    }
    let place = terms.iter().map(|t| t.place).max().unwrap_or(0);
    let bits = window(fraction);
    let sum: i128 = terms.iter().map(|t| aligned(t, place, bits)).sum();
    let is_negative = sum < 0 || (sum == 0 && terms.iter().all(|t| t.negative));
    u64::from(is_negative) << sign | rounded(sum.unsigned_abs(), (place - bias + 1) as i64 - i64::from(bits), ty)
}

/// The term in units of the last place of a window of `bits` bits. A product is rounded to nearest, halves away from
/// zero; an addend, which is narrower than the window, is truncated.
fn aligned(term: &Term, place: u64, bits: u32) -> i128 {
    let shift = (place - term.place).min(64) as u32;
    let units = if term.width <= bits {
        term.significand << (bits - term.width) >> shift
    } else {
        ((term.significand >> (term.width - bits - 1) >> shift) + 1) >> 1
    };
    if term.negative {
        -(units as i128)
    } else {
        units as i128
    }
}

/// `sum`, whose lowest bit has the biased exponent `scale + 1`, rounded to nearest even.
fn rounded(sum: u128, scale: i64, ty: ScalarType) -> u64 {
    let (_, fraction) = format(ty);
    if sum == 0 {
        return 0;
    }
    let leading = scale + 128 - i64::from(sum.leading_zeros());
    let biased = leading.max(1);
    let shift = biased - i64::from(fraction) - 1 - scale;
    let units = if shift <= 0 {
        sum << -shift
    } else {
        let (quotient, remainder, half) = (sum >> shift, sum & ((1 << shift) - 1), 1 << (shift - 1));
        quotient + u128::from(remainder > half || (remainder == half && quotient & 1 == 1))
    };
    ((((biased - 1) as u64) << fraction) + units as u64).min(infinity(ty))
}
