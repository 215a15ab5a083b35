//! Where a statement is executed, as conditions on the wave and the PE.
//!
//! Problem: a statement's domain is a set of constraints over the loops of the program. A PE knows the counters of its
//! wave, its two coordinates and, as constants, the digits of its SIMD lanes. Lowering asks for each use of a value:
//! in which waves and PEs does it happen?
//!
//! Method: the mapping writes a loop as a sum of *digits* (a mixed-radix number), and each digit is a counter, a PE
//! coordinate or a lane. Each constraint becomes one affine form over counters and coordinates. A condition that its
//! ranges decide costs nothing: it is left out if it always holds, and the use disappears if it never holds.
//!
//! Example: `for (i = 0; i < 7; i++)` on 4 PEs and 2 tiles is `i = 4 * tile + p0`. The constraint `i <= 6` becomes
//! `6 - 4 * tile - p0 >= 0`. With `i < 8` it would hold in each wave and PE, and would not be asked.
//!
//! Invariant: the conjunction that [`Conditions::of`] returns is sorted and holds no condition twice, so equal
//! conjunctions become one `Guard` node.

use crate::pe::ends::Ends;
use crate::pe::lanes::Lanes;
use scop::{Affine, Constraint};
use uniform::affine::map::compose;
use uniform::affine::{Condition, Form, Ranges};
use uniform::mapping::{DigitBound, Mapping};
use uniform::system::System;

pub(super) struct Conditions<'a> {
    pub system: &'a System,
    pub mapping: &'a Mapping,
    pub lanes: Lanes<'a>,
    pub ends: Ends,
}

impl<'a> Conditions<'a> {
    /// A conjunction for statement `s` in one lane, with bounds on digits; `None` where it never holds.
    pub fn of(&self, s: usize, constraints: &[Constraint], when: &[DigitBound], lane: usize) -> Option<Vec<Condition>> {
        let (constraints, at_end) = self.ends.apply(s, constraints, self.mapping, &self.lanes.digits[lane])?;
        let mut conditions = Vec::new();
        constraints.iter().try_for_each(|c| self.lanes.ask(c, lane, &mut conditions))?;
        let digits = when.iter().map(|b| {
            let mut form = self.mapping.digit_form(b.dim, b.digit, lane);
            let sign = if b.at_least { 1 } else { -1 };
            form.counters.iter_mut().for_each(|c| *c *= sign);
            form.space = form.space.map(|c| c * sign);
            form.constant = sign * (form.constant - b.value);
            Condition { form, equality: false }
        });
        conditions.extend(self.ranges().simplify_all(digits.chain(at_end))?);
        conditions.sort();
        conditions.dedup();
        Some(conditions)
    }

    /// Where some of the statements are executed: one conjunction of each part of their domains.
    pub fn domain(&self, statements: &[usize], lane: usize) -> Vec<Vec<Condition>> {
        let parts = statements.iter().flat_map(|&s| self.system.statements[s].domain.iter().map(move |all| (s, all)));
        parts.filter_map(|(s, all)| self.of(s, all, &[], lane)).collect()
    }

    /// Where the counters are at their ends while statement `s` is executed: one conjunction for all of its phases, or
    /// one for each case of them.
    pub fn ends_in_time(&self, s: usize, counters: &[usize]) -> Vec<Vec<Condition>> {
        let ends = |case: Option<usize>| -> Vec<Condition> {
            counters.iter().map(|&counter| self.mapping.ends(counter, case)).collect()
        };
        let cases = self.cases(s);
        if cases.iter().all(|&case| ends(case) == ends(cases[0])) {
            return vec![ends(cases[0])];
        }
        cases.into_iter().map(|case| [self.mapping.during(case), ends(case)].concat()).collect()
    }

    pub fn ranges(&self) -> &Ranges {
        &self.lanes.ranges
    }

    /// The cases of the statement's phases.
    pub fn cases(&self, s: usize) -> Vec<Option<usize>> {
        self.mapping.cases_of(self.system, s)
    }

    /// A function of a statement's iterators, over the dimensions of the iteration space.
    pub fn over_dims(&self, affine: &Affine, s: usize) -> Affine {
        compose(affine, &self.system.statements[s].iterators, self.system.dims.len())
    }

    /// A function of a statement's iterators, over counters and PE.
    pub fn form(&self, affine: &Affine, s: usize, lane: usize) -> Form {
        self.lanes.form(&self.over_dims(affine, s), lane)
    }

    /// The form that is always 0.
    pub fn zero(&self) -> Form {
        Form { constant: 0, counters: vec![0; self.mapping.counters.len()], space: [0, 0] }
    }

    /// The value of a counter.
    pub fn counter(&self, counter: usize) -> Form {
        let mut form = self.zero();
        form.counters[counter] = 1;
        form
    }

    /// The PE coordinate along an axis.
    pub fn axis(&self, axis: usize) -> Form {
        let mut form = self.zero();
        form.space[axis] = 1;
        form
    }
}

/// A counter, or a coordinate, is not 0.
pub(super) fn at_least_one(mut form: Form) -> Condition {
    form.constant = -1;
    Condition { form, equality: false }
}
