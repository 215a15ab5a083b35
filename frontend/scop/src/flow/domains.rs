//! Integer set operations on plain data: conjunctions and unions of affine constraints in, the same out.
//!
//! Conventions: a conjunction `&[Constraint]` is over `depth` iterators; an empty conjunction is the whole space, an
//! empty union the empty set. All answers are exact over the integers unless [`Region::exact`] is false. Results are
//! sorted and free of redundant constraints, so equal inputs give equal outputs.
//!
//! # Errors of isl
//! [`poly`] returns an ordinary `Result`. The functions of this file return plain values, because their many callers
//! use them within arithmetic and closures; a [`poly::Error`] (a coefficient beyond 64 bits, a constraint over another
//! number of iterators than `depth`) unwinds from here to the next [`limited`], which turns it into a `Result` again.
//! [`analyze`](super::analyze) and every stage that refuses a program calls `limited`. The error travels by
//! `resume_unwind`, which does not call the panic hook: nothing is printed.

use crate::poly;
use crate::poly::{Context, Map, Region, Set};
use crate::{Affine, Constraint};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::hash::Hash;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

type Conjunction = Vec<Constraint>;

thread_local! {
    static CONTEXT: Context = Context::new().expect("memory for isl");
    static EMPTY: Memo<(Conjunction, usize), bool> = Memo::default();
    static LEAST: Memo<(Conjunction, Affine), Option<i64>> = Memo::default();
    static SIMPLE: Memo<(Conjunction, Conjunction, usize), Conjunction> = Memo::default();
    static INTERSECTS: Memo<(Conjunction, Conjunction, usize), bool> = Memo::default();
    static IMPLIED: Memo<(Conjunction, Conjunction, usize), bool> = Memo::default();
    static IMAGE: Memo<(Vec<Conjunction>, Vec<Affine>, usize), Region> = Memo::default();
    static DIFFERENCE: Memo<(Conjunction, Conjunction), Vec<Conjunction>> = Memo::default();
}

thread_local! {
    static ASKED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Number of set operations that this thread has requested so far, cached answers included. It measures work alike on
/// every machine; searches limit themselves by it.
pub fn questions() -> u64 {
    ASKED.get()
}

fn count_question() {
    ASKED.set(ASKED.get() + 1);
}

/// Cache of answers. The mapping search asks about the same sets over and over; a look-up is far cheaper than isl.
struct Memo<Q, A>(RefCell<FxHashMap<Q, A>>);

impl<Q, A> Default for Memo<Q, A> {
    fn default() -> Self {
        Memo(RefCell::default())
    }
}

impl<Q: Eq + Hash, A: Clone> Memo<Q, A> {
    /// A full cache is emptied.
    const CAPACITY: usize = 100_000;

    fn answer(&self, question: Q, ask: impl FnOnce() -> A) -> A {
        if let Some(answer) = self.0.borrow().get(&question) {
            return answer.clone();
        }
        let answer = ask();
        let mut cache = self.0.borrow_mut();
        if cache.len() >= Self::CAPACITY {
            cache.clear();
        }
        cache.insert(question, answer.clone());
        answer
    }
}

/// Runs `f` in this thread's context.
fn with<R>(f: impl FnOnce(&Context) -> poly::Result<R>) -> R {
    match CONTEXT.with(f) {
        Ok(value) => value,
        Err(error) => resume_unwind(Box::new(error)),
    }
}

/// Runs `f`, which may call the functions of this file, and returns its value.
///
/// # Errors
/// The first set operation that failed, see the head of this file.
pub fn limited<R>(f: impl FnOnce() -> R) -> Result<R, poly::Error> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| match panic.downcast::<poly::Error>() {
        Ok(error) => *error,
        Err(other) => resume_unwind(other),
    })
}

fn set(context: &Context, conjunction: &[Constraint], depth: usize) -> poly::Result<Set> {
    Set::from_conjunction(context, None, depth, conjunction)
}

