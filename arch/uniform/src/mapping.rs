//! `Mapping`: iteration space → (time counters, PE, lane), by a unimodular transform and a mixed-radix split of each
//! dimension.
//!
//! Every transformed coordinate is `m_d = lo_d + Σ weight * digit`. A digit is a tile loop, a space loop, a time loop,
//! a latency-hiding loop or a SIMD lane. Weights nest exactly (each weight is the next one times its trip count), so
//! only the outermost digit of a dimension can run past the dimension's end; tile sizes are rounded up to make it so. A
//! constant distance in one dimension then becomes a few *carry cases*: constant digit distances, each under conditions
//! on single digits (a borrow or none). Time digits form the counters; they are rectangular, so every carry case is a
//! constant number of waves.
//!
//! Source: AutoSA section 4 (partitioning, latency hiding, SIMD), PolySA section 4.1 (projection and schedule vectors).

use crate::affine::{Condition, Form, Ranges};
use crate::counters::{self, Case, Counter, Loops, Span};
use crate::sizes::Formula;
use crate::system::System;
use scop::Affine;
use std::collections::{BTreeMap, BTreeSet};

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
    pub index: usize,
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
        Plan {
            transform: (0..depth).map(unit).collect(),
            dims: vec![DimPlan::default(); depth],
            order: (0..depth).collect(),
        }
    }

    /// The plan over so many more dimensions in front, which stay as they are.
    pub fn behind(self, sizes: usize) -> Plan {
        let mut out = Plan::identity(sizes);
        let depth = sizes + self.dims.len();
        out.transform.iter_mut().for_each(|row| row.resize(depth, 0));
        out.transform.extend(self.transform.into_iter().map(|row| [vec![0; sizes], row].concat()));
        out.dims.extend(self.dims);
        out.order.extend(self.order.into_iter().map(|d| d + sizes));
        out
    }

    /// The plan over what stands behind these first dimensions.
    pub fn without(self, sizes: usize) -> Plan {
        Plan {
            transform: self.transform.into_iter().skip(sizes).map(|row| row[sizes..].to_vec()).collect(),
            dims: self.dims[sizes..].to_vec(),
            order: self.order.into_iter().filter(|&d| d >= sizes).map(|d| d - sizes).collect(),
        }
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
    /// The counter of strips, behind those of visits.
    pub strip: Option<usize>,
    /// Phases, or strips, in which counters end alike.
    pub cases: Vec<Case>,
    /// The greatest value of a transformed coordinate as a function of the sizes, where there is one: over the whole
    /// iteration space, or in the phases of a case.
    pub uppers: BTreeMap<(usize, Option<usize>), Affine>,
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
    pub waves: Waves,
    /// Of values of an earlier strip, by counter: how much less each is there. How many waves that is, strips tell
    /// ([`Mapping::across`]).
    pub before: Vec<i64>,
    pub hop: [i64; 2],
    /// Per lane digit: reader's minus producer's.
    pub lanes: Vec<i64>,
}

/// A number of waves: sums of products of trip counts that sizes or phases end, with factors.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waves(BTreeMap<Vec<usize>, i64>);

impl Waves {
    fn of(limited: Vec<usize>, factor: i64) -> Waves {
        let mut waves = Waves::default();
        waves.add(limited, factor);
        waves
    }
    fn add(&mut self, limited: Vec<usize>, factor: i64) {
        let sum = self.0.entry(limited.clone()).or_default();
        *sum += factor;
        if *sum == 0 {
            self.0.remove(&limited);
        }
    }
    pub fn plus(mut self, other: &Waves) -> Waves {
        other.0.iter().for_each(|(limited, &factor)| self.add(limited.clone(), factor));
        self
    }
    pub fn minus(mut self, other: &Waves) -> Waves {
        other.0.iter().for_each(|(limited, &factor)| self.add(limited.clone(), -factor));
        self
    }
    /// Times the trip count of counter `place`.
    pub fn times(&self, mapping: &Mapping, place: usize) -> Waves {
        let mut out = Waves::default();
        for (limited, &factor) in &self.0 {
            if mapping.varies(place) {
                let mut limited = limited.clone();
                limited.push(place);
                limited.sort_unstable();
                out.add(limited, factor);
            } else {
                out.add(limited.clone(), factor * mapping.counters[place].trip);
            }
        }
        out
    }
    /// The number in the phases of a case.
    pub fn formula(&self, mapping: &Mapping, case: Option<usize>) -> Formula {
        let times = |(limited, &factor): (&Vec<usize>, &i64)| {
            limited.iter().fold(Formula::Const(factor), |all, &j| all.times(mapping.trips(j, case)))
        };
        self.0.iter().map(times).fold(Formula::Const(0), Formula::plus)
    }
    /// Counters that sizes end in the phases of a case.
    pub fn by_size(&self, mapping: &Mapping, case: Option<usize>) -> Vec<usize> {
        self.0.keys().flatten().copied().filter(|&j| mapping.limit(j, case).is_some()).collect()
    }
    /// What of it is the same in all cases, and the rest.
    pub fn apart(mut self) -> (i64, Waves) {
        (self.0.remove(&vec![]).unwrap_or(0), self)
    }
    /// Counters that it changes with from case to case.
    pub fn by_case(&self, mapping: &Mapping) -> Vec<usize> {
        self.0.keys().flatten().copied().filter(|&j| mapping.counters[j].is_by_case()).collect()
    }
}

