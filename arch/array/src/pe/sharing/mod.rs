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

use crate::contract::packed::faults;
use crate::draft::Lowered;
use crate::pe::schedule::schedule;
use crate::vsa::{Node, NodeId, Op, Schedule, Shared};
use timing::Timing;
use uniform::affine::Ranges;
use uniform::counters::Loops;
use units::{Early, Joined, Units};

/// What sharing may change besides the operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// Nothing: no node is ready later.
    Keep,
    /// Nodes may be ready later, at the same interval and hop delays: a run gets longer by a few cycles.
    Wait,
}

impl May {
    /// By how much a node may be ready later, in cycles.
    fn slack(self) -> i64 {
        match self {
            May::Keep => 0,
            May::Wait => 64,
        }
    }
}

/// The PE with shared operators and its schedule; unchanged where nothing can be shared.
pub fn share(lowered: Lowered, before: Schedule, (loops, ranges): (Loops, &Ranges), may: May) -> (Lowered, Schedule) {
    let found = shared(&lowered, &before, (loops, ranges), may);
    found.unwrap_or((lowered, before))
}

fn shared(
    lowered: &Lowered,
    before: &Schedule,
    (loops, ranges): (Loops, &Ranges),
    may: May,
) -> Option<(Lowered, Schedule)> {
    let heavy = |(node, latency): (&Node, &i64)| *latency >= 2 && !matches!(node.op, Op::Past { .. });
    if lowered.nodes.iter().zip(&before.latency).filter(|x| heavy(*x)).count() < 2 {
        return None;
    }
    let (regions, built) = (needed::regions(lowered, loops, ranges), built(lowered));
    let joins = lowered.nodes.iter().any(|node| matches!(node.op, Op::Field(..)));
    let ways: &[Joined] = if joins { &[Joined::Any, Joined::Alike] } else { &[Joined::Any] };
    ways.iter().find_map(|&joined| {
        let units = units::find(lowered, before, ranges, (&regions, &built), joined);
        let new = chosen(lowered, before, (&regions, &built, ranges), units, may)?;
        // A sum that took turns with others may have more than its field has bits for.
        faults(&new.0.nodes).is_empty().then_some(new)
    })
}

/// The PE in which some of the units are one.
fn chosen(
    lowered: &Lowered,
    before: &Schedule,
    (regions, built, ranges): (&[needed::Region], &[bool], &Ranges),
    mut units: Units,
    may: May,
) -> Option<(Lowered, Schedule)> {
    let ways: &[Early] = match may {
        May::Keep => &[Early::Inputs, Early::Nothing],
        May::Wait => &[Early::WhatWaits, Early::Inputs, Early::Nothing],
    };
    let waits = (may == May::Wait).then(|| timing::waits(lowered, before, &units));
    units.waits = waits.unwrap_or_default();
    // What is selected a cycle earlier may be too late for that.
    ways.iter().find_map(|&early| {
        units.early = early;
        let timing = Timing::new(lowered, before, built, may.slack());
        let choice = choice::choose(lowered, &units, ranges, regions, timing)?;
        let new = rewrite::rewrite(lowered, &units, ranges, regions, &choice.slots)?;
        let mut after = schedule(&new, ranges.extent).ok()?;
        if may == May::Keep {
            hold_inputs(lowered, before, &new, &mut after);
        }
        let wanted = choice.slots.iter().map(Vec::len).sum();
        let (built, cost, bound) = (choice.slots.len(), choice.cost, choice.bound);
        let new = Lowered { shared: Some(Shared { wanted, built, cost, bound }), ..new };
        let same = after.interval == before.interval && after.start == before.start;
        (same && (may == May::Wait || is_in_time(lowered, before, &new, &after))).then_some((new, after))
    })
}

/// Nodes that an output is computed from, needed or not.
fn built(lowered: &Lowered) -> Vec<bool> {
    let mut built = vec![false; lowered.nodes.len()];
    let ports = lowered.outputs.iter().flat_map(|group| &group.ports);
    let mut open: Vec<NodeId> = ports.flat_map(|port| [port.value, port.enable]).collect();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut built[id.index()], true) {
            open.extend(lowered.nodes[id.index()].op.sources());
        }
    }
    built
}

/// Reads inputs as early as before, so that their buffers are free again as early; what is read waits in the PE.
fn hold_inputs(old: &Lowered, before: &Schedule, new: &Lowered, after: &mut Schedule) {
    let mut last = vec![0; old.inputs.len()];
    for (node, &ready) in old.nodes.iter().zip(&before.ready) {
        if let Op::Input { group, .. } = node.op {
            last[group as usize] = ready.max(last[group as usize]);
        }
    }
    for (node, ready) in new.nodes.iter().zip(&mut after.ready) {
        if let Op::Input { group, .. } = node.op {
            *ready = last[group as usize].min(*ready);
        }
    }
}

/// No output is emitted later.
fn is_in_time(old: &Lowered, before: &Schedule, new: &Lowered, after: &Schedule) -> bool {
    let emitted = |lowered: &Lowered, schedule: &Schedule, g: usize| {
        let ports = lowered.outputs[g].ports.iter();
        ports.map(|p| schedule.ready[p.value.index()].max(schedule.ready[p.enable.index()])).max()
    };
    (0..old.outputs.len()).all(|g| emitted(new, after, g) <= emitted(old, before, g))
}
