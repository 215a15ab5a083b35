//! Semantic analysis: from the syntax tree to the [`Scop`]. Names, types, affine forms, domains, bounds checks.
//!
//! One walk over the region keeps the loop nest with its domain, the scopes, and the predicates of enclosing `if`s, and
//! emits a statement of the scop per assignment. By subject:
//! - names: `declare`, `initialize`, `sizes` (parameters with a maximum), `table` (constant tables);
//! - iterations: `header` and `loops` (normalization), `unroll`, `condition`, `split` (index-set splitting), `affine`
//!   over `form`, `effort` (work limit);
//! - statements: `stmt`, `choice` (if-conversion), `guards` (conditional writes without guard), `expr` over `operate`
//!   and `types`, `access` (bounds);
//! - ranges of values: `values` over `reaching` (reaching definitions).
//!
//! Faults are pushed to `faults`; a function that returns `None` or nothing has reported the reason. The walk continues
//! after a fault, so one run shows all. A statement that is lowered several times (because its domain was split) may
//! push a fault again; the driver removes repetitions.

mod access;
mod affine;
mod choice;
mod condition;
mod declare;
mod effort;
mod expr;
mod extents;
mod form;
mod guards;
mod header;
mod initialize;
mod reaching;
mod rows;
mod lifetime;
mod loops;
mod members;
mod operate;
mod sizes;
mod split;
mod stmt;
mod table;
mod tabulate;
mod types;
mod unroll;
mod values;
mod width;

pub(crate) use rows::{flat_rows, Rows};
pub(crate) use sizes::LARGEST_SIZE;
pub(crate) use types::type_of;
pub use types::{promote, spelling, usual};
pub(crate) use unroll::{mixed_strides, Strides};
pub(crate) use width::conversion;
pub use width::{c_spelling, in_cell};

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

/// The meaning of a name.
#[derive(Clone, Debug)]
enum Entity {
    /// Index into `Sema::slots`.
    Slot(usize),
    /// Index into `Nest::iterators`.
    Iterator(usize),
    /// Bits and type.
    Constant(u64, ScalarType),
    /// Its declaration is not supported: reported where it is used.
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
    /// The first extent is unknown; the accesses determine it.
    open: bool,
    /// The members of a structure; they are the last dimension.
    members: Option<Rc<[Rc<str>]>>,
    /// The width of its values, if they are integers of any width.
    width: Option<ast::AnyWidth>,
    /// The elements of a small constant table, row-major. Such a table is no array: its reads become constants.
    table: Option<Arc<[u64]>>,
    storage: Storage,
    binding: Binding,
    constant: bool,
    array: Option<ArrayId>,
    /// The last loop whose iterator it was.
    iterator: Option<Span>,
    /// Declared `static`: it has a value before its declaration is reached.
    keeps_value: bool,
    /// Its initializer gives it no value but zero.
    begins_as_zero: bool,
    /// The number of predicates around its declaration; they need not guard its writes.
    predicates: usize,
    /// The number of loops around its declaration.
    lifetime: usize,
    /// The writes that need guards, if `guards` could decide it.
    guarded: Option<BTreeSet<Span>>,
}

#[derive(Clone, Debug)]
struct Iterator {
    /// The type of its value in expressions.
    ty: ScalarType,
    /// Width and sign of its variable, if that is an integer of any width.
    width: Option<(ast::AnyWidth, bool)>,
    /// Its value in the source, over the normalized iterators up to its own.
    value: Affine,
}

/// The loop nest around the current statement.
#[derive(Clone, Debug, Default)]
struct Nest {
    loops: Vec<LoopId>,
    iterators: Vec<Iterator>,
    /// Disjoint union of conjunctions over the enclosing loops; empty parts are left out.
    domain: Vec<Vec<Constraint>>,
    /// The same without the conditions around the statement.
    around: Vec<Vec<Constraint>>,
    /// Positions of the enclosing loops among their siblings.
    beta: Vec<i64>,
}

/// A data-dependent condition around the current statement.
#[derive(Clone, Debug)]
enum Guard {
    Source(ast::Expr),
    /// Saved in this slot before.
    Saved(usize),
}

/// The stored value, in terms of the source.
#[derive(Clone)]
enum Stored<'a> {
    /// `= e` or `op= e`.
    Value(Option<Binary>, &'a ast::Expr),
    /// `guard ? … : …`, each side converted to the target's type before the choice.
    Choice(Guard, Box<Stored<'a>>, Box<Stored<'a>>),
    /// The element keeps its value.
    Old,
}

