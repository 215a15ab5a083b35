//! The PE variants of one plan, and the choice of the best.
//!
//! A plan leaves open how a PE hides its adders' latency. The variants are tried in the order of their hardware: shared
//! operators, then partial sums that enter the chain of lanes at its head or its end, then 2 to 16 interleaved sums of
//! floats. The first with interval 1 wins, else the fastest. Example: an accumulation of floats over 7-cycle adders has
//! interval 7 with one sum, and 1 with 8 interleaved sums.
//!
//! A sum that enters the chain at its head and is needed in the next wave passes all adders of the chain in one cycle.
//! If the board's clock leaves no time for that ([`DesignSpec::unregistered`]), the sum enters at the chain's end, where
//! it passes one, unless waves then take longer.
//!
//! A loop that ends early in some phases, or at some sizes, changes reuse distances. If lowering cannot build one
//! ([`Illegal::Varying`]), that loop runs equally long everywhere, and then no longer than the schedule needs.

use crate::assemble::{build, join, reductions_of, SPILL_BEYOND};
use crate::draft::Lowered;
use crate::kernel::Kernel;
use crate::pe;
use crate::pe::{May, Options, Packs};
use crate::vsa::{Schedule, Vsa};
use std::cell::Cell;
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
    counted(kernel, plan, spec, Wanted::Fastest).0
}

/// Which of the variants.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The first that starts a wave in every cycle, or else the fastest.
    Fastest,
    /// The first that is legal, which has the fewest operators.
    First,
}

/// The array of a plan, or why there is none; and the work that this took, in nodes of PEs that were lowered.
pub fn counted(kernel: &Kernel, plan: Plan, spec: &DesignSpec, wanted: Wanted) -> (Result<Vsa, Illegal>, u64) {
    let work = Cell::new(0);
    let found = array(&Job { kernel, spec, wanted, work: &work }, plan);
    (found, work.get())
}

/// What is assembled, and how much was done so far.
#[derive(Clone, Copy)]
struct Job<'a> {
    kernel: &'a Kernel<'a>,
    spec: &'a DesignSpec,
    wanted: Wanted,
    /// Nodes that were lowered.
    work: &'a Cell<u64>,
}

impl Job<'_> {
    fn count(&self, nodes: usize) {
        self.work.set(self.work.get() + nodes as u64);
    }
}

/// Nodes that are lowered in the time in which a node is shared and becomes part of an array.
const LOWERED_PER_SHARED: usize = 4;
/// Nodes that are lowered in the time of a statement that turns out illegal.
const LOWERED_PER_STATEMENT: usize = 8;

fn array(job: &Job, plan: Plan) -> Result<Vsa, Illegal> {
    let plan = plan.behind(job.kernel.source().system.parameters().len());
    let mut found = settled(job, &plan, true);
    // What waits for fewer waves in some phases may have too little time there, for which all waves, or PEs, would
    // wait.
    let hurried =
        |vsa: &Vsa| job.wanted == Wanted::Fastest && !vsa.varying_delays().is_empty() && !at_once(&vsa.schedule);
    if found.as_ref().is_ok_and(|f| hurried(&f.0)) {
        let calm = settled(job, &plan, false).ok();
        found = calm.filter(|calm| found.as_ref().is_ok_and(|f| crossed(&calm.0) < crossed(&f.0))).map_or(found, Ok);
    }
    let (array, loose) = found?;
    Ok(if job.wanted == Wanted::Fastest && !loose.is_empty() { shortest(job, &plan, array, &loose) } else { array })
}

