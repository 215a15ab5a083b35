//! What the operators share: fields of a number, leading zeros, shifts by radix-4 digits (one 6-input LUT a bit and
//! digit), normalization and rounding.

use super::pipe::Pipe;
use super::Format;
use rtl::{clog2, s, u, ModuleBuilder, Sig};

/// The fields of a number and what they say.
#[derive(Clone, Copy)]
pub struct Fields<'m> {
    pub sign: Sig<'m>,
    pub exponent: Sig<'m>,
    pub fraction: Sig<'m>,
    /// Exponent field not zero: the hidden bit.
    pub normal: Sig<'m>,
    pub nan: Sig<'m>,
    pub infinite: Sig<'m>,
    pub zero: Sig<'m>,
}

impl<'m> Fields<'m> {
    pub fn new(x: Sig<'m>, f: Format) -> Self {
        let (exponent, fraction) = (x.slice(f.fraction, f.exponent), x.slice(0, f.fraction));
        let (normal, top, some) = (exponent.reduce_or(), exponent.reduce_and(), fraction.reduce_or());
        Fields { sign: x.msb(), exponent, fraction, normal, nan: top & some, infinite: top & !some, zero: !(normal | some) }
    }

    /// Fraction with the hidden bit.
    pub fn significand(&self, m: &'m ModuleBuilder) -> Sig<'m> {
        m.concat(&[self.normal, self.fraction])
    }

    /// Biased exponent; 1 for subnormal numbers, whose hidden bit is 0.
    pub fn biased(&self, m: &'m ModuleBuilder) -> Sig<'m> {
        let low = self.exponent.bit(0) | !self.normal;
        m.concat(&[self.exponent.slice(1, self.exponent.w() - 1), low])
    }
}

/// `[d0, d1, d2, d3]` by a digit of one or two bits.
pub fn by_digit<'m>(m: &'m ModuleBuilder, digit: Sig<'m>, d: [Sig<'m>; 4]) -> Sig<'m> {
    let low = m.mux(digit.bit(0), d[1], d[0]);
    if digit.w() == 1 { low } else { m.mux(digit.bit(1), m.mux(digit.bit(0), d[3], d[2]), low) }
}

/// Positions of the base-4 digits of a number of `w` bits, highest first: (lowest bit, bits).
fn digits(w: u32) -> Vec<(u32, u32)> {
    (0..w.div_ceil(2)).rev().map(|k| (2 * k, (w - 2 * k).min(2))).collect()
}

/// Leading zeros of an unsigned value: 0 to its width, in `clog2(width + 1)` bits.
pub fn leading_zeros<'m>(m: &'m ModuleBuilder, x: Sig<'m>) -> Sig<'m> {
    let width = clog2(x.w() as u64 + 1);
    let whole = 1 << clog2(x.w() as u64 + 1);
    let padded = m.concat(&[x, m.lit(-1, s(whole - x.w())).unsigned()]);
    zeros_of(m, padded).1.resize(width)
}

/// (some bit set, leading zeros) of a value whose width is a power of two from 2 on.
fn zeros_of<'m>(m: &'m ModuleBuilder, x: Sig<'m>) -> (Sig<'m>, Sig<'m>) {
    let half = x.w() / 2;
    let (high, low) = (x.slice(half, half), x.slice(0, half));
    if half == 1 {
        return (high | low, !high);
    }
    let ((some_high, high), (some_low, low)) = (zeros_of(m, high), zeros_of(m, low));
    (some_high | some_low, m.concat(&[!some_high, m.mux(some_high, high, low)]))
}

/// `x << amount` in the width of `x`.
pub fn shift_left<'m>(m: &'m ModuleBuilder, x: Sig<'m>, amount: Sig<'m>) -> Sig<'m> {
    digits(amount.w()).into_iter().fold(x, |x, (at, w)| {
        by_digit(m, amount.slice(at, w), [0, 1, 2, 3].map(|d| x.shl_const(d << at)))
    })
}

/// The low `width` bits of `x >> amount`, and whether a bit was shifted out at the bottom.
pub fn shift_right<'m>(m: &'m ModuleBuilder, x: Sig<'m>, amount: Sig<'m>, width: u32) -> (Sig<'m>, Sig<'m>) {
    let mut value = x;
    let mut lost = vec![];
    for (at, w) in digits(amount.w()) {
        let keep = width + (1 << at) - 1;
        let wide = value.extend(value.w().max(keep + (3 << at)));
        let digit = amount.slice(at, w);
        let below = |n: u32| if n == 0 { m.lit(0, u(1)) } else { value.slice(0, n.min(value.w())).reduce_or() };
        lost.push(by_digit(m, digit, [0, 1, 2, 3].map(|d| below(d << at))));
        value = by_digit(m, digit, [0, 1, 2, 3].map(|d| wide.slice(d << at, keep)));
    }
    (value.slice(0, width), m.any(&lost))
}

/// `x` in `w` bits: all ones if it needs more.
pub fn saturate<'m>(m: &'m ModuleBuilder, x: Sig<'m>, w: u32) -> Sig<'m> {
    if x.w() <= w {
        return x.extend(w);
    }
    x.slice(0, w) | m.repeat(x.slice(w, x.w() - w).reduce_or(), w)
}

