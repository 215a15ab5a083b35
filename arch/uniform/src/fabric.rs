//! The device's logic, as far as estimates depend on it: a board's file names its family.

/// Kinds of logic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fabric {
    /// UltraScale+ and 7-series: LUTs of six inputs that may be shift registers; DSP slices with registers and an adder.
    #[default]
    Lut6,
    /// ECP5, as open tools use it: LUTs of four inputs; multipliers of 18 × 18 bits with nothing around them.
    Ecp5,
}

impl Fabric {
    /// The logic of a family, as board files name it.
    pub fn of_family(family: &str) -> Fabric {
        if family == "ecp5" {
            Fabric::Ecp5
        } else {
            Fabric::Lut6
        }
    }
}
