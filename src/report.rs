//! Facts about a design, as JSON for programs and as lines for people.

use crate::bands;
use crate::clock::{Clock, Slower};
use array::contract::dram::Pace;
use array::ip::Ip;
use array::vsa::{Home, Shared, Until, Vsa};
use cost::bank::Load;
use cost::board::{Board, Resources};
use cost::ip;
use cost::resources::{operators, parts, Operators};
use search::branch::{share, Smaller};
use search::choose::Limit;
use search::Compiled;
use serde_json::{json, Value};
use std::fmt::Write as _;
use templates::interface::{Argument, AxiPort, Function, Interface};
use uniform::aim::Objective;

/// Iterations that the systolic array can execute in one cycle.
pub fn peak(vsa: &Vsa) -> i64 {
    vsa.extent[0] * vsa.extent[1] * vsa.lanes
}

/// The share of [`peak`] that a run of `cycles` uses, 0 to 1; unknown for the text of an array.
pub fn utilization(compiled: &Compiled, cycles: i64) -> Option<f64> {
    let work = compiled.report.work?;
    Some(work.iterations as f64 / (peak(compiled.own()) * cycles.max(1)) as f64)
}

/// The utilization in words.
pub fn utilization_text(compiled: &Compiled, cycles: i64) -> String {
    let share = utilization(compiled, cycles).map_or("unknown share".to_string(), |u| format!("{:.1} %", 100.0 * u));
    format!("{share} of {} lanes", grouped(peak(compiled.own())))
}

/// The arrays in memories of the IP that have this home.
fn on_chip(vsa: &Vsa, home: Home) -> Vec<Value> {
    let own = vsa.arrays.iter().filter(|a| a.home == home);
    own.map(|a| json!({ "array": a.name, "bytes": a.bytes() })).collect()
}

/// The AXI ports, arrays and registers that a host needs.
fn interface(interface: &Interface) -> Value {
    let argument = |a: &Argument| {
        let mut fields = json!({ "argument": a.name, "name": a.ident, "type": a.ty.to_string(), "register": a.offset });
        if let Some(array) = a.array() {
            fields["dims"] = json!(array.dims);
            fields["alignment"] = json!(array.alignment);
            fields["port"] = json!(interface.ports[array.port].name);
            fields["read"] = json!(array.read);
            fields["written"] = json!(array.written);
            if let Some(length) = &array.length {
                fields["length_register"] = json!(length.offset);
            }
            if array.scratch {
                fields["scratch_bytes"] = json!(a.bytes());
            }
        }
        if a.formula.is_some() {
            fields["computed"] = json!(true);
        }
        fields
    };
    let several = interface.functions.len() > 1;
    let moved = |p: &AxiPort| {
        let name = |&(f, k): &(usize, usize)| {
            let (function, argument) = (&interface.functions[f], &interface.functions[f].arguments[k]);
            if several {
                format!("{}.{}", function.name, argument.name)
            } else {
                argument.name.clone()
            }
        };
        p.arrays.iter().map(name).collect::<Vec<_>>()
    };
    let port = |p: &AxiPort| json!({ "port": p.name, "data_bits": p.data_bits, "arrays": moved(p) });
    let arguments = |f: &Function| json!(f.arguments.iter().map(argument).collect::<Vec<_>>());
    let function = |(number, f): (usize, &Function)| {
        json!({
            "function": f.name,
            "name": f.ident,
            "number": number,
            "core": f.core,
            "arguments": arguments(f),
        })
    };
    let mut value = json!({
        "ports": interface.ports.iter().map(port).collect::<Vec<_>>(),
        "registers": interface.registers.iter().map(|r| json!({ "name": r.name, "offset": r.offset })).collect::<Vec<_>>(),
        "cycle_counter_register": interface.layout.cycles(),
        "design_id": interface.design_id,
    });
    match &interface.functions[..] {
        [only] => value["arguments"] = arguments(only),
        all => value["functions"] = json!(all.iter().enumerate().map(function).collect::<Vec<_>>()),
    }
    if let Some([queue, ended]) = interface.layout.queue() {
        value["queue"] = json!({ "commands": interface.layout.queue, "overlap": interface.layout.overlap, "register": queue, "ended_register": ended });
    }
    value
}

