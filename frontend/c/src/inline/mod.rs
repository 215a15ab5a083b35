//! Inlining of the file's functions on the syntax tree.
//!
//! Problem: a static control part has no calls. Hardware for a function would need a protocol; a copy of its body does
//! not.
//!
//! Method: a function that only computes a value from its arguments becomes an expression (`value`). Any other function
//! becomes a block of statements before the statement that calls it (`scope`), with its parameters replaced by the
//! arguments: an array parameter is the caller's array, `&x` is `x`. A scalar parameter becomes a local of the block if
//! the function assigns it or may change its argument. Pointer arithmetic disappears: `*p`, `p[k]`, `(p + j)[k]` and
//! `(&A[i])[k]` become elements of the caller's array (`syntax`).
//!
//! Invariant: no name is captured. A local of the function that equals a name in an argument gets a `_`; a function
//! that uses a global which the caller hides is refused.
//!
//! Example: with `void add(int *p, int x) { *p += x; }` the call `add(&A[i], 2);` becomes `{ A[i] += 2; }`.

mod scope;
mod syntax;
mod value;

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Helper, Init, Stmt, StmtKind, TypeName, Unit};
use crate::effects::{declared, expressions, free_names, names, nodes, returns, set_names, size};
use crate::jumps::without_early_returns;
use scop::diag::{Diagnostic, Diagnostics, Span};
use scope::{Scope, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use syntax::converted;
pub(crate) use syntax::{element, with_operands};
use value::value_of_call;

/// Calls nest at most this deep.
const DEPTH: usize = 16;
/// Arguments of more nodes become variables if a function's value would repeat them too often.
const LONG: usize = 4;
/// Limit on the statements and nodes that inlining may produce.
const BUDGET: usize = 200_000;

/// The statement and the expression with `value` for `name`; inner variables that would hide a name in it are renamed.
pub(crate) fn substituted(s: &Stmt, e: &Expr, name: &Rc<str>, value: &Expr) -> (Stmt, Expr) {
    let mut scope = Scope::of(name, value.clone());
    (scope.inner(s), scope.expr(e))
}

/// Inlines all calls in the region.
pub(crate) fn inline(unit: &mut Unit) -> Diagnostics {
    let region = std::mem::take(&mut unit.region);
    let mut hidden = BTreeSet::new();
    for d in unit.function.iter().flat_map(|f| f.params.iter().chain(&f.locals)) {
        hidden.insert(d.name.clone());
    }
    region.iter().for_each(|s| declared(s, &mut hidden));
    let mut inliner = Inliner {
        helpers: &unit.helpers,
        hidden,
        iterators: vec![],
        calls: vec![],
        before: vec![],
        results: 0,
        budget: BUDGET,
        faults: vec![],
    };
    unit.region = inliner.block(&region);
    inliner.faults
}

/// How often an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// Once each time its statement is executed.
    Always,
    /// Once or not at all: in a branch of `?:`.
    Perhaps,
    /// In another way: in the header of a loop.
    Otherwise,
}

impl When {
    /// A part that may be left out.
    fn or_not(self) -> When {
        if self == When::Always {
            When::Perhaps
        } else {
            self
        }
    }
}

