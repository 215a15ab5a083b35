//! Operands of the hardware's operators: their effective types, their sources, and the nodes that are built at all.

use crate::vsa::{Node, NodeId, Op, Vsa};
use scop::value::narrow;
use scop::{BinaryOp, ScalarType};
use uniform::affine::Form;

/// The narrowest type that holds every value of the node: the source's type of a widening cast, the width of a
/// constant. Multipliers are built for this type. Example: `(int)a * 5` with `int8_t a` multiplies 8 by 3 bits.
pub fn effective_type(nodes: &[Node], id: NodeId) -> ScalarType {
    let node = &nodes[id.index()];
    if node.ty.is_float() {
        return node.ty;
    }
    match &node.op {
        Op::Cast(source) => narrow::of_cast(effective_type(nodes, *source), node.ty),
        Op::Const(value) => narrow::of_numbers(&[*value], node.ty),
        Op::Lookup(table, _) => narrow::of_numbers(table, node.ty),
        _ => node.ty,
    }
}

/// The node that an operand is wired to: a multiplication reads the source of a widening cast.
pub fn operand_source(vsa: &Vsa, consumer: NodeId, index: usize, operand: NodeId) -> (NodeId, ScalarType) {
    let multiplies = match vsa.node(consumer).op {
        Op::Binary(BinaryOp::Mul, ..) => true,
        Op::Fma(..) => index < 2,
        _ => false,
    };
    if !multiplies || vsa.node(operand).ty.is_float() {
        return (operand, vsa.node(operand).ty);
    }
    let ty = effective_type(&vsa.nodes, operand);
    let mut at = operand;
    while let Op::Cast(source) = vsa.node(at).op {
        if effective_type(&vsa.nodes, source) != ty {
            break;
        }
        at = source;
    }
    (at, ty)
}

/// The enable travels with the control of the collectors and does not pass through the PE.
pub fn travels(vsa: &Vsa, enable: NodeId) -> bool {
    let op = &vsa.node(enable).op;
    matches!(op, Op::Const(_)) || matches!(op, Op::Guard(_)) && op.is_control()
}

/// A form over the counters has one value in all waves of a run, and only one run has waves in the array. What it decides
/// needs no registers to arrive with its wave: it is there before the first one, and stays.
pub fn is_fixed(vsa: &Vsa, form: &Form) -> bool {
    !vsa.overlap && form.counters.iter().skip(vsa.parameters()).all(|c| *c == 0)
}

/// Per node: it has one value at a PE in all waves of a run, see [`is_fixed`].
pub fn fixed_nodes(vsa: &Vsa) -> Vec<bool> {
    let mut fixed = vec![false; vsa.nodes.len()];
    for (n, node) in vsa.nodes.iter().enumerate() {
        fixed[n] = match &node.op {
            Op::Const(_) => true,
            Op::Guard(all) => all.iter().all(|c| is_fixed(vsa, &c.form)),
            Op::Iter(form) => is_fixed(vsa, form),
            Op::Input { .. } | Op::Past { .. } | Op::Scalar(_) => false,
            op => op.operands().iter().all(|o| o.index() < n && fixed[o.index()]),
        };
    }
    fixed
}

/// Nodes that a stored value depends on.
pub fn live_nodes(vsa: &Vsa) -> Vec<bool> {
    let mut live = vec![false; vsa.nodes.len()];
    let ports = vsa.outputs.iter().flat_map(|g| &g.ports);
    let mut stack: Vec<NodeId> =
        ports.flat_map(|p| if travels(vsa, p.enable) { vec![p.value] } else { vec![p.value, p.enable] }).collect();
    while let Some(id) = stack.pop() {
        if std::mem::replace(&mut live[id.index()], true) {
            continue;
        }
        match &vsa.node(id).op {
            Op::Past { source, .. } => stack.push(*source),
            op => stack.extend(op.operands().into_iter().enumerate().map(|(k, o)| operand_source(vsa, id, k, o).0)),
        }
    }
    live
}

/// The terms that replace a product with this constant modulo 2^`bits`: shifts of the other factor, and whether the
/// term is subtracted. Canonical signed digits, which are the fewest; `None` for more than three. Example: 7 = 8 - 1 is
/// `[(0, true), (3, false)]`.
pub fn digits(constant: u64, bits: u32) -> Option<Vec<(u32, bool)>> {
    let mut rest = u128::from(constant) & (u128::MAX >> (128 - bits));
    let mut all = vec![];
    for shift in 0..bits {
        if rest >> shift & 1 == 0 {
            continue;
        }
        let negative = rest >> shift & 3 == 3;
        rest = if negative { rest + (1 << shift) } else { rest - (1 << shift) };
        // The top digit and its negative are equal modulo 2^bits.
        all.push((shift, negative && shift + 1 < bits));
    }
    (all.len() <= 3).then_some(all)
}
