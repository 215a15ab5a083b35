//! Phases that are executed alike. A phase needs not run every loop as often as the longest one does: which *case* a
//! phase is of says where its loops end. Between the cases' phases may stand others in which nothing happens: there
//! those loops run once.

use crate::sizes::Formula;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Where loops end, by phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cases {
    /// Per case and phase counter, the least and greatest value; no phase is of two cases.
    pub boxes: Vec<Vec<[i64; 2]>>,
    /// Counters that do not always run as often as they may: their last values, by case; at the greatest sizes.
    pub lasts: BTreeMap<usize, Vec<i64>>,
    /// Where sizes end counters: by case, the parameter that is their last value, or, of a counter of phases, the
    /// greatest one of the case's phases.
    pub limits: BTreeMap<usize, Vec<Option<usize>>>,
    /// How many waves values wait that do not wait equally long in all phases, or at all sizes.
    pub lags: Vec<Formula>,
}

/// The fewest waves that a value with that lag, or none, waits in the phases of any case, at sizes up to these.
pub fn fewest(lags: &[Formula], maxima: &[i64], waves: i64, lag: Option<u32>) -> i64 {
    lag.and_then(|lag| i64::try_from(lags.get(lag as usize)?.range(maxima).0).ok()).unwrap_or(waves)
}

impl Cases {
    pub fn is_empty(&self) -> bool {
        self.lasts.is_empty()
    }
    /// Of the phase with these counters.
    pub fn of(&self, phase: &[i64]) -> Option<usize> {
        self.boxes.iter().position(|all| all.iter().zip(phase).all(|(b, c)| (b[0]..=b[1]).contains(c)))
    }
    /// Last value of a counter of that trip count in the phases of a case.
    pub fn last(&self, counter: usize, trip: i64, case: Option<usize>) -> i64 {
        self.lasts.get(&counter).map_or(trip - 1, |lasts| case.map_or(0, |k| lasts[k]))
    }
    /// The parameter with which a counter ends in the phases of a case.
    pub fn limit(&self, counter: usize, case: Option<usize>) -> Option<usize> {
        self.limits.get(&counter)?[case?]
    }
    /// How often counters that may run so often do so in the phases of a case.
    pub fn trips(&self, most: &[i64], case: Option<usize>) -> Vec<i64> {
        most.iter().enumerate().map(|(j, &trip)| self.last(j, trip, case) + 1).collect()
    }
    /// Where counters end if the first ones, so many as there are values, are constants, and counters run so often at
    /// most; cases whose phases are none then do not count. Also which cases are left.
    pub fn at(&self, values: &[i64], trips: &[i64]) -> (Cases, Vec<usize>) {
        let known = values.len();
        let last = |j: usize, k: usize, most: i64| {
            self.limit(j, Some(k)).map_or(most, |p| values[p].min(most)).min(trips[j] - 1)
        };
        let clipped = |k: usize| {
            self.boxes[k].iter().enumerate().skip(known).map(|(j, b)| [b[0], last(j, k, b[1])]).collect::<Vec<_>>()
        };
        let (left, boxes): (Vec<usize>, Vec<_>) =
            (0..self.boxes.len()).map(|k| (k, clipped(k))).filter(|(_, all)| all.iter().all(|b| b[0] <= b[1])).unzip();
        let lasts = self
            .lasts
            .iter()
            .map(|(&j, lasts)| (j - known, left.iter().map(|&k| last(j, k, lasts[k])).collect()))
            .collect();
        (Cases { boxes, lasts, limits: BTreeMap::new(), lags: vec![] }, left)
    }
    /// The same where counters end in the phases of all cases as they do without: between them they still run once.
    pub fn even(&self, most: &[i64], phases: Range<usize>) -> Cases {
        let limits = self.limits.iter().filter(|(j, _)| phases.contains(j)).map(|(&j, all)| (j, all.clone())).collect();
        let lasts = self.lasts.iter().map(|(&j, lasts)| (j, vec![most[j] - 1; lasts.len()])).collect();
        let even = Cases { boxes: self.boxes.clone(), lasts, limits, lags: vec![] };
        if even.leaves_out(most, phases, &(0..self.boxes.len()).collect()) {
            even
        } else {
            Cases::default()
        }
    }
    /// Boxes over all counters, which may run so often, that contain every wave: one of each case, or one of all.
    pub fn around(&self, most: &[i64], by_case: bool) -> Vec<Vec<(i64, i64)>> {
        let of = |case: usize| {
            let trips = self.trips(most, Some(case));
            let own = self.boxes[case].iter().map(|b| (b[0], b[1]));
            own.chain(trips.iter().skip(self.boxes[case].len()).map(|trip| (0, trip - 1))).collect()
        };
        if by_case {
            (0..self.boxes.len()).map(of).collect()
        } else {
            vec![most.iter().map(|trip| (0, trip - 1)).collect()]
        }
    }
    /// The cases of which some phase is in one of these boxes over the counters.
    pub fn within(&self, phases: Range<usize>, boxes: &[Vec<(i64, i64)>]) -> BTreeSet<usize> {
        let meets = |own: &Vec<[i64; 2]>| {
            boxes.iter().any(|b| phases.clone().all(|j| own[j][0] <= b[j].1 && b[j].0 <= own[j][1]))
        };
        (0..self.boxes.len()).filter(|&k| meets(&self.boxes[k])).collect()
    }
    /// There are phases of other cases, or of none.
    pub fn leaves_out(&self, most: &[i64], phases: Range<usize>, some: &BTreeSet<usize>) -> bool {
        let volume = |own: &Vec<[i64; 2]>| own[phases.clone()].iter().map(|b| b[1] - b[0] + 1).product::<i64>();
        let limited = self.limits.keys().any(|j| phases.contains(j));
        !self.is_empty()
            && !some.is_empty()
            && (limited
                || some.iter().map(|&k| volume(&self.boxes[k])).sum::<i64>() < most[phases.clone()].iter().product())
    }
    /// Every case, and what is between them, with the number of its phases.
    fn all<'a>(&'a self, most: &'a [i64]) -> impl Iterator<Item = (Option<usize>, i64)> + 'a {
        let of = |all: &Vec<[i64; 2]>| all.iter().map(|b| b[1] - b[0] + 1).product::<i64>();
        let known: i64 = self.boxes.iter().map(of).sum();
        let rest = most[..self.boxes.first().map_or(0, Vec::len)].iter().product::<i64>() - known;
        self.boxes.iter().map(of).enumerate().map(|(k, n)| (Some(k), n)).chain([(None, rest)])
    }
    /// How many values counters that may run so often, the first of them those of phases, take together.
    pub fn points(&self, most: &[i64], phases: usize) -> i64 {
        if self.is_empty() {
            return most.iter().product();
        }
        self.all(most).map(|(case, n)| n * self.trips(most, case)[phases..].iter().product::<i64>()).sum()
    }
}
