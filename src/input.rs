//! The functions that a file holds: a C file with marked regions, or the text of a stage as `--emit` prints it.

use crate::error::{Error, Result};
use crate::reporter::Reporter;
use array::text::Stage;
use array::vsa::{DramArray, Home, Scalar, Vsa};
use frontend::ParseOptions;
use scop::diag::{SourceMap, Span};
use scop::{Array, Binding, Function, Scop, Storage};
use std::path::{Path, PathBuf};
use uniform::system::System;

/// What a function is in a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The name in the file, or its number, from 1 on.
    pub name: String,
    /// Runs of the layer.
    pub times: i64,
}

/// A function that a subcommand works on.
pub struct Input {
    /// The file it comes from.
    pub file: PathBuf,
    /// With what the file is read. The golden model is compiled with the same macros.
    pub options: ParseOptions,
    /// The layer of a network that it is.
    pub layer: Option<Layer>,
    /// The program. For a finished array this has its ports and no statements.
    pub scop: Scop,
    /// The text of a stage, if the input is not C.
    pub stage: Option<Stage>,
}

impl Input {
    /// The function at these sizes, one for each size at run time.
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
        let (file, options, layer) = (self.file.clone(), self.options.clone(), self.layer.clone());
        Input { file, options, layer, scop, stage: all }
    }

    /// The values of the function's sizes; a size that is not given has its maximum.
    ///
    /// # Errors
    /// A name that is no size of the function, or a value out of range.
    pub fn sizes(&self, given: &[(String, i64)]) -> Result<Vec<i64>> {
        sizes_of(&self.scop.name, &self.greatest(), given)
    }

    /// The sizes at run time and their maxima.
    pub fn greatest(&self) -> Vec<(String, i64)> {
        match &self.stage {
            Some(Stage::Vsa(vsa)) => vsa.sizes.list.iter().map(|s| (s.name.clone(), s.max)).collect(),
            _ => self.scop.sizes.iter().filter(|s| s.value.is_none()).map(|s| (s.name.clone(), s.max)).collect(),
        }
    }

    /// Whether the function has all these sizes.
    pub fn has_sizes(&self, given: &[(String, i64)]) -> bool {
        let known = self.greatest();
        given.iter().all(|g| known.iter().any(|k| k.0 == g.0))
    }

    /// Renames the function's IP.
    pub(crate) fn rename(&mut self, name: &str) {
        self.scop.name = name.to_string();
        match &mut self.stage {
            None => {}
            Some(Stage::Scop(scop) | Stage::System(scop, _) | Stage::Mapping(scop, ..)) => scop.name = name.to_string(),
            Some(Stage::Vsa(vsa)) => vsa.name = name.to_string(),
        }
    }
}

/// The values of a function's sizes, of which these are `known` with their maxima; a size that is not given has its
/// maximum.
///
/// # Errors
/// A name that is no size of the function, or a value out of range.
pub fn sizes_of(function: &str, known: &[(String, i64)], given: &[(String, i64)]) -> Result<Vec<i64>> {
    if let Some((name, _)) = given.iter().find(|g| !known.iter().any(|k| k.0 == g.0)) {
        let names: Vec<_> = known.iter().map(|k| k.0.as_str()).collect();
        let has = if names.is_empty() {
            "it has none: give parameters a greatest value with `#pragma sagen max(…)` or --max".to_string()
        } else {
            format!("its sizes are {}", names.join(", "))
        };
        return Err(Error::usage(format!("`{name}` is no size of {}; {has}", function)));
    }
    let value = |(name, max): &(String, i64)| {
        let value = given.iter().rev().find(|g| g.0 == *name).map_or(*max, |g| g.1);
        if (1..=*max).contains(&value) {
            Ok(value)
        } else {
            Err(Error::usage(format!("the size {name} is {value}: it may be 1 to {max}")))
        }
    };
    known.iter().map(value).collect()
}

/// Extensions of files that hold the text of a stage.
const STAGES: [&str; 5] = ["scop", "ure", "mapping", "vsa", "txt"];

/// Whether a file of this name holds the text of a stage.
pub fn is_stage(file: &Path) -> bool {
    let extension = file.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
    STAGES.contains(&extension.as_str())
}

/// Reads a C file, or the text of a stage. Warnings go to `reporter`.
///
/// # Errors
/// All faults of the file.
pub fn read(file: &Path, options: &ParseOptions, reporter: &dyn Reporter) -> Result<Vec<Input>> {
    if is_stage(file) {
        return stage(file).map(|input| vec![input]);
    }
    let (scops, warnings) =
        frontend::programs(file, options).map_err(|(sources, faults)| Error::diagnostics(faults, &sources))?;
    if !warnings.is_empty() {
        reporter.warnings(&warnings, &scops[0].sources);
    }
    let input = |scop| Input { file: file.to_path_buf(), options: options.clone(), layer: None, scop, stage: None };
    Ok(scops.into_iter().map(input).collect())
}

/// Reads the text of a stage.
///
/// # Errors
/// The file cannot be read, or holds no stage.
pub fn text(file: &Path) -> Result<Stage> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|e| Error::reason(format!("cannot read {name}: {e}")))?;
    array::text::read(&name.to_string(), &text)
        .map_err(|e| Error::reason(format!("{name} is not the text of a stage: {e}")))
}

/// Reads the text of a stage of one function.
///
/// # Errors
/// Those of [`text`]; it is a merged array.
pub fn stage(file: &Path) -> Result<Input> {
    let (name, stage) = (file.display(), text(file)?);
    if let Stage::Vsa(vsa) = &stage {
        if vsa.is_merged() {
            let names: Vec<&str> = vsa.functions.iter().map(|f| f.name.as_str()).collect();
            return Err(Error::reason(format!(
                "{name} is the merged array of {}: it runs with their C programs only, so give the C files and --merge",
                names.join(", ")
            )));
        }
    }
    let scop = match &stage {
        Stage::Scop(scop) | Stage::System(scop, _) | Stage::Mapping(scop, ..) => scop.clone(),
        Stage::Vsa(vsa) => around(vsa),
    };
    let options = ParseOptions::default();
    Ok(Input { file: file.to_path_buf(), options, layer: None, scop, stage: Some(stage) })
}

/// A program with the ports of a finished array and no statements.
fn around(vsa: &Vsa) -> Scop {
    let array = |(k, a): (usize, &DramArray)| Array {
        name: a.name.clone(),
        ty: a.ty,
        c_type: a.ty.to_string(),
        dims: a.dims.clone(),
        extents: vec![],
        storage: Storage::Dram,
        binding: if a.home.is_temporary() { Binding::Scratch } else { Binding::Parameter(k as u32) },
        constant: false,
        zeroed: a.home == Home::Kept,
        kept: a.home == Home::Kept,
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
        zeroed: false,
        kept: false,
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
