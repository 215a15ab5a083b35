//! Calls of the file's own functions, carried out where they stand: syntax tree in, syntax tree without them out.
//!
//! A function that only computes a value from its arguments becomes an expression. Any other one becomes a block of
//! statements in front of the one that calls it, with its parameters replaced by the arguments: an array is the caller's
//! array, `&x` is `x` itself. A scalar that the function assigns, or whose argument the function may change, becomes a
//! local of the block. Nothing else of a function reaches the stages behind this one.
//!
//! Pointers end here, too: `*p`, `p[k]`, `(p + j)[k]` and `(&A[i])[k]` all become elements of the array meant.

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Helper, Init, Stmt, StmtKind, TypeName, Unit};
use crate::diag::{Diagnostic, Diagnostics, Span};
use crate::scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Functions call one another at most so deep.
const DEPTH: usize = 16;
/// Nodes of an expression that a function becomes; larger ones become statements.
const NODES: usize = 300;
/// Statements and nodes that inlining may make of a region.
const BUDGET: usize = 200_000;

/// The statement and the expression with `value` for `name`; variables of their own that would hide it are renamed.
pub(crate) fn substituted(s: &Stmt, e: &Expr, name: &Rc<str>, value: &Expr) -> (Stmt, Expr) {
    let mut scope = Scope::of(name, value.clone());
    (scope.inner(s), scope.expr(e))
}

/// What names stand for while a function is carried out.
type Values = BTreeMap<Rc<str>, Expr>;

/// Inlines all calls in the region.
pub(crate) fn inline(unit: &mut Unit) -> Diagnostics {
    let region = std::mem::take(&mut unit.region);
    let mut hidden = BTreeSet::new();
    for d in unit.function.iter().flat_map(|f| f.params.iter().chain(&f.locals)) {
        hidden.insert(d.name.clone());
    }
    region.iter().for_each(|s| declared(s, &mut hidden));
    let mut inliner = Inliner { helpers: &unit.helpers, hidden, iterators: vec![], calls: vec![], before: vec![], results: 0, budget: BUDGET, faults: vec![] };
    unit.region = inliner.block(&region);
    inliner.faults
}

struct Inliner<'a> {
    helpers: &'a BTreeMap<Rc<str>, Helper>,
    /// Names that the caller declares: a function that means a global by one of them means another variable.
    hidden: BTreeSet<Rc<str>>,
    /// Counters of the loops around the statement at hand.
    iterators: Vec<Rc<str>>,
    /// Functions being carried out.
    calls: Vec<Rc<str>>,
    /// Statements that come before the one at hand.
    before: Vec<Stmt>,
    results: usize,
    budget: usize,
    faults: Diagnostics,
}

impl<'a> Inliner<'a> {
    fn fault(&mut self, span: Span, message: String, label: &str, help: &str) -> Expr {
        self.faults.push(Diagnostic::error("E0404", span, message).label(label).help(help));
        Expr { kind: ExprKind::Poison, span }
    }

    fn block(&mut self, all: &[Stmt]) -> Vec<Stmt> {
        all.iter().flat_map(|s| self.statement(s)).collect()
    }

    /// A statement that must be one: several become a block.
    fn single(&mut self, s: &Stmt) -> Stmt {
        let mut all = self.statement(s);
        match all.len() {
            1 => all.remove(0),
            _ => Stmt { kind: StmtKind::Block(all) },
        }
    }

