//! Timing contract between the scheduler, the cost walk and the templates: every number of cycles that more than one
//! of them relies on stands here and nowhere else.
//!
//! A wave's *launch* is the cycle in which its control bundle is on the wire at the PE where `delay` is 0. Pulses
//! (`start`, `loaded`, `drained`, `release`, `emitted`) happen in the cycle in which they are 1 on their wire.
//!
//! - launch of the first wave of a run >= start + [`START_TO_LAUNCH`]
//! - launch of the first wave of a visit >= loaded pulse of every load it waits for + [`LOADED_TO_LAUNCH`],
//!   and >= drained pulse that freed its collector slot + [`DRAINED_TO_LAUNCH`]
//! - every launch >= previous launch + `interval`; a wave is launched in the first cycle these allow
//! - `release` of a load = launch of the last wave that uses it + [`release_delay`]
//! - `emitted` of a visit = launch of its last wave + [`emitted_delay`]
//! - the word a drain token asks for is back [`drain_latency`] cycles after the token

use crate::contract::delay::table_in_luts;
use crate::contract::operand::effective_type;
use crate::contract::relay::Relays;
use crate::vsa::{Node, NodeId, Op, Vsa};
use scop::{BinaryOp, ScalarType, UnaryOp};

/// Least `ready` of an [`Op::Input`]: address, memory, memory output register, element multiplexer.
pub const FEED_LATENCY: i64 = 4;
/// Least `ready` (and the latency) of a guard or iterator that depends on the PE.
pub const GUARD_LATENCY: i64 = 1;
/// From the `start` pulse to the earliest launch.
pub const START_TO_LAUNCH: i64 = 2;
/// From a `loaded` pulse to the earliest launch of a wave that reads the load.
pub const LOADED_TO_LAUNCH: i64 = 2;
/// From a `drained` pulse to the earliest launch of a wave of the visit that reuses the slot.
pub const DRAINED_TO_LAUNCH: i64 = 2;

/// From the last `written` pulse to the `done` pulse.
pub const WRITTEN_TO_DONE: i64 = 0;

/// Registers from the operands to the result of `op`, whose operands have the *effective* types `operands`
/// (see [`effective_type`]) and whose result is of type `ty`.
pub fn op_latency(op: &Op, ty: ScalarType, operands: &[ScalarType]) -> i64 {
    let float = ty.is_float() || operands.iter().any(|t| t.is_float());
    match op {
        Op::Const(_) | Op::Scalar(_) | Op::Input { .. } | Op::Past { .. } => 0,
        Op::Iter(form) => pe_latency(form.is_time_only()),
        Op::Guard(conditions) => pe_latency(conditions.iter().all(|c| c.form.is_time_only())),
        Op::Cast(_) if float && operands.first() != Some(&ty) => 3,
        Op::Cast(_) => 0,
        Op::Unary(UnaryOp::Sqrt, _) if float => fraction_bits(ty) + 7,
        Op::Unary(UnaryOp::Sqrt, _) => ty.bits() as i64 / 2 + 2,
        Op::Unary(..) => 1,
        Op::Binary(op, ..) if float => float_latency(*op, operands.first().copied().unwrap_or(ty)),
        Op::Binary(BinaryOp::Mul, ..) => multiplier_latency(operands),
        Op::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => ty.bits() as i64 + 2,
        Op::Binary(..) | Op::Select(..) => 1,
        Op::Lookup(table, _) => 1 + i64::from(!table_in_luts(table.len() as i64)),
        Op::Fma(..) if float => 11,
        Op::Dot { pairs, .. } => dot_latency(pairs.len()),
        Op::Fma(..) => multiplier_latency(operands.get(..2).unwrap_or(operands)) + 1,
    }
}

/// Core `dot` of `templates::fp`: one register more whenever the terms' number doubles.
fn dot_latency(lanes: usize) -> i64 {
    8 + i64::from((lanes + 1).next_power_of_two().trailing_zeros())
}

fn pe_latency(time_only: bool) -> i64 {
    if time_only {
        0
    } else {
        GUARD_LATENCY
    }
}

/// Cores with one result bit a stage have their latency from this.
fn fraction_bits(ty: ScalarType) -> i64 {
    match ty {
        ScalarType::Float { fraction, .. } => i64::from(fraction),
        ScalarType::Int { bits, .. } => i64::from(bits),
    }
}

/// Pipelined cores of `templates::fp`, by operator and operand format; figures of other latencies are in
/// `docs/results/operators.md`.
fn float_latency(op: BinaryOp, ty: ScalarType) -> i64 {
    match op {
        BinaryOp::Add | BinaryOp::Sub => 6,
        BinaryOp::Mul => 5,
        BinaryOp::Div | BinaryOp::Rem => fraction_bits(ty) + 9,
        _ => 1,
    }
}

