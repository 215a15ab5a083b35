//! Exact array dataflow of a [`Scop`] as plain data; `domains` adds integer set operations on plain data.
//!
//! Problem: which write produced the value that a read sees? An array must receive exactly that value, from the PE and
//! the wave in which the write ran.
//!
//! Terms: an *instance* is one execution of a statement. The *source* of a read instance is the last write to the same
//! element that runs before it (flow dependence, value-based). A write is *live out* if it leaves the final value of an
//! element in DRAM. *Anti* (read, next write) and *output* (write, next write) dependences are memory order; renaming
//! the array removes them.
//!
//! Method: Feautrier's dataflow analysis as isl implements it, array by array (`array`). Each read and each write of
//! a statement is a set of instances with a tuple name of its own, so accesses are never merged. The next write after
//! an access is the last write before it in reversed time.
//!
//! Example, `for (i = 0; i < 4; i++) { S0: x = A[i]; S1: B[i] = x; }`: the source of `x` in `S1[i]` is `S0[i]` on the
//! whole domain; the source of `A[i]` is [`Source::Input`]; `S1` is live out for `0 <= i <= 3`; `S1[i]` reads `x`
//! before `S0[i + 1]` writes it, an anti dependence on `0 <= i <= 2`.
//!
//! Invariants of a [`Flow`] from [`analyze`]:
//! - the pieces of one read are disjoint and cover the statement's domain. In a piece with [`Source::Undefined`] the
//!   statement's result does not depend on the read;
//! - in a piece every source iteration lies in the source statement's domain, accesses the same element and runs
//!   before;
//! - sources are affine with integer coefficients; other programs are refused (E0501);
//! - everything is sorted: equal programs give equal results.
//!
//! Source: P. Feautrier, "Dataflow Analysis of Array and Scalar References", IJPP 20(1), 1991.

mod accesses;
mod array;
mod domains;
mod earlier;
mod report;
mod schedule;
mod used;

pub use crate::poly::Region;
pub use domains::{
    count, disjoint, domain_bounds, first_point, image, implies, intersects, is_empty, limited, maximum, minimum,
    project_out, projection, questions, simplify, subtract, union_implies, union_subtract,
};

use crate::diag::{Diagnostic, Diagnostics};
use crate::poly;
use crate::{Affine, Array, ArrayId, Constraint, Scop, Statement, StmtId};
use accesses::{Accesses, Accessor};
use array::{ArrayFlow, Fault};
use rayon::prelude::*;
use std::sync::Arc;

/// Access index of a statement's write in a [`MemoryDep`]; reads have their index in `Statement::reads`.
pub const WRITE: usize = usize::MAX;

/// A nest with more loops of two iterations keeps the pieces of its dependences unmerged. Any two points lie on a line,
/// so isl would merge them into functions that the program does not contain, and merging takes longer and longer.
const PAIRS: usize = 4;

/// Exact dataflow of a [`Scop`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// `reads[statement][read]`: disjoint pieces that cover the statement's domain.
    pub reads: Vec<Vec<Vec<Piece>>>,
    /// For each statement that writes a DRAM array and leaves some final value, in order of the statements.
    pub live_out: Vec<LiveOut>,
    /// From each read to the next write of the element.
    pub anti: Vec<MemoryDep>,
    /// From each write to the next write of the element.
    pub output: Vec<MemoryDep>,
}

/// Where a read gets its value on one convex part of the reader's iteration domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// Conjunction over the reader's iterators. It contains the constraints of the statement's domain.
    pub domain: Vec<Constraint>,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The value that the array in DRAM had before the region.
    Input,
    /// A local array's element before its first write. [`analyze`] refuses programs that use its value.
    Undefined,
    /// The last write before the read: `iteration` gives its iterators as functions of the reader's.
    Write { statement: StmtId, iteration: Vec<Affine> },
}

