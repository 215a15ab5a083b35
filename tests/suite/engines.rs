//! The same job on every engine that is installed: same memories, same cycles, with ideal and with random memory. The
//! built-in engine runs the netlist, the others its text.

use clap::Parser;
use sagen::cli::{Cli, Command, Engine};
use sagen::sim::{self, Job, Outcome, Timing};
use sagen::{boards, data, simulate};
use std::path::Path;

/// Runs an example with some options on an engine.
fn run(line: &str, engine: Engine, timing: Timing) -> Result<Outcome, String> {
    let Command::Sim(arguments) = Cli::try_parse_from(line.split_whitespace()).unwrap().command else { panic!("{line}") };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(&arguments.program.file);
    let (scop, _) = frontend::parse(&file, &arguments.program.parse_options()).expect("a legal program");
    let board = boards::find("u250")?;
    let compiled = arch::compile(&scop, &arguments.design.spec()?, &board).map_err(|f| format!("{f:?}"))?;
    let vsa = &compiled.vsa;
    let memory = data::random(&scop, 3);
    let contents: Vec<_> = data::places(&scop, vsa)?.iter().zip(&vsa.arrays).map(|(&p, a)| data::pack(&memory[p], a.ty)).collect();
    let design = templates::ip(vsa)?;
    let job = Job { design: &design, vsa, images: sim::place(vsa, &contents, 1, 3), timing, watchdog: 100_000, vcd: None };
    simulate::simulate(&job, engine)
}

fn installed(tool: &str) -> bool {
    std::process::Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
        || std::process::Command::new(tool).arg("-V").output().is_ok_and(|o| o.status.success())
}

fn agree(engine: Engine, lines: &[&str]) {
    for line in lines {
        for timing in [Timing::Ideal, Timing::Ddr { seed: 9 }] {
            let mine = run(line, Engine::Builtin, timing).unwrap();
            let theirs = run(line, engine, timing).unwrap();
            assert!(mine.finished && theirs.finished, "{line}");
            assert_eq!((mine.faults.len(), &theirs.faults), (0, &vec![]), "{line}: {:?}", mine.faults);
            assert_eq!(mine.cycles, theirs.cycles, "{line} with {timing:?}");
            assert_eq!(mine.memories, theirs.memories, "{line} with {timing:?}");
        }
    }
}

#[test]
fn icarus_agrees_with_the_built_in_engine() {
    if !installed("iverilog") {
        eprintln!("skipped: iverilog is not installed");
        return;
    }
    agree(Engine::Icarus, &[
        "sagen sim examples/mm.c -D N=9 --space i,j --tile i=4,j=4,k=5",
        "sagen sim examples/mm.c -D N=5 --space k --simd k=2",
        "sagen sim examples/fir.c --space n --tile n=8",
        "sagen sim tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports A+scale,B+bias+C",
        "sagen sim tests/run/shared_ports.c --space i,k --tile i=4,k=4 --ports shared",
    ]);
}

#[test]
fn verilator_agrees_with_the_built_in_engine() {
    if !installed("verilator") {
        eprintln!("skipped: verilator is not installed");
        return;
    }
    agree(Engine::Verilator, &[
        "sagen sim examples/mm.c -D N=9 --space i,k --tile i=4,k=4",
        "sagen sim tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports shared",
    ]);
}

/// The arrays' values must reach the simulation: a memory that hangs or stays as it was would agree with itself.
#[test]
fn ddr_memory_is_slower_than_ideal_memory() {
    let line = "sagen sim examples/mm.c -D N=16 --space i,j --tile i=8,j=8";
    let ideal = run(line, Engine::Builtin, Timing::Ideal).unwrap();
    let slow = run(line, Engine::Builtin, Timing::Ddr { seed: 1 }).unwrap();
    let other = run(line, Engine::Builtin, Timing::Ddr { seed: 2 }).unwrap();
    assert!(slow.cycles > ideal.cycles && slow.cycles != other.cycles, "{} {} {}", ideal.cycles, slow.cycles, other.cycles);
    assert_eq!((&slow.memories, &other.memories), (&ideal.memories, &ideal.memories));
}
