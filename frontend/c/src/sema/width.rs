//! Integers of any width (`ap_int<N>`, `ap_uint<N>`).
//!
//! Their results grow: a sum of 8 bits has 9, a product of 8 and 4 bits has 12. An assignment keeps the low bits. So all
//! operations on them are done in 64 bits, and the hardware drops the bits that nobody needs. Results of more bits are refused ([`Sema::check_width`]).
//!
//! In memory such a value has a cell of 8, 16, 32 or 64 bits, and is extended to it.

use super::operate::{binary, constant, convert};
use super::{Entity, Sema};
use crate::ast;
use crate::ast::{Binary, ExprKind, Unary};
use scop::diag::Span;
use scop::literal::int;
use scop::{ArrayId, BinaryOp, Expr, ScalarType};

pub(super) const I64: ScalarType = ScalarType::Int { bits: 64, signed: true };

/// The width of a value; `grows` if it is one of any width, or depends on one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub bits: u32,
    pub signed: bool,
    pub grows: bool,
}

/// The width and the sign of the type that a call converts to; see `inline::any_width`.
pub(super) fn conversion(name: &str) -> Option<(u32, bool)> {
    let (kind, rest) = name.split_once('<')?;
    let signed = match kind {
        "ap_int" => true,
        "ap_uint" => false,
        _ => return None,
    };
    Some((rest.strip_suffix('>')?.parse().ok()?, signed))
}

/// The type of cells that hold values of any width, in one word.
pub(super) fn cell(width: u32, signed: bool) -> String {
    format!("{}_{width}", if signed { "ap_int" } else { "ap_uint" })
}

/// The bits of a cell of the type `c_type` with the low bits of `value`, if that is a type of any width.
pub fn in_cell(c_type: &str, value: u64) -> Option<u64> {
    let (kind, width) = c_type.rsplit_once('_')?;
    let width: u32 = width.parse().ok().filter(|w| (1..=64).contains(w))?;
    let distance = 64 - width;
    let low = match kind {
        "ap_int" => ((value << distance) as i64 >> distance) as u64,
        "ap_uint" => value << distance >> distance,
        _ => return None,
    };
    let cell = width.next_power_of_two().max(8);
    Some(low & (u64::MAX >> (64 - cell)))
}

/// A value in the type of all operations.
pub(super) fn grown(e: Expr) -> Expr {
    convert(e, I64)
}

/// The low bits of a value, extended.
pub(super) fn narrowed(e: Expr, width: u32, signed: bool) -> Expr {
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

impl Sema {
    /// A value as an array's cells hold it.
    pub(super) fn stored_as(&self, array: ArrayId, value: Expr) -> Expr {
        let ty = self.arrays[array.index()].ty;
        match self.widths.get(&array) {
            Some(&width) => convert(narrowed(value, width, ty.signed()), ty),
            None => convert(value, ty),
        }
    }

    /// The width of the variable that an element belongs to, if it is of any width.
    pub(super) fn width_of_name(&self, e: &ast::Expr) -> Option<u32> {
        let (base, _) = e.element()?;
        let ExprKind::Name(name) = &base.kind else { return None };
        match self.lookup(name) {
            Some(Entity::Slot(k)) => self.slots[*k].width,
            _ => None,
        }
    }

    /// The width that an expression has in C++; `None` if it is no integer.
    pub(super) fn width(&self, e: &ast::Expr) -> Option<Width> {
        self.sized(e, false)
    }

    /// The same with as many bits for a number as its value needs, if `least`.
    fn sized(&self, e: &ast::Expr, least: bool) -> Option<Width> {
        let of =
            |ty: ScalarType| (!ty.is_float()).then_some(Width { bits: ty.bits(), signed: ty.signed(), grows: false });
        match &e.kind {
            ExprKind::Literal(bits, ty) if least && !ty.is_float() && bits.leading_zeros() > 0 => {
                Some(Width { bits: 65 - bits.leading_zeros(), signed: true, grows: false })
            }
            ExprKind::Literal(_, ty) | ExprKind::Cast(ty, _) => of(*ty),
            ExprKind::Name(_) | ExprKind::Index(..) => {
                let (base, _) = e.element()?;
                let ExprKind::Name(name) = &base.kind else { return None };
                match self.lookup(name)? {
                    Entity::Slot(k) => {
                        let (slot, ty) = (&self.slots[*k], of(self.slots[*k].ty)?);
                        Some(slot.width.map_or(ty, |bits| Width { bits, grows: true, ..ty }))
                    }
                    Entity::Iterator(k) => of(self.nest.iterators[*k].ty),
                    Entity::Constant(_, ty) => of(*ty),
                    Entity::Refused(_) | Entity::Poison => None,
                }
            }
            ExprKind::Call(name, _) => conversion(name).map(|(bits, signed)| Width { bits, signed, grows: true }),
            ExprKind::Unary(Unary::Plus, a) => self.sized(a, least),
            ExprKind::Unary(Unary::Neg | Unary::Not, a) => {
                self.sized(a, least).map(|w| Width { bits: w.bits + 1, signed: true, ..w })
            }
            ExprKind::Binary(op, a, b) if !op.is_comparison() => {
                self.common(*op, self.sized(a, least)?, self.sized(b, least)?)
            }
            ExprKind::Conditional(_, a, b) => self.common(Binary::Or, self.sized(a, least)?, self.sized(b, least)?),
            _ => of(ScalarType::BOOL),
        }
    }

    fn common(&self, op: Binary, a: Width, b: Width) -> Option<Width> {
        let (signed, grows) = (a.signed || b.signed, a.grows || b.grows);
        if !grows {
            let all = a.bits.max(b.bits).max(32);
            let signed = [a, b].iter().all(|w| w.bits < all || w.signed);
            return Some(Width { bits: all, signed, grows });
        }
        let extended = |w: Width| w.bits + u32::from(signed && !w.signed);
        let larger = extended(a).max(extended(b));
        Some(match op {
            Binary::Add => Width { bits: larger + 1, signed, grows },
            Binary::Sub => Width { bits: larger + 1, signed: true, grows },
            Binary::Mul => Width { bits: a.bits + b.bits, signed, grows },
            Binary::Div => Width { bits: a.bits + u32::from(b.signed), signed, grows },
            Binary::Shl | Binary::Shr => Width { grows, ..a },
            _ => Width { bits: larger, signed, grows },
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
        if let Some(Width { bits: bits @ 65.., grows: true, .. }) = width {
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
