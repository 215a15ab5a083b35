//! Locals whose writes need no guard, such as the temporary of a conditional swap.
//!
//! `if (a > b) { t = a; a = b; b = t; }` need not guard `t = a`: nobody reads `t` unless the branch was taken. So `t`
//! neither has to be known before nor is it passed from one iteration to the next. Neither need
//! `if (c) t = x; if (c) y = t;`, as long as nothing that `c` reads changes in between.
//!
//! The walk follows one local through the statements in their order, branch by branch as the hardware carries them out,
//! and keeps *facts*: conditions under each of which the local has the value it has in C. A write under a path `P` of
//! conditions either keeps its guard, which adds the fact `P`, or loses it, which leaves `P` as the only fact; it loses
//! it where every fact implies `P`, so that no value is lost that a read could rely on. A read is sound if a fact holds
//! on its path. If all are, the writes do without their guards as decided; else all keep them, and dataflow has the
//! last word.
//!
//! A condition is known by its syntax and by when its names were last assigned. Facts of an array that is not only used
//! with constant subscripts are of all of its elements: such a write may lose its guard, but proves nothing of the
//! others.

use crate::ast;
use crate::ast::{Binary, ExprKind, ForInit, Init, Stmt, StmtKind, Unary};
use crate::effects::assigned;
use scop::diag::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Facts kept at most; leaving some out proves less.
const FACTS: usize = 16;
/// Passes over a loop's body after which nothing is claimed of its start.
const PASSES: usize = 4;

/// The writes of the local `name` that must keep their guards in `block`, which starts where it has no value; `None` if
/// all.
pub(super) fn guarded_writes(name: &str, block: &[Stmt]) -> Option<BTreeSet<Span>> {
    let mut elements = BTreeSet::new();
    for s in block {
        crate::effects::expressions(s, &mut |e| mentioned(e, name, &mut elements));
    }
    let all: Option<BTreeSet<Element>> = elements.into_iter().collect();
    let kinds: Vec<Option<Element>> = all.map_or(vec![None], |all| all.into_iter().map(Some).collect());
    let mut guarded = BTreeSet::new();
    for element in kinds {
        let facts = if element.is_none() { vec![vec![]] } else { vec![] };
        let mut walk = Walk {
            name,
            element,
            facts,
            path: vec![],
            changed: BTreeMap::new(),
            clock: 0,
            final_pass: true,
            sound: true,
            guarded: BTreeSet::new(),
        };
        walk.block(block);
        if !walk.sound {
            return None;
        }
        guarded.append(&mut walk.guarded);
    }
    Some(guarded)
}

/// Constant subscripts; a scalar has none.
type Element = Vec<Constant>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Constant {
    Number(u64),
    Member(Rc<str>),
}

/// The subscripts of `e` if it is `name` or an element of it; `None` inside if they are not constant.
fn own(e: &ast::Expr, name: &str) -> Option<Option<Element>> {
    let (base, subscripts) = e.element()?;
    let constant = |s: &&ast::Expr| match &s.kind {
        ExprKind::Literal(bits, _) => Some(Constant::Number(*bits)),
        ExprKind::Member(member) => Some(Constant::Member(member.clone())),
        _ => None,
    };
    matches!(&base.kind, ExprKind::Name(n) if **n == *name).then(|| subscripts.iter().map(constant).collect())
}

/// The elements of `name` that `e` mentions; a structure as a whole is the element without subscripts.
fn mentioned(e: &ast::Expr, name: &str, out: &mut BTreeSet<Option<Element>>) {
    match own(e, name) {
        Some(element) => {
            out.insert(element);
            e.element().into_iter().flat_map(|(_, subscripts)| subscripts).for_each(|s| mentioned(s, name, out));
        }
        None => e.operands().into_iter().for_each(|x| mentioned(x, name, out)),
    }
}

/// That a condition, evaluated when its names had last changed at `stamp`, came out as `holds`.
#[derive(Clone)]
struct Outcome<'a> {
    condition: &'a ast::Expr,
    stamp: u32,
    holds: bool,
}

impl Outcome<'_> {
    fn about(&self, other: &Self) -> bool {
        self.stamp == other.stamp && self.condition.same(other.condition)
    }

    fn same(&self, other: &Self) -> bool {
        self.holds == other.holds && self.about(other)
    }
}

/// A conjunction.
type Fact<'a> = Vec<Outcome<'a>>;

/// Whether all of `few` are among `many`.
fn among(few: &[Outcome], many: &[Outcome]) -> bool {
    few.iter().all(|x| many.iter().any(|y| x.same(y)))
}

