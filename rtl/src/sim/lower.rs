//! Lowers sorted values to storage offsets and operations of the tape.

use super::mems::MemData;
use super::ops::{Job, TapeOp, WideKind, WideRef};
use super::program::Program;
use super::schedule::schedule;
use crate::hierarchy::{Def, Flat, Graph, Kind, Source, Step};
use crate::netlist::bits::{limbs_of, top_mask};
use crate::netlist::*;
use std::collections::BTreeMap;

pub(super) struct Lower<'f, 'd> {
    pub flat: &'f Flat<'d>,
    pub graph: &'f Graph,
    pub p: Program,
    /// The tape in settling order, each job with its context.
    jobs: Vec<(usize, Job)>,
    /// Context and guard of the value under lowering.
    owner: (usize, Option<usize>),
    /// For each guard, the word that is zero if all its lanes are.
    any: BTreeMap<u32, usize>,
}

/// Compiles the sorted values of a hierarchy.
pub fn lower(flat: &Flat, graph: &Graph) -> Result<Program, Vec<Fault>> {
    let mut l = Lower { flat, graph, p: Program::default(), jobs: vec![], owner: (0, None), any: BTreeMap::new() };
    l.memories();
    l.states();
    for step in &graph.order {
        l.step(step);
    }
    l.edges().map_err(|f| vec![f])?;
    l.p.tape = schedule(l.jobs, l.p.size);
    Ok(l.p)
}

fn words(w: u32) -> usize {
    limbs_of(w)
}

/// Splits a copy of bits at word boundaries: (source word, right, destination word, left, bits).
fn chunks(src_lo: u32, dst_lo: u32, w: u32) -> Vec<(usize, u32, usize, u32, u32)> {
    let mut out = vec![];
    let mut done = 0;
    while done < w {
        let (s, d) = (src_lo + done, dst_lo + done);
        let bits = (w - done).min(64 - s % 64).min(64 - d % 64);
        out.push((s as usize / 64, s % 64, d as usize / 64, d % 64, bits));
        done += bits;
    }
    out
}

/// Valid bits of word `k` of a value of `w` bits.
fn valid(w: u32, k: usize) -> u64 {
    if k + 1 == words(w) {
        top_mask(w)
    } else {
        !0
    }
}

/// Whether `b` lies directly above `a`, both in the source and in the destination.
fn follows(a: &Source, b: &Source) -> bool {
    let (v, next) = (&a.view, &b.view);
    (v.val, v.lane, v.lo + v.w) == (next.val, next.lane, next.lo)
        && (a.dst_lane, a.dst_lo + v.w) == (b.dst_lane, b.dst_lo)
}

fn join(list: &mut Vec<(usize, usize, usize)>, (dst, src, len): (usize, usize, usize)) {
    match list.last_mut() {
        Some(l) if l.0 + l.2 == dst && l.1 + l.2 == src => l.2 += len,
        _ => list.push((dst, src, len)),
    }
}

impl Lower<'_, '_> {
    fn allocate(&mut self, val: u32) -> usize {
        if let Some(&o) = self.p.offsets.get(&val) {
            return o;
        }
        let off = self.p.size;
        self.p.size += words(self.flat.node(val).ty.w) * self.flat.lanes(val) as usize;
        self.p.offsets.insert(val, off);
        off
    }

    /// An allocated value from a lane onwards.
    pub fn at(&self, val: u32, lane: u32) -> WideRef {
        let ty = self.flat.node(val).ty;
        let plane = self.flat.lanes(val) as usize;
        WideRef { off: self.p.offsets[&val] + lane as usize, plane, words: words(ty.w), ty }
    }

    fn memories(&mut self) {
        for (k, &(c, id)) in self.graph.mems.iter().enumerate() {
            let ctx = &self.flat.ctxs[c];
            let m = &ctx.module.mems[id.0 as usize];
            let (depth, lanes, words) = (m.depth as usize, ctx.lanes as usize, words(m.width));
            let mut data = vec![0; depth * lanes * words];
            for (cells, word) in data.chunks_mut(lanes * words).zip(&m.content) {
                cells.chunks_mut(words).for_each(|cell| cell.copy_from_slice(word.limbs()));
            }
            self.p.mems.push(MemData { depth, lanes, words, initialized: m.zeroed || !m.content.is_empty(), data });
            self.p.mem_index.insert((c, id), k);
            self.p.mem_top.push(top_mask(m.width));
        }
    }

    fn states(&mut self) {
        for (&val, def) in &self.graph.defs {
            if !matches!(def.kind, Kind::State) {
                continue;
            }
            let off = self.allocate(val);
            let lanes = self.flat.lanes(val) as usize;
            let node = self.flat.node(val);
            match &node.op {
                Op::Lit(b) => self.p.constants.push((off, lanes, b.clone())),
                Op::Reg { init: Some(b), .. } => self.p.constants.push((off, lanes, b.clone())),
                Op::Reg { .. } | Op::ReadSync { .. } => self.p.garbage.push((off, lanes, node.ty.w)),
                _ => {}
            }
        }
    }

