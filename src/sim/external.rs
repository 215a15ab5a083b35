//! The engines that run the emitted text: Icarus Verilog and Verilator. Each run works in a temporary directory with
//! the design's files, the testbench, and a memory image for each port before and after.
//!
//! One compiled simulation serves every timing of the memories. If the environment variable `SAGEN_MODELS` names a
//! folder, later runs find compiled simulations there, under a hash of everything that they depend on. The folder also
//! has Verilator's own library, which would otherwise be compiled with each model.

use super::hex::{from_hex, to_hex};
use super::{bench, Job, Outcome};
use crate::reporter::{Progress, Reporter};
use crate::scratch::{self, Scratch};
use crate::waves::Waves;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

/// An external simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simulator {
    Icarus,
    Verilator,
}

/// Cycles below which Verilator's model is compiled without optimization.
const SHORT: u64 = 20_000;

/// The environment variable with the folder of compiled simulations.
const MODELS: &str = "SAGEN_MODELS";
/// The objects of a model that are Verilator's own.
const LIBRARY: [&str; 2] = ["verilated.o", "verilated_threads.o"];

/// Runs the job.
///
/// # Errors
/// The simulator is not installed, refuses the design, or dies; its messages.
pub fn run(job: &Job, simulator: Simulator) -> Result<Vec<Outcome>, String> {
    let dir = Scratch::temporary("sim").map_err(|e| format!("cannot make a directory: {e}"))?;
    let dir = dir.path();
    for port in 0..job.built.interface.ports.len() {
        write(dir, &bench::image_names(port).0, &image(job, port))?;
    }
    let model = Compilation::new(job, simulator)?.model(dir, job.reporter)?;
    let mut program = match simulator {
        Simulator::Icarus => {
            let mut run = Command::new("vvp");
            run.arg("-n").arg(model).args(job.vcd.is_some().then_some("+vcd"));
            run
        }
        Simulator::Verilator => {
            let mut run = Command::new(model);
            run.args(["+verilator+rand+reset+2", "+verilator+seed+23134"]);
            run
        }
    };
    job.reporter.progress(Progress::Simulation { cycles: job.cycles });
    let begin = Instant::now();
    let progress = job.reporter.is_watched().then_some("+progress");
    let output = call(program.args(bench::arguments(job)).args(progress), dir, job.reporter)?;
    let seconds = begin.elapsed().as_secs_f64();
    if let Some(Waves { path, .. }) = &job.vcd {
        fs::copy(dir.join("wave.vcd"), path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    outcome(job, dir, &String::from_utf8_lossy(&output.stdout), seconds)
}

fn write(dir: &Path, name: &str, text: &str) -> Result<(), String> {
    fs::write(dir.join(name), text).map_err(|e| format!("cannot write {name}: {e}"))
}

/// Everything that a compiled simulation depends on.
struct Compilation {
    /// Names and texts.
    files: Vec<(String, String)>,
    /// The compiler's command with its options.
    compiler: Vec<String>,
    /// The command that prints the compiler's version.
    version: [&'static str; 2],
    /// The options of [`LIBRARY`], if all models share it.
    library: Option<&'static str>,
    /// The simulation, in the directory in which it was compiled.
    model: &'static str,
}

impl Compilation {
    fn new(job: &Job, simulator: Simulator) -> Result<Compilation, String> {
        let (bench, bare) = bench::names(job)?;
        let mut files = rtl::verilog::files(&job.built.design);
        files.push(("axi_memory.v".into(), bench::MEMORY.into()));
        files.push((format!("{bench}.v"), bench::text(job, 0, None)?));
        let (mut options, version, library, model) = match simulator {
            Simulator::Icarus => {
                (format!("iverilog -g2005 -o run.vvp -s {bench}"), ["iverilog", "-V"], None, "run.vvp")
            }
            Simulator::Verilator => {
                // For a short run, optimization would take longer than it saves.
                let (level, trace) =
                    (if job.cycles < SHORT { "-O0" } else { "-O2" }, if job.vcd.is_some() { " --trace" } else { "" });
                let fixed = "--cc --exe --build -O3 --x-assign fast --x-initial unique -Wno-fatal -Wno-lint \
                    -Wno-style --no-timing --prefix Vbench --Mdir obj --output-split 20000 -j 2";
                files.push(("main.cpp".into(), MAIN.into()));
                (
                    format!("verilator {fixed} -CFLAGS {level}{trace} --top-module {bare} -o run"),
                    ["verilator", "--version"],
                    job.vcd.is_none().then_some(level),
                    "obj/run",
                )
            }
        };
        files.iter().for_each(|f| options.extend([" ", &f.0]));
        Ok(Compilation { files, compiler: options.split(' ').map(String::from).collect(), version, library, model })
    }

    /// The compiled simulation. Intermediate files are in `dir`.
    fn model(&self, dir: &Path, reporter: &dyn Reporter) -> Result<PathBuf, String> {
        let Some(models) = std::env::var_os(MODELS).filter(|m| !m.is_empty()) else {
            self.compile(dir, None, reporter)?;
            return Ok(dir.join(self.model));
        };
        let fault =
            |e: std::io::Error| format!("cannot keep a simulation in {} ({MODELS}): {e}", Path::new(&models).display());
        fs::create_dir_all(&models).map_err(fault)?;
        let models = fs::canonicalize(&models).map_err(fault)?;
        let version = call(Command::new(self.version[0]).arg(self.version[1]), dir, reporter)?.stdout;
        let kept = models
            .join(hash(self.compiler.iter().chain(self.files.iter().map(|f| &f.1)).map(String::as_bytes), &version));
        if kept.exists() {
            return Ok(kept);
        }
        // Others may do the same at the same time: a model, or the library, appears complete or not at all.
        let beside = Scratch::hidden(&models).map_err(fault)?;
        let library = self
            .library
            .map(|options| models.join(hash(["library".as_bytes(), options.as_bytes()].into_iter(), &version)));
        let ready = library.as_deref().filter(|l| l.exists());
        self.compile(beside.path(), ready, reporter)?;
        fs::rename(beside.path().join(self.model), &kept).map_err(fault)?;
        if let Some(library) = library.as_ref().filter(|l| !l.exists()) {
            let made = beside.path().join("library");
            fs::create_dir(&made).map_err(fault)?;
            LIBRARY
                .iter()
                .try_for_each(|object| fs::rename(beside.path().join("obj").join(object), made.join(object)))
                .map_err(fault)?;
            // Somebody else's, if it came first, is the same.
            drop(fs::rename(made, library));
        }
        Ok(kept)
    }

    fn compile(&self, dir: &Path, library: Option<&Path>, reporter: &dyn Reporter) -> Result<(), String> {
        reporter.progress(Progress::Stage(match self.version[0] {
            "iverilog" => "compiling for Icarus",
            _ => "compiling the Verilator model",
        }));
        self.files.iter().try_for_each(|(name, text)| write(dir, name, text))?;
        let mut compiler = Command::new(&self.compiler[0]);
        compiler.args(&self.compiler[1..]);
        if let Some(library) = library {
            let objects = LIBRARY.map(|object| library.join(object).display().to_string()).join(" ");
            compiler.args(["-LDFLAGS", &objects, "-MAKEFLAGS", "VM_GLOBAL_FAST="]);
        }
        call(&mut compiler, dir, reporter).map(drop)
    }
}

/// A hash of everything that the compiled simulation depends on.
fn hash<'a>(parts: impl Iterator<Item = &'a [u8]>, version: &'a [u8]) -> String {
    let mut hash = Sha256::new();
    for text in std::iter::once(version).chain(parts) {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a program in `dir`. The reporter gets its progress; the result has the other lines.
fn call(command: &mut Command, dir: &Path, reporter: &dyn Reporter) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let command =
        command.current_dir(dir).env("TMPDIR", dir).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = scratch::children(command, |child| follow(child, reporter));
    let output = output.map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => missing(&name),
        _ => format!("cannot run {name}: {e}"),
    })?;
    if output.status.success() {
        return Ok(output);
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let last: Vec<_> = text.lines().rev().take(20).collect();
    Err(format!("{name} failed ({}):\n{}", output.status, last.into_iter().rev().collect::<Vec<_>>().join("\n")))
}

/// Everything that a program prints, except its progress.
fn follow(mut child: Child, reporter: &dyn Reporter) -> std::io::Result<Output> {
    let stderr = child.stderr.take();
    let errors = std::thread::spawn(move || {
        let mut bytes = vec![];
        stderr.map_or(Ok(0), |mut pipe| std::io::Read::read_to_end(&mut pipe, &mut bytes)).map(|_| bytes)
    });
    let mut stdout = vec![];
    for line in child.stdout.take().into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n')) {
        let line = line?;
        let cycle = std::str::from_utf8(&line).ok().and_then(|l| l.trim().strip_prefix("PROGRESS ")?.parse().ok());
        match cycle {
            Some(cycle) => reporter.progress(Progress::Cycle(cycle)),
            None => stdout.extend(line.into_iter().chain([b'\n'])),
        }
    }
    let stderr = errors.join().unwrap_or_else(|_| Ok(vec![]))?;
    Ok(Output { status: child.wait()?, stdout, stderr })
}

/// The advice for a program that is not installed.
fn missing(name: &str) -> String {
    format!(
        "{name} is not on PATH: run `scripts/setup.sh` in sagen's source directory to install it, then `. \
        scripts/env.sh` there \
         to put it on PATH of this shell; or simulate without it (`--engine builtin`)"
    )
}

/// The contents of a port's memory before the runs, for `$readmemh`.
pub fn image(job: &Job, port: usize) -> String {
    let vacant = bench::vacant(job, port);
    job.behind(port).into_iter().chain(&vacant).map(|image| to_hex(&image.bytes, job.beat(port))).collect()
}

/// Reads the testbench's line for each run, and the dumps of the memories.
fn outcome(job: &Job, dir: &Path, output: &str, seconds: f64) -> Result<Vec<Outcome>, String> {
    let (mut all, mut faults, mut counted) = (vec![], vec![], 0);
    for line in output.lines() {
        faults.extend(line.strip_prefix("FAULT ").map(String::from));
        let Some(result) = line.trim().strip_prefix("SAGEN ") else { continue };
        let field = |name: &str| {
            let part = result.split_whitespace().find_map(|p| p.strip_prefix(name)?.strip_prefix('='));
            part.and_then(|v| v.parse::<u64>().ok())
                .ok_or_else(|| format!("the simulation's result is not readable: {result}"))
        };
        let count = field("faults")?;
        if count - counted > faults.len() as u64 {
            faults.push(format!("{count} faults in all"));
        }
        counted = count;
        faults.extend(super::status_fault(field("status")?, field("error_address")?));
        let cycles = field("cycles")?;
        all.push(Outcome {
            cycles,
            memories: vec![],
            kept: vec![],
            faults: std::mem::take(&mut faults),
            finished: field("timeout")? == 0,
            simulated: cycles,
            seconds,
        });
    }
    if all.len() != job.runs.len() {
        return Err(format!("the simulation ended without a result:\n{output}"));
    }
    let mut memories = vec![];
    for port in 0..job.built.interface.ports.len() {
        let name = bench::image_names(port).1;
        let text = fs::read_to_string(dir.join(&name)).map_err(|e| format!("cannot read {name}: {e}"))?;
        let vacant = bench::vacant(job, port);
        let size = job.behind(port).into_iter().chain(&vacant).map(|image| image.bytes.len()).sum();
        memories.push(from_hex(&text, job.beat(port), size)?);
    }
    all.iter_mut().zip(job.by_array(memories)).for_each(|(outcome, own)| outcome.memories = own);
    Ok(all)
}

/// Drives the testbench's clock under Verilator.
pub const MAIN: &str = r#"// Drives the testbench's clock in Verilator. The exit code is 1 if the verdict is FAIL.
#include "Vbench.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif
int main(int argc, char** argv) {
  VerilatedContext context;
  context.commandArgs(argc, argv);
  Vbench top(&context);
#if VM_TRACE
  context.traceEverOn(true);
  VerilatedVcdC wave;
  top.trace(&wave, 99);
  wave.open("wave.vcd");
#endif
  while (!context.gotFinish() && !top.finished) {
    for (int level = 0; level < 2; level++) {
      top.aclk = level;
      top.eval();
#if VM_TRACE
      wave.dump(context.time());
#endif
      context.timeInc(5);
    }
  }
#if VM_TRACE
  wave.close();
#endif
  top.final();
  return top.failed;
}
"#;
