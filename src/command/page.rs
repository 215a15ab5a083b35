//! The page of `sagen explore --html`: one file without scripts or links, so that it works offline and in print.

use crate::explore::Best;
use crate::report::grouped;
use array::contract::walk::Walk;
use search::branch::{share, Design, Found, Step};
use std::fmt::Write as _;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left}code{background:#f4f4f4;padding:.6em;display:block;white-space:pre-wrap;overflow-wrap:anywhere}\
svg{max-width:100%;height:auto}.plots svg{width:34em}.plots text{font:12px system-ui,sans-serif}\
@media (max-width:40em){body{margin:1em auto}table{font-size:.8em}td,th{padding:.2em .3em}}@media \
print{body{margin:0 auto}code{print-color-adjust:exact}h2,h2+p{break-after:avoid}svg,table{break-inside:avoid}svg{max-height:22cm}}";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A plot with logarithmic or linear axes; coordinates of the data.
struct Plot {
    x: (f64, f64),
    y: (f64, f64),
    log: [bool; 2],
    body: String,
    labels: [String; 2],
    /// Dots that have names.
    named: Vec<((f64, f64), String)>,
}

const WIDE: f64 = 460.0;
const HIGH: f64 = 300.0;
const LEFT: f64 = 70.0;
const BELOW: f64 = 45.0;

impl Plot {
    fn new(points: &[(f64, f64)], log: [bool; 2], labels: [&str; 2]) -> Plot {
        let range = |of: &dyn Fn(&(f64, f64)) -> f64, log: bool| {
            let (lo, hi) = points.iter().map(of).fold((f64::MAX, f64::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
            match (log, hi > lo) {
                (true, _) => (lo.max(1e-9) / 1.25, hi.max(1e-9) * 1.25),
                (false, true) => (lo - 0.05 * (hi - lo), hi + 0.05 * (hi - lo)),
                (false, false) => (lo - 1.0, hi + 1.0),
            }
        };
        Plot {
            x: range(&|p| p.0, log[0]),
            y: range(&|p| p.1, log[1]),
            log,
            body: String::new(),
            labels: labels.map(String::from),
            named: vec![],
        }
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let part = |v: f64, (lo, hi): (f64, f64), log: bool| {
            if log {
                (v.max(1e-9).ln() - lo.ln()) / (hi.ln() - lo.ln())
            } else {
                (v - lo) / (hi - lo)
            }
        };
        (
            LEFT + (WIDE - LEFT - 15.0) * part(x, self.x, self.log[0]),
            HIGH - BELOW - (HIGH - BELOW - 15.0) * part(y, self.y, self.log[1]),
        )
    }

    fn dot(&mut self, point: (f64, f64), color: &str, name: &str) {
        let (x, y) = self.at(point);
        let _ = write!(self.body, "<circle cx='{x:.1}' cy='{y:.1}' r='4.5' fill='{color}'/>");
        match self.named.iter_mut().find(|n| (n.0 .0 - x).abs() + (n.0 .1 - y).abs() < 14.0) {
            Some((_, names)) => *names += &format!(", {name}"),
            None => self.named.push(((x, y), name.to_string())),
        }
    }

    /// Names in turns above and below their dots, so that those of neighbours stay apart.
    fn names(&self) -> String {
        let mut named: Vec<&((f64, f64), String)> = self.named.iter().collect();
        named.sort_by(|a, b| a.0 .0.total_cmp(&b.0 .0));
        let text = |(k, ((x, y), name)): (usize, &((f64, f64), String))| {
            let (side, anchor) = if *x > WIDE * 0.6 { (-8.0, "end") } else { (8.0, "start") };
            let below = if k % 2 == 0 || y + 20.0 > HIGH - BELOW { -7.0 } else { 16.0 };
            format!("<text x='{:.1}' y='{:.1}' text-anchor='{anchor}'>{}</text>", x + side, y + below, escape(name))
        };
        named.into_iter().enumerate().map(text).collect()
    }

    fn line(&mut self, points: &[(f64, f64)], color: &str, dashes: &str) {
        let path: Vec<String> = points
            .iter()
            .map(|p| {
                let (x, y) = self.at(*p);
                format!("{x:.1},{y:.1}")
            })
            .collect();
        let _ = write!(
            self.body,
            "<polyline points='{}' fill='none' stroke='{color}' stroke-width='1.6' stroke-dasharray='{dashes}'/>",
            path.join(" ")
        );
    }

    fn ticks(range: (f64, f64), log: bool) -> Vec<f64> {
        // Less than a decade reads as a linear axis does.
        if log && range.1 / range.0 > 6.0 {
            let decades = range.0.log10().floor() as i32..=range.1.log10().ceil() as i32;
            let narrow = range.1 / range.0 < 30.0;
            let steps: &[f64] = if narrow { &[1.0, 2.0, 5.0] } else { &[1.0] };
            return decades
                .flat_map(|d| steps.iter().map(move |s| s * 10f64.powi(d)))
                .filter(|v| (range.0..=range.1).contains(v))
                .collect();
        }
        let step = 10f64.powf(((range.1 - range.0) / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * step)
            .find(|s| (range.1 - range.0) / s <= 6.0)
            .unwrap_or(step);
        (0..8).map(|k| ((range.0 / step).ceil() + f64::from(k)) * step).filter(|v| *v <= range.1).collect()
    }

    fn svg(self) -> String {
        let mut axes = String::new();
        let number = |v: f64| {
            if v.abs() >= 1000.0 {
                grouped(v as i64)
            } else if v.fract() == 0.0 {
                format!("{v}")
            } else {
                format!("{v:.3}").trim_end_matches('0').to_string()
            }
        };
        for v in Plot::ticks(self.x, self.log[0]) {
            let (x, _) = self.at((v, self.y.0));
            let _ = write!(
                axes,
                "<line x1='{x:.1}' y1='15' x2='{x:.1}' y2='{:.1}' stroke='#e4e4e4'/><text x='{x:.1}' y='{:.1}' \
                text-anchor='middle'>{}</text>",
                HIGH - BELOW,
                HIGH - BELOW + 16.0,
                number(v)
            );
        }
        for v in Plot::ticks(self.y, self.log[1]) {
            let (_, y) = self.at((self.x.0, v));
            let _ = write!(
                axes,
                "<line x1='{LEFT}' y1='{y:.1}' x2='{:.1}' y2='{y:.1}' stroke='#e4e4e4'/><text x='{:.1}' y='{:.1}' \
                text-anchor='end'>{}</text>",
                WIDE - 15.0,
                LEFT - 6.0,
                y + 4.0,
                number(v)
            );
        }
        let ([x, y], names) = (&self.labels, self.names());
        format!(
            "<svg viewBox='0 0 {WIDE} {HIGH}' role='img'>{axes}<rect x='{LEFT}' y='15' width='{}' height='{}' \
            fill='none' stroke='#999'/>{}{names}<text x='{}' y='{}' text-anchor='middle'>{x}</text><text x='14' \
            y='{}' text-anchor='middle' transform='rotate(-90 14 {})'>{y}</text></svg>",
            WIDE - LEFT - 15.0,
            HIGH - BELOW - 15.0,
            self.body,
            (LEFT + WIDE) / 2.0,
            HIGH - 8.0,
            HIGH / 2.0 - 15.0,
            HIGH / 2.0 - 15.0
        )
    }
}

/// PEs and lanes.
fn size(d: &Design) -> String {
    format!("{}×{}×{}", d.vsa.extent[0], d.vsa.extent[1], d.vsa.lanes)
}

/// Cycles over the share of the scarcest resource.
fn front_plot(all: &Best) -> String {
    let best = all.design();
    let of = |d: &Design| (100.0 * share(&d.need, &all.limits), d.cycles as f64);
    let designs: Vec<&Design> = all.front.iter().filter_map(|f| f.best.as_ref()).collect();
    let mut points: Vec<(f64, f64)> = designs.iter().map(|d| of(d)).chain([of(best)]).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut plot = Plot::new(&points, [true, true], ["share of the scarcest resource within the limits, %", "cycles"]);
    plot.line(&points, "#8aa", "");
    for d in designs {
        plot.dot(of(d), "#577", &size(d));
    }
    plot.dot(of(best), "#c33", &size(best));
    plot.svg()
}

/// Iterations per cycle over iterations per byte, the roof of each port and of the lanes.
fn roofline(all: &Best) -> String {
    let best = all.design();
    let vsa = &best.vsa.at_most();
    let work = all.iterations as f64;
    let peak = (vsa.extent[0] * vsa.extent[1] * vsa.lanes) as f64;
    let reached = work / best.cycles.max(1) as f64;
    let mut dots = vec![];
    for p in 0..vsa.axi_ports() {
        for (walk, way) in [(Walk::reads(vsa, p), "reads"), (Walk::writes(vsa, p), "writes")] {
            let Some(walk) = walk else { continue };
            let bytes = walk.words() * i64::from(walk.bus_bytes());
            dots.push((work / bytes.max(1) as f64, f64::from(walk.bus_bytes()), format!("{} {way}", vsa.port_name(p))));
        }
    }
    let points: Vec<(f64, f64)> =
        dots.iter().flat_map(|d| [(d.0, reached), (peak / d.1, peak), (d.0, (d.0 * d.1).min(peak))]).collect();
    let mut plot = Plot::new(&points, [true, true], ["iterations per byte of the port", "iterations per cycle"]);
    let mut widths: Vec<f64> = dots.iter().map(|d| d.1).collect();
    widths.sort_by(f64::total_cmp);
    widths.dedup();
    for bytes in widths {
        let knee = peak / bytes;
        let start = plot.x.0.max(plot.y.0 / bytes);
        plot.line(&[(start, start * bytes), (knee, peak)], "#69c", "5 3");
        plot.line(&[(knee, peak), (plot.x.1, peak)], "#69c", "");
    }
    for (x, _, name) in dots {
        plot.dot((x, reached), "#c33", &name);
    }
    plot.svg()
}

/// Best and bound over exact designs.
fn course(found: &Found) -> String {
    let last = found.counts.exact.max(1) as f64;
    let mut best: Vec<(f64, f64)> = vec![];
    let mut bound: Vec<(f64, f64)> = vec![];
    for &Step { designs: n, cycles, bound: open, .. } in &found.trace {
        if let Some(before) = best.last().copied() {
            best.push((n as f64, before.1));
        }
        best.push((n as f64, cycles as f64));
        if open > 0 {
            bound.push((n as f64, open as f64));
        }
    }
    best.extend(best.last().map(|b| (last, b.1)));
    bound.push((last, found.bound as f64));
    let all: Vec<(f64, f64)> = best.iter().chain(&bound).copied().collect();
    let mut plot = Plot::new(&all, [false, true], ["designs assembled", "cycles: best, and bound (dashed)"]);
    plot.line(&best, "#c33", "");
    plot.line(&bound, "#336", "5 3");
    plot.svg()
}

/// The page; `command` builds the best design.
pub(super) fn render(all: &Best, hints: &[String], command: &str) -> String {
    let (best, found) = (all.design(), &all.found);
    let title = format!("{} on {}", escape(&all.scop.name), escape(&all.board.name));
    let hints: String = hints.iter().map(|h| format!("<p>{}.</p>", escape(h))).collect();
    format!(
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title><style>{STYLE}</style></head>\
         <body>\n<h1>{title}</h1>\n{}\n<code>{}</code>\n{}\n{hints}\n\
         <h2>Cycles against area</h2>\n<div class='plots'>{}</div>\n{}\n\
         <h2>Roofline</h2>\n<p>The position of the design for each port: under the slope the port limits the speed, \
         under the flat roof the lanes do.</p><div class='plots'>{}</div>\n\
         <h2>Course of the search</h2>\n<div class='plots'>{}</div>\n<h2>The systolic array</h2>\n{}\n\
         <h2>Why designs were refused</h2>\n{}\n</body></html>\n",
        headline(all),
        escape(command),
        resources(all),
        front_plot(all),
        points(all),
        roofline(all),
        course(found),
        draw::draw(&best.vsa),
        refused(found),
    )
}

/// Size, speed, proof and effort.
fn headline(all: &Best) -> String {
    let (best, found, board) = (all.design(), &all.found, &all.board);
    let proof = match found.gap() {
        0.0 => "No array within the limits takes fewer.".to_string(),
        gap => {
            format!("No array within the limits takes fewer than {} ({:.2} % less).", grouped(found.bound), 100.0 * gap)
        }
    };
    let [rows, columns] = best.vsa.extent;
    let c = &found.counts;
    format!(
        "<p><b>{rows}×{columns} PEs, {} lanes each: {} cycles</b>, {:.2} µs at {} MHz, {:.1} % of the lanes' time. \
         {proof}</p>\n<p>{} designs assembled, {} walked coarsely, {} bounded in {:.1} s; {} too big.</p>",
        best.vsa.lanes,
        grouped(best.cycles),
        best.cycles as f64 / board.clock_mhz,
        board.clock_mhz,
        100.0 * all.utilization(best),
        grouped(c.exact as i64),
        grouped(c.walks as i64),
        grouped(c.bounds as i64),
        all.seconds,
        grouped(c.too_big as i64),
    )
}

/// The table of resources.
fn resources(all: &Best) -> String {
    let row = |((name, need), have): ((&str, i64), i64)| {
        let (name, share) = (name.to_uppercase(), 100.0 * need as f64 / have.max(1) as f64);
        format!("<tr><td>{name}</td><td>{}</td><td>{}</td><td>{share:.1} %</td></tr>", grouped(need), grouped(have))
    };
    let rows: String = all.design().need.named().into_iter().zip(all.limits.counts()).map(row).collect();
    format!("<table><tr><th>resource</th><th>estimate</th><th>limit</th><th>share</th></tr>{rows}</table>")
}

/// The table of the points of the front.
fn points(all: &Best) -> String {
    let designs = [&all.found].into_iter().chain(&all.front).filter_map(|f| f.best.as_ref().map(|d| (f, d)));
    let row = |(f, d): (&Found, &Design)| {
        let numbers = [d.cycles, f.bound, d.need.dsp, d.need.lut, d.need.bram36()].map(grouped);
        format!("<tr><td>{}</td><td>{}</td></tr>", size(d), numbers.join("</td><td>"))
    };
    let rows: String = designs.map(row).collect();
    format!(
        "<table><tr><th>PEs × lanes</th><th>cycles</th><th>bound</th><th>DSP</th><th>LUT</th><th>BRAM36</th></tr>\
         {rows}</table>"
    )
}

/// The table of reasons for which designs were refused.
fn refused(found: &Found) -> String {
    let row =
        |(why, times): &(String, u64)| format!("<tr><td>{}</td><td>{}</td></tr>", escape(why), grouped(*times as i64));
    let rows: String = found.refused.iter().map(row).collect();
    match rows.is_empty() {
        true => "<p>None was.</p>".to_string(),
        false => format!("<table><tr><th>why</th><th>designs</th></tr>{rows}</table>"),
    }
}
