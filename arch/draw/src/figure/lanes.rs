//! The wires along the rows and columns of PEs: values from feeders and from PE to PE, and results on their way out.

use crate::canvas::{hue, Anchor, Font, INK};
use crate::figure::{Figure, Lane, BOX, COLUMN, DRAM, LANE, MARGIN};
use crate::parts::{delivered, side, Side, Slot};
use std::ops::Range;

/// Arrows between neighbouring PEs.
struct Arrows<'a> {
    lane: usize,
    color: &'static str,
    /// Written once.
    label: &'a str,
    /// To the left, or upwards.
    reversed: bool,
    dashed: bool,
}

impl Figure<'_> {
    /// Height of lane `k` in the row that starts at `y`.
    pub(super) fn lane_y(&self, y: i64, k: usize) -> i64 {
        y + if self.held.is_empty() { 38 } else { 50 } + LANE * k as i64
    }

    /// Centre of lane `k` of `lanes` in a column.
    pub(super) fn lane_x(&self, column: usize, k: usize, lanes: usize) -> i64 {
        let (_, x, w) = self.cols[column];
        x + w / 2 + LANE * k as i64 - LANE * (lanes as i64 - 1) / 2
    }

    /// The height at which lane `k` meets a row; in a gap, the centre of the dots.
    pub(super) fn height(&self, row: usize, k: usize) -> i64 {
        let (slot, y, h) = self.rows[row];
        if slot == Slot::Gap {
            y + h / 2
        } else {
            self.lane_y(y, k)
        }
    }

    pub(super) fn lanes(&mut self) {
        let along = std::mem::take(&mut self.along);
        let mut column = 0;
        for (k, lane) in along.iter().enumerate() {
            match *lane {
                Lane::Fed(g) => self.fed_rows(k, g, column),
                Lane::Inside(g) => self.inside(k, g, column),
                Lane::Out(g) => self.out(k, g),
                Lane::Hop(l) => self.hop_rows(k, l),
            }
            column += matches!(lane, Lane::Fed(_) | Lane::Inside(_)) as i64;
        }
        self.along = along;
        let across = std::mem::take(&mut self.across);
        for (k, lane) in across.iter().enumerate() {
            match *lane {
                Lane::Fed(g) => self.fed_columns(k, g, across.len()),
                Lane::Hop(l) => self.hop_columns(k, l, across.len()),
                Lane::Inside(_) | Lane::Out(_) => {}
            }
        }
    }

    /// Rows (`down`) or columns, by index, whose PEs read inputs of the group.
    fn reading(&self, g: usize, axis: usize) -> Range<usize> {
        let group = &self.vsa.inputs[g];
        let slots: Vec<Slot> =
            if axis == self.view.across { &self.cols } else { &self.rows }.iter().map(|s| s.0).collect();
        self.view.within(&slots, (group.first[axis], group.last[axis]), self.vsa.extent[axis], axis)
    }

    fn column(column: i64) -> i64 {
        MARGIN + COLUMN * column + COLUMN / 2 - 8
    }

    /// L3 above a column of feeders (or the chain to those inside).
    fn source(&mut self, column: i64, array: u32) -> (i64, i64) {
        let (x, y) = (Self::column(column), DRAM + 26 + 38);
        self.l3(x, y, array, DRAM + 26, true);
        (x, y + 12)
    }

    fn fed_rows(&mut self, k: usize, g: usize, column: i64) {
        let array = self.vsa.inputs[g].array;
        let color = hue(array).stroke;
        let (x, mut from) = self.source(column, array);
        let corner = side(self.vsa, &self.view, g) == Side::Corner;
        let (mut rows, columns) = (self.reading(g, self.view.down), self.reading(g, self.view.across));
        if corner {
            rows.end = rows.end.min(rows.start + 1);
        }
        let entry = if columns.start == 0 { self.grid.x } else { self.cols[columns.start].1 };
        for row in rows.clone() {
            let y = self.height(row, k);
            let gap = self.rows[row].0 == Slot::Gap;
            self.canvas.line(&[(x, from), (x, y - BOX.1 / 2)], color, true, !gap);
            from = y + BOX.1 / 2;
            if gap {
                self.canvas.text(x, y + 5, "⋮", Font::new(16, color), Anchor::Middle);
            } else {
                self.canvas.line(&[(x + BOX.0 / 2, y), (entry, y)], color, false, true);
            }
        }
        let hop_delay = self.vsa.schedule.start[self.view.across].hop_delay();
        let all = if corner { self.reading(g, self.view.down) } else { rows.clone() };
        let label = &format!("{} +{hop_delay}", delivered(self.vsa, g));
        self.row_arrows(&Arrows { lane: k, color, label, reversed: false, dashed: false }, columns, all);
        for row in rows {
            if self.rows[row].0 != Slot::Gap {
                self.buffer(x, self.height(row, k), array);
            }
        }
    }

    /// Arrows between neighbouring columns, in all rows.
    fn row_arrows(&mut self, arrows: &Arrows, columns: Range<usize>, rows: Range<usize>) {
        let &Arrows { lane, color, label, reversed, dashed } = arrows;
        let first = (rows.start, columns.start + 1);
        for row in rows {
            if self.rows[row].0 == Slot::Gap {
                continue;
            }
            let y = self.height(row, lane);
            for c in columns.clone().skip(1) {
                let (left, right) = (self.cols[c - 1], self.cols[c]);
                let (a, b) = ((left.1 + left.2, y), (right.1, y));
                let ends = if reversed { [b, a] } else { [a, b] };
                self.canvas.line(&ends, color, dashed, true);
                if (row, c) == first && !label.is_empty() {
                    self.canvas.label((a.0 + b.0) / 2 - 2, y - 5, label, Font::new(11, color), Anchor::Middle);
                }
            }
        }
    }

    fn hop_rows(&mut self, k: usize, l: usize) {
        let (dx, _) = self.view.direction(self.links[l].hop);
        let label = self.links[l].label.clone();
        if dx.abs() == 1 {
            let arrows = Arrows { lane: k, color: INK.stroke, label: &label, reversed: dx < 0, dashed: false };
            self.row_arrows(&arrows, 0..self.cols.len(), 0..self.rows.len());
            return;
        }
        let mut label = Some(label);
        for row in 0..self.rows.len() {
            let (slot, y, _) = self.rows[row];
            for c in (0..self.cols.len()).filter(|_| slot != Slot::Gap) {
                let Some(to) = self.far(c, dx, true) else { continue };
                let centre = |c: usize| self.cols[c].1 + self.cols[c].2 / 2;
                let (a, b) = (centre(c) + 12 * dx.signum(), centre(to) - 12 * dx.signum());
                self.canvas.bow((a, y), (b, y), 22 * dx.signum(), INK.stroke);
                if let Some(label) = label.take() {
                    self.canvas.label((a + b) / 2, y - 26, &label, Font::new(11, INK.stroke), Anchor::Middle);
                }
            }
        }
    }

    /// Slot of the PE that is `distance` away on the screen, if both are shown.
    fn far(&self, from: usize, distance: i64, columns: bool) -> Option<usize> {
        let (slots, axis) = if columns { (&self.cols, self.view.across) } else { (&self.rows, self.view.down) };
        let Slot::Pe(p) = slots[from].0 else { return None };
        let wanted = if self.view.backwards[axis] { p - distance } else { p + distance };
        slots.iter().position(|s| s.0 == Slot::Pe(wanted))
    }

    fn inside(&mut self, k: usize, g: usize, column: i64) {
        let array = self.vsa.inputs[g].array;
        let color = hue(array).stroke;
        let (x, from) = self.source(column, array);
        let (rows, columns) = (self.reading(g, self.view.down), self.reading(g, self.view.across));
        let last = self.height(rows.end.max(1) - 1, k);
        self.canvas.line(&[(x, from), (x, last)], color, true, false);
        let entry = if columns.start == 0 { self.grid.x } else { self.cols[columns.start].1 };
        for row in rows.clone() {
            if self.rows[row].0 != Slot::Gap {
                let y = self.height(row, k);
                self.canvas.line(&[(x, y), (entry, y)], color, true, true);
            }
        }
        self.row_arrows(&Arrows { lane: k, color, label: "", reversed: false, dashed: true }, columns, rows);
    }

    fn out(&mut self, k: usize, g: usize) {
        let group = &self.vsa.outputs[g];
        let color = hue(group.array).stroke;
        let (bottom, right) = (self.grid.y + self.grid.h, self.grid.x + self.grid.w);
        let x = right + COLUMN * g as i64 + COLUMN / 2 + 6;
        let inside = |axis: usize, slot: Slot| match slot {
            Slot::Pe(p) => (group.first[axis]..=group.last[axis]).contains(&p),
            Slot::Gap => false,
        };
        let mut top = None;
        for row in 0..self.rows.len() {
            if !inside(self.view.down, self.rows[row].0) {
                continue;
            }
            let y = self.height(row, k);
            top = top.or(Some(y));
            let shown: Vec<usize> =
                (0..self.cols.len()).filter(|&c| inside(self.view.across, self.cols[c].0)).collect();
            let Some(&first) = shown.first() else { continue };
            for c in first + 1..self.cols.len() {
                let (left, next) = (self.cols[c - 1], self.cols[c]);
                self.canvas.line(&[(left.1 + left.2, y), (next.1, y)], color, true, true);
            }
            self.canvas.line(&[(right, y), (x, y)], color, true, false);
        }
        let name = group.ports.first().map(|p| self.vsa.node(p.value).name.clone()).unwrap_or_default();
        if let Some(y) = top {
            self.canvas.line(&[(x, y), (x, bottom + 28)], color, true, true);
            self.canvas.label(x + 2, y - 6, &name, Font::new(11, color), Anchor::Middle);
        }
        self.l3(x, bottom + 40, group.array, bottom + 92, false);
    }

    fn fed_columns(&mut self, k: usize, g: usize, lanes: usize) {
        let array = self.vsa.inputs[g].array;
        let color = hue(array).stroke;
        let corner = side(self.vsa, &self.view, g) == Side::Corner;
        let hop_delay = self.vsa.schedule.start[self.view.down].hop_delay();
        if self.vsa.extent[self.view.down] > 1 {
            let label = if corner { String::new() } else { format!("{} +{hop_delay}", delivered(self.vsa, g)) };
            let (columns, rows) = (self.reading(g, self.view.across), self.reading(g, self.view.down));
            let arrows = Arrows { lane: k, color, label: &label, reversed: false, dashed: false };
            self.column_arrows(&arrows, lanes, columns, rows);
        }
        let Some(t) = self.top.iter().position(|&t| t == g) else { return };
        let y = DRAM + 26 + 86 + 48 * t as i64;
        let at = self.grid.x - 16 - COLUMN / 2 - COLUMN * (self.top.len() - 1 - t) as i64;
        self.l3(at, y, array, DRAM + 26, true);
        let mut from = at + 19;
        let rows = self.reading(g, self.view.down);
        let entry = if rows.start == 0 { self.grid.y } else { self.rows[rows.start].1 };
        for c in self.reading(g, self.view.across) {
            let (slot, start, size) = self.cols[c];
            let x = if slot == Slot::Gap { start + size / 2 } else { self.lane_x(c, k, lanes) };
            self.canvas.line(&[(from, y), (x - BOX.0 / 2, y)], color, true, slot != Slot::Gap);
            from = x + BOX.0 / 2;
            if slot == Slot::Gap {
                self.canvas.text(x, y + 4, "⋯", Font::new(16, color), Anchor::Middle);
                continue;
            }
            self.canvas.line(&[(x, y + BOX.1 / 2), (x, entry)], color, false, true);
            self.buffer(x, y, array);
        }
    }

    /// Arrows between neighbouring rows, in all columns, each with this many lanes.
    fn column_arrows(&mut self, arrows: &Arrows, lanes: usize, columns: Range<usize>, rows: Range<usize>) {
        let &Arrows { lane, color, label, reversed, dashed } = arrows;
        let first = (columns.start, rows.start + 1);
        for c in columns {
            if self.cols[c].0 == Slot::Gap {
                continue;
            }
            let x = self.lane_x(c, lane, lanes);
            for r in rows.clone().skip(1) {
                let (above, below) = (self.rows[r - 1], self.rows[r]);
                let (a, b) = ((x, above.1 + above.2), (x, below.1));
                let ends = if reversed { [b, a] } else { [a, b] };
                self.canvas.line(&ends, color, dashed, true);
                if (c, r) == first && !label.is_empty() {
                    // Lanes left of the middle are labelled on their left.
                    let (dx, anchor) = if 2 * lane + 1 < lanes { (-5, Anchor::End) } else { (5, Anchor::Start) };
                    self.canvas.label(x + dx, (a.1 + b.1) / 2 + 2, label, Font::new(11, color), anchor);
                }
            }
        }
    }

    fn hop_columns(&mut self, k: usize, l: usize, lanes: usize) {
        let (_, dy) = self.view.direction(self.links[l].hop);
        let label = self.links[l].label.clone();
        if dy.abs() == 1 {
            let arrows = Arrows { lane: k, color: INK.stroke, label: &label, reversed: dy < 0, dashed: false };
            self.column_arrows(&arrows, lanes, 0..self.cols.len(), 0..self.rows.len());
            return;
        }
        let mut label = Some(label);
        for c in 0..self.cols.len() {
            for r in 0..self.rows.len() {
                let Some(to) = self.far(r, dy, false).filter(|_| self.cols[c].0 != Slot::Gap) else { continue };
                let (x, centre) = (self.cols[c].1 + self.cols[c].2, |r: usize| self.rows[r].1 + self.rows[r].2 / 2);
                let (a, b) = (centre(r) + 12 * dy.signum(), centre(to) - 12 * dy.signum());
                self.canvas.bow((x, a), (x, b), 22 * dy.signum(), INK.stroke);
                if let Some(label) = label.take() {
                    self.canvas.label(x + 26, (a + b) / 2, &label, Font::new(11, INK.stroke), Anchor::Start);
                }
            }
        }
    }

    pub(super) fn diagonals(&mut self) {
        let mut shift = 0;
        for l in 0..self.links.len() {
            let (dx, dy) = self.view.direction(self.links[l].hop);
            if dx == 0 || dy == 0 {
                continue;
            }
            let mut label = Some(self.links[l].label.clone());
            for r in 0..self.rows.len() {
                for c in 0..self.cols.len() {
                    let (Some(to_c), Some(to_r)) = (self.far(c, dx, true), self.far(r, dy, false)) else { continue };
                    let corner = |(_, x, w): (Slot, i64, i64), d: i64| if d > 0 { x + w } else { x };
                    let a = (corner(self.cols[c], dx), corner(self.rows[r], dy) - shift);
                    let b = (corner(self.cols[to_c], -dx), corner(self.rows[to_r], -dy) - shift);
                    self.canvas.line(&[a, b], INK.stroke, false, true);
                    if let Some(label) = label.take() {
                        self.canvas.label(
                            (3 * a.0 + b.0) / 4 + 6,
                            (3 * a.1 + b.1) / 4,
                            &label,
                            Font::new(11, INK.stroke),
                            Anchor::Start,
                        );
                    }
                }
            }
            shift += 6;
        }
    }
}
