//! Small tables of constants (`static const int T[4] = { … };`), which need no memory.
//!
//! An element at affine subscripts becomes a constant or, for up to [`FEW`] elements, a tree of selects on the
//! iterators. Other subscripts (affine into a larger table, or data) become a `Lookup`. A data-dependent subscript must
//! provably stay inside the table: `values` bounds it after all statements are known, from types, masks and the
//! conditions around the read.

use super::form::Dnf;
use super::operate::{self, constant, node, select};
use super::reaching::Source;
use super::values::{Fact, StoredRanges, Values};
use super::{Guard, Sema};
use crate::ast;
use crate::ast::{Declarator, Init};
use scop::diag::Span;
use scop::value;
use scop::{Access, Affine, BinaryOp, Constraint, Expr, ExprKind, ScalarType};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Limit on the constants of such a table; a larger one is an array.
pub(super) const LARGEST: i64 = 1024;
/// Tables of up to this many constants become selects.
const FEW: usize = 64;

impl Sema {
    /// The elements of a declaration that is a small table of constants.
    pub(super) fn table(&mut self, dims: &[i64], d: &Declarator, ty: ScalarType) -> Option<Arc<[u64]>> {
        let total: i64 = dims.iter().product();
        let Some(Init::List(items, span)) = &d.init else { return None };
        if dims.is_empty() || total > LARGEST {
            return None;
        }
        let before = self.faults.len();
        let mut given = BTreeMap::new();
        let fits = self.flatten(items, dims, 0, *span, &mut given);
        self.faults.truncate(before);
        fits?;
        let in_cell = |bits: u64| match d.ty.width {
            Some(width) => super::width::in_cell(&super::width::cell(width, ty.signed()), bits).unwrap_or(bits),
            None => bits,
        };
        let value = |k: i64| given.get(&k).map_or(Some(0), |e| self.constant_value(e, ty).map(|v| in_cell(v.0)));
        (0..total).map(value).collect()
    }

