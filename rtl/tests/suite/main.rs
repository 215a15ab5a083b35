//! All tests of this crate in one program, which links once. `cargo test -p rtl --test suite NAME` selects by path.

mod build;
mod differential;
#[path = "../../examples/array/pe.rs"]
mod pe;
mod sim;
mod support;
mod timing;
mod verilog;
