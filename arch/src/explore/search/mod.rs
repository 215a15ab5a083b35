//! Best-first branch and bound: grid → shape → coarse walk → exact walk. The open node with the least bound is next, so
//! when none below the best design is left, that design is the optimum; when the effort runs out, the least open bound says
//! how far off it can be.
//!
//! Effort is counted, never timed, and nodes are ordered by what they are: the same program gives the same array.
//!
//! Source: best-first search as in any text; pruning orders by what they reload as in Odyssey (section 4).

mod incumbent;
mod least;
mod task;
mod widths;

pub use task::{Counts, Design, Effort, Found, Progress, Task};

use super::variants::assemble;
use super::bound::{self, Transfers};
use super::facts::Facts;
use super::space::{self, Flow, Grid, Order, Orders, Shape};
use crate::contract::walk::MemoryTiming;
use crate::cost::board::Resources;
use crate::cost::{predict_below, resources};
use crate::explore::space::MOST_DIMS;
use crate::ir::mapping::Plan;
use crate::ir::refusal::Illegal;
use crate::space_time::transform;
use frontend::scop::{BinaryOp, Expr, ExprKind};
use incumbent::{DIVES, DIVE_EVERY};
use least::{least_of, times};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use widths::Widths;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Exact(Shape, Widths),
    Shape(Shape),
    Grid(Grid),
}

/// What decides whether a shape is legal, sizes apart.
type Kind = (Flow, u32, u32, u16);

/// Refusals of one kind after which others of it are not tried.
const REFUSALS: u32 = 3;
/// Refusals of one flow after which, if none of it was legal, it is given up.
const HOPELESS: u32 = 8;
const LANES_PER_PE: i64 = 64;
/// Coarse walks that an effort allows for each exact one.
const WALKS_PER_DESIGN: u64 = 40;
const VISITS: i64 = 2_000_000;
/// Ports whose widths are chosen one by one.
const APART: usize = 3;

struct Search<'a> {
    task: &'a Task<'a>,
    spill: i64,
    facts: Vec<Facts>,
    orders: Vec<Orders>,
    floors: Vec<i64>,
    heap: BinaryHeap<Reverse<(i64, Node)>>,
    seen: BTreeSet<(Shape, Widths)>,
    /// What a PE takes, by flow, lanes, and whether it has neighbours along each axis.
    pes: BTreeMap<(Flow, i64, [i64; 2]), Resources>,
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
    open: i64,
}

/// The best array for the task.
pub fn search(task: &Task) -> Found {
    let mut search = Search::new(task);
    search.seeds();
    let bound = if task.program.system.dims.len() <= MOST_DIMS { search.run() } else { search.floors.iter().copied().min().unwrap_or(0) };
    search.polish();
    let Search { best, counts, trace, refused, illegal, .. } = search;
    Found { best, bound, trace, counts, refused: refused.into_iter().collect(), illegal }
}

/// Every grid that a search would open, with a bound on its cycles, the least first.
pub fn grids(task: &Task) -> Vec<(i64, Grid)> {
    let mut all = Search::new(task).grids();
    all.sort_unstable();
    all
}

impl<'a> Search<'a> {
    fn new(task: &'a Task) -> Search<'a> {
        let facts: Vec<Facts> = transform::transforms(&task.program.system).iter().map(|t| Facts::new(task.program, t)).collect();
        Search {
            spill: task.spec.wiring.spill_beyond.map_or(super::assemble::SPILL_BEYOND, i64::from),
            task,
            orders: vec![],
            floors: facts.iter().map(bound::floor).collect(),
            facts,
            heap: BinaryHeap::new(),
            seen: BTreeSet::new(),
            pes: BTreeMap::new(),
            kinds: BTreeMap::new(),
            tally: BTreeMap::new(),
            axes: BTreeSet::new(),
            refused: BTreeMap::new(),
            illegal: vec![],
            best: None,
            counts: Counts::default(),
            trace: vec![],
            dives: 0,
            open: 0,
        }
    }
}

impl Search<'_> {
    /// Designs from here on are of no interest.
    fn cap(&self) -> i64 {
        self.best.as_ref().map_or(self.task.below, |b| ((b.cycles as f64 * (1.0 - self.task.effort.gap)).ceil() as i64).min(self.task.below))
    }

