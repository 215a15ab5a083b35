//! A program whose loop nests are phases of their own, asked for or to be chosen from (`recurrence::phases`): one array
//! that executes several nests at once may wait for the longest of them at every place.

use crate::strips;
use array::kernel::Kernel;
use scop::diag::{Diagnostic, Diagnostics};
use scop::flow;
use std::borrow::Cow;
use uniform::design::{DesignSpec, Shape};
use uniform::program::{Program, Work};
use uniform::recurrence::{self, REWRITES};
use uniform::verify;

/// The program as the user asks for it: its nests apart, or in strips; itself if he does not.
///
/// # Errors
/// What cannot be taken apart, or cut.
pub fn asked<'a>(program: Kernel<'a>, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    if !matches!(spec.array.shape(), Some(Shape { apart: Some(true), .. })) {
        return strips::stripped(program, spec);
    }
    let found = apart(&program, spec).ok_or_else(|| {
        let why = if program.system.frame().outer > 0 {
            "the region's loop nests are phases already"
        } else {
            "the region has no loop nests that can be phases of their own"
        };
        vec![Diagnostic::error("E0729", program.scop.function.region, format!("--distribute: {why}"))
            .help("leave the option out")]
    })?;
    strips::stripped(found, spec)
}

/// The same program in other forms, to be chosen from as well.
pub fn alternatives<'a>(program: &Kernel<'a>, spec: &DesignSpec) -> Vec<Kernel<'a>> {
    apart(program, spec).into_iter().chain(strips::alternatives(program)).collect()
}

fn apart<'a>(program: &Kernel<'a>, spec: &DesignSpec) -> Option<Kernel<'a>> {
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
