//! What a job says while it runs. The library prints nothing: its functions tell a [`Reporter`] that the caller passes.

use scop::diag::{Diagnostics, SourceMap};

/// How far a job is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// A stage of unknown length begins.
    Stage(&'static str),
    /// A simulation of about so many clock cycles begins. Stalls of the memory make it longer than predicted.
    Simulation { cycles: u64 },
    /// The simulation has reached this clock cycle.
    Cycle(u64),
    /// The state of a search.
    Search {
        /// Cycles of the best design so far.
        best: Option<i64>,
        /// No design takes fewer cycles.
        bound: i64,
        /// Designs assembled in a second.
        rate: f64,
    },
    /// The job is over, or is about to write to the terminal.
    Done,
}

/// Receives warnings, notes and progress. The default methods ignore everything.
pub trait Reporter: Sync {
    /// Warnings about a program, with the texts that their spans refer to.
    fn warnings(&self, _warnings: &Diagnostics, _sources: &SourceMap) {}

    /// A note about how the result comes about, as a sentence.
    fn note(&self, _text: &str) {}

    /// How far the job is.
    fn progress(&self, _progress: Progress) {}

    /// Whether somebody watches the progress, so that it is worth finding out.
    fn is_watched(&self) -> bool {
        false
    }
}

/// Ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Reporter for Silent {}
