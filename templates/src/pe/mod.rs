//! The processing element (PE): an expression pipeline, delay elements and a few control bits. One module serves all
//! PEs.
//!
//! ```text
//! control fields ─► shift registers ─► guards ──┐
//! feeders, other PEs (links) ─► operators ─► selects ─► values ─► collectors, other PEs
//!                                   ▲                     │
//!                                   └── delay elements ◄──┘  (advance with `valid`)
//! ```
//! Ports: [`PePorts`]. Times are cycles relative to the arrival of the wave at the PE.
//!
//! Invariant: waves come at least one initiation interval apart, with any bubbles between them. Only `valid` must be 0
//! in a bubble; other inputs may have any value in cycles in which no wave uses them. There is no stall and no reset:
//! delay elements advance with `valid`, everything else runs free. As many bubbles as the greatest `ready` flush the
//! PE.

pub mod datapath;

use crate::control::{field_port, time_field, Field};
use crate::naming::{end_shift_register, memory_style, stem, Hops};
use crate::operators::{self, wires, Request};
use crate::port::{Chain, Port};
use array::contract::operand::{operand_source, travels};
use array::contract::timing::collect_time;
use array::vsa::{Delay, NodeId, Op, OutputGroup, Vsa};
use datapath::{Comparison, Datapath, MemoryOf, Relation, Tied};
use rtl::{u, Design, Memory, ModuleBuilder, Reg, Sig, Template};
use scop::{BinaryOp, ScalarType};
use std::collections::{BTreeMap, BTreeSet};
use uniform::affine::Form;

#[derive(Clone, Debug, PartialEq)]
pub struct Pe {
    /// Name of the array.
    pub name: String,
    pub lanes: i64,
    pub datapath: Datapath,
    /// The live nodes.
    pub nodes: BTreeMap<u32, PeNode>,
    /// By output group.
    pub outputs: Vec<PeOutput>,
    pub ports: PePorts,
    /// The board has UltraRAM.
    pub uram: bool,
    /// By node, the C lines that it computes or is a part of.
    pub quotes: BTreeMap<u32, Quote>,
}

/// C lines, as a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    pub lines: Vec<String>,
    /// The node is the value of the lines, not only an operator on the way to it.
    pub whole: bool,
}

/// A node of the expression.
#[derive(Clone, Debug, PartialEq)]
pub struct PeNode {
    /// Stem of the names of its ports and signals.
    pub stem: String,
    pub op: Op,
    pub ty: ScalarType,
    /// Cycle in which its value is there, and the latency of its operator.
    pub ready: i64,
    pub latency: i64,
    /// The control field, if the node is one.
    pub field: Option<Field>,
    /// Its operands, and the types in which it uses them.
    pub operands: Vec<(NodeId, ScalarType)>,
}

/// Outputs for the collectors of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct PeOutput {
    /// Cycle in which they leave.
    pub time: i64,
    /// Values, and their enables if these depend on the PE.
    pub values: Vec<(NodeId, Option<NodeId>)>,
}

/// The interface of a [`Pe`].
#[derive(Clone, Debug, PartialEq)]
pub struct PePorts {
    /// Control fields in the order of the datapath, each at its phase.
    pub fields: Vec<Chain>,
    /// Constants of the PE in the order of the datapath.
    pub tied: Vec<Port>,
    /// Values from feeders, by node, at its `ready`.
    pub inputs: BTreeMap<u32, Chain>,
    /// By `Past` node with a hop.
    pub links: BTreeMap<u32, Link>,
    /// By output group.
    pub outputs: Vec<Vec<Value>>,
}

/// A value for another PE. The PE of the source delays it; the last register is at its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Where the value is at the node's `ready + Schedule::behind(hop)`.
    pub from: Port,
    /// For a PE of the same band, if a value waits on its way there: `back` cycles later ([`Schedule::back`]).
    pub late: Option<Port>,
    pub back: i64,
    /// Where it is at the node's `ready`.
    pub to: Port,
    pub hop: [i64; 2],
}

/// Ports of an output value, at the `collect_time` of its group.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub value: Port,
    /// Present if the enable depends on the PE; 0 in cycles without a wave.
    pub enable: Option<Port>,
}

