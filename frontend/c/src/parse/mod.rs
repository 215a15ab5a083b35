//! Recursive-descent parser over preprocessed tokens. `unit` finds the marked regions and the declarations around them;
//! `stmt`, `expr` and `types` read the regions.
//!
//! Error recovery: a fault is pushed to `faults` at once. `Failed` unwinds to the next statement, where parsing goes
//! on.

mod around;
mod expr;
mod function;
mod jumps;
mod stmt;
mod types;
mod unit;

use crate::ast::{Expr, Helper, Init, TypeName, Unit};
use crate::lex::{Tok, Token};
use scop::diag::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A fault was reported; the current construct is abandoned.
pub(crate) struct Failed;
pub(crate) type Parsed<T> = Result<T, Failed>;

pub(crate) struct Parser<'a> {
    tokens: &'a [Token],
    /// A region is in a template, class or namespace, which was reported.
    refused_scope: bool,
    /// The file is C++.
    cpp: bool,
    /// Variables whose types were refused by name: what is done with them is not reported.
    foreign: BTreeSet<Rc<str>>,
    /// Integer constants at file level.
    constants: BTreeMap<Rc<str>, i64>,
    /// Default arguments of functions that were declared.
    defaults: BTreeMap<Rc<str>, Vec<Option<Init>>>,
    at: usize,
    pub faults: Diagnostics,
    typedefs: BTreeMap<Rc<str>, TypeName>,
    /// Variables with the name of a type, such as `int half`, in the current scope.
    variables: BTreeSet<Rc<str>>,
    /// Structures by tag.
    structures: BTreeMap<Rc<str>, types::Structure>,
    /// Functions outside of the regions.
    helpers: BTreeMap<Rc<str>, Helper>,
    in_helper: bool,
    /// The initial values of pointers are skipped.
    without_addresses: bool,
    /// Position of the body of the function around the region.
    body: usize,
    /// A loop of that function, or a `goto`, may run the region again.
    repeated: bool,
    /// That function is `main`.
    in_main: bool,
    /// Name, value, whether it is the first of its `enum`.
    enumerators: Vec<(Rc<str>, Option<Expr>, bool)>,
    depth: u32,
    /// Parameters of the current function that are pointers or arrays.
    pointers: BTreeSet<Rc<str>>,
    /// In the arguments of `memcpy` or `memset`.
    in_operation: bool,
    /// The initial value that was read last has a string.
    has_text: bool,
    /// A value was cast to `void`.
    discarded: bool,
    /// Loops and `switch` statements around the current statement, inside of the region or helper.
    around: Around,
    /// Loops that may end early, so far.
    early_ends: u32,
    /// Inside an expression; `operators` counts its binary operators so far.
    in_expression: bool,
    operators: u32,
    eof: Tok,
}

/// What a jump may leave.
#[derive(Clone, Copy, Default)]
struct Around {
    loops: u32,
    switches: u32,
}

/// Expressions and statements nest at most this deep.
const DEPTH: u32 = 120;
/// Limit on the binary operators in one expression: a long chain is a deep tree.
const OPERATORS: u32 = 400;

/// Parses the tokens of a file: one unit per marked region.
pub(crate) fn units(tokens: &[Token], cpp: bool) -> (Vec<Unit>, Diagnostics) {
    let mut parser = Parser::of(tokens, cpp);
    let units = parser.unit();
    (units, parser.faults)
}

/// From the start of `a` to the end of `b`, if both are in one file; otherwise `a`.
pub(crate) fn join(a: Span, b: Span) -> Span {
    if a.file == b.file {
        Span { file: a.file, start: a.start.min(b.start), end: a.end.max(b.end) }
    } else {
        a
    }
}

