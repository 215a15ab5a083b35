//! Delinearization: dimensions of arrays that a program addresses by one subscript with sizes at run time in it
//! (Grosser, Ramanujam, Pouchet, Sadayappan and Pop, "Optimistic delinearization of parametrically sized arrays", 2015).
//!
//! Problem: `a[i * n + k]` with a size `n` is not affine, `a[i][k]` is.
//!
//! Method, for each parameter and each local with one dimension:
//! - every subscript is written as a polynomial. The products of sizes that it multiplies with other values are the
//!   *strides* of the array: `i * n * m + j * m + k` has the strides `m` and `n * m`;
//! - if each stride is the next smaller one times one size, the quotients are the inner extents: `a[][n][m]`;
//! - the parts of each subscript become the subscripts. A part that is negative borrows from the next outer one:
//!   `i * n - 1` is `[i - 1][n - 1]`.
//!
//! Invariant: the new subscripts address the element that the old one does, as long as they are inside of their extents.
//! The semantic analysis checks that they are, as it does for every access.

use crate::ast::{Declarator, Expr, ExprKind, Extent, Unit};
use crate::effects::{declarators, expressions, rewrite};
use crate::inline::with_operands;
use crate::poly::{Monomial, Poly};
use num_integer::gcd;
use scop::diag::Span;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Gives dimensions to the parameters and locals whose subscripts multiply with sizes, by their maxima.
pub(crate) fn arrays(unit: &mut Unit, maxima: &BTreeMap<String, i64>) {
    let Some(function) = &unit.function else { return };
    let sizes: BTreeSet<String> = maxima.keys().cloned().collect();
    let mut all: Vec<Declarator> = function.locals.clone();
    unit.region.iter_mut().for_each(|s| declarators(s, &mut |d| all.push(d.clone())));
    let hidden: BTreeSet<Rc<str>> = all.iter().map(|d| d.name.clone()).collect();
    let once = |d: &&Declarator| all.iter().filter(|x| x.name == d.name).count() == 1;
    let stays = |d: &&Declarator| d.init.is_none() && !d.outside.set && !d.outside.used && !d.keeps_value();
    let of_caller = |d: &Declarator| function.params.iter().any(|p| p.name == d.name);
    let locals = all.iter().filter(once).filter(stays).filter(|d| is_flat(d) && !of_caller(d) && d.pointer.is_none());
    let parameters = function.params.iter().filter(|d| is_flat(d) && !hidden.contains(&d.name));
    let allocated = all.iter().filter(once).filter(|d| d.outside.allocated && is_flat(d) && !of_caller(d));
    let mut uses: Uses = parameters.chain(allocated).chain(locals).map(|d| (d.name.clone(), Some(vec![]))).collect();
    unit.region.iter().for_each(|s| expressions(s, &mut |e| collect(e, &mut uses)));
    let known = |(name, subscripts): (&Rc<str>, &Option<Vec<Expr>>)| {
        let shape = Shape::of(subscripts.as_ref()?, &sizes)?;
        // A local has room for so many rows.
        let rows = match all.iter().find(|d| d.name == *name && !d.outside.allocated) {
            Some(d) => Some(shape.rows(&d.dims[0], maxima)?),
            None => None,
        };
        Some((name.clone(), (shape, rows)))
    };
    let shapes: BTreeMap<Rc<str>, (Shape, Option<i64>)> = uses.iter().filter_map(known).collect();
    unit.region.iter_mut().for_each(|s| rewrite(s, &mut |e| rewritten(e, &shapes)));
    let reshape = |d: &mut Declarator| {
        let shape = shapes.get(&d.name);
        if let Some((shape, rows)) = shape {
            d.dims = shape.extents(d, *rows);
            (d.pointer, d.to_elements) = (None, false);
        }
        shape.is_some()
    };
    unit.region.iter_mut().for_each(|s| {
        declarators(s, &mut |d| {
            reshape(d);
        })
    });
    let Some(function) = &mut unit.function else { return };
    for d in &mut function.locals {
        reshape(d);
    }
    for d in &mut function.params {
        let product = |d: &Declarator| d.dims.first().is_some_and(|x| is_product(x, &sizes));
        if !reshape(d) && uses.contains_key(&d.name) && product(d) {
            // C does not look at this extent. The accesses determine it.
            d.dims[0].size = None;
        }
    }
}

/// Whether it is an array of one dimension.
fn is_flat(d: &Declarator) -> bool {
    let array = d.pointer.is_none() && d.dims.len() == 1 || d.to_elements && d.dims.is_empty();
    array && d.ty.dims.is_empty()
}

/// Whether the extent multiplies sizes.
fn is_product(extent: &Extent, sizes: &BTreeSet<String>) -> bool {
    let parts = extent.size.as_ref().and_then(|e| Poly::of(e, 32, &int)).and_then(|p| p.over(sizes));
    parts.is_some_and(|parts| parts.keys().any(|m| m.len() > 1))
}

/// By array: its subscripts; `None` if it is used otherwise, too.
type Uses = BTreeMap<Rc<str>, Option<Vec<Expr>>>;

