//! What a shape takes at least, cycles and resources, before it is assembled, and over which words it may fit.

use crate::branch::known::Known;
use crate::branch::{at_once, Search, Widths, LANES_PER_PE};
use crate::facts::Facts;
use crate::sketch::sketch;
use crate::space::{Flow, Grid, Shape, MOST_DIMS, NONE};
use array::contract::walk::Walk;
use array::vsa::Vsa;
use cost::board::Resources;
use cost::bound;
use cost::resources;
use cost::resources::ByPlaces;
use std::collections::BTreeMap;

/// Waves for which a sum may wait in a chain of registers instead of a memory.
const CHAINED: i64 = 64;
/// PEs along an axis of a small array: the first, the last, and one between them.
const ENOUGH: i64 = 3;
/// Small arrays that a search makes before it guesses.
const ARRAYS: usize = 64;
/// Lanes of the arrays by which others are guessed.
const SAMPLED: [i64; 5] = [1, 2, 8, 32, 64];
/// Bounds of shapes in the time in which a small array is made.
const BOUNDS_PER_ARRAY: u64 = 100_000;
/// Ports whose widths are chosen one by one.
const APART: usize = 3;
/// Choices of all ports' widths that are kept of a shape.
const MOST_WIDTHS: usize = 256;

/// What PEs take, at least.
#[derive(Default)]
pub(super) struct Pes {
    /// By flow, lanes, and what neighbours it has along each axis: of a few arrays.
    by_flow: BTreeMap<Key, Vec<Pe>>,
    /// All PEs of shapes that did not fit over some words.
    by_shape: BTreeMap<Shape, Resources>,
    /// Bounds of shapes that were looked at without a small array, for each.
    without: BTreeMap<Key, u64>,
}

/// What small arrays differ in.
type Key = (Flow, i64, [i64; 2]);

/// What a PE takes, at least.
type Pe = ByPlaces<Resources>;

impl Pes {
    /// All PEs of a shape, at least.
    fn of(&self, shape: &Shape, known: &Known) -> Resources {
        if let Some(all) = self.by_shape.get(shape) {
            return *all;
        }
        let mut need = self.of_flow(&shape.grid, known.facts_of(&shape.grid), &known.reached_by(shape));
        need += known.sums(shape);
        need
    }

    /// Without what is known of single shapes.
    pub fn of_flows(&self) -> Pes {
        Pes { by_flow: self.by_flow.clone(), ..Pes::default() }
    }

    /// So many shapes of a grid were looked at.
    pub fn looked_at(&mut self, facts: &Facts, grid: &Grid, bounds: u64) {
        let key = key(&small(grid, facts));
        if !self.by_flow.contains_key(&key) {
            *self.without.entry(key).or_default() += bounds;
        }
    }

    /// To know what PEs take is worth a small array of them by now.
    pub fn are_due(&self, facts: &Facts, grid: &Grid) -> bool {
        self.without.get(&key(&small(grid, facts))).is_some_and(|n| *n >= BOUNDS_PER_ARRAY)
    }

    pub fn knows(&self, shape: &Shape) -> bool {
        self.by_shape.contains_key(shape)
    }

    /// What all PEs of a shape take: no words change that.
    pub fn know(&mut self, shape: Shape, all: Resources) {
        self.by_shape.insert(shape, all);
    }

    /// All PEs of a grid, at least, by its flow alone.
    fn of_flow(&self, grid: &Grid, facts: &Facts, reached: &[Option<i64>]) -> Resources {
        self.of_array(&small(grid, facts), grid, reached)
    }

    /// All PEs of a grid, if they take what those of a small array do.
    fn of_array(&self, small: &Grid, grid: &Grid, reached: &[Option<i64>]) -> Resources {
        let pes = self.by_flow.get(&key(small));
        pes.and_then(|pes| pes.iter().map(|pe| all(grid, reached, pe)).reduce(Resources::least)).unwrap_or_default()
    }
}

