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

mod address;
mod counted;
mod exchange;
mod induction;
mod names;
mod pointer;
mod remove;

use crate::ast::{Binary, Declarator, Expr, ExprKind, Init, Stmt, StmtKind, Unit};
use crate::effects::{changed, names, nodes, set_names};
use crate::inline::{element, with_operands};
use crate::sema::type_of;
pub(crate) use counted::{renamed, step_of};
use remove::remove;
use scop::diag::{Diagnostics, Span};
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Larger expressions remain in the variables of conditions, which may depend on data.
const LARGEST_CONDITION: usize = 64;
/// Larger expressions remain in all variables.
const LARGEST: usize = 2000;
/// Limit on the statements that are walked to find out how variables move.
const TRIALS: usize = 100_000;

/// Replaces the region's index temporaries. Loops whose count cannot be found, and pointers that move in another way,
/// are reported.
pub(crate) fn replace(unit: &mut Unit, sizes: &BTreeSet<String>) -> Diagnostics {
    let mut set = BTreeSet::new();
    unit.region.iter().for_each(|s| set_names(s, &mut set));
    let mut walk = Walk {
        index_names: names::index_names(unit, true),
        needed: names::index_names(unit, false),
        set,
        searched: unit.searched.clone(),
        variables: vec![],
        scopes: vec![BTreeMap::new()],
        taken: names::all(unit),
        sizes: sizes.clone(),
        trials: TRIALS,
        faults: vec![],
    };
    for (name, ..) in &unit.enumerators {
        walk.bind(name, Kind::Integer(ScalarType::I32), true, true);
    }
    for d in &unit.globals {
        let id = walk.bind(&d.name, Kind::of(d, false), d.ty.constant, d.ty.constant);
        walk.variables[id].result = d.outside.used;
    }
    let mut locals = vec![];
    if let Some(function) = &mut unit.function {
        walk.scopes.push(BTreeMap::new());
        function.params.iter().for_each(|d| walk.parameter(d));
        function.locals.iter().filter(|d| d.outside.allocated).for_each(|d| walk.parameter(d));
        locals = std::mem::take(&mut function.locals);
    }
    walk.scopes.push(BTreeMap::new());
    locals.iter_mut().filter(|d| !d.outside.allocated).for_each(|d| walk.declare(d));
    walk.block(&mut unit.region);
    walk.close(&mut unit.region, &mut locals);
    if let Some(function) = &mut unit.function {
        function.locals = locals;
        walk.close(&mut unit.region, &mut vec![]);
    }
    walk.faults
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer(ScalarType),
    /// A pointer to elements or rows.
    Pointer,
    /// An array of so many dimensions, or a pointer parameter that the region does not set.
    Array(usize),
    Other,
}

impl Kind {
    /// `parameter`: a parameter that the region sets.
    fn of(d: &Declarator, parameter: bool) -> Kind {
        let scalar = d.ty.scalar.filter(|_| d.ty.width.is_none());
        let integer = scalar.filter(|ty| d.is_scalar() && !d.function && d.ty.members.is_none() && !ty.is_float());
        match integer {
            Some(ty) => Kind::Integer(ty),
            None if d.function || d.ty.scalar.is_none() => Kind::Other,
            None if d.pointer.is_some() && d.to_elements => Kind::Pointer,
            None if d.pointer.is_none() && !d.is_scalar() && parameter => Kind::Pointer,
            None if d.pointer.is_none() && !d.is_scalar() => Kind::Array(rank(d)),
            None => Kind::Other,
        }
    }
}

/// The expression with all its parts at `span`.
fn placed(e: &Expr, span: Span) -> Expr {
    Expr { span, ..with_operands(e, &mut |x| placed(x, span)) }
}

/// The number of dimensions of an array, or of what a pointer parameter points to.
fn rank(d: &Declarator) -> usize {
    d.dims.len() + d.ty.dims.len() + usize::from(d.pointer.is_some() && d.to_elements)
}

/// Position in `Walk::variables`.
type Id = usize;

/// A current value, and the variables that its names mean.
type Value = (Expr, Vec<(Rc<str>, Id)>);

#[derive(Clone)]
struct Variable {
    kind: Kind,
    /// Allowed in index expressions: a constant, a parameter, or the iterator of an enclosing loop.
    fixed: bool,
    /// A parameter that the region sets. In values its name stands for what the caller passed.
    entry: bool,
    /// The dimensions of what such a pointer points to.
    rank: usize,
    /// A new iterator counts it in a loop: without a value, its value is not known.
    lost: bool,
    constant: bool,
    value: Option<Value>,
    /// Some read was replaced.
    replaced: bool,
    /// Never removed.
    pinned: bool,
    /// A loop's header sets it: its declaration remains.
    header: bool,
    /// Its value behind a loop that counts it may be data, or a result.
    result: bool,
}

