//! Addition and subtraction by one path: order by magnitude, align the smaller operand to the right with a sticky bit,
//! add or subtract, count leading zeros, shift left no further than exponent 1, round.

use super::parts::{leading_zeros, or_by_six, saturate, shift_left, shift_right, Fields, Normalization};
use super::pipe::Pipe;
use super::Format;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Half levels: compare; order; align; add; count zeros; limit the shift; shift; round.
const STEPS: [u32; 8] = [7, 3, 9, 6, 10, 9, 6, 7];

pub fn build(m: &ModuleBuilder, f: Format, subtract: bool, latency: u32) {
    let p = Pipe::new(m, &STEPS, latency);
    let (a, b) = (p.input("a", f.bits()), p.input("b", f.bits()));
    let (x, y) = (Fields::new(a.now(), f), Fields::new(b.now(), f));
    let y_sign = if subtract { !y.sign } else { y.sign };
    let swap = p.hold("swap", a.now().slice(0, f.bits() - 1).lt(b.now().slice(0, f.bits() - 1)));
    let (ex, ey) = (x.biased(m), y.biased(m));
    let (more, less) = (p.hold("more", excess(m, &x, &y)), p.hold("less", excess(m, &y, &x)));
    let uneven = p.hold("uneven", x.normal ^ y.normal);
    let opposite = p.hold("opposite", x.sign ^ y_sign);
    // Exponents of ones, and parts of fractions that are not 0: what they mean is decided behind the registers.
    let tops = p.hold("tops", m.concat(&[x.top, y.top]));
    let some = [("some_a", &x), ("some_b", &y)].map(|(name, x)| p.hold(name, or_by_six(m, x.fraction)));
    let zero_sign = p.hold("zero_sign", x.sign & y_sign);
    let x = p.hold("x", m.concat(&[x.sign, ex, x.significand(m)]));
    let y = p.hold("y", m.concat(&[y_sign, ey, y.significand(m)]));
    p.cut();
    let width = f.fraction + 1;
    let big = p.hold("big", m.mux(swap.now(), y.now(), x.now()));
    let small = p.hold("small", m.mux(swap.now(), x.now(), y.now()).slice(0, width));
    let distance = m.mux(swap.now(), less.now(), more.now());
    let distance = p.hold("distance", distance);
    p.cut();
    let special = tops.now();
    let some = m.concat(&some.map(|some| some.now().reduce_or()));
    let no_number = (special & some).reduce_or() | (special.reduce_and() & opposite.now());
    let (nan, infinite) = (p.hold("nan", no_number), p.hold("infinite", (special & !some).reduce_or()));
    let distance = saturate(m, distance.now(), clog2(width as u64 + 3));
    let even = m.mux(uneven.now(), small.now().shl_const(1), small.now());
    let (aligned, lost) = shift_right(m, m.concat(&[even, m.lit(0, u(2))]), distance, width + 2);
    let aligned = p.hold("aligned", m.concat(&[aligned, lost]));
    p.cut();
    let sum = p.hold("sum", add_or_subtract(m, big.now().slice(0, width), aligned.now(), opposite.now()));
    p.cut();
    let zeros = p.hold("zeros", leading_zeros(m, sum.now()));
    p.cut();
    // The top bit of `sum` has the exponent of `big` plus 1.
    let wide = f.exponent.max(zeros.now().w()) + 1;
    let limit = big.now().slice(width, f.exponent).extend(wide);
    let normalization = Normalization::new(m, limit, zeros.now(), width + 4, nan.now() | infinite.now()).hold(&p);
    let sign = p.hold("sign", m.mux(zeros.now().eq_lit(width + 4), zero_sign.now(), big.now().msb()) & !nan.now());
    p.cut();
    let n = normalization();
    let result = n.apply(m, shift_left(m, sum.now(), n.shift()), m.lit(0, u(1)), nan.now(), f).hold(&p);
    p.cut();
    p.output("y", result().round(m, sign.now(), f));
}

/// The exponent field of `x` less that of `y`, for `x` not below `y`. A subnormal number has exponent 1, not 0: if
/// `y` alone is one, the difference is 1 too high, and the significand of `y` is shifted left instead, whose hidden
/// bit is 0. So the fields need not wait for the comparison with 0.
fn excess<'m>(m: &'m ModuleBuilder, x: &Fields<'m>, y: &Fields<'m>) -> Sig<'m> {
    let one = m.lit(1, u(1));
    let whole = m.concat(&[x.exponent, one]) + m.concat(&[!y.exponent, one]);
    whole.called("excess").slice(1, x.exponent.w())
}

/// `big * 8 ± small` for `small` not above it, with one bit more, by a single carry chain.
fn add_or_subtract<'m>(m: &'m ModuleBuilder, big: Sig<'m>, small: Sig<'m>, subtract: Sig<'m>) -> Sig<'m> {
    let w = small.w() + 1;
    let left = m.concat(&[m.lit(0, u(1)), big, m.lit(0, u(3)), m.lit(1, u(1))]);
    let right = m.concat(&[small.extend(w) ^ m.repeat(subtract, w), subtract]);
    (left + right).called("whole_sum").slice(1, w)
}
