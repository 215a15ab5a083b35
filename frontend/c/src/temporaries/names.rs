//! Names that subscripts, bounds, extents and conditions depend on, directly or through assignments.

use crate::ast::{Expr, ExprKind, ForInit, Stmt, StmtKind, Unit};
use crate::effects::{expressions, names};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The least set that contains the names in subscripts, bounds, extents and conditions, and with a name also the names
/// in values assigned to it.
pub(super) fn index_names(unit: &Unit) -> BTreeSet<Rc<str>> {
    let mut index_names = BTreeSet::new();
    let mut sources: Vec<(Rc<str>, BTreeSet<Rc<str>>)> = vec![];
    let locals = unit.function.iter().flat_map(|f| &f.locals).cloned().collect();
    for s in unit.region.iter().chain([&Stmt { kind: StmtKind::Declare(locals) }]) {
        collect(s, &mut index_names, &mut sources);
    }
    loop {
        let before = index_names.len();
        for (_, all) in sources.iter().filter(|(target, _)| index_names.contains(target)).collect::<Vec<_>>() {
            index_names.extend(all.iter().cloned());
        }
        if index_names.len() == before {
            return index_names;
        }
    }
}

/// Collects the names in subscripts, bounds, extents and conditions, and for each assignment its target and names.
fn collect(s: &Stmt, index_names: &mut BTreeSet<Rc<str>>, sources: &mut Vec<(Rc<str>, BTreeSet<Rc<str>>)>) {
    let mut source = |target: &Rc<str>, value: &Expr| {
        let mut all = BTreeSet::new();
        names(value, &mut all);
        sources.push((target.clone(), all));
    };
    expressions(s, &mut |e| {
        e.walk(&mut |x| match &x.kind {
            ExprKind::Index(_, part) | ExprKind::Conditional(part, ..) => names(part, index_names),
            ExprKind::Assign(_, target, value) => {
                if let ExprKind::Name(name) = &target.kind {
                    source(name, value);
                }
            }
            _ => {}
        })
    });
    match &s.kind {
        StmtKind::Declare(all) => {
            for d in all {
                d.dims.iter().filter_map(|x| x.size.as_ref()).for_each(|e| names(e, index_names));
                if let Some(e) = d.value() {
                    source(&d.name, e);
                }
            }
        }
        StmtKind::If(c, then, otherwise) => {
            names(c, index_names);
            [Some(then), otherwise.as_ref()].into_iter().flatten().for_each(|s| collect(s, index_names, sources));
        }
        StmtKind::For(f) => {
            f.condition.iter().chain(&f.step).for_each(|e| names(e, index_names));
            match &f.init {
                ForInit::Declare(all) => all.iter().filter_map(|d| d.value()).for_each(|e| names(e, index_names)),
                ForInit::Expr(e) => names(e, index_names),
                ForInit::None => {}
            }
            collect(&f.body, index_names, sources);
        }
        StmtKind::Block(all) => all.iter().for_each(|s| collect(s, index_names, sources)),
        StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
    }
}
