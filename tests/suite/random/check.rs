//! One case: compiled, interpreted, simulated, compared.

use crate::common::{caught, differing, sim};
use array::ip::Ip;
use sagen::check::{self, Conditions};
use sagen::cli::{Engine, Sim};
use sagen::data::{self, Memory, Random};
use sagen::sim::Built;
use sagen::{golden, reference};
use scop::diag::Diagnostic;
use scop::{Scop, Storage};
use std::path::Path;
use std::rc::Rc;
use uniform::design::{ArrayChoice, DesignSpec};

/// Operations in all PEs of an array that runs on another engine.
const MOST_OPERATIONS: i64 = 4000;

/// What is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number.
    pub seed: u64,
    /// The C file.
    pub text: String,
    /// Options of `sagen sim`.
    pub options: String,
    /// Take the array of this row of `sagen map`, counted modulo their number.
    pub row: Option<usize>,
    /// Elements by which arrays miss the multiples of 4096.
    pub shift: usize,
    /// The C compiler's program is run as well.
    pub native: bool,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let row = self.row.map_or(String::new(), |row| format!(", row {row} modulo the rows of `sagen map`"));
        write!(f, "// sagen: {}\n// arrays shifted by {}{row}\n{}", self.options, self.shift, self.text)
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Verdict {
    Equal,
    /// The diagnostics' codes and messages.
    Refused(String),
    /// Wrong results, wrong prediction, an illegal array or a panic.
    Wrong(String),
}

/// Runs a case; panics count as wrong.
pub fn run(case: &Case) -> Verdict {
    caught(|| judge(case)).unwrap_or_else(Verdict::Wrong)
}

/// `--ports` for the arrays by the case's number: one each, one for all, or any.
fn ports(scop: &Scop, seed: u64) -> String {
    let mut random = Random(seed ^ 0x706f_7274);
    match random.below(4) {
        0 | 1 => String::new(),
        2 => " --ports shared".into(),
        _ => {
            let mut groups = vec![vec![]; 3];
            for array in scop.arrays.iter().filter(|a| a.storage == Storage::Dram) {
                groups[random.below(3) as usize].push(array.name.as_str());
            }
            groups.retain(|g| !g.is_empty());
            let groups: Vec<String> = groups.iter().map(|g| g.join("+")).collect();
            if groups.is_empty() {
                String::new()
            } else {
                format!(" --ports {}", groups.join(","))
            }
        }
    }
}

/// A refusal; one of sagen's own checks is a fault.
fn refused(faults: &[Diagnostic]) -> Result<Verdict, String> {
    let text = faults.iter().map(|f| format!("{} {}: {}", f.code, f.message, f.label)).collect::<Vec<_>>().join("; ");
    if faults.iter().any(|f| f.code == "E0799") {
        Err(text)
    } else {
        Ok(Verdict::Refused(text))
    }
}

/// The interpreter of the program against the C compiler.
fn same_as_c(case: &Case, scop: &Scop, given: &Memory) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("case.c");
    std::fs::write(&file, &case.text).map_err(|e| e.to_string())?;
    let native = golden::run(scop, &file, &Default::default(), given).map_err(|f| f.to_string())?;
    let types: Vec<_> = scop.arrays.iter().map(|a| a.ty).collect();
    match differing(&types, &reference::interpret(scop, &native.before)?, &native.after) {
        0 => Ok(()),
        count => Err(format!("the interpreter of the program differs from C in {count} elements")),
    }
}

/// A case with its array.
struct Prepared {
    scop: Scop,
    compiled: search::Compiled,
    spec: DesignSpec,
    arguments: Sim,
    options: String,
}

impl Prepared {
    fn about(&self, why: String) -> String {
        let vsa = &self.compiled.vsa;
        format!("{why}\n// sagen: {}\narray {:?} {:?}", self.options, vsa.axes, vsa.extent)
    }
    /// Large arrays take the built-in engine: others take a second a cycle, or minutes to compile.
    fn conditions(&self, case: &Case) -> Conditions {
        let asked = Conditions::of(&self.arguments);
        let vsa = &self.compiled.vsa;
        let operations = vsa.nodes.len() as i64 * vsa.extent.iter().product::<i64>();
        Conditions {
            shift: case.shift,
            engine: if operations > MOST_OPERATIONS { Engine::Builtin } else { asked.engine },
            ..asked
        }
    }
}

/// Compiled; the inner fault is a refusal.
fn prepare(case: &Case) -> Result<Result<Prepared, Verdict>, String> {
    let refused = |faults: &[Diagnostic]| refused(faults).map(Err);
    let (scop, _) = match frontend::parse_text("case.c", &case.text, &Default::default()) {
        Ok(parsed) => parsed,
        Err((_, faults)) => return refused(&faults),
    };
    let board = sagen::catalog::find("u250")?;
    let mut options = case.options.clone() + &ports(&scop, case.seed);
    let spec = sim(&options, Path::new("case.c"))?.design.spec()?;
    let program = match search::program(&scop, &spec) {
        Ok(program) => program,
        Err(faults) => return refused(&faults),
    };
    if let Some(row) = case.row {
        let any = DesignSpec { array: ArrayChoice::Automatic, ..spec };
        match search::candidates::list(&program, &any) {
            Ok(rows) if rows.is_empty() => return Ok(Err(Verdict::Refused("no legal array".into()))),
            Ok(rows) => options += &format!(" --row {}", row % rows.len()),
            Err(faults) => return refused(&faults),
        }
    }
    let arguments = sim(&options, Path::new("case.c"))?;
    let spec = arguments.design.spec()?;
    let compiled = match search::compile_program(&program, &scop, &spec, &board) {
        Ok(compiled) => compiled,
        Err(faults) => return refused(&faults),
    };
    let prepared = Prepared { scop, compiled, spec, arguments, options };
    match prepared.compiled.vsa.verify() {
        Ok(()) => Ok(Ok(prepared)),
        Err(faults) => Err(prepared.about(format!("the VSA does not verify: {}", faults.join("; ")))),
    }
}