/// What both say.
fn join<'a>(a: &[Fact<'a>], b: &[Fact<'a>]) -> Vec<Fact<'a>> {
    let said = |facts: &[Fact], fact: &Fact| facts.iter().any(|f| among(f, fact));
    let mut both: Vec<Fact> = a.iter().filter(|f| said(b, f)).cloned().collect();
    both.extend(b.iter().filter(|f| said(a, f) && !said(&both, f)).cloned().collect::<Vec<_>>());
    both
}

struct Walk<'a> {
    name: &'a str,
    /// `None`: all of an array.
    element: Option<Element>,
    facts: Vec<Fact<'a>>,
    path: Fact<'a>,
    /// When each name was last assigned or declared.
    changed: BTreeMap<Rc<str>, u32>,
    clock: u32,
    /// What is known of the starts of all loops around is final.
    final_pass: bool,
    /// No read was met that might see a value that C's does not.
    sound: bool,
    guarded: BTreeSet<Span>,
}

impl<'a> Walk<'a> {
    fn block(&mut self, all: &'a [Stmt]) {
        all.iter().for_each(|s| self.statement(s));
        // Behind the block the names that it declares are others.
        for s in all {
            if let StmtKind::Declare(all) = &s.kind {
                all.iter().for_each(|d| self.change(&d.name));
            }
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Block(all) => self.block(all),
            StmtKind::Declare(all) => all.iter().for_each(|d| self.declare(d)),
            StmtKind::If(c, then, otherwise) => {
                self.read(c);
                let (holds, fails) = (self.outcomes(c, true), self.outcomes(c, false));
                self.under(holds, |w| w.statement(then));
                if let Some(s) = otherwise {
                    self.under(fails, |w| w.statement(s));
                }
            }
            StmtKind::For(f) => self.for_loop(f),
        }
    }

    fn declare(&mut self, d: &'a ast::Declarator) {
        // Another variable of this name: not looked into.
        self.sound &= *d.name != *self.name;
        d.init.iter().for_each(|i| self.initializer(i));
        self.change(&d.name);
    }

    fn for_loop(&mut self, f: &'a ast::For) {
        let counter = match &f.init {
            ForInit::None => None,
            ForInit::Expr(e) => {
                self.effect(e);
                let ExprKind::Assign(_, target, _) = &e.kind else { return self.sound = false };
                if let ExprKind::Name(n) = &target.kind {
                    Some(n.clone())
                } else {
                    None
                }
            }
            ForInit::Declare(all) => {
                all.iter().for_each(|d| self.declare(d));
                all.first().map(|d| d.name.clone())
            }
        };
        self.sound &= counter.as_ref().is_none_or(|n| **n != *self.name);
        f.condition.iter().for_each(|e| self.read(e));
        let mut names = BTreeSet::new();
        assigned(&f.body, &mut names);
        names.extend(counter);
        let pass = |w: &mut Self| {
            names.iter().for_each(|n| w.change(n));
            w.forget();
            w.statement(&f.body);
            names.iter().for_each(|n| w.change(n));
            w.forget();
        };
        names.iter().for_each(|n| self.change(n));
        self.forget();
        let before = self.facts.clone();
        let last = std::mem::replace(&mut self.final_pass, false);
        // Later iterations start where the ones before have ended.
        let mut start = before.clone();
        for k in 0..=PASSES {
            self.facts = start.clone();
            pass(self);
            let next = if k == PASSES { vec![] } else { join(&start, &self.facts) };
            let settled =
                next.len() == start.len() && start.iter().all(|f| next.iter().any(|g| among(f, g) && among(g, f)));
            start = next;
            if settled {
                break;
            }
        }
        self.final_pass = last;
        self.facts = start;
        pass(self);
        if !runs(f) {
            self.facts = join(&before, &self.facts);
        }
    }

