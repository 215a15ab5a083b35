//! Best-first branch and bound over designs.
//!
//! **Problem.** Find the design with the fewest cycles within the limits of the board, and prove how far from the best
//! it may be. The space (`crate::space`) has up to 10^12 designs; assembling one takes milliseconds.
//!
//! **Terms.** A *node* is a set of designs with a *bound*: no design in it takes fewer cycles. The *frontier* holds the
//! open nodes. The *incumbent* is the best design so far; its cycles, less the gap that the user allows, are the *cap*.
//!
//! **Method.** The node with the least bound is expanded next. Each kind of node has a tighter and costlier bound than
//! the one before:
//!
//! | node | set of designs | its bound | expanded into |
//! | --- | --- | --- | --- |
//! | grid | all with these PEs and lanes | waves of the whole problem | shapes ([`closed`], [`by_case`]) |
//! | shape | one tiling and order of loops | closed form | the widest words that may fit ([`fitting`]) |
//! | widest | these words, or narrower ones without more beats | coarse walk ([`least`]) | designs |
//! | design | one | coarse walk | assembled and walked exactly ([`assembler`]) |
//!
//! Nodes that do not fit by a lower bound on their resources ([`pes`], [`coverage`], [`products`], [`least`]) are cut
//! off, too. [`heuristics`] find good incumbents early: the lower the cap, the more is cut off.
//!
//! **Invariants.** No bound exceeds the cycles of a design in its node; `violations` counts the exceptions, and tests
//! demand zero. Whatever is left out without a proof leaves its bound in `dropped`, so the reported bound stays true.
//! Effort is counted, never timed ([`budget`]), and equal bounds are ordered by what their nodes are. Several cores
//! expand a few nodes of one kind together, always as many: the same program gives the same array on any number of
//! cores.
//!
//! **Example.** A product of 64×64 matrices of `int16_t` within 256 DSP slices. 64³ products on 256 multipliers take at
//! least 1024 waves, which bounds every grid of 256 lanes. The search bounds 36,716 shapes in closed form, walks 1,321
//! of them coarsely and assembles 466 designs. The best one (4×2 PEs with 32 lanes) takes 1143 cycles; when no open
//! node has a bound below 1143, it is proved optimal.
//!
//! Source: best-first search as in any textbook; pruning of loop orders by what they reload as in Odyssey (section 4).

mod amounts;
mod assembler;
mod audit;
mod budget;
mod by_case;
mod closed;
mod coverage;
mod fitting;
mod frontier;
mod heuristics;
mod incumbent;
mod least;
mod likely;
mod model;
mod network;
mod packing;
mod pes;
mod products;
mod refusals;
mod task;
pub mod widths;

pub use amounts::{share, share_of};
pub use audit::{audit, rates, Audited, Rates};
pub use frontier::Bounded;
pub use heuristics::{Heuristic, Run, BEST_FIRST, HEURISTICS};
pub use network::{network, Layer, Network, Shared};
pub(super) use task::options_of;
pub use task::{Counts, Design, Effort, Found, Progress, Smaller, Step, Task};

use crate::space;
use crate::space::{Flow, Grid, Packing, Shape, MOST_DIMS};
use crate::{threads, tuning};
use assembler::Outcome;
use budget::{Budget, Spent};
use cost::board::Resources;
use cost::Allowed;
use fitting::Fitting;
use frontier::{Frontier, Node};
use heuristics::Dives;
use incumbent::Incumbent;
use model::Model;
use pes::Pes;
use rayon::prelude::*;
use refusals::Refusals;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use task::Proposal;
use uniform::mapping::Plan;
use uniform::refusal::Illegal;

/// The state of one search.
pub struct Search<'a> {
    task: &'a Task<'a>,
    model: Model<'a>,
    frontier: Frontier<Node>,
    /// The grids that every pass opens, the least bound first.
    listed: Vec<Bounded<Grid>>,
    incumbent: Incumbent,
    budget: Budget,
    refusals: Refusals,
    pes: Pes,
    dives: Dives,
    counts: Counts,
    /// The bound of the node that is being expanded.
    open: i64,
    /// The least bound of what was left out without a proof.
    dropped: i64,
    /// No design takes fewer cycles, says the finished search.
    bound: i64,
    /// The heuristic that is running.
    by: &'static str,
}

