//! `sagen map`: every legal array of a program, as a table, as JSON, as pictures.

use crate::cli::Map;
use crate::program::{Refused, Work};
use crate::{progress, table};
use array::text::Stage;
use array::vsa::Vsa;
use search::{Candidate, Link};
use serde_json::{json, Value};

/// Runs the subcommand; what to print.
///
/// # Errors
/// The input is refused, or pictures cannot be written.
pub fn run(arguments: &Map) -> Result<String, Refused> {
    let (input, spec, _) = Work::load(&arguments.program, &arguments.design)?.only("`sagen map`")?;
    let scop = match input.stage {
        None | Some(Stage::Scop(_)) => input.scop,
        Some(_) => return Err(Refused::plain("`sagen map` lists the arrays of a program: give it C, or a .scop")),
    };
    progress::stage("enumerating");
    let rows = search::enumerate(&scop, &spec).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
    progress::done();
    if let Some(dir) = &arguments.svg {
        let program = search::program(&scop, &spec).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
        let time = |row: &Candidate| search::diagram(&program.scop, &program.system, &row.plan, &row.vsa);
        draw(&rows, time, dir).map_err(Refused::plain)?;
    }
    if arguments.json {
        let drawn = |row: &Candidate, value: Value| match (&arguments.svg, value) {
            (Some(dir), Value::Object(mut fields)) => {
                let path = |suffix: &str| dir.join(format!("{}{suffix}", row.row)).display().to_string();
                fields.insert("pictures".into(), json!({ "array": path(".svg"), "time": path(".time.svg") }));
                Value::Object(fields)
            }
            (_, value) => value,
        };
        let all: Vec<_> = rows.iter().map(|row| drawn(row, as_json(row))).collect();
        return Ok(format!("{:#}\n", json!({ "kernel": scop.name, "arrays": all })));
    }
    Ok(as_table(&rows))
}

fn draw(rows: &[Candidate], time: impl Fn(&Candidate) -> String, dir: &std::path::Path) -> Result<(), String> {
    let failed = |path: &std::path::Path, e: std::io::Error| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
    for row in rows {
        for (name, picture) in
            [(format!("{}.svg", row.row), draw::draw(&row.vsa)), (format!("{}.time.svg", row.row), time(row))]
        {
            let path = dir.join(name);
            std::fs::write(&path, picture).map_err(|e| failed(&path, e))?;
        }
    }
    Ok(())
}

fn class(row: &Candidate) -> String {
    format!("{:?}", row.class).to_lowercase()
}

/// Names of the arrays that enter or leave, once each.
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

/// Loops along the axes, as `i, j`.
fn axes(row: &Candidate) -> Vec<&str> {
    row.axes.iter().filter(|a| !a.is_empty()).map(String::as_str).collect()
}

/// The options that select the row by its coordinates, quoted for a shell where need be.
fn by_hand(row: &Candidate) -> String {
    let Some((space, time)) = &row.coordinates else { return "-".into() };
    // Space loops alone leave the rest to the search.
    if time.is_empty() {
        return format!("--array {}", row.row);
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
        return "no array of several PEs executes the region in the form that was found; a single PE may, and so may \
            its loop nests in phases\n\
            (`sagen rtl` chooses among these; `sagen map --apart` lists arrays of the phases)\n"
            .into();
    }
    let header = ["array", "space", "PEs", "results", "links", "in", "out", "d", "s", "by hand"];
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
            by_hand(row),
        ]);
    }
    let legend = "\nlinks: x(a,b) moves to the PE at offset (a,b); ↺n is used n waves later, in the same PE where no \
        offset stands.\n\
        d: projection vector; s: schedule vector. Build one with `--array N`, or by hand with the options of its last \
        column.\n";
    let refused = rows.iter().filter_map(|row| {
        row.refused.as_ref().map(|why| format!("array {}, shown uncut, cannot be cut and ordered so: {why}\n", row.row))
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