    fn push(&mut self, key: i64, node: Node) {
        if key < self.cap() {
            self.heap.push(Reverse((key, node)));
        }
    }

    /// The least bound that is open at the end.
    fn run(&mut self) -> i64 {
        self.orders = self.facts.iter().map(Orders::new).collect();
        self.open_grids();
        while let Some(Reverse((key, node))) = self.heap.pop() {
            self.open = key;
            let (effort, counts) = (&self.task.effort, &self.counts);
            let progress = || Progress { best: self.best.as_ref().map(|b| b.cycles), bound: key, counts: self.counts };
            let stopped = self.task.watch.is_some_and(|watch| !watch(&progress()));
            let enough = stopped || self.best.as_ref().is_some_and(|b| b.cycles <= self.task.enough);
            if key >= self.cap() || enough || counts.exact >= effort.exact || counts.bounds >= effort.bounds || counts.walks >= WALKS_PER_DESIGN * effort.exact {
                return key.min(self.best.as_ref().map_or(key, |b| b.cycles));
            }
            match node {
                Node::Grid(grid) => self.grid(key, grid),
                Node::Shape(shape) => self.shape(key, shape),
                Node::Exact(shape, widths) => self.exact(key, shape, widths),
            }
        }
        self.best.as_ref().map_or(self.task.below, |b| b.cycles)
    }

    /// All grids with their bounds.
    fn grids(&self) -> Vec<(i64, Grid)> {
        // A lane that multiplies takes a DSP slice at least; one that does not is bounded by the array's size alone.
        let most = self.task.limits.dsp.max(1) * if self.task.program.scop.statements.iter().any(|s| multiplies(&s.rhs)) { 1 } else { 4 };
        let mut all = vec![];
        for (k, facts) in self.facts.iter().enumerate() {
            for flow in space::flows(facts, k as u8, &|axes| self.allowed(axes)) {
                all.extend(space::grids(facts, flow, most, LANES_PER_PE).into_iter().map(|g| (g.waves(&facts.extent).max(self.floors[k]), g)));
            }
        }
        if let Some(only) = self.task.only {
            all.retain(|g| only.contains(&g.1));
        }
        all
    }

    fn open_grids(&mut self) {
        let all = self.grids();
        self.counts.bounds += all.len() as u64;
        let cap = self.cap();
        self.heap.extend(all.into_iter().filter(|g| g.0 < cap).map(|(key, grid)| Reverse((key, Node::Grid(grid)))));
    }

    fn allowed(&self, axes: &[usize]) -> bool {
        self.task.space.as_ref().is_none_or(|s| s == axes)
    }

    fn grid(&mut self, key: i64, grid: Grid) {
        self.counts.grids += 1;
        if self.given_up(grid.flow) {
            return;
        }
        let pe = self.per_pe(&grid);
        if !times(&pe, grid.pes[0] * grid.pes[1]).fits(&self.task.limits) {
            self.counts.too_big += 1;
            return;
        }
        let shapes = self.shapes(key, grid);
        let fresh = self.axes.insert((grid.flow.facts, grid.flow.axes));
        if fresh || self.best.is_none() || (self.counts.grids % DIVE_EVERY == 1 && self.dives < DIVES) {
            self.dive(&shapes);
        }
        for (key, shape) in shapes {
            self.push(key, Node::Shape(shape));
        }
    }

