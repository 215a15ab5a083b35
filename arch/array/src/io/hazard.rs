//! Arrays that are read and written in place: no visit may load a cell that an earlier visit has stored, unless the
//! load waits for that store on purpose (`InputGroup::after`).
//!
//! Checked on the boxes the visits transfer, so it is sound but refuses some tilings that would be right. Loads of one
//! visit come before its stores, so an untiled array is always in order. Of earlier phases a load waits for all stores,
//! unless it needs nothing of what they have stored (`recurrence::passed`).

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

/// Some visit `v` loads a cell that a visit `u` stored, where `u` precedes `v` and they first differ in counter
/// `level`; in these phases, if what one loads is not used in others as well.
fn loads_what_was_stored(
    vsa: &Vsa,
    (input, phases): (&InputGroup, &[(i64, i64)]),
    output: &OutputGroup,
    level: usize,
) -> bool {
    let depth = vsa.tile_depth;
    let (stored, loaded) = (&output.hull, &input.hull);
    let ranks = [stored, loaded].map(|h| h.origin.len());
    // Coordinates: u, v, then the local ones of what u stored and v loaded.
    let n = 2 * depth + ranks[0] + ranks[1];
    let term = |position: usize, factor: i64, constant: i64| {
        let mut expr = Affine::constant(n, constant);
        expr.coeffs[position] = factor;
        expr
    };
    let at_least = |expr: Affine| Constraint { expr, equality: false };
    let equal = |expr: Affine| Constraint { expr, equality: true };
    let mut set = Vec::new();
    for j in 0..depth {
        for position in [j, depth + j] {
            set.push(at_least(term(position, 1, 0)));
            set.push(at_least(term(position, -1, vsa.counters[j].trip - 1)));
        }
        let limit = vsa.counters[j].limit();
        for (position, limit) in [j, depth + j].into_iter().flat_map(|p| limit.map(|l| (p, l))) {
            let mut within = term(limit, 1, 0);
            within.coeffs[position] = -1;
            set.push(at_least(within));
        }
        match (output.emit.value(j), limit) {
            (Some(value), Some(limit)) if value + 1 == vsa.counters[j].trip => {
                let mut end = term(limit, 1, 0);
                end.coeffs[j] = -1;
                set.push(equal(end));
            }
            (Some(value), _) => match output.emit.parameter(j) {
                Some(parameter) => {
                    let mut end = term(parameter, 1, 0);
                    end.coeffs[j] = -1;
                    set.push(equal(end));
                }
                None => set.push(equal(term(j, 1, -value))),
            },
            (None, _) => {}
        }
        if let Some(&(lo, hi)) = phases.get(j).filter(|_| j < input.reload) {
            set.push(at_least(term(depth + j, 1, -lo)));
            set.push(at_least(term(depth + j, -1, hi)));
        }
        if let Some(value) = input.loads_at(j) {
            set.push(equal(term(depth + j, 1, -value)));
        }
        let mut later = term(depth + j, 1, 0);
        later.coeffs[j] = -1;
        if j < level {
            set.push(equal(later));
        } else if j == level {
            later.constant = -1;
            set.push(at_least(later));
        }
    }
    let places = [(stored, 0, 2 * depth), (loaded, depth, 2 * depth + ranks[0])];
    for (hull, _, local) in places {
        for d in 0..hull.origin.len() {
            set.push(at_least(term(local + d, 1, 0)));
            set.push(at_least(term(local + d, -1, hull.extent(d) - 1)));
        }
    }
    for (a, b) in stored.view.iter().zip(&loaded.view) {
        let mut apart = Affine::constant(n, a.constant - b.constant);
        for ((hull, visit, local), (view, sign)) in places.into_iter().zip([(a, 1), (b, -1)]) {
            for (e, (&c, origin)) in view.coeffs.iter().zip(&hull.origin).enumerate() {
                apart.constant += sign * c * origin.constant;
                apart.coeffs[local + e] += sign * c;
                (0..depth).for_each(|j| apart.coeffs[visit + j] += sign * c * origin.counters[j]);
            }
        }
        set.push(equal(apart));
    }
    !flow::is_empty(&set, n)
}
