//! `Feeder` against the meaning of its group: in every wave, each port has the cell of the footprint that its
//! subscripts name, with any gaps in the load stream and any bubbles between waves.

use crate::module_support::layout::{add_input, ends, footprint_words, frame, local, shape, ties};
use crate::module_support::*;
use array::contract::timing::{FEED_LATENCY, LOADED_TO_LAUNCH};
use array::vsa::{NodeId, Vsa};
use std::collections::BTreeMap;
use templates::io::feeder::{input_nodes, loads_in_halves, phase, Feeder};
use templates::stem;

struct Bench<'a> {
    feeder: &'a Case,
    p: [i64; 2],
    script: Script,
    double: bool,
}

/// Bits by cell of the footprint.
type Cells = BTreeMap<Vec<i64>, u64>;

impl Bench<'_> {
    /// One load from cycle `t` on. Returns the cycle of its last word.
    fn load(&mut self, r: &mut Random, slot: i64, mut t: i64) -> (i64, Cells) {
        let group = &self.feeder.vsa.inputs[self.feeder.group];
        let array = &self.feeder.vsa.arrays[group.array as usize];
        let (word, bytes) = (array.word as i64, array.ty.bytes() as usize);
        let gaps = r.pick(&[0, 20, 70]);
        let mut cells = Cells::new();
        let words =
            footprint_words(&group.footprint, word, &ends(r, &group.footprint, &self.feeder.module.buffer.shape.early));
        for (n, w) in words.iter().enumerate() {
            while r.chance(gaps) {
                t += 1;
            }
            let mut data = wide(r, (word as usize * bytes * 8) as u32);
            for e in 0..word {
                let mut at = w.at.clone();
                *at.last_mut().expect("a coordinate") += e;
                let value = r.next() << 32 ^ r.next();
                put(&mut data, e as usize * bytes * 8, bytes * 8, value);
                cells.insert(at, bits(&data, e as usize * bytes * 8, array.ty.bits() as usize));
            }
            self.script.drive(t, "ld_valid", 1);
            self.script.drive(t, "ld_first", i64::from(n == 0));
            self.script.drive(t, "ld_slot", slot);
            self.script.drive(t, "ld_w", w.word);
            for b in 0..group.banks.len() {
                let Some(lanes) = self.feeder.module.lanes(b, self.p) else { continue };
                let mut picked = wide(r, lanes.len() as u32 * array.ty.bits());
                for (k, e) in lanes.iter().enumerate() {
                    let value = bits(&data, *e as usize * bytes * 8, array.ty.bits() as usize);
                    put(&mut picked, k * array.ty.bits() as usize, array.ty.bits() as usize, value);
                }
                self.script.drive_wide(t + 1, &format!("pick{b}"), picked);
            }
            self.script.drive_wide(t, "ld_data", data);
            for (d, (u, residue)) in w.digits.iter().enumerate() {
                self.script.drive(t, &format!("ld_u{d}"), *u);
                self.script.drive(t, &format!("ld_r{d}"), *residue);
            }
            t += 1;
        }
        (t - 1, cells)
    }

    /// A few waves that read a load, from cycle `t` on. Returns the cycle of the last one.
    fn waves(&mut self, r: &mut Random, slot: i64, mut t: i64, cells: &Cells) -> i64 {
        let v = &self.feeder.vsa;
        let group = &v.inputs[self.feeder.group];
        let bubbles = r.pick(&[0, 30, 80]);
        let first = phase(&self.feeder.nodes) + FEED_LATENCY;
        for _ in 0..r.range(1, 25) {
            while r.chance(bubbles) {
                t += 1;
            }
            // Tile counters are 0: footprint and subscripts move alike.
            let at: Vec<i64> = v
                .counters
                .iter()
                .enumerate()
                .map(|(j, c)| if j < v.tile_depth { 0 } else { r.range(0, c.trip - 1) })
                .collect();
            let asked =
                |port: u32| local(&group.subscripts, &group.ports[port as usize], &group.footprint, &at, self.p);
            // No wave reads rows that are not in the load.
            let last = cells.keys().next_back().expect("a load has words");
            if self.feeder.nodes.iter().any(|n| asked(n.1).iter().zip(last).rev().skip(1).any(|(y, last)| y > last)) {
                continue;
            }
            self.script.drive(t, "row", group.row.eval(&at, self.p));
            self.script.drive(t, "col", group.col.eval(&at, self.p));
            self.script.drive(t, "slot", slot);
            for (id, port, ready) in &self.feeder.nodes {
                let mut cell = asked(*port);
                // Parts of the origin that only tile counters move are equal on both sides.
                let value = *cells.get(&cell).unwrap_or_else(|| panic!("cell {cell:?} is outside of the footprint"));
                cell.push(*port as i64);
                self.script.expect(
                    t + FEED_LATENCY + ready - first,
                    &stem(v, *id),
                    value,
                    format!("cell and port {cell:?}, wave of cycle {t}"),
                );
            }
            t += 1;
        }
        t - 1
    }
}

