//! Exact array dataflow of a [`Scop`] as plain data, and integer set operations on plain data.
//!
//! Job: for every read the write whose value it sees (the last one to the same element that runs before), for every element
//! of an array in DRAM the write that leaves its final value, and the remaining memory order (anti, output). All sizes are
//! constants, so the answers are piecewise affine with integer coefficients; where they are not, the program is refused.
//!
//! Invariants of a [`Flow`] that [`analyze`] returns:
//! - the pieces of one read are disjoint and cover the statement's domain, and no source is [`Source::Undefined`];
//! - in a piece every source iteration lies in the source statement's domain, accesses the same element, and runs before;
//! - everything is sorted: equal programs give equal results.
//!
//! Source: Feautrier, "Dataflow Analysis of Array and Scalar References" (1991), through isl's implementation. A read or
//! write of a statement is an instance set with its own tuple name, so references are never merged. The next write after an
//! access is the last write before it in reversed time.

mod domains;
mod earlier;

pub use crate::poly::Region;
pub use domains::{
    count, disjoint, domain_bounds, first_point, image, implies, intersects, is_empty, limited, maximum, minimum, project_out, projection, questions, simplify,
    subtract, union_implies, union_subtract,
};

use crate::diag::{Diagnostic, Diagnostics};
use crate::poly::{self, last_source, last_source_by_time, Context, LastSource, Map, Set, UnionMap};
use crate::scop::{Access, Affine, Array, ArrayId, Constraint, Scop, Statement, StmtId};
use std::collections::BTreeMap;

/// Access index of a statement's write in a [`MemoryDep`]; reads have their index in `Statement::reads`.
pub const WRITE: usize = usize::MAX;

/// Loops of two iterations in a nest, beyond which the pieces of its dependences are not merged: any two points lie on a
/// line, so isl describes pairs of pieces as one by functions that nobody wrote, and takes longer over each than the last.
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
    /// A local array's element before its first write. [`analyze`] refuses programs with such reads.
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

/// A memory order: each source instance must run before the sink instance it is related to, unless the array is renamed.
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
    /// Conjunction over the source's iterators followed by the sink's. Where the relation needs a division this contains
    /// it and is larger.
    Relation { constraints: Vec<Constraint> },
}

/// Exact dataflow of `scop`.
///
/// # Errors
/// - E0501: a source or a set of final writes cannot be written with integer affine functions (such as every other
///   element), at the read or write concerned;
/// - E0502: a read of a local element that nothing wrote before, with an example iteration;
/// - E0599: isl gave up, which a valid `Scop` does not cause.
pub fn analyze(scop: &Scop) -> Result<Flow, Diagnostics> {
    let (flow, faults) = Analysis::new(scop).and_then(|analysis| analysis.run()).map_err(|error| {
        vec![Diagnostic::error("E0599", scop.function.region, format!("dataflow analysis failed: {error}"))]
    })?;
    if faults.is_empty() { Ok(flow) } else { Err(once_each(faults)) }
}

/// Whether sources and final writes of these arrays can be written with integer affine functions, see E0501 of [`analyze`].
pub fn is_affine(scop: &Scop, arrays: impl Fn(&Array) -> bool) -> bool {
    let of_these = |analysis: Analysis| Analysis { arrays: analysis.arrays.iter().copied().filter(|&a| arrays(scop.array(a))).collect(), ..analysis }.run();
    Analysis::new(scop).and_then(of_these).is_ok_and(|(_, faults)| faults.iter().all(|f| f.code != "E0501"))
}

/// By place; of several of one access, as copies of an unrolled loop have, the one that says most.
fn once_each(mut faults: Diagnostics) -> Diagnostics {
    faults.sort_by_key(|f| (f.span.map(|s| (s.file, s.start, s.end)), f.code, std::cmp::Reverse(f.notes.len())));
    faults.dedup_by(|b, a| a.span.is_some() && a.span == b.span && a.code == b.code);
    faults
}

