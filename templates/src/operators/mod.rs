//! Operators: what a PE computes, with the semantics of `scop::value`, bit for bit. Those on floats are in `fp`.
//!
//! The table `array::operators` says which function builds an operator, and in how many cycles. Every operator is fully
//! pipelined. [`build`] gives the value *before* its last register, so that the caller can give that register an enable
//! (accumulators); with latency 0 it is the value itself. A schedule may ask for fewer or more registers than the
//! table: they are spread over the stages.

pub mod fp;
mod integer;
mod packed;
mod request;

use array::contract::memory::table_in_luts;
use array::operators::{Operator, Template};
use array::vsa::Op;
use integer::{binary, cast, divide, multiply, multiply_add, square_root, unary};
use rtl::{u, Bits, Design, MemStyle, ModuleBuilder, Sig};
use scop::{BinaryOp, ScalarType};

pub use request::{wires, Request};

fn template(op: &Op, ty: ScalarType, operands: &[ScalarType]) -> Option<Template> {
    Operator::of(op, ty, *operands.first()?).map(|operator| operator.row().template)
}

/// Whether an operator can be built for these types.
///
/// # Errors
/// The reason why not.
pub fn supported(op: &Op, ty: ScalarType, operands: &[ScalarType]) -> Result<(), String> {
    match template(op, ty, operands) {
        Some(Template::Core) => fp::supported(op, ty, operands),
        None if !operands.is_empty() => Err(format!("there is no operator {op:?} ({operands:?} to {ty:?})")),
        _ => Ok(()),
    }
}

/// The value that the operator's last register loads (latency 0: the value), of type [`wires`] of the result.
///
/// # Errors
/// Operations that are not [`supported`].
pub fn build<'m>(m: &'m ModuleBuilder, d: &mut Design, r: &Request<'_, 'm>) -> Result<Sig<'m>, String> {
    let before_last = r.latency.saturating_sub(1);
    let value = match (template(r.op, r.ty, r.operand_types), r.operands) {
        (Some(Template::Logic), _) => m.delay(logic(m, r)?.to(wires(r.ty)), before_last, format!("{}_d", r.name)),
        (Some(Template::Multiply), [a, b]) => multiply(m, *a, *b, r, before_last),
        (Some(Template::MultiplyAdd), [a, b, c]) => multiply_add(m, [*a, *b, *c], r, before_last),
        (Some(Template::Divide), [a, b]) => {
            let quotient = matches!(r.op, Op::Binary(BinaryOp::Div, ..));
            divide(m, [*a, *b], quotient, before_last, r.name).to(wires(r.ty))
        }
        (Some(Template::SquareRoot), [a]) => square_root(m, *a, before_last, r.name).to(wires(r.ty)),
        (Some(Template::Lookup), [a]) => lookup(m, *a, r)?,
        (Some(Template::Packed), all) => {
            let value = match (r.op, all) {
                (Op::Join { step, .. }, [_, ..]) => packed::join(m, r, *step),
                (Op::Spread(_, spread), [a]) => packed::spread(m, *a, r, *spread),
                (Op::Field(_, field), [a]) => packed::field(m, *a, r, *field),
                _ => return Err(unknown(r)),
            };
            m.delay(value, before_last, format!("{}_d", r.name))
        }
        (Some(Template::Sign), [a]) => fp::sign(m, *a, r),
        (Some(Template::Core), _) => fp::build(m, d, r)?,
        _ => return Err(unknown(r)),
    };
    Ok(value)
}

fn unknown(r: &Request) -> String {
    format!("`{}` is not an operation with {} operands", r.name, r.operands.len())
}

/// One expression.
fn logic<'m>(m: &'m ModuleBuilder, r: &Request<'_, 'm>) -> Result<Sig<'m>, String> {
    Ok(match (r.op, r.operands) {
        (Op::Unary(op, _), [a]) => unary(m, *op, *a),
        (Op::Binary(op, ..), [a, b]) => binary(m, *op, *a, *b),
        (Op::Select(..), [c, a, b]) => m.mux(*c, *a, *b),
        (Op::Cast(_), [a]) => cast(*a, r.ty),
        _ => return Err(unknown(r)),
    })
}

/// A read-only memory. Block RAM contains the first register.
fn lookup<'m>(m: &'m ModuleBuilder, position: Sig<'m>, r: &Request<'_, 'm>) -> Result<Sig<'m>, String> {
    let Op::Lookup(table, _) = r.op else { return Err(unknown(r)) };
    let depth = (table.len() as u32).next_power_of_two().max(2);
    let words: Vec<Bits> = table.iter().map(|&v| Bits::from_u128(v.into(), r.ty.bits())).collect();
    let style = if table_in_luts(table.len() as i64) { MemStyle::Distributed } else { MemStyle::Block };
    let rom = m.rom(format!("{}_table", r.name), depth, &words, style);
    let address = position.unsigned().resize(rom.addr_ty().w);
    Ok(match r.latency {
        0 | 1 => rom.read_async(format!("{}_read", r.name), address).to(wires(r.ty)),
        n => m.delay(
            rom.read_sync(format!("{}_read", r.name), m.lit(1, u(1)), address).to(wires(r.ty)),
            n - 2,
            format!("{}_d", r.name),
        ),
    })
}
