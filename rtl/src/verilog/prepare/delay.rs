//! Delay lines: a chain of registers `x_1 … x_n` under one enable, each loading the one before it, is printed as one
//! vector `x` that shifts by one register a cycle:
//!
//! ```text
//! reg  [23:0] x; // by 1 to 3 cycles, 8 bits each
//! x <= {x[15:0], value};                             x_1 is x[7:0], x_3 is x[23:16]
//! ```

use super::Prepare;
use crate::netlist::names::Names;
use crate::netlist::*;
use crate::verilog::ast::*;
use std::collections::BTreeMap;

/// Registers in the order of their delays, at least two.
pub struct Line {
    pub name: String,
    pub registers: Vec<NodeId>,
}

/// The delay lines of a module; for each of their registers its line and its lowest bit there.
pub struct Lines {
    all: Vec<Line>,
    taps: BTreeMap<NodeId, (usize, u32)>,
}

/// `stem` and number of a name such as `stem_3` or `stem3`.
fn numbered(name: &str) -> Option<(&str, u32)> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = &name[stem.len()..];
    if stem.is_empty() || number.starts_with('0') {
        None
    } else {
        Some((stem, number.parse().ok()?))
    }
}

impl Lines {
    /// The lines among the live registers, with fresh names.
    pub fn new(m: &Module, live: impl Iterator<Item = NodeId>, names: &mut Names) -> Self {
        let plain: BTreeMap<&str, NodeId> = live.filter_map(|id| Some((plain(m, id)?, id))).collect();
        let mut all = vec![];
        for (&name, &first) in &plain {
            let Some((stem, 1)) = numbered(name) else { continue };
            let next = |k: usize, before: NodeId| {
                plain.get(&*format!("{stem}{k}")).copied().filter(|&id| follows(m, id, before))
            };
            let mut registers = vec![first];
            while let Some(id) = next(registers.len() + 1, registers[registers.len() - 1]) {
                registers.push(id);
            }
            if registers.len() > 1 {
                all.push(Line { name: names.fresh(stem.trim_end_matches('_')), registers });
            }
        }
        let place = |(line, of): (usize, &Line)| {
            let w = m.ty(of.registers[0]).w;
            of.registers.iter().zip(0u32..).map(|(&id, k)| (id, (line, k * w))).collect::<Vec<_>>()
        };
        let taps = all.iter().enumerate().flat_map(place).collect();
        Lines { all, taps }
    }

    /// The line of a register, if it is in one.
    pub fn get(&self, id: NodeId) -> Option<(&Line, u32)> {
        self.taps.get(&id).map(|&(line, lo)| (&self.all[line], lo))
    }
}

/// The name of a register that has neither reset nor initial value.
fn plain(m: &Module, id: NodeId) -> Option<&str> {
    let n = m.node(id);
    match n.op {
        Op::Reg { rst: None, init: None, .. } => n.name.as_deref(),
        _ => None,
    }
}

/// `id` loads what `before` holds, and does so when that loads.
fn follows(m: &Module, id: NodeId, before: NodeId) -> bool {
    let (a, b) = (m.node(before), m.node(id));
    match (&a.op, &b.op) {
        (Op::Reg { en: first, .. }, Op::Reg { next, en, .. }) => {
            *next == Some(before) && en == first && a.ty == b.ty && a.attrs == b.attrs
        }
        _ => false,
    }
}

impl Prepare<'_> {
    /// Declares the vectors.
    pub fn declare_lines(&mut self) {
        for line in &self.lines.all {
            let (first, registers) = (self.m.node(line.registers[0]), line.registers.len() as u32);
            let (name, w) = (line.name.clone(), first.ty.w * registers);
            self.read.insert(name.clone(), vec![false; w as usize]);
            let kind = NetKind::DelayLine(registers);
            self.states.push(Net { remark: None, attrs: &first.attrs, name, w, kind });
        }
    }

    /// The shift of a line, whose first register loads `next`; none for the other registers.
    pub fn shift(&mut self, line: &str, w: u32, next: NodeId) -> Value {
        self.reads(line, 0, w);
        Value::Line(Expr::Concat(vec![(1, Expr::Bits { net: line.to_string(), lo: 0, w }), (1, self.expr(next))]))
    }
}
