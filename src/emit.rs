//! `sagen rtl`: the output directory, or one stage of the compilation as text.

use crate::cli::{Emit, Rtl};
use crate::data::{self, pack};
use crate::outdir::OutputDir;
use crate::program::{self, Input, Refused, Work};
use crate::report::{self, Design};
use crate::sim::{self, bench, Built, Job, Timing};
use crate::{golden, package, progress, simulate};
use array::ip::Ip;
use array::text::Stage;
use array::vsa::Vsa;
use packaging::File;
use search::Compiled;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use templates::interface::{Argument, Function, Interface};
use uniform::design::DesignSpec;
use uniform::recurrence::rewrite::Attempt;

/// Runs the subcommand; what to print on standard output.
///
/// # Errors
/// The input is refused, or the directory cannot be written.
pub fn run(arguments: &Rtl) -> Result<String, Refused> {
    let work = Work::load(&arguments.program, &arguments.design)?;
    if work.functions.len() > 1 && arguments.emit.is_some_and(|stage| stage != Emit::Rtl) {
        return Err(work.several("this stage"));
    }
    let mut functions = vec![];
    for (input, spec) in &work.functions {
        if let Some(text) = before_mapping(arguments.emit, input, spec)? {
            return Ok(text);
        }
        let compiled = program::compile(input, spec, &work.board)?;
        if let Some(text) = stage(arguments.emit, &compiled)? {
            return Ok(text);
        }
        functions.push(Emitted { input, spec, compiled });
    }
    progress::stage("building");
    let arrays: Vec<&Vsa> = functions.iter().map(|f| &f.compiled.vsa).collect();
    let ip = Ip::new(&work.name, work.queue, &arrays);
    let built = Built::new(&ip).map_err(Refused::internal)?;
    if arguments.emit.is_some() {
        progress::done();
        return Ok(built.verilog().into_iter().map(|f| f.1).collect::<Vec<_>>().join("\n"));
    }
    let compiled: Vec<&Compiled> = functions.iter().map(|f| &f.compiled).collect();
    let target = arguments.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&built.interface.kernel));
    let facts = Design { ip: &ip, interface: &built.interface, functions: &compiled, board: &work.board };
    let report = report::design(&facts);
    directory(&target, arguments, &functions, (&built, &facts), &report).map_err(Refused::plain)?;
    progress::done();
    if arguments.json {
        return Ok(format!("{report:#}\n"));
    }
    let others = match &functions[..] {
        [Emitted { input, spec, compiled }] if input.stage.is_none() => {
            crate::explore::neighbours(spec, compiled, &work.board)
        }
        _ => String::new(),
    };
    Ok(format!("{}{others}  written to   {}\n", report::design_text(&facts), target.display()))
}

/// A function of the IP.
struct Emitted<'a> {
    input: &'a Input,
    spec: &'a DesignSpec,
    compiled: Compiled,
}

impl Emitted<'_> {
    /// Every bit of a result is the C program's.
    fn exact(&self) -> bool {
        let Emitted { input, spec, compiled } = self;
        *spec.program(&input.scop) == input.scop
            && !(spec.arithmetic.reassociate == Some(true) && compiled.vsa.arrays.iter().any(|a| a.ty.is_float()))
    }
}

/// A stage that is reached with the array.
fn stage(emit: Option<Emit>, compiled: &Compiled) -> Result<Option<String>, Refused> {
    match (emit, &compiled.stages) {
        (Some(Emit::Vsa), _) => Ok(Some(array::text::to_text(&compiled.vsa))),
        (Some(Emit::Ure), Some(s)) => Ok(Some(tried(&s.rewrites) + &uniform::text::system(&s.scop, &s.system))),
        (Some(Emit::Mapping), Some(s)) => {
            Ok(Some(tried(&s.rewrites) + &uniform::text::mapping(&s.scop, &s.system, &s.plan) + &shape(&compiled.vsa)))
        }
        (Some(Emit::Scop | Emit::Ure | Emit::Mapping), None) => {
            Err(Refused::plain("an array by itself does not say what program it was made from"))
        }
        _ => Ok(None),
    }
}

