//! `sagen explore --network`: one array for all layers of a network, which are one C file with other macros each.

use super::{effort, live, space_loops, with_counts};
use crate::cli::{Explore, Program};
use crate::files;
use crate::program::{Refused, Work};
use crate::progress;
use crate::report::grouped;
use crate::table;
use array::kernel::Kernel;
use cost::board::Board;
use scop::Scop;
use search::branch::{network, Design, Layer, Network, Progress, Shared};
use search::choose;
use serde::Deserialize;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use uniform::design::DesignSpec;

/// The file: `[[layer]]` tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    layer: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    /// Runs of the layer; equal layers need one table.
    #[serde(default = "once")]
    times: i64,
    /// Macros of the C file.
    define: BTreeMap<String, toml::Value>,
}

fn once() -> i64 {
    1
}

/// A layer as it was read.
struct Read {
    name: String,
    times: i64,
    scop: Scop,
    spec: DesignSpec,
}

/// # Errors
/// The file is none, a layer is refused, the layers are not of one form, nothing fits.
pub(super) fn run(arguments: &Explore, path: &Path) -> Result<String, Refused> {
    let (layers, board) = read(arguments, path)?;
    let mut programs: Vec<Kernel> = vec![];
    for layer in &layers {
        programs.push(
            search::program(&layer.scop, &search::on(&board, &layer.spec))
                .map_err(|faults| of_layer(path, &layer.name, Refused::diagnostics(&faults, &layer.scop.sources)))?,
        );
    }
    let spec = &search::on(&board, &layers[0].spec);
    let space = space_loops(spec, &programs[0])?;
    let limits = choose::limits_of(&board, &spec.aim.limit).map_err(Refused::plain)?;
    let begin = Instant::now();
    let watch = |p: &Progress| {
        live(p, begin);
        arguments.time_limit.is_none_or(|most| begin.elapsed() < Duration::from_secs_f64(most))
    };
    let parts: Vec<Layer> =
        programs.iter().zip(&layers).map(|(program, layer)| Layer { program, times: layer.times }).collect();
    let found =
        network(&Network { layers: &parts, spec, limits, space, effort: effort(arguments), watch: Some(&watch) });
    progress::done();
    let found = found.map_err(|why| Refused::plain(format!("{}: {why}", path.display())))?;
    let found = found.ok_or_else(|| Refused::plain("no array within the limits runs all layers"))?;
    let seconds = begin.elapsed().as_secs_f64();
    let answer = Answer { layers: &layers, programs: &programs, board: &board, found: &found, seconds };
    Ok(if arguments.json { format!("{:#}\n", answer.as_json()) } else { answer.as_table() })
}

/// Why a layer is refused.
fn of_layer(path: &Path, name: &str, why: Refused) -> Refused {
    Refused { text: format!("layer {name} of {}:\n{}", path.display(), why.text), ..why }
}

fn read(arguments: &Explore, path: &Path) -> Result<(Vec<Read>, Board), Refused> {
    let wrong = |why: String| Refused::plain(format!("{}: {why}", path.display()));
    let file: File = toml::from_str(&files::text(path).map_err(Refused::plain)?).map_err(|e| wrong(e.to_string()))?;
    let (mut layers, mut board) = (vec![], None);
    for (k, entry) in file.layer.into_iter().enumerate() {
        let name = entry.name.unwrap_or_else(|| (k + 1).to_string());
        if entry.times < 1 {
            return Err(wrong(format!("layer {name} runs {} times: once is the least", entry.times)));
        }
        let text = |value: toml::Value| value.as_str().map_or_else(|| value.to_string(), String::from);
        let own = entry.define.into_iter().map(|(macro_name, value)| (macro_name, text(value)));
        let program = Program {
            defines: arguments.program.defines.iter().cloned().chain(own).collect(),
            ..arguments.program.clone()
        };
        let loaded = Work::load(&program, &arguments.design).and_then(|work| work.only("`sagen explore --network`"));
        let (input, spec, its_board) = loaded.map_err(|why| of_layer(path, &name, why))?;
        board = Some(its_board);
        layers.push(Read { name, times: entry.times, scop: input.scop, spec });
    }
    let board = board.ok_or_else(|| wrong("a network has one [[layer]] at least".into()))?;
    Ok((layers, board))
}

