//! How many waves distance a value was made: always as many, as many as the sizes, the phase or the strip says, or in the
//! strip before.

use crate::pe::distance::Distance;
use crate::pe::lower::Lower;
use uniform::affine::Condition;
use uniform::counters::Span;
use uniform::mapping::{Carry, Waves};
use uniform::refusal::Illegal;
use uniform::sizes::Formula;
use uniform::system::{Feed, Piece};

impl<'a> Lower<'a> {
    /// Waves that a value of statement `s` waits for: the same at all sizes and in all of its phases.
    pub(super) fn constant(&self, s: usize, waves: &Waves) -> Result<i64, Illegal> {
        let by_case = self.by_case(s, waves);
        match by_case[0].1 {
            Formula::Const(n) if by_case.iter().all(|other| other.1 == by_case[0].1) => Ok(n),
            _ => Err(self.varying(s, waves)),
        }
    }

    /// In each of the statement's cases.
    fn by_case(&self, s: usize, waves: &Waves) -> Vec<(Option<usize>, Formula)> {
        self.cases(s).into_iter().map(|case| (case, waves.formula(self.mapping, case))).collect()
    }

    /// With which counters it changes.
    fn varying(&self, s: usize, waves: &Waves) -> Illegal {
        let by_size: Vec<usize> =
            self.cases(s).into_iter().flat_map(|case| waves.by_size(self.mapping, case)).collect();
        Illegal::Varying(if by_size.is_empty() { waves.by_case(self.mapping) } else { by_size })
    }

    /// Waves that a value of statement `s` waits for.
    pub(super) fn distance(&mut self, s: usize, waves: &Waves) -> Result<Distance, Illegal> {
        let by_case = self.by_case(s, waves);
        let ranges = || by_case.iter().map(|n| n.1.range(&self.out.maxima));
        let (Some(fewest), Some(most)) = (ranges().map(|r| r.0).min(), ranges().map(|r| r.1).max()) else {
            return Ok(Distance::constant(0));
        };
        if fewest == most {
            return Ok(Distance::constant(most as i64));
        }
        // The pointers of strips fit together where a lag is waves of whole loops.
        if let (Some(_), (more @ 1.., rest)) = (self.mapping.strip, waves.clone().split()) {
            return Ok(Distance { more, ..self.distance(s, &rest)? });
        }
        if fewest < 2 || most > i64::MAX.into() || !self.options.lags {
            return Err(self.varying(s, waves));
        }
        let waves = if by_case.iter().all(|other| other.1 == by_case[0].1) {
            by_case[0].1.clone()
        } else {
            let mut waves = vec![Formula::Const(fewest as i64); self.system.cases.len()];
            by_case.into_iter().for_each(|(case, n)| case.into_iter().for_each(|case| waves[case] = n.clone()));
            waves.extend(waves.last().cloned());
            Formula::by_case(waves)
        };
        Ok(Distance { most: most as i64, waves, more: 0 })
    }

    /// How long a value waits that an earlier strip has left in its PE: as long as those of the strip itself.
    pub(super) fn handed_on(
        &mut self,
        [s, k]: [usize; 2],
        lane: usize,
        piece: &Piece,
        carry: &Carry,
    ) -> Result<Distance, Illegal> {
        let (system, mapping) = (self.system, self.mapping);
        let Some(when) = self.conditions(s, &piece.domain, &carry.when, lane) else { return Ok(Distance::constant(0)) };
        let varying = || Illegal::Varying(mapping.by_case().collect());
        let Some(counter) = mapping.strip else { return Err(varying()) };
        let all = Span::whole(&mapping.counters[counter]);
        let strips =
            self.cases(s).into_iter().map(|case| case.map_or(all.clone(), |case| mapping.cases[case][counter].clone()));
        // Per strip that reads it: the case of the strip before and its own, how many waves ago it was made, and the
        // former's waves.
        let mut reads: Vec<([Option<usize>; 2], i64, i64)> = vec![];
        for strip in strips.flat_map(|span| span.low.max(1)..=span.high) {
            let (waves, zero) = mapping.across(strip, &carry.before).ok_or_else(varying)?;
            let moves = |j: &usize| {
                let mut form = self.variable_form(None, *j);
                form.constant = -1;
                self.ranges().feasible(when.iter().chain([&Condition { form, equality: false }]))
            };
            if zero.iter().any(moves) {
                return Err(varying());
            }
            reads.push(([mapping.case_in(strip - 1), mapping.case_in(strip)], waves, mapping.waves_in(strip - 1)));
        }
        let same = |feed: &'a Feed| match (feed, &piece.feed) {
            (Feed::Value { statement: a, distance }, Feed::Value { statement: b, .. }) if a == b => Some(distance),
            (Feed::Carry { statement: a, read: x, distance }, Feed::Carry { statement: b, read: y, .. })
                if a == b && x == y =>
            {
                Some(distance)
            }
            _ => None,
        };
        let within: Vec<&Vec<i64>> = system.statements[s].variables[k]
            .pieces
            .iter()
            .filter_map(|p| same(&p.feed))
            .filter(|e| e[..system.loops().start].iter().all(|x| *x == 0))
            .collect();
        for distance in within {
            for other in self.lanes.carries(distance).iter() {
                let distance = self.distance(s, &other.waves)?;
                let mut late = self.variable_form(None, mapping.counters.len() - 1);
                (late.constant, late.counters) = (distance.more - 1, late.counters.iter().map(|c| -c).collect());
                if distance.more > 0
                    && self.ranges().feasible(when.iter().chain([&Condition { form: late, equality: false }]))
                {
                    continue;
                }
                let keeps = |&(cases, waves, all): &([Option<usize>; 2], i64, i64)| match (&distance.waves, cases) {
                    (Formula::Const(waves_ago), _) => *waves_ago == waves,
                    (lag, [Some(then), Some(now)]) => {
                        lag.at_case(now) + distance.more == waves
                            && lag.at_case(then) >= waves
                            && all % lag.at_case(then) == 0
                    }
                    _ => false,
                };
                if reads.iter().all(keeps) {
                    return Ok(distance);
                }
            }
        }
        Err(varying())
    }
}
