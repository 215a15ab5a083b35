//! `sagen explore`: the result of a search as a table, as JSON and as a page.

use super::page;
use crate::cli::Explore;
use crate::error::{Error, Result};
use crate::explore::network::{Answer, Read};
use crate::explore::shard::Summary;
use crate::explore::{Best, Explored};
use crate::report::grouped;
use crate::table;
use cost::board::Resources;
use search::branch::{Design, Found};
use search::choose::Hint;
use serde_json::{json, Value};
use uniform::aim::{CountedMemory, Objective};
use uniform::design::{ArrayChoice, Dot, Factors, NO_LOOP};

/// What `sagen explore` prints. Writes the page, if one is asked for.
///
/// # Errors
/// The page cannot be written.
pub fn shown(explored: &Explored, arguments: &Explore) -> Result<String> {
    Ok(match explored {
        Explored::Best(best) => {
            if let Some(path) = &arguments.html {
                let text = page::render(best, &hints(best), &command(best, best.design(), arguments));
                let failed = |e| Error::reason(format!("cannot write {}: {e}", path.display()));
                crate::files::replace(path, text.as_bytes()).map_err(failed)?;
            }
            match arguments.json {
                true => format!("{:#}\n", as_json(best, arguments)),
                false => as_table(best, arguments),
            }
        }
        Explored::Network(answer) if arguments.json => format!("{:#}\n", network_json(answer)),
        Explored::Network(answer) => network_table(answer),
        Explored::Shard(summary) => format!("{}\n", shard_json(summary)),
    })
}

/// Other layouts of arrays, as sentences.
fn hints(best: &Best) -> Vec<String> {
    let say = |h: &Hint| {
        let rank = best.scop.arrays.iter().find(|a| a.name == h.array).map_or(2, |a| a.dims.len());
        let how = match rank {
            2 => "transposed".into(),
            _ => format!("with dimension {} innermost in memory", h.innermost + 1),
        };
        let (with, without) = (grouped(h.cycles), grouped(best.design().cycles));
        format!("with {} {how} this would take at most {with} instead of {without} cycles", h.array)
    };
    best.hints.iter().map(say).collect()
}

fn as_json(best: &Best, arguments: &Explore) -> Value {
    let found = &best.found;
    let point = |f: &Found| {
        f.best.as_ref().map(|d| {
            let mut value = design_json(best, d);
            value["bound"] = json!(f.bound);
            value["gap"] = json!(f.gap());
            value
        })
    };
    let front: Vec<Value> = match best.front.is_empty() && arguments.pareto.is_empty() {
        true => vec![],
        false => [found].into_iter().chain(&best.front).filter_map(point).collect(),
    };
    let hint = |h: &Hint| json!({ "array": h.array, "innermost": h.innermost, "cycles": h.cycles });
    json!({
        "kernel": best.scop.name,
        "board": best.board.name,
        "best": design_json(best, best.design()),
        "bound": found.bound,
        "gap": found.gap(),
        "seconds": best.seconds,
        "seconds_in_all": best.seconds_in_all,
        "objective": best.objective,
        "memory": if best.asked.aim.memory == Some(CountedMemory::Ideal) { "ideal" } else { best.board.name.as_str() },
        "exact_designs": found.counts.exact,
        "walks": found.counts.walks,
        "bounds": found.counts.bounds,
        "front": front,
        "layouts": best.hints.iter().map(hint).collect::<Vec<_>>(),
    })
}

fn design_json(best: &Best, d: &Design) -> Value {
    let value = json!({
        "cycles": d.cycles,
        "design": d.spec(&best.asked).to_text(),
        "array": d.vsa.extent,
        "simd": d.vsa.lanes,
    });
    with_counts(value, &d.need)
}

/// A JSON object with what a design takes of each resource.
fn with_counts(mut value: Value, need: &Resources) -> Value {
    need.named().into_iter().for_each(|(name, n)| value[name] = json!(n));
    value
}

