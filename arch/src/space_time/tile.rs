//! Splits every transformed dimension into digits, and gives each digit its place among counters, axes and lanes.
//!
//! Source: AutoSA section 4 (partitioning, latency hiding, SIMD), PolySA section 4.1 (projection and schedule vectors).

use crate::affine::{determinant, unimodular_inverse};
use crate::ir::mapping::{row_name, Digit, DimPlan, Mapping, Plan, Role};
use crate::ir::refusal::Illegal;
use crate::ir::ure::System;
use crate::ir::vsa::Counter;
use frontend::scop::Affine;

impl Mapping {
    /// # Errors
    /// When the transform is not unimodular, an axis is used twice, or a phase loop is not outermost and whole.
    pub fn new(system: &System, plan: Plan) -> Result<Mapping, Illegal> {
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
            plan,
        };
        mapping.number_digits()?;
        mapping.phases = mapping.digits[..system.phases].iter().map(Vec::len).sum();
        Ok(mapping)
    }

    fn number_digits(&mut self) -> Result<(), Illegal> {
        let order = self.plan.order.clone();
        for role in [Role::Tile, Role::Time, Role::Latency] {
            for &d in &order {
                for digit in self.digits[d].iter_mut().filter(|x| x.role == role) {
                    digit.index = self.counters.len();
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

fn transformed_bounds(system: &System, transform: &[Vec<i64>]) -> Vec<(i64, i64)> {
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
