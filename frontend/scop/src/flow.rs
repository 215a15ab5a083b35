//! Exact array dataflow of a [`Scop`] as plain data, and integer set operations on plain data.
//!
//! Job: for every read the write whose value it sees (the last one to the same element that runs before), for every
//! element of an array in DRAM the write that leaves its final value, and the remaining memory order (anti, output).
//! All sizes are constants, so the answers are piecewise affine with integer coefficients; where they are not, the
//! program is refused.
//!
//! Invariants of a [`Flow`] that [`analyze`] returns:
//! - the pieces of one read are disjoint and cover the statement's domain; where a source is [`Source::Undefined`], the
//!   statement does not look at what it reads;
//! - in a piece every source iteration lies in the source statement's domain, accesses the same element, and runs
//!   before;
//! - everything is sorted: equal programs give equal results.
//!
//! Source: Feautrier, "Dataflow Analysis of Array and Scalar References" (1991), through isl's implementation. A read
//! or write of a statement is an instance set with its own tuple name, so references are never merged. The next write
//! after an access is the last write before it in reversed time.

mod cells;
mod domains;
mod earlier;
mod looked;

pub use crate::poly::Region;
pub use domains::{
    count, disjoint, domain_bounds, first_point, image, implies, intersects, is_empty, limited, maximum, minimum,
    project_out, projection, questions, simplify, subtract, union_implies, union_subtract,
};

use crate::diag::{Diagnostic, Diagnostics};
use crate::poly;
use crate::{Access, Affine, Array, ArrayId, Constraint, Scop, StmtId};
use cells::{Accesses, Cells, Fault, Reference};
use rayon::prelude::*;
use std::sync::Arc;

/// Access index of a statement's write in a [`MemoryDep`]; reads have their index in `Statement::reads`.
pub const WRITE: usize = usize::MAX;

/// Loops of two iterations in a nest, beyond which the pieces of its dependences are not merged: any two points lie on
/// a line, so isl describes pairs of pieces as one by functions that nobody wrote, and takes longer over each than the
/// last.
const PAIRS: usize = 4;

/// Exact dataflow of a [`Scop`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// `reads[statement][read]`: disjoint pieces that cover the statement's domain.
    pub reads: Vec<Vec<Vec<Piece>>>,
    /// For each statement that writes a DRAM array and leaves some final value, in order of the statements.
    pub live_out: Vec<LiveOut>,
    /// Read before the next write of the element.
    pub anti: Vec<MemoryDep>,
    /// Write before the next write of the element.
    pub output: Vec<MemoryDep>,
}

/// Where a read gets its value on one convex part of the reader's iteration domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// Conjunction over the reader's iterators. Complete: it does not rely on the statement's domain.
    pub domain: Vec<Constraint>,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The value that the array in DRAM had before the region.
    Input,
    /// A local array's element before its first write. [`analyze`] refuses programs that look at it.
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
/// Only the *next* write after each access is related; all later ones follow through the output dependences. A read and
/// the write of the same statement instance are not related: an instance is atomic.
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
    /// Conjunction over the source's iterators followed by the sink's. Where the relation needs a division this
    /// contains it and is larger.
    Relation { constraints: Vec<Constraint> },
}

/// Exact dataflow of `scop`.
///
/// # Errors
/// - E0501: a source or a set of final writes cannot be written with integer affine functions (such as every other
///   element), at the read or write concerned;
/// - E0502: a look at a local element that nothing wrote before, with an example iteration;
/// - E0599: isl gave up, which a valid `Scop` does not cause.
pub fn analyze(scop: &Scop) -> Result<Flow, Diagnostics> {
    let (flow, faults) = Analysis::new(scop).run(|_| true).map_err(|error| {
        let sizes = if scop.sizes.is_empty() { "" } else { "make sizes at run time constants, " };
        let help = format!(
            "fewer cases keep it within its limits: {sizes}leave out conditions, write out loops of two iterations"
        );
        vec![Diagnostic::error("E0599", scop.function.region, format!("dataflow analysis failed: {error}"))
            .label("in here")
            .help(help)]
    })?;
    if faults.is_empty() {
        Ok(flow)
    } else {
        Err(once_each(faults))
    }
}

