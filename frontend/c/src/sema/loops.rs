//! `for` loops: loop normalization. The iterator becomes `offset + step * i'`, where `i'` steps by +1 and has affine
//! bounds.
//!
//! - Step 1: the offset is 0, so `i'` is the source's iterator.
//! - Step -1: the offset is a constant that no start exceeds. `for (i = n; i > 0; i--)` with `n <= 8` is `i = 8 - i'`.
//! - Other steps: the offset is the start. If the start is a multiple of the step plus a constant, the offset is that
//!   constant, so that loops with different starts have comparable iterators.

use super::affine::type_range;
use super::form::{add_scaled, compare, intersect, AffineValue, Dnf};
use super::header::Header;
use super::{Entity, Iterator, Sema};
use crate::ast;
use crate::ast::{Binary, ExprKind, For};
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
            ([x], [y]) if header.step.abs() == 1 => {
                compare(Binary::Lt, &x.form, &y.form).zip(compare(Binary::Gt, &x.form, &y.form))
            }
            _ => None,
        };
        let Some((less, greater)) = sides else {
            return self
                .bad_header::<()>(e.span, "`!=` as a loop's condition", "only for one bound and the step 1 or -1")
                .is_some();
        };
        let falls = |d: &Dnf| d[0][0].expr.coeffs[depth] < 0;
        let (inside, beyond) = if falls(&less) { (less, greater) } else { (greater, less) };
        // Can the start be beyond END?
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
        out.extend(inside.into_iter().flatten());
        true
    }

    /// The iterator's type must hold the value that ends the loop.
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
