//! Sums, minima and maxima over all PEs.
//!
//! **Terms.** A statement `x = x op term` is a *fold* if its order is free and it would pass along the lanes. Each PE joins
//! its own terms. Then all PEs are joined: behind the time loop, or in each step if time is no part of the sum. A statement
//! that reads the result *follows* it: it runs once, at the last coordinates of the sum.
//!
//! ```text
//! for i: s[i] = 0; for j: s[i] += x[i][j]; m[i] = s[i] / N      --space j --time i
//!
//! PE 0 … 127   x[i][0] + x[i][128] + …    x[i][1] + x[i][129] + …     its own terms
//! all          five shuffles, each with an addition                   a fold
//! lane 0       s[i], and m[i], which follows it
//! ```

use crate::extent::Extent;
use crate::form::Form;
use scop::{flow, Affine, BinaryOp, Constraint, Expr, ExprKind};
use uniform::affine::map::{compose, coordinate};
use uniform::mapping::Plan;
use uniform::program::Form as Program;
use uniform::recurrence::reduction::Reduction;
use uniform::system::{Feed, Placed, System};

/// A statement `x = x op term` over all PEs.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The read of `x`.
    pub read: usize,
    pub op: BinaryOp,
    /// The terms are subtracted.
    pub subtract: bool,
    pub term: Expr,
    /// The value that changes nothing.
    pub neutral: u64,
    /// Dimensions that are summed over, with their first and last coordinates; these may follow from sizes.
    pub dims: Vec<(usize, i64, Form)>,
}

impl Fold {
    /// Whether the sum passes over a row of the plan's transform.
    pub fn is_over(&self, row: &[i64]) -> bool {
        self.dims.iter().any(|d| row[d.0] != 0)
    }
}

/// The folds of a plan.
pub struct Folds {
    /// By statement.
    pub of: Vec<Option<Fold>>,
    /// By statement that follows a fold: the dimensions that it does not run over, with its coordinates there.
    pub last: Vec<Option<Vec<(usize, Form)>>>,
}

impl Folds {
    /// Finds the folds of a plan. Where a term is the neutral value, the domain in the system becomes smaller.
    pub fn find(program: &Program, system: &mut System, plan: &Plan) -> Folds {
        let of: Vec<Option<Fold>> = (0..system.statements.len()).map(|s| fold(program, system, plan, s)).collect();
        let mut last = vec![None; of.len()];
        // A statement may follow one that follows a fold.
        for _ in 0..of.len() {
            for s in (0..of.len()).filter(|&s| of[s].is_none()) {
                last[s] = followed(&system.statements[s], system.dims.len(), &of, &last);
            }
        }
        Folds { of, last }
    }

    /// Whether a sum over all PEs passes over a row of the plan's transform.
    pub fn are_over(&self, row: &[i64]) -> bool {
        self.of.iter().flatten().any(|f| f.is_over(row))
    }

    /// Whether a read is of one instance alone: the initial value of a fold, or a read of a statement that follows one.
    pub fn is_pinned(&self, s: usize, read: usize) -> bool {
        self.last[s].is_some() || self.of[s].as_ref().is_some_and(|f| f.read == read)
    }
}

/// A dimension has the value of a form over the sizes, the first dimensions.
fn at(d: usize, value: &Form, depth: usize) -> Constraint {
    let mut expr = Affine { constant: -value.constant, ..coordinate(d, depth) };
    value.scalars.iter().for_each(|(size, c)| expr.coeffs[size.index()] -= c);
    Constraint { expr, equality: true }
}

fn fold(program: &Program, system: &mut System, plan: &Plan, s: usize) -> Option<Fold> {
    let lanes = plan.dims.iter().position(|d| d.axis == Some(0))?;
    let depth = system.dims.len();
    let r: &Reduction = program.reductions[s].as_ref().filter(|r| !r.fused)?;
    let placed = &system.statements[s];
    let along = |e: &[i64]| plan.transform[lanes].iter().zip(e).map(|(a, b)| a * b).sum::<i64>() != 0;
    let passes = placed.variables[r.read].pieces.iter().any(|p| match &p.feed {
        Feed::Value { statement, distance } => statement.index() == s && along(distance),
        _ => false,
    });
    // A coordinate is one of the sum's, or it is not.
    let mixed = plan.transform.iter().any(|row| {
        let used = || (0..depth).filter(|&d| row[d] != 0).map(|d| r.dims.contains(&d));
        used().any(|x| x) && used().any(|x| !x)
    });
    if !passes || mixed {
        return None;
    }
    let neutral = r.neutral(program.scop.array(program.scop.statements[s].write.array).ty);
    let (mut term, domain) = (r.term.clone(), placed.domain.clone());
    if let ExprKind::Select(when, then, otherwise) = &r.term.kind {
        if let (ExprKind::Holds(conds), true) = (&when.kind, otherwise.kind == ExprKind::Const(neutral)) {
            let over = |c: &Constraint| Constraint { expr: compose(&c.expr, &placed.iterators, depth), ..c.clone() };
            let own: Vec<Constraint> = conds.iter().map(over).collect();
            term = (**then).clone();
            system.statements[s].domain.iter_mut().for_each(|c| c.extend(own.iter().cloned()));
        }
    }
    let dims = r.dims.iter().map(|&d| ends(system, &domain, d)).collect::<Option<_>>()?;
    Some(Fold { read: r.read, op: r.op, subtract: r.subtract, term, neutral, dims })
}

/// A dimension with its first and last coordinate in a domain; `None`: the last one is no function of the sizes.
fn ends(system: &System, domain: &[Vec<Constraint>], d: usize) -> Option<(usize, i64, Form)> {
    let extent = Extent::of(domain, &coordinate(d, system.dims.len()).coeffs, &system.maxima())?;
    let last = extent.last.known().map(Form::constant);
    Some((d, extent.lo, last.or(extent.end)?))
}

/// The coordinates of a statement that reads results of folds alone, and runs nowhere else.
fn followed(
    placed: &Placed,
    depth: usize,
    of: &[Option<Fold>],
    last: &[Option<Vec<(usize, Form)>>],
) -> Option<Vec<(usize, Form)>> {
    let mut own: Vec<(usize, Form)> = vec![];
    for piece in placed.variables.iter().flat_map(|v| &v.pieces) {
        let Feed::Value { statement, distance } = &piece.feed else { continue };
        if let Some(fold) = &of[statement.index()] {
            own.extend(fold.dims.iter().map(|d| (d.0, d.2.plus(distance[d.0]))));
        } else if let Some(all) = &last[statement.index()] {
            own.extend(all.iter().map(|d| (d.0, d.1.plus(distance[d.0]))));
        }
    }
    own.sort_unstable();
    own.dedup();
    let there: Vec<Constraint> = own.iter().map(|(d, last)| at(*d, last, depth)).collect();
    let runs_there = placed.domain.iter().all(|conj| flow::implies(conj, &there, depth));
    (!own.is_empty() && runs_there).then_some(own)
}