/// Writes the output directory.
fn directory(
    target: &Path,
    arguments: &Rtl,
    functions: &[Emitted],
    (built, facts): (&Built, &Design),
    report: &Value,
) -> Result<(), String> {
    let (interface, board) = (&built.interface, facts.board);
    let out = OutputDir::create(target)?;
    pictures(&out, functions)?;
    let bench = write(&out, arguments, functions, built)?;
    let clock = constraints::ClockSpec::new(interface.clock, board.clock_mhz).map_err(|e| e.to_string())?;
    let constraint = File::new(
        format!("constraints/{}_ooc.xdc", interface.kernel),
        constraints::xdc(&clock, &interface.kernel, &board.part),
    );
    let mut packaged = vec![];
    for (f, function) in functions.iter().enumerate() {
        let reference = reference(arguments, function, &interface.functions[f], &interface.kernel)?;
        packaged.push(package::function(&function.compiled, &interface.functions[f], reference, function.exact()));
    }
    let emitted = package::Emitted {
        rtl: built.verilog().into_iter().map(|(name, text)| File::new(format!("rtl/{name}"), text)).collect(),
        constraints: vec![constraint],
        bench,
        functions: packaged,
    };
    let made = emitted.rtl.clone().into_iter().chain(emitted.constraints.clone());
    let package = package::files(built, board, emitted)?;
    let report = File::new("report.json", serde_json::to_string_pretty(report).map_err(|e| e.to_string())? + "\n");
    for file in made.chain(package).chain([report]) {
        out.write(&file.path, file.bytes)?;
    }
    out.commit()
}

/// A stage that is reached without choosing an array.
fn before_mapping(emit: Option<Emit>, input: &Input, spec: &DesignSpec) -> Result<Option<String>, Refused> {
    let scop = match (&input.stage, emit) {
        (None | Some(Stage::Scop(_)), Some(Emit::Scop | Emit::Ure)) => &input.scop,
        (Some(Stage::System(scop, system) | Stage::Mapping(scop, system, _)), Some(Emit::Ure)) => {
            return Ok(Some(uniform::text::system(scop, system)))
        }
        (Some(Stage::System(scop, _) | Stage::Mapping(scop, ..)), Some(Emit::Scop)) => {
            return Ok(Some(scop.to_string()))
        }
        _ => return Ok(None),
    };
    if emit == Some(Emit::Scop) {
        return Ok(Some(spec.program(scop).to_string()));
    }
    let program = search::program(scop, spec).map_err(|faults| Refused::diagnostics(&faults, &scop.sources))?;
    Ok(Some(tried(&program.rewrites) + &uniform::text::system(&program.scop, &program.system)))
}

/// What came of the rewrites, as comments.
fn tried(rewrites: &[Attempt]) -> String {
    rewrites.iter().map(|attempt| format!("# {attempt}\n")).collect()
}

/// The loops that a mapping makes, as comments.
fn shape(vsa: &Vsa) -> String {
    let loops = vsa.counters.iter().enumerate().map(|(k, c)| {
        format!("# {} loop {} trip {}\n", if k < vsa.tile_depth { "tile" } else { "time" }, c.name, c.trip)
    });
    format!("# {}\n", report::headline(vsa))
        + &loops.collect::<String>()
        + &format!("# skew {:?} interval {}\n", vsa.schedule.steps(), vsa.schedule.interval)
}

/// Programs up to this many operations come with expected results for the testbench.
const EXPECTED_LIMIT: i64 = 1 << 24;

/// C text that runs the program beside the IP, if it is made from one.
fn reference(
    arguments: &Rtl,
    Emitted { input, compiled, .. }: &Emitted,
    function: &Function,
    name: &str,
) -> Result<Option<String>, String> {
    if input.stage.is_some() {
        return Ok(None);
    }
    let numbers = data::numbers(&input.scop, &compiled.vsa)?;
    let in_order: Vec<Option<usize>> = function.arguments.iter().map(|a| numbers[a.data(function.arrays)]).collect();
    Ok(Some(golden::reference(&input.scop, &input.file, &arguments.program.parse_options(), name, &in_order)))
}

/// What the arrays look like; of several functions each in a folder of its own.
fn pictures(out: &OutputDir, functions: &[Emitted]) -> Result<(), String> {
    for Emitted { compiled, .. } in functions {
        let vsa = &compiled.vsa;
        let folder = if functions.len() > 1 { format!("{}/", vsa.name) } else { String::new() };
        out.write(&format!("{folder}array.svg"), draw::draw(&vsa.at_most()))?;
        if let Some(stages) = &compiled.stages {
            out.write(&format!("{folder}array.time.svg"), stages.diagram(vsa))?;
        }
        out.write(&format!("{folder}vsa.txt"), array::text::to_text(vsa))?;
    }
    Ok(())
}

