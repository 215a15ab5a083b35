//! What does not change during a search: the program's facts, and what follows from them for single nodes. Several
//! cores read it at once.

use crate::branch::products;
use crate::branch::products::Product;
use crate::branch::task::{by_hand, wavefront, Design, Task};
use crate::branch::{Kind, Shape, Widths};
use crate::facts::Facts;
use crate::space::{parts, Grid, Inner, Order, Orders, Sizes, MOST_DIMS};
use array::assemble::SPILL_BEYOND;
use array::contract::walk::MemoryTiming;
use array::kernel::Kernel;
use array::variants;
use array::variants::assemble;
use array::vsa::Vsa;
use cost::board::Resources;
use cost::bound::{Around, Moved, Tiles};
use cost::{predict_below, resources};
use scop::flow;
use scop::{Constraint, ExprKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use uniform::design::DesignSpec;
use uniform::mapping::Plan;
use uniform::program::count;
use uniform::refusal::Illegal;
use uniform::space_time::transform;

/// Of reads and of writes.
const NEARER: i64 = MemoryTiming::IDEAL.read_latency - MemoryTiming::ON_CHIP.read_latency
    + MemoryTiming::IDEAL.write_latency
    - MemoryTiming::ON_CHIP.write_latency;

/// Loops of programs of which statements are looked at over each pair of them.
const PROJECTED: usize = 5;
/// Visits up to which a run is walked before its resources are counted.
const SHORT: i64 = 200;
/// Tiles of a run, at most.
pub(super) const VISITS: i64 = 2_000_000;

pub(super) struct Known<'a> {
    pub program: &'a Kernel<'a>,
    pub spec: &'a DesignSpec,
    pub limits: Resources,
    /// Waves beyond which partial results leave the array, if they ever do.
    pub spill: Option<i64>,
    /// Bits of an address.
    pub address_bits: u32,
    /// Deep memories are UltraRAM.
    pub uram: bool,
    /// Per transform.
    pub facts: Vec<Facts>,
    orders: Vec<Orders>,
    /// Orders far from the program's are left out, in which values wait less long.
    pub near_orders: bool,
    /// Of each statement, if it computes something.
    stands: Vec<Option<Stands>>,
    products: Vec<Vec<Product>>,
    /// Cycles by which a memory on chip, if there is any, is nearer than those that closed forms of bounds count with.
    pub nearer: i64,
    /// Of all PEs that were made so far.
    nodes: AtomicU64,
}

/// Where a statement is executed.
struct Stands {
    iterations: i64,
    /// Least and greatest band coordinates, if each takes all values between.
    spans: Option<Vec<(i64, i64)>>,
    /// Per coordinate: those with equal numbers constrain one another.
    bound: Vec<usize>,
    /// Per pair of coordinates that do, the least one first: where it stands over these two.
    over: BTreeMap<[usize; 2], Vec<Constraint>>,
}

impl Stands {
    fn new(domain: &[Vec<Constraint>], depth: usize) -> Stands {
        let mut bound: Vec<usize> = (0..depth).collect();
        for c in domain.iter().flatten() {
            let together: Vec<usize> = (0..depth).filter(|&d| c.expr.coeffs[d] != 0).map(|d| bound[d]).collect();
            bound.iter_mut().filter(|b| together.contains(b)).for_each(|b| *b = together[0]);
        }
        let plain = domain.len() == 1 && domain.iter().flatten().all(|c| c.expr.coeffs.iter().all(|x| x.abs() <= 1));
        let spans = flow::domain_bounds(domain, depth).filter(|_| plain);
        let coupled = (0..depth)
            .flat_map(|d| (d + 1..depth).map(move |e| [d, e]))
            .filter(|p| plain && depth <= PROJECTED && bound[p[0]] == bound[p[1]]);
        let over = |pair: [usize; 2]| {
            let others: Vec<usize> = (0..depth).filter(|d| !pair.contains(d)).collect();
            let over = flow::projection(&domain[0], &others, depth);
            over.is_convex().then(|| Some((pair, over.pieces.into_iter().next()?)))?
        };
        let over = coupled.filter_map(over).collect();
        Stands { iterations: count(domain, depth), spans, bound, over }
    }

