//! Reference interpreter of a [`Vsa`] at the level of values: what the array computes, not when.
//!
//! - Waves run in order; a node's value at (wave, PE) follows `vsa.rs` and the scalar semantics of `scop::value`.
//! - Whatever hardware leaves arbitrary is [`garbage`]: footprint cells outside of the array, values from neighbours
//!   and waves that do not exist, cells of an output footprint that no collector stored to in this tile. A wrong guard
//!   therefore shows up as a wrong result.
//! - Races through DRAM are resolved against the design. A load is done some time before its first tile, and a drain
//!   reaches DRAM some time after its tile; only `InputGroup::after` orders them. So an element that an earlier
//!   tile has overwritten, without its load having waited for that, is garbage (and counted in [`RunStats::races`]).
//! - Storing in a tile that does not emit is an error: the collector may still be draining.
//!
//! Only [`crate::verify::well_formed`] is assumed (and checked). Element addresses come from `subscripts`; that banks
//! deliver exactly these is what `Vsa::verify` proves.

mod eval;
mod linear;
mod memory;
mod order;

use crate::verify;
use crate::vsa::{After, NodeId, Op, Until, Vsa};
use linear::{neighbours, Linear, Tables};
use memory::{Collector, Dram, Feeder};
use order::{Lanes, Step};
use scop::value::mask;
use scop::ScalarType;
use uniform::affine::advance;
use uniform::sizes::Formula;

pub use uniform::interp::garbage;
use uniform::interp::GARBAGE;

/// What a run did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    pub waves: u64,
    /// Node values computed, over all waves and PEs.
    pub evaluations: u64,
    /// Per input group.
    pub loads: Vec<u64>,
    /// Per output group.
    pub drains: Vec<u64>,
    /// Loaded elements that an earlier tile had overwritten without the load having waited for it.
    pub races: u64,
}

/// Runs the whole array. `memory[i]` holds the elements of `vsa.arrays[i]`, row-major, as bit patterns; behind the
/// arrays stand the scalars, each as a single element.
///
/// # Errors
/// Violations of [`verify::well_formed`], memory of another size, elements outside of a footprint, a value that depends
/// on itself within a wave, stores in tiles that do not emit, loads that wait for drains of later tiles.
pub fn run(vsa: &Vsa, memory: &mut [Vec<u64>]) -> Result<RunStats, String> {
    run_with(vsa, memory, GARBAGE)
}

/// The same for an array that somebody wrote.
///
/// # Errors
/// The same, and results that follow from what hardware leaves arbitrary: two runs with other garbage differ.
pub fn run_determined(vsa: &Vsa, memory: &mut [Vec<u64>]) -> Result<RunStats, String> {
    let mut other = memory.to_vec();
    let stats = run_with(vsa, memory, GARBAGE)?;
    run_with(vsa, &mut other, !GARBAGE)?;
    for (k, array) in vsa.arrays.iter().enumerate().filter(|(_, array)| !array.home.is_temporary()) {
        if let Some(e) = memory[k].iter().zip(&other[k]).position(|(a, b)| a != b) {
            return Err(format!(
                "array {}, element {e}: what is stored there is not determined. It follows from an element outside of an \
                array, from a PE or a wave that does not exist, or nothing is stored into a cell that is drained",
                array.name
            ));
        }
    }
    Ok(stats)
}

fn run_with(vsa: &Vsa, memory: &mut [Vec<u64>], garbage: u64) -> Result<RunStats, String> {
    let faults = verify::well_formed(vsa);
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let mut machine = Machine::new(vsa, memory, garbage)?;
    let mut at = vec![0; vsa.counters.len()];
    loop {
        let trips = vsa.trips_at(&at);
        let (tiles, inner) = trips.split_at(vsa.tile_depth);
        machine.load(&at)?;
        loop {
            machine.wave(&at)?;
            let strip = (vsa.cased() > vsa.tile_depth).then(|| vsa.trips_at(&at));
            let inner = strip.as_ref().map_or(inner, |trips| &trips[vsa.tile_depth..]);
            if !advance(&mut at[vsa.tile_depth..], inner.iter().copied()) {
                break;
            }
        }
        machine.drain(&at);
        if !advance(&mut at[..vsa.tile_depth], tiles.iter().copied()) {
            return Ok(machine.stats);
        }
    }
}