fn union(context: &Context, domain: &[Vec<Constraint>], depth: usize) -> poly::Result<Set> {
    Set::from_union(context, None, depth, domain)
}

/// Whether no integer point satisfies `conjunction`.
pub fn is_empty(conjunction: &[Constraint], depth: usize) -> bool {
    count_question();
    let ask = || with(|c| set(c, conjunction, depth)?.is_empty());
    EMPTY.with(|memo| memo.answer((conjunction.to_vec(), depth), ask))
}

/// Whether `a` and `b` have a common integer point.
pub fn intersects(a: &[Constraint], b: &[Constraint], depth: usize) -> bool {
    count_question();
    let ask = || with(|c| Ok(!set(c, a, depth)?.is_disjoint(&set(c, b, depth)?)?));
    INTERSECTS.with(|memo| memo.answer((a.to_vec(), b.to_vec(), depth), ask))
}

/// Whether every integer point of `a` is one of `b`.
pub fn implies(a: &[Constraint], b: &[Constraint], depth: usize) -> bool {
    count_question();
    let ask = || with(|c| set(c, a, depth)?.is_subset(&set(c, b, depth)?));
    IMPLIED.with(|memo| memo.answer((a.to_vec(), b.to_vec(), depth), ask))
}

/// [`implies`] for unions.
pub fn union_implies(a: &[Vec<Constraint>], b: &[Vec<Constraint>], depth: usize) -> bool {
    count_question();
    with(|c| union(c, a, depth)?.is_subset(&union(c, b, depth)?))
}

/// The points of `a` that are not in `b`, as disjoint conjunctions.
pub fn subtract(a: &[Constraint], b: &[Constraint], depth: usize) -> Vec<Vec<Constraint>> {
    count_question();
    let ask = || with(|c| Ok(set(c, a, depth)?.subtract(&set(c, b, depth)?)?.region()?.pieces));
    DIFFERENCE.with(|memo| memo.answer((a.to_vec(), b.to_vec()), ask))
}

/// [`subtract`] for unions.
pub fn union_subtract(a: &[Vec<Constraint>], b: &[Vec<Constraint>], depth: usize) -> Vec<Vec<Constraint>> {
    count_question();
    with(|c| Ok(union(c, a, depth)?.subtract(&union(c, b, depth)?)?.region()?.pieces))
}

/// The same set as a union of few disjoint conjunctions.
pub fn disjoint(domain: &[Vec<Constraint>], depth: usize) -> Vec<Vec<Constraint>> {
    count_question();
    with(|c| Ok(union(c, domain, depth)?.region()?.pieces))
}

/// Constraints that agree with `domain` where `context` holds, without those that `context` implies (isl's gist).
pub fn simplify(domain: &[Constraint], context: &[Constraint], depth: usize) -> Vec<Constraint> {
    count_question();
    SIMPLE.with(|memo| memo.answer((domain.to_vec(), context.to_vec(), depth), || simplified(domain, context, depth)))
}

fn simplified(domain: &[Constraint], context: &[Constraint], depth: usize) -> Vec<Constraint> {
    with(|c| {
        let (full, context) = (set(c, domain, depth)?, set(c, context, depth)?);
        if full.is_disjoint(&context)? {
            return Ok(vec![never(depth)]);
        }
        let region = full.gist(&context)?.region()?;
        // One conjunction simplifies to one. If isl returned more, the unsimplified one would be correct too.
        let [only] = <[_; 1]>::try_from(region.pieces).unwrap_or_else(|_| [domain.to_vec()]);
        Ok(if region.exact { only } else { domain.to_vec() })
    })
}

/// The constraint `-1 >= 0`.
fn never(depth: usize) -> Constraint {
    Constraint { expr: Affine::constant(depth, -1), equality: false }
}

