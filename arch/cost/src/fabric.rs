//! The counts of other fabrics. The model counts LUTs of six inputs; where a device has LUTs of four, a part takes so
//! many more of them. Registers, memories, multipliers and shift registers are counted as the fabric has them
//! (`array::resources`, `array::operators`).
//!
//! The factors are measured: `synth_ecp5 -abc9` of the designs of `docs/results/placed.md`, part by part.

use array::resources::Resources;
use uniform::fabric::Fabric;

/// A part of a design, for its factor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Pes,
    Feeders,
    Collectors,
    Relays,
    Engines,
    Control,
    /// Outside of the IP: `axi_adapter` of verilog-axi, as the factors of the other parts.
    Converters,
}

impl Part {
    /// LUTs of four inputs in the place of a hundred of six.
    fn percent(self) -> i64 {
        match self {
            Part::Pes => 120,
            Part::Feeders => 170,
            Part::Collectors => 140,
            Part::Relays => 250,
            Part::Engines => 185,
            Part::Control => 170,
            Part::Converters => 160,
        }
    }
}

/// A part's resources in the units of the fabric.
pub(super) fn on(fabric: Fabric, part: Part, cost: Resources) -> Resources {
    match fabric {
        Fabric::Lut6 | Fabric::Series7 => cost,
        Fabric::Ecp5 => cost.in_lut4(part.percent()),
    }
}
