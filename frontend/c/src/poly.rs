//! Integer polynomials over the names and the opaque parts of C expressions.
//!
//! They compare values and add them up: `w + 2 - w` is 2. A polynomial equals the C expression modulo 2^`width`, so a
//! conversion to a narrower type, or an unsigned operation that is narrower, is opaque: an *atom*.

use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::sema::{promote, type_of};
use scop::diag::Span;
use scop::literal::int;
use scop::value;
use scop::ScalarType;
use std::collections::{BTreeMap, BTreeSet};

/// The type of a name, an element or a call.
pub(crate) type Leaf<'a> = &'a dyn Fn(&Expr) -> Option<ScalarType>;

/// A product of atoms, by their texts in order.
pub(crate) type Monomial = Vec<String>;

/// Larger numbers are not computed with.
const LARGEST: i64 = 1 << 50;
/// Limit on the terms of a polynomial.
const TERMS: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct Poly {
    terms: BTreeMap<Monomial, i64>,
    atoms: BTreeMap<String, Expr>,
}

impl Poly {
    pub fn constant(value: i64) -> Poly {
        let terms = if value == 0 { BTreeMap::new() } else { BTreeMap::from([(vec![], value)]) };
        Poly { terms, atoms: BTreeMap::new() }
    }

    pub fn atom(e: &Expr) -> Poly {
        let text = text(e);
        Poly { terms: BTreeMap::from([(vec![text.clone()], 1)]), atoms: BTreeMap::from([(text, e.clone())]) }
    }

    /// The value of `e` modulo 2^`width`; `None` if it becomes too large.
    pub fn of(e: &Expr, width: u32, leaf: Leaf) -> Option<Poly> {
        let of = |e: &Expr| Poly::of(e, width, leaf);
        let exact = |e: &Expr| type_of(e, leaf).is_some_and(|ty| !ty.is_float() && (ty.signed() || ty.bits() >= width));
        match &e.kind {
            ExprKind::Literal(bits, ty) if !ty.is_float() => {
                i64::try_from(value::to_integer(*bits, *ty)).ok().filter(|n| n.abs() <= LARGEST).map(Poly::constant)
            }
            ExprKind::Cast(ty, a) if !ty.is_float() => match type_of(a, leaf) {
                Some(from) if !from.is_float() && (ty.bits() >= width || contains(from, *ty)) => of(a),
                _ => Some(Poly::atom(e)),
            },
            ExprKind::Unary(Unary::Plus, a) => of(a),
            ExprKind::Unary(Unary::Neg, a) if exact(e) => of(a)?.times(&Poly::constant(-1)),
            ExprKind::Binary(Binary::Add, a, b) if exact(e) => of(a)?.plus(&of(b)?, 1),
            ExprKind::Binary(Binary::Sub, a, b) if exact(e) => of(a)?.plus(&of(b)?, -1),
            ExprKind::Binary(Binary::Mul, a, b) if exact(e) => of(a)?.times(&of(b)?),
            ExprKind::Binary(Binary::Shl, a, b) if exact(e) => match of(b)?.as_constant() {
                Some(by) if (0..32).contains(&by) => of(a)?.times(&Poly::constant(1 << by)),
                _ => Some(Poly::atom(e)),
            },
            ExprKind::Binary(Binary::Div, a, b) if exact(e) => match (of(a)?.as_constant(), of(b)?.as_constant()) {
                (Some(a), Some(b)) if b > 0 => Some(Poly::constant(a / b)),
                _ => Some(Poly::atom(e)),
            },
            ExprKind::Conditional(c, a, b) => match decided(c, leaf) {
                Some(holds) => of(if holds { a } else { b }),
                None => Some(Poly::atom(e)),
            },
            _ => Some(Poly::atom(e)),
        }
    }

    /// `self + factor * other`
    pub fn plus(&self, other: &Poly, factor: i64) -> Option<Poly> {
        let mut sum = self.clone();
        sum.atoms.extend(other.atoms.iter().map(|(t, e)| (t.clone(), e.clone())));
        for (monomial, &c) in &other.terms {
            let old = sum.terms.remove(monomial).unwrap_or(0);
            let new = old.checked_add(c.checked_mul(factor)?).filter(|n| n.abs() <= LARGEST)?;
            if new != 0 {
                sum.terms.insert(monomial.clone(), new);
            }
        }
        (sum.terms.len() <= TERMS).then(|| sum.cleaned())
    }

