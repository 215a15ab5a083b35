//! First extents that a declaration leaves open: the elements that the region accesses.
//!
//! With sizes at run time such an extent is an affine form over the sizes. It is an upper bound of the subscripts: each
//! iterator is replaced by a bound of its loop, from the inside out (Fourier–Motzkin elimination of one form).
//!
//! Example: `for (int i = 0; i < n; i++) c[i] = a[i + 1];` gives `a` the extent `n + 1`.

use super::form::add_scaled;
use super::Sema;
use scop::{Affine, Constraint};

/// Limit on the bounds of one subscript that are looked at.
const BOUNDS: usize = 64;

impl Sema {
    /// Sets the extents that were left open.
    pub(super) fn close_extents(&mut self) {
        for slot in self.slots.iter().filter(|s| s.open) {
            let Some(id) = slot.array else { continue };
            let mut extent = 1;
            let mut form: Option<Affine> = None;
            for s in &self.statements {
                for access in s.reads.iter().chain([&s.write]).filter(|a| a.array == id) {
                    let last = s.domain.iter().filter_map(|part| scop::flow::maximum(part, &access.subscripts[0]));
                    extent = last.map(|x| x + 1).fold(extent, i64::max);
                    for part in s.domain.iter().filter(|_| !self.sizes.is_empty()) {
                        let own = self.bound_over_sizes(part, &access.subscripts[0]);
                        form = Some(self.larger(form, own.unwrap_or_else(|| self.constant(extent - 1))));
                    }
                }
            }
            let array = &mut self.arrays[id.index()];
            array.dims[0] = extent;
            let Some(mut form) = form else { continue };
            form.constant += 1;
            // A size may be so small that nothing is accessed.
            let maxima: Vec<i64> = self.sizes.iter().map(|s| s.max).collect();
            form.constant += (1 - form.over_sizes(&maxima).0).max(0);
            array.dims[0] = form.over_sizes(&maxima).1;
            if array.extents.is_empty() && !form.is_constant() {
                array.extents = array.dims.iter().map(|&n| Affine::constant(self.sizes.len(), n)).collect();
            }
            if let Some(first) = array.extents.first_mut() {
                *first = form;
            }
        }
    }

    fn constant(&self, value: i64) -> Affine {
        Affine::constant(self.sizes.len(), value)
    }

    /// A form that is at least as large as both.
    fn larger(&self, a: Option<Affine>, b: Affine) -> Affine {
        let Some(a) = a else { return b };
        let maxima: Vec<i64> = self.sizes.iter().map(|s| s.max).collect();
        let Some((least, greatest)) = add_scaled(&a, &b, -1).map(|d| d.over_sizes(&maxima)) else { return a };
        if least >= 0 {
            a
        } else if greatest <= 0 {
            b
        } else {
            // Neither is always the larger one: take a plus what b can exceed it by.
            Affine { constant: a.constant - least, ..a }
        }
    }

    /// An upper bound of `form` over the sizes in a part of the iterations: the least of those that were found.
    fn bound_over_sizes(&self, part: &[Constraint], form: &Affine) -> Option<Affine> {
        let maxima: Vec<i64> = self.sizes.iter().map(|s| s.max).collect();
        let mut forms = vec![form.clone()];
        for d in (self.sizes.len()..form.coeffs.len()).rev() {
            let mut next: Vec<Affine> = vec![];
            for f in forms {
                match f.coeffs[d] {
                    0 => next.push(f),
                    _ => next.extend(part.iter().filter_map(|c| replaced(&f, d, c))),
                }
            }
            next.truncate(BOUNDS);
            forms = next;
        }
        forms.iter_mut().for_each(|f| f.coeffs.truncate(self.sizes.len()));
        let greatest = |f: &Affine| f.over_sizes(&maxima).1;
        let sum = |f: &Affine| f.eval(&maxima.iter().map(|m| (m / 2).max(1)).collect::<Vec<_>>());
        forms.into_iter().min_by_key(|f| (greatest(f), sum(f)))
    }
}

/// The form with iterator `d` replaced by the bound that the constraint gives in the direction in which the form grows.
fn replaced(form: &Affine, d: usize, c: &Constraint) -> Option<Affine> {
    let factor = form.coeffs[d];
    let own = c.expr.coeffs.get(d).copied().unwrap_or(0);
    // own * x + rest >= 0 bounds x from above if own < 0; inner iterators must be gone.
    let falls = own.signum() == -factor.signum() || c.equality && own != 0;
    let inner = c.expr.coeffs.iter().skip(d + 1).any(|&x| x != 0);
    if !falls || inner || factor % own != 0 {
        return None;
    }
    // form - (factor / own) * constraint has no x, and is not smaller.
    let mut bound = add_scaled(form, &c.expr, -(factor / own))?;
    bound.coeffs.truncate(form.coeffs.len());
    (bound.coeffs[d] == 0).then_some(bound)
}
