//! Which accesses of one cell come before an access: written as constraints, order entry by order entry, which is
//! several times as fast as composing isl's schedules and leaves it nothing to eliminate.

use super::cells::{minus, Reference, Search};
use crate::poly;
use crate::poly::{Map, UnionMap};
use crate::{Affine, Constraint};

/// Pairs of accesses of one array whose order is asked for, at most: some seconds' worth.
const PAIRS: usize = 50_000;

impl Search<'_> {
    /// `{ sink -> source }`: pairs of accesses of one cell, the source strictly before the sink by times that count in
    /// `direction`.
    pub(super) fn earlier(&self, sinks: &[Reference], sources: &[Reference], direction: i64) -> poly::Result<UnionMap> {
        let deepest = sinks.iter().chain(sources).map(|r| self.depth(*r)).max().unwrap_or(0);
        let timed =
            |all: &[Reference]| all.iter().map(|&r| (r, self.time(r, direction, 2 * deepest + 1))).collect::<Vec<_>>();
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

    /// Of two references, each with its time.
    fn pairs(
        &self,
        (sink, after): &(Reference, Vec<Affine>),
        (source, before): &(Reference, Vec<Affine>),
    ) -> poly::Result<Option<Map>> {
        let (s, t) = (self.statement(*sink), self.statement(*source));
        let depths = [s.depth, t.depth];
        let joint = |form: &Affine, own: usize| {
            let mut coeffs = vec![0; depths[0] + depths[1]];
            coeffs[own * depths[0]..][..depths[own]].copy_from_slice(&form.coeffs);
            Affine { coeffs, constant: form.constant }
        };
        let moved = |all: &[Constraint], own: usize| {
            all.iter().map(|c| Constraint { expr: joint(&c.expr, own), ..c.clone() }).collect::<Vec<_>>()
        };
        let difference = |x: &Affine, y: &Affine| {
            minus(&joint(x, 0), 1, &joint(y, 1))
                .ok_or_else(|| poly::Error { message: "a coefficient exceeds 64 bits".into(), call: "earlier" })
        };
        let mut same = vec![];
        for (x, y) in self.subscripts(*sink).iter().zip(self.subscripts(*source)) {
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
                // Decided for all pairs that are level so far.
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
