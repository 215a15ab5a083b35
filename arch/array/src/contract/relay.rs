//! Relays: the modules of an output group between its collectors and the writer (L2 modules of the group).
//!
//! Problem: a bus word has elements of several PEs, and a wire from each of 256 PEs to the writer is too long for one
//! cycle.
//!
//! Method: a relay serves a block of collectors. It passes the writer's tokens on to them and joins what they answer
//! with the words from the relays before. Tokens hop one relay a cycle, words follow them. A collector owns the same
//! elements of every bus word it answers to (`owned`), so collectors whose elements differ share a bus word by wiring
//! alone; the others' words are joined by OR.
//!
//! Example: words of 8 elements, and 4 PEs that own 2 elements each: one relay wires the 4 answers to one word. A block
//! of 2 × 4 such PEs fills two words, which the relay joins by OR.
//!
//! In large arrays elements leave one after the other where that takes fewer LUTs: see [`super::turn`].
//!
//! Source: AutoSA, section 4.3 (L2 drain modules).

use super::bands;
use super::elements::{answer_forms, REACH};
pub use super::elements::{lanes, owned};
use super::memory::{in_luts, line, luts};
use super::turn::{self, Turn};
use crate::vsa::{OutputBank, Vsa};

/// Bus words that a relay joins, at most; with those of the two relays before it as many as a LUT has inputs.
const JOINED: usize = 4;

/// Registers from the token in a relay to the word behind it: the collectors' address and word, the relay's word.
const ANSWER: i64 = 3;
/// Elements leave one after the other where LUTs of memories and relays become fewer by this share and number, at least.
const SAVED: (f64, i64) = (0.25, 1000);
/// They make a run longer by this share of its waves at most.
const LONGER: f64 = 1.0 / 256.0;

/// An answer of a collector: the collector's hops from the corner where waves enter, the index in [`Relays::answers`].
pub type Source = ([i64; 2], usize);

/// The relays of an output group, a grid that begins where waves enter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relays {
    /// Collectors per relay along each axis; the last relays may have fewer.
    pub block: [i64; 2],
    pub extent: [i64; 2],
    /// Words that a relay joins, the most of all: bus words, or elements of its chains.
    pub joined: usize,
    /// Elements leave in chains, one after the other.
    pub turn: Option<Turn>,
    /// The answers of a collector, each with the banks that it joins: one, or all with the same cells of a row.
    pub answers: Vec<Vec<usize>>,
}

/// LUTs per bit that join this many words.
pub fn joining(words: i64) -> i64 {
    (words + 3) / 5
}

impl Relays {
    /// Elements of a bus word leave at once, or one after the other where that is worth it.
    pub fn new(vsa: &Vsa, o: usize) -> Relays {
        let (separate, joined) = answer_forms(&vsa.outputs[o]);
        let at_once = |answers| Relays::at_once(vsa, o, answers);
        let at_once = Relays::smaller(vsa, o, at_once(separate), joined.map(at_once));
        let turned = if vsa.collected_with(o).len() == 1 { Relays::in_turn(vsa, o) } else { None };
        turned.filter(|chains| chains.pays(vsa, o, &at_once)).unwrap_or(at_once)
    }

    /// Elements of a bus word leave at once, whatever else the array has: it is too small for the other way.
    pub fn leaves_at_once(vsa: &Vsa, o: usize) -> bool {
        let (answers, _) = answer_forms(&vsa.outputs[o]);
        Relays::at_once(vsa, o, answers).luts(vsa, o) < SAVED.1
    }

    /// Elements leave one after the other, if they can.
    pub fn in_turn(vsa: &Vsa, o: usize) -> Option<Relays> {
        let (separate, joined) = answer_forms(&vsa.outputs[o]);
        let in_turn = |answers: Vec<Vec<usize>>| {
            let (block, joined, turn) = turn::of(vsa, o, &answers)?;
            Some(Relays { joined, turn: Some(turn), ..Relays::of(block, vsa.outputs[o].extent(), answers) })
        };
        Some(Relays::smaller(vsa, o, in_turn(separate)?, joined.and_then(in_turn)))
    }

    /// `other` where it takes fewer LUTs. A relay joins a few bus words without another LUT, but each word takes all bits
    /// of the bus; so neither of the [`answer_forms`] is always the smaller one.
    fn smaller(vsa: &Vsa, o: usize, one: Relays, other: Option<Relays>) -> Relays {
        other.filter(|other| other.luts(vsa, o) < one.luts(vsa, o)).unwrap_or(one)
    }

