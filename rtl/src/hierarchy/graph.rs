//! The dependence graph of live values, and the order in which they settle.
//!
//! Values are sorted whole, all lanes together. A cycle of values need not be one of the hardware: a ready signal
//! through a chain of identical modules is one value that reads itself, lane by lane. The values of such a cycle are
//! sorted lane by lane. A cycle that remains is a combinational loop.

use super::def::{Def, Graph, Kind, Source, Step};
use super::flat::{Flat, View};
use crate::netlist::*;
use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;

impl Flat<'_> {
    fn define(&self, val: u32) -> Result<Def, Fault> {
        let (c, node) = self.node_of(val);
        let ctx = &self.ctxs[c];
        let w = ctx.module.ty(node).w;
        let part = |id: NodeId, dst_lo: u32| -> Result<Source, Fault> {
            let view = self.traced(self.whole(self.val(c, id)), ctx.lanes)?;
            Ok(Source { view, n: ctx.lanes, broadcast: false, dst_lane: 0, dst_lo })
        };
        if let Some(sources) = self.select(c, node)? {
            return Ok(Def { kind: Kind::Select, sources });
        }
        let (kind, sources) = match &ctx.module.node(node).op {
            Op::Lit(_) | Op::Reg { .. } | Op::ReadSync { .. } | Op::Poison => (Kind::State, vec![]),
            Op::Input if ctx.parent.is_none() => (Kind::State, vec![]),
            Op::Input => (Kind::Assemble, self.gather(val, w)?),
            Op::Concat(parts) => {
                let (mut at, mut v) = (0, vec![]);
                for &p in parts.iter().rev() {
                    v.push(part(p, at)?);
                    at += ctx.module.ty(p).w;
                }
                (Kind::Assemble, v)
            }
            Op::InstOut(i, port) => {
                let pw = ctx.module.insts[i.0 as usize].outs[*port as usize].1.w;
                let mut v = vec![];
                for lo in (0..w).step_by(pw as usize) {
                    let view = self.traced(View { val, lane: 0, lo, w: pw }, ctx.lanes)?;
                    v.push(Source { view, n: ctx.lanes, broadcast: false, dst_lane: 0, dst_lo: lo });
                }
                (Kind::Assemble, v)
            }
            Op::Resize(a) if ctx.module.ty(*a).w < w => {
                (Kind::Extend { signed: ctx.module.ty(*a).signed }, vec![part(*a, 0)?])
            }
            Op::Wire { .. } | Op::Cast(_) | Op::Slice(..) | Op::Resize(_) => (Kind::Assemble, vec![part(node, 0)?]),
            op => {
                let v: Result<Vec<_>, _> = op.comb_operands().into_iter().map(|a| self.operand(c, a)).collect();
                (Kind::Operator, v?)
            }
        };
        Ok(Def { kind, sources })
    }

    /// The sources of an input port, element by element.
    fn gather(&self, val: u32, w: u32) -> Result<Vec<Source>, Fault> {
        let lanes = self.lanes(val);
        let (c, _) = self.node_of(val);
        let step = self.ctxs[c].parent.map_or(lanes, |p| p.1);
        let mut out: Vec<Source> = vec![];
        for lane in (0..lanes).step_by(step as usize) {
            let view = self.traced(View { val, lane, lo: 0, w }, step)?;
            match out.last_mut() {
                Some(p) if !p.broadcast && p.view == (View { lane: view.lane.wrapping_sub(p.n), ..view }) => {
                    p.n += step
                }
                Some(p) if step == 1 && p.view == view && (p.broadcast || p.n == 1) => {
                    p.broadcast = true;
                    p.n += 1;
                }
                _ => out.push(Source { view, n: step, broadcast: false, dst_lane: lane, dst_lo: 0 }),
            }
        }
        Ok(out)
    }

    /// The graph of the values below the top's outputs and all assertions. `all_outputs` includes the outputs of every
    /// module. `guarded` computes guards.
    pub fn graph(&self, all_outputs: bool, guarded: bool) -> Result<Graph, Vec<Fault>> {
        let roots = if all_outputs { self.ctxs.len() } else { 1 };
        let mut work: Vec<u32> = vec![];
        let mut g = Graph { defs: BTreeMap::new(), mems: vec![], guards: BTreeMap::new(), order: vec![] };
        let mut faults = vec![];
        let outputs = |c: usize| self.ctxs[c].module.outputs.iter().map(move |o| (c, o.1));
        for (c, id) in (0..roots).flat_map(outputs) {
            match if c == 0 { self.output(id) } else { self.operand(c, id) } {
                Ok(s) => work.push(s.view.val),
                Err(f) => faults.push(f),
            }
        }
        if !all_outputs {
            work.extend(self.asserts().map(|(c, a)| self.val(c, a.broken)));
        }
        let outputs = work.clone();
        while let Some(val) = work.pop() {
            if g.defs.contains_key(&val) {
                continue;
            }
            match self.define(val) {
                Ok(def) => {
                    work.extend(def.sources.iter().map(|s| s.view.val));
                    g.defs.insert(val, def);
                }
                Err(f) => {
                    faults.push(f);
                    g.defs.insert(val, Def { kind: Kind::State, sources: vec![] });
                }
            }
            let (c, node) = self.node_of(val);
            for id in self.edge_reads(c, node, &mut g.mems) {
                match self.operand(c, id) {
                    Ok(s) => work.push(s.view.val),
                    Err(f) => faults.push(f),
                }
            }
        }
        if guarded && faults.is_empty() {
            match self.guards(&g.defs, &g.mems, &outputs) {
                Ok(guards) => g.guards = guards,
                Err(f) => faults.push(f),
            }
        }
        if faults.is_empty() {
            faults = self.sort(&mut g);
        }
        if faults.is_empty() {
            Ok(g)
        } else {
            Err(faults)
        }
    }

    /// Nodes that this node samples at the clock edge, through its memory as well; collects memories.
    fn edge_reads(&self, c: usize, node: NodeId, mems: &mut Vec<(usize, MemId)>) -> Vec<NodeId> {
        let module = self.ctxs[c].module;
        let op = &module.node(node).op;
        let mut out = op.edge_operands();
        if let Op::ReadAsync { mem, .. } | Op::ReadSync { mem, .. } = op {
            if !mems.contains(&(c, *mem)) {
                mems.push((c, *mem));
                for p in &module.mems[mem.0 as usize].writes {
                    out.extend([p.en, p.addr, p.data]);
                    out.extend(p.lanes.map(|l| l.0));
                }
            }
        }
        out
    }

    fn sort(&self, g: &mut Graph) -> Vec<Fault> {
        let mut groups = components(g);
        // Members of a cycle lose their guards, which may have closed it.
        loop {
            let before = g.guards.len();
            for val in groups.iter().filter(|c| c.cyclic).flat_map(|c| &c.members) {
                g.guards.remove(val);
            }
            if g.guards.len() == before {
                break;
            }
            groups = components(g);
        }
        let mut faults = vec![];
        for Component { members, cyclic } in groups {
            if cyclic {
                match self.sort_lanes(&g.defs, &members) {
                    Ok(steps) => g.order.extend(steps),
                    Err(f) => faults.push(f),
                }
            } else if !matches!(g.defs[&members[0]].kind, Kind::State) {
                g.order.push(Step { val: members[0], lane: 0, n: self.lanes(members[0]) });
            }
        }
        faults
    }

    /// Sorts a cycle of values lane by lane.
    fn sort_lanes(&self, defs: &BTreeMap<u32, Def>, members: &[u32]) -> Result<Vec<Step>, Fault> {
        let mut first: BTreeMap<u32, usize> = BTreeMap::new();
        let mut items: Vec<(u32, u32)> = vec![];
        for &v in members {
            first.insert(v, items.len());
            items.extend((0..self.lanes(v)).map(|l| (v, l)));
        }
        let mut dg: DiGraph<(), ()> = DiGraph::with_capacity(items.len(), items.len() * 2);
        items.iter().for_each(|_| {
            dg.add_node(());
        });
        for &v in members {
            for s in &defs[&v].sources {
                let Some(src) = first.get(&s.view.val) else { continue };
                for k in 0..s.n {
                    let dst = first[&v] + (s.dst_lane + k) as usize;
                    dg.add_edge(NodeIndex::new(dst), NodeIndex::new(src + s.lane(k) as usize), ());
                }
            }
        }
        let mut out = vec![];
        for scc in tarjan_scc(&dg) {
            if scc.len() > 1 || dg.find_edge(scc[0], scc[0]).is_some() {
                let path: Vec<_> = scc.iter().rev().map(|i| items[i.index()]).collect();
                return Err(self.loop_fault(&path));
            }
            let (val, lane) = items[scc[0].index()];
            out.push(Step { val, lane, n: 1 });
        }
        Ok(out)
    }
}

/// A strongly connected component: a cycle of values, or one value.
struct Component {
    members: Vec<u32>,
    cyclic: bool,
}

/// The components in an order in which each value follows its sources and its guard.
fn components(g: &Graph) -> Vec<Component> {
    let vals: Vec<u32> = g.defs.keys().copied().collect();
    let index: BTreeMap<u32, usize> = vals.iter().enumerate().map(|(i, &v)| (v, i)).collect();
    let mut dg: DiGraph<(), ()> = DiGraph::with_capacity(vals.len(), vals.len() * 2);
    vals.iter().for_each(|_| {
        dg.add_node(());
    });
    for (i, v) in vals.iter().enumerate() {
        for source in g.defs[v].sources.iter().map(|s| &s.view.val).chain(g.guards.get(v)) {
            // Edges point from readers to sources, so Tarjan returns sources first.
            dg.add_edge(NodeIndex::new(i), NodeIndex::new(index[source]), ());
        }
    }
    let component = |scc: Vec<NodeIndex>| Component {
        cyclic: scc.len() > 1 || dg.find_edge(scc[0], scc[0]).is_some(),
        members: scc.iter().map(|i| vals[i.index()]).collect(),
    };
    tarjan_scc(&dg).into_iter().map(component).collect()
}
