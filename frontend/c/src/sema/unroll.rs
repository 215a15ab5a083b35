//! Loop unrolling that removes divisions and remainders of an iterator, and differences of strides.
//!
//! Problem 1: `A[t % 2][i]` and `x[i / 4]` are not affine in `t` and `i`. Unrolling by the divisor makes them affine:
//! with `t = 2 * t'` the first copy of the body has `t % 2 = 0`, the second has `t = 2 * t' + 1` and `t % 2 = 1`. Each
//! copy after the first is guarded by the loop's condition.
//!
//! Problem 2: a source is not affine if an array is written at every element and read at every other one (or the other
//! way round). Unrolling the writing loop by two gives all accesses the same stride ([`Strides`]).
//!
//! Limit: at most [`COPIES`] copies. As a plain value, a remainder needs no unrolling: it is computed in hardware.

use super::Sema;
use crate::ast::{Binary, Expr, ExprKind, For, ForInit, Stmt, StmtKind};
use crate::inline::substituted;
use scop::{Array, ScalarType, Scop};
use std::collections::BTreeMap;

/// Limit on the copies of a loop's body.
const COPIES: i64 = 16;

/// By array: for each dimension the stride that every access shall have, in elements (1: any).
pub(crate) type Strides = BTreeMap<String, Vec<i64>>;

/// Written arrays that are accessed with different strides, and the strides to unroll to.
pub(crate) fn mixed_strides(scop: &Scop) -> Strides {
    let accesses = |id: usize| {
        scop.statements.iter().flat_map(|s| s.reads.iter().chain([&s.write])).filter(move |a| a.array.index() == id)
    };
    let of = |(id, array): (usize, &Array)| {
        let written = scop.statements.iter().any(|s| s.write.array.index() == id);
        let period = |d: usize| {
            let strides = || {
                accesses(id)
                    .map(|a| a.subscripts[d].coeffs.iter().fold(0, |g, c| num_integer::gcd(g, *c)))
                    .filter(|s| *s != 0)
            };
            let period = strides().filter(|s| *s <= COPIES).fold(1, |all, s| all / num_integer::gcd(all, s) * s);
            if period <= COPIES && strides().any(|s| s % period != 0) {
                period
            } else {
                1
            }
        };
        let periods: Vec<i64> = if written { (0..array.dims.len()).map(period).collect() } else { vec![] };
        periods.iter().any(|p| *p > 1).then(|| (array.name.clone(), periods))
    };
    scop.arrays.iter().enumerate().filter_map(of).collect()
}

impl Sema {
    /// The unrolled loop, if subscripts or bounds in its body (or its conditions, with `conditions`) divide its
    /// iterator.
    pub(super) fn unrolled(&mut self, f: &For, conditions: bool) -> Option<For> {
        let name = f.iterator()?;
        let condition = f.condition.as_ref().filter(|c| !matches!(c.kind, ExprKind::Binary(Binary::Ne, ..)))?;
        let before = self.faults.len();
        let step = f.step.as_ref().and_then(|e| self.step(e, &name));
        self.faults.truncate(before);
        let step = step?;
        let mut periods = vec![];
        in_statement(&f.body, conditions, &mut |e| {
            self.divisors(e, &name, &mut periods);
            self.strides_of(e, &name, &mut periods);
        });
        // A divisor of the step needs no copies.
        let copies = common(periods.iter().map(|p| p / num_integer::gcd(*p, step)));
        if !(2..=COPIES).contains(&copies) {
            return None;
        }
        let literal = |value: i64, at: &Expr| Expr {
            kind: ExprKind::Literal(scop::value::from_integer(value as i128, ScalarType::I32), ScalarType::I32),
            span: at.span,
        };
        let mut body = vec![];
        for k in 0..copies {
            let here = Expr { kind: ExprKind::Name(name.clone()), span: f.header };
            let offset = literal(k * step, &here);
            let later =
                Expr { kind: ExprKind::Binary(Binary::Add, Box::new(here.clone()), Box::new(offset)), span: f.header };
            let value = if k == 0 { here } else { later };
            let (copy, still) = substituted(&f.body, condition, &name, &value);
            let copy = Stmt { kind: StmtKind::Block(vec![copy]) };
            body.push(if k == 0 { copy } else { Stmt { kind: StmtKind::If(still, Box::new(copy), None) } });
        }
        let iterator = Expr { kind: ExprKind::Name(name), span: f.header };
        let by = literal(copies * step, &iterator);
        let step = Expr { kind: ExprKind::Assign(Some(Binary::Add), Box::new(iterator), Box::new(by)), span: f.header };
        Some(For { step: Some(step), body: Stmt { kind: StmtKind::Block(body) }, ..f.clone() })
    }

    /// Whether unrolling within the limit can remove the divisions in `e`.
    pub(super) fn unrolls(&self, e: &Expr) -> bool {
        self.nest.loops.iter().all(|l| {
            let mut divisors = vec![];
            self.divisors(e, &self.loops[l.index()].name, &mut divisors);
            common(divisors.into_iter()) <= COPIES
        })
    }

    /// Copies that give an element's subscripts the wanted strides.
    fn strides_of(&self, e: &Expr, name: &str, out: &mut Vec<i64>) {
        let Some((array, subscripts)) = e.element() else { return };
        let ExprKind::Name(array) = &array.kind else { return };
        let wanted = self.strides.get(&**array).into_iter().flatten();
        let copies = subscripts
            .into_iter()
            .zip(wanted)
            .filter_map(|(s, &period)| Some(period / num_integer::gcd(period, self.factor(s, name)?)));
        out.extend(copies.filter(|c| *c > 1));
    }

