//! How long sagen takes and how good its arrays are: compile time, size of the text, cycles, simulation speed of the
//! built-in engine. `cargo bench --bench designs [NAME]`; the full-size product (1040 x 1024 x 1024) only by its name,
//! `full`.

use clap::Parser;
use sagen::check::{Case, Conditions};
use sagen::cli::{Cli, Command};
use sagen::report::{grouped, utilization};
use sagen::{catalog, data};
use std::time::Instant;

const FULL: &str =
    "#include <stdint.h>\nvoid mm(int16_t A[1040][1024], int16_t B[1024][1024], int32_t C[1040][1024]) {\n\
    #pragma scop\nfor (int i = 0; i < 1040; i++) for (int j = 0; j < 1024; j++) { C[i][j] = 0;\n\
    for (int k = 0; k < 1024; k++) C[i][j] += A[i][k] * B[k][j]; }\n#pragma endscop\n}\n";

const CASES: [(&str, &str); 6] = [
    ("mm", "examples/mm.c"),
    ("mm_int8", "examples/mm_int8.c"),
    ("mm_4x4", "examples/mm.c --space i,j --tile i=16,j=16,k=32 --latency i=4,j=4 --simd k=2"),
    ("cnn", "examples/cnn.c"),
    ("fir", "examples/fir.c"),
    ("full", "FULL --space i,j --tile i=208,j=128 --latency i=16,j=8 --simd k=8"),
];

fn measure(name: &str, line: &str) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let full = dir.path().join("mm.c");
    std::fs::write(&full, FULL).map_err(|e| e.to_string())?;
    let line = line.replace("FULL", &full.to_string_lossy());
    let words = ["sagen", "sim"].into_iter().chain(line.split_whitespace());
    let Command::Sim(arguments) = Cli::try_parse_from(words).map_err(|e| e.to_string())?.command else {
        return Err(line);
    };

    let begin = Instant::now();
    let (scop, _) = frontend::parse(&arguments.program.files[0], &arguments.program.parse_options())
        .map_err(|f| format!("{:?}", f.1))?;
    let compiled =
        search::compile(&scop, &arguments.design.spec()?, &catalog::find("u250")?).map_err(|f| format!("{f:?}"))?;
    let case = Case::new(&scop, &compiled, &data::random(&scop, 1))?;
    let lines: usize = case.verilog().iter().map(|f| f.1.lines().count()).sum();
    let build = begin.elapsed().as_secs_f64();
    let outcome = case.simulate(&Conditions::ideal(1))?.outcome;
    let vsa = &compiled.vsa;
    println!(
        "{name:<8} {:>9} {:>6} {build:>8.3} {lines:>7} {:>10} {:>6.1} {:>12}",
        format!("{}x{}", vsa.extent[0], vsa.extent[1]),
        vsa.lanes,
        grouped(outcome.cycles as i64),
        100.0 * utilization(&compiled, outcome.cycles as i64).unwrap_or_default(),
        grouped((outcome.simulated as f64 / outcome.seconds) as i64),
    );
    Ok(())
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!(
        "{:<8} {:>9} {:>6} {:>8} {:>7} {:>10} {:>6} {:>12}",
        "case", "PEs", "lanes", "build s", "lines", "cycles", "used %", "cycles/s"
    );
    for (name, line) in CASES {
        let named = wanted.iter().any(|w| w == name);
        if named || (wanted.is_empty() && name != "full") {
            if let Err(why) = measure(name, line) {
                println!("{name:<8} {why}");
            }
        }
    }
}
