//! Values of earlier waves and of other PEs: what they are, and the table of their nodes.
//!
//! The *reuse distance* of a value is the number of waves from the wave that computes it to the wave that reads it.
//! Reads of one value over one hop and one distance share a `Past` node. Its source is lowered afterwards, since it may
//! read the `Past` itself, as an accumulator does.

use crate::pe::nodes::Nodes;
use crate::vsa::NodeId;
use scop::ScalarType;
use std::collections::BTreeMap;
use uniform::sizes::Formula;

/// A value that a PE computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Target {
    /// Value of a statement, in a lane.
    Value(usize, usize),
    /// Value of a statement's read, in a lane.
    Variable(usize, usize, usize),
    /// Running total of a statement's reduction, for the group of lanes that begins with this one.
    Total(usize, usize),
    /// The part of a total that stays in one PE, if the reduction runs over time and space.
    Share(usize, usize),
}

impl Target {
    pub fn statement(&self) -> usize {
        match *self {
            Target::Value(s, _) | Target::Variable(s, ..) | Target::Total(s, _) | Target::Share(s, _) => s,
        }
    }
}

/// A reuse distance in waves. Ordered by the greatest number first.
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

/// A value at PE `p - hop`, a distance ago.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Past {
    pub target: Target,
    pub hop: [i64; 2],
    pub distance: Distance,
}

/// One node per past.
#[derive(Default)]
pub(super) struct Pasts(BTreeMap<Past, NodeId>);

impl Pasts {
    /// The node of a past, which is new unless there is an equal one.
    pub fn node(&mut self, nodes: &mut Nodes, past: Past, ty: ScalarType, name: &str) -> NodeId {
        *self.0.entry(past).or_insert_with_key(|past| nodes.reserve(past.hop, past.distance.waves.clone(), ty, name))
    }

    /// All pasts in their order, which is the order in which their sources are lowered.
    pub fn list(&self) -> Vec<(Past, NodeId)> {
        self.0.iter().map(|(past, &id)| (past.clone(), id)).collect()
    }
}
