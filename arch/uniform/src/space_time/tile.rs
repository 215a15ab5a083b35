//! From a plan to a mapping: splits every transformed coordinate into digits, numbers the counters, and finds their
//! last values.
//!
//! **Terms.** See [`crate::mapping`] for digits and [`crate::counters`] for parameters and cases. A coordinate
//! *reaches* so far in a case: its greatest value there, less the least of all. A digit is *alone* in a case if all
//! digits outside of it stay 0.
//!
//! **Method.**
//! 1. Split each coordinate ([`split`]).
//! 2. A loop whose greatest value is a function of the sizes gets a parameter for its last value, in all cases
//!    ([`Mapping::ends_by_size`]) or in one ([`Mapping::ends_by_case`]).
//! 3. Number the counters: parameters, tile loops, time loops, latency loops.
//! 4. End the inner loops by case ([`Mapping::end_by_phase`]):
//!
//! ```text
//! for (i < 8) for (j <= i), strips of 4 iterations of i, j in tiles of 4:
//!
//! i reaches   j reaches   j.tile (weight 4)   j.time (weight 1)
//! 0..3        3           3 / 4 = 0           alone: 3 / 1 = 3
//! 4..7        7           7 / 4 = 1           not alone: 3, its trip count less one
//! ```
//!
//! A loop may run longer than it needs to ([`Loose`]): a shorter one would make a delay change.
//!
//! **Invariant.** Every iteration has exactly one set of digits; each last value is below its trip count.
//!
//! **Source.** AutoSA (Wang, Guo, Cong, 2021), section 4; PolySA (Cong, Wang, 2018), section 4.1.

use crate::affine::{determinant, unimodular_inverse};
use crate::case::{self, Greatest, Quotient};
use crate::counters::{Case, Counter, Span};
use crate::mapping::{row_name, Digit, DimPlan, Mapping, Plan, Role};
use crate::refusal::Illegal;
use crate::sizes::Formula;
use crate::system::{Kind, System};
use scop::{Affine, Constraint};
use std::collections::BTreeMap;
use std::ops::Range;

/// The least trip count of the loops over a coordinate, or [`WHOLE`].
pub type Loose = BTreeMap<usize, i64>;
/// Tile size that covers the whole loop: at the greatest sizes, and in the longest phase class of a statement.
pub const WHOLE: i64 = i64::MAX;

/// By dimension, digit and case of phases.
type ByCase<T> = BTreeMap<(usize, usize, usize), T>;

impl Mapping {
    /// # Errors
    /// When the transform is not unimodular, an axis is used twice, or a phase loop is not outermost and whole.
    pub fn new(system: &System, plan: Plan) -> Result<Mapping, Illegal> {
        Mapping::within(system, plan, &Loose::new())
    }

    /// As [`Mapping::new`], with loops that run longer than they need to.
    pub fn within(system: &System, plan: Plan, loose: &Loose) -> Result<Mapping, Illegal> {
        let plan = phases_outermost(system, plan)?;
        let inverse =
            unimodular_inverse(&plan.transform).ok_or_else(|| Illegal::NotUnimodular(determinant(&plan.transform)))?;
        let bounds = transformed_bounds(system, &plan.transform);
        let names: Vec<String> = plan.transform.iter().map(|row| row_name(system, row)).collect();
        let digits: Vec<Vec<Digit>> =
            plan.dims.iter().zip(&bounds).enumerate().map(|(d, (p, b))| split(d, p, b.1 - b.0 + 1)).collect();
        let mut mapping = Mapping {
            inverse,
            names,
            bounds,
            digits,
            counters: vec![],
            tile_depth: 0,
            strip: None,
            extent: [1, 1],
            axes: [String::new(), String::new()],
            lane_trips: vec![],
            uppers: BTreeMap::new(),
            cases: vec![],
            plan,
        };
        let ends = mapping.ends_by_size(system, loose);
        let by_case = mapping.ends_by_case(system, loose);
        let by_case = mapping.number_counters(system, ends, by_case);
        mapping.number_space()?;
        mapping.strip = system.strips().find_map(|d| Some(mapping.digits[d].first()?.index));
        mapping.end_by_phase(system, loose, &by_case);
        Ok(mapping)
    }

