//! What products of floats take, at least, before any PE is assembled.

use super::coverage::Reached;
use crate::facts::Facts;
use crate::space::Grid;
use array::kernel::Kernel;
use array::operators::least_product;
use cost::board::Resources;
use scop::{BinaryOp, Expr, ExprKind};
use uniform::affine::map::compose;
use uniform::design::Dot;

/// A product of two values that are no constants.
pub(super) struct Product {
    /// With the addition that adds it to a sum.
    need: Resources,
    /// The program's dimensions along which one of its factors is another element of an array that is only read, as
    /// bits.
    moves: u32,
}

/// The products of each statement.
pub(super) fn products(program: &Kernel, dot: Dot) -> Vec<Vec<Product>> {
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
        factors(&statement.rhs, false, &mut |product, added, a, b| {
            // Products of integers depend on their widths, which are not known yet.
            if product.ty.is_float() {
                let moves = [a, b].into_iter().flat_map(Expr::reads).map(moves).fold(0, |a, b| a | b);
                found.push(Product { need: least_product(product.ty, dot == Dot::Fused, added), moves });
            }
        });
        found
    };
    (0..scop.statements.len()).map(of).collect()
}

/// The expression has such a product.
pub(super) fn multiplies(e: &Expr) -> bool {
    let mut any = false;
    factors(e, false, &mut |_, _, _, _| any = true);
    any
}

/// Calls back for each product, and whether it is added to a value that is no constant.
pub(super) fn factors(e: &Expr, added: bool, found: &mut impl FnMut(&Expr, bool, &Expr, &Expr)) {
    let constant = |e: &Expr| matches!(e.kind, ExprKind::Const(_));
    let adds = match &e.kind {
        ExprKind::Fma(a, b, _) => {
            found(e, true, a, b);
            false
        }
        ExprKind::Binary(BinaryOp::Mul, a, b) if !constant(a) && !constant(b) => {
            found(e, added, a, b);
            false
        }
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => !constant(a) && !constant(b),
        _ => false,
    };
    e.operands().into_iter().for_each(|e| factors(e, adds, found));
}

/// All products of a grid. `reached`, `lanes`: PEs and lanes of all PEs that each statement reaches. Statements may
/// share an operator; lanes share one if its factors are the same in all of them.
pub(super) fn least(
    products: &[Vec<Product>],
    grid: &Grid,
    facts: &Facts,
    reached: &Reached,
    lanes: &Reached,
) -> Resources {
    let t = grid.flow.lanes as usize;
    // Of lanes whose products share slices, one counts.
    let beside: i64 = grid.beside.iter().product();
    let alone = |d: &usize| facts.transform.iter().enumerate().all(|(u, row)| u == t || row[*d] == 0);
    let along = facts.alone(t).filter(alone).map_or(0, |d| 1 << d.min(31));
    let mut least = Resources::default();
    for ((all, reached), lanes) in products.iter().zip(reached).zip(lanes) {
        for product in all {
            let lanes = lanes.map(|n| n / beside);
            let operators = if product.moves & along != 0 { lanes } else { *reached }.unwrap_or(0);
            least.dsp = least.dsp.max(product.need.dsp * operators);
            least.lut = least.lut.max(product.need.lut * operators);
        }
    }
    least
}
