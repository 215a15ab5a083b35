//! Conversions: integer to float (rounded), float to integer (truncated, saturated, NaN gives 0), float to float.

use super::parts::{
    encode, exponent_width, leading_zeros, place, placement, round, saturate, shift_left, shift_right, Fields,
    Placement, Special, Unrounded,
};
use super::pipe::Pipe;
use super::Format;
use rtl::{clog2, s, u, ModuleBuilder};

/// Magnitude; count zeros; shift; round.
const FROM_INT: [u32; 4] = [5, 6, 5, 8];
/// Unpack and find the shift; shift; negate and saturate.
const TO_INT: [u32; 3] = [5, 5, 7];
/// Unpack and count zeros; find the shift; shift; round.
const BETWEEN: [u32; 4] = [6, 6, 6, 8];
/// Unpack and count zeros; shift and encode.
const WIDEN: [u32; 2] = [6, 6];
/// Round.
const CUT_FRACTION: [u32; 1] = [8];

pub fn from_int(m: &ModuleBuilder, f: Format, bits: u32, signed: bool, latency: u32) {
    let p = Pipe::new(m, &FROM_INT, latency);
    let none = m.lit(0, u(1));
    let a = p.input("a", bits).now();
    let negative = if signed { a.msb() } else { none };
    let sign = p.hold("sign", negative);
    let magnitude =
        p.hold("magnitude", if signed { (a ^ m.repeat(negative, bits)) + negative.extend(bits) } else { a });
    p.cut();
    let zeros = p.hold("zeros", leading_zeros(m, magnitude.now()));
    p.cut();
    let wide = exponent_width(f, bits);
    let top = m.lit(f.bias() + i64::from(bits) - 2, u(wide));
    let shifted = shift_left(m, magnitude.now(), zeros.now());
    let need = f.fraction + 2;
    let shifted = if bits < need { m.concat(&[shifted, m.lit(0, u(need - bits))]) } else { shifted };
    let result = Unrounded::normalized(m, shifted, none, top - zeros.now().extend(wide), f).hold(&p);
    p.cut();
    p.output("y", round(m, &result(), &Special { sign: sign.now(), nan: none, infinite: none }, f));
}

pub fn to_int(m: &ModuleBuilder, f: Format, bits: u32, signed: bool, latency: u32) {
    let p = Pipe::new(m, &TO_INT, latency);
    let x = Fields::new(p.input("a", f.bits()).now(), f);
    let wide = exponent_width(f, bits);
    // From bit `bits - 1`, of weight 2^(bits - 1), to the place of the leading bit.
    let down = m.lit(f.bias() + i64::from(bits) - 1, s(wide)) - x.biased(m).extend(wide).signed();
    let beyond = p.hold("beyond", down.msb() | x.infinite);
    let amount = p.hold("amount", saturate(m, down.unsigned(), clog2(u64::from(bits) + 1)));
    let negative = p.hold("negative", x.sign);
    let nan = p.hold("nan", x.nan);
    let significand = p.hold("significand", x.significand(m));
    p.cut();
    let aligned = m.concat(&[significand.now(), m.lit(0, u(bits))]).slice(f.fraction + 1, bits);
    let (whole, _) = shift_right(m, aligned, amount.now(), bits);
    let whole = p.hold("whole", whole);
    p.cut();
    let (whole, negative, beyond) = (whole.now(), negative.now(), beyond.now());
    let ty = u(bits);
    let value = if signed {
        let over = beyond | whole.msb();
        let magnitude = whole ^ m.repeat(negative, bits);
        let value = magnitude + negative.extend(bits);
        // 0111…1, or its complement for negative numbers.
        let limit = m.concat(&[negative, m.repeat(!negative, bits)]).slice(1, bits);
        m.mux(over, limit, value)
    } else {
        (whole | m.repeat(beyond, bits)) & m.repeat(!negative, bits)
    };
    p.output("y", m.mux(nan.now(), m.lit(0, ty), value));
}

pub fn to_bool(m: &ModuleBuilder, f: Format, latency: u32) {
    let p = Pipe::new(m, &[2], latency);
    let a = p.input("a", f.bits()).now();
    p.output("y", a.slice(0, f.bits() - 1).reduce_or());
}

