//! Affine forms of C expressions over the normalized iterators of the enclosing loops.
//!
//! An expression is affine if its value *in C* is affine. Constants are computed in C's types, and arithmetic on
//! iterators must provably stay in the range of its type: `i + 1u` with `i >= 0` is affine, `i - 1u` with `i = 0`
//! wraps around and is refused. Nothing is reported here; a `Refusal` has the reason.

use super::form::{add_scaled, refuse, scaled, too_large, AffineValue, Affinity, Refusal, Truth, LARGEST};
use super::{Entity, Sema};
use crate::ast;
use crate::ast::{Binary, ExprKind, Unary};
use scop::diag::{Diagnostic, Span};
use scop::value;
use scop::{Affine, BinaryOp, Binding, ScalarType};

const HELP_CONSTANT: &str = "make it a constant: `#define` it, or pass -D NAME=VALUE";
const HELP_AFFINE: &str = "only sums of iterators times constants are affine";
const HELP_DATA: &str =
    "compare instead: a loop over all elements `j` with `if (INDEX == j)` around its body; data may \
    index `static const` tables of up to 1,024 constants";
const HELP_PRODUCT: &str =
    "use one array dimension for each, such as A[i][j] for A[i * n + j]; only constant factors are affine";
pub(super) const HELP_DIVISION: &str = "split the loop in two: one for the quotient, one for the remainder";
pub(super) const HELP_DIVIDED_SIZE: &str =
    "pass the quotient as the argument: `int half` instead of `int n`, and write `2 * half` for `n`";
const HELP_SIZES: &str = "use one array dimension for each size, such as A[n][m] for A[n * m]";
/// Replaces [`HELP_SIZES`] for a loop's bound.
const HELP_FACTORS: &str =
    "use one loop for each factor: `for (i < n) for (j < m)` with `A[i * m + j]` for one loop to \
    `n * m`";
/// Replaces [`HELP_DATA`] and [`HELP_PRODUCT`] for a loop's bound.
const HELP_BOUND: &str = "run the loop to the greatest value of the bound, a constant, and put the condition into an \
    `if` around its body";

pub(super) fn binary_op(op: Binary) -> BinaryOp {
    match op {
        Binary::Mul => BinaryOp::Mul,
        Binary::Div => BinaryOp::Div,
        Binary::Rem => BinaryOp::Rem,
        Binary::Add => BinaryOp::Add,
        Binary::Sub => BinaryOp::Sub,
        Binary::Shl => BinaryOp::Shl,
        Binary::Shr => BinaryOp::Shr,
        Binary::Lt | Binary::Gt => BinaryOp::Lt,
        Binary::Le | Binary::Ge => BinaryOp::Le,
        Binary::Eq => BinaryOp::Eq,
        Binary::Ne => BinaryOp::Ne,
        Binary::And | Binary::LogicalAnd => BinaryOp::And,
        Binary::Xor => BinaryOp::Xor,
        Binary::Or | Binary::LogicalOr => BinaryOp::Or,
    }
}

impl Sema {
    fn constant_form(&self, number: i128, ty: ScalarType, span: Span) -> Affinity<AffineValue> {
        match i64::try_from(number) {
            Ok(n) if n.abs() <= LARGEST => Ok(AffineValue { form: Affine::constant(self.depth(), n), ty }),
            _ => too_large(span),
        }
    }

    pub(super) fn affine(&self, e: &ast::Expr) -> Affinity<AffineValue> {
        match &e.kind {
            ExprKind::Literal(bits, ty) if !ty.is_float() => {
                self.constant_form(value::to_integer(*bits, *ty), *ty, e.span)
            }
            ExprKind::Literal(..) => refuse(e.span, "a floating-point number", "use integers"),
            ExprKind::Name(name) => self.affine_name(name, e.span),
            ExprKind::Unary(op, a) => self.affine_unary(*op, a, e.span),
            ExprKind::Binary(op, a, b) => self.affine_binary(*op, a, b, e.span),
            ExprKind::Cast(ty, a) => self.affine_cast(*ty, a, e.span),
            ExprKind::Conditional(c, a, b) => match self.decide(c) {
                Truth::Always => self.affine(a),
                Truth::Never => self.affine(b),
                _ => refuse(
                    e.span,
                    "which branch is taken changes from iteration to iteration",
                    "use `if` with an affine condition around the statement",
                ),
            },
            // Its declaration is reported.
            ExprKind::Index(base, _) if self.is_poisoned(base) => {
                Err(Refusal { code: None, span: e.span, why: String::new(), help: "".into() })
            }
            ExprKind::Index(..) => refuse(e.span, "the value of an array element is not known beforehand", HELP_DATA),
            ExprKind::Call(..) => refuse(e.span, "the result of a call is not known beforehand", HELP_AFFINE),
            ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Comma(..) => Err(Refusal {
                code: Some("E0405"),
                span: e.span,
                why: "a side effect inside an expression".into(),
                help: "make it a statement of its own".into(),
            }),
            ExprKind::Address(_) => refuse(e.span, "an address", HELP_AFFINE),
            ExprKind::SizeOf(_) => refuse(e.span, "a size that is not known", "write the number of bytes"),
            ExprKind::Member(_) => refuse(e.span, "a member of a structure", HELP_AFFINE),
            ExprKind::Poison => Err(Refusal { code: None, span: e.span, why: String::new(), help: "".into() }),
        }
    }

