//! What a search knows of a program under one transform before it assembles anything.
//!
//! - [`carried`]: the dependences. Along which dimensions no value moves (free to tile, to reorder, to give lanes), and
//!   how long values wait along the others.
//! - [`access`], [`accesses`]: the loads and stores. Which box of cells a tile touches, in how many bus beats.
//! - [`transitions`]: phases that load what the phase before them has stored.
//! - Here: how far the loops run, and which ports move how much.
//!
//! Everything is a fact of every design under the transform, or a lower bound. Where lowering decides something, such
//! as which partial sums may go to DRAM, both ask the same predicate (`array::pe::spill`).
//!
//! Example: `C[i][j] += A[i][k] * B[k][j]` under the identity. No dependence but the sum's moves along `i` or `j`, so
//! they are free; `k` is summed. A tile of 4×8×16 iterations loads 4×16 cells of `A` and 16×8 of `B`, and stores 4×8 of
//! `C`; `A`'s mask has the bits of `i` and `k`.

mod access;
mod accesses;
mod carried;
mod transitions;

pub use access::Access;
pub use carried::Carried;
pub use transitions::{Passed, Transition};

use crate::tuning;
use accesses::Accesses;
use array::io::port;
use array::kernel::Kernel;
use cost::bound::{Transfer, PORTS};
use cost::memory::Most;
use uniform::design::DesignSpec;
use uniform::space_time::tile::{reach, transformed_bounds};
use uniform::system::System;

/// Phases in which every loop runs equally long.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseClass {
    pub phases: i64,
    /// Iterations of each transformed dimension in one phase; 1 along those of phases.
    pub extent: Vec<i64>,
}

/// A port in use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Port {
    pub arrays: Vec<usize>,
    /// Bytes of the largest element.
    pub bytes: i64,
    /// Bytes of the widest word that a search gives it: the user's, or what its memory can use; if buses may be wider
    /// than the memory, more.
    pub widest: i64,
    /// Of these, what its memory can use.
    pub usable: i64,
    /// A bus wider than its memory may be of use: the port may pass words of which nothing is transferred, those of a
    /// tile beyond the array, or that no iteration reads or stores.
    pub passes_more: bool,
}

/// Two loads of an array that only some dimensions tell apart. If each of these has all its iterations in the lanes of a
/// PE, the loads differ by constants, and a finished array has one group for both.
///
/// Example: `x[i - 1][j]` and, where `i` is 0, `x[0][j]`, with all of `i` in lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Alike {
    /// Numbers among the loads.
    loads: [usize; 2],
    /// The dimensions, as bits.
    dims: u32,
}

/// The facts of one transform. A dimension is a transformed one, if not said otherwise.
#[derive(Clone, Debug)]
pub struct Facts {
    pub transform: Vec<Vec<i64>>,
    /// The leading dimensions that run phases.
    pub phases: usize,
    pub extent: Vec<i64>,
    /// Empty for a program of one phase.
    pub classes: Vec<PhaseClass>,
    /// The class of the first phase, if it has no other phase.
    pub first: Option<usize>,
    pub transitions: Vec<Transition>,
    pub carried: Carried,
    pub reads: Vec<Access>,
    /// Cells written at the end.
    pub writes: Vec<Access>,
    /// Loads that may be one.
    alike: Vec<Alike>,
    pub ports: Vec<Port>,
    /// What the ports can carry.
    pub most: Most,
    /// The ports may carry less than a word a cycle, so bytes count beside beats.
    counts_bytes: bool,
    /// The last dimension is a wavefront (`transform::wavefront`), inside which all others are one tile.
    pub front: bool,
}

