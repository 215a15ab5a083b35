//! What `sagen sim` compares with what, and its data.

use super::*;
use crate::common::root;

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
    let (a, b) =
        (format!("A={}", dir.path().join("a.npy").display()), format!("B={}", dir.path().join("b.npy").display()));
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
    for (array, name, reason) in
        [("A", "shape", "6×5"), ("B", "type", "int32"), ("X", "type", "no array"), ("A", "none", "cannot read")]
    {
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
    let tricky = MM.replace("C[i][j] = 0;", "C[i][j] = 0;\n#ifdef __CHAR_BIT__\n  C[i][j] = 1;\n#endif\n");
    let file = kernel(dir.path(), "mm.c", &tricky);
    let output = sagen(&["sim", &file, "--json"]);
    assert_eq!(code(&output), 5, "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["match"], &report["result"], &report["mismatches"]),
        (&Value::Bool(false), &Value::from("no judge"), &Value::from(36))
    );
    let shown = text(&sagen(&["sim", &file]).stdout);
    assert!(
        shown.contains("NO JUDGE")
            && shown.contains("the systolic array computes what the interpreter computes")
            && !shown.contains("NOT EQUAL"),
        "{shown}"
    );
    let out = dir.path().join("out");
    let output = sagen(&["rtl", &file, "--expected", "-o", &out.to_string_lossy()]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("disagree") && !out.join("sim/memory_0.expected.hex").exists());
}

/// A simulator that gets bits wrong: the run says so, where, and ends with 3.
#[test]
#[cfg(unix)]
fn a_design_that_computes_something_else_ends_with_3() {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var("PATH").unwrap_or_default();
    let Some(real) = path.split(':').map(|d| std::path::Path::new(d).join("vvp")).find(|p| p.exists()) else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let fake = dir.path().join("vvp");
    fs::write(
        &fake,
        format!("#!/bin/sh\n'{}' \"$@\" && sed -i '/^[0-9a-f]/ y/01/10/' memory_2.out.hex\n", real.display()),
    )
    .unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
        command
            .args(["sim", &file, "--engine", "icarus"])
            .args(options)
            .env("PATH", format!("{}:{path}", dir.path().display()))
            .output()
            .unwrap()
    };
    let output = run(&[]);
    assert_eq!(code(&output), 3, "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("NOT EQUAL") && shown.contains("C["), "{shown}");
    let report: Value = serde_json::from_slice(&run(&["--json"]).stdout).unwrap();
    assert_eq!((&report["match"], &report["result"]), (&Value::Bool(false), &Value::from("different")));
}

/// GCC 12 at -O1 computes this wrong; the golden model must not be at the mercy of an optimizer.
#[test]
fn the_golden_model_is_not_optimized() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(
        dir.path(),
        "f.c",
        "void f(double a[11], double y[6][3]) \
        {\n#pragma scop\n for (int i = 0; i < 6; i++) y[i][2] = a[2*i] + a[i];\n#pragma endscop\n}\n",
    );
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
fn waveforms_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let wave = dir.path().join("w.vcd");
    stdout(&["sim", &file, "-D", "N=2", "--vcd", &wave.to_string_lossy()]);
    let dump = fs::read_to_string(wave).unwrap();
    assert!(dump.contains("$enddefinitions") && dump.contains("m_axi_c_awvalid") && dump.lines().count() > 200);
}

#[test]
fn nothing_is_shown_beside_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let output = sagen(&["sim", &kernel(dir.path(), "mm.c", MM)]);
    assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""));
}

#[test]
fn a_missing_simulator_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    let output =
        command.args(["sim", &file, "--engine", "icarus"]).env("PATH", dir.path()).env_remove("CC").output().unwrap();
    let fault = text(&output.stderr);
    assert_ne!(code(&output), 0);
    assert!(
        fault.contains("iverilog is not on PATH: run `scripts/setup.sh`") && fault.contains("`. scripts/env.sh`"),
        "{fault}"
    );
    for script in ["scripts/setup.sh", "scripts/env.sh"] {
        assert!(root(script).exists(), "{script}");
    }
}

/// What the code around a region calls may be in another file; what nobody calls may be missing.
#[test]
fn more_files_complete_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let text = "int other(int x);\nint missing(int x);\nint unused(void) { return missing(1); }\nint main(void) {\n  \
        int x[8], y[8];\n  for (int i = 0; i < 8; i++)\n    x[i] = other(i);\n#pragma scop\n  for (int i = 0; i < 8; \
        i++)\n    y[i] = 3 * x[i];\n#pragma endscop\n  return y[3];\n}\n";
    let file = kernel(dir.path(), "first.c", text);
    let other = kernel(dir.path(), "other.c", "int other(int x) { return 2 * x + 1; }\n");
    let output = sagen(&["sim", &file]);
    assert_eq!(code(&output), 1);
    let said = super::text(&output.stderr);
    assert!(said.contains("`other'") && said.contains("--with FILE.c") && !said.contains("missing"), "{said}");
    let output = sagen(&["sim", &file, "--with", &other]);
    assert_eq!(code(&output), 0, "{}", super::text(&output.stderr));
}
