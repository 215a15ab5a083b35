//! Best-first branch and bound: grid → shape → coarse walk → exact walk. The open node with the least bound is next, so
//! when none below the best design is left, that design is the optimum; when the effort runs out, the least open bound says
//! how far off it can be.
//!
//! Effort is counted, never timed, and nodes are ordered by what they are: the same program gives the same array.
//!
//! Source: best-first search as in any text; pruning orders by what they reload as in Odyssey (section 4).

use super::assemble::{assemble, Program};
use super::bound::{self, Transfers};
use super::facts::Facts;
use super::sketch::sketch;
use super::space::{self, Flow, Grid, Order, Orders, Shape, MOST_DIMS, NONE};
use crate::contract::walk::MemoryTiming;
use crate::cost::board::Resources;
use crate::cost::{predict_below, resources};
use crate::io::port;
use crate::ir::design::{Aim, ArrayChoice, DesignSpec, Shape as DesignShape};
use crate::ir::mapping::{DimPlan, Plan};
use crate::ir::refusal::Illegal;
use crate::ir::vsa::Vsa;
use crate::space_time::transform;
use frontend::scop::{BinaryOp, Expr, ExprKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// How much a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Designs assembled.
    pub exact: u64,
    /// Bounds of shapes, in closed form.
    pub bounds: u64,
    /// The search may stop when the best is within this share of the bound.
    pub gap: f64,
}

/// What is sought: the fewest cycles within limits.
pub struct Task<'a> {
    pub program: &'a Program<'a>,
    pub spec: &'a DesignSpec,
    pub limits: Resources,
    /// Band dimensions that must be the space loops.
    pub space: Option<Vec<usize>>,
    /// These grids alone.
    pub only: Option<&'a [Grid]>,
    /// Only designs with fewer cycles are of interest.
    pub below: i64,
    /// Any design with so few cycles will do.
    pub enough: i64,
    pub effort: Effort,
    /// Looks on, and may end the search by `false`.
    pub watch: Option<&'a dyn Fn(&Progress) -> bool>,
}

/// How far a search is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    pub best: Option<i64>,
    pub bound: i64,
    pub counts: Counts,
}

#[derive(Clone, Debug)]
pub struct Design {
    pub plan: Plan,
    /// Elements per bus word, by array.
    pub words: BTreeMap<String, u32>,
    pub cycles: i64,
    pub need: Resources,
    pub vsa: Vsa,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub grids: u64,
    pub bounds: u64,
    pub walks: u64,
    pub exact: u64,
    pub too_big: u64,
    /// Designs below their own bound: a fault of the bound, and none of the design.
    pub violations: u64,
    /// Designs that take less than their bound says; the same kind of fault.
    pub underestimates: u64,
}

pub struct Found {
    pub best: Option<Design>,
    /// No design of the space takes fewer cycles.
    pub bound: i64,
    /// Fewer and fewer cycles: after how many exact designs, cycles, bound then.
    pub trace: Vec<(u64, i64, i64)>,
    pub counts: Counts,
    /// Why designs were refused, and how many.
    pub refused: Vec<(String, u64)>,
    pub illegal: Vec<(Illegal, Plan)>,
}

impl Design {
    /// What builds this array by hand.
    pub fn spec(&self, program: &Program, base: &DesignSpec) -> DesignSpec {
        let name = |d: usize| program.system.dims[d].name.clone();
        let factors = |of: &dyn Fn(&DimPlan) -> Option<i64>| self.plan.dims.iter().enumerate().filter_map(|(d, p)| Some((name(d), of(p)?))).collect();
        let axis = |a: usize| self.plan.dims.iter().position(|d| d.axis == Some(a));
        let shape = DesignShape {
            order: Some(self.plan.order.iter().map(|&d| name(d)).collect()),
            tile: factors(&|p| p.tile),
            latency: factors(&|p| (p.latency > 1).then_some(p.latency)),
            simd: factors(&|p| (p.simd > 1).then_some(p.simd)),
            ..DesignShape::default()
        };
        let space = Some((0..2).filter_map(axis).map(name).collect());
        let mut spec = DesignSpec { aim: Aim::default(), array: ArrayChoice::Plan { space, shape }, ..base.clone() };
        spec.wiring.word = self.words.clone();
        spec
    }
}

