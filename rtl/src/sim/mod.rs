//! Cycle-accurate two-state simulation of a verified design.
//!
//! The design is compiled to a tape of operations, each of which runs over all identical instances at once. `hierarchy`
//! lays out lanes and sorts values; `lower` and `edges` write operations; `schedule` sorts and batches them. An
//! operation runs only if an operand has changed (`activity`) and something wants its result (`hierarchy::guard`).
//! Registers and memories start with pseudo-random garbage by default, which reveals a design that relies on initial
//! values.

mod activity;
mod batch;
mod clock;
mod cpu;
mod edges;
mod lower;
mod mems;
mod ops;
mod program;
mod schedule;
mod signals;
mod tape;
pub mod vcd;
mod wide;

use crate::check::Verified;
use crate::hierarchy::Flat;
use crate::netlist::bits::{limbs_of, top_mask};
use crate::netlist::{Fault, FaultKind, Module, ModuleName, Ty};
use activity::Activity;
use clock::Edge;
use cpu::Cpu;
use mems::{MemData, Writes};
use program::Program;
pub use signals::Signal;
use std::collections::BTreeMap;

/// Contents of registers and memories before the first cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Init {
    Zero,
    /// Pseudo-random by seed.
    Garbage(u64),
}

/// A port of the top module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortId(usize);

#[derive(Clone, Debug)]
struct Port {
    name: String,
    off: usize,
    ty: Ty,
    input: bool,
}

/// A simulation of one top module.
#[derive(Clone, Debug)]
pub struct Sim {
    v: Vec<u64>,
    tape: Vec<ops::Job>,
    edge: Edge,
    mems: Vec<MemData>,
    mem_names: BTreeMap<String, (usize, usize)>,
    ports: Vec<Port>,
    signals: Vec<signals::Signal>,
    /// Instance and text of each assertion, and the word that is set once it is violated.
    asserts: Vec<(String, usize)>,
    index: BTreeMap<String, usize>,
    scratch: Vec<u64>,
    writes: Writes,
    activity: Activity,
    cpu: Cpu,
    /// Something has changed since the last settling.
    dirty: bool,
    cycles: u64,
}

impl Sim {
    /// Compiles `top`, with garbage in registers and memories (`Init::Garbage(1)`).
    ///
    /// # Errors
    /// The design has no such module, or values below it form a cycle lane by lane.
    pub fn new(d: &Verified, top: &ModuleName) -> Result<Sim, Vec<Fault>> {
        Sim::with_init(d, top, Init::Garbage(1))
    }

    /// Compiles `top` with the given initial state.
    ///
    /// # Errors
    /// As `new`.
    pub fn with_init(d: &Verified, top: &ModuleName, init: Init) -> Result<Sim, Vec<Fault>> {
        Sim::compile(d, top, init, false)
    }

    /// Compiles `top` with the names of its values, for waveforms (`vcd::Vcd`) and inspection.
    ///
    /// # Errors
    /// As `new`.
    pub fn traced(d: &Verified, top: &ModuleName, init: Init) -> Result<Sim, Vec<Fault>> {
        Sim::compile(d, top, init, true)
    }

    fn compile(d: &Verified, top: &ModuleName, init: Init, names: bool) -> Result<Sim, Vec<Fault>> {
        let Some(module) = d.get(top) else {
            let message = format!("no module `{top}` in this design");
            return Err(vec![Fault {
                module: top.to_string(),
                kind: FaultKind::Port,
                message,
                at: "simulation".into(),
            }]);
        };
        let flat = Flat::new(d, module);
        // Waveforms show every value, so a traced simulation has no guards.
        let graph = flat.graph(false, !names)?;
        let program = lower::lower(&flat, &graph)?;
        let signals = if names { signals::signals(&flat, &program) } else { vec![] };
        let mut sim = Sim::assemble(&flat, module, program, init).map_err(|f| vec![f])?;
        sim.signals = signals;
        Ok(sim)
    }

