//! What operators on floats take.

use crate::board::Resources;
use array::vsa::{Node, Op, Vsa};
use scop::{BinaryOp, ScalarType, UnaryOp};
use uniform::design::Dot;

/// LUTs per bit: of an adder, of a multiplier, and of three lanes of a dot product.
const ADDER: i64 = 12;
const MULTIPLIER: i64 = 10;
const DOT_LANES: i64 = 16;

/// A core of `templates::fp`: DSP slices, and LUTs and flip-flops per bit of its widest operand or result, rounded from
/// what `docs/results/operators.md` lists for fp32.
pub(super) struct FloatCore {
    pub dsp: i64,
    pub lut: i64,
    pub ff: i64,
}

pub(super) fn float_core(vsa: &Vsa, node: &Node) -> Option<FloatCore> {
    let operands = node.op.operands();
    let first = operands.first().map_or(node.ty, |&o| vsa.node(o).ty);
    if !node.ty.is_float() && !first.is_float() || matches!(node.op, Op::Lookup(..)) {
        return None;
    }
    let multiplier = slices(node.ty);
    let core = |dsp, lut, ff| Some(FloatCore { dsp, lut, ff });
    match node.op {
        Op::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => core(0, ADDER, 8),
        Op::Binary(BinaryOp::Mul, ..) => core(multiplier, MULTIPLIER, 5),
        Op::Binary(BinaryOp::Div, ..) => core(0, 37, 48),
        Op::Binary(..) => core(0, 3, 1),
        Op::Fma(..) => core(multiplier, 34, 21),
        Op::Dot { ref pairs, .. } => {
            let lanes = pairs.len() as i64;
            core(multiplier * lanes, 9 + DOT_LANES * lanes / 3, 7 + 3 * lanes)
        }
        Op::Unary(UnaryOp::Sqrt, _) => core(0, 21, 26),
        Op::Cast(_) if first.is_float() && node.ty.is_float() && first.bits() < node.ty.bits() => core(0, 2, 3),
        Op::Cast(_) if first != node.ty => core(0, 6, 3),
        _ => None,
    }
}

/// What a product takes at least, together with the adder that it goes into, if it does.
pub fn product(ty: ScalarType, dot: Dot, added: bool) -> Resources {
    let alone = MULTIPLIER + if added { ADDER } else { 0 };
    let lut = if dot == Dot::Fused { alone.min(DOT_LANES / 3) } else { alone };
    Resources { dsp: slices(ty), lut: lut * i64::from(ty.bits()), ..Resources::default() }
}

/// DSP slices of a product of floats: parts of 26 bits of one significand times parts of 17 of the other.
fn slices(ty: ScalarType) -> i64 {
    let significand: i64 = match ty.bits() {
        0..=16 => 11,
        17..=32 => 24,
        _ => 53,
    };
    ((significand + 25) / 26) * ((significand + 16) / 17)
}
