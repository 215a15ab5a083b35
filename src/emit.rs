//! `sagen rtl`: the output directory, or one stage of the compilation as text.

use crate::cli::{Emit, Rtl};
use crate::data::{self, pack};
use crate::outdir::OutputDir;
use crate::program::{self, Input, Refused, Work};
use crate::sim::{self, bench, Job, Timing};
use crate::{golden, package, progress, report, simulate};
use arch::ir::design::DesignSpec;
use arch::recurrence::rewrite::Attempt;
use arch::ir::vsa::Vsa;
use arch::text::Stage;
use arch::Compiled;
use packaging::File;
use rtl::Verified;
use serde_json::json;
use std::path::PathBuf;
use templates::interface::{Argument, Interface};

/// Runs the subcommand; what to print on standard output.
///
/// # Errors
/// The input is refused, or the directory cannot be written.
pub fn run(arguments: &Rtl) -> Result<String, Refused> {
    let (input, spec, board) = Work::load(&arguments.program, &arguments.design)?.only("`sagen rtl`")?;
    if let Some(text) = before_mapping(arguments.emit, &input, &spec)? {
        return Ok(text);
    }
    let compiled = program::compile(&input, &spec, &board)?;
    match (arguments.emit, &compiled.stages) {
        (Some(Emit::Vsa), _) => return Ok(arch::text::to_text(&compiled.vsa)),
        (Some(Emit::Ure), Some(s)) => return Ok(tried(&s.rewrites) + &arch::text::system(&s.scop, &s.system)),
        (Some(Emit::Mapping), Some(s)) => return Ok(tried(&s.rewrites) + &arch::text::mapping(&s.scop, &s.system, &s.plan) + &shape(&compiled.vsa)),
        (Some(Emit::Scop | Emit::Ure | Emit::Mapping), None) => return Err(Refused::plain("an array by itself does not say what program it was made from")),
        _ => {}
    }
    progress::stage("building");
    let design = templates::ip(&compiled.vsa).map_err(Refused::internal)?;
    if arguments.emit.is_some() {
        progress::done();
        return Ok(rtl::verilog::files(&design).into_iter().map(|f| f.1).collect::<Vec<_>>().join("\n"));
    }
    let interface = Interface::new(&compiled.vsa);
    let target = arguments.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&interface.kernel));
    let out = OutputDir::create(&target).map_err(Refused::plain)?;
    let facts = report::design(&compiled, &board);
    let bench = write(&out, arguments, (&input, &spec), &compiled, &design).map_err(Refused::plain)?;
    let clock = constraints::ClockSpec::new(interface.clock, board.clock_mhz).map_err(Refused::plain)?;
    let constraint = File::new(format!("constraints/{}_ooc.xdc", interface.kernel), constraints::xdc(&clock, &interface.kernel, &board.part));
    let emitted = package::Emitted {
        rtl: rtl::verilog::files(&design).into_iter().map(|(name, text)| File::new(format!("rtl/{name}"), text)).collect(),
        constraints: vec![constraint],
        bench,
        reference: reference(arguments, &input, &compiled).map_err(Refused::plain)?,
        exact: *spec.program(&input.scop) == input.scop && !(spec.arithmetic.reassociate == Some(true) && compiled.vsa.arrays.iter().any(|a| a.ty.is_float())),
    };
    let made = emitted.rtl.clone().into_iter().chain(emitted.constraints.clone());
    let package = package::files(&compiled, &design, &board, emitted).map_err(Refused::plain)?;
    let report = File::new("report.json", serde_json::to_string_pretty(&facts).map_err(Refused::plain)? + "\n");
    for file in made.chain(package).chain([report]) {
        out.write(&file.path, file.bytes).map_err(Refused::plain)?;
    }
    out.commit().map_err(Refused::plain)?;
    progress::done();
    if arguments.json {
        return Ok(format!("{facts:#}\n"));
    }
    let others = if input.stage.is_none() { crate::explore::neighbours(&input.scop, &spec, &compiled) } else { String::new() };
    Ok(format!("{}{others}  written to   {}\n", report::design_text(&compiled, &board), target.display()))
}