    /// The coefficient of the iterator `name` in a sum of products with constants.
    pub(super) fn factor(&self, e: &Expr, name: &str) -> Option<i64> {
        let constant = |e: &Expr| self.affine(e).ok().filter(|v| v.form.is_constant()).map(|v| v.form.constant);
        let mut inside = false;
        e.walk(&mut |x| inside |= matches!(&x.kind, ExprKind::Name(n) if **n == *name));
        match &e.kind {
            _ if !inside => Some(0),
            ExprKind::Name(_) => Some(1),
            ExprKind::Binary(Binary::Add, a, b) => Some(self.factor(a, name)? + self.factor(b, name)?),
            ExprKind::Binary(Binary::Sub, a, b) => Some(self.factor(a, name)? - self.factor(b, name)?),
            ExprKind::Binary(Binary::Mul, a, b) => constant(a)
                .zip(self.factor(b, name))
                .or_else(|| constant(b).zip(self.factor(a, name)))
                .and_then(|(k, f)| k.checked_mul(f)),
            _ => None,
        }
    }

    /// Divisors of subexpressions of `e` that contain the iterator `name`.
    fn divisors(&self, e: &Expr, name: &str, out: &mut Vec<i64>) {
        e.walk(&mut |x| {
            let ExprKind::Binary(op @ (Binary::Div | Binary::Rem | Binary::Shr | Binary::And), a, b) = &x.kind else {
                return;
            };
            let inside = self.follows(a, name);
            let Some(by) = self.affine(b).ok().filter(|v| inside && v.form.is_constant()).map(|v| v.form.constant)
            else {
                return;
            };
            out.extend(divisor(*op, by).map(|d| d.saturating_mul(self.quotients(a, name))));
        });
    }

    /// Whether the value of `e` follows from the iterator `name` and constants, so that copies of the loop can make it
    /// affine. The element of an array is data: where it stands does not matter.
    fn follows(&self, e: &Expr, name: &str) -> bool {
        let is_table = |base: &Expr| match &base.kind {
            ExprKind::Name(n) => {
                matches!(self.lookup(n), Some(super::Entity::Slot(k)) if self.slots[*k].table.is_some())
            }
            _ => false,
        };
        match &e.kind {
            ExprKind::Name(n) => **n == *name,
            ExprKind::Index(..) if !e.element().is_some_and(|(base, _)| is_table(base)) => false,
            _ => e.operands().into_iter().any(|x| self.follows(x, name)),
        }
    }

    /// The product of the divisors of divisions that are inside of one another in `e`. Example: `(c / 3) % 3` needs nine
    /// copies, because `c / 3` is a multiple of 3 if `c` is one of 9. A remainder is constant in each copy.
    fn quotients(&self, e: &Expr, name: &str) -> i64 {
        let inner = |e: &Expr| e.operands().into_iter().map(|x| self.quotients(x, name)).max().unwrap_or(1);
        let mut inside = false;
        e.walk(&mut |y| inside |= matches!(&y.kind, ExprKind::Name(n) if **n == *name));
        match &e.kind {
            _ if !inside => 1,
            ExprKind::Binary(Binary::Rem | Binary::And, ..) => 1,
            ExprKind::Binary(op @ (Binary::Div | Binary::Shr), a, b) => {
                let by = self.affine(b).ok().filter(|v| v.form.is_constant()).map(|v| v.form.constant);
                let by = by.and_then(|by| divisor(*op, by)).unwrap_or(1);
                by.saturating_mul(self.quotients(a, name))
            }
            _ => inner(e),
        }
    }
}

/// What an operator with this constant divides by.
fn divisor(op: Binary, by: i64) -> Option<i64> {
    match op {
        Binary::Shr if (1..5).contains(&by) => Some(1 << by),
        Binary::And if by > 0 && (by + 1) & by == 0 => Some(by + 1),
        Binary::Div | Binary::Rem if by > 1 => Some(by),
        _ => None,
    }
}

/// The least common multiple.
fn common(periods: impl Iterator<Item = i64>) -> i64 {
    periods.fold(1, |all, p| (all / num_integer::gcd(all, p)).saturating_mul(p))
}

/// Calls `visit` on expressions that must be affine: elements (for their subscripts) and bounds; with `conditions` also
/// these.
pub(super) fn in_statement(s: &Stmt, conditions: bool, visit: &mut dyn FnMut(&Expr)) {
    let mut inside = |e: &Expr| in_expression(e, conditions, visit);
    match &s.kind {
        StmtKind::Declare(all) => all.iter().filter_map(|d| d.value()).for_each(inside),
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) => inside(e),
        StmtKind::If(c, then, otherwise) => {
            inside(c);
            if conditions {
                visit(c);
            }
            in_statement(then, conditions, visit);
            otherwise.iter().for_each(|s| in_statement(s, conditions, visit));
        }
        StmtKind::For(f) => {
            match &f.init {
                ForInit::Declare(all) => all.iter().filter_map(|d| d.value()).for_each(&mut *visit),
                ForInit::Expr(e) => visit(e),
                ForInit::None => {}
            }
            f.condition.iter().for_each(&mut *visit);
            in_statement(&f.body, conditions, visit);
        }
        StmtKind::Block(all) => all.iter().for_each(|s| in_statement(s, conditions, visit)),
        StmtKind::Return(None) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
    }
}

fn in_expression(e: &Expr, conditions: bool, visit: &mut dyn FnMut(&Expr)) {
    e.walk(&mut |x| match &x.kind {
        ExprKind::Index(..) => visit(x),
        ExprKind::Conditional(c, ..) if conditions => visit(c),
        _ => {}
    });
}
