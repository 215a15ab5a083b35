//! All tests of the front end in one program, which links once. `cargo test -p frontend --test suite NAME` picks by
//! path.

mod bit_int;
mod common;
mod contract;
mod dot;
mod expect;
mod flow;
mod limits;
mod mutate;
mod native;
mod parse;
mod poly;
mod random;
mod refuse;
mod value;
