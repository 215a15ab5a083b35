//! How a mapping lays a reduction out over time, PEs and lanes, and where its sum is complete.
//!
//! Terms: a reduction sums over *dims*. The digits of these dims are axes (every PE along them has a part of the sum),
//! counters (a PE adds one term each wave) and lanes (a PE adds several terms in one wave).
//! - Over time only: an accumulator in each PE.
//! - Over axes only: partial sums move from PE to PE.
//! - Over both: every PE sums its *share* over time, and the shares are summed along the axis ("shared").
//! - *Interleaved*: one PE keeps several sums of floats at once and adds to them in turn, which hides the adder's
//!   latency. The last wave adds them together.
//! - *Spilled*: the sum goes to DRAM between two tiles, and comes back ([`super::spill`]).
//!
//! Example: `s += a[k]` for `k` of 0..64 as `k = 16 * p0 + 2 * t + lane`: 4 PEs, 8 waves, 2 lanes. The sum is complete
//! in PE 3 in the wave with `t == 7`. With 60 terms only, the last terms are neutral, and the same PE has the sum.

use crate::pe::conditions::Conditions;
use crate::pe::{spill, Options};
use scop::{Affine, Constraint, ScalarType, Scop};
use uniform::affine::{Condition, Form};
use uniform::mapping::{Role, Waves};
use uniform::recurrence::reduction::Reduction;

pub(super) struct Sums<'a> {
    pub scop: &'a Scop,
    pub conditions: &'a Conditions<'a>,
    pub reductions: &'a [Option<Reduction>],
    pub options: Options,
}

/// A step of a sum to its next term: taken where `form`, a coordinate or a counter, is not 0 and those of the steps
/// before are 0. The sum so far is at PE `p - hop`, `waves` ago.
pub(super) struct Step {
    pub form: Form,
    pub hop: [i64; 2],
    pub waves: Waves,
}

