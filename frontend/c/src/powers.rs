//! Loops that multiply or divide their counter: `for (d = 1; d < N; d *= 2)`, `while (h) { …; h >>= 1; }`.
//!
//! Problem: the subscripts in such a loop (`x[i + d]`) are not affine in the number of the iteration, although the values
//! of `d` are known: steps of a Fourier transform, of a sorting network, of a scan.
//!
//! Method: partial evaluation. A walk over the statements knows the values of integer variables that are constant at each
//! place. If a loop changes the counter in its condition by another operator than `+` and `-`, and its condition is
//! known before each iteration, the loop becomes one copy of its body per iteration, with the values in place of the
//! variables. Inner loops and conditions of a copy follow in the same way.
//!
//! Only values from 0 to 2^31 - 1 count as known. These are the same in all integer types of at least 32 bits, so C's
//! conversions do not matter; a variable of a smaller type only takes values that it has.

use crate::ast::{Binary, Declarator, Expr, ExprKind, For, ForInit, Init, LoopKind, Stmt, StmtKind, Unary, Unit};
use crate::effects::{changed, declared, expressions, names, nodes, set_names};
use crate::inline::with_operands;
use scop::diag::{Diagnostic, Diagnostics};
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The copies of all loops of a region have at most this many operands and operators.
const LARGEST: usize = 12_000;

/// Replaces these loops in the region. Called after inlining.
pub(crate) fn unroll(unit: &mut Unit) -> Diagnostics {
    let mut walk = Walk { left: LARGEST, ..Walk::default() };
    unit.region.iter().for_each(|s| expressions(s, &mut |e| walk.addresses(e)));
    let mut last = None;
    for (name, value, first) in &unit.enumerators {
        last = match value {
            Some(e) => walk.evaluated(e),
            None if *first => Some(0),
            None => last.and_then(|n: i64| n.checked_add(1)),
        };
        walk.types.insert(name.clone(), Some(ScalarType::I32));
        walk.set(name, last);
    }
    for d in &unit.globals {
        match d.ty.constant {
            true => walk.declare(d),
            false => walk.hide(&d.name),
        }
    }
    for d in unit.function.iter().flat_map(|f| &f.params) {
        walk.hide(&d.name);
    }
    for d in unit.function.iter().flat_map(|f| &f.locals) {
        walk.declare(d);
        if !d.ty.constant {
            walk.set(&d.name, None);
        }
    }
    let region = std::mem::take(&mut unit.region);
    unit.region = region.into_iter().flat_map(|s| walk.statement(s)).collect();
    walk.faults
}

/// What is known at one place.
#[derive(Clone, Default)]
struct Walk {
    values: BTreeMap<Rc<str>, i64>,
    /// The types of integer variables; `None` for other objects.
    types: BTreeMap<Rc<str>, Option<ScalarType>>,
    /// Names whose address is taken.
    shared: BTreeSet<Rc<str>>,
    /// In a copy of a loop's body.
    copying: bool,
    left: usize,
    faults: Diagnostics,
}

/// A value that is the same in all types of at least 32 bits.
fn plain(n: i64) -> Option<i64> {
    (0..=i64::from(i32::MAX)).contains(&n).then_some(n)
}

fn fits(n: i64, ty: ScalarType) -> bool {
    let bits = ty.bits() - u32::from(ty.signed());
    n >> bits.min(62) == 0
}

impl Walk {
    fn addresses(&mut self, e: &Expr) {
        e.walk(&mut |x| {
            if let ExprKind::Address(a) = &x.kind {
                names(a, &mut self.shared);
            }
        });
    }

    fn hide(&mut self, name: &Rc<str>) {
        self.values.remove(name);
        self.types.insert(name.clone(), None);
    }

    fn set(&mut self, name: &Rc<str>, value: Option<i64>) {
        let ty = self.types.get(name).copied().flatten().filter(|_| !self.shared.contains(name));
        match value.zip(ty).filter(|(n, ty)| fits(*n, *ty)) {
            Some((n, _)) => self.values.insert(name.clone(), n),
            None => self.values.remove(name),
        };
    }

    fn declare(&mut self, d: &Declarator) {
        let integer = d.ty.scalar.filter(|ty| !ty.is_float() && *ty != ScalarType::BOOL);
        let is_variable = d.is_scalar() && d.ty.width.is_none() && d.ty.members.is_none() && !d.reference;
        match integer.filter(|_| is_variable && !d.keeps_value()) {
            Some(ty) => {
                self.types.insert(d.name.clone(), Some(ty));
                let value = d.value().and_then(|e| self.evaluated(e));
                self.set(&d.name, value);
            }
            None => self.hide(&d.name),
        }
    }

