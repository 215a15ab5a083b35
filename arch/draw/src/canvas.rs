//! The few SVG elements of a figure. Lengths in pixels, y downwards.

use std::fmt::Write;

/// One colour for strokes, a light one of the same hue for areas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hue {
    pub stroke: &'static str,
    pub fill: &'static str,
}

pub(super) const INK: Hue = Hue { stroke: "#24292f", fill: "#f6f8fa" };
pub(super) const GREY: &str = "#6e7781";
const HUES: [Hue; 6] = [
    Hue { stroke: "#0969da", fill: "#ddf4ff" },
    Hue { stroke: "#1a7f37", fill: "#dafbe1" },
    Hue { stroke: "#bc4c00", fill: "#fff1e5" },
    Hue { stroke: "#8250df", fill: "#fbefff" },
    Hue { stroke: "#bf3989", fill: "#ffeff7" },
    Hue { stroke: "#7d6200", fill: "#fff8c5" },
];

/// Colour of array `index`.
pub(super) fn hue(index: u32) -> Hue {
    HUES[index as usize % HUES.len()]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Font {
    pub size: i64,
    pub bold: bool,
    pub color: &'static str,
}

impl Font {
    pub const fn new(size: i64, color: &'static str) -> Self {
        Font { size, bold: false, color }
    }
    pub const fn bold(self) -> Self {
        Font { bold: true, ..self }
    }
}

/// The colour of secondary text and lines.
pub(super) const SMALL: Font = Font::new(11, GREY);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rect {
    pub x: i64,
    pub y: i64,
    pub w: i64,
    pub h: i64,
}

#[derive(Default)]
pub(super) struct Canvas {
    body: String,
    /// Drawings that occur more than once, in the order of their numbers.
    stamps: Vec<String>,
}

impl Canvas {
    fn put(&mut self, line: std::fmt::Arguments) {
        // Writing to a String cannot fail.
        let _ = self.body.write_fmt(line);
        self.body.push('\n');
    }

    /// A small drawing around the origin, put at `(x, y)`; equal ones are written once.
    pub fn stamp(&mut self, (x, y): (i64, i64), draw: impl FnOnce(&mut Canvas)) {
        let mut small = Canvas::default();
        draw(&mut small);
        if small.body.is_empty() {
            return;
        }
        let stamp = self.stamps.iter().position(|s| *s == small.body);
        let number = stamp.unwrap_or_else(|| {
            self.stamps.push(small.body);
            self.stamps.len() - 1
        });
        self.put(format_args!(r##"<use href="#s{number}" x="{x}" y="{y}"/>"##));
    }

    /// Texts of one font, each in the middle of its place.
    pub fn texts(&mut self, font: Font, all: impl Iterator<Item = ((i64, i64), String)>) {
        self.put(format_args!(r#"<g font-size="{}" fill="{}" text-anchor="middle">"#, font.size, font.color));
        for ((x, y), text) in all {
            self.put(format_args!(r#"<text x="{x}" y="{y}">{}</text>"#, escape(&text)));
        }
        self.put(format_args!("</g>"));
    }

    pub fn rect(&mut self, r: Rect, radius: i64, hue: Hue, width: f32) {
        let (Rect { x, y, w, h }, Hue { stroke, fill }) = (r, hue);
        let place = format!(r#"x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}""#);
        self.put(format_args!(r#"<rect {place} fill="{fill}" stroke="{stroke}" stroke-width="{width}"/>"#));
    }

    pub fn text(&mut self, x: i64, y: i64, text: &str, font: Font, anchor: Anchor) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if font.bold { r#" font-weight="600""# } else { "" };
        let (size, color, text) = (font.size, font.color, escape(text));
        self.put(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}"{weight}>{text}</text>"#
        ));
    }

    /// Text on a white halo, for labels that lie on lines.
    pub fn label(&mut self, x: i64, y: i64, text: &str, font: Font, anchor: Anchor) {
        self.put(format_args!(r##"<g stroke="#ffffff" stroke-width="4" stroke-linejoin="round">"##));
        self.text(x, y, text, font, anchor);
        self.put(format_args!("</g>"));
        self.text(x, y, text, font, anchor);
    }

    /// A line through all points, with an arrow head at its end if `arrow`.
    pub fn line(&mut self, points: &[(i64, i64)], color: &'static str, dashed: bool, arrow: bool) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let (width, dash) = if dashed { ("1.3", r#" stroke-dasharray="4 3""#) } else { ("1.7", "") };
        let head = if arrow { format!(r##" marker-end="url(#{})""##, marker(color)) } else { String::new() };
        self.put(format_args!(
            r#"<polyline points="{}" fill="none" stroke="{color}" stroke-width="{width}"{dash}{head}/>"#,
            points.join(" ")
        ));
    }

    /// A bow from `a` to `b` that leaves the straight line by `bend` pixels to its left.
    pub fn bow(&mut self, a: (i64, i64), b: (i64, i64), bend: i64, color: &'static str) {
        let length = (((b.0 - a.0).pow(2) + (b.1 - a.1).pow(2)) as f64).sqrt().max(1.0);
        let side = |d: i64| (2.0 * bend as f64 * d as f64 / length).round() as i64;
        let (x, y) = ((a.0 + b.0) / 2 + side(b.1 - a.1), (a.1 + b.1) / 2 - side(b.0 - a.0));
        let path = format!("M {},{} Q {x},{y} {},{}", a.0, a.1, b.0, b.1);
        self.put(format_args!(
            r##"<path d="{path}" fill="none" stroke="{color}" stroke-width="1.7" marker-end="url(#{})"/>"##,
            marker(color)
        ));
    }

    pub fn finish(self, width: i64, height: i64, title: &str) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
            {height}\" \
             font-family=\"Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif\">\n<title>{}</title>\n\
             <defs>\n",
            escape(title)
        );
        let stamps: String =
            self.stamps.iter().enumerate().map(|(k, s)| format!("<g id=\"s{k}\">\n{s}</g>\n")).collect();
        let used = |color: &&str| {
            let id = format!("#{})", marker(color));
            self.body.contains(&id) || stamps.contains(&id)
        };
        for color in HUES.iter().map(|h| h.stroke).chain([INK.stroke, GREY]).filter(used) {
            svg += &format!(
                "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" \
                markerWidth=\"8\" markerHeight=\"8\" \
                 orient=\"auto\"><path d=\"M 0,0.8 L 8,4 L 0,7.2 z\" fill=\"{color}\"/></marker>\n",
                marker(color)
            );
        }
        svg += &stamps;
        svg += "</defs>\n";
        // An opaque card: the figure reads the same on a white and on a dark page.
        svg += &format!(
            "<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"#ffffff\" stroke=\"#d0d7de\"/>\n",
            width - 1,
            height - 1
        );
        svg + &self.body + "</svg>\n"
    }
}

/// Id of the arrow head of a colour.
fn marker(color: &str) -> String {
    format!("head-{}", &color[1..])
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
