//! Operators that several parts of a program share, because no wave in any PE needs two of them.
//!
//! **Problem.** A conjugate gradient multiplies in each of its phases. Lowering gives each phase multipliers of its
//! own, which idle while other phases run.
//!
//! **Method.** [`needed`] finds in which waves and PEs each node is needed, backwards from the outputs. [`units`] lists
//! the operators that are worth it, [`choice`] decides which of them are one, [`rewrite`] puts multiplexers in front:
//!
//! ```text
//! phase 0: %7 = mul %2, %2         %7 = mul (phase 0: %2, phase 1: %30), (phase 0: %2, phase 1: %24)
//! phase 1: %31 = mul %30, %24
//! ```
//!
//! **Invariant.** No node is ready later than without sharing, at the same interval and the same hop delays, so no
//! design takes more cycles. A multiplexer in front of an operator has at most four values: it is one LUT and a wire of
//! its slice.
//!
//! **Source.** Moreano, Borin, Souza, Araujo, "Efficient Datapath Merging for Partially Reconfigurable Architectures"
//! (2005); APEX (ASPLOS 2023) merges datapaths alike. Neither knows when an operator is needed.

mod choice;
mod needed;
mod rewrite;
mod timing;
mod units;

use crate::draft::Lowered;
use crate::pe::schedule::schedule;
use crate::vsa::{Node, Op, Schedule, Shared};
use timing::Timing;
use uniform::mapping::Mapping;

/// The PE with shared operators and its schedule; unchanged where nothing can be shared.
pub fn share(lowered: Lowered, before: Schedule, mapping: &Mapping) -> (Lowered, Schedule) {
    let found = shared(&lowered, &before, mapping);
    found.unwrap_or((lowered, before))
}

fn shared(lowered: &Lowered, before: &Schedule, mapping: &Mapping) -> Option<(Lowered, Schedule)> {
    let heavy = |(node, latency): (&Node, &i64)| *latency >= 2 && !matches!(node.op, Op::Past { .. });
    if lowered.nodes.iter().zip(&before.latency).filter(|x| heavy(*x)).count() < 2 {
        return None;
    }
    let ranges = mapping.ranges();
    let regions = needed::regions(lowered, mapping);
    let units = units::find(lowered, before, &ranges, &regions);
    let timing = Timing::new(lowered, before, |n| !regions[n].is_empty());
    let choice = choice::choose(lowered, &units, &ranges, &regions, timing)?;
    let new = rewrite::rewrite(lowered, &units, &ranges, &regions, &choice.slots);
    let after = schedule(&new, mapping.extent).ok()?;
    let wanted = choice.slots.iter().map(Vec::len).sum();
    let (built, cost, bound) = (choice.slots.len(), choice.cost, choice.bound);
    let new = Lowered { shared: Some(Shared { wanted, built, cost, bound }), ..new };
    (after.interval == before.interval && after.start == before.start && is_in_time(lowered, before, &new, &after))
        .then_some((new, after))
}

/// No output is emitted later, and no input read later.
fn is_in_time(old: &Lowered, before: &Schedule, new: &Lowered, after: &Schedule) -> bool {
    let emitted = |lowered: &Lowered, schedule: &Schedule, g: usize| {
        let ports = lowered.outputs[g].ports.iter();
        ports.map(|p| schedule.ready[p.value.index()].max(schedule.ready[p.enable.index()])).max()
    };
    let read = |lowered: &Lowered, schedule: &Schedule, g: usize| {
        let of_group = |n: &usize| matches!(lowered.nodes[*n].op, Op::Input { group, .. } if group as usize == g);
        (0..lowered.nodes.len()).filter(of_group).map(|n| schedule.ready[n]).max()
    };
    (0..old.outputs.len()).all(|g| emitted(new, after, g) <= emitted(old, before, g))
        && (0..old.inputs.len()).all(|g| read(new, after, g) <= read(old, before, g))
}
