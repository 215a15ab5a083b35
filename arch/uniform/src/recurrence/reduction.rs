//! Reductions: sums `x = x op term` that may be reordered without changing a bit.
//!
//! **Problem.** A sum of the program fixes the order of its terms, and with it the order of its loops.
//!
//! **Terms.** The *accumulator* is the read of `x`. An operator is *reorderable* if it is associative and commutative
//! on the type: integer add, multiply and bitwise operators (modulo 2^n), minimum and maximum; on floats only if the
//! user allows reassociation. *Partial results* are the values of `x` before the last term.
//!
//! **Method.** [`find`] takes a statement if its right side has the form `x op term` (through the casts of C's
//! promotions), if its summed loops form a box, if the initial value enters at the first iteration, and if every reader
//! reads the last result. Then partial results follow the order of the *mapped* loops instead of the program's. The
//! summed loops may be permuted, tiled, and spread over PEs and SIMD lanes:
//!
//! ```text
//! program      x -> +t0 -> +t1 -> +t2 -> +t3
//! two lanes    x -> +t0 -> +t2 \
//!              0 -> +t1 -> +t3  + -> result
//! ```
//!
//! **Invariant.** No statement reads a partial result.
//!
//! **Source.** Redon, Feautrier, "Scheduling reductions" (1994); Gautam, Rajopadhye, "Simplifying reductions" (2006).

use crate::affine::map::{coordinate, fixed, minus};
use crate::system::{Feed, Placed, System};
use scop::flow;
use scop::value;
use scop::{Affine, BinaryOp, Constraint, Expr, ExprKind, ScalarType, Scop, Statement, StmtId};

/// A sum that may have any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// Which read of the statement is the accumulator.
    pub read: usize,
    /// Add (also for `x - term`), Mul, Min, Max, And, Or, Xor.
    pub op: BinaryOp,
    /// The terms are subtracted.
    pub subtract: bool,
    /// The program has a fused multiply–add: adding a term that is a product rounds once.
    pub fused: bool,
    /// The term, in the array's type.
    pub term: Expr,
    /// Dimensions that are summed over.
    pub dims: Vec<usize>,
    /// Their last coordinates, over the sizes.
    pub uppers: Vec<Affine>,
}

impl Reduction {
    /// The value that changes nothing, as bits of `ty`.
    pub fn neutral(&self, ty: ScalarType) -> u64 {
        neutral(self.op, ty)
    }
}

/// `x op neutral` is `x`.
pub fn neutral(op: BinaryOp, ty: ScalarType) -> u64 {
    let bits = ty.bits();
    if ty.is_float() {
        return match op {
            BinaryOp::Mul => value::from_f64(1.0, ty),
            BinaryOp::Min | BinaryOp::Max => value::canonical_nan(ty),
            BinaryOp::Sub => 0,
            _ => value::from_f64(-0.0, ty),
        };
    }
    let all = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let top = 1u64 << (bits - 1);
    match (op, ty.signed()) {
        (BinaryOp::And, _) | (BinaryOp::Min, false) => all,
        (BinaryOp::Mul, _) => 1,
        (BinaryOp::Min, true) => top - 1,
        (BinaryOp::Max, true) => top,
        _ => 0,
    }
}

