//! Reads `switch`, and brings the jumps of a loop or `switch` that was read into `if` (`crate::jumps`).

use super::Parser;
use crate::ast::{Expr, ExprKind, For, StmtKind};
use crate::jumps::{all_pass, chained, without_jumps, Case};
use scop::diag::Span;
use std::rc::Rc;

impl Parser<'_> {
    /// The loop without jumps in its body.
    pub(super) fn structured(&mut self, f: For) -> StmtKind {
        without_jumps(f, &mut || self.early_end()).unwrap_or_else(|span| {
            self.refused_jump("break", span);
            StmtKind::Poison
        })
    }

    fn early_end(&mut self) -> Rc<str> {
        self.early_ends += 1;
        format!("go__{}", self.early_ends).into()
    }

    /// `switch (e) { case A: …; break; default: … }` behind its `)`, as a chain of `if`.
    pub(super) fn switch_body(&mut self, e: &Expr, start: Span) -> super::Parsed<StmtKind> {
        self.need("{", "after `switch (…)`")?;
        let mut cases: Vec<Case> = vec![];
        let mut fault = None;
        self.around.switches += 1;
        while !self.is("}") && !self.at_end() && !matches!(self.tok(0), crate::lex::Tok::Marker(_)) {
            let label = self.span();
            let is_default = self.is_word("default");
            if self.eat_word("case") || self.eat_word("default") {
                let value = if is_default { None } else { Some(self.conditional()?) };
                self.need(":", "after the case")?;
                if cases.last().is_none_or(|c| !c.body.is_empty()) {
                    if cases.last().is_some_and(|c| all_pass(&c.body)) {
                        fault = fault.or(Some((label, "the case in front of it goes on here: end that with `break`")));
                    }
                    cases.push(Case { values: vec![], is_default: false, body: vec![] });
                }
                let case = cases.last_mut().expect("a case was pushed");
                case.is_default |= is_default;
                case.values.extend(value);
                continue;
            }
            let s = self.statement();
            match cases.last_mut() {
                Some(case) => case.body.push(s),
                None => fault = fault.or(Some((label, "no `case` is in front of this statement"))),
            }
        }
        self.around.switches -= 1;
        self.need("}", "to close the `switch`")?;
        let wide = |x: &Expr| matches!(x.kind, ExprKind::Literal(_, ty) if ty.bits() > 32);
        let mut long = false;
        cases.iter().flat_map(|c| &c.values).for_each(|v| v.walk(&mut |x| long |= wide(x)));
        if long {
            fault = fault.or(Some((start, "a case has a value of more than 32 bits")));
        }
        let mut effect = false;
        e.walk(&mut |x| effect |= matches!(x.kind, ExprKind::Assign(..) | ExprKind::Step(..) | ExprKind::Call(..)));
        if effect {
            fault =
                fault.or(Some((e.span, "the value has a side effect or calls a function: assign it to a variable")));
        }
        let Some((span, why)) = fault else {
            return Ok(chained(e, cases, start, &mut || self.early_end()));
        };
        let help = "end each case with `break` or `return`; or write `if` and `else`";
        self.refuse("E0402", span, "this `switch` is not supported", why, help);
        Ok(StmtKind::Poison)
    }
}