/// What searches found out about the PEs of a few programs, for later searches of the same programs: no limits change
/// that.
#[derive(Default)]
pub struct Learned(Mutex<BTreeMap<usize, Pes>>);

impl Learned {
    /// [`search`] of the program with this number. Several at once must have different numbers.
    pub fn search(&self, number: usize, task: &Task) -> Found {
        let pes = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&number).unwrap_or_default();
        let (found, pes) = search_with(task, pes);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(number, pes);
        found
    }

    /// What holds for the first program with its arrays in other layouts.
    pub fn in_other_layouts(&self) -> Learned {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Learned(Mutex::new(all.get(&0).map(|pes| (0, pes.of_flows())).into_iter().collect()))
    }
}

/// The best array for the task.
pub fn search(task: &Task) -> Found {
    search_with(task, Pes::default()).0
}

/// [`search`] with bounds on the PEs of the task's program, and these bounds afterwards.
fn search_with(task: &Task, pes: Pes) -> (Found, Pes) {
    let mut search = Search { pes: pes.for_another(), ..Search::new(task) };
    heuristics::at_start(&mut search);
    search.bound = if task.program.system.dims.len() <= MOST_DIMS {
        search.run().min(search.dropped)
    } else {
        search.model.floor()
    };
    heuristics::at_end(&mut search);
    search.counts.work = search.budget.work(&search.spent());
    // Arrays dealt out are outside of the space that was searched, and may take fewer cycles than was proved for it.
    let bound = search.incumbent.cycles().map_or(search.bound, |cycles| cycles.min(search.bound));
    let Search { mut incumbent, refusals, counts, pes, .. } = search;
    let found = Found {
        best: incumbent.take(),
        runners_up: incumbent.runners_up(),
        passed: vec![],
        smaller: vec![],
        bound,
        trace: incumbent.trace,
        counts,
        refused: refusals.by_reason.into_iter().collect(),
        illegal: refusals.first,
        nearest: refusals.nearest,
    };
    (found, pes)
}

/// Every grid that a search would open, with a bound on its cycles, the least first.
pub fn grids(task: &Task) -> Vec<Bounded<Grid>> {
    Search::new(task).grids()
}

impl<'a> Search<'a> {
    fn new(task: &'a Task) -> Search<'a> {
        let model = Model::new(task);
        let accesses = model.facts[0].reads.len() + model.facts[0].writes.len();
        Search {
            task,
            model,
            frontier: Frontier::new(),
            listed: vec![],
            incumbent: Incumbent::new(task),
            budget: Budget::new(task.effort, accesses),
            refusals: Refusals::default(),
            pes: Pes::default(),
            dives: Dives::default(),
            counts: Counts::default(),
            open: 0,
            dropped: i64::MAX,
            bound: 0,
            by: BEST_FIRST,
        }
    }
}

impl Search<'_> {
    /// The least bound that is open at the end. If products may share DSP slices, arrays in which none do come first, with
    /// an effort of their own: they are fewer, and the best of them cuts off most of the others.
    fn run(&mut self) -> i64 {
        self.model.list_orders();
        if self.model.packed > 1 {
            self.model.apart = true;
            self.list_grids();
            self.run_pass_by_pass();
            self.model.apart = false;
            self.budget.grant_again(&self.spent());
            self.begin_again();
            self.dropped = i64::MAX;
        }
        self.list_grids();
        self.run_pass_by_pass()
    }

    /// Forgets all but the incumbent and what PEs take.
    fn begin_again(&mut self) {
        self.frontier = Frontier::new();
        self.dives.restart();
        self.refusals.forget();
    }

