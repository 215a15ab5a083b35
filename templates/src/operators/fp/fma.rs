//! Fused multiply–add: a subnormal factor is normalized, the addend is aligned to the product in a window that reaches
//! `fraction + 3` bits above it, magnitudes are compared so that one adder serves, then normalization and rounding.
//!
//! Bit `3 * fraction + 4` of the window is the leading place of the unshifted addend, bit `2 * fraction` that of the
//! product; one bit more at the bottom is sticky. If the addend lies so high that it is not shifted, the product is
//! below a quarter of the addend's last place, and its exact position does not matter.

use super::mul::{partial_products, product_exponent, product_special, sum_of};
use super::parts::{
    exponent_width, leading_zeros, saturate, shift_left, shift_right, Fields, Normalization, Normalized,
};
use super::pipe::{Held, Pipe};
use super::Format;
use rtl::{clog2, u, ModuleBuilder, Sig};

/// Half levels: unpack; count zeros; normalize; multiply; add partial products and align; compare; add; count zeros;
/// limit the shift; shift; round.
const STEPS: [u32; 11] = [4, 9, 6, 10, 10, 10, 5, 12, 7, 8, 8];

/// Whether two subnormal factors are always too small to matter beside an addend, which the operator relies on.
pub fn supports(f: Format) -> bool {
    f.bias() >= i64::from(f.fraction) + 5
}

/// Signs and special cases, as far as the operands tell.
struct Flags<'p, 'm> {
    product_sign: Held<'p, 'm>,
    addend_sign: Held<'p, 'm>,
    nan: Held<'p, 'm>,
    infinite: Held<'p, 'm>,
    infinite_sign: Held<'p, 'm>,
    no_product: Held<'p, 'm>,
}

fn flags<'p, 'm>(p: &'p Pipe<'m>, x: &Fields<'m>, y: &Fields<'m>, z: &Fields<'m>) -> Flags<'p, 'm> {
    let (sign, nan, infinite) = product_special(x, y);
    Flags {
        product_sign: p.hold("product_sign", sign),
        addend_sign: p.hold("addend_sign", z.sign),
        nan: p.hold("nan", nan | z.nan | (infinite & z.infinite & (sign ^ z.sign))),
        infinite: p.hold("infinite", infinite | z.infinite),
        infinite_sign: p.hold("infinite_sign", p.m.mux(infinite, sign, z.sign)),
        no_product: p.hold("no_product", x.zero | y.zero),
    }
}

pub fn build(m: &ModuleBuilder, f: Format, latency: u32) {
    let p = Pipe::new(m, &STEPS, latency);
    let (width, wide) = (f.fraction + 1, exponent_width(f, 4 * f.fraction + 8));
    let (a, b, c) = (p.input("a", f.bits()), p.input("b", f.bits()), p.input("c", f.bits()));
    let (x, y, z) = (Fields::new(a.now(), f), Fields::new(b.now(), f), Fields::new(c.now(), f));
    let (left, right) = (x.significand(m), y.significand(m));
    let (small, factor) = (m.mux(x.normal, right, left), m.mux(x.normal, left, right));
    let (small, y_significand) = (p.hold("small", small), p.hold("y", factor));
    let addend = p.hold("addend", z.significand(m));
    let (x, y, z) = (x.hold(&p, "a"), y.hold(&p, "b"), z.hold(&p, "c"));
    p.cut();
    let (x, y, z) = (x(), y(), z());
    let flags = flags(&p, &x, &y, &z);
    let exponent = p.hold("exponent", product_exponent(m, &x, &y, f, wide));
    let addend_exponent = p.hold("addend_exponent", z.biased(m));
    let zeros = p.hold("zeros", leading_zeros(m, small.now()));
    p.cut();
    let x = p.hold("x", shift_left(m, small.now(), zeros.now()));
    let top = exponent.now().add_lit(f.fraction + 5) - zeros.now().extend(wide).signed();
    let top = p.hold("top", top);
    p.cut();
    let partial = partial_products(&p, x.now(), y_significand.now());
    let addend_exponent = addend_exponent.now().extend(wide).signed();
    let distance = top.now() - addend_exponent;
    let stay = distance.msb() | flags.no_product.now();
    let amount = saturate(m, distance.unsigned(), clog2(3 * u64::from(f.fraction) + 6));
    let amount = p.hold("amount", amount & m.repeat(!stay, amount.w()));
    let top = p.hold("reference", m.mux(stay, addend_exponent, top.now()).unsigned().sub_lit(1));
    p.cut();
    let window = 3 * f.fraction + 5;
    let product = p.hold("product", m.concat(&[sum_of(m, &partial, 2 * width), m.lit(0, u(1))]).extend(window + 1));
    let high = m.concat(&[addend.now(), m.lit(0, u(window - width))]);
    let (aligned, lost) = shift_right(m, high, amount.now(), window);
    let aligned = p.hold("aligned", m.concat(&[aligned, lost]));
    let opposite = p.hold("opposite", flags.product_sign.now() ^ flags.addend_sign.now());
    p.cut();
    let order = Order::new(m, [product.now(), aligned.now()], opposite.now());
    let (invert_product, invert_addend) = (p.hold("invert_p", order.invert[0]), p.hold("invert_a", order.invert[1]));
    let carries = [p.hold("opposite_q", opposite.now()), p.hold("carry", order.carry)];
    p.cut();
    let sum = signed_sum(
        m,
        [product.now(), aligned.now()],
        [invert_product.now(), invert_addend.now()],
        [carries[0].now(), carries[1].now()],
    );
    let sum = p.hold("sum", sum);
    let sign = p.hold("sign", m.mux(invert_product.now(), flags.addend_sign.now(), flags.product_sign.now()));
    p.cut();
    let zeros = p.hold("zeros_n", leading_zeros(m, sum.now()));
    p.cut();
    let infinite = flags.infinite.now();
    let normalization = Normalization::new(m, top.now(), zeros.now(), window + 1, infinite | flags.nan.now()).hold(&p);
    let both = flags.product_sign.now() & flags.addend_sign.now();
    let sign = m.mux(zeros.now().eq_lit(window + 1), both, sign.now());
    let sign = p.hold("sign_n", m.mux(infinite, flags.infinite_sign.now(), sign) & !flags.nan.now());
    p.cut();
    let result = normalize(m, sum.now(), &normalization(), flags.nan.now(), f).hold(&p);
    p.cut();
    p.output("y", result().round(m, sign.now(), f));
}

