//! All tests of the mapper in one program, which links once. `cargo test -p search --test suite NAME` picks by path.

mod affine;
mod arrays;
mod cheaper;
mod condition;
mod counts;
mod cuts;
mod delay;
mod design;
mod explore;
mod extended;
mod handover;
mod ip;
mod linear;
mod needed;
mod packed;
mod phases;
mod refusal;
mod repeat;
mod resources;
mod sharing;
mod starts;
mod steady;
mod strips;
mod threads;
mod vsa_common;
mod vsa_interp;
mod vsa_svg;
mod vsa_text;
mod vsa_verify;
mod widths;

/// A search makes and drops small lists by the million.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
