//! Counted loops: every form of a loop that counts becomes `for (v = START; CONDITION; v += STEP)`.
//!
//! - A `for` loop of this form remains as it is.
//! - A loop that changes a variable of its condition by a constant, once at the end of each iteration, counts that
//!   variable: `while (i < n) { …; i++; }`, `for (; i < n; i++, p += 2)`. The `for` declares a variable of its name.
//! - Any other loop counts its iterations with a new variable `k` from 0; the values in its condition follow from `k`
//!   (`induction`): `while (p != end) { …; p++; }` becomes `for (k = 0; k != end - p; k++)`.
//!
//! A `do` loop becomes a `for` loop, too. The semantic analysis checks that its condition holds at the start.
//!
//! Behind the loop, a variable that it counts has the value `START + STEP * count`, if the count is affine.

use super::induction::{quotient, Progress};
use super::{placed, Id, Kind, Value, Walk};
use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Init, LoopKind, Stmt, StmtKind, TypeName};
use crate::effects::{changed, names};
use crate::poly::{Leaf, Poly};
use crate::sema::{spelling, type_of};
use scop::diag::{Diagnostic, Span};
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const HELP: &str =
    "a counted loop compares a variable with an affine bound, and changes it by a constant once in each \
    iteration, under no condition: `for (int i = START; i < END; i += STEP)`, `while (n-- > 0)`, `do … while (++i < \
    END)`; otherwise write a `for` loop to the greatest count, and put the condition into an `if` in its body";

/// The iterator of a loop that was brought into the form of a `for` loop.
struct Counter {
    /// The variable that it counts.
    variable: Option<Id>,
    name: Rc<str>,
}

impl Walk {
    /// Processes a loop; the statement that replaces it, if its form changes.
    pub(super) fn for_loop(&mut self, f: &mut For) -> Option<StmtKind> {
        if is_plain(f) {
            let mut set = BTreeSet::new();
            changed(&f.body, &mut set);
            let steps_it = |name: &Rc<str>| f.step.as_ref().is_some_and(|e| step_of(e, name).is_some());
            let declared = matches!(&f.init, ForInit::Declare(all) if all[0].pointer.is_some());
            let known = f.iterator().and_then(|name| self.lookup(&name));
            let is_pointer = declared || known.is_some_and(|id| self.variables[id].kind == Kind::Pointer);
            if !is_pointer && f.iterator().is_none_or(|name| steps_it(&name) && !set.contains(&name)) {
                if let Some(kind) = self.exchanging(f) {
                    return Some(kind);
                }
                self.counted_loop(f, None);
                let result = known.filter(|id| self.variables[*id].result);
                return result.filter(|_| !f.may_break).and_then(|id| self.with_value_behind(f, id));
            }
        }
        let before = self.clone();
        if let Some(kind) = self.general_loop(f) {
            return Some(kind);
        }
        *self = before;
        if is_plain(f) || f.condition.is_none() {
            // The semantic analysis has the better message.
            self.counted_loop(f, None);
            return None;
        }
        let code = if f.kind == LoopKind::For { "E0406" } else { "E0401" };
        let fault = Diagnostic::error(code, f.header, "this loop does not count")
            .label("how often it runs is not known beforehand")
            .help(HELP);
        self.faults.push(fault);
        let mut set = BTreeSet::new();
        changed(&f.body, &mut set);
        self.invalidate(&set);
        Some(StmtKind::Poison)
    }

    /// The loop as a `for` loop; `None` if it does not count.
    fn general_loop(&mut self, f: &For) -> Option<StmtKind> {
        let condition = f.condition.as_ref()?;
        let mut outside = match &f.init {
            ForInit::None => vec![],
            ForInit::Expr(e) => listed(e),
            ForInit::Declare(all) => vec![Stmt { kind: StmtKind::Declare(all.clone()) }],
        };
        let mut inside = match &f.body.kind {
            StmtKind::Block(all) => all.clone(),
            _ => vec![f.body.clone()],
        };
        inside.extend(f.step.iter().flat_map(listed));
        self.scopes.push(BTreeMap::new());
        outside.iter_mut().for_each(|s| self.statement(s));
        if f.kind == LoopKind::Do && matches!(condition.kind, ExprKind::Literal(0, _)) {
            let mut body = Stmt { kind: StmtKind::Block(inside) };
            self.statement(&mut body);
            outside.push(body);
        } else {
            let mut counted = self.turned(f, condition, &mut inside)?;
            let (variable, name) = (counted.1.variable, counted.1.name.clone());
            self.counted_loop(&mut counted.0, Some(counted.1));
            let after = counted.0.condition.as_ref()?;
            let mut mentioned = BTreeSet::new();
            names(after, &mut mentioned);
            // Outside of the loop the iterator's name is free again.
            mentioned.remove(&name);
            let affine = mentioned.iter().all(|n| self.lookup(n).is_some_and(|id| self.variables[id].fixed));
            let loads = calls_or_loads(after);
            if variable.is_none() && (!affine || loads) {
                return None;
            }
            let span = counted.0.header;
            outside.push(Stmt { kind: StmtKind::For(Box::new(counted.0)) });
            if let Some(id) = variable.filter(|id| self.variables[*id].result) {
                outside.push(self.value_behind(id, span)?);
            }
        }
        self.close(&mut outside, &mut vec![]);
        Some(StmtKind::Block(outside))
    }

