//! The table of nodes with blocks in the place of their sums.

use super::find::{Block, Factor};
use super::layout::Side;
use crate::contract::packed::ACCUMULATOR;
use crate::draft::Lowered;
use crate::vsa::{Node, NodeId, Op};
use rustc_hash::FxHashMap;
use scop::value::Field;
use scop::{BinaryOp, ScalarType};
use std::collections::{BTreeMap, BTreeSet};

const WIDE: ScalarType = ScalarType::Int { bits: ACCUMULATOR, signed: true };

/// A type that holds all integers of the field: their sign is asked for, even where sums are narrower.
fn field_type(field: Field, sum: ScalarType) -> ScalarType {
    if sum.bits() > field.bits {
        sum
    } else {
        ScalarType::Int { bits: field.bits + 1, signed: true }
    }
}

/// `None` without blocks, or if they need each other.
pub fn rewrite(lowered: &Lowered, blocks: &[Block]) -> Option<Lowered> {
    if blocks.is_empty() {
        return None;
    }
    let mut new = Rewrite {
        old: lowered,
        blocks,
        roots: BTreeMap::new(),
        muxes: lowered.muxes.iter().copied().collect(),
        nodes: vec![],
        at: vec![At::Nowhere; lowered.nodes.len()],
        sums: vec![vec![]; blocks.len()],
        known: FxHashMap::default(),
        at_once: BTreeSet::new(),
    };
    for (b, block) in blocks.iter().enumerate() {
        new.roots.extend(block.sums.iter().enumerate().map(|(k, sum)| (sum.root, (b, k))));
    }
    let inner: BTreeSet<NodeId> = blocks.iter().flat_map(Block::inner).collect();
    let kept = |id: &NodeId| new.roots.contains_key(id) || !inner.contains(id);
    let kept: Vec<NodeId> = (0..lowered.nodes.len() as u32).map(NodeId).filter(kept).collect();
    for id in kept {
        new.emit(id)?;
    }
    Some(pruned(new.finish()?))
}

#[derive(Clone, Copy)]
enum At {
    Nowhere,
    /// Its operands are being emitted.
    Open,
    Node(NodeId),
}

struct Rewrite<'a> {
    old: &'a Lowered,
    blocks: &'a [Block],
    /// Per root of a sum: its block, and which of its sums it is.
    roots: BTreeMap<NodeId, (usize, usize)>,
    muxes: BTreeSet<NodeId>,
    nodes: Vec<Node>,
    at: Vec<At>,
    /// Per block, the sums without what else is added, once they are emitted.
    sums: Vec<Vec<NodeId>>,
    /// New nodes by operation and type, so that blocks share their factors.
    known: FxHashMap<(Op, ScalarType), NodeId>,
    /// New nodes without a register of their own.
    at_once: BTreeSet<NodeId>,
}

