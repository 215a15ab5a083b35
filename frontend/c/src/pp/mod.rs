//! Preprocessor: files and directives in, one stream of tokens out (C17 6.10).
//!
//! Object- and function-like macros with `#`, `##` and `__VA_ARGS__`, `-D`, conditionals, `#include "file"`.
//! System headers are not read: what the language subset needs of them is built in (`headers`).
//! Tokens from a macro carry the span of the place of use; `uses` remembers the definition for the diagnostics.

mod condition;
mod expand;
mod headers;

use crate::lex::{lex, Marker, Names, Tok, Token};
use scop::diag::{Diagnostic, Diagnostics, SourceFile, SourceMap, Span};
use scop::Clause;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes beyond which a file is no source of a loop nest.
const LONGEST_FILE: u64 = 64 << 20;

/// A source file's bytes.
///
/// # Errors
/// It cannot be read, or has no end in sight.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    std::fs::File::open(path)?.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(io::Error::other(format!("it is longer than {} MiB", LONGEST_FILE >> 20)));
    }
    Ok(bytes)
}

/// What `-D` and `-I` give.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// `(name, replacement)`; an empty replacement stands for `1`.
    pub defines: Vec<(String, String)>,
    /// Searched after the including file's own directory.
    pub include_dirs: Vec<PathBuf>,
    /// Greatest values of parameters, before those that the source gives.
    pub maxima: Vec<(String, i64)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Macro {
    params: Option<Vec<Rc<str>>>,
    variadic: bool,
    body: Vec<Token>,
    /// The name in its `#define`; `None` when built in.
    defined: Option<Span>,
}

/// One expansion: where, of what, defined where.
#[derive(Clone, Debug)]
pub struct MacroUse {
    pub site: Span,
    pub name: Rc<str>,
    pub defined: Span,
}

pub(crate) struct Preprocessor<'a> {
    pub map: &'a mut SourceMap,
    pub faults: &'a mut Diagnostics,
    options: &'a ParseOptions,
    macros: BTreeMap<Rc<str>, Rc<Macro>>,
    pub uses: Vec<MacroUse>,
    /// Pragmas for another tool that say how hardware is made.
    ignored: Vec<Span>,
    pub clauses: Vec<Clause>,
    pub out: Vec<Token>,
    include_depth: u32,
    /// Tokens that macros may still produce.
    budget: usize,
    exhausted: bool,
}

const LARGEST_FILE: usize = 16 << 20;
const TOKEN_BUDGET: usize = 400_000;
const INCLUDE_DEPTH: u32 = 32;

/// One open `#if`.
struct Conditional {
    span: Span,
    active: bool,
    /// Some branch was taken already.
    taken: bool,
    has_else: bool,
}