/// Instances of `statement` whose value is the final one of its element of a DRAM array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOut {
    pub statement: StmtId,
    /// Disjoint conjunctions over the statement's iterators.
    pub domain: Vec<Vec<Constraint>>,
}

/// A memory order: each source instance must run before the sink instance it is related to, unless the array is
/// renamed.
///
/// Only the *next* write after each access is related; output dependences order all later ones. A read and the write of
/// the same instance are not related: an instance is atomic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryDep {
    /// Statement and access (read index or [`WRITE`]).
    pub from: (StmtId, usize),
    pub to: (StmtId, usize),
    pub relation: Vec<RelationPiece>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelationPiece {
    /// Source iterations in `domain` relate to `target`, affine in the source's iterators.
    Function { domain: Vec<Constraint>, target: Vec<Affine> },
    /// Conjunction over the source's iterators followed by the sink's. It is a superset of a relation that needs a
    /// division.
    Relation { constraints: Vec<Constraint> },
}

/// Exact dataflow of `scop`.
///
/// # Errors
/// - E0501: a source or a set of final writes cannot be written with integer affine functions (such as every other
///   element), at the read or write concerned;
/// - E0502: a read of a local element that no write precedes, with an example iteration;
/// - E0599: isl failed or exceeded its limits.
pub fn analyze(scop: &Scop) -> Result<Flow, Diagnostics> {
    let (flow, faults) = Analysis::new(scop).and_then(|a| a.run(|_| true)).map_err(|error| {
        let sizes = if scop.sizes.is_empty() { "" } else { "make sizes at run time constants, " };
        let help = format!("simplify the program: {sizes}leave out conditions, write out loops of two iterations");
        vec![Diagnostic::error("E0599", scop.function.region, format!("dataflow analysis failed: {error}"))
            .label("in here")
            .help(help)]
    })?;
    if faults.is_empty() {
        Ok(flow)
    } else {
        Err(report::once_each(faults))
    }
}

/// Whether the sources and final writes of these arrays are integer affine functions; see E0501 of [`analyze`].
pub fn is_affine(scop: &Scop, arrays: impl Fn(&Array) -> bool) -> bool {
    Analysis::new(scop).and_then(|a| a.run(arrays)).is_ok_and(|(_, faults)| faults.iter().all(|f| f.code != "E0501"))
}

/// The selected local arrays some of whose elements are read before the region writes them; all if that cannot be
/// decided.
pub fn read_first(scop: &Scop, selected: impl Fn(&Array) -> bool) -> Vec<ArrayId> {
    let all = || (0..scop.arrays.len() as u32).map(ArrayId).filter(|&a| selected(scop.array(a)));
    let found = Analysis::new(scop).and_then(|a| {
        let answers = a.answers(&selected)?;
        let without_value = |part: &ArrayFlow| part.faults.iter().any(|f| matches!(f, Fault::Uninitialized { .. }));
        Ok(answers.into_iter().filter(|(_, _, part)| without_value(part)).map(|(array, ..)| array).collect())
    });
    found.unwrap_or_else(|_| all().collect())
}

/// The flow of an array, and the program's numbers of the statements that access it.
type Answer = (ArrayId, Vec<StmtId>, Arc<ArrayFlow>);

struct Analysis<'a> {
    scop: &'a Scop,
    /// Pieces of dependences are not merged, see [`PAIRS`].
    unmerged: bool,
}

impl<'a> Analysis<'a> {
    fn new(scop: &'a Scop) -> poly::Result<Self> {
        let bounds = |s: &Statement| domain_bounds(&s.domain, s.loops.len()).unwrap_or_default();
        let bounds: Vec<_> = limited(|| scop.statements.iter().map(bounds).collect())?;
        let unmerged = bounds.iter().any(|all| all.iter().filter(|(lo, hi)| hi - lo == 1).count() > PAIRS);
        Ok(Analysis { scop, unmerged })
    }