/// Projects the iterators `dims` out of `conjunction`; the others keep their order.
///
/// If the result has holes (see [`projection`]), this is the tightest superset that constraints can express.
pub fn project_out(conjunction: &[Constraint], dims: &[usize], depth: usize) -> Vec<Vec<Constraint>> {
    projection(conjunction, dims, depth).pieces
}

/// [`project_out`] with a flag whether the pieces are exact.
pub fn projection(conjunction: &[Constraint], dims: &[usize], depth: usize) -> Region {
    count_question();
    let mut dims = dims.to_vec();
    dims.sort_unstable();
    dims.dedup();
    with(|c| {
        let full = set(c, conjunction, depth)?;
        dims.iter().rev().try_fold(full, |set, &dim| set.project_out(dim, 1))?.region()
    })
}

/// Exact minimum and maximum of every iterator; `None` when the domain is empty or unbounded.
pub fn domain_bounds(domain: &[Vec<Constraint>], depth: usize) -> Option<Vec<(i64, i64)>> {
    count_question();
    with(|c| {
        let full = union(c, domain, depth)?;
        if full.is_empty()? {
            return Ok(None);
        }
        (0..depth).map(|dim| Ok(full.dim_min(dim)?.zip(full.dim_max(dim)?))).collect()
    })
}

/// The set of values of `function` over `conjunction`, as a set of depth 1.
fn values(context: &Context, conjunction: &[Constraint], function: &Affine) -> poly::Result<Set> {
    let depth = function.coeffs.len();
    let map = Map::from_affine(context, None, depth, None, std::slice::from_ref(function))?;
    set(context, conjunction, depth)?.apply(&map)
}

/// Largest value of `function` over the integer points; `None` when there are none, or no largest.
pub fn maximum(conjunction: &[Constraint], function: &Affine) -> Option<i64> {
    let negated = Affine { coeffs: function.coeffs.iter().map(|c| -c).collect(), constant: -function.constant };
    minimum(conjunction, &negated).map(|least| -least)
}

/// Smallest value of `function` over the integer points; `None` when there are none, or no smallest.
pub fn minimum(conjunction: &[Constraint], function: &Affine) -> Option<i64> {
    count_question();
    let ask = || with(|c| values(c, conjunction, function)?.dim_min(0));
    LEAST.with(|memo| memo.answer((conjunction.to_vec(), function.clone()), ask))
}

/// The image of `domain` under `map`: the elements that an access with these subscripts touches. It is one conjunction
/// whenever one conjunction has exactly these integer points.
pub fn image(domain: &[Vec<Constraint>], map: &[Affine], depth: usize) -> Region {
    count_question();
    let ask = || {
        with(|c| {
            let touched = union(c, domain, depth)?.apply(&Map::from_affine(c, None, depth, None, map)?)?;
            let region = touched.region()?;
            if region.pieces.len() <= 1 && region.exact {
                return Ok(region);
            }
            let touched = touched.coalesce()?;
            let hull = touched.simple_hull()?;
            if hull.is_subset(&touched)? {
                return hull.region();
            }
            let hull = touched.remove_divs()?.convex_hull()?;
            if hull.is_subset(&touched)? {
                hull.region()
            } else {
                Ok(region)
            }
        })
    };
    IMAGE.with(|memo| memo.answer((domain.to_vec(), map.to_vec(), depth), ask))
}

/// The lexicographically first point; `None` when the set is empty or has no first point.
pub fn first_point(conjunction: &[Constraint], depth: usize) -> Option<Vec<i64>> {
    with(|c| first_point_of(&set(c, conjunction, depth)?))
}

/// The lexicographically first point of an isl set. Minimizes dimension by dimension, because isl's own lexicographic
/// minimum fails on a set without one.
pub(super) fn first_point_of(full: &Set) -> poly::Result<Option<Vec<i64>>> {
    if full.is_empty()? {
        return Ok(None);
    }
    let mut rest = full.clone();
    let mut point = vec![];
    for dim in 0..full.depth()? {
        let Some(value) = rest.dim_min(dim)? else { return Ok(None) };
        rest = rest.fix(dim, value)?;
        point.push(value);
    }
    Ok(Some(point))
}

