//! `Mapping`: band space → (time counters, PE, lane), by a unimodular transform and a mixed-radix split of each dimension.
//!
//! Every transformed coordinate is `m_d = lo_d + Σ weight * digit`. A digit is a tile loop, a space loop, a time loop, a
//! latency-hiding loop or a SIMD lane. Weights nest exactly (each weight is the next one times its trip count), so only
//! the outermost digit of a dimension can run past the dimension's end; tile sizes are rounded up to make it so.
//! A constant distance in one dimension then becomes a few *carry cases*: constant digit distances, each under
//! conditions on single digits (a borrow or none). Time digits form the counters; they are rectangular, so every carry
//! case is a constant number of waves.
//!
//! Source: AutoSA section 4 (partitioning, latency hiding, SIMD), PolySA section 4.1 (projection and schedule vectors).

use crate::system::System;
use crate::vsa::{Counter, Form};
use frontend::scop::Affine;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Tile,
    /// Axis 0 or 1 of the array.
    Space(usize),
    Time,
    Latency,
    Lane,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digit {
    pub dim: usize,
    pub role: Role,
    pub weight: i64,
    pub trip: i64,
    /// Position among the counters, axes or lane digits, by role.
    pub place: usize,
}

/// How one transformed dimension is split. Sizes in iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimPlan {
    pub tile: Option<i64>,
    pub axis: Option<usize>,
    pub latency: i64,
    pub simd: i64,
}

impl Default for DimPlan {
    fn default() -> Self {
        DimPlan { tile: None, axis: None, latency: 1, simd: 1 }
    }
}

/// A choice of array, before legality is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Rows of the unimodular transform: `m = transform · n`.
    pub transform: Vec<Vec<i64>>,
    pub dims: Vec<DimPlan>,
    /// Order of the dimensions' tile and time loops, outermost first; a permutation.
    pub order: Vec<usize>,
}

impl Plan {
    pub fn identity(depth: usize) -> Plan {
        let unit = |d: usize| (0..depth).map(|k| (k == d) as i64).collect();
        Plan { transform: (0..depth).map(unit).collect(), dims: vec![DimPlan::default(); depth], order: (0..depth).collect() }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub plan: Plan,
    /// Inverse of the transform: `n = inverse · m`.
    pub inverse: Vec<Vec<i64>>,
    pub names: Vec<String>,
    /// Bounds of the transformed coordinates.
    pub bounds: Vec<(i64, i64)>,
    /// Per dimension, outermost digit first.
    pub digits: Vec<Vec<Digit>>,
    pub counters: Vec<Counter>,
    pub tile_depth: usize,
    pub extent: [i64; 2],
    pub axes: [String; 2],
    /// Trip counts of the lane digits; lanes are numbered row-major over them.
    pub lane_trips: Vec<i64>,
}

/// `digit >= value` or `digit <= value`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DigitBound {
    pub dim: usize,
    pub digit: usize,
    pub at_least: bool,
    pub value: i64,
}

/// One way a constant distance spreads over the digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Carry {
    pub when: Vec<DigitBound>,
    pub waves: i64,
    pub hop: [i64; 2],
    /// Per lane digit: reader's minus producer's.
    pub lanes: Vec<i64>,
}