/// The array in which loops are as short as they can be, and those that run longer. `varying`: see [`Options`].
fn settled(job: &Job, plan: &Plan, varying: bool) -> Result<(Vsa, Loose), Illegal> {
    let mut loose = Loose::new();
    loop {
        match within(job, plan, &loose, varying) {
            Err(Illegal::Varying(counters)) => {
                let mapping = Mapping::within(&job.kernel.source().system, plan.clone(), &loose)?;
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
fn shortest(job: &Job, plan: &Plan, array: Vsa, loose: &Loose) -> Vsa {
    let as_fast = |other: &Vsa| crossed(other) <= crossed(&array) && other.schedule.interval <= array.schedule.interval;
    let with = |least: i64| {
        let loose = loose.keys().map(|&d| (d, least)).collect();
        within(job, plan, &loose, true).ok().filter(as_fast)
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

fn within(job: &Job, plan: &Plan, loose: &Loose, varying: bool) -> Result<Vsa, Illegal> {
    let mapping = Mapping::within(&job.kernel.source().system, plan.clone(), loose)?;
    let best = variant(job, &mapping, varying);
    if matches!(best, Err(Illegal::Varying(_))) {
        return best.map(|_| unreachable!("an error"));
    }
    // Loops that end early in some phases may leave sums there too little time, for which all phases would wait.
    let enough = |(_, schedule): &(Lowered, Schedule)| schedule.interval == 1 || job.wanted == Wanted::First;
    if mapping.loops().has_cases() && !best.as_ref().is_ok_and(enough) {
        let even = mapping.even();
        if let Ok(found) = variant(job, &even, varying) {
            if best.as_ref().map_or(true, |b| {
                cycles(&found.1, even.extent, even.waves()) < cycles(&b.1, mapping.extent, mapping.waves())
            }) {
                return shared(job, found, even);
            }
        }
    }
    shared(job, best?, mapping)
}

/// The array of a variant, with operators that do the work of several.
fn shared(job: &Job, (lowered, schedule): (Lowered, Schedule), mapping: Mapping) -> Result<Vsa, Illegal> {
    job.count(LOWERED_PER_SHARED * lowered.nodes.len());
    let ranges = mapping.ranges();
    let share = |(lowered, schedule)| pe::share(lowered, schedule, (mapping.loops(), &ranges), May::Keep);
    let packs = job.spec.arithmetic.pack == Some(true);
    let when = if job.wanted == Wanted::First { Packs::Always } else { Packs::AsFast };
    let packed = if packs { pe::pack(&lowered, &schedule, &ranges, when).map(share) } else { None };
    let (lowered, schedule) = packed.unwrap_or_else(|| share((lowered, schedule)));
    join(job.kernel, mapping, lowered, schedule, job.spec)
}

/// The nodes and schedule of a variant.
fn variant(job: &Job, mapping: &Mapping, varying: bool) -> Result<(Lowered, Schedule), Illegal> {
    let kernel = job.kernel;
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
    for options in variants(job.spec, !kernel.source().sharing.joints.is_empty(), varying) {
        if options.interleave > 0 && (best.is_err() || !sums(true)) {
            break;
        }
        if options.interleave == 0 && !options.accumulate_first && !sums(false) {
            continue;
        }
        let found = build(kernel, mapping, &reductions, options);
        let statements = LOWERED_PER_STATEMENT * kernel.source().scop.statements.len();
        job.count(found.as_ref().map_or(statements, |found| found.0.nodes.len()));
        match &found {
            // No sum takes turns, so none does with more others.
            Ok((lowered, _)) if options.interleave > 0 && lowered.nodes == all_at_once => break,
            Ok((lowered, _)) if options.interleave == 0 => all_at_once.clone_from(&lowered.nodes),
            _ => {}
        }
        let rank = |(lowered, schedule): &(Lowered, Schedule)| {
            (cycles(schedule, mapping.extent, waves), pe::longest_chain(lowered, schedule).max(job.spec.unregistered))
        };
        let slower = |found: &(Lowered, Schedule)| best.as_ref().is_ok_and(|best| rank(found) >= rank(best));
        if !found.as_ref().map_or(best.is_ok(), slower) {
            best = found;
        }
        if job.wanted == Wanted::First && best.is_ok() {
            break;
        }
        // What is shared may make PEs wait for each other that need not.
        let at_full_pace = |best: &Schedule| best.interval == 1 && (!options.shared || at_once(best));
        let may_chain_less = options.accumulate_first && sums(false);
        let done = |(lowered, schedule): &(Lowered, Schedule)| {
            at_full_pace(schedule) && !(may_chain_less && pe::longest_chain(lowered, schedule) > job.spec.unregistered)
        };
        if best.as_ref().is_ok_and(done) {
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
        fabric: spec.fabric,
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