/// Where a node's values are kept: `waves` times one value per PE, used in turn.
#[derive(Clone, Copy)]
struct Slot {
    base: usize,
    waves: usize,
}

/// A node's operation with its forms and neighbours compiled.
enum Code {
    /// Same as the node's `Op`.
    Plain,
    Scalar(u64),
    Iter(Linear),
    Guard(Vec<(Linear, bool)>),
    /// The group; where in its footprint; which PEs read, all if empty.
    Input(usize, Linear, Vec<bool>),
    /// Source, waves by case of phases (one number where it is always the same), and per PE the index of PE `p - hop`
    /// (empty for hop 0, `u32::MAX` where there is none).
    Past(NodeId, Vec<usize>, Vec<u32>),
}

struct Machine<'a> {
    vsa: &'a Vsa,
    pes: usize,
    dram: Dram<'a>,
    steps: Vec<Step>,
    code: Vec<Code>,
    slots: Vec<Slot>,
    values: Vec<u64>,
    tables: Tables,
    feeders: Vec<Feeder>,
    collectors: Vec<Collector>,
    /// Per output group: drains of earlier phases.
    before_phase: Vec<u64>,
    /// Bits in the place of those that hardware leaves arbitrary.
    garbage: u64,
    stats: RunStats,
}

const VALUES: u64 = 1 << 31;

impl<'a> Machine<'a> {
    fn new(vsa: &'a Vsa, memory: &'a mut [Vec<u64>], garbage: u64) -> Result<Self, String> {
        let pes = (vsa.extent[0] * vsa.extent[1]) as usize;
        let mut tables = Tables::default();
        let feeders = vsa.inputs.iter().map(|g| Feeder::new(vsa, g, garbage)).collect();
        let mut collectors = Vec::new();
        for (i, g) in vsa.outputs.iter().enumerate() {
            collectors
                .push(Collector::new(vsa, g, &mut tables, garbage).map_err(|f| format!("output group {i}: {f}"))?);
        }
        let (memory, scalars) = memory.split_at_mut(vsa.arrays.len().min(memory.len()));
        let scalars: Vec<u64> = scalars.iter().filter_map(|s| s.first().copied()).collect();
        if scalars.len() != vsa.scalars.len() {
            return Err(format!("{} scalars, but values for {}", vsa.scalars.len(), scalars.len()));
        }
        let code = vsa.nodes.iter().map(|n| compile(vsa, &n.op, &scalars, &mut tables)).collect::<Result<_, _>>()?;
        let (slots, values) = storage(vsa, pes as u64, garbage)?;
        let stats =
            RunStats { loads: vec![0; vsa.inputs.len()], drains: vec![0; vsa.outputs.len()], ..RunStats::default() };
        let dram = Dram::new(vsa, memory)?;
        Ok(Machine {
            vsa,
            pes,
            dram,
            steps: order::steps(vsa)?,
            code,
            slots,
            values,
            tables,
            feeders,
            collectors,
            before_phase: vec![0; vsa.outputs.len()],
            garbage,
            stats,
        })
    }

    /// Start of a tile: loads, and empty collectors.
    fn load(&mut self, at: &[i64]) -> Result<(), String> {
        if at[self.vsa.phases()..].iter().all(|&c| c == 0) {
            self.before_phase.clone_from(&self.stats.drains);
        }
        let case = self.vsa.case_at(at);
        for (i, g) in self.vsa.inputs.iter().enumerate() {
            if !g.loads(&at[..self.vsa.tile_depth], case) {
                continue;
            }
            let mut written = 0;
            for After { output: o, until } in &g.after {
                let needed = match until {
                    Until::Lag(lag) => (self.stats.loads[i] as i64 - lag).max(0) as u64,
                    Until::Phase => self.before_phase[*o as usize],
                };
                if needed > self.stats.drains[*o as usize] {
                    return Err(format!(
                        "input group {i}: load {} waits for drain {needed} of a later tile",
                        self.stats.loads[i]
                    ));
                }
                written = written.max(if needed > 0 {
                    self.collectors[*o as usize].sequence(needed as usize - 1)
                } else {
                    0
                });
            }
            self.stats.races += self.feeders[i].load(self.vsa, g, at, &self.dram, written);
            self.stats.loads[i] += 1;
        }
        for (collector, g) in self.collectors.iter_mut().zip(&self.vsa.outputs) {
            collector.open(g, at, case);
        }
        Ok(())
    }

