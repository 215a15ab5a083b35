//! Estimated device resources of a VSA, by part, from the nodes and buffers that are emitted: what synthesis of each
//! module gives, times the module's instances. The search and the report count with these same functions.
//!
//! DSP slices and memory blocks are counted; LUTs and flip-flops follow from widths. `docs/results/estimates.md` compares
//! them with what `scripts/resources.sh` measures.

use crate::blocks::{memory, Cost};
use crate::board::Resources;
pub use crate::floats::product;
pub use crate::pes::ByPlaces;
use crate::{control, engines, network, pes};
use array::contract::walk::Walk;
use array::vsa::Vsa;
use std::collections::BTreeSet;

/// What the parts of a design take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub pes: Cost,
    pub feeders: Cost,
    pub collectors: Cost,
    /// And what waits in front of the array for its time.
    pub relays: Cost,
    /// Readers and writers.
    pub engines: Cost,
    /// Registers, sequencer, reset.
    pub control: Cost,
}

/// All parts together.
pub fn estimate(vsa: &Vsa) -> Resources {
    parts(vsa).total().blocks()
}

pub fn parts(vsa: &Vsa) -> Parts {
    let pes = pes::pes(vsa);
    let others = others(vsa, &Walk::all(vsa));
    Parts {
        pes: pes.cost,
        relays: others.relays + pes.entry,
        control: others.control + control::launched(vsa, pes.fields),
        ..others
    }
}

/// What no node of the PEs is needed for. `walks`: of the ports.
fn others(vsa: &Vsa, walks: &[[Option<Walk>; 2]]) -> Parts {
    Parts {
        pes: Cost::default(),
        feeders: (0..vsa.inputs.len()).map(|g| network::feeders(vsa, g)).sum(),
        collectors: (0..vsa.outputs.len()).map(|o| network::collectors(vsa, o)).sum(),
        relays: network::entries(vsa) + (0..vsa.ports()).map(|port| network::relays(vsa, port)).sum(),
        engines: walks.iter().enumerate().map(|(port, walks)| engines::engines(vsa, port, walks)).sum(),
        control: control::control(vsa),
    }
}

/// What a PE takes at least, wherever its registers may go, by where it takes that: operators that are needed at all
/// places where one of the statements stands that need them, which are so many, or at all but some at a border.
pub fn per_pe(vsa: &Vsa, stands: impl Fn(&BTreeSet<usize>) -> i64) -> ByPlaces<Resources> {
    pes::least(vsa, stands).into_iter().map(|(places, cost)| (places, floor(cost))).collect()
}

/// A memory of one port in a PE that keeps `depth` values of `bits`, at least.
pub fn kept(depth: i64, bits: i64, ultra: bool) -> Resources {
    floor(memory(depth, bits, ultra))
}

/// Everything but the PEs. Of a sketch, which has no nodes, at least. `walks`: of its ports.
pub fn network(vsa: &Vsa, walks: &[[Option<Walk>; 2]]) -> Resources {
    let parts = Parts { pes: Cost::default(), ..others(vsa, walks) };
    floor(parts.total())
}

/// Without halves of block RAMs that may share one with others.
pub fn floor(cost: Cost) -> Resources {
    Resources { bram36: cost.bram18 / 2, ..cost.blocks() }
}

impl Parts {
    pub fn total(&self) -> Cost {
        self.list().into_iter().map(|(_, cost)| cost).sum()
    }

    /// The parts by name.
    pub fn list(&self) -> [(&'static str, Cost); 6] {
        [
            ("PEs", self.pes),
            ("feeders", self.feeders),
            ("collectors", self.collectors),
            ("relays", self.relays),
            ("engines", self.engines),
            ("control", self.control),
        ]
    }
}