    fn statement(&mut self, s: &Stmt) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.before);
        let kind = match &s.kind {
            StmtKind::Empty | StmtKind::Poison | StmtKind::Return(_) => s.kind.clone(),
            StmtKind::Block(all) => StmtKind::Block(self.block(all)),
            StmtKind::Declare(all) => StmtKind::Declare(all.iter().map(|d| self.declarator(d)).collect()),
            StmtKind::Expr(e) => match &e.kind {
                ExprKind::Call(name, arguments) if self.helpers.contains_key(name) => {
                    let arguments = arguments.iter().map(|a| self.expr(a, true)).collect();
                    self.carry_out(name, arguments, e.span, None);
                    StmtKind::Empty
                }
                _ => StmtKind::Expr(self.expr(e, true)),
            },
            StmtKind::If(c, then, otherwise) => {
                let c = self.expr(c, true);
                let before = std::mem::take(&mut self.before);
                let (then, otherwise) = (self.single(then), otherwise.as_ref().map(|s| Box::new(self.single(s))));
                self.before = before;
                StmtKind::If(c, Box::new(then), otherwise)
            }
            StmtKind::For(f) => StmtKind::For(Box::new(self.for_loop(f))),
        };
        let mut all = std::mem::replace(&mut self.before, outer);
        if !matches!(kind, StmtKind::Empty) || all.is_empty() {
            all.push(Stmt { kind });
        }
        all
    }

    fn for_loop(&mut self, f: &For) -> For {
        let init = match &f.init {
            ForInit::None => ForInit::None,
            ForInit::Declare(all) => ForInit::Declare(all.iter().map(|d| Declarator { init: d.init.as_ref().map(|i| self.initializer(i, false)), ..d.clone() }).collect()),
            ForInit::Expr(e) => ForInit::Expr(self.expr(e, false)),
        };
        let count = self.iterators.len();
        self.iterators.extend(counted(f));
        let condition = f.condition.as_ref().map(|e| self.expr(e, false));
        let step = f.step.as_ref().map(|e| self.expr(e, false));
        let before = std::mem::take(&mut self.before);
        let body = self.single(&f.body);
        self.before = before;
        self.iterators.truncate(count);
        For { init, condition, step, body, header: f.header }
    }

    fn declarator(&mut self, d: &Declarator) -> Declarator {
        Declarator { init: d.init.as_ref().map(|i| self.initializer(i, true)), ..d.clone() }
    }

    fn initializer(&mut self, init: &Init, always: bool) -> Init {
        match init {
            Init::Value(e) => Init::Value(self.expr(e, always)),
            Init::List(all, span) => Init::List(all.iter().map(|i| self.initializer(i, always)).collect(), *span),
        }
    }

    /// `always`: the expression is evaluated once whenever its statement is.
    fn expr(&mut self, e: &Expr, always: bool) -> Expr {
        let kind = match &e.kind {
            ExprKind::Call(name, arguments) => {
                let given: Vec<Expr> = arguments.iter().map(|a| self.expr(a, always)).collect();
                return if self.helpers.contains_key(name) { self.called(name, given, e.span, always) } else { Expr { kind: ExprKind::Call(name.clone(), given), span: e.span } };
            }
            ExprKind::Index(base, subscript) => return element(self.expr(base, always), self.expr(subscript, always), e.span),
            ExprKind::Conditional(c, a, b) => ExprKind::Conditional(Box::new(self.expr(c, always)), Box::new(self.expr(a, false)), Box::new(self.expr(b, false))),
            ExprKind::Binary(op, a, b) => {
                let lazy = matches!(op, Binary::LogicalAnd | Binary::LogicalOr);
                ExprKind::Binary(*op, Box::new(self.expr(a, always)), Box::new(self.expr(b, always && !lazy)))
            }
            _ => return with_operands(e, &mut |x| self.expr(x, always)),
        };
        Expr { kind, span: e.span }
    }

    /// The value of a call in an expression.
    fn called(&mut self, name: &Rc<str>, arguments: Vec<Expr>, span: Span, always: bool) -> Expr {
        let Some((helper, body)) = self.enter(name, &arguments, span) else { return Expr { kind: ExprKind::Poison, span } };
        if let Some(value) = value_of_call(helper, body, &arguments) {
            self.calls.push(name.clone());
            let value = self.expr(&value, always);
            self.calls.pop();
            return Expr { span, ..value };
        }
        if !always {
            return self.fault(span, format!("call of `{name}` in an expression that is not always evaluated"), "it needs statements of its own", "assign its result to a local variable first");
        }
        if helper.pointer || (helper.result.scalar.is_none() && helper.result.why.is_some()) {
            return self.fault(span, format!("`{name}` has no result"), "its value is used here", "call it as a statement");
        }
        self.results += 1;
        let result: Rc<str> = format!("{name}_result{}", if self.results > 1 { self.results.to_string() } else { String::new() }).into();
        let place = Declarator { name: result.clone(), span, ty: TypeName { constant: false, ..helper.result.clone() }, dims: vec![], pointer: None, to_elements: false, function: false, init: None };
        self.before.push(Stmt { kind: StmtKind::Declare(vec![place]) });
        let result = Expr { kind: ExprKind::Name(result), span };
        self.carry_out(name, arguments, span, Some(result.clone()));
        result
    }

    /// The function and its body, if it may be called here; reported otherwise.
    fn enter(&mut self, name: &Rc<str>, arguments: &[Expr], span: Span) -> Option<(&'a Helper, &'a [Stmt])> {
        let helper = self.helpers.get(name)?;
        let note = |fault: Diagnostic| fault.note(helper.span, "defined here");
        let refuse = |label: String, help: &str| Some(note(Diagnostic::error("E0404", span, format!("call of `{name}`")).label(label).help(help)));
        let mut free = BTreeSet::new();
        helper.body.iter().flatten().for_each(|s| free_names(s, &mut vec![helper.params.iter().map(|d| d.name.clone()).collect()], &mut free));
        let captured = free.iter().find(|n| self.hidden.contains(*n));
        let fault = if helper.body.is_none() {
            refuse("this function contains what is not supported, so it cannot be inlined".into(), "write it with assignments, `if`, `for` and one `return` at its end")
        } else if self.calls.contains(name) || self.calls.len() >= DEPTH {
            refuse("functions that call themselves cannot be inlined".into(), "write a loop")
        } else if helper.params.len() != arguments.len() {
            refuse(format!("it takes {} argument(s), {} given", helper.params.len(), arguments.len()), "check the call")
        } else if self.budget == 0 {
            refuse("inlining makes the region too large".into(), "use loops")
        } else {
            captured.and_then(|n| refuse(format!("it uses the global `{n}`, which a variable of the caller hides"), "rename one of them"))
        };
        match fault {
            Some(fault) => {
                self.faults.push(fault);
                None
            }
            None => helper.body.as_deref().map(|body| (helper, body)),
        }
    }

    /// Puts the function's statements before the one at hand.
    fn carry_out(&mut self, name: &Rc<str>, arguments: Vec<Expr>, span: Span, result: Option<Expr>) {
        let Some((helper, body)) = self.enter(name, &arguments, span) else { return };
        if body.iter().rev().skip(1).any(returns) || body.last().is_some_and(|s| returns(s) && !matches!(s.kind, StmtKind::Return(_))) {
            let fault = Diagnostic::error("E0404", span, format!("call of `{name}`")).label("a function with statements that returns early cannot be inlined");
            self.faults.push(fault.note(helper.span, "defined here").help("end it with its only `return`, and put what comes before under `if` and `else`"));
            return;
        }
        let size = body.iter().map(size).sum::<usize>() + arguments.iter().map(nodes).sum::<usize>();
        self.budget = self.budget.saturating_sub(size);
        let mut scope = Scope { values: Values::new(), used: BTreeSet::new(), result, ty: helper.result.clone() };
        arguments.iter().chain(&scope.result).for_each(|a| names(a, &mut scope.used));
        let changed = self.changed(helper, body, &arguments);
        let mut all = vec![];
        for (d, argument) in helper.params.iter().zip(arguments) {
            let mut inside = BTreeSet::new();
            names(&argument, &mut inside);
            if !is_scalar(d) {
                scope.values.insert(d.name.clone(), argument);
            } else if changed.contains(&d.name) || inside.iter().any(|n| changed.contains(n)) {
                let own = Declarator { init: Some(Init::Value(argument)), ty: TypeName { constant: false, ..d.ty.clone() }, ..d.clone() };
                all.push(Stmt { kind: StmtKind::Declare(vec![scope.declare(own)]) });
            } else {
                scope.values.insert(d.name.clone(), converted(&d.ty, argument));
            }
        }
        all.extend(scope.block(body));
        self.calls.push(name.clone());
        let before = std::mem::take(&mut self.before);
        let all = self.block(&all);
        self.before = before;
        self.calls.pop();
        self.before.push(Stmt { kind: StmtKind::Block(all) });
    }

    /// Names of the function and of its caller that the function may assign.
    fn changed(&self, helper: &Helper, body: &[Stmt], arguments: &[Expr]) -> BTreeSet<Rc<str>> {
        let mut out = BTreeSet::new();
        for s in body {
            crate::sema::writes(s, &mut out);
        }
        let mut passed = BTreeSet::new();
        body.iter().for_each(|s| expressions(s, &mut |e| e.walk(&mut |x| if matches!(&x.kind, ExprKind::Call(n, _) if self.helpers.contains_key(n)) { names(x, &mut passed) })));
        out.extend(passed);
        for (d, argument) in helper.params.iter().zip(arguments) {
            if !is_scalar(d) && out.contains(&d.name) {
                names(argument, &mut out);
            }
        }
        out.retain(|n| !self.iterators.contains(n));
        out
    }
}

