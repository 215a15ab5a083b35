//! The user's specification, in groups: arithmetic of the program, wiring of the array, aim of the search, and which
//! array. sagen chooses everything that is left out.
//!
//! The written form, of design files and of the command line, is flat: every field once, under its name. serde reads
//! and writes it; [`groups`] declares the fields.

use crate::aim::{CountedMemory, Grid, Most, Objective, Share};
use crate::cuts::Cuts;
use crate::fabric::Fabric;
use crate::memory::Memory;
use scop::contract;
use scop::diag::{Diagnostic, Diagnostics};
use scop::Scop;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Iterations by loop. Loops are named as in the source (the n-th loop of one name is `name.n`, counting from 1, where
/// names repeat).
pub type Factors = BTreeMap<String, i64>;

/// Everything the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct DesignSpec {
    pub arithmetic: Arithmetic,
    pub wiring: Wiring,
    pub aim: Aim,
    pub array: ArrayChoice,
    /// The board's, which is no part of the written form.
    pub memory: Memory,
    /// Likewise.
    pub fabric: Fabric,
    /// Likewise: integer adders in front of another adder's register for which the clock's period leaves time.
    pub unregistered: usize,
}

/// Which array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ArrayChoice {
    /// The one for the aim that fits the board.
    #[default]
    Automatic,
    /// The one in this row of `sagen map`'s table.
    Row { row: usize, shape: Shape },
    ByHand {
        /// One or two loops; `None`: those that make the fastest array.
        space: Option<Vec<String>>,
        shape: Shape,
    },
}

impl ArrayChoice {
    /// The shape that the user gives.
    pub fn shape(&self) -> Option<&Shape> {
        match self {
            ArrayChoice::Automatic => None,
            ArrayChoice::Row { shape, .. } | ArrayChoice::ByHand { shape, .. } => Some(shape),
        }
    }
}

