//! Better choices of arrays that merge, from those that were tried.
//!
//! **Problem.** The arrays of the functions depend on each other: those that share operators cost little together, and
//! what one function leaves of the limits another one can use.
//!
//! **Method.** Where nothing fits, [`Search::tighten`] searches the functions within a part of the limits.
//! Functions that make waves slow for all get arrays over other loops ([`Search::seek_even`]), and those with small tiles
//! get larger ones ([`Search::seek_longer`]). Those with the same loops get the tiles of one of them
//! ([`Search::seek_alike`]). Then [`Search::improve`] takes turns: slow functions get new arrays, and one function after
//! the other changes to another array that was tried, others to smaller ones if that makes room for it.
//!
//! Example: a long function and three short ones within 15,000 LUT. Each alone takes all of them, and merged they take
//! 20,000. Within 11,000 they fit. Then the long one may become larger, if a short one becomes smaller.

use super::{all_cycles, cycles, grid_of, is_free, lanes_of, narrow, or, ranked, Choice, Search};
use crate::compiled::{Compiled, Stages};
use crate::imitate::{doubled, keep_words, retiled, with_loops};
use crate::{branch, threads, tuning};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use uniform::aim::{Grid, Most};
use uniform::design::{ArrayChoice, DesignSpec, Shape};

