//! Affine forms over the numbers of a warp: [`Form`], and conditions on them.
//!
//! A form is `constant + Σ coefficient · scalar + unit · u`. A *scalar* is alike in all lanes: the place of the warp in
//! the grid, or the time. `u` is the number of the PE in the warp, or of the lane if the registers of a lane are
//! unrolled.

use std::collections::BTreeMap;

/// Index into the scalars of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScalarId(pub u32);

impl ScalarId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A number that all lanes share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub name: String,
    /// Least and greatest value.
    pub lo: i64,
    pub hi: i64,
    /// Every value is a multiple of this, plus `rest`.
    pub multiple: i64,
    pub rest: i64,
    /// A greatest value over sizes: at smaller sizes than the greatest it goes less far.
    pub end: Option<Form>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    pub constant: i64,
    /// Coefficients, none of them 0.
    pub scalars: BTreeMap<ScalarId, i64>,
    pub unit: i64,
}

impl Form {
    pub fn constant(constant: i64) -> Form {
        Form { constant, ..Form::default() }
    }
    pub fn scalar(id: ScalarId) -> Form {
        Form { scalars: BTreeMap::from([(id, 1)]), ..Form::default() }
    }
    /// Adds `factor` times the other form.
    pub fn add(&mut self, factor: i64, other: &Form) {
        self.constant += factor * other.constant;
        self.unit += factor * other.unit;
        for (&id, &c) in &other.scalars {
            let sum = self.scalars.entry(id).or_default();
            *sum += factor * c;
            if *sum == 0 {
                self.scalars.remove(&id);
            }
        }
    }
    pub fn plus(&self, constant: i64) -> Form {
        Form { constant: self.constant + constant, ..self.clone() }
    }
    pub fn negated(&self) -> Form {
        let mut out = Form::default();
        out.add(-1, self);
        out
    }
    pub fn of(&self, id: ScalarId) -> i64 {
        self.scalars.get(&id).copied().unwrap_or(0)
    }
    /// The form without its constant.
    pub fn linear(&self) -> Form {
        Form { constant: 0, ..self.clone() }
    }
    pub fn is_constant(&self) -> bool {
        self.scalars.is_empty() && self.unit == 0
    }
    /// Least and greatest value, with `u` in `0..units`.
    pub fn range(&self, scalars: &[Scalar], units: i64) -> (i64, i64) {
        let (low, high) = self.interval(scalars, units);
        if self.scalars.keys().all(|id| scalars[id.index()].end.is_none()) {
            return (low, high);
        }
        // With the ends over sizes in place of scalars that lower the value, or raise it, the bounds are closer.
        let low = low.max(self.to_ends(scalars, |c| c < 0).interval(scalars, units).0);
        let high = high.min(self.to_ends(scalars, |c| c > 0).interval(scalars, units).1);
        (low, high)
    }
    /// Least and greatest value over the ranges of scalars.
    fn interval(&self, scalars: &[Scalar], units: i64) -> (i64, i64) {
        let terms = self.scalars.iter().map(|(id, &c)| {
            let s = &scalars[id.index()];
            (c, s.lo, s.hi)
        });
        let all = terms.chain([(self.unit, 0, units - 1)]);
        let (low, high) = uniform::affine::interval(self.constant, all);
        let clamp = |x: i128| x.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
        (clamp(low), clamp(high))
    }
    /// The form where scalars with such a coefficient have their greatest value over sizes.
    fn to_ends(&self, scalars: &[Scalar], which: impl Fn(i64) -> bool) -> Form {
        let mut out = self.clone();
        for (id, &c) in &self.scalars {
            if let Some(end) = scalars[id.index()].end.as_ref().filter(|_| which(c)) {
                out.scalars.remove(id);
                out.add(c, end);
            }
        }
        out
    }
    /// A number that divides every value of the form.
    pub fn divisor(&self, scalars: &[Scalar]) -> i64 {
        let all = || self.scalars.iter().map(|(id, &c)| (c, &scalars[id.index()]));
        let rest = self.constant + all().map(|(c, s)| c * s.rest).sum::<i64>();
        let start = uniform::affine::gcd(rest, self.unit);
        all().fold(start, |g, (c, s)| uniform::affine::gcd(g, c * s.multiple))
    }
}

/// `form >= 0`, or `form == 0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cond {
    pub form: Form,
    pub equality: bool,
}

impl Cond {
    pub fn at_least_zero(form: Form) -> Cond {
        Cond { form, equality: false }
    }
    /// Its value if it is the same everywhere.
    pub fn known(&self, scalars: &[Scalar], units: i64) -> Option<bool> {
        let (low, high) = self.form.range(scalars, units);
        match self.equality {
            true if low == 0 && high == 0 => Some(true),
            true if low > 0 || high < 0 => Some(false),
            false if low >= 0 => Some(true),
            false if high < 0 => Some(false),
            _ => None,
        }
    }
    /// The same condition with the least coefficients; `None`: it never holds.
    pub fn tightened(self) -> Option<Cond> {
        let g = self.form.scalars.values().fold(self.form.unit.abs(), |g, c| uniform::affine::gcd(g, *c));
        if g <= 1 {
            return Some(self);
        }
        if self.equality && self.form.constant % g != 0 {
            return None;
        }
        let mut form = self.form;
        form.constant = form.constant.div_euclid(g);
        form.unit /= g;
        form.scalars.values_mut().for_each(|c| *c /= g);
        Some(Cond { form, ..self })
    }
    /// The values of the lanes differ.
    pub fn is_by_lane(&self) -> bool {
        self.form.unit != 0
    }
}

/// A conjunction without the conditions that always hold; `None` if it never holds.
pub fn simplified(all: Vec<Cond>, scalars: &[Scalar], units: i64) -> Option<Vec<Cond>> {
    let mut out: Vec<Cond> = vec![];
    for cond in all {
        match cond.known(scalars, units) {
            Some(true) => {}
            Some(false) => return None,
            None => out.push(cond),
        }
    }
    out.sort();
    out.dedup();
    // Where an equality holds, a bound is the same as with the equality's form added or subtracted.
    let equal: Vec<Form> = out.iter().filter(|c| c.equality).map(|c| c.form.clone()).collect();
    let decided = |c: &Cond| {
        let with = |(e, by): (&Form, i64)| {
            let mut form = c.form.clone();
            form.add(by, e);
            Cond::at_least_zero(form).known(scalars, units)
        };
        equal.iter().filter(|_| !c.equality).flat_map(|e| [(e, 1), (e, -1)]).find_map(with)
    };
    if out.iter().any(|c| decided(c) == Some(false)) {
        return None;
    }
    out.retain(|c| decided(c).is_none());
    // Of two bounds with one linear part the stricter one implies the other.
    let weaker = |a: &Cond, b: &Cond| {
        !a.equality && !b.equality && a.form.linear() == b.form.linear() && a.form.constant > b.form.constant
    };
    let strict: Vec<Cond> = out.iter().filter(|a| !out.iter().any(|b| weaker(a, b))).cloned().collect();
    Some(strict)
}