    /// The loop with an iterator of its own, and behind it an assignment of the value that it leaves in its counter `id`.
    fn with_value_behind(&mut self, f: &mut For, id: Id) -> Option<StmtKind> {
        let ForInit::Expr(Expr { kind: ExprKind::Assign(None, target, start), .. }) = &f.init else { return None };
        let ExprKind::Name(name) = &target.kind else { return None };
        let Some(last) = self.value_behind(id, f.header) else {
            self.unknown_behind(name, f.header);
            return None;
        };
        let ty = self.variables[id].integer()?;
        let mut counted = f.clone();
        counted.init = ForInit::Declare(vec![iterator(name.clone(), ty, (**start).clone(), f.header)]);
        Some(StmtKind::Block(vec![Stmt { kind: StmtKind::For(Box::new(counted)) }, last]))
    }

    /// The assignment of the value that a variable has behind the loop at `span`.
    fn value_behind(&self, id: Id, span: Span) -> Option<Stmt> {
        let name = self.scopes.iter().flatten().find(|(_, other)| **other == id)?.0.clone();
        let (target, value) = (Expr { kind: ExprKind::Name(name), span }, placed(&self.current_value(id)?, span));
        let kind = ExprKind::Assign(None, Box::new(target), Box::new(value));
        Some(Stmt { kind: StmtKind::Expr(Expr { kind, span }) })
    }

    /// A `for` loop that counts a variable of the condition, or else the iterations.
    fn turned(&mut self, f: &For, condition: &Expr, inside: &mut Vec<Stmt>) -> Option<(For, Counter)> {
        let span = f.header;
        let mut candidates = BTreeSet::new();
        names(condition, &mut candidates);
        let found = candidates.iter().find_map(|name| {
            // A variable that is used behind the region keeps its steps.
            let id = self.lookup(name).filter(|id| !self.variables[*id].pinned)?;
            let ty = self.variables[id].integer()?;
            let start = self.current_value(id)?;
            Some((name.clone(), id, ty, start, stepped(inside, name)?))
        });
        let expr = |kind| Expr { kind, span };
        let (name, variable, ty, start, step) = match found {
            Some((name, id, ty, start, at)) => {
                let StmtKind::Expr(step) = inside.remove(at).kind else { return None };
                let mut own = BTreeSet::new();
                names(&start, &mut own);
                let iterator = if own.contains(&name) { self.unused(&name) } else { name.clone() };
                (iterator.clone(), Some(id), ty, start, renamed(&step, &name, &iterator))
            }
            None => {
                let name = self.unused(candidates.first().map_or("k", |n| n));
                let step = expr(ExprKind::Step(Binary::Add, Box::new(expr(ExprKind::Name(name.clone())))));
                (name, None, ScalarType::I32, expr(ExprKind::Literal(0, ScalarType::I32)), step)
            }
        };
        let condition = match &condition.kind {
            ExprKind::Binary(..) => condition.clone(),
            _ => {
                let zero = expr(ExprKind::Literal(0, ScalarType::I32));
                let kind = ExprKind::Binary(Binary::Ne, Box::new(condition.clone()), Box::new(zero));
                Expr { kind, span: condition.span }
            }
        };
        let declarator = iterator(name.clone(), ty, start, span);
        let body = Stmt { kind: StmtKind::Block(std::mem::take(inside)) };
        let (init, condition, step) = (ForInit::Declare(vec![declarator]), Some(condition), Some(step));
        Some((
            For { kind: f.kind, init, condition, step, body, may_break: f.may_break, header: span },
            Counter { variable, name },
        ))
    }

