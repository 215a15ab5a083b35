//! LU decomposition without pivoting, as PolyBench writes it and with uniform dependences by hand: equal to C, in the
//! cycles predicted, and faster than AutoSA's arrays. By command at every size from 1 to 32.

use crate::common::{on_all_cores, root};
use serde_json::Value;
use std::process::Command;

/// Cycles that the paper on AutoSA gives, by N.
const AUTOSA: [(i64, i64); 4] = [(12, 855), (16, 1308), (20, 1920), (24, 2610)];

/// Cycles of an N × N decomposition in fp32, if it equals C and its prediction.
fn cycles(file: &str, n: i64) -> Result<i64, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    let output = command
        .args(["sim", "--objective", "cycles", "--memory", "ideal", "--json", "-D", &format!("N={n}")])
        .arg(root(file))
        .output()
        .expect("sagen runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let equal = report["match"] == Value::Bool(true) && report["cycles"] == report["predicted_cycles"];
    match report["cycles"].as_i64() {
        Some(cycles) if equal && output.status.success() => Ok(cycles),
        _ => Err(format!("N = {n}: {report}\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn faster_than_autosa(file: &str, mut sizes: Vec<i64>) {
    sizes.reverse();
    let all = on_all_cores(&sizes, |n| format!("{file}, N = {n}"), |&n| cycles(file, n));
    for (n, cycles) in sizes.into_iter().zip(all) {
        let cycles = cycles.unwrap_or_else(|fault| panic!("{file}: {fault}"));
        if let Some((_, theirs)) = AUTOSA.iter().find(|a| a.0 == n) {
            assert!(cycles < *theirs, "{file}, N = {n}: {cycles} cycles");
        }
    }
}

const PLAIN: &str = "examples/lu.c";
const UNIFORM: &str = "tests/run/lu_uniform.c";

#[test]
fn plain_form() {
    faster_than_autosa(PLAIN, vec![1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20, 24]);
}

#[test]
fn uniform_form() {
    faster_than_autosa(UNIFORM, vec![1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20, 24, 32]);
}

#[test]
#[ignore = "a minute; started by scripts/soak.sh"]
fn every_size() {
    [PLAIN, UNIFORM].iter().for_each(|file| faster_than_autosa(file, (1..=32).collect()));
}
