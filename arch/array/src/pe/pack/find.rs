//! The sums of products of a PE, and blocks of sums that share their factors.
//!
//! A *sum* is a tree of additions of one type whose inner nodes nothing else reads. Its leaves are products and other
//! addends, such as the sum of the wave before.
//!
//! A *row* is sums with a factor in common, product by product: lanes of `j` of `C[i][j] += A[i][k] * B[k][j]` share
//! `A`. Rows whose other factors are equal form a *block*: lanes of `i` as well share `B`.

use super::layout::{largest, layout, Layout, LEAST_TERMS};
use crate::contract::operand::{digits, effective_type};
use crate::contract::packed::Part;
use crate::draft::Lowered;
use crate::pe::zeroing::readers;
use crate::vsa::{Node, NodeId, Op};
use scop::value::range;
use scop::{BinaryOp, ScalarType};
use std::collections::BTreeSet;

/// A factor without the conversions that keep its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    pub node: NodeId,
    pub ty: ScalarType,
}

#[derive(Clone, Debug)]
pub struct Sum {
    pub root: NodeId,
    pub ty: ScalarType,
    /// The factors of each product.
    products: Vec<[Factor; 2]>,
    /// In the order of the program.
    pub others: Vec<NodeId>,
    /// Nodes that the sum consists of: additions, products, conversions of these.
    inner: Vec<NodeId>,
}

/// Sums that are computed together: sum `i * columns + j` of the factors `rows[i]` and `columns[j]`, term by term.
#[derive(Clone, Debug)]
pub struct Block {
    pub sums: Vec<Sum>,
    pub factors: [Vec<Vec<Factor>>; 2],
    pub layout: Layout,
}

/// Sums with the factors `shared` in common.
struct Row {
    shared: Vec<Factor>,
    members: Vec<Member>,
}

struct Member {
    sum: usize,
    /// In the order of `shared`.
    others: Vec<Factor>,
}

/// All blocks; each sum is in one of them at most. `factors`: bits of a multiplier's factors.
pub fn blocks(lowered: &Lowered, factors: [u32; 2]) -> Vec<Block> {
    let sums = sums(lowered);
    let mut rows = rows(&sums);
    let mut blocks = vec![];
    while !rows.is_empty() {
        let mut stack = vec![rows.remove(0)];
        while let Some((k, row)) = rows.iter().enumerate().find_map(|(k, r)| Some((k, aligned(&stack[0], r)?))) {
            rows.remove(k);
            stack.push(row);
        }
        cut(lowered, &sums, &stack, factors, &mut blocks);
    }
    blocks
}

fn sums(lowered: &Lowered) -> Vec<Sum> {
    let nodes = &lowered.nodes;
    let readers = readers(lowered);
    let adds = |id: NodeId| matches!(nodes[id.index()].op, Op::Binary(BinaryOp::Add, ..)) && !is_float(nodes, id);
    let mut inside = BTreeSet::new();
    for node in nodes.iter().enumerate().filter(|(n, _)| readers[*n] > 0).map(|(_, node)| node) {
        if let Op::Binary(BinaryOp::Add, a, b) = node.op {
            let part = |n: &NodeId| adds(*n) && readers[n.index()] == 1 && nodes[n.index()].ty == node.ty;
            inside.extend([a, b].into_iter().filter(part));
        }
    }
    let live = (0..nodes.len() as u32).map(NodeId).filter(|id| readers[id.index()] > 0);
    let roots = live.filter(|&id| adds(id) && !inside.contains(&id));
    let sum = |root: NodeId| {
        let ty = nodes[root.index()].ty;
        let mut sum = Sum { root, ty, products: vec![], others: vec![], inner: vec![] };
        collect(nodes, &readers, &inside, root, &mut sum);
        sum
    };
    roots.map(sum).filter(|sum| !sum.products.is_empty()).collect()
}

fn is_float(nodes: &[Node], id: NodeId) -> bool {
    nodes[id.index()].ty.is_float()
}

