//! Common parts of the operators: fields of a number, leading zeros, shifts by radix-4 digits (one 6-input LUT per bit
//! and digit), normalization and rounding.

use super::pipe::Pipe;
use super::Format;
use rtl::{clog2, s, u, ModuleBuilder, Sig};

/// The fields of a number, and its class.
#[derive(Clone, Copy)]
pub struct Fields<'m> {
    pub sign: Sig<'m>,
    pub exponent: Sig<'m>,
    pub fraction: Sig<'m>,
    /// Exponent field not zero: the hidden bit.
    pub normal: Sig<'m>,
    /// All bits of the exponent field are 1.
    pub top: Sig<'m>,
    pub nan: Sig<'m>,
    pub infinite: Sig<'m>,
    pub zero: Sig<'m>,
}

impl<'m> Fields<'m> {
    pub fn new(x: Sig<'m>, f: Format) -> Self {
        let (exponent, fraction) = (x.slice(f.fraction, f.exponent), x.slice(0, f.fraction));
        Fields::of_parts(
            [x.msb(), exponent, fraction],
            exponent.reduce_or(),
            exponent.reduce_and(),
            fraction.reduce_or(),
        )
    }

    fn of_parts([sign, exponent, fraction]: [Sig<'m>; 3], normal: Sig<'m>, top: Sig<'m>, some: Sig<'m>) -> Self {
        Fields { sign, exponent, fraction, normal, top, nan: top & some, infinite: top & !some, zero: !(normal | some) }
    }

    /// Holds what decides the class and the exponent for later steps. In front of the registers each bit of the
    /// exponent and of the fraction passes one "or" at most but for the hidden bit: an operand may come through a
    /// multiplexer.
    pub fn hold<'p>(self, p: &'p Pipe<'m>, name: &str) -> impl Fn() -> Fields<'m> + use<'p, 'm> {
        let held = |what: &str, x| p.hold(format!("{name}_{what}"), x);
        let (sign, exponent, fraction) =
            (held("sign", self.sign), held("exponent", self.exponent), held("fraction", self.fraction));
        let (normal, top) = (held("normal", self.normal), held("top", self.top));
        let some = held("some", or_by_six(p.m, self.fraction));
        move || {
            let x = [sign.now(), exponent.now(), fraction.now()];
            Fields::of_parts(x, normal.now(), top.now(), some.now().reduce_or())
        }
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
    if digit.w() == 1 {
        low
    } else {
        m.mux(digit.bit(1), m.mux(digit.bit(0), d[3], d[2]), low)
    }
}

/// Positions of the base-4 digits of a number of `w` bits, highest first: (lowest bit, bits).
fn digits(w: u32) -> Vec<(u32, u32)> {
    (0..w.div_ceil(2)).rev().map(|k| (2 * k, (w - 2 * k).min(2))).collect()
}

/// Leading zeros of an unsigned value: 0 to its width, in `clog2(width + 1)` bits.
pub fn leading_zeros<'m>(m: &'m ModuleBuilder, x: Sig<'m>) -> Sig<'m> {
    let width = clog2(x.w() as u64 + 1);
    let whole = 1 << clog2(x.w() as u64 + 1);
    let padded = m.concat(&[x, m.lit(-1, s(whole - x.w())).unsigned()]).called("counted");
    zeros_of(m, padded, 0).1.resize(width)
}

/// (some bit set, leading zeros) of a value whose width is a power of two from 2 on; its lowest bit is `at` of the
/// whole.
fn zeros_of<'m>(m: &'m ModuleBuilder, x: Sig<'m>, at: u32) -> (Sig<'m>, Sig<'m>) {
    let half = x.w() / 2;
    let (high, low) = (x.slice(half, half), x.slice(0, half));
    let called = |what: &str| format!("{what}_{}_{at}", at + x.w() - 1);
    if half == 1 {
        return ((high | low).called(called("some")), !high);
    }
    let ((some_high, high), (some_low, low)) = (zeros_of(m, high, at + half), zeros_of(m, low, at));
    let rest = m.mux(some_high, high, low).called(called("rest_zeros"));
    let zeros = m.concat(&[!some_high, rest]);
    ((some_high | some_low).called(called("some")), zeros.called(called("zeros")))
}

/// `x << amount` in the width of `x`. The last digit of an odd width is a single bit: its LUT has inputs left for the
/// next operation.
pub fn shift_left<'m>(m: &'m ModuleBuilder, mut x: Sig<'m>, amount: Sig<'m>) -> Sig<'m> {
    let mut at = amount.w();
    while at > 0 {
        let w = at.min(2);
        at -= w;
        x = by_digit(m, amount.slice(at, w), [0, 1, 2, 3].map(|d| x.shl_const(d << at)))
            .called(format!("shifted_from_bit{at}"));
    }
    x
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
        lost.push(by_digit(m, digit, [0, 1, 2, 3].map(|d| below(d << at))).called(format!("lost_from_bit{at}")));
        value =
            by_digit(m, digit, [0, 1, 2, 3].map(|d| wide.slice(d << at, keep))).called(format!("shifted_from_bit{at}"));
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

