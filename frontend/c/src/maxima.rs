//! Greatest values of sizes at run time that follow from the program: in `for (i = 0; i < n; i++) A[i] = 0;` with
//! `int A[64]`, a size `n` beyond 64 would be an access outside of the array.
//!
//! Method: each iterator has upper bounds `size + constant`. A subscript `iterator + constant` is at most the extent less
//! one. The least of these limits is the maximum. The semantic analysis checks every access with it, so a limit that is
//! too large is found there.

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, Stmt, StmtKind, Unit};
use crate::effects::{changed, declared, expressions};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The greatest values of integer parameters that bound loops, by name, but for those that are `given`.
pub(crate) fn inferred(unit: &Unit, given: &BTreeSet<String>) -> Vec<(Rc<str>, i64)> {
    let Some(function) = &unit.function else { return vec![] };
    let (mut own, mut set) = (BTreeSet::new(), BTreeSet::new());
    for s in &unit.region {
        declared(s, &mut own);
        changed(s, &mut set);
    }
    own.extend(function.locals.iter().map(|d| d.name.clone()));
    let integer = |d: &&Declarator| d.is_scalar() && d.ty.width.is_none() && d.ty.scalar.is_some_and(|t| !t.is_float());
    let free = |d: &&Declarator| !own.contains(&d.name) && !set.contains(&d.name) && !given.contains(&*d.name);
    let sizes = function.params.iter().filter(integer).filter(free).map(|d| d.name.clone()).collect();
    let mut arrays = BTreeMap::new();
    for d in unit.globals.iter().chain(&function.params).chain(&function.locals) {
        let extent = |e: &crate::ast::Extent| e.size.as_ref().and_then(number);
        let all = if d.pointer.is_none() { d.dims.iter().chain(&d.ty.dims).map(extent).collect() } else { vec![] };
        arrays.insert(d.name.clone(), all);
    }
    let mut walk = Walk { sizes, arrays, iterators: vec![], bounds_loop: BTreeSet::new(), maxima: BTreeMap::new() };
    unit.region.iter().for_each(|s| walk.statement(s));
    let Walk { bounds_loop, maxima, .. } = walk;
    maxima.into_iter().filter(|(name, max)| bounds_loop.contains(name) && *max >= 2).collect()
}

/// `size + constant`.
type Bound = (Rc<str>, i64);

struct Walk {
    sizes: BTreeSet<Rc<str>>,
    /// The constant extents of arrays.
    arrays: BTreeMap<Rc<str>, Vec<Option<i64>>>,
    /// The loops around the current statement: iterators and their upper bounds.
    iterators: Vec<(Rc<str>, Vec<Bound>)>,
    bounds_loop: BTreeSet<Rc<str>>,
    maxima: BTreeMap<Rc<str>, i64>,
}

impl Walk {
    fn statement(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::For(f) => {
                let bounds = f.iterator().map(|name| (name.clone(), self.bounds(f, &name)));
                for (size, _) in bounds.iter().flat_map(|b| &b.1) {
                    self.bounds_loop.insert(size.clone());
                }
                let depth = self.iterators.len();
                self.iterators.extend(bounds);
                self.statement(&f.body);
                self.iterators.truncate(depth);
            }
            StmtKind::Block(all) => all.iter().for_each(|s| self.statement(s)),
            StmtKind::If(_, then, otherwise) => {
                self.statement(then);
                otherwise.iter().for_each(|s| self.statement(s));
            }
            _ => expressions(s, &mut |e| e.walk(&mut |x| self.access(x))),
        }
    }

    /// The upper bounds of a loop's iterator.
    fn bounds(&self, f: &For, name: &Rc<str>) -> Vec<Bound> {
        let mut all = vec![];
        let is_iterator = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if n == name);
        let mut conditions: Vec<&Expr> = f.condition.iter().collect();
        while let Some(e) = conditions.pop() {
            let ExprKind::Binary(op, a, b) = &e.kind else { continue };
            match op {
                Binary::LogicalAnd => conditions.extend([&**a, &**b]),
                Binary::Lt | Binary::Ne if is_iterator(a) => all.extend(self.resolved(b, -1)),
                Binary::Le if is_iterator(a) => all.extend(self.resolved(b, 0)),
                Binary::Gt if is_iterator(b) => all.extend(self.resolved(a, -1)),
                Binary::Ge if is_iterator(b) => all.extend(self.resolved(a, 0)),
                // Counting down, the start is the greatest value.
                Binary::Gt | Binary::Ge if is_iterator(a) => {
                    all.extend(f.start().map(|e| self.resolved(e, 0)).unwrap_or_default());
                }
                _ => {}
            }
        }
        all
    }

    /// The sizes that bound `e + more`.
    fn resolved(&self, e: &Expr, more: i64) -> Vec<Bound> {
        let Some((name, offset)) = linear(e) else { return vec![] };
        let offset = offset + more;
        match self.iterators.iter().rev().find(|(n, _)| *n == name) {
            Some((_, bounds)) => bounds.iter().map(|(size, o)| (size.clone(), o + offset)).collect(),
            None if self.sizes.contains(&name) => vec![(name, offset)],
            None => vec![],
        }
    }

    fn access(&mut self, e: &Expr) {
        let Some((base, subscripts)) = e.element() else { return };
        let ExprKind::Name(array) = &base.kind else { return };
        let Some(extents) = self.arrays.get(array) else { return };
        for (extent, subscript) in extents.clone().into_iter().zip(subscripts) {
            let Some(extent) = extent else { continue };
            for (size, offset) in self.resolved(subscript, 0) {
                let max = self.maxima.entry(size).or_insert(crate::sema::LARGEST_SIZE);
                *max = (*max).min(extent - 1 - offset);
            }
        }
    }
}

/// `name + constant`.
fn linear(e: &Expr) -> Option<(Rc<str>, i64)> {
    match &e.kind {
        ExprKind::Name(name) => Some((name.clone(), 0)),
        ExprKind::Cast(ty, a) if !ty.is_float() => linear(a),
        ExprKind::Binary(Binary::Add, a, b) => match (linear(a), linear(b)) {
            (Some((name, c)), None) => Some((name, c.checked_add(number(b)?)?)),
            (None, Some((name, c))) => Some((name, c.checked_add(number(a)?)?)),
            _ => None,
        },
        ExprKind::Binary(Binary::Sub, a, b) => {
            let (name, c) = linear(a)?;
            Some((name, c.checked_sub(number(b)?)?))
        }
        _ => None,
    }
}

/// The value of a constant expression.
fn number(e: &Expr) -> Option<i64> {
    e.number(&|_| None)
}
