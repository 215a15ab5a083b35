//! Tables of constants, which are no arrays: elements are chosen by conditions on iterators where there are few, else looked up.

use super::affine::type_range;
use super::form::Dnf;
use super::operate::{self, constant, node, select};
use super::Sema;
use crate::ast::{self, Declarator, Init};
use crate::diag::Span;
use crate::polyhedron;
use crate::scop::{Access, Affine, ArrayId, Binding, BinaryOp, Constraint, Expr, ExprKind, ScalarType, Storage};
use crate::value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tables of at most so many constants are no arrays.
const LARGEST: i64 = 1024;
/// Of so many, those that iterators select are conditions on these.
const FEW: usize = 64;

impl Sema {
    /// The elements of a small table of constants, which needs no memory.
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
        (0..total).map(|k| given.get(&k).map_or(Some(0), |e| self.constant_value(e, ty).map(|v| v.0))).collect()
    }

    /// An element of a table at subscripts of which some follow data; `None` if `e` is something else.
    pub(super) fn looked_up(&mut self, e: &ast::Expr, reads: &mut Vec<Access>) -> Option<Option<Expr>> {
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
            let scaled = operate::binary(BinaryOp::Mul, position, constant(extent as u64, ScalarType::I32, e.span), e.span);
            position = operate::binary(BinaryOp::Add, scaled, at, e.span);
        }
        Some(Some(node(ExprKind::Lookup(table, Box::new(position)), ty, e.span)))
    }

    /// A subscript of a table, which must not lead outside of it: known when all statements are.
    fn position(&mut self, subscript: &ast::Expr, extent: i64, name: &str, reads: &mut Vec<Access>) -> Option<Expr> {
        let value = self.value(subscript, reads)?;
        if value.ty.is_float() {
            self.error("E0311", subscript.span, "a subscript is no integer", format!("it is a `{}`", value.ty), "convert it by a cast");
            return None;
        }
        let reads = reads.iter().map(|r| r.array).collect();
        self.positions.push(Position { value: value.clone(), reads, domain: self.nest.domain.clone(), extent, name: name.into(), span: subscript.span });
        Some(operate::convert(value, ScalarType::I32))
    }

    /// Reports the subscripts of tables that may lead outside.
    pub(super) fn check_positions(&mut self) {
        for p in std::mem::take(&mut self.positions) {
            let (low, high) = Values { sema: self, domain: &p.domain, reads: &p.reads, open: vec![] }.of(&p.value);
            if low < 0 || high >= i128::from(p.extent) {
                let label = format!("from what is known of types, masks and limits, this is {low} to {high}");
                let mask = (p.extent as u64 + 1).next_power_of_two() / 2 - 1;
                let help = format!("the extent is {}: mask the subscript (`x & {mask}`) or clamp it, so that it is sure to stay inside", p.extent);
                self.error("E0411", p.span, format!("`{}` may be accessed outside its bounds", p.name), label, help);
            }
        }
    }
}

/// A subscript of a table that follows data.
#[derive(Clone)]
pub(super) struct Position {
    value: Expr,
    /// Of the statement, as far as the subscript needs them.
    reads: Vec<ArrayId>,
    domain: Dnf,
    extent: i64,
    name: String,
    span: Span,
}

/// What values integer expressions may have.
struct Values<'a> {
    sema: &'a Sema,
    domain: &'a [Vec<Constraint>],
    reads: &'a [ArrayId],
    /// Arrays whose values are being looked for.
    open: Vec<ArrayId>,
}