impl Stored<'_> {
    /// Without selections that keep the old value: for a write that needs no guard.
    fn without_old(&self) -> &Self {
        match self {
            Stored::Choice(_, stored, same) | Stored::Choice(_, same, stored) if matches!(**same, Stored::Old) => {
                stored.without_old()
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

#[derive(Clone, Default)]
pub(crate) struct Sema {
    pub faults: Diagnostics,
    sizes: Vec<Size>,
    arrays: Vec<Array>,
    loops: Vec<Loop>,
    statements: Vec<Statement>,
    /// The sources of each statement's reads.
    sources: Vec<Vec<reaching::Source>>,
    reaching: reaching::Reaching,
    slots: Vec<Slot>,
    scopes: Vec<BTreeMap<Rc<str>, Entity>>,
    nest: Nest,
    /// Next free position at each level.
    counters: Vec<i64>,
    predicates: Vec<Predicate>,
    /// Conditions that hold in the current branch of `?:`, `&&` or `||`.
    facts: Vec<values::Fact>,
    /// The arrays of values of any width.
    widths: BTreeMap<ArrayId, ast::AnyWidth>,
    names: BTreeSet<String>,
    /// Names of globals and parameters; locals are renamed if they collide.
    outer: BTreeSet<Rc<str>>,
    /// Names that the region assigns; any other scalar has its initial value throughout.
    assigned: BTreeSet<Rc<str>>,
    /// Variables to which the region assigns values that depend on array elements.
    from_data: BTreeSet<Rc<str>>,
    /// Names that the region uses otherwise than as `NAME[0]`.
    more_than_first: BTreeSet<Rc<str>>,
    /// Places of the variables of functions that are inputs; see [`Unit::inputs`].
    inputs: BTreeSet<Span>,
    /// Positions of the function's parameters and of the scalars around the region that are passed like them, so far.
    parameters: u32,
    /// Clauses `extent(NAME, SIZE)` that no parameter has used yet.
    extents: Vec<Clause>,
    strides: Strides,
    rows: Rows,
    /// Number of splits of the current statement.
    parts: usize,
    /// Work left for questions about iterations.
    effort: effort::Effort,
    overfull: bool,
    /// Data-dependent subscripts of tables, checked after the last statement.
    positions: Vec<table::Position>,
}

/// Limit on the statements of a region: an array of so many takes half a minute and 1 GB.
const STATEMENTS: usize = 1200;

/// Lowers the unit to a scop; `None` if faults were found. `name` is the scop's name if there is no function. Loops are
/// unrolled until accesses have the given `strides`, or strip-mined by `rows`.
pub(crate) fn lower(
    unit: &Unit,
    name: &str,
    sources: &SourceMap,
    clauses: &[Clause],
    (strides, rows): (Strides, Rows),
) -> (Option<Scop>, Diagnostics) {
    let mut sema = Sema {
        scopes: vec![BTreeMap::new()],
        nest: Nest { domain: vec![vec![]], around: vec![vec![]], ..Nest::default() },
        counters: vec![0],
        extents: clauses.iter().filter(|c| c.name == "extent").cloned().collect(),
        strides,
        rows,
        ..Sema::default()
    };
    sema.unit(unit, clauses);
    sema.close_extents();
    sema.check_positions();
    sema.tabulate();
    sema.check_lifetimes();
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
    if sema.statements.iter().all(|s| sema.arrays[s.write.array.index()].is_temporary()) {
        return (None, vec![no_result(unit, &sema)]);
    }
    let function = Function {
        name: unit.function.as_ref().map(|f| f.name.to_string()),
        region: unit.region_span,
        parameters: unit.function.as_ref().map_or(0, |f| f.params.len() as u32),
    };
    let Sema { arrays, loops, statements, faults, sizes, .. } = sema;
    let name = function.name.clone().unwrap_or_else(|| name.to_string());
    let sources = sources.clone();
    (Some(Scop { name, function, arrays, loops, statements, sizes, sources, ..Scop::default() }), faults)
}

/// The fault of a region all of whose results are lost.
fn no_result(unit: &Unit, sema: &Sema) -> Diagnostic {
    let last = sema.statements.iter().map(|s| s.write.array).next_back().map(|a| &sema.arrays[a.index()]);
    let name = last.map_or("the result", |a| a.name.as_str());
    let fault = Diagnostic::error("E0503", unit.region_span, "no result leaves the marked region");
    fault.label("it assigns nothing but local variables, which nobody uses after it").help(format!(
        "store the result in an array that is a parameter or global, such as `result[0] = {name};`, or use it after the \
        region in the same function, such as `return {name};` after `#pragma endscop`"
    ))
}

impl Sema {
    /// For a region that never executes a statement (at these sizes): copies the first element of every output array to
    /// itself, so that the scop has the same arrays.
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
        self.inputs.clone_from(&unit.inputs);
        let mut used = BTreeSet::new();

        for s in &unit.region {
            crate::effects::expressions(s, &mut |e| crate::effects::names(e, &mut used));
            crate::effects::assigned(s, &mut self.assigned);
            crate::effects::expressions(s, &mut |e| more_than_first(e, &mut self.more_than_first));
        }
        self.from_data = crate::effects::from_data(&unit.region);
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
                self.parameter(d, k as u32, &used);
            }
            self.scopes.push(BTreeMap::new());
            self.parameters = function.params.len() as u32;
            for d in &function.locals {
                let (storage, binding) = self.lives_in(d);
                self.declare_outside(d, storage, binding, &used);
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
        self.find_guards(&unit.region);
        self.scopes.push(BTreeMap::new());
        self.statements(&unit.region);
    }
}

/// Collects the names in `e` that occur otherwise than as `NAME[0]`.
fn more_than_first(e: &ast::Expr, out: &mut BTreeSet<Rc<str>>) {
    match &e.kind {
        ast::ExprKind::Index(base, at)
            if matches!((&base.kind, &at.kind), (ast::ExprKind::Name(_), ast::ExprKind::Literal(0, _))) => {}
        ast::ExprKind::Name(name) => drop(out.insert(name.clone())),
        _ => e.operands().into_iter().for_each(|x| more_than_first(x, out)),
    }
}
