//! All tests of the templates in one program, which links once. `cargo test -p templates --test suite NAME` picks by
//! path.

mod array;
mod array_programs;
mod array_support;
mod axi_control;
mod axi_reader;
mod axi_support;
mod axi_writer;
mod collector;
mod feeder;
mod fp;
mod fp_array;
mod module_support;
mod names;
mod on_chip;
mod operators;
mod pe;
mod relay;
mod sequencer;
#[path = "../../../arch/search/tests/suite/vsa_common/mod.rs"]
mod vsa_common;

/// Elaboration makes and drops small lists by the million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
