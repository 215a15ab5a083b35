//! Random programs through random arrays: the netlist, simulated through its AXI ports, against the interpreter of the
//! program, and for some against the C compiler. Every element of every array and the memory around the arrays must
//! agree bit for bit, the virtual systolic array must verify, and with ideal memory the predicted cycles must be the
//! simulated ones exactly.
//!
//! [`forms`] draws sizes, types and hand-written designs for known kernels; [`nests`] draws single nests with many
//! dependences; [`programs`] draws whole programs as people write them; [`sized`] gives some of them sizes at run time,
//! [`warps`] makes kernels for GPUs of them, [`whole`] makes one IP of several, with a `main` beside them and options that few would combine.
//! Every case follows from its number: `SAGEN_SEED=n` starts at another, `SAGEN_CASES=n` sets how many run. A failure
//! prints the program and the options that show it. [`soak`] runs until it is told to stop (`scripts/soak.sh`).

mod check;
mod forms;
mod nests;
mod programs;
mod shrink;
mod sized;
mod soak;
mod warps;
mod whole;

use crate::common::{on_all_cores, setting};
use check::{Case, Verdict};

/// Runs `count` cases; at least `share` percent must not be refused.
fn run_all(draw: fn(u64) -> Case, count: u64, share: u64) {
    run_by(check::run, draw, count, share);
}

fn run_by(run: fn(&Case) -> Verdict, draw: fn(u64) -> Case, count: u64, share: u64) {
    let (first, count) = (setting("SAGEN_SEED", 1), setting("SAGEN_CASES", count));
    let cases: Vec<Case> = (first..first + count).map(draw).collect();
    let verdicts = on_all_cores(&cases, |c| format!("case {}", c.seed), run);
    let (mut ran, mut failures) = (0, vec![]);
    for (case, verdict) in cases.iter().zip(verdicts) {
        let seed = case.seed;
        match verdict {
            Verdict::Equal => ran += 1,
            Verdict::Refused(why) if std::env::var("SAGEN_VERBOSE").is_ok() => {
                println!("case {seed} refused: {why}\n{case}")
            }
            Verdict::Refused(_) => {}
            Verdict::Wrong(why) => {
                failures.push(format!("case {seed} (SAGEN_SEED={seed} SAGEN_CASES=1): {why}\n{case}"))
            }
        }
    }
    println!("{ran} of {count} cases ran, {} failed", failures.len());
    assert!(failures.is_empty(), "{} of {count} cases fail\n{}", failures.len(), failures.join("\n"));
    assert!(100 * ran >= share * count, "only {ran} of {count} cases were not refused");
}

#[test]
fn known_kernels_with_random_designs() {
    run_all(forms::draw, 400, 60);
}

#[test]
fn random_nests_on_random_arrays() {
    run_all(nests::draw, 250, 40);
}

#[test]
fn random_programs_on_random_arrays() {
    run_all(programs::draw, 60, 30);
}

#[test]
fn sizes_at_run_time() {
    run_all(sized::draw, 60, 40);
}

#[test]
fn kernels_for_gpus() {
    run_by(warps::run, warps::draw, 30, 30);
}

#[test]
fn several_functions_with_any_options() {
    run_whole(whole::draw, 60, 20);
}

#[test]
fn functions_on_one_array() {
    run_whole(whole::draw_merged, 40, 30);
}

/// Runs `count` inputs; at least `share` percent must not be refused.
fn run_whole(draw: fn(u64) -> whole::Whole, count: u64, share: u64) {
    let (first, count) = (setting("SAGEN_SEED", 1), setting("SAGEN_CASES", count));
    let cases: Vec<(u64, whole::Whole)> = (first..first + count).map(|seed| (seed, draw(seed))).collect();
    let verdicts = on_all_cores(&cases, |c| format!("case {}", c.0), |c| whole::run(&c.1));
    let mut ran = 0;
    for ((seed, whole), verdict) in cases.iter().zip(verdicts) {
        match verdict {
            Verdict::Equal => ran += 1,
            Verdict::Refused(why) if std::env::var("SAGEN_VERBOSE").is_ok() => {
                println!("{seed} refused: {why}\n{whole}")
            }
            Verdict::Refused(_) => {}
            Verdict::Wrong(why) => panic!("case {seed} (SAGEN_SEED={seed} SAGEN_CASES=1): {why}\n{whole}"),
        }
    }
    println!("{ran} of {count} ran");
    assert!(100 * ran >= share * count, "only {ran} of {count} were not refused");
}
