//! `sagen sim`: the golden model, the simulation, the comparison.

mod sequence;

use crate::check::{self, predicted_at, Case, Conditions, Run};
use crate::cli::{Engine, MemoryKind, Sim};
use crate::data::{self, DataFile, Memory};
use crate::golden::{self, Failure};
use crate::program::{self, exit, Input, Refused, Work};
use crate::progress;
use crate::report::{self, grouped};
use crate::sim::compare::{same, Comparison, Deviation};
use crate::sim::{Built, Outcome};
use array::ip::Ip;
use array::text::Stage;
use array::vsa::Vsa;
use scop::{Array, Scop};
use search::Compiled;
use sequence::{Played, Sequence};
use serde_json::{json, Value};
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;
use uniform::design::DesignSpec;

/// What a simulation found.
pub struct Verdict {
    pub result: Agreement,
    /// For standard output.
    pub text: String,
}

/// Who agrees with whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Simulation and golden model.
    Equal,
    /// They differ, and nothing speaks against the golden model.
    Different,
    /// They differ, and so do the C compiler's program and the interpreter of the region: one of those two is wrong,
    /// and which one cannot be said.
    NoJudge {
        /// Elements in which the two differ.
        elements: usize,
        /// The array computes what the interpreter does.
        array_as_interpreted: bool,
        /// The line of a shift whose amount may be beyond the width, which C leaves undefined.
        shift: Option<usize>,
    },
}

impl Agreement {
    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Agreement::Equal => 0,
            Agreement::Different => exit::DIFFERENT,
            Agreement::NoJudge { .. } => exit::NO_JUDGE,
        }
    }
    fn name(self) -> &'static str {
        match self {
            Agreement::Equal => "equal",
            Agreement::Different => "different",
            Agreement::NoJudge { .. } => "no judge",
        }
    }
}

/// The judge: what the arrays hold before and after.
pub struct Reference {
    /// It is a compiler's program, not the interpreter's result.
    pub native: bool,
    /// Who computed it, as `cc`.
    pub model: String,
    pub before: Memory,
    pub after: Memory,
}

/// The golden model's result: the C program's, or that of the stage's interpreter where the input is the text of a
/// stage.
///
/// # Errors
/// The C compiler refuses the program, files cannot be written, or the interpreter finds a fault.
pub fn judge(input: &Input, arguments: &crate::cli::Program, memory: Memory) -> Result<Reference, Refused> {
    let model = match &input.stage {
        None => return reference(input, arguments, memory),
        Some(Stage::Scop(_)) => "interpreter of the scop",
        Some(Stage::System(..) | Stage::Mapping(..)) => "interpreter of the recurrences",
        Some(Stage::Vsa(_)) => "interpreter of the array",
    };
    let after = by_stage(input, &memory).map_err(Refused::plain)?;
    Ok(Reference { native: false, model: model.into(), before: memory, after })
}

/// What the interpreter of the input's own stage computes.
///
/// # Errors
/// It finds a fault.
fn by_stage(input: &Input, memory: &Memory) -> Result<Memory, String> {
    match &input.stage {
        None => interpret(&input.scop, memory),
        Some(Stage::Scop(scop)) => interpret(scop, memory),
        Some(Stage::System(scop, system) | Stage::Mapping(scop, system, _)) => {
            let mut after = memory.clone();
            uniform::interp::run_system(scop, system, &mut after).map(|()| after)
        }
        Some(Stage::Vsa(vsa)) => execute(vsa, memory, &data::numbers(&input.scop, vsa)?),
    }
}

/// As [`judge`], but only what takes no substitute for the C compiler.
///
/// # Errors
/// The golden model cannot be run.
pub fn known(input: &Input, arguments: &crate::cli::Program, memory: &Memory) -> Result<Reference, String> {
    if input.stage.is_some() {
        return judge(input, arguments, memory.clone()).map_err(|refused| refused.text);
    }
    let run = golden::run(&input.scop, &input.file, &arguments.parse_options(), memory).map_err(|e| e.to_string())?;
    Ok(Reference { native: true, model: run.compiler, before: run.before, after: run.after })
}