/// An IP and the systolic array of each of its functions.
pub struct Design<'a> {
    pub ip: &'a Ip,
    pub interface: &'a Interface,
    pub functions: &'a [&'a Compiled],
    pub board: &'a Board,
    pub clock: &'a Clock,
}

/// The systolic array of one function.
fn function(compiled: &Compiled, board: &Board) -> Value {
    let (vsa, report) = (&compiled.vsa, &compiled.report);
    let part = |(name, c): (&str, Resources)| (name.to_lowercase(), blocks(c));
    let loops = |l: &uniform::counters::Counter| json!({ "name": l.name, "trip": l.trip });
    // Of a merged array: what the function would have without the others.
    let alone = compiled.member.as_ref().map(|member| {
        let parts = parts(&member.alone).list().into_iter().map(part).collect::<serde_json::Map<_, _>>();
        json!({
            "array": member.alone.extent,
            "predicted_cycles": member.cycles,
            "resources_by_part": parts,
            "operators": operators_json(&member.alone),
        })
    });
    json!({
        "alone": alone,
        "array": vsa.extent,
        "axes": vsa.axes,
        "simd": vsa.lanes,
        "sizes": vsa.sizes.list.iter().map(|s| json!({ "name": s.name, "max": s.max })).collect::<Vec<_>>(),
        "phases": phases(vsa),
        "on_chip": on_chip(vsa, Home::OnChip),
        "kept": on_chip(vsa, Home::Kept),
        "tile_loops": vsa.counters[vsa.parameters()..vsa.tile_depth].iter().map(loops).collect::<Vec<_>>(),
        "time_loops": vsa.counters[vsa.tile_depth..].iter().map(loops).collect::<Vec<_>>(),
        "skew": vsa.schedule.steps(),
        "interval": vsa.schedule.interval,
        "bands": bands::json(compiled.built(), board),
        "dependences": report.dependences,
        "macs": report.work.map(|w| w.operations),
        "predicted_cycles": report.prediction.cycles,
        "predicted_cycles_board": compiled.on_board(),
        "predicted_cycles_ideal": report.ideal,
        "memory_timing": timings(compiled),
        "compute_cycles": report.prediction.compute_cycles,
        "utilization": utilization(compiled, report.prediction.cycles),
        "resources": report.resources,
        "limit": limit(compiled),
        "search": searched(compiled),
        "converters": blocks(report.converters),
        "resources_by_part": parts(vsa).list().into_iter().map(part).collect::<serde_json::Map<_, _>>(),
        "operators": operators_json(vsa),
        "shared_operators": shared(vsa),
        "memory": report.loads.iter().map(|l| bank(vsa, l)).collect::<Vec<_>>(),
    })
}

/// The operators of all PEs, by kind: a part of what the PEs take.
fn operators_json(vsa: &Vsa) -> Value {
    let one = |of: Operators| json!({ "operator": of.kind, "type": of.ty.to_string(), "count": of.count, "resources": blocks(of.cost) });
    operators(vsa).into_iter().map(one).collect()
}

/// A part of a design: halves of block RAMs count.
fn blocks(part: Resources) -> Value {
    let mut value = json!(part);
    value["bram36"] = json!(part.bram18 as f64 / 2.0);
    value
}