/// What a function's arrays and scalars hold before a run and, where it is known, after it: bytes, as in the `Vsa`.
fn contents(
    arguments: &Rtl,
    Emitted { input, spec, compiled }: &Emitted,
) -> Result<(Vec<Vec<u8>>, Option<Vec<Vec<u8>>>), String> {
    // With sizes, at the greatest ones.
    let sizes = compiled.vsa.sizes.maxima();
    let (input, compiled) = (&input.at(&sizes), &compiled.at(&sizes));
    let (scop, vsa) = (&input.scop, &compiled.vsa);
    let mut memory = data::random(scop, 1);
    let numbers = data::numbers(scop, vsa)?;
    let mut expected = None;
    if compiled.report.work.is_none_or(|w| w.operations <= EXPECTED_LIMIT) {
        if let Ok(run) = simulate::known(input, &arguments.program, &memory) {
            memory = run.before;
            expected = match simulate::rounded(scop, spec, vsa, &memory, &numbers)? {
                Some(own) => Some(own.expected),
                None if run.native && simulate::disagreement(scop, &memory, &run.after)? > 0 => {
                    program::notice(&format!(
                        "{} and sagen's interpreter of the region disagree (`sagen sim` says more): the testbench \
                        comes without expected results",
                        run.model
                    ));
                    None
                }
                None => Some(data::of_vsa(vsa, &numbers, &run.after)),
            };
        }
    }
    if let Some(expected) = expected.as_mut().filter(|_| vsa.arrays.iter().any(|a| a.scratch.is_some())) {
        // What the array leaves in its scratch buffers: no C program has them.
        let own = simulate::execute(vsa, &memory, &numbers)?;
        (0..vsa.arrays.len())
            .filter(|&k| vsa.arrays[k].scratch.is_some())
            .for_each(|k| expected[k].clone_from(&own[k]));
    }
    let bytes = |values: &Vec<Vec<u64>>| -> Vec<Vec<u8>> {
        values.iter().zip(vsa.types()).map(|(v, ty)| pack(v, ty)).collect()
    };
    let before = data::of_vsa(vsa, &numbers, &memory);
    Ok((bytes(&before), expected.as_ref().map(bytes)))
}

/// The testbench, which runs every function once.
fn write(out: &OutputDir, arguments: &Rtl, functions: &[Emitted], built: &Built) -> Result<package::Bench, String> {
    let interface = &built.interface;
    let all = functions.iter().map(|f| contents(arguments, f)).collect::<Result<Vec<_>, _>>()?;
    let place = |expected: bool| {
        let one = |(number, (f, (before, after))): (usize, (&Emitted, &(Vec<Vec<u8>>, Option<Vec<Vec<u8>>>)))| {
            let bytes = if expected { after.as_ref()? } else { before };
            Some(sim::Run {
                function: number,
                images: sim::place(&f.compiled.vsa, bytes, 0, 1, number),
                sizes: f.compiled.vsa.sizes.maxima(),
                cut: None,
            })
        };
        functions.iter().zip(&all).enumerate().map(one).collect::<Option<Vec<_>>>()
    };
    let watchdog =
        10 * functions.iter().map(|f| f.compiled.report.prediction.cycles.max(0) as u64).max().unwrap_or(0) + 100_000;
    let job = Job {
        built,
        runs: place(false).unwrap_or_default(),
        queued: false,
        timing: Timing::IDEAL,
        cycles: 0,
        watchdog,
        vcd: None,
    };
    let texts = vec![
        File::new("sim/axi_memory.v", bench::MEMORY),
        File::new(format!("sim/{}.v", bench::names(&job)?.0), bench::text(&job, watchdog)?),
    ];
    let ports = interface.ports.len();
    let before = (0..ports).map(|port| format!("sim/{}", bench::image_names(port).0));
    let bench = package::Bench { verilog: texts.iter().map(|f| f.path.clone()).collect(), images: before.collect() };
    for file in texts {
        out.write(&file.path, file.bytes)?;
    }
    let expected = place(true).map(|runs| Job { runs, vcd: None, ..job });
    for port in 0..ports {
        out.write(&format!("sim/{}", bench::image_names(port).0), sim::external::image(&job, port))?;
        if let Some(expected) = &expected {
            out.write(&format!("sim/memory_{port}.expected.hex"), sim::external::image(expected, port))?;
        }
    }
    if expected.is_some() {
        out.write("sim/axi_check.json", bus_check(interface, &all, watchdog) + "\n")?;
        for (function, (before, after)) in interface.functions.iter().zip(&all) {
            for argument in &function.arguments {
                let (k, name) = (argument.data(function.arrays), file_name(interface, function, argument));
                out.write(&format!("sim/{name}.in.bin"), &before[k])?;
                out.write(&format!("sim/{name}.expected.bin"), after.as_ref().map_or(&before[k], |a| &a[k]))?;
            }
        }
    }
    out.write("sim/run.sh", RUN.replace("@NAME@", &interface.kernel))?;
    Ok(bench)
}

