//! Programs in strips: they execute fewer iterations, their recurrences are verified and compute what the program does,
//! the bounds of their search hold, and loops that cannot have strips are refused.

use cost::board::Board;
use scop::interp::Memory;
use scop::Scop;
use search::branch::{audit, Effort, Task};
use search::strips::{alternatives, requested};
use std::path::Path;
use uniform::design::{ArrayChoice, DesignSpec, Factors, Shape};

const TRIANGLE: &str = "void f(int A[24][8], int C[24][24]) \
    {\n#pragma scop\nfor (int i = 0; i < 24; i++)\nfor (int j = 0; j <= i; j++) {\nC[i][j] = 0;\nfor (int k = 0; k < 8; k++)\nC[i][j] += A[i][k] * A[j][k];\n}\n#pragma endscop\n}\n";
const BAND: &str = "void f(float A[40][40], float x[40][3], float y[40][3]) \
    {\n#pragma scop\nfor (int i = 2; i < 38; i++)\nfor (int j = 0; j < 3; j++) {\ny[i][j] = 0;\nfor (int k = i - 2; k <= i + 2; k++)\ny[i][j] += A[i][k] * x[k][j];\n}\n#pragma endscop\n}\n";
const IN_PLACE: &str = "void f(float A[20][20], float B[20][5]) \
    {\n#pragma scop\nfor (int i = 0; i < 20; i++)\nfor (int j = 0; j < 5; j++)\nfor (int k = i + 1; k < 20; k++)\nB[i][j] += A[k][i] * B[k][j];\n#pragma endscop\n}\n";
/// Strips of `i` would overwrite rows that later strips read.
const OVERWRITTEN: &str = "void f(int A[20][20], int B[20][20]) \
    {\n#pragma scop\nfor (int j = 0; j < 19; j++)\nfor (int i = j + 1; i < 20; i++)\nB[i][j] = A[i][j] + B[i - 1][j + 1];\n#pragma endscop\n}\n";
const SUBSTITUTION: &str = "void f(float L[20][20], float x[20]) \
    {\n#pragma scop\nfor (int i = 0; i < 20; i++)\nfor (int j = 0; j < i; j++)\nx[i] -= L[i][j] * x[j];\n#pragma endscop\n}\n";

fn parse(text: &str) -> Scop {
    frontend::parse_text("f.c", text, &Default::default()).expect("the program is good").0
}

fn contents(scop: &Scop) -> Vec<Vec<u64>> {
    let number = |ty: scop::ScalarType, n: i64| {
        if ty.is_float() {
            scop::value::from_f64(n as f64 / 4.0, ty)
        } else {
            n as u64
        }
    };
    scop.arrays
        .iter()
        .enumerate()
        .map(|(a, array)| {
            (0..array.dims.iter().product::<i64>()).map(|n| number(array.ty, (n * 37 + a as i64 * 11) % 23)).collect()
        })
        .collect()
}

#[test]
fn strips_walk_less_and_compute_the_same() {
    let spec = DesignSpec::default();
    for (text, share) in [(TRIANGLE, 0.6), (BAND, 0.4), (IN_PLACE, 0.7)] {
        let scop = parse(text);
        let program = search::program(&scop, &spec).expect("an array");
        let all = alternatives(&program);
        assert!(
            all[0].system.walked() <= share * program.system.walked(),
            "{} of {}\n{text}",
            all[0].system.walked(),
            program.system.walked()
        );
        for mined in &all {
            let (mut expected, mut found) = (Memory { arrays: contents(&scop) }, contents(&scop));
            scop::interp::run(&scop, &mut expected).expect("a run");
            uniform::interp::run_system(&mined.scop, &mined.system, &mut found).expect("a run");
            assert_eq!(expected.arrays, found, "{:?}\n{text}", mined.strip);
        }
    }
}

#[test]
fn bounds_of_strips_are_bounds() {
    let board = Board::parse(include_str!("../../../../boards/u250.toml")).expect("the board file is well formed");
    let spec = DesignSpec::default();
    for text in [TRIANGLE, BAND, IN_PLACE] {
        let scop = parse(text);
        let program = search::program(&scop, &spec).expect("an array");
        for mined in alternatives(&program) {
            let effort = Effort { exact: 0, bounds: 2_000_000, work: u64::MAX, gap: 0.0 };
            for one in audit(&Task::new(&mined, &spec, board.resources, effort), 40) {
                assert!(one.closed <= one.exact && one.coarse <= one.exact, "{:?}: {one:?}\n{text}", mined.strip);
            }
        }
    }
}

#[test]
fn what_cannot_be_cut_is_refused() {
    let spec = DesignSpec::default();
    let refused = |text: &str, name: &str, size: i64| {
        let scop = parse(text);
        let program = search::program(&scop, &spec).expect("an array");
        let shape = Shape { strip: Factors::from([(name.into(), size)]), ..Shape::default() };
        requested(program, &DesignSpec { array: ArrayChoice::ByHand { space: None, shape }, ..spec.clone() })
            .err()
            .map(|faults| faults[0].code)
    };
    assert_eq!(refused(TRIANGLE, "i", 4), None);
    assert_eq!(refused(TRIANGLE, "k", 4), Some("E0728"), "a sum is carried over k");
    assert_eq!(refused(TRIANGLE, "i", 0), Some("E0728"));
    assert_eq!(refused(TRIANGLE, "x", 4), Some("E0701"));
    assert_eq!(refused(SUBSTITUTION, "i", 4), None, "x is carried over i");
    assert_eq!(refused(OVERWRITTEN, "i", 4), Some("E0728"));
}

/// Strips of the fastest array do not fit this board. The second best array has four PEs less, and is faster in strips.
#[test]
fn strips_are_tried_on_the_second_best_array() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let text = std::fs::read_to_string(root.join("tests/polybench/lu.c")).expect("PolyBench's lu");
    let scop = parse(&text);
    let board = Board::parse(include_str!("../../../../boards/pynq-z2.toml")).expect("a well-formed board file");
    let spec = search::on(&board, &DesignSpec::default());
    let program = search::program(&scop, &spec).expect("a program");
    let chosen = search::choose::choose(&program, None, &board, &spec).expect("an array");
    assert!(!chosen.program.strip.is_empty(), "{:?}", chosen.plan);
    let cycles = cost::memory::run(&chosen.vsa, &spec).prediction.cycles;
    assert!(cycles < 6_000, "{cycles} cycles");
}
