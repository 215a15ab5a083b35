//! Conditions over counters and PE coordinates, simplified with what is known of their ranges.

use crate::mapping::Mapping;
use crate::vsa::{Condition, Form};

/// Ranges of the variables of forms.
#[derive(Clone, Debug)]
pub struct Ranges {
    pub counters: Vec<i64>,
    pub extent: [i64; 2],
}

impl Ranges {
    pub fn of(mapping: &Mapping) -> Ranges {
        Ranges { counters: mapping.counters.iter().map(|c| c.trip).collect(), extent: mapping.extent }
    }

    /// `(coefficient, greatest value, index)` of the variables a form uses; indices >= counters.len() are axes.
    fn terms(&self, form: &Form) -> Vec<(i64, i64, usize)> {
        let time = form.counters.iter().zip(&self.counters).enumerate().map(|(j, (&c, &trip))| (c, trip - 1, j));
        let space = (0..2).map(|a| (form.space[a], self.extent[a] - 1, self.counters.len() + a));
        time.chain(space).filter(|t| t.0 != 0 && t.1 > 0).collect()
    }

    /// Least and greatest value of a form.
    pub fn bounds(&self, form: &Form) -> (i64, i64) {
        self.terms(form).iter().fold((form.constant, form.constant), |(lo, hi), &(c, max, _)| if c > 0 { (lo, hi + c * max) } else { (lo + c * max, hi) })
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

    /// Where the coefficients nest like a mixed radix, `form == 0` fixes every variable: the values, or `Err` if none.
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
            let x = (0..=t.1).find(|x| { let v = -(value + t.0 * x); lo <= v && v <= hi });
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
}
