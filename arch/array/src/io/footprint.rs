//! Layouts of the I/O groups: the footprint of a tile, the part of it that each buffer holds, and the addresses.
//!
//! Problem: a group reads `A[f(c, p)]` for all counters `c` of a tile, PEs `p` and ports. Which elements is that, which
//! PE's buffer holds which, and at which address does a wave find its element?
//!
//! Terms: the *footprint* ([`Footprint`]) is the bounding box of the elements that a tile touches. A *bank* is the part
//! of it in the buffer of one PE. Tile counters move the footprint (`origin`), axes move the bank (`base + coef · p`),
//! inner counters move the address (`row`, `col`).
//!
//! Method: each subscript is split by what moves it, and each part has a range. Dimensions except the last are walked
//! with a *modulus*, the greatest stride of all movement: rows that differ modulo it belong to different banks.
//!
//! Example: `A[4 * tile + 2 * p0 + t]` with 2 PEs, `t` of 0..2. Footprint: 4 elements from `4 * tile`. Bank of PE `p0`:
//! elements `2 * p0` and `2 * p0 + 1`. Address: `t`.
//!
//! ```text
//! element    4*tile + 0   1   2   3
//! bank of PE          0   0   1   1
//! address             0   1   0   1
//! ```
//!
//! Invariants: all local coordinates and addresses are non-negative; the buffers of one output group own disjoint
//! cells; the footprints of two tiles that store the same array do not overlap.
//!
//! Source: AutoSA, section 4.3 (I/O groups, L1/L2/L3 modules).

use crate::draft::{InputDraft, PeBox};
use crate::vsa::*;
use scop::Affine;
use uniform::affine::{gcd, interval, Form};
use uniform::mapping::Mapping;

/// One array dimension of an access, taken apart.
struct Dimension {
    /// Coefficients of the counters inside a tile (tile counters zeroed) and of the axes.
    inner: Vec<i64>,
    space: [i64; 2],
    origin: Form,
    /// Least value the counters contribute, number of values they span.
    counter_min: i64,
    counter_extent: i64,
    /// `-Σ least axis contributions`, so that `space_base + space·p >= 0` in the box.
    space_base: i64,
    /// Elements the tile touches.
    range: i64,
    least_offset: i64,
}

/// `around`: boxes over the counters that contain every wave.
fn take_apart(
    form: &Form,
    offsets: impl Iterator<Item = i64> + Clone,
    pes: PeBox,
    mapping: &Mapping,
    around: &[Vec<(i64, i64)>],
) -> Dimension {
    let depth = mapping.tile_depth;
    let mut inner = form.counters.clone();
    let mut outer = form.counters.clone();
    inner[..depth].fill(0);
    outer[depth..].fill(0);
    let within = |time: &Vec<(i64, i64)>| interval(0, inner.iter().zip(time).map(|(&c, &(low, high))| (c, low, high)));
    let spans = around.iter().map(within).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
    let (counter_min, counter_max) = (spans.0 as i64, spans.1 as i64);
    let ends = [0, 1].map(|a| (form.space[a] * pes.first[a], form.space[a] * pes.last[a]));
    let (space_min, space_max) = ends.iter().fold((0, 0), |(lo, hi), &(x, y)| (lo + x.min(y), hi + x.max(y)));
    let (least, most) = (offsets.clone().min().unwrap_or(0), offsets.max().unwrap_or(0));
    Dimension {
        inner,
        space: form.space,
        origin: Form { constant: form.constant + counter_min + space_min + least, counters: outer, space: [0, 0] },
        counter_min,
        counter_extent: counter_max - counter_min + 1,
        space_base: -space_min,
        range: counter_max - counter_min + space_max - space_min + most - least + 1,
        least_offset: least,
    }
}

impl Dimension {
    /// Greatest stride that all movement inside a tile keeps to.
    fn modulus(&self, pes: PeBox, mapping: &Mapping) -> i64 {
        let counters = self.inner.iter().enumerate().filter(|(j, _)| mapping.counters[*j].trip > 1).map(|(_, &c)| c);
        let axes = (0..2).filter(|&a| pes.last[a] > pes.first[a]).map(|a| self.space[a]);
        gcd(counters.chain(axes).fold(0, gcd), 0).max(1)
    }
}

