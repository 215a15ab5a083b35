//! Sizes at run time. A size is an integer argument that bounds loops or extents, from 1 to a maximum. A number that
//! depends on sizes alone is constant during a run; the host computes it by a [`Formula`], so the array needs no
//! divider.
//!
//! Numbers that guards and subscripts refer to are *parameters*: the first counters of an array ([`crate::counters`]),
//! which have one value in each run: first the sizes less one, then the last values of counters that end as the sizes
//! say. Nothing is carried over them.

use scop::{Affine, ScalarType};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

/// An integer argument that bounds loops or extents, from 1 to `max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    pub name: String,
    pub ty: ScalarType,
    pub max: i64,
    /// The numbers of arrays and of scalars before it among the kernel's arguments.
    pub after: [u32; 2],
}

/// The sizes of an array, and the extents that follow from them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// In the order of the kernel's arguments.
    pub list: Vec<Size>,
    /// Extents over the sizes of those arrays that follow them, by index.
    pub extents: BTreeMap<usize, Vec<Affine>>,
}

/// A number that follows from the sizes, modulo 2^64.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Formula {
    Const(i64),
    /// The size with this index into [`Sizes::list`].
    Size(u32),
    Sum(Box<[Formula; 2]>),
    Product(Box<[Formula; 2]>),
    /// Divided and rounded down; the divisor is positive.
    Floor(Box<Formula>, i64),
    Least(Box<[Formula; 2]>),
    Greatest(Box<[Formula; 2]>),
    /// The value of a parameter, by its place among the counters, which is `most` at most.
    Parameter {
        place: u32,
        most: i64,
    },
    /// One for each function of a merged array. Size 0 is the number of the function plus one.
    OfFunction(Vec<Formula>),
    /// One for each case of phases, and one for the phases between them ([`crate::counters`]).
    ByCase(Vec<Formula>),
}

