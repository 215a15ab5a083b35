//! What the PEs of a grid take, at least, learnt from small arrays.
//!
//! A PE depends on its flow, its lanes and its neighbours, hardly on the size of the array. So the search assembles a
//! *small array* with the same neighbours (three PEs along an axis: the first, one between, the last), counts its PEs
//! by the places where they are, and multiplies. It does so only once a grid is promising: a small array takes as long
//! as [`tuning::BOUNDS_PER_SMALL_ARRAY`] bounds. A shape that turns out too big is remembered with what its PEs really
//! took.

use super::amounts::{between, scaled};
use super::at_once;
use super::coverage::Reached;
use super::model::Model;
use crate::facts::Facts;
use crate::space::{Flow, Grid, Inner, Shape, MOST_DIMS, NONE};
use crate::tuning;
use array::resources::Device;
use array::vsa::{Op, Vsa};
use cost::board::Resources;
use cost::resources;
use cost::resources::ByPlaces;
use std::collections::{BTreeMap, BTreeSet};
use uniform::design::DesignSpec;

/// Lower bounds on PEs.
#[derive(Default)]
pub(super) struct Pes {
    /// PEs of a few small arrays of each kind.
    by_kind: BTreeMap<Kind, Vec<Pe>>,
    /// All PEs of shapes that did not fit over some words.
    by_shape: BTreeMap<Shape, Resources>,
    /// Bounds of shapes that were computed without a small array of the kind.
    without: BTreeMap<Kind, u64>,
    /// Small arrays that this search assembled.
    assembled: usize,
}

/// What small arrays differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    flow: Flow,
    lanes: i64,
    beside: [i64; 2],
    pes: [i64; 2],
}

impl Kind {
    fn of(small: &Grid) -> Kind {
        Kind { flow: small.flow, lanes: small.lanes, beside: small.beside, pes: small.pes }
    }
}

type Pe = ByPlaces<Resources>;

impl Pes {
    /// The same bounds for another search of the program.
    pub fn for_another(self) -> Pes {
        Pes { assembled: 0, ..self }
    }

    /// Without what holds for single shapes only.
    pub fn of_flows(&self) -> Pes {
        Pes { by_kind: self.by_kind.clone(), ..Pes::default() }
    }

    /// So many shapes of a grid were bounded.
    pub fn count_bounds(&mut self, facts: &Facts, grid: &Grid, bounds: u64) {
        let kind = Kind::of(&small(grid, facts));
        if !self.by_kind.contains_key(&kind) {
            *self.without.entry(kind).or_default() += bounds;
        }
    }

    /// A small array of this grid is worth its time by now.
    pub fn are_due(&self, facts: &Facts, grid: &Grid) -> bool {
        self.without.get(&Kind::of(&small(grid, facts))).is_some_and(|n| *n >= tuning::BOUNDS_PER_SMALL_ARRAY)
    }

    /// A design of the shape was counted.
    pub fn has(&self, shape: &Shape) -> bool {
        self.by_shape.contains_key(shape)
    }

    /// Remembers what all PEs of a shape take, whatever its words.
    pub fn remember(&mut self, shape: Shape, all: Resources) {
        self.by_shape.insert(shape, all);
    }

    /// All PEs of a shape.
    pub fn of_shape(&self, model: &Model, shape: &Shape) -> Resources {
        if let Some(all) = self.by_shape.get(shape) {
            return *all;
        }
        let facts = model.facts_of(&shape.grid);
        let need = self.like(&small(&shape.grid, facts), &shape.grid, &model.coverage.pes_of_shape(facts, shape));
        need + sums(model, shape)
    }

    /// The PEs of a shape may fit.
    pub fn may_fit(&self, model: &Model, shape: &Shape) -> bool {
        sums(model, shape).fits(&model.limits) && self.of_shape(model, shape).fits(&model.limits)
    }

    /// All PEs of a grid; `None` without a small array. If products of floats alone are too big, none is needed.
    pub fn of_grid(&self, model: &Model, grid: &Grid) -> Option<Resources> {
        let (reached, products) = model.products(grid);
        if !products.fits(&model.limits) {
            return Some(products);
        }
        let small = small(grid, model.facts_of(grid));
        self.by_kind.contains_key(&Kind::of(&small)).then(|| self.like(&small, grid, &reached))
    }

    /// All PEs of a grid, if they are like those of a small array.
    fn like(&self, small: &Grid, grid: &Grid, reached: &Reached) -> Resources {
        let pes = self.by_kind.get(&Kind::of(small));
        pes.and_then(|pes| pes.iter().map(|pe| multiplied(grid, reached, pe)).reduce(Resources::least))
            .unwrap_or_default()
    }

