//! One function of an IP under test: it is built, simulated through its AXI ports, and compared with the expected
//! results. `sagen sim`, the tests and the benches all use this module.

use crate::cli::{Engine, MemoryKind, Sim};
use crate::data::{self, Memory};
use crate::reporter::{Reporter, Silent};
use crate::sim::compare::{self, compare, Comparison, Deviation};
use crate::sim::{self, Built, Image, Job, Outcome, Timing};
use crate::waves::Waves;
use array::contract::dram::{Memories, MemoryTiming};
use array::ip::Ip;
use scop::Scop;
use search::Compiled;
use std::rc::Rc;

/// A function with the contents of its memory before a run.
pub struct Case<'a> {
    pub compiled: &'a Compiled,
    /// The place of each array of the VSA among the program's arrays; a scratch buffer has none.
    pub numbers: Vec<Option<usize>>,
    built: Rc<Built>,
    /// Its number in the IP.
    function: usize,
    /// The bytes of each array of the VSA before the run.
    contents: Vec<Vec<u8>>,
}

/// How a systolic array is run.
#[derive(Clone, Debug)]
pub struct Conditions {
    pub engine: Engine,
    pub timing: Timing,
    /// The arrays start this many elements behind a multiple of 4096 bytes.
    pub shift: usize,
    /// Seed of the bytes around the arrays.
    pub seed: u64,
    /// Waveform to write.
    pub vcd: Option<Waves>,
}

impl Conditions {
    /// The built-in engine with ideal memory.
    pub fn ideal(seed: u64) -> Conditions {
        Conditions { engine: Engine::Builtin, timing: Timing::IDEAL, shift: 0, seed, vcd: None }
    }
    /// The conditions of the arguments.
    pub fn of(arguments: &Sim) -> Conditions {
        let timing = match arguments.memory {
            MemoryKind::Board => Timing::Board,
            MemoryKind::Ideal(latency) => Timing::Ideal { latency },
            MemoryKind::Ddr => Timing::Ddr { seed: arguments.seed() },
        };
        Conditions { engine: arguments.engine, timing, shift: 0, seed: arguments.seed(), vcd: arguments.waves() }
    }
    /// The number of cycles that a run must take. Predictions hold for memories of known timing and arrays at multiples
    /// of 4096 bytes.
    pub fn predicted(&self, case: &Case) -> Option<u64> {
        match self.timing {
            _ if self.shift != 0 => None,
            Timing::Ideal { latency } => Some(case.predicted_at(latency)),
            Timing::Board => Some(predicted_on_board(case.compiled)),
            Timing::Ddr { .. } => None,
        }
    }
}

impl Conditions {
    /// The number of cycles that the last run of a batch takes, with those before that it overlaps: each a function, and
    /// whether it is independent.
    pub fn batch(&self, commands: &[(&Compiled, bool)]) -> Option<u64> {
        let memory = match self.timing {
            _ if self.shift != 0 => return None,
            Timing::Ideal { latency } => Some(MemoryTiming::both(latency.into())),
            Timing::Board => None,
            Timing::Ddr { .. } => return None,
        };
        let ran = search::predict_commands(commands, memory);
        let first = ran.iter().rev().find(|run| run.alone)?;
        Some((ran.last()?.done - first.start).max(0) as u64)
    }
}

/// Cycles with an ideal memory of this latency.
pub fn predicted_at(compiled: &Compiled, latency: u32) -> u64 {
    let own = MemoryTiming::both(latency.into());
    let cycles =
        if own == MemoryTiming::IDEAL { compiled.report.ideal } else { compiled.predict(&Memories::all(own)).cycles };
    cycles.max(0) as u64
}

/// Cycles with the board's memory.
pub fn predicted_on_board(compiled: &Compiled) -> u64 {
    compiled.on_board().max(0) as u64
}

/// A finished simulation of a run.
pub struct Run {
    /// The memory before the run.
    pub images: Vec<Image>,
    pub outcome: Outcome,
}

/// Runs the functions of one IP, one after the other. A reset cuts a run off after the given number of cycles, if there
/// is one, and the run begins anew. The result is shorter than `cases` if a run does not finish.
///
/// # Errors
/// The engine is missing or cannot run the design.
pub fn simulate(
    cases: &[(&Case, Option<sim::Cut>)],
    how: &Conditions,
    reporter: &dyn Reporter,
) -> Result<Vec<Run>, String> {
    work(cases, how, sim::Way::Registers, reporter)
}

/// The same, as commands of the IP's queue. The cycles of the last run alone are known.
///
/// # Errors
/// As for [`simulate`].
pub fn enqueue(cases: &[&Case], how: &Conditions, reporter: &dyn Reporter) -> Result<Vec<Run>, String> {
    work(&cases.iter().map(|case| (*case, None)).collect::<Vec<_>>(), how, sim::Way::Queue, reporter)
}

/// The same, in batches of as many commands as the queue holds. `independent`: of each, whether it may begin while those
/// before it are under way. A reset cuts a batch off that begins with such a run. The cycles of a batch are those of the runs
/// that overlap with its last one.
///
/// # Errors
/// As for [`simulate`].
pub fn overlap(
    cases: &[(&Case, Option<sim::Cut>)],
    independent: Vec<bool>,
    how: &Conditions,
    reporter: &dyn Reporter,
) -> Result<Vec<Run>, String> {
    work(cases, how, sim::Way::Batches(independent), reporter)
}