impl Facts {
    pub fn new(program: &Kernel, spec: &DesignSpec, transform: &[Vec<i64>]) -> Facts {
        let system = &program.system;
        let bounds = transformed_bounds(system, transform);
        let classes: Vec<PhaseClass> =
            system.cases.iter().map(|of| class(system, transform, &bounds, &of.bounds)).collect();
        let accesses = Accesses::new(program, transform, &bounds, &classes);
        let (mut reads, mut writes) = (accesses.reads(), accesses.writes());
        let extent: Vec<i64> = bounds.iter().map(|b| b.1 - b.0 + 1).collect();
        reads.iter_mut().for_each(|a| a.counted &= a.reads_everywhere(&extent));
        let ports = number_ports(program, spec, reads.iter_mut().chain(&mut writes));
        let most = most(program, spec, &ports);
        let word = |p: usize, all: &[Access]| if all.iter().any(|a| a.port == p) { ports[p].widest } else { 0 };
        let words: Vec<[i64; 2]> = (0..ports.len()).map(|p| [word(p, &reads), word(p, &writes)]).collect();
        Facts {
            transform: transform.to_vec(),
            phases: system.frame().outer,
            first: system.cases.iter().position(|c| {
                c.bounds.iter().zip(&system.dims).take(system.frame().outer).all(|(b, d)| *b == (d.lo, d.lo))
            }),
            carried: Carried::new(program, transform),
            transitions: transitions::transitions(system, &reads, &writes, &program.passed),
            alike: alike(program, &reads, &extent),
            counts_bytes: most.may_bind(&words),
            most,
            ports,
            classes,
            reads,
            writes,
            extent,
            front: false,
        }
    }

    /// The facts of a wavefront's transform.
    pub fn of_front(program: &Kernel, spec: &DesignSpec, transform: &[Vec<i64>]) -> Facts {
        Facts { front: true, ..Facts::new(program, spec, transform) }
    }

    /// Cycles in which the busiest port moves what must be moved once, over the widest words.
    pub fn floor(&self) -> i64 {
        let (mut loads, mut stores) = ([0; PORTS], [0; PORTS]);
        for (_, a) in self.loads(&self.extent, u32::MAX).filter(|(_, a)| a.port < PORTS) {
            loads[a.port] += a.load_beats(&self.extent, self.ports[a.port].widest);
        }
        for a in self.writes.iter().filter(|a| a.port < PORTS) {
            stores[a.port] += a.store_beats(&self.extent, self.ports[a.port].widest);
        }
        loads.into_iter().chain(stores).max().unwrap_or(0)
    }

