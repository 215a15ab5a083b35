//! The operation tape of the combinational part, and its interpreter.
//!
//! Storage is one array of 64-bit words. A value of `n` lanes and `k` words a lane is stored as
//! `k` planes of `n` words, so that every loop over lanes is contiguous. Values are canonical:
//! zero above their width. An operation works on `n` > 1 lanes and its destination lies behind
//! all its operands (values are laid out in settling order), so that one split of the array
//! separates them; operations on one lane are put into batches (`schedule`) and may lie anywhere.

use super::schedule::{run_batch, Item, ScalarKind};
use super::wide;
use crate::ir::{BinOp, UnOp};
use crate::ty::Ty;

/// A value of any width: offset of its first lane, distance of its planes, words a lane, type.
#[derive(Clone, Copy, Debug)]
pub struct WideRef {
    pub off: usize,
    pub plane: usize,
    pub words: usize,
    pub ty: Ty,
}

impl WideRef {
    /// Words of a lane, lowest first.
    pub fn lane(self, v: &[u64], lane: usize) -> impl Iterator<Item = u64> + '_ {
        (0..self.words).map(move |k| v[self.off + lane + k * self.plane])
    }
}

/// Operators of the general (any width) path.
#[derive(Clone, Copy, Debug)]
pub enum WideKind {
    Bin(BinOp),
    Un(UnOp),
    /// Extension of a value that lies in the destination's low bits already.
    Extend,
}

/// One operation. Offsets are words; `n` is lanes.
#[derive(Clone, Debug)]
pub enum TapeOp {
    /// Copies of word ranges: (to, from, length).
    Move(Vec<(usize, usize, usize)>),
    /// One word to `n` places.
    Fill { dst: usize, src: usize, n: usize },
    /// Field of `src`, shifted right, masked, shifted left, put or or-ed into `dst`.
    Insert { dst: usize, src: usize, n: usize, right: u32, mask: u64, left: u32, or: bool },
    /// Signed field of `src` of `w` bits, sign-extended to the bits of `mask`.
    Extend { dst: usize, src: usize, n: usize, right: u32, w: u32, mask: u64 },
    /// `sign` is the operands' sign bit (0 if unsigned) for each operand.
    Bin { op: BinOp, dst: usize, a: usize, b: usize, n: usize, mask: u64, sign: (u64, u64) },
    Un { op: UnOp, dst: usize, a: usize, n: usize, mask: u64 },
    Mux { dst: usize, c: usize, t: usize, e: usize, n: usize },
    /// Combinational memory read.
    Read { dst: WideRef, mem: usize, addr: usize, lane: usize, n: usize },
    Wide { kind: WideKind, dst: WideRef, args: Vec<WideRef>, n: usize },
    /// Equal operations on one lane each.
    Batch(ScalarKind, Vec<Item>),
}

/// A memory of all lanes: `[address][lane][word]`.
#[derive(Clone, Debug)]
pub struct MemData {
    pub depth: usize,
    pub lanes: usize,
    pub words: usize,
    pub data: Vec<u64>,
}

impl MemData {
    /// Index of the first word of a cell, if the address exists.
    #[inline]
    pub fn cell(&self, addr: u64, lane: usize) -> Option<usize> {
        (addr < self.depth as u64).then(|| (addr as usize * self.lanes + lane) * self.words)
    }

    /// Copies a cell to a lane of a value; zero if the address does not exist.
    #[inline]
    pub fn load(&self, v: &mut [u64], addr: u64, lane: usize, dst: WideRef, to: usize) {
        let at = self.cell(addr, lane);
        for k in 0..self.words {
            v[dst.off + to + k * dst.plane] = at.map_or(0, |i| self.data[i + k]);
        }
    }
}

#[inline(always)]
fn each1(v: &mut [u64], dst: usize, a: usize, n: usize, f: impl Fn(u64) -> u64) {
    let (lo, hi) = v.split_at_mut(dst);
    for (o, &x) in hi[..n].iter_mut().zip(&lo[a..a + n]) {
        *o = f(x);
    }
}

#[inline(always)]
fn each2(v: &mut [u64], dst: usize, a: usize, b: usize, n: usize, f: impl Fn(u64, u64) -> u64) {
    let (lo, hi) = v.split_at_mut(dst);
    for ((o, &x), &y) in hi[..n].iter_mut().zip(&lo[a..a + n]).zip(&lo[b..b + n]) {
        *o = f(x, y);
    }
}

