//! Several functions in one IP: what is chosen, what is refused.

use super::*;

const LA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/functions/la.c");

fn refused(arguments: &[&str]) -> String {
    let output = sagen(arguments);
    assert_eq!(code(&output), 1, "{arguments:?}");
    text(&output.stderr)
}

#[test]
fn each_function_is_compared() {
    let report = json(&["sim", LA, "--json"]);
    assert_eq!((&report["kernel"], &report["match"]), (&Value::from("la"), &Value::Bool(true)));
    for name in ["gemm", "gemv", "ger"] {
        let own = &report["functions"][name];
        assert_eq!(
            (&own["kernel"], &own["match"], &own["cycles"]),
            (&Value::from(name), &Value::Bool(true), &own["predicted_cycles"])
        );
    }
    assert_eq!(report["functions"]["gemm"]["axes"], Value::from(vec!["i", "j"]), "its clause is its own");
    let one = json(&["sim", LA, "--function", "ger", "--name", "rank1", "--json"]);
    assert_eq!((&one["kernel"], &one["match"]), (&Value::from("rank1"), &Value::Bool(true)));
}

#[test]
fn sizes_go_to_the_functions_that_have_them() {
    let dir = tempfile::tempdir().unwrap();
    let text = "#pragma sagen max(n=4, m=3)\nvoid sums(int n, int m, const int a[n][m], int s[n]) \
        {\n#pragma scop\n  for (int i = 0; i < n; i++) {\n    s[i] = 0;\n    for (int j = 0; j < m; j++) s[i] += a[i][j];\n  }\n#pragma endscop\n}\n\
        #pragma sagen max(n=5)\nvoid twice(int n, int x[n]) \
        {\n#pragma scop\n  for (int i = 0; i < n; i++) x[i] = 2 * x[i];\n#pragma endscop\n}\n";
    let file = kernel(dir.path(), "two.c", text);
    let report =
        json(&["sim", &file, "--size", "n=2,m=1", "--size", "n=5", "--size", "n=3", "--sequence", "30", "--json"]);
    let names: Vec<&String> = report["functions"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["sums(2, 1)", "twice(3)", "twice(5)"]);
    assert_eq!(report["match"], Value::Bool(true));
    assert!(refused(&["sim", &file, "--size", "q=1"])
        .contains("no function has all the sizes q; they are sums(n, m), twice(n)"));
}

#[test]
fn unknown_and_equal_names_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mm = kernel(dir.path(), "mm.c", MM);
    let copy = kernel(dir.path(), "copy.c", MM);
    let design = kernel(dir.path(), "d.toml", "[function.gemm]\ntile = { i = 2 }\n[function.main]\n");
    assert!(refused(&["map", LA]).contains("choose one with --function: gemm, gemv, ger"));
    assert!(refused(&["sim", LA, "--function", "main"])
        .contains("no file has a marked region in a function of that name; functions with one: gemm, gemv, ger"));
    assert!(refused(&["sim", LA, "--design", &design]).contains("has options for `main`"));
    assert!(refused(&["sim", &mm, &copy]).contains("both have a function `mm`"));
    assert!(refused(&["sim", LA, "--data", "A=a.npy"]).contains("write FUNCTION.ARRAY=FILE"));
    assert_eq!(code(&sagen(&["sim", LA, "--name", "l-a"])), 2);
}

#[test]
fn more_functions_than_the_register_counts_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let one = |k: usize| {
        format!("void f{k}(int a[2]) {{\n#pragma scop\n  for (int i = 0; i < 2; i++) a[i] = i;\n#pragma endscop\n}}\n")
    };
    let many = kernel(dir.path(), "many.c", &(0..256).map(one).collect::<String>());
    assert!(refused(&["rtl", &many, "-o", "out"]).contains("256 functions: an IP has at most 255"));
}

/// Each function fits alone. One function's core is never refused by another one's.
#[test]
fn functions_that_do_not_fit_together_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let one = |name: &str, n: usize| {
        format!(
            "void {name}(const short A[{n}][{n}], const short B[{n}][{n}], int C[{n}][{n}]) {{\n#pragma sagen space(i, j)\n\
            #pragma scop\n  for (int i = 0; i < {n}; i++)\n    for (int j = 0; j < {n}; j++)\n      \
            for (int k = 0; k < {n}; k++) C[i][j] += A[i][k] * B[k][j];\n#pragma endscop\n}}\n"
        )
    };
    let two = kernel(dir.path(), "two.c", &(one("first", 12) + &one("second", 13)));
    let tiles = kernel(
        dir.path(),
        "d.toml",
        "[function.first]\ntile = { i = 12, j = 12 }\n[function.second]\ntile = { i = 13, j = 13 }\n",
    );
    let all = ["rtl", &two, "--board", "pynq-z2", "--design", &tiles, "-o", "out"];
    let why = refused(&all);
    assert!(why.contains("E0711") && why.contains("the 2 arrays do not fit pynq-z2 together"), "{why}");
    assert!(why.contains("first") && why.contains("second") && why.contains("DSP of 220"), "{why}");
    let out = dir.path().join("out").display().to_string();
    let alone = ["rtl", &two, "--board", "pynq-z2", "--function", "first", "--tile", "i=12,j=12", "-o", &out];
    assert_eq!(code(&sagen(&alone)), 0);
}

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/functions/kept.c");