/// A feeder and the group it is for.
struct Case {
    vsa: Vsa,
    group: usize,
    nodes: Vec<(NodeId, u32, i64)>,
    module: Feeder,
}

fn feeder(r: &mut Random) -> Case {
    let mut v: Vsa = frame(r);
    // Another group must not matter.
    (0..r.range(1, 2)).for_each(|_| add_input(r, &mut v));
    let group = v.inputs.len() - 1;
    let shape = shape(r, &v.inputs[group].footprint);
    let mut live: Vec<bool> = v.nodes.iter().map(|_| r.chance(80)).collect();
    *live.last_mut().expect("a port") = true;
    let nodes = input_nodes(&v, &live, group);
    Case { module: Feeder::new(&v, group, shape, &nodes), vsa: v, group, nodes }
}

fn at_place(r: &mut Random, feeder: &Case, p: [i64; 2]) {
    let (v, group) = (&feeder.vsa, &feeder.vsa.inputs[feeder.group]);
    let mut b = Bench { feeder, p, script: Script::default(), double: loads_in_halves(v, feeder.group) };
    let mut sim = simulate(feeder.module.clone(), r);
    b.script.quiet("ld_valid", 0);
    for (k, bank) in group.banks.iter().enumerate() {
        for (port, value) in ties(k, bank, v.arrays[group.array as usize].word as i64, p) {
            b.script.quiet(&port, value);
        }
    }
    let outputs: Vec<String> = sim.ports().filter(|x| !x.2).map(|x| x.0.to_string()).collect();
    let inputs: Vec<String> = sim.ports().filter(|x| x.2).map(|x| x.0.to_string()).collect();
    for input in inputs.iter().filter(|i| i.starts_with("ld_")) {
        b.script.repeat(input, &format!("{input}_out"), 1);
    }
    for input in inputs.iter().filter(|i| ["row", "col", "slot"].contains(&i.as_str())) {
        for a in (0..2).filter(|&a| v.inputs[feeder.group].feeders()[a] > 1) {
            b.script.repeat(input, &pass_port(v, input, a), v.schedule.start[a].hop_delay());
        }
    }
    // Per buffer half: cycle from which it may be overwritten.
    let mut free = [3; 2];
    let (mut loaded, mut used) = (0, 0);
    let loads = if b.double { 5 } else { 1 };
    for n in 0..loads {
        let slot = if b.double { n % 2 } else { 0 };
        let start = free[slot as usize].max(loaded + 1) + r.pick(&[0, 0, 1, 9]);
        let (last, cells) = b.load(r, slot, start);
        loaded = last;
        let first = (loaded + LOADED_TO_LAUNCH).max(used + 1) + r.pick(&[0, 0, 5]);
        used = b.waves(r, slot, first, &cells);
        let last = feeder.nodes.iter().map(|n| n.2).max().expect("a node");
        free[slot as usize] = used + last - phase(&feeder.nodes);
    }
    assert!(outputs.iter().filter(|o| o.starts_with('a')).count() >= feeder.nodes.len());
    // A load may end before the cells of any wave.
    assert!(b.script.expectations() > 0 || group.footprint.rows.iter().any(|row| row.modulus * row.extent > 1));
    b.script.play(&mut sim, r);
}

#[test]
fn every_wave_gets_its_cells() {
    for_cases(300, |r| {
        let feeder = feeder(r);
        for _ in 0..2 {
            let group = &feeder.vsa.inputs[feeder.group];
            let p = [0, 1].map(|a| if group.forward[a] { 0 } else { r.range(group.first[a], group.last[a]) });
            at_place(r, &feeder, p);
        }
    });
}
