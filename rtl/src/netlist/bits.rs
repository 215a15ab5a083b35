//! `Bits`: a value of any width as little-endian 64-bit limbs.
//!
//! Invariants: exactly `ceil(width / 64)` limbs; bits above the width are zero, for signed values too.

use std::fmt;

/// A constant of `width` bits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bits {
    width: u32,
    limbs: Vec<u64>,
}

/// Number of 64-bit limbs of a value of `w` bits.
pub const fn limbs_of(w: u32) -> usize {
    w.div_ceil(64) as usize
}

/// Mask of the valid bits of the top limb of a value of `w` bits.
pub const fn top_mask(w: u32) -> u64 {
    match w % 64 {
        0 => !0,
        r => (1 << r) - 1,
    }
}

impl Bits {
    /// Zero of `width` bits.
    pub fn zero(width: u32) -> Self {
        Bits { width, limbs: vec![0; limbs_of(width)] }
    }

    /// The low `width` bits of the given limbs (missing limbs are zero).
    pub fn from_limbs(limbs: &[u64], width: u32) -> Self {
        let n = limbs_of(width);
        let mut v: Vec<u64> = limbs.iter().copied().take(n).collect();
        v.resize(n, 0);
        if let Some(top) = v.last_mut() {
            *top &= top_mask(width);
        }
        Bits { width, limbs: v }
    }

    /// The low `width` bits of `v` in two's complement.
    pub fn from_i128(v: i128, width: u32) -> Self {
        let fill = if v < 0 { !0 } else { 0 };
        let mut limbs = vec![fill; limbs_of(width).max(2)];
        limbs[0] = v as u64;
        limbs[1] = (v >> 64) as u64;
        Self::from_limbs(&limbs, width)
    }

    /// The low `width` bits of `v`.
    pub fn from_u128(v: u128, width: u32) -> Self {
        Self::from_limbs(&[v as u64, (v >> 64) as u64], width)
    }

    /// Width in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Little-endian limbs.
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// The low 128 bits.
    pub fn low_u128(&self) -> u128 {
        let limb = |i: usize| u128::from(self.limbs.get(i).copied().unwrap_or(0));
        limb(0) | limb(1) << 64
    }

    /// Bit `i` (0 = least significant); zero above the width.
    pub fn bit(&self, i: u32) -> bool {
        self.limbs.get(i as usize / 64).is_some_and(|l| l >> (i % 64) & 1 == 1)
    }

    /// Whether all bits are zero.
    pub fn is_zero(&self) -> bool {
        self.limbs.iter().all(|&l| l == 0)
    }

    /// `width` bits from bit `lo` on; zero above the end.
    pub fn slice(&self, lo: u32, width: u32) -> Bits {
        let (q, r) = (lo as usize / 64, lo % 64);
        let limb = |i: usize| self.limbs.get(i).copied().unwrap_or(0);
        let out: Vec<u64> = (0..limbs_of(width))
            .map(|i| if r == 0 { limb(q + i) } else { limb(q + i) >> r | limb(q + i + 1) << (64 - r) })
            .collect();
        Bits::from_limbs(&out, width)
    }

    /// `{self, low}`: `low` supplies the low bits.
    pub fn concat(&self, low: &Bits) -> Bits {
        let width = self.width + low.width;
        let mut out = low.limbs.clone();
        out.resize(limbs_of(width) + 1, 0);
        let (q, r) = (low.width as usize / 64, low.width % 64);
        for (i, &l) in self.limbs.iter().enumerate() {
            out[q + i] |= l << r;
            if r != 0 {
                out[q + i + 1] |= l >> (64 - r);
            }
        }
        Bits::from_limbs(&out, width)
    }

    /// Lower-case hexadecimal digits without leading zeros (at least one digit).
    pub fn hex(&self) -> String {
        let all: String = self.limbs.iter().rev().map(|l| format!("{l:016x}")).collect();
        let t = all.trim_start_matches('0');
        if t.is_empty() {
            "0".into()
        } else {
            t.into()
        }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}'h{}", self.width, self.hex())
    }
}
