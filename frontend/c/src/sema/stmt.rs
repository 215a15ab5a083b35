//! Statements: assignments become the scop's statements, one per part of the domain they are split into.

use super::affine::binary_op;
use super::expr::read;
use super::form::Dnf;
use super::latest::Latest;
use super::operate::{self, convert, node, select};
use super::{Entity, Guard, Sema, Stored, PARTS, STATEMENTS};
use crate::ast;
use crate::ast::{Binary, ExprKind, Stmt, StmtKind};
use scop::diag::{Diagnostic, Span};
use scop::{Access, Affine, Binding, Constraint, Expr, Loop, LoopId, ScalarType, Statement, Storage};
use std::collections::BTreeMap;

impl Sema {
    pub(super) fn statements(&mut self, all: &[Stmt]) {
        for (k, s) in all.iter().enumerate() {
            self.statement(s);
            if matches!(s.kind, StmtKind::Declare(_)) {
                self.forget_fresh(&all[k + 1..]);
            }
        }
    }

    /// Which writes to locals of the innermost scope need guards in `rest`.
    pub(super) fn forget_fresh(&mut self, rest: &[Stmt]) {
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
            if s.storage == Storage::Local && s.guarded.is_none() {
                self.slots[k].guarded = super::fresh::guarded_writes(&name, rest);
            }
        }
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        if self.overfull {
            return;
        }
        match &statement.kind {
            StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
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

    /// Reports once that the region cost too much.
    pub(super) fn check_effort(&mut self, span: Span) {
        if self.effort.spent() && !self.overfull {
            self.overfull = true;
            let help = "loops whose bounds depend on many others, and conditions within conditions, multiply: \
                simplify them, or make several regions of it";
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
            // `a = b = e`: b first, and a is what b then holds.
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
                // Faults inside, such as calls, say more than that nothing is assigned.
                let before = self.faults.len();
                self.value(e, &mut vec![]);
                if self.faults.len() == before {
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

    /// `target = stored`, split where conditions inside are affine.
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

    /// The members of a structure that is assigned as a whole.
    fn whole_structure(&self, target: &ast::Expr) -> Option<std::rc::Rc<[std::rc::Rc<str>]>> {
        let (base, subscripts) = target.element()?;
        let ExprKind::Name(name) = &base.kind else { return None };
        let Some(Entity::Slot(k)) = self.lookup(name) else { return None };
        let slot = &self.slots[*k];
        slot.members.clone().filter(|_| slot.dims.as_ref().is_some_and(|d| d.len() == subscripts.len() + 1))
    }

    /// Counts one more split of the statement at hand; true, and reported, if there are too many.
    fn too_many_parts(&mut self, span: Span) -> bool {
        self.parts += 1;
        if self.parts == PARTS {
            let help = "every `?:` or `&&` with a condition on iterators in front of an array element doubles the \
                cases: use `if` around several statements";
            self.error(
                "E0415",
                span,
                format!("the statement splits into more than {PARTS} cases"),
                "too many conditions on iterators",
                help,
            );
        }
        self.parts >= PARTS
    }

    /// Runs `inner` in both parts of the domain, and tells it whether it is the first one.
    pub(super) fn in_parts(&mut self, parts: [Dnf; 2], mut inner: impl FnMut(&mut Self, bool)) {
        let (before, mut after) = (self.latest.clone(), None::<Latest>);
        for (part, first) in parts.into_iter().zip([true, false]) {
            if part.is_empty() || self.overfull || self.effort.spent() {
                continue;
            }
            self.latest = before.clone();
            let whole = std::mem::replace(&mut self.nest.domain, part);
            inner(self, first);
            self.nest.domain = whole;
            after = Some(after.map_or_else(|| self.latest.clone(), |other| other.joined(&self.latest)));
        }
        self.latest = after.unwrap_or(before);
    }

    fn split_stored(&self, stored: &Stored) -> Option<(Dnf, Dnf)> {
        match stored {
            Stored::Value(_, e) => self.split_inside(e, false),
            Stored::Choice(guard, a, b) => {
                self.split_guard(guard).or_else(|| self.split_stored(a)).or_else(|| self.split_stored(b))
            }
            Stored::Same => None,
        }
    }

    fn split_guard(&self, guard: &Guard) -> Option<(Dnf, Dnf)> {
        match guard {
            Guard::Source(e) => self.split_inside(e, false),
            Guard::Kept(_) => None,
        }
    }

    fn split_predicates(&self) -> Option<(Dnf, Dnf)> {
        self.predicates.iter().find_map(|p| self.split_guard(&p.guard))
    }

    /// The slot that an assignment's target names, if it may be written.
    fn writable(&mut self, target: &ast::Expr) -> Option<usize> {
        let Some((base, _)) = target.element() else {
            if !matches!(target.kind, ExprKind::Poison) {
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
        match self.lookup(name) {
            Some(Entity::Iterator(k)) => {
                let at = self.loops[self.nest.loops[*k].index()].span;
                let fault = Diagnostic::error(
                    "E0409",
                    target.span,
                    format!("the iterator `{name}` is assigned inside its loop"),
                );
                self.faults.push(
                    fault
                        .label("the loop's course would depend on it")
                        .note(at, "counted by this loop")
                        .help("use another variable"),
                );
                None
            }
            Some(Entity::Constant(..)) => {
                self.error(
                    "E0310",
                    target.span,
                    format!("`{name}` is a constant"),
                    "it cannot be assigned",
                    "remove `const`, or assign to another variable",
                );
                None
            }
            Some(Entity::Slot(k)) if matches!(self.slots[*k].binding, Binding::Value(_)) => {
                let at = self.slots[*k].span;
                let fault = Diagnostic::error(
                    "E0305",
                    target.span,
                    format!("the parameter `{name}`, passed by value, is assigned"),
                );
                let fault = fault.label("the caller never sees this").note(at, "a parameter");
                self.faults.push(fault.help("assign to a local variable; for a result, pass an array of one element"));
                None
            }
            Some(Entity::Slot(k)) if self.slots[*k].constant => {
                let at = self.slots[*k].span;
                let fault = Diagnostic::error("E0310", target.span, format!("`{name}` is const"));
                self.faults.push(
                    fault
                        .label("it cannot be assigned")
                        .note(at, "declared const here")
                        .help("remove `const` from its declaration"),
                );
                None
            }
            // An assignment to a loop's variable outside of its loop is harmless as long as nobody reads it.
            Some(Entity::Slot(k)) if self.slots[*k].iterator.is_some() => None,
            _ => self.data_slot(name, base.span),
        }
    }

    fn assign_here(&mut self, target: &ast::Expr, stored: &Stored, span: Span) {
        let slot = self.writable(target);
        let mut reads = vec![];
        let write = if slot.is_some() { self.access(target) } else { None };
        let (Some(slot), Some(write)) = (slot, write) else {
            // Go on to the right-hand side for its own faults.
            self.discard(stored);
            return;
        };
        let free = self.slots[slot].guarded.as_ref().is_some_and(|guarded| !guarded.contains(&target.span));
        let Some(rhs) = self.stored(if free { stored.fresh() } else { stored }, &write, &mut reads) else { return };
        let rhs = if free { Some(rhs) } else { self.guarded(slot, rhs, &write, &mut reads) };
        let Some(rhs) = rhs else { return };
        self.emit(write, rhs, reads, span);
    }

    /// Reports the faults in a value that goes nowhere.
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
            Stored::Same => {}
        }
    }

    fn read_back(&self, write: &Access, reads: &mut Vec<Access>) -> Expr {
        let ty = self.arrays[write.array.index()].ty;
        node(scop::ExprKind::Read(read(reads, write.clone())), ty, write.span)
    }

    /// The stored value, of the target's type.
    fn stored(&mut self, stored: &Stored, write: &Access, reads: &mut Vec<Access>) -> Option<Expr> {
        let ty = self.arrays[write.array.index()].ty;
        match stored {
            Stored::Value(None, e) => self.value(e, reads).map(|v| convert(v, ty)),
            Stored::Value(Some(op), e) => {
                let old = self.read_back(write, reads);
                let value = self.value(e, reads)?;
                let span = crate::parse::join(write.span, e.span);
                self.arithmetic(*op, old, value, span).map(|v| convert(v, ty))
            }
            Stored::Choice(guard, a, b) => {
                let condition = self.guard(guard, write.span, reads);
                let a = self.knowing(&condition, true, |s| s.stored(a, write, reads));
                let b = self.knowing(&condition, false, |s| s.stored(b, write, reads));
                let condition = condition?;
                let span = condition.span;
                Some(select(condition, a?, b?, span))
            }
            Stored::Same => Some(self.read_back(write, reads)),
        }
    }

    /// `rhs` where all predicates hold, else the old value.
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
    pub(super) fn keep(&mut self, condition: &ast::Expr) -> usize {
        let slot = self.temporary(condition.span);
        self.parts = 0;
        self.keep_in(slot, condition);
        slot
    }

    fn keep_in(&mut self, slot: usize, condition: &ast::Expr) {
        if let Some((holds, fails)) = self.split_inside(condition, false) {
            if self.too_many_parts(condition.span) {
                return;
            }
            return self.in_parts([holds, fails], |s, _| s.keep_in(slot, condition));
        }
        let mut reads = vec![];
        let Some(value) = self.condition(condition, &mut reads) else { return };
        let write = Access { array: self.array_of(slot), subscripts: vec![], span: condition.span };
        self.emit(write, value, reads, condition.span);
    }

    /// Stores an initializer's value.
    pub(super) fn store(&mut self, slot: usize, subscripts: Vec<Affine>, e: &ast::Expr, span: Span) {
        if let Some((holds, fails)) = self.split_inside(e, false) {
            if self.too_many_parts(span) {
                return;
            }
            return self.in_parts([holds, fails], |s, _| s.store(slot, subscripts.clone(), e, span));
        }
        let mut reads = vec![];
        let Some(value) = self.value(e, &mut reads) else { return };
        let write = Access { array: self.array_of(slot), subscripts, span };
        let rhs = convert(value, self.slots[slot].ty);
        self.emit(write, rhs, reads, crate::parse::join(span, e.span));
    }

    /// A loop nest of its own that stores `value` into every element.
    pub(super) fn fill(&mut self, slot: usize, dims: &[i64], value: &ast::Expr) {
        let outer = self.nest.clone();
        let counters = self.counters.len();
        let mut subscripts = vec![];
        for (k, &extent) in dims.iter().enumerate() {
            let name = format!("{}_{k}", self.slots[slot].name);
            let position = self.take_position();
            let depth = self.depth();
            let id = self.add_loop(Loop {
                name,
                parent: self.nest.loops.last().copied(),
                offset: Affine::constant(depth, 0),
                step: 1,
                span: value.span,
            });
            let mut form = Affine::constant(depth + 1, 0);
            form.coeffs[depth] = 1;
            let mut last = form.clone();
            last.coeffs[depth] = -1;
            last.constant = extent - 1;
            let bounds = vec![vec![
                Constraint { expr: form.clone(), equality: false },
                Constraint { expr: last, equality: false },
            ]];
            self.nest.domain = super::form::intersect(&self.nest.domain, &bounds);
            self.nest.around = super::form::intersect(&self.nest.around, &bounds);
            self.nest.loops.push(id);
            self.nest.iterators.push(super::Iterator { ty: ScalarType::I32, value: form.clone() });
            self.nest.beta.push(position);
            self.counters.push(0);
            subscripts.push(form);
        }
        let depth = self.depth();
        subscripts.iter_mut().for_each(|s| s.coeffs.resize(depth, 0));
        self.store(slot, subscripts, value, value.span);
        self.counters.truncate(counters);
        self.nest = outer;
    }

    pub(super) fn add_loop(&mut self, l: Loop) -> LoopId {
        self.loops.push(l);
        LoopId(self.loops.len() as u32 - 1)
    }

    /// The next free position among the siblings at hand.
    pub(super) fn take_position(&mut self) -> i64 {
        match self.counters.last_mut() {
            Some(next) => {
                *next += 1;
                *next - 1
            }
            None => 0,
        }
    }

    fn emit(&mut self, write: Access, rhs: Expr, reads: Vec<Access>, span: Span) {
        if self.statements.len() >= STATEMENTS {
            self.overfull = true;
            self.error(
                "E0415",
                span,
                format!("the region becomes more than {STATEMENTS} statements"),
                "reached here",
                "conditions that are split by cases multiply: simplify them",
            );
            return;
        }
        let depth = self.depth();
        let super::Nest { mut domain, mut around, .. } = self.nest.clone();
        domain.iter_mut().chain(&mut around).flatten().for_each(|c| c.expr.coeffs.resize(depth, 0));
        if domain.is_empty() {
            return;
        }
        let (rhs, reads) = live_reads(rhs, reads);
        let mut beta = self.nest.beta.clone();
        beta.push(self.take_position());
        self.sources.push(reads.iter().map(|r| self.source(r.array)).collect());
        self.writes(write.array);
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

/// Leaves out reads that simplification made useless.
fn live_reads(mut rhs: Expr, reads: Vec<Access>) -> (Expr, Vec<Access>) {
    fn visit(e: &mut Expr, f: &mut dyn FnMut(&mut usize)) {
        use scop::ExprKind::*;
        match &mut e.kind {
            Read(k) => f(k),
            Const(_) | Iter(_) | Holds(_) => {}
            Unary(_, a) | Cast(a) | Lookup(_, a) => visit(a, f),
            Host(_, all) => all.iter_mut().for_each(|a| visit(a, f)),
            Binary(_, a, b) => {
                visit(a, f);
                visit(b, f);
            }
            Select(a, b, c) | Fma(a, b, c) => {
                visit(a, f);
                visit(b, f);
                visit(c, f);
            }
        }
    }
    let mut order: Vec<usize> = vec![];
    visit(&mut rhs, &mut |k| {
        let new = order.iter().position(|x| x == k).unwrap_or_else(|| {
            order.push(*k);
            order.len() - 1
        });
        *k = new;
    });
    (rhs, order.into_iter().map(|k| reads[k].clone()).collect())
}
