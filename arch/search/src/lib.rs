//! Which array executes a program: the one that the user describes ([`requested`]), one of the numbered list
//! ([`candidates`]), or the best one. The best one is found by branch and bound ([`branch`]) over the space of designs
//! ([`space`]); [`choose`](mod@choose) asks for it. [`compile`] and [`enumerate`] are the entry points; [`pipeline`] is
//! the list of passes. All constants of the search are in [`tuning`].

mod deal;
pub mod requested;
pub mod candidates;
pub mod tuning;
pub mod threads;
pub mod facts;
pub mod space;
mod sketch;
pub mod branch;
pub mod strips;
pub mod distribute;
mod quest;
pub mod choose;
mod compiled;
mod cuts;
pub mod pipeline;
mod imitate;
pub mod merge;

pub use candidates::{Candidate, Class, Link};
pub use compiled::{diagram, outside, predict_commands, Compiled, Report, Stages};
pub use pipeline::{compile, compile_program, compile_stage, enumerate, on, program, program_of};
