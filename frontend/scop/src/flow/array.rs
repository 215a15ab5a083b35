//! The dataflow of one array: the source of every read, the writes that are live out, and the memory order.
//!
//! It depends on the accesses of the array alone. Rewrites of a program leave most arrays as they are, so results are
//! cached by [`Accesses`].
//!
//! Method: [`last_source`] of isl, or [`last_source_by_time`] where isl's answer would be wrong (a fixed iterator) or
//! is incomplete (divisibility). Both get only the schedule entries that can differ between two accesses of one
//! element. For example `C[i][j]` in all accesses fixes the entries of `i` and `j`; only the loop over `k` and the
//! textual positions remain.

use super::{domains, LiveOut, MemoryDep, Piece, RelationPiece, Source, WRITE};
use crate::poly;
use crate::poly::{last_source, last_source_by_time, Context, LastSource, Map, Set, UnionMap};
use crate::{Affine, Constraint, StmtId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// All accesses of an array.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Accesses {
    /// Undefined before the region and dead after it.
    pub temporary: bool,
    /// Pieces of dependences are not merged.
    pub unmerged: bool,
    /// In the program's order.
    pub statements: Vec<Accessor>,
}

/// A statement that accesses the array.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Accessor {
    pub domain: Vec<Vec<Constraint>>,
    pub beta: Vec<i64>,
    pub depth: usize,
    /// The domain fixes an iterator to one value (see [`last_source_by_time`]).
    pub fixed: bool,
    /// Read index or [`WRITE`], subscripts.
    pub accesses: Vec<(usize, Vec<Affine>)>,
    /// By read index: where the statement uses the value it reads, if not everywhere. Only for temporary arrays.
    pub used: Vec<(usize, Vec<Vec<Constraint>>)>,
}

/// One access of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reference {
    /// Index into [`Accesses::statements`].
    pub statement: usize,
    /// Read index or [`WRITE`].
    pub access: usize,
}

impl Reference {
    /// The statement's number in a program.
    pub fn id(self, ids: &[StmtId]) -> StmtId {
        ids[self.statement]
    }
    fn local_id(self) -> StmtId {
        StmtId(self.statement as u32)
    }
    /// isl tuple name of the instances of this access.
    pub fn name(self) -> String {
        match self.access {
            WRITE => format!("W{}", self.statement),
            read => format!("R{}_{read}", self.statement),
        }
    }
}

/// The part of [`super::Flow`] about one array. Statements are numbered by [`Accesses::statements`].
#[derive(Default)]
pub(super) struct ArrayFlow {
    pub reads: BTreeMap<Reference, Vec<Piece>>,
    pub live_out: Vec<LiveOut>,
    pub anti: Vec<MemoryDep>,
    pub output: Vec<MemoryDep>,
    pub faults: Vec<Fault>,
}

pub(super) enum Fault {
    /// The source is not an affine function; `written`: the write, and an iteration of the reader followed by one of
    /// the writer.
    NotAffine { reader: Reference, written: Option<(Reference, Vec<i64>)> },
    /// The value read at this iteration is undefined and used.
    Uninitialized { reader: Reference, point: Vec<i64> },
    /// The iterations that leave a final value are not described by affine conditions.
    Final { writer: Reference },
}

/// A full cache is emptied.
const CAPACITY: usize = 20_000;
static CACHE: LazyLock<Mutex<FxHashMap<Accesses, Arc<ArrayFlow>>>> = LazyLock::new(Mutex::default);

impl Accesses {
    /// The dataflow of the array, from the cache if it was computed before.
    ///
    /// # Errors
    /// isl failed or exceeded its limits.
    pub fn analyze(&self) -> poly::Result<Arc<ArrayFlow>> {
        let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cells) = cache().get(self) {
            return Ok(Arc::clone(cells));
        }
        let cells = Arc::new(ArrayAnalysis::new(self)?.run()?);
        let mut cache = cache();
        if cache.len() >= CAPACITY {
            cache.clear();
        }
        cache.insert(self.clone(), Arc::clone(&cells));
        Ok(cells)
    }
}

/// isl's answer, by reference.
#[derive(Default)]
struct Dataflow {
    /// `{ sink -> source }` by (sink, source).
    matched: BTreeMap<(Reference, Reference), Map>,
    /// The sink instances that have no source.
    unmatched: BTreeMap<Reference, Set>,
}

pub(super) struct ArrayAnalysis<'a> {
    array: &'a Accesses,
    by_name: BTreeMap<String, Reference>,
    pub(super) context: Context,
}

impl<'a> ArrayAnalysis<'a> {
    fn new(array: &'a Accesses) -> poly::Result<Self> {
        let search = ArrayAnalysis { array, by_name: BTreeMap::new(), context: Context::new()? };
        Ok(ArrayAnalysis { by_name: search.references().map(|r| (r.name(), r)).collect(), ..search })
    }

