//! Matrix product through every choice of space loops, tiles that do and do not divide, latency hiding and lanes, at
//! sizes down to one: the array that comes out verifies and its interpreter computes the product, modulo 2^32.

use crate::handover;
use array::vsa::Vsa;
use cost::board::Board;
use scop::Scop;
use uniform::design::{ArrayChoice, DesignSpec, Shape};

/// Rows, columns, terms.
const SIZES: [[i64; 3]; 6] = [[4, 4, 4], [5, 7, 3], [1, 6, 2], [3, 1, 5], [1, 1, 1], [2, 3, 11]];
const SPACES: [&[&str]; 9] =
    [&["i"], &["j"], &["k"], &["i", "j"], &["i", "k"], &["j", "k"], &["j", "i"], &["k", "i"], &["k", "j"]];

/// int8 operands, int32 results; `initial` is the statement before the sum.
fn product([i, j, k]: [i64; 3], initial: &str) -> Scop {
    let text = format!(
        "#include <stdint.h>\nvoid mm(int8_t A[{i}][{k}], int8_t B[{k}][{j}], int32_t C[{i}][{j}]) {{\n#pragma scop\n\
         for (int i = 0; i < {i}; i++)\nfor (int j = 0; j < {j}; j++) {{\n{initial}\n\
         for (int k = 0; k < {k}; k++)\nC[i][j] += A[i][k] * B[k][j];\n}}\n#pragma endscop\n}}\n"
    );
    match frontend::parse_text("mm.c", &text, &Default::default()) {
        Ok((scop, _)) => scop,
        Err((map, faults)) => panic!("{}", scop::render_plain(&map, &faults)),
    }
}

pub fn board() -> Board {
    Board::parse(include_str!("../../../../boards/u250.toml")).expect("the board file is well formed")
}

pub fn design(space: &[&str], tile: &[(&str, i64)], latency: &[(&str, i64)], simd: &[(&str, i64)]) -> DesignSpec {
    let factors = |list: &[(&str, i64)]| list.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    let space = space.iter().map(|s| s.to_string()).collect();
    DesignSpec::by_hand(
        space,
        Shape { tile: factors(tile), latency: factors(latency), simd: factors(simd), ..Shape::default() },
    )
}

/// Runs the array on operands that exercise the sign, and compares with plain loops.
fn multiplies(vsa: &Vsa, [rows, columns, terms]: [i64; 3], adds: bool) -> Result<(), String> {
    vsa.verify().map_err(|faults| faults.join("\n"))?;
    handover::check(vsa);
    let place = |name: &str| vsa.arrays.iter().position(|a| a.name == name).ok_or_else(|| format!("no array {name}"));
    let (a, b, c) = (place("A")?, place("B")?, place("C")?);
    let mut memory = vec![vec![]; vsa.arrays.len()];
    memory[a] = (0..rows * terms).map(|x| ((x * 7 + 3) as u64 * 29) & 0xff).collect();
    memory[b] = (0..terms * columns).map(|x| ((x * 13 + 5) as u64 * 31) & 0xff).collect();
    memory[c] = (0..rows * columns).map(|x| (0xffff_fff0 + x as u64) & 0xffff_ffff).collect();
    let before = memory.clone();
    array::interp::run(vsa, &mut memory)?;
    for (r, s) in (0..rows).flat_map(|r| (0..columns).map(move |s| (r, s))) {
        let at = (r * columns + s) as usize;
        let mut sum = if adds { before[c][at] as u32 as i32 } else { 0 };
        for t in 0..terms {
            let factors =
                (before[a][(r * terms + t) as usize] as u8 as i8, before[b][(t * columns + s) as usize] as u8 as i8);
            sum = sum.wrapping_add(factors.0 as i32 * factors.1 as i32);
        }
        if memory[c][at] != sum as u32 as u64 {
            return Err(format!("C[{r}][{s}] is {:x}, not {:x}", memory[c][at], sum as u32));
        }
    }
    Ok(())
}

