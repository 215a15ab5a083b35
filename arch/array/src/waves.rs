//! The waves of a run in their order: visits and waves, phase by phase, and where counters end.

use crate::vsa::Vsa;
use std::collections::BTreeMap;
use uniform::affine::advance;
use uniform::cases::fewest;
use uniform::sizes::Formula;

impl Vsa {
    /// Last value of a counter in the phases of a case.
    pub fn last(&self, counter: usize, case: Option<usize>) -> Formula {
        let trip = self.counters[counter].trip;
        match self.cases.limit(counter, case) {
            Some(parameter) => self.sizes.parameters[parameter].clone(),
            None if self.cases.lasts.contains_key(&counter) => Formula::Const(self.cases.last(counter, trip, case)),
            None => self.sizes.last(counter, trip),
        }
    }
    /// The greatest of a counter's last values in any phases.
    pub fn farthest(&self, counter: usize) -> Formula {
        let cases = if self.cases.lasts.contains_key(&counter) { self.cases.boxes.len() } else { 0 };
        (0..cases)
            .map(|k| self.last(counter, Some(k)))
            .reduce(Formula::greatest)
            .unwrap_or_else(|| self.sizes.last(counter, self.counters[counter].trip))
    }
    /// The fewest waves that a value with that lag, or none, waits in any phase, at any sizes.
    pub fn fewest(&self, waves: i64, lag: Option<u32>) -> i64 {
        fewest(&self.cases.lags, &self.sizes.maxima(), waves, lag)
    }
    /// How many counters, from the outside, tell where others end: those of phases, or all up to that of strips.
    pub fn cased(&self) -> usize {
        self.cases.boxes.first().map_or(self.phases, Vec::len)
    }
    /// The case of a visit's phase, or of a wave's; of a visit in strips none.
    pub fn case_at(&self, at: &[i64]) -> Option<usize> {
        if self.cases.is_empty() {
            None
        } else {
            at.get(..self.cased()).and_then(|at| self.cases.of(at))
        }
    }
    /// How often each counter runs in the phase of a visit, or where a wave is.
    pub fn trips_at(&self, at: &[i64]) -> Vec<i64> {
        self.cases.trips(&self.most(), self.case_at(at))
    }
    /// Boxes over the counters that contain every wave.
    pub fn around(&self) -> Vec<Vec<(i64, i64)>> {
        self.cases.around(&self.most(), self.cased() > self.tile_depth)
    }
    /// Waves of a visit where counters run so often.
    pub fn waves_of(&self, trips: &[i64]) -> i64 {
        if self.cased() > self.tile_depth {
            self.waves() / self.visits()
        } else {
            trips[self.tile_depth..].iter().product()
        }
    }
    fn most(&self) -> Vec<i64> {
        self.counters.iter().map(|c| c.trip).collect()
    }
    /// Visits of the whole run.
    pub fn visits(&self) -> i64 {
        let tiles = &self.most()[..self.tile_depth];
        if self.cased() > self.tile_depth {
            tiles.iter().product()
        } else {
            self.cases.points(tiles, self.phases)
        }
    }
    /// Waves of the whole run.
    pub fn waves(&self) -> i64 {
        self.cases.points(&self.most(), self.cased())
    }
    /// Waves behind the last phase in which something happens.
    pub fn waves_behind(&self) -> i64 {
        let number =
            |at: &mut dyn Iterator<Item = i64>| at.zip(&self.counters).fold(0, |n, (c, counter)| n * counter.trip + c);
        let phases = self.counters[..self.cased()].iter().map(|c| c.trip).product::<i64>();
        let last = self.cases.boxes.iter().map(|all| number(&mut all.iter().map(|b| b[1]))).max();
        let waves = || self.cases.trips(&self.most(), None)[self.cased()..].iter().product::<i64>();
        last.filter(|_| !self.cases.is_empty()).map_or(0, |last| (phases - 1 - last) * waves())
    }
    /// The phases, or strips, in their order, each with how often the counters run in it.
    pub fn walked(&self) -> impl Iterator<Item = (Vec<i64>, Vec<i64>)> + '_ {
        let first = Some(vec![0; self.cased()]);
        let next = |phase: &Vec<i64>| {
            let mut phase = phase.clone();
            advance(&mut phase, self.counters.iter().map(|c| c.trip)).then_some(phase)
        };
        std::iter::successors(first, next).map(|phase| {
            let trips = self.trips_at(&phase);
            (phase, trips)
        })
    }
    /// The phases that begin before this wave: where they do, and how often the counters run in them.
    pub fn phases_before(&self, wave: i64) -> BTreeMap<Vec<i64>, (i64, Vec<i64>)> {
        let begins = |begin: &mut i64, (phase, trips): (Vec<i64>, Vec<i64>)| {
            let here = *begin;
            *begin += trips[self.cased()..].iter().product::<i64>();
            (here < wave).then_some((phase, (here, trips)))
        };
        self.walked().scan(0, begins).collect()
    }
    /// Counters of the wave with this number.
    pub fn counters_of(&self, mut wave: i64) -> Vec<i64> {
        for (mut at, trips) in self.walked() {
            let waves = trips[self.cased()..].iter().product::<i64>();
            if wave < waves {
                let mut inner: Vec<i64> = trips[self.cased()..]
                    .iter()
                    .rev()
                    .map(|trip| {
                        let c = wave % trip;
                        wave /= trip;
                        c
                    })
                    .collect();
                inner.reverse();
                at.extend(inner);
                return at;
            }
            wave -= waves;
        }
        vec![0; self.counters.len()]
    }
}
