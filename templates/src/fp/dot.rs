//! Fused dot product: `c` plus `lanes` products with one alignment, one normalization and one rounding; exactly what
//! `frontend::value::eval_dot` computes, whose window of kept bits this is.
//!
//! All terms count relative to the sign of `c`, so `c` is never subtracted and each adder of the tree has just one
//! product whose sign may ask for a carry. Only the upper bits of the products are used: a shift to the right brings no
//! lower one up. (They are taken behind the register, which is then the DSP slice's.)

use super::mul::{partial_products, product_special, sum_of};
use super::parts::{by_digit, leading_zeros, round, saturate, shift_left, Fields, Special, Unrounded};
use super::pipe::{Held, Pipe};
use super::Format;
use frontend::value::dot_window;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Logic levels: unpack; a level of the search for the greatest exponent; multiply or add partial products; align; an
/// adder; magnitude; count zeros; shift; round.
const UNPACK: u32 = 7;
const GREATER: u32 = 4;
const MULTIPLY: u32 = 9;
const ALIGN: u32 = 4;
const ADD: u32 = 5;
const LAST: [u32; 4] = [5, 8, 4, 8];

/// Levels of a binary tree over all terms.
fn depth(lanes: u32) -> u32 {
    clog2(u64::from(lanes) + 1)
}

fn steps(lanes: u32) -> Vec<u32> {
    let d = depth(lanes) as usize;
    let mut steps = vec![UNPACK];
    steps.extend(vec![GREATER; d - 1]);
    steps.extend([MULTIPLY, MULTIPLY, ALIGN]);
    steps.extend(vec![ADD; d]);
    steps.extend(LAST);
    steps
}

/// What decides about NaN, infinity and the sign of a zero.
struct Flags<'p, 'm> {
    nan: Held<'p, 'm>,
    infinite: Held<'p, 'm>,
    /// An infinity has the sign opposite to `c`.
    opposite_infinity: Held<'p, 'm>,
    /// All terms are negative.
    all_negative: Held<'p, 'm>,
    addend_sign: Held<'p, 'm>,
}

/// `signs`: of the products, relative to `z`.
fn flags<'p, 'm>(p: &'p Pipe<'m>, factors: &[[Fields<'m>; 2]], signs: &[Sig<'m>], z: &Fields<'m>) -> Flags<'p, 'm> {
    let m = p.m;
    let special: Vec<_> = factors.iter().map(|[x, y]| product_special(x, y)).collect();
    let opposite: Vec<_> = special.iter().zip(signs).map(|(s, sign)| s.2 & *sign).collect();
    let same: Vec<_> = special.iter().zip(signs).map(|(s, sign)| s.2 & !*sign).collect();
    let (opposite, same) = (m.any(&opposite), m.any(&same) | z.infinite);
    let nan: Vec<_> = special.iter().map(|s| s.1).collect();
    Flags {
        nan: p.hold("nan", m.any(&nan) | z.nan | (opposite & same)),
        infinite: p.hold("infinite", opposite | same),
        opposite_infinity: p.hold("opposite_infinity", opposite),
        all_negative: p.hold("all_negative", z.sign & !m.any(signs)),
        addend_sign: p.hold("addend_sign", z.sign),
    }
}

/// Ports: `a` and `b` hold the factors, lane 0 lowest; `c` the addend.
pub fn build(m: &ModuleBuilder, f: Format, lanes: u32, latency: u32) {
    let p = Pipe::new(m, &steps(lanes), latency);
    let (width, bits, wide) = (f.fraction + 1, f.bits(), f.exponent + 1);
    let (a, b, c) = (p.input("a", lanes * bits), p.input("b", lanes * bits), p.input("c", bits));
    let z = Fields::new(c.now(), f);
    let factors: Vec<_> = (0..lanes).map(|k| [&a, &b].map(|x| Fields::new(x.now().slice(k * bits, bits), f))).collect();
    let signs: Vec<_> = factors.iter().map(|[x, y]| x.sign ^ y.sign ^ z.sign).collect();
    let flags = flags(&p, &factors, &signs, &z);
    let signs: Vec<_> = signs.iter().enumerate().map(|(k, s)| p.hold(format!("sign{k}"), *s)).collect();
    let mut places: Vec<_> = factors.iter().map(|[x, y]| product_place(m, x, y, wide)).collect();
    places.push(z.biased(m).extend(wide).add_lit(f.bias() - 1));
    let places: Vec<_> = places.into_iter().enumerate().map(|(k, x)| p.hold(format!("place{k}"), x)).collect();
    let addend = p.hold("addend", z.significand(m));
    let factors: Vec<_> = factors.iter().enumerate().map(|(k, [x, y])| [p.hold(format!("x{k}"), x.significand(m)), p.hold(format!("y{k}"), y.significand(m))]).collect();
    p.cut();
    let mut top: Vec<_> = places.iter().map(Held::now).collect();
    let mut partial = vec![];
    for level in 1..=depth(lanes) {
        if level == depth(lanes) {
            partial = factors.iter().map(|[x, y]| partial_products(&p, x.now(), y.now())).collect();
        }
        top = top.chunks(2).map(|pair| if let [x, y] = *pair { m.mux(x.lt(y), y, x) } else { pair[0] }).collect();
        let held: Vec<_> = top.iter().enumerate().map(|(k, x)| p.hold(format!("top{level}_{k}"), *x)).collect();
        p.cut();
        top = held.iter().map(Held::now).collect();
    }
    let top = p.hold("top", top[0]);
    let kept = dot_window(f.fraction, lanes);
    let shift_width = clog2(u64::from(kept) + 1);
    let amount = |k: usize| p.hold(format!("amount{k}"), saturate(m, top.now() - places[k].now(), shift_width));
    let amounts: Vec<_> = (0..places.len()).map(amount).collect();
    let products: Vec<_> = partial.iter().enumerate().map(|(k, x)| p.hold(format!("product{k}"), sum_of(m, x, 2 * width))).collect();
    p.cut();
    let never = m.lit(0, u(1));
    let product = |k: usize| align(m, upper(m, products[k].now(), kept), amounts[k].now(), signs[k].now());
    let mut terms: Vec<_> = (0..products.len()).map(|k| p.hold(format!("term{k}"), product(k))).collect();
    terms.push(p.hold("addend_term", align(m, upper(m, addend.now(), kept), amounts[products.len()].now(), never)));
    p.cut();
    let sum = sum(&p, terms, &signs);
    finish(&p, sum, &top, &flags, f, kept);
}

/// Normalizes and rounds the signed `sum`, whose bit `kept - 1` is at the greatest leading place `top`.
fn finish<'m>(p: &Pipe<'m>, sum: Sig<'m>, top: &Held<'_, 'm>, flags: &Flags<'_, 'm>, f: Format, kept: u32) {
    let m = p.m;
    let negative = p.hold("negative", sum.msb());
    let size = sum.w() - 1;
    let flipped = m.concat(&[sum.slice(0, size) ^ m.repeat(sum.msb(), size), sum.msb()]);
    let sum = p.hold("magnitude", (flipped + m.concat(&[m.lit(0, u(size)), sum.msb()])).slice(1, size));
    p.cut();
    // Biased exponent of the magnitude's top bit, less 1.
    let exponent_width = (f.exponent + 1).max(clog2(u64::from(size) + 1)) + 1;
    let limit = top.now().extend(exponent_width).add_lit(size - kept).sub_lit(f.bias());
    let zeros = leading_zeros(m, sum.now());
    let free = limit - zeros.extend(exponent_width);
    let shift = p.hold("shift", m.mux(free.msb(), limit.resize(zeros.w()), zeros));
    let below = p.hold("below", free & m.repeat(!free.msb(), exponent_width));
    let opposite = m.mux(flags.infinite.now(), flags.opposite_infinity.now(), negative.now());
    let sign = m.mux(zeros.eq_lit(size) & !flags.infinite.now(), flags.all_negative.now(), flags.addend_sign.now() ^ opposite);
    let sign = p.hold("sign", sign);
    p.cut();
    let shifted = shift_left(m, sum.now(), shift.now());
    let result = Unrounded::normalized(m, shifted, m.lit(0, u(1)), below.now(), f).hold(p);
    p.cut();
    p.output("y", round(m, &result(), &Special { sign: sign.now(), nan: flags.nan.now(), infinite: flags.infinite.now() }, f));
}

