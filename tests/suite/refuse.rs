//! Programs that the front end takes and the mapper refuses: the faults of every line, and only those, as comments say.

#[path = "../../frontend/c/tests/suite/expect.rs"]
mod expect;

use crate::common::{c_files, caught, on_all_cores, sim};
use scop::diag::Diagnostic;
use std::path::Path;

fn check(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let options = text.lines().find_map(|l| l.strip_prefix("// sagen:")).unwrap_or_default();
    let arguments = sim(options, file)?;
    let (scop, _) = frontend::parse(file, &arguments.program.parse_options())
        .map_err(|(_, faults)| format!("the front end refuses it: {faults:?}"))?;
    let board = sagen::catalog::find(&arguments.program.board)?;
    match search::compile(&scop, &arguments.design.spec()?, &board) {
        Ok(_) => Err("it was accepted; it may move to tests/run".into()),
        Err(mut faults) => {
            // A line may show the same fault in several places.
            let line = |f: &Diagnostic| (f.code, f.span.map(|s| scop.sources.line_column(s).0));
            faults.sort_by_key(line);
            faults.dedup_by_key(|f| line(f));
            expect::compare(&text, &scop.sources, faults)
        }
    }
}

#[test]
fn the_mapper_says_why() {
    let files = c_files("tests/refuse/mapper");
    assert!(!files.is_empty());
    let failure =
        |file: &std::path::PathBuf| caught(|| check(file)).err().map(|why| format!("=== {}\n{why}", file.display()));
    let failures: Vec<String> =
        on_all_cores(&files, |f| f.display().to_string(), failure).into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
