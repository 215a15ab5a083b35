//! The cost of the PEs (`templates::pe`).
//!
//! Problem: all PEs are one module, but synthesis removes from each instance what it does not need, and it merges an
//! adder into the DSP slice of a product or a multiplexer into the LUT of another one. The sum over nodes must follow.
//!
//! Terms:
//! - *operator*: a row of `array::operators`. Its cost depends on widths and on the registers the schedule gives it.
//! - *tap*: a node is read in several cycles after it is ready. Each such cycle is a tap of the line of registers
//!   behind the node.
//! - *field*: a value that travels with the waves and is computed once per wave outside of the array ([`Field`]).
//! - *delay element*: a chain of registers or a memory that holds values of earlier waves (`array::contract::delay`).
//!
//! Method: one walk over the nodes that some PE needs ([`crate::needed`]) collects the taps of every node and field.
//! The cost is then the sum over the nodes of (operator + line behind it) × PEs that need it, plus multiplexers × PEs
//! in which they choose, memories × PEs that read them, and lines of fields × PEs that they pass.
//!
//! Example: `acc = past(acc) + a * b` on 16-bit integers in a 4 × 4 array. The product is one DSP slice. The sum is in
//! the slice's adder ([`Part::in_slice`]) and its register is the delay element, so both cost nothing. `a` and `b` are
//! passed on to the next PE one hop later: one register of 16 bits each, in the 12 PEs that have a neighbour. The PEs
//! take 16 slices and 2 × 12 × 16 = 384 flip-flops, beside the fields.
//!
//! [`least`] uses the same walk for a lower bound that holds in any schedule of the nodes.

use crate::control::Field;
use crate::multiplexers;
use crate::needed;
use crate::needed::Needed;
use array::contract::delay::{cleared, Cleared, Wait};
use array::contract::memory::in_luts;
use array::contract::operand::{digits, effective_type, fixed_nodes, is_fixed, live_nodes, operand_source, travels};
use array::contract::packed::looked_at;
use array::contract::timing::collect_time;
use array::operators::{self, Operator, Shape};
use array::resources::{bits_of, line, line_of_waves, memory, Resources};
use array::vsa::{Delay, Node, NodeId, Op, Vsa};
use scop::{BinaryOp, ScalarType};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{interval, Condition, Form};
use uniform::sizes::Formula;

/// The cost of all PEs, and the fields that they read.
pub(super) struct Pes {
    pub cost: Resources,
    /// Registers in front of the array: a field enters it when a PE first reads it.
    pub entry: Resources,
    pub fields: Vec<Field>,
}

pub(super) fn pes(vsa: &Vsa) -> Pes {
    let needed = needed::needed(vsa);
    let part = Part::new(vsa, &needed);
    let node = |n: usize| {
        let id = NodeId(n as u32);
        let chosen = part.multiplexer(id) * needed.choosing(vsa, id, part.around(id));
        part.node(id) * needed.count[n] + chosen + part.memory(id) * needed.ports[n]
    };
    let nodes: Resources = (0..vsa.nodes.len()).filter(|&n| needed.count[n] > 0 || needed.ports[n] > 0).map(node).sum();
    let passed: Resources = needed
        .passed
        .iter()
        .enumerate()
        .flat_map(|(n, all)| all.iter().map(move |(&cycles, &pes)| (n, cycles, pes)))
        .map(|(n, cycles, pes)| part.passed(n, cycles) * pes)
        .sum();
    let cost = nodes + passed + part.control();
    let entry = part
        .fields
        .iter()
        .map(|(field, reads)| line_of_waves(reads.keys().next().copied(), part.width(field), vsa.fabric))
        .sum();
    Pes { cost, entry, fields: part.fields.into_keys().collect() }
}

/// Operators of one kind in an array's PEs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operators {
    /// As `div`, and the type of its result.
    pub kind: String,
    pub ty: ScalarType,
    /// In all PEs.
    pub count: i64,
    /// Of all of them, without registers behind them and multiplexers before them.
    pub cost: Resources,
}

