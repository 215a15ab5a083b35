//! Rows of the operators on integers, and of those that move values of any type.

use crate::contract::memory::table_in_luts;
use crate::operators::row::{Operator, Row, Shape, Template, Types};
use crate::resources::{bits_of, line, memory, Resources};
use scop::ScalarType;
use uniform::fabric::Fabric;

pub(super) static ROWS: [Row; 20] = [
    logic(Operator::Not, |s| result(s, 0)),
    logic(Operator::Negate, |s| result(s, s.bits)),
    logic(Operator::Abs, |s| result(s, 2 * s.bits)),
    row(Operator::SquareRoot, |t| result_bits(t) / 2 + 2, |s| triangle(s.operands[0], 3, 4), Template::SquareRoot),
    logic(Operator::Add, |s| result(s, s.bits)),
    logic(Operator::Bitwise, |s| result(s, if s.constant == [false; 2] { s.bits } else { 0 })),
    logic(Operator::Shift, |s| result(s, if s.constant[1] { 0 } else { s.bits * bits_of(s.bits) * 2 / 3 + s.bits })),
    logic(Operator::Equal, |s| result(s, wider(s) / 3 + wider(s) / 18 + 1)),
    logic(Operator::Less, |s| result(s, wider(s) + 1)),
    logic(Operator::MinMax, |s| result(s, if s.constant == [false; 2] { 2 * s.bits } else { s.bits })),
    row(Operator::Multiply, |t| multiplier_latency(t.operands, t.fabric), multiply, Template::Multiply),
    row(
        Operator::MultiplyAdd,
        |t| multiplier_latency(t.operands.get(..2).unwrap_or(t.operands), t.fabric) + 1,
        product,
        Template::MultiplyAdd,
    ),
    row(
        Operator::Divide,
        |t| result_bits(t) + 2,
        |s| triangle(s.bits, 3, 2) + Resources::lut(2 * s.bits),
        Template::Divide,
    ),
    logic(Operator::Select, |s| result(s, s.bits)),
    row(Operator::Convert, |_| 0, |s| result(s, 0), Template::Logic),
    row(Operator::ToBool, |_| 0, |s| Resources::logic(s.widest / 5 + 1, s.latency), Template::Logic),
    row(Operator::Lookup, |t| 1 + i64::from(!table_in_luts(t.length as i64)), lookup, Template::Lookup),
    row(Operator::Join, |t| i64::from(borrows(t.operands)), join, Template::Packed),
    row(Operator::Spread, |_| 0, |_| Resources::default(), Template::Packed),
    row(Operator::Field, |_| 0, |s| Resources::lut(s.pairs), Template::Packed),
];

const fn row(operator: Operator, latency: fn(&Types) -> i64, cost: fn(&Shape) -> Resources, template: Template) -> Row {
    Row { operator, latency, cost, levels: None, template }
}

/// One expression in front of the result's register.
const fn logic(operator: Operator, cost: fn(&Shape) -> Resources) -> Row {
    row(operator, |_| 1, cost, Template::Logic)
}

/// So many LUTs, and the result in all registers.
fn result(s: &Shape, lut: i64) -> Resources {
    Resources::logic(lut, s.bits * s.latency)
}

/// One bit of the result per stage: `n` stages of about `n` bits, times a fraction.
fn triangle(n: i64, numerator: i64, denominator: i64) -> Resources {
    Resources::logic(n * n * numerator / denominator, n * n * numerator / denominator)
}

fn wider(s: &Shape) -> i64 {
    s.operands[0].max(s.operands[1])
}

fn result_bits(t: &Types) -> i64 {
    t.result.bits().into()
}

