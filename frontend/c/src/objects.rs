//! Operations on whole objects: `sizeof` becomes a number, `memcpy`, `memmove` and `memset` become loops of assignments.
//!
//! The elements that an operation covers are a *run*: the elements of a (sub-)array from an offset on, in memory order.
//! Example, with `int a[8][4], b[32]`: `memcpy(a, b, sizeof a)` becomes
//! `for (copy0 < 8) for (copy1 < 4) a[copy0][copy1] = b[4 * copy0 + copy1]`.

use crate::ast::{
    Binary, Declarator, Expr, ExprKind, For, ForInit, Init, LoopKind, Stmt, StmtKind, TypeName, Unary, Unit,
};
use crate::effects::{expressions, is_operation, names};
use crate::inline::with_operands;
use scop::diag::{Diagnostic, Diagnostics, Span};
use scop::literal::int;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Replaces the operations in the region. Called after inlining.
pub(crate) fn replace(unit: &mut Unit) -> Diagnostics {
    let mut found = false;
    let of_interest = |x: &Expr| match &x.kind {
        ExprKind::SizeOf(_) => true,
        ExprKind::Call(name, _) => is_operation(name),
        _ => false,
    };
    let mut used = BTreeSet::new();
    let locals = unit.function.iter().flat_map(|f| &f.locals).cloned().collect();
    for s in unit.region.iter().chain([&Stmt { kind: StmtKind::Declare(locals) }]) {
        expressions(s, &mut |e| {
            e.walk(&mut |x| found |= of_interest(x));
            names(e, &mut used);
        });
    }
    if !found {
        return vec![];
    }
    let mut walk = Walk { scopes: vec![BTreeMap::new()], constants: BTreeMap::new(), used, faults: vec![] };
    walk.enumerators(&unit.enumerators);
    unit.globals.iter().for_each(|d| walk.declare(d, false));
    if let Some(function) = &mut unit.function {
        walk.scopes.push(BTreeMap::new());
        function.params.iter().for_each(|d| walk.declare(d, true));
        walk.scopes.push(BTreeMap::new());
        function.locals.iter_mut().for_each(|d| walk.declarator(d));
    }
    walk.block(&mut unit.region);
    walk.faults
}

/// A variable: its element type, the number of members if that is a structure, and its extents (`None` if unknown).
#[derive(Clone, Debug)]
struct Shape {
    ty: ScalarType,
    members: Option<usize>,
    dims: Vec<Option<i64>>,
    /// A parameter: the whole of it is a pointer.
    parameter: bool,
}

impl Shape {
    fn element_bytes(&self) -> i64 {
        i64::from(self.ty.bytes()) * self.members.unwrap_or(1) as i64
    }
}

/// Elements in memory order: those of the sub-array at `subscripts`, from its element `offset` on.
struct Run<'a> {
    name: &'a Expr,
    subscripts: Vec<&'a Expr>,
    offset: Option<Expr>,
    shape: Shape,
}

impl Run<'_> {
    /// The extents below the subscripts.
    fn dims(&self) -> &[Option<i64>] {
        &self.shape.dims[self.subscripts.len()..]
    }

    /// The extents of `count` elements: the outermost one may be a part of the array's.
    fn extents(&self, count: i64) -> Option<Vec<i64>> {
        let Some((_, inner)) = self.dims().split_first() else { return (count == 1).then(Vec::new) };
        let inner: Vec<i64> = inner.iter().copied().collect::<Option<_>>()?;
        let row: i64 = inner.iter().product();
        (count % row == 0).then(|| [vec![count / row], inner].concat())
    }

    /// Widens the run to the array around it, if it starts there and is longer than the rest of its row.
    fn widen(&mut self, count: i64) {
        let at_start =
            |offset: &Option<Expr>| offset.as_ref().is_none_or(|e| matches!(e.kind, ExprKind::Literal(0, _)));
        loop {
            let known: Option<i64> = self.dims().iter().copied().product();
            let longer = known.is_some_and(|n| count > n);
            if !longer || !at_start(&self.offset) || self.subscripts.is_empty() {
                return;
            }
            self.offset = self.subscripts.pop().cloned();
        }
    }

    /// The element that the counters number.
    fn element(&self, counters: &[Expr], span: Span) -> Expr {
        let mut all: Vec<Expr> = self.subscripts.iter().map(|e| (*e).clone()).collect();
        for (k, counter) in counters.iter().enumerate() {
            all.push(match &self.offset {
                Some(offset) if k == 0 => binary(Binary::Add, offset.clone(), counter.clone(), span),
                _ => counter.clone(),
            });
        }
        if counters.is_empty() && !self.dims().is_empty() {
            all.push(self.offset.clone().unwrap_or_else(|| literal(0, span)));
        }
        all.into_iter().fold(Expr { span, ..self.name.clone() }, |base, subscript| Expr {
            kind: ExprKind::Index(Box::new(base), Box::new(subscript)),
            span,
        })
    }
}