    /// Ends inner loops by case. `limits`: the parameters that do so, by dimension, digit and case.
    fn end_by_phase(&mut self, system: &System, loose: &Loose, limits: &ByCase<usize>) {
        let parameters = self.parameters();
        if self.phases() == parameters && self.strip.is_none() {
            return;
        }
        let boxes: Vec<Case> = (0..system.cases.len()).map(|case| self.outer_box(system, case, limits)).collect();
        let cased = self.cased();
        let all: i64 = self.counters[parameters..cased].iter().map(|c| c.trip).product();
        let volume = |case: &Case| case[parameters..].iter().map(|s| s.high - s.low + 1).product::<i64>();
        let between = boxes.iter().flatten().any(|span| span.end.parameter().is_some())
            || boxes.iter().map(volume).sum::<i64>() < all;
        let reaches = self.reaches(system);
        let mut lasts = vec![];
        for d in system.loops() {
            for (k, digit) in self.digits[d].iter().enumerate() {
                if !matches!(digit.role, Role::Tile | Role::Time) || digit.index < cased {
                    continue;
                }
                let most = self.lasts(system, loose, d, k, &reaches).into_iter().map(|[least, last]| last.max(least));
                let end = |(case, most): (usize, i64)| match limits.get(&(d, k, case)) {
                    Some(&place) => Formula::Parameter { place: place as u32, most },
                    None => Formula::Const(most),
                };
                let ends: Vec<Formula> = most.enumerate().map(end).collect();
                if between || ends.iter().any(|end| *end != Formula::Const(digit.trip - 1)) {
                    lasts.push((digit.index, ends));
                }
            }
        }
        if lasts.is_empty() {
            return;
        }
        self.cases = boxes;
        for (place, mut ends) in lasts {
            ends.push(Formula::Const(0));
            self.counters[place].last = Formula::ByCase(ends);
        }
    }

    /// The values of the outer counters in a case.
    fn outer_box(&self, system: &System, case: usize, limits: &ByCase<usize>) -> Case {
        let parameters = self.parameters();
        // Strips are whole along the counters of tiles.
        let tiles = self.strip.map_or(0..0, |_| self.phases()..self.tile_depth);
        let span = |d: usize| {
            let (low, high) = system.cases[case].bounds[d];
            let (low, high) = (low - self.bounds[d].0, high - self.bounds[d].0);
            let limit = limits.get(&(d, 0, case)).filter(|_| system.dims[d].kind == Kind::Sequence);
            let end = limit.map_or(Formula::Const(high), |&p| Formula::Parameter { place: p as u32, most: high });
            Span { low, high, end }
        };
        let spans = |dims: Range<usize>| dims.filter(|&d| !self.digits[d].is_empty()).map(span).collect::<Vec<_>>();
        let whole = |counters: Range<usize>| self.counters[counters].iter().map(Span::whole).collect();
        [whole(0..parameters), spans(system.sequences()), whole(tiles), spans(system.strips())].concat()
    }

    /// How far coordinates reach, by case.
    fn reaches(&self, system: &System) -> Vec<Vec<i64>> {
        system.cases.iter().map(|case| reach(&self.plan.transform, &self.bounds, &case.bounds)).collect()
    }

    /// By case: the least last value that a digit must have, and the one that its coordinate needs, at the greatest
    /// sizes.
    fn lasts(&self, system: &System, loose: &Loose, d: usize, k: usize, reaches: &[Vec<i64>]) -> Vec<[i64; 2]> {
        let digit = &self.digits[d][k];
        let last = |reach: &Vec<i64>| {
            if self.is_alone(d, k, reach) {
                (reach[d] / digit.weight).clamp(0, digit.trip - 1)
            } else {
                digit.trip - 1
            }
        };
        let ends: Vec<i64> = reaches.iter().map(last).collect();
        let mut most = ends.clone();
        loose.get(&d).into_iter().for_each(|_| evened(&mut most, system));
        most.into_iter().zip(ends).map(|(most, end)| [most.min(least(loose, d)), end]).collect()
    }