/// The design itself: `report.json`, and the answer to `sagen rtl --json`.
pub fn design(design: &Design) -> Value {
    let Design { ip, functions, board, .. } = design;
    let mut value = json!({
        "generator": "sagen",
        "version": env!("CARGO_PKG_VERSION"),
        "kernel": design.interface.kernel,
        "board": board.name,
        "part": board.part,
        "clock_mhz": board.clock_mhz,
        "clock": design.clock.json(),
        "interface": interface(design.interface),
    });
    // Beside the report; the space-time diagram needs the program.
    let pictures = |c: &Compiled, folder: &str| {
        json!({
            "array": format!("{folder}array.svg"),
            "time": c.stages.is_some().then_some(format!("{folder}array.time.svg")),
        })
    };
    if let [only] = functions {
        if let (Value::Object(all), Value::Object(own)) = (&mut value, function(only, board)) {
            all.extend(own);
        }
        value["pictures"] = pictures(only, "");
        return value;
    }
    let one = |(f, compiled): (&array::ip::Function, &&Compiled)| {
        let mut own = function(compiled, board);
        own["core"] = json!(f.core);
        own["pictures"] = pictures(compiled, &format!("{}/", f.name));
        (f.name.clone(), own)
    };
    value["functions"] = ip.functions.iter().zip(functions.iter()).map(one).collect::<serde_json::Map<_, _>>().into();
    value["cores"] = json!(ip.cores.len());
    value["resources"] = json!(ip::total(ip) + search::outside(functions.iter().copied()));
    value["converters"] = blocks(search::outside(functions.iter().copied()));
    value["resources_by_part"] =
        ip::list(ip).into_iter().map(|(name, c)| (name, blocks(c))).collect::<serde_json::Map<_, _>>().into();
    value
}

/// The limit of the systolic array's speed, in words.
pub fn limit(compiled: &Compiled) -> String {
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    match &compiled.report.limit {
        Limit::Port { port, reads, share } => {
            let way = if *reads { "reads" } else { "writes" };
            let is = match Interface::from(&compiled.vsa).ports.get(*port) {
                Some(axi) => format!("port {}", axi.name),
                None => format!("the memory of {} on chip", compiled.vsa.port_name(*port)),
            };
            format!("{is}, which {way} in {} of the cycles", percent(*share))
        }
        Limit::Resource(name, share) if *share > 0.8 => {
            format!("compute: {} of the {} that it may take", percent(*share), name.to_uppercase())
        }
        Limit::Resource(..) => "compute: its lanes".into(),
        Limit::Size => "its size: filling and draining the array takes longest, larger loops would keep it busy".into(),
    }
}

fn searched(compiled: &Compiled) -> Value {
    let smaller = |s: &Smaller| json!({ "parts": s.parts, "most": s.most, "bound": s.bound });
    compiled.report.searched.as_ref().map_or(Value::Null, |s| {
        json!({
            "objective": s.objective,
            "bound": s.bound,
            "gap": s.gap,
            "fastest": s.passed.first().map_or(compiled.report.prediction.cycles, |d| d.cycles),
            "smaller": s.smaller.iter().map(smaller).collect::<Vec<_>>(),
            "exact_designs": s.counts.exact,
            "bounds": s.counts.bounds,
        })
    })
}

/// The proof of how good the choice is, in words.
fn proof(compiled: &Compiled) -> Option<String> {
    let s = compiled.report.searched.as_ref()?;
    let cycles = compiled.report.prediction.cycles;
    Some(if s.bound >= cycles {
        "no array within the limits takes fewer cycles".into()
    } else {
        let less = 100.0 * (cycles - s.bound) as f64 / cycles.max(1) as f64;
        format!("no array within the limits takes fewer than {} cycles ({less:.1} % less)", grouped(s.bound))
    })
}

