//! The fused dot product against `scop::value::eval_dot`: random and directed vectors, all shapes.

use super::vectors::{corners, hard, Random};
use rtl::sim::Sim;
use rtl::Design;
use scop::value::eval_dot;
use scop::ScalarType;
use std::collections::VecDeque;
use templates::fp::{default_latency, Core, Format, Operator};

/// Factors of all lanes, and the addend.
type Vector = (Vec<[u64; 2]>, u64);

/// Hard operands; some lanes are corner cases, cancel another lane, or are empty.
fn vector(r: &mut Random, corners: &[u64], f: Format, lanes: usize) -> Vector {
    let sign = 1 << (f.bits() - 1);
    let mut pairs: Vec<[u64; 2]> = vec![];
    let mut addend = 0;
    for lane in 0..lanes {
        let [a, b, c] = hard(r, f);
        addend = c;
        let choice = r.next() >> 32;
        pairs.push(match choice % 8 {
            0 => [corners[(choice >> 4) as usize % corners.len()], b],
            1 | 2 if lane > 0 => {
                let [x, y] = pairs[(choice >> 8) as usize % lane];
                [x ^ sign, y.wrapping_add(choice >> 20 & 1)]
            }
            3 => [a & sign, b],
            // Exponents in the middle of the range, so that sums do not overflow.
            4 | 5 => [a, b].map(|x| {
                x & !(((1 << f.exponent) - 1) << f.fraction) | ((f.bias() as u64 - 2 + (x >> 3 & 3)) << f.fraction)
            }),
            _ => [a, b],
        });
    }
    if r.next().is_multiple_of(8) {
        addend = corners[(r.next() >> 32) as usize % corners.len()];
    }
    (pairs, addend)
}

/// Concatenates fields of `w` bits, the first one lowest.
fn bus(fields: impl Iterator<Item = u64>, w: u32) -> Vec<u64> {
    let mut words = vec![0u64];
    for (k, x) in fields.enumerate() {
        let (at, low) = (k * w as usize / 64, k * w as usize % 64);
        words.resize(at + 2, 0);
        words[at] |= x << low;
        words[at + 1] |= x.checked_shr(64 - low as u32).unwrap_or(0);
    }
    words
}

fn check(f: Format, lanes: u32, latency: u32, count: usize) {
    let mut d = Design::default();
    let top = d.module(Core { operator: Operator::Dot { lanes }, format: f, latency });
    let mut sim = Sim::new(&d.verify().unwrap(), &top).unwrap_or_else(|faults| panic!("{faults:#?}"));
    let [a, b, c, y] = ["a", "b", "c", "y"].map(|p| sim.port(p));
    let ty = ScalarType::Float { exponent: f.exponent, fraction: f.fraction };
    let (mut r, corners) = (Random(41 + u64::from(lanes)), corners(f, true));
    let mut pending: VecDeque<Vector> = VecDeque::new();
    for _ in 0..count {
        let (pairs, addend) = vector(&mut r, &corners, f, lanes as usize);
        sim.poke_wide(a, &bus(pairs.iter().map(|p| p[0]), f.bits())[..words(lanes * f.bits())]);
        sim.poke_wide(b, &bus(pairs.iter().map(|p| p[1]), f.bits())[..words(lanes * f.bits())]);
        sim.poke_wide(c, &[addend]);
        pending.push_back((pairs, addend));
        // The module leaves the last register to its user.
        if pending.len() as u32 >= latency.max(1) {
            let (pairs, addend) = pending.pop_front().expect("not empty");
            let (got, want) = (sim.peek_wide(y)[0], eval_dot(&pairs, addend, ty));
            assert_eq!(got, want, "{f:?}, {pairs:x?} and {addend:x}: {got:x}, the interpreter says {want:x}");
        }
        sim.clock();
    }
}

fn words(bits: u32) -> usize {
    bits.div_ceil(64) as usize
}

#[test]
fn dot() {
    for lanes in [1, 2, 3, 4, 8] {
        for f in [Format::FP32, Format::FP16, Format::BF16] {
            let latency = default_latency(Operator::Dot { lanes }, f);
            check(f, lanes, latency, 40_000 / lanes as usize);
        }
    }
}

#[test]
fn dot_of_every_latency_and_other_formats() {
    for latency in [0, 1, 2, 5, 9, 14, 30] {
        check(Format::FP32, 3, latency, 1_000);
    }
    for f in [
        Format { exponent: 5, fraction: 2 },
        Format { exponent: 6, fraction: 9 },
        Format { exponent: 8, fraction: 10 },
        Format::FP64,
    ] {
        check(f, 5, 9, 2_000);
    }
}
