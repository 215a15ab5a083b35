//! Arithmetic in 16 bits where C computes in 32 and keeps 16 of them.
//!
//! C converts `short` operands to `int`. A sum that is stored in a `short` needs its low 16 bits only, and these depend on the
//! low 16 bits of the operands. A minimum, a maximum or a comparison of two values of one type is that of the type:
//!
//! ```text
//! (short)((int)a + (int)b)          a + b in 16 bits
//! (short)min((int)a, (int)b)        min(a, b) in 16 bits
//! (int)x == (int)y                  x == y
//! ```

use crate::ir::{Guard, Node, NodeId, Op, Warp};
use rustc_hash::FxHashMap;
use scop::{BinaryOp, ScalarType};

pub fn narrow(warp: &mut Warp) {
    let mut narrower = Narrower { known: FxHashMap::default() };
    for k in 0..warp.nodes.len() {
        let (ty, op) = (warp.nodes[k].ty, warp.nodes[k].op.clone());
        match op {
            Op::Cast(a)
                if is_int(ty) && is_int(warp.node(a).ty) && ty.bits() < warp.node(a).ty.bits() && ty.bits() > 1 =>
            {
                let low = narrower.low(warp, a, ty);
                warp.nodes[k].op = Op::Cast(low);
                // The statement's name and place go with its value.
                if warp.node(low).ty == ty && warp.nodes[k].note.is_some() {
                    let (name, note) = (warp.nodes[k].name.clone(), warp.nodes[k].note.clone());
                    let inner = &mut warp.nodes[low.index()];
                    (inner.name, inner.note) = (name, note);
                }
            }
            Op::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le), a, b) => {
                if let Some((a, b)) = alike(warp, a, b) {
                    warp.nodes[k].op = Op::Binary(op, a, b);
                }
            }
            _ => {}
        }
    }
    // A conversion to the type that a value has.
    let target = |warp: &Warp, mut id: NodeId| {
        while let Op::Cast(a) = warp.node(id).op {
            if warp.node(a).ty != warp.node(id).ty {
                break;
            }
            id = a;
        }
        id
    };
    for k in 0..warp.nodes.len() {
        warp.nodes[k].op = warp.nodes[k].op.map(|id| target(warp, id));
    }
    let values: Vec<NodeId> = warp.stores.iter().map(|s| target(warp, s.value)).collect();
    warp.stores.iter_mut().zip(values).for_each(|(s, v)| s.value = v);
}

fn is_int(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::Int { .. })
}

/// Whether every value of a type is one of another. A float has not all integers of its size.
fn fits(ty: ScalarType, wide: ScalarType) -> bool {
    let ((least, most), (low, high)) = (scop::value::range(ty), scop::value::range(wide));
    is_int(ty) && is_int(wide) && low <= least && most <= high
}

/// Operands of one narrower type that compare as these do.
fn alike(warp: &mut Warp, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId)> {
    let source = |id: NodeId| match warp.node(id).op {
        Op::Cast(x) if fits(warp.node(x).ty, warp.node(id).ty) => Some(x),
        _ => None,
    };
    let (wide, x, y) = (warp.node(a).ty, source(a), source(b));
    let constant = |id: NodeId| match warp.node(id).op {
        Op::Const(bits) => Some(scop::value::to_integer(bits, wide)),
        _ => None,
    };
    match (x, y) {
        (Some(x), Some(y)) if warp.node(x).ty == warp.node(y).ty => Some((x, y)),
        (Some(x), None) => {
            let ty = warp.node(x).ty;
            let value = constant(b).filter(|v| holds(*v, ty))?;
            Some((x, constant_of(warp, value, ty)))
        }
        (None, Some(y)) => {
            let ty = warp.node(y).ty;
            let value = constant(a).filter(|v| holds(*v, ty))?;
            Some((constant_of(warp, value, ty), y))
        }
        _ => None,
    }
}

fn holds(value: i128, ty: ScalarType) -> bool {
    let (least, most) = scop::value::range(ty);
    (least..=most).contains(&value)
}

fn constant_of(warp: &mut Warp, value: i128, ty: ScalarType) -> NodeId {
    add(warp, Op::Const(scop::value::from_integer(value, ty)), ty, None)
}

/// A node with the name and the place of another one.
fn add(warp: &mut Warp, op: Op, ty: ScalarType, like: Option<NodeId>) -> NodeId {
    let row = op.operands().iter().any(|o| warp.node(*o).row);
    let node = match like {
        Some(id) => Node { op, ty, ..warp.node(id).clone() },
        None => Node::new(op, ty, row, String::new()),
    };
    warp.nodes.push(node);
    NodeId(warp.nodes.len() as u32 - 1)
}

struct Narrower {
    known: FxHashMap<(NodeId, ScalarType), NodeId>,
}

impl Narrower {
    /// The low bits of a value.
    fn low(&mut self, warp: &mut Warp, id: NodeId, ty: ScalarType) -> NodeId {
        if let Some(&known) = self.known.get(&(id, ty)) {
            return known;
        }
        let wide = warp.node(id).ty;
        let op = match warp.node(id).op.clone() {
            _ if wide == ty => return id,
            Op::Const(bits) => Op::Const(scop::value::from_integer(scop::value::to_integer(bits, wide), ty)),
            Op::Cast(x) if warp.node(x).ty == ty => return x,
            Op::Cast(x) if is_int(warp.node(x).ty) && warp.node(x).ty.bits() <= wide.bits() => Op::Cast(x),
            // One operation of pairs less.
            Op::Binary(BinaryOp::Sub, a, b) if matches!(warp.node(b).op, Op::Const(_)) => {
                let Op::Const(bits) = warp.node(b).op else { return id };
                let negated = constant_of(warp, -scop::value::to_integer(bits, wide), ty);
                Op::Binary(BinaryOp::Add, self.low(warp, a, ty), negated)
            }
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul), a, b) => {
                Op::Binary(op, self.low(warp, a, ty), self.low(warp, b, ty))
            }
            Op::Binary(op @ (BinaryOp::Min | BinaryOp::Max), a, b)
                if self.is_within(warp, a, ty) && self.is_within(warp, b, ty) =>
            {
                Op::Binary(op, self.low(warp, a, ty), self.low(warp, b, ty))
            }
            Op::Select(c, a, b) => Op::Select(c, self.low(warp, a, ty), self.low(warp, b, ty)),
            Op::Guard(g) => {
                Op::Guard(Guard { then: self.low(warp, g.then, ty), otherwise: self.low(warp, g.otherwise, ty), ..g })
            }
            Op::Index(form) => Op::Index(form),
            _ => Op::Cast(id),
        };
        let new = add(warp, op, ty, Some(id));
        self.known.insert((id, ty), new);
        new
    }

    /// Whether a value is one of the type, whatever the data.
    fn is_within(&self, warp: &Warp, id: NodeId, ty: ScalarType) -> bool {
        match &warp.node(id).op {
            Op::Const(bits) => holds(scop::value::to_integer(*bits, warp.node(id).ty), ty),
            Op::Cast(x) => fits(warp.node(*x).ty, ty),
            Op::Binary(BinaryOp::Min | BinaryOp::Max, a, b) | Op::Select(_, a, b) => {
                self.is_within(warp, *a, ty) && self.is_within(warp, *b, ty)
            }
            _ => false,
        }
    }
}
