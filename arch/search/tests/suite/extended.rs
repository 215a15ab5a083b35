//! Sums whose loops end before those of other statements.

use std::path::Path;
use uniform::design::DesignSpec;

#[test]
fn a_maximum_over_cells_with_a_border_is_free() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/run/alignment_score.c");
    let (scop, _) = frontend::parse(&file, &Default::default())
        .unwrap_or_else(|(map, faults)| panic!("{}", scop::render_plain(&map, &faults)));
    let program = search::program(&scop, &DesignSpec::default()).expect("an array executes it");
    let free: Vec<&str> = program
        .scop
        .statements
        .iter()
        .zip(&program.reductions)
        .filter(|(_, r)| r.is_some())
        .map(|(s, _)| program.scop.array(s.write.array).name.as_str())
        .collect();
    assert_eq!(free, ["best", "high"]);
}
