//! Bounds held against what designs take, and how fast both are found.

use crate::branch::known::Evaluated;
use crate::branch::{at_once, Grid, Resources, Search, Shape, Task};
use std::time::{Duration, Instant};
use uniform::mapping::Plan;

/// Cycles of a design: by the closed form at least, by the coarse walk at least, and exactly; its resources, at least,
/// and as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    pub plan: Plan,
    pub closed: i64,
    pub coarse: i64,
    pub exact: i64,
    pub least: Resources,
    pub need: Resources,
}

/// The bounds of some shape of each of `most` grids from all over the task's space, over the widest words, held against
/// the exact walk.
pub fn audit(task: &Task, most: usize) -> Vec<Audited> {
    let mut search = Search::new(task);
    search.known.list_orders();
    let grids = search.grids();
    let step = grids.len().div_ceil(most.max(1)).max(1);
    grids.into_iter().step_by(step).enumerate().filter_map(|(n, (key, grid))| search.audited(n, key, grid)).collect()
}

impl Search<'_> {
    /// Some shape of a grid, over the widest words.
    fn audited(&mut self, n: usize, key: i64, grid: Grid) -> Option<Audited> {
        let shapes = self.known.shapes(key, grid, i64::MAX).shapes;
        let (closed, shape) = *shapes.get((n * 7919) % shapes.len().max(1))?;
        let k = grid.flow.facts as usize;
        let widths = self.known.widest(k);
        let Ok(Evaluated::Better(design, _)) =
            self.known.evaluate(self.known.plan(&shape), self.known.words(k, widths), i64::MAX)
        else {
            return None;
        };
        self.per_pe(&[&grid]);
        let (coarse, least) = self.known.coarse(&shape, widths, &self.pes, i64::MAX)?;
        let (least, products) = (least.unwrap_or_default(), self.products(&grid).1);
        let least = Resources { dsp: least.dsp.max(products.dsp), lut: least.lut.max(products.lut), ..least };
        Some(Audited { plan: design.plan, closed, coarse, exact: design.cycles, least, need: design.need })
    }
}

/// How fast the two ends of a search are, on all cores.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Closed forms of shapes.
    pub bounds: u64,
    pub bounding: Duration,
    /// Designs that were assembled, counted, and walked.
    pub designs: u64,
    pub evaluating: Duration,
}

/// Bounds the shapes of the `grids` with the least bounds, and evaluates `designs` of these shapes from all over them,
/// over the widest words, as if an array were known that takes a tenth more than the least bound, or as much more as it
/// takes for some to be left.
pub fn rates(task: &Task, grids: usize, designs: usize) -> Rates {
    let mut search = Search::new(task);
    search.known.list_orders();
    let all: Vec<(i64, Grid)> = search.grids().into_iter().take(grids).collect();
    let known = &search.known;
    let mut cap = all.first().map_or(0, |first| first.0 + first.0 / 10);
    let (found, bounding) = loop {
        let begin = Instant::now();
        let found = at_once(&all, |(key, grid)| known.shapes(*key, *grid, cap));
        if all.is_empty() || found.iter().any(|f| !f.shapes.is_empty()) {
            break (found, begin.elapsed());
        }
        cap += cap / 10 + 1;
    };
    let shapes: Vec<Shape> = found.iter().flat_map(|f| &f.shapes).map(|s| s.1).collect();
    // Few are looked at several times: else starting threads would count.
    let rounds = designs.div_ceil(shapes.len().max(1));
    let some: Vec<Shape> = (0..rounds)
        .flat_map(|_| shapes.iter().step_by(shapes.len().div_ceil(designs.max(1)).max(1)))
        .copied()
        .collect();
    let begin = Instant::now();
    let made = at_once(&some, |shape| {
        let k = shape.grid.flow.facts as usize;
        known.evaluate(known.plan(shape), known.words(k, known.widest(k)), cap).is_ok()
    });
    let evaluating = begin.elapsed();
    Rates {
        bounds: found.iter().map(|f| f.bounds).sum(),
        bounding,
        designs: made.into_iter().filter(|ok| *ok).count() as u64,
        evaluating,
    }
}