impl Rewrite<'_> {
    fn push(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        self.nodes.push(Node { op, ty, name: name.to_string() });
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// A new node, unless there is an equal one.
    fn add(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        if let Some(&known) = self.known.get(&(op.clone(), ty)) {
            return known;
        }
        let id = self.push(op.clone(), ty, name);
        self.known.insert((op, ty), id);
        id
    }

    fn cast(&mut self, value: NodeId, ty: ScalarType) -> NodeId {
        match self.nodes[value.index()] {
            Node { ty: own, .. } if own == ty => value,
            Node { op: Op::Const(bits), ty: own, .. } => {
                self.add(Op::Const(scop::value::cast(bits, own, ty)), ty, "constant")
            }
            _ => self.add(Op::Cast(value), ty, ""),
        }
    }

    /// The new node of an old one; `None` if it is computed from itself.
    fn emit(&mut self, id: NodeId) -> Option<NodeId> {
        match self.at[id.index()] {
            At::Node(at) => return Some(at),
            At::Open => return None,
            At::Nowhere => self.at[id.index()] = At::Open,
        }
        let Node { op, ty, name } = &self.old.nodes[id.index()];
        let at = match (self.roots.get(&id).copied(), op) {
            (Some((b, k)), _) => self.root(b, k)?,
            // The sources of delayed values come later.
            (None, Op::Past { .. }) => self.push(op.clone(), *ty, name),
            _ => {
                for operand in op.operands() {
                    self.emit(operand)?;
                }
                let op = op.with_operands(|operand| self.done(operand));
                self.push(op, *ty, name)
            }
        };
        self.at[id.index()] = At::Node(at);
        Some(at)
    }

    /// Where a node is that was emitted.
    fn done(&self, old: NodeId) -> NodeId {
        match self.at[old.index()] {
            At::Node(at) => at,
            At::Nowhere | At::Open => NodeId(u32::MAX),
        }
    }

    /// A sum of a block, and what else is added to it: a sum of an earlier wave comes last.
    fn root(&mut self, b: usize, k: usize) -> Option<NodeId> {
        let sum = &self.blocks[b].sums[k];
        let alone = sum.others.is_empty();
        let total = self.sum(b, k, alone)?;
        let mut others = vec![];
        for &other in &sum.others {
            others.push(self.emit(other)?);
        }
        let name = &self.old.nodes[sum.root.index()].name;
        let all = others.into_iter().rev();
        Some(all.fold(total, |total, other| self.push(Op::Binary(BinaryOp::Add, other, total), sum.ty, name)))
    }

    fn sum(&mut self, b: usize, k: usize, alone: bool) -> Option<NodeId> {
        if self.sums[b].is_empty() {
            self.sums[b] = self.block(b)?;
        }
        let total = self.sums[b][k];
        // A carry that no further addition takes needs an adder of its own.
        if alone && matches!(self.nodes[total.index()].op, Op::Binary(BinaryOp::Add, ..)) {
            self.at_once.remove(&total);
        }
        Some(total)
    }

    /// The products of a block in chains of slices, and the sums that their fields are.
    fn block(&mut self, b: usize) -> Option<Vec<NodeId>> {
        let block = &self.blocks[b];
        let terms = block.factors[0][0].len();
        let ty = block.sums[0].ty;
        let mut totals = vec![None; block.sums.len()];
        // Fields are added in as few bits as hold their sums.
        let narrow = block.layout.sum_type(terms).filter(|n| n.bits() < ty.bits()).unwrap_or(ty);
        for first in (0..terms).step_by(block.layout.terms) {
            let chain = self.chain(block, first..(first + block.layout.terms).min(terms))?;
            let mut fields = vec![];
            for f in &block.layout.fields {
                fields.push(self.add(Op::Field(chain, *f), field_type(*f, ty), "field"));
            }
            for (at, place) in block.layout.places.iter().flatten().enumerate() {
                let carry = (block.layout.borrows && *place > 0).then(|| self.is_negative(fields[place - 1]));
                let field = self.cast(fields[*place], narrow);
                totals[at] = Some(match totals[at] {
                    None => (field, carry),
                    Some(before) => {
                        let before = self.carried(before, narrow);
                        (self.push(Op::Binary(BinaryOp::Add, before, field), narrow, "sum"), carry)
                    }
                });
            }
        }
        let mut all = vec![];
        for total in totals {
            let (total, carry) = total?;
            let total = self.cast(total, ty);
            all.push(self.carried((total, carry), ty));
        }
        Some(all)
    }

    fn is_negative(&mut self, field: NodeId) -> NodeId {
        let ty = self.nodes[field.index()].ty;
        let signed = ScalarType::Int { bits: ty.bits(), signed: true };
        let (field, zero) = (self.cast(field, signed), self.add(Op::Const(0), signed, "zero"));
        let negative = self.add(Op::Binary(BinaryOp::Lt, field, zero), ScalarType::BOOL, "negative");
        self.at_once.insert(negative);
        negative
    }

    /// A sum with the carry that it lacks: the carry of the adder behind it.
    fn carried(&mut self, (sum, carry): (NodeId, Option<NodeId>), ty: ScalarType) -> NodeId {
        let Some(carry) = carry else { return sum };
        let carry = self.cast(carry, ty);
        let sum = self.push(Op::Binary(BinaryOp::Add, sum, carry), ty, "sum");
        self.at_once.insert(sum);
        sum
    }

    /// The sum of some terms, all of them in one number.
    fn chain(&mut self, block: &Block, terms: std::ops::Range<usize>) -> Option<NodeId> {
        // A cascade begins with a product alone.
        let mut sum = self.add(Op::Const(0), WIDE, "zero");
        for term in terms {
            let mut factors = vec![];
            for (side, lists) in block.layout.sides.iter().zip(&block.factors) {
                let integers: Vec<Factor> = lists.iter().map(|list| list[term]).collect();
                factors.push(self.factor(side, &integers)?);
            }
            // Its own width, so that tools need not find out which bits are copies of the sign.
            let ty = ScalarType::Int { bits: factors.iter().map(|f| self.signed_bits(*f)).sum(), signed: true };
            let [a, b] = [self.cast(factors[0], ty), self.cast(factors[1], ty)];
            let product = self.push(Op::Binary(BinaryOp::Mul, a, b), ty, "products");
            let product = self.cast(product, WIDE);
            sum = self.push(Op::Binary(BinaryOp::Add, sum, product), WIDE, "sums");
        }
        Some(sum)
    }

    fn factor(&mut self, side: &Side, all: &[Factor]) -> Option<NodeId> {
        if let [one] = all {
            let value = self.emit(one.node)?;
            return Some(self.cast(value, one.ty));
        }
        let guard = self.guard(all);
        let mut integers = vec![];
        for factor in all {
            let node = if guard.is_some() { self.guarded(factor.node)?.1 } else { factor.node };
            let value = self.emit(node)?;
            integers.push(self.cast(value, side.integer));
        }
        let ty = side.narrow_type();
        let name = self.nodes[integers[0].index()].name.clone();
        let mut joined = self.add(Op::Join { integers, step: side.narrow_step() }, ty, &name);
        if let Some(when) = guard {
            let (when, zero) = (self.emit(when)?, self.add(Op::Const(0), ty, "zero"));
            joined = self.add(Op::Select(when, joined, zero), ty, &name);
            self.at_once.insert(joined);
        }
        Some(self.add(Op::Spread(joined, side.spread()), side.wide_type(), &name))
    }

    /// Bits of the node as a signed integer.
    fn signed_bits(&self, id: NodeId) -> u32 {
        let ty = self.nodes[id.index()].ty;
        ty.bits() + u32::from(!ty.signed())
    }

    /// The condition that all the factors have, where it zeroes them.
    fn guard(&self, all: &[Factor]) -> Option<NodeId> {
        let (when, _) = self.guarded(all[0].node)?;
        all.iter().all(|f| self.guarded(f.node).is_some_and(|g| g.0 == when)).then_some(when)
    }

    /// `when ? value : 0` of the old table.
    fn guarded(&self, id: NodeId) -> Option<(NodeId, NodeId)> {
        match self.old.nodes[id.index()].op {
            Op::Select(when, value, zero)
                if self.muxes.contains(&id) && matches!(self.old.nodes[zero.index()].op, Op::Const(0)) =>
            {
                Some((when, value))
            }
            _ => None,
        }
    }

    fn finish(mut self) -> Option<Lowered> {
        for n in 0..self.nodes.len() {
            if let Op::Past { source, .. } = self.nodes[n].op {
                let at = self.done(source);
                if let Op::Past { source, .. } = &mut self.nodes[n].op {
                    *source = at;
                }
            }
        }
        let old = self.old;
        let at = |id: &NodeId| match self.at[id.index()] {
            At::Node(at) => Some(at),
            At::Nowhere | At::Open => None,
        };
        let mut outputs = old.outputs.clone();
        for port in outputs.iter_mut().flat_map(|group| &mut group.ports) {
            (port.value, port.enable) = (at(&port.value)?, at(&port.enable)?);
        }
        let mut statements: BTreeMap<NodeId, BTreeSet<usize>> = BTreeMap::new();
        for (id, all) in &old.statements {
            if let Some(id) = at(id) {
                statements.entry(id).or_default().extend(all);
            }
        }
        let muxes = old.muxes.iter().filter_map(at).chain(self.at_once.iter().copied()).collect();
        Some(Lowered { nodes: self.nodes, outputs, statements, muxes, ..old.clone() })
    }
}