/// The bits of `x` joined by "or" in groups that take one LUT: the first half of a wide "or".
pub fn or_by_six<'m>(m: &'m ModuleBuilder, x: Sig<'m>) -> Sig<'m> {
    m.concat(&(0..x.w()).step_by(6).map(|at| x.slice(at, (x.w() - at).min(6)).reduce_or()).collect::<Vec<_>>())
}

/// Width of signed exponents on which `f`'s operators compute with significands of `significand` bits.
pub fn exponent_width(f: Format, significand: u32) -> u32 {
    f.exponent.max(clog2(significand as u64 + 2)) + 2
}

/// How to bring a product-like significand into place; see [`place`].
pub struct Placement<'m> {
    /// Right shift in [`place`].
    pub amount: Sig<'m>,
    /// Biased exponent that the leading place gets, less 1; unsigned.
    pub below: Sig<'m>,
}

/// For a significand whose leading place has the biased exponent `below + 1` (`below` signed) and whose first one is
/// `zeros` below it: shift left by `zeros`, but stop where the biased exponent is 1, to the right if need be.
/// `fraction` is the greatest left shift; `width` the width of the significand in [`place`].
pub fn placement<'m>(m: &'m ModuleBuilder, below: Sig<'m>, zeros: Sig<'m>, fraction: u32, width: u32) -> Placement<'m> {
    let ty = below.ty();
    let zeros = zeros.to(ty);
    let free = (below - zeros).called("below_free");
    let limited = free.msb();
    let bits = clog2(width as u64 + 2);
    let normal = (m.lit(fraction, ty) - zeros).called("amount_normal").unsigned().resize(bits);
    let stopped = saturate(m, (m.lit(fraction, ty) - below).called("amount_stopped").unsigned(), bits);
    Placement { amount: m.mux(limited, stopped, normal), below: free.unsigned() & m.repeat(!limited, ty.w) }
}

/// A shifted significand: the leading bit is in one of the two top places of `fraction + 3` bits.
pub struct Placed<'m> {
    pub below: Sig<'m>,
    pub window: Sig<'m>,
    pub lost: Sig<'m>,
}

/// Shifts `x` as [`placement`] says, from the leftmost position on.
pub fn place<'m>(m: &'m ModuleBuilder, x: Sig<'m>, p: &Placement<'m>, f: Format) -> Placed<'m> {
    let (window, lost) = shift_right(m, x, p.amount, f.fraction + 3);
    Placed { below: p.below, window, lost }
}

impl<'m> Placed<'m> {
    /// Holds the value for later steps.
    pub fn hold<'p>(self, p: &'p Pipe<'m>) -> impl Fn() -> Placed<'m> + use<'p, 'm> {
        let (below, window, lost) =
            (p.hold("below_p", self.below), p.hold("window", self.window), p.hold("lost", self.lost));
        move || Placed { below: below.now(), window: window.now(), lost: lost.now() }
    }

