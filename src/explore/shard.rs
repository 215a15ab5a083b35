//! A part of a search: grids by hash, of all forms of the program, a line of JSON for every one finished, the incumbent
//! shared through the file.
//!
//! Of the program as it stands an array is looked at in strips, too, and only the fastest one is
//! (`search::choose`): a line says how many cycles it took before (`whole`), and grids of that form are measured
//! by that.
//!
//! Every line holds what is proved: no design of that grid takes fewer cycles than `bound`. A search that is killed
//! loses the grid it was at; with `--resume` the next one skips those that have lines. The bound of all is the least of
//! the lines' of all shards once each has written its last line, `{"done": …}`.

use super::Context;
use crate::program::Refused;
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
    // A line that was cut short by the end of a run is none.
    text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
}

pub(super) fn run(context: &Context, (number, parts): (u64, u64), out: &Path) -> Result<String, Refused> {
    let failed = |e: std::io::Error| Refused::plain(format!("cannot write {}: {e}", out.display()));
    let mut file = OpenOptions::new().create(true).append(true).open(out).map_err(failed)?;
    let known = lines(out);
    // A killed run may have left half a line.
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
        // What other shards have found since counts, too.
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
            line["design"] = json!(context.text(d));
        }
        if part.form == 0 {
            line["whole"] = json!(whole);
        }
        file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    }
    let done = json!({ "done": number, "of": parts, "bound": bound });
    file.write_all(format!("{done}\n").as_bytes()).map_err(failed)?;
    let all = lines(out);
    let least = all.iter().filter_map(|l| l["cycles"].as_i64()).min();
    let proved = all.iter().filter_map(|l| l["bound"].as_i64()).min().unwrap_or(0);
    let finished: BTreeSet<u64> = all.iter().filter_map(|l| l["done"].as_u64()).collect();
    let answer = json!({
        "shard": number, "of": parts, "searched": searched, "best": least, "finished": finished.len(),
        "bound": least.map_or(proved, |l| l.min(proved)),
    });
    Ok(format!("{answer}\n"))
}