/// Without nodes that nothing is computed from, but with all inputs.
fn pruned(lowered: Lowered) -> Lowered {
    let mut live = vec![false; lowered.nodes.len()];
    let is_input = |n: &usize| matches!(lowered.nodes[*n].op, Op::Input { .. });
    let mut open: Vec<NodeId> = (0..live.len()).filter(is_input).map(|n| NodeId(n as u32)).collect();
    let ports = lowered.outputs.iter().flat_map(|group| &group.ports);
    open.extend(ports.flat_map(|port| [port.value, port.enable]));
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut live[id.index()], true) {
            open.extend(lowered.nodes[id.index()].op.sources());
        }
    }
    let mut at = vec![NodeId(u32::MAX); live.len()];
    for (count, n) in (0..live.len()).filter(|n| live[*n]).enumerate() {
        at[n] = NodeId(count as u32);
    }
    moved(&lowered, |id| at[id.index()], |n| live[n])
}

/// The table with the nodes that are kept, in their order, at their new places.
fn moved(lowered: &Lowered, at: impl Fn(NodeId) -> NodeId, kept: impl Fn(usize) -> bool) -> Lowered {
    let mut new = lowered.clone();
    let mut n = 0;
    new.nodes.retain(|_| {
        n += 1;
        kept(n - 1)
    });
    for node in &mut new.nodes {
        node.op = match &node.op {
            Op::Past { source, hop, waves } => Op::Past { source: at(*source), hop: *hop, waves: waves.clone() },
            op => op.with_operands(&at),
        };
    }
    for port in new.outputs.iter_mut().flat_map(|group| &mut group.ports) {
        (port.value, port.enable) = (at(port.value), at(port.enable));
    }
    let own = |id: &NodeId| kept(id.index());
    new.muxes = lowered.muxes.iter().filter(|id| own(id)).map(|id| at(*id)).collect();
    new.statements =
        lowered.statements.iter().filter(|(id, _)| own(id)).map(|(id, all)| (at(*id), all.clone())).collect();
    new
}
