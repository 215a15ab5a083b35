//! Names that subscripts, bounds, extents and conditions depend on, directly or through assignments.

use crate::ast::{Declarator, Expr, ExprKind, ForInit, Stmt, StmtKind, Unit};
use crate::effects::{expressions, names};
use std::collections::BTreeSet;
use std::rc::Rc;

/// All names of the unit.
pub(super) fn all(unit: &Unit) -> BTreeSet<Rc<str>> {
    let mut out = BTreeSet::new();
    let outside = unit.function.iter().flat_map(|f| f.params.iter().chain(&f.locals));
    out.extend(outside.chain(&unit.globals).map(|d| d.name.clone()));
    out.extend(unit.enumerators.iter().map(|(name, ..)| name.clone()));
    for s in &unit.region {
        crate::effects::declared(s, &mut out);
        expressions(s, &mut |e| names(e, &mut out));
    }
    out
}

/// The least set that contains the names in subscripts, bounds and extents, with `conditions` also those in conditions,
/// and with a name also the names in values assigned to it.
pub(super) fn index_names(unit: &Unit, conditions: bool) -> BTreeSet<Rc<str>> {
    let mut index_names = BTreeSet::new();
    let mut sources: Vec<(Rc<str>, BTreeSet<Rc<str>>)> = vec![];
    let locals = unit.function.iter().flat_map(|f| &f.locals).cloned().collect();
    for s in unit.region.iter().chain([&Stmt { kind: StmtKind::Declare(locals) }]) {
        collect(s, conditions, &mut index_names, &mut sources);
    }
    let outside = unit.function.iter().flat_map(|f| f.params.iter().chain(&f.locals));
    index_names.extend(outside.filter(|d| is_pointer(d)).map(|d| d.name.clone()));
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

fn is_pointer(d: &Declarator) -> bool {
    d.pointer.is_some() || d.dims.first().is_some_and(|x| x.size.is_none())
}

/// Collects the names in subscripts, bounds, extents and conditions, and for each assignment its target and names.
fn collect(
    s: &Stmt,
    conditions: bool,
    index_names: &mut BTreeSet<Rc<str>>,
    sources: &mut Vec<(Rc<str>, BTreeSet<Rc<str>>)>,
) {
    let mut source = |target: &Rc<str>, value: &Expr| {
        let mut all = BTreeSet::new();
        names(value, &mut all);
        sources.push((target.clone(), all));
    };
    expressions(s, &mut |e| {
        e.walk(&mut |x| match &x.kind {
            ExprKind::Index(_, part) => names(part, index_names),
            ExprKind::Conditional(part, ..) if conditions => names(part, index_names),
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
                if is_pointer(d) {
                    index_names.insert(d.name.clone());
                }
                if let Some(e) = d.value() {
                    source(&d.name, e);
                }
            }
        }
        StmtKind::If(c, then, otherwise) => {
            if conditions {
                names(c, index_names);
            }
            let branches = [Some(then), otherwise.as_ref()].into_iter().flatten();
            branches.for_each(|s| collect(s, conditions, index_names, sources));
        }
        StmtKind::For(f) => {
            f.condition.iter().chain(&f.step).for_each(|e| names(e, index_names));
            match &f.init {
                ForInit::Declare(all) => all.iter().filter_map(|d| d.value()).for_each(|e| names(e, index_names)),
                ForInit::Expr(e) => names(e, index_names),
                ForInit::None => {}
            }
            collect(&f.body, conditions, index_names, sources);
        }
        StmtKind::Block(all) => all.iter().for_each(|s| collect(s, conditions, index_names, sources)),
        StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}
