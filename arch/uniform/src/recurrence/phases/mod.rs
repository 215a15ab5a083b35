//! Loop distribution: a program that fits no single array runs in phases, one after the other, on the same PEs.
//!
//! **Problem.** The dependences of some programs are not uniform as a whole, but those of each loop nest are.
//!
//! **Terms.** A *phase* is a part of the program that one array executes; values pass between phases through memory. A
//! *phase loop* is a sequential loop around phases. A *component* is a strongly connected component of the statements'
//! dependences.
//!
//! **Method.** Allen and Kennedy's: the components, in order, become phases. A component that is not uniform gets its
//! outermost loop as a phase loop, under which it is distributed again. Neighbours that one array can execute are
//! merged if all phases together do not take longer.
//!
//! ```text
//! for t:                                   for t:               a phase loop: both parts depend on each other
//!   for i: b[i] = a[i-1] + a[i+1];           phase 0: for i: b[i] = ...
//!   for i: a[i] = b[i];                      phase 1: for i: a[i] = ...
//! ```
//!
//! A phase is a program of its own ([`part`]): its phase loops become subscripts of every array that it writes, so
//! dataflow and rewrites hold for it unchanged. [`assemble`] puts the phases behind one another; [`scratch`] gives
//! local arrays that pass values between phases a buffer in memory.
//!
//! A program that fits no chip as one array runs in steps ([`by_step`]): the outermost loop that carries values becomes
//! a phase loop, so its values pass through memory once an iteration.
//!
//! **Invariant.** Flow, anti and output dependences never lead to an earlier phase. Within a phase all loads come
//! before all stores, and a cell is stored once, by the last instance that writes it ([`crate::verify`]).
//!
//! **Source.** Allen, Kennedy, "Automatic Translation of Fortran Programs to Vector Form" (1987), section 6.

mod assemble;
pub(super) mod part;
mod scratch;

use crate::affine::map::coordinate;
use crate::recurrence::builder::Within;
use crate::recurrence::rewrite;
use crate::recurrence::rewrite::{Attempt, Outcome, Region, Rewrite};
use crate::recurrence::Separate;
use crate::system::System;
use scop::diag::Diagnostics;
use scop::flow;
use scop::flow::{Flow, Source};
use scop::{ArrayId, LoopId, Scop, Storage};
use scratch::Expansion;
use std::cell::Cell;
use std::collections::BTreeSet;

/// The name of this form among the attempts.
pub const NAME: &str = "phases";

/// Questions after which no more neighbours are merged.
const MERGE_EFFORT: u64 = 100_000;
/// Divides the effort of the search for a phase: a part is small, and becomes a loop if the search fails.
const EFFORT_DIVISOR: u64 = 5;
/// Neighbours are merged as they are: one behind the other, all phases would take the time of both.
const MERGED: [Rewrite; 1] = [Rewrite { name: rewrite::AS_WRITTEN, versions: rewrite::near, unless: "" }];

/// One of several siblings, in the order in which they run.
enum Item {
    Phase(Box<Phase>),
    Loop(Sequence),
}

/// A sequential loop around phases.
struct Sequence {
    at: LoopId,
    /// Least and greatest value of its iterator.
    lo: i64,
    hi: i64,
    items: Vec<Item>,
}

/// Statements that one array executes.
struct Phase {
    statements: Vec<usize>,
    /// The phase as a program of its own, perhaps rewritten.
    scop: Scop,
    /// Over its phase loops, then its inner dimensions.
    system: System,
}

/// Why the distribution stops.
enum Stop {
    /// These local arrays have to pass values through memory; then it begins again.
    Memory(Vec<ArrayId>),
    Refused(Diagnostics),
}

struct Distribution<'a> {
    /// The number of sizes: the outermost loops, around those of phases.
    sizes: usize,
    /// The region; local arrays in memory may have cells for each iteration of some loops.
    scop: Scop,
    flow: &'a Flow,
    rewrites: &'a [Rewrite],
    reassociate: Option<bool>,
    /// Why all statements together are not one array.
    whole: Diagnostics,
    /// Per array: values in it may pass between phases.
    memory: Vec<bool>,
    /// What is a phase of its own besides what must be.
    separate: Option<Separate>,
    /// Questions about neighbours so far.
    merge_effort: Cell<u64>,
}

