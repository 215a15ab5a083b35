//! Operations over many PEs at once.
//!
//! Integer operations that are one machine instruction are done in place, in loops that the compiler vectorizes;
//! everything else calls `scop::value`.

use crate::interp::order::Lanes;
use crate::vsa::Op;
use scop::value;
use scop::value::mask;
use scop::{BinaryOp, ScalarType};

pub(super) fn map0(values: &mut [u64], lanes: &Lanes, out: usize, f: impl Fn(usize) -> u64) {
    match lanes {
        Lanes::All(n) => values[out..out + n].iter_mut().enumerate().for_each(|(p, v)| *v = f(p)),
        Lanes::Some(list) => list.iter().for_each(|&p| values[out + p as usize] = f(p as usize)),
    }
}

/// Clears where `f` is false.
pub(super) fn and0(values: &mut [u64], lanes: &Lanes, out: usize, f: impl Fn(usize) -> bool) {
    match lanes {
        Lanes::All(n) => values[out..out + n].iter_mut().enumerate().for_each(|(p, v)| *v &= f(p) as u64),
        Lanes::Some(list) => list.iter().for_each(|&p| values[out + p as usize] &= f(p as usize) as u64),
    }
}

/// Copies from `base`, over the table `from` unless it is empty.
pub(super) fn past(values: &mut [u64], lanes: &Lanes, out: usize, base: usize, from: &[u32], none: u64) {
    let each = |values: &mut [u64], p: usize| {
        values[out + p] = match from.get(p) {
            None => values[base + p],
            Some(&u32::MAX) => none,
            Some(&q) => values[base + q as usize],
        }
    };
    match lanes {
        Lanes::All(n) if from.is_empty() => values.copy_within(base..base + n, out),
        Lanes::All(n) => (0..*n).for_each(|p| each(values, p)),
        Lanes::Some(list) => list.iter().for_each(|&p| each(values, p as usize)),
    }
}

/// `f` of the operands that begin at `from`.
fn map<const N: usize>(values: &mut [u64], lanes: &Lanes, out: usize, from: [usize; N], f: impl Fn([u64; N]) -> u64) {
    match lanes {
        Lanes::All(n) => {
            for p in 0..*n {
                values[out + p] = f(from.map(|base| values[base + p]));
            }
        }
        Lanes::Some(list) => {
            for &p in list {
                values[out + p as usize] = f(from.map(|base| values[base + p as usize]));
            }
        }
    }
}

/// Operations without forms or neighbours. `from`: where the operands' values begin; `types`: of the first two.
pub(super) fn plain(
    values: &mut [u64],
    lanes: &Lanes,
    out: usize,
    from: [usize; 3],
    op: &Op,
    ty: ScalarType,
    types: [ScalarType; 2],
) {
    let [a, b, c] = from;
    match *op {
        Op::Const(bits) => map0(values, lanes, out, |_| bits),
        Op::Unary(op, _) => map(values, lanes, out, [a], |[x]| value::eval_unary(op, x, ty)),
        Op::Binary(op, ..) => binary(values, lanes, out, [a, b], op, types),
        Op::Select(..) => map(values, lanes, out, [a, b, c], |[x, y, z]| if x & 1 == 1 { y } else { z }),
        Op::Cast(_) => cast(values, lanes, out, a, types[0], ty),
        Op::Lookup(ref table, _) => map(values, lanes, out, [a], |[x]| value::eval_lookup(table, x)),
        Op::Spread(_, spread) => map(values, lanes, out, [a], |[x]| value::eval_spread(x, types[0], spread, ty)),
        Op::Field(_, field) => map(values, lanes, out, [a], |[x]| value::eval_field(x, field, ty)),
        Op::Fma(..) => map(values, lanes, out, [a, b, c], |[x, y, z]| value::eval_fma(x, y, z, ty)),
        // Compiled separately.
        Op::Scalar(_) | Op::Iter(_) | Op::Guard(_) | Op::Input { .. } | Op::Past { .. } => {}
        Op::Dot { .. } | Op::Join { .. } => {}
    }
}

/// Operations with any number of operands; `from` holds where each one begins, and its type.
pub(super) fn several(
    values: &mut [u64],
    lanes: &Lanes,
    out: usize,
    from: &[(usize, ScalarType)],
    op: &Op,
    ty: ScalarType,
) {
    let mut each = |p: usize| {
        let of = |k: usize| from.get(k).map_or(0, |operand| values[operand.0 + p]);
        values[out + p] = match op {
            Op::Join { step, .. } => {
                let integers: Vec<(u64, ScalarType)> = (0..from.len()).map(|k| (of(k), from[k].1)).collect();
                value::eval_join(&integers, *step, ty)
            }
            // The factors in pairs, then the addend.
            _ => {
                let pairs: Vec<[u64; 2]> = (0..from.len() / 2).map(|k| [of(2 * k), of(2 * k + 1)]).collect();
                value::eval_dot(&pairs, of(from.len().saturating_sub(1)), ty)
            }
        };
    };
    match lanes {
        Lanes::All(n) => (0..*n).for_each(each),
        Lanes::Some(list) => list.iter().for_each(|&p| each(p as usize)),
    }
}

fn binary(values: &mut [u64], lanes: &Lanes, out: usize, from: [usize; 2], op: BinaryOp, types: [ScalarType; 2]) {
    let (ty, m) = (types[0], mask(types[0].bits()));
    let unused = 64 - ty.bits();
    let number = move |x: u64| (x << unused) as i64 >> unused;
    match op {
        BinaryOp::Add if !ty.is_float() => map(values, lanes, out, from, |[x, y]| x.wrapping_add(y) & m),
        BinaryOp::Sub if !ty.is_float() => map(values, lanes, out, from, |[x, y]| x.wrapping_sub(y) & m),
        BinaryOp::Mul if !ty.is_float() => map(values, lanes, out, from, |[x, y]| x.wrapping_mul(y) & m),
        BinaryOp::Eq if !ty.is_float() => map(values, lanes, out, from, |[x, y]| (x == y) as u64),
        BinaryOp::Ne if !ty.is_float() => map(values, lanes, out, from, |[x, y]| (x != y) as u64),
        BinaryOp::Lt if ty.signed() => map(values, lanes, out, from, |[x, y]| (number(x) < number(y)) as u64),
        BinaryOp::And => map(values, lanes, out, from, |[x, y]| x & y),
        BinaryOp::Or => map(values, lanes, out, from, |[x, y]| x | y),
        BinaryOp::Xor => map(values, lanes, out, from, |[x, y]| x ^ y),
        _ => map(values, lanes, out, from, |[x, y]| value::eval_binary(op, x, y, ty, types[1])),
    }
}

fn cast(values: &mut [u64], lanes: &Lanes, out: usize, from: usize, source: ScalarType, ty: ScalarType) {
    let unused = 64 - source.bits();
    let m = mask(ty.bits());
    match (source.is_float(), ty) {
        (false, ScalarType::Int { bits, .. }) if bits > 1 && source.signed() => {
            map(values, lanes, out, [from], |[x]| ((x << unused) as i64 >> unused) as u64 & m);
        }
        (false, ScalarType::Int { bits, .. }) if bits > 1 => map(values, lanes, out, [from], |[x]| x & m),
        _ => map(values, lanes, out, [from], |[x]| value::cast(x, source, ty)),
    }
}
