//! Index temporaries: syntax tree in, syntax tree without them out.
//!
//! In `int r = 2 * i + u - 1; if (r >= 0 && r < H) s += x[r];` every `r` becomes what it stands for, so that
//! subscripts, bounds and conditions are of iterators, sizes and constants. The walk follows the statements in their
//! order and knows, of each local integer, the expression of these that it holds; loops and branches that assign the
//! variable make it unknown. A read is replaced where all names in the expression still mean the same. The conversion
//! to the variable's type stays, as a cast: the stages behind see where the type does not hold the value. A variable
//! that only holds such expressions, and that nobody reads any more, goes.
//!
//! Variables on which no subscript, bound or condition depends stay: what they hold is computed once.

use crate::ast::{Binary, Declarator, Expr, ExprKind, ForInit, Init, Stmt, StmtKind, Unit};
use crate::effects::{assigned, expressions, names, nodes};
use crate::inline::with_operands;
use crate::sema::type_of;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Larger expressions are kept in their variables.
const LARGEST: usize = 64;

/// Replaces the region's index temporaries.
pub(crate) fn replace(unit: &mut Unit) {
    let wanted = wanted(unit);
    let mut walk = Walk { wanted, variables: vec![], scopes: vec![BTreeMap::new()] };
    for (name, ..) in &unit.enumerators {
        walk.bind(name, Some(ScalarType::I32), true, true);
    }
    for d in &unit.globals {
        walk.bind(&d.name, integer(d), d.ty.constant, d.ty.constant);
    }
    let mut locals = vec![];
    if let Some(function) = &mut unit.function {
        walk.scopes.push(BTreeMap::new());
        for d in &function.params {
            walk.bind(&d.name, integer(d), true, d.ty.constant);
        }
        locals = std::mem::take(&mut function.locals);
    }
    walk.scopes.push(BTreeMap::new());
    locals.iter_mut().for_each(|d| walk.declare(d));
    walk.block(&mut unit.region);
    walk.close(&mut unit.region, &mut locals);
    if let Some(function) = &mut unit.function {
        function.locals = locals;
    }
}

/// The type of a scalar integer.
fn integer(d: &Declarator) -> Option<ScalarType> {
    let plain =
        d.pointer.is_none() && !d.function && d.dims.is_empty() && d.ty.dims.is_empty() && d.ty.members.is_none();
    d.ty.scalar.filter(|ty| plain && !ty.is_float())
}