fn collect(nodes: &[Node], readers: &[usize], inside: &BTreeSet<NodeId>, id: NodeId, sum: &mut Sum) {
    if id == sum.root || inside.contains(&id) {
        sum.inner.push(id);
        for operand in nodes[id.index()].op.operands() {
            collect(nodes, readers, inside, operand, sum);
        }
    } else if let Some((factors, inner)) = product(nodes, readers, id, sum.ty) {
        sum.products.push(factors);
        sum.inner.extend(inner);
    } else {
        sum.others.push(id);
    }
}

/// The factors of a product that is added to a sum of type `ty`, and its nodes: conversions may be around it.
fn product(nodes: &[Node], readers: &[usize], id: NodeId, ty: ScalarType) -> Option<([Factor; 2], Vec<NodeId>)> {
    let (mut at, mut inner) = (id, vec![]);
    loop {
        let node = &nodes[at.index()];
        if node.ty.is_float() || node.ty == ScalarType::BOOL || readers[at.index()] != 1 {
            return None;
        }
        inner.push(at);
        match node.op {
            Op::Cast(source) => at = source,
            Op::Binary(BinaryOp::Mul, a, b) => {
                let factors = [a, b].map(|n| factor(nodes, n));
                let exact = Part::of(factors[0].ty, 0);
                let (least, most) = range(factors[1].ty);
                let corners = [least, most].map(|x| [exact.low * x, exact.high * x]).concat();
                let holds =
                    |ty: ScalarType| ty.bits() >= 1 && corners.iter().all(|x| (range(ty).0..=range(ty).1).contains(x));
                let keeps = |n: &NodeId| {
                    let own = nodes[n.index()].ty;
                    own.bits() >= ty.bits() || holds(own)
                };
                let plain = factors.iter().all(|f| match nodes[f.node.index()].op {
                    Op::Const(c) => digits(c, node.ty.bits()).is_none(),
                    _ => true,
                });
                return (plain && inner.iter().all(keeps)).then_some((factors, inner));
            }
            _ => return None,
        }
    }
}

fn factor(nodes: &[Node], operand: NodeId) -> Factor {
    let ty = effective_type(nodes, operand);
    let mut node = operand;
    while let Op::Cast(source) = nodes[node.index()].op {
        if effective_type(nodes, source) != ty {
            break;
        }
        node = source;
    }
    Factor { node, ty }
}

/// Rows of two sums and more, each sum in one row at most.
fn rows(sums: &[Sum]) -> Vec<Row> {
    let mut used = vec![false; sums.len()];
    let mut rows = vec![];
    for s in 0..sums.len() {
        if std::mem::replace(&mut used[s], true) {
            continue;
        }
        let mut row: Option<Row> = None;
        for t in s + 1..sums.len() {
            let alike = sums[t].ty == sums[s].ty && sums[t].products.len() == sums[s].products.len();
            if used[t] || !alike {
                continue;
            }
            match &mut row {
                Some(row) => {
                    let Some(others) = besides(&sums[t], &row.shared) else { continue };
                    row.members.push(Member { sum: t, others });
                }
                None => {
                    let Some((shared, others)) = common(&sums[s], &sums[t]) else { continue };
                    let [of_s, of_t] = others;
                    let members = vec![Member { sum: s, others: of_s }, Member { sum: t, others: of_t }];
                    row = Some(Row { shared, members });
                }
            }
            used[t] = true;
        }
        rows.extend(row);
    }
    rows
}

/// The factor that each product of one sum shares with one of the other sum, and the other factors of both.
fn common(s: &Sum, t: &Sum) -> Option<(Vec<Factor>, [Vec<Factor>; 2])> {
    let mut free: Vec<&[Factor; 2]> = t.products.iter().collect();
    let (mut shared, mut others) = (vec![], [vec![], vec![]]);
    for p in &s.products {
        let pairs = (0..free.len()).flat_map(|q| [(q, 0, 0), (q, 0, 1), (q, 1, 0), (q, 1, 1)]);
        let (q, a, b) = { pairs }.find(|&(q, a, b)| p[a] == free[q][b])?;
        shared.push(p[a]);
        others[0].push(p[1 - a]);
        others[1].push(free.remove(q)[1 - b]);
    }
    Some((shared, others))
}

