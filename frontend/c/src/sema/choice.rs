//! If-conversion (Allen, Kennedy, Porterfield and Warren, "Conversion of control dependence to data dependence", 1983).
//!
//! A static control part has no data-dependent branches. An affine condition splits the domain: both branches become
//! statements on their part. A condition on data becomes a select:
//! - branches that assign the same elements in the same order become one statement per element:
//!   `if (c) t = a; else t = b;` is `t = c ? a : b`;
//! - any other body is predicated, each assignment by itself: `if (c) t = a;` is `t = c ? a : t`. The old value is not
//!   read where `guards` proves that nobody needs it;
//! - if the body changes a variable that the condition reads, the condition is first saved in a local.

use super::form::Truth;
use super::{Guard, Predicate, Sema, Stored};
use crate::ast;
use crate::ast::{ExprKind, Stmt, StmtKind};
use crate::effects::{assigned, declared, names};
use std::collections::BTreeSet;

/// An assignment `target = stored`.
type Assignment<'a> = (&'a ast::Expr, Stored<'a>);

impl Sema {
    pub(super) fn if_statement(&mut self, condition: &ast::Expr, then: &Stmt, otherwise: Option<&Stmt>) {
        let run = |s: &mut Self, branch: Option<&Stmt>| {
            if let Some(b) = branch {
                s.scopes.push(Default::default());
                s.statement(b);
                s.scopes.pop();
            }
        };
        match self.decide(condition) {
            Truth::Always => return run(self, Some(then)),
            Truth::Never => return run(self, otherwise),
            Truth::Sometimes(holds, fails) => {
                return self.in_parts([holds, fails], |s, first| run(s, if first { Some(then) } else { otherwise }));
            }
            Truth::Data => {}
        }
        if let Some((holds, fails)) = self.affine_part(condition) {
            return self.in_parts([holds, fails], |s, _| s.if_statement(condition, then, otherwise));
        }
        if self.faulty(condition) {
            run(self, Some(then));
            run(self, otherwise);
            return;
        }
        self.data_if(condition, then, otherwise);
    }

    /// Reports the faults of a condition once, before it is copied into several statements.
    fn faulty(&mut self, condition: &ast::Expr) -> bool {
        if self.split_inside(condition, false).is_some() {
            return false;
        }
        let before = self.faults.len();
        self.condition(condition, &mut vec![]).is_none() || self.faults.len() > before
    }

    fn data_if(&mut self, condition: &ast::Expr, then: &Stmt, otherwise: Option<&Stmt>) {
        let mut written = BTreeSet::new();
        let count = assigned(then, &mut written) + otherwise.map_or(0, |s| assigned(s, &mut written));
        let mut read = BTreeSet::new();
        names(condition, &mut read);
        let overwritten = read.iter().any(|n| written.contains(n));
        let mut hidden = BTreeSet::new();
        [Some(then), otherwise].into_iter().flatten().for_each(|s| declared(s, &mut hidden));
        let hides = read.iter().any(|n| hidden.contains(n));
        if let Some(pairs) = otherwise.and_then(|o| self.paired(condition, then, o)) {
            if pairs.len() == 1 || !overwritten {
                for (target, stored) in &pairs {
                    self.assign(target, stored, target.span);
                }
                return;
            }
        }
        let guard = if hides || (count > 1 && overwritten) {
            Guard::Saved(self.save_condition(condition))
        } else {
            Guard::Source(condition.clone())
        };
        for (polarity, branch) in [(true, Some(then)), (false, otherwise)] {
            let Some(branch) = branch else { continue };
            self.predicates.push(Predicate { guard: guard.clone(), polarity });
            self.scopes.push(Default::default());
            self.statement(branch);
            self.scopes.pop();
            self.predicates.pop();
        }
    }

    /// Both branches as selections, if they assign the same elements in the same order.
    fn paired<'a>(&self, condition: &'a ast::Expr, then: &'a Stmt, otherwise: &'a Stmt) -> Option<Vec<Assignment<'a>>> {
        let (a, b) = (self.assignments(then)?, self.assignments(otherwise)?);
        let matching = a.len() == b.len() && !a.is_empty() && a.iter().zip(&b).all(|(x, y)| x.0.same(y.0));
        matching.then(|| {
            let guard = || Guard::Source(condition.clone());
            let pairs = a.into_iter().zip(b);
            pairs.map(|(x, y)| (x.0, Stored::Choice(guard(), Box::new(x.1), Box::new(y.1)))).collect()
        })
    }

    /// The statement as a list of assignments; `None` if it is anything else.
    fn assignments<'a>(&self, statement: &'a Stmt) -> Option<Vec<Assignment<'a>>> {
        match &statement.kind {
            StmtKind::Empty => Some(vec![]),
            StmtKind::Expr(ast::Expr { kind: ExprKind::Assign(op, target, value), .. }) => {
                Some(vec![(target, Stored::Value(*op, value))])
            }
            StmtKind::Block(all) => {
                let lists = all.iter().map(|s| self.assignments(s)).collect::<Option<Vec<_>>>()?;
                Some(lists.into_iter().flatten().collect())
            }
            StmtKind::If(c, then, otherwise) if self.decide(c) == Truth::Data && self.affine_part(c).is_none() => {
                match otherwise {
                    Some(o) => {
                        let pairs = self.paired(c, then, o)?;
                        (pairs.len() == 1).then_some(pairs)
                    }
                    None => {
                        let mut only = self.assignments(then)?;
                        if only.len() != 1 {
                            return None;
                        }
                        let (target, stored) = only.pop()?;
                        Some(vec![(
                            target,
                            Stored::Choice(Guard::Source(c.clone()), Box::new(stored), Box::new(Stored::Old)),
                        )])
                    }
                }
            }
            _ => None,
        }
    }
}
