//! The floorplan of an array that is cut, as a picture for `report.html`.

use crate::bands;
use crate::plot::escape;
use array::vsa::Vsa;
use cost::board::Board;
use std::fmt::Write as _;

/// Measures of the picture.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 96.0;
const GAP: f64 = 26.0;
const BAR: f64 = 120.0;

/// The dies as they lie in the package, with their bands, what these take of each resource, and what crosses.
pub fn draw(vsa: &Vsa, board: &Board) -> Option<String> {
    let (axis, bands) = bands::of(vsa, board)?;
    let base = board.first_of(bands.len())?;
    let ports = bands::ports(vsa, board);
    let count = board.dies.len();
    let height = count as f64 * (HEIGHT + GAP);
    let mut svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height}' viewBox='0 0 {WIDTH} {height}' \
         font-family='sans-serif' font-size='12'>"
    );
    for (k, die) in board.dies.iter().enumerate() {
        // The first die is the lowest one of the package.
        let y = (count - 1 - k) as f64 * (HEIGHT + GAP) + GAP / 2.0;
        let band = k.checked_sub(base).and_then(|b| Some((b, bands.get(b)?)));
        let fill = if band.is_some() { "#eef3f6" } else { "#fafafa" };
        let _ = write!(
            svg,
            "<rect x='1' y='{y}' width='{}' height='{HEIGHT}' fill='{fill}' stroke='#577'/>\
             <text x='10' y='{}' font-weight='bold'>{}</text>",
            WIDTH - 2.0,
            y + 18.0,
            escape(&die.name)
        );
        let mut line = |row: f64, text: &str| {
            let _ = write!(svg, "<text x='10' y='{}'>{text}</text>", y + 18.0 * row);
        };
        let here = ports.iter().filter(|port| port.place == k);
        let here: Vec<String> = here.map(|port| port.arrays.join(", ")).collect();
        if !here.is_empty() {
            line(4.2, &format!("memory of {}", escape(&here.join(", "))));
        }
        let Some((b, band)) = band else { continue };
        line(2.2, &format!("band {b}: PEs {} to {} of {}", band.first, band.last, escape(&axis)));
        if b == 0 {
            line(3.2, "engines, sequencer, registers");
        }
        for (n, ((name, need), all)) in band.need.named().into_iter().zip(die.resources.counts()).enumerate() {
            let (y, share) = (y + 8.0 + 17.0 * n as f64, need as f64 / all.max(1) as f64);
            let _ = write!(
                svg,
                "<text x='268' y='{}'>{}</text>\
                 <rect x='320' y='{y}' width='{BAR}' height='11' fill='#fff' stroke='#8aa'/>\
                 <rect x='320' y='{y}' width='{:.1}' height='11' fill='#8aa'/><text x='448' y='{}'>{:.1} %</text>",
                y + 10.0,
                name.to_uppercase(),
                BAR * share.clamp(0.0, 1.0),
                y + 10.0,
                100.0 * share
            );
        }
        if b > 0 {
            // What crosses from the band before, and back.
            for (x, end) in [(120.0, "#c33"), (150.0, "#577")] {
                let _ = write!(
                    svg,
                    "<line x1='{x}' x2='{x}' y1='{}' y2='{}' stroke='{end}' stroke-width='3'/>",
                    y + HEIGHT - 6.0,
                    y + HEIGHT + GAP + 6.0
                );
            }
        }
    }
    Some(svg + "</svg>")
}
