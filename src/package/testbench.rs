//! The testbench of a written IP: it runs every function once, and compares the memories with the golden model.

use super::parts;
use super::PackagedFunction;
use crate::cli::Rtl;
use crate::data::{self, pack, DataFile, Memory};
use crate::error::{Error, Result};
use crate::kept::{self, State};
use crate::outdir::OutputDir;
use crate::reference;
use crate::reporter::Reporter;
use crate::sim::verdict::{self, Judge};
use crate::sim::{self, bench, Built, Job, Timing};
use crate::waves;
use array::text::Stage;
use array::vsa::Vsa;
use packaging::File;
use scop::Scop;
use serde_json::{json, Value};
use templates::interface::{Argument, Function, Interface, ProgramRegister};
use uniform::design::DesignSpec;

/// Programs up to this many operations come with expected results, which an interpreter computes.
const EXPECTED_LIMIT: i64 = 1 << 24;

/// Elements of all arrays of a function, at most, with which it has a testbench.
const MOST_ELEMENTS: i128 = 1 << 26;
/// Elements at smaller sizes, if there are more at the greatest ones.
const FEW_ELEMENTS: i128 = 1 << 20;

/// The bytes of each array and scalar of a function, as in the `Vsa`.
struct Contents {
    /// The sizes of the run.
    sizes: Vec<i64>,
    before: Vec<Vec<u8>>,
    /// After a run, if the expected results are known.
    after: Option<Vec<Vec<u8>>>,
}

/// The sizes of a function's run: the greatest ones, halved as often as makes its arrays small enough. `None`: nothing
/// does.
fn sizes(function: &PackagedFunction) -> Option<Vec<i64>> {
    let mut sizes = function.compiled.maxima();
    let mut most = MOST_ELEMENTS;
    while data::elements_of(&function.input.at(&sizes).scop) > most {
        most = FEW_ELEMENTS;
        let halved: Vec<i64> = sizes.iter().map(|n| (n / 2).max(1)).collect();
        if halved == sizes {
            return None;
        }
        sizes = halved;
    }
    Some(sizes)
}

/// Random contents before a run at these sizes, and the expected ones after it.
fn contents(
    (function, sizes): (&PackagedFunction, Vec<i64>),
    arguments: &Rtl,
    (files, state): (&[DataFile], &mut State),
    reporter: &dyn Reporter,
) -> Result<Contents> {
    let PackagedFunction { input, spec, compiled } = function;
    let (input, compiled) = (&input.at(&sizes), &compiled.at(&sizes));
    let (scop, vsa) = (&input.scop, &compiled.vsa);
    let mut memory = data::random(scop, arguments.seed());
    data::load(scop, files, &mut memory).map_err(|faults| Error::diagnostics(faults, &scop.sources))?;
    state.give(scop, &mut memory);
    let numbers = data::numbers(scop, vsa).map_err(Error::internal)?;
    let mut after = None;
    let operations = compiled.report.work.map(|w| w.operations);
    let run = if arguments.expected {
        let how = arguments.c_program.how(operations);
        let inputs = kept::inputs(scop, arguments.inputs());
        Some(reference::of_input(input, &how, (memory.clone(), inputs), reporter)?)
    } else if operations.is_none_or(|n| n <= EXPECTED_LIMIT) {
        // An interpreter that finds a fault, such as a subscript out of range, gives no results. An array that somebody
        // wrote is refused then.
        match reference::interpreted(input, memory.clone()) {
            Err(why) if matches!(input.stage, Some(Stage::Vsa(_))) => return Err(why),
            run => run.ok(),
        }
    } else {
        None
    };
    if let Some(run) = run {
        memory = run.before;
        state.check(scop, &memory)?;
        let judged = Judged { native: run.native, model: &run.model, after: &run.after };
        after = expected(scop, spec, vsa, (&memory, &numbers), &judged, reporter).map_err(Error::reason)?;
    }
    if let Some(after) = after.as_mut().filter(|_| vsa.arrays.iter().any(|a| a.home.is_temporary())) {
        // No C program has the contents of the scratch buffers.
        let own = reference::execute(vsa, &memory, &numbers).map_err(Error::internal)?;
        (0..vsa.arrays.len()).filter(|&k| vsa.arrays[k].home.is_temporary()).for_each(|k| after[k].clone_from(&own[k]));
    }
    if let Some(after) = &after {
        state.take(vsa, after);
    }
    let bytes =
        |values: Vec<Vec<u64>>| -> Vec<Vec<u8>> { values.iter().zip(vsa.types()).map(|(v, ty)| pack(v, ty)).collect() };
    Ok(Contents { before: data::packed(vsa, &numbers, &memory), after: after.map(bytes), sizes })
}

