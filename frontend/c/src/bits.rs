//! Bits of integers of any width: `x[3]`, `x.range(7, 4)`, `x(7, 4)`, as values and as targets.
//!
//! - `x[k]` is `((x >> k) & 1) != 0`;
//! - `x.range(h, l)` is `ap_uint<W>(ap_uint<h - l + 1>(x >> l))`, where `W` is the width of `x`. `h - l` is a constant;
//! - an assignment of these assigns `x` with the other bits as they were;
//! - `x.to_int()` and the like are conversions, `x.length()` is a number.
//!
//! `(a, b)` would join bits. It is refused, because C means something else.

use crate::ast::{AnyWidth, Binary, Declarator, Expr, ExprKind, ForInit, Init, Stmt, StmtKind, Unary, Unit};
use crate::effects::SELECT;
use crate::inline::with_operands;
use crate::poly::Poly;
use scop::diag::{Diagnostic, Diagnostics, Span};
use scop::literal::int;
use scop::ScalarType;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Rewrites selections of bits in the region and in the functions that it may call. The first stage.
pub(crate) fn select(unit: &mut Unit) -> Diagnostics {
    let mut walk = Walk { scopes: vec![BTreeMap::new()], faults: vec![] };
    unit.globals.iter().for_each(|d| walk.bind(d));
    for helper in unit.helpers.values_mut() {
        let Ok(body) = &mut helper.body else { continue };
        walk.scopes.push(BTreeMap::new());
        helper.params.iter().for_each(|d| walk.bind(d));
        body.iter_mut().for_each(|s| walk.statement(s));
        walk.scopes.pop();
        // Faults in a function are reported at its calls.
        if let Some(fault) = walk.faults.drain(..).next() {
            helper.body = Err(Some(Rc::new(fault)));
        }
    }
    let known = unit.function.iter().flat_map(|f| f.params.iter().chain(&f.locals));
    known.for_each(|d| walk.bind(d));
    unit.region.iter_mut().for_each(|s| walk.statement(s));
    walk.faults
}

/// An integer of any width, and the number of subscripts in front of it.
#[derive(Clone, Copy)]
struct Of {
    width: AnyWidth,
    rank: usize,
}

struct Walk {
    /// `None`: a variable of another type.
    scopes: Vec<BTreeMap<Rc<str>, Option<Of>>>,
    faults: Diagnostics,
}

/// Bits of a value.
struct Part {
    of: Of,
    base: Expr,
    low: Expr,
    /// `None`: one bit.
    high: Option<Expr>,
}

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

fn number(n: u64, span: Span) -> Expr {
    let ty = if n < 1 << 31 { ScalarType::I32 } else { int(64, true) };
    expr(ExprKind::Literal(n, ty), span)
}

fn binary(op: Binary, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), span)
}

/// The conversion to `ap_uint<bits>`.
fn unsigned(bits: u32, e: Expr) -> Expr {
    let (span, name) = (e.span, AnyWidth { bits, grows: true }.name(false));
    expr(ExprKind::Call(name.into(), vec![e]), span)
}

