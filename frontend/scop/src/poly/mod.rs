//! The only module that touches isl (the C library that the crate `isl-rs` builds and links; its Rust side is not
//! used).
//!
//! Job: integer sets and maps as safe Rust values, and their conversion from and to the plain data of [`crate`].
//! Stages after the front end see only plain data; [`crate::flow`] is the one user of this module.
//!
//! Why it is sound:
//! - **Lifetime.** Every object holds an `Rc` of its [`Context`], so a context is freed after its last object; the `Rc`
//!   also makes every type `!Send` and `!Sync`, as isl's unlocked reference counts require:
//!   ```compile_fail,E0277
//!   fn needs_send<T: Send>() {}
//!   needs_send::<frontend::poly::Set>();
//!   ```
//! - **Ownership.** Methods take `&self`. Where isl consumes an argument (`__isl_take`) it gets a fresh copy, which is
//!   a reference count; where it borrows (`__isl_keep`) it gets the pointer. Only `Drop` frees. Results are owned.
//! - **Null.** Every returned pointer passes `Context::owned`, which turns null into an [`Error`]; no object wraps
//!   null. Tuple names are asked for only after isl says that there is one.
//! - **Mixing.** Operands of two contexts are an error, checked before the call.
//! - **Errors.** `on_error` is CONTINUE: isl neither prints nor aborts. Each failure path takes the message and resets
//!   the error, so it cannot surface in a later call.
//! - **Strings** are copied to Rust and freed with C's `free`, which is isl's allocator.
//! - **Callbacks.** Only this module's own collectors are called from C. They store pointers and nothing else; no user
//!   closure, hence no unwinding, runs inside isl.
//! - **Numbers.** Values leave isl through a range check against `i64`, never through the truncating accessors.
//!
//! Absent on purpose: schedule trees, AST generation, parameters (all sizes are constants), and isl's point counter,
//! which scans and answers 0 for an unbounded set.

mod context;
mod convert;
mod dataflow;
mod object;
mod pieces;

pub use context::{Context, Error, Result};
pub use convert::Region;
pub use dataflow::{last_source, last_source_by_time, LastSource};
pub use object::{Map, Set, UnionMap, UnionSet};
pub use pieces::FunctionPiece;
