//! The fused dot product against exact sums in fp16: all its products are multiples of 2^-48.

use crate::common::Random;
use scop::literal::{F16, F32};
use scop::value::{canonical_nan, eval_dot, from_f64, mask, to_f64};

/// The exact sum, in units of 2^-48.
fn exact(pairs: &[[u64; 2]], c: u64) -> i128 {
    let unit = |x: u64| (to_f64(x, F16) * 2f64.powi(24)) as i128;
    pairs.iter().map(|p| unit(p[0]) * unit(p[1])).sum::<i128>() + (unit(c) << 24)
}

/// Weight of a number's leading place, in units of 2^-24; a subnormal number counts as if its leading bit were set.
fn place(x: u64) -> i128 {
    1 << ((x >> 10 & 31).max(1) - 1 + 10)
}

fn finite(random: &mut Random) -> u64 {
    let bits = random.bits() & mask(16);
    if bits >> 10 & 31 == 31 {
        bits ^ 1 << 14
    } else {
        bits
    }
}

/// Error bound: half a unit in the result's last place for the rounding; in the window's last place half a unit per
/// product and one for the addend.
#[test]
fn the_error_is_bounded() {
    let random = &mut Random::new(5);
    let mut overflows = 0;
    for n in [1, 2, 3, 8, 13] {
        for _ in 0..20_000 {
            let pairs: Vec<[u64; 2]> = (0..n).map(|_| [finite(random), finite(random)]).collect();
            let c = finite(random);
            let got = eval_dot(&pairs, c, F16);
            let exact = exact(&pairs, c);
            if got & mask(15) == 0x7c00 {
                overflows += 1;
                assert!(exact.abs() >= 65504i128 << 48, "{pairs:x?} {c:x}");
                continue;
            }
            // The leading place of a product is twice the product of its factors' places.
            let product =
                |p: &[u64; 2]| if p.iter().any(|x| x & mask(15) == 0) { 0 } else { (place(p[0]) * place(p[1])) << 1 };
            let greatest = pairs.iter().map(product).max().unwrap_or(0).max(place(c) << 24);
            let last = ((place(got) << 24) >> 10).max(1);
            let error = (((to_f64(got, F16) * 2f64.powi(24)) as i128) << 24) - exact;
            assert!(
                2 * error.abs() <= last + (((n + 2) * greatest) >> 12),
                "{pairs:x?} {c:x}: {got:x} is off by {error}"
            );
        }
    }
    assert!(overflows > 100);
}

/// Long sums of eight products per step, with both signs and with one sign, against the same sums by single operators.
#[test]
fn sums_are_more_accurate_than_chained_ones() {
    let random = &mut Random::new(7);
    for signed in [false, true] {
        let (mut fused, mut chained) = (0.0, 0.0);
        for _ in 0..200 {
            let (mut exact, mut chain, mut dot) = (0.0, 0f32, 0);
            for _ in 0..128 {
                let mut number = || (random.below(1 << 24) as f32 / (1 << 24) as f32) - if signed { 0.5 } else { 0.0 };
                let pairs = [(); 8].map(|()| [number(), number()]);
                exact += pairs.iter().map(|[x, y]| f64::from(*x) * f64::from(*y)).sum::<f64>();
                chain = pairs.iter().fold(chain, |sum, [x, y]| sum + x * y);
                dot = eval_dot(&pairs.map(|p| p.map(|x| u64::from(x.to_bits()))), dot, F32);
            }
            fused += (to_f64(dot, F32) - exact).powi(2);
            chained += (f64::from(chain) - exact).powi(2);
        }
        assert!(4.0 * fused < chained, "{fused} {chained}");
    }
}

#[test]
fn sums_of_small_integers_are_exact_in_any_order() {
    let random = &mut Random::new(6);
    let float = |x: i64| from_f64(x as f64, F32);
    for _ in 0..10_000 {
        let mut numbers: Vec<[i64; 2]> =
            (0..1 + random.below(12)).map(|_| [0; 2].map(|_| random.below(2001) as i64 - 1000)).collect();
        let c = random.below(2001) as i64 - 1000;
        let sum: i64 = numbers.iter().map(|p| p[0] * p[1]).sum::<i64>() + c;
        for _ in 0..3 {
            let pairs: Vec<[u64; 2]> = numbers.iter().map(|p| p.map(float)).collect();
            assert_eq!(to_f64(eval_dot(&pairs, float(c), F32), F32), sum as f64, "{numbers:?} {c}");
            numbers.rotate_left(1);
        }
    }
}

#[test]
fn special_values() {
    let [zero, one, infinity, nan] = [0.0, 1.0, f64::INFINITY, f64::NAN].map(|x| from_f64(x, F32));
    let minus = |x: u64| x ^ 1 << 31;
    let dot = |pairs: &[[u64; 2]], c| eval_dot(pairs, c, F32);
    assert_eq!(dot(&[[zero, infinity]], one), canonical_nan(F32));
    assert_eq!(dot(&[[one, nan]], infinity), canonical_nan(F32));
    assert_eq!(dot(&[[one, infinity], [one, one]], one), infinity);
    assert_eq!(dot(&[[minus(one), infinity], [one, one]], minus(infinity)), minus(infinity));
    assert_eq!(dot(&[[one, infinity]], minus(infinity)), canonical_nan(F32));
    assert_eq!(dot(&[[one, one]], minus(one)), zero);
    assert_eq!(dot(&[[minus(zero), one]], minus(zero)), minus(zero));
    assert_eq!(dot(&[[zero, one]], minus(zero)), zero);
    let most = 0x7f7f_ffff;
    assert_eq!(dot(&[[most, one], [one, one]], most), infinity);
    assert_eq!(dot(&[[1, one], [zero, most]], 3), 4, "zeros have no place, and subnormal sums are exact");
}
