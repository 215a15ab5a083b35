//! What is wanted of the array: an objective, and how much of the board it may take.

use crate::cost::board::{Board, Resources};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Objective {
    /// The fewest cycles.
    #[default]
    Cycles,
    /// The least share of the scarcest resource, within a budget of cycles.
    Area,
    /// The least product of cycles and share of the scarcest resource.
    Efficiency,
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
        if (0.0..=100.0).contains(&percent) { Ok(Share((percent * 100.0).round() as u32)) } else { Err(wrong()) }
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

/// How much of one resource an array may take: `70%` or a count.
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
    fn of(self, all: i64) -> i64 {
        match self {
            Most::Count(n) => n.clamp(0, all),
            Most::Share(share) => share.of(all),
        }
    }
}

/// Names that `--limit` knows.
pub const RESOURCES: [&str; 5] = ["lut", "ff", "dsp", "bram36", "uram"];

/// What the board leaves to the array: its margins for the router, and the user's limits in their place.
///
/// # Errors
/// A name that is no resource.
pub fn limits(board: &Board, given: &BTreeMap<String, Most>) -> Result<Resources, String> {
    if let Some(name) = given.keys().find(|n| !RESOURCES.contains(&n.as_str())) {
        return Err(format!("there is no resource `{name}`: a limit is one of {}", RESOURCES.join(", ")));
    }
    let have = &board.resources;
    let of = |name: &str, all: i64, margin: i64| given.get(name).map_or(all * margin / 100, |m| m.of(all));
    let m = &board.margin;
    Ok(Resources {
        lut: of("lut", have.lut, m.lut),
        ff: of("ff", have.ff, m.ff),
        dsp: of("dsp", have.dsp, m.dsp),
        bram36: of("bram36", have.bram36, m.bram36),
        uram: of("uram", have.uram, m.uram),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_written() {
        for text in ["2%", "0.5%", "100%"] {
            assert_eq!(Share::try_from(text.to_string()).unwrap().to_string(), text);
        }
        for wrong in ["2", "x%", "101%", "-1%"] {
            assert!(Share::try_from(wrong.to_string()).is_err(), "{wrong}");
        }
        assert_eq!((Share::percent(70).of(1000), Most::Count(7).of(5)), (700, 5));
    }
}
