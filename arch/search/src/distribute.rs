//! Loop distribution: each loop nest of the program becomes a phase of its own (`recurrence::phases`). The user asks
//! for it, or the search chooses it: an array that executes several nests at once may wait for the longest one
//! everywhere.

use crate::strips;
use array::kernel::Kernel;
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use std::borrow::Cow;
use uniform::design::{DesignSpec, Shape};
use uniform::program::{Program, Work};
use uniform::recurrence::{self, REWRITES};
use uniform::verify;

/// The program as the user asks for it: distributed, in strips, or itself.
///
/// # Errors
/// Loops that cannot be distributed or strip-mined.
pub fn requested<'a>(program: Kernel<'a>, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    if !matches!(spec.array.shape(), Some(Shape { apart: Some(true), .. })) {
        return strips::requested(program, spec);
    }
    let found = distributed(&program, spec).ok_or_else(|| {
        let why = if program.system.frame().outer > 0 {
            "the region's loop nests are phases already"
        } else {
            "the region has no loop nests that can be phases of their own"
        };
        vec![Diagnostic::error("E0729", program.scop.function.region, format!("--distribute: {why}"))
            .help("leave the option out")]
    })?;
    strips::requested(found, spec)
}

/// Other forms of the program from which the search chooses as well.
pub fn alternatives<'a>(program: &Kernel<'a>, spec: &DesignSpec) -> Vec<Kernel<'a>> {
    distributed(program, spec).into_iter().chain(strips::alternatives(program)).collect()
}

fn distributed<'a>(program: &Kernel<'a>, spec: &DesignSpec) -> Option<Kernel<'a>> {
    if program.system.frame().outer > 0 {
        return None;
    }
    let reassociate = spec.arithmetic.reassociate;
    let scop = program.written.as_ref().unwrap_or(&program.general.scop);
    let (form, system) = flow::limited(|| recurrence::distributed(scop, reassociate, &REWRITES)).ok()??;
    verify::system(&form, &system).ok()?;
    let work = Work::at_most(&form);
    let found = Program::new(Cow::Owned(form), system, reassociate, work, program.rewrites.clone());
    Kernel::new(Program { apart: true, ..found }, &spec.wiring).ok()
}
