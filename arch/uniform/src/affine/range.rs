//! Conditions over counters and PE coordinates, simplified by the ranges of these.

use crate::affine::{Condition, Form};

/// Least and greatest value of `constant + Σ coefficient * x` with `low <= x <= high`, of terms `(coefficient, low,
/// high)`: the one rule of intervals.
pub fn interval(constant: i64, terms: impl IntoIterator<Item = (i64, i64, i64)>) -> (i128, i128) {
    terms.into_iter().fold((constant.into(), constant.into()), |(least, greatest), (c, low, high)| {
        let (a, b) = (i128::from(c) * i128::from(low), i128::from(c) * i128::from(high));
        (least + a.min(b), greatest + a.max(b))
    })
}

/// Ranges of the variables of forms.
#[derive(Clone, Debug)]
pub struct Ranges {
    pub counters: Vec<i64>,
    pub extent: [i64; 2],
}

impl Ranges {
    /// `(coefficient, greatest value, index)` of the variables a form uses; indices >= counters.len() are axes.
    fn terms(&self, form: &Form) -> Vec<(i64, i64, usize)> {
        let time = form.counters.iter().zip(&self.counters).enumerate().map(|(j, (&c, &trip))| (c, trip - 1, j));
        let space = (0..2).map(|a| (form.space[a], self.extent[a] - 1, self.counters.len() + a));
        time.chain(space).filter(|t| t.0 != 0 && t.1 > 0).collect()
    }

    /// Least and greatest value of a form.
    pub fn bounds(&self, form: &Form) -> (i64, i64) {
        let (low, high) = interval(form.constant, self.terms(form).into_iter().map(|(c, max, _)| (c, 0, max)));
        (low as i64, high as i64)
    }

    /// Equivalent conditions, as few and as simple as intervals show; `None` when never true.
    pub fn simplify(&self, condition: &Condition) -> Option<Vec<Condition>> {
        let (lo, hi) = self.bounds(&condition.form);
        if !condition.equality {
            return match (lo >= 0, hi < 0) {
                (true, _) => Some(vec![]),
                (_, true) => None,
                _ if hi == 0 => self.simplify(&Condition { equality: true, form: condition.form.clone() }),
                _ => Some(vec![condition.clone()]),
            };
        }
        if lo > 0 || hi < 0 {
            return None;
        }
        if lo == 0 && hi == 0 {
            return Some(vec![]);
        }
        match self.unique_solution(&condition.form) {
            Some(Ok(values)) => Some(values.into_iter().map(|(index, value)| self.equals(index, value)).collect()),
            Some(Err(())) => None,
            None => Some(vec![condition.clone()]),
        }
    }

    /// `variable(index) == value`
    fn equals(&self, index: usize, value: i64) -> Condition {
        let mut form = Form { constant: -value, counters: vec![0; self.counters.len()], space: [0, 0] };
        if index < self.counters.len() {
            form.counters[index] = 1;
        } else {
            form.space[index - self.counters.len()] = 1;
        }
        Condition { form, equality: true }
    }

    /// The values of all variables with `form == 0`, if its coefficients nest like a mixed radix; `Err` if there are
    /// none.
    #[allow(clippy::type_complexity)]
    fn unique_solution(&self, form: &Form) -> Option<Result<Vec<(usize, i64)>, ()>> {
        let mut terms = self.terms(form);
        terms.sort_by_key(|t| -t.0.abs());
        let mut rest: Vec<(i64, i64)> = vec![(0, 0)];
        for t in terms.iter().rev() {
            let (lo, hi) = *rest.last().unwrap();
            if hi - lo >= t.0.abs() {
                return None;
            }
            rest.push(if t.0 > 0 { (lo, hi + t.0 * t.1) } else { (lo + t.0 * t.1, hi) });
        }
        let mut value = form.constant;
        let mut found = Vec::new();
        for (k, t) in terms.iter().enumerate() {
            let (lo, hi) = rest[terms.len() - 1 - k];
            // value + c*x + r == 0 for some r in [lo, hi]: x is the one integer in range.
            let x = (0..=t.1).find(|x| {
                let v = -(value + t.0 * x);
                lo <= v && v <= hi
            });
            let Some(x) = x else { return Some(Err(())) };
            value += t.0 * x;
            found.push((t.2, x));
        }
        Some(if value == 0 { Ok(found) } else { Err(()) })
    }