/// A grid whose PEs have the same neighbours and, along an axis of which each takes one iteration or all take as many,
/// still do.
fn small(grid: &Grid, facts: &Facts) -> Grid {
    let along = |a: usize| {
        let pes = grid.pes[a];
        let Some(&extent) = facts.extent.get(grid.flow.axes[a] as usize).filter(|_| pes > ENOUGH) else { return pes };
        let grain = grid.grain(grid.flow.axes[a] as usize);
        let alike = |n: &i64| extent % grain != 0 || extent % (grain / pes * n) == 0;
        if grain >= extent {
            pes
        } else {
            (ENOUGH..pes).find(alike).unwrap_or(pes)
        }
    };
    Grid { pes: [0, 1].map(along), ..*grid }
}

/// All PEs, at least: an operator is where one of the statements is that need it, each of which reaches so many places.
fn all(grid: &Grid, reached: &[Option<i64>], pe: &Pe) -> Resources {
    let everywhere = reached.iter().flatten().copied().min().unwrap_or(1);
    let mut need = Resources::default();
    for (at, part) in pe {
        let places = at.statements.iter().filter_map(|&s| reached[s]).max().unwrap_or(everywhere);
        let border = grid.pes[0] * grid.pes[1] - (0..2).map(|a| grid.pes[a] - i64::from(at.but[a])).product::<i64>();
        need += *part * (places - border).max(0);
    }
    need
}

/// The widest words over which a shape may fit, with their bounds.
#[derive(Default)]
pub(super) struct Fitting {
    pub fitting: Vec<(i64, Widths)>,
    pub walks: u64,
    pub too_big: bool,
}

