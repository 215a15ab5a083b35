//! The automatic choice of an array: an effort that grows with the program, limits by the board and the user, and a
//! [`Quest`] for the user's objective.

pub use crate::quest::{objective, Hint, Part, Quest};

use crate::branch::{share, Counts, Design, Effort, Found, Smaller, Step};
use crate::tuning;
use crate::{distribute, strips};
use array::contract::dram::{Memories, MemoryTiming, Pace};
use array::contract::walk::Walk;
use array::kernel::Kernel;
use array::vsa::Vsa;
use cost::board::{Board, Resources};
use cost::Prediction;
use scop::diag::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;
use uniform::aim::{Most, Objective, RESOURCES};
use uniform::design::DesignSpec;
use uniform::mapping::Plan;
use uniform::space_time::by_hand;

/// What the array may take of the board: the user's limits, else all but the margins for the router.
///
/// # Errors
/// A name that is no resource.
pub fn limits_of(board: &Board, given: &BTreeMap<String, Most>) -> Result<Resources, String> {
    if let Some(name) = given.keys().find(|n| !RESOURCES.contains(&n.as_str())) {
        return Err(format!("there is no resource `{name}`: a limit is one of {}", RESOURCES.join(", ")));
    }
    let limit = |name, all, usable| given.get(name).map_or(usable, |most| most.of(all));
    Ok(board.resources.zip(&board.usable(), limit))
}

/// How an array was found.
#[derive(Clone, Debug)]
pub struct Searched {
    pub objective: Objective,
    /// No array within the limits takes fewer cycles.
    pub bound: i64,
    /// The share of the cycles that may be saved at most, 0 to 1.
    pub gap: f64,
    pub counts: Counts,
    /// Larger and faster designs that a balanced search passed, the fastest first.
    pub passed: Vec<Design>,
    /// Its end.
    pub smaller: Vec<Smaller>,
    /// The design that was chosen, and the best ones before it, the fastest first.
    pub near: Vec<Design>,
    /// What the array may take.
    pub limits: Resources,
    /// Every better design, in the order in which they were found.
    pub trace: Vec<Step>,
    /// Why arrays were refused, and how many for each reason.
    pub refused: Vec<(String, u64)>,
}

impl Searched {
    pub fn new(found: &Found, limits: Resources, objective: Objective) -> Searched {
        Searched {
            objective,
            passed: found.passed.clone(),
            smaller: found.smaller.clone(),
            near: found.best.iter().chain(&found.runners_up).cloned().collect(),
            bound: found.bound,
            gap: found.gap(),
            counts: found.counts,
            limits,
            trace: found.trace.clone(),
            refused: found.refused.clone(),
        }
    }
}

/// What keeps an array from being faster.
#[derive(Clone, Debug, PartialEq)]
pub enum Limit {
    /// A port that moves words in this share of the cycles.
    Port { port: usize, reads: bool, share: f64 },
    /// The lanes are busy, and the array takes this share of what it may take of a resource.
    Resource(&'static str, f64),
    /// Filling and draining the array.
    Size,
}

/// What limits an array: whatever is busy for most of the run.
pub fn limit(vsa: &Vsa, memories: &Memories, run: &Prediction, need: &Resources, limits: &Resources) -> Limit {
    let (compute, cycles) = (run.compute_cycles, run.cycles);
    let of = |n: i64, all: i64| n as f64 / all.max(1) as f64;
    let vsa = &vsa.at_most();
    let ports = (0..vsa.ports()).flat_map(|p| [(p, true, Walk::reads(vsa, p)), (p, false, Walk::writes(vsa, p))]);
    let busiest = ports
        .filter_map(|(p, reads, walk)| {
            let MemoryTiming { read, write, .. } = memories.behind(vsa, p);
            let pace = if reads { read } else { write };
            Some((of(walk?.words(), cycles) * pace.beat as f64 / Pace::ONE as f64, p, reads))
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let computes = of(compute, cycles);
    match busiest {
        Some((share, port, reads)) if share > computes && share > tuning::BUSY_SHARE => {
            Limit::Port { port, reads, share }
        }
        _ if computes > tuning::BUSY_SHARE => {
            let shares = need.named().into_iter().zip(limits.counts()).map(|((name, n), all)| (name, of(n, all)));
            let (name, share) =
                shares.filter(|s| s.0 != "uram").max_by(|a, b| a.1.total_cmp(&b.1)).expect("four of them");
            Limit::Resource(name, share)
        }
        _ => Limit::Size,
    }
}

/// The effort of a choice: it grows with the program, up to some seconds.
pub fn effort(program: &Kernel) -> Effort {
    let loads_and_stores = program
        .system
        .statements
        .iter()
        .map(|s| s.stores.len() + s.variables.iter().map(|v| v.pieces.len()).sum::<usize>());
    let size = loads_and_stores.sum::<usize>() as i64;
    // Bounds of phases are weaker, so more designs are assembled.
    let least = if program.system.frame().outer > 0 { 2 * tuning::LEAST_DESIGNS } else { tuning::LEAST_DESIGNS };
    let designs = (least + program.work.iterations / tuning::ITERATIONS_PER_DESIGN).min(tuning::MOST_DESIGNS);
    let larger = size.max(tuning::LARGE_PROGRAM);
    let exact = designs * tuning::LARGE_PROGRAM.pow(2) / larger.saturating_mul(larger);
    let exact = exact.max(tuning::LARGE_PROGRAM_DESIGNS) as u64;
    Effort {
        exact,
        bounds: tuning::CHOICE_BOUNDS + tuning::CHOICE_BOUNDS_PER_DESIGN * exact,
        work: tuning::CHOICE_ROWS,
        gap: 0.0,
    }
}

/// The dimensions of plain loop names; `None` if one is anything else.
pub fn space_loops(program: &Kernel, names: &[String]) -> Option<Vec<usize>> {
    names.iter().map(|n| by_hand::dim_named(&program.system, n).ok()).collect()
}

/// An array, with the form of the program that it executes.
pub struct Chosen<'a> {
    pub program: Kernel<'a>,
    pub plan: Plan,
    pub vsa: Vsa,
    pub searched: Searched,
}

/// The array for the user's aim, over these space loops (dimensions) if there are any.
///
/// # Errors
/// Every reason for which no array was possible, without repetitions.
pub fn choose<'a>(
    program: &Kernel<'a>,
    space: Option<Vec<usize>>,
    board: &Board,
    spec: &DesignSpec,
) -> Result<Chosen<'a>, Diagnostics> {
    choose_with(program, effort(program), space, board, spec)
}

