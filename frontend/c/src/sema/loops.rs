//! `for` loops: start, condition and step become an iterator that steps by +1, and its bounds.
//!
//! With step 1 the normalized iterator is the source's own. With step -1 it counts down from a constant.
//! With other steps it counts from the start, unless the start is a multiple of the step plus a constant.

use super::affine::type_range;
use super::form::{add_scaled, compare, intersect, AffineValue, Dnf};
use super::{Entity, Iterator, Sema};
use crate::ast;
use crate::ast::{Binary, ExprKind, For, ForInit};
use scop::diag::Span;
use scop::{Affine, Constraint, Loop, ScalarType};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A loop's header, read but not yet checked against its condition.
struct Header {
    name: Rc<str>,
    ty: ScalarType,
    /// The slot of a variable declared outside of the header.
    slot: Option<usize>,
    /// The start: the greatest (counting up) or least (counting down) of these.
    starts: Vec<AffineValue>,
    step: i64,
    span: Span,
}

/// Loops nest at most so deep.
const DEPTH: usize = 16;
const SHAPE: &str = "write `for (int i = START; i < END; i += STEP)` with affine START and END and a constant STEP";

impl Sema {
    pub(super) fn for_loop(&mut self, f: &For) {
        if self.depth() >= DEPTH {
            self.error(
                "E0414",
                f.header,
                format!("loops nest more than {DEPTH} deep"),
                "one level too many",
                "fuse loops, or split the region",
            );
            return;
        }
        if let Some((holds, fails)) = self.split_header(f) {
            return self.in_parts([holds, fails], |s, _| s.for_loop(f));
        }
        if let Some(unrolled) = self.unrolled(f, false) {
            return self.for_loop(&unrolled);
        }
        // Where only conditions divide the iterator, its copies are needed if the conditions keep subscripts inside.
        let Some(unrolled) = self.unrolled(f, true) else { return self.plain_loop(f) };
        let start = self.clone();
        self.plain_loop(f);
        if !self.overfull && self.faults[start.faults.len()..].iter().any(|fault| fault.code == "E0411") {
            let mut other = Sema { effort: self.effort.clone(), ..start };
            other.for_loop(&unrolled);
            self.effort = other.effort.clone();
            if other.faults.len() < self.faults.len() {
                *self = other;
            }
        }
    }

    fn plain_loop(&mut self, f: &For) {
        let before = self.faults.len();
        let header = self.header(f);
        let outer = self.nest.clone();
        self.scopes.push(BTreeMap::new());
        let entered = match header {
            Some(header) => self.enter(header, f),
            None => {
                // Name the iterator, so that the body is checked without complaints about it.
                if let Some(name) = counted(f) {
                    self.bind(&name, Entity::Poison);
                }
                true
            }
        };
        if entered || self.faults.len() > before {
            let mut changed = BTreeSet::new();
            crate::effects::assigned(&f.body, &mut changed);
            self.forget_latest(&changed);
            self.counters.push(0);
            self.statement(&f.body);
            self.counters.pop();
            self.forget_latest(&changed);
        }
        self.scopes.pop();
        self.nest = outer;
    }

    /// A condition on outer iterators in a bound that is no minimum or maximum.
    fn split_header(&self, f: &For) -> Option<(Dnf, Dnf)> {
        let start = match &f.init {
            ForInit::Declare(all) => {
                all.first().and_then(|d| if let Some(ast::Init::Value(e)) = &d.init { Some(e) } else { None })
            }
            ForInit::Expr(ast::Expr { kind: ExprKind::Assign(None, _, start), .. }) => Some(&**start),
            _ => None,
        };
        start.into_iter().chain(&f.condition).find_map(|e| self.split_bound(e))
    }