/// What is kept is no argument; the report, the README and the reference program say so.
#[test]
fn what_is_kept_is_no_argument() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("ip");
    let output = sagen(&["rtl", KEPT, "--board", "zcu104", "--merge", "--keep", "W,acc", "-o", out.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("kept         W 91 bytes"), "{}", text(&output.stdout));
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("report.json")).unwrap();
    let row = &report["functions"]["row"];
    assert_eq!(row["kept"][1], serde_json::json!({ "array": "acc", "bytes": 52 }), "{row}");
    let readme = read("README.md");
    assert!(readme.contains("Kept on chip from run to run: `W`, `acc`."), "{readme}");
    assert!(!readme.contains("m_axi_w") && !readme.contains("m_axi_acc"), "{readme}");
    assert!(!out.join("sim/axi_check.json").exists(), "bus models would run the functions in any order");
    // Two calls of a function that adds to what it keeps.
    let main = dir.path().join("main.c");
    std::fs::write(
        &main,
        "int kept_reference(void **, void **);\nint main(void) {\n  float g[15], h[15], a[15], b[15];\n  \
        for (int k = 0; k < 15; k++) g[k] = k + 1;\n  void *before[] = {g, h}, *after[] = {a, b};\n  \
        if (!kept_reference(before, after) || b[0] != 0) return 1;\n  \
        if (!kept_reference(before, after) || b[0] != 5) return 2;\n  return 0;\n}\n",
    )
    .unwrap();
    let one = dir.path().join("one");
    let options = ["--function", "fl", "--name", "kept", "--keep", "F", "-o", one.to_str().unwrap()];
    let output = sagen(&[&["rtl", KEPT, "--board", "zcu104"][..], &options].concat());
    assert_eq!(code(&output), 0, "{}", text(&output.stderr));
    let program = dir.path().join("program");
    let flags = ["-O1", "-fwrapv", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-w", "-o"];
    let status = std::process::Command::new("cc")
        .args(flags)
        .args([&program, &main, &one.join("sw/reference.c")])
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(std::process::Command::new(&program).status().unwrap().code(), Some(0));
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let region = |own: &str, name: &str| {
        format!(
            "void {name}(const int x[4], int y[4]) {{\n  {own}\n#pragma scop\n  for (int i = 0; i < 4; i++) {{\n    \
            s[i] += x[i];\n    y[i] = s[i];\n  }}\n#pragma endscop\n}}\n"
        )
    };
    let file = |name: &str, text: String| kernel(dir.path(), name, &text);
    let state = |init: &str| format!("static int s[4]{init};");
    let (plain, zero, set) = (state(""), state(" = {0, 0}"), state(" = {0, 1}"));
    let single = |init: &str| file("single.c", region(init, "f"));
    let message = |file: &str, options: &[&str]| refused(&[&["sim", file, "--board", "zcu104"][..], options].concat());
    for init in [&plain, &zero] {
        let report = json(&["sim", &single(init), "--board", "zcu104", "--keep", "s", "--sequence", "20", "--json"]);
        assert_eq!(report["match"], Value::Bool(true), "{report}");
    }
    assert!(message(&single(&set), &["--keep", "s"]).contains("`s` is not `static`, or has initial values"));
    assert!(message(&single(&plain), &["--keep", "y"]).contains("`y` is not `static`"));
    let unknown = message(&single(&plain), &["--keep", "z"]);
    assert!(unknown.contains("no function has an array of this name") && unknown.contains("from call to call: s"));
    assert!(message(&single(&plain), &["--keep", "s", "--bank", "s=DDR[0]"]).contains("--bank places `s` in DRAM"));
    let shared = file("shared.c", format!("{plain}\n{}{}", region("", "f"), region("", "g")));
    assert!(message(&shared, &["--keep", "s"]).contains("`f` and `g` share `s`, and have an array each"));
    let report = json(&["sim", &shared, "--board", "zcu104", "--keep", "s", "--merge", "--sequence", "20", "--json"]);
    assert_eq!(report["match"], Value::Bool(true), "{report}");
    // Equal arrays, each with a memory of its own.
    let twins = file("twins.c", region(&plain, "f") + &region(&plain, "g").replace("s[", "t["));
    let report = json(&["sim", &twins, "--board", "zcu104", "--keep", "s,t", "--sequence", "20", "--json"]);
    assert_eq!(report["match"], Value::Bool(true), "{report}");
    let own = file("own.c", format!("{}{}", region(&plain, "f"), region(&plain, "g")));
    assert!(message(&own, &["--keep", "s", "--merge"]).contains("`f` and `g` have a static `s` each"));
    let around = format!("{plain}\n{}", region("s[2] = 1;", "f"));
    let changed = message(&file("around.c", around), &["--keep", "s"]);
    assert!(changed.contains("the code around the region changes `s`"), "{changed}");
}
