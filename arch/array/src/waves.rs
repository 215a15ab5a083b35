//! The waves of a run in their order: tiles and waves, phase by phase, and where counters end.

use crate::vsa::{Op, Vsa};
use std::collections::BTreeMap;
use uniform::affine::advance;
use uniform::counters::{Case, Loops};
use uniform::sizes::Formula;

impl Vsa {
    /// The time loops.
    pub fn loops(&self) -> Loops<'_> {
        Loops { counters: &self.counters, cases: &self.cases }
    }
    /// Counters that are constants of a run: the first ones.
    pub fn parameters(&self) -> usize {
        self.loops().parameters()
    }
    /// Counters that count phases, parameters included: the first ones.
    pub fn phases(&self) -> usize {
        self.loops().phases()
    }
    /// A last value over the sizes: that of a parameter in its place.
    pub fn over_sizes(&self, last: &Formula) -> Formula {
        last.parameter().map_or_else(|| last.clone(), |p| self.counters[p].last.clone())
    }
    /// Last value of a counter in the phases of a case.
    pub fn last(&self, counter: usize, case: Option<usize>) -> Formula {
        self.over_sizes(self.loops().end(counter, case))
    }
    /// The greatest of a counter's last values in any phases; of a merged array, in runs of this function.
    pub fn farthest(&self, counter: usize, function: Option<usize>) -> Formula {
        let here = |case: &Case| function.is_none_or(|f| case[0].contains(f as i64));
        let last = match &self.counters[counter].last {
            Formula::ByCase(all) => {
                let cases = all.iter().zip(&self.cases).filter(|c| here(c.1)).map(|c| self.over_sizes(c.0));
                cases.reduce(Formula::greatest).unwrap_or(Formula::Const(self.counters[counter].trip - 1))
            }
            last => self.over_sizes(last),
        };
        function.map_or(last.clone(), |f| last.in_function(f))
    }
    /// The most waves that a delay takes, at any sizes.
    pub fn most(&self, waves: &Formula) -> i64 {
        if let Formula::Const(waves) = waves {
            *waves
        } else {
            waves.range(&self.sizes.maxima()).1 as i64
        }
    }
    /// The delays that change from case to case, or with the sizes, each once.
    pub fn varying_delays(&self) -> Vec<&Formula> {
        let mut all = vec![];
        for node in &self.nodes {
            match &node.op {
                Op::Past { waves: Formula::Const(_), .. } => {}
                Op::Past { waves, .. } if !all.contains(&waves) => all.push(waves),
                _ => {}
            }
        }
        all
    }
    /// The place of a delay in [`Vsa::varying_delays`]; `None` for a constant one.
    pub fn varying_delay(&self, waves: &Formula) -> Option<u32> {
        let varies = !matches!(waves, Formula::Const(_));
        varies.then(|| self.varying_delays().iter().position(|w| *w == waves).map(|k| k as u32)).flatten()
    }
    /// How many counters, from the outside, tell where others end: those of phases, or all up to that of strips.
    pub fn cased(&self) -> usize {
        self.cases.first().map_or(self.phases(), Vec::len)
    }
    /// The case of a tile's phase, or of a wave's; of a tile in strips none.
    pub fn case_at(&self, at: &[i64]) -> Option<usize> {
        if self.loops().has_cases() {
            at.get(..self.cased()).and_then(|at| self.loops().case(at))
        } else {
            None
        }
    }
    /// How often each counter runs in the phase of a tile, or where a wave is.
    pub fn trips_at(&self, at: &[i64]) -> Vec<i64> {
        self.loops().trips(self.case_at(at))
    }
    /// Boxes over the counters that contain every wave.
    pub fn around(&self) -> Vec<Vec<(i64, i64)>> {
        self.loops().around(self.cased() > self.tile_depth)
    }
    /// Waves of a tile where counters run so often.
    pub fn waves_of(&self, trips: &[i64]) -> i64 {
        if self.cased() > self.tile_depth {
            self.waves() / self.tiles()
        } else {
            trips[self.tile_depth..].iter().product()
        }
    }
    /// Tiles of the whole run.
    pub fn tiles(&self) -> i64 {
        if self.cased() > self.tile_depth {
            self.counters[..self.tile_depth].iter().map(|c| c.trip).product()
        } else {
            self.loops().points(self.tile_depth, self.phases())
        }
    }
    /// Waves of the whole run.
    pub fn waves(&self) -> i64 {
        self.loops().points(self.counters.len(), self.cased())
    }
    /// Waves behind the last phase in which something happens.
    pub fn waves_behind(&self) -> i64 {
        let number =
            |at: &mut dyn Iterator<Item = i64>| at.zip(&self.counters).fold(0, |n, (c, counter)| n * counter.trip + c);
        let phases = self.counters[..self.cased()].iter().map(|c| c.trip).product::<i64>();
        let last = self.cases.iter().map(|all| number(&mut all.iter().map(|span| span.high))).max();
        let waves = || self.loops().trips(None)[self.cased()..].iter().product::<i64>();
        last.filter(|_| self.loops().has_cases()).map_or(0, |last| (phases - 1 - last) * waves())
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
