//! The kernel's text: one for CUDA, HIP and the CPU.
//!
//! ```text
//! struct of coefficients
//! KERNEL name(arrays, height) {
//!   where the warp is in the grid
//!   values that no step changes
//!   where the interior is
//!   rows asked for ahead, values of earlier steps
//!   step = one step of all PEs, with the body as a parameter
//!   the loop
//! }
//! ```

mod feeders;
mod places;
mod steps;
mod stores;

use super::expression::{atom, by_body, fused, operation, scalar, value_type, Operands};
use super::memory::{Body, Element};
use super::names::{names, tables};
use super::number::size_names;
use super::{elements, memory, parameters, type_name};
use crate::counts::Counts;
use crate::ir::{Feeder, Node, NodeId, Op, Passing, ScalarId, Warp};
use crate::launches::Launches;
use crate::model;
use crate::ramps::Needs;
use crate::registers;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Columns of a line.
const COLUMNS: usize = 120;

/// The whole file. `quotes`: by statement, its line of C.
pub fn text(launches: &Launches, quotes: &[Option<String>]) -> String {
    let mut out = String::new();
    for (k, warp) in launches.kernels.iter().enumerate() {
        let mut printer = Printer::new(warp, quotes);
        printer.head();
        if k == 0 {
            if launches.kernels.iter().any(|w| w.block.is_some()) {
                printer.line("#define LANES_BLOCK  // a kernel has warps that share operands");
            }
            if launches.kernels.iter().any(|w| model::short_height(w).is_some()) {
                printer.line("#define LANES_STREAM  // results leave the cache to the rows that several warps read");
            }
            printer.line("#include \"lanes.h\"");
        }
        printer.line("");
        printer.kernel();
        out += &printer.out;
        if k + 1 < launches.kernels.len() {
            out.push('\n');
        }
    }
    out
}

struct Printer<'a> {
    warp: &'a Warp,
    quotes: &'a [Option<String>],
    /// By node: its name, if it has a line of its own.
    names: Vec<Option<String>>,
    /// By node that later steps use: the number of steps.
    waits: BTreeMap<NodeId, i64>,
    /// By such a node: its value before the first step, if it has one.
    starts: BTreeMap<NodeId, NodeId>,
    /// By node: whether it is written where it is used.
    fused: Vec<bool>,
    /// What the first and the last steps do without.
    needs: Needs,
    out: String,
    indent: usize,
    quoted: Option<usize>,
}

impl Operands for Printer<'_> {
    fn text(&self, id: NodeId) -> String {
        if let Some(name) = &self.names[id.index()] {
            return name.clone();
        }
        match &self.warp.node(id).op {
            Op::Argument { array, element } => memory::argument(self.warp, *array, *element),
            Op::Past { of, steps, .. } => format!("{}[{}]", self.was(*of), steps - 1),
            Op::Last { of } => format!("{}[0]", self.was(*of)),
            Op::Fed { feeder, element } => self.fed(*feeder, *element),
            Op::Load { array, at, each } => self.load(id, Element { array: *array, at, each: *each }),
            Op::Lookup(table, at) => {
                let (last, table, at) = (table.len().next_power_of_two() - 1, self.table(table), *at);
                match self.warp.node(id).row {
                    true => format!("lookup({table}, {})", self.text(at)),
                    false => format!("{table}[(unsigned long long){} & {last}]", atom(&self.text(at))),
                }
            }
            _ => operation(self.warp, id, self),
        }
    }

    fn is_fused(&self, id: NodeId) -> bool {
        self.fused[id.index()]
    }
}