    fn wave(&mut self, at: &[i64]) -> Result<(), String> {
        for k in 0..self.steps.len() {
            self.step(k, at);
        }
        for i in 0..self.collectors.len() {
            self.store(i, at)?;
        }
        self.stats.waves += 1;
        self.stats.evaluations += (self.vsa.nodes.len() * self.pes) as u64;
        Ok(())
    }

    /// First index of the node's values of the wave `waves` before this one.
    fn base(&self, id: NodeId, waves: usize) -> usize {
        let slot = self.slots[id.index()];
        let now = (self.stats.waves % slot.waves as u64) as usize;
        let turn = if now >= waves { now - waves } else { now + slot.waves - waves };
        slot.base + turn * self.pes
    }

    fn step(&mut self, k: usize, at: &[i64]) {
        let id = NodeId(self.steps[k].node as u32);
        let node = &self.vsa.nodes[id.index()];
        let out = self.base(id, 0);
        let lanes = &self.steps[k].lanes;
        match &self.code[id.index()] {
            Code::Plain if matches!(node.op, Op::Dot { .. } | Op::Join { .. }) => {
                let operand = |s: NodeId| (self.base(s, 0), self.vsa.node(s).ty);
                let operands: Vec<(usize, ScalarType)> = node.op.sources().into_iter().map(operand).collect();
                eval::several(&mut self.values, lanes, out, &operands, &node.op, node.ty);
            }
            Code::Plain => {
                let bases = node.op.sources();
                let mut operands = [0; 3];
                for (slot, &source) in operands.iter_mut().zip(&bases) {
                    *slot = self.base(source, 0);
                }
                let ty = |k: usize| bases.get(k).map_or(node.ty, |&s| self.vsa.node(s).ty);
                eval::plain(&mut self.values, lanes, out, operands, &node.op, node.ty, [ty(0), ty(1)]);
            }
            Code::Iter(form) => {
                let (time, m, tables) = (form.time(at), mask(node.ty.bits()), &self.tables);
                eval::map0(&mut self.values, lanes, out, |p| (time + tables.at(form, p)) as u64 & m);
            }
            Code::Scalar(value) => eval::map0(&mut self.values, lanes, out, |_| *value),
            Code::Guard(conditions) => guard(&mut self.values, lanes, out, conditions, &self.tables, at),
            Code::Input(group, form, readers) => {
                let (time, cells, tables, none) =
                    (form.time(at), &self.feeders[*group].cells, &self.tables, self.garbage & mask(node.ty.bits()));
                let cell = |p: usize| cells[(time + tables.at(form, p)) as usize];
                eval::map0(&mut self.values, lanes, out, |p| {
                    if readers.get(p).is_none_or(|r| *r) {
                        cell(p)
                    } else {
                        none
                    }
                });
            }
            Code::Past(source, waves, from) => {
                let waves = match waves[..] {
                    [always] => always,
                    _ => self.vsa.case_at(at).map_or(0, |case| waves[case]),
                };
                let (base, none) = (self.base(*source, waves), self.garbage & mask(node.ty.bits()));
                eval::past(&mut self.values, lanes, out, base, from, none);
            }
        }
    }

