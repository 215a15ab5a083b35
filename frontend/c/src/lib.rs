//! The C front end: from a marked loop nest to a polyhedral program, [`scop::Scop`].
//!
//! `driver` runs the stages in order: `pp` (preprocessor, over `lex`), `parse` (syntax tree `ast` of the marked
//! region), `bits` (bits of integers of any width), `sequence` (side effects become statements), `inline` (calls of the
//! file's functions), `searches` (counters of loops that `break` ends), `powers` (loops that multiply their counter),
//! `present` (arrays are not null), `temporaries` (forward substitution of index variables, counted loops), `delinearize`
//! (dimensions of arrays with sizes at run time), `sema` (types, affine forms, domains). No stage stops at its first fault. Start reading at [`programs_of_text`].

mod ast;
mod bits;
mod coalesced;
mod cpp;
mod delinearize;
mod effects;
mod inline;
mod jumps;
mod lex;
mod maxima;
mod objects;
mod parse;
mod poly;
mod powers;
mod pp;
mod present;
mod ranges;
mod searches;
mod sema;
mod sequence;
mod state;
mod temporaries;

mod driver;
pub use cpp::is_cpp;
pub use driver::{name_of_file, parse, parse_text, programs, programs_of_text};
pub use pp::{ParseOptions, APPROXIMATIONS};
pub use sema::{c_spelling, in_cell, promote, spelling, usual};
