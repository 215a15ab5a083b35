//! The same kernels, nests and programs as programs of a GPU's warps: random maps, one size that fills several warps, some with
//! sizes at run time. The kernel's text runs on the CPU and is compared with the C compiler's program.

use super::check::{Case, Verdict};
use super::{forms, nests, programs, sized};
use crate::common::caught;
use clap::Parser;
use sagen::cli::{Cli, Command};
use sagen::data::Random;
use sagen::error::exit;
use sagen::reporter::Silent;

/// Iterations of a case, at most: the CPU executes all lanes of all warps.
const MOST_ITERATIONS: i64 = 60_000;

/// Case number `seed`.
pub fn draw(seed: u64) -> Case {
    let mut random = Random(seed.wrapping_mul(0x9fb2_1c65_1e98_df25));
    let case = [forms::draw, nests::draw, nests::draw, programs::draw][random.below(4) as usize](seed);
    let mut text = enlarged(&case.text, &mut random);
    if random.below(3) == 0 {
        text = sized::opened(&text, None, &mut random).unwrap_or(text);
    }
    let mut options = format!("--seed {seed}");
    if random.below(3) > 0 {
        options += &map(&text, &mut random);
    }
    if random.below(12) == 0 {
        options += " --sanitize address";
    }
    let loops = loops(&text);
    if random.below(4) == 0 && !loops.is_empty() {
        options += &format!(" --simd {}=4", loops[random.below(loops.len() as u64) as usize]);
    }
    Case { seed, text, options, row: None, shift: 0, native: true }
}

/// The text with one of its sizes several times as large.
fn enlarged(text: &str, random: &mut Random) -> String {
    let size = |line: &str| {
        let (name, value) = line.strip_prefix("#define N")?.split_once(' ')?;
        Some((name.to_string(), value.parse::<i64>().ok()?))
    };
    let sizes: Vec<(String, i64)> = text.lines().filter_map(size).collect();
    if sizes.is_empty() {
        return text.to_string();
    }
    let (name, value) = &sizes[random.below(sizes.len() as u64) as usize];
    let others: i64 = sizes.iter().filter(|s| s.0 != *name).map(|s| s.1).product();
    let most = (MOST_ITERATIONS / (others * value * value).max(1)).clamp(1, 90);
    let larger = value * (1 + random.below(most as u64) as i64) + random.below(3) as i64;
    let line = |name: &str, value: i64| format!("#define N{name} {value}\n");
    text.replace(&line(name, *value), &line(name, larger))
}

/// The names of the loops.
fn loops(text: &str) -> Vec<&str> {
    let words = text.split("for (int ").skip(1).filter_map(|l| l.split([' ', '=']).next());
    let mut loops: Vec<&str> = vec![];
    words.for_each(|w| {
        if !loops.contains(&w) {
            loops.push(w)
        }
    });
    loops
}

/// Some loops in space, perhaps with time and tiles.
fn map(text: &str, random: &mut Random) -> String {
    let mut loops = loops(text);
    if loops.is_empty() {
        return String::new();
    }
    (1..loops.len()).rev().for_each(|i| loops.swap(i, random.below(i as u64 + 1) as usize));
    let axes = (1 + random.below(2) as usize).min(loops.len());
    let (space, rest) = loops.split_at(axes);
    let mut options = format!(" --space {}", space.join(","));
    if random.below(2) == 0 && !rest.is_empty() {
        let one = |l: &&str| match random.below(4) {
            0 => format!("{l}+{}", space[random.below(axes as u64) as usize]),
            _ => (*l).to_string(),
        };
        let time: Vec<String> = rest.iter().map(one).collect();
        options += &format!(" --time {}", time.join(","));
    }
    if random.below(3) == 0 {
        let name = loops[random.below(loops.len() as u64) as usize];
        options += &format!(" --tile {name}={}", 1 + random.below(40));
    }
    options
}

/// Runs a case; panics count as wrong.
pub fn run(case: &Case) -> Verdict {
    caught(|| judge(case)).unwrap_or_else(Verdict::Wrong)
}

fn judge(case: &Case) -> Result<Verdict, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (file, out) = (dir.path().join("case.c"), dir.path().join("out"));
    std::fs::write(&file, &case.text).map_err(|e| e.to_string())?;
    let words = ["sagen", "gpu"].into_iter().chain(case.options.split_whitespace()).map(String::from);
    let rest = [file.to_string_lossy().into_owned(), "-o".into(), out.to_string_lossy().into_owned()];
    let arguments = match Cli::try_parse_from(words.chain(rest)) {
        Ok(Cli { command: Command::Gpu(arguments), .. }) => arguments,
        other => return Err(format!("{other:?}")),
    };
    match sagen::gpu(&arguments, &Silent) {
        Ok(written) => match written.check {
            Some(check) if check.faults.is_empty() && check.elements > 0 => Ok(Verdict::Equal),
            Some(check) => Err(check.faults.join("; ")),
            None => Err("nothing was compared".into()),
        },
        Err(why) if why.code() == exit::INTERNAL => Err(why.render(false)),
        Err(why) => Ok(Verdict::Refused(why.render(false))),
    }
}
