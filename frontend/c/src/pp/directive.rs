//! Directives (C17 6.10): conditionals, macro definitions, includes and region pragmas.

use super::{headers, read, Macro, Preprocessor, MOST_INCLUDED, MOST_INCLUDES};
use crate::lex::{Marker, Names, Tok, Token};
use scop::diag::{Diagnostic, Span};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Includes nest at most this deep.
const INCLUDE_DEPTH: u32 = 32;

/// One open `#if`.
pub(super) struct Conditional {
    pub span: Span,
    pub active: bool,
    /// Some branch was taken already.
    taken: bool,
    has_else: bool,
}

impl Preprocessor<'_> {
    /// Handles conditional directives; false for every other one.
    pub(super) fn conditional(&mut self, line: &[Token], active: bool, open: &mut Vec<Conditional>) -> bool {
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

    pub(super) fn directive(&mut self, line: &[Token]) {
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
                let fault = self.error("E0110", span, "`#error` directive");
                fault.label = "the program itself refuses to be compiled this way".into();
                fault.help =
                    Some("define the macro that the condition around it asks for: -D NAME or -D NAME=VALUE".into());
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
                    // GNU: the last parameter `name...` takes all further arguments.
                    Tok::Punct("...") if k % 2 == 1 && k + 5 == close => definition.variadic = true,
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
                let mut warning = Diagnostic::warning("E0105", at, format!("macro `{name}` is redefined"))
                    .label("this definition applies from here on")
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
                let including = self.map.files[line[0].span.file as usize].name.clone();
                self.include_local(&name, Path::new(&including), span);
            }
            Some(Tok::Punct("<")) => {
                let name: String = operand[1..].iter().take_while(|t| !t.is(">")).map(Token::text).collect();
                let directories = self.options.include_dirs.iter().filter(|d| !headers::is_system_directory(d));
                match directories.map(|d| d.join(&name)).find(|p| p.is_file()) {
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
        let including = includer.parent().map(Path::to_path_buf).unwrap_or_default();
        let given = self.options.include_dirs.iter().filter(|d| !headers::is_system_directory(d));
        let of_system = |d: &PathBuf| headers::is_system_directory(d) && d.join(name).is_file();
        let system = headers::is_system(name) || self.options.include_dirs.iter().any(of_system);
        match std::iter::once(&including).chain(given).map(|d| d.join(name)).find(|p| p.is_file()) {
            Some(path) => self.include_path(&path, span),
            None if system => headers::include(name, &mut self.macros),
            None => {
                let fault = self.error("E0107", span, format!("cannot find the included file `{name}`"));
                fault.label = "not beside this file, nor in an include directory".into();
                fault.help =
                    Some("give its directory with -I, or leave the line out if the region does not need it".into());
            }
        }
    }

    /// Appends a file, unless the includes have been found to have no end: that is said once.
    fn include_path(&mut self, path: &Path, span: Span) {
        let Some((files, bytes)) = self.include_budget else { return };
        if self.include_depth >= INCLUDE_DEPTH {
            self.endless(span, "includes nest more than 32 deep").label = "does the file include itself?".into();
            return;
        }
        match read(path) {
            Ok(text) => {
                self.include_budget = files.checked_sub(1).zip(bytes.checked_sub(text.len()));
                if self.include_budget.is_none() {
                    let fault = self.endless(span, "the included files have no end");
                    fault.label = format!("more than {MOST_INCLUDES} files, or {} MiB", MOST_INCLUDED >> 20);
                    return;
                }
                let file = self.add(&path.to_string_lossy(), String::from_utf8_lossy(&text).into_owned());
                self.include_depth += 1;
                self.file(file);
                self.include_depth -= 1;
            }
            Err(why) => self.error("E0107", span, format!("cannot read `{}`", path.display())).label = why.to_string(),
        }
    }

    /// From here on nothing is included.
    fn endless(&mut self, span: Span, what: &str) -> &mut Diagnostic {
        self.include_budget = None;
        let fault = self.error("E0107", span, what);
        fault.help = Some("give headers guards: `#ifndef NAME_H`, `#define NAME_H` … `#endif`".into());
        fault
    }
}
