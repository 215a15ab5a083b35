//! Sorts the tape by levels and gathers equal operations of one lane into batches, so the interpreter dispatches once
//! for a batch.
//!
//! An operation's level is one more than that of the last writer of its operands. Within a level, operations are sorted
//! by module, because the operations of one module tend to be idle together.

use super::ops::{reads, writes, Item, Job, ScalarKind, TapeOp};

/// Kind and item of an operation on one lane, if it can be batched.
fn scalar(op: &TapeOp) -> Option<(ScalarKind, Item)> {
    let x = |i: usize| i as u32;
    let item = Item::default();
    Some(match *op {
        TapeOp::Move(ref list) if list.len() == 1 && list[0].2 == 1 => {
            (ScalarKind::Insert, Item { dst: x(list[0].0), a: x(list[0].1), mask: !0, ..item })
        }
        TapeOp::Bin { op, dst, a, b, n: 1, mask, sign } => (
            ScalarKind::Bin(op, sign.0 != 0),
            Item { dst: x(dst), a: x(a), b: x(b), mask, sa: sign.0, sb: sign.1, ..item },
        ),
        TapeOp::Un { op, dst, a, n: 1, mask } => (ScalarKind::Un(op), Item { dst: x(dst), a: x(a), mask, ..item }),
        TapeOp::Mux { dst, c, t, e, n: 1 } => {
            (ScalarKind::Mux, Item { dst: x(dst), a: x(t), b: x(e), c: x(c), ..item })
        }
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

/// The tape sorted by levels, with batches. Each job comes with a number that identifies its module. The storage has
/// `size` words.
pub fn schedule(tape: Vec<(usize, Job)>, size: usize) -> Vec<Job> {
    let mut level = vec![0u32; size];
    let mut jobs: Vec<(u32, usize, Job)> = vec![];
    for (module, job) in tape {
        let words = reads(&job.op).into_iter().chain(job.guard.map(|g| (g, 1)));
        let at = 1 + words.flat_map(|(at, n)| &level[at..at + n]).copied().max().unwrap_or(0);
        for (first, n) in writes(&job.op) {
            // Several operations may write parts of a word; a reader follows the last one.
            level[first..first + n].iter_mut().for_each(|l| *l = at.max(*l));
        }
        jobs.push((at, module, job));
    }
    jobs.sort_by_key(|(level, module, job)| (*level, *module, rank(&job.op)));
    let mut out: Vec<Job> = vec![];
    let mut last_module = 0;
    for (_, module, job) in jobs {
        let same = std::mem::replace(&mut last_module, module) == module;
        match (out.last_mut().map(|j| &mut j.op), scalar(&job.op)) {
            (Some(TapeOp::Batch(k, items)), Some((kind, item))) if *k == kind && same => items.push(item),
            (_, Some((kind, item))) => out.push(Job { op: TapeOp::Batch(kind, vec![item]), guard: None }),
            (_, None) => out.push(job),
        }
    }
    out
}
