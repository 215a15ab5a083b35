//! Geometry and drawing of the array itself.
//!
//! From left to right: one column for each group that is fed row by row, one for the L3 of each group that is fed
//! column by column, the grid, one column for each output group. From top to bottom: DRAM, L3s, feeders above the
//! grid, the grid, L3s of outputs, DRAM. Everything that runs along a row of PEs has its own *lane* (height inside of
//! the PE), and so has everything that runs along a column.

mod lanes;

use crate::canvas::{hue, Anchor, Canvas, Font, Hue, Rect, GREY, INK};
use crate::legend;
use crate::parts::{held, links, side, Link, Side, Slot, View};
use array::vsa::Vsa;

const MARGIN: i64 = 28;
const COLUMN: i64 = 74;
const LANE: i64 = 26;
const GAP: (i64, i64) = (76, 60);
/// Width of a slot for PEs that are not shown.
const DOTS: i64 = 26;
const BOX: (i64, i64) = (34, 20);
const DRAM: i64 = 74;

/// A wire along the rows or columns of PEs.
enum Lane {
    /// Feeders at the border; the value is passed on.
    Fed(usize),
    /// Feeders inside, along their chain.
    Inside(usize),
    /// Collectors, along their chain.
    Out(usize),
    Hop(usize),
}

pub(super) struct Figure<'a> {
    pub vsa: &'a Vsa,
    pub view: View,
    canvas: Canvas,
    links: Vec<Link>,
    /// Slots with their start and size.
    cols: Vec<(Slot, i64, i64)>,
    rows: Vec<(Slot, i64, i64)>,
    /// Lanes of a row, and of a column.
    along: Vec<Lane>,
    across: Vec<Lane>,
    /// Input groups above the grid.
    top: Vec<usize>,
    grid: Rect,
    /// The values that every PE holds, written below its name.
    held: String,
}

impl<'a> Figure<'a> {
    pub fn new(vsa: &'a Vsa) -> Self {
        let view = View::new(vsa);
        let links = links(vsa);
        let (mut along, mut across, mut top) = (Vec::new(), Vec::new(), Vec::new());
        for g in 0..vsa.inputs.len() {
            match side(vsa, &view, g) {
                Side::Left => along.push(Lane::Fed(g)),
                Side::Inside => along.push(Lane::Inside(g)),
                Side::Top => across.push(Lane::Fed(g)),
                Side::Corner => {
                    along.push(Lane::Fed(g));
                    across.push(Lane::Fed(g));
                }
            }
            if side(vsa, &view, g) == Side::Top {
                top.push(g);
            }
        }
        for (k, link) in links.iter().enumerate() {
            match view.direction(link.hop) {
                (_, 0) => along.push(Lane::Hop(k)),
                (0, _) => across.push(Lane::Hop(k)),
                _ => {}
            }
        }
        along.extend((0..vsa.outputs.len()).map(Lane::Out));
        let left = along.iter().filter(|l| matches!(l, Lane::Fed(_) | Lane::Inside(_))).count() + top.len();
        let held = held(vsa);
        let w = 92.max(LANE * across.len() as i64 + 50).max(6 * held.chars().count() as i64 + 8);
        let h = 50.max(LANE * along.len() as i64 + if held.is_empty() { 32 } else { 44 });
        let place = |slots: Vec<Slot>, start: i64, size: i64, gap: i64| {
            let mut at = start;
            let placed: Vec<_> = slots
                .into_iter()
                .map(|s| {
                    let size = if s == Slot::Gap { DOTS } else { size };
                    at += size + gap;
                    (s, at - size - gap, size)
                })
                .collect();
            (placed, at - gap - start)
        };
        let (x, y) = (MARGIN + COLUMN * left as i64 + 16, DRAM + 112 + 48 * top.len() as i64);
        // The label of a link along a row is between two PEs.
        let named = links
            .iter()
            .filter(|l| view.direction(l.hop).1 == 0)
            .map(|l| l.label.chars().count() as i64)
            .max()
            .unwrap_or(0);
        let (cols, width) = place(view.slots(vsa, view.across), x, w, GAP.0.max(6 * named + 14));
        let (rows, height) = place(view.slots(vsa, view.down), y, h, GAP.1);
        let grid = Rect { x, y, w: width, h: height };
        Figure { vsa, view, canvas: Canvas::default(), links, cols, rows, along, across, top, grid, held }
    }

