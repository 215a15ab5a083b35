//! Meaning: from the syntax tree to the [`Scop`]. Names, types, affine forms, domains, bounds checks.
//!
//! Faults are pushed to `faults`; functions that return `None` or nothing have reported why. The walk goes on after
//! a fault, so that one run shows them all. Where a statement is lowered several times (it was split by an affine
//! condition), the same fault may be pushed again: `crate::parse_text` removes repetitions.

mod access;
mod affine;
mod choice;
mod condition;
mod declare;
mod effort;
mod expr;
mod form;
mod fresh;
mod latest;
mod loops;
mod operate;
mod sizes;
mod stmt;
mod table;
mod types;
mod unroll;
mod values;

pub(crate) use types::type_of;
pub use types::{promote, spelling, usual};
pub(crate) use unroll::{mixed_strides, Strides};

use crate::ast;
use crate::ast::{Binary, Unit};
use scop::diag::{Diagnostic, Diagnostics, SourceMap, Span};
use scop::{
    Access, Affine, Array, ArrayId, Binding, Clause, Constraint, Expr, ExprKind, Function, Loop, LoopId, ScalarType,
    Scop, Size, Statement, Storage,
};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// What a name stands for.
#[derive(Clone, Debug)]
enum Entity {
    /// Index into `Sema::slots`.
    Slot(usize),
    /// Index into `Nest::iterators`.
    Iterator(usize),
    /// Bits and type.
    Constant(u64, ScalarType),
    /// Declared with something unsupported: reported when used.
    Refused(Rc<Diagnostic>),
    /// Its declaration was reported.
    Poison,
}

/// A declared array or scalar. It becomes an array of the scop when it is first used as data.
#[derive(Clone, Debug)]
struct Slot {
    name: Rc<str>,
    span: Span,
    ty: ScalarType,
    c_type: String,
    /// `None` if the extents were reported as faulty.
    dims: Option<Vec<i64>>,
    /// Over the sizes; empty if all are constant.
    extents: Vec<Affine>,
    /// The first extent is unknown: the accesses tell it.
    open: bool,
    /// A structure's members, along the last dimension.
    members: Option<Rc<[Rc<str>]>>,
    /// The elements of a small constant table, row-major: no array, but constants where it is read.
    table: Option<Arc<[u64]>>,
    storage: Storage,
    binding: Binding,
    constant: bool,
    array: Option<ArrayId>,
    /// The loop that counts it, once there was one.
    iterator: Option<Span>,
    /// Predicates further out than this need not guard its writes: those in force at its declaration.
    predicates: usize,
    /// The only writes that need a guard at all, if that is known.
    guarded: Option<BTreeSet<Span>>,
}

#[derive(Clone, Debug)]
struct Iterator {
    ty: ScalarType,
    /// Its value in the source, over the normalized iterators up to its own.
    value: Affine,
}

/// Where the walk is.
#[derive(Clone, Debug, Default)]
struct Nest {
    loops: Vec<LoopId>,
    iterators: Vec<Iterator>,
    /// Disjoint union of conjunctions over the enclosing loops; empty parts are left out.
    domain: Vec<Vec<Constraint>>,
    /// The same for the loops alone.
    around: Vec<Vec<Constraint>>,
    /// Positions of the enclosing loops among their siblings.
    beta: Vec<i64>,
}

/// A data-dependent condition around the statement at hand.
#[derive(Clone, Debug)]
enum Guard {
    Source(ast::Expr),
    /// Evaluated beforehand into this slot.
    Kept(usize),
}

/// What is stored, seen from the source.
#[derive(Clone)]
enum Stored<'a> {
    /// `= e` or `op= e`.
    Value(Option<Binary>, &'a ast::Expr),
    /// `guard ? … : …`, each side converted to the target's type before the choice.
    Choice(Guard, Box<Stored<'a>>, Box<Stored<'a>>),
    /// The element keeps its value.
    Same,
}

impl Stored<'_> {
    /// For a target that nobody reads where it would keep its value.
    fn fresh(&self) -> &Self {
        match self {
            Stored::Choice(_, stored, same) | Stored::Choice(_, same, stored) if matches!(**same, Stored::Same) => {
                stored.fresh()
            }
            _ => self,
        }
    }
}

#[derive(Clone, Debug)]
struct Predicate {
    guard: Guard,
    /// The branch taken when the guard has this value.
    polarity: bool,
}

