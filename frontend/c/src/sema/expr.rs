//! Typed expressions: every operator gets C's types, and reads are collected into the statement's list.

use super::affine::binary_op;
use super::form::Truth;
use super::operate::{self, arithmetic, compare, constant, convert, node, select, to_bool, truth};
use super::table;
use super::types::{function, promote, type_of, usual};
use super::width::I64;
use super::{Entity, Guard, Sema};
use crate::ast;
use crate::ast::{Binary, Unary};
use scop::diag::Span;
use scop::{Access, BinaryOp, Expr, ExprKind, HostFunction, ScalarType, UnaryOp};

/// Index of `access` in `reads`; appended if it is new.
pub(super) fn read(reads: &mut Vec<Access>, access: Access) -> usize {
    match reads.iter().position(|r| r.array == access.array && r.subscripts == access.subscripts) {
        Some(k) => k,
        None => {
            reads.push(access);
            reads.len() - 1
        }
    }
}

impl Sema {
    /// The value of `e`, of its C type; `None` if a fault was reported.
    pub(super) fn value(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Expr> {
        match &e.kind {
            ast::ExprKind::Literal(bits, ty) => Some(constant(*bits, *ty, e.span)),
            ast::ExprKind::Name(name) => self.name_value(name, e, reads),
            ast::ExprKind::Index(..) => self.element_value(e, reads),
            ast::ExprKind::Call(name, arguments) => self.call(name, arguments, e.span, reads),
            ast::ExprKind::Unary(Unary::LogicalNot, _) => self.widened(e, reads),
            ast::ExprKind::Unary(op, a) => {
                let width = self.least_width(e);
                let a = self.value(a, reads)?;
                self.check_bits(width, e.span)?;
                let ty = promote(a.ty);
                if let Some(w) = width.filter(|w| w.is_exact() && !ty.is_float()) {
                    return Some(match op {
                        Unary::Neg | Unary::Not => {
                            let op = if *op == Unary::Neg { UnaryOp::Neg } else { UnaryOp::Not };
                            super::width::narrowed(operate::unary(op, a, e.span), w.bits, w.signed)
                        }
                        Unary::Plus | Unary::LogicalNot => a,
                    });
                }
                match op {
                    Unary::Neg => Some(operate::unary(UnaryOp::Neg, convert(a, ty), e.span)),
                    Unary::Not if ty.is_float() => self.operand_types("this operator needs integers".into(), e.span),
                    Unary::Not => Some(operate::unary(UnaryOp::Not, convert(a, ty), e.span)),
                    Unary::Plus | Unary::LogicalNot => Some(convert(a, ty)),
                }
            }
            ast::ExprKind::Binary(op, ..)
                if op.is_comparison() || matches!(op, Binary::LogicalAnd | Binary::LogicalOr) =>
            {
                self.widened(e, reads)
            }
            ast::ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a, reads), self.value(b, reads));
                let (x, y) = (x?, y?);
                self.check_width(*op, a, b)?;
                if let Some(widths) = self.exact(*op, self.width(a), self.width(b)) {
                    return self.exact_arithmetic(*op, (x, y), widths, e.span);
                }
                let result = self.arithmetic(*op, x, y, e.span)?;
                // A shifted value keeps its width.
                let width = self.width(a).filter(|w| *op == Binary::Shl && w.grows());
                Some(width.map_or(result.clone(), |w| super::width::narrowed(result, w.bits, w.signed)))
            }
            ast::ExprKind::Conditional(c, a, b) => self.conditional(c, a, b, e.span, reads),
            ast::ExprKind::Cast(ty, a) => {
                let a = self.value(a, reads)?;
                Some(Expr { span: e.span, ..convert(a, *ty) })
            }
            ast::ExprKind::Assign(..) | ast::ExprKind::Step(..) | ast::ExprKind::Comma(..) => {
                self.error(
                    "E0405",
                    e.span,
                    "side effect inside an expression",
                    "the result would depend on the order of effects",
                    "make it a statement of its own",
                );
                None
            }
            ast::ExprKind::Address(_) => {
                self.error(
                    "E0403",
                    e.span,
                    "taking an address is not supported",
                    "a pointer hides which element it points to",
                    "use an array with affine subscripts; `&x` may be an argument of a function that the file defines",
                );
                None
            }
            ast::ExprKind::SizeOf(_) => {
                self.error(
                    "E0404",
                    e.span,
                    "this size is not known",
                    "it is not a constant",
                    "write the number of bytes",
                );
                None
            }
            ast::ExprKind::Member(_) | ast::ExprKind::Poison => None,
        }
    }

    /// A condition converted to `int`, as C does.
    fn widened(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Expr> {
        let condition = self.condition(e, reads)?;
        Some(convert(condition, ScalarType::I32))
    }

    fn operand_types<T>(&mut self, why: String, span: Span) -> Option<T> {
        self.error("E0311", span, "operands of unsuitable types", why, "convert the operands by a cast");
        None
    }

    pub(super) fn arithmetic(&mut self, op: Binary, a: Expr, b: Expr, span: Span) -> Option<Expr> {
        match arithmetic(binary_op(op), a, b, span) {
            Ok(e) => Some(e),
            Err(why) => self.operand_types(why, span),
        }
    }

    fn name_value(&mut self, name: &str, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Expr> {
        match self.lookup(name) {
            Some(Entity::Iterator(k)) => {
                let iterator = &self.nest.iterators[*k];
                let mut form = iterator.value.clone();
                form.coeffs.resize(self.depth(), 0);
                Some(node(ExprKind::Iter(form), iterator.ty, e.span))
            }
            Some(Entity::Constant(bits, ty)) => Some(constant(*bits, *ty, e.span)),
            _ => self.element_value(e, reads),
        }
    }

    fn element_value(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Expr> {
        let value = self.cell_value(e, reads)?;
        Some(self.of_cell(e, value))
    }

    /// What is in a cell, of its type in memory.
    fn cell_value(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Expr> {
        if let Some(value) = self.table_lookup(e, reads) {
            return value;
        }
        let (slot, subscripts) = self.lvalue(e)?;
        let s = &self.slots[slot];
        if let (Some(table), Some(dims)) = (&s.table, &s.dims) {
            return Some(table::element(table, dims, &subscripts, s.ty, e.span));
        }
        let access = Access { array: self.array_of(slot), subscripts, span: e.span };
        let ty = self.arrays[access.array.index()].ty;
        Some(node(ExprKind::Read(read(reads, access)), ty, e.span))
    }

    fn call(&mut self, name: &str, arguments: &[ast::Expr], span: Span, reads: &mut Vec<Access>) -> Option<Expr> {
        if crate::effects::is_operation(name) {
            let help = "call it as a statement of its own, or write a loop";
            self.error("E0404", span, format!("call of `{name}`"), "its value is used here", help);
            return None;
        }
        let values: Vec<Option<Expr>> = arguments.iter().map(|a| self.value(a, reads)).collect();
        if let (Some((width, signed)), [value]) = (super::width::conversion(name), &values[..]) {
            return value.clone().map(|v| super::width::narrowed(v, width.bits, signed));
        }
        if let (true, [Some(x), Some(y)]) = (name == "pow" || name == "powf", &values[..]) {
            if let Some(power) = small_power(name, x, y, span) {
                return Some(power);
            }
        }
        let Some((count, ty)) = function(name) else {
            let help = match name {
                "min" | "max" | "MIN" | "MAX" => "define it as a macro: #define MIN(a, b) ((a) < (b) ? (a) : (b))",
                _ => "write it out or make it a macro; supported are sqrtf, fabsf, fminf, fmaxf, fmaf and abs",
            };
            self.error("E0404", span, format!("call of `{name}`"), "there is no hardware for this function", help);
            return None;
        };
        if values.len() != count {
            self.error(
                "E0404",
                span,
                format!("`{name}` takes {count} argument(s)"),
                format!("{} given", values.len()),
                "check the call",
            );
            return None;
        }
        let mut values = values.into_iter().map(|v| v.map(|v| convert(v, ty))).collect::<Option<Vec<_>>>()?.into_iter();
        if let Some((f, _)) = HostFunction::named(name) {
            return Some(node(ExprKind::Host(f, values.collect()), ty, span));
        }
        let mut next = || values.next();
        Some(match name {
            "sqrtf" | "sqrt" => operate::unary(UnaryOp::Sqrt, next()?, span),
            "fabsf" | "fabs" | "abs" | "labs" | "llabs" => operate::unary(UnaryOp::Abs, next()?, span),
            "fminf" | "fmin" => operate::binary(BinaryOp::Min, next()?, next()?, span),
            "fmaxf" | "fmax" => operate::binary(BinaryOp::Max, next()?, next()?, span),
            _ => node(ExprKind::Fma(Box::new(next()?), Box::new(next()?), Box::new(next()?)), ty, span),
        })
    }

    fn conditional(
        &mut self,
        c: &ast::Expr,
        a: &ast::Expr,
        b: &ast::Expr,
        span: Span,
        reads: &mut Vec<Access>,
    ) -> Option<Expr> {
        let live = match self.decide(c) {
            Truth::Always => Some(a),
            Truth::Never => Some(b),
            _ => None,
        };
        if let Some(live) = live {
            // The other branch still contributes to the result's type.
            let other = if std::ptr::eq(live, a) { b } else { a };
            let value = self.value(live, reads)?;
            if let Some((to, from, _)) = self.exact(Binary::Or, self.width(live), self.width(other)) {
                return Some(super::width::fitted(value, from, to));
            }
            let ty = self.type_of(other).and_then(|t| usual(value.ty, t)).unwrap_or(value.ty);
            return Some(convert(value, ty));
        }
        let widths = self.exact(Binary::Or, self.width(a), self.width(b));
        let c = self.condition(c, reads);
        let a = self.with_fact(&c, true, |s| s.value(a, reads));
        let b = self.with_fact(&c, false, |s| s.value(b, reads));
        let (c, a, b) = (c?, a?, b?);
        let (a, b) = match widths {
            Some((to, x, y)) => (super::width::fitted(a, x, to), super::width::fitted(b, y, to)),
            None => (a, b),
        };
        match usual(a.ty, b.ty) {
            Some(ty) => Some(select(c, convert(a, ty), convert(b, ty), span)),
            None => self.operand_types("_Float16 and __bf16 have no common type".into(), span),
        }
    }

    /// `e` as a truth value, of type BOOL.
    pub(super) fn condition(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Expr> {
        match &e.kind {
            ast::ExprKind::Unary(Unary::LogicalNot, a) => Some(operate::not(self.condition(a, reads)?, e.span)),
            ast::ExprKind::Binary(op @ (Binary::LogicalAnd | Binary::LogicalOr), a, b) => {
                // A decided side is dropped: it may guard the subscripts of the other one.
                let and = *op == Binary::LogicalAnd;
                for (side, other) in [(a, b), (b, a)] {
                    match self.decide(side) {
                        Truth::Always if and => return self.condition(other, reads),
                        Truth::Never if !and => return self.condition(other, reads),
                        Truth::Always | Truth::Never => return Some(truth(!and, e.span)),
                        _ => {}
                    }
                }
                let a = self.condition(a, reads);
                let b = self.with_fact(&a, and, |s| s.condition(b, reads));
                Some(operate::binary(binary_op(*op), a?, b?, e.span))
            }
            ast::ExprKind::Binary(op, a, b) if op.is_comparison() => {
                let (x, y) = (self.value(a, reads), self.value(b, reads));
                let (x, y) = (x?, y?);
                self.check_width(*op, a, b)?;
                let (mut a, mut b) = match self.exact(Binary::Or, self.width(a), self.width(b)) {
                    Some((to, from_a, from_b)) => {
                        (super::width::fitted(x, from_a, to), super::width::fitted(y, from_b, to))
                    }
                    None => (x, y),
                };
                if matches!(op, Binary::Gt | Binary::Ge) {
                    std::mem::swap(&mut a, &mut b);
                }
                match compare(binary_op(*op), a, b, e.span) {
                    Ok(e) => Some(e),
                    Err(why) => self.operand_types(why, e.span),
                }
            }
            _ => self.value(e, reads).map(to_bool),
        }
    }

    /// A guard as a truth value.
    pub(super) fn guard(&mut self, guard: &Guard, span: Span, reads: &mut Vec<Access>) -> Option<Expr> {
        match guard {
            Guard::Source(e) => self.condition(e, reads),
            Guard::Saved(slot) => {
                let access = Access { array: self.array_of(*slot), subscripts: vec![], span };
                Some(node(ExprKind::Read(read(reads, access)), ScalarType::BOOL, span))
            }
        }
    }

    /// The C type of an expression that is not evaluated; `None` if it is faulty.
    pub(super) fn type_of(&self, e: &ast::Expr) -> Option<ScalarType> {
        type_of(e, &|leaf| {
            if let ast::ExprKind::Call(name, _) = &leaf.kind {
                return super::width::conversion(name).map(|_| I64).or(function(name).map(|(_, ty)| ty));
            }
            let (base, _) = leaf.element()?;
            let ast::ExprKind::Name(name) = &base.kind else { return None };
            match self.lookup(name)? {
                Entity::Slot(k) if self.slots[*k].width.is_some() => Some(I64),
                Entity::Slot(k) => Some(self.slots[*k].ty),
                Entity::Iterator(k) => Some(self.nest.iterators[*k].ty),
                Entity::Constant(_, ty) => Some(*ty),
                Entity::Refused(_) | Entity::Poison => None,
            }
        })
    }
}

/// `pow(x, 0)`, `pow(x, 1)`, and `pow(x, 2)` where the square has no rounding error; the C library gives the same bits.
/// A square that is rounded may differ from the library's in its last bit.
fn small_power(name: &str, x: &Expr, exponent: &Expr, span: Span) -> Option<Expr> {
    let ty = function(name)?.1;
    let ExprKind::Const(bits) = convert(exponent.clone(), ty).kind else { return None };
    let is = |n: u64| convert(constant(n, ScalarType::I32, span), ty).kind == ExprKind::Const(bits);
    let significant = match x.ty {
        ScalarType::Float { fraction, .. } => fraction + 1,
        ScalarType::Int { bits, .. } => bits,
    };
    let ScalarType::Float { fraction, .. } = ty else { return None };
    let factor = convert(x.clone(), ty);
    if is(0) {
        Some(convert(constant(1, ScalarType::I32, span), ty))
    } else if is(1) {
        Some(factor)
    } else if is(2) && 2 * significant <= fraction + 1 {
        Some(operate::binary(BinaryOp::Mul, factor.clone(), factor, span))
    } else {
        None
    }
}
