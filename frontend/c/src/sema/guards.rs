//! Conditional writes to locals that need no guard (scalar privatization under conditions).
//!
//! Problem: if-conversion turns `if (c) t = a;` into `t = c ? a : t`. Reading the old `t` has a price: `t` must have a
//! value before, and the value travels from iteration to iteration. Often nobody needs the old value, as in the swap
//! `if (a > b) { t = a; a = b; b = t; }`: `t` is read only where the branch was taken. Then `t = a` without a guard is
//! correct: where the condition fails, a wrong value of `t` is never used.
//!
//! Terms: a *path* is the conjunction of the conditions around a statement. A *fact* is a conjunction under which the
//! local has the same value in the hardware as in C. An *outcome* is a condition with its truth value; it is identified
//! by its syntax and by a stamp, the time of the last assignment to its names. `a && b` with the value true is one outcome
//! with two parts, so that it is the opposite of `a && b` with the value false.
//!
//! Method: one walk per local over the statements in their order, both branches of an `if` one after the other, as the
//! hardware executes them.
//! - A write under path `P` loses its guard if every fact implies `P`: then it destroys no value that a read could use,
//!   and `P` is the only fact. Otherwise it keeps its guard and adds the fact `P`.
//! - A read is sound if its path implies a fact.
//! - A loop starts with the facts that hold before it and at the end of its body (a fixed point, at most [`PASSES`]
//!   passes).
//!
//! Invariant: if all reads are sound, exactly the writes in the result need guards. If one is not, all writes keep
//! theirs (`None`), and the dataflow analysis decides whether a value is missing.
//!
//! Example, `if (c) t = x; if (c) y = t;`: no fact before the first write, so it loses its guard; fact `c`. The read
//! has the path `c`: sound. If `c` read a variable that is assigned in between, the stamps would differ: not sound.
//!
//! An array with constant subscripts is treated element by element. With other subscripts the facts are about all
//! elements together: a write may lose its guard, but adds no fact about the other elements.

use crate::ast;
use crate::ast::{Binary, ExprKind, ForInit, Init, Stmt, StmtKind, Unary};
use crate::effects::assigned;
use scop::diag::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Limit on the number of facts; dropping one proves less.
const FACTS: usize = 16;
/// Passes over a loop's body; without a fixed point by then, its start has no facts.
const PASSES: usize = 4;

/// The writes of the local `name` in `block` that need guards; `None` if all do. The local has no value before `block`.
/// `members`: those of a structure.
pub(super) fn guarded_writes(name: &str, members: Option<&[Rc<str>]>, block: &[Stmt]) -> Option<BTreeSet<Span>> {
    let mut elements = BTreeSet::new();
    for s in block {
        crate::effects::expressions(s, &mut |e| mentioned(e, name, &mut elements));
    }
    let all: Option<BTreeSet<Element>> = elements.into_iter().collect();
    let all = all.map(|all| all.into_iter().flat_map(|e| parts(e, members)).collect::<BTreeSet<Element>>());
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

/// An element, by its constant subscripts; a scalar has none.
type Element = Vec<Constant>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Constant {
    Number(u64),
    Member(Rc<str>),
}

/// A member with the subscripts and members behind it as one name: `c.2`.
fn joined(element: Element) -> Element {
    let Some(at) = element.iter().position(|c| matches!(c, Constant::Member(_))) else { return element };
    let names = element[at..].iter().map(|c| match c {
        Constant::Number(k) => k.to_string(),
        Constant::Member(name) => name.to_string(),
    });
    let member = Constant::Member(names.collect::<Vec<_>>().join(".").into());
    element[..at].iter().cloned().chain([member]).collect()
}

/// The members of a whole structure; any other element itself.
fn parts(element: Element, members: Option<&[Rc<str>]>) -> Vec<Element> {
    match members {
        Some(members) if !matches!(element.last(), Some(Constant::Member(_))) => {
            let member = |m: &Rc<str>| element.iter().cloned().chain([Constant::Member(m.clone())]).collect();
            members.iter().map(member).collect()
        }
        _ => vec![element],
    }
}

/// The element that `e` is, if it belongs to `name`; the inner `None`: its subscripts are not constant.
fn element_of(e: &ast::Expr, name: &str) -> Option<Option<Element>> {
    let (base, subscripts) = e.element()?;
    let constant = |s: &&ast::Expr| match &s.kind {
        ExprKind::Literal(bits, _) => Some(Constant::Number(*bits)),
        ExprKind::Member(member) => Some(Constant::Member(member.clone())),
        _ => None,
    };
    let own = matches!(&base.kind, ExprKind::Name(n) if **n == *name);
    own.then(|| subscripts.iter().map(constant).collect::<Option<Element>>().map(joined))
}

/// Collects the elements of `name` in `e`; a whole structure is the element without subscripts.
fn mentioned(e: &ast::Expr, name: &str, out: &mut BTreeSet<Option<Element>>) {
    match element_of(e, name) {
        Some(element) => {
            out.insert(element);
            e.element().into_iter().flat_map(|(_, subscripts)| subscripts).for_each(|s| mentioned(s, name, out));
        }
        None => e.operands().into_iter().for_each(|x| mentioned(x, name, out)),
    }
}

/// A condition whose names were last assigned at `stamp` has the value `holds`.
#[derive(Clone)]
struct Outcome<'a> {
    condition: &'a ast::Expr,
    stamp: u32,
    holds: bool,
    /// The outcomes that together are this one: those of `a` and `b` if `a && b` holds. Without any it is simple.
    parts: Vec<Outcome<'a>>,
}

