//! The space of designs.
//!
//! **Terms.** A *flow* says which loops become what: a transform, the space loops, the loop of the lanes, and the loops of
//! further lanes whose products share DSP slices ([`Packing`]). A *grid* is a flow with numbers of PEs and lanes. A *shape* is a grid with a tiling and an order of the tile loops. A *wave* is
//! one point of the time loops, launched into the array; the iterations of one wave along a dimension are its *grain*.
//! The iterations of a dimension that follow one another in a PE within a tile are its *inner* ones, so a tile has
//! grain × inner iterations along it.
//!
//! **Method.** Sizes need not divide anything, so there are as many as numbers. Two rules keep the space small without
//! losing an optimum:
//!
//! - Among sizes that cut a loop into equally many parts only the least is listed ([`classes`]): the others take as
//!   many waves with more PEs or longer tiles. 100 iterations have 19 such sizes: 100, 50, 34, 25, 20, …
//! - An order of the tile loops matters only by the sets of loops around each load and each store. Only orders are
//!   listed whose sets no other order undercuts ([`Orders`]). A product of matrices has 3 instead of 6.
//!
//! **Invariant.** For every design of a flow the space has one with at most as many cycles in closed form and at most
//! as many PEs and lanes.
//!
//! **Example.** `C[i][j] += A[i][k] * B[k][j]` with 64³ iterations: the flow (identity; `i`, `j`; lanes along `k`), its
//! grid of 8×16 PEs with 4 lanes, and the shape with inner iterations (2, 1, 16): a tile of 16×16×64 iterations in
//! 2·1·16 = 32 waves, and 4·4·1 tiles. Outside all others, `i` or `j` may be the loop that keeps `A` or `B` loaded.

use crate::facts::{Access, Facts};
use crate::tuning;
use cost::bound::Sums;
use std::sync::OnceLock;
use uniform::mapping::{DimPlan, Plan};

/// Dimensions up to which programs are searched.
pub const MOST_DIMS: usize = 10;
/// In place of a dimension: no loop.
pub const NONE: u8 = u8::MAX;

/// Lanes along loops besides that of a sum: products of one slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packing {
    /// Transformed dimensions, or [`NONE`].
    pub dims: [u8; 2],
    /// Lanes along them; 1 along none.
    pub lanes: [i64; 2],
}

impl Packing {
    pub const NO: Packing = Packing { dims: [NONE; 2], lanes: [1; 2] };

    /// Of up to two dimensions with more than one lane, the outer one first.
    pub fn of(all: impl Iterator<Item = (u8, i64)>) -> Packing {
        let mut packing = Packing::NO;
        for (k, (dim, lanes)) in all.take(2).enumerate() {
            (packing.dims[k], packing.lanes[k]) = (dim, lanes);
        }
        packing
    }
}

/// Which loops become space loops and lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// Number of the transform.
    pub facts: u8,
    /// Transformed dimensions, or [`NONE`].
    pub axes: [u8; 2],
    pub lanes: u8,
    /// See [`Packing::dims`].
    pub beside: [u8; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grid {
    pub flow: Flow,
    pub pes: [i64; 2],
    /// Along the flow's loop of the lanes.
    pub lanes: i64,
    /// See [`Packing::lanes`].
    pub beside: [i64; 2],
}

/// Per dimension, the iterations that follow one another in a PE within a tile.
pub type Inner = [u32; MOST_DIMS];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape {
    pub grid: Grid,
    pub inner: Inner,
    /// Index into [`Orders::of`] of the tiled dimensions.
    pub order: u16,
}

/// Inner iterations of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    pub inner: u32,
    /// Waves along the dimension, in all tiles.
    pub waves: i64,
}

/// The sizes of a shape.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Per dimension, iterations of a tile.
    pub tile: [i64; MOST_DIMS],
    /// Per dimension, tiles.
    pub tiles: [i64; MOST_DIMS],
    /// Waves per tile.
    pub waves: i64,
    /// Tiled dimensions, as bits.
    pub tiled: u32,
}

