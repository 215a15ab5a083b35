//! Building blocks: what a memory and a line of registers take, and sums of such.

use crate::board::Resources;
use array::contract::memory::{kind, Kind};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul};

/// Building blocks of a part; `bram18` counts halves of a RAMB36.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub lut: i64,
    pub ff: i64,
    pub dsp: i64,
    pub bram18: i64,
    pub uram: i64,
}

impl Cost {
    pub fn lut(lut: i64) -> Cost {
        Cost { lut, ..Cost::default() }
    }

    pub fn ff(ff: i64) -> Cost {
        Cost { ff, ..Cost::default() }
    }

    /// Without what is counted already.
    pub fn less(self, o: Cost) -> Cost {
        self + o * -1
    }

    /// Of each block, no more than in either.
    pub fn least(self, o: Cost) -> Cost {
        Cost {
            lut: self.lut.min(o.lut),
            ff: self.ff.min(o.ff),
            dsp: self.dsp.min(o.dsp),
            bram18: self.bram18.min(o.bram18),
            uram: self.uram.min(o.uram),
        }
    }

    /// Two halves of a block RAM are one.
    pub fn blocks(self) -> Resources {
        Resources { lut: self.lut, ff: self.ff, dsp: self.dsp, bram36: (self.bram18 + 1) / 2, uram: self.uram }
    }
}

impl Add for Cost {
    type Output = Cost;
    fn add(self, o: Cost) -> Cost {
        Cost {
            lut: self.lut + o.lut,
            ff: self.ff + o.ff,
            dsp: self.dsp + o.dsp,
            bram18: self.bram18 + o.bram18,
            uram: self.uram + o.uram,
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, o: Cost) {
        *self = *self + o;
    }
}

impl Mul<i64> for Cost {
    type Output = Cost;
    fn mul(self, n: i64) -> Cost {
        Cost { lut: n * self.lut, ff: n * self.ff, dsp: n * self.dsp, bram18: n * self.bram18, uram: n * self.uram }
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(all: I) -> Cost {
        all.fold(Cost::default(), Add::add)
    }
}

/// Address bits of so many words.
pub(super) fn bits_of(words: i64) -> i64 {
    i64::from(64 - (words.max(1) as u64 - 1).leading_zeros()).max(1)
}

/// A memory without the register of its word; `ultra`: on a board that has UltraRAM.
pub fn memory(words: i64, width: i64, ultra: bool) -> Cost {
    match kind(words, width, ultra) {
        Kind::Luts => {
            // RAM32M16 and RAM64M8 hold 14 and 7 bits in eight LUTs; what is left over takes two LUTs a bit.
            let at_once = if words <= 32 { 14 } else { 7 };
            Cost::lut(8 * (width / at_once) + 8.min(2 * (width % at_once)))
        }
        Kind::Block(bram18) => Cost { bram18, ..Cost::default() },
        Kind::Ultra(uram) => Cost { uram, ..Cost::default() },
    }
}

/// Registers one behind the other of which those at `taps` (counted from the value itself) are looked at: three or more
/// that nobody looks at between are a shift register of LUTs.
pub fn line(taps: impl IntoIterator<Item = i64>, width: i64) -> Cost {
    let mut taps: Vec<i64> = taps.into_iter().filter(|&t| t > 0).collect();
    taps.sort_unstable();
    taps.dedup();
    let mut total = Cost::default();
    let mut before = 0;
    for t in taps {
        let length = t - before;
        total += if length >= 3 { Cost::lut(width * ((length + 31) / 32)) } else { Cost::ff(width * length) };
        before = t;
    }
    total
}