    fn assemble(flat: &Flat, top: &Module, mut p: Program, init: Init) -> Result<Sim, Fault> {
        let mut ports = vec![];
        let place = |ports: &mut Vec<Port>, name: &str, off: usize, ty: Ty, input: bool| {
            ports.push(Port { name: name.to_string(), off, ty, input });
        };
        for &id in &top.inputs {
            let n = top.node(id);
            let off = p.offsets.get(&flat.val(0, id)).copied().unwrap_or_else(|| {
                // An input without readers also needs storage.
                p.size += limbs_of(n.ty.w);
                p.size - limbs_of(n.ty.w)
            });
            place(&mut ports, n.name.as_deref().unwrap_or(""), off, n.ty, true);
        }
        for (name, id) in &top.outputs {
            let s = flat.output(*id)?;
            let off = p.offsets[&s.view.val] + s.view.lane as usize;
            place(&mut ports, name, off, top.ty(*id), false);
        }
        let mut mem_names = BTreeMap::new();
        for (&(c, id), &k) in &p.mem_index {
            for lane in 0..p.mems[k].lanes {
                mem_names.insert(flat.mem_path(c, id, lane as u32), (k, lane));
            }
        }
        let mut v = vec![0; p.size];
        for (off, lanes, b) in &p.constants {
            for (k, &limb) in b.limbs().iter().enumerate() {
                v[off + k * lanes..][..*lanes].fill(limb);
            }
        }
        if let Init::Garbage(seed) = init {
            p.fill_garbage(seed, &mut v);
        }
        let mut asserts = vec![];
        for (c, assert) in flat.asserts() {
            let at = p.offsets[&flat.val(c, assert.broken)];
            asserts.extend(
                (0..flat.ctxs[c].lanes)
                    .map(|lane| (format!("{}: {}", flat.instance(c, lane), assert.text), at + lane as usize)),
            );
        }
        let index = ports.iter().enumerate().map(|(i, p)| (p.name.clone(), i)).collect();
        let inputs: Vec<_> = ports.iter().map(|p| (p.off, if p.input { limbs_of(p.ty.w) } else { 0 })).collect();
        let edge = p.edge();
        Ok(Sim {
            v,
            activity: p.activity(&edge, &inputs),
            tape: p.tape,
            edge,
            mems: p.mems,
            mem_names,
            ports,
            signals: vec![],
            asserts,
            index,
            scratch: vec![],
            writes: Writes::default(),
            cpu: Cpu::detect(),
            dirty: true,
            cycles: 0,
        })
    }

    /// The port with this name, if the top module has one.
    pub fn find_port(&self, name: &str) -> Option<PortId> {
        self.index.get(name).map(|&i| PortId(i))
    }

