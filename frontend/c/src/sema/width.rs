//! Integers of any width: `ap_int<N>` and `ap_uint<N>` of C++, `_BitInt(N)` of C23.
//!
//! The results of `ap_int` grow: a sum of 8 bits has 9, a product of 8 and 4 bits has 12; results of more than 64 bits
//! are refused ([`Sema::check_width`]). Those of `_BitInt` are as wide as the wider operand; there is no promotion to
//! `int`. An assignment keeps the low bits. All operations are done in 64 bits, and the hardware drops the bits that
//! nobody needs.
//!
//! In memory such a value has a cell of 8, 16, 32 or 64 bits, and is extended to it. C leaves the other bits of a
//! `_BitInt` open, so they are not looked at.

use super::operate::{binary, constant, convert};
use super::types::{function, promote};
use super::{Entity, Iterator, Sema};
use crate::ast;
use crate::ast::{AnyWidth, Binary, ExprKind, Unary};
use scop::diag::Span;
use scop::literal::int;
use scop::{Affine, ArrayId, BinaryOp, Expr, ScalarType, Storage};

pub(super) const I64: ScalarType = ScalarType::Int { bits: 64, signed: true };

/// How the width of a result follows from those of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// A standard integer type.
    Standard,
    /// `ap_int`, or a result that depends on one.
    Grows,
    /// `_BitInt`.
    Exact,
}

/// The width of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub bits: u32,
    pub signed: bool,
    pub growth: Growth,
}

impl Width {
    fn of(width: AnyWidth, signed: bool) -> Width {
        Width { bits: width.bits, signed, growth: if width.grows { Growth::Grows } else { Growth::Exact } }
    }

    pub fn grows(self) -> bool {
        self.growth == Growth::Grows
    }

    pub fn is_exact(self) -> bool {
        self.growth == Growth::Exact
    }

    /// Whether it has all values of `other`.
    fn contains(self, other: Width) -> bool {
        match (self.signed, other.signed) {
            (true, false) => other.bits < self.bits,
            (false, true) => false,
            _ => other.bits <= self.bits,
        }
    }

    /// The standard type, promoted.
    fn promoted(self) -> Width {
        match self.growth {
            Growth::Standard => {
                let ty = promote(int(self.bits, self.signed));
                Width { bits: ty.bits(), signed: ty.signed(), ..self }
            }
            _ => self,
        }
    }
}

/// The width and the sign of the type that a call converts to; see [`AnyWidth::name`].
pub(crate) fn conversion(name: &str) -> Option<(AnyWidth, bool)> {
    let (kind, bits) = name.trim_end_matches(['>', ')']).rsplit_once(['<', '('])?;
    let bits = bits.parse().ok()?;
    let (grows, signed) = match kind {
        "ap_int" => (true, true),
        "ap_uint" => (true, false),
        "_BitInt" => (false, true),
        "unsigned _BitInt" => (false, false),
        _ => return None,
    };
    Some((AnyWidth { bits, grows }, signed))
}

/// The type of cells that hold values of any width, in one word.
pub(super) fn cell(width: AnyWidth, signed: bool) -> String {
    let kind = match (width.grows, signed) {
        (true, true) => "ap_int",
        (true, false) => "ap_uint",
        (false, true) => "bit_int",
        (false, false) => "bit_uint",
    };
    format!("{kind}_{}", width.bits)
}

/// The least and the greatest value of a variable with cells of type `ty`.
pub(super) fn range(ty: ScalarType, width: Option<AnyWidth>) -> (i128, i128) {
    scop::value::range(width.map_or(ty, |width| int(width.bits, ty.signed())))
}

/// The iterator of a loop over a variable with cells of type `ty`. All results with `ap_int` are as wide as they need to be.
pub(super) fn iterator(ty: ScalarType, width: Option<AnyWidth>, value: Affine) -> Iterator {
    Iterator { ty: if width.is_some() { I64 } else { ty }, width: width.map(|w| (w, ty.signed())), value }
}

/// What [`cell`] says.
fn parsed(c_type: &str) -> Option<(AnyWidth, bool)> {
    let (kind, bits) = c_type.rsplit_once('_')?;
    let bits: u32 = bits.parse().ok().filter(|w| (1..=64).contains(w))?;
    let (grows, signed) = match kind {
        "ap_int" => (true, true),
        "ap_uint" => (true, false),
        "bit_int" => (false, true),
        "bit_uint" => (false, false),
        _ => return None,
    };
    Some((AnyWidth { bits, grows }, signed))
}

/// The spelling of an array's `c_type` in C or C++.
pub fn c_spelling(c_type: &str) -> String {
    parsed(c_type).map_or_else(|| c_type.to_string(), |(width, signed)| width.name(signed))
}

/// The bits of a cell of the type `c_type` with the low bits of `value`, if that is a type of any width.
pub fn in_cell(c_type: &str, value: u64) -> Option<u64> {
    let (AnyWidth { bits, .. }, signed) = parsed(c_type)?;
    let distance = 64 - bits;
    let low = if signed { ((value << distance) as i64 >> distance) as u64 } else { value << distance >> distance };
    let cell = bits.next_power_of_two().max(8);
    Some(low & (u64::MAX >> (64 - cell)))
}

