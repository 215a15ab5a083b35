//! Operators on integers: C's semantics, modulo the width.

use super::request::{wires, Request};
use array::contract::operand::digits;
use rtl::{u, ModuleBuilder, Sig};
use scop::{BinaryOp, ScalarType, UnaryOp};

pub(super) fn unary<'m>(m: &'m ModuleBuilder, op: UnaryOp, a: Sig<'m>) -> Sig<'m> {
    match op {
        UnaryOp::Not => !a,
        UnaryOp::Neg => a.neg(),
        UnaryOp::Abs if a.ty().signed => m.mux(a.msb(), a.neg(), a),
        UnaryOp::Abs | UnaryOp::Sqrt => a,
    }
}

pub(super) fn binary<'m>(m: &'m ModuleBuilder, op: BinaryOp, a: Sig<'m>, b: Sig<'m>) -> Sig<'m> {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl | BinaryOp::Shr => shift(m, op == BinaryOp::Shl, a, b),
        BinaryOp::Eq => a.eq(b),
        BinaryOp::Ne => a.ne(b),
        BinaryOp::Lt => a.lt(b),
        BinaryOp::Le => a.le(b),
        BinaryOp::Min => m.mux(a.lt(b), a, b),
        BinaryOp::Max => m.mux(a.gt(b), a, b),
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => a,
    }
}

/// The amount is unsigned; from the width on the result is 0, or the sign for a signed right shift.
fn shift<'m>(m: &'m ModuleBuilder, left: bool, a: Sig<'m>, amount: Sig<'m>) -> Sig<'m> {
    let amount = amount.unsigned();
    let used = (32 - (a.w() - 1).leading_zeros()).max(1);
    let low = if amount.w() > used { amount.slice(0, used) } else { amount };
    let shifted = if left { a.shl_dyn(low) } else { a.shr_dyn(low) };
    if amount.w() <= used {
        return shifted;
    }
    let beyond = amount.slice(used, amount.w() - used).reduce_or();
    let filled =
        if !left && a.ty().signed { m.mux(a.msb(), m.lit(-1, a.ty()), m.lit(0, a.ty())) } else { m.lit(0, a.ty()) };
    m.mux(beyond, filled, shifted)
}

/// C's conversion between integer types; to the 1-bit type it is "not equal to zero".
pub(super) fn cast(a: Sig<'_>, to: ScalarType) -> Sig<'_> {
    if to == ScalarType::BOOL {
        a.reduce_or()
    } else {
        a.to(wires(to))
    }
}

/// Product modulo the result's width: operand registers (from latency 2 on), then product registers, as a DSP has them.
///
/// A constant with few digits is multiplied by shifts and additions instead ([`digits`]).
pub(super) fn multiply<'m>(
    m: &'m ModuleBuilder,
    a: Sig<'m>,
    b: Sig<'m>,
    r: &Request<'_, 'm>,
    before_last: u32,
) -> Sig<'m> {
    let factor = |k: usize| r.constant.get(k).copied().flatten().and_then(|c| digits(c, r.ty.bits()));
    match (factor(0), factor(1)) {
        (Some(digits), _) => return shifted(m, b, &digits, r, before_last),
        (_, Some(digits)) => return shifted(m, a, &digits, r, before_last),
        _ => {}
    }
    let operand_stage = u32::from(before_last > 0);
    let constant = |k: usize| r.constant.get(k).copied().flatten();
    let stage = |x: Sig<'m>, k: usize, suffix: &str| {
        if constant(k).is_some() {
            x
        } else {
            m.delay(x, operand_stage, format!("{}_{suffix}", r.name))
        }
    };
    let (a, b) = (stage(a, 0, "a"), stage(b, 1, "b"));
    let signed = a.ty().signed || b.ty().signed;
    let number = |x: Sig<'m>| if signed && !x.ty().signed { x.extend(x.w() + 1).signed() } else { x };
    let (a, b) = (number(a), number(b));
    let w = a.w().max(b.w());
    let product = (a.extend(w) * b.extend(w)).called(format!("{}_whole", r.name)).to(wires(r.ty));
    m.delay(product, before_last - operand_stage, format!("{}_m", r.name))
}

/// `a` times a constant, a register after each addition as long as there are any.
fn shifted<'m>(
    m: &'m ModuleBuilder,
    a: Sig<'m>,
    digits: &[(u32, bool)],
    r: &Request<'_, 'm>,
    before_last: u32,
) -> Sig<'m> {
    let ty = wires(r.ty);
    let (mut a, mut left) = (a.to(ty), before_last);
    let mut sum: Option<Sig<'m>> = None;
    for (k, &(shift, negative)) in digits.iter().enumerate() {
        let term = a.shl_const(shift);
        sum = Some(match (sum, negative) {
            (None, false) => term,
            (None, true) => term.neg(),
            (Some(sum), false) => sum + term,
            (Some(sum), true) => sum - term,
        });
        if k > 0 && k + 1 < digits.len() && left > 0 {
            sum = sum.map(|s| m.delay(s, 1, format!("{}_s{k}", r.name)));
            a = m.delay(a, 1, format!("{}_a{k}", r.name));
            left -= 1;
        }
    }
    m.delay(sum.unwrap_or(m.lit(0, ty)), left, format!("{}_m", r.name))
}

