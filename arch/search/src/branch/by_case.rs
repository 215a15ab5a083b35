//! Shapes of programs whose loops end by phase or by strip: what a run takes is a sum over the cases, not a product of
//! the whole.

use crate::branch::known::{Known, Shapes, VISITS};
use crate::branch::Shape;
use crate::facts::{Access, Facts};
use crate::handover::Handover;
use crate::space::{parts, Grid, Inner, Order, MOST_DIMS};
use array::contract::walk::MemoryTiming;
use cost::bound::{handed_over, waves_alone, BEFORE, PORTS};

/// Bounds of one grid's shapes; what lies behind them is not looked at.
const MOST_BOUNDS: u64 = 300_000;

/// A grid, and what its shapes may be.
struct Choices<'a> {
    known: &'a Known<'a>,
    grid: Grid,
    facts: &'a Facts,
    /// Per dimension: inner iterations.
    inner: Vec<Vec<u32>>,
    /// Per case, dimension and choice: waves along the dimension.
    waves: Vec<Vec<Vec<i64>>>,
    /// Per case and dimension: waves of this and the inner dimensions, at least.
    least: Vec<Vec<i64>>,
    widths: Vec<i64>,
    /// The grid's bound, and cycles from which on shapes are of no interest.
    key: i64,
    cap: i64,
}

impl Known<'_> {
    /// [`Known::shapes`] where loops end by case.
    pub(super) fn shapes_by_case(&self, key: i64, grid: Grid, cap: i64) -> Shapes {
        let k = grid.flow.facts as usize;
        let facts = &self.facts[k];
        let depth = facts.extent.len();
        let widths = self.widths_of(k, self.widest(k));
        let inner: Vec<Vec<u32>> =
            grid.options(facts, |port| widths[port]).iter().map(|all| all.iter().map(|o| o.0).collect()).collect();
        let along = |extent: &Vec<i64>| -> Vec<Vec<i64>> {
            (0..depth).map(|d| inner[d].iter().map(|&n| grid.waves_along(d, extent[d], n)).collect()).collect()
        };
        let waves: Vec<Vec<Vec<i64>>> = facts.cases.iter().map(|c| along(&c.1)).collect();
        let least = |of: &Vec<Vec<i64>>| {
            let mut least = vec![1i64; depth + 1];
            (0..depth)
                .rev()
                .for_each(|d| least[d] = least[d + 1].saturating_mul(of[d].iter().copied().min().unwrap_or(1)));
            least
        };
        let least = waves.iter().map(least).collect();
        let choices = Choices { known: self, grid, facts, inner, waves, least, widths, key, cap };
        let mut found = Shapes { shapes: vec![], bounds: 0, dropped: i64::MAX };
        choices.cut(0, &facts.cases.iter().map(|c| c.0).collect::<Vec<_>>(), [1; MOST_DIMS], &mut found);
        found
    }

    /// Cycles of a shape in an order, at least, where loops end by case.
    pub(super) fn bound_by_case(&self, grid: &Grid, inner: &Inner, order: &Order, widths: &[i64]) -> i64 {
        let facts = self.facts_of(grid);
        let depth = facts.extent.len();
        let sizes = grid.sizes(&facts.extent, inner);
        // A phase at a time.
        let tile: Vec<i64> = (0..depth).map(|d| if d < facts.phases { 1 } else { sizes.tile[d] }).collect();
        let in_phase =
            |c: usize| (0..depth).map(|d| grid.waves_along(d, facts.cases[c].1[d], inner[d])).product::<i64>();
        let waves: i64 = facts.cases.iter().enumerate().map(|(c, (phases, _))| phases * in_phase(c)).sum();
        let services = |a: &Access, around: u32| -> i64 {
            let moves = a.mask & ((1 << facts.phases) - 1) != 0;
            let of = |(c, (phases, extent)): (usize, &(i64, Vec<i64>))| {
                let visits: i64 =
                    (0..depth).filter(|&d| around >> d & 1 == 1).map(|d| parts(extent[d], tile[d])).product();
                if a.sure[c] {
                    phases * visits
                } else {
                    0
                }
            };
            let all = facts.cases.iter().enumerate().map(of);
            // What neither phases nor tiles move is loaded once, if it is not handed over.
            if moves || around != 0 || self.program.passed[a.array] {
                all.sum()
            } else {
                i64::from(a.sure.contains(&true))
            }
        };
        let (mut loads, mut stores, mut first) = ([0; PORTS], [0; PORTS], [0; PORTS]);
        for (a, &around) in facts.reads.iter().zip(&order.reload).filter(|(a, _)| a.port < PORTS) {
            let beats = a.load_beats(&tile, widths[a.port]);
            loads[a.port] += beats * services(a, around);
            first[a.port] += if facts.first.is_some_and(|c| a.sure[c]) { beats } else { 0 };
        }
        for a in facts.writes.iter().filter(|a| a.port < PORTS) {
            stores[a.port] += a.store_beats(&tile, widths[a.port]) * services(a, a.mask & sizes.tiled);
        }
        let most = |of: [i64; PORTS]| of.into_iter().max().unwrap_or(0);
        let before = |beats: i64| if beats > 0 { BEFORE - self.nearer + beats } else { 0 };
        let interval = order.interval(facts, grid, inner);
        // From a phase's last wave to the first of the next one, which loads what it has stored.
        let handover = |h: &Handover| {
            let part = |c: usize| -> Vec<i64> { tile.iter().zip(&facts.cases[c].1).map(|(t, n)| *t.min(n)).collect() };
            let waits = |&(w, r): &(usize, usize)| {
                let (write, read) = (&facts.writes[w], &facts.reads[r]);
                let memory =
                    if self.program.on_chip[write.array] { MemoryTiming::ON_CHIP } else { MemoryTiming::IDEAL };
                let cross: i64 = (0..2)
                    .filter(|&a| grid.pes[a] > 1 && write.mask & write.reaches >> grid.flow.axes[a] & 1 == 1)
                    .map(|a| grid.pes[a] - 1)
                    .sum();
                let stored = write.made + cross + write.store_beats(&part(h.from), widths[write.port]);
                let behind = if write.last[h.from] { 0 } else { (in_phase(h.from) - 1) * interval };
                handed_over(&memory, stored, read.load_beats(&part(h.to), widths[read.port])) - behind
            };
            h.count * (h.values.iter().map(waits).max().unwrap_or(0) - interval).max(0)
        };
        let handovers: i64 = facts.handovers.iter().map(handover).sum();
        waves_alone((waves - 1) * interval + 1 + before(most(first)) + handovers)
            .max(before(most(loads)))
            .max(most(stores))
    }
}

