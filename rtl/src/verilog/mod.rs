//! Verilog-2005 text of a verified design: one module a file, deterministic.
//!
//! All nets are unsigned; signed operators read their operands through `$signed`. Products and
//! shifts have exact-width wires of their own, so that no expression is evaluated at a width
//! other than its type's. Only live nodes are printed; nets (or bits of them) that nothing reads
//! end in one `_unused` reduction, which linters take as their use and synthesis removes.

mod expr;
mod inst;
mod line;
mod naming;
mod shared;
mod state;

use crate::check::Verified;
use crate::netlist::names::Names;
use crate::netlist::*;
use line::Lines;
use naming::Drives;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Lines longer than this are broken where that is possible.
const LINE: usize = 100;

/// File name and text of every module, children first.
pub fn files(d: &Verified) -> Vec<(String, String)> {
    d.modules()
        .iter()
        .map(|m| (format!("{}.v", m.name), Printer::new(&shared::shared(m), d.clock()).module()))
        .collect()
}

/// `[7:0] ` or nothing for one bit.
fn range(w: u32) -> String {
    if w == 1 {
        String::new()
    } else {
        format!("[{}:0] ", w - 1)
    }
}

/// Printer of one module.
struct Printer<'a> {
    m: &'a Module,
    clock: &'a str,
    names: Names,
    /// Nodes that reach an output, a register, a memory or an instance, with their use counts.
    uses: BTreeMap<NodeId, u32>,
    /// Identifier of every node that has a net.
    nets: BTreeMap<NodeId, String>,
    lines: Lines,
    /// What each node without a name is part of.
    drives: BTreeMap<NodeId, Drives>,
    /// Bits of each net that the text reads.
    read: BTreeMap<String, Vec<bool>>,
    /// Declarations of nets in order.
    wires: String,
    /// The clock is used by a register, memory or instance.
    clocked: bool,
}

impl<'a> Printer<'a> {
    fn new(m: &'a Module, clock: &'a str) -> Self {
        let mut names = Names::default();
        names.claim(clock);
        names.claim("_unused");
        let named = m.nodes.iter().filter_map(|n| n.name.as_ref());
        let outputs = m.outputs.iter().map(|o| &o.0);
        let others = m.insts.iter().map(|i| &i.name).chain(m.mems.iter().map(|x| &x.name));
        for n in named.chain(outputs).chain(others) {
            names.claim(n);
        }
        let uses = live(m);
        let lines = Lines::of(m, uses.keys().copied());
        let drives = naming::drives(m, &uses);
        let mut printer = Printer {
            m,
            clock,
            names,
            uses,
            nets: BTreeMap::new(),
            lines,
            drives,
            read: BTreeMap::new(),
            wires: String::new(),
            clocked: false,
        };
        printer.name_lines();
        printer
    }

    fn module(mut self) -> String {
        let mut text = String::new();
        self.header(&mut text);
        let mut declared = String::new();
        self.memories(&mut declared);
        self.declare_states(&mut declared);
        let mut body = String::new();
        self.registers(&mut body);
        self.memory_ports(&mut body);
        for k in 0..self.m.insts.len() {
            self.instance(k, &mut declared, &mut body);
        }
        let mut assigns = String::new();
        for (name, id) in &self.m.outputs {
            let e = self.statement(*id, name.len() + 14);
            writeln!(assigns, "    assign {name} = {e};").expect("string");
        }
        let unused = self.unused();
        for part in [&declared, &self.wires, &body, &assigns, &unused] {
            if !part.is_empty() {
                if !text.ends_with("(\n") {
                    text.push('\n');
                }
                text.push_str(part.trim_start_matches('\n'));
            }
        }
        text.push_str("endmodule\n`default_nettype wire\n");
        text
    }

    fn header(&mut self, out: &mut String) {
        for l in self.m.doc.lines() {
            writeln!(out, "{}", format!("// {l}").trim_end()).expect("string");
        }
        writeln!(out, "// Module `{}`, template {}.", self.m.name, self.m.template).expect("string");
        let mut ports = vec![(self.clock.to_string(), format!("    input  wire {}", self.clock))];
        for &i in &self.m.inputs {
            let n = self.m.node(i);
            let name = n.name.clone().unwrap_or_default();
            ports.push((
                name.clone(),
                format!("    {}", waived(&format!("input  wire {}{name}", range(n.ty.w)), &name)),
            ));
            self.net(i, name);
        }
        for (name, i) in &self.m.outputs {
            ports.push((
                name.clone(),
                format!("    {}", waived(&format!("output wire {}{name}", range(self.m.ty(*i).w)), name)),
            ));
        }
        ports.sort_by_key(|(name, _)| self.m.port_order.iter().position(|listed| listed == name));
        let attributes = |name: &str| {
            let all =
                self.m.port_attrs.get(name).into_iter().flatten().map(|(key, value)| format!("{key} = \"{value}\""));
            let all: Vec<String> = all.collect();
            if all.is_empty() {
                String::new()
            } else {
                format!("    (* {} *)\n", all.join(", "))
            }
        };
        let ports: Vec<String> = ports.into_iter().map(|(name, text)| attributes(&name) + &text).collect();
        writeln!(out, "`default_nettype none\nmodule {} (\n{}\n);", self.m.name, ports.join(",\n")).expect("string");
    }

