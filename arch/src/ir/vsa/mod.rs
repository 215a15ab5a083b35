//! `Vsa`: the virtual systolic array, the interface between the mapping (`arch`) and the hardware (`templates`).
//!
//! The array executes **waves**. A wave is one point of the time loops ([`Vsa::counters`], outermost first, all
//! rectangular and counting 0, 1, …). Every PE `p` executes every wave, `skew · p` cycles after it is launched.
//! One PE executes, for one wave, every node of [`Vsa::nodes`] once. So the value of a node is a function of
//! `(wave, p)`, and the whole array is a system of uniform recurrences:
//!
//! - [`Op::Past`] is the only node that looks elsewhere: it is the value of its source at PE `p - hop`, `waves`
//!   launches ago. Everything else combines values of the same wave and PE.
//! - [`Op::Input`] is a word of an array in DRAM, brought by the group's feeders: the element at
//!   `subscripts(counters, p) + ports[port]`.
//! - [`Op::Guard`] is a conjunction of affine conditions over counters and PE coordinates.
//! - An [`OutputGroup`] stores a node's value to DRAM in those waves and PEs where its `enable` node is 1.
//!
//! A PE outside the domain of its statement, or one whose neighbour does not exist, computes a value nobody selects;
//! nodes have no side effects, so that is harmless. Values are bit patterns of their type.
//!
//! Time: node `n` of wave `w` is on its wire at PE `p` in cycle `launch(w) + skew·p + ready[n]` (see [`Schedule`]).
//!
//! Source: PolySA section 4 (VSA), AutoSA section 4.3 (I/O groups), Kung's URE model.

mod op;

use super::cases::Cases;
use super::sizes::Sizes;
use crate::affine::Form;
use frontend::scop::{Affine, Expr, ScalarType};
pub use op::{Node, NodeId, Op};
use std::collections::{BTreeMap, BTreeSet};

/// A time loop. The first [`Vsa::tile_depth`] counters walk tiles (a *visit* is one point of these), the rest run inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// For people: `i.tile`, `k.time`, `i.latency`, …
    pub name: String,
    pub trip: i64,
}

/// An array that readers and writers move word by word, in C's row-major layout: in DRAM, or on chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DramArray {
    pub name: String,
    pub ty: ScalarType,
    /// Extents, outermost first; empty for a single element (treated as one dimension of extent 1).
    pub dims: Vec<i64>,
    /// Elements per bus word: bus width is `word * ty.bytes()` bytes, a power of two from 4 to 128.
    pub word: u32,
    /// The AXI port that moves it. Arrays may share one; ports are numbered in the order of their first arrays.
    pub port: u32,
    /// It is no argument of the program, but passes values between phases. Those stand behind all others, those on chip last.
    pub scratch: Option<Scratch>,
}

/// Bits of an address within a memory on chip, at least: bursts end at multiples of 4 KiB.
const LEAST_ADDRESS_BITS: u32 = 13;

/// Where values lie that one phase passes on to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scratch {
    /// In a buffer in DRAM that the host gives and never looks at.
    Dram,
    /// In a memory of the IP's own, behind a port of its own: that is no AXI port of the IP.
    OnChip,
}

impl DramArray {
    /// Extents as a hull whose view has `rank` dimensions sees them: inner ones beyond that are one (`crate::reshape`).
    pub fn extents(&self, rank: usize) -> Vec<i64> {
        let (outer, inner) = self.dims.split_at(self.dims.len().min(rank - 1));
        [outer, &[inner.iter().product()]].concat()
    }
    /// Bytes per bus word: the same for all arrays of a port.
    pub fn bus_bytes(&self) -> u32 {
        self.word * self.ty.bytes()
    }
    /// Size in memory.
    pub fn bytes(&self) -> i64 {
        self.dims.iter().product::<i64>() * i64::from(self.ty.bytes())
    }
    /// Bus words that hold all of it.
    pub fn words(&self) -> i64 {
        let elements: i64 = self.dims.iter().product();
        (elements + i64::from(self.word) - 1) / i64::from(self.word)
    }
}

/// A scalar that the host passes by value: a register, fixed during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub name: String,
    pub ty: ScalarType,
    /// How many of [`Vsa::arrays`] stand before it among the kernel's arguments.
    pub after: u32,
    /// What the host computes it from, where no caller gives it: reads are scalars before it, by index.
    pub host: Option<Expr>,
}