impl Sizes {
    /// Tiles along these loops, as bits.
    pub fn over(&self, mask: u32) -> i64 {
        self.tiles.iter().enumerate().filter(|(d, _)| mask >> d & 1 == 1).map(|(_, n)| n).product()
    }
    /// Waves for which a partial result waits for the next tile of its sum.
    pub fn waits(&self, sums: &Sums) -> i64 {
        self.waves * self.over(sums.inside & !sums.head)
    }
}

impl Grid {
    /// The grid with these PEs, and lanes along these dimensions: along a sum's, and beside it.
    pub fn new(facts: u8, axes: [(u8, i64); 2], lanes: (u8, i64), beside: [(u8, i64); 2]) -> Grid {
        let several = |x: &(u8, i64)| x.1 > 1;
        let mut beside: Vec<(u8, i64)> = beside.into_iter().filter(several).collect();
        let is_axis = |dim: u8| axes.iter().any(|a| a.0 == dim);
        let alone = || if beside.len() == 1 && !is_axis(beside[0].0) { beside.pop() } else { None };
        let (dim, lanes) = Some(lanes).filter(several).or_else(alone).unwrap_or((NONE, 1));
        let Packing { dims, lanes: besides } = Packing::of(beside.into_iter());
        let flow = Flow { facts, axes: axes.map(|a| a.0), lanes: dim, beside: dims };
        Grid { flow, pes: axes.map(|a| a.1), lanes, beside: besides }
    }
    /// PEs and lanes along dimension `d`.
    pub fn along(&self, d: usize) -> (i64, i64) {
        let along = |dims: [u8; 2], counts: [i64; 2]| -> i64 {
            dims.into_iter().zip(counts).filter(|&(of, _)| of as usize == d).map(|(_, n)| n).product()
        };
        let lanes = if self.flow.lanes as usize == d { self.lanes } else { 1 };
        (along(self.flow.axes, self.pes), lanes * along(self.flow.beside, self.beside))
    }
    /// Iterations of one PE in one wave.
    pub fn all_lanes(&self) -> i64 {
        self.lanes * self.beside[0] * self.beside[1]
    }
    pub fn is_axis(&self, d: usize) -> bool {
        self.flow.axes.iter().any(|&a| a as usize == d)
    }
    /// A single row of PEs over two loops: the grid over one of them is listed instead.
    pub fn is_line(&self, extents: &[&[i64]]) -> bool {
        let longest = |a: usize| extents.iter().map(|e| e[self.flow.axes[a] as usize]).max().unwrap_or(1);
        self.flow.axes[1] != NONE && self.pes.contains(&1) && longest(0).min(longest(1)) > 1
    }
    /// Iterations of dimension `d` in one wave.
    pub fn grain(&self, d: usize) -> i64 {
        let (pes, lanes) = self.along(d);
        pes * lanes
    }
    /// Cycles from the launch of the last wave to the last PE that emits, at least. Where no PE but those at the end of a
    /// sum along an axis emit, the sum crosses the axis.
    pub fn cross(&self, facts: &Facts, inner: &Inner) -> i64 {
        let along = |a: usize| {
            let axis = usize::from(self.flow.axes[a]);
            let of = |w: &Access| match axis < MOST_DIMS {
                true if w.mask >> axis & 1 == 1 => self.pes[a] - 1,
                true if w.ends >> axis & 1 == 1 => self.place_of_last(axis, facts.extent[axis], inner[axis].into()),
                _ => 0,
            };
            facts.writes.iter().map(of).min().unwrap_or(self.pes[a] - 1)
        };
        (0..2).map(along).sum()
    }
    /// The PE along an axis that executes the last of `n` iterations, whether its iterations are dealt in blocks or in
    /// turn: the nearer one.
    fn place_of_last(&self, axis: usize, n: i64, inner: i64) -> i64 {
        let (pes, lanes) = self.along(axis);
        let last = (n - 1) % (pes * lanes * inner);
        (last / (lanes * inner)).min(last / lanes % pes)
    }
    /// Iterations in one wave.
    pub fn peak(&self) -> i64 {
        self.pes[0] * self.pes[1] * self.all_lanes()
    }
    /// Waves if every dimension is one tile: the fewest.
    pub fn waves(&self, facts: &Facts) -> i64 {
        let of = |extent: &[i64]| extent.iter().enumerate().map(|(d, n)| parts(*n, self.grain(d))).product::<i64>();
        if facts.classes.is_empty() {
            of(&facts.extent)
        } else {
            facts.classes.iter().map(|class| class.phases * of(&class.extent)).sum()
        }
    }
    /// Waves along dimension `d` with `n` iterations in all and so many inner ones: the last tile ends with them.
    pub fn waves_along(&self, d: usize, n: i64, inner: u32) -> i64 {
        let (inner, grain) = (i64::from(inner), self.grain(d));
        if n > grain * inner || self.is_axis(d) {
            parts(n, grain * inner) * inner
        } else {
            parts(n, grain)
        }
    }
    pub fn sizes(&self, extent: &[i64], inner: &Inner) -> Sizes {
        let mut s = Sizes { tile: [1; MOST_DIMS], tiles: [1; MOST_DIMS], waves: 1, tiled: 0 };
        for (d, n) in extent.iter().enumerate() {
            s.tile[d] = self.grain(d) * i64::from(inner[d]);
            s.tiles[d] = parts(*n, s.tile[d]);
            s.waves *= i64::from(inner[d]);
            s.tiled |= u32::from(s.tiles[d] > 1) << d;
        }
        s
    }