    fn store(&mut self, i: usize, at: &[i64]) -> Result<(), String> {
        let group = &self.vsa.outputs[i];
        for (k, port) in group.ports.iter().enumerate() {
            let (value, enable) = (self.base(port.value, 0), self.base(port.enable, 0));
            let collector = &mut self.collectors[i];
            let time = collector.ports[k].time(at);
            for &pe in &collector.pes {
                let pe = pe as usize;
                if self.values[enable + pe] & 1 == 0 {
                    continue;
                }
                if !collector.emitting {
                    return Err(format!("output group {i}: PE {pe} stores at {at:?}, in a tile that does not emit"));
                }
                let cell = time + self.tables.at(&collector.ports[k], pe);
                collector.cells[cell as usize] = self.values[value + pe];
            }
        }
        Ok(())
    }

    /// End of a tile.
    fn drain(&mut self, at: &[i64]) {
        for (i, g) in self.vsa.outputs.iter().enumerate() {
            if self.collectors[i].emitting {
                self.collectors[i].drain(self.vsa, g, at, &mut self.dram);
                self.stats.drains[i] += 1;
            }
        }
    }
}

fn guard(values: &mut [u64], lanes: &Lanes, out: usize, conditions: &[(Linear, bool)], tables: &Tables, at: &[i64]) {
    let holds = |v: i64, equality: bool| if equality { v == 0 } else { v >= 0 };
    let fixed = conditions.iter().all(|(form, equality)| form.table.is_some() || holds(form.time(at), *equality));
    eval::map0(values, lanes, out, |_| fixed as u64);
    for (form, equality) in conditions.iter().filter(|c| fixed && c.0.table.is_some()) {
        let time = form.time(at);
        eval::and0(values, lanes, out, |p| holds(time + tables.at(form, p), *equality));
    }
}

fn compile(vsa: &Vsa, op: &Op, scalars: &[u64], tables: &mut Tables) -> Result<Code, String> {
    Ok(match op {
        Op::Scalar(k) => Code::Scalar(scalars[*k as usize]),
        Op::Iter(form) => Code::Iter(tables.linear(vsa, form)),
        Op::Guard(conditions) => {
            Code::Guard(conditions.iter().map(|c| (tables.linear(vsa, &c.form), c.equality)).collect())
        }
        Op::Input { group, port } => {
            let g = &vsa.inputs[*group as usize];
            let cell = memory::cell(vsa, &g.subscripts, &g.ports[*port as usize], &g.footprint, g.first, g.last);
            let whole = g.readers() == vsa.extent;
            let reads = |p: [i64; 2]| (0..2).all(|a| (g.first[a]..=g.last[a]).contains(&p[a]));
            let readers = if whole { vec![] } else { linear::positions(vsa).map(reads).collect() };
            Code::Input(
                *group as usize,
                tables.linear(vsa, &cell.map_err(|f| format!("input group {group}: {f}"))?),
                readers,
            )
        }
        Op::Past { source, hop, waves } => {
            let waves = match waves {
                Formula::ByCase(all) => all[..vsa.cases.len()].iter().map(|f| f.eval(&[]) as usize).collect(),
                one => vec![one.eval(&[]) as usize],
            };
            Code::Past(*source, waves, if *hop == [0, 0] { Vec::new() } else { neighbours(vsa, *hop) })
        }
        _ => Code::Plain,
    })
}

/// Every node keeps as many waves as the farthest `Past` looks back, and the current one.
fn storage(vsa: &Vsa, pes: u64, garbage: u64) -> Result<(Vec<Slot>, Vec<u64>), String> {
    let mut waves = vec![1u64; vsa.nodes.len()];
    for node in &vsa.nodes {
        if let Op::Past { source, waves: back, .. } = &node.op {
            let back = vsa.most(back);
            waves[source.index()] = waves[source.index()].max(back as u64 + 1);
        }
    }
    if waves.iter().sum::<u64>() as u128 * pes as u128 > VALUES as u128 {
        return Err("the array keeps more than 2^31 values".into());
    }
    let (mut slots, mut values) = (Vec::new(), Vec::new());
    for (node, &waves) in vsa.nodes.iter().zip(&waves) {
        slots.push(Slot { base: values.len(), waves: waves as usize });
        values.resize(values.len() + (waves * pes) as usize, garbage & mask(node.ty.bits()));
    }
    Ok((slots, values))
}
