//! What the PEs take: operators, delay elements, and the registers that keep a value until it is looked at
//! (`templates::pe`). Nodes count only where something needs them ([`crate::needed`]).

use crate::blocks::{bits_of, line, memory, Cost};
use crate::control::Field;
use crate::floats::float_core;
use crate::multiplexers;
use crate::needed;
use crate::needed::Needed;
use array::contract::delay::{cleared, in_luts, table_in_luts, Cleared, Wait};
use array::contract::operand::{digits, effective_type, live_nodes, operand_source, travels};
use array::contract::timing::collect_time;
use array::vsa::{Delay, Node, NodeId, Op, Vsa};
use scop::{BinaryOp, ScalarType, UnaryOp};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::{interval, Condition, Form};
use uniform::sizes::Formula;

/// What all of them take, and what brings them the fields of the waves.
pub(super) struct Pes {
    pub cost: Cost,
    /// Registers in front of the array: a field enters it when a PE first looks at it.
    pub entry: Cost,
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
    let nodes: Cost = (0..vsa.nodes.len()).filter(|&n| needed.count[n] > 0 || needed.ports[n] > 0).map(node).sum();
    let passed: Cost = needed
        .passed
        .iter()
        .enumerate()
        .flat_map(|(n, all)| all.iter().map(move |(&cycles, &pes)| (n, cycles, pes)))
        .map(|(n, cycles, pes)| part.passed(n, cycles) * pes)
        .sum();
    let cost = nodes + passed + part.control();
    let entry = part.fields.iter().map(|(field, looks)| line(looks.keys().next().copied(), part.width(field))).sum();
    Pes { cost, entry, fields: part.fields.into_keys().collect() }
}

/// Where PEs need something.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Places {
    /// Where one of these statements stands,
    pub statements: BTreeSet<usize>,
    /// but for the first or the last PEs along these axes.
    pub but: [bool; 2],
}

/// What a PE takes, by where it takes that.
pub type ByPlaces<T> = Vec<(Places, T)>;

/// What PEs take in any schedule of these nodes: products, and operators that no slice takes in. Apart by the
/// statements that need them; only nodes that are needed wherever one of the statements stands, at so many places, or
/// in all PEs but some at a border.
pub(super) fn least(vsa: &Vsa, stands: impl Fn(&BTreeSet<usize>) -> i64) -> ByPlaces<Cost> {
    let needed = needed::needed(vsa);
    let part = Part::new(vsa, &needed);
    let product = |o: NodeId| matches!(vsa.node(o).op, Op::Binary(BinaryOp::Mul, ..));
    let of = |id: NodeId| {
        let node = vsa.node(id);
        if node.ty.is_float() || node.op.operands().iter().any(|&o| vsa.node(o).ty.is_float()) {
            return if matches!(node.op, Op::Select(..) | Op::Past { .. }) {
                Cost::default()
            } else {
                Cost { ff: 0, ..part.operator(id, part.widths[id.index()], 0) }
            };
        }
        match node.op {
            Op::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) if product(a) || product(b) => Cost::default(),
            Op::Binary(BinaryOp::Mul, ..) => {
                Cost { dsp: part.operator(id, part.widths[id.index()], 0).dsp, ..Cost::default() }
            }
            Op::Binary(op, a, b) => Cost::lut(part.binary(id, op, [a, b]).lut),
            _ => Cost::default(),
        }
    };
    let mut parts: BTreeMap<Places, Cost> = BTreeMap::new();
    for (n, statements) in users(vsa).into_iter().enumerate() {
        let but = match needed.extent(vsa, n) {
            _ if needed.count[n] >= stands(&statements) => [false; 2],
            Some(extent) if (0..2).all(|a| extent[a] + 1 >= vsa.extent[a]) => [0, 1].map(|a| extent[a] < vsa.extent[a]),
            _ => continue,
        };
        let known = parts.entry(Places { statements, but }).or_default();
        *known = *known + of(NodeId(n as u32));
    }
    parts.into_iter().collect()
}

