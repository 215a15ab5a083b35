//! Parses the expressions of a statement.

use super::{conjunction, sum, ty, Parser};
use crate::diag::Span;
use crate::text::lex::{Line, Token};
use crate::text::names::{type_named, SYMBOLS};
use crate::value;
use crate::*;

impl Parser {
    pub(super) fn expr(&mut self, line: &mut Line) -> Result<Expr, String> {
        let span = self.span;
        let make = |kind, ty| Ok(Expr { kind, ty, span });
        match (line.peek().cloned(), line.peek_at(1).cloned()) {
            (Some(Token::Sign("(")), _) if line.type_after_group().is_some() => {
                line.sign("(")?;
                let form = sum(line, self.names())?;
                line.sign(")")?;
                make(ExprKind::Iter(form), ty(line)?)
            }
            (Some(Token::Sign("(")), _) => self.infix(line),
            (Some(Token::Sign("[")), _) => {
                line.sign("[")?;
                let all = conjunction(line, self.names())?;
                line.sign("]")?;
                make(ExprKind::Holds(all), ScalarType::BOOL)
            }
            (Some(Token::Sign("-")), Some(Token::Number(_) | Token::Real(_)))
            | (Some(Token::Number(_) | Token::Real(_)), _) => {
                let (bits, ty) = constant(line)?;
                make(ExprKind::Const(bits), ty)
            }
            (Some(Token::Sign("-")), _) => self.unary(line, UnaryOp::Neg),
            (Some(Token::Sign("~")), _) => self.unary(line, UnaryOp::Not),
            (Some(Token::Word(word)), Some(Token::Sign("("))) => self.call(line, &word),
            _ => self.read(line),
        }
    }

    fn read(&mut self, line: &mut Line) -> Result<Expr, String> {
        let access = self.access(line)?;
        let ty = self.scop.array(access.array).ty;
        let span = self.span;
        let open = self.open.as_mut().ok_or("an expression without a statement")?;
        let k = if open.listed {
            line.sign("@")?;
            line.small::<u32>()? as usize
        } else {
            let number = open
                .statement
                .reads
                .iter()
                .position(|r| (r.array, &r.subscripts) == (access.array, &access.subscripts));
            number.unwrap_or_else(|| {
                open.statement.reads.push(access);
                open.statement.reads.len() - 1
            })
        };
        Ok(Expr { kind: ExprKind::Read(k), ty, span })
    }

    fn unary(&mut self, line: &mut Line, op: UnaryOp) -> Result<Expr, String> {
        line.skip();
        let [a] = self.operands(line)?;
        Ok(Expr { ty: a.ty, kind: ExprKind::Unary(op, Box::new(a)), span: self.span })
    }

    /// `(a, b)`
    fn operands<const N: usize>(&mut self, line: &mut Line) -> Result<[Expr; N], String> {
        line.sign("(")?;
        let mut all = vec![];
        for k in 0..N {
            if k > 0 {
                line.sign(",")?;
            }
            all.push(self.expr(line)?);
        }
        line.sign(")")?;
        all.try_into().map_err(|_| "wrong number of operands".to_string())
    }

    /// `(a + b)` or `(c ? a : b)`
    fn infix(&mut self, line: &mut Line) -> Result<Expr, String> {
        let span = self.span;
        line.sign("(")?;
        let a = self.expr(line)?;
        if line.has("?") {
            let b = self.expr(line)?;
            line.sign(":")?;
            let c = self.expr(line)?;
            line.sign(")")?;
            return Ok(Expr { ty: b.ty, kind: ExprKind::Select(Box::new(a), Box::new(b), Box::new(c)), span });
        }
        let Some(&(sign, op)) = SYMBOLS.iter().find(|s| line.peek() == Some(&Token::Sign(s.0))) else {
            return line.fault("an operator");
        };
        line.sign(sign)?;
        let b = self.expr(line)?;
        line.sign(")")?;
        Ok(binary(op, a, b, span))
    }

    /// `(index, 3i16, -1i16, …)`
    fn lookup(&mut self, line: &mut Line) -> Result<Expr, String> {
        line.sign("(")?;
        let index = self.expr(line)?;
        let mut table = vec![];
        while line.has(",") {
            table.push(constant(line)?);
        }
        line.sign(")")?;
        let ty = table.first().ok_or("a table without constants")?.1;
        let bits: Option<Vec<u64>> = table.into_iter().map(|(bits, own)| (own == ty).then_some(bits)).collect();
        Ok(Expr {
            kind: ExprKind::Lookup(bits.ok_or("constants of one type")?.into(), Box::new(index)),
            ty,
            span: self.span,
        })
    }

    fn call(&mut self, line: &mut Line, word: &str) -> Result<Expr, String> {
        let span = self.span;
        match word {
            "sqrt" => return self.unary(line, UnaryOp::Sqrt),
            "abs" => return self.unary(line, UnaryOp::Abs),
            "bits" => {
                let (bits, ty) = constant(line)?;
                return Ok(Expr { kind: ExprKind::Const(bits), ty, span });
            }
            _ => line.skip(),
        }
        match (word, type_named(word)) {
            ("min" | "max", _) => {
                let [a, b] = self.operands(line)?;
                Ok(binary(if word == "min" { BinaryOp::Min } else { BinaryOp::Max }, a, b, span))
            }
            ("fma", _) => {
                let [a, b, c] = self.operands(line)?;
                Ok(Expr { ty: a.ty, kind: ExprKind::Fma(Box::new(a), Box::new(b), Box::new(c)), span })
            }
            ("lookup", _) => self.lookup(line),
            (_, Some(to)) => {
                let [a] = self.operands(line)?;
                Ok(Expr { kind: ExprKind::Cast(Box::new(a)), ty: to, span })
            }
            _ => {
                let (function, ty) =
                    HostFunction::named(word).ok_or_else(|| format!("there is no function `{word}`"))?;
                let all: Vec<Expr> = if function.arguments() == 2 {
                    self.operands::<2>(line)?.into()
                } else {
                    self.operands::<1>(line)?.into()
                };
                Ok(Expr { kind: ExprKind::Host(function, all), ty, span })
            }
        }
    }
}

fn binary(op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
    let compares = matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le);
    Expr {
        ty: if compares { ScalarType::BOOL } else { a.ty },
        kind: ExprKind::Binary(op, Box::new(a), Box::new(b)),
        span,
    }
}

/// `3i16`, `-1.5f32` or `bits(0x7f800000)f32`
fn constant(line: &mut Line) -> Result<(u64, ScalarType), String> {
    let negative = line.has("-");
    let number = line.peek().cloned();
    line.skip();
    if !negative && number == Some(Token::Word("bits".into())) {
        line.sign("(")?;
        let bits = line.number()?;
        line.sign(")")?;
        return Ok((bits, ty(line)?));
    }
    let ty = ty(line)?;
    match number {
        Some(Token::Number(n)) if !ty.is_float() => {
            Ok((value::from_integer(if negative { -i128::from(n) } else { n.into() }, ty), ty))
        }
        Some(Token::Real(text)) if ty.is_float() => {
            let x: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
            Ok((value::from_f64(if negative { -x } else { x }, ty), ty))
        }
        _ => Err("a number that is not of its type".into()),
    }
}