    pub fn draw(mut self) -> String {
        let right = self.grid.x + self.grid.w + COLUMN * self.vsa.outputs.len() as i64 + MARGIN;
        let width = right.max(660);
        let bottom = self.grid.y + self.grid.h + 92;
        self.title();
        self.bars(right, bottom);
        self.lanes();
        self.diagonals();
        self.dots();
        self.axes();
        self.pes();
        let height = legend::draw(self.vsa, &self.view, &mut self.canvas, MARGIN, bottom + 56, width);
        self.canvas.finish(width, height, &self.vsa.name)
    }

    fn title(&mut self) {
        let v = self.vsa;
        self.canvas.text(MARGIN, 34, &v.name, Font::new(18, INK.stroke).bold(), Anchor::Start);
        let lanes = if v.lanes > 1 { format!(", {} lanes each", v.lanes) } else { String::new() };
        let pes = if v.extent.contains(&1) {
            format!("{}", v.extent[0] * v.extent[1])
        } else {
            format!("{} × {}", v.extent[0], v.extent[1])
        };
        let one = if v.extent == [1, 1] { "PE" } else { "PEs" };
        self.canvas.text(MARGIN, 54, &format!("{pes} {one}{lanes}"), Font::new(13, GREY), Anchor::Start);
    }

    fn bars(&mut self, right: i64, bottom: i64) {
        let w = right - 2 * MARGIN;
        let hue = Hue { stroke: "#8c959f", fill: "#eaeef2" };
        for (y, shown) in [(DRAM, !self.vsa.inputs.is_empty()), (bottom, !self.vsa.outputs.is_empty())] {
            if shown {
                self.canvas.rect(Rect { x: MARGIN, y, w, h: 26 }, 4, hue, 1.2);
                let anchor = if y == DRAM { (right - MARGIN - 10, Anchor::End) } else { (MARGIN + 10, Anchor::Start) };
                self.canvas.text(anchor.0, y + 17, "DRAM", Font::new(12, GREY).bold(), anchor.1);
            }
        }
    }

    /// An L3 at `(x, y)` (its centre), linked to a DRAM bar's edge.
    fn l3(&mut self, x: i64, y: i64, array: u32, edge: i64, reads: bool) {
        let (hue, name) = (hue(array), &self.vsa.arrays[array as usize].name);
        let (from, to) = if reads { ((x, edge), (x, y - 12)) } else { ((x, y + 12), (x, edge)) };
        self.canvas.line(&[from, to], hue.stroke, false, true);
        self.canvas.rect(
            Rect { x: x - 19, y: y - 12, w: 38, h: 24 },
            4,
            Hue { stroke: hue.stroke, fill: "#ffffff" },
            1.7,
        );
        self.canvas.text(x, y + 4, "L3", Font::new(12, hue.stroke).bold(), Anchor::Middle);
        let label = if reads { edge - 9 } else { edge + 17 };
        self.canvas.text(x, label, name, Font::new(12, hue.stroke).bold(), Anchor::Middle);
    }

    fn buffer(&mut self, x: i64, y: i64, array: u32) {
        let (w, h) = BOX;
        let hue = hue(array);
        self.canvas.rect(Rect { x: x - w / 2, y: y - h / 2, w, h }, 3, hue, 1.5);
        let name: String = self.vsa.arrays[array as usize].name.chars().take(4).collect();
        self.canvas.text(x, y + 4, &name, Font::new(11, hue.stroke).bold(), Anchor::Middle);
    }

