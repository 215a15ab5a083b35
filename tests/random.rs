//! Matrix products of random sizes, types, forms and mappings, each through the C compiler, the VSA interpreter and the netlist: values
//! equal bit for bit, predicted cycles equal to simulated ones. A mapping that sagen refuses is counted, not failed;
//! most must be accepted. `SAGEN_CASES` sets the number of cases, `SAGEN_SEED` the first one.

use arch::ir::design::DesignSpec;
use sagen::data::{self, Random};
use sagen::sim::compare::compare;
use sagen::sim::{self, Job, Timing};
use sagen::{boards, golden, simulate};
use std::fmt::Write as _;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn pick<'a, T>(random: &mut Random, list: &'a [T]) -> &'a T {
    &list[random.below(list.len() as u64) as usize]
}

/// A program: C text of one of the forms people write.
fn program(random: &mut Random) -> String {
    let sizes = [1, 1, 2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 20];
    let (i, j, k) = (*pick(random, &sizes), *pick(random, &sizes), *pick(random, &sizes));
    let (input, output) = *pick(random, &[("int8_t", "int32_t"), ("int16_t", "int32_t"), ("int32_t", "int32_t"), ("uint8_t", "int64_t"), ("int16_t", "int16_t")]);
    let transposed = random.below(2) == 1;
    let (b_dims, b_at) = if transposed { (format!("[{j}][{k}]"), "B[j][k]") } else { (format!("[{k}][{j}]"), "B[k][j]") };
    let body = match random.below(3) {
        0 => format!("C[i][j] = 0;\n for (int k = 0; k < {k}; k++)\n  C[i][j] += A[i][k] * {b_at};\n"),
        1 => format!("for (int k = 0; k < {k}; k++)\n  C[i][j] += A[i][k] * {b_at};\n"),
        _ => format!("{output} s = 0;\n for (int k = 0; k < {k}; k++)\n  s += A[i][k] * {b_at};\n C[i][j] = s;\n"),
    };
    format!(
        "#include <stdint.h>\nvoid mm({input} A[{i}][{k}], {input} B{b_dims}, {output} C[{i}][{j}]) {{\n#pragma scop\n\
         for (int i = 0; i < {i}; i++)\n for (int j = 0; j < {j}; j++) {{\n {body} }}\n#pragma endscop\n}}\n"
    )
}

/// A mapping by hand, with factors that need not divide anything; sometimes none at all.
fn design(random: &mut Random) -> DesignSpec {
    let mut spec = DesignSpec::default();
    if random.below(8) == 0 {
        return spec;
    }
    let spaces: [&[&str]; 6] = [&["i"], &["j"], &["k"], &["i", "j"], &["i", "k"], &["j", "k"]];
    let space = *pick(random, &spaces);
    spec.space = Some(space.iter().map(|s| s.to_string()).collect());
    for name in ["i", "j", "k"] {
        if random.below(2) == 0 {
            spec.tile.push((name.into(), 1 + random.below(9) as i64));
        }
        if space.contains(&name) && random.below(3) == 0 {
            spec.latency.push((name.into(), 1 + random.below(4) as i64));
        }
    }
    if random.below(3) == 0 {
        spec.simd.push(("k".into(), 1 + random.below(4) as i64));
    }
    if random.below(3) == 0 {
        let orders = [["i", "j", "k"], ["j", "i", "k"], ["k", "i", "j"], ["i", "k", "j"], ["k", "j", "i"], ["j", "k", "i"]];
        spec.order = Some(pick(random, &orders).iter().map(|s| s.to_string()).collect());
    }
    spec
}

/// `Ok(false)`: the mapping was refused.
fn case(text: &str, spec: &DesignSpec, seed: u64) -> Result<bool, String> {
    let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let file = dir.path().join("mm.c");
    std::fs::write(&file, text).map_err(|e| e.to_string())?;
    let options = frontend::ParseOptions::default();
    let (scop, _) = frontend::parse(&file, &options).map_err(|(_, f)| format!("{f:?}"))?;
    let board = boards::find("u250")?;
    let compiled = match arch::compile(&scop, spec, &board) {
        Ok(compiled) => compiled,
        Err(faults) if faults.iter().any(|f| f.code == "E0799") => return Err(format!("{faults:?}")),
        Err(_) => return Ok(false),
    };
    let vsa = &compiled.vsa;
    let places = data::places(&scop, vsa)?;
    let native = golden::run(&scop, &file, &options, &data::random(&scop, seed)).map_err(|f| f.to_string())?;
    let expected: Vec<Vec<u64>> = places.iter().map(|&p| native.after[p].clone()).collect();
    if simulate::execute(vsa, &native.before, &places)? != expected {
        return Err("the VSA interpreter differs from C".into());
    }
    let contents: Vec<_> = places.iter().zip(&vsa.arrays).map(|(&p, a)| data::pack(&native.before[p], a.ty)).collect();
    let design = templates::ip(vsa)?;
    let predicted = compiled.report.prediction.cycles as u64;
    let timing = if seed % 4 == 3 { Timing::Ddr { seed } } else { Timing::Ideal };
    let job = Job { design: &design, vsa, images: sim::place(vsa, &contents, 0, seed), timing, watchdog: 20 * predicted + 100_000, vcd: None };
    let outcome = simulate::simulate(&job, sagen::cli::Engine::Builtin)?;
    let comparison = compare(vsa, &job.images, &outcome, &expected);
    if !outcome.finished || !outcome.faults.is_empty() || comparison.mismatches > 0 {
        return Err(format!("finished {}, {:?}, {comparison:?}", outcome.finished, outcome.faults));
    }
    if timing == Timing::Ideal && outcome.cycles != predicted {
        return Err(format!("{predicted} cycles predicted, {} simulated", outcome.cycles));
    }
    Ok(true)
}

#[test]
fn random_products_on_random_arrays() {
    let (cases, first) = (setting("SAGEN_CASES", 300), setting("SAGEN_SEED", 1));
    let (mut accepted, mut failures) = (0, String::new());
    for seed in first..first + cases {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_97f4_a7c1));
        let (text, spec) = (program(&mut random), design(&mut random));
        match case(&text, &spec, seed) {
            Ok(done) => accepted += done as u64,
            Err(why) => {
                let _ = writeln!(failures, "seed {seed}: {why}\n{spec:?}\n{text}");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(2 * accepted > cases, "only {accepted} of {cases} designs were accepted");
}
