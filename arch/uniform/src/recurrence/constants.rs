//! **Constants.** A local scalar that is set once, before all its uses, to a value of constants alone is a constant: `a
//! = -mul1 / 2.0f` after `mul1 = DT / (DX * DX)` takes no divider. Values are rounded as in the program, operation by
//! operation in its types.

use scop::interp::eval;
use scop::{Access, ArrayId, Expr, ExprKind, Scop, Statement};
use std::borrow::Cow;

/// The program without scalars that are constants.
pub fn propagated(scop: Cow<'_, Scop>) -> Cow<'_, Scop> {
    let mut scop = scop;
    while let Some((s, bits)) = (0..scop.statements.len()).find_map(|s| Some((s, constant(&scop, s)?))) {
        let set = scop.to_mut().statements.remove(s);
        scop.to_mut().statements.iter_mut().for_each(|x| replace(x, Some((set.write.array, bits))));
    }
    scop
}

/// The bits of the constant to which statement `s` sets a scalar.
fn constant(scop: &Scop, s: usize) -> Option<u64> {
    let Statement { reads, rhs, .. } = &scop.statements[s];
    (reads.is_empty() && is_set_once(scop, s)).then(|| eval(rhs, &[], &[]))
}

/// Statement `s` always sets a local scalar, before all its uses, and no other statement does.
pub(super) fn is_set_once(scop: &Scop, s: usize) -> bool {
    let Statement { loops, domain, write, beta, reads, .. } = &scop.statements[s];
    let always = loops.is_empty() && domain.iter().any(Vec::is_empty) && reads.iter().all(|r| r.array != write.array);
    let mut others = scop.statements.iter().enumerate().filter(|(t, _)| *t != s).map(|(_, x)| x);
    always
        && scop.array(write.array).is_temporary()
        && write.subscripts.is_empty()
        && others
            .all(|x| x.write.array != write.array && (x.beta > *beta || x.reads.iter().all(|r| r.array != write.array)))
}

/// The statement with the constant in place of its reads of the scalar, and without reads that it does not use.
pub(super) fn replace(statement: &mut Statement, constant: Option<(ArrayId, u64)>) {
    let is = |a: &Access| constant.is_some_and(|c| a.array == c.0);
    let mut used = vec![false; statement.reads.len()];
    statement.rhs.reads().into_iter().for_each(|k| used[k] = true);
    if !statement.reads.iter().any(is) && !used.contains(&false) {
        return;
    }
    let mut next = 0;
    let kinds: Vec<ExprKind> = statement
        .reads
        .iter()
        .zip(&used)
        .map(|(read, used)| match constant {
            Some((_, bits)) if is(read) => ExprKind::Const(bits),
            _ => {
                next += usize::from(*used);
                ExprKind::Read(next.saturating_sub(1))
            }
        })
        .collect();
    statement.rhs = numbered(&statement.rhs, &kinds);
    let mut used = used.into_iter();
    statement.reads.retain(|read| used.next() == Some(true) && !is(read));
}

/// The expression with its reads by their new numbers; an operation on constants is a constant.
fn numbered(e: &Expr, kinds: &[ExprKind]) -> Expr {
    if let ExprKind::Read(k) = &e.kind {
        return Expr { kind: kinds[*k].clone(), ..e.clone() };
    }
    let e = e.with_operands(|x| numbered(x, kinds));
    let operands = e.operands();
    let constant = !operands.is_empty() && operands.iter().all(|x| matches!(x.kind, ExprKind::Const(_)));
    if constant {
        Expr { kind: ExprKind::Const(eval(&e, &[], &[])), ..e }
    } else {
        e
    }
}
