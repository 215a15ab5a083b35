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
use frontend::scop::{Affine, Constraint, Expr, Scop, Statement, StmtId};

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
    /// The same variable at `n - distance`.
    Carry { distance: Vec<i64> },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Conjunction over band coordinates.
    pub domain: Vec<Constraint>,
    pub feed: Feed,
}

/// A read of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// Every band coordinate as an affine function of the statement's iterators (the first ones are the iterators).
    pub place: Vec<Affine>,
    /// Domain over band coordinates.
    pub domain: Vec<Vec<Constraint>>,
    pub variables: Vec<Variable>,
    /// Instances whose value stays in DRAM at the end, over band coordinates.
    pub live_out: Vec<Vec<Constraint>>,
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
                        Feed::Carry { distance } => (StmtId(s as u32), distance.clone(), true),
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

/// Over more coordinates: missing coefficients are zero.
pub fn lift(affine: &Affine, depth: usize) -> Affine {
    let mut coeffs = affine.coeffs.clone();
    coeffs.resize(depth, 0);
    Affine { coeffs, constant: affine.constant }
}

pub fn lift_all(conjunction: &[Constraint], depth: usize) -> Vec<Constraint> {
    conjunction.iter().map(|c| Constraint { expr: lift(&c.expr, depth), equality: c.equality }).collect()
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

struct Builder<'a> {
    scop: &'a Scop,
    flow: &'a Flow,
    depth: usize,
    /// Current placement per statement.
    place: Vec<Vec<Affine>>,
}

/// # Errors
/// Names every read whose dependence cannot be made uniform.
pub fn build(scop: &Scop, flow: &Flow) -> Result<System, Diagnostics> {
    let depth = scop.statements.iter().map(|s| s.loops.len()).max().unwrap_or(0);
    let mut builder = Builder { scop, flow, depth, place: Vec::new() };
    builder.place = scop.statements.iter().map(|s| builder.candidates(s).remove(0)).collect();
    builder.choose_places();
    builder.finish()
}

