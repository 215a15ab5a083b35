//! `sagen predict`: the cycles of a design that was written, at given sizes.

use crate::cli::{MemoryKind, Predict};
use crate::program::{self, Refused};
use crate::report::grouped;
use array::contract::walk::MemoryTiming;
use cost::predict_at;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

/// The text of an array in a directory that `sagen rtl` wrote.
const ARRAY: &str = "vsa.txt";

/// The functions of an IP that has several, which have a directory each.
fn functions(design: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(design).into_iter().flatten().flatten();
    let mut all: Vec<String> =
        entries.filter(|e| e.path().join(ARRAY).exists()).filter_map(|e| e.file_name().into_string().ok()).collect();
    all.sort();
    all
}

/// Runs the subcommand; what to print.
///
/// # Errors
/// There is no design, or it has not these sizes.
pub fn run(arguments: &Predict) -> Result<String, Refused> {
    let MemoryKind::Ideal(latency) = arguments.memory else {
        return Err(Refused::plain("cycles are predicted for ideal memory: `sagen sim` simulates the other"));
    };
    let file = if arguments.design.is_dir() { arguments.design.join(ARRAY) } else { arguments.design.clone() };
    let functions = if file.exists() { vec![] } else { functions(&arguments.design) };
    if let Some(function) = functions.first() {
        let (design, all) = (arguments.design.display(), functions.join(", "));
        return Err(Refused::plain(format!("{design} has several functions, {all}: name one, as {design}/{function}")));
    }
    let input = program::stage(&file)?;
    let Some(array::text::Stage::Vsa(vsa)) = &input.stage else {
        return Err(Refused::plain(format!(
            "{} is no array: give the directory that `sagen rtl` wrote, or its vsa.txt",
            file.display()
        )));
    };
    let sizes = input.sizes(&arguments.sizes)?;
    let cycles = predict_at(vsa, &sizes, &MemoryTiming::both(latency.into())).cycles;
    let named: BTreeMap<&str, i64> =
        vsa.sizes.list.iter().map(|s| s.name.as_str()).zip(sizes.iter().copied()).collect();
    if arguments.json {
        return Ok(format!(
            "{:#}\n",
            json!({ "kernel": vsa.name, "sizes": named, "cycles": cycles, "memory": arguments.memory.to_string() })
        ));
    }
    let at: String = vsa.sizes.list.iter().zip(&sizes).map(|(s, v)| format!(" {}={v}", s.name)).collect();
    Ok(format!("{}{at}: {} cycles with {} memory\n", vsa.name, grouped(cycles), arguments.memory))
}
