//! Operands of the hardware's operators: their effective types, their sources, and the nodes that are built at all.

use crate::vsa::{Node, NodeId, Op, Vsa};
use scop::{BinaryOp, ScalarType};

/// The narrowest type that holds every value of the node: the source's type of a widening cast, the width of a
/// constant. Multipliers are built for this type. Example: `(int)a * 5` with `int8_t a` multiplies 8 by 3 bits.
pub fn effective_type(nodes: &[Node], id: NodeId) -> ScalarType {
    let node = &nodes[id.index()];
    let ScalarType::Int { bits, signed } = node.ty else { return node.ty };
    match &node.op {
        Op::Cast(source) => match effective_type(nodes, *source) {
            ScalarType::Int { bits: b, signed: s } if (s == signed && b <= bits) || (!s && b < bits) => {
                ScalarType::Int { bits: b, signed: s }
            }
            _ => node.ty,
        },
        Op::Const(value) => narrowest(&[*value], bits, signed),
        Op::Lookup(table, _) => narrowest(table, bits, signed),
        _ => node.ty,
    }
}

/// The narrowest type of these numbers, which are given in `bits` bits. It is signed if one of them is negative.
fn narrowest(numbers: &[u64], bits: u32, signed: bool) -> ScalarType {
    let (negative, positive): (Vec<u64>, Vec<u64>) =
        numbers.iter().partition(|&n| signed && bits > 0 && n >> (bits - 1) & 1 == 1);
    let below = negative.iter().map(|&n| negative_bits(n, bits)).max();
    let above = positive.iter().map(|n| (64 - n.leading_zeros()).max(1) + u32::from(below.is_some())).max();
    ScalarType::Int { bits: below.max(above).unwrap_or(bits).min(bits), signed: below.is_some() }
}

/// Least width of the two's complement encoding of a negative number given in `bits` bits.
fn negative_bits(value: u64, bits: u32) -> u32 {
    let extended = ((value << (64 - bits)) as i64) >> (64 - bits);
    65 - (!extended as u64).leading_zeros()
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
