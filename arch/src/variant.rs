//! Other forms of a program that compute the same, bit for bit, tried where the program as written has dependences that
//! cannot be made uniform.
//!
//! **Reversed sums.** `for (j…) x[i] -= u[i][j] * x[j];` may run backwards where the order of the sum does not matter.
//! Back substitution needs it: the term that is known last must come last.

use crate::reduction;
use frontend::flow::{self, Flow, Source};
use frontend::scop::{Access, Affine, Constraint, Expr, ExprKind, Scop, StmtId};

/// The program with one reduction's innermost loop reversed, for each reduction that allows it, then with all of them.
pub fn reversed(scop: &Scop, flow: &Flow, reassociate: Option<bool>) -> Vec<Scop> {
    let able: Vec<usize> = (0..scop.statements.len()).filter(|&s| is_reversible(scop, flow, s, reassociate)).collect();
    let single = able.iter().map(|&s| vec![s]);
    let all = (able.len() > 1).then(|| able.clone());
    single.chain(all).filter_map(|choice| choice.iter().try_fold(scop.clone(), |scop, &s| reverse(scop, s))).collect()
}

/// The statement is alone in its innermost loop, sums over it in any order, and sums what was known before the loop.
fn is_reversible(scop: &Scop, flow: &Flow, s: usize, reassociate: Option<bool>) -> bool {
    let statement = &scop.statements[s];
    let Some((&innermost, depth)) = statement.loops.last().zip(statement.loops.len().checked_sub(1)) else { return false };
    let alone = scop.statements.iter().filter(|x| x.loops.contains(&innermost)).count() == 1;
    let Some(accumulator) = reduction::accumulator(scop, s, reassociate) else { return false };
    let stays = statement.write.subscripts.iter().all(|a| a.coeffs[depth] == 0);
    let known = |(k, pieces): (usize, &Vec<flow::Piece>)| {
        k == accumulator || pieces.iter().all(|p| match &p.source {
            Source::Write { statement, iteration } if *statement == StmtId(s as u32) => {
                let same = (0..depth).map(|d| {
                    let mut expr = iteration[d].clone();
                    expr.coeffs[d] -= 1;
                    Constraint { expr, equality: true }
                });
                flow::is_empty(&p.domain.iter().cloned().chain(same).collect::<Vec<_>>(), depth + 1)
            }
            _ => true,
        })
    };
    alone && stays && flow.reads[s].iter().enumerate().all(known)
}

/// Substitutes `last - j` for the innermost iterator `j`; `None` if its last value is not one affine function.
fn reverse(mut scop: Scop, s: usize) -> Option<Scop> {
    let statement = &mut scop.statements[s];
    let inner = statement.loops.len() - 1;
    let [conjunction] = statement.domain.as_slice() else { return None };
    let mut uppers = conjunction.iter().filter(|c| c.expr.coeffs[inner] < 0 || c.equality && c.expr.coeffs[inner] != 0);
    let (upper, None) = (uppers.next()?, uppers.next()) else { return None };
    if upper.expr.coeffs[inner] != -1 || upper.equality {
        return None;
    }
    // upper: last - j >= 0
    let last = upper.expr.clone();
    let turn = |a: &Affine| {
        let c = a.coeffs[inner];
        let mut out = Affine { coeffs: a.coeffs.iter().zip(&last.coeffs).map(|(x, l)| x + c * l).collect(), constant: a.constant + c * last.constant };
        out.coeffs[inner] = -c;
        out
    };
    let turn_access = |a: &Access| Access { subscripts: a.subscripts.iter().map(&turn).collect(), ..a.clone() };
    let domain = conjunction.iter().map(|c| Constraint { expr: turn(&c.expr), equality: c.equality }).collect();
    let reads = statement.reads.iter().map(turn_access).collect();
    let write = turn_access(&statement.write);
    let rhs = turn_expr(&statement.rhs, &turn);
    let at = *statement.loops.last()?;
    (statement.domain, statement.reads, statement.write, statement.rhs) = (vec![domain], reads, write, rhs);
    let counted = &mut scop.loops[at.index()];
    let step = counted.step;
    counted.offset.coeffs.resize(inner, 0);
    counted.offset.coeffs.iter_mut().zip(&last.coeffs).for_each(|(o, l)| *o += step * l);
    counted.offset.constant += step * last.constant;
    counted.step = -step;
    Some(scop)
}

fn turn_expr(e: &Expr, turn: &impl Fn(&Affine) -> Affine) -> Expr {
    let again = |x: &Expr| Box::new(turn_expr(x, turn));
    let kind = match &e.kind {
        ExprKind::Const(_) | ExprKind::Read(_) => e.kind.clone(),
        ExprKind::Iter(a) => ExprKind::Iter(turn(a)),
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, again(a)),
        ExprKind::Cast(a) => ExprKind::Cast(again(a)),
        ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, again(a), again(b)),
        ExprKind::Select(a, b, c) => ExprKind::Select(again(a), again(b), again(c)),
        ExprKind::Fma(a, b, c) => ExprKind::Fma(again(a), again(b), again(c)),
    };
    Expr { kind, ..e.clone() }
}
