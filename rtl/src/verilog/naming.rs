//! Names of nets that have none: what they are called, else of what they are made of, if that is short, else of what
//! they are part of.

use super::Printer;
use crate::netlist::*;
use std::collections::BTreeMap;

/// Longest name made of those of operands.
const NAME: usize = 36;

/// Deepest expression that a name spells out.
const DEPTH: u32 = 3;

/// The nearest thing with a name that a value goes into.
#[derive(Clone)]
pub(super) struct Drives {
    name: String,
    /// How it goes there, if it does by itself.
    role: Option<&'static str>,
    /// Operators in between.
    far: u32,
}

/// What each live node without a name goes into.
pub(super) fn drives(m: &Module, live: &BTreeMap<NodeId, u32>) -> BTreeMap<NodeId, Drives> {
    let mut out: BTreeMap<NodeId, Drives> = BTreeMap::new();
    let mut offer = |id: NodeId, name: &str, role: Option<&'static str>, far: u32| {
        let name = name.strip_suffix("_q").unwrap_or(name);
        match out.get(&id) {
            Some(d) if d.far <= far => {}
            _ => _ = out.insert(id, Drives { name: name.to_string(), role, far }),
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
    // Operands stand before what is made of them.
    for &id in live.keys().rev() {
        let n = m.node(id);
        if let (None, Some(d)) = (&n.name, out.get(&id).cloned()) {
            let (role, far) = if matches!(n.op, Op::Cast(_)) { (d.role, d.far) } else { (None, d.far + 1) };
            for a in n.op.comb_operands() {
                if out.get(&a).is_none_or(|known| known.far > far) {
                    out.insert(a, Drives { name: d.name.clone(), role, far });
                }
            }
        }
    }
    out
}

impl Printer<'_> {
    /// A name for a net that has none.
    pub(super) fn fresh_name(&mut self, id: NodeId) -> String {
        let op = self.m.node(id).op.clone();
        // Operands have their names before what is called after them.
        for a in op.comb_operands() {
            if self.wants_net(a) && self.lines.get(a).is_none() {
                self.identifier(a, None);
            }
        }
        if let Some(name) = self.m.node(id).called.clone() {
            return self.names.fresh(&name);
        }
        let made = self.described(&op, DEPTH).filter(|name| name.len() <= NAME);
        let name = made.unwrap_or_else(|| match self.drives.get(&id) {
            Some(Drives { name, role: Some(role), .. }) => format!("{name}_{role}"),
            Some(Drives { name, .. }) => format!("{name}_{}", kind(&op)),
            None => kind(&op).to_string(),
        });
        self.names.fresh(&name)
    }

    fn described(&self, op: &Op, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let called = |id: &NodeId| self.called(*id, depth);
        let joined = |a: &NodeId, word: &str, b: &NodeId| Some(format!("{}_{word}_{}", called(a)?, called(b)?));
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
            Op::Un(UnOp::Not, a) => Some(format!("not_{}", called(a)?)),
            Op::Un(UnOp::Neg, a) => Some(format!("minus_{}", called(a)?)),
            Op::Un(UnOp::RedOr, a) => Some(format!("some_{}", called(a)?)),
            Op::Un(UnOp::RedAnd, a) => Some(format!("all_{}", called(a)?)),
            Op::Un(UnOp::RedXor, a) => Some(format!("parity_{}", called(a)?)),
            Op::Mux(c, t, e) if zero(e) => joined(t, "if", c),
            Op::Mux(c, t, e) if zero(t) => joined(e, "unless", c),
            Op::Mux(c, t, e) => Some(format!("{}_else_{}", joined(t, "if", c)?, called(e)?)),
            Op::Resize(a) => Some(format!("{}_wide", called(a)?)),
            Op::Concat(parts) => {
                let mut named: Vec<&NodeId> = parts.iter().filter(|part| !zero(part)).collect();
                named.dedup();
                if named.len() > 4 {
                    return None;
                }
                named.into_iter().map(called).collect::<Option<Vec<String>>>().map(|names| names.join("_"))
            }
            Op::ReadAsync { mem, addr } => Some(format!("{}_at_{}", self.m.mems[mem.0 as usize].name, called(addr)?)),
            _ => None,
        }
    }

    /// What an operand is called, within a name.
    fn called(&self, id: NodeId, depth: u32) -> Option<String> {
        let n = self.m.node(id);
        if let Some(name) = n.name.as_ref().or_else(|| self.nets.get(&id)) {
            return Some(name.strip_suffix("_q").unwrap_or(name).to_string());
        }
        match &n.op {
            Op::Lit(b) if n.ty.signed && b.bit(n.ty.w - 1) => None,
            Op::Lit(b) if b.low_u128() < 1 << 16 && b.width() <= 128 => Some(b.low_u128().to_string()),
            Op::Cast(a) | Op::Resize(a) => self.called(*a, depth),
            Op::Slice(a, lo) => {
                let of = self.called(*a, depth)?;
                let hi = lo + n.ty.w - 1;
                Some(if hi == *lo { format!("{of}_{lo}") } else { format!("{of}_{hi}_{lo}") })
            }
            op => self.described(op, depth),
        }
    }
}

/// What an operator makes, for a net that is part of something.
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