impl Values<'_> {
    /// The least and the greatest value of an integer expression, as far as its types, masks and iterators tell.
    fn of(&self, e: &Expr) -> (i128, i128) {
        let all = type_range(e.ty);
        let fits = |(low, high): (i128, i128)| if low >= all.0 && high <= all.1 { (low, high) } else { all };
        match &e.kind {
            ExprKind::Const(bits) => (value::to_integer(*bits, e.ty), value::to_integer(*bits, e.ty)),
            ExprKind::Iter(form) => fits(self.iterated(form).unwrap_or(all)),
            ExprKind::Holds(_) => (0, 1),
            ExprKind::Read(k) => fits(self.stored(self.reads[*k]).unwrap_or(all)),
            ExprKind::Cast(a) if !a.ty.is_float() => fits(self.of(a)),
            ExprKind::Select(_, a, b) => joined(self.of(a), self.of(b)),
            ExprKind::Lookup(table, _) if !e.ty.is_float() => {
                let values = || table.iter().map(|&bits| value::to_integer(bits, e.ty));
                (values().min().unwrap_or(all.0), values().max().unwrap_or(all.1))
            }
            ExprKind::Binary(op, a, b) if !a.ty.is_float() => {
                let (a, b) = (self.of(a), self.of(b));
                match op {
                    BinaryOp::Add => fits((a.0 + b.0, a.1 + b.1)),
                    BinaryOp::Sub => fits((a.0 - b.1, a.1 - b.0)),
                    BinaryOp::Mul => {
                        let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                        fits(products.iter().fold((products[0], products[0]), |r, &p| joined(r, (p, p))))
                    }
                    BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
                    BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
                    BinaryOp::And if a.0 >= 0 || b.0 >= 0 => (0, [a, b].iter().filter(|r| r.0 >= 0).map(|r| r.1).min().unwrap_or(all.1)),
                    BinaryOp::Rem if b.0 > 0 => (a.0.signum().min(0) * (b.1 - 1), (b.1 - 1).min(a.1.max(0))),
                    BinaryOp::Div if b.0 > 0 && a.0 >= 0 => (0, a.1 / b.0),
                    BinaryOp::Shr if b.0 == b.1 && (0..64).contains(&b.0) => (a.0 >> b.0, a.1 >> b.0),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => (0, 1),
                    _ => all,
                }
            }
            _ => all,
        }
    }

    /// What the region's statements store to an array that only they write.
    fn stored(&self, array: ArrayId) -> Option<(i128, i128)> {
        let own = self.sema.slots.iter().find(|s| s.array == Some(array))?;
        if own.storage != Storage::Local || own.binding != Binding::Local || self.open.contains(&array) {
            return None;
        }
        let range = type_range(own.ty);
        let writers = self.sema.statements.iter().filter(|s| s.write.array == array);
        let values = writers.map(|s| {
            let reads: Vec<ArrayId> = s.reads.iter().map(|r| r.array).collect();
            let open = self.open.iter().copied().chain([array]).collect();
            let value = Values { domain: &s.domain, reads: &reads, open, ..*self }.of(&s.rhs);
            (!s.rhs.ty.is_float() && value.0 >= range.0 && value.1 <= range.1).then_some(value)
        });
        values.reduce(|a, b| Some(joined(a?, b?)))?
    }

    /// The values of a form over the iterations.
    fn iterated(&self, form: &Affine) -> Option<(i128, i128)> {
        let mut all = None;
        for disjunct in self.domain {
            let (low, high) = polyhedron::range(form.coeffs.len(), disjunct, form);
            let own = (i128::from(low?), i128::from(high?));
            all = Some(all.map_or(own, |r| joined(r, own)));
        }
        all
    }
}

fn joined(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0.min(b.0), a.1.max(b.1))
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

/// The same as a tree of choices that halves the first subscript's range.
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
        let reaches = Constraint { expr: Affine { constant: form.constant - middle as i64, ..form.clone() }, equality: false };
        select(node(ExprKind::Holds(vec![reaches]), ScalarType::BOOL, span), above, below, span)
    }
    match &subscripts[0] {
        form if form.is_constant() => row(form.constant.clamp(0, dims[0] - 1) as usize),
        form => choose(0, dims[0] as usize, form, span, &row),
    }
}

