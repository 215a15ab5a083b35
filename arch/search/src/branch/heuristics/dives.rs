//! Dives: the most promising shapes of one grid are assembled out of turn.

use super::super::fitting;
use super::super::frontier::Node;
use super::super::{at_once, closed, share, Bounded, Proposal, Resources, Search};
use crate::space::{Flow, Grid, Shape};
use crate::tuning;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where a search has dived.
#[derive(Default)]
pub(in crate::branch) struct Dives {
    count: u64,
    /// Dives that looked at small tiles and found nothing better.
    in_vain: u64,
    grids: BTreeSet<Grid>,
    /// Transforms and space loops of which an array was tried.
    axes: BTreeSet<(u8, [u8; 2])>,
    /// By flow: the share of the limits that a lane of the last array took.
    share_of_lane: BTreeMap<Flow, f64>,
    /// Roughly what the PEs of each listed grid take, once somebody asked.
    guesses: Vec<Option<Resources>>,
}

impl Dives {
    /// For another pass of the same search.
    pub fn restart(&mut self) {
        self.count = 0;
        self.grids.clear();
    }

    /// Other grids are listed.
    pub fn forget_guesses(&mut self) {
        self.guesses.clear();
    }

    /// An array of the grid took this share of the limits.
    pub fn count_share(&mut self, grid: &Grid, share: f64) {
        self.share_of_lane.insert(grid.flow, share / grid.peak() as f64);
    }
}

/// Dives into a grid now and then: for new space loops, while there is no incumbent, and every
/// [`tuning::DIVE_EVERY`] grids.
pub(super) fn now_and_then(search: &mut Search, grid: &Grid, shapes: &[Bounded<Shape>]) {
    let fresh = search.dives.axes.insert((grid.flow.facts, grid.flow.axes));
    let turn = search.counts.grids % tuning::DIVE_EVERY < tuning::GRIDS_TOGETHER as u64
        && search.dives.count < tuning::MOST_DIVES;
    if fresh || search.incumbent.is_none() || turn {
        dive(search, shapes);
    }
}

/// Incumbents that leave more and more of the board to the network. Each rung takes, of the fastest grids whose PEs
/// leave so much, those with the shortest borders.
pub(super) fn ladder(search: &mut Search, grids: &[Bounded<Grid>]) {
    for percent in tuning::RUNGS {
        let limits = &search.task.limits;
        let rung = Resources {
            lut: limits.lut * percent / 100,
            ff: limits.ff * percent / 100,
            dsp: limits.dsp * percent / 100,
            ..*limits
        };
        let mut near = nearest(search, grids, &rung);
        near.sort_by_key(|g| (g.of.pes[0] + g.of.pes[1], *g));
        let mut dives = 0;
        for grid in near.into_iter().take(tuning::RUNG_TRIES) {
            if dives == tuning::RUNG_DIVES || search.is_spent() {
                break;
            }
            let pes = search.pes.of_each(&search.model, &[&grid.of])[0];
            if pes == Resources::default() || !pes.fits(&rung) {
                continue;
            }
            dives += 1;
            if !search.dives.grids.contains(&grid.of) {
                dive_into(search, &grid);
            }
        }
    }
}

/// The fastest grids whose PEs leave what the rung wants.
fn nearest(search: &mut Search, grids: &[Bounded<Grid>], rung: &Resources) -> Vec<Bounded<Grid>> {
    let limit = search.incumbent.limit();
    let mut near: Vec<Bounded<Grid>> = vec![];
    let full = |near: &[Bounded<Grid>], bound: i64| {
        let far = |first: &Bounded<Grid>| bound > first.bound + first.bound * tuning::RUNG_PERCENT / 100;
        near.first().is_some_and(far) || near.len() >= tuning::RUNG_GRIDS
    };
    for (k, some) in grids.chunks(tuning::GRIDS_TOGETHER).enumerate() {
        if some[0].bound >= limit || full(&near, some[0].bound) || search.is_spent() {
            break;
        }
        let pes = guesses(search, grids, k * tuning::GRIDS_TOGETHER, some.len());
        for (grid, pes) in some.iter().zip(pes) {
            if grid.bound < limit && !full(&near, grid.bound) && pes != Resources::default() && pes.fits(rung) {
                near.push(*grid);
            }
        }
    }
    near
}

/// What the PEs of so many grids take, roughly. The same grids are asked for again and again, and each guess compares
/// a grid with every statement.
fn guesses(search: &mut Search, grids: &[Bounded<Grid>], first: usize, count: usize) -> Vec<Resources> {
    let known = &mut search.dives.guesses;
    known.resize(known.len().max(first + count), None);
    let missing: Vec<usize> = (first..first + count).filter(|&k| known[k].is_none()).collect();
    let found = search.pes.guess(&search.model, &missing.iter().map(|&k| &grids[k].of).collect::<Vec<_>>());
    missing.into_iter().zip(found).for_each(|(k, pes)| known[k] = Some(pes));
    known[first..first + count].iter().map(|pes| pes.unwrap_or_default()).collect()
}