/// The region as phases: the distributed program, its system, and the outcome of every form. `attempts`: the outcomes
/// as one array. With sizes at run time, `region` is `scop` with the sizes as subscripts; else they are the same
/// program.
///
/// # Errors
/// Why a part of it is no array under any loops.
pub fn distributed(
    scop: &Scop,
    region: &Region,
    mut attempts: Vec<Attempt>,
    rewrites: &[Rewrite],
) -> Result<(Scop, System, Vec<Attempt>), Diagnostics> {
    let whole = || rewrite::as_written_faults(&attempts);
    // The dataflow may be affine only once conditions around sums are gone.
    let completed = if region.flow().is_err() && region.within.sizes == 0 { rewrite::complete_all(scop) } else { None };
    let completed = completed
        .and_then(|scop| distribute(&scop, &Region::new(&scop, region.reassociate), whole(), rewrites, None).ok());
    match completed.map_or_else(|| distribute(scop, region, whole(), rewrites, None), Ok) {
        Ok((form, system)) => {
            attempts.push(Attempt { rewrite: NAME, outcome: Outcome::Taken });
            Ok((form, system, attempts))
        }
        Err(faults) => {
            attempts.push(Attempt { rewrite: NAME, outcome: Outcome::NotUniform(faults) });
            Err(rewrite::refusal(region, attempts, rewrites))
        }
    }
}

/// The region as phases of one loop nest each, though one array may execute several; `None` if there is one phase.
/// `scop` as for [`distributed`].
pub fn by_nest(scop: &Scop, region: &Region, rewrites: &[Rewrite]) -> Option<(Scop, System)> {
    let sizes = region.within.sizes;
    let nests: BTreeSet<LoopId> = scop.statements.iter().filter_map(|s| s.loops.get(sizes).copied()).collect();
    let found = (nests.len() > 1).then(|| distribute(scop, region, vec![], rewrites, Some(Separate::Nests)).ok())?;
    found.filter(|(_, system)| system.frame().outer > sizes)
}

/// The region as phases of one iteration of the outermost loops each, as a host would run them; `None` if no outermost
/// loop carries values. An array needs no place on chip for all values of an iteration then. `scop` as for
/// [`distributed`].
pub fn by_step(scop: &Scop, region: &Region, rewrites: &[Rewrite]) -> Option<(Scop, System)> {
    let found = distribute(scop, region, vec![], rewrites, Some(Separate::Steps)).ok()?;
    Some(found).filter(|(_, system)| system.frame().outer > region.within.sizes)
}

fn distribute(
    scop: &Scop,
    region: &Region,
    whole: Diagnostics,
    rewrites: &[Rewrite],
    separate: Option<Separate>,
) -> Result<(Scop, System), Diagnostics> {
    let (flow, sizes) = (region.flow().map_err(Clone::clone)?, region.within.sizes);
    let scop = scratch::renamed(scop, flow);
    let memory: Vec<bool> = scop.arrays.iter().map(|a| a.storage == Storage::Dram).collect();
    let mut expansions = vec![Expansion::default(); memory.len()];
    let mut distribution = Distribution {
        sizes,
        scop,
        flow,
        rewrites,
        reassociate: region.reassociate,
        whole,
        memory,
        separate,
        merge_effort: Cell::new(0),
    };
    let all: Vec<usize> = (0..region.scop.statements.len()).collect();
    let mut items = loop {
        match distribution.items(&all, sizes) {
            Ok(items) => break items,
            Err(Stop::Refused(faults)) => return Err(faults),
            Err(Stop::Memory(arrays)) => {
                for array in arrays {
                    distribution.memory[array.index()] = true;
                    (distribution.scop, expansions[array.index()]) =
                        scratch::expanded(&distribution.scop, flow, array, sizes);
                }
            }
        }
    };
    let Distribution { mut scop, memory, .. } = distribution;
    let arrays = expansions.into_iter().enumerate().map(|(k, expansion)| (ArrayId(k as u32), expansion));
    let carried: Vec<(ArrayId, Expansion)> = arrays
        .filter(|(a, _)| memory[a.index()] && scop.array(*a).storage == Storage::Local && carries(&items, *a))
        .collect();
    scratch::buffers(&mut scop, &mut items, &carried);
    assemble::joined(&scop, &items, sizes)
}

/// Whether some phase reads the array as an earlier one left it.
fn carries(items: &[Item], array: ArrayId) -> bool {
    items.iter().any(|item| match item {
        Item::Phase(phase) => phase.reads_from_memory(array),
        Item::Loop(sequence) => carries(&sequence.items, array),
    })
}

