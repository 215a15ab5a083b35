//! The modules below a top as `check` and `sim` see them: identical instances side by side, what each
//! value is computed from, and in which order values settle.

mod def;
mod flat;
mod graph;
mod guard;
mod select;

pub use def::{Def, Graph, Kind, Source, Step};
pub use flat::{Flat, View};
pub use guard::write_gate;
