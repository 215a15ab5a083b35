//! One array for several programs of one form, such as the layers of a network: the grid on which all of them together
//! take the fewest cycles. Best first as for one program: a grid is bounded by its waves, then by each layer's best
//! shape in closed form, then every layer is searched on it. A layer that needs fewer places for as few waves uses a
//! corner of it.

use crate::branch::known::Known;
use crate::branch::{at_once, search, Counts, Design, Effort, Grid, Learned, Progress, Resources, Task, LANES_PER_PE};
use crate::facts::Facts;
use crate::space;
use crate::space::{parts, Flow, NONE};
use array::kernel::Kernel;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use uniform::design::DesignSpec;
use uniform::mapping::row_name;

/// A program, and how often it runs.
pub struct Layer<'a> {
    pub program: &'a Kernel<'a>,
    pub times: i64,
}

/// What is sought: the array on which all layers together take the fewest cycles, each within the limits.
pub struct Network<'a> {
    pub layers: &'a [Layer<'a>],
    pub spec: &'a DesignSpec,
    pub limits: Resources,
    /// Band dimensions that must be the space loops.
    pub space: Option<Vec<usize>>,
    pub effort: Effort,
    /// Looks on, and may end the search by `false`.
    pub watch: Option<&'a (dyn Fn(&Progress) -> bool + Sync)>,
}

/// The best array for a network.
pub struct Shared {
    /// Space loops.
    pub axes: Vec<String>,
    pub pes: [i64; 2],
    /// Loop of the lanes, and how many a PE has.
    pub lanes: Option<(String, i64)>,
    /// Per layer.
    pub designs: Vec<Design>,
    /// All layers, as often as they run.
    pub cycles: i64,
    /// No grid of the space takes fewer.
    pub bound: i64,
    pub counts: Counts,
}

impl Shared {
    /// Share of the cycles that nobody can be sure the network needs.
    pub fn gap(&self) -> f64 {
        (self.cycles - self.bound).max(0) as f64 / self.cycles.max(1) as f64
    }
}

/// Designs assembled for a layer on one grid, at first, how many times as many when it is its turn again, and at most.
const PER_GRID: u64 = 12;
const DEEPER: u64 = 5;
const MOST_PER_GRID: u64 = 10_000;
/// Layers that are searched together.
const TOGETHER: usize = 2;
/// For a layer's own best array, whose grid is tried first.
const PER_LAYER: u64 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    /// By each layer's shapes, or by what came of a search for them; designs that the next one may assemble for a
    /// layer.
    Shapes(Grid, u64),
    Waves(Grid),
}

/// What is known of a layer on a grid.
#[derive(Clone)]
struct OnGrid {
    best: Option<Design>,
    bound: i64,
    /// Designs that could have been assembled, and cycles below which one was sought.
    effort: u64,
    below: i64,
}

impl OnGrid {
    /// A search with so much effort for fewer cycles than these would find nothing new.
    fn says(&self, below: i64, exact: u64) -> bool {
        let proved = self.best.as_ref().is_some_and(|b| b.cycles <= self.bound);
        proved || self.bound >= below || self.effort >= exact && self.below >= below
    }
}

type Found = BTreeMap<(usize, Grid), OnGrid>;

/// What does not change during a search; several cores read it at once.
struct Layers<'a> {
    known: Vec<Known<'a>>,
    /// A flow's number of facts: per layer, the number there.
    transforms: Vec<Vec<u8>>,
    /// How often each runs.
    times: Vec<i64>,
    /// Cycles of each on any grid, at least.
    floors: Vec<i64>,
}

struct Joint<'a> {
    network: &'a Network<'a>,
    layers: Layers<'a>,
    /// Of each layer.
    learned: Learned,
    found: Found,
    best: Option<(i64, Grid, Vec<Design>)>,
    counts: Counts,
    /// The least bound of grids that are given up without a proof.
    open: i64,
}