fn judge(case: &Case) -> Result<Verdict, String> {
    let prepared = match prepare(case)? {
        Ok(prepared) if prepared.scop.open_sizes() > 0 => return at_sizes(case, &prepared),
        Ok(prepared) => prepared,
        Err(verdict) => return Ok(verdict),
    };
    let Prepared { scop, compiled, spec, arguments, .. } = &prepared;
    let (vsa, about) = (&compiled.vsa, |why| prepared.about(why));
    let before = data::random(scop, arguments.seed());
    let after = reference::interpret(scop, &before)?;
    if case.native {
        same_as_c(case, scop, &before)?;
    }
    let built = sagen::check::Case::new(scop, compiled, &before).map_err(about)?;
    for (p, array) in scop.arrays.iter().enumerate().filter(|(p, _)| !built.numbers.contains(&Some(*p))) {
        if before[p] != after[p] {
            return Err(about(format!("the program writes {}, which is no array of the VSA", array.name)));
        }
    }
    let own = reference::rounded(scop, spec, vsa, &before, &built.numbers)?;
    let expected = own.map_or_else(|| built.of_vsa(&after), |own| own.expected);
    let types: Vec<_> = vsa.arrays.iter().filter(|a| !a.home.is_temporary()).map(|a| a.ty).collect();
    let wrong = differing(&types, &reference::execute(vsa, &before, &built.numbers)?, &expected);
    let simulated = built.check(&prepared.conditions(case), &expected);
    match (wrong, simulated) {
        (0, Ok(())) => Ok(Verdict::Equal),
        (0, Err(why)) => Err(about(why)),
        (count, simulated) => {
            Err(about(format!("the VSA interpreter differs in {count} elements; RTL: {simulated:?}")))
        }
    }
}

/// One IP at several sizes, one run after the other without a reset between them: the greatest sizes, all ones, and
/// others. Each must be what the interpreters of the program and of the array at these sizes compute.
fn at_sizes(case: &Case, prepared: &Prepared) -> Result<Verdict, String> {
    let Prepared { scop, compiled, spec, .. } = prepared;
    let mut random = Random(case.seed ^ 0x7369_7a65);
    let maxima = scop.maxima();
    let mut sizes = vec![maxima.clone(), vec![1; maxima.len()]];
    sizes.extend((0..4).map(|_| maxima.iter().map(|&max| 1 + random.below(max as u64) as i64).collect()));
    (1..sizes.len()).rev().for_each(|k| sizes.swap(k, random.below(k as u64 + 1) as usize));
    let runs: Vec<(Scop, search::Compiled)> = sizes.iter().map(|s| (scop.at(s), compiled.at(s))).collect();
    let built = Rc::new(Built::new(&Ip::from(&compiled.vsa)).map_err(|why| prepared.about(why))?);
    let (mut cases, mut expected) = (vec![], vec![]);
    for ((scop, compiled), sizes) in runs.iter().zip(&sizes) {
        let about = |why: String| prepared.about(format!("at {sizes:?}: {why}"));
        compiled.vsa.verify().map_err(|faults| about(format!("the VSA does not verify: {}", faults.join("; "))))?;
        let before = data::random(scop, random.draw());
        let after = reference::interpret(scop, &before)?;
        if case.native {
            same_as_c(case, scop, &before).map_err(about)?;
        }
        let one = sagen::check::Case::of(built.clone(), 0, (scop, compiled), &before).map_err(about)?;
        let own = reference::rounded(scop, spec, &compiled.vsa, &before, &one.numbers)?;
        expected.push(own.map_or_else(|| one.of_vsa(&after), |own| own.expected));
        let types: Vec<_> = compiled.vsa.arrays.iter().filter(|a| !a.home.is_temporary()).map(|a| a.ty).collect();
        match differing(
            &types,
            &reference::execute(&compiled.vsa, &before, &one.numbers)?,
            &expected[expected.len() - 1],
        ) {
            0 => cases.push(one),
            count => return Err(about(format!("the VSA interpreter differs in {count} elements"))),
        }
    }
    let how = prepared.conditions(case);
    let done = check::simulate(&cases.iter().map(|c| (c, None)).collect::<Vec<_>>(), &how, &sagen::reporter::Silent)?;
    for (((one, run), expected), sizes) in cases.iter().zip(&done).zip(&expected).zip(&sizes) {
        if let Some(why) = one.fault(run, &how, expected) {
            return Err(prepared.about(format!("at {sizes:?}: {why}")));
        }
    }
    if done.len() == cases.len() {
        Ok(Verdict::Equal)
    } else {
        Err(prepared.about("a run did not end".into()))
    }
}