impl Distribution<'_> {
    /// Statements under `level` common phase loops, in phases.
    fn items(&mut self, statements: &[usize], level: usize) -> Result<Vec<Item>, Stop> {
        let components = match part::components(&self.scop, statements, level, &self.memory) {
            Ok(components) => components,
            Err(part::Unordered::Memory(arrays)) => return Err(Stop::Memory(arrays)),
            Err(part::Unordered::NotAffine(faults)) => return Ok(vec![self.sequence(statements, level, faults)?]),
        };
        let mut items = Vec::new();
        for component in components {
            if self.is_stepped(&component, level) {
                items.push(self.sequence(&component, level, vec![])?);
                continue;
            }
            items.push(match self.phase(&component, level, self.rewrites) {
                Ok(phase) => Item::Phase(Box::new(phase)),
                Err(faults) => {
                    let tied = self.tied(&component);
                    // First arrays that pass values from loop to loop.
                    let passed: Vec<ArrayId> =
                        tied.iter().copied().filter(|&a| self.is_passed(&component, a, level)).collect();
                    if !passed.is_empty() {
                        return Err(Stop::Memory(passed));
                    }
                    // Then arrays that each iteration of the loop around uses for itself.
                    let private: Vec<ArrayId> = tied
                        .iter()
                        .copied()
                        .filter(|&a| scratch::is_private(&self.scop, self.flow, a, level))
                        .collect();
                    if !private.is_empty() {
                        return Err(Stop::Memory(private));
                    }
                    match self.sequence(&component, level, faults) {
                        Err(Stop::Refused(_)) if !tied.is_empty() => return Err(Stop::Memory(tied)),
                        item => item?,
                    }
                }
            });
        }
        Ok(self.merged(items, level))
    }

    /// Whether each iteration of the component's outermost loop is to be a phase of its own. A loop without a loop inside
    /// has nothing in an iteration for an array.
    fn is_stepped(&self, statements: &[usize], level: usize) -> bool {
        let all = || statements.iter().map(|&s| &self.scop.statements[s]);
        self.separate == Some(Separate::Steps)
            && level == self.sizes
            && all()
                .all(|s| s.loops.len() > level && s.loops[level] == self.scop.statements[statements[0]].loops[level])
            && all().any(|s| s.loops.len() > level + 1)
            && self.carries_values(statements, level)
    }

    /// Whether values pass from iteration to iteration of the loop at `level`.
    fn carries_values(&self, statements: &[usize], level: usize) -> bool {
        let passes = |s: usize, source: &Source| match source {
            Source::Write { statement, iteration } => {
                let same = coordinate(level, self.scop.statements[s].loops.len());
                statements.contains(&statement.index()) && iteration.get(level) != Some(&same)
            }
            Source::Input | Source::Undefined => false,
        };
        statements.iter().any(|&s| self.flow.reads[s].iter().flatten().any(|piece| passes(s, &piece.source)))
    }

    /// The statements' next loop as a phase loop.
    fn sequence(&mut self, statements: &[usize], level: usize, faults: Diagnostics) -> Result<Item, Stop> {
        let mut loops = statements.iter().map(|&s| self.scop.statements[s].loops.get(level).copied());
        let first = loops.next().flatten();
        let Some(at) = first.filter(|_| loops.all(|l| l == first)) else { return Err(Stop::Refused(faults)) };
        let bounds = statements.iter().filter_map(|&s| {
            let statement = &self.scop.statements[s];
            flow::domain_bounds(&statement.domain, statement.loops.len()).map(|b| b[level])
        });
        let Some((lo, hi)) = bounds.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else {
            return Err(Stop::Refused(faults));
        };
        Ok(Item::Loop(Sequence { at, lo, hi, items: self.items(statements, level + 1)? }))
    }

    /// # Errors
    /// Why the statements are no array under `level` phase loops.
    fn phase(&self, statements: &[usize], level: usize, rewrites: &[Rewrite]) -> Result<Phase, Diagnostics> {
        let whole = level == self.sizes && statements.len() == self.scop.statements.len();
        if whole && self.separate != Some(Separate::Steps) {
            return Err(self.whole.clone());
        }
        let part = part::under(&self.scop, statements, level, &self.memory);
        let region = Region::part(
            &part,
            Within { phases: level, sizes: self.sizes, effort_divisor: EFFORT_DIVISOR },
            self.reassociate,
        );
        match rewrite::uniform(&region, rewrites) {
            Ok((form, system, _)) => {
                let form = part::plain(&self.scop, form.into_owned(), level);
                let system = part::plain_inputs(&self.scop, &form, system, level);
                Ok(Phase { statements: statements.to_vec(), scop: form, system })
            }
            Err(attempts) => Err(rewrite::as_written_faults(&attempts)),
        }
    }

    /// Local arrays that keep the component's statements together.
    fn tied(&self, statements: &[usize]) -> Vec<ArrayId> {
        let mut arrays: Vec<ArrayId> = statements
            .iter()
            .map(|&s| self.scop.statements[s].write.array)
            .filter(|a| !self.memory[a.index()])
            .collect();
        arrays.sort();
        arrays.dedup();
        arrays
    }

    /// Whether a local array is written in one of the loops at `level` and read in another.
    fn is_passed(&self, statements: &[usize], array: ArrayId, level: usize) -> bool {
        let all = || statements.iter().map(|&s| &self.scop.statements[s]);
        let mut readers = all().filter(|s| s.reads.iter().any(|r| r.array == array)).map(|s| s.loops.get(level));
        readers.any(|at| all().any(|s| s.write.array == array && s.loops.get(level) != at))
    }

    /// Whether neighbours may be merged: any, or those of one loop nest.
    fn may_join(&self, a: &Phase, b: &Phase) -> bool {
        let nest = |phase: &Phase| {
            phase.statements.iter().find_map(|&s| self.scop.statements[s].loops.get(self.sizes).copied())
        };
        self.separate != Some(Separate::Nests) || nest(a).is_none() || nest(b).is_none() || nest(a) == nest(b)
    }

    /// Merges neighbours that one array can execute, if all phases together do not take longer.
    fn merged(&self, items: Vec<Item>, level: usize) -> Vec<Item> {
        let mut out: Vec<Item> = Vec::new();
        let mut rest: Vec<Item> = items.into_iter().rev().collect();
        while let Some(item) = rest.pop() {
            let begun = flow::questions();
            let both = match (out.last(), &item) {
                (Some(Item::Phase(a)), Item::Phase(b))
                    if self.merge_effort.get() <= MERGE_EFFORT && self.may_join(a, b) =>
                {
                    let mut both = [a.statements.as_slice(), &b.statements].concat();
                    both.sort_unstable();
                    self.phase(&both, level, &MERGED).ok()
                }
                _ => None,
            };
            self.merge_effort.set(self.merge_effort.get() + flow::questions() - begun);
            let Some(both) = both else {
                out.push(item);
                continue;
            };
            let separate = volume(out.iter().chain([&item]).chain(&rest));
            let before = out.pop().expect("the neighbour");
            let both = Item::Phase(Box::new(both));
            if volume(out.iter().chain([&both]).chain(&rest)) <= separate {
                out.push(both);
            } else {
                out.extend([before, item]);
            }
        }
        out
    }
}

