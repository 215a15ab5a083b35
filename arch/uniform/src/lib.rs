//! From a [`scop::Scop`] to uniform recurrence equations and their space-time mapping. Nothing here knows hardware: a
//! back end for FPGAs ([`array`](../array/index.html)) or for GPUs starts from a [`program::Program`] and a
//! [`mapping::Mapping`].
//!
//! - [`recurrence`] turns a program into a [`system::System`]: uniformization, placement, rewrites, phases, strips.
//! - [`space_time`] turns a [`mapping::Plan`] into a [`mapping::Mapping`]: transform, tiles, digits, carry cases.
//! - [`verify`], [`text`] and [`interp`] check, print and run a system.

pub mod affine;
pub mod aim;
pub mod cuts;
pub mod fabric;
pub mod memory;
pub mod design;
pub mod case;
pub mod sizes;
pub mod system;
pub mod counters;
mod at;
pub mod interp;
pub mod mapping;
pub mod refusal;
pub mod recurrence;
pub mod program;
pub mod space_time;
pub mod verify;
pub mod text;
