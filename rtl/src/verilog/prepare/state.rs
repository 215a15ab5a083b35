//! Registers and memories: declarations and clocked blocks.

use super::Prepare;
use crate::netlist::*;
use crate::verilog::ast::*;
use std::collections::BTreeSet;

/// Control of a group of registers: enable and reset.
type Control = (Option<NodeId>, Option<NodeId>);

impl Prepare<'_> {
    /// Whether a constant one drives the node.
    fn is_always_on(&self, id: NodeId) -> bool {
        matches!(&self.m.node(id).op, Op::Lit(b) if !b.is_zero())
    }

    /// Memories with a live read.
    pub fn live_memories(&self) -> BTreeSet<MemId> {
        let read = |id: &NodeId| match self.m.node(*id).op {
            Op::ReadAsync { mem, .. } | Op::ReadSync { mem, .. } => Some(mem),
            _ => None,
        };
        self.uses.keys().filter_map(read).collect()
    }

    /// Declares registers and registered reads, and outputs of instances, which expressions may read before their
    /// instance is printed.
    pub fn declare_states(&mut self) {
        self.declare_lines();
        let m = self.m;
        let ids: Vec<NodeId> = self.uses.keys().copied().filter(|id| self.lines.get(*id).is_none()).collect();
        for id in ids {
            let kind = match &m.node(id).op {
                Op::Reg { init, .. } => NetKind::Reg(init.as_ref()),
                Op::ReadSync { .. } => NetKind::Reg(None),
                _ => continue,
            };
            self.declare_state(id, None, kind);
        }
        for id in m.insts.iter().flat_map(|i| &i.outs).filter_map(|o| o.2) {
            if self.uses.contains_key(&id) {
                self.declare_state(id, m.node(id).remark.as_deref(), NetKind::Output);
            }
        }
    }

    /// One clocked block for each combination of enable and reset.
    pub fn registers(&mut self) {
        let mut groups: Vec<(Control, Vec<NodeId>)> = vec![];
        for &id in self.uses.keys() {
            let Op::Reg { en, rst, .. } = &self.m.node(id).op else { continue };
            let control = (en.filter(|&e| !self.is_always_on(e)), rst.as_ref().map(|r| r.0));
            match groups.iter_mut().find(|g| g.0 == control) {
                Some(g) => g.1.push(id),
                None => groups.push((control, vec![id])),
            }
        }
        for ((en, rst), ids) in groups {
            let mut block = Clocked::default();
            for id in ids {
                self.load(id, &mut block);
            }
            block.enable = en.map(|en| self.expr(en));
            block.reset = rst.map(|rst| self.expr(rst));
            self.items.push(Item::Clocked(block));
        }
    }

    /// Write and registered read ports.
    pub fn memory_ports(&mut self, live: &BTreeSet<MemId>) {
        let m = self.m;
        for mem in live.iter().map(|id| &m.mems[id.0 as usize]).filter(|mem| !mem.writes.is_empty()) {
            let ports = mem.writes.iter().map(|w| self.write(mem, w)).collect();
            self.items.push(Item::Writes(mem, ports));
        }
        let ids: Vec<NodeId> = self.uses.keys().copied().collect();
        for id in ids {
            let Op::ReadSync { mem, addr, en } = m.node(id).op else { continue };
            let (target, mem) = (self.nets[&id].clone(), m.mems[mem.0 as usize].name.clone());
            let value = Value::Line(Expr::Word(mem, Box::new(self.expr(addr))));
            let enable = (!self.is_always_on(en)).then(|| self.expr(en));
            let loads = vec![Load { remark: None, target, value }];
            self.items.push(Item::Clocked(Clocked { enable, loads, ..Clocked::default() }));
        }
    }

    fn write(&mut self, mem: &Mem, port: &WritePort) -> Write {
        let (enable, addr) = (self.expr(port.en), self.expr(port.addr));
        let Some((mask, lane)) = port.lanes else {
            let enable = Some(enable).filter(|_| !self.is_always_on(port.en));
            return Write { enable, addr, data: self.expr(port.data), lanes: None };
        };
        let (index, w) = (self.names.fresh(&format!("{}_lane", mem.name)), self.m.ty(mask).w);
        let (mask, data) = (self.identifier(mask, None), self.identifier(port.data, None));
        self.reads(&mask, 0, w);
        self.reads(&data, 0, mem.width);
        // Once more, because the mask and the data may be nets by now that the enable can read.
        Write {
            enable: (!self.is_always_on(port.en)).then(|| self.expr(port.en)),
            addr,
            data: Expr::Net(data),
            lanes: Some(Lanes { index, mask, w, lane }),
        }
    }
}

impl<'m> Prepare<'m> {
    fn declare_state(&mut self, id: NodeId, remark: Option<&'m str>, kind: NetKind<'m>) {
        let n = self.m.node(id);
        let Some(name) = n.name.clone() else { return };
        self.states.push(Net { remark, attrs: &n.attrs, name: name.clone(), w: n.ty.w, kind });
        self.net(id, name);
    }

    /// Adds what a register loads to its block. The first register of a delay line loads for the whole line.
    fn load(&mut self, id: NodeId, block: &mut Clocked<'m>) {
        let n = self.m.node(id);
        let Op::Reg { next: Some(next), rst, .. } = &n.op else { return };
        let line = self.lines.get(id).map(|(line, lo)| (line.name.clone(), lo, line.registers.len() as u32));
        let load = match line {
            Some((_, 1.., _)) => return,
            Some((target, 0, registers)) => {
                let value = self.shift(&target, n.ty.w * (registers - 1), *next);
                Load { remark: None, target, value }
            }
            None => {
                let (target, value) = (self.nets[&id].clone(), self.right_side(*next));
                block.resets.extend(rst.as_ref().map(|(_, b)| (target.clone(), b)));
                Load { remark: n.remark.as_deref(), target, value }
            }
        };
        block.loads.push(load);
    }
}