/// One access of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    statement: StmtId,
    /// Read index or [`WRITE`].
    access: usize,
}

impl Reference {
    /// isl tuple name of the instances of this access.
    fn name(self) -> String {
        match self.access {
            WRITE => format!("W{}", self.statement.0),
            read => format!("R{}_{read}", self.statement.0),
        }
    }
}

/// What isl found, by reference.
#[derive(Default)]
struct Dataflow {
    /// `{ sink -> source }` by (sink, source).
    matched: BTreeMap<(Reference, Reference), Map>,
    /// The sink instances that have no source.
    unmatched: BTreeMap<Reference, Set>,
}

struct Analysis<'a> {
    scop: &'a Scop,
    /// Those whose cells are looked at.
    arrays: Vec<ArrayId>,
    reads: Vec<Reference>,
    writes: Vec<Reference>,
    by_name: BTreeMap<String, Reference>,
    context: Context,
    /// Pieces of dependences stay as they are found, see [`PAIRS`].
    apart: bool,
}

impl<'a> Analysis<'a> {
    fn new(scop: &'a Scop) -> poly::Result<Self> {
        let writes: Vec<_> = scop.statement_ids().map(|statement| Reference { statement, access: WRITE }).collect();
        let of = |statement: StmtId| (0..scop.statement(statement).reads.len()).map(move |access| Reference { statement, access });
        let reads: Vec<_> = scop.statement_ids().flat_map(of).collect();
        let by_name = reads.iter().chain(&writes).map(|r| (r.name(), *r)).collect();
        let pairs = |s: &Statement| domain_bounds(&s.domain, s.loops.len()).map_or(0, |all| all.iter().filter(|(lo, hi)| hi - lo == 1).count());
        let apart = scop.statements.iter().any(|s| pairs(s) > PAIRS);
        Ok(Analysis { scop, arrays: (0..scop.arrays.len() as u32).map(ArrayId).collect(), reads, writes, by_name, context: Context::new()?, apart })
    }

    fn run(&self) -> poly::Result<(Flow, Diagnostics)> {
        let mut faults = vec![];
        // Array by array: the schedules are shorter, which is what isl's run time depends on.
        let (mut before, mut after) = (Dataflow::default(), Dataflow::default());
        for &array in &self.arrays {
            let touching = |all: &[Reference]| all.iter().copied().filter(|r| self.access(*r).array == array).collect::<Vec<_>>();
            let (reads, writes) = (touching(&self.reads), touching(&self.writes));
            let both = [reads.as_slice(), &writes].concat();
            let written = self.accesses(&writes)?;
            let by_time = both.iter().any(|r| self.fixes_an_iterator(r.statement));
            for (found, sinks, direction) in [(&mut before, &reads, 1), (&mut after, &both, -1)] {
                let (accesses, schedule) = (self.accesses(sinks)?, self.schedule(&both, direction)?);
                let short = if by_time { None } else { Some(last_source(&accesses, &written, &schedule)?) };
                let last = match short {
                    Some(last) if last.is_complete(&accesses)? => last,
                    _ => last_source_by_time(&accesses, &self.earlier(sinks, &writes, direction)?, &schedule)?,
                };
                self.add(found, &last)?;
            }
        }
        let flow = Flow {
            reads: self.sources(&before, &mut faults)?,
            live_out: self.live_out(&after, &mut faults)?,
            anti: self.memory(&after, |from| from.access != WRITE)?,
            output: self.memory(&after, |from| from.access == WRITE)?,
        };
        Ok((flow, faults))
    }