/// The box of an array that one visit touches. Its coordinates `y` are the array's subscripts, or something they depend
/// on (`view`): where PEs write every other element, or diagonals, those are a box in `y` only.
/// It is walked in row-major order, the last dimension in words of `word` elements; every visit walks all of it,
/// cells outside the array included (they are not fetched or stored), so each visit takes the same number of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hull {
    /// Per dimension of the array (see [`DramArray::extents`]): its subscript over `y`. Only one contains the last coordinate, with a
    /// positive coefficient, so that a row's cells are in equal steps ([`Hull::step`]). Cells that differ in `y` differ.
    pub view: Vec<Affine>,
    /// Per dimension: `y` at the begin of the box; a form over tile counters only. Local coordinates start there.
    pub origin: Vec<Form>,
    /// Per dimension except the last: walked as `y = modulus * u + r`, u outer (0..extent), r inner (0..modulus).
    pub rows: Vec<HullDim>,
    /// Words per row.
    pub words: i64,
    /// Elements per row that are really wanted (`<= words * word`); the rest of the last word is padding.
    pub elements: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HullDim {
    pub modulus: i64,
    pub extent: i64,
}

impl Hull {
    /// The longest [`Hull::step`].
    pub const MOST_STEP: i64 = 255;
    /// The coordinates are the subscripts.
    pub fn plain_view(rank: usize) -> Vec<Affine> {
        (0..rank).map(|d| Affine { coeffs: (0..rank).map(|e| i64::from(d == e)).collect(), constant: 0 }).collect()
    }
    /// Cells walked along dimension `d`; of the last one, those that are wanted.
    pub fn extent(&self, d: usize) -> i64 {
        if d + 1 == self.origin.len() { self.elements } else { self.rows[d].modulus * self.rows[d].extent }
    }
    /// The array's dimension along which rows run, and the subscripts from one cell of a row to the next.
    pub fn along(&self) -> (usize, i64) {
        let last = self.origin.len() - 1;
        let along = self.view.iter().map(|f| f.coeffs[last]).enumerate().find(|(_, c)| *c != 0);
        along.unwrap_or((self.view.len() - 1, 1))
    }
    /// Elements in memory from one cell of a row to the next, in an array with these extents (see [`DramArray::extents`]).
    pub fn step(&self, extents: &[i64]) -> i64 {
        let (d, by) = self.along();
        if self.elements > 1 { extents[d + 1..].iter().fold(by, |step, e| step.saturating_mul(*e)) } else { 1 }
    }
    /// Bus words walked per row: those of its cells, and what lies between them in memory.
    pub fn beats(&self, step: i64, word: i64) -> i64 {
        if step == 1 {
            return self.words;
        }
        let reach = step.saturating_mul(self.elements - 1) / word + 1;
        reach.max(step.saturating_mul(self.words - 1).saturating_add(1))
    }
    /// Words of cells walked per visit.
    pub fn total_words(&self) -> i64 {
        self.total_rows() * self.words
    }
    /// Rows walked per visit.
    pub fn total_rows(&self) -> i64 {
        self.rows.iter().map(|r| r.modulus * r.extent).product::<i64>()
    }
}

/// One dimension (not the last) of the part of the hull that the buffer at PE `p` keeps:
/// `base + coef·p <= u < base + coef·p + extent`, and `r == residue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankDim {
    pub base: i64,
    pub coef: [i64; 2],
    pub extent: i64,
    pub residue: i64,
}

/// A buffer beside one PE (or at the border). It keeps, per row it owns, `words_per_row` words starting at word
/// `floor((base + coef·p) / word)`. Accepted words have consecutive addresses in the order of
/// the hull, whether all of its rows are walked or, as sizes say, fewer.
/// Element `col` of the row (see the group's `col` form) is at element `col + (base + coef·p) mod word` of the stored row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    /// First port it serves, and how many (consecutive elements of one word when more than one).
    pub port: u32,
    pub ports: u32,
    pub rows: Vec<BankDim>,
    /// Last dimension, in elements.
    pub base: i64,
    pub coef: [i64; 2],
    pub words_per_row: i64,
    /// Words per slot: product of the row extents times `words_per_row`.
    pub depth: i64,
}

