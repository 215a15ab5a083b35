//! `System`: the program as a system of uniform recurrence equations over one common iteration space, the *band space*.
//!
//! - Loops at the same depth share a band dimension; a statement nested less deeply than the deepest one is *placed*
//!   in the dimensions it lacks (an initialization at the first iteration, a division at the pivot, …) such that its
//!   dependences become uniform.
//! - Every read of a statement is a *variable*. Where it reads what was in DRAM before, it is an input; where it reads
//!   a value produced a constant distance away, it is linked to that statement; where one produced value is read by
//!   many iterations (a broadcast, such as LU's pivot row), it is carried along a null direction of the producer's
//!   index map from the iteration next to the producer ("localization").
//!
//! Invariants: the pieces of a variable are disjoint and cover its statement's domain; every distance is constant and
//! lexicographically positive, or zero with the producer earlier in the text.
//!
//! Source: DESIGN of the theory by Karp, Miller, Winograd; localization as in Quinton / Rajopadhye, "uniformization".

use frontend::diag::{Diagnostic, Diagnostics};
use frontend::flow::{self, Flow, Source};
use frontend::scop::{Affine, Constraint, Scop, Statement, StmtId};

/// One dimension of the band space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    pub name: String,
    /// Least and greatest coordinate over all statements.
    pub lo: i64,
    pub hi: i64,
}

/// Where a variable gets its value on one part of the band space.
#[derive(Clone, Debug, PartialEq)]
pub enum Feed {
    /// The element of the read's array at these subscripts (over band coordinates), as it was before the region ran.
    Input { subscripts: Vec<Affine> },
    /// What `statement` stored at `n - distance`.
    Value { statement: StmtId, distance: Vec<i64> },
    /// What another read (or this one) has, at `n - distance`: the same value.
    Carry { statement: StmtId, read: usize, distance: Vec<i64> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Conjunction over band coordinates.
    pub domain: Vec<Constraint>,
    /// The same within the statement's domain, without what that implies.
    pub when: Vec<Constraint>,
    pub feed: Feed,
}

/// A read of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Band dimension of each of the statement's iterators.
    pub dims: Vec<usize>,
    /// Every band coordinate as an affine function of the statement's iterators.
    pub place: Vec<Affine>,
    /// Domain over band coordinates.
    pub domain: Vec<Vec<Constraint>>,
    pub variables: Vec<Variable>,
    /// Instances whose value stays in DRAM at the end, over band coordinates.
    pub live_out: Vec<Vec<Constraint>>,
    /// The same, without what follows from the written cell being inside the array.
    pub emit_when: Vec<Vec<Constraint>>,
    /// The written array's subscripts over band coordinates.
    pub write: Vec<Affine>,
    /// The cells that stay in DRAM, over the array's subscripts; `None` if they are not a convex set.
    pub cells: Option<Vec<Constraint>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct System {
    pub dims: Vec<Dim>,
    pub statements: Vec<Placed>,
}

impl System {
    /// Every distance between a value's producer and its reader: `(producer, reader, read, distance, carried)`.
    pub fn dependences(&self) -> Vec<Dependence> {
        let mut found = Vec::new();
        for (s, placed) in self.statements.iter().enumerate() {
            for (k, variable) in placed.variables.iter().enumerate() {
                for piece in &variable.pieces {
                    let (from, distance, carried) = match &piece.feed {
                        Feed::Value { statement, distance } => (*statement, distance.clone(), false),
                        Feed::Carry { statement, distance, .. } => (*statement, distance.clone(), true),
                        Feed::Input { .. } => continue,
                    };
                    let dependence = Dependence { from, to: StmtId(s as u32), read: k, distance, carried };
                    if !found.contains(&dependence) {
                        found.push(dependence);
                    }
                }
            }
        }
        found
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependence {
    pub from: StmtId,
    pub to: StmtId,
    pub read: usize,
    pub distance: Vec<i64>,
    /// Carries a value read, not one just produced.
    pub carried: bool,
}

/// An affine function of iterators as one of band coordinates: iterator `k` is coordinate `dims[k]`.
pub fn lift(affine: &Affine, dims: &[usize], depth: usize) -> Affine {
    let mut out = Affine::constant(depth, affine.constant);
    for (c, &d) in affine.coeffs.iter().zip(dims) {
        out.coeffs[d] += c;
    }
    out
}

/// `a - b`.
fn minus(a: &Affine, b: &Affine) -> Affine {
    Affine { coeffs: a.coeffs.iter().zip(&b.coeffs).map(|(x, y)| x - y).collect(), constant: a.constant - b.constant }
}

/// `f(g(·))`: `f` over the coordinates that `g` computes.
fn compose(f: &Affine, g: &[Affine], depth: usize) -> Affine {
    let mut out = Affine::constant(depth, f.constant);
    for (c, inner) in f.coeffs.iter().zip(g) {
        out.constant += c * inner.constant;
        for (o, x) in out.coeffs.iter_mut().zip(&inner.coeffs) {
            *o += c * x;
        }
    }
    out
}

/// The constraints hold at `n - shift`.
fn shifted(conjunction: &[Constraint], shift: &[i64]) -> Vec<Constraint> {
    let back = |c: &Constraint| {
        let moved: i64 = c.expr.coeffs.iter().zip(shift).map(|(a, s)| a * s).sum();
        Constraint { expr: Affine { coeffs: c.expr.coeffs.clone(), constant: c.expr.constant - moved }, equality: c.equality }
    };
    conjunction.iter().map(back).collect()
}

fn lexicographically_positive(v: &[i64]) -> bool {
    v.iter().find(|&&x| x != 0).is_some_and(|&x| x > 0)
}

/// Where a statement stands: the band dimension of each iterator, and every band coordinate over its iterators.
#[derive(Clone, Debug, PartialEq)]
struct Placement {
    dims: Vec<usize>,
    place: Vec<Affine>,
}

struct Builder<'a> {
    scop: &'a Scop,
    flow: &'a Flow,
    depth: usize,
    /// Current placement per statement.
    at: Vec<Placement>,
}

/// # Errors
/// Names every read whose dependence cannot be made uniform.
pub fn build(scop: &Scop, flow: &Flow) -> Result<System, Diagnostics> {
    let depth = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0);
    let mut builder = Builder { scop, flow, depth, at: Vec::new() };
    builder.at = scop.statements.iter().map(|s| builder.candidates(s).remove(0)).collect();
    builder.choose_places();
    builder.finish()
}

/// A read of a value that one statement wrote.
struct Read<'a> {
    statement: usize,
    read: usize,
    producer: StmtId,
    /// The producer's iterators over the reader's.
    iteration: &'a [Affine],
}