impl Choices<'_> {
    /// All ways to go on from dimension `d`; `so_far`: per case, waves of the outer dimensions.
    fn cut(&self, d: usize, so_far: &[i64], inner: Inner, found: &mut Shapes) {
        let total = |d: usize, waves: &[i64]| {
            waves.iter().zip(&self.least).map(|(w, least)| w.saturating_mul(least[d])).fold(0i64, i64::saturating_add)
        };
        if waves_alone(total(d, so_far)) >= self.cap {
            return;
        }
        if found.bounds >= MOST_BOUNDS {
            found.dropped = found.dropped.min(self.key);
            return;
        }
        let Some(choices) = self.inner.get(d) else { return self.leaf(&inner, found) };
        for (n, &size) in choices.iter().enumerate() {
            let waves: Vec<i64> = so_far.iter().zip(&self.waves).map(|(w, of)| w.saturating_mul(of[d][n])).collect();
            let mut inner = inner;
            inner[d] = size;
            self.cut(d + 1, &waves, inner, found);
        }
    }

    fn leaf(&self, inner: &Inner, found: &mut Shapes) {
        let sizes = self.grid.sizes(&self.facts.extent, inner);
        let depth = self.facts.extent.len();
        let visits: i64 = self
            .facts
            .cases
            .iter()
            .map(|(phases, extent)| phases * (0..depth).map(|d| parts(extent[d], sizes.tile[d])).product::<i64>())
            .sum();
        let orders = self.known.orders_in(&self.grid, sizes.tiled);
        for (n, order) in
            orders.iter().enumerate().filter(|(_, order)| self.known.is_worth(order, orders, &self.grid, inner))
        {
            found.bounds += 1;
            let least = self.known.bound_by_case(&self.grid, inner, order, &self.widths).max(self.key);
            if least < self.cap && visits <= VISITS {
                found.shapes.push((least, Shape { grid: self.grid, inner: *inner, order: n as u16 }));
            } else if least < self.cap {
                found.dropped = found.dropped.min(least);
            }
        }
    }
}
