//! A part of a search. A hash shares the grids out, over all forms of the program. A shard appends a line of JSON to a
//! file for each grid that it has finished, and all shards read the best cycles so far from that file.
//!
//! Invariant: every line is proved. No design of its grid takes fewer cycles than `bound`. A search that is killed
//! loses the grid in work; with `--resume` the next search skips the grids that have lines. Once each shard has written
//! its last line, `{"done": …}`, the least bound of all lines is the bound of the whole search.
//!
//! The search also cuts the fastest design of the program as written into strips (`search::choose`). The field `whole`
//! has its cycles before that; grids of that form compare with `whole`.

use super::Context;
use crate::error::{Error, Result};
use search::choose::{Part, Quest};
use search::distribute;
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// FNV-1a over what a grid is: the same on every machine.
fn hash(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn key(Part { form, grid, .. }: &Part) -> String {
    let form = if *form == 0 { String::new() } else { format!("{form}:") };
    format!("{form}{}:{:?}:{:?}:{}:{}", grid.flow.facts, grid.flow.axes, grid.pes, grid.flow.lanes, grid.lanes)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // A run that is killed may leave half a line.
    text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
}

/// The state of a search after one shard.
pub struct Summary {
    /// The number of the shard, from 1, and of how many.
    pub number: u64,
    pub parts: u64,
    /// Grids that this run searched.
    pub searched: u64,
    /// Cycles of the best design in the file.
    pub best: Option<i64>,
    /// Shards that have finished.
    pub finished: usize,
    /// No design of the searched grids takes fewer cycles.
    pub bound: i64,
}

/// # Errors
/// The file cannot be written.
pub(super) fn run(context: &Context, (number, parts): (u64, u64), out: &Path) -> Result<Summary> {
    let failed = |e: std::io::Error| Error::reason(format!("cannot write {}: {e}", out.display()));
    let mut file = OpenOptions::new().create(true).append(true).open(out).map_err(failed)?;
    let known = lines(out);
    // Ends half a line of a killed run.
    writeln!(file).map_err(failed)?;
    let skip: BTreeSet<String> = known
        .iter()
        .filter(|_| context.arguments.resume)
        .filter_map(|l| l["grid"].as_str().map(String::from))
        .collect();
    let others = distribute::alternatives(context.program, context.spec);
    let quest = Quest {
        others: &others,
        space: context.space.clone(),
        ..Quest::new(context.program, context.spec, context.limits, context.effort)
    };
    let mine = |part: &Part| hash(&key(part)) % parts == number - 1;
    let all = quest.parts().into_iter().filter(|part| mine(part) && !skip.contains(&key(part)));
    let (mut searched, mut bound) = (0, i64::MAX);
    for part in all {
        // Other shards may have found something since.
        let known = lines(out);
        let least = |field: &str| known.iter().filter_map(|l| l[field].as_i64()).min().unwrap_or(i64::MAX);
        let incumbent = least(if part.form == 0 { "whole" } else { "cycles" });
        if part.least >= incumbent {
            bound = bound.min(part.least);
            continue;
        }
        let (found, whole) = quest.in_part(&part, incumbent);
        searched += 1;
        let mut line = json!({ "grid": key(&part), "bound": found.bound.min(incumbent) });
        if let Some(d) = &found.best {
            line["cycles"] = json!(d.cycles);
            line["design"] = json!(d.spec(context.asked).to_text());
        }
        if part.form == 0 {
            line["whole"] = json!(whole);
        }
        file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    }
    let done = json!({ "done": number, "of": parts, "bound": bound });
    file.write_all(format!("{done}\n").as_bytes()).map_err(failed)?;
    Ok(summary(&lines(out), (number, parts), searched))
}

/// The state of all shards by the lines of the file.
fn summary(all: &[Value], (number, parts): (u64, u64), searched: u64) -> Summary {
    let best = all.iter().filter_map(|l| l["cycles"].as_i64()).min();
    let proved = all.iter().filter_map(|l| l["bound"].as_i64()).min().unwrap_or(0);
    let finished: BTreeSet<u64> = all.iter().filter_map(|l| l["done"].as_u64()).collect();
    let bound = best.map_or(proved, |b| b.min(proved));
    Summary { number, parts, searched, best, finished: finished.len(), bound }
}
