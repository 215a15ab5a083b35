//! Statements: an assignment becomes one statement of the scop per part of its domain.

use super::affine::binary_op;
use super::expr::read;
use super::operate::{self, node, select};
use super::{Entity, Guard, Sema, Stored, STATEMENTS};
use crate::ast;
use crate::ast::{Binary, ExprKind, Stmt, StmtKind};
use scop::diag::{Diagnostic, Span};
use scop::{Access, Binding, Expr, Loop, LoopId, Statement, Storage};
use std::collections::BTreeMap;

impl Sema {
    pub(super) fn statements(&mut self, all: &[Stmt]) {
        for (k, s) in all.iter().enumerate() {
            self.statement(s);
            if matches!(s.kind, StmtKind::Declare(_)) {
                self.find_guards(&all[k + 1..]);
            }
        }
    }

    /// Finds the writes in `rest` to locals of the innermost scope that need guards.
    pub(super) fn find_guards(&mut self, rest: &[Stmt]) {
        let Some(scope) = self.scopes.last() else { return };
        let slot = |(name, entity): (&std::rc::Rc<str>, &Entity)| {
            if let Entity::Slot(k) = entity {
                Some((name.clone(), *k))
            } else {
                None
            }
        };
        for (name, k) in scope.iter().filter_map(slot).collect::<Vec<_>>() {
            let s = &self.slots[k];
            if s.storage == Storage::Local && s.guarded.is_none() && !s.keeps_value {
                self.slots[k].guarded = super::guards::guarded_writes(&name, s.members.as_deref(), rest);
            }
        }
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        if self.overfull {
            return;
        }
        match &statement.kind {
            StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
            StmtKind::Declare(all) => all.iter().for_each(|d| self.declare_inside(d)),
            StmtKind::Block(all) => {
                self.scopes.push(BTreeMap::new());
                self.statements(all);
                self.scopes.pop();
            }
            StmtKind::Expr(e) => self.expression_statement(e),
            StmtKind::If(c, then, otherwise) => self.if_statement(c, then, otherwise.as_deref()),
            StmtKind::For(f) => self.for_loop(f),
        }
        match &statement.kind {
            StmtKind::Expr(e) | StmtKind::If(e, ..) => self.check_effort(e.span),
            StmtKind::For(f) => self.check_effort(f.header),
            _ => {}
        }
    }

    /// Reports once that the work limit is reached.
    pub(super) fn check_effort(&mut self, span: Span) {
        if self.effort.spent() && !self.overfull {
            self.overfull = true;
            let help = "bounds that depend on many other loops, and nested conditions, multiply the cases: \
                simplify them, or make several regions";
            self.error(
                "E0415",
                span,
                "the region's loops and conditions take too many steps to decide",
                "reached here",
                help,
            );
        }
    }

    fn expression_statement(&mut self, e: &ast::Expr) {
        let one = ast::Expr::one(e.span);
        self.parts = 0;
        match &e.kind {
            // `a = b = e`: first b, then a from b's new value.
            ExprKind::Assign(op, target, value) if matches!(value.kind, ExprKind::Assign(..)) => {
                self.expression_statement(value);
                if let ExprKind::Assign(_, inner, _) = &value.kind {
                    self.assign(target, &Stored::Value(*op, inner), e.span);
                }
            }
            ExprKind::Assign(op, target, value) => self.assign(target, &Stored::Value(*op, value), e.span),
            ExprKind::Step(op, target) => self.assign(target, &Stored::Value(Some(*op), &one), e.span),
            ExprKind::Comma(a, b) => {
                self.expression_statement(a);
                self.expression_statement(b);
            }
            ExprKind::Poison => {}
            _ => {
                // A fault inside, such as a call, is the better message.
                if self.value(e, &mut vec![]).is_some() {
                    self.error(
                        "E0405",
                        e.span,
                        "this statement has no effect",
                        "nothing is assigned",
                        "assign the value to an array element or a scalar",
                    );
                }
            }
        }
    }

    /// `target = stored`; affine conditions inside split the domain.
    pub(super) fn assign(&mut self, target: &ast::Expr, stored: &Stored, span: Span) {
        if let (Some(members), Stored::Value(None, value)) = (self.whole_structure(target), stored) {
            for name in members.iter() {
                let (target, value) = (target.member(name), value.member(name));
                self.assign(&target, &Stored::Value(None, &value), span);
            }
            return;
        }
        let split =
            self.split_inside(target, false).or_else(|| self.split_stored(stored)).or_else(|| self.split_predicates());
        let Some((holds, fails)) = split else {
            self.assign_here(target, stored, span);
            return;
        };
        if self.too_many_parts(span) {
            return;
        }
        self.in_parts([holds, fails], |s, _| s.assign(target, stored, span));
    }

