//! Which words of a stream, and which lanes of a word, a buffer at a place owns: what feeders and collectors share.

use crate::control::{form_range, range_ty};
use arch::affine::{gcd, Form};
use arch::ir::vsa::{Bank, Vsa};
use rtl::{u, ModuleBuilder, Sig, Ty};

/// Fields of a load or token stream beside valid, first, last, slot: row digits, residues (per dimension), word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamShape {
    pub u: Vec<Option<u32>>,
    pub r: Vec<Option<u32>>,
    pub w: Option<u32>,
}

/// Where a bank's elements lie within words.
#[derive(Clone, Debug)]
pub struct Lanes {
    pub word: i64,
    /// `offset(p)` where all places have the same.
    pub fixed: Option<i64>,
    /// `col + offset` is always `residue` modulo `step`; both powers of two divide `word`.
    pub step: i64,
    pub residue: i64,
}

/// First element of the bank's row at `p`, as (word, element in the word).
pub fn bank_start(bank: &Bank, word: i64, p: [i64; 2]) -> (i64, i64) {
    let at = bank.base + bank.coef[0] * p[0] + bank.coef[1] * p[1];
    (at.div_euclid(word), at.rem_euclid(word))
}

impl Lanes {
    pub fn new(bank: &Bank, col: &Form, word: i64, places: &[[i64; 2]]) -> Self {
        let offsets: Vec<i64> = places.iter().map(|p| bank_start(bank, word, *p).1).collect();
        let first = offsets.first().copied().unwrap_or(0);
        let step = offsets.iter().map(|o| o - first).chain(col.counters.iter().copied()).fold(word, gcd);
        Lanes { word, fixed: offsets.iter().all(|o| *o == first).then_some(first), step, residue: (col.constant + first).rem_euclid(step) }
    }
}

/// The wave input for a form over inner counters, or nothing where the form is constant.
pub fn wave_input<'m>(m: &'m ModuleBuilder, vsa: &Vsa, name: &str, form: &Form) -> Option<Sig<'m>> {
    let [low, high] = form_range(vsa, form);
    (low < high).then(|| m.input(name, range_ty(low, high)))
}

/// [`wave_input`] as an unsigned value, constants included (values are never negative).
pub fn wave_value<'m>(m: &'m ModuleBuilder, vsa: &Vsa, input: Option<Sig<'m>>, form: &Form) -> Sig<'m> {
    let constant = form_range(vsa, form)[0].max(0);
    input.map_or_else(|| m.lit(constant, range_ty(0, constant)), |s| s.unsigned())
}

/// `low <= value < low + extent` for a value in `0..values`, with `low` a constant if it is the same at all places, else
/// input `port`; nothing where it always holds.
pub fn window<'m>(m: &'m ModuleBuilder, value: Option<Sig<'m>>, values: i64, lows: &[i64], extent: i64, port: String) -> Option<Sig<'m>> {
    if lows.iter().all(|l| *l <= 0 && *l + extent >= values) {
        return None;
    }
    let distance = distance(m, value, lows, port);
    Some(below(m, distance, extent))
}

/// `0 <= distance < extent` for a [`distance`].
pub fn below<'m>(m: &'m ModuleBuilder, distance: Sig<'m>, extent: i64) -> Sig<'m> {
    if extent >= 1 << (distance.w() - 1) { !distance.msb() } else { distance.lt(m.lit(extent, distance.ty())) }
}

/// `value - low` modulo a power of two that leaves room for the sign.
pub fn distance<'m>(m: &'m ModuleBuilder, value: Option<Sig<'m>>, lows: &[i64], port: String) -> Sig<'m> {
    let ty = window_ty(value.map_or(1, |v| v.w()), lows);
    let value = value.map_or(m.lit(0, ty), |v| v.extend(ty.w));
    if lows.iter().all(|l| *l == lows[0]) {
        return if lows[0] == 0 { value } else { value - m.lit_big(&[lows[0] as u64], ty) };
    }
    value - m.input(port, ty)
}

/// Width in which positions and lower bounds (possibly negative) are subtracted.
pub fn window_ty(value_bits: u32, lows: &[i64]) -> Ty {
    let most = lows.iter().map(|l| l.abs()).max().unwrap_or(0);
    u(value_bits.max(range_ty(0, most).w) + 2)
}

/// `value == constant`, 0 when the type cannot hold it.
pub fn fits<'m>(m: &'m ModuleBuilder, value: Sig<'m>, constant: i64) -> Sig<'m> {
    if constant >> value.w().min(62) != 0 { m.lit(0, u(1)) } else { value.eq_lit(constant) }
}
