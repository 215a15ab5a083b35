//! The interpreter of the tape.
//!
//! **Method.** `settle` runs the pending jobs in order. A job runs one operation over all lanes in a loop that the
//! compiler vectorizes. Each operation returns the bits that it changed in any lane; if they are not zero, `Activity`
//! makes its readers pending. A job whose guard is zero is skipped and stays pending until its guard is set.
//!
//! **Invariant.** Jobs are sorted: no job writes an operand of an earlier one. So one pass over the tape settles all
//! values.
//!
//! ```text
//! pending {3, 7, 9}        job 3 runs, changes its result:   its reader 8 becomes pending
//! pending {7, 8, 9}        job 7 has a guard of zero:        it stays pending
//! pending {7, 8, 9}        jobs 8 and 9 run
//! ```

use super::activity::Activity;
use super::batch::run_batch;
use super::cpu::vectorized;
use super::mems::MemData;
use super::ops::{Job, TapeOp, WideKind, WideRef};
use super::wide;
use crate::netlist::{BinOp, UnOp};

/// Writes a word; returns the bits that changed.
#[inline(always)]
fn put(o: &mut u64, new: u64) -> u64 {
    let diff = *o ^ new;
    *o = new;
    diff
}

#[inline(always)]
fn each1(v: &mut [u64], dst: usize, a: usize, n: usize, f: impl Fn(u64) -> u64) -> u64 {
    let (lo, hi) = v.split_at_mut(dst);
    hi[..n].iter_mut().zip(&lo[a..a + n]).fold(0, |diff, (o, &x)| diff | put(o, f(x)))
}

#[inline(always)]
fn each2(v: &mut [u64], dst: usize, a: usize, b: usize, n: usize, f: impl Fn(u64, u64) -> u64) -> u64 {
    let (lo, hi) = v.split_at_mut(dst);
    let operands = lo[a..a + n].iter().zip(&lo[b..b + n]);
    hi[..n].iter_mut().zip(operands).fold(0, |diff, (o, (&x, &y))| diff | put(o, f(x, y)))
}

/// Updates the destination with `f(old destination word, source word)`.
#[inline(always)]
fn update(v: &mut [u64], dst: usize, a: usize, n: usize, f: impl Fn(u64, u64) -> u64) -> u64 {
    let (lo, hi) = v.split_at_mut(dst);
    hi[..n].iter_mut().zip(&lo[a..a + n]).fold(0, |diff, (o, &x)| {
        let new = f(*o, x);
        diff | put(o, new)
    })
}

/// Sign extension of a value with sign bit `s`; 0: unsigned.
#[inline(always)]
fn sx(x: u64, s: u64) -> u64 {
    (x ^ s).wrapping_sub(s)
}

#[inline(always)]
fn binary(
    v: &mut [u64],
    op: BinOp,
    (dst, a, b, n): (usize, usize, usize, usize),
    mask: u64,
    (sa, sb): (u64, u64),
) -> u64 {
    match op {
        BinOp::Add => each2(v, dst, a, b, n, |x, y| x.wrapping_add(y) & mask),
        BinOp::Sub => each2(v, dst, a, b, n, |x, y| x.wrapping_sub(y) & mask),
        BinOp::And => each2(v, dst, a, b, n, |x, y| x & y),
        BinOp::Or => each2(v, dst, a, b, n, |x, y| x | y),
        BinOp::Xor => each2(v, dst, a, b, n, |x, y| x ^ y),
        BinOp::Eq => each2(v, dst, a, b, n, |x, y| u64::from(x == y)),
        BinOp::Ne => each2(v, dst, a, b, n, |x, y| u64::from(x != y)),
        BinOp::Mul if (sa | sb) >> 32 == 0 && sa != 0 => {
            each2(v, dst, a, b, n, |x, y| (i64::from(sx(x, sa) as i32) * i64::from(sx(y, sb) as i32)) as u64 & mask)
        }
        BinOp::Mul => each2(v, dst, a, b, n, |x, y| sx(x, sa).wrapping_mul(sx(y, sb)) & mask),
        BinOp::Lt if sa == 0 => each2(v, dst, a, b, n, |x, y| u64::from(x < y)),
        BinOp::Lt => each2(v, dst, a, b, n, |x, y| u64::from((sx(x, sa) as i64) < sx(y, sb) as i64)),
        BinOp::Le if sa == 0 => each2(v, dst, a, b, n, |x, y| u64::from(x <= y)),
        BinOp::Le => each2(v, dst, a, b, n, |x, y| u64::from((sx(x, sa) as i64) <= sx(y, sb) as i64)),
        BinOp::Shl => each2(v, dst, a, b, n, |x, y| if y > 63 { 0 } else { x << y & mask }),
        BinOp::Shr if sa == 0 => each2(v, dst, a, b, n, |x, y| if y > 63 { 0 } else { x >> y }),
        BinOp::Shr => each2(v, dst, a, b, n, |x, y| (sx(x, sa) as i64 >> y.min(63)) as u64 & mask),
    }
}

#[inline(always)]
fn unary(v: &mut [u64], op: UnOp, (dst, a, n): (usize, usize, usize), mask: u64) -> u64 {
    match op {
        UnOp::Not => each1(v, dst, a, n, |x| !x & mask),
        UnOp::Neg => each1(v, dst, a, n, |x| x.wrapping_neg() & mask),
        UnOp::RedOr => each1(v, dst, a, n, |x| u64::from(x != 0)),
        UnOp::RedAnd => each1(v, dst, a, n, |x| u64::from(x == mask)),
        UnOp::RedXor => each1(v, dst, a, n, |x| u64::from(x.count_ones()) & 1),
    }
}

