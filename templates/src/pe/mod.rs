//! The processing element: an expression pipeline, delay elements and a few control bits; one module for all PEs.
//!
//! Ports (times relative to the wave's arrival):
//! - control fields of the plan (`valid`, `guard<i>`, `time<i>`, `wave<i>`) at their phase, passed on delayed by the skew
//!   of the axis;
//! - `<node>_in` for inputs at the node's `ready`, passed on along `forward` axes;
//! - `<node>_in`/`<node>_out` for `Past` nodes with a hop: the source's PE delays, the last register is at its output;
//!   `_in` at the node's `ready`, `_out` at `ready + skew · hop`;
//! - `k<i>`: constants of the PE's place; `out<o>_<k>`: value of output group `o`, port `k`, at the group's
//!   `collect_time`, and `out<o>_<k>_en` where the enable depends on the PE (0 in cycles without a wave).
//!
//! Waves come at least `interval` cycles apart, with any bubbles between. Only `valid` must be 0 in a bubble; all other
//! inputs may have any value in cycles in which no wave looks at them. There is no stall and no reset: state advances
//! with `valid`, everything else runs free, and bubbles for as long as the greatest `ready` flush the PE.

pub mod plan;

use crate::control::{field_port, time_field, Field};
use crate::naming::{memory_style, pass_port, stem};
use crate::operators::{self, wires, Request};
use plan::{Comparison, PePlan, Relation, Tied};
use arch::contract::operand::{operand_source, travels};
use arch::contract::timing::collect_time;
use arch::affine::Form;
use arch::ir::vsa::{Delay, NodeId, Op, Vsa};
use frontend::scop::{BinaryOp, ScalarType};
use rtl::{u, Design, Memory, ModuleBuilder, Reg, Sig, Template};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub struct Pe {
    pub vsa: Vsa,
    pub plan: PePlan,
}

/// A value and its later copies: `taps[k]` is the value `k` cycles after `base`.
struct Line<'m> {
    base: i64,
    name: String,
    taps: Vec<Sig<'m>>,
}

impl<'m> Line<'m> {
    fn at(&mut self, m: &'m ModuleBuilder, time: i64) -> Sig<'m> {
        while (self.taps.len() as i64) <= time - self.base {
            let last = *self.taps.last().expect("a line starts with its value");
            let name = format!("{}_d{}", self.name, self.taps.len());
            self.taps.push(m.reg(name, last.ty()).next(last).q());
        }
        self.taps[(time - self.base).max(0) as usize]
    }
}

struct Build<'a, 'm> {
    m: &'m ModuleBuilder,
    vsa: &'a Vsa,
    plan: &'a PePlan,
    control: BTreeMap<Field, Line<'m>>,
    lines: BTreeMap<u32, Line<'m>>,
    tied: Vec<Sig<'m>>,
    chains: BTreeMap<u32, Vec<Reg<'m>>>,
    memories: BTreeMap<(u32, i64), Memory<'m>>,
}

impl Template for Pe {
    fn name(&self) -> String {
        "pe".into()
    }
    fn build<'m>(&self, m: &'m ModuleBuilder, d: &mut Design) {
        m.doc(format!("Processing element of `{}`: {} lane(s). Runs free; wave registers advance with `valid`.", self.vsa.name, self.vsa.lanes));
        let mut b = Build::new(m, &self.vsa, &self.plan);
        for id in self.plan.ids() {
            let line = b.node(d, id);
            if let Some(line) = line {
                b.lines.insert(id.0, line);
            }
        }
        b.finish_delays();
        b.outputs();
    }
}

fn constant(vsa: &Vsa, id: NodeId) -> Option<u64> {
    match vsa.node(id).op {
        Op::Const(bits) => Some(bits),
        _ => None,
    }
}

/// The bits of a constant of this type, extended to 64.
fn extended(bits: u64, ty: ScalarType) -> u64 {
    let spare = 64 - ty.bits();
    if ty.signed() { ((bits << spare) as i64 >> spare) as u64 } else { bits << spare >> spare }
}

impl<'a, 'm> Build<'a, 'm> {
    fn new(m: &'m ModuleBuilder, vsa: &'a Vsa, plan: &'a PePlan) -> Self {
        let control = plan.fields.iter().enumerate().map(|(k, (field, phase))| {
            let name = field_port(k, field);
            let line = Line { base: *phase, taps: vec![m.input(&name, field.ty(vsa))], name };
            (field.clone(), line)
        }).collect();
        let tied = plan.tied.iter().enumerate().map(|(k, t)| m.input(format!("k{k}"), t.ty())).collect();
        let chains = plan.chains.iter().map(|(id, c)| {
            let ty = wires(vsa.nodes[*id as usize].ty);
            let name = stem(vsa, NodeId(*id));
            let reg = |k: i64| m.reg(if k == 1 { name.clone() } else { format!("{name}_w{k}") }, ty);
            (*id, (1..=c.depth).map(reg).collect())
        }).collect();
        let mut memories = BTreeMap::new();
        for past in plan.pasts.values() {
            if let (Some(Delay::Memory { .. }), depth) = (past.delay, past.waves) {
                let make = || m.mem(format!("{}_mem{depth}", stem(vsa, past.source)), depth as u32, vsa.node(past.source).ty.bits(), memory_style(depth));
                memories.entry((past.source.0, depth)).or_insert_with(make);
            }
        }
        Build { m, vsa, plan, control, lines: BTreeMap::new(), tied, chains, memories }
    }

