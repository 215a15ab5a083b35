//! Arrays in which values pass from phase to phase: some phase loads a cell that an earlier one has stored. Loads of
//! all other arrays need not wait for a store.
//!
//! For each store and each load of an array, and each phase dimension `p`, one set of pairs is tested for emptiness:
//! both access the same cell, their phases agree in front of `p`, and the store is earlier along `p`.

use crate::affine::map::{among, coordinate, minus};
use crate::system::{Feed, System};
use scop::flow;
use scop::{Affine, Constraint, Scop};

/// Whether values pass between phases, per array.
pub fn passed(scop: &Scop, system: &System) -> Vec<bool> {
    let depth = system.dims.len();
    // The coordinates of the store, then those of the load.
    let (store, load) = (0, depth);
    let at = |form: &Affine, place: usize| among(form, place, 2 * depth);
    let all_at = |all: &[Constraint], place: usize| {
        all.iter().map(|c| Constraint { expr: at(&c.expr, place), equality: c.equality }).collect::<Vec<_>>()
    };
    let equal = |a: &Affine, b: &Affine| Constraint { expr: minus(a, b), equality: true };
    let loads = |array: usize| {
        let variables = system
            .statements
            .iter()
            .enumerate()
            .flat_map(|(s, placed)| placed.variables.iter().enumerate().map(move |(k, v)| (s, k, v)));
        variables
            .filter(move |(s, k, _)| scop.statements[*s].reads[*k].array.index() == array)
            .flat_map(|(_, _, v)| &v.pieces)
    };
    // The phases agree up to this coordinate, along which the store is earlier.
    let earlier = |p: usize| {
        let coordinate = |place: usize, p: usize| coordinate(place + p, 2 * depth);
        let later = Constraint {
            expr: Affine { constant: -1, ..minus(&coordinate(load, p), &coordinate(store, p)) },
            equality: false,
        };
        (0..p).map(|q| equal(&coordinate(load, q), &coordinate(store, q))).chain([later]).collect::<Vec<_>>()
    };
    let one = |array: usize| {
        (0..system.statements.len()).filter(|&s| scop.statements[s].write.array.index() == array).any(|s| {
            let placed = &system.statements[s];
            loads(array).any(|piece| {
                let Feed::Input { subscripts } = &piece.feed else { return false };
                let same: Vec<Constraint> = subscripts
                    .iter()
                    .zip(&placed.write)
                    .map(|(read, written)| equal(&at(read, load), &at(written, store)))
                    .collect();
                let reads = all_at(&piece.domain, load);
                placed.live_out.iter().any(|stored| {
                    system.sequences().any(|p| {
                        let both = [all_at(stored, store), reads.clone(), same.clone(), earlier(p)].concat();
                        !flow::is_empty(&both, 2 * depth)
                    })
                })
            })
        })
    };
    (0..scop.arrays.len()).map(one).collect()
}
