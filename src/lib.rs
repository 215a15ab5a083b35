//! sagen as a library: from C loop nests to systolic arrays in synthesizable Verilog.
//!
//! The functions at this level do what the subcommands do. They take the options of a subcommand as a value
//! ([`cli`]), return values and errors, and print nothing: warnings, notes and progress go to a [`Reporter`].
//! The command ([`command`]) and the tests call the same functions.
//!
//! | function | result | subcommand |
//! | --- | --- | --- |
//! | [`compile`] | the systolic array of each function | |
//! | [`emit`] | a stage of the compilation as text | `sagen rtl --emit` |
//! | [`package`] | an IP in a directory | `sagen rtl` |
//! | [`simulate`](simulate()) | the comparison with the C program | `sagen sim` |
//! | [`predict`](predict()) | cycles of a written design at given sizes | `sagen predict` |
//! | [`explore`](explore()) | the best systolic array and a bound on all others | `sagen explore` |
//! | [`map`](map()) | all legal systolic arrays | `sagen map` |
//! | [`gpu`](gpu()) | a kernel for GPUs in a directory | `sagen gpu` |
//!
//! Units: cycles are clock cycles of the kernel's clock; times are seconds, unless a name says otherwise; resources are
//! counts of LUTs, flip-flops, DSPs, BRAM36 and URAM blocks.
//!
//! # Errors
//! All functions return an [`Error`]. It is a value: [`Error::render`] gives the text for people, and
//! [`Error::Diagnostics`] has codes, which [`diagnostics`] explains. A panic inside the library becomes
//! [`Error::Internal`]. Rust's panic hook, which belongs to the caller's process, sees it first.
//!
//! # Example
//! ```no_run
//! use clap::Parser;
//! use sagen::cli::{Cli, Command};
//! use sagen::reporter::Silent;
//!
//! let line = ["sagen", "sim", "examples/mm.c", "--space", "i,j", "--tile", "i=8,j=8"];
//! let Command::Sim(arguments) = Cli::parse_from(line).command else { unreachable!() };
//! let verdict = sagen::simulate(&arguments, &Silent)?;
//! println!("{}: {} cycles", verdict.result.name(), verdict.runs[0].outcome.cycles);
//! # Ok::<(), sagen::Error>(())
//! ```

mod bands;
pub mod by_time;
pub mod catalog;
pub mod check;
pub mod clock;
pub mod cli;
pub mod command;
pub mod confine;
pub mod data;
pub mod design_file;
pub mod diagnostics;
mod emit;
pub mod error;
pub mod explore;
pub mod fault;
pub mod files;
pub mod golden;
pub mod gpu;
pub mod input;
mod kept;
pub mod map;
pub mod network;
pub mod npy;
pub mod outdir;
pub mod package;
pub mod plot;
pub mod predict;
pub mod program;
pub mod progress;
pub mod range;
pub mod reference;
pub mod render;
pub mod report;
pub mod reporter;
pub mod scratch;
pub mod sim;
pub mod simulate;
pub mod table;
pub mod waves;

pub use error::{Error, Result};
pub use reporter::Reporter;

use cli::{Design, Emit, Explore, Gpu, Map, Predict, Program, Rtl, Sim};
use search::Compiled;

/// Runs a function of the library; a panic in it is an error.
fn guarded<T>(job: impl FnOnce() -> Result<T>) -> Result<T> {
    fault::guarded(job).unwrap_or_else(|fault| Err(Error::Internal(fault)))
}

/// Compiles each function of a program to a systolic array; the results are in the order of the functions.
///
/// `design` says what is asked of the systolic arrays: the default leaves every choice to the search, and
/// `Design::from` takes a `DesignSpec`.
///
/// # Errors
/// A file cannot be read; the program or what is asked is refused, with all faults that were found.
///
/// # Example
/// ```no_run
/// use sagen::cli::{Design, Program};
/// let program = Program::new(["examples/mm.c"]);
/// let compiled = sagen::compile(&program, &Design::default(), &sagen::reporter::Silent)?;
/// println!("{} cycles predicted", compiled[0].report.prediction.cycles);
/// # Ok::<(), sagen::Error>(())
/// ```
pub fn compile(program: &Program, design: &Design, reporter: &dyn Reporter) -> Result<Vec<Compiled>> {
    guarded(|| {
        let work = program::Work::load(program, design, reporter)?;
        Ok(by_time::choose(&work, reporter)?.compiled)
    })
}

/// The text of one stage of the compilation; `arguments.emit` and the output options have no effect.
///
/// # Errors
/// Those of [`compile`]; the stage is about one function, and there are several.
pub fn emit(arguments: &Rtl, stage: Emit, reporter: &dyn Reporter) -> Result<String> {
    guarded(|| emit::run(arguments, stage, reporter))
}

/// Compiles a program and writes the IP into the directory `arguments.output`.
///
/// # Errors
/// Those of [`compile`]; the directory cannot be written, or has files that are not sagen's. The directory is then as
/// it was before.
pub fn package(arguments: &Rtl, reporter: &dyn Reporter) -> Result<package::Packaged> {
    guarded(|| package::run(arguments, reporter))
}

/// Simulates the Verilog of a program on the data of `arguments`, and compares every element with the C program.
///
/// A difference is no error: see [`simulate::Verdict::result`].
///
/// # Errors
/// Those of [`compile`]; a data file is refused; the C compiler refuses the program; the simulator is missing or fails.
pub fn simulate(arguments: &Sim, reporter: &dyn Reporter) -> Result<simulate::Verdict> {
    guarded(|| simulate::run(arguments, reporter))
}

/// Predicts the clock cycles of a design that [`package`](package()) wrote, at given sizes.
///
/// # Errors
/// There is no design, it does not have these sizes, or the memory is not ideal.
pub fn predict(arguments: &Predict) -> Result<predict::Predicted> {
    guarded(|| predict::run(arguments))
}

/// Searches for the best systolic array. The search stops at `arguments.gap`, `arguments.time_limit` (seconds) or
/// `arguments.designs`, whichever comes first.
///
/// # Errors
/// Those of [`compile`]; no systolic array fits; the file of a shard cannot be written.
pub fn explore(arguments: &Explore, reporter: &dyn Reporter) -> Result<explore::Explored> {
    guarded(|| explore::run(arguments, reporter))
}

/// Lists every legal systolic array of a program.
///
/// # Errors
/// Those of [`compile`]; there are several functions; pictures cannot be written.
pub fn map(arguments: &Map, reporter: &dyn Reporter) -> Result<map::Mapped> {
    guarded(|| map::run(arguments, reporter))
}

/// Compiles a function to a kernel for GPUs, compares the kernel's text with the C program on the CPU, and writes the
/// directory `arguments.output` if they are equal.
///
/// A difference is no error: see [`gpu::Check::faults`].
///
/// # Errors
/// Those of [`compile`]; no warp executes the function; there is no C++ compiler; the directory cannot be written.
pub fn gpu(arguments: &Gpu, reporter: &dyn Reporter) -> Result<gpu::Written> {
    guarded(|| gpu::run(arguments, reporter))
}
