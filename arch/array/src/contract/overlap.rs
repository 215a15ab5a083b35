//! Runs that overlap: what engines and sequencer keep from one run to the next, and when the next one may begin.
//!
//! **Problem.** A short run leaves most of the hardware idle: its loads are over long before its last store. If the next
//! command touches no data of the one that runs, its loads may begin at once.
//!
//! **Terms.** A run has three *stages*: *reads* (the readers' addresses), *waves* (the sequencer) and *writes* (the
//! writers' addresses and requests). What is behind the addresses, in FIFOs, feeders, PEs and collectors, belongs to no
//! stage: it carries with it what it needs.
//!
//! **Method.** Each stage starts a run by itself, in the order of the commands: as soon as nothing of the run before is
//! left in it. Buffers are taken in turn from run to run, and their credits are never set anew, so a stage that is ahead
//! waits for buffers as it does within a run. Groups that use the same buffers ([`BufferSet`]) count them together.
//!
//! ```text
//! reads   ▐run 1▌▐run 2▌  ▐run 3▌
//! waves        ▐run 1▌ ▐run 2▌  ▐run 3▌
//! writes            ▐run 1▌ ▐run 2▌  ▐run 3▌
//! ```
//! Waves of the next run wait until those of a run that reads constants of the run ([`hold`]) have left the array. A run
//! whose loads wait for its own stores ([`may_begin_early`]) begins when all others have ended.

use crate::contract::common::{Collectors, Feeders};
use crate::contract::walk::Walk;
use crate::vsa::Vsa;
use std::collections::BTreeMap;

/// A stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Reads,
    Waves,
    Writes,
}

impl Stage {
    pub const ALL: [Stage; 3] = [Stage::Reads, Stage::Waves, Stage::Writes];

    pub fn name(self) -> &'static str {
        ["reads", "waves", "writes"][self as usize]
    }
}

/// Groups that count their buffers together, and how many buffers they have at most: 1 or 2. If runs overlap, they use the
/// same buffers: an owner and its guests. Else at most one of them is served in a run ([`Walk::clients`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSet {
    pub groups: Vec<usize>,
    pub halves: u32,
}

impl BufferSet {
    fn new(groups: Vec<usize>, double: bool) -> Self {
        BufferSet { groups, halves: if double { 2 } else { 1 } }
    }
}

/// From the last cycle in which a stage has something of a run to its next start: the register that says so, and that of
/// the start.
pub const LEFT_TO_START: i64 = 3;

/// From the start of a run in a stage to the next one there, at least: the command behind it is looked up. The first stage
/// checks it, too.
pub const START_TO_START: [i64; 3] = [3, 2, 2];

/// Runs that have started and not ended, at most.
pub const MOST_RUNS: usize = 7;

/// The input groups, in the order of the first of each set.
pub fn input_sets(vsa: &Vsa, overlaps: bool) -> Vec<BufferSet> {
    if overlaps {
        let owners = (0..vsa.inputs.len()).filter(|&g| vsa.feeders_of(g) == g);
        let of = owners.map(|g| Feeders::of(vsa, g));
        return of.map(|Feeders { groups, double, .. }| BufferSet::new(groups, double)).collect();
    }
    clients(vsa, vsa.inputs.len(), Walk::reads).into_iter().map(|groups| BufferSet::new(groups, true)).collect()
}

/// The output groups.
pub fn output_sets(vsa: &Vsa, overlaps: bool) -> Vec<BufferSet> {
    if overlaps {
        let owners = (0..vsa.outputs.len()).filter(|&o| vsa.collectors_of(o) == o);
        let of = owners.map(|o| Collectors::of(vsa, o));
        return of.map(|Collectors { groups, double, .. }| BufferSet::new(groups, double)).collect();
    }
    let double = |groups: &[usize]| groups.iter().any(|o| vsa.outputs[*o].slots > 1);
    let of = |groups: Vec<usize>| {
        let double = double(&groups);
        BufferSet::new(groups, double)
    };
    clients(vsa, vsa.outputs.len(), Walk::writes).into_iter().map(of).collect()
}

/// Lists of groups of which at most one is served in a run.
fn clients(vsa: &Vsa, groups: usize, walk: fn(&Vsa, usize) -> Option<Walk>) -> Vec<Vec<usize>> {
    if !vsa.is_merged() {
        return (0..groups).map(|g| vec![g]).collect();
    }
    let at = |p: usize| {
        let walk = walk(vsa, p)?;
        let of = |client: Vec<usize>| client.into_iter().map(|g| walk.groups[g].group).collect();
        Some(walk.clients(false).into_iter().map(of).collect())
    };
    let mut all: Vec<Vec<usize>> = (0..vsa.ports()).filter_map(at).flat_map(|all: Vec<Vec<usize>>| all).collect();
    all.sort();
    all
}

/// The groups of a set, those together whose pulses take equally many cycles.
pub fn by_delay(groups: &[usize], delay: impl Fn(usize) -> i64) -> Vec<Vec<usize>> {
    let mut all: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    groups.iter().for_each(|&g| all.entry(delay(g)).or_default().push(g));
    let mut all: Vec<Vec<usize>> = all.into_values().collect();
    all.sort();
    all
}

/// A run of this function (any one, if the array is not merged) may begin while others are under way: no load of it waits
/// for a store.
pub fn may_begin_early(vsa: &Vsa, function: usize) -> bool {
    vsa.inputs.iter().all(|g| g.after.is_empty() || !g.used.is_in_function(function))
}

/// Cycles for which the waves of the next run wait behind the last one of a run of this function: until that one has read
/// the constants of its run, if there are any.
pub fn hold(vsa: &Vsa, function: usize) -> i64 {
    let scalars = vsa.functions.get(function).map_or(!vsa.scalars.is_empty(), |f| !f.scalars.is_empty());
    if !scalars && vsa.varying_delays().is_empty() {
        return 0;
    }
    // What follows from scalars alone has no delays, so an operator may read it long after it is ready: the last value of a
    // wave bounds all reads.
    let last = vsa.schedule.ready.iter().max().copied().unwrap_or(0).max(1);
    let read = vsa.schedule.way(vsa.extent.map(|n| n - 1)) + last;
    // They change in the cycle behind the start, and may in that behind the last read.
    (read + 1 - LEFT_TO_START).max(0)
}
