//! Diagnostics as text. For people: the place, the text there underlined, the reason, and what to write instead. For
//! editors and scripts: a line or a JSON object each.

use crate::diagnostics;
use ariadne::{Cache, Color, Config, IndexType, Label, Report, ReportKind, Source};
use clap::ValueEnum;
use scop::diag::{Diagnostic, Severity, SourceMap, Span};
use serde_json::{json, Value};
use std::fmt::{Debug, Display};

/// The form of messages on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// With the lines of the source that they are about
    #[default]
    Human,
    /// One line each: file:line:column: error[E0408]: text
    Short,
    /// One JSON object each, as rustc's
    Json,
}

impl MessageFormat {
    /// Diagnostics, in the order given.
    pub fn diagnostics(self, list: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
        match self {
            MessageFormat::Human => diagnostics(list, sources, color),
            MessageFormat::Short => list.iter().map(|d| short(d, sources)).collect(),
            MessageFormat::Json => list.iter().map(|d| format!("{}\n", as_json(d, sources))).collect(),
        }
    }

    /// A message without a place; `level` is `error` or `note`.
    pub fn message(self, level: &str, text: &str) -> String {
        let human = if level == "error" { "Error" } else { level };
        match self {
            MessageFormat::Human => format!("{human}: {text}\n"),
            MessageFormat::Short => format!("{level}: {}\n", text.trim_end().replace('\n', " ")),
            MessageFormat::Json => format!("{}\n", object(level, text, Value::Null, vec![], vec![])),
        }
    }
}

fn level(diagnostic: &Diagnostic) -> &'static str {
    match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn short(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let place = diagnostic.span.and_then(|span| {
        let (line, column) = sources.line_column(span);
        Some(format!("{}:{line}:{column}: ", harmless(&sources.files.get(span.file as usize)?.name)))
    });
    let label = if diagnostic.label.is_empty() { String::new() } else { format!(": {}", diagnostic.label) };
    let text = format!("{}{label}", diagnostic.message).replace('\n', " ");
    format!("{}{}[{}]: {text}\n", place.unwrap_or_default(), level(diagnostic), diagnostic.code)
}

fn as_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let mut spans: Vec<Value> = vec![];
    let own = diagnostic.span.map(|span| (span, diagnostic.label.as_str(), true));
    let notes = diagnostic.notes.iter().map(|(span, note)| (*span, note.as_str(), false));
    spans
        .extend(own.into_iter().chain(notes).filter_map(|(span, label, primary)| place(span, label, primary, sources)));
    let help = diagnostic.help.iter().map(|help| object("help", help, Value::Null, vec![], vec![])).collect();
    let code =
        json!({ "code": diagnostic.code, "explanation": diagnostics::find(diagnostic.code).map(|page| page.plain()) });
    let mut value = object(level(diagnostic), &diagnostic.message, code, spans, help);
    value["rendered"] = json!(self::diagnostics(std::slice::from_ref(diagnostic), sources, false));
    value
}

fn object(level: &str, message: &str, code: Value, spans: Vec<Value>, children: Vec<Value>) -> Value {
    json!({
        "$message_type": "diagnostic",
        "message": message,
        "code": code,
        "level": level,
        "spans": spans,
        "children": children,
        "rendered": null,
    })
}

/// A place with the whole lines that it is in.
fn place(span: Span, label: &str, primary: bool, sources: &SourceMap) -> Option<Value> {
    let file = sources.files.get(span.file as usize)?;
    let end = Span { start: span.end.max(span.start), ..span };
    let ((line, column), (last, after)) = (sources.line_column(span), sources.line_column(end));
    let text = file.text.lines().enumerate().skip(line.saturating_sub(1)).take(last + 1 - line).map(|(k, text)| {
        let from = if k + 1 == line { column } else { 1 };
        let to = if k + 1 == last { after } else { text.chars().count() + 1 };
        json!({ "text": text, "highlight_start": from, "highlight_end": to })
    });
    Some(json!({
        "file_name": file.name,
        "byte_start": span.start,
        "byte_end": end.start,
        "line_start": line,
        "line_end": last,
        "column_start": column,
        "column_end": after,
        "is_primary": primary,
        "text": text.collect::<Vec<_>>(),
        "label": if label.is_empty() { Value::Null } else { json!(label) },
        "suggested_replacement": null,
        "suggestion_applicability": null,
        "expansion": null,
    }))
}

/// The same text, of the same length, without characters that are commands to a terminal.
fn harmless(text: &str) -> String {
    let one = |c: char| match c {
        '\n' | '\t' | '\r' => c.to_string(),
        c if c.is_control() => "?".repeat(c.len_utf8()),
        c => c.to_string(),
    };
    text.chars().map(one).collect()
}

type Location = (u32, std::ops::Range<usize>);

/// The source files by the number that spans use.
struct Files(Vec<(String, Source<String>)>);

impl Cache<u32> for Files {
    type Storage = String;
    fn fetch(&mut self, id: &u32) -> Result<&Source<String>, impl Debug> {
        self.0.get(*id as usize).map(|f| &f.1).ok_or("unknown file")
    }
    fn display<'a>(&self, id: &'a u32) -> Option<impl Display + 'a> {
        self.0.get(*id as usize).map(|f| f.0.clone())
    }
}

