//! Diagnostics: what is wrong, where, why, and what to write instead. No printing here: `src/` renders them.
//!
//! Each code is stable: `E…` stops the compilation; `W…`, and severity `Warning`, do not. The command's registry of
//! diagnostics (`src/diagnostics/`) has a page for each code. The first digits say who reports it: E01 preprocessor,
//! E02 parser, E03 declarations and types, E04 static control, E05 dataflow, E06 recurrences, E07 mapping and wiring,
//! E09 data of a simulation.

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

    /// The marked text with its file and line, such as `mm.c:9: C[i][j] = 0;`, in one line of ASCII.
    pub fn quote(&self, span: Span) -> Option<String> {
        let file = self.files.get(span.file as usize)?;
        let text = file.text.get(span.start as usize..span.end as usize)?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // Tools read some words at the beginning of a comment as commands; none has a `.` or `_`.
        let name = file.name.rsplit('/').next().unwrap_or_default().replace(' ', "_");
        let quoted: String = format!("{name}:{}: {text}", self.line_column(span).0).chars().take(QUOTED).collect();
        let quoted: String = quoted.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
        (!text.is_empty()).then(|| quoted.trim_end_matches(['\\', ' ']).to_string())
    }
}

/// Length limit of [`SourceMap::quote`], in characters.
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
    /// The place; `None` for faults of the whole file.
    pub span: Option<Span>,
    /// Printed under the marked text: what was found, or why it is refused.
    pub label: String,
    /// Related places.
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