    /// Whether it is an element of something whose declaration was refused.
    fn is_poisoned(&self, e: &ast::Expr) -> bool {
        match &e.kind {
            ExprKind::Index(base, _) => self.is_poisoned(base),
            ExprKind::Name(name) => matches!(self.lookup(name), Some(Entity::Poison)),
            other => matches!(other, ExprKind::Poison),
        }
    }

    fn affine_name(&self, name: &str, span: Span) -> Affinity<AffineValue> {
        match self.lookup(name) {
            None => Err(Refusal {
                code: Some("E0307"),
                span,
                why: format!("`{name}` is not declared"),
                help: "declare it, or define it as a macro or with -D".into(),
            }),
            Some(Entity::Iterator(k)) => {
                let iterator = &self.nest.iterators[*k];
                let mut form = iterator.value.clone();
                form.coeffs.resize(self.depth(), 0);
                Ok(AffineValue { form, ty: iterator.ty })
            }
            Some(Entity::Constant(bits, ty)) if !ty.is_float() => {
                self.constant_form(value::to_integer(*bits, *ty), *ty, span)
            }
            Some(Entity::Constant(..)) => refuse(span, "a floating-point number", "use integers"),
            Some(Entity::Slot(k)) if self.slots[*k].iterator.is_some() => Err(Refusal {
                code: Some("E0412"),
                span,
                why: format!("`{name}` is used after its loop"),
                help: "write the value out".into(),
            }),
            Some(Entity::Slot(k)) if self.slots[*k].dims.as_ref().is_some_and(|d| !d.is_empty()) => {
                refuse(span, format!("`{name}` is an array"), HELP_AFFINE)
            }
            Some(Entity::Slot(k))
                if matches!(self.slots[*k].binding, Binding::Value(_)) && !self.slots[*k].ty.is_float() =>
            {
                let help = format!(
                    "give its greatest value, for example `#pragma sagen max({name}=1024)` before the region or --max \
                     {name}=1024; or make it a constant"
                );
                refuse(span, format!("`{name}` is a parameter without a greatest value"), help)
            }
            Some(Entity::Slot(_)) if self.from_data.contains(name) => {
                refuse(span, format!("the value of `{name}` comes from data and is not known beforehand"), HELP_DATA)
            }
            Some(Entity::Slot(_)) => {
                refuse(span, format!("`{name}` is a variable; its value is not known beforehand"), HELP_CONSTANT)
            }
            Some(Entity::Refused(_)) => refuse(span, format!("`{name}` is not of a supported type"), HELP_CONSTANT),
            Some(Entity::Poison) => Err(Refusal { code: None, span, why: String::new(), help: "".into() }),
        }
    }

    fn affine_unary(&self, op: Unary, a: &ast::Expr, span: Span) -> Affinity<AffineValue> {
        let a = self.affine(a)?;
        let ty = super::types::promote(a.ty);
        match op {
            Unary::Plus => Ok(AffineValue { ty, ..a }),
            Unary::Neg => {
                let zero = Affine::constant(self.depth(), 0);
                let form = add_scaled(&zero, &a.form, -1).map_or_else(|| too_large(span), Ok)?;
                self.fitted(form, ty, span)
            }
            _ if !a.form.is_constant() => refuse(span, "not affine in the iterators", HELP_AFFINE),
            Unary::Not => {
                self.constant_form(value::to_integer(value::from_integer(!(a.form.constant as i128), ty), ty), ty, span)
            }
            Unary::LogicalNot => self.constant_form((a.form.constant == 0) as i128, ScalarType::I32, span),
        }
    }

