//! `report.html` of a written IP: one file without scripts or links, so that it works offline and in print.

use super::{floorplan, PackagedFunction};
use crate::plot::{escape, roofline, Plot, STYLE};
use crate::report::{self, grouped, Design};
use cost::board::{Board, Resources};
use cost::resources::parts;
use search::branch::{self, share};
use search::Compiled;
use std::fmt::Write as _;
use templates::interface::{Argument, AxiPort, Function, Interface, Register};

/// What the page is about.
pub struct Page<'a> {
    pub design: Design<'a>,
    pub functions: &'a [PackagedFunction],
    /// Other arrays on the front of cycles and resources.
    pub beside: &'a [branch::Design],
}

/// The page.
pub fn render(page: &Page) -> String {
    let Design { interface, board, .. } = page.design;
    let title = format!("{} on {}", escape(&interface.kernel), escape(&board.name));
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style></head>\
        <body>\n<h1>{title}</h1>\n<code>{}</code>\n",
        escape(report::design_text(&page.design).trim_end())
    );
    section(&mut text, "How to use it", &uses(interface, board));
    section(&mut text, "Timing", &timing(page));
    if !page.beside.is_empty() {
        section(&mut text, "Cycles against area", &front(page));
    }
    for (k, PackagedFunction { compiled, .. }) in page.functions.iter().enumerate() {
        let of = if page.functions.len() > 1 { format!(" of {}", escape(&compiled.vsa.name)) } else { String::new() };
        section(&mut text, &format!("Resources{of}"), &resources(compiled, board));
        if let Some(work) = compiled.report.work {
            let vsa = &compiled.vsa.at_most();
            let plot = roofline(vsa, compiled.report.prediction.cycles, work.iterations);
            section(&mut text, &format!("Roofline{of}"), &format!("{ROOFLINE}<div class='plots'>{plot}</div>"));
        }
        section(&mut text, &format!("The systolic array{of}"), &picture(compiled, k));
        if let Some(picture) = floorplan::draw(compiled.built(), board) {
            section(&mut text, &format!("Floorplan{of}"), &format!("{FLOORPLAN}<div class='plots'>{picture}</div>"));
        }
    }
    section(&mut text, "Arguments", &interface.functions.iter().map(|f| arguments(interface, f)).collect::<String>());
    section(&mut text, "AXI ports", &ports(interface));
    section(&mut text, "Registers", &registers(interface));
    text + "</body></html>\n"
}

/// The drawing; its symbols have names of their own on the page.
fn picture(compiled: &Compiled, number: usize) -> String {
    let own = format!("f{number}_");
    let svg = draw::draw(&compiled.vsa.at_most());
    svg.replace("id=\"s", &format!("id=\"{own}s")).replace("href=\"#s", &format!("href=\"#{own}s"))
}

const FLOORPLAN: &str =
    "<p>The bands of the array on the dies. What crosses (red), and the answers on their way back (grey), \
    goes through a register on each side, as do the buses to memories on other dies. The shares are estimates.</p>";

const ROOFLINE: &str = "<p>Under the slope a port limits the speed, under the flat roof the lanes do.</p>";

fn section(text: &mut String, title: &str, body: &str) {
    let _ = write!(text, "<h2>{title}</h2>\n{body}\n");
}

/// A table; the cells are HTML.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let cells = |cells: &mut dyn Iterator<Item = String>| format!("<tr>{}</tr>", cells.collect::<String>());
    let mut text = format!("<table>{}", cells(&mut head.iter().map(|h| format!("<th>{h}</th>"))));
    for row in rows {
        text += &cells(&mut row.into_iter().map(|cell| format!("<td>{cell}</td>")));
    }
    text + "</table>"
}