    /// A whole tile of the space loops lies in it.
    fn has_tile(&self, facts: &Facts, shape: &Shape) -> bool {
        let mut axes: Vec<(usize, i64)> = vec![];
        for a in (0..2).filter(|&a| shape.grid.pes[a] > 1) {
            let t = shape.grid.flow.axes[a] as usize;
            let Some(d) = facts.alone(t).filter(|&d| facts.transform[t][d] == 1) else { return false };
            axes.push((d, shape.grid.grain(t) * i64::from(shape.inner[t])));
        }
        axes.sort_unstable();
        let (Some(spans), &[(d, n), (e, m)]) = (&self.spans, &axes[..]) else { return false };
        let Some(domain) = self.over.get(&[d, e]) else { return false };
        let begins = |d: usize, n: i64| [spans[d].0, spans[d].0 + ((spans[d].1 - spans[d].0 + 1) / n - 1).max(0) * n];
        let inside = |x: i64, y: i64| domain.iter().all(|c| c.holds(&[x, y]));
        let whole = |x: i64, y: i64| {
            [(0, 0), (n - 1, 0), (0, m - 1), (n - 1, m - 1)].iter().all(|(dx, dy)| inside(x + dx, y + dy))
        };
        begins(d, n).iter().any(|&x| begins(e, m).iter().any(|&y| whole(x, y)))
    }
}

/// The shapes of a grid.
pub(super) struct Shapes {
    pub shapes: Vec<(i64, Shape)>,
    pub bounds: u64,
    /// The least bound of shapes with more tiles than a search looks at.
    pub dropped: i64,
}

/// What came of a design.
pub(super) enum Evaluated {
    /// And what its PEs take, at least, of that.
    TooBig(Resources, Resources),
    /// Not better than the limit. What it needs, if that was counted; rows that were walked.
    Slow(Option<Resources>, u64),
    Better(Box<Design>, u64),
}

impl Evaluated {
    pub fn need(&self) -> Option<Resources> {
        match self {
            Evaluated::TooBig(need, _) => Some(*need),
            Evaluated::Slow(need, _) => *need,
            Evaluated::Better(design, _) => Some(design.need),
        }
    }
    /// Rows of loads and drains that were walked.
    pub fn rows(&self) -> u64 {
        match self {
            Evaluated::TooBig(..) => 0,
            Evaluated::Slow(_, rows) | Evaluated::Better(_, rows) => *rows,
        }
    }
}

/// Of every transform. A wavefront is one where values wait in every order of the loops otherwise.
fn facts(program: &Kernel) -> Vec<Facts> {
    let mut all: Vec<Facts> = transform::transforms(&program.system).iter().map(|t| Facts::new(program, t)).collect();
    if all[0].always_waits() {
        all.extend(wavefront(program).map(|transform| Facts::of_front(program, &transform)));
    }
    all
}

