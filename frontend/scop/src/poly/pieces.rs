//! Single-valued relations as piecewise affine functions.
//!
//! Problem: isl's dataflow returns relations `{ sink -> source }`. Later stages need the source's iterators as
//! functions of the sink's, with integer coefficients, on convex pieces. isl often writes such a function with a
//! division: `floor((2*i + u) / 2)` with `0 <= u <= 3` is `i` or `i + 1`.
//!
//! Method, each step only if the ones before left a division:
//! 1. Ask isl for the function of the whole relation, merged; if that is too much work, of each basic map.
//! 2. Take the lexicographic minimum, then the maximum (`extremes`). The iteration before the first one of a tile is
//!    the last one of the previous tile; both are the one relation `4*t' + k' = 4*t + k - 1`, whose function has a
//!    division, but between the bounds of `k'` it has none.
//! 3. Split a piece by the distance of the output from the input of the same position (`split_near`).
//!
//! Invariant: the pieces' domains are disjoint and cover the relation's domain. A piece without integer coefficients
//! has `outputs: None`; the caller refuses the program. All steps have a limit on isl's operations, so a result is the
//! same on every machine.

use super::context::{Error, Raw, Result};
use super::object::{Aff, Map, MultiAff, PwMultiAff, Set, Value, DIV, IN};
use crate::{Affine, Constraint};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

extern "C" {
    fn isl_pw_multi_aff_from_map(map: Raw) -> Raw;
    fn isl_map_lexmin_pw_multi_aff(map: Raw) -> Raw;
    fn isl_map_lexmax_pw_multi_aff(map: Raw) -> Raw;
    fn isl_pw_multi_aff_coalesce(function: Raw) -> Raw;
    fn isl_pw_multi_aff_foreach_piece(
        function: Raw,
        visit: extern "C" fn(Raw, Raw, *mut c_void) -> c_int,
        user: *mut c_void,
    ) -> c_int;
    fn isl_multi_aff_get_aff(function: Raw, position: c_int) -> Raw;
    fn isl_aff_dim(aff: Raw, kind: c_int) -> c_int;
    fn isl_aff_get_constant_val(aff: Raw) -> Raw;
    fn isl_aff_get_coefficient_val(aff: Raw, kind: c_int, position: c_int) -> Raw;
}

/// One piece of a piecewise function.
#[derive(Clone, Debug)]
pub struct FunctionPiece {
    pub domain: Set,
    /// One affine function of the inputs per output; `None` if some output needs a division.
    pub outputs: Option<Vec<Affine>>,
}

/// A piece's domain, and for each output its affine function, or `None` if it needs a division.
type Draft = (Set, Vec<Option<Affine>>);

impl FunctionPiece {
    fn new((domain, outputs): Draft) -> Self {
        FunctionPiece { domain, outputs: outputs.into_iter().collect() }
    }
}

/// Work limit for a relation as one function; beyond it each piece is taken by itself. Work is isl's operations times
/// the square of the number of iterators: an operation is a pivot of a tableau that grows with them in rows and
/// columns.
const SINGLE_VALUED: u64 = 500_000;
/// Work limit for all pieces; beyond it the program is refused.
const PIECEWISE: u64 = 16_000_000;
/// Step 3 splits a piece by at most this many distances.
const DISTANCES: i64 = 8;

/// Number of isl's operations that make up `work` on functions of `depth` iterators.
pub(super) fn operations(work: u64, depth: usize) -> u64 {
    work / (depth.max(3) as u64).pow(2)
}

impl Map {
    /// A single-valued relation as a piecewise affine function; the pieces' domains are disjoint. Pieces are merged
    /// into few, unless `unmerged` or that is too much work.
    ///
    /// # Errors
    /// A relation that is not single-valued, or whose pieces take isl too long; a coefficient that exceeds 64 bits.
    pub fn function_pieces(&self, unmerged: bool) -> Result<Vec<FunctionPiece>> {
        let (inputs, outputs) = self.depths()?;
        let depth = inputs.max(outputs);
        let integer = |(domain, values): (Set, MultiAff)| {
            let outputs = (0..outputs).map(|position| values.integer_affine(position, inputs));
            Ok((domain, outputs.collect::<Result<Vec<_>>>()?))
        };
        let drafts: Vec<Draft> = self.multi_affs(unmerged, depth)?.into_iter().map(integer).collect::<Result<_>>()?;
        if inputs != outputs || drafts.iter().all(|(_, outputs)| outputs.iter().all(Option::is_some)) {
            return Ok(drafts.into_iter().map(FunctionPiece::new).collect());
        }
        if !unmerged {
            let extremes = self.context.within(operations(SINGLE_VALUED, depth), || self.extremes(inputs))?;
            if let Some(pieces) = extremes.flatten() {
                return Ok(pieces);
            }
        }
        let split = || drafts.iter().map(|(domain, outputs)| self.split_near(domain, outputs)).collect();
        let pieces: Option<Vec<Vec<FunctionPiece>>> = self.context.within(operations(PIECEWISE, depth), split)?;
        Ok(match pieces {
            Some(pieces) => pieces.into_iter().flatten().collect(),
            None => drafts.into_iter().map(FunctionPiece::new).collect(),
        })
    }