/// Elements of one DRAM array that enter the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputGroup {
    /// Index into [`Vsa::arrays`].
    pub array: u32,
    /// Per dimension of the box: where the element that port 0 delivers is.
    pub subscripts: Vec<Form>,
    /// Per port, per dimension: constant added to `subscripts` (SIMD lanes). Port 0 is all zeros.
    pub ports: Vec<Vec<i64>>,
    /// The box of PEs in which some wave reads an element. In others the value is arbitrary.
    pub first: [i64; 2],
    pub last: [i64; 2],
    /// Axes along which neighbours pass the value on (its subscripts do not depend on that coordinate): feeders stand
    /// only where the coordinate is at the end of the box the waves enter from.
    pub forward: [bool; 2],
    /// Reload when one of the first `reload` tile counters changes; otherwise the buffer's content is used again.
    pub reload: usize,
    /// Per counter of phases: used only where it has this value, if there is one. (Empty: nothing is known.)
    pub phases: Vec<Option<i64>>,
    /// Used in phases of these cases only, and loaded anew in each; else in phases of all cases and of none.
    pub cases: Option<BTreeSet<usize>>,
    pub hull: Hull,
    pub banks: Vec<Bank>,
    /// Word address inside a bank's slot is `row + (col + offset(p)) / word`; both are forms over inner counters, >= 0.
    /// `row` counts in words.
    pub row: Form,
    pub col: Form,
    /// What a load must wait for, where it reads back through DRAM what the array has stored.
    pub after: Vec<After>,
}

/// Drains that a load waits for until they have been written to DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Index into [`Vsa::outputs`].
    pub output: u32,
    pub until: Until,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Load number `n` waits for the first `n - lag` drains (if positive).
    Lag(i64),
    /// All drains of earlier phases.
    Phase,
}

/// Where one port of an output group gets its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPort {
    pub value: NodeId,
    pub enable: NodeId,
    /// Constant per dimension added to the group's `subscripts`.
    pub offset: Vec<i64>,
}

/// Elements of one DRAM array that leave the array. Buffers (collectors) stand in the PEs of the box `[first, last]`;
/// after an emitting visit the hull is walked in row-major order and each word is put together from its owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputGroup {
    pub array: u32,
    /// Per dimension of the box.
    pub subscripts: Vec<Form>,
    pub ports: Vec<OutputPort>,
    /// PEs that ever emit.
    pub first: [i64; 2],
    pub last: [i64; 2],
    /// Per tile counter: `None` emits at every value, `Some(v)` only in visits where the counter is `v`.
    pub emit: Vec<Option<i64>>,
    /// Of those that sizes end by phase, the parameter that is this value.
    pub ends: BTreeMap<usize, usize>,
    /// Emits in phases of these cases only, else in any.
    pub cases: Option<BTreeSet<usize>>,
    pub hull: Hull,
    /// As for inputs; a bank's `base`/`coef`/`rows` say which cells PE `p` owns; `elements` are owned exactly.
    pub banks: Vec<OutputBank>,
    pub row: Form,
    pub col: Form,
    /// Buffers per collector: 1, or 2 when every visit emits.
    pub slots: u32,
    /// Cells of a row that are written: per row, the last coordinate must satisfy all; forms are over the outer ones,
    /// `y_0..y_{n-2}` (as `coeffs`), and the counters of the phases, plus a constant.
    pub bounds: Vec<CellBound>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputBank {
    pub bank: Bank,
    /// Elements of a row that PE `p` owns, starting at `base + coef·p`.
    pub elements: i64,
}

impl InputGroup {
    /// Value of tile counter `j` in visits that load.
    pub fn loads_at(&self, j: usize) -> Option<i64> {
        self.phase(j).or((j >= self.reload).then_some(0))
    }
    /// Value of counter `j` in all visits that use the group.
    pub fn phase(&self, j: usize) -> Option<i64> {
        self.phases.get(j).copied().flatten()
    }
    /// A visit, by its tile counters and the case of its phase, loads.
    pub fn loads(&self, tile: &[i64], case: Option<usize>) -> bool {
        is_among(&self.cases, case) && tile.iter().enumerate().all(|(j, &c)| self.loads_at(j).is_none_or(|v| v == c))
    }
    /// A visit, in whose phase, of that case, the counters run so often, is the last that uses what was loaded.
    pub fn releases(&self, tile: &[i64], case: Option<usize>, trips: &[i64]) -> bool {
        let ends = |(j, &c): (usize, &i64)| self.phase(j).map_or(j < self.reload || c + 1 == trips[j], |v| v == c);
        is_among(&self.cases, case) && tile.iter().enumerate().all(ends)
    }
    /// One load serves the whole run.
    pub fn loads_once(&self, vsa: &Vsa) -> bool {
        (vsa.parameters()..self.reload.min(vsa.tile_depth)).all(|j| vsa.counters[j].trip == 1 || self.phase(j).is_some())
    }
    /// PEs along each axis that read.
    pub fn readers(&self) -> [i64; 2] {
        extent(self.first, self.last)
    }
    /// Feeders along each axis.
    pub fn feeders(&self) -> [i64; 2] {
        [0, 1].map(|a| if self.forward[a] { 1 } else { self.readers()[a] })
    }
    /// Hops between the array's corner where waves enter and the box's.
    pub fn away(&self, vsa: &Vsa) -> [i64; 2] {
        away(vsa, self.first, self.last)
    }
    /// The PE beside the feeder that is `hops` from the box's corner where waves enter.
    pub fn pe(&self, vsa: &Vsa, hops: [i64; 2]) -> [i64; 2] {
        beside(vsa, self.first, self.last, hops)
    }
}

