//! Simulates an IP and compares every result with the golden model.
//!
//! Each function is a run; a function with sizes is a run for each choice of sizes. All runs go through one IP, one
//! after the other. `--sequence` then repeats them in random order ([`sequence`]).

pub mod sequence;

use crate::by_time::{self, Choice};
use crate::check::{self, Case, Conditions, Run};
use crate::cli::{Engine, MemoryKind, Sim};
use crate::data::{self, DataFile, Memory};
use crate::error::{exit, Error, Result};
use crate::input::Input;
use crate::kept::{self, State};
use crate::program::Work;
use crate::reference::{self, Reference};
use crate::reporter::{Progress, Reporter};
use crate::sim::compare::{Comparison, Deviation};
use crate::sim::{Built, Outcome};
use scop::Scop;
use search::Compiled;
use sequence::{Played, Sequence};
use std::path::Path;
use std::rc::Rc;
use uniform::aim::CountedMemory;
use uniform::design::DesignSpec;

/// The result of a simulation.
pub struct Verdict {
    /// The IP's name.
    pub kernel: String,
    /// The first result that is not equal, or equal.
    pub result: Agreement,
    /// The board's name.
    pub board: String,
    /// One for each function at each choice of its sizes, in the order of the runs.
    pub runs: Vec<Simulated>,
    /// The result of the random sequence, if one was asked for and all runs were equal.
    pub sequence: Option<Played>,
}

/// Who agrees with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The simulation and the golden model.
    Equal,
    /// The simulation and the golden model differ, and nothing speaks against the golden model.
    Different,
    /// They differ, and the C compiler's program and the interpreter of the region differ, too. One of these two is
    /// wrong, and nobody can say which one.
    NoJudge {
        /// The number of elements in which the two differ.
        elements: usize,
        /// The systolic array computes what the interpreter computes.
        array_as_interpreted: bool,
        /// The line of a shift whose amount may be beyond the width, which C leaves undefined.
        shift: Option<usize>,
    },
}

impl Agreement {
    /// The exit code of the command.
    pub fn code(self) -> u8 {
        match self {
            Agreement::Equal => 0,
            Agreement::Different => exit::DIFFERENT,
            Agreement::NoJudge { .. } => exit::NO_JUDGE,
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Agreement::Equal => "equal",
            Agreement::Different => "different",
            Agreement::NoJudge { .. } => "no judge",
        }
    }
}

/// A simulated function, at its sizes if it has some.
pub struct Simulated {
    pub compiled: Compiled,
    pub outcome: Outcome,
    /// The outcome against the golden model.
    pub comparison: Comparison,
    /// The distance from the C program's results, if the systolic array may round otherwise.
    pub deviation: Option<Deviation>,
    pub result: Agreement,
    /// Who computed the expected results, such as `cc`.
    pub model: String,
    /// The inputs are those of the program's own `main`.
    pub from_main: bool,
}

impl Simulated {
    /// The function at its sizes, such as `mm(17, 1, 1000)`.
    pub fn name(&self) -> String {
        called(&self.compiled)
    }
}

/// See [`crate::simulate()`].
pub(crate) fn run(arguments: &Sim, reporter: &dyn Reporter) -> Result<Verdict> {
    let ideal = matches!(arguments.memory, MemoryKind::Ideal(_)).then_some(CountedMemory::Ideal);
    let work = Work::load(&arguments.program, &arguments.design, reporter)?.counting(ideal);
    let names: Vec<&str> = work.functions.iter().map(|f| f.0.scop.name.as_str()).collect();
    let data = data::shared_out(&names, &arguments.data)?;
    let Choice { compiled, built, .. } = by_time::choose(&work, reporter)?;
    sizes_are_known(arguments, &work)?;
    if arguments.engine != Engine::Builtin && (arguments.vcd_cycles.is_some() || !arguments.vcd_pes.is_empty()) {
        return Err(Error::usage("--vcd-cycles and --vcd-pe choose from the waveform of the built-in engine only"));
    }
    let (mut all, mut state) = (vec![], State::default());
    for (number, (((input, spec), data), whole)) in work.functions.iter().zip(&data).zip(&compiled).enumerate() {
        for sizes in wanted(arguments, input, &work.functions)? {
            let function = (number, input.at(&sizes));
            all.push(Prepared::new(arguments, function, spec, whole.at(&sizes), (data, &mut state), reporter)?);
        }
    }
    let built = Rc::new(built);
    let verdict = judged(arguments, work.name.clone(), all, &built, reporter)?;
    Ok(Verdict { board: work.board.name, ..verdict })
}

