//! The narrowest types that hold all values of an operator, as far as its operands tell. Multipliers are built for
//! them. Example: `(int)a` with `int8_t a` has the values of `int8_t`.
//!
//! Each rule gets the narrowest type of an operand and answers with a type that is no wider than the operator's own.

use crate::ScalarType;

/// Of the conversion of values of `from` to `ty`.
pub fn of_cast(from: ScalarType, ty: ScalarType) -> ScalarType {
    match (from, ty) {
        (ScalarType::Int { bits: b, signed: s }, ScalarType::Int { bits, signed })
            if (s == signed && b <= bits) || (!s && b < bits) =>
        {
            from
        }
        _ => ty,
    }
}

/// Of these numbers, which are given in the bits of `ty`. It is signed if one of them is negative.
pub fn of_numbers(numbers: &[u64], ty: ScalarType) -> ScalarType {
    let ScalarType::Int { bits, signed } = ty else { return ty };
    let (negative, positive): (Vec<u64>, Vec<u64>) =
        numbers.iter().partition(|&n| signed && bits > 0 && n >> (bits - 1) & 1 == 1);
    let below = negative.iter().map(|&n| negative_bits(n, bits)).max();
    let above = positive.iter().map(|n| (64 - n.leading_zeros()).max(1) + u32::from(below.is_some())).max();
    ScalarType::Int { bits: below.max(above).unwrap_or(bits).min(bits), signed: below.is_some() }
}

/// Least width of the two's complement encoding of a negative number given in `bits` bits.
fn negative_bits(value: u64, bits: u32) -> u32 {
    let extended = ((value << (64 - bits)) as i64) >> (64 - bits);
    65 - (!extended as u64).leading_zeros()
}
