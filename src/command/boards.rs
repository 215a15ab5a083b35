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
        let memory = |m: &cost::board::Memory| {
            json!({
                "kind": m.kind,
                "ports": m.ports,
                "data_bits": m.data_bits,
                "peak_bytes_per_s": m.peak_bytes_per_s,
            })
        };
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
    let header = ["name", "clock MHz", "dies", "LUT", "FF", "DSP", "BRAM36", "URAM", "memory", "part"];
    let mut rows = vec![header.map(String::from).to_vec()];
    for b in boards {
        let memory: Vec<_> = b.memory.iter().map(|m| format!("{}×{} {} bit", m.ports, m.kind, m.data_bits)).collect();
        let board = [b.name.clone(), b.clock_mhz.to_string(), b.dies.len().max(1).to_string()];
        let numbers = b.resources.counts().map(|n| n.to_string());
        rows.push([&board[..], &numbers, &[memory.join(", "), b.part.clone()]].concat());
    }
    crate::table::render(&rows, &[1, 2, 3, 4, 5, 6, 7])
}
