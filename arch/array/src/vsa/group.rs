//! What enters and leaves the array: groups of elements, the footprint of a tile, the buffers beside the PEs.
//!
//! ```text
//! DRAM -- engine -- L2 -- buffer (bank) of PE 0 -- port, each wave an element
//!                    |--- buffer (bank) of PE 1
//! ```

use crate::vsa::{NodeId, Vsa, When};
use scop::Affine;
use uniform::affine::Form;
use uniform::sizes::Formula;

/// The footprint: bounding box of the elements that a tile touches. Its coordinates `y` are the array's subscripts, or
/// something they depend on (`view`): where PEs write every other element, or diagonals, those are a box in `y` only.
/// It is walked in row-major order, the last dimension in words of `word` elements; every tile walks all of it, cells
/// outside the array included (they are not fetched or stored), so each tile takes the same number of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Per dimension of the array (see [`crate::vsa::DramArray::extents`]): its subscript over `y`. Only one contains
    /// the last coordinate, with a positive coefficient, so that a row's cells are in equal steps
    /// ([`Footprint::step`]). Cells that differ in `y` differ.
    pub view: Vec<Affine>,
    /// Per dimension: `y` at the begin of the box; a form over tile counters only. Local coordinates start there.
    pub origin: Vec<Form>,
    /// Per dimension except the last: walked as `y = modulus * u + r`, u outer (0..extent), r inner (0..modulus).
    pub rows: Vec<FootprintDim>,
    /// Words per row.
    pub words: i64,
    /// Elements per row that are really wanted (`<= words * word`); the rest of the last word is padding.
    pub elements: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FootprintDim {
    pub modulus: i64,
    pub extent: i64,
}

impl Footprint {
    /// The longest [`Footprint::step`].
    pub const MOST_STEP: i64 = 255;
    /// The coordinates are the subscripts.
    pub fn plain_view(rank: usize) -> Vec<Affine> {
        (0..rank).map(|d| Affine { coeffs: (0..rank).map(|e| i64::from(d == e)).collect(), constant: 0 }).collect()
    }
    /// Cells walked along dimension `d`; of the last one, those that are wanted.
    pub fn extent(&self, d: usize) -> i64 {
        if d + 1 == self.origin.len() {
            self.elements
        } else {
            self.rows[d].modulus * self.rows[d].extent
        }
    }
    /// The array's dimension along which rows run, and the subscripts from one cell of a row to the next.
    pub fn along(&self) -> (usize, i64) {
        let last = self.origin.len() - 1;
        let along = self.view.iter().map(|f| f.coeffs[last]).enumerate().find(|(_, c)| *c != 0);
        along.unwrap_or((self.view.len() - 1, 1))
    }
    /// Elements in memory from one cell of a row to the next, in an array with these extents (see
    /// [`crate::vsa::DramArray::extents`]).
    pub fn step(&self, extents: &[i64]) -> i64 {
        let (d, by) = self.along();
        if self.elements > 1 {
            extents[d + 1..].iter().fold(by, |step, e| step.saturating_mul(*e))
        } else {
            1
        }
    }
    /// Bus words walked per row: those of its cells, and what lies between them in memory.
    pub fn beats(&self, step: i64, word: i64) -> i64 {
        if step == 1 {
            return self.words;
        }
        let reach = step.saturating_mul(self.elements - 1) / word + 1;
        reach.max(step.saturating_mul(self.words - 1).saturating_add(1))
    }
    /// Words of cells walked per tile.
    pub fn total_words(&self) -> i64 {
        self.total_rows() * self.words
    }
    /// Rows walked per tile.
    pub fn total_rows(&self) -> i64 {
        self.rows.iter().map(|r| r.modulus * r.extent).product::<i64>()
    }
}

/// One dimension (not the last) of the part of the footprint that the buffer at PE `p` keeps:
/// `base + coef·p <= u < base + coef·p + extent`, and `r == residue`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankDim {
    pub base: i64,
    pub coef: [i64; 2],
    pub extent: i64,
    pub residue: i64,
}

