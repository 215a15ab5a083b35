//! Names of unnamed nets. The first of these that exists:
//!
//! 1. the hint that the template gave (`Sig::called`),
//! 2. a description by the names of the operands, if it is short: `a_times_b`, `x_if_valid`,
//! 3. the nearest named thing that the net drives, with its role or its kind: `acc_next`, `sum_term`.

use super::Prepare;
use crate::netlist::*;
use std::collections::BTreeMap;

/// Longest description, in characters.
const NAME: usize = 36;

/// Deepest expression that is described.
const DEPTH: u32 = 3;

/// The nearest named thing that a value drives.
#[derive(Clone)]
pub struct Sink {
    name: String,
    /// Which input of that thing the value is, if it drives it directly.
    role: Option<&'static str>,
    /// Operators in between.
    distance: u32,
}

/// The sink of each live node.
pub fn sinks(m: &Module, live: &BTreeMap<NodeId, u32>) -> BTreeMap<NodeId, Sink> {
    let mut out: BTreeMap<NodeId, Sink> = BTreeMap::new();
    let mut offer = |id: NodeId, name: &str, role: Option<&'static str>, distance: u32| {
        let name = name.strip_suffix("_q").unwrap_or(name);
        match out.get(&id) {
            Some(sink) if sink.distance <= distance => {}
            _ => _ = out.insert(id, Sink { name: name.to_string(), role, distance }),
        }
    };
    for (name, id) in &m.outputs {
        offer(*id, name, Some("value"), 0);
    }
    for i in &m.insts {
        for (port, _, conn) in &i.ins {
            if let Conn::All(id) | Conn::Bus(id) = conn {
                offer(*id, &format!("{}_{port}", i.name), Some("value"), 0);
            }
        }
    }
    for mem in &m.mems {
        for w in &mem.writes {
            offer(w.en, &mem.name, Some("write"), 0);
            offer(w.addr, &mem.name, Some("write_address"), 0);
            offer(w.data, &mem.name, Some("write_data"), 0);
            w.lanes.iter().for_each(|l| offer(l.0, &mem.name, Some("write_lanes"), 0));
        }
    }
    for &id in live.keys() {
        let n = m.node(id);
        match (&n.op, &n.name) {
            (Op::Reg { next, en, rst, .. }, Some(name)) => {
                next.iter().for_each(|&next| offer(next, name, Some("next"), 0));
                en.iter().for_each(|&en| offer(en, name, Some("load"), 0));
                rst.iter().for_each(|rst| offer(rst.0, name, Some("reset"), 0));
            }
            (Op::ReadSync { addr, en, .. }, Some(name)) => {
                offer(*addr, name, Some("address"), 0);
                offer(*en, name, Some("load"), 0);
            }
            (op, Some(name)) => op.comb_operands().into_iter().for_each(|a| offer(a, name, None, 1)),
            _ => {}
        }
    }
    // Operands precede their readers, so the way back meets the readers first.
    for &id in live.keys().rev() {
        let n = m.node(id);
        if let (None, Some(sink)) = (&n.name, out.get(&id).cloned()) {
            let (role, distance) =
                if matches!(n.op, Op::Cast(_)) { (sink.role, sink.distance) } else { (None, sink.distance + 1) };
            for a in n.op.comb_operands() {
                if out.get(&a).is_none_or(|other| other.distance > distance) {
                    out.insert(a, Sink { name: sink.name.clone(), role, distance });
                }
            }
        }
    }
    out
}

