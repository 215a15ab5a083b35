//! The device's building blocks: how many of each kind something takes, and what memories and lines of registers take.
//!
//! [`Resources`] is the one type for such counts: of an operator, of a part, of a design, of a device. Block RAM is
//! counted in halves (RAMB18), because two small memories may share one RAMB36. People count whole block RAMs, so
//! [`Resources::named`] and what is built on it round up. Example: three RAMB18 are 2 BRAM36.

use crate::contract::memory::{self, kind, luts, Kind};
use crate::vsa::Vsa;
use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};
use uniform::aim::RESOURCES;
use uniform::fabric::Fabric;

/// LUTs, flip-flops, DSP slices, halves of 36 Kib block RAMs, and UltraRAMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "Whole", into = "Whole")]
pub struct Resources {
    pub lut: i64,
    pub ff: i64,
    pub dsp: i64,
    pub bram18: i64,
    pub uram: i64,
    /// LUTs of memories, as long as the other LUTs are not yet those of the fabric ([`Resources::in_lut4`]).
    pub ram: i64,
}

/// The text form: board files and JSON count whole block RAMs.
#[derive(Deserialize, Serialize)]
struct Whole {
    lut: i64,
    ff: i64,
    dsp: i64,
    bram36: i64,
    #[serde(default)]
    uram: i64,
}

impl From<Whole> for Resources {
    fn from(w: Whole) -> Resources {
        Resources::from_counts([w.lut, w.ff, w.dsp, w.bram36, w.uram])
    }
}

impl From<Resources> for Whole {
    fn from(r: Resources) -> Whole {
        let [lut, ff, dsp, bram36, uram] = r.counts();
        Whole { lut, ff, dsp, bram36, uram }
    }
}

impl Resources {
    pub const fn lut(lut: i64) -> Resources {
        Resources { lut, ff: 0, dsp: 0, bram18: 0, uram: 0, ram: 0 }
    }

    pub const fn ff(ff: i64) -> Resources {
        Resources { ff, ..Resources::lut(0) }
    }

    /// LUTs and flip-flops.
    pub const fn logic(lut: i64, ff: i64) -> Resources {
        Resources { ff, ..Resources::lut(lut) }
    }

    /// Block RAMs of 36 Kib: two halves are one.
    pub const fn bram36(&self) -> i64 {
        self.bram18 - (self.bram18 >> 1)
    }

    /// The counts in the order of [`RESOURCES`].
    pub const fn counts(&self) -> [i64; 5] {
        [self.lut, self.ff, self.dsp, self.bram36(), self.uram]
    }

    /// From counts in the order of [`RESOURCES`].
    pub const fn from_counts([lut, ff, dsp, bram36, uram]: [i64; 5]) -> Resources {
        Resources { lut, ff, dsp, bram18: bram36.saturating_mul(2), uram, ram: 0 }
    }