impl Mapping {
    /// # Errors
    /// A sentence about the plan, when the transform is not unimodular or an axis is used twice.
    pub fn new(system: &System, plan: Plan) -> Result<Mapping, String> {
        let inverse = unimodular_inverse(&plan.transform).ok_or("the space-time transform is not unimodular")?;
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
            extent: [1, 1],
            axes: [String::new(), String::new()],
            lane_trips: vec![],
            plan,
        };
        mapping.place_digits()?;
        Ok(mapping)
    }

    /// Coefficients on axes with one PE mean nothing.
    pub fn drop_single(&self, form: &mut Form) {
        (0..2).filter(|&a| self.extent[a] == 1).for_each(|a| form.space[a] = 0);
    }

    fn place_digits(&mut self) -> Result<(), String> {
        let order = self.plan.order.clone();
        for role in [Role::Tile, Role::Time, Role::Latency] {
            for &d in &order {
                for digit in self.digits[d].iter_mut().filter(|x| x.role == role) {
                    digit.place = self.counters.len();
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
                            return Err("two loops on one axis of the array".into());
                        }
                        digit.place = axis;
                        self.extent[axis] = digit.trip;
                        self.axes[axis] = self.names[d].clone();
                    }
                    Role::Lane => {
                        digit.place = self.lane_trips.len();
                        self.lane_trips.push(digit.trip);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    pub fn lanes(&self) -> usize {
        self.lane_trips.iter().product::<i64>() as usize
    }

    /// Lane digits of lane number `lane`.
    pub fn lane_digits(&self, lane: usize) -> Vec<i64> {
        let mut rest = lane as i64;
        let mut out = vec![0; self.lane_trips.len()];
        for (o, trip) in out.iter_mut().zip(&self.lane_trips).rev() {
            *o = rest % trip;
            rest /= trip;
        }
        out
    }

    pub fn lane_number(&self, digits: &[i64]) -> Option<usize> {
        let mut number = 0;
        for (x, trip) in digits.iter().zip(&self.lane_trips) {
            if *x < 0 || x >= trip {
                return None;
            }
            number = number * trip + x;
        }
        Some(number as usize)
    }

    /// An affine function of transformed coordinates as a form over counters and PE, for one lane.
    pub fn form_of_transformed(&self, coeffs: &[i64], constant: i64, lane: usize) -> Form {
        let lane = self.lane_digits(lane);
        let mut form = Form { constant, counters: vec![0; self.counters.len()], space: [0, 0] };
        for (d, &c) in coeffs.iter().enumerate() {
            form.constant += c * self.bounds[d].0;
            for digit in &self.digits[d] {
                let weight = c * digit.weight;
                match digit.role {
                    Role::Space(axis) => form.space[axis] += weight,
                    Role::Lane => form.constant += weight * lane[digit.place],
                    _ => form.counters[digit.place] += weight,
                }
            }
        }
        form
    }

    /// The same for an affine function of band coordinates.
    pub fn form(&self, affine: &Affine, lane: usize) -> Form {
        let coeffs: Vec<i64> = (0..self.digits.len()).map(|d| affine.coeffs.iter().zip(&self.inverse).map(|(a, row)| a * row[d]).sum()).collect();
        self.form_of_transformed(&coeffs, affine.constant, lane)
    }

    /// A digit as a form over counters and PE; `Err(value)` for a lane digit.
    pub fn digit_form(&self, dim: usize, digit: usize, lane: usize) -> Form {
        let digit = &self.digits[dim][digit];
        let mut form = Form { constant: 0, counters: vec![0; self.counters.len()], space: [0, 0] };
        match digit.role {
            Role::Space(axis) => form.space[axis] = 1,
            Role::Lane => form.constant = self.lane_digits(lane)[digit.place],
            _ => form.counters[digit.place] = 1,
        }
        form
    }

    /// Waves per step of counter `place`.
    pub fn stride(&self, place: usize) -> i64 {
        self.counters[place + 1..].iter().map(|c| c.trip).product()
    }

    /// All carry cases of a band-space distance.
    pub fn carries(&self, distance: &[i64]) -> Vec<Carry> {
        let moved: Vec<i64> = self.plan.transform.iter().map(|row| row.iter().zip(distance).map(|(a, b)| a * b).sum()).collect();
        let mut all = vec![Carry { when: vec![], waves: 0, hop: [0, 0], lanes: vec![0; self.lane_trips.len()] }];
        for (d, &e) in moved.iter().enumerate() {
            let mut options = Vec::new();
            digit_cases(&self.digits[d], e, self.digits[d].len(), &mut vec![], &mut vec![], &mut options);
            all = all.iter().flat_map(|head| options.iter().map(|(when, deltas)| self.extend(head, when, deltas, d))).collect();
        }
        merge(all)
    }

    fn extend(&self, head: &Carry, when: &[DigitBound], deltas: &[i64], d: usize) -> Carry {
        let mut carry = head.clone();
        carry.when.extend(when.iter().cloned());
        for (digit, delta) in self.digits[d].iter().zip(deltas) {
            match digit.role {
                Role::Space(axis) => carry.hop[axis] += delta,
                Role::Lane => carry.lanes[digit.place] += delta,
                _ => carry.waves += delta * self.stride(digit.place),
            }
        }
        carry
    }
}

/// Splits a dimension of `extent` iterations.
fn split(dim: usize, plan: &DimPlan, extent: i64) -> Vec<Digit> {
    let grain = plan.latency.max(1) * plan.simd.max(1);
    let tile = plan.tile.unwrap_or(extent).clamp(1, extent.max(1));
    let tile = (tile + grain - 1) / grain * grain;
    let mut digits = Vec::new();
    let mut push = |role, weight: i64, trip: i64| {
        if trip > 1 || matches!(role, Role::Space(_)) {
            digits.push(Digit { dim, role, weight, trip, place: 0 });
        }
    };
    push(Role::Tile, tile, (extent + tile - 1) / tile);
    push(plan.axis.map_or(Role::Time, Role::Space), grain, tile / grain);
    push(Role::Latency, plan.simd.max(1), plan.latency.max(1));
    push(Role::Lane, 1, plan.simd.max(1));
    digits
}

type DigitCase = (Vec<DigitBound>, Vec<i64>);

/// Enumerates, innermost digit first, the digit differences whose weighted sum is `e`.
fn digit_cases(digits: &[Digit], e: i64, left: usize, when: &mut Vec<DigitBound>, deltas: &mut Vec<i64>, out: &mut Vec<DigitCase>) {
    if left == 0 {
        if e == 0 {
            out.push((when.clone(), deltas.iter().rev().copied().collect()));
        }
        return;
    }
    let digit = &digits[left - 1];
    let outer_weight = if left > 1 { digits[left - 2].weight } else { 0 };
    let mut try_delta = |delta: i64, bound: Option<(bool, i64)>| {
        let before = when.len();
        if let Some((at_least, value)) = bound {
            when.push(DigitBound { dim: digit.dim, digit: left - 1, at_least, value });
        }
        deltas.push(delta);
        digit_cases(digits, e - delta * digit.weight, left - 1, when, deltas, out);
        deltas.pop();
        when.truncate(before);
    };
    if outer_weight == 0 {
        if e % digit.weight == 0 {
            try_delta(e / digit.weight, None);
        }
        return;
    }
    let here = e.rem_euclid(outer_weight);
    if here % digit.weight != 0 {
        return;
    }
    let delta = here / digit.weight;
    if delta == 0 {
        try_delta(0, None);
    } else {
        try_delta(delta, Some((true, delta)));
        try_delta(delta - digit.trip, Some((false, delta - 1)));
    }
}

/// Joins cases with one outcome whose conditions differ only in one complementary bound.
fn merge(mut all: Vec<Carry>) -> Vec<Carry> {
    let outcome = |c: &Carry| (c.waves, c.hop, c.lanes.clone());
    loop {
        let mut joined = None;
        'search: for a in 0..all.len() {
            for b in a + 1..all.len() {
                if outcome(&all[a]) == outcome(&all[b]) {
                    if let Some(when) = join(&all[a].when, &all[b].when) {
                        joined = Some((a, b, when));
                        break 'search;
                    }
                }
            }
        }
        let Some((a, b, when)) = joined else { return all };
        all[a].when = when;
        all.remove(b);
    }
}

fn join(a: &[DigitBound], b: &[DigitBound]) -> Option<Vec<DigitBound>> {
    let only_a: Vec<_> = a.iter().filter(|x| !b.contains(x)).collect();
    let only_b: Vec<_> = b.iter().filter(|x| !a.contains(x)).collect();
    let common = || a.iter().filter(|x| b.contains(x)).cloned().collect();
    match (only_a.as_slice(), only_b.as_slice()) {
        ([], _) | (_, []) => Some(common()),
        ([x], [y]) if (x.dim, x.digit) == (y.dim, y.digit) && x.at_least != y.at_least => {
            let (low, high) = if x.at_least { (y.value, x.value) } else { (x.value, y.value) };
            (high <= low + 1).then(common)
        }
        _ => None,
    }
}

fn row_name(system: &System, row: &[i64]) -> String {
    let mut out = String::new();
    for (c, dim) in row.iter().zip(&system.dims) {
        match *c {
            0 => {}
            1 if out.is_empty() => out += &dim.name,
            1 => out += &format!("+{}", dim.name),
            -1 => out += &format!("-{}", dim.name),
            c if c > 0 && !out.is_empty() => out += &format!("+{c}{}", dim.name),
            c => out += &format!("{c}{}", dim.name),
        }
    }
    out
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

/// Inverse of an integer matrix of determinant ±1, by integer row operations.
pub fn unimodular_inverse(matrix: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
    let n = matrix.len();
    let mut left: Vec<Vec<i64>> = matrix.to_vec();
    let mut right: Vec<Vec<i64>> = (0..n).map(|d| (0..n).map(|k| (k == d) as i64).collect()).collect();
    let combine = |rows: &mut Vec<Vec<i64>>, to: usize, from: usize, factor: i64| {
        let source = rows[from].clone();
        rows[to].iter_mut().zip(source).for_each(|(x, y)| *x -= factor * y);
    };
    for c in 0..n {
        loop {
            let pivot = (c..n).filter(|&r| left[r][c] != 0).min_by_key(|&r| left[r][c].abs())?;
            left.swap(c, pivot);
            right.swap(c, pivot);
            let mut done = true;
            for r in c + 1..n {
                let factor = left[r][c] / left[c][c];
                combine(&mut left, r, c, factor);
                combine(&mut right, r, c, factor);
                done &= left[r][c] == 0;
            }
            if done {
                break;
            }
        }
        if left[c][c].abs() != 1 {
            return None;
        }
        if left[c][c] == -1 {
            left[c].iter_mut().chain(right[c].iter_mut()).for_each(|x| *x = -*x);
        }
        for r in 0..c {
            let factor = left[r][c];
            combine(&mut left, r, c, factor);
            combine(&mut right, r, c, factor);
        }
    }
    Some(right)
}