    /// Gives a node a net.
    fn net(&mut self, id: NodeId, name: String) {
        self.read.insert(name.clone(), vec![false; self.m.ty(id).w as usize]);
        self.nets.insert(id, name);
    }

    /// Notes that the text reads bits of a net.
    fn reads(&mut self, name: &str, lo: u32, w: u32) {
        if let Some(bits) = self.read.get_mut(name) {
            bits[lo as usize..(lo + w) as usize].fill(true);
        }
    }

    /// The comment on a node, on lines of their own.
    fn remarked(&self, id: NodeId, indent: &str) -> String {
        self.m.node(id).remark.iter().flat_map(|r| r.lines()).map(|line| format!("{indent}// {line}\n")).collect()
    }

    fn declaration(&self, kind: &str, id: NodeId, name: &str) -> String {
        let n = self.m.node(id);
        self.declared(kind, &n.attrs, n.ty.w, name)
    }

    fn declared(&self, kind: &str, attrs: &[(String, String)], w: u32, name: &str) -> String {
        let attrs: Vec<String> = attrs.iter().map(|(k, v)| format!("{k} = \"{v}\"")).collect();
        let attrs = if attrs.is_empty() { String::new() } else { format!("    (* {} *)\n", attrs.join(", ")) };
        format!("{attrs}    {kind} {}{name}", range(w))
    }

    /// The reduction that reads what nothing else reads.
    fn unused(&self) -> String {
        let mut list = vec![];
        if !self.clocked {
            list.push(self.clock.to_string());
        }
        list.extend(self.read.iter().filter(|(_, bits)| bits.iter().any(|b| !b)).map(|(n, _)| n.clone()));
        if list.is_empty() {
            return String::new();
        }
        let parts: Vec<String> = list.iter().map(|n| format!(", {n}")).collect();
        let filled = fill("    wire _unused = &{1'b0", &parts, "        ");
        format!("    // Read by nothing else in this module (linters would report these nets).\n{filled}}};\n")
    }
}

/// `start` and the parts in lines of limited length.
fn fill(start: &str, parts: &[String], indent: &str) -> String {
    let mut out = start.to_string();
    let mut col = start.len();
    for p in parts {
        if col + p.len() > LINE {
            out.truncate(out.trim_end().len());
            let p = match p.strip_prefix(", ") {
                Some(rest) => {
                    out.push(',');
                    rest
                }
                None => p,
            };
            write!(out, "\n{indent}{p}").expect("string");
            col = indent.len() + p.len();
        } else {
            out.push_str(p);
            col += p.len();
        }
    }
    out
}

/// Nodes that matter, with the number of places that read them.
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

/// A constant: decimal if short, else hexadecimal; with signed notation if `ty` is signed.
/// Negative numbers are given as bit patterns: a minus sign would apply after extension.
fn literal(b: &Bits, ty: Ty) -> String {
    let (w, sign) = (ty.w, if ty.signed { "s" } else { "" });
    let negative = ty.signed && b.bit(w - 1);
    match w {
        1 => format!("1'{sign}b{}", b.limbs()[0]),
        2..=32 if !negative => format!("{w}'{sign}d{}", b.limbs()[0]),
        _ if b.is_zero() => format!("{w}'{sign}d0"),
        _ => format!("{w}'{sign}h{}", b.hex()),
    }
}

/// Port names that a protocol prescribes and Verilator warns of, since they are common words of C++.
const COMMON_WORDS: [&str; 1] = ["interrupt"];

/// A port's declaration, with a waiver where its name needs one.
fn waived(declaration: &str, name: &str) -> String {
    if COMMON_WORDS.contains(&name) {
        format!(
            "/* verilator lint_off SYMRSVDWORD */ {declaration} /* verilator lint_on SYMRSVDWORD */ /* the name is \
            prescribed */"
        )
    } else {
        declaration.to_string()
    }
}
