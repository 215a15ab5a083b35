//! The command as a user meets it: exit codes, what goes where, and files on disk.

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
fn sim_reports_as_json() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let report = json(&["sim", &file, "--space", "i,j", "--tile", "i=3,j=2", "--simd", "k=2", "--json"]);
    assert_eq!((&report["match"], &report["mismatches"]), (&Value::Bool(true), &Value::from(0)));
    assert_eq!(report["cycles"], report["predicted_cycles"]);
    assert_eq!((&report["macs"], &report["simd"]), (&Value::from(216), &Value::from(2)));
    assert_eq!((report["array"].to_string().as_str(), &report["engine"]), ("[3,2]", &Value::from("builtin")));
    let utilization = report["utilization"].as_f64().unwrap();
    assert!((utilization - 216.0 / (12.0 * report["cycles"].as_f64().unwrap())).abs() < 1e-9, "{utilization}");
}

#[test]
fn seeds_data_and_results_go_through_files() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let out = dir.path().join("results");
    let out_name = out.to_string_lossy().into_owned();
    stdout(&["sim", &file, "-D", "N=2", "--out", &out_name]);
    let first = fs::read(out.join("C.npy")).unwrap();

    let array = |values: [i16; 4]| {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        sagen::npy::Npy { kind: 'i', size: 2, shape: vec![2, 2], bytes }.to_bytes()
    };
    fs::write(dir.path().join("a.npy"), array([1, 2, 3, 4])).unwrap();
    fs::write(dir.path().join("b.npy"), array([5, 6, 7, -8])).unwrap();
    let (a, b) = (format!("A={}", dir.path().join("a.npy").display()), format!("B={}", dir.path().join("b.npy").display()));
    stdout(&["sim", &file, "-D", "N=2", "--data", &a, "--data", &b, "--out", &out_name]);
    let result = sagen::npy::Npy::parse(&fs::read(out.join("C.npy")).unwrap()).unwrap();
    let values: Vec<i32> = result.bytes.chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!((result.kind, result.size, values), ('i', 4, vec![19, -10, 43, -14]));

    stdout(&["sim", &file, "-D", "N=2", "--out", &out_name]);
    assert_eq!(fs::read(out.join("C.npy")).unwrap(), first, "the same seed gives the same run");
    stdout(&["sim", &file, "-D", "N=2", "--seed", "2", "--out", &out_name]);
    assert_ne!(fs::read(out.join("C.npy")).unwrap(), first);
}

#[test]
fn data_of_another_shape_type_or_name_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let npy = |size: usize, shape: Vec<usize>| {
        let bytes = vec![0; size * shape.iter().product::<usize>()];
        sagen::npy::Npy { kind: 'i', size, shape, bytes }.to_bytes()
    };
    fs::write(dir.path().join("shape.npy"), npy(2, vec![6, 5])).unwrap();
    fs::write(dir.path().join("type.npy"), npy(4, vec![6, 6])).unwrap();
    for (array, name, reason) in [("A", "shape", "6×5"), ("B", "type", "int32"), ("X", "type", "no array"), ("A", "none", "cannot read")] {
        let data = format!("{array}={}", dir.path().join(format!("{name}.npy")).display());
        let output = sagen(&["sim", &file, "--data", &data]);
        assert_eq!(code(&output), 1);
        assert!(text(&output.stderr).contains(reason), "{reason}: {}", text(&output.stderr));
    }
}

