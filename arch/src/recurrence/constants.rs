//! **Constants.** A local scalar that is set once, ahead of all else that uses it, to a value that follows from constants is
//! that constant wherever it is read: `a = -mul1 / 2.0f` behind `mul1 = DT / (DX * DX)` takes no divider. Values are rounded
//! as the program rounds them, operation by operation in the types it names.

use frontend::interp::eval;
use frontend::scop::{Access, ArrayId, Expr, ExprKind, Scop, Statement};
use std::borrow::Cow;

/// The program without scalars that are constants.
pub fn propagated(scop: Cow<'_, Scop>) -> Cow<'_, Scop> {
    let mut scop = scop;
    while let Some((s, bits)) = (0..scop.statements.len()).find_map(|s| Some((s, constant(&scop, s)?))) {
        let set = scop.to_mut().statements.remove(s);
        scop.to_mut().statements.iter_mut().for_each(|x| replace(x, set.write.array, bits));
    }
    scop
}

/// The bits that statement `s` sets a scalar to for good.
fn constant(scop: &Scop, s: usize) -> Option<u64> {
    let Statement { loops, domain, write, reads, rhs, beta, .. } = &scop.statements[s];
    let always = loops.is_empty() && domain.iter().any(Vec::is_empty);
    if !(always && reads.is_empty() && scop.array(write.array).is_temporary() && write.subscripts.is_empty()) {
        return None;
    }
    let others = || scop.statements.iter().enumerate().filter(|(t, _)| *t != s).map(|(_, x)| x);
    let first = others().all(|x| x.write.array != write.array && (x.beta > *beta || x.reads.iter().all(|r| r.array != write.array)));
    first.then(|| eval(rhs, &[], &[]))
}

/// The statement with the constant in place of its reads of the scalar.
fn replace(statement: &mut Statement, scalar: ArrayId, bits: u64) {
    let is = |a: &Access| a.array == scalar;
    if !statement.reads.iter().any(is) {
        return;
    }
    let mut kept = 0;
    let kinds: Vec<ExprKind> = statement.reads.iter().map(|read| {
        if is(read) {
            return ExprKind::Const(bits);
        }
        kept += 1;
        ExprKind::Read(kept - 1)
    }).collect();
    statement.rhs = numbered(&statement.rhs, &kinds);
    statement.reads.retain(|read| !is(read));
}

/// The expression with its reads by their new numbers; what has only constants as operands is one.
fn numbered(e: &Expr, kinds: &[ExprKind]) -> Expr {
    if let ExprKind::Read(k) = &e.kind {
        return Expr { kind: kinds[*k].clone(), ..e.clone() };
    }
    let e = e.with_operands(|x| numbered(x, kinds));
    let operands = e.operands();
    let known = !operands.is_empty() && operands.iter().all(|x| matches!(x.kind, ExprKind::Const(_)));
    if known { Expr { kind: ExprKind::Const(eval(&e, &[], &[])), ..e } } else { e }
}
