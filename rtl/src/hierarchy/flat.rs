//! Flattens the modules below a top, with identical instances side by side.
//!
//! **Problem.** An array has thousands of instances of one module. Elaborating each by itself would make checks and
//! simulation slow, although all of them do the same.
//!
//! **Terms.** A *context* is a module with a number of *lanes*. All instances of one module in one parent share a
//! context: each is an *element* of it, and has one lane for each lane of the parent. A *value* is a node of a context;
//! it has one word (or several) for each lane. A *view* is a range of bits of a value from a lane onwards.
//!
//! **Method.** `Flat::new` makes contexts from the top down. `trace` follows bits through wiring (wires, slices,
//! concatenations, ports) to the value that computes them, so wiring costs no operation.
//!
//! **Invariant.** In a context whose parent has `L` lanes, element `e` has lanes `e * L .. (e + 1) * L`, and lane `l`
//! lies below lane `l % L` of the parent. A single instance of its module thus costs no lanes.
//!
//! ```text
//! top                      context 0, 1 lane
//! ├ c0: cluster ┐          context 1, 2 lanes: c0 is lane 0, c1 is lane 1
//! └ c1: cluster ┘
//!     └ pe[3]              context 2, 6 lanes: lane 2 e + c is element e of cluster c
//! ```

use crate::netlist::*;
use std::collections::BTreeMap;

/// A context.
pub struct Ctx<'d> {
    pub module: &'d Module,
    pub lanes: u32,
    /// Value id of node 0.
    pub base: u32,
    /// Parent and its number of lanes.
    pub parent: Option<(usize, u32)>,
    /// For each instance: its context and its first element there.
    pub insts: Vec<(usize, u32)>,
    /// For each element of this context: its instance in the parent and its index within the grid.
    pub elements: Vec<(u32, u32)>,
    /// For each input node: its position among the module's inputs.
    input_of: BTreeMap<NodeId, u32>,
}

/// The hierarchy below a top module.
pub struct Flat<'d> {
    pub ctxs: Vec<Ctx<'d>>,
    /// Context of every value.
    pub owner: Vec<u32>,
}

/// Bits `lo .. lo + w` of a value, from lane `lane` onwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    pub val: u32,
    pub lane: u32,
    pub lo: u32,
    pub w: u32,
}

/// A trace of more steps goes in circles.
const TRACE_LIMIT: u32 = 100_000;

impl<'d> Flat<'d> {
    /// Flattens `top`; everything in the design has a driver.
    pub fn new(d: &'d Netlist, top: &'d Module) -> Self {
        let mut f = Flat { ctxs: vec![], owner: vec![] };
        f.add_context(d, top, 1, None, vec![]);
        f
    }

    fn add_context(
        &mut self,
        d: &'d Netlist,
        module: &'d Module,
        lanes: u32,
        parent: Option<(usize, u32)>,
        elements: Vec<(u32, u32)>,
    ) -> usize {
        let id = self.ctxs.len();
        let base = self.owner.len() as u32;
        self.owner.extend(module.nodes.iter().map(|_| id as u32));
        let input_of = module.inputs.iter().enumerate().map(|(k, &n)| (n, k as u32)).collect();
        let insts = vec![(usize::MAX, 0); module.insts.len()];
        self.ctxs.push(Ctx { module, lanes, base, parent, insts, elements, input_of });
        let mut groups: BTreeMap<&ModuleName, Vec<usize>> = BTreeMap::new();
        for (k, i) in module.insts.iter().enumerate() {
            groups.entry(&i.module).or_default().push(k);
        }
        for (name, members) in groups {
            let Some(child) = d.get(name) else { continue };
            let mut elements = vec![];
            let mut first = vec![];
            for &k in &members {
                first.push((k, elements.len() as u32));
                elements.extend((0..module.insts[k].count()).map(|p| (k as u32, p)));
            }
            let c = self.add_context(d, child, elements.len() as u32 * lanes, Some((id, lanes)), elements);
            for (k, e) in first {
                self.ctxs[id].insts[k] = (c, e);
            }
        }
        id
    }

    /// Value of a node.
    pub fn val(&self, ctx: usize, node: NodeId) -> u32 {
        self.ctxs[ctx].base + node.0
    }

    /// Context and node of a value.
    pub fn node_of(&self, val: u32) -> (usize, NodeId) {
        let c = self.owner[val as usize] as usize;
        (c, NodeId(val - self.ctxs[c].base))
    }