    fn forget(&mut self, names: &BTreeSet<Rc<str>>) {
        self.values.retain(|name, _| !names.contains(name));
    }

    /// The value of an expression of known variables.
    fn evaluated(&self, e: &Expr) -> Option<i64> {
        let value = |e: &Expr| self.evaluated(e);
        let n = match &e.kind {
            ExprKind::Literal(bits, ty) if !ty.is_float() => i64::try_from(scop::value::to_integer(*bits, *ty)).ok()?,
            ExprKind::Name(name) => *self.values.get(name)?,
            ExprKind::Cast(ty, a) if !ty.is_float() && *ty != ScalarType::BOOL => value(a).filter(|n| fits(*n, *ty))?,
            ExprKind::Unary(Unary::Plus, a) => value(a)?,
            ExprKind::Unary(Unary::LogicalNot, a) => i64::from(value(a)? == 0),
            ExprKind::Conditional(c, a, b) => value(if value(c)? != 0 { a } else { b })?,
            ExprKind::Binary(Binary::LogicalAnd, a, b) => i64::from(value(a)? != 0 && value(b)? != 0),
            ExprKind::Binary(Binary::LogicalOr, a, b) => i64::from(value(a)? != 0 || value(b)? != 0),
            ExprKind::Binary(op, a, b) => operated(*op, value(a)?, value(b)?)?,
            _ => return None,
        };
        plain(n)
    }

    /// The expression with the values of known variables.
    fn known(&self, e: &Expr) -> Expr {
        let kind = match &e.kind {
            ExprKind::Name(name) => match (self.values.get(name), self.types.get(name).copied().flatten()) {
                (Some(n), Some(ty)) => return literal(*n, ty, e),
                _ => return e.clone(),
            },
            ExprKind::Address(_) | ExprKind::SizeOf(_) => return e.clone(),
            ExprKind::Assign(op, target, value) => {
                ExprKind::Assign(*op, Box::new(self.target(target)), Box::new(self.known(value)))
            }
            ExprKind::Step(op, target) => ExprKind::Step(*op, Box::new(self.target(target))),
            _ => return with_operands(e, &mut |x| self.known(x)),
        };
        Expr { kind, span: e.span }
    }

    /// What is assigned: only its subscripts are values.
    fn target(&self, e: &Expr) -> Expr {
        match &e.kind {
            ExprKind::Name(_) => e.clone(),
            _ => with_operands(e, &mut |x| self.known(x)),
        }
    }

    /// In a copy, the expression with the values of known variables.
    fn read(&mut self, e: &Expr) -> Expr {
        if !self.copying {
            return e.clone();
        }
        self.left = self.left.saturating_sub(nodes(e));
        self.known(e)
    }

    /// Statements in a scope of their own.
    fn scope(&mut self, all: Vec<Stmt>) -> Vec<Stmt> {
        let mut own = BTreeSet::new();
        all.iter().for_each(|s| declared(s, &mut own));
        let outer: Vec<_> =
            own.into_iter().map(|n| (self.values.get(&n).copied(), self.types.get(&n).copied(), n)).collect();
        let all = all.into_iter().flat_map(|s| self.statement(s)).collect();
        for (value, ty, name) in outer {
            match ty {
                Some(ty) => self.types.insert(name.clone(), ty),
                None => self.types.remove(&name),
            };
            self.set(&name, value);
        }
        all
    }

    fn inner(&mut self, s: Stmt) -> Stmt {
        let all = match s.kind {
            StmtKind::Block(all) => all,
            kind => vec![Stmt { kind }],
        };
        Stmt { kind: StmtKind::Block(self.scope(all)) }
    }

    fn statement(&mut self, s: Stmt) -> Vec<Stmt> {
        let kind = match s.kind {
            StmtKind::Block(all) => StmtKind::Block(self.scope(all)),
            StmtKind::Declare(mut all) => {
                for d in &mut all {
                    if let Some(Init::Value(e)) = &d.init {
                        d.init = Some(Init::Value(self.read(e)));
                    }
                    self.declare(d);
                }
                StmtKind::Declare(all)
            }
            StmtKind::Expr(e) => return self.expression(&e),
            StmtKind::If(c, then, otherwise) => return self.branches(&c, *then, otherwise.map(|s| *s)),
            StmtKind::For(f) => return self.for_loop(*f),
            kind => kind,
        };
        vec![Stmt { kind }]
    }

