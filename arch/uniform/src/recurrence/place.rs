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

use crate::affine::map::{compose, coordinate, minus};
use crate::recurrence::builder::{is_early, Builder, Placement, RangeKey};
use crate::recurrence::uniformize::{is_forward, Read};
use crate::system::{Feed, ReadId};
use scop::flow;
use scop::flow::Source;
use scop::{Affine, Constraint, StmtId};
use std::cell::RefCell;

/// The cost of a read that cannot be made uniform.
const FAILED: i64 = 1000;
/// The cost of each piece of a read beyond the first.
const PIECE: i64 = 20;
/// Rounds of coordinate descent.
const ROUNDS: usize = 3;
/// The steps of a stage of the search: near the loops as written, and far from them.
const EFFORT_NEAR: u64 = 20_000;
const EFFORT_FAR: u64 = 50_000;
/// Placements of one statement that are still tried after one with uniform reads is found.
const ENOUGH: usize = 100;
/// Placements of one statement that are tried.
const MOST: usize = 4096;

type Range = Option<(i64, i64)>;

/// A piece of a read that depends on the placement of a statement.
struct Touch<'a> {
    read: Read<'a>,
    /// Which piece, and where over the reader's iterators.
    piece: usize,
    domain: &'a [Constraint],
    /// Per dimension: ranges of the distance by the coordinate of the statement, all others in their places.
    ranges: Vec<RefCell<Vec<(Affine, Range)>>>,
}

/// Which placements the search tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Iterators keep their order and their origin.
    Near,
    /// Iterators in any order, shifted by what their dependences ask for.
    Far,
}