/// What inputs and outputs have in common.
pub(super) struct Layout {
    pub footprint: Footprint,
    pub banks: Vec<Bank>,
    pub row: Form,
    pub col: Form,
    /// Elements per row that the buffer of one PE holds, per bank; with a stride, per word.
    pub elements: i64,
}

/// How the elements that a PE takes of a row lie in its words.
struct Taken {
    /// As [`Bank::stride`].
    stride: i64,
    /// Elements from the first of a run to the last one.
    run: i64,
}

impl Taken {
    /// Counters that move by whole words count words, each of which has a run. `ports`: elements of a wave side by side.
    fn new(along: &Dimension, ports: i64, word: i64, mapping: &Mapping) -> Taken {
        let counters = along.inner.iter().enumerate().filter(|(j, _)| mapping.counters[*j].trip > 1);
        let step = counters.map(|(_, &c)| c).fold(0, gcd);
        let words = step / word;
        // Steps of one element are a run.
        if step > 1 && words > 0 && step % word == 0 && words & (words - 1) == 0 {
            Taken { stride: words, run: ports }
        } else {
            Taken { stride: 0, run: along.counter_extent + ports - 1 }
        }
    }
}

pub(super) fn layout(
    subscripts: &[Form],
    view: Vec<Affine>,
    ports: &[Vec<i64>],
    word: i64,
    pes: PeBox,
    mapping: &Mapping,
) -> Layout {
    let last = subscripts.len() - 1;
    let around = mapping.around();
    let dims: Vec<Dimension> = subscripts
        .iter()
        .enumerate()
        .map(|(d, f)| take_apart(f, ports.iter().map(move |p| p[d]), pes, mapping, &around))
        .collect();
    let moduli: Vec<i64> = dims[..last].iter().map(|d| d.modulus(pes, mapping)).collect();
    let joined = ports.len() > 1 && one_word(&dims, ports, word, pes, mapping);
    let groups: Vec<(usize, usize)> =
        if joined { vec![(0, ports.len())] } else { (0..ports.len()).map(|p| (p, 1)).collect() };
    let taken = Taken::new(&dims[last], groups[0].1 as i64, word, mapping);
    let elements = taken.run;
    let base = |port: usize| dims[last].space_base + ports[port][last] - dims[last].least_offset;
    // Where rows begin: all places of a bus word that occur, and the last one of all.
    let coef = dims[last].space;
    let steps = |a: usize| {
        let mut all: Vec<i64> =
            (pes.first[a]..=pes.last[a]).take(word as usize).map(|p| (coef[a] * p).rem_euclid(word)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (rows_at, columns_at) = (steps(0), steps(1));
    let begins = groups
        .iter()
        .flat_map(|&(port, _)| rows_at.iter().map(move |r| base(port) + r))
        .flat_map(|x| columns_at.iter().map(move |c| x + c));
    let words_per_row = match taken.stride {
        0 => begins.map(|s| (s.rem_euclid(word) + elements + word - 1) / word).max().unwrap_or(1),
        stride => (dims[last].counter_extent - 1) / (stride * word) + 1,
    };
    let reach = (words_per_row - 1) * taken.stride.max(1) + 1;
    let furthest: i64 = (0..2).map(|a| (coef[a] * pes.first[a]).max(coef[a] * pes.last[a])).sum();
    let words = groups.iter().map(|g| (base(g.0) + furthest).div_euclid(word) + reach).max().unwrap_or(1);
    let rows = |port: usize| {
        let row = |d: usize| {
            let shift = ports[port][d] - dims[d].least_offset;
            let residue = shift.rem_euclid(moduli[d]);
            BankDim {
                base: (dims[d].space_base + shift - residue) / moduli[d],
                coef: dims[d].space.map(|b| b / moduli[d]),
                extent: (dims[d].counter_extent - 1) / moduli[d] + 1,
                residue,
            }
        };
        (0..last).map(row).collect::<Vec<BankDim>>()
    };
    let zero = || Form { constant: 0, counters: vec![0; mapping.counters.len()], space: [0, 0] };
    let add = |to: &mut Form, d: &Dimension, modulus: i64, stride: i64| {
        to.constant -= d.counter_min / modulus * stride;
        to.counters.iter_mut().zip(&d.inner).for_each(|(t, c)| *t += c / modulus * stride);
    };
    let (mut row, mut col, mut stride) = (zero(), zero(), words_per_row);
    for d in (0..last).rev() {
        add(&mut row, &dims[d], moduli[d], stride);
        stride *= (dims[d].counter_extent - 1) / moduli[d] + 1;
    }
    match taken.stride {
        0 => add(&mut col, &dims[last], 1, 1),
        words => add(&mut row, &dims[last], words * word, 1),
    }
    let bank = |&(port, count): &(usize, usize)| Bank {
        port: port as u32,
        ports: count as u32,
        rows: rows(port),
        base: base(port),
        coef: dims[last].space,
        words_per_row,
        stride: taken.stride,
        depth: stride,
    };
    let banks = groups.iter().map(bank).collect();
    let footprint_rows = (0..last)
        .map(|d| FootprintDim { modulus: moduli[d], extent: (dims[d].range + moduli[d] - 1) / moduli[d] })
        .collect();
    let footprint = Footprint {
        view,
        origin: dims.iter().map(|d| d.origin.clone()).collect(),
        rows: footprint_rows,
        words: words.max((dims[last].range + word - 1) / word),
        elements: dims[last].range,
    };
    Layout { footprint, banks, row, col, elements }
}

/// All ports are consecutive elements of one word, for every wave and PE.
fn one_word(dims: &[Dimension], ports: &[Vec<i64>], word: i64, pes: PeBox, mapping: &Mapping) -> bool {
    let (last, n) = (dims.len() - 1, ports.len() as i64);
    let consecutive =
        ports.iter().enumerate().all(|(l, p)| p[..last] == ports[0][..last] && p[last] - ports[0][last] == l as i64);
    let counters = dims[last].inner.iter().enumerate().all(|(j, c)| mapping.counters[j].trip == 1 || c % n == 0);
    let axes = (0..2).all(|a| pes.first[a] == pes.last[a] || dims[last].space[a] % n == 0);
    let base = dims[last].space_base + (0..2).map(|a| dims[last].space[a] * pes.first[a]).sum::<i64>();
    consecutive && counters && axes && word % n == 0 && base % n == 0 && dims[last].counter_min % n == 0
}

fn reload(footprint: &Footprint) -> usize {
    footprint
        .origin
        .iter()
        .flat_map(|f| f.counters.iter().enumerate().filter(|(_, &c)| c != 0).map(|(j, _)| j + 1))
        .max()
        .unwrap_or(0)
}

/// The group that is drafted so; reloaded when one of the first `least` tile counters changes, at least.
pub fn input(draft: &InputDraft, array: u32, word: u32, least: usize, mapping: &Mapping) -> InputGroup {
    let pes @ PeBox { first, last } = draft.readers.unwrap_or(PeBox::whole(mapping.extent));
    let mut subscripts = draft.subscripts.clone();
    // An axis with one place does not move anything.
    for a in (0..2).filter(|&a| first[a] == last[a]) {
        for form in &mut subscripts {
            form.constant += form.space[a] * first[a];
            form.space[a] = 0;
        }
    }
    let l = layout(&subscripts, Footprint::plain_view(subscripts.len()), &draft.ports, word as i64, pes, mapping);
    let forward = [0, 1].map(|a| subscripts.iter().all(|f| f.space[a] == 0));
    // A size may have any value; of a counter that sizes end, the last value has no number of its own.
    let is_number = |j: usize, v: i64| {
        j >= mapping.parameters() && !(mapping.counters[j].limit().is_some() && v + 1 == mapping.counters[j].trip)
    };
    let phases: Vec<Option<i64>> = (0..mapping.phases()).map(|j| draft.phase(j).filter(|&v| is_number(j, v))).collect();
    let reload = reload(&l.footprint).max(least);
    // In one phase only it is used there.
    let single_phase = (mapping.parameters()..mapping.phases()).all(|j| phases[j].is_some());
    let cases = if draft.phases.is_empty() || single_phase || reload < mapping.phases() {
        None
    } else {
        mapping.cases_but(mapping.cases_within(&draft.phases))
    };
    InputGroup {
        arrays: vec![],
        array,
        subscripts,
        ports: draft.ports.clone(),
        first,
        last,
        forward,
        reload,
        used: When { cases, ..When::new(if phases.iter().any(Option::is_some) { phases } else { vec![] }) },
        footprint: l.footprint,
        banks: l.banks,
        row: l.row,
        col: l.col,
        after: vec![],
    }
}
