//! When engines may fill and empty buffers: every cell of every wave, one by one, against `array::contract::handover`.

use crate::arrays::{board, design};
use array::contract::handover::{drained_delay, emitted_delay, filled_delay, read_delay, release_delay};
use array::contract::relay::Relays;
use array::contract::timing::{collect_time, FEED_LATENCY};
use array::vsa::{Footprint, Vsa};
use uniform::affine::{step, Form};

/// Which word of the footprint the element is in that a wave asks for; `None` if the footprint lacks it.
fn word_of(footprint: &Footprint, subscripts: &[i64], tile: &[i64], word: i64) -> Option<i64> {
    let origin = footprint.origin.iter().map(|form: &Form| form.eval(tile, [0, 0]));
    let local: Vec<i64> = subscripts.iter().zip(origin).map(|(at, from)| at - from).collect();
    let inside = local.iter().enumerate().all(|(d, at)| (0..footprint.extent(d)).contains(at));
    let row = local[..local.len() - 1].iter().enumerate().fold(0, |row, (d, at)| row * footprint.extent(d) + at);
    inside.then(|| row * footprint.words + local[local.len() - 1] / word)
}

/// The waves of a tile, the last one first.
fn waves(vsa: &Vsa) -> Vec<Vec<i64>> {
    let trips: Vec<i64> = vsa.counters.iter().map(|c| c.trip).collect();
    let mut wave: Vec<i64> = trips.iter().map(|trip| trip - 1).collect();
    let (_, inner) = wave.split_at_mut(vsa.tile_depth);
    inner.fill(0);
    let mut all = vec![wave.clone()];
    while step(&mut wave[vsa.tile_depth..], trips[vsa.tile_depth..].iter().copied()).is_some() {
        all.push(wave.clone());
    }
    all.reverse();
    all
}

fn hops(extent: [i64; 2]) -> impl Iterator<Item = [i64; 2]> {
    (0..extent[0]).flat_map(move |i| (0..extent[1]).map(move |j| [i, j]))
}

/// The cycles from the launch of the last wave to the first word of a transfer, so that no word comes too early for the
/// one wave or too late for the other. Returns, per output group, how many cycles later than that drains begin.
pub fn check(vsa: &Vsa) -> Vec<i64> {
    let waves = waves(vsa);
    let word = |array: u32| i64::from(vsa.arrays[array as usize].word);
    let add = |all: &[i64], more: &[i64]| all.iter().zip(more).map(|(a, b)| a + b).collect::<Vec<i64>>();
    for (g, group) in vsa.inputs.iter().enumerate() {
        let (away, delay) = (group.away(vsa), release_delay(vsa, g));
        assert!((FEED_LATENCY..=read_delay(vsa, g)).contains(&delay), "input {g}: {delay}");
        // What a read at the first PE waits for behind the launch.
        let read = read_delay(vsa, g)
            - hops(group.readers()).map(|k| vsa.schedule.inside(add2(away, k)) - k[0] - k[1]).max().expect("a PE");
        for (m, wave) in waves.iter().enumerate() {
            for k in hops(group.readers()) {
                let at: Vec<i64> = group.subscripts.iter().map(|f| f.eval(wave, group.pe(vsa, k))).collect();
                let reads = read + vsa.schedule.inside(add2(away, k)) - k[0] - k[1];
                for port in &group.ports {
                    let Some(index) = word_of(&group.footprint, &add(&at, port), wave, word(group.array)) else {
                        continue;
                    };
                    let from = reads - m as i64 * vsa.schedule.interval - index;
                    assert!(
                        delay >= from,
                        "{}: input {g}, {k:?}, {m} waves before the last: {delay}, {from}",
                        vsa.name
                    );
                }
            }
        }
    }
    let mut later = vec![];
    for (o, group) in vsa.outputs.iter().enumerate() {
        let (away, relays, delay) = (group.away(vsa), Relays::new(vsa, o), emitted_delay(vsa, o));
        assert!((0..=filled_delay(vsa, o)).contains(&delay), "output {o}: {delay}");
        let mut latest = i64::MIN;
        for k in hops(group.extent()) {
            let passed = k[0] / relays.block[0] + k[1] / relays.block[1];
            let start = vsa.schedule.inside(add2(away, k));
            for (m, wave) in waves.iter().enumerate() {
                let at: Vec<i64> = group.subscripts.iter().map(|f| f.eval(wave, group.pe(vsa, k))).collect();
                for port in &group.ports {
                    let Some(index) = word_of(&group.footprint, &add(&at, &port.offset), wave, word(group.array))
                    else {
                        continue;
                    };
                    latest =
                        latest.max(start - passed + collect_time(vsa, o) - m as i64 * vsa.schedule.interval - index);
                }
            }
            // The last token, two cycles before the launch of the next tile, is at the memory three cycles behind the
            // writer and its relays; the value comes behind that.
            let turn = relays.turn.as_ref().map_or(0, |turn| turn.steps);
            assert!(drained_delay(vsa, o) + 2 + start + collect_time(vsa, o) >= 3 + passed + turn, "output {o}");
        }
        assert!(delay >= latest, "{}: output {o}: {delay}, {latest}", vsa.name);
        let crossed = (0..2).map(|a| away[a] + group.extent()[a] - 1).sum::<i64>();
        later.push(delay - latest.max(crossed));
    }
    later
}

fn add2(a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

/// Rows of 64 elements, a PE each: the drain of the first row ends long before the last PE stores.
#[test]
fn a_drain_begins_as_early_as_it_may() {
    let text = "void f(short A[16][64], const short B[16][64]) {\n#pragma scop\nfor (int i = 0; i < 16; i++)\n\
                for (int j = 0; j < 64; j++)\nA[i][j] = A[i][j] * 3 + B[i][j];\n#pragma endscop\n}\n";
    let (scop, _) = frontend::parse_text("f.c", text, &Default::default()).unwrap_or_else(|_| panic!("it parses"));
    for (space, tile) in [(["i"], [("i", 4)]), (["j"], [("j", 16)])] {
        let spec = design(&space, &tile, &[], &[]);
        let vsa = search::compile(&scop, &spec, &board()).expect("an array").vsa;
        assert_eq!(check(&vsa), [0], "{space:?}");
        assert!(emitted_delay(&vsa, 0) < filled_delay(&vsa, 0) && release_delay(&vsa, 0) <= read_delay(&vsa, 0));
    }
}