impl Known<'_> {
    fn sketch(&self, shape: &Shape, widths: Widths) -> Option<Vsa> {
        self.sketch_of(shape, widths, |_| true)
    }

    /// The groups behind some ports.
    fn sketch_of(&self, shape: &Shape, widths: Widths, ports: impl Fn(usize) -> bool) -> Option<Vsa> {
        let (k, grid) = (shape.grid.flow.facts as usize, &shape.grid);
        let (facts, widths) = (&self.facts[k], self.widths_of(k, widths));
        let inner = shape.inner.get(grid.flow.lanes as usize).map_or(1, |&n| n.into());
        grid.storable(facts, inner, |port| widths[port])
            .then(|| {
                sketch(self.program, facts, grid, (self.plan(shape), self.interval(shape)), &widths, self.spill, ports)
            })?
            .map(|vsa| Vsa { address_bits: self.address_bits, uram: self.uram, ..vsa })
    }

    /// Cycles of a shape, at least; if these are below the cap, its resources, at least.
    pub fn coarse(&self, shape: &Shape, widths: Widths, pes: &Pes, cap: i64) -> Option<(i64, Option<Resources>)> {
        let vsa = self.sketch(shape, widths)?;
        let walks = Walk::all(&vsa);
        let walked = bound::walk(&vsa, &walks, shape.grid.cross(self.facts_of(&shape.grid)), cap);
        Some((walked, (walked < cap).then(|| self.resources(shape, &vsa, &walks, pes))))
    }

    /// Resources of a shape, at least.
    pub fn least(&self, shape: &Shape, widths: Widths, pes: &Pes) -> Option<Resources> {
        let vsa = self.sketch(shape, widths)?;
        Some(self.resources(shape, &vsa, &Walk::all(&vsa), pes))
    }

    fn resources(&self, shape: &Shape, vsa: &Vsa, walks: &[[Option<Walk>; 2]], pes: &Pes) -> Resources {
        pes.of(shape, self) + resources::network(vsa, walks)
    }

    /// What the network of a grid takes at least: over the narrowest words, with tiles as small or as large as can be.
    pub fn narrowest_network(&self, grid: &Grid) -> Resources {
        let k = grid.flow.facts as usize;
        let (facts, wide) = (&self.facts[k], self.widths_of(k, self.widest(k)));
        let options = grid.options(facts, |port| wide[port]);
        let corner = |most: bool| {
            let mut inner = [1; MOST_DIMS];
            for (size, options) in inner.iter_mut().zip(&options) {
                let sizes = options.iter().map(|o| o.0);
                *size = if most { sizes.max() } else { sizes.min() }.unwrap_or(1);
            }
            let shape = Shape { grid: *grid, inner, order: 0 };
            let widths = [self.narrowest(k), self.widest(k)].into_iter().find_map(|w| self.sketch(&shape, w));
            widths.map(|vsa| resources::network(&vsa, &Walk::all(&vsa)))
        };
        match (corner(false), corner(true)) {
            (Some(a), Some(b)) => a.least(b),
            _ => Resources::default(),
        }
    }

    /// Memories of all PEs in which sums wait for their next term.
    fn sums(&self, shape: &Shape) -> Resources {
        let waiting = self.waiting(self.facts_of(&shape.grid), shape).filter(|w| w.0 > CHAINED);
        waiting.map_or(Resources::default(), |(depth, bits)| {
            resources::one_memory(depth, bits, self.uram) * self.covered(&shape.grid)
        })
    }

    /// Sums of a PE that wait for their next term, and bits of one.
    fn waiting(&self, facts: &Facts, shape: &Shape) -> Option<(i64, i64)> {
        let [write] = &facts.writes[..] else { return None };
        let grid = &shape.grid;
        let spread = (0..2).any(|a| grid.flow.axes[a] != NONE && write.mask >> grid.flow.axes[a] & 1 == 0);
        let depth: i64 = (0..facts.extent.len())
            .filter(|&d| write.mask >> d & 1 == 1 && grid.is_axis(d))
            .map(|d| i64::from(shape.inner[d]))
            .product();
        let waits = (0..facts.extent.len()).any(|d| write.mask >> d & 1 == 0 && facts.carried[d] && shape.inner[d] > 1);
        let alone = self.program.system.statements.iter().filter(|s| !s.live_out.is_empty()).count() == 1;
        (!spread && waits && alone && write.plain).then_some((depth, write.bytes * 8))
    }

    /// The widest words over which a shape may fit below the cap.
    pub fn widths_that_fit(&self, key: i64, shape: &Shape, pes: &Pes, cap: i64) -> Fitting {
        let widest = self.widest(shape.grid.flow.facts as usize);
        let walked = self.coarse(shape, widest, pes, cap);
        let mut found = match walked {
            Some((walked, Some(need))) if need.fits(&self.limits) => {
                Fitting { fitting: vec![(key.max(walked), widest)], ..Fitting::default() }
            }
            Some((walked, Some(_))) => self.narrower(key.max(walked), shape, widest, pes, cap),
            _ => Fitting::default(),
        };
        found.walks += 1;
        found
    }

    /// Words as narrow as they can be without a beat more: these pass fewer registers. Halved words of a port take a
    /// beat more for every row, and save one register at most, unless all rows of it are one word; of a port where only
    /// some are, all widths are kept, as long as they are not too many with those of the other ports: also says whether
    /// they are.
    pub fn tight(&self, shape: &Shape, from: Widths) -> (Vec<Widths>, bool) {
        let k = shape.grid.flow.facts as usize;
        let (mut all, mut complete) = (vec![from], true);
        for port in 0..self.facts[k].ports.len().min(16) {
            let words = |widths: Widths| -> Vec<i64> {
                let Some(vsa) = self.sketch_of(shape, widths, |p| p == port) else { return vec![] };
                let inputs = vsa.inputs.iter().map(|g| g.hull.words);
                inputs.chain(vsa.outputs.iter().map(|g| g.hull.words)).collect()
            };
            // Where all widths are kept, how much narrower than the first each of them is.
            let mut start = all[0];
            let (mut now, mut rows) = (start, words(start));
            let mut apart = vec![];
            while rows.contains(&1) {
                let next = self.stepped(k, now, &[port], 1);
                if next == now {
                    break;
                }
                let narrower = words(next);
                if narrower == rows && apart.is_empty() {
                    all.iter_mut().for_each(|widths| *widths = *widths - now + next);
                    start = next;
                } else if !narrower.contains(&1) {
                    break;
                } else {
                    apart.push(start - next);
                }
                (now, rows) = (next, narrower);
            }
            if all.len() * (1 + apart.len()) > MOST_WIDTHS {
                complete = false;
                continue;
            }
            for widths in all.clone() {
                all.extend(apart.iter().map(|less| widths - less));
            }
        }
        (all, complete)
    }

    /// The widest words below `from` over which a shape may fit below the cap. What narrower words of one port save
    /// does not depend on the other ports' words.
    pub fn narrower(&self, key: i64, shape: &Shape, from: Widths, pes: &Pes, cap: i64) -> Fitting {
        let k = shape.grid.flow.facts as usize;
        let mut found = Fitting { too_big: true, walks: 1, ..Fitting::default() };
        let Some(base) = self.least(shape, from, pes) else { return found };
        let ports = self.facts[k].ports.len().min(16);
        let groups: Vec<Vec<usize>> =
            if ports > APART { vec![(0..ports).collect()] } else { (0..ports).map(|p| vec![p]).collect() };
        let mut savings: Vec<Vec<(Widths, Resources)>> = vec![];
        for group in &groups {
            // The rest of the network stays as it is.
            let of_group = |widths: Widths| {
                self.sketch_of(shape, widths, |p| group.contains(&p))
                    .map(|vsa| resources::network(&vsa, &Walk::all(&vsa)))
            };
            let Some(widest) = of_group(from) else { return found };
            let mut steps = vec![(0, Resources::default())];
            for n in 1.. {
                let less = from - self.stepped(k, from, group, n);
                if steps.last().is_some_and(|s| s.0 == less) || self.bound(shape, from - less) >= cap {
                    break;
                }
                found.walks += 1;
                let Some(need) = of_group(from - less) else { break };
                steps.push((less, need - widest));
            }
            savings.push(steps);
        }
        // A block RAM may be half of one port's memory and half of another's.
        let base = Resources { bram18: base.bram18 - 2 * ports as i64, ..base };
        for less in widest_first(&savings, &base, &self.limits) {
            let next = from - less;
            let least = self.bound(shape, next).max(key);
            if least >= cap {
                continue;
            }
            found.walks += 1;
            if let Some((walked, Some(_))) = self.coarse(shape, next, pes, cap) {
                found.fitting.push((least.max(walked), next));
            }
        }
        found
    }

    /// Words of these ports halved so many times, or as often as can be.
    fn stepped(&self, k: usize, from: Widths, ports: &[usize], times: u64) -> Widths {
        let narrowest = self.narrowest(k);
        let at = |w: Widths, p: usize| w >> (4 * p) & 15;
        from - ports.iter().map(|&p| times.min(at(from, p).saturating_sub(at(narrowest, p))) << (4 * p)).sum::<u64>()
    }
}

