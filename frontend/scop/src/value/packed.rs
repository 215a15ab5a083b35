//! Several integers in one, so that one multiplication gives several products.
//!
//! Terms: integers `d[0]`, `d[1]`, … are *joined* at a distance of `step` bits by `d[0] + d[1] * 2^step + …`. A joined
//! number times another one has the products at the same distance, and sums of such numbers have sums of products. A
//! *field* is what the bits of one of them say.
//!
//! A negative integer takes 1 from the one above it: the field of `d[1]` is `d[1] - 1` where `d[0]` is negative. In
//! general it is `d[k] - 1` where field `k - 1` is negative. So `d[k]` is its own field plus the sign of the field
//! below it.
//!
//! Example at a distance of 8 bits: 3 and -5 joined are `3 * 256 - 5 = 763 = 0x2fb`. Field 0 is `0xfb`, -5. Field 1 is
//! 2, and 2 + 1 = 3.

use super::{from_integer, mask, to_integer};
use crate::ScalarType;

/// Bits of a joined number that are one integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its lowest bit.
    pub at: u32,
    /// At most 63.
    pub bits: u32,
    /// Bits that read as this number or a greater one are a negative integer, `2^bits` less than they read.
    pub negative: u64,
}

impl Field {
    /// The integer of the field.
    pub fn of(&self, joined: u64) -> i64 {
        let bits = joined.checked_shr(self.at).unwrap_or(0) & mask(self.bits);
        if bits >= self.negative {
            bits as i64 - (1 << self.bits)
        } else {
            bits as i64
        }
    }
}

/// The integers, each with its type, at a distance of `step` bits, the first one lowest.
pub fn eval_join(integers: &[(u64, ScalarType)], step: u32, ty: ScalarType) -> u64 {
    let at = |(k, &(bits, from)): (usize, &(u64, ScalarType))| to_integer(bits, from) << (step * k as u32).min(63);
    from_integer(integers.iter().enumerate().map(at).sum(), ty)
}

/// Joined numbers at another distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spread {
    /// How many there are, and of what type each is.
    pub count: u32,
    pub integer: ScalarType,
    /// The distance they have, and the one they get.
    pub from: u32,
    pub to: u32,
}

/// The integers of `joined`, which is of type `from`, at their new distance.
pub fn eval_spread(joined: u64, from: ScalarType, spread: Spread, ty: ScalarType) -> u64 {
    let lowest = ScalarType::Int { bits: spread.from, signed: spread.integer.signed() };
    let (mut rest, mut all) = (to_integer(joined, from), 0);
    for k in 0..spread.count {
        let integer = if k + 1 < spread.count { to_integer(rest as u64, lowest) } else { rest };
        rest = (rest - integer) >> spread.from;
        all += integer << (spread.to * k).min(63);
    }
    from_integer(all, ty)
}

/// The integer of a field, converted to `ty`.
pub fn eval_field(joined: u64, field: Field, ty: ScalarType) -> u64 {
    from_integer(field.of(joined).into(), ty)
}
