//! The arrays' dimensions as the I/O network sees them.
//!
//! In row-major order `w[i][p][q]` with `q` of 0..3 is `w[i][3 * p + q]`. If a tile reads the inner dimensions whole,
//! or nearly so, they become one: rows are longer, and every bus word is full. Example: a 3 × 3 filter is 1 row of 9
//! elements instead of 3 rows of 3.
//!
//! Only for arrays that are read and never stored: cells past the end of an inner dimension would be others' cells.

use crate::draft::{InputDraft, Lowered};
use crate::io::{footprint, port};
use crate::vsa::Bank;
use scop::{Array, Scop};
use uniform::affine::Form;
use uniform::mapping::Mapping;

/// Arrays that are only read, as it suits their readers. `bus`: bytes of the widest word that an array's port may have.
pub fn reshape(scop: &Scop, lowered: &mut Lowered, mapping: &Mapping, bus: impl Fn(usize) -> u32) {
    for draft in &mut lowered.inputs {
        let array = &scop.arrays[draft.array];
        if lowered.outputs.iter().all(|o| o.array != draft.array) {
            join_rows(draft, joinable(array), array.ty.bytes(), bus(draft.array), mapping);
        }
    }
}

/// Dimensions of an array that may be one: rows whose length follows sizes stay apart.
pub fn joinable(array: &Array) -> &[i64] {
    let sized = array.extents.iter().rposition(|e| !e.is_constant()).unwrap_or(0);
    &array.dims[sized.min(array.dims.len().saturating_sub(1))..]
}

/// Joins the last two dimensions of the array that the draft reads, as often as that makes its loads shorter and its
/// buffers no larger. `bytes`: of an element; `bus`: of a bus word. On a wide bus one long row takes fewer words than
/// many short ones, although it holds cells that nobody needs; on a narrow bus these cells take longer than the ends of
/// rows. Buffers are no larger if they are not behind this bus, or not behind the widest one, where a short row takes a
/// whole word as well.
pub fn join_rows(draft: &mut InputDraft, dims: &[i64], bytes: u32, bus: u32, mapping: &Mapping) {
    let word = (bus / bytes).max(1);
    let widest = |draft: &InputDraft| cost(draft, port::WIDEST / bytes, mapping).1;
    let mut extent = 1;
    let mut whole = draft.clone();
    let mut before = cost(draft, word, mapping);
    for inner in dims.iter().skip(1).rev() {
        extent *= inner;
        whole = joined(&whole, extent);
        let after = cost(&whole, word, mapping);
        if after.1 > before.1 && widest(&whole) > widest(draft) {
            break;
        }
        // A dimension of one element wins nothing by itself, but may stand between two that do.
        if after.0 < before.0 {
            *draft = whole.clone();
            before = after;
        }
    }
}

/// The draft with its last two subscripts `x, y` as one, `extent * x + y`.
fn joined(draft: &InputDraft, extent: i64) -> InputDraft {
    let mut draft = draft.clone();
    if let (Some(y), Some(x)) = (draft.subscripts.pop(), draft.subscripts.pop()) {
        let sum = |x: &i64, y: &i64| extent * x + y;
        let counters = x.counters.iter().zip(&y.counters).map(|(x, y)| sum(x, y)).collect();
        draft.subscripts.push(Form {
            constant: sum(&x.constant, &y.constant),
            counters,
            space: [0, 1].map(|a| sum(&x.space[a], &y.space[a])),
        });
    }
    for port in &mut draft.ports {
        if let (Some(y), Some(x)) = (port.pop(), port.pop()) {
            port.push(extent * x + y);
        }
    }
    draft
}

/// Words of a bank below which its memory takes no fewer LUTs: two buffers of them are one LUT RAM.
const SMALL_BANK: i64 = 16;

/// Cycles of a load, about; elements for which the buffers of one place have room.
fn cost(draft: &InputDraft, word: u32, mapping: &Mapping) -> (i64, i64) {
    let group = footprint::input(draft, 0, word, 0, mapping);
    // Whole words, or the ports' elements where these are at one place of the row's one word.
    let still = group.col.counters.iter().all(|&c| c == 0);
    let of_bank =
        |b: &Bank| b.depth.max(SMALL_BANK) * i64::from(if still && b.words_per_row == 1 { b.ports } else { word });
    let elements = group.banks.iter().map(of_bank).sum();
    (group.footprint.total_words() + group.footprint.total_rows(), elements)
}
