//! The open nodes of a search.

use super::task::Proposal;
use crate::space::{Grid, Shape};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Something with a bound: no design in it takes fewer cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bounded<T> {
    pub bound: i64,
    pub of: T,
}

impl<T> Bounded<T> {
    pub fn new(bound: i64, of: T) -> Bounded<T> {
        Bounded { bound, of }
    }
}

/// The shapes of a grid that are of interest.
pub(super) struct Shapes {
    pub shapes: Vec<Bounded<Shape>>,
    /// How many were bounded.
    pub bounds: u64,
    /// The least bound of shapes that were left out without a proof.
    pub dropped: i64,
}

impl Shapes {
    pub fn none() -> Shapes {
        Shapes { shapes: vec![], bounds: 0, dropped: i64::MAX }
    }
}

/// A set of designs. Among equal bounds the node nearest to a design comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// One design.
    Design(Proposal),
    /// A shape over the widest words over which it may fit.
    Widest(Proposal),
    Shape(Shape),
    Grid(Grid),
}

impl Node {
    pub fn design(&self) -> Option<Proposal> {
        if let Node::Design(design) = self {
            Some(design.clone())
        } else {
            None
        }
    }
    pub fn widest(&self) -> Option<Proposal> {
        if let Node::Widest(design) = self {
            Some(design.clone())
        } else {
            None
        }
    }
    pub fn shape(&self) -> Option<Shape> {
        if let Node::Shape(shape) = self {
            Some(*shape)
        } else {
            None
        }
    }
    pub fn grid(&self) -> Option<Grid> {
        if let Node::Grid(grid) = self {
            Some(*grid)
        } else {
            None
        }
    }
}

/// The open nodes, the least bound first.
pub(super) struct Frontier<N> {
    heap: BinaryHeap<Reverse<Bounded<N>>>,
    /// Nodes to which several others may lead.
    seen: BTreeSet<N>,
}

impl<N: Ord> Frontier<N> {
    pub fn new() -> Frontier<N> {
        Frontier { heap: BinaryHeap::new(), seen: BTreeSet::new() }
    }

    pub fn push(&mut self, bound: i64, node: N) {
        self.heap.push(Reverse(Bounded::new(bound, node)));
    }

    /// Whether the node is new; it counts as seen from now on.
    pub fn is_new(&mut self, node: N) -> bool {
        self.seen.insert(node)
    }

    pub fn pop(&mut self) -> Option<Bounded<N>> {
        self.heap.pop().map(|next| next.0)
    }

    /// `first`, and the nodes of the same kind right behind it, `most` in all.
    pub fn batch<T>(&mut self, first: Bounded<T>, most: usize, kind: fn(&N) -> Option<T>) -> Vec<Bounded<T>> {
        let mut all = vec![first];
        while all.len() < most {
            let Some(Reverse(next)) = self.heap.peek() else { break };
            let Some(of) = kind(&next.of) else { break };
            all.push(Bounded::new(next.bound, of));
            self.heap.pop();
        }
        all
    }
}