    fn affine_cast(&self, ty: ScalarType, a: &ast::Expr, span: Span) -> Affinity<AffineValue> {
        let a = self.affine(a)?;
        if ty.is_float() {
            return refuse(span, "a floating-point number", "use integers");
        }
        if a.form.is_constant() {
            let bits = value::cast(value::from_integer(a.form.constant as i128, a.ty), a.ty, ty);
            return self.constant_form(value::to_integer(bits, ty), ty, span);
        }
        if ty == ScalarType::BOOL {
            return refuse(span, "not affine in the iterators", HELP_AFFINE);
        }
        self.fitted(a.form, ty, span)
    }

    /// The form as a value of type `ty`, if it never leaves the type's range.
    pub(super) fn fitted(&self, form: Affine, ty: ScalarType, span: Span) -> Affinity<AffineValue> {
        let (least, greatest) = value::range(ty);
        if form.is_constant() {
            // Constants were computed in their type already, except for signed overflow.
            let wrapped = value::to_integer(value::from_integer(form.constant as i128, ty), ty);
            if ty.signed() && wrapped != form.constant as i128 {
                return Err(Refusal {
                    code: Some("E0410"),
                    span,
                    why: format!("{} does not fit into {} bits", form.constant, ty.bits()),
                    help: "use a wider type, or smaller sizes".into(),
                });
            }
            return self.constant_form(wrapped, ty, span);
        }
        for disjunct in &self.nest.domain {
            let (low, high) = self.effort.range(self.depth(), disjunct, &form);
            let (Some(low), Some(high)) = (low, high) else { continue };
            if low <= high && ((low as i128) < least || high as i128 > greatest) {
                let bad = if (low as i128) < least { low } else { high };
                let kind = if ty.signed() { "overflows" } else { "wraps around" };
                return Err(Refusal {
                    code: Some("E0410"),
                    span,
                    why: format!("it can be {bad}, which {kind} in its {}-bit type", ty.bits()),
                    help: "use `int` or a wider type for iterators and subscripts".into(),
                });
            }
        }
        Ok(AffineValue { form, ty })
    }

    fn affine_binary(&self, op: Binary, a: &ast::Expr, b: &ast::Expr, span: Span) -> Affinity<AffineValue> {
        let (left, right) = (self.affine(a)?, self.affine(b)?);
        if op == Binary::Shl && self.width(a).is_some_and(|w| w.grows()) {
            return refuse(span, "a shifted integer of any width keeps its width", "multiply by a power of two");
        }
        if left.form.is_constant() && right.form.is_constant() {
            return self.constant_binary(op, &left, &right, span);
        }
        let ty = super::types::usual(left.ty, right.ty).unwrap_or(ScalarType::I32);
        let form = match op {
            Binary::Add => add_scaled(&left.form, &right.form, 1),
            Binary::Sub => add_scaled(&left.form, &right.form, -1),
            Binary::Mul if right.form.is_constant() => scaled(&left.form, right.form.constant),
            Binary::Mul if left.form.is_constant() => scaled(&right.form, left.form.constant),
            Binary::Shl if (0..40).contains(&right.form.constant) && right.form.is_constant() => {
                scaled(&left.form, 1 << right.form.constant)
            }
            Binary::Div | Binary::Rem | Binary::Shr | Binary::And if right.form.is_constant() => {
                match self.divided(op, &left, right.form.constant, ty, span)? {
                    Some(form) => Some(form),
                    None if self.is_of_sizes(&left.form) => {
                        return refuse(span, "a division of a size", HELP_DIVIDED_SIZE)
                    }
                    None if matches!(op, Binary::Shr | Binary::And) => {
                        return refuse(span, "not affine in the iterators", HELP_AFFINE)
                    }
                    None => return refuse(span, "a division of an iterator", HELP_DIVISION),
                }
            }
            Binary::Mul if self.is_of_sizes(&left.form) && self.is_of_sizes(&right.form) => {
                return refuse(span, "a product of sizes", HELP_SIZES)
            }
            Binary::Mul => return refuse(span, "a product of iterators or sizes", HELP_PRODUCT),
            Binary::Div | Binary::Rem => {
                return refuse(span, "a division of an iterator", HELP_DIVISION);
            }
            _ => return refuse(span, "not affine in the iterators", HELP_AFFINE),
        };
        let ty = if matches!(op, Binary::Shl | Binary::Shr) { super::types::promote(left.ty) } else { ty };
        self.fitted(form.map_or_else(|| too_large(span), Ok)?, ty, span)
    }

