//! The time that a warp's program takes on a device: the greatest of what memory, instructions and shuffles take.
//!
//! The count is a walk over the nodes of the interior body, times the steps and warps that there are. So redundant PEs and steps
//! count as others do. Rates are those of one H200, measured with generated code; the ratios decide, not the device.

use crate::ir::{Block, Node, Op, Passing, Pitch, Warp, LANES, QUAD};
use crate::registers;
use scop::BinaryOp;

/// Bytes that a copy moves in a second, reads and writes together.
const COPIED: f64 = 4.19e12;
/// Instructions of lanes in a second, multiplications and additions of floats.
const ISSUED: f64 = 32.4e12;
/// Other operations of lanes in a second: integers, minimum and maximum, conversions.
const OTHER: f64 = 16.6e12;
/// Shuffles of lanes in a second.
const SHUFFLED: f64 = 8.3e12;
/// Processors of the device.
const PROCESSORS: i64 = 132;
/// Warps that fill it.
const WARPS: f64 = (PROCESSORS * 16) as f64;
/// Steps of a warp that has a part of the time loop.
const HEIGHT: i64 = 128;
/// With more registers than these few warps fit a processor.
const ALONE: i64 = 150;
/// Bytes that the cache hands out in a second: reloaded words.
const CACHED: f64 = 20.0e12;

/// How much longer memory takes where a lane has more than one word of a row: its words lie apart from those of the next lane.
const WIDE: f64 = 1.1;
/// How much longer instructions take than at their rates.
const SLOWER: f64 = 1.4;
/// Registers of a lane that leave room for too few warps to hide that each waits for its first rows.
const MANY: i64 = 128;
/// Steps of a warp that are few, from the least.
const SHORT: [i64; 2] = [8, 16];
/// Instructions that an element which is loaded by itself takes more than in a word, and a value that a border selects.
const ELEMENT: i64 = 20;
const GUARD: i64 = 5;
/// They are at least this many times the steps to warm up.
const WARM: i64 = 4;

/// What a program takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub seconds: f64,
    /// The same where memory, instructions, shuffles and the cache do not overlap wholly: the fourth root of the sum of their fourth
    /// powers. It is the greatest of them if the others are small, and 1.19 times it if one more is as great.
    pub together: f64,
    /// The same if only memory decided.
    pub memory: f64,
    /// Registers of rows that a step loads.
    pub loaded: i64,
    /// Registers of a lane that a compiler takes, at most.
    pub registers: i64,
    pub warps: f64,
    /// Bytes of different elements that a warp reads in a step.
    pub read: i64,
}

/// Bytes on the way from the memory to a processor that hide its latency: 4.2 TB/s, a microsecond, 132 processors.
pub const ENOUGH: i64 = 32 << 10;

impl Estimate {
    /// Bytes that all warps of a processor wait for, if each has asked for this many steps ahead.
    pub fn in_flight(&self, ahead: i64) -> i64 {
        4 * resident(self.registers) * ahead * self.read
    }
}

/// Warps of a strip at a side, such that they take no longer than others: 4, or 2 where what a border takes is little beside the
/// rest of a step. Measured: windows of 11 x 11 take 6 % less time with 2 than with 4; windows of 7 x 7 and stencils take more.
pub fn turns(warp: &Warp) -> i64 {
    let each = |n: &&Node| if n.row { warp.width } else { 0 };
    let count = |which: &dyn Fn(&Node) -> bool| warp.nodes.iter().filter(|n| which(n)).map(|n| each(&n)).sum::<i64>();
    let step = count(&|n| !n.border && matches!(n.op, Op::Binary(..) | Op::Fma(..) | Op::Unary(..) | Op::Select(..)));
    let loads = count(&|n| !n.border && !n.invariant && matches!(n.op, Op::Load { .. }));
    let guards = count(&|n| !n.border && matches!(&n.op, Op::Guard(g) if g.side.is_some()));
    match ELEMENT * loads + GUARD * guards <= step {
        true => 2,
        false => 4,
    }
}

/// Whether a warp is a block by itself: few fit a processor, and there are many more, so that none waits for those of its block.
pub fn is_alone(warp: &Warp) -> bool {
    let beside: f64 = warp.grid.iter().filter_map(|a| a.most_warps()).map(|n| n as f64).product();
    warp.block.is_none() && registers::taken(warp) > ALONE && beside > WARPS / 2.0
}

