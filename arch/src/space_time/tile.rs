//! Splits every transformed dimension into digits, and gives each digit its place among counters, axes and lanes.
//!
//! Source: AutoSA section 4 (partitioning, latency hiding, SIMD), PolySA section 4.1 (projection and schedule vectors).

use crate::affine::map::{coordinate, minus};
use crate::affine::{determinant, unimodular_inverse};
use crate::ir::cases::Cases;
use crate::ir::mapping::{row_name, Digit, DimPlan, Mapping, Plan, Role};
use crate::ir::refusal::Illegal;
use crate::ir::sizes::Formula;
use crate::ir::ure::System;
use crate::ir::vsa::Counter;
use frontend::flow;
use frontend::scop::{Affine, Constraint};
use std::collections::{BTreeMap, BTreeSet};

impl Mapping {
    /// # Errors
    /// When the transform is not unimodular, an axis is used twice, or a phase loop is not outermost and whole.
    pub fn new(system: &System, plan: Plan) -> Result<Mapping, Illegal> {
        Mapping::within(system, plan, &BTreeSet::new())
    }

    /// As [`Mapping::new`], where the loops over these coordinates run as at the greatest sizes, and as in the longest of phases
    /// that have a statement in common.
    pub fn within(system: &System, plan: Plan, loose: &BTreeSet<usize>) -> Result<Mapping, Illegal> {
        let plan = phases_outermost(system, plan)?;
        let inverse = unimodular_inverse(&plan.transform).ok_or_else(|| Illegal::NotUnimodular(determinant(&plan.transform)))?;
        let bounds = transformed_bounds(system, &plan.transform);
        let names: Vec<String> = plan.transform.iter().map(|row| row_name(system, row)).collect();
        let digits: Vec<Vec<Digit>> = plan.dims.iter().zip(&bounds).enumerate().map(|(d, (p, b))| split(d, p, b.1 - b.0 + 1)).collect();
        let mut mapping = Mapping {
            inverse,
            names,
            bounds,
            digits,
            counters: vec![],
            tile_depth: 0,
            phases: 0,
            extent: [1, 1],
            axes: [String::new(), String::new()],
            lane_trips: vec![],
            parameters: vec![],
            limits: BTreeMap::new(),
            uppers: BTreeMap::new(),
            cases: Cases::default(),
            plan,
        };
        let ends = mapping.ends_by_size(system, loose);
        mapping.number_digits(system.sizes, ends)?;
        mapping.phases = mapping.parameters.len() + mapping.digits[system.sizes..system.phases].iter().map(Vec::len).sum::<usize>();
        mapping.cases = mapping.cases_of(system, loose);
        Ok(mapping)
    }

    /// Where loops end by phase: as far as the statements go that are executed in it.
    fn cases_of(&self, system: &System, loose: &BTreeSet<usize>) -> Cases {
        if system.sizes > 0 || self.phases == 0 {
            return Cases::default();
        }
        // Per case: its phases, and how far it goes.
        let phases = |all: &[(i64, i64)]| (0..system.phases).filter(|&d| !self.digits[d].is_empty()).map(|d| [all[d].0 - self.bounds[d].0, all[d].1 - self.bounds[d].0]).collect();
        let cases: Vec<(Vec<[i64; 2]>, Vec<i64>)> = system.cases.iter().map(|case| (phases(&case.bounds), reach(&self.plan.transform, &self.bounds, &case.bounds))).collect();
        let mut lasts = BTreeMap::new();
        let all: i64 = self.counters[..self.phases].iter().map(|c| c.trip).product();
        let between = cases.iter().map(|c| c.0.iter().map(|b| b[1] - b[0] + 1).product::<i64>()).sum::<i64>() < all;
        for d in system.phases..self.digits.len() {
            for (k, digit) in self.digits[d].iter().enumerate().filter(|(_, x)| matches!(x.role, Role::Tile | Role::Time)) {
                let within = |reach: &[i64]| self.digits[d][..k].iter().all(|outer| reach[d] / outer.weight == 0);
                let last = |(_, reach): &(_, Vec<i64>)| if within(reach) { (reach[d] / digit.weight).clamp(0, digit.trip - 1) } else { digit.trip - 1 };
                let mut by_case: Vec<i64> = cases.iter().map(last).collect();
                if loose.contains(&d) {
                    evened(&mut by_case, system);
                }
                if between || by_case.iter().any(|&last| last + 1 != digit.trip) {
                    lasts.insert(digit.index, by_case);
                }
            }
        }
        Cases { boxes: if lasts.is_empty() { vec![] } else { cases.into_iter().map(|c| c.0).collect() }, lasts }
    }

