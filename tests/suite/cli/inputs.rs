//! Where the inputs of a simulation and of a testbench come from: the program's own `main`, ranges, seeds.

use super::*;

/// A kernel, and a `main` that fills its arrays.
const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#pragma sagen range(shift, 0, 15)\n\
    static void f(const int x[8], int shift, int y[8]) {\n#pragma scop\n  for (int i = 0; i < 8; i++)\n    y[i] = (x[i] >> \
    shift) + 1;\n#pragma endscop\n}\n\
    int main(int argc, char **argv) {\n  static int x[8], y[8];\n  FILE *text = fopen(\"data.txt\", \"r\");\n  \
    if (argc != 1 || argv[1] || !text || fscanf(text, \"%d\", &x[0]) != 1) return 3;\n  \
    for (int i = 1; i < 8; i++) x[i] = 100 * i;\n  FILE *log = fopen(\"log.txt\", \"w\");\n  fprintf(log, \"called\\n\");\n  \
    f(x, SHIFT, y);\n  puts(\"behind\");\n  f(y, SHIFT, x);\n  return 0;\n}\n";

fn numbers(path: &Path) -> Vec<i32> {
    fs::read(path).unwrap().chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect()
}

fn results(path: &Path) -> Vec<i32> {
    let npy = sagen::npy::Npy::parse(&fs::read(path).unwrap()).unwrap();
    npy.bytes.chunks(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn inputs_are_those_of_main() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", PROGRAM);
    fs::write(dir.path().join("data.txt"), "7777").unwrap();
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let shown = stdout(&["sim", &file, "-D", "SHIFT=3", "--out", &out]);
    assert!(shown.contains("  inputs       main()\n") && shown.contains("equal"), "{shown}");
    let wanted: Vec<i32> = [7777].into_iter().chain((1..8).map(|i| 100 * i)).map(|x| (x >> 3) + 1).collect();
    assert_eq!(results(&dir.path().join("out/y.npy")), wanted);
    assert!(!dir.path().join("log.txt").exists(), "it writes in a folder of its own");
    assert_eq!(json(&["sim", &file, "-D", "SHIFT=3", "--json"])["inputs"], "main()");
    let random = stdout(&["sim", &file, "-D", "SHIFT=3", "--seed", "4", "--out", &out]);
    assert!(random.contains("  inputs       random, seed 4\n"), "{random}");
    assert_ne!(results(&dir.path().join("out/y.npy")), wanted);

    // A testbench has them if the program may be run.
    let ip = dir.path().join("ip");
    let name = ip.to_string_lossy().into_owned();
    stdout(&["rtl", &file, "-D", "SHIFT=3", "-o", &name, "--expected"]);
    assert_eq!(numbers(&ip.join("sim/x.in.bin"))[..3], [7777, 100, 200]);
    assert_eq!(numbers(&ip.join("sim/y.expected.bin")), wanted);
    stdout(&["rtl", &file, "-D", "SHIFT=3", "-o", &name]);
    assert_ne!(numbers(&ip.join("sim/x.in.bin"))[0], 7777, "nothing is run unless asked");
    let first = numbers(&ip.join("sim/x.in.bin"));
    stdout(&["rtl", &file, "-D", "SHIFT=3", "-o", &name, "--seed", "2", "--expected"]);
    assert_ne!(numbers(&ip.join("sim/x.in.bin")), first);

    // A main that gives nothing is said once, and the inputs are random.
    fs::remove_file(dir.path().join("data.txt")).unwrap();
    let output = sagen(&["sim", &file, "-D", "SHIFT=3"]);
    let note = text(&output.stderr);
    assert_eq!((code(&output), note.lines().count()), (0, 1), "{note}");
    assert!(
        note.contains("the inputs are random, not those of main(): the C program ended by itself (exit code 3)"),
        "{note}"
    );
}

#[test]
fn a_main_may_be_in_another_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(
        dir.path(),
        "g.cpp",
        "int state[4];\nvoid g(const int x[4]) {\n#pragma scop\n  for (int i = 0; i < 4; i++)\n    state[i] = state[i] + \
        x[i];\n#pragma endscop\n}\n",
    );
    let bench = kernel(
        dir.path(),
        "bench.cpp",
        "extern int state[4];\nvoid g(const int *x);\nint main() {\n  int x[4] = {1, 2, 3, 4};\n  state[2] = 40;\n  g(x);\n  \
        return state[2] != 43;\n}\n",
    );
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let shown = stdout(&["sim", &file, "--with", &bench, "--out", &out]);
    assert!(shown.contains("  inputs       main()\n"), "{shown}");
    assert_eq!(results(&dir.path().join("out/state.npy")), [1, 2, 43, 4]);
}

/// The sizes with which `main` calls the function are named, and taken when asked for.
#[test]
fn main_calls_with_its_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(
        dir.path(),
        "h.c",
        "#pragma sagen max(n=16)\nvoid h(int n, const int x[n], int y[n]) {\n#pragma scop\n  for (int i = 0; i < n; i++)\n    \
        y[i] = 3 * x[i];\n#pragma endscop\n}\nint main(void) {\n  int x[5] = {1, 2, 3, 4, 5}, y[5];\n  h(5, x, y);\n  return \
        0;\n}\n",
    );
    let output = sagen(&["sim", &file]);
    let note = text(&output.stderr);
    assert!(code(&output) == 0 && note.contains("--size n=5"), "{note}");
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let shown = stdout(&["sim", &file, "--size", "n=5", "--out", &out]);
    assert!(shown.contains("  inputs       main()\n"), "{shown}");
    assert_eq!(results(&dir.path().join("out/y.npy")), [3, 6, 9, 12, 15]);
}

/// A region in the middle of a program: no word but the result, from the program's own data.
#[test]
fn a_region_inside_main_works_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(
        dir.path(),
        "whole.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#define N 8\nint main(int argc, char **argv) {\n  \
        static float a[N][N], b[N][N], c[N][N];\n  srand(42);\n  for (int i = 0; i < N; i++)\n    for (int j = 0; j < N; j++) \
        {\n      a[i][j] = rand() % 10;\n      b[i][j] = rand() % 10;\n      c[i][j] = 0;\n    }\n  double start = \
        clock();\n  printf(\"start\\n\");\n#pragma scop\n  for (int i = 0; i < N; i++)\n    for (int j = 0; j < N; j++)\n      \
        for (int k = 0; k < N; k++)\n        c[i][j] += a[i][k] * b[k][j];\n#pragma endscop\n  printf(\"%f %f\\n\", clock() - \
        start, c[1][2]);\n  if (argc > 1) {\n    FILE *f = fopen(argv[1], \"w\");\n    fprintf(f, \"%f\", c[0][0]);\n    \
        fclose(f);\n  }\n  return 0;\n}\n",
    );
    let output = sagen(&["sim", &file]);
    let shown = text(&output.stdout);
    assert_eq!((code(&output), text(&output.stderr).as_str()), (0, ""));
    assert!(shown.contains("  inputs       main()\n") && shown.contains("equal"), "{shown}");
}