    pub fn times(&self, other: &Poly) -> Option<Poly> {
        let mut product = Poly::default();
        for (m, &c) in &self.terms {
            let row = other.terms.iter().map(|(n, &d)| {
                let mut both: Monomial = m.iter().chain(n).cloned().collect();
                both.sort();
                Some((both, c.checked_mul(d)?))
            });
            let row = Poly { terms: row.collect::<Option<_>>()?, atoms: other.atoms.clone() };
            product = product.plus(&row, 1)?;
        }
        product.atoms.extend(self.atoms.clone());
        Some(product.cleaned())
    }

    fn cleaned(mut self) -> Poly {
        let terms = &self.terms;
        self.atoms.retain(|t, _| terms.keys().any(|m| m.contains(t)));
        self
    }

    pub fn as_constant(&self) -> Option<i64> {
        match self.terms.iter().next() {
            None => Some(0),
            Some((m, &c)) if m.is_empty() && self.terms.len() == 1 => Some(c),
            _ => None,
        }
    }

    /// A common divisor of all terms, if it divides them; the quotient.
    pub fn divided(&self, by: i64) -> Option<Poly> {
        let terms = self.terms.iter().map(|(m, &c)| (c % by == 0).then(|| (m.clone(), c / by)));
        Some(Poly { terms: terms.collect::<Option<_>>()?, atoms: self.atoms.clone() })
    }

    /// The polynomial as `rest + factor * name`, if it is linear in the name with a constant factor.
    pub fn linear_in(&self, name: &Expr) -> Option<(Poly, i64)> {
        let text = text(name);
        let mut rest = self.clone();
        let factor = rest.terms.remove(&vec![text.clone()]).unwrap_or(0);
        let rest = rest.cleaned();
        let mut found = false;
        rest.atoms.values().for_each(|e| e.walk(&mut |x| found |= x.same(name)));
        (!found).then_some((rest, factor))
    }

    /// The name as a polynomial.
    pub fn named(name: &str) -> Poly {
        Poly::atom(&Expr { kind: ExprKind::Name(name.into()), span: Span::default() })
    }

    /// A product of names.
    pub fn product(names: &[String]) -> Poly {
        let atoms = names.iter().flat_map(|n| Poly::named(n).atoms).collect();
        Poly { terms: BTreeMap::from([(names.to_vec(), 1)]), atoms }
    }

    /// The polynomial as a sum of products of `names` times the rest; `None` if another atom mentions such a name.
    pub fn over(&self, names: &BTreeSet<String>) -> Option<BTreeMap<Monomial, Poly>> {
        let mut hidden = false;
        for e in self.atoms.values().filter(|e| !matches!(e.kind, ExprKind::Name(_))) {
            e.walk(&mut |x| hidden |= matches!(&x.kind, ExprKind::Name(n) if names.contains(&**n)));
        }
        let mut out: BTreeMap<Monomial, Poly> = BTreeMap::new();
        for (monomial, &c) in &self.terms {
            let (own, rest): (Monomial, Monomial) = monomial.iter().cloned().partition(|n| names.contains(n));
            let part = Poly { terms: BTreeMap::from([(rest, c)]), atoms: self.atoms.clone() };
            let sum = out.remove(&own).unwrap_or_default().plus(&part, 1)?;
            out.insert(own, sum);
        }
        (!hidden).then_some(out)
    }

    /// The polynomial divided by a product of names that is in every term.
    pub fn without(&self, names: &[String]) -> Option<Poly> {
        let shorter = |monomial: &Monomial| {
            let mut rest = monomial.clone();
            for name in names {
                rest.remove(rest.iter().position(|n| n == name)?);
            }
            Some(rest)
        };
        let terms = self.terms.iter().map(|(m, &c)| Some((shorter(m)?, c))).collect::<Option<_>>()?;
        Some(Poly { terms, atoms: self.atoms.clone() })
    }

    /// The greatest common divisor of all terms.
    pub fn content(&self) -> i64 {
        self.terms.values().fold(0, |g, &c| num_integer::gcd(g, c))
    }

    /// Whether it cannot be negative if its atoms are `sizes`, which are at least 1.
    pub fn is_natural(&self, sizes: &BTreeSet<String>) -> bool {
        let known = |m: &Monomial| m.iter().all(|n| sizes.contains(n));
        let own = |(m, &c): (&Monomial, &i64)| known(m) && (c >= 0 || m.is_empty());
        self.terms.iter().all(own) && self.terms.values().sum::<i64>() >= 0
    }

