//! Mutated programs: whatever the text, the front end answers with a scop that verifies or with faults that say
//! where they are; it never panics.

use crate::common::{examples, Random};
use frontend::diag::Severity;
use frontend::render_plain;
use frontend::{parse_text, ParseOptions};
use std::path::Path;

/// Programs that are accepted, and programs that are not.
fn sources() -> (Vec<String>, Vec<String>) {
    let refused = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/refuse");
    let mut refused: Vec<_> = std::fs::read_dir(refused).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_file()).collect();
    refused.sort();
    let read = |all: Vec<std::path::PathBuf>| all.iter().map(|p| std::fs::read_to_string(p).unwrap()).collect();
    (read(examples()), read(refused))
}

const PIECES: &[&str] = &[
    "(", ")", "[", "]", "{", "}", ";", ",", "#", "\n", "\"", "'", "/*", "*/", "//", "\\\n", "#if ", "#endif\n", "#define X X X\n", "for (", "if (", "else ", "int ", "0", "99999999999", "-", "? 1 :",
    "++", "=", "&&", "i", "N", "\n#pragma scop\n", "\n#pragma endscop\n", "é", "\0", "while (1)", "*", "% 3", "typedef ", "enum { ", "struct ", "/", "<<", "1e9", "...", "##",
];

fn mutate(random: &mut Random, text: &str, others: &[String]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() + 1);
        let to = (at + random.below(12)).min(bytes.len());
        match random.below(6) {
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

#[test]
fn no_text_makes_it_panic() {
    let cases = std::env::var("SAGEN_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(2000);
    let (good, bad) = sources();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..cases {
        let random = &mut Random::new(seed);
        let sources = if seed % 3 == 0 { &bad } else { &good };
        let source = random.pick(sources).clone();
        let text = mutate(random, &source, sources);
        match std::panic::catch_unwind(|| parse_text("tests/ok/mutant.c", &text, &ParseOptions::default())) {
            Err(_) => panic!("seed {seed}:\n{text}"),
            Ok(Ok((scop, _))) => {
                accepted += 1;
                assert!(!scop.to_string().is_empty());
            }
            Ok(Err((map, faults))) => {
                refused += 1;
                assert!(faults.iter().any(|f| f.severity == Severity::Error), "seed {seed}: refused without an error\n{text}");
                for f in &faults {
                    assert!(!f.message.is_empty() && (f.span.is_some() || f.help.is_some()), "seed {seed}: {f:?}");
                    if let Some(s) = f.span {
                        let length = map.files[s.file as usize].text.len() as u32;
                        assert!(s.start <= s.end && s.end <= length, "seed {seed}: {f:?}");
                    }
                }
                assert!(!render_plain(&map, &faults).is_empty());
            }
        }
    }
    println!("C programs: {accepted} accepted, {refused} refused");
    assert!(accepted > cases / 40 && refused > cases / 4, "{accepted} accepted, {refused} refused");
}
