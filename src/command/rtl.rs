//! `sagen rtl`: the report about a written IP, and the arrays beside it on the front of cycles and resources.

use crate::cli::Rtl;
use crate::package::{Packaged, PackagedFunction};
use crate::report::{self, grouped, Design};
use search::Compiled;

/// What `sagen rtl` prints.
pub fn shown(packaged: &Packaged, arguments: &Rtl) -> String {
    let Packaged { directory, board, ip, interface, functions, report, clock, .. } = packaged;
    if arguments.json {
        return format!("{report:#}\n");
    }
    let compiled: Vec<&Compiled> = functions.iter().map(|f| &f.compiled).collect();
    let text = report::design_text(&Design { ip, interface, functions: &compiled, board, clock });
    format!("{text}{}  written to   {}\n", beside(packaged), directory.display())
}

/// A line for each array beside the chosen one, with the option that builds it.
fn beside(packaged: &Packaged) -> String {
    let [PackagedFunction { compiled, .. }] = &packaged.functions[..] else { return String::new() };
    let line = |(k, d): (usize, &search::branch::Design)| {
        let name = if k == 0 { "beside it" } else { "" };
        let ratio = d.cycles as f64 / compiled.report.prediction.cycles.max(1) as f64;
        format!(
            "  {name:<12} {} cycles ({ratio:.2} times as many) with {} LUT, {} DSP: --design {}\n",
            grouped(d.cycles),
            grouped(d.need.lut),
            grouped(d.need.dsp),
            packaged.directory.join(crate::package::design_file(k)).display()
        )
    };
    packaged.beside.iter().enumerate().map(line).collect()
}
