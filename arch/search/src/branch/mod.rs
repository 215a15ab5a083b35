//! Best-first branch and bound: grid → shape → coarse walk → exact walk. The open node with the least bound is next, so
//! when none below the best design is left, that design is the optimum; when the effort runs out, the least open bound
//! says how far off it can be.
//!
//! Effort is counted, never timed, and nodes are ordered by what they are. A few nodes of a kind that stand next to one
//! another are looked at by several cores at once, always as many: the same program gives the same array, on any number
//! of cores.
//!
//! Source: best-first search as in any text; pruning orders by what they reload as in Odyssey (section 4).

mod audit;
mod by_case;
mod effort;
mod incumbent;
mod known;
mod least;
mod network;
mod products;
mod task;
mod widths;

pub use audit::{audit, rates, Audited, Rates};
pub use network::{network, Layer, Network, Shared};
pub(super) use task::by_hand;
pub use task::{Counts, Design, Effort, Found, Progress, Task};

use crate::space;
use crate::space::{Flow, Grid, Shape, MOST_DIMS};
use cost::board::Resources;
use incumbent::{DIVES, DIVE_EVERY};
use known::{Evaluated, Known};
use least::{Fitting, Pes};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::{Mutex, PoisonError};
use uniform::mapping::Plan;
use uniform::refusal::Illegal;
use widths::Widths;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Exact(Shape, Widths),
    Fit(Shape, Widths),
    Shape(Shape),
    Grid(Grid),
}

/// What decides whether a shape is legal, sizes apart.
type Kind = (Flow, u32, u32, u16);

/// Refusals of one kind after which others of it are not tried.
const REFUSALS: u32 = 2;
/// Refusals of one flow after which, if none of it was legal, it is given up.
const HOPELESS: u32 = 12;
const LANES_PER_PE: i64 = 64;
/// Nodes that are looked at together.
const GRIDS: usize = 16;
const SHAPES: usize = 32;
const DESIGNS: usize = 4;

struct Search<'a> {
    task: &'a Task<'a>,
    known: Known<'a>,
    heap: BinaryHeap<Reverse<(i64, Node)>>,
    /// Nodes that several others may lead to.
    seen: BTreeSet<Node>,
    pes: Pes,
    /// Small arrays that were made to know PEs.
    made: usize,
    kinds: BTreeMap<Kind, u32>,
    /// Legal and illegal designs of a flow.
    tally: BTreeMap<Flow, (u32, u32)>,
    /// Space loops of which an array was tried.
    axes: BTreeSet<(u8, [u8; 2])>,
    refused: BTreeMap<String, u64>,
    illegal: Vec<(Illegal, Plan)>,
    best: Option<Design>,
    counts: Counts,
    trace: Vec<(u64, i64, i64)>,
    dives: u64,
    /// What may be done up to now.
    effort: Effort,
    /// Grids into which a rung of the ladder dived.
    dived: BTreeSet<Grid>,
    /// By flow: the share of the limits that a lane of the last array took.
    taken: BTreeMap<Flow, f64>,
    open: i64,
    /// The least bound of what was left out without a proof.
    dropped: i64,
}

/// What searches found out about the PEs of a few programs, for the next searches of these: no limits change that.
#[derive(Default)]
pub struct Learned(Mutex<BTreeMap<usize, Pes>>);

impl Learned {
    /// [`search`], of which the program has this number; several at once are of several programs.
    pub fn search(&self, number: usize, task: &Task) -> Found {
        let mut pes = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&number).unwrap_or_default();
        let found = searched(task, &mut pes);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, pes);
        found
    }

    /// Of the first program alone, with its arrays in other layouts: what holds of flows there.
    pub fn in_other_layouts(&self) -> Learned {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Learned(Mutex::new(all.get(&0).map(|pes| (0, pes.of_flows())).into_iter().collect()))
    }
}

/// The best array for the task.
pub fn search(task: &Task) -> Found {
    searched(task, &mut Pes::default())
}

