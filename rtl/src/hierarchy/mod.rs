//! The modules below a top, as `check` and `sim` see them: identical instances side by side (`flat`), the operands of
//! each value (`def`), the order in which values settle (`graph`), and the values that may rest (`guard`).

mod def;
mod flat;
mod graph;
mod guard;
mod select;

pub use def::{Def, Graph, Kind, Source, Step};
pub use flat::{Flat, View};
pub use guard::write_gate;
