//! Iterations that repeat, in one step, against every tile in its turn.

use array::contract::dram::{Memories, MemoryTiming, Pace};
use array::contract::walk::Walk;
use array::variants::assemble;
use array::vsa::Vsa;
use cost::board::Board;
use cost::coarse::{Certain, Least, Stored};
use cost::memory::{Most, PortMost};
use cost::{coarse, predict, predict_below, predict_tile_by_tile, Allowed, End};
use frontend::ParseOptions;
use search::branch::{audit, Effort, Task};
use std::path::Path;
use uniform::design::DesignSpec;

/// An ideal memory, a slow one, and one of an odd pace whose short bursts cost more.
fn memories() -> [Memories; 3] {
    let slow = MemoryTiming::both(90);
    let pace = Pace { beat: Pace::ONE + Pace::ONE / 3, least: 5 };
    [Memories::ideal(), Memories::all(slow), Memories::all(MemoryTiming { read: pace, write: pace, ..slow })]
}

fn compare(vsa: &Vsa, what: &str) {
    for memory in &memories() {
        let plain = predict_tile_by_tile(vsa, memory);
        assert_eq!(predict(vsa, memory), plain, "{what}");
        let within = |cycles, work| predict_below(vsa, memory, Allowed { cycles, work }).0;
        assert_eq!(within(plain.cycles, u64::MAX), End::Slow, "{what}: no run is shorter than itself");
        assert_eq!(within(plain.cycles + 1, u64::MAX), End::Run(plain), "{what}");
        assert_eq!(within(plain.cycles + 1, 1), End::Long, "{what}: a walk has more than a row");
    }
    let vsa = &vsa.at_most();
    let walks = Walk::all(vsa);
    let most = Most { ports: vec![PortMost::IDEAL; vsa.ports()], all: None };
    let cases = vec![true; vsa.cases.len()];
    let stored = |_: &_| if cases.is_empty() { Stored::Box(vec![1]) } else { Stored::Some(cases.clone()) };
    let stored = vsa.outputs.iter().map(stored).collect();
    let certain = Certain { begins: vec![true; vsa.inputs.len()], stored };
    let least = Least { most: &most, cross: 7, certain: &certain };
    let plain = coarse::walk_tile_by_tile(vsa, &walks, &least, i64::MAX);
    assert_eq!(coarse::walk(vsa, &walks, &least, i64::MAX).cycles, plain.cycles, "{what}: the coarse walk");
}

/// Rows at all places of a word, in tiles that end anywhere; sums that leave and come back; phases; sizes.
#[test]
fn walks_take_as_long_as_tile_by_tile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let files: [(&str, &[(&str, &str)]); 17] = [
        ("examples/mm.c", &[("N", "96")]),
        ("examples/gemm.c", &[]),
        ("examples/fir.c", &[]),
        ("examples/jacobi.c", &[]),
        ("examples/mttkrp.c", &[]),
        ("examples/cnn.c", &[]),
        ("examples/lu.c", &[("N", "12")]),
        ("tests/run/strided_rows.c", &[]),
        ("tests/run/conv_stride.c", &[]),
        ("tests/run/chain_2mm.c", &[]),
        ("tests/run/trmm.c", &[]),
        ("tests/polybench/syr2k.c", &[]),
        // In strips, which end at other places of the loops inside.
        ("examples/syrk.c", &[("N", "40"), ("strip", "i = 3")]),
        ("examples/syrk.c", &[("N", "24"), ("strip", "i = 7")]),
        ("tests/run/trmm.c", &[("strip", "i = 5")]),
        ("tests/polybench/gramschmidt.c", &[]),
        ("tests/polybench/fdtd-2d.c", &[]),
    ];
    let board = Board::parse(include_str!("../../../../boards/u250.toml")).expect("the board file is well formed");
    let mut compared = 0;
    for (file, macros) in files {
        let (strips, defines): (Vec<_>, Vec<_>) =
            macros.iter().map(|(name, value)| (name.to_string(), value.to_string())).partition(|m| m.0 == "strip");
        let (scop, _) = frontend::parse(&root.join(file), &ParseOptions { defines, ..ParseOptions::default() })
            .unwrap_or_else(|_| panic!("{file} does not parse"));
        let spec = match strips.first() {
            Some((_, strip)) => DesignSpec::parse(&format!("strip = {{ {strip} }}")).expect("a design"),
            None => DesignSpec::default(),
        };
        let program = search::program(&scop, &spec).unwrap_or_else(|_| panic!("{file} is no program"));
        let effort = Effort { exact: 1, bounds: 1, work: 1, gap: 0.0 };
        for found in audit(&Task::new(&program, &spec, board.resources, effort), 24) {
            let vsa = assemble(&program, found.plan.clone(), &spec).expect("an array that was assembled before");
            compare(&vsa, &format!("{file}: {:?}", found.plan));
            compared += 1;
        }
    }
    assert!(compared > 150, "{compared} arrays were compared");
}