/// A read that has a value already: where, and which instance of the producer wrote it.
struct Carrier {
    statement: usize,
    read: usize,
    domain: Vec<Constraint>,
    map: Vec<Affine>,
}

/// `mine(n)` and `other(n - r)` are one producer's instance everywhere on `domain`.
fn same_on(mine: &[Affine], other: &[Affine], r: &[i64], domain: &[Constraint]) -> bool {
    mine.iter().zip(other).all(|(a, b)| {
        let back: i64 = b.coeffs.iter().zip(r).map(|(c, x)| c * x).sum();
        let difference = minus(a, &Affine { coeffs: b.coeffs.clone(), constant: b.constant - back });
        constant_on(&difference, domain) == Some(0)
    })
}

fn piece(domain: &[Constraint], feed: Feed) -> Piece {
    Piece { domain: domain.to_vec(), when: vec![], feed }
}

impl Builder<'_> {
    /// Placements of a statement: its iterators on an increasing choice of dimensions, then for every dimension it
    /// lacks the bounds of that dimension or one of its own iterators (and its neighbours).
    fn candidates(&self, statement: &Statement) -> Vec<Placement> {
        let own = statement.loops.len();
        let mut all = Vec::new();
        for bits in 0u32..1 << self.depth {
            if bits.count_ones() as usize != own {
                continue;
            }
            let dims: Vec<usize> = (0..self.depth).filter(|d| bits >> d & 1 == 1).collect();
            all.extend(self.places_on(&dims).into_iter().map(|place| Placement { dims: dims.clone(), place }));
        }
        // The outermost dimensions first: loops at one depth belong together unless something speaks against it.
        all.sort_by_key(|p| p.dims.clone());
        all
    }

    fn places_on(&self, dims: &[usize]) -> Vec<Vec<Affine>> {
        let own = dims.len();
        let unit = |k: usize, constant: i64| {
            let mut a = Affine::constant(own, constant);
            a.coeffs[k] = 1;
            a
        };
        let mut all: Vec<Vec<Affine>> = vec![vec![]];
        for d in 0..self.depth {
            let mut options = Vec::new();
            if let Some(k) = dims.iter().position(|&x| x == d) {
                options.push(unit(k, 0));
            } else {
                for (lo, hi) in self.bounds_of(d) {
                    options.extend([lo, hi, lo - 1].map(|c| Affine::constant(own, c)));
                }
                for k in (0..own).rev() {
                    options.extend([0, -1, 1].map(|c| unit(k, c)));
                }
            }
            all = all.iter().flat_map(|head| options.iter().map(move |o| head.iter().cloned().chain([o.clone()]).collect())).collect();
        }
        all
    }

    fn over_band(&self, s: usize, affine: &Affine) -> Affine {
        lift(affine, &self.at[s].dims, self.depth)
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

    /// Coordinate descent over the statements that have a choice.
    fn choose_places(&mut self) {
        for _round in 0..3 {
            let mut changed = false;
            for s in 0..self.scop.statements.len() {
                let candidates = self.candidates(&self.scop.statements[s]);
                if candidates.len() == 1 {
                    continue;
                }
                let before = self.at[s].clone();
                let mut best = (self.score(s, i64::MAX), before.clone());
                for candidate in candidates {
                    self.at[s] = candidate;
                    let score = self.score(s, best.0);
                    if score < best.0 {
                        best = (score, self.at[s].clone());
                    }
                }
                changed |= best.1 != before;
                self.at[s] = best.1;
            }
            if !changed {
                return;
            }
        }
    }

    /// Badness of all reads that touch statement `s`; gives up beyond `limit`.
    fn score(&self, s: usize, limit: i64) -> i64 {
        // Dimensions that loops at other depths share are a little worse than the outermost ones.
        let mut total: i64 = self.at[s].dims.iter().enumerate().map(|(k, &d)| (d - k) as i64).sum();
        for (reader, reads) in self.flow.reads.iter().enumerate() {
            for (k, pieces) in reads.iter().enumerate() {
                for piece in pieces {
                    let Source::Write { statement, iteration } = &piece.source else { continue };
                    if (reader != s && statement.index() != s) || total >= limit {
                        continue;
                    }
                    let domain = self.band_domain(reader, &piece.domain);
                    let read = Read { statement: reader, read: k, producer: *statement, iteration };
                    total += match self.localize(&read, &domain, 0) {
                        None => 1000,
                        Some(pieces) => pieces.iter().map(|p| cost_of(&p.feed)).sum::<i64>() + 20 * (pieces.len() as i64 - 1),
                    };
                }
            }
        }
        total
    }

    fn band_domain(&self, s: usize, domain: &[Constraint]) -> Vec<Constraint> {
        let mut out: Vec<Constraint> = domain.iter().map(|c| Constraint { expr: self.over_band(s, &c.expr), equality: c.equality }).collect();
        for d in (0..self.depth).filter(|d| !self.at[s].dims.contains(d)) {
            let mut expr = self.over_band(s, &self.at[s].place[d]);
            expr.coeffs[d] -= 1;
            out.push(Constraint { expr, equality: true });
        }
        out
    }

    /// The producer's iteration over the reader's band coordinates.
    fn producer_map(&self, read: &Read) -> Vec<Affine> {
        read.iteration.iter().map(|a| self.over_band(read.statement, a)).collect()
    }

    fn distance(&self, map: &[Affine], producer: StmtId) -> Vec<Affine> {
        let place = &self.at[producer.index()].place;
        let along = |d: usize| {
            let mut here = Affine::constant(self.depth, 0);
            here.coeffs[d] = 1;
            minus(&here, &compose(&place[d], map, self.depth))
        };
        (0..self.depth).map(along).collect()
    }

    /// Pieces that cover `domain`, whose value all comes from one producer's write; `None` if not uniform.
    fn localize(&self, read: &Read, domain: &[Constraint], level: usize) -> Option<Vec<Piece>> {
        let map = self.producer_map(read);
        let distance = self.distance(&map, read.producer);
        if let Some(constant) = distance.iter().map(|a| constant_on(a, domain)).collect::<Option<Vec<i64>>>() {
            let zero = constant.iter().all(|&x| x == 0);
            if lexicographically_positive(&constant) || (zero && read.producer.index() < read.statement) {
                return Some(vec![piece(domain, Feed::Value { statement: read.producer, distance: constant })]);
            }
            return None;
        }
        if level >= 3 {
            return None;
        }
        let carriers = self.carriers(read);
        let carried = self.null_directions(&map, &distance).into_iter().find_map(|r| self.carry(read, domain, &map, &carriers, r, level));
        carried.or_else(|| self.split_pair(read, domain, level))
    }

    /// Two cases that one affine function happens to describe, because a loop runs only twice: one by one.
    fn split_pair(&self, read: &Read, domain: &[Constraint], level: usize) -> Option<Vec<Piece>> {
        (0..self.depth).find_map(|d| {
            let mut unit = Affine::constant(self.depth, 0);
            unit.coeffs[d] = 1;
            let (lo, hi) = (flow::minimum(domain, &unit)?, flow::maximum(domain, &unit)?);
            if hi != lo + 1 {
                return None;
            }
            let mut pieces = Vec::new();
            for value in [lo, hi] {
                let fixed = Constraint { expr: Affine { constant: -value, ..unit.clone() }, equality: true };
                let part: Vec<Constraint> = domain.iter().cloned().chain([fixed]).collect();
                pieces.extend(self.localize(read, &part, level + 1)?);
            }
            Some(pieces)
        })
    }

    /// Carries the value along `r` from reads of the same value; what is left must be near its producer.
    fn carry(&self, read: &Read, domain: &[Constraint], map: &[Affine], carriers: &[Carrier], r: Vec<i64>, level: usize) -> Option<Vec<Piece>> {
        let mut left = vec![domain.to_vec()];
        let mut pieces = Vec::new();
        let own = Carrier { statement: read.statement, read: read.read, domain: domain.to_vec(), map: map.to_vec() };
        for carrier in [&own].into_iter().chain(carriers) {
            let reach = shifted(&carrier.domain, &r);
            let mut rest = Vec::new();
            for part in left {
                let joint: Vec<Constraint> = part.iter().cloned().chain(reach.iter().cloned()).collect();
                if flow::is_empty(&joint, self.depth) || !same_on(map, &carrier.map, &r, &joint) {
                    rest.push(part);
                    continue;
                }
                rest.extend(flow::subtract(&part, &reach, self.depth));
                pieces.push(piece(&joint, Feed::Carry { statement: StmtId(carrier.statement as u32), read: carrier.read, distance: r.clone() }));
            }
            left = rest;
        }
        if pieces.is_empty() {
            return None;
        }
        for part in left {
            pieces.extend(self.localize(read, &part, level + 1)?);
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
                        all.push(Carrier { statement: s, read: k, domain: self.band_domain(s, &p.domain), map: self.producer_map(&other) });
                    }
                }
            }
        }
        all
    }

    /// Small lexicographically positive vectors along which the producer stays the same and the distance changes.
    fn null_directions(&self, map: &[Affine], distance: &[Affine]) -> Vec<Vec<i64>> {
        let dot = |a: &Affine, r: &[i64]| a.coeffs.iter().zip(r).map(|(x, y)| x * y).sum::<i64>();
        let mut all = Vec::new();
        let mut r = vec![-1i64; self.depth];
        loop {
            if lexicographically_positive(&r) && map.iter().all(|a| dot(a, &r) == 0) && distance.iter().any(|a| dot(a, &r) != 0) {
                all.push(r.clone());
            }
            let Some(d) = (0..self.depth).rev().find(|&d| r[d] < 1) else { break };
            r[d] += 1;
            r[d + 1..].fill(-1);
        }
        all.sort_by_key(|r| (r.iter().map(|x| x.abs()).sum::<i64>(), r.iter().map(|x| -x).collect::<Vec<_>>()));
        all
    }

    fn finish(self) -> Result<System, Diagnostics> {
        let mut faults = Vec::new();
        let mut statements = Vec::new();
        for (s, statement) in self.scop.statements.iter().enumerate() {
            let over_band = |domain: &[Vec<Constraint>]| domain.iter().map(|c| self.band_domain(s, c)).collect::<Vec<_>>();
            let domain = over_band(&statement.domain);
            let variables = (0..statement.reads.len()).map(|k| self.variable(s, k, &domain, &mut faults)).collect();
            let live: Vec<_> = self.flow.live_out.iter().filter(|l| l.statement.index() == s).flat_map(|l| over_band(&l.domain)).collect();
            let write: Vec<Affine> = statement.write.subscripts.iter().map(|a| self.over_band(s, a)).collect();
            let inside = in_bounds(&write, &self.scop.array(statement.write.array).dims);
            let emit_when = live.iter().map(|c| flow::simplify(c, &inside, self.depth)).collect();
            let region = flow::image(&live, &write, self.depth);
            let cells = region.is_convex().then(|| region.pieces.into_iter().next().unwrap_or_default());
            let Placement { dims, place } = self.at[s].clone();
            statements.push(Placed { dims, place, domain, variables, live_out: live, emit_when, write, cells });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let names = self.dim_names();
        let union: Vec<Vec<Constraint>> = statements.iter().flat_map(|p: &Placed| p.domain.clone()).collect();
        let bounds = flow::domain_bounds(&union, self.depth).unwrap_or_else(|| vec![(0, 0); self.depth]);
        let dims = names.into_iter().zip(bounds).map(|(name, (lo, hi))| Dim { name, lo, hi }).collect();
        Ok(System { dims, statements })
    }

    fn variable(&self, s: usize, k: usize, domain: &[Vec<Constraint>], faults: &mut Diagnostics) -> Variable {
        let statement = &self.scop.statements[s];
        let mut pieces = Vec::new();
        for source in &self.flow.reads[s][k] {
            let here = self.band_domain(s, &source.domain);
            match &source.source {
                Source::Write { statement: producer, iteration } => {
                    match self.localize(&Read { statement: s, read: k, producer: *producer, iteration }, &here, 0) {
                        Some(found) => pieces.extend(found),
                        None => faults.push(self.not_uniform(s, k, *producer)),
                    }
                }
                Source::Input | Source::Undefined => {
                    let over: Vec<Affine> = statement.reads[k].subscripts.iter().map(|a| self.over_band(s, a)).collect();
                    pieces.push(piece(&here, Feed::Input { subscripts: with_equalities(&over, &here, self.depth) }));
                }
            }
        }
        let context: &[Constraint] = if let [one] = domain { one } else { &[] };
        for p in &mut pieces {
            p.when = flow::simplify(&p.domain, context, self.depth);
        }
        Variable { pieces }
    }

    fn not_uniform(&self, s: usize, k: usize, producer: StmtId) -> Diagnostic {
        let read = &self.scop.statements[s].reads[k];
        let name = &self.scop.array(read.array).name;
        Diagnostic::error("E0601", read.span, format!("the dependence on `{name}` cannot be made uniform"))
            .label("this reads a value whose distance from its producer changes, and no direction carries it")
            .note(self.scop.statement(producer).span, "produced here")
            .help("write the value into an array that is passed from iteration to iteration, or split the region into two")
    }

    fn dim_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for d in 0..self.depth {
            let mut here: Vec<&str> = Vec::new();
            for statement in &self.scop.statements {
                let at = &self.at[self.scop.statements.iter().position(|x| std::ptr::eq(x, statement)).expect("one of them")];
                if let Some(l) = at.dims.iter().position(|&x| x == d).map(|k| statement.loops[k]) {
                    let name = self.scop.loops[l.index()].name.as_str();
                    if !here.contains(&name) {
                        here.push(name);
                    }
                }
            }
            let base = here.join("_");
            let twins = names.iter().filter(|n| n.split('.').next() == Some(&base)).count();
            names.push(if twins == 0 { base } else { format!("{base}.{}", twins + 1) });
        }
        names
    }
}

