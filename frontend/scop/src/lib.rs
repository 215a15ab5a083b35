//! The polyhedral program ([`Scop`]) and what can be said of one, whatever language it came from: dataflow ([`flow`]; [`poly`]
//! alone knows isl), the meaning of its operators ([`value`]), an interpreter, a verifier, a text form that parses back,
//! diagnostics.

pub mod diag;
mod program;
mod render;
pub mod contract;
pub mod poly;
pub mod flow;
pub mod polyhedron;
mod sizes;
pub mod value;
pub mod literal;
pub mod interp;
mod verify;
pub mod text;

pub use program::*;
pub use render::render_plain;
