//! Systolic arrays in software: from recurrences and a space-time map to the program of a GPU's warps.
//!
//! The lanes of a warp and the registers of each lane are the PEs, links are shuffles or a renaming of registers, and
//! time is a loop. Nothing here knows the FPGA: the crate starts from a [`uniform::program::Program`] and a
//! [`uniform::mapping::Plan`].
//!
//! - [`extent`]: how far coordinates go, at sizes at run time, too.
//! - [`folds`] finds sums over all PEs, [`dots`] those of products of 8-bit integers, four at a time.
//! - [`arrange`] gives each coordinate of the plan its place: lanes, unrolled, the loop, or the grid of warps.
//! - [`lower`] makes the [`ir::Warp`]: the values of one step, what each reads, and what is stored.
//! - [`analyze`] finds how far values travel, so how many PEs at the edge of a warp have no result, and where no border
//!   is near.
//! - [`phases`] makes a program of each phase; [`launches`] joins their kernels.
//! - [`ramps`] finds what the first and the last steps of a warp need not compute.
//! - [`counts`]: the instructions of a step; [`registers`]: those of a lane.
//! - [`verify`] checks the program of a warp, [`text`] prints it.
//! - [`choose`] compares maps by a model of the device.
//! - [`print`](mod@print) writes CUDA, HIP, the CPU shim, the host and Python.
//!
//! **Source.** H. Rong, "Programmatic control of a compiler for generating high-performance spatial hardware" and
//! "Systolic computing on GPUs for productive performance": uniform recurrences and space-time transforms as a language
//! for GPUs.

pub mod extent;
pub mod form;
pub mod ir;
pub mod verify;
pub mod text;
pub mod refusal;
pub mod folds;
pub mod dots;
pub mod statements;
pub mod arrange;
pub mod space;
pub mod analyze;
pub mod lower;
pub mod registers;
pub mod model;
pub mod counts;
pub mod ramps;
pub mod launches;
pub mod phases;
pub mod choose;
pub mod print;