    /// The least bound that is open at the end. If values wait for operators of floats, a part of the effort goes to
    /// all orders of the loops, most of it to the orders nearest to the program's (most shapes have waves enough, and
    /// other orders take memory), and another part to all orders again: behind the incumbent found by then, more is
    /// proved.
    fn run_pass_by_pass(&mut self) -> i64 {
        if !self.model.facts.iter().any(|facts| facts.carried.waits()) {
            return self.pass();
        }
        let mut open = 0;
        for (near, parts) in [(false, 1), (true, tuning::NEAR_PARTS), (false, 1)] {
            self.model.near_orders = near;
            self.budget.grant(parts, &self.spent());
            self.begin_again();
            let least = self.pass();
            open = if near { open } else { least.max(open) };
            if !self.incumbent.is_none() && open >= self.incumbent.cap() || self.has_enough(open) {
                break;
            }
        }
        open
    }

    /// Best first from the grids on. The least bound that is open at the end.
    fn pass(&mut self) -> i64 {
        self.open_grids();
        while let Some(Bounded { bound, of: node }) = self.frontier.pop() {
            self.open = bound;
            if bound >= self.incumbent.cap() || self.has_enough(bound) || self.is_spent() {
                // It is still open.
                self.frontier.push(bound, node);
                return self.incumbent.cycles().map_or(bound, |cycles| cycles.min(bound));
            }
            match node {
                Node::Grid(grid) => {
                    let all = self.frontier.batch(Bounded::new(bound, grid), tuning::GRIDS_TOGETHER, Node::grid);
                    self.expand_grids(all);
                }
                Node::Shape(shape) => {
                    let all = self.frontier.batch(Bounded::new(bound, shape), tuning::SHAPES_TOGETHER, Node::shape);
                    self.expand_shapes(all);
                }
                Node::Widest(widest) => {
                    let all = self.frontier.batch(Bounded::new(bound, widest), tuning::DESIGNS_TOGETHER, Node::widest);
                    self.expand_widest(all);
                }
                Node::Design(design) => {
                    let all = self.frontier.batch(Bounded::new(bound, design), tuning::DESIGNS_TOGETHER, Node::design);
                    self.evaluate(all);
                }
            }
        }
        self.incumbent.cap()
    }

    fn spent(&self) -> Spent {
        let assembler = &self.model.assembler;
        let (nodes, tiles) = (assembler.nodes(), assembler.tiles());
        Spent { counts: self.counts, nodes, tiles, compared: self.model.coverage.compared() }
    }

    /// What the walk of one more design may take.
    fn allowed(&self, cycles: i64) -> Allowed {
        Allowed { cycles, work: self.budget.walk(&self.spent(), !self.incumbent.is_none()) }
    }

    fn is_spent(&self) -> bool {
        self.budget.is_spent(&self.spent(), !self.incumbent.is_none())
    }

    /// The incumbent is as good as the task wants it, or the watcher ends the search.
    fn has_enough(&self, bound: i64) -> bool {
        let progress = Progress { best: self.incumbent.cycles(), bound, counts: self.counts };
        let stopped = self.task.watch.is_some_and(|watch| !watch(&progress));
        stopped || self.incumbent.cycles().is_some_and(|cycles| cycles <= self.task.enough)
    }

    fn push(&mut self, bound: i64, node: Node) {
        if bound < self.incumbent.cap() {
            self.frontier.push(bound, node);
        }
    }

    /// Pushes a node to which several others may lead.
    fn push_once(&mut self, bound: i64, node: Node) {
        if self.frontier.is_new(node.clone()) {
            self.push(bound, node);
        }
    }

    /// The user allows so many PEs and lanes.
    fn is_within(&self, grid: &Grid) -> bool {
        self.task.spec.aim.grid.is_none_or(|most| most.holds(grid.pes, grid.all_lanes()))
    }

    /// All grids, the least bound first.
    fn grids(&self) -> Vec<Bounded<Grid>> {
        let most = |flow: &Flow| self.model.most_lanes(flow);
        let mut all = vec![];
        for (k, facts) in self.model.facts.iter().enumerate() {
            let floor = facts.floor();
            let packings = if self.model.apart { &[][..] } else { &self.model.packings[k] };
            let flows = space::flows(facts, k as u8, packings, &|axes| self.allows(axes));
            let extents: [&[i64]; 1] = [&facts.extent];
            let is_possible = |g: &Grid| {
                flows.contains(&g.flow) && g.peak() <= most(&g.flow) && !g.is_line(&extents) && self.is_within(g)
            };
            let grids: Vec<Grid> = match self.task.only {
                Some(only) => only.iter().copied().filter(is_possible).collect(),
                None => flows
                    .into_iter()
                    .flat_map(|flow| {
                        space::grids(&extents, flow, beside(packings, &flow), most(&flow), tuning::LANES_PER_PE)
                    })
                    .filter(|g| self.is_within(g))
                    .collect(),
            };
            all.par_extend(grids.into_par_iter().map(|g| Bounded::new(g.waves(facts).max(floor), g)));
        }
        all.par_sort_unstable();
        all
    }

