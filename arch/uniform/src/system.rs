//! `System`: the program as uniform recurrence equations over one common iteration space.
//!
//! **Problem.** The statements of a loop nest differ in depth, and a value may be read by many iterations (a broadcast)
//! at distances that change. A systolic array wants one iteration space, in which every value comes from a constant
//! distance.
//!
//! **Terms.**
//! - *Iteration space*: all statements together, one dimension for each loop depth. Loops at the same depth share a
//!   dimension, unless dependences ask for another order or a shift. A [`Kind`] says what a dimension is.
//! - *Place* of a statement: where its instances lie. A statement that is nested less deeply than the deepest one is
//!   placed in the dimensions that it lacks: an initialization at the first iteration, a division at the pivot.
//! - *Variable*: a read of a statement. Its [`Piece`]s say, part by part, where the value comes from ([`Feed`]):
//!   memory, a producer a constant distance away, or another read of the same value (*uniformization* of a broadcast:
//!   the value is carried along a null direction of the producer's index map, from the iteration next to the producer).
//!
//! **Example.** `for i, for j, for k: C[i][j] += A[i][k] * B[k][j]` is one statement over (i, j, k) with three
//! variables:
//!
//! ```text
//! C(i,j,k) = k = 0: input C[i][j];   else the value of (i, j, k) - (0,0,1)
//! A(i,j,k) = input A[i][k]           B(i,j,k) = input B[k][j]
//! ```
//!
//! **Invariants** ([`crate::verify`]). The pieces of a variable are disjoint and cover its statement's domain. Every
//! distance is constant (of the partial results of a sum: at given sizes). It is lexicographically positive, or zero
//! with the producer earlier in the text.
//!
//! **Source.** Karp, Miller, Winograd, "The Organization of Computations for Uniform Recurrence Equations" (1967),
//! section 2; Quinton, Van Dongen, "The Mapping of Linear Recurrence Equations on Regular Arrays" (1989), section 3,
//! uniformization.

use crate::affine::map::{compose, coordinate, in_bounds, without_strides};
use crate::case;
use crate::case::Case;
use scop::flow;
use scop::{Affine, Constraint, Scop, StmtId};
use std::collections::BTreeSet;
use std::ops::Range;

/// The kind of a dimension of the iteration space. The dimensions of a system are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A size at run time: one value in each run. No dependence crosses it.
    Parameter,
    /// A sequential loop around array programs, or their number in the order of the text: its values are *phases*.
    /// Phases run one after the other; values pass between them through memory.
    Sequence,
    /// The number of a strip of another dimension: loops end by strip as they end by phase, but values pass from strip
    /// to strip in the PEs.
    Strip,
    Loop,
}

impl Kind {
    /// The kinds of dimensions of which the first `parameters` are sizes and the next, up to `outer`, are sequential.
    pub fn by_place(parameters: usize, outer: usize) -> impl Fn(usize) -> Kind {
        move |d| match d {
            _ if d < parameters => Kind::Parameter,
            _ if d < outer => Kind::Sequence,
            _ => Kind::Loop,
        }
    }
}

/// The extent of an iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The outermost dimensions, between whose values data pass through memory: sizes and sequential ones.
    pub outer: usize,
    pub depth: usize,
}

/// One dimension of the iteration space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    pub name: String,
    pub kind: Kind,
    /// Least and greatest coordinate over all statements.
    pub lo: i64,
    pub hi: i64,
}

impl Dim {
    /// Coordinates from the least to the greatest.
    pub fn extent(&self) -> i64 {
        self.hi.saturating_sub(self.lo).saturating_add(1)
    }

    /// The dimensions, with these names and kinds, around all of these statements.
    pub fn around(names: Vec<String>, kind: impl Fn(usize) -> Kind, statements: &[Placed]) -> Vec<Dim> {
        let union: Vec<Vec<Constraint>> = statements.iter().flat_map(|p| p.domain.clone()).collect();
        let bounds = flow::domain_bounds(&union, names.len()).unwrap_or_else(|| vec![(0, 0); names.len()]);
        let dim = |(d, (name, (lo, hi)))| Dim { name, kind: kind(d), lo, hi };
        names.into_iter().zip(bounds).enumerate().map(dim).collect()
    }
}

/// A read of a statement, by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadId {
    pub statement: usize,
    pub read: usize,
}

/// The source of a variable's value on one part of the iteration space.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// The element of the read's array at these subscripts (over the coordinates), as it was when the phase began.
    /// Without phases: before the region ran.
    Input { subscripts: Vec<Affine> },
    /// The value that `statement` stored at `n - distance`.
    Value { statement: StmtId, distance: Vec<i64> },
    /// The value of another read, or of this one, at `n - distance`.
    Carry { statement: StmtId, read: usize, distance: Vec<i64> },
    /// The value that the statement itself stored at `n - distance`, a distance over the sizes: the partial result of a
    /// sum in any order.
    Partial { distance: Vec<Affine> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Conjunction over the coordinates.
    pub domain: Vec<Constraint>,
    /// The same without the constraints that the statement's domain implies.
    pub when: Vec<Constraint>,
    pub feed: Feed,
}

