//! Long runs of the floating-point cores against the references, in the built-in simulator:
//! `cargo run --release -p templates --example fp_vectors -- [VECTORS] [OPERATOR...]`
//!
//! VECTORS (default 100000000) fp32 vectors per operator, crossed corner cases first, then shaped random ones; OPERATOR
//! is one or more of add, sub, mul, fma, dot1, div, sqrt, eq, ne, lt, le, min, max, from_i32, from_u32, to_i32, to_u32,
//! from_fp16, to_fp16 (default: all). Exits 1 at the first mismatch.

#[path = "../tests/suite/fp/bench.rs"]
mod bench;
#[path = "../tests/suite/fp/reference.rs"]
mod reference;
#[path = "../tests/suite/fp/vectors.rs"]
mod vectors;

use std::time::Instant;
use templates::fp::{Core, Format, Operator, Relation};

const LANES: u32 = 1024;

fn cores() -> Vec<(&'static str, Core)> {
    let fp32 = |operator, latency| Core { operator, format: Format::FP32, latency };
    vec![
        ("mul", fp32(Operator::Mul, 5)),
        ("add", fp32(Operator::Add, 6)),
        ("sub", fp32(Operator::Sub, 6)),
        ("fma", fp32(Operator::Fma, 10)),
        ("dot1", fp32(Operator::Dot { lanes: 1 }, 9)),
        ("div", fp32(Operator::Div, 31)),
        ("sqrt", fp32(Operator::Sqrt, 30)),
        ("eq", fp32(Operator::Compare(Relation::Eq), 1)),
        ("ne", fp32(Operator::Compare(Relation::Ne), 1)),
        ("lt", fp32(Operator::Compare(Relation::Lt), 1)),
        ("le", fp32(Operator::Compare(Relation::Le), 1)),
        ("min", fp32(Operator::Min, 1)),
        ("max", fp32(Operator::Max, 1)),
        ("from_i32", fp32(Operator::FromInt { bits: 32, signed: true }, 3)),
        ("from_u32", fp32(Operator::FromInt { bits: 32, signed: false }, 3)),
        ("to_i32", fp32(Operator::ToInt { bits: 32, signed: true }, 3)),
        ("to_u32", fp32(Operator::ToInt { bits: 32, signed: false }, 3)),
        ("from_fp16", fp32(Operator::FromFloat(Format::FP16), 3)),
        ("to_fp16", Core { operator: Operator::FromFloat(Format::FP32), format: Format::FP16, latency: 3 }),
    ]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.iter().find_map(|a| a.parse().ok()).unwrap_or(100_000_000usize);
    let named: Vec<&String> = arguments.iter().filter(|a| a.parse::<usize>().is_err()).collect();
    if let Some(unknown) = named.iter().find(|n| !cores().iter().any(|(name, _)| name == *n)) {
        eprintln!("fp_vectors: no operator `{unknown}`");
        std::process::exit(2);
    }
    for (name, core) in cores().into_iter().filter(|(name, _)| named.is_empty() || named.iter().any(|n| n == name)) {
        let start = Instant::now();
        let mut r = vectors::Random(0x9e37_79b9_7f4a_7c15);
        let used = core.operands().len();
        let next = || match core.operator {
            Operator::FromInt { bits, .. } => [vectors::integer(&mut r, bits), 0, 0],
            Operator::FromFloat(from) => vectors::hard(&mut r, from),
            _ => vectors::hard(&mut r, core.format),
        };
        let crossed = vectors::pairs(match core.operator {
            Operator::FromFloat(from) => from,
            _ => core.format,
        });
        let all = crossed.chain(std::iter::repeat_with(next)).take(count);
        let checked = bench::run(core, LANES, all, |mut x, got| {
            x[used..].fill(0);
            let want = reference::reference(&core, &x);
            if want.is_some_and(|w| w != got) || bench::interpreted(&core, x) != got {
                println!(
                    "{name}: {x:x?} gives {got:x}, library {want:x?}, interpreter {:x}",
                    bench::interpreted(&core, x)
                );
                std::process::exit(1);
            }
        });
        println!("{name:10} {checked} vectors, no mismatch, {:.1} s", start.elapsed().as_secs_f64());
    }
}
