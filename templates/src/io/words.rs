//! Which words of a stream, and which lanes of a word, a buffer owns: common part of feeders and collectors.

use crate::control::{form_range, range_ty, Field};
use crate::naming::Hops;
use crate::port::{Chain, Port};
use crate::stream::StreamItem;
use array::contract::common::by_function;
use array::vsa::{is_function, Bank, Footprint, FootprintDim, Vsa};
use rtl::{u, ModuleBuilder, Sig, Ty};
use uniform::affine::{gcd, Form};

/// Bits of the fields of a load or token stream that a group uses: row digits, residues (per dimension), word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamShape {
    pub u: Vec<Option<u32>>,
    pub r: Vec<Option<u32>>,
    pub w: Option<u32>,
    /// Dimensions, except the outermost, whose rows may end before the footprint does.
    pub early: Vec<usize>,
    /// Groups that have the buffer, if they are several.
    pub groups: usize,
}

impl StreamShape {
    /// The fields that any of several groups needs. Their last dimensions lie upon one another.
    pub fn joined(all: Vec<StreamShape>) -> StreamShape {
        let rank = all.iter().map(|s| s.u.len()).max().unwrap_or(0);
        let digit = |list: fn(&StreamShape) -> &Vec<Option<u32>>, d: usize| {
            all.iter().filter_map(|s| list(s)[(d + s.u.len()).checked_sub(rank)?]).max()
        };
        StreamShape {
            u: (0..rank).map(|d| digit(|s| &s.u, d)).collect(),
            r: (0..rank).map(|d| digit(|s| &s.r, d)).collect(),
            w: all.iter().filter_map(|s| s.w).max(),
            groups: if all.len() > 1 { all.len() } else { 0 },
            early: all.into_iter().flat_map(|s| s.early).collect(),
        }
    }

    /// The fields that a group with this footprint needs of those that several groups need.
    pub fn of_group(&self, footprint: &Footprint) -> StreamShape {
        let [u, r] = digits_of([&self.u, &self.r], footprint);
        StreamShape { u, r, w: self.w.filter(|_| footprint.words > 1), groups: 0, early: vec![] }
    }

    /// Types of the fields for a buffer with one or two halves; `data`: width of the words of a load.
    pub fn item(&self, double: bool, data: Option<u32>) -> StreamItem<Ty> {
        let list = |widths: &[Option<u32>]| widths.iter().map(|w| w.map(u)).collect();
        StreamItem {
            valid: u(1),
            first: u(1),
            groups: vec![u(1); self.groups],
            slot: double.then_some(u(1)),
            u: list(&self.u),
            r: list(&self.r),
            w: self.w.map(u),
            data: data.map(u),
        }
    }
}

/// Row digits and residues that a group with this footprint needs.
fn digits_of<S: Copy>([u, r]: [&[Option<S>]; 2], footprint: &Footprint) -> [Vec<Option<S>>; 2] {
    let missing = u.len() - footprint.rows.len();
    let of = |list: &[Option<S>], has: &dyn Fn(&FootprintDim) -> bool| {
        footprint.rows.iter().zip(&list[missing..]).map(|(row, d)| d.filter(|_| has(row))).collect()
    };
    [of(u, &|row| row.extent > 1), of(r, &|row| row.modulus > 1)]
}

/// An item as a group with this footprint sees it, the group of that number among those that have the buffer.
pub fn item_of<S: Copy>(item: &StreamItem<S>, footprint: &Footprint, k: usize) -> StreamItem<S> {
    let [u, r] = digits_of([&item.u, &item.r], footprint);
    StreamItem { valid: item.groups[k], groups: vec![], u, r, w: item.w.filter(|_| footprint.words > 1), ..*item }
}

/// Positions of the elements of a bank in words.
#[derive(Clone, Debug)]
pub struct Lanes {
    pub word: i64,
    /// `offset(p)`, if it is equal at all PEs.
    pub fixed: Option<i64>,
    /// `col + offset` is always `residue` modulo `step`; both powers of two divide `word`.
    pub step: i64,
    pub residue: i64,
}

/// A constant that is equal at all PEs. If it is not, a port should bring it: this is an undriven wire then, which the
/// netlist check reports.
pub fn common<'m>(m: &'m ModuleBuilder, value: Option<i64>, ty: Ty) -> Sig<'m> {
    value.map_or_else(|| m.wire("differs_among_pes", ty).sig(), |value| m.lit(value, ty))
}

