//! What every subcommand starts with: the program, the board, the user's choices. And how a subcommand stops early.

use crate::cli::{Design, Program};
use crate::{catalog, fault, progress, render};
use arch::cost::board::Board;
use arch::ir::design::{ArrayChoice, DesignSpec};
use arch::ir::vsa::{DramArray, Scalar, Vsa};
use arch::text::Stage;
use frontend::diag::{Diagnostics, SourceMap, Span};
use frontend::scop::{Array, Binding, Function, Scop, Storage};
use std::io::IsTerminal;

/// Exit codes; 2 is clap's, for wrong usage.
pub mod exit {
    /// The input is refused.
    pub const REFUSED: u8 = 1;
    /// Simulation and golden model differ.
    pub const DIFFERENT: u8 = 3;
    /// A fault of sagen's own.
    pub const INTERNAL: u8 = 4;
    /// The C compiler's program and the interpreter of the region disagree, so there is no golden model.
    pub const NO_JUDGE: u8 = 5;
}

/// Code of a diagnostic that one of sagen's own checks yields.
const OWN_CHECK: &str = "E0799";

/// Why a subcommand stops early.
#[derive(Debug)]
pub struct Refused {
    /// Ready for standard error.
    pub text: String,
    /// See [`exit`].
    pub code: u8,
}

impl Refused {
    /// A reason that has no place in a file.
    pub fn plain(reason: impl std::fmt::Display) -> Refused {
        Refused { text: format!("Error: {reason}\n"), code: exit::REFUSED }
    }
    /// A fault of sagen's own.
    pub fn internal(what: impl std::fmt::Display) -> Refused {
        Refused { text: fault::report(&what.to_string()), code: exit::INTERNAL }
    }
    /// Diagnostics, with colors if standard error is a terminal.
    pub fn diagnostics(list: &Diagnostics, sources: &SourceMap) -> Refused {
        let text = render::diagnostics(list, sources, color());
        match list.iter().find(|d| d.code == OWN_CHECK) {
            Some(own) => Refused { text: text + &fault::report(&own.message), code: exit::INTERNAL },
            None => Refused { text, code: exit::REFUSED },
        }
    }
}

fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// A line for the user on standard error.
pub fn notice(text: &str) {
    progress::done();
    eprintln!("note: {text}");
}

/// What a subcommand works on.
pub struct Input {
    /// The program; of an array by itself, only what its ports reach.
    pub scop: Scop,
    /// The text of a stage, where the input is no C.
    pub stage: Option<Stage>,
}

/// Names of files that hold a stage as `--emit` prints it.
const STAGES: [&str; 5] = ["scop", "ure", "mapping", "vsa", "txt"];

/// Reads the C file, or the text of a stage; warnings go to standard error.
///
/// # Errors
/// All faults of the file.
pub fn load(program: &Program) -> Result<Input, Refused> {
    let extension = program.file.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    if !STAGES.contains(&extension.as_str()) {
        return Ok(Input { scop: load_c(program)?, stage: None });
    }
    let name = program.file.display();
    let text = std::fs::read_to_string(&program.file).map_err(|e| Refused::plain(format!("cannot read {name}: {e}")))?;
    let stage = arch::text::read(&name.to_string(), &text).map_err(|e| Refused::plain(format!("{name} is not the text of a stage: {e}")))?;
    let scop = match &stage {
        Stage::Scop(scop) | Stage::System(scop, _) | Stage::Mapping(scop, ..) => scop.clone(),
        Stage::Vsa(vsa) => around(vsa),
    };
    Ok(Input { scop, stage: Some(stage) })
}

/// A program with an array's ports and no statements.
fn around(vsa: &Vsa) -> Scop {
    let array = |(k, a): (usize, &DramArray)| Array {
        name: a.name.clone(),
        ty: a.ty,
        c_type: a.ty.to_string(),
        dims: a.dims.clone(),
        storage: Storage::Dram,
        binding: Binding::Parameter(k as u32),
        constant: false,
        span: Span::default(),
    };
    let scalar = |(k, s): (usize, &Scalar)| Array {
        name: s.name.clone(),
        ty: s.ty,
        c_type: s.ty.to_string(),
        dims: vec![],
        storage: Storage::Dram,
        binding: Binding::Value((vsa.arrays.len() + k) as u32),
        constant: false,
        span: Span::default(),
    };
    let arrays: Vec<Array> = vsa.arrays.iter().enumerate().map(array).chain(vsa.scalars.iter().enumerate().map(scalar)).collect();
    let function = Function { name: Some(vsa.name.clone()), region: Span::default(), parameters: arrays.len() as u32 };
    Scop { name: vsa.name.clone(), function, arrays, loops: vec![], statements: vec![], clauses: vec![], sources: SourceMap::default() }
}

/// Reads the C file; warnings go to standard error.
///
/// # Errors
/// All faults of the file.
fn load_c(program: &Program) -> Result<Scop, Refused> {
    match frontend::parse(&program.file, &program.parse_options()) {
        Ok((scop, warnings)) => {
            if !warnings.is_empty() {
                eprint!("{}", render::diagnostics(&warnings, &scop.sources, color()));
            }
            Ok(scop)
        }
        Err((sources, faults)) => Err(Refused::diagnostics(&faults, &sources)),
    }
}

/// The board and the design choices.
///
/// # Errors
/// An unknown board, an unreadable board or design file.
pub fn choices(program: &Program, design: &Design) -> Result<(Board, DesignSpec), Refused> {
    let board = catalog::find(&program.board).map_err(Refused::plain)?;
    Ok((board, design.spec().map_err(Refused::plain)?))
}

/// Program to array.
///
/// # Errors
/// Why no array can be built.
pub fn compile(input: &Input, spec: &DesignSpec, board: &Board) -> Result<arch::Compiled, Refused> {
    let later = match &input.stage {
        Some(Stage::Mapping(..) | Stage::Vsa(_)) if spec.array != ArrayChoice::Automatic => Some("says which array it is: leave the mapping options out"),
        Some(Stage::Vsa(_)) if *spec != DesignSpec::default() => Some("is a finished array: leave the design options out"),
        Some(Stage::System(..) | Stage::Mapping(..)) if spec.arithmetic.fp_contract == Some(true) => Some("is behind the stage that --fp-contract changes: use it when that stage is printed"),
        _ => None,
    };
    if let Some(why) = later {
        return Err(Refused::plain(format!("this input {why}")));
    }
    progress::stage("mapping");
    let compiled = match &input.stage {
        None => arch::compile(&input.scop, spec, board),
        Some(stage) => arch::compile_stage(stage, spec, board),
    };
    compiled.map_err(|faults| Refused::diagnostics(&faults, &input.scop.sources))
}