    /// Processes a `for` loop. `counter`: it was brought into this form, and its start is a value already.
    fn counted_loop(&mut self, f: &mut For, counter: Option<Counter>) {
        self.scopes.push(BTreeMap::new());
        let mut set = BTreeSet::new();
        changed(&f.body, &mut set);
        let outer = counter.as_ref().and_then(|c| c.variable);
        let pinned = outer.map(|id| self.variables[id].pinned);
        let iterator = self.start(&mut f.init, &mut set, counter.is_some());
        // The loop does not set the variable that its iterator hides.
        outer.zip(pinned).into_iter().for_each(|(id, pinned)| self.variables[id].pinned = pinned);
        let first: Vec<(Id, Value)> = self.values_of(&set, iterator);
        let start = iterator.and_then(|id| self.start_value(f, id));
        self.invalidate(&set);
        let was_fixed = iterator.map(|id| std::mem::replace(&mut self.variables[id].fixed, true));
        let progress = iterator.and_then(|id| self.progress(f, id, start.as_ref()?));
        let mut amounts = BTreeMap::new();
        if let Some(progress) = &progress {
            let ids: Vec<Id> = first.iter().map(|(id, _)| *id).collect();
            self.count_variable(outer, progress);
            amounts = self.amounts(&f.body, &ids, iterator);
            for (id, value) in &first {
                let amount = amounts.get(id);
                self.variables[*id].value = amount.and_then(|amount| self.at(*id, value, amount, progress));
            }
        }
        for e in f.condition.iter_mut().chain(&mut f.step) {
            *e = self.header(e);
        }
        let count = progress.as_ref().and_then(|p| self.count(f, p));
        self.branch(&mut f.body);
        self.invalidate(&set);
        iterator.zip(was_fixed).into_iter().for_each(|(id, was)| self.variables[id].fixed = was);
        self.scopes.pop();
        for (id, value) in &first {
            let amount = amounts.get(id);
            self.variables[*id].value = amount.and_then(|amount| self.behind(*id, value, amount, count.as_ref()));
        }
        let Some(counted) = outer.or(iterator.filter(|_| matches!(f.init, ForInit::Expr(_)))) else { return };
        self.variables[counted].lost = outer.is_some();
        if f.may_break && (self.variables[counted].pinned || self.variables[counted].result) {
            self.counts_until_break(f);
        }
        self.variables[counted].replaced |= outer.is_some();
        self.variables[counted].value = start.zip(progress).filter(|_| !f.may_break).and_then(|(start, progress)| {
            let value = self.converted(counted, &start)?;
            self.behind(counted, &value, &Poly::constant(progress.step), count.as_ref())
        });
    }

    /// A loop with `break` counts a variable that is used behind it.
    fn counts_until_break(&mut self, f: &For) {
        let name = f.iterator().unwrap_or_else(|| "".into());
        let message = format!("`{name}` is used after a loop that counts it");
        let fault = Diagnostic::error("E0412", f.header, message)
            .label("`break` may end this loop: its value behind the loop is not known")
            .help(format!("keep it in another variable in front of `break`: `last = {name};`"));
        self.faults.push(fault);
    }

    /// The variables of these names that have a value here.
    fn values_of(&self, set: &BTreeSet<Rc<str>>, iterator: Option<Id>) -> Vec<(Id, Value)> {
        let mut first: Vec<(Id, Value)> = vec![];
        for id in set.iter().filter_map(|n| self.lookup(n)).filter(|id| Some(*id) != iterator) {
            let moves = matches!(self.variables[id].kind, Kind::Integer(_) | Kind::Pointer);
            if moves && self.current_value(id).is_some() {
                first.extend(self.variables[id].value.clone().map(|value| (id, value)));
            }
        }
        first
    }

    /// Inside of its loop, a variable that a new iterator counts has the iterator's value.
    fn count_variable(&mut self, outer: Option<Id>, progress: &Progress) {
        if let Some(id) = outer {
            self.variables[id].value = self.converted(id, &progress.iterator);
        }
    }

    /// Processes a loop's start, unless it is `ready`; returns its iterator, if that is an integer.
    fn start(&mut self, init: &mut ForInit, set: &mut BTreeSet<Rc<str>>, ready: bool) -> Option<Id> {
        let id = match init {
            ForInit::None => return None,
            ForInit::Declare(all) => {
                for d in all.iter_mut() {
                    let bound = self.bind(&d.name, Kind::of(d, false), false, d.ty.constant);
                    self.variables[bound].pinned = true;
                    if !ready {
                        d.init.iter_mut().for_each(|i| self.initializer(i));
                    }
                }
                self.lookup(&all.first()?.name)?
            }
            ForInit::Expr(e) => {
                *e = self.header(e);
                let ExprKind::Assign(None, target, _) = &e.kind else { return None };
                let ExprKind::Name(name) = &target.kind else { return None };
                set.insert(name.clone());
                self.lookup(name)?
            }
        };
        self.variables[id].integer().map(|_| id)
    }

