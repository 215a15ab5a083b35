//! The PE variants of one plan, and the choice of the best.
//!
//! A plan leaves open how a PE hides its adders' latency. The variants are tried in the order of their hardware: shared
//! operators, then partial sums that enter the chain of lanes at its head or its end, then 2 to 16 interleaved sums of
//! floats. The first with interval 1 wins, else the fastest. Example: an accumulation of floats over 7-cycle adders has
//! interval 7 with one sum, and 1 with 8 interleaved sums.
//!
//! A loop that ends early in some phases, or at some sizes, changes reuse distances. If lowering cannot build one
//! ([`Illegal::Varying`]), that loop runs equally long everywhere, and then no longer than the schedule needs.

use crate::assemble::{build, join, reductions_of, SPILL_BEYOND};
use crate::draft::Lowered;
use crate::kernel::Kernel;
use crate::pe;
use crate::pe::{May, Options};
use crate::vsa::{Schedule, Vsa};
use uniform::design::DesignSpec;
use uniform::mapping::{Mapping, Plan, Role};
use uniform::refusal::Illegal;
use uniform::space_time::tile::{Loose, WHOLE};

/// How often loops run at least that values wait for: the lengths that are tried.
const LEAST: [i64; 12] = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256];

/// The array of a plan: of its variants, the first that starts a wave in every cycle, or else the fastest.
///
/// # Errors
/// Why the plan is no systolic array for this program.
pub fn assemble(kernel: &Kernel, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
    array(kernel, plan, spec, Wanted::Fastest)
}

/// The array of a plan of the first variant that is legal, which has the fewest operators.
///
/// # Errors
/// Why the plan is no systolic array for this program.
pub fn first(kernel: &Kernel, plan: Plan, spec: &DesignSpec) -> Result<Vsa, Illegal> {
    array(kernel, plan, spec, Wanted::First)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Fastest,
    First,
}

fn array(kernel: &Kernel, plan: Plan, spec: &DesignSpec, wanted: Wanted) -> Result<Vsa, Illegal> {
    let plan = plan.behind(kernel.source().system.parameters().len());
    let mut found = settled(kernel, &plan, spec, wanted, true);
    // What waits for fewer waves in some phases may have too little time there, for which all waves, or PEs, would
    // wait.
    let hurried = |vsa: &Vsa| wanted == Wanted::Fastest && !vsa.varying_delays().is_empty() && !at_once(&vsa.schedule);
    if found.as_ref().is_ok_and(|f| hurried(&f.0)) {
        let calm = settled(kernel, &plan, spec, wanted, false).ok();
        found = calm.filter(|calm| found.as_ref().is_ok_and(|f| crossed(&calm.0) < crossed(&f.0))).map_or(found, Ok);
    }
    let (array, loose) = found?;
    Ok(if wanted == Wanted::Fastest && !loose.is_empty() {
        shortest(kernel, &plan, spec, array, &loose)
    } else {
        array
    })
}

/// The array in which loops are as short as they can be, and those that run longer. `varying`: see [`Options`].
fn settled(
    kernel: &Kernel,
    plan: &Plan,
    spec: &DesignSpec,
    wanted: Wanted,
    varying: bool,
) -> Result<(Vsa, Loose), Illegal> {
    let mut loose = Loose::new();
    loop {
        match within(kernel, plan, spec, &loose, wanted, varying) {
            Err(Illegal::Varying(counters)) => {
                let mapping = Mapping::within(&kernel.source().system, plan.clone(), &loose)?;
                let before = loose.len();
                let dim = |place: usize| {
                    mapping.digits.iter().position(|all| {
                        all.iter().any(|x| !matches!(x.role, Role::Space(_) | Role::Lane) && x.index == place)
                    })
                };
                loose.extend(counters.iter().filter_map(|&place| Some((dim(place)?, WHOLE))));
                if loose.len() == before {
                    return Err(Illegal::Varying(counters));
                }
            }
            done => return Ok((done?, loose)),
        }
    }
}

/// The array with loops that run longer than they need to no longer than it takes: while they run, values wait for
/// their operators.
fn shortest(kernel: &Kernel, plan: &Plan, spec: &DesignSpec, array: Vsa, loose: &Loose) -> Vsa {
    let as_fast = |other: &Vsa| crossed(other) <= crossed(&array) && other.schedule.interval <= array.schedule.interval;
    let with = |least: i64| {
        let loose = loose.keys().map(|&d| (d, least)).collect();
        within(kernel, plan, spec, &loose, Wanted::Fastest, true).ok().filter(as_fast)
    };
    let (mut few, mut enough, mut found) = (0, LEAST.len(), None);
    while few < enough {
        let middle = (few + enough) / 2;
        match with(LEAST[middle]) {
            Some(shorter) => (enough, found) = (middle, Some(shorter)),
            None => few = middle + 1,
        }
    }
    found.unwrap_or(array)
}