/// The case is one of these, where not all are.
pub fn is_among(cases: &Option<BTreeSet<usize>>, case: Option<usize>) -> bool {
    cases.as_ref().is_none_or(|all| case.is_some_and(|k| all.contains(&k)))
}

/// PEs along each axis of the box `[first, last]`.
fn extent(first: [i64; 2], last: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|a| last[a] - first[a] + 1)
}

/// Hops to the box from the array's corner where waves enter.
fn away(vsa: &Vsa, first: [i64; 2], last: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|a| if vsa.schedule.skew[a] >= 0 { first[a] } else { vsa.extent[a] - 1 - last[a] })
}

/// The PE of the box that is `hops` from its corner where waves enter.
fn beside(vsa: &Vsa, first: [i64; 2], last: [i64; 2], hops: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|a| if vsa.schedule.skew[a] >= 0 { first[a] + hops[a] } else { last[a] - hops[a] })
}

impl OutputGroup {
    /// A visit, by its tile counters and the case of its phase, emits.
    pub fn emits(&self, tile: &[i64], case: Option<usize>) -> bool {
        is_among(&self.cases, case) && self.emit.iter().zip(tile).all(|(e, c)| e.is_none_or(|v| v == *c))
    }
    /// Hops between the array's corner where waves enter and the box's.
    pub fn away(&self, vsa: &Vsa) -> [i64; 2] {
        away(vsa, self.first, self.last)
    }
    /// Collectors along each axis.
    pub fn extent(&self) -> [i64; 2] {
        extent(self.first, self.last)
    }
    /// The PE beside the collector that is `hops` from the corner where waves enter.
    pub fn pe(&self, vsa: &Vsa, hops: [i64; 2]) -> [i64; 2] {
        beside(vsa, self.first, self.last, hops)
    }
}

/// `scale * y_last + Σ coeffs[d] * y_d + Σ phases[j] * counter_j + constant >= 0` (or `== 0`), with scale in {-1, 0, 1}.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellBound {
    pub scale: i64,
    pub coeffs: Vec<i64>,
    /// Over the counters of [`Vsa::phases`].
    pub phases: Vec<i64>,
    pub constant: i64,
    pub equality: bool,
}

/// How a [`Op::Past`] with `waves > 0` keeps its source's value, in the source's PE. (With none, it is a wire.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Register number `waves` of those that shift with each wave behind the source; all chains of a source are one, and
    /// where the source has a register of its own, that is the first.
    Chain,
    /// A memory of `waves` values as wide as the source, written when that is ready, at the number of the wave modulo
    /// `waves`. The reading port is given its address in cycle `read` (relative to the arrival at the source's PE) and has
    /// the value one cycle later if it is `synchronous`, else at once. Delays of equally many waves share the writing port.
    Memory { read: i64, synchronous: bool },
}

/// When things happen, in cycles relative to a wave's arrival at its PE.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    /// Cycles by which PE `p` runs behind: `skew[0] * p0 + skew[1] * p1` (after the shift that makes the least one 0).
    /// Nonzero on every axis with more than one PE; may be negative.
    pub skew: [i64; 2],
    /// Least number of cycles between two launches.
    pub interval: i64,
    /// Per node: cycle in which its value is on the wire.
    pub ready: Vec<i64>,
    /// Per node: registers from operands to result (0: combinational). Operands are sampled at `ready - latency`.
    pub latency: Vec<i64>,
    /// Of every `Past` with `waves > 0`.
    pub delays: BTreeMap<NodeId, Delay>,
}

/// Which values of the program nodes are, as far as that is known. Arrays that differ in nothing else are the same.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    /// Their C lines, for people.
    pub lines: BTreeMap<NodeId, String>,
    pub statements: BTreeMap<NodeId, BTreeSet<usize>>,
}

impl PartialEq for Remarks {
    fn eq(&self, _: &Remarks) -> bool {
        true
    }
}

