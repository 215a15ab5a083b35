//! Index-set splitting (Griebl, Feautrier and Lengauer, 2000): a statement with an affine condition inside becomes
//! several statements on parts of its domain.
//!
//! `b = i > 0 ? a[i - 1] : 0` reads `a[i - 1]` for `i > 0` only; as one statement it would read outside of the array.
//! It becomes `b = a[i - 1]` on `i > 0` and `b = 0` on `i = 0`.

use super::form::{Dnf, Truth};
use super::reaching::Reaching;
use super::{Guard, Sema, Stored};
use crate::ast;
use crate::ast::{Binary, ExprKind, Unary};
use scop::diag::Span;

/// Limit on the parts of one statement.
const PARTS: usize = 256;

impl Sema {
    /// Counts a split of the current statement. True if there are too many; the first time it is reported.
    pub(super) fn too_many_parts(&mut self, span: Span) -> bool {
        self.parts += 1;
        if self.parts == PARTS {
            let help = "every `?:` or `&&` with a condition on iterators in front of an array element doubles the \
                cases: use `if` around several statements";
            self.error(
                "E0415",
                span,
                format!("the statement splits into more than {PARTS} cases"),
                "too many conditions on iterators",
                help,
            );
        }
        self.parts >= PARTS
    }

    /// Runs `inner` in each nonempty part of the domain; its argument is true for the first part.
    pub(super) fn in_parts(&mut self, parts: [Dnf; 2], mut inner: impl FnMut(&mut Self, bool)) {
        let (before, mut after) = (self.reaching.clone(), None::<Reaching>);
        for (part, first) in parts.into_iter().zip([true, false]) {
            if part.is_empty() || self.overfull || self.effort.spent() {
                continue;
            }
            self.reaching = before.clone();
            let whole = std::mem::replace(&mut self.nest.domain, part);
            inner(self, first);
            self.nest.domain = whole;
            after = Some(after.map_or_else(|| self.reaching.clone(), |other| other.joined(&self.reaching)));
        }
        self.reaching = after.unwrap_or(before);
    }

    pub(super) fn split_stored(&self, stored: &Stored) -> Option<(Dnf, Dnf)> {
        match stored {
            Stored::Value(_, e) => self.split_inside(e, false),
            Stored::Choice(guard, a, b) => {
                self.split_guard(guard).or_else(|| self.split_stored(a)).or_else(|| self.split_stored(b))
            }
            Stored::Old => None,
        }
    }

    fn split_guard(&self, guard: &Guard) -> Option<(Dnf, Dnf)> {
        match guard {
            Guard::Source(e) => self.split_inside(e, false),
            Guard::Saved(_) => None,
        }
    }

    pub(super) fn split_predicates(&self) -> Option<(Dnf, Dnf)> {
        self.predicates.iter().find_map(|p| self.split_guard(&p.guard))
    }

    /// The first undecided affine part of a condition that `&&`, `||` or `!` combine with data.
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

    /// An affine condition inside `e` that must split the statement, so that array elements are read only where C reads
    /// them. `subscript`: `e` is part of a subscript, which must be one affine form.
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

fn reads_array(e: &ast::Expr) -> bool {
    let mut found = false;
    e.walk(&mut |x| found |= matches!(x.kind, ExprKind::Index(..)));
    found
}
