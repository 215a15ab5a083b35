//! When the engines may fill and empty the buffers beside the PEs, while waves still read and fill them.
//!
//! **Problem.** A tile waits for a free buffer. If a drain began behind the last value of a tile, a buffer of results were
//! free behind the last answer, and the next load came behind the last read, each tile would take the latency of the PEs
//! and that of the relays on top of its waves and its words.
//!
//! **Terms.** A drain sends a *token* for each word of the footprint, in order, one a cycle at most; collectors answer
//! (`templates::io::collector`). A load sends the words themselves, likewise. An *address* is a word's place in the buffer
//! of a PE. The words that a buffer accepts have consecutive addresses in this order ([`crate::vsa::Bank`]), so an address
//! says how many words come before it.
//!
//! **Method.** Engines begin early where the last waves are far behind in the order of the words. The wave `m` waves
//! before the last one comes `m` intervals before it. If `w` words come before its own, the first word may come `w + m *
//! interval` cycles before the last wave needs its own; the least of these is the *head start* ([`head_start`]). At a PE
//! whose first word is word `n` of the footprint it is `n` cycles more; a PE farther away needs its words later. The PE that
//! needs them latest counts. A buffer of results is given back with the last token, if the first value of the next tile
//! comes behind it ([`drained_delay`]).
//!
//! **Example.** A PE stores a row of 64 elements in words of 4, one element a wave. The last 4 waves write word 15, those
//! before them word 14:
//!
//! ```text
//! wave     63  62  61  60  59  …
//! before    0   1   2   3   4
//! words    15  15  15  15  14
//! sum      15  16  17  18  18      the drain begins 15 cycles before the last value
//! ```
//!
//! **Invariants.** A drain does not begin before the last wave could have reached the last PE that stores, at a cycle a
//! hop, and a load not before it can have read anything. So the bounds of the search (`cost::bound`) need not know of
//! head starts. Groups that share buffers while runs overlap have the same delays, so that no two of their pulses come
//! in one cycle.

use super::relay::Relays;
use super::timing::{collect_time, drain_latency, FEED_LATENCY};
use super::walk::has_pauses;
use crate::vsa::{Bank, Footprint, InputGroup, Node, Op, OutputGroup, Vsa, When};
use uniform::affine::Form;
use uniform::sizes::Formula;

/// Registers from the last request of a drain to the memory of a collector beside the first relay, beyond those from a
/// `drained` pulse to the launch of a wave.
const LAST_READ: i64 = 1;

/// From the launch of the last wave that uses a load of input group `g` to its `release` pulse. From then on the next
/// load may enter: its words travel one feeder per cycle, and each reaches a feeder after the last read of its address
/// there.
pub fn release_delay(vsa: &Vsa, g: usize) -> i64 {
    let all = if vsa.overlap { vsa.fed_with(vsa.feeders_of(g)) } else { vec![g] };
    let alone = |g: usize| {
        let (group, read) = (&vsa.inputs[g], last_read(vsa, g));
        let places = Places::loaded(vsa, group);
        let latest =
            latest(group.readers(), |hops| read + behind(vsa, group, hops) - places.first(group.pe(vsa, hops)));
        (latest - head_start(vsa, &places, latest - FEED_LATENCY)).max(FEED_LATENCY)
    };
    all.into_iter().map(alone).max().unwrap_or(0)
}

/// From the launch of a wave until the words that it reads may be replaced, whichever they are.
pub fn read_delay(vsa: &Vsa, g: usize) -> i64 {
    let group = &vsa.inputs[g];
    last_read(vsa, g) + latest(group.readers(), |hops| behind(vsa, group, hops))
}

/// Cycles by which a wave comes later to a reader than to the first one, beyond those that the words take. Registers
/// between PEs delay both alike.
fn behind(vsa: &Vsa, group: &InputGroup, hops: [i64; 2]) -> i64 {
    let away = group.away(vsa);
    vsa.schedule.inside([0, 1].map(|a| away[a] + hops[a])) - hops[0] - hops[1]
}

fn last_read(vsa: &Vsa, g: usize) -> i64 {
    let owner = vsa.feeders_of(g);
    let of_group = |n: &&Node| matches!(n.op, Op::Input { group, .. } if group as usize == owner);
    let ready = vsa.nodes.iter().zip(&vsa.schedule.ready).filter(|(n, _)| of_group(n)).map(|(_, r)| *r).max();
    ready.unwrap_or(FEED_LATENCY).max(FEED_LATENCY)
}