/// A buffer beside one PE (or at the border). It keeps, per row it owns, `words_per_row` words starting at word
/// `floor((base + coef·p) / word)`, side by side or every `stride`-th. Accepted words have consecutive addresses in the
/// order of the footprint, whether all of its rows are walked or, as sizes say, fewer.
/// Element `col` of the row (see the group's `col` form) is at element `col + (base + coef·p) mod word` of the stored
/// row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bank {
    /// First port it serves, and how many (consecutive elements of one word when more than one).
    pub port: u32,
    pub ports: u32,
    pub rows: Vec<BankDim>,
    /// Last dimension, in elements.
    pub base: i64,
    pub coef: [i64; 2],
    pub words_per_row: i64,
    /// 0: its words of a row are one run of elements. Else each word has a run of its own, at the place of the first
    /// one, and the words are this many words apart, a power of two: a loop that deals elements out to the PEs.
    pub stride: i64,
    /// Words per slot: product of the row extents times `words_per_row`.
    pub depth: i64,
}

/// Elements of one DRAM array that enter the array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputGroup {
    /// Index into [`Vsa::arrays`].
    pub array: u32,
    /// Of a merged array: the array in runs of each function of `used`, the first of which is `array`. They are alike.
    pub arrays: Vec<u32>,
    /// Per dimension of the box: where the element that port 0 delivers is.
    pub subscripts: Vec<Form>,
    /// Per port, per dimension: constant added to `subscripts` (SIMD lanes). Port 0 is all zeros.
    pub ports: Vec<Vec<i64>>,
    /// The box of PEs in which some wave reads an element. In others the value is arbitrary.
    pub first: [i64; 2],
    pub last: [i64; 2],
    /// Axes along which neighbours pass the value on (its subscripts do not depend on that coordinate): feeders stand
    /// only where the coordinate is at the end of the box the waves enter from.
    pub forward: [bool; 2],
    /// Reload when one of the first `reload` tile counters changes; otherwise the buffer's content is used again.
    pub reload: usize,
    /// Phases in which it is used; at some sizes there may be none. In each of them it is loaded anew if it is not used
    /// in all cases.
    pub used: When,
    pub footprint: Footprint,
    pub banks: Vec<Bank>,
    /// Word address inside a bank's slot is `row + (col + offset(p)) / word`; both are forms over inner counters, >= 0.
    /// `row` counts in words.
    pub row: Form,
    pub col: Form,
    /// What a load must wait for, where it reads back through DRAM what the array has stored.
    pub after: Vec<After>,
}

/// Drains that a load waits for until they have been written to DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct After {
    /// Index into [`Vsa::outputs`].
    pub output: u32,
    pub until: Until,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Load number `n` waits for the first `n - lag` drains (if positive).
    Lag(i64),
    /// All drains of earlier phases.
    Phase,
}

/// Where one port of an output group gets its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPort {
    pub value: NodeId,
    pub enable: NodeId,
    /// Constant per dimension added to the group's `subscripts`.
    pub offset: Vec<i64>,
}

/// Elements of one DRAM array that leave the array. Buffers (collectors) stand in the PEs of the box `[first, last]`;
/// after an emitting tile the footprint is walked in row-major order and each word is put together from its owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputGroup {
    pub array: u32,
    /// Of a merged array: the array in runs of each function of `emit`, the first of which is `array`. They are alike.
    pub arrays: Vec<u32>,
    /// Per dimension of the box.
    pub subscripts: Vec<Form>,
    pub ports: Vec<OutputPort>,
    /// PEs that ever emit.
    pub first: [i64; 2],
    pub last: [i64; 2],
    /// Tiles that emit. A parameter stands where sizes end a counter by case.
    pub emit: When,
    pub footprint: Footprint,
    /// As for inputs; a bank's `base`/`coef`/`rows` say which cells PE `p` owns; `elements` are owned exactly.
    pub banks: Vec<OutputBank>,
    pub row: Form,
    pub col: Form,
    /// Buffers per collector: 1, or 2 when every tile emits.
    pub slots: u32,
    /// Cells of a row that are written: per row, the last coordinate must satisfy all; forms are over the outer ones,
    /// `y_0..y_{n-2}` (as `coeffs`), and the counters of the phases, plus a constant.
    pub bounds: Vec<CellBound>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputBank {
    pub bank: Bank,
    /// Elements of a row that PE `p` owns, starting at `base + coef·p`; with a stride, of each of the words.
    pub elements: i64,
}

