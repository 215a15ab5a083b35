//! Inputs that would take for ever, or that no machine can hold: each ends with a refusal, soon.

use super::*;

const REGION: &str = "void f(int A[8]) {\n#pragma scop\nfor (int i = 0; i < 8; i++) A[i] += 1;\n#pragma endscop\n}\n";

fn refused(arguments: &[&str], reason: &str) {
    let output = sagen(arguments);
    let said = text(&output.stderr);
    assert!(code(&output) == 1 && said.contains(reason), "{arguments:?}: {said}");
    assert!(said.len() < 4000, "one message, not {} bytes", said.len());
}

#[test]
fn headers_that_include_one_another_end() {
    let dir = tempfile::tempdir().unwrap();
    let twice = |name: &str| format!("#include \"{name}\"\n#include \"{name}\"\n");
    // A chain: every header includes the next one twice, which is 2^30 files.
    for k in 0..30 {
        fs::write(dir.path().join(format!("h{k}.h")), twice(&format!("h{}.h", k + 1))).unwrap();
    }
    fs::write(dir.path().join("h30.h"), "int x;\n").unwrap();
    // A circle.
    fs::write(dir.path().join("a.h"), twice("b.h")).unwrap();
    fs::write(dir.path().join("b.h"), twice("a.h")).unwrap();
    // Long ones.
    fs::write(dir.path().join("long.h"), "/* nothing */\n".repeat(200_000)).unwrap();
    for (head, reason) in [
        (twice("h0.h"), "the included files have no end"),
        (twice("a.h"), "includes nest more than 32 deep"),
        (twice("long.h").repeat(20), "the included files have no end"),
    ] {
        refused(&["map", &kernel(dir.path(), "f.c", &(head + REGION))], reason);
    }
    // With guards the same headers go through.
    for name in ["a.h", "b.h"] {
        let inside = fs::read_to_string(dir.path().join(name)).unwrap();
        let guarded = format!("#ifndef {0}_H\n#define {0}_H\n{inside}#endif\n", &name[..1]);
        fs::write(dir.path().join(name), guarded).unwrap();
    }
    stdout(&["map", &kernel(dir.path(), "f.c", &(twice("a.h") + REGION))]);
}

#[test]
fn arrays_that_no_machine_holds_are_not_simulated() {
    let dir = tempfile::tempdir().unwrap();
    let huge = REGION.replace("A[8]", "A[2147483648]");
    let file = kernel(dir.path(), "f.c", &huge);
    refused(&["sim", &file], "have 2147483648 elements");
    let out = dir.path().join("o");
    stdout(&["rtl", &file, "-o", &out.to_string_lossy()]);
    assert!(out.join("rtl").exists() && !out.join("sim/run.sh").exists());
    stdout(&["rtl", &file, "--emit=rtl"]);
}

#[test]
fn numbers_of_design_and_board_files_have_ranges() {
    let dir = tempfile::tempdir().unwrap();
    let file = kernel(dir.path(), "f.c", REGION);
    for (line, reason) in [
        ("memory_latency = 4294967295", "memory_latency = 4294967295: at least 1, at most 10000"),
        ("memory_latency = 0", "memory_latency = 0: at least 1"),
        ("on_chip = 1099511627776", "on_chip = 1099511627776: at least 0, at most 1099511627775"),
        ("cycles = 0", "cycles = 0: at least 1"),
        ("limit = { dsp = -1 }", "limit = -1: at least 0"),
        ("word = { A = 4096 }", "word = 4096: at least 1, at most 1024"),
        ("tile = { i = 9223372036854775807 }", "[E07"),
        ("simd = { i = -9223372036854775808 }", "[E07"),
        ("queue = 4294967295", "a queue of 4294967295 commands"),
        ("address_bits = 65", "addresses of 65 bits"),
        ("memory_latency = 99999999999", "99999999999"),
    ] {
        let design = kernel(dir.path(), "d.toml", &format!("{line}\n"));
        refused(&["rtl", &file, "--design", &design, "--emit=vsa"], reason);
        refused(&["map", &file, "--design", &kernel(dir.path(), "e.toml", &format!("[function.f]\n{line}\n"))], "");
    }
    let board = fs::read_to_string(crate::common::root("boards/zcu104.toml")).unwrap();
    for (field, value, reason) in [
        ("latency_ns", "4294967295", "at least 1, at most 10000"),
        ("ports", "0", "ports = 0: at least 1, at most 4096"),
        ("data_bits", "96", "a power of two"),
        ("peak_bytes_per_s", "9223372036854775807", "peak_bytes_per_s = 9223372036854775807"),
        ("dsp", "-1", "dsp = -1: at least 0"),
        ("clock_mhz", "1e300", "clock_mhz"),
    ] {
        let line = board.lines().find(|l| l.starts_with(&format!("{field} = "))).unwrap();
        let mine = kernel(dir.path(), "b.toml", &board.replacen(line, &format!("{field} = {value}"), 1));
        refused(&["map", &file, "--board", &mine], reason);
    }
}