/// Leading place of a product by its exponents; 0 for a zero.
fn product_place<'m>(m: &'m ModuleBuilder, x: &Fields<'m>, y: &Fields<'m>, wide: u32) -> Sig<'m> {
    (x.biased(m).extend(wide) + y.biased(m).extend(wide)) & m.repeat(!(x.zero | y.zero), wide)
}

/// The upper `w` bits, with zeros below where there are fewer.
fn upper<'m>(m: &'m ModuleBuilder, x: Sig<'m>, w: u32) -> Sig<'m> {
    if x.w() >= w { x.slice(x.w() - w, w) } else { m.concat(&[x, m.lit(0, u(w - x.w()))]) }
}

/// `x >> amount`, inverted if `negative`, with a sign bit; the inversion shares the last digit's LUT.
fn align<'m>(m: &'m ModuleBuilder, x: Sig<'m>, amount: Sig<'m>, negative: Sig<'m>) -> Sig<'m> {
    let w = x.w();
    let shifted = (0..amount.w()).step_by(2).fold(x, |x, at| {
        let digit = amount.slice(at, (amount.w() - at).min(2));
        by_digit(m, digit, [0u32, 1, 2, 3].map(|d| x.shr_const((d << at).min(w))))
    });
    m.concat(&[negative, shifted ^ m.repeat(negative, w)])
}

/// The sum of all terms by a tree of adders, one step a level. The adders' carries complete the inverted terms: there are
/// as many adders as products.
fn sum<'p, 'm>(p: &'p Pipe<'m>, mut terms: Vec<Held<'p, 'm>>, signs: &[Held<'p, 'm>]) -> Sig<'m> {
    let m = p.m;
    let mut carries = signs.iter();
    let mut level = 0;
    while terms.len() > 1 {
        level += 1;
        let now: Vec<_> = terms.iter().map(Held::now).collect();
        let w = now.iter().map(|x| x.w()).max().unwrap_or(0) + 1;
        let wider = |x: Sig<'m>| x.signed().extend(w).unsigned();
        let mut sums = vec![];
        for pair in now.chunks(2) {
            sums.push(match *pair {
                [x, y] => {
                    let carry = carries.next().map_or(m.lit(0, u(1)), Held::now);
                    (m.concat(&[wider(x), m.lit(1, u(1))]) + m.concat(&[wider(y), carry])).slice(1, w)
                }
                _ => wider(pair[0]),
            });
        }
        terms = sums.into_iter().enumerate().map(|(k, x)| p.hold(format!("sum{level}_{k}"), x)).collect();
        p.cut();
    }
    terms[0].now()
}