/// The golden model's result.
struct Judged<'a> {
    native: bool,
    model: &'a str,
    after: &'a Memory,
}

/// The expected elements of each array of the VSA. There are none if the C compiler's program and the interpreter
/// disagree.
fn expected(
    scop: &Scop,
    spec: &DesignSpec,
    vsa: &Vsa,
    (memory, numbers): (&Memory, &[Option<usize>]),
    judged: &Judged,
    reporter: &dyn Reporter,
) -> std::result::Result<Option<Vec<Vec<u64>>>, String> {
    if let Some(own) = reference::rounded(scop, spec, vsa, memory, numbers)? {
        return Ok(Some(own.expected));
    }
    if judged.native && reference::disagreement(scop, memory, judged.after)? > 0 {
        reporter.note(&format!(
            "{} and sagen's interpreter of the region disagree (`sagen sim` says more): the testbench comes without \
            expected results",
            judged.model
        ));
        return Ok(None);
    }
    Ok(Some(data::of_vsa(vsa, numbers, judged.after)))
}

/// Writes the testbench and its data; nothing if the arrays are too large for one.
pub(super) fn write(out: &OutputDir, all: &super::Job) -> Result<parts::Bench> {
    let sizes: Option<Vec<Vec<i64>>> = all.functions.iter().map(sizes).collect();
    let Some(sizes) = sizes else {
        let elements = all.functions.iter().map(|f| data::elements_of(&f.input.scop)).max().unwrap_or(0);
        all.reporter.note(&format!(
            "the arrays have {elements} elements: the IP comes without a testbench, which keeps at most {MOST_ELEMENTS}"
        ));
        return Ok(parts::Bench { verilog: vec![], images: vec![] });
    };
    let contents = all_contents(all, sizes)?;
    files(out, all, &contents).map_err(Error::reason)
}

/// The contents of all functions at these sizes.
fn all_contents(all: &super::Job, sizes: Vec<Vec<i64>>) -> Result<Vec<Contents>> {
    let names: Vec<&str> = all.functions.iter().map(|f| f.input.scop.name.as_str()).collect();
    let data = data::shared_out(&names, &all.arguments.data)?;
    let with_data = all.functions.iter().zip(sizes).zip(&data);
    let mut state = State::default();
    with_data.map(|(run, data)| contents(run, all.arguments, (data, &mut state), all.reporter)).collect()
}

fn files(out: &OutputDir, all: &super::Job, contents: &[Contents]) -> std::result::Result<parts::Bench, String> {
    let (interface, functions) = (&all.built.interface, all.functions);
    let cycles = functions.iter().map(|f| f.compiled.report.prediction.cycles.max(0) as u64).sum();
    let watchdog = 10 * cycles + 100_000;
    let job = Job {
        built: all.built,
        runs: runs(all.built, functions, contents, false).unwrap_or_default(),
        way: sim::Way::Registers,
        timing: Timing::Board,
        cycles: 0,
        watchdog,
        vcd: None,
        reporter: all.reporter,
    };
    let expected = runs(all.built, functions, contents, true);
    let judge = Judge { expected: expected.is_some(), cycles };
    let texts = vec![
        File::new("sim/axi_memory.v", bench::MEMORY),
        File::new(format!("sim/{}.v", bench::names(&job)?.0), bench::text(&job, watchdog, Some(&judge))?),
    ];
    let verilog = texts.iter().map(|f| f.path.clone()).collect();
    let mut images = vec![];
    let mut image = |name: &str, job: &Job, port: usize| {
        images.push(format!("sim/{name}"));
        out.write(&format!("sim/{name}"), sim::external::image(job, port))
    };
    for port in 0..interface.ports.len() {
        image(&bench::image_names(port).0, &job, port)?;
    }
    let expected = expected.map(|runs| Job { runs, vcd: None, way: sim::Way::Registers, ..job });
    if let Some(expected) = &expected {
        (0..interface.ports.len()).try_for_each(|port| image(&verdict::expected_name(port), expected, port))?;
    }
    let bench = parts::Bench { verilog, images };
    let main =
        File::new("sim/main.cpp", sim::external::MAIN.replace("Vbench", &format!("V{}_bench", interface.kernel)));
    for file in texts.into_iter().chain([main]) {
        out.write(&file.path, file.bytes)?;
    }
    if expected.is_some() {
        write_arrays(out, interface, contents)?;
        // `axi_check` runs the functions in any order.
        if functions.iter().all(|f| !kept::any(&f.input.scop)) {
            out.write("sim/axi_check.json", bus_check(interface, contents, watchdog) + "\n")?;
        }
    }
    let signals = waves::of_verilog(&all.built.design, interface, &format!("{}.bench.dut", bench::names(&job)?.0));
    let groups = waves::groups(interface, &signals);
    out.write(&format!("sim/{}.gtkw", interface.kernel), waves::gtkwave("wave.vcd", &groups))?;
    out.write(&format!("sim/{}.sucl", interface.kernel), waves::surfer(&groups))?;
    out.write("sim/run.sh", RUN.replace("@NAME@", &interface.kernel))?;
    Ok(bench)
}