/// A read of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub pieces: Vec<Piece>,
}

/// A statement at its place, as a pass gives it.
pub struct Place {
    pub dims: Vec<usize>,
    pub iterators: Vec<Affine>,
    pub domain: Vec<Vec<Constraint>>,
    pub variables: Vec<Variable>,
    pub live_out: Vec<Vec<Constraint>>,
}

/// A statement at its place, with what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The dimension that each of the statement's iterators runs along.
    pub dims: Vec<usize>,
    /// Every iterator over the coordinates.
    pub iterators: Vec<Affine>,
    /// Domain over the coordinates.
    pub domain: Vec<Vec<Constraint>>,
    /// The phases of the domain, over the coordinates; `None` if they are not one conjunction.
    pub during: Option<Vec<Constraint>>,
    pub variables: Vec<Variable>,
    /// Instances that are stored to DRAM, over the coordinates: their values stay there at the end, or a later phase
    /// reads them.
    pub live_out: Vec<Vec<Constraint>>,
    /// The written array's subscripts over the coordinates.
    pub write: Vec<Affine>,
    /// The same in steps of their strides.
    pub steps: Vec<Affine>,
    /// The array's subscripts over the steps.
    pub view: Vec<Affine>,
    /// One store if its cells are a convex set, else one for each part of `live_out`.
    pub stores: Vec<Store>,
}

/// Cells that a statement leaves in DRAM.
#[derive(Clone, Debug, PartialEq)]
pub struct Store {
    /// The instances, without the constraints that hold because the written cell is inside the array.
    pub when: Vec<Vec<Constraint>>,
    /// The cells over the steps, then the phase coordinates; `None` if they are not a convex set.
    pub cells: Option<Vec<Constraint>>,
}

impl Placed {
    /// It runs along a dimension and stores to the same element there.
    pub fn sums_along(&self, d: usize) -> bool {
        self.dims.contains(&d) && self.write.iter().all(|a| a.coeffs[d] == 0)
    }

    /// Statement `s` of `scop`; everything else follows from its place.
    pub fn new(scop: &Scop, s: usize, place: Place, frame: Frame) -> Placed {
        let Place { dims, iterators, domain, mut variables, live_out } = place;
        let depth = frame.depth;
        let context: &[Constraint] = if let [one] = domain.as_slice() { one } else { &[] };
        for piece in variables.iter_mut().flat_map(|v| &mut v.pieces) {
            piece.when = flow::simplify(&piece.domain, context, depth);
        }
        let access = &scop.statements[s].write;
        let write: Vec<Affine> = access.subscripts.iter().map(|a| compose(a, &iterators, depth)).collect();
        let mut inside = in_bounds(&write, &scop.array(access.array).dims);
        // Keeps a bound if an equality of the domain may exchange its coordinates for others.
        let exchanged = |c: &Constraint| {
            domain
                .iter()
                .flatten()
                .any(|e| e.equality && e.expr.coeffs.iter().zip(&c.expr.coeffs).any(|(a, b)| *a != 0 && *b != 0))
        };
        inside.retain(|c| !exchanged(c));
        let (steps, view) = without_strides(&write);
        let stores = stores(&live_out, &steps, &inside, frame);
        let during = during(&domain, frame);
        Placed { dims, iterators, domain, during, variables, live_out, write, steps, view, stores }
    }

    pub fn place(self) -> Place {
        let Placed { dims, iterators, domain, variables, live_out, .. } = self;
        Place { dims, iterators, domain, variables, live_out }
    }
}

/// The phases of a domain.
fn during(domain: &[Vec<Constraint>], frame: Frame) -> Option<Vec<Constraint>> {
    let Frame { outer, depth } = frame;
    if outer == 0 {
        return None;
    }
    let coordinates: Vec<Affine> = (0..outer).map(|d| coordinate(d, depth)).collect();
    let region = flow::image(domain, &coordinates, depth);
    let wide = |c: Constraint| Constraint {
        expr: Affine { coeffs: c.expr.coeffs.into_iter().chain(std::iter::repeat(0)).take(depth).collect(), ..c.expr },
        ..c
    };
    region.is_convex().then(|| region.pieces.into_iter().next().unwrap_or_default().into_iter().map(wide).collect())
}

