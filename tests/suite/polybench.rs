//! PolyBench/C at tiny sizes through the command: what becomes an array must equal C in values and predicted cycles,
//! everything else must be refused with a place. `scripts/polybench.py` runs them all, at larger sizes.

use crate::common::{c_files, on_all_cores};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Kernels that become arrays; more may, none of these may be lost.
const MAPPED: [&str; 27] = [
    "2mm", "3mm", "atax", "bicg", "cholesky", "correlation", "covariance", "doitgen", "fdtd-2d", "floyd-warshall", "gemm", "gemver", "gesummv",
    "gramschmidt", "heat-3d", "jacobi-1d", "jacobi-2d", "lu", "ludcmp", "mvt", "nussinov", "seidel-2d", "symm", "syr2k", "syrk", "trisolv", "trmm",
];

/// Kernels for which the search for places takes longer than a test should: only their dataflow is looked at.
const SLOW: [&str; 1] = ["adi"];

/// All loops run at least four times, so that no dependence is uniform by accident, and extents differ.
const SIZES: [&str; 16] = [
    "N=7", "M=6", "NI=5", "NJ=6", "NK=7", "NL=8", "NM=5", "NQ=4", "NR=5", "NP=6", "W=6", "H=7", "NX=5", "NY=6", "TSTEPS=4",
    "TMAX=4",
];

const KERNELS: &str = "tests/polybench";

fn name(file: &Path) -> String {
    file.file_stem().expect("a name").to_string_lossy().into_owned()
}

fn sagen(words: [&str; 2], file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sagen"));
    command.args(words).arg(file);
    for size in SIZES {
        command.args(["-D", size]);
    }
    command.output().expect("sagen runs")
}

/// Why the run is neither a refusal with a place nor equal to C.
fn fault(file: &Path, may_refuse: bool) -> Option<String> {
    let output = sagen(["sim", "--json"], file);
    let errors = String::from_utf8_lossy(&output.stderr);
    let found = match output.status.code() {
        Some(0) => {
            let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            report["match"] == Value::Bool(true) && report["cycles"] == report["predicted_cycles"]
        }
        Some(1) if may_refuse => refusal_has_place(&errors, &name(file)),
        _ => false,
    };
    (!found).then(|| format!("{}: {}\n{}{errors}", name(file), output.status, String::from_utf8_lossy(&output.stdout)))
}

/// What is wrong with any of them.
fn faults(files: &[PathBuf], may_refuse: bool) -> Vec<String> {
    on_all_cores(files, |f| name(f), |f| fault(f, may_refuse)).into_iter().flatten().collect()
}

/// The first error names a code and a line of the file.
fn refusal_has_place(errors: &str, name: &str) -> bool {
    let place = format!("{name}.c:");
    let line = errors.split(&place).nth(1).and_then(|rest| rest.split(':').next());
    errors.starts_with("[E") && line.is_some_and(|l| l.parse::<usize>().is_ok())
}

#[test]
fn kernels_that_become_arrays_equal_c() {
    let files: Vec<_> = c_files(KERNELS).into_iter().filter(|f| MAPPED.contains(&name(f).as_str())).collect();
    assert_eq!(files.len(), MAPPED.len());
    let faults = faults(&files, false);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn all_others_equal_c_or_are_refused_with_a_place() {
    let all = c_files(KERNELS);
    assert_eq!(all.len(), 30, "PolyBench/C has 30 kernels");
    let others: Vec<_> = all.into_iter().filter(|f| !MAPPED.contains(&name(f).as_str()) && !SLOW.contains(&name(f).as_str())).collect();
    let faults = faults(&others, true);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn slow_ones_are_read() {
    for file in c_files(KERNELS).iter().filter(|f| SLOW.contains(&name(f).as_str())) {
        let output = sagen(["rtl", "--emit=scop"], file);
        assert!(output.status.success(), "{}: {}", name(file), String::from_utf8_lossy(&output.stderr));
    }
}