/// Per node, the statements of whose value it is a part, in the wave in which that is computed.
fn users(vsa: &Vsa) -> Vec<BTreeSet<usize>> {
    let values = &vsa.remarks.statements;
    let mut users = vec![BTreeSet::new(); vsa.nodes.len()];
    for (&value, statements) in values {
        let (mut open, mut seen) = (vec![value], BTreeSet::new());
        while let Some(id) = open.pop() {
            // Other statements' values are theirs.
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
    /// Per node, when its value is looked at, in cycles after it is ready.
    taps: Vec<Vec<i64>>,
    readers: Vec<usize>,
    /// See [`multiplexers::folded`].
    folded: Vec<Option<NodeId>>,
    /// Sums that begin anew in the register behind their memory, by that memory's read.
    cleared: BTreeMap<NodeId, Cleared>,
    /// Bits of each node that are not copies of others.
    widths: Vec<i64>,
    /// When each field is looked at, and where.
    fields: BTreeMap<Field, BTreeMap<i64, needed::Places>>,
}

impl<'a> Part<'a> {
    /// What no PE needs looks at nothing.
    fn new(vsa: &'a Vsa, needed: &'a Needed) -> Part<'a> {
        let n = vsa.nodes.len();
        let cleared = (0..n as u32).filter_map(|s| cleared(vsa, NodeId(s))).map(|c| (c.past, c)).collect();
        let mut part = Part {
            vsa,
            needed,
            taps: vec![vec![]; n],
            readers: vec![0; n],
            folded: vec![],
            cleared,
            widths: widths(vsa),
            fields: BTreeMap::new(),
        };
        let live = live_nodes(vsa);
        for id in (0..n as u32).map(NodeId).filter(|id| live[id.index()] && needed.count[id.index()] > 0) {
            part.visit(id);
        }
        for (o, group) in vsa.outputs.iter().enumerate() {
            let time = collect_time(vsa, o);
            for port in &group.ports {
                let at = needed.at(port.enable);
                part.look(port.value, time, at);
                if !travels(vsa, port.enable) {
                    part.look(port.enable, time, at);
                    part.field(Field::Valid, time, at);
                }
            }
        }
        part.folded = multiplexers::folded(vsa, &part.readers);
        part
    }

    fn field(&mut self, field: Field, time: i64, at: &[u64]) {
        self.fields
            .entry(field)
            .or_default()
            .entry(time)
            .and_modify(|all| needed::join(all, at))
            .or_insert_with(|| at.to_vec());
    }

    fn look(&mut self, id: NodeId, time: i64, at: &[u64]) {
        self.readers[id.index()] += 1;
        match &self.vsa.node(id).op {
            Op::Iter(form) if form.is_time_only() => self.field(Field::Time(form.clone()), time, at),
            Op::Guard(all) if all.iter().all(|c| c.form.is_time_only()) => {
                self.field(Field::Guard(all.clone()), time, at)
            }
            Op::Const(_) | Op::Scalar(_) => {}
            _ => self.taps[id.index()].push(time - self.vsa.schedule.ready[id.index()]),
        }
    }

    fn visit(&mut self, id: NodeId) {
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
            Op::Past { source, waves, .. } => self.past(id, *source, waves),
            op => match self.begins(id).map(|c| (c.condition, c.read)) {
                Some((condition, read)) => self.look(condition, read, at),
                None => op
                    .operands()
                    .into_iter()
                    .enumerate()
                    .for_each(|(k, o)| self.look(operand_source(vsa, id, k, o).0, sampled, at)),
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
                self.look(source, wait.ready + wait.registers(None) + i64::from(hop), at);
            }
            Some(Delay::Chain) => self.field(Field::Valid, wait.shift(), at),
            Some(Delay::Memory { read, .. }) => {
                self.look(source, wait.ready, at);
                self.field(Field::Valid, wait.ready, at);
                self.field(Field::Pointer(waves, lag), *read, at);
                let hop = self.vsa.schedule.skew.map(i64::abs).into_iter().max().unwrap_or(1).max(1);
                if wait.ready - read <= hop {
                    self.field(Field::Pointer(waves, lag), wait.ready, at);
                } else {
                    // The write's pointer comes once more, a wave's way later.
                    self.field(Field::Pointer(-waves, lag), wait.ready, at);
                }
            }
        }
    }

    /// How a multiplexer makes a sum begin anew, if it does. (Nothing else reads that memory.)
    fn begins(&self, id: NodeId) -> Option<&Cleared> {
        let Op::Select(_, a, b) = self.vsa.node(id).op else { return None };
        self.cleared.get(&a).or(self.cleared.get(&b))
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

    /// Fields enter PEs when the first one looks at them, and go on to those that want them.
    fn control(&self) -> Cost {
        let one = |(field, looks)| {
            let width = self.width(field);
            self.needed.along(self.vsa, looks).into_iter().map(|(taps, pes)| line(taps, width) * pes).sum::<Cost>()
        };
        self.fields.iter().map(one).sum()
    }

    /// What a PE that gives an input on to a neighbour has beyond what keeps it until it is looked at here.
    fn passed(&self, n: usize, cycles: i64) -> Cost {
        let bits = i64::from(self.vsa.nodes[n].ty.bits());
        let taps = || self.taps[n].iter().copied();
        line(taps().chain([cycles]), bits).less(line(taps(), bits))
    }

    fn node(&self, id: NodeId) -> Cost {
        let vsa = self.vsa;
        let bits = self.widths[id.index()];
        let latency = vsa.schedule.latency[id.index()];
        let kept = line(self.taps[id.index()].iter().copied(), bits);
        kept + self.operator(id, bits, latency)
    }

    /// LUTs that choose between two values, in a PE in which they are in no other multiplexer's.
    fn multiplexer(&self, id: NodeId) -> Cost {
        match self.vsa.node(id).op {
            Op::Select(..) if self.begins(id).is_some() || self.restarts(id) => Cost::default(),
            Op::Select(_, a, b) if self.constant(a) && self.constant(b) => Cost::lut(1),
            Op::Select(..) => Cost::lut(self.widths[id.index()]),
            _ => Cost::default(),
        }
    }

    /// The multiplexers in whose LUT this one is, from the next one on.
    fn around(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.folded[id.index()], |n| self.folded[n.index()])
    }

    /// The node without what keeps its value, and chooses it.
    fn operator(&self, id: NodeId, bits: i64, latency: i64) -> Cost {
        let (vsa, node) = (self.vsa, self.vsa.node(id));
        if let Some(core) = float_core(vsa, node) {
            let widest = i64::from(node.ty.bits()).max(operand_bits(vsa, node));
            return Cost { dsp: core.dsp, lut: core.lut * widest, ff: core.ff * widest, ..Cost::default() };
        }
        match &node.op {
            Op::Past { source, hop, waves } => self.delay(id, *source, *hop, self.vsa.most(waves)),
            Op::Const(_) | Op::Scalar(_) | Op::Input { .. } | Op::Dot { .. } => Cost::default(),
            Op::Iter(form) if form.is_time_only() => Cost::default(),
            Op::Iter(_) => Cost { lut: bits, ff: bits * latency, ..Cost::default() },
            Op::Guard(all) => self.guard(all, latency),
            Op::Select(..) if self.begins(id).is_some() => Cost::ff(bits),
            // Its bits are the condition, or not.
            Op::Select(_, a, b) if self.constant(*a) && self.constant(*b) => Cost::ff(latency),
            Op::Select(..) if self.restarts(id) => Cost::default(),
            Op::Select(..) => Cost::ff(bits * latency),
            Op::Cast(_) if node.ty == ScalarType::BOOL => {
                Cost { lut: operand_bits(vsa, node) / 5 + 1, ff: latency, ..Cost::default() }
            }
            Op::Cast(_) => Cost::ff(bits * latency),
            Op::Lookup(table, _) => lookup(table, node.ty, latency),
            Op::Fma(a, b, _) => self.product(*a, *b, bits, id),
            Op::Unary(op, a) => unary(*op, bits, self.widths[a.index()], latency),
            Op::Binary(BinaryOp::Mul, a, b) => self.multiply(id, *a, *b),
            Op::Binary(op, a, b) => self.binary(id, *op, [*a, *b]),
        }
    }

    /// Comparisons with a constant of the place, and the conjunction.
    fn guard(&self, all: &[Condition], latency: i64) -> Cost {
        if all.iter().all(|c| c.form.is_time_only()) {
            return Cost::default();
        }
        let compared = all.iter().filter(|c| self.varies(&c.form) && !c.form.is_time_only());
        let lut: i64 = compared.map(|c| self.width(&Field::Time(time_of(&c.form))) + 2).sum();
        Cost { lut: lut + 1, ff: latency, ..Cost::default() }
    }

    /// A sum in a slice begins anew with a constant: the slice chooses between that and its own register.
    fn restarts(&self, id: NodeId) -> bool {
        let vsa = self.vsa;
        let Op::Select(_, a, b) = vsa.node(id).op else { return false };
        let past = if self.constant(a) { b } else { a };
        let Op::Past { source, hop: [0, 0], waves: Formula::Const(1) } = vsa.node(past).op else { return false };
        let alone =
            self.readers[id.index()] == 1 && self.readers[past.index()] == 1 && vsa.schedule.latency[id.index()] == 0;
        let own = matches!(vsa.node(source).op, Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), x, y) if (x == id || y == id) && self.in_slice(source, op, [x, y]));
        alone && own && (self.constant(a) || self.constant(b)) && vsa.schedule.delays.get(&past) == Some(&Delay::Chain)
    }

    /// The delay element behind a source and the registers after it. A chain is there once for all that wait for the
    /// source: each of them adds what is beyond the next shorter one.
    fn delay(&self, id: NodeId, source: NodeId, hop: [i64; 2], waves: i64) -> Cost {
        let vsa = self.vsa;
        let Some(wait) = Wait::of(vsa, id) else { return Cost::default() };
        if matches!(vsa.node(source).op, Op::Const(_)) {
            return Cost::default();
        }
        let bits = i64::from(vsa.node(source).ty.bits());
        let built = vsa.schedule.delays.get(&id).copied();
        let after = line([wait.registers(built) + i64::from(hop != [0, 0])], bits);
        let others = || {
            vsa.schedule.delays.iter().filter_map(|(&other, &delay)| match &vsa.node(other).op {
                Op::Past { source: s, waves, .. } if *s == source && other != id => {
                    Some((other, delay, vsa.most(waves)))
                }
                _ => None,
            })
        };
        match built {
            Some(Delay::Chain) => {
                let before = others()
                    .filter(|&(other, delay, w)| delay == Delay::Chain && (w, other) < (waves, id))
                    .map(|o| o.2)
                    .max();
                // The source's own last register is the first.
                after + line([waves - before.unwrap_or(i64::from(wait.latency > 0))], bits)
            }
            Some(Delay::Memory { .. }) => after,
            None => Cost::default(),
        }
    }

    /// A port of the memory behind a source: a further one is a copy of the memory. A block's word is registered
    /// within.
    fn memory(&self, id: NodeId) -> Cost {
        let vsa = self.vsa;
        let (Op::Past { source, waves, .. }, Some(Delay::Memory { synchronous, .. })) =
            (&vsa.node(id).op, vsa.schedule.delays.get(&id))
        else {
            return Cost::default();
        };
        if matches!(vsa.node(*source).op, Op::Const(_)) {
            return Cost::default();
        }
        let bits = i64::from(vsa.node(*source).ty.bits());
        let waves = vsa.most(waves);
        let registered = *synchronous && in_luts(waves) && !self.cleared.contains_key(&id);
        memory(waves, bits, vsa.uram) + Cost::ff(bits * i64::from(registered))
    }

    /// A product of variables stands in DSP slices with its registers; one with a constant of few digits is a sum.
    fn multiply(&self, id: NodeId, a: NodeId, b: NodeId) -> Cost {
        let (vsa, bits) = (self.vsa, i64::from(self.vsa.node(id).ty.bits()));
        let constant = |n: NodeId| match vsa.node(n).op {
            Op::Const(c) => digits(c, bits as u32),
            _ => None,
        };
        match constant(a).or_else(|| constant(b)) {
            Some(digits) => {
                let adders = (digits.len() as i64 - 1).max(0);
                let registers = vsa.schedule.latency[id.index()];
                Cost::lut(bits * adders)
                    + Cost::ff(2 * bits * (adders - 1).max(0))
                    + line([registers - (adders - 1).max(0)], bits)
            }
            None => self.product(a, b, bits, id),
        }
    }

    /// DSP slices of 25 × 18 bits, signed, and the sums between them. `bits` of the result.
    fn product(&self, a: NodeId, b: NodeId, bits: i64, of: NodeId) -> Cost {
        let vsa = self.vsa;
        let operand = |n: NodeId| {
            let ty = effective_type(&vsa.nodes, n);
            let signed = if vsa.node(n).ty.signed() { self.widths[n.index()] } else { i64::MAX };
            signed.min(i64::from(ty.bits() + u32::from(!ty.signed())))
        };
        let (a, b) = (operand(a), operand(b));
        let (wide, narrow) = (a.max(b), a.min(b));
        if narrow < 2 || wide + narrow < 9 {
            return Cost { lut: wide * narrow, ff: bits * vsa.schedule.latency[of.index()], ..Cost::default() };
        }
        let pieces = |width: i64, most: i64| if width <= most { 1 } else { 1 + (width - most + most - 2) / (most - 1) };
        let wanted = (0..pieces(wide, 25))
            .flat_map(|i| (0..pieces(narrow, 18)).map(move |j| 24 * i + 17 * j))
            .filter(|shift| *shift < bits);
        let dsp = wanted.count() as i64;
        Cost { dsp, lut: (dsp - 1) * 17, ff: (dsp - 1) * 17, ..Cost::default() }
    }

    fn binary(&self, id: NodeId, op: BinaryOp, operands: [NodeId; 2]) -> Cost {
        let (bits, latency) = (self.widths[id.index()], self.vsa.schedule.latency[id.index()]);
        let wide = operands.iter().map(|o| self.widths[o.index()]).max().unwrap_or(0);
        let constant = operands.iter().any(|o| self.constant(*o));
        let result = Cost::ff(bits * latency);
        match op {
            BinaryOp::Add | BinaryOp::Sub if self.in_slice(id, op, operands) => Cost::default(),
            BinaryOp::Add | BinaryOp::Sub => result + Cost::lut(bits),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => result + Cost::lut(if constant { 0 } else { bits }),
            BinaryOp::Shl | BinaryOp::Shr if self.constant(operands[1]) => result,
            BinaryOp::Shl | BinaryOp::Shr => result + Cost::lut(bits * bits_of(bits) * 2 / 3 + bits),
            BinaryOp::Eq | BinaryOp::Ne => result + Cost::lut(wide / 3 + wide / 18 + 1),
            BinaryOp::Lt | BinaryOp::Le => result + Cost::lut(wide + 1),
            BinaryOp::Min | BinaryOp::Max => result + Cost::lut(if constant { bits } else { 2 * bits }),
            BinaryOp::Div | BinaryOp::Rem => {
                Cost { lut: bits * bits * 3 / 2 + 2 * bits, ff: bits * bits * 3 / 2, ..Cost::default() }
            }
            BinaryOp::Mul => Cost::default(),
        }
    }

    /// The addition is done where the product is: by the slice's adder, in its register.
    fn in_slice(&self, id: NodeId, op: BinaryOp, [a, b]: [NodeId; 2]) -> bool {
        let vsa = self.vsa;
        let product = |n: NodeId| {
            let s = &vsa.schedule;
            let at_once = s.ready[n.index()] == s.ready[id.index()] - s.latency[id.index()];
            let single = |x: NodeId, y: NodeId| self.product(x, y, i64::from(vsa.node(n).ty.bits()), n).dsp == 1;
            self.readers[n.index()] == 1
                && at_once
                && matches!(vsa.node(n).op, Op::Binary(BinaryOp::Mul, x, y) if single(x, y) && self.multiply(n, x, y).dsp == 1)
        };
        let ty = vsa.node(id).ty;
        !ty.is_float() && ty.bits() <= 48 && (product(b) || op == BinaryOp::Add && product(a))
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

fn unary(op: UnaryOp, bits: i64, operand: i64, latency: i64) -> Cost {
    let lut = match op {
        UnaryOp::Not => 0,
        UnaryOp::Neg => bits,
        UnaryOp::Abs => 2 * bits,
        UnaryOp::Sqrt => {
            return Cost { lut: operand * operand * 3 / 4, ff: operand * operand * 3 / 4, ..Cost::default() }
        }
    };
    Cost { lut, ff: bits * latency, ..Cost::default() }
}

/// A read-only memory: bits that are alike in all constants, or like another bit, are wired. Four LUTs and the
/// multiplexers between them hold 256 bits.
fn lookup(table: &[u64], ty: ScalarType, latency: i64) -> Cost {
    let column = |bit: u32| table.iter().map(|v| v >> bit & 1 == 1).collect::<Vec<bool>>();
    let mut columns: Vec<Vec<bool>> = (0..ty.bits()).map(column).filter(|c| c.iter().any(|&b| b != c[0])).collect();
    columns.sort_unstable();
    columns.dedup();
    let (words, bits) = (table.len() as i64, columns.len() as i64);
    let read = if table_in_luts(words) { Cost::lut(bits * ((words + 63) / 64)) } else { memory(words, bits, false) };
    read + Cost::ff(bits * latency)
}

fn operand_bits(vsa: &Vsa, node: &Node) -> i64 {
    node.op.operands().into_iter().map(|o| vsa.node(o).ty.bits() as i64).max().unwrap_or(0)
}
