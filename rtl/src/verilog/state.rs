//! Registers and memories: declarations and clocked blocks.

use super::Printer;
use crate::netlist::*;
use std::fmt::Write as _;

/// Control of a group of registers: enable and reset.
type Control = (Option<NodeId>, Option<NodeId>);

impl Printer<'_> {
    /// A constant one drives the node.
    fn always_on(&self, id: NodeId) -> bool {
        matches!(&self.m.node(id).op, Op::Lit(b) if !b.is_zero())
    }

    fn live_memory(&self, k: usize) -> bool {
        self.m.nodes.iter().enumerate().any(|(i, n)| {
            matches!(n.op, Op::ReadAsync { mem, .. } | Op::ReadSync { mem, .. } if mem.0 as usize == k)
                && self.uses.contains_key(&NodeId(i as u32))
        })
    }

    /// Arrays of the memories that are read.
    pub(super) fn memories(&mut self, out: &mut String) {
        for (k, mem) in self.m.mems.iter().enumerate() {
            if !self.live_memory(k) {
                continue;
            }
            let kind = if mem.content.is_empty() { "ram" } else { "rom" };
            if let Some(style) = mem.style.attribute() {
                writeln!(out, "    (* {kind}_style = \"{style}\" *)").expect("string");
            }
            writeln!(out, "    reg {}{} [0:{}];", super::range(mem.width), mem.name, mem.depth - 1).expect("string");
            content(out, mem);
        }
    }

    /// Registers and registered reads.
    pub(super) fn declare_states(&mut self, out: &mut String) {
        let ids: Vec<NodeId> = self.uses.keys().copied().collect();
        self.declare_lines(out);
        for id in ids.into_iter().filter(|id| self.lines.get(*id).is_none()).collect::<Vec<_>>() {
            let n = self.m.node(id);
            if let (Op::Reg { .. } | Op::ReadSync { .. }, Some(name)) = (&n.op, n.name.clone()) {
                writeln!(out, "{};", self.declaration("reg ", id, &name)).expect("string");
                if let Op::Reg { init: Some(b), .. } = &n.op {
                    writeln!(out, "    initial {name} = {};", super::literal(b, u(b.width()))).expect("string");
                }
                self.net(id, name);
            }
        }
        // Instance outputs too: expressions may refer to them before their instance is printed.
        for i in &self.m.insts {
            for id in i.outs.iter().filter_map(|o| o.2).filter(|id| self.uses.contains_key(id)).collect::<Vec<_>>() {
                if let Some(name) = self.m.node(id).name.clone() {
                    out.push_str(&self.remarked(id, "    "));
                    writeln!(out, "{};", self.declaration("wire", id, &name)).expect("string");
                    self.net(id, name);
                }
            }
        }
    }

    /// One clocked block for each combination of enable and reset.
    pub(super) fn registers(&mut self, out: &mut String) {
        let mut groups: Vec<(Control, Vec<NodeId>)> = vec![];
        for &id in self.uses.keys() {
            let Op::Reg { en, rst, .. } = &self.m.node(id).op else { continue };
            let control = (en.filter(|&e| !self.always_on(e)), rst.as_ref().map(|r| r.0));
            match groups.iter_mut().find(|g| g.0 == control) {
                Some(g) => g.1.push(id),
                None => groups.push((control, vec![id])),
            }
        }
        for ((en, rst), ids) in groups {
            self.clocked = true;
            let mut loads = vec![];
            let mut resets = vec![];
            for id in ids {
                let Op::Reg { next: Some(d), rst, .. } = self.m.node(id).op.clone() else { continue };
                if let Some(statement) = self.advance(id, d) {
                    loads.extend(Some(statement).filter(|s| !s.is_empty()));
                    continue;
                }
                let name = self.nets[&id].clone();
                let value = self.statement(d, name.len() + 18);
                if let Some((_, b)) = rst {
                    resets.push(format!("{name} <= {};", super::literal(&b, u(b.width()))));
                }
                loads.push(format!("{}{name} <= {value};", self.remarked(id, "")));
            }
            let en = en.map(|e| self.expr(e).s);
            let rst = rst.map(|r| self.expr(r).s);
            block(out, self.clock, rst.as_deref(), &resets, en.as_deref(), &loads);
        }
    }

    /// Write and registered read ports.
    pub(super) fn memory_ports(&mut self, out: &mut String) {
        for k in 0..self.m.mems.len() {
            if self.live_memory(k) {
                self.writes(k, out);
            }
        }
        let ids: Vec<NodeId> = self.uses.keys().copied().collect();
        for id in ids {
            let Op::ReadSync { mem, addr, en } = self.m.node(id).op else { continue };
            self.clocked = true;
            let q = self.nets[&id].clone();
            let a = self.expr(addr).s;
            let load = format!("{q} <= {}[{a}];", self.m.mems[mem.0 as usize].name);
            let en = (!self.always_on(en)).then(|| self.expr(en).s);
            block(out, self.clock, None, &[], en.as_deref(), &[load]);
        }
    }

    fn writes(&mut self, k: usize, out: &mut String) {
        let mem = &self.m.mems[k];
        if mem.writes.is_empty() {
            return;
        }
        self.clocked = true;
        let name = &mem.name;
        let mut body = String::new();
        for w in &mem.writes {
            let (en, addr) = (self.expr(w.en).s, self.expr(w.addr).s);
            let Some((mask, lane)) = w.lanes else {
                let data = self.expr(w.data).s;
                let on = if self.always_on(w.en) { String::new() } else { format!("if ({en}) ") };
                writeln!(body, "        {on}{name}[{addr}] <= {data};").expect("string");
                continue;
            };
            let i = self.names.fresh(&format!("{name}_lane"));
            let lanes = self.m.ty(mask).w;
            let mask_name = self.identifier(mask, None);
            let data = self.identifier(w.data, None);
            self.reads(&mask_name, 0, lanes);
            self.reads(&data, 0, mem.width);
            let bit = if lanes == 1 { mask_name } else { format!("{mask_name}[{i}]") };
            let part = if lane == mem.width { String::new() } else { format!("[{i} * {lane} +: {lane}]") };
            writeln!(out, "    integer {i};").expect("string");
            writeln!(body, "        for ({i} = 0; {i} < {lanes}; {i} = {i} + 1)").expect("string");
            writeln!(body, "            if ({} && {bit})", self.operand(w.en)).expect("string");
            writeln!(body, "                {name}[{addr}]{part} <= {data}{part};").expect("string");
        }
        writeln!(out, "    always @(posedge {}) begin\n{body}    end", self.clock).expect("string");
    }
}

