//! The text form of a [`crate::Scop`], which parses back. Later stages read their texts with the same [`lex::Line`].
//!
//! One item per line; `#` starts a comment.
//!
//! ```text
//! scop f: function f, 1 parameters           or, at file level, only its name
//!   array A[4][5]: i32 (int), dram parameter 0, const
//!   array k: f32 (float), dram host 0        a scalar that the host computes before a run, see the line `host`
//!   host k = (1.0f32 - expf(-(alpha)))
//!   loop 0: i
//!   loop 1: j = 1 + 3*j' in loop 0           the C iterator j and its normalized iterator j'
//!   S0[i, j'] in loop 1 at [0, 0, 0]         iterators, innermost loop, position
//!     where i >= 0 and -i + 3 >= 0           the domain: a line for each conjunction
//!     around i >= 0 and ...                  where the loops run, if not the domain
//!     A[i][3*j' + 1] = (A[i][0] + 7i32)      the assignment; a number ends with its type
//! ```
//!
//! Reads are numbered by their first occurrence in the expression; equal reads share a number. For another numbering, a
//! line `reads` lists them, and `@k` after an access in the expression is its number. The spans of a parsed Scop are
//! lines of the text.

pub mod lex;
mod names;
mod parse;
mod print;

pub use names::type_named;
pub use parse::{conjunction as read_conjunction, formula as read_formula, parse};
pub use print::{affine, conjunction, formula};

use crate::diag::Span;
use crate::{Access, Array, ArrayId, Binding, Expr, ExprKind, ScalarType, Scop, Statement, Storage};

/// A program with only these scalars, and a statement that reads all of them.
fn scalar_scop(scalars: &[(&str, ScalarType)]) -> (Scop, Statement) {
    let span = Span::default();
    let one = |(name, ty): &(&str, ScalarType)| Array {
        name: name.to_string(),
        ty: *ty,
        c_type: ty.to_string(),
        dims: vec![],
        extents: vec![],
        storage: Storage::Dram,
        binding: Binding::Global,
        constant: false,
        zeroed: false,
        kept: false,
        span,
    };
    let scop = Scop { arrays: scalars.iter().map(one).collect(), ..Scop::default() };
    let access = |k: u32| Access { array: ArrayId(k), subscripts: vec![], span };
    let rhs = Expr { kind: ExprKind::Const(0), ty: ScalarType::BOOL, span };
    let statement = Statement {
        loops: vec![],
        domain: vec![vec![]],
        around: vec![vec![]],
        beta: vec![],
        write: access(0),
        rhs,
        reads: (0..scalars.len() as u32).map(access).collect(),
        span,
    };
    (scop, statement)
}
