//! Runs every `tests/run/*.c` four ways and compares bit for bit: the C compiler's program, the interpreter of the
//! `Scop`, the interpreter of the virtual systolic array, and the netlist through its AXI ports. With ideal memory the
//! predicted cycles must be the simulated ones exactly.
//!
//! A line `// sagen: OPTIONS` in the file is one run with these options of `sagen sim`; a file without one runs with
//! none. `SAGEN_RUN=name` picks files whose name contains it.

use clap::Parser;
use sagen::cli::{Cli, Command, MemoryKind, Sim};
use sagen::sim::compare::compare;
use sagen::sim::{self, Job, Timing};
use sagen::{data, golden, simulate};
use std::path::{Path, PathBuf};

fn files(dir: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let entries = std::fs::read_dir(&root).unwrap_or_else(|e| panic!("{}: {e}", root.display()));
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    files.sort();
    let wanted = std::env::var("SAGEN_RUN").unwrap_or_default();
    files.retain(|f| f.file_stem().is_some_and(|s| s.to_string_lossy().contains(&wanted)));
    files
}

/// The runs a file asks for.
fn runs(file: &Path) -> Vec<Sim> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("// sagen:")).collect();
    if lines.is_empty() {
        lines.push("");
    }
    let parse = |line: &&str| {
        let words = ["sagen", "sim"].into_iter().chain(line.split_whitespace()).map(String::from);
        let arguments = words.chain([file.to_string_lossy().into_owned()]);
        match Cli::try_parse_from(arguments).unwrap_or_else(|e| panic!("{}: {e}", file.display())).command {
            Command::Sim(sim) => sim,
            other => panic!("{other:?}"),
        }
    };
    lines.iter().map(parse).collect()
}

/// One run; a description of what differs.
fn four_ways(arguments: &Sim, shift: usize) -> Result<(), String> {
    let options = arguments.program.parse_options();
    let (scop, _) = frontend::parse(&arguments.program.file, &options).map_err(|(_, f)| format!("{f:?}"))?;
    let board = sagen::boards::find(&arguments.program.board)?;
    let compiled = arch::compile(&scop, &arguments.design.spec()?, &board).map_err(|f| format!("{f:?}"))?;
    let vsa = &compiled.vsa;
    let places = data::places(&scop, vsa)?;

    let native = golden::run(&scop, &arguments.program.file, &options, &data::random(&scop, arguments.seed));
    let native = native.map_err(|f| f.to_string())?;
    let interpreted = simulate::interpret(&scop, &native.before)?;
    let from_c: Vec<Vec<u64>> = places.iter().map(|&p| native.after[p].clone()).collect();
    let from_scop: Vec<Vec<u64>> = places.iter().map(|&p| interpreted[p].clone()).collect();
    equal("the Scop interpreter", &from_scop, &from_c)?;
    let own = simulate::rounded(&scop, &arguments.design.spec()?, vsa, &native.before, &places)?;
    let expected = own.map_or(from_c, |own| own.expected);
    equal("the VSA interpreter", &simulate::execute(vsa, &native.before, &places)?, &expected)?;

    let design = templates::ip(vsa)?;
    let contents: Vec<_> = places.iter().zip(&vsa.arrays).map(|(&p, a)| data::pack(&native.before[p], a.ty)).collect();
    let images = sim::place(vsa, &contents, shift, arguments.seed);
    let timing = match arguments.memory {
        MemoryKind::Ideal => Timing::Ideal,
        MemoryKind::Ddr => Timing::Ddr { seed: arguments.seed },
    };
    let predicted = compiled.report.prediction.cycles as u64;
    let job = Job { design: &design, vsa, images, timing, watchdog: 20 * predicted + 100_000, vcd: None };
    let outcome = simulate::simulate(&job, arguments.engine)?;
    let comparison = compare(vsa, &job.images, &outcome, &expected);
    if !outcome.finished || !outcome.faults.is_empty() || comparison.mismatches != 0 {
        return Err(format!("RTL: finished {}, faults {:?}, {comparison:?}", outcome.finished, outcome.faults));
    }
    // The prediction is for arrays at multiples of 4096.
    if timing == Timing::Ideal && shift == 0 && outcome.cycles != predicted {
        return Err(format!("{predicted} cycles predicted, {} simulated", outcome.cycles));
    }
    Ok(())
}

fn equal(who: &str, found: &[Vec<u64>], expected: &[Vec<u64>]) -> Result<(), String> {
    let differing: usize = found.iter().zip(expected).map(|(f, e)| f.iter().zip(e).filter(|(a, b)| a != b).count()).sum();
    if differing == 0 { Ok(()) } else { Err(format!("{who} differs from C in {differing} elements")) }
}

fn all_agree(dir: &str, shift: usize) {
    let mut failures = vec![];
    let mut count = 0;
    for file in files(dir) {
        for arguments in runs(&file) {
            count += 1;
            if let Err(why) = four_ways(&arguments, shift) {
                let design = arguments.design.spec().unwrap_or_default();
                failures.push(format!("{} with {design:?}, {:?}: {why}", file.display(), arguments.program.defines));
            }
        }
    }
    assert!(count > 0 || std::env::var("SAGEN_RUN").is_ok(), "no file in {dir}");
    assert!(failures.is_empty(), "{} of {count} runs fail:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn programs_agree_four_ways() {
    all_agree("tests/run", 0);
}

#[test]
fn programs_agree_with_arrays_at_odd_addresses() {
    all_agree("tests/run", 3);
}

#[test]
fn examples_agree_four_ways() {
    all_agree("examples", 0);
}