impl Builder<'_> {
    /// Placements of a statement: its own iterators, then for every missing dimension the bounds of that dimension or
    /// one of its own iterators (and its neighbours).
    fn candidates(&self, statement: &Statement) -> Vec<Vec<Affine>> {
        let own = statement.loops.len();
        let unit = |k: usize, constant: i64| {
            let mut a = Affine::constant(own, constant);
            a.coeffs[k] = 1;
            a
        };
        let mut all: Vec<Vec<Affine>> = vec![(0..own).map(|k| unit(k, 0)).collect()];
        for missing in own..self.depth {
            let mut options = Vec::new();
            for (lo, hi) in self.bounds_of(missing) {
                options.push(Affine::constant(own, lo));
                options.push(Affine::constant(own, hi));
            }
            for k in (0..own).rev() {
                options.extend([0, -1, 1].map(|c| unit(k, c)));
            }
            options.dedup();
            all = all.iter().flat_map(|head| options.iter().map(move |o| head.iter().cloned().chain([o.clone()]).collect())).collect();
        }
        all
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
                let before = self.place[s].clone();
                let mut best = (self.score(s), before.clone());
                for candidate in candidates {
                    self.place[s] = candidate;
                    let score = self.score(s);
                    if score < best.0 {
                        best = (score, self.place[s].clone());
                    }
                }
                changed |= best.1 != before;
                self.place[s] = best.1;
            }
            if !changed {
                return;
            }
        }
    }

    /// Badness of all reads that touch statement `s`.
    fn score(&self, s: usize) -> i64 {
        let mut total = 0;
        for (reader, reads) in self.flow.reads.iter().enumerate() {
            for pieces in reads {
                for piece in pieces {
                    let Source::Write { statement, iteration } = &piece.source else { continue };
                    if reader != s && statement.index() != s {
                        continue;
                    }
                    let domain = self.band_domain(reader, &piece.domain);
                    total += match self.localize(reader, &domain, *statement, iteration, 0) {
                        None => 1000,
                        Some(pieces) => pieces.iter().map(|p| cost_of(&p.feed)).sum::<i64>() + 20 * (pieces.len() as i64 - 1),
                    };
                }
            }
        }
        total
    }

    fn band_domain(&self, s: usize, domain: &[Constraint]) -> Vec<Constraint> {
        let mut out = lift_all(domain, self.depth);
        let own = self.scop.statements[s].loops.len();
        for d in own..self.depth {
            let mut expr = lift(&self.place[s][d], self.depth);
            expr.coeffs[d] -= 1;
            out.push(Constraint { expr, equality: true });
        }
        out
    }

    /// Pieces that cover `domain` of `reader`, whose value comes from `producer` at `iteration`; `None` if not uniform.
    fn localize(&self, reader: usize, domain: &[Constraint], producer: StmtId, iteration: &[Affine], level: usize) -> Option<Vec<Piece>> {
        let map: Vec<Affine> = iteration.iter().map(|a| lift(a, self.depth)).collect();
        let place = &self.place[producer.index()];
        let distance: Vec<Affine> = (0..self.depth)
            .map(|d| {
                let mut here = Affine::constant(self.depth, 0);
                here.coeffs[d] = 1;
                minus(&here, &compose(&place[d], &map, self.depth))
            })
            .collect();
        if let Some(constant) = distance.iter().map(|a| constant_on(a, domain)).collect::<Option<Vec<i64>>>() {
            let zero = constant.iter().all(|&x| x == 0);
            if lexicographically_positive(&constant) || (zero && producer.index() < reader) {
                return Some(vec![Piece { domain: domain.to_vec(), feed: Feed::Value { statement: producer, distance: constant } }]);
            }
            return None;
        }
        if level >= 3 {
            return None;
        }
        self.null_directions(&map, &distance).into_iter().find_map(|r| {
            let interior: Vec<Constraint> = domain.iter().cloned().chain(shifted(domain, &r)).collect();
            if flow::is_empty(&interior, self.depth) {
                return None;
            }
            let mut pieces = Vec::new();
            for boundary in flow::subtract(domain, &shifted(domain, &r), self.depth) {
                pieces.extend(self.localize(reader, &boundary, producer, iteration, level + 1)?);
            }
            pieces.push(Piece { domain: interior, feed: Feed::Carry { distance: r } });
            Some(pieces)
        })
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
            let variables = (0..statement.reads.len()).map(|k| self.variable(s, k, &mut faults)).collect();
            let over_band = |domain: &[Vec<Constraint>]| domain.iter().map(|c| self.band_domain(s, c)).collect::<Vec<_>>();
            let live: Vec<_> = self.flow.live_out.iter().filter(|l| l.statement.index() == s).flat_map(|l| over_band(&l.domain)).collect();
            statements.push(Placed { place: self.place[s].clone(), domain: over_band(&statement.domain), variables, live_out: live });
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

    fn variable(&self, s: usize, k: usize, faults: &mut Diagnostics) -> Variable {
        let statement = &self.scop.statements[s];
        let mut pieces = Vec::new();
        for piece in &self.flow.reads[s][k] {
            let domain = self.band_domain(s, &piece.domain);
            match &piece.source {
                Source::Write { statement: producer, iteration } => match self.localize(s, &domain, *producer, iteration, 0) {
                    Some(found) => pieces.extend(found),
                    None => faults.push(self.not_uniform(s, k, *producer)),
                },
                Source::Input | Source::Undefined => {
                    let subscripts = statement.reads[k].subscripts.iter().map(|a| lift(a, self.depth)).collect();
                    pieces.push(Piece { domain, feed: Feed::Input { subscripts } });
                }
            }
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
                if let Some(l) = statement.loops.get(d) {
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

/// Calls `f` on every affine form of an expression's iterators.
pub fn for_each_iter(expr: &Expr, f: &mut impl FnMut(&Affine)) {
    use frontend::scop::ExprKind::*;
    match &expr.kind {
        Iter(a) => f(a),
        Const(_) | Read(_) => {}
        Unary(_, a) | Cast(a) => for_each_iter(a, f),
        Binary(_, a, b) => {
            for_each_iter(a, f);
            for_each_iter(b, f);
        }
        Select(a, b, c) | Fma(a, b, c) => [a, b, c].into_iter().for_each(|e| for_each_iter(e, f)),
    }
}