/// From the launch of the last wave of a storing tile to the `emitted` pulse of output group `o`. A token that leaves
/// the writer from then on, and those that follow it, find their values in the collectors.
pub fn emitted_delay(vsa: &Vsa, o: usize) -> i64 {
    let alone = |o: usize| {
        let (group, relays) = (&vsa.outputs[o], Relays::new(vsa, o));
        let (places, away, extent) = (Places::stored(vsa, group), group.away(vsa), group.extent());
        let taken = collect_time(vsa, o);
        let stored = |hops: [i64; 2]| reached(vsa, group, &relays, hops) + taken;
        let latest = latest(extent, |hops| stored(hops) - places.first(group.pe(vsa, hops)));
        let crossed = (0..2).map(|a| away[a] + extent[a] - 1).sum::<i64>().min(stored(extent.map(|n| n - 1)));
        (latest - head_start(vsa, &places, latest - crossed)).max(crossed)
    };
    collected_with(vsa, o).into_iter().map(alone).max().unwrap_or(0)
}

/// From the launch of a wave of output group `o` until a token that leaves the writer finds its values, whichever they
/// are.
pub fn filled_delay(vsa: &Vsa, o: usize) -> i64 {
    let (group, relays) = (&vsa.outputs[o], Relays::new(vsa, o));
    reached(vsa, group, &relays, group.extent().map(|n| n - 1)) + collect_time(vsa, o)
}

/// Cycles by which a wave reaches the PE this many hops from the first one that stores later than a token that leaves the
/// writer with its launch, apart from that token's way to the first relay. Registers between PEs delay both alike.
fn reached(vsa: &Vsa, group: &OutputGroup, relays: &Relays, hops: [i64; 2]) -> i64 {
    let away = group.away(vsa);
    let start = vsa.schedule.inside([0, 1].map(|a| away[a] + hops[a]));
    start - hops[0] / relays.block[0] - hops[1] / relays.block[1]
}

/// From the last token of a drain of output group `o`, in whose cycle the writer gives its pulse, until it is sure that
/// no value of the next tile comes before the word of the token is read.
pub fn drained_delay(vsa: &Vsa, o: usize) -> i64 {
    let alone = |o: usize| {
        let (group, relays) = (&vsa.outputs[o], Relays::new(vsa, o));
        let away = group.away(vsa);
        let stays = |a: usize, hops: i64| hops / relays.block[a] - vsa.schedule.start[a].inside(away[a] + hops);
        let along = |a: usize| (0..group.extent()[a]).map(|hops| stays(a, hops)).max().unwrap_or(0);
        let answered = LAST_READ + relays.turn.as_ref().map_or(0, |turn| turn.steps);
        (along(0) + along(1) + answered - collect_time(vsa, o)).max(0)
    };
    collected_with(vsa, o).into_iter().map(alone).max().unwrap_or(0)
}

/// From the launch of the last wave until it has read its words and nothing of the run is on its way to a DMA engine, so
/// that the next run may start. `None` if the run ends later, with a store behind the last wave.
pub fn swept(vsa: &Vsa) -> Option<i64> {
    let read = (0..vsa.inputs.len()).map(|g| read_delay(vsa, g)).max().unwrap_or(0);
    // The last tile: in its phase the loops may have fewer iterations than in others.
    let whole: Vec<i64> = vsa.counters[..vsa.tile_depth].iter().map(|c| c.trip - 1).collect();
    let end: Vec<i64> = vsa.trips_at(&whole).into_iter().take(vsa.tile_depth).map(|trip| trip - 1).collect();
    let behind = |o: usize| {
        vsa.outputs[o].emit.holds(&end, vsa.case_at(&end))
            && filled_delay(vsa, o) + drain_latency(vsa, vsa.port_of(vsa.outputs[o].array)) >= read
    };
    let stores = vsa.sizes.list.is_empty() && (0..vsa.outputs.len()).any(behind);
    (!stores).then_some(read + 1)
}

/// The groups whose pulses are in order only if all have the same delay.
fn collected_with(vsa: &Vsa, o: usize) -> Vec<usize> {
    if vsa.overlap {
        vsa.collected_with(vsa.collectors_of(o))
    } else {
        vec![o]
    }
}

/// The latest of the PEs of a box, by hops.
fn latest(extent: [i64; 2], of: impl Fn([i64; 2]) -> i64) -> i64 {
    (0..extent[0]).flat_map(|i| (0..extent[1]).map(move |j| [i, j])).map(of).max().unwrap_or(0)
}

/// Where the waves of a group read or store.
struct Places<'a> {
    when: &'a When,
    footprint: &'a Footprint,
    banks: Vec<&'a Bank>,
    row: &'a Form,
    col: &'a Form,
    word: i64,
    /// Counters outside of a tile.
    outer: usize,
    /// No sizes of run time say how many rows of the footprint are walked.
    whole: bool,
}

