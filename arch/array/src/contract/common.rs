//! What the buffers of an owner and its guests are ([`crate::vsa::Common`]): the largest of what each of them needs.
//!
//! A group alone has the buffers that its banks say. Those that several groups have in common are one bank. Rows of all
//! these groups begin with a whole word at every PE, so the read address is the same sum of row and word for all.

use super::pick;
use super::relay::Relays;
use crate::vsa::{Bank, InputGroup, OutputBank, OutputGroup, Vsa, When};
use uniform::affine::Form;

/// The feeders of an input group and its guests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feeders {
    /// The group and its guests.
    pub groups: Vec<usize>,
    /// Its banks, or the one of all groups.
    pub banks: Vec<Bank>,
    /// Two halves.
    pub double: bool,
    /// Places in a bus word that waves read, see [`pick::starts`].
    pub starts: u128,
}

impl Feeders {
    /// Of a group that is no guest.
    pub fn of(vsa: &Vsa, g: usize) -> Feeders {
        let groups = vsa.fed_with(g);
        let all: Vec<&InputGroup> = groups.iter().map(|g| &vsa.inputs[*g]).collect();
        let word = i64::from(vsa.arrays[vsa.inputs[g].array as usize].word);
        let banks = match &all[..] {
            [one] => one.banks.clone(),
            all => vec![largest(all.iter().map(|g| &g.banks[0]))],
        };
        let starts = all.iter().fold(0, |places, g| places | pick::starts(&vsa.counters, &g.col, word));
        let double = all.iter().any(|g| !g.loads_once(vsa));
        Feeders { groups, banks, double, starts }
    }
}

/// Two input groups of a merged array may have the same feeders: of different functions, at the same PEs, behind one
/// port.
pub fn may_share_feeders(vsa: &Vsa, a: usize, b: usize) -> bool {
    let [a, b] = [a, b].map(|g| &vsa.inputs[g]);
    let box_of = |g: &InputGroup| [0, 1].map(|x| (!g.forward[x]).then_some((g.first[x], g.last[x])));
    are_apart(&a.used, &b.used)
        && is_alike(vsa, [a.array, b.array])
        && (a.ports.len(), a.forward) == (b.ports.len(), b.forward)
        && box_of(a) == box_of(b)
        && [a, b].iter().all(|g| match &g.banks[..] {
            [bank] => bank.ports as usize == g.ports.len() && begins_with_word(vsa, bank, g.array),
            _ => false,
        })
}

/// The collectors of an output group and its guests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collectors {
    /// The group and its guests.
    pub groups: Vec<usize>,
    /// Its banks, or the one of all groups.
    pub banks: Vec<OutputBank>,
    /// Two halves.
    pub double: bool,
}

impl Collectors {
    /// Of a group that is no guest.
    pub fn of(vsa: &Vsa, o: usize) -> Collectors {
        let groups = vsa.collected_with(o);
        let all: Vec<&OutputGroup> = groups.iter().map(|o| &vsa.outputs[*o]).collect();
        let banks = match &all[..] {
            [one] => one.banks.clone(),
            all => {
                let elements = all.iter().map(|g| g.banks[0].elements).max().unwrap_or(0);
                vec![OutputBank { bank: largest(all.iter().map(|g| &g.banks[0].bank)), elements }]
            }
        };
        Collectors { groups, banks, double: all.iter().any(|g| g.slots > 1) }
    }
}

/// Two output groups of a merged array may have the same collectors: of different functions, at the same PEs, behind
/// one port, with whole words that leave at once.
pub fn may_share_collectors(vsa: &Vsa, a: usize, b: usize) -> bool {
    let both = [a, b].map(|o| &vsa.outputs[o]);
    let whole = |g: &OutputGroup| match &g.banks[..] {
        [of] => {
            let word = i64::from(vsa.arrays[g.array as usize].word);
            let rows = of.elements == of.bank.words_per_row * word;
            rows && of.bank.ports as usize == g.ports.len() && begins_with_word(vsa, &of.bank, g.array)
        }
        _ => false,
    };
    let [x, y] = both;
    are_apart(&x.emit, &y.emit)
        && is_alike(vsa, [x.array, y.array])
        && (x.ports.len(), x.first, x.last) == (y.ports.len(), y.first, y.last)
        && both.into_iter().all(whole)
        && [a, b].into_iter().all(|o| Relays::leaves_at_once(vsa, o))
}

/// No run has tiles of both.
fn are_apart(a: &When, b: &When) -> bool {
    !a.functions.is_empty() && !b.functions.is_empty() && !a.functions.iter().any(|f| b.functions.contains(f))
}

/// Words of both arrays come through one port, and their rows end where tiles say, not sizes.
fn is_alike(vsa: &Vsa, arrays: [u32; 2]) -> bool {
    let [a, b] = arrays.map(|k| &vsa.arrays[k as usize]);
    (a.port, a.ty, a.word, a.home) == (b.port, b.ty, b.word, b.home) && vsa.sizes.list.len() == 1
}

/// The rows of the bank begin with a whole word at every PE.
fn begins_with_word(vsa: &Vsa, bank: &Bank, array: u32) -> bool {
    let word = i64::from(vsa.arrays[array as usize].word);
    bank.port == 0 && bank.stride == 0 && bank.base % word == 0 && bank.coef.iter().all(|c| c % word == 0)
}

/// A bank for the words of each of these.
pub fn largest<'a>(banks: impl Iterator<Item = &'a Bank>) -> Bank {
    let none = Bank { port: 0, ports: 0, rows: vec![], base: 0, coef: [0, 0], words_per_row: 0, stride: 0, depth: 0 };
    banks.fold(none, |all, bank| Bank {
        ports: all.ports.max(bank.ports),
        words_per_row: all.words_per_row.max(bank.words_per_row),
        depth: all.depth.max(bank.depth),
        ..all
    })
}

/// Forms over the counters, each with the functions in whose runs it holds. The last one holds in all others, and has
/// none.
pub fn by_function(forms: &[(&[usize], &Form)]) -> Vec<(Vec<usize>, Form)> {
    let mut all: Vec<(Vec<usize>, Form)> = vec![];
    for (functions, form) in forms {
        match all.iter_mut().find(|known| known.1 == **form) {
            Some(known) => known.0.extend(*functions),
            None => all.push((functions.to_vec(), (*form).clone())),
        }
    }
    all.sort_by_key(|of| of.0.len());
    all.last_mut().iter_mut().for_each(|of| of.0.clear());
    all
}