    /// Netlist node of a value.
    pub fn node(&self, val: u32) -> &'d Node {
        let (c, n) = self.node_of(val);
        self.ctxs[c].module.node(n)
    }

    /// Lanes of a value.
    pub fn lanes(&self, val: u32) -> u32 {
        self.ctxs[self.owner[val as usize] as usize].lanes
    }

    /// The assertions below the top, with their contexts.
    pub fn asserts(&self) -> impl Iterator<Item = (usize, &'d Assert)> + '_ {
        self.ctxs.iter().enumerate().flat_map(|(c, ctx)| ctx.module.asserts.iter().map(move |a| (c, a)))
    }

    /// Hierarchical name of a value in one lane.
    pub fn path(&self, val: u32, lane: u32) -> String {
        let (c, n) = self.node_of(val);
        self.path_below(c, lane, self.node(val).name.clone().unwrap_or_else(|| format!("n{}", n.0)))
    }

    /// Hierarchical name of a memory in one lane.
    pub fn mem_path(&self, ctx: usize, mem: MemId, lane: u32) -> String {
        self.path_below(ctx, lane, self.ctxs[ctx].module.mems[mem.0 as usize].name.clone())
    }

    /// Hierarchical name of an instance of a context's module; the module's name for the top.
    pub fn instance(&self, ctx: usize, lane: u32) -> String {
        let path = self.path_below(ctx, lane, String::new());
        path.strip_suffix('.').map_or_else(|| self.ctxs[ctx].module.name.to_string(), String::from)
    }

    fn path_below(&self, ctx: usize, lane: u32, name: String) -> String {
        let (mut c, mut lane, mut out) = (ctx, lane, name);
        while let Some((p, lanes)) = self.ctxs[c].parent {
            let (inst, at) = self.ctxs[c].elements[(lane / lanes) as usize];
            let inst = &self.ctxs[p].module.insts[inst as usize];
            let index = inst.grid.map_or(String::new(), |[_, n1]| format!("[{}][{}]", at / n1, at % n1));
            out = format!("{}{index}.{out}", inst.name);
            (c, lane) = (p, lane % lanes);
        }
        out
    }

    /// Follows the bits of `v`, in lanes `v.lane .. v.lane + n` together, to the value that computes them. None if the
    /// wiring goes in circles.
    pub fn trace(&self, v: View, n: u32) -> Option<View> {
        let (mut c, mut node) = self.node_of(v.val);
        let (mut lane, mut lo, w) = (v.lane, v.lo, v.w);
        for _ in 0..TRACE_LIMIT {
            let ctx = &self.ctxs[c];
            match &ctx.module.node(node).op {
                Op::Wire { driver: Some(a) } | Op::Cast(a) => node = *a,
                Op::Resize(a) if lo + w <= ctx.module.ty(*a).w => node = *a,
                Op::Slice(a, l) => {
                    node = *a;
                    lo += l;
                }
                Op::Concat(parts) => match part_of(ctx.module, parts, lo, w) {
                    Some((p, l)) => (node, lo) = (p, l),
                    None => break,
                },
                Op::InstOut(i, port) => {
                    let (cc, first) = ctx.insts[i.0 as usize];
                    let child = &self.ctxs[cc];
                    let out = child.module.outputs[*port as usize].1;
                    let pw = child.module.ty(out).w;
                    if (lo + w - 1) / pw != lo / pw {
                        break;
                    }
                    lane += (first + lo / pw) * ctx.lanes;
                    (c, node, lo) = (cc, out, lo % pw);
                }
                Op::Input => {
                    let Some((pc, lanes)) = ctx.parent else { break };
                    let e = lane / lanes;
                    if (lane + n - 1) / lanes != e {
                        break;
                    }
                    let (inst, p) = ctx.elements[e as usize];
                    let port = ctx.input_of[&node] as usize;
                    let (_, ty, conn) = &self.ctxs[pc].module.insts[inst as usize].ins[port];
                    match conn {
                        Conn::All(x) => node = *x,
                        Conn::Bus(x) => {
                            node = *x;
                            lo += p * ty.w;
                        }
                        Conn::Open => break,
                    }
                    (c, lane) = (pc, lane % lanes);
                }
                _ => break,
            }
            let at = View { val: self.val(c, node), lane, lo, w };
            if at == v {
                return None;
            }
        }
        let at = View { val: self.val(c, node), lane, lo, w };
        let is_wiring = matches!(self.node(at.val).op, Op::Wire { .. } | Op::Cast(_) | Op::Slice(..));
        (!is_wiring).then_some(at)
    }
}

/// The part of a concatenation that holds all bits `lo .. lo + w`, and the position of their lowest bit there.
fn part_of(m: &Module, parts: &[NodeId], lo: u32, w: u32) -> Option<(NodeId, u32)> {
    let mut at = 0;
    for &p in parts.iter().rev() {
        let pw = m.ty(p).w;
        if lo < at + pw {
            return (lo + w <= at + pw).then_some((p, lo - at));
        }
        at += pw;
    }
    None
}
