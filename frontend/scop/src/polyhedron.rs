//! Integer points of a conjunction of affine constraints: emptiness, a sample point, bounds, the range of a form.
//!
//! The front end asks thousands of small questions, such as "can this subscript be negative?". This file answers them
//! without isl, with a bound on the work; [`crate::flow`] and isl compute dependences.
//!
//! Method: Fourier–Motzkin elimination (Schrijver, "Theory of Linear and Integer Programming", 12.2) removes iterators
//! from the innermost to the outermost. Every row is divided by the gcd of its coefficients and its constant rounded
//! down, which cuts off no integer point. Then a search walks the projected bounds from the outermost iterator inwards.
//!
//! Example: `0 <= i <= 3`, `i + 1 <= j <= 2`. Eliminating `j` pairs its lower with its upper bound: `i + 1 <= 2`, so
//! level 0 holds `0 <= i <= 1`. The search takes `i = 0`, then `j = 1`: a point.
//!
//! Invariant: the bounds of a level may be too wide for integers, never too narrow. So [`Sample::Empty`] and
//! [`Sample::Point`] are exact; too large a problem gives [`Sample::Unknown`].

use crate::{Affine, Constraint};
use std::collections::BTreeSet;

/// `constant + Σ coeffs * x >= 0`.
type Row = (Vec<i128>, i128);

/// Elimination gives up beyond this many rows.
const ROWS: usize = 4000;
/// The search gives up after this many points.
const POINTS: u32 = 20_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample {
    Empty,
    Point(Vec<i64>),
    /// Unbounded, or too large to decide.
    Unknown,
}

/// Constraints over some iterators, with all projections onto the outer ones.
#[derive(Clone, Debug)]
pub struct Polyhedron {
    /// `levels[d]`: rows over iterators 0..=d, with the inner ones projected out. `None`: infeasible.
    levels: Option<Vec<Vec<Row>>>,
    exact: bool,
    /// Rows generated and scanned so far.
    work: u64,
}

impl Polyhedron {
    pub fn new<'a>(dims: usize, constraints: impl IntoIterator<Item = &'a Constraint>) -> Polyhedron {
        let mut rows = BTreeSet::new();
        let mut feasible = true;
        for c in constraints {
            let coeffs: Vec<i128> = (0..dims).map(|d| c.expr.coeffs.get(d).copied().unwrap_or(0) as i128).collect();
            let constant = c.expr.constant as i128;
            if c.equality {
                let negated = coeffs.iter().map(|x| -x).collect();
                feasible &= insert(&mut rows, (negated, -constant));
            }
            feasible &= insert(&mut rows, (coeffs, constant));
        }
        let mut levels = vec![vec![]; dims];
        let mut exact = true;
        let mut work = rows.len() as u64;
        for d in (0..dims).rev() {
            levels[d] = rows.iter().cloned().collect();
            match eliminate(&rows, d, &mut work) {
                Some((next, good)) => {
                    rows = next;
                    feasible &= good;
                }
                None => {
                    exact = false;
                    rows.retain(|(c, _)| c[d] == 0);
                }
            }
        }
        Polyhedron { levels: feasible.then_some(levels), exact, work }
    }

    /// Bounds `(lower, upper)` of the iterator inside the given outer ones; `None` where unbounded. They may be too
    /// wide, never too narrow.
    pub fn bounds(&self, outer: &[i64]) -> (Option<i64>, Option<i64>) {
        let Some(levels) = &self.levels else { return (Some(1), Some(0)) };
        let d = outer.len();
        let (mut low, mut high): (Option<i128>, Option<i128>) = (None, None);
        for (coeffs, constant) in &levels[d] {
            let rest: i128 = *constant + coeffs.iter().zip(outer).map(|(c, &x)| c * x as i128).sum::<i128>();
            let c = coeffs[d];
            if c > 0 {
                let bound = -rest.div_euclid(c);
                low = Some(low.map_or(bound, |l| l.max(bound)));
            } else if c < 0 {
                let bound = rest.div_euclid(-c);
                high = Some(high.map_or(bound, |h| h.min(bound)));
            } else if rest < 0 {
                return (Some(1), Some(0));
            }
        }
        let clamp = |x: i128| x.clamp(i64::MIN as i128, i64::MAX as i128) as i64;
        (low.map(clamp), high.map(clamp))
    }

    /// Calls `each` for the points of a bounded set in lexicographic order until it returns false.
    pub fn visit(&self, each: &mut dyn FnMut(&[i64]) -> bool) {
        if let Some(levels) = &self.levels {
            self.visit_from(levels.len(), &mut vec![], each);
        }
    }

    fn visit_from(&self, depth: usize, point: &mut Vec<i64>, each: &mut dyn FnMut(&[i64]) -> bool) -> bool {
        if point.len() == depth {
            return each(point);
        }
        let (Some(low), Some(high)) = self.bounds(point) else { return true };
        for x in low..=high {
            point.push(x);
            let go_on = self.visit_from(depth, point, each);
            point.pop();
            if !go_on {
                return false;
            }
        }
        true
    }

    /// A point of the set.
    pub fn sample(&self) -> Sample {
        self.sample_and_work().0
    }

    /// A point of the set, and the work for it in rows generated and scanned.
    pub fn sample_and_work(&self) -> (Sample, u64) {
        let Some(levels) = &self.levels else { return (Sample::Empty, self.work) };
        let (mut point, mut budget) = (vec![], POINTS);
        let sample = match self.search(levels.len(), &mut point, &mut budget) {
            Some(true) => Sample::Point(point),
            Some(false) if self.exact => Sample::Empty,
            _ => Sample::Unknown,
        };
        let widest = levels.iter().map(Vec::len).max().unwrap_or(0);
        (sample, self.work + u64::from(POINTS - budget) * widest as u64)
    }

    pub fn is_empty(&self) -> bool {
        self.sample() == Sample::Empty
    }

    fn search(&self, dims: usize, point: &mut Vec<i64>, budget: &mut u32) -> Option<bool> {
        if point.len() == dims {
            return Some(true);
        }
        let (low, high) = self.bounds(point);
        let (start, end) = match (low, high) {
            (Some(l), Some(h)) => (l, h),
            (Some(l), None) => (l, l.saturating_add(POINTS as i64)),
            (None, Some(h)) => (h.saturating_sub(POINTS as i64), h),
            (None, None) => (0, POINTS as i64),
        };
        for x in start..=end {
            *budget = budget.checked_sub(1)?;
            point.push(x);
            if self.search(dims, point, budget)? {
                return Some(true);
            }
            point.pop();
        }
        if low.is_some() && high.is_some() {
            Some(false)
        } else {
            None
        }
    }
}