/// The commands for each tool, in this folder.
fn uses(interface: &Interface, board: &Board) -> String {
    let k = escape(&interface.kernel);
    let single = interface.functions.len() == 1;
    let host = if single { "host.cpp".to_string() } else { "host_FUNCTION.cpp".to_string() };
    let script = match board.family.as_str() {
        "zynq" => Some("bd_zynq"),
        "zynquplus" => Some("bd_zynqmp"),
        _ => None,
    };
    let mut rows = vec![
        ("simulate and compare", "sh sim/run.sh".to_string()),
        ("the same by FuseSoC", format!("fusesoc --cores-root . run --target sim sagen:array:{k}:1.0.0")),
        ("Vivado", "set_property ip_repo_paths THIS_FOLDER [current_project]; update_ip_catalog".to_string()),
        ("synthesis alone, with timing", "vivado -mode batch -source vivado/build_ooc.tcl".to_string()),
    ];
    if let Some(script) = script {
        rows.push(("bitstream", format!("vivado -mode batch -source vivado/{script}.tcl")));
        rows.push(("notebook, on the board", format!("jupyter lab sw/{k}.ipynb")));
        rows.push(("Linux, on the board", format!("cc -O2 -o {k}_uio sw/{k}_uio.c -lm")));
    } else {
        rows.push(("Vitis", format!("v++ -l -t hw --platform PLATFORM --config vitis/{k}.cfg -o {k}.xclbin {k}.xo")));
        rows.push(("XRT host", format!("sw/{host}: its first lines are the commands")));
    }
    rows.push(("bare metal", format!("#include \"x{k}.h\", in sw/: x{k}_run(address, …)")));
    table(&["", "here"], rows.into_iter().map(|(what, how)| vec![what.to_string(), format!("<tt>{how}</tt>")]))
}

/// Clock, cycles, time.
fn timing(page: &Page) -> String {
    let mhz = page.design.board.clock_mhz;
    let row = |f: &PackagedFunction| {
        let Compiled { vsa, report, .. } = &f.compiled;
        let time = |cycles: i64| format!("{:.2} µs", cycles as f64 / mhz);
        let cycles = report.prediction.cycles;
        let of_lanes =
            report::utilization(&f.compiled, cycles).map_or(String::new(), |u| format!("{:.1} %", 100.0 * u));
        vec![
            escape(&vsa.name),
            grouped(cycles),
            time(cycles),
            grouped(report.ideal),
            time(report.ideal),
            of_lanes,
            escape(&report::limit(&f.compiled)),
        ]
    };
    let head = ["run", "cycles", "time", "cycles with ideal memory", "time", "of the lanes", "limited by"];
    format!(
        "<p>Clock: {mhz} MHz, {:.3} ns. The cycles are exact for the memory that is assumed; the simulation gives the same. \
        Whether the clock is met is known after placement and routing; {}.</p>{}",
        1000.0 / mhz,
        escape(&page.design.clock.estimate()),
        table(&head, page.functions.iter().map(row))
    )
}

fn need(need: &Resources) -> [String; 4] {
    [grouped(need.dsp), grouped(need.lut), grouped(need.ff), grouped(need.bram36())]
}

