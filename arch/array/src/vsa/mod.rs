//! `Vsa`: the virtual systolic array, the interface between the mapping (`arch`) and the hardware (`templates`).
//!
//! The array executes **waves**. A wave is one point of the time loops ([`Vsa::counters`], outermost first, all
//! rectangular and counting 0, 1, …). Every PE `p` executes every wave, `start(p)` cycles after it is launched.
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
//! Time: node `n` of wave `w` is on its wire at PE `p` in cycle `launch(w) + start(p) + ready[n]` (see [`Schedule`]).
//!
//! Source: PolySA section 4 (VSA), AutoSA section 4.3 (I/O groups), Kung's URE model.

mod common;
mod group;
mod op;
mod start;
mod when;

pub use common::{is_function, Common};
pub use group::{
    After, Bank, BankDim, CellBound, Footprint, FootprintDim, InputGroup, OutputBank, OutputGroup, OutputPort, Until,
};
pub use op::{Node, NodeId, Op};
use scop::{Expr, ScalarType};
pub use start::AxisStart;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use uniform::counters::{Case, Counter};
use uniform::fabric::Fabric;
use uniform::sizes::Sizes;
pub use when::When;

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
    /// Arguments come first, then the others in the order of [`Home`].
    pub home: Home,
}

/// Bits of an address within a memory on chip, at least: bursts end at multiples of 4 KiB.
const LEAST_ADDRESS_BITS: u32 = 13;

/// Where an array lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// In DRAM: an argument of the program.
    #[default]
    Argument,
    /// In a buffer in DRAM that the host gives and never looks at: one phase passes values on to another there.
    Scratch,
    /// The same in a memory of the IP's own, behind a port of its own: that is no AXI port of the IP.
    OnChip,
    /// In a memory of the IP's own, too, but its values stay there from run to run: a `static` array of the program.
    Kept,
}

impl Home {
    /// All of them, in their order.
    pub const ALL: [Home; 4] = [Home::Argument, Home::Scratch, Home::OnChip, Home::Kept];

    /// Nobody looks at the values before and after a run.
    pub fn is_temporary(self) -> bool {
        matches!(self, Home::Scratch | Home::OnChip)
    }
    /// In a memory of the IP's own.
    pub fn is_on_chip(self) -> bool {
        matches!(self, Home::OnChip | Home::Kept)
    }
}

impl DramArray {
    /// Extents as a footprint whose view has `rank` dimensions sees them: inner ones beyond that are one
    /// (`search::reshape`).
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

/// How a [`Op::Past`] with `waves > 0` keeps its source's value, in the source's PE. (With none, it is a wire.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Register number `waves` of those that shift with each wave behind the source; all chains of a source are one,
    /// and where the source has a register of its own, that is the first.
    Chain,
    /// A memory of `waves` values as wide as the source, written when that is ready, at the number of the wave modulo
    /// `waves`. The reading port is given its address in cycle `read` (relative to the arrival at the source's PE) and
    /// has the value one cycle later if it is `synchronous`, else at once. Delays of equally many waves share the
    /// writing port.
    Memory { read: i64, synchronous: bool },
}

/// When things happen, in cycles relative to a wave's arrival at its PE.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    /// Per axis, the cycle in which each PE starts a wave, relative to the first PE. Hop delays are nonzero on every
    /// axis with more than one PE.
    pub start: [AxisStart; 2],
    /// Least number of cycles between two launches.
    pub interval: i64,
    /// Per node: cycle in which its value is on the wire.
    pub ready: Vec<i64>,
    /// Per node: registers from operands to result (0: combinational). Operands are sampled at `ready - latency`.
    pub latency: Vec<i64>,
    /// Delay element of every `Past` with `waves > 0`.
    pub delays: BTreeMap<NodeId, Delay>,
}

impl Schedule {
    /// Cycles within a PE from one neighbour to the next along each axis.
    pub fn hop_delays(&self) -> [i64; 2] {
        [0, 1].map(|a| self.start[a].hop_delay())
    }

    /// The longer one of [`Schedule::hop_delays`], at least 1.
    pub fn longest_hop(&self) -> i64 {
        self.hop_delays().into_iter().fold(1, i64::max)
    }

    /// Hop delays per position: negative along an axis where waves travel towards lower positions.
    pub fn steps(&self) -> [i64; 2] {
        [0, 1].map(|a| self.start[a].step())
    }

    /// Cycles by which a PE runs behind the PE at distance `hop` before it, apart from registers between PEs, less those
    /// that a value waits on its way ([`AxisStart::back`]).
    pub fn behind(&self, hop: [i64; 2]) -> i64 {
        (0..2).map(|a| self.start[a].step() * hop[a]).sum::<i64>() - self.back(hop)
    }

    /// Registers on the way of a value that hops against the waves along an axis that is cut.
    pub fn back(&self, hop: [i64; 2]) -> i64 {
        (0..2).map(|a| self.start[a].back(hop[a])).sum()
    }

    /// Cycles a wave takes from the corner where it enters to the PE this many hops away from it.
    pub fn way(&self, hops: [i64; 2]) -> i64 {
        (0..2).map(|a| self.start[a].after(hops[a])).sum()
    }

    /// [`Schedule::way`] without the registers between PEs.
    pub fn inside(&self, hops: [i64; 2]) -> i64 {
        (0..2).map(|a| self.start[a].inside(hops[a])).sum()
    }

    /// Registers between PEs on this way.
    pub fn between(&self, hops: [i64; 2]) -> i64 {
        (0..2).map(|a| self.start[a].between(hops[a])).sum()
    }
}