impl Mapping {
    /// Coefficients on axes with one PE mean nothing.
    pub fn drop_single(&self, form: &mut Form) {
        (0..2).filter(|&a| self.extent[a] == 1).for_each(|a| form.space[a] = 0);
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
        for (d, &c) in coeffs.iter().enumerate().filter(|(_, &c)| c != 0) {
            form.constant += c * self.bounds[d].0;
            for digit in &self.digits[d] {
                let weight = c * digit.weight;
                match digit.role {
                    Role::Space(axis) => form.space[axis] += weight,
                    Role::Lane => form.constant += weight * lane[digit.index],
                    _ => form.counters[digit.index] += weight,
                }
            }
        }
        form
    }

    /// The same for an affine function of coordinates.
    pub fn form(&self, affine: &Affine, lane: usize) -> Form {
        let coeffs: Vec<i64> = (0..self.digits.len())
            .map(|d| affine.coeffs.iter().zip(&self.inverse).map(|(a, row)| a * row[d]).sum())
            .collect();
        self.form_of_transformed(&coeffs, affine.constant, lane)
    }

    /// A digit as a form over counters and PE; `Err(value)` for a lane digit.
    pub fn digit_form(&self, dim: usize, digit: usize, lane: usize) -> Form {
        let digit = &self.digits[dim][digit];
        let mut form = Form { constant: 0, counters: vec![0; self.counters.len()], space: [0, 0] };
        match digit.role {
            Role::Space(axis) => form.space[axis] = 1,
            Role::Lane => form.constant = self.lane_digits(lane)[digit.index],
            _ => form.counters[digit.index] = 1,
        }
        form
    }