/// Whether sources and final writes of these arrays can be written with integer affine functions, see E0501 of
/// [`analyze`].
pub fn is_affine(scop: &Scop, arrays: impl Fn(&Array) -> bool) -> bool {
    Analysis::new(scop).run(arrays).is_ok_and(|(_, faults)| faults.iter().all(|f| f.code != "E0501"))
}

/// By place; of several of one access, as copies of an unrolled loop have, the one that says most.
fn once_each(mut faults: Diagnostics) -> Diagnostics {
    faults.sort_by_key(|f| (f.span.map(|s| (s.file, s.start, s.end)), f.code, std::cmp::Reverse(f.notes.len())));
    faults.dedup_by(|b, a| a.span.is_some() && a.span == b.span && a.code == b.code);
    faults
}

struct Analysis<'a> {
    scop: &'a Scop,
    /// Per statement: the domain leaves an iterator one value.
    fixed: Vec<bool>,
    /// Pieces of dependences stay as they are found, see [`PAIRS`].
    apart: bool,
}

impl<'a> Analysis<'a> {
    fn new(scop: &'a Scop) -> Self {
        let bounds: Vec<_> =
            scop.statements.iter().map(|s| domain_bounds(&s.domain, s.loops.len()).unwrap_or_default()).collect();
        let fixed = bounds.iter().map(|all| all.iter().any(|(lo, hi)| lo == hi)).collect();
        let apart = bounds.iter().any(|all| all.iter().filter(|(lo, hi)| hi - lo == 1).count() > PAIRS);
        Analysis { scop, fixed, apart }
    }

    /// Array by array, several at once: the schedules are shorter, which is what isl's run time depends on.
    fn run(&self, of_these: impl Fn(&Array) -> bool) -> poly::Result<(Flow, Diagnostics)> {
        let scop = self.scop;
        let arrays = (0..scop.arrays.len() as u32).map(ArrayId).filter(|&a| of_these(scop.array(a)));
        let questions: Vec<(Vec<StmtId>, Accesses)> =
            arrays.map(|a| self.accesses(a)).filter(|q| !q.0.is_empty()).collect();
        let answers: Vec<poly::Result<Arc<Cells>>> =
            questions.par_iter().with_max_len(1).map(|(_, accesses)| accesses.cells()).collect();
        let mut flow = Flow {
            reads: scop.statements.iter().map(|s| vec![vec![]; s.reads.len()]).collect(),
            live_out: vec![],
            anti: vec![],
            output: vec![],
        };
        let mut faults = vec![];
        for ((ids, _), cells) in questions.iter().zip(answers) {
            let cells = cells?;
            flow.add(&cells, ids);
            faults.extend(cells.faults.iter().map(|fault| self.fault(fault, ids)));
        }
        flow.live_out.sort_by_key(|l| l.statement);
        [&mut flow.anti, &mut flow.output].into_iter().for_each(|all| all.sort_by_key(|d| (d.from, d.to)));
        Ok((flow, faults))
    }

    /// The accesses of an array, and the statements that they are of.
    fn accesses(&self, array: ArrayId) -> (Vec<StmtId>, Accesses) {
        let temporary = self.scop.array(array).is_temporary();
        let mut ids = vec![];
        let mut statements = vec![];
        for id in self.scop.statement_ids() {
            let s = self.scop.statement(id);
            let all = s.reads.iter().enumerate().chain([(WRITE, &s.write)]).filter(|a| a.1.array == array);
            let accesses: Vec<_> = all.map(|(k, a)| (k, a.subscripts.clone())).collect();
            let reads = accesses.iter().map(|a| a.0).filter(|k| temporary && *k != WRITE);
            let looked = reads.filter_map(|k| Some((k, looked::looked_at(&s.rhs, k)?))).collect();
            if !accesses.is_empty() {
                ids.push(id);
                statements.push(cells::Accessing {
                    domain: s.domain.clone(),
                    beta: s.beta.clone(),
                    depth: s.loops.len(),
                    fixed: self.fixed[id.index()],
                    accesses,
                    looked,
                });
            }
        }
        (ids, Accesses { temporary, apart: self.apart, statements })
    }