/// Adds a row after integer tightening; false if it can never hold.
fn insert(rows: &mut BTreeSet<Row>, (mut coeffs, mut constant): Row) -> bool {
    let divisor = coeffs.iter().fold(0i128, |g, &c| num_integer::gcd(g, c));
    if divisor == 0 {
        return constant >= 0;
    }
    if divisor > 1 {
        coeffs.iter_mut().for_each(|c| *c /= divisor);
        constant = constant.div_euclid(divisor);
    }
    rows.insert((coeffs, constant));
    true
}

/// Projects iterator `d` out; the flag is false if a contradiction appeared. `None` if the result grows too large.
fn eliminate(rows: &BTreeSet<Row>, d: usize, work: &mut u64) -> Option<(BTreeSet<Row>, bool)> {
    let mut out: BTreeSet<Row> = rows.iter().filter(|(c, _)| c[d] == 0).cloned().collect();
    let lower: Vec<&Row> = rows.iter().filter(|(c, _)| c[d] > 0).collect();
    let upper: Vec<&Row> = rows.iter().filter(|(c, _)| c[d] < 0).collect();
    let mut feasible = true;
    for (a, ka) in &lower {
        *work += upper.len() as u64;
        for (b, kb) in &upper {
            let (p, q) = (-b[d], a[d]);
            let mix = |x: i128, y: i128| x.checked_mul(p)?.checked_add(y.checked_mul(q)?);
            let coeffs = a.iter().zip(b).map(|(&x, &y)| mix(x, y)).collect::<Option<Vec<_>>>()?;
            feasible &= insert(&mut out, (coeffs, mix(*ka, *kb)?));
        }
        if out.len() > ROWS {
            return None;
        }
    }
    // Rows are sorted, so the first of several with equal coefficients has the least constant and implies the others.
    let mut last: Option<Vec<i128>> = None;
    out.retain(|(c, _)| {
        let keep = last.as_ref() != Some(c);
        last = Some(c.clone());
        keep
    });
    Some((out, feasible))
}

/// Least and greatest value of `form` over the rational relaxation of the constraints (`None` where unbounded or
/// unknown), and the work for it in rows. An empty set gives `(Some(1), Some(0))`.
pub fn range_and_work(dims: usize, constraints: &[Constraint], form: &Affine) -> ((Option<i64>, Option<i64>), u64) {
    // A leading dimension t with t == form.
    let shift = |a: &Affine, first: i64, sign: i64| {
        let mut coeffs = vec![first];
        coeffs.extend((0..dims).map(|d| sign * a.coeffs.get(d).copied().unwrap_or(0)));
        Affine { coeffs, constant: sign * a.constant }
    };
    let mut all: Vec<Constraint> =
        constraints.iter().map(|c| Constraint { expr: shift(&c.expr, 0, 1), equality: c.equality }).collect();
    all.push(Constraint { expr: shift(form, 1, -1), equality: true });
    let polyhedron = Polyhedron::new(dims + 1, &all);
    (polyhedron.bounds(&[]), polyhedron.work)
}