    /// The last values of the outermost digits that are counted and that sizes end, by dimension.
    fn ends_by_size(&mut self, system: &System, loose: &BTreeSet<usize>) -> BTreeMap<usize, Formula> {
        let mut ends = BTreeMap::new();
        for d in if system.sizes == 0 { 0..0 } else { system.sizes..self.digits.len() } {
            let greatest = greatest(system, &self.plan.transform[d]);
            if let [[one]] = greatest.iter().map(Vec::as_slice).collect::<Vec<_>>()[..] {
                if one.1 == 1 && !one.0.is_constant() {
                    self.uppers.insert(d, one.0.clone());
                }
            }
            let counted = self.digits[d].first().filter(|x| !matches!(x.role, Role::Space(_) | Role::Lane));
            let Some(digit) = counted.filter(|_| !loose.contains(&d) && !greatest.is_empty()) else { continue };
            let one = |(form, by): &(Affine, i64)| Formula::affine(form).over(*by);
            let all = greatest.iter().filter_map(|part| part.iter().map(one).reduce(Formula::least));
            let Some(end) = all.reduce(Formula::greatest) else { continue };
            let value = end.plus(Formula::Const(-self.bounds[d].0)).over(digit.weight).greatest(Formula::Const(0)).least(Formula::Const(digit.trip - 1));
            if !matches!(value, Formula::Const(_)) {
                ends.insert(d, value);
            }
        }
        ends
    }

