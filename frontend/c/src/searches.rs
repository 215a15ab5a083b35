//! Loops that `break` ends, whose counter is used behind them: `for (i = 0; i < n; i++) if (x[i] == v) break; use(i);`.
//!
//! Problem: the value of `i` behind the loop depends on data, but an iterator is no data.
//!
//! Method: the loop gets an iterator of its own. As long as the loop goes on, each iteration stores it in the counter:
//! `i = 0; for (int k = 0; k < n; k++) if (go) { i = k; … } if (go) i = 0 < n ? n : 0;`. Only for steps of 1 and -1 and a bound
//! that the loop does not change; others are refused by a later stage.

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Init, Stmt, StmtKind, Unit};
use crate::effects::{changed, declarators, declared, expressions, names};
use crate::temporaries::{renamed, step_of};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Rewrites these loops in the region. Called after inlining.
pub(crate) fn rewrite(unit: &mut Unit) {
    let mut counters: BTreeMap<Rc<str>, Vec<Declarator>> = BTreeMap::new();
    let mut add = |d: &Declarator| counters.entry(d.name.clone()).or_default().push(d.clone());
    unit.globals.iter().for_each(&mut add);
    unit.function.iter().flat_map(|f| f.params.iter().chain(&f.locals)).for_each(&mut add);
    unit.region.iter_mut().for_each(|s| declarators(s, &mut |d| add(d)));
    let mut read = BTreeSet::new();
    unit.region.iter().for_each(|s| mentioned(s, &mut read));
    let is_integer = |d: &Declarator| d.ty.scalar.is_some_and(|ty| !ty.is_float()) && d.ty.width.is_none();
    // A name of several variables is left alone.
    let used = |d: &Declarator| read.contains(&d.name) || d.outside.used;
    let counters: BTreeMap<Rc<str>, Declarator> = counters
        .into_iter()
        .filter_map(|(name, all)| match <[Declarator; 1]>::try_from(all) {
            Ok([d]) if is_integer(&d) && d.is_scalar() && !d.reference && used(&d) => Some((name, d)),
            _ => None,
        })
        .collect();
    let mut count = 0;
    let mut region = std::mem::take(&mut unit.region);
    region.iter_mut().for_each(|s| statement(s, &counters, (&mut count, &mut unit.searched)));
    unit.region = region;
}

/// The number of loops that were rewritten, and their counters.
type Rewritten<'a> = (&'a mut usize, &'a mut BTreeSet<Rc<str>>);

/// Names that a statement mentions outside of the loops that count them.
fn mentioned(s: &Stmt, out: &mut BTreeSet<Rc<str>>) {
    match &s.kind {
        StmtKind::Block(all) => all.iter().for_each(|s| mentioned(s, out)),
        StmtKind::If(c, then, otherwise) => {
            names(c, out);
            mentioned(then, out);
            otherwise.iter().for_each(|s| mentioned(s, out));
        }
        StmtKind::For(f) => {
            f.start().iter().for_each(|e| names(e, out));
            let mut inside = BTreeSet::new();
            f.condition.iter().chain(&f.step).for_each(|e| names(e, &mut inside));
            mentioned(&f.body, &mut inside);
            f.iterator().iter().filter(|_| matches!(f.init, ForInit::Expr(_))).for_each(|name| {
                inside.remove(name);
            });
            out.append(&mut inside);
        }
        _ => expressions(s, &mut |e| names(e, out)),
    }
}

fn statement(s: &mut Stmt, counters: &BTreeMap<Rc<str>, Declarator>, (count, found): Rewritten) {
    match &mut s.kind {
        StmtKind::Block(all) => all.iter_mut().for_each(|s| statement(s, counters, (&mut *count, &mut *found))),
        StmtKind::If(_, then, otherwise) => {
            statement(then, counters, (&mut *count, &mut *found));
            otherwise.iter_mut().for_each(|s| statement(s, counters, (&mut *count, &mut *found)));
        }
        StmtKind::For(f) => {
            statement(&mut f.body, counters, (&mut *count, &mut *found));
            if let Some(kind) = search(f, counters, (&mut *count, &mut *found)) {
                s.kind = kind;
            }
        }
        _ => {}
    }
}