    /// The shapes of a grid below the cap, with their bounds.
    fn shapes(&mut self, key: i64, grid: Grid) -> Vec<(i64, Shape)> {
        let k = grid.flow.facts as usize;
        let (facts, cap) = (&self.facts[k], self.cap());
        let depth = facts.extent.len();
        let options = grid.options(facts);
        let mut least = vec![1i64; depth + 1];
        for d in (0..depth).rev() {
            least[d] = least[d + 1].saturating_mul(options[d].iter().map(|o| o.1).min().unwrap_or(1));
        }
        let wide = self.widths_of(k, self.widest(k));
        let mut all = vec![];
        let mut stack: Vec<(usize, i64, space::Inner)> = vec![(0, 1, [1; MOST_DIMS])];
        while let Some((d, waves, inner)) = stack.pop() {
            if d < depth {
                for &(size, cost) in &options[d] {
                    let waves = waves.saturating_mul(cost);
                    if waves.saturating_mul(least[d + 1]) < cap {
                        let mut next = inner;
                        next[d] = size;
                        stack.push((d + 1, waves, next));
                    }
                }
                continue;
            }
            let sizes = grid.sizes(&facts.extent, &inner);
            if sizes.tiles[..depth].iter().product::<i64>() > VISITS {
                continue;
            }
            let transfers = Transfers::new(facts, &sizes, &wide);
            for (n, order) in self.orders[k].of(facts, sizes.tiled).iter().enumerate() {
                self.counts.bounds += 1;
                let least = bound::shape(facts, &grid, &sizes, order, &transfers, self.spill).max(key);
                if least < cap {
                    all.push((least, Shape { grid, inner, order: n as u16 }));
                }
            }
        }
        all
    }

    fn shape(&mut self, key: i64, shape: Shape) {
        if self.is_refused(&shape) || self.given_up(shape.grid.flow) {
            return;
        }
        let k = shape.grid.flow.facts as usize;
        let widest = self.widest(k);
        let Some((walked, Some(need))) = self.coarse(&shape, widest) else { return };
        let key = key.max(walked);
        if need.fits(&self.task.limits) {
            return self.push(key, Node::Exact(shape, widest));
        }
        let Some(least) = self.least(&shape, self.narrowest(k)) else { return };
        if least_of(&need, &least).fits(&self.task.limits) {
            self.narrower(key, shape, widest);
        } else {
            self.counts.too_big += 1;
        }
    }

    /// The same shape over narrower words: of one port each, or of all where they are many.
    fn narrower(&mut self, key: i64, shape: Shape, widths: Widths) {
        let k = shape.grid.flow.facts as usize;
        let narrowest = self.narrowest(k);
        let ports = self.facts[k].ports.len().min(16);
        let mut steps: Vec<Widths> = (0..ports).filter(|p| widths >> (4 * p) & 15 > narrowest >> (4 * p) & 15).map(|p| 1 << (4 * p)).collect();
        if ports > APART {
            steps = vec![steps.iter().sum()];
        }
        for step in steps {
            let next = widths - step;
            if step == 0 || !self.seen.insert((shape, next)) {
                continue;
            }
            let facts = &self.facts[k];
            let sizes = shape.grid.sizes(&facts.extent, &shape.inner);
            let transfers = Transfers::new(facts, &sizes, &self.widths_of(k, next));
            let order = self.orders[k].of(facts, sizes.tiled)[shape.order as usize].clone();
            let least = bound::shape(&self.facts[k], &shape.grid, &sizes, &order, &transfers, self.spill).max(key);
            if least >= self.cap() {
                continue;
            }
            if let Some((walked, Some(need))) = self.coarse(&shape, next) {
                if need.fits(&self.task.limits) {
                    self.push(least.max(walked), Node::Exact(shape, next));
                } else {
                    self.narrower(least.max(walked), shape, next);
                }
            }
        }
    }