    /// Dimensions with all their iterations in the lanes of a PE, as bits.
    pub fn in_lanes(&self, extent: &[i64], inner: &Inner) -> u32 {
        let is_in = |d: &usize| self.along(*d).0 == 1 && inner[*d] == 1 && self.along(*d).1 >= extent[*d];
        (0..extent.len()).filter(is_in).fold(0, |all, d| all | 1 << d)
    }

    /// The cells of all lanes along dimension `d` lie side by side in one word, over ports of these widths (bytes) and
    /// with so many inner iterations of the dimension.
    pub fn storable(&self, facts: &Facts, d: usize, inner: i64, width: impl Fn(usize) -> i64) -> bool {
        let (_, lanes) = self.along(d);
        inner == 1 || lanes == 1 || facts.side_by_side(d, width).iter().all(|word| word % lanes == 0)
    }

    /// Per dimension, the inner iterations to search. `width`: bytes of a port's widest word.
    pub fn options(&self, facts: &Facts, width: impl Fn(usize) -> i64) -> Vec<Vec<Choice>> {
        (0..facts.extent.len())
            .map(|d| {
                let scattered = !self.storable(facts, d, i64::MAX, &width);
                let whole = if scattered { 1 } else { parts(facts.extent[d], self.grain(d)) };
                let all = parts(facts.extent[d], self.grain(d));
                let tiles: Box<dyn Iterator<Item = i64>> = match (facts.parallel(d), self.is_axis(d)) {
                    (true, _) => Box::new(classes(whole)),
                    _ if facts.front => Box::new([whole].into_iter()),
                    // The next PE's first iteration would need the last one of this PE.
                    (false, true) if facts.carried.stepped[d] && self.along(d).0 > 1 => Box::new([1].into_iter()),
                    (false, true) => Box::new([1, whole].into_iter()),
                    (false, false) => Box::new([whole].into_iter()),
                };
                let choice = |inner: i64| Choice { inner: inner as u32, waves: parts(all, inner) * inner };
                let mut found: Vec<Choice> = tiles.map(choice).collect();
                found.sort_unstable();
                found.dedup();
                found
            })
            .collect()
    }
}

impl Shape {
    pub fn plan(&self, facts: &Facts, order: &[usize]) -> Plan {
        let dims = facts.extent.iter().enumerate().map(|(d, &n)| {
            let (pes, simd) = self.grid.along(d);
            let inner = i64::from(self.inner[d]);
            match (0..2).find(|&a| self.grid.flow.axes[a] as usize == d) {
                Some(axis) => DimPlan {
                    tile: Some(pes * inner * simd),
                    axis: Some(axis),
                    latency: inner,
                    simd,
                    ..DimPlan::default()
                },
                None => DimPlan { tile: (inner * simd < n).then_some(inner * simd), simd, ..DimPlan::default() },
            }
        });
        Plan { transform: facts.transform.clone(), dims: dims.collect(), order: order.to_vec() }
    }
}

