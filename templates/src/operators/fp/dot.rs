//! Fused dot product: `c` plus `lanes` products with one alignment, one normalization and one rounding. It computes
//! exactly what `scop::value::eval_dot` does, with the same window of bits.
//!
//! - All terms are relative to the sign of `c`, so `c` is never subtracted.
//! - A product has one bit more than the window. That bit, inverted for a negative product, is the carry that both
//!   rounds the product and completes its negation. Every adder takes one such carry; there are as many adders as
//!   products.
//! - The last digit of a shift, the inversion and the adder share a LUT.
//! - Only the upper bits of a product are used, because terms are shifted to the right. They are taken behind the
//!   product's register, so that this register is in the DSP slice.

use super::mul::{partial_products, product_special, sum_of};
use super::parts::{by_digit, leading_zeros, shift_left, Fields, Normalization};
use super::pipe::{Held, Pipe};
use super::Format;
use rtl::{clog2, u, ModuleBuilder, Sig};
use scop::value::dot_window;

/// Half levels: unpack; one level of the search for the greatest exponent (the DSP slices multiply in the last one);
/// add partial products; align; two adders; magnitude; count zeros; limit the shift; shift; round.
const UNPACK: u32 = 10;
const GREATER: u32 = 5;
const ADD_PRODUCTS: u32 = 10;
const ALIGN: u32 = 6;
const ADD: u32 = 9;
const LAST: [u32; 5] = [4, 10, 7, 7, 8];
/// Terms that one step adds, in consecutive carry chains.
const TERMS: usize = 3;

/// Levels of a binary tree over all terms.
fn depth(lanes: u32) -> u32 {
    clog2(u64::from(lanes) + 1)
}

fn steps(lanes: u32) -> Vec<u32> {
    let mut steps = vec![UNPACK];
    steps.extend(vec![GREATER; depth(lanes) as usize]);
    steps.extend([ADD_PRODUCTS, ALIGN]);
    let mut terms = lanes as usize + 1;
    while terms > 1 {
        steps.push(if terms > 2 { ADD } else { ADD / 2 });
        terms = terms.div_ceil(TERMS);
    }
    steps.extend(LAST);
    steps
}

/// Conditions for NaN, infinity and the sign of a zero.
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
    let signs: Vec<_> =
        factors.iter().enumerate().map(|(k, [x, y])| p.hold(format!("sign{k}"), x.sign ^ y.sign)).collect();
    let places = places(m, &factors, &z, wide)
        .into_iter()
        .enumerate()
        .map(|(k, x)| p.hold(format!("place{k}"), x))
        .collect::<Vec<_>>();
    let addend = p.hold("addend", z.significand(m));
    let factors: Vec<_> = factors
        .iter()
        .enumerate()
        .map(|(k, [x, y])| [p.hold(format!("x{k}"), x.significand(m)), p.hold(format!("y{k}"), y.significand(m))])
        .collect();
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
    let top = p.hold("top", top[0].slice(0, wide));
    let distances = (0..places.len())
        .map(|k| p.hold(format!("distance{k}"), top.now() - places[k].now().slice(0, wide)))
        .collect::<Vec<_>>();
    // A gate between registers: a shift register would be late.
    let negative: Vec<_> = signs.iter().map(|s| p.hold("negative", s.now() ^ flags.addend_sign.now())).collect();
    let products: Vec<_> =
        partial.iter().enumerate().map(|(k, x)| p.hold(format!("product{k}"), sum_of(m, x, 2 * width))).collect();
    p.cut();
    let kept = dot_window(f.fraction);
    let term = |x, distance, negative| Shift::new(m, upper(m, x, kept + 1), distance, negative);
    let mut terms = vec![term(addend.now(), distances[lanes as usize].now(), None)];
    terms.extend((0..lanes as usize).map(|k| term(products[k].now(), distances[k].now(), Some(negative[k].now()))));
    let sum = sum(&p, terms, kept);
    finish(&p, sum, &top, &flags, f, kept);
}

