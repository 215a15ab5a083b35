//! Delay lines: registers `x_1 … x_n` of one control, each of which loads the one before it, are printed as one vector
//! `x` with the latest value lowest, and advance in one line.

use super::Printer;
use crate::netlist::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Registers in the order of their delays, at least two.
pub(super) struct Line {
    pub name: String,
    pub registers: Vec<NodeId>,
}

/// The lines of a module, and of each register in one the line and its lowest bit there.
#[derive(Default)]
pub(super) struct Lines {
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
    /// Those among the live registers.
    pub fn of(m: &Module, live: impl Iterator<Item = NodeId>) -> Self {
        let plain: BTreeMap<&str, NodeId> = live.filter_map(|id| Some((plain(m, id)?, id))).collect();
        let mut all = vec![];
        for (&name, &first) in &plain {
            let Some((stem, 1)) = numbered(name) else { continue };
            let mut registers = vec![first];
            while let Some(&id) = plain
                .get(&*format!("{stem}{}", registers.len() + 1))
                .filter(|&&id| follows(m, id, registers[registers.len() - 1]))
            {
                registers.push(id);
            }
            if registers.len() > 1 {
                all.push(Line { name: stem.trim_end_matches('_').to_string(), registers });
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

impl Printer<'_> {
    /// Claims the lines' names and gives them nets.
    pub(super) fn name_lines(&mut self) {
        for line in &mut self.lines.all {
            line.name = self.names.fresh(&line.name);
            let w = self.m.ty(line.registers[0]).w;
            self.read.insert(line.name.clone(), vec![false; w as usize * line.registers.len()]);
        }
    }

    /// Declarations of the vectors.
    pub(super) fn declare_lines(&self, out: &mut String) {
        for line in &self.lines.all {
            let (w, n) = (self.m.ty(line.registers[0]).w, line.registers.len() as u32);
            let what = if w == 1 { String::new() } else { format!(", {w} bits each") };
            writeln!(
                out,
                "{}; // by 1 to {n} cycles{what}",
                self.declared("reg ", &self.m.node(line.registers[0]).attrs, n * w, &line.name)
            )
            .expect("string");
        }
    }

    /// The statement that moves a line on by one.
    pub(super) fn advance(&mut self, first: NodeId, next: NodeId) -> Option<String> {
        let (line, lo) = self.lines.get(first)?;
        if lo > 0 {
            return Some(String::new());
        }
        let (name, kept) = (line.name.clone(), self.m.ty(first).w * (line.registers.len() as u32 - 1));
        self.reads(&name, 0, kept);
        let value = self.expr(next).s;
        let kept = if kept == 1 { format!("{name}[0]") } else { format!("{name}[{}:0]", kept - 1) };
        Some(format!("{name} <= {{{kept}, {value}}};"))
    }
}