    /// A conjunction, simplified; `None` when never true.
    pub fn simplify_all(&self, conditions: impl IntoIterator<Item = Condition>) -> Option<Vec<Condition>> {
        let mut out = Vec::new();
        for condition in conditions {
            out.extend(self.simplify(&condition)?);
        }
        out.sort();
        out.dedup();
        Some(out)
    }

    /// Whether all conditions may hold at once, as far as intervals of forms and variables show.
    pub fn feasible<'a>(&self, conditions: impl IntoIterator<Item = &'a Condition>) -> bool {
        self.narrowed(conditions).is_some()
    }

    /// Least and greatest value that all conditions together leave to each counter and axis, as far as intervals of
    /// forms and variables show; `None` if they cannot all hold.
    pub fn narrowed<'a>(&self, conditions: impl IntoIterator<Item = &'a Condition>) -> Option<Vec<(i64, i64)>> {
        let all: Vec<Within> = conditions.into_iter().map(|c| self.within(c)).collect();
        self.agreed(&all)
    }

    /// The same of conditions that [`Ranges::within`] has prepared: many sets of them are asked about.
    pub fn agreed<'a>(&self, all: impl IntoIterator<Item = &'a Within>) -> Option<Vec<(i64, i64)>> {
        let mut sums: Vec<(&Terms, (i64, i64))> = vec![];
        for Within { terms, least, greatest } in all {
            let within = match sums.iter_mut().find(|sum| sum.0 == terms) {
                Some((_, within)) => {
                    *within = (within.0.max(*least), within.1.min(*greatest));
                    *within
                }
                None => {
                    sums.push((terms, (*least, *greatest)));
                    (*least, *greatest)
                }
            };
            if within.0 > within.1 || terms.is_empty() && (within.0 > 0 || within.1 < 0) {
                return None;
            }
        }
        let mut bounds: Vec<(i64, i64)> = self.counters.iter().chain(&self.extent).map(|&n| (0, n - 1)).collect();
        // Each round hands a bound on to the next variable; a few rounds find what there is to find.
        for _ in 0..bounds.len() {
            let mut changed = false;
            for (terms, within) in &sums {
                changed |= tighten(terms, *within, &mut bounds)?;
            }
            if !changed {
                break;
            }
        }
        Some(bounds)
    }

    /// What a condition leaves to its form without the constant. Forms that differ in sign are the same sum.
    pub fn within(&self, Condition { form, equality }: &Condition) -> Within {
        let mut terms: Vec<(i64, usize)> = self.terms(form).into_iter().map(|t| (t.0, t.2)).collect();
        let negative = terms.first().is_some_and(|t| t.0 < 0);
        terms.iter_mut().for_each(|t| t.0 *= if negative { -1 } else { 1 });
        let (least, greatest) = match (equality, negative) {
            (true, false) => (-form.constant, -form.constant),
            (true, true) => (form.constant, form.constant),
            (false, false) => (-form.constant, i64::MAX),
            (false, true) => (i64::MIN, form.constant),
        };
        Within { terms, least, greatest }
    }
}

/// Coefficients and indices of variables; those behind the counters are axes.
type Terms = Vec<(i64, usize)>;

/// A condition as an interval: `least <= Σ coefficient * variable <= greatest`.
pub struct Within {
    terms: Terms,
    least: i64,
    greatest: i64,
}

/// Narrows the intervals of the variables to what `within` leaves of the sum of `terms`, and says whether that changed
/// one; `None` if it leaves nothing.
fn tighten(terms: &[(i64, usize)], within: (i64, i64), bounds: &mut [(i64, i64)]) -> Option<bool> {
    let of = |&(c, v): &(i64, usize), bounds: &[(i64, i64)]| {
        if c > 0 {
            (c * bounds[v].0, c * bounds[v].1)
        } else {
            (c * bounds[v].1, c * bounds[v].0)
        }
    };
    let total = terms.iter().map(|t| of(t, bounds)).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    if total.0 > within.1 || total.1 < within.0 {
        return None;
    }
    let mut changed = false;
    for term in terms {
        let value = of(term, bounds);
        // What the others leave to c * x.
        let low = within.0.saturating_sub(total.1 - value.1).max(value.0);
        let high = within.1.saturating_sub(total.0 - value.0).min(value.1);
        let (c, low, high) = if term.0 > 0 { (term.0, low, high) } else { (-term.0, -high, -low) };
        let narrower = (-(-low).div_euclid(c), high.div_euclid(c));
        if narrower.0 > narrower.1 {
            return None;
        }
        changed |= narrower != bounds[term.1];
        bounds[term.1] = narrower;
    }
    Some(changed)
}