/// The C compiler sees a macro that the front end does not, so the two programs differ; the array is not to blame.
#[test]
fn where_c_and_the_interpreter_disagree_there_is_no_judge() {
    let dir = tempfile::tempdir().unwrap();
    let tricky = MM.replace("C[i][j] = 0;", "C[i][j] = 0;\n#ifdef __GNUC__\n  C[i][j] = 1;\n#endif\n");
    let file = kernel(dir.path(), "mm.c", &tricky);
    let output = sagen(&["sim", &file, "--json"]);
    assert_eq!(code(&output), 5, "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["match"], &report["result"], &report["mismatches"]), (&Value::Bool(false), &Value::from("no judge"), &Value::from(36)));
    let shown = text(&sagen(&["sim", &file]).stdout);
    assert!(shown.contains("NO JUDGE") && shown.contains("the array computes what the interpreter does") && !shown.contains("NOT EQUAL"), "{shown}");
    let out = dir.path().join("out");
    let output = sagen(&["rtl", &file, "-o", &out.to_string_lossy()]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("disagree") && !out.join("sim/memory_0.expected.hex").exists());
}

/// GCC 12 at -O1 computes this wrong; the golden model must not be at the mercy of an optimizer.
#[test]
fn the_golden_model_is_not_optimized() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", "void f(double a[11], double y[6][3]) {\n#pragma scop\n for (int i = 0; i < 6; i++) y[i][2] = a[2*i] + a[i];\n#pragma endscop\n}\n");
    assert_eq!(json(&["sim", &file, "--json"])["match"], Value::Bool(true));
    let optimized = MM.replace("C[i][j] = 0;", "C[i][j] = 0;\n#ifdef __OPTIMIZE__\n  C[i][j] = 1;\n#endif\n");
    let file = kernel(dir.path(), "mm.c", &optimized);
    assert_eq!(json(&["sim", &file, "--json"])["match"], Value::Bool(true));
}

#[test]
fn without_a_compiler_the_interpreter_judges() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    let output = command.args(["sim", &file, "--json"]).env("PATH", dir.path()).env_remove("CC").output().unwrap();
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("note: no C compiler found"));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["golden"], "interpreter");
}

#[test]
fn usage_errors_are_exit_code_2_and_refusals_1() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    for usage in [vec!["sim"], vec!["sin", &file], vec!["sim", &file, "--tile", "i=0"], vec!["rtl", &file, "--emit", "c"]] {
        assert_eq!(code(&sagen(&usage)), 2, "{usage:?}");
    }
    let bad = kernel(dir.path(), "bad.c", "void f(int A[4]) {\n#pragma scop\n  while (A[0]) A[0]--;\n#pragma endscop\n}\n");
    for refused in [vec!["sim", &bad], vec!["rtl", "none.c"], vec!["sim", &file, "--board", "u9"], vec!["sim", &file, "--space", "x"], vec!["sim", &file, "--array", "999"]] {
        let output = sagen(&refused);
        assert_eq!(code(&output), 1, "{refused:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{refused:?}");
    }
    let output = text(&sagen(&["map", &bad]).stderr);
    assert!(output.contains("bad.c:3:3") && output.contains("while"), "{output}");
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
    for wanted in ["rtl/mm.v", "sim/tb_mm.v", "array.svg"] {
        assert!(out.join(wanted).is_file(), "{wanted}");
    }
    let written = tree(&out);
    let here = dir.path().to_string_lossy().into_owned();
    assert!(written.iter().all(|(_, bytes)| !text(bytes).contains(&here)), "no absolute path in any file");

    stdout(&["rtl", &file, "--board", "zcu104", "-o", &name]);
    assert_eq!(tree(&out), written, "the same input gives the same bytes");
    let bad = kernel(dir.path(), "bad.c", "void f(int A[4]) {\n#pragma scop\n  while (1) A[0]--;\n#pragma endscop\n}\n");
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
fn every_stage_can_be_printed() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    for (stage, part) in [("scop", "C"), ("ure", "at distance [0, 0, 1]"), ("mapping", "skew"), ("vsa", "mm"), ("rtl", "module mm (")] {
        let shown = stdout(&["rtl", &file, "--space", "i,j", "--emit", stage]);
        assert!(shown.contains(part), "{stage}: {part} is missing in\n{shown}");
    }
    let vsa = stdout(&["rtl", &file, "--emit", "vsa"]);
    assert!(arch::text::parse(&vsa).is_ok(), "the printed array reads back");
}

