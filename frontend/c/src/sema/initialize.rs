//! Initializers of locals: statements that store their values.

use super::form::intersect;
use super::{Iterator, Sema};
use crate::ast;
use crate::ast::{Declarator, Init};
use scop::diag::Span;
use scop::{Access, Affine, Constraint, Loop, ScalarType};
use std::collections::BTreeMap;

/// Limit on the elements of an initializer list; each becomes a statement.
const LARGEST_LIST: i64 = 1024;

impl Sema {
    /// Emits the statements of an initializer.
    pub(super) fn initialize(&mut self, slot: usize, d: &Declarator) {
        let Some(dims) = self.slots[slot].dims.clone() else { return };
        self.parts = 0;
        if self.slots[slot].table.is_some() {
            return;
        }
        let members = self.slots[slot].members.clone();
        match &d.init {
            None => {}
            Some(Init::Value(e)) if dims.len() == 1 && members.is_some() => {
                for (k, name) in members.iter().flat_map(|m| m.iter()).enumerate() {
                    let depth = self.depth();
                    self.store(slot, vec![Affine::constant(depth, k as i64)], &e.member(name), d.span);
                }
            }
            Some(Init::Value(e)) if dims.is_empty() => self.store(slot, vec![], e, d.span),
            Some(Init::List(items, span)) if dims.is_empty() => match &items[..] {
                [Init::Value(e)] => self.store(slot, vec![], e, d.span),
                _ => self.error(
                    "E0313",
                    *span,
                    "a scalar has one initializer",
                    format!("`{}` is not an array", d.name),
                    "write its value without braces",
                ),
            },
            Some(Init::Value(e)) => {
                let label = format!("`{}` is an array", d.name);
                self.error("E0313", e.span, "an array needs an initializer list", label, "write { … }");
            }
            Some(Init::List(items, span)) => {
                let zero = ast::Expr { kind: ast::ExprKind::Literal(0, ScalarType::I32), span: *span };
                if items.iter().all(is_zero) {
                    self.fill(slot, &dims, &zero);
                } else {
                    self.initialize_list(slot, &dims, items, *span, &zero);
                }
            }
        }
    }

    /// One store per element.
    fn initialize_list(&mut self, slot: usize, dims: &[i64], items: &[Init], span: Span, zero: &ast::Expr) {
        let mut values = BTreeMap::new();
        let total: i64 = dims.iter().product();
        if total > LARGEST_LIST {
            self.error(
                "E0415",
                span,
                format!("an initializer for {total} elements"),
                format!("at most {LARGEST_LIST} are supported"),
                "fill the array by a loop, or pass it as a parameter",
            );
            return;
        }
        if self.flatten(items, dims, 0, span, &mut values).is_none() {
            return;
        }
        for k in 0..total {
            let mut rest = k;
            let mut point = vec![0; dims.len()];
            for (p, n) in point.iter_mut().zip(dims).rev() {
                *p = rest % n;
                rest /= n;
            }
            let subscripts = point.into_iter().map(|x| Affine::constant(self.depth(), x)).collect();
            self.store(slot, subscripts, values.get(&k).copied().unwrap_or(zero), span);
        }
    }

    /// Enters the items of a list into `out`, for the sub-array at `base` (row-major).
    pub(super) fn flatten<'a>(
        &mut self,
        items: &'a [Init],
        dims: &[i64],
        base: i64,
        span: Span,
        out: &mut BTreeMap<i64, &'a ast::Expr>,
    ) -> Option<()> {
        let inner: i64 = dims[1..].iter().product();
        if items.iter().all(|i| matches!(i, Init::Value(_))) {
            // Without inner braces the values fill the sub-array in order.
            if items.len() as i64 > inner * dims[0] {
                self.error(
                    "E0313",
                    span,
                    "too many initializers",
                    format!("{} values for {} elements", items.len(), inner * dims[0]),
                    "check the extents",
                );
                return None;
            }
            for (k, item) in items.iter().enumerate() {
                if let Init::Value(e) = item {
                    out.insert(base + k as i64, e);
                }
            }
            return Some(());
        }
        if items.len() as i64 > dims[0] {
            self.error(
                "E0313",
                span,
                "too many initializers",
                format!("{} rows for an extent of {}", items.len(), dims[0]),
                "check the extents",
            );
            return None;
        }
        for (k, item) in items.iter().enumerate() {
            match item {
                Init::List(inner_items, s) if dims.len() > 1 => {
                    self.flatten(inner_items, &dims[1..], base + k as i64 * inner, *s, out)?
                }
                _ => {
                    self.error(
                        "E0313",
                        span,
                        "the initializer does not fit the array's shape",
                        "braces and values are mixed",
                        "give one pair of braces per row",
                    );
                    return None;
                }
            }
        }
        Some(())
    }

    /// Stores an initializer's value.
    fn store(&mut self, slot: usize, subscripts: Vec<Affine>, e: &ast::Expr, span: Span) {
        if let Some((holds, fails)) = self.split_inside(e, false) {
            if self.too_many_parts(span) {
                return;
            }
            return self.in_parts([holds, fails], |s, _| s.store(slot, subscripts.clone(), e, span));
        }
        let mut reads = vec![];
        let Some(value) = self.value(e, &mut reads) else { return };
        let write = Access { array: self.array_of(slot), subscripts, span };
        let rhs = self.stored_as(write.array, value);
        self.emit(write, rhs, reads, crate::parse::join(span, e.span));
    }

    /// Emits a loop nest that stores `value` into every element.
    fn fill(&mut self, slot: usize, dims: &[i64], value: &ast::Expr) {
        let outer = self.nest.clone();
        let counters = self.counters.len();
        let mut subscripts = vec![];
        for (k, &extent) in dims.iter().enumerate() {
            let name = format!("{}_{k}", self.slots[slot].name);
            let position = self.take_position();
            let depth = self.depth();
            let id = self.add_loop(Loop {
                name,
                parent: self.nest.loops.last().copied(),
                offset: Affine::constant(depth, 0),
                step: 1,
                span: value.span,
            });
            let mut form = Affine::constant(depth + 1, 0);
            form.coeffs[depth] = 1;
            let mut last = form.clone();
            last.coeffs[depth] = -1;
            last.constant = extent - 1;
            let bounds = vec![vec![
                Constraint { expr: form.clone(), equality: false },
                Constraint { expr: last, equality: false },
            ]];
            self.nest.domain = intersect(&self.nest.domain, &bounds);
            self.nest.around = intersect(&self.nest.around, &bounds);
            self.nest.loops.push(id);
            self.nest.iterators.push(Iterator { ty: ScalarType::I32, width: None, value: form.clone() });
            self.nest.beta.push(position);
            self.counters.push(0);
            subscripts.push(form);
        }
        let depth = self.depth();
        subscripts.iter_mut().for_each(|s| s.coeffs.resize(depth, 0));
        self.store(slot, subscripts, value, value.span);
        self.counters.truncate(counters);
        self.nest = outer;
    }
}

fn is_zero(init: &Init) -> bool {
    match init {
        Init::Value(e) => matches!(e.kind, ast::ExprKind::Literal(0, _)),
        Init::List(items, _) => items.iter().all(is_zero),
    }
}