/// First element of the row of the bank at `p`, as (word, element in the word).
pub fn bank_start(bank: &Bank, word: i64, p: [i64; 2]) -> (i64, i64) {
    let at = bank.base + bank.coef[0] * p[0] + bank.coef[1] * p[1];
    (at.div_euclid(word), at.rem_euclid(word))
}

impl Lanes {
    pub fn new(bank: &Bank, col: &WaveIndex, word: i64, pes: &[[i64; 2]]) -> Self {
        let offsets: Vec<i64> = pes.iter().map(|p| bank_start(bank, word, *p).1).collect();
        let first = offsets.first().copied().unwrap_or(0);
        let others = col.others.iter().map(|of| &of.1);
        let terms = others
            .chain([&col.form])
            .flat_map(|form| form.counters.iter().copied().chain([form.constant - col.form.constant]));
        let step = offsets.iter().map(|o| o - first).chain(terms).fold(word, gcd);
        Lanes {
            word,
            fixed: offsets.iter().all(|o| *o == first).then_some(first),
            step,
            residue: (col.form.constant + first).rem_euclid(step),
        }
    }
}

/// A form over the inner counters, and its range: an index that waves bring.
#[derive(Clone, Debug, PartialEq)]
pub struct WaveIndex {
    pub form: Form,
    /// Other forms, in runs of these functions.
    pub others: Vec<(Vec<usize>, Form)>,
    pub range: [i64; 2],
}

impl WaveIndex {
    pub fn new(vsa: &Vsa, form: &Form) -> WaveIndex {
        WaveIndex { form: form.clone(), others: vec![], range: form_range(&vsa.counters, form) }
    }

    /// An index that is another one in runs of some functions.
    pub fn of_functions(vsa: &Vsa, forms: &[(&[usize], &Form)]) -> WaveIndex {
        let mut others = by_function(forms);
        let ranges = others.iter().map(|of| form_range(&vsa.counters, &of.1));
        let range = ranges.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).unwrap_or_default();
        for (_, form) in &mut others {
            let [low, high] = form_range(&vsa.counters, form);
            if low == high {
                *form = Form { constant: low, ..Form::default() };
            }
        }
        let form = others.pop().map_or_else(Form::default, |of| of.1);
        WaveIndex { form, others, range }
    }

    /// A form is the same in all waves.
    pub fn is_constant(form: &Form) -> bool {
        form.counters.iter().all(|c| *c == 0)
    }

    /// The fields of the waves from which it follows.
    pub fn fields(&self) -> Vec<Field> {
        if !self.varies() {
            return vec![];
        }
        let forms = self.others.iter().map(|of| &of.1).chain([&self.form]).filter(|form| !Self::is_constant(form));
        let functions = self.others.iter().flat_map(|of| &of.0);
        forms.cloned().map(Field::Time).chain(functions.map(|f| Field::Guard(vec![is_function(*f)]))).collect()
    }

    /// It has more than one value, so waves bring it.
    pub fn varies(&self) -> bool {
        self.range[0] < self.range[1]
    }

    /// The port that brings it; `None` if it is constant.
    pub fn chain(&self, hops: &Hops, name: &str) -> Option<Chain> {
        self.varies().then(|| hops.chain(name, range_ty(self.range[0], self.range[1])))
    }

    /// The input as an unsigned value, constants included (values are never negative).
    pub fn value<'m>(&self, m: &'m ModuleBuilder, input: Option<Sig<'m>>) -> Sig<'m> {
        let constant = self.range[0].max(0);
        input.map_or_else(|| m.lit(constant, range_ty(0, constant)), |s| s.unsigned())
    }
}

/// The values `low`, `low + step`, … out of `0 .. values` that a bank takes, `extent` of them, with `low` per PE. The step
/// is a power of two.
pub struct Window {
    pub lows: Vec<i64>,
    pub extent: i64,
    pub step: i64,
    pub values: i64,
}

impl Window {
    /// Window of row digit `d`.
    pub fn of_digit(bank: &Bank, d: usize, footprint: &Footprint, pes: &[[i64; 2]]) -> Window {
        let row = &bank.rows[d];
        let low = |p: &[i64; 2]| row.base + row.coef[0] * p[0] + row.coef[1] * p[1];
        Window {
            lows: pes.iter().map(low).collect(),
            extent: row.extent,
            step: 1,
            values: footprint.rows.get(d).map_or(1, |h| h.extent),
        }
    }

