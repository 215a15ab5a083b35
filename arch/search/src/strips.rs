//! Programs in strips: the user asks for them, or the search chooses them.
//!
//! **Problem.** A triangle `for i in 0..n, for j in 0..=i` takes as many waves as its square, because the loops of an
//! array end alike for all iterations. Strip-mining `i` into blocks lets `j` end earlier in the first blocks.
//!
//! **Terms.** A *strip* is a block of iterations of one loop. The *skew* of a loop is the number of iterations by which
//! it begins later from strip to strip (loop skewing).
//!
//! **Method.** `recurrence::strips` builds the program. There are two kinds:
//!
//! - No value is carried over the loop: strips are phases. Such a program is searched like any other
//!   ([`alternatives`]).
//! - Values are carried over the loop: they stay in their PEs from strip to strip, so no space loop may be skewed. The
//!   search finds the fastest array without strips first; then it and the best arrays before it are tried in strips
//!   ([`carrying`]).
//!
//! **Invariant.** A program in strips is taken only if its verifier finds no strip that overwrites what another has yet
//! to read.
//!
//! **Example.** 64 iterations of `i` in 4 strips of 16: `j` runs to 16, 32, 48 and 64, so 16·(16 + 32 + 48 + 64) = 2560
//! of 4096 iterations are executed.

use crate::branch::{options_of, Design};
use crate::tuning;
use array::io::port::WIDEST;
use array::kernel::Kernel;
use array::variants::assemble;
use array::vsa::Vsa;
use cost::board::Resources;
use cost::{memory, resources, Allowed};
use scop::diag::{Diagnostic, Diagnostics};
use std::cell::Cell;
use uniform::design::{ArrayChoice, DesignSpec, Factors, Shape};
use uniform::mapping::Plan;
use uniform::program::Form;
use uniform::recurrence::strips;
use uniform::recurrence::strips::Skew;
use uniform::space_time::by_hand::dim_named;
use uniform::system::System;
use uniform::verify;

/// The program in the strips that the user asks for; itself if he asks for none.
///
/// # Errors
/// Loops that cannot be strip-mined, or need not.
pub fn requested<'a>(program: Kernel<'a>, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    let Some(Shape { strip, skew, .. }) = spec.array.shape() else { return Ok(program) };
    let fault = |text: String, help: String| Err(vec![Diagnostic::error("E0728", None, text).help(help)]);
    let Some((name, &size)) = strip.iter().next() else {
        let Some(name) = skew.keys().next() else { return Ok(program) };
        return fault(
            format!("--skew: `{name}` would be skewed from strip to strip, but no loop is cut into strips"),
            "say which loop with --strip, or leave the option out".into(),
        );
    };
    if strip.len() > 1 {
        return fault("--strip takes one loop".into(), format!("for example --strip {name}={size}"));
    }
    if size < 1 {
        return fault(
            format!("--strip {name}={size}: a strip has at least one iteration"),
            format!("for example --strip {name}=16"),
        );
    }
    if program.system.has_phases() {
        return fault(
            "--strip: a program in phases has no strips".into(),
            "leave the option out: its loops end by phase already".into(),
        );
    }
    let system = &program.general.system;
    let d = dim_named(system, name).map_err(|f| vec![f])?;
    let possible = strips::dimensions(system);
    let others: Vec<&str> = possible.iter().map(|&(d, _)| system.dims[d].name.as_str()).collect();
    let help = if others.is_empty() {
        "leave the option out: strips of no loop let others end earlier".into()
    } else {
        format!("loops that can have strips: {}", others.join(", "))
    };
    let Some(&(_, far)) = possible.iter().find(|k| k.0 == d) else {
        return fault(
            format!("--strip {name}={size}: the loop `{name}` carries values backwards, or no other loop ends by it"),
            help,
        );
    };
    if size < far {
        return fault(
            format!("--strip {name}={size}: the loop `{name}` carries values over {far} iterations"),
            format!("a strip has at least as many: --strip {name}={far}"),
        );
    }
    if far > 0 && system.is_sized() {
        return fault(
            format!(
                "--strip {name}={size}: values are carried over the loop `{name}`, and how long they wait would follow \
                from sizes at run time"
            ),
            "leave the option out, or make the sizes constants".into(),
        );
    }
    let asked = skew
        .iter()
        .map(|(name, &by)| Ok(Skew { dim: dim_named(system, name).map_err(|f| vec![f])?, by }))
        .collect::<Result<Vec<Skew>, Diagnostics>>()?;
    let extent = |d: usize| system.dims[d].extent();
    if let Some(&Skew { dim, by }) = asked.iter().find(|s| !(0..=extent(s.dim)).contains(&s.by)) {
        let name = &system.dims[dim].name;
        return fault(
            format!("--skew {name}={by}: the loop `{name}` has {} iterations", extent(dim)),
            format!("a skew is at most the number of iterations, and not negative: for example --skew {name}=1"),
        );
    }
    let space: Vec<usize> = match &spec.array {
        ArrayChoice::ByHand { space: Some(space), .. } => {
            space.iter().filter_map(|name| dim_named(system, name).ok()).collect()
        }
        _ => vec![],
    };
    let skews = |all: Vec<Skew>| match asked.is_empty() {
        false => asked.clone(),
        true => all.into_iter().filter(|s| far == 0 || !space.contains(&s.dim)).collect(),
    };
    match strip_mined(&program, d, size, &skews).filter(is_sound) {
        Some(mined) => Ok(mined),
        None => fault(
            format!(
                "--strip {name}={size}: strips of that size save hardly any iterations, or one would read what another \
                has overwritten"
            ),
            "take a smaller size, or leave the option out".into(),
        ),
    }
}