impl Pe {
    pub fn new(vsa: &Vsa, datapath: Datapath) -> Pe {
        let node = |id: NodeId| PeNode {
            stem: stem(vsa, id),
            op: vsa.node(id).op.clone(),
            ty: vsa.node(id).ty,
            ready: vsa.schedule.ready[id.index()],
            latency: vsa.schedule.latency[id.index()],
            field: time_field(vsa, id),
            operands: vsa
                .node(id)
                .op
                .operands()
                .into_iter()
                .enumerate()
                .map(|(k, o)| operand_source(vsa, id, k, o))
                .collect(),
        };
        // Those of a guest are at the owner.
        let own = |o: usize| vsa.collectors_of(o) == o;
        let output = |(o, group): (usize, &OutputGroup)| PeOutput {
            time: collect_time(vsa, o),
            values: group
                .ports
                .iter()
                .filter(|_| own(o))
                .map(|p| (p.value, (!travels(vsa, p.enable)).then_some(p.enable)))
                .collect(),
        };
        let nodes: BTreeMap<u32, PeNode> = datapath.ids().into_iter().map(|id| (id.0, node(id))).collect();
        let outputs: Vec<PeOutput> = vsa.outputs.iter().enumerate().map(output).collect();
        let ports = PePorts::new(vsa, &datapath, &nodes, &outputs);
        Pe {
            name: vsa.name.clone(),
            lanes: vsa.lanes,
            datapath,
            nodes,
            outputs,
            ports,
            uram: vsa.uram,
            quotes: quotes(vsa),
        }
    }
}

impl PePorts {
    fn new(vsa: &Vsa, datapath: &Datapath, nodes: &BTreeMap<u32, PeNode>, outputs: &[PeOutput]) -> Self {
        let several = vsa.extent.map(|n| n > 1);
        let hops = Hops::new(vsa, several);
        let field = |(k, field): (usize, &Field)| {
            hops.chain(&field_port(k, field, &vsa.counters).name, field.ty(&vsa.counters))
        };
        let (mut inputs, mut links) = (BTreeMap::new(), BTreeMap::new());
        for (id, node) in nodes {
            let port = |way: &str| Port::new(format!("{}_{way}", node.stem), wires(node.ty));
            match node.op {
                Op::Input { group, .. } => {
                    let forward = vsa.inputs[group as usize].forward;
                    let hops = Hops::new(vsa, [0, 1].map(|a| forward[a] && several[a]));
                    inputs.insert(*id, Chain { port: port("in"), ..hops.chain(&node.stem, wires(node.ty)) });
                }
                Op::Past { hop, .. } if hop != [0, 0] => {
                    let back = vsa.schedule.back(hop);
                    let late = (back > 0).then(|| port("late"));
                    links.insert(*id, Link { from: port("out"), late, back, to: port("in"), hop });
                }
                _ => {}
            }
        }
        let value = |o: usize, k: usize, (value, enable): &(NodeId, Option<NodeId>)| Value {
            value: Port::new(format!("out{o}_{k}"), wires(nodes[&value.0].ty)),
            enable: enable.map(|_| Port::bit(format!("out{o}_{k}_en"))),
        };
        PePorts {
            fields: datapath.fields.keys().enumerate().map(field).collect(),
            tied: datapath
                .tied
                .iter()
                .enumerate()
                .map(|(k, t)| Port::new(format!("{}{k}", t.kind()), t.ty()))
                .collect(),
            inputs,
            links,
            outputs: outputs
                .iter()
                .enumerate()
                .map(|(o, out)| out.values.iter().enumerate().map(|(k, v)| value(o, k, v)).collect())
                .collect(),
        }
    }
}

/// A value and its shift register: `taps[k]` is the value `k` cycles after `base`.
struct Line<'m> {
    base: i64,
    name: String,
    taps: Vec<Sig<'m>>,
    /// Those of the taps that something reads.
    read: BTreeSet<usize>,
}

impl<'m> Line<'m> {
    fn new(base: i64, name: String, value: Sig<'m>) -> Self {
        Line { base, name, taps: vec![value], read: BTreeSet::new() }
    }

