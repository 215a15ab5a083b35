//! Lexer: text to preprocessing tokens (C17 6.4). Literals remain text, because `##` may paste them.
//!
//! Every token has its byte range. Faults become `Bad` tokens, so text skipped by `#if 0` reports nothing.

use scop::diag::{Diagnostic, Span};
use std::rc::Rc;

/// A region pragma: `scop`/`sa` opens, `endscop`/`endsa` closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    Scop,
    Sa,
    EndScop,
    EndSa,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Tok {
    Ident(Rc<str>),
    /// A preprocessing number, unread.
    Number(Rc<str>),
    /// A character constant with its quotes.
    Char(Rc<str>),
    /// A string literal with its quotes.
    Str(Rc<str>),
    Punct(&'static str),
    Marker(Marker),
    /// Invalid text: reported if it is not skipped.
    Bad(Rc<Diagnostic>),
    Eof,
}

#[derive(Clone, Debug)]
pub struct Token {
    pub tok: Tok,
    /// Its place; for a token from a macro's body, the place where the macro is used.
    pub span: Span,
    /// First on its line.
    pub first: bool,
    /// White space precedes it.
    pub spaced: bool,
    /// Macros that must not expand this token again.
    pub hidden: Names,
}

/// A set of names as a shared list: tokens of one macro body share most of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names(Option<Rc<(Rc<str>, Names)>>);

impl Names {
    pub fn contains(&self, name: &str) -> bool {
        self.all().any(|n| &**n == name)
    }

    pub fn with(&self, name: &Rc<str>) -> Names {
        Names(Some(Rc::new((name.clone(), self.clone()))))
    }

    /// The union.
    pub fn and(self, others: &Names) -> Names {
        if self.0.is_none() {
            others.clone()
        } else {
            others.all().fold(self, |all, n| all.with(n))
        }
    }

    fn all(&self) -> impl Iterator<Item = &Rc<str>> {
        std::iter::successors(self.0.as_deref(), |node| node.1 .0.as_deref()).map(|node| &node.0)
    }
}

/// Iterative: recursion would exhaust the stack on long chains of macros.
impl Drop for Names {
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(Ok((_, mut rest))) = next.map(Rc::try_unwrap) {
            next = rest.0.take();
        }
    }
}

impl Token {
    pub fn is(&self, punct: &str) -> bool {
        matches!(self.tok, Tok::Punct(p) if p == punct)
    }
    /// The token as it is written.
    pub fn text(&self) -> &str {
        match &self.tok {
            Tok::Ident(s) | Tok::Number(s) | Tok::Char(s) | Tok::Str(s) => s,
            Tok::Punct(p) => p,
            Tok::Marker(_) | Tok::Bad(_) | Tok::Eof => "",
        }
    }
}

/// Longest first.
const PUNCTUATORS: &[&str] = &[
    "<<=", ">>=", "...", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "->", "<=", ">=", "==", "!=",
    "&&", "||", "<<", ">>", "##", "(", ")", "[", "]", "{", "}", ";", ",", "?", ":", "<", ">", "=", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "!", ".", "#",
];

/// All tokens of `text`, without an end marker. `file` numbers the spans.
pub fn lex(text: &str, file: u32) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, file, out: vec![], first: true, spaced: false };
    while lexer.at < lexer.bytes.len() {
        lexer.step();
    }
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    file: u32,
    out: Vec<Token>,
    first: bool,
    spaced: bool,
}

