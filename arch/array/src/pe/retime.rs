//! Moves cheap nodes as late as their consumers allow.
//!
//! A schedule gives every node as soon as possible. A value that waits in a memory (a `Past`), or is selected between
//! such a value and constants, costs a register per bit and cycle for being early; read later it costs nothing.
//! Inputs, outputs and sources of a `Past` stay where they are, so nothing that the timing contract speaks of moves.
//! Delay elements are chosen afterwards ([`crate::contract::delay`]).

use crate::contract::operand::{live_nodes, operand_source};
use crate::vsa::{NodeId, Op, Vsa};

/// Moves `ready` of such nodes up to their first use.
pub fn sink(vsa: &mut Vsa) {
    let live = live_nodes(vsa);
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
    for k in (0..vsa.nodes.len()).rev() {
        let id = NodeId(k as u32);
        // Multipliers look through casts; these follow, though nothing is built for them.
        let looked_through = !live[k] && matches!(vsa.nodes[k].op, Op::Cast(_));
        if let (false, true, Some(time)) = (fixed[k], looked_through || live[k] && movable(vsa, id), first_use[k]) {
            vsa.schedule.ready[k] = vsa.schedule.ready[k].max(time);
        }
        let sampled = vsa.schedule.ready[k] - vsa.schedule.latency[k];
        let mut uses = |source: NodeId| {
            let used = &mut first_use[source.index()];
            *used = Some(used.map_or(sampled, |t| t.min(sampled)));
        };
        for (n, operand) in vsa.nodes[k].op.operands().into_iter().enumerate() {
            uses(operand);
            if live[k] {
                uses(operand_source(vsa, id, n, operand).0);
            }
        }
    }
}

/// Costs no more when it is late: values from memory, and selections between those and constants.
fn movable(vsa: &Vsa, id: NodeId) -> bool {
    let stored = |id: NodeId| vsa.node(id).op.is_delayed() && matches!(vsa.node(id).op, Op::Past { hop: [0, 0], .. });
    match &vsa.node(id).op {
        op @ Op::Select(..) => op
            .operands()
            .into_iter()
            .all(|o| stored(o) || vsa.node(o).op.is_control() || matches!(vsa.node(o).op, Op::Const(_))),
        _ => stored(id),
    }
}
