//! DSP slices that products take, before any PE is made.

use super::Grid;
use crate::affine::map::compose;
use crate::cost::resources::slices;
use crate::explore::assemble::Program;
use crate::explore::facts::Facts;
use frontend::scop::{BinaryOp, Expr, ExprKind};

/// A product of values that both change.
pub(super) struct Product {
    slices: i64,
    /// Band dimensions along which one of its factors is another element of an array that is only read, as bits.
    moves: u32,
}

/// Per statement.
pub(super) fn products(program: &Program) -> Vec<Vec<Product>> {
    let (scop, depth) = (&program.scop, program.system.dims.len());
    let of = |s: usize| {
        let statement = &scop.statements[s];
        let moves = |k: usize| {
            let read = &statement.reads[k];
            if scop.statements.iter().any(|s| s.write.array == read.array) {
                return 0;
            }
            let over = read.subscripts.iter().map(|a| compose(a, &program.system.statements[s].iterators, depth));
            over.flat_map(|a| (0..depth).filter(move |&d| d < 32 && a.coeffs[d] != 0)).fold(0, |mask, d| mask | 1 << d)
        };
        let mut found = vec![];
        factors(&statement.rhs, &mut |product, a, b| {
            // What products of integers take depends on how wide they are.
            if product.ty.is_float() {
                let moves = [a, b].into_iter().flat_map(Expr::reads).map(moves).fold(0, |a, b| a | b);
                found.push(Product { slices: slices(product.ty), moves });
            }
        });
        found
    };
    (0..scop.statements.len()).map(of).collect()
}

/// Some value is multiplied by another one that changes, too.
pub(super) fn multiplies(e: &Expr) -> bool {
    let mut any = false;
    factors(e, &mut |_, _, _| any = true);
    any
}

/// Calls back for each product of values that both change.
fn factors(e: &Expr, found: &mut impl FnMut(&Expr, &Expr, &Expr)) {
    let constant = |e: &Expr| matches!(e.kind, ExprKind::Const(_));
    match &e.kind {
        ExprKind::Fma(a, b, _) => found(e, a, b),
        ExprKind::Binary(BinaryOp::Mul, a, b) if !constant(a) && !constant(b) => found(e, a, b),
        _ => {}
    }
    e.operands().into_iter().for_each(|e| factors(e, found));
}

/// Slices of all PEs of a grid, at least, of which each statement reaches so many: statements may share an operator, lanes one whose
/// factors are the same in all of them.
pub(super) fn least(products: &[Vec<Product>], grid: &Grid, facts: &Facts, reached: &[Option<i64>]) -> i64 {
    let t = grid.flow.lanes as usize;
    let alone = |d: &usize| facts.transform.iter().enumerate().all(|(u, row)| u == t || row[*d] == 0);
    let along = facts.alone(t).filter(alone).map_or(0, |d| 1 << d.min(31));
    let of = |(all, reached): (&Vec<Product>, &Option<i64>)| {
        let lanes = |p: &Product| if p.moves & along != 0 { grid.lanes } else { 1 };
        reached.map(|pes| all.iter().map(|p| pes * p.slices * lanes(p)).max().unwrap_or(0))
    };
    products.iter().zip(reached).filter_map(of).max().unwrap_or(0)
}
