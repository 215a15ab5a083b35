//! All tests of the hardware description in one program, which links once. `cargo test -p rtl --test suite NAME` picks
//! by path.

mod build;
mod differential;
#[path = "../../examples/array/pe.rs"]
mod pe;
mod sim;
mod support;
mod verilog;