/// The C program's result; by the interpreter where there is no compiler or the program dies.
///
/// # Errors
/// The C compiler refuses the program, or files cannot be written.
pub fn reference(input: &Input, arguments: &crate::cli::Program, memory: Memory) -> Result<Reference, Refused> {
    let scop = &input.scop;
    match golden::run(scop, &input.file, &arguments.parse_options(), &memory) {
        Ok(run) => Ok(Reference { native: true, model: run.compiler, before: run.before, after: run.after }),
        Err(why @ (Failure::NoCompiler | Failure::NoType(_) | Failure::Crashed(_))) => {
            program::notice(&format!("{why}; sagen's interpreter is the golden model"));
            let after = interpret(scop, &memory).map_err(Refused::internal)?;
            Ok(Reference { native: false, model: "interpreter".into(), before: memory, after })
        }
        Err(why) => Err(Refused::plain(why)),
    }
}

/// The scop, executed.
///
/// # Errors
/// An access outside of an array.
pub fn interpret(scop: &Scop, memory: &Memory) -> Result<Memory, String> {
    let mut machine = scop::interp::Memory::zeroed(scop);
    for (image, given) in machine.arrays.iter_mut().zip(memory).filter(|(_, given)| !given.is_empty()) {
        image.clone_from(given);
    }
    scop::interp::run(scop, &mut machine)?;
    let keep = |(after, given): (Vec<u64>, &Vec<u64>)| if given.is_empty() { vec![] } else { after };
    Ok(machine.arrays.into_iter().zip(memory).map(keep).collect())
}

