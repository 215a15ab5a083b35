//! What may be shared: operators of more than one stage, and the adder in the slice of a product with it.
//!
//! Operators of one stage take about as much as the multiplexers in front of a shared one.

use super::needed::{both, outcome, Conjunction, Outcome, Region};
use crate::contract::operand::{digits, effective_type};
use crate::contract::packed::{self, Part};
use crate::contract::timing::FEED_LATENCY;
use crate::draft::Lowered;
use crate::operators::{Operator, Shape};
use crate::resources::Resources;
use crate::vsa::{Node, NodeId, Op, Schedule};
use scop::{BinaryOp, ScalarType, UnaryOp};
use std::collections::BTreeSet;
use uniform::affine::Ranges;
use uniform::fabric::Fabric;

/// LUTs that a DSP slice is worth.
const SLICE: i64 = 100;
/// Conjunctions under which a multiplexer's value is taken, at most; one with more is an operand as a whole.
const MOST_PATHS: usize = 6;

/// What units have in common that may be one.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Without its operands; a difference of floats is a sum.
    op: Op,
    pub ty: ScalarType,
    /// Per port; of factors of integers the narrowest.
    pub types: Vec<ScalarType>,
    /// The adder of the same slice.
    adds: Option<(BinaryOp, ScalarType)>,
    latency: i64,
    /// The first two ports may change places.
    pub commutes: bool,
    /// Per port, the parts of joined integers, where units with others are told apart: fields have bits for these.
    parts: Vec<Option<Vec<Part>>>,
}

/// An operator, or two in one slice: the product first, then the sum.
#[derive(Clone, Debug)]
pub struct Unit {
    pub nodes: Vec<NodeId>,
    /// Index into the list of classes.
    pub class: usize,
    pub ports: Vec<Vec<Leaf>>,
    /// Per port, the cycle in which it takes its value, at the latest.
    pub taken: Vec<i64>,
    /// The box of PEs in which some wave needs it: least and greatest coordinates.
    pub pes: [(i64, i64); 2],
    /// LUTs that the operator is worth.
    pub weight: i64,
}

/// Inputs of a LUT.
const INPUTS: usize = 6;
/// Inputs of a multiplexer between two registers: two levels of LUTs.
const MOST_EARLY: usize = 31;

/// The multiplexer in front of a port.
pub enum Mux {
    /// One LUT.
    Single,
    /// One LUT, behind a register with a LUT for the values that are there a cycle earlier.
    Early,
}

/// The multiplexer for so many values, of which some are constants and some are there a cycle earlier; `None` for too
/// many of them. Each value but one has a condition; constants reset.
fn mux(values: usize, constants: usize, early: usize, most: usize) -> Option<Mux> {
    let inputs = |values: usize, constants: usize| 2 * values - constants - usize::from(values > 0);
    if inputs(values, constants) <= INPUTS {
        return Some(Mux::Single);
    }
    let late = values - early + 1;
    (early > 1 && inputs(late, constants) <= INPUTS && inputs(early, 0) <= most).then_some(Mux::Early)
}

impl Unit {
    /// The node whose value others read.
    pub fn value(&self) -> NodeId {
        self.nodes[self.nodes.len() - 1]
    }
}

/// One value that a port takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    pub node: NodeId,
    /// Its sign is changed.
    pub negated: bool,
    pub when: Region,
}

/// Which values may be selected a cycle before a port takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    Nothing,
    /// Those of inputs.
    Inputs,
    /// Those of [`Units::waits`].
    WhatWaits,
}

pub struct Units {
    pub early: Early,
    pub classes: Vec<Class>,
    pub list: Vec<Unit>,
    /// Per unit: values that can be there a cycle earlier, if the unit may wait.
    pub waits: Vec<BTreeSet<NodeId>>,
}