    fn push(&mut self, op: TapeOp) {
        self.jobs.push((self.owner.0, Job { op, guard: self.owner.1 }));
    }

    /// A word that is zero if the value is zero in all lanes.
    pub fn any(&mut self, val: u32) -> usize {
        let r = self.at(val, 0);
        if r.words == 1 && r.plane == 1 {
            return r.off;
        }
        if let Some(&at) = self.any.get(&val) {
            return at;
        }
        let dst = self.p.size;
        self.p.size += 1;
        let op = TapeOp::Any { dst, src: r.off, n: r.words * r.plane };
        self.jobs.push((self.flat.node_of(val).0, Job { op, guard: None }));
        self.any.insert(val, dst);
        dst
    }

    fn step(&mut self, s: &Step) {
        let guard = self.graph.guards.get(&s.val).copied();
        self.owner = (self.flat.node_of(s.val).0, guard.map(|g| self.any(g)));
        self.allocate(s.val);
        let def = &self.graph.defs[&s.val];
        match def.kind {
            Kind::State => {}
            Kind::Assemble => self.assemble_all(s, &def.sources),
            Kind::Extend { signed } => self.extend(s, &def.sources[0], signed),
            Kind::Operator => self.operator(s, def),
            Kind::Select => self.select(s, &def.sources),
        }
    }

    fn assemble_all(&mut self, s: &Step, sources: &[Source]) {
        let mut copies = vec![];
        let mut rest = sources;
        while let Some((first, behind)) = rest.split_first() {
            let mut src = *first;
            rest = behind;
            // Parts that are adjacent in the source as well become one.
            while let Some((next, behind)) = rest.split_first().filter(|(next, _)| follows(&src, next)) {
                src.view.w += next.view.w;
                rest = behind;
            }
            let same =
                rest.iter().take_while(|x| src.view.w == 1 && x.view == src.view && x.dst_lane == src.dst_lane).count();
            if same > 0 {
                self.repeat(s, &src, 1 + same as u32);
                rest = &rest[same..];
            } else {
                self.assemble(s, &src, &mut copies);
            }
        }
        if !copies.is_empty() {
            self.push(TapeOp::Move(copies));
        }
    }

    /// The lanes of the step that a source supplies: destination, source, number of lanes.
    fn lanes_of(&self, s: &Step, src: &Source) -> Option<(WideRef, WideRef, usize)> {
        let first = s.lane.max(src.dst_lane);
        let last = (s.lane + s.n).min(src.dst_lane + src.n);
        let from_lane = src.lane(first.saturating_sub(src.dst_lane));
        (first < last).then(|| (self.at(s.val, first), self.at(src.view.val, from_lane), (last - first) as usize))
    }

    /// Copies one bit to `times` bits.
    fn repeat(&mut self, s: &Step, src: &Source, times: u32) {
        let Some((dst, from, n)) = self.lanes_of(s, src) else { return };
        let (src_word, right) = (src.view.lo as usize / 64, src.view.lo % 64);
        for (_, _, word, left, bits) in chunks(src.dst_lo, src.dst_lo, times) {
            let mask = top_mask(bits) << left;
            let (to, src) = (dst.off + word * dst.plane, from.off + src_word * from.plane);
            self.push(TapeOp::Repeat { dst: to, src, n, right, mask, keep: valid(dst.ty.w, word) & !mask });
        }
    }

    fn assemble(&mut self, s: &Step, src: &Source, copies: &mut Vec<(usize, usize, usize)>) {
        let Some((dst, from, n)) = self.lanes_of(s, src) else { return };
        let whole = src.view.lo == 0 && src.view.w == from.ty.w && dst.ty.w == from.ty.w;
        if src.broadcast && n > 1 {
            self.broadcast(dst, from, src, n);
        } else if whole {
            for k in 0..dst.words {
                join(copies, (dst.off + k * dst.plane, from.off + k * from.plane, n));
            }
        } else {
            self.insert((dst, src.dst_lo), (from, src.view.lo), n, src.view.w);
        }
    }

    /// Copies one lane to `n` lanes, through the first of them.
    fn broadcast(&mut self, dst: WideRef, from: WideRef, src: &Source, n: usize) {
        self.insert((dst, src.dst_lo), (from, src.view.lo), 1, src.view.w);
        for k in 0..dst.words {
            let at = dst.off + k * dst.plane;
            self.push(TapeOp::Fill { dst: at, src: at, n });
        }
    }

    /// Copies `w` bits from bit `lo` of the source to bit `dst_lo` of the destination.
    fn insert(&mut self, (dst, dst_lo): (WideRef, u32), (src, lo): (WideRef, u32), n: usize, w: u32) {
        for (sw, right, dw, left, bits) in chunks(lo, dst_lo, w) {
            let mask = top_mask(bits);
            let keep = valid(dst.ty.w, dw) & !(mask << left);
            let (dst, src) = (dst.off + dw * dst.plane, src.off + sw * src.plane);
            self.push(TapeOp::Insert { dst, src, n, right, mask, left, keep });
        }
    }

