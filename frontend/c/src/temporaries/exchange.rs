//! Pointers that change places in each iteration: `t = p; p = q; q = t;` at the end of a time step.
//!
//! Method: the body is walked once on trial, where each pointer that it sets has an unknown value. If the pointers then
//! hold each other's unknowns, they are back after as many iterations as their cycles are long. With so many copies of
//! the body, every pointer begins each iteration of the loop with the same value:
//!
//! ```text
//! for (t = 0; t < n; t++) { step(p, q); swap }  ->
//!     for (t = 0; t < n; t += 2) { step(p, q); swap  if (t + 1 < n) { step(p, q); swap } }
//! ```
//!
//! A constant number of iterations needs no condition: those that are left over stand behind the loop.

use super::counted::step_of;
use super::{address, Id, Kind, Walk};
use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Init, LoopKind, Outside, Stmt, StmtKind, TypeName};
use crate::effects::{changed, size};
use crate::inline::substituted;
use crate::poly::Poly;
use num_integer::lcm;
use scop::value::from_integer;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Limit on the copies of a body.
const COPIES: usize = 4;

/// For each pointer, the one whose value it holds after an iteration.
type Turns = BTreeMap<Rc<str>, Rc<str>>;

impl Walk {
    /// Processes a loop whose pointers change places, with several copies of its body; `None` for other loops.
    pub(super) fn exchanging(&mut self, f: &For) -> Option<StmtKind> {
        let (condition, name) = (f.condition.as_ref()?, f.iterator()?);
        let (op, amount) = step_of(f.step.as_ref()?, &name)?;
        let amount = self.constant(&amount)?;
        let step = if op == Binary::Add { amount } else { amount.checked_neg()? };
        let turns = self.turns(&f.body, &name)?;
        let copies = turns.keys().map(|name| cycle(&turns, name)).fold(1, lcm);
        if f.kind != LoopKind::For || step == 0 || !(2..=COPIES).contains(&copies) {
            return None;
        }
        let expr = |kind| Expr { kind, span: f.header };
        let here = expr(ExprKind::Name(name.clone()));
        let literal = |n: i64| expr(ExprKind::Literal(from_integer(n.into(), ScalarType::I32), ScalarType::I32));
        let later = |k: i64| match k {
            0 => here.clone(),
            k => expr(ExprKind::Binary(Binary::Add, Box::new(here.clone()), Box::new(literal(k * step)))),
        };
        let copy = |value: &Expr| {
            let (body, still) = substituted(&f.body, condition, &name, value);
            (Stmt { kind: StmtKind::Block(vec![body]) }, still)
        };
        let count = self.iterations(f, &name, step);
        let mut all = vec![];
        let by =
            expr(ExprKind::Assign(Some(Binary::Add), Box::new(here.clone()), Box::new(literal(copies as i64 * step))));
        match count {
            Some((start, count)) => {
                let whole = count - count % copies as i64;
                let beyond = |n: i64| start.checked_add(n.checked_mul(step)?).filter(|n| i32::try_from(*n).is_ok());
                beyond(count)?;
                if whole > 0 {
                    let body = (0..copies as i64).map(|k| copy(&later(k)).0).collect();
                    let op = if step > 0 { Binary::Lt } else { Binary::Gt };
                    let end = expr(ExprKind::Binary(op, Box::new(here.clone()), Box::new(literal(beyond(whole)?))));
                    let body = Stmt { kind: StmtKind::Block(body) };
                    let whole = For { condition: Some(end), step: Some(by), body, ..f.clone() };
                    all.push(Stmt { kind: StmtKind::For(Box::new(whole)) });
                }
                for k in whole..count {
                    all.push(copy(&literal(beyond(k)?)).0);
                }
            }
            None => {
                let mut body = vec![];
                for k in (0..copies).rev() {
                    let (own, still) = copy(&later(k as i64));
                    body.insert(0, own);
                    if k > 0 {
                        let back = self.restored(&turns, copies - k, f);
                        let (then, otherwise) = (StmtKind::Block(body), StmtKind::Block(back));
                        let (then, otherwise) = (Stmt { kind: then }, Stmt { kind: otherwise });
                        let kind = StmtKind::If(still, Box::new(then), Some(Box::new(otherwise)));
                        body = vec![Stmt { kind }];
                    }
                }
                let body = Stmt { kind: StmtKind::Block(body) };
                all.push(Stmt { kind: StmtKind::For(Box::new(For { step: Some(by), body, ..f.clone() })) });
            }
        }
        all.iter_mut().for_each(|s| self.statement(s));
        if count.is_none() {
            turns.keys().filter_map(|n| self.lookup(n)).collect::<Vec<_>>().into_iter().for_each(|id| {
                self.variables[id].value = None;
            });
        }
        if let (ForInit::Expr(_), Some(id)) = (&f.init, self.lookup(&name)) {
            let end = count.map(|(start, count)| literal(start + count * step));
            self.variables[id].value = end.and_then(|end| self.converted(id, &end));
        }
        Some(StmtKind::Block(all))
    }