    /// The members of a structure, if all of it is assigned.
    fn whole_structure(&self, target: &ast::Expr) -> Option<std::rc::Rc<[std::rc::Rc<str>]>> {
        let (base, subscripts) = target.element()?;
        let ExprKind::Name(name) = &base.kind else { return None };
        let Some(Entity::Slot(k)) = self.lookup(name) else { return None };
        let slot = &self.slots[*k];
        slot.members.clone().filter(|_| slot.dims.as_ref().is_some_and(|d| d.len() == subscripts.len() + 1))
    }

    /// The slot of an assignment's target, if it may be written.
    fn writable(&mut self, target: &ast::Expr) -> Option<usize> {
        let Some((base, _)) = target.element() else {
            if !target.of_poison() {
                self.error(
                    "E0403",
                    target.span,
                    "this cannot be assigned to",
                    "not an array element or a scalar",
                    "assign to NAME or NAME[subscript]…",
                );
            }
            return None;
        };
        let ExprKind::Name(name) = &base.kind else { return None };
        let fault = |code, message| Diagnostic::error(code, target.span, message);
        let fault = match self.lookup(name) {
            Some(Entity::Iterator(k)) => fault("E0409", format!("the iterator `{name}` is assigned inside its loop"))
                .label("the number of iterations would depend on it")
                .note(self.loops[self.nest.loops[*k].index()].span, "counted by this loop")
                .help("use another variable"),
            Some(Entity::Constant(..)) => fault("E0310", format!("`{name}` is a constant"))
                .label("it cannot be assigned")
                .help("remove `const`, or assign to another variable"),
            Some(Entity::Slot(k)) if matches!(self.slots[*k].binding, Binding::Value(_)) => {
                fault("E0305", format!("the parameter `{name}`, passed by value, is assigned"))
                    .label("the caller never sees this")
                    .note(self.slots[*k].span, "a parameter")
                    .help("assign to a local variable; for a result, pass an array of one element")
            }
            Some(Entity::Slot(k)) if self.slots[*k].constant => fault("E0310", format!("`{name}` is const"))
                .label("it cannot be assigned")
                .note(self.slots[*k].span, "declared const here")
                .help("remove `const` from its declaration"),
            // An assignment to an iterator outside of its loop is harmless: reads are refused.
            Some(Entity::Slot(k)) if self.slots[*k].iterator.is_some() => return None,
            _ => return self.data_slot(name, base.span),
        };
        self.faults.push(fault);
        None
    }

    fn assign_here(&mut self, target: &ast::Expr, stored: &Stored, span: Span) {
        let slot = self.writable(target);
        let mut reads = vec![];
        let write = if slot.is_some() { self.access(target) } else { None };
        let (Some(slot), Some(write)) = (slot, write) else {
            // Check the right-hand side for faults.
            self.discard(stored);
            return;
        };
        let unguarded = self.slots[slot].guarded.as_ref().is_some_and(|guarded| !guarded.contains(&target.span));
        let Some(rhs) = self.stored(if unguarded { stored.without_old() } else { stored }, &write, &mut reads) else {
            return;
        };
        let rhs = if unguarded { Some(rhs) } else { self.guarded(slot, rhs, &write, &mut reads) };
        let Some(rhs) = rhs else { return };
        self.emit(write, rhs, reads, span);
    }

    /// Reports the faults in a value that is not stored.
    fn discard(&mut self, stored: &Stored) {
        match stored {
            Stored::Value(_, e) => drop(self.value(e, &mut vec![])),
            Stored::Choice(guard, a, b) => {
                if let Guard::Source(e) = guard {
                    self.condition(e, &mut vec![]);
                }
                self.discard(a);
                self.discard(b);
            }
            Stored::Old => {}
        }
    }

    fn read_back(&self, write: &Access, reads: &mut Vec<Access>) -> Expr {
        let ty = self.arrays[write.array.index()].ty;
        node(scop::ExprKind::Read(read(reads, write.clone())), ty, write.span)
    }

    /// The stored value, of the target's type.
    fn stored(&mut self, stored: &Stored, write: &Access, reads: &mut Vec<Access>) -> Option<Expr> {
        match stored {
            Stored::Value(None, e) => self.value(e, reads).map(|v| self.stored_as(write.array, v)),
            Stored::Value(Some(op), e) => {
                let old = self.read_back(write, reads);
                let old = self.of_array_cell(write.array, old);
                let value = self.value(e, reads)?;
                let span = crate::parse::join(write.span, e.span);
                let value = match self.exact(*op, self.width_of_array(write.array), self.width(e)) {
                    Some(widths) => self.exact_arithmetic(*op, (old, value), widths, span),
                    None => self.arithmetic(*op, old, value, span),
                };
                value.map(|v| self.stored_as(write.array, v))
            }
            Stored::Choice(guard, a, b) => {
                let condition = self.guard(guard, write.span, reads);
                let a = self.with_fact(&condition, true, |s| s.stored(a, write, reads));
                let b = self.with_fact(&condition, false, |s| s.stored(b, write, reads));
                let condition = condition?;
                let span = condition.span;
                Some(select(condition, a?, b?, span))
            }
            Stored::Old => Some(self.read_back(write, reads)),
        }
    }

