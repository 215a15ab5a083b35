//! Forward substitution of index temporaries on the syntax tree.
//!
//! Problem: a static control part needs subscripts, bounds and conditions that are affine in iterators, sizes and
//! constants. C programs name such expressions: in `int r = 2 * i + u - 1; if (r >= 0 && r < H) s += x[r];` the
//! subscript `r` is a variable.
//!
//! Terms: an *index expression* consists of integer operators on iterators, parameters and constants. A variable's
//! *current value* is the index expression that it holds at this point, if there is one.
//!
//! Method, one walk over the statements in their order (forward substitution and dead-code elimination; Allen and
//! Kennedy, "Optimizing Compilers for Modern Architectures", chapter 4):
//! - an assignment of an index expression to a local integer sets its current value; any other assignment, and a loop
//!   or branch that assigns the variable, clears it;
//! - a read is replaced by the current value, if every name in it still means the same variable at this place. The
//!   conversion to the variable's type remains as a cast, so later stages see an overflow;
//! - a variable whose reads were all replaced is dead: its declaration and its assignments are removed. A *pinned*
//!   variable is never removed.
//!
//! Only variables on which a subscript, bound or condition depends are replaced (`names`); substituting others would
//! compute their values several times.
//!
//! Example: the text above becomes `if (2*i + u - 1 >= 0 && 2*i + u - 1 < H) s += x[2*i + u - 1];`.

mod names;
mod remove;

use crate::ast::{Binary, Declarator, Expr, ExprKind, ForInit, Init, Stmt, StmtKind, Unit};
use crate::effects::{assigned, names, nodes};
use crate::inline::with_operands;
use crate::sema::type_of;
use remove::remove;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Larger expressions remain in their variables.
const LARGEST: usize = 64;