struct Answer<'a> {
    layers: &'a [Read],
    programs: &'a [Kernel<'a>],
    board: &'a Board,
    found: &'a Shared,
    seconds: f64,
}

impl Answer<'_> {
    fn rows(&self) -> impl Iterator<Item = (&Read, &Kernel<'_>, &Design)> {
        self.layers
            .iter()
            .zip(self.programs)
            .zip(&self.found.designs)
            .map(|((layer, program), design)| (layer, program, design))
    }

    /// Share of the array's lanes that work, 0 to 1.
    fn used(&self, program: &Kernel, cycles: i64) -> f64 {
        let lanes = self.found.pes[0] * self.found.pes[1] * self.found.lanes.as_ref().map_or(1, |l| l.1);
        program.work.iterations as f64 / (lanes as f64 * cycles.max(1) as f64)
    }

    fn as_json(&self) -> Value {
        let layer = |(layer, program, design): (&Read, &Kernel, &Design)| {
            let value = json!({
                "name": layer.name, "times": layer.times, "cycles": design.cycles, "design": design.spec(&layer.spec).to_text(),
                "used": self.used(program, design.cycles),
            });
            with_counts(value, &design.need)
        };
        let f = self.found;
        let lanes = f.lanes.as_ref().map(|(name, n)| json!({ "loop": name, "lanes": n }));
        json!({
            "board": self.board.name, "axes": f.axes, "array": f.pes, "simd": lanes, "cycles": f.cycles, "bound": f.bound, "gap": f.gap(),
            "seconds": self.seconds, "exact_designs": f.counts.exact, "walks": f.counts.walks, "bounds": f.counts.bounds, "grids": f.counts.grids,
            "layers": self.rows().map(layer).collect::<Vec<_>>(),
        })
    }

    fn as_table(&self) -> String {
        let header = ["layer", "times", "cycles", "used", "DSP", "LUT", "BRAM36"].map(String::from).to_vec();
        let row = |(layer, program, design): (&Read, &Kernel, &Design)| {
            let need = &design.need;
            let used = format!("{:.1} %", 100.0 * self.used(program, design.cycles));
            vec![
                layer.name.clone(),
                layer.times.to_string(),
                grouped(design.cycles),
                used,
                grouped(need.dsp),
                grouped(need.lut),
                grouped(need.bram36()),
            ]
        };
        let lines: Vec<Vec<String>> = std::iter::once(header).chain(self.rows().map(row)).collect();
        let f = self.found;
        let lanes = f.lanes.as_ref().map_or(String::new(), |(name, n)| format!(", {n} lanes over {name}"));
        let proof = match f.gap() {
            0.0 => "no array takes fewer".to_string(),
            gap => format!("no array takes fewer than {}, {:.2} % less", grouped(f.bound), 100.0 * gap),
        };
        format!(
            "{}×{} PEs over ({}){lanes}\n\n{}\nall layers: {} cycles, {:.3} ms; {proof}\n{} designs assembled, {} \
            grids and {} shapes bounded in {:.1} s\n",
            f.pes[0],
            f.pes[1],
            f.axes.join(", "),
            table::render(&lines, &[1, 2, 3, 4, 5, 6]),
            grouped(f.cycles),
            f.cycles as f64 / self.board.clock_mhz / 1000.0,
            grouped(f.counts.exact as i64),
            grouped(f.counts.grids as i64),
            grouped(f.counts.bounds as i64),
            self.seconds
        )
    }
}
