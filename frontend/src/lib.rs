//! C loop nest in, polyhedral program out.
//!
//! `parse` runs the stages in order: `pp` (preprocessor, over `lex`), `parse` (syntax tree `ast` of the marked region),
//! `inline` (calls of the file's functions), `temporaries` (variables that hold indices), `sema` (types, affine forms,
//! domains → [`scop::Scop`]). `interp` runs a scop; `value` fixes what its operators mean; `poly` (alone knows isl) and
//! `flow` compute dependences. No stage stops at its first fault.

mod ast;
pub mod contract;
pub mod diag;
mod effects;
pub mod flow;
mod inline;
pub mod interp;
mod lex;
pub mod literal;
mod parse;
pub mod poly;
pub mod polyhedron;
mod pp;
mod render;
pub mod scop;
mod sema;
mod sizes;
mod temporaries;
pub mod text;
pub mod value;
mod verify;

mod driver;
pub use driver::{parse, parse_text, programs, programs_of_text};
pub use pp::ParseOptions;
pub use render::render_plain;
pub use sema::{promote, spelling, usual};
