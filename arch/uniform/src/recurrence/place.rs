//! The search for places of the statements in the iteration space, so that their dependences become uniform.
//!
//! **Problem.** Statements of different depth share one iteration space. A statement that lacks a loop has to be placed
//! in it, next to the values that it exchanges; else distances change from iteration to iteration, and no array exists.
//!
//! **Terms.** A *placement* gives every coordinate as an affine function of the statement's iterators. A *touch* of a
//! statement is a piece of a read that depends on its placement. The *score* of a placement is the cost of its touches:
//! what fails to be uniform costs [`FAILED`], a long distance or an additional piece a little.
//!
//! **Example.** Forward substitution, over (i, j):
//!
//! ```text
//! for i: x[i] = b[i];                         S0 at (i, 0): the first iteration of j
//!        for j < i: x[i] -= L[i][j] * x[j];   S1 at (i, j)
//!        x[i] = x[i] / L[i][i];               S2 at (i, i): x[j] comes from (j, j), and is carried along i
//! ```
//!
//! **Method.** Coordinate descent: one statement after the other moves to its best placement, all others fixed, until
//! none moves.
//! 1. The loops stay as written ([`Reach::Near`]).
//! 2. If a dependence fails, all statements are placed anew along their dependences: a chain of statements moves to the
//!    end of a loop link by link.
//! 3. At last iterators may change their order and their origin ([`Reach::Far`]).
//!
//! A lower bound of the score, from ranges of distances alone, decides which placements are uniformized at all.
//!
//! **Invariant.** The search is deterministic: it stops after a number of steps
//! ([`crate::recurrence::builder::Effort`]), not after a time.
//!
//! **Source.** Ahmed, Mateev, Pingali, "Synthesizing Transformations for Locality Enhancement of Imperfectly-Nested
//! Loop Nests" (2000), embeddings into a product space.

use crate::affine::map::coordinate;
use crate::recurrence::builder::{Builder, Placement};
use crate::recurrence::touch::{displacement, Touch, FAILED};
use scop::flow;
use scop::flow::Source;
use scop::{Affine, Constraint, StmtId};

/// Rounds of coordinate descent.
const ROUNDS: usize = 3;
/// The steps of a stage of the search: near the loops as written, and far from them.
const EFFORT_NEAR: u64 = 20_000;
const EFFORT_FAR: u64 = 50_000;
/// Placements of one statement that are still tried after one with uniform reads is found.
const ENOUGH: usize = 100;
/// Placements of one statement that are tried.
const MOST: usize = 4096;

/// Which placements the search tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Iterators keep their order and their origin.
    Near,
    /// Iterators in any order, shifted along their dependences.
    Far,
}

