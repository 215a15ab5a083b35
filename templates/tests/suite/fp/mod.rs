//! The floating-point cores in the simulator against an independent soft-float library and against `scop::value`.

mod bench;
mod dot;
mod reference;
mod spread;
mod text;
mod vectors;

use bench::{interpreted, operand_bits, run};
use reference::reference;
use templates::fp::{Core, Format, Operator, Relation};
use vectors::{corners, hard, integer, pairs, Random};

const FORMATS: [Format; 3] = [Format::FP16, Format::BF16, Format::FP32];
const LANES: u32 = 256;

/// Runs the vectors through the core; each result must be that of the library and of the interpreter.
fn check(core: Core, vectors: impl Iterator<Item = [u64; 3]>) {
    let used = core.operands().len();
    let count = run(core, LANES, vectors, |mut x, got| {
        x[used..].fill(0);
        let want = reference(&core, &x);
        assert!(want.is_none_or(|w| w == got), "{core:?} on {x:x?}: {got:x}, the library says {want:x?}");
        let want = interpreted(&core, x);
        assert_eq!(got, want, "{core:?} on {x:x?}: {got:x}, the interpreter says {want:x}");
    });
    assert!(count > 0);
}

fn random(f: Format, seed: u64, count: usize) -> impl Iterator<Item = [u64; 3]> {
    let mut r = Random(seed);
    std::iter::repeat_with(move || hard(&mut r, f)).take(count)
}

fn binary(operator: Operator, latency: u32) {
    for format in FORMATS {
        check(Core { operator, format, latency }, pairs(format).chain(random(format, 7, 60_000)));
    }
}

#[test]
fn mul() {
    binary(Operator::Mul, 5);
}

#[test]
fn add_and_sub() {
    binary(Operator::Add, 6);
    binary(Operator::Sub, 6);
}

#[test]
fn div() {
    for format in FORMATS {
        let vectors = pairs(format).chain(random(format, 11, 30_000));
        check(Core { operator: Operator::Div, format, latency: format.fraction + 9 }, vectors);
    }
}

#[test]
fn comparisons() {
    for relation in [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le] {
        binary(Operator::Compare(relation), 1);
    }
    binary(Operator::Min, 1);
    binary(Operator::Max, 1);
}

#[test]
fn fma() {
    for format in FORMATS {
        let few = corners(format, false);
        let (second, third) = (few.clone(), few.clone());
        let cubes = few.into_iter().flat_map(move |a| {
            let third = third.clone();
            second.clone().into_iter().flat_map(move |b| third.clone().into_iter().map(move |c| [a, b, c]))
        });
        check(Core { operator: Operator::Fma, format, latency: 11 }, cubes.chain(random(format, 13, 150_000)));
    }
}

#[test]
fn unary_operators_on_every_16_bit_number() {
    let all = || (0..0x1_0000).map(|a| [a, 0, 0]);
    for format in [Format::FP16, Format::BF16] {
        let mut cores = vec![(Operator::Sqrt, format.fraction + 7), (Operator::ToBool, 3)];
        for bits in [8, 11, 16, 32, 64] {
            cores.extend([(Operator::ToInt { bits, signed: true }, 3), (Operator::ToInt { bits, signed: false }, 3)]);
        }
        for (operator, latency) in cores {
            check(Core { operator, format, latency }, all());
        }
        for bits in [1, 2, 7, 8, 12, 16] {
            for signed in [false, true].into_iter().filter(|signed| !signed || bits > 1) {
                check(
                    Core { operator: Operator::FromInt { bits, signed }, format, latency: 3 },
                    (0..1 << bits).map(|a| [a, 0, 0]),
                );
            }
        }
        for to in [Format::FP16, Format::BF16, Format::FP32, Format::FP64, Format { exponent: 8, fraction: 10 }] {
            if to != format {
                check(Core { operator: Operator::FromFloat(format), format: to, latency: 3 }, all());
            }
        }
    }
}

#[test]
fn unary_operators_of_fp32() {
    let format = Format::FP32;
    let floats = || corners(format, true).into_iter().map(|a| [a, 0, 0]).chain(random(format, 17, 40_000));
    check(Core { operator: Operator::Sqrt, format, latency: 30 }, floats());
    for to in [Format::FP16, Format::BF16, Format::FP64] {
        check(Core { operator: Operator::FromFloat(format), format: to, latency: 3 }, floats());
        let from = corners(to, true).into_iter().map(|a| [a, 0, 0]).chain(random(to, 19, 40_000));
        check(Core { operator: Operator::FromFloat(to), format, latency: 3 }, from);
    }
    for bits in [8, 16, 32, 48, 64] {
        for signed in [false, true] {
            check(Core { operator: Operator::ToInt { bits, signed }, format, latency: 3 }, floats());
            let mut r = Random(23);
            let integers = std::iter::repeat_with(|| [integer(&mut r, bits), 0, 0]).take(20_000);
            check(Core { operator: Operator::FromInt { bits, signed }, format, latency: 3 }, integers);
        }
    }
}

/// Pipelining must not change results, from combinational to more registers than steps.
#[test]
fn every_latency() {
    let operators = [
        Operator::Add,
        Operator::Mul,
        Operator::Fma,
        Operator::Div,
        Operator::Sqrt,
        Operator::Min,
        Operator::Compare(Relation::Le),
        Operator::FromInt { bits: 32, signed: true },
        Operator::ToInt { bits: 32, signed: true },
        Operator::FromFloat(Format::FP16),
        Operator::FromFloat(Format::FP64),
    ];
    for operator in operators {
        for latency in [0, 1, 2, 3, 4, 7, 9, 12, 36] {
            let core = Core { operator, format: Format::FP32, latency };
            let mut r = Random(29);
            let f = match operator {
                Operator::FromFloat(from) => from,
                _ => core.format,
            };
            let mask = !0 >> (64 - operand_bits(&core));
            check(core, std::iter::repeat_with(|| hard(&mut r, f).map(|x| x & mask)).take(2_000));
        }
    }
}

#[test]
fn other_formats() {
    let formats = [
        Format::FP64,
        Format { exponent: 8, fraction: 10 },
        Format { exponent: 5, fraction: 2 },
        Format { exponent: 6, fraction: 9 },
    ];
    for format in formats {
        for operator in [Operator::Add, Operator::Mul, Operator::Div, Operator::Sqrt, Operator::Fma, Operator::Max] {
            check(Core { operator, format, latency: 8 }, random(format, 31, 4_000));
        }
    }
}