    fn access(&self, reference: Reference) -> &'a Access {
        let statement = self.scop.statement(reference.statement);
        if reference.access == WRITE { &statement.write } else { &statement.reads[reference.access] }
    }

    /// The domain leaves an iterator one value (see [`last_source_by_time`]).
    fn fixes_an_iterator(&self, statement: StmtId) -> bool {
        let bounds = domain_bounds(&self.scop.statement(statement).domain, self.depth(statement));
        bounds.is_some_and(|all| all.iter().any(|(lo, hi)| lo == hi))
    }

    fn depth(&self, statement: StmtId) -> usize {
        self.scop.statement(statement).loops.len()
    }

    fn is_local(&self, array: ArrayId) -> bool {
        self.scop.array(array).is_temporary()
    }

    /// `{ reference[iterators] -> array[subscripts] }` over the statements' domains.
    fn accesses(&self, references: &[Reference]) -> poly::Result<UnionMap> {
        let one = |&reference: &Reference| {
            let statement = self.scop.statement(reference.statement);
            let access = self.access(reference);
            let (name, array) = (reference.name(), format!("A{}", access.array.0));
            let depth = statement.loops.len();
            let domain = Set::from_union(&self.context, Some(&name), depth, &statement.domain)?;
            let map = Map::from_affine(&self.context, Some(&name), depth, Some(&array), &access.subscripts)?;
            map.intersect_domain(&domain)
        };
        UnionMap::of_maps(&self.context, references.iter().map(one))
    }

    /// The 2d+1 schedule of the references times `direction`, padded to one length, without the entries that two
    /// accesses of one array element always share. The last entry puts a statement's reads before its write.
    fn schedule(&self, references: &[Reference], direction: i64) -> poly::Result<UnionMap> {
        let deepest = references.iter().map(|r| self.depth(r.statement)).max().unwrap_or(0);
        let times: Vec<Vec<Affine>> = references.iter().map(|&r| self.time(r, direction, 2 * deepest + 1)).collect();
        let kept: Vec<usize> = (0..2 * deepest + 2).filter(|&entry| !self.equal_on_one_cell(references, &times, entry)).collect();
        let one = |(reference, time): (&Reference, &Vec<Affine>)| {
            let time: Vec<Affine> = kept.iter().map(|&entry| time[entry].clone()).collect();
            Map::from_affine(&self.context, Some(&reference.name()), self.depth(reference.statement), None, &time)
        };
        UnionMap::of_maps(&self.context, references.iter().zip(&times).map(one))
    }

    /// Whether entry `entry` of the time is a constant, or one function of a subscript, the same for all references.
    fn equal_on_one_cell(&self, references: &[Reference], times: &[Vec<Affine>], entry: usize) -> bool {
        // time[entry] minus `factor` times subscript `position` must be one constant.
        let rank = references.first().map_or(0, |&r| self.access(r).subscripts.len());
        let constant = |factor: i64, position: usize| {
            let mut seen = None;
            references.iter().zip(times).all(|(&reference, time)| {
                let subscript = self.access(reference).subscripts.get(position);
                let Some(rest) = subscript.map_or(Some(time[entry].clone()), |s| minus(&time[entry], factor, s)) else { return false };
                rest.is_constant() && *seen.get_or_insert(rest.constant) == rest.constant
            })
        };
        constant(0, 0) || (0..rank).any(|position| constant(1, position) || constant(-1, position))
    }

    /// (beta, iterator, beta, …) padded with zeros to `length`, then 0 for a read and 1 for a write; all times `direction`.
    fn time(&self, reference: Reference, direction: i64, length: usize) -> Vec<Affine> {
        let statement = self.scop.statement(reference.statement);
        let depth = statement.loops.len();
        let mut time = vec![];
        for (level, &position) in statement.beta.iter().enumerate() {
            time.push(Affine::constant(depth, direction * position));
            if level < depth {
                time.push(iterator(depth, level, direction));
            }
        }
        time.resize(length, Affine::constant(depth, 0));
        time.push(Affine::constant(depth, if reference.access == WRITE { direction } else { 0 }));
        time
    }

    fn reference(&self, name: Option<String>) -> poly::Result<Reference> {
        let known = name.as_ref().and_then(|name| self.by_name.get(name));
        known.copied().ok_or_else(|| poly::Error { message: format!("unknown tuple {name:?}"), call: "reference" })
    }

    /// Sorts isl's answer for one array by reference.
    fn add(&self, all: &mut Dataflow, found: &LastSource) -> poly::Result<()> {
        let depth = self.scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0);
        let merged = if self.apart { found.dependence.clone() } else { found.dependence.merged(depth)? };
        for map in merged.reverse()?.maps()? {
            all.matched.insert((self.reference(map.input_name()?)?, self.reference(map.output_name()?)?), map);
        }
        for set in found.no_source.domain()?.sets()? {
            all.unmatched.insert(self.reference(set.name()?)?, set);
        }
        Ok(())
    }

    fn sources(&self, before: &Dataflow, faults: &mut Diagnostics) -> poly::Result<Vec<Vec<Vec<Piece>>>> {
        let mut pieces: BTreeMap<Reference, Vec<Piece>> = BTreeMap::new();
        for (&(reader, writer), map) in &before.matched {
            for part in map.function_pieces(self.apart)? {
                let region = part.domain.region()?;
                let Some(iteration) = part.outputs.filter(|_| region.exact) else {
                    let pair = domains::first_point_of(&map.intersect_domain(&part.domain)?.flatten()?)?;
                    faults.push(self.not_affine(reader, Some((writer, pair.unwrap_or_default()))));
                    break;
                };
                let source = Source::Write { statement: writer.statement, iteration };
                let new = region.pieces.into_iter().map(|domain| Piece { domain, source: source.clone() });
                pieces.entry(reader).or_default().extend(new);
            }
        }
        for (&reader, set) in &before.unmatched {
            let region = set.region()?;
            let local = self.is_local(self.access(reader).array);
            if local && !region.pieces.is_empty() {
                faults.push(self.uninitialized(reader, set)?);
            } else if !region.exact {
                faults.push(self.not_affine(reader, None));
            }
            let source = if local { Source::Undefined } else { Source::Input };
            let new = region.pieces.into_iter().map(|domain| Piece { domain, source: source.clone() });
            pieces.entry(reader).or_default().extend(new);
        }
        pieces.values_mut().for_each(|list| list.sort());
        let of = |statement: StmtId| {
            let count = self.scop.statement(statement).reads.len();
            (0..count).map(|access| pieces.remove(&Reference { statement, access }).unwrap_or_default()).collect()
        };
        Ok(self.scop.statement_ids().map(of).collect())
    }

    fn live_out(&self, after: &Dataflow, faults: &mut Diagnostics) -> poly::Result<Vec<LiveOut>> {
        let mut live = vec![];
        for (&reference, set) in &after.unmatched {
            let array = self.access(reference).array;
            if reference.access != WRITE || self.is_local(array) {
                continue;
            }
            let region = set.region()?;
            if !region.exact {
                let name = &self.scop.array(array).name;
                let message = format!("which iterations leave the final value of `{name}` cannot be described by affine conditions");
                let fault = Diagnostic::error("E0501", self.access(reference).span, message);
                faults.push(fault.label("written here").help("write each element by one statement with the same strides"));
            }
            if !region.pieces.is_empty() {
                live.push(LiveOut { statement: reference.statement, domain: region.pieces });
            }
        }
        Ok(live)
    }

    fn memory(&self, after: &Dataflow, wanted: impl Fn(Reference) -> bool) -> poly::Result<Vec<MemoryDep>> {
        let mut deps = vec![];
        for (&(from, to), map) in &after.matched {
            if !wanted(from) {
                continue;
            }
            let depth = self.depth(from.statement);
            let same_instance: Vec<Affine> = (0..depth).map(|level| iterator(depth, level, 1)).collect();
            let map = if from.statement == to.statement {
                map.subtract(&Map::from_affine(&self.context, Some(&from.name()), depth, Some(&to.name()), &same_instance)?)?
            } else {
                map.clone()
            };
            let mut relation = vec![];
            for part in map.function_pieces(self.apart)? {
                let region = part.domain.region()?;
                match part.outputs.filter(|_| region.exact) {
                    Some(target) => {
                        let new = region.pieces.into_iter().map(|domain| RelationPiece::Function { domain, target: target.clone() });
                        relation.extend(new);
                    }
                    None => {
                        let pairs = map.intersect_domain(&part.domain)?.flatten()?.region()?.pieces;
                        relation.extend(pairs.into_iter().map(|constraints| RelationPiece::Relation { constraints }));
                    }
                }
            }
            relation.sort();
            if !relation.is_empty() {
                deps.push(MemoryDep { from: (from.statement, from.access), to: (to.statement, to.access), relation });
            }
        }
        Ok(deps)
    }

    /// `written`: where, with an example of a reader's iteration and the writer's behind it.
    fn not_affine(&self, reader: Reference, written: Option<(Reference, Vec<i64>)>) -> Diagnostic {
        let access = self.access(reader);
        let name = &self.scop.array(access.array).name;
        let message = format!("the iteration that produces the value of `{name}` read here is not an affine function of the reader's");
        let fault = Diagnostic::error("E0501", access.span, message);
        let Some((writer, pair)) = written else {
            let fault = fault.label("whether the program has written it differs from element to element by a division or remainder");
            return fault.help("write and read the array with the same stride, or read what is never written from an array of its own");
        };
        let (read, wrote) = pair.split_at(self.depth(reader.statement).min(pair.len()));
        let [read, wrote] = [(reader, read), (writer, wrote)].map(|(r, point)| self.scop.iteration(r.statement, point));
        let fault = match read.is_empty() || wrote.is_empty() {
            true => fault.label("its source differs from element to element by a division or remainder"),
            false => fault.label(format!("at {read} it comes from {wrote}, elsewhere by a division or remainder")),
        };
        let fault = fault.note(self.access(writer).span, "the value is written here");
        if reader.statement == writer.statement {
            return fault.help("a statement may read its own results at constant distances only: keep what is read this way in an array that an earlier nest fills");
        }
        fault.help("write and read the array with the same stride, or copy the strided part to an array of its own first")
    }

    fn uninitialized(&self, reader: Reference, unwritten: &Set) -> poly::Result<Diagnostic> {
        let access = self.access(reader);
        let name = &self.scop.array(access.array).name;
        let point = domains::first_point_of(unwritten)?.unwrap_or_default();
        let at = self.scop.iteration(reader.statement, &point);
        // Where a condition fails, the element keeps its value: a read that the program does not show.
        let kept = *access == self.scop.statement(reader.statement).write;
        let (message, what, help) = if kept {
            let help = format!("give `{name}` a value where it is declared, or in the other branch too; reads under the same condition as the write need none");
            (format!("`{name}` may be read without a value"), "where the condition around this write fails, it has none", help)
        } else {
            (format!("`{name}` is read before it is written"), "no write comes before", format!("initialize `{name}` before this read, or make it a parameter"))
        };
        let label = if at.is_empty() { what.into() } else { format!("for example at {at}: {what}") };
        let fault = Diagnostic::error("E0502", access.span, message).label(label);
        let fault = fault.note(self.scop.array(access.array).span, format!("`{name}` is local, so it has no value at first"));
        Ok(fault.help(help))
    }
}

/// `factor` times iterator `level` of `depth`.
fn iterator(depth: usize, level: usize, factor: i64) -> Affine {
    let mut function = Affine::constant(depth, 0);
    function.coeffs[level] = factor;
    function
}

/// `a - factor * b`, if it fits.
fn minus(a: &Affine, factor: i64, b: &Affine) -> Option<Affine> {
    let term = |x: i64, y: i64| x.checked_sub(factor.checked_mul(y)?);
    let coeffs: Option<Vec<i64>> = a.coeffs.iter().zip(&b.coeffs).map(|(&x, &y)| term(x, y)).collect();
    Some(Affine { coeffs: coeffs?, constant: term(a.constant, b.constant)? })
}
