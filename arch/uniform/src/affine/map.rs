//! Affine functions of iterators or of the iteration space, and sets of their values.

use crate::affine::gcd;
use scop::flow;
use scop::{Affine, Constraint};

/// Coordinate `d` of `depth`.
pub fn coordinate(d: usize, depth: usize) -> Affine {
    let mut unit = Affine::constant(depth, 0);
    unit.coeffs[d] = 1;
    unit
}

/// Coordinate `d` of `depth` has this value.
pub fn fixed(d: usize, value: i64, depth: usize) -> Constraint {
    Constraint { expr: Affine { constant: -value, ..coordinate(d, depth) }, equality: true }
}

/// Coordinate `d` of `depth` has one of these values.
pub fn between(d: usize, [lo, hi]: [i64; 2], depth: usize) -> [Constraint; 2] {
    [(1, -lo), (-1, hi)].map(|(sign, constant)| {
        let mut expr = Affine::constant(depth, constant);
        expr.coeffs[d] = sign;
        Constraint { expr, equality: false }
    })
}

/// A function of the coordinates from `first` on, of `depth` in all.
pub fn among(a: &Affine, first: usize, depth: usize) -> Affine {
    let mut coeffs = vec![0; depth];
    coeffs[first..][..a.coeffs.len()].copy_from_slice(&a.coeffs);
    Affine { coeffs, constant: a.constant }
}

/// `a - b`.
pub fn minus(a: &Affine, b: &Affine) -> Affine {
    Affine { coeffs: a.coeffs.iter().zip(&b.coeffs).map(|(x, y)| x - y).collect(), constant: a.constant - b.constant }
}

/// `f(g(·))`: `f` over the coordinates that `g` computes.
pub fn compose(f: &Affine, g: &[Affine], depth: usize) -> Affine {
    let mut out = Affine::constant(depth, f.constant);
    for (c, inner) in f.coeffs.iter().zip(g).filter(|(&c, _)| c != 0) {
        out.constant += c * inner.constant;
        for (o, x) in out.coeffs.iter_mut().zip(&inner.coeffs) {
            *o += c * x;
        }
    }
    out
}

/// Every subscript lies inside of its extent.
pub fn in_bounds(subscripts: &[Affine], extents: &[i64]) -> Vec<Constraint> {
    let mut all = Vec::new();
    for (low, extent) in subscripts.iter().zip(extents) {
        let high = Affine { coeffs: low.coeffs.iter().map(|c| -c).collect(), constant: extent - 1 - low.constant };
        all.extend([low.clone(), high].map(|expr| Constraint { expr, equality: false }));
    }
    all
}

/// The constraints hold at `n - shift`.
pub fn shifted(conjunction: &[Constraint], shift: &[i64]) -> Vec<Constraint> {
    let back = |c: &Constraint| {
        let moved: i64 = c.expr.coeffs.iter().zip(shift).map(|(a, s)| a * s).sum();
        Constraint {
            expr: Affine { coeffs: c.expr.coeffs.clone(), constant: c.expr.constant - moved },
            equality: c.equality,
        }
    };
    conjunction.iter().map(back).collect()
}

pub fn lexicographically_positive(v: &[i64]) -> bool {
    v.iter().find(|&&x| x != 0).is_some_and(|&x| x > 0)
}

/// Whether functions over the coordinates are, in the order of a dictionary, positive everywhere on `domain`.
pub fn lexicographically_positive_on(v: &[Affine], domain: &[Constraint]) -> bool {
    let first = v.iter().find(|a| constant_on(a, domain) != Some(0));
    first.and_then(|a| flow::minimum(domain, a)).is_some_and(|least| least > 0)
}

/// The value of `a` if it is the same everywhere on `domain`.
pub fn constant_on(a: &Affine, domain: &[Constraint]) -> Option<i64> {
    if a.is_constant() {
        return Some(a.constant);
    }
    let lo = flow::minimum(domain, a)?;
    (flow::maximum(domain, a)? == lo).then_some(lo)
}

/// A function in steps of its strides, and the function over these steps: `2i + 1` is `2y + 1` with `y = i`. Constants
/// at the end take no step: `[i][1]` is `[y][1]`.
pub fn without_strides(values: &[Affine]) -> (Vec<Affine>, Vec<Affine>) {
    let rank = values.iter().rposition(|a| !a.is_constant()).map_or(values.len(), |d| d + 1);
    let strides: Vec<i64> = values.iter().map(|a| a.coeffs.iter().fold(0, |g, &c| gcd(g, c)).max(1)).collect();
    let step = |(value, &stride): (&Affine, &i64)| match stride {
        1 => value.clone(),
        _ => Affine { coeffs: value.coeffs.iter().map(|c| c / stride).collect(), constant: 0 },
    };
    let over = |(d, (value, &stride)): (usize, (&Affine, &i64))| {
        let mut form = Affine::constant(rank, value.constant);
        if d < rank {
            form.coeffs[d] = stride;
            form.constant = if stride == 1 { 0 } else { value.constant };
        }
        form
    };
    let both = || values.iter().zip(&strides);
    (both().take(rank).map(step).collect(), both().enumerate().map(over).collect())
}
