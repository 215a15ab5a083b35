//! Sizes at run time: what `sim` and `predict` take and refuse.

use super::*;

const MV: &str = "#pragma sagen max(m=5, n=7)\nvoid mv(int m, int n, const short A[m][n], const short x[n], int y[m]) \
    {\n#pragma scop\n\
    for (int i = 0; i < m; i++)\n for (int j = 0; j < n; j++)\n  y[i] += A[i][j] * x[j];\n#pragma endscop\n}\n";

#[test]
fn a_design_is_predicted_at_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mv.c", MV);
    let out = dir.path().join("out").to_string_lossy().into_owned();
    stdout(&["rtl", &file, "-o", &out]);
    for (m, n) in [(1, 1), (5, 7), (3, 2)] {
        let (m, n) = (format!("m={m}"), format!("n={n}"));
        let run = json(&["sim", &file, "--size", &format!("{m},{n}"), "--json"]);
        let predicted = json(&["predict", &out, &m, &n, "--json"]);
        assert_eq!((&run["match"], &run["cycles"]), (&Value::Bool(true), &predicted["cycles"]), "{m} {n}");
        assert_eq!(run["sizes"], predicted["sizes"]);
    }
    let both = kernel(dir.path(), "both.c", &(MV.to_string() + &MV.replace(" mv(", " vm(")));
    let ip = dir.path().join("both").to_string_lossy().into_owned();
    stdout(&["rtl", &both, "-o", &ip]);
    let said = text(&sagen(&["predict", &ip, "m=1"]).stderr);
    assert!(said.contains("several functions, mv, vm: name one"), "{said}");
    assert_eq!(json(&["predict", &format!("{ip}/vm"), "--json"])["kernel"], "vm");
    let most = json(&["sim", &file, "--json"]);
    assert_eq!(most["cycles"], json(&["predict", &out, "--json"])["cycles"], "the greatest sizes are the default");
    for (arguments, why) in [
        (&["predict", &out, "m=6"][..], "the size m is 6: it may be 1 to 5"),
        (&["predict", &out, "m=0"], "m=0"),
        (&["predict", &out, "k=1"], "`k` is no size of mv; its sizes are m, n"),
        (&["predict", &file], "is not the text of a stage"),
        (&["sim", &file, "--size", "m=6"], "the size m is 6: it may be 1 to 5"),
        (&["sim", &file, "--size", "n=8"], "the size n is 8: it may be 1 to 7"),
        (&["sim", &file, "--size", "m=0"], "m=0"),
        (&["sim", &file, "--size", "m=-1"], "m=-1"),
        (&["sim", &file, "--size", "k=1"], "`k` is no size of mv; its sizes are m, n"),
        (&["sim", &file, "--max", "k=1"], "`k` is not a parameter of the function"),
        (&["sim", &file, "--max", "m=20000000"], "the maximum of `m` is 20000000"),
        (&["sim", &file, "--max", "A=4"], "`A` has a maximum, but is no size"),
    ] {
        let output = sagen(arguments);
        let said = text(&output.stderr);
        assert!([1, 2].contains(&code(&output)) && said.contains(why), "{arguments:?}: {said}");
    }
}

/// Arrays that no testbench can hold: an IP with sizes runs at smaller ones, an IP of constant sizes comes without.
#[test]
fn large_arrays_have_a_small_testbench_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let by_hand = ["--space", "i", "--tile", "i=8"];
    let sized = kernel(dir.path(), "sized.c", &MV.replace("max(m=5, n=7)", "max(m=65536, n=65536)"));
    let out = dir.path().join("sized");
    stdout(&[&["rtl", &sized, "-o", &out.to_string_lossy()][..], &by_hand].concat());
    let image = fs::metadata(out.join("sim/memory_0.in.hex")).unwrap().len();
    assert!((1 << 16..1 << 24).contains(&image), "{image} bytes");
    let constant = MV.replace("#pragma sagen max(m=5, n=7)\n", "").replace("int m, int n, ", "");
    let constant = constant.replace("[m]", "[20000]").replace("[n]", "[20000]").replace("< m", "< 20000");
    let constant = kernel(dir.path(), "constant.c", &constant.replace("< n", "< 20000"));
    let out = dir.path().join("constant");
    let output = sagen(&[&["rtl", &constant, "-o", &out.to_string_lossy()][..], &by_hand].concat());
    let said = text(&output.stderr);
    assert!(code(&output) == 0 && said.contains("the IP comes without a testbench"), "{said}");
    assert!(out.join("rtl/mv.v").exists() && !out.join("sim/run.sh").exists());
}