impl<'a> Places<'a> {
    fn loaded(vsa: &Vsa, g: &'a InputGroup) -> Places<'a> {
        Places::new(vsa, (g.array, &g.used, &g.footprint), g.banks.iter().collect(), [&g.row, &g.col])
    }

    fn stored(vsa: &Vsa, g: &'a OutputGroup) -> Places<'a> {
        let banks = g.banks.iter().map(|of| &of.bank).collect();
        Places::new(vsa, (g.array, &g.emit, &g.footprint), banks, [&g.row, &g.col])
    }

    fn new(
        vsa: &Vsa,
        (array, when, footprint): (u32, &'a When, &'a Footprint),
        banks: Vec<&'a Bank>,
        [row, col]: [&'a Form; 2],
    ) -> Places<'a> {
        let word = vsa.arrays[array as usize].word.into();
        // The number of the function of a merged array is a size.
        let whole = vsa.sizes.list.len() == usize::from(!vsa.functions.is_empty());
        Places { when, footprint, banks, row, col, word, outer: vsa.tile_depth, whole }
    }

    /// Words from the first one of a PE to that of a wave there, at least.
    fn behind_first(&self, wave: &[i64]) -> i64 {
        let at = |form: &Form| {
            let inner = form.counters.iter().skip(self.outer).zip(wave);
            form.constant + inner.map(|(c, v)| c * v).sum::<i64>()
        };
        let address = (at(self.row) + at(self.col).div_euclid(self.word)).max(0);
        if !self.whole {
            return address;
        }
        // The digits of the address say how many rows and words come before.
        let words = |bank: &&Bank| {
            let in_row = bank.words_per_row.max(1);
            let (mut rest, word) = (address / in_row, address % in_row);
            let (mut rows, mut apart) = (0, 1);
            for (dim, of) in self.footprint.rows.iter().zip(&bank.rows).rev() {
                rows += rest % of.extent.max(1) * dim.modulus * apart;
                rest /= of.extent.max(1);
                apart *= dim.modulus * dim.extent;
            }
            rows * self.footprint.words + word * bank.stride.max(1)
        };
        self.banks.iter().map(words).min().unwrap_or(0)
    }

    /// Words of the footprint in front of the first one of the PE at `p`, at least.
    fn first(&self, p: [i64; 2]) -> i64 {
        if !self.whole {
            return 0;
        }
        let at = |base: i64, coef: [i64; 2]| (base + coef[0] * p[0] + coef[1] * p[1]).max(0);
        let of = |bank: &&Bank| {
            let rows = bank.rows.iter().zip(&self.footprint.rows);
            let row = rows.fold(0, |row, (bank, dim)| {
                row * dim.modulus * dim.extent + at(bank.base, bank.coef) * dim.modulus + bank.residue
            });
            row * self.footprint.words + at(bank.base, bank.coef) / self.word
        };
        self.banks.iter().map(of).min().unwrap_or(0)
    }
}

/// Cycles from the first word of a transfer until the last wave of a tile needs its own, at least: `most`, or fewer.
fn head_start(vsa: &Vsa, places: &Places, most: i64) -> i64 {
    if most <= 0 || vsa.cased() > vsa.tile_depth {
        return 0;
    }
    let loops = vsa.loops();
    let number = if loops.has_cases() { vsa.cases.len() } else { 0 };
    let between = |function: Option<usize>| match function {
        _ if number == 0 => true,
        Some(f) => has_pauses(loops, f),
        None => loops.leaves_out(0..vsa.cased(), &(0..number).collect()),
    };
    let happens = |case: Option<usize>, function: Option<usize>| match (case, function) {
        (Some(k), Some(f)) => vsa.cases[k][0].contains(f as i64),
        (Some(_), None) => true,
        (None, _) => between(function),
    };
    let cases = (0..number).map(Some).chain([None]).filter(|case| places.when.is_in_case(*case));
    let runs = places.when.runs();
    let all = cases.flat_map(|case| runs.iter().map(move |function| (case, *function)));
    let starts = all.filter(|(case, function)| happens(*case, *function)).map(|(case, function)| {
        let last = |j: usize| match function.map_or_else(|| vsa.last(j, case), |f| vsa.last(j, case).in_function(f)) {
            Formula::Const(last) => Some(last),
            // Where sizes say how far a loop goes, any wave may be the last one.
            _ => None,
        };
        let last: Option<Vec<i64>> = (vsa.tile_depth..vsa.counters.len()).map(last).collect();
        last.map_or(0, |last| head_start_before(vsa, places, &last, most))
    });
    starts.min().unwrap_or(0)
}

/// The head start in tiles whose last wave is this one.
fn head_start_before(vsa: &Vsa, places: &Places, last: &[i64], most: i64) -> i64 {
    let (mut wave, mut start, mut before) = (last.to_vec(), most, 0);
    while before < start {
        start = start.min(before + places.behind_first(&wave));
        before += vsa.schedule.interval;
        match wave.iter().rposition(|v| *v > 0) {
            Some(j) => {
                wave[j] -= 1;
                wave[j + 1..].copy_from_slice(&last[j + 1..]);
            }
            // Waves of the tile before may need any word.
            None => return start.min(before),
        }
    }
    start
}