/// Controls of the adder, which gives `|x[0] ± x[1]|` by two short carry chains.
struct Order<'m> {
    /// Which operand is to be inverted: the smaller one if they are subtracted.
    invert: [Sig<'m>; 2],
    /// Carry into the high half.
    carry: Sig<'m>,
}

impl<'m> Order<'m> {
    fn new(m: &'m ModuleBuilder, x: [Sig<'m>; 2], subtract: Sig<'m>) -> Self {
        let (w, half) = (x[0].w(), x[0].w() / 2);
        let [low, high] = [(0, half), (half, w - half)].map(|(at, w)| x.map(|v| v.slice(at, w)));
        // Carry of x[0] + x[1], or of x[0] - x[1], which is "not less".
        let left = m.concat(&[low[0], m.lit(1, u(1))]).extend(half + 2);
        let right = m.concat(&[low[1] ^ m.repeat(subtract, half), subtract]).extend(half + 2);
        let (carry, same) = ((left + right).msb(), low[0].eq(low[1]));
        let less = high[0].lt(high[1]) | (high[0].eq(high[1]) & !carry);
        let exchange = subtract & less;
        Order { invert: [exchange, subtract & !less], carry: m.mux(exchange, !carry | same, carry) }
    }
}

/// `|x[0] ± x[1]|`; carries into the low and the high half.
fn signed_sum<'m>(m: &'m ModuleBuilder, x: [Sig<'m>; 2], invert: [Sig<'m>; 2], carries: [Sig<'m>; 2]) -> Sig<'m> {
    let (w, half) = (x[0].w(), x[0].w() / 2);
    let [a, b] = [0, 1].map(|k| x[k] ^ m.repeat(invert[k], w));
    let part = |at: u32, w: u32, carry: Sig<'m>| {
        let (left, right) = (m.concat(&[a.slice(at, w), m.lit(1, u(1))]), m.concat(&[b.slice(at, w), carry]));
        (left + right).slice(1, w)
    };
    m.concat(&[part(half, w - half, carries[1]), part(0, half, carries[0])])
}

/// `sum` shifted left: done as a right shift by the complement, which narrows with every digit.
fn normalize<'m>(m: &'m ModuleBuilder, sum: Sig<'m>, n: &Normalization<'m>, nan: Sig<'m>, f: Format) -> Normalized<'m> {
    let (kept, shift) = (f.fraction + 2, n.shift());
    let most = (1u32 << shift.w()) - 1;
    let padded = m.concat(&[sum, m.lit(0, u(most + kept - sum.w()))]);
    let (window, lost) = shift_right(m, padded, !shift, kept);
    n.apply(m, window, lost, nan, f)
}