    fn access(&self, reference: Reference, ids: &[StmtId]) -> &'a Access {
        let statement = self.scop.statement(reference.id(ids));
        if reference.access == WRITE {
            &statement.write
        } else {
            &statement.reads[reference.access]
        }
    }

    fn fault(&self, fault: &Fault, ids: &[StmtId]) -> Diagnostic {
        match fault {
            Fault::NotAffine { reader, written } => self.not_affine(*reader, written.as_ref(), ids),
            Fault::Uninitialized { reader, point } => self.uninitialized(*reader, point, ids),
            Fault::Final { writer } => {
                let access = self.access(*writer, ids);
                let message = format!(
                    "which iterations leave the final value of `{}` cannot be described by affine conditions",
                    self.scop.array(access.array).name
                );
                Diagnostic::error("E0501", access.span, message)
                    .label("written here")
                    .help("write each element by one statement with the same strides")
            }
        }
    }

    /// `written`: where, with an example of a reader's iteration and the writer's behind it.
    fn not_affine(&self, reader: Reference, written: Option<&(Reference, Vec<i64>)>, ids: &[StmtId]) -> Diagnostic {
        let access = self.access(reader, ids);
        let name = &self.scop.array(access.array).name;
        let message = format!(
            "the iteration that produces the value of `{name}` read here is not an affine function of the reader's"
        );
        let fault = Diagnostic::error("E0501", access.span, message);
        let Some((writer, pair)) = written else {
            let fault = fault
                .label("whether the program has written it differs from element to element by a division or remainder");
            return fault.help(
                "write and read the array with the same stride, or read what is never written from an array of its own",
            );
        };
        let depth = self.scop.statement(reader.id(ids)).loops.len();
        let (read, wrote) = pair.split_at(depth.min(pair.len()));
        let [read, wrote] = [(reader, read), (*writer, wrote)].map(|(r, point)| self.scop.iteration(r.id(ids), point));
        let fault = match read.is_empty() || wrote.is_empty() {
            true => fault.label("its source differs from element to element by a division or remainder"),
            false => fault.label(format!("at {read} it comes from {wrote}, elsewhere by a division or remainder")),
        };
        let fault = fault.note(self.access(*writer, ids).span, "the value is written here");
        if reader.statement == writer.statement {
            return fault.help(
                "a statement may read its own results at constant distances only: keep what is read this way in an \
                array that an earlier nest fills",
            );
        }
        fault.help(
            "write and read the array with the same stride, or copy the strided part to an array of its own first",
        )
    }

    fn uninitialized(&self, reader: Reference, point: &[i64], ids: &[StmtId]) -> Diagnostic {
        let access = self.access(reader, ids);
        let name = &self.scop.array(access.array).name;
        let at = self.scop.iteration(reader.id(ids), point);
        // Where a condition fails, the element keeps its value: a read that the program does not show.
        let kept = *access == self.scop.statement(reader.id(ids)).write;
        let (message, what, help) = if kept {
            let help = format!(
                "give `{name}` a value where it is declared, or in the other branch too; reads under the same \
                condition as the write need none"
            );
            (
                format!("`{name}` may be read without a value"),
                "where the condition around this write fails, it has none",
                help,
            )
        } else {
            (
                format!("`{name}` is read before it is written"),
                "no write comes before",
                format!("initialize `{name}` before this read, or make it a parameter"),
            )
        };
        let label = if at.is_empty() { what.into() } else { format!("for example at {at}: {what}") };
        let fault = Diagnostic::error("E0502", access.span, message).label(label);
        let fault =
            fault.note(self.scop.array(access.array).span, format!("`{name}` is local, so it has no value at first"));
        fault.help(help)
    }
}

impl Flow {
    /// With one array's cells, whose statements have these numbers.
    fn add(&mut self, cells: &Cells, ids: &[StmtId]) {
        for (reader, pieces) in &cells.reads {
            let placed = |piece: &Piece| match &piece.source {
                Source::Write { statement, iteration } => Piece {
                    domain: piece.domain.clone(),
                    source: Source::Write { statement: ids[statement.index()], iteration: iteration.clone() },
                },
                _ => piece.clone(),
            };
            self.reads[reader.id(ids).index()][reader.access] = pieces.iter().map(placed).collect();
        }
        self.live_out.extend(
            cells.live_out.iter().map(|l| LiveOut { statement: ids[l.statement.index()], domain: l.domain.clone() }),
        );
        let there = |(statement, access): (StmtId, usize)| (ids[statement.index()], access);
        let placed = |d: &MemoryDep| MemoryDep { from: there(d.from), to: there(d.to), relation: d.relation.clone() };
        self.anti.extend(cells.anti.iter().map(placed));
        self.output.extend(cells.output.iter().map(placed));
    }
}
