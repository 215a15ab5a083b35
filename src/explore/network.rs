//! One systolic array for all layers of a network. The layers are one C file, each with other macros.

use super::{effort, space_loops, watch};
use crate::cli::Explore;
use crate::error::{Error, Result};
use crate::input::{Input, Layer};
use crate::network::part;
use crate::program::Work;
use crate::reporter::{Progress, Reporter};
use array::kernel::Kernel;
use cost::board::Board;
use scop::Scop;
use search::branch::Layer as Part;
use search::branch::{network, Network, Shared};
use search::choose;
use std::path::Path;
use std::time::Instant;
use uniform::design::DesignSpec;

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
    let work = Work::load(&arguments.program, &arguments.design, reporter)?.counting(arguments.memory);
    let board = work.board;
    let read = |(Input { scop, layer, .. }, spec)| layer.map(|Layer { name, times }| Read { name, times, scop, spec });
    let layers: Vec<Read> = work.functions.into_iter().filter_map(read).collect();
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
    let parts: Vec<Part> =
        programs.iter().zip(&layers).map(|(program, layer)| Part { program, times: layer.times }).collect();
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