impl Variable {
    fn integer(&self) -> Option<ScalarType> {
        match self.kind {
            Kind::Integer(ty) => Some(ty),
            _ => None,
        }
    }
}

#[derive(Clone)]
struct Walk {
    index_names: BTreeSet<Rc<str>>,
    /// Those of subscripts, bounds and extents.
    needed: BTreeSet<Rc<str>>,
    /// Names that the region sets as a whole, in contrast to their elements.
    set: BTreeSet<Rc<str>>,
    searched: BTreeSet<Rc<str>>,
    variables: Vec<Variable>,
    scopes: Vec<BTreeMap<Rc<str>, Id>>,
    /// Names that a new variable may not have.
    taken: BTreeSet<Rc<str>>,
    /// Parameters that are sizes at run time: at least 1.
    sizes: BTreeSet<String>,
    /// Statements that may still be walked to find out how variables move.
    trials: usize,
    faults: Diagnostics,
}

impl Walk {
    fn lookup(&self, name: &str) -> Option<Id> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    fn bind(&mut self, name: &Rc<str>, kind: Kind, fixed: bool, constant: bool) -> Id {
        // A hidden variable remains. A hidden pointer must not: sagen has none.
        if let Some(hidden) = self.lookup(name) {
            self.variables[hidden].pinned |= self.variables[hidden].kind != Kind::Pointer;
        }
        let id = self.variables.len();
        let again = self.scopes.last().is_some_and(|s| s.contains_key(name));
        self.variables.push(Variable {
            kind,
            fixed: fixed && matches!(kind, Kind::Integer(_)),
            entry: false,
            rank: 0,
            lost: false,
            constant,
            value: None,
            replaced: false,
            pinned: again,
            header: false,
            result: false,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), id);
        }
        id
    }

    fn parameter(&mut self, d: &Declarator) {
        let set = self.set.contains(&d.name);
        let mut kind = Kind::of(d, set);
        if !set && kind == Kind::Pointer {
            kind = Kind::Array(rank(d));
        }
        let id = self.bind(&d.name, kind, true, d.ty.constant && d.is_scalar());
        if set && matches!(kind, Kind::Integer(_) | Kind::Pointer) {
            let name = Expr { kind: ExprKind::Name(d.name.clone()), span: d.span };
            self.variables[id].entry = true;
            self.variables[id].rank = rank(d);
            self.variables[id].value = Some((name, vec![(d.name.clone(), id)]));
        }
    }

    fn declare(&mut self, d: &mut Declarator) {
        for size in d.dims.iter_mut().filter_map(|x| x.size.as_mut()) {
            *size = self.substitute(size);
        }
        let id = self.bind(&d.name, Kind::of(d, false), false, d.ty.constant && d.is_scalar());
        self.variables[id].pinned |= d.keeps_value() || d.outside.used;
        self.variables[id].result = d.outside.used || self.searched.contains(&d.name);
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
        let scope = self.scopes.pop().unwrap_or_default();
        let (mut dead, mut unset) = (BTreeSet::new(), BTreeSet::new());
        for (name, id) in scope {
            let v = &self.variables[id];
            match v.replaced && !v.pinned {
                true if v.header => drop(unset.insert(name)),
                true => drop(dead.insert(name)),
                false => {}
            }
        }
        if !dead.is_empty() || !unset.is_empty() {
            block.iter_mut().for_each(|s| remove(s, &dead, &unset));
            outside.retain(|d| !dead.contains(&d.name));
            outside.iter_mut().filter(|d| unset.contains(&d.name)).for_each(|d| d.init = None);
        }
    }

    fn statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Declare(all) => all.iter_mut().for_each(|d| self.declare(d)),
            StmtKind::Expr(e) => *e = self.expression_statement(e),
            StmtKind::Block(all) => self.block(all),
            StmtKind::If(c, then, otherwise) => {
                *c = self.substitute(c);
                self.if_branches(c, then, otherwise.as_deref_mut());
            }
            StmtKind::For(f) => {
                if let Some(kind) = self.for_loop(f) {
                    s.kind = kind;
                }
            }
            StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
        }
    }

    /// A statement in a new scope.
    fn branch(&mut self, s: &mut Stmt) {
        self.scopes.push(BTreeMap::new());
        self.statement(s);
        self.scopes.pop();
    }

    /// Both branches of an `if`. A variable then has the value that both give it, or, under an affine condition, a
    /// choice of both.
    fn if_branches(&mut self, c: &Expr, then: &mut Stmt, otherwise: Option<&mut Stmt>) {
        let mut all = BTreeSet::new();
        changed(then, &mut all);
        otherwise.iter().for_each(|s| changed(s, &mut all));
        let ids: Vec<Id> = all.iter().filter_map(|n| self.lookup(n)).collect();
        let values = |walk: &Self| ids.iter().map(|id| walk.variables[*id].value.clone()).collect::<Vec<_>>();
        let before = values(self);
        self.branch(then);
        let first = values(self);
        ids.iter().zip(before).for_each(|(id, value)| self.variables[*id].value = value);
        if let Some(s) = otherwise {
            self.branch(s);
        }
        let second = values(self);
        let affine = self.index(c).is_some();
        for (id, (a, b)) in ids.into_iter().zip(first.into_iter().zip(second)) {
            self.variables[id].value = match (a, b) {
                (Some(a), Some(b)) if self.equal(id, &a.0, &b.0) => Some(b),
                (Some(a), Some(b)) if affine && self.variables[id].kind != Kind::Pointer => {
                    let (a, b) = (Box::new(a.0), Box::new(b.0));
                    let kind = ExprKind::Conditional(Box::new(c.clone()), a, b);
                    self.converted(id, &Expr { kind, span: c.span })
                }
                _ => None,
            };
        }
    }

    fn invalidate(&mut self, names: &BTreeSet<Rc<str>>) {
        for id in names.iter().filter_map(|n| self.lookup(n)).collect::<Vec<_>>() {
            self.variables[id].value = None;
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
            _ if self.variables[id].fixed && !self.variables[id].entry => None,
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
            // A use of a pointer without a value is reported.
            self.variables[id].pinned |= self.variables[id].kind != Kind::Pointer;
        }
        self.invalidate(&all);
    }

    /// The variable was assigned `e`.
    fn record(&mut self, id: Id, name: &Rc<str>, e: &Expr) {
        let value = match self.variables[id].kind {
            Kind::Pointer => {
                // What is wrong with the address was reported.
                self.variables[id].replaced |= e.of_poison();
                self.address(e)
            }
            _ if self.needed.contains(name) => self.converted(id, e),
            _ if self.index_names.contains(name) && nodes(e) <= LARGEST_CONDITION => self.converted(id, e),
            _ => None,
        };
        self.variables[id].pinned |= value.is_none() && self.variables[id].kind != Kind::Pointer;
        self.variables[id].value = value;
    }

    /// The index expression `e`, converted to the variable's type.
    fn converted(&self, id: Id, e: &Expr) -> Option<Value> {
        let ty = self.variables[id].integer()?;
        let mentions = self.index(e)?;
        let cast = || Expr { kind: ExprKind::Cast(ty, Box::new(e.clone())), span: e.span };
        Some((if type_of(e, &|x| self.leaf_type(x)) == Some(ty) { e.clone() } else { cast() }, mentions))
    }

    /// A new variable's name, made from another one.
    fn unused(&mut self, name: &str) -> Rc<str> {
        let free = (1..).map(|k| Rc::from(format!("{name}_{k}"))).find(|n| !self.taken.contains(n));
        let free = free.expect("some number is free");
        self.taken.insert(Rc::clone(&free));
        free
    }

    fn leaf_type(&self, e: &Expr) -> Option<ScalarType> {
        let ExprKind::Name(name) = &e.kind else { return None };
        self.lookup(name).and_then(|id| self.variables[id].integer())
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
                        match address::split(&value) {
                            Some((base, at)) if self.variables[id].kind == Kind::Pointer => {
                                placed(&address::joined(base, at), e.span)
                            }
                            _ => Expr { span: e.span, ..value },
                        }
                    }
                    None if self.variables[id].kind == Kind::Pointer && self.set.contains(name) => {
                        self.variables[id].replaced = true;
                        self.unknown_address(name, e.span)
                    }
                    None if self.variables[id].lost && !self.variables[id].fixed => self.unknown_behind(name, e.span),
                    None => {
                        let v = &mut self.variables[id];
                        v.pinned |= !v.fixed || v.entry;
                        e.clone()
                    }
                }
            }
            // Refused later.
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Comma(..) | ExprKind::Address(_) => {
                self.pin(e);
                e.clone()
            }
            ExprKind::Index(base, subscript) => {
                let (base, subscript) = (self.substitute(base), self.substitute(subscript));
                element(base, subscript, e.span)
            }
            ExprKind::Binary(op, a, b) if *op == Binary::Sub || op.is_comparison() => {
                let (a, b) = (self.substitute(a), self.substitute(b));
                self.compared(*op, a, b, e.span)
            }
            _ => with_operands(e, &mut |x| self.substitute(x)),
        }
    }
}
