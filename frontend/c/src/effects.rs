//! Syntactic properties of statements: the names they read, assign and declare, and their size.

use crate::ast::{Binary, Declarator, Expr, ExprKind, ForInit, Init, Stmt, StmtKind};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Whether a call of this function is an operation on whole objects: a loop of assignments to its first argument.
pub(crate) fn is_operation(name: &str) -> bool {
    matches!(name, "memcpy" | "memmove" | "memset")
}

/// Calls of member functions have this in front of their names; the object is the first argument.
pub(crate) const SELECT: &str = ".";

/// Whether a member function is one of integers of any width.
pub(crate) fn is_selection(name: &str) -> bool {
    matches!(name, "range" | "bit" | "test" | "get_bit" | "set" | "clear" | "length")
        || matches!(name, "to_int" | "to_uint" | "to_long" | "to_ulong" | "to_int64" | "to_uint64" | "to_bool")
}

pub(crate) fn nodes(e: &Expr) -> usize {
    let mut count = 0;
    e.walk(&mut |_| count += 1);
    count
}

pub(crate) fn size(s: &Stmt) -> usize {
    let mut count = 1;
    expressions(s, &mut |e| count += nodes(e));
    count
}

pub(crate) fn names(e: &Expr, out: &mut BTreeSet<Rc<str>>) {
    e.walk(&mut |x| {
        if let ExprKind::Name(n) = &x.kind {
            out.insert(n.clone());
        }
    });
}

pub(crate) fn returns(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(all) => all.iter().any(returns),
        StmtKind::If(_, then, otherwise) => returns(then) || otherwise.as_ref().is_some_and(|s| returns(s)),
        StmtKind::For(f) => returns(&f.body),
        _ => false,
    }
}

