//! `System`: the program as a system of uniform recurrence equations over one common iteration space, the *band space*.
//!
//! - Loops at the same depth share a band dimension, unless dependences ask for another order or a shift; a statement nested less deeply than the deepest one is *placed*
//!   in the dimensions it lacks (an initialization at the first iteration, a division at the pivot, …) such that its
//!   dependences become uniform.
//! - Every read of a statement is a *variable*. Where it reads what was in DRAM before, it is an input; where it reads
//!   a value produced a constant distance away, it is linked to that statement; where one produced value is read by
//!   many iterations (a broadcast, such as LU's pivot row), it is carried along a null direction of the producer's
//!   index map from the iteration next to the producer ("localization").
//!
//! Invariants: the pieces of a variable are disjoint and cover its statement's domain; every distance is constant and
//! lexicographically positive, or zero with the producer earlier in the text.
//!
//! Source: DESIGN of the theory by Karp, Miller, Winograd; localization as in Quinton / Rajopadhye, "uniformization".

mod affine;
mod localize;
mod placement;

pub use affine::{compose, coordinate, in_bounds, minus};

use affine::constant_on;
use frontend::diag::{Diagnostic, Diagnostics};
use frontend::flow::{self, Flow, Source};
use frontend::scop::{Affine, Constraint, Scop, StmtId};
use localize::{piece, Read};
use placement::{NullCache, Placement, RangeCache};
use std::cell::Cell;

/// One dimension of the band space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    pub name: String,
    /// Least and greatest coordinate over all statements.
    pub lo: i64,
    pub hi: i64,
}

/// Where a variable gets its value on one part of the band space.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// The element of the read's array at these subscripts (over band coordinates), as it was before the region ran.
    Input { subscripts: Vec<Affine> },
    /// What `statement` stored at `n - distance`.
    Value { statement: StmtId, distance: Vec<i64> },
    /// What another read (or this one) has, at `n - distance`: the same value.
    Carry { statement: StmtId, read: usize, distance: Vec<i64> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Conjunction over band coordinates.
    pub domain: Vec<Constraint>,
    /// The same within the statement's domain, without what that implies.
    pub when: Vec<Constraint>,
    pub feed: Feed,
}

/// A read of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The band dimension that each of the statement's iterators runs along.
    pub dims: Vec<usize>,
    /// Every iterator over the band coordinates.
    pub iterators: Vec<Affine>,
    /// Domain over band coordinates.
    pub domain: Vec<Vec<Constraint>>,
    pub variables: Vec<Variable>,
    /// Instances whose value stays in DRAM at the end, over band coordinates.
    pub live_out: Vec<Vec<Constraint>>,
    /// The same, without what follows from the written cell being inside the array.
    pub emit_when: Vec<Vec<Constraint>>,
    /// The written array's subscripts over band coordinates.
    pub write: Vec<Affine>,
    /// The same in steps of their strides, and what an array's subscript is over these.
    pub steps: Vec<Affine>,
    pub view: Vec<Affine>,
    /// The cells that stay in DRAM, over the steps; `None` if they are not a convex set.
    pub cells: Option<Vec<Constraint>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct System {
    pub dims: Vec<Dim>,
    pub statements: Vec<Placed>,
}