/// A stage that is reached without choosing an array.
fn before_mapping(emit: Option<Emit>, input: &Input, spec: &DesignSpec) -> Result<Option<String>, Refused> {
    let scop = match (&input.stage, emit) {
        (None | Some(Stage::Scop(_)), Some(Emit::Scop | Emit::Ure)) => &input.scop,
        (Some(Stage::System(scop, system) | Stage::Mapping(scop, system, _)), Some(Emit::Ure)) => return Ok(Some(arch::text::system(scop, system))),
        (Some(Stage::System(scop, _) | Stage::Mapping(scop, ..)), Some(Emit::Scop)) => return Ok(Some(scop.to_string())),
        _ => return Ok(None),
    };
    if emit == Some(Emit::Scop) {
        return Ok(Some(spec.program(scop).to_string()));
    }
    let program = arch::program(scop, spec).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
    Ok(Some(tried(&program.rewrites) + &arch::text::system(&program.scop, &program.system)))
}

/// What came of the rewrites, as comments.
fn tried(rewrites: &[Attempt]) -> String {
    rewrites.iter().map(|attempt| format!("# {attempt}\n")).collect()
}

/// The loops that a mapping makes, as comments.
fn shape(vsa: &Vsa) -> String {
    let loops = vsa.counters.iter().enumerate().map(|(k, c)| format!("# {} loop {} trip {}\n", if k < vsa.tile_depth { "tile" } else { "time" }, c.name, c.trip));
    format!("# {}\n", report::headline(vsa)) + &loops.collect::<String>() + &format!("# skew {:?} interval {}\n", vsa.schedule.skew, vsa.schedule.interval)
}

/// Programs up to this many operations come with expected results for the testbench.
const EXPECTED_LIMIT: i64 = 1 << 24;

/// C text that runs the program beside the IP, if it is made from one.
fn reference(arguments: &Rtl, input: &Input, compiled: &Compiled) -> Result<Option<String>, String> {
    if input.stage.is_some() {
        return Ok(None);
    }
    let places = data::places(&input.scop, &compiled.vsa)?;
    let (file, options) = (&input.file, arguments.program.parse_options());
    let interface = Interface::new(&compiled.vsa);
    let in_order: Vec<usize> = interface.arguments.iter().map(|a| places[a.data(compiled.vsa.arrays.len())]).collect();
    Ok(Some(golden::reference(&input.scop, file, &options, &interface.kernel, &in_order)))
}

