//! Floating-point operators. The pipelined IEEE-754 cores are not part of this version: a program that needs one is
//! refused with the operation's name.

use crate::operators::Request;
use arch::vsa::Op;
use frontend::scop::ScalarType;
use rtl::{ModuleBuilder, Sig};

/// The value that the last register of a floating-point operator loads (see [`crate::operators::build`]).
///
/// # Errors
/// Always, for want of the cores.
pub fn build<'m>(_: &'m ModuleBuilder, request: &Request<'_, 'm>) -> Result<Sig<'m>, String> {
    Err(format!("no floating-point core for `{}` ({:?})", request.name, request.ty))
}

/// Whether there is a core for the operation.
///
/// # Errors
/// Always, for want of the cores.
pub fn supported(_: &Op, ty: ScalarType, operands: &[ScalarType]) -> Result<(), String> {
    let format = operands.iter().copied().find(|t| t.is_float()).unwrap_or(ty);
    Err(format!("no floating-point core for {format:?}"))
}