/// The loop with an iterator of its own.
fn search(f: &For, counters: &BTreeMap<Rc<str>, Declarator>, (count, found): Rewritten) -> Option<StmtKind> {
    let ForInit::Expr(Expr { kind: ExprKind::Assign(None, target, start), .. }) = &f.init else { return None };
    let ExprKind::Name(name) = &target.kind else { return None };
    let d = counters.get(name).filter(|_| f.may_break)?;
    let StmtKind::If(go, body, None) = &f.body.kind else { return None };
    let (op, step) = step_of(f.step.as_ref()?, name)?;
    let counts = matches!(step.kind, ExprKind::Literal(1, _));
    let (mut set, mut hidden) = (BTreeSet::new(), BTreeSet::new());
    changed(&f.body, &mut set);
    declared(&f.body, &mut hidden);
    let stays = |e: &Expr| {
        let mut all = BTreeSet::new();
        names(e, &mut all);
        !all.contains(name) && all.is_disjoint(&set)
    };
    let end = end(f.condition.as_ref()?, name, op == Binary::Add, start)?;
    if !counts || set.contains(name) || hidden.contains(name) || !stays(&end) {
        return None;
    }
    *count += 1;
    found.insert(name.clone());
    let iterator: Rc<str> = format!("{name}__{count}").into();
    let of = |name: &Rc<str>| Expr { kind: ExprKind::Name(name.clone()), span: f.header };
    let own_name = |e: &Expr| renamed(e, name, &iterator);
    let assign = |value: Expr| {
        let kind = ExprKind::Assign(None, Box::new(of(name)), Box::new(value));
        Stmt { kind: StmtKind::Expr(Expr { kind, span: f.header }) }
    };
    let mut inner = (**body).clone();
    crate::effects::rewrite(&mut inner, &mut |e| own_name(e));
    let inner = Stmt { kind: StmtKind::Block(vec![assign(of(&iterator)), inner]) };
    let own = Declarator { name: iterator.clone(), init: Some(Init::Value((**start).clone())), ..d.clone() };
    let searching = For {
        init: ForInit::Declare(vec![Declarator { outside: Default::default(), ..own }]),
        condition: f.condition.as_ref().map(own_name),
        step: f.step.as_ref().map(own_name),
        body: Stmt { kind: StmtKind::If(go.clone(), Box::new(inner), None) },
        ..f.clone()
    };
    let all = Stmt { kind: StmtKind::If(go.clone(), Box::new(assign(end)), None) };
    let first = assign((**start).clone());
    Some(StmtKind::Block(vec![first, Stmt { kind: StmtKind::For(Box::new(searching)) }, all]))
}

/// The value of the counter behind the complete loop.
fn end(condition: &Expr, name: &Rc<str>, up: bool, start: &Expr) -> Option<Expr> {
    let ExprKind::Binary(op, a, b) = &condition.kind else { return None };
    let is_counter = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if n == name);
    let (op, bound) = match (op, is_counter(a), is_counter(b)) {
        (op, true, false) => (*op, b),
        (Binary::Lt, false, true) => (Binary::Gt, a),
        (Binary::Gt, false, true) => (Binary::Lt, a),
        (Binary::Le, false, true) => (Binary::Ge, a),
        (Binary::Ge, false, true) => (Binary::Le, a),
        _ => return None,
    };
    let binary = |op, a: &Expr, b: &Expr| Expr {
        kind: ExprKind::Binary(op, Box::new(a.clone()), Box::new(b.clone())),
        span: condition.span,
    };
    let (last, runs) = match (op, up) {
        (Binary::Lt, true) => ((**bound).clone(), Binary::Lt),
        (Binary::Le, true) => (binary(Binary::Add, bound, &Expr::one(condition.span)), Binary::Le),
        (Binary::Gt, false) => ((**bound).clone(), Binary::Gt),
        (Binary::Ge, false) => (binary(Binary::Sub, bound, &Expr::one(condition.span)), Binary::Ge),
        _ => return None,
    };
    let kind = ExprKind::Conditional(Box::new(binary(runs, start, bound)), Box::new(last), Box::new(start.clone()));
    Some(Expr { kind, span: condition.span })
}
