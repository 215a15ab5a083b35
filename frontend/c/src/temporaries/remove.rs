//! Removal of dead variables: their declarations and the assignments to them.

use crate::ast::{Expr, ExprKind, Stmt, StmtKind};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Removes the declarations of dead variables and the assignments to them.
pub(super) fn remove(s: &mut Stmt, dead: &BTreeSet<Rc<str>>) {
    match &mut s.kind {
        StmtKind::Declare(all) => {
            all.retain(|d| !dead.contains(&d.name));
            if all.is_empty() {
                s.kind = StmtKind::Empty;
            }
        }
        StmtKind::Expr(e) => s.kind = without(e, dead).map_or(StmtKind::Empty, StmtKind::Expr),
        StmtKind::Block(all) => all.iter_mut().for_each(|s| remove(s, dead)),
        StmtKind::If(_, then, otherwise) => {
            remove(then, dead);
            otherwise.iter_mut().for_each(|s| remove(s, dead));
        }
        StmtKind::For(f) => remove(&mut f.body, dead),
        StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

fn without(e: &Expr, dead: &BTreeSet<Rc<str>>) -> Option<Expr> {
    match &e.kind {
        ExprKind::Comma(a, b) => match (without(a, dead), without(b, dead)) {
            (Some(a), Some(b)) => Some(Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), span: e.span }),
            (a, b) => a.or(b),
        },
        ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => {
            let removed = matches!(&target.kind, ExprKind::Name(n) if dead.contains(n));
            (!removed).then(|| e.clone())
        }
        _ => Some(e.clone()),
    }
}
