//! One array for several programs of one form, such as the layers of a neural network: the grid on which all of them
//! together take the fewest cycles.
//!
//! Best first, as for one program. A grid is bounded by its waves, then by each layer's best shape in closed form; then
//! every layer is searched on it, with more and more effort. A layer that needs fewer PEs for as few waves uses a
//! corner of the grid.

use super::closed;
use super::frontier::{Bounded, Frontier};
use super::model::Model;
use super::{at_once, search, Counts, Design, Effort, Grid, Learned, Progress, Resources, Task};
use crate::facts::Facts;
use crate::space;
use crate::space::{parts, Flow, Packing, NONE};
use crate::tuning;
use array::kernel::Kernel;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use uniform::design::DesignSpec;
use uniform::mapping::{row_name, DimPlan};

/// One program of the network.
pub struct Layer<'a> {
    pub program: &'a Kernel<'a>,
    /// How often it runs.
    pub times: i64,
}

/// Find the array on which all layers together take the fewest cycles, each within the limits.
pub struct Network<'a> {
    pub layers: &'a [Layer<'a>],
    pub spec: &'a DesignSpec,
    pub limits: Resources,
    /// Dimensions that must be the space loops.
    pub space: Option<Vec<usize>>,
    pub effort: Effort,
    /// Is told the progress; `false` ends the search.
    pub watch: Option<&'a (dyn Fn(&Progress) -> bool + Sync)>,
}

/// The best array for a network.
pub struct Shared {
    /// Space loops.
    pub axes: Vec<String>,
    pub pes: [i64; 2],
    /// Loops of the lanes, and lanes of a PE along them.
    pub lanes: Vec<(String, i64)>,
    /// Per layer.
    pub designs: Vec<Design>,
    /// Sum over all layers, each as often as it runs.
    pub cycles: i64,
    /// No grid of the space takes fewer.
    pub bound: i64,
    pub counts: Counts,
}

impl Shared {
    /// The share of the cycles that may be saved at most.
    pub fn gap(&self) -> f64 {
        (self.cycles - self.bound).max(0) as f64 / self.cycles.max(1) as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// A grid bounded by each layer's shapes, or by a search for them; the next search may assemble so many designs for
    /// a layer.
    Searched(Grid, u64),
    /// A grid bounded by its waves.
    Waves(Grid),
}

/// What searches found out about a layer on a grid.
#[derive(Clone)]
struct OnGrid {
    best: Option<Design>,
    bound: i64,
    /// Designs that the search could assemble.
    effort: u64,
    /// Cycles below which it looked for one.
    below: i64,
}

impl OnGrid {
    /// A search for so few cycles with so much effort would find nothing new.
    fn answers(&self, below: i64, exact: u64) -> bool {
        let proved = self.best.as_ref().is_some_and(|b| b.cycles <= self.bound);
        proved || self.bound >= below || self.effort >= exact && self.below >= below
    }
}

type Found = BTreeMap<(usize, Grid), OnGrid>;

/// What does not change during a search. Several cores read it at once.
struct Layers<'a> {
    models: Vec<Model<'a>>,
    /// Per transform that all layers have: its number in each layer.
    transforms: Vec<Vec<u8>>,
    /// How often each runs.
    times: Vec<i64>,
    /// Cycles of each on any grid, at least.
    floors: Vec<i64>,
}

struct Joint<'a> {
    network: &'a Network<'a>,
    layers: Layers<'a>,
    /// By the number of the layer.
    learned: Learned,
    found: Found,
    best: Option<Best>,
    counts: Counts,
    /// The least bound of grids that are given up without a proof.
    open: i64,
}

struct Best {
    cycles: i64,
    grid: Grid,
    /// Per layer.
    designs: Vec<Design>,
}

/// # Errors
/// The layers have different loops.
pub fn network(network: &Network) -> Result<Option<Shared>, String> {
    let tasks = network.layers.iter().map(|l| task(network, l.program, network.effort, None, i64::MAX));
    let mut models: Vec<Model> = tasks.map(|task| Model::new(&task)).collect();
    models.iter_mut().for_each(Model::list_orders);
    let Some(first) = models.first() else { return Err("a network has one layer at least".into()) };
    let depth = |m: &Model| m.program.system.dims.len();
    if let Some(other) = (1..models.len()).find(|&l| depth(&models[l]) != depth(first)) {
        return Err(format!("layer {} has other loops than the first one", other + 1));
    }
    let number = |m: &Model, t: &Vec<Vec<i64>>| Some(m.facts.iter().position(|f| f.transform == *t)? as u8);
    let numbers = |t: &Vec<Vec<i64>>| models.iter().map(|m| number(m, t)).collect::<Option<Vec<u8>>>();
    let transforms: Vec<Vec<u8>> = first.facts.iter().filter_map(|f| numbers(&f.transform)).collect();
    let floors = models.iter().map(Model::floor).collect();
    let times = network.layers.iter().map(|l| l.times).collect();
    let mut joint = Joint {
        network,
        learned: Learned::default(),
        layers: Layers { models, transforms, times, floors },
        found: BTreeMap::new(),
        best: None,
        counts: Counts::default(),
        open: i64::MAX,
    };
    let bound = joint.run();
    Ok(joint.answer(bound))
}