/// The criterion of the choice, in words.
fn objective(compiled: &Compiled) -> Option<String> {
    let s = compiled.report.searched.as_ref()?;
    Some(match s.objective {
        Objective::Balanced => {
            let fastest = |d: &search::branch::Design| {
                let larger = share(&d.need, &s.limits) / share(&compiled.report.resources, &s.limits).max(1e-9);
                // The scarcest resource may be the same, and only the LUTs fewer.
                let size = if larger < 1.05 {
                    format!("with {} LUT", grouped(d.need.lut))
                } else {
                    format!("{larger:.1} times as large")
                };
                format!("; {size}, it would take {} cycles: --objective cycles", grouped(d.cycles))
            };
            let smaller = |smaller: &Smaller| {
                let found = if smaller.bound > smaller.most { "takes" } else { "was found that takes" };
                let part = if smaller.parts == 2 { "half" } else { "a quarter of" };
                format!("; no array of {part} its size {found} {} cycles or fewer", grouped(smaller.most))
            };
            let fastest = s.passed.first().map_or(String::new(), fastest);
            format!("balanced{fastest}{}", s.smaller.iter().map(smaller).collect::<String>())
        }
        Objective::Cycles => "cycles: the fastest array".into(),
        Objective::Area => "area: the smallest array that is fast enough".into(),
        Objective::Efficiency => "efficiency: the least product of cycles and size".into(),
    })
}

/// An array beside the chosen one, and the file that builds it.
pub fn beside(file: &str, design: &search::branch::Design) -> Value {
    let mut value = json!({ "cycles": design.cycles, "design": file });
    design.need.named().into_iter().for_each(|(name, n)| value[name] = json!(n));
    value
}

/// The board's memory behind each AXI port, in cycles (`array::contract::dram`); a beat in parts of 65536.
fn timings(compiled: &Compiled) -> Vec<Value> {
    let pace = |p: Pace| json!({ "beat": p.beat, "shortest_burst": p.least });
    let one = |port: usize| {
        let timing = compiled.report.board.of(port);
        json!({ "latency": timing.read_latency, "read": pace(timing.read), "write": pace(timing.write) })
    };
    (0..compiled.vsa.axi_ports()).map(one).collect()
}

fn bank(vsa: &Vsa, load: &Load) -> Value {
    let arrays: Vec<&str> = load.arrays.iter().map(|&a| vsa.arrays[a].name.as_str()).collect();
    json!({ "bank": load.bank.to_string(), "arrays": arrays, "bytes": load.bytes })
}

/// `1234567` as `1,234,567`.
pub fn grouped(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::new();
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    if n < 0 {
        format!("-{text}")
    } else {
        text
    }
}

/// The systolic array in one line: `mm: 8×8 PEs over (i, j), 2 lanes each`.
pub fn headline(vsa: &Vsa) -> String {
    let axes: Vec<_> = vsa.axes.iter().filter(|a| !a.is_empty()).map(String::as_str).collect();
    let over = if axes.is_empty() { String::new() } else { format!(" over ({})", axes.join(", ")) };
    let lanes = if vsa.lanes > 1 { format!(", {} lanes each", vsa.lanes) } else { String::new() };
    let [rows, columns] = vsa.extent;
    let size = match rows * columns {
        1 => "1 PE".to_string(),
        _ => format!("{rows}×{columns} PEs"),
    };
    format!("{}: {size}{over}{lanes}", vsa.name)
}

