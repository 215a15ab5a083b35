//! `sagen boards`: the list of the built-in boards.

use crate::catalog;
use crate::cli::Boards;
use crate::error::{Error, Result};
use cost::board::Board;
use serde_json::json;

/// What `sagen boards` prints.
///
/// # Errors
/// As for [`catalog::all`].
pub fn shown(arguments: &Boards) -> Result<String> {
    let boards = catalog::all().map_err(Error::reason)?;
    if !arguments.json {
        return Ok(table(&boards));
    }
    let one = |b: &Board| {
        let memory = |m: &cost::board::Memory| json!({ "kind": m.kind, "ports": m.ports, "data_bits": m.data_bits, "peak_bytes_per_s": m.peak_bytes_per_s });
        json!({
            "name": b.name,
            "title": b.title,
            "part": b.part,
            "clock_mhz": b.clock_mhz,
            "resources": b.resources,
            "dies": b.dies.len().max(1),
            "memory": b.memory.iter().map(memory).collect::<Vec<_>>(),
        })
    };
    Ok(format!("{:#}\n", json!(boards.iter().map(one).collect::<Vec<_>>())))
}

/// The table of `sagen boards`.
fn table(boards: &[Board]) -> String {
    let mut rows =
        vec![["name", "clock MHz", "dies", "LUT", "FF", "DSP", "BRAM36", "URAM", "memory", "part"].map(String::from)];
    for b in boards {
        let r = &b.resources;
        let memory: Vec<_> = b.memory.iter().map(|m| format!("{}×{} {} bit", m.ports, m.kind, m.data_bits)).collect();
        let numbers = [r.lut, r.ff, r.dsp, r.bram36, r.uram].map(|n| n.to_string());
        let [lut, ff, dsp, bram, uram] = numbers;
        let dies = b.dies.len().max(1).to_string();
        rows.push([
            b.name.clone(),
            b.clock_mhz.to_string(),
            dies,
            lut,
            ff,
            dsp,
            bram,
            uram,
            memory.join(", "),
            b.part.clone(),
        ]);
    }
    crate::table::render(&rows.iter().map(|r| r.to_vec()).collect::<Vec<_>>(), &[1, 2, 3, 4, 5, 6, 7])
}
