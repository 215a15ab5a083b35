//! Arithmetic on affine forms with overflow checks, and unions of conjunctions.

use crate::ast::Binary;
use scop::diag::Span;
use scop::{Affine, Constraint, ScalarType};
use std::borrow::Cow;

/// An affine form and the C type of the expression.
#[derive(Clone, Debug)]
pub(super) struct AffineValue {
    pub form: Affine,
    pub ty: ScalarType,
}

/// Why an expression is not affine. `code` is `None` if the reason was reported already.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub code: Option<&'static str>,
    pub span: Span,
    pub why: String,
    pub help: Cow<'static, str>,
}

pub(super) type Affinity<T> = Result<T, Refusal>;

/// Larger numbers are refused, so sums of them cannot overflow.
pub(super) const LARGEST: i64 = 1 << 50;

pub(super) fn refuse<T>(span: Span, why: impl Into<String>, help: impl Into<Cow<'static, str>>) -> Affinity<T> {
    Err(Refusal { code: Some("E0407"), span, why: why.into(), help: help.into() })
}

pub(super) fn too_large<T>(span: Span) -> Affinity<T> {
    Err(Refusal {
        code: Some("E0410"),
        span,
        why: "the number is beyond 2^50".into(),
        help: "use smaller sizes".into(),
    })
}

/// `a + factor * b`, `None` beyond the limit.
pub(super) fn add_scaled(a: &Affine, b: &Affine, factor: i64) -> Option<Affine> {
    let mix = |x: i64, y: i64| x.checked_add(y.checked_mul(factor)?).filter(|v| v.abs() <= LARGEST);
    let depth = a.coeffs.len().max(b.coeffs.len());
    let at = |v: &Affine, d: usize| v.coeffs.get(d).copied().unwrap_or(0);
    let coeffs = (0..depth).map(|d| mix(at(a, d), at(b, d))).collect::<Option<Vec<_>>>()?;
    Some(Affine { coeffs, constant: mix(a.constant, b.constant)? })
}

pub(super) fn scaled(form: &Affine, factor: i64) -> Option<Affine> {
    add_scaled(&Affine::constant(form.coeffs.len(), 0), form, factor)
}

/// A union of disjoint conjunctions.
pub(super) type Dnf = Vec<Vec<Constraint>>;

/// The truth of a condition in the current domain.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Truth {
    Always,
    Never,
    /// Affine: the sets where it holds and where it fails.
    Sometimes(Dnf, Dnf),
    /// It depends on data.
    Data,
}

fn at_least_zero(expr: Affine) -> Constraint {
    Constraint { expr, equality: false }
}

/// The intersection: all pairs of a conjunction of `a` and one of `b`.
pub(super) fn intersect(a: &Dnf, b: &Dnf) -> Dnf {
    a.iter().flat_map(|x| b.iter().map(move |y| merged(x, y))).collect()
}

/// Both conjunctions together, without trivial constraints and with only the tightest of those with equal coefficients.
fn merged(a: &[Constraint], b: &[Constraint]) -> Vec<Constraint> {
    let mut out: Vec<Constraint> = vec![];
    for c in a.iter().chain(b).map(tightened) {
        if c.expr.is_constant() && c.holds(&[]) {
            continue;
        }
        match out.iter_mut().find(|o| same_coefficients(&o.expr, &c.expr) && o.equality == c.equality) {
            Some(o) if !c.equality => o.expr.constant = o.expr.constant.min(c.expr.constant),
            Some(o) if o.expr.constant == c.expr.constant => {}
            _ => out.push(c),
        }
    }
    out
}

/// Equality of coefficients; missing ones count as 0.
fn same_coefficients(a: &Affine, b: &Affine) -> bool {
    let depth = a.coeffs.len().max(b.coeffs.len());
    let at = |v: &Affine, d: usize| v.coeffs.get(d).copied().unwrap_or(0);
    (0..depth).all(|d| at(a, d) == at(b, d))
}

/// The constraint divided by the gcd of its coefficients, with the constant rounded down.
fn tightened(c: &Constraint) -> Constraint {
    let divisor = c.expr.coeffs.iter().fold(0, |g, &x| num_integer::gcd(g, x));
    if divisor < 2 || (c.equality && c.expr.constant % divisor != 0) {
        return c.clone();
    }
    let coeffs = c.expr.coeffs.iter().map(|x| x / divisor).collect();
    Constraint { expr: Affine { coeffs, constant: c.expr.constant.div_euclid(divisor) }, equality: c.equality }
}

pub(super) fn negated(op: Binary) -> Binary {
    match op {
        Binary::Lt => Binary::Ge,
        Binary::Ge => Binary::Lt,
        Binary::Gt => Binary::Le,
        Binary::Le => Binary::Gt,
        Binary::Eq => Binary::Ne,
        _ => Binary::Eq,
    }
}

/// `x op y` as constraints; `None` if the numbers overflow.
pub(super) fn compare(op: Binary, x: &Affine, y: &Affine) -> Option<Dnf> {
    let difference = |a: &Affine, b: &Affine, strict: i64| {
        let mut d = add_scaled(a, b, -1)?;
        d.constant -= strict;
        Some(at_least_zero(d))
    };
    Some(match op {
        Binary::Lt => vec![vec![difference(y, x, 1)?]],
        Binary::Le => vec![vec![difference(y, x, 0)?]],
        Binary::Gt => vec![vec![difference(x, y, 1)?]],
        Binary::Ge => vec![vec![difference(x, y, 0)?]],
        Binary::Eq => vec![vec![Constraint { equality: true, ..difference(x, y, 0)? }]],
        _ => vec![vec![difference(y, x, 1)?], vec![difference(x, y, 1)?]],
    })
}