/// The design for people: one function after the other, and the sum of several.
pub fn design_text(design: &Design) -> String {
    let Design { ip, interface, functions, board, clock } = design;
    let mut text: String = functions.iter().map(|c| function_text(c, board, clock)).collect();
    let beside = overlap(design).map(|value| ("overlap", value));
    if functions.len() == 1 {
        beside.iter().for_each(|(name, value)| _ = writeln!(text, "  {name:<12} {value}"));
        return text;
    }
    let _ = writeln!(text, "{}: {} functions, one at a time", interface.kernel, functions.len());
    let callers = |c: usize| {
        ip.functions.iter().filter(|f| f.core == c).map(|f| f.name.as_str()).collect::<Vec<_>>().join(" and ")
    };
    let cores: Vec<_> = (0..ip.cores.len()).map(callers).collect();
    let ports: Vec<_> = interface.ports.iter().map(|p| format!("{} {} bit", p.name, p.data_bits)).collect();
    let converters = search::outside(functions.iter().copied());
    let outside = outside(converters).map(|(name, cost)| (name.to_string(), cost));
    let all = ip::list(ip).into_iter().chain(outside);
    let luts: Vec<_> = all.map(|(name, cost)| format!("{name} {}", grouped(cost.lut))).collect();
    let rows = [
        ("cores", cores.join(", ")),
        ("ports", ports.join(", ")),
        ("estimate", estimate(&(ip::total(ip) + converters), board)),
        ("LUT by part", luts.join(", ")),
    ];
    for (name, value) in rows.into_iter().chain(merged_rows(design)).chain(beside) {
        let _ = writeln!(text, "  {name:<12} {value}");
    }
    text
}

/// What independent commands take that overlap: one of each function, or two of a single one.
fn overlap(design: &Design) -> Option<String> {
    let functions = design.functions;
    let twice = &functions[..usize::from(functions.len() == 1)];
    let cycles = |independent: bool| {
        let all: Vec<(&Compiled, bool)> = functions.iter().chain(twice).map(|c| (*c, independent)).collect();
        search::predict_commands(&all, None).last().map_or(0, |run| run.done)
    };
    let runs = if functions.len() == 1 { "two independent runs" } else { "an independent run of each function" };
    let text =
        || format!("{} cycles for {runs}, {} one after the other", grouped(cycles(true)), grouped(cycles(false)));
    design.interface.layout.overlap.then(text)
}

/// What a merged array shares, and what its functions would take apart.
fn merged_rows(design: &Design) -> Vec<(&'static str, String)> {
    let Some(merged) = design.functions[0].merged() else { return vec![] };
    let alone: Vec<&Vsa> = design.functions.iter().map(|c| c.member.as_ref().map_or(&c.vsa, |m| &*m.alone)).collect();
    let apart = ip::total(&Ip::new(&design.ip.name, design.ip.queue, &alone));
    let sharing = merged.remarks.shared.as_ref().map(|s| ("sharing", shared_text(s)));
    sharing
        .into_iter()
        .chain([("apart", format!("{} with an array for each", estimate(&apart, design.board)))])
        .collect()
}

/// Resources, and their share of the board.
fn estimate(need: &Resources, board: &Board) -> String {
    let share = |n: i64, of: i64| format!("{} ({:.1} %)", grouped(n), 100.0 * n as f64 / of.max(1) as f64);
    let used: Vec<_> = (need.named().into_iter().zip(board.resources.counts()))
        .filter(|((name, n), _)| *name != "uram" || *n > 0)
        .map(|((name, n), of)| format!("{} {}", share(n, of), name.to_uppercase()))
        .collect();
    format!("{} of {}", used.join(", "), board.name)
}

/// The number of phases of a program.
fn phases(vsa: &Vsa) -> i64 {
    vsa.counters[vsa.parameters()..vsa.phases()].iter().map(|c| c.trip).product()
}

/// The place of the arrays that one phase passes to another.
fn passed_through(vsa: &Vsa) -> &'static str {
    let passed = vsa.inputs.iter().filter(|g| g.after.iter().any(|a| a.until == Until::Phase));
    let on_chip: Vec<bool> = passed.map(|g| g.array as usize >= vsa.hosted()).collect();
    match (on_chip.contains(&true), on_chip.contains(&false)) {
        (true, true) => ": they pass arrays on, on chip and through DRAM",
        (true, false) => ": they pass arrays on, on chip",
        (false, true) => ": they pass arrays on through DRAM",
        (false, false) => "",
    }
}

/// The part that is outside of the IP, if there is one.
pub fn outside(converters: Resources) -> Option<(&'static str, Resources)> {
    (converters != Resources::default()).then_some(("width converters", converters))
}

