//! Reuse distances: how many waves a value waits until it is read.
//!
//! Problem: a value is read `distance` iterations after it is computed, a constant vector over the loops. The delay
//! element in the PE needs the number of *waves* between the two. With loops `j` and `k` of `n` and `m` iterations, a
//! value that is read one iteration of `j` later waits for `m` waves, and one that is read at `(j + 1, k - 1)` for
//! `m - 1`.
//!
//! Terms: the *reuse distance* is this number of waves. A *case* is a class of phases in which each loop has the same
//! number of iterations. A *strip* is a block of iterations of one loop; its counter tells where inner loops end.
//!
//! Method: the mapping gives a distance as a sum of products of trip counts ([`Waves`]). There are four results:
//!
//! 1. Trip counts that are numbers give a number.
//! 2. Trip counts that follow from a size, or from the case, give a formula. The value waits in a memory whose read
//!    pointer is the write pointer less the formula. This takes at least 2 waves.
//! 3. In strips, a formula is a multiple of whole loops plus a rest. The rest is one delay element, and the constant
//!    part (`more`) a second one behind it, so that the pointers of all strips fit together.
//! 4. A value that an earlier strip left in the PE ([`Delays::across_strips`]) has no element of its own. It must be
//!    exactly where a value of the same strip would be, so its distance has to equal that of a read within the strip.
//!
//! Example of 4, with `m` waves per strip and a value that is read `m` waves later within the strip: the first read of
//! strip 1 finds the value of strip 0.
//!
//! ```text
//! wave             0  1  2 | 3  4  5 | 6  7  8
//! written          a  b  c | d  e  f | g  h  i
//! read 3 ago                 a  b  c   d  e  f
//! strip            0         1         2
//! ```
//!
//! Invariant: the memory has room for the greatest distance, and each read finds the value written so many waves ago.
//! If no element can do that, the result is [`Illegal::Varying`] with the counters that change the distance; the caller
//! then lets these loops run equally long in all phases.
//!
//! Source: reuse distance as in Cong et al., An Optimal Microarchitecture for Stencil Computation Acceleration Based on
//! Non-Uniform Partitioning of Data Reuse Buffers (DAC 2014), here counted in waves; delays as in Kung's systolic
//! arrays.

use crate::pe::conditions::{at_least_one, Conditions};
use crate::pe::pasts::Distance;
use uniform::affine::Condition;
use uniform::counters::Span;
use uniform::mapping::{Carry, Waves};
use uniform::refusal::Illegal;
use uniform::sizes::Formula;
use uniform::system::{Feed, Piece};

pub(super) struct Delays<'a> {
    pub conditions: &'a Conditions<'a>,
    /// The greatest sizes.
    pub maxima: &'a [i64],
    /// Distances may be formulas.
    pub varying: bool,
}

/// A strip that reads what the strip before has left.
struct StripRead {
    /// Phase class of the strip before, and its own.
    cases: [Option<usize>; 2],
    /// The reuse distance.
    waves: i64,
    /// Waves of the strip before.
    all: i64,
}

impl<'a> Delays<'a> {
    /// Waves that a value of statement `s` waits, if it is the same number at all sizes and in all of its phases.
    pub fn constant(&self, s: usize, waves: &Waves) -> Result<i64, Illegal> {
        let by_case = self.by_case(s, waves);
        match by_case[0].1 {
            Formula::Const(n) if by_case.iter().all(|other| other.1 == by_case[0].1) => Ok(n),
            _ => Err(self.varies(s, waves)),
        }
    }

    /// In each of the statement's cases.
    fn by_case(&self, s: usize, waves: &Waves) -> Vec<(Option<usize>, Formula)> {
        let formula = |case| (case, waves.formula(self.conditions.mapping, case));
        self.conditions.cases(s).into_iter().map(formula).collect()
    }

    /// The counters that change it.
    fn varies(&self, s: usize, waves: &Waves) -> Illegal {
        let Conditions { mapping, .. } = self.conditions;
        let by_size: Vec<usize> =
            self.conditions.cases(s).into_iter().flat_map(|case| waves.by_size(mapping, case)).collect();
        Illegal::Varying(if by_size.is_empty() { waves.by_case(mapping) } else { by_size })
    }

