//! Interval analysis of integer expressions.
//!
//! The range of an expression follows from its type, its operators, the domain (for iterators), the statements that may
//! have written a local (see `reaching`), and the *facts*: conditions that hold where the expression is used. Example:
//! after `if (x >= 0 && x < 4)`, `x` is in 0 to 3, so `T[x]` is inside a table of 4 elements.
//!
//! A range is always a superset of the possible values. Locals that depend on each other in a cycle get the range of
//! their type: `pending` lists the arrays whose ranges are being computed. A local that keeps its value, as in
//! `last = c ? i : last`, gets no other value by that.

use super::operate::{bare, equal};
use super::reaching::Source;
use super::Sema;
use scop::value;
use scop::{Affine, ArrayId, BinaryOp, Binding, Constraint, Expr, ExprKind, ScalarType, Storage, UnaryOp};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Least and greatest value.
type Range = (i128, i128);

/// A condition that holds (or fails) where an expression is used.
#[derive(Clone)]
pub(super) struct Fact {
    pub condition: Expr,
    pub holds: bool,
}

/// Ranges of the integer expressions of a statement.
pub(super) struct Values<'a> {
    sema: &'a Sema,
    domain: &'a [Vec<Constraint>],
    reads: &'a [Source],
    facts: &'a [Fact],
    /// Arrays whose ranges are being computed.
    pending: Vec<ArrayId>,
    stored: &'a StoredRanges,
}

/// The origin of values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// All statements that write an array.
    Array(ArrayId),
    Statement(usize),
}

type Cache<K, V> = RefCell<BTreeMap<K, V>>;

/// Ranges of the values that a finished region stores, computed once.
#[derive(Default)]
pub(super) struct StoredRanges {
    /// By array: all arrays that its values depend on.
    sources: Cache<ArrayId, BTreeSet<ArrayId>>,
    /// Range of an array or statement, given the set of its sources that are pending.
    ranges: Cache<(Origin, BTreeSet<ArrayId>), Option<Range>>,
}

impl<'a> Values<'a> {
    pub fn new(
        sema: &'a Sema,
        domain: &'a [Vec<Constraint>],
        reads: &'a [Source],
        facts: &'a [Fact],
        stored: &'a StoredRanges,
    ) -> Self {
        Values { sema, domain, reads, facts, pending: vec![], stored }
    }

    /// The range of an integer expression.
    pub fn of(&self, e: &Expr) -> Range {
        self.sema.effort.spend(1);
        if self.sema.effort.spent() {
            return value::range(e.ty);
        }
        self.facts.iter().fold(self.by_operator(e), |range, fact| self.narrowed(e, range, &fact.condition, fact.holds))
    }

    /// The range of `e` under these facts only.
    fn with(&self, facts: &[Fact], e: &Expr) -> Range {
        Values { facts, pending: self.pending.clone(), ..*self }.of(e)
    }

