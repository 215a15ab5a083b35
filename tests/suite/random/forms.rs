//! Known kernels with random sizes, element types and hand-written designs.

use super::check::Case;
use sagen::data::Random;
use std::fmt::Write as _;

/// A kernel: its loops with the names of their bounds, parameters and body. `T`, `U` and `R` stand for element types.
struct Form {
    /// Loop and the macro that bounds it.
    loops: &'static [(&'static str, &'static str)],
    parameters: &'static str,
    body: &'static str,
}

const FORMS: &[Form] = &[
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NI][NK], U B[NK][NJ], R C[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) \
            { C[i][j] = 0; for (int k = 0; k < NK; k++) C[i][j] += A[i][k] * B[k][j]; }",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NI][NK], U B[NK][NJ], R C[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) for (int k = 0; k < NK; k++) C[i][j] += \
            A[i][k] * B[k][j];",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NI][NK], U B[NJ][NK], R C[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) for (int k = 0; k < NK; k++) C[i][j] += \
            A[i][k] * B[j][k];",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NK][NI], U B[NJ][NK], R C[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) \
            { R s = 0; for (int k = 0; k < NK; k++) s += A[k][i] * B[j][k]; C[i][j] = s; }",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NI][NK], U B[NK][NJ], R C[NJ][NI]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) \
            { C[j][i] = 5; for (int k = 0; k < NK; k++) C[j][i] = C[j][i] - A[i][k] * B[k][j]; }",
    },
    Form {
        loops: &[("b", "NB"), ("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NB][NI][NK], U B[NB][NK][NJ], R C[NB][NI][NJ]",
        body: "for (int b = 0; b < NB; b++) for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) \
            { C[b][i][j] = 0; for (int k = 0; k < NK; k++) C[b][i][j] += A[b][i][k] * B[b][k][j]; }",
    },
    Form {
        loops: &[("n", "NI"), ("t", "NK")],
        parameters: "T x[NI + NK - 1], U w[NK], R y[NI]",
        body: "for (int n = 0; n < NI; n++) { y[n] = 0; for (int t = 0; t < NK; t++) y[n] += x[n + t] * w[t]; }",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("p", "NP"), ("q", "NK")],
        parameters: "T x[NI + NP - 1][NJ + NK - 1], U w[NP][NK], R y[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) \
            { y[i][j] = 0; for (int p = 0; p < NP; p++) for (int q = 0; q < NK; q++) y[i][j] += x[i + p][j + q] * w[p][q]; }",
    },
    Form {
        loops: &[("i", "NI"), ("k", "NK")],
        parameters: "T A[NI][NK], U x[NK], R y[NI]",
        body: "for (int i = 0; i < NI; i++) { y[i] = 0; for (int k = 0; k < NK; k++) y[i] += A[i][k] * x[k]; }",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ")],
        parameters: "T x[NI], U y[NJ], R C[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) C[i][j] += x[i] * y[j];",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK")],
        parameters: "T A[NI][NK], R C[NI][NI]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j <= i; j++) \
            { C[i][j] = 0; for (int k = 0; k < NK; k++) C[i][j] += A[i][k] * A[j][k]; }",
    },
    Form {
        loops: &[("i", "NI"), ("j", "NJ"), ("k", "NK"), ("l", "NB")],
        parameters: "T A[NI][NK][NB], U B[NK][NJ], T C[NB][NJ], R D[NI][NJ]",
        body: "for (int i = 0; i < NI; i++) for (int j = 0; j < NJ; j++) \
            { D[i][j] = 0; for (int k = 0; k < NK; k++) for (int l = 0; l < NB; l++) D[i][j] += A[i][k][l] * B[k][j] * C[l][j]; }",
    },
];

const TYPES: &[[&str; 3]] = &[
    ["uint8_t", "uint8_t", "int64_t"],
    ["int16_t", "int16_t", "int16_t"],
    ["int8_t", "int8_t", "int32_t"],
    ["int16_t", "int16_t", "int32_t"],
    ["int32_t", "int32_t", "int32_t"],
    ["uint8_t", "int8_t", "int32_t"],
    ["int16_t", "int16_t", "int64_t"],
    ["uint16_t", "uint8_t", "uint32_t"],
];

/// A value of a list.
fn pick<'a, T>(random: &mut Random, list: &'a [T]) -> &'a T {
    &list[random.below(list.len() as u64) as usize]
}

/// Case number `seed`.
pub fn draw(seed: u64) -> Case {
    let random = &mut Random(seed.wrapping_mul(0x9e37_79b9));
    let form = pick(random, FORMS);
    let [t, u, r] = pick(random, TYPES);
    let sizes: &[i64] = match (form.loops.len(), random.below(3)) {
        (4.., _) => &[1, 2, 3, 4, 5],
        (_, 0) => &[1, 8, 11, 13, 16, 17, 20],
        _ => &[1, 2, 3, 4, 5, 6, 7, 9],
    };
    let bounds: Vec<i64> = form.loops.iter().map(|_| *pick(random, sizes)).collect();
    let mut text = format!("#include <stdint.h>\n#define T {t}\n#define U {u}\n#define R {r}\n");
    form.loops.iter().zip(&bounds).for_each(|((_, name), value)| text += &format!("#define {name} {value}\n"));
    text += &format!("void kernel({}) {{\n#pragma scop\n{}\n#pragma endscop\n}}\n", form.parameters, form.body);
    let memory = ["--memory ddr ", "--memory ideal:200 "].get(random.below(5) as usize).copied().unwrap_or("");
    let shift = if random.below(6) == 0 { random.below(40) as usize } else { 0 };
    let pack = if seed % 4 == 1 { " --pack" } else { "" };
    let options = format!("{memory}--seed {seed}{pack}{}", design(form, &bounds, random));
    Case { seed, text, options, row: None, shift, native: seed.is_multiple_of(10) }
}

/// Random space loops; tile, latency and lanes in some of the designs, with factors that need not divide anything; a
/// quarter is left to sagen.
fn design(form: &Form, bounds: &[i64], random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(4) == 0 {
        return text;
    }
    let mut names: Vec<&str> = form.loops.iter().map(|(l, _)| *l).collect();
    shuffle(&mut names, random);
    let _ = write!(text, " --space {}", names[..1 + random.below(2) as usize].join(","));
    let factor = |random: &mut Random, limit: i64| 1 + random.below(limit.clamp(1, 12) as u64) as i64;
    if random.below(3) > 0 {
        for ((name, _), &bound) in form.loops.iter().zip(bounds) {
            let tile = factor(random, bound + 2);
            if random.below(3) > 0 {
                let _ = write!(text, " --tile {name}={tile}");
            }
            if random.below(4) == 0 {
                let _ = write!(text, " --latency {name}={}", factor(random, tile));
            }
        }
    }
    if random.below(4) == 0 {
        let _ = write!(text, " --simd {}={}", pick(random, form.loops).0, 2 + random.below(3));
    }
    if random.below(4) == 0 {
        shuffle(&mut names, random);
        let _ = write!(text, " --order {}", names.join(","));
    }
    text
}

fn shuffle(names: &mut [&str], random: &mut Random) {
    (1..names.len()).rev().for_each(|i| names.swap(i, random.below(i as u64 + 1) as usize));
}