    /// Assembles the small arrays of these grids that are missing.
    pub fn assemble(&mut self, model: &Model, grids: &[&Grid]) {
        let mut fresh: Vec<Grid> = vec![];
        for grid in grids.iter().filter(|grid| self.of_grid(model, grid).is_none()) {
            let small = small(grid, model.facts_of(grid));
            if !fresh.iter().any(|f| Kind::of(f) == Kind::of(&small)) {
                fresh.push(small);
            }
        }
        self.assembled += fresh.len();
        let found = at_once(&fresh, |grid| per_pe(model, *grid));
        self.by_kind.extend(fresh.iter().map(Kind::of).zip(found));
    }

    /// All PEs of each of these grids, with small arrays of their own.
    pub fn of_each(&mut self, model: &Model, grids: &[&Grid]) -> Vec<Resources> {
        self.assemble(model, grids);
        grids.iter().map(|grid| self.of_grid(model, grid).unwrap_or_default()).collect()
    }

    /// Roughly what all PEs of each of these grids take. After many small arrays: interpolated between few numbers of
    /// lanes, as if tiles and lanes divided every loop.
    pub fn guess(&mut self, model: &Model, grids: &[&Grid]) -> Vec<Resources> {
        if self.assembled < tuning::SMALL_ARRAYS {
            return self.of_each(model, grids);
        }
        let products: Vec<_> = grids.iter().map(|grid| model.products(grid)).collect();
        let samples = |(grid, (_, need)): (&&Grid, &(Reached, Resources))| {
            if need.fits(&model.limits) {
                samples(model.facts_of(grid), grid)
            } else {
                vec![]
            }
        };
        let samples: Vec<Vec<Grid>> = grids.iter().zip(&products).map(samples).collect();
        self.assemble(model, &samples.iter().flatten().collect::<Vec<_>>());
        let of = |((grid, samples), (reached, products)): ((&&Grid, Vec<Grid>), (Reached, Resources))| {
            let all: Vec<Resources> = samples.iter().map(|g| self.like(g, grid, &reached)).collect();
            match (&samples[..], &all[..]) {
                ([a, b], [of_a, of_b]) => between(of_a, of_b, grid.lanes - a.lanes, b.lanes - a.lanes),
                ([a], [of_a]) => scaled(of_a, grid.lanes, a.lanes),
                _ => products,
            }
        };
        grids.iter().zip(samples).zip(products).map(of).collect()
    }
}

/// Small arrays with the nearest sampled numbers of lanes: one if the number is a sample or beyond them, else two.
fn samples(facts: &Facts, grid: &Grid) -> Vec<Grid> {
    let most = facts.extent.get(grid.flow.lanes as usize).copied().unwrap_or(1).min(tuning::LANES_PER_PE);
    let below = tuning::SAMPLED_LANES.into_iter().rfind(|l| *l <= grid.lanes);
    let above = tuning::SAMPLED_LANES.into_iter().find(|l| *l > grid.lanes && *l <= most);
    let lanes = below.into_iter().chain(above.filter(|_| below != Some(grid.lanes)));
    lanes.map(|lanes| Grid { pes: grid.pes.map(|p| p.min(tuning::SMALL_ARRAY)), lanes, ..*grid }).collect()
}

/// A smaller grid whose PEs have the same neighbours. If tiles divide a loop evenly, they still do.
fn small(grid: &Grid, facts: &Facts) -> Grid {
    let along = |a: usize| {
        let pes = grid.pes[a];
        let extent = facts.extent.get(grid.flow.axes[a] as usize).filter(|_| pes > tuning::SMALL_ARRAY);
        let Some(&extent) = extent else { return pes };
        let grain = grid.grain(grid.flow.axes[a] as usize);
        let alike = |n: &i64| extent % grain != 0 || extent % (grain / pes * n) == 0;
        if grain >= extent {
            pes
        } else {
            (tuning::SMALL_ARRAY..pes).find(alike).unwrap_or(pes)
        }
    };
    Grid { pes: [0, 1].map(along), ..*grid }
}

/// All PEs: an operator is at the places that one of its statements reaches, except at borders that do not have it.
fn multiplied(grid: &Grid, reached: &Reached, pe: &Pe) -> Resources {
    let everywhere = reached.iter().flatten().copied().min().unwrap_or(1);
    let mut need = Resources::default();
    for (at, part) in pe {
        let places = at.statements.iter().filter_map(|&s| reached[s]).max().unwrap_or(everywhere);
        let border = grid.pes[0] * grid.pes[1] - (0..2).map(|a| grid.pes[a] - i64::from(at.but[a])).product::<i64>();
        need += *part * (places - border).max(0);
    }
    need
}

