//! Open shapes that are likely to be fast.
//!
//! Behind a slow memory thousands of grids have the same bound, and so have the shapes of each. Best-first search takes
//! them in any order. Once its effort is spent, the shapes that are still open are ordered by a model that is no bound
//! ([`crate::branch::likely`]), and the first of them are assembled.

use super::super::frontier::Node;
use super::super::{at_once, closed, likely, Bounded, Proposal, Search};
use super::dives::those_that_fit;
use crate::space::{Grid, Shape};
use crate::tuning;

/// Assembles the shapes that are likely to be fastest.
pub(super) fn likely_shapes(search: &mut Search) {
    if search.incumbent.limit() <= search.bound || search.has_enough(search.bound) {
        return;
    }
    let mut shapes = Likely::default();
    let is_grid = |node: &&Bounded<Node>| node.of.grid().is_some();
    let open: Vec<Bounded<Node>> = search.frontier.open().filter(|node| !is_grid(node)).cloned().collect();
    shapes.add(search, open);
    add_grids(search, &mut shapes);
    let effort = search.task.effort.exact;
    let more = (effort / tuning::LIKELY_PART).max(tuning::LIKELY_DESIGNS.min(effort / tuning::LIKELY_LEAST_PART));
    let designs = search.counts.exact + more;
    let walks = search.counts.walks + more * tuning::LIKELY_WALKS;
    for some in shapes.in_order().chunks(tuning::DESIGNS_TOGETHER) {
        if search.counts.exact >= designs || search.counts.walks >= walks {
            break;
        }
        let limit = search.incumbent.limit();
        let open: Vec<&Bounded<Node>> = some.iter().filter(|node| node.bound < limit).collect();
        let of = |node: &&Bounded<Node>| node.of.shape().map(|shape| Bounded::new(node.bound, shape));
        let whole: Vec<Bounded<Shape>> = open.iter().filter_map(of).collect();
        search.pes.assemble(&search.model, &whole.iter().map(|shape| &shape.of.grid).collect::<Vec<_>>());
        let of = |node: &&Bounded<Node>| node.of.proposal().map(|proposal| Bounded::new(node.bound, proposal));
        let mut fitting: Vec<Bounded<Proposal>> = open.iter().filter_map(of).collect();
        fitting.extend(those_that_fit(search, &whole));
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
            let of = |shape: Bounded<Shape>| Bounded::new(shape.bound, Node::Shape(shape.of));
            shapes.add(search, found.shapes.into_iter().map(of).collect());
        }
    }
}

/// Open shapes, over all words or over some, with their likely cycles: the most promising ones.
#[derive(Default)]
struct Likely(Vec<(i64, Bounded<Node>)>);

impl Likely {
    fn add(&mut self, search: &Search, mut shapes: Vec<Bounded<Node>>) {
        if shapes.len() > tuning::LIKELY_SHAPES {
            shapes.select_nth_unstable(tuning::LIKELY_SHAPES);
            shapes.truncate(tuning::LIKELY_SHAPES);
        }
        let (model, limit, pes) = (&search.model, search.incumbent.limit(), &search.pes);
        let is_open =
            |node: &Bounded<Node>| node.bound < limit && node.of.any_shape().is_some_and(|s| pes.may_fit(model, s));
        shapes.retain(is_open);
        let cycles = at_once(&shapes, |node| likely::of_node(model, &node.of).unwrap_or(0).max(node.bound));
        self.0.extend(cycles.into_iter().zip(shapes));
        if self.0.len() > 2 * tuning::LIKELY_KEPT {
            self.0.select_nth_unstable(tuning::LIKELY_KEPT);
            self.0.truncate(tuning::LIKELY_KEPT);
        }
    }

    fn in_order(mut self) -> Vec<Bounded<Node>> {
        self.0.sort_unstable();
        self.0.into_iter().map(|(_, node)| node).collect()
    }
}