    /// Whether digits outside of digit `k` stay 0 if coordinate `d` reaches this far.
    fn is_alone(&self, d: usize, k: usize, reach: &[i64]) -> bool {
        self.digits[d][..k].iter().all(|outer| reach[d] / outer.weight == 0)
    }

    /// The last values of outermost digits that follow from the sizes in all cases, by dimension.
    fn ends_by_size(&mut self, system: &System, loose: &Loose) -> BTreeMap<usize, Formula> {
        let mut ends = BTreeMap::new();
        let last = if system.cases.is_empty() { self.digits.len() } else { system.sequences().end };
        for d in if system.is_sized() { system.parameters().end..self.digits.len() } else { 0..0 } {
            let greatest = case::greatest(
                system.statements.iter().flat_map(|s| &s.domain),
                &system.maxima(),
                &self.plan.transform[d],
            );
            let least = least(loose, d);
            // A loop that runs longer does not end with the coordinate.
            if let Some(upper) = case::single(&greatest).filter(|upper| least == 0 && !upper.is_constant()) {
                self.uppers.insert((d, None), upper.clone());
            }
            let counted = self.digits[d].first().filter(|x| d < last && matches!(x.role, Role::Tile | Role::Time));
            let varies = |digit: &&Digit| least < digit.trip - 1;
            let end = counted.filter(varies).and_then(|digit| self.last_value(d, digit, &greatest, least));
            ends.extend(end.map(|end| (d, end)));
        }
        ends
    }

    /// The last values of digits that follow from the sizes in one case. Notes greatest values of coordinates on the
    /// way.
    fn ends_by_case(&mut self, system: &System, loose: &Loose) -> ByCase<Formula> {
        let (mut ends, mut uppers) = (BTreeMap::new(), vec![]);
        if !system.is_sized() {
            return ends;
        }
        let reaches = self.reaches(system);
        for (c, case) in system.cases.iter().enumerate() {
            for d in system.parameters().end..self.digits.len() {
                let counted = |(k, x): &(usize, &Digit)| {
                    matches!(x.role, Role::Tile | Role::Time) && self.is_alone(d, *k, &reaches[c])
                };
                let Some((k, digit)) = self.digits[d].iter().enumerate().find(counted) else { continue };
                let [least, last] = self.lasts(system, loose, d, k, &reaches)[c];
                let unit = self.plan.transform[d].iter().enumerate().all(|(e, &x)| x == i64::from(d == e));
                let transformed;
                let greatest = if unit {
                    &case.ends[d]
                } else {
                    let within: Vec<Vec<Constraint>> =
                        case.parts(system.sequences(), system.dims.len(), |s| &system.statements[s].domain).collect();
                    transformed = case::greatest(within.iter(), &system.maxima(), &self.plan.transform[d]);
                    &transformed
                };
                let upper = case::single(greatest).filter(|upper| k == 0 && least == 0 && !upper.is_constant());
                uppers.extend(upper.map(|upper| ((d, Some(c)), upper.clone())));
                let everywhere = system.dims[d].kind == Kind::Sequence && case.bounds[d].1 == system.dims[d].hi;
                let varies = (least == 0 || least < last) && !everywhere;
                let end = self.last_value(d, digit, greatest, least).filter(|_| varies);
                ends.extend(end.map(|end| ((d, k, c), end)));
            }
        }
        self.uppers.extend(uppers);
        ends
    }

    /// The last value of a digit of coordinate `d`, `least` at least, if it follows from the sizes.
    fn last_value(&self, d: usize, digit: &Digit, greatest: &Greatest, least: i64) -> Option<Formula> {
        let one = |q: &Quotient| Formula::affine(&q.form).over(q.divisor);
        let end =
            greatest.iter().filter_map(|part| part.iter().map(one).reduce(Formula::least)).reduce(Formula::greatest)?;
        let value = end
            .plus(Formula::Const(-self.bounds[d].0))
            .over(digit.weight)
            .greatest(Formula::Const(least))
            .least(Formula::Const(digit.trip - 1));
        (!matches!(value, Formula::Const(_))).then_some(value)
    }