    /// A part of a loop's header; it pins the iterator that it assigns.
    fn header(&mut self, e: &Expr) -> Expr {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &e.kind {
            let id = match &target.kind {
                ExprKind::Name(name) => self.lookup(name),
                _ => None,
            };
            match id {
                Some(id) => {
                    self.variables[id].header = true;
                    self.variables[id].value = None;
                }
                None => self.pin(target),
            }
        }
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                Expr { kind: ExprKind::Assign(*op, target.clone(), Box::new(self.substitute(value))), span: e.span }
            }
            ExprKind::Step(..) => e.clone(),
            _ => self.substitute(e),
        }
    }

    /// The start of the iterator, converted to its type.
    fn start_value(&self, f: &For, iterator: Id) -> Option<Expr> {
        let ty = self.variables[iterator].integer()?;
        let start = f.start()?;
        self.index(start)?;
        let own = type_of(start, &|x| self.leaf_type(x)) == Some(ty);
        let cast = || Expr { kind: ExprKind::Cast(ty, Box::new(start.clone())), span: start.span };
        Some(if own { start.clone() } else { cast() })
    }

    fn progress(&self, f: &For, iterator: Id, start: &Expr) -> Option<Progress> {
        let name = f.iterator()?;
        // Its names must mean the same in the loop.
        let mut inside = BTreeSet::new();
        names(start, &mut inside);
        if inside.contains(&name) {
            return None;
        }
        let leaf = |x: &Expr| self.leaf_type(x);
        let (op, amount) = step_of(f.step.as_ref()?, &name)?;
        let step = Poly::of(&amount, 64, &leaf)?.as_constant().filter(|n| *n != 0)?;
        self.variables[iterator].integer()?;
        Some(Progress {
            iterator: Expr { kind: ExprKind::Name(name), span: f.header },
            start: Poly::of(start, 64, &leaf)?,
            step: if op == Binary::Add { step } else { -step },
        })
    }

    /// The number of iterations.
    fn count(&self, f: &For, progress: &Progress) -> Option<Poly> {
        let condition = f.condition.as_ref()?;
        self.index(condition)?;
        self.count_while(condition, progress)
    }

    fn count_while(&self, condition: &Expr, progress: &Progress) -> Option<Poly> {
        let ExprKind::Binary(op, a, b) = &condition.kind else { return None };
        if *op == Binary::LogicalAnd {
            let (a, b) = (self.count_while(a, progress)?, self.count_while(b, progress)?);
            return Some(least(&a, &b, condition.span, &|x| self.leaf_type(x)));
        }
        let leaf = |x: &Expr| self.leaf_type(x);
        // The semantic analysis refuses a condition that wraps around, so every conversion is exact.
        let (a, b) = (Poly::of(a, 0, &leaf)?, Poly::of(b, 0, &leaf)?);
        // The loop goes on while `left` is positive; for `!=`, while it is not 0.
        let left = match op {
            Binary::Lt | Binary::Ne => b.plus(&a, -1)?,
            Binary::Le => b.plus(&a, -1)?.plus(&Poly::constant(1), 1)?,
            Binary::Gt => a.plus(&b, -1)?,
            Binary::Ge => a.plus(&b, -1)?.plus(&Poly::constant(1), 1)?,
            _ => return None,
        };
        let (rest, factor) = left.linear_in(&progress.iterator)?;
        let at_start = rest.plus(&progress.start.times(&Poly::constant(factor))?, 1)?;
        let falls = -factor.checked_mul(progress.step)?;
        if *op == Binary::Ne {
            return (falls.abs() == 1).then(|| at_start.times(&Poly::constant(falls)))?;
        }
        if falls <= 0 {
            return None;
        }
        let rounded = at_start.plus(&Poly::constant(falls - 1), 1)?;
        if let Some(n) = at_start.as_constant() {
            return Some(Poly::constant(if n > 0 { rounded.as_constant()? / falls } else { 0 }));
        }
        let span = condition.span;
        if falls == 1 && at_start.is_natural(&self.sizes) {
            return Some(at_start);
        }
        let count = if falls == 1 { at_start.clone() } else { quotient(&rounded, falls, span, &leaf) };
        let literal = || Expr { kind: ExprKind::Literal(0, ScalarType::I32), span };
        let of = |p: &Poly| Box::new(p.expression(p.natural(&leaf), span, &leaf));
        let positive = ExprKind::Binary(Binary::Gt, of(&at_start), Box::new(literal()));
        let positive = Box::new(Expr { kind: positive, span });
        Some(Poly::atom(&Expr { kind: ExprKind::Conditional(positive, of(&count), Box::new(literal())), span }))
    }

    /// Reports the value behind a loop of a variable that it counts, if that is not known.
    pub(super) fn unknown_behind(&mut self, name: &str, span: Span) -> Expr {
        let fault = Diagnostic::error("E0412", span, format!("`{name}` is used after a loop that counts it"))
            .label("its value behind the loop is not affine")
            .help("write the value out, or use another variable");
        self.faults.push(fault);
        Expr { kind: ExprKind::Poison, span }
    }
}