#[inline(always)]
fn mux(v: &mut [u64], dst: usize, c: usize, t: usize, e: usize, n: usize) -> u64 {
    let (lo, hi) = v.split_at_mut(dst);
    let operands = lo[c..c + n].iter().zip(lo[t..t + n].iter().zip(&lo[e..e + n]));
    let chosen = |c: u64, t: u64, e: u64| t & c.wrapping_neg() | e & !c.wrapping_neg();
    hi[..n].iter_mut().zip(operands).fold(0, |diff, (o, (&c, (&t, &e)))| diff | put(o, chosen(c, t, e)))
}

/// Copies words. Source and destination are the same or do not overlap.
#[inline(always)]
pub fn copy(v: &mut [u64], dst: usize, src: usize, n: usize) -> u64 {
    match v.get_disjoint_mut([dst..dst + n, src..src + n]) {
        Ok([d, s]) => d.iter_mut().zip(&*s).fold(0, |diff, (o, &x)| diff | put(o, x)),
        Err(_) => 0,
    }
}

/// An operation on any width, lane by lane, on copies of its operands.
fn wide_op(v: &mut [u64], scratch: &mut Vec<u64>, kind: WideKind, dst: WideRef, args: &[WideRef], n: usize) -> u64 {
    let mut diff = 0;
    for lane in 0..n {
        scratch.clear();
        args.iter().for_each(|a| scratch.extend(a.lane(v, lane)));
        let inputs = scratch.len();
        scratch.resize(inputs + dst.words, 0);
        let (x, out) = scratch.split_at_mut(inputs);
        let (a, b) = x.split_at(args[0].words);
        match kind {
            WideKind::Bin(op) => wide::binary(op, out, dst.ty.w, (a, args[0].ty), (b, args[1].ty)),
            WideKind::Un(op) => wide::unary(op, out, dst.ty.w, a, args[0].ty),
            WideKind::Extend => wide::extend(out, dst.ty.w, a, args[0].ty),
        }
        for (k, &o) in out.iter().enumerate() {
            diff |= put(&mut v[dst.off + lane + k * dst.plane], o);
        }
    }
    diff
}

#[inline(always)]
fn run_op(op: &TapeOp, v: &mut [u64], mems: &[MemData], scratch: &mut Vec<u64>) -> u64 {
    match *op {
        TapeOp::Move(ref list) => list.iter().fold(0, |diff, &(dst, src, n)| diff | copy(v, dst, src, n)),
        TapeOp::Fill { dst, src, n } => {
            let x = v[src];
            v[dst..dst + n].iter_mut().fold(0, |diff, o| diff | put(o, x))
        }
        TapeOp::Insert { dst, src, n, right, mask, left: 0, keep: 0 } => each1(v, dst, src, n, |x| x >> right & mask),
        TapeOp::Insert { dst, src, n, right, mask, left, keep } => {
            update(v, dst, src, n, |o, x| o & keep | (x >> right & mask) << left)
        }
        TapeOp::Repeat { dst, src, n, right, mask, keep } => {
            update(v, dst, src, n, |o, x| o & keep | (x >> right & 1).wrapping_neg() & mask)
        }
        TapeOp::Extend { dst, src, n, right, w, mask } => {
            let (s, m) = (1u64 << (w - 1), !0 >> (64 - w));
            each1(v, dst, src, n, |x| sx(x >> right & m, s) & mask)
        }
        TapeOp::Bin { op, dst, a, b, n, mask, sign } => binary(v, op, (dst, a, b, n), mask, sign),
        TapeOp::Un { op, dst, a, n, mask } => unary(v, op, (dst, a, n), mask),
        TapeOp::Mux { dst, c, t, e, n } => mux(v, dst, c, t, e, n),
        TapeOp::Select { dst, index: (index, right), ref parts, n, mask } => {
            let last = parts.len() as u64 - 1;
            (0..n).fold(0, |diff, lane| {
                let (from, right) = parts[(v[index + lane] >> right & last) as usize];
                let new = v[from + lane] >> right & mask;
                diff | put(&mut v[dst + lane], new)
            })
        }
        TapeOp::Any { dst, src, n } => {
            let any = v[src..src + n].iter().fold(0, |any, x| any | x);
            put(&mut v[dst], any)
        }
        TapeOp::Read { dst, mem, addr, lane, n } => {
            (0..n).fold(0, |diff, i| diff | mems[mem].load(v, v[addr + i], lane + i, dst, i))
        }
        TapeOp::Batch(kind, ref items) => run_batch(kind, items, v),
        TapeOp::Wide { kind, dst, ref args, n } => wide_op(v, scratch, kind, dst, args, n),
    }
}

#[inline(always)]
fn settle_body(tape: &[Job], v: &mut [u64], mems: &[MemData], activity: &mut Activity, scratch: &mut Vec<u64>) {
    let mut from = 0;
    while let Some(k) = activity.next(from, tape.len()) {
        from = k + 1;
        let job = &tape[k];
        // A job whose result is not wanted stays pending.
        if job.guard.is_some_and(|g| v[g] == 0) {
            continue;
        }
        activity.start(k);
        if run_op(&job.op, v, mems, scratch) != 0 {
            activity.wake(k);
        }
    }
}

vectorized! {
    /// Runs the pending jobs of the tape.
    fn settle(tape: &[Job], v: &mut [u64], mems: &[MemData], activity: &mut Activity, scratch: &mut Vec<u64>) =
        settle_body
}
