//! The cells of a module, made operator by operator: wiring and operators on single bits here, the others in `words`.
//!
//! Invariant: the inputs of a cell come earlier in the table. A combinational loop through instances that is none
//! of the hardware (a port is taken as a whole) is cut.

use super::cover::{cuts, Cut, Depth, INPUTS};
use super::pins::{Children, NEVER};
use super::slices::{Slices, Use};
use super::Delays;
use crate::netlist::*;
use std::collections::HashMap;

/// A way into a hard cell.
#[derive(Clone, Copy)]
pub struct Arc {
    pub cell: u32,
    /// Over a routed net, not within a block or along a chain.
    pub net: bool,
    pub ns: f64,
}

pub enum Kind {
    Const(bool),
    /// A bit of this input port.
    Pin(u32),
    /// The value is a function of the leaves of any of the cuts; the first one is the LUT.
    Gate {
        cuts: Vec<Cut>,
        depth: Depth,
    },
    Hard {
        launch: f64,
        arcs: Vec<Arc>,
        is_level: bool,
        depth: Depth,
    },
}

impl Kind {
    /// The cells that this one reads; whether each is a load of its net.
    pub fn inputs(&self) -> Vec<(u32, bool)> {
        match self {
            Kind::Const(_) | Kind::Pin(_) => vec![],
            Kind::Gate { cuts, .. } => cuts[0].leaves().iter().map(|&leaf| (leaf, true)).collect(),
            Kind::Hard { arcs, .. } => arcs.iter().map(|a| (a.cell, a.net)).collect(),
        }
    }
}

/// What samples a bit.
#[derive(Clone, Copy)]
pub enum Label {
    Node(NodeId),
    Mem(MemId),
    /// An input port of an instance.
    Port(InstId, u32),
}

pub struct Endpoint {
    pub cell: u32,
    /// Pins of the net that it stands for.
    pub loads: u32,
    pub net: bool,
    pub ns: f64,
    pub label: Label,
}

#[derive(Default)]
pub struct Cells {
    pub all: Vec<Kind>,
    /// The node that a hard cell belongs to.
    pub labels: Vec<Option<NodeId>>,
    pub endpoints: Vec<Endpoint>,
}

impl Cells {
    /// A LUT, a carry chain, or a block in the path; a chain counts at its first bit.
    pub fn is_level(&self, cell: u32) -> bool {
        match &self.all[cell as usize] {
            Kind::Gate { .. } => true,
            Kind::Hard { is_level, .. } => *is_level,
            _ => false,
        }
    }

    fn push(&mut self, kind: Kind, label: Option<NodeId>) -> u32 {
        self.all.push(kind);
        self.labels.push(label);
        (self.all.len() - 1) as u32
    }
}

const UNKNOWN: u32 = u32::MAX;
/// A bit that is being made: to read it is a loop.
const OPEN: u32 = u32::MAX - 1;

pub struct Maker<'m> {
    pub m: &'m Module,
    pub cells: Cells,
    pub delays: &'m Delays,
    pub slices: Slices,
    children: &'m Children<'m>,
    /// First bit of each node in `made`.
    base: Vec<usize>,
    made: Vec<u32>,
    gates: HashMap<[u32; 3], u32>,
    /// The cells of 0 and 1.
    pub constants: [u32; 2],
}

impl<'m> Maker<'m> {
    pub fn new(m: &'m Module, delays: &'m Delays, slices: Slices, children: &'m Children<'m>) -> Self {
        let mut cells = Cells::default();
        let constants = [false, true].map(|v| cells.push(Kind::Const(v), None));
        let mut base = vec![0];
        m.nodes.iter().for_each(|n| base.push(base[base.len() - 1] + n.ty.w as usize));
        let made = vec![UNKNOWN; base[base.len() - 1]];
        Maker { m, cells, delays, slices, children, base, made, gates: HashMap::new(), constants }
    }

    /// The part of a slice that a register is.
    pub fn in_slice(&self, id: NodeId) -> Option<Use> {
        self.slices.registers.get(&id).copied()
    }

    pub fn end(&mut self, cell: u32, loads: u32, net: bool, ns: f64, label: Label) {
        if !matches!(self.cells.all[cell as usize], Kind::Const(_)) {
            self.cells.endpoints.push(Endpoint { cell, loads, net, ns, label });
        }
    }

    pub fn constant(&self, cell: u32) -> Option<bool> {
        match self.cells.all[cell as usize] {
            Kind::Const(v) => Some(v),
            _ => None,
        }
    }