/// The operators of the PEs that compute values: not those that choose, count and hold them.
pub(super) fn operators_of(vsa: &Vsa) -> Vec<Operators> {
    let needed = needed::needed(vsa);
    let part = Part::new(vsa, &needed);
    let kind = |op: &Op| match op {
        Op::Unary(op, _) => Some(format!("{op:?}")),
        Op::Binary(op, ..) => Some(format!("{op:?}")),
        Op::Cast(_) => Some("cast".into()),
        Op::Fma(..) => Some("fma".into()),
        Op::Dot { .. } => Some("dot".into()),
        _ => None,
    };
    let mut all: Vec<Operators> = vec![];
    for (n, node) in vsa.nodes.iter().enumerate().filter(|(n, _)| needed.count[*n] > 0) {
        let Some(kind) = kind(&node.op) else { continue };
        let (kind, cost, count) = (kind.to_lowercase(), part.operator(NodeId(n as u32)), needed.count[n]);
        match all.iter_mut().find(|of| (&of.kind, of.ty) == (&kind, node.ty)) {
            Some(of) => (of.count, of.cost) = (of.count + count, of.cost + cost * count),
            None => all.push(Operators { kind, ty: node.ty, count, cost: cost * count }),
        }
    }
    all
}

/// The PEs that need something.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Places {
    /// PEs that execute one of these statements,
    pub statements: BTreeSet<usize>,
    /// without the first or the last PEs along these axes.
    pub but: [bool; 2],
}

/// Something per PE, by the PEs that have it.
pub type ByPlaces<T> = Vec<(Places, T)>;

/// Lower bound on what a PE takes in any schedule of these nodes: products, and operators that no DSP slice takes in. A
/// node counts if all PEs that execute one of its statements need it, or all of them but some at a border.
/// `places`: how many PEs execute one of these statements. `cases`: the statements of each class of phases, if there are
/// any. Parts of a program that are in no phase together may share operators, and a larger array may share more than this
/// one ([`spare`]).
pub(super) fn least(vsa: &Vsa, places: impl Fn(&BTreeSet<usize>) -> i64, cases: &[&[usize]]) -> ByPlaces<Resources> {
    let needed = needed::needed(vsa);
    let part = Part::new(vsa, &needed);
    let product = |o: NodeId| matches!(vsa.node(o).op, Op::Binary(BinaryOp::Mul, ..));
    let cost = |id: NodeId| {
        let node = vsa.node(id);
        if node.ty.is_float() || node.op.operands().iter().any(|&o| vsa.node(o).ty.is_float()) {
            return if matches!(node.op, Op::Select(..) | Op::Past { .. }) {
                Resources::default()
            } else {
                Resources { ff: 0, ..part.operator(id) }
            };
        }
        match node.op {
            Op::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) if product(a) || product(b) => Resources::default(),
            Op::Binary(BinaryOp::Mul, ..) => Resources { dsp: part.row(id).dsp, ..Resources::default() },
            Op::Binary(..) => Resources::lut(part.row(id).lut),
            _ => Resources::default(),
        }
    };
    let users = users(vsa);
    let spare = spare(vsa, &users, cases);
    let mut parts: BTreeMap<Places, Resources> = BTreeMap::new();
    for (n, statements) in users.into_iter().enumerate().filter(|(n, _)| !spare.contains(n)) {
        let but = match needed.extent(vsa, n) {
            _ if needed.count[n] >= places(&statements) => [false; 2],
            Some(extent) if (0..2).all(|a| extent[a] + 1 >= vsa.extent[a]) => [0, 1].map(|a| extent[a] < vsa.extent[a]),
            _ => continue,
        };
        *parts.entry(Places { statements, but }).or_default() += cost(NodeId(n as u32));
    }
    parts.into_iter().collect()
}

