//! What each stage of the compilation makes of small programs, as text: `tests/stages/STAGE/*.txt`.
//!
//! A file says in prose what it checks; then follow an input and what the stages print for it:
//!
//! ```text
//! A sum runs along one dimension; its first value is an input.
//!
//! ==== input.c --space i
//! void f(int A[2][3], int s[2]) { … }
//! ==== ure
//! dim i 0..=1
//! …
//! ```
//!
//! The words behind the input's name are options of `sagen rtl`, a name and a value each; an input may be a stage's
//! text, as `input.ure`. Each section behind it is the output of `--emit=` and its name, and there is one named like
//! the folder. Each text must read back as itself, and simulate as it is interpreted. `SAGEN_BLESS=1 cargo test
//! --release --test suite stages` writes what is printed now into the files; read the difference before it is
//! committed.

use crate::common::{on_all_cores, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const STAGES: [&str; 4] = ["scop", "ure", "mapping", "vsa"];

/// A file taken apart.
struct Test {
    prose: String,
    /// The input's file name and options.
    header: String,
    input: String,
    /// Stage and its text.
    outputs: Vec<(String, String)>,
}

impl Test {
    fn read(file: &Path) -> Result<Test, String> {
        let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
        let mut parts = text.split("==== ");
        let prose = parts.next().unwrap_or_default().to_string();
        let mut sections = parts
            .map(|part| part.split_once('\n').unwrap_or((part, "")))
            .map(|(head, body)| (head.to_string(), body.to_string()));
        let (header, input) = sections.next().ok_or("no section `==== input.c`")?;
        let outputs: Vec<(String, String)> = sections.collect();
        let folder =
            file.parent().and_then(Path::file_name).map(|f| f.to_string_lossy().into_owned()).unwrap_or_default();
        if prose.trim().is_empty() {
            return Err("it does not say what it checks".into());
        }
        if !outputs.iter().any(|o| o.0 == folder) {
            return Err(format!("no section `==== {folder}`"));
        }
        match outputs.iter().find(|o| !STAGES.contains(&o.0.as_str())) {
            Some((stage, _)) => Err(format!("`{stage}` is no stage")),
            None => Ok(Test { prose, header, input, outputs }),
        }
    }

    /// The input's file name, and options.
    fn words(&self) -> Result<(&str, Vec<&str>), String> {
        let mut words = self.header.split_whitespace();
        Ok((words.next().ok_or("the input has no name")?, words.collect()))
    }

    /// What `sagen rtl --emit=stage` prints.
    fn emitted(&self, stage: &str) -> Result<String, String> {
        let (name, options) = self.words()?;
        sagen(&["rtl", &format!("--emit={stage}")], &options, name, &self.input)
    }

    /// The stage's text is an input, too: it is printed as before, and simulates as its interpreter says.
    fn read_back(&self, stage: &str, text: &str) -> Result<(), String> {
        let (_, options) = self.words()?;
        // From a mapping on, the array has been chosen; macros are C's.
        let kept: Vec<&str> = match stage {
            "scop" | "ure" => options.chunks(2).filter(|o| o[0] != "-D").flatten().copied().collect(),
            _ => vec![],
        };
        let name = format!("x.{stage}");
        let again = sagen(&["rtl", &format!("--emit={stage}")], &kept, &name, text)?;
        let facts =
            |text: &str| text.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect::<String>();
        if facts(&again) != facts(text) {
            return Err(format!("{stage}, read back: {}", difference(&facts(text), &facts(&again))));
        }
        sagen(&["sim"], &kept, &name, text).map(drop)
    }

    fn text(&self) -> String {
        let mut text = format!("{}==== {}\n{}", self.prose, self.header, self.input);
        self.outputs.iter().for_each(|(stage, output)| {
            let _ = write!(text, "==== {stage}\n{output}");
        });
        text
    }
}

/// Standard output of `sagen` on a file of this name and contents.
fn sagen(command: &[&str], options: &[&str], name: &str, contents: &str) -> Result<String, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    std::fs::write(dir.path().join(name), contents).map_err(|e| e.to_string())?;
    let output = Command::new(env!("CARGO_BIN_EXE_sagen"))
        .current_dir(dir.path())
        .args(command)
        .args(options)
        .arg(name)
        .output();
    let output = output.map_err(|e| e.to_string())?;
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        Ok(text.into_owned())
    } else {
        Err(format!("{command:?} {options:?} {name}: {}\n{text}{errors}", output.status))
    }
}

/// The first line that differs.
fn difference(expected: &str, found: &str) -> String {
    let (mut e, mut f, mut line) = (expected.lines(), found.lines(), 1);
    loop {
        match (e.next(), f.next()) {
            (None, None) => return "they differ in line ends".into(),
            (e, f) if e != f => {
                return format!(
                    "line {line}\n  expected {}\n  printed  {}",
                    e.unwrap_or("nothing"),
                    f.unwrap_or("nothing")
                )
            }
            _ => line += 1,
        }
    }
}

fn check(file: &Path) -> Result<(), String> {
    let mut test = Test::read(file)?;
    let mut faults = vec![];
    for k in 0..test.outputs.len() {
        let (stage, expected) = test.outputs[k].clone();
        let found = test.emitted(&stage)?;
        if found != expected {
            faults.push(format!("{stage}: {}", difference(&expected, &found)));
            test.outputs[k].1.clone_from(&found);
        }
        test.read_back(&stage, &found)?;
    }
    if std::env::var_os("SAGEN_BLESS").is_some() {
        return if faults.is_empty() { Ok(()) } else { std::fs::write(file, test.text()).map_err(|e| e.to_string()) };
    }
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults.join("\n"))
    }
}

#[test]
fn stages_print_what_is_expected() {
    let folder = |stage: &str| {
        let entries =
            std::fs::read_dir(root("tests/stages").join(stage)).unwrap_or_else(|e| panic!("tests/stages/{stage}: {e}"));
        let mut files: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
        files.sort();
        files
    };
    let files: Vec<PathBuf> = STAGES.into_iter().flat_map(folder).collect();
    let name = |file: &PathBuf| file.display().to_string();
    let faults: Vec<String> =
        on_all_cores(&files, name, |f| check(f).err().map(|why| format!("{}: {why}", f.display())))
            .into_iter()
            .flatten()
            .collect();
    assert!(faults.is_empty(), "{}\n(if that is right: SAGEN_BLESS=1, and read the difference)", faults.join("\n"));
}