    /// The relation as isl's functions: as a whole, or part by part if that is too much work or `unmerged`.
    fn multi_affs(&self, unmerged: bool, depth: usize) -> Result<Vec<(Set, MultiAff)>> {
        let whole = || {
            if !self.is_single_valued()? {
                return Err(Error::new("function_pieces", "the relation is not single-valued"));
            }
            self.coalesce()?.function()?.coalesced()?.pieces()
        };
        if !unmerged {
            if let Some(pieces) = self.context.within(operations(SINGLE_VALUED, depth), whole)? {
                return Ok(pieces);
            }
        }
        let parts = || {
            let parts = self.make_disjoint()?.basic_map_objects()?;
            let pieces = parts.iter().map(|part| part.to_map()?.function()?.pieces()).collect::<Result<Vec<_>>>()?;
            Ok(pieces.into_iter().flatten().collect())
        };
        let pieces: Option<Vec<(Set, MultiAff)>> = self.context.within(operations(PIECEWISE, depth), parts)?;
        pieces.ok_or_else(|| Error::new("function_pieces", "values have their sources in too many cases"))
    }

    /// A piece of the relation, split by the distances of the outputs that need a division from the inputs of their
    /// positions: `floor((2*i + u) / 2)` with `0 <= u <= 3` is at distance 0 or 1 from `i`.
    fn split_near(&self, whole: &Set, outputs: &[Option<Affine>]) -> Result<Vec<FunctionPiece>> {
        let depth = outputs.len();
        let unsplit = FunctionPiece::new((whole.clone(), outputs.to_vec()));
        let (input, output) = (self.input_name()?, self.output_name()?);
        let (Some(input), Some(output)) = (input.as_deref(), output.as_deref()) else {
            return Ok(vec![unsplit]);
        };
        let mut parts = vec![(whole.clone(), outputs.to_vec())];
        for position in (0..depth).filter(|p| outputs[*p].is_none()) {
            let mut distance = Affine::constant(2 * depth, 0);
            (distance.coeffs[position], distance.coeffs[depth + position]) = (-1, 1);
            let of_pair = Map::from_affine(&self.context, None, 2 * depth, None, std::slice::from_ref(&distance))?;
            let mut next = vec![];
            for (domain, outputs) in parts {
                let here = self.intersect_domain(&domain)?;
                let values = here.flatten()?.apply(&of_pair)?;
                let Some((least, greatest)) =
                    values.dim_min(0)?.zip(values.dim_max(0)?).filter(|(l, g)| g - l < DISTANCES)
                else {
                    return Ok(vec![unsplit]);
                };
                let mut several = least == greatest || domain.dim_min(position)? == domain.dim_max(position)?;
                for value in least..=greatest {
                    let at = Constraint { expr: Affine { constant: -value, ..distance.clone() }, equality: true };
                    let part = here
                        .intersect(&Map::from_conjunction(&self.context, (input, depth), (output, depth), &[at])?)?
                        .domain()?
                        .coalesce()?;
                    if part.is_empty()? {
                        continue;
                    }
                    several |= part.dim_min(position)? != part.dim_max(position)?;
                    let mut outputs = outputs.clone();
                    outputs[position] = Some(at_distance(value, position, depth));
                    next.push((part, outputs));
                }
                // One distance per iteration is no pattern: a larger loop would have more of them.
                if !several {
                    return Ok(vec![unsplit]);
                }
            }
            parts = next;
        }
        Ok(parts.into_iter().map(FunctionPiece::new).collect())
    }

    /// The pieces of the lexicographic minimum or maximum, if one of them needs no division (step 2 above).
    fn extremes(&self, depth: usize) -> Result<Option<Vec<FunctionPiece>>> {
        'extreme: for extreme in [isl_map_lexmin_pw_multi_aff, isl_map_lexmax_pw_multi_aff] {
            // SAFETY: an owned reference goes in, an owned reference comes out.
            let function =
                PwMultiAff::wrap(&self.context, unsafe { extreme(self.take()) }, "isl_map_lexmin_pw_multi_aff")?;
            // Pieces with equal outputs are joined.
            let mut found: BTreeMap<Vec<Affine>, Set> = BTreeMap::new();
            for (domain, values) in function.pieces()? {
                let outputs = (0..depth)
                    .map(|position| values.integer_affine(position, depth))
                    .collect::<Result<Option<Vec<_>>>>()?;
                let Some(outputs) = outputs else { continue 'extreme };
                for (domain, outputs) in split_by_distance(domain, outputs)? {
                    let joined = found
                        .get(&outputs)
                        .map_or_else(|| Ok(domain.clone()), |others| others.union(&domain)?.coalesce())?;
                    found.insert(outputs, joined);
                }
            }
            return Ok(Some(
                found.into_iter().map(|(outputs, domain)| FunctionPiece { domain, outputs: Some(outputs) }).collect(),
            ));
        }
        Ok(None)
    }

