//! Functions of iterators as tables: `cosf(2 * PI * i / 32)` has 32 values, which need no hardware for `cosf`.
//!
//! The largest part of a value that calls a function of <math.h>, depends on iterators and reads nothing becomes a table.
//! A local scalar that holds such a part (`float angle = …; y[i] = cosf(angle);`) is replaced by its value first.
//!
//! The values are those of [`scop::interp`], which calls the C library of this machine, as the C program does: a
//! simulation on this machine is exact to the bit. Another machine's library may round the last bit in another way.
//! The printed program (`--emit=scop`) contains the numbers, so a design from it does not depend on the machine.

use super::stmt::live_reads;
use super::table::{self, LARGEST};
use super::Sema;
use scop::diag::{Diagnostic, Diagnostics};
use scop::{interp, Access, Affine, ArrayId, Binding, Constraint, Expr, ExprKind, Storage};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Sema {
    /// Replaces calls on iterators by tables.
    pub(super) fn tabulate(&mut self) {
        let (replaced, faults) = (RefCell::default(), RefCell::default());
        for s in 0..self.statements.len() {
            if !calls(&self.statements[s].rhs) {
                continue;
            }
            let rhs = self.unfolded(s, &self.statements[s].rhs, &replaced);
            let rhs = self.tabulated(&self.statements[s].domain, &rhs, &faults);
            let (rhs, reads) = live_reads(&rhs, &self.statements[s].reads);
            (self.statements[s].rhs, self.statements[s].reads) = (rhs, reads);
        }
        self.faults.extend(faults.take());
        let replaced = replaced.take();
        // Nothing reads such a scalar any longer.
        let read: BTreeSet<_> = self.statements.iter().flat_map(|s| s.reads.iter().map(|r| r.array)).collect();
        self.statements.retain(|s| !replaced.contains(&s.write.array) || read.contains(&s.write.array));
    }

    /// The value with the local scalars in its calls replaced by values that read nothing.
    fn unfolded(&self, s: usize, e: &Expr, replaced: &RefCell<BTreeSet<ArrayId>>) -> Expr {
        if !calls(e) {
            return e.clone();
        }
        if let ExprKind::Host(..) = &e.kind {
            let whole = self.without_reads(s, e, replaced);
            return whole.unwrap_or_else(|| e.clone());
        }
        e.with_operands(|x| self.unfolded(s, x, replaced))
    }

    /// The expression without reads, if each is of a local scalar that one statement sets in the same iteration.
    fn without_reads(&self, s: usize, e: &Expr, replaced: &RefCell<BTreeSet<ArrayId>>) -> Option<Expr> {
        let fine = Cell::new(true);
        let value = e.with_operands(|x| match self.without_reads(s, x, replaced) {
            Some(x) => x,
            None => {
                fine.set(false);
                x.clone()
            }
        });
        let ExprKind::Read(k) = &e.kind else { return fine.get().then_some(value) };
        let statement = &self.statements[s];
        let Access { array, .. } = &statement.reads[*k];
        let local = &self.arrays[array.index()];
        if local.storage != Storage::Local || local.binding != Binding::Local || !local.dims.is_empty() {
            return None;
        }
        let writers = self.sources[s].iter().find(|source| source.array == *array)?.writers.clone()?;
        let writer = match writers.iter().collect::<Vec<_>>()[..] {
            [&only] => &self.statements[only],
            _ => return None,
        };
        let around = statement.loops.starts_with(&writer.loops);
        if !around || !writer.reads.is_empty() {
            return None;
        }
        replaced.borrow_mut().insert(*array);
        Some(deepened(&writer.rhs, statement.loops.len()))
    }

    fn tabulated(&self, domain: &[Vec<Constraint>], e: &Expr, faults: &RefCell<Diagnostics>) -> Expr {
        if !calls(e) {
            return e.clone();
        }
        let mut forms = vec![];
        if reads(e) || !collect(e, &mut forms) {
            return e.with_operands(|x| self.tabulated(domain, x, faults));
        }
        if forms.iter().all(Affine::is_constant) {
            return e.clone();
        }
        self.values(domain, e, &forms, faults).unwrap_or_else(|| e.clone())
    }

    /// The values of `e` as a table over what `forms` depend on; `None` if the reason was reported.
    fn values(
        &self,
        domain: &[Vec<Constraint>],
        e: &Expr,
        forms: &[Affine],
        faults: &RefCell<Diagnostics>,
    ) -> Option<Expr> {
        let depth = forms.iter().map(|f| f.coeffs.len()).max()?;
        let axes = directions(forms, depth);
        let mut ranges = vec![];
        for axis in &axes {
            let all = domain.iter().map(|d| self.effort.range(depth, d, &axis.form));
            let (low, high): (Vec<_>, Vec<_>) = all.unzip();
            let low = low.into_iter().collect::<Option<Vec<i64>>>().and_then(|all| all.into_iter().min());
            let high = high.into_iter().collect::<Option<Vec<i64>>>().and_then(|all| all.into_iter().max());
            ranges.push(low.zip(high));
        }
        let ranges: Vec<(i64, i64)> = ranges.into_iter().collect::<Option<_>>()?;
        let dims: Vec<i64> = ranges.iter().map(|(low, high)| (high - low).saturating_add(1)).collect();
        let total = dims.iter().fold(1i64, |n, d| n.saturating_mul(*d));
        if total > LARGEST {
            let fault = Diagnostic::error("E0404", e.span, "a function of iterators with too many values")
                .label(format!("as a table it has {total} values, at most {LARGEST} are supported"));
            faults.borrow_mut().push(fault.help(
                "pass the values in an array, or read a smaller `static const` table at a remainder, such as \
                `T[(k * n) % N]`",
            ));
            return None;
        }
        let mut values = vec![];
        for k in 0..total {
            let (mut rest, mut point) = (k, vec![0; depth]);
            for ((axis, dim), (low, _)) in axes.iter().zip(&dims).zip(&ranges).rev() {
                point[axis.coordinate] = (low + rest % dim) * axis.sign;
                rest /= dim;
            }
            values.push(interp::eval(e, &[], &point));
        }
        let subscripts: Vec<Affine> = axes
            .iter()
            .zip(&ranges)
            .map(|(axis, (low, _))| Affine { constant: axis.form.constant - low, ..axis.form.clone() })
            .collect();
        Some(table::element(&Arc::from(values), &dims, &subscripts, e.ty, e.span))
    }
}