/// [`search`], with what is known of PEs of the task's program, and what becomes known of them.
fn searched(task: &Task, pes: &mut Pes) -> Found {
    let mut search = Search { pes: std::mem::take(pes), ..Search::new(task) };
    search.seeds();
    let bound = if task.program.system.dims.len() <= MOST_DIMS {
        search.by_waits().min(search.dropped)
    } else {
        search.known.floor()
    };
    search.wholes();
    let bound = search.alone(bound);
    search.polish();
    let Search { best, counts, trace, refused, illegal, .. } = search;
    *pes = search.pes;
    Found { best, bound, trace, counts, refused: refused.into_iter().collect(), illegal }
}

/// Every grid that a search would open, with a bound on its cycles, the least first.
pub fn grids(task: &Task) -> Vec<(i64, Grid)> {
    Search::new(task).grids()
}

impl<'a> Search<'a> {
    fn new(task: &'a Task) -> Search<'a> {
        Search {
            task,
            known: Known::new(task),
            heap: BinaryHeap::new(),
            seen: BTreeSet::new(),
            pes: Pes::default(),
            made: 0,
            kinds: BTreeMap::new(),
            tally: BTreeMap::new(),
            axes: BTreeSet::new(),
            refused: BTreeMap::new(),
            illegal: vec![],
            best: None,
            counts: Counts::default(),
            trace: vec![],
            dives: 0,
            effort: task.effort,
            dived: BTreeSet::new(),
            taken: BTreeMap::new(),
            open: 0,
            dropped: i64::MAX,
        }
    }
}

impl Search<'_> {
    /// Designs from here on are of no interest.
    fn cap(&self) -> i64 {
        self.best.as_ref().map_or(self.task.below, |b| {
            ((b.cycles as f64 * (1.0 - self.task.effort.gap)).ceil() as i64).min(self.task.below)
        })
    }

    fn push(&mut self, key: i64, node: Node) {
        if key < self.cap() {
            self.heap.push(Reverse((key, node)));
        }
    }

    /// The least bound that is open at the end.
    fn run(&mut self) -> i64 {
        self.open_grids();
        while let Some(Reverse((key, node))) = self.heap.pop() {
            self.open = key;
            if key >= self.cap() || self.ends(key) {
                return key.min(self.best.as_ref().map_or(key, |b| b.cycles));
            }
            match node {
                Node::Grid(grid) => {
                    let all =
                        self.together(
                            (key, grid),
                            GRIDS,
                            |node| if let Node::Grid(grid) = node { Some(*grid) } else { None },
                        );
                    self.open_up(all);
                }
                Node::Shape(shape) => {
                    let all = self.together((key, shape), SHAPES, |node| {
                        if let Node::Shape(shape) = node {
                            Some(*shape)
                        } else {
                            None
                        }
                    });
                    self.look(all);
                }
                Node::Fit(shape, widths) => {
                    let all = self.together((key, (shape, widths)), DESIGNS, |node| {
                        if let Node::Fit(shape, widths) = node {
                            Some((*shape, *widths))
                        } else {
                            None
                        }
                    });
                    self.tighten(all);
                }
                Node::Exact(shape, widths) => {
                    let all = self.together((key, (shape, widths)), DESIGNS, |node| {
                        if let Node::Exact(shape, widths) = node {
                            Some((*shape, *widths))
                        } else {
                            None
                        }
                    });
                    self.build(all);
                }
            }
        }
        self.cap()
    }

    /// A single PE executes all loops in the program's order: where no loop can be a space loop, and where those that
    /// can keep what is made one after the other from being made in time. The bound, with it.
    fn alone(&mut self, bound: i64) -> i64 {
        let limit = self.limit();
        let wanted = bound < limit && self.task.space.is_none() && self.task.only.is_none();
        let plan = || Plan::identity(self.task.program.system.dims.len());
        match wanted.then(|| self.known.evaluate(plan(), self.task.spec.wiring.word.clone(), limit)) {
            Some(Ok(Evaluated::Better(design, _))) => {
                self.counts.exact += 1;
                let bound = bound.min(design.cycles);
                self.open = bound;
                self.keep(*design);
                bound
            }
            Some(Ok(Evaluated::TooBig(..))) => {
                self.counts.too_big += 1;
                bound
            }
            _ => bound,
        }
    }