    fn constant(&self, e: &Expr) -> Option<i64> {
        let e = self.clone().substitute(e);
        Poly::of(&e, 64, &|x| self.leaf_type(x))?.as_constant()
    }

    /// The start and the number of iterations, if they are constant.
    fn iterations(&self, f: &For, name: &Rc<str>, step: i64) -> Option<(i64, i64)> {
        let start = self.constant(f.start()?)?;
        let ExprKind::Binary(op, a, b) = &f.condition.as_ref()?.kind else { return None };
        let end = self.constant(b).filter(|_| matches!(&a.kind, ExprKind::Name(n) if n == name))?;
        let way = match op {
            Binary::Lt if step > 0 => end.checked_sub(start)?,
            Binary::Le if step > 0 => end.checked_sub(start)?.checked_add(1)?,
            Binary::Gt if step < 0 => start.checked_sub(end)?,
            Binary::Ge if step < 0 => start.checked_sub(end)?.checked_add(1)?,
            _ => return None,
        };
        let by = step.checked_abs()?;
        Some((start, way.max(0).checked_add(by - 1)? / by))
    }

    /// How the pointers that `body` sets change places; `None` if they do not.
    fn turns(&mut self, body: &Stmt, iterator: &Rc<str>) -> Option<Turns> {
        let mut set = BTreeSet::new();
        changed(body, &mut set);
        let is_pointer = |name: &&Rc<str>| {
            let id = self.lookup(name);
            id.is_some_and(|id| self.variables[id].kind == Kind::Pointer && self.current_value(id).is_some())
        };
        let pointers: Vec<Rc<str>> = set.iter().filter(is_pointer).cloned().collect();
        let cost = size(body);
        if pointers.len() < 2 || cost > self.trials {
            return None;
        }
        self.trials -= cost;
        let mut trial = self.clone();
        trial.scopes.push(BTreeMap::new());
        trial.bind(iterator, Kind::Integer(ScalarType::I32), true, false);
        trial.invalidate(&set);
        let ids: Vec<Id> = pointers.iter().filter_map(|n| trial.lookup(n)).collect();
        for &id in &ids {
            // No name in C has this form.
            let name: Rc<str> = format!("@{id}").into();
            let unknown = trial.bind(&name, Kind::Array(usize::MAX), true, false);
            let e = Expr { kind: ExprKind::Name(name.clone()), span: super::induction::body_span(body) };
            trial.variables[id].value = Some((e, vec![(name, unknown)]));
        }
        trial.branch(&mut body.clone());
        let end = |id: Id| {
            let value = trial.current_value(id)?;
            let (base, offset) = address::split(&value)?;
            let ExprKind::Name(unknown) = &base.kind else { return None };
            let still = Poly::of(&offset, 64, &|x| trial.leaf_type(x))?.as_constant() == Some(0);
            ids.iter().position(|id| still && **unknown == *format!("@{id}"))
        };
        let ends = ids.iter().zip(&pointers).filter_map(|(&id, name)| Some((name.clone(), pointers[end(id)?].clone())));
        let mut turns: Turns = ends.collect();
        turns.retain(|from, to| from != to);
        let targets: BTreeSet<&Rc<str>> = turns.values().collect();
        let permutes = targets.len() == turns.len() && targets.into_iter().eq(turns.keys());
        (permutes && !turns.is_empty()).then_some(turns)
    }

    /// What `times` more iterations do to the pointers.
    fn restored(&mut self, turns: &Turns, times: usize, f: &For) -> Vec<Stmt> {
        let span = f.header;
        let expr = |kind| Expr { kind, span };
        let mut copies = vec![];
        let mut saved: BTreeMap<&Rc<str>, Rc<str>> = BTreeMap::new();
        for name in turns.keys() {
            let copy = self.unused(name);
            copies.push(Declarator {
                name: copy.clone(),
                span,
                // What it points to does not matter: it is never a variable of the program.
                ty: TypeName { scalar: Some(ScalarType::I32), text: "int".into(), ..TypeName::unknown(span) },
                dims: vec![],
                pointer: Some(span),
                to_elements: true,
                reference: false,
                function: false,
                init: Some(Init::Value(expr(ExprKind::Name(name.clone())))),
                outside: Outside::default(),
            });
            saved.insert(name, copy);
        }
        let last = |name: &Rc<str>| (0..times).fold(name.clone(), |at, _| turns[&at].clone());
        let set = turns.keys().map(|name| {
            let value = expr(ExprKind::Name(saved[&last(name)].clone()));
            let target = expr(ExprKind::Name(name.clone()));
            Stmt { kind: StmtKind::Expr(expr(ExprKind::Assign(None, Box::new(target), Box::new(value)))) }
        });
        let set: Vec<Stmt> = set.collect();
        [Stmt { kind: StmtKind::Declare(copies) }].into_iter().chain(set).collect()
    }
}

/// The length of the cycle in which a pointer is.
fn cycle(turns: &Turns, name: &Rc<str>) -> usize {
    let (mut at, mut length) = (&turns[name], 1);
    while at != name {
        (at, length) = (&turns[at], length + 1);
    }
    length
}