/// Normalizes and rounds the signed `sum`. Its bit `kept - 1` is at the greatest leading place, `top`.
fn finish<'m>(p: &Pipe<'m>, sum: Sig<'m>, top: &Held<'_, 'm>, flags: &Flags<'_, 'm>, f: Format, kept: u32) {
    let m = p.m;
    let negative = p.hold("negative", sum.msb());
    let size = sum.w() - 1;
    let flipped = m.concat(&[sum.slice(0, size) ^ m.repeat(sum.msb(), size), sum.msb()]);
    let sum = p.hold("magnitude", (flipped + m.concat(&[m.lit(0, u(size)), sum.msb()])).slice(1, size));
    p.cut();
    let zeros = p.hold("zeros", leading_zeros(m, sum.now()));
    // The biased exponent of the magnitude's top bit, less 1.
    let wide = (f.exponent + 1).max(clog2(u64::from(size) + 1)) + 1;
    let limit = p.hold("limit", top.now().extend(wide).sub_lit(f.bias() - i64::from(size - kept)));
    p.cut();
    let normalization =
        Normalization::new(m, limit.now(), zeros.now(), size, flags.nan.now() | flags.infinite.now()).hold(p);
    let opposite = m.mux(flags.infinite.now(), flags.opposite_infinity.now(), negative.now());
    let zero = zeros.now().eq_lit(size) & !flags.infinite.now();
    let sign =
        p.hold("sign", m.mux(zero, flags.all_negative.now(), flags.addend_sign.now() ^ opposite) & !flags.nan.now());
    p.cut();
    let n = normalization();
    let result = n.apply(m, shift_left(m, sum.now(), n.shift()), m.lit(0, u(1)), flags.nan.now(), f).hold(p);
    p.cut();
    p.output("y", result().round(m, sign.now(), f));
}

/// Leading places of the products and of `z` by their exponents; the bit above says that the term is not a zero, which
/// has no place.
fn places<'m>(m: &'m ModuleBuilder, factors: &[[Fields<'m>; 2]], z: &Fields<'m>, wide: u32) -> Vec<Sig<'m>> {
    let product = |[x, y]: &[Fields<'m>; 2]| {
        let place = x.biased(m).extend(wide) + y.biased(m).extend(wide);
        m.concat(&[!(x.zero | y.zero), place])
    };
    let addend = z.biased(m).extend(wide).add_lit((1 << (z.exponent.w() - 1)) - 2);
    factors.iter().map(product).chain([m.concat(&[m.lit(1, u(1)), addend])]).collect()
}

/// The upper `w` bits; zeros fill up a shorter value.
fn upper<'m>(m: &'m ModuleBuilder, x: Sig<'m>, w: u32) -> Sig<'m> {
    if x.w() >= w {
        x.slice(x.w() - w, w)
    } else {
        m.concat(&[x, m.lit(0, u(w - x.w()))])
    }
}

/// A term that is shifted to the right but for the last digit.
struct Shift<'m> {
    value: Sig<'m>,
    /// Whether to shift by `step` more.
    last: Sig<'m>,
    step: u32,
    /// The distance is beyond what the digits express.
    beyond: Sig<'m>,
    /// None: never negative, and not rounded.
    negative: Option<Sig<'m>>,
}

impl<'m> Shift<'m> {
    fn new(m: &'m ModuleBuilder, x: Sig<'m>, distance: Sig<'m>, negative: Option<Sig<'m>>) -> Self {
        let w = x.w();
        let last = (clog2(u64::from(w) + 1) - 1).min(distance.w() - 1);
        let value = (0..last).step_by(2).fold(x, |x, at| {
            by_digit(m, distance.slice(at, (last - at).min(2)), [0u32, 1, 2, 3].map(|d| x.shr_const((d << at).min(w))))
        });
        let rest = distance.w() - last - 1;
        let beyond = if rest > 0 { distance.slice(last + 1, rest).reduce_or() } else { m.lit(0, u(1)) };
        Shift { value, last: distance.bit(last), step: (1 << last).min(w), beyond, negative }
    }