/// A value in the type of all operations.
pub(super) fn grown(e: Expr) -> Expr {
    convert(e, I64)
}

/// The low bits of a value, extended. The type is that of all operations, but `unsigned` has no other for 64 bits.
pub(super) fn narrowed(e: Expr, width: u32, signed: bool) -> Expr {
    if width == 64 {
        return convert(e, int(64, signed));
    }
    let cell = int(width.next_power_of_two().max(8), signed);
    if cell.bits() == width {
        return grown(convert(grown(e), cell));
    }
    let work = int(if width < 32 { 32 } else { 64 }, true);
    let (span, e) = (e.span, convert(grown(e), work));
    let number = |n: u64| convert(constant(n, I64, span), work);
    let low = if signed {
        let distance = u64::from(work.bits() - width);
        binary(BinaryOp::Shr, binary(BinaryOp::Shl, e, number(distance), span), number(distance), span)
    } else {
        binary(BinaryOp::And, e, number((1 << width) - 1), span)
    };
    grown(low)
}

/// The width of a standard type; `None` for floats.
fn of_type(ty: ScalarType) -> Option<Width> {
    (!ty.is_float()).then_some(Width { bits: ty.bits(), signed: ty.signed(), growth: Growth::Standard })
}

/// The value of a cell. Memory outside may hold anything in the bits that a `_BitInt` does not have.
fn extended(value: Expr, width: AnyWidth, storage: Storage) -> Expr {
    let signed = value.ty.signed();
    match (width.grows, storage) {
        (true, _) => grown(value),
        (false, Storage::Dram) => narrowed(value, width.bits, signed),
        (false, Storage::Local) if width.bits == 64 => value,
        (false, Storage::Local) => grown(value),
    }
}

/// The usual arithmetic conversions (C23 6.3.1.8) with a `_BitInt` among the operands: the wider type, of equal ones
/// the standard and the unsigned one. A shift has the type of its left side.
fn exact_common(op: Binary, a: Width, b: Width) -> Option<Width> {
    if !(a.is_exact() || b.is_exact()) || a.grows() || b.grows() {
        return None;
    }
    let (a, b) = (a.promoted(), b.promoted());
    if matches!(op, Binary::Shl | Binary::Shr) || a.bits > b.bits {
        return Some(a);
    }
    if b.bits > a.bits {
        return Some(b);
    }
    let growth = if a.is_exact() && b.is_exact() { Growth::Exact } else { Growth::Standard };
    Some(Width { bits: a.bits, signed: a.signed && b.signed, growth })
}

/// A value of the width `from` converted to the width `to`.
pub(super) fn fitted(e: Expr, from: Width, to: Width) -> Expr {
    let ty = if to.growth == Growth::Standard { int(to.bits, to.signed) } else { int(64, to.signed || to.bits < 64) };
    if to.growth == Growth::Standard || to.contains(from) {
        return convert(e, ty);
    }
    convert(narrowed(e, to.bits, to.signed), ty)
}

impl Sema {
    /// The type of `a op b`, and the widths of both, if one of them is a `_BitInt` and none is a float.
    pub(super) fn exact(&self, op: Binary, a: Option<Width>, b: Option<Width>) -> Option<(Width, Width, Width)> {
        let (a, b) = (a?, b?);
        exact_common(op, a, b).map(|to| (to, a, b))
    }

    /// `x op y`, one of which is a `_BitInt`.
    pub(super) fn exact_arithmetic(
        &mut self,
        op: Binary,
        (x, y): (Expr, Expr),
        (to, a, b): (Width, Width, Width),
        span: Span,
    ) -> Option<Expr> {
        let is_shift = matches!(op, Binary::Shl | Binary::Shr);
        let y = if is_shift { y } else { fitted(y, b, to) };
        let result = self.arithmetic(op, fitted(x, a, to), y, span)?;
        Some(if to.is_exact() { narrowed(result, to.bits, to.signed) } else { result })
    }

    /// A value as an array's cells hold it.
    pub(super) fn stored_as(&self, array: ArrayId, value: Expr) -> Expr {
        let ty = self.arrays[array.index()].ty;
        match self.widths.get(&array) {
            Some(&width) => convert(narrowed(value, width.bits, ty.signed()), ty),
            None => convert(value, ty),
        }
    }

    /// What is in a cell of the variable that an element belongs to.
    pub(super) fn of_cell(&self, e: &ast::Expr, value: Expr) -> Expr {
        let slot = || {
            let (base, _) = e.element()?;
            let ExprKind::Name(name) = &base.kind else { return None };
            match self.lookup(name) {
                Some(Entity::Slot(k)) => self.slots[*k].width.map(|width| (width, self.slots[*k].storage)),
                _ => None,
            }
        };
        match slot() {
            Some((width, storage)) => extended(value, width, storage),
            None => value,
        }
    }

    /// The same for an element of an array.
    pub(super) fn of_array_cell(&self, array: ArrayId, value: Expr) -> Expr {
        match self.widths.get(&array) {
            Some(&width) => extended(value, width, self.arrays[array.index()].storage),
            None => value,
        }
    }

