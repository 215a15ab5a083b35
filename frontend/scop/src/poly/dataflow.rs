//! The last write before each read: isl's dataflow analysis, and a slower method for one case that isl gets wrong.
//!
//! Source: Feautrier 1991, as `isl_access_info` implements it: pairs of a sink and a source are examined from the
//! innermost common loop outwards, and a sink instance that has a source needs no other.
//!
//! The order of the text is given to isl, not derived from a schedule map as `isl_union_access_info` does: that takes an
//! iterator which a *domain* fixes to one value for a position in the text, and misses sources between iterations.

use super::context::{Error, Raw, Result};
use super::object::{Map, UnionMap};
use std::ffi::{c_int, c_void};

/// `isl_access_level_before`: twice the number of common loops, plus one if the first comes before the second in the
/// body that holds both.
type Before = extern "C" fn(*mut c_void, *mut c_void) -> c_int;
type Visit = extern "C" fn(Raw, c_int, *mut c_void, *mut c_void) -> c_int;

extern "C" {
    fn isl_access_info_alloc(sink: Raw, user: *mut c_void, before: Before, sources: c_int) -> Raw;
    fn isl_access_info_add_source(info: Raw, source: Raw, must: c_int, user: *mut c_void) -> Raw;
    fn isl_access_info_compute_flow(info: Raw) -> Raw;
    fn isl_flow_foreach(flow: Raw, visit: Visit, user: *mut c_void) -> c_int;
    fn isl_flow_get_no_source(flow: Raw, must: c_int) -> Raw;
    fn isl_flow_free(flow: Raw);
}

/// A reference with its times.
pub struct Timed {
    /// `{ instance -> cell }`. The coordinates of an instance begin with the times of the loops around it, outermost
    /// first.
    pub access: Map,
    /// From the outermost body inwards: the number of times of loops around the body, and the position in it.
    pub text: Vec<(usize, i64)>,
}

/// Result of [`last_source`].
#[derive(Clone, Debug)]
pub struct LastSource {
    /// `{ source -> sink }`: for each sink instance at most one source.
    pub dependence: UnionMap,
    /// `{ sink -> cell }` for the sink instances that no source precedes.
    pub no_source: UnionMap,
}

/// The result of [`last_source`], computed as the lexicographic maximum of the times of all `earlier` sources,
/// `{ sink -> source }`. For what [`LastSource::is_complete`] finds.
///
/// # Errors
/// As for [`last_source`].
pub fn last_source_by_time(sink: &UnionMap, earlier: &UnionMap, schedule: &UnionMap) -> Result<LastSource> {
    let latest = earlier.apply_range(schedule)?.lexmax()?;
    let chosen = latest.apply_range(&schedule.reverse()?)?.intersect(earlier)?;
    if !earlier.domain()?.subtract(&chosen.domain()?)?.is_empty()? {
        return Err(Error::new("isl_union_map_lexmax", "it leaves out what has a maximum"));
    }
    let no_source = sink.subtract(&sink.intersect_domain(&chosen.domain()?)?)?;
    Ok(LastSource { dependence: chosen.reverse()?, no_source })
}

impl LastSource {
    /// Whether every sink is listed with a source or without. isl loses sinks if the subscripts of a source reach only
    /// some of their elements by divisibility (`a[2*i + 6*j] = a[7*j]`): its parametric maximum drops them from both
    /// lists.
    ///
    /// # Errors
    /// A failure inside isl.
    pub fn is_complete(&self, sink: &UnionMap) -> Result<bool> {
        let listed = self.dependence.range()?.union(&self.no_source.domain()?)?;
        sink.domain()?.subtract(&listed)?.is_empty()
    }
}

extern "C" fn before(first: *mut c_void, second: *mut c_void) -> c_int {
    // SAFETY: isl passes on the pointers of `sources_of`, which borrow live references.
    let (first, second) = unsafe { (&*first.cast::<Timed>(), &*second.cast::<Timed>()) };
    let apart = first.text.iter().zip(&second.text).find(|(a, b)| a.1 != b.1);
    let level = match apart {
        Some((a, b)) => 2 * a.0 + usize::from(a.1 < b.1),
        None => 2 * first.text.last().map_or(0, |last| last.0),
    };
    level as c_int
}

extern "C" fn collect(map: Raw, _must: c_int, _source: *mut c_void, user: *mut c_void) -> c_int {
    // SAFETY: `user` is the vector that `sources_of` passes, and nothing else uses it meanwhile.
    unsafe { (*user.cast::<Vec<Raw>>()).push(map) };
    0
}

/// The dependences `{ source -> sink }` of one sink, and `{ sink -> cell }` where it has no source.
fn sources_of(sink: &Timed, sources: &[&Timed]) -> Result<(Vec<Map>, Map)> {
    let context = &sink.access.context;
    let pointer = |reference: &Timed| std::ptr::from_ref(reference).cast_mut().cast::<c_void>();
    // SAFETY: owned references go in, and each call passes the info on (null on failure, which the next call accepts).
    // `before` only reads what the pointers borrow. The flow is borrowed by the getters and freed once; every map that
    // `collect` stores is owned and wrapped.
    unsafe {
        let mut info = isl_access_info_alloc(sink.access.take(), pointer(sink), before, sources.len() as c_int);
        for source in sources {
            info = isl_access_info_add_source(info, source.access.take(), 1, pointer(source));
        }
        let flow = isl_access_info_compute_flow(info);
        context.owned(flow, "isl_access_info_compute_flow")?;
        let mut found: Vec<Raw> = vec![];
        let visited = isl_flow_foreach(flow, collect, (&raw mut found).cast());
        let maps: Vec<Result<Map>> = found.into_iter().map(|map| Map::wrap(context, map, "isl_flow_foreach")).collect();
        let no_source = Map::wrap(context, isl_flow_get_no_source(flow, 1), "isl_flow_get_no_source");
        isl_flow_free(flow);
        context.size(visited, "isl_flow_foreach")?;
        Ok((maps.into_iter().collect::<Result<_>>()?, no_source?))
    }
}

/// For each instance of a sink the last instance of a source that accesses the same cell strictly before it.
///
/// All times and texts are compared with one another: see [`Timed`]. Distinct references need distinct tuple names.
/// `may_meet(sink, source)`, by position in the lists, is false only if the two access no common cell: isl spends time
/// on every pair it is given.
///
/// # Errors
/// Operands of different contexts, or a failure inside isl.
pub fn last_source(sinks: &[Timed], sources: &[Timed], may_meet: impl Fn(usize, usize) -> bool) -> Result<LastSource> {
    let Some(first) = sinks.first().or(sources.first()) else {
        return Err(Error::new("last_source", "no reference"));
    };
    let context = &first.access.context;
    for reference in sinks.iter().chain(sources) {
        context.check_same(&reference.access.context, "last_source")?;
    }
    let (mut dependences, mut without) = (vec![], vec![]);
    for (number, sink) in sinks.iter().enumerate() {
        let met: Vec<&Timed> =
            sources.iter().enumerate().filter(|(source, _)| may_meet(number, *source)).map(|(_, s)| s).collect();
        let (maps, no_source) = sources_of(sink, &met)?;
        dependences.extend(maps);
        without.push(no_source);
    }
    Ok(LastSource {
        dependence: UnionMap::of_maps(context, dependences.into_iter().map(Ok))?,
        no_source: UnionMap::of_maps(context, without.into_iter().map(Ok))?,
    })
}
