//! What may be chosen of a PE.

use uniform::design::Dot;
use uniform::fabric::Fabric;

/// Choices that change the PE but not what it computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Statements that never meet share operators and links.
    pub shared: bool,
    /// Partial sums enter a reduction's chain of lanes at its head instead of its end.
    pub accumulate_first: bool,
    /// Sums of floats that one PE accumulates in turn, where waiting for the adder would hold up the waves; a power of
    /// two, or 0 for a single sum.
    pub interleave: i64,
    /// Sums of products of floats are fused dot products.
    pub dot: Dot,
    /// Reuse distances may vary with the phase or the size.
    pub varying: bool,
    /// Waves beyond which partial results that wait for the next tile go to DRAM and back instead of on-chip memory.
    pub spill_beyond: i64,
    pub fabric: Fabric,
}