fn choose_with<'a>(
    program: &Kernel<'a>,
    effort: Effort,
    space: Option<Vec<usize>>,
    board: &Board,
    spec: &DesignSpec,
) -> Result<Chosen<'a>, Diagnostics> {
    let wrong = |text: String| vec![Diagnostic::error("E0722", None, text)];
    let margins = limits_of(board, &spec.aim.limit).map_err(wrong)?;
    let others = distribute::alternatives(program, spec);
    let quest = |limits: Resources| Quest {
        others: &others,
        space: space.clone(),
        ..Quest::new(program, spec, limits, effort)
    };
    let first = quest(margins);
    let mut found = first.answer(&spec.aim)?;
    let mut limits = margins;
    // Margins help the router. If nothing fits within them, the whole board is tried.
    let is_far = found.nearest.is_some_and(|need| share(&need, &board.resources) > tuning::FAR_TOO_BIG);
    if found.best.is_none() && !is_far && spec.aim.limit.is_empty() {
        limits = board.resources;
        let effort = effort.part(tuning::AGAIN_PART);
        found = Quest { learned: first.learned, effort, ..quest(limits) }.answer(&spec.aim)?;
    }
    if found.best.is_none() && found.counts.too_big > 0 && space.is_none() {
        if let Some(steps) = distribute::in_steps(program, spec) {
            let effort = Effort { work: tuning::STEPS_ROWS, ..self::effort(&steps).part(tuning::STEPS_PART) };
            return choose_with(&steps, effort, None, board, spec)
                .map_err(|_| reasons(program, found, &board.name, &limits));
        }
    }
    let searched = Searched::new(&found, limits, objective(&spec.aim));
    let Some(Design { plan, vsa, array, .. }) = found.best else {
        return Err(reasons(program, found, &board.name, &limits));
    };
    let is_of = |p: &Kernel| {
        array.shape().is_some_and(|shape| shape.strip == p.strip && shape.distribute.unwrap_or(false) == p.distributed)
    };
    let program = match others.into_iter().find(is_of) {
        Some(other) => other,
        None => strips::requested(program.clone(), &DesignSpec { array: array.clone(), ..spec.clone() })?,
    };
    Ok(Chosen { program, plan, vsa, searched })
}

/// Why a search found no array. If legal arrays need too much, that is the only reason: the faults of other arrays,
/// which nobody asked for, tell the user nothing.
fn reasons(program: &Kernel, found: Found, board: &str, limits: &Resources) -> Diagnostics {
    if found.counts.too_big > 0 {
        return vec![too_big(program, found.nearest.as_ref(), board, limits)];
    }
    let mut reasons: Diagnostics = vec![];
    for (illegal, plan) in found.illegal {
        let reason = illegal.diagnostic(&program.scop, &program.system, &plan);
        // One reason a place: the numbers of the next array differ, the fault is the same.
        if !reasons.iter().any(|other| other.code == reason.code && other.span == reason.span) {
            reasons.push(reason);
        }
    }
    reasons
}

/// `nearest`: what the array takes that comes nearest to the limits.
fn too_big(program: &Kernel, nearest: Option<&Resources>, board: &str, limits: &Resources) -> Diagnostic {
    let counted = |(name, n): (&str, i64)| format!("{n} {}", name.to_uppercase());
    let text = match nearest {
        Some(need) => {
            let both = need.named().into_iter().zip(limits.named()).filter(|(need, have)| need.1 > have.1);
            let (needs, has): (Vec<String>, Vec<String>) =
                both.map(|(need, have)| (counted(need), counted(have))).unzip();
            let (needs, has) = (needs.join(" and "), has.join(" and "));
            format!("the smallest array that sagen tried needs {needs}, and {board} may give {has}")
        }
        None => {
            let all = limits.named().map(counted);
            format!("every array needs more than {board} may give: {}", all[..4].join(", "))
        }
    };
    let help = "allow more with --limit, or take a larger board";
    Diagnostic::error("E0717", program.scop.function.region, text).help(help)
}
