//! `Mapping`: where and when each iteration runs. Iteration space → (time counters, PE, lane).
//!
//! **Terms.** The *transform* is a unimodular matrix: `m = transform · n`. Each transformed coordinate is split into
//! *digits*: a tile loop, a space loop, a time loop, a latency-hiding loop, a SIMD lane:
//!
//! ```text
//! m_d = lo_d + Σ weight * digit       i in 0..64, tile 32, space, latency 4, simd 2:
//!
//! digit     tile  space  latency  lane
//! trip      2     4      4        2          i = 32 * tile + 8 * pe + 2 * latency + lane
//! weight    32    8      2        1
//! ```
//!
//! **Method.** A weight is the next weight times the next trip count. So only the outermost digit can run past the end
//! of its coordinate; tile sizes are rounded up for that. A constant distance becomes a few *carry cases*: constant
//! distances of the digits, each under conditions on single digits (a borrow or none). Time digits are the counters,
//! which are rectangular, so every carry case is a constant number of waves ([`Waves`]).
//!
//! A *cyclic* dimension deals its iterations out: `i = 32 * tile + 8 * latency + 2 * pe + lane`. A bus word then has an
//! element for each of several PEs, instead of several for one.
//!
//! **Source.** AutoSA (Wang, Guo, Cong, 2021), section 4: partitioning, latency hiding, SIMD. PolySA (Cong, Wang,
//! 2018), section 4.1: projection and schedule vectors.

mod waves;

pub use waves::Waves;

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
    /// Neighbouring PEs have neighbouring iterations (latency outside of space), instead of one PE.
    pub cyclic: bool,
}

impl Default for DimPlan {
    fn default() -> Self {
        DimPlan { tile: None, axis: None, latency: 1, simd: 1, cyclic: false }
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

    /// The plan with this many more dimensions in front, which stay as they are.
    pub fn behind(self, sizes: usize) -> Plan {
        let mut out = Plan::identity(sizes);
        let depth = sizes + self.dims.len();
        out.transform.iter_mut().for_each(|row| row.resize(depth, 0));
        out.transform.extend(self.transform.into_iter().map(|row| [vec![0; sizes], row].concat()));
        out.dims.extend(self.dims);
        out.order.extend(self.order.into_iter().map(|d| d + sizes));
        out
    }

    /// The plan without its first dimensions.
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
    /// The counter of strips, behind those of tiles.
    pub strip: Option<usize>,
    /// The classes of phases, or of strips.
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
    /// For a value of an earlier strip: by counter, how much less it is there. [`Mapping::across`] counts the waves.
    pub before: Vec<i64>,
    pub hop: [i64; 2],
    /// Per lane digit: reader's minus producer's.
    pub lanes: Vec<i64>,
}

impl Mapping {
    /// Drops the coefficients of axes with one PE.
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

    /// An affine function of the coordinates of the iteration space as such a form.
    pub fn form(&self, affine: &Affine, lane: usize) -> Form {
        let coeffs: Vec<i64> = (0..self.digits.len())
            .map(|d| affine.coeffs.iter().zip(&self.inverse).map(|(a, row)| a * row[d]).sum())
            .collect();
        self.form_of_transformed(&coeffs, affine.constant, lane)
    }

    /// A digit as a form over counters and PE; a lane digit is a constant.
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

    /// Whether counter `place` ends by size or by case.
    fn varies(&self, place: usize) -> bool {
        !matches!(self.counters[place].last, Formula::Const(_))
    }

    /// The greatest trip count of counter `place` in the phases of a case.
    pub fn trip(&self, place: usize, case: Option<usize>) -> i64 {
        self.loops().last(place, case) + 1
    }

    /// Its trip count over the sizes.
    fn trips(&self, place: usize, case: Option<usize>) -> Formula {
        let last = self.limit(place, case).map(|p| self.counters[p].last.clone());
        last.map_or_else(|| Formula::Const(self.trip(place, case)), |last| last.plus(Formula::Const(1)))
    }

    /// The trip count of a digit in the phases of a case.
    pub fn trip_of(&self, digit: &Digit, case: Option<usize>) -> i64 {
        if matches!(digit.role, Role::Space(_) | Role::Lane) {
            digit.trip
        } else {
            self.trip(digit.index, case)
        }
    }

    /// The delay, in waves, of a value from the strip in front of this one, whose counters are less by `before`; and
    /// the counters that must be 0 for it.
    pub fn across(&self, strip: i64, before: &[i64]) -> Option<(i64, Vec<usize>)> {
        let counter = self.strip?;
        let inner = counter + 1..self.counters.len();
        let (then, now) = (self.trips_in(strip - 1), self.trips_in(strip));
        let stride = |trips: &[i64], j: usize| trips[j + 1..].iter().product::<i64>();
        let next = before[counter] == 1 && before[..counter].iter().all(|b| *b == 0);
        let back = inner.clone().map(|j| before[j] * stride(&then, j)).sum::<i64>();
        next.then(|| {
            (self.waves_in(strip - 1) + back, inner.filter(|&j| stride(&then, j) != stride(&now, j)).collect())
        })
    }

    /// The number of outer counters, by which others end: those of phases, or all up to that of strips.
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

    /// Waves of that strip in a tile.
    pub fn waves_in(&self, strip: i64) -> i64 {
        self.trips_in(strip)[self.cased()..].iter().product()
    }

    /// Waves of the whole run.
    pub fn waves(&self) -> i64 {
        let greatest: Vec<i64> = self.counters[..self.parameters()].iter().map(|c| c.trip - 1).collect();
        let (counters, cases, _) = counters::at(self.loops(), &greatest);
        Loops { counters: &counters, cases: &cases }.points(counters.len(), self.cased() - greatest.len())
    }

    /// The cases in which statement `s` runs.
    pub fn cases_of(&self, system: &System, s: usize) -> Vec<Option<usize>> {
        let runs = |k: &usize| self.loops().has_cases() && system.cases[*k].statements.contains(&s);
        let all: Vec<Option<usize>> = (0..system.cases.len()).filter(runs).map(Some).collect();
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

    /// The mapping whose loops have one trip count in all phases in which something happens.
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
            // All tiles have the same number of waves.
            let points = |counters: &[Counter]| counters.iter().map(|c| c.trip).product::<i64>();
            let tiles = &self.counters[..self.tile_depth];
            return Waves::of(vec![], times * points(&tiles[place + 1..]) * (self.waves() / points(tiles)));
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

    /// The condition that a counter has its last value in the phases of a case.
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
        own_row(&self.plan.transform, d)
    }

    /// Whether the condition says that the counter, or its coordinate, has its last value.
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

    /// The parameter that is the last value of counter `place` in some phases, if each of these conditions implies that
    /// value.
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

    /// The ranges of counters and axes.
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

/// The row of a transform that is dimension `d` by itself, if one is.
pub fn own_row(transform: &[Vec<i64>], d: usize) -> Option<usize> {
    transform.iter().position(|row| row.iter().enumerate().all(|(e, &c)| c == i64::from(e == d)))
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
