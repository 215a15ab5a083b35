//! Options, files and lists of arrays: what they select, and which are refused.

use super::*;

#[test]
fn every_stage_can_be_printed() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    for (stage, part) in
        [("scop", "C"), ("ure", "at distance [0, 0, 1]"), ("mapping", "skew"), ("vsa", "mm"), ("rtl", "module mm (")]
    {
        let shown = stdout(&["rtl", &file, "--space", "i,j", "--emit", stage]);
        assert!(shown.contains(part), "{stage}: {part} is missing in\n{shown}");
    }
    let vsa = stdout(&["rtl", &file, "--emit", "vsa"]);
    assert!(array::text::parse(&vsa).is_ok(), "the printed array reads back");
}

#[test]
fn map_lists_draws_and_numbers_arrays() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let pictures = dir.path().join("pictures");
    let list = json(&["map", &file, "--json", "--svg", &pictures.to_string_lossy()]);
    let arrays = list["arrays"].as_array().unwrap();
    let space =
        |a: &Value| a["space"].as_array().unwrap().iter().map(|s| s.as_str().unwrap().to_string()).collect::<Vec<_>>();
    for wanted in [vec!["i"], vec!["j"], vec!["k"], vec!["i", "j"], vec!["i", "k"], vec!["j", "k"]] {
        assert!(arrays.iter().any(|a| space(a) == wanted), "{wanted:?}");
    }
    assert_eq!(fs::read_dir(&pictures).unwrap().count(), 2 * arrays.len());
    assert_eq!(list["arrays"][0]["pictures"]["time"], pictures.join("0.time.svg").to_string_lossy().as_ref());
    for name in ["0.svg", "0.time.svg"] {
        assert!(fs::read_to_string(pictures.join(name)).unwrap().starts_with("<svg"));
    }
    for (row, array) in arrays.iter().enumerate() {
        let report = json(&["sim", &file, "--row", &row.to_string(), "--json"]);
        assert_eq!((&report["match"], &report["array"]), (&Value::Bool(true), &array["extent"]), "row {row}");
        assert_eq!(report["cycles"], report["predicted_cycles"], "row {row}");
        let list = |what: &str| {
            array["coordinates"][what]
                .as_array()
                .unwrap()
                .iter()
                .map(|s| s.as_str().unwrap())
                .collect::<Vec<_>>()
                .join(",")
        };
        let (space, time) = (format!("--space={}", list("space")), format!("--time={}", list("time")));
        let vsa = |options: &[&str]| stdout(&[&["rtl", &file, "--emit", "vsa"], options].concat());
        assert_eq!(vsa(&[&space, &time]), vsa(&["--row", &row.to_string()]), "row {row} by its coordinates");
    }
}

const SYSTEM: &str = "void f(int x[8], int out[4]) {\n  int X[4][5];\n#pragma sagen space(c+q) time(q)\n#pragma scop\n\
    for (int q = 0; q < 5; q++)\n for (int c = 0; c < 4; c++) \
    {\n  X[c][q] = q == 0 || c == 3 ? x[c + q] : X[c + 1][q - 1] + 1;\n  if (q == 4) out[c] = X[c][q];\n }\n#pragma \
    endscop\n}\n";

