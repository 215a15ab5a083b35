//! Kernels for GPUs: `tests/gpu/*.c`, each line `// sagen: OPTIONS` a run of `sagen gpu`. The kernel's text runs on the CPU and
//! is compared with the C program. Then faults are planted in emitted texts, and each is seen.

use crate::common::{c_files, lines_of_options, on_all_cores, root};
use clap::Parser;
use sagen::cli::{Cli, Command, Gpu};
use sagen::gpu::{run_changed, Written};
use sagen::reporter::Silent;
use std::path::{Path, PathBuf};

/// `sagen gpu OPTIONS FILE -o DIR`.
fn arguments(options: &str, file: &Path, dir: &Path) -> Gpu {
    let words = ["sagen", "gpu"].into_iter().chain(options.split_whitespace()).map(String::from);
    let rest = [file.to_string_lossy().into_owned(), "-o".into(), dir.to_string_lossy().into_owned()];
    match Cli::try_parse_from(words.chain(rest)) {
        Ok(Cli { command: Command::Gpu(gpu), .. }) => gpu,
        other => panic!("{other:?}"),
    }
}

/// Runs the command with the texts changed.
fn run(options: &str, file: &Path, change: &dyn Fn(&str, String) -> String) -> Result<Written, String> {
    let dir = tempfile::tempdir().expect("a directory");
    run_changed(&arguments(options, file, &dir.path().join("out")), &Silent, change).map_err(|e| e.render(false))
}

/// The differences that the check reports.
fn faults(options: &str, file: &Path, change: &dyn Fn(&str, String) -> String) -> Vec<String> {
    let written = run(options, file, change).unwrap_or_else(|why| panic!("{} {options}: {why}", file.display()));
    written.check.expect("a check").faults
}