    fn expression(&mut self, e: &Expr) -> Vec<Stmt> {
        if let (ExprKind::Comma(a, b), true) = (&e.kind, self.copying) {
            return [a, b].into_iter().flat_map(|e| self.expression(e)).collect();
        }
        let single = |kind| vec![Stmt { kind: StmtKind::Expr(kind) }];
        let mut inside = BTreeSet::new();
        e.operands().into_iter().for_each(|x| set_names(&Stmt { kind: StmtKind::Expr(x.clone()) }, &mut inside));
        self.forget(&inside);
        let (name, value) = match &e.kind {
            ExprKind::Assign(op, target, value) => (target, (*op, (**value).clone())),
            ExprKind::Step(op, target) => (target, (Some(*op), Expr::one(e.span))),
            _ => {
                let e = self.read(e);
                let mut all = BTreeSet::new();
                changed(&Stmt { kind: StmtKind::Expr(e.clone()) }, &mut all);
                self.forget(&all);
                return single(e);
            }
        };
        let ExprKind::Name(name) = &name.kind else { return single(self.read(e)) };
        let shown = self.read(e);
        let new = self.evaluated(&value.1).and_then(|n| match value.0 {
            None => Some(n),
            Some(op) => operated(op, *self.values.get(name)?, n).and_then(plain),
        });
        self.set(name, new);
        let ty = self.types.get(name).copied().flatten();
        match (self.values.get(name), ty) {
            (Some(n), Some(ty)) if self.copying => {
                let target = Expr { kind: ExprKind::Name(name.clone()), span: e.span };
                let kind = ExprKind::Assign(None, Box::new(target), Box::new(literal(*n, ty, e)));
                single(Expr { kind, span: e.span })
            }
            _ => single(shown),
        }
    }

    fn branches(&mut self, c: &Expr, then: Stmt, otherwise: Option<Stmt>) -> Vec<Stmt> {
        let c = self.read(c);
        if let (Some(n), true) = (self.evaluated(&c), self.copying) {
            let taken = if n != 0 { Some(then) } else { otherwise };
            return taken.into_iter().map(|s| self.inner(s)).collect();
        }
        let mut inside = BTreeSet::new();
        set_names(&Stmt { kind: StmtKind::Expr(c.clone()) }, &mut inside);
        self.forget(&inside);
        let before = self.values.clone();
        let then = Box::new(self.inner(then));
        let first = std::mem::replace(&mut self.values, before);
        let otherwise = otherwise.map(|s| Box::new(self.inner(s)));
        self.values.retain(|name, n| first.get(name) == Some(n));
        vec![Stmt { kind: StmtKind::If(c, then, otherwise) }]
    }

    fn for_loop(&mut self, mut f: For) -> Vec<Stmt> {
        if multiplies(&f) {
            let before = self.clone();
            match self.copies(&f) {
                Ok(all) => return vec![Stmt { kind: StmtKind::Block(all) }],
                Err(Failure::Unknown) => *self = before,
                Err(Failure::TooLarge) => {
                    *self = before;
                    self.faults.push(
                        Diagnostic::error("E0406", f.header, "this loop has too many different iterations")
                            .label(format!(
                                "it multiplies or divides its counter; its iterations have more than {LARGEST} operators"
                            ))
                            .help("take a smaller size, or mark one iteration as the region and call it in a loop"),
                    );
                    return vec![Stmt { kind: StmtKind::Poison }];
                }
            }
        }
        let whole = Stmt { kind: StmtKind::For(Box::new(f.clone())) };
        let (mut all, mut own) = (BTreeSet::new(), BTreeSet::new());
        changed(&whole, &mut all);
        expressions(&whole, &mut |e| set_names(&Stmt { kind: StmtKind::Expr(e.clone()) }, &mut all));
        declared(&whole, &mut own);
        let outer: BTreeMap<_, _> = own.iter().map(|n| (n.clone(), self.types.get(n).copied())).collect();
        let values = self.values.clone();
        match &mut f.init {
            ForInit::Declare(list) => list.iter_mut().for_each(|d| {
                if let Some(Init::Value(e)) = &d.init {
                    d.init = Some(Init::Value(self.read(e)));
                }
                self.declare(d);
            }),
            ForInit::Expr(e) => *e = self.read(e),
            ForInit::None => {}
        }
        self.forget(&all);
        self.forget(&own);
        f.condition = f.condition.map(|e| self.read(&e));
        f.step = f.step.map(|e| self.read(&e));
        f.body = self.inner(f.body);
        for (name, ty) in outer {
            match ty {
                Some(ty) => self.types.insert(name.clone(), ty),
                None => self.types.remove(&name),
            };
            self.set(&name, values.get(&name).copied());
        }
        // What the loop changes may be a variable outside of it.
        self.forget(&all);
        vec![Stmt { kind: StmtKind::For(Box::new(f)) }]
    }

