//! Statements at the end of a sum whose length follows from the sizes. In which lane, or in which PE, the last term of
//! such a sum is, sizes tell; but the terms behind it are neutral, so the sum is complete in the last wave, in the
//! first lane and in the last PE as well. There its readers are executed, and what reads them.

use scop::flow;
use scop::{Affine, Constraint};
use std::borrow::Cow;
use uniform::affine::map::{compose, coordinate, minus};
use uniform::affine::{Condition, Form};
use uniform::mapping::{Digit, Mapping, Role};
use uniform::recurrence::reduction::Reduction;
use uniform::refusal::Illegal;
use uniform::system::{Feed, System};

/// Where statements are executed that are moved from the last iteration of a sum to its last wave.
pub(super) struct Ends {
    /// Per statement: dimensions, and their last coordinates over the sizes.
    of: Vec<Vec<(usize, Affine)>>,
    /// Per statement: a case of its phases. In all of them these dimensions end alike.
    cases: Vec<Option<usize>>,
}

impl Ends {
    /// # Errors
    /// Dimensions that end differently in phases of one statement.
    pub fn find(system: &System, mapping: &Mapping, reductions: &[Option<Reduction>]) -> Result<Ends, Illegal> {
        let mut of = vec![vec![]; system.statements.len()];
        for (d, upper) in shared(system, mapping, reductions) {
            let mut moved: Vec<bool> = (0..of.len()).map(|s| stands_at(system, s, d, &upper)).collect();
            while let Some(s) = (0..moved.len()).find(|&s| moved[s] && !is_free(system, reductions, &moved, s, d)) {
                moved[s] = false;
            }
            for (s, ends) in of.iter_mut().enumerate().filter(|(s, _)| moved[*s]) {
                let cases = mapping.cases_of(system, s);
                let counted = mapping
                    .own_row(d)
                    .into_iter()
                    .flat_map(|row| &mapping.digits[row])
                    .filter(|x| !matches!(x.role, Role::Space(_) | Role::Lane));
                let varies = |digit: &&Digit| {
                    cases.iter().any(|&case| mapping.ends(digit.index, case) != mapping.ends(digit.index, cases[0]))
                };
                if let Some(digit) = counted.clone().find(varies) {
                    return Err(Illegal::Varying(vec![digit.index]));
                }
                ends.push((d, upper.clone()));
            }
        }
        let cases = (0..of.len()).map(|s| mapping.cases_of(system, s)[0]).collect();
        Ok(Ends { of, cases })
    }

    /// The statement is executed in the last wave of the dimension.
    pub fn contains(&self, s: usize, d: usize) -> bool {
        self.of[s].iter().any(|end| end.0 == d)
    }

    /// The constraints on statement `s` without the dimensions along which it is moved, and the conditions that stand
    /// for these; `None` in other lanes.
    pub fn apply<'a>(
        &self,
        s: usize,
        constraints: &'a [Constraint],
        mapping: &Mapping,
        lane_digits: &[i64],
    ) -> Option<(Cow<'a, [Constraint]>, Vec<Condition>)> {
        let depth = mapping.digits.len();
        let (mut constraints, mut conditions) = (Cow::Borrowed(constraints), vec![]);
        for (d, upper) in &self.of[s] {
            let counted = constraints.iter().any(|c| c.expr.coeffs[*d] != 0);
            let coordinates: Vec<Affine> =
                (0..depth).map(|e| if e == *d { upper.clone() } else { coordinate(e, depth) }).collect();
            constraints.to_mut().iter_mut().for_each(|c| c.expr = compose(&c.expr, &coordinates, depth));
            for digit in &mapping.digits[mapping.own_row(*d)?] {
                match digit.role {
                    Role::Lane if lane_digits[digit.index] != 0 => return None,
                    Role::Lane => {}
                    Role::Space(axis) => {
                        let mut form =
                            Form { constant: 1 - digit.trip, counters: vec![0; mapping.counters.len()], space: [0, 0] };
                        form.space[axis] = 1;
                        conditions.extend(counted.then_some(Condition { form, equality: true }));
                    }
                    _ => conditions.extend(counted.then(|| mapping.ends(digit.index, self.cases[s]))),
                }
            }
        }
        Some((constraints, conditions))
    }
}

/// Dimensions that end as the sizes say of sums that lanes or PEs share.
fn shared(system: &System, mapping: &Mapping, reductions: &[Option<Reduction>]) -> Vec<(usize, Affine)> {
    let mut all: Vec<(usize, Affine)> = Vec::new();
    let is_spread = |&d: &usize| {
        mapping
            .own_row(d)
            .is_some_and(|row| mapping.digits[row].iter().any(|x| matches!(x.role, Role::Space(_) | Role::Lane)))
    };
    let sums = reductions.iter().flatten().filter(|r| system.is_sized() && r.dims.iter().any(is_spread));
    for (&d, upper) in sums.flat_map(|r| r.dims.iter().zip(&r.uppers)) {
        let one = (d, upper.clone());
        if !upper.is_constant() && !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// Statement `s` is executed at that coordinate only, and what it stores and loads does not depend on it.
fn stands_at(system: &System, s: usize, d: usize, upper: &Affine) -> bool {
    let (placed, depth) = (&system.statements[s], system.dims.len());
    let there = Constraint { expr: minus(&coordinate(d, depth), upper), equality: true };
    let mut functions = placed.iterators.iter().chain(&placed.write);
    let loads = placed.variables.iter().flat_map(|v| &v.pieces).all(|p| match &p.feed {
        Feed::Input { subscripts } => subscripts.iter().all(|a| a.coeffs[d] == 0),
        Feed::Value { distance, .. } | Feed::Carry { distance, .. } => distance[d] == 0,
        Feed::Partial { .. } => false,
    });
    let own = placed.dims.contains(&d) || functions.any(|a| a.coeffs[d] != 0);
    !own && loads && placed.domain.iter().all(|all| flow::implies(all, std::slice::from_ref(&there), depth))
}

/// What the statement reads is complete, or moved as well, and so are its readers.
fn is_free(system: &System, reductions: &[Option<Reduction>], moved: &[bool], s: usize, d: usize) -> bool {
    let sum = |t: usize| reductions[t].as_ref().is_some_and(|r| r.dims.contains(&d));
    let feeds = |t: usize| system.statements[t].variables.iter().flat_map(|v| &v.pieces).map(|p| &p.feed);
    let known = feeds(s).all(|feed| match feed {
        Feed::Value { statement, .. } => sum(statement.index()) || moved[statement.index()],
        Feed::Carry { statement, .. } => moved[statement.index()],
        Feed::Input { .. } | Feed::Partial { .. } => true,
    });
    let reads = |t: usize| {
        feeds(t).any(|feed| match feed {
            Feed::Value { statement, .. } | Feed::Carry { statement, .. } => statement.index() == s,
            Feed::Input { .. } | Feed::Partial { .. } => false,
        })
    };
    known && (0..moved.len()).all(|t| moved[t] || !reads(t))
}