/// Parts of this size that cover `n`.
pub fn parts(n: i64, size: i64) -> i64 {
    (n + size - 1) / size
}

/// The least size of every number of parts that `n` can be cut into, in falling order.
pub fn classes(n: i64) -> impl Iterator<Item = i64> {
    let mut next = Some(n.max(1));
    std::iter::from_fn(move || {
        let size = next?;
        // The number of parts grows at the greatest smaller size; the least size of that number.
        next = (size > 1).then(|| parts(n, parts(n, size - 1)));
        Some(size)
    })
}

/// An order of all dimensions, outermost first, and what it means for loads and stores.
#[derive(Clone, Debug)]
pub struct Order {
    pub dims: Vec<usize>,
    /// The order with the same loops around loads and stores that it replaces where values wait less long in it.
    pub instead: Option<u16>,
    /// Per read: tile loops around its loads, as bits.
    pub reload: Vec<u32>,
    /// Per write.
    pub sums: Vec<Sums>,
}

impl Order {
    /// The initiation interval, at least: a value that is carried along a loop in a fixed order must be computed when a
    /// PE needs it again. Along a space loop it passes all PEs first.
    pub fn interval(&self, facts: &Facts, grid: &Grid, inner: &Inner) -> i64 {
        let mut most = 1;
        for (c, &latency) in facts.carried.latency.iter().enumerate().filter(|(_, latency)| **latency > 0) {
            let inside = || self.dims.iter().skip_while(|&&d| d != c).skip(1).copied();
            let (pes, _) = grid.along(c);
            let tiles = |d: usize| parts(facts.extent[d], grid.grain(d) * i64::from(inner[d]));
            let in_tile = |all: &mut dyn Iterator<Item = usize>| all.map(|d| i64::from(inner[d])).product::<i64>();
            let depth = facts.extent.len();
            let waves = if grid.is_axis(c) {
                if inner[c] > 1 || tiles(c) == 1 {
                    continue;
                }
                in_tile(&mut (0..depth)) * inside().map(tiles).product::<i64>()
            } else if inner[c] > 1 {
                in_tile(&mut inside().filter(|&d| !grid.is_axis(d)))
                    * in_tile(&mut (0..depth).filter(|&d| grid.is_axis(d)))
            } else {
                continue;
            };
            most = most.max(parts(latency * pes, waves.max(1)));
        }
        most
    }
}

/// The orders to search, by the set of tiled dimensions. In deep nests only the orders of the tiled dimensions are
/// listed: the cost of an order depends on these alone.
pub struct Orders {
    all: Vec<Vec<usize>>,
    by_set: Vec<OnceLock<Vec<Order>>>,
}

impl Orders {
    pub fn new(facts: &Facts) -> Orders {
        let depth = facts.extent.len();
        let all = if depth <= tuning::LOOPS_WITH_ALL_ORDERS {
            orders_of(facts, &(0..depth).collect::<Vec<_>>())
        } else {
            vec![]
        };
        Orders { all, by_set: vec![OnceLock::new(); 1 << depth] }
    }

    pub fn of(&self, facts: &Facts, tiled: u32) -> &[Order] {
        let depth = facts.extent.len();
        self.by_set[tiled as usize].get_or_init(|| {
            if depth <= tuning::LOOPS_WITH_ALL_ORDERS {
                return undominated(facts, &self.all, tiled);
            }
            let (tiles, rest): (Vec<usize>, Vec<usize>) = (0..depth).partition(|d| tiled >> d & 1 == 1);
            let all: Vec<Vec<usize>> =
                orders_of(facts, &tiles).iter().map(|tiles| around_tiled(facts, tiles, &rest)).collect();
            undominated(facts, &all, tiled)
        })
    }
}

