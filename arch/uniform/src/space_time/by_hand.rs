//! Plans by hand: what space loops and a [`Shape`] say of the program's loops.
//!
//! Refused here: E0701 unknown loops, E0702 space loops that are no array's, E0703 factors below 1, E0704 loops that
//! stand twice in the order, E0720 factors far beyond their loop, E0721 two factors for loops that are one in the
//! array.

use crate::design::Shape;
use crate::mapping::{DimPlan, Plan};
use crate::system::System;
use scop::diag::Diagnostic;

/// Loop names a person may write for a dimension, as `i`, or `j` for a dimension shared by loops `j` and `l` (`j_l`).
fn find_dim(system: &System, name: &str) -> Option<usize> {
    let exact = system.dims.iter().position(|d| d.name == name);
    exact.or_else(|| {
        let matching: Vec<usize> =
            (0..system.dims.len()).filter(|&d| system.dims[d].name.split('_').any(|n| n == name)).collect();
        matching.first().copied().filter(|_| matching.len() == 1)
    })
}

/// Dimension of a loop the user named.
///
/// # Errors
/// E0701 with the loops there are.
pub fn dim_named(system: &System, name: &str) -> Result<usize, Diagnostic> {
    find_dim(system, name).ok_or_else(|| {
        let known: Vec<&str> = system.dims.iter().map(|d| d.name.as_str()).collect();
        Diagnostic::error("E0701", None, format!("there is no loop `{name}` in the region"))
            .help(format!("the loops are {}", known.join(", ")))
    })
}

/// Factors up to this size need not look at the loop's extent: one tile size may serve loops of many extents.
const ANY_EXTENT: i64 = 64;

/// The plan the user describes, over one transform; loops without a role keep their order as time loops.
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
    let space: Vec<usize> = space.iter().filter_map(|n| known(dim_named(system, n), &mut faults)).collect();
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
    let first = order(system, shape.order.as_deref().unwrap_or_default(), &mut faults);
    plan.order = first.iter().copied().chain((0..depth).filter(|d| !first.contains(d))).collect();
    if faults.is_empty() {
        Ok(plan)
    } else {
        Err(faults)
    }
}

fn known<T>(found: Result<T, Diagnostic>, faults: &mut Vec<Diagnostic>) -> Option<T> {
    found.map_err(|fault| faults.push(fault)).ok()
}

/// Gives the dimensions, which `find` knows by name, their tile, latency and SIMD factors; what is wrong with these.
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
    let kinds: [(&str, _, fn(&mut DimPlan, i64)); 3] = [
        ("tile", &shape.tile, |d, f| d.tile = Some(f)),
        ("latency", &shape.latency, |d, f| d.latency = f),
        ("simd", &shape.simd, |d, f| d.simd = f),
    ];
    for (kind, asked, set) in kinds {
        let mut given: Vec<(usize, &str, i64)> = vec![];
        for (name, &factor) in asked {
            let Some(d) = known(find(name), &mut faults) else { continue };
            match factor_fault(kind, name, factor, extents[d], given.iter().find(|g| g.0 == d)) {
                Some(fault) => faults.push(fault),
                None => {
                    given.push((d, name, factor));
                    set(&mut plan.dims[d], factor);
                }
            }
        }
    }
    faults
}

/// What is wrong with a factor of a loop; `given` is what another name said of the same one.
fn factor_fault(
    kind: &str,
    name: &str,
    factor: i64,
    extent: i64,
    given: Option<&(usize, &str, i64)>,
) -> Option<Diagnostic> {
    if factor < 1 {
        return Some(Diagnostic::error("E0703", None, format!("--{kind} {name}={factor}: a factor is at least 1")));
    }
    if factor > ANY_EXTENT && factor / 2 >= extent {
        let fault = Diagnostic::error(
            "E0720",
            None,
            format!("--{kind} {name}={factor}: the loop has {extent} iteration{}", if extent == 1 { "" } else { "s" }),
        );
        return Some(fault.help(format!(
            "the whole loop is {name}={extent}; a factor above {ANY_EXTENT} is less than twice its loop"
        )));
    }
    let (_, other, theirs) = given.filter(|g| g.2 != factor)?;
    let fault = Diagnostic::error(
        "E0721",
        None,
        format!("--{kind} {other}={theirs},{name}={factor}: these loops are one loop of the array"),
    );
    Some(fault.help("give the factor once"))
}

/// Dimensions in the order in which the loops are named. Loops that are one in the array may stand side by side.
fn order(system: &System, names: &[String], faults: &mut Vec<Diagnostic>) -> Vec<usize> {
    let mut all: Vec<usize> = vec![];
    for (k, name) in names.iter().enumerate() {
        let Some(d) = known(dim_named(system, name), faults) else { continue };
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
