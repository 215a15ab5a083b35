//! `sagen rtl`: the report about a written IP, and its neighbours on the front of cycles and area.

use crate::cli::Rtl;
use crate::explore::{neighbours, Neighbour};
use crate::package::{Packaged, PackagedFunction};
use crate::report::{self, grouped, Design};
use search::Compiled;

/// What `sagen rtl` prints.
pub fn shown(packaged: &Packaged, arguments: &Rtl) -> String {
    let Packaged { directory, board, ip, interface, functions, report } = packaged;
    if arguments.json {
        return format!("{report:#}\n");
    }
    let others = match &functions[..] {
        [PackagedFunction { input, spec, compiled }] if input.stage.is_none() => {
            beside(&neighbours(spec, compiled, board), compiled)
        }
        _ => String::new(),
    };
    let compiled: Vec<&Compiled> = functions.iter().map(|f| &f.compiled).collect();
    let text = report::design_text(&Design { ip, interface, functions: &compiled, board });
    format!("{text}{others}  written to   {}\n", directory.display())
}

/// A line for each neighbour, with the option that leads to it.
fn beside(neighbours: &[Neighbour], compiled: &Compiled) -> String {
    let line = |(k, n): (usize, &Neighbour)| {
        let name = if k == 0 { "beside it" } else { "" };
        let ratio = n.cycles as f64 / compiled.report.prediction.cycles.max(1) as f64;
        let limits = n.limits.named().map(|(name, n)| format!("{name}={n}"));
        let option = format!("--limit {}", limits[..4].join(","));
        format!(
            "  {name:<12} {} LUT, {} DSP: {} cycles, {ratio:.1} times as many: {option}\n",
            grouped(n.need.lut),
            grouped(n.need.dsp),
            grouped(n.cycles)
        )
    };
    neighbours.iter().enumerate().map(line).collect()
}
