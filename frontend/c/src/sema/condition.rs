//! Conditions: an affine one as a disjoint union of conjunctions, and whether it is decided in the current domain.
//!
//! `i < 4 || j == 0` holds on `{ i <= 3 }` and `{ i >= 4, j = 0 }`; in a domain with `i <= 3` it is always true.

use super::form::{compare, intersect, negated, refuse, Affinity, Dnf, Truth};
use super::Sema;
use crate::ast;
use crate::ast::{Binary, ExprKind, Unary};
use scop::{Affine, ScalarType};

/// Limit on the conjunctions of a union.
const DISJUNCTS: usize = 64;

impl Sema {
    /// `domain` restricted to `condition`, without its empty parts.
    pub(super) fn restrict(&self, domain: &Dnf, condition: &Dnf) -> Dnf {
        let mut parts = intersect(domain, condition);
        parts.retain(|p| !self.effort.is_empty(self.depth(), p));
        parts
    }

    /// The sets where `e` holds and where it fails.
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

    /// `x || y` as a disjoint union: `x`, or `!x && y`.
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

    /// The truth of `e` in the current domain.
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
}
