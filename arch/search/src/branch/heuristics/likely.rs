//! Open shapes that are likely to be fast.
//!
//! Behind a slow memory thousands of grids have the same bound, and so have the shapes of each. Best-first search takes
//! them in any order. Once its effort is spent, the shapes that are still open are ordered by a model that is no bound
//! ([`crate::branch::likely`]), and the first of them are assembled.

use super::super::frontier::Node;
use super::super::{at_once, closed, likely, Bounded, Search};
use super::dives::those_that_fit;
use crate::space::{Grid, Shape};
use crate::tuning;

/// Assembles the shapes that are likely to be fastest.
pub(super) fn likely_shapes(search: &mut Search) {
    if search.incumbent.limit() <= search.bound || search.has_enough(search.bound) {
        return;
    }
    let mut shapes = Likely::default();
    let of = |node: &Bounded<Node>| node.of.shape().map(|shape| Bounded::new(node.bound, shape));
    let open: Vec<Bounded<Shape>> = search.frontier.open().filter_map(of).collect();
    shapes.add(search, open);
    add_grids(search, &mut shapes);
    let designs = search.counts.exact + search.task.effort.exact / tuning::LIKELY_PART;
    let walks = search.counts.walks + search.task.effort.exact * tuning::LIKELY_WALKS / tuning::LIKELY_PART;
    for some in shapes.in_order().chunks(tuning::DESIGNS_TOGETHER) {
        if search.counts.exact >= designs || search.counts.walks >= walks {
            break;
        }
        let limit = search.incumbent.limit();
        let open: Vec<Bounded<Shape>> = some.iter().filter(|shape| shape.bound < limit).copied().collect();
        search.pes.assemble(&search.model, &open.iter().map(|shape| &shape.of.grid).collect::<Vec<_>>());
        let fitting = those_that_fit(search, &open);
        search.evaluate(fitting);
    }
}

/// Shapes of the grids that nobody has expanded, the least bounds first.
fn add_grids(search: &mut Search, shapes: &mut Likely) {
    let of = |node: &Bounded<Node>| node.of.grid().map(|grid| Bounded::new(node.bound, grid));
    let mut grids: Vec<Bounded<Grid>> = search.frontier.open().filter_map(of).collect();
    grids.sort_unstable();
    let most = search.counts.bounds + search.task.effort.bounds / tuning::LIKELY_BOUNDS_PART;
    for some in grids.chunks(tuning::GRIDS_TOGETHER) {
        if search.counts.bounds >= most {
            break;
        }
        let some: Vec<Bounded<Grid>> = some.iter().filter(|g| !search.refusals.gives_up(g.of.flow)).copied().collect();
        let fits = search.fit(&some);
        let some: Vec<Bounded<Grid>> = some.into_iter().zip(fits).filter(|(_, fits)| *fits).map(|(g, _)| g).collect();
        let (model, limit) = (&search.model, search.incumbent.limit());
        for found in at_once(&some, |grid| closed::shapes(model, grid, limit)) {
            search.counts.bounds += found.bounds;
            shapes.add(search, found.shapes);
        }
    }
}

/// Shapes with their likely cycles: the most promising ones.
#[derive(Default)]
struct Likely(Vec<(i64, Bounded<Shape>)>);

impl Likely {
    fn add(&mut self, search: &Search, mut shapes: Vec<Bounded<Shape>>) {
        if shapes.len() > tuning::LIKELY_SHAPES {
            shapes.select_nth_unstable(tuning::LIKELY_SHAPES);
            shapes.truncate(tuning::LIKELY_SHAPES);
        }
        let (model, limit, pes) = (&search.model, search.incumbent.limit(), &search.pes);
        shapes.retain(|shape| shape.bound < limit && pes.may_fit(model, &shape.of));
        let cycles = at_once(&shapes, |shape| likely::cycles(model, &shape.of).unwrap_or(0).max(shape.bound));
        self.0.extend(cycles.into_iter().zip(shapes));
        if self.0.len() > 2 * tuning::LIKELY_KEPT {
            self.0.select_nth_unstable(tuning::LIKELY_KEPT);
            self.0.truncate(tuning::LIKELY_KEPT);
        }
    }

    fn in_order(mut self) -> Vec<Bounded<Shape>> {
        self.0.sort_unstable();
        self.0.into_iter().map(|(_, shape)| shape).collect()
    }
}