impl Prepare<'_> {
    /// A name for a net that has none.
    pub fn fresh_name(&mut self, id: NodeId) -> String {
        let n = self.m.node(id);
        // Operands need their names before a description can contain them.
        for a in n.op.comb_operands() {
            if self.needs_net(a) && self.lines.get(a).is_none() {
                self.identifier(a, None);
            }
        }
        if let Some(hint) = &n.hint {
            return self.names.fresh(hint);
        }
        let description = self.described(&n.op, DEPTH).filter(|name| name.len() <= NAME);
        let name = description.unwrap_or_else(|| match self.sinks.get(&id) {
            Some(Sink { name, role: Some(role), .. }) => format!("{name}_{role}"),
            Some(Sink { name, .. }) => format!("{name}_{}", kind(&n.op)),
            None => kind(&n.op).to_string(),
        });
        self.names.fresh(&name)
    }

    /// The description of an operator by the names of its operands.
    fn described(&self, op: &Op, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let name_of = |id: &NodeId| self.operand_name(*id, depth);
        let joined = |a: &NodeId, word: &str, b: &NodeId| Some(format!("{}_{word}_{}", name_of(a)?, name_of(b)?));
        let zero = |id: &NodeId| matches!(&self.m.node(*id).op, Op::Lit(b) if b.is_zero());
        match op {
            Op::Bin(BinOp::And, a, b) => joined(a, "and", b),
            Op::Bin(BinOp::Or, a, b) => joined(a, "or", b),
            Op::Bin(BinOp::Xor, a, b) => joined(a, "xor", b),
            Op::Bin(BinOp::Eq, a, b) => joined(a, "is", b),
            Op::Bin(BinOp::Ne, a, b) => joined(a, "is_not", b),
            Op::Bin(BinOp::Lt, a, b) => joined(a, "below", b),
            Op::Bin(BinOp::Le, a, b) => joined(a, "up_to", b),
            Op::Bin(BinOp::Add, a, b) => joined(a, "plus", b),
            Op::Bin(BinOp::Sub, a, b) => joined(a, "minus", b),
            Op::Bin(BinOp::Mul, a, b) => joined(a, "times", b),
            Op::Bin(BinOp::Shl | BinOp::Shr, a, b) => joined(a, "shifted_by", b),
            Op::Un(UnOp::Not, a) => Some(format!("not_{}", name_of(a)?)),
            Op::Un(UnOp::Neg, a) => Some(format!("minus_{}", name_of(a)?)),
            Op::Un(UnOp::RedOr, a) => Some(format!("some_{}", name_of(a)?)),
            Op::Un(UnOp::RedAnd, a) => Some(format!("all_{}", name_of(a)?)),
            Op::Un(UnOp::RedXor, a) => Some(format!("parity_{}", name_of(a)?)),
            Op::Mux(c, t, e) if zero(e) => joined(t, "if", c),
            Op::Mux(c, t, e) if zero(t) => joined(e, "unless", c),
            Op::Mux(c, t, e) => Some(format!("{}_else_{}", joined(t, "if", c)?, name_of(e)?)),
            Op::Resize(a) => Some(format!("{}_wide", name_of(a)?)),
            Op::Concat(parts) => {
                let mut named: Vec<&NodeId> = parts.iter().filter(|part| !zero(part)).collect();
                named.dedup();
                if named.len() > 4 {
                    return None;
                }
                named.into_iter().map(name_of).collect::<Option<Vec<String>>>().map(|names| names.join("_"))
            }
            Op::ReadAsync { mem, addr } => Some(format!("{}_at_{}", self.m.mems[mem.0 as usize].name, name_of(addr)?)),
            _ => None,
        }
    }

    /// An operand's name within a description.
    fn operand_name(&self, id: NodeId, depth: u32) -> Option<String> {
        let n = self.m.node(id);
        if let Some(name) = n.name.as_ref().or_else(|| self.nets.get(&id)) {
            return Some(name.strip_suffix("_q").unwrap_or(name).to_string());
        }
        match &n.op {
            Op::Lit(b) if n.ty.signed && b.bit(n.ty.w - 1) => None,
            Op::Lit(b) if b.low_u128() < 1 << 16 && b.width() <= 128 => Some(b.low_u128().to_string()),
            Op::Cast(a) | Op::Resize(a) => self.operand_name(*a, depth),
            Op::Slice(a, lo) => {
                let of = self.operand_name(*a, depth)?;
                let hi = lo + n.ty.w - 1;
                Some(if hi == *lo { format!("{of}_{lo}") } else { format!("{of}_{hi}_{lo}") })
            }
            op => self.described(op, depth),
        }
    }
}

/// The kind of an operator's result, for a name after the sink.
fn kind(op: &Op) -> &'static str {
    match op {
        Op::Bin(BinOp::Add, ..) => "sum",
        Op::Bin(BinOp::Sub, ..) => "difference",
        Op::Bin(BinOp::Mul, ..) => "product",
        Op::Bin(BinOp::Shl | BinOp::Shr, ..) => "shifted",
        Op::Bin(BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le, ..) => "match",
        Op::Bin(..) | Op::Un(..) => "term",
        Op::Mux(..) => "choice",
        Op::Concat(_) => "bits",
        Op::Resize(_) => "wide",
        _ => "value",
    }
}
