//! `sagen explore`: what its answers say is so, in whatever form they come.

use super::*;
use std::path::Path;

fn small(dir: &Path) -> String {
    kernel(dir, "mm.c", &MM.replace("define N 6", "define N 4"))
}

#[test]
fn the_best_design_is_built_by_its_text_and_by_the_line_to_paste() {
    let dir = tempfile::tempdir().unwrap();
    let file = small(dir.path());
    let found = json(&["explore", &file, "--json"]);
    let (cycles, bound) = (found["best"]["cycles"].as_f64().unwrap(), found["bound"].as_f64().unwrap());
    assert!(bound <= cycles && (found["gap"].as_f64().unwrap() - (cycles - bound) / cycles).abs() < 1e-9, "{found}");
    for count in ["exact_designs", "bounds", "seconds"] {
        assert!(found[count].as_f64().unwrap() > 0.0, "{count}");
    }
    let design = kernel(dir.path(), "best.toml", found["best"]["design"].as_str().unwrap());
    let built = json(&["sim", &file, "--design", &design, "--json"]);
    assert_eq!((&built["cycles"], &built["match"]), (&found["best"]["cycles"], &Value::Bool(true)));
    let table = stdout(&["explore", &file]);
    let line = table.lines().map(str::trim).find(|l| l.starts_with("sagen rtl ")).expect("a line to paste");
    let words: Vec<&str> = line.split_whitespace().skip(1).chain(["--emit", "vsa"]).collect();
    assert_eq!(stdout(&words), stdout(&["rtl", &file, "--design", &design, "--emit", "vsa"]));
}

/// Every line `beside it` names a file that builds exactly its array, and none is beaten by another or by the choice.
#[test]
fn what_is_shown_beside_the_choice_is_built_by_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let mv = kernel(dir.path(), "mv.c", MV);
    let mm = kernel(dir.path(), "mm.c", &MM.replace("define N 6", "define N 24"));
    let count = |row: &Value| ["cycles", "lut", "ff", "dsp", "bram36", "uram"].map(|name| row[name].as_i64().unwrap());
    let mut seen = 0;
    for (k, (file, board)) in [(&mm, "u250"), (&mm, "pynq-z2"), (&mm, "ulx3s"), (&mv, "kv260")].into_iter().enumerate()
    {
        let out = dir.path().join(format!("ip{k}")).to_string_lossy().into_owned();
        let chosen = json(&["rtl", file, "--board", board, "-o", &out, "--json"]);
        let mut front = vec![];
        for row in chosen["beside"].as_array().unwrap() {
            let design = Path::new(&out).join(row["design"].as_str().unwrap());
            let words = ["rtl", file, "--board", board, "--design", design.to_str().unwrap(), "-o"];
            let built = json(&[&words[..], &[&format!("{out}.beside"), "--json"]].concat());
            let mut need = built["resources"].clone();
            need["cycles"] = built["predicted_cycles"].clone();
            assert_eq!(count(&need), count(row), "{file} on {board}: {row}");
            front.push(count(row));
        }
        seen += front.len();
        let mut need = chosen["resources"].clone();
        need["cycles"] = chosen["predicted_cycles"].clone();
        front.push(count(&need));
        for (k, point) in front.iter().enumerate() {
            let beats = |other: &[i64; 6]| other.iter().zip(point).all(|(a, b)| a <= b);
            let beaten = front.iter().enumerate().any(|(other, row)| other != k && beats(row));
            assert!(!beaten, "{file} on {board}: {front:?}");
        }
    }
    assert!(seen >= 4, "only {seen} arrays beside four choices");
}

#[test]
fn a_front_has_a_proof_for_every_point() {
    let dir = tempfile::tempdir().unwrap();
    let found = json(&["explore", &kernel(dir.path(), "mm.c", MM), "--pareto", "cycles,lut,bram", "--json"]);
    let front = found["front"].as_array().unwrap();
    assert!(front.len() > 1, "{found}");
    for pair in front.windows(2) {
        let of = |k: usize, name: &str| pair[k][name].as_i64().unwrap();
        assert!(
            of(0, "cycles") <= of(1, "cycles")
                && of(1, "lut") <= of(0, "lut") / 2
                && of(1, "bram36") <= of(0, "bram36") / 2,
            "{pair:?}"
        );
    }
    assert!(
        front.iter().all(|p| p["bound"].as_i64() <= p["cycles"].as_i64()
            && p["gap"].as_f64().is_some_and(|g| (0.0..1.0).contains(&g))),
        "{front:?}"
    );
}

