//! Diagnostics: what is wrong, where, why, and what to write instead. No printing here: `src/` renders them.
//!
//! Codes of the front end (`W…` and severity `Warning` do not stop it):
//! - text: E0100 unreadable file, E0101 stray character, E0102 comment, E0103 quote, E0104 literal;
//!   preprocessor: E0105 directive, E0106 conditional, E0107 include, E0108 macro call, E0109 `##`, E0110 `#error`,
//!   E0111 `#if` expression, E0112 -D, E0113 expansion too large
//! - syntax: E0201 something else was expected, E0202 no region, E0203 not closed, E0204 second region, E0205 end
//!   without begin, E0206 empty, E0207 open brace, E0208 nested too deep,
//!   E0209 statement outside of a region in an included file, E0210 two functions of one name; W0201 statement outside
//!   of the region, W0202 nothing is executed
//! - declarations and types: E0301 unsupported type, E0302 extent not constant, E0303 below 1, E0304 array too large,
//!   E0305 assignment to a parameter passed by value, E0306 pointer or missing extent, E0307 unknown name, E0308
//!   declared twice, E0309 number of subscripts, E0310 write to const, E0311 operand types, E0312 no array, E0313
//!   initializer
//! - static control: E0401 while and do, E0402 jump, E0403 pointer or member, E0404 call, E0405 side effect in an
//!   expression, E0406 loop header, E0407 bound not affine, E0408 subscript not affine, E0409 iterator assigned,
//!   E0410 overflow, E0411 outside of the array, E0412 iterator behind its loop, E0413 endless loop, E0414 loops too
//!   deep, E0415 too many statements

/// A half-open byte range in one source file of the [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as the user wrote it (or as the `#include` named it).
    pub name: String,
    pub text: String,
}

/// Every file that was read, in order of first use; `Span::file` indexes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    pub files: Vec<SourceFile>,
}

impl SourceMap {
    /// 1-based line and column (in characters) of the start of `span`.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let Some(file) = self.files.get(span.file as usize) else { return (0, 0) };
        let upto = &file.text[..(span.start as usize).min(file.text.len())];
        let line = upto.matches('\n').count() + 1;
        let column = upto.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// What stands there with its file and line, such as `mm.c:9: C[i][j] = 0;`, in one line of ASCII.
    pub fn quote(&self, span: Span) -> Option<String> {
        let file = self.files.get(span.file as usize)?;
        let text = file.text.get(span.start as usize..span.end as usize)?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = file.name.rsplit('/').next().unwrap_or_default();
        let quoted: String = format!("{name}:{}: {text}", self.line_column(span).0).chars().take(QUOTED).collect();
        let quoted: String = quoted.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
        (!text.is_empty()).then(|| quoted.trim_end_matches(['\\', ' ']).to_string())
    }
}

/// Characters of what [`SourceMap::quote`] gives.
const QUOTED: usize = 110;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    /// Stable code, such as `E0203`.
    pub code: &'static str,
    pub message: String,
    /// Where; `None` for faults of the whole file.
    pub span: Option<Span>,
    /// What stands under the marked text: what was found, or why it is refused.
    pub label: String,
    /// Further places that belong to it.
    pub notes: Vec<(Span, String)>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span: span.into(),
            label: String::new(),
            notes: vec![],
            help: None,
        }
    }
    pub fn warning(code: &'static str, span: impl Into<Option<Span>>, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Self::error(code, span, message) }
    }
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// All faults found, never only the first.
pub type Diagnostics = Vec<Diagnostic>;