/// What a transform breaks is said with the dependence, the iterations or the determinant.
#[test]
fn impossible_transforms_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", SYSTEM);
    let cases: [(&[&str], &[&str]); 8] = [
        (
            &["--space", "c+q", "--time", "c"],
            &["E0705", "`X[c + 1][q - 1]` would be needed 1 step before it is computed", "s·e = -1", "f.c:7:"],
        ),
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
    for (stage, options, model) in [
        ("scop", &design[..], "scop"),
        ("ure", &design[..], "recurrences"),
        ("mapping", &[][..], "recurrences"),
        ("vsa", &[], "array"),
    ] {
        let printed = stdout(&[&["rtl", &file, "--emit", stage], &design[..]].concat());
        let input = kernel(dir.path(), &format!("x.{stage}"), &printed);
        assert_eq!(stdout(&[&["rtl", &input, "--emit", "vsa"], options].concat()), vsa, "{stage}");
        let report = json(&[&["sim", &input, "--json"], options].concat());
        assert_eq!(
            (&report["match"], &report["golden"]),
            (&Value::Bool(true), &Value::from(format!("interpreter of the {model}"))),
            "{stage}"
        );
        // An array by itself does not say what of its work is the program's.
        assert_eq!(report["macs"].is_null() && report["utilization"].is_null(), stage == "vsa", "{report}");
        // A broken text is refused, and what is broken in it named.
        let broken = kernel(
            dir.path(),
            &format!("b.{stage}"),
            &printed
                .replace("at distance [0, 0, 1]", "at distance [0, 0, -1]")
                .replace("coordinate j", "coordinate i")
                .replace("lanes 1", "lanes 0")
                .replace("loop 2: k in loop 1", "loop 2: k in loop 5"),
        );
        let output = sagen(&[&["sim", &broken], options].concat());
        assert!(
            code(&output) == 1 && text(&output.stderr).contains("is not the text of a stage"),
            "{stage}: {}",
            text(&output.stderr)
        );
    }
    let output = sagen(&["sim", &dir.path().join("x.vsa").to_string_lossy(), "--space", "i"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("says which array it is"), "{}", text(&output.stderr));
}

/// Back substitution: one array only where its sums may run backwards.
const BACK: &str = "void back(float U[8][8], float b[8], float x[8]) {\n#pragma scop\n\
    for (int i = 7; i >= 0; i--) {\n x[i] = b[i];\n for (int j = i + 1; j < 8; j++)\n  x[i] -= U[i][j] * x[j];\n\
    x[i] = x[i] / U[i][i];\n }\n#pragma endscop\n}\n";

/// A triangle of results.
const TRIANGLE: &str = "void f(short A[12][4], int C[12][12]) {\n#pragma scop\n\
    for (int i = 0; i < 12; i++)\n for (int j = 0; j <= i; j++) {\n  C[i][j] = 0;\n\
    for (int k = 0; k < 4; k++)\n   C[i][j] += A[i][k] * A[j][k];\n }\n#pragma endscop\n}\n";

/// The same options, the same rows: what `map` lists is what `--row` builds.
#[test]
fn map_and_array_agree() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "back.c", BACK);
    let rows = json(&["map", &file, "--reassociate", "--json"]);
    for (k, row) in rows["arrays"].as_array().unwrap().iter().enumerate() {
        let report = json(&["sim", &file, "--reassociate", "--row", &k.to_string(), "--json"]);
        assert_eq!((&report["match"], &report["array"]), (&Value::Bool(true), &row["extent"]), "row {k}");
    }
    let file = kernel(dir.path(), "mm.c", MM);
    let all = json(&["map", &file, "--json"]);
    let cut = json(&["map", &file, "--json", "--tile", "i=2,j=4", "--simd", "k=2"]);
    for (plain, row) in all["arrays"].as_array().unwrap().iter().zip(cut["arrays"].as_array().unwrap()) {
        assert_eq!((&plain["array"], &plain["space"]), (&row["array"], &row["space"]), "factors do not renumber");
        let number = row["array"].to_string();
        let built = sagen(&[
            "rtl",
            &file,
            "--tile",
            "i=2,j=4",
            "--simd",
            "k=2",
            "--row",
            &number,
            "-o",
            &dir.path().join("out").to_string_lossy(),
            "--json",
        ]);
        match &row["refused"] {
            Value::Null => assert_eq!(
                serde_json::from_slice::<Value>(&built.stdout).unwrap()["array"],
                row["extent"],
                "row {number}"
            ),
            why => {
                assert!(code(&built) == 1 && text(&built.stderr).contains(why.as_str().unwrap()), "row {number}: {why}")
            }
        }
    }
    let file = kernel(dir.path(), "triangle.c", TRIANGLE);
    let strips = json(&["map", &file, "--json", "--strip", "i=3"]);
    let built = json(&["sim", &file, "--json", "--strip", "i=3", "--row", "1"]);
    assert_eq!((&built["match"], &built["array"]), (&Value::Bool(true), &strips["arrays"][1]["extent"]));
    let file = kernel(dir.path(), "mm.c", MM);
    for options in [["--space", "k,i"], ["--row", "4"]] {
        let one = json(&["map", &file, "--json", options[0], options[1]]);
        assert_eq!(
            (one["arrays"].as_array().unwrap().len(), &one["arrays"][0]["array"]),
            (1, &Value::from(4)),
            "{options:?}"
        );
    }
}

