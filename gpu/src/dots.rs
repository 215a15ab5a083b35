//! Sums of products of 8-bit integers, four products at a time.
//!
//! **Terms.** A *quad* is four values of 8 bits in a register. A *dot* is a statement `x = x + a * b` of which four iterations
//! of a loop, the lanes of its SIMD digit, are one operation on two quads:
//!
//! ```text
//! for k: C[i][j] += A[i][k] * B[k][j]      --simd k=4
//!
//! quad of A     A[i][4t] A[i][4t + 1] A[i][4t + 2] A[i][4t + 3]
//! quad of B     B[4t][j] B[4t + 1][j] B[4t + 2][j] B[4t + 3][j]
//! step t        C += the sum of four products
//! ```
//!
//! **Why the order is free.** A sum of integers wraps around, so every order gives the same bits ([`Reduction`]), and nobody reads
//! a sum that is not complete. A product of two values of 8 bits fits in 17 bits. A lane beyond the end of the loop has zeros.

use crate::folds::Folds;
use crate::ir::QUAD;
use crate::refusal::Refusal;
use scop::{BinaryOp, Expr, ExprKind, ScalarType};
use uniform::mapping::Plan;
use uniform::program::Form as Program;
use uniform::recurrence::reduction::Reduction;
use uniform::system::System;

/// A sum of products.
#[derive(Clone, Debug)]
pub struct Dot {
    /// The coordinate whose SIMD digit has the lanes, and its dimension.
    pub coordinate: usize,
    pub dim: usize,
    /// The read of `x`.
    pub read: usize,
    /// The products are subtracted.
    pub subtract: bool,
    pub factors: Factors,
}

/// The factors of a product, each of 8 bits, and whether they have a sign.
#[derive(Clone, Debug)]
pub struct Factors {
    pub a: Expr,
    pub b: Expr,
    pub signed: bool,
}

impl Factors {
    /// The type of a factor.
    pub fn ty(&self) -> ScalarType {
        ScalarType::Int { bits: 8, signed: self.signed }
    }
    /// The type of the sum of four products.
    pub fn sum(&self) -> ScalarType {
        ScalarType::Int { bits: 32, signed: self.signed }
    }
}

/// By statement; `class`: by statement, the first one of its class.
///
/// # Errors
/// A SIMD digit that no sum has.
pub fn find(
    program: &Program,
    system: &System,
    plan: &Plan,
    class: &[usize],
    folds: &Folds,
) -> Result<Vec<Option<Dot>>, Refusal> {
    let mut found: Vec<Option<Dot>> = vec![None; system.statements.len()];
    for (coordinate, digit) in plan.dims.iter().enumerate().filter(|(_, d)| d.simd != 1) {
        let row = &plan.transform[coordinate];
        let name = || uniform::mapping::row_name(system, row);
        if digit.simd != QUAD {
            return Err(Refusal::new(format!(
                "--simd {}={}: a GPU's operation has {QUAD} products",
                name(),
                digit.simd
            ))
            .help(format!("write --simd {}={QUAD}; two values of 16 bits are found without an option", name())));
        }
        let own: Vec<usize> = (0..row.len()).filter(|&d| row[d] != 0).collect();
        let alone = own.len() == 1 && plan.transform.iter().filter(|r| r[own[0]] != 0).count() == 1;
        let alone = alone && row[own[0]] == 1;
        let mut reason = "it is no loop of its own";
        for s in (0..found.len()).filter(|_| alone) {
            let sum = program.reductions[s].as_ref().filter(|r| r.dims.contains(&own[0]));
            let Some(sum) = sum else {
                reason = "no sum in any order passes over it";
                continue;
            };
            let single = (0..class.len()).filter(|&t| class[t] == class[s]).count() == 1;
            match factors(sum, program.scop.array(program.scop.statements[s].write.array).ty) {
                _ if !single || folds.of[s].is_some() => reason = "the lanes of a warp have the sum",
                Err(why) => reason = why,
                Ok(factors) => {
                    let (read, subtract) = (sum.read, sum.subtract);
                    found[s] = Some(Dot { coordinate, dim: own[0], read, subtract, factors });
                }
            }
        }
        if found.iter().flatten().all(|d| d.coordinate != coordinate) {
            return Err(Refusal::new(format!("no sum of products of 8-bit integers over {}: {reason}", name()))
                .help("leave --simd out"));
        }
    }
    if plan.dims.iter().filter(|d| d.simd != 1).count() > 1 {
        return Err(Refusal::new("two loops have SIMD lanes, and a register has those of one").help("name one loop"));
    }
    Ok(found)
}

