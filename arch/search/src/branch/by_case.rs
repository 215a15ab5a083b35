//! [`super::closed`] for programs whose loops end by phase or by strip: a run is a sum over the phase classes, not a
//! product of the whole.
//!
//! Example: 64 phases in 4 classes of 16 phases each, whose loops run to 64, 48, 32 and 16. A shape takes
//! 16·(w(64) + w(48) + w(32) + w(16)) waves, with w(n) the waves of a phase whose loops run to n.

use super::frontier::{Bounded, Shapes};
use super::model::Model;
use crate::facts::{Access, Facts, Passed, PhaseClass, Transition};
use crate::space::{parts, Grid, Inner, Order, Shape, MOST_DIMS};
use crate::tuning;
use cost::bound::{handed_over, waves_alone, PORTS};

/// A grid, and what its shapes may be.
struct Choices<'a> {
    model: &'a Model<'a>,
    grid: Bounded<Grid>,
    facts: &'a Facts,
    /// Per dimension: inner iterations to choose from.
    inner: Vec<Vec<u32>>,
    /// Per class, dimension and choice: waves along the dimension.
    waves: Vec<Vec<Vec<i64>>>,
    /// Per class and dimension: waves of this and the inner dimensions, at least.
    least: Vec<Vec<i64>>,
    widths: Vec<i64>,
    /// Shapes with at least so many cycles are of no interest.
    cap: i64,
}

/// The shapes of a grid below the cap.
pub(super) fn shapes(model: &Model, grid: Bounded<Grid>, cap: i64) -> Shapes {
    let facts = model.facts_of(&grid.of);
    let depth = facts.extent.len();
    let inner: Vec<Vec<u32>> =
        model.options(&grid.of).iter().map(|all| all.iter().map(|o| o.inner).collect()).collect();
    let along = |class: &PhaseClass| -> Vec<Vec<i64>> {
        (0..depth).map(|d| inner[d].iter().map(|&n| grid.of.waves_along(d, class.extent[d], n)).collect()).collect()
    };
    let waves: Vec<Vec<Vec<i64>>> = facts.classes.iter().map(along).collect();
    let least = |of: &Vec<Vec<i64>>| {
        let mut least = vec![1i64; depth + 1];
        for d in (0..depth).rev() {
            least[d] = least[d + 1].saturating_mul(of[d].iter().copied().min().unwrap_or(1));
        }
        least
    };
    let least = waves.iter().map(least).collect();
    let widths = model.ports_of(&grid.of).widest().bytes();
    let choices = Choices { model, grid, facts, inner, waves, least, widths, cap };
    let mut found = Shapes::none();
    choices.extend(0, &facts.classes.iter().map(|c| c.phases).collect::<Vec<_>>(), [1; MOST_DIMS], &mut found);
    found
}