/// The stores of the instances `live`, as convex sets of cells if possible.
fn stores(live: &[Vec<Constraint>], steps: &[Affine], inside: &[Constraint], frame: Frame) -> Vec<Store> {
    let Frame { outer, depth } = frame;
    let coordinates: Vec<Affine> = steps.iter().cloned().chain((0..outer).map(|d| coordinate(d, depth))).collect();
    let store = |part: &[Vec<Constraint>]| {
        let region = flow::image(part, &coordinates, depth);
        let cells = region.is_convex().then(|| region.pieces.into_iter().next().unwrap_or_default());
        Store { when: part.iter().map(|c| flow::simplify(c, inside, depth)).collect(), cells }
    };
    match store(live) {
        whole if live.len() > 1 && whole.cells.is_none() => live.chunks(1).map(store).collect(),
        whole if !live.is_empty() => vec![whole],
        _ => vec![],
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// In the order of their kinds.
    pub dims: Vec<Dim>,
    pub statements: Vec<Placed>,
    /// The classes of phases, or of strips; none without either.
    pub cases: Vec<Case>,
}

impl System {
    pub fn new(dims: Vec<Dim>, statements: Vec<Placed>) -> System {
        let mut system = System { dims, statements, cases: vec![] };
        let ordered = !system.sequences().is_empty() || !system.strips().is_empty();
        let domains: Vec<_> = system.statements.iter().map(|p| &p.domain).collect();
        let outer = system.parameters().end..system.loops().start;
        system.cases = if ordered { case::cases(&system.maxima(), outer, system.dims.len(), &domains) } else { vec![] };
        system
    }
    /// The dimensions of this kind.
    fn of(&self, kind: Kind) -> Range<usize> {
        self.dims.partition_point(|d| d.kind < kind)..self.dims.partition_point(|d| d.kind <= kind)
    }
    /// The sizes.
    pub fn parameters(&self) -> Range<usize> {
        self.of(Kind::Parameter)
    }
    /// The dimensions whose values are phases.
    pub fn sequences(&self) -> Range<usize> {
        self.of(Kind::Sequence)
    }
    pub fn strips(&self) -> Range<usize> {
        self.of(Kind::Strip)
    }
    pub fn loops(&self) -> Range<usize> {
        self.of(Kind::Loop)
    }
    /// The extent of the iteration space.
    pub fn frame(&self) -> Frame {
        Frame { outer: self.sequences().end, depth: self.dims.len() }
    }
    pub fn is_sized(&self) -> bool {
        !self.parameters().is_empty()
    }
    pub fn has_phases(&self) -> bool {
        !self.sequences().is_empty()
    }
    /// The greatest sizes.
    pub fn maxima(&self) -> Vec<i64> {
        self.dims[self.parameters()].iter().map(|d| d.hi).collect()
    }
    /// Iterations at the greatest sizes, as far as rectangular loops walk them: the boxes of all cases, each from the
    /// first of all iterations on.
    pub fn walked(&self) -> f64 {
        let extents =
            |bounds: &mut dyn Iterator<Item = (i64, i64)>| bounds.map(|(lo, hi)| (hi - lo + 1) as f64).product::<f64>();
        let sizes = self.parameters().end;
        if self.cases.is_empty() {
            return extents(&mut self.dims[sizes..].iter().map(|d| (d.lo, d.hi)));
        }
        let from = |d: &Dim, b: (i64, i64)| (if d.kind == Kind::Loop { d.lo } else { b.0 }, b.1);
        let case = |case: &Case| extents(&mut self.dims.iter().zip(&case.bounds).skip(sizes).map(|(d, b)| from(d, *b)));
        self.cases.iter().map(case).sum()
    }
    /// The statements that are executed in the phase classes of statement `s`.
    pub fn companions(&self, s: usize) -> BTreeSet<usize> {
        if self.cases.is_empty() {
            return (0..self.statements.len()).collect();
        }
        let cases = self.cases.iter().filter(|case| case.statements.contains(&s));
        cases.flat_map(|case| case.statements.iter().copied()).collect()
    }
    /// The dependences within a phase and strip.
    pub fn dependences_within(&self) -> impl Iterator<Item = Dependence> + '_ {
        self.dependences().into_iter().filter(|e| e.distance[..self.loops().start].iter().all(|x| *x == 0))
    }

    /// Every constant distance between a value's producer and its reader.
    pub fn dependences(&self) -> Vec<Dependence> {
        let mut found = Vec::new();
        for (s, placed) in self.statements.iter().enumerate() {
            for (k, variable) in placed.variables.iter().enumerate() {
                for piece in &variable.pieces {
                    let (from, distance, carried) = match &piece.feed {
                        Feed::Value { statement, distance } => (*statement, distance.clone(), false),
                        Feed::Carry { statement, distance, .. } => (*statement, distance.clone(), true),
                        Feed::Input { .. } | Feed::Partial { .. } => continue,
                    };
                    let dependence = Dependence { from, to: StmtId(s as u32), read: k, distance, carried };
                    if !found.contains(&dependence) {
                        found.push(dependence);
                    }
                }
            }
        }
        found
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    pub from: StmtId,
    pub to: StmtId,
    pub read: usize,
    pub distance: Vec<i64>,
    /// The value is one that `from` has read, not one that it has produced.
    pub carried: bool,
}
