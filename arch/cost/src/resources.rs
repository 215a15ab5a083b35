//! Estimated resources of a systolic array, by part: the estimate for each emitted module times its instances. The
//! search and the report use the same functions.
//!
//! DSP slices and memory blocks are counted; LUTs and flip-flops follow from widths. `docs/results/estimates.md`
//! compares them with what `scripts/resources.sh` measures.

pub use crate::converters::converters;
use crate::fabric::{self, Part};
pub use crate::pes::{ByPlaces, Operators};
use crate::{control, engines, network, pes, stations};
use array::contract::walk::Walk;
use array::resources::{memory, Device, Resources};
use array::vsa::Vsa;
use std::collections::BTreeSet;
use uniform::design::DesignSpec;
use uniform::fabric::Fabric;

/// The resources of a design, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub pes: Resources,
    pub feeders: Resources,
    pub collectors: Resources,
    /// With the registers of fields in front of the array, and between its bands.
    pub relays: Resources,
    /// Readers and writers, with their ways to other dies.
    pub engines: Resources,
    /// Registers, sequencer, reset.
    pub control: Resources,
}

/// All parts together.
pub fn estimate(vsa: &Vsa) -> Resources {
    parts(vsa).total()
}

/// The array with what the interconnect needs for it: what it takes of a board.
pub fn on_board(vsa: &Vsa, spec: &DesignSpec) -> Resources {
    estimate(vsa) + converters(vsa, spec)
}

pub fn parts(vsa: &Vsa) -> Parts {
    let pes = pes::pes(vsa);
    let others = others(vsa, &Walk::all(vsa));
    let all = Parts {
        pes: pes.cost,
        relays: others.relays + pes.entry,
        control: others.control + control::launched(vsa, pes.fields),
        ..others
    };
    all.on(vsa.fabric)
}

/// The operators of the PEs that compute values, by kind: a part of what PEs take.
pub fn operators(vsa: &Vsa) -> Vec<Operators> {
    let on = |of: Operators| Operators { cost: fabric::on(vsa.fabric, Part::Pes, of.cost), ..of };
    pes::operators_of(vsa).into_iter().map(on).collect()
}

/// All parts but the PEs, and without the fields that only PEs read. `walks`: of the ports.
fn others(vsa: &Vsa, walks: &[[Option<Walk>; 2]]) -> Parts {
    Parts {
        pes: Resources::default(),
        feeders: (0..vsa.inputs.len()).map(|g| network::feeders(vsa, g)).sum(),
        collectors: (0..vsa.outputs.len()).map(|o| network::collectors(vsa, o)).sum(),
        relays: network::entries(vsa)
            + network::crossings(vsa)
            + (0..vsa.ports()).map(|port| network::relays(vsa, port)).sum(),
        engines: walks
            .iter()
            .enumerate()
            .map(|(port, walks)| {
                engines::engines(vsa, port, walks) + stations::stations(vsa, port, walks).into_iter().sum()
            })
            .sum(),
        control: control::control(vsa),
    }
}

/// Lower bound on what a PE takes in any schedule, by the PEs that take it. `places`: how many PEs execute one of these
/// statements. `cases`: the statements of each class of phases, if there are any.
pub fn per_pe(vsa: &Vsa, places: impl Fn(&BTreeSet<usize>) -> i64, cases: &[&[usize]]) -> ByPlaces<Resources> {
    pes::least(vsa, places, cases)
        .into_iter()
        .map(|(places, cost)| (places, fabric::on(vsa.fabric, Part::Pes, cost).floor()))
        .collect()
}

/// A memory of one port in a PE for `depth` values of `bits` or more, at least. A deeper one may be UltraRAM, so block RAM
/// is certain only on a board without it.
pub fn one_memory(depth: i64, bits: i64, device: Device) -> Resources {
    let need = fabric::on(device.fabric, Part::Pes, memory(depth, bits, device)).floor();
    if device.uram {
        Resources { bram18: 0, ..need }
    } else {
        need
    }
}

/// All parts but the PEs. For a sketch, which has no nodes, a lower bound. `walks`: of its ports.
pub fn network(vsa: &Vsa, walks: &[[Option<Walk>; 2]]) -> Resources {
    let parts = Parts { pes: Resources::default(), ..others(vsa, walks) };
    parts.on(vsa.fabric).total().floor()
}

impl Parts {
    /// In the units of the fabric.
    fn on(self, fabric: Fabric) -> Parts {
        Parts {
            pes: fabric::on(fabric, Part::Pes, self.pes),
            feeders: fabric::on(fabric, Part::Feeders, self.feeders),
            collectors: fabric::on(fabric, Part::Collectors, self.collectors),
            relays: fabric::on(fabric, Part::Relays, self.relays),
            engines: fabric::on(fabric, Part::Engines, self.engines),
            control: fabric::on(fabric, Part::Control, self.control),
        }
    }

    pub fn total(&self) -> Resources {
        self.list().into_iter().map(|(_, cost)| cost).sum()
    }

    /// The parts by name.
    pub fn list(&self) -> [(&'static str, Resources); 6] {
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
