//! The operations of the tape, and the words that they read and write.
//!
//! Storage is one array of 64-bit words. A value of `n` lanes and `k` words a lane is stored as `k` planes of `n`
//! words, so every loop over lanes is contiguous. All bits above a value's width are zero. Values are laid out in
//! settling order: the destination of an operation on several lanes lies behind all its operands, and one split of the
//! array separates them. `schedule` puts operations on one lane into batches; these may lie anywhere.

use super::activity::Range;
use crate::netlist::{BinOp, Ty, UnOp};

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
    #[inline(always)]
    pub fn lane(self, v: &[u64], lane: usize) -> impl Iterator<Item = u64> + '_ {
        (0..self.words).map(move |k| v[self.off + lane + k * self.plane])
    }
}

/// Operators on any width.
#[derive(Clone, Copy, Debug)]
pub enum WideKind {
    Bin(BinOp),
    Un(UnOp),
    /// Extension in place: the value lies in the low bits of the destination.
    Extend,
}

/// One operation. Offsets count words, `n` counts lanes.
#[derive(Clone, Debug)]
pub enum TapeOp {
    /// Copies ranges of words: (to, from, length).
    Move(Vec<(usize, usize, usize)>),
    /// Copies one word to `n` words.
    Fill {
        dst: usize,
        src: usize,
        n: usize,
    },
    /// Copies a field: `src` shifted right, masked, shifted left. Bits `keep` of `dst` stay.
    Insert {
        dst: usize,
        src: usize,
        n: usize,
        right: u32,
        mask: u64,
        left: u32,
        keep: u64,
    },
    /// Copies bit `right` of `src` to all bits of `mask`. Bits `keep` of `dst` stay.
    Repeat {
        dst: usize,
        src: usize,
        n: usize,
        right: u32,
        mask: u64,
        keep: u64,
    },
    /// Extends a signed field of `w` bits of `src` to the bits of `mask`.
    Extend {
        dst: usize,
        src: usize,
        n: usize,
        right: u32,
        w: u32,
        mask: u64,
    },
    /// `sign` holds the sign bit of each operand, 0 if it is unsigned.
    Bin {
        op: BinOp,
        dst: usize,
        a: usize,
        b: usize,
        n: usize,
        mask: u64,
        sign: (u64, u64),
    },
    Un {
        op: UnOp,
        dst: usize,
        a: usize,
        n: usize,
        mask: u64,
    },
    Mux {
        dst: usize,
        c: usize,
        t: usize,
        e: usize,
        n: usize,
    },
    /// The part that `index` picks. Index and parts are fields: (first lane, bits to the right).
    Select {
        dst: usize,
        index: (usize, u32),
        parts: Vec<(usize, u32)>,
        n: usize,
        mask: u64,
    },
    /// The disjunction of `n` words, for guards.
    Any {
        dst: usize,
        src: usize,
        n: usize,
    },
    /// Combinational memory read.
    Read {
        dst: WideRef,
        mem: usize,
        addr: usize,
        lane: usize,
        n: usize,
    },
    Wide {
        kind: WideKind,
        dst: WideRef,
        args: Vec<WideRef>,
        n: usize,
    },
    /// Equal operations on one lane each.
    Batch(ScalarKind, Vec<Item>),
}

/// An operation. While the word `guard` is zero, nothing wants its result.
#[derive(Clone, Debug)]
pub struct Job {
    pub op: TapeOp,
    pub guard: Option<usize>,
}

/// The operation of a batch.
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

/// The words that an operation reads.
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

/// The words that an operation writes.
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
