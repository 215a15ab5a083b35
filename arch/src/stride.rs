//! Arrays that are written with a stride, such as every other element: what is written is no box of the array's cells.
//! Seen with one more dimension it is. `B[2*i + 1]` of `B[12]` is `B'[i][1]` of `B'[6][2]`: the same cells in the same places.
//!
//! Done where every access to the array keeps to the stride, and the extent is a multiple of it. The outermost dimension
//! need not be one if all accesses leave the same remainder: nothing behind the array's end is touched then.

use crate::layout::gcd;
use frontend::scop::{Access, Affine, ArrayId, Scop, Statement, Storage};
use std::borrow::Cow;

/// The program with such dimensions split.
pub fn split(mut scop: Cow<Scop>) -> Cow<Scop> {
    for array in 0..scop.arrays.len() {
        if scop.arrays[array].storage != Storage::Dram {
            continue;
        }
        let mut d = 0;
        while d < scop.arrays[array].dims.len() {
            let stride = stride_of(&scop, ArrayId(array as u32), d);
            if let Some(extent) = extent_of(&scop, ArrayId(array as u32), d, stride) {
                split_dimension(scop.to_mut(), ArrayId(array as u32), d, stride, extent);
                d += 1;
            }
            d += 1;
        }
    }
    scop
}

fn accesses(statement: &Statement) -> impl Iterator<Item = &Access> {
    std::iter::once(&statement.write).chain(&statement.reads)
}

/// Greatest stride that all accesses keep to in a dimension, 1 if nobody writes with a stride.
fn stride_of(scop: &Scop, array: ArrayId, d: usize) -> i64 {
    let writes = scop.statements.iter().any(|s| s.write.array == array && s.write.subscripts[d].coeffs.iter().any(|&c| c != 0));
    let all = scop.statements.iter().flat_map(accesses).filter(|a| a.array == array);
    let stride = all.flat_map(|a| &a.subscripts[d].coeffs).fold(0, |g, &c| gcd(g, c.abs()));
    if writes { stride.max(1) } else { 1 }
}

/// Steps of `stride` in a dimension, if it can be split.
fn extent_of(scop: &Scop, array: ArrayId, d: usize, stride: i64) -> Option<i64> {
    let extent = scop.arrays[array.index()].dims[d];
    let mut remainders = scop.statements.iter().flat_map(accesses).filter(|a| a.array == array).map(|a| a.subscripts[d].constant.rem_euclid(stride));
    let first = remainders.next()?;
    match (stride, extent % stride) {
        (1, _) => None,
        (_, 0) => Some(extent / stride),
        _ if d == 0 && remainders.all(|r| r == first) => Some((extent - first + stride - 1) / stride),
        _ => None,
    }
}

fn split_dimension(scop: &mut Scop, array: ArrayId, d: usize, stride: i64, extent: i64) {
    let dims = &mut scop.arrays[array.index()].dims;
    dims[d] = extent;
    dims.insert(d + 1, stride);
    for statement in &mut scop.statements {
        let depth = statement.loops.len();
        for access in std::iter::once(&mut statement.write).chain(&mut statement.reads).filter(|a| a.array == array) {
            let whole = access.subscripts[d].clone();
            access.subscripts[d] = Affine { coeffs: whole.coeffs.iter().map(|c| c / stride).collect(), constant: whole.constant.div_euclid(stride) };
            access.subscripts.insert(d + 1, Affine::constant(depth, whole.constant.rem_euclid(stride)));
        }
    }
}
