//! What a run is doing, on a terminal only: one line on standard error that the next one or [`done`] wipes away.

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Between two pictures of the line.
const TICK: Duration = Duration::from_millis(120);
const STAGE: &str = "{spinner} {msg} {elapsed}";
const CYCLES: &str = "{spinner} {msg} {percent} % of {human_len} cycles, {rate}, {remaining} left";

static LINE: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn line() -> MutexGuard<'static, Option<ProgressBar>> {
    LINE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Standard error is a terminal, so that somebody sees it.
pub fn shown() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal()
}

fn show(bar: impl FnOnce() -> ProgressBar) {
    done();
    if shown() {
        let bar = bar();
        bar.enable_steady_tick(TICK);
        *line() = Some(bar);
    }
}

/// Begins a stage whose length is not known; the time it takes is shown.
pub fn stage(what: &'static str) {
    show(|| ProgressBar::new_spinner().with_style(style(STAGE)).with_message(what));
}

/// A stage that says how far it is.
pub fn say(text: String) {
    if shown() {
        let new = || {
            let bar = ProgressBar::new_spinner().with_style(style(STAGE));
            bar.enable_steady_tick(TICK);
            bar
        };
        line().get_or_insert_with(new).set_message(text);
    }
}

/// Begins a simulation of about `total` clock cycles: percent, cycles a second and the time left are shown.
pub fn cycles(what: &'static str, total: u64) {
    show(|| simulation(what, total));
}

/// The line of a simulation.
pub fn simulation(what: &'static str, total: u64) -> ProgressBar {
    ProgressBar::new(total).with_style(style(CYCLES)).with_message(what)
}

/// So many cycles are simulated. Memory that stalls makes more of them than are predicted.
pub fn at(cycle: u64) {
    if let Some(bar) = line().as_ref() {
        advance(bar, cycle);
    }
}

/// Moves the line of a simulation on; it never says that all is done.
pub fn advance(bar: &ProgressBar, cycle: u64) {
    if bar.length().is_some_and(|total| cycle >= total) {
        bar.set_length(cycle + cycle / 50);
    }
    bar.set_position(cycle);
}

/// Wipes the line away.
pub fn done() {
    if let Some(bar) = line().take() {
        bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = write!(out, "{} cycles/s", HumanCount(state.per_sec() as u64));
    };
    let remaining = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = match state.pos() {
            0 => write!(out, "…"),
            _ => write!(out, "{:#}", HumanDuration(state.eta())),
        };
    };
    ProgressStyle::with_template(template)
        .expect("the template is well formed")
        .with_key("rate", rate)
        .with_key("remaining", remaining)
}