/// A dimension of a table: the value of a form, which the coordinate `coordinate` alone gives if the others are 0.
struct Axis {
    form: Affine,
    coordinate: usize,
    sign: i64,
}

/// One axis if all forms are multiples of it, such as of `i + j`; else one for each coordinate.
fn directions(forms: &[Affine], depth: usize) -> Vec<Axis> {
    let used = |d: usize| forms.iter().any(|f| f.coeffs.get(d).is_some_and(|&c| c != 0));
    let parallel = |f: &Affine, g: &Affine| {
        let at = |f: &Affine, d: usize| i128::from(f.coeffs.get(d).copied().unwrap_or(0));
        (0..depth).all(|a| (0..depth).all(|b| at(f, a) * at(g, b) == at(f, b) * at(g, a)))
    };
    let first = forms.iter().find(|f| !f.is_constant());
    if let Some(first) = first.filter(|first| forms.iter().all(|f| parallel(first, f))) {
        let common = first.coeffs.iter().fold(0, |g, &c| num_integer::gcd(g, c));
        let mut form = Affine::constant(depth, 0);
        first.coeffs.iter().enumerate().for_each(|(d, c)| form.coeffs[d] = c / common);
        if let Some(d) = form.coeffs.iter().position(|c| c.abs() == 1) {
            return vec![Axis { sign: form.coeffs[d], form, coordinate: d }];
        }
    }
    let unit = |d: usize| {
        let mut form = Affine::constant(depth, 0);
        form.coeffs[d] = 1;
        Axis { form, coordinate: d, sign: 1 }
    };
    (0..depth).filter(|&d| used(d)).map(unit).collect()
}

fn calls(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Host(..)) || e.operands().into_iter().any(calls)
}

fn reads(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Read(_)) || e.operands().into_iter().any(reads)
}

/// Collects the forms that `e` depends on; false if there is none.
fn collect(e: &Expr, out: &mut Vec<Affine>) -> bool {
    match &e.kind {
        ExprKind::Iter(form) => out.push(form.clone()),
        ExprKind::Holds(all) => out.extend(all.iter().map(|c| c.expr.clone())),
        _ => {
            for x in e.operands() {
                collect(x, out);
            }
        }
    }
    !out.is_empty()
}

/// The expression in a deeper nest.
fn deepened(e: &Expr, depth: usize) -> Expr {
    let form = |f: &Affine| {
        let mut f = f.clone();
        f.coeffs.resize(depth, 0);
        f
    };
    let kind = match &e.kind {
        ExprKind::Iter(f) => ExprKind::Iter(form(f)),
        ExprKind::Holds(all) => {
            ExprKind::Holds(all.iter().map(|c| Constraint { expr: form(&c.expr), ..c.clone() }).collect())
        }
        _ => return e.with_operands(|x| deepened(x, depth)),
    };
    Expr { kind, ..e.clone() }
}
