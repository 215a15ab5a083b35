//! Carry cases: how a constant distance spreads over the digits of a coordinate.
//!
//! **Problem.** A value comes from a constant distance `e` in a coordinate. The digits of reader and producer differ by
//! `e` as digits of numbers do in a subtraction: with borrows, which depend on the reader's digits.
//!
//! **Method.** From the innermost digit to the outermost one, a difference is either the rest of `e`, if the reader's
//! digit is that large, or that rest less the trip count, with a borrow from the next digit. The outermost digit takes
//! what remains. Each way is one [`Carry`]: conditions on digits, and the differences as waves, hops and lanes. Cases
//! with one outcome are joined.
//!
//! ```text
//! distance 1, digits tile (weight 4) and time (weight 1, trip 4):
//! time >= 1    the difference is time 1                  1 wave
//! time <= 0    time 1 - 4 = -3 and a borrow: tile 1      1 tile less 3 waves
//! ```
//!
//! **Invariant.** The conditions of a coordinate's cases are disjoint and cover all digits; the weighted differences of
//! each sum up to `e`.

use crate::mapping::{Carry, Digit, DigitBound, Mapping, Role, Waves};

impl Mapping {
    /// All carry cases of a distance in the iteration space.
    pub fn carries(&self, distance: &[i64]) -> Vec<Carry> {
        let moved: Vec<i64> =
            self.plan.transform.iter().map(|row| row.iter().zip(distance).map(|(a, b)| a * b).sum()).collect();
        let earlier = (0..self.plan.dims.len()).any(|d| {
            moved[d] != 0
                && self.strip.is_some_and(|strip| {
                    self.digits[d]
                        .first()
                        .is_some_and(|x| !matches!(x.role, Role::Space(_) | Role::Lane) && x.index == strip)
                })
        });
        let before = if earlier { vec![0; self.counters.len()] } else { vec![] };
        let mut all = vec![Carry {
            when: vec![],
            waves: Waves::default(),
            before,
            hop: [0, 0],
            lanes: vec![0; self.lane_trips.len()],
        }];
        for (d, &e) in moved.iter().enumerate() {
            let mut options = Vec::new();
            digit_cases(&self.digits[d], e, &DigitCase::default(), &mut options);
            all = all.iter().flat_map(|head| options.iter().map(|case| self.extend(head, case, d))).collect();
        }
        merge(all)
    }

    /// The case further by the digits of coordinate `d`.
    fn extend(&self, head: &Carry, case: &DigitCase, d: usize) -> Carry {
        let mut carry = head.clone();
        carry.when.extend(case.when.iter().cloned());
        for (digit, delta) in self.digits[d].iter().zip(&case.deltas) {
            match digit.role {
                Role::Space(axis) => carry.hop[axis] += delta,
                Role::Lane => carry.lanes[digit.index] += delta,
                _ => {
                    carry.waves = carry.waves.plus(&self.strides(digit.index, *delta));
                    carry.before.get_mut(digit.index).into_iter().for_each(|before| *before += delta);
                }
            }
        }
        carry
    }
}

/// Differences of the digits of one coordinate, outermost first, and when they apply.
#[derive(Clone, Default)]
struct DigitCase {
    when: Vec<DigitBound>,
    deltas: Vec<i64>,
}

/// Enumerates, innermost digit first, the digit differences whose weighted sum is `e`. `inner`: those of the digits
/// further in.
fn digit_cases(digits: &[Digit], e: i64, inner: &DigitCase, out: &mut Vec<DigitCase>) {
    let Some((digit, outer)) = digits.split_last() else {
        out.extend((e == 0).then(|| inner.clone()));
        return;
    };
    let outer_weight = outer.last().map_or(0, |x| x.weight);
    let mut try_delta = |delta: i64, bound: Option<(bool, i64)>| {
        let mut case = inner.clone();
        let bound = bound.map(|(at_least, value)| DigitBound { dim: digit.dim, digit: outer.len(), at_least, value });
        case.when.extend(bound);
        case.deltas.insert(0, delta);
        digit_cases(outer, e - delta * digit.weight, &case, out);
    };
    if outer_weight == 0 {
        if e % digit.weight == 0 {
            try_delta(e / digit.weight, None);
        }
        return;
    }
    let here = e.rem_euclid(outer_weight);
    if here % digit.weight != 0 {
        return;
    }
    let delta = here / digit.weight;
    if delta == 0 {
        try_delta(0, None);
    } else {
        try_delta(delta, Some((true, delta)));
        try_delta(delta - digit.trip, Some((false, delta - 1)));
    }
}

/// Joins cases with one outcome whose conditions differ in one complementary bound.
fn merge(mut all: Vec<Carry>) -> Vec<Carry> {
    let outcome = |c: &Carry| (c.waves.clone(), c.before.clone(), c.hop, c.lanes.clone());
    loop {
        let mut joined = None;
        'search: for a in 0..all.len() {
            for b in a + 1..all.len() {
                if outcome(&all[a]) == outcome(&all[b]) {
                    if let Some(when) = join(&all[a].when, &all[b].when) {
                        joined = Some((a, b, when));
                        break 'search;
                    }
                }
            }
        }
        let Some((a, b, when)) = joined else { return all };
        all[a].when = when;
        all.remove(b);
    }
}

fn join(a: &[DigitBound], b: &[DigitBound]) -> Option<Vec<DigitBound>> {
    let only_a: Vec<_> = a.iter().filter(|x| !b.contains(x)).collect();
    let only_b: Vec<_> = b.iter().filter(|x| !a.contains(x)).collect();
    let common = || a.iter().filter(|x| b.contains(x)).cloned().collect();
    match (only_a.as_slice(), only_b.as_slice()) {
        ([], _) | (_, []) => Some(common()),
        ([x], [y]) if (x.dim, x.digit) == (y.dim, y.digit) && x.at_least != y.at_least => {
            let (low, high) = if x.at_least { (y.value, x.value) } else { (x.value, y.value) };
            (high <= low + 1).then(common)
        }
        _ => None,
    }
}
