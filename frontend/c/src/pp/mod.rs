//! Preprocessor (C17 6.10): files and directives in, one stream of tokens out.
//!
//! Supported: object- and function-like macros with `#`, `##` and `__VA_ARGS__`, `-D`, conditionals, `#include "file"`.
//! System headers are not read; `headers` defines the constants of them that the subset needs.
//! A token from a macro has the span of the place of use; `uses` lists the definitions for diagnostics.

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

/// Larger files are not read, in bytes.
const LONGEST_FILE: u64 = 64 << 20;

/// A source file's bytes.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    std::fs::File::open(path)?.take(LONGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(io::Error::other(format!("it is longer than {} MiB", LONGEST_FILE >> 20)));
    }
    Ok(bytes)
}

/// Options of the front end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    /// `-D`: name and replacement; an empty replacement means `1`.
    pub defines: Vec<(String, String)>,
    /// `-I`: searched after the directory of the including file.
    pub include_dirs: Vec<PathBuf>,
    /// `--with`: C files with functions that the program calls; the front end does not read them.
    pub companions: Vec<PathBuf>,
    /// `--max`: greatest values of parameters; they override those in the source.
    pub maxima: Vec<(String, i64)>,
    /// `--math approx`: functions of `math.h` in fp32 are those of [`APPROXIMATIONS`].
    pub approximate: bool,
}

/// Polynomials for `expf`, `logf`, `sinf`, `cosf` and `tanhf`, as C.
pub const APPROXIMATIONS: &str = include_str!("math_approx.h");

#[derive(Clone, Debug)]
pub(crate) struct Macro {
    params: Option<Vec<Rc<str>>>,
    variadic: bool,
    body: Vec<Token>,
    /// Place of the name in its `#define`; `None` if built in.
    defined: Option<Span>,
}

/// One expansion: place of use, macro, place of its definition.
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
    /// `#pragma HLS`, which is for other tools.
    ignored: Vec<Span>,
    pub clauses: Vec<Clause>,
    pub out: Vec<Token>,
    include_depth: u32,
    /// Files and bytes that `#include` may still read; none once it is exceeded.
    include_budget: Option<(usize, usize)>,
    /// Tokens that macros may still produce.
    budget: usize,
    exhausted: bool,
}

const LARGEST_FILE: usize = 16 << 20;
/// Headers without guards that include one another twice would be read 2^32 times.
const MOST_INCLUDES: usize = 10_000;
/// All included files together, in bytes.
const MOST_INCLUDED: usize = LARGEST_FILE;
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
            include_budget: Some((MOST_INCLUDES, MOST_INCLUDED)),
            budget: TOKEN_BUDGET,
            exhausted: false,
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        let at = self.faults.len();
        self.faults.push(Diagnostic::error(code, span, message));
        &mut self.faults[at]
    }

    /// Processes the main file, which becomes file 0 of the map, after the `-D` options.
    pub fn main_file(&mut self, name: &str, text: String) {
        if crate::cpp::is_cpp(name) {
            headers::cplusplus(&mut self.macros);
        }
        let file = self.add(name, text);
        for (name, replacement) in &self.options.defines {
            self.define_option(name, replacement);
        }
        if self.options.approximate {
            let header = self.add("sagen_math.h", APPROXIMATIONS.to_string());
            self.file(header);
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
                note.help("sagen pipelines and parallelizes by itself; `--space`, `--tile` and `--simd` choose how"),
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
            self.error("E0112", span, format!("`{name}` cannot be defined: it is not an identifier")).help =
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
