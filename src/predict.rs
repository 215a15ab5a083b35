//! Predicts the cycles of a design that `sagen rtl` wrote, at given sizes.

use crate::cli::{MemoryKind, Predict};
use crate::error::{Error, Result};
use crate::input;
use crate::outdir;
use array::contract::dram::{Memories, MemoryTiming, Pace};
use cost::predict_at;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The file with the text of the array in a directory that `sagen rtl` wrote.
const ARRAY: &str = "vsa.txt";
/// The report in it.
const REPORT: &str = "report.json";

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
    let memories = match arguments.memory {
        MemoryKind::Ideal(latency) => Memories::all(MemoryTiming::both(latency.into())),
        MemoryKind::Board => of_report(&file)?,
        MemoryKind::Ddr => {
            return Err(Error::usage("cycles cannot be predicted for a memory that stalls: `sagen sim` simulates it"))
        }
    };
    let cycles = predict_at(vsa, &sizes, &memories).cycles;
    let names = vsa.sizes.list.iter().map(|s| s.name.clone());
    Ok(Predicted { kernel: vsa.name.clone(), sizes: names.zip(sizes).collect(), cycles })
}

/// The board's memory, from the `report.json` beside the text of an array, or one folder above it.
fn of_report(array: &Path) -> Result<Memories> {
    let folder = array.parent().unwrap_or(Path::new(""));
    let missing = || {
        Error::usage(format!(
            "{} has no report.json that says what the board's memory can do: give the directory that `sagen rtl` wrote, or \
            --memory ideal",
            folder.display()
        ))
    };
    let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let read = |path: PathBuf| std::fs::read(path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let report =
        read(folder.join(REPORT)).or_else(|| Some(read(folder.parent()?.join(REPORT))?["functions"][name].take()));
    let number = |value: &Value| value.as_i64().filter(|n| (1..1 << 40).contains(n)).ok_or_else(missing);
    let pace = |value: &Value| Ok(Pace { beat: number(&value["beat"])?, least: number(&value["shortest_burst"])? });
    let timing = |port: &Value| -> Result<MemoryTiming> {
        let (read, write) = (pace(&port["read"])?, pace(&port["write"])?);
        Ok(MemoryTiming { read, write, ..MemoryTiming::both(number(&port["latency"])?) })
    };
    let report = report.ok_or_else(missing)?;
    let ports = report["memory_timing"].as_array().ok_or_else(missing)?;
    Ok(Memories::of_ports(ports.iter().map(timing).collect::<Result<_>>()?))
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