#[test]
fn shards_find_and_prove_what_one_search_does_though_one_was_killed() {
    let dir = tempfile::tempdir().unwrap();
    let file = small(dir.path());
    let whole = json(&["explore", &file, "--json"]);
    let runs = dir.path().join("runs.jsonl").to_string_lossy().into_owned();
    let shard =
        |part: &str, more: &[&str]| json(&[&["explore", &file, "--shard", part, "--out", &runs], more].concat());
    shard("1/3", &[]);
    // Killed in the middle of its second line.
    let before = fs::read_to_string(&runs).unwrap();
    shard("2/3", &[]);
    let all = fs::read_to_string(&runs).unwrap();
    let lines: Vec<&str> = all[before.len()..].lines().filter(|l| !l.is_empty()).collect();
    fs::write(&runs, format!("{before}\n{}\n{}", lines[0], &lines[1][..lines[1].len() / 2])).unwrap();
    shard("2/3", &["--resume"]);
    let last = shard("3/3", &["--resume"]);
    assert_eq!(
        (&last["best"], &last["bound"], &last["finished"]),
        (&whole["best"]["cycles"], &whole["bound"], &Value::from(3))
    );
    let again = shard("3/3", &["--resume"]);
    assert_eq!((&again["searched"], &again["best"]), (&Value::from(0), &last["best"]));
    for wrong in ["0/3", "4/3", "a/b"] {
        assert_eq!(code(&sagen(&["explore", &file, "--shard", wrong, "--out", &runs])), 2, "{wrong}");
    }
}

#[test]
fn shards_look_at_strips_too() {
    let dir = tempfile::tempdir().unwrap();
    let text = "void syrk(short C[40][40], const short A[40][24]) \
        {\n#pragma scop\n  for (int i = 0; i < 40; i++)\n    for (int k = 0; k < 24; k++)\n      for (int j = 0; j <= i; j++) C[i][j] += A[i][k] * A[j][k];\n#pragma endscop\n}\n";
    let (file, runs) =
        (kernel(dir.path(), "syrk.c", text), dir.path().join("runs.jsonl").to_string_lossy().into_owned());
    let whole = json(&["explore", &file, "--limit", "dsp=16", "--json"]);
    assert!(whole["best"]["design"].as_str().is_some_and(|d| d.contains("[strip]")), "{whole}");
    let shard = |part: &str| json(&["explore", &file, "--limit", "dsp=16", "--shard", part, "--out", &runs]);
    shard("1/2");
    let last = shard("2/2");
    assert_eq!((&last["best"], &last["bound"]), (&whole["best"]["cycles"], &whole["bound"]));
}

#[test]
fn a_page_needs_nothing_but_itself() {
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    stdout(&["explore", &small(dir.path()), "--html", &page.to_string_lossy()]);
    let text = fs::read_to_string(page).unwrap();
    assert!(
        text.matches("<svg").count() >= 3 && text.contains("@media print"),
        "front, roofline, course of the search, array"
    );
    for outside in ["<script src", "<link", "@import", "url(h", "url(\"", "url('"] {
        assert!(!text.contains(outside), "{outside}");
    }
    let document = text.replace("http://www.w3.org/", "");
    assert!(!document.contains("http://") && !document.contains("https://"));
}

/// Two layers on one array: each takes what it takes on this array alone, no bound is above, and a layer that runs
/// twice counts twice.
#[test]
fn a_network_shares_one_array() {
    let dir = tempfile::tempdir().unwrap();
    let layer = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/layer.c");
    let network = |name: &str, text: &str| kernel(dir.path(), name, text);
    let file = network(
        "net.toml",
        "[[layer]]\nname = \"first\"\ntimes = 2\ndefine = { O = 4, I = 3, S = 4, Q = 3 }\n[[layer]]\ndefine = \
        { O = 8, I = 4, S = 2, Q = 1 }\n",
    );
    let found =
        json(&["explore", layer, "--network", &file, "--gap", "5%", "--designs", "300", "--limit", "dsp=64", "--json"]);
    let layers = found["layers"].as_array().unwrap();
    let cycles = |k: usize| layers[k]["cycles"].as_i64().unwrap();
    assert_eq!((layers[0]["name"].as_str(), layers[1]["name"].as_str()), (Some("first"), Some("2")));
    assert_eq!(found["cycles"].as_i64(), Some(2 * cycles(0) + cycles(1)));
    assert!(found["bound"].as_i64() <= found["cycles"].as_i64(), "{found}");
    for (k, defines) in [["O=4", "I=3", "S=4", "Q=3"], ["O=8", "I=4", "S=2", "Q=1"]].iter().enumerate() {
        let design = kernel(dir.path(), "layer.toml", layers[k]["design"].as_str().unwrap());
        let macros: Vec<&str> = defines.iter().flat_map(|d| ["-D", d]).collect();
        let built = json(&[&["sim", layer, "--design", &design, "--json"], &macros[..]].concat());
        assert_eq!((&built["cycles"], &built["match"]), (&layers[k]["cycles"], &Value::Bool(true)));
        let places =
            |of: &Value| of["array"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect::<Vec<_>>();
        assert!(places(&built).iter().zip(places(&found)).all(|(own, all)| *own <= all), "{built}");
    }
    for (text, why) in [
        ("", "has one [[layer]] at least"),
        ("[[layer]]\ntimes = 0\ndefine = { O = 4 }\n", "once is the least"),
        ("[[layer]]\ndefines = { O = 4 }\n", "unknown field"),
        ("[[layer]]\ndefine = { O = -4 }\n", "layer 1 of"),
    ] {
        let wrong = network("wrong.toml", text);
        let output = sagen(&["explore", layer, "--network", &wrong]);
        let told = super::text(&output.stderr);
        assert!(code(&output) == 1 && told.contains(why), "{told}");
    }
}
