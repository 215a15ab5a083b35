//! What the search for places, localization and the final system share: where every statement stands at the moment.

use crate::affine::map::{compose, coordinate, minus};
use rustc_hash::FxHashMap;
use scop::flow;
use scop::flow::Flow;
use scop::{Affine, Scop};
use std::cell::{Cell, RefCell};

/// What a system is a part of.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// Leading dimensions that are phases: the outermost loops, as they are.
    pub phases: usize,
    /// How many of them are sizes.
    pub sizes: usize,
    /// Steps that a search may take are divided by this.
    pub haste: u64,
}

impl Within {
    /// A program by itself.
    pub const ALONE: Within = Within::sizes(0);

    /// A program whose outermost loops are this many sizes.
    pub const fn sizes(sizes: usize) -> Within {
        Within { phases: sizes, sizes, haste: 1 }
    }
}

pub(super) struct Builder<'a> {
    pub scop: &'a Scop,
    pub flow: &'a Flow,
    pub depth: usize,
    pub within: Within,
    /// Current placement per statement.
    pub at: Vec<Placement>,
    /// Reads of partial results whose order is free, by statement; looked at where there are sizes.
    pub sums: Vec<Option<usize>>,
    /// Statements that count while places are searched.
    pub placed: Vec<bool>,
    /// Places of statements' own iterators that are given.
    pub folds: &'a [Option<Vec<Affine>>],
    pub ranges: RangeCache,
    pub nulls: NullCache,
    /// Bounds of every dimension over the statements that have it.
    pub bounds: Vec<(i64, i64)>,
    /// The end of every dimension as a function of the sizes, where it is one.
    pub ends: Vec<Option<Affine>>,
    pub effort: Effort,
}

/// What a search has done and may do, in steps: a question about a set, or some glances at reads. Steps are the same on
/// every machine, so what is found is, too.
#[derive(Default)]
pub(super) struct Effort {
    /// Questions that had been asked when the stage began.
    before: Cell<u64>,
    glances: Cell<u64>,
    /// Steps that the stage may take; without a limit at first.
    limit: Cell<Option<u64>>,
    /// Questions that had been asked when the read that is localized now was begun.
    read: Cell<u64>,
}

/// Glances that take as long as a question.
const GLANCES: u64 = 20;
/// Questions about one read, at one choice of places, after which it counts as not uniform.
const READ: u64 = 3_000;

impl Effort {
    pub fn allow(&self, limit: Option<u64>) {
        self.before.set(flow::questions());
        self.glances.set(0);
        self.limit.set(limit);
    }
    pub fn glance(&self) {
        self.glances.set(self.glances.get() + 1);
    }
    pub fn begin_read(&self) {
        self.read.set(flow::questions());
    }
    pub fn is_read_over(&self) -> bool {
        flow::questions() - self.read.get() > READ
    }
    pub fn is_over(&self) -> bool {
        self.limit
            .get()
            .is_some_and(|limit| flow::questions() - self.before.get() + self.glances.get() / GLANCES > limit)
    }
}

/// Where a statement stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// The band dimension that each iterator runs along.
    pub dims: Vec<usize>,
    /// Every band coordinate over the statement's iterators.
    pub place: Vec<Affine>,
    /// Every iterator over the band coordinates.
    pub iterators: Vec<Affine>,
}

impl Placement {
    /// An iterator's own coordinate counts it up or down, and may contain iterators further out.
    pub fn new(dims: &[usize], place: Vec<Affine>) -> Placement {
        let mut iterators: Vec<Affine> = Vec::new();
        for (k, &d) in dims.iter().enumerate() {
            let outer = Affine { coeffs: place[d].coeffs[..k].to_vec(), constant: place[d].constant };
            let rest = minus(&coordinate(d, place.len()), &compose(&outer, &iterators, place.len()));
            let sign = place[d].coeffs[k];
            iterators.push(Affine {
                coeffs: rest.coeffs.iter().map(|c| sign * c).collect(),
                constant: sign * rest.constant,
            });
        }
        Placement { dims: dims.to_vec(), iterators, place }
    }
}

/// Ranges of linear functions of a reader's iterators by reader, read, piece and coefficients.
pub(super) type RangeCache = RefCell<FxHashMap<(usize, usize, usize, Vec<i64>), Option<(i64, i64)>>>;

/// Whether functions with these coefficients have a null direction.
pub(super) type NullCache = RefCell<FxHashMap<Vec<Vec<i64>>, bool>>;

/// Whether some reader comes before its producer in the order of the band, as the outermost coordinate of the distance
/// shows in which they may differ. However a value is carried, the steps of its way are forward, and so is their sum.
pub(super) fn is_early<A>(
    mut distance: impl Iterator<Item = A>,
    is_zero: impl Fn(&A) -> bool,
    least: impl FnOnce(A) -> Option<i64>,
) -> bool {
    distance.find(|a| !is_zero(a)).and_then(least).is_some_and(|least| least < 0)
}
