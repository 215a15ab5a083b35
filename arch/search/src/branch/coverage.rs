//! How many PEs and lanes each statement reaches, at least.
//!
//! A PE that never executes a statement may lack its operators, so a lower bound on resources multiplies an operator
//! only by the PEs that its statement reaches. The bound is the better of two: the statement's iterations divided by
//! what one PE takes at most, and, if the space loops do not constrain one another in its domain, the places that its
//! coordinates cover. If a whole tile of the space loops lies in the domain, every PE is reached.
//!
//! Example: `for i in 0..64, for j in 0..=i` on 8×8 PEs with tiles of 8×8: the last tile along `i` and the first along
//! `j` (56..64 and 0..8) is whole, so all 64 PEs execute the statement.

use crate::facts::Facts;
use crate::space::{parts, Grid, Shape};
use crate::tuning;
use array::kernel::Kernel;
use scop::flow;
use scop::{Constraint, ExprKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use uniform::program::count;
use uniform::system::System;

pub(super) struct Coverage<'a> {
    system: &'a System,
    /// `None` for statements that compute nothing.
    domains: Vec<Option<Domain>>,
    /// Statements that grids were compared with so far.
    compared: AtomicU64,
}

/// Per statement, a number of PEs or lanes; `None` if it computes nothing.
pub(super) type Reached = Vec<Option<i64>>;

/// Where a statement is executed, in the program's dimensions.
struct Domain {
    iterations: i64,
    /// Least and greatest coordinates, if each takes all values between.
    spans: Option<Vec<(i64, i64)>>,
    /// Per coordinate: equal numbers constrain one another.
    coupled: Vec<usize>,
    /// The domain's projection onto each pair of coupled coordinates, the outer one first.
    pairs: BTreeMap<[usize; 2], Vec<Constraint>>,
}

impl Domain {
    fn new(domain: &[Vec<Constraint>], depth: usize) -> Domain {
        let mut coupled: Vec<usize> = (0..depth).collect();
        for c in domain.iter().flatten() {
            let together: Vec<usize> = (0..depth).filter(|&d| c.expr.coeffs[d] != 0).map(|d| coupled[d]).collect();
            coupled.iter_mut().filter(|b| together.contains(b)).for_each(|b| *b = together[0]);
        }
        let plain = domain.len() == 1 && domain.iter().flatten().all(|c| c.expr.coeffs.iter().all(|x| x.abs() <= 1));
        let spans = flow::domain_bounds(domain, depth).filter(|_| plain);
        let pairs = (0..depth)
            .flat_map(|d| (d + 1..depth).map(move |e| [d, e]))
            .filter(|p| plain && depth <= tuning::LOOPS_PROJECTED && coupled[p[0]] == coupled[p[1]]);
        let onto = |pair: [usize; 2]| {
            let others: Vec<usize> = (0..depth).filter(|d| !pair.contains(d)).collect();
            let over = flow::projection(&domain[0], &others, depth);
            over.is_convex().then(|| Some((pair, over.pieces.into_iter().next()?)))?
        };
        let pairs = pairs.filter_map(onto).collect();
        Domain { iterations: count(domain, depth), spans, coupled, pairs }
    }

    /// A whole tile of the space loops lies in the domain: the first one or the last one along each of them.
    fn has_tile(&self, facts: &Facts, shape: &Shape) -> bool {
        let mut axes: Vec<(usize, i64)> = vec![];
        for a in (0..2).filter(|&a| shape.grid.pes[a] > 1) {
            let t = shape.grid.flow.axes[a] as usize;
            let Some(d) = facts.alone(t).filter(|&d| facts.transform[t][d] == 1) else { return false };
            axes.push((d, shape.grid.grain(t) * i64::from(shape.inner[t])));
        }
        axes.sort_unstable();
        let (Some(spans), &[(d, n), (e, m)]) = (&self.spans, &axes[..]) else { return false };
        let Some(domain) = self.pairs.get(&[d, e]) else { return false };
        let begins = |d: usize, n: i64| [spans[d].0, spans[d].0 + ((spans[d].1 - spans[d].0 + 1) / n - 1).max(0) * n];
        let inside = |x: i64, y: i64| domain.iter().all(|c| c.holds(&[x, y]));
        let whole = |x: i64, y: i64| {
            [(0, 0), (n - 1, 0), (0, m - 1), (n - 1, m - 1)].iter().all(|(dx, dy)| inside(x + dx, y + dy))
        };
        begins(d, n).iter().any(|&x| begins(e, m).iter().any(|&y| whole(x, y)))
    }

