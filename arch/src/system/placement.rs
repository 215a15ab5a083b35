//! Where statements stand in the band space, and the search for places that make their dependences uniform.

use super::affine::{compose, coordinate, minus};
use super::localize::Read;
use super::{Builder, Feed};
use frontend::flow::{self, Source};
use frontend::scop::{Affine, Constraint, StmtId};

/// What a read costs that cannot be made uniform.
const FAILED: i64 = 1000;
/// Rounds of coordinate descent.
const ROUNDS: usize = 3;
/// Placements of one statement that are looked at.
const MOST: usize = 4096;

/// Where a statement stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// The band dimension that each iterator runs along.
    pub dims: Vec<usize>,
    /// Every band coordinate over the statement's iterators; along `dims` an iterator and a constant.
    place: Vec<Affine>,
    /// Every iterator over the band coordinates.
    pub iterators: Vec<Affine>,
}

impl Placement {
    fn new(dims: &[usize], place: Vec<Affine>) -> Placement {
        let iterator = |&d: &usize| Affine { constant: -place[d].constant, ..coordinate(d, place.len()) };
        Placement { dims: dims.to_vec(), iterators: dims.iter().map(iterator).collect(), place }
    }
}

/// How far the search goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Iterators keep their order and their origin.
    Near,
    /// Iterators in any order, shifted by what their dependences ask for.
    Far,
}

