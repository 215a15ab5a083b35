//! How variables move in a loop (induction variables; Allen and Kennedy, chapter 4.5; "chains of recurrences" of degree
//! one).
//!
//! Terms: an *induction variable* changes by the same amount in each iteration. The amount does not depend on the
//! iteration.
//!
//! Method: the body is walked once on trial, where each variable that it changes has an unknown value. If the variable
//! then holds this unknown plus an amount that is constant in the loop, it is an induction variable: its value at the
//! start of iteration number `k` is `first + amount * k`, its value behind the loop is `first + amount * count`.

use super::{address, Id, Kind, Value, Walk};
use crate::ast::{Binary, Expr, ExprKind, Stmt};
use crate::effects::{names, size};
use crate::poly::{Leaf, Poly};
use crate::sema::promote;
use scop::diag::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The iterations of a loop: the iterator starts at `start` and changes by `step`, which is not 0.
pub(super) struct Progress {
    pub iterator: Expr,
    pub start: Poly,
    pub step: i64,
}

impl Progress {
    /// `amount` times the number of iterations before the current one.
    fn times(&self, amount: &Poly, span: Span, leaf: Leaf) -> Option<Poly> {
        let iterator = Poly::atom(&self.iterator);
        let way = iterator.plus(&self.start, -1)?;
        if let Some(each) = amount.divided(self.step) {
            return each.times(&way);
        }
        let (way, by) = if self.step > 0 { (way, self.step) } else { (way.times(&Poly::constant(-1))?, -self.step) };
        if let Some(number) = way.divided(by) {
            return amount.times(&number);
        }
        amount.times(&quotient(&way, by, span, leaf))
    }
}

/// `way / by` as an atom.
pub(super) fn quotient(way: &Poly, by: i64, span: Span, leaf: Leaf) -> Poly {
    match way.as_constant() {
        Some(n) => Poly::constant(n / by),
        None => {
            let ty = way.natural(leaf);
            let (way, by) = (way.expression(ty, span, leaf), Poly::constant(by).expression(ty, span, leaf));
            Poly::atom(&Expr { kind: ExprKind::Binary(Binary::Div, Box::new(way), Box::new(by)), span })
        }
    }
}

impl Walk {
    fn width(&self, id: Id) -> u32 {
        match self.variables[id].kind {
            Kind::Integer(ty) => ty.bits(),
            _ => 64,
        }
    }

    /// A value of the variable as a polynomial; of a pointer, its offset.
    fn poly(&self, id: Id, e: &Expr) -> Option<Poly> {
        let leaf = |x: &Expr| self.leaf_type(x);
        match self.variables[id].kind {
            Kind::Integer(_) => Poly::of(e, self.width(id), &leaf),
            _ => Poly::of(&address::split(e)?.1, 64, &leaf),
        }
    }

    /// The expression in its simplest form.
    pub(super) fn simplified(&self, e: &Expr) -> Expr {
        let leaf = |x: &Expr| self.leaf_type(x);
        match Poly::of(e, 64, &leaf) {
            Some(p) => p.expression(p.natural(&leaf), e.span, &leaf),
            None => e.clone(),
        }
    }

    /// Whether two values of a variable are the same.
    pub(super) fn equal(&self, id: Id, a: &Expr, b: &Expr) -> bool {
        let same_base = || match self.variables[id].kind {
            Kind::Pointer => address::split(a).zip(address::split(b)).is_some_and(|(a, b)| a.0.same(&b.0)),
            _ => true,
        };
        let difference = || self.poly(id, a)?.plus(&self.poly(id, b)?, -1)?.as_constant();
        a.same(b) || same_base() && difference() == Some(0)
    }

    /// The value `first + amount` of a variable.
    fn moved(&self, id: Id, first: &Value, amount: &Poly) -> Option<Value> {
        let leaf = |x: &Expr| self.leaf_type(x);
        let sum = self.poly(id, &first.0)?.plus(amount, 1)?;
        let ty = match self.variables[id].kind {
            Kind::Integer(ty) => promote(ty),
            _ => sum.natural(&leaf),
        };
        let sum = sum.expression(ty, first.0.span, &leaf);
        match self.variables[id].kind {
            Kind::Pointer => {
                let (base, _) = address::split(&first.0)?;
                self.address(&address::joined(base, sum))
            }
            _ => self.converted(id, &sum),
        }
    }

    /// The variable's value in the loop.
    pub(super) fn at(&self, id: Id, first: &Value, amount: &Poly, progress: &Progress) -> Option<Value> {
        self.moved(id, first, &progress.times(amount, first.0.span, &|x| self.leaf_type(x))?)
    }

    /// The variable's value behind the loop.
    pub(super) fn behind(&self, id: Id, first: &Value, amount: &Poly, count: Option<&Poly>) -> Option<Value> {
        if amount.as_constant() == Some(0) {
            return Some(first.clone());
        }
        self.moved(id, first, &amount.times(count?)?)
    }

    /// The amounts by which a loop's body moves the variables `ids`, all of which have a value. `iterator`: the loop's.
    pub(super) fn amounts(&mut self, body: &Stmt, ids: &[Id], iterator: Option<Id>) -> BTreeMap<Id, Poly> {
        let cost = size(body);
        if ids.is_empty() || cost > self.trials {
            return BTreeMap::new();
        }
        self.trials -= cost;
        let mut trial = self.clone();
        let known = trial.variables.len();
        let mut unknowns = BTreeMap::new();
        for &id in ids {
            // No name in C has this form.
            let name: Rc<str> = format!("@{id}").into();
            let kind = match self.variables[id].kind {
                Kind::Pointer => Kind::Array(usize::MAX),
                kind => kind,
            };
            let unknown = trial.bind(&name, kind, true, false);
            let e = Expr { kind: ExprKind::Name(name.clone()), span: body_span(body) };
            trial.variables[id].value = Some((e.clone(), vec![(name, unknown)]));
            unknowns.insert(id, e);
        }
        let mut walked = body.clone();
        trial.branch(&mut walked);
        self.trials = trial.trials;
        let amount = |(&id, unknown): (&Id, &Expr)| {
            let end = trial.current_value(id)?;
            if self.variables[id].kind == Kind::Pointer && !address::split(&end)?.0.same(unknown) {
                return None;
            }
            let amount = trial.poly(id, &end)?.plus(&trial.poly(id, unknown)?, -1)?;
            let mut inside = BTreeSet::new();
            amount.atoms().for_each(|e| names(e, &mut inside));
            let constant =
                |n: &Rc<str>| !n.starts_with('@') && trial.lookup(n).is_some_and(|v| v < known && Some(v) != iterator);
            inside.iter().all(constant).then_some((id, amount))
        };
        unknowns.iter().filter_map(amount).collect()
    }
}

pub(super) fn body_span(body: &Stmt) -> Span {
    let mut span = None;
    crate::effects::expressions(body, &mut |e| span = span.or(Some(e.span)));
    span.unwrap_or(Span { file: 0, start: 0, end: 0 })
}