    /// The loads of a tile, each with its number. Of those that are one in a finished array, the largest. `in_lanes`:
    /// dimensions with all their iterations in the lanes of a PE, as bits.
    pub fn loads<'f>(&'f self, tile: &'f [i64], in_lanes: u32) -> impl Iterator<Item = (usize, &'f Access)> {
        let bytes = |k: usize| (self.reads[k].load_beats(tile, 1), std::cmp::Reverse(k));
        let is_less = move |k: usize| {
            let others = self.alike.iter().filter(|a| a.dims & !in_lanes == 0).filter_map(|a| match a.loads {
                [one, other] if one == k => Some(other),
                [other, one] if one == k => Some(other),
                _ => None,
            });
            others.into_iter().any(|other| bytes(other) > bytes(k))
        };
        self.reads.iter().enumerate().filter(move |(k, _)| !is_less(*k))
    }

    /// What a tile moves over words of `widths` bytes, by port; nothing through loads that are one with another.
    /// `in_lanes`: as for [`Facts::loads`].
    pub fn transfers(
        &self,
        (tile, in_lanes): (&[i64], u32),
        widths: &[i64],
        loads: &mut Vec<Transfer>,
        stores: &mut Vec<Transfer>,
    ) {
        let of = |a: &Access, beats: i64, bytes: i64| {
            let back = if self.comes_back(a) { beats } else { 0 };
            Transfer { port: a.port, beats, bytes, mask: a.mask, sum: a.sum, back, early: a.early }
        };
        let average = self.counts_bytes.then(|| self.average(tile));
        let bytes = |of: &dyn Fn(&[f64]) -> i64| average.as_ref().map_or(0, |tile| of(tile));
        loads.clear();
        loads.extend(
            self.reads.iter().map(|a| of(a, a.load_beats(tile, widths[a.port]), bytes(&|tile| a.load_bytes(tile)))),
        );
        if !self.alike.is_empty() {
            let own: Vec<usize> = self.loads(tile, in_lanes).map(|(k, _)| k).collect();
            for (_, load) in loads.iter_mut().enumerate().filter(|(k, _)| !own.contains(k)) {
                (load.beats, load.bytes) = (0, 0);
            }
        }
        stores.clear();
        stores.extend(
            self.writes.iter().map(|a| of(a, a.store_beats(tile, widths[a.port]), bytes(&|tile| a.store_bytes(tile)))),
        );
    }

    /// Iterations of a tile on average over all tiles: the last one along a dimension may have fewer.
    fn average(&self, tile: &[i64]) -> Vec<f64> {
        let along = |(&n, &tile): (&i64, &i64)| n as f64 / ((n + tile - 1) / tile.max(1)).max(1) as f64;
        self.extent.iter().zip(tile).map(along).collect()
    }

    /// Partial results of this store need loads of their own: the program does not read the cells.
    pub fn comes_back(&self, store: &Access) -> bool {
        store.sum != 0 && !self.reads.iter().any(|r| r.array == store.array && r.subscripts == store.subscripts)
    }

    /// Elements per word of every array whose rows the lanes of dimension `d` store, over ports of these widths
    /// (bytes). If other iterations of `d` follow in time, the number of lanes must divide them: the lanes' cells fall
    /// into one word.
    pub fn side_by_side(&self, d: usize, width: impl Fn(usize) -> i64) -> Vec<i64> {
        let along = |w: &&Access| w.plain && w.subscripts.last().is_some_and(|s| s.get(d).is_some_and(|&c| c != 0));
        self.writes.iter().filter(along).map(|w| width(w.port) / w.bytes).collect()
    }

    /// The program's dimension that a transformed one consists of, if it is only one.
    pub fn alone(&self, transformed: usize) -> Option<usize> {
        let row = self.transform.get(transformed)?;
        row.iter().position(|c| *c != 0).filter(|&d| row[d + 1..].iter().all(|c| *c == 0))
    }

    /// Every transformed dimension is a loop.
    fn is_plain(&self) -> bool {
        (0..self.extent.len()).all(|d| self.alone(d).is_some())
    }

    /// The first word of the first load through this access is transferred, in each phase. What lies beyond an array is
    /// not, so a load that begins there has passed some words before the memory answers.
    pub fn begins(&self, load: &Access) -> bool {
        load.within && load.goes_on() && self.is_plain()
    }

    /// The last tile of the run stores a box through this access, from its first cell on.
    pub fn stores_box(&self, store: &Access) -> bool {
        self.classes.is_empty() && store.counted && store.early == 0 && store.goes_on() && self.is_plain()
    }

    /// Whichever loop is innermost, a value of floats waits there for its operator.
    pub fn always_waits(&self) -> bool {
        let depth = self.extent.len();
        let innermost = |d: usize| (0..depth).filter(|&other| other != d).chain([d]).collect::<Vec<_>>();
        (self.phases..depth).all(|d| self.carried.latency[d] > 0 || !self.allows(&innermost(d)))
    }

    /// The order of dimensions that a plan has at first: the program's, with a wavefront outside.
    pub fn order(&self) -> Vec<usize> {
        let depth = self.extent.len();
        if self.front {
            [depth - 1].into_iter().chain(0..depth - 1).collect()
        } else {
            (0..depth).collect()
        }
    }

    /// In this order of dimensions every value is computed before it is read.
    pub fn allows(&self, order: &[usize]) -> bool {
        self.carried.allows(order.iter().copied().filter(|&d| !self.parallel(d)))
    }

    /// The search may choose tiles, lanes and the place in the order for this dimension.
    pub fn parallel(&self, d: usize) -> bool {
        d >= self.phases && (self.carried.free[d] || self.carried.summed[d])
    }
}

