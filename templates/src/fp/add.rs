//! Addition and subtraction by one path: order by magnitude, align the smaller operand to the right with a sticky bit,
//! add or subtract, count leading zeros, shift left no further than exponent 1, round.

use super::parts::{leading_zeros, round, saturate, shift_left, shift_right, Fields, Special, Unrounded};
use super::pipe::Pipe;
use super::Format;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Compare; order; align; add; count zeros; shift; round.
const STEPS: [u32; 7] = [6, 3, 5, 5, 8, 4, 8];

pub fn build(m: &ModuleBuilder, f: Format, subtract: bool, latency: u32) {
    let p = Pipe::new(m, &STEPS, latency);
    let (a, b) = (p.input("a", f.bits()), p.input("b", f.bits()));
    let (x, y) = (Fields::new(a.now(), f), Fields::new(b.now(), f));
    let y_sign = if subtract { !y.sign } else { y.sign };
    let swap = p.hold("swap", a.now().slice(0, f.bits() - 1).lt(b.now().slice(0, f.bits() - 1)));
    let (ex, ey) = (x.biased(m), y.biased(m));
    let (more, less) = (p.hold("more", ex - ey), p.hold("less", ey - ex));
    let opposite = p.hold("opposite", x.sign ^ y_sign);
    let nan = p.hold("nan", x.nan | y.nan | (x.infinite & y.infinite & (x.sign ^ y_sign)));
    let infinite = p.hold("infinite", x.infinite | y.infinite);
    let zero_sign = p.hold("zero_sign", x.sign & y_sign);
    let x = p.hold("x", m.concat(&[x.sign, ex, x.significand(m)]));
    let y = p.hold("y", m.concat(&[y_sign, ey, y.significand(m)]));
    p.cut();
    let width = f.fraction + 1;
    let big = p.hold("big", m.mux(swap.now(), y.now(), x.now()));
    let small = p.hold("small", m.mux(swap.now(), x.now(), y.now()).slice(0, width));
    let distance = m.mux(swap.now(), less.now(), more.now());
    let distance = p.hold("distance", saturate(m, distance, clog2(width as u64 + 3)));
    p.cut();
    let (aligned, lost) = shift_right(m, m.concat(&[small.now(), m.lit(0, u(2))]), distance.now(), width + 2);
    let aligned = p.hold("aligned", m.concat(&[aligned, lost]));
    p.cut();
    let sum = p.hold("sum", add_or_subtract(m, big.now().slice(0, width), aligned.now(), opposite.now()));
    p.cut();
    // The top bit of `sum` has the exponent of `big` plus 1.
    let zeros = leading_zeros(m, sum.now());
    let wide = f.exponent.max(zeros.w()) + 1;
    let limit = big.now().slice(width, f.exponent).extend(wide);
    let free = limit - zeros.extend(wide);
    let shift = m.mux(free.msb(), limit.resize(zeros.w()), zeros);
    let below = p.hold("below", free & m.repeat(!free.msb(), wide));
    let sign = p.hold("sign", m.mux(zeros.eq_lit(width + 4), zero_sign.now(), big.now().msb()));
    let shift = p.hold("shift", shift);
    p.cut();
    let shifted = shift_left(m, sum.now(), shift.now());
    let result = Unrounded::normalized(m, shifted, m.lit(0, u(1)), below.now(), f).hold(&p);
    p.cut();
    let special = Special { sign: sign.now(), nan: nan.now(), infinite: infinite.now() };
    p.output("y", round(m, &result(), &special, f));
}

/// `big * 8 ± small` for `small` not above it, with one bit more, by a single carry chain.
fn add_or_subtract<'m>(m: &'m ModuleBuilder, big: Sig<'m>, small: Sig<'m>, subtract: Sig<'m>) -> Sig<'m> {
    let w = small.w() + 1;
    let left = m.concat(&[m.lit(0, u(1)), big, m.lit(0, u(3)), m.lit(1, u(1))]);
    let right = m.concat(&[small.extend(w) ^ m.repeat(subtract, w), subtract]);
    (left + right).slice(1, w)
}