impl Formula {
    /// One of each case.
    pub fn by_case(mut values: Vec<Formula>) -> Formula {
        if values.windows(2).all(|w| w[0] == w[1]) {
            values.pop().unwrap_or(Formula::Const(0))
        } else {
            Formula::ByCase(values)
        }
    }
    /// One of each function of a merged array.
    pub fn of_function(mut values: Vec<Formula>) -> Formula {
        if values.windows(2).all(|w| w[0] == w[1]) {
            values.pop().unwrap_or(Formula::Const(0))
        } else {
            Formula::OfFunction(values)
        }
    }
    /// The number in runs of each function of a merged array, of a formula that says nothing else.
    pub fn table(&self) -> Option<Vec<i64>> {
        let Formula::OfFunction(values) = self else { return None };
        values.iter().map(|v| if let Formula::Const(c) = v { Some(*c) } else { None }).collect()
    }
    /// The formula in runs of this function of a merged array.
    pub fn in_function(&self, function: usize) -> Formula {
        let both = |x: &[Formula; 2]| [x[0].in_function(function), x[1].in_function(function)];
        match self {
            Formula::OfFunction(values) => values[function].in_function(function),
            Formula::ByCase(values) => Formula::by_case(values.iter().map(|v| v.in_function(function)).collect()),
            Formula::Size(0) => Formula::Const(function as i64 + 1),
            Formula::Const(_) | Formula::Size(_) | Formula::Parameter { .. } => self.clone(),
            Formula::Sum(x) => both(x).into_iter().fold(Formula::Const(0), Formula::plus),
            Formula::Product(x) => both(x).into_iter().fold(Formula::Const(1), Formula::times),
            Formula::Floor(x, by) => x.in_function(function).over(*by),
            Formula::Least(x) => {
                let [a, b] = both(x);
                a.least(b)
            }
            Formula::Greatest(x) => {
                let [a, b] = both(x);
                a.greatest(b)
            }
        }
    }
    /// The formula over sizes with other numbers; those without one are 1.
    pub fn renumbered(&self, number: &impl Fn(u32) -> Option<usize>) -> Formula {
        let both = |x: &[Formula; 2]| [x[0].renumbered(number), x[1].renumbered(number)];
        let each = |all: &[Formula]| all.iter().map(|f| f.renumbered(number)).collect();
        match self {
            Formula::Size(k) => number(*k).map_or(Formula::Const(1), |k| Formula::Size(k as u32)),
            Formula::Const(_) | Formula::Parameter { .. } => self.clone(),
            Formula::OfFunction(all) => Formula::of_function(each(all)),
            Formula::ByCase(all) => Formula::by_case(each(all)),
            Formula::Sum(x) => both(x).into_iter().fold(Formula::Const(0), Formula::plus),
            Formula::Product(x) => both(x).into_iter().fold(Formula::Const(1), Formula::times),
            Formula::Floor(x, by) => x.renumbered(number).over(*by),
            Formula::Least(x) => {
                let [a, b] = both(x);
                a.least(b)
            }
            Formula::Greatest(x) => {
                let [a, b] = both(x);
                a.greatest(b)
            }
        }
    }
    /// In the phases of a case, or behind the last one, between them.
    pub fn in_case(&self, case: usize) -> Formula {
        if let Formula::ByCase(values) = self {
            values[case].clone()
        } else {
            self.clone()
        }
    }
    /// The value in a case, of a formula without sizes.
    pub fn at_case(&self, case: usize) -> i64 {
        if let Formula::ByCase(values) = self {
            values[case].eval(&[])
        } else {
            self.eval(&[])
        }
    }
    /// The same by reference.
    pub fn case_of(&self, case: usize) -> &Formula {
        if let Formula::ByCase(values) = self {
            &values[case]
        } else {
            self
        }
    }
    /// The parameter that it is.
    pub fn parameter(&self) -> Option<usize> {
        if let Formula::Parameter { place, .. } = self {
            Some(*place as usize)
        } else {
            None
        }
    }
    /// The number, of a formula without sizes of a host: those are 1.
    pub fn least_value(&self) -> i64 {
        if let Formula::Const(c) = self.renumbered(&|_| None) {
            c
        } else {
            0
        }
    }
    /// The greatest value of a number or a parameter.
    pub fn most(&self) -> i64 {
        match self {
            Formula::Const(c) => *c,
            Formula::Parameter { most, .. } => *most,
            other => unreachable!("{other} is neither a number nor a parameter"),
        }
    }
    fn each(values: Vec<Formula>, other: &Formula, f: impl Fn(Formula, Formula) -> Formula) -> Formula {
        Formula::by_case(values.into_iter().enumerate().map(|(k, v)| f(v, other.in_case(k))).collect())
    }
    fn of_each(values: Vec<Formula>, other: &Formula, f: impl Fn(Formula, Formula) -> Formula) -> Formula {
        Formula::of_function(values.into_iter().enumerate().map(|(k, v)| f(v, other.in_function(k))).collect())
    }
    /// The formula at these sizes.
    pub fn at(&self, sizes: &[i64]) -> Formula {
        match self {
            Formula::ByCase(values) => Formula::by_case(values.iter().map(|v| v.at(sizes)).collect()),
            one => Formula::Const(one.eval(sizes)),
        }
    }
    /// Its formulas over the sizes alone, one of each case.
    pub fn parts(&self) -> Vec<Formula> {
        if let Formula::ByCase(values) = self {
            values.clone()
        } else {
            vec![self.clone()]
        }
    }
    /// One if it is not negative, else zero.
    pub fn holds(self) -> Formula {
        self.plus(Formula::Const(1)).greatest(Formula::Const(0)).least(Formula::Const(1))
    }
    pub fn plus(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::ByCase(values), x) | (x, Formula::ByCase(values)) => Formula::each(values, &x, Formula::plus),
            (Formula::OfFunction(all), x) | (x, Formula::OfFunction(all)) => Formula::of_each(all, &x, Formula::plus),
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.wrapping_add(b)),
            (Formula::Const(0), x) | (x, Formula::Const(0)) => x,
            (Formula::Sum(x), Formula::Const(b)) if matches!(x[1], Formula::Const(_)) => {
                let [rest, constant] = *x;
                rest.plus(constant.plus(Formula::Const(b)))
            }
            (a @ Formula::Const(_), b) => b.plus(a),
            (a, b) => Formula::Sum(Box::new([a, b])),
        }
    }
    pub fn times(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::ByCase(values), x) | (x, Formula::ByCase(values)) => Formula::each(values, &x, Formula::times),
            (Formula::OfFunction(all), x) | (x, Formula::OfFunction(all)) => Formula::of_each(all, &x, Formula::times),
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.wrapping_mul(b)),
            (Formula::Const(0), _) | (_, Formula::Const(0)) => Formula::Const(0),
            (Formula::Const(1), x) | (x, Formula::Const(1)) => x,
            (a, b) => Formula::Product(Box::new([a, b])),
        }
    }
    pub fn over(self, divisor: i64) -> Formula {
        match self {
            Formula::Const(a) => Formula::Const(a.div_euclid(divisor)),
            Formula::ByCase(values) => Formula::by_case(values.into_iter().map(|v| v.over(divisor)).collect()),
            Formula::OfFunction(all) => Formula::of_function(all.into_iter().map(|v| v.over(divisor)).collect()),
            x if divisor == 1 => x,
            x => Formula::Floor(Box::new(x), divisor),
        }
    }
    pub fn least(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::ByCase(values), x) | (x, Formula::ByCase(values)) => Formula::each(values, &x, Formula::least),
            (Formula::OfFunction(all), x) | (x, Formula::OfFunction(all)) => Formula::of_each(all, &x, Formula::least),
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.min(b)),
            (a, b) if a == b => a,
            (a, b) => Formula::Least(Box::new([a, b])),
        }
    }
    pub fn greatest(self, other: Formula) -> Formula {
        match (self, other) {
            (Formula::ByCase(values), x) | (x, Formula::ByCase(values)) => Formula::each(values, &x, Formula::greatest),
            (Formula::OfFunction(all), x) | (x, Formula::OfFunction(all)) => {
                Formula::of_each(all, &x, Formula::greatest)
            }
            (Formula::Const(a), Formula::Const(b)) => Formula::Const(a.max(b)),
            (a, b) if a == b => a,
            (a, b) => Formula::Greatest(Box::new([a, b])),
        }
    }
    /// `constant` plus the sum of multiples of others.
    pub fn combination(constant: i64, terms: impl IntoIterator<Item = (i64, Formula)>) -> Formula {
        terms
            .into_iter()
            .fold(Formula::Const(constant), |sum, (factor, formula)| sum.plus(Formula::Const(factor).times(formula)))
    }
    /// An affine function of the sizes.
    pub fn affine(form: &Affine) -> Formula {
        let terms = form.coeffs.iter().enumerate().map(|(k, &c)| Formula::Const(c).times(Formula::Size(k as u32)));
        terms.fold(Formula::Const(0), Formula::plus).plus(Formula::Const(form.constant))
    }
    /// The sizes it contains.
    pub fn sizes(&self) -> Vec<u32> {
        match self {
            Formula::Const(_) => vec![],
            Formula::ByCase(values) => values.iter().flat_map(Formula::sizes).collect(),
            Formula::OfFunction(all) => [0].into_iter().chain(all.iter().flat_map(Formula::sizes)).collect(),
            Formula::Parameter { .. } => vec![],
            Formula::Size(k) => vec![*k],
            Formula::Floor(x, _) => x.sizes(),
            Formula::Sum(x) | Formula::Product(x) | Formula::Least(x) | Formula::Greatest(x) => {
                [x[0].sizes(), x[1].sizes()].concat()
            }
        }
    }
    /// The value at these sizes, modulo 2^64.
    pub fn eval(&self, sizes: &[i64]) -> i64 {
        let both = |x: &[Formula; 2]| [x[0].eval(sizes), x[1].eval(sizes)];
        match self {
            Formula::Const(c) => *c,
            Formula::Size(k) => sizes[*k as usize],
            Formula::OfFunction(all) => all[(sizes[0] - 1) as usize].eval(sizes),
            Formula::ByCase(_) => unreachable!("sizes do not tell the case"),
            Formula::Parameter { place, .. } => unreachable!("parameter {place} stands for a formula"),
            Formula::Sum(x) => both(x).into_iter().fold(0, i64::wrapping_add),
            Formula::Product(x) => both(x).into_iter().fold(1, i64::wrapping_mul),
            Formula::Floor(x, by) => x.eval(sizes).div_euclid(*by),
            Formula::Least(x) => both(x).into_iter().min().expect("two of them"),
            Formula::Greatest(x) => both(x).into_iter().max().expect("two of them"),
        }
    }
    /// The least value, at most that fits, over sizes from 1 to `maxima`.
    pub fn fewest(&self, maxima: &[i64]) -> i64 {
        if let Formula::Const(c) = self {
            *c
        } else {
            i64::try_from(self.range(maxima).0).unwrap_or(i64::MAX)
        }
    }
    /// Bounds of its value, as intervals show, over sizes from 1 to `maxima`.
    pub fn range(&self, maxima: &[i64]) -> (i128, i128) {
        let both = |x: &[Formula; 2]| [x[0].range(maxima), x[1].range(maxima)];
        match self {
            Formula::Const(c) => (i128::from(*c), i128::from(*c)),
            Formula::Size(k) => (1, i128::from(maxima[*k as usize])),
            Formula::Parameter { most, .. } => (0, i128::from(*most)),
            Formula::ByCase(values) | Formula::OfFunction(values) => values
                .iter()
                .map(|v| v.range(maxima))
                .fold((i128::MAX, i128::MIN), |all, one| (all.0.min(one.0), all.1.max(one.1))),
            Formula::Sum(x) => {
                let [a, b] = both(x);
                (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
            }
            Formula::Product(x) => {
                let [a, b] = both(x);
                let all = [
                    a.0.saturating_mul(b.0),
                    a.0.saturating_mul(b.1),
                    a.1.saturating_mul(b.0),
                    a.1.saturating_mul(b.1),
                ];
                (all.into_iter().min().expect("four"), all.into_iter().max().expect("four"))
            }
            Formula::Floor(x, by) => {
                let (low, high) = x.range(maxima);
                (low.div_euclid(i128::from(*by)), high.div_euclid(i128::from(*by)))
            }
            Formula::Least(x) => {
                let [a, b] = both(x);
                (a.0.min(b.0), a.1.min(b.1))
            }
            Formula::Greatest(x) => {
                let [a, b] = both(x);
                (a.0.max(b.0), a.1.max(b.1))
            }
        }
    }
}

