//! The cells of operators on whole words: sums, comparisons, shifts, products, memories.

use super::cells::{Arc, Label, Maker};
use super::pins::NEVER;
use super::slices::{Operand, Use};
use crate::netlist::*;

/// Sums of so few bits are no carry chains.
const SHORT_SUM: usize = 2;

impl Maker<'_> {
    /// The bits of a node whose operator is no operator on single bits.
    pub fn whole(&mut self, id: NodeId) -> Vec<u32> {
        let ty = self.m.ty(id);
        let [none, one] = self.constants;
        match self.m.node(id).op.clone() {
            Op::Un(UnOp::Neg, a) => {
                let a: Vec<u32> = self.node(a).into_iter().map(|c| self.invert(c)).collect();
                let zero = vec![none; a.len()];
                self.sum(&a, &zero, true, id).0
            }
            Op::Un(op, a) => {
                let a = self.node(a);
                vec![match op {
                    UnOp::RedXor => self.tree(a, |s, x| s.xor(x[0], x[1])),
                    UnOp::RedOr => self.tree(a, |s, x| s.or_and(x, true)),
                    _ => self.tree(a, |s, x| s.or_and(x, false)),
                }]
            }
            Op::Bin(BinOp::Mul, a, b) => self.product(id, a, b),
            Op::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                if let Some(cells) = self.sum_in_slice(id, a, b) {
                    return cells;
                }
                let mut terms = vec![];
                let ones = self.terms(id, op == BinOp::Sub, [a, b], &mut terms);
                self.sum_of(terms, ones, id)
            }
            Op::Bin(BinOp::Eq | BinOp::Ne, a, b) => {
                let (a, b) = (self.node(a), self.node(b));
                let unlike: Vec<u32> = a.iter().zip(&b).map(|(&a, &b)| self.xor(a, b)).collect();
                vec![self.tree(unlike, |s, x| s.or_and(x, true))]
            }
            Op::Bin(op @ (BinOp::Lt | BinOp::Le), a, b) => {
                let (a, b) = if op == BinOp::Lt { (a, b) } else { (b, a) };
                let (a, b) = (self.node(a), self.node(b));
                let variable = |x: &[u32]| x.iter().filter(|&&c| self.constant(c).is_none()).count();
                if (variable(&a) == 0 || variable(&b) == 0) && variable(&a) + variable(&b) <= 6 {
                    let all = [a, b].concat();
                    return vec![self.gate(&all)];
                }
                let b: Vec<u32> = b.into_iter().map(|c| self.invert(c)).collect();
                vec![self.sum(&a, &b, true, id).1]
            }
            Op::Bin(op @ (BinOp::Shl | BinOp::Shr), a, amount) => {
                let (mut x, amount) = (self.node(a), self.node(amount));
                let fill = if op == BinOp::Shr && ty.signed { x[x.len() - 1] } else { none };
                for (k, &digit) in amount.iter().enumerate() {
                    let by = 1usize.checked_shl(k as u32).unwrap_or(usize::MAX);
                    let from = |j: usize| match op {
                        BinOp::Shl => j.checked_sub(by),
                        _ => j.checked_add(by).filter(|&j| j < x.len()),
                    };
                    let moved: Vec<u32> = (0..x.len()).map(|j| from(j).map_or(fill, |j| x[j])).collect();
                    x = (0..x.len()).map(|j| self.mux(digit, moved[j], x[j])).collect();
                }
                x
            }
            Op::ReadAsync { mem, addr } => {
                let addr = self.node(addr);
                self.read(id, mem, &addr)
            }
            Op::ReadSync { mem, .. } => {
                let launch = if self.is_block(mem) { self.delays.memory } else { self.delays.register };
                (0..ty.w).map(|_| self.hard(launch, vec![], false, id)).collect()
            }
            _ => vec![one; ty.w as usize],
        }
    }

    /// The terms of a sum: those of a sum that is read only here are terms, too, as synthesis joins them. Returns
    /// how many ones are to be added, one for each inverted term.
    fn terms(&mut self, id: NodeId, subtract: bool, operands: [NodeId; 2], terms: &mut Vec<Vec<u32>>) -> u32 {
        let w = self.m.ty(id).w;
        let mut ones = 0;
        for (k, node) in operands.into_iter().enumerate() {
            let inverted = k == 1 && subtract;
            if let Some((inner, op, a, b)) = self.slices.joined(self.m, node, id).filter(|_| !inverted) {
                ones += self.terms(inner, op == BinOp::Sub, [a, b], terms);
                continue;
            }
            let cells = self.node(node);
            terms.push(if inverted { cells.into_iter().map(|c| self.invert(c)).collect() } else { cells });
            ones += u32::from(inverted);
        }
        terms.iter_mut().for_each(|t| {
            let top = t[t.len() - 1];
            t.resize(w as usize, top);
        });
        ones
    }

    /// The sum of terms of equal width and of `ones`: three terms become two in a LUT a bit, the last two are a chain.
    fn sum_of(&mut self, mut terms: Vec<Vec<u32>>, ones: u32, id: NodeId) -> Vec<u32> {
        let mut left = ones;
        while terms.len() > 2 {
            let mut next = vec![];
            for group in terms.chunks(3) {
                let [a, b, c] = group else {
                    next.extend(group.to_vec());
                    continue;
                };
                let low: Vec<u32> = (0..a.len()).map(|k| self.gate(&[a[k], b[k], c[k]])).collect();
                // The carries are one place higher; the free place takes a one.
                let one = self.constants[usize::from(left > 1)];
                left -= u32::from(left > 1);
                let high = [one].into_iter().chain(low.iter().copied().take(a.len() - 1)).collect();
                next.extend([low, high]);
            }
            terms = next;
        }
        let b = terms.get(1).cloned().unwrap_or_else(|| vec![self.constants[0]; terms[0].len()]);
        self.sum(&terms[0].clone(), &b, left > 0, id).0
    }

    /// `a + b` and a carry, by a carry chain: the sum, and the carry out.
    fn sum(&mut self, a: &[u32], b: &[u32], carry: bool, id: NodeId) -> (Vec<u32>, u32) {
        let mut before = self.constants[usize::from(carry)];
        let mut sum = vec![];
        let mut place = 0;
        let mut is_first = true;
        let is_short = a.len() <= SHORT_SUM;
        for (&a, &b) in a.iter().zip(b) {
            let propagate = self.xor(a, b);
            let constants = [a, b, before].map(|c| self.constant(c));
            match constants {
                [Some(x), Some(y), Some(c)] => {
                    sum.push(self.constants[usize::from(x ^ y ^ c)]);
                    before = self.constants[usize::from((x & y) | (c & (x ^ y)))];
                    continue;
                }
                [None, Some(y), Some(c)] if y == c => {
                    sum.push(a);
                    continue;
                }
                [Some(x), None, Some(c)] if x == c => {
                    sum.push(b);
                    continue;
                }
                _ => {}
            }
            if is_short {
                sum.push(self.gate(&[a, b, before]));
                before = self.gate(&[a, b, before]);
                continue;
            }
            let step = if place % 4 == 0 { self.delays.carry } else { 0.0 };
            place += 1;
            let enter = |cell: u32| Arc { cell, net: true, ns: self.delays.carry_in };
            let along = Arc { cell: before, net: false, ns: step };
            let ways = vec![along, enter(propagate)];
            let data = if self.constant(a).is_some() { b } else { a };
            let out = [ways.clone(), vec![enter(data)]].concat();
            sum.push(self.hard(NEVER, ways, is_first, id));
            before = self.hard(NEVER, out, is_first, id);
            is_first = false;
        }
        (sum, before)
    }

    /// A read of a LUT RAM or of a table.
    fn read(&mut self, id: NodeId, mem: MemId, addr: &[u32]) -> Vec<u32> {
        let (memory, w) = (&self.m.mems[mem.0 as usize], self.m.ty(id).w);
        let low = addr.len().min(6);
        // Multiplexers of four words in front of more than 64 words.
        let more = addr.len().saturating_sub(6).div_ceil(2);
        if !memory.content.is_empty() && more == 0 {
            return (0..w).map(|_| self.gate(&addr[..low])).collect();
        }
        let table = !memory.content.is_empty();
        let ns = if table { self.delays.lut } else { self.delays.lut_ram }
            + more as f64 * (self.delays.net + self.delays.lut);
        let launch = if table { NEVER } else { self.delays.block };
        let arcs: Vec<Arc> = addr.iter().map(|&cell| Arc { cell, net: true, ns }).collect();
        let hub = self.hard(launch, arcs, true, id);
        (0..w).map(|_| self.hard(NEVER, vec![Arc { cell: hub, net: false, ns: 0.0 }], false, id)).collect()
    }

    /// Whether a registered read is one of a block.
    pub fn is_block(&self, mem: MemId) -> bool {
        let memory = &self.m.mems[mem.0 as usize];
        match memory.style {
            MemStyle::Block | MemStyle::Ultra => true,
            MemStyle::Distributed => false,
            MemStyle::Auto => memory.depth > 64,
        }
    }

    /// Bits that come out of a slice without a register; `ways` lead into it.
    fn slice(&mut self, id: NodeId, launch: f64, ways: Vec<Arc>) -> Vec<u32> {
        let hub = self.hard(launch, ways, true, id);
        let out = |_| Arc { cell: hub, net: false, ns: 0.0 };
        (0..self.m.ty(id).w).map(|k| self.hard(NEVER, vec![out(k)], false, id)).collect()
    }

    fn product(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Vec<u32> {
        let operands = [self.node(a), self.node(b)].concat();
        match self.slices.products.get(&id) {
            // The register behind it is the slice's: its bits are read nowhere else.
            Some(Use::Product) => {
                let setup = self.delays.slice_setup[1];
                operands.iter().for_each(|&c| self.end(c, 1, true, setup, Label::Node(id)));
                vec![self.constants[0]; self.m.ty(id).w as usize]
            }
            Some(Use::Sum) => {
                let ns = self.delays.slice;
                let ways = operands.iter().map(|&cell| Arc { cell, net: true, ns }).collect();
                self.slice(id, NEVER, ways)
            }
            None => {
                let all = self.tree(operands, |s, x| s.gate(x));
                vec![all; self.m.ty(id).w as usize]
            }
        }
    }

    /// The bits of a sum that the adder of a slice forms, behind a product.
    fn sum_in_slice(&mut self, id: NodeId, a: NodeId, b: NodeId) -> Option<Vec<u32>> {
        let sum = self.slices.sums.get(&id)?.clone();
        let w = self.m.ty(id).w as usize;
        let [adder, _, both] = self.delays.slice_setup;
        let (mut ways, mut launch) = (vec![], NEVER);
        for (operand, node) in [(sum.operands[0], a), (sum.operands[1], b)] {
            match operand {
                Operand::Inside => launch = self.delays.slice,
                Operand::Product(p) => {
                    let Op::Bin(_, x, y) = self.m.node(p).op else { continue };
                    ways.extend([self.node(x), self.node(y)].concat().into_iter().map(|c| (c, true, both)));
                }
                Operand::Cascade => ways.extend(self.node(node).into_iter().map(|c| (c, false, adder))),
                Operand::Routed => ways.extend(self.node(node).into_iter().map(|c| (c, true, adder))),
            }
        }
        if sum.is_registered {
            ways.into_iter().for_each(|(c, net, ns)| self.end(c, 1, net, ns, Label::Node(id)));
            return Some(vec![self.constants[0]; w]);
        }
        let ns = self.delays.slice;
        let ways = ways.into_iter().map(|(cell, net, _)| Arc { cell, net, ns }).collect();
        Some(self.slice(id, launch, ways))
    }
}
