//! `continue`, `break` and `switch` as `if` and `else`, early `return` as well.
//!
//! Problem: the stages behind the parser know structured control only.
//!
//! Method: a jump leaves out the rest of the statements up to the end of a block. So that rest moves into the branch
//! that does not jump: `if (c) continue; rest` becomes `if (c) {} else rest`. If several branches reach the rest, a
//! variable says whether one did: `go = 1; if (c) { if (d) go = 0; else a } if (go) rest`. A `switch` becomes a chain of
//! `if`, whose cases end in `break`.
//!
//! `break` ends a loop before its count is complete: `for (…) { if (c) break; rest }` becomes `go = 1; for (…) if (go)
//! { if (c) go = 0; else rest }`. Then the iterator has no known value behind the loop (`For::may_break`).

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, Init, Jump, LoopKind, Stmt, StmtKind, TypeName};
use crate::effects::{declared, free_names, names, returns};
use scop::diag::Span;
use scop::ScalarType;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Removes jumps of one kind.
struct Escape<'a> {
    /// What stands for a jump: its statements, or `None` if the jump remains.
    meaning: &'a dyn Fn(&Stmt) -> Option<Vec<Stmt>>,
    /// A new variable that is 1 until a jump.
    go: &'a mut dyn FnMut() -> Declarator,
}

/// The body of a function such that no statement follows a `return` that was executed; `None` for a `return` in a loop.
/// `count` numbers new variables.
pub(crate) fn without_early_returns(body: &[Stmt], span: Span, count: &mut usize) -> Option<Vec<Stmt>> {
    if body.iter().any(|s| any(s, &|s| matches!(&s.kind, StmtKind::For(f) if returns(&f.body)))) {
        return None;
    }
    let mut go = || {
        *count += 1;
        flag(format!("return__{count}").into(), span)
    };
    let meaning = |s: &Stmt| matches!(s.kind, StmtKind::Return(_)).then(|| vec![s.clone()]);
    Some(Escape { meaning: &meaning, go: &mut go }.statements(body.to_vec()))
}

/// A variable that is 1 at first.
fn flag(name: Rc<str>, span: Span) -> Declarator {
    let ty = TypeName { scalar: Some(ScalarType::I32), text: "int".into(), ..TypeName::unknown(span) };
    Declarator { name, span, init: Some(Init::Value(number(1, span))), ..Declarator::unnamed(ty) }
}

/// `go = 0;`
fn stopped(go: &Declarator) -> Stmt {
    let kind = ExprKind::Assign(None, Box::new(named(go)), Box::new(number(0, go.span)));
    Stmt { kind: StmtKind::Expr(Expr { kind, span: go.span }) }
}

fn block(all: Vec<Stmt>) -> Stmt {
    Stmt { kind: StmtKind::Block(all) }
}

impl Escape<'_> {
    fn jumps(&self, s: &Stmt) -> bool {
        any(s, &|s| (self.meaning)(s).is_some())
    }

    /// The statements without jumps.
    fn statements(&mut self, all: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = vec![];
        let mut rest = all.into_iter();
        while let Some(s) = rest.next() {
            if let Some(instead) = (self.meaning)(&s) {
                out.extend(instead);
                return out;
            }
            if self.jumps(&s) {
                out.extend(self.followed(s, rest.collect()));
                return out;
            }
            out.push(s);
        }
        out
    }

    /// A statement that jumps, and what follows it.
    fn followed(&mut self, s: Stmt, rest: Vec<Stmt>) -> Vec<Stmt> {
        let StmtKind::If(c, then, otherwise) = s.kind else {
            let StmtKind::Block(all) = s.kind else { return vec![s] };
            return self.flagged(rest, |escape| block(escape.statements(all)));
        };
        let (then, otherwise) = (listed(*then), otherwise.map_or(vec![], |s| listed(*s)));
        let choice = |then, otherwise: Vec<Stmt>| {
            let otherwise = (!otherwise.is_empty()).then(|| Box::new(block(otherwise)));
            Stmt { kind: StmtKind::If(c, Box::new(block(then)), otherwise) }
        };
        let rest = if all_pass(&then) || all_pass(&otherwise) { rest } else { vec![] };
        // The rest moves into the only branch that reaches it, if that jumps nowhere and hides no name.
        let joins = |a: &[Stmt], b: &[Stmt]| !a.iter().any(|s| self.jumps(s)) && !all_pass(b) && !hides(a, &rest);
        if joins(&otherwise, &then) {
            let then = self.statements(then);
            return vec![choice(then, [otherwise, self.statements(rest)].concat())];
        }
        if joins(&then, &otherwise) {
            let otherwise = self.statements(otherwise);
            return vec![choice([then, self.statements(rest)].concat(), otherwise)];
        }
        self.flagged(rest, |escape| {
            let then = escape.statements(then);
            choice(then, escape.statements(otherwise))
        })
    }

    /// A statement that jumps, made by `first`, and what follows it if it does not jump.
    fn flagged(&mut self, rest: Vec<Stmt>, first: impl FnOnce(&mut Escape) -> Stmt) -> Vec<Stmt> {
        if rest.is_empty() {
            return vec![first(self)];
        }
        let go = (self.go)();
        let meaning = |s: &Stmt| (self.meaning)(s).map(|all| [all, vec![stopped(&go)]].concat());
        let first = first(&mut Escape { meaning: &meaning, go: self.go });
        let rest = block(self.statements(rest));
        let rest = Stmt { kind: StmtKind::If(named(&go), Box::new(rest), None) };
        vec![Stmt { kind: StmtKind::Declare(vec![go]) }, first, rest]
    }
}

