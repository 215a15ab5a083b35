//! Values of pointers: `p = &A[i][2]; p += 3;` gives `p` the value `&A[i][5]`.

use super::address::{joined, split};
use super::{Kind, Value, Walk};
use crate::ast::{Binary, Expr, ExprKind};
use scop::diag::{Diagnostic, Span};
use scop::ScalarType;

/// The type of a difference of pointers.
const DIFFERENCE: ScalarType = ScalarType::Int { bits: 64, signed: true };

impl Walk {
    /// `a op b`; a comparison or a difference of two addresses in one array is one of their offsets.
    pub(super) fn compared(&self, op: Binary, a: Expr, b: Expr, span: Span) -> Expr {
        let addresses = self.address(&a).zip(self.address(&b));
        let parts = addresses.and_then(|(a, b)| split(&a.0).zip(split(&b.0)));
        match parts {
            Some(((x, i), (y, j))) if x.same(&y) => {
                let offsets = Expr { kind: ExprKind::Binary(op, Box::new(i), Box::new(j)), span };
                match op {
                    Binary::Sub => Expr { kind: ExprKind::Cast(DIFFERENCE, Box::new(offsets)), span },
                    _ => offsets,
                }
            }
            _ => Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span },
        }
    }

    /// `e` as the value of a pointer: an array, or a row of one, and an offset.
    pub(super) fn address(&self, e: &Expr) -> Option<Value> {
        let (base, offset) = split(e)?;
        let mut mentions = self.index(&offset)?;
        let (array, subscripts) = base.element()?;
        let ExprKind::Name(name) = &array.kind else { return None };
        let id = self.lookup(name)?;
        let rank = match self.variables[id].kind {
            Kind::Array(rank) => rank,
            Kind::Pointer if self.variables[id].entry => self.variables[id].rank,
            _ => return None,
        };
        if subscripts.len() >= rank {
            return None;
        }
        mentions.push((name.clone(), id));
        for s in subscripts {
            mentions.extend(self.index(s)?);
        }
        let offset = self.simplified(&offset);
        Some((Expr { span: e.span, ..joined(base, offset) }, mentions))
    }

    /// Reports a use of a pointer whose address is not known.
    pub(super) fn unknown_address(&mut self, name: &str, span: Span) -> Expr {
        let fault = Diagnostic::error("E0306", span, format!("where `{name}` points to is not known here"))
            .label("it does not move by the same amount in each iteration")
            .help(
                "a pointer may be set to an element of an array, and in each iteration of a counted loop move by a \
                constant or a size or change places with others, under no condition; otherwise subscript the array",
            );
        self.faults.push(fault);
        Expr { kind: ExprKind::Poison, span }
    }
}