    /// Whether the form depends on sizes at run time only.
    fn is_of_sizes(&self, form: &Affine) -> bool {
        form.coeffs[self.sizes.len()..].iter().all(|&c| c == 0)
    }

    /// Quotient or remainder, if all coefficients are multiples of the divisor; otherwise `None`.
    fn divided(&self, op: Binary, left: &AffineValue, by: i64, ty: ScalarType, span: Span) -> Affinity<Option<Affine>> {
        let form = &left.form;
        let divisor = match op {
            Binary::Shr if (0..40).contains(&by) => 1 << by,
            Binary::And if by > 0 && (by + 1) & by == 0 => by + 1,
            Binary::Div | Binary::Rem if by > 0 => by,
            _ => return Ok(None),
        };
        if form.coeffs.iter().any(|c| c % divisor != 0) {
            return Ok(None);
        }
        let (quotient, remainder) = (form.constant.div_euclid(divisor), form.constant.rem_euclid(divisor));
        // C rounds toward zero, shifts and masks round down.
        let negative =
            || self.nest.domain.iter().any(|d| self.effort.range(self.depth(), d, form).0.is_none_or(|low| low < 0));
        if remainder != 0 && matches!(op, Binary::Div | Binary::Rem) && negative() {
            return Ok(None);
        }
        self.fitted(form.clone(), ty, span)?;
        Ok(Some(match op {
            Binary::Div | Binary::Shr => {
                Affine { coeffs: form.coeffs.iter().map(|c| c / divisor).collect(), constant: quotient }
            }
            _ => Affine::constant(form.coeffs.len(), remainder),
        }))
    }

    fn constant_binary(
        &self,
        op: Binary,
        left: &AffineValue,
        right: &AffineValue,
        span: Span,
    ) -> Affinity<AffineValue> {
        let (x, y) = (left.form.constant, right.form.constant);
        if matches!(op, Binary::LogicalAnd | Binary::LogicalOr) {
            let truth = if op == Binary::LogicalAnd { x != 0 && y != 0 } else { x != 0 || y != 0 };
            return self.constant_form(truth as i128, ScalarType::I32, span);
        }
        if matches!(op, Binary::Div | Binary::Rem) && y == 0 {
            return refuse(span, "a division by zero", "check the constants");
        }
        let shift = matches!(op, Binary::Shl | Binary::Shr);
        let ty = if shift {
            super::types::promote(left.ty)
        } else {
            super::types::usual(left.ty, right.ty).unwrap_or(ScalarType::I32)
        };
        let exact = match op {
            Binary::Add => Some(x as i128 + y as i128),
            Binary::Sub => Some(x as i128 - y as i128),
            Binary::Mul => Some(x as i128 * y as i128),
            Binary::Shl if (0..64).contains(&y) => Some((x as i128) << y),
            _ => None,
        };
        let (mut a, mut b) = (value::from_integer(x as i128, ty), value::from_integer(y as i128, ty));
        if matches!(op, Binary::Gt | Binary::Ge) {
            std::mem::swap(&mut a, &mut b);
        }
        let result = if op.is_comparison() { ScalarType::I32 } else { ty };
        let number = value::to_integer(value::eval_binary(binary_op(op), a, b, ty, ty), result);
        if ty.signed() && exact.is_some_and(|e| e != number) {
            return Err(Refusal {
                code: Some("E0410"),
                span,
                why: format!("the result does not fit into {} bits", ty.bits()),
                help: "use a wider type, such as the suffix `L`, or smaller sizes".into(),
            });
        }
        self.constant_form(number, result, span)
    }

    /// Reports a refusal about `what` with `code`, unless it has another code or was reported already.
    pub(super) fn report_refusal(&mut self, refusal: Refusal, code: &'static str, what: &str) {
        let Some(reason) = refusal.code else { return };
        let help = match &*refusal.help {
            HELP_SIZES if code == "E0407" => HELP_FACTORS.into(),
            HELP_DATA | HELP_PRODUCT if code == "E0407" => HELP_BOUND.into(),
            HELP_DATA if code != "E0408" => HELP_AFFINE.into(),
            _ => refusal.help,
        };
        let (code, message) = match reason {
            "E0407" => (code, format!("{what} is not affine")),
            "E0307" => ("E0307", "unknown identifier".to_string()),
            "E0410" => ("E0410", format!("arithmetic overflow in {what}")),
            "E0412" => ("E0412", "the iterator's value after its loop is not available".to_string()),
            _ => (reason, format!("{what} has a side effect")),
        };
        self.faults.push(Diagnostic::error(code, refusal.span, message).label(refusal.why).help(help));
    }
}
