//! Side effects out of expressions: `*q++ = *p++;` becomes `*q = *p; q++; p++;`.
//!
//! Problem: the stages behind this one know assignments as statements only. C programs step pointers and counters
//! inside of expressions and conditions.
//!
//! Method: a step of a variable (`v++`, `++v`, `v += e`) leaves its expression. `++v` and `v += e` go in front of the
//! statement, `v++` behind it. `a = b = 0` becomes `b = 0; a = b;`. C leaves the order open if the same expression uses
//! the variable elsewhere; such a step remains, and is refused later, as is one that `?:`, `&&` or `||` may skip.
//!
//! A loop tests its condition before each iteration and once at its end. So the effects of the condition go into the
//! loop twice: `while (i--) body` becomes `{ while (i) { i--; body } i--; }`.

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Init, LoopKind, Stmt, StmtKind, Unit};
use crate::effects::expressions;
use crate::inline::with_operands;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Moves the side effects in the region and in the functions that it may call.
pub(crate) fn unit(unit: &mut Unit) {
    // A function that is called could see the step of a global variable, or not.
    let globals: BTreeSet<Rc<str>> = unit.globals.iter().map(|d| d.name.clone()).collect();
    let bodies = unit.helpers.values().filter_map(|h| h.body.as_ref().ok());
    let mut hazard = false;
    bodies.flatten().chain(&unit.region).for_each(|s| {
        expressions(s, &mut |e| {
            e.walk(&mut |x| hazard |= matches!(x.kind, ExprKind::Call(..)) && steps_one_of(x, &globals));
        })
    });
    if hazard {
        return;
    }
    unit.region = statements(std::mem::take(&mut unit.region));
    for helper in unit.helpers.values_mut() {
        if let Ok(body) = &mut helper.body {
            *body = statements(std::mem::take(body));
        }
    }
}

/// Moves the side effects in all expressions of these statements into statements of their own.
fn statements(all: Vec<Stmt>) -> Vec<Stmt> {
    all.into_iter().flat_map(statement).collect()
}

/// Steps that leave an expression.
#[derive(Default)]
struct Effects {
    before: Vec<Expr>,
    after: Vec<Expr>,
}

fn statement(s: Stmt) -> Vec<Stmt> {
    let kind = match s.kind {
        StmtKind::Block(all) => StmtKind::Block(statements(all)),
        StmtKind::Expr(e) => return expression(e),
        StmtKind::Declare(all) if all.iter().any(|d| d.value().is_some_and(has_steps)) => {
            return all.into_iter().flat_map(declaration).collect();
        }
        StmtKind::If(c, then, otherwise) => {
            let (c, Effects { before, after }) = split(&c);
            let branch = |s: Option<Box<Stmt>>| {
                let mut all: Vec<Stmt> = after.iter().cloned().map(effect).collect();
                all.extend(s.into_iter().flat_map(|s| statement(*s)));
                single(all)
            };
            let otherwise = (otherwise.is_some() || !after.is_empty()).then(|| Box::new(branch(otherwise)));
            let mut all: Vec<Stmt> = before.into_iter().map(effect).collect();
            all.push(Stmt { kind: StmtKind::If(c, Box::new(branch(Some(then))), otherwise) });
            return all;
        }
        StmtKind::For(f) => return for_loop(*f),
        kind => kind,
    };
    vec![Stmt { kind }]
}

fn effect(e: Expr) -> Stmt {
    Stmt { kind: StmtKind::Expr(e) }
}

fn single(mut all: Vec<Stmt>) -> Stmt {
    match all.len() {
        1 => all.remove(0),
        _ => Stmt { kind: StmtKind::Block(all) },
    }
}

/// The parts of a declaration in their order, if one has effects.
fn declaration(d: Declarator) -> Vec<Stmt> {
    let declare = |d| Stmt { kind: StmtKind::Declare(vec![d]) };
    let Some(Init::Value(e)) = &d.init else { return vec![declare(d)] };
    let (value, Effects { before, after }) = split(e);
    let mut all: Vec<Stmt> = before.into_iter().map(effect).collect();
    all.push(declare(Declarator { init: Some(Init::Value(value)), ..d }));
    all.extend(after.into_iter().map(effect));
    all
}

/// An expression that is a statement.
fn expression(e: Expr) -> Vec<Stmt> {
    match &e.kind {
        _ if !e.operands().into_iter().any(has_steps) => vec![effect(e)],
        ExprKind::Comma(a, b) => [a, b].into_iter().flat_map(|x| expression((**x).clone())).collect(),
        ExprKind::Assign(op, target, value) => {
            let mut effects = Effects::default();
            let (new_target, new_value) = (moved(target, &e, &mut effects), moved(value, &e, &mut effects));
            let kind = ExprKind::Assign(*op, Box::new(new_target), Box::new(new_value));
            around(effect(Expr { kind, span: e.span }), effects)
        }
        ExprKind::Step(op, target) => {
            let mut effects = Effects::default();
            let kind = ExprKind::Step(*op, Box::new(moved(target, &e, &mut effects)));
            around(effect(Expr { kind, span: e.span }), effects)
        }
        _ => {
            let (value, effects) = split(&e);
            around(effect(value), effects)
        }
    }
}

fn around(s: Stmt, effects: Effects) -> Vec<Stmt> {
    let before = effects.before.into_iter().map(effect);
    before.chain([s]).chain(effects.after.into_iter().map(effect)).collect()
}

