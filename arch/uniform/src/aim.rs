//! The aim of the search: an objective, and limits on the board's resources.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The smallest array that the fastest one shrinks to by halvings that cost little time each.
    #[default]
    Balanced,
    /// The fewest cycles.
    Cycles,
    /// The least share of the scarcest resource, within a budget of cycles.
    Area,
    /// The least product of cycles and share of the scarcest resource.
    Efficiency,
}

/// The memory for which cycles are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CountedMemory {
    #[default]
    Board,
    /// One word a cycle on each port.
    Ideal,
}

/// A share, exact to a hundredth of a percent; written `2%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Share(u32);

impl Share {
    pub fn percent(percent: u32) -> Share {
        Share(100 * percent)
    }
    pub fn value(self) -> f64 {
        f64::from(self.0) / 10_000.0
    }
    pub fn of(self, all: i64) -> i64 {
        (i128::from(all) * i128::from(self.0) / 10_000) as i64
    }
}

impl TryFrom<String> for Share {
    type Error = String;
    fn try_from(text: String) -> Result<Share, String> {
        let wrong = || format!("'{text}' is not a share such as 2% or 0.5%");
        let percent: f64 = text.strip_suffix('%').ok_or_else(wrong)?.trim().parse().map_err(|_| wrong())?;
        if (0.0..=100.0).contains(&percent) {
            Ok(Share((percent * 100.0).round() as u32))
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}%", f64::from(self.0) / 100.0)
    }
}

impl From<Share> for String {
    fn from(share: Share) -> String {
        share.to_string()
    }
}

/// The most PEs along each axis, and the most lanes of a PE; written `4x1x2`. What is left out is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Grid {
    pub pes: [i64; 2],
    pub lanes: i64,
}

impl Grid {
    /// A grid with these PEs and lanes is no larger.
    pub fn holds(&self, pes: [i64; 2], lanes: i64) -> bool {
        (0..2).all(|a| pes[a] <= self.pes[a]) && lanes <= self.lanes
    }
}

impl TryFrom<String> for Grid {
    type Error = String;
    fn try_from(text: String) -> Result<Grid, String> {
        let numbers: Option<Vec<i64>> =
            text.split('x').map(|n| n.trim().parse().ok().filter(|n| (1..=1 << 20).contains(n))).collect();
        match numbers.as_deref() {
            Some([rows]) => Ok(Grid { pes: [*rows, 1], lanes: 1 }),
            Some([rows, columns]) => Ok(Grid { pes: [*rows, *columns], lanes: 1 }),
            Some([rows, columns, lanes]) => Ok(Grid { pes: [*rows, *columns], lanes: *lanes }),
            _ => Err(format!("'{text}' is no grid such as 8x4 (PEs) or 8x4x2 (with 2 lanes each)")),
        }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}x{}x{}", self.pes[0], self.pes[1], self.lanes)
    }
}

impl From<Grid> for String {
    fn from(grid: Grid) -> String {
        grid.to_string()
    }
}

/// A limit on one resource: `70%` or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Most {
    Count(i64),
    Share(Share),
}

impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Most::Count(n) => write!(f, "{n}"),
            Most::Share(share) => write!(f, "{share}"),
        }
    }
}

impl Most {
    /// The limit as a count, of `all`.
    pub fn of(self, all: i64) -> i64 {
        match self {
            Most::Count(n) => n.clamp(0, all),
            Most::Share(share) => share.of(all),
        }
    }
}

/// Names that `--limit` knows.
pub const RESOURCES: [&str; 5] = ["lut", "ff", "dsp", "bram36", "uram"];