impl Walk {
    fn bind(&mut self, d: &Declarator) {
        let rank = d.dims.len() + d.ty.dims.len() + usize::from(d.pointer.is_some());
        let plain = d.ty.members.is_none() && !d.function;
        let of = d.ty.width.filter(|w| w.grows && plain).map(|width| Of { width, rank });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(d.name.clone(), of);
        }
    }

    fn statement(&mut self, s: &mut Stmt) {
        match &mut s.kind {
            StmtKind::Declare(all) => self.declare(all),
            StmtKind::Expr(e) | StmtKind::Return(Some(e)) => *e = self.rewritten(e),
            StmtKind::If(c, then, otherwise) => {
                *c = self.rewritten(c);
                self.inner(then);
                otherwise.iter_mut().for_each(|s| self.inner(s));
            }
            StmtKind::For(f) => {
                self.scopes.push(BTreeMap::new());
                match &mut f.init {
                    ForInit::Declare(all) => self.declare(all),
                    ForInit::Expr(e) => *e = self.rewritten(e),
                    ForInit::None => {}
                }
                f.condition.iter_mut().chain(&mut f.step).for_each(|e| *e = self.rewritten(e));
                self.inner(&mut f.body);
                self.scopes.pop();
            }
            StmtKind::Block(all) => {
                self.scopes.push(BTreeMap::new());
                all.iter_mut().for_each(|s| self.statement(s));
                self.scopes.pop();
            }
            StmtKind::Return(None) | StmtKind::Jump(..) | StmtKind::Empty | StmtKind::Poison => {}
        }
    }

    fn inner(&mut self, s: &mut Stmt) {
        self.scopes.push(BTreeMap::new());
        self.statement(s);
        self.scopes.pop();
    }

    fn declare(&mut self, all: &mut [Declarator]) {
        for d in all {
            d.init.iter_mut().for_each(|i| self.initializer(i));
            self.bind(d);
        }
    }

    fn initializer(&mut self, init: &mut Init) {
        match init {
            Init::Value(e) => *e = self.rewritten(e),
            Init::List(all, _) => all.iter_mut().for_each(|i| self.initializer(i)),
        }
    }

    /// The type of an expression that is one integer of any width.
    fn of(&self, e: &Expr) -> Option<Of> {
        if let ExprKind::Call(name, _) = &e.kind {
            let (width, _) = crate::sema::conversion(name).filter(|(width, _)| width.grows)?;
            return Some(Of { width, rank: 0 });
        }
        let (base, subscripts) = e.element()?;
        let ExprKind::Name(name) = &base.kind else { return None };
        let of = (*self.scopes.iter().rev().find_map(|s| s.get(name))?)?;
        (of.rank == subscripts.len()).then_some(of)
    }

    fn part(&self, e: &Expr) -> Option<Part> {
        let one = |base: &Expr, low: &Expr| {
            Some(Part { of: self.of(base)?, base: base.clone(), low: low.clone(), high: None })
        };
        let several = |base: &Expr, high: &Expr, low: &Expr| Some(Part { high: Some(high.clone()), ..one(base, low)? });
        match &e.kind {
            ExprKind::Index(base, low) if !matches!(low.kind, ExprKind::Member(_)) => one(base, low),
            ExprKind::Call(name, all) => match (name.strip_prefix(SELECT), all.as_slice()) {
                (Some("range" | "()"), [base, high, low]) => several(base, high, low),
                (Some("bit" | "test" | "get_bit"), [base, low]) => one(base, low),
                // `x(h, l)`
                (None, [high, low]) => several(&expr(ExprKind::Name(name.clone()), e.span), high, low),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of bits of a part.
    fn bits(&mut self, part: &Part, span: Span) -> Option<u32> {
        let of = |e: &Expr| Poly::of(e, 0, &|_| Some(ScalarType::I32));
        let high = part.high.as_ref().unwrap_or(&part.low);
        let width = of(high).zip(of(&part.low)).and_then(|(h, l)| h.plus(&l, -1)?.as_constant());
        let first = of(&part.low).and_then(|p| p.as_constant());
        match width.map(|n| n + 1) {
            Some(n) if n >= 1 && n + first.unwrap_or(0) <= i64::from(part.of.width.bits) => u32::try_from(n).ok(),
            Some(_) => self.refused("E0411", span, "these bits are outside of the integer", "first the higher bit"),
            None => {
                self.refused("E0404", span, "the number of these bits is not constant", "`range(k + 3, k)` has 4 bits")
            }
        }
    }

    fn refused<T>(&mut self, code: &'static str, span: Span, message: &str, label: &str) -> Option<T> {
        let help = "write shifts and masks: `(x >> 4) & 15`";
        self.faults.push(Diagnostic::error(code, span, message).label(label).help(help));
        None
    }

    fn rewritten(&mut self, e: &Expr) -> Expr {
        let poison = || expr(ExprKind::Poison, e.span);
        if let ExprKind::Assign(op, target, value) = &e.kind {
            if let Some(part) = self.part(target) {
                return self.assigned(&part, target, *op, value).unwrap_or_else(poison);
            }
        }
        if let Some(part) = self.part(e) {
            return self.value(&part, e.span).unwrap_or_else(poison);
        }
        match &e.kind {
            ExprKind::Call(name, all) if name.starts_with(SELECT) => {
                self.member(&name[SELECT.len()..], all, e.span).unwrap_or_else(poison)
            }
            ExprKind::Comma(a, b) if self.of(a).is_some() || self.of(b).is_some() => {
                self.refused::<Expr>("E0404", e.span, "`(a, b)` of integers of any width", "it joins bits");
                poison()
            }
            _ => with_operands(e, &mut |x| self.rewritten(x)),
        }
    }

    /// A part as a value.
    fn value(&mut self, part: &Part, span: Span) -> Option<Expr> {
        let bits = self.bits(part, span)?;
        let (base, low) = (self.rewritten(&part.base), self.rewritten(&part.low));
        let shifted = binary(Binary::Shr, base, low);
        let zero = number(0, span);
        Some(match part.high {
            None => binary(Binary::Ne, binary(Binary::And, shifted, number(1, span)), zero),
            Some(_) => unsigned(self.narrow(part, span)?, unsigned(bits, shifted)),
        })
    }

    /// The width of the integer, if there is an unsigned one of it.
    fn narrow(&mut self, part: &Part, span: Span) -> Option<u32> {
        match part.of.width.bits {
            64 => self.refused("E0404", span, "bits of an `ap_int<64>`", "63 bits and less have them"),
            bits => Some(bits),
        }
    }

    /// An assignment to a part.
    fn assigned(&mut self, part: &Part, target: &Expr, op: Option<Binary>, value: &Expr) -> Option<Expr> {
        let span = target.span;
        let (bits, whole) = (self.bits(part, span)?, self.narrow(part, span)?);
        let (base, low) = (self.rewritten(&part.base), self.rewritten(&part.low));
        let mut value = self.rewritten(value);
        if let Some(op) = op {
            value = binary(op, self.value(part, span)?, value);
        }
        let new = match part.high {
            None => binary(Binary::Ne, value, number(0, span)),
            Some(_) => unsigned(bits, value),
        };
        let at = |e: Expr| binary(Binary::Shl, unsigned(whole, e), low.clone());
        let mask = at(number(u64::MAX >> (64 - bits), span));
        let others = expr(ExprKind::Unary(Unary::Not, Box::new(mask)), span);
        let kept = binary(Binary::And, unsigned(whole, base.clone()), others);
        let all = binary(Binary::Or, kept, at(new));
        Some(expr(ExprKind::Assign(None, Box::new(base), Box::new(all)), span))
    }

    /// A call of another member function.
    fn member(&mut self, name: &str, all: &[Expr], span: Span) -> Option<Expr> {
        let Some((base, of)) = all.first().and_then(|base| Some((base, self.of(base)?))) else {
            return self.refused("E0404", span, "call through an expression", "only named functions can be called");
        };
        let value = self.rewritten(base);
        let cast = |ty: ScalarType| Some(expr(ExprKind::Cast(ty, Box::new(value.clone())), span));
        match (name, all.len()) {
            ("to_int", 1) => cast(ScalarType::I32),
            ("to_uint", 1) => cast(int(32, false)),
            ("to_long" | "to_int64", 1) => cast(int(64, true)),
            ("to_ulong" | "to_uint64", 1) => cast(int(64, false)),
            ("to_bool", 1) => Some(binary(Binary::Ne, value, number(0, span))),
            ("length", 1) => Some(number(u64::from(of.width.bits), span)),
            ("set" | "clear", 2) => {
                let part = Part { of, base: base.clone(), low: all[1].clone(), high: None };
                self.assigned(&part, &expr(ExprKind::Poison, span), None, &number(u64::from(name == "set"), span))
            }
            _ => self.refused("E0404", span, "call through an expression", "only named functions can be called"),
        }
    }
}
