//! Coalesced loops: a loop over `n * m` iterations that counts a row and a column by hand becomes two loops.
//!
//! ```c
//! for (int k = 0, i = 0, j = 0; k < n * m; k++, j++) {      for (int i = 0; i < n; i++)
//!   if (j == m) { j = 0; i++; }                         →     for (int j = 0; j < m; j++)
//!   a[i][j] = x[k];                                             a[i][j] = x[i * m + j];
//! }
//! ```
//!
//! Source: C. Polychronopoulos, "Loop coalescing", ICPP 1987; this is the inverse. Conditions: the header declares all three
//! variables with 0, the first statement is the `if`, nothing else assigns them or what the bounds mention, and `m` is
//! a factor of the bound of `k`: a constant, or a parameter (a size, which is at least 1).

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, LoopKind, Stmt, StmtKind, Unit};
use crate::effects::{changed, declared, expressions, names};
use crate::inline::substituted;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Splits the coalesced loops of the region. Called after inlining.
pub(crate) fn split(unit: &mut Unit) {
    everywhere(unit, &nest);
}

/// Splits loops over a product of sizes that count nothing else: affine bounds are no products. Called when the bounds stand
/// in the loops.
pub(crate) fn split_products(unit: &mut Unit) {
    everywhere(unit, &flat);
}

fn everywhere(unit: &mut Unit, nest: &dyn Fn(&For, &Sizes) -> Option<For>) {
    let mut sizes = Sizes::default();
    if let Some(function) = &unit.function {
        let mut hidden = BTreeSet::new();
        unit.region.iter().for_each(|s| declared(s, &mut hidden));
        hidden.extend(function.locals.iter().map(|d| d.name.clone()));
        let scalars = function.params.iter().filter(|d| d.is_scalar() && !hidden.contains(&d.name));
        sizes.types.extend(scalars.filter_map(|d| Some((d.name.clone(), d.ty.scalar?))));
        let mut factors = BTreeSet::new();
        unit.region.iter().for_each(|s| expressions(s, &mut |e| strides(e, &mut factors)));
        let ranks = function.params.iter().enumerate().map(|(k, d)| (d.name.clone(), (factors.contains(&d.name), k)));
        sizes.ranks = ranks.collect();
    }
    unit.region.iter_mut().for_each(|s| statement(s, &sizes, nest));
}

/// The scalar parameters.
#[derive(Default)]
struct Sizes {
    types: BTreeMap<Rc<str>, ScalarType>,
    /// Whether a subscript multiplies by it, and its position.
    ranks: BTreeMap<Rc<str>, (bool, usize)>,
}

impl Sizes {
    fn get(&self, name: &Rc<str>) -> Option<ScalarType> {
        self.types.get(name).copied()
    }
}

/// The names that subscripts multiply by.
fn strides(e: &Expr, out: &mut BTreeSet<Rc<str>>) {
    e.walk(&mut |x| {
        let ExprKind::Index(_, subscript) = &x.kind else { return };
        subscript.walk(&mut |y| {
            if let ExprKind::Binary(Binary::Mul, a, b) = &y.kind {
                out.extend([a, b].into_iter().filter_map(|f| name(f)));
            }
        });
    });
}

fn statement(s: &mut Stmt, sizes: &Sizes, nest: &dyn Fn(&For, &Sizes) -> Option<For>) {
    match &mut s.kind {
        StmtKind::Block(all) => all.iter_mut().for_each(|s| statement(s, sizes, nest)),
        StmtKind::If(_, then, otherwise) => {
            statement(then, sizes, nest);
            otherwise.iter_mut().for_each(|s| statement(s, sizes, nest));
        }
        StmtKind::For(f) => {
            while let Some(two) = nest(f, sizes) {
                **f = two;
            }
            statement(&mut f.body, sizes, nest);
        }
        _ => {}
    }
}

