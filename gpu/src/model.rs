//! The time that a warp's program takes on a device: the greatest of what memory, instructions and shuffles take.
//!
//! The count is a walk over the nodes of the interior body, times the steps and warps that there are. So redundant PEs and steps
//! count as others do. Rates are those of one H200, measured with generated code; the ratios decide, not the device.

use crate::ir::{Node, Op, Passing, Pitch, Warp, LANES};
use scop::BinaryOp;

/// Bytes that a copy moves in a second, reads and writes together.
const COPIED: f64 = 4.19e12;
/// Instructions of lanes in a second, multiplications and additions of floats.
const ISSUED: f64 = 32.4e12;
/// Other operations of lanes in a second: integers, minimum and maximum, conversions.
const OTHER: f64 = 16.6e12;
/// Shuffles of lanes in a second.
const SHUFFLED: f64 = 8.3e12;
/// Warps that fill the device.
const WARPS: f64 = 132.0 * 16.0;
/// Steps of a warp that has a part of the time loop.
const HEIGHT: i64 = 128;
/// Registers of a lane that a kernel may have.
pub const REGISTERS: i64 = 255;
/// Bytes that the cache hands out in a second: reloaded words.
const CACHED: f64 = 20.0e12;

/// What a program takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub seconds: f64,
    /// Registers of a lane that hold values at the end of a step.
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
    let one = step(warp);
    let (mut steps, mut warps) = (1.0, 1.0);
    if let Some(time) = &warp.time {
        let extent = |form: &crate::form::Form| form.range(&warp.scalars, 1);
        steps = match time.height {
            Some(_) => (HEIGHT + time.before) as f64,
            None => {
                ((extent(&time.last).1).min(time.clip.1) - extent(&time.first).1.max(time.clip.0) + 1).max(1) as f64
            }
        };
    }
    for axis in &warp.grid {
        warps *= match axis.step {
            Pitch::Constant(_) => axis.warps().unwrap_or(axis.count) as f64,
            Pitch::Height => (axis.count as f64 / HEIGHT as f64).max(1.0),
        };
        if axis.step == Pitch::Height && axis.count < HEIGHT {
            steps = steps.min((axis.count + warp.time.as_ref().map_or(0, |t| t.before)) as f64);
        }
    }
    let all = warps * steps * LANES as f64;
    let memory = all * (one.read + one.written) / COPIED;
    let issue = all * ((one.float + one.shuffles + one.read / 16.0) / ISSUED + one.other / OTHER);
    let seconds = memory.max(issue).max(all * one.shuffles / SHUFFLED).max(all * one.cached / CACHED);
    let registers = registers(warp);
    // A device that is not full takes as long as a full one.
    let idle = (WARPS / warps).max(1.0);
    let spilled = if registers > REGISTERS { 16.0 } else { 1.0 };
    Estimate { seconds: seconds * idle * spilled, registers, warps, read: (one.read * LANES as f64) as i64 }
}

/// Blocks of 4 warps that a processor holds, of lanes with this many registers; 0: they do not fit.
fn resident(registers: i64) -> i64 {
    match registers {
        r if r > REGISTERS => 0,
        r => (65536 / (128 * ((r + 7) / 8 * 8))).min(16),
    }
}

/// Registers of addresses, masks and counters.
const OVERHEAD: i64 = 24;

/// Values that wait for a later step, rows asked for ahead, and the most that live at once within a step.
fn registers(warp: &Warp) -> i64 {
    let words = |n: &Node| if n.row { warp.width * ((i64::from(n.ty.bytes()) + 3) / 4) } else { 1 };
    let waiting: i64 = warp.waits().iter().map(|(of, steps)| steps * words(warp.node(*of))).sum();
    let ahead = warp.time.as_ref().map_or(0, |t| t.ahead);
    let loads: i64 =
        warp.nodes.iter().filter(|n| matches!(n.op, Op::Load { .. }) && n.row && !n.invariant).map(words).sum();
    waiting + ahead * loads + live(warp, words) + OVERHEAD
}

/// The most registers of values that are alive at once in the interior, in the order of the nodes.
fn live(warp: &Warp, words: impl Fn(&Node) -> i64) -> i64 {
    let mut last: Vec<usize> = (0..warp.nodes.len()).collect();
    for (k, node) in warp.nodes.iter().enumerate().filter(|(_, n)| !n.border) {
        let used = match &node.op {
            Op::Guard(g) => vec![if g.inside { g.then } else { g.otherwise }],
            op => op.operands(),
        };
        used.into_iter().for_each(|o| last[o.index()] = k);
    }
    warp.stores.iter().for_each(|s| last[s.value.index()] = warp.nodes.len());
    let held =
        |n: &Node| !n.border && !matches!(n.op, Op::Const(_) | Op::Argument { .. } | Op::Past { .. } | Op::Guard(_));
    let (mut now, mut most) = (0, 0);
    let mut ends: Vec<i64> = vec![0; warp.nodes.len() + 1];
    for (k, node) in warp.nodes.iter().enumerate() {
        if held(node) {
            now += words(node);
            ends[last[k]] += words(node);
        }
        most = most.max(now);
        now -= ends[k];
    }
    most
}

fn step(warp: &Warp) -> Step {
    let mut out = Step::default();
    let mut rows: Vec<(usize, Vec<crate::form::Form>)> = vec![];
    // Where no step is inside, all are at the border.
    let all = warp.time.is_some() && !warp.stores.iter().any(|s| s.inside);
    for node in warp.nodes.iter().filter(|n| (all || !n.border) && !n.invariant && !n.after) {
        let each = warp.width as f64;
        let wide = if node.ty.bytes() > 4 { 2.0 } else { 1.0 };
        match &node.op {
            Op::Load { array, at } if node.row && warp.arrays[*array].passing == Passing::Pointer => {
                // Loads of one row share its lines in the cache; those that are not side by side take a line each.
                let last = at.last().map_or(0, |f| f.unit);
                let along = at.iter().rev().skip(1).all(|f| f.unit == 0);
                let apart = if along { last.abs().clamp(1, 8) as f64 } else { 8.0 };
                let bytes = each * f64::from(node.ty.bytes()) * apart;
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
            Op::Binary(op, ..) if node.ty.is_float() && !matches!(op, BinaryOp::Min | BinaryOp::Max) => {
                out.float += each * wide
            }
            Op::Binary(..) | Op::Cast(_) | Op::Select(..) | Op::Lookup(..) if node.row => out.other += each * wide,
            _ => {}
        }
    }
    for store in warp.stores.iter().filter(|s| all || s.inside || warp.time.is_none()) {
        let last = store.at.last().map_or(0, |f| f.unit.abs().clamp(1, 8));
        let along = store.at.iter().rev().skip(1).all(|f| f.unit == 0);
        let apart = if along { last as f64 } else { 8.0 };
        out.written += apart * warp.width as f64 * f64::from(warp.arrays[store.array].ty.bytes());
    }
    out
}