/// All ways to choose `own` of `depth` dimensions, in increasing order or in any.
fn selections(own: usize, depth: usize, reach: Reach) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..own {
        let longer = |head: &Vec<usize>| {
            let head = head.clone();
            let least = if reach == Reach::Near { head.last().map_or(0, |d| d + 1) } else { 0 };
            (least..depth).filter(|d| !head.contains(d)).map(|d| [head.clone(), vec![d]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    // Loops at one depth belong together unless something speaks against it.
    all.sort_by_key(|dims| (displacement(dims), dims.clone()));
    all
}

fn displacement(dims: &[usize]) -> i64 {
    dims.iter().enumerate().map(|(k, &d)| (d as i64 - k as i64).abs()).sum()
}

impl Builder<'_> {
    /// Coordinate descent near the loops as they are written; where that leaves a dependence that is not uniform, all
    /// statements are placed anew, the deepest ones first, and may be shifted and turned.
    pub(super) fn choose_places(&mut self) {
        let statements = self.scop.statements.len();
        for s in 0..statements {
            let (own, depth) = (self.scop.statements[s].loops.len(), self.depth);
            let place = (0..depth).map(|d| if d < own { coordinate(d, own) } else { Affine::constant(own, self.bounds_of(d)[0].0) });
            self.at.push(Placement::new(&(0..own).collect::<Vec<_>>(), place.collect()));
        }
        self.placed = vec![true; statements];
        self.descend(Reach::Near);
        if self.failed() == 0 {
            return;
        }
        let near = (self.failed(), self.at.clone());
        let mut order: Vec<usize> = (0..statements).collect();
        order.sort_by_key(|&s| std::cmp::Reverse(self.scop.statements[s].loops.len()));
        self.placed = vec![false; statements];
        for s in order {
            self.placed[s] = true;
            self.improve(s, Reach::Far);
            if self.failed() > 0 {
                self.descend(Reach::Far);
            }
        }
        if self.failed() >= near.0 {
            self.at = near.1;
        }
    }

    fn descend(&mut self, reach: Reach) {
        for _ in 0..ROUNDS {
            let mut changed = false;
            for s in 0..self.at.len() {
                changed |= self.placed[s] && self.improve(s, reach);
            }
            if !changed {
                return;
            }
        }
    }

    /// Moves `s` to its best place; whether that is another one.
    fn improve(&mut self, s: usize, reach: Reach) -> bool {
        let before = self.at[s].clone();
        let mut best = (self.score(s, i64::MAX), before.clone());
        if best.0 == 0 || (reach == Reach::Near && before.dims.len() == self.depth) {
            return false;
        }
        for candidate in self.candidates(s, reach) {
            self.at[s] = candidate;
            let score = self.score(s, best.0);
            if score < best.0 {
                best = (score, self.at[s].clone());
            }
        }
        self.at[s] = best.1;
        self.at[s] != before
    }

    fn failed(&self) -> i64 {
        (0..self.at.len()).filter(|&s| self.placed[s]).map(|s| self.score(s, i64::MAX) / FAILED).sum()
    }

    /// Placements of a statement: its iterators on a choice of dimensions, then for every dimension it lacks the bounds
    /// of that dimension or one of its own iterators (and its neighbours).
    fn candidates(&mut self, s: usize, reach: Reach) -> Vec<Placement> {
        let own = self.scop.statements[s].loops.len();
        let mut all = Vec::new();
        for dims in selections(own, self.depth, reach) {
            let mut places: Vec<Vec<Affine>> = vec![vec![]];
            for d in 0..self.depth {
                let options = self.options(s, &dims, d, reach);
                places = places.iter().flat_map(|head| options.iter().map(move |o| [head.clone(), vec![o.clone()]].concat())).collect();
            }
            all.extend(places.into_iter().map(|place| Placement::new(&dims, place)));
            if all.len() > MOST {
                break;
            }
        }
        all
    }

    /// What coordinate `d` of statement `s` may be, over its iterators.
    fn options(&mut self, s: usize, dims: &[usize], d: usize, reach: Reach) -> Vec<Affine> {
        let own = dims.len();
        let along = dims.iter().position(|&x| x == d);
        let base = along.map_or(Affine::constant(own, 0), |k| coordinate(k, own));
        let mut options = Vec::new();
        match along {
            Some(_) => options.push(base.clone()),
            None => {
                for (lo, hi) in self.bounds_of(d) {
                    options.extend([lo, hi, lo - 1].map(|c| Affine::constant(own, c)));
                }
                for k in (0..own).rev() {
                    options.extend([0, -1, 1].map(|c| Affine { constant: c, ..coordinate(k, own) }));
                }
            }
        }
        if reach == Reach::Far {
            let place = (0..self.depth).map(|x| dims.iter().position(|&y| y == x).map_or(Affine::constant(own, 0), |k| coordinate(k, own)));
            let before = std::mem::replace(&mut self.at[s], Placement::new(dims, place.collect()));
            for shift in self.shifts(s, d) {
                let option = Affine { constant: base.constant + shift, ..base.clone() };
                if !options.contains(&option) {
                    options.push(option);
                }
            }
            self.at[s] = before;
        }
        options
    }

    /// Shifts of `s` along `d` that bring it next to what it reads or to its readers.
    fn shifts(&self, s: usize, d: usize) -> Vec<i64> {
        let mut all = Vec::new();
        for (read, domain) in self.reads_of(s) {
            let (reads, writes) = (read.statement == s, read.producer.index() == s);
            if reads == writes {
                continue;
            }
            let distance = &self.distance(&self.producer_map(&read), read.producer)[d];
            let (Some(least), sign) = (flow::minimum(&domain, distance), if reads { -1 } else { 1 }) else { continue };
            all.extend([sign * least, sign * (least - 1)]);
        }
        all.sort_unstable_by_key(|c| (c.abs(), *c));
        all.dedup();
        all
    }

    /// Reads between placed statements that `s` takes part in, also by reading what the same producer wrote and thus
    /// being able to pass it on, with their domains over the band.
    fn reads_of(&self, s: usize) -> Vec<(Read<'_>, Vec<Constraint>)> {
        let producer = |p: &flow::Piece| if let Source::Write { statement, .. } = &p.source { Some(*statement) } else { None };
        let seen: Vec<StmtId> = self.flow.reads[s].iter().flatten().filter_map(producer).collect();
        let mut all = Vec::new();
        for (reader, reads) in self.flow.reads.iter().enumerate() {
            for (k, pieces) in reads.iter().enumerate() {
                for piece in pieces {
                    let Source::Write { statement, iteration } = &piece.source else { continue };
                    let touches = reader == s || statement.index() == s || seen.contains(statement);
                    if touches && self.placed[reader] && self.placed[statement.index()] {
                        let read = Read { statement: reader, read: k, producer: *statement, iteration };
                        all.push((read, self.band_domain(reader, &piece.domain)));
                    }
                }
            }
        }
        all
    }

    /// An affine function of the statement's iterators as one of band coordinates.
    pub(super) fn over_band(&self, s: usize, affine: &Affine) -> Affine {
        compose(affine, &self.at[s].iterators, self.depth)
    }

    /// Bounds of dimension `d` over the statements that have it.
    fn bounds_of(&self, d: usize) -> Vec<(i64, i64)> {
        let deep = self.scop.statements.iter().filter(|s| s.loops.len() > d);
        let bounds: Vec<_> = deep.filter_map(|s| flow::domain_bounds(&s.domain, s.loops.len())).map(|b| b[d]).collect();
        match (bounds.iter().map(|b| b.0).min(), bounds.iter().map(|b| b.1).max()) {
            (Some(lo), Some(hi)) => vec![(lo, hi)],
            _ => vec![(0, 0)],
        }
    }

    /// Badness of all reads that touch statement `s`; gives up beyond `limit`.
    fn score(&self, s: usize, limit: i64) -> i64 {
        // Dimensions that loops at other depths share are a little worse than the outermost ones.
        let mut total = displacement(&self.at[s].dims);
        for (read, domain) in self.reads_of(s) {
            if total >= limit {
                break;
            }
            total += match self.localize(&read, &domain, 0) {
                None => FAILED,
                Some(pieces) => pieces.iter().map(|p| cost_of(&p.feed)).sum::<i64>() + 20 * (pieces.len() as i64 - 1),
            };
        }
        total
    }

    pub(super) fn band_domain(&self, s: usize, domain: &[Constraint]) -> Vec<Constraint> {
        let mut out: Vec<Constraint> = domain.iter().map(|c| Constraint { expr: self.over_band(s, &c.expr), equality: c.equality }).collect();
        for d in (0..self.depth).filter(|d| !self.at[s].dims.contains(d)) {
            let expr = minus(&self.over_band(s, &self.at[s].place[d]), &coordinate(d, self.depth));
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
        Feed::Carry { .. } => 1,
        Feed::Input { .. } => 0,
    }
}

