//! A part of a search: grids by hash, a line of JSON for every one finished, the incumbent shared through the file.
//!
//! Every line holds what is proved: no design of that grid takes fewer cycles than `bound`. A search that is killed loses
//! the grid it was at; with `--resume` the next one skips those that have lines. The bound of all is the least of the lines'
//! of all shards once each has written its last line, `{"done": …}`.

use super::Context;
use crate::program::Refused;
use arch::explore::search::{grids, search, Task};
use arch::explore::space::Grid;
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// FNV-1a over what a grid is: the same on every machine.
fn hash(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

fn key(grid: &Grid) -> String {
    format!("{}:{:?}:{:?}:{}:{}", grid.flow.facts, grid.flow.axes, grid.pes, grid.flow.lanes, grid.lanes)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // A line that was cut short by the end of a run is none.
    text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
}

fn task<'a>(context: &'a Context, only: Option<&'a [Grid]>, below: i64) -> Task<'a> {
    Task {
        program: context.program,
        spec: context.spec,
        limits: context.limits,
        space: context.space.clone(),
        only,
        below,
        enough: 0,
        effort: context.effort,
        watch: None,
    }
}

pub(super) fn run(context: &Context, (part, parts): (u64, u64), out: &Path) -> Result<String, Refused> {
    let failed = |e: std::io::Error| Refused::plain(format!("cannot write {}: {e}", out.display()));
    let mut file = OpenOptions::new().create(true).append(true).open(out).map_err(failed)?;
    let known = lines(out);
    // A killed run may have left half a line.
    writeln!(file).map_err(failed)?;
    let skip: BTreeSet<String> = known.iter().filter(|_| context.arguments.resume).filter_map(|l| l["grid"].as_str().map(String::from)).collect();
    let mine = |g: &Grid| hash(&key(g)) % parts == part - 1;
    let all: Vec<(i64, Grid)> = grids(&task(context, None, i64::MAX)).into_iter().filter(|g| mine(&g.1) && !skip.contains(&key(&g.1))).collect();
    let (mut searched, mut best) = (0, None);
    let mut bound = i64::MAX;
    for (least, grid) in &all {
        // What other shards have found since counts, too.
        let incumbent = lines(out).iter().filter_map(|l| l["cycles"].as_i64()).min().unwrap_or(i64::MAX);
        if *least >= incumbent {
            bound = bound.min(*least);
            break;
        }
        let only = [*grid];
        let found = search(&task(context, Some(&only), incumbent));
        searched += 1;
        let mut line = json!({ "grid": key(grid), "bound": found.bound.min(incumbent) });
        if let Some(d) = &found.best {
            best = Some(best.map_or(d.cycles, |b: i64| b.min(d.cycles)));
            line["cycles"] = json!(d.cycles);
            line["design"] = json!(context.text(d));
        }
        file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
    }
    let done = json!({ "done": part, "of": parts, "bound": bound.min(i64::MAX) });
    file.write_all(format!("{done}\n").as_bytes()).map_err(failed)?;
    let all = lines(out);
    let least = all.iter().filter_map(|l| l["cycles"].as_i64()).min();
    let proved = all.iter().filter_map(|l| l["bound"].as_i64()).min().unwrap_or(0);
    let finished: BTreeSet<u64> = all.iter().filter_map(|l| l["done"].as_u64()).collect();
    let answer = json!({
        "shard": part, "of": parts, "searched": searched, "best": least, "finished": finished.len(),
        "bound": least.map_or(proved, |l| l.min(proved)),
    });
    Ok(format!("{answer}\n"))
}