    fn at(&mut self, m: &'m ModuleBuilder, time: i64) -> Sig<'m> {
        while (self.taps.len() as i64) <= time - self.base {
            let last = *self.taps.last().expect("a line starts with its value");
            let name = format!("{}_d{}", self.name, self.taps.len());
            self.taps.push(m.reg(name, last.ty()).next(last).q());
        }
        let tap = (time - self.base).max(0) as usize;
        self.read.insert(tap);
        self.taps[tap]
    }

    /// Once all readers are known: gives shift registers their last flip-flop.
    fn finish(&self) {
        let before = [0].into_iter().chain(self.read.iter().copied());
        self.read.iter().zip(before).for_each(|(&tap, before)| end_shift_register(self.taps[tap], tap - before));
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    pe: &'a Pe,
    datapath: &'a Datapath,
    control: BTreeMap<Field, Line<'m>>,
    lines: BTreeMap<u32, Line<'m>>,
    tied: Vec<Sig<'m>>,
    chains: BTreeMap<u32, Vec<Reg<'m>>>,
    memories: BTreeMap<MemoryOf, Memory<'m>>,
}

impl Template for Pe {
    fn name(&self) -> String {
        "pe".into()
    }
    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        m.doc(format!(
            "Processing element of `{}`: {} lane(s). Runs free; wave registers advance with `valid`.",
            self.name, self.lanes
        ));
        let mut b = Build::new(m, self);
        for id in self.datapath.ids() {
            let line = b.node(d, id);
            if let Some(line) = line {
                b.lines.insert(id.0, line);
            }
        }
        b.finish_delays();
        b.outputs();
        b.control.values().chain(b.lines.values()).for_each(Line::finish);
    }
}

/// Lines that a comment quotes at most.
const QUOTED: usize = 3;

/// The C lines of each node: of a statement's value, and of the operators that compute it in the same wave.
fn quotes(vsa: &Vsa) -> BTreeMap<u32, Quote> {
    let mut quotes: BTreeMap<u32, Quote> = BTreeMap::new();
    let values = &vsa.remarks.statements;
    for &value in values.keys() {
        let Some(text) = vsa.remarks.lines(value) else { continue };
        let (mut open, mut seen) = (vec![value], BTreeSet::new());
        while let Some(id) = open.pop() {
            // The value of another statement has that one's lines.
            if !seen.insert(id) || id != value && values.contains_key(&id) {
                continue;
            }
            if id == value || is_operator(&vsa.node(id).op) {
                let quote = quotes.entry(id.0).or_insert(Quote { lines: vec![], whole: id == value });
                let new = text.lines().filter(|line| !quote.lines.iter().any(|l| l == line));
                let new: Vec<String> = new.map(str::to_string).collect();
                quote.lines.extend(new);
            }
            if !matches!(vsa.node(id).op, Op::Past { .. }) {
                open.extend(vsa.node(id).op.operands());
            }
        }
    }
    quotes.retain(|_, quote| quote.whole || quote.lines.len() <= QUOTED);
    quotes
}

fn is_operator(op: &Op) -> bool {
    matches!(op, Op::Binary(..) | Op::Unary(..) | Op::Fma(..) | Op::Dot { .. } | Op::Lookup(..))
}

/// The bits of a constant of this type, extended to 64.
fn extended(bits: u64, ty: ScalarType) -> u64 {
    let spare = 64 - ty.bits();
    if ty.signed() {
        ((bits << spare) as i64 >> spare) as u64
    } else {
        bits << spare >> spare
    }
}

impl<'a, 'm> Build<'a, 'm> {
    fn new(m: &'m ModuleBuilder, pe: &'a Pe) -> Self {
        let datapath = &pe.datapath;
        let control = datapath
            .fields
            .iter()
            .zip(&pe.ports.fields)
            .map(|((field, phase), chain)| {
                (field.clone(), Line::new(*phase, chain.port.name.clone(), chain.port.input(m)))
            })
            .collect();
        let tied = pe.ports.tied.iter().map(|port| port.input(m)).collect();
        let chains = datapath
            .chains
            .iter()
            .map(|(id, c)| {
                let PeNode { stem: name, ty, .. } = &pe.nodes[id];
                let reg = |k: i64| m.reg(if k == 1 { name.clone() } else { format!("{name}_w{k}") }, wires(*ty));
                (*id, (1..=c.depth).map(reg).collect())
            })
            .collect();
        let mut memories = BTreeMap::new();
        for past in datapath.pasts.values() {
            if let (Some(Delay::Memory { .. }), depth) = (past.delay, past.waves) {
                let source = &pe.nodes[&past.source.0];
                let make = || {
                    m.mem(
                        format!(
                            "{}_mem{depth}{}",
                            source.stem,
                            past.lag.map_or(String::new(), |lag| format!("_lag{lag}"))
                        ),
                        depth as u32,
                        source.ty.bits(),
                        memory_style(depth, source.ty.bits(), pe.uram),
                    )
                };
                memories.entry(past.memory()).or_insert_with(make);
            }
        }
        Build { m, pe, datapath, control, lines: BTreeMap::new(), tied, chains, memories }
    }