    /// Normalizes by the one bit that is left.
    pub fn unrounded(&self, m: &'m ModuleBuilder, f: Format) -> Unrounded<'m> {
        let w = self.window;
        let (high, next) = (w.msb(), w.bit(f.fraction + 1));
        Unrounded {
            below: (self.below & m.repeat(high | next, self.below.w())).called("below_kept"),
            lead: m.concat(&[high, !high & next]).called("lead"),
            fraction: m.mux(high, w.slice(2, f.fraction), w.slice(1, f.fraction)).called("fraction"),
            guard: m.mux(high, w.bit(1), w.bit(0)),
            sticky: self.lost | (high & w.bit(0)),
        }
    }
}

/// A result before rounding. Its biased exponent is `below + lead`; `below` is 0 where `lead` is.
pub struct Unrounded<'m> {
    pub below: Sig<'m>,
    /// 0 (subnormal or zero), 1, or 2; two bits.
    pub lead: Sig<'m>,
    pub fraction: Sig<'m>,
    pub guard: Sig<'m>,
    pub sticky: Sig<'m>,
}

impl<'m> Unrounded<'m> {
    /// From a significand that is normalized if `x`'s top bit is set, else subnormal or zero.
    pub fn normalized(m: &'m ModuleBuilder, x: Sig<'m>, lost: Sig<'m>, below: Sig<'m>, f: Format) -> Self {
        let rest = x.w() - f.fraction - 2;
        Unrounded {
            below: (below & m.repeat(x.msb(), below.w())).called("below_kept"),
            lead: x.msb().extend(2),
            fraction: x.slice(rest + 1, f.fraction),
            guard: x.bit(rest),
            sticky: if rest > 0 { lost | x.slice(0, rest).reduce_or() } else { lost },
        }
    }

    /// Holds the value for later steps.
    pub fn hold<'p>(self, p: &'p Pipe<'m>) -> impl Fn() -> Unrounded<'m> + use<'p, 'm> {
        let (below, lead) = (p.hold("below_r", self.below), p.hold("lead_r", self.lead));
        let (fraction, guard, sticky) =
            (p.hold("fraction_r", self.fraction), p.hold("guard_r", self.guard), p.hold("sticky_r", self.sticky));
        move || Unrounded {
            below: below.now(),
            lead: lead.now(),
            fraction: fraction.now(),
            guard: guard.now(),
            sticky: sticky.now(),
        }
    }
}

/// Special results that override a computed value.
pub struct Special<'m> {
    pub sign: Sig<'m>,
    pub nan: Sig<'m>,
    pub infinite: Sig<'m>,
}

/// Rounds to nearest even and encodes; overflow gives infinity, NaN the canonical one. One carry chain adds `lead` and
/// the rounding increment.
pub fn round<'m>(m: &'m ModuleBuilder, x: &Unrounded<'m>, special: &Special<'m>, f: Format) -> Sig<'m> {
    let (w, lead) = (f.exponent, x.lead);
    let below = x.below.resize(w.max(x.below.w()));
    let field = below.slice(0, w);
    let beyond = if below.w() > w { below.slice(w, below.w() - w).reduce_or() } else { m.lit(0, u(1)) };
    // below + lead reaches 11…1.
    let by_one = field.slice(1, w - 1).reduce_and() & lead.reduce_or();
    let by_two = field.slice(2, w - 2).reduce_and() & field.bit(0) & lead.bit(1);
    let up = (x.guard & (x.sticky | x.fraction.bit(0))).called("round_up");
    let one = m.lit(1, u(1));
    let value = m.concat(&[field, x.fraction, one]);
    let increment = m.concat(&[lead, m.lit(0, u(f.fraction)), up]).extend(value.w());
    let packed = (value + increment).called("rounded").slice(1, w + f.fraction);
    encode(m, packed, (beyond | by_one | by_two).called("overflows"), special, f)
}

/// Exponent and fraction fields with the special values put in.
pub fn encode<'m>(
    m: &'m ModuleBuilder,
    packed: Sig<'m>,
    overflow: Sig<'m>,
    special: &Special<'m>,
    f: Format,
) -> Sig<'m> {
    let over = (special.nan | special.infinite | overflow).called("over");
    let exponent = packed.slice(f.fraction, f.exponent) | m.repeat(over, f.exponent);
    let fraction = (packed.slice(0, f.fraction) & m.repeat(!over, f.fraction)).called("fraction_kept");
    let quiet = fraction.msb() | special.nan;
    let fraction = if f.fraction > 1 {
        m.concat(&[quiet, fraction.slice(0, f.fraction - 1)]).called("fraction_field")
    } else {
        quiet
    };
    m.concat(&[special.sign & !special.nan, exponent, fraction])
}