    fn references(&self) -> impl Iterator<Item = Reference> + use<'a> {
        self.array
            .statements
            .iter()
            .enumerate()
            .flat_map(|(statement, s)| s.accesses.iter().map(move |a| Reference { statement, access: a.0 }))
    }

    fn run(&self) -> poly::Result<ArrayFlow> {
        let (writes, reads): (Vec<_>, Vec<_>) = self.references().partition(|r| r.access == WRITE);
        let both = [reads.as_slice(), &writes].concat();
        let written = self.accesses(&writes)?;
        let by_time = self.array.statements.iter().any(|s| s.fixed);
        let last = |sinks: &[Reference], direction: i64| {
            let (accesses, schedule) = (self.accesses(sinks)?, self.schedule(&both, direction)?);
            let short = if by_time { None } else { Some(last_source(&accesses, &written, &schedule)?) };
            let last = match short {
                Some(last) if last.is_complete(&accesses)? => last,
                _ => last_source_by_time(&accesses, &self.earlier(sinks, &writes, direction)?, &schedule)?,
            };
            self.by_reference(&last)
        };
        let (before, after) = (last(&reads, 1)?, last(&both, -1)?);
        let mut cells = ArrayFlow {
            anti: self.memory(&after, |from| from.access != WRITE)?,
            output: self.memory(&after, |from| from.access == WRITE)?,
            ..ArrayFlow::default()
        };
        self.sources(&before, &mut cells)?;
        self.live_out(&after, &mut cells)?;
        Ok(cells)
    }

    pub(super) fn statement(&self, reference: Reference) -> &'a Accessor {
        &self.array.statements[reference.statement]
    }

    pub(super) fn subscripts(&self, reference: Reference) -> &'a [Affine] {
        let all = &self.statement(reference).accesses;
        all.iter().find(|a| a.0 == reference.access).map_or(&[], |a| &a.1)
    }

    pub(super) fn depth(&self, reference: Reference) -> usize {
        self.statement(reference).depth
    }

    /// `{ reference[iterators] -> array[subscripts] }` over the statements' domains.
    fn accesses(&self, references: &[Reference]) -> poly::Result<UnionMap> {
        let one = |&reference: &Reference| {
            let (name, depth) = (reference.name(), self.depth(reference));
            let domain = Set::from_union(&self.context, Some(&name), depth, &self.statement(reference).domain)?;
            let map = Map::from_affine(&self.context, Some(&name), depth, Some("A"), self.subscripts(reference))?;
            map.intersect_domain(&domain)
        };
        UnionMap::of_maps(&self.context, references.iter().map(one))
    }

    /// The 2d+1 schedule of the references times `direction`, padded to one length, without the entries that are equal
    /// for any two accesses of one element. The last entry orders a statement's reads before its write.
    fn schedule(&self, references: &[Reference], direction: i64) -> poly::Result<UnionMap> {
        let deepest = references.iter().map(|r| self.depth(*r)).max().unwrap_or(0);
        let times: Vec<Vec<Affine>> = references.iter().map(|&r| self.time(r, direction, 2 * deepest + 1)).collect();
        let entries: Vec<usize> =
            (0..2 * deepest + 2).filter(|&entry| !self.equal_on_one_cell(references, &times, entry)).collect();
        let one = |(reference, time): (&Reference, &Vec<Affine>)| {
            let time: Vec<Affine> = entries.iter().map(|&entry| time[entry].clone()).collect();
            Map::from_affine(&self.context, Some(&reference.name()), self.depth(*reference), None, &time)
        };
        UnionMap::of_maps(&self.context, references.iter().zip(&times).map(one))
    }

    /// Whether time entry `entry` is one constant, or a subscript plus one constant (or minus it), for all references.
    fn equal_on_one_cell(&self, references: &[Reference], times: &[Vec<Affine>], entry: usize) -> bool {
        // time[entry] minus `factor` times subscript `position` must be one constant.
        let rank = references.first().map_or(0, |&r| self.subscripts(r).len());
        let constant = |factor: i64, position: usize| {
            let mut seen = None;
            references.iter().zip(times).all(|(&reference, time)| {
                let subscript = self.subscripts(reference).get(position);
                let Some(rest) = subscript.map_or(Some(time[entry].clone()), |s| minus(&time[entry], factor, s)) else {
                    return false;
                };
                rest.is_constant() && *seen.get_or_insert(rest.constant) == rest.constant
            })
        };
        constant(0, 0) || (0..rank).any(|position| constant(1, position) || constant(-1, position))
    }

    /// (beta, iterator, beta, …) padded with zeros to `length`, then 0 for a read and 1 for a write; all times
    /// `direction`.
    pub(super) fn time(&self, reference: Reference, direction: i64, length: usize) -> Vec<Affine> {
        let statement = self.statement(reference);
        let depth = statement.depth;
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
        let found = name.as_ref().and_then(|name| self.by_name.get(name));
        found.copied().ok_or_else(|| poly::Error { message: format!("unknown tuple {name:?}"), call: "reference" })
    }

    /// Splits isl's answer by reference.
    fn by_reference(&self, found: &LastSource) -> poly::Result<Dataflow> {
        let depth = self.array.statements.iter().map(|s| s.depth).max().unwrap_or(0);
        let merged = if self.array.unmerged { found.dependence.clone() } else { found.dependence.merged(depth)? };
        let mut all = Dataflow::default();
        for map in merged.reverse()?.maps()? {
            all.matched.insert((self.reference(map.input_name()?)?, self.reference(map.output_name()?)?), map);
        }
        for set in found.no_source.domain()?.sets()? {
            all.unmatched.insert(self.reference(set.name()?)?, set);
        }
        Ok(all)
    }

    fn sources(&self, before: &Dataflow, cells: &mut ArrayFlow) -> poly::Result<()> {
        for (&(reader, writer), map) in &before.matched {
            for part in map.function_pieces(self.array.unmerged)? {
                let region = part.domain.region()?;
                let Some(iteration) = part.outputs.filter(|_| region.exact) else {
                    let pair = domains::first_point_of(&map.intersect_domain(&part.domain)?.flatten()?)?;
                    cells.faults.push(Fault::NotAffine { reader, written: Some((writer, pair.unwrap_or_default())) });
                    break;
                };
                let source = Source::Write { statement: writer.local_id(), iteration };
                let new = region.pieces.into_iter().map(|domain| Piece { domain, source: source.clone() });
                cells.reads.entry(reader).or_default().extend(new);
            }
        }
        let temporary = self.array.temporary;
        for (&reader, set) in &before.unmatched {
            let region = set.region()?;
            let missed = self.used_where(reader, set)?;
            if temporary && !missed.is_empty()? {
                cells.faults.push(Fault::Uninitialized {
                    reader,
                    point: domains::first_point_of(&missed)?.unwrap_or_default(),
                });
            } else if !region.exact {
                cells.faults.push(Fault::NotAffine { reader, written: None });
            }
            let source = if temporary { Source::Undefined } else { Source::Input };
            let new = region.pieces.into_iter().map(|domain| Piece { domain, source: source.clone() });
            cells.reads.entry(reader).or_default().extend(new);
        }
        cells.reads.values_mut().for_each(|list| list.sort());
        Ok(())
    }

    /// The instances of a read whose value their statement uses.
    fn used_where(&self, reader: Reference, instances: &Set) -> poly::Result<Set> {
        let statement = self.statement(reader);
        match statement.used.iter().find(|l| l.0 == reader.access) {
            Some((_, used)) => {
                instances.intersect(&Set::from_union(&self.context, Some(&reader.name()), statement.depth, used)?)
            }
            None => Ok(instances.clone()),
        }
    }

    fn live_out(&self, after: &Dataflow, cells: &mut ArrayFlow) -> poly::Result<()> {
        for (&writer, set) in after.unmatched.iter().filter(|(r, _)| r.access == WRITE && !self.array.temporary) {
            let region = set.region()?;
            if !region.exact {
                cells.faults.push(Fault::Final { writer });
            }
            if !region.pieces.is_empty() {
                cells.live_out.push(LiveOut { statement: writer.local_id(), domain: region.pieces });
            }
        }
        Ok(())
    }

    fn memory(&self, after: &Dataflow, wanted: impl Fn(Reference) -> bool) -> poly::Result<Vec<MemoryDep>> {
        let mut deps = vec![];
        for (&(from, to), map) in &after.matched {
            if !wanted(from) {
                continue;
            }
            let depth = self.depth(from);
            let same_instance: Vec<Affine> = (0..depth).map(|level| iterator(depth, level, 1)).collect();
            let map = if from.statement == to.statement {
                map.subtract(&Map::from_affine(
                    &self.context,
                    Some(&from.name()),
                    depth,
                    Some(&to.name()),
                    &same_instance,
                )?)?
            } else {
                map.clone()
            };
            let mut relation = vec![];
            for part in map.function_pieces(self.array.unmerged)? {
                let region = part.domain.region()?;
                match part.outputs.filter(|_| region.exact) {
                    Some(target) => {
                        let new = region
                            .pieces
                            .into_iter()
                            .map(|domain| RelationPiece::Function { domain, target: target.clone() });
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
                deps.push(MemoryDep { from: (from.local_id(), from.access), to: (to.local_id(), to.access), relation });
            }
        }
        Ok(deps)
    }
}

/// `factor` times iterator `level` of `depth`.
fn iterator(depth: usize, level: usize, factor: i64) -> Affine {
    let mut function = Affine::constant(depth, 0);
    function.coeffs[level] = factor;
    function
}

/// `a - factor * b`, if it fits.
pub(super) fn minus(a: &Affine, factor: i64, b: &Affine) -> Option<Affine> {
    let term = |x: i64, y: i64| x.checked_sub(factor.checked_mul(y)?);
    let coeffs: Option<Vec<i64>> = a.coeffs.iter().zip(&b.coeffs).map(|(&x, &y)| term(x, y)).collect();
    Some(Affine { coeffs: coeffs?, constant: term(a.constant, b.constant)? })
}