/// All waves at the greatest sizes, and the last one's way through the array.
fn crossed(vsa: &Vsa) -> i64 {
    cycles(&vsa.schedule, vsa.extent, vsa.at_most().waves())
}

fn within(
    kernel: &Kernel,
    plan: &Plan,
    spec: &DesignSpec,
    loose: &Loose,
    wanted: Wanted,
    varying: bool,
) -> Result<Vsa, Illegal> {
    let mapping = Mapping::within(&kernel.source().system, plan.clone(), loose)?;
    let best = variant(kernel, &mapping, spec, wanted, varying);
    if matches!(best, Err(Illegal::Varying(_))) {
        return best.map(|_| unreachable!("an error"));
    }
    // Loops that end early in some phases may leave sums there too little time, for which all phases would wait.
    let enough = |(_, schedule): &(Lowered, Schedule)| schedule.interval == 1 || wanted == Wanted::First;
    if mapping.loops().has_cases() && !best.as_ref().is_ok_and(enough) {
        let even = mapping.even();
        if let Ok(found) = variant(kernel, &even, spec, wanted, varying) {
            if best.as_ref().map_or(true, |b| {
                cycles(&found.1, even.extent, even.waves()) < cycles(&b.1, mapping.extent, mapping.waves())
            }) {
                let (lowered, schedule) = pe::share(found.0, found.1, (even.loops(), &even.ranges()), May::Keep);
                return join(kernel, even, lowered, schedule, spec);
            }
        }
    }
    let (lowered, schedule) = best?;
    let (lowered, schedule) = pe::share(lowered, schedule, (mapping.loops(), &mapping.ranges()), May::Keep);
    join(kernel, mapping, lowered, schedule, spec)
}

/// The nodes and schedule of a variant.
fn variant(
    kernel: &Kernel,
    mapping: &Mapping,
    spec: &DesignSpec,
    wanted: Wanted,
    varying: bool,
) -> Result<(Lowered, Schedule), Illegal> {
    let reductions = reductions_of(kernel, mapping);
    let sums = |floats: bool| {
        reductions
            .iter()
            .zip(&kernel.source().scop.statements)
            .any(|(r, s)| r.is_some() && kernel.source().scop.array(s.write.array).ty.is_float() == floats)
    };
    let waves = mapping.waves();
    let mut best: Result<(Lowered, Schedule), Illegal> = Err(Illegal::SlowRecurrence);
    let mut all_at_once = vec![];
    for options in variants(spec, !kernel.source().sharing.joints.is_empty(), varying) {
        if options.interleave > 0 && (best.is_err() || !sums(true)) {
            break;
        }
        if options.interleave == 0 && !options.accumulate_first && !sums(false) {
            continue;
        }
        let found = build(kernel, mapping, &reductions, options);
        match &found {
            // No sum takes turns, so none does with more others.
            Ok((lowered, _)) if options.interleave > 0 && lowered.nodes == all_at_once => break,
            Ok((lowered, _)) if options.interleave == 0 => all_at_once.clone_from(&lowered.nodes),
            _ => {}
        }
        let slower = |f: &Schedule| {
            best.as_ref().is_ok_and(|b| cycles(f, mapping.extent, waves) >= cycles(&b.1, mapping.extent, waves))
        };
        if !found.as_ref().map_or(best.is_ok(), |f| slower(&f.1)) {
            best = found;
        }
        if wanted == Wanted::First && best.is_ok() {
            break;
        }
        // What is shared may make PEs wait for each other that need not.
        if best.as_ref().is_ok_and(|b| b.1.interval == 1 && (!options.shared || at_once(&b.1))) {
            break;
        }
    }
    best
}

/// Operators that statements share; partial sums that enter the chain of lanes at its head, or at its end; then several
/// sums of floats that take turns.
fn variants(spec: &DesignSpec, shares: bool, varying: bool) -> impl Iterator<Item = Options> {
    let fixed = Options {
        varying,
        spill_beyond: spec.wiring.spill_beyond.map_or(SPILL_BEYOND, i64::from),
        dot: spec.arithmetic.dot.unwrap_or_default(),
        ..Options::default()
    };
    let sums = [(true, 0), (false, 0), (false, 2), (false, 4), (false, 8), (false, 16)];
    let of = move |shared: bool| {
        sums.into_iter().map(move |(accumulate_first, interleave)| Options {
            shared,
            accumulate_first,
            interleave,
            ..fixed
        })
    };
    of(true).take(usize::from(shares)).chain(of(false))
}

/// A wave starts in every cycle, and takes one from PE to PE.
fn at_once(schedule: &Schedule) -> bool {
    schedule.interval == 1 && schedule.longest_hop() == 1
}

/// All waves, and the last one's way through the array.
fn cycles(schedule: &Schedule, extent: [i64; 2], waves: i64) -> i64 {
    waves * schedule.interval + schedule.way(extent.map(|n| n - 1))
}
