//! Preprocessor: files and directives in, one stream of tokens out (C17 6.10).
//!
//! Object- and function-like macros with `#`, `##` and `__VA_ARGS__`, `-D`, conditionals, `#include "file"`.
//! System headers are not read: what the language subset needs of them is built in (`headers`).
//! Tokens from a macro carry the span of the place of use; `uses` remembers the definition for the diagnostics.

mod clause;
mod condition;
mod directive;
mod expand;
mod headers;

use crate::lex::{lex, Tok, Token};
use directive::Conditional;
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
}
