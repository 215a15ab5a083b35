//! What a warp executes of a system: which statements are *inlined* where they are read, which are one *class*, and
//! where statements at the end of the program are placed.
//!
//! - A statement that reads nothing that the program computes, such as `out[c] = 0` or `u[0][i] = in[i]`, is inlined:
//!   no value passes from it to its readers, they compute it.
//! - Statements that write one array in branches of one condition are a class: a reader takes the value of the class,
//!   and the class selects by the statements' domains once.
//! - A statement whose value nobody reads is moved next to the values that it reads.
//! - Sums over all PEs are joined as [`Folds`], those over the lanes of a SIMD digit as [`dots`].

use crate::dots::{self, Dot};
use crate::folds::Folds;
use crate::refusal::Refusal;
use scop::{Constraint, Expr, ExprKind, Scop, StmtId};
use uniform::affine::map::shifted;
use uniform::mapping::Plan;
use uniform::program::Form as Program;
use uniform::system::{Feed, Placed, System};

pub struct Statements {
    /// The system with sinks moved.
    pub system: System,
    pub inlined: Vec<bool>,
    /// By statement, the first one of its class.
    pub class: Vec<usize>,
    pub folds: Folds,
    /// By statement: sums of products of 8 bits, four at a time.
    pub dots: Vec<Option<Dot>>,
}

impl Statements {
    /// # Errors
    /// A SIMD digit that no sum has.
    pub fn new(program: &Program, plan: &Plan) -> Result<Statements, Refusal> {
        let mut system = program.system.clone();
        move_sinks(&mut system);
        let statements = &program.scop.statements;
        let inlined: Vec<bool> = system.statements.iter().zip(statements).map(|(p, s)| is_inlined(p, &s.rhs)).collect();
        let class = classes(&program.scop, &system, &inlined);
        let folds = Folds::find(program, &mut system, plan);
        let dots = dots::find(program, &system, plan, &class, &folds)?;
        Ok(Statements { system, inlined, class, folds, dots })
    }

    /// The statements whose instances are computed for themselves.
    pub fn executed(&self) -> impl Iterator<Item = usize> + '_ {
        let runs = |s: &usize| !self.inlined[*s] || !self.system.statements[*s].live_out.is_empty();
        (0..self.inlined.len()).filter(runs).filter(|&s| self.folds.last[s].is_none())
    }

    /// The parts of their domains.
    pub fn domains(&self) -> Vec<Vec<Constraint>> {
        self.executed().flat_map(|s| self.system.statements[s].domain.iter().cloned()).collect()
    }

    /// The members of a class, in the order of the text.
    pub fn members(&self, class: usize) -> Vec<usize> {
        (0..self.class.len()).filter(|&s| self.class[s] == class).collect()
    }

    /// Constant distances between computed values and their readers.
    pub fn distances(&self) -> Vec<Vec<i64>> {
        let mut found: Vec<Vec<i64>> = vec![];
        for s in self.executed() {
            for piece in self.system.statements[s].variables.iter().flat_map(|v| &v.pieces) {
                let distance = match &piece.feed {
                    Feed::Value { statement, .. } if self.folds.of[statement.index()].is_some() => continue,
                    Feed::Partial { .. } if self.folds.of[s].is_some() => continue,
                    Feed::Value { statement, distance } if !self.inlined[statement.index()] => distance.clone(),
                    Feed::Carry { distance, .. } => distance.clone(),
                    Feed::Partial { distance } => distance.iter().map(|a| a.constant).collect(),
                    _ => continue,
                };
                if !found.contains(&distance) {
                    found.push(distance);
                }
            }
        }
        found
    }
}

fn is_inlined(placed: &Placed, rhs: &Expr) -> bool {
    let inputs = placed.variables.iter().flat_map(|v| &v.pieces).all(|p| matches!(p.feed, Feed::Input { .. }));
    inputs && is_simple(rhs)
}

