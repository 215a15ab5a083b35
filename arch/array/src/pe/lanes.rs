//! Affine functions in the SIMD lanes of a PE.
//!
//! An affine function has the same coefficients in every lane; only its constant differs. Example: with `k = 2 * t +
//! lane`, the subscript `3 * k` is `6 * t` in lane 0 and `6 * t + 3` in lane 1. So each function is computed once, with
//! one constant per lane, and each condition is simplified once per constant. Results are memoized by their arguments.

use rustc_hash::FxHashMap;
use scop::{Affine, Constraint};
use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::Hash;
use std::rc::Rc;
use uniform::affine::{Condition, Form, Ranges};
use uniform::mapping::{Carry, Mapping, Role};

/// A constraint on the function of one lane.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    /// It is to be 0, else at least 0.
    equality: bool,
    /// How much more than in lane 0 it is.
    more: i64,
}

/// The conditions that a constraint leaves; `None` if it never holds.
type Answer = Option<Vec<Condition>>;

/// An affine function over counters and PE.
struct OfLanes {
    /// In lane 0.
    form: Form,
    /// Least and greatest value there.
    bounds: (i64, i64),
    /// How much more it is in each lane.
    more: Vec<i64>,
    answers: RefCell<FxHashMap<Question, Answer>>,
}

pub(super) struct Lanes<'a> {
    mapping: &'a Mapping,
    pub ranges: Ranges,
    /// Per lane: its digits.
    pub digits: Vec<Vec<i64>>,
    forms: RefCell<FxHashMap<Affine, Rc<OfLanes>>>,
    carries: RefCell<FxHashMap<Vec<i64>, Rc<[Carry]>>>,
    firsts: RefCell<FxHashMap<Vec<usize>, Rc<[usize]>>>,
}

impl Lanes<'_> {
    pub fn of(mapping: &Mapping) -> Lanes<'_> {
        let digits = (0..mapping.lanes()).map(|lane| mapping.lane_digits(lane)).collect();
        Lanes {
            mapping,
            ranges: mapping.ranges(),
            digits,
            forms: RefCell::default(),
            carries: RefCell::default(),
            firsts: RefCell::default(),
        }
    }

    /// All carry cases of a distance.
    pub fn carries(&self, distance: &[i64]) -> Rc<[Carry]> {
        once(&self.carries, distance, || self.mapping.carries(distance).into())
    }

    /// Transformed dimensions of a sum over `dims`, which the mapping keeps as they are.
    pub fn rows(&self, dims: &[usize]) -> Vec<usize> {
        dims.iter().map(|&r| self.mapping.own_row(r).expect("dimensions of a sum are kept")).collect()
    }

    /// Per lane: the one with the same digits, but 0 in those of a sum over `dims`.
    pub fn firsts(&self, dims: &[usize]) -> Rc<[usize]> {
        once(&self.firsts, dims, || {
            let mut summed = vec![false; self.mapping.lane_trips.len()];
            let rows = self.rows(dims);
            rows.iter()
                .flat_map(|&d| &self.mapping.digits[d])
                .filter(|x| x.role == Role::Lane)
                .for_each(|x| summed[x.index] = true);
            let first = |digits: &Vec<i64>| {
                let first: Vec<i64> =
                    digits.iter().zip(&summed).map(|(x, summed)| if *summed { 0 } else { *x }).collect();
                self.mapping.lane_number(&first).expect("a lane")
            };
            self.digits.iter().map(first).collect()
        })
    }

    /// How much more an affine function is in a lane than in lane 0.
    pub fn more(&self, affine: &Affine, lane: usize) -> i64 {
        self.of_affine(affine).more[lane]
    }

    /// An affine function over the iteration space, in one lane.
    pub fn form(&self, affine: &Affine, lane: usize) -> Form {
        let all = self.of_affine(affine);
        Form { constant: all.form.constant + all.more[lane], ..all.form.clone() }
    }

    /// Adds what a constraint leaves to be asked in one lane; `None` if it never holds there.
    pub fn ask(&self, constraint: &Constraint, lane: usize, conditions: &mut Vec<Condition>) -> Option<()> {
        let all = self.of_affine(&constraint.expr);
        let more = all.more[lane];
        let (low, high) = (all.bounds.0 + more, all.bounds.1 + more);
        if high < 0 || constraint.equality && low > 0 {
            return None;
        }
        if low < 0 || constraint.equality && high > 0 {
            let form = || Form { constant: all.form.constant + more, ..all.form.clone() };
            let mut answers = all.answers.borrow_mut();
            let answer = answers
                .entry(Question { equality: constraint.equality, more })
                .or_insert_with(|| self.ranges.simplify(&Condition { form: form(), equality: constraint.equality }));
            conditions.extend(answer.as_ref()?.iter().cloned());
        }
        Some(())
    }

    fn of_affine(&self, affine: &Affine) -> Rc<OfLanes> {
        once(&self.forms, affine, || {
            let form = self.mapping.form(affine, 0);
            let rows = self.mapping.digits.iter().enumerate();
            let lane_digits =
                rows.flat_map(|(d, row)| row.iter().filter(|x| x.role == Role::Lane).map(move |x| (d, x)));
            let step =
                |d: usize| affine.coeffs.iter().zip(&self.mapping.inverse).map(|(a, row)| a * row[d]).sum::<i64>();
            let weights: Vec<(usize, i64)> = lane_digits.map(|(d, x)| (x.index, x.weight * step(d))).collect();
            let more = self
                .digits
                .iter()
                .map(|digits| weights.iter().map(|(at, weight)| weight * digits[*at]).sum())
                .collect();
            Rc::new(OfLanes { bounds: self.ranges.bounds(&form), form, more, answers: RefCell::default() })
        })
    }
}

/// The value of a key, found when it is asked for the first time.
fn once<K, Q, V>(values: &RefCell<FxHashMap<K, Rc<V>>>, key: &Q, find: impl FnOnce() -> Rc<V>) -> Rc<V>
where
    K: Borrow<Q> + Eq + Hash,
    Q: ToOwned<Owned = K> + Eq + Hash + ?Sized,
    V: ?Sized,
{
    if let Some(value) = values.borrow().get(key) {
        return Rc::clone(value);
    }
    let found = find();
    values.borrow_mut().insert(key.to_owned(), Rc::clone(&found));
    found
}
