//! Temporaries that never outlive the branch that sets them, such as the one of a conditional swap.
//!
//! `if (a > b) { t = a; a = b; b = t; }` need not guard `t = a`: nobody reads `t` unless the branch was taken. So `t`
//! neither has to be known before nor is it passed from one iteration to the next.
//!
//! A scalar is *fresh* if every read of it comes behind a write in the same branch or in one around it, with no other
//! branch that writes it finished or skipped in between. Then a write that is carried out where C would have skipped it
//! is seen by no read.

use crate::ast::{self, ExprKind, ForInit, Init, Stmt, StmtKind};
use crate::effects::assigned;
use std::collections::BTreeSet;

/// Whether `name` is fresh in `block`, which starts where it has no value.
pub(super) fn is_fresh(name: &str, block: &[Stmt]) -> bool {
    let mut walk = Walk { name, sound: true };
    let all: Vec<&Stmt> = block.iter().collect();
    walk.block(&all, false);
    walk.sound
}

struct Walk<'a> {
    name: &'a str,
    /// No read was met that might see a write it should not.
    sound: bool,
}

impl Walk<'_> {
    /// `set`: the last write comes from this branch or one around it. Returns that behind the statements.
    fn block(&mut self, all: &[&Stmt], set: bool) -> bool {
        all.iter().fold(set, |set, s| self.statement(s, set))
    }

    fn statement(&mut self, statement: &Stmt, set: bool) -> bool {
        match &statement.kind {
            StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => set,
            StmtKind::Expr(e) => self.effect(e, set),
            StmtKind::Block(all) => self.block(&all.iter().collect::<Vec<_>>(), set),
            StmtKind::Declare(all) => {
                for d in all {
                    // Another variable of this name: not looked into.
                    self.sound &= *d.name != *self.name;
                    d.init.iter().for_each(|i| self.initializer(i, set));
                }
                set
            }
            StmtKind::If(c, then, otherwise) => {
                self.read(c, set);
                let writing = |s: &Stmt| {
                    let mut names = BTreeSet::new();
                    assigned(s, &mut names);
                    names.iter().any(|n| **n == *self.name)
                };
                let (first, second) = (writing(then), otherwise.as_ref().is_some_and(|s| writing(s)));
                self.statement(then, set);
                if let Some(s) = otherwise {
                    self.statement(s, set && !first);
                }
                set && !first && !second
            }
            StmtKind::For(f) => self.for_loop(f, set),
        }
    }

    fn for_loop(&mut self, f: &ast::For, set: bool) -> bool {
        match &f.init {
            ForInit::None => {}
            ForInit::Expr(e) => {
                self.effect(e, set);
                let counts = matches!(&e.kind, ExprKind::Assign(_, target, _) if matches!(&target.kind, ExprKind::Name(n) if **n == *self.name));
                self.sound &= !counts;
            }
            ForInit::Declare(all) => {
                for d in all {
                    self.sound &= *d.name != *self.name;
                    d.init.iter().for_each(|i| self.initializer(i, set));
                }
            }
        }
        f.condition.iter().for_each(|e| self.read(e, set));
        // A later iteration starts where the one before has ended.
        let once = self.statement(&f.body, set);
        let again = self.statement(&f.body, set && once);
        set && once && again
    }

    fn effect(&mut self, e: &ast::Expr, set: bool) -> bool {
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                self.read(value, set);
                let own = matches!(&target.kind, ExprKind::Name(n) if **n == *self.name);
                if !own || op.is_some() {
                    self.read(target, set);
                }
                set || own
            }
            ExprKind::Comma(a, b) => {
                let set = self.effect(a, set);
                self.effect(b, set)
            }
            _ => {
                self.read(e, set);
                set
            }
        }
    }

    fn initializer(&mut self, init: &Init, set: bool) {
        match init {
            Init::Value(e) => self.read(e, set),
            Init::List(all, _) => all.iter().for_each(|i| self.initializer(i, set)),
        }
    }

    fn read(&mut self, e: &ast::Expr, set: bool) {
        e.walk(&mut |x| self.sound &= set || !matches!(&x.kind, ExprKind::Name(n) if **n == *self.name));
    }
}
