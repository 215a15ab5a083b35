//! The array that the user describes by space loops, or by coordinates of space and time, with the factors of a
//! [`Shape`].

use array::kernel::Kernel;
use array::variants::assemble;
use array::vsa::Vsa;
use cost::memory;
use scop::diag::{Diagnostic, Diagnostics};
use uniform::design::{DesignSpec, Shape};
use uniform::mapping::Plan;
use uniform::space_time::by_hand;
use uniform::space_time::coordinates::{is_plain, Coordinates};
use uniform::space_time::transform;
use uniform::system::System;

/// The array of a plan.
///
/// # Errors
/// Why the plan has no array.
pub fn array(program: &Kernel, plan: Plan, spec: &DesignSpec) -> Result<(Plan, Vsa), Diagnostics> {
    match assemble(program, plan.clone(), spec) {
        Ok(vsa) => Ok((plan, vsa)),
        Err(illegal) => Err(vec![illegal.diagnostic(&program.scop, &program.system, &plan)]),
    }
}

/// The array of the user's plan under the first transform that makes it legal. If the user names no space loops: the
/// fastest over all of them.
///
/// # Errors
/// What is wrong with the description, or why no transform makes it legal.
pub fn by_hand(
    program: &Kernel,
    space: Option<&[String]>,
    shape: &Shape,
    spec: &DesignSpec,
) -> Result<(Plan, Vsa), Diagnostics> {
    let system = &program.system;
    if let Some(plan) = by_coordinates(program, space, shape)? {
        return array(program, plan, spec);
    }
    let mut reasons: Diagnostics = Vec::new();
    let spaces = space.map_or_else(|| space_choices(system), |s| vec![s.to_vec()]);
    let mut best: Option<(i64, (Plan, Vsa))> = None;
    for space in &spaces {
        for transform in transform::transforms(system) {
            let plan = by_hand::by_hand(system, space, shape, transform)?;
            match assemble(program, plan.clone(), spec) {
                Ok(vsa) => {
                    let cycles = memory::run(&vsa, spec).prediction.cycles;
                    if best.as_ref().is_none_or(|b| cycles < b.0) {
                        best = Some((cycles, (plan, vsa)));
                    }
                    break;
                }
                Err(illegal) => {
                    let reason = illegal.diagnostic(&program.scop, system, &plan);
                    if !reasons.contains(&reason) {
                        reasons.push(reason);
                    }
                }
            }
        }
    }
    best.map(|b| b.1).ok_or(reasons)
}

/// The plan by coordinates of space and time, if the user writes such.
pub(super) fn by_coordinates(
    program: &Kernel,
    space: Option<&[String]>,
    shape: &Shape,
) -> Result<Option<Plan>, Diagnostics> {
    let space = space.unwrap_or_default();
    let depth = program.system.dims.len();
    let Some(time) = &shape.time else {
        return match space.iter().find(|s| !is_plain(s)) {
            Some(_) if space.len() == depth => {
                Coordinates::new(&program.scop, &program.system).plan(space, &[], shape).map(Some)
            }
            Some(s) => Err(vec![Diagnostic::error(
                "E0702",
                None,
                format!("space `{s}` is an expression, so the loops that are left do not say what time is"),
            )
            .help("say what time is, for example --space c+q --time q")]),
            None => Ok(None),
        };
    };
    Coordinates::new(&program.scop, &program.system).plan(space, time, shape).map(Some)
}

fn space_choices(system: &System) -> Vec<Vec<String>> {
    let name = |d: usize| system.dims[d].name.clone();
    let n = system.dims.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    pairs.map(|(a, b)| vec![name(a), name(b)]).chain((0..n).map(|a| vec![name(a)])).collect()
}

/// A listed plan with the user's factors and order.
pub(super) fn shaped(program: &Kernel, row: &Plan, shape: &Shape) -> Result<Plan, Diagnostics> {
    let mut plan = by_hand::by_hand(&program.system, &[], shape, row.transform.clone())?;
    plan.dims.iter_mut().zip(&row.dims).for_each(|(dim, row)| dim.axis = row.axis);
    Ok(plan)
}
