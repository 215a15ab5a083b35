//! In which of the board's memories something is kept. URAM is deep: little of one is better kept in block RAM.

use std::collections::BTreeSet;
use uniform::fabric::Fabric;

/// Words and bits of an UltraRAM.
const ULTRA: (i64, i64) = (4096, 72);
/// Block RAMs that an UltraRAM has to save at least; it has the bits of eight.
const SAVED: i64 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Luts,
    /// Halves of a RAMB36.
    Block(i64),
    Ultra(i64),
}

/// Where `words` of `width` bits are kept, and in how many of them; `ultra`: on a board that has UltraRAM.
pub fn kind(words: i64, width: i64, ultra: bool) -> Kind {
    if in_luts(words) {
        return Kind::Luts;
    }
    let of = |(depth, bits): (i64, i64)| ((width + bits - 1) / bits) * ((words + depth - 1) / depth);
    // A RAMB18 is 512 × 36 to 16384 × 1, a RAMB36 twice as wide or deep.
    let halves = [(512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)].map(of);
    let wholes =
        [(512, 72), (1024, 36), (2048, 18), (4096, 9), (8192, 4), (16384, 2), (32768, 1)].map(|shape| 2 * of(shape));
    let blocks = halves.into_iter().chain(wholes).min().unwrap_or(0);
    if ultra && 2 * SAVED * of(ULTRA) <= blocks {
        Kind::Ultra(of(ULTRA))
    } else {
        Kind::Block(blocks)
    }
}

/// LUTs of a memory that stands in them.
pub fn luts(words: i64, width: i64) -> i64 {
    // RAM32M16 and RAM64M8 hold 14 and 7 bits in eight LUTs. The remaining bits take two LUTs each.
    let at_once = if words <= 32 { 14 } else { 7 };
    8 * (width / at_once) + 8.min(2 * (width % at_once))
}

/// Tables of so many constants are read from LUTs, in a cycle; longer ones from block RAM, in two.
pub fn table_in_luts(words: i64) -> bool {
    words <= 256
}

/// Memories of so many words stand in LUTs: reading them needs no register. Deeper ones are block RAM.
pub fn in_luts(words: i64) -> bool {
    words <= 64
}

/// So many registers in a row are a shift register of LUTs, where LUTs can be that.
const SHIFT_REGISTER: i64 = 3;

/// LUTs and flip-flops of a line of registers that is read at `taps`, counted from the value itself. Registers without
/// a tap between them may be a shift register.
pub fn line(taps: impl IntoIterator<Item = i64>, width: i64, fabric: Fabric) -> (i64, i64) {
    count(taps, width, fabric, |_| 0)
}

/// The same of a value that travels with the waves.
pub fn line_of_waves(taps: impl IntoIterator<Item = i64>, width: i64, fabric: Fabric) -> (i64, i64) {
    count(taps, width, fabric, |length| i64::from(ends_in_register(length, width)))
}

/// Whether a shift register of so many registers of a value that travels with the waves ends in a flip-flop: its own
/// output is late, and a condition has many readers. What is left is a shift register still.
pub fn ends_in_register(length: i64, width: i64) -> bool {
    width == 1 && length > SHIFT_REGISTER
}

/// `last`: flip-flops at the end of a shift register of so many registers. Its LUTs are counted as without them.
fn count(taps: impl IntoIterator<Item = i64>, width: i64, fabric: Fabric, last: impl Fn(i64) -> i64) -> (i64, i64) {
    let (mut lut, mut ff) = (0, 0);
    for length in steps(taps) {
        if fabric.is_lut6() && length >= SHIFT_REGISTER {
            lut += width * ((length + 31) / 32);
            ff += width * last(length);
        } else {
            ff += width * length;
        }
    }
    (lut, ff)
}

/// The registers from each tap to the next one.
fn steps(taps: impl IntoIterator<Item = i64>) -> Vec<i64> {
    let taps: BTreeSet<i64> = taps.into_iter().filter(|&t| t > 0).collect();
    let before: Vec<i64> = [0].into_iter().chain(taps.iter().copied()).collect();
    taps.iter().zip(before).map(|(tap, before)| tap - before).collect()
}