fn as_table(best: &Best, arguments: &Explore) -> String {
    let found = &best.found;
    let header = ["array", "cycles", "bound", "time", "used", "DSP", "LUT", "BRAM36"].map(String::from).to_vec();
    let row = |f: &Found, d: &Design| {
        let [a, b] = d.vsa.extent;
        vec![
            format!("{a}×{b}×{}", d.vsa.lanes),
            grouped(d.cycles),
            grouped(f.bound),
            format!("{:.2} µs", d.cycles as f64 / best.board.clock_mhz),
            format!("{:.1} %", 100.0 * best.utilization(d)),
            grouped(d.need.dsp),
            grouped(d.need.lut),
            grouped(d.need.bram36()),
        ]
    };
    let mut lines = vec![header, row(found, best.design())];
    lines.extend(best.front.iter().filter_map(|f| f.best.as_ref().map(|d| row(f, d))));
    let sought = match best.objective {
        Objective::Balanced => "balance of time and size",
        Objective::Cycles => "the fewest cycles",
        Objective::Area => "the least area within --cycles",
        Objective::Efficiency => "the least product of cycles and size",
    };
    let memory = if best.asked.aim.memory == Some(CountedMemory::Ideal) { "ideal memory" } else { "the memory of" };
    let board = if memory == "ideal memory" { String::new() } else { format!(" {}", best.board.name) };
    let proof = match found.gap() {
        0.0 => "no array within the limits takes fewer cycles".to_string(),
        gap => {
            format!(
                "no array within the limits takes fewer than {} cycles, {:.2} % less",
                grouped(found.bound),
                100.0 * gap
            )
        }
    };
    let c = &found.counts;
    let work = format!(
        "{} designs assembled, {} walked coarsely, {} bounded in {:.1} s; {:.1} s with {}",
        grouped(c.exact as i64),
        grouped(c.walks as i64),
        grouped(c.bounds as i64),
        best.seconds,
        best.seconds_in_all,
        if best.front.is_empty() { "other layouts" } else { "other layouts and the front" }
    );
    let hints: String = hints(best).iter().map(|h| format!("{h}\n")).collect();
    format!(
        "{}\n{sought} with {memory}{board}: {proof}\n{work}\n\nbuild the first one with\n  {}\n{hints}",
        table::render(&lines, &[1, 2, 3, 4, 5, 6, 7]),
        command(best, best.design(), arguments)
    )
}

/// The command that builds a design.
fn command(best: &Best, d: &Design, arguments: &Explore) -> String {
    let program = &arguments.program;
    let mut line = format!("sagen rtl --board {} {}", program.board, best.file.display());
    for name in &program.function {
        line += &format!(" --function {name}");
    }
    for (name, value) in &program.defines {
        line += &format!(" -D {name}={value}");
    }
    line += &program.clock.map_or(String::new(), |mhz| format!(" --clock {mhz}"));
    let spec = d.spec(&best.asked);
    let a = &spec.arithmetic;
    for (on, option) in [
        (a.reassociate == Some(true), " --reassociate"),
        (a.fp_contract == Some(true), " --fp-contract"),
        (a.pack == Some(true), " --pack"),
        (a.dot == Some(Dot::Fused), " --dot fused"),
    ] {
        line += if on { option } else { "" };
    }
    let ArrayChoice::ByHand { space, shape } = &spec.array else { return line };
    line += if shape.distribute == Some(true) { " --distribute" } else { "" };
    let table = |list: &Factors| list.iter().map(|(n, f)| format!("{n}={f}")).collect::<Vec<_>>().join(",");
    let words = spec.wiring.word.iter().map(|(n, w)| format!("{n}={w}")).collect::<Vec<_>>().join(",");
    let options = [
        ("space", space.as_ref().filter(|s| !s.is_empty()).map_or_else(|| NO_LOOP.into(), |s| s.join(","))),
        ("strip", table(&shape.strip)),
        ("skew", table(&shape.skew)),
        ("time", shape.time.clone().unwrap_or_default().join(",")),
        ("order", shape.order.clone().unwrap_or_default().join(",")),
        ("tile", table(&shape.tile)),
        ("latency", table(&shape.latency)),
        ("simd", table(&shape.simd)),
        ("cyclic", shape.cyclic.clone().unwrap_or_default().join(",")),
        ("word", words),
    ];
    options.iter().filter(|o| !o.1.is_empty()).for_each(|(name, value)| line += &format!(" --{name} {value}"));
    line
}