impl Display for Formula {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Formula::Const(c) => write!(f, "{c}"),
            Formula::Size(k) => write!(f, "s{k}"),
            Formula::Parameter { place, .. } => write!(f, "parameter {place}"),
            Formula::ByCase(values) | Formula::OfFunction(values) => {
                let kind = if matches!(self, Formula::ByCase(_)) { "case" } else { "function" };
                write!(f, "{kind}[{}]", values.iter().map(Formula::to_string).collect::<Vec<_>>().join(", "))
            }
            Formula::Sum(x) => write!(f, "({} + {})", x[0], x[1]),
            Formula::Product(x) => write!(f, "({} * {})", x[0], x[1]),
            Formula::Floor(x, by) => write!(f, "floor({x}, {by})"),
            Formula::Least(x) => write!(f, "min({}, {})", x[0], x[1]),
            Formula::Greatest(x) => write!(f, "max({}, {})", x[0], x[1]),
        }
    }
}

impl Sizes {
    pub fn maxima(&self) -> Vec<i64> {
        self.list.iter().map(|s| s.max).collect()
    }
    /// Whether the list of values is one of sizes.
    ///
    /// # Errors
    /// The first fault.
    pub fn check(&self, values: &[i64]) -> Result<(), String> {
        match self.list.iter().zip(values).find(|(s, &v)| v < 1 || v > s.max) {
            _ if self.list.len() != values.len() => {
                Err(format!("{} sizes are given, there are {}", values.len(), self.list.len()))
            }
            Some((s, v)) => Err(format!("the size {} is {v}: it may be 1 to {}", s.name, s.max)),
            None => Ok(()),
        }
    }
}