struct Inliner<'a> {
    helpers: &'a BTreeMap<Rc<str>, Helper>,
    /// Names that the caller declares. A function that uses a global of such a name means another variable.
    hidden: BTreeSet<Rc<str>>,
    /// Iterators of the loops around the current statement.
    iterators: Vec<Rc<str>>,
    /// The functions that are being inlined, outermost first.
    calls: Vec<Rc<str>>,
    /// Statements to insert before the current one.
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

    /// Inlines in a statement whose place takes one statement; several become a block.
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
            StmtKind::Empty | StmtKind::Poison | StmtKind::Jump(..) | StmtKind::Return(_) => s.kind.clone(),
            StmtKind::Block(all) => StmtKind::Block(self.block(all)),
            StmtKind::Declare(all) => StmtKind::Declare(all.iter().map(|d| self.declarator(d)).collect()),
            StmtKind::Expr(e) => match &e.kind {
                ExprKind::Call(name, arguments) if self.helpers.contains_key(name) => {
                    let arguments = arguments.iter().map(|a| self.expr(a, When::Always)).collect();
                    self.insert_body(name, arguments, e.span, None);
                    StmtKind::Empty
                }
                _ => StmtKind::Expr(self.expr(e, When::Always)),
            },
            StmtKind::If(c, then, otherwise) => {
                let c = self.expr(c, When::Always);
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
            ForInit::Declare(all) => ForInit::Declare(
                all.iter()
                    .map(|d| Declarator {
                        init: d.init.as_ref().map(|i| self.initializer(i, When::Otherwise)),
                        ..d.clone()
                    })
                    .collect(),
            ),
            ForInit::Expr(e) => ForInit::Expr(self.expr(e, When::Otherwise)),
        };
        let count = self.iterators.len();
        self.iterators.extend(f.iterator());
        let condition = f.condition.as_ref().map(|e| self.expr(e, When::Otherwise));
        let step = f.step.as_ref().map(|e| self.expr(e, When::Otherwise));
        let before = std::mem::take(&mut self.before);
        let body = self.single(&f.body);
        self.before = before;
        self.iterators.truncate(count);
        For { init, condition, step, body, ..f.clone() }
    }

    fn declarator(&mut self, d: &Declarator) -> Declarator {
        Declarator { init: d.init.as_ref().map(|i| self.initializer(i, When::Always)), ..d.clone() }
    }

    fn initializer(&mut self, init: &Init, when: When) -> Init {
        match init {
            Init::Value(e) => Init::Value(self.expr(e, when)),
            Init::List(all, span) => Init::List(all.iter().map(|i| self.initializer(i, when)).collect(), *span),
        }
    }

    fn expr(&mut self, e: &Expr, when: When) -> Expr {
        let kind = match &e.kind {
            ExprKind::Call(name, arguments) => {
                let given: Vec<Expr> = arguments.iter().map(|a| self.expr(a, when)).collect();
                return if self.helpers.contains_key(name) {
                    self.called(name, given, e.span, when)
                } else {
                    Expr { kind: ExprKind::Call(name.clone(), given), span: e.span }
                };
            }
            ExprKind::Index(base, subscript) => {
                return element(self.expr(base, when), self.expr(subscript, when), e.span)
            }
            ExprKind::Conditional(c, a, b) => ExprKind::Conditional(
                Box::new(self.expr(c, when)),
                Box::new(self.expr(a, when.or_not())),
                Box::new(self.expr(b, when.or_not())),
            ),
            ExprKind::Binary(op, a, b) => {
                let lazy = matches!(op, Binary::LogicalAnd | Binary::LogicalOr);
                ExprKind::Binary(
                    *op,
                    Box::new(self.expr(a, when)),
                    Box::new(self.expr(b, if lazy { when.or_not() } else { when })),
                )
            }
            _ => return with_operands(e, &mut |x| self.expr(x, when)),
        };
        Expr { kind, span: e.span }
    }

    /// The value of a call in an expression.
    fn called(&mut self, name: &Rc<str>, arguments: Vec<Expr>, span: Span, when: When) -> Expr {
        let arguments = self.completed(name, arguments);
        let Some((helper, body)) = self.enter(name, &arguments, span) else {
            return Expr { kind: ExprKind::Poison, span };
        };
        let value = value_of_call(helper, body, &arguments).or_else(|| {
            let (saved, names) = self.saved(name, helper, &arguments).filter(|_| when == When::Always)?;
            let value = value_of_call(helper, body, &names)?;
            self.before.extend(saved);
            Some(value)
        });
        if let Some(value) = value {
            self.calls.push(name.clone());
            let value = self.expr(&value, when);
            self.calls.pop();
            return Expr { span, ..value };
        }
        if when == When::Otherwise || when == When::Perhaps && !self.is_pure(name, &mut BTreeSet::new()) {
            return self.fault(
                span,
                format!("call of `{name}` in an expression that is not always evaluated"),
                "it needs statements of its own",
                "assign its result to a local variable first",
            );
        }
        if helper.pointer || (helper.result.scalar.is_none() && helper.result.why.is_some()) {
            return self.fault(
                span,
                format!("`{name}` has no result"),
                "its value is used here",
                "call it as a statement",
            );
        }
        self.results += 1;
        let result: Rc<str> =
            format!("{name}_result{}", if self.results > 1 { self.results.to_string() } else { String::new() }).into();
        let ty = TypeName { constant: false, is_static: false, ..helper.result.clone() };
        let place = Declarator { name: result.clone(), span, ..Declarator::unnamed(ty) };
        self.before.push(Stmt { kind: StmtKind::Declare(vec![place]) });
        let result = Expr { kind: ExprKind::Name(result), span };
        self.insert_body(name, arguments, span, Some(result.clone()));
        result
    }

    /// Whether a function takes and changes nothing but scalars of its own. It may run where C would not call it.
    fn is_pure(&self, name: &Rc<str>, seen: &mut BTreeSet<Rc<str>>) -> bool {
        if !seen.insert(name.clone()) {
            return true;
        }
        let Some(Helper { params, body: Ok(body), pointer: false, .. }) = self.helpers.get(name) else { return false };
        let (mut free, mut set, mut calls) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut scopes = vec![params.iter().map(|d| d.name.clone()).collect()];
        for s in body {
            free_names(s, &mut scopes, &mut free);
            set_names(s, &mut set);
            crate::effects::changed(s, &mut set);
            crate::effects::expressions(s, &mut |e| {
                e.walk(&mut |x| {
                    if let ExprKind::Call(name, _) = &x.kind {
                        calls.insert(name.clone());
                    }
                });
            });
        }
        params.iter().all(|d| d.is_scalar() && !d.reference)
            && set.is_disjoint(&free)
            && calls.iter().all(|n| !self.helpers.contains_key(n) || self.is_pure(n, seen))
            && !calls.iter().any(|n| crate::effects::is_operation(n))
    }

    /// Long scalar arguments of a call as variables, so that the function's value does not repeat them: the declarations,
    /// and the arguments with their names. `None` if no argument is long.
    fn saved(&mut self, name: &str, helper: &Helper, arguments: &[Expr]) -> Option<(Vec<Stmt>, Vec<Expr>)> {
        let is_long = |(d, e): (&Declarator, &Expr)| {
            d.is_scalar() && d.ty.members.is_none() && d.ty.scalar.is_some() && nodes(e) > LONG
        };
        if !helper.params.iter().zip(arguments).any(is_long) {
            return None;
        }
        let mut declared = vec![];
        let mut names = vec![];
        for (d, e) in helper.params.iter().zip(arguments) {
            if !is_long((d, e)) {
                names.push(e.clone());
                continue;
            }
            self.results += 1;
            let local: Rc<str> = format!("{name}_{}{}", d.name, self.results).into();
            let ty = TypeName { constant: false, ..d.ty.clone() };
            let place = Declarator { name: local.clone(), ty, init: Some(Init::Value(e.clone())), ..d.clone() };
            declared.push(Stmt { kind: StmtKind::Declare(vec![place]) });
            names.push(Expr { kind: ExprKind::Name(local), span: e.span });
        }
        Some((declared, names))
    }

    /// The function and its body, if it can be inlined here; otherwise a fault is reported.
    fn enter(&mut self, name: &Rc<str>, arguments: &[Expr], span: Span) -> Option<(&'a Helper, &'a [Stmt])> {
        let helper = self.helpers.get(name)?;
        let note = |fault: Diagnostic| fault.note(helper.span, "defined here");
        let refuse = |label: String, help: &str| {
            Some(note(Diagnostic::error("E0404", span, format!("call of `{name}`")).label(label).help(help)))
        };
        let mut free = BTreeSet::new();
        let mut scopes = vec![helper.params.iter().map(|d| d.name.clone()).collect()];
        helper.body.iter().flatten().for_each(|s| free_names(s, &mut scopes, &mut free));
        let captured = free.iter().find(|n| self.hidden.contains(*n));
        let fault = if let Err(fault) = &helper.body {
            match fault {
                Some(fault) => Some((**fault).clone().note(span, format!("`{name}` is called here"))),
                None => refuse(
                    "this function contains unsupported code, so it cannot be inlined".into(),
                    "write it with assignments, `if`, `for` and one `return` at its end",
                ),
            }
        } else if self.calls.contains(name) || self.calls.len() >= DEPTH {
            refuse("functions that call themselves cannot be inlined".into(), "write a loop")
        } else if !takes(helper, arguments.len()) {
            refuse(format!("it takes {} argument(s), {} given", helper.params.len(), arguments.len()), "check the call")
        } else if self.budget == 0 {
            refuse("inlining makes the region too large".into(), "use loops")
        } else {
            captured.and_then(|n| {
                refuse(format!("it uses the global `{n}`, which a variable of the caller hides"), "rename one of them")
            })
        };
        match fault {
            Some(fault) => {
                self.faults.push(fault);
                None
            }
            None => helper.body.as_deref().ok().map(|body| (helper, body)),
        }
    }

    /// Inserts the function's statements before the current one.
    fn insert_body(&mut self, name: &Rc<str>, arguments: Vec<Expr>, span: Span, result: Option<Expr>) {
        let arguments = self.completed(name, arguments);
        let Some((helper, body)) = self.enter(name, &arguments, span) else { return };
        let early = body.iter().rev().skip(1).any(returns)
            || body.last().is_some_and(|s| returns(s) && !matches!(s.kind, StmtKind::Return(_)));
        let structured = if early { without_early_returns(body, span, &mut self.results) } else { None };
        if early && structured.is_none() {
            let fault = Diagnostic::error("E0404", span, format!("call of `{name}`"))
                .label("a function with statements that returns early cannot be inlined");
            self.faults.push(
                fault
                    .note(helper.span, "defined here")
                    .help("end it with its only `return`; put the rest under `if` and `else`"),
            );
            return;
        }
        let body = structured.as_deref().unwrap_or(body);
        let size = body.iter().map(size).sum::<usize>() + arguments.iter().map(nodes).sum::<usize>();
        self.budget = self.budget.saturating_sub(size);
        let mut scope = Scope {
            values: Values::new(),
            locals: BTreeSet::new(),
            used: BTreeSet::new(),
            result,
            ty: helper.result.clone(),
        };
        arguments.iter().chain(&scope.result).for_each(|a| names(a, &mut scope.used));
        let changed = self.changed(helper, body, &arguments);
        let mut moved = BTreeSet::new();
        body.iter().for_each(|s| set_names(s, &mut moved));
        let mut all = vec![];
        for (d, argument) in helper.params.iter().zip(arguments) {
            let mut inside = BTreeSet::new();
            names(&argument, &mut inside);
            if d.reference
                && d.ty.constant
                && argument.element().is_some()
                && inside.iter().any(|n| changed.contains(n))
            {
                self.fault(
                    span,
                    format!("call of `{name}`"),
                    "it assigns what one of its `const` references refers to",
                    "pass that argument by value",
                );
                return;
            }
            if !d.is_scalar() && !d.reference && moved.contains(&d.name) {
                let local = Declarator { init: Some(Init::Value(argument)), ..as_pointer(d) };
                all.push(Stmt { kind: StmtKind::Declare(vec![scope.declare(local)]) });
            } else if !d.is_scalar() || d.is_variable_reference() {
                scope.values.insert(d.name.clone(), argument);
            } else if changed.contains(&d.name) || inside.iter().any(|n| changed.contains(n)) {
                let local = Declarator {
                    init: Some(Init::Value(argument)),
                    ty: TypeName { constant: false, ..d.ty.clone() },
                    ..d.clone()
                };
                all.push(Stmt { kind: StmtKind::Declare(vec![scope.declare(local)]) });
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

    /// The arguments, and the default ones that are left out.
    fn completed(&self, name: &Rc<str>, mut arguments: Vec<Expr>) -> Vec<Expr> {
        if let Some(helper) = self.helpers.get(name).filter(|h| takes(h, arguments.len())) {
            arguments.extend(helper.params[arguments.len()..].iter().filter_map(|d| d.value().cloned()));
        }
        arguments
    }

    /// Names, in the function and in its caller, that the function may assign.
    fn changed(&self, helper: &Helper, body: &[Stmt], arguments: &[Expr]) -> BTreeSet<Rc<str>> {
        let mut out = BTreeSet::new();
        for s in body {
            crate::effects::changed(s, &mut out);
        }
        let mut passed = BTreeSet::new();
        body.iter().for_each(|s| {
            expressions(s, &mut |e| {
                e.walk(&mut |x| {
                    if matches!(&x.kind, ExprKind::Call(n, _) if self.helpers.contains_key(n)) {
                        names(x, &mut passed)
                    }
                })
            })
        });
        out.extend(passed);
        for (d, argument) in helper.params.iter().zip(arguments) {
            if (!d.is_scalar() || d.is_variable_reference()) && out.contains(&d.name) {
                names(argument, &mut out);
            }
        }
        out.retain(|n| !self.iterators.contains(n));
        out
    }
}

/// Whether a function can be called with so many arguments.
fn takes(helper: &Helper, count: usize) -> bool {
    count == helper.params.len()
        || (count < helper.params.len() && helper.params[count..].iter().all(|d| d.value().is_some()))
}

/// A parameter that is an array, as the pointer that it is in C.
fn as_pointer(d: &Declarator) -> Declarator {
    match d.pointer {
        Some(_) => d.clone(),
        None => Declarator {
            pointer: Some(d.span),
            to_elements: true,
            dims: d.dims.iter().skip(1).cloned().collect(),
            ..d.clone()
        },
    }
}
