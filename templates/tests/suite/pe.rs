//! `Pe` against the meaning of its nodes: random expressions with every kind of `Past`, a schedule with random slack,
//! bubbles between waves, and random values on each input in cycles in which no wave uses it.

use crate::module_support::layout::{add_input, add_output, frame};
use crate::module_support::*;
use array::contract::delay;
use array::contract::operand::{operand_source, travels};
use array::contract::timing::collect_time;
use array::operators::node_latency;
use array::vsa::*;
use scop::value;
use scop::value::mask;
use scop::{BinaryOp, ScalarType, UnaryOp};
use templates::control::{field_port, Field};
use templates::operators::supported;
use templates::pe::datapath::Datapath;
use templates::pe::Pe;
use templates::stem;
use uniform::affine::{Condition, Form};
use uniform::sizes::Formula;

const TYPES: [ScalarType; 6] = [
    ScalarType::BOOL,
    ScalarType::I32,
    ScalarType::Int { bits: 8, signed: true },
    ScalarType::Int { bits: 16, signed: false },
    ScalarType::Int { bits: 64, signed: true },
    ScalarType::Float { exponent: 8, fraction: 23 },
];

/// Adds nodes to a frame with groups.
struct Draw<'a> {
    r: &'a mut Random,
    v: Vsa,
}

impl Draw<'_> {
    fn add(&mut self, op: Op, ty: ScalarType) -> NodeId {
        let name = self.r.pick(&["x", "Acc", "", "c in"]).to_string();
        self.v.nodes.push(Node { op, ty, name });
        NodeId(self.v.nodes.len() as u32 - 1)
    }
    fn any(&mut self) -> NodeId {
        NodeId(self.r.range(0, self.v.nodes.len() as i64 - 1) as u32)
    }
    /// Some node of the type, or a cast of one.
    fn of(&mut self, ty: ScalarType) -> NodeId {
        let found: Vec<u32> = (0..self.v.nodes.len() as u32).filter(|n| self.v.nodes[*n as usize].ty == ty).collect();
        if !found.is_empty() && self.r.chance(80) {
            return NodeId(self.r.pick(&found));
        }
        let source = self.any();
        self.add(Op::Cast(source), ty)
    }
    fn guard(&mut self) -> NodeId {
        let conditions =
            (0..self.r.range(1, 3)).map(|_| Condition { form: self.form(), equality: self.r.chance(25) }).collect();
        self.add(Op::Guard(conditions), ScalarType::BOOL)
    }
    fn form(&mut self) -> Form {
        let mut form = random_form(self.r, 0..self.v.counters.len(), [-3, 4]);
        form.space = [0, 1].map(|_| self.r.pick(&[0, 0, 1, -2]));
        form
    }
    /// A `Past` whose source is found later.
    fn past(&mut self) -> NodeId {
        let hop =
            [0, 1].map(|a| if self.v.extent[a] > 1 && self.r.chance(70) { self.r.pick(&[-1, 1, 1, 2]) } else { 0 });
        let waves = if hop == [0, 0] { self.r.pick(&[1, 1, 1, 2, 3, 5, 9]) } else { self.r.pick(&[0, 0, 1, 2, 6]) };
        let ty = self.r.pick(&TYPES);
        self.add(Op::Past { source: NodeId(0), hop, waves: Formula::Const(waves) }, ty)
    }
    fn operation(&mut self) {
        let ty = self.r.pick(&TYPES);
        let (a, b) = (self.of(ty), self.of(ty));
        let op = match self.r.range(0, 9) {
            0 => Op::Unary(self.r.pick(&[UnaryOp::Neg, UnaryOp::Not, UnaryOp::Abs]), a),
            1 => {
                let c = self.of(ScalarType::BOOL);
                Op::Select(c, a, b)
            }
            2 => {
                let c = self.of(ty);
                Op::Fma(a, b, c)
            }
            3 => {
                let op = self.r.pick(&[BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Le]);
                Op::Binary(op, a, b)
            }
            4 => Op::Const(self.r.next() & mask(ty.bits())),
            5 if !ty.is_float() => {
                let form = self.form();
                Op::Iter(form)
            }
            _ => {
                let op = self.r.pick(&[
                    BinaryOp::Add,
                    BinaryOp::Sub,
                    BinaryOp::Mul,
                    BinaryOp::Xor,
                    BinaryOp::Max,
                    BinaryOp::Shr,
                ]);
                Op::Binary(op, a, b)
            }
        };
        let ty = if matches!(op, Op::Binary(BinaryOp::Eq | BinaryOp::Lt | BinaryOp::Le, ..)) {
            ScalarType::BOOL
        } else {
            ty
        };
        if ty.is_float() && matches!(op, Op::Binary(BinaryOp::Xor | BinaryOp::Shr, ..) | Op::Unary(UnaryOp::Not, _)) {
            return;
        }
        let id = self.add(op, ty);
        let types: Vec<_> = self
            .v
            .node(id)
            .op
            .operands()
            .into_iter()
            .enumerate()
            .map(|(k, o)| operand_source(&self.v, id, k, o).1)
            .collect();
        if supported(&self.v.node(id).op, ty, &types).is_err() {
            self.v.nodes.pop();
        }
    }

    fn program(mut self) -> Vsa {
        (0..self.r.range(1, 2)).for_each(|_| add_input(self.r, &mut self.v));
        let pasts: Vec<NodeId> = (0..self.r.range(1, 5)).map(|_| self.past()).collect();
        self.guard();
        (0..self.r.range(2, 12)).for_each(|_| self.operation());
        for past in pasts {
            let found = self.of(self.v.node(past).ty);
            if let Op::Past { source, .. } = &mut self.v.nodes[past.index()].op {
                *source = found;
            }
        }
        // The schedule comes later: what verifies groups only looks at lengths.
        self.v.schedule.ready.resize(self.v.nodes.len(), 1 << 20);
        self.v.schedule.latency.resize(self.v.nodes.len(), 0);
        self.v
    }
}

