//! Phases that are executed alike. A phase needs not run every loop as often as the longest one does: which *case* a phase is
//! of says where its loops end. Between the cases' phases may stand others in which nothing happens: there those loops run once.

use std::collections::BTreeMap;

/// Where loops end, by phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cases {
    /// Per case and phase counter, the least and greatest value; no phase is of two cases.
    pub boxes: Vec<Vec<[i64; 2]>>,
    /// Counters that do not always run as often as they may: their last values, by case.
    pub lasts: BTreeMap<usize, Vec<i64>>,
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
    /// How often counters that may run so often do so in the phases of a case.
    pub fn trips(&self, most: &[i64], case: Option<usize>) -> Vec<i64> {
        most.iter().enumerate().map(|(j, &trip)| self.last(j, trip, case) + 1).collect()
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
