//! Predicts the cycles of a design that `sagen rtl` wrote, at given sizes.

use crate::cli::{MemoryKind, Predict};
use crate::error::{Error, Result};
use crate::input;
use crate::outdir;
use array::contract::walk::MemoryTiming;
use cost::predict_at;
use std::path::{Path, PathBuf};

/// The file with the text of the array in a directory that `sagen rtl` wrote.
const ARRAY: &str = "vsa.txt";

/// A prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// The function's name.
    pub kernel: String,
    /// The sizes at run time, by name, in the order of the parameters.
    pub sizes: Vec<(String, i64)>,
    /// Clock cycles from the start of the IP to its end.
    pub cycles: i64,
}

/// See [`crate::predict()`].
pub(crate) fn run(arguments: &Predict) -> Result<Predicted> {
    let MemoryKind::Ideal(latency) = arguments.memory else {
        return Err(Error::usage("cycles are predicted for ideal memory: `sagen sim` simulates the other"));
    };
    if outdir::is_unfinished(&arguments.design) {
        let design = arguments.design.display();
        return Err(Error::usage(format!(
            "a run died while it changed {design}: run `sagen rtl` again, which finishes it"
        )));
    }
    let file = array_of(&arguments.design)?;
    let input = input::stage(&file)?;
    let Some(array::text::Stage::Vsa(vsa)) = &input.stage else {
        return Err(Error::usage(format!(
            "{} is no systolic array: give the directory that `sagen rtl` wrote, or its vsa.txt",
            file.display()
        )));
    };
    let sizes = input.sizes(&arguments.sizes)?;
    let cycles = predict_at(vsa, &sizes, &MemoryTiming::both(latency.into())).cycles;
    let names = vsa.sizes.list.iter().map(|s| s.name.clone());
    Ok(Predicted { kernel: vsa.name.clone(), sizes: names.zip(sizes).collect(), cycles })
}

/// The file with the text of the only array of a design.
fn array_of(design: &Path) -> Result<PathBuf> {
    let file = if design.is_dir() { design.join(ARRAY) } else { design.to_path_buf() };
    let functions = if file.exists() { vec![] } else { functions(design) };
    match functions.first() {
        None => Ok(file),
        Some(function) => {
            let (design, all) = (design.display(), functions.join(", "));
            Err(Error::usage(format!("{design} has several functions, {all}: name one, as {design}/{function}")))
        }
    }
}

/// The functions of an IP that has several; each has a directory of its own.
fn functions(design: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(design).into_iter().flatten().flatten();
    let mut all: Vec<String> =
        entries.filter(|e| e.path().join(ARRAY).exists()).filter_map(|e| e.file_name().into_string().ok()).collect();
    all.sort();
    all
}
