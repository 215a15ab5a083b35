//! Which function's value an output port emits.
//!
//! **Problem.** Each function that joins an output group adds a multiplexer and an OR behind those of the functions before
//! it ([`crate::merge::slots`]), so that the last value comes many cycles after the first. Many of the values are of one
//! operator, once operators are shared.
//!
//! **Method.** The chain is taken apart. Neighbours in the order of functions that emit the same value become one, and
//! what is left is selected by a balanced tree, of which two levels are one multiplexer of four values, without a
//! register between them:
//!
//! ```text
//! runs from 8: %9, from 4: %7, from 3: %7, else %5          from 3: %7 (from 8: %9), else %5
//! ```

use crate::draft::Lowered;
use crate::vsa::{Node, NodeId, Op};
use scop::{BinaryOp, ScalarType};
use uniform::affine::Condition;

/// The node of a condition `function >= f`, and the value from there on.
type From = (NodeId, NodeId);

/// Selects the values of output ports by trees. `false`: nothing has changed.
pub fn balance(lowered: &mut Lowered) -> bool {
    let mut changed = false;
    for g in 0..lowered.outputs.len() {
        for p in 0..lowered.outputs[g].ports.len() {
            let (value, enable) = {
                let port = &lowered.outputs[g].ports[p];
                (port.value, port.enable)
            };
            let (first, later) = chain(lowered, value);
            if !later.is_empty() {
                lowered.outputs[g].ports[p].value = selected(lowered, first, &later, 0);
                changed = true;
            }
            let all = terms(lowered, enable);
            if all.len() > 2 {
                lowered.outputs[g].ports[p].enable = any(lowered, &all);
                changed = true;
            }
        }
    }
    changed
}

/// The value of the first functions, and from which function on there is another one, in the order of functions.
fn chain(lowered: &Lowered, mut value: NodeId) -> (NodeId, Vec<From>) {
    let mut later: Vec<From> = vec![];
    while let Op::Select(condition, from, before) = lowered.nodes[value.index()].op {
        let Op::Guard(all) = &lowered.nodes[condition.index()].op else { break };
        let [only] = &all[..] else { break };
        if !is_from_function(only) {
            break;
        }
        later.push((condition, from));
        value = before;
    }
    later.reverse();
    let mut last = value;
    later.retain(|(_, from)| std::mem::replace(&mut last, *from) != *from);
    (value, later)
}

/// `function - f >= 0`.
fn is_from_function(c: &Condition) -> bool {
    let (number, rest) = c.form.counters.split_first().map_or((&0, &[][..]), |both| both);
    *number == 1 && rest.iter().all(|x| *x == 0) && c.form.space == [0, 0] && !c.equality
}

/// The tree; `level`: that of its root.
fn selected(lowered: &mut Lowered, first: NodeId, later: &[From], level: u32) -> NodeId {
    let Some((condition, from)) = later.get(later.len() / 2).copied() else { return first };
    let low = selected(lowered, first, &later[..later.len() / 2], level + 1);
    let high = selected(lowered, from, &later[later.len() / 2 + 1..], level + 1);
    let ty = lowered.nodes[low.index()].ty;
    let node = push(lowered, Op::Select(condition, high, low), ty);
    if level % 2 == 1 {
        lowered.muxes.push(node);
    }
    node
}

/// The conditions of which one has to hold.
fn terms(lowered: &Lowered, enable: NodeId) -> Vec<NodeId> {
    match lowered.nodes[enable.index()].op {
        Op::Binary(BinaryOp::Or, a, b) if lowered.nodes[enable.index()].ty == ScalarType::BOOL => {
            let mut all = [terms(lowered, a), terms(lowered, b)].concat();
            all.sort();
            all.dedup();
            all
        }
        _ => vec![enable],
    }
}

fn any(lowered: &mut Lowered, all: &[NodeId]) -> NodeId {
    if let [one] = all {
        return *one;
    }
    let (a, b) = all.split_at(all.len() / 2);
    let [a, b] = [a, b].map(|half| any(lowered, half));
    push(lowered, Op::Binary(BinaryOp::Or, a, b), ScalarType::BOOL)
}

fn push(lowered: &mut Lowered, op: Op, ty: ScalarType) -> NodeId {
    lowered.nodes.push(Node { op, ty, name: "emitted".into() });
    NodeId(lowered.nodes.len() as u32 - 1)
}