#[test]
fn kernels_compute_what_c_computes() {
    let cases = lines_of_options([c_files("tests/gpu"), c_files("examples/gpu")].concat());
    assert!(cases.len() > 30, "{} cases", cases.len());
    let name = |(file, options): &(PathBuf, String)| format!("{} {options}", file.display());
    let found = on_all_cores(&cases, name, |(file, options)| match run(options, file, &|_, text| text) {
        Ok(written) => written.check.expect("a check").faults.join("; "),
        Err(why) => why,
    });
    let wrong: Vec<String> = cases
        .iter()
        .zip(found)
        .filter(|(_, f)| !f.is_empty())
        .map(|(case, f)| format!("{}: {f}", name(case)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_gpu_does_not_have_is_refused() {
    let taps = root("tests/gpu/taps.c");
    for key in sagen::cli::OF_FPGA {
        let option = format!("--{}", key.replace('_', "-"));
        let value = match key {
            "latency" => "q=1",
            "reassociate" | "merge" | "overlap" | "guard" | "unaligned" | "pack" => "",
            "grid" => "4x1",
            "cuts" => "q=2",
            "weights" => "taps=2",
            "cyclic" => "q",
            "dot" => "fused",
            "objective" => "cycles",
            "slack" => "2%",
            "limit" => "dsp=1",
            "word" => "x=1",
            "ports" => "shared",
            "bank" => "x=DDR[0]",
            "address_bits" => "32",
            _ => "16",
        };
        let why = run(&format!("{option} {value}"), &taps, &|_, text| text).err().expect("a refusal");
        assert!(why.contains(&format!("{option} is for arrays on an FPGA")), "{option}: {why}");
    }
    let why = run("--space c --time q --ahead 2", &taps, &|_, text| text).err().expect("a refusal");
    assert!(why.contains("E0731") && why.contains("no loop in time"), "{why}");
    let dir = tempfile::tempdir().expect("a directory");
    let large = dir.path().join("large.c");
    let text = "void large(const char x[3000000000], char y[3000000000]) {\n#pragma scop\n\
                for (long i = 0; i < 3000000000; i++)\n y[i] = x[i] + 1;\n#pragma endscop\n}\n";
    std::fs::write(&large, text).expect("a file");
    let why = run("--no-check", &large, &|_, text| text).err().expect("a refusal");
    assert!(why.contains("2^31"), "{why}");
    let why =
        run("--function dot --size N=1001", &root("tests/gpu/sizes.c"), &|_, text| text).err().expect("a refusal");
    assert!(why.contains("the size N is 1001: it may be 1 to 1000"), "{why}");
    let parted =
        "#pragma sagen max(n=5, m=9)\nvoid parted(int n, int m, const int A[n][m], const int B[n], const int C[m], \
                  int D[1]) {\n#pragma scop\nfor (int k = 0; k < n; k++)\n for (int l = 0; l < m; l++)\n  \
                  D[0] += A[k][l] * B[k] * C[l];\n#pragma endscop\n}\n";
    std::fs::write(
        &large,
        parted.replace("D[0]", "D[i]").replace("for (int k", "for (int i = 0; i < 1; i++)\nfor (int k"),
    )
    .expect("a file");
    let why = run("--no-check --space i,k --time l", &large, &|_, text| text).err().expect("a refusal");
    assert!(why.contains("which a size decides"), "{why}");
    let phases = "void many(int x[40][40]) {\n#pragma scop\nfor (int i = 0; i < 40; i++)\n\
                  for (int j = 0; j < 40; j++)\n x[i][j] += x[39 - j][i];\n#pragma endscop\n}\n";
    std::fs::write(&large, phases).expect("a file");
    let why = run("--no-check", &large, &|_, text| text).err().expect("a refusal");
    assert!(why.contains("64 phases"), "{why}");
}

/// A window whose first and last steps have bodies of their own.
const RAMPS: &str = "--space c,p --time r+p,q -D P=11 -D Q=11 -D W=1014 -D H=130 -D PITCH_OUT=1024 --fp-contract";

/// What a wrong back end might write: the options of `tests/gpu/taps.c` or another file, a text, and what stands in its place.
const FAULTS: [(&str, &str, &str, &str, &str); 22] = [
    ("a shuffle one PE off", "taps.c", "--space c --time q", "hop<-1>(x_1)", "hop<-2>(x_1)"),
    ("no mask of the margin", "taps.c", "--space c --time q", "(pe <= 123)", "(pe <= 127)"),
    ("no mask at the end", "taps.c", "--space c --time q -D N=1001", "(pe <= -c_0 + 1000)", "(pe >= -1)"),
    ("a misaligned word", "taps.c", "--space c --time q", "words<4>(x, c_0)", "words<4>(x, c_0 + 1)"),
    ("a stale register", "window.c", "--space c,p --time r+p,q -D W=254 -D H=64", "was_out_8[0] = out_8;", ""),
    (
        "too few steps to warm up",
        "window.c",
        "--space c,p --time r+p,q -D W=254 -D H=64",
        "first = r_p_0 - 2",
        "first = r_p_0 - 1",
    ),
    (
        "a border taken for the interior",
        "window.c",
        "--space c,p --time r+p,q -D W=254 -D H=64",
        "return;\n",
        "return;\n#define Border Interior\n",
    ),
    (
        "a value a step too young",
        "sweeps.c",
        "--function planes --space j,t --time i+t -D M=257 -D S=5",
        "[1] + ",
        "[0] + ",
    ),
    ("PEs beyond a sum's end", "folds.c", "--function dot --space i", "(pe <= -128 * i_strip + 10002)", "(pe >= -1)"),
    ("a sum that begins with another value", "folds.c", "--function dot --space i", "all<4>((int32_t)0)", "all<4>(1)"),
    ("a phase left out", "phases.c", "--function twice", "      twice_phase_1(", "      if (0) twice_phase_1("),
    (
        "shared memory that keeps the elements of steps before",
        "product.c",
        "--function product --space j,i --time k -D M=128 -D N=256 -D K=64",
        "put(filled ^ 1);",
        "",
    ),
    (
        "elements of another warp",
        "product.c",
        "--function product --space j,i --time k -D M=128 -D N=256 -D K=64",
        "slot, IN_BLOCK(8))",
        "slot, 7 - IN_BLOCK(8))",
    ),
    (
        "shared elements a step too late",
        "product.c",
        "--function product --space j,i --time k -D M=128 -D N=256 -D K=64",
        "one::min(chunk + 8,",
        "one::min(chunk + 9,",
    ),
    (
        "values of a quad in another order",
        "dots.c",
        "--function product --space j,i --time k --simd k=4",
        "quad_of(B_0, B_1, B_2, B_3)",
        "quad_of(B_1, B_0, B_2, B_3)",
    ),
    ("products beyond the end", "dots.c", "--function product --space j,i --time k --simd k=4", "A_4 & value_2", "A_4"),
    (
        "a quad of other steps",
        "dots.c",
        "--function product --space j,i --time k --simd k=4 --tile i=4,j=128 -D M=64 -D N=256 -D K=64",
        "(const Quad<int8_t> *)(A), k,",
        "(const Quad<int8_t> *)(A), k + 1,",
    ),
    (
        "rows of other steps in a quad",
        "dots.c",
        "--function product --space j,i --time k --simd k=4 --tile i=4,j=128 -D M=64 -D N=256 -D K=64",
        "ask(B, 4 * k,",
        "ask(B, 4 * k + 1,",
    ),
    (
        "a quad that is no word",
        "dots.c",
        "--function vector --space i --time k --simd k=4 -D K=64",
        "gather_quads(A, ",
        "gather_quads(A, 1 + ",
    ),
    ("values that the start needs", "window.c", RAMPS, "r_p < first + 5", "r_p < first + 6"),
    ("values that the end needs", "window.c", RAMPS, "last + 1 - 5", "last + 1 - 6"),
    ("a sum in the place of a maximum", "folds.c", "--function dot --space i", "fold_max", "fold_add"),
];

/// Sums over all PEs that a warp does not have. Each is a loop nest over `x[i][j]`, with the reason.
const REFUSED: [(&str, &str); 6] = [
    // The order of floats is C's.
    ("for (j = 0; j < N; j++) f[i] += g[i][j];", "values hop"),
    // The order is fixed.
    ("for (j = 0; j < N; j++) s[0] = s[0] * 3 + x[i][j];", "before the one that computes it"),
    // A value of the last PE.
    (
        "s[i] = 0; for (j = 0; j < N; j++) { t[i][j] = x[i][j] * 5; s[i] += t[i][j]; } p[i] = s[i] + t[i][N - 1];",
        "one of the PEs",
    ),
    // The initial value is one of a sum before.
    ("for (j = 0; j < N; j++) s[i + 1] += x[i][j] * s[i];", "values hop"),
    // All PEs need the result.
    (
        "s[i] = 0; for (j = 0; j < N; j++) s[i] += x[i][j]; for (j = 0; j < N; j++) x[i][j] = x[i][j] - s[i];",
        "values hop",
    ),
    // Over three long loops.
    ("for (j = 0; j < N; j++) for (k = 0; k < 50; k++) s[0] += y[i][j][k];", "a tile of it"),
];

#[test]
fn sums_over_all_pes_that_no_warp_has_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    for (k, (nest, reason)) in REFUSED.iter().enumerate() {
        let file = dir.path().join(format!("{k}.c"));
        let text = format!(
            "enum {{ M = 40, N = 200 }};\nvoid sums(int x[M][N], const float g[M][N], const int y[M][N][50], \
             int s[M + 1], int p[M], float f[M]) {{\nint i, j, k;\nint t[M][N];\n#pragma scop\n\
             for (i = 0; i < M; i++) {{ {nest} }}\n#pragma endscop\n}}\n"
        );
        std::fs::write(&file, text).expect("a file");
        let time = if nest.contains("k++") { "i,k" } else { "i" };
        let why = run(&format!("--no-check --space j --time {time}"), &file, &|_, text| text).err();
        let why = why.unwrap_or_else(|| panic!("{nest}: no refusal"));
        assert!(why.contains("E0731") && why.contains(reason), "{nest}: {why}");
    }
}

/// SIMD digits that no sum of products has: options of `tests/gpu/dots.c`, with the reason.
const NO_DOTS: [(&str, &str); 7] = [
    ("--function product --space j,i --time k --simd k=2", "has 4 products"),
    ("--function product --space i,k --time j --simd j=4", "no sum in any order passes over it"),
    ("--function product --space k,i --time j --simd k=4", "the lanes of a warp have the sum"),
    ("--function product --space j,i --time k --simd k=4 -D T=int16_t", "no products of values of 8 bits"),
    ("--function product --space j,i --time k --simd k=4 -D T=float -D SUM=float", "no sum in any order"),
    ("--function mixed --space j,i --time k --simd k=4", "one factor has a sign and the other has none"),
    ("--function product --space j,i --time k --simd k=4 --tile k=8", "no step of a warp has four of its iterations"),
];

#[test]
fn simd_digits_that_no_sum_has_are_refused() {
    for (options, reason) in NO_DOTS {
        let why = run(&format!("--no-check {options}"), &root("tests/gpu/dots.c"), &|_, text| text).err();
        let why = why.unwrap_or_else(|| panic!("{options}: no refusal"));
        let words: Vec<&str> = why.split_whitespace().filter(|w| !w.contains('│')).collect();
        assert!(why.contains("E0731") && words.join(" ").contains(reason), "{options}: {why}");
    }
}

/// Four products are one operation: none is left, and each row of a step has its own.
#[test]
fn sums_of_products_of_bytes_are_dots() {
    let file = root("tests/gpu/dots.c");
    let dots = std::sync::atomic::AtomicUsize::new(0);
    let counted = |name: &str, text: String| {
        if name == "kernel.cu" {
            dots.store(text.matches("dot_quads(").count(), std::sync::atomic::Ordering::Relaxed);
            assert!(!text.contains("cast<int32_t>"), "a product by itself:\n{text}");
        }
        text
    };
    // By option and without it; by steps, rows and taps of a step.
    for (options, count) in [
        ("--function product --space j,i --time k --simd k=4", 8),
        ("--function product --space j,i --time k", 8),
        ("--function product --space j,i --time k --simd k=4 -D K=24", 8 * 6),
        ("--function channels --space c,o --time r,p,q,i --simd i=4", 3 * 3 * 5 * 2),
        ("--function window --space c,p --time r+p,q --simd q=4", 3 * 2),
        ("--function vector --space i --time k --simd k=4", 1),
    ] {
        run(&format!("--no-check {options}"), &file, &counted).unwrap_or_else(|why| panic!("{options}: {why}"));
        assert_eq!(dots.load(std::sync::atomic::Ordering::Relaxed), count, "{options}");
    }
}

/// The head of a kernel states the registers that the search counts on: of the worked example in `gpu/src/registers.rs`, of a
/// product, which is bounded, and of taps without a time loop.
#[test]
fn heads_state_the_registers_of_a_lane() {
    let cases = [
        ("sweeps.c", "--function star -D S=8 -D N=16384 -D M=16384 --space j,t --time i+t --fp-contract", 184),
        ("product.c", "--function product --fp-contract -D M=8192 -D N=8192 -D K=8192", 128),
        ("taps.c", "--space c --time q -D Q=5", 40),
    ];
    for (file, options, registers) in cases {
        let head = std::sync::Mutex::new(String::new());
        let keep = |name: &str, text: String| {
            let line = text.lines().find(|l| l.starts_with("//   a lane ")).filter(|_| name == "kernel.cu");
            line.into_iter().for_each(|l| *head.lock().expect("no panic") = l.into());
            text
        };
        let file = root("tests/gpu").join(file);
        run(&format!("{options} --no-check"), &file, &keep).expect("a kernel");
        let head = head.into_inner().expect("no panic");
        assert!(head.ends_with(&format!("at most {registers} registers")), "{options}: {head}");
    }
}

#[test]
fn planted_faults_are_seen() {
    let found = on_all_cores(
        &FAULTS,
        |f| f.0.to_string(),
        |(what, file, options, from, to)| {
            let file = root("tests/gpu").join(file);
            let changed = std::sync::atomic::AtomicBool::new(false);
            let found = faults(options, &file, &|name, text| {
                if !["kernel.cu", "shim.cpp"].contains(&name) {
                    return text;
                }
                changed.fetch_or(text.contains(*from), std::sync::atomic::Ordering::Relaxed);
                text.replacen(*from, to, 1)
            });
            match (changed.into_inner(), found.is_empty()) {
                (false, _) => format!("{what}: the text has no `{from}`\n"),
                (_, true) => format!("{what}: nobody sees it\n"),
                _ => String::new(),
            }
        },
    );
    assert_eq!(found.concat(), "");
}

/// AddressSanitizer finds no access beside an array, and finds one that is planted.
#[test]
fn accesses_stay_inside_of_arrays() {
    let (taps, window) = (root("tests/gpu/taps.c"), root("tests/gpu/window.c"));
    let same = |_: &str, text: String| text;
    assert_eq!(faults("--space c --time q -D N=1003 --sanitize address", &taps, &same), Vec::<String>::new());
    assert_eq!(faults("--space c,p --time r+p,q --sanitize address", &window, &same), Vec::<String>::new());
    let beside = |_: &str, text: String| text.replace("clamp(r_p", "(r_p").replace(", 0, 51)", ")");
    let found = faults("--space c,p --time r+p,q --sanitize address", &window, &beside);
    assert!(found.iter().any(|f| f.contains("AddressSanitizer")), "{found:?}");
}

/// Two runs write the same bytes.
#[test]
fn texts_are_deterministic() {
    let texts = || {
        let all = std::sync::Mutex::new(String::new());
        let keep = |name: &str, text: String| {
            *all.lock().expect("no panic") += &format!("{name}\n{text}");
            text
        };
        run("--no-check", &root("tests/gpu/window.c"), &keep).expect("a kernel");
        all.into_inner().expect("no panic")
    };
    assert_eq!(texts(), texts());
}

#[test]
fn the_kernel_for_whole_words_at_other_sizes_is_seen() {
    let file = root("tests/gpu/sizes.c");
    let swapped = |name: &str, text: String| match name {
        "shim.cpp" => text.replace("if (W % 4 == 0)", "if (W % 4 == 1)"),
        _ => text,
    };
    let found = faults("--function window --size H=9,W=301,L=1", &file, &swapped);
    assert!(found.iter().any(|f| f.contains("the shim ended") || f.contains("out")), "{found:?}");
    assert_eq!(faults("--function window --size H=9,W=300,L=1", &file, &|_, text| text), Vec::<String>::new());
}