/// By what one or several DSP slices (25 × 18 bits, signed, as DSP48E1 and DSP48E2 both have) need: operand, product
/// and adder registers.
fn multiplier_latency(operands: &[ScalarType]) -> i64 {
    let mut widths: Vec<u32> = operands.iter().map(|t| t.bits() + !t.signed() as u32).collect();
    widths.sort_unstable();
    match (widths.first().copied().unwrap_or(1), widths.last().copied().unwrap_or(1)) {
        (least, most) if least <= 18 && most <= 25 => 2,
        (_, most) if most <= 33 => 4,
        _ => 6,
    }
}

/// [`op_latency`] of a node of the table.
pub fn node_latency(nodes: &[Node], id: NodeId) -> i64 {
    let node = &nodes[id.index()];
    let types: Vec<ScalarType> = node.op.operands().into_iter().map(|o| effective_type(nodes, o)).collect();
    op_latency(&node.op, node.ty, &types)
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

/// Cycle, relative to the wave's arrival at the PE, in which the collectors of output group `o` take their values.
pub fn collect_time(vsa: &Vsa, o: usize) -> i64 {
    let ready = |n: NodeId| vsa.schedule.ready[n.index()];
    vsa.outputs[o].ports.iter().map(|p| ready(p.value).max(ready(p.enable))).max().unwrap_or(0).max(1)
}

/// From the launch of the last wave that uses a load of input group `g` to its `release` pulse: by then every feeder
/// has read what it needs before a word of the next load, which hops one feeder a cycle, can reach it.
pub fn release_delay(vsa: &Vsa, g: usize) -> i64 {
    let (group, skew) = (&vsa.inputs[g], vsa.schedule.skew.map(i64::abs));
    let (away, readers) = (group.away(vsa), group.readers());
    let lag: i64 = (0..2).map(|a| skew[a] * away[a] + (skew[a] - 1).max(0) * (readers[a] - 1)).sum();
    lag + last_read(vsa, g)
}

fn last_read(vsa: &Vsa, g: usize) -> i64 {
    let of_group = |n: &&Node| matches!(n.op, Op::Input { group, .. } if group as usize == g);
    let ready = vsa.nodes.iter().zip(&vsa.schedule.ready).filter(|(n, _)| of_group(n)).map(|(_, r)| *r).max();
    ready.unwrap_or(FEED_LATENCY).max(FEED_LATENCY)
}

/// From the launch of the last wave of an emitting visit to the `emitted` pulse of output group `o`: a token that
/// leaves the writer from then on finds every value in its collector.
pub fn emitted_delay(vsa: &Vsa, o: usize) -> i64 {
    let group = &vsa.outputs[o];
    let relays = Relays::new(vsa, o);
    let lag: i64 = (0..2)
        .map(|a| vsa.schedule.skew[a].abs() * (group.away(vsa)[a] + group.extent()[a] - 1) - (relays.extent[a] - 1))
        .sum();
    lag + collect_time(vsa, o)
}

/// From the launch of the last wave until nothing of the run is on its way to an engine, so that the next run may
/// start; `None` where a store behind the last wave is over later still.
pub fn swept(vsa: &Vsa) -> Option<i64> {
    let released = (0..vsa.inputs.len()).map(|g| release_delay(vsa, g)).max().unwrap_or(0);
    // The last visit; in its phase the loops may run less often than in others.
    let whole: Vec<i64> = vsa.counters[..vsa.tile_depth].iter().map(|c| c.trip - 1).collect();
    let end: Vec<i64> = vsa.trips_at(&whole).into_iter().take(vsa.tile_depth).map(|trip| trip - 1).collect();
    let behind = |o: usize| {
        vsa.outputs[o].emit.holds(&end, vsa.case_at(&end))
            && emitted_delay(vsa, o) + drain_latency(vsa, vsa.port_of(vsa.outputs[o].array)) >= released
    };
    let stores = vsa.sizes.list.is_empty() && (0..vsa.outputs.len()).any(behind);
    (!stores).then_some(released + 1)
}

/// From a drain token of port `port` to the word it asks for: the same for all groups that store through the port.
pub fn drain_latency(vsa: &Vsa, port: usize) -> i64 {
    let of_port = (0..vsa.outputs.len()).filter(|&o| vsa.port_of(vsa.outputs[o].array) == port);
    of_port.map(|o| Relays::new(vsa, o).latency()).max().unwrap_or(0)
}
