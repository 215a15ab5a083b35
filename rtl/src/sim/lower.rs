//! From ordered values to storage offsets and the operation tape.

use super::clock::{ClockOp, WriteOp};
use super::flat::Flat;
use super::graph::{Def, Graph, Kind, Source, Step};
use super::schedule::schedule;
use super::tape::{MemData, TapeOp, WideKind, WideRef};
use crate::bits::{limbs_of, top_mask, Bits};
use crate::fault::Fault;
use crate::ir::*;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;

/// A compiled design.
pub struct Program {
    pub tape: Vec<TapeOp>,
    pub clock: Vec<ClockOp>,
    pub writes: Vec<WriteOp>,
    pub mems: Vec<MemData>,
    /// Constants: (first word, lanes, value).
    pub constants: Vec<(usize, usize, Bits)>,
    /// Registers and registered reads: (first word, lanes, width).
    pub states: Vec<(usize, usize, u32)>,
    /// Words of storage.
    pub size: usize,
    /// First word of each live value.
    pub offsets: BTreeMap<u32, usize>,
    /// Index of each live memory.
    pub mem_index: BTreeMap<(usize, MemId), usize>,
    /// Valid bits of the top word of each memory.
    pub mem_top: Vec<u64>,
}

struct Lower<'f, 'd> {
    flat: &'f Flat<'d>,
    graph: &'f Graph,
    p: Program,
}

/// Compiles the ordered values of a hierarchy.
pub fn lower(flat: &Flat, graph: &Graph) -> Result<Program, Vec<Fault>> {
    let p = Program {
        tape: vec![],
        clock: vec![],
        writes: vec![],
        mems: vec![],
        constants: vec![],
        states: vec![],
        size: 0,
        offsets: BTreeMap::new(),
        mem_index: BTreeMap::new(),
        mem_top: vec![],
    };
    let mut l = Lower { flat, graph, p };
    l.memories();
    l.states();
    for step in &graph.order {
        l.step(step);
    }
    l.edges().map_err(|f| vec![f])?;
    l.p.tape = schedule(l.p.tape, l.p.size);
    Ok(l.p)
}

fn words(w: u32) -> usize {
    limbs_of(w)
}

