//! Statements of the region (C17 6.8). Statements that static control excludes are reported and skipped.

use super::{join, Parsed, Parser};
use crate::ast::{Expr, ExprKind, For, ForInit, Jump, LoopKind, Stmt, StmtKind};
use crate::lex::Tok;
use scop::diag::{Diagnostic, Span};

impl Parser<'_> {
    /// One statement; a faulty one is skipped and becomes `Poison`.
    pub(super) fn statement(&mut self) -> Stmt {
        let before = self.at;
        let (depth, around) = (self.depth, self.around);
        match self.nested(|p| p.statement_inner()) {
            Ok(statement) => statement,
            Err(_) => {
                (self.depth, self.around) = (depth, around);
                self.recover();
                if self.at == before {
                    self.at += 1;
                }
                Stmt { kind: StmtKind::Poison }
            }
        }
    }

    fn statement_inner(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = match self.tok(0).clone() {
            Tok::Punct(";") => {
                self.at += 1;
                StmtKind::Empty
            }
            Tok::Punct("{") => self.block()?,
            Tok::Ident(word) => match &*word {
                "for" => self.for_loop()?,
                "if" => self.if_statement()?,
                "while" | "do" => self.while_loop()?,
                "return" if self.in_helper => {
                    self.at += 1;
                    let value = if self.is(";") { None } else { Some(self.expression()?) };
                    self.need(";", "after the statement")?;
                    StmtKind::Return(value)
                }
                "switch" => self.switch_statement()?,
                "break" | "continue" if self.may_leave(&word) => {
                    self.at += 1;
                    self.need(";", "after the statement")?;
                    StmtKind::Jump(if &*word == "break" { Jump::Break } else { Jump::Continue }, start)
                }
                "goto" | "break" | "continue" | "return" | "case" | "default" => self.jump(&word)?,
                "else" => {
                    self.at += 1;
                    return self
                        .fail(Diagnostic::error("E0201", start, "`else` without `if`").label("no `if` is open here"));
                }
                "typedef" => {
                    self.at += 1;
                    self.typedef()?;
                    StmtKind::Empty
                }
                "_Static_assert" | "static_assert" => {
                    self.at += 1;
                    self.skip_group();
                    self.need(";", "after the statement")?;
                    StmtKind::Empty
                }
                _ if self.at_type() => StmtKind::Declare(self.declaration()?),
                // A label: nothing can jump to it.
                _ if matches!(self.tok(1), Tok::Punct(":")) && !super::types::is_keyword(&word) => {
                    self.at += 2;
                    if self.is("}") {
                        StmtKind::Empty
                    } else {
                        self.statement().kind
                    }
                }
                _ => self.expression_statement()?,
            },
            _ => self.expression_statement()?,
        };
        Ok(Stmt { kind })
    }

    pub(super) fn refuse(&mut self, code: &'static str, span: Span, message: &str, label: &str, help: &str) {
        self.report(Diagnostic::error(code, span, message).label(label).help(help));
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind> {
        self.discarded = false;
        let e = self.expression()?;
        self.need(";", "after the statement")?;
        // `(void)x;` says that `x` is not used.
        Ok(if self.discarded && !has_effect(&e) { StmtKind::Empty } else { StmtKind::Expr(e) })
    }

    fn block(&mut self) -> Parsed<StmtKind> {
        self.scoped(Self::statements)
    }

    fn statements(&mut self) -> Parsed<StmtKind> {
        let open = self.span();
        self.at += 1;
        let mut statements = vec![];
        loop {
            if self.eat("}") {
                return Ok(StmtKind::Block(statements));
            }
            if self.at_end() || matches!(self.tok(0), Tok::Marker(_)) {
                self.report(
                    Diagnostic::error("E0207", open, "this `{` is not closed inside the region")
                        .label("no matching `}`"),
                );
                return Ok(StmtKind::Block(statements));
            }
            statements.push(self.statement());
        }
    }

    fn for_loop(&mut self) -> Parsed<StmtKind> {
        let start = self.span();
        self.at += 1;
        let (open, depth) = (self.at, self.depth);
        match self.for_header() {
            Ok((init, condition, step)) => {
                let header = join(start, self.previous());
                let body = self.loop_body();
                let f = For { kind: LoopKind::For, init, condition, step, body, may_break: false, header };
                Ok(self.structured(f))
            }
            Err(failed) => {
                // The body is still checked for faults.
                let fault = std::mem::replace(&mut self.at, open);
                self.depth = depth;
                if !self.is("(") {
                    return Err(failed);
                }
                self.skip_header(fault);
                self.statement();
                Ok(StmtKind::Poison)
            }
        }
    }

    /// `(init; condition; step)`
    fn for_header(&mut self) -> Parsed<(ForInit, Option<Expr>, Option<Expr>)> {
        self.need("(", "after `for`")?;
        let init = if self.eat(";") {
            ForInit::None
        } else if self.at_type() {
            ForInit::Declare(self.declaration()?)
        } else {
            let e = self.expression()?;
            self.need(";", "after the loop's initialization")?;
            ForInit::Expr(e)
        };
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.need(";", "after the loop's condition")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.need(")", "to close the loop's header")?;
        Ok((init, condition, step))
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        self.at += 1;
        self.need("(", "after `if`")?;
        let condition = self.expression()?;
        self.need(")", "to close the condition")?;
        let then = self.statement();
        let otherwise = if self.eat_word("else") { Some(Box::new(self.statement())) } else { None };
        Ok(StmtKind::If(condition, Box::new(then), otherwise))
    }

    /// `while (condition) body`, or `do body while (condition);`.
    fn while_loop(&mut self) -> Parsed<StmtKind> {
        let start = self.span();
        let kind = if self.is_word("do") { LoopKind::Do } else { LoopKind::While };
        self.at += 1;
        let first = (kind == LoopKind::Do).then(|| self.loop_body());
        if first.is_some() && !self.eat_word("while") {
            let label = self.found();
            return self.fail(Diagnostic::error("E0201", self.span(), "expected `while` after `do`").label(label));
        }
        self.need("(", "after `while`")?;
        let condition = self.expression()?;
        self.need(")", "to close the condition")?;
        let (body, header) = match first {
            Some(body) => {
                self.need(";", "after the loop")?;
                (body, join(condition.span, self.previous()))
            }
            None => {
                let header = join(start, self.previous());
                (self.loop_body(), header)
            }
        };
        let (init, condition, step) = (ForInit::None, Some(condition), None);
        Ok(self.structured(For { kind, init, condition, step, body, may_break: false, header }))
    }

    fn loop_body(&mut self) -> Stmt {
        self.around.loops += 1;
        let body = self.statement();
        self.around.loops -= 1;
        body
    }

    fn switch_statement(&mut self) -> Parsed<StmtKind> {
        let start = self.span();
        self.at += 1;
        self.need("(", "after `switch`")?;
        let value = self.expression()?;
        self.need(")", "to close the condition")?;
        self.switch_body(&value, start)
    }

    /// Whether the statement is in a loop, or in a `switch`, that `break` or `continue` may leave.
    fn may_leave(&self, word: &str) -> bool {
        self.around.loops > 0 || word == "break" && self.around.switches > 0
    }

    fn jump(&mut self, word: &str) -> Parsed<StmtKind> {
        let span = self.span();
        self.at += 1;
        self.refused_jump(word, span);
        match word {
            "case" | "default" => {
                while !self.at_end() && !self.is(":") && !self.is(";") && !self.is("}") {
                    self.at += 1;
                }
                self.eat(":");
            }
            _ => self.recover(),
        }
        Ok(StmtKind::Poison)
    }

    pub(super) fn refused_jump(&mut self, word: &str, span: Span) {
        let help = match word {
            "break" | "continue" => "put the rest of the body under an `if`, or bound the loop by an affine expression",
            "case" | "default" => "write `if` and `else`",
            "return" => "move it after the end of the region",
            _ => "use `for` and `if`",
        };
        self.refuse("E0402", span, &format!("`{word}` is not supported"), "control must not depend on jumps", help);
    }
}

/// Whether an expression may change a variable or the state of the program.
fn has_effect(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |x| found |= matches!(x.kind, ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..)));
    found
}