    fn split_bound(&self, e: &ast::Expr) -> Option<(Dnf, Dnf)> {
        let sides = match &e.kind {
            ExprKind::Binary(op, a, b) if op.is_comparison() || *op == Binary::LogicalAnd => Some((&**a, &**b)),
            _ => extremum(e, true).or_else(|| extremum(e, false)),
        };
        match sides {
            Some((a, b)) => self.split_bound(a).or_else(|| self.split_bound(b)),
            None => self.split_inside(e, true),
        }
    }

    fn shape<T>(&mut self, span: Span, message: &str, label: &str) -> Option<T> {
        self.error("E0406", span, message, label, SHAPE);
        None
    }

    fn header(&mut self, f: &For) -> Option<Header> {
        let start = self.start(f);
        let step = match (&f.step, counted(f)) {
            (Some(e), Some(name)) => self.step(e, &name),
            (Some(_), None) => None,
            (None, _) => self.shape(f.header, "the loop has no step", "its third part is missing"),
        };
        if f.condition.is_none() {
            self.shape::<()>(f.header, "the loop has no condition", "its second part is missing");
            return None;
        }
        let (name, ty, slot, init) = start?;
        let step = step?;
        let starts = self.terms(init, step > 0, "E0407", "the loop's start")?;
        Some(Header { name, ty, slot, starts, step, span: f.header })
    }