/// The statement's right side where `holds`, else the value of read `old`. In `x op term`, the neutral value takes the
/// place of the term.
pub fn masked(scop: &Scop, statement: &Statement, old: usize, holds: &Expr) -> Expr {
    let ty = scop.array(statement.write.array).ty;
    let rhs = &statement.rhs;
    let select = |a: &Expr, b: ExprKind| {
        let otherwise = Expr { kind: b, ..a.clone() };
        Expr { kind: ExprKind::Select(Box::new(holds.clone()), Box::new(a.clone()), Box::new(otherwise)), ..a.clone() }
    };
    let mask = |e: &Expr| match &e.kind {
        ExprKind::Binary(op, a, b) => {
            let or_neutral = |x: &Expr| select(x, ExprKind::Const(neutral(*op, x.ty)));
            let (left, right) = (reads_only(a, old), reads_only(b, old));
            let (a, b) = if left { (a.clone(), Box::new(or_neutral(b))) } else { (Box::new(or_neutral(a)), b.clone()) };
            (left != right).then(|| Expr { kind: ExprKind::Binary(*op, a, b), ..e.clone() })
        }
        _ => None,
    };
    let masked = match (&rhs.kind, split(rhs, ty, &|k| k == old)) {
        (_, None) | (ExprKind::Fma(..), _) => None,
        (ExprKind::Cast(inner), _) => {
            mask(inner).map(|inner| Expr { kind: ExprKind::Cast(Box::new(inner)), ..rhs.clone() })
        }
        _ => mask(rhs),
    };
    let stored = if rhs.ty == ty {
        rhs.clone()
    } else {
        Expr { kind: ExprKind::Cast(Box::new(rhs.clone())), ty, span: rhs.span }
    };
    masked.unwrap_or_else(|| select(&stored, ExprKind::Read(old)))
}

/// Read `k`, converted or not.
fn reads_only(e: &Expr, k: usize) -> bool {
    match &e.kind {
        ExprKind::Read(read) => *read == k,
        ExprKind::Cast(inner) => reads_only(inner, k),
        _ => false,
    }
}

/// The reduction statement `s` is, if it is one.
pub fn find(scop: &Scop, system: &System, s: usize, reassociate: Option<bool>) -> Option<Reduction> {
    let depth = system.dims.len();
    let Parts { op, subtract, fused, read, term } = parts(scop, s, reassociate)?;
    let placed = &system.statements[s];
    let summed = |d: usize| {
        placed.write.iter().all(|a| a.coeffs[d] == 0)
            && placed.variables[read].pieces.iter().any(|p| moves_on(&p.feed, s, d))
    };
    let dims: Vec<usize> = placed.dims.iter().copied().filter(|&d| summed(d)).collect();
    let uppers = dims.iter().map(|&d| last(system, s, d)).collect::<Option<Vec<_>>>()?;
    let reduction = Reduction { read, op, subtract, fused, term, dims, uppers };
    (!reduction.dims.is_empty()
        && box_in(placed, &reduction.dims, system.parameters().len())
        && only_final_is_read(system, s, &reduction, depth))
    .then_some(reduction)
}

/// The accumulator of statement `s`, if its sum may have any order.
pub fn accumulator(scop: &Scop, s: usize, reassociate: Option<bool>) -> Option<usize> {
    parts(scop, s, reassociate).map(|p| p.read)
}

/// A statement `x = x op term`, named as in [`Reduction`].
struct Parts {
    op: BinaryOp,
    subtract: bool,
    fused: bool,
    read: usize,
    term: Expr,
}

fn parts(scop: &Scop, s: usize, reassociate: Option<bool>) -> Option<Parts> {
    let statement = &scop.statements[s];
    let ty = scop.array(statement.write.array).ty;
    let allowed = if ty.is_float() { reassociate == Some(true) } else { reassociate != Some(false) };
    let is_accumulator = |k: usize| {
        statement.reads[k].array == statement.write.array && statement.reads[k].subscripts == statement.write.subscripts
    };
    let parts = if allowed { split(&statement.rhs, ty, &is_accumulator) } else { None };
    // A term that contains the partial result fixes the order.
    parts.filter(|p| !mentions(&p.term, &is_accumulator))
}

/// Whether an expression contains one of the reads.
fn mentions(e: &Expr, reads: &impl Fn(usize) -> bool) -> bool {
    matches!(e.kind, ExprKind::Read(k) if reads(k)) || e.operands().into_iter().any(|x| mentions(x, reads))
}

