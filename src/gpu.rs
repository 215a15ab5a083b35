//! Writes the program of a GPU's warps for a C loop nest, and compares it with the C program.
//!
//! There need not be a GPU: the kernel's text also runs on the CPU, where all lanes of a warp are in one structure
//! (`gpu::print::shim`). That run is compared with the compiled C program, element by element.

use crate::cli::{Gpu, OF_FPGA};
use crate::data::{self, Memory};
use crate::error::{Error, Result};
use crate::golden;
use crate::input::Input;
use crate::outdir::OutputDir;
use crate::program::Work as Whole;
use crate::reference::{self, Reference};
use crate::reporter::{Progress, Reporter};
use crate::scratch::{self, Scratch};
use gpu::choose::{choose, Choices};
use gpu::form::Scalar;
use gpu::launches::Launches;
use gpu::print;
use scop::Scop;
use std::path::{Path, PathBuf};
use std::process::Command;
use uniform::design::DesignSpec;
use uniform::program::Work;

/// A written kernel, with the comparison.
pub struct Written {
    pub chosen: Choices,
    /// Where the files are, unless only a stage was printed.
    pub directory: Option<PathBuf>,
    pub check: Option<Check>,
}

/// The comparison of the shim with the C program.
pub struct Check {
    /// Who computed the expected results, such as `cc`.
    pub model: String,
    /// Elements compared, over all runs.
    pub elements: usize,
    /// The sizes at run time at which it was made.
    pub sizes: Vec<Vec<i64>>,
    /// The first differences, or what else went wrong.
    pub faults: Vec<String>,
}

/// Differences that are shown.
const EXAMPLES: usize = 8;
/// Heights at which the shim runs, and orders of the warps: a device runs them in any.
const RUNS: [(i64, &str); 2] = [(7, "forward"), (1 << 20, "reverse")];

/// See [`crate::gpu()`].
pub(crate) fn run(arguments: &Gpu, reporter: &dyn Reporter) -> Result<Written> {
    run_changed(arguments, reporter, &|_, text| text)
}

/// As [`crate::gpu()`], with files changed before they are compared: the tests plant faults by it. `change` gets the name
/// and the text of each file.
///
/// # Errors
/// Those of [`crate::gpu()`].
pub fn run_changed(
    arguments: &Gpu,
    reporter: &dyn Reporter,
    change: &dyn Fn(&str, String) -> String,
) -> Result<Written> {
    only_of_warps(&arguments.design.spec().map_err(Error::usage)?)?;
    let (input, spec, _) = Whole::load(&arguments.program, &arguments.design, reporter)?.only("`sagen gpu`")?;
    if input.stage.is_some() {
        return Err(Error::usage("`sagen gpu` reads C: give it a C file"));
    }
    only_of_warps(&spec)?;
    let scop = &input.scop;
    let spec = spec.beside(scop);
    let refused = |faults| Error::diagnostics(faults, &scop.sources);
    reporter.progress(Progress::Stage("choosing a map"));
    let program = search::program(scop, &spec).map_err(refused)?;
    let chosen = choose(&program.program, &spec, arguments.ahead).map_err(refused)?;
    chosen.launches.kernels.iter().try_for_each(gpu::verify::verify).map_err(Error::internal)?;
    reporter.progress(Progress::Done);
    if arguments.emit {
        return Ok(Written { chosen, directory: None, check: None });
    }
    let files = print::files(&chosen.launches, &program.quotes).into_iter();
    let files: Vec<(String, String)> = files.map(|(name, text)| (name.clone(), change(&name, text))).collect();
    let target = arguments.output.clone().unwrap_or_else(|| Path::new("out").join(&chosen.launches.name));
    let check = match arguments.no_check {
        true => None,
        false => Some(check(&input, arguments, &spec, &chosen.launches, &files, reporter)?),
    };
    if check.as_ref().is_none_or(|c| c.faults.is_empty()) {
        let out = OutputDir::create(&target).map_err(Error::reason)?;
        for (name, text) in &files {
            out.write(name, text).map_err(Error::reason)?;
        }
        out.commit().map_err(Error::reason)?;
    }
    Ok(Written { chosen, directory: Some(target), check })
}

