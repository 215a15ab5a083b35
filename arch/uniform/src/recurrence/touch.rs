//! The score of a placement: the cost of the reads that depend on it.
//!
//! A read costs its distance, a carried read 1, each further piece [`PIECE`], a read that is not uniform [`FAILED`].
//! Uniformizing a read is expensive, and the search asks for thousands of placements. So ranges of distances are tried
//! first, which are cheap and cached: they show constant distances, readers ahead of their producers, and reads without
//! a null direction ([`Builder::glance`]). The other reads get a lower bound ([`Builder::least_of`]), and are
//! uniformized only if the bound is below the best score.

use crate::affine::map::{compose, minus};
use crate::recurrence::builder::{is_early, Builder, RangeKey};
use crate::recurrence::uniformize::{is_forward, Read};
use crate::system::{Feed, ReadId};
use scop::flow;
use scop::flow::Source;
use scop::{Affine, Constraint, StmtId};
use std::cell::RefCell;

/// The cost of a read that cannot be made uniform.
pub(super) const FAILED: i64 = 1000;
/// The cost of each piece of a read beyond the first.
const PIECE: i64 = 20;

type Range = Option<(i64, i64)>;

/// By how many dimensions iterators stand away from those of their own loops, in sum.
pub(super) fn displacement(dims: &[usize]) -> i64 {
    dims.iter().enumerate().map(|(k, &d)| (d as i64 - k as i64).abs()).sum()
}

/// A piece of a read that depends on the placement of a statement.
pub(super) struct Touch<'a> {
    pub read: Read<'a>,
    /// The number of the piece.
    piece: usize,
    /// Over the reader's iterators.
    domain: &'a [Constraint],
    /// Per dimension: ranges of the distance by the coordinate of the statement, all others in their places.
    ranges: Vec<RefCell<Vec<(Affine, Range)>>>,
}

impl<'a> Builder<'a> {
    /// Reads between placed statements that depend on the placement of `s`: as reader, as producer, or as another
    /// reader of the same producer, which may carry the value.
    pub(super) fn touches(&self, s: usize) -> Vec<Touch<'a>> {
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
    pub(super) fn range(&self, touch: &Touch, over: &Affine) -> Range {
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
    pub(super) fn coordinate_distance(&self, touch: &Touch, d: usize) -> Affine {
        let [reader, producer] = [touch.read.statement, touch.read.producer.index()].map(|s| &self.at[s].place[d]);
        minus(reader, &compose(producer, touch.read.iteration, reader.coeffs.len()))
    }

    /// The part of the score that ranges of distances show, and the touches that have to be uniformized; gives up
    /// beyond `limit`.
    pub(super) fn bound<'t>(&self, s: usize, touches: &'t [Touch<'a>], limit: i64) -> (i64, Vec<&'t Touch<'a>>) {
        // Loops at one depth had better share a dimension.
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
    pub(super) fn score(&self, s: usize, touches: &[Touch<'a>], limit: i64) -> i64 {
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
    pub(super) fn least_of(&self, s: usize, touch: &Touch) -> i64 {
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
}

fn cost_of(feed: &Feed) -> i64 {
    match feed {
        Feed::Value { distance, .. } => distance.iter().map(|x| x.abs().min(50)).sum(),
        Feed::Carry { .. } | Feed::Partial { .. } => 1,
        Feed::Input { .. } => 0,
    }
}