    fn number_digits(&mut self, sizes: usize, ends: BTreeMap<usize, Formula>) -> Result<(), Illegal> {
        let order = self.plan.order.clone();
        for d in 0..sizes {
            self.digits[d].iter_mut().for_each(|digit| digit.index = d);
            self.parameters.push(Formula::Size(d as u32).plus(Formula::Const(-self.bounds[d].0)));
            self.counters.push(Counter { name: self.names[d].clone(), trip: self.bounds[d].1 - self.bounds[d].0 + 1 });
        }
        let mut limits = BTreeMap::new();
        for (d, value) in ends {
            let trip = self.digits[d].first().map_or(1, |x| x.trip);
            limits.insert(d, self.counters.len());
            self.counters.push(Counter { name: format!("{}.last", self.names[d]), trip });
            self.parameters.push(value);
        }
        for role in [Role::Tile, Role::Time, Role::Latency] {
            for &d in order.iter().filter(|&&d| d >= sizes) {
                for (k, digit) in self.digits[d].iter_mut().enumerate().filter(|(_, x)| x.role == role) {
                    digit.index = self.counters.len();
                    if let Some(&parameter) = limits.get(&d).filter(|_| k == 0) {
                        self.limits.insert(digit.index, parameter);
                    }
                    let suffix = match role { Role::Tile => "tile", Role::Time => "time", _ => "latency" };
                    self.counters.push(Counter { name: format!("{}.{suffix}", self.names[d]), trip: digit.trip });
                }
            }
            if role == Role::Tile {
                self.tile_depth = self.counters.len();
            }
        }
        for d in 0..self.digits.len() {
            for digit in self.digits[d].iter_mut() {
                match digit.role {
                    Role::Space(axis) => {
                        if !self.axes[axis].is_empty() {
                            return Err(Illegal::SharedAxis);
                        }
                        digit.index = axis;
                        self.extent[axis] = digit.trip;
                        self.axes[axis] = self.names[d].clone();
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

/// The greatest of cases that have a statement in common, for each of them.
fn evened(by_case: &mut [i64], system: &System) {
    let shares = |a: usize, b: usize| system.cases[a].statements.iter().any(|s| system.cases[b].statements.contains(s));
    let pairs: Vec<(usize, usize)> = (0..by_case.len()).flat_map(|a| (0..by_case.len()).map(move |b| (a, b))).filter(|&(a, b)| shares(a, b)).collect();
    while let Some(&(a, b)) = pairs.iter().find(|&&(a, b)| by_case[a] < by_case[b]) {
        by_case[a] = by_case[b];
    }
}

/// Phase loops are the outermost tile loops, in their order and one iteration a tile; no other coordinate contains them.
fn phases_outermost(system: &System, mut plan: Plan) -> Result<Plan, Illegal> {
    let phases = system.phases;
    for (d, row) in plan.transform.iter().enumerate() {
        let own = |(e, &c): (usize, &i64)| c == i64::from(d == e) || d >= phases && e >= phases;
        if !row.iter().enumerate().all(own) {
            return Err(Illegal::PhaseLoop(system.dims[d.min(phases - 1)].name.clone()));
        }
    }
    for (dim, plan) in system.dims.iter().zip(&mut plan.dims).take(phases) {
        if plan.axis.is_some() || plan.latency != 1 || plan.simd != 1 {
            return Err(Illegal::PhaseLoop(dim.name.clone()));
        }
        plan.tile = Some(1);
    }
    plan.order = (0..phases).chain(plan.order.into_iter().filter(|&d| d >= phases)).collect();
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
    push(plan.axis.map_or(Role::Time, Role::Space), grain, tile / grain);
    push(Role::Latency, plan.simd.max(1), plan.latency.max(1));
    push(Role::Lane, 1, plan.simd.max(1));
    digits
}

/// The greatest value of each transformed coordinate in a box of the band, less the least of all.
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
            .filter_map(|conj| Some((frontend::flow::minimum(conj, &affine)?, frontend::flow::maximum(conj, &affine)?)))
            .collect();
        (bounds.iter().map(|b| b.0).min().unwrap_or(0), bounds.iter().map(|b| b.1).max().unwrap_or(0))
    };
    let unit = |row: &Vec<i64>| row.iter().position(|&c| c == 1).filter(|_| row.iter().filter(|&&c| c != 0).count() == 1);
    transform.iter().map(|row| unit(row).map_or_else(|| range(row), |d| (system.dims[d].lo, system.dims[d].hi))).collect()
}

/// What bounds `row · n` from above at given sizes: the greatest, over the parts of the domain, of the least of functions over the
/// sizes, each divided and rounded down. Empty where a part has no such bound.
fn greatest(system: &System, row: &[i64]) -> Vec<Vec<(Affine, i64)>> {
    let (depth, sizes) = (system.dims.len(), system.sizes);
    let coordinates: Vec<Affine> = (0..sizes).map(|d| coordinate(d, depth)).chain([Affine { coeffs: row.to_vec(), constant: 0 }]).collect();
    let maxima: Vec<i64> = system.dims[..sizes].iter().map(|d| d.hi).collect();
    let mut all: Vec<Vec<(Affine, i64)>> = vec![];
    for part in system.statements.iter().flat_map(|s| &s.domain) {
        for piece in flow::image(std::slice::from_ref(part), &coordinates, depth).pieces {
            let upper = |c: &Constraint| {
                let (own, rest) = c.expr.coeffs.split_last()?;
                let sign = if c.equality { -own.signum() } else { 1 };
                let (own, form) = (own * sign, Affine { coeffs: rest.iter().map(|x| x * sign).collect(), constant: c.expr.constant * sign });
                (own < 0).then_some((form, -own))
            };
            let bounds: Vec<(Affine, i64)> = piece.iter().filter_map(upper).collect();
            if bounds.is_empty() {
                return vec![];
            }
            if !all.contains(&bounds) {
                all.push(bounds);
            }
        }
    }
    // A part that another one always reaches beyond says nothing.
    let beyond = |a: &[(Affine, i64)], b: &[(Affine, i64)]| match (a, b) {
        ([(a, 1)], [(b, 1)]) => minus(b, a).over_sizes(&maxima).0 >= 0,
        _ => false,
    };
    let kept = (0..all.len()).filter(|&k| !(0..all.len()).any(|j| j != k && beyond(&all[k], &all[j]) && (j < k || !beyond(&all[j], &all[k]))));
    kept.map(|k| all[k].clone()).collect()
}
