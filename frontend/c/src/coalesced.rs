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
//! a factor of the bound of `k`: a constant, or a parameter (a size, which is at least 1) of the type of the variables.

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, LoopKind, Stmt, StmtKind, Unit};
use crate::effects::{changed, declared, names};
use crate::inline::substituted;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Splits the coalesced loops of the region. Called after inlining.
pub(crate) fn split(unit: &mut Unit) {
    let mut sizes = Sizes::new();
    if let Some(function) = &unit.function {
        let mut hidden = BTreeSet::new();
        unit.region.iter().for_each(|s| declared(s, &mut hidden));
        hidden.extend(function.locals.iter().map(|d| d.name.clone()));
        let scalars = function.params.iter().filter(|d| d.is_scalar() && !hidden.contains(&d.name));
        sizes.extend(scalars.filter_map(|d| Some((d.name.clone(), d.ty.scalar?))));
    }
    unit.region.iter_mut().for_each(|s| statement(s, &sizes));
}

/// The scalar parameters and their types.
type Sizes = BTreeMap<Rc<str>, ScalarType>;

fn statement(s: &mut Stmt, sizes: &Sizes) {
    match &mut s.kind {
        StmtKind::Block(all) => all.iter_mut().for_each(|s| statement(s, sizes)),
        StmtKind::If(_, then, otherwise) => {
            statement(then, sizes);
            otherwise.iter_mut().for_each(|s| statement(s, sizes));
        }
        StmtKind::For(f) => {
            if let Some(nest) = nest(f, sizes) {
                **f = nest;
            }
            statement(&mut f.body, sizes);
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
    let fits = name(&width).is_none_or(|size| sizes.get(&size).copied() == ty);
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
    if !(alone && one_type && fits && known) || f.kind != LoopKind::For || f.may_break {
        return None;
    }
    let height = divided(total, &width)?;
    let expr = |kind| Expr { kind, span: f.header };
    let named = |n: &Rc<str>| expr(ExprKind::Name(n.clone()));
    let product = expr(ExprKind::Binary(Binary::Mul, Box::new(named(&row)), Box::new(width.clone())));
    let position = expr(ExprKind::Binary(Binary::Add, Box::new(product), Box::new(named(&column))));
    let (body, _) = substituted(&rest, &expr(ExprKind::Poison), &counter, &position);
    let counted = |d: &Declarator, end: Expr, body: Stmt| For {
        init: ForInit::Declare(vec![d.clone()]),
        condition: Some(expr(ExprKind::Binary(Binary::Lt, Box::new(named(&d.name)), Box::new(end)))),
        step: Some(expr(ExprKind::Step(Binary::Add, Box::new(named(&d.name))))),
        body,
        ..f.clone()
    };
    let inner = Stmt { kind: StmtKind::For(Box::new(counted(of_column, width, body))) };
    Some(counted(of_row, height, inner))
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
