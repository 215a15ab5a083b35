//! `sagen sim`: the golden model, the simulation, the comparison.

use crate::check::{Case, Conditions, Run};
use crate::cli::{Engine, MemoryKind, Sim};
use crate::data::{self, Memory};
use crate::golden::{self, Failure};
use crate::program::{self, Refused};
use crate::report::{self, grouped};
use crate::sim::compare::{Comparison, Deviation};
use crate::sim::Outcome;
use arch::ir::design::DesignSpec;
use arch::ir::vsa::Vsa;
use arch::Compiled;
use frontend::scop::Scop;
use serde_json::json;
use std::fmt::Write as _;

/// What a simulation found.
pub struct Verdict {
    /// Simulation and golden model agree.
    pub equal: bool,
    /// For standard output.
    pub text: String,
}

/// The judge: what the arrays hold before and after.
pub struct Reference {
    /// Who computed it, as `cc`.
    pub model: String,
    pub before: Memory,
    pub after: Memory,
}

/// The C program's result; by the interpreter where there is no compiler or the program dies.
///
/// # Errors
/// The C compiler refuses the program, or files cannot be written.
pub fn reference(scop: &Scop, arguments: &crate::cli::Program, memory: Memory) -> Result<Reference, Refused> {
    match golden::run(scop, &arguments.file, &arguments.parse_options(), &memory) {
        Ok(run) => Ok(Reference { model: run.compiler, before: run.before, after: run.after }),
        Err(why @ (Failure::NoCompiler | Failure::NoType(_) | Failure::Crashed(_))) => {
            program::notice(&format!("{why}; sagen's interpreter is the golden model"));
            let after = interpret(scop, &memory).map_err(Refused::plain)?;
            Ok(Reference { model: "interpreter".into(), before: memory, after })
        }
        Err(why) => Err(Refused::plain(why)),
    }
}

/// The scop, executed.
///
/// # Errors
/// An access outside of an array.
pub fn interpret(scop: &Scop, memory: &Memory) -> Result<Memory, String> {
    let mut machine = frontend::interp::Memory::zeroed(scop);
    for (image, given) in machine.arrays.iter_mut().zip(memory).filter(|(_, given)| !given.is_empty()) {
        image.clone_from(given);
    }
    frontend::interp::run(scop, &mut machine)?;
    let keep = |(after, given): (Vec<u64>, &Vec<u64>)| if given.is_empty() { vec![] } else { after };
    Ok(machine.arrays.into_iter().zip(memory).map(keep).collect())
}

/// What the array computes, whatever order it works in; per array of the VSA.
///
/// # Errors
/// Faults of the VSA.
pub fn execute(vsa: &Vsa, before: &Memory, places: &[usize]) -> Result<Vec<Vec<u64>>, String> {
    let mut memory: Vec<Vec<u64>> = places.iter().map(|&p| before[p].clone()).collect();
    arch::interp::run(vsa, &mut memory)?;
    Ok(memory)
}

/// What the array is to compute where it may round elsewhere than C does, per array of the VSA.
pub struct Rounded {
    pub expected: Vec<Vec<u64>>,
    /// Who computed it.
    pub model: &'static str,
}

/// The golden model in place of the C program's, if the user allowed another order of operations or fused ones: no C
/// compiler can be trusted to choose the same.
///
/// # Errors
/// Faults of the VSA.
pub fn rounded(scop: &Scop, spec: &DesignSpec, vsa: &Vsa, before: &Memory, places: &[usize]) -> Result<Option<Rounded>, String> {
    if spec.arithmetic.reassociate == Some(true) && vsa.arrays.iter().any(|a| a.ty.is_float()) {
        return Ok(Some(Rounded { expected: execute(vsa, before, places)?, model: "interpreter, in the array's order" }));
    }
    let program = spec.program(scop);
    if program.statements == scop.statements {
        return Ok(None);
    }
    let after = interpret(&program, before)?;
    Ok(Some(Rounded { expected: places.iter().map(|&p| after[p].clone()).collect(), model: "interpreter, with fused multiply-adds" }))
}

/// Runs the subcommand.
///
/// # Errors
/// The input is refused, or a tool is missing.
pub fn run(arguments: &Sim) -> Result<Verdict, Refused> {
    let scop = program::load(&arguments.program)?;
    let (board, spec) = program::choices(&arguments.program, &arguments.design)?;
    let mut memory = data::random(&scop, arguments.seed);
    data::load(&scop, &arguments.data, &mut memory).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
    let compiled = program::compile(&scop, &spec, &board)?;
    program::progress("running the C program");
    let reference = reference(&scop, &arguments.program, memory)?;
    program::progress("building");
    let case = Case::new(&scop, &compiled, &reference.before).map_err(Refused::plain)?;
    let native = case.of_vsa(&reference.after);
    let own = rounded(&scop, &spec, &compiled.vsa, &reference.before, &case.places).map_err(Refused::plain)?;
    let (expected, model) = match &own {
        Some(own) => (&own.expected, own.model),
        None => (&native, reference.model.as_str()),
    };

    program::progress("simulating");
    let run = case.simulate(&Conditions::of(arguments)).map_err(Refused::plain)?;
    let comparison = case.compare(&run, expected);
    let deviation = own.as_ref().map(|_| case.deviation(&run, &native));
    program::done();
    if let Some(dir) = &arguments.out {
        save(&scop, &case, &run, dir).map_err(Refused::plain)?;
    }
    let equal = run.clean() && comparison.mismatches == 0;
    let facts = Facts { arguments, compiled: &compiled, outcome: &run.outcome, comparison: &comparison, deviation, equal, model };
    Ok(Verdict { equal, text: if arguments.json { facts.json() } else { facts.text() } })
}