    fn by_operator(&self, e: &Expr) -> Range {
        let all = value::range(e.ty);
        let fits = |(low, high): Range| if low >= all.0 && high <= all.1 { (low, high) } else { all };
        match &e.kind {
            ExprKind::Const(bits) => (value::to_integer(*bits, e.ty), value::to_integer(*bits, e.ty)),
            ExprKind::Iter(form) => fits(self.iterated(form).unwrap_or(all)),
            ExprKind::Holds(_) => (0, 1),
            ExprKind::Read(k) => fits(self.source(&self.reads[*k]).unwrap_or(all)),
            ExprKind::Cast(a) if !a.ty.is_float() => fits(self.of(a)),
            ExprKind::Select(c, a, b) => {
                let branch = |holds, e| {
                    let fact = Fact { condition: (**c).clone(), holds };
                    self.with(&[self.facts, &[fact]].concat(), e)
                };
                joined(branch(true, a), branch(false, b))
            }
            ExprKind::Lookup(table, _) if !e.ty.is_float() => {
                let values = || table.iter().map(|&bits| value::to_integer(bits, e.ty));
                (values().min().unwrap_or(all.0), values().max().unwrap_or(all.1))
            }
            ExprKind::Unary(op @ (UnaryOp::Neg | UnaryOp::Abs), a) if !a.ty.is_float() => {
                let a = self.of(a);
                let negated = (-a.1, -a.0);
                match op {
                    UnaryOp::Abs if a.0 < 0 => fits((negated.0.max(a.0).max(0), negated.1.max(a.1))),
                    UnaryOp::Abs => a,
                    _ => fits(negated),
                }
            }
            ExprKind::Binary(op, a, b) if !a.ty.is_float() => {
                let (a, b) = (self.of(a), self.of(b));
                match op {
                    BinaryOp::Add => fits((a.0 + b.0, a.1 + b.1)),
                    BinaryOp::Sub => fits((a.0 - b.1, a.1 - b.0)),
                    BinaryOp::Mul => {
                        let products = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                        fits(products.iter().fold((products[0], products[0]), |r, &p| joined(r, (p, p))))
                    }
                    BinaryOp::Min => (a.0.min(b.0), a.1.min(b.1)),
                    BinaryOp::Max => (a.0.max(b.0), a.1.max(b.1)),
                    BinaryOp::And if a.0 >= 0 || b.0 >= 0 => {
                        (0, [a, b].iter().filter(|r| r.0 >= 0).map(|r| r.1).min().unwrap_or(all.1))
                    }
                    BinaryOp::Rem if b.0 > 0 => (a.0.signum().min(0) * (b.1 - 1), (b.1 - 1).min(a.1.max(0))),
                    BinaryOp::Div if b.0 > 0 && a.0 >= 0 => (0, a.1 / b.0),
                    BinaryOp::Shr if b.0 == b.1 && (0..64).contains(&b.0) => (a.0 >> b.0, a.1 >> b.0),
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => (0, 1),
                    _ => all,
                }
            }
            _ => all,
        }
    }

