//! Mutated programs: for any text the front end returns a scop that verifies, or faults with their places. It never
//! panics.

use crate::common::{examples, Random};
use frontend::{parse_text, ParseOptions};
use scop::diag::Severity;
use scop::render_plain;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Programs that are accepted, and programs that are not.
fn sources() -> (Vec<String>, Vec<String>) {
    let refused = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/refuse");
    let mut refused: Vec<_> =
        std::fs::read_dir(refused).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    refused.sort();
    let read = |all: Vec<std::path::PathBuf>| all.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect();
    (read(examples()), read(refused))
}

const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    "#",
    "\n",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\\\n",
    "#if ",
    "#endif\n",
    "#define X X X\n",
    "for (",
    "if (",
    "else ",
    "int ",
    "0",
    "99999999999",
    "-",
    "? 1 :",
    "++",
    "=",
    "&&",
    "i",
    "N",
    "\n#pragma scop\n",
    "\n#pragma endscop\n",
    "é",
    "\0",
    "while (1)",
    "*",
    "% 3",
    "typedef ",
    "enum { ",
    "struct ",
    "/",
    "<<",
    "1e9",
    "...",
    "##",
];

/// The word or sign at or behind a place.
fn token(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let start = (at..bytes.len()).find(|&k| !bytes[k].is_ascii_whitespace()).unwrap_or(bytes.len());
    let is_word = |k: &usize| bytes[*k].is_ascii_alphanumeric() || bytes[*k] == b'_';
    let end = (start..bytes.len()).take_while(is_word).last().map_or((start + 1).min(bytes.len()), |k| k + 1);
    start..end
}

fn mutate(random: &mut Random, text: &str, others: &[String]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() + 1);
        let to = (at + random.below(12)).min(bytes.len());
        match random.below(9) {
            6 if random.below(4) == 0 => bytes.truncate(at),
            7 => drop(bytes.drain(token(&bytes, at))),
            8 => {
                let (one, other) = (token(&bytes, at), token(&bytes, random.below(bytes.len() + 1)));
                let (first, last) = if one.start <= other.start { (one, other) } else { (other, one) };
                if first.end <= last.start {
                    let pieces = [&bytes[last.clone()], &bytes[first.end..last.start], &bytes[first.clone()]].concat();
                    bytes.splice(first.start..last.end, pieces);
                }
            }
            0 => drop(bytes.drain(at..to)),
            1 => drop(bytes.splice(at..at, random.pick(PIECES).bytes())),
            2 => drop(bytes.splice(at..to, random.pick(PIECES).bytes())),
            3 if at < bytes.len() => bytes[at] = random.bits() as u8,
            4 => {
                let piece = bytes[at..to].to_vec();
                let target = random.below(bytes.len() + 1);
                bytes.splice(target..target, piece);
            }
            _ => {
                let other = random.pick(others).as_bytes();
                let start = random.below(other.len());
                let end = (start + random.below(60)).min(other.len());
                bytes.splice(at..at, other[start..end].iter().copied());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether mutant `seed` is accepted.
fn read(seed: u64, good: &[String], bad: &[String]) -> bool {
    let random = &mut Random::new(seed);
    let sources = if seed.is_multiple_of(3) { bad } else { good };
    let source = random.pick(sources).clone();
    let text = mutate(random, &source, sources);
    match std::panic::catch_unwind(|| parse_text("tests/ok/mutant.c", &text, &ParseOptions::default())) {
        Err(_) => panic!("seed {seed}:\n{text}"),
        Ok(Ok((scop, _))) => {
            assert!(!scop.to_string().is_empty());
            true
        }
        Ok(Err((map, faults))) => {
            assert!(
                faults.iter().any(|f| f.severity == Severity::Error),
                "seed {seed}: refused without an error\n{text}"
            );
            for f in &faults {
                assert!(!f.message.is_empty() && (f.span.is_some() || f.help.is_some()), "seed {seed}: {f:?}");
                if let Some(s) = f.span {
                    let length = map.files[s.file as usize].text.len() as u32;
                    assert!(s.start <= s.end && s.end <= length, "seed {seed}: {f:?}");
                }
            }
            assert!(!render_plain(&map, &faults).is_empty());
            false
        }
    }
}

#[test]
fn no_text_makes_it_panic() {
    let cases: u64 = std::env::var("SAGEN_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(2000);
    let (good, bad) = sources();
    let (next, accepted) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= cases {
            break;
        }
        let begun = Instant::now();
        accepted.fetch_add(u64::from(read(seed, &good, &bad)), Ordering::Relaxed);
        if begun.elapsed().as_secs() > 4 {
            println!("C programs: seed {seed} took {:.1} s", begun.elapsed().as_secs_f64());
        }
        if seed > 0 && seed.is_multiple_of(100_000) {
            println!("C programs: {seed} of {cases}");
        }
    };
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            s.spawn(work);
        }
    });
    let accepted = accepted.into_inner();
    let refused = cases - accepted;
    println!("C programs: {accepted} accepted, {refused} refused");
    assert!(accepted > cases / 40 && refused > cases / 4, "{accepted} accepted, {refused} refused");
}