    fn extend(&mut self, s: &Step, src: &Source, signed: bool) {
        let n = s.n as usize;
        let (dst, from) = (self.at(s.val, s.lane), self.at(src.view.val, src.lane(s.lane)));
        let (lo, w) = (src.view.lo, src.view.w);
        let one_word = dst.words == 1 && lo / 64 == (lo + w - 1) / 64;
        if signed && one_word {
            let src = from.off + lo as usize / 64 * from.plane;
            self.push(TapeOp::Extend { dst: dst.off, src, n, right: lo % 64, w, mask: top_mask(dst.ty.w) });
            return;
        }
        if !signed {
            // The storage is zero initially, and nothing else writes the upper bits.
            let low = WideRef { ty: crate::netlist::u(w), ..dst };
            self.insert((low, 0), (from, lo), n, w);
            return;
        }
        self.insert((dst, 0), (from, lo), n, w);
        let arg = WideRef { ty: crate::netlist::s(w), words: words(w), ..dst };
        self.push(TapeOp::Wide { kind: WideKind::Extend, dst, args: vec![arg], n });
    }

    fn select(&mut self, s: &Step, sources: &[Source]) {
        let field = |src: &Source| {
            let from = self.at(src.view.val, src.lane(s.lane));
            (from.off + src.view.lo as usize / 64 * from.plane, src.view.lo % 64)
        };
        let dst = self.at(s.val, s.lane);
        let parts = sources[1..].iter().map(field).collect();
        let op = TapeOp::Select {
            dst: dst.off,
            index: field(&sources[0]),
            parts,
            n: s.n as usize,
            mask: top_mask(dst.ty.w),
        };
        self.push(op);
    }

    fn operator(&mut self, s: &Step, def: &Def) {
        let node = self.flat.node(s.val);
        let (ctx, _) = self.flat.node_of(s.val);
        let m = self.flat.ctxs[ctx].module;
        let n = s.n as usize;
        let dst = self.at(s.val, s.lane);
        let ids = node.op.comb_operands();
        let args: Vec<WideRef> = def
            .sources
            .iter()
            .zip(&ids)
            .map(|(src, &id)| WideRef { ty: m.ty(id), ..self.at(src.view.val, src.lane(s.lane)) })
            .collect();
        let narrow = dst.words == 1 && args.iter().all(|a| a.words == 1);
        let off = |i: usize| args[i].off;
        if self.planes(&node.op, dst, &args, n) {
            return;
        }
        let sign = |i: usize| if args[i].ty.signed { 1u64 << (args[i].ty.w - 1) } else { 0 };
        let mask = top_mask(node.ty.w);
        let op = match &node.op {
            Op::ReadAsync { mem, .. } => {
                let mem = self.p.mem_index[&(ctx, *mem)];
                TapeOp::Read { dst, mem, addr: off(0), lane: s.lane as usize, n }
            }
            Op::Bin(op, ..) if narrow => {
                TapeOp::Bin { op: *op, dst: dst.off, a: off(0), b: off(1), n, mask, sign: (sign(0), sign(1)) }
            }
            Op::Un(op, _) if narrow => {
                let mask = if *op == UnOp::RedAnd { top_mask(args[0].ty.w) } else { mask };
                TapeOp::Un { op: *op, dst: dst.off, a: off(0), n, mask }
            }
            Op::Bin(op, ..) => TapeOp::Wide { kind: WideKind::Bin(*op), dst, args, n },
            Op::Un(op, _) => TapeOp::Wide { kind: WideKind::Un(*op), dst, args, n },
            // All other operators are assembled, extended or states.
            _ => return,
        };
        self.push(op);
    }

    /// Multiplexers and bitwise operators, plane by plane.
    fn planes(&mut self, op: &Op, dst: WideRef, args: &[WideRef], n: usize) -> bool {
        for k in 0..dst.words {
            let at = |i: usize| args[i].off + k * args[i].plane;
            let mask = if k + 1 == dst.words { top_mask(dst.ty.w) } else { !0 };
            let out = dst.off + k * dst.plane;
            let op = match op {
                Op::Mux(..) => TapeOp::Mux { dst: out, c: args[0].off, t: at(1), e: at(2), n },
                Op::Un(UnOp::Not, _) => TapeOp::Un { op: UnOp::Not, dst: out, a: at(0), n, mask },
                Op::Bin(op @ (BinOp::And | BinOp::Or | BinOp::Xor), ..) => {
                    TapeOp::Bin { op: *op, dst: out, a: at(0), b: at(1), n, mask, sign: (0, 0) }
                }
                _ => return false,
            };
            self.push(op);
        }
        true
    }
}