/// Runs all functions, and the sequence if they are equal.
fn judged(
    arguments: &Sim,
    kernel: String,
    all: Vec<Prepared>,
    built: &Rc<Built>,
    reporter: &dyn Reporter,
) -> Result<Verdict> {
    let cases: Vec<Case> = all.iter().map(|p| p.case(built)).collect::<Result<_>>()?;
    reporter.progress(Progress::Stage("simulating"));
    let in_turn: Vec<(&Case, Option<crate::sim::Cut>)> = cases.iter().map(|case| (case, None)).collect();
    let runs = check::simulate(&in_turn, &Conditions::of(arguments), reporter).map_err(Error::reason)?;
    reporter.progress(Progress::Done);
    let mut judgements = vec![];
    for ((prepared, case), run) in all.iter().zip(&cases).zip(&runs) {
        let dir = arguments.out.as_ref().map(|dir| if all.len() > 1 { dir.join(prepared.name()) } else { dir.clone() });
        judgements.push(prepared.judgement(case, run, dir.as_deref(), reporter)?);
    }
    if runs.len() < all.len() {
        let hung = all[runs.len() - 1].name();
        reporter.note(&format!("{hung} did not finish, so the functions behind it were not run"));
    }
    let mut result = judgements.iter().map(|j| j.result).find(|r| *r != Agreement::Equal).unwrap_or(Agreement::Equal);
    let sequence = match arguments.sequence {
        Some(count) if result == Agreement::Equal => {
            Some(Sequence { arguments, all: &all, built, reporter }.run(count)?)
        }
        _ => None,
    };
    if sequence.as_ref().is_some_and(|s| !s.faults.is_empty()) {
        result = Agreement::Different;
    }
    drop(cases);
    let runs = all.into_iter().zip(runs).zip(judgements).map(|((prepared, run), judgement)| {
        let Judgement { comparison, deviation, result, model } = judgement;
        let from_main = prepared.reference.from_main;
        Simulated { compiled: prepared.compiled, outcome: run.outcome, comparison, deviation, result, model, from_main }
    });
    Ok(Verdict { kernel, result, board: String::new(), runs: runs.collect(), sequence })
}

/// Checks that each set of sizes belongs to a function.
fn sizes_are_known(arguments: &Sim, work: &Work) -> Result<()> {
    let known = |given: &[(String, i64)]| work.functions.iter().any(|(input, _)| input.has_sizes(given));
    let Some(given) = arguments.sizes.iter().find(|given| !known(&given.0)) else { return Ok(()) };
    if let [(only, _)] = work.functions.as_slice() {
        return only.sizes(&given.0).map(drop);
    }
    let sizes = |input: &Input| input.greatest().into_iter().map(|s| s.0).collect::<Vec<_>>().join(", ");
    let all: Vec<String> =
        work.functions.iter().map(|(input, _)| format!("{}({})", input.scop.name, sizes(input))).collect();
    let asked: Vec<&str> = given.0.iter().map(|g| g.0.as_str()).collect();
    Err(Error::usage(format!(
        "--size: no function has all the sizes {}; they are {}",
        asked.join(", "),
        all.join(", ")
    )))
}

/// The choices of sizes for a function's runs: the given ones that it has, unless they are meant for another function;
/// without any, the greatest sizes.
fn wanted(arguments: &Sim, input: &Input, functions: &[(Input, DesignSpec)]) -> Result<Vec<Vec<i64>>> {
    let all_of = |input: &Input, given: &[(String, i64)]| {
        input.has_sizes(given) && input.greatest().iter().all(|k| given.iter().any(|g| g.0 == k.0))
    };
    let meant = |given: &[(String, i64)]| {
        all_of(input, given) || input.has_sizes(given) && !functions.iter().any(|(other, _)| all_of(other, given))
    };
    let own = arguments.sizes.iter().filter(|given| !input.greatest().is_empty() && meant(&given.0));
    let own = own.map(|given| input.sizes(&given.0)).collect::<Result<Vec<_>>>()?;
    Ok(if own.is_empty() { vec![input.sizes(&[])?] } else { own })
}

/// A function at its sizes, such as `mm(17, 1, 1000)`.
fn called(compiled: &Compiled) -> String {
    let sizes: Vec<String> = compiled.sizes().iter().map(|s| s.1.to_string()).collect();
    match &compiled.whole {
        Some(_) if !sizes.is_empty() => format!("{}({})", compiled.vsa.name, sizes.join(", ")),
        _ => compiled.vsa.name.clone(),
    }
}

/// A function at its sizes, with its expected results.
pub(crate) struct Prepared<'a> {
    /// The number in the IP.
    function: usize,
    input: Input,
    spec: &'a DesignSpec,
    compiled: Compiled,
    reference: Reference,
}

