//! `sagen sim`: the verdict as text and as JSON.

use crate::check::{predicted_at, predicted_on_board};
use crate::cli::{Engine, MemoryKind, Sim};
use crate::report::{self, grouped};
use crate::simulate::sequence::Played;
use crate::simulate::{Agreement, Simulated, Verdict};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What `sagen sim` prints.
pub fn shown(verdict: &Verdict, arguments: &Sim) -> String {
    if arguments.json {
        return as_json(verdict, arguments);
    }
    let runs: String = verdict.runs.iter().map(|run| text(run, verdict, arguments)).collect();
    runs + &verdict.sequence.as_ref().map_or(String::new(), sequence_text)
}

/// The verdict as JSON; with several runs each is a value of its own under its name.
fn as_json(verdict: &Verdict, arguments: &Sim) -> String {
    let mut value = match &verdict.runs[..] {
        [only] => json_of(only, arguments),
        several => {
            let functions: serde_json::Map<_, _> =
                several.iter().map(|run| (run.name(), json_of(run, arguments))).collect();
            json!({ "kernel": verdict.kernel, "functions": functions })
        }
    };
    value["board"] = json!(verdict.board);
    value["match"] = json!(verdict.result == Agreement::Equal);
    value["result"] = json!(verdict.result.name());
    if let Some(played) = &verdict.sequence {
        value["sequence"] = sequence_json(played);
    }
    format!("{value:#}\n")
}

fn engine(arguments: &Sim) -> &'static str {
    match arguments.engine {
        Engine::Builtin => "builtin",
        Engine::Verilator => "verilator",
        Engine::Icarus => "icarus",
    }
}

/// Cycles predicted for the memory that was simulated; for a memory that stalls, those for the board's.
fn predicted(run: &Simulated, arguments: &Sim) -> i64 {
    match arguments.memory {
        MemoryKind::Ideal(latency) => predicted_at(&run.compiled, latency) as i64,
        MemoryKind::Board | MemoryKind::Ddr => predicted_on_board(&run.compiled) as i64,
    }
}

fn json_of(run: &Simulated, arguments: &Sim) -> Value {
    let (vsa, report, cycles) = (&run.compiled.vsa, &run.compiled.report, run.outcome.cycles);
    let sizes = run.compiled.whole.as_ref().map(|_| run.compiled.sizes().into_iter().collect::<BTreeMap<_, _>>());
    let deviation =
        run.deviation.map(|d| json!({ "absolute": d.absolute, "relative": d.relative, "elements": d.elements }));
    json!({
        "kernel": vsa.name,
        "sizes": sizes,
        "match": run.result == Agreement::Equal,
        "result": run.result.name(),
        "finished": run.outcome.finished,
        "elements": run.comparison.elements,
        "mismatches": run.comparison.mismatches,
        "examples": run.comparison.examples,
        "protocol_faults": run.outcome.faults,
        "cycles": cycles,
        "predicted_cycles": predicted(run, arguments),
        "macs": report.work.map(|w| w.operations),
        "macs_per_cycle": report.work.map(|w| w.operations as f64 / cycles.max(1) as f64),
        "utilization": report::utilization(&run.compiled, cycles as i64),
        "array": vsa.extent,
        "steps": vsa.waves(),
        "axes": vsa.axes,
        "simd": vsa.lanes,
        "engine": engine(arguments),
        "memory": arguments.memory.to_string(),
        "seed": arguments.seed(),
        "inputs": inputs(run, arguments),
        "golden": run.model,
        "deviation_from_c": deviation,
        "seconds": run.outcome.seconds,
    })
}

fn text(run: &Simulated, verdict: &Verdict, arguments: &Sim) -> String {
    let (report, cycles) = (&run.compiled.report, run.outcome.cycles as i64);
    let mut text = format!("{}\n", report::headline(run.compiled.own()));
    let sizes = run.compiled.sizes();
    if !sizes.is_empty() {
        let all: Vec<_> = sizes.iter().map(|(name, v)| format!("{name}={v}")).collect();
        let _ = writeln!(text, "  {:<12} {}", "sizes", all.join(" "));
    }
    let simulated = grouped(cycles);
    let expected = grouped(predicted(run, arguments));
    let operations = report.work.map_or("unknown".to_string(), |w| {
        format!("{}, {:.2} per cycle", grouped(w.operations), w.operations as f64 / cycles.max(1) as f64)
    });
    let memory = match arguments.memory {
        MemoryKind::Board => format!("memory of {}", verdict.board),
        other => format!("{other} memory"),
    };
    let rows = [
        ("golden model", run.model.clone()),
        ("inputs", inputs(run, arguments)),
        ("simulated by", format!("{}, {memory}, {}", engine(arguments), speed(run))),
        ("cycles", format!("{simulated} simulated, {expected} predicted{}", predicted_for(verdict, arguments))),
        ("operations", operations),
        ("utilization", report::utilization_text(&run.compiled, cycles)),
    ];
    // Random inputs with the usual seed need no word.
    let usual = arguments.data.is_empty() && arguments.seed.is_none() && !run.from_main;
    for (name, value) in rows.into_iter().filter(|(name, _)| *name != "inputs" || !usual) {
        let _ = writeln!(text, "  {name:<12} {value}");
    }
    text + &faults(run) + &last_line(run)
}

