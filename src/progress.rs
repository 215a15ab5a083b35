//! The command's [`Reporter`]: warnings and notes as lines on standard error and, if that is a terminal, one line of
//! progress, which the next one replaces.

use crate::render::MessageFormat;
use crate::report::grouped;
use crate::reporter::{Progress, Reporter};
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use scop::diag::{Diagnostics, SourceMap};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The time between two pictures of the line.
const TICK: Duration = Duration::from_millis(120);
const STAGE: &str = "{spinner} {msg} {elapsed}";
const CYCLES: &str = "{spinner} {msg} {percent} % of {human_len} cycles, {rate}, {remaining} left";

/// Writes to standard error.
#[derive(Default)]
pub struct Terminal {
    /// The line of progress.
    line: Mutex<Option<ProgressBar>>,
    format: MessageFormat,
}

/// Text on standard error may have colors: it is a terminal, and nobody set `NO_COLOR`.
pub fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Writes to standard error. Nothing can be done if that fails.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

impl Reporter for Terminal {
    fn warnings(&self, warnings: &Diagnostics, sources: &SourceMap) {
        self.progress(Progress::Done);
        say(&self.format.diagnostics(warnings, sources, color()));
    }

    fn note(&self, text: &str) {
        self.progress(Progress::Done);
        say(&self.format.message("note", text));
    }

    fn progress(&self, progress: Progress) {
        if !self.is_watched() {
            return;
        }
        match progress {
            Progress::Stage(what) => self.show(stage(what)),
            Progress::Simulation { cycles } => self.show(simulation(cycles)),
            Progress::Cycle(cycle) => {
                if let Some(bar) = self.line().as_ref() {
                    advance(bar, cycle);
                }
            }
            Progress::Search { best, bound, rate } => {
                let text = search(best, bound, rate);
                self.line().get_or_insert_with(|| ticking(stage(""))).set_message(text);
            }
            Progress::Done => self.clear(),
        }
    }

    fn is_watched(&self) -> bool {
        std::io::stderr().is_terminal()
    }
}

impl Terminal {
    /// Messages have this form.
    pub fn new(format: MessageFormat) -> Terminal {
        Terminal { format, ..Terminal::default() }
    }

    fn line(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.line.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Replaces the line.
    fn show(&self, bar: ProgressBar) {
        self.clear();
        *self.line() = Some(ticking(bar));
    }

    /// Wipes the line away.
    fn clear(&self) {
        if let Some(bar) = self.line().take() {
            bar.finish_and_clear();
        }
    }
}

fn ticking(bar: ProgressBar) -> ProgressBar {
    bar.enable_steady_tick(TICK);
    bar
}

/// The line of a stage: what it is, and the time it has taken.
fn stage(what: &'static str) -> ProgressBar {
    ProgressBar::new_spinner().with_style(style(STAGE)).with_message(what)
}

/// The line of a simulation of about `total` clock cycles: percent, cycles in a second and the time left.
pub fn simulation(total: u64) -> ProgressBar {
    ProgressBar::new(total).with_style(style(CYCLES)).with_message("simulating")
}

/// Moves the line of a simulation on. It never says that all is done, as stalls may add cycles.
pub fn advance(bar: &ProgressBar, cycle: u64) {
    if bar.length().is_some_and(|total| cycle >= total) {
        bar.set_length(cycle + cycle / 50);
    }
    bar.set_position(cycle);
}

/// Best, bound, gap and speed of a search.
fn search(best: Option<i64>, bound: i64, rate: f64) -> String {
    let cycles = best.map_or("none yet".into(), grouped);
    let gap = best.map_or(100.0, |b| 100.0 * (b - bound).max(0) as f64 / b.max(1) as f64);
    format!("best {cycles}, bound {}, gap {gap:.2} %, {rate:.0} designs/s", grouped(bound))
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
