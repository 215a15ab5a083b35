//! The open nodes of a search.

use super::task::Proposal;
use crate::space::{Grid, Shape};
use crate::tuning;
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
    /// Shapes with this bound or a greater one are left out: there are enough with smaller ones.
    enough: i64,
}

impl Shapes {
    pub fn none() -> Shapes {
        Shapes { shapes: vec![], bounds: 0, dropped: i64::MAX, enough: i64::MAX }
    }

    /// Adds a shape, and leaves out those with the greatest bounds if there are too many.
    pub fn push(&mut self, shape: Bounded<Shape>) {
        if shape.bound >= self.enough {
            self.dropped = self.dropped.min(shape.bound);
            return;
        }
        self.shapes.push(shape);
        if self.shapes.len() == 2 * tuning::MOST_SHAPES_OF_GRID {
            let (_, first_left_out, _) = self.shapes.select_nth_unstable(tuning::MOST_SHAPES_OF_GRID);
            self.enough = first_left_out.bound;
            self.dropped = self.dropped.min(self.enough);
            self.shapes.truncate(tuning::MOST_SHAPES_OF_GRID);
        }
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
    /// A shape over some words.
    pub fn proposal(&self) -> Option<Proposal> {
        self.design().or_else(|| self.widest())
    }
    /// The shape of all designs of the node.
    pub fn any_shape(&self) -> Option<&Shape> {
        match self {
            Node::Design(of) | Node::Widest(of) => Some(&of.shape),
            Node::Shape(shape) => Some(shape),
            Node::Grid(_) => None,
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

    /// Leaves out the nodes with the greatest bounds if there are too many. Returns the least bound of those.
    pub fn shorten(&mut self) -> Option<i64> {
        if self.heap.len() < 2 * tuning::MOST_NODES {
            return None;
        }
        let mut all = std::mem::take(&mut self.heap).into_vec();
        // The greatest one is the node with the least bound.
        let (_, first_left_out, _) = all.select_nth_unstable_by(tuning::MOST_NODES, |a, b| b.cmp(a));
        let bound = first_left_out.0.bound;
        all.truncate(tuning::MOST_NODES);
        self.heap = all.into();
        Some(bound)
    }

    /// Whether the node is new; it counts as seen from now on.
    pub fn is_new(&mut self, node: N) -> bool {
        self.seen.insert(node)
    }

    /// All that is open, in no order.
    pub fn open(&self) -> impl Iterator<Item = &Bounded<N>> {
        self.heap.iter().map(|Reverse(node)| node)
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