/// All ways to choose `own` of `depth` dimensions, in increasing order or in any, behind the `phases`.
fn selections(own: usize, depth: usize, phases: usize, reach: Reach) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![(0..phases).collect()];
    for _ in phases..own {
        let longer = |head: &Vec<usize>| {
            let head = head.clone();
            let least = if reach == Reach::Near { head.last().map_or(0, |d| d + 1) } else { 0 };
            (least..depth).filter(|d| !head.contains(d)).map(|d| [head.clone(), vec![d]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
        // In deep nests only what comes first in the end.
        if all.len() > MOST {
            all.sort_by_key(|dims| (displacement(dims), dims.clone()));
            all.truncate(MOST);
        }
    }
    // Loops at one depth belong together unless something speaks against it.
    all.sort_by_key(|dims| (displacement(dims), dims.clone()));
    all
}

fn displacement(dims: &[usize]) -> i64 {
    dims.iter().enumerate().map(|(k, &d)| (d as i64 - k as i64).abs()).sum()
}

impl<'a> Builder<'a> {
    /// Coordinate descent near the loops as they are written; where that leaves a dependence that is not uniform, all
    /// statements are placed anew along the dependences, at last also shifted and turned.
    pub(super) fn choose_places(&mut self, reach: Reach) {
        let statements = self.scop.statements.len();
        self.bounds = (0..self.depth).map(|d| self.bounds_of(d)).collect();
        self.ends = (0..self.depth).map(|d| self.end_of(d)).collect();
        for s in 0..statements {
            let (own, depth) = (self.scop.statements[s].loops.len(), self.depth);
            let behind = self.follows_a_deeper_one(s);
            let mut place =
                self.folds.get(s).cloned().flatten().unwrap_or_else(|| (0..own).map(|d| coordinate(d, own)).collect());
            place.extend((own..depth).map(|d| {
                if behind {
                    self.end(d, own)
                } else {
                    Affine::constant(own, self.bounds[d].0)
                }
            }));
            self.at.push(Placement::new(&(0..own).collect::<Vec<_>>(), place));
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

    /// The reads that are not uniform at these places, however long it takes to see it.
    fn all_failed(&self) -> i64 {
        self.effort.allow(None);
        self.failed()
    }

    /// Whether the statement needs what loops before it have computed, at once or by way of others of its depth.
    fn follows_a_deeper_one(&self, s: usize) -> bool {
        let depth = |s: usize| self.scop.statements[s].loops.len();
        let (mut seen, mut open) = (vec![], vec![s]);
        while let Some(reader) = open.pop() {
            for piece in self.flow.reads[reader].iter().flatten() {
                let Source::Write { statement: StmtId(producer), .. } = piece.source else { continue };
                let producer = producer as usize;
                if producer < s && depth(producer) > depth(s) {
                    return true;
                }
                if producer < s && !seen.contains(&producer) {
                    seen.push(producer);
                    open.push(producer);
                }
            }
        }
        false
    }

    /// One statement after the other, each next to what it exchanges values with: a chain of statements behind a loop
    /// moves to its end link by link, where no link could move alone.
    fn place_along_dependences(&mut self, reach: Reach) {
        self.placed = vec![false; self.at.len()];
        while let Some(s) = self.next_to_place() {
            self.placed[s] = true;
            if !self.effort.is_over() {
                self.improve(s, reach);
                if self.failed() > 0 {
                    self.descend(reach);
                }
            }
        }
    }

    /// The deepest statement that exchanges values with a placed one; else the deepest one.
    fn next_to_place(&self) -> Option<usize> {
        let joined = |s: usize| {
            let partner = |t: usize| {
                self.placed[t]
                    && self.flow.reads[t]
                        .iter()
                        .flatten()
                        .any(|p| matches!(p.source, Source::Write { statement, .. } if statement.index() == s))
            };
            let reads = self.flow.reads[s]
                .iter()
                .flatten()
                .any(|p| matches!(p.source, Source::Write { statement, .. } if self.placed[statement.index()]));
            reads || (0..self.placed.len()).any(partner)
        };
        let open = (0..self.placed.len()).filter(|&s| !self.placed[s]);
        open.max_by_key(|&s| (joined(s), self.scop.statements[s].loops.len(), std::cmp::Reverse(s)))
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
    /// of that dimension or one of its own iterators (and its neighbours).
    fn candidates(&mut self, s: usize, touches: &[Touch], reach: Reach) -> Vec<Placement> {
        let own = self.scop.statements[s].loops.len();
        let mut all = Vec::new();
        for dims in selections(own, self.depth, self.within.phases, reach) {
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

    /// What coordinate `d` of statement `s` may be, over its iterators.
    fn options(&mut self, s: usize, touches: &[Touch], dims: &[usize], d: usize, reach: Reach) -> Vec<Affine> {
        let own = dims.len();
        let along = dims.iter().position(|&x| x == d);
        let base = along.map_or(Affine::constant(own, 0), |k| coordinate(k, own));
        let mut options = Vec::new();
        // A phase is a value of its loop: no statement moves to another phase.
        if d < self.within.phases {
            return vec![base];
        }
        match along {
            Some(_) => options.push(base.clone()),
            None => {
                let lo = self.bounds[d].0;
                options.extend([Affine::constant(own, lo), self.end(d, own), Affine::constant(own, lo - 1)]);
                for k in (0..own).rev() {
                    options.extend([0, -1, 1].map(|c| Affine { constant: c, ..coordinate(k, own) }));
                }
            }
        }
        if reach == Reach::Far {
            let place = (0..self.depth)
                .map(|x| dims.iter().position(|&y| y == x).map_or(Affine::constant(own, 0), |k| coordinate(k, own)));
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

    /// Reads between placed statements that depend on the placement of `s`: as reader, as producer, or as another
    /// reader of the same producer, which may carry the value.
    fn touches(&self, s: usize) -> Vec<Touch<'a>> {
        let producer =
            |p: &flow::Piece| if let Source::Write { statement, .. } = &p.source { Some(*statement) } else { None };
        let seen: Vec<StmtId> = self.flow.reads[s].iter().flatten().filter_map(producer).collect();
        let mut all = Vec::new();
        for (reader, reads) in self.flow.reads.iter().enumerate() {
            for (k, pieces) in reads.iter().enumerate() {
                for (piece, p) in pieces.iter().enumerate() {
                    let Source::Write { statement, iteration } = &p.source else { continue };
                    let touches = reader == s || statement.index() == s || seen.contains(statement);
                    if touches && self.placed[reader] && self.placed[statement.index()] {
                        let read = Read { statement: reader, read: k, producer: *statement, iteration };
                        all.push(Touch {
                            read,
                            piece,
                            domain: &p.domain,
                            ranges: vec![RefCell::default(); self.depth],
                        });
                    }
                }
            }
        }
        all
    }

    /// Least and greatest value of a function of the reader's iterators on the touch. A shift changes only the
    /// constant, so the range of the linear part is computed once.
    fn range(&self, touch: &Touch, over: &Affine) -> Range {
        if over.is_constant() {
            return Some((over.constant, over.constant));
        }
        let read = ReadId { statement: touch.read.statement, read: touch.read.read };
        let key = RangeKey { read, piece: touch.piece, coeffs: over.coeffs.clone() };
        let compute = || {
            let linear = Affine { constant: 0, ..over.clone() };
            Some((flow::minimum(touch.domain, &linear)?, flow::maximum(touch.domain, &linear)?))
        };
        let (lo, hi) = (*self.ranges.borrow_mut().entry(key).or_insert_with(compute))?;
        Some((lo + over.constant, hi + over.constant))
    }

    /// The range of coordinate `d` of the distance, for a touch of `s`.
    fn distances(&self, s: usize, touch: &Touch, d: usize) -> Range {
        let at = &self.at[s].place[d];
        let mut ranges = touch.ranges[d].borrow_mut();
        if let Some((_, range)) = ranges.iter().find(|(place, _)| place == at) {
            return *range;
        }
        let range = self.range(touch, &self.coordinate_distance(touch, d));
        ranges.push((at.clone(), range));
        range
    }

    /// Coordinate `d` of the distance between a read and its producer, over the reader's iterators.
    fn coordinate_distance(&self, touch: &Touch, d: usize) -> Affine {
        let [mine, other] = [touch.read.statement, touch.read.producer.index()].map(|s| &self.at[s].place[d]);
        minus(mine, &compose(other, touch.read.iteration, mine.coeffs.len()))
    }

    /// An affine function of the statement's iterators as one of the coordinates.
    pub(super) fn over_coordinates(&self, s: usize, affine: &Affine) -> Affine {
        compose(affine, &self.at[s].iterators, self.depth)
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

    /// The end of dimension `d` for a statement with `own` iterators, of which the first are the sizes.
    fn end(&self, d: usize, own: usize) -> Affine {
        match &self.ends[d] {
            Some(end) => Affine {
                coeffs: end.coeffs.iter().copied().chain(std::iter::repeat(0)).take(own).collect(),
                constant: end.constant,
            },
            None => Affine::constant(own, self.bounds[d].1),
        }
    }

    /// The part of the score that ranges of distances show, and the touches that have to be uniformized; gives up
    /// beyond `limit`.
    fn bound<'t>(&self, s: usize, touches: &'t [Touch<'a>], limit: i64) -> (i64, Vec<&'t Touch<'a>>) {
        // Dimensions that loops at other depths share are a little worse than the outermost ones.
        let mut total = displacement(&self.at[s].dims);
        let mut open = Vec::new();
        for touch in touches {
            if total >= limit {
                break;
            }
            self.effort.glance();
            match self.glance(s, touch) {
                Some(cost) => total += cost,
                None => open.push(touch),
            }
        }
        (total, open)
    }

    /// The cost of the touches of `s`; gives up beyond `limit`.
    fn score(&self, s: usize, touches: &[Touch<'a>], limit: i64) -> i64 {
        let (mut total, open) = self.bound(s, touches, limit);
        for touch in open {
            if total >= limit {
                break;
            }
            let domain = self.placed_domain(touch.read.statement, touch.domain);
            total += match self.uniformize(&touch.read, &domain, 0) {
                None => FAILED,
                Some(pieces) => {
                    pieces.iter().map(|p| cost_of(&p.feed)).sum::<i64>() + PIECE * (pieces.len() as i64 - 1)
                }
            };
        }
        total
    }

    /// The least cost of a read whose distance changes: two pieces, of which one comes from the producer.
    fn least_of(&self, s: usize, touch: &Touch) -> i64 {
        let nearest = |d: usize| self.distances(s, touch, d).map_or(0, |(lo, hi)| lo.max(-hi).clamp(0, 50));
        1 + PIECE + (0..self.depth).map(nearest).sum::<i64>()
    }

    /// The cost of a read, if ranges of distances show it.
    fn glance(&self, s: usize, touch: &Touch) -> Option<i64> {
        let range = |d: usize| self.distances(s, touch, d);
        let constant = |d: usize| range(d).filter(|r| r.0 == r.1).map(|r| r.0);
        if let Some(distance) = (0..self.depth).map(constant).collect::<Option<Vec<i64>>>() {
            let ok = is_forward(&distance, touch.read.producer, touch.read.statement);
            let feed = Feed::Value { statement: touch.read.producer, distance };
            return Some(if ok { cost_of(&feed) } else { FAILED });
        }
        if self.sums[touch.read.statement] == Some(touch.read.read)
            && touch.read.producer.index() == touch.read.statement
        {
            return None;
        }
        if is_early((0..self.depth).map(range), |r| *r == Some((0, 0)), |r| Some(r?.0)) {
            return Some(FAILED);
        }
        let reader = &self.at[touch.read.statement];
        if touch.domain.iter().any(|c| c.equality) || reader.dims.len() < self.depth {
            return None;
        }
        let map = self.producer_map(&touch.read);
        let distance = self.distance(&map, touch.read.producer);
        let pair = |d: usize| self.range(touch, &reader.place[d]).is_some_and(|r| r.1 == r.0 + 1);
        (!self.has_null_direction(&map, &distance) && !(0..self.depth).any(pair)).then_some(FAILED)
    }

    /// Whether there are [`Builder::null_directions`]; they depend on coefficients alone, which most placements share.
    fn has_null_direction(&self, map: &[Affine], distance: &[Affine]) -> bool {
        let key: Vec<Vec<i64>> = map.iter().chain(distance).map(|a| a.coeffs.clone()).collect();
        *self.nulls.borrow_mut().entry(key).or_insert_with(|| !self.null_directions(map, distance).is_empty())
    }

    pub(super) fn placed_domain(&self, s: usize, domain: &[Constraint]) -> Vec<Constraint> {
        let mut out: Vec<Constraint> = domain
            .iter()
            .map(|c| Constraint { expr: self.over_coordinates(s, &c.expr), equality: c.equality })
            .collect();
        for d in (0..self.depth).filter(|d| !self.at[s].dims.contains(d)) {
            let expr = minus(&self.over_coordinates(s, &self.at[s].place[d]), &coordinate(d, self.depth));
            out.push(Constraint { expr, equality: true });
        }
        out
    }

    /// Reader's minus producer's coordinates, over the reader's; `map`: the producer's iterators over these.
    pub(super) fn distance(&self, map: &[Affine], producer: StmtId) -> Vec<Affine> {
        let place = &self.at[producer.index()].place;
        (0..self.depth).map(|d| minus(&coordinate(d, self.depth), &compose(&place[d], map, self.depth))).collect()
    }
}

fn cost_of(feed: &Feed) -> i64 {
    match feed {
        Feed::Value { distance, .. } => distance.iter().map(|x| x.abs().min(50)).sum(),
        Feed::Carry { .. } | Feed::Partial { .. } => 1,
        Feed::Input { .. } => 0,
    }
}