/// What an argument's files are called.
fn file_name(interface: &Interface, function: &Function, argument: &Argument) -> String {
    if interface.functions.len() > 1 {
        format!("{}.{}", function.ident, argument.ident)
    } else {
        argument.ident.clone()
    }
}

/// What `scripts/axi_check` needs to drive the IP with third-party bus models: ports, registers, array images.
fn bus_check(interface: &Interface, contents: &[(Vec<Vec<u8>>, Option<Vec<Vec<u8>>>)], watchdog: u64) -> String {
    let function = |(number, (function, (before, _))): (usize, (&Function, &(Vec<Vec<u8>>, Option<Vec<Vec<u8>>>)))| {
        let bytes = |argument: &Argument| &before[argument.data(function.arrays)];
        let array = |argument: &Argument| {
            let place = argument.array()?;
            let name = file_name(interface, function, argument);
            Some(json!({
                "name": argument.name,
                "port": interface.ports[place.port].name,
                "offset": argument.offset,
                "bytes": bytes(argument).len(),
                "element": argument.ty.bytes(),
                "port_number": place.port,
                "input": format!("{name}.in.bin"),
                "expected": format!("{name}.expected.bin"),
            }))
        };
        let word = |argument: &Argument| {
            let words = bytes(argument).chunks(4).map(|w| w.iter().rev().fold(0u32, |v, &b| v << 8 | u32::from(b)));
            argument.array().is_none().then(
                || json!({ "name": argument.name, "offset": argument.offset, "words": words.collect::<Vec<_>>() }),
            )
        };
        let arrays: Vec<_> = function.arguments.iter().filter_map(array).collect();
        let scalars: Vec<_> = function.arguments.iter().filter_map(word).collect();
        json!({ "function": function.name, "number": number, "arrays": arrays, "scalars": scalars })
    };
    let mut functions: Vec<Value> = interface.functions.iter().zip(contents).enumerate().map(function).collect();
    let mut value = json!({ "top": interface.kernel, "address_bits": interface.address_bits, "max_cycles": watchdog, "status": interface.layout.status() });
    match &mut functions[..] {
        [only] => ["arrays", "scalars"].into_iter().for_each(|key| value[key] = only[key].take()),
        _ => {
            value["function_register"] = json!(interface.layout.function());
            value["functions"] = json!(functions);
        }
    }
    format!("{value:#}")
}

/// Runs the testbench by hand.
const RUN: &str = r#"#!/bin/sh
# Simulates the design in Icarus Verilog: `sh run.sh`; `sh run.sh +latency=200`, `sh run.sh +ddr=7`: with a slower memory, with
# one that stalls as this number says. memory_K.in.hex is what port K's arrays hold before, with guard bytes around each;
# memory_K.expected.hex, where present, what the C program leaves.
set -e
cd "$(dirname "$0")"
iverilog -g2005 -o /tmp/@NAME@.$$.vvp -s tb_@NAME@ ../rtl/*.v axi_memory.v tb_@NAME@.v
vvp -n /tmp/@NAME@.$$.vvp "$@"
rm -f /tmp/@NAME@.$$.vvp
for expected in *.expected.hex; do
    [ -e "$expected" ] || continue
    grep -v '^//' "${expected%.expected.hex}.out.hex" | cmp - "$expected"
done
"#;