    pub fn hard(&mut self, launch: f64, arcs: Vec<Arc>, is_level: bool, label: NodeId) -> u32 {
        let arcs: Vec<Arc> = arcs.into_iter().filter(|a| self.constant(a.cell).is_none()).collect();
        let time = |a: &Arc| f64::from(self.depth(a.cell).ns) + a.ns + if a.net { self.delays.net } else { 0.0 };
        let ns = arcs.iter().map(time).fold(launch.max(0.0), f64::max) as f32;
        self.cells.push(Kind::Hard { launch, arcs, is_level, depth: Depth { level: 0, ns } }, Some(label))
    }

    fn depth(&self, cell: u32) -> Depth {
        match self.cells.all[cell as usize] {
            Kind::Gate { depth, .. } | Kind::Hard { depth, .. } => depth,
            Kind::Const(_) | Kind::Pin(_) => Depth::default(),
        }
    }

    pub fn gate(&mut self, inputs: &[u32]) -> u32 {
        let mut all: Vec<u32> = inputs.iter().copied().filter(|&c| self.constant(c).is_none()).collect();
        all.sort_unstable();
        all.dedup();
        match all[..] {
            [] => return self.constants[0],
            // The value or its complement: no LUT of its own.
            [one] => return one,
            _ => {}
        }
        let key = [all[0], all[1], all.get(2).copied().unwrap_or(UNKNOWN)];
        if let Some(&known) = self.gates.get(&key).filter(|_| all.len() <= 3) {
            return known;
        }
        if all.len() > INPUTS {
            return self.tree(all, |s, x| s.gate(x));
        }
        let found = cuts(&all, |c| match &self.cells.all[c as usize] {
            Kind::Gate { cuts, depth } => (&cuts[..], *depth),
            _ => (&[], self.depth(c)),
        });
        let Depth { level, ns } = found[0].depth;
        let depth = Depth { level: level + 1, ns: ns + (self.delays.net + self.delays.lut) as f32 };
        let made = self.cells.push(Kind::Gate { cuts: found, depth }, None);
        if all.len() <= 3 {
            self.gates.insert(key, made);
        }
        made
    }

    /// A balanced tree.
    pub fn tree(&mut self, mut all: Vec<u32>, mut join: impl FnMut(&mut Self, &[u32]) -> u32) -> u32 {
        while all.len() > 1 {
            all = all.chunks(2).map(|pair| if pair.len() == 1 { pair[0] } else { join(self, pair) }).collect();
        }
        all.first().copied().unwrap_or(self.constants[0])
    }

    /// Or (`absorbs` is 1) or and (0).
    pub fn or_and(&mut self, pair: &[u32], absorbs: bool) -> u32 {
        let absorbed = pair.iter().any(|&c| self.constant(c) == Some(absorbs));
        match (absorbed, pair.iter().all(|&c| self.constant(c).is_some())) {
            (true, _) => self.constants[usize::from(absorbs)],
            (_, true) => self.constants[usize::from(!absorbs)],
            _ => self.gate(pair),
        }
    }

