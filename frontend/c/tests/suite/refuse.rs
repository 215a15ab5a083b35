//! Programs that are refused: exactly the faults that their comments expect (see [`crate::expect`]).

use crate::common::c_files;
use crate::expect::compare;
use frontend::{parse, ParseOptions};
use scop::render_plain;
use std::path::{Path, PathBuf};

fn check(path: &Path) -> Result<(), String> {
    match parse(path, &ParseOptions::default()) {
        Ok(_) => Err("it was accepted".into()),
        Err((map, faults)) => compare(&std::fs::read_to_string(path).unwrap(), &map, faults),
    }
}

fn files() -> Vec<PathBuf> {
    c_files("../../tests/refuse")
}

#[test]
fn refused_programs_say_why() {
    let files = files();
    assert!(files.len() >= 24, "only {} files", files.len());
    let failures: Vec<String> =
        files.iter().filter_map(|p| check(p).err().map(|why| format!("=== {}\n{why}", p.display()))).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn rendering_underlines_the_place() {
    let path = files().into_iter().find(|p| p.ends_with("outside.c")).unwrap();
    let (map, faults) = parse(&path, &ParseOptions::default()).unwrap_err();
    let text = render_plain(&map, &faults[..1].to_vec());
    let expected = format!(
        "{}:6:7: error[E0411]: `A` is accessed outside its bounds\n 6 |     A[i] = 0; //~ ERROR E0411 this is 8 at i \
        = 8\n   |       ^ this is 8 at i = 8\n  help: the extent is 8: subscripts run from 0 to 7\n",
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
