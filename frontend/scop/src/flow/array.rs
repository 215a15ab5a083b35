//! The dataflow of one array: the source of every read, the writes that are live out, and the memory order.
//!
//! It depends on the accesses of the array alone. Rewrites of a program leave most arrays as they are, so results are
//! cached by [`Accesses`].
//!
//! Method: [`last_source`] of isl, or [`last_source_by_time`] where isl's answer is incomplete (divisibility). Both get
//! only the schedule entries that can differ between two accesses of one element. For example `C[i][j]` in all accesses
//! fixes the entries of `i` and `j`; only the loop over `k` and the textual positions remain.

use super::accesses::{Accesses, Reference};
use super::schedule::{iterator, Schedule};
use super::{domains, LiveOut, MemoryDep, Piece, RelationPiece, Source, WRITE};
use crate::poly;
use crate::poly::{last_source, last_source_by_time, Context, LastSource, Map, Set, Timed, UnionMap};
use crate::polyhedron::range_and_work;
use crate::{Affine, Constraint};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

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
    pub(super) array: &'a Accesses,
    by_name: BTreeMap<String, Reference>,
    /// `{ reference[iterators] -> array[subscripts] }` over the statement's domain.
    accesses: BTreeMap<Reference, Map>,
    /// The bounds of the subscripts in each piece of the statement's domain.
    boxes: BTreeMap<Reference, Vec<Box<[Bounds]>>>,
    pub(super) context: Context,
}

impl<'a> ArrayAnalysis<'a> {
    fn new(array: &'a Accesses) -> poly::Result<Self> {
        let context = Context::new()?;
        Ok(ArrayAnalysis {
            array,
            by_name: array.references().map(|r| (r.name(), r)).collect(),
            accesses: array.references().map(|r| Ok((r, access(&context, array, r)?))).collect::<poly::Result<_>>()?,
            boxes: array.references().map(|r| (r, boxes(array, r))).collect(),
            context,
        })
    }

    fn run(&self) -> poly::Result<ArrayFlow> {
        let (writes, reads): (Vec<_>, Vec<_>) = self.array.references().partition(|r| r.access == WRITE);
        let both = [reads.as_slice(), &writes].concat();
        let last = |sinks: &[Reference], direction: i64| {
            let last = self.last(sinks, &writes, direction)?;
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

    /// The last of `sources` before each of `sinks`, in times multiplied by `direction`.
    fn last(&self, sinks: &[Reference], sources: &[Reference], direction: i64) -> poly::Result<LastSource> {
        let both = [sinks, sources].concat();
        let schedule = Schedule::new(&self.context, self.array, &both, direction);
        let all = UnionMap::of_maps(&self.context, sinks.iter().map(|r| Ok(self.accesses[r].clone())))?;
        if sinks.is_empty() || sources.is_empty() {
            return Ok(LastSource { dependence: UnionMap::of_maps(&self.context, [])?, no_source: all });
        }
        let instances = |references: &[Reference]| {
            references.iter().map(|&r| schedule.instances(r)).collect::<poly::Result<Vec<_>>>()
        };
        let (to_sink, to_source) = (instances(sinks)?, instances(sources)?);
        let timed = |references: &[Reference], times: &[Map]| {
            let one = |(&r, time): (&Reference, &Map)| {
                Ok(Timed { access: time.apply_range(&self.accesses[&r])?, text: schedule.text(r) })
            };
            references.iter().zip(times).map(one).collect::<poly::Result<Vec<_>>>()
        };
        let may_meet =
            |sink: usize, source: usize| boxes_meet(&self.boxes[&sinks[sink]], &self.boxes[&sources[source]]);
        let found = last_source(&timed(sinks, &to_sink)?, &timed(sources, &to_source)?, may_meet)?;
        let union = |maps: &[Map]| UnionMap::of_maps(&self.context, maps.iter().cloned().map(Ok));
        let (to_sink, to_source) = (union(&to_sink)?, union(&to_source)?);
        let found = LastSource {
            dependence: to_source.reverse()?.apply_range(&found.dependence)?.apply_range(&to_sink)?,
            no_source: to_sink.reverse()?.apply_range(&found.no_source)?,
        };
        if found.is_complete(&all)? {
            return Ok(found);
        }
        last_source_by_time(&all, &self.earlier(sinks, sources, &schedule)?, &schedule.map(&both)?)
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
        let statement = self.array.statement(reader);
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
            let depth = self.array.depth(from);
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

/// See [`ArrayAnalysis::accesses`].
fn access(context: &Context, array: &Accesses, reference: Reference) -> poly::Result<Map> {
    let (name, depth) = (reference.name(), array.depth(reference));
    let domain = Set::from_union(context, Some(&name), depth, &array.statement(reference).domain)?;
    let map = Map::from_affine(context, Some(&name), depth, Some("A"), array.subscripts(reference))?;
    map.intersect_domain(&domain)
}

/// See [`ArrayAnalysis::boxes`].
fn boxes(array: &Accesses, reference: Reference) -> Vec<Box<[Bounds]>> {
    let statement = array.statement(reference);
    let subscripts = array.subscripts(reference);
    let bounds = |piece: &[Constraint], s: &Affine| range_and_work(statement.depth, piece, s).0;
    statement.domain.iter().map(|piece| subscripts.iter().map(|s| bounds(piece, s)).collect()).collect()
}

/// Least and greatest value, where known.
type Bounds = (Option<i64>, Option<i64>);

/// Whether a box of the one list may have a common point with one of the other.
fn boxes_meet(a: &[Box<[Bounds]>], b: &[Box<[Bounds]>]) -> bool {
    let below = |least: Option<i64>, greatest: Option<i64>| least.zip(greatest).is_none_or(|(l, g)| l <= g);
    let overlap = |(x, y): (&Bounds, &Bounds)| below(x.0, y.1) && below(y.0, x.1);
    a.iter().any(|x| b.iter().any(|y| x.iter().zip(y).all(overlap)))
}
