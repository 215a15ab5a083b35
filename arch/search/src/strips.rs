//! A program whose loops end by strip, asked for or to be chosen from (`recurrence::strips`).
//!
//! Where strips are phases, such a program is searched like any other. Where values are handed on from strip to strip
//! they stay in their PEs, so no space loop may begin later from strip to strip: then the fastest array is looked at in
//! strips ([`handing_on`]).

use crate::branch::{by_hand, Design};
use array::contract::walk::MemoryTiming;
use array::kernel::Kernel;
use array::variants::assemble;
use cost::board::Resources;
use cost::{predict_below, resources};
use scop::diag::{Diagnostic, Diagnostics};
use uniform::design::{ArrayChoice, DesignSpec, Factors, Shape};
use uniform::mapping::Plan;
use uniform::program::Form;
use uniform::recurrence::strips;
use uniform::recurrence::strips::Slopes;
use uniform::space_time::by_hand::dim_named;
use uniform::system::System;
use uniform::verify;

/// Into how many strips a loop is cut, where nobody says it, and how many of such programs are looked at: those that
/// walk least.
const STRIPS: [i64; 3] = [16, 8, 4];
const ALTERNATIVES: usize = 3;
/// How many iterations of other loops the last strip keeps at least: while they run, a value waits for its operators.
const KEPT: [i64; 10] = [1, 8, 16, 24, 32, 40, 48, 64, 96, 128];

/// The program in the strips that the user asks for; itself for none.
///
/// # Errors
/// Loops that cannot be cut, or need not.
pub fn stripped<'a>(program: Kernel<'a>, spec: &DesignSpec) -> Result<Kernel<'a>, Diagnostics> {
    let Some(Shape { strip, slant, .. }) = spec.array.shape() else { return Ok(program) };
    let fault = |text: String, help: String| Err(vec![Diagnostic::error("E0728", None, text).help(help)]);
    let Some((name, &size)) = strip.iter().next() else {
        let Some(name) = slant.keys().next() else { return Ok(program) };
        return fault(
            format!("--skew: `{name}` would be skewed from strip to strip, but no loop is cut into strips"),
            "say which loop with --strip, or leave the option out".into(),
        );
    };
    if strip.len() > 1 {
        return fault("--strip cuts one loop".into(), format!("for example --strip {name}={size}"));
    }
    if size < 1 {
        return fault(
            format!("--strip {name}={size}: a strip has at least one iteration"),
            format!("for example --strip {name}=16"),
        );
    }
    if program.system.has_phases() {
        return fault(
            "--strip: a program in phases is not cut into strips".into(),
            "leave the option out: loops there end as the phases say".into(),
        );
    }
    let system = &program.general.system;
    let d = dim_named(system, name).map_err(|f| vec![f])?;
    let known = strips::dimensions(system);
    let others: Vec<&str> = known.iter().map(|&(d, _)| system.dims[d].name.as_str()).collect();
    let help = if others.is_empty() {
        "leave the option out: no loop of this program can be cut so that others end earlier".into()
    } else {
        format!("loops that can be cut: {}", others.join(", "))
    };
    let Some(&(_, far)) = known.iter().find(|k| k.0 == d) else {
        return fault(
            format!(
                "--strip {name}={size}: values are carried backwards over the loop `{name}`, or no other loop ends \
                as it says"
            ),
            help,
        );
    };
    if size < far {
        return fault(
            format!("--strip {name}={size}: values come over {far} iterations of the loop `{name}`"),
            format!("a strip has as many at least: --strip {name}={far}"),
        );
    }
    if far > 0 && system.is_sized() {
        return fault(
            format!(
                "--strip {name}={size}: values are carried over the loop `{name}`, for a time that would follow from \
                the sizes and the strip"
            ),
            "leave the option out, or make the sizes constants".into(),
        );
    }
    let asked = slant
        .iter()
        .map(|(name, &slope)| dim_named(system, name).map(|d| (d, slope)))
        .collect::<Result<Slopes, _>>()
        .map_err(|f| vec![f])?;
    let extent = |d: usize| system.dims[d].hi - system.dims[d].lo + 1;
    if let Some(&(d, slope)) = asked.iter().find(|&&(d, slope)| !(0..=extent(d)).contains(&slope)) {
        let name = &system.dims[d].name;
        return fault(
            format!("--skew {name}={slope}: the loop `{name}` has {} iterations", extent(d)),
            format!("a skew is at most the number of iterations, and not negative: for example --skew {name}=1"),
        );
    }
    let space: Vec<usize> = match &spec.array {
        ArrayChoice::ByHand { space: Some(space), .. } => {
            space.iter().filter_map(|name| dim_named(system, name).ok()).collect()
        }
        _ => vec![],
    };
    let slopes = |all: Slopes| match asked.is_empty() {
        false => asked.clone(),
        true => all.into_iter().filter(|(d, _)| far == 0 || !space.contains(d)).collect(),
    };
    match cut(&program, d, size, &slopes).filter(is_sound) {
        Some(cut) => Ok(cut),
        None => fault(
            format!(
                "--strip {name}={size}: in strips of that size hardly less would be walked, or one would read what \
                another has overwritten"
            ),
            "take a smaller size, or leave the option out".into(),
        ),
    }
}