impl<'a> Printer<'a> {
    fn new(warp: &'a Warp, quotes: &'a [Option<String>]) -> Printer<'a> {
        let start = |n: &Node| match n.op {
            Op::Past { of, start, .. } => start.map(|start| (of, start)),
            _ => None,
        };
        let starts = warp.nodes.iter().filter_map(start).collect();
        let (waits, fused) = (warp.waits(), fused(warp));
        let names = names(warp, &waits, &fused);
        let needs = Needs::of(warp);
        Printer { warp, quotes, names, waits, starts, fused, needs, out: String::new(), indent: 0, quoted: None }
    }

    fn line(&mut self, text: &str) {
        let pad = "  ".repeat(self.indent);
        if text.is_empty() {
            self.out.push('\n');
            return;
        }
        // A long line is broken behind an operator or a comma.
        // A comment at the end of a long line stands above it.
        let mut rest = match text.split_once("  // ") {
            Some((code, comment)) if pad.len() + text.chars().count() > COLUMNS => {
                let _ = writeln!(self.out, "{pad}// {comment}");
                code
            }
            _ => text,
        };
        let mut pad = pad;
        while pad.len() + rest.chars().count() > COLUMNS && !rest.starts_with("//") {
            let room = COLUMNS - pad.len();
            let head: String = rest.chars().take(room).collect();
            let Some(cut) = [", ", " + ", " * ", " & ", " - ", " ? ", " : "]
                .iter()
                .filter_map(|s| head.rfind(s).map(|k| k + s.len() - 1))
                .max()
            else {
                break;
            };
            if cut < 8 {
                break;
            }
            let _ = writeln!(self.out, "{pad}{}", &rest[..cut]);
            rest = rest[cut..].trim_start();
            pad = "  ".repeat(self.indent + 2);
        }
        let _ = writeln!(self.out, "{pad}{rest}");
    }

    /// The array of a node's values of earlier steps.
    fn was(&self, of: NodeId) -> String {
        let name = self.names[of.index()].as_deref().unwrap_or("value");
        format!("was_{name}")
    }

    /// The array of a load's values of later steps.
    fn next(&self, id: NodeId) -> String {
        format!("next_{}", self.names[id.index()].as_deref().unwrap_or("value"))
    }

    fn table(&self, table: &[u64]) -> String {
        let tables = tables(self.warp);
        format!("{}_table_{}", self.warp.name, tables.iter().position(|t| t.1 == table).unwrap_or(0))
    }

    fn type_of(&self, id: NodeId) -> String {
        let node = self.warp.node(id);
        match node.row {
            true => format!("Row<{}, {}>", value_type(node), self.warp.width),
            false => value_type(node),
        }
    }

    fn load(&self, id: NodeId, of: Element) -> String {
        let node = self.warp.node(id);
        match node.invariant || node.after || node.border {
            true => memory::load(self.warp, of, Body::Border, None),
            false => self.asked(of, None),
        }
    }

    /// A load as the bodies write it; `ahead`: as it is some steps later.
    fn asked(&self, of: Element, ahead: Option<(ScalarId, i64)>) -> String {
        let text = |body: Body| memory::load(self.warp, of, body, ahead);
        let (border, side, plain) = (text(Body::Border), text(Body::Side), text(Body::Interior));
        if border == plain {
            return plain;
        }
        let side = Some(side).filter(|s| *s != plain && self.warp.time.is_some());
        let text = by_body(&border, side, &plain);
        text[1..text.len() - 1].to_string()
    }

    fn kernel(&mut self) {
        for (ty, table, k) in tables(self.warp).iter().enumerate().map(|(k, t)| (t.0, t.1.clone(), k)) {
            let size = table.len().next_power_of_two();
            let all: Vec<String> = table
                .iter()
                .chain(std::iter::repeat_n(&0, size - table.len()))
                .map(|b| super::literal(*b, ty))
                .collect();
            let (name, of) = (&self.warp.name, type_name(ty));
            self.line("#ifdef LANES_GPU");
            self.line("__constant__");
            self.line("#endif");
            self.line(&format!("static const {of} {name}_table_{k}[{size}] = {{{}}};", all.join(", ")));
            self.line("");
        }
        for (_, a) in parameters(&self.warp.arrays).filter(|(_, a)| a.passing == Passing::Argument) {
            let (name, kernel, n) = (&a.name, &self.warp.name, elements(a));
            self.line(&format!("// The elements of `{name}`, a kernel argument."));
            self.line(&format!("struct {kernel}_{name} {{ {} v[{n}]; }};", type_name(a.ty)));
            self.line("");
        }
        self.signature();
        self.indent = 1;
        self.place();
        self.invariants();
        match self.warp.time.clone() {
            Some(time) => self.timed(&time),
            None => self.single(),
        }
        self.indent = 0;
        self.line("}");
    }

    /// The map, as a comment.
    fn head(&mut self) {
        let warp = self.warp;
        self.line(&format!("// {}: a systolic array in the lanes and registers of a warp.", warp.name));
        self.line("//");
        for line in &warp.map {
            self.line(&format!("//   {line}"));
        }
        let counts = Counts::of(warp).to_string();
        if !counts.is_empty() {
            let unrolled = if warp.block.is_some() { Feeder::STEPS } else { self.slots() };
            self.line(&format!("//   a step   {counts}; unrolled {unrolled}"));
        }
        self.line(&format!("//   a lane   at most {} registers", registers::taken(warp)));
        self.line("//");
        let last = warp.registers - 1;
        let behind = 2 * warp.registers - 1;
        self.line("//   lane        0         1         ...  31");
        self.line(&format!(
            "//   PEs         {:<9} {:<9} ...  {}",
            if last > 0 { format!("0..{last}") } else { "0".into() },
            if last > 0 { format!("{}..{behind}", warp.registers) } else { "1".into() },
            if last > 0 { format!("{}..{}", 31 * warp.registers, warp.pes() - 1) } else { "31".into() }
        ));
        self.line("//");
    }

    fn signature(&mut self) {
        let mut list: Vec<String> = parameters(&self.warp.arrays)
            .map(|(_, a)| match a.passing {
                Passing::Argument => format!("const {}_{} {}", self.warp.name, a.name, a.name),
                Passing::Value => format!("const {} {}", type_name(a.ty), a.name),
                _ => {
                    let before = if a.copied {
                        format!("const {} *__restrict__ {}, ", type_name(a.ty), a.loaded())
                    } else {
                        String::new()
                    };
                    let (constant, alias) = match (a.written, a.read && !a.copied) {
                        (false, _) => ("const ", "__restrict__ "),
                        (true, false) => ("", "__restrict__ "),
                        (true, true) => ("", ""),
                    };
                    format!("{before}{constant}{} *{alias}{}", type_name(a.ty), a.name)
                }
            })
            .collect();
        list.extend(size_names(self.warp).iter().map(|size| format!("int {size}")));
        if self.warp.time.as_ref().is_some_and(|t| t.height.is_some()) {
            list.push("int height".into());
        }
        let threads = 32 * self.warp.warps;
        let bounds = match registers::bound(self.warp) {
            Some(blocks) => format!("BOUNDED_KERNEL({threads}, {blocks})"),
            None => format!("KERNEL({threads})"),
        };
        self.line(&format!("{bounds} {}({}) {{", self.warp.name, list.join(", ")));
    }

    fn invariants(&mut self) {
        for k in 0..self.warp.nodes.len() {
            if self.warp.nodes[k].invariant {
                self.define(NodeId(k as u32), false);
            }
        }
    }

    /// A line for a node that has a name. `timed`: in a step, where rows may have been asked for.
    fn define(&mut self, id: NodeId, timed: bool) {
        let Some(name) = self.names[id.index()].clone() else { return };
        let node = self.warp.node(id);
        self.quote(id);
        let of = self.type_of(id);
        let asked = timed && self.is_asked(id);
        let value = match &node.op {
            _ if asked => format!("{}[{}]", self.next(id), if self.slots() > 1 { "MOVES ? 0 : slot" } else { "0" }),
            Op::Load { array, at, each } => self.load(id, Element { array: *array, at, each: *each }),
            Op::Past { .. } | Op::Last { .. } | Op::Argument { .. } | Op::Lookup(..) | Op::Fed { .. } => {
                // The text without the name itself.
                let own = self.names[id.index()].take();
                let text = self.text(id);
                self.names[id.index()] = own;
                text
            }
            _ => operation(self.warp, id, self),
        };
        let value = value
            .strip_prefix('(')
            .and_then(|v| v.strip_suffix(')'))
            .filter(|v| balanced(v))
            .map_or(value.clone(), String::from);
        let value = match self.needs.without(id) {
            (true, true) => format!("START || END ? unused<{of}>() : {value}"),
            (true, false) => format!("START ? unused<{of}>() : {value}"),
            (false, true) => format!("END ? unused<{of}>() : {value}"),
            (false, false) => value,
        };
        let comment = node.note.as_ref().map(|n| n.instance.clone()).filter(|i| !i.is_empty());
        let comment = comment.map_or(String::new(), |i| format!("  // {i}"));
        match node.border && timed {
            true => {
                self.line(&format!("{of} {name} = {of}();"));
                self.line(&format!("if (SIDE) {name} = {value};{comment}"));
            }
            false => self.line(&format!("const {of} {name} = {value};{comment}")),
        }
        if asked {
            let Op::Load { array, at, each } = &node.op else { return };
            let time = self.warp.time.as_ref().map(|t| (t.scalar, t.ahead));
            let next = self.next(id);
            let both = self.asked(Element { array: *array, at, each: *each }, time);
            match self.slots() {
                1 => self.line(&format!("{next}[0] = {both};")),
                _ => self.line(&format!("renew<MOVES>({next}, slot, {both});")),
            }
        }
    }

    /// Rows asked for ahead; the interior is unrolled by it.
    fn slots(&self) -> i64 {
        self.warp.time.as_ref().map_or(1, |t| t.ahead.max(1))
    }

    /// The C line of a node's statement, if it is another one than before.
    fn quote(&mut self, id: NodeId) {
        let Some(note) = &self.warp.node(id).note else { return };
        if self.quoted != Some(note.statement) {
            self.quoted = Some(note.statement);
            if let Some(quote) = self.quotes.get(note.statement).cloned().flatten() {
                self.line(&format!("// {quote}"));
            }
        }
    }

    /// Whether a load is asked for in an earlier step.
    fn is_asked(&self, id: NodeId) -> bool {
        let node = self.warp.node(id);
        let Some(time) = &self.warp.time else { return false };
        let moves = matches!(&node.op, Op::Load { at, .. } if at.iter().any(|f| f.of(time.scalar) != 0));
        time.ahead > 0 && moves && !node.border && !node.invariant
    }

    /// A kernel without a time loop: the body once.
    fn single(&mut self) {
        let inside: Vec<String> = self.warp.interior.iter().map(|f| format!("{} >= 0", scalar(self.warp, f))).collect();
        let always = inside.is_empty();
        self.line("const auto array = [&](auto body) {");
        self.indent += 1;
        self.line("constexpr bool EDGE = decltype(body)::steps, SIDE = decltype(body)::lanes;");
        self.line("(void)EDGE, (void)SIDE;");
        self.body();
        self.indent -= 1;
        self.line("};");
        if always {
            self.line("array(Interior());");
        } else {
            self.line(&format!("if ({}) array(Interior());", inside.join(" && ")));
            self.line("else array(Border());");
        }
    }

    /// All nodes of a step, and its stores.
    fn body(&mut self) {
        for k in 0..self.warp.nodes.len() {
            if !self.warp.nodes[k].invariant && !self.warp.nodes[k].after {
                self.define(NodeId(k as u32), true);
            }
        }
        let timed = self.warp.time.is_some();
        self.stores(|s| !timed || !self.warp.is_after(s));
    }
}

/// Whether the parentheses of a text match without those around it.
fn balanced(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().all(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth >= 0
    }) && depth == 0
}
