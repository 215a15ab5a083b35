//! What the user asks of the mapping. Everything left out is chosen by sagen.

use frontend::contract;
use frontend::scop::Scop;
use std::borrow::Cow;

/// Which arrays share an AXI port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// All of them.
    Shared,
    /// Those of each list; arrays that are not named have ports of their own.
    Groups(Vec<Vec<String>>),
}

impl Ports {
    const SHARED: &'static str = "shared";

    /// Reads `shared`, or one item a port such as `A+B`.
    ///
    /// # Errors
    /// An item without a name on each side of `+`.
    pub fn parse(items: &[String]) -> Result<Ports, String> {
        if matches!(items, [only] if only == Ports::SHARED) {
            return Ok(Ports::Shared);
        }
        let group = |item: &String| {
            let names: Vec<String> = item.split('+').map(|n| n.trim().to_string()).collect();
            if names.iter().any(String::is_empty) { Err(format!("'{item}' is not a list of arrays such as A+B")) } else { Ok(names) }
        };
        items.iter().map(group).collect::<Result<_, _>>().map(Ports::Groups)
    }

    /// What [`Ports::parse`] reads back.
    pub fn items(&self) -> Vec<String> {
        match self {
            Ports::Shared => vec![Ports::SHARED.into()],
            Ports::Groups(groups) => groups.iter().map(|g| g.join("+")).collect(),
        }
    }
}

/// Loops are named as in the source (the n-th loop of one name is `name.n`, counting from 1, where names repeat).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesignSpec {
    /// Space loops, one or two.
    pub space: Option<Vec<String>>,
    /// Order of the tile loops and time loops, outermost first.
    pub order: Option<Vec<String>>,
    /// Tile sizes in iterations; a loop without one is not tiled.
    pub tile: Vec<(String, i64)>,
    /// Latency-hiding factors in iterations.
    pub latency: Vec<(String, i64)>,
    /// SIMD lanes.
    pub simd: Vec<(String, i64)>,
    /// Allow integer-safe and floating-point re-association; `None`: only where it cannot change a bit.
    pub reassociate: Option<bool>,
    /// Products of floats that are added within their expression become fused multiply–adds (`frontend::contract`).
    pub fp_contract: Option<bool>,
    /// How reassociated sums of products of floats are computed.
    pub dot: Option<Dot>,
    /// Elements per bus word, by array name.
    pub word: Vec<(String, u32)>,
    /// `None`: a port for every array.
    pub ports: Option<Ports>,
    /// Waves beyond which partial results that wait for their next tile are kept in DRAM instead of on chip.
    pub spill_beyond: Option<i64>,
    /// Row of `sagen map`'s table to build.
    pub array: Option<usize>,
}

/// How a PE adds the products of its lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dot {
    /// By multipliers and adders, each of which rounds.
    #[default]
    Chained,
    /// By one operator that aligns and rounds once (`frontend::value::eval_dot`).
    Fused,
}

impl Dot {
    /// By its name in options and design files.
    pub fn named(name: &str) -> Option<Dot> {
        [Dot::Chained, Dot::Fused].into_iter().find(|d| d.name() == name)
    }
    pub fn name(self) -> &'static str {
        match self {
            Dot::Chained => "chained",
            Dot::Fused => "fused",
        }
    }
}

impl DesignSpec {
    /// The program that the array executes: `scop` itself, or contracted.
    pub fn program<'a>(&self, scop: &'a Scop) -> Cow<'a, Scop> {
        if self.fp_contract == Some(true) { Cow::Owned(contract::contracted(scop)) } else { Cow::Borrowed(scop) }
    }
    /// No choice was made by hand.
    pub fn is_automatic(&self) -> bool {
        *self == DesignSpec { reassociate: self.reassociate, fp_contract: self.fp_contract, dot: self.dot, word: self.word.clone(), ports: self.ports.clone(), spill_beyond: self.spill_beyond, ..DesignSpec::default() }
    }
}
