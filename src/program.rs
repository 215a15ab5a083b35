//! What every subcommand starts with: the program, the board, the user's choices. And how a subcommand stops early.

use crate::cli::{Design, Program};
use crate::{catalog, fault, progress, render};
use array::ip::MOST_FUNCTIONS;
use array::text::Stage;
use array::vsa::{DramArray, Scalar, Vsa};
use cost::board::Board;
use scop::diag::{Diagnostics, SourceMap, Span};
use scop::{Array, Binding, Function, Scop, Storage};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use uniform::design::{ArrayChoice, DesignSpec};
use uniform::system::System;

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

/// A function that a subcommand works on.
pub struct Input {
    /// Where it stands.
    pub file: PathBuf,
    /// The program; of an array by itself, only what its ports reach.
    pub scop: Scop,
    /// The text of a stage, where the input is no C.
    pub stage: Option<Stage>,
}

/// Everything that a subcommand starts with.
pub struct Work {
    /// Of the IP.
    pub name: String,
    pub board: Board,
    /// Commands that the IP's queue holds; 0: it has none.
    pub queue: u32,
    /// At least one, with what is asked of each.
    pub functions: Vec<(Input, DesignSpec)>,
}

impl Work {
    /// Reads the files, the board and the design choices; warnings go to standard error.
    ///
    /// # Errors
    /// All faults of a file; functions that share a name; an unknown function, an unknown board, an unreadable board or
    /// design file.
    pub fn load(program: &Program, design: &Design) -> Result<Work, Refused> {
        let mut inputs = vec![];
        for file in &program.files {
            inputs.extend(load(file, program)?);
        }
        differ(&inputs)?;
        let known: Vec<String> = inputs.iter().map(|i| i.scop.name.clone()).collect();
        let unknown = |who: String| Refused::plain(format!("{who}; functions with one: {}", known.join(", ")));
        if let Some(name) = program.function.iter().find(|f| !known.contains(f)) {
            return Err(unknown(format!("--function {name}: no file has a marked region in a function of that name")));
        }
        inputs.retain(|i| program.function.is_empty() || program.function.contains(&i.scop.name));
        if inputs.len() > MOST_FUNCTIONS {
            return Err(Refused::plain(format!(
                "{} functions: an IP has at most {MOST_FUNCTIONS}; choose some with --function",
                inputs.len()
            )));
        }
        let board = catalog::find(&program.board).map_err(Refused::plain)?;
        let request = design.request().map_err(Refused::plain)?;
        if let Some(name) = request.functions().find(|f| !known.iter().any(|k| k == f)) {
            return Err(unknown(format!(
                "the design file has options for `{name}`, but no file has a marked region in a function of that name"
            )));
        }
        let stem = program.files[0].file_stem().map_or_else(|| "ip".to_string(), |s| s.to_string_lossy().into_owned());
        let mut functions = vec![];
        for input in inputs {
            let spec = request.of(&input.scop.name).map_err(Refused::plain)?;
            functions.push((input, spec));
        }
        if let ([(only, _)], Some(name)) = (&mut functions[..], &program.name) {
            only.rename(name);
        }
        let name = match &functions[..] {
            [(only, _)] => only.scop.name.clone(),
            _ => program.name.clone().unwrap_or(stem),
        };
        let queue = request.common().map_err(Refused::plain)?.wiring.queue;
        let queue = queue.map_or(Ok(0), array::ip::queue).map_err(Refused::plain)?;
        Ok(Work { name, board, queue, functions })
    }

    /// For subcommands that are about one function.
    ///
    /// # Errors
    /// There are several.
    pub fn only(mut self, subcommand: &str) -> Result<(Input, DesignSpec, Board), Refused> {
        if self.functions.len() > 1 {
            return Err(self.several(subcommand));
        }
        let (input, spec) = self.functions.remove(0);
        Ok((input, spec, self.board))
    }

    /// Why not all of them at once.
    pub fn several(&self, what: &str) -> Refused {
        let names: Vec<_> = self.functions.iter().map(|f| f.0.scop.name.as_str()).collect();
        Refused::plain(format!("{what} is about one function: choose one with --function: {}", names.join(", ")))
    }
}