/// The least narrowing that makes `base` fit, of one port or several: of two ways, one of which narrows every port as
/// much as the other and more, only the other. Nothing at all is no narrowing.
fn widest_first(savings: &[Vec<(Widths, Resources)>], base: &Resources, limits: &Resources) -> Vec<Widths> {
    let mut ways: Vec<(Vec<usize>, Widths, Resources)> = vec![(vec![], 0, *base)];
    for steps in savings {
        let with = |(way, less, need): &(Vec<usize>, Widths, Resources), n: usize| {
            ([&way[..], &[n]].concat(), less + steps[n].0, *need + steps[n].1)
        };
        ways = ways.iter().flat_map(|way| (0..steps.len()).map(move |n| with(way, n))).collect();
    }
    ways.retain(|w| w.1 > 0 && w.2.fits(limits));
    ways.sort_by_key(|w| (w.0.iter().sum::<usize>(), w.1));
    let mut kept: Vec<(Vec<usize>, Widths)> = vec![];
    for (way, less, _) in ways {
        if !kept.iter().any(|k| k.0.iter().zip(&way).all(|(a, b)| a <= b)) {
            kept.push((way, less));
        }
    }
    kept.into_iter().map(|k| k.1).collect()
}

impl Known<'_> {
    /// What a PE of a small grid takes, at least: in two arrays.
    fn per_pe(&self, grid: Grid) -> Vec<Pe> {
        let k = grid.flow.facts as usize;
        let wide = self.widths_of(k, self.widest(k));
        let options = grid.options(&self.facts[k], |port| wide[port]);
        let mut found = vec![];
        for most in [1, 16] {
            let mut inner = [1; MOST_DIMS];
            for (d, options) in options.iter().enumerate() {
                let whole = options.iter().map(|o| o.0).max().unwrap_or(1);
                inner[d] = if grid.is_axis(d) { whole.min(most) } else { whole };
            }
            for order in 0..self.orders_of(&grid, &inner).min(3) {
                let plan = self.plan(&Shape { grid, inner, order: order as u16 });
                let mut spec = self.spec.clone();
                spec.wiring.word = self.words(k, self.widest(k));
                if let Ok(vsa) = self.rough(plan, &spec) {
                    found.push(resources::per_pe(&vsa, |statements| self.small(&grid, statements)));
                    break;
                }
            }
        }
        found
    }
}

