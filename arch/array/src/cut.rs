//! Cuts an array into bands ([`crate::contract::bands`]).
//!
//! Method: where all values move with the waves along the axis, the cuts only delay: PEs stay as they are. A value that
//! moves against the waves comes late where it crosses a cut, so all PEs must give it earlier, or take it later: they
//! are scheduled anew, with the registers that their operators have ([`pe::with_latencies`]). Both directions of
//! the waves are tried. If the dependences leave too little time, the interval grows.
//!
//! Example: a stencil with values from both neighbours, a wave ago, and an interval of 6. A value goes to the neighbour
//! and comes back in two waves, 12 cycles; [`CROSSING`] registers each way leave 8 of them to the operators.

use crate::contract::bands::{Bands, CROSSING};
use crate::contract::delay;
use crate::draft::Lowered;
use crate::pe::{self, retime, Across};
use crate::vsa::{AxisStart, Op, Vsa};

/// Cuts an array in front of these PEs of an axis, given by their coordinates.
///
/// # Errors
/// PEs that the axis does not have, or why the array cannot be cut there.
pub fn cut(vsa: &Vsa, axis: usize, before: &[i64]) -> Result<Vsa, String> {
    let extent = vsa.extent[axis];
    if let Some(p) = before.iter().find(|p| !(1..extent).contains(*p)) {
        return Err(format!("axis `{}` has PEs 0 to {}: there is no cut in front of {p}", vsa.axes[axis], extent - 1));
    }
    let mut cut = vsa.clone();
    cut.schedule.start[axis] = start(vsa, axis, before);
    Bands::of(&cut)?;
    if !turns_back(&cut, axis) {
        return Ok(cut);
    }
    let forward = vsa.schedule.start[axis].forward();
    let found = [forward, !forward].into_iter().filter_map(|forward| scheduled(vsa, (axis, forward), before));
    found
        .min_by_key(|cut| cut.schedule.interval)
        .ok_or_else(|| format!("values move both ways along axis `{}`, and no schedule waits for them", vsa.axes[axis]))
}

/// When PEs start with these cuts.
fn start(vsa: &Vsa, axis: usize, before: &[i64]) -> AxisStart {
    let start = &vsa.schedule.start[axis];
    let mut hops: Vec<i64> = before.iter().map(|p| if start.forward() { *p } else { vsa.extent[axis] - p }).collect();
    hops.sort_unstable();
    hops.dedup();
    AxisStart::even(start.step()).with_registers(CROSSING, &hops)
}

/// Some value moves against the waves along the axis, which is cut.
fn turns_back(vsa: &Vsa, axis: usize) -> bool {
    let start = &vsa.schedule.start[axis];
    vsa.nodes.iter().any(|node| matches!(&node.op, Op::Past { hop, .. } if start.back(hop[axis]) > 0))
}

/// The array with another schedule, whose waves go in this direction along the axis that is cut.
fn scheduled(vsa: &Vsa, (axis, forward): (usize, bool), before: &[i64]) -> Option<Vsa> {
    let lowered = Lowered::of(vsa, vec![]);
    let latency = vsa.schedule.latency.clone();
    let mut cut = vsa.clone();
    cut.schedule = pe::with_latencies(&lowered, vsa.extent, latency, Some(Across { axis, forward })).ok()?;
    cut.schedule.start[axis] = start(&cut, axis, before);
    retime::sink(&mut cut);
    cut.schedule.delays = delay::choose(&cut);
    (Bands::of(&cut).is_ok() && cut.verify().is_ok()).then_some(cut)
}