    /// Lists the grids that may fit by their products, for all passes: programs in phases have so many that a pass may
    /// not afford it.
    fn list_grids(&mut self) {
        let all = self.grids();
        self.counts.bounds += all.len() as u64;
        let cap = self.incumbent.cap();
        let below: Vec<Bounded<Grid>> = all.into_iter().filter(|g| g.bound < cap).collect();
        let fits = |g: &&Bounded<Grid>| self.model.products(&g.of).1.fits(&self.model.limits);
        self.listed = below.par_iter().filter(fits).copied().collect();
        self.counts.too_big += (below.len() - self.listed.len()) as u64;
        self.dives.forget_guesses();
    }

    fn open_grids(&mut self) {
        let listed = std::mem::take(&mut self.listed);
        let below = |all: &[Bounded<Grid>], cap| all.partition_point(|g| g.bound < cap);
        heuristics::on_grids(self, &listed[..below(&listed, self.incumbent.cap())]);
        for grid in &listed[..below(&listed, self.incumbent.cap())] {
            self.frontier.push(grid.bound, Node::Grid(grid.of));
        }
        self.listed = listed;
    }

    /// The user allows these space loops.
    fn allows(&self, axes: &[usize]) -> bool {
        self.task.space.as_ref().is_none_or(|s| s == axes)
    }

    /// Grids to shapes.
    fn expand_grids(&mut self, all: Vec<Bounded<Grid>>) {
        self.counts.grids += all.len() as u64;
        let (given_up, all): (Vec<_>, Vec<_>) = all.into_iter().partition(|g| self.refusals.gives_up(g.of.flow));
        self.dropped = given_up.into_iter().map(|g| g.bound).fold(self.dropped, i64::min);
        // If there is something to beat, most grids have no shape that does, so small arrays of them can wait.
        let is_due =
            |grid: &Grid| self.incumbent.cap() == i64::MAX || self.pes.are_due(self.model.facts_of(grid), grid);
        let due: Vec<&Grid> = all.iter().map(|g| &g.of).filter(|grid| is_due(grid)).collect();
        self.pes.assemble(&self.model, &due);
        let fits = self.fit(&all);
        let open: Vec<Bounded<Grid>> = all.into_iter().zip(fits).filter(|(_, fits)| *fits).map(|(g, _)| g).collect();
        let (model, cap) = (&self.model, self.incumbent.cap());
        let shapes = at_once(&open, |grid| closed::shapes(model, grid, cap));
        let is_late = |grid: &Grid| self.pes.of_grid(model, grid).is_none();
        let late = open.iter().zip(&shapes).filter(|(grid, found)| is_late(&grid.of) && !found.shapes.is_empty());
        let late: Vec<Bounded<Grid>> = late.map(|(grid, _)| *grid).collect();
        self.pes.assemble(model, &late.iter().map(|g| &g.of).collect::<Vec<_>>());
        let fits = self.fit(&late);
        let too_big: BTreeSet<Grid> = late.into_iter().zip(fits).filter(|(_, fits)| !fits).map(|(g, _)| g.of).collect();
        for (grid, found) in open.iter().map(|g| g.of).zip(shapes) {
            self.counts.bounds += found.bounds;
            self.pes.count_bounds(self.model.facts_of(&grid), &grid, found.bounds);
            if too_big.contains(&grid) {
                continue;
            }
            self.dropped = self.dropped.min(found.dropped);
            heuristics::on_shapes(self, &grid, &found.shapes);
            for shape in found.shapes {
                self.push(shape.bound, Node::Shape(shape.of));
            }
            if let Some(bound) = self.frontier.shorten() {
                self.leave_out(bound);
            }
        }
    }