#[test]
fn map_lists_draws_and_numbers_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let pictures = dir.path().join("pictures");
    let list = json(&["map", &file, "--json", "--svg", &pictures.to_string_lossy()]);
    let arrays = list["arrays"].as_array().unwrap();
    let space = |a: &Value| a["space"].as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_string()).collect::<Vec<_>>();
    for wanted in [vec!["i"], vec!["j"], vec!["k"], vec!["i", "j"], vec!["i", "k"], vec!["j", "k"]] {
        assert!(arrays.iter().any(|a| space(a) == wanted), "{wanted:?}");
    }
    assert_eq!(fs::read_dir(&pictures).unwrap().count(), 2 * arrays.len());
    for name in ["0.svg", "0.time.svg"] {
        assert!(fs::read_to_string(pictures.join(name)).unwrap().starts_with("<svg"));
    }
    for row in 0..arrays.len() {
        let report = json(&["sim", &file, "--array", &row.to_string(), "--json"]);
        assert_eq!((&report["match"], &report["array"]), (&Value::Bool(true), &arrays[row]["extent"]), "row {row}");
        assert_eq!(report["cycles"], report["predicted_cycles"], "row {row}");
        let list = |what: &str| arrays[row]["coordinates"][what].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect::<Vec<_>>().join(",");
        let (space, time) = (format!("--space={}", list("space")), format!("--time={}", list("time")));
        let vsa = |options: &[&str]| stdout(&[&["rtl", &file, "--emit", "vsa"], options].concat());
        assert_eq!(vsa(&[&space, &time]), vsa(&["--array", &row.to_string()]), "row {row} by its coordinates");
    }
}

const SYSTEM: &str = "void f(int x[8], int out[4]) {\n  int X[4][5];\n#pragma sagen space(c+q) time(q)\n#pragma scop\n\
    for (int q = 0; q < 5; q++)\n for (int c = 0; c < 4; c++) {\n  X[c][q] = q == 0 || c == 3 ? x[c + q] : X[c + 1][q - 1] + 1;\n  if (q == 4) out[c] = X[c][q];\n }\n#pragma endscop\n}\n";

/// What a transform breaks is said with the dependence, the iterations or the determinant.
#[test]
fn impossible_transforms_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", SYSTEM);
    let cases: [(&[&str], &[&str]); 8] = [
        (&["--space", "c+q", "--time", "c"], &["E0705", "`X[c + 1][q - 1]` would be needed 1 step before it is computed", "s·e = -1", "f.c:7:"]),
        (&["--space", "c+q", "--time", "c+q"], &["E0718", "(q, c) = (0, 1) and (1, 0)"]),
        (&["--space", "c+q", "--time=q-c"], &["E0712", "determinant"]),
        (&["--space", "c+q", "--time", "q,c"], &["E0718", "3 coordinates for 2 loops"]),
        (&["--space", "c+q"], &["E0702", "say what time is"]),
        (&["--space", "c*q", "--time", "q"], &["E0719", "product of two loops"]),
        (&["--space", "c+x", "--time", "q"], &["E0701", "no loop `x`"]),
        (&["--space", "c+q", "--time", "q", "--tile", "c=2"], &["E0701", "not a coordinate of this array", "c+q"]),
    ];
    for (options, parts) in cases {
        let output = sagen(&[&["sim", &file], options].concat());
        let shown = text(&output.stderr);
        assert_eq!(code(&output), 1, "{options:?}: {shown}");
        for part in parts {
            assert!(shown.contains(part), "{options:?}: {part} is missing in\n{shown}");
        }
    }
}

/// The source's own transform is taken where the user says nothing of space.
#[test]
fn a_transform_may_stand_in_the_source() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", SYSTEM);
    for (options, axis, steps) in [(&[][..], "c+q", 5), (&["--space", "c", "--time", "c+q"], "c", 8)] {
        let report = json(&[&["sim", &file, "--json"], options].concat());
        assert_eq!((&report["match"], &report["steps"]), (&Value::Bool(true), &Value::from(steps)), "{options:?}");
        assert!(report["axes"][0].as_str().unwrap().len() == axis.len(), "{options:?}: {report}");
    }
    let wrong = kernel(dir.path(), "w.c", &SYSTEM.replace("time(q)", "tiem(q)"));
    let output = sagen(&["sim", &wrong]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("`tiem` is not a clause"), "{}", text(&output.stderr));
}