/// The factors of a sum's terms.
///
/// # Errors
/// Why it has none.
fn factors(sum: &Reduction, ty: ScalarType) -> Result<Factors, &'static str> {
    const TYPES: &str = "its terms are no products of values of 8 bits";
    if sum.op != BinaryOp::Add || sum.fused || ty.is_float() {
        return Err("it is no sum of integers");
    }
    let product = stripped(&sum.term, ty);
    let (a, b) = match &product.kind {
        ExprKind::Binary(BinaryOp::Mul, a, b) if product.ty.bits() >= 32 && !product.ty.is_float() => {
            (byte(a, ty).ok_or(TYPES)?, byte(b, ty).ok_or(TYPES)?)
        }
        _ => {
            let one = Expr { kind: ExprKind::Const(1), ..sum.term.clone() };
            (byte(product, ty).ok_or(TYPES)?, Byte::Constant(1, one))
        }
    };
    let signed = match (&a, &b) {
        (Byte::Value(x), Byte::Value(y)) if x.ty.signed() != y.ty.signed() => {
            return Err("one factor has a sign and the other has none")
        }
        (Byte::Value(x), _) | (_, Byte::Value(x)) => x.ty.signed(),
        _ => return Err(TYPES),
    };
    // Its high bits would be those of no sum.
    if ty.bits() > 32 && product.ty.bits() == 32 && signed && !product.ty.signed() {
        return Err(TYPES);
    }
    let ty = ScalarType::Int { bits: 8, signed };
    let (a, b) = (a.of(ty).ok_or(TYPES)?, b.of(ty).ok_or(TYPES)?);
    Ok(Factors { a, b, signed })
}

/// The value that a sum of this type adds, without conversions that keep its low bits, or all of them.
fn stripped(e: &Expr, ty: ScalarType) -> &Expr {
    let keeps = |to: ScalarType| match ty.bits() {
        // A product of an unsigned conversion would have other high bits.
        33.. => to.bits() >= 32 && to.signed(),
        bits => to.bits() >= bits,
    };
    match &e.kind {
        ExprKind::Cast(inner) if !e.ty.is_float() && keeps(e.ty) && inner.ty.bits() >= 32 && !inner.ty.is_float() => {
            stripped(inner, ty)
        }
        _ => e,
    }
}

/// A factor: a value of 8 bits, or a constant.
enum Byte {
    Value(Expr),
    Constant(i128, Expr),
}

impl Byte {
    /// The factor with this type; `None`: the constant has more bits.
    fn of(self, ty: ScalarType) -> Option<Expr> {
        match self {
            Byte::Value(e) => Some(e),
            Byte::Constant(value, e) => {
                let (least, most) = scop::value::range(ty);
                let kind = ExprKind::Const(scop::value::from_integer(value, ty));
                (least..=most).contains(&value).then_some(Expr { kind, ty, ..e })
            }
        }
    }
}

/// The factor in a sum of a type.
fn byte(e: &Expr, sum: ScalarType) -> Option<Byte> {
    match &e.kind {
        _ if matches!(e.ty, ScalarType::Int { bits: 8, .. }) => Some(Byte::Value(e.clone())),
        ExprKind::Const(bits) if !e.ty.is_float() => {
            Some(Byte::Constant(scop::value::to_integer(*bits, e.ty), e.clone()))
        }
        // A wider type has all values of 8 bits; an unsigned one has negative ones modulo a power of two.
        ExprKind::Cast(inner) if !e.ty.is_float() && e.ty.bits() > 8 => match byte(inner, sum)? {
            Byte::Value(v) if v.ty.signed() && !e.ty.signed() && e.ty.bits() < sum.bits().max(32) => None,
            found => Some(found),
        },
        _ => None,
    }
}
