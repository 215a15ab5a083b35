//! The description from which an operator is built.

use array::vsa::Op;
use rtl::{Sig, Ty};
use scop::ScalarType;

/// The wires that carry a value of the type.
pub fn wires(ty: ScalarType) -> Ty {
    Ty { w: ty.bits(), signed: ty.signed() }
}

/// One operator to build.
pub struct Request<'a, 'm> {
    pub op: &'a Op,
    /// Type of the result.
    pub ty: ScalarType,
    /// Operands, sampled `latency` cycles before the result. Factors of a multiplication may be narrower than the
    /// node's operands (`array::contract::operand::effective_type`).
    pub operands: &'a [Sig<'m>],
    pub operand_types: &'a [ScalarType],
    /// Per operand, its bits if it is a constant, which needs no register.
    pub constant: &'a [Option<u64>],
    /// Registers from operands to result, the last one included.
    pub latency: u32,
    pub name: &'a str,
}