impl<'a> Preprocessor<'a> {
    pub fn new(map: &'a mut SourceMap, faults: &'a mut Diagnostics, options: &'a ParseOptions) -> Self {
        Preprocessor {
            map,
            faults,
            options,
            macros: headers::always(),
            uses: vec![],
            ignored: vec![],
            clauses: vec![],
            out: vec![],
            include_depth: 0,
            budget: TOKEN_BUDGET,
            exhausted: false,
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let at = self.faults.len();
        self.faults.push(Diagnostic::error(code, span, message));
        &mut self.faults[at]
    }

    /// Processes the main file, which becomes file 0 of the map; the `-D` options come first.
    pub fn main_file(&mut self, name: &str, text: String) {
        let file = self.add(name, text);
        for (name, replacement) in &self.options.defines {
            self.define_option(name, replacement);
        }
        self.file(file);
        if let Some((first, rest)) = self.ignored.split_first() {
            let what = if rest.is_empty() {
                "a `#pragma HLS` is ignored".into()
            } else {
                format!("{} `#pragma HLS` are ignored", rest.len() + 1)
            };
            let note = Diagnostic::warning("W0105", *first, what).label("the first one");
            self.faults.push(
                note.help("the array is pipelined and parallel by itself; `--space`, `--tile` and `--simd` say how"),
            );
        }
    }

    fn add(&mut self, name: &str, mut text: String) -> u32 {
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        self.map.files.push(SourceFile { name: name.into(), text });
        self.map.files.len() as u32 - 1
    }

    fn define_option(&mut self, name: &str, replacement: &str) {
        let head = name.split('(').next().unwrap_or("");
        let good = head.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && head.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let replacement = if replacement.is_empty() { "1" } else { replacement };
        let text = format!("#define {name} {}", replacement.replace('\n', " "));
        let file = self.add("<command line>", text);
        if good {
            self.file(file);
        } else {
            let span = Span { file, start: 8, end: 8 + name.len() as u32 };
            self.error("E0112", span, format!("`{name}` cannot be defined: it is no identifier")).help =
                Some("write -D NAME=VALUE".into());
        }
    }

    /// Appends the tokens of file `file` to `out`.
    fn file(&mut self, file: u32) {
        let text = std::mem::take(&mut self.map.files[file as usize].text);
        let tokens = if text.len() > LARGEST_FILE { vec![] } else { lex(&text, file) };
        let too_large = text.len() > LARGEST_FILE;
        self.map.files[file as usize].text = text;
        if too_large {
            self.error("E0100", Span { file, start: 0, end: 0 }, "the file is larger than 16 MiB");
            return;
        }
        self.lines(&tokens);
    }

    fn lines(&mut self, tokens: &[Token]) {
        let mut open: Vec<Conditional> = vec![];
        let mut text: Vec<Token> = vec![];
        let mut at = 0;
        while at < tokens.len() {
            let active = open.iter().all(|c| c.active);
            if !(tokens[at].first && tokens[at].is("#")) {
                if active {
                    if let Tok::Bad(fault) = &tokens[at].tok {
                        self.faults.push((**fault).clone());
                    }
                    text.push(tokens[at].clone());
                }
                at += 1;
                continue;
            }
            let end = (at + 1..tokens.len()).find(|&k| tokens[k].first).unwrap_or(tokens.len());
            let line = &tokens[at..end];
            at = end;
            if !self.conditional(line, active, &mut open) && active {
                let run = std::mem::take(&mut text);
                self.flush(run);
                self.directive(line);
            }
        }
        for left in open {
            self.error("E0106", left.span, "unterminated conditional").help = Some("close it with `#endif`".into());
        }
        self.flush(text);
    }

    fn flush(&mut self, run: Vec<Token>) {
        let expanded = self.expand(run, 0);
        self.out.extend(expanded);
    }

    /// Handles `#if` and its relatives; false for every other directive.
    fn conditional(&mut self, line: &[Token], active: bool, open: &mut Vec<Conditional>) -> bool {
        let Some(name) = line.get(1) else { return true };
        let span = Span { end: name.span.end, ..line[0].span };
        match name.text() {
            "ifdef" | "ifndef" => {
                let defined = match line.get(2).map(|t| &t.tok) {
                    Some(Tok::Ident(n)) => self.macros.contains_key(n),
                    _ => {
                        self.error("E0105", span, format!("`#{}` needs a name", name.text()));
                        false
                    }
                };
                let value = defined == (name.text() == "ifdef");
                open.push(Conditional { span, active: value, taken: value, has_else: false });
            }
            "if" => {
                let value = active && self.condition(&line[2..], span);
                open.push(Conditional { span, active: value, taken: value, has_else: false });
            }
            "elif" | "else" => {
                let is_else = name.text() == "else";
                let outer = open.iter().rev().skip(1).all(|c| c.active);
                match open.last_mut() {
                    Some(last) if !last.has_else => {
                        let taken = last.taken;
                        last.has_else = is_else;
                        last.active = false;
                        let value = !taken && (is_else || (outer && self.condition(&line[2..], span)));
                        if let Some(last) = open.last_mut() {
                            last.active = value;
                            last.taken |= value;
                        }
                    }
                    Some(_) => {
                        self.error("E0106", span, format!("`#{}` after `#else`", name.text())).label =
                            "the conditional has its `#else` already".into()
                    }
                    None => {
                        self.error("E0106", span, format!("`#{}` without `#if`", name.text())).label =
                            "no conditional is open here".into()
                    }
                }
            }
            "endif" => {
                if open.pop().is_none() {
                    self.error("E0106", span, "`#endif` without `#if`").label = "no conditional is open here".into();
                }
            }
            _ => return false,
        }
        true
    }

    fn directive(&mut self, line: &[Token]) {
        let name = &line[1];
        let span = Span { end: line[line.len() - 1].span.end, ..line[0].span };
        match name.text() {
            "define" => self.define(line, span),
            "undef" => match line.get(2).map(|t| &t.tok) {
                Some(Tok::Ident(n)) => drop(self.macros.remove(n)),
                _ => self.error("E0105", span, "`#undef` needs a name").label = "no name follows".into(),
            },
            "include" | "include_next" | "import" => self.include(line, span),
            "pragma" => self.pragma(line, span),
            "error" => {
                self.error("E0110", span, "`#error` directive").label =
                    "the program itself refuses to be compiled this way".into()
            }
            "warning" | "line" | "ident" | "sccs" => {}
            other => {
                self.error("E0105", span, format!("unknown directive `#{other}`")).label = "not a directive of C".into()
            }
        }
    }

    fn pragma(&mut self, line: &[Token], span: Span) {
        let marker = match line.get(2).map(Token::text) {
            Some("scop") => Marker::Scop,
            Some("sa") => Marker::Sa,
            Some("endscop") => Marker::EndScop,
            Some("endsa") => Marker::EndSa,
            Some("sagen") => return self.clauses(&line[3..], span),
            Some("HLS" | "hls") => {
                self.ignored.push(span);
                return;
            }
            _ => return,
        };
        self.out.push(Token { tok: Tok::Marker(marker), span, first: true, spaced: true, hidden: Names::default() });
    }

    /// `space(c+q) time(q)`, `extent(A, 64)`
    fn clauses(&mut self, mut rest: &[Token], span: Span) {
        while let Some((first, inside)) = rest.split_first() {
            let close = closing(inside);
            let name = first.text();
            let (Some(close), true) = (close, ["space", "time", "extent", "max"].contains(&name)) else {
                let fault = self.error("E0105", first.span, format!("`{name}` is not a clause of `#pragma sagen`"));
                fault.label = "expected space(…), time(…), extent(…) or max(…)".into();
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
            self.clauses.push(Clause { name: name.to_string(), values, span });
            rest = &inside[close + 1..];
        }
    }

    fn define(&mut self, line: &[Token], span: Span) {
        let Some(Token { tok: Tok::Ident(name), span: at, .. }) = line.get(2) else {
            self.error("E0105", span, "`#define` needs a name").label = "no identifier follows".into();
            return;
        };
        for token in &line[3..] {
            if let Tok::Bad(fault) = &token.tok {
                self.faults.push((**fault).clone());
                return;
            }
        }
        let mut definition = Macro { params: None, variadic: false, body: line[3..].to_vec(), defined: Some(*at) };
        if line.get(3).is_some_and(|t| t.is("(") && !t.spaced) {
            let Some(close) = line.iter().position(|t| t.is(")")) else {
                self.error("E0105", span, "the macro's parameter list is not closed").label = "`)` is missing".into();
                return;
            };
            let mut params: Vec<Rc<str>> = vec![];
            for (k, token) in line[4..close].iter().enumerate() {
                match &token.tok {
                    Tok::Ident(p) if k % 2 == 0 && !params.contains(p) => params.push(p.clone()),
                    Tok::Punct("...") if k % 2 == 0 && k + 5 == close => {
                        params.push("__VA_ARGS__".into());
                        definition.variadic = true;
                    }
                    Tok::Punct(",") if k % 2 == 1 && k + 5 < close => {}
                    _ => {
                        self.error("E0105", token.span, "malformed macro parameter list").label =
                            "expected distinct names, separated by commas".into();
                        return;
                    }
                }
            }
            definition.params = Some(params);
            definition.body = line[close + 1..].to_vec();
        }
        self.install(name, definition);
    }

    fn install(&mut self, name: &Rc<str>, definition: Macro) {
        let same = |a: &Macro, b: &Macro| {
            a.params == b.params && a.body.iter().map(|t| &t.tok).eq(b.body.iter().map(|t| &t.tok))
        };
        if let (Some(old), Some(at)) = (self.macros.get(name), definition.defined) {
            if let (false, Some(before)) = (same(old, &definition), old.defined) {
                let by_option = self.map.files[before.file as usize].name == "<command line>";
                let mut warning = Diagnostic::warning("E0105", at, format!("macro `{name}` is defined anew"))
                    .label("from here on this definition holds")
                    .note(before, "the earlier definition");
                if by_option {
                    warning = warning.help(format!("let -D win: `#ifndef {name}`, `#define {name} …`, `#endif`"));
                }
                self.faults.push(warning);
            }
        }
        self.macros.insert(name.clone(), Rc::new(definition));
    }

    fn include(&mut self, line: &[Token], span: Span) {
        let operand = if matches!(line.get(2).map(|t| &t.tok), Some(Tok::Ident(_))) {
            self.expand(line[2..].to_vec(), 0)
        } else {
            line[2..].to_vec()
        };
        match operand.first().map(|t| &t.tok) {
            Some(Tok::Str(quoted)) => {
                let name = quoted.trim_matches('"').to_string();
                let own = self.map.files[line[0].span.file as usize].name.clone();
                self.include_local(&name, Path::new(&own), span);
            }
            Some(Tok::Punct("<")) => {
                let name: String = operand[1..].iter().take_while(|t| !t.is(">")).map(Token::text).collect();
                match self.options.include_dirs.iter().map(|d| d.join(&name)).find(|p| p.is_file()) {
                    Some(path) => self.include_path(&path, span),
                    None => headers::include(&name, &mut self.macros),
                }
            }
            _ => {
                self.error("E0105", span, "malformed `#include`").help =
                    Some("write #include \"file\" or #include <file>".into())
            }
        }
    }

    fn include_local(&mut self, name: &str, includer: &Path, span: Span) {
        let own = includer.parent().map(Path::to_path_buf).unwrap_or_default();
        let directories = std::iter::once(&own).chain(&self.options.include_dirs);
        match directories.map(|d| d.join(name)).find(|p| p.is_file()) {
            Some(path) => self.include_path(&path, span),
            None => {
                let fault = self.error("E0107", span, format!("cannot find the included file `{name}`"));
                fault.label = "not beside this file, nor in an include directory".into();
                fault.help =
                    Some("give its directory with -I, or leave the line out if the region does not need it".into());
            }
        }
    }

    fn include_path(&mut self, path: &Path, span: Span) {
        if self.include_depth >= INCLUDE_DEPTH {
            self.error("E0107", span, "includes nest more than 32 deep").label = "does the file include itself?".into();
            return;
        }
        match read(path) {
            Ok(bytes) => {
                let file = self.add(&path.to_string_lossy(), String::from_utf8_lossy(&bytes).into_owned());
                self.include_depth += 1;
                self.file(file);
                self.include_depth -= 1;
            }
            Err(why) => self.error("E0107", span, format!("cannot read `{}`", path.display())).label = why.to_string(),
        }
    }
}

/// Where the parenthesis that `tokens` begin with is closed.
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
