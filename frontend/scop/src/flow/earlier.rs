//! The relation "accesses the same element and runs earlier", written directly as constraints.
//!
//! Lexicographic order of two time vectors is a union: for one entry, all entries before it are equal and this one is
//! less. Writing the union entry by entry is several times as fast as composing isl's schedules, which introduces
//! variables that isl must eliminate again.

use super::accesses::Reference;
use super::array::ArrayAnalysis;
use super::schedule::{minus, Schedule};
use crate::poly;
use crate::poly::{Map, UnionMap};
use crate::{Affine, Constraint};

/// Limit on the pairs of accesses of one array; they take some seconds.
const PAIRS: usize = 50_000;

impl ArrayAnalysis<'_> {
    /// `{ sink -> source }`: pairs of accesses of one element with the source strictly before the sink.
    pub(super) fn earlier(
        &self,
        sinks: &[Reference],
        sources: &[Reference],
        schedule: &Schedule,
    ) -> poly::Result<UnionMap> {
        let timed = |all: &[Reference]| all.iter().map(|&r| (r, schedule.time(r))).collect::<Vec<_>>();
        let (sinks, sources) = (timed(sinks), timed(sources));
        if sinks.len() * sources.len() > PAIRS {
            let message = format!(
                "{} accesses of an array and {} writes are too many to find the order of: use loops",
                sinks.len(),
                sources.len()
            );
            return Err(poly::Error { message, call: "earlier" });
        }
        let pairs =
            sinks.iter().flat_map(|sink| sources.iter().filter_map(move |source| self.pairs(sink, source).transpose()));
        UnionMap::of_maps(&self.context, pairs)
    }

    /// The pairs of two references, each given with its time; `None` if there are none.
    fn pairs(
        &self,
        (sink, after): &(Reference, Vec<Affine>),
        (source, before): &(Reference, Vec<Affine>),
    ) -> poly::Result<Option<Map>> {
        let (s, t) = (self.array.statement(*sink), self.array.statement(*source));
        let depths = [s.depth, t.depth];
        let joint = |form: &Affine, side: usize| {
            let mut coeffs = vec![0; depths[0] + depths[1]];
            coeffs[side * depths[0]..][..depths[side]].copy_from_slice(&form.coeffs);
            Affine { coeffs, constant: form.constant }
        };
        let moved = |all: &[Constraint], side: usize| {
            all.iter().map(|c| Constraint { expr: joint(&c.expr, side), ..c.clone() }).collect::<Vec<_>>()
        };
        let difference = |x: &Affine, y: &Affine| {
            minus(&joint(x, 0), 1, &joint(y, 1))
                .ok_or_else(|| poly::Error { message: "a coefficient exceeds 64 bits".into(), call: "earlier" })
        };
        let mut same = vec![];
        for (x, y) in self.array.subscripts(*sink).iter().zip(self.array.subscripts(*source)) {
            same.push(Constraint { expr: difference(x, y)?, equality: true });
        }
        let mut orders = vec![];
        for (x, y) in after.iter().zip(before) {
            let later = difference(x, y)?;
            if !later.is_constant() {
                let strictly =
                    Constraint { expr: Affine { constant: later.constant - 1, ..later.clone() }, equality: false };
                orders.push(same.iter().cloned().chain([strictly]).collect::<Vec<_>>());
                same.push(Constraint { expr: later, equality: true });
            } else if later.constant != 0 {
                // A constant difference decides all pairs whose entries so far are equal.
                orders.extend((later.constant > 0).then(|| same.clone()));
                break;
            }
        }
        let mut all: Option<Map> = None;
        for order in &orders {
            for p in &s.domain {
                for q in &t.domain {
                    let constraints = [moved(p, 0), moved(q, 1), order.clone()].concat();
                    let map = Map::from_conjunction(
                        &self.context,
                        (&sink.name(), depths[0]),
                        (&source.name(), depths[1]),
                        &constraints,
                    )?;
                    all = Some(all.map_or(Ok(map.clone()), |a| a.union(&map))?);
                }
            }
        }
        Ok(all)
    }
}
