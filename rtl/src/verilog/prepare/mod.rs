//! Decides everything about a module's text before it is printed.
//!
//! The walk visits the module in the order in which it is printed: states, memory ports, instances, outputs. Where it
//! finds a value that must be a net and is not yet one, it names the net and declares it. The operands of a net are
//! visited first, so a declaration reads only nets above it, and a name can contain the names of operands.
//!
//! Invariant: `nets` holds exactly the declared nets; `read` holds which of their bits the text reads so far.

mod delay;
mod expr;
mod inst;
mod merge;
mod naming;
mod state;

use super::ast::*;
use crate::netlist::names::Names;
use crate::netlist::*;
use delay::Lines;
use naming::Sink;
use std::collections::BTreeMap;

pub use merge::merge;

struct Prepare<'m> {
    m: &'m Module,
    names: Names,
    /// Live nodes with their numbers of readers.
    uses: BTreeMap<NodeId, u32>,
    /// Identifier of every node that has a net.
    nets: BTreeMap<NodeId, String>,
    lines: Lines,
    /// The nearest named thing that each unnamed node drives.
    sinks: BTreeMap<NodeId, Sink>,
    /// Bits of each net that the text reads.
    read: BTreeMap<String, Vec<bool>>,
    states: Vec<Net<'m>>,
    wires: Vec<Net<'m>>,
    items: Vec<Item<'m>>,
}

/// Prepares a module for printing.
pub fn prepare<'m>(m: &'m Module, clock: &'m str) -> Text<'m> {
    let mut p = Prepare::new(m, clock);
    let mems = p.live_memories();
    for &i in &m.inputs {
        p.net(i, m.node(i).name.clone().unwrap_or_default());
    }
    p.declare_states();
    p.registers();
    p.memory_ports(&mems);
    m.insts.iter().for_each(|inst| p.instance(inst));
    let outputs = m.outputs.iter().map(|(name, id)| (name.as_str(), p.right_side(*id))).collect();
    let mut unused: Vec<String> = p.items.is_empty().then(|| clock.to_string()).into_iter().collect();
    unused.extend(p.read.iter().filter(|(_, bits)| bits.contains(&false)).map(|(name, _)| name.clone()));
    let mems = mems.iter().map(|id| &m.mems[id.0 as usize]).collect();
    Text { module: m, clock, mems, states: p.states, wires: p.wires, items: p.items, outputs, unused }
}

impl<'m> Prepare<'m> {
    fn new(m: &'m Module, clock: &str) -> Self {
        let mut names = Names::default();
        let named = m.nodes.iter().filter_map(|n| n.name.as_ref()).chain(m.outputs.iter().map(|o| &o.0));
        let others = m.insts.iter().map(|i| &i.name).chain(m.mems.iter().map(|x| &x.name));
        for name in named.chain(others).map(String::as_str).chain([clock, "_unused"]) {
            names.claim(name);
        }
        let uses = live(m);
        let lines = Lines::new(m, uses.keys().copied(), &mut names);
        let sinks = naming::sinks(m, &uses);
        let (nets, read) = (BTreeMap::new(), BTreeMap::new());
        Prepare { m, names, uses, nets, lines, sinks, read, states: vec![], wires: vec![], items: vec![] }
    }

    /// Gives a node a net.
    fn net(&mut self, id: NodeId, name: String) {
        self.read.insert(name.clone(), vec![false; self.m.ty(id).w as usize]);
        self.nets.insert(id, name);
    }

    /// Declares a wire with the value of a node, and with the remark and the attributes of `declared`.
    fn wire(&mut self, id: NodeId, name: &str, declared: Option<&'m Node>, value: Value) {
        let remark = declared.and_then(|n| n.remark.as_deref());
        let attrs = declared.map_or(&[][..], |n| &n.attrs);
        self.wires.push(Net { remark, attrs, name: name.into(), w: self.m.ty(id).w, kind: NetKind::Wire(value) });
        self.net(id, name.into());
    }

    /// Marks bits of a net as read.
    fn reads(&mut self, name: &str, lo: u32, w: u32) {
        if let Some(bits) = self.read.get_mut(name) {
            bits[lo as usize..(lo + w) as usize].fill(true);
        }
    }
}

/// Live nodes: those that reach an output or an instance. With each the number of places that read it.
fn live(m: &Module) -> BTreeMap<NodeId, u32> {
    let mut uses: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut mems = vec![false; m.mems.len()];
    let mut work: Vec<NodeId> = m.outputs.iter().map(|o| o.1).collect();
    for i in &m.insts {
        work.extend(i.ins.iter().filter_map(|p| match p.2 {
            Conn::All(x) | Conn::Bus(x) => Some(x),
            Conn::Open => None,
        }));
    }
    while let Some(id) = work.pop() {
        let count = uses.entry(id).or_insert(0);
        *count += 1;
        if *count > 1 {
            continue;
        }
        let op = &m.node(id).op;
        work.extend(op.comb_operands());
        work.extend(op.edge_operands());
        if let Op::ReadAsync { mem, .. } | Op::ReadSync { mem, .. } = op {
            if !std::mem::replace(&mut mems[mem.0 as usize], true) {
                for w in &m.mems[mem.0 as usize].writes {
                    work.extend([w.en, w.addr, w.data]);
                    work.extend(w.lanes.map(|l| l.0));
                }
            }
        }
    }
    uses
}