/// Every stage is an input from there on, judged by its own interpreter.
#[test]
fn every_stage_is_an_input() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let design = ["--space", "i,j", "--tile", "i=3,j=4"];
    let vsa = stdout(&[&["rtl", &file, "--emit", "vsa"], &design[..]].concat());
    for (stage, options, model) in [("scop", &design[..], "scop"), ("ure", &design[..], "recurrences"), ("mapping", &[][..], "recurrences"), ("vsa", &[], "array")] {
        let printed = stdout(&[&["rtl", &file, "--emit", stage], &design[..]].concat());
        let input = kernel(dir.path(), &format!("x.{stage}"), &printed);
        assert_eq!(stdout(&[&["rtl", &input, "--emit", "vsa"], options].concat()), vsa, "{stage}");
        let report = json(&[&["sim", &input, "--json"], options].concat());
        assert_eq!((&report["match"], &report["golden"]), (&Value::Bool(true), &Value::from(format!("interpreter of the {model}"))), "{stage}");
        // A broken text is refused, and what is broken in it named.
        let broken = kernel(dir.path(), &format!("b.{stage}"), &printed.replace("at distance [0, 0, 1]", "at distance [0, 0, -1]").replace("coordinate j", "coordinate i").replace("lanes 1", "lanes 0").replace("loop 2: k in loop 1", "loop 2: k in loop 5"));
        let output = sagen(&[&["sim", &broken], options].concat());
        assert!(code(&output) == 1 && text(&output.stderr).contains("is not the text of a stage"), "{stage}: {}", text(&output.stderr));
    }
    let output = sagen(&["sim", &dir.path().join("x.vsa").to_string_lossy(), "--space", "i"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("says which array it is"), "{}", text(&output.stderr));
}

/// Back substitution: uniform only where its sums may run backwards.
const BACK: &str = "void back(float U[8][8], float b[8], float x[8]) {\n#pragma scop\n\
    for (int i = 7; i >= 0; i--) {\n x[i] = b[i];\n for (int j = i + 1; j < 8; j++)\n  x[i] -= U[i][j] * x[j];\n\
    x[i] = x[i] / U[i][i];\n }\n#pragma endscop\n}\n";

/// The same options, the same rows: what `map` lists is what `--array` builds.
#[test]
fn map_and_array_agree() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "back.c", BACK);
    for command in [&["map"][..], &["rtl", "--emit", "vsa", "--array", "0"]] {
        let output = sagen(&[command, &[&file]].concat());
        assert!(code(&output) == 1 && text(&output.stderr).contains("--reassociate"), "{command:?}: {}", text(&output.stderr));
    }
    let rows = json(&["map", &file, "--reassociate", "--json"]);
    for (k, row) in rows["arrays"].as_array().unwrap().iter().enumerate() {
        let report = json(&["sim", &file, "--reassociate", "--array", &k.to_string(), "--json"]);
        assert_eq!((&report["match"], &report["array"]), (&Value::Bool(true), &row["extent"]), "row {k}");
    }
    let file = kernel(dir.path(), "mm.c", MM);
    let all = json(&["map", &file, "--json"]);
    let cut = json(&["map", &file, "--json", "--tile", "i=2,j=4", "--simd", "k=2"]);
    for (plain, row) in all["arrays"].as_array().unwrap().iter().zip(cut["arrays"].as_array().unwrap()) {
        assert_eq!((&plain["array"], &plain["space"]), (&row["array"], &row["space"]), "factors do not renumber");
        let number = row["array"].to_string();
        let built = sagen(&["rtl", &file, "--tile", "i=2,j=4", "--simd", "k=2", "--array", &number, "-o", &dir.path().join("out").to_string_lossy(), "--json"]);
        match &row["refused"] {
            Value::Null => assert_eq!(serde_json::from_slice::<Value>(&built.stdout).unwrap()["array"], row["extent"], "row {number}"),
            why => assert!(code(&built) == 1 && text(&built.stderr).contains(why.as_str().unwrap()), "row {number}: {why}"),
        }
    }
    for options in [["--space", "k,i"], ["--array", "4"]] {
        let one = json(&["map", &file, "--json", options[0], options[1]]);
        assert_eq!((one["arrays"].as_array().unwrap().len(), &one["arrays"][0]["array"]), (1, &Value::from(4)), "{options:?}");
    }
}

