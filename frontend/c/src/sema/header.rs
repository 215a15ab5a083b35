//! Headers of `for` loops: the iterator, its start (possibly a minimum or maximum) and its step.

use super::form::{AffineValue, Dnf};
use super::{Entity, Sema};
use crate::ast;
use crate::ast::{AnyWidth, Binary, ExprKind, For, ForInit};
use scop::diag::Span;
use scop::ScalarType;
use std::rc::Rc;

const SHAPE: &str = "write `for (int i = START; i < END; i += STEP)` with affine START and END and a constant STEP";

/// A loop's header without its condition.
pub(super) struct Header {
    pub name: Rc<str>,
    /// The type of the variable's cell, and its width if it is an integer of any width.
    pub ty: ScalarType,
    pub width: Option<AnyWidth>,
    /// The slot of a variable declared outside of the header.
    pub slot: Option<usize>,
    /// The start is the greatest of these (counting up) or the least (counting down).
    pub starts: Vec<AffineValue>,
    pub step: i64,
    pub span: Span,
}

/// The first part of a loop's header.
struct Start<'a> {
    name: Rc<str>,
    ty: ScalarType,
    width: Option<AnyWidth>,
    slot: Option<usize>,
    value: &'a ast::Expr,
}

impl Sema {
    /// An affine condition in the start or bound, other than in a minimum or maximum, that splits the domain.
    pub(super) fn split_header(&self, f: &For) -> Option<(Dnf, Dnf)> {
        f.start().into_iter().chain(&f.condition).find_map(|e| self.split_bound(e))
    }

    fn split_bound(&self, e: &ast::Expr) -> Option<(Dnf, Dnf)> {
        let sides = match &e.kind {
            ExprKind::Binary(op, a, b) if op.is_comparison() || *op == Binary::LogicalAnd => Some((&**a, &**b)),
            _ => extremum(e, true).or_else(|| extremum(e, false)),
        };
        match sides {
            Some((a, b)) => self.split_bound(a).or_else(|| self.split_bound(b)),
            None => self.split_inside(e, true),
        }
    }

    pub(super) fn bad_header<T>(&mut self, span: Span, message: &str, label: &str) -> Option<T> {
        self.error("E0406", span, message, label, SHAPE);
        None
    }

    pub(super) fn header(&mut self, f: &For) -> Option<Header> {
        let start = self.start(f);
        let step = match (&f.step, f.iterator()) {
            (Some(e), Some(name)) => self.step(e, &name),
            (Some(_), None) => None,
            (None, _) => self.bad_header(f.header, "the loop has no step", "its third part is missing"),
        };
        if f.condition.is_none() {
            self.bad_header::<()>(f.header, "the loop has no condition", "its second part is missing");
            return None;
        }
        let (start, step) = (start?, step?);
        let starts = self.terms(start.value, step > 0, "E0407", "the loop's start")?;
        let Start { name, ty, width, slot, .. } = start;
        Some(Header { name, ty, width, slot, starts, step, span: f.header })
    }