/// # Errors
/// The design asks for what a kernel does not have.
fn only_of_warps(spec: &DesignSpec) -> Result<()> {
    let table = toml::Table::try_from(spec).map_err(Error::reason)?;
    match OF_FPGA.iter().find(|key| table.contains_key(**key)) {
        Some(key) => Err(Error::usage(format!(
            "--{} is for arrays on an FPGA: a GPU's kernel is shaped by --space, --time, --tile, --simd and --fp-contract",
            key.replace('_', "-")
        ))),
        None => Ok(()),
    }
}

/// Compares the shim with the C program.
fn check(
    input: &Input,
    arguments: &Gpu,
    spec: &DesignSpec,
    launches: &Launches,
    files: &[(String, String)],
    reporter: &dyn Reporter,
) -> Result<Check> {
    let dir = Scratch::temporary("gpu").map_err(Error::reason)?;
    let shim = Shim::build(files, dir.path(), arguments.sanitize.as_ref())?;
    let mut check = Check { model: String::new(), elements: 0, sizes: vec![], faults: vec![] };
    for sizes in sizes(arguments, input, launches)? {
        let input = &input.at(&sizes);
        let scop = &input.scop;
        reporter.progress(Progress::Stage("compiling and running the golden model"));
        let how = arguments.c_program.how(Some(Work::of(scop).operations));
        let data = (data::random(scop, arguments.seed), data::Inputs::Given);
        let reference = reference::of_input(input, &how, data, reporter)?;
        let (expected, model) = expected(scop, spec, &reference)?;
        check.model = model;
        reporter.progress(Progress::Stage("running the warps on the CPU"));
        for run in RUNS {
            match shim.run(launches, scop, &reference.before, (run.0, run.1, &sizes)) {
                Ok(found) => compare(scop, &found, &expected, &mut check),
                Err(fault) => check.faults.push(fault),
            }
        }
        check.sizes.extend(Some(sizes).filter(|s| !s.is_empty()));
        if !check.faults.is_empty() {
            break;
        }
    }
    reporter.progress(Progress::Done);
    Ok(check)
}

/// Operations of a comparison at sizes that the user does not choose, at most.
const MOST_OPERATIONS: i64 = 1 << 21;

/// The sizes of the comparisons; one without sizes if there are none.
fn sizes(arguments: &Gpu, input: &Input, launches: &Launches) -> Result<Vec<Vec<i64>>> {
    let given = arguments.sizes.iter().map(|set| input.sizes(&set.0)).collect::<Result<Vec<_>>>()?;
    let greatest = input.sizes(&[])?;
    if !given.is_empty() || greatest.is_empty() {
        return Ok(if given.is_empty() { vec![greatest] } else { given });
    }
    // As large as a comparison may be, and no multiples of the words and warps.
    let mut large = greatest.clone();
    while Work::of(&input.scop.at(&large)).operations > MOST_OPERATIONS {
        let Some(most) = large.iter().copied().max().filter(|m| *m > 1) else { break };
        let half = |v: &i64| if *v == most { (v / 2 - 1) | 1 } else { *v };
        large = large.iter().map(half).collect();
    }
    let small: Vec<i64> = large.iter().enumerate().map(|(k, v)| (*v).min(5 + 2 * k as i64)).collect();
    let mut all = vec![greatest.iter().map(|_| 1).collect(), small];
    // The same of rows of whole words, for the kernel that is there for them.
    for words in launches.order.iter().filter_map(|phase| phase.words) {
        let scalars = &launches.kernels[words].scalars;
        let whole = |(v, s): (&i64, &Scalar)| *v - (*v - s.rest).rem_euclid(s.multiple);
        all.push(large.iter().zip(scalars).map(whole).collect());
    }
    all.push(large);
    all.retain(|sizes: &Vec<i64>| sizes.iter().all(|v| *v >= 1));
    all.dedup();
    Ok(all)
}

