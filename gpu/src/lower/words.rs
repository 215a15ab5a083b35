//! Sizes at which rows of arrays are whole words.
//!
//! **Problem.** A lane loads 16 bytes at once where they begin at a multiple of 16 bytes. With sizes at run time the length of a row
//! decides that for all rows but the first.
//!
//! **Method.** A program may have a second kernel, for sizes with given remainders. The host takes it where the sizes have them.
//!
//! ```text
//! float x[n][m + 2], y[n][m], w[m]      m % 4 == 0: rows of y are whole words;  m % 4 == 2: those of x
//! ```
//!
//! The remainder that suits most arrays is taken, and 0 rather than another one.

use crate::arrange::{Refusal, WORD};
use crate::form::{Form, Scalar};
use crate::ir::{Op, Passing, Warp};
use uniform::affine::gcd;

/// Assumes remainders of the sizes.
///
/// # Errors
/// None makes a row of an array whole words.
pub fn assume(warp: &mut Warp) -> Result<(), Refusal> {
    let rows = rows(warp);
    let mut scalars = warp.scalars.clone();
    let whole = |scalars: &[Scalar]| rows.iter().filter(|(e, word)| e.divisor(scalars) % word == 0).count();
    let before = whole(&scalars);
    for size in 0..warp.sizes {
        let own = rows.iter().filter(|(e, _)| e.scalars.keys().any(|id| id.index() == size));
        let multiple = own.map(|(_, word)| *word).fold(1, |a, b| a / gcd(a, b) * b);
        let mut best = scalars.clone();
        for rest in 0..multiple {
            let mut other = scalars.clone();
            (other[size].multiple, other[size].rest) = (multiple, rest);
            if whole(&other) > whole(&best) {
                best = other;
            }
        }
        scalars = best;
    }
    if whole(&scalars) == before {
        return Err(Refusal::new("no sizes make rows of arrays whole words"));
    }
    warp.scalars = scalars;
    Ok(())
}

/// The lengths of rows, and the elements of a word, of the arrays in memory that the warp's rows or its feeders read or store.
fn rows(warp: &Warp) -> Vec<(Form, i64)> {
    let along = |array: usize| {
        let is = |a: usize, at: &[Form]| a == array && at.last().is_some_and(|f| f.unit == 1);
        warp.nodes.iter().any(|n| matches!(&n.op, Op::Load { array, at, .. } if is(*array, at)))
            || warp.stores.iter().any(|s| is(s.array, &s.at))
    };
    let row = |(k, a): (usize, &crate::ir::Array)| {
        let word = if along(k) { warp.width } else { (WORD / i64::from(a.ty.bytes())).max(1) };
        let used = a.passing == Passing::Pointer && (a.read || a.written) && a.extents.len() > 1;
        Some((a.extents.last()?.clone(), word)).filter(|_| used && !warp.is_unrolled())
    };
    warp.arrays.iter().enumerate().filter_map(row).collect()
}
