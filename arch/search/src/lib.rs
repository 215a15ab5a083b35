//! Which array: one a user describes ([`given`]), a row of the list of all ([`rows`]), or the best ([`branch`], which
//! [`choose`](mod@choose) asks). [`compile`] and [`enumerate`] are the ways in; [`pipeline`] is the list of passes.

pub mod given;
pub mod rows;
mod handover;
pub mod facts;
pub mod space;
mod sketch;
pub mod branch;
pub mod strips;
pub mod apart;
pub mod choose;
mod compiled;
pub mod pipeline;

pub use compiled::{diagram, Compiled, Report, Stages};
pub use pipeline::{compile, compile_program, compile_stage, enumerate, on, program, program_of};
pub use rows::{Candidate, Class};
