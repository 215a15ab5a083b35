//! The products of a module that DSP slices form, and the registers and adders that synthesis puts into the same slice.
//!
//! ```text
//! a, b ─► × ─► product register ─► + ─► register of the sum     one slice: the product has no other reader
//!                        c, or another slice's sum ─┘
//! ```

use crate::netlist::*;
use std::collections::{BTreeMap, BTreeSet};

/// Least bits of a product in a slice, and the widest sum.
const PRODUCT: u32 = 9;
const SUM: u32 = 48;
/// Registers in a row from which on they are a shift register.
const SHIFT_REGISTER: u32 = 3;

/// What part of a slice a register or a product belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The register behind the product. For a product: it has this register.
    Product,
    /// The register behind the sum. For a product: it has no register.
    Sum,
}

/// An operand of a slice's adder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// The slice's registered product, or its own sum.
    Inside,
    /// The slice's product, without a register.
    Product(NodeId),
    /// Another slice's output.
    Cascade,
    Routed,
}

#[derive(Clone)]
pub struct Sum {
    pub operands: [Operand; 2],
    /// The slice's register is behind the sum, and nothing reads the sum itself.
    pub is_registered: bool,
}

#[derive(Default)]
pub struct Slices {
    pub products: BTreeMap<NodeId, Use>,
    pub sums: BTreeMap<NodeId, Sum>,
    /// Registers in slices.
    pub registers: BTreeMap<NodeId, Use>,
    readers: Readers,
}

/// What reads each node, through wiring; `None` stands for a port.
#[derive(Default)]
struct Readers(BTreeMap<NodeId, Vec<Option<NodeId>>>);

impl Readers {
    fn new(m: &Module, live: &[bool]) -> Self {
        let mut readers = Readers::default();
        let mut add = |id: NodeId, reader: Option<NodeId>| {
            let (mut open, mut seen) = (vec![id], BTreeSet::new());
            while let Some(id) = open.pop().and_then(|id| behind_wiring(m, id)) {
                if !seen.insert(id) {
                    continue;
                }
                if let Op::Concat(parts) = &m.node(id).op {
                    open.extend(parts);
                    continue;
                }
                let all = readers.0.entry(id).or_default();
                if !all.contains(&reader) {
                    all.push(reader);
                }
            }
        };
        for (n, node) in m.nodes.iter().enumerate().filter(|(n, _)| live[*n]) {
            let id = NodeId(n as u32);
            let is_wiring =
                matches!(node.op, Op::Wire { .. } | Op::Cast(_) | Op::Slice(..) | Op::Resize(_) | Op::Concat(_));
            if !is_wiring {
                node.op.comb_operands().into_iter().chain(node.op.edge_operands()).for_each(|o| add(o, Some(id)));
            }
        }
        m.outputs.iter().for_each(|(_, id)| add(*id, None));
        for (_, _, conn) in m.insts.iter().flat_map(|i| &i.ins) {
            if let Conn::All(id) | Conn::Bus(id) = conn {
                add(*id, None);
            }
        }
        for write in m.mems.iter().flat_map(|x| &x.writes) {
            [write.en, write.addr, write.data].into_iter().for_each(|id| add(id, None));
        }
        readers
    }

    /// The only reader of a node.
    fn only(&self, id: NodeId) -> Option<NodeId> {
        match self.0.get(&id).map(|all| &all[..]) {
            Some([Some(one)]) => Some(*one),
            _ => None,
        }
    }
}

/// The node whose bits these are, if only wiring and constants are between.
fn base(m: &Module, id: NodeId) -> Option<NodeId> {
    let id = behind_wiring(m, id)?;
    let Op::Concat(parts) = &m.node(id).op else { return Some(id) };
    let parts = parts.iter().filter(|p| !matches!(m.node(**p).op, Op::Lit(_)));
    let mut bases: Vec<Option<NodeId>> = parts.map(|&p| behind_wiring(m, p)).collect();
    bases.dedup();
    match bases[..] {
        [Some(one)] => Some(one),
        _ => Some(id),
    }
}

/// The same without concatenations; `None` if wires go in circles.
fn behind_wiring(m: &Module, mut id: NodeId) -> Option<NodeId> {
    for _ in 0..m.nodes.len() {
        id = match &m.node(id).op {
            Op::Wire { driver: Some(a) } | Op::Cast(a) | Op::Slice(a, _) | Op::Resize(a) => *a,
            _ => return Some(id),
        };
    }
    None
}