    fn effect(&mut self, e: &'a ast::Expr) {
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                self.read(value);
                self.assign(target, op.is_some());
            }
            ExprKind::Step(_, target) => self.assign(target, true),
            ExprKind::Comma(a, b) => {
                self.effect(a);
                self.effect(b);
            }
            _ => self.read(e),
        }
    }

    fn assign(&mut self, target: &'a ast::Expr, reads: bool) {
        match target.element() {
            Some((base, subscripts)) if !reads => {
                subscripts.into_iter().for_each(|s| self.read(s));
                if let ExprKind::Name(n) = &base.kind {
                    self.change(n);
                }
            }
            _ => self.read(target),
        }
        if self.is_own(target) {
            self.write(target.span);
        }
        if let Some((ast::Expr { kind: ExprKind::Name(n), .. }, _)) = target.element() {
            self.change(n);
        }
    }

    /// Whether `e` is, contains or may be what the walk is about.
    fn is_own(&self, e: &ast::Expr) -> bool {
        let Some(element) = own(e, self.name) else { return false };
        let Some((this, that)) = self.element.as_ref().zip(element) else { return true };
        that.len() < this.len() && this.starts_with(&that) || *this == that
    }

    fn write(&mut self, span: Span) {
        self.forget();
        let path = self.path.clone();
        if self.element.is_none() {
            for fact in &mut self.facts {
                let new: Vec<Outcome> = path.iter().filter(|x| !fact.iter().any(|y| x.same(y))).cloned().collect();
                fact.extend(new);
            }
        } else if self.facts.iter().all(|fact| among(&path, fact)) {
            self.facts = vec![path];
        } else {
            if self.final_pass {
                self.guarded.insert(span);
            }
            self.learn(path);
        }
    }

    fn learn(&mut self, fact: Fact<'a>) {
        if self.facts.len() >= FACTS || self.facts.iter().any(|f| among(f, &fact)) {
            return;
        }
        self.facts.retain(|f| !among(&fact, f));
        // Under `p && c` and under `p && !c` is under `p`.
        let opposite = |f: &Fact| {
            let mut differing = fact.iter().enumerate().filter(|(_, x)| !f.iter().any(|y| x.same(y)));
            let (k, one) = differing.next()?;
            let last = differing.next().is_none() && f.len() == fact.len();
            (last && f.iter().any(|y| y.about(one) && y.holds != one.holds)).then_some(k)
        };
        let merged = self.facts.iter().find_map(opposite);
        self.facts.push(fact.clone());
        if let Some(k) = merged {
            let mut shorter = fact;
            shorter.remove(k);
            self.learn(shorter);
        }
    }

    fn initializer(&mut self, init: &'a Init) {
        match init {
            Init::Value(e) => self.read(e),
            Init::List(all, _) => all.iter().for_each(|i| self.initializer(i)),
        }
    }

    /// What is behind a condition counts where it is looked at.
    fn read(&mut self, e: &'a ast::Expr) {
        match &e.kind {
            ExprKind::Conditional(c, a, b) => {
                self.read(c);
                let (holds, fails) = (self.outcomes(c, true), self.outcomes(c, false));
                self.under(holds, |w| w.read(a));
                self.under(fails, |w| w.read(b));
            }
            ExprKind::Binary(op @ (Binary::LogicalAnd | Binary::LogicalOr), a, b) => {
                self.read(a);
                let outcomes = self.outcomes(a, *op == Binary::LogicalAnd);
                self.under(outcomes, |w| w.read(b));
            }
            _ => {
                if self.final_pass && self.is_own(e) {
                    self.sound &= self.facts.iter().any(|f| among(f, &self.path));
                }
                match e.element() {
                    Some((_, subscripts)) => subscripts.into_iter().for_each(|s| self.read(s)),
                    None => e.operands().into_iter().for_each(|x| self.read(x)),
                }
            }
        }
    }

    fn under(&mut self, mut outcomes: Vec<Outcome<'a>>, inner: impl FnOnce(&mut Self)) {
        let before = self.path.len();
        self.path.append(&mut outcomes);
        inner(self);
        self.path.truncate(before);
    }

    /// What is known where `condition` comes out as `holds`.
    fn outcomes(&self, condition: &'a ast::Expr, holds: bool) -> Vec<Outcome<'a>> {
        match &condition.kind {
            ExprKind::Unary(Unary::LogicalNot, a) => self.outcomes(a, !holds),
            ExprKind::Binary(op, a, b) if *op == if holds { Binary::LogicalAnd } else { Binary::LogicalOr } => {
                let mut both = self.outcomes(a, holds);
                both.extend(self.outcomes(b, holds));
                both
            }
            _ => vec![Outcome { condition, stamp: self.stamp(condition), holds }],
        }
    }

    fn stamp(&self, condition: &ast::Expr) -> u32 {
        let mut names = BTreeSet::new();
        crate::effects::names(condition, &mut names);
        names.iter().filter_map(|n| self.changed.get(n)).copied().max().unwrap_or(0)
    }

    fn change(&mut self, name: &Rc<str>) {
        self.clock += 1;
        self.changed.insert(name.clone(), self.clock);
    }

    /// Leaves out the facts that no path will contain any more: their conditions would come out otherwise by now.
    fn forget(&mut self) {
        let mut facts = std::mem::take(&mut self.facts);
        facts.retain(|f| f.iter().all(|x| x.stamp == self.stamp(x.condition) || self.path.iter().any(|y| x.same(y))));
        self.facts = facts;
    }
}

/// Whether the loop certainly has an iteration.
fn runs(f: &ast::For) -> bool {
    let literal = |e: &ast::Expr| if let ExprKind::Literal(bits, _) = e.kind { Some(bits as i64) } else { None };
    let first = match &f.init {
        ForInit::Declare(all) => {
            all.first()
                .and_then(|d| d.init.as_ref())
                .and_then(|i| if let Init::Value(e) = i { literal(e) } else { None })
        }
        ForInit::Expr(ast::Expr { kind: ExprKind::Assign(None, _, value), .. }) => literal(value),
        _ => None,
    };
    let Some(ExprKind::Binary(op, _, bound)) = f.condition.as_ref().map(|c| &c.kind) else { return false };
    let Some((first, bound)) = first.zip(literal(bound)) else { return false };
    match op {
        Binary::Lt => first < bound,
        Binary::Le => first <= bound,
        Binary::Gt => first > bound,
        Binary::Ge => first >= bound,
        _ => false,
    }
}