/// Declares each group of fields once, and with them [`Written`], the flat form that serde sees. `or OLD`
/// also accepts the key OLD there.
macro_rules! groups {
    ($($(#[$about:meta])* $group:ident as $name:ident {
        $($(#[$doc:meta])* $field:ident $(or $old:literal)?: $type:ty,)*
    })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Debug, Default, PartialEq, Eq)]
            pub struct $group { $($(#[$doc])* pub $field: $type,)* }
        )*

        /// A [`DesignSpec`] as a person writes it.
        #[derive(Default, Deserialize, Serialize)]
        #[serde(default, deny_unknown_fields)]
        struct Written {
            #[serde(alias = "array", skip_serializing_if = "is_default")]
            row: Option<usize>,
            #[serde(skip_serializing_if = "is_default")]
            space: Option<Vec<String>>,
            $($(
                #[serde(skip_serializing_if = "is_default")]
                $(#[serde(alias = $old)])?
                $field: $type,
            )*)*
        }

        impl Written {
            fn new(row: Option<usize>, space: Option<Vec<String>>, $($name: $group),*) -> Written {
                Written { row, space, $($($field: $name.$field,)*)* }
            }
            fn groups(self) -> ($($group,)*) {
                ($($group { $($field: self.$field,)* },)*)
            }
        }
    };
}

groups! {
    /// Changes of the program's arithmetic that the array may make.
    Arithmetic as arithmetic {
        /// Allow integer-safe and floating-point re-association; `None`: only where it cannot change a bit.
        reassociate: Option<bool>,
        /// Products of floats that are added within their expression become fused multiply–adds (`scop::contract`).
        fp_contract: Option<bool>,
        /// The operators of reassociated sums of products of floats.
        dot: Option<Dot>,
        /// Several products of narrow integers in one DSP slice, where they share a factor; `None`: no.
        pack: Option<bool>,
    }
    /// The connection of the array to memory and host.
    Wiring as wiring {
        /// Elements per bus word, by array.
        word: BTreeMap<String, u32>,
        /// `None`: an AXI port for every array.
        ports: Option<Ports>,
        /// The memory bank of an array, as `DDR[1]`; the others are spread over the board's banks.
        bank: BTreeMap<String, String>,
        /// The depth of the IP's command queue; `None`: the host starts each run.
        queue: Option<u32>,
        /// Commands of the queue may begin while those before them are under way.
        overlap: Option<bool>,
        /// The functions of an IP have one array together.
        merge: Option<bool>,
        /// Partial results that wait longer than this many waves for their next tile go to DRAM instead of on-chip
        /// memory.
        spill_beyond: Option<u32>,
        /// Cycles of memory latency that readers cover by requests ahead; `None`: the board's.
        memory_latency: Option<u32>,
        /// Bits of an address, 64 or 32; `None`: the board's.
        address_bits: Option<u32>,
        /// The host gives the length of each array; nothing behind it is moved.
        guard: Option<bool>,
        /// Arrays start at any element, not at a bus word where engines would need no rotation then.
        unaligned: Option<bool>,
        /// Deep memories may be UltraRAM; `None`: if the board has some.
        uram: Option<bool>,
        /// Bytes of all arrays that stay on chip and pass values between phases; `None`: the board's.
        on_chip: Option<u64>,
        /// Static arrays that stay on chip from run to run.
        keep: Vec<String>,
        /// Where the array is cut into bands, one for each die; `None`: where the dies ask for it.
        cuts: Option<Cuts>,
    }
    /// The aim of the search.
    Aim as aim {
        /// `None`: balanced, or the fewest cycles if there is a slack.
        objective: Option<Objective>,
        /// Cycles that an array of least area may take.
        cycles: Option<i64>,
        /// Cycles, as a share, that may be given up for a smaller array.
        slack: Option<Share>,
        /// Limits by resource; the board's margins for the others.
        limit: BTreeMap<String, Most>,
        /// The largest grid.
        grid: Option<Grid>,
        /// How often a function runs, of those that are merged; 1 where nothing is said.
        weights: BTreeMap<String, i64>,
        /// The memory for which cycles are counted; `None`: the board's.
        memory: Option<CountedMemory>,
    }
    /// Tiling, order and factors of an array by hand.
    Shape as shape {
        /// Time coordinates, outermost first: affine expressions over the loops, as then are those of `space`.
        time: Option<Vec<String>>,
        /// Order of the tile loops and time loops, outermost first.
        order: Option<Vec<String>>,
        /// Each loop nest of the region is a phase, even if one array could execute several.
        distribute or "apart": Option<bool>,
        /// Strip-mines a loop into strips of this many iterations; other loops end by strip.
        strip: Factors,
        /// Skews a loop by this many iterations per strip.
        skew or "slant": Factors,
        /// Tile sizes in iterations; a loop without one is not tiled.
        tile: Factors,
        /// Interleaves this many independent iterations in one PE, which hides the adder's latency.
        latency: Factors,
        /// Lanes.
        simd: Factors,
        /// Space loops that deal their iterations out: neighbouring PEs have neighbouring ones. `None`: where the array
        /// is smaller so.
        cyclic: Option<Vec<String>>,
    }
}

impl Arithmetic {
    /// # Errors
    /// Permissions that another one wants and lacks.
    pub fn check(&self) -> Result<(), Diagnostics> {
        if self.dot == Some(Dot::Fused) && self.reassociate != Some(true) {
            return Err(vec![Diagnostic::error(
                "E0707",
                None,
                "a fused dot product adds in another order than the program",
            )
            .help("allow that with --reassociate")]);
        }
        Ok(())
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// In the place of space loops: a single PE.
pub const NO_LOOP: &str = "none";

impl TryFrom<Written> for DesignSpec {
    type Error = String;
    fn try_from(mut written: Written) -> Result<DesignSpec, String> {
        let (row, space) = (written.row.take(), written.space.take().map(|s| if s == [NO_LOOP] { vec![] } else { s }));
        let (arithmetic, wiring, aim, mut shape) = written.groups();
        shape.cyclic = shape.cyclic.map(|loops| if loops == [NO_LOOP] { vec![] } else { loops });
        wiring.address_bits.map(address_bits).transpose()?;
        numbers(&wiring, &aim).try_for_each(|(name, value)| within(name, value))?;
        let array = match (row, space) {
            (Some(row), Some(_)) => {
                return Err(format!(
                    "`row` and `space` exclude each other: row {row} of `sagen map` has space loops of its own"
                ))
            }
            (Some(row), None) if shape.time.is_some() => {
                return Err(format!(
                    "`row` and `time` exclude each other: row {row} of `sagen map` has time coordinates of its own"
                ))
            }
            (Some(row), None) => ArrayChoice::Row { row, shape },
            (None, None) if is_default(&shape) => ArrayChoice::Automatic,
            (None, space) => ArrayChoice::ByHand { space, shape },
        };
        Ok(DesignSpec {
            arithmetic,
            wiring,
            aim,
            array,
            memory: Memory::default(),
            fabric: Fabric::default(),
            unregistered: 0,
        })
    }
}

/// The greatest latency of a memory that ports can hide, in cycles.
pub const LONGEST_LATENCY: u32 = 10_000;

/// The numbers of the written form, with the least and the greatest that each may be. What else is asked of a number,
/// such as to be a power of two, is checked where it is used; so are the factors of loops, which the loops limit.
const RANGES: [(&str, u64, u64); 6] = [
    ("memory_latency", 1, LONGEST_LATENCY as u64),
    ("spill_beyond", 0, u32::MAX as u64),
    ("on_chip", 0, (1 << 40) - 1),
    ("cycles", 1, i64::MAX as u64),
    ("limit", 0, i64::MAX as u64),
    ("word", 1, 1024),
];

/// Checks a number of the written form; `name` is its key, in an option with hyphens.
///
/// # Errors
/// It is out of its range; a sentence with the range.
pub fn within(name: &str, value: i128) -> Result<(), String> {
    let range = RANGES.iter().find(|r| r.0 == name);
    match range {
        Some(&(_, least, most)) if !(i128::from(least)..=i128::from(most)).contains(&value) => {
            Err(format!("{name} = {value}: at least {least}, at most {most}"))
        }
        _ => Ok(()),
    }
}

/// The numbers of a specification that have a range, with their names.
fn numbers<'a>(wiring: &'a Wiring, aim: &'a Aim) -> impl Iterator<Item = (&'static str, i128)> + 'a {
    let single = [
        ("memory_latency", wiring.memory_latency.map(i128::from)),
        ("spill_beyond", wiring.spill_beyond.map(i128::from)),
        ("on_chip", wiring.on_chip.map(i128::from)),
        ("cycles", aim.cycles.map(i128::from)),
    ];
    let counts = aim.limit.values().filter_map(|most| match most {
        Most::Count(count) => Some(("limit", i128::from(*count))),
        Most::Share(_) => None,
    });
    single
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .chain(wiring.word.values().map(|word| ("word", i128::from(*word))))
        .chain(counts)
}

impl From<DesignSpec> for Written {
    fn from(spec: DesignSpec) -> Written {
        let (row, space, shape) = match spec.array {
            ArrayChoice::Automatic => (None, None, Shape::default()),
            ArrayChoice::Row { row, shape } => (Some(row), None, shape),
            ArrayChoice::ByHand { space, shape } => (None, space, shape),
        };
        Written::new(row, space, spec.arithmetic, spec.wiring, spec.aim, shape)
    }
}

impl DesignSpec {
    /// The text of a design file (TOML).
    ///
    /// # Errors
    /// The fault, with line and column.
    pub fn parse(text: &str) -> Result<DesignSpec, String> {
        toml::from_str(text).map_err(|e| e.to_string().trim_end().to_string())
    }

    /// The file that [`DesignSpec::parse`] reads back.
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("names and numbers are TOML")
    }

    /// An array by hand over these space loops.
    pub fn by_hand(space: Vec<String>, shape: Shape) -> DesignSpec {
        DesignSpec { array: ArrayChoice::ByHand { space: Some(space), shape }, ..DesignSpec::default() }
    }

    /// The specification with the coordinates of `#pragma sagen` if the user chooses none.
    pub fn beside(&self, scop: &Scop) -> DesignSpec {
        let clause = |name: &str| scop.clauses.iter().rev().find(|c| c.name == name).map(|c| c.values.clone());
        let shape = match &self.array {
            ArrayChoice::Automatic => Shape::default(),
            ArrayChoice::ByHand { space: None, shape } if shape.time.is_none() => shape.clone(),
            _ => return self.clone(),
        };
        match (clause("space"), clause("time")) {
            (None, None) => self.clone(),
            (space, time) => {
                DesignSpec { array: ArrayChoice::ByHand { space, shape: Shape { time, ..shape } }, ..self.clone() }
            }
        }
    }

    /// Whether it asks nothing of the array, at most of the IP around it.
    pub fn is_plain(&self) -> bool {
        let mut rest = self.clone();
        (rest.wiring.queue, rest.wiring.overlap, rest.aim.memory) = (None, None, None);
        (rest.wiring.address_bits, rest.wiring.guard) = (None, None);
        (rest.wiring.merge, rest.wiring.unaligned, rest.wiring.keep) = (None, None, vec![]);
        rest == DesignSpec::default()
    }

    /// Bytes of the widest bus that the memory behind a port of these arrays can use; `None` if any can be used.
    pub fn widest_bus<'a>(&self, mut arrays: impl Iterator<Item = &'a str>) -> Option<u32> {
        let bank = arrays.find_map(|name| self.wiring.bank.get(name));
        self.memory.widest(bank.map(String::as_str))
    }

    /// The program that the array executes: `scop` itself, or contracted.
    pub fn program<'a>(&self, scop: &'a Scop) -> Cow<'a, Scop> {
        if self.arithmetic.fp_contract == Some(true) {
            Cow::Owned(contract::contracted(scop))
        } else {
            Cow::Borrowed(scop)
        }
    }
}

