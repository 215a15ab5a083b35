//! Expressions: what is printed in place and what gets a wire.

use super::{literal, range, Printer, LINE};
use crate::netlist::*;
use std::fmt::Write as _;

/// An expression; `atom` if it can stand as an operand without parentheses.
pub(super) struct Text {
    pub s: String,
    pub atom: bool,
}

fn atom(s: impl Into<String>) -> Text {
    Text { s: s.into(), atom: true }
}

/// Longest expression printed in place.
const INLINE: usize = 72;

impl Printer<'_> {
    /// Whether the node is bits of a net or a constant, so that a wider one of the same value is as short as a name.
    fn stands(&self, id: NodeId) -> bool {
        match self.m.node(id).op {
            Op::Cast(a) | Op::Slice(a, _) => self.stands(a),
            Op::Lit(_) => true,
            _ => self.nets.contains_key(&id) || self.wants_net(id),
        }
    }

    /// Whether the node is printed as a net rather than in place.
    pub(super) fn wants_net(&self, id: NodeId) -> bool {
        let n = self.m.node(id);
        match &n.op {
            Op::Input | Op::Reg { .. } | Op::ReadSync { .. } | Op::InstOut(..) => true,
            _ if n.name.is_some() || !n.attrs.is_empty() => true,
            Op::Bin(BinOp::Mul | BinOp::Shl | BinOp::Shr, ..) => true,
            Op::Lit(_) | Op::Cast(_) | Op::Slice(..) => false,
            Op::Un(UnOp::Not, a) if self.wants_net(*a) => false,
            Op::Resize(a) if n.ty.w < self.m.ty(*a).w || self.stands(*a) => false,
            _ => self.uses.get(&id).copied().unwrap_or(0) > 1,
        }
    }

    /// An identifier with the node's value; `hint` names it if it has no name.
    pub(super) fn identifier(&mut self, id: NodeId, hint: Option<&str>) -> String {
        if let Some(n) = self.nets.get(&id) {
            return n.clone();
        }
        if let (Op::Cast(a), None) = (&self.m.node(id).op, &self.m.node(id).name) {
            return self.identifier(*a, hint);
        }
        let wanted = match (&self.m.node(id).name, hint) {
            (Some(n), _) => n.clone(),
            (None, Some(h)) => self.names.fresh(h),
            (None, None) => self.fresh_name(id),
        };
        if self.lines.get(id).is_some() {
            let value = self.expr(id).s;
            let head = self.declared("wire", &[], self.m.ty(id).w, &wanted);
            writeln!(self.wires, "{head} = {value};").expect("string");
            self.net(id, wanted.clone());
            return wanted;
        }
        let head = self.declaration("wire", id, &wanted);
        let value = self.right_side(id, wanted.len() + 24);
        self.wires.push_str(&self.remarked(id, "    "));
        writeln!(self.wires, "{head} = {value};").expect("string");
        self.net(id, wanted.clone());
        wanted
    }

    /// Right side of an assignment: nets by name, else the expression, broken if long.
    pub(super) fn statement(&mut self, id: NodeId, used: usize) -> String {
        if self.nets.contains_key(&id) || self.wants_net(id) {
            return self.expr(id).s;
        }
        self.right_side(id, used)
    }

    fn right_side(&mut self, id: NodeId, used: usize) -> String {
        match self.m.node(id).op.clone() {
            Op::Lit(b) if b.width() > 256 && !b.is_zero() => {
                // Constants of grids are long: words of 64 bits, highest first.
                let w = b.width();
                let words = (0..w.div_ceil(64))
                    .rev()
                    .map(|k| literal(&b.slice(k * 64, 64.min(w - k * 64)), u(64.min(w - k * 64))));
                let parts: Vec<String> =
                    words.enumerate().map(|(i, t)| if i == 0 { t } else { format!(", {t}") }).collect();
                format!("{}\n    }}", super::fill("{\n        ", &parts, "        "))
            }
            Op::Concat(parts) => {
                let texts = self.concat_parts(&parts);
                if let [repeated] = &texts[..] {
                    return repeated.clone();
                }
                let one: usize = texts.iter().map(|t| t.len() + 2).sum();
                if one + used <= LINE {
                    return format!("{{{}}}", texts.join(", "));
                }
                let parts: Vec<String> =
                    texts.iter().enumerate().map(|(i, t)| format!("{}{t}", if i == 0 { "" } else { ", " })).collect();
                format!("{}\n    }}", super::fill("{\n        ", &parts, "        "))
            }
            Op::Mux(c, t, e) => {
                let (c, t) = (self.operand(c), self.operand(t));
                let chain =
                    matches!(self.m.node(e).op, Op::Mux(..)) && !self.wants_net(e) && !self.nets.contains_key(&e);
                if chain {
                    return format!("{c} ? {t} :\n        {}", self.right_side(e, 8));
                }
                let e = self.operand(e);
                if c.len() + t.len() + e.len() + used > LINE {
                    return format!("{c} ?\n        {t} :\n        {e}");
                }
                format!("{c} ? {t} : {e}")
            }
            _ => self.in_place(id).s,
        }
    }

    /// The node's value as an expression.
    pub(super) fn expr(&mut self, id: NodeId) -> Text {
        if self.lines.get(id).is_some() {
            return self.bits(id, 0, self.m.ty(id).w);
        }
        if self.nets.contains_key(&id) || self.wants_net(id) {
            let n = self.identifier(id, None);
            self.reads(&n, 0, self.m.ty(id).w);
            return atom(n);
        }
        let t = self.in_place(id);
        if t.s.len() <= INLINE || matches!(self.m.node(id).op, Op::Lit(_)) {
            return t;
        }
        // The same text as a wire; its operands have been read already.
        let name = self.fresh_name(id);
        writeln!(self.wires, "    wire {}{name} = {};", range(self.m.ty(id).w), t.s).expect("string");
        self.net(id, name.clone());
        self.reads(&name, 0, self.m.ty(id).w);
        atom(name)
    }

    /// An operand, in parentheses if it is compound.
    pub(super) fn operand(&mut self, id: NodeId) -> String {
        let t = self.expr(id);
        if t.atom {
            t.s
        } else {
            format!("({})", t.s)
        }
    }

    /// An operand whose width does not depend on where it stands.
    fn primary(&mut self, id: NodeId) -> String {
        let t = self.expr(id);
        if t.atom {
            return t.s;
        }
        let n = self.identifier(id, None);
        self.reads(&n, 0, self.m.ty(id).w);
        n
    }

    /// An operand as a signed number; `$signed(..)` fixes the width of what it contains.
    fn signed(&mut self, id: NodeId) -> String {
        match &self.m.node(id).op {
            Op::Lit(b) if self.m.node(id).name.is_none() => literal(b, s(self.m.ty(id).w)),
            _ => format!("$signed({})", self.expr(id).s),
        }
    }

    /// Bits `lo .. lo + w` of a node.
    fn bits(&mut self, id: NodeId, lo: u32, w: u32) -> Text {
        let n = self.m.node(id);
        let through = n.name.is_none() && n.attrs.is_empty() && !self.nets.contains_key(&id);
        match &n.op {
            Op::Cast(a) if through => return self.bits(*a, lo, w),
            Op::Slice(a, l) if through => return self.bits(*a, l + lo, w),
            Op::Resize(a) if through && lo + w <= self.m.ty(*a).w => return self.bits(*a, lo, w),
            Op::Lit(b) if through => return atom(literal(&b.slice(lo, w), u(w))),
            _ => {}
        }
        let (name, lo) = match self.lines.get(id) {
            Some((line, from)) => (line.name.clone(), from + lo),
            None if w == n.ty.w => return self.expr(id),
            None => (self.identifier(id, None), lo),
        };
        self.reads(&name, lo, w);
        atom(if w == 1 { format!("{name}[{lo}]") } else { format!("{name}[{}:{lo}]", lo + w - 1) })
    }

    fn concat_parts(&mut self, parts: &[NodeId]) -> Vec<String> {
        let mut out: Vec<String> = vec![];
        let mut i = 0;
        while i < parts.len() {
            let same = parts[i..].iter().take_while(|&&p| p == parts[i]).count();
            let t = self.expr(parts[i]).s;
            out.push(if same > 1 { format!("{{{same}{{{t}}}}}") } else { t });
            i += same;
        }
        out
    }

    fn resize(&mut self, id: NodeId, a: NodeId) -> Text {
        let (to, from) = (self.m.ty(id).w, self.m.ty(a));
        if to <= from.w {
            return self.bits(a, 0, to);
        }
        let more = to - from.w;
        if !from.signed {
            let x = self.expr(a).s;
            return atom(format!("{{{more}'d0, {x}}}"));
        }
        let top = self.bits(a, from.w - 1, 1);
        let top = if top.atom { top.s } else { self.primary(a) };
        let x = self.expr(a).s;
        atom(format!("{{{{{more}{{{top}}}}}, {x}}}"))
    }

    /// The operator's text, whether or not the node wants a net.
    fn in_place(&mut self, id: NodeId) -> Text {
        let n = self.m.node(id);
        match n.op.clone() {
            Op::Lit(b) => atom(literal(&b, u(n.ty.w))),
            Op::Wire { driver: Some(a) } | Op::Cast(a) => self.expr(a),
            Op::Slice(a, lo) => self.bits(a, lo, n.ty.w),
            Op::Resize(a) => self.resize(id, a),
            Op::Concat(parts) => match &self.concat_parts(&parts)[..] {
                [repeated] => atom(repeated.clone()),
                texts => atom(format!("{{{}}}", texts.join(", "))),
            },
            Op::Mux(c, t, e) => {
                let (c, t, e) = (self.operand(c), self.operand(t), self.operand(e));
                Text { s: format!("{c} ? {t} : {e}"), atom: false }
            }
            Op::Un(op, a) => {
                let sign = match op {
                    UnOp::Not => "~",
                    UnOp::Neg => "-",
                    UnOp::RedOr => "|",
                    UnOp::RedAnd => "&",
                    UnOp::RedXor => "^",
                };
                Text { s: format!("{sign}{}", self.operand(a)), atom: false }
            }
            Op::Bin(op, a, b) => Text { s: self.binary(op, a, b), atom: false },
            Op::ReadAsync { mem, addr } => {
                let name = &self.m.mems[mem.0 as usize].name;
                atom(format!("{name}[{}]", self.expr(addr).s))
            }
            // Declared beforehand, or refused by `verify`.
            Op::Input
            | Op::Reg { .. }
            | Op::ReadSync { .. }
            | Op::InstOut(..)
            | Op::Wire { driver: None }
            | Op::Poison => atom(self.nets.get(&id).cloned().unwrap_or_default()),
        }
    }

    fn binary(&mut self, op: BinOp, a: NodeId, b: NodeId) -> String {
        let signed = self.m.ty(a).signed;
        let sign = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Shl => "<<",
            BinOp::Shr if signed => ">>>",
            BinOp::Shr => ">>",
        };
        let (x, y) = match op {
            BinOp::Lt | BinOp::Le | BinOp::Mul if signed => (self.signed(a), self.signed(b)),
            BinOp::Mul => (self.primary(a), self.primary(b)),
            BinOp::Shr if signed => (self.signed(a), self.operand(b)),
            _ => (self.operand(a), self.operand(b)),
        };
        format!("{x} {sign} {y}")
    }
}