    /// Waves that a value of statement `s` waits.
    pub fn distance(&self, s: usize, waves: &Waves) -> Result<Distance, Illegal> {
        let Conditions { system, mapping, .. } = self.conditions;
        let by_case = self.by_case(s, waves);
        let ranges = || by_case.iter().map(|n| n.1.range(self.maxima));
        let (Some(fewest), Some(most)) = (ranges().map(|r| r.0).min(), ranges().map(|r| r.1).max()) else {
            return Ok(Distance::constant(0));
        };
        if fewest == most {
            return Ok(Distance::constant(most as i64));
        }
        // The pointers of strips fit together where the distance is waves of whole loops.
        if let (Some(_), (more @ 1.., rest)) = (mapping.strip, waves.clone().split()) {
            return Ok(Distance { more, ..self.distance(s, &rest)? });
        }
        if fewest < 2 || most > i64::MAX.into() || !self.varying {
            return Err(self.varies(s, waves));
        }
        let waves = if by_case.iter().all(|other| other.1 == by_case[0].1) {
            by_case[0].1.clone()
        } else {
            let mut waves = vec![Formula::Const(fewest as i64); system.cases.len()];
            by_case.into_iter().for_each(|(case, n)| case.into_iter().for_each(|case| waves[case] = n.clone()));
            waves.extend(waves.last().cloned());
            Formula::by_case(waves)
        };
        Ok(Distance { most: most as i64, waves, more: 0 })
    }

    /// The reuse distance of read `k` for values that an earlier strip has left in the PE: that of a read of the same
    /// value within a strip.
    pub fn across_strips(
        &self,
        s: usize,
        k: usize,
        lane: usize,
        piece: &Piece,
        carry: &Carry,
    ) -> Result<Distance, Illegal> {
        let Conditions { system, mapping, ref lanes, .. } = *self.conditions;
        let Some(when) = self.conditions.of(s, &piece.domain, &carry.when, lane) else {
            return Ok(Distance::constant(0));
        };
        let varying = || Illegal::Varying(mapping.by_case().collect());
        let reads = self.strip_reads(s, &when, carry).ok_or_else(varying)?;
        let pieces = &system.statements[s].variables[k].pieces;
        let distances = pieces.iter().filter_map(|p| distance_if_same(&p.feed, &piece.feed));
        for distance in distances.filter(|e| e[..system.loops().start].iter().all(|x| *x == 0)) {
            for other in lanes.carries(distance).iter() {
                let distance = self.distance(s, &other.waves)?;
                let mut late = self.conditions.counter(mapping.counters.len() - 1);
                (late.constant, late.counters) = (distance.more - 1, late.counters.iter().map(|c| -c).collect());
                if distance.more > 0 && self.feasible(&when, Condition { form: late, equality: false }) {
                    continue;
                }
                if reads.iter().all(|read| read.finds(&distance)) {
                    return Ok(distance);
                }
            }
        }
        Err(varying())
    }

    /// All strips that read where `when` holds; `None` if some read of theirs is another number of waves later.
    fn strip_reads(&self, s: usize, when: &[Condition], carry: &Carry) -> Option<Vec<StripRead>> {
        let Conditions { mapping, .. } = self.conditions;
        let counter = mapping.strip?;
        let whole = Span::whole(&mapping.counters[counter]);
        let span = |case: Option<usize>| case.map_or(whole.clone(), |case| mapping.cases[case][counter].clone());
        let strips = self.conditions.cases(s).into_iter().map(span).flat_map(|span| span.low.max(1)..=span.high);
        let read = |strip: i64| {
            let (waves, zero) = mapping.across(strip, &carry.before)?;
            let moves = |j: &usize| self.feasible(when, at_least_one(self.conditions.counter(*j)));
            (!zero.iter().any(moves)).then(|| StripRead {
                cases: [mapping.case_in(strip - 1), mapping.case_in(strip)],
                waves,
                all: mapping.waves_in(strip - 1),
            })
        };
        strips.map(read).collect()
    }

    fn feasible(&self, when: &[Condition], more: Condition) -> bool {
        self.conditions.ranges().feasible(when.iter().chain([&more]))
    }
}

impl StripRead {
    /// A delay element that waits this distance has the value of the strip before.
    fn finds(&self, distance: &Distance) -> bool {
        match (&distance.waves, self.cases) {
            (Formula::Const(waves), _) => *waves == self.waves,
            (waves, [Some(before), Some(here)]) => {
                let before = waves.at_case(before);
                waves.at_case(here) + distance.more == self.waves && before >= self.waves && self.all % before == 0
            }
            _ => false,
        }
    }
}

/// The distance of a feed, if both feeds bring values of the same statement or read.
fn distance_if_same<'a>(feed: &'a Feed, other: &Feed) -> Option<&'a Vec<i64>> {
    match (feed, other) {
        (Feed::Value { statement: a, distance }, Feed::Value { statement: b, .. }) if a == b => Some(distance),
        (Feed::Carry { statement: a, read: x, distance }, Feed::Carry { statement: b, read: y, .. })
            if a == b && x == y =>
        {
            Some(distance)
        }
        _ => None,
    }
}
