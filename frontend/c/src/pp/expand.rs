//! Macro expansion by Prosser's algorithm: each token has the set of macros that must not expand it again (its hide
//! set). Source: D. Prosser, "Complete macro expansion algorithm", X3J11/86-196.

use super::{Macro, Preprocessor};
use crate::lex::{lex, Tok, Token};
use scop::diag::Span;
use std::rc::Rc;

/// Arguments that contain calls are expanded recursively, at most this deep.
const DEPTH: u32 = 100;

impl Preprocessor<'_> {
    /// `tokens` with all macros replaced.
    pub(super) fn expand(&mut self, tokens: Vec<Token>, depth: u32) -> Vec<Token> {
        let mut input: Vec<Token> = tokens.into_iter().rev().collect();
        let mut out = vec![];
        while let Some(token) = input.pop() {
            let Tok::Ident(name) = &token.tok else {
                out.push(token);
                continue;
            };
            let name = name.clone();
            let definition = match self.macros.get(&name) {
                Some(m) if !token.hidden.contains(&name) && !self.exhausted => m.clone(),
                _ => {
                    out.push(token);
                    continue;
                }
            };
            let mut site = token.span;
            let mut arguments = vec![];
            if definition.params.is_some() {
                if !input.last().is_some_and(|t| t.is("(")) {
                    out.push(token);
                    continue;
                }
                match self.arguments(&name, &definition, &mut input, &mut site) {
                    Some(found) => arguments = found,
                    None => continue,
                }
            }
            if let (Some(defined), true) = (definition.defined, self.uses.last().is_none_or(|u| u.site != site)) {
                self.uses.push(super::MacroUse { site, name: name.clone(), defined });
            }
            let body = self.substitute(&definition, arguments, site, depth);
            if body.len() > self.budget || depth > DEPTH {
                self.exhausted = true;
                let fault = self.error("E0113", token.span, format!("macro `{name}` expands too far"));
                fault.label = "more than 400,000 tokens, or calls nested more than 100 deep".into();
                fault.help = Some("do not nest calls of macros that use their arguments more than once".into());
                continue;
            }
            self.budget -= body.len();
            let hidden = token.hidden.with(&name);
            input.extend(body.into_iter().rev().map(|t| Token { hidden: t.hidden.and(&hidden), ..t }));
        }
        out
    }

    /// Removes the call's arguments from `input`; widens `site` to the closing parenthesis.
    fn arguments(
        &mut self,
        name: &Rc<str>,
        definition: &Macro,
        input: &mut Vec<Token>,
        site: &mut Span,
    ) -> Option<Vec<Vec<Token>>> {
        let start = *site;
        let wanted = definition.params.as_ref().map_or(0, Vec::len);
        input.pop();
        let (mut arguments, mut current, mut depth) = (vec![], vec![], 0);
        loop {
            let Some(token) = input.pop() else {
                self.error("E0108", start, format!("unterminated call of macro `{name}`")).label =
                    "its `)` is missing".into();
                return None;
            };
            if token.span.file == site.file {
                site.end = site.end.max(token.span.end);
            }
            let rest = definition.variadic && arguments.len() + 1 == wanted;
            match token.tok {
                Tok::Punct(")") if depth == 0 => break,
                Tok::Punct(",") if depth == 0 && !rest => {
                    arguments.push(std::mem::take(&mut current));
                    continue;
                }
                Tok::Punct("(") => depth += 1,
                Tok::Punct(")") => depth -= 1,
                _ => {}
            }
            current.push(token);
        }
        arguments.push(current);
        if wanted == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if definition.variadic && arguments.len() + 1 == wanted {
            arguments.push(vec![]);
        }
        if arguments.len() != wanted {
            let fault = self.error(
                "E0108",
                *site,
                format!("macro `{name}` takes {wanted} argument(s), {} given", arguments.len()),
            );
            fault.label = "called here".into();
            if let Some(defined) = definition.defined {
                fault.notes.push((defined, "defined here".into()));
            }
            return None;
        }
        Some(arguments)
    }

    /// The macro's body with parameters replaced and `#` and `##` applied; its tokens get the span `site`.
    fn substitute(&mut self, definition: &Macro, arguments: Vec<Vec<Token>>, site: Span, depth: u32) -> Vec<Token> {
        let params: &[Rc<str>] = definition.params.as_deref().unwrap_or(&[]);
        let parameter = |t: &Token| if let Tok::Ident(n) = &t.tok { params.iter().position(|p| p == n) } else { None };
        let mut out: Vec<Token> = vec![];
        let (body, mut k, mut paste) = (&definition.body, 0, false);
        while k < body.len() {
            let token = &body[k];
            if token.is("##") && !out.is_empty() && k + 1 < body.len() {
                // GNU: `, ## __VA_ARGS__` is `, __VA_ARGS__`, and nothing if there are no such arguments.
                let rest = params.len().wrapping_sub(1);
                paste = !(definition.variadic && body[k - 1].is(",") && parameter(&body[k + 1]) == Some(rest));
                if !paste && arguments[rest].is_empty() {
                    out.pop();
                }
                k += 1;
                continue;
            }
            let mut piece =
                if token.is("#") && definition.params.is_some() && body.get(k + 1).and_then(parameter).is_some() {
                    k += 1;
                    let index = parameter(&body[k]).unwrap_or(0);
                    let text: Vec<&str> = arguments[index].iter().map(Token::text).collect();
                    vec![Token { tok: Tok::Str(format!("\"{}\"", text.join(" ")).into()), span: site, ..token.clone() }]
                } else if let Some(index) = parameter(token) {
                    let pasted = paste || body.get(k + 1).is_some_and(|t| t.is("##"));
                    if pasted {
                        arguments[index].clone()
                    } else {
                        self.expand(arguments[index].clone(), depth + 1)
                    }
                } else {
                    vec![Token { span: site, ..token.clone() }]
                };
            if paste && !piece.is_empty() {
                let right = piece.remove(0);
                if let Some(left) = out.pop() {
                    out.push(self.paste(left, right, site));
                }
            }
            paste = false;
            out.extend(piece);
            if out.len() > self.budget {
                break;
            }
            k += 1;
        }
        out
    }

    fn paste(&mut self, left: Token, right: Token, site: Span) -> Token {
        let text = format!("{}{}", left.text(), right.text());
        match lex(&text, site.file).as_slice() {
            [one] if !matches!(one.tok, Tok::Bad(_)) => {
                Token { tok: one.tok.clone(), span: site, hidden: left.hidden, first: left.first, spaced: left.spaced }
            }
            _ => {
                self.error("E0109", site, format!("`##` makes `{text}`, which is not one token")).label =
                    "pasted in this macro".into();
                left
            }
        }
    }
}