/// All ways to choose `iterators` of `depth` dimensions, in increasing order or in any, behind the `phases`.
fn selections(iterators: usize, depth: usize, phases: usize, reach: Reach) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![(0..phases).collect()];
    for _ in phases..iterators {
        let longer = |head: &Vec<usize>| {
            let head = head.clone();
            let least = if reach == Reach::Near { head.last().map_or(0, |d| d + 1) } else { 0 };
            (least..depth).filter(|d| !head.contains(d)).map(|d| [head.clone(), vec![d]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
        // Deep nests have too many.
        if all.len() > MOST {
            all.sort_by_key(|dims| (displacement(dims), dims.clone()));
            all.truncate(MOST);
        }
    }
    // Loops at one depth share a dimension if possible.
    all.sort_by_key(|dims| (displacement(dims), dims.clone()));
    all
}

impl<'a> Builder<'a> {
    /// The search in its three stages, up to `reach`.
    pub(super) fn choose_places(&mut self, reach: Reach) {
        let statements = self.scop.statements.len();
        self.bounds = (0..self.depth).map(|d| self.bounds_of(d)).collect();
        self.ends = (0..self.depth).map(|d| self.end_of(d)).collect();
        for s in 0..statements {
            let (iterators, depth) = (self.scop.statements[s].loops.len(), self.depth);
            let behind = self.follows_a_deeper_one(s);
            let mut place = self
                .folds
                .get(s)
                .cloned()
                .flatten()
                .unwrap_or_else(|| (0..iterators).map(|d| coordinate(d, iterators)).collect());
            place.extend((iterators..depth).map(|d| {
                if behind {
                    self.end(d, iterators)
                } else {
                    Affine::constant(iterators, self.bounds[d].0)
                }
            }));
            self.at.push(Placement::new(&(0..iterators).collect::<Vec<_>>(), place));
        }
        self.placed = vec![true; statements];
        self.effort.allow(Some(EFFORT_NEAR / self.within.effort_divisor));
        self.descend(Reach::Near);
        if self.all_failed() == 0 || !self.folds.is_empty() {
            return;
        }
        for (stage, effort) in [(Reach::Near, EFFORT_NEAR), (Reach::Far, EFFORT_FAR)] {
            if stage == Reach::Far && reach == Reach::Near {
                return;
            }
            let before = (self.all_failed(), self.at.clone());
            self.effort.allow(Some(effort / self.within.effort_divisor));
            self.place_along_dependences(stage);
            let failed = self.all_failed();
            if failed == 0 {
                return;
            }
            if failed >= before.0 {
                self.at = before.1;
            }
        }
    }

    /// The number of reads that are not uniform at these places, without a limit of effort.
    fn all_failed(&self) -> i64 {
        self.effort.allow(None);
        self.failed()
    }

    /// Whether the statement needs a value of a deeper statement before it, directly or by way of others of its depth.
    fn follows_a_deeper_one(&self, s: usize) -> bool {
        let depth = |s: usize| self.scop.statements[s].loops.len();
        let (mut seen, mut open) = (vec![false; s], vec![s]);
        while let Some(reader) = open.pop() {
            for piece in self.flow.reads[reader].iter().flatten() {
                let Source::Write { statement: StmtId(producer), .. } = piece.source else { continue };
                let producer = producer as usize;
                if producer < s && depth(producer) > depth(s) {
                    return true;
                }
                if producer < s && !std::mem::replace(&mut seen[producer], true) {
                    open.push(producer);
                }
            }
        }
        false
    }

    /// Places one statement after the other, each next to statements that it exchanges values with.
    fn place_along_dependences(&mut self, reach: Reach) {
        self.placed = vec![false; self.at.len()];
        let partners = self.partners();
        let mut joined = vec![false; self.at.len()];
        while let Some(s) = self.next_to_place(&joined) {
            self.placed[s] = true;
            partners[s].iter().for_each(|&t| joined[t] = true);
            if !self.effort.is_over() {
                self.improve(s, reach);
                if self.failed() > 0 {
                    self.descend(reach);
                }
            }
        }
    }

    /// The deepest statement that exchanges values with a placed one; else the deepest one.
    fn next_to_place(&self, joined: &[bool]) -> Option<usize> {
        let open = (0..self.placed.len()).filter(|&s| !self.placed[s]);
        open.max_by_key(|&s| (joined[s], self.scop.statements[s].loops.len(), std::cmp::Reverse(s)))
    }

    /// For each statement those that it exchanges values with.
    fn partners(&self) -> Vec<Vec<usize>> {
        let mut partners = vec![vec![]; self.at.len()];
        for (reader, reads) in self.flow.reads.iter().enumerate() {
            for piece in reads.iter().flatten() {
                let Source::Write { statement, .. } = piece.source else { continue };
                partners[reader].push(statement.index());
                partners[statement.index()].push(reader);
            }
        }
        partners
    }

    fn descend(&mut self, reach: Reach) {
        // The placements on which a statement's best one depends, when it was last found.
        let mut settled: Vec<Option<Vec<Placement>>> = vec![None; self.at.len()];
        for _ in 0..ROUNDS {
            let mut changed = false;
            for (s, settled) in settled.iter_mut().enumerate() {
                if self.effort.is_over() {
                    return;
                }
                if self.placed[s] && settled.as_ref() != Some(&self.around(s)) {
                    changed |= self.improve(s, reach);
                    *settled = Some(self.around(s));
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// The placements of `s` and of the statements that it exchanges values with.
    fn around(&self, s: usize) -> Vec<Placement> {
        let mut all: Vec<usize> =
            self.touches(s).iter().flat_map(|t| [t.read.statement, t.read.producer.index()]).chain([s]).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|t| self.at[t].clone()).collect()
    }

    /// Moves `s` to its best placement; whether that is another one.
    fn improve(&mut self, s: usize, reach: Reach) -> bool {
        let before = self.at[s].clone();
        let touches = self.touches(s);
        let mut best = (self.score(s, &touches, i64::MAX), before.clone());
        if best.0 == 0 || (reach == Reach::Near && before.dims.len() == self.depth) {
            return false;
        }
        let mut ranked = Vec::new();
        for candidate in self.candidates(s, &touches, reach) {
            if self.effort.is_over() {
                break;
            }
            self.at[s] = candidate;
            let (least, open) = self.bound(s, &touches, best.0);
            let least = least + open.iter().map(|touch| self.least_of(s, touch)).sum::<i64>();
            if least < best.0 {
                ranked.push((least, self.at[s].clone()));
            }
        }
        ranked.sort_by_key(|(least, _)| *least);
        let mut after = 0;
        for (least, candidate) in ranked {
            if least >= best.0 || after > ENOUGH || self.effort.is_over() {
                break;
            }
            self.at[s] = candidate;
            let score = self.score(s, &touches, best.0);
            after += usize::from(best.0 < FAILED);
            if score < best.0 {
                best = (score, self.at[s].clone());
            }
        }
        self.at[s] = best.1;
        self.at[s] != before
    }

    fn failed(&self) -> i64 {
        (0..self.at.len()).filter(|&s| self.placed[s]).map(|s| self.score(s, &self.touches(s), i64::MAX) / FAILED).sum()
    }

    /// Placements of a statement: its iterators on a choice of dimensions, then for every dimension it lacks the bounds
    /// of that dimension or one of its iterators (and its neighbours).
    fn candidates(&mut self, s: usize, touches: &[Touch], reach: Reach) -> Vec<Placement> {
        let iterators = self.scop.statements[s].loops.len();
        let mut all = Vec::new();
        for dims in selections(iterators, self.depth, self.within.phases, reach) {
            let mut places: Vec<Vec<Affine>> = vec![vec![]];
            for d in 0..self.depth {
                let options = self.options(s, touches, &dims, d, reach);
                places = places
                    .iter()
                    .flat_map(|head| options.iter().map(move |o| [head.clone(), vec![o.clone()]].concat()))
                    .collect();
                places.truncate(MOST);
            }
            all.extend(places.into_iter().map(|place| Placement::new(&dims, place)));
            if all.len() > MOST {
                break;
            }
        }
        all
    }

    /// The candidates for coordinate `d` of statement `s`, over its iterators.
    fn options(&mut self, s: usize, touches: &[Touch], dims: &[usize], d: usize, reach: Reach) -> Vec<Affine> {
        let iterators = dims.len();
        let along = dims.iter().position(|&x| x == d);
        let base = along.map_or(Affine::constant(iterators, 0), |k| coordinate(k, iterators));
        let mut options = Vec::new();
        // A phase is a value of its loop: no statement moves to another phase.
        if d < self.within.phases {
            return vec![base];
        }
        match along {
            Some(_) => options.push(base.clone()),
            None => {
                let lo = self.bounds[d].0;
                options.extend([
                    Affine::constant(iterators, lo),
                    self.end(d, iterators),
                    Affine::constant(iterators, lo - 1),
                ]);
                for k in (0..iterators).rev() {
                    options.extend([0, -1, 1].map(|c| Affine { constant: c, ..coordinate(k, iterators) }));
                }
            }
        }
        if reach == Reach::Far {
            let place = (0..self.depth).map(|x| {
                dims.iter().position(|&y| y == x).map_or(Affine::constant(iterators, 0), |k| coordinate(k, iterators))
            });
            let before = std::mem::replace(&mut self.at[s], Placement::new(dims, place.collect()));
            for shift in self.shifts(s, touches, d) {
                let option = Affine { constant: base.constant + shift, ..base.clone() };
                if !options.contains(&option) {
                    options.push(option);
                }
            }
            self.at[s] = before;
        }
        options
    }

    /// Shifts of `s` along `d` that bring it next to its producers or to its readers.
    fn shifts(&self, s: usize, touches: &[Touch], d: usize) -> Vec<i64> {
        let mut all = Vec::new();
        for touch in touches {
            let (reads, writes) = (touch.read.statement == s, touch.read.producer.index() == s);
            if reads == writes {
                continue;
            }
            let (Some((least, _)), sign) =
                (self.range(touch, &self.coordinate_distance(touch, d)), if reads { -1 } else { 1 })
            else {
                continue;
            };
            all.extend([sign * least, sign * (least - 1)]);
        }
        all.sort_unstable_by_key(|c| (c.abs(), *c));
        all.dedup();
        all
    }

    /// Bounds of dimension `d` over the statements that have it.
    fn bounds_of(&self, d: usize) -> (i64, i64) {
        let deep = self.scop.statements.iter().filter(|s| s.loops.len() > d);
        let bounds: Vec<_> = deep.filter_map(|s| flow::domain_bounds(&s.domain, s.loops.len())).map(|b| b[d]).collect();
        match (bounds.iter().map(|b| b.0).min(), bounds.iter().map(|b| b.1).max()) {
            (Some(lo), Some(hi)) => (lo, hi),
            _ => (0, 0),
        }
    }

    /// The end of dimension `d` over the sizes, if all statements that have it end there at all sizes.
    fn end_of(&self, d: usize) -> Option<Affine> {
        let sizes = self.within.sizes;
        let of_sizes = |c: &Constraint| {
            let (head, rest) = c.expr.coeffs.split_at(sizes);
            let upper = rest.iter().enumerate().all(|(k, &x)| x == if k + sizes == d { -1 } else { 0 }) && !c.equality;
            (upper && head.iter().any(|&x| x != 0)).then(|| Affine { coeffs: head.to_vec(), constant: c.expr.constant })
        };
        let deep = self.scop.statements.iter().filter(|s| s.loops.len() > d).flat_map(|s| &s.domain);
        let mut ends = deep.map(|all| all.iter().filter(|c| c.expr.coeffs[d] < 0).map(of_sizes).collect::<Vec<_>>());
        let first = ends.next()?;
        let [Some(end)] = first.as_slice() else { return None };
        ends.all(|other| other == first).then(|| end.clone())
    }

    /// The end of dimension `d` for a statement with `iterators` iterators, of which the first are the sizes.
    fn end(&self, d: usize, iterators: usize) -> Affine {
        match &self.ends[d] {
            Some(end) => Affine {
                coeffs: end.coeffs.iter().copied().chain(std::iter::repeat(0)).take(iterators).collect(),
                constant: end.constant,
            },
            None => Affine::constant(iterators, self.bounds[d].1),
        }
    }
}
