//! Removal of dead variables: their declarations and the assignments to them.

use crate::ast::{Expr, ExprKind, ForInit, Stmt, StmtKind};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Removes the declarations of dead variables and the assignments to them; of those in `unset`, which a loop counts,
/// the initializers and the assignments.
pub(super) fn remove(s: &mut Stmt, dead: &BTreeSet<Rc<str>>, unset: &BTreeSet<Rc<str>>) {
    match &mut s.kind {
        StmtKind::Declare(all) => {
            all.retain(|d| !dead.contains(&d.name));
            all.iter_mut().filter(|d| unset.contains(&d.name)).for_each(|d| d.init = None);
            if all.is_empty() {
                s.kind = StmtKind::Empty;
            }
        }
        StmtKind::Expr(e) => s.kind = without(e, dead, unset).map_or(StmtKind::Empty, StmtKind::Expr),
        StmtKind::Block(all) => in_block(all, dead, unset),
        StmtKind::If(_, then, otherwise) => {
            remove(then, dead, unset);
            otherwise.iter_mut().for_each(|s| remove(s, dead, unset));
        }
        StmtKind::For(f) => {
            let hidden = match &f.init {
                ForInit::Declare(all) => all.iter().map(|d| d.name.clone()).collect(),
                _ => BTreeSet::new(),
            };
            remove(&mut f.body, &(dead - &hidden), &(unset - &hidden));
        }
        StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

/// Removes in a nested block. From the declaration of a name on, that name means another variable there.
fn in_block(all: &mut [Stmt], dead: &BTreeSet<Rc<str>>, unset: &BTreeSet<Rc<str>>) {
    let (mut dead, mut unset) = (dead.clone(), unset.clone());
    for s in all {
        match &s.kind {
            StmtKind::Declare(all) => all.iter().for_each(|d| {
                dead.remove(&d.name);
                unset.remove(&d.name);
            }),
            _ => remove(s, &dead, &unset),
        }
    }
}

fn without(e: &Expr, dead: &BTreeSet<Rc<str>>, unset: &BTreeSet<Rc<str>>) -> Option<Expr> {
    match &e.kind {
        ExprKind::Comma(a, b) => match (without(a, dead, unset), without(b, dead, unset)) {
            (Some(a), Some(b)) => Some(Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), span: e.span }),
            (a, b) => a.or(b),
        },
        ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) => {
            let removed = matches!(&target.kind, ExprKind::Name(n) if dead.contains(n) || unset.contains(n));
            (!removed).then(|| e.clone())
        }
        _ => Some(e.clone()),
    }
}
