//! Functions without effects, as expressions of their arguments: symbolic execution of the body.
//!
//! Every scalar local holds an expression of the arguments. `if` executes both branches and joins the values of each
//! variable with `?:`. Example: `int relu(int x) { if (x < 0) return 0; return x; }` gives `x < 0 ? 0 : x`. The result
//! is `None` for anything else than assignments to scalars, `if` and `return`, and for expressions that grow too large.

use super::syntax::{converted, replaced};
use crate::ast::{Expr, ExprKind, Helper, Init, Stmt, StmtKind, TypeName};
use crate::effects::{declared, free_names, nodes, returns};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Size limit of such an expression, in nodes; functions with larger ones are inlined as statements.
const NODES: usize = 300;

/// The value of a call as an expression of its arguments, if the function has no effects.
pub(super) fn value_of_call(helper: &Helper, body: &[Stmt], arguments: &[Expr]) -> Option<Expr> {
    let mut scopes = vec![helper.params.iter().map(|d| d.name.clone()).collect::<BTreeSet<_>>()];
    let (mut free, mut locals_declared) = (BTreeSet::new(), BTreeSet::new());
    body.iter().for_each(|s| {
        free_names(s, &mut scopes, &mut free);
        declared(s, &mut locals_declared);
    });
    if helper.pointer || locals_declared.iter().any(|n| free.contains(n)) {
        return None;
    }
    let mut locals = Locals::new();
    if helper.params.iter().any(|d| d.is_variable_reference()) {
        return None;
    }
    for (d, argument) in helper.params.iter().zip(arguments) {
        let scalar = d.is_scalar() && d.ty.members.is_none();
        let value = if scalar { converted(&d.ty, argument.clone()) } else { argument.clone() };
        locals.insert(d.name.clone(), (Some(value), scalar.then(|| d.ty.clone())));
    }
    evaluate(&body.iter().collect::<Vec<_>>(), locals, &helper.result)
}

/// By name: its value, if it has one, and its type, if it is a scalar that may be assigned.
type Locals = BTreeMap<Rc<str>, (Option<Expr>, Option<TypeName>)>;

fn in_terms(e: &Expr, locals: &Locals) -> Option<Expr> {
    let mut unset = false;
    e.walk(&mut |x| unset |= matches!(&x.kind, ExprKind::Name(n) if locals.get(n).is_some_and(|l| l.0.is_none())));
    let value = replaced(e, &|name, _| locals.get(name).and_then(|l| l.0.clone()));
    (!unset && nodes(&value) <= NODES).then_some(value)
}

fn evaluate(all: &[&Stmt], mut locals: Locals, ty: &TypeName) -> Option<Expr> {
    let (first, rest) = all.split_first()?;
    match &first.kind {
        StmtKind::Return(Some(e)) if ty.scalar.is_some() && ty.members.is_none() && ty.dims.is_empty() => {
            Some(converted(ty, in_terms(e, &locals)?))
        }
        StmtKind::If(c, then, otherwise) if returns(then) || otherwise.as_ref().is_some_and(|s| returns(s)) => {
            let condition = in_terms(c, &locals)?;
            let branch = |s: Option<&Stmt>| {
                evaluate(&s.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>(), locals.clone(), ty)
            };
            let (a, b) = (branch(Some(then))?, branch(otherwise.as_deref())?);
            let span = c.span;
            let value = Expr { kind: ExprKind::Conditional(Box::new(condition), Box::new(a), Box::new(b)), span };
            (nodes(&value) <= NODES).then(|| converted(ty, value))
        }
        StmtKind::Block(inner) => evaluate(&inner.iter().chain(rest.iter().copied()).collect::<Vec<_>>(), locals, ty),
        _ => {
            execute(first, &mut locals)?;
            evaluate(rest, locals, ty)
        }
    }
}

/// Executes a statement without `return`; `None` if it is more than assignments to scalars.
fn execute(s: &Stmt, locals: &mut Locals) -> Option<()> {
    match &s.kind {
        StmtKind::Empty => {}
        StmtKind::Block(all) => all.iter().try_for_each(|s| execute(s, locals))?,
        StmtKind::Declare(all) => {
            for d in all {
                let plain = d.is_scalar() && d.ty.members.is_none() && d.ty.scalar.is_some() && !d.keeps_value();
                let value = match &d.init {
                    None => None,
                    Some(Init::Value(e)) => Some(converted(&d.ty, in_terms(e, locals)?)),
                    Some(Init::List(..)) => return None,
                };
                // A second variable of this name would overwrite the outer one.
                if !plain || locals.insert(d.name.clone(), (value, Some(d.ty.clone()))).is_some() {
                    return None;
                }
            }
        }
        StmtKind::Expr(e) => assign(e, locals)?,
        StmtKind::If(c, then, otherwise) => {
            let condition = in_terms(c, locals)?;
            let (mut a, mut b) = (locals.clone(), locals.clone());
            execute(then, &mut a)?;
            otherwise.as_ref().map_or(Some(()), |s| execute(s, &mut b))?;
            for (name, (value, ty)) in locals.iter_mut() {
                let (x, y) = (a.get(name)?.0.clone(), b.get(name)?.0.clone());
                *value = match (x, y, ty) {
                    (Some(x), Some(y), _) if x.same(&y) => Some(x),
                    (Some(x), Some(y), Some(ty)) => {
                        let choice = ExprKind::Conditional(Box::new(condition.clone()), Box::new(x), Box::new(y));
                        Some(converted(ty, Expr { kind: choice, span: c.span }))
                    }
                    (x, y, _) => x.or(y),
                };
                if value.as_ref().is_some_and(|v| nodes(v) > NODES) {
                    return None;
                }
            }
        }
        _ => return None,
    }
    Some(())
}

fn assign(e: &Expr, locals: &mut Locals) -> Option<()> {
    let one = Expr::one(e.span);
    let (op, target, value) = match &e.kind {
        ExprKind::Assign(op, target, value) => (*op, target, &**value),
        ExprKind::Step(op, target) => (Some(*op), target, &one),
        ExprKind::Comma(a, b) => {
            assign(a, locals)?;
            return assign(b, locals);
        }
        _ => return None,
    };
    let ExprKind::Name(name) = &target.kind else { return None };
    let mut value = in_terms(value, locals)?;
    let (old, ty) = locals.get_mut(name)?;
    let ty = ty.clone()?;
    if let Some(op) = op {
        value = Expr { kind: ExprKind::Binary(op, Box::new(old.clone()?), Box::new(value)), span: e.span };
    }
    *old = Some(converted(&ty, value));
    Some(())
}
