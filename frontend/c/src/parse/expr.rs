//! Expressions by precedence climbing (C17 6.5). Strings are refused here; `*p` becomes `p[0]`.

use super::{join, Parsed, Parser, OPERATORS};
use crate::ast::{AnyWidth, Binary, Expr, ExprKind, TypeName, Unary};
use crate::lex::Tok;
use scop::diag::{Diagnostic, Span};
use scop::literal;
use scop::ScalarType;

/// Bytes of a pointer.
const POINTER: u64 = 8;

fn binary(op: &str) -> Option<(u32, Binary)> {
    Some(match op {
        "*" => (10, Binary::Mul),
        "/" => (10, Binary::Div),
        "%" => (10, Binary::Rem),
        "+" => (9, Binary::Add),
        "-" => (9, Binary::Sub),
        "<<" => (8, Binary::Shl),
        ">>" => (8, Binary::Shr),
        "<" => (7, Binary::Lt),
        ">" => (7, Binary::Gt),
        "<=" => (7, Binary::Le),
        ">=" => (7, Binary::Ge),
        "==" => (6, Binary::Eq),
        "!=" => (6, Binary::Ne),
        "&" => (5, Binary::And),
        "^" => (4, Binary::Xor),
        "|" => (3, Binary::Or),
        "&&" => (2, Binary::LogicalAnd),
        "||" => (1, Binary::LogicalOr),
        _ => return None,
    })
}

fn assignment(op: &str) -> Option<Option<Binary>> {
    Some(match op {
        "=" => None,
        "*=" => Some(Binary::Mul),
        "/=" => Some(Binary::Div),
        "%=" => Some(Binary::Rem),
        "+=" => Some(Binary::Add),
        "-=" => Some(Binary::Sub),
        "<<=" => Some(Binary::Shl),
        ">>=" => Some(Binary::Shr),
        "&=" => Some(Binary::And),
        "^=" => Some(Binary::Xor),
        "|=" => Some(Binary::Or),
        _ => return None,
    })
}

/// `base[subscript]`
fn element(base: Expr, subscript: ExprKind, span: Span) -> Expr {
    let subscript = Expr { kind: subscript, span: base.span };
    Expr { kind: ExprKind::Index(Box::new(base), Box::new(subscript)), span }
}