/// The lesser of two values.
fn least(a: &Poly, b: &Poly, span: Span, leaf: Leaf) -> Poly {
    let of = |p: &Poly| Box::new(p.expression(p.natural(leaf), span, leaf));
    let less = Box::new(Expr { kind: ExprKind::Binary(Binary::Lt, of(a), of(b)), span });
    Poly::atom(&Expr { kind: ExprKind::Conditional(less, of(a), of(b)), span })
}

/// The declaration of a loop's iterator.
fn iterator(name: Rc<str>, ty: ScalarType, start: Expr, span: Span) -> Declarator {
    let ty = TypeName { scalar: Some(ty), text: spelling(ty), ..TypeName::unknown(span) };
    Declarator { name, span, init: Some(Init::Value(start)), ..Declarator::unnamed(ty) }
}

/// A `for` loop with one iterator, a condition and one step.
fn is_plain(f: &For) -> bool {
    let starts = match &f.init {
        ForInit::None => false,
        ForInit::Declare(all) => all.len() == 1,
        ForInit::Expr(e) => !matches!(e.kind, ExprKind::Comma(..)),
    };
    let steps = f.step.as_ref().is_some_and(|e| !matches!(e.kind, ExprKind::Comma(..)));
    f.kind == LoopKind::For && starts && steps && f.condition.is_some()
}

/// The parts of a comma expression as statements.
fn listed(e: &Expr) -> Vec<Stmt> {
    match &e.kind {
        ExprKind::Comma(a, b) => listed(a).into_iter().chain(listed(b)).collect(),
        _ => vec![Stmt { kind: StmtKind::Expr(e.clone()) }],
    }
}

fn calls_or_loads(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |x| found |= matches!(x.kind, ExprKind::Call(..) | ExprKind::Index(..) | ExprKind::Poison));
    found
}

/// The operator and the amount of a step of the variable.
pub(crate) fn step_of(e: &Expr, name: &str) -> Option<(Binary, Expr)> {
    let is_own = |x: &Expr| matches!(&x.kind, ExprKind::Name(n) if **n == *name);
    match &e.kind {
        ExprKind::Step(op, target) if is_own(target) => Some((*op, Expr::one(e.span))),
        ExprKind::Assign(Some(op @ (Binary::Add | Binary::Sub)), target, amount) if is_own(target) => {
            Some((*op, (**amount).clone()))
        }
        ExprKind::Assign(None, target, value) if is_own(target) => match &value.kind {
            ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) if is_own(a) => Some((*op, (**b).clone())),
            ExprKind::Binary(Binary::Add, a, b) if is_own(b) => Some((Binary::Add, (**a).clone())),
            _ => None,
        },
        _ => None,
    }
}

/// The position of the statement that steps the variable, if it does so once, and nothing behind it mentions it.
fn stepped(inside: &[Stmt], name: &Rc<str>) -> Option<usize> {
    let mentions = |s: &Stmt| {
        let (mut all, mut declared) = (BTreeSet::new(), BTreeSet::new());
        crate::effects::expressions(s, &mut |e| names(e, &mut all));
        crate::effects::declared(s, &mut declared);
        all.contains(name) || declared.contains(name)
    };
    let at = inside.iter().rposition(mentions)?;
    let StmtKind::Expr(e) = &inside[at].kind else { return None };
    let (_, amount) = step_of(e, name)?;
    let mut set = BTreeSet::new();
    inside[..at].iter().for_each(|s| changed(s, &mut set));
    inside[..at].iter().for_each(|s| crate::effects::declared(s, &mut set));
    let constant = matches!(amount.kind, ExprKind::Literal(..));
    (constant && !set.contains(name)).then_some(at)
}

/// The expression with another name for the variable.
pub(crate) fn renamed(e: &Expr, from: &Rc<str>, to: &Rc<str>) -> Expr {
    match &e.kind {
        ExprKind::Name(name) if name == from => Expr { kind: ExprKind::Name(to.clone()), span: e.span },
        _ => crate::inline::with_operands(e, &mut |x| renamed(x, from, to)),
    }
}