/// # Errors
/// A width that no AXI port has here.
pub fn address_bits(bits: u32) -> Result<u32, String> {
    if [32, 64].contains(&bits) {
        Ok(bits)
    } else {
        Err(format!("addresses of {bits} bits: write 32 or 64"))
    }
}

/// Which arrays share an AXI port.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub enum Ports {
    /// All of them.
    Shared,
    /// One port for each list; arrays that are not named have ports of their own.
    Groups(Vec<Vec<String>>),
}

impl Ports {
    const SHARED: &'static str = "shared";
}

impl TryFrom<Vec<String>> for Ports {
    type Error = String;
    /// Reads `shared`, or one item a port such as `A+B`.
    fn try_from(items: Vec<String>) -> Result<Ports, String> {
        if matches!(&items[..], [only] if only.trim() == Ports::SHARED) {
            return Ok(Ports::Shared);
        }
        let group = |item: &String| {
            let names: Vec<String> = item.split('+').map(|n| n.trim().to_string()).collect();
            if names.iter().any(String::is_empty) {
                Err(format!("'{item}' is not a list of arrays such as A+B"))
            } else {
                Ok(names)
            }
        };
        items.iter().map(group).collect::<Result<_, _>>().map(Ports::Groups)
    }
}

impl From<Ports> for Vec<String> {
    fn from(ports: Ports) -> Vec<String> {
        match ports {
            Ports::Shared => vec![Ports::SHARED.into()],
            Ports::Groups(groups) => groups.iter().map(|g| g.join("+")).collect(),
        }
    }
}

/// The operators that add the products of a PE's lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dot {
    /// Multipliers and adders, each of which rounds.
    #[default]
    Chained,
    /// One operator that aligns and rounds once (`scop::value::eval_dot`).
    Fused,
}