    /// `rhs` if all predicates hold, otherwise the old value.
    fn guarded(&mut self, slot: usize, rhs: Expr, write: &Access, reads: &mut Vec<Access>) -> Option<Expr> {
        let first = self.slots[slot].predicates.min(self.predicates.len());
        let predicates = self.predicates[first..].to_vec();
        let mut all: Option<Expr> = None;
        for p in &predicates {
            let guard = self.guard(&p.guard, write.span, reads)?;
            let guard = if p.polarity { guard } else { operate::not(guard, write.span) };
            let span = guard.span;
            all = Some(match all {
                None => guard,
                Some(before) => operate::binary(binary_op(Binary::LogicalAnd), before, guard, span),
            });
        }
        let Some(condition) = all else { return Some(rhs) };
        if let scop::ExprKind::Const(1) = condition.kind {
            return Some(rhs);
        }
        let old = self.read_back(write, reads);
        let span = rhs.span;
        Some(select(condition, rhs, old, span))
    }

    /// Evaluates a condition into a new local boolean.
    pub(super) fn save_condition(&mut self, condition: &ast::Expr) -> usize {
        let slot = self.temporary(condition.span);
        self.parts = 0;
        self.save_condition_in(slot, condition);
        slot
    }

    fn save_condition_in(&mut self, slot: usize, condition: &ast::Expr) {
        if let Some((holds, fails)) = self.split_inside(condition, false) {
            if self.too_many_parts(condition.span) {
                return;
            }
            return self.in_parts([holds, fails], |s, _| s.save_condition_in(slot, condition));
        }
        let mut reads = vec![];
        let Some(value) = self.condition(condition, &mut reads) else { return };
        let write = Access { array: self.array_of(slot), subscripts: vec![], span: condition.span };
        self.emit(write, value, reads, condition.span);
    }

    pub(super) fn add_loop(&mut self, l: Loop) -> LoopId {
        self.loops.push(l);
        LoopId(self.loops.len() as u32 - 1)
    }

    /// The next free position among the current siblings.
    pub(super) fn take_position(&mut self) -> i64 {
        match self.counters.last_mut() {
            Some(next) => {
                *next += 1;
                *next - 1
            }
            None => 0,
        }
    }

    pub(super) fn emit(&mut self, write: Access, rhs: Expr, reads: Vec<Access>, span: Span) {
        if self.statements.len() >= STATEMENTS {
            self.overfull = true;
            self.error(
                "E0415",
                span,
                format!("the region becomes more than {STATEMENTS} statements"),
                "reached here",
                "write repeated statements as loops, or divide the region into several functions; an affine condition \
                inside of a statement splits it into several: simplify such conditions",
            );
            return;
        }
        let depth = self.depth();
        let super::Nest { mut domain, mut around, .. } = self.nest.clone();
        domain.iter_mut().chain(&mut around).flatten().for_each(|c| c.expr.coeffs.resize(depth, 0));
        if domain.is_empty() {
            return;
        }
        let (rhs, reads) = live_reads(&rhs, &reads);
        let mut beta = self.nest.beta.clone();
        beta.push(self.take_position());
        self.sources.push(reads.iter().map(|r| self.source(r.array)).collect());
        self.define(write.array);
        self.statements.push(Statement {
            loops: self.nest.loops.clone(),
            domain,
            around,
            beta,
            write,
            rhs,
            reads,
            span,
        });
    }
}

/// Drops reads that simplification removed from the expression, and numbers the others by their first occurrence.
pub(super) fn live_reads(rhs: &Expr, reads: &[Access]) -> (Expr, Vec<Access>) {
    fn renumbered(e: &Expr, order: &[usize]) -> Expr {
        match &e.kind {
            scop::ExprKind::Read(k) => {
                let number = order.iter().position(|x| x == k).unwrap_or_default();
                Expr { kind: scop::ExprKind::Read(number), ..e.clone() }
            }
            _ => e.with_operands(|x| renumbered(x, order)),
        }
    }
    let order = rhs.reads();
    (renumbered(rhs, &order), order.into_iter().map(|k| reads[k].clone()).collect())
}
