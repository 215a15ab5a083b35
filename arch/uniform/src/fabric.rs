//! The device's logic, as far as estimates depend on it: a board's file names its family.

/// Kinds of logic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fabric {
    /// UltraScale+: LUTs of six inputs that may be shift registers; DSP slices with registers and an adder.
    #[default]
    Lut6,
    /// 7-series: the same with narrower multipliers.
    Series7,
    /// ECP5, as open tools use it: LUTs of four inputs; multipliers of 18 × 18 bits with nothing around them.
    Ecp5,
}

impl Fabric {
    /// The logic of a family, as board files name it.
    pub fn of_family(family: &str) -> Fabric {
        match family {
            "ecp5" => Fabric::Ecp5,
            "spartan7" | "artix7" | "kintex7" | "virtex7" | "zynq" => Fabric::Series7,
            _ => Fabric::Lut6,
        }
    }

    /// LUTs of six inputs, and DSP slices around the multipliers.
    pub fn is_lut6(self) -> bool {
        self != Fabric::Ecp5
    }

    /// How much longer delays are than those of UltraScale+. The factor of ECP5 is what placed designs take
    /// (`docs/results/placed.md`), that of 7-series is a guess between the two.
    pub fn slowness(self) -> f64 {
        match self {
            Fabric::Lut6 => 1.0,
            Fabric::Series7 => 1.6,
            Fabric::Ecp5 => 2.7,
        }
    }

    /// Bits of a multiplier's factors, signed.
    pub fn factors(self) -> [u32; 2] {
        match self {
            Fabric::Lut6 => [27, 18],
            Fabric::Series7 => [25, 18],
            Fabric::Ecp5 => [18, 18],
        }
    }
}
