//! Batches: one dispatch for many equal operations of one lane each.

use super::ops::{Item, ScalarKind};
use crate::netlist::{BinOp, UnOp};

/// Runs one batch; returns the bits that changed.
#[inline(always)]
pub fn run_batch(kind: ScalarKind, items: &[Item], v: &mut [u64]) -> u64 {
    let mut diff = 0;
    macro_rules! each {
        (|$i:ident, $x:ident, $y:ident| $e:expr) => {
            for $i in items {
                let ($x, $y) = (v[$i.a as usize], v[$i.b as usize]);
                let new = $e;
                let old = &mut v[$i.dst as usize];
                diff |= *old ^ new;
                *old = new;
            }
        };
        (|$i:ident, $x:ident| $e:expr) => {
            for $i in items {
                let $x = v[$i.a as usize];
                let new = $e;
                let old = &mut v[$i.dst as usize];
                diff |= *old ^ new;
                *old = new;
            }
        };
    }
    let sx = |x: u64, s: u64| (x ^ s).wrapping_sub(s);
    match kind {
        ScalarKind::Bin(op, signed) => match (op, signed) {
            (BinOp::Add, _) => each!(|i, x, y| x.wrapping_add(y) & i.mask),
            (BinOp::Sub, _) => each!(|i, x, y| x.wrapping_sub(y) & i.mask),
            (BinOp::Mul, _) => each!(|i, x, y| sx(x, i.sa).wrapping_mul(sx(y, i.sb)) & i.mask),
            (BinOp::And, _) => each!(|i, x, y| x & y),
            (BinOp::Or, _) => each!(|i, x, y| x | y),
            (BinOp::Xor, _) => each!(|i, x, y| x ^ y),
            (BinOp::Eq, _) => each!(|i, x, y| u64::from(x == y)),
            (BinOp::Ne, _) => each!(|i, x, y| u64::from(x != y)),
            (BinOp::Lt, false) => each!(|i, x, y| u64::from(x < y)),
            (BinOp::Lt, true) => each!(|i, x, y| u64::from((sx(x, i.sa) as i64) < sx(y, i.sb) as i64)),
            (BinOp::Le, false) => each!(|i, x, y| u64::from(x <= y)),
            (BinOp::Le, true) => each!(|i, x, y| u64::from((sx(x, i.sa) as i64) <= sx(y, i.sb) as i64)),
            (BinOp::Shl, _) => each!(|i, x, y| if y > 63 { 0 } else { x << y & i.mask }),
            (BinOp::Shr, false) => each!(|i, x, y| if y > 63 { 0 } else { x >> y }),
            (BinOp::Shr, true) => each!(|i, x, y| (sx(x, i.sa) as i64 >> y.min(63)) as u64 & i.mask),
        },
        ScalarKind::Un(op) => match op {
            UnOp::Not => each!(|i, x| !x & i.mask),
            UnOp::Neg => each!(|i, x| x.wrapping_neg() & i.mask),
            UnOp::RedOr => each!(|i, x| u64::from(x != 0)),
            UnOp::RedAnd => each!(|i, x| u64::from(x == i.mask)),
            UnOp::RedXor => each!(|i, x| u64::from(x.count_ones()) & 1),
        },
        ScalarKind::Mux => each!(|i, x, y| if v[i.c as usize] != 0 { x } else { y }),
        ScalarKind::Insert => each!(|i, x| v[i.dst as usize] & i.sa | (x >> i.right & i.mask) << i.left),
        ScalarKind::Repeat => each!(|i, x| v[i.dst as usize] & i.sa | (x >> i.right & 1).wrapping_neg() & i.mask),
        ScalarKind::Extend => each!(|i, x| sx(x >> i.right & i.sb, i.sa) & i.mask),
    }
    diff
}
