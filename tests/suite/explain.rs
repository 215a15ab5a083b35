//! The registry of diagnostics: every code of the source has a page, every page is about a code of the source, and the
//! example of each page shows its code.

use crate::common::{on_all_cores, root};
use sagen::diagnostics::{self, Page, NO_EXAMPLE, PAGES};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// Crates and folders whose source may report diagnostics.
const SOURCES: [&str; 8] = ["frontend", "arch", "gpu", "rtl", "templates", "constraints", "packaging", "src"];

/// The Rust files below a folder, without tests.
fn sources(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !["tests", "target"].iter().any(|skipped| path.ends_with(skipped)) {
            sources(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

/// String literals such as `"E0408"`.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('"')
        .filter(|part| part.len() == 5 && part.starts_with(['E', 'W']) && part[1..].bytes().all(|b| b.is_ascii_digit()))
}

fn of_source() -> BTreeSet<String> {
    let mut files = vec![];
    SOURCES.iter().for_each(|folder| sources(&root(folder), &mut files));
    let text = |file: &std::path::PathBuf| std::fs::read_to_string(file).expect("text");
    files.iter().flat_map(|file| codes(&text(file)).map(String::from).collect::<Vec<_>>()).collect()
}

#[test]
fn every_code_has_a_page_and_every_page_a_code() {
    let pages: BTreeSet<String> = PAGES.iter().map(|page| page.code.to_string()).collect();
    assert_eq!(of_source(), pages);
    let files = std::fs::read_dir(root("src/diagnostics")).expect("a folder");
    let files: BTreeSet<String> =
        files.map(|e| e.expect("an entry").path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(files, pages);
}

#[test]
fn pages_have_their_form() {
    for page in PAGES {
        let Page { code, text } = page;
        assert!(text.starts_with("# ") && !page.title().ends_with('.'), "{code}: the title");
        assert_eq!(text.matches("\n## What to do\n").count(), 1, "{code}: what to do");
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{code}: a long line");
        let example = text.contains("```");
        assert_ne!(example, page.no_example().is_some(), "{code}: an example, or `{NO_EXAMPLE}` and why");
        assert!(page.commands().ends_with('\n') && page.commands().contains("sagen "), "{code}: commands");
    }
}

/// Runs the commands of a page in a folder with its program.
fn run(page: &Page) -> Output {
    let dir = tempfile::tempdir().expect("a folder");
    if let Some(program) = page.program() {
        std::fs::write(dir.path().join("example.c"), program).expect("a file");
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_sagen")).parent().expect("a folder");
    let path = std::env::join_paths(
        [folder.to_path_buf()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    Command::new("sh")
        .args(["-e", "-c", page.commands()])
        .current_dir(dir.path())
        .env("PATH", path.expect("folders"))
        .output()
        .expect("sh runs")
}

#[test]
#[cfg(unix)]
fn every_example_shows_its_code() {
    let pages: Vec<&Page> = PAGES.iter().filter(|page| page.no_example().is_none()).collect();
    let failure = |page: &&Page| {
        let output = run(page);
        let shown = String::from_utf8_lossy(&output.stderr).into_owned();
        let refused = output.status.code() == Some(1);
        let line = "For more information: sagen explain ";
        let explained = shown.lines().any(|l| l.starts_with(line));
        let right = shown.contains(&format!("[{}]", page.code)) && explained && refused == page.code.starts_with('E');
        (!right).then(|| format!("{}: {:?}\n{shown}", page.code, output.status))
    };
    let failures: Vec<String> =
        on_all_cores(&pages, |page| page.code.to_string(), failure).into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn explain(codes: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sagen")).arg("explain").args(codes).output().expect("sagen runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_command_prints_pages() {
    let (code, list, _) = explain(&[]);
    assert_eq!((code, list.lines().count()), (Some(0), PAGES.len()));
    assert!(list.contains("E0713  The results cannot be stored\n"), "{list}");
    let (code, page, _) = explain(&["e0713"]);
    assert_eq!(code, Some(0));
    let form = "E0713: The results cannot be stored\n\n";
    assert!(page.starts_with(form), "{page}");
    for part in ["\n    #pragma scop\n", "\n    $ sagen rtl example.c --space", "\nWhat to do\n"] {
        assert!(page.contains(part), "{part:?} is missing in\n{page}");
    }
    assert!(!page.contains("```"), "{page}");
    let (_, default, _) = explain(&["E0401"]);
    assert!(default.contains("\n    $ sagen rtl example.c\n"), "{default}");
    let (_, two, _) = explain(&["E0401", "W0202"]);
    assert!(two.contains("\nW0202: "), "{two}");
}

#[test]
fn unknown_codes_are_an_error_with_the_nearest_ones() {
    let (code, _, error) = explain(&["E0419"]);
    assert_eq!(code, Some(1));
    for part in ["E0419", "E0415", "E0414", "E0413"] {
        assert!(error.contains(part), "{part} is missing in\n{error}");
    }
    let (code, _, error) = explain(&["nonsense"]);
    assert!(code == Some(1) && error.contains("`sagen explain` lists all codes"), "{error}");
    assert_eq!(diagnostics::find("E0000"), None);
}