/// Cuts a field copy at word borders: (source word, right, destination word, left, bits).
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

    /// An allocated value from a lane on.
    fn at(&self, val: u32, lane: u32) -> WideRef {
        let ty = self.flat.node(val).ty;
        let plane = self.flat.lanes(val) as usize;
        WideRef { off: self.p.offsets[&val] + lane as usize, plane, words: words(ty.w), ty }
    }

    fn memories(&mut self) {
        for (k, &(c, id)) in self.graph.mems.iter().enumerate() {
            let ctx = &self.flat.ctxs[c];
            let m = &ctx.module.mems[id.0 as usize];
            let (depth, lanes, words) = (m.depth as usize, ctx.lanes as usize, words(m.width));
            self.p.mems.push(MemData { depth, lanes, words, data: vec![0; depth * lanes * words] });
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
                Op::Reg { .. } | Op::ReadSync { .. } => self.p.states.push((off, lanes, node.ty.w)),
                _ => {}
            }
        }
    }

    fn step(&mut self, s: &Step) {
        self.allocate(s.val);
        let def = &self.graph.defs[&s.val];
        match def.kind {
            Kind::State => {}
            Kind::Assemble => {
                for src in &def.sources {
                    self.assemble(s, src);
                }
            }
            Kind::Extend { signed } => self.extend(s, &def.sources[0], signed),
            Kind::Operator => self.operator(s, def),
        }
    }

    fn assemble(&mut self, s: &Step, src: &Source) {
        let first = s.lane.max(src.dst_lane);
        let last = (s.lane + s.n).min(src.dst_lane + src.n);
        if first >= last {
            return;
        }
        let n = (last - first) as usize;
        let from_lane = src.lane(first - src.dst_lane);
        let (dst, from) = (self.at(s.val, first), self.at(src.view.val, from_lane));
        let whole = src.view.lo == 0 && src.view.w == from.ty.w && dst.ty.w == from.ty.w;
        if src.broadcast && n > 1 {
            self.broadcast(dst, from, src, n);
        } else if whole {
            for k in 0..dst.words {
                self.copy(dst.off + k * dst.plane, from.off + k * from.plane, n);
            }
        } else {
            self.insert((dst, src.dst_lo), (from, src.view.lo), n, src.view.w);
        }
    }

    /// One lane to `n` lanes: computed for the first, then spread.
    fn broadcast(&mut self, dst: WideRef, from: WideRef, src: &Source, n: usize) {
        self.insert((dst, src.dst_lo), (from, src.view.lo), 1, src.view.w);
        for k in 0..dst.words {
            let at = dst.off + k * dst.plane;
            self.p.tape.push(TapeOp::Fill { dst: at, src: at, n });
        }
    }

    fn copy(&mut self, dst: usize, src: usize, len: usize) {
        if let Some(TapeOp::Move(list)) = self.p.tape.last_mut() {
            match list.last_mut() {
                Some(l) if l.0 + l.2 == dst && l.1 + l.2 == src => l.2 += len,
                _ => list.push((dst, src, len)),
            }
            return;
        }
        self.p.tape.push(TapeOp::Move(vec![(dst, src, len)]));
    }

    /// Copies `w` bits from bit `lo` of the source to bit `dst_lo` of the destination.
    fn insert(&mut self, (dst, dst_lo): (WideRef, u32), (src, lo): (WideRef, u32), n: usize, w: u32) {
        for (sw, right, dw, left, bits) in chunks(lo, dst_lo, w) {
            let (dst, src) = (dst.off + dw * dst.plane, src.off + sw * src.plane);
            self.p.tape.push(TapeOp::Insert { dst, src, n, right, mask: top_mask(bits), left, or: left != 0 });
        }
    }

    fn extend(&mut self, s: &Step, src: &Source, signed: bool) {
        let n = s.n as usize;
        let (dst, from) = (self.at(s.val, s.lane), self.at(src.view.val, src.lane(s.lane)));
        let (lo, w) = (src.view.lo, src.view.w);
        let one_word = dst.words == 1 && lo / 64 == (lo + w - 1) / 64;
        if signed && one_word {
            let src = from.off + lo as usize / 64 * from.plane;
            self.p.tape.push(TapeOp::Extend { dst: dst.off, src, n, right: lo % 64, w, mask: top_mask(dst.ty.w) });
            return;
        }
        self.insert((dst, 0), (from, lo), n, w);
        for k in words(w)..dst.words {
            let (dst, src) = (dst.off + k * dst.plane, from.off);
            self.p.tape.push(TapeOp::Insert { dst, src, n, right: 0, mask: 0, left: 0, or: false });
        }
        if signed {
            let arg = WideRef { ty: crate::ty::s(w), words: words(w), ..dst };
            self.p.tape.push(TapeOp::Wide { kind: WideKind::Extend, dst, args: vec![arg], n });
        }
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
            // Everything else is assembled, extended or a state.
            _ => return,
        };
        self.p.tape.push(op);
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
            self.p.tape.push(op);
        }
        true
    }

    /// What happens at the clock edge.
    fn edges(&mut self) -> Result<(), Fault> {
        let mut ops: Vec<(u32, ClockOp, Vec<u32>)> = vec![];
        for (&val, def) in &self.graph.defs {
            if matches!(def.kind, Kind::State) {
                if let Some((op, reads)) = self.state_op(val)? {
                    ops.push((val, op, reads));
                }
            }
        }
        for &(c, id) in &self.graph.mems {
            let mem = self.p.mem_index[&(c, id)];
            for w in &self.flat.ctxs[c].module.mems[id.0 as usize].writes {
                let at = |id| self.operand_at(c, id).map(|x| x.1);
                let mask = match w.lanes {
                    Some((m, lane)) => Some((at(m)?, lane)),
                    None => None,
                };
                self.p.writes.push(WriteOp { mem, en: at(w.en)?.off, addr: at(w.addr)?.off, data: at(w.data)?, mask });
            }
        }
        self.order_edges(ops);
        Ok(())
    }

    fn operand_at(&self, ctx: usize, id: NodeId) -> Result<(u32, WideRef), Fault> {
        let s = self.flat.operand(ctx, id)?;
        Ok((s.view.val, self.at(s.view.val, s.view.lane)))
    }

    fn state_op(&self, val: u32) -> Result<Option<(ClockOp, Vec<u32>)>, Fault> {
        let (c, _) = self.flat.node_of(val);
        let node = self.flat.node(val);
        let (q, n) = (self.at(val, 0), self.flat.lanes(val) as usize);
        let mut reads = vec![];
        let mut at = |id: NodeId| -> Result<WideRef, Fault> {
            let (v, r) = self.operand_at(c, id)?;
            reads.push(v);
            Ok(r)
        };
        let op = match &node.op {
            Op::Reg { next: Some(d), en, rst } => {
                let d = at(*d)?;
                let en = en.map(&mut at).transpose()?.map(|r| r.off);
                let rst = match rst {
                    Some((r, v)) => Some((at(*r)?.off, v.limbs().to_vec())),
                    None => None,
                };
                match (en, rst) {
                    (None, None) if d.plane == n => ClockOp::Move(vec![(q.off, d.off, n * q.words)]),
                    (None, None) => {
                        ClockOp::Move((0..q.words).map(|k| (q.off + k * q.plane, d.off + k * d.plane, n)).collect())
                    }
                    (en, rst) => ClockOp::Reg { q, d, n, en, rst },
                }
            }
            Op::ReadSync { mem, addr, en } => {
                let mem = self.p.mem_index[&(c, *mem)];
                ClockOp::Read { q, n, mem, addr: at(*addr)?.off, en: at(*en)?.off }
            }
            _ => return Ok(None),
        };
        Ok(Some((op, reads)))
    }

    /// Orders state updates so that who reads a state directly is served before it changes;
    /// members of a circle (a ring of registers) read copies taken first.
    fn order_edges(&mut self, mut ops: Vec<(u32, ClockOp, Vec<u32>)>) {
        let index: BTreeMap<u32, usize> = ops.iter().enumerate().map(|(i, o)| (o.0, i)).collect();
        let mut g: DiGraph<(), ()> = DiGraph::with_capacity(ops.len(), ops.len());
        ops.iter().for_each(|_| {
            g.add_node(());
        });
        for (i, (_, _, reads)) in ops.iter().enumerate() {
            for r in reads.iter().filter_map(|r| index.get(r)).filter(|&&r| r != i) {
                // The state that is read must change after its reader.
                g.add_edge(NodeIndex::new(*r), NodeIndex::new(i), ());
            }
        }
        let mut out: Vec<ClockOp> = vec![];
        for scc in tarjan_scc(&g) {
            if scc.len() > 1 {
                let mut copies = vec![];
                for i in &scc {
                    let (val, ..) = ops[i.index()];
                    let len = words(self.flat.node(val).ty.w) * self.flat.lanes(val) as usize;
                    copies.push((self.p.size, self.at(val, 0).off, len));
                    self.p.size += len;
                }
                out.push(ClockOp::Move(copies.clone()));
                for i in &scc {
                    ops[i.index()].1.redirect(&copies);
                }
            }
            for i in scc {
                let op = std::mem::replace(&mut ops[i.index()].1, ClockOp::Move(vec![]));
                match (out.last_mut(), op) {
                    (Some(ClockOp::Move(list)), ClockOp::Move(more)) => list.extend(more),
                    (_, op) => out.push(op),
                }
            }
        }
        self.p.clock = out;
    }
}