    /// Window of the words of a row.
    pub fn of_words(bank: &Bank, word: i64, footprint: &Footprint, pes: &[[i64; 2]]) -> Window {
        let lows = pes.iter().map(|p| bank_start(bank, word, *p).0).collect();
        Window { lows, extent: bank.words_per_row, step: bank.stride.max(1), values: footprint.words }
    }

    /// The window contains all values at all PEs.
    pub fn is_total(&self) -> bool {
        self.step == 1 && self.lows.iter().all(|l| *l <= 0 && *l + self.extent >= self.values)
    }

    fn is_uniform(&self) -> bool {
        self.lows.iter().all(|l| *l == self.lows[0])
    }

    /// The input for `low` if it depends on the PE; values have `bits` bits.
    pub fn port(&self, name: String, bits: Option<u32>) -> Option<Port> {
        (!self.is_uniform()).then(|| Port::new(name, window_ty(bits.unwrap_or(1), &self.lows)))
    }
}

/// Constant inputs of a bank, tied off per PE; `None` if equal at all PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Ties {
    /// First row digit, per dimension.
    pub u: Vec<Option<Port>>,
    /// First word.
    pub w: Option<Port>,
    /// Offset in the first word.
    pub o: Option<Port>,
}

/// Ports of every buffer besides its stream.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferPorts {
    /// Inputs from the waves; `None` if constant.
    pub row: Option<Chain>,
    pub col: Option<Chain>,
    pub slot: Option<Chain>,
    /// Constants of the PE, by bank.
    pub ties: Vec<Ties>,
}

impl BufferPorts {
    pub fn new([row, col]: [&WaveIndex; 2], hops: &Hops, double: bool, ties: Vec<Ties>) -> BufferPorts {
        BufferPorts {
            row: row.chain(hops, "row"),
            col: col.chain(hops, "col"),
            slot: double.then(|| hops.chain("slot", u(1))),
            ties,
        }
    }
}

/// The value at this [`distance`] is in the window, as terms of a conjunction; and how many of the window's values come
/// before it.
pub fn inside<'m>(m: &'m ModuleBuilder, distance: Sig<'m>, window: &Window) -> (Vec<Sig<'m>>, Sig<'m>) {
    let bits = window.step.trailing_zeros();
    if bits == 0 {
        return (vec![below(m, distance, window.extent)], distance);
    }
    let place = distance.slice(bits, distance.w() - bits);
    (vec![!distance.slice(0, bits).reduce_or(), below(m, place, window.extent)], place)
}

/// `0 <= distance < extent` for a [`distance`].
pub fn below<'m>(m: &'m ModuleBuilder, distance: Sig<'m>, extent: i64) -> Sig<'m> {
    if extent >= 1 << (distance.w() - 1) {
        !distance.msb()
    } else {
        distance.lt(m.lit(extent, distance.ty()))
    }
}

/// `value - low` modulo a power of two that leaves room for the sign.
pub fn distance<'m>(m: &'m ModuleBuilder, value: Option<Sig<'m>>, window: &Window, port: &Option<Port>) -> Sig<'m> {
    let ty = window_ty(value.map_or(1, |v| v.w()), &window.lows);
    let value = value.map_or(m.lit(0, ty), |v| v.extend(ty.w));
    match (port, window.lows[0]) {
        (Some(port), _) => value - port.input(m),
        (None, 0) => value,
        (None, low) => value - m.lit_big(&[low as u64], ty),
    }
}

/// Type for the difference of a position and a lower bound, which may be negative.
fn window_ty(value_bits: u32, lows: &[i64]) -> Ty {
    let most = lows.iter().map(|l| l.abs()).max().unwrap_or(0);
    u(value_bits.max(range_ty(0, most).w) + 2)
}

/// `value == constant`; 0 if the constant does not fit the type.
pub fn equals<'m>(m: &'m ModuleBuilder, value: Sig<'m>, constant: i64) -> Sig<'m> {
    if constant >> value.w().min(62) != 0 {
        m.lit(0, u(1))
    } else {
        value.eq_lit(constant)
    }
}