    /// Fewer LUTs than `other`, and a run as good as equally long.
    fn pays(&self, vsa: &Vsa, o: usize, other: &Relays) -> bool {
        let (few, many) = (self.luts(vsa, o), other.luts(vsa, o));
        let (share, least) = SAVED;
        if many - few < least || ((many - few) as f64) < share * many as f64 {
            return false;
        }
        let emit = &vsa.outputs[o].emit;
        let tiles = vsa.counters[..vsa.tile_depth].iter().enumerate().filter(|(j, _)| emit.value(*j).is_none());
        let drains: i64 = tiles.map(|(_, counter)| counter.trip).product();
        (drains * self.steps()) as f64 <= LONGER * vsa.waves() as f64
    }

    /// LUTs of the collectors' memories and answers, and of what joins their words. A single word is registers, a deep
    /// memory block RAM.
    fn luts(&self, vsa: &Vsa, o: usize) -> i64 {
        let group = &vsa.outputs[o];
        let array = &vsa.arrays[group.array as usize];
        let bank = |b: &OutputBank| match b.bank.depth * self.steps() {
            words if words > 1 && in_luts(words) => {
                self.width(b, array.word.into()) * luts(words, array.ty.bits().into())
            }
            _ => 0,
        };
        let collectors: i64 = group.extent().iter().product();
        collectors * (group.banks.iter().map(bank).sum::<i64>() + self.answering(vsa, o)) + self.joins(vsa, o).0
    }

    /// LUTs of a collector that join what its banks answer.
    pub fn answering(&self, vsa: &Vsa, o: usize) -> i64 {
        let group = &vsa.outputs[o];
        let array = &vsa.arrays[group.array as usize];
        let bits = |b: usize| self.width(&group.banks[b], array.word.into()) * i64::from(array.ty.bits());
        self.answers.iter().map(|of| bits(of[0]) * joining(of.len() as i64)).sum()
    }

    /// LUTs and registers of what joins words.
    pub fn joins(&self, vsa: &Vsa, o: usize) -> (i64, i64) {
        let array = &vsa.arrays[vsa.outputs[o].array as usize];
        let (word, modules) = (8 * i64::from(array.bus_bytes()), self.extent[0] * self.extent[1]);
        let before = self.before().into_iter().filter(|joins| *joins).count();
        let relays = |bits: i64| (modules * bits * joining((self.joined + before) as i64), modules * bits);
        let Some(turn) = &self.turn else { return relays(word) };
        let chains = (turn.chains * turn.width) as i64 * 8 * i64::from(array.ty.bytes());
        let (relays, count, words) = (relays(chains), self.extent[turn.axis], turn.words as i64);
        if turn.steps == 1 {
            // Elements from relays that tokens reach earlier wait.
            let waits = (0..count).map(|k| line([count - 1 - k], chains, vsa.fabric));
            let (lut, ff) = waits.fold(relays, |(lut, ff), (l, f)| (lut + l, ff + f));
            return (lut + word * joining(words), ff + word);
        }
        // Each word has a gate, which is compared and delayed.
        let lut = word * joining(2 * words + 1) + 3 * words;
        (relays.0 + count * lut, relays.1 + count * (word + chains * (turn.steps - 1)))
    }

    /// Whether relays join the words of relays before them: those that come along axis 1, and those along axis 0.
    /// Elements in turn come along one axis.
    pub fn before(&self) -> [bool; 2] {
        match &self.turn {
            None => [self.extent[1] > 1, self.extent[0] > 1],
            Some(turn) => [false, self.extent[1 - turn.axis] > 1],
        }
    }

    /// Cycles in which a collector answers a token.
    pub fn steps(&self) -> i64 {
        self.turn.as_ref().map_or(1, |turn| turn.steps)
    }

    /// Elements with which a bank answers in a cycle.
    pub fn width(&self, bank: &OutputBank, word: i64) -> i64 {
        lanes(bank, word) / self.steps()
    }