/// What one step of a warp takes.
#[derive(Default)]
struct Step {
    float: f64,
    other: f64,
    shuffles: f64,
    read: f64,
    cached: f64,
    written: f64,
}

pub fn estimate(warp: &Warp) -> Estimate {
    let mut one = step(warp);
    let (mut steps, mut warps) = (1.0, 1.0);
    if let Some(time) = &warp.time {
        let extent = |form: &crate::form::Form| form.range(&warp.scalars, 1);
        steps = match time.height {
            Some(_) => (HEIGHT + time.before) as f64,
            None => ((extent(&time.last).1).min(time.clip.1.most) - extent(&time.first).1.max(time.clip.0) + 1).max(1)
                as f64,
        };
    }
    for axis in &warp.grid {
        warps *= match axis.step {
            Pitch::Constant(_) => axis.most_warps().unwrap_or(axis.count.most) as f64,
            Pitch::Height => (axis.count.most as f64 / HEIGHT as f64).max(1.0),
        };
        if axis.step == Pitch::Height && axis.count.most < HEIGHT {
            steps = steps.min((axis.count.most + warp.time.as_ref().map_or(0, |t| t.before)) as f64);
        }
    }
    let all = warps * steps * LANES as f64;
    let once = ends(warp) / steps;
    one.read += once;
    let issue = all * ((one.float + one.shuffles + one.read / 16.0) / ISSUED + one.other / OTHER);
    let memory = all * (one.read + one.written) / COPIED;
    let (shuffles, cached) = (all * one.shuffles / SHUFFLED, all * one.cached / CACHED);
    let seconds = memory.max(issue).max(shuffles).max(cached);
    let wide = if warp.is_wide() { WIDE } else { 1.0 };
    let together = [memory * wide, issue, shuffles, cached].iter().map(|p| p.powi(4)).sum::<f64>().powf(0.25);
    let registers = registers::taken(warp);
    // A device that is not full takes as long as a full one.
    let idle = (WARPS / warps).max(1.0);
    let spilled = if registers > registers::MOST { 16.0 } else { 1.0 };
    let read = (one.read * LANES as f64) as i64;
    Estimate {
        seconds: seconds * idle * spilled,
        together: together * idle,
        memory: memory * idle,
        loaded: registers::loaded(warp),
        registers,
        warps,
        read,
    }
}

/// Blocks of 4 warps that a processor holds, of lanes with this many registers; 0: they do not fit.
fn resident(registers: i64) -> i64 {
    match registers {
        r if r > registers::MOST => 0,
        r => registers::blocks(r, 128).min(16),
    }
}

/// The steps of a warp at which it goes through arrays in the order in which the memory has them: few, if memory decides the
/// time nevertheless. Each warp also runs the steps to warm up, and waits for its first rows. So the rows that two warps
/// read are read at one time, once from the memory; a copy moves bytes in this order, too. `None`: many steps are better.
pub fn short_height(warp: &Warp) -> Option<i64> {
    let time = warp.time.as_ref().filter(|t| t.height.is_some())?;
    if registers::taken(warp) > MANY {
        return None;
    }
    let one = step(warp);
    let memory = distinct(warp) / COPIED;
    let warps: f64 = warp.grid.iter().map(|a| a.most_warps().unwrap_or(a.count.most) as f64).product();
    let issue = (one.float + one.shuffles + one.read / 16.0) / ISSUED + one.other / OTHER;
    let busy = SLOWER * warps * LANES as f64 * issue.max(one.shuffles / SHUFFLED).max(one.cached / CACHED);
    let all = |h: i64| busy * (h + time.before + 2) as f64 / h as f64;
    SHORT.into_iter().find(|&h| WARM * time.before <= h && all(h) <= memory)
}

/// Whether instructions take longer than memory.
pub fn is_busy(warp: &Warp) -> bool {
    let Estimate { seconds, memory, .. } = estimate(warp);
    short_height(warp).is_none() && seconds > memory
}

/// Steps of a warp such that all warps are on the device at once.
pub fn likely_height(warp: &Warp) -> f64 {
    let at_once = PROCESSORS * 4 * resident(registers::taken(warp)).max(1);
    let steps: i64 = warp.grid.iter().filter(|a| a.step == Pitch::Height).map(|a| a.count.most).product();
    let strips: i64 = warp.grid.iter().filter_map(|a| a.most_warps()).product();
    (steps as f64 * strips as f64 / at_once as f64).clamp(1.0, steps.max(1) as f64)
}

