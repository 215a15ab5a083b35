//! Elaboration: templates write modules with a `ModuleBuilder`, a `Design` collects them.
//!
//! `builder` (nodes, ports, names) ← `operators`, `state`, `instance` (what a template can write) ← `design`.

mod builder;
mod design;
mod instance;
mod operators;
mod state;

pub use builder::{ModuleBuilder, Sig};
pub use design::{Design, Template};
pub use instance::Instance;
pub use state::{Memory, Reg, Wire};