/// Cycles from the least possible on, with slack; `None` if the interval is too short for the recurrences.
fn schedule(r: &mut Random, v: &mut Vsa, interval: i64) -> Option<()> {
    let latency: Vec<i64> = (0..v.nodes.len()).map(|n| node_latency(&v.nodes, NodeId(n as u32), v.fabric)).collect();
    let generous = r.chance(50);
    // What the scheduler keeps to; the hardware only needs it of memories with late sources.
    let after_arrival = i64::from(r.chance(60));
    let slack: Vec<i64> = v.nodes.iter().map(|_| if generous && r.chance(40) { r.range(0, 3) } else { 0 }).collect();
    let mut ready = vec![0; v.nodes.len()];
    for _ in 0..60 {
        let before = ready.clone();
        for (n, node) in v.nodes.iter().enumerate() {
            let least = match node.op {
                Op::Past { source, hop, ref waves } => {
                    let (s, waves) = (source.index(), v.most(waves));
                    let away = i64::from(hop != [0, 0]) - v.schedule.behind(hop);
                    delay::earliest(waves, ready[s], latency[s], interval).max(if waves > 0 {
                        after_arrival
                    } else {
                        0
                    }) + away
                }
                ref op => (op.operands().iter().map(|s| ready[s.index()]).max().unwrap_or(0) + latency[n])
                    .max(array::contract::timing::least_ready(op)),
            };
            ready[n] = ready[n].max(least.max(0) + slack[n]);
        }
        if ready == before {
            let start = v.schedule.start.clone();
            v.schedule = Schedule { start, interval, ready, latency, ..Schedule::default() };
            v.schedule.delays = delay::choose(v);
            return Some(());
        }
    }
    None
}

/// An array of random nodes that verifies, and the datapath of its PE.
fn random_pe(r: &mut Random) -> (Vsa, Datapath) {
    for _ in 0..1000 {
        let v = frame(r);
        let mut v = Draw { r, v }.program();
        let frozen = v.nodes.len();
        (0..r.range(1, 2)).for_each(|_| values_out(r, &mut v, frozen));
        let first = r.range(1, 3);
        let interval = (first..40).find(|i| schedule(r, &mut v, *i).is_some());
        if interval.is_none() || v.outputs.is_empty() || v.verify().is_err() {
            continue;
        }
        if let Ok(datapath) = Datapath::new(&v) {
            return (v, datapath);
        }
    }
    panic!("no legal PE was found");
}

/// An output group that stores values of the expression where it says so.
fn values_out(r: &mut Random, v: &mut Vsa, frozen: usize) {
    // Verified with nodes that need no schedule; then the ports get what they really store.
    let mut bare = v.clone();
    bare.nodes.truncate(v.inputs.iter().map(|g| g.ports.len()).sum());
    bare.schedule.ready = vec![array::contract::timing::FEED_LATENCY; bare.nodes.len()];
    bare.schedule.latency = vec![0; bare.nodes.len()];
    bare.outputs.clear();
    add_output(r, &mut bare);
    let mut group = bare.outputs.pop().expect("an output group");
    let mut array = bare.arrays.pop().expect("an array");
    array.name = format!("O{}", v.outputs.len());
    for port in &mut group.ports {
        let value = NodeId(r.range(0, frozen as i64 - 1) as u32);
        v.nodes.push(Node { op: Op::Cast(value), ty: array.ty, name: "out".into() });
        port.value = NodeId(v.nodes.len() as u32 - 1);
        let flags: Vec<u32> = (0..frozen as u32).filter(|n| v.nodes[*n as usize].ty == ScalarType::BOOL).collect();
        port.enable = NodeId(r.pick(&flags));
    }
    group.array = v.arrays.len() as u32;
    v.arrays.push(array);
    v.outputs.push(group);
}