impl<'a> Sums<'a> {
    /// The reduction that a statement is.
    pub fn of(&self, s: usize) -> Option<&'a Reduction> {
        self.reductions[s].as_ref()
    }

    /// The type of what a statement stores.
    pub fn array_type(&self, s: usize) -> ScalarType {
        self.scop.array(self.scop.statements[s].write.array).ty
    }

    /// The lane with the same digits, but 0 in the digits of summed dimensions.
    pub fn first_lane(&self, reduction: &Reduction, lane: usize) -> usize {
        self.conditions.lanes.firsts(&reduction.dims)[lane]
    }

    /// The lanes that share the sum of the first of them.
    pub fn lanes(&self, reduction: &Reduction, first: usize) -> Vec<usize> {
        let lanes = self.conditions.lanes.firsts(&reduction.dims);
        (0..lanes.len()).filter(|&lane| lanes[lane] == first).collect()
    }

    /// Transformed dimensions of a reduction.
    fn rows(&self, reduction: &Reduction) -> Vec<usize> {
        self.conditions.lanes.rows(&reduction.dims)
    }

    /// Axes and counters that a reduction runs over, outermost first.
    pub fn moves(&self, reduction: &Reduction) -> (Vec<usize>, Vec<usize>) {
        spill::moves(self.conditions.mapping, &self.rows(reduction))
    }

    /// The reduction runs over time and space: every PE sums a share.
    pub fn is_shared(&self, reduction: &Reduction) -> bool {
        let (axes, time) = self.moves(reduction);
        !axes.is_empty() && !time.is_empty()
    }

    /// The steps that lead from one term to the next along the axes, innermost first.
    pub fn steps_in_space(&self, reduction: &Reduction) -> Vec<Step> {
        let mut hop = [0, 0];
        let step = |&a: &usize| {
            let mut to = hop;
            to[a] += 1;
            hop[a] -= self.conditions.mapping.extent[a] - 1;
            Step { form: self.conditions.axis(a), hop: to, waves: Waves::default() }
        };
        self.moves(reduction).0.iter().rev().map(step).collect()
    }

    /// The steps from one term to the next: an odometer, innermost first. With `in_space` the axes come before the
    /// counters.
    pub fn steps(&self, reduction: &Reduction, in_space: bool) -> Vec<Step> {
        let Conditions { mapping, .. } = self.conditions;
        let (axes, time) = self.moves(reduction);
        let mut steps = if in_space { self.steps_in_space(reduction) } else { vec![] };
        let mut hop = [0, 0];
        axes.iter().filter(|_| in_space).for_each(|&a| hop[a] -= mapping.extent[a] - 1);
        let mut waves = Waves::default();
        for &counter in time.iter().rev() {
            let stride = mapping.strides(counter, 1);
            waves = waves.plus(&stride);
            steps.push(Step { form: self.conditions.counter(counter), hop, waves: waves.clone() });
            waves = waves.minus(&stride.times(mapping, counter));
        }
        steps
    }

    /// The counter over which sums of statement `s` are interleaved, if they are: the only one that its reduction runs
    /// over, with more values than there are sums; the last value belongs to the sum's last term.
    pub fn interleaved(&self, s: usize, reduction: &Reduction) -> Option<usize> {
        let Conditions { mapping, .. } = self.conditions;
        let (axes, time) = self.moves(reduction);
        let mut long = time.into_iter().filter(|&counter| mapping.counters[counter].trip > 1);
        let (Some(counter), None) = (long.next(), long.next()) else { return None };
        let cases = self.conditions.cases(s);
        let trip = cases.iter().map(|&case| mapping.trip(counter, case)).min().unwrap_or(1);
        let reaches = |(d, upper): (usize, &Affine)| {
            let last = upper.constant - mapping.bounds[d].0;
            cases
                .iter()
                .all(|&case| mapping.digits[d].iter().all(|x| (mapping.trip_of(x, case) - 1) * x.weight <= last))
        };
        let filled = reduction.uppers.iter().all(|u| u.is_constant())
            && self.rows(reduction).into_iter().zip(&reduction.uppers).all(reaches);
        let wanted = self.options.interleave > 1 && self.array_type(s).is_float() && trip > self.options.interleave;
        (wanted && filled && axes.is_empty() && self.spilled(s).is_empty()).then_some(counter)
    }

    /// Tile counters over which partial results of the statement's sum go to DRAM. Nobody else uses the array then.
    pub fn spilled(&self, s: usize) -> Vec<usize> {
        let Conditions { system, mapping, .. } = self.conditions;
        let may = spill::may_spill(self.scop, system, mapping.phases(), s);
        let Some(reduction) = self.of(s).filter(|_| may) else { return vec![] };
        let placed = &system.statements[s];
        let moving = |counter: usize| placed.write.iter().any(|a| mapping.form(a, 0).counters[counter] != 0);
        spill::spilled(mapping, &self.rows(reduction), moving, self.options.spill_beyond)
    }

    /// The size decides which of the lanes that share the sum adds its last term.
    fn ends_in_any_lane(&self, reduction: &Reduction) -> bool {
        let ended = |d: &usize| self.conditions.mapping.digits[*d].iter().any(|x| x.role == Role::Lane);
        let rows = self.rows(reduction);
        rows.iter().zip(&reduction.uppers).any(|(d, upper)| !upper.is_constant() && ended(d))
    }

    /// The digits of a summed dimension reach past its end, where statement `s` is executed. A shared sum is then
    /// complete only after its last iteration's own wave.
    pub fn is_padded(&self, reduction: &Reduction, s: usize) -> bool {
        let Conditions { mapping, ends, .. } = self.conditions;
        let fills = |row: usize, upper: &Affine| {
            let last = |case: Option<usize>| {
                mapping.digits[row].iter().map(|x| (mapping.trip_of(x, case) - 1) * x.weight).sum::<i64>()
            };
            let cases = self.conditions.cases(s);
            cases.into_iter().all(|case| last(case) == upper.constant - mapping.bounds[row].0)
        };
        let mut all = reduction.dims.iter().zip(&reduction.uppers).zip(self.rows(reduction));
        all.any(|((&d, upper), row)| !(ends.contains(s, d) || upper.is_constant() && fills(row, upper)))
    }

    /// Where one lane stores a statement's value: where it is to be stored and, of a sum, is complete.
    pub fn stored_when(
        &self,
        s: usize,
        emit_when: &[Vec<Constraint>],
        spilled: &[usize],
        lane: usize,
    ) -> Vec<Vec<Condition>> {
        match self.of(s) {
            Some(reduction) if !spilled.is_empty() || self.is_shared(reduction) || self.ends_in_any_lane(reduction) => {
                self.complete_when(s, reduction, emit_when, spilled, lane)
            }
            _ => emit_when.iter().filter_map(|c| self.conditions.of(s, c, &[], lane)).collect(),
        }
    }

    /// The sum (a tile's part of it, if it is spilled) is complete: the summed digits are at their ends, except the
    /// spilled counters.
    fn complete_when(
        &self,
        s: usize,
        reduction: &Reduction,
        emit_when: &[Vec<Constraint>],
        spilled: &[usize],
        lane: usize,
    ) -> Vec<Vec<Condition>> {
        if self.first_lane(reduction, lane) != lane {
            return vec![];
        }
        let (axes, time) = self.moves(reduction);
        let end = |mut form: Form, trip: i64| {
            form.constant = 1 - trip;
            Condition { form, equality: true }
        };
        let at_end = |a: usize| end(self.conditions.axis(a), self.conditions.mapping.extent[a]);
        let over_space: Vec<Condition> = axes.into_iter().map(at_end).collect();
        let time: Vec<usize> = time.into_iter().filter(|counter| !spilled.contains(counter)).collect();
        let free = |c: &&Constraint| reduction.dims.iter().all(|&d| c.expr.coeffs[d] == 0);
        let mut all = vec![];
        for over_time in self.conditions.ends_in_time(s, &time) {
            all.extend(emit_when.iter().filter_map(|when| {
                let others: Vec<Constraint> = when.iter().filter(free).cloned().collect();
                let conditions = self.conditions.of(s, &others, &[], lane)?;
                let at_end = over_time.iter().chain(&over_space).cloned();
                self.conditions.ranges().simplify_all(conditions.into_iter().chain(at_end))
            }));
        }
        all
    }
}