/// Testbench and pictures.
fn write(out: &OutputDir, arguments: &Rtl, (input, spec): (&Input, &DesignSpec), compiled: &Compiled, design: &Verified) -> Result<package::Bench, String> {
    let scop = &input.scop;
    let vsa = &compiled.vsa;
    out.write("array.svg", arch::svg::draw(vsa))?;
    if let Some(stages) = &compiled.stages {
        out.write("array.time.svg", stages.diagram(vsa))?;
    }
    out.write("vsa.txt", arch::text::to_text(vsa))?;
    let mut memory = data::random(scop, 1);
    let places = data::places(scop, vsa)?;
    let mut expected = None;
    if compiled.report.work.is_none_or(|w| w.operations <= EXPECTED_LIMIT) {
        if let Ok(run) = simulate::known(input, &arguments.program, &memory) {
            memory = run.before;
            expected = match simulate::rounded(scop, spec, vsa, &memory, &places)? {
                Some(own) => Some(own.expected),
                None if run.native && simulate::disagreement(scop, &memory, &run.after)? > 0 => {
                    program::notice(&format!("{} and sagen's interpreter of the region disagree (`sagen sim` says more): the testbench comes without expected results", run.model));
                    None
                }
                None => Some(places.iter().map(|&p| run.after[p].clone()).collect()),
            };
        }
    }
    let bytes = |values: &Vec<Vec<u64>>| -> Vec<Vec<u8>> { values.iter().zip(vsa.types()).map(|(v, ty)| pack(v, ty)).collect() };
    let memory = places.iter().map(|&p| memory[p].clone()).collect();
    let watchdog = 10 * compiled.report.prediction.cycles.max(0) as u64 + 100_000;
    let contents = (bytes(&memory), expected.as_ref().map(&bytes).unwrap_or_default());
    let images = sim::place(vsa, &contents.0, 0, 1);
    let job = Job { design, vsa, images, timing: Timing::IDEAL, cycles: 0, watchdog, vcd: None };
    let texts = vec![File::new("sim/axi_memory.v", bench::MEMORY), File::new(format!("sim/{}.v", bench::names(&job)?.0), bench::text(&job)?)];
    let before = (0..vsa.ports()).map(|port| format!("sim/{}", bench::image_names(port).0));
    let bench = package::Bench { verilog: texts.iter().map(|f| f.path.clone()).collect(), images: before.collect() };
    for file in texts {
        out.write(&file.path, file.bytes)?;
    }
    let expected = expected.map(|_| sim::place(vsa, &contents.1, 0, 1));
    let expected = expected.map(|images| Job { images, vcd: None, ..job });
    for port in 0..vsa.ports() {
        out.write(&format!("sim/{}", bench::image_names(port).0), sim::external::image(&job, port))?;
        if let Some(expected) = &expected {
            out.write(&format!("sim/memory_{port}.expected.hex"), sim::external::image(expected, port))?;
        }
    }
    if expected.is_some() {
        out.write("sim/axi_check.json", bus_check(vsa, &contents.0, watchdog) + "\n")?;
        for argument in Interface::new(vsa).arguments {
            let k = argument.data(vsa.arrays.len());
            out.write(&format!("sim/{}.in.bin", argument.ident), &contents.0[k])?;
            out.write(&format!("sim/{}.expected.bin", argument.ident), &contents.1[k])?;
        }
    }
    out.write("sim/run.sh", RUN.replace("@NAME@", &Interface::new(vsa).kernel))?;
    Ok(bench)
}

/// What `scripts/axi_check` needs to drive the IP with third-party bus models: ports, registers, array images.
fn bus_check(vsa: &arch::ir::vsa::Vsa, contents: &[Vec<u8>], watchdog: u64) -> String {
    let interface = Interface::new(vsa);
    let array = |argument: &Argument| {
        let place = argument.array()?;
        Some(json!({
            "name": argument.name,
            "port": interface.ports[place.port].name,
            "offset": argument.offset,
            "bytes": contents[place.index].len(),
            "element": argument.ty.bytes(),
            "port_number": place.port,
            "input": format!("{}.in.bin", argument.ident),
            "expected": format!("{}.expected.bin", argument.ident),
        }))
    };
    let word = |argument: &Argument| {
        let bytes = &contents[argument.data(vsa.arrays.len())];
        let words = bytes.chunks(4).map(|w| w.iter().rev().fold(0u32, |v, &b| v << 8 | u32::from(b)));
        argument.array().is_none().then(|| json!({ "name": argument.name, "offset": argument.offset, "words": words.collect::<Vec<_>>() }))
    };
    let arrays: Vec<_> = interface.arguments.iter().filter_map(array).collect();
    let scalars: Vec<_> = interface.arguments.iter().filter_map(word).collect();
    format!("{:#}", json!({ "top": interface.kernel, "max_cycles": watchdog, "status": interface.layout.status(), "arrays": arrays, "scalars": scalars }))
}

/// Runs the testbench by hand.
const RUN: &str = r#"#!/bin/sh
# Simulates the design in Icarus Verilog: `sh run.sh`. memory_K.in.hex is what port K's arrays hold before, with guard
# bytes around each; memory_K.expected.hex, where present, what the C program leaves.
set -e
cd "$(dirname "$0")"
iverilog -g2005 -o /tmp/@NAME@.$$.vvp -s tb_@NAME@ ../rtl/*.v axi_memory.v tb_@NAME@.v
vvp -n /tmp/@NAME@.$$.vvp
rm -f /tmp/@NAME@.$$.vvp
for expected in *.expected.hex; do
    [ -e "$expected" ] || continue
    grep -v '^//' "${expected%.expected.hex}.out.hex" | cmp - "$expected"
done
"#;
