//! Transforms of the iteration space worth trying.

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

/// Coefficients of a wavefront beyond which most of its steps would be empty.
const STEEPEST: i64 = 8;

/// The identity with a *wavefront* in the place of the innermost loop: the least sum of loops that grows along every
/// dependence. Where it runs outermost in time, no iterations of the other loops wait for each other within one of its
/// steps. `None` where it is not made of several loops, the innermost one among them, or is known as a skew; and in
/// programs of less than three loops or in phases.
pub fn wavefront(system: &System) -> Option<Vec<Vec<i64>>> {
    let depth = system.dims.len();
    if system.frame().outer > 0 || depth < 3 {
        return None;
    }
    let distances: Vec<Vec<i64>> = system.dependences().into_iter().map(|d| d.distance).collect();
    let mut front = vec![0; depth];
    for d in (0..depth).rev() {
        // Of those that this loop carries, what loops further in leave open.
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