pub(super) fn multiply_add<'m>(
    m: &'m ModuleBuilder,
    x: [Sig<'m>; 3],
    r: &Request<'_, 'm>,
    before_last: u32,
) -> Sig<'m> {
    let product = multiply(m, x[0], x[1], r, before_last.saturating_sub(1));
    let product = m.delay(product, u32::from(before_last > 0), format!("{}_p", r.name));
    product + m.delay(x[2].to(wires(r.ty)), before_last, format!("{}_c", r.name))
}

/// The number of registers at stage boundary `k`, if `count` registers are spread evenly over `places` boundaries.
fn registers_at(k: u32, count: u32, places: u32) -> u32 {
    (k + 1) * count / places - k * count / places
}

/// Restoring division, one quotient bit a stage, on magnitudes; truncates toward zero.
/// The recurrence gives all ones for `x / 0` and `x` for `x % 0`, provided that the sign is not changed.
pub(super) fn divide<'m>(m: &'m ModuleBuilder, x: [Sig<'m>; 2], quotient: bool, registers: u32, name: &str) -> Sig<'m> {
    let ty = x[0].ty();
    let w = ty.w;
    let none = m.lit(0, u(1));
    let sign = |v: Sig<'m>| if ty.signed { v.msb() } else { none };
    let magnitude = |v: Sig<'m>| if ty.signed { m.mux(v.msb(), v.neg(), v).unsigned() } else { v };
    let negative = if quotient { (sign(x[0]) ^ sign(x[1])) & x[1].reduce_or() } else { sign(x[0]) };
    let stage =
        |k: u32, v: Sig<'m>, what: &str| m.delay(v, registers_at(k, registers, w + 1), format!("{name}_{what}{k}"));
    let mut divisor = stage(0, magnitude(x[1]), "d");
    let mut low = stage(0, magnitude(x[0]), "n");
    let mut rest = m.lit(0, u(w));
    let mut negative = stage(0, negative, "s");
    for k in 1..=w {
        // One more dividend bit enters `rest` at the bottom, one quotient bit enters `low`.
        let wide = m.concat(&[rest, low.msb()]).called(format!("{name}_rest{k}"));
        let fits = divisor.extend(w + 1).le(wide).called(format!("{name}_fits{k}"));
        let next =
            m.mux(fits, (wide - divisor.extend(w + 1)).called(format!("{name}_less{k}")).truncate(w), wide.truncate(w));
        let shifted = if w > 1 { m.concat(&[low.slice(0, w - 1), fits]) } else { fits };
        if k < w {
            divisor = stage(k, divisor, "d");
        }
        (rest, low, negative) = if quotient {
            (if k < w { stage(k, next, "r") } else { next }, stage(k, shifted, "n"), stage(k, negative, "s"))
        } else {
            (stage(k, next, "r"), if k < w { stage(k, shifted, "n") } else { shifted }, stage(k, negative, "s"))
        };
    }
    let result = if quotient { low } else { rest };
    if ty.signed {
        m.mux(negative, result.neg(), result)
    } else {
        result
    }
}

/// Integer square root, one bit of the result per stage. The root of a negative value is 0.
pub(super) fn square_root<'m>(m: &'m ModuleBuilder, a: Sig<'m>, registers: u32, name: &str) -> Sig<'m> {
    let steps = a.w().div_ceil(2);
    let clamped = if a.ty().signed { m.mux(a.msb(), m.lit(0, u(a.w())), a.unsigned()) } else { a };
    let stage =
        |k: u32, v: Sig<'m>, what: &str| m.delay(v, registers_at(k, registers, steps + 1), format!("{name}_{what}{k}"));
    let mut low = stage(0, clamped.extend(2 * steps), "n");
    let (mut rest, mut root) = (m.lit(0, u(steps + 2)), m.lit(0, u(steps)));
    for k in 1..=steps {
        let wide = m.concat(&[rest.slice(0, steps), low.slice(2 * steps - 2, 2)]).called(format!("{name}_rest{k}"));
        let trial = m.concat(&[root, m.lit(1, u(2))]).called(format!("{name}_trial{k}"));
        let fits = trial.le(wide).called(format!("{name}_fits{k}"));
        let next = m.mux(fits, wide - trial, wide);
        let bits = if steps > 1 { m.concat(&[root.slice(0, steps - 1), fits]) } else { fits };
        root = stage(k, bits, "q");
        if k < steps {
            (rest, low) = (stage(k, next, "r"), stage(k, low.shl_const(2), "n"));
        }
    }
    root
}
