//! The operators of a PE: one row per operator, with its latency, its cost and the template that builds it.
//!
//! Three parts of the compiler ask the same row:
//!
//! | who | asks | for |
//! | --- | --- | --- |
//! | scheduler (`pe::schedule`, [`node_latency`]) | [`Row::latency`] | cycles from operands to result, from types |
//! | cost model (`cost::pes`) | [`Row::cost`] | LUTs, flip-flops and DSP slices of one PE, from widths |
//! | hardware (`templates::operators`) | [`Row::template`] | the function that builds it |
//!
//! Rows of integers are in `integer.rs`, rows of floats in `float.rs`, their columns are described in `row.rs`. Values
//! of other waves, inputs, constants, guards and iterators are no operators: they have no row.
//!
//! # How to change a row
//!
//! To give the float adder seven cycles, edit its row in `float.rs`:
//!
//! ```text
//! core(Operator::FloatAdd, |_| 6, |s| per_bit(s, ADDER, 8), Some(8)),      before
//! core(Operator::FloatAdd, |_| 7, |s| per_bit(s, ADDER, 9), Some(6)),      after
//! ```
//!
//! The core in `templates/src/operators/fp/add.rs` places as many registers as it is asked for, so nothing else
//! changes. `templates/tests/suite/operators.rs` builds every row and measures its latency in the simulator. It also
//! compares the rows with `docs/results/operators.md`, which `templates/examples/fp_table.rs` generates with Yosys: run
//! that again.
//!
//! # How to add a row
//!
//! Example: the sum of three products in a DSP58.
//!
//! 1. `row.rs`: a variant `Dot3` of [`Operator`], and a variant of [`Template`] of the same name.
//! 2. `integer.rs`: the row, in the order of the variants:
//!    `row(Operator::Dot3, |_| 3, |_| Resources { dsp: 1, ..Resources::default() }, Template::Dot3)`.
//! 3. [`Operator::of`]: which operation of a PE it is. (A new operation is a variant of [`Op`].)
//! 4. `templates/src/operators/mod.rs`: the function that builds it.
//! 5. `templates/tests/suite/operators.rs`: an example of its operands. The test does not compile before.
//!
//! Cost and latency may depend on the number of pairs: see `FloatDot`. Several products in one slice are no operator
//! of their own: `Join` and `Spread` put the factors side by side, the slice multiplies and adds, and `Field` tells the
//! sums apart (`crate::pe::pack`).

mod float;
mod integer;
mod row;

use crate::contract::operand::effective_type;
use crate::contract::timing::least_ready;
use crate::vsa::{Node, NodeId, Op};
pub use float::least_product;
pub use integer::takes_slices;
pub use row::{Operator, Row, Shape, Template, Types};
use scop::ScalarType;
use uniform::fabric::Fabric;

/// All rows, in the order of [`Operator`]'s variants.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    integer::ROWS.iter().chain(&float::ROWS)
}

impl Operator {
    pub fn row(self) -> &'static Row {
        let k = self as usize;
        integer::ROWS.get(k).unwrap_or_else(|| &float::ROWS[k - integer::ROWS.len()])
    }

    /// The operator of an operation whose first operand is of type `first` and whose result is of type `result`; `None`
    /// for an operation that is no operator or that does not exist on these types.
    pub fn of(op: &Op, result: ScalarType, first: ScalarType) -> Option<Operator> {
        match *op {
            Op::Const(_) | Op::Scalar(_) | Op::Iter(_) | Op::Guard(_) | Op::Input { .. } | Op::Past { .. } => None,
            Op::Unary(op, _) => Operator::of_unary(op, result),
            Op::Binary(op, ..) => Operator::of_binary(op, first),
            Op::Cast(_) => Some(Operator::of_cast(first, result)),
            Op::Select(..) => Some(Operator::Select),
            Op::Lookup(..) => Some(Operator::Lookup),
            Op::Fma(..) if result.is_float() => Some(Operator::FloatMultiplyAdd),
            Op::Fma(..) => Some(Operator::MultiplyAdd),
            Op::Dot { .. } => Some(Operator::FloatDot),
            Op::Join { .. } => Some(Operator::Join),
            Op::Spread(..) => Some(Operator::Spread),
            Op::Field(..) => Some(Operator::Field),
        }
    }
}

/// Registers from the operands to the result of `op`, whose operands have the effective types `operands`
/// ([`effective_type`]) and whose result is of type `result`.
pub fn latency(op: &Op, result: ScalarType, operands: &[ScalarType], fabric: Fabric) -> i64 {
    let length = match op {
        Op::Dot { pairs, .. } => pairs.len(),
        Op::Lookup(table, _) => table.len(),
        Op::Join { integers, .. } => integers.len(),
        _ => 0,
    };
    match Operator::of(op, result, operands.first().copied().unwrap_or(result)) {
        Some(operator) => (operator.row().latency)(&Types { result, operands, length, fabric }),
        // A guard or an iterator is ready when its registers have it.
        None if matches!(op, Op::Guard(_) | Op::Iter(_)) => least_ready(op),
        None => 0,
    }
}

/// [`latency`] of a node of the table.
pub fn node_latency(nodes: &[Node], id: NodeId, fabric: Fabric) -> i64 {
    let node = &nodes[id.index()];
    let types: Vec<ScalarType> = node.op.operands().into_iter().map(|o| effective_type(nodes, o)).collect();
    latency(&node.op, node.ty, &types, fabric)
}