/// Values of all nodes in all waves at one PE; `None` where hardware may give anything.
struct Model<'a> {
    v: &'a Vsa,
    p: [i64; 2],
    /// Per wave, per node.
    values: Vec<Vec<Option<u64>>>,
}

impl Model<'_> {
    fn wave(&mut self, r: &mut Random, at: &[i64]) {
        self.values.push(vec![None; self.v.nodes.len()]);
        let now = self.values.len() - 1;
        for n in 0..self.v.nodes.len() {
            let value = self.node(r, n, now, at);
            self.values[now][n] = value;
        }
    }

    fn node(&self, r: &mut Random, n: usize, now: usize, at: &[i64]) -> Option<u64> {
        let node = &self.v.nodes[n];
        let of = |id: NodeId| self.values[now][id.index()];
        let ty_of = |id: NodeId| self.v.node(id).ty;
        Some(match node.op {
            Op::Const(bits) => bits,
            Op::Iter(ref form) => value::from_integer(form.eval(at, self.p).into(), node.ty),
            Op::Guard(ref conditions) => u64::from(conditions.iter().all(|c| c.holds(at, self.p))),
            Op::Input { .. } => (r.next() << 32 ^ r.next()) & mask(node.ty.bits()),
            Op::Past { hop, .. } if hop != [0, 0] => (r.next() << 32 ^ r.next()) & mask(node.ty.bits()),
            Op::Past { source, ref waves, .. } => {
                self.values[now.checked_sub(self.v.most(waves) as usize)?][source.index()]?
            }
            Op::Unary(op, a) => value::eval_unary(op, of(a)?, node.ty),
            Op::Binary(op, a, b) => value::eval_binary(op, of(a)?, of(b)?, ty_of(a), ty_of(b)),
            Op::Select(c, a, b) => {
                if of(c)? == 1 {
                    of(a)?
                } else {
                    of(b)?
                }
            }
            Op::Cast(a) => value::cast(of(a)?, ty_of(a), node.ty),
            Op::Lookup(ref table, a) => value::eval_lookup(table, of(a)?),
            Op::Fma(a, b, c) => value::eval_fma(of(a)?, of(b)?, of(c)?, node.ty),
            Op::Scalar(_) => unreachable!("the bench has no scalars"),
            Op::Dot { .. } | Op::Join { .. } | Op::Spread(..) | Op::Field(..) => unreachable!("the bench draws none"),
        })
    }

    /// What the neighbour `hop` away gets for a `Past`: the source of `waves` ago, here.
    fn passed(&self, source: NodeId, now: usize, waves: i64) -> Option<u64> {
        self.values[now.checked_sub(waves as usize)?][source.index()]
    }
}

/// The value of a field in wave number `now`.
fn value(field: &Field, now: usize, at: &[i64]) -> i64 {
    match field {
        Field::Valid => 1,
        Field::Guard(conditions) => i64::from(conditions.iter().all(|c| c.holds(at, [0, 0]))),
        Field::Time(form) => form.eval(at, [0, 0]),
        Field::Pointer(depth, _) | Field::WritePointer(depth, _) => now as i64 % depth,
    }
}

/// What a wave brings and what it must give, at cycle `t`.
fn script_wave(script: &mut Script, v: &Vsa, datapath: &Datapath, model: &Model, t: i64, at: &[i64]) {
    let now = model.values.len() - 1;
    for (k, (field, phase)) in datapath.fields.iter().enumerate() {
        if !datapath.fixed_fields.contains(field) {
            script.drive(t + phase, &field_port(k, field, &v.counters).name, value(field, now, at));
        }
    }
    for id in datapath.ids() {
        let (name, ready) = (stem(v, id), v.schedule.ready[id.index()]);
        let Op::Past { source, hop, ref waves } = v.node(id).op else {
            if let (Op::Input { .. }, Some(value)) = (&v.node(id).op, model.values[now][id.index()]) {
                script.drive(t + ready, &format!("{name}_in"), value as i64);
            }
            continue;
        };
        if hop == [0, 0] {
            continue;
        }
        if let Some(value) = model.values[now][id.index()] {
            script.drive(t + ready, &format!("{name}_in"), value as i64);
        }
        if let Some(value) = model.passed(source, now, v.most(waves)) {
            let due = ready + v.schedule.behind(hop);
            script.expect(t + due, &format!("{name}_out"), value, format!("wave {now}: {:?}", v.node(id).op));
        }
    }
    for (o, group) in v.outputs.iter().enumerate() {
        let time = t + collect_time(v, o);
        for (k, port) in group.ports.iter().enumerate() {
            if let Some(value) = model.values[now][port.value.index()] {
                script.expect(
                    time,
                    &format!("out{o}_{k}"),
                    value,
                    format!("wave {now} of cycle {t}, {:?}", port.value),
                );
            }
        }
    }
}