impl Parser<'_> {
    fn of(tokens: &[Token], cpp: bool) -> Parser<'_> {
        Parser {
            tokens,
            cpp,
            refused_scope: false,
            constants: BTreeMap::new(),
            foreign: BTreeSet::new(),
            defaults: BTreeMap::new(),
            at: 0,
            faults: vec![],
            typedefs: BTreeMap::new(),
            variables: BTreeSet::new(),
            structures: BTreeMap::new(),
            helpers: BTreeMap::new(),
            in_helper: false,
            without_addresses: false,
            body: 0,
            repeated: false,
            in_main: false,
            enumerators: vec![],
            depth: 0,
            pointers: BTreeSet::new(),
            in_operation: false,
            has_text: false,
            discarded: false,
            around: Around::default(),
            early_ends: 0,
            in_expression: false,
            operators: 0,
            eof: Tok::Eof,
        }
    }

    fn tok(&self, ahead: usize) -> &Tok {
        self.tokens.get(self.at + ahead).map_or(&self.eof, |t| &t.tok)
    }

    fn is(&self, punct: &str) -> bool {
        matches!(self.tok(0), Tok::Punct(p) if *p == punct)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.tok(0), Tok::Ident(w) if &**w == word)
    }

    fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        self.at += found as usize;
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += found as usize;
        found
    }

    /// The current token's place; at the end of the file, that of the last one.
    fn span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span::default(), |t| t.span)
    }

    fn previous(&self) -> Span {
        self.at.checked_sub(1).and_then(|k| self.tokens.get(k)).map_or(Span::default(), |t| t.span)
    }

    fn report(&mut self, fault: Diagnostic) {
        self.faults.push(fault);
    }

    /// Abandons the construct; silent next to text that the lexer reported already.
    fn fail<T>(&mut self, fault: Diagnostic) -> Parsed<T> {
        let near = [self.at.checked_sub(1), Some(self.at)].into_iter().flatten();
        if !near.into_iter().any(|k| matches!(self.tokens.get(k), Some(Token { tok: Tok::Bad(_), .. }))) {
            self.faults.push(fault);
        }
        Err(Failed)
    }

    fn found(&self) -> String {
        match self.tokens.get(self.at) {
            None => "found the end of the file".into(),
            Some(Token { tok: Tok::Marker(_), .. }) => "found the end of the region".into(),
            Some(t) => format!("found `{}`", t.text()),
        }
    }

    /// Consumes `punct`, or reports that it is missing `place`.
    fn need(&mut self, punct: &str, place: &str) -> Parsed<()> {
        if self.eat(punct) {
            return Ok(());
        }
        let (span, label) = if punct == ";" || self.at_end() {
            (self.previous(), format!("expected `{punct}` after this"))
        } else {
            (self.span(), self.found())
        };
        self.fail(Diagnostic::error("E0201", span, format!("expected `{punct}` {place}")).label(label))
    }

    fn name(&mut self, what: &str) -> Parsed<(Rc<str>, Span)> {
        let span = self.span();
        match self.tok(0).clone() {
            Tok::Ident(n) if !types::is_keyword(&n) => {
                self.at += 1;
                Ok((n, span))
            }
            _ => {
                let label = self.found();
                self.fail(Diagnostic::error("E0201", span, format!("expected {what}")).label(label))
            }
        }
    }

    /// Counts one level of nesting around `inner`.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEPTH {
            let span = self.span();
            return self.fail(
                Diagnostic::error("E0208", span, "nested too deep")
                    .label(format!("more than {DEPTH} levels"))
                    .help("split it with local variables"),
            );
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Skips a balanced group that starts at the current `(`, `[` or `{`.
    fn skip_group(&mut self) {
        let mut open = 0i32;
        while !self.at_end() {
            match self.tok(0) {
                Tok::Punct("(" | "[" | "{") => open += 1,
                Tok::Punct(")" | "]" | "}") => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open <= 0 {
                return;
            }
        }
    }

    /// Skips `(…)` of a faulty header; if nothing closes it before a brace or a region pragma, goes to `fault`.
    fn skip_header(&mut self, fault: usize) {
        let mut open = 0i32;
        while !self.at_end() && !matches!(self.tok(0), Tok::Marker(_) | Tok::Punct("{" | "}")) {
            match self.tok(0) {
                Tok::Punct("(" | "[") => open += 1,
                Tok::Punct(")" | "]") => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
        self.at = fault;
    }

    /// Skips past the next `;` on this level, or to a closing brace or a region pragma.
    fn recover(&mut self) {
        while !self.at_end() {
            match self.tok(0) {
                Tok::Punct(";") => {
                    self.at += 1;
                    return;
                }
                Tok::Punct("}") | Tok::Marker(_) => return,
                Tok::Punct("{") => {
                    self.skip_region_free_braces();
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Skips `{…}`, but stops before a region pragma in it.
    fn skip_region_free_braces(&mut self) {
        let mut open = 0;
        while !self.at_end() {
            match self.tok(0) {
                Tok::Marker(_) => return,
                Tok::Punct("{") => open += 1,
                Tok::Punct("}") => open -= 1,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }
}
