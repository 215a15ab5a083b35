//! Guards of products move to an operand.
//!
//! Problem: where a loop runs past its end, the term of a sum is zero: `acc + (guard ? a * b : 0)`. This multiplexer
//! stands between the multiplier and the adder of a DSP slice. Then the slice cannot add, and the accumulator takes
//! LUTs and registers of the fabric.
//!
//! Method: `guard ? a * b : 0` becomes `(guard ? a : 0) * b`, which is equal for integers. The multiplexer stands in
//! front of the operand's register, which has a reset.
//!
//! Invariant: only products that nothing else reads are changed, so the number of products stays. Only guards on
//! counters and places move: a condition on data may be late, and the product would wait for it.
//!
//! Example: int8, 14 lanes, one result per PE: 832 LUT with the multiplexers behind the products, none with this pass.

use crate::draft::Lowered;
use crate::vsa::{Node, NodeId, Op};
use scop::{BinaryOp, ScalarType};
use std::collections::BTreeMap;

/// Moves each guard of a product to the product's narrower operand.
pub(super) fn zero_operands(lowered: &mut Lowered) {
    let guarded = guarded(lowered);
    if guarded.is_empty() {
        return;
    }
    let old = std::mem::take(&mut lowered.nodes);
    let mut moved = Moved { old: &old, guarded, new: vec![], at: BTreeMap::new(), zeroed: BTreeMap::new() };
    (0..old.len()).for_each(|n| _ = moved.emit(NodeId(n as u32)));
    let Moved { mut new, at, zeroed, guarded, .. } = moved;
    for node in &mut new {
        if let Op::Past { source, .. } = &mut node.op {
            *source = at[source];
        }
    }
    lowered.nodes = new;
    let stay = lowered.muxes.iter().filter(|mux| !guarded.selects.contains_key(mux));
    lowered.muxes = stay.map(|mux| at[mux]).chain(zeroed.into_values()).collect();
    lowered.statements = std::mem::take(&mut lowered.statements).into_iter().map(|(id, all)| (at[&id], all)).collect();
    for port in lowered.outputs.iter_mut().flat_map(|group| &mut group.ports) {
        (port.value, port.enable) = (at[&port.value], at[&port.enable]);
    }
}

/// A multiplexer `when ? … product … : 0`.
struct Guarded {
    when: NodeId,
    /// What it chooses beside zero: the product, or a conversion of it.
    term: NodeId,
}

/// Per product whose guard moves, the guard; per multiplexer that goes, what stands for it.
#[derive(Default)]
struct All {
    products: BTreeMap<NodeId, NodeId>,
    selects: BTreeMap<NodeId, NodeId>,
}

impl All {
    fn is_empty(&self) -> bool {
        self.products.is_empty()
    }
}

fn guarded(lowered: &Lowered) -> All {
    let nodes = &lowered.nodes;
    let readers = readers(lowered);
    let mut all = All::default();
    for id in (0..nodes.len() as u32).map(NodeId).filter(|id| readers[id.index()] > 0) {
        let Some(Guarded { when, term }) = select(nodes, id) else { continue };
        let mut product = term;
        while let Op::Cast(source) = nodes[product.index()].op {
            if readers[product.index()] != 1 || nodes[source.index()].ty.is_float() {
                break;
            }
            product = source;
        }
        let multiplies = matches!(nodes[product.index()].op, Op::Binary(BinaryOp::Mul, ..));
        if multiplies && readers[product.index()] == 1 {
            all.products.insert(product, when);
            all.selects.insert(id, term);
        }
    }
    all
}

fn select(nodes: &[Node], id: NodeId) -> Option<Guarded> {
    let node = &nodes[id.index()];
    match node.op {
        Op::Select(when, term, zero)
            if !node.ty.is_float()
                && matches!(nodes[zero.index()].op, Op::Const(0))
                && matches!(nodes[when.index()].op, Op::Guard(_)) =>
        {
            Some(Guarded { when, term })
        }
        _ => None,
    }
}

/// How many live nodes and outputs read each node. What nothing live reads has none.
pub(super) fn readers(lowered: &Lowered) -> Vec<usize> {
    let mut readers = vec![0; lowered.nodes.len()];
    let mut open: Vec<NodeId> =
        lowered.outputs.iter().flat_map(|group| &group.ports).flat_map(|port| [port.value, port.enable]).collect();
    while let Some(id) = open.pop() {
        readers[id.index()] += 1;
        if readers[id.index()] == 1 {
            open.extend(lowered.nodes[id.index()].op.sources());
        }
    }
    readers
}

/// The table of nodes while it is written anew, in the old order but for guards, which come before their product.
struct Moved<'a> {
    old: &'a [Node],
    guarded: All,
    new: Vec<Node>,
    /// Where an old node is in the new table.
    at: BTreeMap<NodeId, NodeId>,
    /// By guard and operand (old nodes), the operand that the guard zeroes.
    zeroed: BTreeMap<(NodeId, NodeId), NodeId>,
}

impl Moved<'_> {
    fn push(&mut self, op: Op, ty: ScalarType, name: &str) -> NodeId {
        self.new.push(Node { op, ty, name: name.to_string() });
        NodeId(self.new.len() as u32 - 1)
    }

    fn emit(&mut self, id: NodeId) -> NodeId {
        if let Some(&at) = self.at.get(&id) {
            return at;
        }
        let Node { op, ty, name } = &self.old[id.index()];
        let at = match (self.guarded.selects.get(&id).copied(), self.guarded.products.get(&id).copied(), op) {
            (Some(term), ..) => self.emit(term),
            (_, Some(when), &Op::Binary(BinaryOp::Mul, a, b)) => {
                let factor = if self.bits(b) < self.bits(a) { b } else { a };
                let zeroed = self.zero_unless(when, factor);
                let [a, b] = [a, b].map(|o| if o == factor { zeroed } else { self.emit(o) });
                self.push(Op::Binary(BinaryOp::Mul, a, b), *ty, name)
            }
            // The sources of delayed values come later; `zero_operands` replaces them.
            (.., Op::Past { .. }) => self.push(op.clone(), *ty, name),
            _ => {
                let op = op.with_operands(|operand| self.emit(operand));
                self.push(op, *ty, name)
            }
        };
        self.at.insert(id, at);
        at
    }

    /// The operand, zero where the guard is false: in front of conversions, where it is narrow.
    fn zero_unless(&mut self, when: NodeId, operand: NodeId) -> NodeId {
        let Node { op, ty, name } = &self.old[operand.index()];
        if let Op::Cast(source) = *op {
            if !self.old[source.index()].ty.is_float() {
                let source = self.zero_unless(when, source);
                return self.push(Op::Cast(source), *ty, name);
            }
        }
        if let Some(&zeroed) = self.zeroed.get(&(when, operand)) {
            return zeroed;
        }
        let [guard, value] = [when, operand].map(|o| self.emit(o));
        let zero = self.push(Op::Const(0), *ty, "zero");
        let zeroed = self.push(Op::Select(guard, value, zero), *ty, name);
        self.zeroed.insert((when, operand), zeroed);
        zeroed
    }

    /// Bits of the operand in front of its conversions. A constant stays as it is.
    fn bits(&self, operand: NodeId) -> u32 {
        let node = &self.old[operand.index()];
        match node.op {
            Op::Const(_) => u32::MAX,
            Op::Cast(source) if !self.old[source.index()].ty.is_float() => self.bits(source),
            _ => node.ty.bits(),
        }
    }
}