    /// The range of `e` where the condition has the value `holds`.
    fn narrowed(&self, e: &Expr, range: Range, condition: &Expr, holds: bool) -> Range {
        match &condition.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.narrowed(e, range, inner, !holds),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b)
                if condition.ty == ScalarType::BOOL && holds == (*op == BinaryOp::And) =>
            {
                let range = self.narrowed(e, range, a, holds);
                self.narrowed(e, range, b, holds)
            }
            ExprKind::Binary(op, a, b) if !a.ty.is_float() => {
                let is = |x: &Expr| equal(x, e) || bare(x).is_some_and(|x| equal(x, e));
                let (mut low, mut high) = range;
                if is(a) {
                    (low, high) = compared(*op, holds, (low, high), self.with(&[], b));
                }
                if is(b) {
                    let mirrored = match op {
                        BinaryOp::Lt => (BinaryOp::Le, !holds),
                        BinaryOp::Le => (BinaryOp::Lt, !holds),
                        op => (*op, holds),
                    };
                    (low, high) = compared(mirrored.0, mirrored.1, (low, high), self.with(&[], a));
                }
                // An empty range means that this place is never reached.
                if low <= high {
                    (low, high)
                } else {
                    range
                }
            }
            _ => range,
        }
    }

    fn source(&self, source: &Source) -> Option<Range> {
        let Some(writers) = &source.writers else { return self.stored(source.array) };
        let values = writers
            .iter()
            .map(|&k| self.cached(Origin::Statement(k), source.array, || self.value(k, self.pending.clone(), false)));
        values.reduce(|a, b| Some(joined(a?, b?)))?
    }

    /// The range of the values stored to an array that only the region writes.
    fn stored(&self, array: ArrayId) -> Option<Range> {
        let local = &self.sema.arrays[array.index()];
        if local.storage != Storage::Local || local.binding != Binding::Local || self.pending.contains(&array) {
            return None;
        }
        self.cached(Origin::Array(array), array, || {
            let pending: Vec<ArrayId> = self.pending.iter().copied().chain([array]).collect();
            self.writers(array).map(|k| self.value(k, pending.clone(), true)).reduce(|a, b| Some(joined(a?, b?)))?
        })
    }

    /// The range of the values that `origin` writes to `array`, from the cache if it is there.
    fn cached(&self, origin: Origin, array: ArrayId, look: impl FnOnce() -> Option<Range>) -> Option<Range> {
        let sources = self.sources(array);
        let key = (origin, self.pending.iter().copied().filter(|o| sources.contains(o)).collect());
        let answer = self.stored.ranges.borrow().get(&key).copied();
        answer.unwrap_or_else(|| {
            let range = look();
            self.stored.ranges.borrow_mut().insert(key, range);
            range
        })
    }

    /// The range of a statement's value; `None` if it may exceed the target's type. `among_all`: joined with those of all
    /// other statements that write its target, so that a value that it keeps is among them.
    fn value(&self, statement: usize, pending: Vec<ArrayId>, among_all: bool) -> Option<Range> {
        let s = &self.sema.statements[statement];
        let (least, greatest) = value::range(self.sema.arrays[s.write.array.index()].ty);
        let of_statement =
            Values { domain: &s.domain, reads: &self.sema.sources[statement], facts: &[], pending, ..*self };
        let value = match among_all {
            true => of_statement.new_values(&s.rhs, s.write.array, &[])?,
            false => of_statement.of(&s.rhs),
        };
        (!s.rhs.ty.is_float() && value.0 >= least && value.1 <= greatest).then_some(value)
    }

    /// The range of the values of `e` that are not values of `array` already; `None` if there are none.
    fn new_values(&self, e: &Expr, array: ArrayId, facts: &[Fact]) -> Option<Range> {
        let local = &self.sema.arrays[array.index()];
        match &e.kind {
            ExprKind::Read(k) if self.reads[*k].array == array && local.binding == Binding::Local => None,
            ExprKind::Select(c, a, b) => {
                let branch = |holds, e| {
                    let fact = Fact { condition: (**c).clone(), holds };
                    self.new_values(e, array, &[facts, &[fact]].concat())
                };
                let (a, b) = (branch(true, a), branch(false, b));
                a.zip(b).map(|(a, b)| joined(a, b)).or(a).or(b)
            }
            _ => Some(self.with(facts, e)),
        }
    }

    /// The statements that write an array.
    fn writers(&self, array: ArrayId) -> impl Iterator<Item = usize> + use<'a> {
        let statements = self.sema.statements.iter().enumerate();
        statements.filter(move |(_, s)| s.write.array == array).map(|(k, _)| k)
    }

    /// All arrays that the values of `array` depend on.
    fn sources(&self, array: ArrayId) -> BTreeSet<ArrayId> {
        let answer = self.stored.sources.borrow().get(&array).cloned();
        answer.unwrap_or_else(|| {
            let (mut sources, mut next) = (BTreeSet::new(), vec![array]);
            while let Some(read) = next.pop() {
                next.extend(
                    self.writers(read)
                        .flat_map(|k| &self.sema.statements[k].reads)
                        .map(|r| r.array)
                        .filter(|a| sources.insert(*a)),
                );
            }
            self.stored.sources.borrow_mut().insert(array, sources.clone());
            sources
        })
    }

    /// The values of a form over the iterations.
    fn iterated(&self, form: &Affine) -> Option<Range> {
        let mut all = None;
        for disjunct in self.domain {
            let (low, high) = self.sema.effort.range(form.coeffs.len(), disjunct, form);
            let range = (i128::from(low?), i128::from(high?));
            all = Some(all.map_or(range, |r| joined(r, range)));
        }
        all
    }
}

fn joined(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The range of `x` where `x op y` has the value `holds`.
fn compared(op: BinaryOp, holds: bool, x: Range, y: Range) -> Range {
    match (op, holds) {
        (BinaryOp::Lt, true) => (x.0, x.1.min(y.1 - 1)),
        (BinaryOp::Le, true) => (x.0, x.1.min(y.1)),
        (BinaryOp::Lt, false) => (x.0.max(y.0), x.1),
        (BinaryOp::Le, false) => (x.0.max(y.0 + 1), x.1),
        (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => (x.0.max(y.0), x.1.min(y.1)),
        (BinaryOp::Ne, true) | (BinaryOp::Eq, false) if y.0 == y.1 => {
            (x.0 + i128::from(x.0 == y.0), x.1 - i128::from(x.1 == y.0))
        }
        _ => x,
    }
}