impl Units {
    /// The value may be selected a cycle before the port takes it.
    pub fn is_early(&self, lowered: &Lowered, unit: usize, leaf: &Leaf, taken: i64) -> bool {
        let there = match self.early {
            Early::Nothing => false,
            Early::Inputs => matches!(lowered.nodes[leaf.node.index()].op, Op::Input { .. }) && taken > FEED_LATENCY,
            Early::WhatWaits => {
                let constant = matches!(lowered.nodes[leaf.node.index()].op, Op::Const(_));
                !constant && self.waits[unit].contains(&leaf.node)
            }
        };
        there && (!leaf.negated || self.early == Early::WhatWaits)
    }

    /// The multiplexer in front of a port, see [`mux`].
    pub fn mux(&self, values: usize, constants: usize, early: usize) -> Option<Mux> {
        mux(values, constants, early, if self.early == Early::WhatWaits { MOST_EARLY } else { INPUTS + 1 })
    }
}

/// Which products of joined integers may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joined {
    /// All, whatever their integers are.
    Any,
    /// Those of integers of the same ranges at the same places.
    Alike,
}

/// The nodes that some wave needs and that may be shared, in the order of their schedule.
pub fn find(
    lowered: &Lowered,
    schedule: &Schedule,
    ranges: &Ranges,
    (regions, built): (&[Region], &[bool]),
    joined: Joined,
) -> Units {
    let muxes = lowered.muxes.iter().copied().collect();
    let parts = if joined == Joined::Alike { packed::parts(&lowered.nodes) } else { vec![] };
    let finder = Finder { lowered, schedule, ranges, regions, readers: readers(lowered, built), muxes, parts };
    let mut units = Units { early: Early::Inputs, classes: vec![], list: vec![], waits: vec![] };
    let mut nodes: Vec<NodeId> =
        (0..lowered.nodes.len() as u32).map(NodeId).filter(|n| !regions[n.index()].is_empty()).collect();
    nodes.sort_by_key(|n| (schedule.ready[n.index()], *n));
    for id in nodes {
        let Some((class, unit)) = finder.unit(id) else { continue };
        let index = units.classes.iter().position(|c| *c == class).unwrap_or_else(|| {
            units.classes.push(class);
            units.classes.len() - 1
        });
        units.list.push(Unit { class: index, ..unit });
    }
    units
}

/// Per node, the nodes and ports that read it. `built`: nodes that an output is computed from.
fn readers(lowered: &Lowered, built: &[bool]) -> Vec<Vec<NodeId>> {
    let mut readers = vec![vec![]; lowered.nodes.len()];
    for (n, node) in lowered.nodes.iter().enumerate().filter(|(n, _)| built[*n]) {
        node.op.sources().into_iter().for_each(|s| readers[s.index()].push(NodeId(n as u32)));
    }
    for port in lowered.outputs.iter().flat_map(|group| &group.ports) {
        // An output is no node: its value has a reader that is not alone.
        [port.value, port.value, port.enable].into_iter().for_each(|s| readers[s.index()].push(s));
    }
    readers
}

struct Finder<'a> {
    lowered: &'a Lowered,
    schedule: &'a Schedule,
    ranges: &'a Ranges,
    regions: &'a [Region],
    readers: Vec<Vec<NodeId>>,
    muxes: BTreeSet<NodeId>,
    /// Per node; empty where they do not matter.
    parts: Vec<Option<Vec<Part>>>,
}