    /// Whether each of these grids may fit, by what is known of its PEs.
    fn fit(&mut self, all: &[Bounded<Grid>]) -> Vec<bool> {
        let (model, pes, limits) = (&self.model, &self.pes, &self.model.limits);
        let fits = at_once(all, |grid| {
            let Some(need) = pes.of_grid(model, &grid.of) else { return true };
            if !need.fits(limits) || !is_crowded(&need, limits) {
                return need.fits(limits);
            }
            (need + least::narrowest_network(model, &grid.of)).fits(limits)
        });
        self.counts.too_big += fits.iter().filter(|fits| !**fits).count() as u64;
        fits
    }

    /// Shapes to the widest words over which they may fit.
    fn expand_shapes(&mut self, mut all: Vec<Bounded<Shape>>) {
        all.retain(|shape| self.is_worth(shape.bound, &shape.of));
        let (model, pes, cap) = (&self.model, &self.pes, self.incumbent.cap());
        let found = at_once(&all, |shape| fitting::widest(model, shape, pes, cap));
        for (shape, found) in all.into_iter().zip(found) {
            self.counts.too_big += u64::from(found.widths.is_empty() && found.too_big);
            self.push_widest(shape.of, found);
        }
    }

    fn push_widest(&mut self, shape: Shape, found: Fitting) {
        self.counts.walks += found.walks;
        for Bounded { bound, of: widths } in found.widths {
            self.push_once(bound, Node::Widest(Proposal { shape, widths }));
        }
    }

    /// Shapes that are next to be built, to designs over all words that are worth it.
    fn expand_widest(&mut self, mut all: Vec<Bounded<Proposal>>) {
        all.retain(|widest| self.is_worth(widest.bound, &widest.of.shape));
        let model = &self.model;
        let found = at_once(&all, |widest| fitting::tight(model, &widest.of));
        for (Bounded { bound, of: Proposal { shape, .. } }, tight) in all.into_iter().zip(found) {
            self.dropped = if tight.complete { self.dropped } else { self.dropped.min(bound) };
            for widths in tight.widths {
                let least = closed::cycles(&self.model, &shape, &widths).max(bound);
                self.push_once(least, Node::Design(Proposal { shape, widths }));
            }
        }
    }

    /// Shapes like this one were not refused too often. If they were, the bound stays open: legality may depend on
    /// sizes.
    fn is_worth(&mut self, bound: i64, shape: &Shape) -> bool {
        if !self.is_within(&shape.grid) {
            return false;
        }
        let worth = !self.refusals.gives_up(shape.grid.flow) && !self.refusals.skips(&self.model.kind(shape));
        if !worth {
            self.dropped = self.dropped.min(bound);
        }
        worth
    }

    /// Assembles designs and walks them.
    fn evaluate(&mut self, mut all: Vec<Bounded<Proposal>>) {
        all.retain(|design| self.is_worth(design.bound, &design.of.shape));
        all.retain(|design| self.still_fits(design));
        let (model, allowed, pes) = (&self.model, self.allowed(self.incumbent.limit()), &self.pes);
        let outcomes = at_once(&all, |design| {
            let Proposal { shape, widths } = &design.of;
            let words = model.ports_of(&shape.grid).words(widths);
            let outcome = model.assembler.evaluate(model.plan(shape), words, allowed);
            (outcome, least::need(model, shape, widths, pes))
        });
        let mut too_big = vec![];
        for (design, (outcome, least)) in all.into_iter().zip(outcomes) {
            match outcome {
                Err(illegal) => self.refuse(&design.of.shape, *illegal),
                Ok(outcome) => self.take(design, outcome, least, &mut too_big),
            }
        }
        self.narrow(&too_big);
    }

    fn refuse(&mut self, shape: &Shape, illegal: Illegal) {
        self.counts.refused += 1;
        self.refusals.count_illegal(self.model.kind(shape));
        self.refusals.explain(self.task.program, illegal, self.model.plan(shape));
    }