/// Limit on the points that [`count`] visits, over all but the innermost iterator.
const COUNT_LIMIT: u64 = 20_000_000;

/// Number of integer points; `None` if unbounded, or if counting would visit more than [`COUNT_LIMIT`] rows.
///
/// Iterators that no constraint connects are counted separately and multiplied, so a box of any size is cheap.
pub fn count(domain: &[Vec<Constraint>], depth: usize) -> Option<u128> {
    let mut total = 0u128;
    let mut budget = COUNT_LIMIT;
    for piece in disjoint(domain, depth) {
        let bounds = domain_bounds(std::slice::from_ref(&piece), depth)?;
        let mut product = 1u128;
        for group in components(&piece, depth) {
            product = product.checked_mul(count_group(&piece, &bounds, &group, &mut budget)?)?;
        }
        total = total.checked_add(product)?;
    }
    Some(total)
}

/// Groups of iterators that share constraints, directly or through others; each ascending.
fn components(piece: &[Constraint], depth: usize) -> Vec<Vec<usize>> {
    let mut label: Vec<usize> = (0..depth).collect();
    for constraint in piece {
        let used: Vec<usize> = (0..depth).filter(|&d| constraint.expr.coeffs[d] != 0).collect();
        let Some(target) = used.iter().map(|&d| label[d]).min() else { continue };
        let merged: Vec<usize> = used.iter().map(|&d| label[d]).collect();
        label.iter_mut().filter(|l| merged.contains(l)).for_each(|l| *l = target);
    }
    let mut groups: Vec<Vec<usize>> =
        (0..depth).map(|root| (0..depth).filter(|&d| label[d] == root).collect()).collect();
    groups.retain(|group: &Vec<usize>| !group.is_empty());
    groups
}

/// Counts the projections onto `group` by nested loops over all but the last iterator, whose interval is computed.
fn count_group(piece: &[Constraint], bounds: &[(i64, i64)], group: &[usize], budget: &mut u64) -> Option<u128> {
    let relevant: Vec<&Constraint> = piece.iter().filter(|c| group.iter().any(|&d| c.expr.coeffs[d] != 0)).collect();
    let (&last, outer) = group.split_last()?;
    let mut point: Vec<i64> = bounds.iter().map(|b| b.0).collect();
    let mut total = 0u128;
    loop {
        *budget = budget.checked_sub(1)?;
        point[last] = 0;
        let (mut low, mut high) = (bounds[last].0 as i128, bounds[last].1 as i128);
        for constraint in &relevant {
            let terms = constraint.expr.coeffs.iter().zip(&point).map(|(&c, &x)| c as i128 * x as i128);
            let value = terms.sum::<i128>() + constraint.expr.constant as i128;
            let slope = constraint.expr.coeffs[last] as i128;
            narrow(&mut low, &mut high, slope, value);
            if constraint.equality {
                narrow(&mut low, &mut high, -slope, -value);
            }
        }
        total += (high - low + 1).max(0) as u128;
        // Next point of the outer iterators.
        let Some(&next) = outer.iter().rev().find(|&&d| point[d] < bounds[d].1) else { return Some(total) };
        point[next] += 1;
        outer.iter().filter(|&&d| d > next).for_each(|&d| point[d] = bounds[d].0);
    }
}

/// Restricts `low..=high` to the x with `slope * x + value >= 0`.
fn narrow(low: &mut i128, high: &mut i128, slope: i128, value: i128) {
    match slope.signum() {
        1 => *low = (*low).max(-value.div_euclid(slope)),
        -1 => *high = (*high).min(value.div_euclid(-slope)),
        _ if value < 0 => *high = *low - 1,
        _ => {}
    }
}
