//! `--guard`: whatever lengths the host gives, nothing behind them is written, what is left out is reported, and the next
//! run is right.

use crate::common::{root, sim};
use sagen::data::{self, Random};
use sagen::program::{joined, Work};
use sagen::reporter::Silent;
use sagen::sim::{self, builtin::Machine, Built, Image, Job, Run, Timing};
use templates::interface::{Argument, Length, CTRL, STATUS_CAUSES, STATUS_OUTSIDE};

/// Cycles after which a run with wrong lengths must have ended.
const LIMIT: u64 = 20_000;

/// A length of some kind for an array of these bytes.
fn length(random: &mut Random, bytes: u64, bits: u32) -> u64 {
    let most = u64::MAX >> (64 - bits);
    match random.draw() % 6 {
        0 => 0,
        1 => bytes - 1,
        2 => bytes + random.draw() % 8,
        3 => most,
        4 => most - most / 2,
        _ => random.draw() % bytes,
    }
}

fn set(machine: &mut Machine, length: &Length, value: u64) {
    machine.write(length.offset, value & 0xffff_ffff).unwrap();
    if length.bits > 32 {
        machine.write(length.offset + 4, value >> 32).unwrap();
    }
}

/// Starts a run and waits for its end; the causes in the status, which is cleared.
fn finish(machine: &mut Machine, status: u32) -> u64 {
    machine.write(CTRL, 1).unwrap();
    let ended = (0..LIMIT / 4).any(|_| machine.read(CTRL).unwrap() & 4 != 0);
    assert!(ended, "a run with wrong lengths ends");
    let causes = machine.read(status).unwrap() & u64::from(STATUS_CAUSES);
    machine.write(status, STATUS_CAUSES.into()).unwrap();
    causes
}

/// Runs every function of a program with lengths of all kinds.
fn guarded(line: &str, random: &mut Random) {
    let (file, options) = line.split_once(' ').expect("a path and options");
    let arguments = sim(&format!("{options} --guard"), &root(file)).unwrap();
    let work = Work::load(&arguments.program, &arguments.design, &Silent).unwrap_or_else(|why| panic!("{line}: {why}"));
    let all = work.compile(&Silent).unwrap_or_else(|why| panic!("{line}: {why}"));
    let ip = joined(&work.name, work.queue, &all.iter().collect::<Vec<_>>(), &work.board).unwrap();
    let built = Built::new(&ip).unwrap();
    for trial in 0..12 {
        let f = trial % all.len();
        let (scop, compiled) = (&work.functions[f].0.scop, &all[f]);
        let sizes = scop.maxima();
        let compiled = if sizes.is_empty() { compiled.clone() } else { compiled.at(&sizes) };
        let scop = if sizes.is_empty() { scop.clone() } else { scop.at(&sizes) };
        let numbers = data::numbers(&scop, &compiled.vsa).unwrap();
        let contents: Vec<Vec<u8>> = data::of_vsa(&compiled.vsa, &numbers, &data::random(&scop, trial as u64))
            .iter()
            .zip(compiled.vsa.types())
            .map(|(values, ty)| data::pack(values, ty))
            .collect();
        let run = Run {
            function: f,
            images: sim::place(&compiled, &contents, trial % 3, 1, 0),
            sizes,
            memory: array::contract::dram::Memories::ideal(),
            cut: None,
        };
        one(line, &built, run, &compiled.vsa, random);
    }
}

/// One run with wrong lengths.
fn one(line: &str, built: &Built, run: Run, vsa: &array::vsa::Vsa, random: &mut Random) {
    let function = &built.interface.functions[run.function];
    let job = Job {
        built,
        runs: vec![run.clone()],
        way: sagen::sim::Way::Registers,
        timing: Timing::IDEAL,
        cycles: 0,
        watchdog: 0,
        vcd: None,
        reporter: &Silent,
    };
    let mut machine = Machine::start(&job).unwrap();
    for (offset, value) in job.settings(&run).unwrap() {
        machine.write(offset, value.into()).unwrap();
    }
    let image = |a: &Argument| -> &Image { &run.images[a.data(vsa.arrays.len())] };
    let mut lengths = vec![];
    for (argument, register) in function.lengths() {
        let bytes = image(argument).size as u64;
        let given = length(random, bytes, register.bits);
        set(&mut machine, register, given);
        lengths.push((argument, given.min(bytes)));
    }
    assert!(!lengths.is_empty(), "{line}: there are lengths");
    let causes = finish(&mut machine, built.interface.layout.status());
    let whole = lengths.iter().all(|(a, given)| *given == image(a).size as u64);
    let nothing = lengths.iter().any(|(_, given)| *given == 0);
    assert!(causes & !(1 << STATUS_OUTSIDE) == 0, "{line}: status {causes:x}");
    assert!(!whole || causes == 0, "{line}: nothing is left out");
    assert!(!nothing || causes != 0, "{line}: what is left out is reported");
    let faults = machine.take_faults();
    assert!(faults.is_empty(), "{line}: {faults:?}");
    let after = machine.finish(&job).unwrap().remove(0);
    for (argument, given) in lengths {
        let (image, k) = (image(argument), argument.data(vsa.arrays.len()));
        let from = image.offset + given as usize;
        assert!(after[k][from..] == image.bytes[from..], "{line}: {} behind {given} bytes", argument.name);
    }
}

#[test]
fn nothing_behind_a_length_is_written() {
    let mut random = Random(5);
    for line in [
        "examples/mm.c -D N=7 --space i,j --tile i=4,j=3",
        "examples/mm.c -D N=6 --word A=4,B=4,C=2 --address-bits 32",
        "tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --ports A+C,B+bias",
        "tests/run/shared_ports.c --space i,j --tile i=4,j=3,k=5 --order k,i,j --spill-beyond 1 --ports shared",
        "tests/sizes/mm.c --max m=7,n=6,k=5 --space i,j --tile i=4,j=2",
        "tests/sizes/shared_port.c --ports x1,u2,x0",
        "tests/functions/phases.c --on-chip 0",
        "tests/functions/la.c --seed 1",
        "tests/functions/la.c --seed 1 --merge",
        "tests/functions/sized.c --merge",
    ] {
        guarded(line, &mut random);
    }
}