impl Outcome<'_> {
    fn about(&self, other: &Self) -> bool {
        self.stamp == other.stamp && self.condition.same(other.condition)
    }

    fn same(&self, other: &Self) -> bool {
        self.holds == other.holds && self.about(other)
    }

    /// Whether `other` is this outcome or a part of it.
    fn contains(&self, other: &Self) -> bool {
        self.same(other) || self.parts.iter().any(|p| p.contains(other))
    }

    /// Whether `all` together say that this is the outcome.
    fn follows(&self, all: &[Outcome]) -> bool {
        let whole = all.iter().any(|x| x.contains(self));
        whole || !self.parts.is_empty() && self.parts.iter().all(|p| p.follows(all))
    }
}

/// A conjunction of outcomes.
type Fact<'a> = Vec<Outcome<'a>>;

/// Whether all outcomes of `few` are in `many`: then `many` implies `few`.
fn subset(few: &[Outcome], many: &[Outcome]) -> bool {
    few.iter().all(|x| x.follows(many))
}

/// The facts that hold if either `a` or `b` describes the state.
fn join<'a>(a: &[Fact<'a>], b: &[Fact<'a>]) -> Vec<Fact<'a>> {
    let implied = |facts: &[Fact], fact: &Fact| facts.iter().any(|f| subset(f, fact));
    let mut both: Vec<Fact> = a.iter().filter(|f| implied(b, f)).cloned().collect();
    both.extend(b.iter().filter(|f| implied(a, f) && !implied(&both, f)).cloned().collect::<Vec<_>>());
    both
}

struct Walk<'a> {
    name: &'a str,
    /// `None`: all elements of an array.
    element: Option<Element>,
    facts: Vec<Fact<'a>>,
    path: Fact<'a>,
    /// When each name was last assigned or declared.
    changed: BTreeMap<Rc<str>, u32>,
    clock: u32,
    /// The facts at the starts of all enclosing loops are at their fixed points.
    final_pass: bool,
    /// All reads so far are sound.
    sound: bool,
    guarded: BTreeSet<Span>,
}

