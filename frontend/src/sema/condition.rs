//! Affine conditions as unions of conjunctions, and what is known about a condition in the current domain.

use super::affine::{add_scaled, refuse, Affinity};
use super::Sema;
use crate::ast::{self, Binary, ExprKind, Unary};
use crate::scop::{Affine, Constraint, ScalarType};
use crate::system::System;

/// A union of disjoint conjunctions.
pub(super) type Dnf = Vec<Vec<Constraint>>;

/// What a condition is in the current domain.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Truth {
    Always,
    Never,
    /// Affine; where it holds and where it does not.
    Sometimes(Dnf, Dnf),
    /// It depends on data.
    Data,
}

/// Unions grow at most so large.
const DISJUNCTS: usize = 64;

fn at_least_zero(expr: Affine) -> Constraint {
    Constraint { expr, equality: false }
}

/// All pairs of a conjunction of `a` and one of `b`.
pub(super) fn intersect(a: &Dnf, b: &Dnf) -> Dnf {
    a.iter().flat_map(|x| b.iter().map(move |y| merged(x, y))).collect()
}

/// Both conjunctions; of constraints with equal coefficients only the tightest stays, trivial ones go.
fn merged(a: &[Constraint], b: &[Constraint]) -> Vec<Constraint> {
    let mut out: Vec<Constraint> = vec![];
    for c in a.iter().chain(b).map(tightened) {
        if c.expr.is_constant() && c.holds(&[]) {
            continue;
        }
        match out.iter_mut().find(|o| same_coefficients(&o.expr, &c.expr) && o.equality == c.equality) {
            Some(o) if !c.equality => o.expr.constant = o.expr.constant.min(c.expr.constant),
            Some(o) if o.expr.constant == c.expr.constant => {}
            _ => out.push(c),
        }
    }
    out
}

/// Forms of different depth are equal if the further coefficients are 0.
fn same_coefficients(a: &Affine, b: &Affine) -> bool {
    let depth = a.coeffs.len().max(b.coeffs.len());
    let at = |v: &Affine, d: usize| v.coeffs.get(d).copied().unwrap_or(0);
    (0..depth).all(|d| at(a, d) == at(b, d))
}

/// Divided by the coefficients' common divisor, the constant rounded down.
fn tightened(c: &Constraint) -> Constraint {
    let divisor = c.expr.coeffs.iter().fold(0, |g, &x| num_integer::gcd(g, x));
    if divisor < 2 || (c.equality && c.expr.constant % divisor != 0) {
        return c.clone();
    }
    let coeffs = c.expr.coeffs.iter().map(|x| x / divisor).collect();
    Constraint { expr: Affine { coeffs, constant: c.expr.constant.div_euclid(divisor) }, equality: c.equality }
}


impl Sema {
    /// `domain` restricted to `condition`, without its empty parts.
    pub(super) fn restrict(&self, domain: &Dnf, condition: &Dnf) -> Dnf {
        let mut parts = intersect(domain, condition);
        parts.retain(|p| !System::new(self.depth(), p).is_empty());
        parts
    }

    /// Where `e` holds, and where it does not.
    fn cases(&self, e: &ast::Expr) -> Affinity<(Dnf, Dnf)> {
        let (holds, fails) = match &e.kind {
            ExprKind::Unary(Unary::LogicalNot, a) => {
                let (holds, fails) = self.cases(a)?;
                (fails, holds)
            }
            ExprKind::Binary(Binary::LogicalAnd, a, b) => {
                let ((x, not_x), (y, not_y)) = (self.cases(a)?, self.cases(b)?);
                (self.both(&x, &y), self.either(not_x, &x, &not_y))
            }
            ExprKind::Binary(Binary::LogicalOr, a, b) => {
                let ((x, not_x), (y, not_y)) = (self.cases(a)?, self.cases(b)?);
                (self.either(x, &not_x, &y), self.both(&not_x, &not_y))
            }
            ExprKind::Binary(op, a, b) if op.is_comparison() => self.comparison(*op, a, b)?,
            _ => {
                let form = self.affine(e)?.form;
                let zero = Affine::constant(self.depth(), 0);
                (compare(Binary::Ne, &form, &zero).unwrap_or_default(), compare(Binary::Eq, &form, &zero).unwrap_or_default())
            }
        };
        if holds.len().max(fails.len()) > DISJUNCTS { refuse(e.span, "the condition has too many cases", "split it into several `if`s") } else { Ok((holds, fails)) }
    }

    fn both(&self, x: &Dnf, y: &Dnf) -> Dnf {
        let mut parts = intersect(x, y);
        if parts.len() > 2 {
            parts.retain(|p| !System::new(self.depth(), p).is_empty());
        }
        parts
    }

    /// `x`, or else not `x` and `y`: disjoint.
    fn either(&self, x: Dnf, not_x: &Dnf, y: &Dnf) -> Dnf {
        x.into_iter().chain(self.both(not_x, y)).collect()
    }

    fn comparison(&self, op: Binary, a: &ast::Expr, b: &ast::Expr) -> Affinity<(Dnf, Dnf)> {
        let (x, y) = (self.affine(a)?, self.affine(b)?);
        if let Some(ty @ ScalarType::Int { signed: false, .. }) = super::types::usual(x.ty, y.ty) {
            // A negative operand would become a large number.
            self.fitted(x.form.clone(), ty, a.span)?;
            self.fitted(y.form.clone(), ty, b.span)?;
        }
        match compare(op, &x.form, &y.form).zip(compare(negated(op), &x.form, &y.form)) {
            Some(cases) => Ok(cases),
            None => refuse(crate::parse::join(a.span, b.span), "the numbers are too large", "use smaller sizes"),
        }
    }

