//! Forms, conditions and operations as C++.

use super::{literal, type_name};
use crate::form::ScalarId;
use crate::form::{Cond, Form};
use crate::ir::{Guard, Node, NodeId, Op, Warp};
use scop::{BinaryOp, UnaryOp};

/// The scalar part of a form.
pub fn scalar(warp: &Warp, form: &Form) -> String {
    over(form, &|id| &warp.scalars[id.index()].name)
}

/// The scalar part of a form over scalars with these names.
pub fn over<'a>(form: &Form, name: &dyn Fn(ScalarId) -> &'a str) -> String {
    let mut out = String::new();
    for (id, &c) in &form.scalars {
        let name = name(*id);
        let (sign, size) = (if c < 0 { "-" } else { "+" }, c.abs());
        let term = if size == 1 { name.to_string() } else { format!("{size} * {name}") };
        out += &match (out.is_empty(), c < 0) {
            (true, false) => term,
            (true, true) => format!("-{term}"),
            _ => format!(" {sign} {term}"),
        };
    }
    match (out.is_empty(), form.constant) {
        (true, c) => c.to_string(),
        (false, 0) => out,
        (false, c) if c < 0 => format!("{out} - {}", -c),
        (false, c) => format!("{out} + {c}"),
    }
}

/// In parentheses if it is a sum.
pub fn atom(text: &str) -> String {
    let simple = text.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]".contains(c));
    if simple {
        text.to_string()
    } else {
        format!("({text})")
    }
}

/// The number of the PE, or of the lane.
pub fn unit(warp: &Warp) -> &'static str {
    if warp.is_unrolled() || warp.time.as_ref().is_some_and(|t| t.skewed) {
        "at_lane"
    } else {
        "pe"
    }
}

/// A form as a row.
pub fn row(warp: &Warp, form: &Form) -> String {
    let rest = Form { unit: 0, ..form.clone() };
    let own = match form.unit {
        1 => unit(warp).to_string(),
        c => format!("{} * {c}", unit(warp)),
    };
    match (form.unit, rest == Form::default()) {
        (0, _) => format!("all<{}>({})", warp.width, scalar(warp, form)),
        (_, true) => own,
        _ => format!("{own} + {}", atom(&scalar(warp, &rest))),
    }
}

/// A condition; a row of conditions if it depends on the lane.
pub fn condition(warp: &Warp, cond: &Cond) -> String {
    let form = &cond.form;
    let bound = |by: i64| {
        let mut rest = Form { unit: 0, ..form.clone() };
        rest.constant += 0;
        scalar(warp, &if by > 0 { rest.negated() } else { rest })
    };
    if cond.is_by_lane() {
        let (relation, text) = match (form.unit, cond.equality) {
            (1, true) => ("==", bound(1)),
            (-1, true) => ("==", bound(-1)),
            (1, false) => (">=", bound(1)),
            (-1, false) => ("<=", bound(-1)),
            (_, true) => return format!("({} == 0)", row(warp, form)),
            (_, false) => return format!("({} >= 0)", row(warp, form)),
        };
        return format!("({} {relation} {text})", unit(warp));
    }
    // A single scalar stands alone.
    let single = form.scalars.iter().next().filter(|(_, c)| form.scalars.len() == 1 && c.abs() == 1);
    let equal = |c: i64| {
        if cond.equality {
            "=="
        } else if c > 0 {
            ">="
        } else {
            "<="
        }
    };
    match single {
        Some((id, &c)) => format!("{} {} {}", warp.scalars[id.index()].name, equal(c), -c * form.constant),
        None => format!("{} {} 0", scalar(warp, form), equal(1)),
    }
}