impl Found {
    /// Share of the best design's cycles that nobody can be sure it needs.
    pub fn gap(&self) -> f64 {
        self.best.as_ref().map_or(1.0, |b| (b.cycles - self.bound).max(0) as f64 / b.cycles.max(1) as f64)
    }
}

/// Bytes per bus word, by port, as powers of two of four bits each.
type Widths = u64;

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
/// Grids between dives, dives at most, designs tried in each.
const DIVE_EVERY: u64 = 40;
const DIVES: u64 = 40;
const DIVE_TRIES: usize = 4;
/// Shapes of a grid that a dive looks at more closely.
const DIVE_WIDTH: usize = 40;
const LANES_PER_PE: i64 = 64;
/// Coarse walks that an effort allows for each exact one.
const WALKS_PER_DESIGN: u64 = 40;
const VISITS: i64 = 2_000_000;
/// Waves for which a sum may wait in a chain of registers instead of a memory.
const CHAINED: i64 = 64;
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

    /// An incumbent early: the most promising shapes of a grid that fit.
    fn dive(&mut self, shapes: &[(i64, Shape)]) {
        self.dives += 1;
        let mut near = shapes.to_vec();
        near.sort_unstable();
        let mut tried = 0;
        for (key, shape) in near.into_iter().take(DIVE_WIDTH) {
            if tried >= DIVE_TRIES || key >= self.cap() || self.counts.exact >= self.task.effort.exact {
                break;
            }
            if self.is_refused(&shape) {
                continue;
            }
            let k = shape.grid.flow.facts as usize;
            for widths in self.roughly(k) {
                let Some((walked, need)) = self.coarse(&shape, widths) else { break };
                let Some(need) = need else { break };
                if need.fits(&self.task.limits) {
                    tried += 1;
                    self.exact(walked.max(key), shape, widths);
                    break;
                }
            }
        }
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

    /// Simple arrays over every choice of space loops: programs whose loops can be cut in no other way have one of these.
    fn seeds(&mut self) {
        let depth = self.task.program.system.dims.len();
        let singles = (0..depth).map(|a| vec![a]);
        let pairs = (0..depth).flat_map(|a| (a + 1..depth).flat_map(move |b| [vec![a, b], vec![b, a]]));
        let choices: Vec<Vec<usize>> = singles.chain(pairs).filter(|axes| if self.task.space.is_some() { self.allowed(axes) } else { axes.is_sorted() }).collect();
        if self.task.only.is_some() {
            return;
        }
        for k in 0..self.facts.len() {
            for axes in &choices {
                if self.best.is_some() {
                    break;
                }
                for most in [i64::MAX, 64, 16, 4, 1] {
                    let facts = &self.facts[k];
                    let pes: Vec<i64> = axes.iter().map(|&d| facts.extent[d].min(most)).collect();
                    let smaller = most < i64::MAX && axes.iter().all(|&d| facts.extent[d] <= most);
                    if smaller || pes.iter().product::<i64>() > self.task.limits.dsp.max(4096) {
                        continue;
                    }
                    let mut plan = Plan { transform: facts.transform.clone(), dims: vec![DimPlan::default(); depth], order: (0..depth).collect() };
                    for (axis, (&d, &p)) in axes.iter().zip(&pes).enumerate() {
                        plan.dims[d] = DimPlan { tile: Some(p), axis: Some(axis), latency: 1, simd: 1 };
                    }
                    match self.evaluate(plan.clone(), self.task.spec.wiring.word.clone()) {
                        Ok(Some((_, i64::MAX))) => continue,
                        Ok(_) => {}
                        Err(illegal) => self.refuse(illegal, plan),
                    }
                    break;
                }
            }
        }
    }

    /// The best design over words as narrow as they can be without a cycle more.
    fn polish(&mut self) {
        let Some(best) = self.best.take() else { return };
        let mut now = best;
        // Words that hide transfers under waves pass fewer registers than wide ones.
        if let Ok(vsa) = assemble(self.task.program, now.plan.clone(), self.task.spec) {
            let need = resources::estimate(&vsa);
            self.counts.exact += 1;
            if let Some(p) = predict_below(&vsa, &MemoryTiming::IDEAL, now.cycles + 1).filter(|_| need.fits(&self.task.limits)) {
                let words = vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect();
                now = Design { plan: now.plan, words, cycles: p.cycles, need, vsa };
            }
        }
        let arrays: Vec<(Vec<String>, u32)> = (0..now.vsa.ports()).map(|p| (now.vsa.arrays_of(p).map(|a| now.vsa.arrays[a].name.clone()).collect(), now.vsa.arrays_of(p).map(|a| now.vsa.arrays[a].ty.bytes()).max().unwrap_or(4).max(4))).collect();
        for (port, (names, least)) in arrays.into_iter().enumerate() {
            if names.iter().any(|n| self.task.spec.wiring.word.contains_key(n)) {
                continue;
            }
            while now.vsa.bus_bytes(port) > least {
                let half: BTreeMap<String, u32> = now.vsa.arrays.iter().map(|a| (a.name.clone(), if names.contains(&a.name) { a.word / 2 } else { a.word })).collect();
                let mut spec = self.task.spec.clone();
                spec.wiring.word = half.clone();
                let Ok(vsa) = assemble(self.task.program, now.plan.clone(), &spec) else { break };
                let need = resources::estimate(&vsa);
                self.counts.exact += 1;
                match predict_below(&vsa, &MemoryTiming::IDEAL, now.cycles + 1) {
                    Some(p) if need.fits(&self.task.limits) && share(&need, &self.task.limits) <= share(&now.need, &self.task.limits) => {
                        now = Design { plan: now.plan, words: half, cycles: p.cycles, need, vsa };
                    }
                    _ => break,
                }
            }
        }
        self.best = Some(now);
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

    fn sketch(&mut self, shape: &Shape, widths: Widths) -> Option<Vsa> {
        self.counts.walks += 1;
        let plan = self.plan(shape);
        let k = shape.grid.flow.facts as usize;
        sketch(self.task.program, &self.facts[k], &shape.grid, plan, &self.widths_of(k, widths), self.spill)
    }

    /// Cycles of a shape, at least; if these are below the cap, its resources, at least.
    fn coarse(&mut self, shape: &Shape, widths: Widths) -> Option<(i64, Option<Resources>)> {
        let vsa = self.sketch(shape, widths)?;
        let facts = &self.facts[shape.grid.flow.facts as usize];
        let walked = bound::walk(&vsa, bound::cross(facts, &shape.grid), self.cap());
        Some((walked, (walked < self.cap()).then(|| self.resources(shape, &vsa))))
    }

    /// Resources of a shape, at least.
    fn least(&mut self, shape: &Shape, widths: Widths) -> Option<Resources> {
        let vsa = self.sketch(shape, widths)?;
        Some(self.resources(shape, &vsa))
    }

    fn resources(&self, shape: &Shape, vsa: &Vsa) -> Resources {
        let (facts, grid) = (&self.facts[shape.grid.flow.facts as usize], &shape.grid);
        let mut pe = self.pes.get(&(grid.flow, grid.lanes, grid.pes.map(|p| p.min(2)))).copied().unwrap_or_default();
        add(&mut pe, &self.sums(facts, shape));
        let mut need = times(&pe, grid.pes[0] * grid.pes[1]);
        add(&mut need, &resources::network(vsa));
        need
    }

    /// Memories of a PE in which sums wait for their next term.
    fn sums(&self, facts: &Facts, shape: &Shape) -> Resources {
        let [write] = &facts.writes[..] else { return Resources::default() };
        let grid = &shape.grid;
        let spread = (0..2).any(|a| grid.flow.axes[a] != NONE && write.mask >> grid.flow.axes[a] & 1 == 0);
        let depth: i64 = (0..facts.extent.len()).filter(|&d| write.mask >> d & 1 == 1 && grid.is_axis(d)).map(|d| i64::from(shape.inner[d])).product();
        let waits = (0..facts.extent.len()).any(|d| write.mask >> d & 1 == 0 && facts.summed[d] && shape.inner[d] > 1);
        let alone = self.task.program.system.statements.iter().filter(|s| !s.live_out.is_empty()).count() == 1;
        if spread || !waits || !alone || !write.plain || depth <= CHAINED { Resources::default() } else { resources::memory(depth, write.bytes * 8) }
    }

    /// What a PE takes, at least: the least of two small arrays'.
    fn per_pe(&mut self, grid: &Grid) -> Resources {
        let grid = Grid { pes: grid.pes.map(|p| p.min(2)), ..*grid };
        if let Some(known) = self.pes.get(&(grid.flow, grid.lanes, grid.pes)) {
            return *known;
        }
        let k = grid.flow.facts as usize;
        let extent = self.facts[k].extent.clone();
        let mut least: Option<Resources> = None;
        for most in [1, 16] {
            let mut inner = [1; MOST_DIMS];
            for (d, n) in extent.iter().enumerate() {
                let whole = space::parts(*n, grid.grain(d));
                inner[d] = if grid.is_axis(d) { whole.min(most) } else { whole } as u32;
            }
            let orders = { let tiled = grid.sizes(&extent, &inner).tiled; self.orders[k].of(&self.facts[k], tiled).len() };
            for order in 0..orders.min(3) {
                let plan = self.plan(&Shape { grid, inner, order: order as u16 });
                let words = self.words(k, self.widest(k));
                let mut spec = self.task.spec.clone();
                spec.wiring.word = words;
                if let Ok(vsa) = assemble(self.task.program, plan, &spec) {
                    let need = resources::per_pe(&vsa);
                    least = Some(least.map_or(need, |l| least_of(&l, &need)));
                    break;
                }
            }
        }
        let known = least.unwrap_or_default();
        self.pes.insert((grid.flow, grid.lanes, grid.pes), known);
        known
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

    // ---- widths

    fn fixed(&self, k: usize, port: usize) -> Option<i64> {
        let scop = &self.task.program.scop;
        self.facts[k].ports[port].0.iter().find_map(|&a| {
            let array = &scop.arrays[a];
            self.task.spec.wiring.word.get(&array.name).map(|w| i64::from(*w) * i64::from(array.ty.bytes()))
        })
    }

    fn widths(&self, k: usize, of: impl Fn(i64) -> i64) -> Widths {
        let log = |bytes: i64| u64::from(bytes.max(1).ilog2());
        (0..self.facts[k].ports.len().min(16)).map(|p| log(self.fixed(k, p).unwrap_or_else(|| of(self.facts[k].ports[p].1.max(4)))) << (4 * p)).sum()
    }

    fn widest(&self, k: usize) -> Widths {
        self.widths(k, |_| i64::from(port::WIDEST))
    }
    fn narrowest(&self, k: usize) -> Widths {
        self.widths(k, |least| least)
    }
    /// A few choices, from wide to narrow.
    fn roughly(&self, k: usize) -> Vec<Widths> {
        let mut all: Vec<Widths> = [64, 32, 16].into_iter().map(|w| self.widths(k, |least| least.max(w))).collect();
        all.dedup();
        all
    }
    fn widths_of(&self, k: usize, widths: Widths) -> Vec<i64> {
        (0..self.facts[k].ports.len()).map(|p| if p < 16 { 1 << (widths >> (4 * p) & 15) } else { i64::from(port::WIDEST) }).collect()
    }
    fn words(&self, k: usize, widths: Widths) -> BTreeMap<String, u32> {
        let scop = &self.task.program.scop;
        let bytes = self.widths_of(k, widths);
        let ports = self.facts[k].ports.iter().zip(bytes);
        ports.flat_map(|((arrays, _), bytes)| arrays.iter().map(move |&a| (scop.arrays[a].name.clone(), bytes as u32 / scop.arrays[a].ty.bytes()))).collect()
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

fn times(r: &Resources, n: i64) -> Resources {
    Resources { lut: r.lut * n, ff: r.ff * n, dsp: r.dsp * n, bram36: r.bram36 * n, uram: r.uram * n }
}

fn add(to: &mut Resources, r: &Resources) {
    *to = Resources { lut: to.lut + r.lut, ff: to.ff + r.ff, dsp: to.dsp + r.dsp, bram36: to.bram36 + r.bram36, uram: to.uram + r.uram };
}

fn least_of(a: &Resources, b: &Resources) -> Resources {
    Resources { lut: a.lut.min(b.lut), ff: a.ff.min(b.ff), dsp: a.dsp.min(b.dsp), bram36: a.bram36.min(b.bram36), uram: a.uram.min(b.uram) }
}

/// The greatest share of any resource, 0 to 1 where it fits.
pub fn share(need: &Resources, have: &Resources) -> f64 {
    let of = |n: i64, all: i64| n as f64 / all.max(1) as f64;
    [of(need.lut, have.lut), of(need.ff, have.ff), of(need.dsp, have.dsp), of(need.bram36, have.bram36), of(need.uram, have.uram)].into_iter().fold(0.0, f64::max)
}
