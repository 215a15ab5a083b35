//! Inputs that are joined at the border of the array, once for all PEs of a row.
//!
//! Problem: a value that several PEs read comes from a feeder at the border and is handed on. To join two of them takes
//! an adder of a few bits, in each PE.
//!
//! Method: the PE at the border joins them, and the joined number is handed on in their place:
//!
//! ```text
//! %9 = join %3, %4                            %9  = join %3, %4            inputs at the border only
//!                                             %10 = past %11 hop (0, 1)    of the neighbour
//!                                             %11 = select(p1 == 0, %9, %10)
//! ```
//!
//! All PEs are one module. The condition is a constant of each PE, so synthesis removes the adder from all but those at
//! the border.
//!
//! Invariant: a group of inputs changes only as a whole, and only where nothing but joins reads it.

use crate::draft::{Lowered, PeBox};
use crate::vsa::{Node, NodeId, Op, Schedule};
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{Condition, Form, Ranges};
use uniform::sizes::Formula;

/// The PE with such joins; `None` if there are none. `before`: a schedule of the PE, for the way of waves.
pub fn joined(lowered: &Lowered, before: &Schedule, ranges: &Ranges) -> Option<Lowered> {
    let moves = moves(lowered, ranges);
    if moves.is_empty() {
        return None;
    }
    let border = |a: usize| if before.start[a].forward() { 0 } else { ranges.extent[a] - 1 };
    let mut new = Lowered { nodes: vec![], muxes: vec![], ..lowered.clone() };
    let mut at: Vec<NodeId> = vec![];
    for (n, node) in lowered.nodes.iter().enumerate() {
        let op = match &node.op {
            Op::Past { .. } => node.op.clone(),
            op => op.with_operands(|operand| at[operand.index()]),
        };
        let mut id = push(&mut new, op, node.ty, &node.name);
        for &axis in moves.get(&NodeId(n as u32)).into_iter().flatten() {
            id = handed_on(&mut new, id, axis, (border(axis), before.start[axis].forward()), ranges.counters.len());
        }
        at.push(id);
    }
    // Sources of the old table; those of the new nodes are right.
    for (n, node) in lowered.nodes.iter().enumerate() {
        if let Op::Past { source, hop, waves } = &node.op {
            let op = Op::Past { source: at[source.index()], hop: *hop, waves: waves.clone() };
            new.nodes[at[n].index()].op = op;
        }
    }
    for port in new.outputs.iter_mut().flat_map(|group| &mut group.ports) {
        (port.value, port.enable) = (at[port.value.index()], at[port.enable.index()]);
    }
    new.muxes.extend(lowered.muxes.iter().map(|id| at[id.index()]));
    new.statements = lowered.statements.iter().map(|(id, all)| (at[id.index()], all.clone())).collect();
    for (join, axes) in &moves {
        for group in groups(lowered, *join) {
            for &a in axes {
                let readers = new.inputs[group].readers.get_or_insert(PeBox::whole(ranges.extent));
                (readers.first[a], readers.last[a]) = (border(a), border(a));
            }
        }
    }
    Some(new)
}

fn push(new: &mut Lowered, op: Op, ty: ScalarType, name: &str) -> NodeId {
    new.nodes.push(Node { op, ty, name: name.to_string() });
    NodeId(new.nodes.len() as u32 - 1)
}

/// The value at the border of an axis, and its neighbour's elsewhere.
fn handed_on(new: &mut Lowered, id: NodeId, axis: usize, (border, forward): (i64, bool), counters: usize) -> NodeId {
    let Node { ty, name, .. } = new.nodes[id.index()].clone();
    let (mut space, mut hop) = ([0, 0], [0, 0]);
    (space[axis], hop[axis]) = (1, if forward { 1 } else { -1 });
    let form = Form { constant: -border, counters: vec![0; counters], space };
    let here = push(new, Op::Guard(vec![Condition { form, equality: true }]), ScalarType::BOOL, "border");
    let source = NodeId(here.0 + 2);
    let past = push(new, Op::Past { source, hop, waves: Formula::Const(0) }, ty, &format!("{name}_in"));
    let chosen = push(new, Op::Select(here, id, past), ty, &name);
    new.muxes.push(chosen);
    chosen
}

/// Per join, the axes along which its value is the same and is handed on.
fn moves(lowered: &Lowered, ranges: &Ranges) -> BTreeMap<NodeId, Vec<usize>> {
    let readers = readers(lowered);
    let is_join = |id: &NodeId| matches!(lowered.nodes[id.index()].op, Op::Join { .. });
    let axes_of = |group: usize| {
        let draft = &lowered.inputs[group];
        let spans = |a: usize| draft.readers.is_none_or(|r| r.first[a] == 0 && r.last[a] == ranges.extent[a] - 1);
        let along = |a: &usize| draft.subscripts.iter().all(|f| f.space[*a] == 0) && spans(*a) && ranges.extent[*a] > 1;
        (0..2).filter(along).collect::<Vec<usize>>()
    };
    let mut joins: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for id in (0..lowered.nodes.len() as u32).map(NodeId).filter(is_join) {
        let all = groups(lowered, id);
        let plain = lowered.nodes[id.index()].op.operands().iter().all(|n| source(lowered, *n).is_some());
        let mut axes = all.iter().map(|g| axes_of(*g));
        let first = axes.next().filter(|first| plain && axes.all(|a| a == *first)).unwrap_or_default();
        if !first.is_empty() {
            joins.insert(id, first);
        }
    }
    // A group that something else reads stays, and so do the joins of it.
    loop {
        let free = |group: usize| {
            let of_group =
                |n: &usize| matches!(lowered.nodes[*n].op, Op::Input { group: g, .. } if g as usize == group);
            (0..lowered.nodes.len()).filter(of_group).all(|n| readers[n].iter().all(|r| joins.contains_key(r)))
        };
        let stay: Vec<NodeId> =
            joins.keys().filter(|id| !groups(lowered, **id).iter().all(|g| free(*g))).copied().collect();
        if stay.is_empty() {
            return joins;
        }
        stay.iter().for_each(|id| _ = joins.remove(id));
    }
}

/// The input that an operand of a join is, or converts.
fn source(lowered: &Lowered, operand: NodeId) -> Option<usize> {
    match lowered.nodes[operand.index()].op {
        Op::Input { group, .. } => Some(group as usize),
        Op::Cast(from) => source(lowered, from),
        _ => None,
    }
}

/// The groups of inputs that a join reads.
fn groups(lowered: &Lowered, join: NodeId) -> BTreeSet<usize> {
    lowered.nodes[join.index()].op.operands().iter().filter_map(|n| source(lowered, *n)).collect()
}

/// Per node, its readers, through conversions; of a value that is stored, the value itself.
fn readers(lowered: &Lowered) -> Vec<Vec<NodeId>> {
    let mut readers = vec![vec![]; lowered.nodes.len()];
    for (n, node) in lowered.nodes.iter().enumerate().rev() {
        let id = NodeId(n as u32);
        for source in node.op.sources() {
            let new = if matches!(node.op, Op::Cast(_)) { readers[n].clone() } else { vec![id] };
            readers[source.index()].extend(new);
        }
    }
    for port in lowered.outputs.iter().flat_map(|group| &group.ports) {
        [port.value, port.enable].into_iter().for_each(|id| readers[id.index()].push(id));
    }
    readers
}