    /// Numbers the counters: parameters, then tile, time and latency loops. Returns the parameters that end digits by
    /// case.
    fn number_counters(
        &mut self,
        system: &System,
        ends: BTreeMap<usize, Formula>,
        by_case: ByCase<Formula>,
    ) -> ByCase<usize> {
        let (order, sizes) = (self.plan.order.clone(), system.parameters().end);
        let parameter = |name: String, trip: i64, last: Formula| Counter { name, kind: Kind::Parameter, trip, last };
        for d in system.parameters() {
            self.digits[d].iter_mut().for_each(|digit| digit.index = d);
            let (trip, value) = (
                self.bounds[d].1 - self.bounds[d].0 + 1,
                Formula::Size(d as u32).plus(Formula::Const(-self.bounds[d].0)),
            );
            self.counters.push(parameter(self.names[d].clone(), trip, value));
        }
        let mut limits = BTreeMap::new();
        for (d, value) in ends {
            let trip = self.digits[d].first().map_or(1, |x| x.trip);
            limits.insert(d, self.counters.len());
            self.counters.push(parameter(format!("{}.last", self.names[d]), trip, value));
        }
        let mut cases = BTreeMap::new();
        for ((d, k, case), value) in by_case {
            let trip = self.digits[d][k].trip;
            let same = self.counters[sizes..].iter().position(|c| c.last == value && c.trip == trip);
            let place = same.map_or(self.counters.len(), |k| sizes + k);
            cases.insert((d, k, case), place);
            if same.is_none() {
                self.counters.push(parameter(format!("{}.last{case}", self.names[d]), trip, value));
            }
        }
        for role in [Role::Tile, Role::Time, Role::Latency] {
            for &d in order.iter().filter(|&&d| d >= sizes) {
                for (k, digit) in self.digits[d].iter_mut().enumerate().filter(|(_, x)| x.role == role) {
                    digit.index = self.counters.len();
                    let most = digit.trip - 1;
                    let limit = limits.get(&d).filter(|_| k == 0);
                    let last = limit.map_or(Formula::Const(most), |&p| Formula::Parameter { place: p as u32, most });
                    let suffix = match role {
                        Role::Tile => "tile",
                        Role::Time => "time",
                        _ => "latency",
                    };
                    let name = format!("{}.{suffix}", self.names[d]);
                    self.counters.push(Counter { name, kind: system.dims[d].kind, trip: digit.trip, last });
                }
            }
            if role == Role::Tile {
                self.tile_depth = self.counters.len();
            }
        }
        cases
    }