#[derive(Clone)]
pub(crate) struct Sema {
    pub faults: Diagnostics,
    sizes: Vec<Size>,
    arrays: Vec<Array>,
    loops: Vec<Loop>,
    statements: Vec<Statement>,
    /// What each statement reads, in the order of its reads.
    sources: Vec<Vec<latest::Source>>,
    latest: latest::Latest,
    slots: Vec<Slot>,
    scopes: Vec<BTreeMap<Rc<str>, Entity>>,
    nest: Nest,
    /// Next free position at each level.
    counters: Vec<i64>,
    predicates: Vec<Predicate>,
    /// What holds in the branch of a `?:`, `&&` or `||` at hand.
    facts: Vec<values::Fact>,
    names: BTreeSet<String>,
    /// Names of globals and parameters, which keep them.
    outer: BTreeSet<Rc<str>>,
    /// Names that the region assigns: a scalar that is not among them keeps its initial value.
    assigned: BTreeSet<Rc<str>>,
    /// Names of which the region uses more than `NAME[0]`.
    beyond_first: BTreeSet<Rc<str>>,
    /// Clauses `extent(NAME, SIZE)` that no parameter has taken up yet.
    extents: Vec<Clause>,
    strides: Strides,
    /// Parts that conditions split the statement at hand into.
    parts: usize,
    /// What may still be asked about iterations.
    effort: effort::Effort,
    overfull: bool,
    /// Subscripts of tables that follow data, to be checked once all statements are known.
    positions: Vec<table::Position>,
}

/// A region may become at most so many statements.
const STATEMENTS: usize = 4096;
/// Affine conditions may split one assignment into at most so many parts.
const PARTS: usize = 256;

/// Gives the unit its meaning; `None` if faults were found. `name` is used when there is no function; loops are
/// unrolled until accesses have the `strides`.
pub(crate) fn lower(
    unit: &Unit,
    name: &str,
    sources: &SourceMap,
    clauses: &[Clause],
    strides: Strides,
) -> (Option<Scop>, Diagnostics) {
    let mut sema = Sema {
        faults: vec![],
        sizes: vec![],
        arrays: vec![],
        loops: vec![],
        statements: vec![],
        sources: vec![],
        latest: latest::Latest::default(),
        slots: vec![],
        scopes: vec![BTreeMap::new()],
        nest: Nest { domain: vec![vec![]], around: vec![vec![]], ..Nest::default() },
        counters: vec![0],
        predicates: vec![],
        facts: vec![],
        names: BTreeSet::new(),
        outer: BTreeSet::new(),
        assigned: BTreeSet::new(),
        beyond_first: BTreeSet::new(),
        extents: clauses.iter().filter(|c| c.name == "extent").cloned().collect(),
        strides,
        parts: 0,
        effort: effort::Effort::new(),
        overfull: false,
        positions: vec![],
    };
    sema.unit(unit, clauses);
    sema.close_extents();
    sema.check_positions();
    if !sema.faults.is_empty() {
        return (None, sema.faults);
    }
    if sema.statements.is_empty() {
        sema.keep_outputs(unit.region_span);
        let what = "nothing in the marked region is ever executed";
        if sema.statements.is_empty() {
            let fault = Diagnostic::error("E0206", unit.region_span, what).label("no statement assigns anything");
            return (None, vec![fault]);
        }
        let note =
            Diagnostic::warning("W0202", unit.region_span, what).label("the hardware leaves its arrays as they are");
        sema.faults.push(note);
    }
    let function = Function {
        name: unit.function.as_ref().map(|f| f.name.to_string()),
        region: unit.region_span,
        parameters: unit.function.as_ref().map_or(0, |f| f.params.len() as u32),
    };
    let Sema { arrays, loops, statements, faults, sizes, .. } = sema;
    let name = function.name.clone().unwrap_or_else(|| name.to_string());
    (
        Some(Scop {
            name,
            function,
            arrays,
            loops,
            statements,
            host: vec![],
            sizes,
            clauses: vec![],
            sources: sources.clone(),
        }),
        faults,
    )
}

impl Sema {
    /// For sizes at which nothing is left to do: stores the first element of every array that is assigned to as it is,
    /// so that the program remains one with the same arrays.
    fn keep_outputs(&mut self, span: Span) {
        let written = |a: &Array| a.storage == Storage::Dram && !a.constant && self.assigned.contains(a.name.as_str());
        for (k, array) in self.arrays.iter().enumerate().filter(|(_, a)| written(a)) {
            let first = Access {
                array: ArrayId(k as u32),
                subscripts: vec![Affine::constant(self.nest.loops.len(), 0); array.dims.len()],
                span,
            };
            let rhs = Expr { kind: ExprKind::Read(0), ty: array.ty, span };
            let beta = self.nest.beta.iter().copied().chain([self.statements.len() as i64]).collect();
            let (loops, domain, around) = (self.nest.loops.clone(), self.nest.domain.clone(), self.nest.around.clone());
            self.statements.push(Statement {
                loops,
                domain,
                around,
                beta,
                write: first.clone(),
                rhs,
                reads: vec![first],
                span,
            });
        }
    }