#[test]
fn a_design_file_is_the_options() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let design = kernel(dir.path(), "d.toml", "space = [\"i\", \"k\"]\n[tile]\ni = 4\nk = 4\n[simd]\nk = 2\n");
    let by_file = stdout(&["rtl", &file, "--design", &design, "--emit", "vsa"]);
    let by_options = stdout(&["rtl", &file, "--space", "i,k", "--tile", "i=4,k=4", "--simd", "k=2", "--emit", "vsa"]);
    assert_eq!(by_file, by_options);
    let other = stdout(&["rtl", &file, "--design", &design, "--tile", "i=2", "--emit", "vsa"]);
    assert_ne!(by_file, other);
}

const MV: &str = "void mv(float A[3][64], float x[64], float y[3]) {\n#pragma scop\n\
    for (int i = 0; i < 3; i++)\n for (int k = 0; k < 64; k++)\n  y[i] += A[i][k] * x[k];\n#pragma endscop\n}\n";

/// The order of a sum, or rounding once, shows in the results; the report says by how much.
#[test]
fn deviations_from_c_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mv.c", MV);
    let run = |options: &[&str]| json(&[&["sim", &file, "--space", "i", "--json"], options].concat());
    let plain = run(&[]);
    assert_eq!((&plain["match"], &plain["deviation_from_c"]), (&Value::Bool(true), &Value::Null));
    for options in [&["--reassociate"][..], &["--fp-contract"], &["--reassociate", "--dot", "fused", "--simd", "k=4"]] {
        let report = run(options);
        let deviation = |what: &str| report["deviation_from_c"][what].as_f64().unwrap_or(f64::NAN);
        assert_eq!(report["match"], Value::Bool(true), "{options:?}");
        assert!(deviation("elements") > 0.0 && deviation("absolute") > 0.0, "{options:?}: {report}");
        assert!(deviation("relative") < 1e-4, "{options:?}: {report}");
    }
    // Interleaved sums need not wait for the adder.
    let cycles = |report: &Value| report["cycles"].as_u64().unwrap();
    assert!(cycles(&run(&["--reassociate"])) + 4 * 64 < cycles(&plain));
}

#[test]
fn a_fused_dot_product_wants_permission() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mv.c", MV);
    let output = sagen(&["sim", &file, "--dot", "fused"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("E0707") && text(&output.stderr).contains("--reassociate"));
}

#[test]
fn arrays_share_ports() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let report = json(&["rtl", &file, "--ports", "C+A", "-o", &dir.path().join("out").to_string_lossy(), "--json"]);
    let ports = report["interface"]["ports"].as_array().unwrap();
    assert_eq!((&ports[0]["port"], &ports[1]["port"], ports.len()), (&Value::from("m_axi_gmem0"), &Value::from("m_axi_b"), 2));
    assert_eq!(ports[0]["arrays"], Value::from(vec!["A", "C"]));
    let arrays = report["interface"]["arguments"].as_array().unwrap();
    assert_eq!((&arrays[2]["array"], &arrays[2]["port"], &arrays[2]["register"]), (&Value::from("C"), &ports[0]["port"], &Value::from(40)));
    let design = kernel(dir.path(), "d.toml", "ports = [\"shared\"]\n");
    for options in [["--ports", "shared"], ["--ports", "A+B+C"], ["--design", &design]] {
        let report = json(&["sim", &file, "--json", options[0], options[1]]);
        assert_eq!((&report["match"], &report["cycles"]), (&Value::Bool(true), &report["predicted_cycles"]), "{options:?}");
    }
}

#[test]
fn impossible_ports_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let cases: [(&[&str], &str); 6] = [
        (&["--ports", "A+D"], "there is no array `D` in DRAM"),
        (&["--ports", "A+B,C+A"], "names `A` twice"),
        (&["--ports", "A+A"], "names `A` twice"),
        (&["--ports", "A+C", "--word", "A=8,C=8"], "have words of 16 and 32 bytes"),
        (&["--ports", "shared", "--word", "A=1"], "words of `A` would have 2 bytes"),
        (&["--ports", "A+D,B+E"], "there is no array `E` in DRAM"),
    ];
    for (options, reason) in cases {
        let output = sagen(&[&["sim", &file], options].concat());
        assert_eq!(code(&output), 1, "{options:?}");
        assert!(text(&output.stderr).contains(reason), "{options:?}: {}", text(&output.stderr));
    }
    let wide = kernel(dir.path(), "wide.c", &MM.replace("int32_t C", "int64_t C"));
    let output = sagen(&["sim", &wide, "--ports", "A+C", "--word", "A=2"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("its port also moves elements of 8"), "{}", text(&output.stderr));
}

