//! Random cases of all kinds until the time is up, each from a number of its own; what goes wrong is made smaller and
//! kept.
//!
//! `SAGEN_SECONDS` is how long, `SAGEN_CASES` how many at most, `SAGEN_SEED` the first number, `SAGEN_JOBS` how many at
//! a time, `SAGEN_LIMIT` after how many seconds a case counts as hanging, `SAGEN_FOUND` the folder for what was found.

use super::check::{self, Case, Verdict};
use super::{forms, nests, programs, shrink, sized, warps, whole};
use crate::common::{root, setting};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

/// Case number `seed` of all kinds together; most are whole programs. Some run on Icarus, where it is installed.
fn draw(seed: u64) -> Case {
    static ICARUS: LazyLock<bool> =
        LazyLock::new(|| std::process::Command::new("iverilog").arg("-V").output().is_ok_and(|o| o.status.success()));
    let case = match seed % 8 {
        0 => forms::draw(seed),
        1 => nests::draw(seed),
        2 => sized::draw(seed),
        _ => programs::draw(seed),
    };
    let engine = if seed % 200 == 7 && *ICARUS { " --engine icarus" } else { "" };
    Case { options: case.options.clone() + engine, ..case }
}

/// What a number is: one in nine is a whole input, one a kernel for a GPU, the others are single programs.
enum Kind {
    Whole(whole::Whole),
    Single(Case, fn(&Case) -> Verdict),
}

fn kind_of(seed: u64) -> Kind {
    match seed % 9 {
        4 => Kind::Whole(whole::draw(seed)),
        7 => Kind::Single(warps::draw(seed), warps::run),
        _ => Kind::Single(draw(seed), check::run),
    }
}

fn answer(seed: u64) -> Verdict {
    match kind_of(seed) {
        Kind::Whole(whole) => whole::run(&whole),
        Kind::Single(case, run) => run(&case),
    }
}

/// The text of a case.
fn shown(seed: u64) -> String {
    match kind_of(seed) {
        Kind::Whole(whole) => whole.to_string(),
        Kind::Single(case, _) => case.to_string(),
    }
}

/// What a worker tells.
enum Event {
    Begun(usize, u64),
    Ended(usize, u64, Verdict),
}

#[derive(Default)]
struct Summary {
    equal: u64,
    /// By the code of the first fault.
    refused: BTreeMap<String, u64>,
    found: Vec<String>,
}

/// Takes numbers until there are no more.
fn work(worker: usize, next: Arc<AtomicU64>, end: (Instant, u64), events: Sender<Event>) {
    while Instant::now() < end.0 {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end.1 || events.send(Event::Begun(worker, seed)).is_err() {
            return;
        }
        let verdict = answer(seed);
        if events.send(Event::Ended(worker, seed, verdict)).is_err() {
            return;
        }
    }
}

/// What a failure is about, so that a smaller case shows the same one.
fn kind(verdict: &Verdict) -> Option<String> {
    let Verdict::Wrong(why) = verdict else { return None };
    Some(why.chars().take_while(|c| !c.is_ascii_digit() && *c != '\n').take(40).collect())
}

/// Writes the smallest case found that goes wrong as `seed` does.
fn keep(seed: u64, verdict: &Verdict, folder: &PathBuf) -> String {
    let (small, again) = match kind_of(seed) {
        Kind::Whole(_) => (shown(seed), answer(seed)),
        Kind::Single(case, run) => {
            let wanted = kind(verdict);
            let small = shrink::shrink(&case, 400, |c| kind(&run(c)) == wanted);
            (small.to_string(), run(&small))
        }
    };
    let why = match again {
        Verdict::Wrong(why) => why,
        other => format!("not seen again: {other:?}"),
    };
    let file = folder.join(format!("found_{seed}.c"));
    let comment: String = why.lines().take(12).map(|l| format!("// {l}\n")).collect();
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, format!("{comment}{small}")));
    format!(
        "{seed}: {}{}",
        why.lines().next().unwrap_or_default(),
        written.map_or_else(|e| format!(" ({e})"), |()| format!(" -> {}", file.display()))
    )
}

#[test]
#[ignore = "runs for SAGEN_SECONDS; started by scripts/soak.sh"]
fn soak() {
    let first = setting("SAGEN_SEED", 1);
    let end = (
        Instant::now() + Duration::from_secs(setting("SAGEN_SECONDS", 60)),
        first.saturating_add(setting("SAGEN_CASES", u64::MAX)),
    );
    let limit = Duration::from_secs(setting("SAGEN_LIMIT", 120));
    let folder = std::env::var("SAGEN_FOUND").map_or_else(|_| root("target/soak"), PathBuf::from);
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let next = Arc::new(AtomicU64::new(first));
    let (sender, events) = channel();
    let mut running: BTreeMap<usize, (u64, Instant)> = BTreeMap::new();
    let mut workers = 0;
    let start = |workers: &mut usize| {
        let (id, next, sender) = (*workers, next.clone(), sender.clone());
        *workers += 1;
        std::thread::spawn(move || work(id, next, end, sender));
    };
    (0..setting("SAGEN_JOBS", cores)).for_each(|_| start(&mut workers));
    let mut summary = Summary::default();
    let mut idle = 0;
    loop {
        match events.recv_timeout(Duration::from_secs(1)) {
            Ok(Event::Begun(worker, seed)) => drop(running.insert(worker, (seed, Instant::now()))),
            Ok(Event::Ended(worker, seed, verdict)) => {
                // A worker that was given up has been counted.
                let Some(_) = running.remove(&worker) else { continue };
                match &verdict {
                    Verdict::Equal => summary.equal += 1,
                    Verdict::Refused(why) => {
                        *summary.refused.entry(why.split(' ').next().unwrap_or_default().into()).or_default() += 1
                    }
                    Verdict::Wrong(_) => {
                        let found = keep(seed, &verdict, &folder);
                        println!("FOUND {found}");
                        summary.found.push(found);
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) if running.is_empty() => idle += 1,
            Err(_) => {}
        }
        let hanging: Vec<usize> = running.iter().filter(|r| r.1 .1.elapsed() > limit).map(|r| *r.0).collect();
        for worker in hanging {
            let (seed, _) = running.remove(&worker).expect("it is running");
            let file = folder.join(format!("slow_{seed}.c"));
            let _ = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, shown(seed)));
            let found = format!("{seed}: not done after {} s -> {}", limit.as_secs(), file.display());
            println!("FOUND {found}");
            summary.found.push(found);
            start(&mut workers);
        }
        let over = Instant::now() >= end.0 || next.load(Ordering::Relaxed) >= end.1;
        if over && running.is_empty() && idle > 1 {
            break;
        }
    }
    let refused: u64 = summary.refused.values().sum();
    println!(
        "soak: cases {first} to {}: {} equal, {refused} refused, {} found",
        next.load(Ordering::Relaxed),
        summary.equal,
        summary.found.len()
    );
    summary.refused.iter().for_each(|(code, count)| println!("  {code} {count}"));
    assert!(summary.found.is_empty(), "{}", summary.found.join("\n"));
}