/// Integer operators of several stages beyond those of one class of phases: of each operation, the class that has the most
/// of them. Whether an adder is in the slice of a product changes from array to array, and with it what may be shared.
/// Of floats, no array is known that shares more than a small one.
fn spare(vsa: &Vsa, users: &[BTreeSet<usize>], cases: &[&[usize]]) -> BTreeSet<usize> {
    if cases.len() < 2 {
        return BTreeSet::new();
    }
    let mut kinds: Vec<(Op, Vec<usize>)> = vec![];
    let is_long = |n: usize| operators::node_latency(&vsa.nodes, NodeId(n as u32), vsa.fabric) >= 2;
    for (n, node) in vsa.nodes.iter().enumerate().filter(|(n, node)| !node.ty.is_float() && is_long(*n)) {
        let op = node.op.with_operands(|_| NodeId(0));
        match kinds.iter_mut().find(|(other, _)| *other == op) {
            Some((_, all)) => all.push(n),
            None => kinds.push((op, vec![n])),
        }
    }
    let beyond_one_class = |(_, all): (Op, Vec<usize>)| {
        let of = |case: &&[usize]| -> BTreeSet<usize> {
            all.iter().copied().filter(|&n| users[n].is_empty() || case.iter().any(|s| users[n].contains(s))).collect()
        };
        let most = cases.iter().map(of).max_by_key(BTreeSet::len).unwrap_or_default();
        all.into_iter().filter(move |n| !most.contains(n))
    };
    kinds.into_iter().flat_map(beyond_one_class).collect()
}

/// Per node, the statements that compute their value from it in the same wave.
fn users(vsa: &Vsa) -> Vec<BTreeSet<usize>> {
    let values = &vsa.remarks.statements;
    let mut users = vec![BTreeSet::new(); vsa.nodes.len()];
    for (&value, statements) in values {
        let (mut open, mut seen) = (vec![value], BTreeSet::new());
        while let Some(id) = open.pop() {
            // The value of another statement belongs to that statement.
            if !seen.insert(id) || id != value && values.contains_key(&id) {
                continue;
            }
            users[id.index()].extend(statements);
            if !matches!(vsa.node(id).op, Op::Past { .. }) {
                open.extend(vsa.node(id).op.operands());
            }
        }
    }
    users
}

struct Part<'a> {
    vsa: &'a Vsa,
    needed: &'a Needed,
    /// Per node, when its value is read, in cycles after it is ready.
    taps: Vec<Vec<i64>>,
    /// See [`fixed_nodes`].
    fixed: Vec<bool>,
    readers: Vec<usize>,
    /// Per node, whether only multipliers read it, in the registers of their operands.
    multiplied: Vec<bool>,
    /// See [`multiplexers::folded`].
    folded: Vec<Option<NodeId>>,
    /// Sums that restart in the register behind their memory, by the node that reads the memory.
    cleared: BTreeMap<NodeId, Cleared>,
    /// Bits of each node without copies of the sign and without leading zeros.
    widths: Vec<i64>,
    /// When each field is read, and by which PEs.
    fields: BTreeMap<Field, BTreeMap<i64, needed::Places>>,
}

