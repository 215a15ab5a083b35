//! The polyhedral program ([`Scop`]) of a loop nest, whatever language it came from, and the analyses on it.
//!
//! A front end (C is one; Python or ONNX may be others) fills these types and hands over a `Scop`:
//! - [`Array`]: every array and scalar with type, extents and place (DRAM or chip); a scalar is an array of rank 0;
//! - [`Loop`]: every loop with its parent. Iterators are normalized: they step by +1;
//! - [`Statement`]: one assignment each, with its iteration domain (a union of conjunctions of affine constraints),
//!   its position `beta` in the 2d+1 schedule, one written element, the elements read, and a typed [`Expr`];
//! - [`Function`], [`Size`], [`Clause`], [`diag::SourceMap`]: how the kernel is called, sizes at run time, the user's
//!   mapping clauses, and the source text that spans refer to (may be empty).
//!
//! The invariants stand at the head of `program.rs`. [`Scop::verify`] checks them and lists every violation; all code
//! behind a front end relies on them. The easiest way to see a program is its text form, which parses back:
//!
//! ```
//! let text = "\
//! scop scale: function scale, 2 parameters
//!   array A[8]: i32 (int), dram parameter 0, const
//!   array B[8]: i32 (int), dram parameter 1
//!   loop 0: i
//!   S0[i] in loop 0 at [0, 0]
//!     where i >= 0 and -i + 7 >= 0
//!     B[i] = (A[i] * 3i32)
//! ";
//! let scop = scop::text::parse("scale.scop", text).unwrap();
//! scop.verify().unwrap();
//! assert_eq!(scop.to_string(), text);
//! let flow = scop::flow::analyze(&scop).unwrap();
//! assert_eq!(flow.reads[0][0][0].source, scop::flow::Source::Input);
//! ```
//!
//! Modules: exact dataflow ([`flow`]; [`poly`] alone calls isl), operator semantics bit for bit ([`value`]), the
//! reference interpreter ([`interp`]), small exact polyhedra ([`polyhedron`]), the text form ([`text`]), and
//! diagnostics ([`diag`]).

pub mod diag;
mod program;
mod render;
pub mod contract;
pub mod poly;
pub mod polyhedron;
pub mod flow;
mod sizes;
pub mod value;
pub mod literal;
pub mod interp;
mod verify;
pub mod text;

pub use program::*;
pub use render::render_plain;
