//! Rows of the operators on floats. A core's LUTs and flip-flops are given per bit of its widest operand or result,
//! rounded from what `docs/results/operators.md` lists for fp32. Those of division and square root grow with the square of the
//! significand and are fitted to all formats.

use crate::operators::row::{Operator, Row, Shape, Template, Types};
use crate::resources::Resources;
use scop::ScalarType;
use uniform::fabric::Fabric;

/// LUTs per bit: of an adder, of a multiplier, and of three pairs of a dot product.
const ADDER: i64 = 12;
const MULTIPLIER: i64 = 10;
const THREE_PAIRS: i64 = 16;

pub(super) static ROWS: [Row; 15] = [
    sign(Operator::FloatNegate, |s| Resources::logic(s.bits, s.bits * s.latency)),
    sign(Operator::FloatAbs, |s| Resources::logic(2 * s.bits, s.bits * s.latency)),
    // A core: latency; LUTs and flip-flops per bit, DSP slices; levels.
    core(Operator::FloatAdd, |_| 6, |s| per_bit(s, ADDER, 8), Some(8)),
    core(Operator::FloatMultiply, |_| 5, |s| per_bit(s, MULTIPLIER, 5) + slices(s.result, s.fabric), Some(4)),
    core(Operator::FloatMultiplyAdd, |_| 11, |s| per_bit(s, 34, 21) + slices(s.result, s.fabric), Some(6)),
    core(Operator::FloatDot, |t| 8 + doublings(t.length), dot, Some(5)),
    core(Operator::FloatDivide, |t| fraction_bits(t) + 9, |s| recurrence(s, [5, 8], [43, 26]), Some(5)),
    core(Operator::FloatSquareRoot, |t| fraction_bits(t) + 7, |s| recurrence(s, [3, 4], [21, 16]), Some(4)),
    core(Operator::FloatCompare, |_| 1, |s| per_bit(s, 3, 1), Some(5)),
    core(Operator::FloatMinMax, |_| 1, |s| per_bit(s, 3, 1), Some(7)),
    core(Operator::FloatFromInt, |_| 3, |s| per_bit(s, 6, 3), Some(6)),
    core(Operator::FloatToInt, |_| 3, |s| per_bit(s, 6, 3), Some(6)),
    core(Operator::FloatToBool, |_| 3, |s| per_bit(s, 6, 3), None),
    core(Operator::FloatWiden, |_| 3, |s| per_bit(s, 2, 3), Some(4)),
    core(Operator::FloatNarrow, |_| 3, |s| per_bit(s, 6, 3), None),
];

const fn sign(operator: Operator, cost: fn(&Shape) -> Resources) -> Row {
    Row { operator, latency: |_| 1, cost, levels: None, template: Template::Sign }
}

const fn core(
    operator: Operator,
    latency: fn(&Types) -> i64,
    cost: fn(&Shape) -> Resources,
    levels: Option<u32>,
) -> Row {
    Row { operator, latency, cost, levels, template: Template::Core }
}

fn per_bit(s: &Shape, lut: i64, ff: i64) -> Resources {
    Resources::logic(lut, ff) * s.widest.max(s.result.bits().into())
}

/// A stage for each bit of the result, as wide as the significand, and what is there once: quarters of LUTs and of
/// flip-flops per bit of a stage, and per bit of the number.
fn recurrence(s: &Shape, stage: [i64; 2], number: [i64; 2]) -> Resources {
    let significand = fraction_of(s.result) + 3;
    let quarters = |k: usize| stage[k] * significand * significand + number[k] * s.widest.max(s.result.bits().into());
    Resources::logic(quarters(0) / 4, quarters(1) / 4)
}

fn dot(s: &Shape) -> Resources {
    per_bit(s, 9 + THREE_PAIRS * s.pairs / 3, 7 + 3 * s.pairs) + slices(s.result, s.fabric) * s.pairs
}

/// The adder tree gets one level more whenever the number of terms doubles. The terms are the pairs and the addend.
fn doublings(pairs: usize) -> i64 {
    (pairs + 1).next_power_of_two().trailing_zeros().into()
}

/// Division and square root produce one bit of the result per stage.
fn fraction_bits(t: &Types) -> i64 {
    fraction_of(t.result)
}

fn fraction_of(ty: ScalarType) -> i64 {
    match ty {
        ScalarType::Float { fraction, .. } => fraction.into(),
        ScalarType::Int { .. } => 0,
    }
}

/// DSP slices of a product: parts of 26 bits of one significand times parts of 17 bits of the other; of 18 and 18 where
/// there are multipliers.
fn slices(ty: ScalarType, fabric: Fabric) -> Resources {
    let significand: i64 = match ty.bits() {
        0..=16 => 11,
        17..=32 => 24,
        _ => 53,
    };
    let pieces = |most: i64| (significand + most - 1) / most;
    let dsp = match fabric {
        Fabric::Lut6 | Fabric::Series7 => pieces(26) * pieces(17),
        Fabric::Ecp5 => pieces(18) * pieces(18),
    };
    Resources { dsp, ..Resources::default() }
}

/// The least that a product takes, together with the adder behind it if it is `added` to something. `fused`: it may be
/// a pair of a dot product.
pub fn least_product(ty: ScalarType, fused: bool, added: bool) -> Resources {
    let alone = MULTIPLIER + if added { ADDER } else { 0 };
    let lut = if fused { alone.min(THREE_PAIRS / 3) } else { alone };
    slices(ty, Fabric::Lut6).least(slices(ty, Fabric::Ecp5)) + Resources::lut(lut * i64::from(ty.bits()))
}