/// The program in strips that are phases, those with the fewest iterations first.
pub fn alternatives<'a>(program: &Kernel<'a>) -> Vec<Kernel<'a>> {
    let Form { scop, system, .. } = &*program.general;
    let free = strips::dimensions(system).into_iter().filter(|d| d.1 == 0);
    let all = free.flat_map(|(d, _)| sizes(system, d, 1).into_iter().map(move |size| (d, size)));
    let iterations = |(d, size)| Some((d, size, strips::strips(scop, system, d, size, &|all| all)?.0.walked()));
    let mut all: Vec<(usize, i64, f64)> = all.filter_map(iterations).collect();
    all.sort_by(|a, b| a.2.total_cmp(&b.2));
    all.into_iter()
        .filter_map(|(d, size, _)| strip_mined(program, d, size, &|all| all))
        .filter(is_sound)
        .take(tuning::STRIP_PROGRAMS)
        .collect()
}

/// No strip overwrites what another has yet to read.
fn is_sound(program: &Kernel) -> bool {
    let Form { scop, system, .. } = &*program.general;
    verify::system(scop, system).is_ok()
}

/// The sizes of strips of dimension `d` that are tried, `least` at least.
fn sizes(system: &System, d: usize, least: i64) -> Vec<i64> {
    let extent = system.dims[d].extent();
    let mut sizes: Vec<i64> =
        tuning::STRIPS.iter().map(|n| (extent + n - 1) / n).filter(|size| (least..extent).contains(size)).collect();
    sizes.dedup();
    sizes
}

/// The program in strips of `size` iterations of dimension `d`.
fn strip_mined<'a>(
    program: &Kernel<'a>,
    d: usize,
    size: i64,
    skews: &dyn Fn(Vec<Skew>) -> Vec<Skew>,
) -> Option<Kernel<'a>> {
    let Form { scop, system, .. } = &*program.general;
    let name = |d: usize| system.dims[d].name.clone();
    let (system, skews) = strips::strips(scop, system, d, size, skews)?;
    // Strips that are phases need no skew.
    let skew = if !system.strips().is_empty() {
        skews.into_iter().map(|s| (name(s.dim), s.by)).collect()
    } else {
        Factors::new()
    };
    Some(program.with(program.over(system, Factors::from([(name(d), size)]), skew)))
}

/// The least share of a program's iterations that is left in strips that carry values; 1 if it has none.
pub fn least_share(program: &Kernel) -> f64 {
    let carried = strips::dimensions(&program.system).into_iter().filter(|d| d.1 > 0 && !program.is_sized());
    let share = |(d, far): (usize, i64)| {
        let size = sizes(&program.system, d, far).into_iter().min()?;
        let (mined, skews) = strips::strips(&program.scop, &program.system, d, size, &|steepest| steepest)?;
        // A loop runs at most twice as often as its iterations need.
        Some(mined.walked() / program.system.walked() / f64::from(1 << skews.len().min(16)))
    };
    carried.filter_map(share).fold(1.0, f64::min)
}

/// A faster array in strips, how many were tried, and the work of their walks.
pub struct Carrying {
    pub design: Option<Design>,
    pub tried: u64,
    pub work: u64,
}

