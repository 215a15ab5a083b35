//! Where a warp is in the grid, from its number.
//!
//! ```text
//! place = number of the warp
//! innermost axis: place % count, and so on outwards
//! strips at the sides: beyond the last strip stand the further warps of those
//! ```

use super::Printer;
use crate::extent::Number;
use crate::ir::{GridAxis, Pitch, Sides};
use crate::print::expression::{atom, scalar};
use crate::print::memory;
use crate::print::number::in_kernel;

impl Printer<'_> {
    /// Where the warp is in the grid.
    pub(super) fn place(&mut self) {
        let warp = self.warp;
        let block = warp.block.as_ref().map(|b| (b.axis, warp.warps));
        self.line(&match block {
            Some((_, warps)) => format!("int place = BLOCK({warps});"),
            None => format!("int place = WARP({});", warp.warps),
        });
        // At some sizes there is nothing to do.
        let empty = |a: &&GridAxis| a.count.formula.range(&warp.maxima()).0 < 1;
        for axis in warp.grid.iter().filter(empty) {
            self.line(&format!("if ({} < 1) return;", in_kernel(warp, &axis.count)));
        }
        for axis in warp.grid.iter().rev() {
            if axis.sides != Sides::default() {
                self.strip(axis);
                continue;
            }
            let (name, first) = (&warp.scalars[axis.scalar.index()].name, axis.first);
            let (count, step) = match axis.step {
                Pitch::Constant(step) => (atom(&in_kernel(warp, &axis.count)), step.to_string()),
                Pitch::Height => {
                    (format!("(({} + height - 1) / height)", in_kernel(warp, &axis.count)), "height".into())
                }
            };
            if let (Some((_, warps)), Pitch::Constant(step)) = (block.filter(|b| b.0 == axis.scalar), axis.step) {
                let (blocks, all) = (atom(&in_kernel(warp, &axis.count.over(warps))), step * warps);
                let at = format!("place % {blocks} * {all} + IN_BLOCK({warps}) * {step}");
                self.line(&format!("const int {name} = {};", offset(at, first)));
                self.line(&format!("place /= {blocks};"));
                continue;
            }
            if count == "1" {
                self.line(&format!("const int {name} = {first};"));
                continue;
            }
            let mut at = if step == "1" { format!("place % {count}") } else { format!("place % {count} * {step}") };
            if axis.step == Pitch::Height && self.rows() == "rows" {
                at += " + turn * part";
            }
            self.line(&format!("const int {name} = {};", offset(at, first)));
            self.line(&format!("place /= {count};"));
        }
        if let Some(pairs) = warp.pairs {
            let (own, other) = (&warp.scalars[pairs.axis.index()], &warp.scalars[pairs.other.index()]);
            let last = own.end.as_ref().map_or(own.hi.to_string(), |end| scalar(warp, end));
            let line = format!(
                "const int {} = one::min({} + 1, {last});  // the place of the upper halves",
                other.name, own.name
            );
            self.line(&line);
        }
        self.line("if (place > 0) return;");
        let width = warp.width;
        match warp.is_unrolled() || warp.time.as_ref().is_some_and(|t| t.skewed) {
            true => self.line(&format!("const Row<int, {width}> at_lane = pes<{width}>();")),
            false => self.line(&format!("const Row<int, {width}> pe = pes<{width}>();")),
        }
        if memory::has_margins(warp) {
            let (low, high) = (warp.margins.low, warp.units() - 1 - warp.margins.high);
            self.line(&format!(
                "const Row<bool, {width}> mine = (pe >= {low}) & (pe <= {high});  // PEs with a result"
            ));
        }
    }

    /// The strip of a warp, where strips at the sides are divided among several warps.
    fn strip(&mut self, axis: &GridAxis) {
        let warp = self.warp;
        let (name, turns) = (&warp.scalars[axis.scalar.index()].name, axis.sides.turns);
        let others = turns - 1;
        let Pitch::Constant(step) = axis.step else { return };
        let count = self.sided("count", &axis.count, None);
        let high = self.sided("high", &axis.sides.high, Some(&axis.count));
        let low = self.sided("low", &axis.sides.low, Some(&axis.count));
        let known = axis.warps().and_then(|all| all.known());
        let both = if low == "0" { high.clone() } else { format!("({low} + {high})") };
        let all = known.map_or(format!("({count} + {others} * {both})"), |n| n.to_string());
        let first_high = match (axis.count.known(), axis.sides.high.known()) {
            (Some(count), Some(high)) => (count - high).to_string(),
            _ => format!("{count} - {high}"),
        };
        let between = match (axis.count.known(), axis.sides.low.known(), axis.sides.high.known()) {
            (Some(count), Some(low), Some(high)) => (count - low - high).to_string(),
            _ => format!("{count} - {low} - {high}"),
        };
        self.line(&format!("int strip = place % {all}, turn = 0;"));
        self.line(&format!("place /= {all};"));
        self.line(&format!("if (strip >= {count}) {{  // one of the {turns} warps of a strip at a side"));
        self.line(&format!("  turn = (strip - {count}) % {others} + 1;"));
        self.line(&format!("  strip = (strip - {count}) / {others};"));
        let is_some = |text: &str| text != "0";
        if is_some(&high) {
            let last = format!("strip += {between};");
            self.line(&if is_some(&low) { format!("  if (strip >= {low}) {last}") } else { format!("  {last}") });
        }
        self.line("}");
        let ends =
            [is_some(&low).then(|| format!("strip < {low}")), is_some(&high).then(|| format!("strip >= {first_high}"))];
        let side = ends.into_iter().flatten().collect::<Vec<_>>().join(" || ");
        self.line(&format!("const int part = (height + {others}) / {turns};"));
        self.line(&format!("const int rows = {side} ? one::min(part, height - turn * part) : height;"));
        self.line(&format!("const int {name} = {};", offset(format!("strip * {step}"), axis.first)));
    }

    /// A number of strips, by its name if it follows from sizes. `count`: the number that has the name `count`.
    fn sided(&mut self, name: &str, number: &Number, count: Option<&Number>) -> String {
        match number.known() {
            Some(value) => value.to_string(),
            None => {
                let mut text = in_kernel(self.warp, number);
                if let Some(count) = count {
                    text = text.replace(&in_kernel(self.warp, count), "count");
                }
                self.line(&format!("const int {name} = {text};"));
                name.to_string()
            }
        }
    }

    /// Steps of the warp that are its own, where the time loop is divided: the height, or a part of it.
    pub(super) fn rows(&self) -> &'static str {
        match self.warp.grid.iter().any(|a| a.sides != Sides::default()) {
            true => "rows",
            false => "height",
        }
    }
}

/// A sum with a constant.
fn offset(text: String, by: i64) -> String {
    match by {
        0 => text,
        f if f < 0 => format!("{text} - {}", -f),
        f => format!("{text} + {f}"),
    }
}
