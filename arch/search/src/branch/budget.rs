//! How long a search goes on. Effort is counted in designs, bounds and rows, never timed.

use super::task::{Counts, Effort};
use crate::tuning;

/// What a search has done so far.
pub(super) struct Spent {
    pub counts: Counts,
    /// Nodes of PEs that were lowered.
    pub nodes: u64,
    /// Tiles of all coarse walks.
    pub tiles: u64,
    /// Statements that grids were compared with.
    pub compared: u64,
}

pub(super) struct Budget {
    whole: Effort,
    /// What may be done up to now.
    pub limit: Effort,
    /// Loads and stores of the program: a coarse walk looks at each.
    accesses: u64,
    /// Work until which the best design is improved.
    polishing: u64,
}

impl Budget {
    pub fn new(whole: Effort, accesses: usize) -> Budget {
        Budget { whole, limit: whole, accesses: accesses as u64, polishing: 0 }
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

    /// Grants the whole effort on top of what is spent.
    pub fn grant_again(&mut self, spent: &Spent) {
        self.grant(tuning::EFFORT_PARTS, spent);
        self.whole = self.limit;
    }

    /// Nothing more may be done.
    pub fn is_spent(&self, spent: &Spent, has_design: bool) -> bool {
        self.has_no_bounds(spent, has_design) || self.has_no_designs(spent, has_design)
    }

    /// No more shapes may be bounded.
    fn has_no_bounds(&self, spent: &Spent, has_design: bool) -> bool {
        spent.counts.bounds >= self.limit.bounds.saturating_mul(if has_design { 1 } else { 4 })
    }

    /// No more designs may be assembled.
    fn has_no_designs(&self, spent: &Spent, has_design: bool) -> bool {
        let (limit, counts, work) = (&self.limit, &spent.counts, self.work(spent));
        self.designs(counts) >= limit.exact
            || work >= limit.work && counts.exact >= tuning::FEW_DESIGNS.min(limit.exact / 4)
            || work >= limit.work.saturating_mul(if has_design { 2 } else { 4 })
            || counts.walks >= (tuning::WALKS_PER_DESIGN * limit.exact).max(tuning::LEAST_WALKS)
    }

    /// Work of one more walk, at most. The first design may take all that is left; one that takes more than a part of
    /// it is not worth its time once there is another.
    pub fn walk(&self, spent: &Spent, has_design: bool) -> u64 {
        let (most, parts) = if has_design { (2, tuning::WALK_PART) } else { (4, 1) };
        (self.limit.work.saturating_mul(most).saturating_sub(self.work(spent)) / parts).max(tuning::LEAST_WALK)
    }

    /// Grants as much work as for the search once more to improve the best design.
    pub fn grant_polishing(&mut self, spent: &Spent) {
        self.polishing = self.whole.work.saturating_add(self.work(spent));
    }

    /// What is left of that.
    pub fn polishing(&self, spent: &Spent) -> u64 {
        self.polishing.saturating_sub(self.work(spent))
    }

    /// Designs that were assembled, and those refused at their price.
    fn designs(&self, counts: &Counts) -> u64 {
        counts.exact + counts.refused / tuning::REFUSED_PER_DESIGN
    }

    /// See [`Effort::work`].
    pub fn work(&self, spent: &Spent) -> u64 {
        spent.counts.rows
            + spent.tiles
            + tuning::ROWS_PER_STATEMENT * spent.compared
            + tuning::ROWS_PER_NODE * spent.nodes
            + tuning::ROWS_PER_ACCESS * spent.counts.walks * self.accesses
    }
}