/// Where the contents of the arrays come from.
fn inputs(run: &Simulated, arguments: &Sim) -> String {
    let random = format!("random, seed {}", arguments.seed());
    match (run.from_main, &arguments.data[..]) {
        (true, _) => "main()".into(),
        (false, []) => random,
        (false, files) => {
            let names: Vec<&str> = files.iter().map(|file| file.array.as_str()).collect();
            format!("{} from files; others {random}", names.join(", "))
        }
    }
}

/// Nothing if the prediction is for the memory that was simulated.
fn predicted_for(verdict: &Verdict, arguments: &Sim) -> String {
    match arguments.memory {
        MemoryKind::Ddr => format!(" for memory of {} without stalls", verdict.board),
        MemoryKind::Board | MemoryKind::Ideal(_) => String::new(),
    }
}

/// The lines about what went wrong, and about rounding.
fn faults(run: &Simulated) -> String {
    let mut text = String::new();
    if !run.outcome.finished {
        text.push_str("  FAILED       the design did not finish in time\n");
    }
    for fault in run.outcome.faults.iter().take(10) {
        let _ = writeln!(text, "  FAULT        {fault}");
    }
    for example in &run.comparison.examples {
        let _ = writeln!(text, "  DIFFERENT    {example}");
    }
    if let Some(d) = run.deviation {
        let _ = writeln!(
            text,
            "  from C       {} elements deviate, at most by {:.3e}, relatively by {:.3e}",
            grouped(d.elements as i64),
            d.absolute,
            d.relative
        );
    }
    text
}

/// The last line of a run.
fn last_line(run: &Simulated) -> String {
    let count = grouped(run.comparison.elements as i64);
    match run.result {
        Agreement::Equal => format!("  equal        all {count} elements and the memory around them\n"),
        Agreement::Different => {
            format!("  NOT EQUAL    {} of {count} elements differ\n", grouped(run.comparison.mismatches as i64))
        }
        Agreement::NoJudge { elements, array_as_interpreted, shift } => {
            no_judge(&run.model, elements, array_as_interpreted, shift)
        }
    }
}

/// The C compiler's program and the interpreter differ: what is known, and what to try.
fn no_judge(model: &str, elements: usize, array_as_interpreted: bool, shift: Option<usize>) -> String {
    let array = match array_as_interpreted {
        true => "the systolic array computes what the interpreter computes",
        false => "the systolic array agrees with neither",
    };
    let elements = grouped(elements as i64);
    let why = match shift {
        Some(line) => format!(
            "line {line} shifts by an amount that may be negative, or the width or more: C leaves that undefined; \
            keep the amount within the width\n               (`& 31`), or give suitable data with --data"
        ),
        None => "either the compiler is wrong, or code outside of the region, or flags that only the compiler \
            sees,\n               change the result; try another compiler with CC=…"
            .into(),
    };
    format!(
        "  NO JUDGE     {model} and sagen's interpreter of the region differ in {elements} elements; {array}\n\
         {:15}{why}\n",
        ""
    )
}

/// The time of the simulation, and its speed.
fn speed(run: &Simulated) -> String {
    let rate = run.outcome.simulated as f64 / run.outcome.seconds.max(1e-9);
    format!("{:.1} s ({} cycles/s)", run.outcome.seconds, grouped(rate as i64))
}

fn sequence_json(played: &Played) -> Value {
    let runs: serde_json::Map<_, _> = played.runs.iter().map(|(name, n)| (name.clone(), json!(n))).collect();
    json!({
        "runs": played.count(),
        "of": runs,
        "reset": played.cut,
        "queued": played.queued,
        "overlapped": played.overlapped,
        "cycles": played.cycles,
        "cycles_checked": played.predicted,
        "faults": played.faults,
    })
}

fn sequence_text(played: &Played) -> String {
    let of: Vec<_> = played.runs.iter().map(|(name, n)| format!("{n} {name}")).collect();
    let reset = match played.cut {
        0 => String::new(),
        cut => format!(", {cut} of them after a reset in their middle"),
    };
    let queued = match (played.queued, played.overlapped) {
        (0, _) => "",
        (_, 0) => "; the same again as commands of the queue",
        _ => "; the same again as commands of the queue, and as commands that overlap",
    };
    let mut text = format!("sequence of {} runs: {}{reset}{queued}\n", grouped(played.count() as i64), of.join(", "));
    for fault in &played.faults {
        let _ = writeln!(text, "  NOT EQUAL    {fault}");
    }
    if played.faults.is_empty() {
        let cycles = if played.predicted { ", and each took the predicted cycles" } else { "" };
        let _ = writeln!(text, "  equal        all results{cycles}; {} cycles in all", grouped(played.cycles as i64));
    }
    text
}
