//! `Collector` against the meaning of its group: each word of a drain has the values that the waves of the tile stored
//! in the cells of the collector, and zeros elsewhere.

use crate::module_support::layout::{add_output, ends, footprint_words, frame, local, shape, ties, FootprintWord};
use crate::module_support::*;
use array::contract::operand::travels;
use array::contract::relay::{lanes, owned, Relays};
use array::vsa::{OutputBank, OutputGroup, Vsa};
use std::collections::BTreeMap;
use templates::io::collector::{masks, row_form, wave_enables, Collector};

/// From a token to the cycle in which its word is on `word<b>`.
const TOKEN_TO_WORD: i64 = 2;

type Cells = BTreeMap<Vec<i64>, u64>;

struct Bench<'a> {
    collector: &'a Case,
    p: [i64; 2],
    script: Script,
    /// Per answer: the cycle from which there is none.
    answered: Vec<i64>,
}

/// The bank at `p` keeps the cell at local coordinates `y`; `word`: elements of a bus word.
fn owns(group: &OutputGroup, (b, word): (&OutputBank, i64), p: [i64; 2], y: &[i64]) -> bool {
    let at = |base: i64, coef: [i64; 2]| base + coef[0] * p[0] + coef[1] * p[1];
    let rows = b.bank.rows.iter().zip(&group.footprint.rows).zip(y);
    let mut rows = rows.map(|((k, dim), y)| (k, dim.modulus, *y - k.residue));
    let in_rows =
        rows.all(|(k, modulus, y)| y % modulus == 0 && (0..k.extent).contains(&(y / modulus - at(k.base, k.coef))));
    let within = y[y.len() - 1] - at(b.bank.base, b.bank.coef);
    if b.bank.stride == 0 {
        return in_rows && (0..b.elements).contains(&within);
    }
    let period = b.bank.stride * word;
    in_rows
        && (0..b.bank.words_per_row).contains(&within.div_euclid(period))
        && (0..b.elements).contains(&within.rem_euclid(period))
}

impl Bench<'_> {
    fn group(&self) -> &OutputGroup {
        &self.collector.vsa.outputs[self.collector.group]
    }

    /// The waves of one tile from cycle `t` on. Returns the cycle of the last one, and what they store.
    fn waves(&mut self, r: &mut Random, slot: i64, mut t: i64) -> (i64, Cells) {
        let v = &self.collector.vsa;
        let group = self.group().clone();
        let array = &v.arrays[group.array as usize];
        let (row, _) = row_form(&group, array.word as i64);
        let bubbles = r.pick(&[0, 30, 80]);
        let enabled = r.pick(&[100, 60, 20]);
        let mut cells = Cells::new();
        for _ in 0..r.range(1, 25) {
            while r.chance(bubbles) {
                t += 1;
            }
            let at: Vec<i64> = v
                .counters
                .iter()
                .enumerate()
                .map(|(j, c)| if j < v.tile_depth { 0 } else { r.range(0, c.trip - 1) })
                .collect();
            self.script.drive(t, "row", row.eval(&at, self.p));
            self.script.drive(t, "col", group.col.eval(&at, self.p));
            self.script.drive(t, "slot", slot);
            let shared: BTreeMap<_, bool> =
                wave_enables(v, &group).into_iter().map(|id| (id, r.chance(enabled))).collect();
            for (id, on) in &shared {
                self.script.drive(t, &format!("en{}", id.0), i64::from(*on));
            }
            for (k, port) in group.ports.iter().enumerate() {
                let value = r.next() << 32 ^ r.next();
                let on = match shared.get(&port.enable) {
                    Some(on) => *on,
                    None => {
                        let on = r.chance(enabled);
                        self.script.drive(t + 1, &format!("v{k}_en"), i64::from(on));
                        on
                    }
                };
                self.script.drive(t + 1, &format!("v{k}"), value as i64);
                if on {
                    cells.insert(local(&group.subscripts, &port.offset, &group.footprint, &at, self.p), value);
                }
            }
            t += 1;
        }
        (t - 1, cells)
    }

    /// The tokens of one drain from cycle `t` on; the cycle of the last one.
    fn drain(&mut self, r: &mut Random, slot: i64, mut t: i64, cells: &Cells) -> i64 {
        let group = self.group().clone();
        let word = self.collector.vsa.arrays[group.array as usize].word as i64;
        let gaps = r.pick(&[0, 20, 70]);
        let ends = ends(r, &group.footprint, &self.collector.module.buffer.shape.early);
        for (n, w) in footprint_words(&group.footprint, word, &ends).iter().enumerate() {
            while r.chance(gaps) {
                self.answer(t, None, cells);
                t += 1;
            }
            self.script.drive(t, "dr_valid", 1);
            self.script.drive(t, "dr_first", i64::from(n == 0));
            self.script.drive(t, "dr_slot", slot);
            self.script.drive(t, "dr_w", w.word);
            for (d, (u, residue)) in w.digits.iter().enumerate() {
                self.script.drive(t, &format!("dr_u{d}"), *u);
                self.script.drive(t, &format!("dr_r{d}"), *residue);
            }
            self.answer(t, Some(w), cells);
            t += 1;
        }
        t - 1
    }

    /// Expected answers to the token of cycle `token`, or to none.
    fn answer(&mut self, token: i64, w: Option<&FootprintWord>, cells: &Cells) {
        let group = self.group().clone();
        let array = &self.collector.vsa.arrays[group.array as usize];
        let (bits, word) = (array.ty.bytes() as usize * 8, i64::from(array.word));
        let steps = self.collector.module.steps;
        for (k, banks) in self.collector.module.answers.iter().enumerate() {
            let first = &group.banks[banks[0]];
            let (count, width) = (lanes(first, word), lanes(first, word) / steps);
            let limbs = (width as usize * bits).div_ceil(64);
            let mut parts = vec![(vec![0; limbs], vec![0; limbs]); steps as usize];
            let mut owner = false;
            for e in (0..word).filter(|e| owned(first, word, self.p) >> e & 1 == 1) {
                let lane = (e % count) as usize;
                let (wanted, mask) = &mut parts[lane / width as usize];
                let place = lane % width as usize * bits;
                let cell = w.map(|w| [&w.at[..w.at.len() - 1], &[w.at[w.at.len() - 1] + e]].concat());
                let is_owner = |y: &Vec<i64>| banks.iter().any(|b| owns(&group, (&group.banks[*b], word), self.p, y));
                let kept = cell.filter(is_owner).map(|y| cells.get(&y));
                owner |= kept.is_some();
                put(wanted, place, bits, kept.flatten().copied().unwrap_or(0));
                put(mask, place, bits, if kept == Some(None) { 0 } else { !0 });
            }
            let first = token + TOKEN_TO_WORD;
            if !owner && first < self.answered[k] {
                continue;
            }
            // Without an owner, nothing is answered in one cycle; with one, the parts follow each other.
            for (n, (wanted, mask)) in parts.into_iter().take(if owner { steps as usize } else { 1 }).enumerate() {
                let context = format!("word at {:?}, token of cycle {token}, part {n}", w.map(|w| &w.at));
                self.answered[k] = first + n as i64 + 1;
                self.script.expect_masked(first + n as i64, &format!("word{k}"), wanted, mask, context);
            }
        }
    }
}

