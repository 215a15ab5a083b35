//! Estimated device resources of a VSA, from the nodes and buffers that are emitted.
//!
//! DSP slices and memory blocks are counted; LUTs and flip-flops are bounds from node widths. The figures serve to
//! reject what cannot fit; `scripts/resources.sh` measures the emitted Verilog.

use super::places::{self, Places};
use crate::cost::board::Resources;
use crate::contract::relay::{self, Relays};
use crate::contract::delay::Wait;
use crate::contract::operand::effective_type;
use crate::ir::vsa::{Delay, InputGroup, Node, NodeId, Op, Vsa};
use frontend::scop::{BinaryOp, UnaryOp};

pub fn estimate(vsa: &Vsa) -> Resources {
    let (pes, network) = (of_pes(vsa), network(vsa));
    Resources {
        lut: pes.lut + network.lut,
        ff: pes.ff + network.ff,
        dsp: pes.dsp + network.dsp,
        bram36: pes.bram36 + network.bram36,
        uram: pes.uram + network.uram,
    }
}

/// What every PE takes, as far as all need it.
pub fn per_pe(vsa: &Vsa) -> Resources {
    let all = vsa.extent[0] * vsa.extent[1];
    let mut total = Resources::default();
    for ((n, node), _) in vsa.nodes.iter().enumerate().zip(places::places(vsa).count).filter(|(_, pes)| *pes == all) {
        let need = of_node(vsa, n, node);
        total.lut += need.lut;
        total.ff += need.ff;
        total.dsp += need.dsp;
        total.bram36 += need.bram36;
    }
    total
}

/// A memory of one port in a PE that keeps `depth` values of `bits`.
pub fn memory(depth: i64, bits: i64) -> Resources {
    let mut need = Resources::default();
    add_memory(&mut need, 1, depth, bits);
    need
}

/// Everything but the PEs.
pub fn network(vsa: &Vsa) -> Resources {
    let mut total = Resources::default();
    for group in &vsa.inputs {
        feeders(&mut total, vsa, group);
    }
    for o in 0..vsa.outputs.len() {
        collectors(&mut total, vsa, o);
    }
    for port in 0..vsa.ports() {
        let bits = 8 * i64::from(vsa.bus_bytes(port));
        let arrays = vsa.arrays_of(port).count() as i64;
        total.lut += 1300 + 200 * arrays + 6 * bits;
        total.ff += 1900 + 100 * arrays + 6 * bits;
        total.bram36 += 1 + bits / 72;
    }
    total
}

/// Feeders keep words of the stream that passes by, and pick elements from them.
fn feeders(total: &mut Resources, vsa: &Vsa, group: &InputGroup) {
    let count: i64 = (0..2).filter(|&a| !group.forward[a]).map(|a| vsa.extent[a]).product();
    let array = &vsa.arrays[group.array as usize];
    let (word, bits) = (i64::from(array.word), i64::from(array.ty.bits()));
    total.ff += count * (8 * i64::from(array.bus_bytes()) + 100);
    for bank in &group.banks {
        let ports = i64::from(bank.ports);
        add_memory(total, count, 2 * bank.depth, group.kept(bank, array.word) * bits);
        // Four inputs of a multiplexer to a LUT.
        total.lut += count * (ports * bits * ((word / ports + 1) / 3) + 30 + 12 * bank.rows.len() as i64);
        total.ff += count * (word + ports) * bits;
    }
}

/// Collectors keep words and answer with a register, relays join bus words by LUTs of six inputs.
fn collectors(total: &mut Resources, vsa: &Vsa, o: usize) {
    let group = &vsa.outputs[o];
    let array = &vsa.arrays[group.array as usize];
    let count: i64 = group.extent().iter().product();
    for bank in &group.banks {
        let lanes = relay::lanes(bank, i64::from(array.word));
        let width = lanes * i64::from(array.ty.bits());
        add_memory(total, count, i64::from(group.slots) * bank.bank.depth, width);
        total.lut += count * (30 + 12 * bank.bank.rows.len() as i64 + 2 * lanes);
        total.ff += count * (width + 60);
    }
    let relays = Relays::new(vsa, o);
    let bits = 8 * i64::from(array.bus_bytes());
    let modules: i64 = relays.extent.iter().product();
    total.lut += modules * bits * (relays.joined as u64 + 1).div_ceil(5) as i64;
    total.ff += modules * (bits + 40);
}

fn of_pes(vsa: &Vsa) -> Resources {
    let mut total = Resources::default();
    let Places { count, passed } = places::places(vsa);
    total.ff += vsa.nodes.iter().zip(passed).map(|(node, registers)| registers * i64::from(node.ty.bits())).sum::<i64>();
    for ((n, node), pes) in vsa.nodes.iter().enumerate().zip(count).filter(|(_, pes)| *pes > 0) {
        let need = of_node(vsa, n, node);
        total.lut += pes * need.lut;
        total.ff += pes * need.ff;
        total.dsp += pes * need.dsp;
        total.bram36 += pes * need.bram36;
    }
    total
}