impl System {
    /// Every distance between a value's producer and its reader: `(producer, reader, read, distance, carried)`.
    pub fn dependences(&self) -> Vec<Dependence> {
        let mut found = Vec::new();
        for (s, placed) in self.statements.iter().enumerate() {
            for (k, variable) in placed.variables.iter().enumerate() {
                for piece in &variable.pieces {
                    let (from, distance, carried) = match &piece.feed {
                        Feed::Value { statement, distance } => (*statement, distance.clone(), false),
                        Feed::Carry { statement, distance, .. } => (*statement, distance.clone(), true),
                        Feed::Input { .. } => continue,
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
    /// Carries a value read, not one just produced.
    pub carried: bool,
}

struct Builder<'a> {
    scop: &'a Scop,
    flow: &'a Flow,
    depth: usize,
    /// Current placement per statement.
    at: Vec<Placement>,
    /// Statements that count while places are searched.
    placed: Vec<bool>,
    /// Places that are given, of statements at full depth.
    folds: &'a [Option<Vec<Affine>>],
    ranges: RangeCache,
    nulls: NullCache,
    /// Localizations that a stage of the search may still try.
    effort: Cell<usize>,
}

/// # Errors
/// Names every read whose dependence cannot be made uniform.
pub fn build(scop: &Scop, flow: &Flow) -> Result<System, Diagnostics> {
    build_at(scop, flow, &[])
}

/// As [`build`], with the places of some statements at full depth: every band coordinate over the iterators, where the
/// coordinate of an iterator counts it up or down and may contain iterators further out.
///
/// # Errors
/// Names every read whose dependence is not uniform there.
pub fn build_at(scop: &Scop, flow: &Flow, folds: &[Option<Vec<Affine>>]) -> Result<System, Diagnostics> {
    let depth = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0).max(1);
    let mut builder = Builder { scop, flow, depth, at: vec![], placed: vec![], folds, ranges: RangeCache::default(), nulls: NullCache::default(), effort: Cell::new(0) };
    builder.choose_places();
    builder.finish()
}

impl Builder<'_> {
    fn finish(self) -> Result<System, Diagnostics> {
        let mut faults = Vec::new();
        let mut statements = Vec::new();
        for (s, statement) in self.scop.statements.iter().enumerate() {
            let over_band = |domain: &[Vec<Constraint>]| domain.iter().map(|c| self.band_domain(s, c)).collect::<Vec<_>>();
            let domain = over_band(&statement.domain);
            let variables = (0..statement.reads.len()).map(|k| self.variable(s, k, &domain, &mut faults)).collect();
            let live: Vec<_> = self.flow.live_out.iter().filter(|l| l.statement.index() == s).flat_map(|l| over_band(&l.domain)).collect();
            let write: Vec<Affine> = statement.write.subscripts.iter().map(|a| self.over_band(s, a)).collect();
            let inside = in_bounds(&write, &self.scop.array(statement.write.array).dims);
            let emit_when = live.iter().map(|c| flow::simplify(c, &inside, self.depth)).collect();
            let (steps, view) = affine::without_strides(&write);
            let region = flow::image(&live, &steps, self.depth);
            let cells = region.is_convex().then(|| region.pieces.into_iter().next().unwrap_or_default());
            let Placement { dims, iterators, .. } = self.at[s].clone();
            statements.push(Placed { dims, iterators, domain, variables, live_out: live, emit_when, write, steps, view, cells });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let names = self.dim_names();
        let union: Vec<Vec<Constraint>> = statements.iter().flat_map(|p: &Placed| p.domain.clone()).collect();
        let bounds = flow::domain_bounds(&union, self.depth).unwrap_or_else(|| vec![(0, 0); self.depth]);
        let dims = names.into_iter().zip(bounds).map(|(name, (lo, hi))| Dim { name, lo, hi }).collect();
        Ok(System { dims, statements })
    }

    fn variable(&self, s: usize, k: usize, domain: &[Vec<Constraint>], faults: &mut Diagnostics) -> Variable {
        let statement = &self.scop.statements[s];
        let mut pieces = Vec::new();
        for source in &self.flow.reads[s][k] {
            let here = self.band_domain(s, &source.domain);
            match &source.source {
                Source::Write { statement: producer, iteration } => {
                    match self.localize(&Read { statement: s, read: k, producer: *producer, iteration }, &here, 0) {
                        Some(found) => pieces.extend(found),
                        None => faults.push(self.not_uniform(s, k, *producer)),
                    }
                }
                Source::Input | Source::Undefined => {
                    let over: Vec<Affine> = statement.reads[k].subscripts.iter().map(|a| self.over_band(s, a)).collect();
                    pieces.push(piece(&here, Feed::Input { subscripts: with_equalities(&over, &here, self.depth) }));
                }
            }
        }
        let context: &[Constraint] = if let [one] = domain { one } else { &[] };
        for p in &mut pieces {
            p.when = flow::simplify(&p.domain, context, self.depth);
        }
        Variable { pieces }
    }

    fn not_uniform(&self, s: usize, k: usize, producer: StmtId) -> Diagnostic {
        let read = &self.scop.statements[s].reads[k];
        let name = &self.scop.array(read.array).name;
        Diagnostic::error("E0601", read.span, format!("the dependence on `{name}` cannot be made uniform"))
            .label("this reads a value whose distance from its producer changes, and no direction carries it")
            .note(self.scop.statement(producer).span, "produced here")
            .help("write the value into an array that is passed from iteration to iteration, or split the region into two")
    }

    fn dim_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for d in 0..self.depth {
            let mut here: Vec<&str> = Vec::new();
            for statement in &self.scop.statements {
                let at = &self.at[self.scop.statements.iter().position(|x| std::ptr::eq(x, statement)).expect("one of them")];
                if let Some(l) = at.dims.iter().position(|&x| x == d).map(|k| statement.loops[k]) {
                    let name = self.scop.loops[l.index()].name.as_str();
                    if !here.contains(&name) {
                        here.push(name);
                    }
                }
            }
            let base = if here.is_empty() { "once".to_string() } else { here.join("_") };
            let twins = names.iter().filter(|n| n.split('.').next() == Some(&base)).count();
            names.push(if twins == 0 { base } else { format!("{base}.{}", twins + 1) });
        }
        names
    }
}

/// Replaces coordinates that the domain fixes, so that the access does not seem to move along them.
fn with_equalities(subscripts: &[Affine], domain: &[Constraint], depth: usize) -> Vec<Affine> {
    let mut out = subscripts.to_vec();
    for d in (0..depth).filter(|&d| subscripts.iter().any(|a| a.coeffs[d] != 0)) {
        if let Some(value) = constant_on(&coordinate(d, depth), domain) {
            for a in &mut out {
                a.constant += a.coeffs[d] * value;
                a.coeffs[d] = 0;
            }
        }
    }
    out
}
