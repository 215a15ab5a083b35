//! Safe integer sets and maps over isl, and their conversion from and to the plain data of [`crate`].
//!
//! This is the only module that calls isl. The crate `isl-rs` builds and links the C library; its Rust side is not
//! used. [`crate::flow`] is the only user of this module; all later stages see plain data.
//!
//! Files: `context` (errors and checks of every C result), `object` (wrapper types and tables of operations), `methods`
//! (operations that need code), `convert` (plain data), `dataflow` (last write), `pieces` (piecewise affine functions).
//!
//! Why it is sound:
//! - **Lifetime.** Every object holds an `Rc` of its [`Context`], so a context is freed after its last object; the `Rc`
//!   also makes every type `!Send` and `!Sync`, as isl's unlocked reference counts require:
//!   ```compile_fail,E0277
//!   fn needs_send<T: Send>() {}
//!   needs_send::<scop::poly::Set>();
//!   ```
//! - **Ownership.** Methods take `&self`. Where isl consumes an argument (`__isl_take`) it gets a fresh copy, which is
//!   a reference count; where it borrows (`__isl_keep`) it gets the pointer. Only `Drop` frees. Results are owned.
//! - **Null.** Every returned pointer passes `Context::owned`, which turns null into an [`Error`]; no object wraps
//!   null. A tuple name is requested only after isl reports that there is one.
//! - **Mixing.** Operands of two contexts are an error, checked before the call.
//! - **Errors.** `on_error` is CONTINUE: isl neither prints nor aborts. Each failure path takes the message and resets
//!   the error, so it cannot surface in a later call.
//! - **Strings** are copied to Rust and freed with C's `free`, which is isl's allocator.
//! - **Callbacks.** C calls only the collectors of this module, which store pointers, and the comparison of two
//!   references' texts; no user closure runs inside isl, so nothing unwinds through it.
//! - **Numbers.** Values leave isl through a range check against `i64`, never through the truncating accessors.
//!
//! Absent on purpose: schedule trees, AST generation, parameters (sizes are iterators or constants), and isl's point
//! counter, which scans and returns 0 for an unbounded set.

mod context;
mod convert;
mod dataflow;
mod methods;
mod object;
mod pieces;

pub use context::{Context, Error, Result};
pub use convert::Region;
pub use dataflow::{last_source, last_source_by_time, LastSource, Timed};
pub use object::{Map, Set, UnionMap, UnionSet};
pub use pieces::FunctionPiece;