fn of_node(vsa: &Vsa, n: usize, node: &Node) -> Resources {
    let mut need = Resources::default();
    let bits = node.ty.bits() as i64;
    if let Some(core) = float_core(vsa, node) {
        let widest = bits.max(operand_bits(vsa, node));
        return Resources { dsp: core.dsp, lut: core.lut * widest, ff: core.ff * widest, ..need };
    }
    match &node.op {
        Op::Binary(op, ..) => operator(&mut need, vsa, *op, node),
        Op::Fma(..) => need.dsp += 4,
        Op::Select(..) | Op::Unary(..) => need.lut += bits,
        Op::Past { .. } => delay(&mut need, vsa, NodeId(n as u32), bits),
        _ => {}
    }
    need.ff += bits * vsa.schedule.latency.get(n).copied().unwrap_or(0).min(2);
    need
}

/// The delay element behind a source and the registers after it. A chain is there once for all that wait for the source:
/// each of them adds what is beyond the next shorter one.
fn delay(need: &mut Resources, vsa: &Vsa, id: NodeId, bits: i64) {
    let (Some(wait), Op::Past { source, hop, waves }) = (Wait::of(vsa, id), &vsa.node(id).op) else { return };
    let built = vsa.schedule.delays.get(&id).copied();
    match built {
        Some(Delay::Chain) => {
            let before = vsa.schedule.delays.iter().filter_map(|(&other, &delay)| match vsa.node(other).op {
                Op::Past { source: s, waves: w, .. } if delay == Delay::Chain && s == *source && (w, other) < (*waves, id) => Some(w),
                _ => None,
            });
            // The source's own last register is the first.
            need.ff += bits * (waves - before.max().unwrap_or(i64::from(wait.latency > 0)));
        }
        Some(Delay::Memory { .. }) => add_memory(need, 1, *waves, bits),
        None => {}
    }
    need.ff += bits * (wait.registers(built) + i64::from(*hop != [0, 0]));
}

/// A core of `templates::fp`: DSP slices, and LUTs and flip-flops per bit of its widest operand or result, rounded from
/// what `docs/operators.md` lists for fp32.
struct FloatCore {
    dsp: i64,
    lut: i64,
    ff: i64,
}

fn float_core(vsa: &Vsa, node: &Node) -> Option<FloatCore> {
    let operands = node.op.operands();
    let first = operands.first().map_or(node.ty, |&o| vsa.node(o).ty);
    if !node.ty.is_float() && !first.is_float() {
        return None;
    }
    // Significands of up to 17, 26 and 53 bits.
    let multiplier = match node.ty.bits() {
        0..=16 => 1,
        17..=32 => 2,
        _ => 10,
    };
    let core = |dsp, lut, ff| Some(FloatCore { dsp, lut, ff });
    match node.op {
        Op::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => core(0, 12, 8),
        Op::Binary(BinaryOp::Mul, ..) => core(multiplier, 10, 5),
        Op::Binary(BinaryOp::Div, ..) => core(0, 37, 48),
        Op::Binary(..) => core(0, 3, 1),
        Op::Fma(..) => core(multiplier, 34, 21),
        Op::Dot { ref pairs, .. } => {
            let lanes = pairs.len() as i64;
            core(multiplier * lanes, 9 + 16 * lanes / 3, 7 + 3 * lanes)
        }
        Op::Unary(UnaryOp::Sqrt, _) => core(0, 21, 26),
        Op::Cast(_) if first.is_float() && node.ty.is_float() && first.bits() < node.ty.bits() => core(0, 2, 3),
        Op::Cast(_) if first != node.ty => core(0, 6, 3),
        _ => None,
    }
}

fn operand_bits(vsa: &Vsa, node: &Node) -> i64 {
    node.op.operands().into_iter().map(|o| vsa.node(o).ty.bits() as i64).max().unwrap_or(0)
}

fn operator(pe: &mut Resources, vsa: &Vsa, op: BinaryOp, node: &Node) {
    let bits = node.ty.bits() as i64;
    match op {
        BinaryOp::Mul => {
            let widths = node.op.operands().into_iter().map(|o| effective_type(&vsa.nodes, o).bits() as i64);
            let (a, b) = widths.fold((1, 1), |(a, _), w| (w, a));
            let (least, most) = (a.min(b), a.max(b));
            pe.dsp += ((least + 16) / 17) * ((most + 25) / 26);
        }
        BinaryOp::Div | BinaryOp::Rem => pe.lut += bits * bits * 3 / 2,
        _ => pe.lut += bits,
    }
}

/// `count` memories of `depth` words of `width` bits: LUTs when shallow, block RAM otherwise.
fn add_memory(to: &mut Resources, count: i64, depth: i64, width: i64) {
    if depth <= 1 {
        to.ff += count * width;
    } else if depth <= 64 {
        to.lut += count * width * ((depth + 31) / 32);
    } else {
        // A RAMB36E2 holds 512 × 72 to 32768 × 1; a half of it 512 × 36.
        let halves = ((width + 35) / 36) * ((depth + 511) / 512);
        let narrow = (width * depth + 18_431) / 18_432;
        to.bram36 += count * (halves.min(narrow.max((width + 35) / 36)) + 1) / 2;
    }
}