/// A function's text with its parameters replaced.
struct Scope {
    values: Values,
    /// Names in the arguments: the function's own variables must not hide them.
    used: BTreeSet<Rc<str>>,
    /// Where `return` puts its value, of this type.
    result: Option<Expr>,
    ty: TypeName,
}

impl Scope {
    /// A scope in which `name` stands for `value`.
    fn of(name: &Rc<str>, value: Expr) -> Scope {
        let (mut used, span) = (BTreeSet::new(), value.span);
        names(&value, &mut used);
        let ty = TypeName { scalar: None, why: None, text: String::new(), constant: false, dims: vec![], members: None, span };
        Scope { values: Values::from([(name.clone(), value)]), used, result: None, ty }
    }

    fn declare(&mut self, d: Declarator) -> Declarator {
        let mut name = d.name.clone();
        while self.used.contains(&name) {
            name = format!("{name}_").into();
        }
        self.values.insert(d.name, Expr { kind: ExprKind::Name(name.clone()), span: d.span });
        Declarator { name, ..d }
    }

    fn block(&mut self, all: &[Stmt]) -> Vec<Stmt> {
        let outer = self.values.clone();
        let all = all.iter().map(|s| self.statement(s)).collect();
        self.values = outer;
        all
    }

    fn inner(&mut self, s: &Stmt) -> Stmt {
        let outer = self.values.clone();
        let s = self.statement(s);
        self.values = outer;
        s
    }

