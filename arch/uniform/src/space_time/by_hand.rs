//! Plans by hand: space loops and a [`Shape`] as a user gives them, as a [`Plan`].
//!
//! Loops without a role keep their order as time loops. Every fault is reported, not only the first: E0701 unknown
//! loops, E0702 no one or two different space loops, E0703 factors below 1, E0704 loops twice in the order, E0720
//! factors far beyond their loop, E0721 two factors for one loop of the array.

use crate::design::{Factors, Shape};
use crate::mapping::{DimPlan, Plan};
use crate::system::System;
use scop::diag::Diagnostic;

/// The dimension with this name; also the only one shared by a loop with this name, as `j_l` for `j`.
fn find_dim(system: &System, name: &str) -> Option<usize> {
    let exact = system.dims.iter().position(|d| d.name == name);
    exact.or_else(|| {
        let matching: Vec<usize> =
            (0..system.dims.len()).filter(|&d| system.dims[d].name.split('_').any(|n| n == name)).collect();
        matching.first().copied().filter(|_| matching.len() == 1)
    })
}

/// The dimension of a loop that the user names.
///
/// # Errors
/// E0701, with the names of all loops.
pub fn dim_named(system: &System, name: &str) -> Result<usize, Diagnostic> {
    find_dim(system, name).ok_or_else(|| {
        let names: Vec<&str> = system.dims.iter().map(|d| d.name.as_str()).collect();
        Diagnostic::error("E0701", None, format!("there is no loop `{name}` in the region"))
            .help(format!("the loops are {}", names.join(", ")))
    })
}

/// Factors up to this size may exceed the loop's extent: one tile size may serve loops of many extents.
const ANY_EXTENT: i64 = 64;

/// The plan that the user describes, over one transform.
///
/// # Errors
/// All faults of the description.
pub fn by_hand(
    system: &System,
    space: &[String],
    shape: &Shape,
    transform: Vec<Vec<i64>>,
) -> Result<Plan, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let depth = system.dims.len();
    let mut plan = Plan { transform, dims: vec![DimPlan::default(); depth], order: (0..depth).collect() };
    let space: Vec<usize> = space.iter().filter_map(|n| collected(dim_named(system, n), &mut faults)).collect();
    if space.len() > 2 || (space.len() == 2 && space[0] == space[1]) {
        faults.push(
            Diagnostic::error("E0702", None, "an array has one or two different space loops")
                .help("for example --space i,j"),
        );
    }
    for (axis, &d) in space.iter().take(2).enumerate() {
        plan.dims[d].axis = Some(axis);
    }
    faults.extend(cut(system, shape, &mut plan, |name| dim_named(system, name)));
    let in_blocks = |name: &&String| dim_named(system, name).is_ok_and(|d| plan.dims[d].axis.is_none());
    if let Some(name) = shape.cyclic.iter().flatten().find(in_blocks).filter(|_| !space.is_empty()) {
        let fault = Diagnostic::error("E0702", None, format!("--cyclic {name}: the loop is no space loop"));
        faults.push(fault.help("only iterations of space loops are dealt out to PEs"));
    }
    let first = order(system, shape.order.as_deref().unwrap_or_default(), &mut faults);
    plan.order = first.iter().copied().chain((0..depth).filter(|d| !first.contains(d))).collect();
    if faults.is_empty() {
        Ok(plan)
    } else {
        Err(faults)
    }
}

/// The value; a fault goes to the others.
fn collected<T>(found: Result<T, Diagnostic>, faults: &mut Vec<Diagnostic>) -> Option<T> {
    found.map_err(|fault| faults.push(fault)).ok()
}

/// A kind of factor of a [`Shape`].
struct Factor<'a> {
    option: &'static str,
    by_loop: &'a Factors,
    set: fn(&mut DimPlan, i64),
}

/// Gives the dimensions, which `find` finds by name, their tile, latency and SIMD factors; returns the faults.
pub(super) fn cut(
    system: &System,
    shape: &Shape,
    plan: &mut Plan,
    find: impl Fn(&str) -> Result<usize, Diagnostic>,
) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let extent =
        |row: &Vec<i64>| row.iter().zip(&system.dims).map(|(c, dim)| c.abs() * (dim.hi - dim.lo)).sum::<i64>() + 1;
    let extents: Vec<i64> = plan.transform.iter().map(extent).collect();
    let kinds = [
        Factor { option: "tile", by_loop: &shape.tile, set: |d, f| d.tile = Some(f) },
        Factor { option: "latency", by_loop: &shape.latency, set: |d, f| d.latency = f },
        Factor { option: "simd", by_loop: &shape.simd, set: |d, f| d.simd = f },
    ];
    for Factor { option, by_loop, set } in kinds {
        let mut given: Vec<(usize, &str, i64)> = vec![];
        for (name, &factor) in by_loop {
            let Some(d) = collected(find(name), &mut faults) else { continue };
            match factor_fault(option, name, factor, extents[d], given.iter().find(|g| g.0 == d)) {
                Some(fault) => faults.push(fault),
                None => {
                    given.push((d, name, factor));
                    set(&mut plan.dims[d], factor);
                }
            }
        }
    }
    for name in shape.cyclic.iter().flatten() {
        collected(find(name), &mut faults).into_iter().for_each(|d| plan.dims[d].cyclic = true);
    }
    faults
}

/// The fault of a factor of a loop, if it has one; `given`: the factor under another name of the same loop.
fn factor_fault(
    option: &str,
    name: &str,
    factor: i64,
    extent: i64,
    given: Option<&(usize, &str, i64)>,
) -> Option<Diagnostic> {
    if factor < 1 {
        return Some(Diagnostic::error("E0703", None, format!("--{option} {name}={factor}: a factor is at least 1")));
    }
    if factor > ANY_EXTENT && factor / 2 >= extent {
        let fault = Diagnostic::error(
            "E0720",
            None,
            format!(
                "--{option} {name}={factor}: the loop has {extent} iteration{}",
                if extent == 1 { "" } else { "s" }
            ),
        );
        return Some(fault.help(format!(
            "the whole loop is {name}={extent}; a factor above {ANY_EXTENT} is less than twice its loop"
        )));
    }
    let (_, other, theirs) = given.filter(|g| g.2 != factor)?;
    let fault = Diagnostic::error(
        "E0721",
        None,
        format!("--{option} {other}={theirs},{name}={factor}: these loops are one loop of the array"),
    );
    Some(fault.help("give the factor once"))
}

/// Dimensions in the order in which the loops are named. Loops that are one in the array may stand side by side.
fn order(system: &System, names: &[String], faults: &mut Vec<Diagnostic>) -> Vec<usize> {
    let mut all: Vec<usize> = vec![];
    for (k, name) in names.iter().enumerate() {
        let Some(d) = collected(dim_named(system, name), faults) else { continue };
        if names[..k].contains(name) {
            faults.push(Diagnostic::error("E0704", None, format!("--order names `{name}` twice")));
        } else if !all.contains(&d) {
            all.push(d);
        } else if all.last() != Some(&d) {
            faults.push(Diagnostic::error(
                "E0704",
                None,
                format!("--order: `{name}` and another loop that it names before are one loop of the array"),
            ));
        }
    }
    all
}