/// The design's array in strips that carry values, if it takes so few cycles. Loops that are no space loops are skewed as
/// far as the last strip's iterations allow. All walks together take at most the work allowed.
pub fn carrying(program: &Kernel, best: &Design, limits: &Resources, spec: &DesignSpec, allowed: Allowed) -> Carrying {
    let work = allowed.work;
    let plan = &best.plan;
    let mut found = Carrying { design: None, tried: 0, work: 0 };
    // How long values wait from strip to strip would follow from sizes at run time.
    if program.is_sized()
        || program.system.loops().start > 0
        || plan.transform != Plan::identity(plan.dims.len()).transform
    {
        return found;
    }
    let in_time = |d: usize| plan.dims[d].axis.is_none();
    let extent = |d: usize| program.system.dims[d].extent();
    for (d, far) in strips::dimensions(&program.system).into_iter().filter(|&(d, far)| far > 0 && in_time(d)) {
        for size in sizes(&program.system, d, far) {
            let later = (extent(d) - 1) / size;
            let (mut before, offered) = (Factors::new(), Cell::new(false));
            for last in tuning::LAST_STRIP_ITERATIONS {
                let steepest = |s: Skew| Skew { by: s.by.min((extent(s.dim) - last) / later), ..s };
                let skews = |mut all: Vec<Skew>| {
                    all.retain(|s| in_time(s.dim) && s.by > 0);
                    offered.set(offered.get() || !all.is_empty());
                    all.into_iter().map(steepest).filter(|s| s.by > 0).collect()
                };
                let is_new = |mined: &Kernel| !mined.skew.is_empty() && mined.skew != before;
                if found.work >= work {
                    return found;
                }
                let mined = strip_mined(program, d, size, &skews);
                if !offered.get() {
                    // No loop begins later, however long the last strip is.
                    break;
                }
                let Some(mined) = mined.filter(is_new) else { continue };
                before.clone_from(&mined.skew);
                found.tried += 1;
                let cycles = found.design.as_ref().map_or(allowed.cycles, |f| f.cycles);
                let allowed = Allowed { cycles, work: work - found.work };
                let (faster, walked) = same_array(&mined, best, limits, allowed, spec);
                found.work += walked;
                let faster = faster.filter(|_| is_sound(&mined)).map(|faster| {
                    let (wider, walked) = over_wider_buses(&mined, best, faster, limits, work - found.work, spec);
                    found.work += walked;
                    wider
                });
                // Smaller skews leave more iterations, so the first one without longer waits is the best.
                let done = faster.as_ref().is_some_and(|f| f.vsa.schedule.interval <= best.vsa.schedule.interval);
                found.design = faster.or(found.design);
                if done {
                    break;
                }
            }
        }
    }
    found
}

/// A design in strips over buses wider than those of the design that it is `like`: of fewer iterations, loads and stores
/// are a greater part. And the work of the walks.
fn over_wider_buses(
    program: &Kernel,
    like: &Design,
    mut best: Design,
    limits: &Resources,
    work: u64,
    spec: &DesignSpec,
) -> (Design, u64) {
    let mut walked = 0;
    let is_open = |vsa: &Vsa, port: usize| {
        let is_fixed = |a: usize| spec.wiring.word.contains_key(&vsa.arrays[a].name);
        !vsa.arrays_of(port).any(is_fixed) && vsa.bus_bytes(port) < WIDEST
    };
    for port in 0..if spec.memory.ideal { 0 } else { best.vsa.axi_ports() } {
        while is_open(&best.vsa, port) && walked < work {
            let mut words = best.words.clone();
            for a in best.vsa.arrays_of(port) {
                words.entry(best.vsa.arrays[a].name.clone()).and_modify(|word| *word *= 2);
            }
            let enough = best.cycles - best.cycles * tuning::WIDER_PERCENT / 100;
            let allowed = Allowed { cycles: enough + 1, work: work - walked };
            let (wider, more) = same_array(program, &Design { words, ..like.clone() }, limits, allowed, spec);
            walked += more;
            let Some(wider) = wider else { break };
            best = wider;
        }
    }
    (best, walked)
}

/// The array of the design's plan and words for the program in strips, if it takes so few cycles and so short a walk;
/// and the work of the walk.
fn same_array(
    program: &Kernel,
    like: &Design,
    limits: &Resources,
    allowed: Allowed,
    spec: &DesignSpec,
) -> (Option<Design>, u64) {
    let (plan, words) = (like.plan.clone().behind(1), like.words.clone());
    let mut spec = spec.clone();
    spec.wiring.word.clone_from(&words);
    let Ok(vsa) = assemble(program, plan.clone(), &spec) else { return (None, 0) };
    let (end, work) = memory::run_below(&vsa, &spec, allowed);
    let Some(run) = end.run() else { return (None, work) };
    let (cycles, need) = (run.prediction.cycles, resources::on_board(&vsa, &spec));
    let design = || Design { array: options_of(program, &plan), plan, words, cycles, need, vsa };
    (need.fits(limits).then(design), work)
}