    /// Numbers the axes and the lane digits.
    fn number_space(&mut self) -> Result<(), Illegal> {
        for (digits, name) in self.digits.iter_mut().zip(&self.names) {
            for digit in digits {
                match digit.role {
                    Role::Space(axis) => {
                        if !self.axes[axis].is_empty() {
                            return Err(Illegal::SharedAxis);
                        }
                        digit.index = axis;
                        self.extent[axis] = digit.trip;
                        self.axes[axis].clone_from(name);
                    }
                    Role::Lane => {
                        digit.index = self.lane_trips.len();
                        self.lane_trips.push(digit.trip);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The least last value of loops over coordinate `d`.
fn least(loose: &Loose, d: usize) -> i64 {
    loose.get(&d).map_or(0, |least| least - 1)
}

/// Gives cases that share a statement the greatest of their values.
fn evened(by_case: &mut [i64], system: &System) {
    let shares = |a: usize, b: usize| system.cases[a].statements.iter().any(|s| system.cases[b].statements.contains(s));
    let pairs: Vec<(usize, usize)> = (0..by_case.len())
        .flat_map(|a| (0..by_case.len()).map(move |b| (a, b)))
        .filter(|&(a, b)| shares(a, b))
        .collect();
    while let Some(&(a, b)) = pairs.iter().find(|&&(a, b)| by_case[a] < by_case[b]) {
        by_case[a] = by_case[b];
    }
}

/// Phase loops are the outermost tile loops, in their order and one iteration a tile; no other coordinate contains
/// them.
fn phases_outermost(system: &System, mut plan: Plan) -> Result<Plan, Illegal> {
    let outer = system.loops().start;
    for (d, row) in plan.transform.iter().enumerate() {
        let stays = |(e, &c): (usize, &i64)| c == i64::from(d == e) || d >= outer && e >= outer;
        if !row.iter().enumerate().all(stays) {
            return Err(Illegal::PhaseLoop(system.dims[d.min(outer - 1)].name.clone()));
        }
    }
    for (dim, plan) in system.dims.iter().zip(&mut plan.dims) {
        let divided = plan.axis.is_some() || plan.latency != 1 || plan.simd != 1;
        match dim.kind {
            Kind::Loop => {}
            // Strips run around all other time loops.
            Kind::Strip if divided || plan.tile.is_some() => return Err(Illegal::PhaseLoop(dim.name.clone())),
            Kind::Strip => {}
            Kind::Parameter | Kind::Sequence if divided => return Err(Illegal::PhaseLoop(dim.name.clone())),
            Kind::Parameter | Kind::Sequence => plan.tile = Some(1),
        }
    }
    plan.order = (0..outer).chain(plan.order.into_iter().filter(|&d| d >= outer)).collect();
    Ok(plan)
}

/// Splits a dimension of `extent` iterations.
fn split(dim: usize, plan: &DimPlan, extent: i64) -> Vec<Digit> {
    let grain = plan.latency.max(1) * plan.simd.max(1);
    let tile = plan.tile.unwrap_or(extent).clamp(1, extent.max(1));
    let tile = (tile + grain - 1) / grain * grain;
    let mut digits = Vec::new();
    let mut push = |role, weight: i64, trip: i64| {
        if trip > 1 || matches!(role, Role::Space(_)) {
            digits.push(Digit { dim, role, weight, trip, index: 0 });
        }
    };
    push(Role::Tile, tile, (extent + tile - 1) / tile);
    let (latency, simd) = (plan.latency.max(1), plan.simd.max(1));
    match plan.axis {
        Some(axis) if plan.cyclic => {
            push(Role::Latency, tile / latency, latency);
            push(Role::Space(axis), simd, tile / grain);
        }
        axis => {
            push(axis.map_or(Role::Time, Role::Space), grain, tile / grain);
            push(Role::Latency, simd, latency);
        }
    }
    push(Role::Lane, 1, simd);
    digits
}

/// How far each transformed coordinate reaches in a box of the iteration space.
pub fn reach(transform: &[Vec<i64>], bounds: &[(i64, i64)], within: &[(i64, i64)]) -> Vec<i64> {
    let most = |row: &[i64]| row.iter().zip(within).map(|(&c, b)| (c * b.0).max(c * b.1)).sum::<i64>();
    transform.iter().zip(bounds).map(|(row, b)| most(row).min(b.1) - b.0).collect()
}

/// Least and greatest values of the coordinates over all statements.
pub fn transformed_bounds(system: &System, transform: &[Vec<i64>]) -> Vec<(i64, i64)> {
    let range = |row: &Vec<i64>| {
        let affine = Affine { coeffs: row.clone(), constant: 0 };
        let pieces = system.statements.iter().flat_map(|s| &s.domain);
        let bounds: Vec<(i64, i64)> = pieces
            .filter_map(|conj| Some((scop::flow::minimum(conj, &affine)?, scop::flow::maximum(conj, &affine)?)))
            .collect();
        (bounds.iter().map(|b| b.0).min().unwrap_or(0), bounds.iter().map(|b| b.1).max().unwrap_or(0))
    };
    let unit =
        |row: &Vec<i64>| row.iter().position(|&c| c == 1).filter(|_| row.iter().filter(|&&c| c != 0).count() == 1);
    transform
        .iter()
        .map(|row| unit(row).map_or_else(|| range(row), |d| (system.dims[d].lo, system.dims[d].hi)))
        .collect()
}