    /// Analyzes the selected arrays one by one, on several threads. isl's run time depends on the length of the
    /// schedules, which are shorter for one array.
    fn answers(&self, selected: impl Fn(&Array) -> bool) -> poly::Result<Vec<Answer>> {
        let arrays = (0..self.scop.arrays.len() as u32).map(ArrayId).filter(|&a| selected(self.scop.array(a)));
        let questions: Vec<(ArrayId, Vec<StmtId>, Accesses)> = arrays
            .map(|a| {
                let (ids, accesses) = self.accesses(a);
                (a, ids, accesses)
            })
            .filter(|q| !q.1.is_empty())
            .collect();
        let answers: Vec<poly::Result<Arc<ArrayFlow>>> =
            questions.par_iter().with_max_len(1).map(|(.., accesses)| accesses.analyze()).collect();
        questions.into_iter().zip(answers).map(|((array, ids, _), part)| Ok((array, ids, part?))).collect()
    }

    fn run(&self, selected: impl Fn(&Array) -> bool) -> poly::Result<(Flow, Diagnostics)> {
        let scop = self.scop;
        let answers = self.answers(selected)?;
        let mut flow = Flow {
            reads: scop.statements.iter().map(|s| vec![vec![]; s.reads.len()]).collect(),
            live_out: vec![],
            anti: vec![],
            output: vec![],
        };
        let mut faults = vec![];
        for (_, ids, part) in &answers {
            flow.add_array(part, ids);
            faults.extend(part.faults.iter().map(|fault| self.fault(fault, ids)));
        }
        flow.live_out.sort_by_key(|l| l.statement);
        [&mut flow.anti, &mut flow.output].into_iter().for_each(|all| all.sort_by_key(|d| (d.from, d.to)));
        Ok((flow, faults))
    }

    /// The statements that access an array, and their accesses.
    fn accesses(&self, array: ArrayId) -> (Vec<StmtId>, Accesses) {
        let temporary = self.scop.array(array).is_temporary();
        let mut ids = vec![];
        let mut statements = vec![];
        for id in self.scop.statement_ids() {
            let s = self.scop.statement(id);
            let all = s.reads.iter().enumerate().chain([(WRITE, &s.write)]).filter(|a| a.1.array == array);
            let accesses: Vec<_> = all.map(|(k, a)| (k, a.subscripts.clone())).collect();
            let reads = accesses.iter().map(|a| a.0).filter(|k| temporary && *k != WRITE);
            let used = reads.filter_map(|k| Some((k, used::used_where(&s.rhs, k)?))).collect();
            if !accesses.is_empty() {
                ids.push(id);
                statements.push(Accessor {
                    domain: s.domain.clone(),
                    beta: s.beta.clone(),
                    depth: s.loops.len(),
                    accesses,
                    used,
                });
            }
        }
        (ids, Accesses { temporary, unmerged: self.unmerged, statements })
    }
}

impl Flow {
    /// Adds the flow of one array; `ids` are the program's numbers of its statements.
    fn add_array(&mut self, part: &ArrayFlow, ids: &[StmtId]) {
        for (reader, pieces) in &part.reads {
            let renumbered = |piece: &Piece| match &piece.source {
                Source::Write { statement, iteration } => Piece {
                    domain: piece.domain.clone(),
                    source: Source::Write { statement: ids[statement.index()], iteration: iteration.clone() },
                },
                _ => piece.clone(),
            };
            self.reads[reader.id(ids).index()][reader.access] = pieces.iter().map(renumbered).collect();
        }
        self.live_out.extend(
            part.live_out.iter().map(|l| LiveOut { statement: ids[l.statement.index()], domain: l.domain.clone() }),
        );
        let global = |(statement, access): (StmtId, usize)| (ids[statement.index()], access);
        let renumbered =
            |d: &MemoryDep| MemoryDep { from: global(d.from), to: global(d.to), relation: d.relation.clone() };
        self.anti.extend(part.anti.iter().map(renumbered));
        self.output.extend(part.output.iter().map(renumbered));
    }
}
