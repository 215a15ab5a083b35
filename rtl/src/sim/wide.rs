//! Operators on values of any width: little-endian limbs, zero above the width.

use crate::netlist::bits::{limbs_of, top_mask};
use crate::netlist::{BinOp, Ty, UnOp};
use std::cmp::Ordering;

/// Clears the bits above width `w`.
fn canonical(out: &mut [u64], w: u32) {
    if let Some(t) = out.last_mut() {
        *t &= top_mask(w);
    }
}

fn negative(x: &[u64], ty: Ty) -> bool {
    ty.signed && x[(ty.w as usize - 1) / 64] >> ((ty.w - 1) % 64) & 1 == 1
}

/// Limb `i` of `x`, extended infinitely by its type.
fn limb(x: &[u64], ty: Ty, neg: bool, i: usize) -> u64 {
    let n = limbs_of(ty.w);
    match i {
        _ if i >= n => {
            if neg {
                !0
            } else {
                0
            }
        }
        _ if i == n - 1 && neg => x[i] | !top_mask(ty.w),
        // A value that is extended in place holds the bits of its last extension there.
        _ if i == n - 1 => x[i] & top_mask(ty.w),
        _ => x[i],
    }
}

/// `out = x` extended by its type to `w` bits.
pub fn extend(out: &mut [u64], w: u32, x: &[u64], ty: Ty) {
    let neg = negative(x, ty);
    for (i, o) in out.iter_mut().enumerate() {
        *o = limb(x, ty, neg, i);
    }
    canonical(out, w);
}

fn compare(a: &[u64], b: &[u64], ty: Ty) -> Ordering {
    match (negative(a, ty), negative(b, ty)) {
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        _ => a.iter().rev().cmp(b.iter().rev()),
    }
}

fn add(out: &mut [u64], a: &[u64], b: &[u64], invert: bool) {
    let mut carry = invert;
    for (i, o) in out.iter_mut().enumerate() {
        let y = if invert { !b[i] } else { b[i] };
        let (s, c) = a[i].overflowing_add(y);
        let (s, d) = s.overflowing_add(u64::from(carry));
        (*o, carry) = (s, c || d);
    }
}

fn multiply(out: &mut [u64], a: &[u64], ta: Ty, b: &[u64], tb: Ty) {
    out.fill(0);
    let (na, nb) = (negative(a, ta), negative(b, tb));
    for i in 0..out.len() {
        let x = u128::from(limb(a, ta, na, i));
        let mut carry = 0u128;
        for j in 0..out.len() - i {
            let t = x * u128::from(limb(b, tb, nb, j)) + u128::from(out[i + j]) + carry;
            out[i + j] = t as u64;
            carry = t >> 64;
        }
    }
}

/// The shift amount, at most `w`.
fn amount(b: &[u64], w: u32) -> u32 {
    let big = b[1..].iter().any(|&l| l != 0) || b[0] > u64::from(w);
    if big {
        w
    } else {
        b[0] as u32
    }
}

fn shift(out: &mut [u64], a: &[u64], ty: Ty, by: u32, left: bool) {
    let (q, r) = (by as usize / 64, by % 64);
    let neg = negative(a, ty);
    for (i, o) in out.iter_mut().enumerate() {
        *o = if left {
            let at = |k: usize| i.checked_sub(q + k).map_or(0, |j| a[j]);
            if r == 0 {
                at(0)
            } else {
                at(0) << r | at(1) >> (64 - r)
            }
        } else {
            let at = |k: usize| limb(a, ty, neg, i + q + k);
            if r == 0 {
                at(0)
            } else {
                at(0) >> r | at(1) << (64 - r)
            }
        };
    }
}

/// `out = a op b`; `out` has the limbs of `w` bits.
pub fn binary(op: BinOp, out: &mut [u64], w: u32, (a, ta): (&[u64], Ty), (b, tb): (&[u64], Ty)) {
    match op {
        BinOp::Add => add(out, a, b, false),
        BinOp::Sub => add(out, a, b, true),
        BinOp::Mul => multiply(out, a, ta, b, tb),
        BinOp::And | BinOp::Or | BinOp::Xor => {
            for (i, o) in out.iter_mut().enumerate() {
                *o = match op {
                    BinOp::And => a[i] & b[i],
                    BinOp::Or => a[i] | b[i],
                    _ => a[i] ^ b[i],
                };
            }
        }
        BinOp::Eq => out[0] = u64::from(a == b),
        BinOp::Ne => out[0] = u64::from(a != b),
        BinOp::Lt => out[0] = u64::from(compare(a, b, ta) == Ordering::Less),
        BinOp::Le => out[0] = u64::from(compare(a, b, ta) != Ordering::Greater),
        BinOp::Shl => shift(out, a, ta, amount(b, ta.w), true),
        BinOp::Shr => shift(out, a, ta, amount(b, ta.w), false),
    }
    canonical(out, w);
}

/// `out = op a`; `out` has the limbs of `w` bits.
pub fn unary(op: UnOp, out: &mut [u64], w: u32, a: &[u64], ta: Ty) {
    match op {
        UnOp::Not => out.iter_mut().zip(a).for_each(|(o, x)| *o = !x),
        UnOp::Neg => {
            let mut carry = true;
            for (o, x) in out.iter_mut().zip(a) {
                (*o, carry) = (!x).overflowing_add(u64::from(carry));
            }
        }
        UnOp::RedOr => out[0] = u64::from(a.iter().any(|&x| x != 0)),
        UnOp::RedAnd => {
            let n = a.len() - 1;
            out[0] = u64::from(a[n] == top_mask(ta.w) && a[..n].iter().all(|&x| x == !0));
        }
        UnOp::RedXor => out[0] = a.iter().map(|x| u64::from(x.count_ones())).sum::<u64>() & 1,
    }
    canonical(out, w);
}