    fn statement(&mut self, s: &Stmt) -> Stmt {
        let kind = match &s.kind {
            StmtKind::Empty | StmtKind::Poison => s.kind.clone(),
            StmtKind::Block(all) => StmtKind::Block(self.block(all)),
            StmtKind::Declare(all) => StmtKind::Declare(all.iter().map(|d| self.declarator(d)).collect()),
            StmtKind::Expr(e) => StmtKind::Expr(self.expr(e)),
            StmtKind::If(c, then, otherwise) => StmtKind::If(self.expr(c), Box::new(self.inner(then)), otherwise.as_ref().map(|s| Box::new(self.inner(s)))),
            StmtKind::Return(value) => match (value, self.result.clone()) {
                (Some(e), Some(result)) => {
                    let (value, span) = (converted(&self.ty, self.expr(e)), e.span);
                    StmtKind::Expr(Expr { kind: ExprKind::Assign(None, Box::new(result), Box::new(value)), span })
                }
                _ => StmtKind::Empty,
            },
            StmtKind::For(f) => {
                let outer = self.values.clone();
                let init = match &f.init {
                    ForInit::None => ForInit::None,
                    ForInit::Declare(all) => ForInit::Declare(all.iter().map(|d| self.declarator(d)).collect()),
                    ForInit::Expr(e) => ForInit::Expr(self.expr(e)),
                };
                let (condition, step) = (f.condition.as_ref().map(|e| self.expr(e)), f.step.as_ref().map(|e| self.expr(e)));
                let body = self.inner(&f.body);
                self.values = outer;
                StmtKind::For(Box::new(For { init, condition, step, body, header: f.header }))
            }
        };
        Stmt { kind }
    }

