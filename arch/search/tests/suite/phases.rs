//! Programs that run in phases: their recurrences are verified, parse back from their text, and compute what the
//! program does.

use array::text::Stage;
use frontend::ParseOptions;
use scop::diag::Diagnostics;
use scop::Scop;
use std::path::Path;
use uniform::design::DesignSpec;

/// Contents of all arrays, small numbers of their types.
fn contents(scop: &Scop) -> Vec<Vec<u64>> {
    let mut state = 1u64;
    let mut number = |ty: scop::ScalarType| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let small = (state >> 40) as i64 % 64 - 20;
        if ty.is_float() {
            scop::value::from_f64(small as f64 / 8.0 + 3.0, ty)
        } else {
            small as u64 & scop::value::mask(ty.bits())
        }
    };
    scop.arrays.iter().map(|a| (0..a.dims.iter().product::<i64>()).map(|_| number(a.ty)).collect()).collect()
}

fn check(file: &Path) -> Result<(), String> {
    let said = |faults: Diagnostics| {
        faults.iter().map(|f| format!("{}: {}; {}", f.code, f.message, f.label)).collect::<Vec<_>>().join("\n  ")
    };
    let (scop, _) = frontend::parse(file, &ParseOptions::default()).map_err(|(_, f)| said(f))?;
    let program = search::program(&scop, &DesignSpec::default()).map_err(said)?;
    let (form, system) = (&program.scop, &program.system);
    let text = uniform::text::system(form, system);
    match array::text::read("x.ure", &text)? {
        Stage::System(s, u) if s.to_string() == form.to_string() && u == *system => {}
        _ => return Err("the text reads back as something else".into()),
    }
    let (mut expected, mut found) = (scop::interp::Memory { arrays: contents(&scop) }, contents(&scop));
    scop::interp::run(&scop, &mut expected)?;
    uniform::interp::run_system(form, system, &mut found)?;
    let differing = expected
        .arrays
        .iter()
        .zip(&found)
        .zip(&scop.arrays)
        .filter(|((e, f), a)| a.storage == scop::Storage::Dram && e != f)
        .map(|(_, a)| a.name.clone())
        .collect::<Vec<_>>();
    if !differing.is_empty() {
        return Err(format!("{} differ", differing.join(", ")));
    }
    if system.frame().outer == 0 {
        Err("one array does".into())
    } else {
        Ok(())
    }
}

macro_rules! programs { ($($name:ident)*) => { $(
    #[test]
    fn $name() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(concat!("tests/phases/", stringify!($name), ".c"));
        if let Err(why) = check(&file) {
            panic!("{}: {why}", file.display());
        }
    }
)* } }

programs!(adi conjugate_gradient conv_conv correlation k_means nussinov);
