//! Reorders the tape by levels and gathers equal operations of one lane into batches, so that the
//! interpreter decides once for a batch what to do.
//!
//! An operation's level is one more than that of the last writer of anything it reads. Operations
//! of one level are gathered module by module, since those of a module tend to be idle together.

use super::activity::Range;
use super::tape::{Job, TapeOp, WideRef};
use crate::ir::{BinOp, UnOp};

/// What a batch does with each of its items.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ScalarKind {
    /// With signed operands or not.
    Bin(BinOp, bool),
    Un(UnOp),
    Mux,
    Insert,
    Repeat,
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
        TapeOp::Move(ref list) if list.len() == 1 && list[0].2 == 1 => {
            (ScalarKind::Insert, Item { dst: x(list[0].0), a: x(list[0].1), mask: !0, ..item })
        }
        TapeOp::Bin { op, dst, a, b, n: 1, mask, sign } => {
            (ScalarKind::Bin(op, sign.0 != 0), Item { dst: x(dst), a: x(a), b: x(b), mask, sa: sign.0, sb: sign.1, ..item })
        }
        TapeOp::Un { op, dst, a, n: 1, mask } => {
            (ScalarKind::Un(op), Item { dst: x(dst), a: x(a), mask, ..item })
        }
        TapeOp::Mux { dst, c, t, e, n: 1 } => (ScalarKind::Mux, Item { dst: x(dst), a: x(t), b: x(e), c: x(c), ..item }),
        TapeOp::Insert { dst, src, n: 1, right, mask, left, keep } => {
            (ScalarKind::Insert, Item { dst: x(dst), a: x(src), right, left, mask, sa: keep, ..item })
        }
        TapeOp::Repeat { dst, src, n: 1, right, mask, keep } => {
            (ScalarKind::Repeat, Item { dst: x(dst), a: x(src), right, mask, sa: keep, ..item })
        }
        TapeOp::Extend { dst, src, n: 1, right, w, mask } => {
            let (sb, sa) = (!0 >> (64 - w), 1 << (w - 1));
            (ScalarKind::Extend, Item { dst: x(dst), a: x(src), right, mask, sa, sb, ..item })
        }
        _ => return None,
    })
}

/// Order of operations within a level.
fn rank(op: &TapeOp) -> (bool, Option<ScalarKind>) {
    let kind = scalar(op).map(|s| s.0);
    (kind.is_none(), kind)
}

/// What an operation reads.
pub fn reads(op: &TapeOp) -> Vec<Range> {
    match *op {
        TapeOp::Move(ref list) => list.iter().map(|m| (m.1, m.2)).collect(),
        TapeOp::Fill { src, .. } => vec![(src, 1)],
        TapeOp::Insert { src, n, .. } | TapeOp::Repeat { src, n, .. } | TapeOp::Extend { src, n, .. } => vec![(src, n)],
        TapeOp::Bin { a, b, n, .. } => vec![(a, n), (b, n)],
        TapeOp::Un { a, n, .. } => vec![(a, n)],
        TapeOp::Mux { c, t, e, n, .. } => vec![(c, n), (t, n), (e, n)],
        TapeOp::Select { index, ref parts, n, .. } => parts.iter().chain([&index]).map(|&(at, _)| (at, n)).collect(),
        TapeOp::Any { src, n, .. } => vec![(src, n)],
        TapeOp::Read { addr, n, .. } => vec![(addr, n)],
        TapeOp::Wide { ref args, n, .. } => args.iter().flat_map(|a| planes(a, n)).collect(),
        TapeOp::Batch(kind, ref items) => items.iter().flat_map(|i| i.reads(kind)).map(|at| (at as usize, 1)).collect(),
    }
}

/// What an operation writes.
pub fn writes(op: &TapeOp) -> Vec<Range> {
    match *op {
        TapeOp::Move(ref list) => list.iter().map(|m| (m.0, m.2)).collect(),
        TapeOp::Fill { dst, n, .. }
        | TapeOp::Insert { dst, n, .. }
        | TapeOp::Repeat { dst, n, .. }
        | TapeOp::Extend { dst, n, .. }
        | TapeOp::Bin { dst, n, .. }
        | TapeOp::Un { dst, n, .. }
        | TapeOp::Mux { dst, n, .. }
        | TapeOp::Select { dst, n, .. } => vec![(dst, n)],
        TapeOp::Any { dst, .. } => vec![(dst, 1)],
        TapeOp::Read { ref dst, n, .. } | TapeOp::Wide { ref dst, n, .. } => planes(dst, n),
        TapeOp::Batch(_, ref items) => items.iter().map(|i| (i.dst as usize, 1)).collect(),
    }
}

/// The words of `n` lanes of a value.
pub fn planes(r: &WideRef, n: usize) -> Vec<Range> {
    (0..r.words).map(|k| (r.off + k * r.plane, n)).collect()
}

impl Item {
    fn reads(&self, kind: ScalarKind) -> Vec<u32> {
        match kind {
            ScalarKind::Bin(..) => vec![self.a, self.b],
            ScalarKind::Mux => vec![self.a, self.b, self.c],
            ScalarKind::Un(_) | ScalarKind::Insert | ScalarKind::Repeat | ScalarKind::Extend => vec![self.a],
        }
    }
}

/// The tape by levels with batches; `size` is the number of words of storage. With each job comes
/// the module it belongs to (any number that tells modules apart).
pub fn schedule(tape: Vec<(usize, Job)>, size: usize) -> Vec<Job> {
    let mut level = vec![0u32; size];
    let mut jobs: Vec<(u32, usize, Job)> = vec![];
    for (module, job) in tape {
        let words = reads(&job.op).into_iter().chain(job.guard.map(|g| (g, 1)));
        let at = 1 + words.flat_map(|(at, n)| &level[at..at + n]).copied().max().unwrap_or(0);
        for (first, n) in writes(&job.op) {
            // A word may be written in parts: what reads it waits for the last of them.
            level[first..first + n].iter_mut().for_each(|l| *l = at.max(*l));
        }
        jobs.push((at, module, job));
    }
    jobs.sort_by_key(|(level, module, job)| (*level, *module, rank(&job.op)));
    let mut out: Vec<Job> = vec![];
    let mut of = 0;
    for (_, module, job) in jobs {
        let same = std::mem::replace(&mut of, module) == module;
        match (out.last_mut().map(|j| &mut j.op), scalar(&job.op)) {
            (Some(TapeOp::Batch(k, items)), Some((kind, item))) if *k == kind && same => items.push(item),
            (_, Some((kind, item))) => out.push(Job { op: TapeOp::Batch(kind, vec![item]), guard: None }),
            (_, None) => out.push(job),
        }
    }
    out
}

/// Runs one batch.
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
