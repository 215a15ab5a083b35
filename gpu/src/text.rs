//! The program of a warp as text, for people and for snapshots of tests.

use crate::form::{Cond, Form};
use crate::ir::{NodeId, Op, Pitch, Warp};
use std::fmt::Write as _;

pub fn to_text(warp: &Warp) -> String {
    let mut out = format!("warp {}: {} registers, rows of {}\n", warp.name, warp.registers, warp.width);
    for line in &warp.map {
        let _ = writeln!(out, "# {line}");
    }
    for s in &warp.scalars {
        let rest = if s.rest == 0 { String::new() } else { format!(" plus {}", s.rest) };
        let _ = writeln!(out, "  scalar {} {}..{}, multiple of {}{rest}", s.name, s.lo, s.hi, s.multiple);
    }
    for axis in &warp.grid {
        let step = match axis.step {
            Pitch::Constant(step) => step.to_string(),
            Pitch::Height => "height".into(),
        };
        let name = &warp.scalars[axis.scalar.index()].name;
        let sides = match &axis.sides {
            none if *none == crate::ir::Sides::default() => String::new(),
            s => format!(" divided {} first and {} last", s.low.formula, s.high.formula),
        };
        let _ = writeln!(out, "  grid {name} from {} step {step} count {}{sides}", axis.first, axis.count.formula);
    }
    if let Some(pairs) = warp.pairs {
        let name = |id: crate::ir::ScalarId| &warp.scalars[id.index()].name;
        let _ = writeln!(out, "  pairs {} and {}", name(pairs.axis), name(pairs.other));
    }
    let _ = writeln!(out, "  margins {} {}", warp.margins.low, warp.margins.high);
    if let Some(t) = &warp.time {
        let (first, last) = (form(warp, &t.first), form(warp, &t.last));
        let _ = writeln!(
            out,
            "  time {} from {first} to {last} before {} ahead {}{}",
            warp.scalars[t.scalar.index()].name,
            t.before,
            t.ahead,
            if t.skewed { " skewed" } else { "" }
        );
    }
    for (k, node) in warp.nodes.iter().enumerate() {
        let marks = [
            (node.row, "row"),
            (node.pair, "pair"),
            (node.quad, "quad"),
            (node.border, "border"),
            (node.invariant, "invariant"),
            (node.after, "after"),
            (node.carryless, "carryless"),
        ];
        let marks: String = marks.iter().filter(|m| m.0).map(|m| format!(" {}", m.1)).collect();
        let note = node.note.as_ref().map_or(String::new(), |n| format!("  # S{} {}", n.statement, n.instance));
        let _ = writeln!(out, "  %{k}: {}{marks} = {}{note}", node.ty, operation(warp, &node.op));
    }
    for s in &warp.stores {
        let at: Vec<String> = s.at.iter().map(|f| form(warp, f)).collect();
        let name = &warp.arrays[s.array].name;
        let inside = if s.inside { "" } else { " border" };
        let _ =
            writeln!(out, "  store {name}[{}] = %{} where {}{inside}", at.join("]["), s.value.0, conds(warp, &s.when));
    }
    for (k, f) in warp.feeders().iter().enumerate() {
        let at = f.at.iter().map(|f| form(warp, f)).collect::<Vec<_>>().join("][");
        let what = if f.row { "row" } else { "elements" };
        let what = if f.quad { format!("{what} of quads") } else { what.into() };
        let _ = writeln!(out, "  feeder {k} {}[{at}] {} {what}", warp.arrays[f.array].name, f.elements);
    }
    for f in &warp.interior {
        let _ = writeln!(out, "  interior {} >= 0", form(warp, f));
    }
    out
}

fn operation(warp: &Warp, op: &Op) -> String {
    let all = |ids: &[NodeId]| ids.iter().map(|i| format!("%{}", i.0)).collect::<Vec<_>>().join(", ");
    let at = |forms: &[Form]| forms.iter().map(|f| form(warp, f)).collect::<Vec<_>>().join("][");
    match op {
        Op::Const(bits) => format!("const {bits:#x}"),
        Op::Argument { array, element } => format!("argument {}[{element}]", warp.arrays[*array].name),
        Op::Load { array, at: forms, .. } => format!("load {}[{}]", warp.arrays[*array].name, at(forms)),
        Op::Quad(values) => format!("quad {}", all(values)),
        Op::Dot(a, b, c) => format!("dot {}", all(&[*a, *b, *c])),
        Op::Index(f) => format!("index {}", form(warp, f)),
        Op::Holds(when) => format!("holds {}", conds(warp, when)),
        Op::Unary(op, a) => format!("{op:?} %{}", a.0).to_lowercase(),
        Op::Binary(op, a, b) => format!("{op:?} {}", all(&[*a, *b])).to_lowercase(),
        Op::Select(a, b, c) => format!("select {}", all(&[*a, *b, *c])),
        Op::Cast(a) => format!("cast %{}", a.0),
        Op::Fma(a, b, c) => format!("fma {}", all(&[*a, *b, *c])),
        Op::Lookup(table, a) => format!("lookup {} entries %{}", table.len(), a.0),
        Op::Guard(g) => {
            let inside = if g.inside { "first" } else { "second" };
            format!("guard {} ? {}, inside the {inside}", conds(warp, &g.when), all(&[g.then, g.otherwise]))
        }
        Op::Hop { of, by } => format!("hop %{} by {by}", of.0),
        Op::Take { rows, offset } => format!("window {} at {offset}", all(rows)),
        Op::Past { of, steps, start: None } => format!("past %{} steps {steps}", of.0),
        Op::Past { of, steps, start: Some(start) } => format!("past %{} steps {steps} from %{}", of.0, start.0),
        Op::Fed { feeder, element } => format!("fed {feeder} element {element}"),
        Op::Last { of } => format!("last %{}", of.0),
        Op::Fold(op, a) => format!("fold {op:?} %{}", a.0).to_lowercase(),
    }
}

fn conds(warp: &Warp, all: &[Cond]) -> String {
    let one = |c: &Cond| format!("{} {} 0", form(warp, &c.form), if c.equality { "=" } else { ">=" });
    all.iter().map(one).collect::<Vec<_>>().join(" and ")
}

fn form(warp: &Warp, f: &Form) -> String {
    let scalar = crate::print::expression::scalar(warp, f);
    match f.unit {
        0 => scalar,
        c => format!("{c} u + {scalar}"),
    }
}
