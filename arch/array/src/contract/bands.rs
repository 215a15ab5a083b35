//! Bands: the parts into which an array is cut, one for each die of a package.
//!
//! Problem: a wire from die to die takes longer than a clock cycle allows to a hop between neighbours.
//!
//! Method: the array is cut along one axis. All that crosses a cut goes through [`CROSSING`] registers, one at the border
//! of each die, with nothing between them. They delay values, waves, loads and tokens alike, so each band is an array
//! as it would be by itself, which starts its waves later. Answers to tokens leave the last band and cross all cuts
//! back to the engines, which stand beside the first band.
//!
//! ```text
//!            band 0              cut              band 1
//!  engines ─► PE ─► PE ─►[register]──►[register]─► PE ─► PE ─┐
//!     ◄──────────────────[register]◄──[register]◄── answers ─┘
//! ```
//!
//! The cuts are hops that take [`CROSSING`] cycles more than others: [`crate::vsa::AxisStart`] is the one place
//! that has them.
//!
//! A value that moves against the waves comes two crossings later than elsewhere where it crosses a cut: the PE behind
//! the cut starts later by one, and the value takes another. All PEs are one module, so it waits as long between
//! other PEs ([`crate::vsa::AxisStart::back`]), and the schedule knows it ([`crate::cut`]).
//!
//! Invariants ([`Bands::of`]): one axis is cut. A value hops no farther than a band is wide, so it crosses one cut at most.
//!
//! Source: AutoBridge (two registers per crossing, one on each side).

use crate::vsa::{Op, Vsa};
use std::ops::Range;

/// Registers of everything that crosses from band to band.
pub const CROSSING: i64 = 2;

/// The bands of an array along the axis that is cut. An array without cuts is one band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bands {
    pub axis: usize,
    /// The first PE of each band, by hops from the PE where waves enter, and the end of the last band.
    bounds: Vec<i64>,
}

impl Bands {
    /// # Errors
    /// Why the array cannot be cut as its hop delays say.
    pub fn of(vsa: &Vsa) -> Result<Bands, String> {
        let cuts = [0, 1].map(|a| vsa.schedule.start[a].crossings(vsa.extent[a]));
        if cuts.iter().all(|c| !c.is_empty()) {
            return Err("cuts along both axes".into());
        }
        let axis = usize::from(cuts[0].is_empty() && !cuts[1].is_empty());
        let start = &vsa.schedule.start[axis];
        if cuts[axis].iter().any(|k| start.hop(k - 1) != start.hop_delay() + CROSSING) {
            return Err(format!("axis {axis}: a cut takes {CROSSING} cycles more than a hop, not as in {start}"));
        }
        let bounds = [&[0], &cuts[axis][..], &[vsa.extent[axis]]].concat();
        let bands = Bands { axis, bounds };
        if bands.count() > 1 {
            bands.check(vsa)?;
        }
        Ok(bands)
    }

    /// No value moves over more PEs than a band has.
    fn check(&self, vsa: &Vsa) -> Result<(), String> {
        let axis = self.axis;
        let narrowest = (0..self.count()).map(|b| self.span(b)).map(|s| s.end - s.start).min().unwrap_or(0);
        for node in &vsa.nodes {
            let Op::Past { source, hop, .. } = &node.op else { continue };
            let hops = hop[axis].abs();
            let name = || match &vsa.node(*source).name {
                name if name.is_empty() => format!("%{}", source.0),
                name => format!("`{name}`"),
            };
            if hops > narrowest {
                return Err(format!("{} hops over {hops} PEs, but a band has only {narrowest}", name()));
            }
        }
        Ok(())
    }

    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The PEs of a band along the axis, by hops from the PE where waves enter.
    pub fn span(&self, band: usize) -> Range<i64> {
        self.bounds[band]..self.bounds[band + 1]
    }

    /// The band of the PE that is so many hops from where waves enter.
    pub fn at(&self, hops: i64) -> usize {
        (1..self.count()).filter(|&b| self.bounds[b] <= hops).count()
    }
}

/// Blocks of so many PEs from `first` hops on, among `extent` PEs along the axis, lie in one band each.
pub(super) fn keeps(vsa: &Vsa, axis: usize, (first, extent): (i64, i64), block: i64) -> bool {
    let cuts = vsa.schedule.start[axis].crossings(vsa.extent[axis]);
    cuts.iter().all(|k| !(first + 1..first + extent).contains(k) || (k - first) % block == 0)
}
