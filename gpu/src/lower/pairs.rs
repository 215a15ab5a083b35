//! Two instances of a program in the halves of a register.
//!
//! **Problem.** Values of 16 bits take a register of 32. GPUs have operations on both halves of a register, for sums, minima
//! and maxima of 16 bits.
//!
//! **Method.** One axis of the grid of warps is taken in steps of two. A value that depends on an array read along that axis is a
//! *pair*: the low half belongs to the warp's place on the axis, the high half to the next one. A value that is the same for
//! both is spread. All other things, such as borders and addresses of lanes, are alike in both. At an odd end of the axis
//! both halves are the last place.
//!
//! ```text
//! k = 0, 2, 4 …      D of k in bits 0 to 15, D of k + 1 in bits 16 to 31
//! ```

use crate::arrange::Refusal;
use crate::form::{Cond, Form, Scalar, ScalarId};
use crate::ir::{Guard, Node, NodeId, Op, Pairs, Warp};
use scop::{BinaryOp, ScalarType};

/// Marks what is a pair, along one of these axes.
///
/// # Errors
/// No axis has values that fit in halves of registers.
pub fn pair(warp: &mut Warp, axes: &[ScalarId]) -> Result<(), Refusal> {
    for &axis in axes {
        let mut other = warp.clone();
        mark(&mut other, axis);
        if is_possible(&other, axis) {
            let scalar = warp.scalars[axis.index()].clone();
            other.pairs = Some(Pairs { axis, other: ScalarId(other.scalars.len() as u32) });
            other.scalars.push(Scalar { name: format!("{}_high", scalar.name), ..scalar });
            *warp = other;
            return Ok(());
        }
    }
    Err(Refusal::new("no loop has values that fit in halves of registers"))
}

/// A value is a pair if it comes from an element that the axis decides.
fn mark(warp: &mut Warp, axis: ScalarId) {
    loop {
        let mut changed = false;
        for k in 0..warp.nodes.len() {
            let node = &warp.nodes[k];
            let pair = |id: &NodeId| warp.nodes[id.index()].pair;
            let is = match &node.op {
                Op::Load { at, .. } => at.iter().any(|f| f.of(axis) != 0),
                Op::Past { of, .. } | Op::Last { of } => pair(of),
                op => op.operands().iter().any(pair),
            };
            changed |= is && !node.pair;
            warp.nodes[k].pair |= is;
        }
        if !changed {
            return;
        }
    }
}

const HALF: ScalarType = ScalarType::Int { bits: 16, signed: true };

fn is_possible(warp: &Warp, axis: ScalarId) -> bool {
    let uses = |f: &Form| f.of(axis) != 0;
    let conds = |all: &[Cond]| all.iter().any(|c| uses(&c.form));
    let small = |ty: ScalarType| matches!(ty, ScalarType::Int { bits: 1 | 8 | 16, .. });
    let pair = |id: NodeId| warp.node(id).pair;
    let fit = |k: usize| {
        let node = &warp.nodes[k];
        let free = match &node.op {
            Op::Index(f) => !uses(f),
            Op::Holds(all) => !conds(all),
            Op::Guard(Guard { when, .. }) => !conds(when),
            _ => true,
        };
        let operands = || node.op.operands().into_iter().all(|o| warp.node(o).ty == node.ty);
        free && (!node.pair
            || match &node.op {
                // Wider results are stored alone: each half for itself.
                Op::Cast(a) => small(warp.node(*a).ty) && (node.ty == HALF || is_only_stored(warp, k)),
                Op::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max, ..) => {
                    node.ty == HALF && operands()
                }
                Op::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => warp.node(*a).ty == warp.node(*b).ty,
                Op::Select(c, ..) => small(node.ty) && node.row && warp.node(*c).row,
                Op::Fold(BinaryOp::Add | BinaryOp::Min | BinaryOp::Max, _) => node.ty == HALF,
                Op::Guard(_) | Op::Hop { .. } | Op::Past { .. } => small(node.ty) && node.row && !node.quad,
                Op::Load { .. } | Op::Last { .. } => small(node.ty) && !node.quad,
                _ => false,
            })
    };
    let stored = warp.stores.iter().all(|s| !conds(&s.when) && (!pair(s.value) || s.at.iter().any(uses)));
    let some = warp.nodes.iter().any(|n| n.pair && n.ty == HALF);
    some && stored && (0..warp.nodes.len()).all(fit)
}

/// Whether a value is the result of a pair, converted to a type that no half has.
pub fn is_wide(node: &Node) -> bool {
    node.pair && node.ty.bits() > 16
}

/// Whether a value is used by stores alone.
fn is_only_stored(warp: &Warp, k: usize) -> bool {
    let id = NodeId(k as u32);
    let used =
        |op: &Op| op.operands().contains(&id) || matches!(op, Op::Past { of, .. } | Op::Last { of } if *of == id);
    !warp.nodes.iter().any(|n| used(&n.op))
}