pub fn from_float(m: &ModuleBuilder, from: Format, to: Format, latency: u32) {
    if from.exponent == to.exponent {
        same_range(m, from, to, latency);
    } else if to.exponent > from.exponent
        && to.fraction >= from.fraction
        && to.bias() - from.bias() >= i64::from(from.fraction)
    {
        widen(m, from, to, latency);
    } else {
        between(m, from, to, latency);
    }
}

/// Equal exponents: fraction bits are appended or rounded off, whatever the number.
fn same_range(m: &ModuleBuilder, from: Format, to: Format, latency: u32) {
    let p = Pipe::new(m, &CUT_FRACTION, latency);
    let x = Fields::new(p.input("a", from.bits()).now(), from);
    let padded = m.concat(&[x.fraction, m.lit(0, u(to.fraction + 2))]);
    let below = padded.w() - to.fraction - 1;
    let result = Unrounded {
        below: x.exponent,
        lead: m.lit(0, u(2)),
        fraction: padded.slice(below + 1, to.fraction),
        guard: padded.bit(below),
        sticky: padded.slice(0, below).reduce_or(),
    };
    p.output("y", round(m, &result, &Special { sign: x.sign, nan: x.nan, infinite: x.infinite }, to));
}

/// Every number of the narrow format is a normal number of the wide one.
fn widen(m: &ModuleBuilder, from: Format, to: Format, latency: u32) {
    let p = Pipe::new(m, &WIDEN, latency);
    let x = Fields::new(p.input("a", from.bits()).now(), from);
    let (sign, nan, infinite) = (p.hold("sign", x.sign), p.hold("nan", x.nan), p.hold("infinite", x.infinite));
    let wide = to.exponent;
    let zeros = leading_zeros(m, x.significand(m));
    let biased = x.biased(m).extend(wide).add_lit(to.bias() - from.bias());
    let exponent = p.hold("exponent", biased - zeros.resize(zeros.w().max(wide)).truncate(wide));
    let (zeros, significand) = (p.hold("zeros", zeros), p.hold("significand", x.significand(m)));
    p.cut();
    let shifted = shift_left(m, significand.now(), zeros.now());
    let exponent = exponent.now() & m.repeat(shifted.msb(), wide);
    let pad = to.fraction - from.fraction;
    let mut packed = vec![exponent, shifted.slice(0, from.fraction)];
    if pad > 0 {
        packed.push(m.lit(0, u(pad)));
    }
    let special = Special { sign: sign.now(), nan: nan.now(), infinite: infinite.now() };
    p.output("y", encode(m, m.concat(&packed), m.lit(0, u(1)), &special, to));
}

/// The general case: subnormal numbers and rounding on both sides.
fn between(m: &ModuleBuilder, from: Format, to: Format, latency: u32) {
    let p = Pipe::new(m, &BETWEEN, latency);
    let x = Fields::new(p.input("a", from.bits()).now(), from);
    let (sign, nan, infinite) = (p.hold("sign", x.sign), p.hold("nan", x.nan), p.hold("infinite", x.infinite));
    let width = from.fraction + to.fraction + 2;
    let wide = exponent_width(from, width).max(exponent_width(to, width));
    let zeros = p.hold("zeros", leading_zeros(m, x.significand(m)));
    let exponent = p.hold("exponent", x.biased(m).extend(wide).signed().add_lit(to.bias() - from.bias() - 1));
    let significand = p.hold("significand", x.significand(m));
    p.cut();
    let found = placement(m, exponent.now(), zeros.now(), from.fraction, width);
    let (amount, below) = (p.hold("amount", found.amount), p.hold("below", found.below));
    p.cut();
    let x = m.concat(&[significand.now(), m.lit(0, u(to.fraction + 1))]);
    let result = place(m, x, &Placement { amount: amount.now(), below: below.now() }, to).hold(&p);
    p.cut();
    p.output(
        "y",
        round(
            m,
            &result().unrounded(m, to),
            &Special { sign: sign.now(), nan: nan.now(), infinite: infinite.now() },
            to,
        ),
    );
}