    /// Name, type, slot and start of the iterator.
    fn start<'a>(&mut self, f: &'a For) -> Option<(Rc<str>, ScalarType, Option<usize>, &'a ast::Expr)> {
        match &f.init {
            ForInit::None => self.shape(f.header, "the loop does not set its iterator", "its first part is missing"),
            ForInit::Declare(all) => {
                let [d] = all.as_slice() else {
                    return self.shape(
                        all.get(1).map_or(f.header, |d| d.span),
                        "the loop declares several variables",
                        "one iterator per loop",
                    );
                };
                let Some(ast::Init::Value(init)) = &d.init else {
                    return self.shape(d.span, "the iterator has no start", "it is not initialized");
                };
                match d.ty.scalar {
                    Some(ty)
                        if !ty.is_float() && ty != ScalarType::BOOL && d.dims.is_empty() && d.pointer.is_none() =>
                    {
                        Some((d.name.clone(), ty, None, init))
                    }
                    _ => self.shape(d.span, "the iterator is no integer", "of this type"),
                }
            }
            ForInit::Expr(ast::Expr { kind: ExprKind::Assign(None, target, init), .. }) => {
                let ExprKind::Name(name) = &target.kind else {
                    return self.shape(target.span, "the iterator must be a plain variable", "not a name");
                };
                match self.lookup(name).cloned() {
                    Some(Entity::Slot(k))
                        if !self.slots[k].ty.is_float() && self.slots[k].dims.as_ref().is_some_and(Vec::is_empty) =>
                    {
                        Some((name.clone(), self.slots[k].ty, Some(k), init))
                    }
                    Some(Entity::Iterator(_)) => {
                        self.error(
                            "E0409",
                            target.span,
                            format!("the iterator `{name}` is assigned inside its loop"),
                            "an outer loop counts it already",
                            "use another iterator",
                        );
                        None
                    }
                    Some(Entity::Poison) => None,
                    None => {
                        self.unknown(name, target.span);
                        None
                    }
                    _ => self.shape(target.span, "the iterator must be an integer variable", "this is none"),
                }
            }
            ForInit::Expr(e) => self.shape(e.span, "the loop must set one iterator", "expected `i = START`"),
        }
    }

    pub(super) fn step(&mut self, e: &ast::Expr, name: &str) -> Option<i64> {
        let is_iterator = |x: &ast::Expr| matches!(&x.kind, ExprKind::Name(n) if **n == *name);
        let (op, target, amount) = match &e.kind {
            ExprKind::Step(op, target) => (*op, target, Some(ast::Expr::one(e.span))),
            ExprKind::Assign(Some(op @ (Binary::Add | Binary::Sub)), target, amount) => {
                (*op, target, Some((**amount).clone()))
            }
            ExprKind::Assign(None, target, value) => match &value.kind {
                ExprKind::Binary(op @ (Binary::Add | Binary::Sub), a, b) if is_iterator(a) => {
                    (*op, target, Some((**b).clone()))
                }
                ExprKind::Binary(Binary::Add, a, b) if is_iterator(b) => (Binary::Add, target, Some((**a).clone())),
                _ => (Binary::Add, target, None),
            },
            _ => {
                return self.shape(
                    e.span,
                    "the loop's step is not understood",
                    "expected `i++`, `i--`, `i += STEP` or `i -= STEP`",
                )
            }
        };
        if !is_iterator(target) {
            return self.shape(target.span, "the loop steps another variable", &format!("`{name}` was set"));
        }
        let Some(amount) = amount else {
            return self.shape(e.span, "the loop's step is not constant", "only sums with a constant");
        };
        let amount = match self.affine(&amount) {
            Ok(v) if v.form.is_constant() => v.form.constant,
            Ok(_) => return self.shape(amount.span, "the loop's step is not constant", "it changes with an iterator"),
            Err(refusal) => {
                self.report_refusal(refusal, "E0406", "the loop's step");
                return None;
            }
        };
        match if op == Binary::Add { amount } else { -amount } {
            0 => self.shape(e.span, "the loop's step is 0", "the loop would never end"),
            step => Some(step),
        }
    }

    /// The affine terms of which `e` is the greatest (`greatest`) or least.
    fn terms(&mut self, e: &ast::Expr, greatest: bool, code: &'static str, what: &str) -> Option<Vec<AffineValue>> {
        if let Some((a, b)) = extremum(e, greatest) {
            let (a, b) = (self.terms(a, greatest, code, what), self.terms(b, greatest, code, what));
            return Some(a?.into_iter().chain(b?).collect());
        }
        match self.affine(e) {
            Ok(v) => Some(vec![v]),
            Err(refusal) => {
                self.report_refusal(refusal, code, what);
                None
            }
        }
    }

    /// Makes the loop the innermost one; false if its body is never executed or its condition is faulty.
    fn enter(&mut self, header: Header, f: &For) -> bool {
        let depth = self.depth();
        let Some((offset, lower)) = self.placement(&header) else {
            self.bind(&header.name, Entity::Poison);
            return false;
        };
        let position = self.take_position();
        if let Some(slot) = header.slot {
            self.slots[slot].iterator = Some(header.span);
        }
        let id = self.add_loop(Loop {
            name: header.name.to_string(),
            parent: self.nest.loops.last().copied(),
            offset: offset.clone(),
            step: header.step,
            span: header.span,
        });
        let mut value = offset;
        value.coeffs.resize(depth + 1, 0);
        value.coeffs[depth] = header.step;
        self.nest.loops.push(id);
        self.nest.beta.push(position);
        self.nest.iterators.push(Iterator { ty: header.ty, value: value.clone() });
        self.bind(&header.name, Entity::Iterator(depth));
        let lower = vec![lower];
        self.nest.around = intersect(&self.nest.around, &lower);
        let started = intersect(&self.nest.domain, &lower);
        self.nest.domain = started.clone();
        let Some(condition) = f.condition.as_ref() else { return false };
        let mut upper = vec![];
        let understood = self.upper(condition, &header, &mut upper);
        if !understood {
            self.nest.domain = vec![];
            return true;
        }
        self.nest.around = intersect(&self.nest.around, &vec![upper.clone()]);
        self.nest.domain = self.restrict(&started, &vec![upper.clone()]);
        if self.nest.domain.is_empty() {
            return false;
        }
        if !upper.iter().any(|c| c.expr.coeffs.get(depth).is_some_and(|&x| x < 0)) {
            let why = if header.step > 0 {
                "the condition does not bound the iterator from above"
            } else {
                "the condition does not bound the iterator from below"
            };
            self.error("E0413", condition.span, "the loop never ends", why, "compare the iterator with its last value");
            self.nest.domain = vec![];
            return true;
        }
        self.check_exit(&header, &value, condition.span);
        true
    }

    /// Offset of the normalized iterator, and its bounds by the loop's start.
    fn placement(&mut self, header: &Header) -> Option<(Affine, Vec<Constraint>)> {
        let depth = self.depth();
        let step = header.step;
        let offset = match (step, header.starts.as_slice()) {
            (1, _) => Affine::constant(depth, 0),
            (-1, starts) => Affine::constant(depth, self.greatest(starts)),
            (_, [start]) if start.form.coeffs.iter().all(|c| c % step == 0) => {
                Affine::constant(depth, start.form.constant)
            }
            (_, [start]) => start.form.clone(),
            _ => {
                self.shape::<()>(
                    header.span,
                    "a start of several terms needs the step 1 or -1",
                    "max or min with another step",
                );
                return None;
            }
        };
        let mut constraints = vec![];
        for start in &header.starts {
            // |step| * i' + sign * (offset - start) >= 0
            let (a, b) = if step > 0 { (&offset, &start.form) } else { (&start.form, &offset) };
            let Some(mut expr) = add_scaled(a, b, -1) else {
                self.error(
                    "E0410",
                    header.span,
                    "arithmetic overflow in the loop's start",
                    "the numbers are too large",
                    "use smaller sizes",
                );
                return None;
            };
            expr.coeffs.resize(depth + 1, 0);
            expr.coeffs[depth] = step.abs();
            constraints.push(Constraint { expr, equality: false });
        }
        Some((offset, constraints))
    }

    /// A constant that no start exceeds.
    fn greatest(&self, starts: &[AffineValue]) -> i64 {
        let highest = |v: &AffineValue| {
            let highs = self.nest.domain.iter().map(|d| self.effort.range(self.depth(), d, &v.form).1);
            highs.collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max())
        };
        starts.iter().filter_map(highest).min().unwrap_or(0)
    }

    /// The loop's condition as constraints that end it; false if it was refused.
    fn upper(&mut self, e: &ast::Expr, header: &Header, out: &mut Vec<Constraint>) -> bool {
        let ExprKind::Binary(op, a, b) = &e.kind else {
            return self
                .shape::<()>(e.span, "the loop's condition is not understood", "expected a comparison of the iterator")
                .is_some();
        };
        if *op == Binary::LogicalAnd {
            let (x, y) = (self.upper(a, header, out), self.upper(b, header, out));
            return x && y;
        }
        let (op, a, b) = match op {
            Binary::Gt => (Binary::Lt, b, a),
            Binary::Ge => (Binary::Le, b, a),
            Binary::Lt | Binary::Le | Binary::Ne => (*op, a, b),
            _ => {
                return self
                    .shape::<()>(e.span, "the loop's condition is not understood", "expected `<`, `<=`, `>` or `>=`")
                    .is_some()
            }
        };
        let left = self.terms(a, true, "E0407", "the loop's bound");
        let right = self.terms(b, false, "E0407", "the loop's bound");
        let (Some(left), Some(right)) = (left, right) else { return false };
        if op == Binary::Ne {
            return self.unequal(e, &left, &right, header, out);
        }
        let depth = self.depth() - 1;
        for (x, y) in left.iter().flat_map(|x| right.iter().map(move |y| (x, y))) {
            let Some(constraint) = compare(op, &x.form, &y.form).and_then(|d| d.into_iter().flatten().next()) else {
                self.error(
                    "E0410",
                    e.span,
                    "arithmetic overflow in the loop's bound",
                    "the numbers are too large",
                    "use smaller sizes",
                );
                return false;
            };
            if constraint.expr.coeffs[depth] > 0 {
                let label = "with this step the condition stays true once it is";
                self.error(
                    "E0413",
                    e.span,
                    "the loop never ends",
                    label,
                    "check the direction of the comparison and of the step",
                );
                return false;
            }
            out.push(constraint);
        }
        true
    }

    /// `i != END` with step 1 or -1 means `i < END` or `i > END`, if the start is not beyond END.
    fn unequal(
        &mut self,
        e: &ast::Expr,
        left: &[AffineValue],
        right: &[AffineValue],
        header: &Header,
        out: &mut Vec<Constraint>,
    ) -> bool {
        let depth = self.depth() - 1;
        let sides = match (left, right) {
            ([x], [y]) if header.step.abs() == 1 => {
                compare(Binary::Lt, &x.form, &y.form).zip(compare(Binary::Gt, &x.form, &y.form))
            }
            _ => None,
        };
        let Some((less, greater)) = sides else {
            return self
                .shape::<()>(e.span, "`!=` as a loop's condition", "only for one bound and the step 1 or -1")
                .is_some();
        };
        let falls = |d: &Dnf| d[0][0].expr.coeffs[depth] < 0;
        let (keep, beyond) = if falls(&less) { (less, greater) } else { (greater, less) };
        // Beyond END at the very start?
        let starts = header.starts.iter().filter_map(|s| {
            let mut form = s.form.clone();
            form.coeffs.resize(depth + 1, 0);
            let value = &self.nest.iterators[depth].value;
            let difference = add_scaled(value, &form, -1)?;
            Some(Constraint { expr: difference, equality: true })
        });
        let at_start: Vec<Constraint> = starts.collect();
        let runs_away = self.nest.domain.iter().any(|d| {
            let all: Vec<Constraint> = d.iter().chain(&at_start).chain(&beyond[0]).cloned().collect();
            !self.effort.is_empty(depth + 1, &all)
        });
        if runs_away {
            self.error(
                "E0413",
                e.span,
                "the loop may never end",
                "the iterator can start beyond this bound",
                "use `<` or `>`",
            );
            return false;
        }
        out.extend(keep.into_iter().flatten());
        true
    }

    /// The iterator must hold the value that ends the loop.
    fn check_exit(&mut self, header: &Header, value: &Affine, span: Span) {
        let (least, greatest) = type_range(header.ty);
        for disjunct in self.nest.domain.clone() {
            let (low, high) = self.effort.range(self.depth(), &disjunct, value);
            let last = if header.step > 0 { high } else { low };
            let Some(exit) = last.and_then(|l| l.checked_add(header.step)) else { continue };
            if (exit as i128) < least || exit as i128 > greatest {
                let label = format!("to end it, `{}` must become {exit}, which its type cannot hold", header.name);
                self.error("E0413", span, "the loop never ends", label, "use `int` or a wider type for the iterator");
                return;
            }
        }
    }
}

/// The name that a loop's header sets.
pub(super) fn counted(f: &For) -> Option<Rc<str>> {
    match &f.init {
        ForInit::Declare(all) => all.first().map(|d| d.name.clone()),
        ForInit::Expr(ast::Expr { kind: ExprKind::Assign(_, target, _), .. }) => match &target.kind {
            ExprKind::Name(n) => Some(n.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// The operands of a minimum or maximum written as `a < b ? a : b`.
fn extremum(e: &ast::Expr, greatest: bool) -> Option<(&ast::Expr, &ast::Expr)> {
    let ExprKind::Conditional(c, a, b) = &e.kind else { return None };
    let ExprKind::Binary(op, x, y) = &c.kind else { return None };
    let less = matches!(op, Binary::Lt | Binary::Le);
    if !less && !matches!(op, Binary::Gt | Binary::Ge) {
        return None;
    }
    let picks_left = if a.same(x) && b.same(y) {
        true
    } else if a.same(y) && b.same(x) {
        false
    } else {
        return None;
    };
    // `x < y ? x : y` is the minimum.
    let minimum = less == picks_left;
    (minimum != greatest).then_some((a, b))
}
