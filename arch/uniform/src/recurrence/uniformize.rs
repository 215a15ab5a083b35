//! Uniformization: every read of a produced value comes from a constant distance.
//!
//! **Problem.** One value may be read by many iterations (a broadcast), at a distance that grows from iteration to
//! iteration. An array has no wires for that; it passes the value on from PE to PE.
//!
//! **Terms.** The *map* of a read: its producer's iteration, over the reader's coordinates. A *null direction* of the
//! map: a vector `r` along which the same instance is read, at `n` and at `n - r`. A *carrier*: a read of the same
//! value at `n - r`.
//!
//! **Example.** In LU, `A[i][j] -= A[i][k] * A[k][j]` reads the pivot row `A[k][j]`, the value of iteration (k-1, k,
//! j), at distance (1, i-k, 0), in (k, i, j). The map does not depend on `i`, so (0, 1, 0) is a null direction:
//!
//! ```text
//! producer (k-1,k,j) --(1,1,0)--> (k,k+1,j) --(0,1,0)--> (k,k+2,j) --(0,1,0)--> (k,k+3,j) ...
//!                                 Feed::Value            Feed::Carry            Feed::Carry
//! ```
//!
//! **Method**, for each part of a read's domain:
//! 1. Take a distance that is constant.
//! 2. Let a sum in any order refer to its partial result, at a distance over the sizes.
//! 3. Carry the value along a small null direction from a carrier; uniformize the rest of the domain, which lies next
//!    to the producer, in the same way.
//! 4. Cut a loop of two iterations in two.
//! 5. Cut a few iterations at an edge one by one.
//!
//! **Invariant.** The pieces are disjoint, cover the domain, and their distances are forward ([`is_forward`]).
//!
//! **Source.** Quinton, Van Dongen, "The Mapping of Linear Recurrence Equations on Regular Arrays" (1989), section 3.

use crate::affine::map::{
    constant_on, coordinate, fixed, lexicographically_positive, lexicographically_positive_on, minus, shifted,
};
use crate::recurrence::builder::{is_early, Builder};
use crate::system::{Feed, Piece};
use scop::flow;
use scop::flow::Source;
use scop::{Affine, Constraint, StmtId};

/// The most iterations at an edge with a distance of their own: each is a delay and an operand of a select.
const EDGE: i64 = 16;

/// A read of a value that one statement wrote.
pub(super) struct Read<'a> {
    pub statement: usize,
    pub read: usize,
    pub producer: StmtId,
    /// The producer's iterators over the reader's.
    pub iteration: &'a [Affine],
}

/// A read of the same producer, on a domain; `map`: the instance of the producer that wrote the value.
struct Carrier {
    statement: usize,
    read: usize,
    domain: Vec<Constraint>,
    map: Vec<Affine>,
}

/// `here(n) - there(n - r)`, iterator by iterator.
fn differences<'a>(here: &'a [Affine], there: &'a [Affine], r: &'a [i64]) -> impl Iterator<Item = Affine> + 'a {
    here.iter().zip(there).map(move |(a, b)| {
        let back: i64 = b.coeffs.iter().zip(r).map(|(c, x)| c * x).sum();
        minus(a, &Affine { coeffs: b.coeffs.clone(), constant: b.constant - back })
    })
}

/// `here(n)` and `there(n - r)` are one producer's instance everywhere on `domain`.
fn same_on(here: &[Affine], there: &[Affine], r: &[i64], domain: &[Constraint]) -> bool {
    differences(here, there, r).all(|difference| constant_on(&difference, domain) == Some(0))
}

/// `here(n)` and `there(n - r)` are different instances at every `n`, as their coefficients show.
fn differ(here: &[Affine], there: &[Affine], r: &[i64]) -> bool {
    differences(here, there, r).any(|difference| difference.is_constant() && difference.constant != 0)
}

/// The map, and its forms in which an equality of the domain has removed one coordinate: the same function there, with
/// other null directions.
fn equivalent_maps(map: &[Affine], domain: &[Constraint]) -> Vec<Vec<Affine>> {
    let mut all = vec![map.to_vec()];
    for e in domain.iter().filter(|c| c.equality).map(|c| &c.expr) {
        for d in (0..e.coeffs.len()).filter(|&d| e.coeffs[d].abs() == 1) {
            let without = |a: &Affine| {
                let factor = -a.coeffs[d] * e.coeffs[d];
                let coeffs = a.coeffs.iter().zip(&e.coeffs).map(|(x, y)| x + factor * y).collect();
                Affine { coeffs, constant: a.constant + factor * e.constant }
            };
            let other: Vec<Affine> = map.iter().map(without).collect();
            if !all.contains(&other) {
                all.push(other);
            }
        }
    }
    all
}

