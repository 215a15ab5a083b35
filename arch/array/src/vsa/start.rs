//! When the PEs along an axis start a wave: a table of cycles, not one number.
//!
//! A wave enters the array at a corner. From PE to PE it takes a *hop delay*, so each PE *starts* it some cycles after
//! the first one. The table holds these starts, in the order in which waves travel. Example: eight PEs on two dies,
//! with two registers more where the wave crosses from one die to the other:
//!
//! ```text
//! hops from the corner   0  1  2  3  |  4  5  6  7
//! start, in cycles       0  1  2  3  |  6  7  8  9
//! hop delay                1  1  1   3    1  1  1
//! ```
//!
//! All PEs are one module, so a value that one PE sends to its neighbour takes the least hop delay of the axis within
//! the module ([`AxisStart::step`]). Registers beyond that stand between the PEs. They delay every value as much as the
//! wave, so they do not change how long a PE waits.
//!
//! Invariant: starts never fall, and the table ends with its last hop delay that differs from the one before. Each hop
//! beyond the table takes as long as the last one in it. A table of two starts therefore has equal hop delays.

use std::fmt;

/// When the PEs along an axis start a wave, relative to the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisStart {
    /// By hops from the PE where waves enter; at least two.
    starts: Vec<i64>,
    /// Waves travel towards higher positions.
    forward: bool,
}

impl Default for AxisStart {
    fn default() -> AxisStart {
        AxisStart::even(0)
    }
}

impl AxisStart {
    /// Equal hop delays; negative ones where waves travel towards lower positions.
    pub fn even(step: i64) -> AxisStart {
        AxisStart { starts: vec![0, step.abs()], forward: step >= 0 }
    }

    /// From hop delays in the order in which waves travel, all of one sign; negative ones where waves travel towards
    /// lower positions. `None` for other lists.
    pub fn of_hops(hops: &[i64]) -> Option<AxisStart> {
        let forward = hops.iter().all(|h| *h >= 0);
        let last = *hops.last().filter(|_| forward || hops.iter().all(|h| *h < 0))?;
        let used = hops.len() - hops.iter().rev().skip(1).take_while(|h| **h == last).count();
        let sums = hops[..used].iter().scan(0i64, |sum, hop| {
            *sum = sum.checked_add(hop.checked_abs()?)?;
            Some(*sum)
        });
        let starts: Vec<i64> = std::iter::once(0).chain(sums).collect();
        (starts.len() == used + 1).then_some(AxisStart { starts, forward })
    }

    /// Waves travel towards higher positions.
    pub fn forward(&self) -> bool {
        self.forward
    }

    /// Cycles from the PE where waves enter to the PE this many hops further on.
    pub fn after(&self, hops: i64) -> i64 {
        let last = self.starts.len() - 1;
        match usize::try_from(hops) {
            Ok(k) if k <= last => self.starts[k],
            _ => self.starts[last] + (hops - last as i64) * (self.starts[last] - self.starts[last - 1]),
        }
    }

    /// Start of the PE at a position along an axis of `extent` PEs.
    pub fn at(&self, position: i64, extent: i64) -> i64 {
        self.after(if self.forward { position } else { extent - 1 - position })
    }

    /// Delay of a hop, counted from the PE where waves enter.
    pub fn hop(&self, k: i64) -> i64 {
        self.after(k + 1) - self.after(k)
    }

    /// The least hop delay: the one within a PE.
    pub fn hop_delay(&self) -> i64 {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(0)
    }

    /// [`AxisStart::hop_delay`] per position: negative where waves travel towards lower positions.
    pub fn step(&self) -> i64 {
        if self.forward {
            self.hop_delay()
        } else {
            -self.hop_delay()
        }
    }

    /// [`AxisStart::after`] without the registers between PEs.
    pub fn inside(&self, hops: i64) -> i64 {
        hops * self.hop_delay()
    }

    /// Registers between PEs on the way to the PE this many hops further on.
    pub fn between(&self, hops: i64) -> i64 {
        self.after(hops) - self.inside(hops)
    }

    /// The PEs of an axis of `extent` PEs with registers in front of them, by hops.
    pub fn crossings(&self, extent: i64) -> Vec<i64> {
        if self.is_even() {
            return vec![];
        }
        (1..extent).filter(|k| self.hop(k - 1) > self.hop_delay()).collect()
    }

    /// Cycles that a value which hops against the waves waits between two PEs of an axis that is cut; 0 for others.
    /// Where it crosses a cut, it comes two crossings late: the PE behind the cut starts later by one, and it takes
    /// another. All PEs are one module, so it waits as long elsewhere.
    pub fn back(&self, hop: i64) -> i64 {
        let longest = self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        match (hop < 0) == self.forward && hop != 0 {
            true => 2 * (longest - self.hop_delay()),
            false => 0,
        }
    }

    /// Start of the last PE in the table.
    pub fn latest(&self) -> i64 {
        self.starts[self.starts.len() - 1]
    }

    /// The same hops within PEs, with so many registers more in front of each of these PEs, which are given by hops in
    /// ascending order.
    pub fn with_registers(&self, registers: i64, before: &[i64]) -> AxisStart {
        let hop = |k: i64| self.hop_delay() + if before.contains(&k) { registers } else { 0 };
        // A hop behind the last one says how long hops take within a PE.
        let hops: Vec<i64> = (1..=before.last().map_or(1, |last| last + 1)).map(hop).collect();
        let signed: Vec<i64> = hops.iter().map(|h| if self.forward { *h } else { -h }).collect();
        AxisStart::of_hops(&signed).unwrap_or_else(|| self.clone())
    }

    /// All hops take equally long.
    pub fn is_even(&self) -> bool {
        self.starts.len() == 2
    }
}

/// One signed number if all hops take equally long, else the list of them.
impl fmt::Display for AxisStart {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.is_even() {
            return write!(f, "{}", self.step());
        }
        let sign = if self.forward { 1 } else { -1 };
        let hops: Vec<String> = self.starts.windows(2).map(|p| (sign * (p[1] - p[0])).to_string()).collect();
        write!(f, "[{}]", hops.join(", "))
    }
}