impl Input {
    /// The function at these sizes, one for each that is open.
    pub fn at(&self, sizes: &[i64]) -> Input {
        let recurrences = |scop: &Scop, system: &System| {
            let scop = scop.at(sizes);
            let system = system.at(&scop, sizes);
            (scop, system)
        };
        let stage = |stage: &Stage| match stage {
            Stage::Scop(scop) => Stage::Scop(scop.at(sizes)),
            Stage::System(scop, system) => {
                let (scop, system) = recurrences(scop, system);
                Stage::System(scop, system)
            }
            Stage::Mapping(scop, all, plan) => {
                let (scop, system) = recurrences(scop, all);
                Stage::Mapping(scop, system, plan.clone().without(all.parameters().len()))
            }
            Stage::Vsa(vsa) => Stage::Vsa(Box::new(vsa.at(sizes))),
        };
        let all = self.stage.as_ref().map(stage);
        let scop = match &all {
            Some(Stage::Vsa(vsa)) => around(vsa),
            _ => self.scop.at(sizes),
        };
        Input { file: self.file.clone(), scop, stage: all }
    }

    /// The values of the function's sizes, by name; the greatest ones where nothing is said.
    ///
    /// # Errors
    /// A name that is no size of its, or a value that it cannot have.
    pub fn sizes(&self, given: &[(String, i64)]) -> Result<Vec<i64>, Refused> {
        let known = self.greatest();
        if let Some((name, _)) = given.iter().find(|g| !known.iter().any(|k| k.0 == g.0)) {
            let names: Vec<_> = known.iter().map(|k| k.0.as_str()).collect();
            let has = if names.is_empty() {
                "it has none: give parameters a greatest value with `#pragma sagen max(…)` or --max".to_string()
            } else {
                format!("its sizes are {}", names.join(", "))
            };
            return Err(Refused::plain(format!("`{name}` is no size of {}; {has}", self.scop.name)));
        }
        let value = |(name, max): &(String, i64)| {
            let value = given.iter().rev().find(|g| g.0 == *name).map_or(*max, |g| g.1);
            if (1..=*max).contains(&value) {
                Ok(value)
            } else {
                Err(Refused::plain(format!("the size {name} is {value}: it may be 1 to {max}")))
            }
        };
        known.iter().map(value).collect()
    }

    /// Its sizes at run time and their maxima.
    pub fn greatest(&self) -> Vec<(String, i64)> {
        match &self.stage {
            Some(Stage::Vsa(vsa)) => vsa.sizes.list.iter().map(|s| (s.name.clone(), s.max)).collect(),
            _ => self.scop.sizes.iter().filter(|s| s.value.is_none()).map(|s| (s.name.clone(), s.max)).collect(),
        }
    }

    /// All these are sizes of its.
    pub fn has_sizes(&self, given: &[(String, i64)]) -> bool {
        let known = self.greatest();
        given.iter().all(|g| known.iter().any(|k| k.0 == g.0))
    }

    /// Calls the function's IP otherwise.
    fn rename(&mut self, name: &str) {
        self.scop.name = name.to_string();
        match &mut self.stage {
            None => {}
            Some(Stage::Scop(scop) | Stage::System(scop, _) | Stage::Mapping(scop, ..)) => scop.name = name.to_string(),
            Some(Stage::Vsa(vsa)) => vsa.name = name.to_string(),
        }
    }
}

/// Functions of several files have names of their own.
fn differ(inputs: &[Input]) -> Result<(), Refused> {
    for (k, input) in inputs.iter().enumerate() {
        let name = &input.scop.name;
        if let Some(first) = inputs[..k].iter().find(|i| i.scop.name == *name) {
            let (one, other) = (first.file.display(), input.file.display());
            return Err(Refused::plain(format!(
                "{one} and {other} both have a function `{name}` with a marked region: a function's name chooses what \
                the IP runs, rename one of them"
            )));
        }
    }
    Ok(())
}

/// Names of files that hold a stage as `--emit` prints it.
const STAGES: [&str; 5] = ["scop", "ure", "mapping", "vsa", "txt"];