    pub fn xor(&mut self, a: u32, b: u32) -> u32 {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => self.constants[usize::from(x ^ y)],
            _ => self.gate(&[a, b]),
        }
    }

    pub fn invert(&self, cell: u32) -> u32 {
        self.constant(cell).map_or(cell, |v| self.constants[usize::from(!v)])
    }

    pub fn mux(&mut self, c: u32, t: u32, e: u32) -> u32 {
        match self.constant(c) {
            Some(true) => t,
            Some(false) => e,
            None if t == e => t,
            None => match (self.constant(t), self.constant(e)) {
                // One arm decides nothing unless the condition chooses it: an "and" or an "or".
                (Some(_), Some(_)) => c,
                _ => self.gate(&[c, t, e]),
            },
        }
    }

    /// All bits of a node, lowest first.
    pub fn node(&mut self, id: NodeId) -> Vec<u32> {
        (0..self.m.ty(id).w).map(|k| self.bit(id, k)).collect()
    }

    pub fn bit(&mut self, id: NodeId, k: u32) -> u32 {
        let at = self.base[id.0 as usize] + k as usize;
        match self.made[at] {
            UNKNOWN => {}
            OPEN => return self.constants[0],
            cell => return cell,
        }
        self.made[at] = OPEN;
        let cell = self.make(id, k);
        // Operators that make all bits at once have set this one.
        if self.made[at] == OPEN {
            self.made[at] = cell;
        }
        self.made[at]
    }

    fn set(&mut self, id: NodeId, cells: &[u32]) {
        let base = self.base[id.0 as usize];
        cells.iter().enumerate().for_each(|(k, &c)| self.made[base + k] = c);
    }

    fn make(&mut self, id: NodeId, k: u32) -> u32 {
        let node = self.m.node(id);
        match node.op.clone() {
            Op::Lit(bits) => self.constants[usize::from(bits.bit(k))],
            Op::Poison | Op::Wire { driver: None } => self.constants[0],
            Op::Input => {
                let port = self.m.inputs.iter().position(|&i| i == id).unwrap_or(0) as u32;
                self.cells.push(Kind::Pin(port), Some(id))
            }
            Op::Wire { driver: Some(a) } | Op::Cast(a) => self.bit(a, k),
            Op::Slice(a, lo) => self.bit(a, lo + k),
            Op::Concat(parts) => {
                let mut lo = 0;
                for &part in parts.iter().rev() {
                    let w = self.m.ty(part).w;
                    if k < lo + w {
                        return self.bit(part, k - lo);
                    }
                    lo += w;
                }
                self.constants[0]
            }
            Op::Resize(a) => {
                let ty = self.m.ty(a);
                match (k < ty.w, ty.signed) {
                    (true, _) => self.bit(a, k),
                    (_, true) => self.bit(a, ty.w - 1),
                    _ => self.constants[0],
                }
            }
            Op::Un(UnOp::Not, a) => {
                let a = self.bit(a, k);
                self.invert(a)
            }
            Op::Bin(BinOp::And, a, b) => self.pair(a, b, k, |s, a, b| s.or_and(&[a, b], false)),
            Op::Bin(BinOp::Or, a, b) => self.pair(a, b, k, |s, a, b| s.or_and(&[a, b], true)),
            Op::Bin(BinOp::Xor, a, b) => self.pair(a, b, k, |s, a, b| s.xor(a, b)),
            Op::Mux(c, t, e) => {
                let c = self.bit(c, 0);
                match self.constant(c) {
                    Some(true) => self.bit(t, k),
                    Some(false) => self.bit(e, k),
                    None => self.pair(t, e, k, |s, t, e| s.mux(c, t, e)),
                }
            }
            Op::InstOut(inst, port) => self.output(id, inst, port, k),
            Op::Reg { .. } => {
                let launch = match self.slices.registers.get(&id) {
                    Some(Use::Product) => self.delays.slice,
                    Some(Use::Sum) => self.delays.block,
                    None if self.slices.is_shift_register(self.m, id) => self.delays.block,
                    None => self.delays.register,
                };
                self.hard(launch, vec![], false, id)
            }
            _ => {
                let cells = self.whole(id);
                self.set(id, &cells);
                cells[k as usize]
            }
        }
    }

    fn pair(&mut self, a: NodeId, b: NodeId, k: u32, join: impl FnOnce(&mut Self, u32, u32) -> u32) -> u32 {
        let (a, b) = (self.bit(a, k), self.bit(b, k));
        join(self, a, b)
    }

    /// A bit of an instance's output.
    fn output(&mut self, id: NodeId, inst: InstId, port: u32, k: u32) -> u32 {
        let w = self.m.insts[inst.0 as usize].outs[port as usize].1.w;
        let (element, first) = (k / w, k / w * w);
        let Some(pins) = self.children.of(self.m, inst) else { return self.constants[0] };
        let port = port as usize;
        let mut ways = vec![];
        for &input in &pins.behind[port] {
            ways.extend(self.pin(inst, input, element).into_iter().map(|cell| Arc { cell, net: false, ns: 0.0 }));
        }
        let hub = if ways.is_empty() { None } else { Some(self.hard(NEVER, ways, false, id)) };
        for j in 0..w {
            let (launch, through) = (pins.launch[port][j as usize], pins.through[port][j as usize]);
            let ways = hub.filter(|_| through > NEVER).map(|cell| Arc { cell, net: false, ns: through });
            let is_level = ways.is_some();
            let cell = self.hard(launch, ways.into_iter().collect(), is_level, id);
            let at = self.base[id.0 as usize] + (first + j) as usize;
            self.made[at] = cell;
        }
        self.made[self.base[id.0 as usize] + k as usize]
    }

    /// The cells at an input port of an element of an instance.
    pub fn pin(&mut self, inst: InstId, port: usize, element: u32) -> Vec<u32> {
        let (_, ty, conn) = &self.m.insts[inst.0 as usize].ins[port];
        match *conn {
            Conn::Open => vec![],
            Conn::All(node) => self.node(node),
            Conn::Bus(node) => (0..ty.w).map(|k| self.bit(node, element * ty.w + k)).collect(),
        }
    }
}