/// Names that subscripts, bounds, extents and conditions depend on.
fn wanted(unit: &Unit) -> BTreeSet<Rc<str>> {
    let mut found = BTreeSet::new();
    let mut sources: Vec<(Rc<str>, BTreeSet<Rc<str>>)> = vec![];
    let locals = unit.function.iter().flat_map(|f| &f.locals).cloned().collect();
    for s in unit.region.iter().chain([&Stmt { kind: StmtKind::Declare(locals) }]) {
        asked(s, &mut found, &mut sources);
    }
    loop {
        let before = found.len();
        for (_, all) in sources.iter().filter(|(target, _)| found.contains(target)).collect::<Vec<_>>() {
            found.extend(all.iter().cloned());
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Names in subscripts, bounds, extents and conditions, and what follows from which names.
fn asked(s: &Stmt, found: &mut BTreeSet<Rc<str>>, sources: &mut Vec<(Rc<str>, BTreeSet<Rc<str>>)>) {
    let mut source = |target: &Rc<str>, value: &Expr| {
        let mut all = BTreeSet::new();
        names(value, &mut all);
        sources.push((target.clone(), all));
    };
    expressions(s, &mut |e| {
        e.walk(&mut |x| match &x.kind {
            ExprKind::Index(_, part) | ExprKind::Conditional(part, ..) => names(part, found),
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
                d.dims.iter().filter_map(|x| x.size.as_ref()).for_each(|e| names(e, found));
                if let Some(Init::Value(e)) = &d.init {
                    source(&d.name, e);
                }
            }
        }
        StmtKind::If(c, then, otherwise) => {
            names(c, found);
            [Some(then), otherwise.as_ref()].into_iter().flatten().for_each(|s| asked(s, found, sources));
        }
        StmtKind::For(f) => {
            f.condition.iter().chain(&f.step).for_each(|e| names(e, found));
            match &f.init {
                ForInit::Declare(all) => all.iter().for_each(|d| initial(d).into_iter().for_each(|e| names(e, found))),
                ForInit::Expr(e) => names(e, found),
                ForInit::None => {}
            }
            asked(&f.body, found, sources);
        }
        StmtKind::Block(all) => all.iter().for_each(|s| asked(s, found, sources)),
        StmtKind::Expr(_) | StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

fn initial(d: &Declarator) -> Option<&Expr> {
    match &d.init {
        Some(Init::Value(e)) => Some(e),
        _ => None,
    }
}

/// Position in `Walk::variables`.
type Id = usize;

/// What a variable holds, and the variables that are meant by the names in it.
type Held = (Expr, Vec<(Rc<str>, Id)>);

struct Variable {
    /// Of a scalar integer.
    ty: Option<ScalarType>,
    /// It may be part of what others hold: a constant, a parameter, or the counter of a loop around.
    fixed: bool,
    constant: bool,
    value: Option<Held>,
    /// Some read of it was replaced.
    replaced: bool,
    /// It cannot go.
    stays: bool,
}

struct Walk {
    wanted: BTreeSet<Rc<str>>,
    variables: Vec<Variable>,
    scopes: Vec<BTreeMap<Rc<str>, Id>>,
}

impl Walk {
    fn lookup(&self, name: &str) -> Option<Id> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    fn bind(&mut self, name: &Rc<str>, ty: Option<ScalarType>, fixed: bool, constant: bool) -> Id {
        // One that is hidden stays: only by its name it would be told from the other.
        if let Some(hidden) = self.lookup(name) {
            self.variables[hidden].stays = true;
        }
        let id = self.variables.len();
        let again = self.scopes.last().is_some_and(|s| s.contains_key(name));
        self.variables.push(Variable {
            ty,
            fixed: fixed && ty.is_some(),
            constant,
            value: None,
            replaced: false,
            stays: again,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), id);
        }
        id
    }

    fn declare(&mut self, d: &mut Declarator) {
        for size in d.dims.iter_mut().filter_map(|x| x.size.as_mut()) {
            *size = self.read(size);
        }
        let id = self.bind(&d.name, integer(d), false, d.ty.constant);
        match &mut d.init {
            Some(Init::Value(e)) => {
                *e = self.read(e);
                self.hold(id, &d.name, e);
            }
            Some(init) => {
                self.variables[id].stays = true;
                self.initializer(init);
            }
            None => {}
        }
    }

    fn initializer(&mut self, init: &mut Init) {
        match init {
            Init::Value(e) => *e = self.read(e),
            Init::List(all, _) => all.iter_mut().for_each(|i| self.initializer(i)),
        }
    }

    fn block(&mut self, all: &mut Vec<Stmt>) {
        self.scopes.push(BTreeMap::new());
        all.iter_mut().for_each(|s| self.statement(s));
        self.close(all, &mut vec![]);
    }

    /// Ends the scope of `block`, and removes the variables that nobody needs, which it or `outside` declares.
    fn close(&mut self, block: &mut [Stmt], outside: &mut Vec<Declarator>) {
        let gone = |id: &Id| self.variables[*id].replaced && !self.variables[*id].stays;
        let gone: BTreeSet<Rc<str>> =
            self.scopes.pop().into_iter().flatten().filter(|(_, id)| gone(id)).map(|(name, _)| name).collect();
        if !gone.is_empty() {
            block.iter_mut().for_each(|s| remove(s, &gone));
            outside.retain(|d| !gone.contains(&d.name));
        }
    }

    fn statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Declare(all) => all.iter_mut().for_each(|d| self.declare(d)),
            StmtKind::Expr(e) => *e = self.effect(e),
            StmtKind::Block(all) => self.block(all),
            StmtKind::If(c, then, otherwise) => {
                *c = self.read(c);
                let (mut changed, before) = (BTreeSet::new(), self.held(then));
                self.branch(then, &mut changed);
                before.into_iter().for_each(|(id, value)| self.variables[id].value = value);
                if let Some(s) = otherwise {
                    self.branch(s, &mut changed);
                }
                self.forget(&changed);
            }
            StmtKind::For(f) => {
                self.scopes.push(BTreeMap::new());
                let mut changed = BTreeSet::new();
                assigned(&f.body, &mut changed);
                let counter = self.start(&mut f.init, &mut changed);
                self.forget(&changed);
                let was_fixed = counter.map(|id| std::mem::replace(&mut self.variables[id].fixed, true));
                for e in f.condition.iter_mut().chain(&mut f.step) {
                    *e = self.header(e);
                }
                self.branch(&mut f.body, &mut changed);
                self.forget(&changed);
                counter.zip(was_fixed).into_iter().for_each(|(id, was)| self.variables[id].fixed = was);
                self.scopes.pop();
            }
            StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
        }
    }

    /// A statement with a scope of its own; what it assigns is entered into `changed`.
    fn branch(&mut self, s: &mut Stmt, changed: &mut BTreeSet<Rc<str>>) {
        assigned(s, changed);
        self.scopes.push(BTreeMap::new());
        self.statement(s);
        self.scopes.pop();
    }

    /// What the variables hold that `s` assigns.
    fn held(&self, s: &Stmt) -> Vec<(Id, Option<Held>)> {
        let mut changed = BTreeSet::new();
        assigned(s, &mut changed);
        changed.iter().filter_map(|n| self.lookup(n)).map(|id| (id, self.variables[id].value.clone())).collect()
    }

    fn forget(&mut self, names: &BTreeSet<Rc<str>>) {
        for id in names.iter().filter_map(|n| self.lookup(n)).collect::<Vec<_>>() {
            self.variables[id].value = None;
        }
    }

    /// A loop's start; the variable that counts it, if it is an integer.
    fn start(&mut self, init: &mut ForInit, changed: &mut BTreeSet<Rc<str>>) -> Option<Id> {
        let id = match init {
            ForInit::None => return None,
            ForInit::Declare(all) => {
                for d in all.iter_mut() {
                    let bound = self.bind(&d.name, integer(d), false, d.ty.constant);
                    self.variables[bound].stays = true;
                    d.init.iter_mut().for_each(|i| self.initializer(i));
                }
                self.lookup(&all.first()?.name)?
            }
            ForInit::Expr(e) => {
                *e = self.header(e);
                let ExprKind::Assign(None, target, _) = &e.kind else { return None };
                let ExprKind::Name(name) = &target.kind else { return None };
                changed.insert(name.clone());
                self.lookup(name)?
            }
        };
        self.variables[id].ty.is_some().then_some(id)
    }

    /// A part of a loop's header: what it assigns is the loop's counter, which stays.
    fn header(&mut self, e: &Expr) -> Expr {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &e.kind {
            self.keep(target);
        }
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                Expr { kind: ExprKind::Assign(*op, target.clone(), Box::new(self.read(value))), span: e.span }
            }
            ExprKind::Step(..) => e.clone(),
            _ => self.read(e),
        }
    }

    /// An expression that is a statement.
    fn effect(&mut self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Comma(a, b) => ExprKind::Comma(Box::new(self.effect(a)), Box::new(self.effect(b))),
            ExprKind::Step(op, target) => {
                self.changed(target, Some(*op), &Expr::one(e.span));
                e.kind.clone()
            }
            ExprKind::Assign(op, target, value) if matches!(value.kind, ExprKind::Assign(..)) => {
                // What the inner target then holds is read behind it.
                let value = self.effect(value);
                self.keep(&value);
                self.keep(target);
                ExprKind::Assign(*op, target.clone(), Box::new(value))
            }
            ExprKind::Assign(op, target, value) => {
                let value = self.read(value);
                let target =
                    if matches!(target.kind, ExprKind::Name(_)) { (**target).clone() } else { self.read(target) };
                self.changed(&target, *op, &value);
                ExprKind::Assign(*op, Box::new(target), Box::new(value))
            }
            _ => return self.read(e),
        };
        Expr { kind, span: e.span }
    }

    /// `target = value`, or `target op= value`.
    fn changed(&mut self, target: &Expr, op: Option<Binary>, value: &Expr) {
        let ExprKind::Name(name) = &target.kind else { return };
        let Some(id) = self.lookup(name) else { return };
        let new = match op {
            // That a loop's counter changes in it is refused.
            _ if self.variables[id].fixed => None,
            None => Some(value.clone()),
            Some(op) => self.known(id).map(|old| Expr {
                kind: ExprKind::Binary(op, Box::new(old), Box::new(value.clone())),
                span: value.span,
            }),
        };
        self.variables[id].stays |= self.variables[id].constant;
        match new {
            Some(new) => self.hold(id, name, &new),
            None => self.keep(target),
        }
    }

    /// All variables in `e` stay, and what those hold that it may assign is unknown.
    fn keep(&mut self, e: &Expr) {
        let mut all = BTreeSet::new();
        names(e, &mut all);
        for id in all.iter().filter_map(|n| self.lookup(n)).collect::<Vec<_>>() {
            self.variables[id].stays = true;
        }
        self.forget(&all);
    }

    /// The variable holds `e` from here on.
    fn hold(&mut self, id: Id, name: &Rc<str>, e: &Expr) {
        let index = if self.wanted.contains(name) { self.index(e) } else { None };
        let typed = self.variables[id].ty.zip(index);
        self.variables[id].stays |= typed.is_none();
        self.variables[id].value = typed.map(|(ty, mentions)| {
            let own = type_of(e, &|x| self.leaf_type(x));
            let cast = || Expr { kind: ExprKind::Cast(ty, Box::new(e.clone())), span: e.span };
            (if own == Some(ty) { e.clone() } else { cast() }, mentions)
        });
    }

    fn leaf_type(&self, e: &Expr) -> Option<ScalarType> {
        let ExprKind::Name(name) = &e.kind else { return None };
        self.lookup(name).and_then(|id| self.variables[id].ty)
    }

    /// The variables in `e` if it consists of what does not change and of operators on integers.
    fn index(&self, e: &Expr) -> Option<Vec<(Rc<str>, Id)>> {
        let (mut all, mut plain) = (vec![], nodes(e) <= LARGEST);
        e.walk(&mut |x| match &x.kind {
            ExprKind::Name(name) => match self.lookup(name).filter(|id| self.variables[*id].fixed) {
                Some(id) => all.push((name.clone(), id)),
                None => plain = false,
            },
            ExprKind::Literal(_, ty) | ExprKind::Cast(ty, _) => plain &= !ty.is_float(),
            ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Conditional(..) => {}
            _ => plain = false,
        });
        plain.then_some(all)
    }

    /// What the variable holds, if it can be written here.
    fn known(&self, id: Id) -> Option<Expr> {
        let (value, mentions) = self.variables[id].value.as_ref()?;
        mentions.iter().all(|(name, meant)| self.lookup(name) == Some(*meant)).then(|| value.clone())
    }

    /// `e` with what variables hold in their places.
    fn read(&mut self, e: &Expr) -> Expr {
        match &e.kind {
            ExprKind::Name(name) => {
                let Some(id) = self.lookup(name) else { return e.clone() };
                match self.known(id) {
                    Some(value) => {
                        self.variables[id].replaced = true;
                        Expr { span: e.span, ..value }
                    }
                    None => {
                        self.variables[id].stays = true;
                        e.clone()
                    }
                }
            }
            // Refused where they stand.
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Comma(..) | ExprKind::Address(_) => {
                self.keep(e);
                e.clone()
            }
            _ => with_operands(e, &mut |x| self.read(x)),
        }
    }
}

