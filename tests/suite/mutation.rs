//! Damaged input files: `.npy` files, design files, boards and texts of stages with random edits are read or refused,
//! and never anything else. `scripts/million.sh` reads a million of each; a case is its number.

use crate::common::{caught, root, setting};
use cost::board::Board;
use sagen::data::Random;
use sagen::npy::Npy;
use uniform::design::DesignSpec;

/// Text that means something to one of the readers.
const WORDS: [&str; 40] = [
    "0",
    "-1",
    "1",
    "64",
    "99999999999999999999",
    "18446744073709551615",
    "-9223372036854775808",
    "1e999",
    "nan",
    "-inf",
    "true",
    "\"",
    "'",
    "\"\"\"",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ",",
    ".",
    "#",
    "\n",
    "\0",
    "\u{feff}",
    "é",
    "tile",
    "space",
    "row",
    "ports",
    "A+B",
    "[[memory]]",
    "[resources]",
    "(",
    ")",
    "'shape'",
    "'descr'",
    "<f8",
    "True",
];

fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let pick = |random: &mut Random, n: usize| random.below(n.max(1) as u64) as usize;
    let mut bytes = corpus[pick(random, corpus.len())].clone();
    for _ in 0..1 + random.below(4) {
        let at = pick(random, bytes.len() + 1);
        let end = (at + pick(random, 12)).min(bytes.len());
        let piece: Vec<u8> = match random.below(6) {
            0 => vec![],
            1 => vec![random.draw() as u8],
            2 => WORDS[pick(random, WORDS.len())].as_bytes().to_vec(),
            3 => bytes[at..end].repeat(2 + pick(random, 3)),
            4 => {
                let other = &corpus[pick(random, corpus.len())];
                let from = pick(random, other.len());
                other[from..(from + pick(random, 40)).min(other.len())].to_vec()
            }
            _ => bytes[at..end].iter().map(|b| b ^ 1 << random.below(8)).collect(),
        };
        let end = if random.below(3) == 0 { at } else { end };
        bytes.splice(at..end, piece);
    }
    if random.below(8) == 0 {
        bytes.truncate(pick(random, bytes.len() + 1));
    }
    bytes
}

/// Reads many mutants of `corpus`; at least one is accepted and one refused, or nothing is tested.
fn survive(kind: &str, corpus: Vec<Vec<u8>>, read: impl Fn(&[u8]) -> Result<(), String>) {
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..setting("SAGEN_CASES", 3000) {
        let mutant = mutated(&corpus, &mut Random(case));
        match caught(|| Ok(read(&mutant))) {
            Ok(Ok(())) => accepted += 1,
            Ok(Err(why)) if why.starts_with("WRONG") || why.trim().is_empty() => {
                panic!("case {case}: {why}\n{}", String::from_utf8_lossy(&mutant))
            }
            Ok(Err(_)) => refused += 1,
            Err(why) => panic!("case {case}: {why}\n{}", String::from_utf8_lossy(&mutant)),
        }
    }
    println!("{kind}: {accepted} accepted, {refused} refused");
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

fn demand(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds {
        Ok(())
    } else {
        Err(format!("WRONG: {}", what()))
    }
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|e| e.to_string())
}

#[test]
fn arrays_of_numpy() {
    let file = |kind, size: usize, shape: Vec<usize>| {
        let elements: usize = shape.iter().product();
        Npy { kind, size, shape, bytes: vec![7; elements * size] }.to_bytes()
    };
    let header = b"{'descr': '>u2', 'fortran_order': True, 'shape': (2, 2), }\n";
    let columns = [&b"\x93NUMPY\x02\x00"[..], &(header.len() as u32).to_le_bytes(), header, b"12345678"].concat();
    assert!(Npy::parse(&columns).is_ok());
    let corpus = vec![
        file('i', 2, vec![2, 3]),
        file('f', 8, vec![1]),
        file('u', 1, vec![]),
        file('b', 1, vec![3, 0, 2]),
        columns,
    ];
    survive(".npy files", corpus, |bytes| {
        let array = Npy::parse(bytes)?;
        demand(array.bytes.len() == array.size * array.shape.iter().product::<usize>(), || format!("{array:?}"))?;
        demand(Npy::parse(&array.to_bytes()) == Ok(array), || "it does not read back".into())
    });
}

#[test]
fn design_files() {
    let corpus = [
        "space = [\"i\", \"j.2\"]\norder = [\"k\", \"i\"]\ntile = { i = 64, j = 8 }\n[latency]\ni = 4\n",
        "row = 3\nsimd = { k = 2 }\nword = { A = 8 }\nports = [\"A+B\", \"C\"]\nspill_beyond = 100\n",
        "reassociate = true\nfp_contract = false\ndot = \"fused\"\nports = [\"shared\"]\n",
    ];
    survive("design files", corpus.iter().map(|c| c.as_bytes().to_vec()).collect(), |bytes| {
        let spec = DesignSpec::parse(text(bytes)?)?;
        demand(DesignSpec::parse(&spec.to_text()) == Ok(spec.clone()), || format!("{spec:?} does not read back"))
    });
}

#[test]
fn board_files() {
    let corpus =
        ["u250", "u280", "zcu104"].map(|name| std::fs::read(root(&format!("boards/{name}.toml"))).expect("a board"));
    survive("boards", corpus.to_vec(), |bytes| {
        let board = Board::parse(text(bytes)?)?;
        let counts = board.resources.counts();
        demand(board.clock_mhz > 0.0 && !board.memories().kinds.is_empty() && counts.iter().all(|&n| n >= 0), || {
            format!("{board:?}")
        })
    });
}

/// What `--emit` prints of every stage's tests.
fn stages() -> Vec<Vec<u8>> {
    let mut corpus: Vec<Vec<u8>> = vec![];
    for stage in ["scop", "ure", "mapping", "vsa"] {
        let mut files: Vec<_> = std::fs::read_dir(root(&format!("tests/stages/{stage}")))
            .expect("a folder")
            .map(|e| e.expect("an entry").path())
            .collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a text");
            let section =
                text.split("==== ").find_map(|part| part.strip_prefix(stage)?.strip_prefix('\n').map(str::to_string));
            corpus.push(section.expect("the stage's section").into_bytes());
        }
    }
    corpus
}

#[test]
fn texts_of_stages() {
    survive("texts of stages", stages(), |bytes| array::text::read("mutant", text(bytes)?).map(drop));
}

/// Numbers at the ends of 64 bits, one at a time in the place of each of a text's numbers, are read or refused.
#[test]
fn large_numbers_in_texts_of_stages() {
    for (k, whole) in stages().iter().enumerate() {
        let digit = |at: usize| whole[at].is_ascii_digit();
        let starts = (1..whole.len()).filter(|&at| digit(at) && !digit(at - 1) && !whole[at - 1].is_ascii_alphabetic());
        for (n, from) in starts.enumerate().filter(|(n, _)| n % 7 == k % 7) {
            let to = (from..whole.len()).find(|&at| !digit(at)).unwrap_or(whole.len());
            let number = ["9223372036854775807", "-9223372036854775808", "4611686018427387904"][n % 3];
            let mutant = [&whole[..from], number.as_bytes(), &whole[to..]].concat();
            let read = || text(&mutant).and_then(|t| array::text::read("mutant", t).map(drop));
            if let Err(why) = caught(|| Ok(read())) {
                panic!("{why}\n{}", String::from_utf8_lossy(&mutant));
            }
        }
    }
}