/// A conjunction; the flag says whether it is a row.
pub fn conjunction(warp: &Warp, all: &[Cond]) -> (String, bool) {
    let (rows, scalars): (Vec<&Cond>, Vec<&Cond>) = all.iter().partition(|c| c.is_by_lane());
    let scalars: Vec<String> = scalars.into_iter().map(|c| condition(warp, c)).collect();
    let rows: Vec<String> = rows.into_iter().map(|c| condition(warp, c)).collect();
    match (rows.is_empty(), scalars.len()) {
        (true, 0) => ("true".into(), false),
        (true, _) => (scalars.join(" && "), false),
        (false, 0) => (rows.join(" & "), true),
        (false, _) => (format!("{} & ({})", rows.join(" & "), scalars.join(" && ")), true),
    }
}

/// How the operands of an operation are written.
pub trait Operands {
    /// The text of a node.
    fn text(&self, id: NodeId) -> String;
    /// Whether a node is written where it is used ([`fused`]).
    fn is_fused(&self, id: NodeId) -> bool;
}

/// An arithmetic operation as an expression.
pub fn operation(warp: &Warp, id: NodeId, operands: &dyn Operands) -> String {
    let node = warp.node(id);
    let width = warp.width;
    let is_row = |id: NodeId| warp.node(id).row;
    let text = |id: NodeId| operands.text(id);
    // A value that both halves have.
    let both = |x: NodeId, own: String| if node.pair && !warp.node(x).pair { format!("both({own})") } else { own };
    // An operand that has to be a row.
    let spread = |x: NodeId| match is_row(x) {
        true => both(x, text(x)),
        false => format!("all<{width}>({})", both(x, typed(warp, x, &text(x)))),
    };
    if let Some(fused) = fused_text(warp, id, operands, &spread) {
        return fused;
    }
    match &node.op {
        Op::Const(bits) => literal(*bits, node.ty),
        Op::Index(form) if node.row => format!("cast<{}>({})", type_name(node.ty), row(warp, form)),
        Op::Index(form) => format!("({})({})", type_name(node.ty), scalar(warp, form)),
        Op::Holds(all) => match conjunction(warp, all) {
            (text, true) => format!("({text})"),
            (text, false) => format!("({text})"),
        },
        Op::Unary(op, a) => unary(*op, node.row, &text(*a)),
        Op::Cast(a) if node.row => format!("cast<{}>({})", value_type(node), text(*a)),
        Op::Cast(a) => {
            let from = value_type(warp.node(*a));
            format!("one::cast<{}, {from}>({})", value_type(node), text(*a))
        }
        Op::Binary(op, a, b) => {
            let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr) && node.row;
            let (x, y) = if shift || node.pair && node.row {
                (spread(*a), spread(*b))
            } else if node.row {
                (text(*a), text(*b))
            } else {
                (both(*a, typed(warp, *a, &text(*a))), both(*b, typed(warp, *b, &text(*b))))
            };
            match node.carryless && node.row {
                true => format!("add_carryless({x}, {y})"),
                false => binary(*op, node.row, &x, &y),
            }
        }
        Op::Select(c, a, b) if warp.node(*c).pair => match (&warp.node(*a).op, &warp.node(*b).op) {
            (Op::Const(_), Op::Const(_)) => {
                format!("choose<{}, {}, {}>({})", type_name(node.ty), text(*a), text(*b), text(*c))
            }
            _ => format!("pick({}, {}, {})", text(*c), spread(*a), spread(*b)),
        },
        Op::Select(c, a, b) if node.row => format!("select({}, {}, {})", text(*c), spread(*a), spread(*b)),
        Op::Select(c, a, b) => format!("({} ? {} : {})", text(*c), text(*a), text(*b)),
        Op::Fma(a, b, c) if node.row => format!("fma({}, {}, {})", spread(*a), spread(*b), spread(*c)),
        Op::Fma(a, b, c) => format!("one::fma({}, {}, {})", text(*a), text(*b), text(*c)),
        Op::Guard(Guard { when, then, otherwise, inside, side }) => {
            let (mut a, mut b) = (text(*then), text(*otherwise));
            if node.row {
                (a, b) = (spread(*then), spread(*otherwise));
            }
            let chosen = |when: &[Cond]| match conjunction(warp, when) {
                (cond, by_lane) if by_lane || node.row => format!("select({cond}, {a}, {b})"),
                (cond, _) => format!("({cond} ? {a} : {b})"),
            };
            if node.invariant || node.after {
                return chosen(when);
            }
            by_body(&chosen(when), side.as_ref().map(|s| chosen(s)), if *inside { &a } else { &b })
        }
        Op::Hop { of, by } => format!("hop<{by}>({})", spread(*of)),
        Op::Take { rows, offset } => match rows.as_slice() {
            [a] => text(*a),
            [a, b, ..] => format!("window<{offset}>({}, {})", text(*a), text(*b)),
            [] => String::new(),
        },
        Op::Fold(op, a) => {
            let name = match op {
                BinaryOp::Min => "min",
                BinaryOp::Max => "max",
                BinaryOp::Mul => "mul",
                BinaryOp::And => "and",
                BinaryOp::Or => "or",
                BinaryOp::Xor => "xor",
                _ => "add",
            };
            format!("fold_{name}({})", spread(*a))
        }
        Op::Quad(all) => {
            let own = |x: &NodeId| if node.row { spread(*x) } else { typed(warp, *x, &text(*x)) };
            format!("quad_of({})", all.iter().map(own).collect::<Vec<_>>().join(", "))
        }
        Op::Dot(a, b, c) if node.row => format!("dot_quads({}, {}, {})", spread(*a), spread(*b), spread(*c)),
        Op::Dot(a, b, c) => format!("one::dot_quads({}, {}, {})", text(*a), text(*b), typed(warp, *c, &text(*c))),
        Op::Argument { .. } | Op::Load { .. } | Op::Fed { .. } | Op::Past { .. } | Op::Last { .. } | Op::Lookup(..) => {
            text(id)
        }
    }
}

