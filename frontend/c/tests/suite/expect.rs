//! Expected faults as comments of a C file: `//~ ERROR E0402 text` (or `WARNING W0201 text`) on the line of the fault;
//! each `^` after `~` means one line up. The text must occur in the message, the label, the help or a note.

use scop::diag::{Diagnostic, SourceMap};
use scop::render_plain;

struct Expected {
    line: usize,
    code: String,
    text: String,
}

fn expectations(text: &str) -> Vec<Expected> {
    let mut all = vec![];
    for (k, line) in text.lines().enumerate() {
        let Some((_, comment)) = line.split_once("//~") else { continue };
        let up = comment.chars().take_while(|&c| c == '^').count();
        let rest = comment[up..].trim();
        let rest = rest.strip_prefix("ERROR ").or(rest.strip_prefix("WARNING ")).expect("//~ ERROR CODE text");
        let (code, text) = rest.split_once(' ').expect("a code and a text");
        all.push(Expected { line: k + 1 - up, code: code.into(), text: text.trim().into() });
    }
    all
}

fn line_of(map: &SourceMap, fault: &Diagnostic) -> usize {
    fault.span.map_or(1, |s| map.line_column(s).0)
}

fn says(fault: &Diagnostic, text: &str) -> bool {
    let all = [Some(&fault.message), Some(&fault.label), fault.help.as_ref()]
        .into_iter()
        .flatten()
        .chain(fault.notes.iter().map(|n| &n.1));
    all.into_iter().any(|s| s.contains(text))
}

/// Checks that the faults are exactly those that `text` expects.
pub fn compare(text: &str, map: &SourceMap, mut faults: Vec<Diagnostic>) -> Result<(), String> {
    let expected = expectations(text);
    let rendered = render_plain(map, &faults);
    let mut missing = vec![];
    for e in &expected {
        match faults.iter().position(|f| f.code == e.code && line_of(map, f) == e.line && says(f, &e.text)) {
            Some(k) => drop(faults.remove(k)),
            None => missing.push(format!("line {}: {} {}", e.line, e.code, e.text)),
        }
    }
    if expected.is_empty() {
        missing.push("nothing is expected in this file".into());
    }
    for f in &faults {
        missing.push(format!("unexpected, line {}: {} {} ({})", line_of(map, f), f.code, f.message, f.label));
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("{}\n--- found:\n{rendered}", missing.join("\n")))
    }
}