/// Which statements of the program the nodes compute. Comments in the Verilog quote them; no hardware depends on them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    pub statements: BTreeMap<NodeId, BTreeSet<usize>>,
    /// The statements' C lines, for people.
    pub quotes: Arc<[Option<String>]>,
    /// Which operators are shared, if some are.
    pub shared: Option<Shared>,
}

/// Operators of a PE that several parts of a program share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Operators, and adders in the slices of products, that the parts have together.
    pub wanted: usize,
    /// Those that are built for them.
    pub built: usize,
    /// LUTs of the operators and of the multiplexers in front of them, a DSP slice as some of them; and no choice has
    /// fewer.
    pub cost: i64,
    pub bound: i64,
}

impl Remarks {
    /// The C lines of a node.
    pub fn lines(&self, node: NodeId) -> Option<String> {
        let mut lines: Vec<&str> =
            self.statements.get(&node)?.iter().filter_map(|&s| self.quotes.get(s)?.as_deref()).collect();
        lines.dedup();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A function of a merged array ([`crate::merge`]): what of the array is its own, by index, with its own names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// Of [`Vsa::arrays`], [`Vsa::scalars`], and of the list of sizes.
    pub arrays: Vec<(usize, String)>,
    pub scalars: Vec<(usize, String)>,
    pub sizes: Vec<(usize, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vsa {
    pub name: String,
    /// Of a merged array, its functions: the first parameter is the number of the one that a run executes. Else none.
    pub functions: Vec<Member>,
    /// Time loops, outermost first: parameters, phases (what one phase stores, later ones may load), tiles, and inner
    /// ones.
    pub counters: Vec<Counter>,
    pub tile_depth: usize,
    /// Sizes at run time.
    pub sizes: Sizes,
    /// Phases, or strips, in which counters end alike.
    pub cases: Vec<Case>,
    /// Names of the space axes (for people), `""` where the extent is 1.
    pub axes: [String; 2],
    /// PEs per axis, at least 1.
    pub extent: [i64; 2],
    /// SIMD lanes per PE (for people; lanes are already unrolled in `nodes`).
    pub lanes: i64,
    /// Beats, and rows, that a reader may have asked for and not passed on yet: what covers the memory's latency. A
    /// power of two, at least a full burst.
    pub ahead: i64,
    /// By AXI port: dies from that of the engines, beside the first band, up to that of the port's memory, or down if
    /// negative ([`crate::contract::away`]). Empty if all are on one die.
    pub away: Vec<i64>,
    /// Bits of the host's addresses, and of those on the AXI ports: 64 or 32.
    pub address_bits: u32,
    /// The host gives the length of each array in bytes, in a register. Nothing behind it is moved.
    pub lengths: bool,
    /// Arrays start at any element, whatever their engines could save ([`crate::contract::walk::alignment`]).
    pub unaligned: bool,
    /// The board has UltraRAM, where deep memories go.
    pub uram: bool,
    /// Its runs overlap: buffers are double, even if a run fills them once ([`crate::contract::overlap`]).
    pub overlap: bool,
    /// What estimates count in. No hardware depends on it.
    pub fabric: Fabric,
    pub nodes: Vec<Node>,
    pub remarks: Remarks,
    pub arrays: Vec<DramArray>,
    /// In the order of the kernel's arguments.
    pub scalars: Vec<Scalar>,
    pub inputs: Vec<InputGroup>,
    pub outputs: Vec<OutputGroup>,
    /// Of a merged array, groups that use buffers of others.
    pub common: Common,
    pub schedule: Schedule,
}

impl Vsa {
    /// One PE that does nothing yet, in one wave.
    pub fn empty(name: &str) -> Vsa {
        Vsa {
            name: name.into(),
            functions: vec![],
            counters: vec![],
            tile_depth: 0,
            sizes: Default::default(),
            cases: vec![],
            axes: Default::default(),
            extent: [1, 1],
            lanes: 1,
            ahead: 0,
            away: vec![],
            address_bits: 64,
            lengths: false,
            unaligned: false,
            uram: false,
            overlap: false,
            fabric: Fabric::default(),
            nodes: vec![],
            remarks: Remarks::default(),
            arrays: vec![],
            scalars: vec![],
            inputs: vec![],
            outputs: vec![],
            common: Common::default(),
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
        self.arrays.iter().position(|a| a.home.is_on_chip()).unwrap_or(self.arrays.len())
    }
    /// The array behind a port to a memory on chip.
    pub fn on_chip(&self, port: usize) -> Option<&DramArray> {
        self.arrays.iter().find(|a| a.home.is_on_chip() && a.port as usize == port)
    }
    /// Bits of the addresses at a port.
    pub fn port_address_bits(&self, port: usize) -> u32 {
        let bytes = |a: &DramArray| (a.words() * i64::from(a.bus_bytes())) as u64;
        self.on_chip(port)
            .map_or(self.address_bits, |a| bytes(a).next_power_of_two().trailing_zeros().max(LEAST_ADDRESS_BITS))
    }
    /// Bits of the register with the length of an array, if it has one. Those of a merged array have as many as the longest,
    /// since functions share what the engines hold.
    pub fn length_bits(&self, array: usize) -> Option<u32> {
        let all = if self.is_merged() { 0..self.hosted() } else { array..array + 1 };
        let long = self.arrays[all].iter().any(|a| a.bytes() > i64::from(u32::MAX));
        (self.lengths && array < self.hosted()).then_some(if long { 64 } else { 32 })
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
    /// Cycle in which PE `p` starts a wave, relative to the first PE.
    pub fn delay(&self, p: [i64; 2]) -> i64 {
        (0..2).map(|a| self.schedule.start[a].at(p[a], self.extent[a])).sum()
    }
}