/// The chosen array and those beside it.
fn front(page: &Page) -> String {
    let [PackagedFunction { compiled, .. }] = page.functions else { return String::new() };
    let board = &page.design.board.resources;
    let own = (&compiled.vsa, compiled.report.prediction.cycles, &compiled.report.resources);
    let others: Vec<_> = page.beside.iter().map(|d| (&d.vsa, d.cycles, &d.need)).collect();
    let at = |cycles: i64, need: &Resources| (100.0 * share(need, board), cycles as f64);
    let size = |vsa: &array::vsa::Vsa| format!("{}×{}×{}", vsa.extent[0], vsa.extent[1], vsa.lanes);
    let mut points: Vec<(f64, f64)> = others.iter().chain([&own]).map(|(_, c, n)| at(*c, n)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut plot = Plot::new(&points, [true, true], ["share of the scarcest resource of the board, %", "cycles"]);
    plot.line(&points, "#8aa", "");
    others.iter().for_each(|(vsa, c, n)| plot.dot(at(*c, n), "#577", &size(vsa)));
    plot.dot(at(own.1, own.2), "#c33", &size(own.0));
    plot.legend("#c33", "this design: PEs and lanes");
    plot.legend("#577", "beside it on the front of cycles and resources");
    let row = |(vsa, cycles, n): &(&array::vsa::Vsa, i64, &Resources), file: String| {
        [vec![size(vsa), grouped(*cycles)], need(n).to_vec(), vec![file]].concat()
    };
    let files = (0..).map(|k| format!("<tt>--design {}</tt>", super::design_file(k)));
    let rows: Vec<_> = [row(&own, "this one".into())]
        .into_iter()
        .chain(others.iter().zip(files).map(|(other, file)| row(other, file)))
        .collect();
    let head = ["PEs × lanes", "cycles", "DSP", "LUT", "FF", "BRAM36", "built by"];
    format!("<div class='plots'>{}</div>{}", plot.svg(), table(&head, rows.into_iter()))
}

/// The estimate, its share of the board, and its parts.
fn resources(compiled: &Compiled, board: &Board) -> String {
    let counts = compiled.report.resources.named().into_iter().zip(board.resources.counts());
    let row = |((name, need), have): ((&str, i64), i64)| {
        let share = 100.0 * need as f64 / have.max(1) as f64;
        vec![name.to_uppercase(), grouped(need), grouped(have), format!("{share:.1} %")]
    };
    let part = |(name, cost): (&str, Resources)| [vec![name.to_string()], need(&cost).to_vec()].concat();
    let listed = parts(&compiled.vsa).list().into_iter().chain(report::outside(compiled.report.converters));
    table(&["resource", "estimate", "of the board", "share"], counts.map(row))
        + &table(&["part", "DSP", "LUT", "FF", "BRAM36"], listed.map(part))
}

fn arguments(interface: &Interface, f: &Function) -> String {
    let argument = |a: &Argument| {
        let (dims, moved, port) = a.array().map_or((String::new(), "by value", ""), |array| {
            let moved = match (array.read, array.written) {
                _ if array.scratch => "scratch",
                (true, true) => "read, written",
                (_, true) => "written",
                _ => "read",
            };
            let dims = array.dims.iter().map(|d| format!("[{d}]")).collect();
            (dims, moved, interface.ports[array.port].name.as_str())
        });
        let moved = if a.formula.is_some() { "computed by the driver" } else { moved };
        let name = format!("{}.{}{dims}", f.ident, a.name);
        vec![
            escape(&name),
            escape(&a.ty.to_string()),
            grouped(a.bytes() as i64),
            moved.into(),
            port.into(),
            hex(a.offset),
        ]
    };
    let size = |s: &templates::interface::SizeArgument| {
        let name = format!("{}.{}", f.ident, s.name);
        vec![
            escape(&name),
            s.ty.to_string(),
            String::new(),
            format!("a size, 1 to {}", s.max),
            String::new(),
            String::new(),
        ]
    };
    table(&["argument", "type", "bytes", "", "port", "register"], f.in_order(argument, size).into_iter())
}

fn hex(offset: u32) -> String {
    format!("0x{offset:02x}")
}

fn ports(interface: &Interface) -> String {
    let row = |p: &AxiPort| {
        let place = |a: &Argument| a.array().map_or(1, |array| array.alignment);
        let arrays: Vec<String> =
            interface.behind(p).map(|a| format!("{} at a multiple of {} bytes", a.name, place(a))).collect();
        let numbers = [p.data_bits, p.address_bits, p.burst_beats].map(|n| n.to_string());
        [vec![p.name.clone()], numbers.to_vec(), vec![escape(&arrays.join(", "))]].concat()
    };
    let control = format!(
        "<p>Clock <tt>{}</tt>, reset <tt>{}</tt> (active low), interrupt <tt>{}</tt>, registers <tt>{}</tt> (AXI4-Lite, 32 \
        bits).</p>",
        interface.clock, interface.reset, interface.interrupt, interface.control
    );
    control
        + &table(&["manager", "data bits", "address bits", "longest burst", "moves"], interface.ports.iter().map(row))
}

fn registers(interface: &Interface) -> String {
    let register = |r: &Register| {
        let own = vec![hex(r.offset), r.name.clone(), r.access.words().into(), escape(&r.description)];
        let fields = r.fields.iter().map(|f| {
            vec![String::new(), format!("bit {} {}", f.bits(), f.name), f.access.words().into(), escape(f.description)]
        });
        [own].into_iter().chain(fields).collect::<Vec<_>>()
    };
    table(&["offset", "name", "access", ""], interface.registers.iter().flat_map(register))
}