fn task<'a>(
    network: &Network<'a>,
    program: &'a Kernel<'a>,
    effort: Effort,
    only: Option<&'a [Grid]>,
    below: i64,
) -> Task<'a> {
    Task { space: network.space.clone(), only, below, ..Task::new(program, network.spec, network.limits, effort) }
}

impl Layers<'_> {
    fn facts(&self, l: usize, flow: &Flow) -> &Facts {
        &self.models[l].facts[self.transforms[flow.facts as usize][l] as usize]
    }

    fn sum(&self, cycles: &[i64]) -> i64 {
        cycles.iter().zip(&self.times).fold(0i64, |sum, (c, times)| sum.saturating_add(c.saturating_mul(*times)))
    }

    /// The cycles below which each layer must stay for a sum below the cap, if the layers take these at least.
    fn left(&self, least: &[i64], cap: i64) -> Vec<i64> {
        let all = self.sum(least);
        least
            .iter()
            .zip(&self.times)
            .map(|(cycles, times)| if cap == i64::MAX { cap } else { cycles + (cap - all).max(0) / times + 1 })
            .collect()
    }

    /// The part of a grid that a layer uses: no more PEs and lanes than it needs for as few waves.
    fn corner(&self, l: usize, grid: &Grid) -> Grid {
        let extent = &self.facts(l, &grid.flow).extent;
        let most = |d: u8, n: i64| if d == NONE { n } else { parts(extent[d as usize], parts(extent[d as usize], n)) };
        let Grid { flow, pes, lanes, beside } = *grid;
        let part = |d: u8, n: i64| (d, most(d, n));
        Grid::new(
            self.transforms[flow.facts as usize][l],
            [0, 1].map(|a| part(flow.axes[a], pes[a])),
            part(flow.lanes, lanes),
            [0, 1].map(|k| part(flow.beside[k], beside[k])),
        )
    }

    fn waves(&self, l: usize, grid: &Grid) -> i64 {
        grid.waves(self.facts(l, &grid.flow)).max(self.floors[l])
    }

    /// The waves of every layer.
    fn all_waves(&self, grid: &Grid) -> Vec<i64> {
        (0..self.models.len()).map(|l| self.waves(l, grid)).collect()
    }

    /// A layer's cycles on a grid, at least, below `most`: by earlier searches, or in closed form.
    fn bound(&self, found: &Found, l: usize, grid: &Grid, most: i64) -> LayerBound {
        let (corner, waves) = (self.corner(l, grid), self.waves(l, grid));
        if let Some(earlier) = found.get(&(l, corner)) {
            return LayerBound { cycles: earlier.bound.max(waves), bounds: 0 };
        }
        let found = closed::shapes(&self.models[l], &Bounded::new(waves, corner), most);
        let least = found.shapes.iter().map(|s| s.bound).min().unwrap_or(most);
        LayerBound { cycles: least.min(found.dropped), bounds: found.bounds }
    }
}

struct LayerBound {
    cycles: i64,
    /// Bounds of shapes that it took.
    bounds: u64,
}

