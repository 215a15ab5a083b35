//! The same job on every engine that is installed: same memories, same cycles, with ideal and with random memory. The
//! built-in engine runs the netlist, the others its text.

use crate::common::{root, sim};
use sagen::check::{Case, Conditions};
use sagen::cli::Engine;
use sagen::sim::{Outcome, Timing};
use sagen::{catalog, data};

/// Runs a program, given as its path and options, on an engine for each of some memories.
fn run(line: &str, engine: Engine, timings: &[Timing]) -> Result<Vec<Outcome>, String> {
    let (file, options) = line.split_once(' ').expect("a path and options");
    let arguments = sim(options, &root(file))?;
    let (scop, _) =
        frontend::parse(&arguments.program.files[0], &arguments.program.parse_options()).expect("a legal program");
    // Its ports share one slow memory; those of other boards are on several dies.
    let asked = options.contains("--board").then_some(arguments.program.board.as_str());
    let board = catalog::find(asked.unwrap_or("arty-a7-100"))?;
    let compiled = search::compile(&scop, &arguments.design.spec()?, &board).map_err(|f| format!("{f:?}"))?;
    let case = Case::new(&scop, &compiled, &data::random(&scop, 3))?;
    let conditions = |&timing| Conditions { engine, timing, shift: 1, ..Conditions::ideal(3) };
    timings.iter().map(|t| Ok(case.simulate(&conditions(t))?.outcome)).collect()
}

fn installed(tool: &str) -> bool {
    std::process::Command::new(tool).arg("--version").output().is_ok_and(|o| o.status.success())
        || std::process::Command::new(tool).arg("-V").output().is_ok_and(|o| o.status.success())
}

fn agree(engine: Engine, lines: &[&str]) {
    let timings = [Timing::Board, Timing::IDEAL, Timing::Ideal { latency: 200 }, Timing::Ddr { seed: 9 }];
    for line in lines {
        let (mine, theirs) = (run(line, Engine::Builtin, &timings).unwrap(), run(line, engine, &timings).unwrap());
        for ((mine, theirs), timing) in mine.iter().zip(&theirs).zip(timings) {
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
    // Narrow buses: Icarus takes seconds for a cycle's wide words.
    agree(
        Engine::Icarus,
        &[
            "examples/mm.c -D N=9 --space i,j --tile i=4,j=4,k=5",
            "examples/mm.c -D N=5 --space k --simd k=2",
            "examples/mm.c -D N=6 --space i,j --latency i=1 --cuts i=1,2,4",
            "examples/mm.c -D N=6 --space i,j --latency i=1 --cuts j=3",
            "examples/mm.c -D N=6 --space i,j --latency i=1 --cuts j=3 --board u250 --bank A=DDR[1],B=DDR[2],C=DDR[3]",
            "tests/run/cuts_away.c --space i --latency i=1 --cuts i=3 --board vu9p --bank A=DDR[3],C=DDR[0]",
            "tests/run/cuts_both_ways.c --space i --cuts i=2,4,12",
            "tests/run/cuts_both_ways.c -D PLANE --space i --latency i=1 --cuts i=1,3",
            "examples/fir.c --space n --tile n=8",
            "tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports A+scale,B+bias+C --word \
            A=8,scale=4,B=4,bias=2,C=1",
            "tests/run/shared_ports.c --space i,k --tile i=4,k=4 --ports shared --word A=16,scale=8,B=8,bias=4,C=2",
        ],
    );
}

#[test]
fn verilator_agrees_with_the_built_in_engine() {
    if !installed("verilator") {
        eprintln!("skipped: verilator is not installed");
        return;
    }
    agree(
        Engine::Verilator,
        &[
            "examples/mm.c -D N=9 --space i,k --tile i=4,k=4",
            "examples/mm.c -D N=6 --space i,j --latency i=1 --cuts i=2,3",
            "tests/run/cuts_away.c --space i --latency i=1 --cuts i=3 --ports A+C,B --board u250 --bank A=DDR[3],B=DDR[1]",
            "tests/run/cuts_both_ways.c -D PLANE --space i,j --cuts j=1,3",
            "tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports shared",
        ],
    );
}

/// A design is compiled once for all memories, and every design on its own.
#[test]
fn compiled_simulations_are_kept() {
    if !installed("iverilog") {
        eprintln!("skipped: iverilog is not installed");
        return;
    }
    let models = tempfile::tempdir().expect("a folder");
    let cycles = |options: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sagen"));
        command.arg("sim").arg(root("examples/mm.c")).args(options.split(' ')).args(["--json", "--engine", "icarus"]);
        let output = command.env("SAGEN_MODELS", models.path()).output().expect("sagen runs");
        assert!(output.status.success(), "{options}: {}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (report["cycles"].as_u64().expect("cycles"), std::fs::read_dir(models.path()).expect("a folder").count())
    };
    let [near, far, stalled, other] =
        ["-D N=2 --memory ideal", "-D N=2 --memory ideal:200", "-D N=2 --memory ddr", "-D N=3"].map(cycles);
    assert_eq!([near.1, far.1, stalled.1, other.1], [1, 1, 1, 2]);
    assert!(far.0 > near.0 + 180 && stalled.0 > near.0, "{near:?} {far:?} {stalled:?}");
}

/// The arrays' values must reach the simulation: a memory that hangs or stays as it was would agree with itself.
#[test]
fn ddr_memory_is_slower_than_ideal_memory() {
    let line = "examples/mm.c -D N=16 --space i,j --tile i=8,j=8";
    let outcomes =
        run(line, Engine::Builtin, &[Timing::IDEAL, Timing::Ddr { seed: 1 }, Timing::Ddr { seed: 2 }]).unwrap();
    let [ideal, slow, other] = outcomes.as_slice() else { panic!("three outcomes") };
    assert!(
        slow.cycles > ideal.cycles && slow.cycles != other.cycles,
        "{} {} {}",
        ideal.cycles,
        slow.cycles,
        other.cycles
    );
    assert_eq!((&slow.memories, &other.memories), (&ideal.memories, &ideal.memories));
}
