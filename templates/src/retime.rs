//! Moves cheap nodes as late as their consumers allow, before hardware is planned.
//!
//! A schedule gives every node as soon as possible. A value that waits in a memory (a `Past`), or is selected between
//! such a value and constants, costs a register per bit and cycle for being early; read later it costs nothing.
//! Inputs, outputs and sources of a `Past` stay where they are, so nothing that the timing contract speaks of moves.

use crate::control::time_field;
use crate::pe::plan::{live_nodes, operand_source};
use arch::contract::timing::operands;
use arch::ir::vsa::{NodeId, Op, Vsa};

/// The same array with `ready` of such nodes moved up to their first use.
pub fn sink(vsa: &Vsa) -> Vsa {
    let mut vsa = vsa.clone();
    let live = live_nodes(&vsa);
    let mut fixed = vec![false; vsa.nodes.len()];
    for port in vsa.outputs.iter().flat_map(|o| &o.ports) {
        fixed[port.value.index()] = true;
        fixed[port.enable.index()] = true;
    }
    for node in &vsa.nodes {
        if let Op::Past { source, .. } = node.op {
            fixed[source.index()] = true;
        }
    }
    let mut first_use: Vec<Option<i64>> = vec![None; vsa.nodes.len()];
    for k in (0..vsa.nodes.len()).rev().filter(|k| live[*k]) {
        let id = NodeId(k as u32);
        if let (false, true, Some(time)) = (fixed[k], movable(&vsa, id), first_use[k]) {
            vsa.schedule.ready[k] = vsa.schedule.ready[k].max(time);
        }
        let sampled = vsa.schedule.ready[k] - vsa.schedule.latency[k];
        for (n, operand) in operands(&vsa.nodes[k].op).into_iter().enumerate() {
            let used = &mut first_use[operand_source(&vsa, id, n, operand).0.index()];
            *used = Some(used.map_or(sampled, |t| t.min(sampled)));
        }
    }
    vsa
}

/// Costs no more when it is late: values from memory, and selections between those and constants.
fn movable(vsa: &Vsa, id: NodeId) -> bool {
    let stored = |id: NodeId| matches!(vsa.node(id).op, Op::Past { hop: [0, 0], waves: 1.., .. });
    match &vsa.node(id).op {
        Op::Select(..) => operands(&vsa.node(id).op).into_iter().all(|o| stored(o) || time_field(vsa, o).is_some() || matches!(vsa.node(o).op, Op::Const(_))),
        _ => stored(id),
    }
}