/// What a read-only memory holds.
fn content(out: &mut String, mem: &Mem) {
    if mem.content.is_empty() {
        return;
    }
    let zero = Bits::zero(mem.width);
    let words = mem.content.iter().chain(std::iter::repeat(&zero)).take(mem.depth as usize);
    let words: Vec<String> = words
        .enumerate()
        .map(|(k, word)| format!("{}[{k}] = {};", mem.name, super::literal(word, u(mem.width))))
        .collect();
    let lines: String = words.chunks(4).map(|few| format!("        {}\n", few.join(" "))).collect();
    writeln!(out, "    initial begin\n{lines}    end").expect("string");
}

/// A clocked block: resets, else loads under the enable.
fn block(out: &mut String, clock: &str, rst: Option<&str>, resets: &[String], en: Option<&str>, loads: &[String]) {
    let lines = |out: &mut String, indent: &str, list: &[String]| {
        for l in list {
            writeln!(out, "{indent}{}", l.replace('\n', &format!("\n{indent}"))).expect("string");
        }
    };
    writeln!(out, "    always @(posedge {clock}) begin").expect("string");
    match (rst, en) {
        (None, None) => lines(out, "        ", loads),
        (None, Some(e)) => {
            writeln!(out, "        if ({e}) begin").expect("string");
            lines(out, "            ", loads);
            writeln!(out, "        end").expect("string");
        }
        (Some(r), en) => {
            writeln!(out, "        if ({r}) begin").expect("string");
            lines(out, "            ", resets);
            match en {
                Some(e) => writeln!(out, "        end else if ({e}) begin").expect("string"),
                None => writeln!(out, "        end else begin").expect("string"),
            }
            lines(out, "            ", loads);
            writeln!(out, "        end").expect("string");
        }
    }
    writeln!(out, "    end").expect("string");
}
