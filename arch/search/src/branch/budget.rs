//! How long a search goes on. Effort is counted in designs, bounds and rows, never timed.

use super::task::{Counts, Effort};
use crate::tuning;

/// What a search has done so far.
pub(super) struct Spent {
    pub counts: Counts,
    /// Nodes of all PEs that were assembled.
    pub nodes: u64,
    /// Tiles of all coarse walks.
    pub tiles: u64,
}

pub(super) struct Budget {
    whole: Effort,
    /// What may be done up to now.
    pub limit: Effort,
    /// Loads and stores of the program: a coarse walk looks at each.
    accesses: u64,
}

impl Budget {
    pub fn new(whole: Effort, accesses: usize) -> Budget {
        Budget { whole, limit: whole, accesses: accesses as u64 }
    }

    /// Grants so many parts of the whole effort on top of what is spent.
    pub fn grant(&mut self, parts: u64, spent: &Spent) {
        let of = |all: u64, done: u64| (all / tuning::EFFORT_PARTS).saturating_mul(parts).saturating_add(done);
        self.limit = Effort {
            exact: of(self.whole.exact, self.designs(&spent.counts)),
            bounds: of(self.whole.bounds, spent.counts.bounds),
            work: of(self.whole.work, self.work(spent)),
            gap: self.whole.gap,
        };
    }

    pub fn is_spent(&self, spent: &Spent, has_design: bool) -> bool {
        let (limit, counts, work) = (&self.limit, &spent.counts, self.work(spent));
        self.designs(counts) >= limit.exact
            || work >= limit.work && counts.exact >= tuning::FEW_DESIGNS.min(limit.exact / 4)
            || work >= limit.work.saturating_mul(if has_design { 2 } else { 4 })
            || counts.bounds >= limit.bounds
            || counts.walks >= (tuning::WALKS_PER_DESIGN * limit.exact).max(tuning::LEAST_WALKS)
    }

    /// Designs that were assembled, and those refused at their price.
    fn designs(&self, counts: &Counts) -> u64 {
        counts.exact + counts.refused / tuning::REFUSED_PER_DESIGN
    }

    /// See [`Effort::work`].
    fn work(&self, spent: &Spent) -> u64 {
        spent.counts.rows + spent.tiles + tuning::ROWS_PER_NODE * (spent.nodes + spent.counts.walks * self.accesses)
    }
}
