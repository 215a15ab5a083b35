//! Multiplication. The significands' product is formed by DSP slices (fp32: 24 × 17 and 24 × 7 bits, joined by the
//! cascade's shift by 17); meanwhile the leading zeros of a subnormal operand are counted, so that one shifter behind
//! the product serves subnormal operands and results alike.

use super::parts::{exponent_width, leading_zeros, place, placement, round, Fields, Placement, Special};
use super::pipe::{Held, Pipe};
use super::Format;
use rtl::{u, ModuleBuilder, Sig};

/// Widest unsigned operands of the signed 25 × 18 bit multiplier of a DSP48E1; that of a DSP48E2 is 27 × 18 bits.
const WIDE: u32 = 24;
const NARROW: u32 = 17;

/// Unpack; multiply; add partial products; shift; round.
const STEPS: [u32; 5] = [4, 9, 9, 6, 8];

pub fn build(m: &ModuleBuilder, f: Format, latency: u32) {
    let p = Pipe::new(m, &STEPS, latency);
    let width = 2 * f.fraction + 2;
    let (a, b) = (p.input("a", f.bits()), p.input("b", f.bits()));
    let (x, y) = (Fields::new(a.now(), f), Fields::new(b.now(), f));
    // If both operands are subnormal, either one serves: the product is below half of the least number.
    let small = p.hold("small", m.mux(x.normal, y.significand(m), x.significand(m)));
    // The slices take these registers.
    let factors = [("x", &x), ("y", &y)].map(|(name, x)| p.hold(name, x.significand(m)));
    let (x, y) = (x.hold(&p, "a"), y.hold(&p, "b"));
    p.cut();
    let (x, y) = (x(), y());
    let wide = exponent_width(f, width);
    let exponent = p.hold("exponent", product_exponent(m, &x, &y, f, wide));
    let (sign, nan, infinite) = product_special(&x, &y);
    let (sign, nan, infinite) = (p.hold("sign", sign), p.hold("nan", nan), p.hold("infinite", infinite));
    let zeros = p.hold("zeros", leading_zeros(m, small.now()));
    let partial = partial_products(&p, factors[0].now(), factors[1].now());
    p.cut();
    let product = p.hold("product", sum_of(m, &partial, width));
    let x = placement(m, exponent.now(), zeros.now(), f.fraction, width);
    let (amount, below) = (p.hold("amount", x.amount), p.hold("below", x.below));
    p.cut();
    let x = m.concat(&[product.now(), m.lit(0, u(1))]);
    let result = place(m, x, &Placement { amount: amount.now(), below: below.now() }, f).hold(&p);
    p.cut();
    let special = Special { sign: sign.now(), nan: nan.now(), infinite: infinite.now() };
    p.output("y", round(m, &result().unrounded(m, f), &special, f));
}

/// Biased exponent of bit `2 * fraction` of the significands' product, less 1; signed, `wide` bits. The bias plus 1
/// is a power of two, so to subtract it changes only the upper bits of one operand. A subnormal operand has
/// exponent 1, not 0: the carry in adds it, so the fields need not wait for the comparison with 0. If both are
/// subnormal, it is 1 too low; the product is then below half of the least number and only whether it is 0 matters.
pub fn product_exponent<'m>(m: &'m ModuleBuilder, x: &Fields<'m>, y: &Fields<'m>, f: Format, wide: u32) -> Sig<'m> {
    let top = f.exponent - 1;
    debug_assert_eq!(f.bias() + 1, 1 << top);
    let carry = !(x.normal & y.normal);
    let shifted = m.concat(&[m.repeat(!x.exponent.bit(top), wide - top), x.exponent.slice(0, top), carry]);
    let sum = shifted + m.concat(&[y.exponent.extend(wide), carry]);
    sum.called("exponent_sum").slice(1, wide).signed()
}

/// Sign of a product, whether it is NaN, whether it is infinite (if not NaN).
pub fn product_special<'m>(x: &Fields<'m>, y: &Fields<'m>) -> (Sig<'m>, Sig<'m>, Sig<'m>) {
    let invalid = (x.infinite & y.zero) | (x.zero & y.infinite);
    (x.sign ^ y.sign, x.nan | y.nan | invalid, x.infinite | y.infinite)
}

/// `x * (bits of y)`, lowest bits of `y` first.
pub fn partial_products<'p, 'm>(p: &'p Pipe<'m>, x: Sig<'m>, y: Sig<'m>) -> Vec<Held<'p, 'm>> {
    let part = |k: u32, y: Sig<'m>| p.hold_product(format!("partial{k}"), x * y);
    if x.w() > WIDE || y.w() <= NARROW {
        return vec![part(0, y)];
    }
    (0..y.w().div_ceil(NARROW)).map(|k| part(k, y.slice(k * NARROW, NARROW.min(y.w() - k * NARROW)))).collect()
}

/// The product of `width` bits from [`partial_products`], whose low bits need no adder.
pub fn sum_of<'m>(m: &'m ModuleBuilder, partial: &[Held<'_, 'm>], width: u32) -> Sig<'m> {
    let mut low = vec![];
    let mut high = partial[0].now();
    for (k, next) in partial.iter().enumerate().skip(1) {
        let left = width - k as u32 * NARROW;
        low.insert(0, high.slice(0, NARROW));
        let carried = high.slice(NARROW, high.w() - NARROW);
        high = next.now().resize(left) + carried.resize(left);
    }
    low.insert(0, high);
    m.concat(&low).resize(width)
}
