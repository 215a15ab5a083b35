//! `sagen explore`: the best array with its proof, the front around it, one array for a network, shards of a search; as
//! a table, JSON, a page.

mod network;
mod page;
mod shard;

use crate::cli::Explore;
use crate::program::{Input, Refused, Work};
use crate::progress;
use crate::report::grouped;
use crate::table;
use array::kernel::Kernel;
use cost::board::{Board, Resources};
use scop::Scop;
use search::branch::{Design, Effort, Found, Progress};
use search::choose;
use search::choose::{Hint, Quest};
use search::distribute;
use search::tuning;
use serde_json::{json, Value};
use std::path::Path;
use std::time::{Duration, Instant};
use uniform::design::{ArrayChoice, DesignSpec, NO_LOOP};

/// Everything a search of the user's is about.
struct Context<'a> {
    arguments: &'a Explore,
    /// Of the function.
    file: &'a Path,
    scop: &'a Scop,
    program: &'a Kernel<'a>,
    /// With what the board says, and as the user says it.
    spec: &'a DesignSpec,
    asked: &'a DesignSpec,
    board: &'a Board,
    limits: Resources,
    space: Option<Vec<usize>>,
    effort: Effort,
}

/// Runs the subcommand; what to print.
///
/// # Errors
/// The input is refused, nothing fits, or a file cannot be written.
pub fn run(arguments: &Explore) -> Result<String, Refused> {
    if let Some(path) = &arguments.network {
        return network::run(arguments, path);
    }
    let (Input { scop, file, .. }, asked, board) =
        Work::load(&arguments.program, &arguments.design)?.only("`sagen explore`")?;
    let spec = search::on(&board, &asked);
    let program = search::program(&scop, &spec).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
    let space = space_loops(&spec, &program)?;
    let limits = choose::limits_of(&board, &spec.aim.limit).map_err(Refused::plain)?;
    let context = Context {
        arguments,
        file: &file,
        scop: &scop,
        program: &program,
        spec: &spec,
        asked: &asked,
        board: &board,
        limits,
        space,
        effort: effort(arguments),
    };
    if let (Some(part), Some(out)) = (arguments.shard, &arguments.out) {
        return shard::run(&context, part, out);
    }
    context.explore()
}

/// The space loops that a search is held to, if any.
fn space_loops(spec: &DesignSpec, program: &Kernel) -> Result<Option<Vec<usize>>, Refused> {
    match &spec.array {
        ArrayChoice::Automatic => Ok(None),
        ArrayChoice::ByHand { space: Some(names), shape } if *shape == Default::default() => {
            choose::space_loops(program, names)
                .map(Some)
                .ok_or_else(|| Refused::plain("explore chooses among plain loops: --space takes their names"))
        }
        _ => Err(Refused::plain(
            "explore finds tiles, lanes and order by itself: leave them out, or build the array with `sagen rtl`",
        )),
    }
}

fn effort(arguments: &Explore) -> Effort {
    Effort {
        exact: arguments.designs,
        bounds: arguments.designs.saturating_mul(tuning::EXPLORE_BOUNDS_PER_DESIGN),
        work: u64::MAX,
        gap: arguments.gap.value(),
    }
}

fn shortened(effort: Effort) -> Effort {
    Effort {
        exact: effort.exact.min(tuning::ROUGH_DESIGNS),
        bounds: effort.bounds.min(tuning::ROUGH_BOUNDS),
        work: effort.work,
        gap: effort.gap.max(tuning::ROUGH_GAP),
    }
}

