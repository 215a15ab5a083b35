//! What an operator is built from.

use array::vsa::Op;
use rtl::{Sig, Ty};
use scop::ScalarType;

/// The wires that carry a value of the type.
pub fn wires(ty: ScalarType) -> Ty {
    Ty { w: ty.bits(), signed: ty.signed() }
}

/// What an operator is built from.
pub struct Request<'a, 'm> {
    pub op: &'a Op,
    /// Type of the result.
    pub ty: ScalarType,
    /// Operands sampled `latency` cycles before the result; for multiplications possibly narrower than the node's
    /// operands (see `array::contract::operand::effective_type`), otherwise of the nodes' types.
    pub operands: &'a [Sig<'m>],
    pub operand_types: &'a [ScalarType],
    /// Per operand: its bits where it is a constant, which needs no register.
    pub constant: &'a [Option<u64>],
    /// Registers from operands to result, the last one included.
    pub latency: u32,
    pub name: &'a str,
}