fn collect(e: &Expr, uses: &mut Uses) {
    match &e.kind {
        ExprKind::Index(base, subscript) => {
            match &base.kind {
                ExprKind::Name(name) => {
                    if let Some(Some(all)) = uses.get_mut(name) {
                        all.push((**subscript).clone());
                    }
                }
                _ => collect(base, uses),
            }
            collect(subscript, uses);
        }
        ExprKind::Name(name) => drop(uses.get_mut(name).map(|all| *all = None)),
        _ => e.operands().into_iter().for_each(|x| collect(x, uses)),
    }
}

/// The dimensions of an array, from the inside out.
struct Shape {
    sizes: BTreeSet<String>,
    /// The strides of all dimensions but the innermost one, whose stride is 1: a product of sizes times a number.
    strides: Vec<(Monomial, i64)>,
    /// The extents of all dimensions but the outermost one.
    inner: Vec<Poly>,
}

/// The type of all names: an access that the semantic analysis accepts does not wrap around.
fn int(_: &Expr) -> Option<ScalarType> {
    Some(ScalarType::I32)
}

impl Shape {
    /// The shape that makes all subscripts affine; `None` if they are, or if there is none.
    fn of(subscripts: &[Expr], sizes: &BTreeSet<String>) -> Option<Shape> {
        let mut strides: BTreeMap<Monomial, i64> = BTreeMap::new();
        for e in subscripts {
            for (monomial, rest) in Poly::of(e, 32, &int)?.over(sizes)? {
                if !monomial.is_empty() && rest.as_constant().is_none() {
                    let by = strides.entry(monomial).or_insert(0);
                    *by = gcd(*by, rest.content());
                }
            }
        }
        let mut strides: Vec<(Monomial, i64)> = strides.into_iter().collect();
        strides.sort_by_key(|(m, _)| m.len());
        let (mut inner, mut last) = (vec![], (Monomial::new(), 1));
        for (monomial, by) in &strides {
            let mut names = monomial.clone();
            for name in &last.0 {
                names.remove(names.iter().position(|n| n == name)?);
            }
            let ([name], 0) = (names.as_slice(), by % last.1) else { return None };
            inner.push(Poly::named(name).times(&Poly::constant(by / last.1))?);
            last = (monomial.clone(), *by);
        }
        (!strides.is_empty()).then(|| Shape { sizes: sizes.clone(), strides, inner })
    }

    /// The subscripts of all dimensions, from the outside in.
    fn subscripts(&self, e: &Expr) -> Option<Vec<Expr>> {
        let mut parts = vec![Poly::constant(0); self.strides.len() + 1];
        for (monomial, rest) in Poly::of(e, 32, &int)?.over(&self.sizes)? {
            let own = self.strides.iter().position(|(m, by)| *m == monomial && rest.divided(*by).is_some());
            let (dimension, part) = match own {
                Some(k) => (k + 1, rest.divided(self.strides[k].1)?),
                None => (0, rest.times(&Poly::product(&monomial))?),
            };
            parts[dimension] = parts[dimension].plus(&part, 1)?;
        }
        for k in 0..self.inner.len() {
            if parts[k].is_negative() {
                parts[k] = parts[k].plus(&self.inner[k], 1)?;
                parts[k + 1] = parts[k + 1].plus(&Poly::constant(1), -1)?;
            }
        }
        Some(parts.iter().rev().map(|p| p.expression(ScalarType::I32, e.span, &int)).collect())
    }

    /// How many rows an array of this extent has at least.
    fn rows(&self, extent: &Extent, maxima: &BTreeMap<String, i64>) -> Option<i64> {
        let all = Poly::of(extent.size.as_ref()?, 32, &int)?.as_constant()?;
        let (monomial, by) = self.strides.last()?;
        let row = monomial.iter().try_fold(*by, |row, name| row.checked_mul(*maxima.get(name)?))?;
        Some(all / row).filter(|rows| *rows > 0)
    }

    /// The extents of the declarator, from the outside in. The accesses determine the outermost one, unless there are
    /// so many `rows`, or the declared extent is a multiple of the others.
    fn extents(&self, d: &Declarator, rows: Option<i64>) -> Vec<Extent> {
        let span = d.dims.first().map_or(d.span, |x| x.span);
        let declared = d.dims.first().and_then(|x| x.size.as_ref()).and_then(|e| Poly::of(e, 32, &int));
        let outer = declared.and_then(|p| {
            let (monomial, by) = self.strides.last()?;
            p.without(monomial)?.divided(*by)
        });
        let outer = rows.map(Poly::constant).or(outer);
        let sized = |p: &Poly, span: Span| Extent { size: Some(p.expression(ScalarType::I32, span, &int)), span };
        let outer = outer.map_or(Extent { size: None, span }, |p| sized(&p, span));
        [outer].into_iter().chain(self.inner.iter().rev().map(|p| sized(p, span))).collect()
    }
}

fn rewritten(e: &Expr, shapes: &BTreeMap<Rc<str>, (Shape, Option<i64>)>) -> Expr {
    let own = match &e.kind {
        ExprKind::Index(base, subscript) => match &base.kind {
            ExprKind::Name(name) => shapes.get(name).and_then(|(shape, _)| Some((base, shape.subscripts(subscript)?))),
            _ => None,
        },
        _ => None,
    };
    match own {
        Some((base, subscripts)) => subscripts.into_iter().fold((**base).clone(), |base, s| Expr {
            kind: ExprKind::Index(Box::new(base), Box::new(rewritten(&s, shapes))),
            span: e.span,
        }),
        None => with_operands(e, &mut |x| rewritten(x, shapes)),
    }
}