fn binary(op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

fn literal(n: i64, span: Span) -> Expr {
    let negative = n < 0;
    let ty = if i32::try_from(n).is_ok() { ScalarType::I32 } else { int(64, true) };
    let number = Expr { kind: ExprKind::Literal(n.unsigned_abs(), ty), span };
    if negative {
        Expr { kind: ExprKind::Unary(Unary::Neg, Box::new(number)), span }
    } else {
        number
    }
}

/// The variables by scope, outermost first; without a shape if their types are not supported.
type Scopes = Vec<BTreeMap<Rc<str>, Option<Shape>>>;

fn lookup<'a>(scopes: &'a Scopes, name: &str) -> Option<&'a Shape> {
    scopes.iter().rev().find_map(|s| s.get(name))?.as_ref()
}

struct Walk {
    scopes: Scopes,
    constants: BTreeMap<Rc<str>, i64>,
    /// Names in the region: counters have others.
    used: BTreeSet<Rc<str>>,
    faults: Diagnostics,
}

impl Walk {
    fn enumerators(&mut self, all: &[(Rc<str>, Option<Expr>, bool)]) {
        let mut next = Some(0);
        for (name, value, first) in all {
            next = match value {
                Some(e) => self.number(e),
                None if *first => Some(0),
                None => next,
            };
            if let Some(n) = next {
                self.constants.insert(name.clone(), n);
            }
            next = next.map(|n| n + 1);
        }
    }

