//! Bus words of every port, for any number of ports; and the list of heuristics.

use cost::board::Board;
use search::branch::widths::{Halvings, Widths};
use search::branch::{search, Effort, Task, BEST_FIRST, HEURISTICS};
use std::collections::BTreeSet;
use uniform::design::DesignSpec;

const PORTS: usize = 20;

#[test]
fn every_port_has_its_own_width() {
    let bytes: Vec<i64> = (0..PORTS).map(|p| 1 << (p % 7)).collect();
    let widths = Widths::of_bytes(&bytes);
    assert_eq!(widths.bytes(), bytes);
    let narrowest = Widths::of_bytes(&[1; PORTS]);
    for port in 0..PORTS {
        let narrower = widths.halved(&[port], 2, &narrowest);
        let expected = bytes.iter().enumerate().map(|(p, b)| if p == port { (b / 4).max(1) } else { *b });
        assert_eq!(narrower.bytes(), expected.collect::<Vec<_>>(), "port {port}");
        let by = widths.halvings_to(&narrower);
        assert_eq!(by.is_none(), bytes[port] == 1, "port {port}");
        assert_eq!(widths.narrowed(&by), narrower);
        assert_eq!(widths.narrowed(&by.and(&Halvings::none(PORTS))), narrower);
    }
}

/// Equal bounds are searched in this order, so it must not change.
#[test]
fn the_last_port_counts_most() {
    let of = |bytes: [i64; 18]| Widths::of_bytes(&bytes);
    let (mut first, mut last) = ([4; 18], [4; 18]);
    first[0] = 64;
    last[17] = 8;
    assert!(of([4; 18]) < of(first) && of(first) < of(last));
}

/// The words of ports behind the sixteenth are searched like those of the others: alike arrays have alike words.
#[test]
fn words_of_many_ports_are_searched() {
    let names: Vec<String> = (0..PORTS).map(|n| format!("x{n}")).collect();
    let arguments: Vec<String> = names.iter().map(|x| format!("int8_t {x}[16]")).collect();
    let sum: Vec<String> = names.iter().map(|x| format!("{x}[i]")).collect();
    let text = format!(
        "#include <stdint.h>\nvoid sum({}, int32_t y[16]) {{\n#pragma scop\nfor (int i = 0; i < 16; i++) y[i] = {};\n\
         #pragma endscop\n}}\n",
        arguments.join(", "),
        sum.join(" + ")
    );
    let Ok((scop, _)) = frontend::parse_text("sum.c", &text, &Default::default()) else { panic!("no program") };
    let spec = DesignSpec::default();
    let program = search::program(&scop, &spec).expect("an array executes it");
    let limits = Board::parse(include_str!("../../../../boards/u250.toml")).expect("a board file").resources;
    let effort = Effort { exact: 40, bounds: 100_000, work: u64::MAX, gap: 0.0 };
    let found = search(&Task::new(&program, &spec, limits, effort));
    let best = found.best.expect("an array");
    assert_eq!(best.vsa.ports(), PORTS + 1);
    assert_eq!((found.counts.violations, found.counts.underestimates), (0, 0));
    let words: BTreeSet<u32> = names.iter().map(|x| best.words[x]).collect();
    assert_eq!(words.len(), 1, "{:?}", best.words);
    // Every better design says how it was found.
    let rows: Vec<&str> = HEURISTICS.iter().map(|h| h.name).chain([BEST_FIRST]).collect();
    assert!(!found.trace.is_empty() && found.trace.iter().all(|step| rows.contains(&step.by)), "{:?}", found.trace);
}

#[test]
fn heuristics_have_names_and_reasons() {
    let names: BTreeSet<&str> = HEURISTICS.iter().map(|h| h.name).collect();
    assert_eq!(names.len(), HEURISTICS.len());
    assert!(HEURISTICS.iter().all(|h| !h.why.is_empty() && h.name != BEST_FIRST));
}
