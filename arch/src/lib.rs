//! From a Scop to a virtual systolic array: uniform recurrences, mapping, schedule, I/O groups, cost.
//!
//! The chain: `frontend::flow` → [`system`] (uniform recurrence equations) → [`mapping`] (space, time, lanes) →
//! [`lower`] (nodes of a PE) → [`layout`] (I/O groups) + [`schedule`](mod@schedule) → [`vsa::Vsa`]. [`cost`] walks the
//! result. [`compile`] and [`enumerate`] are the ways in.

pub mod assemble;
pub mod board;
pub mod choose;
pub mod condition;
pub mod cost;
pub mod design;
mod driver;
pub mod hazard;
pub mod interp;
pub mod layout;
pub mod lower;
pub mod mapping;
pub mod plan;
pub mod ports;
pub mod reduction;
pub mod relay;
mod reshape;
pub mod schedule;
pub mod svg;
pub mod system;
pub mod text;
pub mod timing;
pub mod variant;
pub mod verify;
pub mod vsa;

pub use driver::{compile, enumerate, program, Candidate, Compiled, Report};