/// The program in strips that are phases, those that walk least first.
pub fn alternatives<'a>(program: &Kernel<'a>) -> Vec<Kernel<'a>> {
    let Form { scop, system, .. } = &*program.general;
    let free = strips::dimensions(system).into_iter().filter(|d| d.1 == 0);
    let all = free.flat_map(|(d, _)| sizes(system, d, 1).into_iter().map(move |size| (d, size)));
    let walked = |(d, size)| Some((d, size, strips::strips(scop, system, d, size, &|all| all)?.0.walked()));
    let mut all: Vec<(usize, i64, f64)> = all.filter_map(walked).collect();
    all.sort_by(|a, b| a.2.total_cmp(&b.2));
    all.into_iter()
        .filter_map(|(d, size, _)| cut(program, d, size, &|all| all))
        .filter(is_sound)
        .take(ALTERNATIVES)
        .collect()
}

/// No strip overwrites what another has yet to read.
fn is_sound(program: &Kernel) -> bool {
    let Form { scop, system, .. } = &*program.general;
    verify::system(scop, system).is_ok()
}

/// Iterations of a strip of dimension `d` that are looked at, `least` at least.
fn sizes(system: &System, d: usize, least: i64) -> Vec<i64> {
    let extent = system.dims[d].hi - system.dims[d].lo + 1;
    let mut sizes: Vec<i64> =
        STRIPS.iter().map(|n| (extent + n - 1) / n).filter(|size| (least..extent).contains(size)).collect();
    sizes.dedup();
    sizes
}

/// The program over strips of `size` iterations of dimension `d`, of those at all sizes.
fn cut<'a>(program: &Kernel<'a>, d: usize, size: i64, slopes: &dyn Fn(Slopes) -> Slopes) -> Option<Kernel<'a>> {
    let Form { scop, system, .. } = &*program.general;
    let name = |d: usize| system.dims[d].name.clone();
    let (system, slopes) = strips::strips(scop, system, d, size, slopes)?;
    // Of strips that are phases there is nothing to say.
    let slant = if !system.strips().is_empty() {
        slopes.into_iter().map(|(d, slope)| (name(d), slope)).collect()
    } else {
        Factors::new()
    };
    Some(program.with(program.over(system, Factors::from([(name(d), size)]), slant)))
}

/// How much of what a program walks is left at least if it is cut into strips that hand values on; 1 if it cannot be.
pub fn least_share(program: &Kernel) -> f64 {
    let handing = strips::dimensions(&program.system).into_iter().filter(|d| d.1 > 0 && !program.is_sized());
    let share = |(d, far): (usize, i64)| {
        let size = sizes(&program.system, d, far).into_iter().min()?;
        let (cut, slopes) = strips::strips(&program.scop, &program.system, d, size, &|steepest| steepest)?;
        // A loop runs at most twice as often as its iterations need.
        Some(cut.walked() / program.system.walked() / f64::from(1 << slopes.len().min(16)))
    };
    handing.filter_map(share).fold(1.0, f64::min)
}

/// Faster than the array of this plan: the same in strips that hand values on.
pub fn handing_on(program: &Kernel, best: &Design, limits: &Resources, spec: &DesignSpec) -> Option<(Design, u64)> {
    let plan = &best.plan;
    if program.system.loops().start > 0 || plan.transform != Plan::identity(plan.dims.len()).transform {
        return None;
    }
    let (mut found, mut tried): (Option<Design>, u64) = (None, 0);
    for (d, far) in strips::dimensions(&program.system).into_iter().filter(|d| d.1 > 0 && plan.dims[d.0].axis.is_none())
    {
        let extent = |d: usize| program.system.dims[d].hi - program.system.dims[d].lo + 1;
        for size in sizes(&program.system, d, far) {
            let later = (extent(d) - 1) / size;
            let mut before = Factors::new();
            for kept in KEPT {
                let steepest = |(d, slope): (usize, i64)| (d, slope.min((extent(d) - kept) / later));
                let slopes = |all: Slopes| {
                    all.into_iter()
                        .filter(|s| plan.dims[s.0].axis.is_none())
                        .map(steepest)
                        .filter(|s| s.1 > 0)
                        .collect()
                };
                let Some(cut) =
                    cut(program, d, size, &slopes).filter(|cut| !cut.slant.is_empty() && cut.slant != before)
                else {
                    continue;
                };
                before.clone_from(&cut.slant);
                tried += 1;
                let below = found.as_ref().map_or(best.cycles, |f| f.cycles);
                let faster = design(&cut, plan.clone().behind(1), best, limits, below, spec).filter(|_| is_sound(&cut));
                // With flatter slopes more is walked.
                let done = faster.as_ref().is_some_and(|f| f.vsa.schedule.interval <= best.vsa.schedule.interval);
                found = faster.or(found);
                if done {
                    break;
                }
            }
        }
    }
    found.map(|found| (found, tried))
}

/// The array of the plan, if it takes fewer cycles than so many.
fn design(
    program: &Kernel,
    plan: Plan,
    like: &Design,
    limits: &Resources,
    below: i64,
    spec: &DesignSpec,
) -> Option<Design> {
    let mut spec = spec.clone();
    spec.wiring.word.clone_from(&like.words);
    let vsa = assemble(program, plan.clone(), &spec).ok()?;
    let cycles = predict_below(&vsa, &MemoryTiming::IDEAL, below).0?.cycles;
    let need = resources::parts(&vsa).total();
    need.fits(limits).then(|| Design {
        array: by_hand(program, &plan),
        plan,
        words: like.words.clone(),
        cycles,
        need,
        vsa,
    })
}
