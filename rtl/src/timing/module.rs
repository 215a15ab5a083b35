//! A module's endpoints and ports.

use super::cells::{Label, Maker};
use super::paths::Times;
use super::pins::{Children, Pins, NEVER};
use super::slices::Slices;
use super::{Delays, Path};
use crate::netlist::*;
use std::collections::BTreeMap;

/// Nodes that the module's outputs, instances and the registers and memories behind them need; assertions are no
/// hardware.
fn live(m: &Module) -> Vec<bool> {
    let mut live = vec![false; m.nodes.len()];
    let mut open: Vec<NodeId> = m.outputs.iter().map(|o| o.1).collect();
    for (_, _, conn) in m.insts.iter().flat_map(|i| &i.ins) {
        if let Conn::All(id) | Conn::Bus(id) = conn {
            open.push(*id);
        }
    }
    let mut written = vec![false; m.mems.len()];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut live[id.0 as usize], true) {
            continue;
        }
        let op = &m.node(id).op;
        open.extend(op.comb_operands().into_iter().chain(op.edge_operands()));
        if let Op::ReadAsync { mem, .. } | Op::ReadSync { mem, .. } = op {
            if !std::mem::replace(&mut written[mem.0 as usize], true) {
                for w in &m.mems[mem.0 as usize].writes {
                    open.extend([w.en, w.addr, w.data].into_iter().chain(w.lanes.map(|l| l.0)));
                }
            }
        }
    }
    live
}

/// Timing of a module's pins, and its slowest path.
pub fn analyse(m: &Module, children: &BTreeMap<&ModuleName, Pins>, delays: &Delays) -> (Pins, Option<Path>) {
    let live = live(m);
    let children = Children(children);
    let mut maker = Maker::new(m, delays, Slices::new(m, &live), &children);
    let mut memories = vec![false; m.mems.len()];
    for id in (0..m.nodes.len() as u32).map(NodeId).filter(|id| live[id.0 as usize]) {
        match m.node(id).op {
            Op::Reg { .. } => register(&mut maker, id),
            Op::ReadAsync { mem, .. } => memories[mem.0 as usize] = true,
            Op::ReadSync { mem, addr, en } => {
                memories[mem.0 as usize] = true;
                // A LUT RAM has its register behind it.
                let block = maker.is_block(mem);
                let ns = delays.setup + if block { 0.0 } else { delays.lut_ram + delays.net };
                ends(&mut maker, addr, 1, ns, Label::Node(id));
                ends(&mut maker, en, 1, delays.setup, Label::Node(id));
            }
            _ => {}
        }
    }
    for (k, memory) in m.mems.iter().enumerate().filter(|(k, _)| memories[*k]) {
        for w in &memory.writes {
            let label = Label::Mem(MemId(k as u32));
            for id in [w.en, w.addr, w.data].into_iter().chain(w.lanes.map(|l| l.0)) {
                ends(&mut maker, id, 1, delays.setup, label);
            }
        }
    }
    for (k, inst) in m.insts.iter().enumerate() {
        let id = InstId(k as u32);
        let Some(pins) = children.of(m, id) else { continue };
        for port in 0..inst.ins.len() {
            for element in 0..inst.count() {
                for (bit, cell) in maker.pin(id, port, element).into_iter().enumerate() {
                    let capture = pins.capture[port][bit];
                    if capture > NEVER {
                        maker.end(cell, 0, false, capture, Label::Port(id, port as u32));
                    }
                }
            }
        }
    }
    let outputs: Vec<Vec<u32>> = m.outputs.iter().map(|(_, id)| maker.node(*id)).collect();
    let inputs: Vec<Vec<u32>> = m.inputs.iter().map(|&id| maker.node(id)).collect();
    let cells = maker.cells;
    let roots = outputs.iter().chain(&inputs).flatten().copied();
    let times = Times::new(&cells, roots, delays);
    let name = |id: NodeId| called(m, id);
    let path = times.slowest().map(|s| Path {
        ns: s.ns,
        levels: s.levels,
        module: m.name.clone(),
        from: s.from.map_or_else(String::new, name),
        to: match s.to {
            Label::Node(id) => name(id),
            Label::Mem(mem) => m.mems[mem.0 as usize].name.clone(),
            Label::Port(inst, port) => {
                let inst = &m.insts[inst.0 as usize];
                format!("{}.{}", inst.name, inst.ins[port as usize].0)
            }
        },
    });
    (times.pins(&outputs, &inputs), path)
}

/// The name of a node; of a value without one, that of its first named operand.
fn called(m: &Module, id: NodeId) -> String {
    let node = m.node(id);
    match (&node.name, &node.hint, &node.op) {
        (Some(name), ..) | (None, Some(name), _) => name.clone(),
        (_, _, Op::InstOut(inst, port)) => {
            let inst = &m.insts[inst.0 as usize];
            format!("{}.{}", inst.name, inst.outs[*port as usize].0)
        }
        (_, _, op) => op.comb_operands().first().map_or_else(|| format!("n{}", id.0), |&a| called(m, a)),
    }
}

fn ends(maker: &mut Maker, id: NodeId, loads: u32, ns: f64, label: Label) {
    for cell in maker.node(id) {
        maker.end(cell, loads, true, ns, label);
    }
}

/// The endpoints of a register. Those of a register in a slice are the slice's.
fn register(maker: &mut Maker, id: NodeId) {
    let Op::Reg { next, en, rst, .. } = maker.m.node(id).op.clone() else { return };
    let (setup, label, w) = (maker.delays.setup, Label::Node(id), maker.m.ty(id).w);
    let inside = maker.in_slice(id);
    if let Some(next) = next {
        if inside.is_some() {
            maker.node(next);
        } else {
            ends(maker, next, 1, setup, label);
        }
    }
    let loads = if inside.is_some() { 1 } else { w };
    for control in en.into_iter().chain(rst.map(|r| r.0)) {
        ends(maker, control, loads, setup, label);
    }
}
