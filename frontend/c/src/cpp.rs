//! C++ that is C at heart, as tokens of C. A file is C++ by its extension ([`is_cpp`]).
//!
//! Rewritten here: `extern "C"` and its braces disappear, `std::` and a leading `::` too; other qualified names become
//! one name (`hls::stream`); `static_cast<T>(e)` becomes `(T)(e)`; `using T = int;` becomes `typedef int T;`. The parser
//! reads references, `int(x)` and default arguments. What has no form in C is refused by name.

use crate::lex::{Tok, Token};
use std::path::Path;

/// Whether a file is C++, by its name.
pub fn is_cpp(name: &str) -> bool {
    const EXTENSIONS: &[&str] = &["cpp", "cc", "cxx", "c++", "C", "hpp", "hh", "hxx"];
    Path::new(name).extension().is_some_and(|e| EXTENSIONS.iter().any(|x| *x == e))
}

/// The tokens of C++, rewritten.
pub(crate) fn rewritten(tokens: Vec<Token>) -> Vec<Token> {
    using(casts(names(linkage(tokens))))
}

fn is_word(token: Option<&Token>, word: &str) -> bool {
    matches!(token, Some(Token { tok: Tok::Ident(w), .. }) if &**w == word)
}

fn is(token: Option<&Token>, punct: &str) -> bool {
    token.is_some_and(|t| t.is(punct))
}

/// Position behind the group that opens at `at`.
fn closed(tokens: &[Token], at: usize, open: &str, close: &str) -> usize {
    let mut depth = 0usize;
    for (k, token) in tokens.iter().enumerate().skip(at) {
        depth += usize::from(token.is(open));
        depth -= usize::from(token.is(close) && depth > 0);
        if depth == 0 {
            return k + 1;
        }
    }
    tokens.len()
}

/// Without `extern "C"` and the braces behind it.
fn linkage(tokens: Vec<Token>) -> Vec<Token> {
    let mut left_out = vec![false; tokens.len()];
    for at in 0..tokens.len() {
        let language = matches!(tokens.get(at + 1), Some(Token { tok: Tok::Str(_), .. }));
        if !is_word(tokens.get(at), "extern") || !language {
            continue;
        }
        (left_out[at], left_out[at + 1]) = (true, true);
        if is(tokens.get(at + 2), "{") {
            left_out[at + 2] = true;
            let end = closed(&tokens, at + 2, "{", "}") - 1;
            left_out[end] |= tokens[end].is("}");
        }
    }
    tokens.into_iter().zip(left_out).filter(|(_, out)| !out).map(|(t, _)| t).collect()
}

/// Each qualified name as one token.
fn names(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = vec![];
    let mut at = 0;
    while at < tokens.len() {
        let adjacent = |a: usize| is(tokens.get(a), ":") && is(tokens.get(a + 1), ":") && !tokens[a + 1].spaced;
        if adjacent(at) && matches!(tokens.get(at + 2), Some(Token { tok: Tok::Ident(_), .. })) {
            // `::name`: the left side is a name or nothing.
            let name = &tokens[at + 2];
            match out.last_mut() {
                Some(Token { tok: Tok::Ident(left), span, .. }) if &**left == "std" => {
                    *left = name.text().into();
                    span.end = if span.file == name.span.file { name.span.end } else { span.end };
                }
                Some(Token { tok: Tok::Ident(left), span, .. }) if &**left != "return" => {
                    *left = format!("{left}::{}", name.text()).into();
                    span.end = if span.file == name.span.file { name.span.end } else { span.end };
                }
                _ => out.push(name.clone()),
            }
            at += 3;
            continue;
        }
        out.push(tokens[at].clone());
        at += 1;
    }
    out
}

/// `static_cast<T>(e)` as `(T)(e)`.
fn casts(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = vec![];
    let mut closing = vec![];
    for (at, token) in tokens.iter().enumerate() {
        if is_word(Some(token), "static_cast") && is(tokens.get(at + 1), "<") {
            closing.push(closed(&tokens, at + 1, "<", ">") - 1);
            continue;
        }
        let opens = at > 0 && is_word(tokens.get(at - 1), "static_cast") && token.is("<");
        let closes = closing.contains(&at);
        let tok = if opens {
            Tok::Punct("(")
        } else if closes {
            Tok::Punct(")")
        } else {
            token.tok.clone()
        };
        out.push(Token { tok, ..token.clone() });
    }
    out
}

/// `using T = int;` as `typedef int T;`; `using namespace …;` disappears.
fn using(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = vec![];
    let mut at = 0;
    while at < tokens.len() {
        if !is_word(tokens.get(at), "using") {
            out.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = at + tokens[at..].iter().position(|t| t.is(";")).unwrap_or(tokens.len() - at);
        if let (true, Some(name)) = (is(tokens.get(at + 2), "="), tokens.get(at + 1)) {
            out.push(Token { tok: Tok::Ident("typedef".into()), ..tokens[at].clone() });
            out.extend(tokens[at + 3..end].iter().cloned());
            out.push(name.clone());
            out.extend(tokens.get(end).cloned());
        }
        at = (end + 1).max(at + 1);
    }
    out
}
