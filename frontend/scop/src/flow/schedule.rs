//! When the references of an array run: the 2d+1 schedule, and the part of it that orders two accesses of one element.
//!
//! A time is (position, iterator, position, …, position, 0 for a read or 1 for a write): the position of the statement
//! in the outermost body, the iteration of the loop there, the position in that loop's body, and so on, padded with
//! zeros to one length. Two times compare lexicographically.
//!
//! For example, all accesses of `C[i][j]` in `for i, for j, for k` have equal entries of `i` and `j` on one element;
//! only `k` and the positions order them.

use super::accesses::{Accesses, Reference};
use super::WRITE;
use crate::poly;
use crate::poly::{Context, Map, UnionMap};
use crate::Affine;

/// The schedule of some references of an array.
pub(super) struct Schedule<'a> {
    context: &'a Context,
    array: &'a Accesses,
    /// 1 for the program's order, -1 for its reverse.
    direction: i64,
    /// Greatest number of loops around a reference.
    deepest: usize,
    /// The entries that differ between two accesses of some element.
    entries: Vec<usize>,
}

impl<'a> Schedule<'a> {
    pub fn new(context: &'a Context, array: &'a Accesses, references: &[Reference], direction: i64) -> Self {
        let deepest = references.iter().map(|r| array.depth(*r)).max().unwrap_or(0);
        let mut schedule = Schedule { context, array, direction, deepest, entries: vec![] };
        let times: Vec<Vec<Affine>> = references.iter().map(|&r| schedule.time(r)).collect();
        let differs = |entry: &usize| !equal_on_one_cell(array, references, &times, *entry);
        schedule.entries = (0..schedule.length()).filter(differs).collect();
        schedule
    }

    fn length(&self) -> usize {
        2 * self.deepest + 2
    }

    /// All entries of the reference's time, times the direction.
    pub fn time(&self, reference: Reference) -> Vec<Affine> {
        let statement = self.array.statement(reference);
        let depth = statement.depth;
        let mut time = vec![];
        for (level, &position) in statement.beta.iter().enumerate() {
            time.push(Affine::constant(depth, self.direction * position));
            if level < depth {
                time.push(iterator(depth, level, self.direction));
            }
        }
        time.resize(self.length() - 1, Affine::constant(depth, 0));
        time.push(Affine::constant(depth, if reference.access == WRITE { self.direction } else { 0 }));
        time
    }

    /// `{ reference[iterators] -> [time] }`, without the entries that are equal for any two accesses of one element.
    pub fn map(&self, references: &[Reference]) -> poly::Result<UnionMap> {
        let context = self.context;
        let one = |&reference: &Reference| {
            let time = self.time(reference);
            let time: Vec<Affine> = self.entries.iter().map(|&entry| time[entry].clone()).collect();
            Map::from_affine(context, Some(&reference.name()), self.array.depth(reference), None, &time)
        };
        UnionMap::of_maps(context, references.iter().map(one))
    }

    /// The loops whose iterations order accesses of one element.
    fn loops(&self) -> impl Iterator<Item = usize> + '_ {
        self.entries.iter().filter(|&&entry| entry % 2 == 1 && entry + 1 < self.length()).map(|entry| entry / 2)
    }

    /// `{ reference[times of the ordering loops, other iterators] -> reference[iterators] }`.
    pub fn instances(&self, reference: Reference) -> poly::Result<Map> {
        let (name, depth) = (reference.name(), self.array.depth(reference));
        let time = self.time(reference);
        let ordering = self.loops().map(|level| time[2 * level + 1].clone());
        let others =
            (0..depth).filter(|&level| self.loops().all(|l| l != level)).map(|level| iterator(depth, level, 1));
        let functions: Vec<Affine> = ordering.chain(others).collect();
        Map::from_affine(self.context, Some(&name), depth, Some(&name), &functions)?.reverse()
    }

    /// See [`poly::Timed::text`].
    pub fn text(&self, reference: Reference) -> Vec<(usize, i64)> {
        let time = self.time(reference);
        let position = |level: usize| (self.loops().filter(|&l| l < level).count(), time[2 * level].constant);
        let within = (self.loops().count(), time[self.length() - 1].constant);
        (0..=self.deepest).map(position).chain([within]).collect()
    }
}

/// Whether time entry `entry` is one constant, or a subscript plus one constant (or minus it), for all references.
fn equal_on_one_cell(array: &Accesses, references: &[Reference], times: &[Vec<Affine>], entry: usize) -> bool {
    // time[entry] minus `factor` times subscript `position` must be one constant.
    let rank = references.first().map_or(0, |&r| array.subscripts(r).len());
    let constant = |factor: i64, position: usize| {
        let mut seen = None;
        references.iter().zip(times).all(|(&reference, time)| {
            let subscript = array.subscripts(reference).get(position);
            let Some(rest) = subscript.map_or(Some(time[entry].clone()), |s| minus(&time[entry], factor, s)) else {
                return false;
            };
            rest.is_constant() && *seen.get_or_insert(rest.constant) == rest.constant
        })
    };
    constant(0, 0) || (0..rank).any(|position| constant(1, position) || constant(-1, position))
}

/// `factor` times iterator `level` of `depth`.
pub(super) fn iterator(depth: usize, level: usize, factor: i64) -> Affine {
    let mut function = Affine::constant(depth, 0);
    function.coeffs[level] = factor;
    function
}

/// `a - factor * b`, if it fits.
pub(super) fn minus(a: &Affine, factor: i64, b: &Affine) -> Option<Affine> {
    let term = |x: i64, y: i64| x.checked_sub(factor.checked_mul(y)?);
    let coeffs: Option<Vec<i64>> = a.coeffs.iter().zip(&b.coeffs).map(|(&x, &y)| term(x, y)).collect();
    Some(Affine { coeffs: coeffs?, constant: term(a.constant, b.constant)? })
}
