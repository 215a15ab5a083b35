//! Arrays that need no search: few choices, each assembled as it is.

use super::super::assembler::Outcome;
use super::super::Search;
use crate::tuning;
use uniform::mapping::{DimPlan, Plan};

/// What to place along the axes of an array, under one transform.
struct Choice {
    facts: usize,
    axes: Vec<usize>,
}

/// Simple arrays over every choice of space loops, until one is legal.
pub(super) fn seeds(search: &mut Search) {
    for rest in [Rest::InTiles, Rest::InTurn] {
        for choice in choices(search) {
            if !search.incumbent.is_none() || rest == Rest::InTurn && has_spent_a_part(search) {
                return;
            }
            // In turn over one axis: large arrays over two of them take seconds to assemble, and most do not fit.
            if rest == Rest::InTurn && choice.axes.len() > 1 {
                continue;
            }
            seed(search, &choice, rest);
        }
    }
}

/// Searches of little effort need it for other arrays.
fn has_spent_a_part(search: &Search) -> bool {
    let part = search.task.effort.part(tuning::SEED_PART);
    search.counts.exact > part.exact || search.budget.work(&search.spent()) > part.work
}

/// The largest simple array over these space loops that is legal and fits.
fn seed(search: &mut Search, choice: &Choice, rest: Rest) {
    for most in tuning::SEED_PES {
        let Some(plan) = plan(search, choice, most, rest) else { continue };
        match search.try_plan(plan.clone()) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(illegal) => search.refusals.explain(search.task.program, *illegal, plan),
        }
        return;
    }
}

/// Whole arrays over loops that pass values on.
pub(super) fn wholes(search: &mut Search) {
    for choice in choices(search) {
        let facts = &search.model.facts[choice.facts];
        let passed_on = choice.axes.iter().all(|&d| d >= facts.phases && !facts.parallel(d));
        let wanted = passed_on && !search.incumbent.is_none();
        let Some(plan) = plan(search, &choice, i64::MAX, Rest::InTiles).filter(|_| wanted) else { continue };
        // Another array is better, so nobody asks why this one is refused.
        let _ = search.try_plan(plan);
    }
}

/// One PE that executes all loops in the program's order: values are computed in time there. Its cycles are a bound,
/// too.
pub(super) fn single_pe(search: &mut Search) {
    let limit = search.incumbent.limit();
    if search.bound >= limit || search.task.space.is_some() || search.task.only.is_some() {
        return;
    }
    let plan = Plan::identity(search.task.program.system.dims.len());
    let words = search.task.spec.wiring.word.clone();
    match search.model.assembler.evaluate(plan, words, search.allowed(limit)) {
        Ok(Outcome::Better { design, work }) => {
            search.counts.exact += 1;
            search.counts.rows += work;
            search.bound = search.bound.min(design.cycles);
            search.open = search.bound;
            search.offer(*design);
        }
        Ok(Outcome::Long { .. }) => search.bound = search.bound.min(search.model.floor()),
        Ok(Outcome::TooBig { need, .. }) => search.count_too_big(&need),
        _ => {}
    }
}

/// Every choice of space loops under every transform.
fn choices(search: &Search) -> Vec<Choice> {
    let depth = search.task.program.system.dims.len();
    let singles = (0..depth).map(|a| vec![a]);
    let pairs = (0..depth).flat_map(|a| (a + 1..depth).flat_map(move |b| [vec![a, b], vec![b, a]]));
    let wanted = |axes: &Vec<usize>| if search.task.space.is_some() { search.allows(axes) } else { axes.is_sorted() };
    let all: Vec<Vec<usize>> = singles.chain(pairs).filter(wanted).collect();
    let transforms = if search.task.only.is_some() { 0 } else { search.model.facts.len() };
    (0..transforms).flat_map(|facts| all.iter().map(move |axes| Choice { facts, axes: axes.clone() })).collect()
}

/// Where the iterations of a space loop go that have no PE of their own.
#[derive(Clone, Copy, PartialEq)]
enum Rest {
    /// Tile by tile, which a dependence from the end of a tile to the start of another one forbids.
    InTiles,
    /// Each PE executes neighbouring iterations in turn.
    InTurn,
}

/// At most so many PEs along each axis, all other loops whole; `None` if a larger number gave the same plan, or if it
/// has too many PEs.
fn plan(search: &Search, choice: &Choice, most: i64, rest: Rest) -> Option<Plan> {
    let (facts, axes) = (&search.model.facts[choice.facts], &choice.axes);
    let pes: Vec<i64> = axes.iter().map(|&d| facts.extent[d].min(most)).collect();
    let repeated = if most == i64::MAX { rest != Rest::InTiles } else { axes.iter().all(|&d| facts.extent[d] <= most) };
    if repeated || pes.iter().product::<i64>() > search.task.limits.dsp.max(tuning::SEED_MOST_PES) {
        return None;
    }
    let dims = vec![DimPlan::default(); facts.extent.len()];
    let mut plan = Plan { transform: facts.transform.clone(), dims, order: facts.order() };
    for (axis, (&d, &p)) in axes.iter().zip(&pes).enumerate() {
        let latency = if rest == Rest::InTiles { 1 } else { (facts.extent[d] + p - 1) / p };
        plan.dims[d] = DimPlan { tile: Some(p * latency), axis: Some(axis), latency, ..DimPlan::default() };
    }
    Some(plan)
}