fn work(
    cases: &[(&Case, Option<sim::Cut>)],
    how: &Conditions,
    way: sim::Way,
    reporter: &dyn Reporter,
) -> Result<Vec<Run>, String> {
    let Some((first, _)) = cases.first() else { return Ok(vec![]) };
    let most = cases.iter().map(|(case, _)| how.predicted(case).unwrap_or(case.predicted())).max().unwrap_or(0);
    let run = |(number, (case, cut)): (usize, &(&Case, Option<sim::Cut>))| {
        let images = sim::place(case.compiled, &case.contents, how.shift, how.seed, number);
        let sizes = case.compiled.sizes().into_iter().map(|s| s.1).collect();
        let interface = &case.built.interface;
        let function = &interface.functions[case.function];
        let memory = sim::behind_ip(&case.built, function, &case.compiled.vsa, &case.compiled.report.board);
        sim::Run { function: case.function, images, sizes, cut: *cut, memory }
    };
    let runs = cases.iter().enumerate().map(run).collect();
    let cycles = cases.iter().map(|(case, _)| case.predicted()).sum();
    let job = Job {
        built: &first.built,
        runs,
        way,
        timing: how.timing,
        cycles,
        watchdog: 20 * most + 100_000,
        vcd: how.vcd.clone(),
        reporter,
    };
    let outcomes = sim::run(&job, how.engine)?;
    Ok(job.runs.into_iter().zip(outcomes).map(|(run, outcome)| Run { images: run.images, outcome }).collect())
}

impl<'a> Case<'a> {
    /// Builds an IP of this function alone.
    ///
    /// # Errors
    /// Faults of sagen's own.
    pub fn new(scop: &Scop, compiled: &'a Compiled, before: &Memory) -> Result<Case<'a>, String> {
        Case::of(Rc::new(Built::new(&Ip::from(&compiled.vsa))?), 0, (scop, compiled), before)
    }

    /// A function of an IP.
    ///
    /// # Errors
    /// Faults of sagen's own.
    pub fn of(
        built: Rc<Built>,
        function: usize,
        (scop, compiled): (&Scop, &'a Compiled),
        before: &Memory,
    ) -> Result<Case<'a>, String> {
        let vsa = &compiled.vsa;
        let numbers = data::numbers(scop, vsa)?;
        let contents = data::of_vsa(vsa, &numbers, before)
            .iter()
            .zip(vsa.types())
            .map(|(values, ty)| data::pack(values, ty))
            .collect();
        Ok(Case { compiled, numbers, built, function, contents })
    }

    /// The contents of the program's arrays, as elements for each array of the VSA.
    pub fn of_vsa(&self, memory: &Memory) -> Vec<Vec<u64>> {
        data::of_vsa(&self.compiled.vsa, &self.numbers, memory)
    }

    /// The emitted text, as (file name, contents).
    pub fn verilog(&self) -> Vec<(String, String)> {
        self.built.verilog()
    }

    /// Cycles with the memory that the array was chosen for.
    pub fn predicted(&self) -> u64 {
        self.compiled.report.prediction.cycles.max(0) as u64
    }

    /// Cycles with an ideal memory of this latency.
    pub fn predicted_at(&self, latency: u32) -> u64 {
        predicted_at(self.compiled, latency)
    }

    /// The first wrong value of a run, or violation of the protocol, whatever cycles it took.
    pub fn wrong(&self, run: &Run, how: &Conditions, expected: &[Vec<u64>]) -> Option<String> {
        let (outcome, comparison) = (&run.outcome, self.compare(run, expected));
        let wrong = !run.clean() || comparison.mismatches != 0;
        wrong.then(|| {
            format!("RTL, {how:?}: finished {}, faults {:?}, {comparison:?}", outcome.finished, outcome.faults)
        })
    }

    /// # Errors
    /// The engine is missing or cannot run the design.
    pub fn simulate(&self, how: &Conditions) -> Result<Run, String> {
        simulate(&[(self, None)], how, &Silent)?.pop().ok_or_else(|| "nothing was simulated".into())
    }

    /// Compares every element, and the bytes around the arrays, with `expected` (for each array of the VSA).
    pub fn compare(&self, run: &Run, expected: &[Vec<u64>]) -> Comparison {
        compare(&self.compiled.vsa, &run.images, &run.outcome, expected)
    }

    /// The distance of the run's floats from `native` (for each array of the VSA).
    pub fn deviation(&self, run: &Run, native: &[Vec<u64>]) -> Deviation {
        compare::deviation(&self.compiled.vsa, &run.images, &run.outcome, native)
    }

    /// Simulates, and checks values, bytes around the arrays, the AXI protocol, the end of the run, and the predicted
    /// cycles.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&self, how: &Conditions, expected: &[Vec<u64>]) -> Result<(), String> {
        self.fault(&self.simulate(how)?, how, expected).map_or(Ok(()), Err)
    }

    /// The first difference of a run.
    pub fn fault(&self, run: &Run, how: &Conditions, expected: &[Vec<u64>]) -> Option<String> {
        if let Some(wrong) = self.wrong(run, how, expected) {
            return Some(wrong);
        }
        let predicted = how.predicted(self).filter(|p| *p != run.outcome.cycles)?;
        Some(format!("{:?}: {predicted} cycles predicted, {} simulated", how.timing, run.outcome.cycles))
    }
}

impl Run {
    /// The run finished and did not violate the AXI protocol.
    pub fn clean(&self) -> bool {
        self.outcome.finished && self.outcome.faults.is_empty()
    }
}