    fn declare(&mut self, d: &Declarator, parameter: bool) {
        let parameter = parameter || d.outside.allocated;
        self.constants.remove(&d.name);
        let value = d.value().filter(|_| d.ty.constant && d.is_scalar()).and_then(|e| self.number(e));
        self.constants.extend(value.map(|n| (d.name.clone(), n)));
        let mut dims: Vec<Option<i64>> =
            d.dims.iter().chain(&d.ty.dims).map(|x| x.size.as_ref().and_then(|e| self.number(e))).collect();
        match (&d.init, dims.first()) {
            (Some(Init::List(items, _)), Some(None)) if d.dims.first().is_some_and(|x| x.size.is_none()) => {
                dims[0] = Some(items.len() as i64);
            }
            _ => {}
        }
        if d.to_elements && parameter {
            dims.insert(0, None);
        }
        let plain = !d.function && d.ty.width.is_none() && (d.pointer.is_none() || (d.to_elements && parameter));
        let shape = |ty| Shape { ty, members: d.ty.members.as_ref().map(|m| m.len()), dims, parameter };
        let shape = d.ty.scalar.filter(|_| plain).map(shape);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(d.name.clone(), shape);
        }
    }

    fn lookup(&self, name: &str) -> Option<&Shape> {
        lookup(&self.scopes, name)
    }

    /// The value of a constant integer expression.
    fn number(&self, e: &Expr) -> Option<i64> {
        match &e.kind {
            ExprKind::Literal(bits, ty) if !ty.is_float() => i64::try_from(*bits).ok(),
            ExprKind::Name(name) => self.constants.get(name).copied(),
            ExprKind::Unary(Unary::Neg, a) => self.number(a)?.checked_neg(),
            ExprKind::Unary(Unary::Plus, a) | ExprKind::Cast(ScalarType::Int { bits: 32.., .. }, a) => self.number(a),
            ExprKind::SizeOf(a) => self.size(a),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                match op {
                    Binary::Add => a.checked_add(b),
                    Binary::Sub => a.checked_sub(b),
                    Binary::Mul => a.checked_mul(b),
                    Binary::Div if a >= 0 && b > 0 => Some(a / b),
                    Binary::Rem if a >= 0 && b > 0 => Some(a % b),
                    Binary::Shl if (0..32).contains(&b) => a.checked_mul(1 << b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `sizeof e`
    fn size(&self, e: &Expr) -> Option<i64> {
        if let Some((Expr { kind: ExprKind::Name(name), .. }, subscripts)) = e.element() {
            let shape = self.lookup(name)?;
            let member = subscripts.last().is_some_and(|s| matches!(s.kind, ExprKind::Member(_)));
            let rank = subscripts.len() - usize::from(member);
            if rank == 0 && shape.parameter && !shape.dims.is_empty() {
                return Some(8);
            }
            let rest: i64 = shape.dims.get(rank..)?.iter().copied().product::<Option<i64>>()?;
            return rest.checked_mul(if member { i64::from(shape.ty.bytes()) } else { shape.element_bytes() });
        }
        let leaf = |x: &Expr| {
            let (Expr { kind: ExprKind::Name(name), .. }, _) = x.element()? else { return None };
            self.lookup(name).map(|shape| shape.ty)
        };
        crate::sema::type_of(e, &leaf).map(|ty| i64::from(ty.bytes()))
    }

    fn block(&mut self, all: &mut [Stmt]) {
        self.scopes.push(BTreeMap::new());
        let constants = self.constants.clone();
        all.iter_mut().for_each(|s| self.statement(s));
        self.constants = constants;
        self.scopes.pop();
    }

    fn statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Declare(all) => all.iter_mut().for_each(|d| self.declarator(d)),
            StmtKind::Expr(e) => {
                if let ExprKind::Call(name, arguments) = &e.kind {
                    if is_operation(name) {
                        s.kind = match self.operation(name, arguments, e.span) {
                            Ok(loops) => loops,
                            Err(fault) => {
                                self.faults.push(fault);
                                StmtKind::Poison
                            }
                        };
                        return;
                    }
                }
                *e = self.expr(e);
            }
            StmtKind::Block(all) => self.block(all),
            StmtKind::If(c, then, otherwise) => {
                *c = self.expr(c);
                self.block(std::slice::from_mut(then));
                otherwise.iter_mut().for_each(|s| self.block(std::slice::from_mut(s)));
            }
            StmtKind::For(f) => {
                self.scopes.push(BTreeMap::new());
                match &mut f.init {
                    ForInit::Declare(all) => all.iter_mut().for_each(|d| self.declarator(d)),
                    ForInit::Expr(e) => *e = self.expr(e),
                    ForInit::None => {}
                }
                f.condition.iter_mut().chain(&mut f.step).for_each(|e| *e = self.expr(e));
                self.block(std::slice::from_mut(&mut f.body));
                self.scopes.pop();
            }
            StmtKind::Return(_) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
        }
    }

    fn declarator(&mut self, d: &mut Declarator) {
        d.dims.iter_mut().filter_map(|x| x.size.as_mut()).for_each(|e| *e = self.expr(e));
        d.init.iter_mut().for_each(|i| self.initializer(i));
        self.declare(d, false);
    }

    fn initializer(&mut self, init: &mut Init) {
        match init {
            Init::Value(e) => *e = self.expr(e),
            Init::List(all, _) => all.iter_mut().for_each(|i| self.initializer(i)),
        }
    }

    fn expr(&mut self, e: &Expr) -> Expr {
        let ExprKind::SizeOf(inner) = &e.kind else { return with_operands(e, &mut |x| self.expr(x)) };
        match self.size(inner) {
            Some(bytes) => Expr { kind: ExprKind::Literal(bytes as u64, int(64, false)), span: e.span },
            None => {
                let fault = Diagnostic::error("E0404", e.span, "this size is not known")
                    .label("its operand is not an array or scalar with constant extents");
                self.faults.push(fault.help("write the number of bytes"));
                Expr { kind: ExprKind::Poison, span: e.span }
            }
        }
    }

    /// `memcpy(to, from, bytes)`, `memset(to, value, bytes)`
    fn operation(&mut self, name: &str, arguments: &[Expr], span: Span) -> Result<StmtKind, Diagnostic> {
        let refuse = |why: &str| {
            Diagnostic::error("E0404", span, format!("call of `{name}`"))
                .label(why)
                .help("write a loop that assigns the elements")
        };
        let [to, second, bytes] = arguments else { return Err(refuse("it takes three arguments")) };
        let Some(bytes) = self.number(bytes) else {
            return self.counted(name, to, second, bytes, span).ok_or_else(|| {
                refuse("the number of bytes is neither constant nor a number of elements times their size")
            });
        };
        let scopes = self.scopes.clone();
        let run = |e| Walk::run(&scopes, e).ok_or_else(|| refuse("an argument is no array, row or element"));
        let mut to = run(to)?;
        if bytes <= 0 || bytes % to.shape.element_bytes() != 0 {
            return Err(refuse("the number of bytes is no multiple of the size of an element"));
        }
        let count = bytes / to.shape.element_bytes();
        to.widen(count);
        let rows = || refuse("it covers a part of a row and elements outside of it");
        let extents = to.extents(count).ok_or_else(rows)?;
        if name == "memset" {
            let value = self.filled(second, &to.shape, span);
            let value = value.ok_or_else(|| refuse("an element of this type cannot be set byte by byte"))?;
            return Ok(self.loops("fill", &constants(&extents, span), span, |c| (to.element(c, span), value.clone())));
        }
        let mut from = run(second)?;
        from.widen(count);
        if (from.shape.ty, from.shape.members) != (to.shape.ty, to.shape.members) {
            return Err(refuse("the elements of its arguments have different types"));
        }
        let same = matches!((&from.name.kind, &to.name.kind), (ExprKind::Name(a), ExprKind::Name(b)) if a == b);
        if same && name == "memmove" {
            return Err(refuse("both arguments are parts of one array, which may overlap"));
        }
        let other = from.extents(count).ok_or_else(rows)?;
        let whole = |run: &Run, c: &[Expr]| run.element(c, span);
        let flat = |run: &Run, c: &[Expr], extents: &[i64]| run.element(&[position(c, extents, span)], span);
        if extents == other {
            Ok(self.loops("copy", &constants(&extents, span), span, |c| (whole(&to, c), whole(&from, c))))
        } else if extents.len() <= 1 {
            Ok(self.loops("copy", &constants(&other, span), span, |c| (flat(&to, c, &other), whole(&from, c))))
        } else if other.len() <= 1 {
            Ok(self.loops("copy", &constants(&extents, span), span, |c| (whole(&to, c), flat(&from, c, &extents))))
        } else {
            Err(refuse("the rows of its arguments have different lengths"))
        }
    }

    /// An operation on a number of elements that is not constant, in arrays of one dimension.
    fn counted(&mut self, name: &str, to: &Expr, second: &Expr, bytes: &Expr, span: Span) -> Option<StmtKind> {
        let is_flat = |run: &Run| run.dims().len() == 1 && run.shape.members.is_none();
        let to = Walk::run(&self.scopes, to).filter(is_flat)?;
        let count = self.quotient(bytes, to.shape.element_bytes())?;
        if name == "memset" {
            let value = self.filled(second, &to.shape, span)?;
            return Some(self.loops("fill", &[count], span, |c| (to.element(c, span), value.clone())));
        }
        let from = Walk::run(&self.scopes, second).filter(is_flat)?;
        let same = matches!((&from.name.kind, &to.name.kind), (ExprKind::Name(a), ExprKind::Name(b)) if a == b);
        let fits = from.shape.ty == to.shape.ty && !(same && name == "memmove");
        fits.then(|| self.loops("copy", &[count], span, |c| (to.element(c, span), from.element(c, span))))
    }

    /// `e / by`, if a factor of `e` is a constant that is a multiple of it.
    fn quotient(&self, e: &Expr, by: i64) -> Option<Expr> {
        if let Some(n) = self.number(e) {
            return (n % by == 0).then(|| literal(n / by, e.span));
        }
        match &e.kind {
            ExprKind::Binary(Binary::Mul, a, b) => match (self.quotient(a, by), self.quotient(b, by)) {
                (Some(a), _) if matches!(a.kind, ExprKind::Literal(1, _)) => Some((**b).clone()),
                (_, Some(b)) if matches!(b.kind, ExprKind::Literal(1, _)) => Some((**a).clone()),
                (Some(a), _) => Some(binary(Binary::Mul, a, (**b).clone(), e.span)),
                (None, Some(b)) => Some(binary(Binary::Mul, (**a).clone(), b, e.span)),
                (None, None) => None,
            },
            _ => (by == 1).then(|| e.clone()),
        }
    }

    /// The value of an element all of whose bytes are the low byte of `e`.
    fn filled(&self, e: &Expr, shape: &Shape, span: Span) -> Option<Expr> {
        match (self.number(e)?, shape.ty) {
            _ if shape.members.is_some() => None,
            (0, _) => Some(literal(0, span)),
            (-1 | 255, ScalarType::Int { bits: 2.., .. }) => Some(literal(-1, span)),
            (n, ScalarType::Int { bits: 8, .. }) => Some(literal(n & 255, span)),
            _ => None,
        }
    }

    /// The run that a pointer points to.
    fn run<'a>(scopes: &Scopes, e: &'a Expr) -> Option<Run<'a>> {
        match &e.kind {
            ExprKind::Name(name) => {
                let shape = lookup(scopes, name)?.clone();
                Some(Run { name: e, subscripts: vec![], offset: None, shape })
            }
            ExprKind::Index(base, subscript) => {
                let mut run = Walk::run(scopes, base).filter(|r| r.offset.is_none() && !r.dims().is_empty())?;
                run.subscripts.push(subscript);
                Some(run).filter(|r| !r.dims().is_empty())
            }
            ExprKind::Address(inner) => match &inner.kind {
                ExprKind::Index(base, subscript) => {
                    let run = Walk::run(scopes, base).filter(|r| r.offset.is_none() && !r.dims().is_empty())?;
                    Some(Run { offset: Some((**subscript).clone()), ..run })
                }
                _ => Walk::run(scopes, inner),
            },
            ExprKind::Binary(op @ (Binary::Add | Binary::Sub), base, distance) => {
                let run = Walk::run(scopes, base).filter(|r| !r.dims().is_empty())?;
                let start = run.offset.clone().unwrap_or_else(|| literal(0, e.span));
                Some(Run { offset: Some(binary(*op, start, (**distance).clone(), e.span)), ..run })
            }
            _ => None,
        }
    }

    /// A nest of loops over the extents around an assignment.
    fn loops(
        &mut self,
        kind: &str,
        extents: &[Expr],
        span: Span,
        assignment: impl Fn(&[Expr]) -> (Expr, Expr),
    ) -> StmtKind {
        let mut counters: Vec<Rc<str>> = vec![];
        let mut number = 0;
        while counters.len() < extents.len() {
            let name: Rc<str> = format!("{kind}{number}").into();
            number += 1;
            if self.used.insert(name.clone()) {
                counters.push(name);
            }
        }
        let named = |name: &Rc<str>| Expr { kind: ExprKind::Name(name.clone()), span };
        let all: Vec<Expr> = counters.iter().map(named).collect();
        let (target, value) = assignment(&all);
        let assign = ExprKind::Assign(None, Box::new(target), Box::new(value));
        let mut body = StmtKind::Expr(Expr { kind: assign, span });
        for (name, extent) in counters.iter().zip(extents).rev() {
            let ty = TypeName { scalar: Some(ScalarType::I32), text: "int".into(), ..TypeName::unknown(span) };
            let counter =
                Declarator { name: name.clone(), init: Some(Init::Value(literal(0, span))), ..Declarator::unnamed(ty) };
            body = StmtKind::For(Box::new(For {
                kind: LoopKind::For,
                init: ForInit::Declare(vec![counter]),
                condition: Some(binary(Binary::Lt, named(name), extent.clone(), span)),
                step: Some(Expr { kind: ExprKind::Step(Binary::Add, Box::new(named(name))), span }),
                body: Stmt { kind: body },
                may_break: false,
                header: span,
            }));
        }
        body
    }
}

fn constants(extents: &[i64], span: Span) -> Vec<Expr> {
    extents.iter().map(|n| literal(*n, span)).collect()
}

/// The number of an element in memory order.
fn position(counters: &[Expr], extents: &[i64], span: Span) -> Expr {
    counters
        .iter()
        .zip(extents)
        .fold(None, |sum: Option<Expr>, (counter, extent)| {
            Some(match sum {
                None => counter.clone(),
                Some(sum) => {
                    let scaled = binary(Binary::Mul, sum, literal(*extent, span), span);
                    binary(Binary::Add, scaled, counter.clone(), span)
                }
            })
        })
        .unwrap_or_else(|| literal(0, span))
}