/// Operand, product and adder registers of the DSP slices: 27 × 18 bits, signed; else 25 × 18 as of 7-series.
fn multiplier_latency(operands: &[ScalarType], fabric: Fabric) -> i64 {
    let wide = if fabric == Fabric::Lut6 { 27 } else { 25 };
    let widths = || operands.iter().map(|t| t.bits() + u32::from(!t.signed()));
    match (widths().min().unwrap_or(1), widths().max().unwrap_or(1)) {
        (least, most) if least <= 18 && most <= wide => 2,
        (_, most) if most <= 33 => 4,
        _ => 6,
    }
}

/// A product of variables takes DSP slices. A product with a constant of few digits is a sum.
fn multiply(s: &Shape) -> Resources {
    let Some(digits) = s.digits else { return product(s) };
    let adders = (digits - 1).max(0);
    let inner = (adders - 1).max(0);
    let bits = i64::from(s.result.bits());
    Resources::logic(bits * adders, 2 * bits * inner) + line([s.latency - inner], bits, s.fabric)
}

/// DSP slices, or multipliers of 18 × 18, signed, and the sums between them. Small products are LUTs.
fn product(s: &Shape) -> Resources {
    let (wide, narrow) = (wider(s), s.operands[0].min(s.operands[1]));
    let bits = i64::from(s.result.bits());
    let most = i64::from(s.fabric.factors()[0]);
    if is_small(wide, narrow, s.fabric) {
        return Resources::logic(wide * narrow, bits * s.latency);
    }
    let pieces = |width: i64, most: i64| if width <= most { 1 } else { 1 + (width - most + most - 2) / (most - 1) };
    let dsp = (0..pieces(wide, most))
        .flat_map(|i| (0..pieces(narrow, 18)).map(move |j| (most - 1) * i + 17 * j))
        .filter(|shift| *shift < bits)
        .count() as i64;
    let sums = Resources::logic((dsp - 1) * 17, (dsp - 1) * 17);
    // Multipliers that are nothing else leave the registers to the logic: of the operands, then of the product.
    let around = match s.fabric {
        Fabric::Lut6 | Fabric::Series7 => Resources::default(),
        Fabric::Ecp5 if s.latency < 2 => Resources::ff(s.latency * bits),
        Fabric::Ecp5 => Resources::ff(wide + narrow + (s.latency - 1) * bits),
    };
    Resources { dsp, ..sums + around }
}

fn is_small(wide: i64, narrow: i64, fabric: Fabric) -> bool {
    narrow < 2 || wide + narrow < 9 && fabric.is_lut6()
}

/// A product of factors of these types is made of slices, not of LUTs.
pub fn takes_slices(factors: [ScalarType; 2], fabric: Fabric) -> bool {
    let [a, b] = factors.map(|ty| i64::from(ty.bits() + u32::from(!ty.signed())));
    !is_small(a.max(b), a.min(b), fabric)
}

/// One of the lower integers may be negative.
fn borrows(operands: &[ScalarType]) -> bool {
    operands.iter().rev().skip(1).any(|ty| ty.signed())
}

/// What is above an integer gets 1 less where that is negative.
fn join(s: &Shape) -> Resources {
    Resources::logic(if s.latency > 0 { s.bits - s.operands[0] } else { 0 }, s.bits * s.latency)
}

/// A read-only memory. A bit that is the same in all constants, or equal to another bit, is a wire. Four LUTs and the
/// multiplexers between them hold 256 bits.
fn lookup(s: &Shape) -> Resources {
    let column = |bit: u32| s.table.iter().map(|v| v >> bit & 1 == 1).collect::<Vec<bool>>();
    let mut columns: Vec<Vec<bool>> =
        (0..s.result.bits()).map(column).filter(|c| c.iter().any(|&b| b != c[0])).collect();
    columns.sort_unstable();
    columns.dedup();
    let (words, bits) = (s.table.len() as i64, columns.len() as i64);
    let read =
        if table_in_luts(words) { Resources::lut(bits * ((words + 63) / 64)) } else { memory(words, bits, s.fabric) };
    read + Resources::ff(bits * s.latency)
}
