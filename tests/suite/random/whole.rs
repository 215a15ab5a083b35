//! Whole inputs as a user may combine them: several functions in several files, some with sizes at run time, a `main`
//! beside them that must not matter, and options that are rare or contradict one another. One IP runs each function at
//! each of its sizes, then a random sequence of them, some cut off by a reset, and through the queue if there is one.
//!
//! The input is compiled, simulated and compared by the same function as the command. It is equal, or refused with a
//! reason; everything else is a fault.

use super::check::Verdict;
use super::{forms, nests, programs, sized};
use crate::common::caught;
use clap::Parser;
use sagen::cli::{Cli, Command};
use sagen::data::Random;
use sagen::reporter::Silent;
use sagen::simulate::Agreement;

/// Files and options.
pub struct Whole {
    pub files: Vec<String>,
    pub options: Vec<String>,
}

impl std::fmt::Display for Whole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "// sagen: {}", self.options.join(" "))?;
        self.files.iter().enumerate().try_for_each(|(k, text)| writeln!(f, "// file {k}\n{text}"))
    }
}

/// A `main` and another function, which the region does not need.
const BESIDE: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    static double unused(double x) { return x < 1 ? x : unused(x / 2); }\n\
    int main(int argc, char **argv) {\n  FILE *f = argc > 1 ? fopen(argv[1], \"rb\") : stdin;\n\
    if (!f) return perror(argv[1]), 1;\n  int *room = malloc(100 * sizeof *room);\n  size_t got = fread(room, 4, 100, f);\n\
    printf(\"%zu %g\\n\", got, unused(argc));\n  free(room);\n  return fclose(f);\n}\n";

/// Options of the whole IP, with values at the ends of their ranges and beyond them.
fn option(random: &mut Random) -> String {
    let all = [
        "--memory ddr",
        "--memory ideal:1",
        "--memory ideal:211",
        "--ports shared",
        "--address-bits 32",
        "--guard",
        "--queue 2",
        "--queue 16",
        "--spill-beyond 0",
        "--spill-beyond 4294967295",
        "--on-chip 0",
        "--on-chip 1099511627775",
        "--memory-latency 1",
        "--memory-latency 10000",
        "--objective efficiency",
        "--objective area --cycles 1000000",
        "--objective area --cycles 1",
        "--slack 100%",
        "--limit dsp=0",
        "--limit lut=50%,bram36=1",
        "--limit uram=0",
        "--distribute",
        "--reassociate",
        "--reassociate --dot fused",
        "--fp-contract",
        "--board zcu104",
        "--board arty-a7-100",
        "--space none",
        "-D sagen_p=7",
        "-D unused=main",
        "--name wire",
    ];
    all[random.below(all.len() as u64) as usize].to_string()
}

/// A grid for functions on one array: searches of all arrays that fit the board take long, so few inputs ask for these.
fn grid(random: &mut Random) -> Option<String> {
    let all = ["1", "2x1", "4x1", "1x3", "2x2", "1x1x4", "3x1x2"];
    all.get(random.below(all.len() as u64 + 1) as usize).map(|grid| format!("--grid {grid}"))
}

/// Input number `seed` of two or three functions on one array.
pub fn draw_merged(seed: u64) -> Whole {
    let mut random = Random(seed.wrapping_mul(0x8cb9_2ba7_2f3d_8dd7) ^ 0x6d65_7267);
    let count = 2 + random.below(2) as usize;
    let mut options = vec!["--merge".into(), format!("--seed {}", random.below(1000))];
    options.push(format!("--sequence {}", 3 + random.below(9)));
    let mut files = vec![];
    for k in 0..count {
        let kind = [forms::draw, nests::draw, programs::draw, programs::draw, sized::draw][random.below(5) as usize];
        files.push(kind(random.draw() >> 16).text.replace("void kernel(", &format!("void kernel{k}(")));
    }
    options.extend(grid(&mut random));
    Whole { files, options }
}

/// Input number `seed`.
pub fn draw(seed: u64) -> Whole {
    let mut random = Random(seed.wrapping_mul(0x9fb2_1c65_1e98_df25) ^ 0x77_686f);
    let count = 1 + random.below(3) as usize;
    let mut options = vec![format!("--seed {}", random.below(1000)), format!("--sequence {}", 3 + random.below(9))];
    let mut files = vec![];
    for k in 0..count {
        let draw = [forms::draw, nests::draw, programs::draw, sized::draw, sized::draw][random.below(5) as usize];
        let mut text = draw(random.draw() >> 16).text.replace("void kernel(", &format!("void kernel{k}("));
        if random.below(2) == 0 {
            text = format!("{BESIDE}{text}");
        }
        files.push(text);
    }
    (0..random.below(4)).for_each(|_| options.push(option(&mut random)));
    if count > 1 && random.below(2) == 0 {
        options.push("--merge".into());
        options.extend(grid(&mut random));
    }
    Whole { files, options }
}

/// Runs an input; panics count as wrong.
pub fn run(whole: &Whole) -> Verdict {
    caught(|| judge(whole)).unwrap_or_else(Verdict::Wrong)
}

fn judge(whole: &Whole) -> Result<Verdict, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let mut words = vec!["sagen".to_string(), "sim".to_string()];
    words.extend(whole.options.iter().flat_map(|o| o.split(' ')).map(String::from));
    for (k, text) in whole.files.iter().enumerate() {
        let file = dir.path().join(format!("case {k}.c"));
        std::fs::write(&file, text).map_err(|e| e.to_string())?;
        words.push(file.to_string_lossy().into_owned());
    }
    let arguments = match Cli::try_parse_from(words) {
        Ok(Cli { command: Command::Sim(arguments), .. }) => arguments,
        Ok(_) => return Err("it is another command".into()),
        Err(why) => return Ok(Verdict::Refused(format!("usage {why}"))),
    };
    match sagen::simulate(&arguments, &Silent) {
        Err(why) if why.code() == 1 => Ok(Verdict::Refused(why.to_string())),
        Err(why) => Err(why.to_string()),
        Ok(verdict) if verdict.result == Agreement::Equal => Ok(Verdict::Equal),
        Ok(verdict) => {
            let runs = verdict.runs.iter().map(|r| format!("{}: {} {:?}", r.name(), r.result.name(), r.outcome.faults));
            let faults = verdict.sequence.map(|s| s.faults.join("; ")).unwrap_or_default();
            Err(format!("{} {faults}", runs.collect::<Vec<_>>().join(", ")))
        }
    }
}