/// # Errors
/// The layers are no programs of one form.
pub fn network(network: &Network) -> Result<Option<Shared>, String> {
    let mut known: Vec<Known> = network
        .layers
        .iter()
        .map(|layer| Known::new(&task(network, layer.program, network.effort, None, i64::MAX)))
        .collect();
    known.iter_mut().for_each(Known::list_orders);
    let Some(first) = known.first() else { return Err("a network has one layer at least".into()) };
    let depth = |k: &Known| k.program.system.dims.len();
    if let Some(other) = (1..known.len()).find(|&l| depth(&known[l]) != depth(first)) {
        return Err(format!("layer {} has other loops than the first one", other + 1));
    }
    // Transforms that all layers have, by their number in each.
    let numbers = |t: &Vec<Vec<i64>>| {
        known.iter().map(|k| Some(k.facts.iter().position(|f| f.transform == *t)? as u8)).collect::<Option<Vec<u8>>>()
    };
    let transforms: Vec<Vec<u8>> = first.facts.iter().filter_map(|f| numbers(&f.transform)).collect();
    let (floors, times) = (known.iter().map(Known::floor).collect(), network.layers.iter().map(|l| l.times).collect());
    let mut joint = Joint {
        network,
        learned: Learned::default(),
        layers: Layers { known, transforms, times, floors },
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
    Task {
        program,
        spec: network.spec,
        limits: network.limits,
        space: network.space.clone(),
        only,
        below,
        enough: 0,
        effort,
        watch: None,
    }
}

impl Layers<'_> {
    fn facts(&self, l: usize, flow: &Flow) -> &Facts {
        &self.known[l].facts[self.transforms[flow.facts as usize][l] as usize]
    }

    fn sum(&self, cycles: &[i64]) -> i64 {
        cycles.iter().zip(&self.times).fold(0i64, |sum, (c, times)| sum.saturating_add(c.saturating_mul(*times)))
    }

    /// The cycles below which each layer must stay for a sum below the cap, where all need so many at least.
    fn left(&self, least: &[i64], cap: i64) -> Vec<i64> {
        let all = self.sum(least);
        least
            .iter()
            .zip(&self.times)
            .map(|(own, times)| if cap == i64::MAX { cap } else { own + (cap - all).max(0) / times + 1 })
            .collect()
    }

    /// What a layer makes of a grid: no more places and lanes than it needs for as few waves.
    fn corner(&self, l: usize, grid: &Grid) -> Grid {
        let extent = &self.facts(l, &grid.flow).extent;
        let most = |d: u8, n: i64| if d == NONE { n } else { parts(extent[d as usize], parts(extent[d as usize], n)) };
        let lanes = most(grid.flow.lanes, grid.lanes);
        let flow = Flow {
            facts: self.transforms[grid.flow.facts as usize][l],
            lanes: if lanes > 1 { grid.flow.lanes } else { NONE },
            ..grid.flow
        };
        Grid { flow, pes: [0, 1].map(|a| most(flow.axes[a], grid.pes[a])), lanes }
    }

    fn waves(&self, l: usize, grid: &Grid) -> i64 {
        grid.waves(self.facts(l, &grid.flow)).max(self.floors[l])
    }

    /// The waves of every layer, at least.
    fn all_waves(&self, grid: &Grid) -> Vec<i64> {
        (0..self.known.len()).map(|l| self.waves(l, grid)).collect()
    }

    /// A layer's cycles on a grid, at least, below `most`: by what is known already or in closed form; and bounds that
    /// took.
    fn bound(&self, found: &Found, l: usize, grid: &Grid, most: i64) -> (i64, u64) {
        let (corner, waves) = (self.corner(l, grid), self.waves(l, grid));
        if let Some(known) = found.get(&(l, corner)) {
            return (known.bound.max(waves), 0);
        }
        let shapes = self.known[l].shapes(waves, corner, most);
        (shapes.shapes.iter().map(|s| s.0).min().unwrap_or(most).min(shapes.dropped), shapes.bounds)
    }
}

