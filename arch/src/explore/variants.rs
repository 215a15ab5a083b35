//! The ways to make a PE for one plan, and the best of them: a plan says nothing of how sums that wait for their adder go on.

use super::assemble::{build, join, kept, Program, SPILL_BEYOND};
use crate::ir::design::DesignSpec;
use crate::ir::draft::Lowered;
use crate::ir::mapping::{Mapping, Plan, Role};
use crate::ir::refusal::Illegal;
use crate::ir::vsa::{Schedule, Vsa};
use crate::pe::Options;
use std::collections::BTreeSet;

/// The array of a plan: of its variants, the first that starts a wave in every cycle, or else the fastest.
///
/// # Errors
/// Why the plan is no systolic array for this program.
pub fn assemble(program: &Program, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
    array(program, plan, spec, Wanted::Fastest)
}

/// The array of a plan of the first variant that is legal, which has the fewest operators.
///
/// # Errors
/// Why the plan is no systolic array for this program.
pub fn first(program: &Program, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
    array(program, plan, spec, Wanted::First)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Fastest,
    First,
}

fn array(program: &Program, plan: Plan, spec: &DesignSpec, wanted: Wanted) -> Result<Vsa, Illegal> {
    let program = program.sized.as_deref().unwrap_or(program);
    let plan = plan.behind(program.system.sizes);
    let found = settled(program, plan.clone(), spec, wanted, true);
    // What waits for fewer waves in some phases may have too little time there, for which all waves would wait.
    let hurried = |vsa: &Vsa| wanted == Wanted::Fastest && vsa.schedule.interval > 1 && !vsa.cases.lags.is_empty();
    if !found.as_ref().is_ok_and(hurried) {
        return found;
    }
    let launched = |vsa: &Vsa| vsa.waves() * vsa.schedule.interval;
    let calm = settled(program, plan, spec, wanted, false).ok();
    calm.filter(|calm| found.as_ref().is_ok_and(|f| launched(calm) < launched(f))).map_or(found, Ok)
}

/// The array in which loops are as short as they can be. `lags`: values may wait for fewer waves in some phases than in others.
fn settled(program: &Program, plan: Plan, spec: &DesignSpec, wanted: Wanted, lags: bool) -> Result<Vsa, Illegal> {
    // Loops whose trips a value has to wait for run as at the greatest sizes, or in the longest phases.
    let mut loose = BTreeSet::new();
    loop {
        match within(program, plan.clone(), spec, &loose, wanted, lags) {
            Err(Illegal::Varying(counters)) => {
                let mapping = Mapping::within(&program.system, plan.clone(), &loose)?;
                let before = loose.len();
                let dim = |place: usize| mapping.digits.iter().position(|all| all.iter().any(|x| !matches!(x.role, Role::Space(_) | Role::Lane) && x.index == place));
                loose.extend(counters.iter().filter_map(|&place| dim(place)));
                if loose.len() == before {
                    return Err(Illegal::Varying(counters));
                }
            }
            done => return done,
        }
    }
}

fn within(program: &Program, plan: Plan, spec: &DesignSpec, loose: &BTreeSet<usize>, wanted: Wanted, lags: bool) -> Result<Vsa, Illegal> {
    let mapping = Mapping::within(&program.system, plan, loose)?;
    let best = variant(program, &mapping, spec, wanted, lags);
    if matches!(best, Err(Illegal::Varying(_))) {
        return best.map(|_| unreachable!("an error"));
    }
    // Loops that end early in some phases may leave sums there too little time, for which all phases would wait.
    let enough = |(_, schedule): &(Lowered, Schedule)| schedule.interval == 1 || wanted == Wanted::First;
    if !mapping.cases.is_empty() && !best.as_ref().is_ok_and(enough) {
        let even = mapping.even();
        if let Ok(found) = variant(program, &even, spec, wanted, lags) {
            if best.as_ref().map_or(true, |b| cycles(&found.1, &even) < cycles(&b.1, &mapping)) {
                return join(program, even, found.0, found.1, spec);
            }
        }
    }
    let (lowered, schedule) = best?;
    join(program, mapping, lowered, schedule, spec)
}

/// The nodes and schedule of a variant.
fn variant(program: &Program, mapping: &Mapping, spec: &DesignSpec, wanted: Wanted, lags: bool) -> Result<(Lowered, Schedule), Illegal> {
    let reductions = kept(program, mapping);
    let sums = |floats: bool| reductions.iter().zip(&program.scop.statements).any(|(r, s)| r.is_some() && program.scop.array(s.write.array).ty.is_float() == floats);
    let mut best: Result<(Lowered, Schedule), Illegal> = Err(Illegal::SlowRecurrence);
    let mut at_once = vec![];
    for options in variants(spec, !program.sharing.joints.is_empty(), lags) {
        if options.interleave > 0 && (best.is_err() || !sums(true)) {
            break;
        }
        if options.interleave == 0 && !options.accumulate_first && !sums(false) {
            continue;
        }
        let found = build(program, mapping, &reductions, options);
        match &found {
            // No sum takes turns, so none does with more others.
            Ok((lowered, _)) if options.interleave > 0 && lowered.nodes == at_once => break,
            Ok((lowered, _)) if options.interleave == 0 => at_once.clone_from(&lowered.nodes),
            _ => {}
        }
        let slower = |f: &Schedule| best.as_ref().is_ok_and(|b| cycles(f, mapping) >= cycles(&b.1, mapping));
        if !found.as_ref().map_or(best.is_ok(), |f| slower(&f.1)) {
            best = found;
        }
        if wanted == Wanted::First && best.is_ok() {
            break;
        }
        // What is shared may make PEs wait for each other that need not.
        if best.as_ref().is_ok_and(|b| b.1.interval == 1 && (!options.shared || b.1.skew.iter().all(|s| s.abs() <= 1))) {
            break;
        }
    }
    best
}

/// Operators that statements share; partial sums that enter the chain of lanes at its head, or at its end; then several sums
/// of floats that take turns.
fn variants(spec: &DesignSpec, shares: bool, lags: bool) -> impl Iterator<Item = Options> {
    let fixed = Options { lags, spill_beyond: spec.wiring.spill_beyond.map_or(SPILL_BEYOND, i64::from), dot: spec.arithmetic.dot.unwrap_or_default(), ..Options::default() };
    let sums = [(true, 0), (false, 0), (false, 2), (false, 4), (false, 8), (false, 16)];
    let of = move |shared: bool| sums.into_iter().map(move |(accumulate_first, interleave)| Options { shared, accumulate_first, interleave, ..fixed });
    of(true).take(usize::from(shares)).chain(of(false))
}

/// All waves, and the last one's way through the array.
fn cycles(schedule: &Schedule, mapping: &Mapping) -> i64 {
    let cross: i64 = (0..2).map(|a| schedule.skew[a].abs() * (mapping.extent[a] - 1)).sum();
    mapping.waves() * schedule.interval + cross
}
