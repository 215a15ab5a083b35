//! Work limit for questions about iterations: after it is spent, every answer is "unknown" and the region is refused.
//! The unit is a row of a polyhedron, which is the same on every machine.

use scop::polyhedron::{range_and_work, Polyhedron, Sample};
use scop::{Affine, Constraint};
use std::cell::Cell;

/// Limit in rows generated and scanned: hundreds of times the need of real programs.
const ROWS: u64 = 5_000_000;

#[derive(Clone, Debug)]
pub(super) struct Effort {
    left: Cell<u64>,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { left: Cell::new(ROWS) }
    }
}

impl Effort {
    /// Whether the limit is reached.
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

    /// Least and greatest value of `form` over the rational relaxation; `None` where unbounded or unknown.
    pub fn range(&self, dims: usize, constraints: &[Constraint], form: &Affine) -> (Option<i64>, Option<i64>) {
        if self.spent() {
            return (None, None);
        }
        let (range, work) = range_and_work(dims, constraints, form);
        self.spend(work + 1);
        range
    }
}
