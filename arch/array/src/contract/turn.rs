//! Chains: the way of results whose elements leave one after the other, and the turn that makes bus words of them.
//!
//! Problem: a collector that answers with all its elements of a bus word at once has a memory per element, and every
//! relay joins words as wide as the bus. In large arrays both take more LUTs than the PEs.
//!
//! Method: a collector answers with one element a cycle (`width` of them where a wave stores several), from one narrow
//! memory. Collectors along an axis that does not move the words of a row are a *chain*: its relays join elements. A
//! token asks other chains for other words, so a chain is busy with a bus word while others begin the next ones. Behind
//! a chain, registers wait for the last element; in that cycle the *turn* takes the word.
//!
//! ```text
//! cycle          0     1     2     3     4     5     6     7     8
//! token          w0    w1    w2    w3    w0 of the next row
//! chains of w0         e0    e1    e2    e3    e0    e1 …
//! chains of w1               e0    e1    e2    e3 …
//! turn                                   w0    w1    w2    w3 …
//! ```
//!
//! Invariant: a chain has the elements of one word of each row. So it is asked again `words` tokens later at the
//! earliest, and the `steps` cycles of an answer are no more. Where a collector has one element of each word (or of each
//! `stride`-th, [`crate::vsa::Bank::stride`]), an answer is one cycle, nothing waits, and the word is composed by wiring.

use super::bands;
use super::elements::{lanes, owned, REACH};
use crate::vsa::{OutputBank, OutputGroup, Vsa};
use std::ops::Range;

/// Elements leave in chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The axis along which collectors belong to other chains. Elements move along the other one.
    pub axis: usize,
    /// Cycles that an answer takes.
    pub steps: i64,
    /// Elements of a chain in a cycle.
    pub width: usize,
    /// Chains of a relay, the most of all.
    pub chains: usize,
    /// Bus words of a turn, the most of all; there is one turn per relay along `axis`. If an answer takes one cycle, those
    /// of all chains: there is no turn.
    pub words: usize,
}

/// Answers with the same elements of the same words: those of all collectors in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// Hops along [`Turn::axis`] from where waves enter.
    pub line: i64,
    /// Of each collector, see [`super::relay::Relays::answers`].
    pub answers: Vec<usize>,
    /// Number of the word in the rows; with a stride, of the first one.
    pub word: i64,
    /// Elements of the word, as bits.
    pub elements: u128,
}

/// A bus word of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// Its number in the rows.
    pub word: i64,
    /// The chains that fill it.
    pub chains: Vec<usize>,
}

/// Chains for an output group: collectors per relay, the words that a relay joins, and the turn. `None` if elements
/// cannot leave one after the other.
pub fn of(vsa: &Vsa, o: usize, answers: &[Vec<usize>]) -> Option<([i64; 2], usize, Turn)> {
    let group = &vsa.outputs[o];
    let (word, extent) = (i64::from(vsa.arrays[group.array as usize].word), group.extent());
    let first = group.banks.first()?;
    let (count, together) = (lanes(first, word), i64::from(first.bank.ports));
    // Values of a wave are parts of one answer.
    let fits = |at: i64| at % together == 0;
    let alike = |b: &OutputBank| {
        (b.bank.words_per_row == 1 || b.bank.stride > 0)
            && b.bank.stride == first.bank.stride
            && lanes(b, word) == count
            && i64::from(b.bank.ports) == together
            && fits(b.bank.base)
            && b.bank.coef.into_iter().all(fits)
    };
    let by_word = first.bank.stride > 0;
    let steps = if by_word { 1 } else { 1 << (count / together).min(group.footprint.words).max(1).ilog2() };
    let aligned = fits(group.col.constant) && group.col.counters.iter().all(|&c| fits(c));
    if steps < 2 && !by_word || !aligned || !group.banks.iter().all(alike) {
        return None;
    }
    let in_line = |a: usize| extent[1 - a] == 1 || group.banks.iter().all(|b| b.bank.coef[1 - a] == 0);
    let axis = [1, 0].into_iter().find(|&a| in_line(a))?;
    let all = chains(vsa, (group, answers), axis, 0..extent[axis]);
    let most = all.iter().map(|chain| chain.answers.len()).max()?;
    let mut block = extent.map(|n| n.min(REACH));
    block[1 - axis] = block[1 - axis].min((REACH / most as i64).max(1));
    let away = group.away(vsa);
    let keeps = |a: usize, block: &i64| bands::keeps(vsa, a, (away[a], extent[a]), *block);
    let block = [0, 1].map(|a| (1..=block[a]).rev().find(|block| keeps(a, block)).unwrap_or(1));
    let mut turn = Turn { axis, steps, width: (count / steps) as usize, chains: 0, words: 0 };
    for k in 0..(extent[axis] + block[axis] - 1) / block[axis] {
        let chains = turn.chains_of(vsa, o, (block, answers), k);
        (turn.chains, turn.words) = (turn.chains.max(chains.len()), turn.words.max(words(&chains).len()));
    }
    if steps == 1 {
        turn.words = words(&all).len();
    }
    Some((block, block[1 - axis] as usize * most, turn))
}

impl Turn {
    /// The chains of the relays that are number `k` along the axis, with their block and answers.
    pub fn chains_of(&self, vsa: &Vsa, o: usize, (block, answers): ([i64; 2], &[Vec<usize>]), k: i64) -> Vec<Chain> {
        let (group, a) = (&vsa.outputs[o], self.axis);
        chains(vsa, (group, answers), a, k * block[a]..((k + 1) * block[a]).min(group.extent()[a]))
    }
}

/// The chains of these lines.
fn chains(vsa: &Vsa, (group, answers): (&OutputGroup, &[Vec<usize>]), axis: usize, lines: Range<i64>) -> Vec<Chain> {
    let width = i64::from(vsa.arrays[group.array as usize].word);
    let mut all: Vec<Chain> = vec![];
    for line in lines {
        let mut hops = [0; 2];
        hops[axis] = line;
        let p = group.pe(vsa, hops);
        for (k, of) in answers.iter().map(|of| &group.banks[of[0]]).enumerate() {
            let word = (of.bank.base + of.bank.coef[0] * p[0] + of.bank.coef[1] * p[1]).div_euclid(width);
            let elements = owned(of, width, p);
            // Answers with the same cells of a row are of other rows, and come at other times.
            match all.iter_mut().find(|c| c.line == line && c.word == word && c.elements == elements) {
                Some(chain) => chain.answers.push(k),
                None => all.push(Chain { line, answers: vec![k], word, elements }),
            }
        }
    }
    all
}

/// The bus words that these chains fill: chains share one if they have other elements of the same word.
pub fn words(chains: &[Chain]) -> Vec<Turned> {
    let mut words: Vec<(Turned, u128)> = vec![];
    for (k, chain) in chains.iter().enumerate() {
        match words.iter_mut().find(|(of, taken)| of.word == chain.word && taken & chain.elements == 0) {
            Some((of, taken)) => {
                of.chains.push(k);
                *taken |= chain.elements;
            }
            None => words.push((Turned { word: chain.word, chains: vec![k] }, chain.elements)),
        }
    }
    words.into_iter().map(|(of, _)| of).collect()
}
