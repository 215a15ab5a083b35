//! Operators: what a PE computes, with the semantics of `scop::value`, bit for bit. Those on floats are in `fp`.
//!
//! Every operator is fully pipelined. [`build`] gives the value *before* its last register, so that the caller can
//! give that register an enable (accumulators); with latency 0 it is the value itself. Fewer or more registers than
//! the natural number are spread over the stages.

pub mod fp;
mod integer;
mod request;

use array::contract::delay::table_in_luts;
use array::vsa::Op;
use integer::{binary, cast, divide, multiply, multiply_add, square_root, unary};
use rtl::{u, Bits, Design, MemStyle, ModuleBuilder, Sig};
use scop::{BinaryOp, ScalarType, UnaryOp};

pub use request::{wires, Request};

/// Whether an operator can be built for these types.
///
/// # Errors
/// The reason why not.
pub fn supported(op: &Op, ty: ScalarType, operands: &[ScalarType]) -> Result<(), String> {
    let float = ty.is_float() || operands.iter().any(|t| t.is_float());
    if float && !operands.is_empty() && !moves_bits(op, ty, operands) {
        fp::supported(op, ty, operands)
    } else {
        Ok(())
    }
}

/// The value that the operator's last register loads (latency 0: the value), of type [`wires`] of the result.
///
/// # Errors
/// Operations that are not [`supported`].
pub fn build<'m>(m: &'m ModuleBuilder, d: &mut Design, r: &Request<'_, 'm>) -> Result<Sig<'m>, String> {
    let float = r.ty.is_float() || r.operand_types.iter().any(|t| t.is_float());
    if float && !moves_bits(r.op, r.ty, r.operand_types) {
        return fp::build(m, d, r);
    }
    let before_last = r.latency.saturating_sub(1);
    let x = r.operands;
    let to = wires(r.ty);
    let light = match (r.op, x) {
        (Op::Unary(UnaryOp::Sqrt, _), [a]) => return Ok(square_root(m, *a, before_last, r.name).to(to)),
        (Op::Unary(op, _), [a]) => unary(m, *op, *a),
        (Op::Binary(BinaryOp::Mul, ..), [a, b]) => return Ok(multiply(m, *a, *b, r, before_last)),
        (Op::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), ..), [a, b]) => {
            return Ok(divide(m, [*a, *b], *op == BinaryOp::Div, before_last, r.name).to(to))
        }
        (Op::Binary(op, ..), [a, b]) => binary(m, *op, *a, *b),
        (Op::Select(..), [c, a, b]) => m.mux(*c, *a, *b),
        (Op::Cast(_), [a]) => cast(*a, r.ty),
        (Op::Lookup(table, _), [a]) => return Ok(lookup(m, table, *a, r)),
        (Op::Fma(..), [a, b, c]) => return Ok(multiply_add(m, [*a, *b, *c], r, before_last)),
        _ => return Err(format!("`{}` is not an operation with {} operands", r.name, x.len())),
    };
    Ok(m.delay(light.to(to), before_last, format!("{}_d", r.name)))
}

/// A read-only memory; in block RAM the first register is its own.
fn lookup<'m>(m: &'m ModuleBuilder, table: &[u64], position: Sig<'m>, r: &Request<'_, 'm>) -> Sig<'m> {
    let depth = (table.len() as u32).next_power_of_two().max(2);
    let words: Vec<Bits> = table.iter().map(|&v| Bits::from_u128(v.into(), r.ty.bits())).collect();
    let style = if table_in_luts(table.len() as i64) { MemStyle::Distributed } else { MemStyle::Block };
    let rom = m.rom(format!("{}_table", r.name), depth, &words, style);
    let address = position.unsigned().resize(rom.addr_ty().w);
    match r.latency {
        0 | 1 => rom.read_async(format!("{}_read", r.name), address).to(wires(r.ty)),
        n => m.delay(
            rom.read_sync(format!("{}_read", r.name), m.lit(1, u(1)), address).to(wires(r.ty)),
            n - 2,
            format!("{}_d", r.name),
        ),
    }
}

/// Operations that look at no bit of a float.
fn moves_bits(op: &Op, ty: ScalarType, operands: &[ScalarType]) -> bool {
    matches!(op, Op::Select(..) | Op::Lookup(..)) || matches!(op, Op::Cast(_)) && operands.first() == Some(&ty)
}