    /// Dots for rows or columns that are left out, on every lane.
    fn dots(&mut self) {
        for r in 0..self.rows.len() {
            for c in 0..self.cols.len() {
                let ((row, y, h), (col, x, w)) = (self.rows[r], self.cols[c]);
                let (x, y) = (x + w / 2, y + h / 2);
                let mut at =
                    |x: i64, y: i64, dots: &str| self.canvas.text(x, y + 6, dots, Font::new(18, GREY), Anchor::Middle);
                match (col, row) {
                    (Slot::Gap, Slot::Gap) => at(x, y, "⋱"),
                    (Slot::Gap, Slot::Pe(_)) if self.along.is_empty() => at(x, y, "⋯"),
                    (Slot::Pe(_), Slot::Gap) if self.across.is_empty() => at(x, y, "⋮"),
                    (Slot::Gap, Slot::Pe(_)) => (0..self.along.len()).for_each(|k| {
                        let y = self.height(r, k);
                        self.canvas.text(x, y + 5, "⋯", Font::new(18, GREY), Anchor::Middle);
                    }),
                    (Slot::Pe(_), Slot::Gap) => (0..self.across.len()).for_each(|k| {
                        let x = self.lane_x(c, k, self.across.len());
                        self.canvas.text(x, y + 6, "⋮", Font::new(18, GREY), Anchor::Middle);
                    }),
                    (Slot::Pe(_), Slot::Pe(_)) => {}
                }
            }
        }
    }

    /// Directions in which the coordinates grow.
    fn axes(&mut self) {
        let (x, y) = (MARGIN + 10, self.grid.y + self.grid.h + 34);
        let (vsa, view) = (self.vsa, self.view);
        for (axis, tip, label, anchor) in [
            (view.across, (x + 40, y), (x + 46, y + 4), Anchor::Start),
            (view.down, (x, y + 36), (x + 7, y + 38), Anchor::Start),
        ] {
            if vsa.extent[axis] > 1 {
                let ends = if view.backwards[axis] { [tip, (x, y)] } else { [(x, y), tip] };
                self.canvas.line(&ends, GREY, false, true);
                self.canvas.text(label.0, label.1, &vsa.axes[axis], Font::new(12, GREY).bold(), anchor);
            }
        }
    }

    fn pes(&mut self) {
        let held = self.held.clone();
        let along = std::mem::take(&mut self.along);
        for (r, (row, y, h)) in self.rows.clone().into_iter().enumerate() {
            for (col, x, w) in self.cols.clone() {
                let (Slot::Pe(a), Slot::Pe(d)) = (col, row) else { continue };
                self.canvas.rect(Rect { x, y, w, h }, 7, INK, 1.6);
                let p = self.view.pe(a, d);
                let name = match self.vsa.extent {
                    [1, 1] => "PE".into(),
                    [1, _] => format!("PE {}", p[1]),
                    [_, 1] => format!("PE {}", p[0]),
                    _ => format!("PE {},{}", p[0], p[1]),
                };
                self.canvas.text(x + w / 2, y + 18, &name, Font::new(12, INK.stroke).bold(), Anchor::Middle);
                if !held.is_empty() {
                    self.canvas.text(x + w / 2, y + 31, &held, Font::new(10, GREY), Anchor::Middle);
                }
                for (k, lane) in along.iter().enumerate() {
                    let at = self.height(r, k);
                    match *lane {
                        Lane::Inside(g) => self.buffer(x + BOX.0 / 2 + 5, at, self.vsa.inputs[g].array),
                        Lane::Out(g) => {
                            let group = &self.vsa.outputs[g];
                            if (0..2).all(|i| (group.first[i]..=group.last[i]).contains(&p[i])) {
                                self.buffer(x + w - BOX.0 / 2 - 5, at, group.array);
                            }
                        }
                        Lane::Fed(_) | Lane::Hop(_) => {}
                    }
                }
            }
        }
    }
}