/// A constant, an iterator, or one element, perhaps converted.
fn is_simple(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Iter(_) | ExprKind::Read(_) => true,
        ExprKind::Cast(a) | ExprKind::Unary(_, a) => is_simple(a),
        _ => false,
    }
}

/// Moves statements that nobody reads next to what they read.
fn move_sinks(system: &mut System) {
    let read: Vec<usize> = system.dependences().iter().map(|d| d.from.index()).collect();
    let partial =
        |p: &Placed| p.variables.iter().flat_map(|v| &v.pieces).any(|p| matches!(p.feed, Feed::Partial { .. }));
    let sinks: Vec<usize> =
        (0..system.statements.len()).filter(|s| !read.contains(s) && !partial(&system.statements[*s])).collect();
    for s in sinks {
        let placed = &mut system.statements[s];
        let distances: Vec<&Vec<i64>> = placed
            .variables
            .iter()
            .flat_map(|v| &v.pieces)
            .filter_map(|p| match &p.feed {
                Feed::Value { distance, .. } | Feed::Carry { distance, .. } => Some(distance),
                _ => None,
            })
            .collect();
        let least = |d: usize| distances.iter().map(|e| e[d]).min().unwrap_or(0).max(0);
        let shift: Vec<i64> = (0..system.dims.len()).map(least).collect();
        if shift.iter().any(|x| *x != 0) {
            move_by(placed, &shift);
        }
    }
}

/// Moves a statement's instances from `n` to `n - shift`.
fn move_by(placed: &mut Placed, shift: &[i64]) {
    let back: Vec<i64> = shift.iter().map(|x| -x).collect();
    let conj = |c: &mut Vec<Constraint>| *c = shifted(c, &back);
    placed.domain.iter_mut().for_each(conj);
    placed.live_out.iter_mut().for_each(conj);
    let moved = |a: &mut scop::Affine| a.constant += a.coeffs.iter().zip(shift).map(|(c, s)| c * s).sum::<i64>();
    placed.iterators.iter_mut().for_each(moved);
    placed.write.iter_mut().for_each(moved);
    for piece in placed.variables.iter_mut().flat_map(|v| &mut v.pieces) {
        conj(&mut piece.domain);
        conj(&mut piece.when);
        match &mut piece.feed {
            Feed::Input { subscripts } => subscripts.iter_mut().for_each(moved),
            Feed::Value { distance, .. } | Feed::Carry { distance, .. } => {
                distance.iter_mut().zip(shift).for_each(|(e, s)| *e -= s);
            }
            Feed::Partial { .. } => {}
        }
    }
}

/// Joins statements that a read takes at one distance, if their domains are disjoint and they write the same element
/// at the same place.
fn classes(scop: &Scop, system: &System, inlined: &[bool]) -> Vec<usize> {
    let mut class: Vec<usize> = (0..inlined.len()).collect();
    let mut join = |a: usize, b: usize| {
        let (a, b) = (class[a], class[b]);
        class.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
    };
    let write = |s: usize| (scop.statements[s].write.array, &system.statements[s].write);
    let disjoint = |a: usize, b: usize| {
        let domain = |s: usize| &system.statements[s].domain;
        domain(a).iter().all(|x| {
            domain(b)
                .iter()
                .all(|y| scop::flow::domain_bounds(&[[x.clone(), y.clone()].concat()], system.dims.len()).is_none())
        })
    };
    for variable in system.statements.iter().flat_map(|p| &p.variables) {
        let feeds: Vec<(StmtId, &Vec<i64>)> = variable
            .pieces
            .iter()
            .filter_map(|p| match &p.feed {
                Feed::Value { statement, distance } if !inlined[statement.index()] => Some((*statement, distance)),
                _ => None,
            })
            .collect();
        for (k, (a, e)) in feeds.iter().enumerate() {
            for (b, f) in &feeds[..k] {
                let (a, b) = (a.index(), b.index());
                if a != b && e == f && write(a) == write(b) && disjoint(a, b) {
                    join(a, b);
                }
            }
        }
    }
    class
}