impl Search<'_> {
    /// Waves hop from PE to PE as slowly as in the slowest function, and tiles of all functions wait longer for the values
    /// of the last PE. Where sums that pass from PE to PE are why, their functions get arrays over other loops: all of them
    /// over one, or where one has no such loop, over what is fastest for it.
    pub(super) fn seek_even(&mut self) {
        let Some((_, Choice { own, .. })) = &self.best else { return };
        let own = own.clone();
        let uneven: Vec<usize> = (0..own.len()).filter(|&f| uneven(&own[f]).is_some()).collect();
        if uneven.is_empty() || uneven.len() == own.len() {
            return;
        }
        let over = |k: usize| -> BTreeMap<String, Compiled> {
            let f = uneven[k];
            let specs = self.over_other_loops(f, &own[f]).into_iter();
            let arrays = specs.filter_map(|(name, spec)| Some((name, (self.asked.again)(f, &spec)?)));
            arrays.filter(|(_, new)| self::uneven(new).is_none()).collect()
        };
        let others = threads::each(uneven.len(), over);
        let names: BTreeSet<String> = others.iter().flat_map(BTreeMap::keys).cloned().collect();
        for name in names {
            let fastest =
                |all: &BTreeMap<_, Compiled>| all.values().min_by_key(|c| c.report.prediction.cycles).cloned();
            let chosen = others.iter().map(|all| all.get(&name).cloned().or_else(|| fastest(all)));
            let Some(chosen) = chosen.collect::<Option<Vec<_>>>() else { return };
            let mut all = own.clone();
            uneven.iter().zip(chosen).for_each(|(f, new)| all[*f] = new);
            self.try_all(all);
        }
    }

    /// Arrays with the grid and the ports of this one, over each loop that could stand for the one along which waves hop
    /// slowly. None if the user says which loops these are.
    fn over_other_loops(&self, f: usize, own: &Compiled) -> Vec<(String, DesignSpec)> {
        let spec = self.asked.specs[f];
        let (Some(axis), Some(Stages { system, plan, .. }), ArrayChoice::Automatic) =
            (uneven(own), own.stages.as_ref(), &spec.array)
        else {
            return vec![];
        };
        let name = |d: usize| system.dims[d].name.clone();
        let of_axis = |a: usize| plan.dims.iter().position(|dim| dim.axis == Some(a));
        let others = system.loops().filter(|d| plan.dims[*d].axis.is_none());
        let over = |d: usize| {
            let space = (0..2).filter_map(|a| if a == axis { Some(d) } else { of_axis(a) }).map(name).collect();
            let mut spec = spec.clone();
            spec.array = ArrayChoice::ByHand { space: Some(space), shape: Shape::default() };
            spec.aim.grid = Some(grid_of(own));
            keep_words(&mut spec, own);
            (name(d), spec)
        };
        others.map(over).collect()
    }

    /// Values take longer through the PEs of the merged array than through those of a function alone, and small tiles wait
    /// for the buffers of their results. Functions that get slower by it get tiles of twice as many waves, as long as all
    /// together gain by it.
    pub(super) fn seek_longer(&mut self) {
        loop {
            let Some((cost, Choice { own, cycles: now, .. })) = &self.best else { return };
            let (cost, own) = (*cost, own.clone());
            let most = 1.0 + tuning::IMITATED_PERCENT as f64 / 100.0;
            let longer = |f: usize| {
                let is_slow = now[f] > most * cycles(&self.alone[f]);
                let new = is_slow.then(|| self.longer(f, &own[f])).flatten()?;
                Some(new).filter(|new| most * cycles(new) <= now[f])
            };
            let longer = threads::each(own.len(), longer);
            if longer.iter().all(Option::is_none) {
                return;
            }
            self.try_these(or(longer, &own));
            if self.best.as_ref().is_none_or(|best| best.0 >= cost) {
                return;
            }
        }
    }

    /// An array like this one, with a tile of twice as many iterations along one loop: the best of them by the objective.
    fn longer(&self, f: usize, own: &Compiled) -> Option<Compiled> {
        let spec = self.asked.specs[f];
        let Stages { system, plan, .. } = own.stages.as_ref().filter(|_| is_free(spec))?;
        let mut spec = spec.clone();
        keep_words(&mut spec, own);
        let doubled = |d: usize| retiled(own, doubled(plan, system, d)?, &spec, self.asked.board);
        let all = system.loops().filter_map(doubled);
        let worth = |c: &Compiled| ranked(self.asked, cycles(c), branch::share(&c.report.resources, &self.limits));
        all.min_by(|a, b| worth(a).partial_cmp(&worth(b)).unwrap_or(Ordering::Equal))
    }

    /// Functions with the same loops get the tiles of one of them, as long as all together gain by it: they share I/O groups
    /// then. Where cycles come first, [`Search::exchange`] is for this.
    pub(super) fn seek_alike(&mut self) {
        if self.is_for_cycles() {
            return;
        }
        let most = 1.0 + tuning::IMITATED_PERCENT as f64 / 100.0;
        for model in self.order() {
            let Some((_, Choice { own, .. })) = &self.best else { return };
            let own = own.clone();
            let like = |f: usize| {
                let form = self.forms[f].as_ref().filter(|_| f != model && is_free(self.asked.specs[f]))?;
                let mut spec = self.asked.specs[f].clone();
                keep_words(&mut spec, &own[f]);
                let new = with_loops(&own[model], form, &spec, |spec| (self.asked.again)(f, spec))?;
                (new.vsa != own[f].vsa && cycles(&new) <= most * cycles(&own[f])).then_some(new)
            };
            let found = threads::each(own.len(), like);
            if found.iter().any(Option::is_some) {
                self.try_these(or(found, &own));
            }
        }
    }

    /// New arrays and exchanges, in turns, until neither helps.
    pub(super) fn improve(&mut self) {
        self.seek_faster();
        while self.exchange() && self.seek_faster() {}
    }

    /// Where cycles come first: functions that the best array makes so much slower that all together notice it get arrays
    /// that are the best within its grid, for [`Search::exchange`]. Whether there are new ones.
    fn seek_faster(&mut self) -> bool {
        let Some((_, Choice { own, merged, cycles: now, .. })) = self.best.as_ref().filter(|_| self.is_for_cycles())
        else {
            return true;
        };
        let before: usize = self.tried.iter().map(Vec::len).sum();
        let grid = Grid { pes: merged.extent, lanes: merged.lanes };
        let least = self.total(now) * tuning::IMITATED_PERCENT as f64 / 100.0;
        let lost = |f: &usize| self.weights[*f] as f64 * (cycles(&own[*f]) - cycles(&self.alone[*f]));
        let slow = |f: &usize| is_free(self.asked.specs[*f]) && lost(f) > least;
        let slow = (0..own.len()).filter(slow);
        let mut seek: Vec<(usize, Grid, i64)> = slow
            .flat_map(|f| self.worth_seeking(f, grid).into_iter().map(move |(grid, part)| (f, grid, part)))
            .collect();
        seek.retain(|one| self.sought.insert(*one));
        let found = |k: usize| {
            let (f, grid, percent) = seek[k];
            let mut spec = self.asked.specs[f].clone();
            spec.aim.grid = Some(grid);
            if percent < 100 {
                spec.aim.limit = self.part_of_limits(percent as f64 / 100.0);
                narrow(&mut spec, &self.alone[f].vsa, tuning::MERGED_NARROW_BYTES);
            }
            (self.asked.again)(f, &spec)
        };
        let found = threads::each(seek.len(), found);
        for ((f, ..), new) in seek.into_iter().zip(&found) {
            new.iter().for_each(|new| self.remember(f, new));
        }
        self.tried.iter().map(Vec::len).sum::<usize>() > before
    }

    /// The grids and percents of the limits within which a function may get faster than on a merged array of this grid.
    fn worth_seeking(&self, f: usize, grid: Grid) -> Vec<(Grid, i64)> {
        // With fewer lanes, too: their operators are more likely among those of the others. One PE makes room, as do
        // arrays within a part of the limits, over narrow ports.
        let fewer = |lanes: i64| Grid { lanes: lanes.max(1), ..grid };
        let whole = [grid, fewer(grid.lanes / 4), fewer(1), Grid { pes: [1, 1], ..grid }].map(|grid| (grid, 100));
        let is_limited = self.part_of_limits(0.5) != self.asked.specs[f].aim.limit;
        let parts = tuning::MERGED_PERCENT.into_iter().filter(|_| is_limited);
        // On the grid that it has alone, too, and with as many lanes in two PEs: all functions together may have more
        // PEs then.
        let alone = grid_of(&self.alone[f]);
        let lanes = lanes_of(alone);
        let grids = [grid, alone, Grid { pes: [2, 1], lanes: (lanes / 2).max(1) }];
        let within = parts.flat_map(|part| grids.map(|grid| (grid, part)));
        let mut all: Vec<(Grid, i64)> = whole.into_iter().chain(within).collect();
        // Lanes that are too few, and where its own array is found again.
        let iterations = self.alone[f].report.work.map_or(0, |work| work.iterations);
        let now = self.best.as_ref().map_or(i64::MAX, |best| best.1.own[f].report.prediction.cycles);
        all.retain(|&(grid, percent)| {
            let is_own = percent == 100 && grid.holds(alone.pes, alone.lanes);
            !is_own && iterations / lanes_of(grid) < now
        });
        all.sort();
        all
    }

    /// Gives one function after the other but `f` smaller and smaller arrays that were tried, until all fit, as long as
    /// they are faster than the best choice.
    fn make_room(&mut self, mut own: Vec<Compiled>, f: usize) {
        let mut others: Vec<usize> = (0..own.len()).filter(|g| *g != f).collect();
        let lut = |c: &Compiled| c.report.resources.lut;
        others.sort_by_key(|&g| Reverse(lut(&own[g])));
        for g in others {
            let mut smaller = self.tried[g].clone();
            smaller.retain(|c| lut(c) < lut(&own[g]));
            smaller.sort_by_key(|c| Reverse(lut(c)));
            for array in smaller {
                let large = std::mem::replace(&mut own[g], array);
                let best = self.best.as_ref().map_or(f64::MAX, |b| self.total(&b.1.cycles));
                if self.total(&all_cycles(&own)) >= best {
                    own[g] = large;
                } else if self.try_these(own.clone()).is_some_and(|share| share <= 1.0) {
                    return;
                }
            }
        }
    }

    /// Exchanges the array of one function for another one that was tried, while the merged array gets better by it.
    /// Whether cycles come first and it got better.
    fn exchange(&mut self) -> bool {
        let first = self.best.as_ref().map(|b| b.0);
        let mut left = tuning::MERGED_EXCHANGES / self.alone.len().max(1);
        let mut same = 0;
        for f in (0..self.alone.len()).cycle() {
            let Some((cost, Choice { own, .. })) = &self.best else { break };
            let (cost, own) = (*cost, own.clone());
            for new in self.tried[f].clone() {
                if new.vsa == own[f].vsa || self.is_for_cycles() && cycles(&new) >= cycles(&own[f]) {
                    continue;
                }
                if left == 0 {
                    return false;
                }
                left -= 1;
                let mut all = own.clone();
                all[f] = new;
                let share = self.try_these(all.clone()).unwrap_or(f64::MAX);
                if self.is_for_cycles() && share > 1.0 && share < tuning::MERGED_ROOM {
                    self.make_room(all, f);
                }
            }
            let is_better = self.best.as_ref().is_some_and(|b| b.0 < cost);
            same = if is_better { 0 } else { same + 1 };
            if same == self.alone.len() {
                break;
            }
        }
        self.is_for_cycles() && self.best.as_ref().map(|b| b.0) < first
    }

    /// Where cycles come first and nothing fits: arrays within less of the limits, which leaves room for what merging
    /// adds, and within the grid that the function with the most cycles has then. Bisects how much less.
    pub(super) fn tighten(&mut self) {
        let aim = &self.asked.specs[0].aim;
        let longest = self.order_by_cycles().find(|&f| is_free(self.asked.specs[f]));
        let Some(f) = longest.filter(|_| self.best.is_none() && !aim.limit.is_empty() && self.is_for_cycles()) else {
            return;
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..tuning::MERGED_PARTS {
            let part = (low + high) / 2.0;
            let mut spec = self.asked.specs[f].clone();
            spec.aim.limit = self.part_of_limits(part);
            let share = (self.asked.again)(f, &spec).map(|model| {
                self.remember(f, &model);
                self.try_over(grid_of(&model), &spec.aim.limit, Some(tuning::MERGED_NARROW_BYTES))
            });
            // Too little for one function is too little for all.
            if share.is_none_or(|share| share <= 1.0) {
                low = part;
            } else {
                high = part;
            }
        }
    }

    /// The user's limits, less of all but DSP slices: merging adds multiplexers, tables and memories, no operators.
    fn part_of_limits(&self, part: f64) -> BTreeMap<String, Most> {
        let mut limit = self.asked.specs[0].aim.limit.clone();
        for (name, most) in self.limits.named() {
            if let Some(limit) = limit.get_mut(name).filter(|_| name != "dsp") {
                *limit = Most::Count((most as f64 * part) as i64);
            }
        }
        limit
    }
}

/// The axis along which a wave takes more than a cycle from PE to PE.
fn uneven(compiled: &Compiled) -> Option<usize> {
    let vsa = &compiled.vsa;
    (0..2).find(|&a| vsa.extent[a] > 1 && vsa.schedule.start[a].hop_delay() > 1)
}
