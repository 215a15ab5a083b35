//! One systolic array for all layers of a network. The layers are one C file, each with other macros.

use super::{effort, space_loops, watch};
use crate::cli::{Explore, Program};
use crate::error::{Error, Result};
use crate::files;
use crate::program::Work;
use crate::reporter::{Progress, Reporter};
use array::kernel::Kernel;
use cost::board::Board;
use scop::Scop;
use search::branch::{network, Layer, Network, Shared};
use search::choose;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use uniform::design::DesignSpec;

/// The file: `[[layer]]` tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    layer: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    /// Runs of the layer; equal layers need one table.
    #[serde(default = "once")]
    times: i64,
    /// Macros of the C file.
    define: BTreeMap<String, toml::Value>,
}

fn once() -> i64 {
    1
}

/// A layer of the network.
pub struct Read {
    pub name: String,
    /// Runs of the layer.
    pub times: i64,
    pub scop: Scop,
    /// What is asked of the layer.
    pub spec: DesignSpec,
}

/// One systolic array for all layers.
pub struct Answer {
    pub layers: Vec<Read>,
    /// Iterations of one run of each layer.
    pub iterations: Vec<i64>,
    pub board: Board,
    /// The systolic array, and the design of each layer on it.
    pub found: Shared,
    pub seconds: f64,
}

/// # Errors
/// The file is malformed, a layer is refused, the layers differ in form, or nothing fits.
pub(super) fn run(arguments: &Explore, path: &Path, reporter: &dyn Reporter) -> Result<Answer> {
    let (layers, board) = read(arguments, path, reporter)?;
    let mut programs: Vec<Kernel> = vec![];
    for layer in &layers {
        let program = search::program(&layer.scop, &search::on(&board, &layer.spec));
        let refused = |faults| Error::diagnostics(faults, &layer.scop.sources).within(part(path, &layer.name));
        programs.push(program.map_err(refused)?);
    }
    let spec = &search::on(&board, &layers[0].spec);
    let space = space_loops(spec, &programs[0])?;
    let limits = choose::limits_of(&board, &spec.aim.limit).map_err(Error::usage)?;
    let begin = Instant::now();
    let watch = watch(arguments, begin, reporter);
    let parts: Vec<Layer> =
        programs.iter().zip(&layers).map(|(program, layer)| Layer { program, times: layer.times }).collect();
    let found =
        network(&Network { layers: &parts, spec, limits, space, effort: effort(arguments), watch: Some(&watch) });
    reporter.progress(Progress::Done);
    let found = found.map_err(|why| Error::usage(format!("{}: {why}", path.display())))?;
    let found = found.ok_or_else(|| Error::usage("no array within the limits runs all layers"))?;
    let seconds = begin.elapsed().as_secs_f64();
    let iterations = programs.iter().map(|program| program.work.iterations).collect();
    drop(programs);
    Ok(Answer { layers, iterations, board, found, seconds })
}

/// The name of a layer in errors.
fn part(path: &Path, name: &str) -> String {
    format!("layer {name} of {}", path.display())
}

fn read(arguments: &Explore, path: &Path, reporter: &dyn Reporter) -> Result<(Vec<Read>, Board)> {
    let wrong = |why: String| Error::usage(format!("{}: {why}", path.display()));
    let file: File = toml::from_str(&files::text(path).map_err(Error::reason)?).map_err(|e| wrong(e.to_string()))?;
    let (mut layers, mut board) = (vec![], None);
    for (k, entry) in file.layer.into_iter().enumerate() {
        let name = entry.name.unwrap_or_else(|| (k + 1).to_string());
        if entry.times < 1 {
            return Err(wrong(format!("layer {name} runs {} times: once is the least", entry.times)));
        }
        let text = |value: toml::Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        let own = entry.define.into_iter().map(|(macro_name, value)| (macro_name, text(value)));
        let program = Program {
            defines: arguments.program.defines.iter().cloned().chain(own).collect(),
            ..arguments.program.clone()
        };
        let loaded = Work::load(&program, &arguments.design, reporter);
        let only = loaded.and_then(|work| work.only("`sagen explore --network`"));
        let (input, spec, its_board) = only.map_err(|why| why.within(part(path, &name)))?;
        board = Some(its_board);
        layers.push(Read { name, times: entry.times, scop: input.scop, spec });
    }
    let board = board.ok_or_else(|| wrong("a network has one [[layer]] at least".into()))?;
    Ok((layers, board))
}
