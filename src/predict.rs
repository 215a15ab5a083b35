//! Predicts the cycles of a design that `sagen rtl` wrote, at given sizes.

use crate::cli::{MemoryKind, Predict};
use crate::error::{Error, Result};
use crate::input;
use crate::outdir;
use array::contract::dram::{Memories, MemoryTiming, Pace};
use array::vsa::Vsa;
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
    let (file, function) = array_of(&arguments.design)?;
    let array::text::Stage::Vsa(vsa) = input::text(&file)? else {
        return Err(Error::usage(format!(
            "{} is no systolic array: give the directory that `sagen rtl` wrote, or its vsa.txt",
            file.display()
        )));
    };
    if !vsa.is_merged() && function.is_some() {
        let design = arguments.design.display();
        return Err(Error::usage(format!("{design} has no array: give the directory that `sagen rtl` wrote")));
    }
    let merged = if vsa.is_merged() { Some(member(&vsa, &arguments.design, function.as_deref())?) } else { None };
    let name = merged.map_or(&vsa.name, |f| &vsa.functions[f].name);
    let known: Vec<(String, i64)> = match merged {
        Some(f) => vsa.functions[f].sizes.iter().map(|(k, name)| (name.clone(), vsa.sizes.list[*k].max)).collect(),
        None => vsa.sizes.list.iter().map(|s| (s.name.clone(), s.max)).collect(),
    };
    let sizes = input::sizes_of(name, &known, &arguments.sizes)?;
    let memories = match arguments.memory {
        MemoryKind::Ideal(latency) => Memories::all(MemoryTiming::both(latency.into())),
        MemoryKind::Board => of_report(&file, function.as_deref())?,
        MemoryKind::Ddr => {
            return Err(Error::usage("cycles cannot be predicted for a memory that stalls: `sagen sim` simulates it"))
        }
    };
    let cycles = match merged {
        Some(f) => predict_at(&vsa, &vsa.sizes_of(f, &sizes), &vsa.memories_of(f, &memories)).cycles,
        None => predict_at(&vsa, &sizes, &memories).cycles,
    };
    let names = known.into_iter().map(|k| k.0);
    Ok(Predicted { kernel: name.clone(), sizes: names.zip(sizes).collect(), cycles })
}

/// The number of a function of a merged array.
fn member(merged: &Vsa, design: &Path, function: Option<&str>) -> Result<usize> {
    let found = function.and_then(|name| merged.functions.iter().position(|f| f.name == name));
    found.ok_or_else(|| several(design, &merged.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>()))
}

fn several(design: &Path, functions: &[&str]) -> Error {
    let (design, all) = (design.display(), functions.join(", "));
    Error::usage(format!("{design} has several functions, {all}: name one, as {design}/{}", functions[0]))
}

/// The board's memory, from the `report.json` beside the text of an array, or one folder above it.
fn of_report(array: &Path, function: Option<&str>) -> Result<Memories> {
    let folder = array.parent().unwrap_or(Path::new(""));
    let missing = || {
        Error::usage(format!(
            "{} has no report.json that says what the board's memory can do: give the directory that `sagen rtl` wrote, or \
            --memory ideal",
            folder.display()
        ))
    };
    let name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let of_function = |name: &str, mut report: Value| report["functions"][name].take();
    let read = |path: PathBuf| std::fs::read(path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let report = match function {
        Some(function) => read(folder.join(REPORT)).map(|report| of_function(function, report)),
        None => read(folder.join(REPORT)).or_else(|| Some(of_function(&name, read(folder.parent()?.join(REPORT))?))),
    };
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

/// The file with the text of the only array of a design, and the function that the folder in it names, if the array is
/// one for several.
fn array_of(design: &Path) -> Result<(PathBuf, Option<String>)> {
    let file = if design.is_dir() { design.join(ARRAY) } else { design.to_path_buf() };
    if file.exists() {
        return Ok((file, None));
    }
    let merged = design.parent().map(|parent| parent.join(ARRAY)).filter(|file| design.is_dir() && file.exists());
    if let (Some(merged), Some(function)) = (merged, design.file_name()) {
        return Ok((merged, Some(function.to_string_lossy().into_owned())));
    }
    let functions = functions(design);
    match functions[..] {
        [] => Ok((file, None)),
        _ => Err(several(design, &functions.iter().map(String::as_str).collect::<Vec<_>>())),
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