/// Whether a register holds a node, or the node and other bits beside it.
fn holds(m: &Module, register: NodeId, id: NodeId) -> bool {
    let Op::Reg { next: Some(next), .. } = m.node(register).op else { return false };
    let parts = match behind_wiring(m, next).map(|n| &m.node(n).op) {
        Some(Op::Concat(parts)) => parts.clone(),
        _ => vec![next],
    };
    parts.iter().any(|&p| base(m, p) == Some(id))
}

impl Slices {
    pub fn new(m: &Module, live: &[bool]) -> Self {
        let mut slices = Slices { readers: Readers::new(m, live), ..Slices::default() };
        let all = || (0..m.nodes.len() as u32).map(NodeId).filter(|id| live[id.0 as usize]);
        let is_register = |id: NodeId| matches!(m.node(id).op, Op::Reg { .. });
        for id in all() {
            let Op::Bin(BinOp::Mul, a, b) = m.node(id).op else { continue };
            if m.ty(id).w < PRODUCT || m.ty(a).w < 2 || m.ty(b).w < 2 {
                continue;
            }
            let register = slices.readers.only(id).filter(|&r| is_register(r) && holds(m, r, id));
            slices.products.insert(id, if register.is_some() { Use::Product } else { Use::Sum });
            if let Some(register) = register {
                slices.registers.insert(register, Use::Product);
            }
        }
        for id in all() {
            let Op::Bin(BinOp::Add | BinOp::Sub, a, b) = m.node(id).op else { continue };
            if let Some(sum) = slices.sum(m, id, [a, b]) {
                slices.sums.insert(id, sum);
            }
        }
        slices
    }

    fn sum(&mut self, m: &Module, id: NodeId, operands: [NodeId; 2]) -> Option<Sum> {
        if m.ty(id).w > SUM {
            return None;
        }
        let bases = operands.map(|o| base(m, o));
        let product =
            bases.iter().position(|b| b.is_some_and(|b| self.is_product(b) && self.readers.only(b) == Some(id)))?;
        let register = self.readers.0.get(&id).into_iter().flatten().flatten().copied();
        let mut register = register;
        let register = register.find(|&r| holds(m, r, id));
        let is_registered = register.is_some() && self.readers.only(id) == register;
        if let Some(register) = register.filter(|_| is_registered) {
            self.registers.insert(register, Use::Sum);
        }
        let of = |k: usize| match bases[k] {
            Some(b) if k == product && self.products.contains_key(&b) => Operand::Product(b),
            Some(_) if k == product => Operand::Inside,
            Some(b) if is_registered && Some(b) == register => Operand::Inside,
            Some(b) if self.sums.contains_key(&b) || self.registers.contains_key(&b) => Operand::Cascade,
            _ => Operand::Routed,
        };
        Some(Sum { operands: [of(0), of(1)], is_registered })
    }

    /// A product without register, or the register behind one.
    fn is_product(&self, id: NodeId) -> bool {
        self.products.get(&id) == Some(&Use::Sum) || self.registers.get(&id) == Some(&Use::Product)
    }

    /// A sum of the same width behind a sum's operand, which nothing else reads, and what it adds.
    pub fn joined(&self, m: &Module, operand: NodeId, reader: NodeId) -> Option<(NodeId, BinOp, NodeId, NodeId)> {
        let inner = behind_wiring(m, operand)?;
        let Op::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) = m.node(inner).op else { return None };
        let fits = m.ty(inner).w == m.ty(reader).w && m.ty(operand).w == m.ty(reader).w;
        let alone = fits && self.readers.only(inner) == Some(reader) && !self.sums.contains_key(&inner);
        alone.then_some((inner, op, a, b))
    }

    /// Whether a register is the last one of a row that is a shift register.
    pub fn is_shift_register(&self, m: &Module, mut id: NodeId) -> bool {
        for _ in 1..SHIFT_REGISTER {
            let Op::Reg { next: Some(next), en, rst: None, .. } = m.node(id).op else { return false };
            let Some(before) = base(m, next).filter(|&b| m.ty(b).w == m.ty(id).w) else { return false };
            let Op::Reg { en: enable, rst: None, .. } = m.node(before).op else { return false };
            if enable != en
                || self.readers.only(before) != Some(id)
                || m.node(id).attrs.iter().any(|a| a.0 == "shreg_extract")
            {
                return false;
            }
            id = before;
        }
        true
    }
}
