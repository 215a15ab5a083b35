//! Estimated device resources of a VSA, from the nodes and buffers that are emitted.
//!
//! DSP slices and memory blocks are counted; LUTs and flip-flops are bounds from node widths. The figures serve to
//! reject what cannot fit; `scripts/resources.sh` measures the emitted Verilog.

use crate::board::Resources;
use crate::timing;
use crate::verify::sources;
use crate::vsa::{Node, NodeId, Op, Vsa};
use frontend::scop::{BinaryOp, UnaryOp};

pub fn estimate(vsa: &Vsa) -> Resources {
    let pes = vsa.extent[0] * vsa.extent[1];
    let pe = per_pe(vsa);
    let mut total = Resources { lut: pes * pe.lut, ff: pes * pe.ff, dsp: pes * pe.dsp, bram36: pes * pe.bram36, uram: 0 };
    for group in &vsa.inputs {
        let feeders: i64 = (0..2).filter(|&a| !group.forward[a]).map(|a| vsa.extent[a]).product();
        let array = &vsa.arrays[group.array as usize];
        // A feeder that only ever needs one element of a word keeps just that.
        let still = group.col.counters.iter().all(|&c| c == 0);
        for bank in &group.banks {
            let kept = if still && bank.words_per_row == 1 { bank.ports as i64 } else { array.word as i64 };
            add_memory(&mut total, feeders, 2 * bank.depth, kept * array.ty.bits() as i64);
            total.lut += feeders * (kept * array.ty.bits() as i64 / 4 + 20);
            total.ff += feeders * (array.word as i64 + bank.ports as i64) * array.ty.bits() as i64;
        }
    }
    for group in &vsa.outputs {
        let collectors = (0..2).map(|a| group.last[a] - group.first[a] + 1).product::<i64>();
        let array = &vsa.arrays[group.array as usize];
        for bank in &group.banks {
            let used = bank.elements.min(array.word as i64 * bank.bank.words_per_row);
            let width = used.min(array.word as i64) * array.ty.bits() as i64;
            add_memory(&mut total, collectors, group.slots as i64 * bank.bank.depth, width);
        }
        total.lut += collectors * (array.word as i64 * array.ty.bits() as i64 / 2 + 30);
        total.ff += collectors * (array.word as i64 * array.ty.bits() as i64 + 60);
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

/// Nodes that something stored depends on; the others are not built.
fn live(vsa: &Vsa) -> Vec<bool> {
    let mut live = vec![false; vsa.nodes.len()];
    let mut stack: Vec<NodeId> = vsa.outputs.iter().flat_map(|g| &g.ports).flat_map(|p| [p.value, p.enable]).collect();
    while let Some(id) = stack.pop() {
        if !std::mem::replace(&mut live[id.index()], true) {
            stack.extend(sources(&vsa.node(id).op));
        }
    }
    live
}

fn per_pe(vsa: &Vsa) -> Resources {
    let mut pe = Resources::default();
    let live = live(vsa);
    for (n, node) in vsa.nodes.iter().enumerate().filter(|(n, _)| live[*n]) {
        let bits = node.ty.bits() as i64;
        if let Some(core) = float_core(vsa, node) {
            pe.dsp += core.dsp;
            pe.lut += core.lut * bits.max(operand_bits(vsa, node));
            pe.ff += core.ff * bits.max(operand_bits(vsa, node));
            continue;
        }
        match &node.op {
            Op::Binary(op, ..) => operator(&mut pe, vsa, *op, node),
            Op::Fma(..) => pe.dsp += 4,
            Op::Select(..) | Op::Unary(..) => pe.lut += bits,
            Op::Past { source, waves, .. } if *waves > 3 => add_memory(&mut pe, 1, *waves, vsa.node(*source).ty.bits() as i64),
            Op::Past { waves, .. } => pe.ff += bits * waves.max(&1),
            _ => {}
        }
        pe.ff += bits * vsa.schedule.latency.get(n).copied().unwrap_or(0).min(2);
    }
    pe
}

/// A core of `templates::fp`: DSP slices, and LUTs and flip-flops per bit of its widest operand or result, rounded from
/// what `docs/operators.md` lists for fp32.
struct FloatCore {
    dsp: i64,
    lut: i64,
    ff: i64,
}

fn float_core(vsa: &Vsa, node: &Node) -> Option<FloatCore> {
    let operands = timing::operands(&node.op);
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
    timing::operands(&node.op).into_iter().map(|o| vsa.node(o).ty.bits() as i64).max().unwrap_or(0)
}

fn operator(pe: &mut Resources, vsa: &Vsa, op: BinaryOp, node: &Node) {
    let bits = node.ty.bits() as i64;
    match op {
        BinaryOp::Mul => {
            let widths = timing::operands(&node.op).into_iter().map(|o| timing::effective_type(&vsa.nodes, o).bits() as i64);
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
