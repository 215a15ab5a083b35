//! Types of signals: a width in bits and a signedness, both run-time values. Every node of a verified module has at
//! least one bit.

use std::fmt;

/// Type of a signal: `w` bits, two's complement if `signed`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ty {
    /// Width in bits, at least 1.
    pub w: u32,
    /// Two's complement. Decides comparisons, extension, `*` and right shifts.
    pub signed: bool,
}

/// Unsigned type of `w` bits.
pub const fn u(w: u32) -> Ty {
    Ty { w, signed: false }
}

/// Signed (two's complement) type of `w` bits.
pub const fn s(w: u32) -> Ty {
    Ty { w, signed: true }
}

impl Ty {
    /// The same signedness at another width.
    pub const fn with_width(self, w: u32) -> Ty {
        Ty { w, ..self }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 's' } else { 'u' }, self.w)
    }
}

/// Bits of an address of `n` cells, at least 1.
pub const fn clog2(n: u64) -> u32 {
    if n <= 2 {
        1
    } else {
        64 - (n - 1).leading_zeros()
    }
}
