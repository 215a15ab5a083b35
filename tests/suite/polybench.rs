//! PolyBench/C at tiny sizes through the command: all kernels equal C, in the predicted cycles. `scripts/polybench.py`
//! runs them at larger sizes.

use crate::common::{c_files, on_all_cores};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Kernels for which the search for places takes longer than a test should: only their dataflow is looked at.
const SLOW: [&str; 1] = ["adi"];

/// All loops run at least four times, so that no dependence is uniform by accident, and extents differ.
const SIZES: [&str; 16] = [
    "N=7", "M=6", "NI=5", "NJ=6", "NK=7", "NL=8", "NM=5", "NQ=4", "NR=5", "NP=6", "W=6", "H=7", "NX=5", "NY=6",
    "TSTEPS=4", "TMAX=4",
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

/// Why the run is not equal to C.
fn fault(file: &Path) -> Option<String> {
    let output = sagen(["sim", "--json"], file);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let equal = output.status.success()
        && report["match"] == Value::Bool(true)
        && report["cycles"] == report["predicted_cycles"];
    (!equal).then(|| {
        format!(
            "{}: {}\n{}{}",
            name(file),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

#[test]
fn kernels_equal_c() {
    let all = c_files(KERNELS);
    assert_eq!(all.len(), 30, "PolyBench/C has 30 kernels");
    let files: Vec<_> = all.into_iter().filter(|f| !SLOW.contains(&name(f).as_str())).collect();
    let faults: Vec<String> = on_all_cores(&files, |f| name(f), |f| fault(f)).into_iter().flatten().collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn slow_ones_are_read() {
    for file in c_files(KERNELS).iter().filter(|f| SLOW.contains(&name(f).as_str())) {
        let output = sagen(["rtl", "--emit=scop"], file);
        assert!(output.status.success(), "{}: {}", name(file), String::from_utf8_lossy(&output.stderr));
    }
}