/// The results to compare with: the C program's, or the interpreter's if floats are fused.
fn expected(scop: &Scop, spec: &DesignSpec, reference: &Reference) -> Result<(Memory, String)> {
    let program = spec.program(scop);
    if program.statements == scop.statements {
        return Ok((reference.after.clone(), reference.model.clone()));
    }
    let after = reference::interpret(&program, &reference.before).map_err(Error::internal)?;
    Ok((after, "interpreter, with fused multiply-adds".into()))
}

/// The compiled shim.
struct Shim<'a> {
    dir: &'a Path,
}

impl<'a> Shim<'a> {
    fn build(files: &[(String, String)], dir: &'a Path, sanitize: Option<&String>) -> Result<Shim<'a>> {
        for (name, text) in files {
            let path = dir.join(name);
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&path, text)).map_err(Error::reason)?;
        }
        let compiler = golden::Compiler::find_cpp().map_err(|why| {
            Error::reason(format!("no C++ compiler runs the kernel's text ({why}): install one, or use --no-check"))
        })?;
        let mut command = compiler.command();
        command.args(["-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-w"]);
        command.args(sanitize.iter().map(|s| format!("-fsanitize={s}")));
        command.args(["shim.cpp", "-o", "shim"]).current_dir(dir);
        let output = scratch::output(&mut command).map_err(Error::reason)?;
        match output.status.success() {
            true => Ok(Shim { dir }),
            false => Err(Error::internal(format!(
                "{compiler} refuses the emitted text:\n{}",
                String::from_utf8_lossy(&output.stderr).lines().take(30).collect::<Vec<_>>().join("\n")
            ))),
        }
    }

    /// Runs all warps; the contents of the program's arrays afterwards.
    fn run(
        &self,
        launches: &Launches,
        scop: &Scop,
        before: &Memory,
        (height, order, sizes): (i64, &str, &[i64]),
    ) -> std::result::Result<Memory, String> {
        let mut bytes = vec![];
        let places = places(launches, scop);
        for &(_, place) in &places {
            bytes.extend(data::pack(&before[place], scop.arrays[place].ty));
        }
        std::fs::write(self.dir.join("in"), &bytes).map_err(|e| format!("cannot write the input: {e}"))?;
        let mut command = Command::new(self.dir.join("shim"));
        command.args(["in", "out", &height.to_string(), order]).current_dir(self.dir);
        command.args(sizes.iter().map(i64::to_string));
        let output = scratch::output(&mut command).map_err(|e| format!("cannot run the shim: {e}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let first: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(3).collect();
            return Err(format!(
                "at height {height}, {order}, sizes {sizes:?}, the shim ended: {} {}",
                output.status,
                first.join("; ")
            ));
        }
        let result = std::fs::read(self.dir.join("out")).map_err(|e| format!("no output: {e}"))?;
        if result.len() != bytes.len() {
            return Err("the shim's output has another size".into());
        }
        let mut after = before.clone();
        let mut rest = result.as_slice();
        for (_, place) in places {
            let array = &scop.arrays[place];
            let (own, next) = rest.split_at(data::elements(array) * array.ty.bytes() as usize);
            after[place] = data::unpack(own, array.ty);
            rest = next;
        }
        Ok(after)
    }
}

/// The kernels' parameters: the number in the launches, and in the program as it was written.
fn places(launches: &Launches, scop: &Scop) -> Vec<(usize, usize)> {
    let place = |name: &str| scop.arrays.iter().position(|a| a.name == name);
    print::of_caller(launches).filter_map(|(k, a)| Some((k, place(&a.source)?))).collect()
}

fn compare(scop: &Scop, found: &Memory, expected: &Memory, check: &mut Check) {
    for ((array, found), expected) in scop.arrays.iter().zip(found).zip(expected) {
        if array.storage != scop::Storage::Dram {
            continue;
        }
        check.elements += found.len();
        for (k, (a, b)) in found.iter().zip(expected).enumerate() {
            if !crate::sim::compare::same(*a, *b, array.ty) && check.faults.len() < EXAMPLES {
                check.faults.push(format!("{}[{k}] is {a:#x}, C computes {b:#x}", array.name));
            }
        }
    }
}