impl Context<'_> {
    fn explore(&self) -> Result<String, Refused> {
        let begin = Instant::now();
        let watch = |p: &Progress| {
            live(p, begin);
            self.arguments.time_limit.is_none_or(|most| begin.elapsed() < Duration::from_secs_f64(most))
        };
        let others = distribute::alternatives(self.program, self.spec);
        let quest = Quest {
            others: &others,
            space: self.space.clone(),
            watch: Some(&watch),
            ..Quest::new(self.program, self.spec, self.limits, self.effort)
        };
        let found = quest.answer(&self.spec.aim).map_err(|faults| Refused::diagnostics(&faults, &self.scop.sources))?;
        let seconds = begin.elapsed().as_secs_f64();
        let Some(best) = &found.best else {
            progress::done();
            let reasons: Vec<String> = found.refused.iter().map(|(why, n)| format!("  {why} ({n} times)")).collect();
            return Err(Refused::plain(format!("no array within the limits was found\n{}", reasons.join("\n"))));
        };
        let wanted: Vec<&str> = self
            .arguments
            .pareto
            .iter()
            .map(|r| if r == "bram" { "bram36" } else { r.as_str() })
            .filter(|r| *r != "cycles")
            .collect();
        let front = match (wanted.is_empty(), self.arguments.html.is_some()) {
            (false, _) => quest.front(best, &wanted, tuning::FRONT_POINTS),
            // A page shows a front unasked: roughly.
            (true, true) => Quest {
                space: self.space.clone(),
                others: &others,
                watch: Some(&watch),
                ..Quest::new(self.program, self.spec, self.limits, shortened(self.effort))
            }
            .front_of_shares(best, tuning::FRONT_POINTS),
            (true, false) => vec![],
        };
        let mut hints = quest.hints(best.cycles, &found.counts);
        hints.truncate(3);
        progress::done();
        if let Some(path) = &self.arguments.html {
            let text = page::render(self, &found, best, &front, &self.hints(&hints, best), seconds);
            std::fs::write(path, text).map_err(|e| Refused::plain(format!("cannot write {}: {e}", path.display())))?;
        }
        if self.arguments.json {
            let mut value = self.as_json(&found, best, &front, seconds);
            let hint = |h: &Hint| json!({ "array": h.array, "innermost": h.innermost, "cycles": h.cycles });
            value["layouts"] = json!(hints.iter().map(hint).collect::<Vec<_>>());
            return Ok(format!("{value:#}\n"));
        }
        Ok(self.as_table(&found, best, &front, seconds)
            + &self.hints(&hints, best).iter().map(|h| format!("{h}\n")).collect::<String>())
    }

    /// Other layouts, in words.
    fn hints(&self, hints: &[Hint], best: &Design) -> Vec<String> {
        let say = |h: &Hint| {
            let rank = self.scop.arrays.iter().find(|a| a.name == h.array).map_or(2, |a| a.dims.len());
            let how = if rank == 2 {
                "transposed".into()
            } else {
                format!("with dimension {} innermost in memory", h.innermost + 1)
            };
            format!(
                "with {} {how} this would take at most {} instead of {} cycles",
                h.array,
                grouped(h.cycles),
                grouped(best.cycles)
            )
        };
        hints.iter().map(say).collect()
    }

    fn as_json(&self, found: &Found, best: &Design, front: &[Found], seconds: f64) -> Value {
        let point = |f: &Found| {
            f.best.as_ref().map(|d| {
                let mut value = self.design_json(d);
                value["bound"] = json!(f.bound);
                value["gap"] = json!(f.gap());
                value
            })
        };
        json!({
            "kernel": self.scop.name,
            "board": self.board.name,
            "best": self.design_json(best),
            "bound": found.bound,
            "gap": found.gap(),
            "seconds": seconds,
            "exact_designs": found.counts.exact,
            "walks": found.counts.walks,
            "bounds": found.counts.bounds,
            "front": if front.is_empty() && self.arguments.pareto.is_empty() { vec![] } else { [found].into_iter().chain(front).filter_map(point).collect::<Vec<_>>() },
        })
    }

    fn design_json(&self, d: &Design) -> Value {
        let need = &d.need;
        json!({
            "cycles": d.cycles, "design": self.text(d), "array": d.vsa.extent, "simd": d.vsa.lanes,
            "dsp": need.dsp, "lut": need.lut, "ff": need.ff, "bram36": need.bram36, "uram": need.uram,
        })
    }

    /// For `--design`.
    fn text(&self, d: &Design) -> String {
        d.spec(self.asked).to_text()
    }

    fn utilization(&self, d: &Design) -> f64 {
        let lanes = d.vsa.extent[0] * d.vsa.extent[1] * d.vsa.lanes;
        self.program.work.iterations as f64 / (lanes as f64 * d.cycles.max(1) as f64)
    }

    fn as_table(&self, found: &Found, best: &Design, front: &[Found], seconds: f64) -> String {
        let header = ["array", "cycles", "bound", "time", "used", "DSP", "LUT", "BRAM36"].map(String::from).to_vec();
        let row = |f: &Found, d: &Design| {
            let [a, b] = d.vsa.extent;
            vec![
                format!("{a}×{b}×{}", d.vsa.lanes),
                grouped(d.cycles),
                grouped(f.bound),
                format!("{:.2} µs", d.cycles as f64 / self.board.clock_mhz),
                format!("{:.1} %", 100.0 * self.utilization(d)),
                grouped(d.need.dsp),
                grouped(d.need.lut),
                grouped(d.need.bram36),
            ]
        };
        let mut lines = vec![header, row(found, best)];
        lines.extend(front.iter().filter_map(|f| f.best.as_ref().map(|d| row(f, d))));
        let c = &found.counts;
        let proof = if found.gap() == 0.0 {
            "no array within the limits takes fewer cycles".to_string()
        } else {
            format!(
                "no array within the limits takes fewer than {} cycles, {:.2} % less",
                grouped(found.bound),
                100.0 * found.gap()
            )
        };
        let work = format!(
            "{} designs assembled, {} walked coarsely, {} bounded in {seconds:.1} s",
            grouped(c.exact as i64),
            grouped(c.walks as i64),
            grouped(c.bounds as i64)
        );
        format!(
            "{}\n{proof}; {work}\n\nbuild the first one with\n  {}\n",
            table::render(&lines, &[1, 2, 3, 4, 5, 6, 7]),
            self.command(best)
        )
    }

    /// A line to paste.
    fn command(&self, d: &Design) -> String {
        let mut line = format!("sagen rtl --board {} {}", self.arguments.program.board, self.file.display());
        for name in &self.arguments.program.function {
            line += &format!(" --function {name}");
        }
        for (name, value) in &self.arguments.program.defines {
            line += &format!(" -D {name}={value}");
        }
        let spec = d.spec(self.asked);
        let a = &spec.arithmetic;
        for (on, option) in [
            (a.reassociate == Some(true), " --reassociate"),
            (a.fp_contract == Some(true), " --fp-contract"),
            (a.dot == Some(uniform::design::Dot::Fused), " --dot fused"),
        ] {
            line += if on { option } else { "" };
        }
        let ArrayChoice::ByHand { space, shape } = &spec.array else { return line };
        line += if shape.apart == Some(true) { " --apart" } else { "" };
        let table = |list: &uniform::design::Factors| {
            list.iter().map(|(n, f)| format!("{n}={f}")).collect::<Vec<_>>().join(",")
        };
        let words = spec.wiring.word.iter().map(|(n, w)| format!("{n}={w}")).collect::<Vec<_>>().join(",");
        let options = [
            ("space", space.as_ref().filter(|s| !s.is_empty()).map_or_else(|| NO_LOOP.into(), |s| s.join(","))),
            ("strip", table(&shape.strip)),
            ("time", shape.time.clone().unwrap_or_default().join(",")),
            ("order", shape.order.clone().unwrap_or_default().join(",")),
            ("tile", table(&shape.tile)),
            ("latency", table(&shape.latency)),
            ("simd", table(&shape.simd)),
            ("word", words),
        ];
        options.iter().filter(|o| !o.1.is_empty()).for_each(|(name, value)| line += &format!(" --{name} {value}"));
        line
    }
}