/// One design for all spaces and sizes, with a sum from zero and one added to what is there.
fn all_spaces(change: impl Fn(&[&str]) -> DesignSpec) {
    let mut faults = vec![];
    let mut built = 0;
    for size in SIZES {
        for (initial, adds) in [("C[i][j] = 0;", false), ("", true)] {
            let scop = product(size, initial);
            for space in SPACES {
                let spec = change(space);
                // Partial sums cannot stay on chip in every order: such a design is refused, not built wrong.
                let Ok(compiled) = search::compile(&scop, &spec, &board()) else { continue };
                built += 1;
                if let Err(why) = multiplies(&compiled.vsa, size, adds) {
                    faults.push(format!("{size:?} adds {adds} {spec:?}: {why}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{} of {built} arrays are wrong:\n{}", faults.len(), faults.join("\n"));
    assert_eq!(built, SIZES.len() * 2 * SPACES.len(), "some designs were refused");
}

#[test]
fn whole_problem_on_the_array() {
    all_spaces(|space| design(space, &[], &[], &[]));
}

#[test]
fn tiles_of_two_loops() {
    all_spaces(|space| design(space, &[("i", 2), ("j", 3)], &[], &[]));
}

#[test]
fn tiles_of_all_loops() {
    all_spaces(|space| design(space, &[("i", 2), ("j", 3), ("k", 2)], &[], &[]));
}

#[test]
fn latency_hiding_and_lanes() {
    all_spaces(|space| design(space, &[("i", 4), ("j", 4), ("k", 2)], &[("i", 2), ("j", 2)], &[("k", 2)]));
}

#[test]
fn loops_reordered() {
    let order = |space: &[&str]| {
        let mut spec = design(space, &[("i", 4), ("j", 4)], &[("j", 2)], &[("k", 3)]);
        let ArrayChoice::ByHand { shape, .. } = &mut spec.array else { unreachable!() };
        shape.order = Some(["j", "i", "k"].map(String::from).to_vec());
        spec
    };
    all_spaces(order);
}

/// A's rows are one long row where a tile reads them whole, also where it runs past the end.
#[test]
fn rows_read_whole() {
    for (size, k, dimensions) in [([8, 8, 8], 8, 1), ([7, 5, 9], 9, 1), ([8, 8, 256], 16, 2)] {
        let scop = product(size, "C[i][j] = 0;");
        let spec = design(&["i", "j"], &[("i", 4), ("j", 4), ("k", k)], &[], &[]);
        let vsa = search::compile(&scop, &spec, &board()).expect("a product maps").vsa;
        let views: Vec<(&str, usize)> =
            vsa.inputs.iter().map(|g| (&vsa.arrays[g.array as usize].name[..], g.footprint.view.len())).collect();
        assert!(views.contains(&("A", dimensions)), "{size:?}: {views:?}");
        multiplies(&vsa, size, false).unwrap_or_else(|why| panic!("{size:?}: {why}"));
    }
}

#[test]
fn every_row_of_the_map() {
    for size in SIZES {
        let scop = product(size, "C[i][j] = 0;");
        let rows = search::enumerate(&scop, &DesignSpec::default()).expect("a product maps");
        assert!(rows.len() >= 6, "{size:?}: {} rows", rows.len());
        for row in rows {
            multiplies(&row.vsa, size, false).unwrap_or_else(|why| panic!("{size:?} {:?}: {why}", row.axes));
        }
    }
}

#[test]
fn polysa_projects_the_product_in_seven_directions() {
    let scop = product([4, 5, 3], "C[i][j] = 0;");
    let rows = search::enumerate(&scop, &DesignSpec::default()).expect("arrays");
    let mut directions: Vec<Vec<i64>> = rows.into_iter().filter_map(|row| row.projection).collect();
    directions.sort();
    let all: Vec<Vec<i64>> =
        (1..8).map(|bits| [4, 2, 1].iter().map(|bit| i64::from(bits & bit != 0)).collect()).collect();
    assert_eq!(directions, all);
}

/// Of how many bytes the address of `x` is a multiple, in a sum over `x[rows][columns]` of int32.
fn alignment(rows: &str, columns: i64, word: u32, unaligned: bool) -> u32 {
    let (maximum, size) = if rows == "n" { ("#pragma sagen max(n=12)\n", "int n, ") } else { ("", "") };
    let text = format!(
        "#include <stdint.h>\n{maximum}void sums({size}const int32_t x[{rows}][{columns}], int32_t y[{rows}]) {{\n#pragma scop\n\
         for (int i = 0; i < {rows}; i++) {{\ny[i] = 0;\nfor (int j = 0; j < {columns}; j++)\ny[i] += x[i][j];\n}}\n\
         #pragma endscop\n}}\n"
    );
    let (scop, _) = frontend::parse_text("sums.c", &text, &Default::default())
        .unwrap_or_else(|(map, faults)| panic!("{}", scop::render_plain(&map, &faults)));
    let mut spec = design(&["i"], &[("i", 2)], &[], &[]);
    spec.wiring.word = [("x".into(), word)].into();
    spec.wiring.unaligned = unaligned.then_some(true);
    let vsa = search::compile(&scop, &spec, &board()).expect("it can be mapped").vsa;
    let x = vsa.arrays.iter().position(|a| a.name == "x").expect("it is read");
    array::contract::walk::alignment(&vsa, x)
}

/// An array begins a bus word where all of its rows do (joined ones are one), it has no rest behind its last word, and
/// words are not longer than what allocators align to.
#[test]
fn addresses_are_multiples_of_words_where_engines_gain() {
    for (rows, columns, word, unaligned, bytes) in [
        ("8", 16, 16, false, 64),
        ("8", 16, 16, true, 4),
        ("n", 16, 16, false, 64),
        ("8", 16, 4, false, 16),
        ("8", 12, 8, false, 32),
        ("n", 12, 4, false, 16),
        ("8", 32, 32, false, 4),
        ("1", 24, 16, false, 4),
        ("1", 24, 8, false, 32),
        ("n", 6, 4, false, 4),
    ] {
        assert_eq!(alignment(rows, columns, word, unaligned), bytes, "{rows} rows of {columns} in words of {word}");
    }
}
