//! Sizes at run time: `tests/sizes/*.c` and `.cpp`, and two examples, with the options in their lines `// sagen:`. One IP runs at
//! all of a line's sizes, one after the other and then in random order with resets in between, and must compute what C
//! does, in the predicted cycles. So must the interpreter of the array at each of them, and all texts of its stages
//! read back as what they were.

use crate::common::{all_pass, c_files, lines_of_options, root, sim};
use sagen::cli::Command;
use sagen::program::{self, Work};
use sagen::reporter::Silent;
use sagen::{command, data, golden, reference};
use std::path::PathBuf;

/// Each program with the options of one of its lines.
fn cases() -> Vec<(PathBuf, String)> {
    let mut all = c_files("tests/sizes");
    all.extend(["examples/gemm_sizes.c", "examples/networks/resnet.c"].map(root));
    all.sort();
    let only = std::env::var("SAGEN_RUN").unwrap_or_default();
    all.retain(|p| p.to_string_lossy().contains(&only));
    lines_of_options(all)
}

#[test]
fn one_ip_computes_what_c_does_at_all_sizes() {
    all_pass(&cases(), |file, line| {
        let mut arguments = sim(line, file).expect("options");
        (arguments.json, arguments.sequence) = (true, Some(6));
        let output = command::run(&Command::Sim(arguments), &Silent).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(output.code, 0, "{}", output.text);
        let report: serde_json::Value = serde_json::from_str(&output.text).expect("JSON");
        for (name, own) in report["functions"].as_object().expect("several sizes") {
            assert_eq!(own["cycles"], own["predicted_cycles"], "{name}");
        }
    });
}

#[test]
fn texts_read_back_and_interpreters_agree() {
    let mut first = cases();
    first.dedup_by(|next, first| next.0 == first.0);
    all_pass(&first, |file, line| {
        let arguments = sim(line, file).expect("options");
        let work = Work::load(&arguments.program, &arguments.design, &Silent).unwrap_or_else(|why| panic!("{why}"));
        let (input, spec) = &work.functions[0];
        let compiled = program::compile(input, spec, &work.board, &Silent).unwrap_or_else(|why| panic!("{why}"));
        let back = array::text::parse(&array::text::to_text(&compiled.vsa));
        assert_eq!(back, Ok(array::text::canonical(&compiled.vsa)), "{}", file.display());
        let stages = compiled.stages.as_ref().expect("stages");
        let mapping = uniform::text::mapping(&stages.scop, &stages.system, &stages.plan);
        let read =
            array::text::read("text", &mapping).unwrap_or_else(|why| panic!("{}: {why}\n{mapping}", file.display()));
        assert!(matches!(read, array::text::Stage::Mapping(..)));
        for given in &arguments.sizes {
            let sizes = input.sizes(&given.0).unwrap_or_else(|why| panic!("{why}"));
            let (at, run) = (input.at(&sizes), compiled.at(&sizes));
            let native =
                golden::run(&at.scop, file, &arguments.program.parse_options(), &data::random(&at.scop, 3)).expect("C");
            let numbers = data::numbers(&at.scop, &run.vsa).expect("arrays");
            // What is no argument of the C function has no expected contents.
            let known: Vec<(usize, usize)> =
                numbers.iter().enumerate().filter_map(|(argument, k)| Some((argument, (*k)?))).collect();
            let interpreted = reference::interpret(&at.scop, &native.before).expect("the region");
            assert!(
                known.iter().all(|&(_, k)| interpreted[k] == native.after[k]),
                "{} at {sizes:?}: the region",
                file.display()
            );
            assert_eq!(run.vsa.verify(), Ok(()), "{} at {sizes:?}", file.display());
            let array = reference::execute(&run.vsa, &native.before, &numbers).expect("the array");
            for (argument, k) in known {
                assert_eq!(array[argument], native.after[k], "{} at {sizes:?}: the array", file.display());
            }
        }
    });
}
