//! Timing contract between the scheduler, the prediction and the templates. A number of cycles that more than one of
//! them needs is defined here, or in a row of [`crate::operators`] if it belongs to an operator.
//!
//! The *launch* of a wave is the cycle in which its control fields are on the wire at the PE that starts first. A pulse
//! (`start`, `loaded`, `drained`, `release`, `emitted`) happens in the cycle in which its wire is 1.
//!
//! - The first wave of a run: launch >= `start` + [`START_TO_LAUNCH`].
//! - The first wave of a tile: launch >= `loaded` of every load it waits for + [`LOADED_TO_LAUNCH`], and
//!   >= `drained` that freed its result buffer + [`DRAINED_TO_LAUNCH`].
//! - Every wave: launch >= launch of the wave before + `interval`. A wave is launched in the first cycle that these
//!   allow.
//! - `release` of a load = launch of the last wave that uses it +
//!   [`release_delay`](super::handover::release_delay).
//! - `emitted` of a tile = launch of its last wave + [`emitted_delay`](super::handover::emitted_delay).
//! - `drained` of a tile = its last token + [`drained_delay`](super::handover::drained_delay).
//! - The word that a drain token requests arrives [`drain_latency`] cycles after the token.

use crate::contract::relay::Relays;
use crate::vsa::{NodeId, Op, Vsa};

/// Least `ready` of an [`Op::Input`]: address, memory, memory output register, element multiplexer.
pub const FEED_LATENCY: i64 = 4;
/// Least `ready` (and the latency) of a guard or iterator that depends on the PE.
pub const GUARD_LATENCY: i64 = 1;
/// From the `start` pulse to the earliest launch.
pub const START_TO_LAUNCH: i64 = 2;
/// From a `loaded` pulse to the earliest launch of a wave that reads the load.
pub const LOADED_TO_LAUNCH: i64 = 2;
/// From a `drained` pulse to the earliest launch of a wave of the tile that reuses the result buffer.
pub const DRAINED_TO_LAUNCH: i64 = 2;

/// From the last `written` pulse to the `done` pulse. A merged array has many ends to wait for, which meet in a register.
pub fn written_to_done(vsa: &Vsa) -> i64 {
    i64::from(vsa.is_merged() && !vsa.overlap)
}

fn pe_latency(time_only: bool) -> i64 {
    if time_only {
        0
    } else {
        GUARD_LATENCY
    }
}

/// Least `ready` of a node that has no operands.
pub fn least_ready(op: &Op) -> i64 {
    match op {
        Op::Input { .. } => FEED_LATENCY,
        Op::Iter(form) => pe_latency(form.is_time_only()),
        Op::Guard(conditions) => pe_latency(conditions.iter().all(|c| c.form.is_time_only())),
        _ => 0,
    }
}

/// Cycle, relative to the wave's start at the PE, in which the collectors of output group `o` take their values.
pub fn collect_time(vsa: &Vsa, o: usize) -> i64 {
    let ready = |n: NodeId| vsa.schedule.ready[n.index()];
    vsa.outputs[o].ports.iter().map(|p| ready(p.value).max(ready(p.enable))).max().unwrap_or(0).max(1)
}

/// From a drain token of port `port` to the word that it requests: the same for all groups that store through the port.
pub fn drain_latency(vsa: &Vsa, port: usize) -> i64 {
    let of_port = (0..vsa.outputs.len()).filter(|&o| vsa.port_of(vsa.outputs[o].array) == port);
    of_port.map(|o| answer_latency(vsa, o, &Relays::new(vsa, o))).max().unwrap_or(0)
}

/// From a drain token to the word of output group `o`: through its relays, over the crossings between bands to the last
/// one, and back.
pub fn answer_latency(vsa: &Vsa, o: usize, relays: &Relays) -> i64 {
    let group = &vsa.outputs[o];
    let (away, extent) = (group.away(vsa), group.extent());
    relays.latency() + 2 * vsa.schedule.between([0, 1].map(|a| away[a] + extent[a] - 1))
}