    fn declarator(&mut self, d: &Declarator) -> Declarator {
        let extent = |x: &crate::ast::Extent| crate::ast::Extent { size: x.size.as_ref().map(|e| self.expr(e)), span: x.span };
        let d = Declarator { dims: d.dims.iter().map(extent).collect(), init: d.init.as_ref().map(|i| self.initializer(i)), ..d.clone() };
        self.declare(d)
    }

    fn initializer(&self, init: &Init) -> Init {
        match init {
            Init::Value(e) => Init::Value(self.expr(e)),
            Init::List(all, span) => Init::List(all.iter().map(|i| self.initializer(i)).collect(), *span),
        }
    }

    fn expr(&self, e: &Expr) -> Expr {
        replaced(e, &|name| self.values.get(name).cloned())
    }
}

/// A function's value as an expression of its arguments, if it does nothing but compute it.
fn value_of_call(helper: &Helper, body: &[Stmt], arguments: &[Expr]) -> Option<Expr> {
    let mut scopes = vec![helper.params.iter().map(|d| d.name.clone()).collect::<BTreeSet<_>>()];
    let (mut free, mut own) = (BTreeSet::new(), BTreeSet::new());
    body.iter().for_each(|s| {
        free_names(s, &mut scopes, &mut free);
        declared(s, &mut own);
    });
    if helper.pointer || own.iter().any(|n| free.contains(n)) {
        return None;
    }
    let mut locals = Locals::new();
    for (d, argument) in helper.params.iter().zip(arguments) {
        let scalar = is_scalar(d) && d.ty.members.is_none();
        let value = if scalar { converted(&d.ty, argument.clone()) } else { argument.clone() };
        locals.insert(d.name.clone(), (Some(value), scalar.then(|| d.ty.clone())));
    }
    evaluate(&body.iter().collect::<Vec<_>>(), locals, &helper.result)
}

/// Value, and type if it is a scalar that may be assigned.
type Locals = BTreeMap<Rc<str>, (Option<Expr>, Option<TypeName>)>;

fn in_terms(e: &Expr, locals: &Locals) -> Option<Expr> {
    let mut unset = false;
    e.walk(&mut |x| unset |= matches!(&x.kind, ExprKind::Name(n) if locals.get(n).is_some_and(|l| l.0.is_none())));
    let value = replaced(e, &|name| locals.get(name).and_then(|l| l.0.clone()));
    (!unset && nodes(&value) <= NODES).then_some(value)
}

fn evaluate(all: &[&Stmt], mut locals: Locals, ty: &TypeName) -> Option<Expr> {
    let (first, rest) = all.split_first()?;
    match &first.kind {
        StmtKind::Return(Some(e)) if ty.scalar.is_some() && ty.members.is_none() && ty.dims.is_empty() => Some(converted(ty, in_terms(e, &locals)?)),
        StmtKind::If(c, then, otherwise) if returns(then) || otherwise.as_ref().is_some_and(|s| returns(s)) => {
            let condition = in_terms(c, &locals)?;
            let branch = |s: Option<&Stmt>| evaluate(&s.into_iter().chain(rest.iter().copied()).collect::<Vec<_>>(), locals.clone(), ty);
            let (a, b) = (branch(Some(then))?, branch(otherwise.as_deref())?);
            let span = c.span;
            let value = Expr { kind: ExprKind::Conditional(Box::new(condition), Box::new(a), Box::new(b)), span };
            (nodes(&value) <= NODES).then(|| converted(ty, value))
        }
        StmtKind::Block(inner) => evaluate(&inner.iter().chain(rest.iter().copied()).collect::<Vec<_>>(), locals, ty),
        _ => {
            execute(first, &mut locals)?;
            evaluate(rest, locals, ty)
        }
    }
}

