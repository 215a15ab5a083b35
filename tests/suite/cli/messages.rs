//! Messages for editors and scripts.

use super::*;

const BAD: &str = "void f(int A[4], int n) {\n#pragma scop\n  while (A[0]) A[0]--;\n  A[n] = 1;\n#pragma endscop\n}\n";

#[test]
fn short_messages_are_one_line_each() {
    let dir = tempfile::tempdir().unwrap();
    let bad = kernel(dir.path(), "bad.c", BAD);
    let output = sagen(&["--message-format", "short", "map", &bad]);
    let said = text(&output.stderr);
    assert!(code(&output) == 1 && said.contains(&format!("{bad}:3:3: error[E04")), "{said}");
    for line in said.lines() {
        let rest = line.strip_prefix(&format!("{bad}:")).unwrap_or_else(|| panic!("{line}"));
        let parts: Vec<&str> = rest.splitn(3, ':').collect();
        assert!(parts[0].parse::<u32>().is_ok() && parts[1].parse::<u32>().is_ok(), "{line}");
        assert!(parts[2].starts_with(" error[E") || parts[2].starts_with(" warning["), "{line}");
    }
    let output = sagen(&["map", "none.c", "--board", "u9", "--message-format=short"]);
    assert!(text(&output.stderr).starts_with("error[E0100]: "), "{}", text(&output.stderr));
}

#[test]
fn json_messages_are_those_of_rustc() {
    let dir = tempfile::tempdir().unwrap();
    let bad = kernel(dir.path(), "bad.c", BAD);
    let output = sagen(&["map", &bad, "--message-format", "json"]);
    let all: Vec<Value> =
        text(&output.stderr).lines().map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}"))).collect();
    assert!(code(&output) == 1 && !all.is_empty());
    let first = &all[0];
    assert_eq!((&first["$message_type"], &first["level"]), (&Value::from("diagnostic"), &Value::from("error")));
    let span = &first["spans"][0];
    assert_eq!(
        (&span["file_name"], &span["line_start"], &span["column_start"]),
        (&bad.as_str().into(), &3.into(), &3.into())
    );
    assert_eq!((&span["is_primary"], &span["text"][0]["text"]), (&true.into(), &"  while (A[0]) A[0]--;".into()));
    let (from, to) = (span["byte_start"].as_u64().unwrap() as usize, span["byte_end"].as_u64().unwrap() as usize);
    assert!(BAD[from..to].starts_with("while"), "{span}");
    assert!(first["rendered"].as_str().unwrap().contains("while") && first["code"]["code"].as_str().is_some());
    let good = kernel(dir.path(), "mm.c", MM);
    let output = sagen(&["map", &good, "--board", "u9", "--message-format", "json"]);
    let only: Value = serde_json::from_str(text(&output.stderr).lines().last().unwrap()).unwrap();
    assert_eq!((&only["level"], &only["spans"]), (&Value::from("error"), &serde_json::json!([])));
}

/// What an input contains cannot command the terminal.
#[test]
fn messages_have_no_control_characters() {
    let dir = tempfile::tempdir().unwrap();
    let bad = kernel(dir.path(), "b\u{1b}[2Jad.c", &BAD.replace("A[0]--", "A[0]-- /* \u{1b}[2J\u{9b}2J */"));
    for format in ["human", "short", "json"] {
        let output = sagen(&["map", &bad, "--message-format", format]);
        let said = text(&output.stderr);
        // JSON leaves those behind ASCII as they are; its readers know what they are.
        let command = |c: char| c.is_control() && c != '\n' && (format != "json" || c.is_ascii());
        assert!(!said.chars().any(command), "{said:?}");
    }
}

/// What an aim lacks, or that no array meets it, is said alone: there are arrays for the region.
#[test]
fn an_aim_at_fault_is_not_called_a_region_without_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let area = ["rtl", &file, "--objective", "area"];
    for (cycles, said) in [(&[][..], "needs `--cycles`"), (&["--cycles", "5"], "at most 5 cycles")] {
        let output = sagen(&[&area, cycles].concat());
        let told = text(&output.stderr);
        assert!(code(&output) == 1 && told.contains("E0730") && told.contains(said), "{told}");
        assert!(!told.contains("E0710"), "{told}");
    }
}