/// The loop as two loops.
fn nest(f: &For, sizes: &Sizes) -> Option<For> {
    let ForInit::Declare(all) = &f.init else { return None };
    let ExprKind::Binary(Binary::Lt, counter, total) = &f.condition.as_ref()?.kind else { return None };
    let StmtKind::Block(body) = &f.body.kind else { return None };
    let (first, rest) = body.split_first()?;
    let (column, row, width) = wrapped(first)?;
    let counter = name(counter)?;
    let steps = steps(f.step.as_ref()?)?;
    let rest = Stmt { kind: StmtKind::Block(rest.to_vec()) };
    let declares = |wanted: &Rc<str>| all.iter().find(|d| d.name == *wanted && is_counter(d));
    let (of_row, of_column) = (declares(&row)?, declares(&column)?);
    let ty = declares(&counter)?.ty.scalar;
    let one_type = of_row.ty.scalar == ty && of_column.ty.scalar == ty;
    let of_size = name(&width).map_or(ty, |size| sizes.get(&size));
    let own = BTreeSet::from([&counter, &row, &column]);
    let mut touched = BTreeSet::new();
    changed(&rest, &mut touched);
    declared(&rest, &mut touched);
    let mut bounds = BTreeSet::new();
    names(total, &mut bounds);
    names(&width, &mut bounds);
    let all_fixed = !touched.iter().any(|n| bounds.contains(n) || own.contains(n));
    let apart = own.iter().all(|n| !bounds.contains(*n));
    let alone = own.len() == 3 && all.len() == 3 && steps == BTreeSet::from([counter.clone(), column.clone()]);
    let plain = |e: &Expr| {
        let mut plain = true;
        e.walk(&mut |x| plain &= matches!(x.kind, ExprKind::Name(_) | ExprKind::Literal(..) | ExprKind::Binary(..)));
        plain
    };
    let known = all_fixed && apart && plain(total) && plain(&width);
    if !(alone && one_type && of_size.is_some() && known) || f.kind != LoopKind::For || f.may_break {
        return None;
    }
    let height = divided(total, &width)?;
    Some(two_loops(f, &counter, (of_row, height), (of_column, width, of_size), &rest))
}

/// The loops over rows and columns with `body`, in which `counter` is the position `row * width + column`.
fn two_loops(
    f: &For,
    counter: &Rc<str>,
    (row, height): (&Declarator, Expr),
    (column, width, of_size): (&Declarator, Expr, Option<ScalarType>),
    body: &Stmt,
) -> For {
    let expr = |kind| Expr { kind, span: f.header };
    let named = |n: &Rc<str>| expr(ExprKind::Name(n.clone()));
    let product = expr(ExprKind::Binary(Binary::Mul, Box::new(named(&row.name)), Box::new(width.clone())));
    let sum = expr(ExprKind::Binary(Binary::Add, Box::new(product), Box::new(named(&column.name))));
    // With one unsigned operand the sum is unsigned.
    let position = match (row.ty.scalar, of_size) {
        (Some(ty), Some(size)) if ty.signed() && !size.signed() => expr(ExprKind::Cast(ty, Box::new(sum))),
        _ => sum,
    };
    let (body, _) = substituted(body, &expr(ExprKind::Poison), counter, &position);
    let counted = |d: &Declarator, end: Expr, body: Stmt| For {
        init: ForInit::Declare(vec![d.clone()]),
        condition: Some(expr(ExprKind::Binary(Binary::Lt, Box::new(named(&d.name)), Box::new(end)))),
        step: Some(expr(ExprKind::Step(Binary::Add, Box::new(named(&d.name))))),
        body,
        ..f.clone()
    };
    let inner = Stmt { kind: StmtKind::For(Box::new(counted(column, width, body))) };
    counted(row, height, inner)
}

/// `for (int k = 0; k < n * m; k++)`, which counts nothing else, as a loop over `n` and one over `m`.
fn flat(f: &For, sizes: &Sizes) -> Option<For> {
    let ForInit::Declare(all) = &f.init else { return None };
    let ExprKind::Binary(Binary::Lt, counter, total) = &f.condition.as_ref()?.kind else { return None };
    let ([d], counter) = (all.as_slice(), name(counter)?) else { return None };
    let ExprKind::Binary(Binary::Mul, a, b) = &total.kind else { return None };
    let size_of = |e: &Expr| name(e).and_then(|n| sizes.get(&n));
    // Rows of the length that other subscripts have, or else of the last parameter.
    let rank = |e: &Expr| size_of(e).and_then(|_| name(e)).and_then(|n| sizes.ranks.get(&n).copied());
    let (height, width) = if rank(b) >= rank(a) { (a, b) } else { (b, a) };
    let of_size = size_of(width).filter(|ty| !ty.is_float() && ty.bits() == 32);
    let (mut touched, mut bounds) = (BTreeSet::new(), BTreeSet::new());
    changed(&f.body, &mut touched);
    declared(&f.body, &mut touched);
    names(total, &mut bounds);
    let mut of_height = BTreeSet::new();
    names(height, &mut of_height);
    if of_height.is_empty() {
        // The bound is affine.
        return None;
    }
    let known =
        !touched.contains(&counter) && bounds.iter().all(|n| sizes.types.contains_key(n) && !touched.contains(n));
    let steps_once = stepped(f.step.as_ref()?).as_ref() == Some(&counter);
    if !(known && steps_once && is_counter(d) && d.name == counter) || f.kind != LoopKind::For || f.may_break {
        return None;
    }
    of_size?;
    let named = |of: &str| Declarator { name: format!("{counter}_{of}").into(), ..d.clone() };
    let (row, column) = (named("row"), named("column"));
    let mut used = BTreeSet::new();
    expressions(&f.body, &mut |e| names(e, &mut used));
    if [&row, &column].iter().any(|d| used.contains(&d.name)) {
        return None;
    }
    Some(two_loops(f, &counter, (&row, (**height).clone()), (&column, (**width).clone(), of_size), &f.body))
}