/// The loads that may be one. Lanes hold no more iterations of a loop than [`tuning::LANES_PER_PE`], and are along one
/// loop, but for products of integers that share DSP slices.
fn alike(program: &Kernel, reads: &[Access], extent: &[i64]) -> Vec<Alike> {
    let is_float = program.scop.arrays.iter().all(|a| a.ty.is_float());
    let loops = if is_float { 1 } else { tuning::LOOPS_OF_LANES };
    let pairs = (0..reads.len()).flat_map(|one| (one + 1..reads.len()).map(move |other| [one, other]));
    let of = |loads: [usize; 2]| {
        let [a, b] = loads.map(|k| &reads[k]);
        let differs = |d: &usize| a.subscripts.iter().zip(&b.subscripts).any(|(a, b)| a[*d] != b[*d]);
        let dims: Vec<usize> = (0..extent.len()).filter(differs).collect();
        let long = dims.iter().filter(|&&d| extent[d] > 1);
        let in_lanes = long.clone().count() <= loops && long.clone().all(|&d| extent[d] <= tuning::LANES_PER_PE);
        let may_be_one = a.array == b.array && in_lanes;
        may_be_one.then(|| Alike { loads, dims: dims.iter().fold(0, |all, d| all | 1 << d) })
    };
    pairs.filter_map(of).collect()
}

/// The phases in the box `all` of the program's dimensions.
fn class(system: &System, transform: &[Vec<i64>], bounds: &[(i64, i64)], all: &[(i64, i64)]) -> PhaseClass {
    let extent = |(d, reach)| if d < system.frame().outer { 1 } else { reach + 1 };
    PhaseClass {
        phases: all[..system.frame().outer].iter().map(|b| b.1 - b.0 + 1).product(),
        extent: reach(transform, bounds, all).into_iter().enumerate().map(extent).collect(),
    }
}

/// What the ports can carry.
fn most(program: &Kernel, spec: &DesignSpec, ports: &[Port]) -> Most {
    let names = |port: &Port| {
        let on_chip = port.arrays.iter().any(|&a| program.on_chip[a]);
        let names = || port.arrays.iter().map(|&a| program.scop.arrays[a].name.as_str()).collect();
        (!on_chip).then(names)
    };
    Most::new(spec, ports.iter().map(names))
}

/// Numbers the ports in use, in the order of the accesses.
fn number_ports<'a>(program: &Kernel, spec: &DesignSpec, accesses: impl Iterator<Item = &'a mut Access>) -> Vec<Port> {
    let (mut used, mut ports): (Vec<usize>, Vec<Port>) = (vec![], vec![]);
    for access in accesses {
        let number = program.ports[access.array];
        access.port = used.iter().position(|&p| p == number).unwrap_or_else(|| {
            used.push(number);
            ports.push(Port::default());
            used.len() - 1
        });
        let port = &mut ports[access.port];
        port.bytes = access.bytes.max(port.bytes);
        port.passes_more |= !access.counted;
        if !port.arrays.contains(&access.array) {
            port.arrays.push(access.array);
        }
    }
    for port in &mut ports {
        let arrays = || port.arrays.iter().map(|&a| &program.scop.arrays[a]);
        let on_chip = port.arrays.iter().any(|&a| program.on_chip[a]);
        let most = spec.widest_bus(arrays().map(|a| a.name.as_str())).filter(|_| !on_chip).unwrap_or(port::WIDEST);
        let fixed = port::bus_bytes(&spec.wiring, arrays()).map(i64::from);
        port.passes_more &= most < port::WIDEST && fixed.is_none();
        let wider = if spec.memory.wider && port.passes_more { tuning::WIDER_THAN_MEMORY } else { 1 };
        let word = |most: u32| fixed.unwrap_or(i64::from(most).max(port.bytes).max(4));
        (port.usable, port.widest) = (word(most), word((most * wider).min(port::WIDEST)));
    }
    ports
}
