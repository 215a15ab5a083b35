//! The unimodular transforms that are tried: the identity, a skew, a wavefront, and PolySA's projections.
//!
//! **Problem.** A dependence with a negative component forbids to tile or to permute its loops; one that every loop
//! carries leaves no parallel loop.
//!
//! **Method.**
//! - [`transforms`]: the least *skew* under which no dependence has a negative component. Distances (1, -1) and (0, 1)
//!   of a stencil over (t, i) become (1, 0) and (0, 1) over (t, t+i).
//! - [`wavefront`]: the least sum of loops that grows along every dependence, in the place of the innermost loop.
//! - [`projections`]: rows that vanish on a projection vector, and time.
//!
//! **Source.** Wolf, Lam, "A Loop Transformation Theory and an Algorithm to Maximize Parallelism" (1991), sections 3
//! and 4: skewing, wavefronts; PolySA (Cong, Wang, 2018), section 4.1: projections.

use crate::mapping::Plan;
use crate::system::System;

/// The identity, and the least skew under which no dependence has a negative component (then every loop order and
/// every tiling is legal).
pub fn transforms(system: &System) -> Vec<Vec<Vec<i64>>> {
    let depth = system.dims.len();
    let identity = Plan::identity(depth).transform;
    let mut skewed = identity.clone();
    let distances: Vec<Vec<i64>> = system.dependences_within().map(|d| d.distance).collect();
    for d in 1..depth {
        for e in &distances {
            let component = |row: &[i64]| -> i64 { row.iter().zip(e).map(|(a, b)| a * b).sum() };
            let lead = (0..d).find(|&k| component(&skewed[k]) > 0);
            if let Some(k) = lead {
                let (have, per) = (component(&skewed[d]), component(&skewed[k]));
                if have < 0 {
                    let factor = (-have + per - 1) / per;
                    let source = skewed[k].clone();
                    skewed[d].iter_mut().zip(source).for_each(|(x, y)| *x += factor * y);
                }
            }
        }
    }
    if skewed == identity {
        vec![identity]
    } else {
        vec![identity, skewed]
    }
}

/// The greatest coefficient of a wavefront: most steps of a steeper one would be empty.
const STEEPEST: i64 = 8;

/// The identity with a *wavefront* in the place of the innermost loop. If it runs outermost in time, iterations of the
/// other loops do not wait for each other within one of its steps. `None` for programs in phases or of less than three
/// loops, and if it is a single loop, leaves the innermost loop out, or is the skew of [`transforms`].
pub fn wavefront(system: &System) -> Option<Vec<Vec<i64>>> {
    let depth = system.dims.len();
    if system.frame().outer > 0 || depth < 3 {
        return None;
    }
    let distances: Vec<Vec<i64>> = system.dependences().into_iter().map(|d| d.distance).collect();
    let mut front = vec![0; depth];
    for d in (0..depth).rev() {
        // The dependences that this loop carries, as far as loops further in do not order them.
        for e in distances.iter().filter(|e| e[..d].iter().all(|&x| x == 0) && e[d] > 0) {
            let have: i64 = e.iter().zip(&front).skip(d + 1).map(|(x, c)| x * c).sum();
            front[d] = front[d].max((e[d] - have).div_euclid(e[d]));
        }
    }
    let several = front[depth - 1] == 1 && front[..depth - 1].iter().any(|&c| c > 0);
    let mut transform = Plan::identity(depth).transform;
    transform[depth - 1].clone_from(&front);
    (several && front.iter().all(|&c| c <= STEEPEST) && !transforms(system).contains(&transform)).then_some(transform)
}

/// Canonical mappings of PolySA: for every projection vector `d` with coefficients 0 and 1 and at least two ones (unit
/// vectors are choices of space loops), a unimodular transform whose last row is time and whose other rows vanish on
/// `d`. The schedule vector follows from the skew.
pub fn projections(depth: usize) -> Vec<(Vec<Vec<i64>>, Vec<i64>)> {
    let mut all = Vec::new();
    if !(2..=3).contains(&depth) {
        return all;
    }
    for bits in 1u32..1 << depth {
        let d: Vec<i64> = (0..depth).map(|k| (bits >> k & 1) as i64).collect();
        if bits.count_ones() < 2 {
            continue;
        }
        // Time is the last loop that d moves along; the other coordinates are taken relative to it.
        let time = (0..depth).rev().find(|&k| d[k] == 1).expect("d is not zero");
        let unit = |k: usize| (0..depth).map(|x| (x == k) as i64).collect::<Vec<i64>>();
        let mut rows: Vec<Vec<i64>> = (0..depth)
            .filter(|&k| k != time)
            .map(|k| {
                let mut r = unit(k);
                r[time] -= d[k];
                r
            })
            .collect();
        rows.push(unit(time));
        all.push((rows, d));
    }
    all
}
