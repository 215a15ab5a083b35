//! The command as a user meets it: exit codes, what goes where, and files on disk.

mod bounds;
mod explore;
mod files;
mod functions;
mod inputs;
mod mapping;
mod messages;
mod network;
mod program;
mod simulate;
mod sizes;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sagen(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sagen")).args(arguments).output().expect("sagen runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a run that must succeed.
fn stdout(arguments: &[&str]) -> String {
    let output = sagen(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}\n{}{}", text(&output.stdout), text(&output.stderr));
    assert!(!text(&output.stderr).contains('\x1b'), "no control sequences beside a terminal");
    text(&output.stdout)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

const MM: &str = "#include <stdint.h>\n#ifndef N\n#define N 6\n#endif\n\
    void mm(int16_t A[N][N], int16_t B[N][N], int32_t C[N][N]) {\n#pragma scop\n\
    for (int i = 0; i < N; i++)\n for (int j = 0; j < N; j++) {\n  C[i][j] = 0;\n\
    for (int k = 0; k < N; k++)\n   C[i][j] += A[i][k] * B[k][j];\n }\n#pragma endscop\n}\n";

const MV: &str = "void mv(float A[3][64], float x[64], float y[3]) {\n#pragma scop\n\
    for (int i = 0; i < 3; i++)\n for (int k = 0; k < 64; k++)\n  y[i] += A[i][k] * x[k];\n#pragma endscop\n}\n";

fn kernel(dir: &Path, name: &str, contents: &str) -> String {
    let path = dir.join(name);
    fs::write(&path, contents).unwrap();
    path.to_string_lossy().into_owned()
}

/// Every file below `dir` with its contents.
fn tree(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = vec![];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(tree(&path)),
            false => files.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn usage_errors_are_exit_code_2_and_refusals_1() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    for usage in
        [vec!["sim"], vec!["sin", &file], vec!["sim", &file, "--tile", "i=0"], vec!["rtl", &file, "--emit", "c"]]
    {
        assert_eq!(code(&sagen(&usage)), 2, "{usage:?}");
    }
    let bad =
        kernel(dir.path(), "bad.c", "void f(int A[4]) {\n#pragma scop\n  while (A[0]) A[0]--;\n#pragma endscop\n}\n");
    for refused in [
        vec!["sim", &bad],
        vec!["rtl", "none.c"],
        vec!["sim", &file, "--board", "u9"],
        vec!["sim", &file, "--space", "x"],
        vec!["sim", &file, "--row", "999"],
    ] {
        let output = sagen(&refused);
        assert_eq!(code(&output), 1, "{refused:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{refused:?}");
    }
    let output = text(&sagen(&["map", &bad]).stderr);
    assert!(output.contains("bad.c:3:3") && output.contains("while"), "{output}");
}

#[test]
fn rtl_says_which_path_is_too_slow_for_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let out = dir.path().join("mm");
    let name = out.to_string_lossy().into_owned();
    for (mhz, is_slower) in [("500", true), ("150", false)] {
        let said = stdout(&["rtl", &file, "--board", "u250", "--clock", mhz, "-o", &name]);
        let row = said.lines().find(|l| l.trim_start().starts_with("clock "));
        assert_eq!(row.is_some(), is_slower, "{said}");
        let report: Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
        let clock = &report["clock"];
        assert_eq!(clock["meets_board"], !is_slower, "{clock}");
        let estimated = clock["estimated_mhz"].as_f64().expect("a clock");
        assert!((150.0..500.0).contains(&estimated), "{clock}");
        if let Some(row) = row {
            let module = clock["slowest"]["module"].as_str().expect("a module");
            assert!(row.contains("less than the board's 500: ") && row.contains(module), "{row}");
        }
    }
}

/// At 340 MHz the balanced array of this product misses the clock, and one with a cycle more takes less time.
#[test]
fn arrays_that_miss_the_clock_are_compared_by_time() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("syrk");
    let name = out.to_string_lossy().into_owned();
    let file = crate::common::root("tests/polybench/syrk.c").to_string_lossy().into_owned();
    let run = |options: &[&str]| {
        let said = stdout(&[&["rtl", &file, "--board", "kv260", "-o", &name], options].concat());
        let report: Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
        (said, report)
    };
    let by_time = |said: &str| said.lines().any(|l| l.trim_start().starts_with("by time "));
    let (said, report) = run(&["--clock", "350"]);
    let (clock, slower) = (&report["clock"], &report["clock"]["instead_of"]);
    assert!(by_time(&said), "{said}");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("no number in {clock}"));
    let (cycles, fewer) = (number(&report["predicted_cycles"]), number(&slower["cycles"]));
    assert!(fewer < cycles && number(&report["search"]["bound"]) <= fewer, "{cycles} in place of {clock}");
    assert!(cycles / number(&clock["estimated_mhz"]).min(350.0) < fewer / number(&slower["estimated_mhz"]), "{clock}");
    assert!(
        report["beside"].as_array().is_some_and(|all| all.iter().any(|d| d["cycles"] == slower["cycles"])),
        "{report}"
    );
    // Where the clock is met, and where the user asks for something else, cycles count.
    for options in
        [&["--clock", "300"][..], &["--clock", "350", "--objective", "cycles"], &["--clock", "350", "--space", "i,j"]]
    {
        let (said, report) = run(options);
        assert!(!by_time(&said) && report["clock"]["instead_of"].is_null(), "{options:?}: {said}");
    }
}