/// Whether `first` declares a name that `rest` uses.
fn hides(first: &[Stmt], rest: &[Stmt]) -> bool {
    let (mut hidden, mut used, mut scopes) = (BTreeSet::new(), BTreeSet::new(), vec![BTreeSet::new()]);
    first.iter().for_each(|s| declared(s, &mut hidden));
    rest.iter().for_each(|s| free_names(s, &mut scopes, &mut used));
    hidden.iter().any(|name| used.contains(name))
}

fn listed(s: Stmt) -> Vec<Stmt> {
    match s.kind {
        StmtKind::Block(all) => all,
        kind => vec![Stmt { kind }],
    }
}

/// Whether the condition holds for the statement, or for one in its branches and blocks.
fn any(s: &Stmt, condition: &dyn Fn(&Stmt) -> bool) -> bool {
    condition(s)
        || match &s.kind {
            StmtKind::Block(all) => all.iter().any(|s| any(s, condition)),
            StmtKind::If(_, then, otherwise) => {
                any(then, condition) || otherwise.as_ref().is_some_and(|s| any(s, condition))
            }
            _ => false,
        }
}

/// Whether control may reach the end of the statement.
fn passes(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Jump(..) | StmtKind::Return(_) => false,
        StmtKind::Block(all) => all_pass(all),
        StmtKind::If(_, then, Some(otherwise)) => passes(then) || passes(otherwise),
        _ => true,
    }
}

pub(crate) fn all_pass(all: &[Stmt]) -> bool {
    all.iter().all(passes)
}

/// The place of a jump of a kind in a statement, outside of loops.
fn place(s: &Stmt, which: Jump) -> Option<Span> {
    match &s.kind {
        StmtKind::Jump(jump, span) => (*jump == which).then_some(*span),
        StmtKind::Block(all) => all.iter().find_map(|s| place(s, which)),
        StmtKind::If(_, then, otherwise) => {
            place(then, which).or_else(|| otherwise.as_ref().and_then(|s| place(s, which)))
        }
        _ => None,
    }
}

/// The loop without `continue` and `break` in its body; `next` makes names. `Err`: a `break` that remains, and its place.
pub(crate) fn without_jumps(mut f: For, next: &mut dyn FnMut() -> Rc<str>) -> Result<StmtKind, Span> {
    let leaves = place(&f.body, Jump::Break);
    let Some(span) = leaves.or(place(&f.body, Jump::Continue)) else { return Ok(StmtKind::For(Box::new(f))) };
    if leaves.is_some() && !steps_iterator_only(&f) {
        return Err(span);
    }
    let mut new = || flag(next(), span);
    let go = leaves.map(|_| new());
    let meaning = |s: &Stmt| match &s.kind {
        StmtKind::Jump(Jump::Continue, _) => Some(vec![]),
        StmtKind::Jump(Jump::Break, _) => Some(go.iter().map(stopped).collect()),
        _ => None,
    };
    f.body = block(Escape { meaning: &meaning, go: &mut new }.statements(listed(f.body)));
    let Some(go) = go else { return Ok(StmtKind::For(Box::new(f))) };
    f.body = Stmt { kind: StmtKind::If(named(&go), Box::new(f.body), None) };
    f.may_break = true;
    let declare = Stmt { kind: StmtKind::Declare(vec![go]) };
    Ok(StmtKind::Block(vec![declare, Stmt { kind: StmtKind::For(Box::new(f)) }]))
}

/// One case of a `switch`.
pub(crate) struct Case {
    /// Its values; the default has none.
    pub values: Vec<Expr>,
    pub is_default: bool,
    pub body: Vec<Stmt>,
}

/// Whether the loop's header changes nothing but the iterator that it sets. Otherwise a `break` would leave out a step
/// of another variable.
fn steps_iterator_only(f: &For) -> bool {
    let mut set = BTreeSet::new();
    for e in f.condition.iter().chain(&f.step) {
        e.walk(&mut |x| {
            if let ExprKind::Assign(_, target, _) | ExprKind::Step(_, target) = &x.kind {
                names(target, &mut set);
            }
            if let ExprKind::Call(name, _) = &x.kind {
                set.insert(name.clone());
            }
        });
    }
    f.kind == LoopKind::For && set.len() == 1 && set.first() == f.iterator().as_ref()
}

fn named(d: &Declarator) -> Expr {
    Expr { kind: ExprKind::Name(d.name.clone()), span: d.span }
}

fn number(n: u64, span: Span) -> Expr {
    Expr { kind: ExprKind::Literal(n, ScalarType::I32), span }
}

/// The cases as a chain of `if`, the default last.
pub(crate) fn chained(e: &Expr, mut cases: Vec<Case>, span: Span, next: &mut dyn FnMut() -> Rc<str>) -> StmtKind {
    let go = &mut || flag(next(), span);
    let meaning = |s: &Stmt| matches!(s.kind, StmtKind::Jump(Jump::Break, _)).then(Vec::new);
    let mut escape = Escape { meaning: &meaning, go };
    let is_one = |v: Expr| {
        let span = v.span;
        Expr { kind: ExprKind::Binary(Binary::Eq, Box::new(e.clone()), Box::new(v)), span }
    };
    let either = |a: Expr, b: Expr| {
        let span = a.span;
        Expr { kind: ExprKind::Binary(Binary::LogicalOr, Box::new(a), Box::new(b)), span }
    };
    cases.sort_by_key(|case| case.is_default);
    let mut chain = None;
    for case in cases.into_iter().rev() {
        let body = block(escape.statements(case.body));
        chain = match case.values.into_iter().map(is_one).reduce(either) {
            Some(condition) if !case.is_default => {
                Some(Stmt { kind: StmtKind::If(condition, Box::new(body), chain.map(Box::new)) })
            }
            _ => Some(body),
        };
    }
    chain.map_or(StmtKind::Empty, |s| s.kind)
}