/// Update of the destination: `f(old destination word, source word)`.
#[inline(always)]
fn update(v: &mut [u64], dst: usize, a: usize, n: usize, f: impl Fn(u64, u64) -> u64) {
    let (lo, hi) = v.split_at_mut(dst);
    for (o, &x) in hi[..n].iter_mut().zip(&lo[a..a + n]) {
        *o = f(*o, x);
    }
}

/// Sign extension of a canonical value with sign bit `s` (0: unsigned).
#[inline(always)]
fn sx(x: u64, s: u64) -> u64 {
    (x ^ s).wrapping_sub(s)
}

#[inline(always)]
fn binary(v: &mut [u64], op: BinOp, (dst, a, b, n): (usize, usize, usize, usize), mask: u64, (sa, sb): (u64, u64)) {
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
fn unary(v: &mut [u64], op: UnOp, (dst, a, n): (usize, usize, usize), mask: u64) {
    match op {
        UnOp::Not => each1(v, dst, a, n, |x| !x & mask),
        UnOp::Neg => each1(v, dst, a, n, |x| x.wrapping_neg() & mask),
        UnOp::RedOr => each1(v, dst, a, n, |x| u64::from(x != 0)),
        UnOp::RedAnd => each1(v, dst, a, n, |x| u64::from(x == mask)),
        UnOp::RedXor => each1(v, dst, a, n, |x| u64::from(x.count_ones()) & 1),
    }
}

#[inline(always)]
fn mux(v: &mut [u64], dst: usize, c: usize, t: usize, e: usize, n: usize) {
    let (lo, hi) = v.split_at_mut(dst);
    let arms = lo[t..t + n].iter().zip(&lo[e..e + n]);
    for ((o, &c), (&t, &e)) in hi[..n].iter_mut().zip(&lo[c..c + n]).zip(arms) {
        *o = if c != 0 { t } else { e };
    }
}

/// An operation lane by lane on copies of its operands.
fn wide_op(v: &mut [u64], scratch: &mut Vec<u64>, kind: WideKind, dst: WideRef, args: &[WideRef], n: usize) {
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
            v[dst.off + lane + k * dst.plane] = o;
        }
    }
}

#[inline(always)]
fn run_body(ops: &[TapeOp], v: &mut [u64], mems: &[MemData], scratch: &mut Vec<u64>) {
    for op in ops {
        match *op {
            TapeOp::Move(ref list) => {
                for &(dst, src, len) in list {
                    if len == 1 {
                        v[dst] = v[src];
                    } else {
                        v.copy_within(src..src + len, dst);
                    }
                }
            }
            TapeOp::Fill { dst, src, n } => {
                let x = v[src];
                v[dst..dst + n].fill(x);
            }
            TapeOp::Insert { dst, src, n, right, mask, left, or } => match (or, left) {
                (false, 0) => each1(v, dst, src, n, |x| x >> right & mask),
                (false, _) => each1(v, dst, src, n, |x| (x >> right & mask) << left),
                (true, _) => update(v, dst, src, n, |o, x| o | (x >> right & mask) << left),
            },
            TapeOp::Extend { dst, src, n, right, w, mask } => {
                let (s, m) = (1u64 << (w - 1), !0 >> (64 - w));
                each1(v, dst, src, n, |x| sx(x >> right & m, s) & mask);
            }
            TapeOp::Bin { op, dst, a, b, n, mask, sign } => binary(v, op, (dst, a, b, n), mask, sign),
            TapeOp::Un { op, dst, a, n, mask } => unary(v, op, (dst, a, n), mask),
            TapeOp::Mux { dst, c, t, e, n } => mux(v, dst, c, t, e, n),
            TapeOp::Read { dst, mem, addr, lane, n } => {
                for i in 0..n {
                    mems[mem].load(v, v[addr + i], lane + i, dst, i);
                }
            }
            TapeOp::Batch(kind, ref items) => run_batch(kind, items, v),
            TapeOp::Wide { kind, dst, ref args, n } => wide_op(v, scratch, kind, dst, args, n),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn run_avx2(ops: &[TapeOp], v: &mut [u64], mems: &[MemData], scratch: &mut Vec<u64>) {
    run_body(ops, v, mems, scratch);
}

/// Runs the tape once.
pub fn run(ops: &[TapeOp], v: &mut [u64], mems: &[MemData], scratch: &mut Vec<u64>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the features that `run_avx2` is compiled for; it contains
        // no unsafe code otherwise. It is worth 2-3x on arrays of identical elements.
        unsafe { run_avx2(ops, v, mems, scratch) };
        return;
    }
    run_body(ops, v, mems, scratch);
}
