//! Division: both significands are normalized; one quotient bit a step by the non-restoring recurrence
//! (one adder/subtracter a step); a right shift for subnormal results; rounding.

use super::parts::{
    exponent_width, leading_zeros, or_by_six, place, placement, round, shift_left, Fields, Placement, Special,
};
use super::pipe::Pipe;
use super::Format;
use rtl::{u, ModuleBuilder, Sig};

/// Unpack; count zeros; normalize; quotient bits; remainder; shift; round.
fn steps(f: Format) -> Vec<u32> {
    let mut steps = vec![4, 5, 4];
    steps.extend((0..f.fraction + 3).map(|_| 6));
    steps.extend([8, 6, 8]);
    steps
}

pub fn build(m: &ModuleBuilder, f: Format, latency: u32) {
    let p = Pipe::new(m, &steps(f), latency);
    let (a, b) = (p.input("a", f.bits()), p.input("b", f.bits()));
    let (x, y) = (Fields::new(a.now(), f).hold(&p, "a"), Fields::new(b.now(), f).hold(&p, "b"));
    p.cut();
    let (x, y) = (x(), y());
    let wide = exponent_width(f, 2 * f.fraction + 2);
    let nan = p.hold("nan", x.nan | y.nan | (x.zero & y.zero) | (x.infinite & y.infinite));
    let infinite = p.hold("infinite", x.infinite | y.zero);
    let sign = p.hold("sign", x.sign ^ y.sign);
    let exponent = p.hold("exponent", (x.biased(m).extend(wide) - y.biased(m).extend(wide)).signed());
    let finite = p.hold("finite", !y.infinite);
    let (dividend, divisor) = (p.hold("dividend", x.significand(m)), p.hold("divisor", y.significand(m)));
    let (zeros_a, zeros_b) =
        (p.hold("zeros_a", leading_zeros(m, dividend.now())), p.hold("zeros_b", leading_zeros(m, divisor.now())));
    p.cut();
    // Exponent of the quotient's second bit, which has weight one half; less 1.
    let correction = (zeros_b.now().extend(wide) - zeros_a.now().extend(wide)).signed();
    let exponent = p.hold("exponent_q", exponent.now().add_lit(f.bias() - 2) + correction);
    // A number divided by infinity is computed as 0 / 1.
    let dividend = shift_left(m, dividend.now(), zeros_a.now()) & m.repeat(finite.now(), f.fraction + 1);
    let dividend = p.hold("dividend_n", dividend);
    let divisor = p.hold("divisor_n", shift_left(m, divisor.now(), zeros_b.now()));
    p.cut();
    let w = f.fraction + 2;
    let mut rest =
        p.hold("rest0", add_or_subtract(m, dividend.now().extend(w), divisor.now().extend(w), m.lit(1, u(1))));
    let mut quotient = p.hold("quotient0", !rest.now().msb());
    p.cut();
    for k in 1..f.fraction + 3 {
        let (r, q) = (rest.now(), quotient.now());
        let next = add_or_subtract(m, r.shl_const(1), divisor.now().extend(w), !r.msb());
        quotient = p.hold(format!("quotient{k}"), m.concat(&[q, !next.msb()]));
        rest = p.hold(format!("rest{k}"), next);
        p.cut();
    }
    let last = rest.now();
    let remainder = last + (divisor.now().extend(w) & m.repeat(last.msb(), w));
    let inexact = p.hold("inexact", or_by_six(m, remainder));
    let found = placement(m, exponent.now(), m.lit(0, u(1)), 0, f.fraction + 3);
    let (amount, below) = (p.hold("amount", found.amount), p.hold("below", found.below));
    p.cut();
    let mut placed = place(m, quotient.now(), &Placement { amount: amount.now(), below: below.now() }, f);
    placed.lost = placed.lost | inexact.now().reduce_or();
    let result = placed.hold(&p);
    p.cut();
    p.output(
        "y",
        round(m, &result().unrounded(m, f), &Special { sign: sign.now(), nan: nan.now(), infinite: infinite.now() }, f),
    );
}

/// `a - b` or `a + b` in the width of the operands, by a single carry chain.
pub fn add_or_subtract<'m>(m: &'m ModuleBuilder, a: Sig<'m>, b: Sig<'m>, subtract: Sig<'m>) -> Sig<'m> {
    let left = m.concat(&[a, m.lit(1, u(1))]);
    let right = m.concat(&[b ^ m.repeat(subtract, b.w()), subtract]);
    (left + right).slice(1, a.w())
}