#[test]
fn rtl_writes_all_or_nothing_and_only_over_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let out = dir.path().join("out/mm");
    let name = out.to_string_lossy().into_owned();
    stdout(&["rtl", &file, "--board", "zcu104", "-o", &name]);
    let report: Value = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    assert_eq!((&report["generator"], &report["board"]), (&Value::from("sagen"), &Value::from("zcu104")));
    assert_eq!(report["pictures"], serde_json::json!({ "array": "array.svg", "time": "array.time.svg" }));
    for wanted in ["rtl/mm.v", "sim/tb_mm.v", "array.svg", "array.time.svg"] {
        assert!(out.join(wanted).is_file(), "{wanted}");
    }
    let written = tree(&out);
    let here = dir.path().to_string_lossy().into_owned();
    assert!(written.iter().all(|(_, bytes)| !text(bytes).contains(&here)), "no absolute path in any file");

    stdout(&["rtl", &file, "--board", "zcu104", "-o", &name]);
    assert_eq!(tree(&out), written, "the same input gives the same bytes");
    let bad =
        kernel(dir.path(), "bad.c", "void f(int A[4]) {\n#pragma scop\n  while (1) A[0]--;\n#pragma endscop\n}\n");
    assert_eq!(code(&sagen(&["rtl", &bad, "-o", &name])), 1);
    assert_eq!(tree(&out), written, "a refused input leaves the directory as it was");

    // What is not sagen's stays, and what the user edited stops the run.
    fs::write(out.join("rtl/notes.txt"), "mine").unwrap();
    stdout(&["rtl", &file, "--board", "u250", "-o", &name]);
    assert_eq!(text(&fs::read(out.join("rtl/notes.txt")).unwrap()), "mine");
    fs::write(out.join("rtl/mm.v"), "edited").unwrap();
    let edited = tree(&out);
    let output = sagen(&["rtl", &file, "-o", &name]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("mm.v was edited"), "{}", text(&output.stderr));
    assert_eq!(tree(&out), edited);
    let foreign = dir.path().join("mine");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("thesis.txt"), "do not delete").unwrap();
    assert_eq!(code(&sagen(&["rtl", &file, "-o", &foreign.to_string_lossy()])), 1);
    assert_eq!(tree(&foreign).len(), 1);
}

#[test]
fn impossible_boards_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let board = fs::read_to_string(crate::common::root("boards/zcu104.toml")).unwrap();
    let lut = board.lines().find(|l| l.starts_with("lut")).unwrap();
    for (from, to, reason) in [
        (lut, "lut = -1", "resources: lut = -1"),
        ("clock_mhz = 300.0", "clock_mhz = nan", "clock_mhz = NaN"),
        ("data_bits = 128", "data_bits = 100", "data_bits = 100"),
    ] {
        assert!(board.contains(from));
        let mine = kernel(dir.path(), "b.toml", &board.replacen(from, to, 1));
        let output = sagen(&["sim", &file, "--board", &mine]);
        assert!(code(&output) == 1 && text(&output.stderr).contains(reason), "{to}: {}", text(&output.stderr));
    }
}

