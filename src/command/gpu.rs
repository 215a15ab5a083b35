//! `sagen gpu`: the report about a written kernel.

use crate::cli::Gpu;
use crate::gpu::Written;
use crate::report::grouped;
use gpu::choose::{self, Choices};
use std::fmt::Write as _;

/// What `sagen gpu` prints.
pub fn shown(written: &Written, arguments: &Gpu) -> String {
    let Choices { phases, launches } = &written.chosen;
    if arguments.emit {
        return launches.phases().map(gpu::text::to_text).collect();
    }
    let mut out = String::new();
    if phases.len() > 1 {
        let (n, kernels) = (phases.len(), launches.kernels.len());
        let _ = writeln!(out, "{}: {n} phases, one launch after the other, of {kernels} kernels", launches.name);
    }
    for (chosen, warp) in phases.iter().zip(launches.phases()) {
        let _ = writeln!(out, "{}: {} PEs a warp, {} registers a lane for each row", warp.name, warp.pes(), warp.width);
        for line in &warp.map {
            let _ = writeln!(out, "  {line}");
        }
        if let Some(options) = &chosen.options {
            let how = match chosen.compared {
                0 | 1 => String::new(),
                n => format!(" (best of {n} by the model)"),
            };
            let ahead = arguments.ahead.map_or(String::new(), |rows| format!(" --ahead {rows}"));
            let _ = writeln!(out, "  map          {}{ahead}{how}", choose::options(options));
        }
    }
    let seconds = written.chosen.seconds();
    let _ = writeln!(out, "  estimate     {:.1} us on an H200, by the model; not measured", seconds * 1e6);
    if let Some(check) = &written.check {
        let _ = writeln!(out, "  golden model {}", check.model);
        match check.faults.as_slice() {
            [] => {
                let _ = writeln!(
                    out,
                    "  equal        all {} elements and the memory around them, on the CPU",
                    grouped(check.elements as i64)
                );
            }
            faults => out += &faults.iter().map(|f| format!("  different    {f}\n")).collect::<String>(),
        }
    }
    if let Some(directory) = written.directory.as_ref().filter(|_| code(written) == 0) {
        let _ = writeln!(out, "  written to   {}", directory.display());
    }
    out
}

/// The exit code.
pub fn code(written: &Written) -> u8 {
    match written.check.as_ref().is_some_and(|c| !c.faults.is_empty()) {
        true => crate::error::exit::DIFFERENT,
        false => 0,
    }
}
