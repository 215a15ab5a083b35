//! Plots as SVG, for pages that are one file without scripts or links.

use crate::report::grouped;
use array::contract::walk::Walk;
use array::vsa::Vsa;
use std::fmt::Write as _;

/// The style of a page.
pub const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}\
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}\
td:first-child,th:first-child{text-align:left}code{background:#f4f4f4;padding:.6em;display:block;white-space:pre-wrap;overflow-wrap:anywhere}\
svg{max-width:100%;height:auto}.plots svg{width:34em}.plots text{font:12px system-ui,sans-serif}\
@media (max-width:40em){body{margin:1em auto}table{font-size:.8em}td,th{padding:.2em .3em}}@media \
print{body{margin:0 auto}code{print-color-adjust:exact}h2,h2+p{break-after:avoid}svg,table{break-inside:avoid}svg{max-height:22cm}}";

/// A text in HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A plot with logarithmic or linear axes; coordinates of the data.
pub struct Plot {
    x: (f64, f64),
    y: (f64, f64),
    log: [bool; 2],
    body: String,
    labels: [String; 2],
    /// Dots that have names.
    named: Vec<((f64, f64), String)>,
    /// Colors and what they mean.
    legend: Vec<(&'static str, &'static str)>,
}

const WIDE: f64 = 460.0;
const HIGH: f64 = 300.0;
const LEFT: f64 = 70.0;
const BELOW: f64 = 45.0;

impl Plot {
    pub fn new(points: &[(f64, f64)], log: [bool; 2], labels: [&str; 2]) -> Plot {
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
            legend: vec![],
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

    pub fn dot(&mut self, point: (f64, f64), color: &str, name: &str) {
        let (x, y) = self.at(point);
        let _ = write!(self.body, "<circle cx='{x:.1}' cy='{y:.1}' r='4.5' fill='{color}'/>");
        let room = |n: &&mut ((f64, f64), String)| {
            (n.0 .0 - x).abs() + (n.0 .1 - y).abs() < 14.0 && n.1.chars().count() + name.chars().count() < LONGEST
        };
        match self.named.iter_mut().find(room) {
            Some((_, names)) => *names += &format!(", {name}"),
            None => self.named.push(((x, y), name.to_string())),
        }
    }

    /// What a color means, in a line below the plot.
    pub fn legend(&mut self, color: &'static str, text: &'static str) {
        self.legend.push((color, text));
    }

    /// Names beside their dots, each in the nearest place where it covers no other name and no dot. A line leads to a name
    /// that is farther away.
    fn names(&self) -> String {
        let mut named: Vec<&((f64, f64), String)> = self.named.iter().collect();
        named.sort_by(|a, b| a.0 .0.total_cmp(&b.0 .0).then(a.0 .1.total_cmp(&b.0 .1)));
        let dots: Vec<Place> = named
            .iter()
            .map(|((x, y), _)| Place { left: x - 5.0, right: x + 5.0, top: y - 5.0, bottom: y + 5.0 })
            .collect();
        let (mut taken, mut text) = (dots, String::new());
        for ((x, y), name) in named {
            let wide = CHARACTER * name.chars().count() as f64;
            let candidate = |(row, to_left): (i32, bool)| {
                let left = if to_left { x - 8.0 - wide } else { x + 8.0 };
                let base = y + 4.0 + 13.0 * f64::from(row);
                Place { left, right: left + wide, top: base - 10.0, bottom: base + 3.0 }
            };
            // The rows nearest to the dot come first.
            let rows = (0..24).map(|k: i32| (k + 1) / 2 * if k % 2 == 0 { 1 } else { -1 });
            let mut candidates = rows.flat_map(|row| [(row, false), (row, true)]).map(candidate);
            let inside = |p: &Place| p.left > LEFT && p.right < WIDE - 15.0 && p.top > 15.0 && p.bottom < HIGH - BELOW;
            let free = |p: &Place| inside(p) && !taken.iter().any(|other| p.covers(other));
            let Some(place) = candidates.find(free) else { continue };
            let base = place.bottom - 3.0;
            if (base - 4.0 - y).abs() > 20.0 {
                let near = if place.left > *x { place.left } else { place.right };
                let _ =
                    write!(text, "<line x1='{x:.1}' y1='{y:.1}' x2='{near:.1}' y2='{:.1}' stroke='#bbb'/>", base - 4.0);
            }
            let _ = write!(text, "<text class='name' x='{:.1}' y='{base:.1}'>{}</text>", place.left, escape(name));
            taken.push(place);
        }
        text
    }

    pub fn line(&mut self, points: &[(f64, f64)], color: &str, dashes: &str) {
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

    pub fn svg(self) -> String {
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
        let entry = |(color, text): &(&str, &str)| format!("<span style='color:{color}'>●</span> {} ", escape(text));
        let legend = match self.legend.is_empty() {
            true => String::new(),
            false => format!("<p class='legend'>{}</p>", self.legend.iter().map(entry).collect::<String>().trim_end()),
        };
        format!(
            "<svg viewBox='0 0 {WIDE} {HIGH}' role='img'>{axes}<rect x='{LEFT}' y='15' width='{}' height='{}' \
            fill='none' stroke='#999'/>{}{names}<text x='{}' y='{}' text-anchor='middle'>{x}</text><text x='14' \
            y='{}' text-anchor='middle' transform='rotate(-90 14 {})'>{y}</text></svg>{legend}",
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

/// Dots at one place share a name of fewer characters.
const LONGEST: usize = 26;

/// The width of a character of a name; names are set in 12 pixels.
pub const CHARACTER: f64 = 6.8;

/// A rectangle that is covered.
struct Place {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Place {
    fn covers(&self, other: &Place) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// Iterations per cycle over iterations per byte, the roof of each port and of the lanes; `cycles` is a run of so many
/// iterations.
pub fn roofline(vsa: &Vsa, cycles: i64, iterations: i64) -> String {
    let work = iterations as f64;
    let peak = (vsa.extent[0] * vsa.extent[1] * vsa.lanes) as f64;
    let reached = work / cycles.max(1) as f64;
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
    plot.legend("#c33", "this design, for each port");
    plot.legend("#69c", "the most that a port of this width (slope) and the lanes (flat) allow");
    plot.svg()
}
