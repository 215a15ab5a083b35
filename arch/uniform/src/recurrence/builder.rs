//! The state that the search for places, uniformization and the final system share: the program, its dataflow, and the
//! current [`Placement`] of every statement. [`crate::recurrence::place`] chooses placements,
//! [`crate::recurrence::uniformize`] makes reads uniform, [`crate::recurrence::build`] writes the system down.
//!
//! **Invariant.** Searches are bounded in steps ([`Effort`]): questions about sets, and glances at reads. Steps are the
//! same on every machine, so the result is, too.

use crate::affine::map::{compose, coordinate, minus};
use crate::system::ReadId;
use rustc_hash::FxHashMap;
use scop::flow;
use scop::flow::Flow;
use scop::{Affine, Constraint, Scop, StmtId};
use std::cell::{Cell, RefCell};

/// The loops around a part of a program.
#[derive(Clone, Copy, Debug)]
pub struct Within {
    /// Leading dimensions that are phases: the outermost loops, as they are.
    pub phases: usize,
    /// The number of sizes among them.
    pub sizes: usize,
    /// Divides the number of steps that a search may take.
    pub effort_divisor: u64,
}

impl Within {
    /// A whole program without sizes.
    pub const ALONE: Within = Within::sizes(0);

    /// A program whose outermost loops are this many sizes.
    pub const fn sizes(sizes: usize) -> Within {
        Within { phases: sizes, sizes, effort_divisor: 1 }
    }
}

pub(super) struct Builder<'a> {
    pub scop: &'a Scop,
    pub flow: &'a Flow,
    pub depth: usize,
    pub within: Within,
    /// Current placement per statement.
    pub at: Vec<Placement>,
    /// By statement, the read of the partial result if it is a sum in any order; only with sizes.
    pub sums: Vec<Option<usize>>,
    /// Statements that are placed; the search ignores the others.
    pub placed: Vec<bool>,
    /// Given places of a statement's iterators.
    pub folds: &'a [Option<Vec<Affine>>],
    pub ranges: RangeCache,
    pub nulls: NullCache,
    /// Bounds of every dimension over the statements that have it.
    pub bounds: Vec<(i64, i64)>,
    /// The end of every dimension as a function of the sizes, if it is one.
    pub ends: Vec<Option<Affine>>,
    pub effort: Effort,
}

/// The steps of a search, and their limit. A step is a question about a set, or [`GLANCES`] glances at reads.
#[derive(Default)]
pub(super) struct Effort {
    /// The number of questions when the stage began.
    before: Cell<u64>,
    glances: Cell<u64>,
    /// Steps that the stage may take; without a limit at first.
    limit: Cell<Option<u64>>,
    /// The number of questions when the uniformization of the current read began.
    read: Cell<u64>,
}

/// Glances that take as long as a question.
const GLANCES: u64 = 20;
/// Questions after which a read at one choice of places counts as not uniform.
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

impl Builder<'_> {
    /// An affine function of the statement's iterators as one of the coordinates.
    pub(super) fn over_coordinates(&self, s: usize, affine: &Affine) -> Affine {
        compose(affine, &self.at[s].iterators, self.depth)
    }

    pub(super) fn placed_domain(&self, s: usize, domain: &[Constraint]) -> Vec<Constraint> {
        let mut out: Vec<Constraint> = domain
            .iter()
            .map(|c| Constraint { expr: self.over_coordinates(s, &c.expr), equality: c.equality })
            .collect();
        for d in (0..self.depth).filter(|d| !self.at[s].dims.contains(d)) {
            let expr = minus(&self.over_coordinates(s, &self.at[s].place[d]), &coordinate(d, self.depth));
            out.push(Constraint { expr, equality: true });
        }
        out
    }

    /// Reader's minus producer's coordinates, over the reader's; `map`: the producer's iterators over these.
    pub(super) fn distance(&self, map: &[Affine], producer: StmtId) -> Vec<Affine> {
        let place = &self.at[producer.index()].place;
        (0..self.depth).map(|d| minus(&coordinate(d, self.depth), &compose(&place[d], map, self.depth))).collect()
    }
}

/// The place of a statement during the search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// The band dimension that each iterator runs along.
    pub dims: Vec<usize>,
    /// Every coordinate over the statement's iterators.
    pub place: Vec<Affine>,
    /// Every iterator over the coordinates.
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

/// A linear function of a reader's iterators on one piece of a read.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct RangeKey {
    pub read: ReadId,
    pub piece: usize,
    pub coeffs: Vec<i64>,
}

/// The ranges of such functions.
pub(super) type RangeCache = RefCell<FxHashMap<RangeKey, Option<(i64, i64)>>>;

/// Whether functions with these coefficients have a null direction.
pub(super) type NullCache = RefCell<FxHashMap<Vec<Vec<i64>>, bool>>;

/// Whether the outermost coordinate of the distance that is not always zero is negative somewhere: then some reader
/// comes before its producer. No way of carrying a value mends that, because all steps of it are forward.
pub(super) fn is_early<A>(
    mut distance: impl Iterator<Item = A>,
    is_zero: impl Fn(&A) -> bool,
    least: impl FnOnce(A) -> Option<i64>,
) -> bool {
    distance.find(|a| !is_zero(a)).and_then(least).is_some_and(|least| least < 0)
}