    /// Uses the fewest relays; among equally few, the shortest way.
    fn at_once(vsa: &Vsa, o: usize, answers: Vec<Vec<usize>>) -> Relays {
        let extent = vsa.outputs[o].extent();
        let away = vsa.outputs[o].away(vsa);
        let side = |a: usize| {
            (1..=REACH.min(extent[a])).filter(move |block| bands::keeps(vsa, a, (away[a], extent[a]), *block))
        };
        let mut all: Vec<Relays> =
            side(0).flat_map(|i| side(1).map(move |j| Relays::of([i, j], extent, vec![]))).collect();
        all.sort_by_key(|r| (r.extent[0] * r.extent[1], r.extent[0] + r.extent[1]));
        let most = |r: &Relays, limit: usize| {
            let count = |at| r.count((vsa, o, &answers), at, limit);
            r.kinds(vsa, o).into_iter().try_fold(0, |most, at| Some(count(at)?.max(most)))
        };
        let fitting = all.into_iter().find_map(|r| Some(Relays { joined: most(&r, JOINED)?, ..r }));
        let chosen = fitting.unwrap_or_else(|| {
            let single = Relays::of([1, 1], extent, vec![]);
            Relays { joined: most(&single, usize::MAX).unwrap_or(0), ..single }
        });
        Relays { answers, ..chosen }
    }

    /// Relays that stand for all: others serve as many collectors, whose elements begin at the same places of a bus
    /// word.
    fn kinds(&self, vsa: &Vsa, o: usize) -> Vec<[i64; 2]> {
        let group = &vsa.outputs[o];
        let word = i64::from(vsa.arrays[group.array as usize].word);
        let kinds = |a: usize| {
            let whole = group.extent()[a] / self.block[a];
            // So many relays farther, elements begin at the same places again.
            let again = |&relays: &i64| group.banks.iter().all(|b| b.bank.coef[a] * self.block[a] * relays % word == 0);
            let period = (1..whole).find(again).unwrap_or(whole);
            (0..period).chain(whole..self.extent[a])
        };
        kinds(0).flat_map(|i| kinds(1).map(move |j| [i, j])).collect()
    }

    fn of(block: [i64; 2], extent: [i64; 2], answers: Vec<Vec<usize>>) -> Relays {
        Relays { block, extent: [0, 1].map(|a| (extent[a] + block[a] - 1) / block[a]), joined: 0, turn: None, answers }
    }

    /// The bus words that relay `at` joins: which collectors' elements stand side by side in each.
    pub fn words(&self, vsa: &Vsa, o: usize, at: [i64; 2]) -> Vec<Vec<Source>> {
        let mut words: Vec<Vec<Source>> = vec![];
        self.join((vsa, o, &self.answers), at, |word, source| {
            if word == words.len() {
                words.push(vec![]);
            }
            words[word].push(source);
            true
        });
        words
    }

    /// How many they are, unless more than `limit`.
    fn count(&self, of: (&Vsa, usize, &[Vec<usize>]), at: [i64; 2], limit: usize) -> Option<usize> {
        let mut count = 0;
        self.join(of, at, |word, _| {
            count = count.max(word + 1);
            count <= limit
        });
        Some(count).filter(|&n| n <= limit)
    }

    /// Puts every answer behind relay `at` into the first bus word in which its elements are free, as long as `put` goes
    /// on.
    fn join(
        &self,
        (vsa, o, answers): (&Vsa, usize, &[Vec<usize>]),
        at: [i64; 2],
        mut put: impl FnMut(usize, Source) -> bool,
    ) {
        let (group, extent) = (&vsa.outputs[o], vsa.outputs[o].extent());
        let word = i64::from(vsa.arrays[group.array as usize].word);
        let along = |a: usize| at[a] * self.block[a]..((at[a] + 1) * self.block[a]).min(extent[a]);
        let mut taken: Vec<u128> = vec![];
        for hops in along(0).flat_map(|i| along(1).map(move |j| [i, j])) {
            for (k, of) in answers.iter().enumerate() {
                let elements = owned(&group.banks[of[0]], word, group.pe(vsa, hops));
                let place = taken.iter().position(|t| t & elements == 0).unwrap_or(taken.len());
                if place == taken.len() {
                    taken.push(0);
                }
                taken[place] |= elements;
                if !put(place, (hops, k)) {
                    return;
                }
            }
        }
    }

    /// From a token at the first relay to the word that all collectors have added to, behind the last one. The first
    /// element comes in the cycle in which all of them would, and a turn has a register of its own.
    pub fn latency(&self) -> i64 {
        let turned = self.turn.as_ref().map_or(0, |turn| turn.steps);
        self.extent[0] + self.extent[1] - 1 + ANSWER + turned
    }
}