/// The column, the row and the width of `if (column == width) { column = 0; row++; }`.
fn wrapped(s: &Stmt) -> Option<(Rc<str>, Rc<str>, Expr)> {
    let StmtKind::If(c, then, None) = &s.kind else { return None };
    let ExprKind::Binary(Binary::Eq, column, width) = &c.kind else { return None };
    let StmtKind::Block(all) = &then.kind else { return None };
    let [a, b] = all.as_slice() else { return None };
    let (StmtKind::Expr(a), StmtKind::Expr(b)) = (&a.kind, &b.kind) else { return None };
    let column = name(column)?;
    let is_reset = |e: &Expr| match &e.kind {
        ExprKind::Assign(None, target, value) => {
            name(target).as_ref() == Some(&column) && matches!(value.kind, ExprKind::Literal(0, _))
        }
        _ => false,
    };
    let row = match (is_reset(a), is_reset(b)) {
        (true, false) => stepped(b)?,
        (false, true) => stepped(a)?,
        _ => return None,
    };
    Some((column, row, (**width).clone()))
}

fn name(e: &Expr) -> Option<Rc<str>> {
    match &e.kind {
        ExprKind::Name(name) => Some(name.clone()),
        _ => None,
    }
}

/// The variable of `v++`, `++v` or `v += 1`.
fn stepped(e: &Expr) -> Option<Rc<str>> {
    match &e.kind {
        ExprKind::Step(Binary::Add, target) => name(target),
        ExprKind::Assign(Some(Binary::Add), target, amount) if matches!(amount.kind, ExprKind::Literal(1, _)) => {
            name(target)
        }
        _ => None,
    }
}

/// The variables of `v++, w++`.
fn steps(e: &Expr) -> Option<BTreeSet<Rc<str>>> {
    match &e.kind {
        ExprKind::Comma(a, b) => Some(steps(a)?.union(&steps(b)?).cloned().collect()),
        _ => Some(BTreeSet::from([stepped(e)?])),
    }
}

/// An integer of 32 bits that starts with 0.
fn is_counter(d: &Declarator) -> bool {
    let wide = d.ty.scalar.is_some_and(|ty| !ty.is_float() && ty.bits() == 32);
    wide && d.is_scalar()
        && d.ty.width.is_none()
        && d.value().is_some_and(|e| matches!(e.kind, ExprKind::Literal(0, _)))
}

/// `total / by`, if `by` is a factor of it: a name, or a constant above 0.
fn divided(total: &Expr, by: &Expr) -> Option<Expr> {
    let none = |_: &str| None;
    if let (Some(total_number), Some(by)) = (total.number(&none), by.number(&none)) {
        let quotient = (by > 0 && total_number % by == 0).then(|| total_number / by)?;
        let bits = u64::try_from(quotient).ok()?;
        return Some(Expr { kind: ExprKind::Literal(bits, ScalarType::I32), span: total.span });
    }
    let ExprKind::Binary(Binary::Mul, a, b) = &total.kind else { return None };
    let is_factor = |x: &Expr| x.same(by) && matches!(x.kind, ExprKind::Name(_));
    match (is_factor(a), is_factor(b)) {
        (_, true) => Some((**a).clone()),
        (true, _) => Some((**b).clone()),
        _ => None,
    }
}
