//! `sagen map`: the systolic arrays as a table and as JSON.

use crate::cli::Map;
use crate::map::Mapped;
use crate::table;
use array::vsa::Vsa;
use search::{Candidate, Link};
use serde_json::{json, Value};

/// What `sagen map` prints.
pub fn shown(mapped: &Mapped, arguments: &Map) -> String {
    if !arguments.json {
        return as_table(&mapped.rows);
    }
    let one = |row: &Candidate| {
        let mut value = as_json(row);
        if let Some(dir) = &arguments.svg {
            let path = |suffix: &str| dir.join(format!("{}{suffix}", row.row)).display().to_string();
            value["pictures"] = json!({ "array": path(".svg"), "time": path(".time.svg") });
        }
        value
    };
    let all: Vec<Value> = mapped.rows.iter().map(one).collect();
    format!("{:#}\n", json!({ "kernel": mapped.kernel, "arrays": all }))
}

fn class(row: &Candidate) -> String {
    format!("{:?}", row.class).to_lowercase()
}

/// Names of the C arrays that enter or leave, once each.
fn arrays(vsa: &Vsa, used: impl Iterator<Item = u32>) -> Vec<&str> {
    let mut names: Vec<&str> = vec![];
    for array in used {
        let name = vsa.arrays[array as usize].name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn vector(v: &Option<Vec<i64>>) -> String {
    v.as_ref()
        .map_or_else(|| "-".into(), |v| format!("({})", v.iter().map(i64::to_string).collect::<Vec<_>>().join(",")))
}

/// Loops along the axes, such as `i, j`.
fn axes(row: &Candidate) -> Vec<&str> {
    row.axes.iter().filter(|a| !a.is_empty()).map(String::as_str).collect()
}

/// The options that select the row by its coordinates, quoted for a shell if necessary.
fn options(row: &Candidate) -> String {
    let Some((space, time)) = &row.coordinates else { return "-".into() };
    // Space loops alone leave the rest to the search.
    if time.is_empty() {
        return format!("--row {}", row.row);
    }
    let option = |name: &str, list: &[String]| {
        let value = list.join(",");
        let sign = if value.starts_with('-') { '=' } else { ' ' };
        if value.contains('*') {
            format!("--{name}{sign}'{value}'")
        } else {
            format!("--{name}{sign}{value}")
        }
    };
    let lists = [("space", space), ("time", time)];
    lists.iter().map(|(name, list)| option(name, list)).collect::<Vec<_>>().join(" ")
}

fn as_table(rows: &[Candidate]) -> String {
    if rows.is_empty() {
        return "no systolic array of several PEs executes the region as one loop nest; a single PE may, or its loop \
            nests in phases\n\
            (`sagen rtl` chooses among these; `sagen map --distribute` lists the systolic arrays of the phases)\n"
            .into();
    }
    let header = ["row", "space", "PEs", "results", "links", "in", "out", "d", "s", "options"];
    let mut lines = vec![header.map(String::from).to_vec()];
    for row in rows {
        let link = |Link { value: name, hop, waves }: &Link| match hop {
            [0, 0] => format!("{name}↺{waves}"),
            [a, b] if *waves == 0 => format!("{name}({a},{b})"),
            [a, b] => format!("{name}({a},{b})↺{waves}"),
        };
        lines.push(vec![
            row.row.to_string(),
            format!("[{}]", axes(row).join(",")),
            format!("{}×{}", row.vsa.extent[0], row.vsa.extent[1]),
            class(row),
            row.links.iter().map(link).collect::<Vec<_>>().join(" "),
            arrays(&row.vsa, row.vsa.inputs.iter().map(|g| g.array)).join(" "),
            arrays(&row.vsa, row.vsa.outputs.iter().map(|g| g.array)).join(" "),
            vector(&row.projection),
            vector(&row.schedule_vector),
            options(row),
        ]);
    }
    let legend =
        "\nlinks: x(a,b) moves to the PE at offset (a,b); ↺n is used n waves later, in the same PE if there is \
        no offset.\n\
        d: projection vector; s: schedule vector. Build a row with `--row N`, or with the options of its last \
        column.\n";
    let refused = rows.iter().filter_map(|row| {
        row.refused
            .as_ref()
            .map(|why| format!("row {}, shown without tiles, cannot be tiled and ordered so: {why}\n", row.row))
    });
    table::render(&lines, &[0]) + legend + &refused.collect::<String>()
}

fn as_json(row: &Candidate) -> Value {
    let link = |l: &Link| json!({ "value": l.value, "hop": l.hop, "waves": l.waves });
    json!({
        "array": row.row,
        "space": axes(row),
        "extent": row.vsa.extent,
        "class": class(row),
        "links": row.links.iter().map(link).collect::<Vec<_>>(),
        "inputs": arrays(&row.vsa, row.vsa.inputs.iter().map(|g| g.array)),
        "outputs": arrays(&row.vsa, row.vsa.outputs.iter().map(|g| g.array)),
        "projection": row.projection,
        "schedule": row.schedule_vector,
        "transform": row.plan.transform,
        "coordinates": row.coordinates.as_ref().map(|(space, time)| json!({ "space": space, "time": time })),
        "refused": row.refused,
    })
}