/// Each layer with its iterations and its design.
fn rows(answer: &Answer) -> impl Iterator<Item = (&Read, i64, &Design)> {
    let parts = answer.layers.iter().zip(&answer.iterations).zip(&answer.found.designs);
    parts.map(|((layer, &iterations), design)| (layer, iterations, design))
}

/// The share of the lanes' time that a layer uses, 0 to 1.
fn used(answer: &Answer, iterations: i64, cycles: i64) -> f64 {
    let found = &answer.found;
    let lanes = found.pes[0] * found.pes[1] * found.lanes.iter().map(|l| l.1).product::<i64>();
    iterations as f64 / (lanes as f64 * cycles.max(1) as f64)
}

fn network_json(answer: &Answer) -> Value {
    let layer = |(layer, iterations, design): (&Read, i64, &Design)| {
        let value = json!({
            "name": layer.name,
            "times": layer.times,
            "cycles": design.cycles,
            "design": design.spec(&layer.spec).to_text(),
            "used": used(answer, iterations, design.cycles),
        });
        with_counts(value, &design.need)
    };
    let f = &answer.found;
    let lanes = |(name, n): &(String, i64)| json!({ "loop": name, "lanes": n });
    json!({
        "board": answer.board.name,
        "axes": f.axes,
        "array": f.pes,
        "simd": f.lanes.first().map(lanes),
        "simd_beside": f.lanes.iter().skip(1).map(lanes).collect::<Vec<_>>(),
        "cycles": f.cycles,
        "bound": f.bound,
        "gap": f.gap(),
        "seconds": answer.seconds,
        "exact_designs": f.counts.exact,
        "walks": f.counts.walks,
        "bounds": f.counts.bounds,
        "grids": f.counts.grids,
        "layers": rows(answer).map(layer).collect::<Vec<_>>(),
    })
}

fn network_table(answer: &Answer) -> String {
    let header = ["layer", "times", "cycles", "used", "DSP", "LUT", "BRAM36"].map(String::from).to_vec();
    let row = |(layer, iterations, design): (&Read, i64, &Design)| {
        let need = &design.need;
        vec![
            layer.name.clone(),
            layer.times.to_string(),
            grouped(design.cycles),
            format!("{:.1} %", 100.0 * used(answer, iterations, design.cycles)),
            grouped(need.dsp),
            grouped(need.lut),
            grouped(need.bram36()),
        ]
    };
    let lines: Vec<Vec<String>> = std::iter::once(header).chain(rows(answer).map(row)).collect();
    let f = &answer.found;
    let lanes: String = f.lanes.iter().map(|(name, n)| format!(", {n} lanes over {name}")).collect();
    let proof = match f.gap() {
        0.0 => "no array takes fewer".to_string(),
        gap => format!("no array takes fewer than {}, {:.2} % less", grouped(f.bound), 100.0 * gap),
    };
    let head = format!("{}×{} PEs over ({}){lanes}", f.pes[0], f.pes[1], f.axes.join(", "));
    let table = table::render(&lines, &[1, 2, 3, 4, 5, 6]);
    let milliseconds = f.cycles as f64 / answer.board.clock_mhz / 1000.0;
    let work = format!(
        "{} designs assembled, {} grids and {} shapes bounded in {:.1} s",
        grouped(f.counts.exact as i64),
        grouped(f.counts.grids as i64),
        grouped(f.counts.bounds as i64),
        answer.seconds
    );
    format!("{head}\n\n{table}\nall layers: {} cycles, {milliseconds:.3} ms; {proof}\n{work}\n", grouped(f.cycles))
}

fn shard_json(summary: &Summary) -> Value {
    json!({
        "shard": summary.number,
        "of": summary.parts,
        "searched": summary.searched,
        "best": summary.best,
        "finished": summary.finished,
        "bound": summary.bound,
    })
}