/// The producer comes before the reader in the order of the iteration space.
pub(super) fn is_forward(distance: &[i64], producer: StmtId, reader: usize) -> bool {
    lexicographically_positive(distance) || (distance.iter().all(|&x| x == 0) && producer.index() < reader)
}

pub(super) fn piece(domain: &[Constraint], feed: Feed) -> Piece {
    Piece { domain: domain.to_vec(), when: vec![], feed }
}

impl Builder<'_> {
    /// The producer's iteration over the reader's coordinates.
    pub(super) fn producer_map(&self, read: &Read) -> Vec<Affine> {
        read.iteration.iter().map(|a| self.over_coordinates(read.statement, a)).collect()
    }

    /// The pieces of a part of a read's domain, `level` parts deep; `None` if it is not uniform.
    pub(super) fn uniformize(&self, read: &Read, domain: &[Constraint], level: usize) -> Option<Vec<Piece>> {
        let map = self.producer_map(read);
        let distance = self.distance(&map, read.producer);
        if let Some(constant) = distance.iter().map(|a| constant_on(a, domain)).collect::<Option<Vec<i64>>>() {
            if is_forward(&constant, read.producer, read.statement) {
                return Some(vec![piece(domain, Feed::Value { statement: read.producer, distance: constant })]);
            }
            return None;
        }
        if let Some(partial) = self.partial(read, domain, &distance) {
            return Some(vec![piece(domain, partial)]);
        }
        if level == 0 {
            self.effort.begin_read();
        }
        if level >= 3
            || self.effort.is_over()
            || self.effort.is_read_over()
            || is_early(distance.iter(), |a| constant_on(a, domain) == Some(0), |a| flow::minimum(domain, a))
        {
            return None;
        }
        let carriers = self.carriers(read);
        let carried = equivalent_maps(&map, domain).iter().find_map(|map| {
            let directions = self.null_directions(map, &self.distance(map, read.producer));
            directions.into_iter().find_map(|r| self.carry(read, domain, map, &carriers, r, level))
        });
        carried
            .or_else(|| self.split_pair(read, domain, level))
            .or_else(|| self.split_edge(read, domain, &distance, level))
    }

    /// The partial result of a sum in any order, if its distance follows from the sizes.
    fn partial(&self, read: &Read, domain: &[Constraint], distance: &[Affine]) -> Option<Feed> {
        let (s, sizes) = (read.statement, self.within.sizes);
        if self.sums[s] != Some(read.read) || read.producer.index() != s {
            return None;
        }
        let of_sizes = |a: &Affine| {
            if let Some(constant) = constant_on(a, domain) {
                return Some(Affine::constant(self.depth, constant));
            }
            let mut a = a.clone();
            for d in (sizes..self.depth).filter(|&d| a.coeffs[d] != 0).collect::<Vec<_>>() {
                a.constant += a.coeffs[d] * constant_on(&coordinate(d, self.depth), domain)?;
                a.coeffs[d] = 0;
            }
            Some(a)
        };
        let distance: Vec<Affine> = distance.iter().map(of_sizes).collect::<Option<_>>()?;
        lexicographically_positive_on(&distance, domain).then_some(Feed::Partial { distance })
    }

    /// Cuts the edge of a domain, such as the first window over another nest's results, into single iterations with
    /// constant distances.
    fn split_edge(&self, read: &Read, domain: &[Constraint], distance: &[Affine], level: usize) -> Option<Vec<Piece>> {
        let [reader, producer] = [read.statement, read.producer.index()].map(|s| &self.scop.statements[s].loops);
        if level == 0 || reader.first() == producer.first() {
            return None;
        }
        let varies = |a: &&Affine| constant_on(a, domain).is_none();
        let moving: Vec<&Affine> = distance.iter().filter(varies).collect();
        let mut parts = vec![domain.to_vec()];
        for d in (0..self.depth).filter(|&d| moving.iter().any(|a| a.coeffs[d] != 0)) {
            let unit = coordinate(d, self.depth);
            let (lo, hi) = (flow::minimum(domain, &unit)?, flow::maximum(domain, &unit)?);
            if (hi - lo + 1).checked_mul(parts.len() as i64)? > EDGE {
                return None;
            }
            parts = parts
                .iter()
                .flat_map(|part| {
                    (lo..=hi).map(move |value| part.iter().cloned().chain([fixed(d, value, self.depth)]).collect())
                })
                .collect();
        }
        parts.retain(|part| !flow::is_empty(part, self.depth));
        let near = |part: Vec<Constraint>| {
            let constant: Vec<i64> = distance.iter().map(|a| constant_on(a, &part)).collect::<Option<_>>()?;
            is_forward(&constant, read.producer, read.statement)
                .then(|| piece(&part, Feed::Value { statement: read.producer, distance: constant }))
        };
        parts.into_iter().map(near).collect()
    }

    /// Cuts a loop of two iterations in two: one affine function describes both by chance.
    fn split_pair(&self, read: &Read, domain: &[Constraint], level: usize) -> Option<Vec<Piece>> {
        (0..self.depth).find_map(|d| {
            let unit = coordinate(d, self.depth);
            let (lo, hi) = (flow::minimum(domain, &unit)?, flow::maximum(domain, &unit)?);
            if hi != lo + 1 {
                return None;
            }
            let mut pieces = Vec::new();
            for value in [lo, hi] {
                let part: Vec<Constraint> = domain.iter().cloned().chain([fixed(d, value, self.depth)]).collect();
                pieces.extend(self.uniformize(read, &part, level + 1)?);
            }
            Some(pieces)
        })
    }

    /// Carries the value along `r` from reads of the same value; the rest of the domain must be near its producer.
    fn carry(
        &self,
        read: &Read,
        domain: &[Constraint],
        map: &[Affine],
        carriers: &[Carrier],
        r: Vec<i64>,
        level: usize,
    ) -> Option<Vec<Piece>> {
        let mut left = vec![domain.to_vec()];
        let mut pieces = Vec::new();
        let itself = Carrier { statement: read.statement, read: read.read, domain: domain.to_vec(), map: map.to_vec() };
        for carrier in [&itself].into_iter().chain(carriers).filter(|c| !differ(map, &c.map, &r)) {
            let reach = shifted(&carrier.domain, &r);
            let mut rest = Vec::new();
            for part in left {
                let joint: Vec<Constraint> = part.iter().cloned().chain(reach.iter().cloned()).collect();
                if flow::is_empty(&joint, self.depth) || !same_on(map, &carrier.map, &r, &joint) {
                    rest.push(part);
                    continue;
                }
                rest.extend(flow::subtract(&part, &reach, self.depth));
                pieces.push(piece(
                    &joint,
                    Feed::Carry {
                        statement: StmtId(carrier.statement as u32),
                        read: carrier.read,
                        distance: r.clone(),
                    },
                ));
            }
            left = rest;
        }
        if pieces.is_empty() {
            return None;
        }
        for part in left {
            pieces.extend(self.uniformize(read, &part, level + 1)?);
        }
        Some(pieces)
    }

    /// Other reads of values that the same statement wrote.
    fn carriers(&self, read: &Read) -> Vec<Carrier> {
        let mut all = Vec::new();
        for (s, reads) in self.flow.reads.iter().enumerate() {
            for (k, pieces) in reads.iter().enumerate() {
                for p in pieces {
                    let Source::Write { statement, iteration } = &p.source else { continue };
                    let other = Read { statement: s, read: k, producer: *statement, iteration };
                    if *statement == read.producer && (s, k) != (read.statement, read.read) {
                        all.push(Carrier {
                            statement: s,
                            read: k,
                            domain: self.placed_domain(s, &p.domain),
                            map: self.producer_map(&other),
                        });
                    }
                }
            }
        }
        all
    }

    /// Small lexicographically positive vectors along which the producer stays the same and the distance changes. In
    /// deep nests only those along one or two dimensions: there are hundreds of others, and each is asked about.
    pub(super) fn null_directions(&self, map: &[Affine], distance: &[Affine]) -> Vec<Vec<i64>> {
        let dot = |a: &Affine, r: &[i64]| a.coeffs.iter().zip(r).map(|(x, y)| x * y).sum::<i64>();
        let carries = |r: &Vec<i64>| {
            lexicographically_positive(r)
                && map.iter().all(|a| dot(a, r) == 0)
                && distance.iter().any(|a| dot(a, r) != 0)
        };
        let mut all: Vec<Vec<i64>> = small_vectors(self.depth).into_iter().filter(carries).collect();
        all.sort_by_key(|r| (r.iter().map(|x| x.abs()).sum::<i64>(), r.iter().map(|x| -x).collect::<Vec<_>>()));
        all
    }
}

/// Vectors of -1, 0 and 1; beyond four dimensions those with one or two entries that are not 0.
fn small_vectors(depth: usize) -> Vec<Vec<i64>> {
    let units = |d: usize, r: &[i64]| [-1, 0, 1].map(|x| [&r[..d], &[x], &r[d + 1..]].concat());
    if depth <= 4 {
        return (0..depth).fold(vec![vec![0; depth]], |all, d| all.iter().flat_map(|r| units(d, r)).collect());
    }
    let pairs = (0..depth).flat_map(|a| (a + 1..depth).map(move |b| (a, b)));
    let zero = vec![0; depth];
    let mut all: Vec<Vec<i64>> = pairs
        .flat_map(|(a, b)| units(a, &zero).into_iter().flat_map(move |r| units(b, &r)).collect::<Vec<_>>())
        .collect();
    all.sort();
    all.dedup();
    all
}
