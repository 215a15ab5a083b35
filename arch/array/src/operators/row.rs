//! A row of the operator table: its key, its columns, and what a column may depend on.

use crate::resources::Resources;
use scop::{BinaryOp, ScalarType, UnaryOp};
use uniform::fabric::Fabric;

/// An operation together with the kind of its operands: the key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Not,
    Negate,
    Abs,
    SquareRoot,
    /// Sum or difference.
    Add,
    /// And, or, exclusive or.
    Bitwise,
    Shift,
    /// Equal, not equal.
    Equal,
    /// Less, less or equal.
    Less,
    MinMax,
    Multiply,
    MultiplyAdd,
    /// Quotient or remainder.
    Divide,
    /// A multiplexer, of values of any type.
    Select,
    /// A conversion between integer types: wires.
    Convert,
    /// Not equal to zero.
    ToBool,
    /// A table of constants of any type.
    Lookup,
    /// Integers side by side in one.
    Join,
    /// Joined integers at another distance: wires.
    Spread,
    /// One of several sums of products in one number, without the sign of the one below it.
    Field,
    FloatNegate,
    FloatAbs,
    FloatAdd,
    FloatMultiply,
    /// Multiply-add, rounded once.
    FloatMultiplyAdd,
    /// A sum of products, rounded once.
    FloatDot,
    FloatDivide,
    FloatSquareRoot,
    /// Equal, not equal, less, less or equal.
    FloatCompare,
    FloatMinMax,
    FloatFromInt,
    FloatToInt,
    FloatToBool,
    FloatWiden,
    FloatNarrow,
}

/// What the scheduler knows of an operator before anything has a place in time.
#[derive(Clone, Copy, Debug)]
pub struct Types<'a> {
    pub result: ScalarType,
    /// Factors of an integer multiplication in their narrowest type.
    pub operands: &'a [ScalarType],
    /// Pairs of a dot product, constants of a table, joined integers.
    pub length: usize,
    pub fabric: Fabric,
}

/// What the cost model knows of an operator in one PE.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    pub result: ScalarType,
    /// Bits of the result, without copies of its sign and without leading zeros.
    pub bits: i64,
    /// Bits of the first two operands, likewise. Factors of an integer multiplication: bits of a signed operand of a
    /// DSP slice.
    pub operands: [i64; 2],
    /// Bits of the widest type of those two operands.
    pub widest: i64,
    /// Which of the two are constants.
    pub constant: [bool; 2],
    /// Digits of a constant factor that replace a multiplier ([`crate::contract::operand::digits`]).
    pub digits: Option<i64>,
    /// Pairs of a dot product, LUTs that tell whether a field is negative.
    pub pairs: i64,
    pub table: &'a [u64],
    /// Registers from the operands to the result. The schedule may give light operators fewer than their row does.
    pub latency: i64,
    pub fabric: Fabric,
}

/// The function of `templates::operators` that builds the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// One expression, all registers behind it.
    Logic,
    /// Products in DSP slices, or sums of shifted operands.
    Multiply,
    MultiplyAdd,
    /// One bit of the result per stage.
    Divide,
    SquareRoot,
    /// A read-only memory.
    Lookup,
    /// Integers side by side, and what was side by side.
    Packed,
    /// Changes the sign bit of a float.
    Sign,
    /// A pipelined module of `templates::operators::fp`.
    Core,
}

/// One operator.
pub struct Row {
    pub operator: Operator,
    /// Registers from the operands to the result, the result's own included.
    pub latency: fn(&Types) -> i64,
    pub cost: fn(&Shape) -> Resources,
    /// Levels of logic on the longest path between registers, for fp32: measured, see `docs/results/operators.md`.
    pub levels: Option<u32>,
    pub template: Template,
}

impl Operator {
    /// The operator of a unary operation.
    pub fn of_unary(op: UnaryOp, ty: ScalarType) -> Option<Operator> {
        Some(match (op, ty.is_float()) {
            (UnaryOp::Not, false) => Operator::Not,
            (UnaryOp::Not, true) => return None,
            (UnaryOp::Neg, false) => Operator::Negate,
            (UnaryOp::Neg, true) => Operator::FloatNegate,
            (UnaryOp::Abs, false) => Operator::Abs,
            (UnaryOp::Abs, true) => Operator::FloatAbs,
            (UnaryOp::Sqrt, false) => Operator::SquareRoot,
            (UnaryOp::Sqrt, true) => Operator::FloatSquareRoot,
        })
    }

    /// The operator of a binary operation on operands of this type.
    pub fn of_binary(op: BinaryOp, ty: ScalarType) -> Option<Operator> {
        Some(match (op, ty.is_float()) {
            (BinaryOp::Add | BinaryOp::Sub, false) => Operator::Add,
            (BinaryOp::Add | BinaryOp::Sub, true) => Operator::FloatAdd,
            (BinaryOp::Mul, false) => Operator::Multiply,
            (BinaryOp::Mul, true) => Operator::FloatMultiply,
            (BinaryOp::Div | BinaryOp::Rem, false) => Operator::Divide,
            (BinaryOp::Div, true) => Operator::FloatDivide,
            (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, false) => Operator::Bitwise,
            (BinaryOp::Shl | BinaryOp::Shr, false) => Operator::Shift,
            (BinaryOp::Eq | BinaryOp::Ne, false) => Operator::Equal,
            (BinaryOp::Lt | BinaryOp::Le, false) => Operator::Less,
            (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le, true) => Operator::FloatCompare,
            (BinaryOp::Min | BinaryOp::Max, false) => Operator::MinMax,
            (BinaryOp::Min | BinaryOp::Max, true) => Operator::FloatMinMax,
            (BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr, true) => {
                return None
            }
        })
    }

    /// The operator of a conversion.
    pub fn of_cast(from: ScalarType, to: ScalarType) -> Operator {
        match (from.is_float(), to.is_float()) {
            (true, true) if from == to => Operator::Convert,
            (true, true) if from.bits() < to.bits() => Operator::FloatWiden,
            (true, true) => Operator::FloatNarrow,
            (false, true) => Operator::FloatFromInt,
            (true, false) if to == ScalarType::BOOL => Operator::FloatToBool,
            (true, false) => Operator::FloatToInt,
            (false, false) if to == ScalarType::BOOL => Operator::ToBool,
            (false, false) => Operator::Convert,
        }
    }
}