/// A collector and the group it is for.
struct Case {
    vsa: Vsa,
    group: usize,
    module: Collector,
}

fn collector(r: &mut Random) -> Case {
    let mut v: Vsa = frame(r);
    (0..r.range(1, 2)).for_each(|_| add_output(r, &mut v));
    let group = v.outputs.len() - 1;
    case(r, v, group, Relays::new)
}

fn case(r: &mut Random, vsa: Vsa, group: usize, relays: impl Fn(&Vsa, usize) -> Relays) -> Case {
    let shape = shape(r, &vsa.outputs[group].footprint);
    Case { module: Collector::new(&vsa, group, shape, &relays(&vsa, group)), vsa, group }
}

/// A collector whose elements leave one after the other.
fn in_turn(r: &mut Random) -> Case {
    loop {
        let mut v: Vsa = frame(r);
        add_output(r, &mut v);
        if let Some(relays) = Relays::in_turn(&v, 0) {
            return case(r, v, 0, |_, _| relays.clone());
        }
    }
}

fn at_place(r: &mut Random, collector: &Case, p: [i64; 2]) {
    let v = &collector.vsa;
    let group = &v.outputs[collector.group];
    let word = v.arrays[group.array as usize].word as i64;
    let mut b = Bench { collector, p, script: Script::default(), answered: vec![0; collector.module.answers.len()] };
    let mut sim = simulate(collector.module.clone(), r);
    b.script.quiet("dr_valid", 0);
    for k in (0..group.ports.len()).filter(|k| !travels(v, group.ports[*k].enable)) {
        b.script.quiet(&format!("v{k}_en"), 0);
    }
    for id in wave_enables(v, group) {
        b.script.quiet(&format!("en{}", id.0), 0);
    }
    for (k, bank) in group.banks.iter().enumerate() {
        for (port, value) in ties(k, &bank.bank, word, p) {
            b.script.quiet(&port, value);
        }
        b.script.quiet_wide(&format!("mask{k}"), mask(bank, word, p));
    }
    let inputs: Vec<String> = sim.ports().filter(|x| x.2).map(|x| x.0.to_string()).collect();
    for input in inputs.iter().filter(|i| i.starts_with("en") || ["row", "col", "slot"].contains(&i.as_str())) {
        for a in (0..2).filter(|&a| group.extent()[a] > 1) {
            b.script.repeat(input, &pass_port(v, input, a), v.schedule.start[a].hop_delay());
        }
    }
    // Per buffer half: cycle from which it may be filled again.
    let mut free = [5; 2];
    let (mut filled, mut drained) = (0, 0);
    for n in 0..5 {
        let slot = if group.slots > 1 { n % 2 } else { 0 };
        let start = free[slot as usize].max(filled + 1) + r.pick(&[0, 0, 1, 9]);
        let (last, cells) = b.waves(r, slot, start);
        filled = last;
        let first = (filled + 2).max(drained + 1) + r.pick(&[0, 0, 5]);
        drained = b.drain(r, slot, first, &cells);
        free[slot as usize] = drained + TOKEN_TO_WORD + collector.module.steps - 1;
    }
    assert!(b.script.expectations() > 0);
    b.script.play(&mut sim, r);
}

/// Lanes of each word of the row, first word lowest.
fn mask(bank: &OutputBank, word: i64, p: [i64; 2]) -> Vec<u64> {
    let all = masks(bank, word, p).concat();
    let mut mask = vec![0; all.len() / 64 + 1];
    all.iter().enumerate().for_each(|(at, one)| put(&mut mask, at, 1, u64::from(*one)));
    mask
}

#[test]
fn every_word_gets_what_was_stored() {
    every_word(300, collector);
}

#[test]
fn elements_follow_each_other() {
    every_word(200, in_turn);
}

fn every_word(cases: u64, collector: impl Fn(&mut Random) -> Case + std::panic::RefUnwindSafe) {
    for_cases(cases, |r| {
        let collector = collector(r);
        let group = &collector.vsa.outputs[collector.group];
        for _ in 0..2 {
            let p = [0, 1].map(|a| r.range(group.first[a], group.last[a]));
            at_place(r, &collector, p);
        }
    });
}