impl Lexer<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32 }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        let rest = &self.bytes[self.at..];
        let c = rest[0];
        if c == b'\n' {
            (self.first, self.spaced) = (true, true);
            self.at += 1;
        } else if c.is_ascii_whitespace() || c == 0x0b {
            self.spaced = true;
            self.at += 1;
        } else if rest.starts_with(b"\\\n") {
            self.at += 2;
        } else if rest.starts_with(b"\\\r\n") {
            self.at += 3;
        } else if rest.starts_with(b"//") {
            self.line_comment();
        } else if rest.starts_with(b"/*") {
            self.block_comment();
        } else {
            self.token(c);
        }
    }

    fn line_comment(&mut self) {
        self.spaced = true;
        while self.at < self.bytes.len() && self.bytes[self.at] != b'\n' {
            // A line comment that ends in a backslash goes on in the next line.
            self.at += if self.byte(0) == b'\\' && self.byte(1) == b'\n' { 2 } else { 1 };
        }
    }

    fn block_comment(&mut self) {
        self.spaced = true;
        let start = self.at;
        match self.bytes[start + 2..].windows(2).position(|w| w == b"*/") {
            Some(length) => self.at = start + 2 + length + 2,
            None => {
                self.at = self.bytes.len();
                let fault = Diagnostic::error("E0102", self.span(start, start + 2), "unterminated comment")
                    .label("this comment is never closed")
                    .help("close it with `*/`");
                self.push(Tok::Bad(Rc::new(fault)), start, start + 2);
            }
        }
    }

    fn push(&mut self, tok: Tok, start: usize, end: usize) {
        let span = self.span(start, end);
        self.out.push(Token { tok, span, first: self.first, spaced: self.spaced, hidden: Names::default() });
        (self.first, self.spaced) = (false, false);
    }

    fn token(&mut self, c: u8) {
        let start = self.at;
        if c.is_ascii_alphabetic() || c == b'_' {
            self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_');
            let text: Rc<str> = self.text[start..self.at].into();
            self.push(Tok::Ident(text), start, self.at);
        } else if c.is_ascii_digit() || (c == b'.' && self.byte(1).is_ascii_digit()) {
            self.number(start);
        } else if c == b'"' || c == b'\'' {
            self.quoted(start, c);
        } else if let Some(p) = PUNCTUATORS.iter().find(|p| self.bytes[start..].starts_with(p.as_bytes())) {
            self.at += p.len();
            self.push(Tok::Punct(p), start, self.at);
        } else {
            let c = self.text[start..].chars().next().unwrap_or('?');
            self.at += c.len_utf8();
            let span = self.span(start, self.at);
            let fault = Diagnostic::error("E0101", span, format!("unexpected character {c:?}"))
                .label("not part of any C token");
            self.push(Tok::Bad(Rc::new(fault)), start, self.at);
        }
    }

    fn take_while(&mut self, good: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && good(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn number(&mut self, start: usize) {
        let hex = matches!(&self.bytes[start..], [b'0', b'x' | b'X', ..]);
        while self.at < self.bytes.len() {
            let (b, previous) = (self.bytes[self.at], self.bytes[self.at.saturating_sub(1)]);
            let exponent = matches!(previous, b'p' | b'P') || (!hex && matches!(previous, b'e' | b'E'));
            let sign = (b == b'+' || b == b'-') && exponent && self.at > start;
            if !(b.is_ascii_alphanumeric() || b == b'.' || b == b'_' || b == b'\'' || sign) {
                break;
            }
            self.at += 1;
        }
        let text: Rc<str> = self.text[start..self.at].into();
        self.push(Tok::Number(text), start, self.at);
    }

    fn quoted(&mut self, start: usize, quote: u8) {
        self.at += 1;
        while self.at < self.bytes.len() && self.bytes[self.at] != quote && self.bytes[self.at] != b'\n' {
            self.at += if self.bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        if self.at >= self.bytes.len() || self.bytes[self.at] == b'\n' {
            self.at = self.at.min(self.bytes.len());
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            let what = if quote == b'"' { "string" } else { "character constant" };
            let span = self.span(start, start + 1);
            let fault = Diagnostic::error("E0103", span, format!("unterminated {what}"))
                .label("opened here, not closed on this line");
            self.push(Tok::Bad(Rc::new(fault)), start, start + 1);
            return;
        }
        self.at += 1;
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
        let text: Rc<str> = self.text[start..self.at].into();
        self.push(if quote == b'"' { Tok::Str(text) } else { Tok::Char(text) }, start, self.at);
    }
}
