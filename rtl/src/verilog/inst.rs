//! Instances, and grids as one `generate` loop.

use super::{range, Printer, LINE};
use crate::netlist::*;
use std::fmt::Write as _;

impl Printer<'_> {
    /// Prints instance `k`; nets for outputs that nothing reads are declared here.
    pub(super) fn instance(&mut self, k: usize, declared: &mut String, out: &mut String) {
        self.clocked = true;
        let inst = &self.m.insts[k];
        let indices = inst.grid.map(|_| {
            let i = self.names.fresh(&format!("{}_i", inst.name));
            let j = self.names.fresh(&format!("{}_j", inst.name));
            (i, j)
        });
        // Element index in the packed buses.
        let element = match (&indices, inst.grid) {
            (Some((_, j)), Some([1, _])) => j.clone(),
            (Some((i, _)), Some([_, 1])) => i.clone(),
            (Some((i, j)), Some([_, n1])) => format!("({i} * {n1} + {j})"),
            _ => String::new(),
        };
        let part = |bus: &str, w: u32| match (w, inst.count()) {
            (_, 1) => bus.to_string(),
            (1, _) => format!("{bus}[{}]", element.trim_matches(['(', ')'])),
            _ => format!("{bus}[{element} * {w} +: {w}]"),
        };
        let mut pins = vec![format!(".{0}({0})", self.clock)];
        for (port, ty, conn) in &inst.ins {
            let value = match *conn {
                Conn::All(x) => self.expr(x).s,
                Conn::Bus(x) => {
                    let bus = self.identifier(x, Some(&format!("{}_{port}", inst.name)));
                    self.reads(&bus, 0, self.m.ty(x).w);
                    part(&bus, ty.w)
                }
                Conn::Open => String::new(),
            };
            pins.push(format!(".{port}({value})"));
        }
        for (port, ty, node) in &inst.outs {
            let net = node.and_then(|id| self.nets.get(&id).cloned());
            let net = net.unwrap_or_else(|| {
                let n = self.names.fresh(&format!("{}_{port}", inst.name));
                let w = ty.w * inst.count();
                writeln!(declared, "    wire {}{n};", range(w)).expect("string");
                self.read.insert(n.clone(), vec![false; w as usize]);
                n
            });
            pins.push(format!(".{port}({})", part(&net, ty.w)));
        }
        match (indices, inst.grid) {
            (Some((i, j)), Some(n)) => self.grid(inst, &pins, [&i, &j], n, out),
            _ => out.push_str(&pin_list(inst, &pins, "    ")),
        }
    }

    fn grid(&mut self, inst: &Inst, pins: &[String], index: [&str; 2], n: [u32; 2], out: &mut String) {
        let loops: Vec<usize> = match n {
            [1, _] => vec![1],
            [_, 1] => vec![0],
            _ => vec![0, 1],
        };
        let used: Vec<&str> = loops.iter().map(|&k| index[k]).collect();
        writeln!(out, "    genvar {};\n    generate", used.join(", ")).expect("string");
        let mut indent = "        ".to_string();
        for &k in &loops {
            let label = self.names.fresh(&format!("{}_{}", inst.name, if k == 0 { "row" } else { "col" }));
            let i = index[k];
            writeln!(out, "{indent}for ({i} = 0; {i} < {}; {i} = {i} + 1) begin : {label}", n[k]).expect("string");
            indent.push_str("    ");
        }
        out.push_str(&pin_list(inst, pins, &indent));
        for _ in &loops {
            indent.truncate(indent.len() - 4);
            writeln!(out, "{indent}end").expect("string");
        }
        writeln!(out, "    endgenerate").expect("string");
    }
}

/// The instance with its connections in lines of limited length.
fn pin_list(inst: &Inst, pins: &[String], indent: &str) -> String {
    let mut out = format!("{indent}{} {} (\n", inst.module, inst.name);
    let mut line = String::new();
    for (k, p) in pins.iter().enumerate() {
        let p = if k + 1 < pins.len() { format!("{p},") } else { p.clone() };
        if !line.is_empty() && indent.len() + 5 + line.len() + p.len() > LINE {
            writeln!(out, "{indent}    {line}").expect("string");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&p);
    }
    writeln!(out, "{indent}    {line}\n{indent});").expect("string");
    out
}