/// The cell lies inside the array.
fn in_bounds(write: &[Affine], dims: &[i64]) -> Vec<Constraint> {
    let mut all = Vec::new();
    for (subscript, extent) in write.iter().zip(dims) {
        let upper = Affine { coeffs: subscript.coeffs.iter().map(|c| -c).collect(), constant: extent - 1 - subscript.constant };
        all.push(Constraint { expr: subscript.clone(), equality: false });
        all.push(Constraint { expr: upper, equality: false });
    }
    all
}

/// Replaces coordinates that the domain fixes, so that the access does not seem to move along them.
fn with_equalities(subscripts: &[Affine], domain: &[Constraint], depth: usize) -> Vec<Affine> {
    let mut out = subscripts.to_vec();
    for d in (0..depth).filter(|&d| subscripts.iter().any(|a| a.coeffs[d] != 0)) {
        let mut unit = Affine::constant(depth, 0);
        unit.coeffs[d] = 1;
        if let Some(value) = constant_on(&unit, domain) {
            for a in &mut out {
                a.constant += a.coeffs[d] * value;
                a.coeffs[d] = 0;
            }
        }
    }
    out
}

fn cost_of(feed: &Feed) -> i64 {
    match feed {
        Feed::Value { distance, .. } => distance.iter().map(|x| x.abs().min(50)).sum(),
        Feed::Carry { .. } => 1,
        Feed::Input { .. } => 0,
    }
}

/// The value of `a` if it is the same everywhere on `domain`.
fn constant_on(a: &Affine, domain: &[Constraint]) -> Option<i64> {
    if a.is_constant() {
        return Some(a.constant);
    }
    let lo = flow::minimum(domain, a)?;
    (flow::maximum(domain, a)? == lo).then_some(lo)
}