    /// The first of several nodes of one kind, and those that are next behind it.
    fn together<T>(&mut self, first: (i64, T), most: usize, of: impl Fn(&Node) -> Option<T>) -> Vec<(i64, T)> {
        let mut all = vec![first];
        while all.len() < most {
            let Some(Reverse((key, node))) = self.heap.peek() else { break };
            let Some(next) = of(node) else { break };
            all.push((*key, next));
            self.heap.pop();
        }
        all
    }

    /// All grids with their bounds, the least first.
    fn grids(&self) -> Vec<(i64, Grid)> {
        // A lane that multiplies takes a DSP slice at least; one that does not is bounded by the array's size alone.
        let most = self.task.limits.dsp.max(1)
            * if self.task.program.scop.statements.iter().any(|s| products::multiplies(&s.rhs)) { 1 } else { 4 };
        let mut all = vec![];
        for (k, facts) in self.known.facts.iter().enumerate() {
            let floor = facts.floor();
            let flows = space::flows(facts, k as u8, &|axes| self.allowed(axes));
            let extents: [&[i64]; 1] = [&facts.extent];
            let grids: Vec<Grid> = match self.task.only {
                Some(only) => only
                    .iter()
                    .copied()
                    .filter(|g| flows.contains(&g.flow) && g.peak() <= most && !g.is_line(&extents))
                    .collect(),
                None => flows.into_iter().flat_map(|flow| space::grids(&extents, flow, most, LANES_PER_PE)).collect(),
            };
            all.par_extend(grids.into_par_iter().map(|g| (g.waves(facts).max(floor), g)));
        }
        all.par_sort_unstable();
        all
    }

    fn open_grids(&mut self) {
        let all = self.grids();
        self.counts.bounds += all.len() as u64;
        let cap = self.cap();
        let below: Vec<(i64, Grid)> = all.into_iter().filter(|g| g.0 < cap).collect();
        let fitting: Vec<(i64, Grid)> =
            below.par_iter().filter(|(_, grid)| self.products(grid).1.fits(&self.task.limits)).copied().collect();
        self.ladder(&fitting);
        self.corrected(&fitting);
        self.counts.too_big += (below.len() - fitting.len()) as u64;
        let cap = self.cap();
        self.heap.extend(fitting.into_iter().filter(|g| g.0 < cap).map(|(key, grid)| Reverse((key, Node::Grid(grid)))));
    }

    fn allowed(&self, axes: &[usize]) -> bool {
        self.task.space.as_ref().is_none_or(|s| s == axes)
    }