impl<'a> Part<'a> {
    /// A node that no PE needs reads nothing.
    fn new(vsa: &'a Vsa, needed: &'a Needed) -> Part<'a> {
        let n = vsa.nodes.len();
        let cleared = (0..n as u32).filter_map(|s| cleared(vsa, NodeId(s))).map(|c| (c.past, c)).collect();
        let mut part = Part {
            vsa,
            needed,
            taps: vec![vec![]; n],
            fixed: fixed_nodes(vsa),
            readers: vec![0; n],
            multiplied: vec![true; n],
            folded: vec![],
            cleared,
            widths: widths(vsa),
            fields: BTreeMap::new(),
        };
        let live = live_nodes(vsa);
        for id in (0..n as u32).map(NodeId).filter(|id| live[id.index()] && needed.count[id.index()] > 0) {
            part.walk(id);
        }
        for (o, group) in vsa.outputs.iter().enumerate().filter(|(o, _)| vsa.collectors_of(*o) == *o) {
            let time = collect_time(vsa, o);
            for port in &group.ports {
                let at = needed.at(port.enable);
                part.read(port.value, time, at);
                if !travels(vsa, port.enable) {
                    part.read(port.enable, time, at);
                    part.field(Field::Valid, time, at);
                }
                part.multiplied[port.value.index()] = false;
            }
        }
        part.folded = multiplexers::folded(vsa, &part.readers);
        part
    }

    /// PEs read a field. One with the same value in the whole run needs not arrive with its wave.
    fn field(&mut self, field: Field, time: i64, at: &[u64]) {
        let time = if self.is_fixed(&field) { 0 } else { time };
        self.fields
            .entry(field)
            .or_default()
            .entry(time)
            .and_modify(|all| needed::join(all, at))
            .or_insert_with(|| at.to_vec());
    }

    fn is_fixed(&self, field: &Field) -> bool {
        match field {
            Field::Guard(all) => all.iter().all(|c| is_fixed(self.vsa, &c.form)),
            Field::Time(form) => is_fixed(self.vsa, form),
            Field::Valid | Field::Pointer(..) => false,
        }
    }

    /// PEs read a node in cycle `time` after the wave's start.
    fn read(&mut self, id: NodeId, time: i64, at: &[u64]) {
        self.readers[id.index()] += 1;
        match &self.vsa.node(id).op {
            Op::Iter(form) if form.is_time_only() => self.field(Field::Time(form.clone()), time, at),
            Op::Guard(all) if all.iter().all(|c| c.form.is_time_only()) => {
                self.field(Field::Guard(all.clone()), time, at)
            }
            Op::Const(_) | Op::Scalar(_) => {}
            _ if self.fixed[id.index()] => {}
            _ => self.taps[id.index()].push(time - self.vsa.schedule.ready[id.index()]),
        }
    }

    /// What a node reads.
    fn walk(&mut self, id: NodeId) {
        let (vsa, s) = (self.vsa, &self.vsa.schedule);
        let sampled = s.ready[id.index()] - s.latency[id.index()];
        let at = self.needed.at(id);
        match &vsa.node(id).op {
            Op::Iter(form) if !form.is_time_only() => {
                self.field(Field::Time(Form { space: [0, 0], ..form.clone() }), sampled, at)
            }
            Op::Guard(all) if !all.iter().all(|c| c.form.is_time_only()) => {
                let (time, mixed): (Vec<_>, Vec<_>) =
                    all.iter().filter(|c| self.varies(&c.form)).cloned().partition(|c| c.form.is_time_only());
                if !time.is_empty() {
                    self.field(Field::Guard(time), sampled, at);
                }
                for c in mixed {
                    self.field(Field::Time(time_of(&c.form)), sampled, at);
                }
            }
            Op::Past { source, waves, .. } => {
                self.multiplied[source.index()] = false;
                self.past(id, *source, waves);
            }
            op => match self.restart(id).map(|c| (c.condition, c.read)) {
                Some((condition, read)) => self.read(condition, read, at),
                None => op.operands().into_iter().enumerate().for_each(|(k, o)| {
                    let source = operand_source(vsa, id, k, o).0;
                    self.multiplied[source.index()] &= self.registers_operands(id);
                    self.read(source, sampled, at);
                }),
            },
        }
    }

    fn past(&mut self, id: NodeId, source: NodeId, waves: &Formula) {
        let (waves, lag) = (self.vsa.most(waves), self.vsa.varying_delay(waves));
        let Some(wait) = Wait::of(self.vsa, id) else { return };
        let at = self.needed.source_at(id);
        match self.vsa.schedule.delays.get(&id) {
            None => {
                let hop = matches!(self.vsa.node(id).op, Op::Past { hop, .. } if hop != [0, 0]);
                self.read(source, wait.ready + wait.registers(None) + i64::from(hop), at);
            }
            Some(Delay::Chain) => self.field(Field::Valid, wait.shift(), at),
            Some(Delay::Memory { read, .. }) => {
                self.read(source, wait.ready, at);
                self.field(Field::Valid, wait.ready, at);
                self.field(Field::Pointer(waves, lag), *read, at);
                let hop = self.vsa.schedule.longest_hop();
                if wait.ready - read <= hop {
                    self.field(Field::Pointer(waves, lag), wait.ready, at);
                } else {
                    // The write has a pointer of its own, later than the read's.
                    self.field(Field::Pointer(-waves, lag), wait.ready, at);
                }
            }
        }
    }

    /// The sum that this multiplexer restarts, if it does so in a memory's register. Nothing else reads that memory.
    fn restart(&self, id: NodeId) -> Option<&Cleared> {
        let Op::Select(_, a, b) = self.vsa.node(id).op else { return None };
        self.cleared.get(&a).or(self.cleared.get(&b))
    }

    /// The memory of the sum that this multiplexer restarts stands in LUTs.
    fn restarts_in_luts(&self, id: NodeId) -> bool {
        self.restart(id).is_some_and(|c| match &self.vsa.node(c.past).op {
            Op::Past { waves, .. } => in_luts(self.vsa.most(waves)),
            _ => false,
        })
    }

    fn constant(&self, id: NodeId) -> bool {
        matches!(self.vsa.node(id).op, Op::Const(_))
    }

    fn varies(&self, form: &Form) -> bool {
        form.counters.iter().zip(&self.vsa.counters).any(|(&a, c)| a != 0 && c.trip > 1)
    }

    fn width(&self, field: &Field) -> i64 {
        match field {
            Field::Valid | Field::Guard(_) => 1,
            Field::Time(form) => {
                let terms = form.counters.iter().zip(&self.vsa.counters).map(|(&a, c)| (a, 0, c.trip - 1));
                let (low, high) = interval(form.constant, terms);
                bits_of((high - low + 1) as i64)
            }
            Field::Pointer(depth, _) => bits_of(depth.abs()),
        }
    }

    /// A field enters the array when the first PE reads it, and travels to the PEs that read it.
    fn control(&self) -> Resources {
        let one = |(field, reads)| {
            let width = self.width(field);
            self.needed
                .along(self.vsa, reads)
                .into_iter()
                .map(|(taps, pes)| line_of_waves(taps, width, self.vsa.fabric) * pes)
                .sum::<Resources>()
        };
        self.fields.iter().map(one).sum()
    }

    /// Registers of a PE that passes an input on to a neighbour, beyond those that delay it for the PE itself.
    fn passed(&self, n: usize, cycles: i64) -> Resources {
        let bits = i64::from(self.vsa.nodes[n].ty.bits());
        let taps = || self.taps[n].iter().copied();
        line_of_waves(taps().chain([cycles]), bits, self.vsa.fabric) - line_of_waves(taps(), bits, self.vsa.fabric)
    }

    /// The operator with the line of registers behind it.
    fn node(&self, id: NodeId) -> Resources {
        line_of_waves(self.taps[id.index()].iter().copied(), self.widths[id.index()], self.vsa.fabric)
            + self.operator(id)
    }

    /// LUTs of a multiplexer that is in no other multiplexer's LUT.
    fn multiplexer(&self, id: NodeId) -> Resources {
        match self.vsa.node(id).op {
            Op::Select(..) if self.restart(id).is_some() || self.restarts(id) || self.zeroes(id) => {
                Resources::default()
            }
            Op::Select(_, a, b) if self.constant(a) && self.constant(b) => Resources::lut(1),
            Op::Select(..) => Resources { ff: 0, ..self.row(id) },
            _ => Resources::default(),
        }
    }

    /// The multiplexers whose LUT contains this one, from the nearest on.
    fn around(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.folded[id.index()], |n| self.folded[n.index()])
    }

    /// The node without the registers behind it and without the LUTs of a multiplexer.
    fn operator(&self, id: NodeId) -> Resources {
        let (bits, latency) = (self.widths[id.index()], self.vsa.schedule.latency[id.index()]);
        match &self.vsa.node(id).op {
            Op::Past { source, hop, waves } => self.delay(id, *source, *hop, self.vsa.most(waves)),
            Op::Iter(form) if !form.is_time_only() => Resources::logic(bits, bits * latency),
            Op::Guard(all) => self.guard(all, latency),
            // The register is flip-flops, or the output of the block RAM.
            Op::Select(..) if self.restart(id).is_some() => Resources::ff(bits * i64::from(self.restarts_in_luts(id))),
            // Its value is the condition, or the inverted condition.
            Op::Select(_, a, b) if self.constant(*a) && self.constant(*b) => Resources::ff(latency),
            Op::Select(..) if self.restarts(id) => Resources::default(),
            Op::Select(..) => Resources { lut: 0, ..self.row(id) },
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) if self.in_slice(id, *op, [*a, *b]) => {
                Resources::default()
            }
            Op::Binary(BinaryOp::Add, ..) if self.carries(id) => Resources::default(),
            // The sign.
            Op::Binary(BinaryOp::Lt, a, b) if matches!(self.vsa.node(*b).op, Op::Const(0)) && self.signed(*a) => {
                Resources::ff(latency)
            }
            _ => self.row(id),
        }
    }

    fn signed(&self, id: NodeId) -> bool {
        let ty = self.vsa.node(id).ty;
        !ty.is_float() && ty.signed()
    }

    /// A single bit is added in front of another adder, which takes it as its carry; each takes one.
    fn carries(&self, id: NodeId) -> bool {
        let (vsa, latency) = (self.vsa, &self.vsa.schedule.latency);
        let bit = |n: &NodeId| matches!(vsa.node(*n).op, Op::Cast(b) if vsa.node(b).ty == ScalarType::BOOL);
        let adds = |id: NodeId| matches!(vsa.node(id).op, Op::Binary(BinaryOp::Add, a, b) if bit(&a) || bit(&b));
        let taken = |n: &NodeId| adds(*n) && latency[n.index()] == 0 && self.readers[n.index()] == 1;
        let reads = |node: &Node| match node.op {
            Op::Binary(BinaryOp::Add, a, b) if a == id || b == id => !(taken(&a) && taken(&b)) || a == id,
            _ => false,
        };
        taken(&id) && vsa.nodes.iter().any(reads)
    }

    /// What the operator's row says; nothing for a node that is no operator.
    fn row(&self, id: NodeId) -> Resources {
        let (vsa, node) = (self.vsa, self.vsa.node(id));
        let ends = match node.op {
            Op::Unary(_, a) | Op::Cast(a) | Op::Lookup(_, a) | Op::Spread(a, _) | Op::Field(a, _) => [a, a],
            Op::Join { ref integers, .. } => [integers[0]; 2],
            Op::Binary(_, a, b) | Op::Select(_, a, b) | Op::Fma(a, b, _) => [a, b],
            Op::Dot { addend, .. } => [addend, addend],
            _ => return Resources::default(),
        };
        let Some(operator) = Operator::of(&node.op, node.ty, vsa.node(ends[0]).ty) else { return Resources::default() };
        let multiplies = matches!(operator, Operator::Multiply | Operator::MultiplyAdd);
        let digits = |n: NodeId| match vsa.node(n).op {
            Op::Const(c) => digits(c, node.ty.bits()).map(|all| all.len() as i64),
            _ => None,
        };
        (operator.row().cost)(&Shape {
            result: node.ty,
            bits: self.widths[id.index()],
            operands: ends.map(|n| if multiplies { self.factor(n) } else { self.widths[n.index()] }),
            widest: ends.map(|n| i64::from(vsa.node(n).ty.bits())).into_iter().max().unwrap_or(0),
            constant: ends.map(|n| self.constant(n)),
            digits: ends.into_iter().filter(|_| operator == Operator::Multiply).find_map(digits),
            pairs: match node.op {
                Op::Dot { ref pairs, .. } => pairs.len() as i64,
                // A LUT has six inputs, further ones five.
                Op::Field(_, field) => (i64::from(looked_at(field).unwrap_or(0)) + 3) / 5,
                _ => 0,
            },
            table: if let Op::Lookup(table, _) = &node.op { &table[..] } else { &[] },
            latency: vsa.schedule.latency[id.index()],
            fabric: vsa.fabric,
        })
    }

    /// Bits of a factor as a signed operand of a DSP slice.
    fn factor(&self, n: NodeId) -> i64 {
        let ty = effective_type(&self.vsa.nodes, n);
        let signed = if self.vsa.node(n).ty.signed() { self.widths[n.index()] } else { i64::MAX };
        signed.min(i64::from(ty.bits() + u32::from(!ty.signed())))
    }

    /// Comparisons with a constant of the PE, and their conjunction.
    fn guard(&self, all: &[Condition], latency: i64) -> Resources {
        if all.iter().all(|c| c.form.is_time_only()) {
            return Resources::default();
        }
        let compared = all.iter().filter(|c| self.varies(&c.form) && !c.form.is_time_only());
        let lut: i64 = compared.map(|c| self.width(&Field::Time(time_of(&c.form))) + 2).sum();
        Resources::logic(lut + 1, latency)
    }

    /// A sum in a DSP slice restarts with a constant: the slice chooses between the constant and its own register.
    fn restarts(&self, id: NodeId) -> bool {
        let vsa = self.vsa;
        let Op::Select(_, a, b) = vsa.node(id).op else { return false };
        let past = if self.constant(a) { b } else { a };
        let Op::Past { source, hop: [0, 0], waves: Formula::Const(1) } = vsa.node(past).op else { return false };
        let alone =
            self.readers[id.index()] == 1 && self.readers[past.index()] == 1 && vsa.schedule.latency[id.index()] == 0;
        let accumulates = match vsa.node(source).op {
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) => {
                (x == id || y == id) && self.in_slice(source, op, [x, y])
            }
            _ => false,
        };
        alone
            && accumulates
            && (self.constant(a) || self.constant(b))
            && vsa.schedule.delays.get(&past) == Some(&Delay::Chain)
    }

    /// A multiplication of variables whose operands enter registers first.
    fn registers_operands(&self, id: NodeId) -> bool {
        let node = self.vsa.node(id);
        match node.op {
            Op::Binary(BinaryOp::Mul, a, b) => {
                !node.ty.is_float()
                    && self.vsa.schedule.latency[id.index()] >= 2
                    && !self.constant(a)
                    && !self.constant(b)
            }
            _ => false,
        }
    }

    /// An operand of multiplications that a condition zeroes: the reset of the operand's register does so.
    fn zeroes(&self, id: NodeId) -> bool {
        let Op::Select(_, _, zero) = self.vsa.node(id).op else { return false };
        let resets = matches!(self.vsa.node(zero).op, Op::Const(0)) && self.vsa.schedule.latency[id.index()] == 0;
        resets && self.multiplied[id.index()] && self.readers[id.index()] > 0
    }

    /// The delay element behind a source and the registers after it. All readers of a source share one chain: each adds
    /// the registers beyond those of the next shorter delay.
    fn delay(&self, id: NodeId, source: NodeId, hop: [i64; 2], waves: i64) -> Resources {
        let vsa = self.vsa;
        let Some(wait) = Wait::of(vsa, id) else { return Resources::default() };
        if matches!(vsa.node(source).op, Op::Const(_)) {
            return Resources::default();
        }
        let bits = i64::from(vsa.node(source).ty.bits());
        let element = vsa.schedule.delays.get(&id).copied();
        let taken = wait.registers(element) + i64::from(hop != [0, 0]);
        // What the next PE takes waits in registers of its own, behind those of what crosses a cut.
        let back = line([vsa.schedule.back(hop)], bits, vsa.fabric);
        let after = line([taken], bits, vsa.fabric) + back;
        let others = || {
            vsa.schedule.delays.iter().filter_map(|(&other, &delay)| match &vsa.node(other).op {
                Op::Past { source: s, waves, .. } if *s == source && other != id => {
                    Some((other, delay, vsa.most(waves)))
                }
                _ => None,
            })
        };
        match element {
            Some(Delay::Chain) => {
                let before = others()
                    .filter(|&(other, delay, w)| delay == Delay::Chain && (w, other) < (waves, id))
                    .map(|o| o.2)
                    .max();
                // The chain's first register is the last register of the source.
                after + line([waves - before.unwrap_or(i64::from(wait.latency > 0))], bits, vsa.fabric)
            }
            Some(Delay::Memory { .. }) => after,
            None => back,
        }
    }

    /// A read port of the memory behind a source. Each further port is a copy of the memory. Block RAM has the register
    /// of its word inside.
    fn memory(&self, id: NodeId) -> Resources {
        let vsa = self.vsa;
        let (Op::Past { source, waves, .. }, Some(Delay::Memory { synchronous, .. })) =
            (&vsa.node(id).op, vsa.schedule.delays.get(&id))
        else {
            return Resources::default();
        };
        if matches!(vsa.node(*source).op, Op::Const(_)) {
            return Resources::default();
        }
        let bits = i64::from(vsa.node(*source).ty.bits());
        let waves = vsa.most(waves);
        let registered = *synchronous && in_luts(waves) && !self.cleared.contains_key(&id);
        memory(waves, bits, vsa.device()) + Resources::ff(bits * i64::from(registered))
    }

    /// The adder of the slice that multiplies does the addition, in its register.
    fn in_slice(&self, id: NodeId, op: BinaryOp, [a, b]: [NodeId; 2]) -> bool {
        let (vsa, s) = (self.vsa, &self.vsa.schedule);
        let product = |n: NodeId| {
            let n = match vsa.node(n).op {
                Op::Cast(product) if self.readers[n.index()] == 1 && self.signed(product) => product,
                _ => n,
            };
            let at_once = s.ready[n.index()] == s.ready[id.index()] - s.latency[id.index()];
            let multiplies = matches!(vsa.node(n).op, Op::Binary(BinaryOp::Mul, ..));
            self.readers[n.index()] == 1 && at_once && multiplies && self.row(n).dsp == 1
        };
        let ty = vsa.node(id).ty;
        vsa.fabric.is_lut6() && !ty.is_float() && ty.bits() <= 48 && (product(b) || op == BinaryOp::Add && product(a))
    }
}