impl Eq for Remarks {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vsa {
    pub name: String,
    /// Time loops, outermost first.
    pub counters: Vec<Counter>,
    pub tile_depth: usize,
    /// How many of the tile counters, the outermost ones, count phases: what one phase stores, later ones may load. The first of
    /// them are parameters, if there are sizes.
    pub phases: usize,
    /// Sizes at run time.
    pub sizes: Sizes,
    /// Where loops end that do not run as often in every phase.
    pub cases: Cases,
    /// Names of the space axes (for people), `""` where the extent is 1.
    pub axes: [String; 2],
    /// PEs per axis, at least 1.
    pub extent: [i64; 2],
    /// SIMD lanes per PE (for people; lanes are already unrolled in `nodes`).
    pub lanes: i64,
    /// Beats, and rows, that a reader may have asked for and not passed on yet: what covers the memory's latency. A power of
    /// two, at least a full burst.
    pub ahead: i64,
    /// Bits of the host's addresses, and of those on the AXI ports: 64 or 32.
    pub address_bits: u32,
    /// The board has UltraRAM, where deep memories go.
    pub uram: bool,
    pub nodes: Vec<Node>,
    pub remarks: Remarks,
    pub arrays: Vec<DramArray>,
    /// In the order of the kernel's arguments.
    pub scalars: Vec<Scalar>,
    pub inputs: Vec<InputGroup>,
    pub outputs: Vec<OutputGroup>,
    pub schedule: Schedule,
}

impl Vsa {
    /// One PE that does nothing yet, in one wave.
    pub fn empty(name: &str) -> Vsa {
        Vsa {
            name: name.into(),
            counters: vec![],
            tile_depth: 0,
            phases: 0,
            sizes: Default::default(),
            cases: Default::default(),
            axes: Default::default(),
            extent: [1, 1],
            lanes: 1,
            ahead: 0,
            address_bits: 64,
            uram: false,
            nodes: vec![],
            remarks: Remarks::default(),
            arrays: vec![],
            scalars: vec![],
            inputs: vec![],
            outputs: vec![],
            schedule: Schedule::default(),
        }
    }
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
    /// Element types of the arguments as data of a run are kept: the arrays, then the scalars.
    pub fn types(&self) -> impl Iterator<Item = ScalarType> + '_ {
        self.arrays.iter().map(|a| a.ty).chain(self.scalars.iter().map(|s| s.ty))
    }
    /// Ports to DRAM, and behind them those to memories on chip.
    pub fn ports(&self) -> usize {
        self.arrays.iter().map(|a| a.port as usize + 1).max().unwrap_or(0)
    }
    /// AXI ports to DRAM: the first of [`Vsa::ports`].
    pub fn axi_ports(&self) -> usize {
        self.arrays[..self.hosted()].iter().map(|a| a.port as usize + 1).max().unwrap_or(0)
    }
    /// Arrays whose addresses the host gives: the first of [`Vsa::arrays`].
    pub fn hosted(&self) -> usize {
        self.arrays.iter().position(|a| a.scratch == Some(Scratch::OnChip)).unwrap_or(self.arrays.len())
    }
    /// The array behind a port to a memory on chip.
    pub fn on_chip(&self, port: usize) -> Option<&DramArray> {
        self.arrays.iter().find(|a| a.scratch == Some(Scratch::OnChip) && a.port as usize == port)
    }
    /// Bits of the addresses at a port.
    pub fn port_address_bits(&self, port: usize) -> u32 {
        let bytes = |a: &DramArray| (a.words() * i64::from(a.bus_bytes())) as u64;
        self.on_chip(port).map_or(self.address_bits, |a| bytes(a).next_power_of_two().trailing_zeros().max(LEAST_ADDRESS_BITS))
    }
    /// The arrays (indices) that a port moves.
    pub fn arrays_of(&self, port: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.arrays.len()).filter(move |&a| self.port_of(a as u32) == port)
    }
    /// The port that moves an array.
    pub fn port_of(&self, array: u32) -> usize {
        self.arrays[array as usize].port as usize
    }
    /// Bytes per bus word of a port.
    pub fn bus_bytes(&self, port: usize) -> u32 {
        self.arrays_of(port).next().map_or(0, |a| self.arrays[a].bus_bytes())
    }
    /// A port is called like its only array, or `gmem<n>`.
    pub fn port_name(&self, port: usize) -> String {
        let mut arrays = self.arrays_of(port);
        match (arrays.next(), arrays.next()) {
            (Some(only), None) => self.arrays[only].name.clone(),
            _ => format!("gmem{port}"),
        }
    }
    /// Cycles by which PE `p` runs behind the first one.
    pub fn delay(&self, p: [i64; 2]) -> i64 {
        (0..2).map(|a| { let s = self.schedule.skew[a]; if s >= 0 { s * p[a] } else { -s * (self.extent[a] - 1 - p[a]) } }).sum()
    }
}