impl Finder<'_> {
    fn node(&self, id: NodeId) -> &Node {
        &self.lowered.nodes[id.index()]
    }

    fn unit(&self, id: NodeId) -> Option<(Class, Unit)> {
        let Node { op, ty, .. } = self.node(id);
        let latency = self.schedule.latency[id.index()];
        let operands = op.operands();
        let first = self.node(*operands.first()?).ty;
        let operator = Operator::of(op, *ty, first)?;
        if latency < 2 || matches!(operator, Operator::Lookup | Operator::Select | Operator::Convert) {
            return None;
        }
        let multiplies = operator == Operator::Multiply;
        if multiplies && !self.is_product(id) {
            return None;
        }
        let negates = ty.is_float() && matches!(op, Op::Binary(BinaryOp::Sub, ..));
        let plain = match op {
            Op::Binary(BinaryOp::Sub, a, b) if negates => Op::Binary(BinaryOp::Add, *a, *b),
            op => op.clone(),
        };
        let factors = multiplies || operator == Operator::MultiplyAdd;
        let mut ports: Vec<Vec<Leaf>> = vec![];
        let mut types: Vec<ScalarType> = vec![];
        for (k, &operand) in operands.iter().enumerate() {
            let (from, ty) =
                if factors && k < 2 { narrow(&self.lowered.nodes, operand) } else { (operand, self.node(operand).ty) };
            ports.push(self.leaves(from, negates && k == 1));
            types.push(ty);
        }
        let commutes = matches!(plain, Op::Binary(BinaryOp::Add | BinaryOp::Mul, ..));
        if commutes && order(types[0]) < order(types[1]) {
            types.swap(0, 1);
            ports.swap(0, 1);
        }
        // A wide factor does not fit the port of a narrow one.
        let commutes = commutes && types[0] == types[1];
        let mut taken = vec![self.schedule.ready[id.index()] - latency; ports.len()];
        let mut nodes = vec![id];
        let mut weight = self.weight(id, operator, &types, *ty);
        let mut adds = None;
        if let Some((sum, op, addend)) = self.slice(id).filter(|_| multiplies) {
            // Sums without a register could read each other in a circle that no time tells.
            if self.schedule.latency[sum.index()] == 0 {
                return None;
            }
            let ty = self.node(sum).ty;
            nodes.push(sum);
            ports.push(self.leaves(addend, false));
            types.push(ty);
            taken.push(self.schedule.ready[sum.index()] - self.schedule.latency[sum.index()]);
            adds = Some((op, ty));
            weight += i64::from(ty.bits());
        }
        let parts = self.parts_of(&nodes);
        let class = Class { op: plain.with_operands(|_| NodeId(0)), ty: *ty, types, adds, latency, commutes, parts };
        Some((class, Unit { nodes, class: 0, ports, taken, pes: self.pes(id), weight }))
    }

    /// The parts of all operands, if one of them is joined integers.
    fn parts_of(&self, unit: &[NodeId]) -> Vec<Option<Vec<Part>>> {
        let operands = unit.iter().flat_map(|n| self.node(*n).op.operands());
        let parts: Vec<_> = operands.filter_map(|n| self.parts.get(n.index()).cloned()).collect();
        let joined = parts.iter().flatten().any(|parts| parts.len() > 1);
        if joined {
            parts
        } else {
            vec![]
        }
    }

    /// A multiplier that is not made of sums of a few digits.
    fn is_product(&self, id: NodeId) -> bool {
        let Node { op, ty, .. } = self.node(id);
        let is_digits = |n: &NodeId| match self.node(*n).op {
            Op::Const(c) => digits(c, ty.bits()).is_some(),
            _ => false,
        };
        let operands = op.operands();
        let multiplies = operands
            .first()
            .is_some_and(|first| Operator::of(op, *ty, self.node(*first).ty) == Some(Operator::Multiply));
        multiplies && self.schedule.latency[id.index()] >= 2 && !operands.iter().any(is_digits)
    }

    /// The sum that the slice of a product computes: its only reader. With the other operand. Of two products in a sum, the
    /// second one has it in its slice.
    fn slice(&self, product: NodeId) -> Option<(NodeId, BinaryOp, NodeId)> {
        let [sum] = self.readers[product.index()][..] else { return None };
        let s = self.schedule;
        let at_once = |n: NodeId| s.ready[n.index()] == s.ready[sum.index()] - s.latency[sum.index()];
        let ty = self.node(sum).ty;
        match self.node(sum).op {
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b)
                if at_once(product) && !ty.is_float() && ty.bits() <= 48 && a != b =>
            {
                let second = |n: NodeId| self.readers[n.index()].len() == 1 && at_once(n) && self.is_product(n);
                let is_free = |n: NodeId| op == BinaryOp::Add && !second(n);
                (b == product).then_some((sum, op, a)).or(is_free(b).then_some((sum, op, b)))
            }
            _ => None,
        }
    }

    /// The box of PEs in which some wave needs a node.
    fn pes(&self, id: NodeId) -> [(i64, i64); 2] {
        let time = self.ranges.counters.len();
        let around = |a: (i64, i64), b: (i64, i64)| (a.0.min(b.0), a.1.max(b.1));
        let boxes = self.regions[id.index()].iter().filter_map(|all| self.ranges.narrowed(all));
        let boxes = boxes.map(|bounds| [bounds[time], bounds[time + 1]]);
        boxes.reduce(|a, b| [around(a[0], b[0]), around(a[1], b[1])]).unwrap_or_default()
    }

    fn weight(&self, id: NodeId, operator: Operator, types: &[ScalarType], result: ScalarType) -> i64 {
        let node = self.node(id);
        let bits = |ty: &ScalarType| i64::from(ty.bits() + u32::from(!ty.is_float() && !ty.signed()));
        let shape = Shape {
            result,
            bits: result.bits().into(),
            operands: [bits(&types[0]), bits(types.get(1).unwrap_or(&types[0]))],
            widest: types.iter().map(|ty| i64::from(ty.bits())).max().unwrap_or(0),
            constant: [false; 2],
            digits: None,
            pairs: if let Op::Dot { pairs, .. } = &node.op { pairs.len() as i64 } else { 0 },
            table: &[],
            latency: self.schedule.latency[id.index()],
            // Weights are compared with each other only.
            fabric: Fabric::default(),
        };
        let Resources { lut, dsp, .. } = (operator.row().cost)(&shape);
        lut + SLICE * dsp
    }

    /// The values that an operand is selected from, each with where it is.
    fn leaves(&self, operand: NodeId, negated: bool) -> Vec<Leaf> {
        let mut found: Vec<Leaf> = vec![];
        let mut open: Vec<(NodeId, Region)> = vec![(operand, vec![vec![]])];
        while let Some((node, when)) = open.pop() {
            let parts = match self.node(node).op {
                Op::Select(c, a, b) if self.muxes.contains(&node) && self.readers[node.index()].len() == 1 => {
                    let Outcome { holds, fails, exact } = outcome(self.ranges, self.lowered, c);
                    let [a, b] = [(a, holds), (b, fails)].map(|(n, region)| (n, self.within(&when, &region)));
                    (exact && a.1.len() + b.1.len() <= MOST_PATHS).then_some([a, b])
                }
                _ => None,
            };
            match parts {
                Some(parts) => open.extend(parts.into_iter().filter(|part| !part.1.is_empty())),
                None => match found.iter_mut().find(|leaf| leaf.node == node) {
                    Some(leaf) => leaf.when.extend(when),
                    None => found.push(Leaf { node, negated, when }),
                },
            }
        }
        found
    }

    fn within(&self, a: &Region, b: &Region) -> Region {
        let mut all: Vec<Conjunction> =
            a.iter().flat_map(|x| b.iter().filter_map(|y| both(self.ranges, x, y))).collect();
        all.sort();
        all.dedup();
        all
    }
}

fn order(ty: ScalarType) -> (u32, bool) {
    (ty.bits(), ty.signed())
}

/// The value that a multiplier reads, and the narrowest type that holds it
/// ([`crate::contract::operand::operand_source`]).
fn narrow(nodes: &[Node], operand: NodeId) -> (NodeId, ScalarType) {
    let ty = effective_type(nodes, operand);
    let mut at = operand;
    while let Op::Cast(source) = nodes[at.index()].op {
        if effective_type(nodes, source) != ty {
            break;
        }
        at = source;
    }
    (at, ty)
}

/// The sign of a float changes.
pub fn negation(value: NodeId) -> Op {
    Op::Unary(UnaryOp::Neg, value)
}