    fn field(&mut self, field: &Field, time: i64) -> Sig<'m> {
        let m = self.m;
        match self.control.get_mut(field) {
            Some(line) => line.at(m, time),
            None => m.wire("unplanned_control", field.ty(self.vsa)).sig(),
        }
    }

    fn tied(&self, tied: &Tied) -> Sig<'m> {
        match self.plan.tied.iter().position(|t| t == tied) {
            Some(k) => self.tied[k],
            // Not driven: a fault of the netlist.
            None => self.m.wire("unplanned_constant", tied.ty()).sig(),
        }
    }

    /// The node's value at a time not before it is ready.
    fn at(&mut self, id: NodeId, time: i64) -> Sig<'m> {
        let node = self.vsa.node(id);
        if let Op::Const(value) = node.op {
            return self.m.lit_big(&[value], wires(node.ty));
        }
        if let Op::Scalar(k) = node.op {
            return self.tied(&Tied::scalar(k, node.ty)).to(wires(node.ty));
        }
        if let Some(field) = time_field(self.vsa, id) {
            return self.field(&field, time).to(wires(node.ty));
        }
        let m = self.m;
        match self.lines.get_mut(&id.0) {
            Some(line) => line.at(m, time),
            None => m.wire(format!("missing_{}", stem(self.vsa, id)), wires(node.ty)).sig(),
        }
    }

    fn ready(&self, id: NodeId) -> i64 {
        self.vsa.schedule.ready[id.index()]
    }

    fn node(&mut self, d: &mut Design, id: NodeId) -> Option<Line<'m>> {
        let (vsa, name) = (self.vsa, stem(self.vsa, id));
        let node = vsa.node(id);
        let ty = wires(node.ty);
        let latency = vsa.schedule.latency[id.index()];
        let sampled = self.ready(id) - latency;
        let before_last = latency.saturating_sub(1).max(0) as u32;
        let value = match &node.op {
            Op::Const(_) | Op::Scalar(_) => return None,
            _ if time_field(vsa, id).is_some() => return None,
            Op::Input { .. } => return Some(self.line(id, self.m.input(format!("{name}_in"), ty))),
            // The word is registered, and its register cleared, by the select that takes it.
            Op::Past { .. } if self.plan.cleared.values().any(|c| c.past == id) => return None,
            Op::Select(..) if self.plan.cleared.contains_key(&id.0) => {
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
            op => self.operation(d, id, op, sampled, latency as u32),
        };
        let value = match self.chains.get(&id.0) {
            Some(chain) if latency > 0 => {
                chain[0].next(value);
                chain[0].q()
            }
            _ if latency > 0 && self.multiplies(id) => self.m.reg(name, ty).next(value).q().attr("use_dsp", "yes"),
            _ if latency > 0 => self.m.reg(name, ty).next(value).q(),
            _ => value,
        };
        Some(self.line(id, value))
    }

    /// A product of two values that are not constants: worth a DSP.
    fn multiplies(&self, id: NodeId) -> bool {
        let constant = |o: &NodeId| constant(self.vsa, *o).is_some();
        match &self.vsa.node(id).op {
            Op::Binary(BinaryOp::Mul, a, b) => !self.vsa.node(id).ty.is_float() && !constant(a) && !constant(b),
            _ => false,
        }
    }

    fn line(&self, id: NodeId, value: Sig<'m>) -> Line<'m> {
        Line { base: self.ready(id), name: stem(self.vsa, id), taps: vec![value] }
    }

    fn operation(&mut self, d: &mut Design, id: NodeId, op: &Op, sampled: i64, latency: u32) -> Sig<'m> {
        let vsa = self.vsa;
        let sources: Vec<_> = op.operands().into_iter().enumerate().map(|(k, o)| operand_source(vsa, id, k, o)).collect();
        let mut values = vec![];
        for (source, ty) in &sources {
            let value = match vsa.node(*source).op {
                Op::Const(c) => self.m.lit_big(&[c], wires(*ty)),
                _ => self.at(*source, sampled).resize(ty.bits()).to(wires(*ty)),
            };
            values.push(value);
        }
        let types: Vec<_> = sources.iter().map(|s| s.1).collect();
        let constant: Vec<Option<u64>> = sources.iter().map(|s| constant(vsa, s.0).map(|c| extended(c, s.1))).collect();
        let name = stem(vsa, id);
        let ty = vsa.node(id).ty;
        let request = Request { op, ty, operands: &values, operand_types: &types, constant: &constant, latency, name: &name };
        // An operator that cannot be built was refused before; should one get here, the undriven wire is a fault.
        operators::build(self.m, d, &request).unwrap_or_else(|e| self.m.wire(e, wires(ty)).sig())
    }

    fn guard(&mut self, id: NodeId, sampled: i64) -> Sig<'m> {
        let plan = self.plan;
        let mut terms = vec![];
        let Some(guard) = plan.guards.get(&id.0) else { return self.m.lit(1, u(1)) };
        if !guard.time.is_empty() {
            terms.push(self.field(&Field::Guard(guard.time.clone()), sampled));
        }
        terms.extend(guard.flag.iter().map(|flag| self.tied(flag)));
        for c in &guard.mixed {
            terms.push(self.comparison(c, sampled));
        }
        if terms.is_empty() { self.m.lit(1, u(1)) } else { self.m.all(&terms) }
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
        let (m, c) = (self.m, self.plan.cleared[&id.0]);
        let past = self.plan.pasts[&c.past.0];
        let pointer = self.field(&Field::Pointer(past.waves), c.read);
        let word = self.memories[&(past.source.0, past.waves)].read_async(format!("{}_rd", stem(self.vsa, c.past)), pointer);
        let condition = self.at(c.condition, c.read).reduce_or();
        let ty = wires(self.vsa.node(id).ty);
        let reset = if c.when { condition } else { !condition };
        let mask = u64::MAX >> (64 - ty.w.min(64));
        m.reg(stem(self.vsa, id), u(ty.w)).next(word).rst(reset, c.value & mask).q().to(ty)
    }

    /// Value of a `Past` node in the consuming PE.
    fn past(&mut self, id: NodeId) -> Sig<'m> {
        let past = self.plan.pasts[&id.0];
        let ty = wires(self.vsa.node(id).ty);
        if past.hop != [0, 0] {
            return self.m.input(format!("{}_in", stem(self.vsa, id)), ty);
        }
        self.delayed(id)
    }

    /// What the source's PE gives: the delay element and the registers behind it.
    fn delayed(&mut self, id: NodeId) -> Sig<'m> {
        let past = self.plan.pasts[&id.0];
        let name = stem(self.vsa, id);
        let ready = self.ready(past.source);
        let value = match past.delay {
            None => return self.at(past.source, ready + past.registers as i64),
            Some(Delay::Chain) => self.chains[&past.source.0][past.waves as usize - 1].q(),
            Some(Delay::Memory { read, synchronous }) => {
                let memory = self.memories[&(past.source.0, past.waves)];
                let pointer = self.field(&Field::Pointer(past.waves), read);
                let bits = if synchronous { memory.read_sync(format!("{name}_rd"), self.m.lit(1, u(1)), pointer) } else { memory.read_async(format!("{name}_rd"), pointer) };
                bits.to(wires(self.vsa.node(past.source).ty))
            }
        };
        self.m.delay(value, past.registers, format!("{name}_r"))
    }

    /// Inputs of wave registers and memories, known once every node is built.
    fn finish_delays(&mut self) {
        let plan = self.plan;
        for (id, chain) in &plan.chains {
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
        for ((source, depth), memory) in memories {
            let ready = self.ready(NodeId(source));
            let pointer = plan.writes.get(&(source, depth)).cloned().unwrap_or(Field::Pointer(depth));
            let (valid, pointer) = (self.field(&Field::Valid, ready), self.field(&pointer, ready));
            let data = self.at(NodeId(source), ready).unsigned();
            memory.write(valid, pointer, data);
        }
    }

    fn outputs(&mut self) {
        let (m, vsa, plan) = (self.m, self.vsa, self.plan);
        for (k, (field, phase)) in plan.fields.iter().enumerate() {
            let value = |b: &mut Self, skew: i64| b.field(field, phase + skew);
            self.pass_on(&field_port(k, field), [true, true], value);
        }
        for id in plan.ids() {
            match &vsa.node(id).op {
                Op::Input { group, .. } => {
                    let value = |b: &mut Self, skew: i64| b.at(id, b.ready(id) + skew);
                    self.pass_on(&stem(vsa, id), vsa.inputs[*group as usize].forward, value);
                }
                Op::Past { hop, .. } if *hop != [0, 0] => {
                    let value = self.delayed(id);
                    m.output(format!("{}_out", stem(vsa, id)), value);
                }
                _ => {}
            }
        }
        for (o, group) in vsa.outputs.iter().enumerate() {
            let time = collect_time(vsa, o);
            for (k, port) in group.ports.iter().enumerate() {
                let value = self.at(port.value, time);
                m.output(format!("out{o}_{k}"), value);
                if !travels(vsa, port.enable) {
                    let enable = self.at(port.enable, time) & self.field(&Field::Valid, time);
                    m.output(format!("out{o}_{k}_en"), enable);
                }
            }
        }
    }

    /// Outputs that carry a value on to the next PE along each axis of `along`.
    fn pass_on(&mut self, port: &str, along: [bool; 2], value: impl Fn(&mut Self, i64) -> Sig<'m>) {
        let mut made: Vec<String> = vec![];
        for axis in (0..2).filter(|&a| along[a] && self.vsa.extent[a] > 1) {
            let name = pass_port(self.vsa, port, axis);
            if !made.contains(&name) {
                let value = value(self, self.vsa.schedule.skew[axis].abs());
                self.m.output(&name, value);
                made.push(name);
            }
        }
    }
}