/// `x op term` with `x` the accumulator, through the casts of C's promotions if `op` allows it.
fn split(rhs: &Expr, ty: ScalarType, is_accumulator: &impl Fn(usize) -> bool) -> Option<Parts> {
    if let Some(parts) = split_fused(rhs, ty, is_accumulator) {
        return Some(parts);
    }
    let inner = match &rhs.kind {
        ExprKind::Cast(inner) if !ty.is_float() && !inner.ty.is_float() && inner.ty.bits() >= ty.bits() => inner,
        _ => rhs,
    };
    let ExprKind::Binary(op, a, b) = &inner.kind else { return None };
    let modular =
        matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    if !(modular || matches!(op, BinaryOp::Min | BinaryOp::Max) && inner.ty == ty) {
        return None;
    }
    let accumulator = |e: &Expr| match &e.kind {
        ExprKind::Read(k) if is_accumulator(*k) => Some(*k),
        ExprKind::Cast(c) if modular && !ty.is_float() && e.ty.bits() >= ty.bits() && !e.ty.is_float() => match &c.kind
        {
            ExprKind::Read(k) if is_accumulator(*k) && c.ty == ty => Some(*k),
            _ => None,
        },
        _ => None,
    };
    let convert = |e: &Expr| {
        if e.ty == ty {
            e.clone()
        } else {
            Expr { kind: ExprKind::Cast(Box::new(e.clone())), ty, span: e.span }
        }
    };
    match (accumulator(a), accumulator(b)) {
        (Some(read), _) if *op == BinaryOp::Sub => {
            Some(Parts { op: BinaryOp::Add, subtract: true, fused: false, read, term: convert(b) })
        }
        (Some(read), _) => Some(Parts { op: *op, subtract: false, fused: false, read, term: convert(b) }),
        (None, Some(read)) if *op != BinaryOp::Sub => {
            Some(Parts { op: *op, subtract: false, fused: false, read, term: convert(a) })
        }
        _ => None,
    }
}

/// `fma(a, b, x)` with `x` the accumulator: the term is the product.
fn split_fused(rhs: &Expr, ty: ScalarType, is_accumulator: &impl Fn(usize) -> bool) -> Option<Parts> {
    let ExprKind::Fma(a, b, x) = &rhs.kind else { return None };
    let ExprKind::Read(read) = x.kind else { return None };
    let term = Expr { kind: ExprKind::Binary(BinaryOp::Mul, a.clone(), b.clone()), ..rhs.clone() };
    (rhs.ty == ty && is_accumulator(read)).then_some(Parts {
        op: BinaryOp::Add,
        subtract: false,
        fused: true,
        read,
        term,
    })
}

/// Statement `s` adds to what it stored at another coordinate `d`.
fn moves_on(feed: &Feed, s: usize, d: usize) -> bool {
    match feed {
        Feed::Value { statement, distance } => statement.index() == s && distance[d] != 0,
        Feed::Partial { distance } => !(distance[d].is_constant() && distance[d].constant == 0),
        Feed::Carry { .. } | Feed::Input { .. } => false,
    }
}

/// The last coordinate of statement `s` in dimension `d`: constant, or one function of the sizes beyond which no
/// statement of the same phases goes.
fn last(system: &System, s: usize, d: usize) -> Option<Affine> {
    let depth = system.dims.len();
    let placed = &system.statements[s];
    let bounds = |c: &&Constraint| c.expr.coeffs[d] != 0 && c.expr.coeffs[system.parameters()].iter().any(|&x| x != 0);
    let sized: Vec<&Constraint> = placed.domain.iter().flatten().filter(bounds).collect();
    let constant = flow::domain_bounds(&placed.domain, depth).map_or(0, |b| b[d].1);
    let upper = match sized[..] {
        [] => return Some(Affine::constant(depth, constant)),
        [c] if c.expr.coeffs[d] == -1 && !c.equality => {
            let mut upper = c.expr.clone();
            upper.coeffs[d] = 0;
            upper
        }
        _ => return None,
    };
    let within = Constraint { expr: minus(&upper, &coordinate(d, depth)), equality: false };
    system
        .companions(s)
        .into_iter()
        .flat_map(|t| &system.statements[t].domain)
        .all(|all| flow::implies(all, std::slice::from_ref(&within), depth))
        .then_some(upper)
}