/// Cycles of a shape in an order, at least.
pub(super) fn cycles(model: &Model, grid: &Grid, inner: &Inner, order: &Order, widths: &[i64]) -> i64 {
    let facts = model.facts_of(grid);
    let depth = facts.extent.len();
    let sizes = grid.sizes(&facts.extent, inner);
    // One phase at a time.
    let tile: Vec<i64> = (0..depth).map(|d| if d < facts.phases { 1 } else { sizes.tile[d] }).collect();
    let in_phase =
        |class: &PhaseClass| (0..depth).map(|d| grid.waves_along(d, class.extent[d], inner[d])).product::<i64>();
    let waves: i64 = facts.classes.iter().map(|class| class.phases * in_phase(class)).sum();
    let services = |a: &Access, around: u32| -> i64 {
        let moves = a.mask & ((1 << facts.phases) - 1) != 0;
        let of = |(class, &in_every_phase): (&PhaseClass, &bool)| {
            let tiles: i64 =
                (0..depth).filter(|&d| around >> d & 1 == 1).map(|d| parts(class.extent[d], tile[d])).product();
            if in_every_phase {
                class.phases * tiles
            } else {
                0
            }
        };
        // What neither phases nor tiles move is loaded once, unless it passes from phase to phase.
        if moves || around != 0 || model.program.passed[a.array] {
            facts.classes.iter().zip(&a.in_every_phase).map(of).sum()
        } else {
            i64::from(a.in_every_phase.contains(&true))
        }
    };
    let (mut loads, mut stores, mut first) = ([0; PORTS], [0; PORTS], [0; PORTS]);
    let in_lanes = grid.in_lanes(&facts.extent, inner);
    for (k, a) in facts.loads(&tile, in_lanes).filter(|(_, a)| a.port < PORTS) {
        let around = order.reload[k];
        let beats = a.load_beats(&tile, widths[a.port]);
        loads[a.port] += beats * services(a, around);
        first[a.port] += if facts.first.is_some_and(|c| a.in_every_phase[c]) { beats } else { 0 };
    }
    for a in facts.writes.iter().filter(|a| a.port < PORTS) {
        stores[a.port] += a.store_beats(&tile, widths[a.port]) * services(a, a.mask & sizes.tiled);
    }
    let most = |of: [i64; PORTS]| of.into_iter().max().unwrap_or(0);
    let begins = model.before(facts);
    let before = |beats: i64| if beats > 0 { begins + beats } else { 0 };
    let interval = order.interval(facts, grid, inner);
    // From a phase's last wave to the first wave of the next one, which loads what it has stored.
    let transition = |t: &Transition| {
        let (from, to) = (&facts.classes[t.from], &facts.classes[t.to]);
        let part =
            |class: &PhaseClass| -> Vec<i64> { tile.iter().zip(&class.extent).map(|(t, n)| *t.min(n)).collect() };
        let waits = |&Passed { write, read }: &Passed| {
            let (write, read) = (&facts.writes[write], &facts.reads[read]);
            let memory = facts.most.ports[write.port].timing;
            let cross: i64 = (0..2)
                .filter(|&a| grid.pes[a] > 1 && write.mask & write.whole >> grid.flow.axes[a] & 1 == 1)
                .map(|a| grid.pes[a] - 1)
                .sum();
            let stored = write.store_beats(&part(from), widths[write.port]);
            let answered = if facts.begins(read) { memory.read_latency } else { 0 };
            let loaded = answered + read.load_beats(&part(to), widths[read.port]);
            let behind = if write.in_last_tile[t.from] { 0 } else { (in_phase(from) - 1) * interval };
            handed_over(&memory, cross, write.latency, stored, loaded) - behind
        };
        t.count * (t.values.iter().map(waits).max().unwrap_or(0) - interval).max(0)
    };
    let transitions: i64 = facts.transitions.iter().map(transition).sum();
    waves_alone((waves - 1) * interval + 1 + before(most(first)) + transitions)
        .max(before(most(loads)))
        .max(most(stores))
}

impl Choices<'_> {
    /// All ways to choose the dimensions from `d` on; `so_far`: per class, waves of the outer dimensions.
    fn extend(&self, d: usize, so_far: &[i64], inner: Inner, found: &mut Shapes) {
        let total = |d: usize, waves: &[i64]| {
            waves.iter().zip(&self.least).map(|(w, least)| w.saturating_mul(least[d])).fold(0i64, i64::saturating_add)
        };
        if waves_alone(total(d, so_far)) >= self.cap {
            return;
        }
        if found.bounds >= tuning::MOST_BOUNDS_BY_CLASS {
            found.dropped = found.dropped.min(self.grid.bound);
            return;
        }
        let Some(choices) = self.inner.get(d) else { return self.finish(&inner, found) };
        for (n, &size) in choices.iter().enumerate() {
            let waves: Vec<i64> = so_far.iter().zip(&self.waves).map(|(w, of)| w.saturating_mul(of[d][n])).collect();
            let mut inner = inner;
            inner[d] = size;
            self.extend(d + 1, &waves, inner, found);
        }
    }

    fn finish(&self, inner: &Inner, found: &mut Shapes) {
        let grid = &self.grid.of;
        let sizes = grid.sizes(&self.facts.extent, inner);
        for (n, order) in self.model.orders_worth(grid, inner, sizes.tiled) {
            found.bounds += 1;
            let least = cycles(self.model, grid, inner, order, &self.widths).max(self.grid.bound);
            if least < self.cap {
                found.push(Bounded::new(least, Shape { grid: *grid, inner: *inner, order: n as u16 }));
            }
        }
    }
}