/// What the array computes, whatever order it works in; per array of the VSA.
///
/// # Errors
/// Faults of the VSA.
pub fn execute(vsa: &Vsa, before: &Memory, numbers: &[Option<usize>]) -> Result<Vec<Vec<u64>>, String> {
    let mut memory = data::of_vsa(vsa, numbers, before);
    array::interp::run(vsa, &mut memory)?;
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
pub fn rounded(
    scop: &Scop,
    spec: &DesignSpec,
    vsa: &Vsa,
    before: &Memory,
    numbers: &[Option<usize>],
) -> Result<Option<Rounded>, String> {
    if spec.arithmetic.reassociate == Some(true) && vsa.arrays.iter().any(|a| a.ty.is_float()) {
        return Ok(Some(Rounded {
            expected: execute(vsa, before, numbers)?,
            model: "interpreter, in the array's order",
        }));
    }
    let program = spec.program(scop);
    if program.statements == scop.statements {
        return Ok(None);
    }
    let after = interpret(&program, before)?;
    Ok(Some(Rounded { expected: data::of_vsa(vsa, numbers, &after), model: "interpreter, with fused multiply-adds" }))
}

/// Runs the subcommand.
///
/// # Errors
/// The input is refused, or a tool is missing.
pub fn run(arguments: &Sim) -> Result<Verdict, Refused> {
    let work = Work::load(&arguments.program, &arguments.design)?;
    let data = shared_out(&work, &arguments.data)?;
    let mut all = vec![];
    let mut compiled = vec![];
    for (input, spec) in &work.functions {
        compiled.push(program::compile(input, spec, &work.board)?);
    }
    for given in
        arguments.sizes.iter().filter(|given| !work.functions.iter().any(|(input, _)| input.has_sizes(&given.0)))
    {
        let [(only, _)] = work.functions.as_slice() else {
            let sizes = |input: &Input| input.greatest().into_iter().map(|s| s.0).collect::<Vec<_>>().join(", ");
            let all: Vec<String> =
                work.functions.iter().map(|(input, _)| format!("{}({})", input.scop.name, sizes(input))).collect();
            let asked: Vec<&str> = given.0.iter().map(|g| g.0.as_str()).collect();
            return Err(Refused::plain(format!(
                "--size: no function has all the sizes {}; they are {}",
                asked.join(", "),
                all.join(", ")
            )));
        };
        only.sizes(&given.0)?;
    }
    for (number, (((input, spec), data), whole)) in work.functions.iter().zip(&data).zip(&compiled).enumerate() {
        for sizes in wanted(arguments, input, &work.functions)? {
            all.push(Prepared::new(arguments, (number, input.at(&sizes)), spec, whole.at(&sizes), data)?);
        }
    }
    progress::stage("building");
    let arrays: Vec<&Vsa> = compiled.iter().map(|c| &c.vsa).collect();
    let built = Rc::new(Built::new(&Ip::new(&work.name, work.queue, &arrays)).map_err(Refused::internal)?);
    let cases: Vec<Case> = all.iter().map(|p| p.case(&built)).collect::<Result<_, _>>()?;
    progress::stage("simulating");
    let in_turn: Vec<(&Case, Option<u64>)> = cases.iter().map(|case| (case, None)).collect();
    let runs = check::simulate(&in_turn, &Conditions::of(arguments)).map_err(Refused::plain)?;
    progress::done();
    let mut facts = vec![];
    for ((prepared, case), run) in all.iter().zip(&cases).zip(&runs) {
        let dir =
            arguments
                .out
                .as_ref()
                .map(|dir| if all.len() > 1 { dir.join(all[facts.len()].name()) } else { dir.clone() });
        facts.push(prepared.judged(arguments, case, run, dir.as_deref())?);
    }
    if facts.len() < all.len() {
        let hung = &all[facts.len() - 1].name();
        program::notice(&format!("{hung} did not finish, so the functions behind it were not run"));
    }
    // The first one that is not equal tells.
    let mut result = facts.iter().map(|f| f.result).find(|r| *r != Agreement::Equal).unwrap_or(Agreement::Equal);
    let sequence = match arguments.sequence {
        Some(count) if result == Agreement::Equal => Some(Sequence { arguments, all: &all, built: &built }.run(count)?),
        _ => None,
    };
    if sequence.as_ref().is_some_and(|s| !s.faults.is_empty()) {
        result = Agreement::Different;
    }
    let text = if arguments.json {
        json(&work.name, &facts, result, sequence.as_ref())
    } else {
        facts.iter().map(Facts::text).collect::<String>() + &sequence.map_or(String::new(), |s| s.text())
    };
    Ok(Verdict { result, text })
}

fn json(name: &str, facts: &[Facts], result: Agreement, sequence: Option<&Played>) -> String {
    let mut value = match facts {
        [only] => only.json(),
        several => {
            let functions: serde_json::Map<_, _> = several.iter().map(|f| (called(f.compiled), f.json())).collect();
            json!({ "kernel": name, "functions": functions })
        }
    };
    value["match"] = json!(result == Agreement::Equal);
    value["result"] = json!(result.name());
    if let Some(played) = sequence {
        value["sequence"] = played.json();
    }
    format!("{value:#}\n")
}

/// Contents of arrays by function; of several functions an array is called FUNCTION.ARRAY.
fn shared_out(work: &Work, files: &[DataFile]) -> Result<Vec<Vec<DataFile>>, Refused> {
    let mut all = vec![vec![]; work.functions.len()];
    if let [only] = &mut all[..] {
        *only = files.to_vec();
        return Ok(all);
    }
    for file in files {
        let names: Vec<_> = work.functions.iter().map(|f| f.0.scop.name.as_str()).collect();
        let place = file
            .array
            .split_once('.')
            .and_then(|(function, array)| Some((names.iter().position(|n| *n == function)?, array)));
        let Some((k, array)) = place else {
            return Err(Refused::plain(format!(
                "--data names '{}': with several functions write FUNCTION.ARRAY=FILE; functions: {}",
                file.array,
                names.join(", ")
            )));
        };
        all[k].push(DataFile { array: array.to_string(), path: file.path.clone() });
    }
    Ok(all)
}

/// The sizes at which a function is to run: those given that it has, if they are not just another's, or the greatest.
fn wanted(arguments: &Sim, input: &Input, functions: &[(Input, DesignSpec)]) -> Result<Vec<Vec<i64>>, Refused> {
    let all_of = |input: &Input, given: &[(String, i64)]| {
        input.has_sizes(given) && input.greatest().iter().all(|k| given.iter().any(|g| g.0 == k.0))
    };
    let meant = |given: &[(String, i64)]| {
        all_of(input, given) || input.has_sizes(given) && !functions.iter().any(|(other, _)| all_of(other, given))
    };
    let own = arguments.sizes.iter().filter(|given| !input.greatest().is_empty() && meant(&given.0));
    let own = own.map(|given| input.sizes(&given.0)).collect::<Result<Vec<_>, _>>()?;
    Ok(if own.is_empty() { vec![input.sizes(&[])?] } else { own })
}

/// A function at its sizes, such as `mm(17, 1, 1000)`.
fn called(compiled: &Compiled) -> String {
    match &compiled.whole {
        Some((_, sizes)) => {
            format!("{}({})", compiled.vsa.name, sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
        }
        None => compiled.vsa.name.clone(),
    }
}

/// A function, at certain sizes if it has some, with what it must compute.
pub(crate) struct Prepared<'a> {
    /// Its number in the IP.
    function: usize,
    pub input: Input,
    pub spec: &'a DesignSpec,
    pub compiled: Compiled,
    reference: Reference,
}

impl<'a> Prepared<'a> {
    fn new(
        arguments: &Sim,
        (function, input): (usize, Input),
        spec: &'a DesignSpec,
        compiled: Compiled,
        files: &[DataFile],
    ) -> Result<Prepared<'a>, Refused> {
        let scop = &input.scop;
        let mut memory = data::random(scop, arguments.seed);
        data::load(scop, files, &mut memory).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
        progress::stage("compiling and running the golden model");
        let reference = judge(&input, &arguments.program, memory)?;
        Ok(Prepared { function, input, spec, compiled, reference })
    }

    /// What it is called where each function and each choice of sizes is told apart.
    fn name(&self) -> String {
        called(&self.compiled)
    }

    fn case(&self, built: &Rc<Built>) -> Result<Case<'_>, Refused> {
        Case::of(built.clone(), self.function, (&self.input.scop, &self.compiled), &self.reference.before)
            .map_err(Refused::internal)
    }

    /// Compares a run; the arrays that it stored to go to `dir`.
    fn judged<'b>(
        &'b self,
        arguments: &'b Sim,
        case: &Case,
        run: &'b Run,
        dir: Option<&Path>,
    ) -> Result<Facts<'b>, Refused> {
        let Prepared { input, spec, compiled, reference, .. } = self;
        let scop = &input.scop;
        let native = case.of_vsa(&reference.after);
        let own = rounded(scop, spec, &compiled.vsa, &reference.before, &case.numbers).map_err(Refused::internal)?;
        let (expected, model) = match &own {
            Some(own) => (&own.expected, own.model),
            None => (&native, reference.model.as_str()),
        };
        let comparison = case.compare(run, expected);
        let deviation = own.as_ref().map(|_| case.deviation(run, &native));
        if let Some(dir) = dir {
            save(scop, case, run, dir).map_err(Refused::plain)?;
        }
        let result = match run.clean() && comparison.mismatches == 0 {
            true => Agreement::Equal,
            false if own.is_none() && reference.native => doubt(scop, case, run, reference)?,
            false => Agreement::Different,
        };
        Ok(Facts { arguments, compiled, outcome: &run.outcome, comparison, deviation, result, model })
    }
}