/// A PE of a small grid, in arrays with few and with many inner iterations.
fn per_pe(model: &Model, grid: Grid) -> Vec<Pe> {
    let ports = model.ports_of(&grid);
    let options = model.options(&grid);
    let packing = model.assembler.spec_with(ports.words(&ports.widest()));
    let mut plain = packing.clone();
    plain.arithmetic.pack = None;
    let cases: Vec<&[usize]> = model.program.system.cases.iter().map(|case| &case.statements[..]).collect();
    let mut found = vec![];
    for most in tuning::SMALL_ARRAY_INNER {
        let mut inner = [1; MOST_DIMS];
        for (d, options) in options.iter().enumerate() {
            let whole = options.iter().map(|o| o.inner).max().unwrap_or(1);
            inner[d] = if grid.is_axis(d) { whole.min(most) } else { whole };
        }
        let Some(vsa) = small_array(model, grid, inner, &packing) else { continue };
        let most = |s: &BTreeSet<usize>| model.coverage.most(model.facts_of(&grid), &grid, s);
        let need = |vsa: &Vsa| resources::per_pe(vsa, most, &cases);
        if !is_packed(&vsa) {
            found.push(in_slices(model, &grid, need(&vsa)));
            continue;
        }
        found.push(need(&vsa));
        // Packed products take more LUTs, and an array of other sizes may not pack them.
        found.extend(small_array(model, grid, inner, &plain).map(|vsa| need(&vsa)));
    }
    found
}

/// The small array in the first order in which it is legal.
fn small_array(model: &Model, grid: Grid, inner: Inner, spec: &DesignSpec) -> Option<Vsa> {
    let orders = model.orders_in(&grid, grid.sizes(&model.facts_of(&grid).extent, &inner).tiled).len();
    let plan = |order: usize| model.plan(&Shape { grid, inner, order: order as u16 });
    (0..orders.min(tuning::SMALL_ARRAY_ORDERS)).find_map(|order| model.assembler.first(plan(order), spec).ok())
}

fn is_packed(vsa: &Vsa) -> bool {
    vsa.nodes.iter().any(|node| matches!(node.op, Op::Field(..)))
}

/// Products of a small array that were not packed: with other sizes its conditions may allow it.
fn in_slices(model: &Model, grid: &Grid, mut pe: Pe) -> Pe {
    pe.iter_mut().for_each(|(_, need)| need.dsp /= model.in_slice(&grid.flow));
    pe
}

/// Memories of all PEs in which sums wait for their next term.
fn sums(model: &Model, shape: &Shape) -> Resources {
    let facts = model.facts_of(&shape.grid);
    let Some(waiting) = waiting(model, facts, shape).filter(|w| w.depth > tuning::CHAINED_WAVES) else {
        return Resources::default();
    };
    resources::one_memory(waiting.depth, waiting.bits, Device { uram: model.uram, fabric: model.fabric })
        * model.coverage.least(facts, &shape.grid)
}

/// Sums of one PE that wait for their next term.
struct Waiting {
    depth: i64,
    /// Bits of one sum.
    bits: i64,
}

/// The sums of all cells of a tile go on in another tile, and do not go to DRAM in between (`array::pe::spill`): so a PE
/// holds all of its cells.
fn goes_on_in_next_tile(model: &Model, facts: &Facts, shape: &Shape) -> bool {
    let ([write], true) = (&facts.writes[..], facts.classes.is_empty()) else { return false };
    let (sizes, sums) = (model.sizes(shape), model.order(shape).sums[0]);
    let runs_on = |&d: &usize| (sizes.tiled & !write.mask & sums.inside) >> d & 1 == 1 && facts.carried.alone[d];
    if !(0..facts.extent.len()).any(|d| runs_on(&d)) {
        return false;
    }
    sums.outer == 0 || model.spill.is_none_or(|most| sizes.waits(&sums) <= most)
}

/// `None` if the sums are spread over an axis, or do not wait, or are not the only stores.
fn waiting(model: &Model, facts: &Facts, shape: &Shape) -> Option<Waiting> {
    let [write] = &facts.writes[..] else { return None };
    let grid = &shape.grid;
    let moves = |d: usize| write.mask >> d & 1 == 1;
    let spread = (0..2).any(|a| grid.flow.axes[a] != NONE && !moves(grid.flow.axes[a].into()));
    let dims = 0..facts.extent.len();
    let cells = |some: &dyn Fn(usize) -> bool| -> i64 {
        dims.clone().filter(|&d| moves(d) && some(d)).map(|d| i64::from(shape.inner[d])).product()
    };
    let stays = goes_on_in_next_tile(model, facts, shape);
    let depth = if stays { cells(&|_| true) } else { cells(&|d| grid.is_axis(d)) };
    let waits = stays || dims.clone().any(|d| !moves(d) && facts.carried.alone[d] && shape.inner[d] > 1);
    let only = model.program.system.statements.iter().filter(|s| !s.live_out.is_empty()).count() == 1;
    (!spread && waits && only && write.plain).then_some(Waiting { depth, bits: write.bytes * 8 })
}
