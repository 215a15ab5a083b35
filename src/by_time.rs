//! The choice by time. The search counts cycles. If a path of the array that it chose is too slow for the board's clock,
//! an array with more cycles may take less time. Then the best designs before it are built, too, and of all of them the
//! one is taken that is done first: its cycles at the board's clock or, if that is slower, at the estimated one.
//!
//! Only what the search balances is chosen so. An array given by hand, or one with the fewest cycles because the user
//! asks for that, stays. Other designs are built only if the clock is missed.

use crate::clock::{Clock, Slower};
use crate::error::{Error, Result};
use crate::program::{self, Work};
use crate::reporter::{Progress, Reporter};
use crate::sim::Built;
use array::ip::Ip;
use search::branch::share;
use search::choose::Searched;
use search::Compiled;
use uniform::aim::Objective;
use uniform::design::{ArrayChoice, DesignSpec};

/// Another array must take at most this share of the time: estimates of the clock are not exact.
const WORTH: f64 = 0.98;
/// Its share of the scarcest resource may be larger by this factor.
const LARGER: f64 = 1.1;

/// The arrays of all functions, and the IP that they make.
pub struct Choice {
    pub compiled: Vec<Compiled>,
    pub ip: Ip,
    pub built: Built,
    pub clock: Clock,
}

/// Compiles all functions, and builds their IP.
///
/// # Errors
/// Those of [`Work::compile`] and [`program::joined`].
pub fn choose(work: &Work, reporter: &dyn Reporter) -> Result<Choice> {
    let compiled = work.compile(reporter)?;
    reporter.progress(Progress::Stage("building"));
    let first = built(work, compiled)?;
    let [(input, spec)] = &work.functions[..] else { return Ok(first) };
    let balanced = |s: &&Searched| spec.array == ArrayChoice::Automatic && s.objective == Objective::Balanced;
    let [compiled] = &first.compiled[..] else { return Ok(first) };
    let Some(searched) = compiled.report.searched.as_ref().filter(balanced) else { return Ok(first) };
    if first.clock.meets_board() {
        return Ok(first);
    }
    let most = LARGER * share(&compiled.report.resources, &searched.limits);
    let time = |choice: &Choice| choice.clock.time(choice.compiled[0].report.prediction.cycles);
    let other = |design: &search::branch::Design| -> Option<Choice> {
        let spec = DesignSpec { aim: spec.aim.clone(), ..design.spec(spec) };
        let other = program::compile(input, &spec, &work.board, reporter).ok()?.in_place_of(compiled);
        built(work, vec![other]).ok()
    };
    // The first is the one that was chosen.
    let near = searched.near.iter().skip(1).filter(|d| share(&d.need, &searched.limits) <= most);
    let best = near.filter_map(other).min_by(|a, b| time(a).total_cmp(&time(b)));
    let Some(mut best) = best.filter(|best| time(best) <= WORTH * time(&first)) else { return Ok(first) };
    best.clock.instead_of = Some(Slower { cycles: compiled.report.prediction.cycles, mhz: first.clock.mhz() });
    Ok(best)
}

fn built(work: &Work, compiled: Vec<Compiled>) -> Result<Choice> {
    let ip = program::joined(&work.name, work.queue, &compiled.iter().collect::<Vec<_>>(), &work.board)?;
    let built = Built::new(&ip).map_err(Error::internal)?;
    let clock = Clock::new(&built.design, &work.board);
    Ok(Choice { compiled, ip, built, clock })
}
