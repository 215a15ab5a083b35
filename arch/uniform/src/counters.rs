//! The time loops of an array: counters, and the values with which they end.
//!
//! **Terms.** A *wave* is one point of the counters, which all count 0, 1, … up to a last value. The outermost counters
//! are *parameters*, constants of a run: sizes, and numbers that follow from them. Then come the counters of phases. A
//! [`Case`] is a phase class: a box of phases, or of strips, in which every inner counter has the same last value. In
//! the phases between the boxes nothing happens; there a counter with a last value for each case runs once.
//!
//! **Example.** The outer loop of the triangle `for (i < 8) for (j <= i)` runs in two strips of 4, which are two cases:
//!
//! ```text
//! counter   trip   last
//! i.strip   2      1
//! i         4      3
//! j         8      case[3, 7, 0]      3 in the first strip, 7 in the second one, 0 between the cases
//! ```
//!
//! **Invariants**, checked by the verifier of an array: boxes are disjoint; a last value lies below `trip`; an entry of
//! `last` is a constant or a parameter.

use crate::sizes::Formula;
use crate::system::Kind;
use std::collections::BTreeSet;
use std::ops::Range;

/// One time loop, or one constant of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// `i.tile`, `k.time`, `i.latency`, …
    pub name: String,
    /// A parameter has one value in a run; all others count.
    pub kind: Kind,
    /// The greatest number of its values: one more than its greatest last value.
    pub trip: i64,
    /// The last value: a number, a [`Formula::Parameter`], or one of these for each case and, behind them, for the
    /// phases between cases. For a parameter its value, over the sizes.
    pub last: Formula,
}

impl Counter {
    /// A loop with a constant trip count.
    pub fn constant(name: String, trip: i64) -> Counter {
        Counter { name, kind: Kind::Loop, trip, last: Formula::Const(trip.wrapping_sub(1)) }
    }
    /// The parameter that is its last value in all cases.
    pub fn limit(&self) -> Option<usize> {
        self.last.parameter()
    }
    /// Whether its last value changes from case to case.
    pub fn is_by_case(&self) -> bool {
        matches!(self.last, Formula::ByCase(_))
    }
    /// Whether a parameter is its last value in some cases and not in all.
    pub fn is_limited_by_case(&self) -> bool {
        matches!(&self.last, Formula::ByCase(all) if all.iter().any(|f| f.parameter().is_some()))
    }
}

/// A range of values of a counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub low: i64,
    /// The greatest value of `end` at any sizes.
    pub high: i64,
    /// The last value. At some sizes it may lie below `low`: then the range is empty.
    pub end: Formula,
}

impl Span {
    /// A range with constant ends.
    pub fn constant(low: i64, high: i64) -> Span {
        Span { low, high, end: Formula::Const(high) }
    }
    /// All values of a counter.
    pub fn whole(counter: &Counter) -> Span {
        Span::constant(0, counter.trip - 1)
    }
    pub fn contains(&self, value: i64) -> bool {
        (self.low..=self.high).contains(&value)
    }
    pub fn is_apart_from(&self, other: &Span) -> bool {
        self.high < other.low || other.high < self.low
    }
    /// 1 if the value is in the range, else 0.
    pub fn holds(&self, value: i64) -> Formula {
        if self.contains(value) {
            self.end.clone().plus(Formula::Const(-value)).holds()
        } else {
            Formula::Const(0)
        }
    }
    /// The number of its values.
    pub fn count(&self) -> Formula {
        self.end.clone().plus(Formula::Const(1 - self.low)).greatest(Formula::Const(0))
    }
}

/// A box of values of the outer counters.
pub type Case = Vec<Span>;

/// The time loops of an array or a mapping.
#[derive(Clone, Copy)]
pub struct Loops<'a> {
    pub counters: &'a [Counter],
    /// One box each; no phase is in two.
    pub cases: &'a [Case],
}

