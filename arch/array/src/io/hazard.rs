//! Arrays that are read and written in place: no tile may load a cell that an earlier tile has stored.
//!
//! Problem: feeders load ahead of the waves and collectors store behind them. A tile that needs a cell of an earlier
//! tile could load it before it is stored. A load may wait for that store on purpose (`InputGroup::after`); all others
//! are checked.
//!
//! Method: the set of pairs (cell stored in tile `u`, same cell loaded in a later tile `v`) must be empty, tested with
//! isl for each tile loop in which `u` and `v` first differ. The cells are the footprints that tiles transfer, so the
//! test is sound but refuses some tilings that would be right. Example: `a[i] = a[i - 1] + 1` in tiles of 4: tile 1
//! loads `a[3]`, which tile 0 stores, and is refused unless the value stays in the array.
//!
//! Loads of one tile come before its stores, so an untiled array is always in order. A load waits for all stores of
//! earlier phases, unless it needs none of them (`recurrence::passed`).

use crate::draft::InputDraft;
use crate::vsa::{InputGroup, OutputGroup, Until, Vsa};
use scop::flow;
use scop::{Affine, Constraint};
use uniform::refusal::Illegal;

/// `drafts`: of the inputs; what is loaded in phases that do not read it does not matter.
///
/// # Errors
/// Names the array.
pub fn check(vsa: &Vsa, drafts: &[InputDraft]) -> Result<(), Illegal> {
    for (input, draft) in
        vsa.inputs.iter().zip(drafts).filter(|(g, _)| !g.after.iter().any(|a| matches!(a.until, Until::Lag(_))))
    {
        for output in vsa.outputs.iter().filter(|o| o.array == input.array) {
            let during =
                |phases: &[(i64, i64)], level: usize| loads_what_was_stored(vsa, (input, phases), output, level);
            let read =
                |level: usize| draft.phases.is_empty() || draft.phases.iter().any(|phases| during(phases, level));
            if (vsa.phases()..vsa.tile_depth).any(|level| during(&[], level) && read(level)) {
                return Err(Illegal::Overwritten { array: vsa.arrays[input.array as usize].name.clone() });
            }
        }
    }
    Ok(())
}

/// Some tile `v` loads a cell that a tile `u` stored, where `u` precedes `v` and they first differ in counter
/// `level`; in these phases, if what one loads is not used in others as well.
fn loads_what_was_stored(
    vsa: &Vsa,
    (input, phases): (&InputGroup, &[(i64, i64)]),
    output: &OutputGroup,
    level: usize,
) -> bool {
    let (stored, loaded) = (&output.footprint, &input.footprint);
    let depth = vsa.tile_depth;
    // Coordinates: u, v, then the local ones of what u stored and v loaded.
    let local = [2 * depth, 2 * depth + stored.origin.len()];
    let pairs = Pairs { n: local[1] + loaded.origin.len(), depth };
    let mut set = Vec::new();
    for j in 0..depth {
        pairs.within(&mut set, vsa, j);
        pairs.stores(&mut set, vsa, output, j);
        if let Some(&(lo, hi)) = phases.get(j).filter(|_| j < input.reload) {
            set.push(pairs.at_least(&[(depth + j, 1)], -lo));
            set.push(pairs.at_least(&[(depth + j, -1)], hi));
        }
        if let Some(value) = input.loads_at(j) {
            set.push(pairs.equal(&[(depth + j, 1)], -value));
        }
        let later = [(depth + j, 1), (j, -1)];
        if j < level {
            set.push(pairs.equal(&later, 0));
        } else if j == level {
            set.push(pairs.at_least(&later, -1));
        }
    }
    let places = [(stored, 0, local[0]), (loaded, depth, local[1])];
    for (footprint, _, local) in places {
        for d in 0..footprint.origin.len() {
            set.push(pairs.at_least(&[(local + d, 1)], 0));
            set.push(pairs.at_least(&[(local + d, -1)], footprint.extent(d) - 1));
        }
    }
    for (a, b) in stored.view.iter().zip(&loaded.view) {
        let mut difference = pairs.equal(&[], a.constant - b.constant);
        let expr = &mut difference.expr;
        for ((footprint, tile, local), (view, sign)) in places.into_iter().zip([(a, 1), (b, -1)]) {
            for (e, (&c, origin)) in view.coeffs.iter().zip(&footprint.origin).enumerate() {
                expr.constant += sign * c * origin.constant;
                expr.coeffs[local + e] += sign * c;
                (0..depth).for_each(|j| expr.coeffs[tile + j] += sign * c * origin.counters[j]);
            }
        }
        set.push(difference);
    }
    !flow::is_empty(&set, pairs.n)
}

/// Constraints on a pair of tiles `u` (the first `depth` coordinates) and `v` (the next ones), and others up to `n`.
struct Pairs {
    n: usize,
    depth: usize,
}

impl Pairs {
    fn at_least(&self, terms: &[(usize, i64)], constant: i64) -> Constraint {
        let mut expr = Affine::constant(self.n, constant);
        terms.iter().for_each(|&(position, factor)| expr.coeffs[position] = factor);
        Constraint { expr, equality: false }
    }

    fn equal(&self, terms: &[(usize, i64)], constant: i64) -> Constraint {
        Constraint { equality: true, ..self.at_least(terms, constant) }
    }

    /// Counter `j` counts up to its end in both tiles.
    fn within(&self, set: &mut Vec<Constraint>, vsa: &Vsa, j: usize) {
        let counter = &vsa.counters[j];
        for position in [j, self.depth + j] {
            set.push(self.at_least(&[(position, 1)], 0));
            set.push(self.at_least(&[(position, -1)], counter.trip - 1));
        }
        for position in [j, self.depth + j] {
            set.extend(counter.limit().map(|limit| self.at_least(&[(limit, 1), (position, -1)], 0)));
        }
    }

    /// `u` stores, as far as its counter `j` decides that.
    fn stores(&self, set: &mut Vec<Constraint>, vsa: &Vsa, output: &OutputGroup, j: usize) {
        let Some(value) = output.emit.value(j) else { return };
        let limit = vsa.counters[j].limit().filter(|_| value + 1 == vsa.counters[j].trip);
        set.push(match limit.or(output.emit.parameter(j)) {
            Some(parameter) => self.equal(&[(parameter, 1), (j, -1)], 0),
            None => self.equal(&[(j, 1)], -value),
        });
    }
}