impl Search<'_> {
    /// What all PEs of each of these grids take, at least.
    pub(super) fn per_pe(&mut self, grids: &[&Grid]) -> Vec<Resources> {
        self.make(grids);
        grids.iter().map(|grid| self.of_grid(grid).unwrap_or_default()).collect()
    }

    /// What all PEs of a grid take, at least, if small arrays of its flow and lanes were made. Where products alone
    /// take too much, none is.
    pub(super) fn of_grid(&self, grid: &Grid) -> Option<Resources> {
        let (reached, products) = self.products(grid);
        if !products.fits(&self.task.limits) {
            return Some(products);
        }
        let facts = self.known.facts_of(grid);
        self.pes.by_flow.contains_key(&key(&small(grid, facts))).then(|| self.pes.of_flow(grid, facts, &reached))
    }

    /// Makes small arrays of these grids' flows and lanes, where there are none yet.
    pub(super) fn make(&mut self, grids: &[&Grid]) {
        let mut fresh: Vec<Grid> = vec![];
        for grid in grids.iter().filter(|grid| self.of_grid(grid).is_none()) {
            let small = small(grid, self.known.facts_of(grid));
            if !fresh.iter().any(|f| key(f) == key(&small)) {
                fresh.push(small);
            }
        }
        self.made += fresh.len();
        let found = at_once(&fresh, |grid| self.known.per_pe(*grid));
        self.pes.by_flow.extend(fresh.iter().map(key).zip(found));
    }

    /// Roughly what all PEs of each of these grids take: where many arrays were made already, by a few small ones, as
    /// if tiles and lanes divided every loop.
    pub(super) fn guess(&mut self, grids: &[&Grid]) -> Vec<Resources> {
        if self.made < ARRAYS {
            return self.per_pe(grids);
        }
        let around = |grid: &Grid| -> Vec<Grid> {
            let most =
                self.known.facts_of(grid).extent.get(grid.flow.lanes as usize).copied().unwrap_or(1).min(LANES_PER_PE);
            let below = SAMPLED.into_iter().rfind(|l| *l <= grid.lanes);
            let above = SAMPLED.into_iter().find(|l| *l > grid.lanes && *l <= most);
            let lanes = below.into_iter().chain(above.filter(|_| below != Some(grid.lanes)));
            lanes.map(|lanes| Grid { pes: grid.pes.map(|p| p.min(ENOUGH)), lanes, ..*grid }).collect()
        };
        let products: Vec<_> = grids.iter().map(|grid| self.products(grid)).collect();
        let around: Vec<Vec<Grid>> = grids
            .iter()
            .zip(&products)
            .map(|(grid, (_, need))| if need.fits(&self.task.limits) { around(grid) } else { vec![] })
            .collect();
        self.make(&around.iter().flatten().collect::<Vec<_>>());
        let of = |((grid, around), (reached, products)): ((&&Grid, Vec<Grid>), (Vec<Option<i64>>, Resources))| {
            let all: Vec<Resources> = around.iter().map(|g| self.pes.of_array(g, grid, &reached)).collect();
            match (&around[..], &all[..]) {
                ([a, b], [of_a, of_b]) => between(of_a, of_b, grid.lanes - a.lanes, b.lanes - a.lanes),
                ([a], [of_a]) => scaled(of_a, grid.lanes, a.lanes),
                _ => products,
            }
        };
        grids.iter().zip(around).zip(products).map(of).collect()
    }

    /// PEs that each statement reaches, and what products take in them, at least.
    pub(super) fn products(&self, grid: &Grid) -> (Vec<Option<i64>>, Resources) {
        let reached = self.known.reached(grid);
        let need = self.known.multiplied(grid, &reached);
        (reached, need)
    }
}

fn key(small: &Grid) -> Key {
    (small.flow, small.lanes, small.pes)
}

/// So many parts of all on the way from one to the other.
fn between(from: &Resources, to: &Resources, parts: i64, all: i64) -> Resources {
    *from + scaled(&(*to - *from), parts, all)
}

fn scaled(r: &Resources, by: i64, of: i64) -> Resources {
    r.map(|_, n| n * by / of)
}