impl Joint<'_> {
    /// The least bound that is open at the end.
    fn run(&mut self) -> i64 {
        let effort = Effort {
            exact: tuning::LAYER_DESIGNS,
            bounds: tuning::GRID_BOUNDS,
            work: u64::MAX,
            gap: self.network.effort.gap,
        };
        let tasks: Vec<Task> =
            self.network.layers.iter().map(|layer| task(self.network, layer.program, effort, None, i64::MAX)).collect();
        for (l, found) in at_once(&tasks, search).into_iter().enumerate() {
            self.count(&found.counts);
            if let Some(grid) = found.best.and_then(|d| self.grid_of(l, &d)) {
                self.evaluate(&grid, tuning::GRID_DESIGNS);
            }
        }
        let mut frontier = Frontier::new();
        self.grids().into_iter().for_each(|g| frontier.push(g.bound, Node::Waves(g.of)));
        while let Some(Bounded { bound, of: node }) = frontier.pop() {
            if bound >= self.cap() || self.ends(bound) {
                return bound.min(self.open).min(self.total());
            }
            match node {
                Node::Waves(grid) => {
                    self.counts.grids += 1;
                    let bounds = self.bounds(&grid);
                    let bound = self.layers.sum(&bounds).max(bound);
                    if bound < self.cap() {
                        frontier.push(bound, Node::Searched(grid, tuning::GRID_DESIGNS));
                    }
                }
                Node::Searched(grid, effort) => {
                    let bound = self.evaluate(&grid, effort).max(bound);
                    let more = tuning::GRID_DEEPER * effort;
                    if bound < self.cap() && more <= tuning::MOST_GRID_DESIGNS {
                        frontier.push(bound, Node::Searched(grid, more));
                    } else if bound < self.cap() {
                        self.open = self.open.min(bound);
                    }
                }
            }
        }
        self.open.min(self.total())
    }

    fn total(&self) -> i64 {
        self.best.as_ref().map_or(i64::MAX, |b| b.cycles)
    }

    /// Grids with this bound or a greater one are of no interest.
    fn cap(&self) -> i64 {
        let total = self.total();
        if total == i64::MAX {
            total
        } else {
            (total as f64 * (1.0 - self.network.effort.gap)).ceil() as i64
        }
    }

    fn ends(&self, bound: i64) -> bool {
        let progress = Progress { best: self.best.as_ref().map(|b| b.cycles), bound, counts: self.counts };
        self.network.watch.is_some_and(|watch| !watch(&progress))
            || self.counts.exact >= self.network.effort.exact
            || self.counts.bounds >= self.network.effort.bounds
    }

    fn count(&mut self, more: &Counts) {
        self.counts.exact += more.exact;
        self.counts.walks += more.walks;
        self.counts.bounds += more.bounds;
        self.counts.refused += more.refused;
        self.counts.too_big += more.too_big;
    }

    /// All grids below the cap, by their waves.
    fn grids(&self) -> Vec<Bounded<Grid>> {
        let (space, cap, layers) = (&self.network.space, self.cap(), &self.layers);
        let dsp = self.network.limits.dsp.max(1);
        let most = layers.models.iter().map(|m| dsp * m.packed).max().unwrap_or(dsp);
        let mut packings: Vec<Vec<Packing>> = vec![];
        let mut flows: Vec<Flow> = vec![];
        for (k, numbers) in layers.transforms.iter().enumerate() {
            for (model, &number) in layers.models.iter().zip(numbers) {
                let of_layer = &model.packings[number as usize];
                flows.extend(space::flows(&model.facts[number as usize], k as u8, of_layer, &|axes| {
                    space.as_ref().is_none_or(|s| s == axes)
                }));
            }
            packings
                .push(layers.models.iter().zip(numbers).flat_map(|(m, &n)| m.packings[n as usize].clone()).collect());
        }
        flows.sort_unstable();
        flows.dedup();
        let all = at_once(&flows, |flow| {
            let extents: Vec<&[i64]> = (0..layers.models.len()).map(|l| &layers.facts(l, flow).extent[..]).collect();
            let work = layers.sum(&extents.iter().map(|e| e.iter().product()).collect::<Vec<i64>>());
            let beside = super::beside(&packings[flow.facts as usize], flow);
            let grids = space::grids(&extents, *flow, beside, most, tuning::LANES_PER_PE).into_iter();
            let grids = grids.filter(|g| work / g.peak() < cap);
            grids
                .map(|g| Bounded::new(layers.sum(&layers.all_waves(&g)), g))
                .filter(|g| g.bound < cap)
                .collect::<Vec<_>>()
        });
        all.into_iter().flatten().collect()
    }

    /// Each layer's cycles on a grid, at least.
    fn bounds(&mut self, grid: &Grid) -> Vec<i64> {
        let (cap, layers, earlier) = (self.cap(), &self.layers, &self.found);
        let waves = layers.all_waves(grid);
        // A layer that takes more than the others leave of the cap needs no exact bound.
        let most = layers.left(&waves, cap);
        let numbers: Vec<usize> = (0..waves.len()).collect();
        let found = at_once(&numbers, |&l| layers.bound(earlier, l, grid, most[l]));
        self.counts.bounds += found.iter().map(|f| f.bounds).sum::<u64>();
        found.into_iter().map(|f| f.cycles).collect()
    }

    /// Searches every layer on a grid, the slowest first, as long as their sum may be the best; the bound of that sum.
    fn evaluate(&mut self, grid: &Grid, effort: u64) -> i64 {
        let mut least = self.bounds(grid);
        let mut order: Vec<usize> = (0..least.len()).collect();
        order.sort_by_key(|&l| Reverse(least[l].saturating_mul(self.network.layers[l].times)));
        let mut designs: Vec<Option<Design>> = vec![None; least.len()];
        let mut sum = least.clone();
        for some in order.chunks(tuning::LAYERS_TOGETHER) {
            let below = self.layers.left(&least, self.cap());
            let tasks: Vec<(usize, i64)> = some.iter().map(|&l| (l, below[l])).collect();
            for (l, found) in some.iter().zip(self.on_grid(&tasks, grid, effort)) {
                least[*l] = least[*l].max(found.bound);
                sum[*l] = found.best.as_ref().map_or(i64::MAX, |d| d.cycles).max(least[*l]);
                designs[*l] = found.best;
            }
            if self.layers.sum(&sum) >= self.total() {
                return self.layers.sum(&least);
            }
        }
        if let Some(designs) = designs.into_iter().collect::<Option<Vec<_>>>() {
            self.best = Some(Best { cycles: self.layers.sum(&sum), grid: *grid, designs });
        }
        self.layers.sum(&least)
    }

    /// Searches these layers on a grid for fewer cycles than these, if a search may find something new.
    fn on_grid(&mut self, layers: &[(usize, i64)], grid: &Grid, exact: u64) -> Vec<OnGrid> {
        let (network, earlier, learned) = (self.network, &self.found, &self.learned);
        let effort = Effort { exact, bounds: tuning::GRID_BOUNDS, work: u64::MAX, gap: network.effort.gap / 2.0 };
        let keys: Vec<(usize, Grid)> = layers.iter().map(|&(l, _)| (l, self.layers.corner(l, grid))).collect();
        let tasks: Vec<_> = keys.iter().zip(layers).map(|(key, &(_, below))| (*key, below)).collect();
        let searched = at_once(&tasks, |&((l, corner), below)| {
            let earlier = earlier.get(&(l, corner));
            if earlier.is_some_and(|e| e.answers(below, exact)) {
                return None;
            }
            let found = learned.search(l, &task(network, network.layers[l].program, effort, Some(&[corner]), below));
            let cycles = found.best.as_ref().map_or(i64::MAX, |d| d.cycles);
            let bound = found.bound.min(cycles).max(earlier.map_or(0, |e| e.bound));
            let designs = [earlier.and_then(|e| e.best.clone()), found.best];
            let best = designs.into_iter().flatten().min_by_key(|d| d.cycles);
            Some((OnGrid { bound, best, effort: exact, below }, found.counts))
        });
        for (key, (found, counts)) in keys.iter().zip(searched).filter_map(|(key, found)| Some((key, found?))) {
            self.count(&counts);
            self.found.insert(*key, found);
        }
        keys.iter().map(|key| self.found[key].clone()).collect()
    }

    /// The grid of a design.
    fn grid_of(&self, l: usize, design: &Design) -> Option<Grid> {
        let number = self.layers.models[l].facts.iter().position(|f| f.transform == design.plan.transform)?;
        let facts = self.layers.transforms.iter().position(|numbers| numbers[l] as usize == number)?;
        let dims = || design.plan.dims.iter().enumerate();
        let axis = |a: usize| dims().find(|(_, p)| p.axis == Some(a)).map_or(NONE, |(d, _)| d as u8);
        let sums = |d: usize| self.layers.models[l].facts[number].carried.summed[d];
        let lanes = |summed: bool| {
            let several = move |(d, p): &(usize, &DimPlan)| p.simd > 1 && sums(*d) == summed;
            dims().filter(several).map(|(d, p)| (d as u8, p.simd))
        };
        let (mut along, mut beside) = (lanes(true), lanes(false));
        let none = (NONE, 1);
        Some(Grid::new(
            facts as u8,
            [0, 1].map(|a| (axis(a), design.vsa.extent[a])),
            along.next().unwrap_or(none),
            [beside.next().unwrap_or(none), beside.next().unwrap_or(none)],
        ))
    }

    fn answer(self, bound: i64) -> Option<Shared> {
        let Best { cycles, grid, designs } = self.best?;
        let program = self.network.layers[0].program;
        let name = |d: u8| row_name(&program.system, &self.layers.facts(0, &grid.flow).transform[d as usize]);
        let beside = grid.flow.beside.into_iter().zip(grid.beside);
        let lanes = std::iter::once((grid.flow.lanes, grid.lanes)).chain(beside);
        Some(Shared {
            axes: grid.flow.axes.into_iter().filter(|&a| a != NONE).map(name).collect(),
            pes: grid.pes,
            lanes: lanes.filter(|(d, _)| *d != NONE).map(|(d, n)| (name(d), n)).collect(),
            designs,
            cycles,
            bound: bound.min(cycles),
            counts: self.counts,
        })
    }
}
