//! Clauses of `#pragma sagen`: `space` and `time` (the mapping), `extent` (open first extents), `max` (sizes at run
//! time), `range` (values of inputs).

use super::Preprocessor;
use crate::lex::Token;
use scop::diag::Span;
use scop::Clause;

impl Preprocessor<'_> {
    /// Reads `space(c+q) time(q)`, `extent(A, 64)`, `max(m=1024)`, `range(shift, 0, 15)`.
    pub(super) fn clauses(&mut self, mut rest: &[Token], span: Span) {
        while let Some((first, inside)) = rest.split_first() {
            let close = closing(inside);
            let name = first.text();
            let (Some(close), true) = (close, ["space", "time", "extent", "max", "range"].contains(&name)) else {
                let fault = self.error("E0105", first.span, format!("`{name}` is not a clause of `#pragma sagen`"));
                fault.label = "expected space(…), time(…), extent(…), max(…) or range(…)".into();
                fault.help =
                    Some("for example #pragma sagen space(c+q) time(q), or #pragma sagen extent(A, 64)".into());
                return;
            };
            let items: Vec<&[Token]> = inside[1..close].split(|t| t.is(",")).collect();
            if name == "max" {
                for item in items {
                    let size = if let [name, sign, size @ ..] = item {
                        self.constant(size).filter(|_| sign.is("=")).map(|n| (name.text().to_string(), n))
                    } else {
                        None
                    };
                    let Some((name, max)) = size else {
                        let fault = self.error("E0105", first.span, "malformed `max`");
                        fault.label = "expected sizes and their greatest values".into();
                        fault.help = Some("for example #pragma sagen max(m=1024, n=2*N) with a macro N".into());
                        return;
                    };
                    self.clauses.push(Clause { name: "max".into(), values: vec![name, max.to_string()], span });
                }
                rest = &inside[close + 1..];
                continue;
            }
            let mut values: Vec<String> = items.iter().map(|item| item.iter().map(Token::text).collect()).collect();
            if name == "extent" {
                let size = if let [_, size] = items[..] { self.constant(size).filter(|&n| n > 0) } else { None };
                let Some(size) = size else {
                    let fault = self.error("E0105", first.span, "malformed `extent`");
                    fault.label = "expected an array and a positive number of elements".into();
                    fault.help =
                        Some("for example #pragma sagen extent(A, 64), or extent(A, N * N) with a macro N".into());
                    return;
                };
                values[1] = size.to_string();
            }
            if name == "range" {
                let bounds = match items[..] {
                    [_, least, most] => {
                        self.constant(least).zip(self.constant(most)).filter(|(least, most)| least <= most)
                    }
                    _ => None,
                };
                let Some((least, most)) = bounds else {
                    let fault = self.error("E0105", first.span, "malformed `range`");
                    fault.label = "expected an input, its least and its greatest value".into();
                    fault.help = Some("for example #pragma sagen range(shift, 0, 15)".into());
                    return;
                };
                (values[1], values[2]) = (least.to_string(), most.to_string());
            }
            self.clauses.push(Clause { name: name.to_string(), values, span });
            rest = &inside[close + 1..];
        }
    }
}

/// Index of the parenthesis that closes the one at the start of `tokens`.
fn closing(tokens: &[Token]) -> Option<usize> {
    let mut open = 0usize;
    for (k, token) in tokens.iter().enumerate() {
        match token.text() {
            "(" => open += 1,
            ")" => open = open.checked_sub(1)?,
            _ => {}
        }
        if open == 0 {
            return token.is(")").then_some(k);
        }
    }
    None
}