/// The simulation differs from the C compiler's program; whether the interpreter of the region does as well.
fn doubt(scop: &Scop, case: &Case, run: &Run, reference: &Reference) -> Result<Agreement, Refused> {
    progress::stage("asking the interpreter");
    let interpreted = interpret(scop, &reference.before).map_err(Refused::internal)?;
    let elements = differing(scop, &reference.after, &interpreted);
    progress::done();
    if elements == 0 {
        return Ok(Agreement::Different);
    }
    let array_as_interpreted = run.clean() && case.compare(run, &case.of_vsa(&interpreted)).mismatches == 0;
    let shift = data::first_shift(scop).map(|span| scop.sources.line_column(span).0);
    Ok(Agreement::NoJudge { elements, array_as_interpreted, shift })
}

/// Elements in which the C compiler's program and the interpreter of the region differ.
///
/// # Errors
/// An access outside of an array.
pub fn disagreement(scop: &Scop, before: &Memory, native: &Memory) -> Result<usize, String> {
    Ok(differing(scop, native, &interpret(scop, before)?))
}

fn differing(scop: &Scop, one: &Memory, other: &Memory) -> usize {
    let count = |((array, a), b): ((&Array, &Vec<u64>), &Vec<u64>)| {
        a.iter().zip(b).filter(|(&a, &b)| !same(a, b, array.ty)).count()
    };
    scop.arrays.iter().zip(one).zip(other).map(count).sum()
}