/// Reads a C file, or the text of a stage; warnings go to standard error.
///
/// # Errors
/// All faults of the file.
fn load(file: &Path, program: &Program) -> Result<Vec<Input>, Refused> {
    let extension = file.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    if !STAGES.contains(&extension.as_str()) {
        let all = load_c(file, program)?;
        return Ok(all.into_iter().map(|scop| Input { file: file.to_path_buf(), scop, stage: None }).collect());
    }
    stage(file).map(|input| vec![input])
}

/// Reads the text of a stage.
///
/// # Errors
/// It is none.
pub fn stage(file: &Path) -> Result<Input, Refused> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|e| Refused::plain(format!("cannot read {name}: {e}")))?;
    let stage = array::text::read(&name.to_string(), &text)
        .map_err(|e| Refused::plain(format!("{name} is not the text of a stage: {e}")))?;
    let scop = match &stage {
        Stage::Scop(scop) | Stage::System(scop, _) | Stage::Mapping(scop, ..) => scop.clone(),
        Stage::Vsa(vsa) => around(vsa),
    };
    Ok(Input { file: file.to_path_buf(), scop, stage: Some(stage) })
}

/// A program with an array's ports and no statements.
fn around(vsa: &Vsa) -> Scop {
    let array = |(k, a): (usize, &DramArray)| Array {
        name: a.name.clone(),
        ty: a.ty,
        c_type: a.ty.to_string(),
        dims: a.dims.clone(),
        extents: vec![],
        storage: Storage::Dram,
        binding: if a.scratch.is_some() { Binding::Scratch } else { Binding::Parameter(k as u32) },
        constant: false,
        span: Span::default(),
    };
    let scalar = |(k, s): (usize, &Scalar)| Array {
        name: s.name.clone(),
        ty: s.ty,
        c_type: s.ty.to_string(),
        dims: vec![],
        extents: vec![],
        storage: Storage::Dram,
        binding: Binding::Value((vsa.arrays.len() + k) as u32),
        constant: false,
        span: Span::default(),
    };
    let arrays: Vec<Array> =
        vsa.arrays.iter().enumerate().map(array).chain(vsa.scalars.iter().enumerate().map(scalar)).collect();
    let function = Function { name: Some(vsa.name.clone()), region: Span::default(), parameters: arrays.len() as u32 };
    Scop {
        name: vsa.name.clone(),
        function,
        arrays,
        loops: vec![],
        statements: vec![],
        host: vec![],
        sizes: vec![],
        clauses: vec![],
        sources: SourceMap::default(),
    }
}

/// Reads a C file; warnings go to standard error.
///
/// # Errors
/// All faults of the file.
fn load_c(file: &Path, program: &Program) -> Result<Vec<Scop>, Refused> {
    match frontend::programs(file, &program.parse_options()) {
        Ok((scops, warnings)) => {
            if !warnings.is_empty() {
                eprint!("{}", render::diagnostics(&warnings, &scops[0].sources, color()));
            }
            Ok(scops)
        }
        Err((sources, faults)) => Err(Refused::diagnostics(&faults, &sources)),
    }
}

/// Program to array.
///
/// # Errors
/// Why no array can be built.
pub fn compile(input: &Input, spec: &DesignSpec, board: &Board) -> Result<search::Compiled, Refused> {
    let later = match &input.stage {
        Some(Stage::Mapping(..) | Stage::Vsa(_)) if spec.array != ArrayChoice::Automatic => {
            Some("says which array it is: leave the mapping options out")
        }
        Some(Stage::Vsa(_)) if !spec.is_plain() => Some("is a finished array: leave the design options out"),
        Some(Stage::System(..) | Stage::Mapping(..)) if spec.arithmetic.fp_contract == Some(true) => {
            Some("is behind the stage that --fp-contract changes: use it when that stage is printed")
        }
        _ => None,
    };
    if let Some(why) = later {
        return Err(Refused::plain(format!("this input {why}")));
    }
    progress::stage("mapping");
    let compiled = match &input.stage {
        None => search::compile(&input.scop, spec, board),
        Some(stage) => search::compile_stage(stage, spec, board),
    };
    compiled.map_err(|faults| Refused::diagnostics(&faults, &input.scop.sources))
}
