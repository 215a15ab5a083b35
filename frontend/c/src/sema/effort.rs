//! Questions about iterations, and the work that a region may cost: beyond it nothing is decided any more, and the
//! region is refused.

use scop::polyhedron::{range_and_work, Polyhedron, Sample};
use scop::{Affine, Constraint};
use std::cell::Cell;

/// Rows of polyhedra that a region's questions may make and look at: hundreds of times what programs need.
const ROWS: u64 = 5_000_000;

#[derive(Clone, Debug)]
pub(super) struct Effort {
    left: Cell<u64>,
}

impl Effort {
    pub fn new() -> Effort {
        Effort { left: Cell::new(ROWS) }
    }

    /// Nothing is left: answers are unknown from here on.
    pub fn spent(&self) -> bool {
        self.left.get() == 0
    }

    pub fn spend(&self, work: u64) {
        self.left.set(self.left.get().saturating_sub(work));
    }

    /// A point of the iterations that satisfy the constraints.
    pub fn sample(&self, dims: usize, constraints: &[Constraint]) -> Sample {
        if self.spent() {
            return Sample::Unknown;
        }
        let (sample, work) = Polyhedron::new(dims, constraints).sample_and_work();
        self.spend(work + 1);
        sample
    }

    pub fn is_empty(&self, dims: usize, constraints: &[Constraint]) -> bool {
        self.sample(dims, constraints) == Sample::Empty
    }

    /// Least and greatest value of `form` over the rational hull of the constraints; `None` where unbounded or unknown.
    pub fn range(&self, dims: usize, constraints: &[Constraint], form: &Affine) -> (Option<i64>, Option<i64>) {
        if self.spent() {
            return (None, None);
        }
        let (range, work) = range_and_work(dims, constraints, form);
        self.spend(work + 1);
        range
    }
}
