//! Random programs through random arrays: the netlist, simulated through its AXI ports, against the interpreter of the
//! program. Every element of every array and the memory around the arrays must agree bit for bit, the virtual systolic
//! array must verify, and with ideal memory the predicted cycles must be the simulated ones exactly.
//!
//! [`forms`] draws sizes, types and hand-written designs for known kernels; [`fuzz`] draws whole programs and takes any
//! of their legal arrays. Every case follows from its number: `SAGEN_SEED=n` starts at another, `SAGEN_CASES=n` sets how
//! many run. A failure prints the program and the options that show it.

#[path = "property/check.rs"]
mod check;
#[path = "property/forms.rs"]
mod forms;
#[path = "property/fuzz.rs"]
mod fuzz;

use check::{Case, Verdict};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|e| panic!("{name}: {e}")))
}

/// Runs `count` cases; at least `share` percent must not be refused.
fn run_all(draw: fn(u64) -> Case, count: u64, share: u64) {
    let first = number("SAGEN_SEED", 1);
    let count = number("SAGEN_CASES", count);
    let (mut ran, mut failures) = (0, vec![]);
    for seed in first..first + count {
        let case = draw(seed);
        match check::run(&case) {
            Verdict::Equal => ran += 1,
            Verdict::Refused(why) if std::env::var("SAGEN_VERBOSE").is_ok() => println!("case {seed} refused: {why}\n{case}"),
            Verdict::Refused(_) => {}
            Verdict::Wrong(why) => failures.push(format!("case {seed} (SAGEN_SEED={seed} SAGEN_CASES=1): {why}\n{case}")),
        }
    }
    println!("{ran} of {count} cases ran, {} failed", failures.len());
    assert!(failures.is_empty(), "{} of {count} cases fail\n{}", failures.len(), failures.join("\n"));
    assert!(100 * ran >= share * count, "only {ran} of {count} cases were not refused");
}

#[test]
fn known_kernels_with_random_designs() {
    run_all(forms::draw, 130, 70);
}

#[test]
fn random_programs_on_random_arrays() {
    run_all(fuzz::draw, 250, 40);
}