/// Bytes of all elements of the arrays, read and written.
fn distinct(warp: &Warp) -> f64 {
    let times = |a: &crate::ir::Array| match a.passing {
        Passing::Pointer => i64::from(a.read) + i64::from(a.written),
        _ => 0,
    };
    warp.arrays.iter().map(|a| (times(a) * a.dims.iter().product::<i64>() * i64::from(a.ty.bytes())) as f64).sum()
}

/// Bytes of a lane that elements side by side take in the memory, each with this many between it and the next.
fn spread_bytes(warp: &Warp, array: usize, at: &[crate::form::Form]) -> f64 {
    let last = at.last().map_or(0, |f| f.unit.abs().clamp(1, 8));
    let along = at.iter().rev().skip(1).all(|f| f.unit == 0);
    let apart = if along { last as f64 } else { 8.0 };
    apart * warp.width as f64 * f64::from(warp.arrays[array].ty.bytes())
}

/// Bytes that a lane reads and writes before and behind the time loop.
fn ends(warp: &Warp) -> f64 {
    let start = |n: &Node| match &n.op {
        Op::Load { array, at, each } if n.row && n.invariant && warp.time.is_some() => {
            *each as f64 * spread_bytes(warp, *array, at)
        }
        _ => 0.0,
    };
    let stores = warp.stores.iter().filter(|s| warp.is_after(s)).map(|s| spread_bytes(warp, s.array, &s.at));
    warp.nodes.iter().map(start).sum::<f64>() + stores.sum::<f64>()
}

fn step(warp: &Warp) -> Step {
    let mut out = Step::default();
    let mut rows: Vec<(usize, Vec<crate::form::Form>)> = vec![];
    // Where no step is inside, all are at the border.
    let behind = |s: &&crate::ir::Store| warp.is_after(s);
    let all = warp.time.is_some() && !warp.stores.iter().any(|s| s.inside || behind(&s));
    for node in warp.nodes.iter().filter(|n| (all || !n.border) && !n.invariant && !n.after) {
        let each = warp.width as f64;
        let wide = if node.ty.bytes() > 4 { 2.0 } else { 1.0 };
        match &node.op {
            Op::Load { array, at, each: elements } if node.row && warp.arrays[*array].passing == Passing::Pointer => {
                // Loads of one row share its lines in the cache; those that are not side by side take a line each.
                let bytes = *elements as f64 * spread_bytes(warp, *array, at);
                let row: Vec<_> = at.iter().map(|f| if f.unit == 0 { f.clone() } else { f.linear() }).collect();
                out.cached += bytes;
                if !rows.contains(&(*array, row.clone())) {
                    rows.push((*array, row));
                    out.read += bytes;
                }
            }
            Op::Load { .. } => out.other += 1.0,
            Op::Hop { by, .. } => out.shuffles += (by.abs().min(warp.width)) as f64 * wide,
            Op::Unary(..) | Op::Fma(..) => out.float += each * wide,
            Op::Binary(..) if node.carryless => out.float += each,
            // Four rows of bytes become four rows of quads by eight operations.
            Op::Quad(_) if node.row => out.other += 2.0 * each,
            Op::Binary(op, ..) if node.ty.is_float() && !matches!(op, BinaryOp::Min | BinaryOp::Max) => {
                out.float += each * wide
            }
            Op::Binary(..) | Op::Cast(_) | Op::Select(..) | Op::Lookup(..) | Op::Dot(..) if node.row => {
                out.other += each * wide
            }
            _ => {}
        }
    }
    for feeder in warp.feeders() {
        // A row is for all warps of the block.
        let parts = if feeder.row { Block::WARPS } else { 1 };
        let each = if feeder.quad { QUAD } else { 1 };
        let bytes = (each * feeder.elements * i64::from(warp.arrays[feeder.array].ty.bytes())) as f64;
        out.read += bytes / parts as f64 / LANES as f64;
        let words = bytes / 16.0 / if feeder.row { LANES as f64 } else { 1.0 };
        out.other += words;
    }
    let each_step = |s: &&crate::ir::Store| !behind(s) && (all || s.inside || warp.time.is_none());
    for store in warp.stores.iter().filter(each_step) {
        out.written += spread_bytes(warp, store.array, &store.at);
    }
    out
}