#[test]
fn ranges_bound_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", PROGRAM);
    fs::write(dir.path().join("data.txt"), "1").unwrap();
    let ip = dir.path().join("ip");
    for seed in 1..20 {
        let seed = seed.to_string();
        stdout(&["rtl", &file, "-D", "SHIFT=3", "--space", "none", "-o", &ip.to_string_lossy(), "--seed", &seed]);
        assert!((0..16).contains(&numbers(&ip.join("sim/shift.in.bin"))[0]), "seed {seed}");
    }
    let refused = |arguments: &[&str]| {
        let output = sagen(arguments);
        let fault = text(&output.stderr);
        assert!(code(&output) == 1 && fault.contains("E0907") && fault.contains("its range is 0 to 15"), "{fault}");
        fault
    };
    assert!(refused(&["sim", &file, "-D", "SHIFT=16"]).contains("main(): `shift` has the value 16"));
    let npy = sagen::npy::Npy { kind: 'i', size: 4, shape: vec![], bytes: (-1i32).to_le_bytes().to_vec() };
    fs::write(dir.path().join("shift.npy"), npy.to_bytes()).unwrap();
    let data = format!("shift={}", dir.path().join("shift.npy").display());
    for command in ["sim", "rtl"] {
        let out = ["-o", "nowhere"];
        let out = if command == "rtl" { &out[..] } else { &[] };
        let arguments = [&[command, &file, "-D", "SHIFT=3", "--data", &data], out].concat();
        assert!(refused(&arguments).contains("--data: `shift` has the value -1"));
    }
}

/// `report.html` is one file that needs no other.
#[test]
fn every_ip_has_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let ip = dir.path().join("ip");
    for (board, wanted) in [("u250", "v++ -l"), ("pynq-z2", "vivado/bd_zynq.tcl")] {
        stdout(&["rtl", &file, "--board", board, "-o", &ip.to_string_lossy()]);
        let page = fs::read_to_string(ip.join("report.html")).unwrap();
        for part in [
            "<h2>Registers</h2>",
            "<h2>Timing</h2>",
            "<h2>Roofline</h2>",
            "<h2>Resources</h2>",
            "AP_START",
            "sh sim/run.sh",
            "<svg",
            wanted,
        ] {
            assert!(page.contains(part), "{board}: {part}");
        }
        for other in ["<script", "src=", "href=\"h", "href='h", "@import", "url(h"] {
            assert!(!page.contains(other), "{board}: {other}");
        }
        let body = page.replace("<!DOCTYPE html>", "").replace("<meta charset='utf-8'>", "");
        let tree = roxmltree::Document::parse(&body);
        assert!(tree.is_ok(), "{board}: every tag is closed: {:?}", tree.err());
    }
}

/// Of a waveform chosen PEs and cycles are written, and views that show its signals in groups.
#[test]
fn waveforms_of_chosen_pes_and_cycles() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "mm.c", MM);
    let wave = dir.path().join("w.vcd");
    let name = wave.to_string_lossy().into_owned();
    let array = ["sim", &file, "--space", "i,j", "--tile", "i=3,j=2", "--vcd", &name];
    stdout(&array);
    let whole = fs::read_to_string(&wave).unwrap();
    assert!(whole.contains("module pe[2][1] "));
    let views = ["gtkw", "sucl"].map(|view| fs::read_to_string(wave.with_extension(view)).unwrap());
    for view in &views {
        for wanted in [
            "m_axi_a (A): read addresses",
            "mm.m_axi_c_wdata",
            "mm.sequencer.valid",
            "mm.array.pe[0][0].",
            "s_axi_control",
        ] {
            assert!(view.contains(wanted), "{wanted}\n{view}");
        }
    }
    stdout(&[&array[..], &["--vcd-pe", "1,1", "--vcd-cycles", "50..60"]].concat());
    let part = fs::read_to_string(&wave).unwrap();
    assert!(part.contains("module pe[1][1] ") && !part.contains("module pe[0][0] ") && !part.contains("module feed"));
    let times: Vec<&str> = part.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!((times.first(), times.len()), (Some(&"#50"), 12), "{times:?}");
    assert!(part.len() * 5 < whole.len(), "{} of {}", part.len(), whole.len());
    let output = sagen(&[&array[..], &["--vcd-pe", "1,1", "--engine", "icarus"]].concat());
    assert!(code(&output) != 0 && text(&output.stderr).contains("built-in engine"), "{}", text(&output.stderr));
}
