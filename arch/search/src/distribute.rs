//! Loop distribution: each loop nest of the program becomes a phase of its own (`recurrence::phases`). The user asks
//! for it, or the search chooses it: an array that executes several nests at once may wait for the longest one
//! everywhere. A program of one nest becomes one phase for each iteration of its outermost loop ([`in_steps`]), if the
//! user asks for it, or if it fits the board in no other way.

use crate::strips;
use array::kernel::Kernel;
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use std::borrow::Cow;
use uniform::design::{DesignSpec, Shape};
use uniform::program::{Program, Work};
use uniform::recurrence::{self, Separate, REWRITES};
use uniform::verify;

/// The program as the user asks for it: distributed, in strips, or itself.
///
/// # Errors
/// Loops that cannot be distributed or strip-mined.
pub fn requested<'a>(program: Kernel<'a>, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    if !matches!(spec.array.shape(), Some(Shape { distribute: Some(true), .. })) {
        return strips::requested(program, spec);
    }
    let by_nest = distributed(&program, Separate::Nests, spec);
    let found = by_nest.or_else(|| in_steps(&program, spec)).ok_or_else(|| {
        let why = if program.system.frame().outer > 0 {
            "the region's loop nests are phases already"
        } else {
            "the region has no loop nests that can be phases of their own, and no loop around others carries values"
        };
        vec![Diagnostic::error("E0729", program.scop.function.region, format!("--distribute: {why}"))
            .help("leave the option out")]
    })?;
    strips::requested(found, spec)
}

/// Other forms of the program from which the search chooses as well.
pub fn alternatives<'a>(program: &Kernel<'a>, spec: &DesignSpec) -> Vec<Kernel<'a>> {
    distributed(program, Separate::Nests, spec).into_iter().chain(strips::alternatives(program)).collect()
}

/// The program with one phase for each iteration of its outermost loop: values pass from iteration to iteration through
/// memory, so an array needs no place on chip for all of them. The form of a program whose nests cannot be distributed.
pub fn in_steps<'a>(program: &Kernel<'a>, spec: &DesignSpec) -> Option<Kernel<'a>> {
    if distributed(program, Separate::Nests, spec).is_some() {
        return None;
    }
    distributed(program, Separate::Steps, spec)
}

fn distributed<'a>(program: &Kernel<'a>, separate: Separate, spec: &DesignSpec) -> Option<Kernel<'a>> {
    if program.system.frame().outer > 0 {
        return None;
    }
    let reassociate = spec.arithmetic.reassociate;
    let scop = program.written.as_ref().unwrap_or(&program.general.scop);
    let (form, system) = flow::limited(|| recurrence::distributed(scop, separate, reassociate, &REWRITES)).ok()??;
    verify::system(&form, &system).ok()?;
    let work = Work::at_most(&form);
    let found = Program::new(Cow::Owned(form), system, reassociate, work, program.rewrites.clone());
    Kernel::new(Program { distributed: true, ..found }, &spec.wiring).ok()
}