fn for_loop(f: For) -> Vec<Stmt> {
    let (condition, effects) = match &f.condition {
        Some(c) => {
            let (c, effects) = split(c);
            (Some(c), effects)
        }
        None => (None, Effects::default()),
    };
    let For { kind, init, step, body, may_break, header, .. } = f;
    let body = statement(body);
    if effects.before.is_empty() && effects.after.is_empty() {
        return vec![Stmt {
            kind: StmtKind::For(Box::new(For { kind, init, condition, step, body: single(body), may_break, header })),
        }];
    }
    let all = |list: &[Expr]| list.iter().cloned().map(effect).collect::<Vec<_>>();
    let (before, after) = (all(&effects.before), all(&effects.after));
    if kind == LoopKind::Do {
        // The condition is tested behind all effects: it takes back those that follow it.
        let condition = condition.map(|c| effects.after.iter().fold(c, |c, e| undone(&c, e)));
        let body = Stmt { kind: StmtKind::Block(body.into_iter().chain(before).chain(after).collect()) };
        return vec![Stmt {
            kind: StmtKind::For(Box::new(For { kind, init, condition, step, body, may_break, header })),
        }];
    }
    let outside = match init {
        ForInit::None => vec![],
        ForInit::Expr(e) => expression(e),
        ForInit::Declare(all) => all.into_iter().flat_map(declaration).collect(),
    };
    let inside = after.iter().cloned().chain(body).chain(step.into_iter().flat_map(expression));
    let body = Stmt { kind: StmtKind::Block(inside.chain(before.iter().cloned()).collect()) };
    let turned = For { kind, init: ForInit::None, condition, step: None, body, may_break, header };
    let counted = Stmt { kind: StmtKind::For(Box::new(turned)) };
    vec![Stmt { kind: StmtKind::Block(outside.into_iter().chain(before).chain([counted]).chain(after).collect()) }]
}

/// The condition in terms of the values behind the step `v++` or `v--`.
fn undone(condition: &Expr, step: &Expr) -> Expr {
    let ExprKind::Step(op, target) = &step.kind else { return condition.clone() };
    let back = if *op == Binary::Add { Binary::Sub } else { Binary::Add };
    match &condition.kind {
        ExprKind::Name(_) if condition.same(target) => {
            let kind = ExprKind::Binary(back, Box::new(condition.clone()), Box::new(Expr::one(step.span)));
            Expr { kind, span: condition.span }
        }
        _ => with_operands(condition, &mut |x| undone(x, step)),
    }
}

/// The expression without its steps, and these.
fn split(e: &Expr) -> (Expr, Effects) {
    let mut effects = Effects::default();
    let value = moved(e, e, &mut effects);
    (value, effects)
}

/// `e`, a part of the full expression `whole`, without its steps.
fn moved(e: &Expr, whole: &Expr, effects: &mut Effects) -> Expr {
    let alone = |target: &Expr| match &target.kind {
        ExprKind::Name(name) => (uses(whole, name) == 1).then(|| target.clone()),
        _ => None,
    };
    match &e.kind {
        ExprKind::Step(_, target) => match alone(target) {
            Some(variable) => {
                effects.after.push(e.clone());
                variable
            }
            None => e.clone(),
        },
        ExprKind::Assign(Some(Binary::Add | Binary::Sub), target, amount) if !has_effects(amount) => {
            match alone(target) {
                Some(variable) => {
                    effects.before.push(e.clone());
                    variable
                }
                None => e.clone(),
            }
        }
        // The value of `a = e` is that of `a` behind it.
        ExprKind::Assign(None, target, value) => {
            let base = target.element().and_then(|(name, _)| alone(name));
            if base.is_none() || has_effects(target) {
                return e.clone();
            }
            let value = moved(value, whole, effects);
            if has_effects(&value) {
                return e.clone();
            }
            let kind = ExprKind::Assign(None, target.clone(), Box::new(value));
            effects.before.push(Expr { kind, span: e.span });
            (**target).clone()
        }
        // What stands behind `?`, `&&` or `||` is not always evaluated.
        ExprKind::Conditional(c, a, b) => {
            Expr { kind: ExprKind::Conditional(Box::new(moved(c, whole, effects)), a.clone(), b.clone()), span: e.span }
        }
        ExprKind::Binary(op @ (Binary::LogicalAnd | Binary::LogicalOr), a, b) => {
            Expr { kind: ExprKind::Binary(*op, Box::new(moved(a, whole, effects)), b.clone()), span: e.span }
        }
        ExprKind::Assign(..) | ExprKind::Comma(..) => e.clone(),
        _ => with_operands(e, &mut |x| moved(x, whole, effects)),
    }
}

/// Whether `e` contains a step of one of these variables.
fn steps_one_of(e: &Expr, names: &BTreeSet<Rc<str>>) -> bool {
    let mut found = false;
    e.walk(&mut |x| {
        if let ExprKind::Step(_, target) | ExprKind::Assign(_, target, _) = &x.kind {
            found |= matches!(&target.kind, ExprKind::Name(n) if names.contains(n));
        }
    });
    found
}

/// Whether `e` has a side effect that may leave it.
fn has_steps(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |x| found |= matches!(x.kind, ExprKind::Step(..) | ExprKind::Assign(..)));
    found
}

fn has_effects(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |x| found |= matches!(x.kind, ExprKind::Step(..) | ExprKind::Assign(..) | ExprKind::Call(..)));
    found
}

/// How often `e` mentions the variable.
fn uses(e: &Expr, name: &Rc<str>) -> usize {
    let mut count = 0;
    e.walk(&mut |x| count += usize::from(matches!(&x.kind, ExprKind::Name(n) if n == name)));
    count
}
