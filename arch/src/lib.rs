//! From a Scop to a virtual systolic array: uniform recurrences, mapping, schedule, I/O groups, cost.
//!
//! Folders in the order of the chain; each imports only from those above it ([`verify`], [`text`], [`interp`] and
//! [`svg`]: from [`affine`], [`ir`] and [`contract`]). [`compile`] and [`enumerate`] are the ways in; [`pipeline`]
//! reads like the chain.

pub mod affine;
mod compiled;
pub mod contract;
pub mod cost;
pub mod explore;
pub mod interp;
pub mod io;
pub mod ir;
pub mod pe;
pub mod pipeline;
pub mod recurrence;
pub mod space_time;
pub mod svg;
pub mod text;
pub mod verify;

pub use compiled::{diagram, Compiled, Report, Stages};
pub use explore::assemble::Program;
pub use explore::rows::{Candidate, Class};
pub use pipeline::{compile, compile_program, compile_stage, enumerate, on, program, program_of};
