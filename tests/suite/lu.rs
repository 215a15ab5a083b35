//! LU decomposition without pivoting at every size from 1 to 32, as PolyBench writes it and with uniform dependences by hand:
//! equal to C, in the cycles predicted, and faster than AutoSA's arrays.

use crate::common::{on_all_cores, root};
use serde_json::Value;
use std::process::Command;

/// Cycles that the paper on AutoSA gives, by N.
const AUTOSA: [(i64, i64); 4] = [(12, 855), (16, 1308), (20, 1920), (24, 2610)];

/// Cycles of an N × N decomposition in fp32, if it equals C and its prediction.
fn cycles(file: &str, n: i64) -> Result<i64, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    let output = command.args(["sim", "--json", "-D", &format!("N={n}")]).arg(root(file)).output().expect("sagen runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let equal = report["match"] == Value::Bool(true) && report["cycles"] == report["predicted_cycles"];
    match report["cycles"].as_i64() {
        Some(cycles) if equal && output.status.success() => Ok(cycles),
        _ => Err(format!("N = {n}: {report}\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn every_size(file: &str) {
    let sizes: Vec<i64> = (1..=32).rev().collect();
    let all = on_all_cores(&sizes, |n| format!("{file}, N = {n}"), |&n| cycles(file, n));
    for (n, cycles) in sizes.into_iter().zip(all) {
        let cycles = cycles.unwrap_or_else(|fault| panic!("{file}: {fault}"));
        if let Some((_, theirs)) = AUTOSA.iter().find(|a| a.0 == n) {
            assert!(cycles < *theirs, "{file}, N = {n}: {cycles} cycles");
        }
    }
}

#[test]
fn plain_form() {
    every_size("examples/lu.c");
}

#[test]
fn uniform_form() {
    every_size("tests/run/lu_uniform.c");
}