/// Calls `visit` on every full expression of a statement (subexpressions are not visited).
pub(crate) fn expressions(s: &Stmt, visit: &mut dyn FnMut(&Expr)) {
    fn initial(d: &Declarator, visit: &mut dyn FnMut(&Expr)) {
        fn walk(init: &Init, visit: &mut dyn FnMut(&Expr)) {
            match init {
                Init::Value(e) => visit(e),
                Init::List(all, _) => all.iter().for_each(|i| walk(i, visit)),
            }
        }
        d.dims.iter().filter_map(|x| x.size.as_ref()).for_each(&mut *visit);
        d.init.iter().for_each(|i| walk(i, visit));
    }
    match &s.kind {
        StmtKind::Declare(all) => all.iter().for_each(|d| initial(d, visit)),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => visit(e),
        StmtKind::If(c, then, otherwise) => {
            visit(c);
            expressions(then, visit);
            otherwise.iter().for_each(|s| expressions(s, visit));
        }
        StmtKind::For(f) => {
            match &f.init {
                ForInit::Declare(all) => all.iter().for_each(|d| initial(d, visit)),
                ForInit::Expr(e) => visit(e),
                ForInit::None => {}
            }
            f.condition.iter().chain(&f.step).for_each(&mut *visit);
            expressions(&f.body, visit);
        }
        StmtKind::Block(all) => all.iter().for_each(|s| expressions(s, visit)),
        StmtKind::Return(None) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

/// All names that a statement declares, at any depth.
pub(crate) fn declared(s: &Stmt, out: &mut BTreeSet<Rc<str>>) {
    match &s.kind {
        StmtKind::Declare(all) => out.extend(all.iter().map(|d| d.name.clone())),
        StmtKind::Block(all) => all.iter().for_each(|s| declared(s, out)),
        StmtKind::If(_, then, otherwise) => {
            declared(then, out);
            otherwise.iter().for_each(|s| declared(s, out));
        }
        StmtKind::For(f) => {
            if let ForInit::Declare(all) = &f.init {
                out.extend(all.iter().map(|d| d.name.clone()));
            }
            declared(&f.body, out);
        }
        _ => {}
    }
}

/// Names that a statement uses and that none of `scopes` declares.
pub(crate) fn free_names(s: &Stmt, scopes: &mut Vec<BTreeSet<Rc<str>>>, out: &mut BTreeSet<Rc<str>>) {
    let add = |e: &Expr, scopes: &[BTreeSet<Rc<str>>], out: &mut BTreeSet<Rc<str>>| {
        let mut all = BTreeSet::new();
        names(e, &mut all);
        out.extend(all.into_iter().filter(|n| !scopes.iter().any(|s| s.contains(n))));
    };
    let declare = |all: &[Declarator], scopes: &mut Vec<BTreeSet<Rc<str>>>, out: &mut BTreeSet<Rc<str>>| {
        for d in all {
            expressions(&Stmt { kind: StmtKind::Declare(vec![d.clone()]) }, &mut |e| add(e, scopes, out));
            scopes.last_mut().expect("a scope").insert(d.name.clone());
        }
    };
    match &s.kind {
        StmtKind::Declare(all) => declare(all, scopes, out),
        StmtKind::Block(all) => {
            scopes.push(BTreeSet::new());
            all.iter().for_each(|s| free_names(s, scopes, out));
            scopes.pop();
        }
        StmtKind::If(c, then, otherwise) => {
            add(c, scopes, out);
            for s in [Some(then), otherwise.as_ref()].into_iter().flatten() {
                scopes.push(BTreeSet::new());
                free_names(s, scopes, out);
                scopes.pop();
            }
        }
        StmtKind::For(f) => {
            scopes.push(BTreeSet::new());
            match &f.init {
                ForInit::Declare(all) => declare(all, scopes, out),
                ForInit::Expr(e) => add(e, scopes, out),
                ForInit::None => {}
            }
            f.condition.iter().chain(&f.step).for_each(|e| add(e, scopes, out));
            free_names(&f.body, scopes, out);
            scopes.pop();
        }
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => add(e, scopes, out),
        StmtKind::Return(None) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

/// Collects the names that a statement assigns; returns the number of assignments (those in a loop count twice).
pub(crate) fn assigned(statement: &Stmt, out: &mut BTreeSet<Rc<str>>) -> usize {
    match &statement.kind {
        StmtKind::Declare(_) | StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => 0,
        StmtKind::Expr(e) => written(e, out),
        StmtKind::Block(all) => all.iter().map(|s| assigned(s, out)).sum(),
        StmtKind::If(_, then, otherwise) => assigned(then, out) + otherwise.as_ref().map_or(0, |s| assigned(s, out)),
        StmtKind::For(f) => {
            if let ForInit::Expr(e) = &f.init {
                written(e, out);
            }
            2 * assigned(&f.body, out)
        }
    }
}

/// The variables to which these statements assign values that depend on array elements or calls.
pub(crate) fn from_data(all: &[Stmt]) -> BTreeSet<Rc<str>> {
    let mut values: Vec<(Rc<str>, Expr)> = vec![];
    fn collect(s: &Stmt, out: &mut Vec<(Rc<str>, Expr)>) {
        match &s.kind {
            StmtKind::Declare(all) => out.extend(all.iter().filter_map(|d| Some((d.name.clone(), d.value()?.clone())))),
            StmtKind::Expr(e) => e.walk(&mut |x| {
                if let ExprKind::Assign(_, target, value) = &x.kind {
                    if let ExprKind::Name(name) = &target.kind {
                        out.push((name.clone(), (**value).clone()));
                    }
                }
            }),
            StmtKind::Block(all) => all.iter().for_each(|s| collect(s, out)),
            StmtKind::If(_, then, otherwise) => {
                collect(then, out);
                otherwise.iter().for_each(|s| collect(s, out));
            }
            StmtKind::For(f) => collect(&f.body, out),
            StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
        }
    }
    all.iter().for_each(|s| collect(s, &mut values));
    let mut found = BTreeSet::new();
    loop {
        let before = found.len();
        for (name, value) in &values {
            let mut data = false;
            value.walk(&mut |x| {
                data |= match &x.kind {
                    ExprKind::Index(..) | ExprKind::Call(..) => true,
                    ExprKind::Name(n) => found.contains(n),
                    _ => false,
                }
            });
            if data {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Collects the names that a statement may change, those in the steps of its loops included.
pub(crate) fn changed(s: &Stmt, out: &mut BTreeSet<Rc<str>>) {
    assigned(s, out);
    match &s.kind {
        StmtKind::Block(all) => all.iter().for_each(|s| changed(s, out)),
        StmtKind::If(_, then, otherwise) => {
            changed(then, out);
            otherwise.iter().for_each(|s| changed(s, out));
        }
        StmtKind::For(f) => {
            let mut inside = BTreeSet::new();
            f.step.iter().for_each(|e| {
                written(e, &mut inside);
            });
            if let ForInit::Declare(all) = &f.init {
                inside.retain(|n| all.iter().all(|d| d.name != *n));
            }
            out.append(&mut inside);
            changed(&f.body, out);
        }
        _ => {}
    }
}

/// Collects the names that a statement sets as a whole, not only an element of theirs.
pub(crate) fn set_names(s: &Stmt, out: &mut BTreeSet<Rc<str>>) {
    fn set(e: &Expr, out: &mut BTreeSet<Rc<str>>) {
        e.walk(&mut |x| {
            if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &x.kind {
                if let ExprKind::Name(name) = &target.kind {
                    out.insert(name.clone());
                }
            }
        });
    }
    expressions(s, &mut |e| set(e, out));
}

fn written(e: &Expr, out: &mut BTreeSet<Rc<str>>) -> usize {
    match &e.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step(Binary::Add | Binary::Sub, target) => {
            if let Some((Expr { kind: ExprKind::Name(n), .. }, _)) = target.element() {
                out.insert(n.clone());
            }
            1
        }
        ExprKind::Comma(a, b) => written(a, out) + written(b, out),
        ExprKind::Call(name, arguments) if is_operation(name) => {
            arguments.first().iter().for_each(|target| names(target, out));
            2
        }
        _ => 0,
    }
}

/// Applies `change` to every full expression of a statement.
pub(crate) fn rewrite(s: &mut Stmt, change: &mut dyn FnMut(&Expr) -> Expr) {
    fn initial(init: &mut Init, change: &mut dyn FnMut(&Expr) -> Expr) {
        match init {
            Init::Value(e) => *e = change(e),
            Init::List(all, _) => all.iter_mut().for_each(|i| initial(i, change)),
        }
    }
    fn declarators(all: &mut [Declarator], change: &mut dyn FnMut(&Expr) -> Expr) {
        all.iter_mut().flat_map(|d| &mut d.init).for_each(|i| initial(i, change));
    }
    match &mut s.kind {
        StmtKind::Declare(all) => declarators(all, change),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => *e = change(e),
        StmtKind::If(c, then, otherwise) => {
            *c = change(c);
            rewrite(then, change);
            otherwise.iter_mut().for_each(|s| rewrite(s, change));
        }
        StmtKind::For(f) => {
            match &mut f.init {
                ForInit::Declare(all) => declarators(all, change),
                ForInit::Expr(e) => *e = change(e),
                ForInit::None => {}
            }
            f.condition.iter_mut().chain(&mut f.step).for_each(|e| *e = change(e));
            rewrite(&mut f.body, change);
        }
        StmtKind::Block(all) => all.iter_mut().for_each(|s| rewrite(s, change)),
        StmtKind::Return(None) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

/// Calls `visit` on every declarator in a statement.
pub(crate) fn declarators(s: &mut Stmt, visit: &mut dyn FnMut(&mut Declarator)) {
    match &mut s.kind {
        StmtKind::Declare(all) => all.iter_mut().for_each(visit),
        StmtKind::Block(all) => all.iter_mut().for_each(|s| declarators(s, visit)),
        StmtKind::If(_, then, otherwise) => {
            declarators(then, visit);
            otherwise.iter_mut().for_each(|s| declarators(s, visit));
        }
        StmtKind::For(f) => {
            if let ForInit::Declare(all) = &mut f.init {
                all.iter_mut().for_each(&mut *visit);
            }
            declarators(&mut f.body, visit);
        }
        StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}
