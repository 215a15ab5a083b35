//! The registers of a lane that a kernel takes.
//!
//! **Problem.** Registers decide how many warps a processor holds, so how far memory's latency is hidden. The compiler allots
//! them after the search has chosen a map.
//!
//! **Terms.** A value *waits* if a later step uses it. It is *alive* in a step from where it is computed to its last use. A part
//! of rows that stand side by side, and what a shuffle leaves in its lane, is a *renaming*: other names of registers that are
//! alive anyway.
//!
//! **Method.** A kernel [needs](needed) the values that wait, the rows asked for ahead, the most values that are alive at once
//! in the interior in the order of the text, and [`OVERHEAD`]. A compiler [takes](taken) more where there is room: it begins
//! operations of a step early, so a new value is there before the one that it replaces has been used for the last time, and
//! without a time loop it loads all rows first. Of a kernel that bounds its registers, it takes up to the bound.
//!
//! ```text
//! star, 8 sweeps, rows of 4 registers:
//!   wait 2 rows of each sweep            64
//!   asked for, 4 rows ahead              16
//!   alive: 3 rows, a register shuffled   13
//!   addresses, masks, counters           20      needed 113
//!   new values beside those that wait    64      taken  177, of which 184 are allotted, in eights
//! ```
//!
//! NVRTC 13.5 takes 148 here for sm_90. `scripts/gpu.sh compile` fails if a kernel takes more than its head states.

use crate::ir::{Node, Op, Warp};

/// Registers of a lane that a kernel may have.
pub const MOST: i64 = 255;
/// Registers of a processor.
const PROCESSOR: i64 = 65536;
/// A lane's registers are allotted in groups of this many.
const GROUP: i64 = 8;
/// Registers of addresses, masks and counters.
const OVERHEAD: i64 = 20;
/// Registers of a byte that all lanes use, with its address.
const ADDRESSED: i64 = 3;
/// A compiler loads all rows first if the kernel takes no more than these by that.
const EARLY: i64 = 128;
/// Of as many as these, a few more registers leave room for fewer blocks.
const COSTLY: i64 = 128;

/// Blocks of this many threads that a processor holds, of lanes with this many registers.
pub fn blocks(registers: i64, threads: i64) -> i64 {
    PROCESSOR / (threads * ((registers + GROUP - 1) / GROUP * GROUP))
}

/// The most registers of a lane with which a processor holds this many blocks.
fn most(blocks: i64, threads: i64) -> i64 {
    (PROCESSOR / (blocks * threads) / GROUP * GROUP).min(MOST)
}

/// The blocks of a processor for which the compiler has to keep a kernel's registers few enough, if it has to: those of warps that
/// share operands, and those of which a few registers more would leave room for two blocks of 4 warps in place of three.
pub fn bound(warp: &Warp) -> Option<i64> {
    bound_of(warp, needed(warp))
}

/// The same of a kernel that needs this many registers at least.
fn bound_of(warp: &Warp, least: i64) -> Option<i64> {
    let threads = 32 * warp.warps;
    let is_bounded = warp.block.is_some() || (warp.warps == 4 && COSTLY < least && least <= most(3, threads));
    is_bounded.then(|| blocks(least, threads).max(1))
}

/// The registers that a compiler takes, at most; in whole groups, as they are allotted.
pub fn taken(warp: &Warp) -> i64 {
    let least = needed(warp);
    match bound_of(warp, least) {
        Some(blocks) => most(blocks, 32 * warp.warps),
        None => ((wanted(warp, least) + GROUP - 1) / GROUP * GROUP).min(MOST.max(least)),
    }
}

/// Whether a compiler would take more registers than a kernel may have.
pub fn is_crowded(warp: &Warp) -> bool {
    let least = needed(warp);
    bound_of(warp, least).is_none() && wanted(warp, least) > MOST
}

/// The registers that a compiler takes where it has all it wants, of a kernel that needs this many at least.
fn wanted(warp: &Warp, least: i64) -> i64 {
    let asked = if warp.time.is_none() { (loaded(warp) + OVERHEAD).min(EARLY) } else { 0 };
    (least + waiting(warp)).max(asked)
}

/// The registers with which a kernel runs without memory for its values.
pub fn needed(warp: &Warp) -> i64 {
    let ahead = warp.time.as_ref().map_or(0, |t| t.ahead);
    // Bytes that all lanes use, each in a register and at an address.
    let bytes = |n: &&Node| matches!(n.op, Op::Load { each: 1, .. }) && !n.row && !n.invariant && n.ty.bits() == 8;
    let bytes = ADDRESSED * warp.nodes.iter().filter(bytes).count() as i64;
    waiting(warp) + ahead * (loaded(warp) + bytes) + alive(warp) + OVERHEAD
}

/// Registers of values that wait for a later step.
fn waiting(warp: &Warp) -> i64 {
    warp.waits().iter().map(|(of, steps)| steps * words(warp, warp.node(*of))).sum()
}

/// Registers of the rows that a step loads.
pub fn loaded(warp: &Warp) -> i64 {
    let loads = warp.nodes.iter().filter(|n| matches!(n.op, Op::Load { .. }) && n.row && !n.invariant);
    loads.map(|n| words(warp, n)).sum()
}

/// Registers of a lane for a value.
fn words(warp: &Warp, n: &Node) -> i64 {
    if n.row {
        warp.width * ((i64::from(n.ty.bytes()) + 3) / 4)
    } else {
        1
    }
}

/// Registers of a value that no other value has.
fn own_words(warp: &Warp, n: &Node) -> i64 {
    match n.op {
        Op::Const(_) | Op::Argument { .. } | Op::Past { .. } | Op::Guard(_) | Op::Take { .. } => 0,
        Op::Hop { by, .. } if n.row => words(warp, n) * by.abs().min(warp.width) / warp.width,
        _ => words(warp, n),
    }
}

/// The most registers of values that are alive at once in the interior, in the order of the nodes.
fn alive(warp: &Warp) -> i64 {
    let end = warp.nodes.len();
    let mut last: Vec<usize> = (0..end).collect();
    warp.stores.iter().for_each(|s| last[s.value.index()] = end);
    let inside = || (0..end).filter(|&k| !warp.nodes[k].border);
    for k in inside().rev() {
        let node = &warp.nodes[k];
        let is_renaming = matches!(node.op, Op::Take { .. } | Op::Hop { .. } | Op::Guard(_));
        let until = if is_renaming { last[k] } else { k };
        let used = match &node.op {
            Op::Guard(g) => vec![if g.inside { g.then } else { g.otherwise }],
            op => op.operands(),
        };
        used.into_iter().for_each(|o| last[o.index()] = last[o.index()].max(until));
    }
    let mut freed = vec![0; end + 1];
    let (mut now, mut most) = (0, 0);
    for k in inside() {
        let own = own_words(warp, &warp.nodes[k]);
        freed[last[k]] += own;
        now += own;
        most = most.max(now);
        now -= freed[k];
    }
    most
}