    /// Holds the term for later steps.
    fn hold<'p>(self, p: &'p Pipe<'m>) -> impl Fn() -> Shift<'m> + use<'p, 'm> {
        let [value, last, beyond] =
            [("term", self.value), ("last", self.last), ("beyond", self.beyond)].map(|(name, x)| p.hold(name, x));
        let (step, negative) = (self.step, self.negative.map(|x| p.hold("negative", x)));
        move || Shift {
            value: value.now(),
            last: last.now(),
            step,
            beyond: beyond.now(),
            negative: negative.as_ref().map(Held::now),
        }
    }

    /// Completes the shift and inverts a negative term.
    fn complete(self, m: &'m ModuleBuilder) -> Partial<'m> {
        let (x, w) = (self.value, self.value.w());
        let shifted = m.mux(self.last, x.shr_const(self.step), x) & m.repeat(!self.beyond, w);
        let negative = self.negative.unwrap_or(m.lit(0, u(1)));
        let x = shifted ^ m.repeat(negative, w);
        Partial {
            value: m.concat(&[negative, x.slice(1, w - 1)]),
            carries: self.negative.map(|_| x.bit(0)).into_iter().collect(),
        }
    }
}

/// A signed sum that lacks some carries.
struct Partial<'m> {
    value: Sig<'m>,
    carries: Vec<Sig<'m>>,
}

impl<'m> Partial<'m> {
    /// The sum in `w` bits, with one of the pending carries.
    fn add(mut self, m: &'m ModuleBuilder, other: Partial<'m>, w: u32) -> Partial<'m> {
        self.carries.extend(other.carries);
        let carry = self.carries.pop().unwrap_or(m.lit(0, u(1)));
        let wider = |x: Sig<'m>| x.signed().extend(w).unsigned();
        let sum = m.concat(&[wider(self.value), m.lit(1, u(1))]) + m.concat(&[wider(other.value), carry]);
        Partial { value: sum.slice(1, w), ..self }
    }

    /// Holds the sum for later steps.
    fn hold<'p>(self, p: &'p Pipe<'m>) -> impl Fn() -> Partial<'m> + use<'p, 'm> {
        let value = p.hold("sum", self.value);
        let carries: Vec<_> = self.carries.into_iter().map(|x| p.hold("carry", x)).collect();
        move || Partial { value: value.now(), carries: carries.iter().map(Held::now).collect() }
    }
}

/// The sum of all terms, of magnitudes below `2^kept`, by a tree of adders. Only the first of those that are added in
/// one step needs its last digit before.
fn sum<'m>(p: &Pipe<'m>, terms: Vec<Shift<'m>>, kept: u32) -> Sig<'m> {
    let (m, all) = (p.m, terms.len());
    let ready = |(k, x): (usize, Shift<'m>)| -> Box<dyn Fn() -> Partial<'m> + '_> {
        if k % TERMS == 0 {
            return Box::new(x.complete(m).hold(p));
        }
        let x = x.hold(p);
        Box::new(move || x().complete(m))
    };
    let mut partial: Vec<_> = terms.into_iter().enumerate().map(ready).collect();
    p.cut();
    let mut count = 1;
    while partial.len() > 1 {
        count = (count * TERMS).min(all);
        let w = kept + clog2(count as u64) + 1;
        let add = |group: &[Box<dyn Fn() -> Partial<'m> + '_>]| {
            group[1..].iter().fold(group[0](), |sum, x| sum.add(m, x(), w))
        };
        let sums: Vec<_> = partial.chunks(TERMS).map(add).collect();
        partial = sums.into_iter().map(|x| Box::new(x.hold(p)) as _).collect();
        p.cut();
    }
    partial[0]().value
}