/// The text of a value that the bodies compute in different ways; `side`: `None` if it is that of the interior.
pub fn by_body(border: &str, side: Option<String>, interior: &str) -> String {
    match side {
        None => format!("(EDGE ? {border} : {interior})"),
        Some(side) if side == border => format!("(SIDE ? {border} : {interior})"),
        Some(side) => format!("(EDGE ? {border} : SIDE ? {side} : {interior})"),
    }
}

/// The type of a value, or of the pair or quad of values, of one PE.
pub fn value_type(node: &Node) -> String {
    match (node.pair, node.quad) {
        (true, _) => format!("Pair<{}>", type_name(node.ty)),
        (_, true) => format!("Quad<{}>", type_name(node.ty)),
        _ => type_name(node.ty),
    }
}

/// By node: whether it is written where it is used, as a part of one operation.
///
/// GPUs have a sum and a minimum or maximum of pairs as one operation, and one with zero behind it.
pub fn fused(warp: &Warp) -> Vec<bool> {
    let uses = warp.uses();
    let mut found = vec![false; warp.nodes.len()];
    for (k, node) in warp.nodes.iter().enumerate() {
        if let Some((inner, _)) = in_one(warp, NodeId(k as u32)).filter(|_| node.pair && node.row) {
            inner.into_iter().filter(|i| uses[i.index()] == 1).for_each(|i| found[i.index()] = true);
        }
    }
    // Both are one operation only if the sum is.
    for k in 0..warp.nodes.len() {
        if let Some((inner, _)) = in_one(warp, NodeId(k as u32)) {
            if inner.len() == 2 && !found[inner[1].index()] {
                found[inner[0].index()] = false;
            }
        }
    }
    for (found, node) in found.iter_mut().zip(&warp.nodes) {
        *found &= node.pair && !node.invariant && !node.border;
    }
    found
}