    /// The port with this name.
    ///
    /// # Panics
    /// The top module has no such port, which is an error of the test bench, not of user input.
    #[track_caller]
    pub fn port(&self, name: &str) -> PortId {
        match self.find_port(name) {
            Some(p) => p,
            None => {
                panic!("no port `{name}`; there are: {}", self.index.keys().cloned().collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Name, type and direction (true: input) of every port, inputs first.
    pub fn ports(&self) -> impl Iterator<Item = (&str, Ty, bool)> {
        self.ports.iter().map(|p| (p.name.as_str(), p.ty, p.input))
    }

    /// Type of a port.
    pub fn port_ty(&self, p: PortId) -> Ty {
        self.ports[p.0].ty
    }

    /// Sets the low 64 bits of an input and clears the others; ignores bits above its width.
    #[inline]
    pub fn poke(&mut self, p: PortId, value: u64) {
        self.poke_wide(p, &[value]);
    }

    /// Sets an input from little-endian limbs; missing limbs are zero.
    #[inline]
    pub fn poke_wide(&mut self, p: PortId, limbs: &[u64]) {
        let Port { off, ty, .. } = self.ports[p.0];
        let words = &mut self.v[off..off + limbs_of(ty.w)];
        let last = words.len() - 1;
        let mut diff = 0;
        for (i, word) in words.iter_mut().enumerate() {
            let mask = if i == last { top_mask(ty.w) } else { !0 };
            let new = limbs.get(i).copied().unwrap_or(0) & mask;
            diff |= *word ^ new;
            *word = new;
        }
        if diff != 0 {
            self.activity.wake(self.edge.end() + self.mems.len() + p.0);
            self.dirty = true;
        }
    }

    /// The low 64 bits of a port, zero-extended. Settles first if an input has changed.
    #[inline]
    pub fn peek(&mut self, p: PortId) -> u64 {
        self.settle();
        self.v[self.ports[p.0].off]
    }

    /// A port of at most 64 bits, sign-extended.
    #[inline]
    pub fn peek_signed(&mut self, p: PortId) -> i64 {
        let ty = self.ports[p.0].ty;
        let shift = 64 - ty.w.min(64);
        (self.peek(p) << shift) as i64 >> shift
    }

    /// All limbs of a port. Settles first if an input has changed.
    pub fn peek_wide(&mut self, p: PortId) -> &[u64] {
        self.settle();
        let Port { off, ty, .. } = self.ports[p.0];
        &self.v[off..off + limbs_of(ty.w)]
    }

    /// `poke` by name. Panics on unknown names, like `port`.
    #[track_caller]
    pub fn set(&mut self, name: &str, value: u64) {
        let p = self.port(name);
        self.poke(p, value);
    }

    /// `poke_wide` by name.
    #[track_caller]
    pub fn set_wide(&mut self, name: &str, limbs: &[u64]) {
        let p = self.port(name);
        self.poke_wide(p, limbs);
    }

    /// `peek` by name.
    #[track_caller]
    pub fn get(&mut self, name: &str) -> u64 {
        let p = self.port(name);
        self.peek(p)
    }

    /// `peek_signed` by name.
    #[track_caller]
    pub fn get_signed(&mut self, name: &str) -> i64 {
        let p = self.port(name);
        self.peek_signed(p)
    }

    /// `peek_wide` by name.
    #[track_caller]
    pub fn get_wide(&mut self, name: &str) -> Vec<u64> {
        let p = self.port(name);
        self.peek_wide(p).to_vec()
    }

    /// Updates combinational values after a change of inputs or states.
    #[inline]
    pub fn settle(&mut self) {
        if self.dirty {
            tape::settle(self.cpu, &self.tape, &mut self.v, &self.mems, &mut self.activity, &mut self.scratch);
            self.dirty = false;
        }
    }

    /// One rising clock edge. Settles before it; outputs settle when they are read next.
    pub fn clock(&mut self) {
        self.settle();
        clock::edge(self.cpu, &self.edge, &mut self.v, &mut self.mems, &mut self.activity, &mut self.writes);
        self.dirty = true;
        self.cycles += 1;
    }

    /// A clock edge, after which outputs settle.
    pub fn step(&mut self) {
        self.clock();
        self.settle();
    }

    /// The assertions that were violated since the last call, by instance.
    pub fn take_broken(&mut self) -> Vec<String> {
        let (mut violated, v) = (vec![], &mut self.v);
        for (text, at) in &self.asserts {
            if std::mem::take(&mut v[*at]) != 0 {
                violated.push(text.clone());
            }
        }
        if !violated.is_empty() {
            self.activity.wake_all();
            self.dirty = true;
        }
        violated
    }

    /// Clock edges so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Hierarchical names of the memories (`inst.mem`, `grid[i][j].mem`).
    pub fn memories(&self) -> impl Iterator<Item = &str> {
        self.mem_names.keys().map(String::as_str)
    }

    /// A word of a memory.
    pub fn mem_word(&self, name: &str, addr: usize) -> Option<&[u64]> {
        let &(k, lane) = self.mem_names.get(name)?;
        let m = &self.mems[k];
        let at = m.cell(addr as u64, lane)?;
        Some(&m.data[at..at + m.words])
    }

    /// Overwrites a word of a memory; false if it does not exist.
    pub fn set_mem_word(&mut self, name: &str, addr: usize, limbs: &[u64]) -> bool {
        let Some(&(k, lane)) = self.mem_names.get(name) else { return false };
        let m = &mut self.mems[k];
        let Some(at) = m.cell(addr as u64, lane) else { return false };
        for i in 0..m.words {
            m.data[at + i] = limbs.get(i).copied().unwrap_or(0);
        }
        // Its readers must run again, and so must a port that writes this cell.
        self.activity.wake_all();
        self.dirty = true;
        true
    }

    /// Operations of one settling, and words of storage: figures for reports.
    pub fn size(&self) -> (usize, usize) {
        (self.tape.len(), self.v.len())
    }
}
