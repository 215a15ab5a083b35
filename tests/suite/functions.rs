//! Several functions in one IP: `tests/functions/*.c`, with the options in their lines `// sagen:`. Each function, and
//! then a random sequence of them with resets in between, must compute what C does, in the predicted cycles with ideal
//! memory.

use crate::common::{root, sim};
use clap::Parser;
use sagen::cli::{Cli, Command};
use sagen::command;
use sagen::reporter::Silent;

fn programs() -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(root("tests/functions")).expect("a folder").map(|e| e.expect("an entry").path());
    let mut all: Vec<_> = all.filter(|p| p.extension().is_some_and(|e| e == "c")).collect();
    all.sort();
    all
}

#[test]
fn every_function_computes_what_c_does_whatever_ran_before() {
    let mut runs = 0;
    for file in programs() {
        let text = std::fs::read_to_string(&file).expect("text");
        for line in text.lines().filter_map(|l| l.strip_prefix("// sagen:")) {
            let about = format!("{} {line}", file.display());
            let mut arguments = sim(line, &file).expect(&about);
            arguments.json = true;
            let exact = !arguments.memory.to_string().starts_with("ddr");
            let output = command::run(&Command::Sim(arguments), &Silent).unwrap_or_else(|why| panic!("{about}: {why}"));
            assert_eq!(output.code, 0, "{about}: {}", output.text);
            let report: serde_json::Value = serde_json::from_str(&output.text).expect("JSON");
            for (name, own) in report["functions"].as_object().expect("several functions") {
                assert!(!exact || own["cycles"] == own["predicted_cycles"], "{about}: {name}");
            }
            assert_eq!(report["sequence"]["cycles_checked"], exact, "{about}");
            runs += report["sequence"]["runs"].as_u64().unwrap();
        }
    }
    assert!(runs >= 100);
}

/// Groups that differ in nothing but the array behind them are one.
#[test]
fn functions_that_are_alike_have_their_io_in_common() {
    let file = root("tests/functions/alike.c").to_string_lossy().into_owned();
    let Cli { command, .. } = Cli::try_parse_from(["sagen", "rtl", &file, "--merge", "--emit=vsa"]).expect("a command");
    let output = command::run(&command, &Silent).unwrap_or_else(|why| panic!("{why}"));
    let groups: Vec<&str> =
        output.text.lines().filter(|l| l.trim_start().starts_with("runs ")).map(str::trim).collect();
    assert_eq!(
        groups,
        ["runs 0 add_A 1 weigh_X", "runs 0 add_B 1 weigh_Y", "runs 0 add_C 1 weigh_Z"],
        "{}",
        output.text
    );
}