    fn depth(&self) -> usize {
        self.nest.iterators.len()
    }

    fn lookup(&self, name: &str) -> Option<&Entity> {
        self.scopes.iter().rev().find_map(|s| s.get(name))
    }

    fn bind(&mut self, name: &Rc<str>, entity: Entity) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.clone(), entity);
        }
    }

    fn error(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        label: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.faults.push(Diagnostic::error(code, span, message).label(label).help(help));
    }

    fn unit(&mut self, unit: &Unit, clauses: &[Clause]) {
        self.enumerators(unit);
        let mut used = BTreeSet::new();
        unit.region.iter().for_each(|s| names_in(s, &mut used));
        for s in &unit.region {
            crate::effects::assigned(s, &mut self.assigned);
            crate::effects::expressions(s, &mut |e| beyond_first(e, &mut self.beyond_first));
        }
        for d in &unit.globals {
            self.declare_outside(d, Storage::Dram, Binding::Global, &used);
        }
        self.scopes.push(BTreeMap::new());
        if let Some(function) = &unit.function {
            self.sizes(&function.params, clauses);
            for (k, d) in function
                .params
                .iter()
                .enumerate()
                .filter(|(k, _)| !self.sizes.iter().any(|s| s.parameter as usize == *k))
                .collect::<Vec<_>>()
            {
                self.parameter(d, k as u32);
            }
            self.scopes.push(BTreeMap::new());
            for d in &function.locals {
                self.declare_outside(d, Storage::Local, Binding::Local, &used);
            }
        }
        for clause in std::mem::take(&mut self.extents) {
            let what = format!("`{}` is not a parameter that leaves its first extent open", clause.values[0]);
            self.error(
                "E0105",
                clause.span,
                what,
                "`extent` says how many elements such a parameter has",
                "for example `int *A` or `int A[][8]`; otherwise leave the clause out",
            );
        }
        self.forget_fresh(&unit.region);
        self.scopes.push(BTreeMap::new());
        self.statements(&unit.region);
    }
}

/// Names that `e` contains otherwise than as `NAME[0]`.
fn beyond_first(e: &ast::Expr, out: &mut BTreeSet<Rc<str>>) {
    match &e.kind {
        ast::ExprKind::Index(base, at)
            if matches!((&base.kind, &at.kind), (ast::ExprKind::Name(_), ast::ExprKind::Literal(0, _))) => {}
        ast::ExprKind::Name(name) => drop(out.insert(name.clone())),
        _ => e.operands().into_iter().for_each(|x| beyond_first(x, out)),
    }
}

/// All identifiers in a statement.
fn names_in(statement: &ast::Stmt, out: &mut BTreeSet<Rc<str>>) {
    let mut add = |e: &ast::Expr| {
        e.walk(&mut |x| {
            if let ast::ExprKind::Name(n) = &x.kind {
                out.insert(n.clone());
            }
        })
    };
    match &statement.kind {
        ast::StmtKind::Declare(all) => all.iter().for_each(|d| initial_names(d, &mut add)),
        ast::StmtKind::Expr(e) => add(e),
        ast::StmtKind::If(c, then, otherwise) => {
            add(c);
            names_in(then, out);
            if let Some(s) = otherwise {
                names_in(s, out);
            }
        }
        ast::StmtKind::For(f) => {
            match &f.init {
                ast::ForInit::Expr(e) => add(e),
                ast::ForInit::Declare(all) => all.iter().for_each(|d| initial_names(d, &mut add)),
                ast::ForInit::None => {}
            }
            f.condition.iter().chain(&f.step).for_each(&mut add);
            names_in(&f.body, out);
        }
        ast::StmtKind::Block(all) => all.iter().for_each(|s| names_in(s, out)),
        ast::StmtKind::Return(_) | ast::StmtKind::Empty | ast::StmtKind::Poison => {}
    }
}

fn initial_names(d: &ast::Declarator, add: &mut dyn FnMut(&ast::Expr)) {
    fn walk(init: &ast::Init, add: &mut dyn FnMut(&ast::Expr)) {
        match init {
            ast::Init::Value(e) => add(e),
            ast::Init::List(all, _) => all.iter().for_each(|i| walk(i, add)),
        }
    }
    d.dims.iter().filter_map(|x| x.size.as_ref()).for_each(&mut *add);
    d.init.iter().for_each(|i| walk(i, add));
}
