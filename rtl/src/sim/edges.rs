//! Lowers the clock edge: memory writes and updates of states.

use super::clock::StateOp;
use super::lower::Lower;
use super::mems::WriteOp;
use super::ops::WideRef;
use crate::hierarchy::{write_gate, Kind};
use crate::netlist::*;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;

impl Lower<'_, '_> {
    /// Lowers all writes and updates.
    pub fn edges(&mut self) -> Result<(), Fault> {
        let mut ops: Vec<(u32, StateOp, Vec<u32>)> = vec![];
        for (&val, def) in &self.graph.defs {
            if matches!(def.kind, Kind::State) {
                if let Some((op, reads)) = self.state_op(val)? {
                    ops.push((val, op, reads));
                }
            }
        }
        for &(c, id) in &self.graph.mems {
            let module = self.flat.ctxs[c].module;
            let ports: Result<Vec<_>, _> =
                module.mems[id.0 as usize].writes.iter().map(|w| self.write_op(c, id, w)).collect();
            self.p.ports.push(ports?);
        }
        self.order_edges(ops);
        Ok(())
    }

    fn write_op(&mut self, c: usize, id: MemId, w: &WritePort) -> Result<WriteOp, Fault> {
        let (gate, _) = self.operand_at(c, write_gate(self.flat.ctxs[c].module, w))?;
        let at = |id| self.operand_at(c, id).map(|x| x.1);
        let mask = w.lanes.map(|(m, width)| at(m).map(|m| (m, width))).transpose()?;
        let (en, addr, data) = (at(w.en)?.off, at(w.addr)?.off, at(w.data)?);
        Ok(WriteOp { mem: self.p.mem_index[&(c, id)], any: self.any(gate), en, addr, data, mask })
    }

    fn operand_at(&self, ctx: usize, id: NodeId) -> Result<(u32, WideRef), Fault> {
        let s = self.flat.operand(ctx, id)?;
        Ok((s.view.val, self.at(s.view.val, s.view.lane)))
    }

    fn state_op(&self, val: u32) -> Result<Option<(StateOp, Vec<u32>)>, Fault> {
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
            Op::Reg { next: Some(d), en, rst, .. } => {
                let d = at(*d)?;
                let en = en.map(&mut at).transpose()?.map(|r| r.off);
                let rst = match rst {
                    Some((r, v)) => Some((at(*r)?.off, v.limbs().to_vec())),
                    None => None,
                };
                match (en, rst) {
                    (None, None) if d.plane == n => StateOp::Move { q: q.off, d: d.off, len: n * q.words },
                    (en, rst) => StateOp::Reg { q, d, n, en, rst },
                }
            }
            Op::ReadSync { mem, addr, en } => {
                let mem = self.p.mem_index[&(c, *mem)];
                StateOp::Read { q, n, mem, addr: at(*addr)?.off, en: at(*en)?.off }
            }
            _ => return Ok(None),
        };
        Ok(Some((op, reads)))
    }

    /// Sorts the updates so that a state changes after every state that loads it. Members of a cycle (a ring of
    /// registers) load copies, which are taken first.
    fn order_edges(&mut self, ops: Vec<(u32, StateOp, Vec<u32>)>) {
        let index: BTreeMap<u32, usize> = ops.iter().enumerate().map(|(i, o)| (o.0, i)).collect();
        let mut g: DiGraph<(), ()> = DiGraph::with_capacity(ops.len(), ops.len());
        ops.iter().for_each(|_| {
            g.add_node(());
        });
        for (i, (_, _, reads)) in ops.iter().enumerate() {
            for r in reads.iter().filter_map(|r| index.get(r)).filter(|&&r| r != i) {
                // A state changes after its readers.
                g.add_edge(NodeIndex::new(*r), NodeIndex::new(i), ());
            }
        }
        let mut out: Vec<StateOp> = vec![];
        let mut ops: Vec<Option<StateOp>> = ops.into_iter().map(|o| Some(o.1)).collect();
        for scc in tarjan_scc(&g) {
            let mut members: Vec<StateOp> = scc.iter().filter_map(|i| ops[i.index()].take()).collect();
            if members.len() > 1 {
                let copies: Vec<_> = members
                    .iter()
                    .flat_map(StateOp::writes)
                    .map(|(at, n)| {
                        self.p.size += n;
                        (self.p.size - n, at, n)
                    })
                    .collect();
                out.extend(copies.iter().map(|&(q, d, len)| StateOp::Move { q, d, len }));
                members.iter_mut().for_each(|op| op.redirect(&copies));
            }
            out.extend(members);
        }
        self.p.states = out;
    }
}
