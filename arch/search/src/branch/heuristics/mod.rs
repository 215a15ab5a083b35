//! Heuristics: they find good designs early or improve the best one. Best-first search alone proves, but meets its
//! first design late. A heuristic changes no bound; it only offers designs to the incumbent, so it can never make a
//! result wrong.
//!
//! [`HEURISTICS`] is the list of a search. The driver runs its rows in order, each at its moment ([`Run`]). Every step
//! of a search's trace says which row found it. Heuristics that need several searches are in `quest::IMPROVEMENTS`.
//!
//! **How to add a heuristic.** Say long thin arrays are often fast for `fir`-like programs, and the search meets them
//! late. They need all grids, so the moment is [`Run::Grids`]:
//!
//! 1. A function in a file of this folder. `dive_into` assembles the most promising shapes of a grid;
//!    `Search::try_plan` assembles a plan of its own.
//!
//!    ```ignore
//!    /// Dives into the longest one-dimensional grid.
//!    pub(super) fn longest(search: &mut Search, grids: &[Bounded<Grid>]) {
//!        let lines = grids.iter().filter(|g| g.of.pes[1] == 1);
//!        if let Some(grid) = lines.max_by_key(|g| g.of.pes[0]) {
//!            dive_into(search, grid);
//!        }
//!    }
//!    ```
//!
//! 2. A row of [`HEURISTICS`], at its place in the order:
//!
//!    ```ignore
//!    Heuristic {
//!        name: "longest line",
//!        why: "long thin arrays are fast for filters, and the search meets them late",
//!        run: Run::Grids(dives::longest),
//!    },
//!    ```
//!
//! 3. Its constants in `crate::tuning`, each with a sentence.
//! 4. `scripts/explore/compare.py OLD NEW` compares the choices of two builds: the new one must not lose cycles.

mod dives;
mod likely;
mod polish;
mod simple;
mod wider;

pub(super) use dives::Dives;

use super::{Bounded, Search};
use crate::space::{Grid, Shape};

/// A row of a list of heuristics. `R`: when it runs, and its function.
pub struct Heuristic<R> {
    pub name: &'static str,
    /// What the search would miss without it.
    pub why: &'static str,
    pub run: R,
}

/// The moment at which a heuristic runs, and its function.
pub enum Run {
    /// Before the first bound is computed.
    Start(fn(&mut Search)),
    /// All grids that may fit are bounded, the least bound first; none is expanded. Once in each pass.
    Grids(fn(&mut Search, &[Bounded<Grid>])),
    /// The shapes of one grid are bounded.
    Shapes(fn(&mut Search, &Grid, &[Bounded<Shape>])),
    /// The search has ended: by proof, or because its effort is spent.
    End(fn(&mut Search)),
}

/// The name of the search itself in a trace.
pub const BEST_FIRST: &str = "best first";

/// All heuristics, in the order in which they run.
pub const HEURISTICS: [Heuristic<Run>; 9] = [
    Heuristic {
        name: "simple arrays",
        why: "programs whose loops can be tiled in no other way have one of these or none",
        run: Run::Start(simple::seeds),
    },
    Heuristic {
        name: "ladder",
        why: "if most of the fastest grids do not fit, best-first search meets none that does",
        run: Run::Grids(dives::ladder),
    },
    Heuristic {
        name: "corrected sizes",
        why: "if bounds on resources say little, all rungs of the ladder are too large",
        run: Run::Grids(dives::corrected),
    },
    Heuristic {
        name: "dive",
        why: "an early incumbent cuts off most shapes of later grids",
        run: Run::Shapes(dives::now_and_then),
    },
    Heuristic {
        name: "likely shapes",
        why: "behind a slow memory thousands of shapes have the same bound, and best-first search takes them in any order",
        run: Run::End(likely::likely_shapes),
    },
    Heuristic {
        name: "whole arrays",
        why: "among grids of equal bound smaller ones come first; if they are refused, the whole one is never met",
        run: Run::End(simple::wholes),
    },
    Heuristic {
        name: "single PE",
        why: "one PE executes every program, also one whose loops cannot be space loops",
        run: Run::End(simple::single_pe),
    },
    Heuristic {
        name: "buses wider than the memory",
        why: "a word of which nothing is transferred passes in a cycle, so a wider bus passes more of them",
        run: Run::End(wider::wider_buses),
    },
    Heuristic {
        name: "narrow words",
        why: "the best design may keep its cycles over narrower words with fewer resources",
        run: Run::End(polish::polish),
    },
];

/// Runs the rows of one moment in order.
fn run(search: &mut Search, step: impl Fn(&mut Search, &Run)) {
    for row in &HEURISTICS {
        search.by = row.name;
        step(search, &row.run);
    }
    search.by = BEST_FIRST;
}

pub(super) fn at_start(search: &mut Search) {
    run(search, |search, run| {
        if let Run::Start(f) = run {
            f(search)
        }
    });
}

pub(super) fn on_grids(search: &mut Search, grids: &[Bounded<Grid>]) {
    run(search, |search, run| {
        if let Run::Grids(f) = run {
            f(search, grids)
        }
    });
}

pub(super) fn on_shapes(search: &mut Search, grid: &Grid, shapes: &[Bounded<Shape>]) {
    run(search, |search, run| {
        if let Run::Shapes(f) = run {
            f(search, grid, shapes)
        }
    });
}

pub(super) fn at_end(search: &mut Search) {
    run(search, |search, run| {
        if let Run::End(f) = run {
            f(search)
        }
    });
}