/// The arrays the design stores to, as files.
fn save(scop: &Scop, case: &Case, run: &Run, dir: &std::path::Path) -> Result<(), String> {
    let vsa = &case.compiled.vsa;
    let mut memory: Memory = vec![vec![]; scop.arrays.len()];
    let mut which = vec![];
    for (k, &place) in case.places.iter().enumerate() {
        if vsa.outputs.iter().any(|g| g.array as usize == k) {
            let image = &run.images[k];
            memory[place] = data::unpack(&run.outcome.memories[k][image.offset..image.offset + image.size], vsa.arrays[k].ty);
            which.push(place);
        }
    }
    data::save(scop, &which, &memory, dir)
}

/// Everything the report needs.
struct Facts<'a> {
    arguments: &'a Sim,
    compiled: &'a Compiled,
    outcome: &'a Outcome,
    comparison: &'a Comparison,
    /// From the C program's results, where the array rounds elsewhere.
    deviation: Option<Deviation>,
    equal: bool,
    model: &'a str,
}

impl Facts<'_> {
    fn engine(&self) -> &'static str {
        match self.arguments.engine {
            Engine::Builtin => "builtin",
            Engine::Verilator => "verilator",
            Engine::Icarus => "icarus",
        }
    }
    fn memory(&self) -> &'static str {
        match self.arguments.memory {
            MemoryKind::Ideal => "ideal",
            MemoryKind::Ddr => "ddr",
        }
    }

    fn json(&self) -> String {
        let (vsa, report, cycles) = (&self.compiled.vsa, &self.compiled.report, self.outcome.cycles);
        let value = json!({
            "kernel": vsa.name,
            "match": self.equal,
            "finished": self.outcome.finished,
            "elements": self.comparison.elements,
            "mismatches": self.comparison.mismatches,
            "examples": self.comparison.examples,
            "protocol_faults": self.outcome.faults,
            "cycles": cycles,
            "predicted_cycles": report.prediction.cycles,
            "macs": report.work.operations,
            "macs_per_cycle": report.work.operations as f64 / cycles.max(1) as f64,
            "utilization": report::utilization(self.compiled, cycles as i64),
            "array": vsa.extent,
            "steps": vsa.visits() * vsa.waves_per_visit(),
            "axes": vsa.axes,
            "simd": vsa.lanes,
            "engine": self.engine(),
            "memory": self.memory(),
            "seed": self.arguments.seed,
            "golden": self.model,
            "deviation_from_c": self.deviation.map(|d| json!({ "absolute": d.absolute, "relative": d.relative, "elements": d.elements })),
            "seconds": self.outcome.seconds,
        });
        format!("{value:#}\n")
    }

    fn text(&self) -> String {
        let (vsa, report, cycles) = (&self.compiled.vsa, &self.compiled.report, self.outcome.cycles as i64);
        let mut text = format!("{}\n", report::headline(vsa));
        let rows = [
            ("golden model", self.model.to_string()),
            ("simulated by", format!("{}, {} memory, {}", self.engine(), self.memory(), self.speed())),
            ("cycles", format!("{} simulated, {} predicted for ideal memory", grouped(cycles), grouped(report.prediction.cycles))),
            ("operations", format!("{}, {:.2} per cycle", grouped(report.work.operations), report.work.operations as f64 / cycles.max(1) as f64)),
            ("utilization", format!("{:.1} % of {} lanes", 100.0 * report::utilization(self.compiled, cycles), grouped(report::peak(vsa)))),
        ];
        for (name, value) in rows {
            let _ = writeln!(text, "  {name:<12} {value}");
        }
        if !self.outcome.finished {
            text.push_str("  FAILED       the design did not finish in time\n");
        }
        for fault in self.outcome.faults.iter().take(10) {
            let _ = writeln!(text, "  FAULT        {fault}");
        }
        for example in &self.comparison.examples {
            let _ = writeln!(text, "  DIFFERENT    {example}");
        }
        let count = self.comparison.elements as i64;
        if let Some(d) = self.deviation {
            let _ = writeln!(text, "  from C       {} elements deviate, at most by {:.3e}, relatively by {:.3e}", grouped(d.elements as i64), d.absolute, d.relative);
        }
        let _ = match (self.equal, self.comparison.mismatches) {
            (true, _) => writeln!(text, "  equal        all {} elements and the memory around them", grouped(count)),
            (false, n) => writeln!(text, "  NOT EQUAL    {} of {} elements differ", grouped(n as i64), grouped(count)),
        };
        text
    }

    fn speed(&self) -> String {
        let rate = self.outcome.simulated as f64 / self.outcome.seconds.max(1e-9);
        format!("{:.1} s ({} cycles/s)", self.outcome.seconds, grouped(rate as i64))
    }
}