    /// The width of an array's elements; `None` for floats.
    pub(super) fn width_of_array(&self, array: ArrayId) -> Option<Width> {
        let ty = self.arrays[array.index()].ty;
        match self.widths.get(&array) {
            Some(&width) => Some(Width::of(width, ty.signed())),
            None => of_type(ty),
        }
    }

    /// The width that an expression has in C++; `None` if it is no integer.
    pub(super) fn width(&self, e: &ast::Expr) -> Option<Width> {
        self.sized(e, false)
    }

    /// The same with as many bits for a number as its value needs, if `least`.
    fn sized(&self, e: &ast::Expr, least: bool) -> Option<Width> {
        let of = of_type;
        match &e.kind {
            ExprKind::Literal(bits, ty) if least && !ty.is_float() && bits.leading_zeros() > 0 => {
                Some(Width { bits: 65 - bits.leading_zeros(), signed: true, growth: Growth::Standard })
            }
            ExprKind::Literal(_, ty) | ExprKind::Cast(ty, _) => of(*ty),
            ExprKind::Name(_) | ExprKind::Index(..) => {
                let (base, _) = e.element()?;
                let ExprKind::Name(name) = &base.kind else { return None };
                match self.lookup(name)? {
                    Entity::Slot(k) => {
                        let (slot, ty) = (&self.slots[*k], of(self.slots[*k].ty)?);
                        Some(slot.width.map_or(ty, |width| Width::of(width, ty.signed)))
                    }
                    Entity::Iterator(k) => {
                        let Iterator { ty, width, .. } = self.nest.iterators[*k];
                        Some(width.map_or(of(ty)?, |(width, signed)| Width::of(width, signed)))
                    }
                    Entity::Constant(_, ty) => of(*ty),
                    Entity::Refused(_) | Entity::Poison => None,
                }
            }
            ExprKind::Call(name, _) => match conversion(name) {
                Some((width, signed)) => Some(Width::of(width, signed)),
                None => function(name).and_then(|(_, ty)| of(ty)),
            },
            ExprKind::Unary(Unary::Plus, a) => self.sized(a, least),
            ExprKind::Unary(Unary::Neg | Unary::Not, a) => {
                let w = self.sized(a, least)?;
                Some(if w.is_exact() { w } else { Width { bits: w.bits + 1, signed: true, ..w } })
            }
            ExprKind::Binary(op, a, b) if !op.is_comparison() => {
                self.common(*op, self.sized(a, least)?, self.sized(b, least)?)
            }
            ExprKind::Conditional(_, a, b) => self.common(Binary::Or, self.sized(a, least)?, self.sized(b, least)?),
            _ => of(ScalarType::BOOL),
        }
    }

    fn common(&self, op: Binary, a: Width, b: Width) -> Option<Width> {
        if let Some(exact) = exact_common(op, a, b) {
            return Some(exact);
        }
        let signed = a.signed || b.signed;
        let growth = if a.grows() || b.grows() { Growth::Grows } else { Growth::Standard };
        if growth == Growth::Standard {
            let all = a.bits.max(b.bits).max(32);
            let signed = [a, b].iter().all(|w| w.bits < all || w.signed);
            return Some(Width { bits: all, signed, growth });
        }
        let extended = |w: Width| w.bits + u32::from(signed && !w.signed);
        let larger = extended(a).max(extended(b));
        Some(match op {
            Binary::Add => Width { bits: larger + 1, signed, growth },
            Binary::Sub => Width { bits: larger + 1, signed: true, growth },
            Binary::Mul => Width { bits: a.bits + b.bits, signed, growth },
            Binary::Div => Width { bits: a.bits + u32::from(b.signed), signed, growth },
            Binary::Shl | Binary::Shr => Width { growth, ..a },
            _ => Width { bits: larger, signed, growth },
        })
    }

    /// Refuses an operation whose result needs more than 64 bits. A shift to the left keeps the width of its left side.
    pub(super) fn check_width(&mut self, op: Binary, a: &ast::Expr, b: &ast::Expr) -> Option<()> {
        let (Some(x), Some(y)) = (self.sized(a, op != Binary::Shl), self.sized(b, true)) else { return Some(()) };
        let bits = match op {
            _ if op.is_comparison() => self.common(Binary::Or, x, y),
            _ => self.common(op, x, y),
        };
        self.check_bits(bits, a.span)
    }

    /// Refuses a value that needs more than 64 bits.
    pub(super) fn check_bits(&mut self, width: Option<Width>, span: Span) -> Option<()> {
        if let Some(Width { bits: bits @ 65.., growth: Growth::Grows, .. }) = width {
            self.error(
                "E0311",
                span,
                format!("this needs {bits} bits"),
                "integers of any width grow up to 64 bits",
                "assign the operands to narrower variables first",
            );
            return None;
        }
        Some(())
    }

    /// The least width of an operand's value.
    pub(super) fn least_width(&self, e: &ast::Expr) -> Option<Width> {
        self.sized(e, true)
    }
}
