//! Alignment of bus words: a pipelined barrel shifter (two bits of the amount per stage), and the merge of two
//! consecutive words.

use array::contract::walk::Walk;
use rtl::{ModuleBuilder, Sig};

/// Stage `k`: rotates `data` by bits `2k` and `2k + 1` of `amount` (elements), towards element 0, or away from it if
/// `up`.
pub(crate) fn rotate_level<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    data: Sig<'m>,
    amount: Sig<'m>,
    k: u32,
    up: bool,
) -> Sig<'m> {
    let bits = (2 * k..2 * k + 2).filter(|b| *b < amount.w());
    bits.fold(data, |d, b| {
        let by = if up { walk.word - (1 << b) } else { 1 << b };
        m.mux(amount.bit(b), rotated(m, d, by * 8 * walk.bytes), d).called(format!("rotated_by_{by}"))
    })
}

fn rotated<'m>(m: &'m ModuleBuilder, data: Sig<'m>, by: u32) -> Sig<'m> {
    m.concat(&[data.slice(0, by), data.slice(by, data.w() - by)])
}

/// Takes element `i` from `previous` if `take_previous(i)`, else from `current`.
pub(crate) fn merge<'m>(
    m: &'m ModuleBuilder,
    walk: &Walk,
    previous: Sig<'m>,
    current: Sig<'m>,
    take_previous: impl Fn(u32) -> Sig<'m>,
) -> Sig<'m> {
    let bits = 8 * walk.bytes;
    let part = |i: u32| {
        m.mux(take_previous(i), previous.slice(i * bits, bits), current.slice(i * bits, bits))
            .called(format!("lane{i}"))
    };
    m.concat(&(0..walk.word).rev().map(part).collect::<Vec<_>>())
}
