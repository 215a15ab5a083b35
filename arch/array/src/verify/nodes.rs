//! Operand order, types, and ports of a PE's nodes.
//!
//! Operands come earlier in the list, so the list is an order of evaluation. Only a `Past` over a wave or a hop may
//! look ahead: its source belongs to another wave or PE.

use crate::contract::packed;
use crate::vsa::{Node, NodeId, Op, Vsa};
use scop::value::Spread;
use scop::{BinaryOp, ScalarType, UnaryOp};

pub(super) fn check(vsa: &Vsa, faults: &mut Vec<String>) {
    for (n, node) in vsa.nodes.iter().enumerate() {
        let elsewhere = node.op.is_delayed() || matches!(node.op, Op::Past { hop, .. } if hop != [0, 0]);
        for source in node.op.sources() {
            if !elsewhere && source.index() >= n {
                faults.push(format!("node %{n} reads %{}, which does not come earlier", source.0));
            }
        }
        if let Err(fault) = types(vsa, node) {
            faults.push(format!("node %{n} ({}): {fault}", node.name));
        }
    }
    if faults.is_empty() {
        let wrong = packed::faults(&vsa.nodes).into_iter();
        faults.extend(wrong.map(|(n, fault)| format!("node %{n} ({}): {fault}", vsa.nodes[n].name)));
    }
    for (g, group) in vsa.inputs.iter().enumerate() {
        for port in 0..group.ports.len() {
            let wanted = Op::Input { group: g as u32, port: port as u32 };
            let count = vsa.nodes.iter().filter(|n| n.op == wanted).count();
            // Nodes read a guest by way of its owner.
            let expected = usize::from(vsa.feeders_of(g) == g);
            if count != expected {
                faults.push(format!("input group {g}: port {port} has {count} nodes, expected {expected}"));
            }
        }
    }
    for (g, group) in vsa.outputs.iter().enumerate() {
        let ty = vsa.arrays[group.array as usize].ty;
        for (k, port) in group.ports.iter().enumerate() {
            if vsa.node(port.value).ty != ty {
                faults.push(format!(
                    "output group {g}: port {k} stores {:?} to an array of {ty:?}",
                    vsa.node(port.value).ty
                ));
            }
            if vsa.node(port.enable).ty != ScalarType::BOOL {
                faults.push(format!("output group {g}: port {k}'s enable is no BOOL"));
            }
        }
    }
}

/// `count` integers at a distance of `step` bits are in a number of `bits` bits.
fn side_by_side(count: usize, step: u32, bits: u32) -> Result<(), String> {
    let steps = count.checked_sub(1).filter(|_| step > 0).and_then(|n| step.checked_mul(u32::try_from(n).ok()?));
    match steps {
        Some(top) if top < bits && bits < 64 => Ok(()),
        _ => Err(format!("{count} integers at a distance of {step} in {bits} bits")),
    }
}

fn types(vsa: &Vsa, node: &Node) -> Result<(), String> {
    let ty = node.ty;
    let of = |id: NodeId| vsa.node(id).ty;
    let same = |id: NodeId, wanted: ScalarType| {
        if of(id) == wanted {
            Ok(())
        } else {
            Err(format!("operand %{} is {:?}, expected {wanted:?}", id.0, of(id)))
        }
    };
    let result =
        |wanted: ScalarType| if ty == wanted { Ok(()) } else { Err(format!("result is {ty:?}, expected {wanted:?}")) };
    let integer = |ty: ScalarType| if ty.is_float() { Err(format!("not defined on {ty:?}")) } else { Ok(()) };
    match node.op {
        Op::Dot { .. } if !ty.is_float() => Err(format!("not defined on {ty:?}")),
        Op::Dot { ref pairs, .. } if pairs.is_empty() => Err("without a product".into()),
        Op::Dot { .. } => node.op.sources().into_iter().try_for_each(|o| same(o, ty)),
        Op::Const(bits) if bits & !scop::value::mask(ty.bits()) != 0 => {
            Err(format!("constant {bits:#x} is wider than {ty:?}"))
        }
        Op::Const(_) => Ok(()),
        Op::Scalar(k) => match vsa.scalars.get(k as usize) {
            None => Err(format!("there is no scalar {k}")),
            Some(s) if s.ty != ty => Err(format!("scalar {k} is of another type")),
            Some(_) => Ok(()),
        },
        Op::Iter(_) => integer(ty),
        Op::Guard(_) => result(ScalarType::BOOL),
        Op::Input { group, .. } => result(vsa.arrays[vsa.inputs[group as usize].array as usize].ty),
        Op::Past { source, .. } => same(source, ty),
        Op::Unary(op, a) => {
            if op == UnaryOp::Not {
                integer(ty)?;
            }
            same(a, ty)
        }
        Op::Binary(op, a, b) => match op {
            BinaryOp::Shl | BinaryOp::Shr => integer(ty).and(integer(of(b))).and(same(a, ty)),
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => result(ScalarType::BOOL).and(same(b, of(a))),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Rem => {
                integer(ty).and(same(a, ty)).and(same(b, ty))
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Min | BinaryOp::Max => {
                same(a, ty).and(same(b, ty))
            }
        },
        Op::Select(c, a, b) => same(c, ScalarType::BOOL).and(same(a, ty)).and(same(b, ty)),
        Op::Cast(_) => Ok(()),
        Op::Lookup(ref table, _) if table.is_empty() => Err("without a constant".into()),
        Op::Lookup(ref table, a) => match table.iter().find(|&&bits| bits & !scop::value::mask(ty.bits()) != 0) {
            Some(bits) => Err(format!("constant {bits:#x} is wider than {ty:?}")),
            None => integer(of(a)),
        },
        Op::Join { ref integers, step } => {
            integer(ty)?;
            integers.iter().try_for_each(|n| integer(of(*n)))?;
            side_by_side(integers.len(), step, ty.bits())
        }
        Op::Spread(a, Spread { count, from, to, integer: each }) => {
            integer(ty).and(integer(of(a))).and(integer(each))?;
            side_by_side(count as usize, from, of(a).bits()).and(side_by_side(count as usize, to, ty.bits()))
        }
        Op::Field(a, field) => {
            integer(ty).and(integer(of(a)))?;
            let (bits, whole) = (u64::from(field.bits), u64::from(of(a).bits()));
            if bits == 0 || bits >= 63 || u64::from(field.at) + bits > whole || field.negative >> bits > 1 {
                return Err(format!("a field of {bits} bits at {} of {whole} bits", field.at));
            }
            Ok(())
        }
        Op::Fma(a, b, c) => same(a, ty).and(same(b, ty)).and(same(c, ty)),
    }
}