impl<'a> Walk<'a> {
    fn block(&mut self, all: &'a [Stmt]) {
        all.iter().for_each(|s| self.statement(s));
        // After the block its names mean other variables.
        for s in all {
            if let StmtKind::Declare(all) = &s.kind {
                all.iter().for_each(|d| self.change(&d.name));
            }
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match &statement.kind {
            StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Block(all) => self.block(all),
            StmtKind::Declare(all) => all.iter().for_each(|d| self.declare(d)),
            StmtKind::If(c, then, otherwise) => {
                self.read(c);
                let (holds, fails) = (self.outcome(c, true), self.outcome(c, false));
                self.under(holds, |w| w.statement(then));
                if let Some(s) = otherwise {
                    self.under(fails, |w| w.statement(s));
                }
            }
            StmtKind::For(f) => self.for_loop(f),
        }
    }

    fn declare(&mut self, d: &'a ast::Declarator) {
        // A second variable of this name: give up.
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
            w.drop_stale();
            w.statement(&f.body);
            names.iter().for_each(|n| w.change(n));
            w.drop_stale();
        };
        names.iter().for_each(|n| self.change(n));
        self.drop_stale();
        let before = self.facts.clone();
        let last = std::mem::replace(&mut self.final_pass, false);
        // An iteration starts with the facts at the end of the previous one.
        let mut start = before.clone();
        for k in 0..=PASSES {
            self.facts = start.clone();
            pass(self);
            let next = if k == PASSES { vec![] } else { join(&start, &self.facts) };
            let settled =
                next.len() == start.len() && start.iter().all(|f| next.iter().any(|g| subset(f, g) && subset(g, f)));
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
                match &value.kind {
                    // `a = b = e`: first b, then a from b's new value.
                    ExprKind::Assign(_, inner, _) => {
                        self.effect(value);
                        self.read(inner);
                    }
                    _ => self.read(value),
                }
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

    /// Whether `e` is, contains or may be the element of this walk.
    fn is_own(&self, e: &ast::Expr) -> bool {
        let Some(element) = element_of(e, self.name) else { return false };
        let Some((this, that)) = self.element.as_ref().zip(element) else { return true };
        that.len() < this.len() && this.starts_with(&that) || *this == that
    }

    fn write(&mut self, span: Span) {
        self.drop_stale();
        let path = self.path.clone();
        if self.element.is_none() {
            for fact in &mut self.facts {
                let new: Vec<Outcome> = path.iter().filter(|x| !fact.iter().any(|y| x.same(y))).cloned().collect();
                fact.extend(new);
            }
        } else if self.facts.iter().all(|fact| subset(&path, fact)) {
            self.facts = vec![path];
        } else {
            if self.final_pass {
                self.guarded.insert(span);
            }
            self.add_fact(path);
        }
    }

    fn add_fact(&mut self, fact: Fact<'a>) {
        if self.facts.len() >= FACTS || self.facts.iter().any(|f| subset(f, &fact)) {
            return;
        }
        self.facts.retain(|f| !subset(&fact, f));
        // The facts `p && c` and `p && !c` together are the fact `p`.
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
            self.add_fact(shorter);
        }
    }

    fn initializer(&mut self, init: &'a Init) {
        match init {
            Init::Value(e) => self.read(e),
            Init::List(all, _) => all.iter().for_each(|i| self.initializer(i)),
        }
    }

    /// Checks the reads in `e`; `?:`, `&&` and `||` extend the path.
    fn read(&mut self, e: &'a ast::Expr) {
        match &e.kind {
            ExprKind::Conditional(c, a, b) => {
                self.read(c);
                let (holds, fails) = (self.outcome(c, true), self.outcome(c, false));
                self.under(holds, |w| w.read(a));
                self.under(fails, |w| w.read(b));
            }
            ExprKind::Binary(op @ (Binary::LogicalAnd | Binary::LogicalOr), a, b) => {
                self.read(a);
                let outcome = self.outcome(a, *op == Binary::LogicalAnd);
                self.under(outcome, |w| w.read(b));
            }
            _ => {
                if self.final_pass && self.is_own(e) {
                    self.sound &= self.facts.iter().any(|f| subset(f, &self.path));
                }
                match e.element() {
                    Some((_, subscripts)) => subscripts.into_iter().for_each(|s| self.read(s)),
                    None => e.operands().into_iter().for_each(|x| self.read(x)),
                }
            }
        }
    }

    fn under(&mut self, outcome: Outcome<'a>, inner: impl FnOnce(&mut Self)) {
        self.path.push(outcome);
        inner(self);
        self.path.pop();
    }

    /// `condition` has the value `holds`.
    fn outcome(&self, condition: &'a ast::Expr, holds: bool) -> Outcome<'a> {
        let parts = match &condition.kind {
            ExprKind::Unary(Unary::LogicalNot, a) => return self.outcome(a, !holds),
            ExprKind::Binary(op, a, b) if *op == if holds { Binary::LogicalAnd } else { Binary::LogicalOr } => {
                vec![self.outcome(a, holds), self.outcome(b, holds)]
            }
            _ => vec![],
        };
        Outcome { condition, stamp: self.stamp(condition), holds, parts }
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

    /// Drops the facts that no later path can imply: a name in their conditions has changed.
    fn drop_stale(&mut self) {
        let mut facts = std::mem::take(&mut self.facts);
        facts.retain(|f| f.iter().all(|x| x.stamp == self.stamp(x.condition) || x.follows(&self.path)));
        self.facts = facts;
    }
}

/// Whether the loop has at least one iteration for certain.
fn runs(f: &ast::For) -> bool {
    let literal = |e: &ast::Expr| if let ExprKind::Literal(bits, _) = e.kind { Some(bits as i64) } else { None };
    let first = f.start().and_then(literal);
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