/// The other factors of a sum whose products have these factors.
fn besides(t: &Sum, shared: &[Factor]) -> Option<Vec<Factor>> {
    let mut free: Vec<&[Factor; 2]> = t.products.iter().collect();
    let mut other = |x: &Factor| {
        let (q, b) = (0..free.len()).flat_map(|q| [(q, 0), (q, 1)]).find(|&(q, b)| free[q][b] == *x)?;
        Some(free.remove(q)[1 - b])
    };
    shared.iter().map(&mut other).collect()
}

/// The row with its terms in the order of another one, if their members' other factors are equal.
fn aligned(first: &Row, row: &Row) -> Option<Row> {
    if first.members.len() != row.members.len() {
        return None;
    }
    let mut free: Vec<usize> = (0..row.shared.len()).collect();
    let mut order = vec![];
    for k in 0..first.shared.len() {
        let equal = |q: usize| first.members.iter().zip(&row.members).all(|(a, b)| a.others[k] == b.others[q]);
        order.push(free.remove(free.iter().position(|&q| equal(q))?));
    }
    let member = |m: &Member| Member { sum: m.sum, others: order.iter().map(|&q| m.others[q]).collect() };
    let shared = order.iter().map(|&q| row.shared[q]).collect();
    Some(Row { shared, members: row.members.iter().map(member).collect() })
}

/// Blocks of as many sums as a slice has room for.
fn cut(lowered: &Lowered, sums: &[Sum], stack: &[Row], factors: [u32; 2], blocks: &mut Vec<Block>) {
    let terms = stack[0].shared.len();
    let ty = |all: &mut dyn Iterator<Item = &Factor>| all.map(|f| f.ty).reduce(wider);
    let of_rows = ty(&mut stack.iter().flat_map(|row| &row.shared));
    let of_columns = ty(&mut stack[0].members.iter().flat_map(|m| &m.others));
    let (Some(of_rows), Some(of_columns)) = (of_rows, of_columns) else { return };
    let wanted = terms.min(LEAST_TERMS);
    let fits = |m: usize, n: usize| {
        layout([of_rows, of_columns], [m as u32, n as u32], terms, factors).filter(|l| l.terms >= wanted)
    };
    let most = [stack.len(), stack[0].members.len()];
    let Some([m, n]) = largest([of_rows, of_columns], most, terms, factors) else { return };
    for rows in stack.chunks(m) {
        for first in (0..rows[0].members.len()).step_by(n) {
            let columns = first..(first + n).min(rows[0].members.len());
            let Some(layout) = fits(rows.len(), columns.len()).filter(|_| rows.len() * columns.len() > 1) else {
                continue;
            };
            let of = |row: &Row| row.members[columns.clone()].iter().map(|m| sums[m.sum].clone()).collect::<Vec<Sum>>();
            let others = rows[0].members[columns.clone()].iter().map(|m| m.others.clone()).collect();
            let block = Block {
                sums: rows.iter().flat_map(of).collect(),
                factors: [rows.iter().map(|row| row.shared.clone()).collect(), others],
                layout,
            };
            if !block.depends_on_itself(&lowered.nodes) {
                blocks.push(block);
            }
        }
    }
}

/// The narrowest type that holds the integers of both.
fn wider(a: ScalarType, b: ScalarType) -> ScalarType {
    let signed = a.signed() || b.signed();
    let bits = |ty: ScalarType| ty.bits() + u32::from(signed && !ty.signed());
    ScalarType::Int { bits: bits(a).max(bits(b)), signed }
}

impl Block {
    /// The nodes that the block replaces.
    pub fn inner(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.sums.iter().flat_map(|sum| sum.inner.iter().copied())
    }

    /// A factor is computed from one of the sums, in the same wave.
    fn depends_on_itself(&self, nodes: &[Node]) -> bool {
        let inner: BTreeSet<NodeId> = self.inner().collect();
        let mut open: Vec<NodeId> = self.factors.iter().flatten().flatten().map(|f| f.node).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if inner.contains(&id) {
                return true;
            }
            if seen.insert(id) {
                open.extend(nodes[id.index()].op.operands());
            }
        }
        false
    }
}
