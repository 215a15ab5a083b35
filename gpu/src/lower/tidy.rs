//! Passes over the nodes of a step: which arrays are arguments, what is used, what the interior does without, what does
//! not change from step to step.

use crate::form::Cond;
use crate::ir::{Guard, Node, NodeId, Op, Passing, ScalarId, Warp};

/// Bytes of arrays that are kernel arguments, at most.
const ARGUMENT_BYTES: i64 = 4096;

/// Makes small arrays that are read at constant subscripts only kernel arguments, and notes how arrays are used.
pub fn arguments(warp: &mut Warp) {
    let mut bytes = 0;
    for k in 0..warp.arrays.len() {
        let used = |n: &&Node| matches!(&n.op, Op::Load { array, .. } | Op::Argument { array, .. } if *array == k);
        warp.arrays[k].read = warp.nodes.iter().any(|n| used(&n));
        warp.arrays[k].written = warp.stores.iter().any(|s| s.array == k);
        let array = &warp.arrays[k];
        if array.passing == Passing::Value || !(array.read || array.written) {
            continue;
        }
        let size = array.dims.iter().product::<i64>() * i64::from(array.ty.bytes());
        let constant = warp.nodes.iter().filter(used).all(|n| match &n.op {
            Op::Load { at, .. } => at.iter().all(crate::form::Form::is_constant),
            _ => true,
        });
        let sized = array.extents.iter().any(|e| !e.is_constant());
        let is_argument = constant && !sized && !array.written && bytes + size <= ARGUMENT_BYTES;
        bytes += if is_argument { size } else { 0 };
        warp.arrays[k].passing = if is_argument { Passing::Argument } else { Passing::Pointer };
    }
    for k in 0..warp.nodes.len() {
        let Op::Load { array, at, .. } = &warp.nodes[k].op else { continue };
        if warp.arrays[*array].passing == Passing::Argument {
            let dims = &warp.arrays[*array].dims;
            let element = at.iter().zip(dims).fold(0, |sum, (f, d)| sum * d + f.constant);
            warp.nodes[k].op = Op::Argument { array: *array, element };
        }
    }
}

/// Marks the nodes that have a value for each PE, and drops hops of the others.
pub fn spread(warp: &mut Warp) {
    // A value of an earlier step is a row if the value is; the least fixed point would need all of them scalar first.
    loop {
        let before: Vec<bool> = warp.nodes.iter().map(|n| n.row).collect();
        for k in 0..warp.nodes.len() {
            let row = match &warp.nodes[k].op {
                Op::Const(_) | Op::Argument { .. } => false,
                Op::Load { at, .. } => at.iter().any(|f| f.unit != 0),
                Op::Index(f) => f.unit != 0,
                Op::Holds(all) => all.iter().any(Cond::is_by_lane),
                Op::Past { .. } | Op::Last { .. } | Op::Hop { .. } => true,
                Op::Fold(..) => false,
                Op::Guard(g) => {
                    g.when.iter().any(Cond::is_by_lane) || [g.then, g.otherwise].iter().any(|x| warp.node(*x).row)
                }
                op => op.operands().iter().any(|x| warp.node(*x).row),
            };
            warp.nodes[k].row = row;
        }
        if warp.nodes.iter().map(|n| n.row).eq(before) {
            break;
        }
    }
}

/// Drops what nobody uses, and orders the rest.
pub fn tidy(warp: &mut Warp) {
    copies(warp);
    order(warp);
}

/// Marks border and invariant nodes, and those behind the time loop.
pub fn mark(warp: &mut Warp, time: Option<ScalarId>) {
    borders(warp);
    if let Some(time) = time {
        invariants(warp, time);
        behind(warp);
    }
}

/// Marks the nodes that use values of the last step.
fn behind(warp: &mut Warp) {
    for k in 0..warp.nodes.len() {
        let own = matches!(warp.nodes[k].op, Op::Last { .. });
        warp.nodes[k].after = own || warp.nodes[k].op.operands().iter().any(|o| warp.nodes[o.index()].after);
    }
}

/// Replaces a window that is one whole word by the word.
fn copies(warp: &mut Warp) {
    let source = |nodes: &[Node], id: NodeId| match &nodes[id.index()].op {
        Op::Take { rows, offset: 0 } if rows.len() == 1 => rows[0],
        _ => id,
    };
    for k in 0..warp.nodes.len() {
        warp.nodes[k].op = warp.nodes[k].op.map(|id| source(&warp.nodes, id));
    }
    for store in &mut warp.stores {
        store.value = source(&warp.nodes, store.value);
    }
}

/// Orders nodes behind their operands; only those that a store needs remain.
pub fn order(warp: &mut Warp) {
    let mut place: Vec<Option<u32>> = vec![None; warp.nodes.len()];
    let mut ordered: Vec<NodeId> = vec![];
    let mut roots: Vec<NodeId> = warp.stores.iter().map(|s| s.value).rev().collect();
    while let Some(root) = roots.pop() {
        let mut stack = vec![(root, false)];
        while let Some((id, done)) = stack.pop() {
            if place[id.index()].is_some() {
                continue;
            }
            if done {
                place[id.index()] = Some(ordered.len() as u32);
                ordered.push(id);
                if let Op::Past { of, .. } | Op::Last { of } = warp.node(id).op {
                    roots.push(of);
                }
                continue;
            }
            stack.push((id, true));
            stack.extend(warp.node(id).op.operands().into_iter().rev().map(|o| (o, false)));
        }
    }
    let moved = |id: NodeId| NodeId(place[id.index()].unwrap_or(0));
    warp.nodes = ordered
        .iter()
        .map(|&id| {
            let node = warp.node(id);
            Node { op: node.op.map(moved), ..node.clone() }
        })
        .collect();
    warp.stores.iter_mut().for_each(|s| s.value = moved(s.value));
}

/// Marks the nodes that the interior does without. A value that a later step uses is always computed.
fn borders(warp: &mut Warp) {
    let mut needed = vec![false; warp.nodes.len()];
    let pasts = warp.nodes.iter().filter_map(|n| match n.op {
        Op::Past { of, .. } | Op::Last { of } => Some(of),
        _ => None,
    });
    let mut open: Vec<NodeId> = warp.stores.iter().filter(|s| s.inside).map(|s| s.value).chain(pasts).collect();
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut needed[id.index()], true) {
            continue;
        }
        match &warp.node(id).op {
            Op::Guard(Guard { then, otherwise, inside, .. }) => open.push(if *inside { *then } else { *otherwise }),
            op => open.extend(op.operands()),
        }
    }
    warp.nodes.iter_mut().zip(needed).for_each(|(node, needed)| node.border = !needed);
}

/// Marks the nodes that depend neither on time nor on earlier steps.
fn invariants(warp: &mut Warp, time: ScalarId) {
    for k in 0..warp.nodes.len() {
        let still = |f: &crate::form::Form| f.of(time) == 0;
        let conds = |all: &[crate::form::Cond]| all.iter().all(|c| still(&c.form));
        let own = match &warp.nodes[k].op {
            Op::Past { .. } | Op::Last { .. } => false,
            Op::Load { at, .. } => at.iter().all(still),
            Op::Fed { .. } => false,
            Op::Index(f) => still(f),
            Op::Holds(all) => conds(all),
            Op::Guard(g) => conds(&g.when),
            _ => true,
        };
        warp.nodes[k].invariant = own && warp.nodes[k].op.operands().iter().all(|o| warp.nodes[o.index()].invariant);
    }
}