    /// What is known about `e` in the current domain.
    pub(super) fn decide(&self, e: &ast::Expr) -> Truth {
        if let Ok((holds, fails)) = self.cases(e) {
            let (holds, fails) = (self.restrict(&self.nest.domain, &holds), self.restrict(&self.nest.domain, &fails));
            return match (holds.is_empty(), fails.is_empty()) {
                (false, true) => Truth::Always,
                (true, _) => Truth::Never,
                _ => Truth::Sometimes(holds, fails),
            };
        }
        match &e.kind {
            ExprKind::Unary(Unary::LogicalNot, a) => match self.decide(a) {
                Truth::Always => Truth::Never,
                Truth::Never => Truth::Always,
                _ => Truth::Data,
            },
            ExprKind::Binary(op @ (Binary::LogicalAnd | Binary::LogicalOr), a, b) => {
                let (x, y) = (self.decide(a), self.decide(b));
                let (decisive, neutral) = if *op == Binary::LogicalAnd { (Truth::Never, Truth::Always) } else { (Truth::Always, Truth::Never) };
                if x == decisive || y == decisive {
                    decisive
                } else if x == neutral && y == neutral {
                    neutral
                } else {
                    Truth::Data
                }
            }
            _ => Truth::Data,
        }
    }

    /// The first affine part of a condition that is joined with data by `&&`, `||` or `!` and is not decided yet.
    pub(super) fn affine_part(&self, e: &ast::Expr) -> Option<(Dnf, Dnf)> {
        match &e.kind {
            _ if matches!(self.decide(e), Truth::Sometimes(..)) => match self.decide(e) {
                Truth::Sometimes(holds, fails) => Some((holds, fails)),
                _ => None,
            },
            ExprKind::Unary(Unary::LogicalNot, a) => self.affine_part(a),
            ExprKind::Binary(Binary::LogicalAnd | Binary::LogicalOr, a, b) => match (self.decide(a), self.decide(b)) {
                (Truth::Always | Truth::Never, _) => self.affine_part(b),
                (_, Truth::Always | Truth::Never) => self.affine_part(a),
                _ => self.affine_part(a).or_else(|| self.affine_part(b)),
            },
            _ => None,
        }
    }

    /// An affine condition inside `e` by which the statement must be split, so that array elements are only read
    /// where C reads them. `subscript`: `e` stands in a subscript, which must be one affine form.
    pub(super) fn split_inside(&self, e: &ast::Expr, subscript: bool) -> Option<(Dnf, Dnf)> {
        match &e.kind {
            ExprKind::Conditional(c, a, b) => match self.decide(c) {
                Truth::Always => self.split_inside(a, subscript),
                Truth::Never => self.split_inside(b, subscript),
                truth => {
                    if subscript || reads_array(a) || reads_array(b) || reads_array(c) {
                        if let Truth::Sometimes(holds, fails) = truth {
                            return Some((holds, fails));
                        }
                        if let Some(found) = self.affine_part(c) {
                            return Some(found);
                        }
                    }
                    [c, a, b].into_iter().find_map(|x| self.split_inside(x, subscript))
                }
            },
            ExprKind::Binary(Binary::LogicalAnd | Binary::LogicalOr, a, b) => {
                if matches!(self.decide(e), Truth::Always | Truth::Never) {
                    return None;
                }
                let found = if reads_array(a) || reads_array(b) { self.affine_part(e) } else { None };
                found.or_else(|| self.split_inside(a, subscript)).or_else(|| self.split_inside(b, subscript))
            }
            ExprKind::Index(a, b) => self.split_inside(a, subscript).or_else(|| self.split_inside(b, true)),
            ExprKind::Binary(_, a, b) => self.split_inside(a, subscript).or_else(|| self.split_inside(b, subscript)),
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => self.split_inside(a, subscript),
            ExprKind::Call(_, arguments) => arguments.iter().find_map(|a| self.split_inside(a, subscript)),
            _ => None,
        }
    }
}

pub(super) fn reads_array(e: &ast::Expr) -> bool {
    let mut found = false;
    e.walk(&mut |x| found |= matches!(x.kind, ExprKind::Index(..)));
    found
}

fn negated(op: Binary) -> Binary {
    match op {
        Binary::Lt => Binary::Ge,
        Binary::Ge => Binary::Lt,
        Binary::Gt => Binary::Le,
        Binary::Le => Binary::Gt,
        Binary::Eq => Binary::Ne,
        _ => Binary::Eq,
    }
}

/// `x op y` as constraints; `None` if the numbers overflow.
pub(super) fn compare(op: Binary, x: &Affine, y: &Affine) -> Option<Dnf> {
    let difference = |a: &Affine, b: &Affine, strict: i64| {
        let mut d = add_scaled(a, b, -1)?;
        d.constant -= strict;
        Some(at_least_zero(d))
    };
    Some(match op {
        Binary::Lt => vec![vec![difference(y, x, 1)?]],
        Binary::Le => vec![vec![difference(y, x, 0)?]],
        Binary::Gt => vec![vec![difference(x, y, 1)?]],
        Binary::Ge => vec![vec![difference(x, y, 0)?]],
        Binary::Eq => vec![vec![Constraint { equality: true, ..difference(x, y, 0)? }]],
        _ => vec![vec![difference(y, x, 1)?], vec![difference(x, y, 1)?]],
    })
}