impl Bank {
    /// Words of a row from the first that it keeps to the last.
    pub fn reach(&self) -> i64 {
        (self.words_per_row - 1) * self.stride.max(1) + 1
    }
}

impl InputGroup {
    /// Tiles that load.
    pub fn loads_when(&self, vsa: &Vsa) -> When {
        let at = When::new((0..vsa.tile_depth).map(|j| self.loads_at(j))).at;
        When { at, ..self.used.clone() }
    }
    /// The value of a tile counter in tiles that load.
    pub fn loads_at(&self, j: usize) -> Option<i64> {
        self.used.value(j).or((j >= self.reload).then_some(0))
    }
    /// A tile, by its counters and the case of its phase, loads.
    pub fn loads(&self, tile: &[i64], case: Option<usize>) -> bool {
        self.used.is_in_case(case) && tile.iter().enumerate().all(|(j, &c)| self.loads_at(j).is_none_or(|v| v == c))
    }
    /// A tile, in whose phase, of that case, the counters run so often, is the last that uses what was loaded.
    pub fn releases(&self, tile: &[i64], case: Option<usize>, trips: &[i64]) -> bool {
        let ends = |(j, &c): (usize, &i64)| match self.used.value(j) {
            Some(value) => value == c,
            None => j < self.reload || c + 1 == trips[j],
        };
        self.used.is_in_case(case) && tile.iter().enumerate().all(ends)
    }
    /// One load serves the whole run, and none of another run comes meanwhile.
    pub fn loads_once(&self, vsa: &Vsa) -> bool {
        if vsa.overlap {
            return false;
        }
        let stays = |j: usize| {
            let mut runs = self.used.runs().into_iter();
            self.used.value(j).is_some() || runs.all(|f| vsa.farthest(j, f) == Formula::Const(0))
        };
        (vsa.parameters()..self.reload.min(vsa.tile_depth)).all(stays)
    }
    /// PEs along each axis that read.
    pub fn readers(&self) -> [i64; 2] {
        extent(self.first, self.last)
    }
    /// Feeders along each axis.
    pub fn feeders(&self) -> [i64; 2] {
        [0, 1].map(|a| if self.forward[a] { 1 } else { self.readers()[a] })
    }
    /// Hops between the array's corner where waves enter and the box's.
    pub fn away(&self, vsa: &Vsa) -> [i64; 2] {
        away(vsa, self.first, self.last)
    }
    /// The PE beside the feeder that is `hops` from the box's corner where waves enter.
    pub fn pe(&self, vsa: &Vsa, hops: [i64; 2]) -> [i64; 2] {
        beside(vsa, self.first, self.last, hops)
    }
}

/// PEs along each axis of the box `[first, last]`.
fn extent(first: [i64; 2], last: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|a| last[a] - first[a] + 1)
}

/// Hops to the box from the array's corner where waves enter.
fn away(vsa: &Vsa, first: [i64; 2], last: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|a| if vsa.schedule.start[a].forward() { first[a] } else { vsa.extent[a] - 1 - last[a] })
}

/// The PE of the box that is `hops` from its corner where waves enter.
fn beside(vsa: &Vsa, first: [i64; 2], last: [i64; 2], hops: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|a| if vsa.schedule.start[a].forward() { first[a] + hops[a] } else { last[a] - hops[a] })
}

impl OutputGroup {
    /// Hops between the array's corner where waves enter and the box's.
    pub fn away(&self, vsa: &Vsa) -> [i64; 2] {
        away(vsa, self.first, self.last)
    }
    /// Collectors along each axis.
    pub fn extent(&self) -> [i64; 2] {
        extent(self.first, self.last)
    }
    /// The PE beside the collector that is `hops` from the corner where waves enter.
    pub fn pe(&self, vsa: &Vsa, hops: [i64; 2]) -> [i64; 2] {
        beside(vsa, self.first, self.last, hops)
    }
}

/// `scale * y_last + Σ coeffs[d] * y_d + Σ phases[j] * counter_j + constant >= 0` (or `== 0`), with scale in {-1, 0,
/// 1}.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellBound {
    pub scale: i64,
    pub coeffs: Vec<i64>,
    /// Over the counters of [`Vsa::phases`].
    pub phases: Vec<i64>,
    pub constant: i64,
    pub equality: bool,
}
