//! All tests of the command in one program, which links once. `cargo test --release --test suite NAME` picks by path:
//! `run`, `random`, `engines`, `polybench`, `cli`, …

mod architecture;
mod cli;
mod common;
mod docs;
mod engines;
mod explain;
mod functions;
mod gpu;
mod guard;
mod library;
mod lu;
mod modules;
mod mutation;
mod packaging;
mod polybench;
mod random;
mod refuse;
mod run;
mod sizes;
mod stages;

/// Compilations make and drop small lists by the million, as in the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