    fn of(&self, id: NodeId) -> &'a PeNode {
        &self.pe.nodes[&id.0]
    }

    fn constant(&self, id: NodeId) -> Option<u64> {
        match self.of(id).op {
            Op::Const(bits) => Some(bits),
            _ => None,
        }
    }

    fn field(&mut self, field: &Field, time: i64) -> Sig<'m> {
        self.delayed_field(field, if self.datapath.fixed_fields.contains(field) { 0 } else { time })
    }

    /// The field behind its registers up to a time, of a fixed one, too.
    fn delayed_field(&mut self, field: &Field, time: i64) -> Sig<'m> {
        let m = self.m;
        match self.control.get_mut(field) {
            Some(line) => line.at(m, time),
            None => m.wire("unplanned_control", u(1)).sig(),
        }
    }

    fn tied(&self, tied: &Tied) -> Sig<'m> {
        match self.datapath.tied.iter().position(|t| t == tied) {
            Some(k) => self.tied[k],
            // An undriven wire, which the netlist check reports.
            None => self.m.wire("unplanned_constant", tied.ty()).sig(),
        }
    }

    /// The value of the node at a time, not before it is ready.
    fn at(&mut self, id: NodeId, time: i64) -> Sig<'m> {
        let node = self.of(id);
        if let Op::Const(value) = node.op {
            return self.m.lit_big(&[value], wires(node.ty));
        }
        if let Op::Scalar(k) = node.op {
            return self.tied(&Tied::scalar(k, node.ty)).to(wires(node.ty));
        }
        if let Some(field) = &node.field {
            return self.field(field, time).to(wires(node.ty));
        }
        let m = self.m;
        let time = if self.datapath.fixed[id.index()] { self.ready(id) } else { time };
        match self.lines.get_mut(&id.0) {
            Some(line) => line.at(m, time),
            None => m.wire(format!("missing_{}", node.stem), wires(node.ty)).sig(),
        }
    }

    fn ready(&self, id: NodeId) -> i64 {
        self.of(id).ready
    }

    fn node(&mut self, d: &mut Design, id: NodeId) -> Option<Line<'m>> {
        let node = self.of(id);
        let (name, ty, latency) = (&node.stem, wires(node.ty), node.latency);
        let sampled = self.ready(id) - latency;
        let before_last = latency.saturating_sub(1).max(0) as u32;
        let value = match &node.op {
            Op::Const(_) | Op::Scalar(_) => return None,
            _ if node.field.is_some() => return None,
            Op::Input { .. } => return Some(self.line(id, self.pe.ports.inputs[&id.0].port.input(self.m))),
            // The word is registered, and its register cleared, by the select that takes it.
            Op::Past { .. } if self.datapath.cleared.values().any(|c| c.past == id) => return None,
            Op::Select(..) if self.datapath.cleared.contains_key(&id.0) => {
                let value = self.cleared(id);
                return Some(self.line(id, value));
            }
            Op::Past { .. } => {
                let value = self.past(id);
                return Some(self.line(id, value));
            }
            Op::Iter(form) => {
                let time = self.field(&Field::Time(Form { space: [0, 0], ..form.clone() }), sampled);
                let offset = self.tied(&Tied::Offset { space: form.space, ty: (ty.w, ty.signed) });
                self.m.delay(time.to(ty) + offset, before_last, format!("{name}_d"))
            }
            Op::Guard(_) => {
                let guard = self.guard(id, sampled);
                self.m.delay(guard, before_last, format!("{name}_d"))
            }
            _ => self.operation(d, node, sampled, latency as u32),
        };
        // The value of a C line gets its own statement, which carries the line as a comment.
        let quote = self.pe.quotes.get(&id.0).filter(|quote| quote.whole || latency > 0);
        let value = if latency == 0 && quote.is_some() { value.named(name) } else { value };
        let value = match self.chains.get(&id.0) {
            Some(chain) if latency > 0 => {
                chain[0].next(value);
                chain[0].q()
            }
            _ if latency > 0 && self.multiplies(id) => self.m.reg(name, ty).next(value).q().attr("use_dsp", "yes"),
            _ if latency > 0 => self.m.reg(name, ty).next(value).q(),
            _ => value,
        };
        let value = quote.map_or(value, |quote| value.remark(&quote.lines.join("\n")));
        Some(self.line(id, value))
    }

    /// A product of two variables, which belongs in a DSP.
    fn multiplies(&self, id: NodeId) -> bool {
        // A constant operand may be a cast that the product absorbs, and so not be a node of the PE.
        let constant = |o: &NodeId| self.pe.nodes.get(&o.0).is_some_and(|n| matches!(n.op, Op::Const(_)));
        match &self.of(id).op {
            Op::Binary(BinaryOp::Mul, a, b) => !self.of(id).ty.is_float() && !constant(a) && !constant(b),
            _ => false,
        }
    }

    fn line(&self, id: NodeId, value: Sig<'m>) -> Line<'m> {
        Line::new(self.ready(id), self.of(id).stem.clone(), value)
    }

    fn operation(&mut self, d: &mut Design, node: &PeNode, sampled: i64, latency: u32) -> Sig<'m> {
        let mut values = vec![];
        for (source, ty) in &node.operands {
            let value = match self.constant(*source) {
                Some(c) => self.m.lit_big(&[c], wires(*ty)),
                None => self.at(*source, sampled).resize(ty.bits()).to(wires(*ty)),
            };
            values.push(value);
        }
        let types: Vec<_> = node.operands.iter().map(|s| s.1).collect();
        let constant: Vec<Option<u64>> =
            node.operands.iter().map(|s| self.constant(s.0).map(|c| extended(c, s.1))).collect();
        let request = Request {
            op: &node.op,
            ty: node.ty,
            operands: &values,
            operand_types: &types,
            constant: &constant,
            latency,
            name: &node.stem,
        };
        // Operators without hardware were refused before; an undriven wire here is reported by the netlist check.
        operators::build(self.m, d, &request).unwrap_or_else(|e| self.m.wire(e, wires(node.ty)).sig())
    }

    fn guard(&mut self, id: NodeId, sampled: i64) -> Sig<'m> {
        let datapath = self.datapath;
        let mut terms = vec![];
        let Some(guard) = datapath.guards.get(&id.0) else { return self.m.lit(1, u(1)) };
        if !guard.time.is_empty() {
            terms.push(self.field(&Field::Guard(guard.time.clone()), sampled));
        }
        terms.extend(guard.flag.iter().map(|flag| self.tied(flag)));
        for c in &guard.mixed {
            terms.push(self.comparison(c, sampled));
        }
        if terms.is_empty() {
            self.m.lit(1, u(1))
        } else {
            self.m.all(&terms)
        }
    }

    fn comparison(&mut self, c: &Comparison, sampled: i64) -> Sig<'m> {
        let time = self.field(&Field::Time(c.time.clone()), sampled);
        let bound = self.tied(&c.bound);
        let signed = time.ty().signed || bound.ty().signed;
        let natural = |x: Sig<'m>| if signed && !x.ty().signed { x.extend(x.w() + 1).signed() } else { x };
        let (time, bound) = (natural(time), natural(bound));
        let w = time.w().max(bound.w());
        let (time, bound) = (time.extend(w), bound.extend(w));
        match c.relation {
            Relation::AtLeast => time.ge(bound),
            Relation::AtMost => time.le(bound),
            Relation::Equal => time.eq(bound),
        }
    }

    /// The register behind a memory, with a select's constant as its reset.
    fn cleared(&mut self, id: NodeId) -> Sig<'m> {
        let (m, c) = (self.m, self.datapath.cleared[&id.0]);
        let past = self.datapath.pasts[&c.past.0];
        let pointer = self.field(&Field::Pointer(past.waves, past.lag), c.read);
        let word = self.memories[&past.memory()].read_async(format!("{}_rd", self.of(c.past).stem), pointer);
        let condition = self.at(c.condition, c.read).reduce_or();
        let ty = wires(self.of(id).ty);
        let reset = if c.when { condition } else { !condition };
        let mask = u64::MAX >> (64 - ty.w.min(64));
        m.reg(&self.of(id).stem, u(ty.w)).next(word).rst(reset, c.value & mask).q().to(ty)
    }

    /// Value of a `Past` node in the consuming PE.
    fn past(&mut self, id: NodeId) -> Sig<'m> {
        match self.pe.ports.links.get(&id.0) {
            Some(link) => link.to.input(self.m),
            None => self.delayed(id),
        }
    }

    /// What the source's PE gives: the delay element and the registers behind it.
    fn delayed(&mut self, id: NodeId) -> Sig<'m> {
        let past = self.datapath.pasts[&id.0];
        let name = &self.of(id).stem;
        let ready = self.ready(past.source);
        let value = match past.delay {
            None => return self.at(past.source, ready + past.registers as i64),
            Some(Delay::Chain) => self.chains[&past.source.0][past.waves as usize - 1].q(),
            Some(Delay::Memory { read, synchronous }) => {
                let memory = self.memories[&past.memory()];
                let pointer = self.field(&Field::Pointer(past.waves, past.lag), read);
                let bits = if synchronous {
                    memory.read_sync(format!("{name}_rd"), self.m.lit(1, u(1)), pointer)
                } else {
                    memory.read_async(format!("{name}_rd"), pointer)
                };
                bits.to(wires(self.of(past.source).ty))
            }
        };
        self.m.delay(value, past.registers, format!("{name}_r"))
    }

    /// Inputs of wave registers and memories, known once every node is built.
    fn finish_delays(&mut self) {
        let datapath = self.datapath;
        for (id, chain) in &datapath.chains {
            let enable = self.field(&Field::Valid, chain.enable);
            let registers = self.chains[id].clone();
            for (k, register) in registers.iter().enumerate() {
                register.en(enable);
                if k > 0 {
                    register.next(registers[k - 1].q());
                } else if !chain.own {
                    let source = self.at(NodeId(*id), self.ready(NodeId(*id)));
                    register.next(source);
                }
            }
        }
        let memories: Vec<_> = self.memories.iter().map(|(k, v)| (*k, *v)).collect();
        for (of @ (source, depth, lag), memory) in memories {
            let ready = self.ready(NodeId(source));
            let pointer = datapath.writes.get(&of).cloned().unwrap_or(Field::Pointer(depth, lag));
            let (valid, pointer) = (self.field(&Field::Valid, ready), self.field(&pointer, ready));
            let data = self.at(NodeId(source), ready).unsigned();
            memory.write(valid, pointer, data);
        }
    }

    fn outputs(&mut self) {
        let (m, pe) = (self.m, self.pe);
        for ((field, phase), chain) in pe.datapath.fields.iter().zip(&pe.ports.fields) {
            for (port, cycles) in chain.outputs() {
                port.output(m, self.delayed_field(field, phase + i64::from(cycles)));
            }
        }
        for id in pe.datapath.ids() {
            if let Some(chain) = pe.ports.inputs.get(&id.0) {
                for (port, cycles) in chain.outputs() {
                    port.output(m, self.at(id, self.ready(id) + i64::from(cycles)));
                }
            }
            if let Some(link) = pe.ports.links.get(&id.0) {
                let value = self.delayed(id);
                link.from.output(m, value);
                if let Some(late) = &link.late {
                    late.output(m, m.delay(value, link.back as u32, format!("{}_back", self.of(id).stem)));
                }
            }
        }
        for (output, ports) in pe.outputs.iter().zip(&pe.ports.outputs) {
            for ((value, enable), port) in output.values.iter().zip(ports) {
                port.value.output(m, self.at(*value, output.time));
                if let (Some(enable), Some(port)) = (enable, &port.enable) {
                    port.output(m, self.at(*enable, output.time) & self.field(&Field::Valid, output.time));
                }
            }
        }
    }
}