    /// Grids to shapes.
    fn open_up(&mut self, all: Vec<(i64, Grid)>) {
        self.counts.grids += all.len() as u64;
        let (given_up, all): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, grid)| self.given_up(grid.flow));
        self.dropped = given_up.into_iter().map(|g| g.0).fold(self.dropped, i64::min);
        // Where there is something to beat most grids have no shape that does, so their PEs need not be made.
        let due: Vec<&Grid> = all
            .iter()
            .map(|g| &g.1)
            .filter(|grid| self.cap() == i64::MAX || self.pes.are_due(self.known.facts_of(grid), grid))
            .collect();
        self.make(&due);
        let fits = self.fit(&all);
        let open: Vec<(i64, Grid)> =
            all.into_iter().zip(fits).filter(|(_, fits)| *fits).map(|(grid, _)| grid).collect();
        let cap = self.cap();
        let shapes = at_once(&open, |(key, grid)| self.known.shapes(*key, *grid, cap));
        let late: Vec<(i64, Grid)> = open
            .iter()
            .zip(&shapes)
            .filter(|((_, grid), found)| self.of_grid(grid).is_none() && !found.shapes.is_empty())
            .map(|(grid, _)| *grid)
            .collect();
        self.make(&late.iter().map(|g| &g.1).collect::<Vec<_>>());
        let fits = self.fit(&late);
        let too_big: BTreeSet<Grid> =
            late.into_iter().zip(fits).filter(|(_, fits)| !fits).map(|(grid, _)| grid.1).collect();
        for ((_, grid), found) in open.iter().zip(shapes) {
            self.counts.bounds += found.bounds;
            self.pes.looked_at(self.known.facts_of(grid), grid, found.bounds);
            if too_big.contains(grid) {
                continue;
            }
            self.dropped = self.dropped.min(found.dropped);
            let fresh = self.axes.insert((grid.flow.facts, grid.flow.axes));
            if fresh || self.best.is_none() || (self.counts.grids % DIVE_EVERY < GRIDS as u64 && self.dives < DIVES) {
                self.dive(&found.shapes);
            }
            for (key, shape) in found.shapes {
                self.push(key, Node::Shape(shape));
            }
        }
    }

    /// Whether each of these grids may fit, by what is known of its PEs.
    fn fit(&mut self, all: &[(i64, Grid)]) -> Vec<bool> {
        let (search, limits) = (&*self, &self.task.limits);
        let fits = at_once(all, |(_, grid)| {
            let Some(mut need) = search.of_grid(grid) else { return true };
            if need.fits(limits) && crowded(&need, limits) {
                need += search.known.narrowest_network(grid);
            }
            need.fits(limits)
        });
        self.counts.too_big += fits.iter().filter(|fits| !**fits).count() as u64;
        fits
    }

    /// Shapes to designs.
    fn look(&mut self, mut all: Vec<(i64, Shape)>) {
        all.retain(|(key, shape)| self.worth(*key, shape));
        let (cap, pes) = (self.cap(), &self.pes);
        let found = at_once(&all, |(key, shape)| self.known.widths_that_fit(*key, shape, pes, cap));
        for ((_, shape), found) in all.into_iter().zip(found) {
            self.counts.too_big += u64::from(found.fitting.is_empty() && found.too_big);
            self.take(shape, found);
        }
    }

    /// A shape over the words over which it may fit.
    fn take(&mut self, shape: Shape, found: Fitting) {
        self.counts.walks += found.walks;
        for (key, widths) in found.fitting {
            self.offer(key, Node::Fit(shape, widths));
        }
    }

    /// Shapes that are next to be built, over all words that are worth it.
    fn tighten(&mut self, mut all: Vec<(i64, (Shape, Widths))>) {
        all.retain(|(key, (shape, _))| self.worth(*key, shape));
        let found = at_once(&all, |(_, (shape, widths))| self.known.tight(shape, *widths));
        for ((key, (shape, _)), (widths, complete)) in all.into_iter().zip(found) {
            self.dropped = if complete { self.dropped } else { self.dropped.min(key) };
            widths.into_iter().for_each(|widths| self.offer(key, Node::Exact(shape, widths)));
        }
    }

    fn offer(&mut self, key: i64, node: Node) {
        if self.seen.insert(node.clone()) {
            self.push(key, node);
        }
    }

    /// Whether a shape is looked at, since none like it was refused too often. Whether it is legal may depend on its
    /// sizes, too, so nothing is proved of those that are not.
    fn worth(&mut self, key: i64, shape: &Shape) -> bool {
        let worth = !self.given_up(shape.grid.flow) && !self.is_refused(shape);
        if !worth {
            self.dropped = self.dropped.min(key);
        }
        worth
    }

    /// Designs, assembled and walked.
    fn build(&mut self, mut all: Vec<(i64, (Shape, Widths))>) {
        all.retain(|(key, (shape, _))| self.worth(*key, shape));
        all.retain(|(key, (shape, widths))| self.still_fits(*key, shape, *widths));
        let (limit, pes) = (self.limit(), &self.pes);
        let made = at_once(&all, |(_, (shape, widths))| {
            let plan = self.known.plan(shape);
            let words = self.known.words(shape.grid.flow.facts as usize, *widths);
            (self.known.evaluate(plan, words, limit), self.known.least(shape, *widths, pes))
        });
        let mut too_big = vec![];
        for ((key, (shape, widths)), (made, least)) in all.into_iter().zip(made) {
            let tally = self.tally.entry(shape.grid.flow).or_default();
            match made {
                Err(illegal) => {
                    self.counts.refused += 1;
                    tally.1 += 1;
                    let plan = self.known.plan(&shape);
                    *self.kinds.entry(self.known.kind(&shape)).or_default() += 1;
                    self.refuse(*illegal, plan);
                }
                Ok(made) => {
                    tally.0 += 1;
                    self.counts.exact += 1;
                    self.counts.rows += made.rows();
                    if let Some(need) = made.need() {
                        self.taken.insert(shape.grid.flow, share(&need, &self.task.limits) / shape.grid.peak() as f64);
                        self.counts.underestimates += u64::from(least.is_some_and(|l| !l.fits(&need)));
                    }
                    match made {
                        Evaluated::TooBig(_, pes) => {
                            self.counts.too_big += 1;
                            self.pes.know(shape, pes);
                            too_big.push((key, (shape, widths)));
                        }
                        Evaluated::Slow(..) => {}
                        Evaluated::Better(design, _) => {
                            self.counts.violations += u64::from(design.cycles < key);
                            self.keep(*design);
                        }
                    }
                }
            }
        }
        self.narrow(&too_big);
    }

    /// Whether a shape fits by what is known of its PEs by now; over narrower words it may, if it does not.
    fn still_fits(&mut self, key: i64, shape: &Shape, widths: Widths) -> bool {
        if !self.pes.knows(shape)
            || self.known.least(shape, widths, &self.pes).is_some_and(|need| need.fits(&self.task.limits))
        {
            return true;
        }
        self.counts.too_big += 1;
        self.narrow(&[(key, (*shape, widths))]);
        false
    }

    /// Shapes that do not fit over some words, over narrower ones.
    fn narrow(&mut self, all: &[(i64, (Shape, Widths))]) {
        let (cap, pes) = (self.cap(), &self.pes);
        let found = at_once(all, |(key, (shape, widths))| self.known.narrower(*key, shape, *widths, pes, cap));
        for ((_, (shape, _)), found) in all.iter().zip(found) {
            self.take(*shape, found);
        }
    }

    /// Only fewer cycles than these are better.
    fn limit(&self) -> i64 {
        self.best.as_ref().map_or(self.task.below, |b| b.cycles.min(self.task.below))
    }

    fn keep(&mut self, design: Design) {
        if design.cycles < self.limit() {
            self.trace.push((self.counts.exact, design.cycles, self.open));
            self.best = Some(design);
        }
    }

    fn refuse(&mut self, illegal: Illegal, plan: Plan) {
        let text = illegal.diagnostic(&self.task.program.scop, &self.task.program.system, &plan).message;
        let count = self.refused.entry(text).or_default();
        *count += 1;
        if *count == 1 {
            self.illegal.push((illegal, plan));
        }
    }

    fn is_refused(&self, shape: &Shape) -> bool {
        self.kinds.get(&self.known.kind(shape)).is_some_and(|&n| n >= REFUSALS)
    }

    fn given_up(&self, flow: Flow) -> bool {
        self.tally.get(&flow).is_some_and(|t| t.0 == 0 && t.1 >= HOPELESS)
    }
}

/// The PEs leave a fifth of the LUTs or flip-flops at most: the network decides whether a grid fits.
fn crowded(need: &Resources, limits: &Resources) -> bool {
    5 * need.lut > 4 * limits.lut || 5 * need.ff > 4 * limits.ff
}

/// `f` of every item, on all cores; the results stand in the order of the items.
pub fn at_once<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    items.par_iter().with_max_len(1).map(f).collect()
}

/// The greatest share of any resource, 0 to 1 where it fits.
pub fn share(need: &Resources, have: &Resources) -> f64 {
    let shares = need.counts().into_iter().zip(have.counts()).map(|(n, all)| n as f64 / all.max(1) as f64);
    shares.fold(0.0, f64::max)
}