/// Replaces the region's index temporaries.
pub(crate) fn replace(unit: &mut Unit) {
    let mut walk = Walk { index_names: names::index_names(unit), variables: vec![], scopes: vec![BTreeMap::new()] };
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

/// The type of a declarator that is a scalar integer.
fn integer(d: &Declarator) -> Option<ScalarType> {
    d.ty.scalar
        .filter(|_| d.ty.width.is_none())
        .filter(|ty| d.is_scalar() && !d.function && d.ty.members.is_none() && !ty.is_float())
}

/// Position in `Walk::variables`.
type Id = usize;

/// A current value, and the variables that its names mean.
type Value = (Expr, Vec<(Rc<str>, Id)>);

struct Variable {
    /// Its type, if it is a scalar integer.
    ty: Option<ScalarType>,
    /// Allowed in index expressions: a constant, a parameter, or the iterator of an enclosing loop.
    fixed: bool,
    constant: bool,
    value: Option<Value>,
    /// Some read was replaced.
    replaced: bool,
    /// Never removed.
    pinned: bool,
}

struct Walk {
    index_names: BTreeSet<Rc<str>>,
    variables: Vec<Variable>,
    scopes: Vec<BTreeMap<Rc<str>, Id>>,
}

impl Walk {
    fn lookup(&self, name: &str) -> Option<Id> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    fn bind(&mut self, name: &Rc<str>, ty: Option<ScalarType>, fixed: bool, constant: bool) -> Id {
        // A hidden variable is pinned: removal is by name and would remove the other one too.
        if let Some(hidden) = self.lookup(name) {
            self.variables[hidden].pinned = true;
        }
        let id = self.variables.len();
        let again = self.scopes.last().is_some_and(|s| s.contains_key(name));
        self.variables.push(Variable {
            ty,
            fixed: fixed && ty.is_some(),
            constant,
            value: None,
            replaced: false,
            pinned: again,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), id);
        }
        id
    }

    fn declare(&mut self, d: &mut Declarator) {
        for size in d.dims.iter_mut().filter_map(|x| x.size.as_mut()) {
            *size = self.substitute(size);
        }
        let id = self.bind(&d.name, integer(d), false, d.ty.constant);
        self.variables[id].pinned |= d.keeps_value() || d.outside.used;
        match &mut d.init {
            Some(Init::Value(e)) => {
                *e = self.substitute(e);
                self.record(id, &d.name, e);
            }
            Some(init) => {
                self.variables[id].pinned = true;
                self.initializer(init);
            }
            None => {}
        }
    }

    fn initializer(&mut self, init: &mut Init) {
        match init {
            Init::Value(e) => *e = self.substitute(e),
            Init::List(all, _) => all.iter_mut().for_each(|i| self.initializer(i)),
        }
    }

    fn block(&mut self, all: &mut [Stmt]) {
        self.scopes.push(BTreeMap::new());
        all.iter_mut().for_each(|s| self.statement(s));
        self.close(all, &mut vec![]);
    }

    /// Ends the scope of `block`, and removes dead variables that it or `outside` declares.
    fn close(&mut self, block: &mut [Stmt], outside: &mut Vec<Declarator>) {
        let dead = |id: &Id| self.variables[*id].replaced && !self.variables[*id].pinned;
        let dead: BTreeSet<Rc<str>> =
            self.scopes.pop().into_iter().flatten().filter(|(_, id)| dead(id)).map(|(name, _)| name).collect();
        if !dead.is_empty() {
            block.iter_mut().for_each(|s| remove(s, &dead));
            outside.retain(|d| !dead.contains(&d.name));
        }
    }

    fn statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Declare(all) => all.iter_mut().for_each(|d| self.declare(d)),
            StmtKind::Expr(e) => *e = self.expression_statement(e),
            StmtKind::Block(all) => self.block(all),
            StmtKind::If(c, then, otherwise) => {
                *c = self.substitute(c);
                let (mut changed, before) = (BTreeSet::new(), self.values_assigned_in(then));
                self.branch(then, &mut changed);
                before.into_iter().for_each(|(id, value)| self.variables[id].value = value);
                if let Some(s) = otherwise {
                    self.branch(s, &mut changed);
                }
                self.invalidate(&changed);
            }
            StmtKind::For(f) => {
                self.scopes.push(BTreeMap::new());
                let mut changed = BTreeSet::new();
                assigned(&f.body, &mut changed);
                let counter = self.start(&mut f.init, &mut changed);
                self.invalidate(&changed);
                let was_fixed = counter.map(|id| std::mem::replace(&mut self.variables[id].fixed, true));
                for e in f.condition.iter_mut().chain(&mut f.step) {
                    *e = self.header(e);
                }
                self.branch(&mut f.body, &mut changed);
                self.invalidate(&changed);
                counter.zip(was_fixed).into_iter().for_each(|(id, was)| self.variables[id].fixed = was);
                self.scopes.pop();
            }
            StmtKind::Return(_) | StmtKind::Empty | StmtKind::Poison => {}
        }
    }

    /// A statement in a new scope; the names it assigns are added to `changed`.
    fn branch(&mut self, s: &mut Stmt, changed: &mut BTreeSet<Rc<str>>) {
        assigned(s, changed);
        self.scopes.push(BTreeMap::new());
        self.statement(s);
        self.scopes.pop();
    }

    /// Current values of the variables that `s` assigns.
    fn values_assigned_in(&self, s: &Stmt) -> Vec<(Id, Option<Value>)> {
        let mut changed = BTreeSet::new();
        assigned(s, &mut changed);
        changed.iter().filter_map(|n| self.lookup(n)).map(|id| (id, self.variables[id].value.clone())).collect()
    }

    fn invalidate(&mut self, names: &BTreeSet<Rc<str>>) {
        for id in names.iter().filter_map(|n| self.lookup(n)).collect::<Vec<_>>() {
            self.variables[id].value = None;
        }
    }

    /// Processes a loop's start; returns its iterator, if that is an integer.
    fn start(&mut self, init: &mut ForInit, changed: &mut BTreeSet<Rc<str>>) -> Option<Id> {
        let id = match init {
            ForInit::None => return None,
            ForInit::Declare(all) => {
                for d in all.iter_mut() {
                    let bound = self.bind(&d.name, integer(d), false, d.ty.constant);
                    self.variables[bound].pinned = true;
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

    /// A part of a loop's header; it pins the iterator that it assigns.
    fn header(&mut self, e: &Expr) -> Expr {
        if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &e.kind {
            self.pin(target);
        }
        match &e.kind {
            ExprKind::Assign(op, target, value) => {
                Expr { kind: ExprKind::Assign(*op, target.clone(), Box::new(self.substitute(value))), span: e.span }
            }
            ExprKind::Step(..) => e.clone(),
            _ => self.substitute(e),
        }
    }

    /// An expression that is a statement.
    fn expression_statement(&mut self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Comma(a, b) => {
                ExprKind::Comma(Box::new(self.expression_statement(a)), Box::new(self.expression_statement(b)))
            }
            ExprKind::Step(op, target) => {
                self.assign(target, Some(*op), &Expr::one(e.span));
                e.kind.clone()
            }
            ExprKind::Assign(op, target, value) if matches!(value.kind, ExprKind::Assign(..)) => {
                // The inner target is read again as the value of the outer assignment.
                let value = self.expression_statement(value);
                self.pin(&value);
                self.pin(target);
                ExprKind::Assign(*op, target.clone(), Box::new(value))
            }
            ExprKind::Assign(op, target, value) => {
                let value = self.substitute(value);
                let target =
                    if matches!(target.kind, ExprKind::Name(_)) { (**target).clone() } else { self.substitute(target) };
                self.assign(&target, *op, &value);
                ExprKind::Assign(*op, Box::new(target), Box::new(value))
            }
            _ => return self.substitute(e),
        };
        Expr { kind, span: e.span }
    }

    /// `target = value`, or `target op= value`.
    fn assign(&mut self, target: &Expr, op: Option<Binary>, value: &Expr) {
        let ExprKind::Name(name) = &target.kind else { return };
        let Some(id) = self.lookup(name) else { return };
        let new = match op {
            // An assignment to an iterator inside its loop is refused later.
            _ if self.variables[id].fixed => None,
            None => Some(value.clone()),
            Some(op) => self.current_value(id).map(|old| Expr {
                kind: ExprKind::Binary(op, Box::new(old), Box::new(value.clone())),
                span: value.span,
            }),
        };
        self.variables[id].pinned |= self.variables[id].constant;
        match new {
            Some(new) => self.record(id, name, &new),
            None => self.pin(target),
        }
    }

    /// Pins all variables in `e` and clears their current values: `e` may assign them.
    fn pin(&mut self, e: &Expr) {
        let mut all = BTreeSet::new();
        names(e, &mut all);
        for id in all.iter().filter_map(|n| self.lookup(n)).collect::<Vec<_>>() {
            self.variables[id].pinned = true;
        }
        self.invalidate(&all);
    }

    /// The variable was assigned `e`.
    fn record(&mut self, id: Id, name: &Rc<str>, e: &Expr) {
        let index = if self.index_names.contains(name) { self.index(e) } else { None };
        let typed = self.variables[id].ty.zip(index);
        self.variables[id].pinned |= typed.is_none();
        self.variables[id].value = typed.map(|(ty, mentions)| {
            let ty_of_value = type_of(e, &|x| self.leaf_type(x));
            let cast = || Expr { kind: ExprKind::Cast(ty, Box::new(e.clone())), span: e.span };
            (if ty_of_value == Some(ty) { e.clone() } else { cast() }, mentions)
        });
    }

    fn leaf_type(&self, e: &Expr) -> Option<ScalarType> {
        let ExprKind::Name(name) = &e.kind else { return None };
        self.lookup(name).and_then(|id| self.variables[id].ty)
    }

    /// The variables in `e` if it is an index expression.
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

    /// The current value, if all its names mean the same variables here.
    fn current_value(&self, id: Id) -> Option<Expr> {
        let (value, mentions) = self.variables[id].value.as_ref()?;
        mentions.iter().all(|(name, meant)| self.lookup(name) == Some(*meant)).then(|| value.clone())
    }

    /// `e` with variables replaced by their current values.
    fn substitute(&mut self, e: &Expr) -> Expr {
        match &e.kind {
            ExprKind::Name(name) => {
                let Some(id) = self.lookup(name) else { return e.clone() };
                match self.current_value(id) {
                    Some(value) => {
                        self.variables[id].replaced = true;
                        Expr { span: e.span, ..value }
                    }
                    None => {
                        self.variables[id].pinned = true;
                        e.clone()
                    }
                }
            }
            // Refused later.
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Comma(..) | ExprKind::Address(_) => {
                self.pin(e);
                e.clone()
            }
            _ => with_operands(e, &mut |x| self.substitute(x)),
        }
    }
}
