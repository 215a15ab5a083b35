//! Diagnostics as plain text in the style of C compilers, for pipes, logs and tests.

use crate::diag::{Diagnostic, Diagnostics, Severity, SourceMap, Span};
use std::fmt::Write;

/// `file:line:column: error[E0401]: message`, the source line, the underlined text with its label, notes, help.
pub fn render_plain(map: &SourceMap, faults: &Diagnostics) -> String {
    let mut out = String::new();
    for fault in faults {
        render_one(&mut out, map, fault);
    }
    out
}

fn render_one(out: &mut String, map: &SourceMap, fault: &Diagnostic) {
    let kind = match fault.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = match fault.span {
        Some(span) => place(map, span),
        None => map.files.first().map_or(String::new(), |f| format!("{}: ", f.name)),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{place}{kind}[{}]: {}", fault.code, fault.message);
    if let Some(span) = fault.span {
        excerpt(out, map, span, &fault.label);
    }
    for (span, text) in &fault.notes {
        let _ = writeln!(out, "{}note: {text}", self::place(map, *span));
        excerpt(out, map, *span, "");
    }
    if let Some(help) = &fault.help {
        let _ = writeln!(out, "  help: {help}");
    }
}

fn place(map: &SourceMap, span: Span) -> String {
    let (line, column) = map.line_column(span);
    let name = map.files.get(span.file as usize).map_or("?", |f| f.name.as_str());
    format!("{name}:{line}:{column}: ")
}

/// The first line of the span with carets under it.
fn excerpt(out: &mut String, map: &SourceMap, span: Span, label: &str) {
    let Some(file) = map.files.get(span.file as usize) else { return };
    let text = &file.text;
    let start = (span.start as usize).min(text.len());
    let begin = text[..start].rfind('\n').map_or(0, |k| k + 1);
    let end = text[start..].find('\n').map_or(text.len(), |k| start + k);
    let line = text[begin..end].trim_end();
    let (number, _) = map.line_column(span);
    let before: String = text[begin..start].chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let stop = (span.end as usize).clamp(start, end.max(start));
    let width = text.get(start..stop).map_or(1, |marked| marked.trim_end().chars().count()).max(1);
    let gutter = " ".repeat(number.to_string().len());
    let _ = writeln!(out, " {number} | {line}");
    let _ =
        writeln!(out, " {gutter} | {before}{}{}{label}", "^".repeat(width), if label.is_empty() { "" } else { " " });
}
