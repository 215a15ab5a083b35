//! The documents say what sagen does: every block with lines `$ sagen …` is executed and compared, every relative link
//! leads to a file, and every module that the glossary names exists.
//!
//! In a block, the lines behind a command are its whole output, standard error included. A line that is only `…` stands
//! for any number of lines. Times (`0.1 s`, `127,192 cycles/s`) are not compared. A command runs in a directory of its
//! block's own, which has `examples`, `tests` and `boards`, and the files that earlier blocks of the document define:
//! those whose first line is `// file: NAME`.

use crate::common::{on_all_cores, root};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block: where it begins, and its lines.
struct Block {
    /// Document and line, for people.
    place: String,
    lines: Vec<String>,
    /// Files that the document has defined before it.
    files: BTreeMap<String, String>,
}

/// A command of a block and the output that the document shows.
#[derive(Debug, PartialEq)]
struct Example {
    command: String,
    output: Vec<String>,
}

const FENCE: &str = "```";
const COMMAND: &str = "$ ";
const ANY_LINES: &str = "…";

/// README.md and what lies directly in docs/; below that are generated tables and pictures.
fn documents() -> Vec<PathBuf> {
    let is_page = |p: &PathBuf| p.extension().is_some_and(|e| e == "md");
    let pages = fs::read_dir(root("docs")).expect("docs").map(|e| e.expect("an entry").path()).filter(is_page);
    let mut all: Vec<_> = pages.chain([root("README.md")]).collect();
    all.sort();
    all
}

/// The blocks of a document that have commands.
fn blocks(name: &str, text: &str) -> Vec<Block> {
    let mut files = BTreeMap::new();
    let mut found = vec![];
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if !line.starts_with(FENCE) {
            continue;
        }
        let body: Vec<String> =
            lines.by_ref().map(|(_, l)| l.to_string()).take_while(|l| !l.starts_with(FENCE)).collect();
        if let Some(file) = body.first().and_then(|l| l.strip_prefix("// file: ")) {
            files.insert(file.trim().to_string(), body.join("\n") + "\n");
        }
        if body.iter().any(|l| l.starts_with("$ sagen ")) {
            found.push(Block { place: format!("{name}:{}", at + 1), lines: body, files: files.clone() });
        }
    }
    found
}

/// # Errors
/// A line in front of the first command.
fn examples(lines: &[String]) -> Result<Vec<Example>, String> {
    let mut all: Vec<Example> = vec![];
    for line in lines {
        match (line.strip_prefix(COMMAND), all.last_mut()) {
            (Some(command), _) => all.push(Example { command: command.to_string(), output: vec![] }),
            (None, Some(example)) => example.output.push(line.clone()),
            (None, None) => return Err(format!("`{line}` stands in front of the first command")),
        }
    }
    Ok(all)
}