/// The summed dimensions run over the same range wherever the others but the sizes are.
fn box_in(placed: &Placed, dims: &[usize], sizes: usize) -> bool {
    let alone = |c: &Constraint| {
        let used: Vec<usize> = (sizes..c.expr.coeffs.len()).filter(|&d| c.expr.coeffs[d] != 0).collect();
        used.len() <= 1 || used.iter().all(|d| !dims.contains(d))
    };
    placed.domain.len() == 1 && placed.domain[0].iter().all(alone)
}

/// The initial value enters at the first iteration, and everyone else reads the last one's result.
fn only_final_is_read(system: &System, s: usize, reduction: &Reduction, depth: usize) -> bool {
    let Some(bounds) = flow::domain_bounds(&system.statements[s].domain, depth) else { return false };
    let first: Vec<Constraint> = reduction.dims.iter().map(|&d| fixed(d, bounds[d].0, depth)).collect();
    let end = |(&d, upper): (&usize, &Affine)| Constraint { expr: minus(&coordinate(d, depth), upper), equality: true };
    let last: Vec<Constraint> = reduction.dims.iter().zip(&reduction.uppers).map(end).collect();
    // The chain runs from the first coordinate over the whole range of a dimension: other statements of its phases must
    // not make it longer.
    if reduction.dims.iter().any(|&d| (system.dims[d].lo, system.dims[d].hi) != bounds[d]) {
        let together: Vec<Vec<Constraint>> =
            system.companions(s).into_iter().flat_map(|t| system.statements[t].domain.clone()).collect();
        let whole = flow::domain_bounds(&together, depth);
        if reduction
            .dims
            .iter()
            .any(|&d| system.dims[d].lo != bounds[d].0 || whole.as_ref().is_none_or(|all| all[d] != bounds[d]))
        {
            return false;
        }
    }
    let me = StmtId(s as u32);
    for (reader, placed) in system.statements.iter().enumerate() {
        for (k, variable) in placed.variables.iter().enumerate() {
            let accumulates = reader == s && k == reduction.read;
            for piece in &variable.pieces {
                let ok = match &piece.feed {
                    // A partial result of another cell's chain, as `y[i + a]` finds from tap to tap, is no initial
                    // value.
                    Feed::Value { statement, distance } if *statement == me && accumulates => {
                        distance.iter().enumerate().all(|(d, &e)| e == 0 || reduction.dims.contains(&d))
                    }
                    Feed::Partial { distance } if accumulates => distance
                        .iter()
                        .enumerate()
                        .all(|(d, e)| *e == Affine::constant(depth, 0) || reduction.dims.contains(&d)),
                    Feed::Carry { .. } | Feed::Partial { .. } if accumulates => false,
                    _ if accumulates => flow::implies(&piece.domain, &first, depth),
                    Feed::Value { statement, distance } if *statement == me => {
                        let moved: Vec<Constraint> = last
                            .iter()
                            .map(|c| {
                                let back: i64 = c.expr.coeffs.iter().zip(distance).map(|(a, e)| a * e).sum();
                                Constraint {
                                    expr: Affine { constant: c.expr.constant - back, ..c.expr.clone() },
                                    equality: true,
                                }
                            })
                            .collect();
                        flow::implies(&piece.domain, &moved, depth)
                    }
                    _ => true,
                };
                if !ok {
                    return false;
                }
            }
        }
    }
    system.statements[s].live_out.iter().all(|conj| flow::implies(conj, &last, depth))
}