/// Incumbents by what arrays of a flow were seen to take.
pub(super) fn corrected(search: &mut Search, grids: &[Bounded<Grid>]) {
    if search.counts.too_big == 0 {
        return;
    }
    for _ in 0..tuning::CORRECTIONS {
        if search.is_spent() {
            break;
        }
        let limit = search.incumbent.limit();
        let below = grids.partition_point(|g| g.bound < limit);
        let Some(k) = (0..below).find(|&k| grids[k].of.peak() > 1 && seems_to_fit(search, grids, k)) else { break };
        let grid = &grids[k];
        let before = search.counts.exact;
        dive_into(search, grid);
        if search.counts.exact == before {
            // No shape of it fits, it seems: the next grid of the flow must be smaller.
            let less = tuning::CORRECTED_SHARE * tuning::CORRECTED_STEP / grid.of.peak() as f64;
            let share = search.dives.share_of_lane.entry(grid.of.flow).or_default();
            *share = share.max(less);
        }
    }
}

fn seems_to_fit(search: &mut Search, grids: &[Bounded<Grid>], k: usize) -> bool {
    let grid = &grids[k].of;
    if search.dives.grids.contains(grid) {
        return false;
    }
    let share = match search.dives.share_of_lane.get(&grid.flow) {
        Some(each) => each * grid.peak() as f64,
        None => share(&guesses(search, grids, k, 1)[0], &search.task.limits),
    };
    share <= tuning::CORRECTED_SHARE
}

fn dive_into(search: &mut Search, grid: &Bounded<Grid>) {
    search.dives.grids.insert(grid.of);
    let found = closed::shapes(&search.model, grid, search.incumbent.cap());
    search.counts.bounds += found.bounds;
    dive(search, &found.shapes);
}

/// Assembles a few of the shapes with the least bounds. If none of them fits, a few of those with the smallest tiles of
/// which the bounds are hardly greater: behind a slow memory thousands of shapes take as long as the memory, to the few
/// cycles of their first loads, and those with the least bounds have large tiles.
fn dive(search: &mut Search, shapes: &[Bounded<Shape>]) {
    search.dives.count += 1;
    let may_fit = |shape: &&Bounded<Shape>| search.pes.may_fit(&search.model, &shape.of);
    let shapes: Vec<Bounded<Shape>> = shapes.iter().filter(may_fit).copied().collect();
    let Some(least) = shapes.iter().map(|shape| shape.bound).min() else { return };
    let fits = assemble_some(search, first_by_key(shapes.clone(), |shape| *shape));
    if fits || search.dives.in_vain >= search.task.effort.exact / tuning::DESIGNS_PER_SMALL_DIVE {
        return;
    }
    let nearly = |shape: &Bounded<Shape>| shape.bound <= least + least * tuning::DIVE_PERCENT / 100;
    let waves = |shape: &Bounded<Shape>| shape.of.inner.iter().map(|&n| i64::from(n)).product::<i64>();
    let near = shapes.into_iter().filter(nearly).collect();
    let limit = search.incumbent.limit();
    assemble_some(search, first_by_key(near, |shape| (waves(shape), *shape)));
    search.dives.in_vain += u64::from(search.incumbent.limit() == limit);
}

/// The first [`tuning::DIVE_SHAPES`] by a key, in its order.
fn first_by_key<K: Ord>(mut all: Vec<Bounded<Shape>>, key: impl Fn(&Bounded<Shape>) -> K) -> Vec<Bounded<Shape>> {
    if all.len() > tuning::DIVE_SHAPES {
        all.select_nth_unstable_by_key(tuning::DIVE_SHAPES, &key);
        all.truncate(tuning::DIVE_SHAPES);
    }
    all.sort_unstable_by_key(key);
    all
}

/// Assembles the first few of these shapes, over words over which they fit. Whether one of them fits.
fn assemble_some(search: &mut Search, shapes: Vec<Bounded<Shape>>) -> bool {
    let before = search.counts;
    let mut near = shapes.into_iter();
    let mut fitting: VecDeque<Bounded<Proposal>> = VecDeque::new();
    let mut tried = 0;
    while tried < tuning::DIVE_DESIGNS && !search.is_spent() {
        while fitting.len() < tuning::DIVE_DESIGNS_TOGETHER {
            let cap = search.incumbent.cap();
            let mut next: Vec<Bounded<Shape>> =
                near.by_ref().filter(|n| n.bound < cap).take(tuning::DIVE_WALKS_TOGETHER).collect();
            if next.is_empty() {
                break;
            }
            next.retain(|shape| !search.refusals.skips(&search.model.kind(&shape.of)));
            fitting.extend(those_that_fit(search, &next));
        }
        let together: Vec<_> = fitting.drain(..fitting.len().min(tuning::DIVE_DESIGNS_TOGETHER)).collect();
        if together.is_empty() {
            break;
        }
        tried += together.len();
        search.evaluate(together);
    }
    // They count as seen, so nobody else would look at them.
    fitting.into_iter().for_each(|design| search.push(design.bound, Node::Design(design.of)));
    search.counts.exact - before.exact > search.counts.too_big - before.too_big
}

/// The shapes that fit, each over the widest of a few words, without those seen before.
pub(super) fn those_that_fit(search: &mut Search, shapes: &[Bounded<Shape>]) -> Vec<Bounded<Proposal>> {
    let (model, pes, cap) = (&search.model, &search.pes, search.incumbent.cap());
    let found = at_once(shapes, |shape| fitting::first(model, shape, pes, cap));
    search.counts.walks += found.iter().map(|(_, walks)| walks).sum::<u64>();
    let found = found.into_iter().filter_map(|(design, _)| design);
    found.filter(|design| search.frontier.is_new(Node::Design(design.of.clone()))).collect()
}