/// Nodes that are one operation with this one: a sum; or a maximum and the sum in it. With it, the name of the operation.
fn in_one(warp: &Warp, id: NodeId) -> Option<(Vec<NodeId>, &'static str)> {
    let sum = |id: NodeId| matches!(warp.node(id).op, Op::Binary(BinaryOp::Add, ..)) && warp.node(id).pair;
    let zero = |id: NodeId| matches!(warp.node(id).op, Op::Const(0));
    match warp.node(id).op {
        Op::Binary(BinaryOp::Max, a, b) if zero(b) => match warp.node(a).op {
            Op::Binary(BinaryOp::Max, c, d) => {
                let own = [c, d].into_iter().find(|x| sum(*x))?;
                Some((vec![a, own], "add_max_relu"))
            }
            _ => sum(a).then(|| (vec![a], "add_max")),
        },
        Op::Binary(op @ (BinaryOp::Max | BinaryOp::Min), a, b) => {
            let own = [a, b].into_iter().find(|x| sum(*x))?;
            Some((vec![own], if op == BinaryOp::Max { "add_max" } else { "add_min" }))
        }
        _ => None,
    }
}

fn fused_text(warp: &Warp, id: NodeId, operands: &dyn Operands, spread: &dyn Fn(NodeId) -> String) -> Option<String> {
    let node = warp.node(id);
    if !node.pair || !node.row {
        return None;
    }
    let (inner, name) = in_one(warp, id)?;
    if !inner.iter().all(|i| operands.is_fused(*i)) {
        return None;
    }
    let sum = *inner.last()?;
    let Op::Binary(_, x, y) = warp.node(sum).op else { return None };
    let top = if inner.len() == 2 { inner[0] } else { id };
    let Op::Binary(_, a, b) = warp.node(top).op else { return None };
    let other = if a == sum { b } else { a };
    Some(format!("{name}({}, {}, {})", spread(x), spread(y), spread(other)))
}

/// A scalar with its type, which a constant would not have.
fn typed(warp: &Warp, id: NodeId, text: &str) -> String {
    match warp.node(id).op {
        Op::Const(_) => format!("({})({text})", type_name(warp.node(id).ty)),
        _ => text.to_string(),
    }
}

fn unary(op: UnaryOp, row: bool, a: &str) -> String {
    let function = |name: &str| if row { format!("{name}({a})") } else { format!("one::{name}({a})") };
    match (op, row) {
        (UnaryOp::Neg, true) => format!("-{}", atom(a)),
        (UnaryOp::Not, true) => format!("~{}", atom(a)),
        (UnaryOp::Neg, false) => function("neg"),
        (UnaryOp::Not, false) => function("invert"),
        (UnaryOp::Sqrt, _) => function("sqrt"),
        (UnaryOp::Abs, _) => function("absolute"),
    }
}

fn binary(op: BinaryOp, row: bool, a: &str, b: &str) -> String {
    let infix = |sign: &str| format!("({a} {sign} {b})");
    let function = |name: &str| format!("{}{name}({a}, {b})", if row { "" } else { "one::" });
    let arithmetic = |sign: &str, name: &str| if row { infix(sign) } else { function(name) };
    match op {
        BinaryOp::Add => arithmetic("+", "add"),
        BinaryOp::Sub => arithmetic("-", "sub"),
        BinaryOp::Mul => arithmetic("*", "mul"),
        BinaryOp::Div => arithmetic("/", "div"),
        BinaryOp::Rem => arithmetic("%", "rem"),
        BinaryOp::And => infix("&"),
        BinaryOp::Or => infix("|"),
        BinaryOp::Xor => infix("^"),
        BinaryOp::Eq => infix("=="),
        BinaryOp::Ne => infix("!="),
        BinaryOp::Lt => infix("<"),
        BinaryOp::Le => infix("<="),
        BinaryOp::Shl => function("shl"),
        BinaryOp::Shr => function("shr"),
        BinaryOp::Min => function("min"),
        BinaryOp::Max => function("max"),
    }
}