impl<'a> Known<'a> {
    pub fn new(task: &Task<'a>) -> Known<'a> {
        let (program, spec) = (task.program, task.spec);
        let depth = program.system.dims.len();
        let computes =
            |s: usize| !matches!(program.scop.statements[s].rhs.kind, ExprKind::Const(_) | ExprKind::Read(_));
        Known {
            program,
            spec,
            limits: task.limits,
            // Where sizes tell how long a sum waits, it waits in the array.
            spill: (!program.is_sized()).then(|| spec.wiring.spill_beyond.map_or(SPILL_BEYOND, i64::from)),
            address_bits: spec.wiring.address_bits.unwrap_or(64),
            uram: spec.wiring.uram.unwrap_or(false),
            facts: facts(program),
            orders: vec![],
            near_orders: false,
            nodes: AtomicU64::new(0),
            nearer: if program.on_chip.contains(&true) { NEARER } else { 0 },
            products: products::products(program, spec.arithmetic.dot.unwrap_or_default()),
            stands: program
                .system
                .statements
                .iter()
                .enumerate()
                .map(|(s, p)| computes(s).then(|| Stands::new(&p.domain, depth)))
                .collect(),
        }
    }

    pub fn list_orders(&mut self) {
        self.orders = self.facts.iter().map(Orders::new).collect();
    }

    /// No design of any kind takes fewer cycles.
    pub fn floor(&self) -> i64 {
        self.facts.iter().map(Facts::floor).min().unwrap_or(0)
    }

    pub fn facts_of(&self, grid: &Grid) -> &Facts {
        &self.facts[grid.flow.facts as usize]
    }

    /// PEs that each statement reaches, at least, if it computes something.
    pub fn reached(&self, grid: &Grid) -> Vec<Option<i64>> {
        let of = |stands: &Stands| self.spread(grid, stands, false).max(self.crossed(grid, stands).unwrap_or(1));
        self.stands.iter().map(|s| s.as_ref().map(of)).collect()
    }

    /// Lanes of all PEs that each statement reaches, at least, if it computes something.
    fn lanes_reached(&self, grid: &Grid) -> Vec<Option<i64>> {
        self.stands.iter().map(|s| s.as_ref().map(|stands| self.spread(grid, stands, true))).collect()
    }

    /// PEs, or lanes of all PEs, over which a statement's iterations are spread, at least: each takes so many at most.
    fn spread(&self, grid: &Grid, stands: &Stands, lanes: bool) -> i64 {
        let extent = &self.facts_of(grid).extent;
        let all = grid.pes[0] * grid.pes[1] * if lanes { grid.lanes } else { 1 };
        let along = |d: usize| {
            let iterations = parts(extent[d], grid.grain(d));
            if lanes {
                iterations
            } else {
                (iterations * grid.along(d).1).min(extent[d])
            }
        };
        let volume: i64 = extent.iter().product();
        if stands.iterations >= volume {
            return all;
        }
        (stands.iterations / (0..extent.len()).map(along).product::<i64>().max(1)).clamp(1, all)
    }

    /// PEs that a statement reaches in every array of the grid, at least, where its space loops do not constrain one
    /// another.
    fn crossed(&self, grid: &Grid, stands: &Stands) -> Option<i64> {
        let facts = self.facts_of(grid);
        let places = |(a, d): (usize, usize)| {
            let (lo, hi) = stands.spans.as_ref()?[d];
            let dim = &self.program.system.dims[d];
            // A PE takes at most so many coordinates that follow one another.
            let chunk = parts(dim.hi - dim.lo + 1, grid.pes[a]);
            if (lo, hi) == (dim.lo, dim.hi) {
                Some(grid.pes[a])
            } else {
                Some(((hi - lo + 1) / chunk).clamp(1, grid.pes[a]))
            }
        };
        let axes = (0..2)
            .filter(|&a| grid.pes[a] > 1)
            .map(|a| Some((a, facts.alone(grid.flow.axes[a] as usize)?)))
            .collect::<Option<Vec<_>>>()?;
        let free = axes.len() < 2 || stands.bound[axes[0].1] != stands.bound[axes[1].1];
        axes.into_iter().map(places).try_fold(1, |all, n| Some(all * n?)).filter(|_| free)
    }

    /// Places in a small array at which some of the statements stand, at most.
    pub fn small(&self, grid: &Grid, statements: &BTreeSet<usize>) -> i64 {
        let all = grid.pes[0] * grid.pes[1];
        let single = |stands: &Stands, a: usize| {
            let d = self.facts_of(grid).alone(grid.flow.axes[a] as usize)?;
            stands.spans.as_ref().map(|spans| spans[d].0 == spans[d].1)
        };
        let of = |s: &usize| {
            self.stands[*s].as_ref().map_or(all, |stands| {
                (0..2).map(|a| if single(stands, a) == Some(true) { 1 } else { grid.pes[a] }).product()
            })
        };
        statements.iter().map(of).max().unwrap_or(all)
    }

    /// [`Known::reached`] in arrays of one shape: all PEs where a whole tile lies in the statement's domain.
    pub fn reached_by(&self, shape: &Shape) -> Vec<Option<i64>> {
        let (facts, grid) = (self.facts_of(&shape.grid), &shape.grid);
        let all = grid.pes[0] * grid.pes[1];
        let mut reached = self.reached(grid);
        for (reached, stands) in reached.iter_mut().zip(&self.stands).filter(|(r, _)| r.is_some_and(|n| n < all)) {
            if stands.as_ref().is_some_and(|stands| stands.has_tile(facts, shape)) {
                *reached = Some(all);
            }
        }
        reached
    }

    /// What products of floats take in all PEs of a grid, at least, without a look at one. `reached`: see
    /// [`Known::reached`].
    pub fn multiplied(&self, grid: &Grid, reached: &[Option<i64>]) -> Resources {
        if self.products.iter().all(Vec::is_empty) {
            return Resources::default();
        }
        products::least(&self.products, grid, self.facts_of(grid), reached, &self.lanes_reached(grid))
    }

    /// PEs that every statement reaches, at least.
    pub fn covered(&self, grid: &Grid) -> i64 {
        self.reached(grid).into_iter().flatten().min().unwrap_or(1)
    }

    /// The shapes of a grid below the cap, with their bounds.
    pub fn shapes(&self, key: i64, grid: Grid, cap: i64) -> Shapes {
        let k = grid.flow.facts as usize;
        let facts = &self.facts[k];
        if !facts.cases.is_empty() {
            return self.shapes_by_case(key, grid, cap);
        }
        let depth = facts.extent.len();
        let wide = self.widths_of(k, self.widest(k));
        let options = grid.options(facts, |port| wide[port]);
        let mut least = vec![1i64; depth + 1];
        for d in (0..depth).rev() {
            least[d] = least[d + 1].saturating_mul(options[d].iter().map(|o| o.1).min().unwrap_or(1));
        }
        let (mut loads, mut stores) = (vec![], vec![]);
        let mut found = Shapes { shapes: vec![], bounds: 0, dropped: i64::MAX };
        let mut stack: Vec<(usize, i64, Inner)> = vec![(0, 1, [1; MOST_DIMS])];
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
            facts.transfers(&sizes.tile[..depth], &wide, &mut loads, &mut stores);
            let (run, moved) = (self.tiles(&grid, &sizes), Moved::new(&loads, &stores));
            found.bounds += 1;
            let first = run.compute(&moved).max(key);
            if first >= cap {
                continue;
            }
            if sizes.tiles[..depth].iter().product::<i64>() > VISITS {
                found.dropped = found.dropped.min(first);
                continue;
            }
            let orders = self.orders_in(&grid, sizes.tiled);
            for (n, order) in orders.iter().enumerate().filter(|(_, order)| self.is_worth(order, orders, &grid, &inner))
            {
                found.bounds += 1;
                let interval = order.interval(facts, &grid, &inner);
                let least = run.cycles(&moved, &Around { interval, loads: &order.reload, sums: &order.sums }).max(key);
                if least < cap {
                    found.shapes.push((least, Shape { grid, inner, order: n as u16 }));
                }
            }
        }
        found
    }

