//! Two dimensions in one subscript: `A[i * N + j]` becomes `A[i][j]` where every access to the array can be written so.
//!
//! Memory stays as it is, because C lays out `A[…][N]` in this way; but now tiles of rows and columns are boxes. An
//! array is changed only if some access moves in both directions: a plain stride stays one.

use scop::flow;
use scop::{Access, Affine, ArrayId, Constraint, Scop};
use std::borrow::Cow;

/// The program with its linearized arrays in two or more dimensions.
pub fn delinearized(scop: Cow<'_, Scop>) -> Cow<'_, Scop> {
    let mut scop = scop;
    let fixed = |a: ArrayId| scop.array(a).extents.is_empty();
    for array in (0..scop.arrays.len() as u32).map(ArrayId).filter(|&a| fixed(a)).collect::<Vec<_>>() {
        let mut d = 0;
        while d < scop.array(array).dims.len() {
            match split(&scop, array, d) {
                // The columns may be several dimensions themselves, and so may the rows.
                Some(better) => scop = Cow::Owned(better),
                None => d += 1,
            }
        }
    }
    scop
}

/// The program with dimension `d` of the array in two.
fn split(scop: &Scop, array: ArrayId, d: usize) -> Option<Scop> {
    let extent = scop.array(array).dims[d];
    let accesses = || {
        scop.statements
            .iter()
            .flat_map(move |s| s.reads.iter().chain([&s.write]).filter(move |a| a.array == array).map(move |a| (a, s)))
    };
    let mut columns: Vec<i64> = accesses()
        .flat_map(|(a, _)| &a.subscripts[d].coeffs)
        .map(|c| c.abs())
        .filter(|&c| c > 1 && c < extent && extent % c == 0)
        .collect();
    columns.sort_unstable();
    columns.dedup();
    columns.into_iter().rev().find_map(|columns| {
        let parts: Option<Vec<[Affine; 2]>> =
            accesses().map(|(a, s)| row_and_column(&a.subscripts[d], columns, &s.domain)).collect();
        let both = |[row, column]: &[Affine; 2]| !row.is_constant() && !column.is_constant();
        let parts = parts.filter(|all| all.iter().any(both))?;
        let mut parts = parts.into_iter();
        let mut out = scop.clone();
        for s in &mut out.statements {
            for access in s.reads.iter_mut().chain([&mut s.write]).filter(|a| a.array == array) {
                replace(access, d, parts.next()?);
            }
        }
        out.arrays[array.index()].dims.splice(d..=d, [extent / columns, columns]);
        Some(out)
    })
}

fn replace(access: &mut Access, d: usize, parts: [Affine; 2]) {
    access.subscripts.splice(d..=d, parts);
}

/// `subscript` as `columns * row + column` with `0 <= column < columns` all over the domain.
fn row_and_column(subscript: &Affine, columns: i64, domain: &[Vec<Constraint>]) -> Option<[Affine; 2]> {
    // The nearest multiple, so that a diagonal `i * (columns + 1)` moves by one in both.
    let rows = |c: i64| (c + (columns - 1) / 2).div_euclid(columns);
    let mut row = Affine { coeffs: subscript.coeffs.iter().map(|&c| rows(c)).collect(), constant: 0 };
    let coeffs = subscript.coeffs.iter().zip(&row.coeffs).map(|(c, r)| c - r * columns).collect();
    let mut column = Affine { coeffs, constant: subscript.constant };
    let least = domain.iter().filter_map(|part| flow::minimum(part, &column)).min()?;
    let most = domain.iter().filter_map(|part| flow::maximum(part, &column)).max()?;
    row.constant = least.div_euclid(columns);
    column.constant -= row.constant * columns;
    (most - row.constant * columns < columns).then_some([row, column])
}
