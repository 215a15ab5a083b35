//! Plans by hand: what space loops and a [`Shape`] say of the program's loops.

use crate::ir::design::Shape;
use crate::ir::mapping::{DimPlan, Plan};
use crate::ir::ure::System;
use frontend::diag::Diagnostic;

/// Loop names a person may write for a dimension, as `i`, or `j` for a dimension shared by loops `j` and `l` (`j_l`).
fn find_dim(system: &System, name: &str) -> Option<usize> {
    let exact = system.dims.iter().position(|d| d.name == name);
    exact.or_else(|| {
        let matching: Vec<usize> = (0..system.dims.len()).filter(|&d| system.dims[d].name.split('_').any(|n| n == name)).collect();
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
        Diagnostic::error("E0701", None, format!("there is no loop `{name}` in the region")).help(format!("the loops are {}", known.join(", ")))
    })
}

/// The plan the user describes, over one transform; loops without a role keep their order as time loops.
///
/// # Errors
/// All faults of the description: unknown loops, factors below 1, more than two space loops.
pub fn by_hand(system: &System, space: &[String], shape: &Shape, transform: Vec<Vec<i64>>) -> Result<Plan, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let depth = system.dims.len();
    let mut plan = Plan { transform, dims: vec![DimPlan::default(); depth], order: (0..depth).collect() };
    let mut named = |name: &str| dim_named(system, name).map_err(|f| faults.push(f)).ok();
    let space: Vec<usize> = space.iter().filter_map(|n| named(n)).collect();
    let order: Vec<usize> = shape.order.iter().flatten().filter_map(|n| named(n)).collect();
    if space.len() > 2 || (space.len() == 2 && space[0] == space[1]) {
        faults.push(Diagnostic::error("E0702", None, "an array has one or two different space loops").help("for example --space i,j"));
    }
    for (axis, &d) in space.iter().take(2).enumerate() {
        plan.dims[d].axis = Some(axis);
    }
    match factors(shape, |name| dim_named(system, name)) {
        Ok(found) => found.into_iter().for_each(|set| set(&mut plan.dims)),
        Err(found) => faults.extend(found),
    }
    let mut full = order.clone();
    full.dedup();
    full.extend((0..depth).filter(|d| !order.contains(d)));
    if full.len() != depth {
        faults.push(Diagnostic::error("E0704", None, "--order names a loop twice"));
    } else {
        plan.order = full;
    }
    if faults.is_empty() { Ok(plan) } else { Err(faults) }
}

type Set = Box<dyn FnOnce(&mut [DimPlan])>;

/// What tile, latency and SIMD factors say, for the dimensions that `find` knows by name.
///
/// # Errors
/// Unknown names, and E0703 for factors below 1.
pub(super) fn factors(shape: &Shape, find: impl Fn(&str) -> Result<usize, Diagnostic>) -> Result<Vec<Set>, Vec<Diagnostic>> {
    let (mut found, mut faults): (Vec<Set>, _) = (Vec::new(), Vec::new());
    let kinds: [(&str, _, fn(&mut DimPlan, i64)); 3] = [("tile", &shape.tile, |d, f| d.tile = Some(f)), ("latency", &shape.latency, |d, f| d.latency = f), ("simd", &shape.simd, |d, f| d.simd = f)];
    for (kind, list, set) in kinds {
        for (name, &factor) in list {
            match find(name) {
                Ok(_) if !(1..=1 << 30).contains(&factor) => faults.push(Diagnostic::error("E0703", None, format!("the {kind} factor {factor} of loop `{name}` is not a positive number of iterations"))),
                Ok(d) => found.push(Box::new(move |dims: &mut [DimPlan]| set(&mut dims[d], factor))),
                Err(fault) => faults.push(fault),
            }
        }
    }
    if faults.is_empty() { Ok(found) } else { Err(faults) }
}