/// A run of each function on its contents before or, if all are known, after a run.
fn runs(built: &Built, functions: &[PackagedFunction], contents: &[Contents], after: bool) -> Option<Vec<sim::Run>> {
    let one = |(number, (f, contents)): (usize, (&PackagedFunction, &Contents))| {
        let bytes = if after { contents.after.as_ref()? } else { &contents.before };
        Some(sim::Run {
            function: number,
            images: sim::place(&f.compiled, bytes, 0, 1, number),
            sizes: contents.sizes.clone(),
            memory: sim::behind_ip(
                built,
                &built.interface.functions[number],
                &f.compiled.vsa,
                &f.compiled.report.board,
            ),
            cut: None,
        })
    };
    functions.iter().zip(contents).enumerate().map(one).collect()
}

/// Writes each array before and after a run.
fn write_arrays(out: &OutputDir, interface: &Interface, contents: &[Contents]) -> std::result::Result<(), String> {
    for (function, Contents { before, after, .. }) in interface.functions.iter().zip(contents) {
        for argument in &function.arguments {
            let (k, name) = (argument.data(function.arrays), file_name(interface, function, argument));
            out.write(&format!("sim/{name}.in.bin"), &before[k])?;
            out.write(&format!("sim/{name}.expected.bin"), after.as_ref().map_or(&before[k], |a| &a[k]))?;
        }
    }
    Ok(())
}

/// The name of an argument's files.
fn file_name(interface: &Interface, function: &Function, argument: &Argument) -> String {
    if interface.functions.len() > 1 {
        format!("{}.{}", function.ident, argument.ident)
    } else {
        argument.ident.clone()
    }
}

/// Everything that `scripts/axi_check` needs to drive the IP with third-party bus models: ports, registers, array
/// images.
fn bus_check(interface: &Interface, contents: &[Contents], watchdog: u64) -> String {
    let function = |(number, (function, Contents { before, sizes, .. })): (usize, (&Function, &Contents))| {
        let bytes = |argument: &Argument| &before[argument.data(function.arrays)];
        let array = |argument: &Argument| {
            let place = argument.array()?;
            let name = file_name(interface, function, argument);
            let mut value = json!({
                "name": argument.name,
                "port": interface.ports[place.port].name,
                "offset": argument.offset,
                "bytes": bytes(argument).len(),
                "element": argument.ty.bytes(),
                "alignment": place.alignment,
                "written": place.written,
                "port_number": place.port,
                "input": format!("{name}.in.bin"),
                "expected": format!("{name}.expected.bin"),
            });
            if let Some(length) = &place.length {
                (value["length_offset"], value["length_words"]) = (json!(length.offset), json!(length.bits / 32));
            }
            Some(value)
        };
        let word = |argument: &Argument| {
            let words = bytes(argument).chunks(4).map(|w| w.iter().rev().fold(0u32, |v, &b| v << 8 | u32::from(b)));
            argument.array().is_none().then(
                || json!({ "name": argument.name, "offset": argument.offset, "words": words.collect::<Vec<_>>() }),
            )
        };
        let program = |p: &ProgramRegister| {
            let value = p.register.formula.eval(sizes) as u64;
            let words = (0..p.register.bits.div_ceil(32)).map(|k| (value >> (32 * k)) as u32).collect::<Vec<_>>();
            json!({ "name": p.ident, "offset": p.offset, "words": words })
        };
        let arrays: Vec<_> = function.arguments.iter().filter_map(array).collect();
        let scalars: Vec<_> =
            function.arguments.iter().filter_map(word).chain(function.program.iter().map(program)).collect();
        json!({ "function": function.name, "number": number, "arrays": arrays, "scalars": scalars })
    };
    let mut functions: Vec<Value> = interface.functions.iter().zip(contents).enumerate().map(function).collect();
    let mut value = json!({
        "top": interface.kernel,
        "address_bits": interface.address_bits,
        "max_cycles": watchdog,
        "status": interface.layout.status(),
        "soft_reset": interface.layout.soft_reset(),
    });
    if let Some([queue, _]) = interface.layout.queue() {
        value["queue"] = json!(queue);
        value["overlap"] = json!(interface.layout.overlap);
    }
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
const RUN: &str = include_str!("run.sh");
