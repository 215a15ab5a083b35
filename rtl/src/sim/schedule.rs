//! Reorders the tape by levels and gathers equal operations of one lane into batches, so that the
//! interpreter decides once for a batch what to do.
//!
//! An operation's level is one more than that of the last writer of anything it reads. Operations
//! that add to their destination read it as well, so they stay behind its first writer.

use super::tape::{TapeOp, WideRef};
use crate::ir::{BinOp, UnOp};

/// What a batch does with each of its items.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ScalarKind {
    /// With signed operands or not.
    Bin(BinOp, bool),
    Un(UnOp),
    Mux,
    Put,
    Or,
    Extend,
}

/// Operands (word indices) and parameters of an operation on one lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item {
    pub dst: u32,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub right: u32,
    pub left: u32,
    pub mask: u64,
    pub sa: u64,
    pub sb: u64,
}

/// Kind and item of an operation on one lane, if it can be batched.
fn scalar(op: &TapeOp) -> Option<(ScalarKind, Item)> {
    let x = |i: usize| i as u32;
    let item = Item::default();
    Some(match *op {
        TapeOp::Bin { op, dst, a, b, n: 1, mask, sign } => {
            (ScalarKind::Bin(op, sign.0 != 0), Item { dst: x(dst), a: x(a), b: x(b), mask, sa: sign.0, sb: sign.1, ..item })
        }
        TapeOp::Un { op, dst, a, n: 1, mask } => {
            (ScalarKind::Un(op), Item { dst: x(dst), a: x(a), mask, ..item })
        }
        TapeOp::Mux { dst, c, t, e, n: 1 } => (ScalarKind::Mux, Item { dst: x(dst), a: x(t), b: x(e), c: x(c), ..item }),
        TapeOp::Insert { dst, src, n: 1, right, mask, left, or } => {
            (if or { ScalarKind::Or } else { ScalarKind::Put }, Item { dst: x(dst), a: x(src), right, left, mask, ..item })
        }
        TapeOp::Extend { dst, src, n: 1, right, w, mask } => {
            let (sb, sa) = (!0 >> (64 - w), 1 << (w - 1));
            (ScalarKind::Extend, Item { dst: x(dst), a: x(src), right, mask, sa, sb, ..item })
        }
        _ => return None,
    })
}

/// Order of operations within a level.
fn rank(op: &TapeOp) -> (u8, Option<ScalarKind>) {
    match op {
        TapeOp::Move(_) => (0, None),
        _ => match scalar(op) {
            Some((k, _)) => (1, Some(k)),
            None => (2, None),
        },
    }
}

/// Word ranges: first, length.
type Ranges = Vec<(usize, usize)>;

/// What an operation reads and writes.
fn accesses(op: &TapeOp) -> (Ranges, Ranges) {
    let planes = |r: &WideRef, n: usize| (0..r.words).map(|k| (r.off + k * r.plane, n)).collect::<Vec<_>>();
    match *op {
        TapeOp::Move(ref list) => (list.iter().map(|m| (m.1, m.2)).collect(), list.iter().map(|m| (m.0, m.2)).collect()),
        TapeOp::Fill { dst, src, n } => (vec![(src, 1)], vec![(dst, n)]),
        TapeOp::Insert { dst, src, n, or, .. } => {
            (if or { vec![(src, n), (dst, n)] } else { vec![(src, n)] }, vec![(dst, n)])
        }
        TapeOp::Extend { dst, src, n, .. } => (vec![(src, n)], vec![(dst, n)]),
        TapeOp::Bin { dst, a, b, n, .. } => (vec![(a, n), (b, n)], vec![(dst, n)]),
        TapeOp::Un { dst, a, n, .. } => (vec![(a, n)], vec![(dst, n)]),
        TapeOp::Mux { dst, c, t, e, n } => (vec![(c, n), (t, n), (e, n)], vec![(dst, n)]),
        TapeOp::Read { ref dst, addr, n, .. } => (vec![(addr, n)], planes(dst, n)),
        TapeOp::Wide { ref dst, ref args, n, .. } => {
            (args.iter().flat_map(|a| planes(a, n)).collect(), planes(dst, n))
        }
        TapeOp::Batch(..) => (vec![], vec![]),
    }
}

/// The tape by levels with batches; `size` is the number of words of storage.
pub fn schedule(tape: Vec<TapeOp>, size: usize) -> Vec<TapeOp> {
    let mut level = vec![0u32; size];
    let mut ops: Vec<(u32, TapeOp)> = vec![];
    let single = tape.into_iter().flat_map(|op| match op {
        TapeOp::Move(list) => list.into_iter().map(|m| TapeOp::Move(vec![m])).collect(),
        op => vec![op],
    });
    for op in single {
        let (reads, writes) = accesses(&op);
        let words = reads.iter().flat_map(|&(at, n)| &level[at..at + n]);
        let at = 1 + words.copied().max().unwrap_or(0);
        for (first, n) in writes {
            // A word may be written in parts: what reads it waits for the last of them.
            level[first..first + n].iter_mut().for_each(|l| *l = at.max(*l));
        }
        ops.push((at, op));
    }
    ops.sort_by_key(|(l, op)| (*l, rank(op)));
    let mut out: Vec<TapeOp> = vec![];
    for (_, op) in ops {
        match (out.last_mut(), scalar(&op), op) {
            (Some(TapeOp::Move(list)), _, TapeOp::Move(more)) => join(list, &more),
            (Some(TapeOp::Batch(k, items)), Some((kind, item)), _) if *k == kind => items.push(item),
            (_, Some((kind, item)), _) => out.push(TapeOp::Batch(kind, vec![item])),
            (_, None, op) => out.push(op),
        }
    }
    out
}

fn join(list: &mut Vec<(usize, usize, usize)>, more: &[(usize, usize, usize)]) {
    for &m in more {
        match list.last_mut() {
            Some(l) if l.0 + l.2 == m.0 && l.1 + l.2 == m.1 => l.2 += m.2,
            _ => list.push(m),
        }
    }
}

/// Runs one batch.
#[inline(always)]
pub fn run_batch(kind: ScalarKind, items: &[Item], v: &mut [u64]) {
    macro_rules! each {
        (|$i:ident, $x:ident, $y:ident| $e:expr) => {
            for $i in items {
                let ($x, $y) = (v[$i.a as usize], v[$i.b as usize]);
                v[$i.dst as usize] = $e;
            }
        };
        (|$i:ident, $x:ident| $e:expr) => {
            for $i in items {
                let $x = v[$i.a as usize];
                v[$i.dst as usize] = $e;
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
        ScalarKind::Put => each!(|i, x| (x >> i.right & i.mask) << i.left),
        ScalarKind::Or => each!(|i, x| v[i.dst as usize] | (x >> i.right & i.mask) << i.left),
        ScalarKind::Extend => each!(|i, x| sx(x >> i.right & i.sb, i.sa) & i.mask),
    }
}
