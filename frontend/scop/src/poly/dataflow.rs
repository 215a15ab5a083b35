//! The last write before each read: isl's dataflow analysis, and a slower method for two cases that isl gets wrong.
//!
//! Source: Feautrier 1991, as `isl_union_access_info` implements it.

use super::context::{Error, Raw, Result};
use super::object::UnionMap;

extern "C" {
    fn isl_union_access_info_from_sink(sink: Raw) -> Raw;
    fn isl_union_access_info_set_must_source(info: Raw, source: Raw) -> Raw;
    fn isl_union_access_info_set_schedule_map(info: Raw, schedule: Raw) -> Raw;
    fn isl_union_access_info_compute_flow(info: Raw) -> Raw;
    fn isl_union_flow_get_must_dependence(flow: Raw) -> Raw;
    fn isl_union_flow_get_must_no_source(flow: Raw) -> Raw;
    fn isl_union_flow_free(flow: Raw) -> Raw;
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
/// `{ sink -> source }`.
///
/// Case 1 for this method: isl takes the first entry in which both schedules are constant as the textual order of two
/// statements. It takes an iterator that the *domain* fixes for such an entry, and misses sources between iterations.
/// Case 2: see [`LastSource::is_complete`].
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

/// For each instance of `sink` the last instance of `source` that accesses the same cell strictly before it.
///
/// `sink` and `source` map instances to array cells; `schedule` maps the instances of both to time vectors of one
/// length, compared lexicographically. Distinct references need distinct tuple names.
///
/// # Errors
/// Operands of different contexts, or a failure inside isl.
pub fn last_source(sink: &UnionMap, source: &UnionMap, schedule: &UnionMap) -> Result<LastSource> {
    let context = &sink.context;
    context.check_same(&source.context, "last_source")?;
    context.check_same(&schedule.context, "last_source")?;
    // SAFETY: owned references go in, and each setter passes the info on (null on failure, which the next call
    // accepts). The flow is borrowed by the getters and freed once.
    unsafe {
        let info = isl_union_access_info_from_sink(sink.take());
        let info = isl_union_access_info_set_must_source(info, source.take());
        let info = isl_union_access_info_set_schedule_map(info, schedule.take());
        let flow = isl_union_access_info_compute_flow(info);
        context.owned(flow, "isl_union_access_info_compute_flow")?;
        let dependence =
            UnionMap::wrap(context, isl_union_flow_get_must_dependence(flow), "isl_union_flow_get_must_dependence");
        let no_source =
            UnionMap::wrap(context, isl_union_flow_get_must_no_source(flow), "isl_union_flow_get_must_no_source");
        isl_union_flow_free(flow);
        Ok(LastSource { dependence: dependence?, no_source: no_source? })
    }
}