/// Width of signed exponents on which `f`'s operators compute with significands of `significand` bits.
pub fn exponent_width(f: Format, significand: u32) -> u32 {
    f.exponent.max(clog2(significand as u64 + 2)) + 2
}

/// How to bring a product-like significand into place; see [`place`].
pub struct Placement<'m> {
    /// Right shift in [`place`].
    pub amount: Sig<'m>,
    /// Biased exponent that the leading bit gets; unsigned.
    pub exponent: Sig<'m>,
}

/// For a significand whose bit `zeros` below the leading position holds its first one and whose leading position has
/// the biased exponent `exponent` (signed): shift left by `zeros`, but stop where the biased exponent is 1, to the
/// right if need be. `fraction` is the greatest left shift; `width` the width of the significand in [`place`].
pub fn placement<'m>(m: &'m ModuleBuilder, exponent: Sig<'m>, zeros: Sig<'m>, fraction: u32, width: u32) -> Placement<'m> {
    let ty = exponent.ty();
    let zeros = zeros.to(ty);
    let free = exponent - zeros;
    let limited = free.msb() | free.eq_lit(0);
    let bits = clog2(width as u64 + 2);
    let normal = (m.lit(fraction, ty) - zeros).unsigned().resize(bits);
    let stopped = saturate(m, (m.lit(fraction + 1, ty) - exponent).unsigned(), bits);
    Placement { amount: m.mux(limited, stopped, normal), exponent: m.mux(limited, m.lit(1, u(ty.w)), free.unsigned()) }
}

/// A result before rounding: significand with the leading bit, exponent 0 where that is not set.
pub struct Unrounded<'m> {
    pub exponent: Sig<'m>,
    pub fraction: Sig<'m>,
    pub guard: Sig<'m>,
    pub sticky: Sig<'m>,
}

/// Shifts `x` as [`placement`] says, from the leftmost position on, and normalizes by the one bit that is left: the
/// leading bit is in one of the two top places of a window of `fraction + 3` bits.
pub fn place<'m>(m: &'m ModuleBuilder, x: Sig<'m>, p: &Placement<'m>, f: Format) -> Unrounded<'m> {
    let (window, lost) = shift_right(m, x, p.amount, f.fraction + 3);
    let high = window.msb();
    let exponent = m.mux(high, p.exponent.add_lit(1), p.exponent);
    let some = high | window.bit(f.fraction + 1);
    Unrounded {
        exponent: exponent & m.repeat(some, exponent.w()),
        fraction: m.mux(high, window.slice(2, f.fraction), window.slice(1, f.fraction)),
        guard: m.mux(high, window.bit(1), window.bit(0)),
        sticky: lost | (high & window.bit(0)),
    }
}

/// What overrides a computed value.
pub struct Special<'m> {
    pub sign: Sig<'m>,
    pub nan: Sig<'m>,
    pub infinite: Sig<'m>,
}

/// Rounds to nearest even and encodes; overflow gives infinity, NaN the canonical one.
pub fn round<'m>(m: &'m ModuleBuilder, x: &Unrounded<'m>, special: &Special<'m>, f: Format) -> Sig<'m> {
    let e = x.exponent;
    let beyond = if e.w() > f.exponent { e.slice(f.exponent, e.w() - f.exponent).reduce_or() } else { m.lit(0, u(1)) };
    let field = e.resize(e.w().max(f.exponent)).slice(0, f.exponent);
    let overflow = beyond | field.reduce_and();
    let up = x.guard & (x.sticky | x.fraction.bit(0));
    let packed = m.concat(&[field, x.fraction]) + up.extend(f.exponent + f.fraction);
    encode(m, packed, overflow, special, f)
}

/// Exponent and fraction fields with the special values put in.
pub fn encode<'m>(m: &'m ModuleBuilder, packed: Sig<'m>, overflow: Sig<'m>, special: &Special<'m>, f: Format) -> Sig<'m> {
    let over = special.nan | special.infinite | overflow;
    let exponent = packed.slice(f.fraction, f.exponent) | m.repeat(over, f.exponent);
    let fraction = packed.slice(0, f.fraction) & m.repeat(!over, f.fraction);
    let quiet = fraction.msb() | special.nan;
    let fraction = if f.fraction > 1 { m.concat(&[quiet, fraction.slice(0, f.fraction - 1)]) } else { quiet };
    m.concat(&[special.sign & !special.nan, exponent, fraction])
}

/// Keeps an unrounded result for later steps.
pub fn hold<'p, 'm>(p: &'p Pipe<'m>, x: Unrounded<'m>) -> impl Fn() -> Unrounded<'m> + use<'p, 'm> {
    let (exponent, fraction) = (p.hold("exponent_r", x.exponent), p.hold("fraction_r", x.fraction));
    let (guard, sticky) = (p.hold("guard_r", x.guard), p.hold("sticky_r", x.sticky));
    move || Unrounded { exponent: exponent.now(), fraction: fraction.now(), guard: guard.now(), sticky: sticky.now() }
}