    /// The counts with their names: `lut`, `ff`, `dsp`, `bram36`, `uram`.
    pub fn named(&self) -> [(&'static str, i64); 5] {
        let counts = self.counts();
        std::array::from_fn(|k| (RESOURCES[k], counts[k]))
    }

    /// Each count (block RAMs: whole ones) by a function of its name and value.
    pub fn map(&self, f: impl Fn(&'static str, i64) -> i64) -> Resources {
        self.zip(self, |name, n, _| f(name, n))
    }

    /// Each count (block RAMs: whole ones) by a function of its name and both values.
    pub fn zip(&self, other: &Resources, f: impl Fn(&'static str, i64, i64) -> i64) -> Resources {
        let (a, b) = (self.counts(), other.counts());
        Resources::from_counts(std::array::from_fn(|k| f(RESOURCES[k], a[k], b[k])))
    }

    /// Each kind of block suffices.
    pub fn fits(&self, available: &Resources) -> bool {
        self.lut <= available.lut
            && self.ff <= available.ff
            && self.dsp <= available.dsp
            && self.bram18 <= available.bram18
            && self.uram <= available.uram
    }

    /// The smaller count of each kind of resource.
    pub fn least(self, o: Resources) -> Resources {
        Resources {
            lut: self.lut.min(o.lut),
            ff: self.ff.min(o.ff),
            dsp: self.dsp.min(o.dsp),
            bram18: self.bram18.min(o.bram18),
            uram: self.uram.min(o.uram),
            ram: self.ram.min(o.ram),
        }
    }

    /// LUTs of four inputs: so many in the place of a hundred of six, and the memories.
    pub fn in_lut4(self, percent: i64) -> Resources {
        Resources { lut: self.lut * percent / 100 + self.ram, ram: 0, ..self }
    }

    /// A lower bound for a part of a design: its last half of a block RAM may share one with another part.
    pub fn floor(self) -> Resources {
        Resources { bram18: self.bram18 & !1, ..self }
    }
}

impl Add for Resources {
    type Output = Resources;
    fn add(self, o: Resources) -> Resources {
        Resources {
            lut: self.lut + o.lut,
            ff: self.ff + o.ff,
            dsp: self.dsp + o.dsp,
            bram18: self.bram18 + o.bram18,
            uram: self.uram + o.uram,
            ram: self.ram + o.ram,
        }
    }
}

impl AddAssign for Resources {
    fn add_assign(&mut self, o: Resources) {
        *self = *self + o;
    }
}

impl Sub for Resources {
    type Output = Resources;
    fn sub(self, o: Resources) -> Resources {
        self + o * -1
    }
}

impl Mul<i64> for Resources {
    type Output = Resources;
    fn mul(self, n: i64) -> Resources {
        Resources {
            lut: n * self.lut,
            ff: n * self.ff,
            dsp: n * self.dsp,
            bram18: n * self.bram18,
            uram: n * self.uram,
            ram: n * self.ram,
        }
    }
}

impl Sum for Resources {
    fn sum<I: Iterator<Item = Resources>>(all: I) -> Resources {
        all.fold(Resources::default(), Add::add)
    }
}

/// Address bits of this many words.
pub fn bits_of(words: i64) -> i64 {
    i64::from(64 - (words.max(1) as u64 - 1).leading_zeros()).max(1)
}

/// Blocks of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    pub fabric: Fabric,
    /// The board has UltraRAM.
    pub uram: bool,
}

impl Vsa {
    /// The device's blocks.
    pub fn device(&self) -> Device {
        Device { fabric: self.fabric, uram: self.uram }
    }
}

impl From<Fabric> for Device {
    /// The device without UltraRAM, for memories that are never there.
    fn from(fabric: Fabric) -> Device {
        Device { fabric, uram: false }
    }
}

/// A memory without the register of its word.
pub fn memory(words: i64, width: i64, device: impl Into<Device>) -> Resources {
    let device = device.into();
    match kind(words, width, device.uram) {
        Kind::Luts if device.fabric == Fabric::Ecp5 => {
            // A TRELLIS_DPR16X4 holds 16 words of four bits and occupies six LUTs, two of them for its write port.
            let blocks = (words + 15) / 16;
            let choice = [0, 0, 1, 4, 4][blocks.clamp(0, 4) as usize];
            Resources { ram: 6 * blocks * ((width + 3) / 4) + choice * width, ..Resources::default() }
        }
        Kind::Luts => Resources::lut(luts(words, width)),
        // A DP16KD of the ECP5 has the shapes of half a RAMB36.
        Kind::Block(bram18) => Resources { bram18, ..Resources::default() },
        Kind::Ultra(uram) => Resources { uram, ..Resources::default() },
    }
}

/// A line of registers that is read at `taps`, counted from the value itself.
pub fn line(taps: impl IntoIterator<Item = i64>, width: i64, fabric: Fabric) -> Resources {
    let (lut, ff) = memory::line(taps, width, fabric);
    Resources::logic(lut, ff)
}

/// The same of a value that travels with the waves.
pub fn line_of_waves(taps: impl IntoIterator<Item = i64>, width: i64, fabric: Fabric) -> Resources {
    let (lut, ff) = memory::line_of_waves(taps, width, fabric);
    Resources::logic(lut, ff)
}