    fn exact(&mut self, key: i64, shape: Shape, widths: Widths) {
        if self.is_refused(&shape) || self.given_up(shape.grid.flow) {
            return;
        }
        let kind = self.kind(&shape);
        let plan = self.plan(&shape);
        let words = self.words(shape.grid.flow.facts as usize, widths);
        match self.evaluate(plan.clone(), words) {
            Ok(Some((need, cycles))) => {
                self.tally.entry(shape.grid.flow).or_default().0 += 1;
                if self.least(&shape, widths).is_some_and(|least| !least.fits(&need)) {
                    self.counts.underestimates += 1;
                }
                if !need.fits(&self.task.limits) {
                    self.narrower(key, shape, widths);
                } else if cycles < key {
                    self.counts.violations += 1;
                }
            }
            Ok(None) => self.tally.entry(shape.grid.flow).or_default().0 += 1,
            Err(illegal) => {
                *self.kinds.entry(kind).or_default() += 1;
                self.tally.entry(shape.grid.flow).or_default().1 += 1;
                self.refuse(illegal, plan);
            }
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

    /// Assembles and walks a plan; keeps it if it is better. Resources and cycles, where these are below the best.
    fn evaluate(&mut self, plan: Plan, words: BTreeMap<String, u32>) -> Result<Option<(Resources, i64)>, Illegal> {
        self.counts.exact += 1;
        let mut spec = self.task.spec.clone();
        spec.wiring.word = words;
        let vsa = assemble(self.task.program, plan.clone(), &spec)?;
        let need = resources::estimate(&vsa);
        if !need.fits(&self.task.limits) {
            self.counts.too_big += 1;
            return Ok(Some((need, i64::MAX)));
        }
        let limit = self.best.as_ref().map_or(self.task.below, |b| b.cycles.min(self.task.below));
        let Some(prediction) = predict_below(&vsa, &MemoryTiming::IDEAL, limit) else { return Ok(None) };
        self.trace.push((self.counts.exact, prediction.cycles, self.open));
        let words = vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect();
        self.best = Some(Design { plan, words, cycles: prediction.cycles, need, vsa });
        Ok(Some((need, prediction.cycles)))
    }

    // ---- parts of nodes

    fn plan(&mut self, shape: &Shape) -> Plan {
        let order = self.order(shape).dims.clone();
        shape.plan(&self.facts[shape.grid.flow.facts as usize], &order)
    }

    fn order(&mut self, shape: &Shape) -> &Order {
        let k = shape.grid.flow.facts as usize;
        let facts = &self.facts[k];
        let tiled = shape.grid.sizes(&facts.extent, &shape.inner).tiled;
        &self.orders[k].of(facts, tiled)[shape.order as usize]
    }

    fn kind(&mut self, shape: &Shape) -> Kind {
        let facts = &self.facts[shape.grid.flow.facts as usize];
        let tiled = shape.grid.sizes(&facts.extent, &shape.inner).tiled;
        let inside = (0..facts.extent.len()).filter(|&d| shape.inner[d] > 1).fold(0u32, |m, d| m | 1 << d);
        (shape.grid.flow, tiled, inside, shape.order)
    }

    fn is_refused(&mut self, shape: &Shape) -> bool {
        let kind = self.kind(shape);
        self.kinds.get(&kind).is_some_and(|&n| n >= REFUSALS)
    }

    fn given_up(&self, flow: Flow) -> bool {
        self.tally.get(&flow).is_some_and(|t| t.0 == 0 && t.1 >= HOPELESS)
    }
}

/// Values that both change are multiplied.
fn multiplies(e: &Expr) -> bool {
    let constant = |e: &Expr| matches!(e.kind, ExprKind::Const(_));
    let own = match &e.kind {
        ExprKind::Fma(..) => true,
        ExprKind::Binary(BinaryOp::Mul, a, b) => !constant(a) && !constant(b),
        _ => false,
    };
    own || e.operands().into_iter().any(multiplies)
}

/// The greatest share of any resource, 0 to 1 where it fits.
pub fn share(need: &Resources, have: &Resources) -> f64 {
    let of = |n: i64, all: i64| n as f64 / all.max(1) as f64;
    [of(need.lut, have.lut), of(need.ff, have.ff), of(need.dsp, have.dsp), of(need.bram36, have.bram36), of(need.uram, have.uram)].into_iter().fold(0.0, f64::max)
}
