//! C loop nest in, polyhedral program out.
//!
//! `parse` runs the stages in order: `pp` (preprocessor, over `lex`), `parse` (syntax tree `ast` of the marked region),
//! `inline` (calls of the file's functions), `temporaries` (variables that hold indices), `sema` (types, affine forms,
//! domains → [`scop::Scop`]). No stage stops at its first fault.

mod ast;
mod effects;
mod inline;
mod lex;
mod parse;
mod pp;
mod sema;
mod temporaries;

mod driver;
pub use driver::{parse, parse_text, programs, programs_of_text};
pub use pp::ParseOptions;
pub use sema::{promote, spelling, usual};
