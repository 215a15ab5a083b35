//! `OnChip` against a software memory: every byte, and every cycle in which data and responses come.

use crate::axi_support::Random;
use array::contract::dram::MemoryTiming;
use rtl::sim::Sim;
use rtl::Design;
use std::collections::VecDeque;
use templates::axi::bundle::Bus;
use templates::axi::on_chip::OnChip;

/// A burst: cycle in which its address was accepted, first word, beats.
#[derive(Clone, Copy)]
struct Burst {
    taken: i64,
    word: usize,
    beats: usize,
}

/// Offers bursts on one address channel, each until it is accepted.
fn offer(r: &mut Random, busy: i64, words: usize, offered: &mut Option<(usize, usize)>) {
    if offered.is_none() && r.chance(busy) {
        let word = r.range(0, words as i64 - 1) as usize;
        *offered = Some((word, r.range(1, (words - word).min(9) as i64) as usize));
    }
}

fn address(sim: &mut Sim, channel: &str, bytes: u32, offered: Option<(usize, usize)>) {
    sim.set(&format!("s_axi_{channel}valid"), u64::from(offered.is_some()));
    let (word, beats) = offered.unwrap_or((0, 1));
    sim.set(&format!("s_axi_{channel}addr"), word as u64 * u64::from(bytes));
    sim.set(&format!("s_axi_{channel}len"), beats as u64 - 1);
}

/// Random bursts in both directions at `busy` percent, for `cycles`; words of 8 bytes.
fn run(seed: u64, words: usize, element: u32, busy: [i64; 3], cycles: i64) {
    let r = &mut Random::new(seed);
    let template = OnChip {
        array: "t".into(),
        words: words as u32,
        element,
        bus: Bus { bytes: 8, address_bits: 16 },
        uram: false,
        reads: true,
        writes: true,
        kept: seed.is_multiple_of(2),
    };
    let mut design = Design::default();
    let top = design.module(template);
    let mut sim = Sim::new(&design.verify().unwrap(), &top).unwrap();
    let at = MemoryTiming::ON_CHIP;
    let mut cells = vec![0u64; words];
    // Words that change in future cycles.
    let mut stores: VecDeque<(i64, usize, u64)> = VecDeque::new();
    let (mut reads, mut writes) = (VecDeque::<Burst>::new(), VecDeque::<Burst>::new());
    let (mut ar, mut aw, mut beat) = (None, None, 0);
    let mut w: Option<(u64, u64)> = None;
    let (mut next_beat, mut responses) = (0i64, VecDeque::new());
    sim.set("rst", 1);
    sim.set("s_axi_wvalid", 0);
    for channel in ["ar", "aw"] {
        address(&mut sim, channel, 8, None);
    }
    (0..4).for_each(|_| sim.clock());
    sim.set("rst", 0);
    // Everything is written once before it is read.
    let (mut asked, mut known) = (0, 0);
    let mut seen = [0; 2];
    for t in 0..cycles {
        if known == words {
            offer(r, busy[0], words, &mut ar);
        }
        if asked < words {
            asked += usize::from(aw.is_none());
            aw.get_or_insert((asked - 1, 1));
        } else {
            offer(r, busy[1], words, &mut aw);
        }
        if w.is_none() && !writes.is_empty() && (known < words || r.chance(busy[2])) {
            let strobes = (0..8 / element)
                .map(|e| if known < words || r.chance(70) { ((1u64 << element) - 1) << (e * element) } else { 0 })
                .sum();
            w = Some((r.next() | r.next() << 32, strobes));
        }
        address(&mut sim, "ar", 8, ar);
        address(&mut sim, "aw", 8, aw);
        sim.set("s_axi_wvalid", u64::from(w.is_some()));
        let (data, strobes) = w.unwrap_or_default();
        sim.set("s_axi_wdata", data);
        sim.set("s_axi_wstrb", strobes);
        sim.set("s_axi_wlast", u64::from(writes.front().is_some_and(|b| beat + 1 == b.beats)));
        // The memory is read two cycles before the word is on the bus.
        while stores.front().is_some_and(|s| s.0 < t - 2) {
            let (_, word, value) = stores.pop_front().unwrap();
            cells[word] = value;
        }
        let due = reads.front().is_some_and(|b: &Burst| b.taken + at.read_latency <= t && next_beat <= t);
        assert_eq!(sim.get("s_axi_rvalid") == 1, due, "cycle {t}");
        if due {
            let burst = reads.front_mut().unwrap();
            assert_eq!(sim.get("s_axi_rdata"), cells[burst.word], "cycle {t}, word {}", burst.word);
            assert_eq!(sim.get("s_axi_rlast") == 1, burst.beats == 1, "cycle {t}");
            (burst.word, burst.beats) = (burst.word + 1, burst.beats - 1);
            next_beat = t + 1;
            seen[0] += 1;
            if burst.beats == 0 {
                reads.pop_front();
            }
        }
        let answered = responses.front() == Some(&t);
        assert_eq!(sim.get("s_axi_bvalid") == 1, answered, "cycle {t}");
        if answered {
            responses.pop_front();
        }
        if ar.is_some() && sim.get("s_axi_arready") == 1 {
            let (word, beats) = ar.take().unwrap();
            reads.push_back(Burst { taken: t, word, beats });
        }
        // A beat is accepted in the cycle after its address at the earliest, and then at once.
        let takes = w.is_some();
        assert_eq!(sim.get("s_axi_wready") == 1, !writes.is_empty(), "cycle {t}");
        if takes {
            let (data, strobes) = w.take().unwrap();
            let burst = *writes.front().unwrap();
            let word = burst.word + beat;
            let mask: u64 = (0..8).filter(|b| strobes >> b & 1 == 1).map(|b| 0xff << (8 * b)).sum();
            let before = stores.iter().rev().find(|s| s.1 == word).map_or(cells[word], |s| s.2);
            stores.push_back((t + 1, word, before & !mask | data & mask));
            beat += 1;
            seen[1] += 1;
            if beat == burst.beats {
                (beat, known) = (0, words.min(known + 1));
                writes.pop_front();
                responses.push_back(t + at.write_latency);
            }
        }
        if aw.is_some() && sim.get("s_axi_awready") == 1 {
            let (word, beats) = aw.take().unwrap();
            writes.push_back(Burst { taken: t, word, beats });
        }
        sim.clock();
    }
    assert!(seen.iter().all(|n| *n > 0), "{seen:?}");
}

#[test]
fn every_byte_comes_back_and_in_its_cycle() {
    for seed in 0..40 {
        let r = &mut Random::new(seed + 1000);
        let words = r.pick(&[1, 2, 3, 17, 64, 100, 700]);
        let busy = [r.pick(&[5, 50, 100]), r.pick(&[5, 50, 100]), r.pick(&[30, 100])];
        run(seed, words, r.pick(&[1, 2, 4, 8]), busy, 3000);
    }
}