    /// Counts what came of a legal design. `least`: its bound of resources.
    fn take(
        &mut self,
        design: Bounded<Proposal>,
        outcome: Outcome,
        least: Option<Resources>,
        too_big: &mut Vec<Bounded<Proposal>>,
    ) {
        let shape = design.of.shape;
        self.refusals.count_legal(shape.grid.flow);
        self.counts.exact += 1;
        self.counts.rows += outcome.work();
        if let Some(need) = outcome.need() {
            self.dives.count_share(&shape.grid, share(&need, &self.task.limits));
            self.counts.underestimates += u64::from(least.is_some_and(|l| !l.fits(&need)));
        }
        match outcome {
            Outcome::TooBig { need, pes } => {
                self.count_too_big(&need);
                self.pes.remember(shape, pes);
                too_big.push(design);
            }
            Outcome::Slow { .. } => {}
            Outcome::Long { .. } => self.leave_out(design.bound),
            Outcome::Better { design: better, .. } => {
                self.counts.violations += u64::from(better.cycles < design.bound);
                self.offer(*better);
            }
        }
    }

    /// A legal design does not fit.
    fn count_too_big(&mut self, need: &Resources) {
        self.counts.too_big += 1;
        self.refusals.too_big(need, &self.task.limits);
    }

    /// Makes a design the incumbent if it is better.
    fn offer(&mut self, design: Design) {
        let (designs, bound, by) = (self.counts.exact, self.open, self.by);
        self.incumbent.offer(design, |cycles| Step { designs, cycles, bound, by });
    }

    /// A design with this bound is left out without a proof.
    fn leave_out(&mut self, bound: i64) {
        self.dropped = self.dropped.min(bound);
    }

    /// Assembles a plan over the words that the user fixes, and offers it. `Ok(false)`: it is too big.
    fn try_plan(&mut self, plan: Plan) -> Result<bool, Box<Illegal>> {
        self.counts.exact += 1;
        let words = self.task.spec.wiring.word.clone();
        let outcome = self.model.assembler.evaluate(plan, words, self.allowed(self.incumbent.limit()))?;
        self.counts.rows += outcome.work();
        match outcome {
            Outcome::TooBig { need, .. } => {
                self.count_too_big(&need);
                return Ok(false);
            }
            // The bounds of grids hold for it.
            Outcome::Slow { .. } | Outcome::Long { .. } => {}
            Outcome::Better { design, .. } => self.offer(*design),
        }
        Ok(true)
    }

    /// The shape fits by what is known of its PEs by now. If it does not, it may over narrower words.
    fn still_fits(&mut self, design: &Bounded<Proposal>) -> bool {
        let Proposal { shape, widths } = &design.of;
        let fits = !self.pes.has(shape)
            || least::need(&self.model, shape, widths, &self.pes).is_some_and(|need| need.fits(&self.model.limits));
        if !fits {
            self.counts.too_big += 1;
            self.narrow(std::slice::from_ref(design));
        }
        fits
    }

    /// Pushes shapes that do not fit over some words, over narrower ones.
    fn narrow(&mut self, all: &[Bounded<Proposal>]) {
        let (model, pes, cap) = (&self.model, &self.pes, self.incumbent.cap());
        let found = at_once(all, |design| {
            fitting::narrower(model, design.bound, &design.of.shape, &design.of.widths, pes, cap)
        });
        for (design, found) in all.iter().zip(found) {
            self.push_widest(design.of.shape, found);
        }
    }
}

/// Lanes of a flow whose products share slices.
fn beside(packings: &[Packing], flow: &Flow) -> [i64; 2] {
    packings.iter().find(|p| p.dims == flow.beside).map_or(Packing::NO.lanes, |p| p.lanes)
}

/// The PEs leave so little of the LUTs or flip-flops that the network decides whether a grid fits.
fn is_crowded(need: &Resources, limits: &Resources) -> bool {
    let crowded = |need: i64, limit: i64| 100 * need > tuning::CROWDED_PERCENT * limit;
    crowded(need.lut, limits.lut) || crowded(need.ff, limits.ff)
}

/// `f` of every item, on all cores that have no other search; the results are in the order of the items.
pub fn at_once<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if threads::are_all_busy() {
        return items.iter().map(f).collect();
    }
    items.par_iter().with_max_len(1).map(f).collect()
}
