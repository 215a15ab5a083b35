//! In which of the board's memories something is kept. URAM is deep: little of one is better kept in block RAM.

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

/// LUTs and flip-flops of a line of registers that is read at `taps`, counted from the value itself. Three or more
/// registers without a tap between them are a shift register of LUTs, where LUTs can be that.
pub fn line(taps: impl IntoIterator<Item = i64>, width: i64, fabric: Fabric) -> (i64, i64) {
    let mut taps: Vec<i64> = taps.into_iter().filter(|&t| t > 0).collect();
    taps.sort_unstable();
    taps.dedup();
    let (mut lut, mut ff, mut before) = (0, 0, 0);
    for t in taps {
        match t - before {
            length if length >= 3 && fabric.is_lut6() => lut += width * ((length + 31) / 32),
            length => ff += width * length,
        }
        before = t;
    }
    (lut, ff)
}
