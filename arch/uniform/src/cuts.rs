//! The cuts of an array as a user writes them: `i=2,4` has one in front of PE 2 and one in front of PE 4 of axis `i`.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where the array is cut into bands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Cuts {
    /// Nowhere; written `none`.
    Nowhere,
    /// In front of these PEs of an axis.
    Before { axis: String, pes: Vec<i64> },
}

/// Nowhere.
const NONE: &str = "none";

impl TryFrom<String> for Cuts {
    type Error = String;
    fn try_from(text: String) -> Result<Cuts, String> {
        let text = text.trim();
        if text == NONE {
            return Ok(Cuts::Nowhere);
        }
        let wrong =
            || format!("'{text}' is no list of cuts such as i=2,4 (in front of PEs 2 and 4 of axis i), or none");
        let (axis, pes) = text.split_once('=').ok_or_else(wrong)?;
        let number = |n: &str| n.trim().parse().ok().filter(|n| (1..=1 << 20).contains(n));
        let pes: Option<Vec<i64>> = pes.split(',').map(number).collect();
        let axis = axis.trim();
        match pes {
            Some(pes) if !axis.is_empty() => Ok(Cuts::Before { axis: axis.into(), pes }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Cuts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Cuts::Nowhere => f.write_str(NONE),
            Cuts::Before { axis, pes } => {
                let pes: Vec<String> = pes.iter().map(i64::to_string).collect();
                write!(f, "{axis}={}", pes.join(","))
            }
        }
    }
}

impl From<Cuts> for String {
    fn from(cuts: Cuts) -> String {
        cuts.to_string()
    }
}