/// The rows of one function.
fn function_text(compiled: &Compiled, board: &Board, clock: &Clock) -> String {
    let (vsa, report) = (compiled.own(), &compiled.report);
    let cycles = report.prediction.cycles;
    let time =
        format!("{:.2} µs at {} MHz{}", cycles as f64 / board.clock_mhz, board.clock_mhz, counted_for(compiled, board));
    let luts: Vec<_> = parts(vsa).list().iter().chain(&outside(report.converters)).map(part_text).collect();
    let interface = Interface::from(vsa);
    let rows = [
        ("tile loops", loops_text(&vsa.counters[vsa.parameters()..vsa.tile_depth])),
        ("time loops", loops_text(&vsa.counters[vsa.tile_depth..])),
        ("operations", operations_text(compiled)),
        ("cycles", cycles_text(compiled)),
        ("utilization", utilization_text(compiled, cycles)),
        ("time", time),
    ];
    let clocked = clock.slower(cycles).map(|text| ("clock", text));
    let by_time = clock.instead_of.as_ref().map(|slower| ("by time", by_time(slower)));
    let rows = rows.into_iter().chain(clocked).chain(by_time).chain([
        ("ports", ports_text(&interface)),
        ("banks", report.loads.iter().map(|load| bank_text(compiled, load)).collect::<Vec<_>>().join(", ")),
    ]);
    let own = match &compiled.member {
        None => vec![
            ("estimate", estimate(&report.resources, board)),
            ("limited by", limit(compiled)),
            ("LUT by part", luts.join(", ")),
        ],
        Some(member) => {
            vec![("alone", format!("{} cycles, {}", grouped(member.cycles), estimate(&member.resources, board)))]
        }
    };
    let mut text = format!("{}\n", headline(vsa));
    for (name, value) in rows.chain(own).chain(optional_rows(compiled, &interface, board)) {
        let _ = writeln!(text, "  {name:<12} {value}");
    }
    text
}

/// The array with the fewest cycles, in place of which another one was chosen.
fn by_time(slower: &Slower) -> String {
    format!(
        "chosen before the array with {} cycles, which takes {:.2} µs at its estimated {:.0} MHz",
        grouped(slower.cycles),
        slower.cycles as f64 / slower.mhz,
        slower.mhz
    )
}

/// What parts of the program share; `cost` and `bound` in LUTs, a DSP slice as some of them.
fn shared(vsa: &Vsa) -> Value {
    let of = |s: &Shared| json!({ "wanted": s.wanted, "built": s.built, "cost": s.cost, "bound": s.bound });
    vsa.remarks.shared.as_ref().map_or(Value::Null, of)
}

/// The same in words.
fn shared_text(s: &Shared) -> String {
    let proof = match 100.0 * (s.cost - s.bound) as f64 / s.cost.max(1) as f64 {
        gap if gap > 0.0 => format!("no choice was found that takes less; {gap:.1} % may be left"),
        _ => "no choice takes less".into(),
    };
    format!("{} operators of a PE do the work of {}; {proof}", grouped(s.built as i64), grouped(s.wanted as i64))
}

