//! Carry cases: how a constant distance spreads over digits.

use crate::mapping::{Carry, Digit, DigitBound, Mapping, Role, Waves};

impl Mapping {
    /// All carry cases of a distance.
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
            digit_cases(&self.digits[d], e, self.digits[d].len(), &mut vec![], &mut vec![], &mut options);
            all = all
                .iter()
                .flat_map(|head| options.iter().map(|(when, deltas)| self.extend(head, when, deltas, d)))
                .collect();
        }
        merge(all)
    }

    fn extend(&self, head: &Carry, when: &[DigitBound], deltas: &[i64], d: usize) -> Carry {
        let mut carry = head.clone();
        carry.when.extend(when.iter().cloned());
        for (digit, delta) in self.digits[d].iter().zip(deltas) {
            match digit.role {
                Role::Space(axis) => carry.hop[axis] += delta,
                Role::Lane => carry.lanes[digit.index] += delta,
                _ => {
                    carry.waves = carry.waves.plus(&self.strides(digit.index, *delta));
                    carry.before.iter_mut().nth(digit.index).into_iter().for_each(|before| *before += delta);
                }
            }
        }
        carry
    }
}

type DigitCase = (Vec<DigitBound>, Vec<i64>);

/// Enumerates, innermost digit first, the digit differences whose weighted sum is `e`.
fn digit_cases(
    digits: &[Digit],
    e: i64,
    left: usize,
    when: &mut Vec<DigitBound>,
    deltas: &mut Vec<i64>,
    out: &mut Vec<DigitCase>,
) {
    if left == 0 {
        if e == 0 {
            out.push((when.clone(), deltas.iter().rev().copied().collect()));
        }
        return;
    }
    let digit = &digits[left - 1];
    let outer_weight = if left > 1 { digits[left - 2].weight } else { 0 };
    let mut try_delta = |delta: i64, bound: Option<(bool, i64)>| {
        let before = when.len();
        if let Some((at_least, value)) = bound {
            when.push(DigitBound { dim: digit.dim, digit: left - 1, at_least, value });
        }
        deltas.push(delta);
        digit_cases(digits, e - delta * digit.weight, left - 1, when, deltas, out);
        deltas.pop();
        when.truncate(before);
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

/// Joins cases with one outcome whose conditions differ only in one complementary bound.
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