/// Files without an end are read no further than their sizes say.
#[cfg(unix)]
#[test]
fn endless_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    for (options, reason) in [
        (["--data", "A=/dev/zero"], "not a .npy file"),
        (["--design", "/dev/zero"], "longer than"),
        (["--board", "/dev/zero"], "longer than"),
    ] {
        let output = sagen(&["sim", &file, options[0], options[1]]);
        assert!(code(&output) == 1 && text(&output.stderr).contains(reason), "{options:?}: {}", text(&output.stderr));
    }
    let output = sagen(&["map", "/dev/zero"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("E0100"), "{}", text(&output.stderr));
    // A right header, and then no end.
    let array = sagen::npy::Npy { kind: 'i', size: 2, shape: vec![6, 6], bytes: vec![0; 72] };
    let header = dir.path().join("header");
    fs::write(&header, array.to_bytes()).unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let feed = format!("cat {} /dev/zero > {}", header.display(), pipe.display());
    let mut feeder = Command::new("sh").args(["-c", &feed]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let output = sagen(&["sim", &file, "--data", &format!("A={}", pipe.display())]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("more than the 72 bytes"), "{}", text(&output.stderr));
    feeder.wait().unwrap();
}

/// A run that is interrupted leaves nothing behind; one that was killed leaves what the next one removes.
#[cfg(unix)]
#[test]
fn interrupted_runs_clean_up() {
    let dir = tempfile::tempdir().unwrap();
    let (temporary, out) = (dir.path().join("tmp"), dir.path().join("out"));
    fs::create_dir(&temporary).unwrap();
    // Its C program does not come to an end.
    let endless = MM.replace("#pragma scop", "#ifdef __GNUC__\n for (;;) ;\n#endif\n#pragma scop");
    let (file, quick) = (kernel(dir.path(), "endless.c", &endless), kernel(dir.path(), "mm.c", MM));
    let left = || {
        let hidden = fs::read_dir(dir.path())
            .unwrap()
            .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with(".sagen-"))
            .count();
        (hidden, fs::read_dir(&temporary).unwrap().count())
    };
    for (signal, after) in [("INT", (0, 0)), ("TERM", (0, 0)), ("KILL", (1, 1))] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
        let mut run = command
            .args(["rtl", &file, "--expected", "-o", &out.to_string_lossy()])
            .env("TMPDIR", &temporary)
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        while !fs::read_dir(&temporary).unwrap().flatten().any(|d| d.path().join("golden").exists()) {
            assert!(run.try_wait().unwrap().is_none(), "it waits for the C program");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(Command::new("kill").args([&format!("-{signal}"), &run.id().to_string()]).status().unwrap().success());
        let status = run.wait().unwrap();
        assert!(!status.success() && status.code().is_none(), "{signal}: {status}");
        assert_eq!(left(), after, "{signal}");
        assert!(!out.exists());
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    assert!(command
        .args(["rtl", &quick, "--expected", "-o", &out.to_string_lossy()])
        .env("TMPDIR", &temporary)
        .output()
        .unwrap()
        .status
        .success());
    assert_eq!(left(), (0, 0));
}

#[test]
fn completions_and_manual_pages_come_from_the_arguments() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(stdout(&["completions", shell]).contains("fp-contract"), "{shell}");
    }
    assert!(stdout(&["man"]).contains(".TH sagen 1"));
    let dir = tempfile::tempdir().unwrap();
    stdout(&["man", "--out", &dir.path().to_string_lossy()]);
    assert!(fs::read_to_string(dir.path().join("sagen-sim.1")).unwrap().contains("engine"));
}

/// Help is for people: grouped, a line or two an option, and short enough for a screen or two.
#[test]
fn help_is_short() {
    for command in ["rtl", "sim", "map"] {
        let help = stdout(&[command, "-h"]);
        for heading in ["Program:", "Systolic array (sagen chooses what is left out):", "AXI ports:", "Output:"] {
            assert!(help.contains(heading), "{command}: {heading}");
        }
        assert!(help.lines().count() < 96 && help.lines().all(|l| l.chars().count() <= 120), "{help}");
    }
}
