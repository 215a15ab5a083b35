//! How far coordinates go, at constant sizes and at sizes at run time.
//!
//! A *size* is an integer parameter of the C function that bounds loops or extents, from 1 to a maximum. Sizes are the first
//! scalars of a warp, kernel arguments. Ranges of scalars hold at all sizes. A [`Number`] follows from the sizes: the
//! kernel and the host compute it by the same formula.
//!
//! ```text
//! for (i = 0; i < n; i++), n at most 1000, warps of 128       i in 0..999 and at most n - 1;  floor((n - 1) / 128) + 1 warps
//! ```

use crate::form::{Form, ScalarId};
use scop::{flow, Affine, Constraint};
use uniform::case::{self, Quotient};
use uniform::sizes::Formula;

/// A number that follows from the sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    pub formula: Formula,
    /// Its value at the greatest sizes: its greatest one, if it grows with them.
    pub most: i64,
}

impl Number {
    pub fn constant(value: i64) -> Number {
        Number { formula: Formula::Const(value), most: value }
    }
    /// Its value if it is the same at all sizes.
    pub fn known(&self) -> Option<i64> {
        match self.formula {
            Formula::Const(value) => Some(value),
            _ => None,
        }
    }
    pub fn plus(&self, by: i64) -> Number {
        Number { formula: self.formula.clone().plus(Formula::Const(by)), most: self.most + by }
    }
    /// Times a factor that is not negative.
    pub fn times(&self, by: i64) -> Number {
        Number { formula: Formula::Const(by).times(self.formula.clone()), most: by * self.most }
    }
    /// Divided and rounded down.
    pub fn over(&self, by: i64) -> Number {
        Number { formula: self.formula.clone().over(by), most: self.most.div_euclid(by) }
    }
    pub fn sum(&self, other: &Number) -> Number {
        Number { formula: self.formula.clone().plus(other.formula.clone()), most: self.most + other.most }
    }
    pub fn less(&self, other: &Number, maxima: &[i64]) -> Number {
        let formula = self.formula.clone().plus(Formula::Const(-1).times(other.formula.clone()));
        let most = formula.eval(maxima);
        Number { formula, most }
    }
    /// The number, or 0 where it is negative.
    pub fn not_negative(&self, maxima: &[i64]) -> Number {
        match self.formula.range(maxima).0 < 0 {
            true => self.or(&Number::constant(0)),
            false => self.clone(),
        }
    }
    /// The greater one.
    pub fn or(&self, other: &Number) -> Number {
        let formula = self.formula.clone().greatest(other.formula.clone());
        Number { formula, most: self.most.max(other.most) }
    }
    /// The lesser one, of numbers that are not negative.
    pub fn at_most(&self, other: &Number) -> Number {
        if self.known() == Some(0) {
            return self.clone();
        }
        Number { formula: self.formula.clone().least(other.formula.clone()), most: self.most.min(other.most) }
    }
    /// The value of a form over sizes.
    pub fn of(form: &Form, maxima: &[i64]) -> Number {
        let coeffs: Vec<i64> = (0..maxima.len()).map(|k| form.of(ScalarId(k as u32))).collect();
        let formula = Formula::affine(&Affine { coeffs, constant: form.constant });
        let most = formula.eval(maxima);
        Number { formula, most }
    }
}

/// Least and greatest values of a row over iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    pub lo: i64,
    pub hi: i64,
    /// The greatest value at given sizes.
    pub last: Number,
    /// The same as a form over sizes, if it is one; `None` at constant sizes.
    pub end: Option<Form>,
}

impl Extent {
    /// Of `row · n` over domains behind sizes with these maxima; `None`: there is no bound, or no iteration.
    pub fn of(domains: &[Vec<Constraint>], row: &[i64], maxima: &[i64]) -> Option<Extent> {
        let affine = Affine { coeffs: row.to_vec(), constant: 0 };
        let mut found: Option<(i64, i64)> = None;
        for conj in domains {
            let (lo, hi) = (flow::minimum(conj, &affine)?, flow::maximum(conj, &affine)?);
            found = Some(found.map_or((lo, hi), |f| (f.0.min(lo), f.1.max(hi))));
        }
        let (lo, hi) = found?;
        let (mut last, mut end) = (Number::constant(hi), None);
        if !maxima.is_empty() {
            let greatest = case::greatest(domains.iter(), maxima, row);
            let one = |q: &Quotient| Formula::affine(&q.form).over(q.divisor);
            let parts = greatest.iter().filter_map(|part| part.iter().map(one).reduce(Formula::least));
            if let Some(formula) = parts.reduce(Formula::greatest) {
                last = Number { formula, most: hi };
            }
            end = case::single(&greatest).map(form_of);
        }
        Some(Extent { lo, hi, last, end })
    }
}

/// A function of the sizes as a form.
pub fn form_of(affine: &Affine) -> Form {
    let mut form = Form::constant(affine.constant);
    affine.coeffs.iter().enumerate().for_each(|(k, &c)| form.add(c, &Form::scalar(ScalarId(k as u32))));
    form
}
