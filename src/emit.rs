//! `sagen rtl --emit`: one stage of the compilation as text.

use crate::by_time;
use crate::cli::{Emit, Rtl};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::program::{self, Work};
use crate::report;
use crate::reporter::{Progress, Reporter};
use crate::sim::Built;
use array::text::Stage;
use array::vsa::Vsa;
use search::Compiled;
use uniform::design::DesignSpec;
use uniform::recurrence::rewrite::Attempt;

/// See [`crate::emit()`].
pub(crate) fn run(arguments: &Rtl, wanted: Emit, reporter: &dyn Reporter) -> Result<String> {
    let work = Work::load(&arguments.program, &arguments.design, reporter)?.counting(arguments.memory);
    let is_merged = work.merge && wanted == Emit::Vsa;
    if work.functions.len() > 1 && wanted != Emit::Rtl && !is_merged {
        return Err(work.several("this stage"));
    }
    if work.merge {
        let compiled = work.compile(reporter)?;
        let merged = compiled[0].merged().ok_or_else(|| Error::internal("nothing is merged".to_string()))?;
        return match wanted {
            Emit::Vsa => Ok(array::text::to_text(merged)),
            _ => verilog(&work, &[merged]),
        };
    }
    let mut compiled = vec![];
    for (input, spec) in &work.functions {
        if let Some(text) = before_mapping(wanted, input, spec)? {
            return Ok(text);
        }
        let function = match &work.functions[..] {
            [_] => by_time::choose(&work, reporter)?.compiled.remove(0),
            _ => program::compile(input, spec, &work.board, reporter)?,
        };
        if let Some(text) = with_array(wanted, &function)? {
            return Ok(text);
        }
        compiled.push(function);
    }
    reporter.progress(Progress::Stage("building"));
    verilog(&work, &compiled.iter().map(|c| &c.vsa).collect::<Vec<_>>())
}

/// The Verilog of the IP.
fn verilog(work: &Work, arrays: &[&Vsa]) -> Result<String> {
    let built = Built::new(&program::of_arrays(&work.name, work.queue, arrays)?).map_err(Error::internal)?;
    Ok(built.verilog().into_iter().map(|f| f.1).collect::<Vec<_>>().join("\n"))
}

/// A stage that needs the systolic array.
fn with_array(emit: Emit, compiled: &Compiled) -> Result<Option<String>> {
    match (emit, &compiled.stages) {
        (Emit::Vsa, _) => Ok(Some(array::text::to_text(&compiled.vsa))),
        (Emit::Ure, Some(s)) => Ok(Some(tried(&s.rewrites) + &uniform::text::system(&s.scop, &s.system))),
        (Emit::Mapping, Some(s)) => {
            Ok(Some(tried(&s.rewrites) + &uniform::text::mapping(&s.scop, &s.system, &s.plan) + &shape(&compiled.vsa)))
        }
        (Emit::Scop | Emit::Ure | Emit::Mapping, None) => {
            Err(Error::usage("an array by itself does not say what program it was made from"))
        }
        _ => Ok(None),
    }
}

/// A stage that does not need the systolic array.
fn before_mapping(emit: Emit, input: &Input, spec: &DesignSpec) -> Result<Option<String>> {
    let scop = match (&input.stage, emit) {
        (None | Some(Stage::Scop(_)), Emit::Scop | Emit::Ure) => &input.scop,
        (Some(Stage::System(scop, system) | Stage::Mapping(scop, system, _)), Emit::Ure) => {
            return Ok(Some(uniform::text::system(scop, system)))
        }
        (Some(Stage::System(scop, _) | Stage::Mapping(scop, ..)), Emit::Scop) => return Ok(Some(scop.to_string())),
        _ => return Ok(None),
    };
    if emit == Emit::Scop {
        return Ok(Some(spec.program(scop).to_string()));
    }
    let program = search::program(scop, spec).map_err(|faults| Error::diagnostics(faults, &scop.sources))?;
    Ok(Some(tried(&program.rewrites) + &uniform::text::system(&program.scop, &program.system)))
}

/// The outcome of each rewrite, as comments.
fn tried(rewrites: &[Attempt]) -> String {
    rewrites.iter().map(|attempt| format!("# {attempt}\n")).collect()
}

/// The loops of a mapping, as comments.
fn shape(vsa: &Vsa) -> String {
    let loops = vsa.counters.iter().enumerate().map(|(k, c)| {
        format!("# {} loop {} trip {}\n", if k < vsa.tile_depth { "tile" } else { "time" }, c.name, c.trip)
    });
    format!("# {}\n", report::headline(vsa))
        + &loops.collect::<String>()
        + &format!("# skew {:?} interval {}\n", vsa.schedule.steps(), vsa.schedule.interval)
}