/// The comparison of one run.
struct Judgement {
    comparison: Comparison,
    deviation: Option<Deviation>,
    result: Agreement,
    model: String,
}

impl<'a> Prepared<'a> {
    fn new(
        arguments: &Sim,
        (function, input): (usize, Input),
        spec: &'a DesignSpec,
        compiled: Compiled,
        (files, state): (&[DataFile], &mut State),
        reporter: &dyn Reporter,
    ) -> Result<Prepared<'a>> {
        let scop = &input.scop;
        data::fit(scop)?;
        let mut memory = data::random(scop, arguments.seed());
        data::load(scop, files, &mut memory).map_err(|faults| Error::diagnostics(faults, &scop.sources))?;
        state.give(scop, &mut memory);
        reporter.progress(Progress::Stage("compiling and running the golden model"));
        let how = arguments.c_program.how(compiled.report.work.map(|w| w.operations));
        let inputs = kept::inputs(scop, arguments.inputs());
        let reference = reference::of_input(&input, &how, (memory, inputs), reporter)?;
        if kept::any(scop) {
            let (vsa, before) = (&compiled.vsa, &reference.before);
            state.check(scop, before)?;
            let numbers = data::numbers(scop, vsa).map_err(Error::internal)?;
            let own = reference::rounded(scop, spec, vsa, before, &numbers).map_err(Error::internal)?;
            state.take(vsa, &own.map_or_else(|| data::of_vsa(vsa, &numbers, &reference.after), |own| own.expected));
        }
        Ok(Prepared { function, input, spec, compiled, reference })
    }

    fn name(&self) -> String {
        called(&self.compiled)
    }

    fn case(&self, built: &Rc<Built>) -> Result<Case<'_>> {
        Case::of(built.clone(), self.function, (&self.input.scop, &self.compiled), &self.reference.before)
            .map_err(Error::internal)
    }

    /// Compares a run, and saves the arrays that it stored to into `dir`.
    fn judgement(&self, case: &Case, run: &Run, dir: Option<&Path>, reporter: &dyn Reporter) -> Result<Judgement> {
        let Prepared { input, spec, compiled, reference, .. } = self;
        let scop = &input.scop;
        let native = case.of_vsa(&reference.after);
        let own =
            reference::rounded(scop, spec, &compiled.vsa, &reference.before, &case.numbers).map_err(Error::internal)?;
        let (expected, model) = match &own {
            Some(own) => (&own.expected, own.model),
            None => (&native, reference.model.as_str()),
        };
        let comparison = case.compare(run, expected);
        let deviation = own.as_ref().map(|_| case.deviation(run, &native));
        if let Some(dir) = dir {
            save(scop, case, run, dir).map_err(Error::reason)?;
        }
        let result = match run.clean() && comparison.mismatches == 0 {
            true => Agreement::Equal,
            false if own.is_none() && reference.native => doubt(scop, case, run, reference, reporter)?,
            false => Agreement::Different,
        };
        Ok(Judgement { comparison, deviation, result, model: model.to_string() })
    }
}

/// The simulation differs from the C compiler's program. Finds out whether the interpreter of the region differs, too.
fn doubt(scop: &Scop, case: &Case, run: &Run, reference: &Reference, reporter: &dyn Reporter) -> Result<Agreement> {
    reporter.progress(Progress::Stage("asking the interpreter"));
    let interpreted = reference::interpret(scop, &reference.before).map_err(Error::internal)?;
    let elements = reference::differing(scop, &reference.after, &interpreted);
    reporter.progress(Progress::Done);
    if elements == 0 {
        return Ok(Agreement::Different);
    }
    let array_as_interpreted = run.clean() && case.compare(run, &case.of_vsa(&interpreted)).mismatches == 0;
    let shift = data::first_shift(scop).map(|span| scop.sources.line_column(span).0);
    Ok(Agreement::NoJudge { elements, array_as_interpreted, shift })
}

/// Saves the arrays that the design stores to.
fn save(scop: &Scop, case: &Case, run: &Run, dir: &Path) -> std::result::Result<(), String> {
    let vsa = &case.compiled.vsa;
    let mut memory: Memory = vec![vec![]; scop.arrays.len()];
    let mut which = vec![];
    for (k, place) in case.numbers.iter().enumerate().filter_map(|(k, p)| Some((k, (*p)?))) {
        // A kept array may not have been seen.
        let seen = !run.outcome.memories[k].is_empty();
        if seen && vsa.outputs.iter().any(|g| g.array as usize == k) {
            let image = &run.images[k];
            memory[place] =
                data::unpack(&run.outcome.memories[k][image.offset..image.offset + image.size], vsa.arrays[k].ty);
            which.push(place);
        }
    }
    data::save(scop, &which, &memory, dir)
}