/// The text of each stage, with every number in turn replaced by ones that no program has. It is refused, or it is the
/// text of a program; the array then does what the text says.
#[test]
fn numbers_of_stages_are_verified() {
    let dir = tempfile::tempdir().unwrap();
    let sized =
        format!("#pragma sagen max(n=8)\n{}", REGION.replace("(int A[8]", "(int n, int A[n]").replace("< 8", "< n"));
    let mut cases = vec![];
    for (name, program) in [("f", REGION), ("sized", sized.as_str())] {
        let file = kernel(dir.path(), &format!("{name}.c"), program);
        for stage in ["scop", "ure", "mapping"] {
            let whole = stdout(&["rtl", &file, &format!("--emit={stage}")]);
            for (at, digits) in numbers(&whole) {
                for value in ["-1", "0", "4611686018427387904", "9223372036854775807", "9223372036854775808"] {
                    let edited = format!("{}{value}{}", &whole[..at], &whole[at + digits..]);
                    cases.push((format!("{name}-{at}-{value}.{stage}"), edited));
                }
            }
        }
    }
    let run = |(name, edited): &(String, String)| {
        let output = sagen(&["sim", &kernel(dir.path(), name, edited)]);
        (code(&output), text(&output.stdout) + &text(&output.stderr))
    };
    let all = crate::common::on_all_cores(&cases, |case| case.0.clone(), run);
    for ((name, edited), (code, said)) in cases.iter().zip(&all) {
        assert!(matches!(code, 0 | 1), "{name}: exit code {code}\n{edited}\n{said}");
    }
    assert!(all.iter().filter(|answer| answer.0 == 1).count() > all.len() / 2);
}

/// The text of an array with other numbers, with a line less, with other names: every so many of all such edits. It is
/// refused, or the array does what the text says.
#[test]
fn texts_of_arrays_are_verified() {
    let dir = tempfile::tempdir().unwrap();
    let product =
        "void mv(const int A[4][3], const int x[3], int y[4]) {\n#pragma scop\nfor (int i = 0; i < 4; i++) {\n\
        y[i] = 0;\nfor (int k = 0; k < 3; k++) y[i] += A[i][k] * x[k];\n}\n#pragma endscop\n}\n";
    let whole = stdout(&["rtl", &kernel(dir.path(), "mv.c", product), "--emit=vsa"]);
    let mut cases = vec![];
    for (at, digits) in numbers(&whole) {
        for value in ["-1", "0", "1", "2147483648", "-9223372036854775808", "9223372036854775807"] {
            cases.push((format!("{at} is {value}"), format!("{}{value}{}", &whole[..at], &whole[at + digits..])));
        }
    }
    let lines: Vec<&str> = whole.lines().collect();
    for k in 0..lines.len() {
        cases.push((format!("without line {k}"), [&lines[..k], &lines[k + 1..]].concat().join("\n") + "\n"));
    }
    let words: Vec<&str> = whole.split_whitespace().collect();
    for (k, word) in words.iter().enumerate() {
        let (at, other) = (word.as_ptr() as usize - whole.as_ptr() as usize, words[(k * 7 + 3) % words.len()]);
        cases.push((format!("{at} is {other}"), format!("{}{other}{}", &whole[..at], &whole[at + word.len()..])));
    }
    let chosen: Vec<_> = cases.into_iter().step_by(7).enumerate().collect();
    let run = |(k, (_, edited)): &(usize, (String, String))| {
        let output = sagen(&["sim", &kernel(dir.path(), &format!("{k}.vsa"), edited)]);
        (code(&output), text(&output.stdout) + &text(&output.stderr))
    };
    let all = crate::common::on_all_cores(&chosen, |case| case.1 .0.clone(), run);
    for ((_, (what, edited)), (code, said)) in chosen.iter().zip(&all) {
        assert!(matches!(code, 0 | 1), "{what}: exit code {code}\n{edited}\n{said}");
    }
    assert!(all.iter().filter(|answer| answer.0 == 1).count() > all.len() / 2);
}

/// Places and lengths of the numbers in a text, with their signs.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let digit = |k: usize| bytes.get(k).is_some_and(u8::is_ascii_digit);
    let part = |k: usize| bytes[k].is_ascii_alphanumeric() || matches!(bytes[k], b'_' | b'\'');
    let mut all = vec![];
    let mut k = 0;
    while k < text.len() {
        if digit(k) && (k == 0 || !part(k - 1)) {
            let end = (k..).find(|&e| !digit(e)).unwrap_or(text.len());
            let sign = usize::from(k > 0 && bytes[k - 1] == b'-');
            all.push((k - sign, end - k + sign));
            k = end;
        }
        k += 1;
    }
    all
}

#[test]
fn a_chain_of_a_thousand_statements_goes_through_and_a_longer_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let chain = |length: usize| {
        let links: String = (1..length).map(|k| format!("int t{k} = (t{} + {k}) ^ {k};\n", k - 1)).collect();
        let body = format!("int t0 = A[i];\n{links}A[i] = t{};\n", length - 1);
        kernel(dir.path(), "f.c", &REGION.replace("A[i] += 1;", &format!("{{\n{body}}}")))
    };
    // Each value is an operand of the next one, so recursion is as deep as the chain is long.
    assert!(stdout(&["sim", &chain(1000)]).contains("all 8 elements"));
    refused(&["sim", &chain(1200)], "more than 1200 statements");
}