impl Loops<'_> {
    /// Counters that are constants of a run: the first ones.
    pub fn parameters(&self) -> usize {
        self.counters.iter().take_while(|c| c.kind == Kind::Parameter).count()
    }
    /// Counters of phases, parameters included: the first ones.
    pub fn phases(&self) -> usize {
        self.counters.iter().take_while(|c| c.kind <= Kind::Sequence).count()
    }
    /// Whether some counter ends by case.
    pub fn has_cases(&self) -> bool {
        self.counters.iter().any(Counter::is_by_case)
    }
    /// The case that contains these values of the outer counters.
    pub fn case(&self, outer: &[i64]) -> Option<usize> {
        self.cases.iter().position(|all| all.iter().zip(outer).all(|(span, &c)| span.contains(c)))
    }
    /// The index of a case, or of the phases between cases, in a formula by case.
    fn place(&self, case: Option<usize>) -> usize {
        case.unwrap_or(self.cases.len())
    }
    /// The last value of a counter in a case: a number or a parameter. For an outer counter: its greatest value in the
    /// case.
    pub fn end(&self, counter: usize, case: Option<usize>) -> &Formula {
        let outer = case.and_then(|k| self.cases[k].get(counter)).filter(|span| span.end.parameter().is_some());
        outer.map_or_else(|| self.counters[counter].last.case_of(self.place(case)), |span| &span.end)
    }
    /// The number of a counter's values in runs of a function of a merged array, if it is always the same.
    pub fn trip_in(&self, counter: usize, function: usize) -> Option<i64> {
        let last = &self.counters[counter].last;
        match last.parameter().map_or(last, |p| &self.counters[p].last).in_function(function) {
            Formula::Const(last) => Some(last + 1),
            _ => None,
        }
    }
    /// The parameter that is a counter's last value in a case and not in all.
    pub fn limit_of_case(&self, counter: usize, case: Option<usize>) -> Option<usize> {
        let by_case = |c: &Counter| c.is_by_case().then(|| c.last.case_of(self.place(case)).parameter()).flatten();
        let case = case?;
        match self.cases[case].get(counter) {
            Some(span) => span.end.parameter(),
            None => by_case(&self.counters[counter]),
        }
    }
    /// The parameter that is a counter's last value in a case.
    pub fn limit(&self, counter: usize, case: Option<usize>) -> Option<usize> {
        self.counters[counter].limit().or_else(|| self.limit_of_case(counter, case))
    }
    /// The greatest last value of a counter in a case.
    pub fn last(&self, counter: usize, case: Option<usize>) -> i64 {
        match &self.counters[counter] {
            c if c.is_by_case() => c.last.case_of(self.place(case)).most(),
            c => c.trip - 1,
        }
    }
    /// The greatest trip counts of all counters in a case.
    pub fn trips(&self, case: Option<usize>) -> Vec<i64> {
        (0..self.counters.len()).map(|j| self.last(j, case) + 1).collect()
    }
    /// The greatest trip counts of all counters in any case.
    pub fn most(&self) -> Vec<i64> {
        self.counters.iter().map(|c| c.trip).collect()
    }
    /// Boxes over all counters that contain every wave: one for each case, or one for all.
    pub fn around(&self, by_case: bool) -> Vec<Vec<(i64, i64)>> {
        let in_case = |case: usize| {
            let trips = self.trips(Some(case));
            let outer = self.cases[case].iter().map(|span| (span.low, span.high));
            outer.chain(trips.iter().skip(self.cases[case].len()).map(|trip| (0, trip - 1))).collect()
        };
        if by_case {
            (0..self.cases.len()).map(in_case).collect()
        } else {
            vec![self.counters.iter().map(|c| (0, c.trip - 1)).collect()]
        }
    }
    /// The cases that have a phase in one of these boxes over the counters.
    pub fn within(&self, phases: Range<usize>, boxes: &[Vec<(i64, i64)>]) -> BTreeSet<usize> {
        let meets =
            |case: &Case| boxes.iter().any(|b| phases.clone().all(|j| case[j].low <= b[j].1 && b[j].0 <= case[j].high));
        (0..self.cases.len()).filter(|&k| meets(&self.cases[k])).collect()
    }
    /// Whether there are phases of other cases, or of none.
    pub fn leaves_out(&self, phases: Range<usize>, some: &BTreeSet<usize>) -> bool {
        let volume = |case: &Case| case[phases.clone()].iter().map(|s| s.high - s.low + 1).product::<i64>();
        let limited = self.cases.iter().any(|all| all[phases.clone()].iter().any(|s| s.end.parameter().is_some()));
        let all = self.counters[phases.clone()].iter().map(|c| c.trip).product();
        self.has_cases()
            && !some.is_empty()
            && (limited || some.iter().map(|&k| volume(&self.cases[k])).sum::<i64>() < all)
    }
    /// The number of points, at most `i64::MAX`, of the first `counters` counters, the first `outer` of which are outer
    /// ones.
    pub fn points(&self, counters: usize, outer: usize) -> i64 {
        let product = |all: &mut dyn Iterator<Item = i64>| all.fold(1, i64::saturating_mul);
        let trips = |case: Option<usize>| product(&mut self.trips(case)[outer..counters].iter().copied());
        if !self.has_cases() {
            return product(&mut self.counters[..counters].iter().map(|c| c.trip));
        }
        let phases = |case: &Case| case.iter().map(|s| s.high - s.low + 1).product::<i64>();
        let within: i64 = self.cases.iter().map(phases).sum();
        let all: i64 = self.counters[..self.cases.first().map_or(0, Vec::len)].iter().map(|c| c.trip).product();
        let inside = self.cases.iter().enumerate().map(|(k, case)| phases(case).saturating_mul(trips(Some(k))));
        inside.fold((all - within).saturating_mul(trips(None)), i64::saturating_add)
    }
}

/// The time loops of a run whose parameters have these values, and the old numbers of the cases that still have phases.
pub fn at(loops: Loops, values: &[i64]) -> (Vec<Counter>, Vec<Case>, Vec<usize>) {
    let parameters = values.len();
    let value = |end: &Formula| end.parameter().map_or(end.most(), |p| values[p].min(end.most()));
    let trips: Vec<i64> = loops
        .counters
        .iter()
        .map(|c| if c.kind == Kind::Parameter { c.trip } else { c.limit().map_or(c.trip, |p| values[p] + 1) })
        .collect();
    let clipped = |case: &Case| -> Case {
        let span = |(j, s): (usize, &Span)| Span::constant(s.low, value(&s.end).min(trips[j] - 1));
        case.iter().enumerate().skip(parameters).map(span).collect()
    };
    let left = loops.cases.iter().enumerate().filter(|(_, case)| case.iter().zip(values).all(|(s, v)| s.contains(*v)));
    let left = left.map(|(k, case)| (k, clipped(case))).filter(|(_, all)| all.iter().all(|s| s.low <= s.high));
    let (left, cases): (Vec<usize>, Vec<Case>) = left.unzip();
    let counter = |(j, c): (usize, &Counter)| {
        let last = match &c.last {
            Formula::ByCase(all) => {
                let last = |k: &usize| Formula::Const(value(&all[*k]).min(trips[j] - 1));
                Formula::ByCase(left.iter().chain([&loops.cases.len()]).map(last).collect())
            }
            _ => Formula::Const(trips[j] - 1),
        };
        Counter { trip: trips[j], last, ..c.clone() }
    };
    let counters = loops.counters.iter().enumerate().skip(parameters).map(counter).collect();
    (counters, cases, left)
}