impl Joint<'_> {
    /// The least bound that is open at the end.
    fn run(&mut self) -> i64 {
        let effort = Effort { exact: PER_LAYER, bounds: 2_000_000, work: u64::MAX, gap: self.network.effort.gap };
        let tasks: Vec<Task> =
            self.network.layers.iter().map(|layer| task(self.network, layer.program, effort, None, i64::MAX)).collect();
        for (l, found) in at_once(&tasks, search).into_iter().enumerate() {
            self.count(&found.counts);
            if let Some(grid) = found.best.and_then(|d| self.grid_of(l, &d)) {
                self.evaluate(&grid, PER_GRID);
            }
        }
        let mut heap: BinaryHeap<Reverse<(i64, Node)>> =
            self.grids().into_iter().map(|(key, grid)| Reverse((key, Node::Waves(grid)))).collect();
        while let Some(Reverse((key, node))) = heap.pop() {
            if key >= self.cap() || self.ends(key) {
                return key.min(self.open).min(self.total());
            }
            match node {
                Node::Waves(grid) => {
                    self.counts.grids += 1;
                    let bounds = self.bounds(&grid);
                    let key = self.layers.sum(&bounds).max(key);
                    if key < self.cap() {
                        heap.push(Reverse((key, Node::Shapes(grid, PER_GRID))));
                    }
                }
                Node::Shapes(grid, effort) => {
                    let bound = self.evaluate(&grid, effort).max(key);
                    if bound < self.cap() {
                        match DEEPER * effort {
                            more @ ..=MOST_PER_GRID => heap.push(Reverse((bound, Node::Shapes(grid, more)))),
                            _ => self.open = self.open.min(bound),
                        }
                    }
                }
            }
        }
        self.open.min(self.total())
    }

    fn total(&self) -> i64 {
        self.best.as_ref().map_or(i64::MAX, |b| b.0)
    }

    /// Grids from here on are of no interest.
    fn cap(&self) -> i64 {
        let total = self.total();
        if total == i64::MAX {
            total
        } else {
            (total as f64 * (1.0 - self.network.effort.gap)).ceil() as i64
        }
    }

    fn ends(&self, key: i64) -> bool {
        let progress = Progress { best: self.best.as_ref().map(|b| b.0), bound: key, counts: self.counts };
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
    fn grids(&self) -> Vec<(i64, Grid)> {
        let (most, space, cap, layers) =
            (self.network.limits.dsp.max(1), &self.network.space, self.cap(), &self.layers);
        let mut flows: Vec<Flow> = vec![];
        for (k, numbers) in layers.transforms.iter().enumerate() {
            for (known, &number) in layers.known.iter().zip(numbers) {
                flows.extend(space::flows(&known.facts[number as usize], k as u8, &|axes| {
                    space.as_ref().is_none_or(|s| s == axes)
                }));
            }
        }
        flows.sort_unstable();
        flows.dedup();
        let all = at_once(&flows, |flow| {
            let extents: Vec<&[i64]> = (0..layers.known.len()).map(|l| &layers.facts(l, flow).extent[..]).collect();
            let work = layers.sum(&extents.iter().map(|e| e.iter().product()).collect::<Vec<i64>>());
            let grids = space::grids(&extents, *flow, most, LANES_PER_PE).into_iter().filter(|g| work / g.peak() < cap);
            grids.map(|g| (layers.sum(&layers.all_waves(&g)), g)).filter(|g| g.0 < cap).collect::<Vec<_>>()
        });
        all.into_iter().flatten().collect()
    }

    /// Each layer's cycles on a grid, at least.
    fn bounds(&mut self, grid: &Grid) -> Vec<i64> {
        let (cap, layers, known) = (self.cap(), &self.layers, &self.found);
        let waves = layers.all_waves(grid);
        // A layer that takes more than the others leave of the cap needs no number.
        let most = layers.left(&waves, cap);
        let numbers: Vec<usize> = (0..waves.len()).collect();
        let found = at_once(&numbers, |&l| layers.bound(known, l, grid, most[l]));
        self.counts.bounds += found.iter().map(|f| f.1).sum::<u64>();
        found.into_iter().map(|f| f.0).collect()
    }

    /// Searches every layer on a grid, the slowest first, as long as their sum may be the best; the bound of that sum.
    fn evaluate(&mut self, grid: &Grid, effort: u64) -> i64 {
        let mut least = self.bounds(grid);
        let mut order: Vec<usize> = (0..least.len()).collect();
        order.sort_by_key(|&l| Reverse(least[l].saturating_mul(self.network.layers[l].times)));
        let mut designs: Vec<Option<Design>> = vec![None; least.len()];
        let mut sum = least.clone();
        for some in order.chunks(TOGETHER) {
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
            self.best = Some((self.layers.sum(&sum), *grid, designs));
        }
        self.layers.sum(&least)
    }

    /// These layers on a grid, if they take fewer cycles than these: what is known, if a search would find nothing new.
    fn on_grid(&mut self, layers: &[(usize, i64)], grid: &Grid, exact: u64) -> Vec<OnGrid> {
        let (network, known, learned) = (self.network, &self.found, &self.learned);
        let effort = Effort { exact, bounds: 2_000_000, work: u64::MAX, gap: network.effort.gap / 2.0 };
        let keys: Vec<(usize, Grid)> = layers.iter().map(|&(l, _)| (l, self.layers.corner(l, grid))).collect();
        let tasks: Vec<_> = keys.iter().zip(layers).map(|(key, &(_, below))| (*key, below)).collect();
        let done = at_once(&tasks, |&((l, corner), below)| {
            let known = known.get(&(l, corner));
            if known.is_some_and(|k| k.says(below, exact)) {
                return None;
            }
            let found = learned.search(l, &task(network, network.layers[l].program, effort, Some(&[corner]), below));
            let bound =
                found.bound.min(found.best.as_ref().map_or(i64::MAX, |d| d.cycles)).max(known.map_or(0, |k| k.bound));
            let best = [known.and_then(|k| k.best.clone()), found.best].into_iter().flatten().min_by_key(|d| d.cycles);
            Some((OnGrid { bound, best, effort: exact, below }, found.counts))
        });
        for (key, (found, counts)) in keys.iter().zip(done).filter_map(|(key, done)| Some((key, done?))) {
            self.count(&counts);
            self.found.insert(*key, found);
        }
        keys.iter().map(|key| self.found[key].clone()).collect()
    }

    /// The grid of a design.
    fn grid_of(&self, l: usize, design: &Design) -> Option<Grid> {
        let number = self.layers.known[l].facts.iter().position(|f| f.transform == design.plan.transform)?;
        let facts = self.layers.transforms.iter().position(|numbers| numbers[l] as usize == number)?;
        let axis = |a: usize| design.plan.dims.iter().position(|d| d.axis == Some(a)).map_or(NONE, |d| d as u8);
        let lanes = design.plan.dims.iter().position(|d| d.simd > 1).map_or(NONE, |d| d as u8);
        Some(Grid {
            flow: Flow { facts: facts as u8, axes: [axis(0), axis(1)], lanes },
            pes: design.vsa.extent,
            lanes: design.vsa.lanes,
        })
    }

    fn answer(self, bound: i64) -> Option<Shared> {
        let (cycles, grid, designs) = self.best?;
        let program = self.network.layers[0].program;
        let name = |d: u8| row_name(&program.system, &self.layers.facts(0, &grid.flow).transform[d as usize]);
        Some(Shared {
            axes: grid.flow.axes.into_iter().filter(|&a| a != NONE).map(name).collect(),
            pes: grid.pes,
            lanes: (grid.flow.lanes != NONE).then(|| (name(grid.flow.lanes), grid.lanes)),
            designs,
            cycles,
            bound: bound.min(cycles),
            counts: self.counts,
        })
    }
}