/// All orders of some loops, first those with sums further inside, then those nearest to the program's order.
fn orders_of(facts: &Facts, dims: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    // Some loops alone do not show which orders are legal, so dependent loops stay in order.
    let whole = dims.len() == facts.extent.len();
    for &d in dims {
        all = all
            .into_iter()
            .flat_map(|p| {
                (0..=p.len()).map(move |k| {
                    let mut q = p.clone();
                    q.insert(k, d);
                    q
                })
            })
            .collect();
        all.retain(|p| whole || p.iter().filter(|&&d| !facts.parallel(d)).is_sorted());
    }
    all.retain(|p| {
        !whole || p.is_sorted() || p.iter().take(facts.phases).copied().eq(0..facts.phases) && facts.allows(p)
    });
    let outside = |p: &Vec<usize>| -> usize {
        p.iter().enumerate().filter(|(_, &d)| facts.carried.summed[d]).map(|(k, _)| dims.len() - k).sum()
    };
    all.sort_by_cached_key(|p| (outside(p), p.clone()));
    all
}

/// An order of all loops with the tiled ones in this order. The others are inside, except dependent ones that must be
/// further out.
fn around_tiled(facts: &Facts, tiles: &[usize], rest: &[usize]) -> Vec<usize> {
    let (mut order, mut rest) = (vec![], rest.to_vec());
    for &d in tiles {
        if !facts.parallel(d) {
            let (outer, inner) = rest.into_iter().partition::<Vec<usize>, _>(|&r| !facts.parallel(r) && r < d);
            order.extend(outer);
            rest = inner;
        }
        order.push(d);
    }
    order.extend(rest);
    order
}

/// The orders whose sets of loops around loads and stores no other order undercuts; behind them, those with equal sets
/// in which values wait less long.
fn undominated(facts: &Facts, all: &[Vec<usize>], tiled: u32) -> Vec<Order> {
    let bits = |dims: &[usize]| dims.iter().fold(0u32, |m, d| m | 1 << d);
    let mut least: Vec<(Vec<u32>, Order)> = vec![];
    let mut equal: Vec<Order> = vec![];
    for dims in all {
        let tiles: Vec<usize> = dims.iter().copied().filter(|d| tiled >> d & 1 == 1).collect();
        // Dependent tile loops stay in order.
        if !tiles.iter().filter(|&&d| !facts.parallel(d)).is_sorted() {
            continue;
        }
        let moves = |mask: u32| move |d: &usize| mask >> d & 1 == 1;
        let reload: Vec<u32> = facts
            .reads
            .iter()
            .map(|a| bits(&tiles[..tiles.iter().rposition(moves(a.mask)).map_or(0, |l| l + 1)]))
            .collect();
        let sums_of = |a: &Access| {
            let Some(j) = tiles.iter().position(moves(!a.mask)) else { return Sums::default() };
            let innermost = tiles.iter().rposition(moves(a.mask)).unwrap_or(0).max(j);
            let outer = if moves(a.sum)(&tiles[j]) { bits(&tiles[j..innermost]) & a.sum } else { 0 };
            Sums { inside: bits(&tiles[j..]), head: 1 << tiles[j], outer }
        };
        let sums: Vec<Sums> = facts.writes.iter().map(sums_of).collect();
        let stored = facts.writes.iter().zip(&sums).flat_map(|(a, s)| [s.inside & a.mask, s.outer]);
        let key: Vec<u32> = reload.iter().copied().chain(stored).collect();
        let within = |a: &[u32], b: &[u32]| a.iter().zip(b).all(|(x, y)| x & !y == 0);
        let order = Order { dims: dims.clone(), instead: None, reload, sums };
        if least.iter().any(|l| within(&l.0, &key)) {
            if least.iter().any(|l| l.0 == key) {
                equal.push(order);
            }
            continue;
        }
        least.retain(|l| !within(&key, &l.0));
        least.push((key, order));
    }
    let mut orders: Vec<Order> = least.into_iter().map(|l| l.1).collect();
    for k in 0..orders.len() {
        let same = equal.iter().rev().filter(|o| o.reload == orders[k].reload && o.sums == orders[k].sums);
        let waiting = shortest_waits(facts, &orders[k], same);
        orders.extend(waiting.into_iter().map(|order| Order { instead: Some(k as u16), ..order }));
    }
    orders
}