#[test]
fn waveforms_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let wave = dir.path().join("w.vcd");
    stdout(&["sim", &file, "-D", "N=2", "--vcd", &wave.to_string_lossy()]);
    let dump = fs::read_to_string(wave).unwrap();
    assert!(dump.contains("$enddefinitions") && dump.contains("m_axi_c_awvalid") && dump.lines().count() > 200);
}

/// Every choice that cannot be has an error of its own.
#[test]
fn impossible_choices_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let cases: [(&str, &str); 9] = [
        ("--simd k=100000", "[E0720] Error: --simd k=100000: the loop has 6 iterations"),
        ("--tile i=99999999999", "[E0720]"),
        ("--word Z=8", "[E0709] Error: --word: there is no array `Z` in DRAM"),
        ("--order i,i,j,k", "[E0704] Error: --order names `i` twice"),
        ("--order i,j,i", "[E0704]"),
        ("--tile i=2,i=4", "one option says i=2 and i=4"),
        ("--space i,j,k", "[E0702]"),
        ("--tile x=2", "[E0701]"),
        ("--dot fused", "[E0707]"),
    ];
    for (options, reason) in cases {
        let words: Vec<&str> = ["sim", &file].into_iter().chain(options.split(' ')).collect();
        let output = sagen(&words);
        assert!(code(&output) == 1 && text(&output.stderr).contains(reason), "{options}: {}", text(&output.stderr));
    }
    let output = sagen(&["sim", &file, "--space", "i", "--array", "1"]);
    assert!(code(&output) == 2 && text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
    let design = kernel(dir.path(), "d.toml", "space = [\"i\"]\n");
    let output = sagen(&["sim", &file, "--design", &design, "--array", "1"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("exclude each other"), "{}", text(&output.stderr));
    // A factor may exceed its loop: up to 64 whatever the extent, beyond that up to twice.
    assert_eq!(code(&sagen(&["rtl", &file, "--space", "i,j", "--tile", "i=64", "--emit", "mapping"])), 0);
}

#[test]
fn impossible_boards_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let board = fs::read_to_string(crate::common::root("boards/zcu104.toml")).unwrap();
    let lut = board.lines().find(|l| l.starts_with("lut")).unwrap();
    for (from, to, reason) in [(lut, "lut = -1", "resources: lut = -1"), ("clock_mhz = 300.0", "clock_mhz = nan", "clock_mhz = NaN"), ("data_bits = 128", "data_bits = 100", "data_bits = 100")] {
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
    for (options, reason) in [(["--data", "A=/dev/zero"], "not a .npy file"), (["--design", "/dev/zero"], "longer than"), (["--board", "/dev/zero"], "longer than")] {
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
        let hidden = fs::read_dir(dir.path()).unwrap().filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with(".sagen-")).count();
        (hidden, fs::read_dir(&temporary).unwrap().count())
    };
    for (signal, after) in [("INT", (0, 0)), ("TERM", (0, 0)), ("KILL", (1, 1))] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
        let mut run = command.args(["rtl", &file, "-o", &out.to_string_lossy()]).env("TMPDIR", &temporary).stderr(std::process::Stdio::null()).spawn().unwrap();
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
    assert!(command.args(["rtl", &quick, "-o", &out.to_string_lossy()]).env("TMPDIR", &temporary).output().unwrap().status.success());
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
        for heading in ["Program:", "Array (chosen by sagen where left out):", "AXI ports:", "Output:"] {
            assert!(help.contains(heading), "{command}: {heading}");
        }
        assert!(help.lines().count() < 75 && help.lines().all(|l| l.chars().count() <= 120), "{help}");
    }
}
