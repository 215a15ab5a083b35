//! Programs that are refused: every fault of a file, and only those, as its comments say.
//!
//! `//~ ERROR E0402 text` (or `WARNING W0201 text`) stands on the line of the fault; each `^` behind `~` means one line further up. The text
//! must occur in the message, the label, the help or a note.

use frontend::diag::{render_plain, Diagnostic, SourceMap};
use frontend::{parse, ParseOptions};
use std::path::{Path, PathBuf};

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
    let all = [Some(&fault.message), Some(&fault.label), fault.help.as_ref()].into_iter().flatten().chain(fault.notes.iter().map(|n| &n.1));
    all.into_iter().any(|s| s.contains(text))
}

fn check(path: &Path) -> Result<(), String> {
    let expected = expectations(&std::fs::read_to_string(path).unwrap());
    let (map, mut faults) = match parse(path, &ParseOptions::default()) {
        Ok(_) => return Err("it was accepted".into()),
        Err(found) => found,
    };
    let rendered = render_plain(&map, &faults);
    let mut missing = vec![];
    for e in &expected {
        match faults.iter().position(|f| f.code == e.code && line_of(&map, f) == e.line && says(f, &e.text)) {
            Some(k) => drop(faults.remove(k)),
            None => missing.push(format!("line {}: {} {}", e.line, e.code, e.text)),
        }
    }
    if expected.is_empty() {
        missing.push("nothing is expected in this file".into());
    }
    for f in &faults {
        missing.push(format!("unexpected, line {}: {} {} ({})", line_of(&map, f), f.code, f.message, f.label));
    }
    if missing.is_empty() { Ok(()) } else { Err(format!("{}\n--- found:\n{rendered}", missing.join("\n"))) }
}

fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/refuse");
    let mut all: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    all.sort();
    all
}

#[test]
fn refused_programs_say_why() {
    let files = files();
    assert!(files.len() >= 24, "only {} files", files.len());
    let failures: Vec<String> = files.iter().filter_map(|p| check(p).err().map(|why| format!("=== {}\n{why}", p.display()))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn rendering_underlines_the_place() {
    let path = files().into_iter().find(|p| p.ends_with("outside.c")).unwrap();
    let (map, faults) = parse(&path, &ParseOptions::default()).unwrap_err();
    let text = render_plain(&map, &faults[..1].to_vec());
    let expected = format!(
        "{}:6:7: error[E0411]: `A` is accessed outside its bounds\n 6 |     A[i] = 0; //~ ERROR E0411 this is 8 at i = 8\n   |       ^ this is 8 at i = 8\n  help: the extent is 8: subscripts run from 0 to 7\n",
        path.display()
    );
    assert_eq!(text, expected);
}

#[test]
fn a_fault_in_a_macro_names_its_definition() {
    let path = files().into_iter().find(|p| p.ends_with("expansion.c")).unwrap();
    let (map, faults) = parse(&path, &ParseOptions::default()).unwrap_err();
    let fault = faults.iter().find(|f| f.code == "E0411").unwrap();
    let (at, text) = &fault.notes[0];
    assert_eq!((map.line_column(*at), text.contains("`AT`")), ((2, 9), true));
}