/// The rows that not every function has: phases, arrays on chip, scratch buffers, the proof, bands.
fn optional_rows(
    compiled: &Compiled,
    interface: &Interface,
    board: &Board,
) -> impl Iterator<Item = (&'static str, String)> {
    let vsa = compiled.own();
    let is_alone = compiled.member.is_none();
    let bytes = |name: &str, bytes: i64| format!("{name} {} bytes", grouped(bytes));
    let scratch: Vec<_> =
        interface.arguments().filter(|a| a.is_scratch()).map(|a| bytes(&a.name, a.bytes() as i64)).collect();
    let of =
        |home: Home| vsa.arrays.iter().filter(move |a| a.home == home).map(|a| bytes(&a.name, a.bytes())).collect();
    let (on_chip, kept): (Vec<_>, Vec<_>) = (of(Home::OnChip), of(Home::Kept));
    let phases = phases(vsa);
    let phases = (phases > 1).then(|| format!("{}, one after the other{}", grouped(phases), passed_through(vsa)));
    let listed = |all: Vec<String>| (!all.is_empty()).then(|| all.join(", "));
    let rows = [
        ("phases", phases),
        ("sharing", vsa.remarks.shared.as_ref().map(shared_text)),
        ("on chip", listed(on_chip)),
        ("kept", listed(kept)),
        ("scratch", listed(scratch)),
        ("objective", objective(compiled).filter(|_| is_alone)),
        ("proof", proof(compiled).filter(|_| is_alone)),
        ("dies", bands::text(compiled.built(), board)),
    ];
    rows.into_iter().filter_map(|(name, value)| Some((name, value?)))
}

/// What the array does, and how much of it in a cycle.
fn operations_text(compiled: &Compiled) -> String {
    let Some(work) = compiled.report.work else { return "unknown".into() };
    let each = work.operations as f64 / work.iterations.max(1) as f64;
    let most = (peak(compiled.own()) as f64 * each).round() as i64;
    let average = work.operations as f64 / compiled.report.prediction.cycles.max(1) as f64;
    format!("{}; up to {} per cycle, {average:.1} on average", grouped(work.operations), grouped(most))
}

/// Where the time goes.
fn cycles_text(compiled: &Compiled) -> String {
    let run = &compiled.report.prediction;
    let interval = compiled.vsa.schedule.interval;
    let (first, last) = (run.first_launch, run.last_launch + interval);
    let parts = [
        (first, "until the first inputs are there"),
        (run.compute_cycles, "computing"),
        (last - first - run.compute_cycles, "waiting for memory in between"),
        (run.cycles - last, "until the last results are stored"),
    ];
    let shown: Vec<_> = parts.iter().filter(|p| p.0 > 0).map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
    format!("{}: {}", grouped(run.cycles), shown.join(", "))
}

/// The memory that the cycles are counted for, and what the other one would give.
fn counted_for(compiled: &Compiled, board: &Board) -> String {
    let report = &compiled.report;
    if report.chosen_for == report.board {
        format!(" with the memory of {}; {} cycles with ideal memory", board.name, grouped(report.ideal))
    } else {
        let on_board = grouped(compiled.on_board());
        format!(" with ideal memory; {on_board} cycles with the memory of {}", board.name)
    }
}

/// A part and its LUTs; PEs without any are in DSP slices.
fn part_text((name, cost): &(&str, Resources)) -> String {
    match cost.lut {
        0 if cost.dsp > 0 => format!("{name} 0 (all in {} DSP slices)", grouped(cost.dsp)),
        luts => format!("{name} {}", grouped(luts)),
    }
}

/// Loops with their numbers of iterations.
fn loops_text(list: &[uniform::counters::Counter]) -> String {
    let parts: Vec<_> = list.iter().filter(|c| c.trip > 1).map(|c| format!("{} {}", c.name, grouped(c.trip))).collect();
    match parts.is_empty() {
        true => "none".to_string(),
        false => parts.join(", "),
    }
}

/// The AXI ports with their widths and arrays.
fn ports_text(interface: &Interface) -> String {
    let names = |p: &AxiPort| interface.behind(p).map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
    let port = |p: &AxiPort| format!("{} {} bit ({})", p.name, p.data_bits, names(p));
    interface.ports.iter().map(port).collect::<Vec<_>>().join(", ")
}

/// A memory bank with its arrays.
fn bank_text(compiled: &Compiled, load: &Load) -> String {
    let arrays: Vec<&str> = load.arrays.iter().map(|&a| compiled.vsa.arrays[a].name.as_str()).collect();
    format!("{} ({})", load.bank, arrays.join(", "))
}