/// Carries out a statement without `return`; `None` if it is more than assignments to scalars.
fn execute(s: &Stmt, locals: &mut Locals) -> Option<()> {
    match &s.kind {
        StmtKind::Empty => {}
        StmtKind::Block(all) => all.iter().try_for_each(|s| execute(s, locals))?,
        StmtKind::Declare(all) => {
            for d in all {
                let plain = is_scalar(d) && d.ty.members.is_none() && d.ty.scalar.is_some();
                let value = match &d.init {
                    None => None,
                    Some(Init::Value(e)) => Some(converted(&d.ty, in_terms(e, locals)?)),
                    Some(Init::List(..)) => return None,
                };
                // A variable of this name further out would be forgotten.
                if !plain || locals.insert(d.name.clone(), (value, Some(d.ty.clone()))).is_some() {
                    return None;
                }
            }
        }
        StmtKind::Expr(e) => assign(e, locals)?,
        StmtKind::If(c, then, otherwise) => {
            let condition = in_terms(c, locals)?;
            let (mut a, mut b) = (locals.clone(), locals.clone());
            execute(then, &mut a)?;
            otherwise.as_ref().map_or(Some(()), |s| execute(s, &mut b))?;
            for (name, (value, ty)) in locals.iter_mut() {
                let (x, y) = (a.get(name)?.0.clone(), b.get(name)?.0.clone());
                *value = match (x, y, ty) {
                    (Some(x), Some(y), _) if x.same(&y) => Some(x),
                    (Some(x), Some(y), Some(ty)) => {
                        let choice = ExprKind::Conditional(Box::new(condition.clone()), Box::new(x), Box::new(y));
                        Some(converted(ty, Expr { kind: choice, span: c.span }))
                    }
                    (x, y, _) => x.or(y),
                };
                if value.as_ref().is_some_and(|v| nodes(v) > NODES) {
                    return None;
                }
            }
        }
        _ => return None,
    }
    Some(())
}

fn assign(e: &Expr, locals: &mut Locals) -> Option<()> {
    let one = Expr { kind: ExprKind::Literal(1, ScalarType::I32), span: e.span };
    let (op, target, value) = match &e.kind {
        ExprKind::Assign(op, target, value) => (*op, target, &**value),
        ExprKind::Step(op, target) => (Some(*op), target, &one),
        ExprKind::Comma(a, b) => {
            assign(a, locals)?;
            return assign(b, locals);
        }
        _ => return None,
    };
    let ExprKind::Name(name) = &target.kind else { return None };
    let mut value = in_terms(value, locals)?;
    let (old, ty) = locals.get_mut(name)?;
    let ty = ty.clone()?;
    if let Some(op) = op {
        value = Expr { kind: ExprKind::Binary(op, Box::new(old.clone()?), Box::new(value)), span: e.span };
    }
    *old = Some(converted(&ty, value));
    Some(())
}

/// C's conversion of `e` to a scalar type; a structure stays as it is.
fn converted(ty: &TypeName, e: Expr) -> Expr {
    match ty.scalar.filter(|_| ty.members.is_none()) {
        Some(scalar) if !matches!(e.kind, ExprKind::Cast(own, _) | ExprKind::Literal(_, own) if own == scalar) => {
            let span = e.span;
            Expr { kind: ExprKind::Cast(scalar, Box::new(e)), span }
        }
        _ => e,
    }
}

/// `base[subscript]` where `base` may be an address.
fn element(base: Expr, subscript: Expr, span: Span) -> Expr {
    let index = |base: Expr, subscript: Expr| Expr { kind: ExprKind::Index(Box::new(base), Box::new(subscript)), span };
    if matches!(subscript.kind, ExprKind::Member(_)) {
        return index(base, subscript);
    }
    match base.kind {
        ExprKind::Address(inner) => match inner.kind {
            ExprKind::Index(array, first) if !matches!(first.kind, ExprKind::Member(_)) => element(*array, sum(Binary::Add, *first, subscript), span),
            _ if matches!(subscript.kind, ExprKind::Literal(0, _)) => Expr { span, ..*inner },
            kind => index(Expr { kind: ExprKind::Address(Box::new(Expr { kind, span: inner.span })), span: base.span }, subscript),
        },
        ExprKind::Binary(op @ (Binary::Add | Binary::Sub), array, first) if !matches!(array.kind, ExprKind::Literal(..)) => {
            let zero = matches!(subscript.kind, ExprKind::Literal(0, _));
            let offset = if op == Binary::Add && zero { *first } else { sum(op, subscript, *first) };
            element(*array, offset, span)
        }
        kind => index(Expr { kind, span: base.span }, subscript),
    }
}