/// A value of floats waits for its operator unless other loops run inside the loop that carries it. These are the
/// orders in which such a loop has fewer loops outside than in any other.
fn shortest_waits<'o>(facts: &Facts, plain: &Order, others: impl Iterator<Item = &'o Order>) -> Vec<Order> {
    let around = |order: &Order| -> Vec<u32> {
        let place = |c: usize| order.dims.iter().position(|&d| d == c).unwrap_or(0);
        (0..facts.extent.len())
            .filter(|c| facts.carried.slow >> c & 1 == 1)
            .map(|c| order.dims[..place(c)].iter().fold(0, |m, d| m | 1 << d))
            .collect()
    };
    let within = |a: &[u32], b: &[u32]| a.iter().zip(b).all(|(x, y)| x & !y == 0);
    let plain = around(plain);
    let mut least: Vec<(Vec<u32>, &Order)> = vec![];
    for order in others {
        let waits = around(order);
        if within(&plain, &waits) || least.iter().any(|l| within(&l.0, &waits)) {
            continue;
        }
        least.retain(|l| !within(&waits, &l.0));
        least.push((waits, order));
    }
    least.into_iter().map(|l| l.1.clone()).collect()
}

/// Every flow of one transform whose space loops are allowed.
pub fn flows(facts: &Facts, index: u8, packings: &[Packing], allowed: &dyn Fn(&[usize]) -> bool) -> Vec<Flow> {
    let depth = facts.extent.len();
    let mut all = vec![];
    for a in facts.phases..depth {
        for b in (a + 1..depth).map(Some).chain([None]) {
            let axes: Vec<usize> = [a].into_iter().chain(b).collect();
            let reversed: Vec<usize> = axes.iter().rev().copied().collect();
            let axes = if allowed(&axes) {
                axes
            } else if allowed(&reversed) {
                reversed
            } else {
                continue;
            };
            let lanes = (0..depth).filter(|d| !axes.contains(d) && facts.parallel(*d) && facts.extent[*d] > 1);
            let axes = [axes[0] as u8, axes.get(1).map_or(NONE, |&b| b as u8)];
            for lanes in std::iter::once(NONE).chain(lanes.map(|d| d as u8)) {
                let beside = packings.iter().map(|p| p.dims).filter(|dims| match lanes {
                    // A single loop is that of the lanes, unless it is a space loop.
                    NONE => dims[1] != NONE || axes.contains(&dims[0]),
                    lanes => facts.carried.summed[lanes as usize] && !dims.contains(&lanes),
                });
                let besides = std::iter::once([NONE; 2]).chain(beside);
                all.extend(besides.map(|beside| Flow { facts: index, axes, lanes, beside }));
            }
        }
    }
    all
}

/// Every grid of a flow with at most `most` lanes in all PEs, for programs whose loops have these extents. `beside`: the
/// flow's lanes whose products share slices.
pub fn grids(extents: &[&[i64]], flow: Flow, beside: [i64; 2], most: i64, lanes_per_pe: i64) -> Vec<Grid> {
    let most = most / (beside[0] * beside[1]);
    let together = Grid { flow, pes: [1; 2], lanes: 1, beside };
    let sizes = |d: u8, most: i64| -> Vec<i64> {
        let mut all: Vec<i64> = if d == NONE {
            vec![1]
        } else {
            let (_, lanes) = together.along(d as usize);
            extents.iter().flat_map(|e| classes(parts(e[d as usize], lanes))).filter(|&p| p <= most).collect()
        };
        all.sort_unstable();
        all.dedup();
        all
    };
    let mut all = vec![];
    for lanes in sizes(flow.lanes, lanes_per_pe.min(most)).into_iter().filter(|&s| (s > 1) == (flow.lanes != NONE)) {
        for p0 in sizes(flow.axes[0], most / lanes) {
            for p1 in sizes(flow.axes[1], most / lanes / p0) {
                all.push(Grid { pes: [p0, p1], lanes, ..together });
            }
        }
    }
    all.retain(|grid| !grid.is_line(extents));
    all
}