    /// PEs, or lanes of all PEs, over which the iterations are spread: each takes only so many.
    fn spread(&self, facts: &Facts, grid: &Grid, lanes: bool) -> i64 {
        let extent = &facts.extent;
        let all = grid.pes[0] * grid.pes[1] * if lanes { grid.all_lanes() } else { 1 };
        let along = |d: usize| {
            let iterations = parts(extent[d], grid.grain(d));
            if lanes {
                iterations
            } else {
                (iterations * grid.along(d).1).min(extent[d])
            }
        };
        let volume: i64 = extent.iter().product();
        if self.iterations >= volume {
            return all;
        }
        (self.iterations / (0..extent.len()).map(along).product::<i64>().max(1)).clamp(1, all)
    }

    /// PEs that the coordinates cover; `None` if the space loops constrain one another.
    fn covered(&self, system: &System, facts: &Facts, grid: &Grid) -> Option<i64> {
        let places = |(a, d): (usize, usize)| {
            let (lo, hi) = self.spans.as_ref()?[d];
            let dim = &system.dims[d];
            // A PE takes at most so many coordinates that follow one another.
            let chunk = parts(dim.hi - dim.lo + 1, grid.pes[a]);
            if (lo, hi) == (dim.lo, dim.hi) {
                Some(grid.pes[a])
            } else {
                Some(((hi - lo + 1) / chunk).clamp(1, grid.pes[a]))
            }
        };
        let axes = (0..2)
            .filter(|&a| grid.pes[a] > 1)
            .map(|a| Some((a, facts.alone(grid.flow.axes[a] as usize)?)))
            .collect::<Option<Vec<_>>>()?;
        let free = axes.len() < 2 || self.coupled[axes[0].1] != self.coupled[axes[1].1];
        axes.into_iter().map(places).try_fold(1, |all, n| Some(all * n?)).filter(|_| free)
    }
}

impl<'a> Coverage<'a> {
    pub fn new(program: &'a Kernel) -> Coverage<'a> {
        let system = &program.system;
        let computes =
            |s: usize| !matches!(program.scop.statements[s].rhs.kind, ExprKind::Const(_) | ExprKind::Read(_));
        let domain =
            |(s, p): (usize, &uniform::system::Placed)| computes(s).then(|| Domain::new(&p.domain, system.dims.len()));
        let domains = system.statements.iter().enumerate().map(domain).collect();
        Coverage { system, domains, compared: 0.into() }
    }

    /// Statements that grids were compared with. Exact only while none is.
    pub fn compared(&self) -> u64 {
        self.compared.load(Ordering::Relaxed)
    }

    /// PEs that each statement reaches in every array of the grid.
    pub fn pes(&self, facts: &Facts, grid: &Grid) -> Reached {
        self.compared.fetch_add(self.domains.len() as u64, Ordering::Relaxed);
        let of = |domain: &Domain| {
            domain.spread(facts, grid, false).max(domain.covered(self.system, facts, grid).unwrap_or(1))
        };
        self.domains.iter().map(|domain| domain.as_ref().map(of)).collect()
    }

    /// Lanes of all PEs that each statement reaches.
    pub fn lanes(&self, facts: &Facts, grid: &Grid) -> Reached {
        self.domains.iter().map(|domain| domain.as_ref().map(|d| d.spread(facts, grid, true))).collect()
    }

    /// PEs that each statement reaches in arrays of one shape.
    pub fn pes_of_shape(&self, facts: &Facts, shape: &Shape) -> Reached {
        let all = shape.grid.pes[0] * shape.grid.pes[1];
        let mut reached = self.pes(facts, &shape.grid);
        for (reached, domain) in reached.iter_mut().zip(&self.domains).filter(|(r, _)| r.is_some_and(|n| n < all)) {
            if domain.as_ref().is_some_and(|domain| domain.has_tile(facts, shape)) {
                *reached = Some(all);
            }
        }
        reached
    }

    /// PEs that every statement reaches.
    pub fn least(&self, facts: &Facts, grid: &Grid) -> i64 {
        self.pes(facts, grid).into_iter().flatten().min().unwrap_or(1)
    }

    /// PEs of an array that execute one of these statements, at most.
    pub fn most(&self, facts: &Facts, grid: &Grid, statements: &BTreeSet<usize>) -> i64 {
        let all = grid.pes[0] * grid.pes[1];
        let single = |domain: &Domain, a: usize| {
            let d = facts.alone(grid.flow.axes[a] as usize)?;
            domain.spans.as_ref().map(|spans| spans[d].0 == spans[d].1)
        };
        let of = |s: &usize| {
            self.domains[*s].as_ref().map_or(all, |domain| {
                (0..2).map(|a| if single(domain, a) == Some(true) { 1 } else { grid.pes[a] }).product()
            })
        };
        statements.iter().map(of).max().unwrap_or(all)
    }
}
