//! How long a search goes on.

use crate::branch::{Effort, Progress, Search};
use crate::facts::Facts;

/// Refused designs that cost as much as one that is assembled.
const REFUSED_PER_DESIGN: u64 = 4;
/// Designs that are assembled however long their walks are, if the effort is four times that.
const FEW_DESIGNS: u64 = 100;
/// Rows that are walked in the time in which a node of a PE is made, or an access of a coarse walk looked at.
const ROWS_PER_NODE: u64 = 1000;
/// Coarse walks that an effort allows for each exact one.
const WALKS_PER_DESIGN: u64 = 40;
/// Coarse walks that any effort allows: enough for the shapes of a grid whose closed forms are equal.
const LEAST_WALKS: u64 = 4000;
/// Parts of the effort where orders of loops decide how long values wait, and how many of them go to the nearest
/// orders.
const WAITING: u64 = 4;
const NEAR: u64 = 4;

impl Search<'_> {
    /// Where values wait for operators of floats, a part of the effort goes to all orders of the loops, much of it to
    /// those nearest to the program's, as most shapes have waves enough and others take memory, and another part to all
    /// orders again: behind the best design that is known by then, more is proved. The least bound that is open at the
    /// end.
    pub(super) fn by_waits(&mut self) -> i64 {
        self.known.list_orders();
        if !self.known.facts.iter().any(Facts::waits) {
            return self.run();
        }
        let mut open = 0;
        for (near, parts) in [(false, 1), (true, NEAR), (false, 1)] {
            self.known.near_orders = near;
            self.allow(parts);
            let least = self.run();
            open = if near { open } else { least.max(open) };
            if self.best.is_some() && open >= self.cap() || self.has_enough(open) {
                break;
            }
        }
        open
    }

    /// So many parts of the effort for a search of its own.
    fn allow(&mut self, parts: u64) {
        self.heap.clear();
        self.seen.clear();
        self.dived.clear();
        // What far orders were refused for says nothing of near ones.
        self.kinds.clear();
        self.tally.clear();
        self.dives = 0;
        let all = self.task.effort;
        let of = |all: u64, done: u64| (all / WAITING).saturating_mul(parts).saturating_add(done);
        self.effort = Effort {
            exact: of(all.exact, self.designs()),
            bounds: of(all.bounds, self.counts.bounds),
            work: of(all.work, self.work()),
            gap: all.gap,
        };
    }

    /// The best design is as good as the task wants it, or somebody who looks on has seen enough.
    fn has_enough(&self, key: i64) -> bool {
        let progress = Progress { best: self.best.as_ref().map(|b| b.cycles), bound: key, counts: self.counts };
        let stopped = self.task.watch.is_some_and(|watch| !watch(&progress));
        stopped || self.best.as_ref().is_some_and(|b| b.cycles <= self.task.enough)
    }

    /// The effort is used up, or somebody has enough.
    pub(super) fn ends(&self, key: i64) -> bool {
        let (effort, counts) = (&self.effort, self.counts);
        self.has_enough(key)
            || self.designs() >= effort.exact
            || self.work() >= effort.work && counts.exact >= FEW_DESIGNS.min(effort.exact / 4)
            || self.work() >= effort.work.saturating_mul(if self.best.is_some() { 2 } else { 4 })
            || counts.bounds >= effort.bounds
            || counts.walks >= (WALKS_PER_DESIGN * effort.exact).max(LEAST_WALKS)
    }

    /// That were assembled, or refused at their price.
    fn designs(&self) -> u64 {
        self.counts.exact + self.counts.refused / REFUSED_PER_DESIGN
    }

    /// See [`Effort::work`].
    fn work(&self) -> u64 {
        let accesses = self.known.facts[0].reads.len() + self.known.facts[0].writes.len();
        self.counts.rows + ROWS_PER_NODE * (self.known.nodes() + self.counts.walks * accesses as u64)
    }
}
