//! Which values become nets, and the expressions of the others.

use super::Prepare;
use crate::netlist::*;
use crate::verilog::ast::*;

/// Longest expression printed in place, in characters.
const INLINE: usize = 72;

/// Widest constant printed as one number, in bits.
const NUMBER: u32 = 256;

impl Prepare<'_> {
    /// Whether the node is a constant or bits of a net. A wider one of the same value is then as short as a name.
    fn is_selection(&self, id: NodeId) -> bool {
        match self.m.node(id).op {
            Op::Cast(a) | Op::Slice(a, _) => self.is_selection(a),
            Op::Lit(_) => true,
            _ => self.is_net(id),
        }
    }

    /// Whether the node is a net, or becomes one when it is first read.
    pub fn is_net(&self, id: NodeId) -> bool {
        self.nets.contains_key(&id) || self.needs_net(id)
    }

    /// Whether the node must be a net, whatever the length of its expression.
    pub fn needs_net(&self, id: NodeId) -> bool {
        let n = self.m.node(id);
        match &n.op {
            Op::Input | Op::Reg { .. } | Op::ReadSync { .. } | Op::InstOut(..) => true,
            _ if n.name.is_some() || !n.attrs.is_empty() => true,
            Op::Bin(BinOp::Mul | BinOp::Shl | BinOp::Shr, ..) => true,
            Op::Lit(_) | Op::Cast(_) | Op::Slice(..) => false,
            Op::Un(UnOp::Not, a) if self.needs_net(*a) => false,
            Op::Resize(a) if n.ty.w < self.m.ty(*a).w || self.is_selection(*a) => false,
            _ => self.uses.get(&id).copied().unwrap_or(0) > 1,
        }
    }

    /// A net with the node's value; `hint` names it if the node has no name.
    pub fn identifier(&mut self, id: NodeId, hint: Option<&str>) -> String {
        if let Some(net) = self.nets.get(&id) {
            return net.clone();
        }
        let n = self.m.node(id);
        let name = match (&n.op, &n.name, hint) {
            (Op::Cast(a), None, _) => return self.identifier(*a, hint),
            (_, Some(name), _) => name.clone(),
            (_, None, Some(hint)) => self.names.fresh(hint),
            (_, None, None) => self.fresh_name(id),
        };
        if self.lines.get(id).is_some() {
            let value = Value::Line(self.expr(id));
            self.wire(id, &name, None, value);
        } else {
            let value = self.value(id);
            self.wire(id, &name, Some(n), value);
        }
        name
    }

    /// Right side of an assignment.
    pub fn right_side(&mut self, id: NodeId) -> Value {
        if self.is_net(id) {
            Value::Line(self.expr(id))
        } else {
            self.value(id)
        }
    }

    /// The node's operator as a right side, whether or not the node is a net.
    fn value(&mut self, id: NodeId) -> Value {
        match &self.m.node(id).op {
            Op::Lit(b) if b.width() > NUMBER && !b.is_zero() => Value::Words(b.clone()),
            Op::Concat(parts) => Value::Parts(self.parts(parts)),
            &Op::Mux(c, t, e) => {
                let (condition, then) = (self.expr(c), self.expr(t));
                let chain = matches!(self.m.node(e).op, Op::Mux(..)) && !self.is_net(e);
                let otherwise = Box::new(if chain { self.value(e) } else { Value::Line(self.expr(e)) });
                Value::Choice { condition, then, otherwise }
            }
            _ => Value::Line(self.in_place(id)),
        }
    }

    /// The node's value as an expression of at most `INLINE` characters; a longer one becomes a net.
    pub fn expr(&mut self, id: NodeId) -> Expr {
        if self.lines.get(id).is_some() {
            return self.bits(id, 0, self.m.ty(id).w);
        }
        if self.is_net(id) {
            return self.net_expr(id);
        }
        let e = self.in_place(id);
        if matches!(self.m.node(id).op, Op::Lit(_)) || e.to_string().len() <= INLINE {
            return e;
        }
        let name = self.fresh_name(id);
        self.wire(id, &name, None, Value::Line(e));
        self.net_expr(id)
    }

    /// The net of a node, read wholly.
    fn net_expr(&mut self, id: NodeId) -> Expr {
        let net = self.identifier(id, None);
        self.reads(&net, 0, self.m.ty(id).w);
        Expr::Net(net)
    }

    /// An operand whose width must not depend on its surroundings.
    fn primary(&mut self, id: NodeId) -> Expr {
        let e = self.expr(id);
        if e.is_atom() {
            e
        } else {
            self.net_expr(id)
        }
    }

    /// An operand as a signed number.
    fn signed(&mut self, id: NodeId) -> Expr {
        let n = self.m.node(id);
        match &n.op {
            Op::Lit(b) if n.name.is_none() => Expr::SignedLit(b.clone()),
            _ => Expr::Signed(Box::new(self.expr(id))),
        }
    }

    /// Bits `lo .. lo + w` of a node, selected from the net that holds them.
    pub fn bits(&mut self, id: NodeId, lo: u32, w: u32) -> Expr {
        let n = self.m.node(id);
        let through = n.name.is_none() && n.attrs.is_empty() && !self.nets.contains_key(&id);
        match &n.op {
            Op::Cast(a) if through => return self.bits(*a, lo, w),
            Op::Slice(a, l) if through => return self.bits(*a, l + lo, w),
            Op::Resize(a) if through && lo + w <= self.m.ty(*a).w => return self.bits(*a, lo, w),
            Op::Lit(b) if through => return Expr::Lit(b.slice(lo, w)),
            _ => {}
        }
        let (net, lo) = match self.lines.get(id) {
            Some((line, from)) => (line.name.clone(), from + lo),
            None if w == n.ty.w => return self.expr(id),
            None => (self.identifier(id, None), lo),
        };
        self.reads(&net, lo, w);
        Expr::Bits { net, lo, w }
    }

    /// Parts of a concatenation; equal neighbours become one part with a number of copies.
    fn parts(&mut self, ids: &[NodeId]) -> Vec<Part> {
        ids.chunk_by(|a, b| a == b).map(|same| (same.len(), self.expr(same[0]))).collect()
    }

    fn resize(&mut self, id: NodeId, a: NodeId) -> Expr {
        let (to, from) = (self.m.ty(id).w, self.m.ty(a));
        if to <= from.w {
            return self.bits(a, 0, to);
        }
        let sign = from.signed.then(|| match self.bits(a, from.w - 1, 1) {
            e if e.is_atom() => Box::new(e),
            _ => Box::new(self.primary(a)),
        });
        Expr::Extend { more: to - from.w, sign, value: Box::new(self.expr(a)) }
    }

    /// The node's operator within a line, whether or not the node is a net.
    fn in_place(&mut self, id: NodeId) -> Expr {
        let n = self.m.node(id);
        match &n.op {
            Op::Lit(b) => Expr::Lit(b.clone()),
            Op::Wire { driver: Some(a) } | Op::Cast(a) => self.expr(*a),
            Op::Slice(a, lo) => self.bits(*a, *lo, n.ty.w),
            Op::Resize(a) => self.resize(id, *a),
            Op::Concat(parts) => Expr::Concat(self.parts(parts)),
            Op::Mux(c, t, e) => Expr::Mux(Box::new([*c, *t, *e].map(|x| self.expr(x)))),
            Op::Un(op, a) => {
                let sign = match op {
                    UnOp::Not => "~",
                    UnOp::Neg => "-",
                    UnOp::RedOr => "|",
                    UnOp::RedAnd => "&",
                    UnOp::RedXor => "^",
                };
                Expr::Unary(sign, Box::new(self.expr(*a)))
            }
            Op::Bin(op, a, b) => self.binary(*op, *a, *b),
            Op::ReadAsync { mem, addr } => {
                let mem = self.m.mems[mem.0 as usize].name.clone();
                Expr::Word(mem, Box::new(self.expr(*addr)))
            }
            // Declared before any expression, or refused by `verify`.
            Op::Input
            | Op::Reg { .. }
            | Op::ReadSync { .. }
            | Op::InstOut(..)
            | Op::Wire { driver: None }
            | Op::Poison => Expr::Net(self.nets.get(&id).cloned().unwrap_or_default()),
        }
    }

    fn binary(&mut self, op: BinOp, a: NodeId, b: NodeId) -> Expr {
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
        let operands = match op {
            BinOp::Lt | BinOp::Le | BinOp::Mul if signed => [self.signed(a), self.signed(b)],
            BinOp::Mul => [self.primary(a), self.primary(b)],
            BinOp::Shr if signed => [self.signed(a), self.expr(b)],
            _ => [self.expr(a), self.expr(b)],
        };
        Expr::Binary(sign, Box::new(operands))
    }
}