    /// A table's element at data-dependent subscripts. The outer `None`: `e` is anything else; the inner: a fault.
    pub(super) fn table_lookup(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Option<Expr>> {
        let (base, subscripts) = e.element()?;
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        let Some(super::Entity::Slot(slot)) = self.lookup(name) else { return None };
        let s = &self.slots[*slot];
        let (table, dims, ty) = (s.table.clone()?, s.dims.clone()?, s.ty);
        if dims.len() != subscripts.len() || subscripts.iter().all(|s| self.affine(s).is_ok()) {
            return None;
        }
        let mut position = constant(0, ScalarType::I32, e.span);
        for (subscript, &extent) in subscripts.iter().zip(&dims) {
            let Some(at) = self.position(subscript, extent, name, reads) else { return Some(None) };
            let scaled =
                operate::binary(BinaryOp::Mul, position, constant(extent as u64, ScalarType::I32, e.span), e.span);
            position = operate::binary(BinaryOp::Add, scaled, at, e.span);
        }
        Some(Some(node(ExprKind::Lookup(table, Box::new(position)), ty, e.span)))
    }

    /// A data-dependent subscript; [`Self::check_positions`] checks its bounds later.
    fn position(&mut self, subscript: &ast::Expr, extent: i64, name: &str, reads: &mut Vec<Access>) -> Option<Expr> {
        let value = self.value(subscript, reads)?;
        if value.ty.is_float() {
            self.error(
                "E0311",
                subscript.span,
                "a subscript is not an integer",
                format!("it is a `{}`", value.ty),
                "convert it by a cast",
            );
            return None;
        }
        let mut reads = reads.clone();
        let facts = self.facts_here(&mut reads);
        let reads = reads.iter().map(|r| self.source(r.array)).collect();
        self.positions.push(Position {
            value: value.clone(),
            facts,
            reads,
            domain: self.nest.domain.clone(),
            extent,
            name: name.into(),
            span: subscript.span,
        });
        Some(operate::convert(value, ScalarType::I32))
    }

    /// The conditions under which the current expression is used. They may add reads.
    fn facts_here(&mut self, reads: &mut Vec<Access>) -> Vec<Fact> {
        let (faults, positions) = (self.faults.len(), self.positions.len());
        let predicates = std::mem::take(&mut self.predicates);
        let mut facts = self.facts.clone();
        for p in &predicates {
            // A saved condition says nothing about the current values of its operands.
            let Guard::Source(source) = &p.guard else { continue };
            facts.extend(self.condition(source, reads).map(|condition| Fact { condition, holds: p.polarity }));
        }
        self.predicates = predicates;
        self.faults.truncate(faults);
        self.positions.truncate(positions);
        facts
    }

    /// Runs `within` in a branch of a condition, with the fact that the condition has this value.
    pub(super) fn with_fact<T>(
        &mut self,
        condition: &Option<Expr>,
        holds: bool,
        within: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.facts.len();
        self.facts.extend(condition.iter().map(|c| Fact { condition: c.clone(), holds }));
        let result = within(self);
        self.facts.truncate(before);
        result
    }

    /// Reports the subscripts that may be outside of their tables.
    pub(super) fn check_positions(&mut self) {
        let stored = StoredRanges::default();
        for p in std::mem::take(&mut self.positions) {
            let (low, high) = Values::new(self, &p.domain, &p.reads, &p.facts, &stored).of(&p.value);
            self.check_effort(p.span);
            if self.overfull {
                return;
            }
            if low < 0 || high >= i128::from(p.extent) {
                let label = format!("this is {low} to {high}, as far as types, masks, limits and conditions tell");
                let mask = (p.extent as u64 + 1).next_power_of_two() / 2 - 1;
                let help = format!(
                    "the extent is {}: mask the subscript (`x & {mask}`), clamp it, or read the table only under a \
                    condition that keeps it inside",
                    p.extent
                );
                self.error("E0411", p.span, format!("`{}` may be accessed outside its bounds", p.name), label, help);
            }
        }
    }
}

/// A data-dependent subscript of a table.
#[derive(Clone)]
pub(super) struct Position {
    value: Expr,
    /// Conditions under which it is used.
    facts: Vec<Fact>,
    /// Sources of the reads in the subscript and the conditions.
    reads: Vec<Source>,
    domain: Dnf,
    extent: i64,
    name: String,
    span: Span,
}

/// The element of a table (row-major) at subscripts over the iterators.
pub(super) fn element(table: &Arc<[u64]>, dims: &[i64], subscripts: &[Affine], ty: ScalarType, span: Span) -> Expr {
    if table.len() <= FEW {
        return chosen(table, dims, subscripts, ty, span);
    }
    let mut position = Affine::constant(subscripts[0].coeffs.len(), 0);
    for (subscript, &extent) in subscripts.iter().zip(dims) {
        position.coeffs.iter_mut().zip(&subscript.coeffs).for_each(|(p, &c)| *p = *p * extent + c);
        position.constant = position.constant * extent + subscript.constant;
    }
    if position.is_constant() {
        return constant(value::eval_lookup(table, position.constant as u64), ty, span);
    }
    let position = node(ExprKind::Iter(position), ScalarType::I32, span);
    node(ExprKind::Lookup(table.clone(), Box::new(position)), ty, span)
}

/// The element as a tree of selects that halves the first subscript's range.
fn chosen(table: &[u64], dims: &[i64], subscripts: &[Affine], ty: ScalarType, span: Span) -> Expr {
    if table.iter().all(|v| v == &table[0]) {
        return constant(table[0], ty, span);
    }
    let (inner, rest) = (table.len() / dims[0] as usize, &subscripts[1..]);
    let row = |k: usize| chosen(&table[k * inner..(k + 1) * inner], &dims[1..], rest, ty, span);
    fn choose(lo: usize, hi: usize, form: &Affine, span: Span, row: &dyn Fn(usize) -> Expr) -> Expr {
        if hi - lo == 1 {
            return row(lo);
        }
        let middle = lo + (hi - lo) / 2;
        let (below, above) = (choose(lo, middle, form, span, row), choose(middle, hi, form, span, row));
        let reaches =
            Constraint { expr: Affine { constant: form.constant - middle as i64, ..form.clone() }, equality: false };
        select(node(ExprKind::Holds(vec![reaches]), ScalarType::BOOL, span), above, below, span)
    }
    match &subscripts[0] {
        form if form.is_constant() => row(form.constant.clamp(0, dims[0] - 1) as usize),
        form => choose(0, dims[0] as usize, form, span, &row),
    }
}