fn sum(op: Binary, a: Expr, b: Expr) -> Expr {
    let zero = |e: &Expr| matches!(e.kind, ExprKind::Literal(0, _));
    match op {
        Binary::Add if zero(&a) => b,
        _ if zero(&b) => a,
        _ => {
            let span = a.span;
            Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
        }
    }
}

/// `e` with names replaced by what `value` gives.
fn replaced(e: &Expr, value: &dyn Fn(&str) -> Option<Expr>) -> Expr {
    match &e.kind {
        ExprKind::Name(name) => value(name).unwrap_or_else(|| e.clone()),
        ExprKind::Call(name, all) => Expr { kind: ExprKind::Call(name.clone(), all.iter().map(|a| replaced(a, value)).collect()), span: e.span },
        _ => with_operands(e, &mut |x| replaced(x, value)),
    }
}

fn with_operands(e: &Expr, f: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    use ExprKind::*;
    let kind = match &e.kind {
        Literal(..) | Name(_) | Member(_) | Poison => e.kind.clone(),
        Index(a, b) => Index(Box::new(f(a)), Box::new(f(b))),
        Call(name, all) => Call(name.clone(), all.iter().map(f).collect()),
        Unary(op, a) => Unary(*op, Box::new(f(a))),
        Binary(op, a, b) => Binary(*op, Box::new(f(a)), Box::new(f(b))),
        Conditional(a, b, c) => Conditional(Box::new(f(a)), Box::new(f(b)), Box::new(f(c))),
        Cast(ty, a) => Cast(*ty, Box::new(f(a))),
        Assign(op, a, b) => Assign(*op, Box::new(f(a)), Box::new(f(b))),
        Step(op, a) => Step(*op, Box::new(f(a))),
        Comma(a, b) => Comma(Box::new(f(a)), Box::new(f(b))),
        Address(a) => Address(Box::new(f(a))),
    };
    Expr { kind, span: e.span }
}

fn is_scalar(d: &Declarator) -> bool {
    d.pointer.is_none() && d.dims.is_empty() && d.ty.dims.is_empty()
}

fn counted(f: &For) -> Option<Rc<str>> {
    match &f.init {
        ForInit::Declare(all) => all.first().map(|d| d.name.clone()),
        ForInit::Expr(Expr { kind: ExprKind::Assign(_, target, _), .. }) => match &target.kind {
            ExprKind::Name(n) => Some(n.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn nodes(e: &Expr) -> usize {
    let mut count = 0;
    e.walk(&mut |_| count += 1);
    count
}

fn size(s: &Stmt) -> usize {
    let mut count = 1;
    expressions(s, &mut |e| count += nodes(e));
    count
}

fn names(e: &Expr, out: &mut BTreeSet<Rc<str>>) {
    e.walk(&mut |x| {
        if let ExprKind::Name(n) = &x.kind {
            out.insert(n.clone());
        }
    });
}

fn returns(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(all) => all.iter().any(returns),
        StmtKind::If(_, then, otherwise) => returns(then) || otherwise.as_ref().is_some_and(|s| returns(s)),
        StmtKind::For(f) => returns(&f.body),
        _ => false,
    }
}

/// Calls `visit` on every expression of a statement that stands on its own.
fn expressions(s: &Stmt, visit: &mut dyn FnMut(&Expr)) {
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
        StmtKind::Return(None) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

/// All names that a statement declares, at any depth.
fn declared(s: &Stmt, out: &mut BTreeSet<Rc<str>>) {
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

/// Names that a statement uses and that no scope declares.
fn free_names(s: &Stmt, scopes: &mut Vec<BTreeSet<Rc<str>>>, out: &mut BTreeSet<Rc<str>>) {
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
        StmtKind::Return(None) | StmtKind::Empty | StmtKind::Poison => {}
    }
}