/// How a sum is normalized, decided before the shift. Infinities, NaN and overflow are decided during the shift, so
/// that the shift's last digit clears the fraction.
pub struct Normalization<'m> {
    /// To the left.
    shift: Sig<'m>,
    /// Biased exponent less 1, if the result is `normal`.
    below: Sig<'m>,
    normal: Sig<'m>,
    /// Infinite or NaN in any case.
    over: Sig<'m>,
}

impl<'m> Normalization<'m> {
    /// For `size` bits with this many leading `zeros`, whose top bit has the biased exponent `limit + 1`: shift by the
    /// zeros, but not below exponent 1.
    pub fn new(m: &'m ModuleBuilder, limit: Sig<'m>, zeros: Sig<'m>, size: u32, over: Sig<'m>) -> Self {
        let free = (limit - zeros.extend(limit.w())).called("limit_free");
        Normalization {
            shift: m.mux(free.msb(), limit.resize(zeros.w()), zeros),
            below: free.slice(0, free.w() - 1),
            normal: !free.msb() & !zeros.eq_lit(size),
            over,
        }
    }

    /// Holds the value for later steps.
    pub fn hold<'p>(self, p: &'p Pipe<'m>) -> impl Fn() -> Normalization<'m> + use<'p, 'm> {
        let (shift, below) = (p.hold("shift", self.shift), p.hold("below", self.below));
        let (normal, over) = (p.hold("normal", self.normal), p.hold("over", self.over));
        move || Normalization { shift: shift.now(), below: below.now(), normal: normal.now(), over: over.now() }
    }

    pub fn shift(&self) -> Sig<'m> {
        self.shift
    }

    /// The result before rounding, from the shifted sum. `lost`: bits below were cut off.
    pub fn apply(
        &self,
        m: &'m ModuleBuilder,
        shifted: Sig<'m>,
        lost: Sig<'m>,
        nan: Sig<'m>,
        f: Format,
    ) -> Normalized<'m> {
        let field = self.below.slice(0, f.exponent);
        let beyond = self.below.shr_const(f.exponent).reduce_or();
        let clear =
            (self.over | (self.normal & (beyond | field.slice(1, f.exponent - 1).reduce_and()))).called("clears");
        let field = (field & m.repeat(self.normal, f.exponent)) | m.repeat(clear, f.exponent);
        let x = (shifted & m.repeat(!clear, shifted.w())).called("kept");
        let rest = x.w() - f.fraction - 2;
        let quiet = x.bit(rest + f.fraction) | nan;
        Normalized {
            packed: m.concat(&[field, quiet, x.slice(rest + 1, f.fraction - 1)]),
            lead: self.normal & !clear,
            guard: x.bit(rest),
            sticky: if rest > 0 { lost | x.slice(0, rest).reduce_or() } else { lost },
        }
    }
}

/// Exponent and fraction before rounding; the exponent is to grow by `lead`.
pub struct Normalized<'m> {
    packed: Sig<'m>,
    lead: Sig<'m>,
    guard: Sig<'m>,
    sticky: Sig<'m>,
}

impl<'m> Normalized<'m> {
    /// Holds the value for later steps.
    pub fn hold<'p>(self, p: &'p Pipe<'m>) -> impl Fn() -> Normalized<'m> + use<'p, 'm> {
        let (packed, lead) = (p.hold("packed", self.packed), p.hold("lead_n", self.lead));
        let (guard, sticky) = (p.hold("guard", self.guard), p.hold("sticky", self.sticky));
        move || Normalized { packed: packed.now(), lead: lead.now(), guard: guard.now(), sticky: sticky.now() }
    }

    /// Rounds to nearest even. A carry out of the greatest exponent gives infinity.
    pub fn round(&self, m: &'m ModuleBuilder, sign: Sig<'m>, f: Format) -> Sig<'m> {
        let up = (self.guard & (self.sticky | self.packed.bit(0))).called("round_up");
        let value = m.concat(&[self.packed, m.lit(1, u(1))]);
        let increment = m.concat(&[self.lead, m.lit(0, u(f.fraction)), up]).extend(value.w());
        m.concat(&[sign, (value + increment).called("rounded").slice(1, self.packed.w())])
    }
}