    /// The iterations of a loop, one after the other.
    fn copies(&mut self, f: &For) -> Result<Vec<Stmt>, Failure> {
        let condition = f.condition.as_ref().ok_or(Failure::Unknown)?;
        self.copying = true;
        let outer = (self.values.clone(), self.types.clone());
        let (mut all, mut own) = (vec![], vec![]);
        match &f.init {
            ForInit::None => {}
            ForInit::Expr(e) => all.extend(self.expression(e)),
            ForInit::Declare(list) => {
                own = list.iter().map(|d| d.name.clone()).collect();
                all.extend(self.statement(Stmt { kind: StmtKind::Declare(list.clone()) }));
            }
        }
        let mut first = f.kind == LoopKind::Do;
        let mut counters = BTreeSet::new();
        names(condition, &mut counters);
        loop {
            let before: Vec<_> = counters.iter().map(|name| self.values.get(name).copied()).collect();
            if !first && self.evaluated(condition).ok_or(Failure::Unknown)? == 0 {
                break;
            }
            first = false;
            self.left = self.left.saturating_sub(1);
            all.push(self.inner(f.body.clone()));
            all.extend(f.step.iter().flat_map(|e| self.expression(e)).collect::<Vec<_>>());
            if counters.iter().zip(before).all(|(name, n)| self.values.get(name).copied() == n) {
                // It never ends.
                return Err(Failure::Unknown);
            }
            if self.left == 0 {
                return Err(Failure::TooLarge);
            }
        }
        self.copying = false;
        for name in own {
            match outer.1.get(&name) {
                Some(ty) => self.types.insert(name.clone(), *ty),
                None => self.types.remove(&name),
            };
            self.set(&name, outer.0.get(&name).copied());
        }
        Ok(all)
    }
}

enum Failure {
    Unknown,
    TooLarge,
}

/// The value as the literal of a type.
fn literal(n: i64, ty: ScalarType, place: &Expr) -> Expr {
    let number = Expr { kind: ExprKind::Literal(n.unsigned_abs(), ScalarType::I32), span: place.span };
    match ty {
        ScalarType::I32 => number,
        _ => Expr { kind: ExprKind::Cast(ty, Box::new(number)), span: place.span },
    }
}

/// The result of an operator on values from 0 to 2^31 - 1, if every integer type has it.
fn operated(op: Binary, a: i64, b: i64) -> Option<i64> {
    let truth = |t: bool| Some(i64::from(t));
    match op {
        Binary::Mul => a.checked_mul(b),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Shl => (b < 31).then(|| a << b),
        Binary::Shr => (b < 31).then(|| a >> b),
        Binary::And => Some(a & b),
        Binary::Xor => Some(a ^ b),
        Binary::Or => Some(a | b),
        Binary::Lt => truth(a < b),
        Binary::Gt => truth(a > b),
        Binary::Le => truth(a <= b),
        Binary::Ge => truth(a >= b),
        Binary::Eq => truth(a == b),
        Binary::Ne => truth(a != b),
        Binary::LogicalAnd => truth(a != 0 && b != 0),
        Binary::LogicalOr => truth(a != 0 || b != 0),
    }
}

/// Whether the loop changes a variable of its condition by another operator than `+` and `-`.
fn multiplies(f: &For) -> bool {
    let mut counters = BTreeSet::new();
    f.condition.iter().for_each(|c| names(c, &mut counters));
    let mut found = false;
    let mut look = |e: &Expr| {
        e.walk(&mut |x| {
            let ExprKind::Assign(op, target, value) = &x.kind else { return };
            let ExprKind::Name(name) = &target.kind else { return };
            let mut inside = BTreeSet::new();
            names(value, &mut inside);
            let sum = Some(Binary::Add);
            let by = match (op, &value.kind) {
                (Some(op), _) => Some(*op),
                (None, ExprKind::Binary(op, ..)) if inside.contains(name) => Some(*op),
                _ => sum,
            };
            found |= counters.contains(name) && by != sum && by != Some(Binary::Sub);
        });
    };
    f.step.iter().for_each(&mut look);
    expressions(&f.body, &mut look);
    found && !f.may_break
}
