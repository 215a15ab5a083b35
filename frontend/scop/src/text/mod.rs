//! The printed form of a [`crate::Scop`]: for people to read, and to be parsed back. The tokens, names and affine
//! sums of the later stages' texts are read by the same [`lex::Line`].
//!
//! One item a line; `#` starts a comment.
//!
//! ```text
//! scop f: function f, 1 parameters           or, at file level, only its name
//!   array A[4][5]: i32 (int), dram parameter 0, const
//!   array k: f32 (float), dram host 0        a scalar that the host computes before a run, as a line `host` says
//!   host k = (1.0f32 - expf(-(alpha)))
//!   loop 0: i
//!   loop 1: j = 1 + 3*j' in loop 0           C's iterator over normalized ones, which then have a '
//!   S0[i, j'] in loop 1 at [0, 0, 0]         iterators, innermost loop, position
//!     where i >= 0 and -i + 3 >= 0           the domain: a line for each conjunction
//!     around i >= 0 and ...                  where the loops run, if that is not the domain
//!     A[i][3*j' + 1] = (A[i][0] + 7i32)      what is stored where; a number ends with its type
//! ```
//!
//! Reads are numbered as they first come in the expression, equal ones once; where they are not, a line `reads` lists
//! them, and `@k` behind an access in the expression is its number. [`parse`] gives a Scop whose places are lines of
//! the text itself.

pub mod lex;
mod names;
mod parse;
mod print;

pub use names::type_named;
pub use parse::{conjunction as read_conjunction, formula as read_formula, parse};
pub use print::{affine, conjunction, formula};

use crate::diag::{SourceMap, Span};
use crate::{Access, Array, ArrayId, Binding, Expr, ExprKind, Function, ScalarType, Scop, Statement, Storage};

/// A program of scalars, and a statement that reads them all.
fn of_scalars(scalars: &[(&str, ScalarType)]) -> (Scop, Statement) {
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
        span,
    };
    let function = Function { name: None, region: span, parameters: 0 };
    let scop = Scop {
        name: String::new(),
        function,
        arrays: scalars.iter().map(one).collect(),
        loops: vec![],
        statements: vec![],
        host: vec![],
        sizes: vec![],
        clauses: vec![],
        sources: SourceMap::default(),
    };
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
