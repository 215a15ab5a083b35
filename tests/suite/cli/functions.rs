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
