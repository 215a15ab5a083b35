//! A program whose loop nests are phases of their own, asked for or to be chosen from (`recurrence::phases`): one array
//! that executes several nests at once may wait for the longest of them at every place.

use super::assemble::{Program, Work};
use super::strips;
use crate::io::port;
use crate::ir::design::{DesignSpec, Shape};
use crate::recurrence::rewrite::Region;
use crate::recurrence::{phases, sized, REWRITES};
use crate::verify;
use frontend::diag::{Diagnostic, Diagnostics};
use frontend::flow;
use std::borrow::Cow;

/// The program as the user asks for it: its nests apart, or in strips; itself if he does not.
///
/// # Errors
/// What cannot be taken apart, or cut.
pub fn asked<'a>(program: Program<'a>, spec: &DesignSpec) -> Result<Program<'a>, Diagnostics> {
    if !matches!(spec.array.shape(), Some(Shape { apart: Some(true), .. })) {
        return strips::stripped(program, spec);
    }
    let found = apart(&program, spec).ok_or_else(|| {
        let why = if program.system.phases > 0 {
            "the region's loop nests are phases already"
        } else {
            "the region has no loop nests that can be phases of their own"
        };
        vec![Diagnostic::error("E0729", program.scop.function.region, format!("--apart: {why}"))
            .help("leave the option out")]
    })?;
    strips::stripped(found, spec)
}

/// The same program in other forms, to be chosen from as well.
pub fn alternatives<'a>(program: &Program<'a>, spec: &DesignSpec) -> Vec<Program<'a>> {
    apart(program, spec).into_iter().chain(strips::alternatives(program, spec)).collect()
}

fn apart<'a>(program: &Program<'a>, spec: &DesignSpec) -> Option<Program<'a>> {
    if program.system.phases > 0 {
        return None;
    }
    let reassociate = spec.arithmetic.reassociate;
    let scop = program.written.as_ref().unwrap_or(program.sized.as_ref().map_or(&program.scop, |sized| &sized.scop));
    let (form, system) = flow::limited(|| match scop.open_sizes() {
        0 => phases::apart(scop, &Region::new(scop, reassociate), &REWRITES),
        _ => sized::apart(scop, reassociate, &REWRITES),
    })
    .ok()??;
    verify::system(&form, &system).ok()?;
    let ports = port::assign(&form, &spec.wiring).ok()?;
    let work = Work::at_most(&form);
    Some(Program { apart: true, ..Program::new(Cow::Owned(form), system, spec, work, ports, program.rewrites.clone()) })
}
