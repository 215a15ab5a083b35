//! The best design so far, and what it rules out.

use super::task::{Design, Step, Task};
use crate::tuning;

pub(super) struct Incumbent {
    best: Option<Design>,
    /// The best designs before it, the last one at the end.
    earlier: Vec<Design>,
    /// Only designs with fewer cycles are of interest.
    below: i64,
    gap: f64,
    pub trace: Vec<Step>,
}

impl Incumbent {
    pub fn new(task: &Task) -> Incumbent {
        Incumbent { best: None, earlier: vec![], below: task.below, gap: task.effort.gap, trace: vec![] }
    }

    pub fn is_none(&self) -> bool {
        self.best.is_none()
    }

    pub fn cycles(&self) -> Option<i64> {
        self.best.as_ref().map(|best| best.cycles)
    }

    pub fn take(&mut self) -> Option<Design> {
        self.best.take()
    }

    /// Puts back the design that was taken, improved.
    pub fn put(&mut self, design: Design) {
        self.best = Some(design);
    }

    /// The best designs before the best one, the fastest first.
    pub fn runners_up(&mut self) -> Vec<Design> {
        self.earlier.drain(..).rev().collect()
    }

    /// Only fewer cycles than these are better.
    pub fn limit(&self) -> i64 {
        self.cycles().map_or(self.below, |cycles| cycles.min(self.below))
    }

    /// Nodes with this bound or a greater one are of no interest: the gap allows to leave them open.
    pub fn cap(&self) -> i64 {
        let cap = |cycles: i64| ((cycles as f64 * (1.0 - self.gap)).ceil() as i64).min(self.below);
        self.cycles().map_or(self.below, cap)
    }

    /// Takes a design if it is better than the best one.
    pub fn offer(&mut self, design: Design, step: impl FnOnce(i64) -> Step) {
        if design.cycles < self.limit() {
            self.trace.push(step(design.cycles));
            self.earlier.extend(self.best.replace(design));
            self.earlier.drain(..self.earlier.len().saturating_sub(tuning::RUNNERS_UP));
        }
    }
}
