//! `sagen gpu`: the report about a written kernel.

use crate::cli::Gpu;
use crate::gpu::Written;
use crate::report::grouped;
use gpu::choose;
use std::fmt::Write as _;

/// What `sagen gpu` prints.
pub fn shown(written: &Written, arguments: &Gpu) -> String {
    let warp = &written.chosen.warp;
    if arguments.emit {
        return gpu::text::to_text(warp);
    }
    let mut out = format!("{}: {} PEs a warp, {} registers a lane for each row\n", warp.name, warp.pes(), warp.width);
    for line in &warp.map {
        let _ = writeln!(out, "  {line}");
    }
    if let Some(options) = &written.chosen.options {
        let how = match written.chosen.compared {
            0 | 1 => String::new(),
            n => format!(" (best of {n} by the model)"),
        };
        let _ = writeln!(out, "  map          {}{how}", choose::options(options));
    }
    let estimate = &written.chosen.estimate;
    let _ = writeln!(out, "  estimate     {:.1} us on an H200, by the model; not measured", estimate.seconds * 1e6);
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