/// A line without what changes from run to run: the number in front of `s` and of `cycles/s`, and blanks at the end.
fn comparable(line: &str) -> String {
    let words: Vec<&str> = line.trim_end().split(' ').collect();
    let is_unit = |w: &&str| matches!(w.trim_end_matches([')', ',', ';']), "s" | "cycles/s");
    let is_number = |w: &str| w.starts_with(|c: char| c.is_ascii_digit());
    let shown = words.iter().enumerate().map(|(at, &word)| {
        let timed = words.get(at + 1).is_some_and(is_unit) && is_number(word.trim_start_matches('('));
        if timed {
            "#"
        } else {
            word
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// The lines as they are compared, without empty ones at the end.
fn comparable_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = lines.map(comparable).collect();
    while all.last().is_some_and(String::is_empty) {
        all.pop();
    }
    all
}

/// Whether the lines of a document say this output.
fn matches(shown: &[String], found: &[String]) -> bool {
    match shown.split_first() {
        None => found.is_empty(),
        Some((any, rest)) if any.trim() == ANY_LINES => (0..=found.len()).any(|n| matches(rest, &found[n..])),
        Some((line, rest)) => found.first() == Some(line) && matches(rest, &found[1..]),
    }
}

/// Lines that only the document (`-`) or only the output (`+`) has, in the order of a longest common subsequence.
fn difference(shown: &[String], found: &[String]) -> String {
    let mut longest = vec![vec![0; found.len() + 1]; shown.len() + 1];
    for a in (0..shown.len()).rev() {
        for b in (0..found.len()).rev() {
            longest[a][b] = match shown[a] == found[b] {
                true => longest[a + 1][b + 1] + 1,
                false => longest[a + 1][b].max(longest[a][b + 1]),
            };
        }
    }
    let (mut a, mut b, mut text) = (0, 0, String::new());
    while a < shown.len() || b < found.len() {
        let (sign, line) = if a < shown.len() && b < found.len() && shown[a] == found[b] {
            (a, b) = (a + 1, b + 1);
            (' ', &found[b - 1])
        } else if b == found.len() || a < shown.len() && longest[a + 1][b] >= longest[a][b + 1] {
            a += 1;
            ('-', &shown[a - 1])
        } else {
            b += 1;
            ('+', &found[b - 1])
        };
        writeln!(text, "{sign} {line}").expect("text");
    }
    text
}

/// Runs `sagen` with these words in a directory: standard output and error, in the order in which they are written.
///
/// # Errors
/// It is another program, or does not start.
fn run(command: &str, dir: &Path) -> Result<String, String> {
    let mut words = command.split_whitespace();
    if words.next() != Some("sagen") {
        return Err(format!("`{command}` is no command of sagen"));
    }
    let path = dir.join(".output");
    let file = fs::File::create(&path).map_err(|e| e.to_string())?;
    let both = file.try_clone().map_err(|e| e.to_string())?;
    let mut sagen = Command::new(env!("CARGO_BIN_EXE_sagen"));
    sagen.args(words).current_dir(dir).stdout(file).stderr(both).status().map_err(|e| e.to_string())?;
    fs::read_to_string(path).map_err(|e| e.to_string())
}

/// # Errors
/// The commands whose output the document shows wrongly, each with the difference.
fn check(block: &Block) -> Result<usize, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    for name in ["examples", "tests", "boards"] {
        std::os::unix::fs::symlink(root(name), dir.path().join(name)).map_err(|e| e.to_string())?;
    }
    for (name, text) in &block.files {
        fs::write(dir.path().join(name), text).map_err(|e| e.to_string())?;
    }
    let examples = examples(&block.lines)?;
    let mut faults = String::new();
    for example in &examples {
        let output = run(&example.command, dir.path())?;
        let found = comparable_lines(output.lines());
        let shown = comparable_lines(example.output.iter().map(String::as_str));
        if !matches(&shown, &found) {
            writeln!(faults, "{}: $ {}\n{}", block.place, example.command, difference(&shown, &found)).expect("text");
        }
    }
    if faults.is_empty() {
        Ok(examples.len())
    } else {
        Err(faults)
    }
}

#[test]
fn commands_in_documents_do_what_these_say() {
    let read = |path: &PathBuf| fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = |path: &Path| path.strip_prefix(root("")).unwrap_or(path).display().to_string();
    let all: Vec<Block> = documents().iter().flat_map(|path| blocks(&name(path), &read(path))).collect();
    let done = on_all_cores(&all, |b| b.place.clone(), check);
    let faults: Vec<String> = done.iter().filter_map(|d| d.as_ref().err().cloned()).collect();
    assert!(faults.is_empty(), "- the document, + sagen\n\n{}", faults.join("\n"));
    let commands: usize = done.iter().flatten().sum();
    assert!(commands >= 20, "only {commands} commands were found in the documents");
}

#[test]
fn a_stale_document_is_seen() {
    let text = "```c\n// file: a.c\nint x;\n```\ntext\n```\n$ sagen sim a.c\nmm: 4×4 PEs\n…\n  time 0.1 s (12 cycles/s)\n```\n";
    let [block] = &blocks("a.md", text)[..] else { panic!("one block has a command") };
    assert_eq!((block.place.as_str(), block.files["a.c"].as_str()), ("a.md:6", "// file: a.c\nint x;\n"));
    let examples = examples(&block.lines).unwrap();
    let lines = |text: &str| comparable_lines(text.lines());
    let shown = comparable_lines(examples[0].output.iter().map(String::as_str));
    assert!(matches(&shown, &lines("mm: 4×4 PEs\n  cycles 9\n  time 7.3 s (9,999 cycles/s)\n")));
    assert!(!matches(&shown, &lines("mm: 4×5 PEs\n  cycles 9\n  time 7.3 s (9,999 cycles/s)\n")));
    assert!(!matches(&shown, &lines("mm: 4×4 PEs\n  time 7.3 s (9,999 cycles/s)\nmore\n")));
    assert_eq!(difference(&lines("a\nb\nd"), &lines("a\nc\nd")), "  a\n- b\n+ c\n  d\n");
    let wrong = Block { lines: vec!["$ sagen boards".into(), "none".into()], ..blocks("a.md", text).remove(0) };
    assert!(check(&wrong).unwrap_err().contains("a.md:6: $ sagen boards\n- none\n+ name"));
}

/// The targets of relative links in a document, without what is behind `#`.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = targets.filter(|t| !t.contains("://") && !t.contains(char::is_whitespace));
    relative.map(|t| t.split('#').next().unwrap_or_default()).filter(|t| !t.is_empty()).collect()
}

/// All Markdown files below a directory.
fn pages(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut all = vec![];
    for path in entries.map(|e| e.expect("an entry").path()) {
        if path.is_dir() {
            all.extend(pages(&path));
        } else if path.extension().is_some_and(|e| e == "md") {
            all.push(path);
        }
    }
    all
}

#[test]
fn links_lead_to_files() {
    let mut all = pages(&root("docs"));
    all.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "boards/README.md"].map(root));
    let mut dead = vec![];
    for page in &all {
        let text = fs::read_to_string(page).unwrap();
        let is_dead = |target: &&str| !page.parent().expect("a directory").join(target).exists();
        dead.extend(links(&text).into_iter().filter(is_dead).map(|t| format!("{}: {t}", page.display())));
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn modules_of_the_glossary_exist() {
    let crates = BTreeMap::from([
        ("array", "arch/array"),
        ("cost", "arch/cost"),
        ("draw", "arch/draw"),
        ("frontend", "frontend/c"),
        ("packaging", "packaging"),
        ("rtl", "rtl"),
        ("sagen", "."),
        ("scop", "frontend/scop"),
        ("search", "arch/search"),
        ("templates", "templates"),
        ("uniform", "arch/uniform"),
    ]);
    let text = fs::read_to_string(root("docs/glossary.md")).unwrap();
    let modules = text.lines().filter_map(|line| line.strip_suffix("` |")?.rsplit_once('`').map(|(_, module)| module));
    let (mut count, mut missing) = (0, vec![]);
    for module in modules {
        let mut parts = module.split("::");
        let folder = parts.next().and_then(|name| crates.get(name));
        let path = parts.fold(folder.map(|f| root(f).join("src")), |path, part| Some(path?.join(part)));
        let exists = path
            .is_some_and(|p| p.join("mod.rs").exists() || p.join("lib.rs").exists() || p.with_extension("rs").exists());
        count += 1;
        if !exists {
            missing.push(module);
        }
    }
    assert!(count > 100, "only {count} entries of the glossary name a module");
    assert!(missing.is_empty(), "modules that are not there: {missing:?}");
}
