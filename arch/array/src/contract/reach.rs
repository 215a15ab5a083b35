//! The last row of a footprint that the waves of a run ask for.
//!
//! At a smaller size a loop ends earlier, and the rows behind are not loaded. Example: a footprint of 64 rows `y = i`
//! with `i < n`: the last row is `n - 1`, at most 63.

use crate::forms::local;
use crate::vsa::{Footprint, FootprintDim, Vsa, When};
use uniform::affine::Form;
use uniform::sizes::Formula;

/// The last row of each dimension that waves of a run ask for: counters that sizes end do not reach all of the
/// footprint.
pub(super) fn reach<'a>(
    (vsa, when): (&Vsa, &When),
    footprint: &Footprint,
    subscripts: &[Form],
    ports: impl Iterator<Item = &'a [i64]> + Clone,
    pes: [[i64; 2]; 2],
) -> Vec<Formula> {
    let of_dim = |(d, row): (usize, &FootprintDim)| {
        let last = Formula::Const(row.modulus * row.extent - 1);
        if vsa.sizes.list.is_empty() {
            return last;
        }
        let farthest = |port: &'a [i64], function: Option<usize>| {
            let Form { constant, counters, space } = local(vsa, subscripts, port, footprint, d);
            let places: i64 = (0..2).map(|a| pes.iter().map(|p| space[a] * p[a]).max().unwrap_or(0)).sum();
            let moves = counters.iter().enumerate().filter(|(_, &c)| c > 0);
            Formula::combination(constant + places, moves.map(|(j, &c)| (c, vsa.farthest(j, function))))
        };
        let in_run = |f: Option<usize>| match ports.clone().map(|p| farthest(p, f)).reduce(Formula::greatest) {
            // At all sizes the same: the footprint is as large, but for what its modulus rounds up.
            None | Some(Formula::Const(_)) => last.clone(),
            Some(follows) => follows.least(last.clone()),
        };
        let runs: Vec<Formula> = when.runs().into_iter().map(in_run).collect();
        if runs.iter().all(|end| *end == runs[0]) {
            return runs[0].clone();
        }
        let count = vsa.functions.len();
        let of = |f: usize| when.functions.iter().position(|g| *g == f).map_or(Formula::Const(0), |k| runs[k].clone());
        Formula::of_function((0..count).map(of).collect())
    };
    footprint.rows.iter().enumerate().map(of_dim).collect()
}