/// The arrays the design stores to, as files.
fn save(scop: &Scop, case: &Case, run: &Run, dir: &Path) -> Result<(), String> {
    let vsa = &case.compiled.vsa;
    let mut memory: Memory = vec![vec![]; scop.arrays.len()];
    let mut which = vec![];
    for (k, place) in case.numbers.iter().enumerate().filter_map(|(k, p)| Some((k, (*p)?))) {
        if vsa.outputs.iter().any(|g| g.array as usize == k) {
            let image = &run.images[k];
            memory[place] =
                data::unpack(&run.outcome.memories[k][image.offset..image.offset + image.size], vsa.arrays[k].ty);
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
    comparison: Comparison,
    /// From the C program's results, where the array rounds elsewhere.
    deviation: Option<Deviation>,
    result: Agreement,
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
    /// Cycles for the ideal memory that was simulated, else for the usual one.
    fn predicted(&self) -> i64 {
        match self.arguments.memory {
            MemoryKind::Ideal(latency) => predicted_at(self.compiled, latency) as i64,
            MemoryKind::Ddr => self.compiled.report.prediction.cycles,
        }
    }

    fn json(&self) -> Value {
        let (vsa, report, cycles) = (&self.compiled.vsa, &self.compiled.report, self.outcome.cycles);
        json!({
            "kernel": vsa.name,
            "sizes": self.compiled.whole.as_ref().map(|(whole, sizes)| whole.sizes.list.iter().map(|s| s.name.clone()).zip(sizes.iter().copied()).collect::<std::collections::BTreeMap<_, _>>()),
            "match": self.result == Agreement::Equal,
            "result": self.result.name(),
            "finished": self.outcome.finished,
            "elements": self.comparison.elements,
            "mismatches": self.comparison.mismatches,
            "examples": self.comparison.examples,
            "protocol_faults": self.outcome.faults,
            "cycles": cycles,
            "predicted_cycles": self.predicted(),
            "macs": report.work.map(|w| w.operations),
            "macs_per_cycle": report.work.map(|w| w.operations as f64 / cycles.max(1) as f64),
            "utilization": report::utilization(self.compiled, cycles as i64),
            "array": vsa.extent,
            "steps": vsa.waves(),
            "axes": vsa.axes,
            "simd": vsa.lanes,
            "engine": self.engine(),
            "memory": self.arguments.memory.to_string(),
            "seed": self.arguments.seed,
            "golden": self.model,
            "deviation_from_c": self.deviation.map(|d| json!({ "absolute": d.absolute, "relative": d.relative, "elements": d.elements })),
            "seconds": self.outcome.seconds,
        })
    }

    fn text(&self) -> String {
        let (vsa, report, cycles) = (&self.compiled.vsa, &self.compiled.report, self.outcome.cycles as i64);
        let mut text = format!("{}\n", report::headline(vsa));
        if let Some((whole, sizes)) = &self.compiled.whole {
            let all: Vec<_> = whole.sizes.list.iter().zip(sizes).map(|(s, v)| format!("{}={v}", s.name)).collect();
            let _ = writeln!(text, "  {:<12} {}", "sizes", all.join(" "));
        }
        let rows = [
            ("golden model", self.model.to_string()),
            ("simulated by", format!("{}, {} memory, {}", self.engine(), self.arguments.memory, self.speed())),
            (
                "cycles",
                format!("{} simulated, {} predicted for ideal memory", grouped(cycles), grouped(self.predicted())),
            ),
            (
                "operations",
                report.work.map_or("unknown".to_string(), |w| {
                    format!("{}, {:.2} per cycle", grouped(w.operations), w.operations as f64 / cycles.max(1) as f64)
                }),
            ),
            ("utilization", report::utilization_text(self.compiled, cycles)),
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
            let _ = writeln!(
                text,
                "  from C       {} elements deviate, at most by {:.3e}, relatively by {:.3e}",
                grouped(d.elements as i64),
                d.absolute,
                d.relative
            );
        }
        let differ = format!("{} of {} elements differ", grouped(self.comparison.mismatches as i64), grouped(count));
        let _ = match self.result {
            Agreement::Equal => {
                writeln!(text, "  equal        all {} elements and the memory around them", grouped(count))
            }
            Agreement::Different => writeln!(text, "  NOT EQUAL    {differ}"),
            Agreement::NoJudge { elements, array_as_interpreted, shift } => {
                let array = if array_as_interpreted {
                    "the array computes what the interpreter does"
                } else {
                    "the array agrees with neither"
                };
                let found = format!(
                    "{} and sagen's interpreter of the region differ in {} elements; {array}",
                    self.model,
                    grouped(elements as i64)
                );
                let why = match shift {
                    Some(line) => format!(
                        "line {line} shifts by what may be negative, or the width or more: C leaves that undefined; \
                        keep the amount within the width\n               (`& 31`), or give data that are, with --data"
                    ),
                    None => "either the compiler is wrong, or code outside of the region, or flags that only it \
                        sees,\n               change the result; try another compiler with CC=…"
                        .into(),
                };
                writeln!(text, "  NO JUDGE     {found}\n               {why}")
            }
        };
        text
    }

    fn speed(&self) -> String {
        let rate = self.outcome.simulated as f64 / self.outcome.seconds.max(1e-9);
        format!("{:.1} s ({} cycles/s)", self.outcome.seconds, grouped(rate as i64))
    }
}