    /// The time loops.
    pub fn loops(&self) -> Loops<'_> {
        Loops { counters: &self.counters, cases: &self.cases }
    }

    /// Counters that are constants of a run: the first ones.
    pub fn parameters(&self) -> usize {
        self.loops().parameters()
    }

    /// Counters of phases, parameters included: the first ones.
    pub fn phases(&self) -> usize {
        self.loops().phases()
    }

    /// The parameter that is counter `place`'s last value in the phases of a case.
    pub fn limit(&self, place: usize, case: Option<usize>) -> Option<usize> {
        self.loops().limit(place, case)
    }

    /// Whether a parameter ends counter `place` in some cases and not in all.
    pub fn is_limited_by_case(&self, place: usize) -> bool {
        let outer = self.cases.iter().filter_map(|all| all.get(place)).any(|span| span.end.parameter().is_some());
        outer || self.counters[place].is_limited_by_case()
    }

    /// Counters that end by case.
    pub fn by_case(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.counters.len()).filter(|&j| self.counters[j].is_by_case())
    }

    /// Counter `place` ends as sizes or phases say.
    fn varies(&self, place: usize) -> bool {
        !matches!(self.counters[place].last, Formula::Const(_))
    }

    /// How often counter `place` runs in the phases of a case.
    pub fn trip(&self, place: usize, case: Option<usize>) -> i64 {
        self.loops().last(place, case) + 1
    }

    /// The same, as sizes say.
    fn trips(&self, place: usize, case: Option<usize>) -> Formula {
        let last = self.limit(place, case).map(|p| self.counters[p].last.clone());
        last.map_or_else(|| Formula::Const(self.trip(place, case)), |last| last.plus(Formula::Const(1)))
    }

    /// How many values a digit takes in the phases of a case.
    pub fn trip_of(&self, digit: &Digit, case: Option<usize>) -> i64 {
        if matches!(digit.role, Role::Space(_) | Role::Lane) {
            digit.trip
        } else {
            self.trip(digit.index, case)
        }
    }

    /// How many waves before a wave of a strip the one is whose counters are less by `before`, in the strip in front of
    /// it; and which counters have to be 0 for that.
    pub fn across(&self, strip: i64, before: &[i64]) -> Option<(i64, Vec<usize>)> {
        let counter = self.strip?;
        let own = counter + 1..self.counters.len();
        let (then, now) = (self.trips_in(strip - 1), self.trips_in(strip));
        let stride = |trips: &[i64], j: usize| trips[j + 1..].iter().product::<i64>();
        let next = before[counter] == 1 && before[..counter].iter().all(|b| *b == 0);
        let back = own.clone().map(|j| before[j] * stride(&then, j)).sum::<i64>();
        next.then(|| (self.waves_in(strip - 1) + back, own.filter(|&j| stride(&then, j) != stride(&now, j)).collect()))
    }

    /// How many counters, from the outside, tell where others end: those of phases, or all up to that of strips.
    pub fn cased(&self) -> usize {
        self.strip.map_or(self.phases(), |strip| strip + 1)
    }

    /// Boxes over the counters that contain every wave.
    pub fn around(&self) -> Vec<Vec<(i64, i64)>> {
        self.loops().around(self.strip.is_some() && self.loops().has_cases())
    }

    /// The case of the strip with this number.
    pub fn case_in(&self, strip: i64) -> Option<usize> {
        let at: Vec<i64> = (0..self.strip?).map(|_| 0).chain([strip]).collect();
        self.loops().case(&at).filter(|_| self.loops().has_cases())
    }

    fn trips_in(&self, strip: i64) -> Vec<i64> {
        self.loops().trips(self.case_in(strip))
    }

    /// Waves of that strip in a visit.
    pub fn waves_in(&self, strip: i64) -> i64 {
        self.trips_in(strip)[self.cased()..].iter().product()
    }

    /// Waves of the whole run.
    pub fn waves(&self) -> i64 {
        let greatest: Vec<i64> = self.counters[..self.parameters()].iter().map(|c| c.trip - 1).collect();
        let (counters, cases, _) = counters::at(self.loops(), &greatest);
        Loops { counters: &counters, cases: &cases }.points(counters.len(), self.cased() - greatest.len())
    }

    /// Which cases the phases of statement `s` are.
    pub fn cases_of(&self, system: &System, s: usize) -> Vec<Option<usize>> {
        let known = system
            .cases
            .iter()
            .enumerate()
            .filter(|(_, case)| self.loops().has_cases() && case.statements.contains(&s));
        let all: Vec<Option<usize>> = known.map(|(k, _)| Some(k)).collect();
        if all.is_empty() {
            vec![None]
        } else {
            all
        }
    }

    /// The cases of phases in these boxes over the counters.
    pub fn cases_within(&self, boxes: &[Vec<(i64, i64)>]) -> BTreeSet<usize> {
        self.loops().within(self.parameters()..self.phases(), boxes)
    }

    /// The same where loops end alike in all phases in which something happens.
    pub fn even(&self) -> Mapping {
        let mut even = self.clone();
        let cases = self.cases.len();
        let all = self.loops().leaves_out(self.parameters()..self.phases(), &(0..cases).collect());
        for counter in even.counters.iter_mut().filter(|c| c.is_by_case()) {
            let last = Formula::Const(counter.trip - 1);
            counter.last =
                if all { Formula::ByCase([vec![last; cases], vec![Formula::Const(0)]].concat()) } else { last };
        }
        if !all {
            even.cases.clear();
        }
        even
    }

    /// These cases, if there are phases of others or of none.
    pub fn cases_but(&self, some: BTreeSet<usize>) -> Option<BTreeSet<usize>> {
        self.loops().leaves_out(self.parameters()..self.phases(), &some).then_some(some)
    }

    /// Waves per step of counter `place`, at the greatest sizes.
    pub fn stride(&self, place: usize) -> i64 {
        self.counters[place + 1..].iter().map(|c| c.trip).product()
    }

    /// `times` the waves per step of counter `place`, at all sizes.
    pub fn strides(&self, place: usize, times: i64) -> Waves {
        if self.strip.is_some_and(|strip| place < strip) {
            // All visits take as many, whatever their strips do.
            let visits = |counters: &[Counter]| counters.iter().map(|c| c.trip).product::<i64>();
            let tiles = &self.counters[..self.tile_depth];
            return Waves::of(vec![], times * visits(&tiles[place + 1..]) * (self.waves() / visits(tiles)));
        }
        let (mut factor, mut limited) = (times, vec![]);
        for (j, counter) in self.counters.iter().enumerate().skip(place + 1) {
            if self.varies(j) {
                limited.push(j)
            } else {
                factor *= counter.trip
            }
        }
        Waves::of(limited, factor)
    }

    /// That counter's last value in the phases of a case, as a condition.
    pub fn ends(&self, place: usize, case: Option<usize>) -> Condition {
        let mut form = Form { constant: 0, counters: vec![0; self.counters.len()], space: [0, 0] };
        form.counters[place] = 1;
        match self.limit(place, case) {
            Some(parameter) => form.counters[parameter] = -1,
            None => form.constant = 1 - self.trip(place, case),
        }
        Condition { form, equality: true }
    }

    /// The phases of a case, as conditions.
    pub fn during(&self, case: Option<usize>) -> Vec<Condition> {
        let bound = |j: usize, sign: i64, constant: i64| {
            let mut form = Form { constant, counters: vec![0; self.counters.len()], space: [0, 0] };
            form.counters[j] = sign;
            Condition { form, equality: false }
        };
        let Some(phases) = case.map(|k| &self.cases[k]) else { return vec![] };
        let upper = |j: usize, span: &Span| match span.end.parameter() {
            Some(parameter) => {
                let mut upper = bound(j, -1, 0);
                upper.form.counters[parameter] = 1;
                upper
            }
            None => bound(j, -1, span.high),
        };
        let bounds = |(j, span): (usize, &Span)| [bound(j, 1, -span.low), upper(j, span)];
        phases.iter().enumerate().skip(self.parameters()).flat_map(bounds).collect()
    }

    /// The transformed coordinate that dimension `d` is by itself, if one is.
    pub fn own_row(&self, d: usize) -> Option<usize> {
        self.plan.transform.iter().position(|row| row.iter().enumerate().all(|(e, &c)| c == i64::from(e == d)))
    }

    /// The counter ends whenever the condition holds: it says so, or that the counter's coordinate has its greatest
    /// value.
    pub fn is_end(&self, place: usize, condition: &Condition) -> bool {
        if !condition.equality || self.counters[place].limit().is_none() {
            return false;
        }
        let last = self.is_greatest(place, None, &condition.form);
        last || same(&self.ends(place, None).form, &condition.form)
    }

    /// The form is zero where the coordinate that starts with counter `place` has its greatest value, over the whole
    /// iteration space or in a case.
    fn is_greatest(&self, place: usize, case: Option<usize>, form: &Form) -> bool {
        let is_first = |x: &Digit| !matches!(x.role, Role::Space(_) | Role::Lane) && x.index == place;
        let dim = self.digits.iter().position(|all| all.first().is_some_and(is_first));
        let upper = dim.and_then(|d| Some((d, self.uppers.get(&(d, case))?)));
        upper.is_some_and(|(d, upper)| self.is_coordinate(d, upper, form))
    }

    /// The form is coordinate `d` less that greatest value, in some lane; or the reverse.
    fn is_coordinate(&self, d: usize, upper: &Affine, form: &Form) -> bool {
        let mut coordinate = upper.coeffs.iter().map(|c| -c).collect::<Vec<_>>();
        coordinate.resize(self.digits.len(), 0);
        coordinate[d] += 1;
        (0..self.lanes()).any(|lane| same(&self.form_of_transformed(&coordinate, -upper.constant, lane), form))
    }

    /// The parameter with which counter `place` ends in some phases, if it has that value wherever one of these
    /// conditions holds.
    pub fn end<'c>(&self, place: usize, mut any: impl Iterator<Item = &'c Vec<Condition>> + Clone) -> Option<usize> {
        let Formula::ByCase(ends) = &self.counters[place].last else { return None };
        let is = |case: usize, parameter: usize, all: &Vec<Condition>| {
            let there = self.ends(place, Some(case)).form;
            let same = |form: &Form| same(form, &there) || self.is_greatest(place, Some(case), form);
            all.iter().any(|c| c.equality && same(&c.form)) && there.counters[parameter] == -1
        };
        let found =
            |(case, end): (usize, &Formula)| end.parameter().filter(|&p| any.clone().all(|all| is(case, p, all)));
        let parameter = ends.iter().enumerate().find_map(found)?;
        any.next().is_some().then_some(parameter)
    }

    /// Of counters and axes.
    pub fn ranges(&self) -> Ranges {
        Ranges { counters: self.loops().most(), extent: self.extent }
    }
}

/// Equal, or one the negative of the other.
fn same(a: &Form, b: &Form) -> bool {
    let at = |f: &Form, j: usize| f.counters.get(j).copied().unwrap_or(0);
    let equal = |sign: i64| {
        (0..a.counters.len().max(b.counters.len())).all(|j| at(a, j) == sign * at(b, j))
            && a.constant == sign * b.constant
            && a.space == b.space.map(|c| sign * c)
    };
    equal(1) || equal(-1)
}

/// A row of a transform over the loops' names, as `c+2q`.
pub fn row_name(system: &System, row: &[i64]) -> String {
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
