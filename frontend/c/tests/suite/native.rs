//! The interpreter against the system's C compiler, on the example programs.

use crate::common::{assert_same, examples, Native, Random};
use frontend::{parse, ParseOptions};
use scop::interp;

#[test]
fn examples_compute_what_c_computes() {
    for path in examples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (scop, warnings) = parse(&path, &ParseOptions::default())
            .unwrap_or_else(|(map, faults)| panic!("{}", scop::render_plain(&map, &faults)));
        assert!(warnings.is_empty(), "{name}: {warnings:?}");
        let native = Native::compile(&scop, path.parent().unwrap());
        let mut compared = 0;
        for seed in 0..24 {
            let before = Random::new(seed).memory(&scop);
            let Some(after) = native.run(&scop, &before) else { continue };
            let mut memory = before.clone();
            interp::run(&scop, &mut memory).unwrap();
            assert_same(&scop, &after, &memory, &format!("{name}, seed {seed}"));
            assert_ne!(after, before, "{name} does nothing");
            compared += 1;
        }
        assert!(compared >= 3, "{name}: only {compared} runs without a trap");
    }
}

#[test]
fn sizes_come_from_the_command_line() {
    let path = &examples().into_iter().find(|p| p.ends_with("mm.c")).unwrap();
    let options = ParseOptions { defines: vec![("N".into(), "1".into())], ..Default::default() };
    let (scop, _) = parse(path, &options).unwrap();
    assert_eq!(scop.arrays[0].dims, [1, 5]);
    assert_eq!(scop.arrays[2].dims, [1, 2]);
}
