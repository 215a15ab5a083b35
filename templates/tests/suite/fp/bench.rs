//! Many instances of a core side by side in the simulator, fed a new vector every cycle.

use rtl::sim::Sim;
use rtl::{u, Design, ModuleBuilder, Template};
use scop::value;
use scop::{BinaryOp, ScalarType, UnaryOp};
use std::collections::VecDeque;
use templates::fp::{Core, Format, Operator, Relation};

/// `lanes` cores with the caller's register; lane `k` at bits `k * width` of the buses.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    pub core: Core,
    pub lanes: u32,
}

impl Template for Lanes {
    fn name(&self) -> String {
        format!("{}_x{}", self.core.name(), self.lanes)
    }

    fn build(&self, m: &ModuleBuilder, d: &mut Design) {
        let module = d.module(self.core);
        let cores = m.grid(d, "core", &module, [1, self.lanes]);
        for port in self.core.operands() {
            cores.set_bus(port, m.input(port, u(operand_bits(&self.core) * self.lanes)));
        }
        m.output("y", m.delay(cores.out("y"), self.core.latency.min(1), "y_q"));
    }
}

fn ty(f: Format) -> ScalarType {
    ScalarType::Float { exponent: f.exponent, fraction: f.fraction }
}

pub fn operand_bits(core: &Core) -> u32 {
    match core.operator {
        Operator::FromInt { bits, .. } => bits,
        Operator::FromFloat(from) => from.bits(),
        _ => core.format.bits(),
    }
}

pub fn result_bits(core: &Core) -> u32 {
    match core.operator {
        Operator::ToInt { bits, .. } => bits,
        Operator::Compare(_) | Operator::ToBool => 1,
        _ => core.format.bits(),
    }
}

/// What the interpreters compute.
pub fn interpreted(core: &Core, [a, b, c]: [u64; 3]) -> u64 {
    let t = ty(core.format);
    let binary = |op| value::eval_binary(op, a, b, t, t);
    match core.operator {
        Operator::Add => binary(BinaryOp::Add),
        Operator::Sub => binary(BinaryOp::Sub),
        Operator::Mul => binary(BinaryOp::Mul),
        Operator::Div => binary(BinaryOp::Div),
        Operator::Min => binary(BinaryOp::Min),
        Operator::Max => binary(BinaryOp::Max),
        Operator::Compare(Relation::Eq) => binary(BinaryOp::Eq),
        Operator::Compare(Relation::Ne) => binary(BinaryOp::Ne),
        Operator::Compare(Relation::Lt) => binary(BinaryOp::Lt),
        Operator::Compare(Relation::Le) => binary(BinaryOp::Le),
        Operator::Fma => value::eval_fma(a, b, c, t),
        Operator::Dot { .. } => value::eval_dot(&[[a, b]], c, t),
        Operator::Sqrt => value::eval_unary(UnaryOp::Sqrt, a, t),
        Operator::FromInt { bits, signed } => value::cast(a, ScalarType::Int { bits, signed }, t),
        Operator::ToInt { bits, signed } => value::cast(a, t, ScalarType::Int { bits, signed }),
        Operator::ToBool => value::cast(a, t, ScalarType::BOOL),
        Operator::FromFloat(from) => value::cast(a, ty(from), t),
    }
}

/// Appends the low `w` bits of `x` at bit `at`.
fn put(bus: &mut [u64], at: usize, w: u32, x: u64) {
    let (limb, low) = (at / 64, at % 64);
    bus[limb] |= x << low;
    if low + w as usize > 64 {
        bus[limb + 1] |= x >> (64 - low);
    }
}

fn get(bus: &[u64], at: usize, w: u32) -> u64 {
    let (limb, low) = (at / 64, at % 64);
    let mut x = bus[limb] >> low;
    if low + w as usize > 64 {
        x |= bus[limb + 1] << (64 - low);
    }
    x & value::mask(w)
}

/// Runs all vectors through the core and gives each with its result to `check`; returns their number.
pub fn run(
    core: Core,
    lanes: u32,
    vectors: impl Iterator<Item = [u64; 3]>,
    mut check: impl FnMut([u64; 3], u64),
) -> u64 {
    let mut d = Design::default();
    let top = d.module(Lanes { core, lanes });
    let mut sim = Sim::new(&d.verify().unwrap(), &top).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let (w, r) = (operand_bits(&core), result_bits(&core));
    let ports: Vec<_> = core.operands().iter().map(|p| sim.port(p)).collect();
    let y = sim.port("y");
    let mut vectors = vectors.peekable();
    let mut pending: VecDeque<Vec<[u64; 3]>> = VecDeque::new();
    let mut count = 0;
    let mut drain = |sim: &mut Sim, block: Vec<[u64; 3]>| {
        let result = sim.peek_wide(y);
        for (k, x) in block.into_iter().enumerate() {
            count += 1;
            check(x, get(result, k * r as usize, r));
        }
    };
    loop {
        let block: Vec<_> = vectors.by_ref().take(lanes as usize).map(|v| v.map(|x| x & value::mask(w))).collect();
        if block.is_empty() && pending.is_empty() {
            break;
        }
        for (k, port) in ports.iter().enumerate() {
            let mut bus = vec![0; (w * lanes).div_ceil(64) as usize];
            block.iter().enumerate().for_each(|(lane, x)| put(&mut bus, lane * w as usize, w, x[k]));
            sim.poke_wide(*port, &bus);
        }
        let more = !block.is_empty();
        pending.push_back(block);
        if core.latency == 0 {
            let block = pending.pop_front().unwrap_or_default();
            drain(&mut sim, block);
        } else {
            sim.clock();
            if pending.len() >= core.latency as usize {
                let block = pending.pop_front().unwrap_or_default();
                drain(&mut sim, block);
            }
        }
        if !more && pending.iter().all(Vec::is_empty) {
            break;
        }
    }
    count
}
