//! Whether the tiles of a phase store disjoint cells.
//!
//! Each tile counter moves the footprint by a constant vector. Two tiles are disjoint if their footprints are apart
//! along one dimension. Method: a counter that moves the footprint further than all others together can move it back is
//! settled by itself; the differences of the rest are enumerated. Example: tiles of 4 × 4 cells at `(4 * i, 4 * j)`:
//! `i` moves by 4 along the first dimension, no other counter does, and the footprint has 4 cells there.
//!
//! Invariant: the answer *yes* is sure. *No* also means that there are too many differences to look at.

use crate::vsa::Footprint;
use std::ops::Range;

/// Differences between two tiles that are looked at one by one, at most.
const DIFFERENCES: i64 = 100_000;

/// The boxes of any two tiles that differ in one of these counters which moves the box are apart along some dimension.
/// Sure where it says so; of many counters that only move the box together it does not know.
pub fn disjoint(footprint: &Footprint, counters: Range<usize>, trip: impl Fn(usize) -> i64) -> bool {
    let rank = footprint.origin.len();
    let by = |j: usize, d: usize| footprint.origin[d].counters.get(j).copied().unwrap_or(0);
    let moves = |j: usize, d: usize| by(j, d).saturating_abs();
    let reach = |j: usize| trip(j) - 1;
    let mut open: Vec<usize> = counters.filter(|&j| reach(j) > 0 && (0..rank).any(|d| moves(j, d) != 0)).collect();
    // It moves the box further than all others together can move it back.
    let alone = |j: usize, open: &[usize]| {
        (0..rank).any(|d| {
            let others = open
                .iter()
                .filter(|&&k| k != j)
                .map(|&k| moves(k, d).saturating_mul(reach(k)))
                .fold(used(footprint, d), i64::saturating_add);
            moves(j, d) >= others
        })
    };
    while let Some(at) = (0..open.len()).find(|&at| alone(open[at], &open)) {
        open.remove(at);
    }
    let all = open.iter().fold(1i64, |all, &j| all.saturating_mul(reach(j).saturating_mul(2).saturating_add(1)));
    if all > DIFFERENCES {
        return false;
    }
    let mut difference: Vec<i64> = open.iter().map(|&j| -reach(j)).collect();
    (0..all).all(|_| {
        let moved =
            |d: usize| open.iter().zip(&difference).map(|(&j, n)| i128::from(by(j, d)) * i128::from(*n)).sum::<i128>();
        let disjoint =
            difference.iter().all(|n| *n == 0) || (0..rank).any(|d| moved(d).abs() >= i128::from(used(footprint, d)));
        for (n, &j) in difference.iter_mut().zip(&open).rev() {
            *n += 1;
            if *n <= reach(j) {
                break;
            }
            *n = -reach(j);
        }
        disjoint
    })
}

/// Cells per dimension that a tile really may touch (rounding up to the modulus does not count).
fn used(footprint: &Footprint, d: usize) -> i64 {
    if d + 1 == footprint.origin.len() {
        footprint.extent(d)
    } else {
        footprint.extent(d) - (footprint.rows[d].modulus - 1)
    }
}