    /// A single-valued relation as a function.
    fn function(&self) -> Result<PwMultiAff> {
        // SAFETY: an owned reference goes in, an owned reference comes out.
        PwMultiAff::wrap(&self.context, unsafe { isl_pw_multi_aff_from_map(self.take()) }, "isl_pw_multi_aff_from_map")
    }
}

/// The function at distance `value` from the input of this position.
fn at_distance(value: i64, position: usize, depth: usize) -> Affine {
    let mut there = Affine::constant(depth, value);
    there.coeffs[position] = 1;
    there
}

/// Splits a piece where an output has one of at most two distances from the input of its position, and writes the
/// output as that input plus the distance.
fn split_by_distance(domain: Set, outputs: Vec<Affine>) -> Result<Vec<(Set, Vec<Affine>)>> {
    let depth = outputs.len();
    let (context, name) = (domain.context.clone(), domain.name()?);
    let mut parts = vec![(domain, outputs)];
    for position in 0..depth {
        let mut next = vec![];
        for (domain, outputs) in parts {
            let mut distance = outputs[position].clone();
            distance.coeffs[position] -= 1;
            let values = domain.apply(&Map::from_affine(
                &context,
                name.as_deref(),
                depth,
                None,
                std::slice::from_ref(&distance),
            )?)?;
            let Some((least, greatest)) = values.dim_min(0)?.zip(values.dim_max(0)?).filter(|(l, g)| g - l <= 1) else {
                next.push((domain, outputs));
                continue;
            };
            for value in least..=greatest {
                let here = Constraint {
                    expr: Affine { constant: distance.constant - value, ..distance.clone() },
                    equality: true,
                };
                let part = domain.intersect(&Set::from_conjunction(&context, name.as_deref(), depth, &[here])?)?;
                let mut outputs = outputs.clone();
                outputs[position] = at_distance(value, position, depth);
                next.push((part, outputs));
            }
        }
        parts = next;
    }
    Ok(parts)
}

impl PwMultiAff {
    fn coalesced(&self) -> Result<PwMultiAff> {
        // SAFETY: as above.
        PwMultiAff::wrap(&self.context, unsafe { isl_pw_multi_aff_coalesce(self.take()) }, "isl_pw_multi_aff_coalesce")
    }

    fn pieces(&self) -> Result<Vec<(Set, MultiAff)>> {
        /// Stores the owned pair; never unwinds into C (a failed allocation aborts).
        extern "C" fn collect(domain: Raw, values: Raw, user: *mut c_void) -> c_int {
            // SAFETY: user is the vector below, not otherwise borrowed during the call.
            unsafe { (*user.cast::<Vec<(Raw, Raw)>>()).push((domain, values)) };
            0
        }
        let mut found: Vec<(Raw, Raw)> = vec![];
        // SAFETY: the callback has the declared signature, and the vector outlives the call.
        let status = unsafe { isl_pw_multi_aff_foreach_piece(self.keep(), collect, (&raw mut found).cast()) };
        // Wrap everything before looking at any error, so that nothing leaks.
        let wrap = |(domain, values)| {
            (Set::wrap(&self.context, domain, "piece"), MultiAff::wrap(&self.context, values, "piece"))
        };
        let wrapped: Vec<_> = found.into_iter().map(wrap).collect();
        self.context.boolean(status, "isl_pw_multi_aff_foreach_piece")?;
        wrapped.into_iter().map(|(domain, values)| Ok((domain?, values?))).collect()
    }
}

impl MultiAff {
    /// Output `position` with integer coefficients, or `None` if it contains a division.
    fn integer_affine(&self, position: usize, inputs: usize) -> Result<Option<Affine>> {
        let aff = Aff::wrap(
            &self.context,
            unsafe { isl_multi_aff_get_aff(self.keep(), position as c_int) },
            "isl_multi_aff_get_aff",
        )?;
        let value = |raw: Raw| Ok(Value::wrap(&aff.context, raw, "isl_aff_get_coefficient_val")?.to_i64());
        // SAFETY: borrowed live aff; positions are below the reported dimensions.
        unsafe {
            let divisions = aff.context.size(isl_aff_dim(aff.keep(), DIV), "isl_aff_dim")?;
            for division in 0..divisions {
                if value(isl_aff_get_coefficient_val(aff.keep(), DIV, division as c_int))? != Some(0) {
                    return Ok(None);
                }
            }
            // A fraction is no i64, so a rational coefficient ends here too.
            let coeffs: Result<Option<Vec<i64>>> =
                (0..inputs).map(|d| value(isl_aff_get_coefficient_val(aff.keep(), IN, d as c_int))).collect();
            let constant = value(isl_aff_get_constant_val(aff.keep()))?;
            Ok(coeffs?.zip(constant).map(|(coeffs, constant)| Affine { coeffs, constant }))
        }
    }
}