    fn start<'a>(&mut self, f: &'a For) -> Option<Start<'a>> {
        match &f.init {
            ForInit::None => {
                self.bad_header(f.header, "the loop does not set its iterator", "its first part is missing")
            }
            ForInit::Declare(all) => {
                let [d] = all.as_slice() else {
                    return self.bad_header(
                        all.get(1).map_or(f.header, |d| d.span),
                        "the loop declares several variables",
                        "one iterator per loop",
                    );
                };
                let Some(ast::Init::Value(init)) = &d.init else {
                    return self.bad_header(d.span, "the iterator has no start", "it is not initialized");
                };
                match d.ty.scalar {
                    Some(ty)
                        if !ty.is_float()
                            && ty != ScalarType::BOOL
                            && d.ty.width.is_none_or(|w| w.grows)
                            && d.dims.is_empty()
                            && d.pointer.is_none() =>
                    {
                        Some(Start { name: d.name.clone(), ty, width: d.ty.width, slot: None, value: init })
                    }
                    _ => self.bad_header(d.span, "the iterator is not an integer", "of this type"),
                }
            }
            ForInit::Expr(ast::Expr { kind: ExprKind::Assign(None, target, init), .. }) => {
                let ExprKind::Name(name) = &target.kind else {
                    return self.bad_header(target.span, "the iterator must be a plain variable", "not a name");
                };
                match self.lookup(name).cloned() {
                    Some(Entity::Slot(k))
                        if !self.slots[k].ty.is_float()
                            && self.slots[k].width.is_none_or(|w| w.grows)
                            && self.slots[k].dims.as_ref().is_some_and(Vec::is_empty) =>
                    {
                        let (ty, width) = (self.slots[k].ty, self.slots[k].width);
                        Some(Start { name: name.clone(), ty, width, slot: Some(k), value: init })
                    }
                    Some(Entity::Iterator(_)) => {
                        self.error(
                            "E0409",
                            target.span,
                            format!("the iterator `{name}` is assigned inside its loop"),
                            "an outer loop counts it already",
                            "use another iterator",
                        );
                        None
                    }
                    Some(Entity::Poison) => None,
                    None => {
                        self.unknown(name, target.span);
                        None
                    }
                    _ => self.bad_header(target.span, "the iterator must be an integer variable", "this is not one"),
                }
            }
            ForInit::Expr(e) => self.bad_header(e.span, "the loop must set one iterator", "expected `i = START`"),
        }
    }

    pub(super) fn step(&mut self, e: &ast::Expr, name: &str) -> Option<i64> {
        let is_iterator = |x: &ast::Expr| matches!(&x.kind, ExprKind::Name(n) if **n == *name);
        let (op, target, amount) = match &e.kind {
            ExprKind::Step(op, target) => (*op, target, Some(ast::Expr::one(e.span))),
            ExprKind::Assign(Some(op @ (Binary::Add | Binary::Sub)), target, amount) => {
                (*op, target, Some((**amount).clone()))
            }
            ExprKind::Assign(None, target, value) => match &value.kind {
                ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) if is_iterator(a) => {
                    (*op, target, Some((**b).clone()))
                }
                ExprKind::Binary(Binary::Add, a, b) if is_iterator(b) => (Binary::Add, target, Some((**a).clone())),
                _ => (Binary::Add, target, None),
            },
            _ => {
                return self.bad_header(
                    e.span,
                    "the loop's step is not understood",
                    "expected `i++`, `i--`, `i += STEP` or `i -= STEP`",
                )
            }
        };
        if !is_iterator(target) {
            return self.bad_header(target.span, "the loop steps another variable", &format!("`{name}` was set"));
        }
        let Some(amount) = amount else {
            return self.bad_header(e.span, "the loop's step is not constant", "only sums with a constant");
        };
        let amount = match self.affine(&amount) {
            Ok(v) if v.form.is_constant() => v.form.constant,
            Ok(_) => {
                return self.bad_header(amount.span, "the loop's step is not constant", "it changes with an iterator")
            }
            Err(refusal) => {
                self.report_refusal(refusal, "E0406", "the loop's step");
                return None;
            }
        };
        match if op == Binary::Add { amount } else { -amount } {
            0 => self.bad_header(e.span, "the loop's step is 0", "the loop would never end"),
            step => Some(step),
        }
    }

    /// The affine terms whose greatest (`greatest`) or least is `e`.
    pub(super) fn terms(
        &mut self,
        e: &ast::Expr,
        greatest: bool,
        code: &'static str,
        what: &str,
    ) -> Option<Vec<AffineValue>> {
        if let Some((a, b)) = extremum(e, greatest) {
            let (a, b) = (self.terms(a, greatest, code, what), self.terms(b, greatest, code, what));
            return Some(a?.into_iter().chain(b?).collect());
        }
        match self.affine(e) {
            Ok(v) => Some(vec![v]),
            Err(refusal) => {
                self.report_refusal(refusal, code, what);
                None
            }
        }
    }
}

/// The operands of a minimum or maximum written as `a < b ? a : b`.
fn extremum(e: &ast::Expr, greatest: bool) -> Option<(&ast::Expr, &ast::Expr)> {
    let ExprKind::Conditional(c, a, b) = &e.kind else { return None };
    let ExprKind::Binary(op, x, y) = &c.kind else { return None };
    let less = matches!(op, Binary::Lt | Binary::Le);
    if !less && !matches!(op, Binary::Gt | Binary::Ge) {
        return None;
    }
    let picks_left = if a.same(x) && b.same(y) {
        true
    } else if a.same(y) && b.same(x) {
        false
    } else {
        return None;
    };
    // `x < y ? x : y` is the minimum.
    let minimum = less == picks_left;
    (minimum != greatest).then_some((a, b))
}
