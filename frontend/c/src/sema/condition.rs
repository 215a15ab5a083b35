//! Affine conditions as unions of conjunctions, and what is known about a condition in the current domain.

use super::form::{compare, intersect, negated, refuse, Affinity, Dnf, Truth};
use super::Sema;
use crate::ast;
use crate::ast::{Binary, ExprKind, Unary};
use scop::{Affine, ScalarType};

/// Unions grow at most so large.
const DISJUNCTS: usize = 64;

impl Sema {
    /// `domain` restricted to `condition`, without its empty parts.
    pub(super) fn restrict(&self, domain: &Dnf, condition: &Dnf) -> Dnf {
        let mut parts = intersect(domain, condition);
        parts.retain(|p| !self.effort.is_empty(self.depth(), p));
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
            ExprKind::Cast(ScalarType::BOOL, a) => self.cases(a)?,
            _ => {
                let form = self.affine(e)?.form;
                let zero = Affine::constant(self.depth(), 0);
                (
                    compare(Binary::Ne, &form, &zero).unwrap_or_default(),
                    compare(Binary::Eq, &form, &zero).unwrap_or_default(),
                )
            }
        };
        if holds.len().max(fails.len()) > DISJUNCTS {
            refuse(e.span, "the condition has too many cases", "split it into several `if`s")
        } else {
            Ok((holds, fails))
        }
    }

    fn both(&self, x: &Dnf, y: &Dnf) -> Dnf {
        let mut parts = intersect(x, y);
        if parts.len() > 2 {
            parts.retain(|p| !self.effort.is_empty(self.depth(), p));
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
        if self.effort.spent() {
            return Truth::Data;
        }
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
                let (decisive, neutral) = if *op == Binary::LogicalAnd {
                    (Truth::Never, Truth::Always)
                } else {
                    (Truth::Always, Truth::Never)
                };
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
