//! What the hardware's operators are joined to: widths and sources of operands, and which nodes are built at all.

use crate::vsa::{Node, NodeId, Op, Vsa};
use scop::{BinaryOp, ScalarType};

/// The narrowest type that holds every value of the node: looks through widening casts and takes a constant's own
/// width. What the multiplier is built for.
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

/// The narrowest type of all these numbers, given in `bits` bits: signed where one is negative.
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

/// The node an operand really comes from: multiplications look through widening casts.
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

/// The enable can travel with the collectors' control instead of passing through the PE.
pub fn travels(vsa: &Vsa, enable: NodeId) -> bool {
    let op = &vsa.node(enable).op;
    matches!(op, Op::Const(_)) || matches!(op, Op::Guard(_)) && op.is_control()
}

/// Nodes that something stored depends on.
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

/// What a product with this constant adds up, modulo 2^`bits`, instead of a multiplier: shifts of the other factor,
/// with the terms that are subtracted marked. The fewest there are (canonical signed digits); nothing where they are
/// more than three.
pub fn digits(constant: u64, bits: u32) -> Option<Vec<(u32, bool)>> {
    let mut rest = u128::from(constant) & (u128::MAX >> (128 - bits));
    let mut all = vec![];
    for shift in 0..bits {
        if rest >> shift & 1 == 0 {
            continue;
        }
        let negative = rest >> shift & 3 == 3;
        rest = if negative { rest + (1 << shift) } else { rest - (1 << shift) };
        // At the top, a digit and its negative are the same.
        all.push((shift, negative && shift + 1 < bits));
    }
    (all.len() <= 3).then_some(all)
}
