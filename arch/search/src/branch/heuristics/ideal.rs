//! What is fast with ideal memory.
//!
//! Behind a slow memory many arrays have the same bound: the words that it can move. The search meets them in any order,
//! and most of them miss the bound by far, because they load, compute and store in turns. With ideal memory the bound of
//! an array is its computation, and the array that computes fastest often hides the memory's time best.

use super::super::{search, Search, Task};
use crate::tuning;
use uniform::design::DesignSpec;
use uniform::memory::Memory;

/// The array that a short search for ideal memory finds, if the board's memory leaves something to win.
pub(super) fn ideal_memory(own: &mut Search) {
    let (limit, memory) = (own.incumbent.limit(), &own.task.spec.memory);
    let gap = 1.0 - own.bound as f64 / limit as f64;
    // Beyond the greatest gap the bound says little, so it is not the memory that makes arrays alike.
    let is_worth = tuning::IDEAL_LEAST_GAP < gap && gap < tuning::IDEAL_GREATEST_GAP;
    if memory.ideal || memory.wider || memory.kinds.is_empty() || !is_worth || own.has_enough(own.bound) {
        return;
    }
    let spec = DesignSpec { memory: Memory { ideal: true, ..memory.clone() }, ..own.task.spec.clone() };
    let effort = own.task.effort.part(tuning::IDEAL_PART);
    let found = search(&Task { spec: &spec, space: own.task.space.clone(), below: limit, effort, ..*own.task });
    own.counts.exact += found.counts.exact;
    own.counts.bounds += found.counts.bounds;
    own.counts.rows += found.counts.work;
    if let Some(best) = found.best {
        // Another array is better, or there is none: nobody asks why this one is refused.
        let _ = own.try_plan(best.plan);
    }
}
