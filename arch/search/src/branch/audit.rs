//! Bounds held against what designs take, and how fast both are found.

use super::assembler::Outcome;
use super::widths::Widths;
use super::{at_once, closed, least, Bounded, Grid, Resources, Search, Shape, Task};
use cost::Allowed;
use std::time::{Duration, Instant};
use uniform::mapping::Plan;

/// Shapes of a grid that count as having large tiles.
const LARGEST: usize = 8;

/// A design and its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audited {
    pub plan: Plan,
    /// Cycles by the closed form, at least.
    pub closed: i64,
    /// Cycles by the coarse walk, at least.
    pub coarse: i64,
    /// Cycles of the design.
    pub exact: i64,
    /// Resources, at least.
    pub least: Resources,
    /// Resources of the design.
    pub need: Resources,
}

/// Shapes of each of `most` grids from all over the task's space, over wide and narrow words.
pub fn audit(task: &Task, most: usize) -> Vec<Audited> {
    let mut search = Search::new(task);
    search.model.list_orders();
    let grids = search.grids();
    let step = grids.len().div_ceil(most.max(1)).max(1);
    grids.iter().step_by(step).enumerate().flat_map(|(n, grid)| of_grid(&mut search, n, grid)).collect()
}

/// The `n`-th grid: any shape of it over the widest words, and one with large tiles over words halved up to three times.
/// Large tiles run past the ends of most loops, and are loaded and stored whole.
fn of_grid(search: &mut Search, n: usize, grid: &Bounded<Grid>) -> Vec<Audited> {
    let mut shapes = closed::shapes(&search.model, grid, i64::MAX).shapes;
    let any = shapes.get((n * 7919) % shapes.len().max(1)).copied();
    let waves = |shape: &Bounded<Shape>| shape.of.inner.iter().map(|&n| i64::from(n)).product::<i64>();
    shapes.sort_by_cached_key(|shape| (-waves(shape), *shape));
    let large = shapes.get((n * 7919) % LARGEST.min(shapes.len()).max(1)).copied();
    let ports = search.model.ports_of(&grid.of);
    let all: Vec<usize> = (0..ports.len()).collect();
    let (wide, narrow) = (ports.widest(), ports.widest().halved(&all, (n % 4) as u8, &ports.narrowest()));
    let picked = [any.map(|shape| (shape, wide)), large.map(|shape| (shape, narrow))];
    picked.into_iter().flatten().filter_map(|(shape, widths)| audited(search, shape, &widths)).collect()
}

fn audited(search: &mut Search, shape: Bounded<Shape>, widths: &Widths) -> Option<Audited> {
    let Bounded { bound, of: shape } = shape;
    let (model, grid) = (&search.model, shape.grid);
    let closed = closed::cycles(model, &shape, widths).max(bound);
    let ports = model.ports_of(&grid);
    let outcome = model.assembler.evaluate(model.plan(&shape), ports.words(widths), Allowed::ALL);
    let Ok(Outcome::Better { design, .. }) = outcome else { return None };
    search.pes.assemble(model, &[&grid]);
    let coarse = least::coarse(model, &shape, widths, &search.pes, i64::MAX)?;
    let (least, products) = (coarse.need.unwrap_or_default(), model.products(&grid).1);
    let least = Resources { dsp: least.dsp.max(products.dsp), lut: least.lut.max(products.lut), ..least };
    Some(Audited { plan: design.plan, closed, coarse: coarse.cycles, exact: design.cycles, least, need: design.need })
}

/// How fast the two ends of a search are, on all cores.
#[derive(Clone, Copy, Debug)]
pub struct Rates {
    /// Shapes bounded in closed form.
    pub bounds: u64,
    pub bounding: Duration,
    /// Designs assembled, counted and walked.
    pub designs: u64,
    pub evaluating: Duration,
}

/// Bounds the shapes of the `grids` with the least bounds, and evaluates `designs` of these shapes over the widest
/// words. The cap is a tenth more than the least bound, or so much more that some shapes are left.
pub fn rates(task: &Task, grids: usize, designs: usize) -> Rates {
    let mut search = Search::new(task);
    search.model.list_orders();
    let all: Vec<Bounded<Grid>> = search.grids().into_iter().take(grids).collect();
    let model = &search.model;
    let mut cap = all.first().map_or(0, |first| first.bound + first.bound / 10);
    let (found, bounding) = loop {
        let begin = Instant::now();
        let found = at_once(&all, |grid| closed::shapes(model, grid, cap));
        if all.is_empty() || found.iter().any(|f| !f.shapes.is_empty()) {
            break (found, begin.elapsed());
        }
        cap += cap / 10 + 1;
    };
    let shapes: Vec<Shape> = found.iter().flat_map(|f| &f.shapes).map(|s| s.of).collect();
    // A few shapes are evaluated several times: else the start of threads would count.
    let rounds = designs.div_ceil(shapes.len().max(1));
    let some: Vec<Shape> = (0..rounds)
        .flat_map(|_| shapes.iter().step_by(shapes.len().div_ceil(designs.max(1)).max(1)))
        .copied()
        .collect();
    let begin = Instant::now();
    let evaluated = at_once(&some, |shape| {
        let ports = model.ports_of(&shape.grid);
        model.assembler.evaluate(model.plan(shape), ports.words(&ports.widest()), Allowed::below(cap)).is_ok()
    });
    let evaluating = begin.elapsed();
    Rates {
        bounds: found.iter().map(|f| f.bounds).sum(),
        bounding,
        designs: evaluated.into_iter().filter(|ok| *ok).count() as u64,
        evaluating,
    }
}