    /// Whether all terms are negative: its value is, if its atoms are positive.
    pub fn is_negative(&self) -> bool {
        !self.terms.is_empty() && self.terms.values().all(|&c| c < 0)
    }

    /// `int`, or a 64-bit type if it may not suffice.
    pub fn natural(&self, leaf: Leaf) -> ScalarType {
        let small = |e: &Expr| type_of(e, leaf).is_some_and(|ty| promote(ty) == ScalarType::I32);
        if self.atoms.values().all(small) && self.terms.values().all(|c| i32::try_from(*c).is_ok()) {
            ScalarType::I32
        } else {
            int(64, true)
        }
    }

    /// The expressions that it is made of.
    pub fn atoms(&self) -> impl Iterator<Item = &Expr> {
        self.atoms.values()
    }

    /// As an expression of type `ty`: `int` or a type as wide as the polynomial.
    pub fn expression(&self, ty: ScalarType, span: Span, leaf: Leaf) -> Expr {
        let make = |kind| Expr { kind, span };
        let literal = |n: i64| make(ExprKind::Literal(value::from_integer(i128::from(n), ty), ty));
        let typed = |e: &Expr| match type_of(e, leaf).map(promote) {
            Some(own) if own == ty => Expr { span, ..e.clone() },
            _ => make(ExprKind::Cast(ty, Box::new(e.clone()))),
        };
        let binary = |op, a: Expr, b: Expr| make(ExprKind::Binary(op, Box::new(a), Box::new(b)));
        let mut sum: Option<Expr> = None;
        // Positive terms first, constants last.
        let mut terms: Vec<(&Monomial, i64)> = self.terms.iter().map(|(m, &c)| (m, c)).collect();
        terms.sort_by_key(|(m, c)| (*c < 0, m.is_empty()));
        for (monomial, c) in terms {
            let mut factors = monomial.iter().map(|t| typed(&self.atoms[t]));
            let magnitude = c.abs();
            let product = match factors.next() {
                None => literal(magnitude),
                Some(first) => {
                    let all = factors.fold(first, |a, b| binary(Binary::Mul, a, b));
                    if magnitude == 1 {
                        all
                    } else {
                        binary(Binary::Mul, literal(magnitude), all)
                    }
                }
            };
            sum = Some(match sum {
                None if c < 0 && monomial.is_empty() => literal(c),
                None if c < 0 => make(ExprKind::Unary(Unary::Neg, Box::new(product))),
                None => product,
                Some(sum) => binary(if c < 0 { Binary::Sub } else { Binary::Add }, sum, product),
            });
        }
        sum.unwrap_or_else(|| literal(0))
    }
}

/// The truth of a comparison of constants.
fn decided(c: &Expr, leaf: Leaf) -> Option<bool> {
    let ExprKind::Binary(op, a, b) = &c.kind else { return None };
    let signed = |e: &Expr| type_of(e, leaf).is_some_and(|ty| !ty.is_float() && ty.signed());
    if !signed(a) || !signed(b) {
        return None;
    }
    let difference = Poly::of(a, 64, leaf)?.plus(&Poly::of(b, 64, leaf)?, -1)?.as_constant()?;
    Some(match op {
        Binary::Lt => difference < 0,
        Binary::Le => difference <= 0,
        Binary::Gt => difference > 0,
        Binary::Ge => difference >= 0,
        Binary::Eq => difference == 0,
        Binary::Ne => difference != 0,
        _ => return None,
    })
}

/// Whether the integer type `to` contains every value of `from`.
fn contains(from: ScalarType, to: ScalarType) -> bool {
    from == to || from.bits() < to.bits() && (to.signed() || !from.signed())
}

/// The expression as text, the same for equal expressions.
fn text(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Literal(bits, ty) => format!("{bits}:{ty}"),
        ExprKind::Cast(ty, a) => format!("({ty}){}", text(a)),
        ExprKind::Member(name) => format!(".{name}"),
        kind => {
            let label = match kind {
                ExprKind::Unary(op, _) => format!("{op:?}"),
                ExprKind::Binary(op, ..) => format!("{op:?}"),
                ExprKind::Index(..) => "index".into(),
                ExprKind::Conditional(..) => "choice".into(),
                ExprKind::Call(name, _) => name.to_string(),
                other => format!("{:?}", std::mem::discriminant(other)),
            };
            let parts: Vec<String> = e.operands().into_iter().map(text).collect();
            format!("{label}({})", parts.join(","))
        }
    }
}
