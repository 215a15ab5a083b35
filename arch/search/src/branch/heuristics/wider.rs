//! Buses wider than the memory.
//!
//! A tile's box is loaded row by row, word by word. A word of which nothing is transferred (beyond the array, below the
//! diagonal, outside a wavefront) passes the engine in a cycle of its own, without the memory. Such words may be most of
//! all, and a bus of twice the width passes them in half the cycles, however slow the memory is.
//!
//! Example: a phase of an elimination loads rows of 40 floats, of which 4 are left, from a memory of 8 bytes a cycle. Over a
//! bus of 8 bytes a row takes 20 cycles, over one of 32 bytes 5; the memory is busy for 2.

use super::super::{search_with, Search, Task};
use crate::tuning;
use uniform::design::DesignSpec;
use uniform::memory::Memory;

/// The best array over buses wider than the memory, if another search finds one with fewer cycles. Its space is larger, so
/// it may miss what the search without them finds, which therefore comes first. What is proved is without them.
pub(super) fn wider_buses(own: &mut Search) {
    let (limit, memory) = (own.incumbent.limit(), &own.task.spec.memory);
    let gap = 1.0 - own.bound as f64 / limit as f64;
    // Where no array fits, none over wider buses does.
    let is_open = limit < i64::MAX && gap > tuning::WIDER_LEAST_GAP && !own.has_enough(own.bound);
    if memory.ideal || memory.wider || memory.kinds.is_empty() || !is_open || !own.model.passes_more() {
        return;
    }
    let spec = DesignSpec { memory: Memory { wider: true, ..memory.clone() }, ..own.task.spec.clone() };
    let task = Task { spec: &spec, space: own.task.space.clone(), below: limit, ..*own.task };
    let (found, pes) = search_with(&task, std::mem::take(&mut own.pes));
    own.pes = pes;
    own.counts.exact += found.counts.exact;
    own.counts.bounds += found.counts.bounds;
    own.counts.rows += found.counts.work;
    if let Some(best) = found.best {
        own.offer(best);
    }
}
