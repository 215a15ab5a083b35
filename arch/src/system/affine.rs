//! Affine functions of iterators or band coordinates, as the stages of [`super`] need them.

use frontend::flow;
use frontend::scop::{Affine, Constraint};

/// Coordinate `d` of `depth`.
pub fn coordinate(d: usize, depth: usize) -> Affine {
    let mut unit = Affine::constant(depth, 0);
    unit.coeffs[d] = 1;
    unit
}

/// `a - b`.
pub fn minus(a: &Affine, b: &Affine) -> Affine {
    Affine { coeffs: a.coeffs.iter().zip(&b.coeffs).map(|(x, y)| x - y).collect(), constant: a.constant - b.constant }
}

/// `f(g(·))`: `f` over the coordinates that `g` computes.
pub fn compose(f: &Affine, g: &[Affine], depth: usize) -> Affine {
    let mut out = Affine::constant(depth, f.constant);
    for (c, inner) in f.coeffs.iter().zip(g) {
        out.constant += c * inner.constant;
        for (o, x) in out.coeffs.iter_mut().zip(&inner.coeffs) {
            *o += c * x;
        }
    }
    out
}

/// The constraints hold at `n - shift`.
pub(super) fn shifted(conjunction: &[Constraint], shift: &[i64]) -> Vec<Constraint> {
    let back = |c: &Constraint| {
        let moved: i64 = c.expr.coeffs.iter().zip(shift).map(|(a, s)| a * s).sum();
        Constraint { expr: Affine { coeffs: c.expr.coeffs.clone(), constant: c.expr.constant - moved }, equality: c.equality }
    };
    conjunction.iter().map(back).collect()
}

pub(super) fn lexicographically_positive(v: &[i64]) -> bool {
    v.iter().find(|&&x| x != 0).is_some_and(|&x| x > 0)
}

/// The value of `a` if it is the same everywhere on `domain`.
pub(super) fn constant_on(a: &Affine, domain: &[Constraint]) -> Option<i64> {
    if a.is_constant() {
        return Some(a.constant);
    }
    let lo = flow::minimum(domain, a)?;
    (flow::maximum(domain, a)? == lo).then_some(lo)
}
