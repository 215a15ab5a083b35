//! Diagnostics: what is wrong, where, why, and what to write instead. No printing here: `src/` renders them.

pub use crate::render::render_plain;

/// A half-open byte range in one source file of the [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
}

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
        Diagnostic { severity: Severity::Error, code, message: message.into(), span: span.into(), label: String::new(), notes: vec![], help: None }
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