/// Bits of each value without copies of its sign and without leading zeros, as far as its operands tell.
fn widths(vsa: &Vsa) -> Vec<i64> {
    let mut widths: Vec<i64> = Vec::with_capacity(vsa.nodes.len());
    for (n, node) in vsa.nodes.iter().enumerate() {
        let most = i64::from(node.ty.bits());
        let of = |id: &NodeId| widths.get(id.index()).copied().unwrap_or(i64::MAX);
        let found = match &node.op {
            _ if node.ty.is_float() => most,
            Op::Const(_) => i64::from(effective_type(&vsa.nodes, NodeId(n as u32)).bits()) + 1,
            Op::Cast(a) if !vsa.node(*a).ty.is_float() => of(a).saturating_add((!vsa.node(*a).ty.signed()).into()),
            Op::Field(_, field) => field.bits.into(),
            Op::Select(_, a, b) | Op::Binary(BinaryOp::Min | BinaryOp::Max, a, b) => of(a).max(of(b)),
            Op::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => of(a).max(of(b)).saturating_add(1),
            Op::Binary(BinaryOp::Mul, a, b) if [a, b].iter().all(|n| vsa.node(**n).ty.signed()) => {
                of(a).saturating_add(of(b))
            }
            _ => most,
        };
        widths.push(found.min(most));
    }
    widths
}

/// The part of a form that varies in time.
fn time_of(form: &Form) -> Form {
    Form { constant: 0, counters: form.counters.clone(), space: [0, 0] }
}