/// Shows at most this many diagnostics: nobody reads more at once.
const MOST: usize = 50;
/// Lines of equal warnings that are named.
const LINES: usize = 8;
/// The closing line names at most this many codes.
const CODES: usize = 3;

/// Diagnostics: errors first, then warnings, each in the order given. Equal warnings at several places are shown once.
/// Closing lines count the errors and say where more about the codes is found. `color` only for terminals.
pub fn diagnostics(list: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    let mut files = Files(sources.files.iter().map(|f| (harmless(&f.name), Source::from(harmless(&f.text)))).collect());
    let mut text = String::new();
    let shown = folded(list);
    for group in shown.iter().take(MOST) {
        text.push_str(&one(group[0], &mut files, color));
        text.push_str(&others(&group[1..], sources));
    }
    if shown.len() > MOST {
        text.push_str(&format!("… and {} more\n", shown[MOST..].iter().map(Vec::len).sum::<usize>()));
    }
    let errors = list.iter().filter(|d| d.severity == Severity::Error).count();
    if errors > 1 {
        text.push_str(&format!("{errors} errors\n"));
    }
    text + &explained(list)
}

/// The errors one by one, then the warnings. Those that differ by their places only form a group.
fn folded(list: &[Diagnostic]) -> Vec<Vec<&Diagnostic>> {
    let (errors, warnings): (Vec<_>, Vec<_>) = list.iter().partition(|d| d.severity == Severity::Error);
    let mut groups: Vec<Vec<&Diagnostic>> = errors.into_iter().map(|d| vec![d]).collect();
    let first = groups.len();
    let words = |d: &Diagnostic| (d.code, d.message.clone(), d.label.clone(), d.help.clone(), d.notes.clone());
    for warning in warnings {
        match groups[first..].iter_mut().find(|group| words(group[0]) == words(warning)) {
            Some(group) => group.push(warning),
            None => groups.push(vec![warning]),
        }
    }
    groups
}

/// The line below a warning that says where else it applies; empty if nowhere.
fn others(more: &[&Diagnostic], sources: &SourceMap) -> String {
    if more.is_empty() {
        return String::new();
    }
    let mut lines: Vec<usize> = more.iter().filter_map(|d| d.span).map(|s| sources.line_column(s).0).collect();
    lines.dedup();
    let named: Vec<String> = lines.iter().take(LINES).map(usize::to_string).collect();
    let rest = if lines.len() > LINES { ", …" } else { "" };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("… and {} more {} like this, in {word} {}{rest}\n", more.len(), more[0].code, named.join(", "))
}

/// The line that leads to the pages of the first codes, errors before warnings; empty if no code has a page.
fn explained(list: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = vec![];
    let (errors, warnings): (Vec<_>, Vec<_>) = list.iter().partition(|d| d.severity == Severity::Error);
    let all = errors.into_iter().chain(warnings).map(|d| d.code);
    for code in all.filter(|code| diagnostics::find(code).is_some()) {
        if !codes.contains(&code) && codes.len() < CODES {
            codes.push(code);
        }
    }
    match codes.is_empty() {
        true => String::new(),
        false => format!("For more information: sagen explain {}\n", codes.join(" ")),
    }
}

fn one(diagnostic: &Diagnostic, files: &mut Files, color: bool) -> String {
    let Some(span) = diagnostic.span.filter(|s| (s.file as usize) < files.0.len()) else {
        return plain(diagnostic, color);
    };
    let (kind, paint) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let at = location(span, files);
    let config = Config::default().with_index_type(IndexType::Byte).with_color(color);
    let label = if diagnostic.label.is_empty() { "here" } else { &diagnostic.label };
    let mut report = Report::build(kind, at.clone())
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message)
        .with_label(Label::new(at).with_message(label).with_color(paint));
    for (span, note) in diagnostic.notes.iter().filter(|n| (n.0.file as usize) < files.0.len()) {
        report = report.with_label(Label::new(location(*span, files)).with_message(note).with_color(Color::Cyan));
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    let mut bytes = vec![];
    match report.finish().write(files, &mut bytes) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => plain(diagnostic, color),
    }
}

/// The span cut to the file, on character boundaries.
fn location(span: Span, files: &Files) -> Location {
    let text = files.0[span.file as usize].1.text();
    let cut = |at: u32| (0..=(at as usize).min(text.len())).rev().find(|&p| text.is_char_boundary(p)).unwrap_or(0);
    let start = cut(span.start);
    (span.file, start..cut(span.end).max(start))
}

/// A diagnostic that belongs to no place in a file.
fn plain(diagnostic: &Diagnostic, color: bool) -> String {
    let (word, code) = match diagnostic.severity {
        Severity::Error => ("Error", 31),
        Severity::Warning => ("Warning", 33),
    };
    let head = format!("[{}] {word}:", diagnostic.code);
    let head = if color { format!("\x1b[{code}m{head}\x1b[0m") } else { head };
    let mut text = format!("{head} {}\n", diagnostic.message);
    if !diagnostic.label.is_empty() {
        text.push_str(&format!("   {}\n", diagnostic.label));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("   Help: {help}\n"));
    }
    text
}