impl Parser<'_> {
    /// A full expression, commas included.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        while self.eat(",") {
            let right = self.assignment()?;
            let span = join(left.span, right.span);
            left = Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span };
        }
        Ok(left)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        let outermost = !std::mem::replace(&mut self.in_expression, true);
        if outermost {
            self.operators = 0;
        }
        let parsed = self.assignment_inner();
        self.in_expression &= !outermost;
        parsed
    }

    fn assignment_inner(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let target = p.conditional()?;
            let Tok::Punct(op) = *p.tok(0) else { return Ok(target) };
            let Some(op) = assignment(op) else { return Ok(target) };
            p.at += 1;
            let value = p.assignment()?;
            let span = join(target.span, value.span);
            Ok(Expr { kind: ExprKind::Assign(op, Box::new(target), Box::new(value)), span })
        })
    }

    pub(super) fn conditional(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        self.nested(|p| {
            let then = p.expression()?;
            p.need(":", "in the conditional expression")?;
            let otherwise = p.conditional()?;
            let span = join(condition.span, otherwise.span);
            Ok(Expr { kind: ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise)), span })
        })
    }

    fn binary(&mut self, least: u32) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Tok::Punct(op) = *self.tok(0) {
            let Some((level, op)) = binary(op).filter(|&(level, _)| level > least) else { break };
            self.at += 1;
            let right = self.binary(level)?;
            let span = join(left.span, right.span);
            left = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span };
            self.operators += 1;
            if self.operators > OPERATORS {
                return self.fail(
                    Diagnostic::error("E0208", span, "expression too long")
                        .label(format!("more than {OPERATORS} operators"))
                        .help("use a loop or local variables"),
                );
            }
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.nested(|p| p.unary_inner())
    }

    fn unary_inner(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let op = match self.tok(0) {
            Tok::Punct("-") => Some(Unary::Neg),
            Tok::Punct("+") => Some(Unary::Plus),
            Tok::Punct("~") => Some(Unary::Not),
            Tok::Punct("!") => Some(Unary::LogicalNot),
            _ => None,
        };
        if let Some(op) = op {
            self.at += 1;
            let operand = self.unary()?;
            let span = join(start, operand.span);
            return Ok(Expr { kind: ExprKind::Unary(op, Box::new(operand)), span });
        }
        if self.is("++") || self.is("--") {
            let op = if self.is("++") { Binary::Add } else { Binary::Sub };
            self.at += 1;
            let operand = self.unary()?;
            let span = join(start, operand.span);
            let one = Box::new(Expr::one(span));
            return Ok(Expr { kind: ExprKind::Assign(Some(op), Box::new(operand), one), span });
        }
        if self.is("*") || self.is("&") {
            let address = self.is("&");
            self.at += 1;
            let operand = self.unary()?;
            let span = join(start, operand.span);
            return Ok(if address {
                Expr { kind: ExprKind::Address(Box::new(operand)), span }
            } else {
                element(operand, ExprKind::Literal(0, ScalarType::I32), span)
            });
        }
        if self.is_word("sizeof") {
            self.at += 1;
            return self.size_of(start);
        }
        if self.is("(") {
            self.at += 1;
            // `(int(x) + 1)` of C++ is no cast.
            let call = self.cpp && matches!(self.tok(1), Tok::Punct("("));
            if self.at_type() && !call {
                return self.cast(start);
            }
            let mut inner = self.expression()?;
            self.need(")", "to close the parenthesis")?;
            inner.span = join(start, self.previous());
            return self.postfix(inner);
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    /// What stands behind `sizeof`.
    fn size_of(&mut self, start: Span) -> Parsed<Expr> {
        let number = |bytes: u64, span| Expr { kind: ExprKind::Literal(bytes, literal::int(64, false)), span };
        let parenthesis = self.at;
        let is_type = self.eat("(") && self.at_type();
        if !is_type {
            self.at = parenthesis;
            let operand = self.unary()?;
            let span = join(start, operand.span);
            let pointer = matches!(&operand.kind, ExprKind::Name(name) if self.pointers.contains(name));
            return Ok(if pointer {
                number(POINTER, span)
            } else {
                Expr { kind: ExprKind::SizeOf(Box::new(operand)), span }
            });
        }
        let ty = self.type_name()?;
        let pointer = self.is("*");
        while self.eat("*") {}
        self.need(")", "after the type")?;
        let span = join(start, self.previous());
        let members = ty.members.as_ref().map_or(1, |m| m.len() as u64);
        let Some(bytes) = ty.scalar.map(|s| u64::from(s.bytes()) * members).filter(|_| !pointer) else {
            if pointer {
                return Ok(number(POINTER, span));
            }
            let why = ty.why.unwrap_or_else(|| "its members are of several types".into());
            let message = format!("the size of `{}` is not known", ty.text);
            return Ok(self.poison("E0404", span, message, &why, "write the number of bytes"));
        };
        let times = |product: Expr, x: crate::ast::Extent| match x.size {
            Some(size) => Expr { kind: ExprKind::Binary(Binary::Mul, Box::new(product), Box::new(size)), span },
            None => product,
        };
        Ok(ty.dims.into_iter().fold(number(bytes, span), times))
    }

    fn cast(&mut self, start: Span) -> Parsed<Expr> {
        let ty = self.type_name()?;
        let pointer = self.is("*") || self.is("(");
        while self.is("*") || self.is("(") || self.is("[") {
            // `(*)[N]`
            if !self.eat("*") {
                self.skip_group();
            }
        }
        self.need(")", "after the type of the cast")?;
        let operand = self.unary()?;
        if pointer && (self.in_operation || matches!(operand.kind, ExprKind::Literal(0, _))) {
            // `memcpy` and `memset` convert their arguments themselves. `(void *)0` is the null pointer.
            return Ok(operand);
        }
        if ty.text == "void" && !pointer {
            self.discarded = true;
            return Ok(operand);
        }
        let span = join(start, operand.span);
        Ok(self.converted(ty, pointer, operand, span))
    }

    /// An argument of a template: no comparison, which `>` would be.
    pub(super) fn template_argument(&mut self) -> Parsed<Expr> {
        self.binary(8)
    }

    /// A cast of `operand`.
    fn converted(&mut self, ty: TypeName, pointer: bool, operand: Expr, span: Span) -> Expr {
        if let (Some(_), false) = (ty.width, pointer || !ty.dims.is_empty()) {
            return Expr { kind: ExprKind::Call(ty.text.as_str().into(), vec![operand]), span };
        }
        match ty.scalar {
            Some(scalar) if !pointer && ty.dims.is_empty() && ty.members.is_none() => {
                Expr { kind: ExprKind::Cast(scalar, Box::new(operand)), span }
            }
            _ if pointer => self.poison(
                "E0301",
                span,
                "a cast to a pointer".into(),
                &format!("this takes memory for elements of type `{}`", ty.text),
                "declare the parameter or the array with the type that the region reads, such as `const int x[64]`",
            ),
            _ => {
                let why = ty.why.unwrap_or_else(|| "only arithmetic types can be cast to".into());
                self.poison(
                    "E0301",
                    ty.span,
                    format!("cast to the unsupported type `{}`", ty.text),
                    &why,
                    "cast to an integer or floating-point type",
                )
            }
        }
    }

    fn poison(&mut self, code: &'static str, span: Span, message: String, label: &str, help: &str) -> Expr {
        self.report(Diagnostic::error(code, span, message).label(label).help(help));
        Expr { kind: ExprKind::Poison, span }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let tok = self.tok(0).clone();
        let read = match &tok {
            Tok::Ident(word) if matches!(&**word, "true" | "false") => {
                self.at += 1;
                return Ok(Expr { kind: ExprKind::Literal((&**word == "true") as u64, ScalarType::BOOL), span });
            }
            Tok::Ident(_) if self.cpp && self.at_type() && matches!(self.tok(1), Tok::Punct("(" | "<")) => {
                // `int(x)`, `ap_int<8>(x)`: a cast.
                let ty = self.type_name()?;
                self.need("(", "behind the type of the cast")?;
                let operand = self.expression()?;
                self.need(")", "to close the cast")?;
                return Ok(self.converted(ty, false, operand, join(span, self.previous())));
            }
            Tok::Ident(_) => {
                let (name, span) = self.name("an expression")?;
                return Ok(Expr { kind: ExprKind::Name(name), span });
            }
            Tok::Number(text) if exact_literal(text).is_some() => {
                self.at += 1;
                return Ok(exact_literal(text)
                    .and_then(|(digits, unsigned)| of_exact_width(&literal::number(&digits).ok()?, unsigned, span))
                    .unwrap_or_else(|| self.too_wide(span)));
            }
            Tok::Number(text) => literal::number(text),
            Tok::Char(text) => literal::character(text),
            Tok::Bad(_) => {
                self.at += 1;
                return Ok(Expr { kind: ExprKind::Poison, span });
            }
            Tok::Str(_) => {
                self.at += 1;
                return Ok(self.poison(
                    "E0301",
                    span,
                    "strings are not supported".into(),
                    "strings are pointers",
                    "use numbers",
                ));
            }
            _ => {
                let label = self.found();
                return self.fail(Diagnostic::error("E0201", span, "expected an expression").label(label));
            }
        };
        self.at += 1;
        match read {
            Ok(literal) => Ok(Expr { kind: ExprKind::Literal(literal.bits, literal.ty), span }),
            Err(why) => {
                self.report(Diagnostic::error("E0104", span, "malformed literal").label(why));
                Ok(Expr { kind: ExprKind::Poison, span })
            }
        }
    }

    fn too_wide(&mut self, span: Span) -> Expr {
        let fault = Diagnostic::error("E0104", span, "malformed literal").label("a `_BitInt` of more than 64 bits");
        self.report(fault);
        Expr { kind: ExprKind::Poison, span }
    }

    fn postfix(&mut self, mut e: Expr) -> Parsed<Expr> {
        let mut length = 0;
        loop {
            length += 1;
            if length > 64 {
                let span = self.span();
                return self
                    .fail(Diagnostic::error("E0208", span, "too many subscripts").label("more than 64 in a row"));
            }
            if self.eat("[") {
                let subscript = self.expression()?;
                self.need("]", "to close the subscript")?;
                let span = join(e.span, self.previous());
                e = Expr { kind: ExprKind::Index(Box::new(e), Box::new(subscript)), span };
            } else if self.is("(") {
                e = self.call(e)?;
            } else if self.is("++") || self.is("--") {
                let op = if self.is("++") { Binary::Add } else { Binary::Sub };
                self.at += 1;
                let span = join(e.span, self.previous());
                e = Expr { kind: ExprKind::Step(op, Box::new(e)), span };
            } else if self.is(".") || self.is("->") {
                let arrow = self.is("->");
                self.at += 1;
                let (name, place) = self.name("a member's name")?;
                let span = join(e.span, place);
                if arrow {
                    e = element(e, ExprKind::Literal(0, ScalarType::I32), span);
                }
                let member = Expr { kind: ExprKind::Member(name), span: place };
                e = Expr { kind: ExprKind::Index(Box::new(e), Box::new(member)), span };
            } else {
                return Ok(e);
            }
        }
    }

    fn call(&mut self, function: Expr) -> Parsed<Expr> {
        let operation = matches!(&function.kind, ExprKind::Name(name)
            if crate::effects::is_operation(name) && !self.helpers.contains_key(name));
        let outer = std::mem::replace(&mut self.in_operation, operation);
        let arguments = self.arguments();
        self.in_operation = outer;
        let arguments = arguments?;
        let span = join(function.span, self.previous());
        match function.kind {
            ExprKind::Name(name) => Ok(Expr { kind: ExprKind::Call(name, arguments), span }),
            // Its declaration is reported where the name is used.
            _ if self.is_foreign(&function) => Ok(Expr { span, ..function }),
            // Bits of integers of any width: `x.range(7, 0)`, `x[i](7, 0)`.
            ExprKind::Index(base, member) if self.cpp => {
                let (name, base) = match &member.kind {
                    ExprKind::Member(name) if crate::effects::is_selection(name) => (name.clone(), *base),
                    ExprKind::Member(_) => return Ok(self.through_expression(span)),
                    _ => ("()".into(), Expr { kind: ExprKind::Index(base, member), span: function.span }),
                };
                let all = [base].into_iter().chain(arguments).collect();
                Ok(Expr { kind: ExprKind::Call(format!("{}{name}", crate::effects::SELECT).into(), all), span })
            }
            _ => Ok(self.through_expression(span)),
        }
    }

    fn through_expression(&mut self, span: Span) -> Expr {
        let (message, label) = ("call through an expression", "only named functions can be called");
        self.poison("E0404", span, message.into(), label, "write the expression out")
    }

    /// `(…)` of a call.
    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.at += 1;
        let mut arguments = vec![];
        while !self.is(")") && !self.at_end() {
            arguments.push(self.assignment()?);
            if !self.eat(",") {
                break;
            }
        }
        self.need(")", "to close the argument list")?;
        Ok(arguments)
    }

    /// Whether an expression is a member of a variable whose type was refused by name.
    fn is_foreign(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Index(base, _) => self.is_foreign(base),
            ExprKind::Name(name) => self.foreign.contains(name),
            _ => false,
        }
    }
}

/// A number with the suffix `wb` or `uwb`: its digits, and whether it is unsigned.
fn exact_literal(text: &str) -> Option<(String, bool)> {
    let lower = text.to_ascii_lowercase();
    let unsigned = lower.strip_suffix("uwb").or_else(|| lower.strip_suffix("wbu"));
    let signed = || lower.strip_suffix("wb").map(|digits| (digits.to_string(), false));
    unsigned.map(|digits| (digits.to_string(), true)).or_else(signed)
}

/// The literal of the narrowest `_BitInt` that holds it; `None` beyond 64 bits.
fn of_exact_width(number: &literal::Literal, unsigned: bool, span: Span) -> Option<Expr> {
    let bits = (64 - number.bits.leading_zeros()).max(1) + u32::from(!unsigned);
    if number.ty.is_float() || bits > 64 {
        return None;
    }
    let name = AnyWidth { bits, grows: false }.name(!unsigned);
    let value = Expr { kind: ExprKind::Literal(number.bits, number.ty), span };
    Some(Expr { kind: ExprKind::Call(name.as_str().into(), vec![value]), span })
}