/// Iterations that siblings walk together: each walks the box around all of them.
fn volume<'a>(items: impl Iterator<Item = &'a Item>) -> i128 {
    let (mut counts, mut extents) = (vec![], vec![]);
    measure(items, &mut counts, &mut extents);
    counts.iter().chain(&extents).map(|&n| i128::from(n.max(1))).product()
}

/// Phases per level of loops, and the greatest extents of their inner dimensions in decreasing order.
fn measure<'a>(items: impl Iterator<Item = &'a Item>, counts: &mut Vec<i64>, extents: &mut Vec<i64>) {
    let mut count = 0;
    let (mut below, mut largest) = (vec![], vec![]);
    let widen = |a: &mut Vec<i64>, b: &[i64]| {
        a.resize(a.len().max(b.len()), 1);
        a.iter_mut().zip(b).for_each(|(x, y)| *x = (*x).max(*y));
    };
    for item in items {
        match item {
            Item::Phase(phase) => {
                count += 1;
                let mut these: Vec<i64> =
                    phase.system.dims[phase.system.loops()].iter().map(|d| d.hi - d.lo + 1).collect();
                these.sort_unstable_by(|a, b| b.cmp(a));
                widen(&mut largest, &these);
            }
            Item::Loop(sequence) => {
                count += sequence.hi - sequence.lo + 1;
                let (mut counts, mut extents) = (vec![], vec![]);
                measure(sequence.items.iter(), &mut counts, &mut extents);
                widen(&mut below, &counts);
                widen(&mut largest, &extents);
            }
        }
    }
    counts.push(count);
    counts.extend(below);
    widen(extents, &largest);
}
