//! The shapes of a grid with their cycles in closed form, at least. Millions of these are computed per second.

use super::by_case;
use super::frontier::{Bounded, Shapes};
use super::model::Model;
use super::widths::Widths;
use crate::space::{Choice, Grid, Inner, Shape, Sizes, MOST_DIMS};
use crate::tuning;
use cost::bound::{Around, Moved, Tiles};

/// The shapes of a grid below the cap. A grid with very many of them is looked at again with fewer sizes of each loop.
pub(super) fn shapes(model: &Model, grid: &Bounded<Grid>, cap: i64) -> Shapes {
    if !model.facts_of(&grid.of).classes.is_empty() {
        return by_case::shapes(model, *grid, cap);
    }
    let mut options = model.options(&grid.of);
    let mut found = Shapes::none();
    while !all_shapes(model, grid, &options, cap, &mut found) {
        found.shapes.clear();
        found.dropped = grid.bound;
        (0..tuning::HALVED_SIZES).for_each(|_| halve_sizes(&mut options));
    }
    found
}

/// Every other size of the loop that has the most of them, and the last one.
fn halve_sizes(options: &mut [Vec<Choice>]) {
    let Some(most) = options.iter_mut().max_by_key(|all| all.len()) else { return };
    let last = most.len() - 1;
    let mut k = 0..;
    most.retain(|_| k.next().is_some_and(|k: usize| k.is_multiple_of(2) || k == last));
}

/// Adds the shapes with these sizes. `false`: there are too many.
fn all_shapes(model: &Model, grid: &Bounded<Grid>, options: &[Vec<Choice>], cap: i64, found: &mut Shapes) -> bool {
    let Bounded { bound: key, of: grid } = *grid;
    let facts = model.facts_of(&grid);
    let depth = facts.extent.len();
    let wide = model.ports_of(&grid).widest().bytes();
    let mut least = vec![1i64; depth + 1];
    for d in (0..depth).rev() {
        least[d] = least[d + 1].saturating_mul(options[d].iter().map(|o| o.waves).min().unwrap_or(1));
    }
    let (mut loads, mut stores) = (vec![], vec![]);
    let most = found.bounds + tuning::MOST_BOUNDS_OF_GRID;
    let mut stack: Vec<(usize, i64, Inner)> = vec![(0, 1, [1; MOST_DIMS])];
    while let Some((d, waves, inner)) = stack.pop() {
        if found.bounds >= most {
            return false;
        }
        if d < depth {
            for option in &options[d] {
                let waves = waves.saturating_mul(option.waves);
                if waves.saturating_mul(least[d + 1]) < cap {
                    let mut next = inner;
                    next[d] = option.inner;
                    stack.push((d + 1, waves, next));
                }
            }
            continue;
        }
        let sizes = grid.sizes(&facts.extent, &inner);
        let tile = (&sizes.tile[..depth], grid.in_lanes(&facts.extent, &inner));
        facts.transfers(tile, &wide, &mut loads, &mut stores);
        let moved = Moved::new(&loads, &stores, sizes.tiled);
        let run = tiles(model, &grid, &inner, &sizes, &moved);
        found.bounds += 1;
        let first = run.compute(&moved).max(key);
        if first >= cap {
            continue;
        }
        for (n, order) in model.orders_worth(&grid, &inner, sizes.tiled) {
            found.bounds += 1;
            let interval = order.interval(facts, &grid, &inner);
            let least = run.cycles(&moved, &Around { interval, loads: &order.reload, sums: &order.sums }).max(key);
            if least < cap {
                found.push(Bounded::new(least, Shape { grid, inner, order: n as u16 }));
            }
        }
    }
    true
}

/// Cycles of a shape over words of these widths, at least.
pub(super) fn cycles(model: &Model, shape: &Shape, widths: &Widths) -> i64 {
    let (facts, sizes) = (model.facts_of(&shape.grid), model.sizes(shape));
    let (widths, order) = (widths.bytes(), model.order(shape));
    if !facts.classes.is_empty() {
        return by_case::cycles(model, &shape.grid, &shape.inner, order, &widths);
    }
    let (mut loads, mut stores) = (vec![], vec![]);
    let tile = (&sizes.tile[..facts.extent.len()], shape.grid.in_lanes(&facts.extent, &shape.inner));
    facts.transfers(tile, &widths, &mut loads, &mut stores);
    let interval = order.interval(facts, &shape.grid, &shape.inner);
    let moved = Moved::new(&loads, &stores, sizes.tiled);
    tiles(model, &shape.grid, &shape.inner, &sizes, &moved)
        .cycles(&moved, &Around { interval, loads: &order.reload, sums: &order.sums })
}

fn tiles<'s>(model: &'s Model, grid: &Grid, inner: &Inner, sizes: &'s Sizes, moved: &Moved) -> Tiles<'s> {
    let facts = model.facts_of(grid);
    Tiles {
        trips: &sizes.tiles,
        tiled: sizes.tiled,
        waves: sizes.waves,
        cross: grid.cross(facts, inner),
        spill: model.spill,
        spread: (0..2).filter(|&a| grid.pes[a] > 1).map(|a| 1 << grid.flow.axes[a]).sum(),
        before: model.before(facts),
        behind: model.behind(facts, moved.last()),
        most: &facts.most,
    }
}