/// Per-PE enables: what the node says for waves, 0 in all other cycles.
fn script_enables(script: &mut Script, v: &Vsa, model: &Model, launches: &[i64], quiet_from: i64) {
    for (o, group) in v.outputs.iter().enumerate() {
        for (k, port) in group.ports.iter().enumerate().filter(|x| !travels(v, x.1.enable)) {
            let time = collect_time(v, o);
            for t in quiet_from..=launches.last().copied().unwrap_or(0) {
                let enable = match launches.binary_search(&t) {
                    Ok(wave) => model.values[wave][port.enable.index()],
                    Err(_) => Some(0),
                };
                if let Some(enable) = enable {
                    script.expect(
                        t + time,
                        &format!("out{o}_{k}_en"),
                        enable,
                        format!("wave of cycle {t}, {:?}", port.enable),
                    );
                }
            }
        }
    }
}

/// Outputs that hand inputs on to the next PE.
fn repeats(script: &mut Script, v: &Vsa, datapath: &Datapath) {
    for a in (0..2).filter(|&a| v.extent[a] > 1) {
        let delay = v.schedule.start[a].hop_delay();
        for (k, (field, _)) in datapath.fields.iter().enumerate() {
            let port = field_port(k, field, &v.counters).name;
            script.repeat(&port, &pass_port(v, &port, a), delay);
        }
        for id in datapath.ids() {
            let Op::Input { group, .. } = v.node(id).op else { continue };
            if v.inputs[group as usize].forward[a] {
                script.repeat(&format!("{}_in", stem(v, id)), &pass_port(v, &stem(v, id), a), delay);
            }
        }
    }
}

fn at_place(r: &mut Random, v: &Vsa, datapath: &Datapath, p: [i64; 2]) {
    let mut sim = simulate(Pe::new(v, datapath.clone()), r);
    let mut script = Script::default();
    let mut model = Model { v, p, values: vec![] };
    script.quiet("valid", 0);
    for (k, tied) in datapath.tied.iter().enumerate() {
        script.quiet(&format!("{}{k}", tied.kind()), tied.value(p).expect("no scalars"));
    }
    // What a run fixes does not come with the waves.
    for (k, (field, _)) in datapath.fields.iter().enumerate().filter(|of| datapath.fixed_fields.contains(of.1 .0)) {
        script.quiet(&field_port(k, field, &v.counters).name, value(field, 0, &counters(v, 0)));
    }
    repeats(&mut script, v, datapath);
    // Bubbles run through the whole PE first, as after a reset.
    let flushed = v.schedule.ready.iter().max().copied().unwrap_or(0) + 4;
    let bubbles = r.pick(&[0, 30, 80]);
    let mut t = flushed;
    let mut launches = vec![];
    let total: i64 = v.counters.iter().map(|c| c.trip).product();
    for n in 0..r.range(1, 60) {
        while r.chance(bubbles) {
            t += 1;
        }
        let at = counters(v, n % total);
        model.wave(r, &at);
        script_wave(&mut script, v, datapath, &model, t, &at);
        launches.push(t);
        t += v.schedule.interval;
    }
    script_enables(&mut script, v, &model, &launches, flushed);
    script.play(&mut sim, r);
}

#[test]
fn every_node_is_on_its_wire_in_its_cycle() {
    for_cases(250, |r| {
        let (v, datapath) = random_pe(r);
        for _ in 0..2 {
            let p = [0, 1].map(|a| r.range(0, v.extent[a] - 1));
            at_place(r, &v, &datapath, p);
        }
    });
}

/// What the random ones are made of: no kind of delay element must be missing from them.
#[test]
fn all_kinds_of_delays_are_drawn() {
    let (mut chains, mut own, mut memories, mut asynchronous, mut plain) = (0, 0, 0, 0, 0);
    for seed in 1..=150 {
        let (_, datapath) = random_pe(&mut Random::new(seed));
        for past in datapath.pasts.values() {
            match past.delay {
                None => plain += 1,
                Some(Delay::Chain) => chains += 1,
                Some(Delay::Memory { synchronous, .. }) => {
                    memories += 1;
                    asynchronous += i32::from(!synchronous);
                }
            }
        }
        own += datapath.chains.values().filter(|c| c.own).count();
    }
    println!(
        "{plain} wires, {chains} chains ({own} with the operator's register), {memories} memories ({asynchronous} \
        asynchronous)"
    );
    assert!(plain > 10 && chains > 10 && own > 10 && memories > 10);
}
