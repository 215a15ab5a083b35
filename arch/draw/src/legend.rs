//! The text below a figure: axes, loops, arrays, symbols.

use crate::canvas::{hue, Anchor, Canvas, Font, Rect, GREY, INK, SMALL};
use crate::parts::View;
use array::vsa::Vsa;

const LINE: i64 = 21;
const TEXT: Font = Font::new(12, INK.stroke);

/// Draws from `y` on; returns the figure's height.
pub(super) fn draw(vsa: &Vsa, view: &View, canvas: &mut Canvas, x: i64, y: i64, width: i64) -> i64 {
    let mut y = y;
    let columns = ((width - x) / 7) as usize - 14;
    let (tiles, inner) = vsa.counters.split_at(vsa.tile_depth);
    let loops =
        |list: &[uniform::counters::Counter]| list.iter().map(|c| format!("{} {}", c.name, c.trip)).collect::<Vec<_>>();
    let mut paragraph = |canvas: &mut Canvas, head: &str, parts: Vec<String>, joint: &str| {
        canvas.text(x, y, head, Font::new(12, GREY).bold(), Anchor::Start);
        for line in wrap(&parts, joint, columns) {
            canvas.text(x + 78, y, &line, TEXT, Anchor::Start);
            y += LINE;
        }
    };
    paragraph(canvas, "space", space(vsa, view), "; ");
    paragraph(canvas, "tile loops", loops(tiles), " › ");
    paragraph(canvas, "time loops", loops(inner), " › ");
    for (i, array) in vsa.arrays.iter().enumerate() {
        let hue = hue(i as u32);
        canvas.rect(Rect { x, y: y - 10, w: 12, h: 12 }, 2, hue, 1.5);
        canvas.text(x + 20, y, &array.name, Font::new(12, hue.stroke).bold(), Anchor::Start);
        let dims: String = array.dims.iter().map(|d| format!("[{d}]")).collect();
        let groups = groups(vsa, i as u32);
        let mut parts = vec![format!("{}{dims}, {} per word", array.ty, array.word)];
        parts.extend(groups);
        for line in wrap(&parts, "; ", columns) {
            canvas.text(x + 78, y, &line, TEXT, Anchor::Start);
            y += LINE;
        }
    }
    symbols(canvas, x, y + 4);
    y + LINE + 12
}

/// Joins as many parts on a line as fit into `columns` characters.
fn wrap(parts: &[String], joint: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + joint.len() <= columns => {
                *line += &format!("{joint}{part}")
            }
            Some(line) => {
                line.push_str(joint.trim_end());
                lines.push(part.clone());
            }
            None => lines.push(part.clone()),
        }
    }
    if lines.is_empty() {
        vec!["–".into()]
    } else {
        lines
    }
}

fn space(vsa: &Vsa, view: &View) -> Vec<String> {
    let mut parts = Vec::new();
    for (axis, arrows) in [(view.down, ["↓", "↑"]), (view.across, ["→", "←"])] {
        if vsa.extent[axis] > 1 {
            let arrow = arrows[view.backwards[axis] as usize];
            let hop_delay = vsa.schedule.start[axis].hop_delay();
            parts.push(format!(
                "{} {arrow} {} PEs, {hop_delay} cycle{} apart",
                vsa.axes[axis],
                vsa.extent[axis],
                if hop_delay == 1 { "" } else { "s" }
            ));
        }
    }
    if vsa.schedule.interval > 1 {
        parts.push(format!("a wave every {} cycles", vsa.schedule.interval));
    }
    if parts.is_empty() {
        vec!["one PE".into()]
    } else {
        parts
    }
}

fn groups(vsa: &Vsa, array: u32) -> Vec<String> {
    let mut parts = Vec::new();
    for g in vsa.inputs.iter().filter(|g| g.array == array) {
        let count: i64 = g.feeders().iter().product();
        let depth: i64 = g.banks.iter().map(|b| b.depth).sum();
        let ports = if g.ports.len() > 1 { format!(", {} values a wave", g.ports.len()) } else { String::new() };
        parts.push(format!("{count} feeder{} of 2 × {depth} words{ports}", if count == 1 { "" } else { "s" }));
    }
    for g in vsa.outputs.iter().filter(|g| g.array == array) {
        let count: i64 = (0..2).map(|a| g.last[a] - g.first[a] + 1).product();
        let depth: i64 = g.banks.iter().map(|b| b.bank.depth).sum();
        parts.push(format!("{count} collector{} of {} × {depth} words", if count == 1 { "" } else { "s" }, g.slots));
    }
    parts
}

fn symbols(canvas: &mut Canvas, x: i64, y: i64) {
    let mut at = x;
    canvas.line(&[(at, y - 4), (at + 26, y - 4)], GREY, false, true);
    canvas.text(at + 32, y, "data, +cycles or +waves (w) later", SMALL, Anchor::Start);
    at += 220;
    canvas.line(&[(at, y - 4), (at + 26, y - 4)], GREY, true, true);
    canvas.text(at + 32, y, "load and drain chains", SMALL, Anchor::Start);
    at += 160;
    canvas.rect(Rect { x: at, y: y - 11, w: 24, h: 14 }, 3, crate::canvas::Hue { stroke: GREY, fill: INK.fill }, 1.5);
    canvas.text(at + 32, y, "feeder (L2) or collector", SMALL, Anchor::Start);
}
