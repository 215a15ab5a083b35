//! Operands that hurt: crossed corner cases, and random ones shaped like the hard cases of each operator.

use templates::fp::Format;

/// xorshift64*.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// Exponents at the borders of ranges, fractions at the borders of rounding, both signs; infinities and NaNs of
/// several payloads come with the greatest exponent.
pub fn corners(f: Format, dense: bool) -> Vec<u64> {
    let (top, bias, p) = ((1u64 << f.exponent) - 1, f.bias() as u64, u64::from(f.fraction));
    let ones = (1u64 << f.fraction) - 1;
    let mut exponents = vec![0, 1, bias - 1, bias, bias + 1, top - 1, top];
    let mut fractions = vec![0, 1, ones / 2 + 1, ones];
    if dense {
        exponents.extend([2, p, p + 1, bias / 2, bias + p, bias + p + 1, bias.saturating_sub(p + 1), top - 2]);
        fractions.extend([2, 3, ones / 2, ones / 2 + 2, ones - 1, ones / 3]);
    }
    exponents.retain(|&e| e <= top);
    exponents.sort_unstable();
    exponents.dedup();
    fractions.sort_unstable();
    fractions.dedup();
    let one = |sign: u64, e: u64, x: u64| sign << (f.bits() - 1) | e << f.fraction | x;
    exponents.iter().flat_map(|&e| fractions.iter().flat_map(move |&x| [one(0, e, x), one(1, e, x)])).collect()
}

/// All pairs of [`corners`].
pub fn pairs(f: Format) -> impl Iterator<Item = [u64; 3]> {
    let all = corners(f, true);
    let other = all.clone();
    all.into_iter().flat_map(move |a| other.clone().into_iter().map(move |b| [a, b, a]))
}

/// A random number: uniform bits, few fraction bits set or clear, or near the ends of the exponent range.
fn number(r: &mut Random, f: Format) -> u64 {
    let raw = r.next();
    let (fraction, exponent) = (raw & ((1 << f.fraction) - 1), (1u64 << f.exponent) - 1);
    let one = |e: u64, x: u64| (raw >> 63) << (f.bits() - 1) | (e & exponent) << f.fraction | x;
    match r.below(8) {
        0 => one(r.below(3), fraction),
        1 => one(exponent - 1 - r.below(3), fraction),
        2 => one(r.next(), fraction & r.next() & r.next()),
        3 => one(r.next(), (fraction | r.next() | r.next()) & ((1 << f.fraction) - 1)),
        4 => one(r.below(2), fraction >> r.below(u64::from(f.fraction))),
        5 => one(f.bias() as u64 + r.below(8) - 4, fraction),
        _ => raw >> (64 - f.bits()),
    }
}

/// Three operands; the second and third often lie near what makes a sum cancel or a quotient tie.
pub fn hard(r: &mut Random, f: Format) -> [u64; 3] {
    let (a, mut b, mut c) = (number(r, f), number(r, f), number(r, f));
    let sign = 1 << (f.bits() - 1);
    let mask = sign | (sign - 1);
    match r.below(6) {
        0 => b = (a ^ sign).wrapping_add(r.below(9)).wrapping_sub(4) & mask,
        1 => {
            b = a.wrapping_add((r.below(5) << f.fraction).wrapping_sub(2 << f.fraction)).wrapping_add(r.below(5)) & mask
                ^ (r.next() & sign)
        }
        2 => {
            // The addend near the negative product.
            let e = |x: u64| (x >> f.fraction & ((1 << f.exponent) - 1)) as i64;
            let sum = (e(a) + e(b) - f.bias() + r.below(5) as i64 - 2).clamp(0, (1 << f.exponent) - 2) as u64;
            c = (a ^ b ^ sign) & sign | sum << f.fraction | c & ((1 << f.fraction) - 1);
        }
        3 => {
            let e = |x: u64| (x >> f.fraction & ((1 << f.exponent) - 1)) as i64;
            let spread = 3 * i64::from(f.fraction);
            let sum = (e(a) + e(b) - f.bias() + r.below(2 * spread as u64) as i64 - spread)
                .clamp(0, (1 << f.exponent) - 2) as u64;
            c = c & sign | sum << f.fraction | c & ((1 << f.fraction) - 1);
        }
        _ => {}
    }
    [a, b, c]
}

/// A random integer operand: uniform, or with its leading bit anywhere, or next to a power of two.
pub fn integer(r: &mut Random, bits: u32) -> u64 {
    let raw = r.next();
    let small = raw >> (64 - bits) >> r.below(u64::from(bits));
    match r.below(4) {
        0 => raw,
        1 => small,
        2 => small.wrapping_neg(),
        _ => (1u64 << r.below(u64::from(bits))).wrapping_add(raw % 5).wrapping_sub(2),
    }
}
