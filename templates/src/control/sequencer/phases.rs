//! What the phase of the next wave tells, see [`crate::phases`].

use super::{Build, Digit};
use crate::cases::{of_case, within};
use crate::phases::{values, Behind, Counted, Merged, OfPhase, Outer, Pace, Phases};
use array::contract::walk::has_pauses;
use rtl::{u, Sig, Ty};
use std::collections::{BTreeMap, BTreeSet};
use uniform::counters::Counter;
use uniform::sizes::Formula;

impl<'m> Build<'_, 'm> {
    /// Builds the `outer` counters, with their trip counts, which step when a phase ends.
    pub(super) fn phases(&mut self, outer: Vec<(usize, i64)>, phase_ends: Sig<'m>) {
        let advances = phase_ends.called("phase_advances");
        let pace = Pace { m: self.m, rst: self.rst, start: self.start, advances };
        let end = |k: usize| match &self.of.counters[k].last {
            Formula::Parameter { place, .. } => Some(self.parameters[*place as usize]),
            _ => None,
        };
        let of = |(k, trip): &(usize, i64)| Outer { name: format!("c{k}"), trip: *trip, end: end(*k) };
        let counted = pace.count(outer.iter().map(of).collect());
        let ahead: Vec<(usize, Sig<'m>)> = outer.iter().zip(&counted).map(|((k, _), c)| (*k, c.ahead)).collect();
        let digits = outer.into_iter().zip(counted).map(|((counter, trip), Counted { value, zero, last, .. })| Digit {
            counter,
            trip,
            value,
            zero,
            last,
        });
        self.digits.splice(0..0, digits);
        let behind = self.cases_behind(&ahead);
        let merged = self.before.map(|before| Merged {
            function: self.parameters[0],
            before,
            pauses: (0..self.of.functions).map(|f| has_pauses(self.of.loops(), f)).collect(),
        });
        self.phases = Some(Phases::new(pace, "of_phase", behind, self.first_cases(), merged));
    }

    /// The case of the counters one step ahead.
    fn cases_behind(&mut self, ahead: &[(usize, Sig<'m>)]) -> Behind<'m> {
        let (m, of) = (self.m, self.of);
        let spans = of.cases.iter().flatten().map(|span| &span.end);
        let inner =
            of.counters.iter().filter_map(|c| if let Formula::ByCase(all) = &c.last { Some(all) } else { None });
        let limits: BTreeSet<usize> = spans.chain(inner.flatten()).filter_map(Formula::parameter).collect();
        let ends: BTreeMap<usize, Sig<'m>> =
            limits.into_iter().map(|p| (p, self.kept(format!("end{p}"), self.parameters[p]))).collect();
        let function = |k: usize| (of.functions > 0).then(|| of.cases[k][0].low as usize);
        let trip = |k: usize, counter: usize| {
            let own = function(k).and_then(|f| of.loops().trip_in(counter, f));
            own.unwrap_or(of.counters[counter].trip)
        };
        let is = |k: usize| {
            let inside = ahead.iter().map(|&(counter, value)| {
                let span = &of.cases[k][counter];
                let inside = within(m, value, [span.low, span.high], trip(k, counter));
                span.end.parameter().map_or(inside, |p| inside & value.le(ends[&p].to(value.ty())))
            });
            // Of a merged array, the function tells the case, too.
            let runs = function(k).map(|f| self.runs[f]);
            let all: Vec<_> = runs.into_iter().chain(inside).collect();
            let all = if all.is_empty() { m.lit(1, u(1)) } else { m.all(&all) };
            all.called(format!("case_behind{k}"))
        };
        let bits = (0..of.cases.len()).map(is).collect();
        self.ends = ends;
        let spans = |k: usize| {
            let all = ahead.iter().map(|(counter, _)| values(&of.cases[k][*counter], trip(k, *counter)));
            (function(k).unwrap_or(0), all.collect())
        };
        Behind { bits, boxes: (0..of.cases.len()).map(spans).collect(), ahead: ahead.iter().map(|a| a.1).collect() }
    }

    /// The last values of digits that phases end, when they `advance`.
    pub(super) fn ends_by_phase(&mut self, advances: &[Sig<'m>]) {
        let (m, of) = (self.m, self.of);
        let phase_ends = self.all_last(of.cased);
        let outer = self.digits.len() - advances.len();
        for (d, advance) in self.digits[outer..].iter().zip(advances) {
            if !of.counters[d.counter].is_by_case() {
                continue;
            }
            let (lasts, ty) = (self.lasts(d), d.value.q().ty());
            let advance = *advance;
            if let (false, Some(phases)) = (of.counters[d.counter].is_limited_by_case(), &self.phases) {
                let lasts: Vec<i64> = lasts.iter().map(Formula::most).collect();
                phases.at_last((d.last, d.value.q()), &lasts, (advance, phase_ends));
                continue;
            }
            // For each case and between them, a parameter's value or a number.
            let each = |parameter: &dyn Fn(usize) -> Sig<'m>, number: &dyn Fn(i64) -> Sig<'m>| -> Vec<Sig<'m>> {
                lasts.iter().map(|end| end.parameter().map_or_else(|| number(end.most()), parameter)).collect()
            };
            let single = |p: Sig<'m>| !p.reduce_or();
            let literal = |last: i64| m.lit(i64::from(last == 0), u(1));
            let singles = each(&|p| single(self.parameters[p]), &literal);
            let first: Vec<Sig<'m>> = self.first_cases().into_iter().map(|case| singles[case]).collect();
            let at_once = of_case(m, &self.starts[..first.len() - 1], &first);
            let before = each(&|p| self.ends[&p].sub_lit(1).to(ty), &|last| m.lit((last - 1).max(0), ty));
            let wrapped = self.of_next_case(phase_ends, &each(&|p| single(self.ends[&p]), &literal));
            let next = m.mux(d.last.q(), wrapped, d.value.q().eq(of_case(m, &self.cases(), &before)));
            d.last.en(self.start | advance).next(m.mux(self.start, at_once, next));
        }
    }

    /// A number for each case and between them, modulo the type's width; without phases that of the first.
    pub(super) fn of_phase(&self, values: &[i64], ty: Ty) -> OfPhase<'m> {
        match &self.phases {
            Some(phases) => phases.number(values, ty),
            None => OfPhase::always(self.m, values[0], ty),
        }
    }

    /// One bit per case: the next wave's.
    pub(super) fn cases(&self) -> Vec<Sig<'m>> {
        self.phases.as_ref().map_or(vec![], Phases::cases)
    }

    /// The next wave's phase is of one of these cases.
    pub(super) fn among_cases(&self, some: &BTreeSet<usize>) -> Sig<'m> {
        self.phases.as_ref().map_or_else(|| self.m.lit(1, u(1)), |phases| phases.among(some))
    }

    /// The signal of the case of the wave behind the next one, see [`OfPhase::next`].
    pub(super) fn of_next_case(&self, phase_ends: Sig<'m>, values: &[Sig<'m>]) -> Sig<'m> {
        let behind = self.phases.as_ref().map_or(&[][..], |phases| &phases.behind.bits);
        self.m.mux(phase_ends, of_case(self.m, behind, values), of_case(self.m, &self.cases(), values))
    }

    /// The case of the first phase.
    pub(super) fn first_case(&self) -> Option<usize> {
        self.of.loops().case(&vec![0; self.of.counters.len()])
    }

    /// The case of the first phase, or the number behind the last one: of each function, if there are several.
    pub(super) fn first_cases(&self) -> Vec<usize> {
        let case = |f: usize| {
            let at: Vec<i64> = (0..self.of.counters.len()).map(|j| if j == 0 { f as i64 } else { 0 }).collect();
            self.of.loops().case(&at).unwrap_or(self.of.cases.len())
        };
        match self.of.functions {
            0 => vec![self.first_case().unwrap_or(self.of.cases.len())],
            count => (0..count).map(case).collect(),
        }
    }

    /// Last values of a digit, by case and between them.
    fn lasts(&self, digit: &Digit) -> Vec<Formula> {
        let counter: &Counter = &self.of.counters[digit.counter];
        (0..=self.of.cases.len()).map(|case| counter.last.in_case(case)).collect()
    }
}
