//! `for` loops: loop normalization. The iterator becomes `offset + step * i'`, where `i'` steps by +1 and has affine
//! bounds.
//!
//! - Step 1: the offset is 0, so `i'` is the source's iterator.
//! - Step -1: the offset is a constant that no start exceeds. `for (i = n; i > 0; i--)` with `n <= 8` is `i = 8 - i'`.
//! - Other steps: the offset is the start. If the start is a multiple of the step plus a constant, the offset is that
//!   constant, so that loops with different starts have comparable iterators.

use super::form::{add_scaled, compare, intersect, AffineValue, Dnf};
use super::header::Header;
use super::{Entity, Sema};
use crate::ast;
use crate::ast::{Binary, ExprKind, For, LoopKind};
use scop::diag::Span;
use scop::{Affine, Constraint, Loop};
use std::collections::{BTreeMap, BTreeSet};

/// Loops nest at most this deep.
const DEPTH: usize = 16;

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
        if let Some(rows) = self.in_rows(f) {
            return self.for_loop(&rows);
        }
        if let Some(unrolled) = self.unrolled(f, false) {
            return self.for_loop(&unrolled);
        }
        // If only conditions divide the iterator, unroll only if that removes faults "outside its bounds".
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
                // Declare the iterator, so that the body is checked without faults about it.
                if let Some(name) = f.iterator() {
                    self.bind(&name, Entity::Poison);
                }
                true
            }
        };
        if entered || self.faults.len() > before {
            let mut changed = BTreeSet::new();
            crate::effects::assigned(&f.body, &mut changed);
            self.kill_definitions(&changed);
            self.counters.push(0);
            self.statement(&f.body);
            self.counters.pop();
            self.kill_definitions(&changed);
        }
        self.scopes.pop();
        self.nest = outer;
    }

    /// Enters the loop into the nest; false if its body is never executed or its condition is faulty.
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
        self.nest.iterators.push(super::width::iterator(header.ty, header.width, value.clone()));
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
        if f.kind == LoopKind::Do {
            self.check_first(&header, &started, &upper, condition.span);
        }
        let before = self.faults.len();
        self.check_exit(&header, &value, condition.span);
        if self.faults.len() == before && self.may_wrap(condition) {
            self.check_ends(condition, &header, &started, &upper);
        }
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
                self.bad_header::<()>(
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

    /// Appends the loop's condition as constraints; false if it was refused.
    fn upper(&mut self, e: &ast::Expr, header: &Header, out: &mut Vec<Constraint>) -> bool {
        let ExprKind::Binary(op, a, b) = &e.kind else {
            return self
                .bad_header::<()>(
                    e.span,
                    "the loop's condition is not understood",
                    "expected a comparison of the iterator",
                )
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
                    .bad_header::<()>(
                        e.span,
                        "the loop's condition is not understood",
                        "expected `<`, `<=`, `>` or `>=`",
                    )
                    .is_some()
            }
        };
        let left = self.terms(a, true, "E0407", "the loop's bound");
        let right = self.terms(b, false, "E0407", "the loop's bound");
        let (Some(left), Some(right)) = (left, right) else { return false };
        for (x, y) in left.iter().flat_map(|x| right.iter().map(move |y| (x, y))) {
            let Some(ty) = super::types::usual(x.ty, y.ty).filter(|ty| !ty.signed()) else { continue };
            // A negative operand would become a large number.
            for (v, at) in [(x, a), (y, b)].into_iter().filter(|(v, _)| !v.form.is_constant()) {
                if let Err(refusal) = self.fitted(v.form.clone(), ty, at.span) {
                    self.report_refusal(refusal, "E0407", "the loop's bound");
                    return false;
                }
            }
        }
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
                let label = "with this step, the condition remains true once it is true";
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
            ([x], [y]) if self.meets(&x.form, &y.form) => {
                compare(Binary::Lt, &x.form, &y.form).zip(compare(Binary::Gt, &x.form, &y.form))
            }
            _ => None,
        };
        let Some((less, greater)) = sides else {
            let why = "only for one bound, and if no step can pass over it";
            return self.bad_header::<()>(e.span, "`!=` as a loop's condition", why).is_some();
        };
        let falls = |d: &Dnf| d[0][0].expr.coeffs[depth] < 0;
        let (inside, beyond) = if falls(&less) { (less, greater) } else { (greater, less) };
        // Can the start be beyond END?
        let at_start = self.at_start(header);
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
        out.extend(inside.into_iter().flatten());
        true
    }

    /// Whether the difference of two forms cannot pass over 0 from one iteration to the next.
    fn meets(&self, x: &Affine, y: &Affine) -> bool {
        let Some(difference) = add_scaled(x, y, -1) else { return false };
        let step = difference.coeffs.get(self.depth() - 1).copied().unwrap_or(0);
        step != 0 && difference.coeffs.iter().chain([&difference.constant]).all(|c| c % step == 0)
    }

    /// Constraints that hold in the loop's first iteration only.
    fn at_start(&self, header: &Header) -> Vec<Constraint> {
        let depth = self.depth() - 1;
        let starts = header.starts.iter().filter_map(|s| {
            let mut form = s.form.clone();
            form.coeffs.resize(depth + 1, 0);
            let value = &self.nest.iterators[depth].value;
            let difference = add_scaled(value, &form, -1)?;
            Some(Constraint { expr: difference, equality: true })
        });
        starts.collect()
    }

    /// A `do` loop runs its body once before it tests its condition, which must hold then anyway.
    fn check_first(&mut self, header: &Header, started: &Dnf, upper: &[Constraint], span: Span) {
        let (depth, at_start) = (self.depth(), self.at_start(header));
        let fails = |c: &Constraint| {
            let mut expr = c.expr.clone();
            expr.coeffs.iter_mut().for_each(|x| *x = -*x);
            expr.constant = -expr.constant - 1;
            started.iter().any(|d| {
                let fails = Constraint { expr: expr.clone(), equality: false };
                let all: Vec<Constraint> = d.iter().chain(&at_start).cloned().chain([fails]).collect();
                !self.effort.is_empty(depth, &all)
            })
        };
        if upper.iter().any(fails) {
            let label = "it may be false before the first iteration, which runs nevertheless";
            self.error("E0401", span, "the condition of a `do` loop", label, "write a `for` or `while` loop");
        }
    }

    /// Whether an unsigned or narrow operation inside of a condition could wrap around.
    fn may_wrap(&self, condition: &ast::Expr) -> bool {
        let mut found = false;
        condition.walk(&mut |e| {
            found |= match &e.kind {
                ExprKind::Cast(ty, _) => !ty.signed() || ty.bits() < 32,
                // One side is signed, and is converted.
                ExprKind::Binary(op, a, b) if op.is_comparison() => {
                    let (a, b) = (self.type_of(a), self.type_of(b));
                    let both = a.zip(b).and_then(|(a, b)| super::types::usual(a, b));
                    both.is_none_or(|ty| !ty.signed()) && [a, b].iter().any(|ty| ty.is_none_or(|ty| ty.signed()))
                }
                ExprKind::Binary(op, ..) if !op.is_comparison() => self.type_of(e).is_none_or(|ty| !ty.signed()),
                ExprKind::Unary(..) => self.type_of(e).is_none_or(|ty| !ty.signed()),
                _ => false,
            }
        });
        found
    }

    /// Where the condition is tested first, and where it fails, it must be affine, too: nothing in it may wrap around.
    fn check_ends(&mut self, condition: &ast::Expr, header: &Header, started: &Dnf, upper: &[Constraint]) {
        let depth = self.depth();
        let behind = upper.iter().map(|c| {
            let mut expr = c.expr.clone();
            expr.constant -= expr.coeffs.get(depth - 1).copied().unwrap_or(0);
            Constraint { expr, equality: c.equality }
        });
        let before = self.faults.len();
        for ends in [self.at_start(header), behind.collect()] {
            let domain = self.restrict(started, &vec![ends]);
            let whole = std::mem::replace(&mut self.nest.domain, domain);
            self.upper(condition, header, &mut vec![]);
            self.nest.domain = whole;
            if self.faults.len() > before {
                return;
            }
        }
    }

    /// The iterator's type must hold the value that ends the loop.
    fn check_exit(&mut self, header: &Header, value: &Affine, span: Span) {
        let (least, greatest) = super::width::range(header.ty, header.width);
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
