//! Reuse distances: how many waves ago a value was made.

use uniform::sizes::Formula;

/// How many waves ago a value was made. Ordered by the greatest number first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Distance {
    /// At most.
    pub most: i64,
    /// A number, or what it is in each case and at each size.
    pub waves: Formula,
    /// And this many waves more.
    pub more: i64,
}

impl Distance {
    /// The same number of waves always.
    pub fn constant(waves: i64) -> Distance {
        Distance { most: waves, waves: Formula::Const(waves), more: 0 }
    }
}