/// Best, bound, gap and speed, on a terminal only.
fn live(p: &Progress, begin: Instant) {
    let seen = p.counts.exact + p.counts.walks + p.counts.grids;
    if seen % 64 != 0 || !progress::shown() {
        return;
    }
    let seconds = begin.elapsed().as_secs_f64().max(1e-9);
    let best = p.best.map_or("none yet".into(), grouped);
    let gap = p.best.map_or(100.0, |b| 100.0 * (b - p.bound).max(0) as f64 / b.max(1) as f64);
    progress::say(format!(
        "best {best}, bound {}, gap {gap:.2} %, {:.0} designs/s",
        grouped(p.bound),
        p.counts.exact as f64 / seconds
    ));
}

/// The arrays beside a chosen one on the front, with less and less area: up to three lines.
pub fn neighbours(spec: &DesignSpec, compiled: &search::Compiled, board: &Board) -> String {
    let spec = &search::on(board, spec);
    let program = compiled.stages.as_ref().and_then(|stages| search::program_of(stages, spec));
    let (Some(searched), Some(program)) = (&compiled.report.searched, program) else { return String::new() };
    let effort = Effort {
        exact: tuning::NEIGHBOUR_DESIGNS.min(choose::effort(&program).exact),
        bounds: tuning::NEIGHBOUR_BOUNDS,
        work: tuning::NEIGHBOUR_ROWS,
        gap: tuning::NEIGHBOUR_GAP,
    };
    let mut quest = Quest::new(&program, spec, searched.limits, effort);
    let (mut text, mut name) = (String::new(), "beside it");
    let (mut need, mut cycles) = (compiled.report.resources, compiled.report.prediction.cycles);
    for _ in 0..3 {
        let half = |most: i64, used: i64| most.min(used / 2);
        let limits = quest.limits;
        quest.limits = Resources {
            lut: half(limits.lut, need.lut),
            ff: half(limits.ff, need.ff),
            dsp: half(limits.dsp, need.dsp),
            bram36: limits.bram36.min(need.bram36),
            ..limits
        };
        // What takes that much longer at half the area is no neighbour: the search was too short.
        let Some(d) = quest.fastest().best.filter(|d| d.cycles <= tuning::NEIGHBOUR_CYCLES * cycles) else { break };
        (need, cycles) = (d.need, d.cycles);
        let ratio = d.cycles as f64 / compiled.report.prediction.cycles.max(1) as f64;
        let limits = &quest.limits;
        let option = format!("--limit lut={},ff={},dsp={},bram36={}", limits.lut, limits.ff, limits.dsp, limits.bram36);
        text += &format!(
            "  {name:<12} {} LUT, {} DSP: {} cycles, {ratio:.1} times as many: {option}\n",
            grouped(need.lut),
            grouped(need.dsp),
            grouped(d.cycles)
        );
        name = "";
    }
    text
}