    /// [`Grid::cross`], less what a run is spared by memories on chip.
    fn cross(&self, grid: &Grid) -> i64 {
        grid.cross(self.facts_of(grid)) - self.nearer
    }

    fn tiles<'s>(&self, grid: &Grid, sizes: &'s Sizes) -> Tiles<'s> {
        Tiles {
            trips: &sizes.tiles,
            tiled: sizes.tiled,
            waves: sizes.waves,
            cross: self.cross(grid),
            spill: self.spill,
            spread: (0..2).filter(|&a| grid.pes[a] > 1).map(|a| 1 << grid.flow.axes[a]).sum(),
        }
    }

    /// Cycles of a shape over words of these widths, at least, in closed form.
    pub fn bound(&self, shape: &Shape, widths: Widths) -> i64 {
        let facts = self.facts_of(&shape.grid);
        let sizes = self.sizes(shape);
        let widths = self.widths_of(shape.grid.flow.facts as usize, widths);
        let order = self.order(shape);
        if !facts.cases.is_empty() {
            return self.bound_by_case(&shape.grid, &shape.inner, order, &widths);
        }
        let (mut loads, mut stores) = (vec![], vec![]);
        facts.transfers(&sizes.tile[..facts.extent.len()], &widths, &mut loads, &mut stores);
        let interval = order.interval(facts, &shape.grid, &shape.inner);
        self.tiles(&shape.grid, &sizes)
            .cycles(&Moved::new(&loads, &stores), &Around { interval, loads: &order.reload, sums: &order.sums })
    }

    fn sizes(&self, shape: &Shape) -> Sizes {
        shape.grid.sizes(&self.facts_of(&shape.grid).extent, &shape.inner)
    }

    pub fn order(&self, shape: &Shape) -> &Order {
        &self.orders_in(&shape.grid, self.sizes(shape).tiled)[shape.order as usize]
    }

    /// Cycles between two waves of a shape, at least.
    pub fn interval(&self, shape: &Shape) -> i64 {
        self.order(shape).interval(self.facts_of(&shape.grid), &shape.grid, &shape.inner)
    }

    pub fn plan(&self, shape: &Shape) -> Plan {
        shape.plan(self.facts_of(&shape.grid), &self.order(shape).dims)
    }

    /// Whether an order is looked at in shapes of the grid, beside the others of its list.
    pub fn is_worth(&self, order: &Order, all: &[Order], grid: &Grid, inner: &Inner) -> bool {
        let Some(plain) = order.instead else { return true };
        let facts = self.facts_of(grid);
        let interval = |order: &Order| order.interval(facts, grid, inner);
        facts.floats || !self.near_orders && interval(order) < interval(&all[plain as usize])
    }

    /// Orders of a grid's shapes with these tiled dimensions.
    pub fn orders_in(&self, grid: &Grid, tiled: u32) -> &[Order] {
        let k = grid.flow.facts as usize;
        self.orders[k].of(&self.facts[k], tiled)
    }

    /// Orders of a grid's shapes with these inner iterations.
    pub fn orders_of(&self, grid: &Grid, inner: &Inner) -> usize {
        self.orders_in(grid, grid.sizes(&self.facts_of(grid).extent, inner).tiled).len()
    }

    pub fn kind(&self, shape: &Shape) -> Kind {
        let inside =
            (0..self.facts_of(&shape.grid).extent.len()).filter(|&d| shape.inner[d] > 1).fold(0u32, |m, d| m | 1 << d);
        (shape.grid.flow, self.sizes(shape).tiled, inside, shape.order)
    }

    /// Assembles a plan.
    ///
    /// # Errors
    /// Why it is no array for the program.
    pub fn made(&self, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
        self.counted(assemble(self.program, plan, spec))
    }

    /// Assembles a plan, not into its fastest array.
    ///
    /// # Errors
    /// Why it is no array for the program.
    pub fn rough(&self, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
        self.counted(variants::first(self.program, plan, spec))
    }

    fn counted(&self, made: Result<Vsa, Illegal>) -> Result<Vsa, Illegal> {
        self.nodes.fetch_add(made.as_ref().map_or(0, |vsa| vsa.nodes.len() as u64), Ordering::Relaxed);
        made
    }

    /// Of all PEs that were made so far: whoever asks while several are made may get any number.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Ordering::Relaxed)
    }

    /// Assembles a plan, and walks it as long as it takes fewer cycles than the limit.
    ///
    /// # Errors
    /// Why it is no array for the program.
    pub fn evaluate(&self, plan: Plan, words: BTreeMap<String, u32>, limit: i64) -> Result<Evaluated, Box<Illegal>> {
        let mut spec = self.spec.clone();
        spec.wiring.word = words;
        let vsa = self.made(plan.clone(), &spec)?;
        let walk = || predict_below(&vsa, &MemoryTiming::IDEAL, limit);
        // What costs less comes first.
        let walked = (vsa.visits() <= SHORT).then(walk);
        if let Some((None, rows)) = walked {
            return Ok(Evaluated::Slow(None, rows));
        }
        let parts = resources::parts(&vsa);
        let need = parts.total().blocks();
        if !need.fits(&self.limits) {
            return Ok(Evaluated::TooBig(need, resources::floor(parts.pes)));
        }
        let (prediction, rows) = walked.unwrap_or_else(walk);
        let Some(prediction) = prediction else { return Ok(Evaluated::Slow(Some(need), rows)) };
        let words = vsa.arrays.iter().map(|a| (a.name.clone(), a.word)).collect();
        Ok(Evaluated::Better(
            Box::new(Design { array: by_hand(self.program, &plan), plan, words, cycles: prediction.cycles, need, vsa }),
            rows,
        ))
    }
}
