//! `#if` expressions (C17 6.10.1): 64-bit integers, `defined`; an undefined name is 0.

use super::Preprocessor;
use crate::lex::{Tok, Token};
use scop::diag::Span;
use scop::literal;

impl Preprocessor<'_> {
    /// Whether the condition of an `#if` or `#elif` holds; a malformed one is reported and counts as false.
    pub(super) fn condition(&mut self, line: &[Token], directive: Span) -> bool {
        let mut tokens = vec![];
        let mut k = 0;
        while k < line.len() {
            if let Tok::Bad(fault) = &line[k].tok {
                self.faults.push((**fault).clone());
                return false;
            }
            if line[k].text() == "defined" {
                let parenthesis = line.get(k + 1).is_some_and(|t| t.is("("));
                let name = k + 1 + parenthesis as usize;
                let value = match line.get(name).map(|t| &t.tok) {
                    Some(Tok::Ident(n)) => self.macros.contains_key(n) as u8,
                    _ => 0,
                };
                tokens.push(Token { tok: Tok::Number(value.to_string().into()), ..line[k].clone() });
                k = name + 1 + parenthesis as usize;
            } else {
                tokens.push(line[k].clone());
                k += 1;
            }
        }
        let tokens = self.expand(tokens, 0);
        let mut evaluator = Evaluator { tokens: &tokens, at: 0, depth: 0 };
        let value = evaluator.expression(0);
        match value {
            Ok(value) if evaluator.at == tokens.len() => value != 0,
            other => {
                let at = evaluator.at.min(tokens.len().saturating_sub(1));
                let span = tokens.get(at).map_or(directive, |t| t.span);
                let why = other.err().unwrap_or("unexpected after the condition");
                self.error("E0111", span, "malformed condition of `#if`").label = why.into();
                false
            }
        }
    }

    /// The value of a constant expression after macro expansion.
    pub(super) fn constant(&mut self, tokens: &[Token]) -> Option<i64> {
        let tokens = self.expand(tokens.to_vec(), 0);
        let mut evaluator = Evaluator { tokens: &tokens, at: 0, depth: 0 };
        evaluator.expression(0).ok().filter(|_| evaluator.at == tokens.len())
    }
}

struct Evaluator<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: u32,
}

type Value = Result<i64, &'static str>;

fn precedence(op: &str) -> Option<u32> {
    Some(match op {
        "*" | "/" | "%" => 10,
        "+" | "-" => 9,
        "<<" | ">>" => 8,
        "<" | ">" | "<=" | ">=" => 7,
        "==" | "!=" => 6,
        "&" => 5,
        "^" => 4,
        "|" => 3,
        "&&" => 2,
        "||" => 1,
        _ => return None,
    })
}

impl Evaluator<'_> {
    fn eat(&mut self, punct: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.is(punct));
        self.at += found as usize;
        found
    }

    fn expression(&mut self, least: u32) -> Value {
        let mut left = self.unary()?;
        while let Some(token) = self.tokens.get(self.at) {
            if least == 0 && token.is("?") {
                self.at += 1;
                let then = self.expression(0)?;
                if !self.eat(":") {
                    return Err("expected `:`");
                }
                let otherwise = self.expression(0)?;
                left = if left != 0 { then } else { otherwise };
                continue;
            }
            let Some(level) = precedence(token.text()).filter(|&p| p > least) else { break };
            self.at += 1;
            let right = self.expression(level)?;
            left = apply(token.text(), left, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Value {
        self.depth += 1;
        if self.depth > 200 {
            return Err("nested too deep");
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Value {
        let token = self.tokens.get(self.at).ok_or("an operand is missing")?;
        self.at += 1;
        match &token.tok {
            Tok::Ident(name) => Ok((&**name == "true") as i64),
            Tok::Number(text) => match literal::number(text) {
                Ok(l) if !l.ty.is_float() => Ok(l.bits as i64),
                _ => Err("expected an integer"),
            },
            Tok::Char(text) => {
                literal::character(text).map(|l| l.bits as i32 as i64).map_err(|_| "malformed character constant")
            }
            Tok::Punct("(") => {
                let value = self.expression(0)?;
                if self.eat(")") {
                    Ok(value)
                } else {
                    Err("expected `)`")
                }
            }
            Tok::Punct("-") => Ok(self.unary()?.wrapping_neg()),
            Tok::Punct("+") => self.unary(),
            Tok::Punct("~") => Ok(!self.unary()?),
            Tok::Punct("!") => Ok((self.unary()? == 0) as i64),
            _ => Err("expected an operand"),
        }
    }
}

fn apply(op: &str, a: i64, b: i64) -> i64 {
    match op {
        "*" => a.wrapping_mul(b),
        "/" => {
            if b == 0 {
                0
            } else {
                a.wrapping_div(b)
            }
        }
        "%" => {
            if b == 0 {
                0
            } else {
                a.wrapping_rem(b)
            }
        }
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "<" => (a < b) as i64,
        ">" => (a > b) as i64,
        "<=" => (a <= b) as i64,
        ">=" => (a >= b) as i64,
        "==" => (a == b) as i64,
        "!=" => (a != b) as i64,
        "&" => a & b,
        "^" => a ^ b,
        "|" => a | b,
        "&&" => (a != 0 && b != 0) as i64,
        _ => (a != 0 || b != 0) as i64,
    }
}
