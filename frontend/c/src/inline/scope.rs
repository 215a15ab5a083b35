//! A copy of a function's body with its parameters replaced. Locals that would capture a name in an argument are
//! renamed.

use super::syntax::{converted, replaced};
use crate::ast::{Declarator, Expr, ExprKind, Extent, For, ForInit, Init, Stmt, StmtKind, TypeName};
use crate::effects::names;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Values of the names of a function that is being inlined.
pub(super) type Values = BTreeMap<Rc<str>, Expr>;

pub(super) struct Scope {
    pub values: Values,
    /// Names in the function that are its locals.
    pub locals: BTreeSet<Rc<str>>,
    /// Names in the arguments: locals of the function must not hide them.
    pub used: BTreeSet<Rc<str>>,
    /// The variable for the value of `return`.
    pub result: Option<Expr>,
    /// The type of that value.
    pub ty: TypeName,
}

impl Scope {
    /// A scope that replaces `name` by `value`.
    pub fn of(name: &Rc<str>, value: Expr) -> Scope {
        let (mut used, span) = (BTreeSet::new(), value.span);
        names(&value, &mut used);
        let ty = TypeName::unknown(span);
        Scope { values: Values::from([(name.clone(), value)]), locals: BTreeSet::new(), used, result: None, ty }
    }

    pub fn declare(&mut self, d: Declarator) -> Declarator {
        let mut name = d.name.clone();
        while self.used.contains(&name) {
            name = format!("{name}_").into();
        }
        self.locals.insert(d.name.clone());
        self.values.insert(d.name, Expr { kind: ExprKind::Name(name.clone()), span: d.span });
        Declarator { name, ..d }
    }

    pub fn block(&mut self, all: &[Stmt]) -> Vec<Stmt> {
        let outer = self.values.clone();
        let all = all.iter().map(|s| self.statement(s)).collect();
        self.values = outer;
        all
    }

    pub fn inner(&mut self, s: &Stmt) -> Stmt {
        let outer = self.values.clone();
        let s = self.statement(s);
        self.values = outer;
        s
    }

    fn statement(&mut self, s: &Stmt) -> Stmt {
        let kind = match &s.kind {
            StmtKind::Empty | StmtKind::Jump(..) | StmtKind::Poison => s.kind.clone(),
            StmtKind::Block(all) => StmtKind::Block(self.block(all)),
            StmtKind::Declare(all) => StmtKind::Declare(all.iter().map(|d| self.declarator(d)).collect()),
            StmtKind::Expr(e) => StmtKind::Expr(self.expr(e)),
            StmtKind::If(c, then, otherwise) => StmtKind::If(
                self.expr(c),
                Box::new(self.inner(then)),
                otherwise.as_ref().map(|s| Box::new(self.inner(s))),
            ),
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
                let (condition, step) =
                    (f.condition.as_ref().map(|e| self.expr(e)), f.step.as_ref().map(|e| self.expr(e)));
                let body = self.inner(&f.body);
                self.values = outer;
                StmtKind::For(Box::new(For { init, condition, step, body, ..(**f).clone() }))
            }
        };
        Stmt { kind }
    }

    fn declarator(&mut self, d: &Declarator) -> Declarator {
        let extent = |x: &Extent| Extent { size: x.size.as_ref().map(|e| self.expr(e)), span: x.span };
        let d = Declarator {
            dims: d.dims.iter().map(extent).collect(),
            init: d.init.as_ref().map(|i| self.initializer(i)),
            ..d.clone()
        };
        self.declare(d)
    }

    fn initializer(&self, init: &Init) -> Init {
        match init {
            Init::Value(e) => Init::Value(self.expr(e)),
            Init::List(all, span) => Init::List(all.iter().map(|i| self.initializer(i)).collect(), *span),
        }
    }

    pub fn expr(&self, e: &Expr) -> Expr {
        let value = |name: &str, at| {
            let value = self.values.get(name)?.clone();
            // A local is used here; an argument keeps its place in the call.
            Some(if self.locals.contains(name) { Expr { span: at, ..value } } else { value })
        };
        replaced(e, &value)
    }
}