#[test]
fn space_loops_alone_leave_the_rest_to_the_search() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let built = |options: &[&str]| json(&[&["sim", &file, "-D", "N=24", "--json"], options].concat());
    let [within, whole] = [&["--space", "i,k"][..], &["--space", "i,k", "--time", "j"]].map(built);
    let cycles = |report: &Value| report["cycles"].as_u64().unwrap();
    assert!(cycles(&within) < cycles(&whole), "{within} {whole}");
    assert_eq!((&within["axes"], &within["match"]), (&serde_json::json!(["i", "k"]), &Value::Bool(true)));
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
    assert_eq!(
        (&ports[0]["port"], &ports[1]["port"], ports.len()),
        (&Value::from("m_axi_gmem0"), &Value::from("m_axi_b"), 2)
    );
    assert_eq!(ports[0]["arrays"], Value::from(vec!["A", "C"]));
    let arrays = report["interface"]["arguments"].as_array().unwrap();
    assert_eq!(
        (&arrays[2]["argument"], &arrays[2]["port"], &arrays[2]["register"]),
        (&Value::from("C"), &ports[0]["port"], &Value::from(40))
    );
    let design = kernel(dir.path(), "d.toml", "ports = [\"shared\"]\n");
    for options in [["--ports", "shared"], ["--ports", "A+B+C"], ["--design", &design]] {
        let report = json(&["sim", &file, "--json", options[0], options[1]]);
        assert_eq!(
            (&report["match"], &report["cycles"]),
            (&Value::Bool(true), &report["predicted_cycles"]),
            "{options:?}"
        );
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
    assert!(
        code(&output) == 1 && text(&output.stderr).contains("its port also moves elements of 8"),
        "{}",
        text(&output.stderr)
    );
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
    let output = sagen(&["sim", &file, "--space", "i", "--row", "1"]);
    assert!(code(&output) == 2 && text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
    let design = kernel(dir.path(), "d.toml", "space = [\"i\"]\n");
    let output = sagen(&["sim", &file, "--design", &design, "--row", "1"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("exclude each other"), "{}", text(&output.stderr));
    // A factor may exceed its loop: up to 64 whatever the extent, beyond that up to twice.
    assert_eq!(code(&sagen(&["rtl", &file, "--space", "i,j", "--tile", "i=64", "--emit", "mapping"])), 0);
}

/// Gradients that are stored and read in windows: one PE can compute them again in each window, or nests take turns.
#[test]
fn regions_without_an_array_of_several_pes_say_so() {
    let file = format!("{}/tests/run/phases_gradient_products.c", env!("CARGO_MANIFEST_DIR"));
    assert!(stdout(&["map", &file]).contains("no systolic array of several PEs"));
    assert!(stdout(&["map", "--distribute", &file]).contains("[y]"));
}

/// An array from its text has the memory of the board, as the program that it was made from.
#[test]
fn an_array_from_its_text_takes_as_many_cycles() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let vsa = kernel(dir.path(), "mm.vsa", &stdout(&["rtl", &file, "--board", "pynq-z2", "--emit=vsa"]));
    let cycles = |file: &str, memory: &str| {
        let report = json(&["sim", file, "--board", "pynq-z2", "--memory", memory, "--json"]);
        assert_eq!(report["cycles"], report["predicted_cycles"], "{report}");
        report["cycles"].as_i64().unwrap()
    };
    assert_eq!(cycles(&vsa, "board"), cycles(&file, "board"));
    assert!(cycles(&vsa, "board") > cycles(&vsa, "ideal"));
}
