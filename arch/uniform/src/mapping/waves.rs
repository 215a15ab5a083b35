//! A number of waves, as a polynomial over the trip counts that change by size or by case.
//!
//! The delay of a value is a number of waves: the strides of the counters that it crosses. A stride is the product of
//! the trip counts of all counters further in. Trip counts that are constant are multiplied out; the others stay
//! symbols. Example: if only counter 3 ends by size, the stride of counter 1 may be `16 * trip(3)`.

use crate::mapping::Mapping;
use crate::sizes::Formula;
use std::collections::BTreeMap;

/// Factors by products of trip counts: the counters of each product, in increasing order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waves(BTreeMap<Vec<usize>, i64>);

impl Waves {
    pub(super) fn of(limited: Vec<usize>, factor: i64) -> Waves {
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
    /// The number of waves in the phases of a case.
    pub fn formula(&self, mapping: &Mapping, case: Option<usize>) -> Formula {
        let times = |(limited, &factor): (&Vec<usize>, &i64)| {
            limited.iter().fold(Formula::Const(factor), |all, &j| all.times(mapping.trips(j, case)))
        };
        self.0.iter().map(times).fold(Formula::Const(0), Formula::plus)
    }
    /// The counters in it that end by size in the phases of a case.
    pub fn by_size(&self, mapping: &Mapping, case: Option<usize>) -> Vec<usize> {
        self.0.keys().flatten().copied().filter(|&j| mapping.limit(j, case).is_some()).collect()
    }
    /// The constant part, and the rest.
    pub fn split(mut self) -> (i64, Waves) {
        (self.0.remove(&vec![]).unwrap_or(0), self)
    }
    /// The counters in it that end by case.
    pub fn by_case(&self, mapping: &Mapping) -> Vec<usize> {
        self.0.keys().flatten().copied().filter(|&j| mapping.counters[j].is_by_case()).collect()
    }
}