/// Removes the declarations of variables, and the assignments to them.
fn remove(s: &mut Stmt, gone: &BTreeSet<Rc<str>>) {
    match &mut s.kind {
        StmtKind::Declare(all) => {
            all.retain(|d| !gone.contains(&d.name));
            if all.is_empty() {
                s.kind = StmtKind::Empty;
            }
        }
        StmtKind::Expr(e) => s.kind = without(e, gone).map_or(StmtKind::Empty, StmtKind::Expr),
        StmtKind::Block(all) => all.iter_mut().for_each(|s| remove(s, gone)),
        StmtKind::If(_, then, otherwise) => {
            remove(then, gone);
            otherwise.iter_mut().for_each(|s| remove(s, gone));
        }
        StmtKind::For(f) => remove(&mut f.body, gone),
        StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

fn without(e: &Expr, gone: &BTreeSet<Rc<str>>) -> Option<Expr> {
    match &e.kind {
        ExprKind::Comma(a, b) => match (without(a, gone), without(b, gone)) {
            (Some(a), Some(b)) => Some(Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), span: e.span }),
            (a, b) => a.or(b),
        },
        ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) if matches!(&target.kind, ExprKind::Name(n) if gone.contains(n)) => {
            None
        }
        _ => Some(e.clone()),
    }
}
