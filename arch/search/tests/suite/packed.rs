//! Fields of sums of products that are side by side in one number.

use crate::vsa_common::Random;
use array::contract::packed::{check_field, fields, products, Part, ACCUMULATOR};
use scop::value::{mask, Field};
use scop::ScalarType;

/// Sums of so many products: `count` integers of one type, at a distance of `step` bits, times an integer of another type.
fn sums(of: [ScalarType; 2], terms: i128, count: u32, step: u32) -> Vec<Part> {
    let joined: Vec<Part> = (0..count).map(|k| Part::of(of[0], k * step)).collect();
    products(&joined, &[Part::of(of[1], 0)]).into_iter().map(|p| p.summed(terms)).collect()
}

/// Values at the ends of the range and around 0.
fn corners(part: &Part) -> Vec<i128> {
    let all = [part.low, part.low + 1, -1, 0, 1, part.high - 1, part.high];
    all.into_iter().filter(|x| (part.low..=part.high).contains(x)).collect()
}

/// Calls `check` with all combinations of corners: the number that they make, and each of them.
fn combined(parts: &[Part], check: &mut impl FnMut(u64, &[i128])) {
    let mut values = vec![0; parts.len()];
    fn next(parts: &[Part], k: usize, values: &mut Vec<i128>, check: &mut impl FnMut(u64, &[i128])) {
        if k == parts.len() {
            let whole: i128 = parts.iter().zip(&*values).map(|(p, x)| x << p.at).sum();
            return check(whole as u64 & mask(ACCUMULATOR), values);
        }
        for x in corners(&parts[k]) {
            values[k] = x;
            next(parts, k + 1, values, check);
        }
    }
    next(parts, 0, &mut values, check);
}

fn types() -> Vec<[ScalarType; 2]> {
    let int = |bits, signed| ScalarType::Int { bits, signed };
    let all: Vec<ScalarType> = [2, 4, 8].into_iter().flat_map(|bits| [int(bits, true), int(bits, false)]).collect();
    all.iter().flat_map(|a| all.iter().map(|b| [*a, *b])).collect()
}

#[test]
fn a_sum_is_its_field_and_the_sign_below() {
    let mut checked = 0;
    for of in types() {
        for (count, step) in (2..=3).flat_map(|count| (3..=20).map(move |step| (count, step))) {
            for terms in 1..=17 {
                let parts = sums(of, terms, count, step);
                let Some(fields) = fields(&parts) else { continue };
                fields.iter().for_each(|f| check_field(Some(&parts), *f).unwrap());
                combined(&parts, &mut |whole, values| {
                    for (k, x) in values.iter().enumerate() {
                        let below = k > 0 && fields[k - 1].of(whole) < 0;
                        let found = i128::from(fields[k].of(whole)) + i128::from(below);
                        assert_eq!(found, *x, "{of:?}, {terms} terms, {count} at {step}: {values:?}");
                    }
                });
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "{checked} kinds of sums");
}

/// Whatever field the verifier accepts says the part, or 1 less where what is below it is negative.
#[test]
fn an_accepted_field_is_right() {
    let mut random = Random(7);
    let (mut accepted, mut refused) = (0, 0);
    for of in types() {
        for _ in 0..300 {
            let (count, terms) = (random.within(2, 3) as u32, random.within(1, 20).into());
            let parts = sums(of, terms, count, random.within(3, 20) as u32);
            let k = random.within(0, i64::from(count) - 1) as usize;
            let bits = random.within(1, 30) as u32;
            let half = 1u64 << (bits - 1);
            let bounds = [2 * half, half, half + (half >> random.within(1, 8))];
            let field = Field { at: parts[k].at, bits, negative: bounds[random.within(0, 2) as usize] };
            if check_field(Some(&parts), field).is_err() {
                refused += 1;
                continue;
            }
            accepted += 1;
            combined(&parts, &mut |whole, values| {
                let below: i128 = parts[..k].iter().zip(values).map(|(p, x)| x << p.at).sum();
                let found = i128::from(field.of(whole)) + i128::from(below < 0);
                assert_eq!(found, values[k], "{of:?}: {field:?} of {parts:?}");
            });
        }
    }
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn eight_products_of_int8_fit_18_bits() {
    let int8 = ScalarType::Int { bits: 8, signed: true };
    let at = |step| (1..=40).filter(|n| fields(&sums([int8; 2], *n, 2, step)).is_some()).max();
    assert_eq!([16, 17, 18, 19].map(at), [Some(2), Some(4), Some(8), Some(16)]);
}
